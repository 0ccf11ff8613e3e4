/** The name of a set of bytes that encoding keeps. `sets` lists the names, and `describeSet` returns their specifications. */
export type SetName =
  | 'none'
  | 'alphanumeric'
  | 'rfc3986-unreserved'
  | 'rfc3986-gen-delims'
  | 'rfc3986-sub-delims'
  | 'rfc3986-reserved'
  | 'rfc3986-userinfo'
  | 'rfc3986-reg-name'
  | 'rfc3986-segment'
  | 'rfc3986-path'
  | 'rfc3986-query'
  | 'rfc3986-fragment'
  | 'rfc3986-uri'
  | 'rfc2396-unreserved'
  | 'rfc2396-reserved'
  | 'rfc2396-uric'
  | 'rfc1738-unreserved'
  | 'rfc1738-reserved'
  | 'rfc1738-unsafe'
  | 'whatwg-c0-control'
  | 'whatwg-fragment'
  | 'whatwg-query'
  | 'whatwg-special-query'
  | 'whatwg-path'
  | 'whatwg-userinfo'
  | 'whatwg-component'
  | 'whatwg-form'
  | 'ecma-uri-component'
  | 'ecma-uri'
  | 'python-quote'
  | 'java-form'
  | 'rfc8187-attr-char';

/** A set made by `defineSet`. */
export interface PercentSet {
  readonly [percentSet]: never;
}
declare const percentSet: unique symbol;

export interface SetDefinition {
  /** The set to start with (default: the empty set). */
  base?: SetName | PercentSet;
  /** ASCII characters to add. */
  add?: string;
  /** Characters to remove after that. */
  remove?: string;
}

export interface EncodeOptions {
  /** The bytes to keep (default: `ecma-uri-component`, as `encodeURIComponent` does). */
  set?: SetName | PercentSet;
  /** Keeps the escapes that the input has, and escapes any other `%` as `%25`. Excludes `form`. */
  keepEscapes?: boolean;
  /** Encodes a space as `+`, and escapes `+` (`application/x-www-form-urlencoded`). */
  form?: boolean;
  /** Writes `%2f` instead of `%2F`. */
  lowerCase?: boolean;
}

export interface DecodeOptions {
  /** Makes a malformed escape (`%` without two hexadecimal digits) an error. By default, it is copied. */
  strict?: boolean;
  /** Decodes `+` as a space (`application/x-www-form-urlencoded`). */
  form?: boolean;
  /** Keeps escapes of these bytes. Use it for delimiters if text is decoded before it is split. */
  keep?: SetName | PercentSet;
}

export interface DecodeTextOptions extends DecodeOptions {
  /** Replaces invalid UTF-8 by U+FFFD. By default, it is an error. */
  lossy?: boolean;
}

/** A set of the registry. */
export interface SetDescription {
  readonly name: SetName;
  /** A `policy` is a set for encoders. A `block`, such as the delimiters, is a part of other sets. */
  readonly kind: 'policy' | 'block';
  /** Its characters. Encoding with a policy keeps them. */
  readonly keeps: string;
  /** The address of its specification. */
  readonly source: string;
  readonly description: string;
}

/** A malformed or suspicious part of the input. */
export interface Finding {
  /**
   * `malformed`: `%` without two hexadecimal digits. `double`: `%25` and two digits, which is text that was escaped twice. `nul`,
   * `separator`, `dot`: an escaped NUL, slash or backslash, dot. `crlf`: an escaped line end, as CR and LF, CR or LF. `utf8`: from here on,
   * the decoded bytes are not valid UTF-8.
   */
  readonly kind: 'malformed' | 'double' | 'nul' | 'crlf' | 'separator' | 'dot' | 'utf8';
  /** The offset, in UTF-16 code units of a string or bytes of an array. */
  readonly offset: number;
  /** An explanation for people. */
  readonly reason: string;
}

export type Component = 'scheme' | 'userinfo' | 'host' | 'port' | 'path' | 'query' | 'fragment';

/** A part of a URL that RFC 3986 does not allow. */
export interface Flaw {
  readonly kind:
    | 'illegal' | 'non-ascii' | 'control' | 'malformed' | 'several-at' | 'unclosed-bracket' | 'bad-address' | 'bad-port'
    | 'colon' | 'other';
  readonly component: Component;
  /** The offset in UTF-16 code units. */
  readonly offset: number;
  /** An explanation for people. */
  readonly reason: string;
}

/** The parts of a URL, not decoded. Decode each piece once. A missing part is `null`; `''` is an empty part. */
export interface Parts {
  scheme: string | null;
  /** The part of the authority before the last `@`. */
  userinfo: string | null;
  host: string | null;
  port: string | null;
  path: string;
  query: string | null;
  fragment: string | null;
  /** The parts of the path between slashes. */
  segments: string[];
  /** The parameters of the query. */
  pairs: { name: string; value: string | null }[];
  flaws: Flaw[];
}

/** The error for input that has no result. */
export class PercentError extends URIError {
  constructor(message: string, offset: number, index?: number);
  /** The position of the fault, in UTF-16 code units of a string or bytes of an array or stream. */
  readonly offset: number;
  /** The index of the value, if the input is a list. */
  readonly index?: number;
  /** The message without the position. */
  readonly reason: string;
}

/** The type of a result: a string for a string, and an array for an array of bytes. */
export type Result<T extends string | Uint8Array> = T extends string ? string : Uint8Array;

// The types of the engine, if the project has them. Without the library `dom` and without the types of Node, any object will do.
type Engine = typeof globalThis;
export type WasmModule = Engine extends { WebAssembly: { Module: { prototype: infer M } } } ? M : object;
export type ByteStream = Engine extends { TransformStream: { prototype: infer S } } ? S : { readonly readable: object; readonly writable: object };

/**
 * The functions of the package. Those that take a string or an array of bytes return a string for a string, and a new array for an
 * array; `decodeUntilStable` returns it as `value`, and `check` returns findings. `texts.map(encode)` works: the index that `map`
 * passes is ignored. Other values in place of the options, and all other wrong types, are `TypeError`s. Unknown sets, sets of another
 * instance, and sizes that do not fit in memory or in a string are `RangeError`s.
 */
export interface Codec {
  /**
   * Escapes the UTF-8 bytes of a string, or the bytes of an array, that are not in the set.
   * @throws {PercentError} if a string has a lone surrogate, as `encodeURIComponent` does
   * @throws {RangeError} if the options have both `keepEscapes` and `form`
   */
  encode(text: string, options?: EncodeOptions): string;
  encode(bytes: Uint8Array, options?: EncodeOptions): Uint8Array;
  encode<T extends string | Uint8Array>(input: T, options?: EncodeOptions): Result<T>;
  encode(text: string, index: number, all: readonly string[]): string;
  /**
   * Replaces each escape by its byte, once. Copies a lone surrogate, as `decodeURIComponent` does.
   * @throws {PercentError} if a string decodes to invalid UTF-8 (without `lossy`), or has a malformed escape (with `strict`)
   */
  decode(text: string, options?: DecodeTextOptions): string;
  decode(bytes: Uint8Array, options?: DecodeOptions): Uint8Array;
  decode<T extends string | Uint8Array>(input: T, options?: DecodeOptions): Result<T>;
  decode(text: string, index: number, all: readonly string[]): string;
  /**
   * Decodes the escapes of unreserved characters, and writes the digits of all other escapes in upper case (RFC 3986, section
   * 6.2.2).
   * @throws {PercentError} if a string has a lone surrogate
   */
  normalize<T extends string | Uint8Array>(input: T): Result<T>;
  normalize(text: string): string;

  /**
   * Calls `encode` for each string, and processes many of them in one call of the module.
   * @throws {PercentError} with the `index` of the first string that has no result
   */
  encodeList(texts: readonly string[], options?: EncodeOptions): string[];
  /** Calls `decode` for each string. See `encodeList`. */
  decodeList(texts: readonly string[], options?: DecodeTextOptions): string[];
  /** Calls `normalize` for each string. See `encodeList`. */
  normalizeList(texts: readonly string[]): string[];

  /**
   * Encodes a whole URL: keeps reserved characters and their escapes (RFC 3986, section 2.2), and escapes characters that a URL
   * cannot have and every other `%`, so that `decodeUrl` is the inverse. With `keepEscapes`, it keeps all valid escapes, which
   * repairs a URL that is encoded in part.
   * @throws {PercentError} if a string has a lone surrogate
   */
  encodeUrl<T extends string | Uint8Array>(input: T, options?: { keepEscapes?: boolean }): Result<T>;
  encodeUrl(text: string, index: number, all: readonly string[]): string;
  /**
   * Decodes all escapes except those of reserved characters, so that the URL keeps its parts.
   * @throws {PercentError} if a string has a lone surrogate, or decodes to invalid UTF-8 (without `lossy`)
   */
  decodeUrl(text: string, options?: { lossy?: boolean }): string;
  decodeUrl<T extends string | Uint8Array>(input: T): Result<T>;
  decodeUrl(text: string, index: number, all: readonly string[]): string;
  /**
   * Encodes a name or value of a form (URL Standard, section 5.2).
   * @throws {PercentError} if a string has a lone surrogate
   */
  encodeForm<T extends string | Uint8Array>(input: T): Result<T>;
  /** Decodes a name or value of a form (URL Standard, section 5.1). It throws like `decode`. */
  decodeForm(text: string, options?: { strict?: boolean; lossy?: boolean }): string;
  decodeForm<T extends string | Uint8Array>(input: T, options?: { strict?: boolean }): Result<T>;
  decodeForm(text: string, index: number, all: readonly string[]): string;
  /**
   * Decodes repeatedly until nothing changes, in linear time. `layers` is the number of rounds that changed something.
   * @throws {PercentError} if a string has a lone surrogate, or decodes to invalid UTF-8 (without `lossy`). In the second case, the
   *   offset is 0, because the bytes may come from several layers
   * @throws {RangeError} if the options have `strict`
   */
  decodeUntilStable(text: string, options?: Omit<DecodeTextOptions, 'strict'>): { value: string; layers: number };
  decodeUntilStable(bytes: Uint8Array, options?: Omit<DecodeOptions, 'strict'>): { value: Uint8Array; layers: number };

  /**
   * Lists the malformed and suspicious parts of the input in order.
   * @throws {PercentError} if a string has a lone surrogate
   */
  check(input: string | Uint8Array): Finding[];
  /**
   * Splits a URI or relative reference (RFC 3986, appendix B). `flaws` lists what RFC 3986 does not allow.
   * @throws {PercentError} if the URL has a lone surrogate
   */
  split(url: string): Parts;

  /** Encodes a stream of bytes. */
  encodeStream(options?: EncodeOptions): ByteStream;
  /** Decodes a stream of bytes. The offset of an error counts from the start of the stream. */
  decodeStream(options?: DecodeOptions): ByteStream;
  /** Normalizes a stream of bytes. */
  normalizeStream(): ByteStream;

  /**
   * Makes a set, which is never freed, so make each set once.
   * @throws {RangeError} if `add` has a character that is not ASCII
   */
  defineSet(definition: SetDefinition): PercentSet;
  describeSet(name: SetName): SetDescription;
  /** The names of all named sets. */
  readonly sets: readonly SetName[];
}

/** Returns the functions of the package for a compiled module, which is one of the package's two `.wasm` files. */
export function instantiate(module: WasmModule): Codec;
