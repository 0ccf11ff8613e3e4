// The functions of the package, for a compiled WebAssembly module. `index.mjs` has the module as text. Environments that compile modules
// themselves (edge workers), and pages that load them as files, import this file and pass the module to `instantiate`.

const UNCHANGED = -1;
const MALFORMED = -2;
const NO_MEMORY = -3;

const KEEP_ESCAPES = 1;
const FORM = 2;
const LOWER = 4;
const STRICT = 8;

// Strings up to this length are copied by a loop, because a call of TextEncoder or TextDecoder costs more.
const SHORT = 16;
// Buffers larger than this are freed after each operation.
const RETAINED = 1 << 20;
// The values of a list are joined and processed in groups of about this many code units. Engines do not copy strings that they
// split, so a value keeps its whole group in memory.
const GROUP = 1 << 15;
// After the engine's own decoder has thrown, which takes microseconds, this many short strings bypass it.
const PATIENCE = 32;

/**
 * The error for input that has no result. `offset` is the position of the fault, in UTF-16 code units of a string or bytes of an
 * array. `index` is the index of the string in a list.
 */
export class PercentError extends URIError {
  constructor(message, offset, index) {
    super(`${message} at offset ${offset}${index === undefined ? '' : ` of value ${index}`}`);
    this.name = 'PercentError';
    this.offset = offset;
    if (index !== undefined) this.index = index;
    Object.defineProperty(this, 'reason', { value: message });
  }
}

/** A set of ASCII characters, made by `defineSet`. */
class PercentSet {
  #codec;
  #number;
  constructor(codec, number) {
    this.#codec = codec;
    this.#number = number;
  }
  static number(set, codec) {
    if (set.#codec !== codec) throw new RangeError('the set was defined by another instance');
    return set.#number;
  }
}

const LONE = 'a lone surrogate, which cannot be encoded,';
const loneSurrogate = /\p{Surrogate}/u;
const isWellFormed =
  typeof ''.isWellFormed === 'function' ? (text) => text.isWellFormed() : (text) => !loneSurrogate.test(text);

// Strings that values of a list are joined with. The first one that occurs in no value and no result is used.
const SEPARATORS = ['\n', '\0'];

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
];

const flawReason = (kind, byte, component) =>
  [
    `${show(byte)} may not be in a ${component}`, 'a URL has ASCII characters only', `a control character, 0x${hex(byte)}`,
    "'%' without two hexadecimal digits", "more than one '@': parsers disagree about the host", "'[' without ']'",
    'not an address', 'not a number of at most 65535', "a ':' here can be read as the end of a scheme", 'not allowed here',
  ][kind];

/** Returns the functions of the package for a new instance of `module`, one of the package's two `.wasm` files. */
export function instantiate(module) {
  const { memory, ...wasm } = new WebAssembly.Instance(module).exports;
  const encoder = new TextEncoder();
  // A byte order mark is not removed.
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  const lossyDecoder = new TextDecoder('utf-8', { ignoreBOM: true });
  // Node's Buffer copies strings several times as fast as TextEncoder and TextDecoder.
  const Buffer = typeof process === 'object' && process.versions?.node ? globalThis.Buffer : undefined;
  // The string lengths from which the module is faster than the engine on every kind of text (`npm run bench`). Engines are slow
  // if all characters are escaped, so the second limit, for text that is not Latin-1, is lower.
  const [encodeFrom, encodeWideFrom, decodeFrom] = Buffer ? [768, 96, 512] : [1024, 1024, 1024];
  const identity = {};
  let bytes = new Uint8Array(memory.buffer);
  let buffer = Buffer?.from(memory.buffer);
  let input = { at: 0, length: 0 }; // the module's input buffer
  let patience = 0;

  /** Guesses from three code units whether most of `text` is not Latin-1. */
  const looksWide = (text, { length } = text) =>
    Math.max(text.charCodeAt(0), text.charCodeAt(length >> 1), text.charCodeAt(length - 1)) > 0xff;

  /** Returns whether the engine's own function should encode `text`. */
  const isShort = (text) =>
    typeof text === 'string' && text.length < encodeFrom && (text.length < encodeWideFrom || !looksWide(text));

  /** Reserves `length` bytes in the input buffer. */
  function reserve(length) {
    if (length > input.length) {
      const at = wasm.pct_input(length) >>> 0;
      if (at === 0) throw new RangeError(`no memory for ${length} bytes`);
      input = { at, length };
    }
    refresh();
  }

  /** Updates the views of the module's memory. Any call of the module may grow the memory, which replaces its ArrayBuffer. */
  function refresh() {
    if (bytes.buffer === memory.buffer) return;
    bytes = new Uint8Array(memory.buffer);
    buffer = Buffer?.from(memory.buffer);
  }

  function release() {
    if (input.length <= RETAINED) return;
    wasm.pct_release();
    input = { at: 0, length: 0 };
  }

  const lone = (offset) => new PercentError(LONE, offset);

  /** Copies `text` to the input buffer as UTF-8 and returns the number of bytes. */
  function write(text) {
    const { length } = text;
    reserve(3 * length);
    if (length <= SHORT) {
      const target = bytes, { at } = input;
      let i = 0, unit;
      while (i < length && (unit = text.charCodeAt(i)) < 0x80) target[at + i++] = unit;
      if (i === length) return length;
    }
    // The module converts text that is not Latin-1 faster than the engine does.
    if (buffer && length > SHORT && looksWide(text)) {
      const at = wasm.pct_wide(length) >>> 0;
      if (at === 0) throw new RangeError(`no memory for ${length} characters`);
      refresh();
      buffer.write(text, at, 2 * length, 'utf16le');
      const written = wasm.pct_from_wide(length);
      if (written === MALFORMED) throw lone(wasm.pct_error_offset() >>> 0);
      return written;
    }
    // TextEncoder would silently replace a lone surrogate.
    if (!isWellFormed(text)) throw lone(text.search(loneSurrogate));
    if (buffer) return buffer.write(text, input.at, 3 * length, 'utf8');
    return encoder.encodeInto(text, bytes.subarray(input.at, input.at + 3 * length)).written;
  }

  /** Returns the text of the `length` bytes at `at`, or throws a TypeError if they are not valid UTF-8. */
  function read(at, length) {
    if (length <= SHORT) {
      let text = '', i = 0, unit;
      while (i < length && (unit = bytes[at + i]) < 0x80) text += String.fromCharCode(unit), i++;
      if (i === length) return text;
    }
    return decoder.decode(bytes.subarray(at, at + length));
  }

  /** Returns the output of `length` bytes as text, or undefined if it is not valid UTF-8. */
  function readOutput(length, isAscii) {
    const at = wasm.pct_output() >>> 0;
    if (buffer && length > SHORT) {
      const units = isAscii ? 0 : wasm.pct_to_wide();
      refresh();
      if (units === 0) return buffer.toString('latin1', at, at + length);
      if (units === MALFORMED) return undefined;
      if (units < 0) throw new RangeError('no memory for the result');
      const wide = wasm.pct_wide(0) >>> 0;
      return buffer.toString('utf16le', wide, wide + 2 * units);
    }
    try {
      return read(at, length);
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
      return undefined;
    }
  }

  /** Converts an offset in the input buffer to one in the string that was written there. */
  const unitOf = (offset) => read(input.at, offset).length;

  /** Copies a string or an array of bytes to the input buffer, and returns the number of bytes. */
  function enter(value) {
    if (typeof value === 'string') return write(value);
    if (!(value instanceof Uint8Array)) throw new TypeError('the input must be a string or a Uint8Array');
    reserve(value.length);
    bytes.set(value, input.at);
    return value.length;
  }

  /**
   * Returns the result of `operation`, which is called with the number of input bytes. `reject` is called if the result is not
   * valid UTF-8. `isAscii` says that the result is always ASCII.
   */
  function apply(value, operation, reject, isAscii) {
    const isText = typeof value === 'string';
    const length = enter(value);
    try {
      const result = operation(length);
      refresh();
      if (result >= 0) {
        if (isText) return readOutput(result, isAscii) ?? reject(length);
        const at = wasm.pct_output() >>> 0;
        return bytes.slice(at, at + result);
      }
      if (result === UNCHANGED) return isText ? value : new Uint8Array(value);
      if (result === NO_MEMORY) throw new RangeError('no memory for the result');
      if (result !== MALFORMED) throw new Error(`the module returned ${result}`);
      const offset = wasm.pct_error_offset() >>> 0;
      throw new PercentError('malformed escape', isText ? unitOf(offset) : offset);
    } finally {
      release();
    }
  }

  /** Returns the rows of three numbers that `operation` writes for `value`. */
  function table(value, operation) {
    const length = enter(value);
    try {
      const size = operation(length);
      refresh();
      if (size < 0) throw new RangeError('no memory for the result');
      const at = wasm.pct_output() >>> 0;
      const numbers = new Uint32Array(bytes.slice(at, at + size).buffer);
      const rows = Array.from({ length: size / 12 }, (_, i) => numbers.subarray(3 * i, 3 * i + 3));
      return { length, rows };
    } finally {
      release();
    }
  }

  function setText(number, what) {
    const length = wasm.pct_set_text(number, what);
    refresh();
    return length < 0 ? undefined : read(wasm.pct_output() >>> 0, length);
  }

  const numbers = new Map();
  for (let number = 0, name; (name = setText(number, 0)) !== undefined; number++) numbers.set(name, number);
  const COMPONENT = numbers.get('ecma-uri-component');
  // The engine's functions, by the set for which they give the same results.
  const engines = new Map([
    [COMPONENT, encodeURIComponent],
    [numbers.get('whatwg-component'), encodeURIComponent],
    [numbers.get('ecma-uri'), encodeURI],
  ]);

  function numberOf(set) {
    if (set instanceof PercentSet) return PercentSet.number(set, identity);
    const number = numbers.get(set);
    if (number === undefined) throw new RangeError(`unknown set ${JSON.stringify(set)}`);
    return number;
  }

  /** Converts options to the number of a set and flags. */
  function encodeArguments(options) {
    const set = options.set === undefined ? COMPONENT : numberOf(options.set);
    const flags =
      (options.keepEscapes ? KEEP_ESCAPES : 0) | (options.form ? FORM : 0) | (options.lowerCase ? LOWER : 0);
    if ((flags & (KEEP_ESCAPES | FORM)) === (KEEP_ESCAPES | FORM)) {
      throw new RangeError('keepEscapes and form exclude each other');
    }
    return [set, flags];
  }

  function decodeArguments(options) {
    const keep = options.keep === undefined ? -1 : numberOf(options.keep);
    return [keep, (options.form ? FORM : 0) | (options.strict ? STRICT : 0)];
  }

  const lossyOutput = () => {
    const at = wasm.pct_output() >>> 0, end = at + wasm.pct_output_length();
    return lossyDecoder.decode(bytes.subarray(at, end));
  };

  function encode(input, options) {
    if (options === undefined) {
      if (isShort(input)) {
        try {
          return encodeURIComponent(input);
        } catch {
          // There is a lone surrogate. `apply` below throws a PercentError with its offset.
        }
      }
      return apply(input, (length) => wasm.pct_encode(length, COMPONENT, 0), undefined, true);
    }
    const [set, flags] = encodeArguments(options);
    if (flags === 0 && isShort(input)) {
      try {
        const own = engines.get(set)?.(input);
        if (own !== undefined) return own;
      } catch {
        // There is a lone surrogate; see above.
      }
    }
    return apply(input, (length) => wasm.pct_encode(length, set, flags), undefined, true);
  }

  function decode(input, options) {
    // If the engine's function does not throw, its result is also that of strict, lenient and lossy decoding.
    if (
      typeof input === 'string' && input.length < decodeFrom && patience === 0 &&
      (options === undefined || (options.keep === undefined && !options.form))
    ) {
      try {
        return decodeURIComponent(input);
      } catch {
        patience = PATIENCE;
      }
    }
    if (patience > 0) patience--;
    const [keep, flags] = options === undefined ? [-1, 0] : decodeArguments(options);
    try {
      return apply(input, (length) => wasm.pct_decode(length, keep, flags), (length) => {
        // The output buffer still has the decoded bytes.
        if (options?.lossy) return lossyOutput();
        const offset = wasm.pct_not_utf8(length, keep, flags & FORM);
        refresh();
        throw new PercentError('escapes of invalid UTF-8', unitOf(offset));
      });
    } catch (error) {
      if (error.reason !== LONE) throw error;
      return decodeAround(input, options);
    }
  }

  /** Decodes the pieces between the lone surrogates of `text`, and copies these, as decodeURIComponent does. */
  function decodeAround(text, options) {
    let from = 0, result = '';
    for (const piece of text.split(/(\p{Surrogate}+)/u)) {
      try {
        result += isWellFormed(piece) ? decode(piece, options) : piece;
      } catch (error) {
        if (!(error instanceof PercentError)) throw error;
        throw new PercentError(error.reason, from + error.offset);
      }
      from += piece.length;
    }
    return result;
  }

  function normalize(input) {
    return apply(input, wasm.pct_normalize);
  }

  /** Maps `values`. `whole` processes several of them joined; `single` processes one, and throws the error for it. */
  function each(values, whole, single) {
    if (!Array.isArray(values)) throw new TypeError('the input must be an array of strings');
    const results = [];
    const one = (from, to) => {
      for (let index = from; index < to; index++) {
        try {
          results.push(single(values[index]));
        } catch (error) {
          if (!(error instanceof PercentError)) throw error;
          throw new PercentError(error.reason, error.offset, index);
        }
      }
    };
    for (let from = 0, to; from < values.length; from = to) {
      let size = 0;
      for (to = from; to < values.length && size < GROUP; to++) {
        if (typeof values[to] !== 'string') throw new TypeError(`value ${to} is not a string`);
        size += values[to].length;
      }
      if (to - from === 1 || !together(values.slice(from, to), whole, results)) one(from, to);
    }
    return results;
  }

  /** Processes the values of `group` joined. Returns false if that is not possible, or if one of them has no result. */
  function together(group, whole, results) {
    for (let i = 0; i < SEPARATORS.length; i++) {
      let pieces;
      try {
        pieces = whole(group.join(SEPARATORS[i]), i).split(SEPARATORS[i]);
      } catch (error) {
        if (!(error instanceof PercentError)) throw error;
        return false;
      }
      // The number of pieces differs if the separator was in a value or was decoded from an escape.
      if (pieces.length !== group.length) continue;
      for (const piece of pieces) results.push(piece);
      return true;
    }
    return false;
  }

  // For each set that lists were encoded with, that set plus each separator.
  const separated = new Map();

  function encodeList(values, options = {}) {
    const [set, flags] = encodeArguments(options);
    let sets = separated.get(set);
    if (sets === undefined) {
      sets = SEPARATORS.map((separator) => wasm.pct_set_add(set, write(separator)));
      separated.set(set, sets);
    }
    const whole = (text, i) => apply(text, (length) => wasm.pct_encode(length, sets[i], flags), undefined, true);
    return each(values, whole, (text) => encode(text, options));
  }

  function decodeList(values, options = {}) {
    const [keep, flags] = decodeArguments(options);
    const reject = () => {
      if (options.lossy) return lossyOutput();
      throw new PercentError('invalid UTF-8', 0);
    };
    const whole = (text) => apply(text, (length) => wasm.pct_decode(length, keep, flags), reject);
    return each(values, whole, (text) => decode(text, options));
  }

  function normalizeList(values) {
    return each(values, normalize, normalize);
  }

  function encodeUrl(input, { keepEscapes = false } = {}) {
    if (keepEscapes) return encode(input, { set: 'rfc3986-uri', keepEscapes });
    return apply(input, wasm.pct_encode_url, undefined, true);
  }

  function decodeUrl(input, options = {}) {
    return apply(input, wasm.pct_decode_url, (length) => {
      if (options.lossy) return lossyOutput();
      const offset = wasm.pct_not_utf8(length, -1, 0);
      refresh();
      throw new PercentError('escapes of invalid UTF-8', unitOf(offset));
    });
  }

  function encodeForm(input) {
    return encode(input, { set: 'whatwg-form', form: true });
  }

  function decodeForm(input, options = {}) {
    return decode(input, { ...options, form: true });
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

  function describeSet(name) {
    const number = numbers.get(name);
    if (number === undefined) throw new RangeError(`unknown set ${JSON.stringify(name)}`);
    const [keeps, kind, source, description] = [1, 2, 3, 4].map((what) => setText(number, what));
    return { name, kind, keeps, source, description };
  }

  /**
   * Returns a stream that applies `operation` to its chunks. If `escapes` is true, chunks are cut so that no escape crosses from one
   * to the next.
   */
  function stream(operation, escapes) {
    let kept = new Uint8Array(0), before = 0;
    const run = (piece) => {
      try {
        return operation(piece);
      } catch (error) {
        if (!(error instanceof PercentError)) throw error;
        throw new PercentError(error.reason, before + error.offset);
      }
    };
    return new TransformStream({
      transform(chunk, controller) {
        if (!(chunk instanceof Uint8Array)) throw new TypeError('a chunk must be a Uint8Array');
        let piece = chunk;
        if (kept.length > 0) {
          piece = new Uint8Array(kept.length + chunk.length);
          piece.set(kept);
          piece.set(chunk, kept.length);
        }
        // The start of an escape at the end of a chunk is kept for the next chunk.
        const { length } = piece;
        let end = length;
        if (escapes) for (let i = Math.max(0, length - 2); i < length && end === length; i++) if (piece[i] === 0x25) end = i;
        kept = piece.slice(end);
        if (end > 0) controller.enqueue(run(piece.subarray(0, end)));
        before += end;
      },
      flush(controller) {
        if (kept.length > 0) controller.enqueue(run(kept));
      },
    });
  }

  function encodeStream(options = {}) {
    const [set, flags] = encodeArguments(options);
    return stream((piece) => apply(piece, (length) => wasm.pct_encode(length, set, flags)), (flags & KEEP_ESCAPES) !== 0);
  }

  function decodeStream(options = {}) {
    const [keep, flags] = decodeArguments(options);
    return stream((piece) => apply(piece, (length) => wasm.pct_decode(length, keep, flags)), true);
  }

  function normalizeStream() {
    // A malformed escape at the end of a chunk decides whether the next chunk may start with a digit, so it is read again.
    let open = new Uint8Array(0);
    return stream((piece) => {
      let input = piece;
      if (open.length > 0) {
        input = new Uint8Array(open.length + piece.length);
        input.set(open);
        input.set(piece, open.length);
      }
      const { length } = input, output = normalize(input).subarray(open.length);
      const start = input[length - 1] === 0x25 ? length - 1 : input[length - 2] === 0x25 ? length - 2 : length;
      open = input.slice(start);
      return output;
    }, true);
  }

  function defineSet({ base, add = '', remove = '' }) {
    let number = base === undefined ? -1 : numberOf(base);
    number = wasm.pct_set_add(number, write(add));
    if (number < 0) throw new RangeError(`a set can only have ASCII characters: ${JSON.stringify(add)}`);
    return new PercentSet(identity, wasm.pct_set_remove(number, write(remove)));
  }

  return {
    encode, decode, normalize, encodeList, decodeList, normalizeList, encodeUrl, decodeUrl, encodeForm, decodeForm,
    decodeUntilStable, check, split, encodeStream, decodeStream, normalizeStream, defineSet, describeSet,
    sets: Object.freeze([...numbers.keys()]),
  };
}
