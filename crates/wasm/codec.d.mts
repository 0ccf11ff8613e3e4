/** A named set: the bytes that stay as they are. `sets` lists them; the names link to specifications in the README. */
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
  | 'java-form';

/** A set made by `defineSet`. */
export interface PercentSet {
  readonly [percentSet]: never;
}
declare const percentSet: unique symbol;

export interface SetDefinition {
  /** The set to start with; without it, the empty one. */
  base?: SetName | PercentSet;
  /** ASCII characters to add. */
  add?: string;
  /** Characters to remove, after that. */
  remove?: string;
}

export interface EncodeOptions {
  /** The bytes that stay as they are. The default is that of `encodeURIComponent`, `ecma-uri-component`. */
  set?: SetName | PercentSet;
  /** Valid escapes in the input stay, and a `%` that starts none becomes `%25`. Not with `form`. */
  keepEscapes?: boolean;
  /** A space becomes `+`, and `+` is escaped (`application/x-www-form-urlencoded`). */
  form?: boolean;
  /** Write `%2f` and not `%2F`. */
  lowerCase?: boolean;
}

export interface DecodeOptions {
  /** A `%` that is not followed by two hexadecimal digits is an error; by default it stands for itself. */
  strict?: boolean;
  /** `+` is a space (`application/x-www-form-urlencoded`). */
  form?: boolean;
  /** Escapes of these bytes stay as they are spelt: say, delimiters, when text is decoded before it is split. */
  keep?: SetName | PercentSet;
}

export interface DecodeTextOptions extends DecodeOptions {
  /** Bytes that are not UTF-8 become U+FFFD; by default they are an error. */
  lossy?: boolean;
}

/** Input that has no result. */
export class PercentError extends URIError {
  constructor(message: string, offset: number);
  /** Where the input is at fault: in UTF-16 code units of a string, in bytes of an array. */
  readonly offset: number;
}

/** The functions of the package. Of strings they make strings, of bytes a new array of bytes. */
export interface Codec {
  /**
   * Escapes the UTF-8 bytes of a string, or the bytes of an array, that are not in the set.
   * @throws {PercentError} if a string has a lone surrogate, as `encodeURIComponent` does
   */
  encode(text: string, options?: EncodeOptions): string;
  encode(bytes: Uint8Array, options?: EncodeOptions): Uint8Array;
  /**
   * Replaces each escape by its byte, once.
   * @throws {PercentError} if a string decodes to bytes that are not UTF-8 (without `lossy`), for a malformed escape
   *   (with `strict`), or for a lone surrogate
   */
  decode(text: string, options?: DecodeTextOptions): string;
  decode(bytes: Uint8Array, options?: DecodeOptions): Uint8Array;
  /**
   * RFC 3986, section 6.2.2: escapes of unreserved characters are decoded, the digits of all others are written in
   * upper case, and nothing else changes.
   * @throws {PercentError} if a string has a lone surrogate
   */
  normalize(text: string): string;
  normalize(bytes: Uint8Array): Uint8Array;
  /**
   * Makes a set. It lives as long as the module, so make it once.
   * @throws {RangeError} if `add` has a character that is not ASCII
   */
  defineSet(definition: SetDefinition): PercentSet;
  /** The names of all named sets. */
  readonly sets: readonly SetName[];
}

/** The functions of the package over a module that you have compiled: one of the package's two `.wasm` files. */
export function instantiate(module: WebAssembly.Module): Codec;
