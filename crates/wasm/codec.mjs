// The functions of the package, for a compiled WebAssembly module. `index.mjs` has the module as text. Environments that compile modules
// themselves (edge workers), and pages that load them as files, import this file and pass the module to `instantiate`.
import { PercentError, STRICT, checked, start } from './core.mjs';

export { PercentError };

const COMPONENTS = ['scheme', 'userinfo', 'host', 'port', 'path', 'query', 'fragment'];
const FLAWS = [
  'illegal', 'non-ascii', 'control', 'malformed', 'several-at', 'unclosed-bracket', 'bad-address', 'bad-port', 'colon', 'other',
];

const show = (byte) =>
  byte === 0x20 ? 'a space' : byte > 0x20 && byte < 0x7f ? `'${String.fromCharCode(byte)}'` : `the byte 0x${hex(byte)}`;
const hex = (byte) => byte.toString(16).toUpperCase().padStart(2, '0');

// The kinds that `pct_check` returns: the name, and a function that returns the reason.
const FINDINGS = [
  ['malformed', () => "the text ends where two hexadecimal digits should follow '%'"],
  ['malformed', (byte) => `${show(byte)} is not a hexadecimal digit`],
  ['double', (byte) => `escaped twice: what it decodes to, %${hex(byte)}, is an escape again`],
  ['nul', () => 'an escaped NUL'],
  ['separator', (byte) => `an escaped '${String.fromCharCode(byte)}'`],
  ['dot', () => "an escaped '.'"],
  ['utf8', () => 'the decoded bytes are not valid UTF-8 from here on'],
  ['crlf', () => 'an escaped line end'],
];

const flawReason = (kind, byte, component) =>
  [
    `${show(byte)} may not be in a ${component}`, 'a URL has ASCII characters only', `a control character, 0x${hex(byte)}`,
    "'%' without two hexadecimal digits", "more than one '@': parsers disagree about the host", "'[' without ']'",
    'not an address', 'not a number of at most 65535', "a ':' here can be read as the end of a scheme", 'not allowed here',
  ][kind];

/** Returns the functions of the package for a new instance of `module`, `simdpct.simd128.wasm` or `simdpct.wasm`. */
export function instantiate(module) {
  const { codec, wasm, apply, enter, refresh, release, rejecting, decodeArguments, lossyOutput, memory } = start(module);

  /** Returns the rows of three numbers that `operation` writes for `value`. */
  function table(value, operation) {
    const length = enter(value);
    try {
      const size = operation(length);
      refresh();
      if (size < 0) throw new RangeError('no memory for the result');
      const at = wasm.pct_output() >>> 0;
      const numbers = new Uint32Array(memory().slice(at, at + size).buffer);
      const rows = Array.from({ length: size / 12 }, (_, i) => numbers.subarray(3 * i, 3 * i + 3));
      return { length, rows };
    } finally {
      release();
    }
  }

  function encodeUrl(input, options = {}) {
    const { keepEscapes } = checked(options);
    if (keepEscapes) return codec.encode(input, { set: 'rfc3986-uri', keepEscapes });
    return apply(input, wasm.pct_encode_url, undefined, true);
  }

  function decodeUrl(input, options = {}) {
    return apply(input, wasm.pct_decode_url, rejecting(checked(options), -1, 0));
  }

  function decodeUntilStable(input, options = {}) {
    const [keep, flags] = decodeArguments(options);
    if (flags & STRICT) throw new RangeError('decodeUntilStable does not support strict');
    let layers = 0;
    const operation = (length) => {
      const result = wasm.pct_decode_until_stable(length, keep, flags);
      layers = wasm.pct_layers();
      return result;
    };
    const value = apply(input, operation, () => {
      if (options.lossy) return lossyOutput();
      throw new PercentError('escapes of invalid UTF-8', 0);
    });
    return { value, layers };
  }

  /** Returns a function that converts ascending offsets in bytes to offsets in `text`, which has `length` bytes as UTF-8. */
  function places(text, length) {
    if (typeof text !== 'string' || text.length === length) return (offset) => offset;
    let unit = 0, at = 0;
    return (offset) => {
      // An offset within a character becomes the offset of the character.
      while (at < offset) {
        const code = text.codePointAt(unit);
        const size = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
        if (at + size > offset) break;
        at += size;
        unit += code < 0x10000 ? 1 : 2;
      }
      return unit;
    };
  }

  function check(input) {
    const { length, rows } = table(input, wasm.pct_check);
    const place = places(input, length);
    return rows.map(([offset, number, byte]) => {
      const [kind, reason] = FINDINGS[number];
      return { kind, offset: place(offset), reason: reason(byte) };
    });
  }

  function split(url) {
    if (typeof url !== 'string') throw new TypeError('the URL must be a string');
    const { length, rows } = table(url, wasm.pct_split);
    const parts = { scheme: null, userinfo: null, host: null, port: null, path: '', query: null, fragment: null, segments: [], pairs: [] };
    // Offsets ascend among components, among segments and among parameters, but not over all rows.
    let place, last;
    for (const [part, from, to] of rows) {
      const group = part < 7 ? 'components' : part === 7 ? 'segments' : 'parameters';
      if (group !== last) place = places(url, length);
      last = group;
      const start = place(from), text = url.slice(start, place(to));
      if (part < 7) parts[COMPONENTS[part]] = text;
      else if (part === 7) parts.segments.push(text);
      else if (part === 8) parts.pairs.push({ name: text, value: null });
      else parts.pairs.at(-1).value = text;
    }
    const found = table(url, wasm.pct_flaws);
    const at = places(url, found.length);
    const flaws = found.rows.map(([offset, number, byte]) => {
      const component = COMPONENTS[number & 15], kind = number >> 4;
      return { kind: FLAWS[kind], component, offset: at(offset), reason: flawReason(kind, byte, component) };
    });
    // The module returns a row for each byte of a character; one is enough.
    parts.flaws = flaws.filter((flaw, i) => i === 0 || flaw.offset !== flaws[i - 1].offset);
    return parts;
  }

  return { ...codec, encodeUrl, decodeUrl, decodeUntilStable, check, split };
}
