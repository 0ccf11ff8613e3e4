// Tests the package as users get it: packed, installed in an empty project, and used from there in Node and in Chromium.
//   PROJECT=<the project> node --test package.test.mjs
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { launch, serve } from './chromium.mjs';

const { PROJECT } = process.env;
assert(PROJECT, 'PROJECT names a project with the package');
const here = (path) => fileURLToPath(new URL(path, import.meta.url));

test('it is what it says, and no more', () => {
  assert.deepEqual(readdirSync(`${PROJECT}/node_modules/simdpct`).sort(), [
    'LICENSE-APACHE', 'LICENSE-MIT', 'LICENSE-THIRD-PARTY', 'README.md', 'codec.d.mts', 'codec.mjs', 'compat.d.mts', 'compat.mjs', 'core.mjs', 'index.d.mts', 'index.mjs',
    'package.json', 'simdpct.simd128.mjs', 'simdpct.simd128.wasm', 'simdpct.small.mjs', 'simdpct.wasm', 'small.d.mts', 'small.mjs',
  ]);
  assert.deepEqual(readdirSync(`${PROJECT}/node_modules`).filter((name) => !name.startsWith('.')), ['simdpct']);
});

test('in node', () => {
  const script = `
    import { encode, decodeList, check, decodeStream } from 'simdpct';
    import { instantiate } from 'simdpct/codec';
    import { readFile } from 'node:fs/promises';
    import { fileURLToPath } from 'node:url';
    const plain = instantiate(await WebAssembly.compile(await readFile(fileURLToPath(import.meta.resolve('simdpct/simdpct.wasm')))));
    const streamed = await new Response(new Blob(['%41%4', '2']).stream().pipeThrough(decodeStream())).text();
    console.log(JSON.stringify([encode('a b'), decodeList(['%41', '%42']), check('%')[0].kind, plain.decode('%C3%A9'), streamed]));`;
  const out = execFileSync(process.execPath, ['--input-type=module', '--eval', script], { cwd: PROJECT, encoding: 'utf8' });
  assert.deepEqual(JSON.parse(out), ['a%20b', ['A', 'B'], 'malformed', 'é', 'AB']);
});

const run = (args, options = {}) => spawnSync(process.execPath, args, { cwd: PROJECT, encoding: 'utf8', ...options });

test('require takes it, too', () => {
  const script = "const { encode } = require('simdpct'); const { decodeURI } = require('simdpct/compat'); const { decode } = require('simdpct/small'); console.log(['a b'].map(encode)[0], decodeURI('%2f%41'), decode('%2f'))";
  const { stdout, stderr } = run(['--input-type=commonjs', '--eval', script]);
  assert.equal(stdout, 'a%20b %2fA /\n', stderr);
});

test('the code of its README runs as written, and gives what its comments say', () => {
  const blocks = [...readFileSync(`${PROJECT}/node_modules/simdpct/README.md`, 'utf8').matchAll(/^```js\n(.*?)^```$/gms)].map(([, code]) => code);
  assert(blocks.length >= 3);
  let checked = 0;
  for (const [i, block] of blocks.entries()) {
    // A comment that begins with a literal is the value of the line; one that begins with 'throws' is an error.
    const code = block.replace(/^(?!import)([^\n]+?);[ ]*\/\/ (?:(throws)|((?:'[^']*'|\[[^\n]*\]|\{[^\n]*\})))(?=[ ,;:]|$)[^\n]*$/gm, (_, expression, throws, value) => {
      checked++;
      return throws ? `assert.throws(() => (${expression}));` : `assert.deepEqual(${expression}, ${value});`;
    });
    writeFileSync(`${PROJECT}/readme${i}.mjs`, `import assert from 'node:assert/strict';\n${code}`);
    const { status, stderr } = run([`readme${i}.mjs`]);
    assert.equal(status, 0, stderr);
    writeFileSync(`${PROJECT}/readme${i}.mjs`, block);
    assert.equal(run([`readme${i}.mjs`]).status, /\/\/ throws/.test(block) ? 1 : 0);
  }
  assert(checked >= 15, String(checked));
});

test('npm pack without the modules fails', () => {
  const folder = mkdtempSync(`${tmpdir()}/pack-`);
  cpSync(here('../../crates/wasm'), folder, { recursive: true, filter: (path) => !/node_modules|\.wasm$/.test(path) });
  const { status, stderr } = spawnSync('npm', ['pack', '--dry-run'], { cwd: folder, encoding: 'utf8' });
  assert.notEqual(status, 0);
  assert.match(stderr, /simdpct\.simd128\.wasm is missing.*crates\/wasm\/build/);
  rmSync(folder, { recursive: true });
});

test('simdpct/compat is the functions of the engine, errors included', async () => {
  const compat = await import(`${PROJECT}/node_modules/simdpct/compat.mjs`);
  const { strings } = await import('../../crates/wasm/test/inputs.mjs');
  const outcome = (run) => {
    try {
      return run();
    } catch (error) {
      return `${error.constructor.name}: ${error.message}`;
    }
  };
  let compared = 0;
  const values = [...strings(), ...[...strings()].filter((_, i) => i % 7 === 0).map((text) => text.padEnd(700, '%2f%41')), 5, null, undefined, true, [1, 2], {}, Symbol('x'), '\ud800', `${'a'.repeat(800)}\udc00`];
  for (const value of values) {
    for (const name of ['encodeURIComponent', 'encodeURI', 'decodeURIComponent', 'decodeURI']) {
      assert.equal(compat[name].name, name);
      const expected = outcome(() => globalThis[name](value));
      assert.equal(outcome(() => compat[name](value)), expected, name);
      compared++;
    }
  }
  assert(compared > 10_000, String(compared));
});

let browser, server;
before(async () => {
  server = await serve({ project: PROJECT, wasm: here('../../crates/wasm') });
  browser = await launch();
});
after(async () => {
  await browser?.close();
  server?.close();
});

test('in Chromium, both modules, beside its own functions', async () => {
  const page = await browser.newPage();
  await page.goto(`${server.origin}/empty/`);
  const counts = await page.evaluate(async () => {
    const same = (a, b, what) => {
      if (JSON.stringify(a) !== JSON.stringify(b)) throw new Error(`${what}: ${JSON.stringify(a).slice(0, 200)}, not ${JSON.stringify(b).slice(0, 200)}`);
      compared++;
    };
    let compared = 0;
    const main = await import('/project/node_modules/simdpct/index.mjs');
    const { instantiate, PercentError } = await import('/project/node_modules/simdpct/codec.mjs');
    const { strings } = await import('/wasm/test/inputs.mjs');
    const plain = instantiate(await WebAssembly.compileStreaming(fetch('/project/node_modules/simdpct/simdpct.wasm')));
    const outcome = (run) => {
      try {
        return run();
      } catch (error) {
        if (!(error instanceof URIError)) throw error;
        return 'URIError';
      }
    };
    const all = [...strings()];
    // Lengths around those from which on the module is used.
    for (const length of [500, 511, 512, 513, 1023, 1024, 1025, 3000]) for (const unit of ['a', 'é ', '日', '😀%']) all.push(unit.repeat(length).slice(0, length));
    for (const codec of [main, plain]) {
      for (const text of all.filter((text) => text.isWellFormed())) {
        same(codec.encode(text), encodeURIComponent(text), 'encode');
        same(codec.encode(text, { set: 'ecma-uri' }), encodeURI(text), 'encodeURI');
        same(outcome(() => codec.decode(text, { strict: true })), outcome(() => decodeURIComponent(text)), 'decode');
        same(codec.decode(encodeURIComponent(text)), text, 'round trip');
        same(codec.encode(text, { set: 'whatwg-form', form: true }), new URLSearchParams([['', text]]).toString().slice(1), 'form');
        if (!text.includes('&')) same(codec.decodeForm(text, { lossy: true }), new URLSearchParams(`=${text}`).get(''), 'form decode');
      }
      const short = all.filter((text) => text.length < 300 && text.isWellFormed());
      same(codec.encodeList(short), short.map(encodeURIComponent), 'list');
      for (const lone of ['\ud800', 'a'.repeat(5000) + '\udc00']) {
        same(codec.decode(lone), decodeURIComponent(lone), 'a lone surrogate');
        try {
          codec.encode(lone);
          throw new Error('a lone surrogate passed');
        } catch (error) {
          if (!(error instanceof PercentError) || error.offset !== lone.length - 1) throw error;
        }
      }
    }
    const streamed = await new Response(new Blob(['a%2', '5%', '41%zz']).stream().pipeThrough(main.decodeStream())).text();
    same(streamed, 'a%A%zz', 'stream');
    return { compared };
  });
  assert(counts.compared > 30_000, String(counts.compared));
});
