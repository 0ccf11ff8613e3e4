// Measures the package against the engine's own functions, in turns within one run:  node bench.mjs [ROUNDS]
// Every rival's answers are compared first. A line says how many bytes of input a function takes in a nanosecond, so
// GB/s, as the median of the rounds, and what that is to the engine's own function.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';

import { instantiate } from './codec.mjs';
import { random } from './test/inputs.mjs';

const rounds = Number(process.argv[2] ?? 15);
const load = async (name) => instantiate(await WebAssembly.compile(await readFile(new URL(name, import.meta.url))));
const simd = await load('./simdpct.simd128.wasm');
const scalar = await load('./simdpct.wasm');

const below = random(5);
const word = () => Array.from({ length: 2 + below(8) }, () => 'etaoinshrdlucmfwypvbgkqjxz0123456789'[below(36)]).join('');
const words = (length, gap) => {
  let text = '';
  while (text.length < length) text += word() + (typeof gap === 'string' ? gap : gap());
  return text.slice(0, length);
};
// Distinct inputs of half a megabyte or more in all, so that no predictor learns them by heart.
const many = (length, make) => Array.from({ length: Math.max(4, Math.ceil(600_000 / length)) }, () => make(length));

const inputs = {
  'clean, 16': many(16, (n) => words(n, '-')),
  'URLs, 52': many(52, (n) => `https://${words(n - 8, () => '/-.?&=_'[below(7)])}`),
  'clean, 1 Ki': many(1024, (n) => words(n, '-')),
  'prose, 1 Ki': many(1024, (n) => words(n, ' ')),
  'clean, 64 Ki': many(65536, (n) => words(n, '-')),
  'prose, 64 Ki': many(65536, (n) => words(n, ' ')),
  'Japanese, 64 Ki': many(65536, (n) => Array.from({ length: n / 3 }, () => String.fromCharCode(0x3041 + below(80))).join('')),
};

function time(run, list) {
  const start = process.hrtime.bigint();
  for (const input of list) run(input);
  return Number(process.hrtime.bigint() - start);
}

const median = (numbers) => numbers.sort((a, b) => a - b)[numbers.length >> 1];
const { byteLength } = Buffer;

console.log(`node ${process.version}, V8 ${process.versions.v8}, ${process.arch}; ${rounds} rounds; GB/s of input\n`);
console.log(`${''.padEnd(28)}${'built in'.padStart(10)}${'simd128'.padStart(10)}${'ratio'.padStart(8)}${'no simd'.padStart(10)}${'ratio'.padStart(8)}`);
for (const [operation, rivals] of Object.entries({
  encode: [encodeURIComponent, simd.encode, scalar.encode],
  decode: [decodeURIComponent, (text) => simd.decode(text, { strict: true }), (text) => scalar.decode(text, { strict: true })],
  // The engine has nothing for bytes but this detour.
  'encode bytes': [
    (bytes) => new TextEncoder().encode(encodeURIComponent(new TextDecoder().decode(bytes))), simd.encode, scalar.encode,
  ],
})) {
  for (const [name, texts] of Object.entries(inputs)) {
    const list =
      operation === 'encode' ? texts : operation === 'decode' ? texts.map(encodeURIComponent) : texts.map((text) => new TextEncoder().encode(text));
    const size = list.reduce((sum, input) => sum + (typeof input === 'string' ? byteLength(input) : input.length), 0);
    for (const input of list.slice(0, 50)) for (const rival of rivals) assert.deepEqual(rival(input), rivals[0](input));
    const times = rivals.map(() => []);
    for (let round = 0; round < rounds + 2; round++) {
      // The first two rounds warm up.
      rivals.forEach((rival, i) => { const t = time(rival, list); if (round >= 2) times[i].push(t); });
    }
    const [own, ...ours] = times.map((numbers) => size / median(numbers));
    const cells = ours.flatMap((speed) => [speed.toFixed(3).padStart(10), `${(speed / own).toFixed(1)}x`.padStart(8)]);
    console.log(`${`${operation}: ${name}`.padEnd(32)}${own.toFixed(3).padStart(6)}${cells.join('')}`);
  }
}
