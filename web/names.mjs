// Names of characters, and their classes in the RFCs. Browsers have no table of Unicode names, so this file names ASCII, Windows-1252,
// Latin letters with accents, and invisible characters; for all others it gives the script and the kind of the character.

const CONTROLS =
  'NUL null|SOH start of heading|STX start of text|ETX end of text|EOT end of transmission|ENQ enquiry|ACK acknowledge|BEL bell|' +
  'BS backspace|TAB horizontal tab|LF line feed, new line|VT vertical tab|FF form feed|CR carriage return|SO shift out|SI shift in|' +
  'DLE data link escape|DC1 device control 1|DC2 device control 2|DC3 device control 3|DC4 device control 4|NAK negative acknowledge|' +
  'SYN synchronous idle|ETB end of transmission block|CAN cancel|EM end of medium|SUB substitute|ESC escape|FS file separator|' +
  'GS group separator|RS record separator|US unit separator';

/** Characters that cannot be seen: an abbreviation and a name. */
export const INVISIBLE = new Map([
  ...CONTROLS.split('|').map((both, code) => [code, both]), [0x20, 'SP space'], [0x7f, 'DEL delete'], [0xa0, 'NBSP no-break space'],
  [0xad, 'SHY soft hyphen'], [0x61c, 'ALM Arabic letter mark'], [0x180e, 'MVS Mongolian vowel separator'], [0x200b, 'ZWSP zero width space'],
  [0x200e, 'LRM left-to-right mark'], [0x200f, 'RLM right-to-left mark'], [0x2028, 'LSEP line separator'],
  [0x2029, 'PSEP paragraph separator'], [0x202a, 'LRE left-to-right embedding'], [0x202b, 'RLE right-to-left embedding'],
  [0x202c, 'PDF pop directional formatting'], [0x202d, 'LRO left-to-right override'], [0x202e, 'RLO right-to-left override'],
  [0x2060, 'WJ word joiner'], [0x2066, 'LRI left-to-right isolate'], [0x2067, 'RLI right-to-left isolate'],
  [0x2068, 'FSI first strong isolate'], [0x2069, 'PDI pop directional isolate'], [0xfeff, 'BOM byte order mark'],
].map(([code, both]) => [code, [both.slice(0, both.indexOf(' ')), both.slice(both.indexOf(' ') + 1)]]));
for (let code = 0x80; code < 0xa0; code++) INVISIBLE.set(code, [`C1-${code.toString(16).toUpperCase()}`, 'control character, not assigned']);

const SIGNS = {
  '!': 'exclamation mark', '"': 'quotation mark, double quote', '#': 'number sign, hash', $: 'dollar sign', '%': 'percent sign', '&': 'ampersand, and',
  "'": 'apostrophe, single quote', '(': 'left parenthesis', ')': 'right parenthesis', '*': 'asterisk, star', '+': 'plus sign', ',': 'comma',
  '-': 'hyphen, minus', '.': 'full stop, dot, period', '/': 'slash', ':': 'colon', ';': 'semicolon', '<': 'less-than sign', '=': 'equals sign',
  '>': 'greater-than sign', '?': 'question mark', '@': 'at sign', '[': 'left square bracket', '\\': 'backslash', ']': 'right square bracket',
  '^': 'circumflex, caret', _: 'underscore, low line', '`': 'grave accent, backtick', '{': 'left curly brace', '|': 'vertical bar, pipe',
  '}': 'right curly brace', '~': 'tilde', '€': 'euro sign', '‚': 'low single quote', 'ƒ': 'f with hook', '„': 'low double quote', '…': 'ellipsis',
  '†': 'dagger', '‡': 'double dagger', 'ˆ': 'circumflex accent', '‰': 'per mille sign', '‹': 'left angle quote', 'Œ': 'capital ligature OE',
  '‘': 'left single quote', '’': 'right single quote, apostrophe', '“': 'left double quote', '”': 'right double quote', '•': 'bullet', '–': 'en dash',
  '—': 'em dash', '˜': 'small tilde', '™': 'trade mark sign', '›': 'right angle quote', 'œ': 'small ligature oe', '¡': 'inverted exclamation mark',
  '¢': 'cent sign', '£': 'pound sign', '¤': 'currency sign', '¥': 'yen sign', '¦': 'broken bar', '§': 'section sign, paragraph', '¨': 'diaeresis',
  '©': 'copyright sign', 'ª': 'feminine ordinal', '«': 'left guillemet, angle quote', '¬': 'not sign', '®': 'registered sign', '¯': 'macron',
  '°': 'degree sign', '±': 'plus-minus sign', '²': 'superscript two, squared', '³': 'superscript three, cubed', '´': 'acute accent',
  'µ': 'micro sign', '¶': 'pilcrow, paragraph', '·': 'middle dot', '¸': 'cedilla', '¹': 'superscript one', 'º': 'masculine ordinal',
  '»': 'right guillemet, angle quote', '¼': 'one quarter', '½': 'one half', '¾': 'three quarters', '¿': 'inverted question mark',
  'Æ': 'capital letter AE', 'Ð': 'capital letter eth', '×': 'multiplication sign, times', 'Ø': 'capital letter O with stroke', 'Þ': 'capital letter thorn',
  'ß': 'small letter sharp s', 'æ': 'small letter ae', 'ð': 'small letter eth', '÷': 'division sign', 'ø': 'small letter o with stroke',
  'þ': 'small letter thorn', '\ufffd': 'replacement character',
};
const ACCENTS = {
  '\u0300': 'grave', '\u0301': 'acute', '\u0302': 'circumflex', '\u0303': 'tilde', '\u0304': 'macron', '\u0306': 'breve', '\u0307': 'dot above',
  '\u0308': 'diaeresis, umlaut', '\u030a': 'ring above', '\u030b': 'double acute', '\u030c': 'caron', '\u0327': 'cedilla', '\u0328': 'ogonek',
};
const SCRIPTS = ['Latin', 'Greek', 'Cyrillic', 'Hebrew', 'Arabic', 'Devanagari', 'Thai', 'Hangul', 'Hiragana', 'Katakana', 'Han', 'Armenian', 'Georgian'];
const KINDS = [['Lu', 'capital letter'], ['Ll', 'small letter'], ['L', 'letter'], ['M', 'combining mark'], ['N', 'number'], ['P', 'punctuation'],
  ['Z', 'space'], ['Co', 'private use'], ['Cn', 'not assigned'], ['C', 'control character']];

/** Returns the name of a character in lower case, as in "small letter e with acute". */
export function nameOf(character) {
  const invisible = INVISIBLE.get(character.codePointAt(0));
  if (invisible) return invisible[1];
  if (SIGNS[character]) return SIGNS[character];
  if (/[0-9]/.test(character)) return `digit ${character}`;
  const kind = KINDS.find(([category]) => new RegExp(`^\\p{${category}}$`, 'u').test(character))?.[1] ?? 'symbol';
  const [base, accent] = character.normalize('NFD');
  if (/[A-Za-z]/.test(base)) return `${kind} ${base}${ACCENTS[accent] ? ` with ${ACCENTS[accent]}` : ''}`;
  if (/\p{Extended_Pictographic}/u.test(character)) return 'emoji or pictograph';
  const script = SCRIPTS.find((name) => new RegExp(`\\p{Script=${name}}`, 'u').test(character));
  return script ? `${script} ${kind}` : kind;
}

/** The code point of a character, as in U+00E9. */
export const codePoint = (character) => `U+${character.codePointAt(0).toString(16).toUpperCase().padStart(4, '0')}`;

// Control characters except line feed and tab, characters that reorder text, and others without a shape. Zero width joiners are left
// alone: emoji and several scripts need them.
export const HIDDEN = /[\0-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\u{e0000}-\u{e007f}]/u;
/** Characters that change the direction of the text around them. */
export const BIDI = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/;

/** Returns a short label for a hidden character. */
export const labelOf = (character) => INVISIBLE.get(character.codePointAt(0))?.[0] ?? codePoint(character);

const MEANINGS = {
  unreserved: 'never needs an escape', reserved: 'separates parts of a URL; escape it in a value', percent: 'begins an escape; always escape it in a value',
  other: 'not allowed in a URL; always escape it', control: 'always escape it', wide: 'always escape it',
};

/** Returns the class of a character in RFC 3986, and its meaning. `sets` has the members of the sets of RFC 3986. */
export function classOf(character, sets) {
  const code = character.codePointAt(0);
  if (code >= 0x80) return ['not ASCII', MEANINGS.wide];
  if (code < 0x20 || code === 0x7f) return ['control', MEANINGS.control];
  if (sets.unreserved.includes(character)) return ['unreserved', MEANINGS.unreserved];
  if (sets.reserved.includes(character)) return ['reserved', MEANINGS.reserved];
  return ['not allowed', character === '%' ? MEANINGS.percent : MEANINGS.other];
}
