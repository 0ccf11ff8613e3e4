// The codec over a compiled module. `index.mjs` finds the module; where that is not possible (a worker of an edge
// network, a bundler), import this file and pass the module to `instantiate`.

const UNCHANGED = -1;
const MALFORMED = -2;
const NO_MEMORY = -3;

const KEEP_ESCAPES = 1;
const FORM = 2;
const LOWER = 4;
const STRICT = 8;

// Strings up to this length are copied by a loop: the calls of an encoder and a decoder cost more.
const SHORT = 48;
// Buffers are given back after an operation on more than this.
const RETAINED = 1 << 20;

/** Input that has no result. `offset` is where it is at fault: in UTF-16 code units of a string, in bytes of an array. */
export class PercentError extends URIError {
  constructor(message, offset) {
    super(`${message} at offset ${offset}`);
    this.name = 'PercentError';
    this.offset = offset;
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

const loneSurrogate = /\p{Surrogate}/u;

/** The functions of the package over an instance of `module`, which is one of the package's two `.wasm` files. */
export function instantiate(module) {
  const { memory, ...wasm } = new WebAssembly.Instance(module).exports;
  const encoder = new TextEncoder();
  // A byte order mark is text like any other here.
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  const identity = {};
  let bytes = new Uint8Array(memory.buffer);
  let room = { at: 0, length: 0 };

  /** Makes room for `length` bytes of input. */
  function reserve(length) {
    if (length > room.length) {
      const at = wasm.pct_input(length) >>> 0;
      if (at === 0) throw new RangeError(`no memory for ${length} bytes`);
      room = { at, length };
    }
    refresh();
  }

  /** Memory that has grown is a new buffer. Any call of the module may grow it. */
  function refresh() {
    if (bytes.buffer !== memory.buffer) bytes = new Uint8Array(memory.buffer);
  }

  function release() {
    if (room.length <= RETAINED) return;
    wasm.pct_release();
    room = { at: 0, length: 0 };
  }

  /** Copies `text` to the input as UTF-8 and returns its length there. */
  function write(text) {
    const { length } = text;
    reserve(3 * length);
    if (length <= SHORT) {
      const target = bytes, { at } = room;
      let i = 0, unit;
      while (i < length && (unit = text.charCodeAt(i)) < 0x80) target[at + i++] = unit;
      if (i === length) return length;
    }
    // An encoder would replace a lone surrogate, which is a loss that nobody asked for.
    const lone = text.isWellFormed?.() ? -1 : text.search(loneSurrogate);
    if (lone >= 0) throw new PercentError('a lone surrogate, which has no UTF-8,', lone);
    return encoder.encodeInto(text, bytes.subarray(room.at, room.at + 3 * length)).written;
  }

  /** The text of `length` bytes at `at`, which are UTF-8. */
  function read(at, length) {
    if (length <= SHORT) {
      let text = '', i = 0, unit;
      while (i < length && (unit = bytes[at + i]) < 0x80) text += String.fromCharCode(unit), i++;
      if (i === length) return text;
    }
    return decoder.decode(bytes.subarray(at, at + length));
  }

  /** Where the byte of the input at `offset` is in the string that was written. */
  const unitOf = (offset) => read(room.at, offset).length;

  /** `input` under `operation`, a function of its length in bytes; `refuse` explains bytes that are not UTF-8. */
  function apply(input, operation, refuse) {
    const isText = typeof input === 'string';
    if (!isText && !(input instanceof Uint8Array)) throw new TypeError('the input must be a string or a Uint8Array');
    let length;
    if (isText) {
      length = write(input);
    } else {
      length = input.length;
      reserve(length);
      bytes.set(input, room.at);
    }
    try {
      const result = operation(length);
      refresh();
      if (result >= 0) {
        const at = wasm.pct_output() >>> 0;
        if (!isText) return bytes.slice(at, at + result);
        try {
          return read(at, result);
        } catch (error) {
          if (!(error instanceof TypeError)) throw error;
          return refuse(length);
        }
      }
      if (result === UNCHANGED) return isText ? input : new Uint8Array(input);
      if (result === NO_MEMORY) throw new RangeError('no memory for the result');
      if (result !== MALFORMED) throw new Error(`the module answered ${result}`);
      const offset = wasm.pct_error_offset() >>> 0;
      throw new PercentError('malformed escape', isText ? unitOf(offset) : offset);
    } finally {
      release();
    }
  }

  const numbers = new Map();
  for (let number = 0, length; (length = wasm.pct_set_name(number)) >= 0; number++) {
    refresh();
    numbers.set(read(wasm.pct_output() >>> 0, length), number);
  }
  const COMPONENT = numbers.get('ecma-uri-component');

  function numberOf(set) {
    if (set instanceof PercentSet) return PercentSet.number(set, identity);
    const number = numbers.get(set);
    if (number === undefined) throw new RangeError(`there is no set ${JSON.stringify(set)}`);
    return number;
  }

  function encode(input, options) {
    if (options === undefined) return apply(input, (length) => wasm.pct_encode(length, COMPONENT, 0));
    const set = options.set === undefined ? COMPONENT : numberOf(options.set);
    const flags =
      (options.keepEscapes ? KEEP_ESCAPES : 0) | (options.form ? FORM : 0) | (options.lowerCase ? LOWER : 0);
    if ((flags & (KEEP_ESCAPES | FORM)) === (KEEP_ESCAPES | FORM)) {
      throw new RangeError('keepEscapes and form exclude each other');
    }
    return apply(input, (length) => wasm.pct_encode(length, set, flags));
  }

  function decode(input, options = {}) {
    const keep = options.keep === undefined ? -1 : numberOf(options.keep);
    const form = options.form ? FORM : 0;
    const flags = form | (options.strict ? STRICT : 0);
    return apply(input, (length) => wasm.pct_decode(length, keep, flags), (length) => {
      if (options.lossy) {
        // The output is still that of the same input.
        const at = wasm.pct_output() >>> 0, end = at + wasm.pct_output_length();
        return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes.subarray(at, end));
      }
      const offset = wasm.pct_not_utf8(length, keep, form);
      refresh();
      throw new PercentError('escapes of bytes that are not UTF-8', unitOf(offset));
    });
  }

  function normalize(input) {
    return apply(input, wasm.pct_normalize);
  }

  function defineSet({ base, add = '', remove = '' }) {
    let number = base === undefined ? -1 : numberOf(base);
    number = wasm.pct_set_add(number, write(add));
    if (number < 0) throw new RangeError(`a set has ASCII characters only: ${JSON.stringify(add)}`);
    return new PercentSet(identity, wasm.pct_set_remove(number, write(remove)));
  }

  return { encode, decode, normalize, defineSet, sets: Object.freeze([...numbers.keys()]) };
}
