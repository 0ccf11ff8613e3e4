// Tests that bundlers take the package, without configuration for it, and that the bundles run.
//   PROJECT=<a project with the package> node --test bundlers.test.mjs
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

import { nodeResolve } from '@rollup/plugin-node-resolve';
import * as esbuild from 'esbuild';
import { rollup } from 'rollup';
import * as vite from 'vite';
import webpack from 'webpack';

import { launch, serve } from './chromium.mjs';

const { PROJECT } = process.env;
assert(PROJECT, 'PROJECT names a project with the package');
const entry = `${PROJECT}/entry.mjs`;
writeFileSync(entry, `
  import { encode, decodeList, check } from 'simdpct';
  import { decodeURI } from 'simdpct/compat';
  import { encodeForm } from 'simdpct/small';
  globalThis.result = [encode('é'.repeat(2000)).length, decodeList(['%41', '%42']), check('%')[0].kind, decodeURI('%2f%41'.repeat(500)).length, encodeForm('a b')];
  if (typeof process === 'object') console.log(JSON.stringify(globalThis.result));
  else if (typeof document === 'undefined') postMessage(globalThis.result);
`);
const EXPECTED = [12_000, ['A', 'B'], 'malformed', 2000, 'a+b'];

/** The bundlers: name, where the bundle runs, its file, and a function that writes it into a folder. */
const esbuildTo = (platform, format) => (folder) => esbuild.build({ entryPoints: [entry], bundle: true, platform, format, outfile: `${folder}/bundle.${platform === 'node' && format === 'esm' ? 'mjs' : format === 'cjs' ? 'cjs' : 'js'}`, logLevel: 'error' });
const rollupTo = (format) => async (folder) => {
  const bundle = await rollup({ input: entry, plugins: [nodeResolve({ browser: format !== 'cjs' })] });
  await bundle.write({ format, file: `${folder}/bundle.${format === 'cjs' ? 'cjs' : 'js'}`, name: 'bundle' });
};
const webpackTo = (target) => (folder) => new Promise((resolve, reject) =>
  webpack({ mode: 'production', target, entry, output: { path: folder, filename: target === 'node' ? 'bundle.cjs' : 'bundle.js' }, performance: { hints: false } }, (error, stats) =>
    error || stats.hasErrors() || stats.hasWarnings() ? reject(error ?? new Error(stats.toString())) : resolve()));
const viteTo = (folder) => vite.build({ root: PROJECT, configFile: false, logLevel: 'warn', build: { outDir: folder, rollupOptions: { input: entry, output: { entryFileNames: 'bundle.js' } } } });

const MATRIX = [
  ['esbuild, default format', 'page', esbuildTo('browser', 'iife')], ['esbuild, ESM', 'page', esbuildTo('browser', 'esm')],
  ['esbuild, node, CommonJS', 'node', esbuildTo('node', 'cjs')], ['esbuild, node, ESM', 'node', esbuildTo('node', 'esm')],
  ['rollup, ESM', 'page', rollupTo('es')], ['rollup, IIFE', 'page', rollupTo('iife')], ['rollup, CommonJS', 'node', rollupTo('cjs')],
  ['vite', 'page', viteTo], ['webpack, web', 'page', webpackTo('web')], ['webpack, webworker', 'worker', webpackTo('webworker')],
  ['esbuild, in a worker', 'worker', esbuildTo('browser', 'iife')], ['webpack, node', 'node', webpackTo('node')],
];

let browser, server;
before(async () => {
  server = await serve({ project: PROJECT, html: fileURLToPath(new URL('.', import.meta.url)) });
  browser = await launch();
});
after(async () => {
  await browser?.close();
  server?.close();
});

for (const [i, [name, where, build]] of MATRIX.entries()) {
  test(`${name}: runs in a ${where}`, async () => {
    const folder = `${PROJECT}/out${i}`;
    mkdirSync(folder);
    await build(folder);
    const [file] = readdirSync(folder).filter((file) => /^bundle\./.test(file));
    if (where === 'node') return assert.deepEqual(JSON.parse(execFileSync(process.execPath, [`${folder}/${file}`], { encoding: 'utf8' })), EXPECTED);
    const page = await browser.newPage();
    await page.goto(`${server.origin}/empty/`);
    const url = `/project/out${i}/${file}`;
    const result = where === 'worker'
      ? await page.evaluate((url) => new Promise((resolve, reject) => { const worker = new Worker(url); worker.onmessage = ({ data }) => resolve(data); worker.onerror = ({ message }) => reject(new Error(message)); }), url)
      : (await page.addScriptTag({ url, type: /ESM|vite/.test(name) ? 'module' : '' }), await page.waitForFunction(() => globalThis.result), await page.evaluate(() => globalThis.result));
    assert.deepEqual(result, EXPECTED);
    await page.close();
    assert(readFileSync(`${folder}/${file}`).length > 100_000);
  });
}

test('the sizes of its README are those of its bundles', async () => {
  const readme = readFileSync(`${PROJECT}/node_modules/simdpct/README.md`, 'utf8');
  const bundled = async (code) => (await esbuild.build({ stdin: { contents: code, resolveDir: PROJECT }, bundle: true, minify: true, format: 'esm', write: false })).outputFiles[0].contents;
  const sizes = {};
  for (const name of ['simdpct', 'simdpct/small', 'simdpct/compat', 'simdpct/codec']) sizes[name] = [await bundled(`export * from '${name}'`)];
  sizes['simdpct/simdpct.simd128.wasm'] = ['simdpct.simd128.wasm', 'simdpct.wasm'].map((name) => readFileSync(`${PROJECT}/node_modules/simdpct/${name}`));
  for (const [name, files] of Object.entries(sizes)) {
    const said = new RegExp(`^\\| \`${name}\`.*\\|([^|]+)\\|$`, 'm').exec(readme)[1].match(/[\d,]+\d/g).map((number) => Number(number.replace(',', '')));
    const found = files.map((file) => gzipSync(file, { level: 9 }).length);
    assert(found.every((size, i) => Math.abs(size / said[i] - 1) < 0.01), `${name}: ${found}, not ${said}`);
  }
});
