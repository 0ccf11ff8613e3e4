// The computations of the page: conversions, marks, the parts of a URL and the reference tables. Nothing here uses the DOM.
// `codec` is the package in crates/wasm.

/** Single-byte charsets. Browsers only decode them, so the tables for encoding are made from the decoder. */
const SINGLE = [
  ['windows-1252', 'Windows-1252, Latin-1'], ['windows-1250', 'Windows-1250, Central European'],
  ['windows-1251', 'Windows-1251, Cyrillic'], ['windows-1253', 'Windows-1253, Greek'], ['windows-1254', 'Windows-1254, Turkish'],
  ['windows-1255', 'Windows-1255, Hebrew'], ['windows-1256', 'Windows-1256, Arabic'], ['windows-1257', 'Windows-1257, Baltic'],
  ['windows-1258', 'Windows-1258, Vietnamese'], ['iso-8859-2', 'ISO 8859-2'], ['iso-8859-5', 'ISO 8859-5'],
  ['iso-8859-7', 'ISO 8859-7'], ['iso-8859-15', 'ISO 8859-15'], ['koi8-r', 'KOI8-R'], ['koi8-u', 'KOI8-U'], ['ibm866', 'IBM 866'],
  ['macintosh', 'Macintosh'],
];
const DOUBLE = [['shift_jis', 'Shift_JIS'], ['euc-jp', 'EUC-JP'], ['euc-kr', 'EUC-KR'], ['big5', 'Big5'], ['gb18030', 'GB 18030, GBK']];

export const CHARSETS = [['utf-8', 'UTF-8'], ...SINGLE, ...DOUBLE.map(([name, title]) => [name, `${title} (decoding only)`])];

const encodings = new Map();

/** Returns the map from characters to bytes, or undefined for a multi-byte charset. */
function encodingOf(charset) {
  if (!SINGLE.some(([name]) => name === charset)) return undefined;
  let map = encodings.get(charset);
  if (map === undefined) {
    const decoder = new TextDecoder(charset);
    map = new Map();
    for (let byte = 0xff; byte >= 0; byte--) {
      const character = decoder.decode(Uint8Array.of(byte));
      if (character !== '\ufffd') map.set(character, byte);
    }
    encodings.set(charset, map);
  }
  return map;
}

const utf8 = new TextEncoder();
const fatal = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Converts `text` and returns `{ value, note? }` or `{ error }`. */
function attempt(run) {
  try {
    const result = run();
    return typeof result === 'string' ? { value: result } : result;
  } catch (error) {
    if (error instanceof URIError) return { error: `Rejected: ${error.message}` };
    throw error;
  }
}

/** Encodes to escapes of `charset`. A character that the charset does not have is written as browsers do in forms. */
export function encodeIn(codec, text, charset, options) {
  if (charset === 'utf-8') return codec.encode(text, options);
  const bytes = encodingOf(charset);
  if (bytes === undefined) return { error: 'Browsers only decode this charset.' };
  let out = '', run = [], missing = 0;
  const flush = () => {
    if (run.length > 0) out += fatal.decode(codec.encode(Uint8Array.from(run), options));
    run = [];
  };
  for (const character of text) {
    const byte = bytes.get(character);
    if (byte !== undefined) {
      run.push(byte);
    } else {
      flush();
      out += `%26%23${character.codePointAt(0)}%3B`;
      missing++;
    }
  }
  flush();
  const note = missing > 0 ? `${missing} character${missing === 1 ? '' : 's'} not in this charset, written as forms do` : undefined;
  return { value: out, note };
}

/** Decodes escapes of bytes in `charset`. Copies characters that are not ASCII. */
export function decodeIn(codec, text, charset, options = {}) {
  if (charset !== 'utf-8') {
    const decoder = new TextDecoder(charset);
    return text.replace(/[\0-\x7f]+/g, (ascii) => decoder.decode(codec.decode(utf8.encode(ascii), options)));
  }
  try {
    return codec.decode(text, options);
  } catch (error) {
    if (!(error instanceof URIError) || error.reason === 'malformed escape' || !codec.check(text).some(({ kind }) => kind === 'utf8')) throw error;
    return { value: codec.decode(text, { ...options, lossy: true }), note: `Not UTF-8 at ${error.offset}: shown as \ufffd` };
  }
}

function whole(codec, text) {
  try {
    return codec.decodeUrl(text);
  } catch (error) {
    if (!(error instanceof URIError) || !/UTF-8$/.test(error.reason)) throw error;
    return { value: codec.decodeUrl(text, { lossy: true }), note: `Not UTF-8 at ${error.offset}: shown as \ufffd` };
  }
}

/** The conversions in the order of the page: identifier, title, description, and function of `(codec, text, { set, charset })`. */
export const ENCODE = [
  ['encode', 'Component', 'what the set above keeps stays', (codec, text, { set, charset }) => encodeIn(codec, text, charset, { set })],
  ['form', 'Form', 'application/x-www-form-urlencoded: a space is +', (codec, text, { charset }) => encodeIn(codec, text, charset, { set: 'whatwg-form', form: true })],
  ['encode-url', 'Whole URL', 'syntax and its escapes stay; every other % is data', (codec, text) => codec.encodeUrl(text)],
  ['repair', 'Repaired URL', 'for a URL that has escapes already: they stay', (codec, text) => codec.encodeUrl(text, { keepEscapes: true })],
  ['normalize', 'Normalized', 'RFC 3986, section 6.2.2: escapes in one spelling', (codec, text) => codec.normalize(text)],
];

export const DECODE = [
  ['decode', 'Lenient', 'a malformed escape stays as it is', (codec, text, { charset }) => decodeIn(codec, text, charset)],
  ['strict', 'Strict', 'a malformed escape is an error', (codec, text, { charset }) => decodeIn(codec, text, charset, { strict: true })],
  ['form-decode', 'Form', '+ is a space', (codec, text, { charset }) => decodeIn(codec, text, charset, { form: true })],
  ['decode-url', 'Whole URL', 'escapes of syntax stay, so the parts are the same', (codec, text) => whole(codec, text)],
  ['stable', 'Until nothing changes', 'all layers removed', (codec, text) => {
    const { value, layers } = codec.decodeUntilStable(text, { lossy: true });
    return { value, note: `${layers} layer${layers === 1 ? '' : 's'}` };
  }],
];

export const convert = (codec, run, text, options) => attempt(() => run(codec, text, options));

/** Returns the text after each round of decoding, for at most `most` rounds. */
export function layers(codec, text, most = 8) {
  const all = [];
  for (let last = text; all.length < most; ) {
    const next = codec.decode(last, { lossy: true });
    if (next === last) break;
    all.push(next);
    last = next;
  }
  return all;
}

const LENGTHS = (byte) => (byte < 0x80 ? 1 : byte < 0xc2 ? 0 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : byte < 0xf5 ? 4 : 0);

const shown = (character) => (/[\p{C}\p{Z}]/u.test(character) ? '' : ` ${character}`);
const codePoint = (character) => `U+${character.codePointAt(0).toString(16).toUpperCase().padStart(4, '0')}`;

/** Splits `text` into pieces `{ text, kind, reason }`: escapes of one character, malformed escapes, and text that is escaped twice. */
export function marks(codec, text) {
  const found = new Map(codec.check(text).filter(({ kind }) => /malformed|double/.test(kind)).map((finding) => [finding.offset, finding]));
  const pieces = [];
  const push = (piece, kind, reason) => piece && pieces.push({ text: piece, kind, reason });
  let from = 0;
  for (const match of text.matchAll(/%25[0-9a-f]{2}|(?:%(?!25[0-9a-f]{2})[0-9a-f]{2})+|%/gi)) {
    push(text.slice(from, match.index));
    from = match.index + match[0].length;
    const finding = found.get(match.index);
    if (finding) {
      push(match[0], finding.kind, finding.reason);
      continue;
    }
    const bytes = codec.decode(utf8.encode(match[0]));
    for (let at = 0; at < bytes.length; ) {
      const length = Math.max(1, LENGTHS(bytes[at]));
      let character, taken = length;
      try {
        character = at + length <= bytes.length && LENGTHS(bytes[at]) > 0 ? fatal.decode(bytes.subarray(at, at + length)) : undefined;
      } catch {
        character = undefined;
      }
      if (character === undefined) taken = 1;
      const spelling = match[0].slice(3 * at, 3 * (at + taken));
      const reason = character === undefined
        ? `byte 0x${spelling.slice(1).toUpperCase()}, which is not valid UTF-8 here`
        : `${codePoint(character)}${shown(character)}`;
      push(spelling, character === undefined ? 'utf8' : 'escape', reason);
      at += taken;
    }
  }
  push(text.slice(from));
  return pieces;
}

/** Returns the parts of a URL as rows of title, raw text and decoded text, and the flaws of the URL. */
export function parts(codec, url) {
  const split = codec.split(url);
  const rows = [];
  const row = (title, raw, options) => raw !== null && rows.push([title, raw, options]);
  row('Scheme', split.scheme);
  row('User', split.userinfo);
  row('Host', split.host);
  row('Port', split.port);
  row('Path', split.path || null);
  const pieces = split.segments.length > 1 || /%.*\/|\/.*%/s.test(split.path);
  if (pieces) split.segments.forEach((segment, i) => row(`Segment ${i + 1}`, segment));
  row('Query', split.query);
  for (const { name, value } of split.pairs) {
    const form = (raw) => codec.decodeForm(raw, { lossy: true });
    rows.push([`Parameter ${form(name)}`, value === null ? name : `${name}=${value}`, value === null ? '' : form(value)]);
  }
  row('Fragment', split.fragment);
  const plain = codec.decodeList(rows.map(([, raw]) => raw), { lossy: true });
  // The path and the query are not decoded as a whole, which would turn data into delimiters.
  const apart = (title) => (title === 'Path' && pieces && /%/.test(split.path)) || (title === 'Query' && split.pairs.length > 0);
  return { rows: rows.map(([title, raw, decoded], i) => [title, raw, decoded ?? (apart(title) ? null : plain[i])]), flaws: split.flaws };
}

const NAMES = [
  'null', 'start of heading', 'start of text', 'end of text', 'end of transmission', 'enquiry', 'acknowledge', 'bell', 'backspace', 'tab',
  'line feed', 'vertical tab', 'form feed', 'carriage return', 'shift out', 'shift in', 'data link escape', 'device control 1',
  'device control 2', 'device control 3', 'device control 4', 'negative acknowledge', 'synchronous idle', 'end of transmission block',
  'cancel', 'end of medium', 'substitute', 'escape', 'file separator', 'group separator', 'record separator', 'unit separator', 'space',
  'exclamation mark', 'quotation mark', 'number sign, hash', 'dollar sign', 'percent sign', 'ampersand', 'apostrophe',
  'left parenthesis', 'right parenthesis', 'asterisk', 'plus sign', 'comma', 'hyphen, minus', 'full stop, dot', 'slash',
];
const SIGNS = {
  ':': 'colon', ';': 'semicolon', '<': 'less-than sign', '=': 'equals sign', '>': 'greater-than sign', '?': 'question mark', '@': 'at sign',
  '[': 'left bracket', '\\': 'backslash', ']': 'right bracket', '^': 'circumflex', _: 'low line, underscore', '`': 'grave accent',
  '{': 'left brace', '|': 'vertical bar', '}': 'right brace', '~': 'tilde', '\x7f': 'delete',
};

const name = (character, code) =>
  NAMES[code] ?? SIGNS[character] ?? (code < 0x3a ? `digit ${character}` : `letter ${character}`);

/** Returns the table of ASCII: character, code, escape (made by the codec) and name. */
export function asciiTable(codec) {
  return Array.from({ length: 0x80 }, (_, code) => {
    const character = String.fromCharCode(code);
    return { character, code, escape: fatal.decode(codec.encode(Uint8Array.of(code), { set: 'none' })), name: name(character, code) };
  });
}

/** Returns the table of the bytes from 0x80: character in windows-1252, escape of its byte there, and escapes of its UTF-8. */
export function latinTable(codec) {
  const decoder = new TextDecoder('windows-1252');
  return Array.from({ length: 0x80 }, (_, i) => {
    const byte = Uint8Array.of(0x80 + i), character = decoder.decode(byte);
    return {
      character, code: 0x80 + i, unicode: codePoint(character), latin: fatal.decode(codec.encode(byte, { set: 'none' })),
      utf8: codec.encode(character, { set: 'none' }),
    };
  });
}
