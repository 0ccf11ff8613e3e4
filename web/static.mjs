// Writes the static parts of the page into the folder of the build: the lists of rules and charsets, the reference, and the list of files
// for the service worker.  node static.mjs FOLDER
import { createHash } from 'node:crypto';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { instantiate } from '../crates/wasm/codec.mjs';
import { CHARSETS, DECODE, ENCODE, LINES, setRules } from './convert.mjs';
import { INVISIBLE, classOf, codePoint, nameOf } from './names.mjs';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const [, , out] = process.argv;
const codec = instantiate(new WebAssembly.Module(readFileSync(here('../crates/wasm/simdpct.wasm'))));

const escape = (text) => text.replace(/[&<>"]/g, (sign) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[sign]);
const option = ([value, title]) => `<option value="${value}">${escape(title)}</option>`;

/** Writes a list of options in groups, from rows of value, group and title. */
function options(rows) {
  const groups = Map.groupBy?.(rows, ([, group]) => group) ?? rows.reduce((map, row) => map.set(row[1], [...(map.get(row[1]) ?? []), row]), new Map());
  return [...groups].map(([group, members]) => `<optgroup label="${group}">${members.map(([id, , title]) => option([id, title])).join('')}</optgroup>`).join('');
}

const GROUPS = {
  rfc3986: 'Sets of RFC 3986', whatwg: 'Sets of the URL Standard (browsers)', ecma: 'Sets of JavaScript', python: 'Set of Python', java: 'Set of Java',
  rfc2396: 'Set of RFC 2396 (obsolete)', rfc1738: 'Set of RFC 1738 (obsolete)',
};
const sets = setRules(codec).map(([id, , name]) => [id, GROUPS[name.split('-')[0]] ?? 'Other sets', name]);
const order = [...Object.values(GROUPS), 'Other sets'];
sets.sort((a, b) => order.indexOf(a[1]) - order.indexOf(b[1]));

// A file is a stream of bytes, which is converted by rules that need no other bytes than those at hand.
const files = [
  ...DECODE.filter(([, group, , , { decodes, rounds }]) => group === 'What to decode' && !rounds && decodes).filter(([id]) => id !== 'decode-url')
    .map(([id, , name]) => [`decode:${id}`, 'Decode', `Decode: ${name.toLowerCase()}`]),
  ...ENCODE.filter(([id, , , , rule]) => rule.options || id === 'normalize').map(([id, , name]) => [`encode:${id}`, 'Encode', `Encode: ${name}`]),
  ...sets.map(([id, , name]) => [`encode:${id}`, 'Encode, keeping a named set', name]),
];

// ---- the reference

// The characters of the bytes 0x80 to 0x9F in Windows-1252, as the Encoding Standard defines it.
const HIGH = '€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ';
const character = (byte) => (byte >= 0x80 && byte < 0xa0 ? HIGH[byte - 0x80] : String.fromCharCode(byte));
const keeps = Object.fromEntries(codec.sets.map((name) => [name, codec.describeSet(name).keeps]));
const is = (set, sign) => keeps[set].includes(sign);

/** Why a character needs an escape, for all that are not unreserved; `pct sets --table` reads the same file. */
const WHY = Object.fromEntries(readFileSync(here('../crates/cli/src/commands/reasons.tsv'), 'utf8').trim().split('\n').map((line) => {
  const [hex, why] = line.split('\t');
  return [String.fromCharCode(parseInt(hex, 16)), why];
}));

function row(byte) {
  const sign = character(byte), hex = byte.toString(16).toUpperCase().padStart(2, '0');
  const [short] = INVISIBLE.get(sign.codePointAt(0)) ?? [];
  const ascii = byte < 0x80, control = byte < 0x20 || byte === 0x7f;
  const classes = ascii && !control ? [
    classOf(sign, { unreserved: keeps['rfc3986-unreserved'], reserved: keeps['rfc3986-reserved'] })[0],
    is('rfc2396-unreserved', sign) ? 'unreserved' : is('rfc2396-reserved', sign) ? 'reserved' : 'excluded',
    is('rfc1738-unsafe', sign) ? 'unsafe' : is('rfc1738-reserved', sign) ? 'reserved' : is('rfc1738-unreserved', sign) ? 'unreserved' : 'unsafe',
  ] : [ascii ? 'control' : 'not ASCII'];
  const escaped = (bytes) => new TextDecoder().decode(codec.encode(bytes, { set: 'none' }));
  const latin = escaped(Uint8Array.of(byte)), utf8 = codec.encode(sign, { set: 'none' });
  const why = ascii ? (WHY[sign] ?? (control ? 'Invisible; ends or splits text in some programs.' : '')) : '';
  const button = (text) => `<button>${text}</button>`;
  const id = ascii ? `char-${hex}` : `char-${sign.codePointAt(0).toString(16).toUpperCase().padStart(2, '0')}`;
  return `<tr id="${id}"><th scope="row"><a href="#${id}"${short ? ' class="short"' : ''}>${escape(short ?? sign)}</a><td>${escape(nameOf(sign))}` +
    `<td>${ascii ? byte : codePoint(sign)}<td>${hex}<td>${byte.toString(2).padStart(8, '0')}` +
    (classes.length === 3 ? classes.map((name) => `<td>${name}`).join('') : `<td colspan="3">${classes[0]}`) +
    `<td>${button(utf8)}<td>${utf8 === latin ? 'same' : button(latin)}<td>${why}`;
}

const range = (from, to) => Array.from({ length: to - from }, (_, i) => from + i);
const HEAD = '<thead><tr><th scope="col">Char<th scope="col">Name<th scope="col">Decimal<th scope="col">Hex<th scope="col">Binary<th scope="col">RFC 3986<th scope="col">RFC 2396<th scope="col">RFC 1738<th scope="col">UTF-8<th scope="col">Windows-1252<th scope="col">Why escape it';
const table = (id, title, bytes) => `<h3 id="${id}">${title}</h3>\n<table aria-labelledby="${id}">${HEAD}<tbody>\n${bytes.map(row).join('\n')}</table>\n`;
const sources = { 'RFC 3986': 'rfc3986-reserved', 'RFC 2396': 'rfc2396-reserved', 'RFC 1738': 'rfc1738-unsafe', 'the URL Standard': 'whatwg-component', ECMAScript: 'ecma-uri-component' };
const link = (title) => `<a href="${codec.describeSet(sources[title]).source}">${title}</a>`;

const reference = `<div class="prose">
<p><strong>When to encode.</strong> Encode each value before you put it into a URL, and encode it once. A value is the name of a folder, or the name or value of a parameter. Do not encode a whole URL that is finished: that would turn its separators into data.</p>
<p><strong>Unreserved</strong> characters never need an escape. <strong>Reserved</strong> characters separate the parts of a URL: they stay where they separate, and are escaped in values. All others are <strong>not allowed</strong> in a URL and always escaped. Characters that are not ASCII are converted to bytes first, today in UTF-8, and each byte is escaped. In a form, a space becomes <code>+</code>.</p>
<p>The rules come from ${link('RFC 3986')}, which replaced ${link('RFC 2396')} and ${link('RFC 1738')} (with its class “unsafe”), from ${link('the URL Standard')} for browsers, and from ${link('ECMAScript')}. Click on an escape to copy it.</p>
</div>
<div id="tables">
<div class="search"><label for="search">Find</label> <input id="search" type="search" placeholder="é, %E2, tilde, 41" autocomplete="off" spellcheck="false"> <span class="quiet" id="shown" role="status"></span></div>
${table('printable', 'Printable ASCII', range(0x20, 0x7f))}${table('latin', 'Windows-1252, 80 to FF', range(0x80, 0x100))}${table('controls', 'Control characters', [...range(0, 0x20), 0x7f])}</div>`;

const parts = {
  charsets: CHARSETS.map(option).join(''), lines: LINES.map(option).join(''), encode: options([...ENCODE, ...sets]), 
  decode: `${options(DECODE)}<option disabled>Java and Go: for encoding only</option>`, files: options(files), reference,
};
writeFileSync(`${out}/index.html`, readFileSync(here('index.html'), 'utf8').replace(/<!--(\w+)-->/g, (_, name) => parts[name]));

// Comments and indentation are not for the browser. All comments are lines of their own.
for (const name of [...readdirSync(out), 'simdpct/core.mjs', 'simdpct/codec.mjs'].filter((name) => /\.(mjs|css)$/.test(name))) {
  writeFileSync(`${out}/${name}`, readFileSync(`${out}/${name}`, 'utf8').replace(/^(?:\s*\/\/|\s*\/\*|\s+\*).*\n/gm, '').replace(/^ +/gm, ''));
}

const names = [...readdirSync(out, { withFileTypes: true }).filter((entry) => entry.isFile()).map(({ name }) => name),
  ...readdirSync(`${out}/simdpct`).map((name) => `simdpct/${name}`)].filter((name) => name !== 'sw.js').sort();
const hash = createHash('sha256');
for (const name of names) hash.update(name).update(readFileSync(`${out}/${name}`));
writeFileSync(`${out}/sw.js`, readFileSync(here('sw.js'), 'utf8')
  .replace('@version@', `simdpct-${hash.digest('hex').slice(0, 16)}`)
  .replace("'@files@'", ['./', ...names].map((name) => `'${name}'`).join(', ')));
