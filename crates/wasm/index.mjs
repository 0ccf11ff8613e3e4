// Loads the module, with vector instructions if the engine has them, and exports the functions of the codec.
import { instantiate } from './codec.mjs';

// A WebAssembly function with two instructions of simd128, `i8x16.splat` and `i8x16.popcnt`.
const withVectors = new Uint8Array([
  0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0, 65, 0, 253, 15, 253, 98, 11,
]);

export const simd = WebAssembly.validate(withVectors);

async function load(url) {
  if (url.protocol === 'file:') {
    const { readFile } = await import('node:fs/promises');
    return readFile(url);
  }
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url}: ${response.status} ${response.statusText}`);
  return response.arrayBuffer();
}

// Both URLs are literals so that bundlers find the files.
const url = simd ? new URL('./simdpct.simd128.wasm', import.meta.url) : new URL('./simdpct.wasm', import.meta.url);

export const {
  encode, decode, normalize, encodeList, decodeList, normalizeList, encodeUrl, decodeUrl, encodeForm, decodeForm,
  decodeUntilStable, check, split, encodeStream, decodeStream, normalizeStream, defineSet, describeSet, sets,
} = instantiate(await WebAssembly.compile(await load(url)));
export { PercentError } from './codec.mjs';
