// Compares the package with the engine's own functions, which take turns within one run:  node bench.mjs [ROUNDS] [REGEX]
// In a browser: `import { bench } from './bench.mjs'` (ci/web --bench does that in Chromium).
// The results of all rivals are compared first. Each line has a function's throughput in GB/s of input, that of its fastest round, because
// what else the machine does only adds time, and the ratio to the engine's own function. Higher is better. Fails if a ratio is below its
// limit three times.
import { instantiate } from './codec.mjs';
import { random } from './test/inputs.mjs';

const below = random(5);
const pick = (alphabet) => alphabet[below(alphabet.length)];
const word = () => Array.from({ length: 2 + below(8) }, () => pick('etaoinshrdlucmfwypvbgkqjxz0123456789')).join('');
const words = (length, gap) => {
  let text = '';
  while (text.length < length) text += word() + (typeof gap === 'string' ? gap : gap());
  return text.slice(0, length);
};
// Distinct inputs of at least 300,000 characters in all, so that the branch predictor cannot learn them. Engines represent
// concatenated strings as trees, which the first reader would flatten for the others.
const many = (length, make) =>
  JSON.parse(JSON.stringify(Array.from({ length: Math.max(4, Math.ceil(300_000 / length)) }, () => make(length))));

const clean = (n) => words(n, '-');
const prose = (n) => words(n, ' ');
const url = (n) => `https://${words(n - 8, () => pick('/-.?&=_'))}`.slice(0, n);
const german = (n) => words(n, () => pick(['ä', 'ü', ' ', ' ', 'ß', ' ']));
const japanese = (n) => Array.from({ length: n }, () => String.fromCharCode(0x3041 + below(80))).join('');

const KINDS = { clean, URLs: url, prose, German: german, Japanese: japanese };
const LENGTHS = [4, 16, 52, 128, 256, 512, 767, 1024, 4096, 65536];

const utf8 = new TextEncoder();
const size = (input) => (typeof input === 'string' ? utf8.encode(input).length : input.length);

/** Returns the limit of the ratio for strings: the price of a call for short ones, and faster for long text of ASCII. */
const limitOf = (operation, kind, length) =>
  !/^(en|de)code$/.test(operation) ? 0 : length < 16 ? 0.8 : length < 1024 || !/^(clean|URLs|prose)$/.test(kind) ? 0.9 : operation === 'encode' ? 2 : 1.2;

const EACH = (run) => (list) => { for (const input of list) run(input); };

/** Measures what `wanted` matches, and returns whether all limits hold. `load` reads one of the two modules, `print` takes a line. */
export async function bench(load, { rounds = 15, wanted = /(?:)/, print = console.log } = {}) {
  const compile = async (name) => instantiate(await WebAssembly.compile(await load(name)));
  const simd = await compile('./simdpct.simd128.wasm');
  const scalar = await compile('./simdpct.wasm');
  const slow = [];

  const measure = (rivals, list) => {
    const times = rivals.map(() => Infinity);
    const once = (rival) => {
      const start = performance.now();
      rival.run(list);
      // Clocks of browsers have steps of 5 µs.
      return Math.max(performance.now() - start, 0.005);
    };
    // Engines compile code that has run for a while.
    for (const rival of rivals) for (let time = 0; time < 100; ) time += once(rival) + 1;
    for (let round = 0; round < rounds; round++) rivals.forEach((rival, i) => (times[i] = Math.min(times[i], once(rival))));
    return times;
  };
  const row = (operation, kind, length, rivals, list) => {
    const name = `${operation}: ${kind}, ${length}`, limit = limitOf(operation, kind, length);
    if (!wanted.test(name)) return;
    const bytes = list.reduce((sum, input) => sum + size(input), 0);
    const answers = rivals.map((rival) => JSON.stringify(rival.answer(list.slice(0, 50))));
    for (const answer of answers) if (answer !== answers[0]) throw new Error(`${name}: the answers differ`);
    let own, ours;
    for (let attempt = 0; attempt < 3 && !(own / ours?.[0] >= limit); attempt++) [own, ...ours] = measure(rivals, list);
    const speed = (time) => (bytes / time / 1e6).toFixed(3);
    print(`${name.padEnd(32)}${speed(own).padStart(8)}${ours.map((time) => speed(time).padStart(10) + `${(own / time).toFixed(2)}x`.padStart(8)).join('')}`);
    if (own / ours[0] < limit) slow.push(`${name}: ${(own / ours[0]).toFixed(2)}x, below its limit of ${limit}x`);
  };
  const one = (run) => ({ run: EACH(run), answer: (list) => list.map(run).map((value) => (typeof value === 'string' ? value : [...value])) });
  const whole = (run) => ({ run, answer: run });

  print(`${''.padEnd(32)}${'own'.padStart(8)}${'simd128'.padStart(10)}${'ratio'.padStart(8)}${'no simd'.padStart(10)}${'ratio'.padStart(8)}`);
  for (const [kind, make] of Object.entries(KINDS)) {
    for (const length of LENGTHS) {
      const texts = many(length, make);
      row('encode', kind, length, [one((text) => encodeURIComponent(text)), one((text) => simd.encode(text)), one((text) => scalar.encode(text))], texts);
      const strict = { strict: true };
      row('decode', kind, length, [
        one((text) => decodeURIComponent(text)), one((text) => simd.decode(text, strict)), one((text) => scalar.decode(text, strict)),
      ], JSON.parse(JSON.stringify(texts.map(encodeURIComponent))));
      // The engine has no function for bytes, so they are converted to a string and back.
      const decoder = new TextDecoder();
      const detour = (bytes) => utf8.encode(encodeURIComponent(decoder.decode(bytes)));
      row('encode bytes', kind, length, [one(detour), one((bytes) => simd.encode(bytes)), one((bytes) => scalar.encode(bytes))],
        texts.map((text) => utf8.encode(text)));
    }
    for (const length of [16, 52, 200]) {
      const texts = many(length, make);
      const own = (run) => whole((list) => list.map((text) => run(text)));
      row('encodeList', kind, length, [own(encodeURIComponent), whole((list) => simd.encodeList(list)), whole((list) => scalar.encodeList(list))], texts);
      const strict = { strict: true };
      row('decodeList', kind, length, [
        own(decodeURIComponent), whole((list) => simd.decodeList(list, strict)), whole((list) => scalar.decodeList(list, strict)),
      ], JSON.parse(JSON.stringify(texts.map(encodeURIComponent))));
    }
  }
  for (const line of slow) print(`slower than the engine's own function: ${line}`);
  return slow.length === 0;
}

if (typeof process === 'object' && process.argv?.[1]?.endsWith('bench.mjs')) {
  const { readFile } = await import('node:fs/promises');
  const [rounds = '15', wanted = ''] = process.argv.slice(2);
  console.log(`node ${process.version}, V8 ${process.versions.v8}, ${process.arch}; ${rounds} rounds; GB/s of input\n`);
  const holds = await bench((name) => readFile(new URL(name, import.meta.url)), { rounds: Number(rounds), wanted: new RegExp(wanted) });
  process.exitCode = holds ? 0 : 1;
}
