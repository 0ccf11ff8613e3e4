// Inputs for the tests, the same in every run.

/** A generator of numbers below `n` (mulberry32). */
export function random(seed) {
  return (n) => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 4294967296) * n);
  };
}

const ALPHABETS = [
  [...'abcXYZ019-_.~'],
  [...'ab %2Fé€😀/?#&=+'],
  ['%', '%4', '%41', '%7e', '%zz', '%C3%A9', '%c3', '%A9', '%F0%9F%98%80', '%ED%A0%80', '%C0%80', '+', 'a', 'é'],
  [...'日本語テキスト😀'],
  [...'%0123456789abcdefABCDEFgG'],
];

/** Strings of all lengths around a block of 64, of several kinds, and some long ones. */
export function* strings() {
  const below = random(1);
  for (const alphabet of ALPHABETS) {
    for (let length = 0; length <= 200; length++) yield* [0, 1, 2].map(() => pick(below, alphabet, length));
    for (const length of [1000, 4095, 70000]) yield pick(below, alphabet, length);
  }
  // One special character at every position.
  for (const odd of [' ', '%', 'é', '\0', '%41', '%4']) {
    for (let at = 0; at < 140; at++) yield 'a'.repeat(at) + odd + 'b'.repeat(140 - at);
  }
}

function pick(below, alphabet, length) {
  let text = '';
  for (let i = 0; i < length; i++) text += alphabet[below(alphabet.length)];
  return text;
}

/** Every character there is, in strings of 4096. */
export function* allCharacters() {
  for (let start = 0; start < 0x110000; start += 4096) {
    let text = '';
    for (let code = start; code < start + 4096; code++) {
      if (code < 0xd800 || code > 0xdfff) text += String.fromCodePoint(code);
    }
    yield text;
  }
}
