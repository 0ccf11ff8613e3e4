// The computations of the page: rules, marks, findings and the parts of a URL. Nothing here uses the DOM, so it runs in the worker, in
// the build and in tests. `codec` is the package in crates/wasm.
import { BIDI, classOf, codePoint, labelOf, HIDDEN, nameOf } from './names.mjs';

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
export const LINES = [['lf', 'LF (%0A)'], ['crlf', 'CRLF (%0D%0A)'], ['each', 'Convert each line on its own']];

/** At most this many characters of a text are shown, marked, and split. */
export const SHOWN = 20_000;

const utf8 = new TextEncoder();
const fatal = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const lossy = new TextDecoder('utf-8', { ignoreBOM: true });
const isText = (input) => typeof input === 'string';
const count = (number, unit) => `${number.toLocaleString('en')} ${unit}${number === 1 ? '' : 's'}`;

/** The error for input without a result. The package has its own, `PercentError`; both are URIErrors. */
class Rejected extends URIError {}

// ---- charsets

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

/** Yields the characters of `bytes` as `{ from, to, character }`. Bytes that are not a character in this charset have none. */
function* characters(bytes, charset) {
  const decoder = new TextDecoder(charset, { ignoreBOM: true }), strict = new TextDecoder(charset, { fatal: true, ignoreBOM: true });
  let from = 0;
  for (let at = 0; at < bytes.length; at++) {
    if (at === from && bytes[at] < 0x80) {
      yield { from, to: ++from, character: String.fromCharCode(bytes[at]) };
      continue;
    }
    const out = decoder.decode(bytes.subarray(at, at + 1), { stream: true });
    if (out === '') continue;
    let character = out;
    if (out.includes('\ufffd')) {
      try {
        character = strict.decode(bytes.subarray(from, at + 1));
      } catch {
        character = undefined;
        // If more than the error came out, only the first byte is known to be invalid: the others are read again.
        if (out.length > 1) {
          decoder.decode();
          at = from;
        }
      }
    }
    yield { from, to: at + 1, character };
    from = at + 1;
  }
  if (from < bytes.length) yield { from, to: bytes.length, character: undefined };
}

/** Converts bytes of a charset to text. Bytes that are not a character stay, as escapes. */
function toText(codec, bytes, charset) {
  try {
    return new TextDecoder(charset, { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    let text = '';
    for (const { from, to, character } of characters(bytes, charset)) {
      text += character ?? fatal.decode(codec.encode(bytes.subarray(from, to), { set: 'none' }));
    }
    return text;
  }
}

/** Encodes to escapes of a charset that is not UTF-8. A character that the charset does not have is written as browsers do in forms. */
function encodeIn(codec, text, charset, run) {
  const bytes = encodingOf(charset);
  if (bytes === undefined) throw new Rejected('browsers can only decode this charset');
  let out = '', piece = [], missing = 0;
  const flush = () => {
    if (piece.length > 0) out += fatal.decode(run(Uint8Array.from(piece)));
    piece = [];
  };
  for (const character of text) {
    const byte = bytes.get(character);
    if (byte !== undefined) {
      piece.push(byte);
    } else {
      flush();
      out += `%26%23${character.codePointAt(0)}%3B`;
      missing++;
    }
  }
  flush();
  return { value: out, note: missing > 0 ? `${count(missing, 'character')} not in this charset, written as browsers do in forms` : undefined };
}

/** Decodes escapes of a charset that is not UTF-8. Copies characters that are not ASCII. */
function decodeIn(codec, text, charset, run, isStrict) {
  const value = text.replace(/[\0-\x7f]+/g, (ascii) => {
    const bytes = run(utf8.encode(ascii));
    return toText(codec, bytes, charset);
  });
  const invalid = /%[89a-f][0-9a-f]/i.test(value) ? marks(codec, text, charset).find(({ kind }) => kind === 'invalid') : undefined;
  if (invalid === undefined) return { value };
  if (isStrict) throw new Rejected(`the bytes at ${invalid.offset} are not a character of this charset`);
  return { value, note: `The bytes at ${invalid.offset} are not a character of this charset, so their escapes stay.` };
}

// ---- rules

const made = new Map();
/** Replaces `set` by a set of the package, if it is a definition. Sets are never freed, so each is made once. */
function resolve(codec, options = {}) {
  if (typeof options.set !== 'object') return options;
  const key = JSON.stringify(options.set);
  if (!made.has(key)) made.set(key, codec.defineSet(options.set));
  return { ...options, set: made.get(key) };
}

const encoder = (options) => ({ options, run: (codec, input) => codec.encode(input, resolve(codec, options)) });
const decoder = (options) => ({ decodes: options, run: (codec, input, more) => codec.decode(input, { ...options, keep: resolve(codec, { set: options.keep }).set, ...more }) });
const QUERY = { set: { base: 'whatwg-form', add: '?&=+' }, keepEscapes: true };
const plus = (input) => (isText(input) ? input.replaceAll(' ', '+') : input.map((byte) => (byte === 0x20 ? 0x2b : byte)));
// The escapes that ECMAScript's decodeURI leaves.
const URI_KEPT = { add: ';/?:@&=+$,#' };

/** The rules for encoding: identifier, group, name, explanation, and how it is done. */
export const ENCODE = [
  ['component', 'What to encode', 'One value', 'for one value inside a URL, such as a parameter or a folder name (encodeURIComponent)', encoder({})],
  ['url', 'What to encode', 'Whole URL', 'keeps the separators of the URL and the escapes it has; repairs the rest', { run: (codec, input) => codec.encodeUrl(input, { keepEscapes: true }) }],
  ['url-data', 'What to encode', 'Decoded URL', 'for a URL as "Whole URL" decodes it: keeps the separators; each % that does not escape one is data', { run: (codec, input) => codec.encodeUrl(input) }],
  ['query', 'What to encode', 'Query string', 'keeps its separators and the escapes it has; a space becomes +', { run: (codec, input) => codec.encode(plus(input), resolve(codec, QUERY)) }],
  ['form', 'What to encode', 'Form value', 'as browsers send forms: a space becomes + (URLSearchParams)', encoder({ set: 'whatwg-form', form: true })],
  ['normalize', 'What to encode', 'Normalized URL', 'the same URL with its escapes in one spelling (RFC 3986, section 6.2.2)', { run: (codec, input) => codec.normalize(input) }],
  ['js-component', 'Functions', 'JavaScript encodeURIComponent', 'keeps letters, digits and - _ . ! ~ * \' ( )', encoder({ set: 'ecma-uri-component' })],
  ['js-uri', 'Functions', 'JavaScript encodeURI', 'keeps the separators of a URL; escapes each %', encoder({ set: 'ecma-uri' })],
  ['python', 'Functions', 'Python quote()', 'keeps the slash', encoder({ set: 'python-quote' })],
  ['python-plus', 'Functions', 'Python quote_plus()', 'a space becomes +', encoder({ set: 'rfc3986-unreserved', form: true })],
  ['java', 'Functions', 'Java URLEncoder', 'a space becomes +; escapes ~ and keeps *', encoder({ set: 'java-form', form: true })],
  ['php', 'Functions', 'PHP urlencode', 'a space becomes +; escapes ~', encoder({ set: { base: 'alphanumeric', add: '-_.' }, form: true })],
  ['php-raw', 'Functions', 'PHP rawurlencode', 'keeps only letters, digits and - _ . ~', encoder({ set: 'rfc3986-unreserved' })],
  ['go-query', 'Functions', 'Go QueryEscape', 'a space becomes +', encoder({ set: 'rfc3986-unreserved', form: true })],
  ['go-path', 'Functions', 'Go PathEscape', 'for one part of a path', encoder({ set: { base: 'rfc3986-unreserved', add: '$&+=:@' } })],
];

/** The rules for decoding. */
export const DECODE = [
  ['decode', 'What to decode', 'Text', 'a % that begins no escape stays', decoder({})],
  ['form-decode', 'What to decode', 'Form value', '+ is a space (URLSearchParams)', decoder({ form: true })],
  ['decode-url', 'What to decode', 'Whole URL', 'escapes of separators stay, so that the URL keeps its parts', { decodes: {}, run: (codec, input, more) => codec.decodeUrl(input, more) }],
  ['stable', 'What to decode', 'Until nothing changes', 'also decodes escapes of escapes', { decodes: {}, rounds: true, run: (codec, input, more) => codec.decodeUntilStable(input, more) }],
  ['strict', 'Functions', 'JavaScript decodeURIComponent', 'a malformed escape is an error', decoder({ strict: true })],
  ['js-uri-decode', 'Functions', 'JavaScript decodeURI', 'escapes of ; / ? : @ & = + $ , # stay', decoder({ strict: true, keep: URI_KEPT })],
  ['python-decode', 'Functions', 'Python unquote()', 'a % that begins no escape stays', decoder({})],
  ['python-decode-plus', 'Functions', 'Python unquote_plus()', '+ is a space', decoder({ form: true })],
  ['php-decode', 'Functions', 'PHP urldecode', '+ is a space', decoder({ form: true })],
  ['php-decode-raw', 'Functions', 'PHP rawurldecode', 'a % that begins no escape stays', decoder({})],
];

/** Returns the rules for encoding that the package has as named sets: the identifier is `set:` and the name. */
export const setRules = (codec) =>
  codec.sets.filter((name) => codec.describeSet(name).kind === 'policy').map((name) =>
    [`set:${name}`, 'Named sets of characters to keep', name, codec.describeSet(name).description.replaceAll('`', ''), encoder({ set: name })]);

const find = (codec, side, id) =>
  (side === 'encode' ? (id.startsWith('set:') ? setRules(codec) : ENCODE) : DECODE).find(([known]) => known === id) ?? (side === 'encode' ? ENCODE : DECODE)[0];

export const isUrl = (text) => /^\s*[a-z][a-z0-9+.-]*:\/\/\S/i.test(text);
/** Reports whether `text` is a query string alone, such as `a=1&b=2`. */
export const isQuery = (text) => !isUrl(text) && /^\??[^?#/\s:=&]+=[^?#\n]*&[^?#\n]*$|^\?[^?#\n]+$/.test(text.trim());

/** Chooses the rules for a text: one for encoding and one for decoding. */
export const choose = (text) => (isUrl(text) ? ['url', 'decode'] : isQuery(text) ? ['query', 'form-decode'] : ['component', 'decode']);

/** Applies `run` to the text with the selected line breaks. */
function lineByLine(input, lines, run) {
  if (!isText(input) || lines === 'lf') return run(input);
  if (lines === 'crlf') return run(input.replace(/\r?\n/g, '\r\n'));
  const notes = new Set();
  const value = input.split('\n').map((line, i) => {
    try {
      const result = run(line);
      if (result.note) notes.add(result.note.replace(/^/, `Line ${i + 1}: `));
      return result.value;
    } catch (error) {
      if (!(error instanceof URIError)) throw error;
      throw new Rejected(`line ${i + 1}: ${error.message}`);
    }
  }).join('\n');
  const [note] = notes;
  return { value, note: note && notes.size > 1 ? `${note} ${count(notes.size - 1, 'more line')} like it.` : note };
}

const inUtf8 = (value) => (isText(value) ? value : fatal.decode(value));

function encodeOnce(codec, rule, input, charset) {
  if (charset === 'utf-8') return { value: rule.run(codec, input) };
  return encodeIn(codec, inUtf8(input), charset, (bytes) => rule.run(codec, bytes));
}

function decodeOnce(codec, { run, decodes: { strict }, rounds }, input, charset) {
  let layers;
  const plain = (part, more) => {
    const result = run(codec, part, more);
    if (!rounds) return result;
    layers = Math.max(layers ?? 0, result.layers);
    return result.value;
  };
  const finish = (result) => (rounds ? { ...result, note: [layers === 0 ? 'Nothing to decode.' : `Decoded ${layers === 1 ? 'once' : `${layers} times`}.`, result.note].filter(Boolean).join(' ') } : result);
  if (charset !== 'utf-8') return finish(decodeIn(codec, inUtf8(input), charset, (bytes) => plain(bytes), strict));
  const replaced = (where) => `The escape${where} is not UTF-8 and is shown as \ufffd. Another charset may fit.`;
  if (!isText(input)) {
    const value = plain(input);
    try {
      fatal.decode(value);
      return finish({ value });
    } catch {
      if (strict) throw new Rejected('an escape is not UTF-8');
      return finish({ value: utf8.encode(lossy.decode(value)), note: replaced('') });
    }
  }
  try {
    return finish({ value: plain(input) });
  } catch (error) {
    if (strict || !(error instanceof URIError) || !/UTF-8$/.test(error.reason)) throw error;
    return finish({ value: plain(input, { lossy: true }), note: replaced(rounds ? '' : ` at ${error.offset}`) });
  }
}

/**
 * Converts `input`, a string or an array of bytes in UTF-8, by a rule and returns `{ value, note? }` or `{ error, offset? }`. `side` is
 * `encode` or `decode`, and `options` has `charset` and `lines`.
 */
export function convert(codec, side, id, input, { charset = 'utf-8', lines = 'lf' } = {}) {
  const surrogate = isText(input) ? input.search(/\p{Surrogate}/u) : -1;
  if (surrogate >= 0) return { error: `Rejected: a lone surrogate (half of a character) at offset ${surrogate}`, offset: surrogate };
  const [, , , , rule] = find(codec, side, id);
  const once = side === 'encode' ? encodeOnce : decodeOnce;
  try {
    return lineByLine(input, side === 'decode' && lines === 'crlf' ? 'lf' : lines, (part) => once(codec, rule, part, charset));
  } catch (error) {
    if (!(error instanceof URIError)) throw error;
    return { error: `Rejected: ${error.message}`, offset: error.offset };
  }
}

/** Returns the ASCII characters that a rule keeps, its explanation, and the address of its specification. */
export function keeps(codec, id) {
  const [, , , about, rule] = find(codec, 'encode', id);
  let kept = '';
  for (let code = 0; code < 0x80; code++) {
    const character = String.fromCharCode(code);
    if (rule.run(codec, character) === character) kept += character;
  }
  const name = id.startsWith('set:') ? id.slice(4) : rule.options?.set;
  return { kept, about, source: typeof name === 'string' ? codec.describeSet(name).source : undefined };
}

/** Returns a stream that converts the bytes of a file, for `work`: a rule of the form `encode:ID`, `decode:ID`, or `encode:normalize`. */
export function streamOf(codec, work) {
  const [side, id] = [work.slice(0, 6), work.slice(7)];
  if (id === 'normalize') return codec.normalizeStream();
  const [, , , , rule] = find(codec, side, id);
  return side === 'encode' ? codec.encodeStream(resolve(codec, rule.options)) : codec.decodeStream({ ...rule.decodes, keep: undefined });
}

/** Returns the text after each round of decoding, for at most `most` rounds. */
export function layers(codec, text, { charset = 'utf-8' } = {}, most = 8) {
  const all = [];
  for (let last = text; all.length < most; ) {
    const { value } = decodeOnce(codec, find(codec, 'decode', 'decode')[4], last, charset);
    if (value === last) break;
    all.push(value);
    last = value;
  }
  return all;
}

// ---- marks and findings

let classes;
/** Describes a character: itself, code point, name, class in RFC 3986. */
export function describe(codec, character) {
  classes ??= { unreserved: codec.describeSet('rfc3986-unreserved').keeps, reserved: codec.describeSet('rfc3986-reserved').keeps };
  const [name, meaning] = classOf(character, classes);
  const visible = /[\p{C}\p{Z}]/u.test(character) ? labelOf(character) : character;
  return `${visible} · ${codePoint(character)} · ${nameOf(character)} · ${name}: ${meaning}`;
}

/**
 * Returns the escapes of `text` as `{ offset, end, kind, reason }`. Kinds: `escape` of one character, `malformed`, `double` (an escaped
 * escape), and `invalid` (bytes that are not a character of the charset).
 */
export function marks(codec, text, charset = 'utf-8') {
  const found = new Map(codec.check(text.isWellFormed?.() === false ? text.toWellFormed() : text)
    .filter(({ kind }) => /malformed|double/.test(kind)).map((finding) => [finding.offset, finding]));
  const all = [];
  const wide = DOUBLE.some(([name]) => name === charset);
  // In multi-byte charsets, the second byte of a character can be an ASCII character that is not escaped.
  for (const match of text.matchAll(wide ? /%[0-9a-f]{2}(?:%[0-9a-f]{2}|[@-~])*|%/gi : /%25[0-9a-f]{2}|(?:%(?!25[0-9a-f]{2})[0-9a-f]{2})+|%/gi)) {
    const [run] = match, { index } = match;
    const finding = found.get(index);
    if (finding && (!wide || finding.kind === 'malformed')) {
      const length = finding.kind === 'double' ? 5 : 1;
      all.push({ offset: index, end: index + length, kind: finding.kind, reason: finding.kind === 'double' ? `${run} is ${codec.decode(run)}, which is an escape again: the text was encoded twice` : `${finding.reason[0].toUpperCase()}${finding.reason.slice(1)}` });
      continue;
    }
    const tokens = [...run.matchAll(/%[0-9a-f]{2}|[^]/gi)].map(([token]) => token);
    const bytes = Uint8Array.from(tokens, (token) => (token.length === 3 ? parseInt(token.slice(1), 16) : token.charCodeAt(0)));
    const starts = [0];
    for (const token of tokens) starts.push(starts.at(-1) + token.length);
    for (const { from, to, character } of characters(bytes, charset)) {
      const spelling = run.slice(starts[from], starts[to]);
      if (!spelling.includes('%')) continue;
      const offset = index + starts[from];
      const double = found.get(offset)?.kind === 'double';
      all.push({
        offset, end: double ? offset + 5 : index + starts[to], kind: double ? 'double' : character === undefined ? 'invalid' : 'escape',
        reason: `${spelling} is ${character === undefined ? `not ${charset === 'utf-8' ? 'UTF-8' : `a character of ${charset}`}` : describe(codec, character)}`,
      });
    }
  }
  return all;
}

/**
 * Returns the beginning of a text, at most `SHOWN` characters, and its marks. It ends between characters, whether they are escaped or not,
 * because the rest of a character would look like a fault of the text.
 */
export function begin(codec, source, charset = 'utf-8') {
  // No escaped character has more than 12 characters.
  const { text } = preview(source, SHOWN + 16);
  const all = marks(codec, text, charset);
  const end = all.find((mark) => mark.offset < SHOWN && mark.end > SHOWN)?.offset ?? SHOWN;
  return { head: preview(text, end).text, marked: all.filter((mark) => mark.end <= end) };
}

const TITLES = {
  malformed: 'Malformed escape', double: 'Encoded twice', nul: 'NUL', crlf: 'Escaped line end', separator: 'Escaped slash', dot: 'Escaped dot', utf8: 'Not UTF-8',
  charset: 'Not in the charset', bidi: 'Reorders text', surrogate: 'Half a character',
};
const REASONS = {
  malformed: 'a % without two hexadecimal digits after it. Escape it as %25, if it is data.',
  double: 'the text was encoded twice: after decoding, there are escapes again.',
  nul: '%00 ends the text in some programs.',
  crlf: 'in a header or a log, the decoded line end begins a new line, which the author of the URL chooses.',
  separator: 'some servers read an escaped slash or backslash in a path as a separator, and others do not.',
  dot: 'some servers read an escaped dot in a path as part of . or .., and others do not.',
  utf8: 'the decoded bytes are not UTF-8. Another charset may fit:',
  charset: 'the decoded bytes are not characters of the charset. Another one may fit:',
  bidi: 'a control character for the direction of text makes the decoded text look like another one.',
  surrogate: 'half of a character (a lone surrogate) cannot be encoded.',
};

/**
 * Returns at most three charsets in which the words with escapes of other bytes than ASCII look most like words, as `[charset, title,
 * word]`. Signs within words, letters of two scripts side by side, and capitals after small letters are signs of the wrong charset.
 */
function fitting(codec, text) {
  const words = text.match(/(?:%[0-9a-f]{2}|[a-z])*%[89a-f][0-9a-f](?:%[0-9a-f]{2}|[@-~])*/gi)?.slice(0, 8) ?? [];
  const bytes = codec.decode(utf8.encode(words.join(' '))), best = new Map();
  for (const [charset, title] of CHARSETS) {
    let value;
    try {
      value = new TextDecoder(charset, { fatal: true }).decode(bytes);
    } catch {
      continue;
    }
    const doubts = value.match(/[^\p{ASCII}\p{L}\p{M}€]|[a-z](?![\p{ASCII}\p{sc=Latin}])\p{L}|(?![\p{ASCII}\p{sc=Latin}])\p{L}[a-z]|\p{Ll}\p{Lu}/gu)?.length ?? 0;
    // The same result needs no second button.
    if (!best.has(value)) best.set(value, [charset, title, [...value.split(' ')[0]].slice(0, 20).join(''), doubts]);
  }
  const least = Math.min(...[...best.values()].map(([, , , doubts]) => doubts));
  return [...best.values()].filter(([, , , doubts]) => doubts === least).slice(0, 3);
}

/** Returns the findings as groups `{ kind, title, reason, places: [[start, end]], charsets? }`. */
export function findings(codec, text, charset = 'utf-8', known = marks(codec, text, charset)) {
  const groups = new Map();
  const add = (kind, start, end) => {
    if (!groups.has(kind)) groups.set(kind, { kind, title: TITLES[kind], reason: REASONS[kind], places: [] });
    groups.get(kind).places.push([start, end]);
  };
  const wellFormed = text.isWellFormed?.() ?? !/\p{Surrogate}/u.test(text);
  if (!wellFormed) for (const { index } of text.matchAll(/\p{Surrogate}/gu)) add('surrogate', index, index + 1);
  // After the path, an escaped slash or dot is data.
  const query = /[?#]/.exec(text)?.index ?? text.length;
  for (const { kind, offset } of codec.check(wellFormed ? text : text.replace(/\p{Surrogate}/gu, '\ufffd'))) {
    if ((kind === 'separator' || kind === 'dot') && (offset >= query || isQuery(text))) continue;
    if (kind === 'utf8' && charset !== 'utf-8') continue;
    add(kind, offset, offset + (kind === 'malformed' ? 1 : kind === 'double' ? 5 : /^%0d%0a/i.test(text.slice(offset, offset + 6)) ? 6 : 3));
  }
  if (charset !== 'utf-8') for (const { kind, offset, end } of known) if (kind === 'invalid') add('charset', offset, end);
  for (const { offset, end, kind, reason } of known) if (kind === 'escape' && BIDI.test(String.fromCodePoint(parseInt(/U\+([0-9A-F]+)/.exec(reason)[1], 16)))) add('bidi', offset, end);
  for (const { index } of text.matchAll(new RegExp(BIDI, 'g'))) add('bidi', index, index + 1);
  const foreign = groups.get('utf8') ?? groups.get('charset');
  if (foreign) foreign.charsets = fitting(codec, text);
  return [...groups.values()].sort((a, b) => a.places[0][0] - b.places[0][0]);
}

/** Returns the parts of a URL, or of a query string alone, as rows of title, raw text and decoded text, and its flaws. */
export function parts(codec, url, charset = 'utf-8') {
  const query = isQuery(url);
  const split = codec.split(query ? `?${url.replace(/^\?/, '')}` : url);
  const shift = query && !url.startsWith('?') ? 1 : 0;
  const rows = [];
  const decoded = (id, raw) => convert(codec, 'decode', id, raw, { charset }).value;
  const row = (title, raw, apart) => raw !== null && rows.push([title, raw, apart ? null : decoded('decode', raw)]);
  row('Scheme', split.scheme);
  row('User', split.userinfo);
  row('Host', split.host);
  row('Port', split.port);
  // The path and the query are not decoded as a whole, which would turn data into separators.
  const pieces = split.segments.length > 1 || /%.*\/|\/.*%/s.test(split.path);
  row('Path', split.path || null, pieces && split.path.includes('%'));
  if (pieces) split.segments.forEach((segment, i) => row(`Segment ${i + 1}`, segment));
  if (!query || split.pairs.length === 0) row('Query', split.query, split.pairs.length > 0);
  for (const { name, value } of split.pairs) {
    rows.push([`Parameter ${decoded('form-decode', name)}`, value === null ? name : `${name}=${value}`, value === null ? '' : decoded('form-decode', value)]);
  }
  row('Fragment', split.fragment);
  const flaws = new Map();
  // `findings` has the malformed escapes.
  for (const { kind, component, offset, reason } of split.flaws.filter(({ kind }) => kind !== 'malformed')) {
    const words = kind === 'non-ascii' ? 'characters that are not ASCII need escapes here' : reason;
    const key = `${component} ${words}`;
    if (!flaws.has(key)) flaws.set(key, { kind, title: component[0].toUpperCase() + component.slice(1), reason: words, places: [] });
    flaws.get(key).places.push([offset - shift, offset - shift + 1]);
  }
  return { rows, flaws: [...flaws.values()], query };
}

/** Splits text for display: strings, and labels of hidden characters as `[label, character]`. */
export function chips(text) {
  const all = [];
  let from = 0;
  for (const { index, 0: character } of text.matchAll(new RegExp(HIDDEN, 'gu'))) {
    if (index > from) all.push(text.slice(from, index));
    all.push([labelOf(character), character]);
    from = index + character.length;
  }
  if (from < text.length || all.length === 0) all.push(text.slice(from));
  return all;
}

/** Returns the first `most` characters of a result for display, and its length. Bytes are UTF-8. */
export function preview(value, most = SHOWN) {
  if (isText(value)) {
    // A cut never splits a pair of surrogates.
    const end = value.length > most && /[\ud800-\udbff]/.test(value[most - 1]) ? most - 1 : Math.min(most, value.length);
    return { text: value.slice(0, end), length: value.length, unit: 'character', more: end < value.length };
  }
  const head = new TextDecoder('utf-8', { ignoreBOM: true }).decode(value.subarray(0, 4 * most), { stream: true });
  const { text, more } = preview(head, most);
  return { text, length: value.length, unit: 'byte', more: more || value.length > 4 * most };
}
