// The functions of `simdpct/small`, for a compiled WebAssembly module. `codec.mjs` adds the others.

const UNCHANGED = -1;
const MALFORMED = -2;
const NO_MEMORY = -3;

const KEEP_ESCAPES = 1;
const FORM = 2;
const LOWER = 4;
export const STRICT = 8;

// Strings up to this length are copied by a loop, because a call of TextEncoder or TextDecoder costs more.
const SHORT = 16;
// In longer strings, a search for '%' takes less than 3 % of the time of the engine's decoder.
const SEARCHED = 96;
// Buffers larger than this are freed after each operation.
const RETAINED = 1 << 20;
// The values of a list are joined and processed in groups of at most this many code units. Engines do not copy strings that they
// split, so a value keeps its whole group in memory: 128 KiB if all code units become three escapes, or 64 KiB of decoded text.
const ENCODED = Math.floor((1 << 17) / 9);
const DECODED = 1 << 15;
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

/** Joins two arrays. The result is `second` itself if `first` is empty. */
const concat = (first, second) => {
  if (first.length === 0) return second;
  const both = new Uint8Array(first.length + second.length);
  both.set(first);
  both.set(second, first.length);
  return both;
};

/**
 * Returns `options` if they are an object. Other values would have no effect, such as the name of a set. Numbers have none either, but
 * `texts.map(encode)` passes the index of each text.
 */
export function checked(options) {
  if (typeof options === 'object' ? options === null : typeof options !== 'number') throw new TypeError('the options must be an object');
  return options;
}

/** Returns the functions for a new instance of `module` as `codec`, and what others are made of. */
export function start(module) {
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
  // The module's input buffer: a view of it, its address, and its length, because a view of memory that has grown has none.
  let input = bytes.subarray(0, 0), inputAt = 0, inputLength = 0;
  let patience = 0;

  /** Guesses from three code units whether most of `text` is not Latin-1. */
  const looksWide = (text, { length } = text) =>
    Math.max(text.charCodeAt(0), text.charCodeAt(length >> 1), text.charCodeAt(length - 1)) > 0xff;

  /** Returns whether the engine's own function should encode `text`. */
  const isShort = (text) =>
    typeof text === 'string' && (text.length < encodeWideFrom || (text.length < encodeFrom && !looksWide(text)));

  /** Reserves `length` bytes in the input buffer. */
  function reserve(length) {
    if (length > inputLength) {
      // The module would take 2^32 as 0.
      inputAt = length < 2 ** 31 ? wasm.pct_input(length) >>> 0 : 0;
      if (inputAt === 0) {
        inputLength = 0;
        throw new RangeError(`no memory for ${length} bytes`);
      }
      input = new Uint8Array(memory.buffer, inputAt, length);
      inputLength = length;
    }
    refresh();
  }

  /** Updates the views of the module's memory. Any call of the module may grow the memory, which replaces its ArrayBuffer. */
  function refresh() {
    if (bytes.buffer === memory.buffer) return;
    bytes = new Uint8Array(memory.buffer);
    buffer = Buffer?.from(memory.buffer);
    input = bytes.subarray(inputAt, inputAt + inputLength);
  }

  function release() {
    if (inputLength <= RETAINED) return;
    wasm.pct_release();
    inputLength = 0;
  }

  const lone = (offset) => new PercentError(LONE, offset);

  /** Copies `text` to the input buffer as UTF-8 and returns the number of bytes. */
  function write(text) {
    const { length } = text;
    reserve(3 * length);
    if (length <= SHORT) {
      let i = 0, unit;
      while (i < length && (unit = text.charCodeAt(i)) < 0x80) input[i++] = unit;
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
    const written = buffer ? buffer.write(text, inputAt, 3 * length, 'utf8') : encoder.encodeInto(text, input).written;
    // Both silently replace a lone surrogate. ASCII has none, and as many bytes as characters.
    if (written !== length && !isWellFormed(text)) throw lone(text.search(loneSurrogate));
    return written;
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
  const unitOf = (offset) => {
    if (offset === NO_MEMORY) throw new RangeError('no memory to find the offset of the error');
    return read(inputAt, offset).length;
  };

  /** Copies a string or an array of bytes to the input buffer, and returns the number of bytes. */
  function enter(value) {
    if (typeof value === 'string') return write(value);
    if (!(value instanceof Uint8Array)) throw new TypeError('the input must be a string or a Uint8Array');
    reserve(value.length);
    input.set(value);
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
    } catch (error) {
      // Node throws a plain Error if a string would be too long for the engine.
      if (error.code === 'ERR_STRING_TOO_LONG') throw new RangeError('the result is too long for a string');
      throw error;
    } finally {
      release();
    }
  }

  /** Returns the result of a function about sets, unless there was no memory. */
  function found(result) {
    if (result === NO_MEMORY) throw new RangeError('no memory for a set');
    return result;
  }

  function setText(number, what) {
    const length = found(wasm.pct_set_text(number, what));
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
    const set = checked(options).set === undefined ? COMPONENT : numberOf(options.set);
    const flags =
      (options.keepEscapes ? KEEP_ESCAPES : 0) | (options.form ? FORM : 0) | (options.lowerCase ? LOWER : 0);
    if ((flags & (KEEP_ESCAPES | FORM)) === (KEEP_ESCAPES | FORM)) {
      throw new RangeError('keepEscapes and form exclude each other');
    }
    return [set, flags];
  }

  function decodeArguments(options) {
    const keep = checked(options).keep === undefined ? -1 : numberOf(options.keep);
    return [keep, (options.form ? FORM : 0) | (options.strict ? STRICT : 0)];
  }

  const lossyOutput = () => {
    const at = wasm.pct_output() >>> 0, end = at + wasm.pct_output_length();
    return lossyDecoder.decode(bytes.subarray(at, end));
  };

  // `encode` and `decode` have no closures, so that engines compile them into their callers: a short string takes nanoseconds.
  function encode(input, options) {
    if (options === undefined && isShort(input)) {
      try {
        return encodeURIComponent(input);
      } catch {
        // There is a lone surrogate. `encodeInModule` throws a PercentError with its offset.
      }
    }
    return encodeInModule(input, options);
  }

  function encodeInModule(input, options = {}) {
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
      (options === undefined || (checked(options).keep === undefined && !options.form))
    ) {
      if (input.length > SEARCHED && !input.includes('%')) return input;
      try {
        return decodeURIComponent(input);
      } catch {
        patience = PATIENCE;
      }
    }
    return decodeInModule(input, options);
  }

  /** Returns the function that `apply` calls if decoded text is not valid UTF-8. The output buffer still has the decoded bytes. */
  const rejecting = (options, keep, flags) => (length) => {
    if (options.lossy) return lossyOutput();
    const offset = wasm.pct_not_utf8(length, keep, flags);
    refresh();
    throw new PercentError('escapes of invalid UTF-8', unitOf(offset));
  };

  function decodeInModule(input, options = {}) {
    if (patience > 0) patience--;
    const [keep, flags] = decodeArguments(options);
    if (typeof input === 'string' && !input.includes('%') && !(flags & FORM && input.includes('+'))) return input;
    try {
      return apply(input, (length) => wasm.pct_decode(length, keep, flags), rejecting(options, keep, flags & FORM));
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

  /** Maps `values`. `whole` processes several of them joined, up to `most`; `single` processes one, and throws the error for it. */
  function each(values, most, whole, single) {
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
      for (to = from; to < values.length; to++) {
        if (typeof values[to] !== 'string') throw new TypeError(`value ${to} is not a string`);
        size += values[to].length + 1;
        // A value that is larger than any group is processed alone.
        if (size > most && to > from) break;
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
      sets = SEPARATORS.map((separator) => found(wasm.pct_set_add(set, write(separator))));
      separated.set(set, sets);
    }
    const whole = (text, i) => apply(text, (length) => wasm.pct_encode(length, sets[i], flags), undefined, true);
    return each(values, ENCODED, whole, (text) => encode(text, options));
  }

  function decodeList(values, options = {}) {
    const [keep, flags] = decodeArguments(options);
    const reject = () => {
      if (options.lossy) return lossyOutput();
      throw new PercentError('invalid UTF-8', 0);
    };
    const whole = (text) => apply(text, (length) => wasm.pct_decode(length, keep, flags), reject);
    return each(values, DECODED, whole, (text) => decode(text, options));
  }

  function normalizeList(values) {
    return each(values, DECODED, normalize, normalize);
  }

  function encodeForm(input) {
    return encode(input, { set: 'whatwg-form', form: true });
  }

  function decodeForm(input, options = {}) {
    return decode(input, { ...checked(options), form: true });
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
        const piece = concat(kept, chunk);
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
      const input = concat(open, piece);
      const { length } = input, output = normalize(input).subarray(open.length);
      const start = input[length - 1] === 0x25 ? length - 1 : input[length - 2] === 0x25 ? length - 2 : length;
      open = input.slice(start);
      return output;
    }, true);
  }

  function defineSet(definition) {
    const { base, add = '', remove = '' } = definition;
    if (typeof definition !== 'object' || typeof add !== 'string' || typeof remove !== 'string') {
      throw new TypeError('the definition must be an object of strings');
    }
    if (/[^\0-\x7f]/.test(add)) throw new RangeError(`a set can only have ASCII characters: ${JSON.stringify(add)}`);
    const number = found(wasm.pct_set_add(base === undefined ? -1 : numberOf(base), write(add)));
    return new PercentSet(identity, found(wasm.pct_set_remove(number, write(remove))));
  }

  const codec = {
    encode, decode, normalize, encodeList, decodeList, normalizeList, encodeForm, decodeForm, encodeStream, decodeStream, normalizeStream,
    defineSet, describeSet, sets: Object.freeze([...numbers.keys()]),
  };
  // The rest is for codec.mjs: `memory` is a function, because the view is replaced when the memory grows.
  return { codec, wasm, apply, enter, refresh, release, rejecting, decodeArguments, lossyOutput, memory: () => bytes };
}

/** Compiles the module `hex`, which has two hexadecimal digits for each byte. */
export function compile(hex) {
  const digit = (at, unit = hex.charCodeAt(at)) => (unit < 0x3a ? unit - 0x30 : unit - 0x57);
  const bytes = new Uint8Array(hex.length / 2);
  for (let i = 0; i < bytes.length; i++) bytes[i] = digit(2 * i) << 4 | digit(2 * i + 1);
  if (WebAssembly.validate(bytes)) return new WebAssembly.Module(bytes);
  throw new Error('simdpct needs WebAssembly with vector instructions (Chrome 92, Firefox 90, Safari 16.4, Node 18); for other engines, pass simdpct.wasm to instantiate of simdpct/codec');
}
