// Converts in a thread of its own, so that the page never waits. The page sends the text, then asks for results. Long results stay here:
// the page gets their first characters, and asks for a whole value when the user copies or saves it.
import { instantiate } from './simdpct/codec.mjs';
import { DECODE, ENCODE, SHOWN, begin, chips, choose, convert, findings, keeps, layers, parts, preview, streamOf } from './convert.mjs';

let codec;
/** The text: a string, or bytes in UTF-8 if it is large. */
let source = '';

const isText = (input) => typeof input === 'string';

/** Converts the source and returns what the page shows of the result. */
function show(side, id, options) {
  const { value, error, note, offset } = convert(codec, side, id, source, options);
  if (error !== undefined) return { id, error, offset };
  const { text, ...rest } = preview(value);
  return { id, pieces: chips(text), note, value: rest.more ? undefined : text, unchanged: value === source, ...rest };
}

/** Returns the results of all rules, with one row for equal results. */
function others(side, options) {
  const rows = new Map();
  const rules = side === 'encode' ? ENCODE : DECODE;
  for (const [id, , name, about] of rules) {
    const { value, error, note } = convert(codec, side, id, source, options);
    const key = error ?? value;
    if (!rows.has(key)) {
      const { text, ...rest } = value === undefined ? { text: '' } : preview(value, 6000);
      rows.set(key, { id, error, note, pieces: chips(text), names: [], ...rest });
    }
    rows.get(key).names.push([name, about, id]);
  }
  return [...rows.values()];
}

const TASKS = {
  start({ module }) {
    codec = instantiate(module);
  },
  /** Replaces the text. The page gets its first characters if it was large. */
  text({ text }) {
    source = text;
  },
  /** Runs the two rules of the page, and then what is known about the text. */
  convert({ encode, decode, options }, reply) {
    const chosen = choose(preview(source).text);
    const ids = { encode: encode === 'auto' ? chosen[0] : encode, decode: decode === 'auto' ? chosen[1] : decode };
    reply({
      encode: show('encode', ids.encode, options), decode: show('decode', ids.decode, options), keeps: keeps(codec, ids.encode),
      about: DECODE.find(([id]) => id === ids.decode)[3],
      size: source.length, bytes: isText(source) ? undefined : source.length,
    });
    const { head, marked } = begin(codec, source, options.charset);
    const url = head.trim();
    const several = /[\r\n]/.test(url);
    return {
      marks: marked, findings: findings(codec, head, options.charset, marked), layers: several || head.length < source.length || !/%25/i.test(head) ? [] : layers(codec, head, options).map((text) => chips(preview(text, 2000).text)),
      cut: head.length < source.length,
      parts: url === '' ? { why: 'Type or paste a URL above.' } : several ? { why: 'The text has several lines: one URL at a time.' } :
        source.length > SHOWN ? { why: 'The text is too long to be a URL.' } : url.isWellFormed?.() === false ? { why: 'The text has half of a character.' } : parts(codec, url, options.charset),
      shift: head.length - head.trimStart().length,
    };
  },
  others({ options }) {
    return { encode: others('encode', options), decode: others('decode', options) };
  },
  /** Returns a whole result. */
  value({ side, id, options }) {
    const { value } = convert(codec, side, id, source, options);
    return isText(value) ? value : new TextDecoder('utf-8', { ignoreBOM: true }).decode(value);
  },
  /** Returns a whole result as a file. */
  blob({ side, id, options }) {
    return new Blob([convert(codec, side, id, source, options).value]);
  },
  /** Returns the text itself. */
  source() {
    return isText(source) ? source : new TextDecoder('utf-8', { ignoreBOM: true }).decode(source);
  },
  /** Reads the names and values of a link. */
  read({ hash }) {
    const split = (pair) => [pair.slice(0, (pair + '=').indexOf('=')), pair.slice((pair + '=').indexOf('=') + 1)];
    return { pairs: hash.split('&').filter(Boolean).map((pair) => split(pair).map((part) => codec.decodeForm(part, { lossy: true }))) };
  },
  /** Encodes the text for a link. */
  link({ pairs }) {
    return pairs.map(([name, value]) => `${name}=${codec.encodeForm(value)}`).join('&');
  },
  /** Converts a file as a stream of bytes, and reports progress. */
  async file({ file, work, key }, reply) {
    const stopped = new AbortController();
    stops.set(key, stopped);
    let read = 0, written = 0, reported = 0;
    const counted = new TransformStream({
      async transform(chunk, controller) {
        read += chunk.length;
        controller.enqueue(chunk);
        if (performance.now() - reported < 50) return;
        reported = performance.now();
        reply({ read, written });
        // Lets other messages in.
        await new Promise((resolve) => setTimeout(resolve));
      },
    });
    // The browser may store the parts of a Blob on disk.
    const blobs = [];
    let group = [], size = 0;
    const close = () => { blobs.push(new Blob(group)); group = []; size = 0; };
    try {
      const reader = file.stream().pipeThrough(counted, { signal: stopped.signal }).pipeThrough(streamOf(codec, work)).getReader();
      for (let next; !(next = await reader.read()).done; ) {
        stopped.signal.throwIfAborted();
        group.push(next.value);
        size += next.value.length;
        written += next.value.length;
        if (size > 1 << 24) close();
      }
      close();
      return { read, written, blob: new Blob(blobs, { type: 'application/octet-stream' }) };
    } catch (error) {
      return { read, written, stopped: stopped.signal.aborted, error: error.message };
    } finally {
      stops.delete(key);
    }
  },
  stop({ key }) {
    stops.get(key)?.abort();
  },
};
const stops = new Map();

addEventListener('message', async ({ data: { number, task, ...rest } }) => {
  try {
    const result = await TASKS[task](rest, (part) => postMessage({ number, part }));
    postMessage({ number, result });
  } catch (error) {
    postMessage({ number, failure: error.message });
  }
});
