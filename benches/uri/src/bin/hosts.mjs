// Asks Node's parser of the URL Standard whether keys have the hosts of their URLs. Each line of standard input has a profile, a URL and
// its key, the last two in hexadecimal digits. The same line of standard output has `=`, `?` if there is no host to compare, or both hosts.
import { createInterface } from 'node:readline';

const special = ['http:', 'https:', 'ws:', 'wss:', 'ftp:', 'file:'];

// Returns the host of a special URL, null if the URL is not valid, or undefined if it is relative or not special.
function hostOf(text) {
  let url;
  try { url = new URL(text); } catch {
    const scheme = /^([a-z][a-z0-9+.-]*:)/i.exec(text)?.[1].toLowerCase();
    return special.includes(scheme) && !/:[^/\\?#@\]]+($|[/\\?#])/.test(text.slice(scheme.length)) ? null : undefined;
  }
  return special.includes(url.protocol) ? url.hostname : undefined;
}

// Returns the host as keys have it: addresses in the form of Safe Browsing 5, and names without superfluous dots, or in a SURT without
// `www` and dots at the end.
function plain(host, surt) {
  if (host == null) return host;
  const mapped = /^\[(?:::ffff|64:ff9b:):([0-9a-f]+):([0-9a-f]+)\]$/.exec(host);
  if (mapped) host = String((parseInt(mapped[1], 16) * 65536 + parseInt(mapped[2], 16)) >>> 0);
  else if (host.startsWith('[')) return host;
  const labels = host.replace(/\.+$/, '').split('.').filter((label) => surt || label);
  while (surt && labels.length > 1 && /^www\d*$/.test(labels[0])) labels.shift();
  // Without the dots at its end, a name can be an address. It is still another host.
  return labels.join('.');
}

function fromSurt(key, scheme, host) {
  const text = key.slice(0, key.indexOf(')'));
  if (host?.startsWith('[')) return `${scheme}//[${hostOf(`http://[${text}]/`) ? text : text.replace(/:\d+$/, '')}]/`;
  return `${scheme}//${text.replace(/:\d+$/, '').split(',').reverse().join('.')}/`;
}

for await (const line of createInterface({ input: process.stdin })) {
  const [profile, ...texts] = line.split(' ');
  const [raw, key] = texts.map((text) => Buffer.from(text, 'hex').toString());
  // Browsers remove these characters before they look for a scheme.
  const url = raw.replace(/[\t\n\r]/g, '').replace(/^[\0- ]+|[\0- ]+$/g, '');
  const [surt, google] = [profile.startsWith('surt'), profile.startsWith('safe-browsing')];
  let theirs = hostOf(url);
  if (google && theirs === undefined && !/^[a-z][a-z0-9+-]*:/i.test(url)) {
    theirs = /^[^/?#]*%/.test(url) ? undefined : hostOf(`http://${url.replace(/^\/+/, '')}`);
  }
  let ours = theirs === undefined ? undefined : hostOf(surt && /^[^/]*\)/.test(key) ? fromSurt(key, /^\s*file:/i.test(url) ? 'file:' : 'http:', theirs) : key);
  if (surt || google) [ours, theirs] = [plain(ours, surt), plain(theirs, surt)];
  // Browsers ignore the label that is left in the key of `www.%C2%AD`.
  if (surt && ours === null && /^www\d*$/.test(theirs)) ours = theirs;
  console.log(ours === undefined || theirs === undefined ? '?' : ours === theirs ? '=' : `${theirs} ${ours}`);
}
