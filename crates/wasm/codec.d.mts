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

/** A set of the registry. */
export interface SetDescription {
  readonly name: SetName;
  /** A `policy` is for encoders; a `block`, such as the delimiters, is what sets are built of. */
  readonly kind: 'policy' | 'block';
  /** Its characters: of a policy, those that stay as they are. */
  readonly keeps: string;
  /** The address of its specification. */
  readonly source: string;
  readonly description: string;
}

/** Something malformed or suspicious. */
export interface Finding {
  /**
   * `malformed`: `%` without two hexadecimal digits. `double`: `%25` and two digits, an escape within an escape. `nul`,
   * `separator`, `dot`: an escaped NUL, slash or backslash, dot. `utf8`: not UTF-8 from here on, once it is decoded.
   */
  readonly kind: 'malformed' | 'double' | 'nul' | 'separator' | 'dot' | 'utf8';
  /** Where: in UTF-16 code units of a string, in bytes of an array. */
  readonly offset: number;
  /** Why, for people. */
  readonly reason: string;
}

export type Component = 'scheme' | 'userinfo' | 'host' | 'port' | 'path' | 'query' | 'fragment';

/** Something that RFC 3986 does not allow where it is. */
export interface Flaw {
  readonly kind:
    | 'illegal' | 'non-ascii' | 'control' | 'malformed' | 'several-at' | 'unclosed-bracket' | 'bad-address' | 'bad-port'
    | 'colon' | 'other';
  readonly component: Component;
  /** Where, in UTF-16 code units. */
  readonly offset: number;
  /** Why, for people. */
  readonly reason: string;
}

/** A URL in parts, as they are written: decode each piece once, after this. What is not there is `null`; `''` is there. */
export interface Parts {
  scheme: string | null;
  /** What is before the last `@` of the authority. */
  userinfo: string | null;
  host: string | null;
  port: string | null;
  path: string;
  query: string | null;
  fragment: string | null;
  /** What the slashes of the path separate. */
  segments: string[];
  /** The parameters of the query. */
  pairs: { name: string; value: string | null }[];
  flaws: Flaw[];
}

/** Input that has no result. */
export class PercentError extends URIError {
  constructor(message: string, offset: number, index?: number);
  /** Where the input is at fault: in UTF-16 code units of a string, in bytes of an array or stream. */
  readonly offset: number;
  /** Of a list: which value. */
  readonly index?: number;
  /** The message without the place. */
  readonly reason: string;
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
   * `encode` of each string, many in one call of the module.
   * @throws {PercentError} with the `index` of the string that has no result; then there is none at all
   */
  encodeList(texts: readonly string[], options?: EncodeOptions): string[];
  /** `decode` of each string, in the same way. */
  decodeList(texts: readonly string[], options?: DecodeTextOptions): string[];
  /** `normalize` of each string, in the same way. */
  normalizeList(texts: readonly string[]): string[];

  /**
   * A whole URL: reserved characters and their escapes stay (RFC 3986, section 2.2), and what no URL may hold is escaped. Every
   * other `%` is data, so `decodeUrl` undoes it. With `keepEscapes`, all valid escapes stay, which repairs a URL.
   */
  encodeUrl(text: string, options?: { keepEscapes?: boolean }): string;
  encodeUrl(bytes: Uint8Array, options?: { keepEscapes?: boolean }): Uint8Array;
  /** Decodes all escapes but those of reserved characters, so the URL has the same parts afterwards. */
  decodeUrl(text: string, options?: { lossy?: boolean }): string;
  decodeUrl(bytes: Uint8Array): Uint8Array;
  /** A name or value of a form (URL Standard, section 5.2). */
  encodeForm(text: string): string;
  encodeForm(bytes: Uint8Array): Uint8Array;
  /** The reverse (section 5.1). */
  decodeForm(text: string, options?: { strict?: boolean; lossy?: boolean }): string;
  decodeForm(bytes: Uint8Array, options?: { strict?: boolean }): Uint8Array;
  /**
   * Decodes again and again until nothing changes, in linear time. `layers` is how often something did.
   * @throws {PercentError} if a string decodes to bytes that are not UTF-8, without `lossy`
   */
  decodeUntilStable(text: string, options?: Omit<DecodeTextOptions, 'strict'>): { value: string; layers: number };
  decodeUntilStable(bytes: Uint8Array, options?: Omit<DecodeOptions, 'strict'>): { value: Uint8Array; layers: number };

  /** What is malformed or suspicious, in order. */
  check(input: string | Uint8Array): Finding[];
  /** Splits a URI or relative reference (RFC 3986, appendix B). Every text has an answer. */
  split(url: string): Parts;

  /** `encode` of bytes that come in pieces. */
  encodeStream(options?: EncodeOptions): TransformStream<Uint8Array, Uint8Array>;
  /** `decode` of bytes that come in pieces; an error has its offset in the whole. */
  decodeStream(options?: DecodeOptions): TransformStream<Uint8Array, Uint8Array>;
  /** `normalize` of bytes that come in pieces. */
  normalizeStream(): TransformStream<Uint8Array, Uint8Array>;

  /**
   * Makes a set. It lives as long as the module, so make it once.
   * @throws {RangeError} if `add` has a character that is not ASCII
   */
  defineSet(definition: SetDefinition): PercentSet;
  describeSet(name: SetName): SetDescription;
  /** The names of all named sets. */
  readonly sets: readonly SetName[];
}

/** The functions of the package over a module that you have compiled: one of the package's two `.wasm` files. */
export function instantiate(module: WebAssembly.Module): Codec;
