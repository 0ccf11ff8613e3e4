// Starts the module and exports the functions of the codec. The module is text in a script, and starts synchronously, so that this file
// works the same in Node, browsers and workers, with `import` and `require`, and in every bundler, whatever its format.
import { instantiate } from './codec.mjs';
import base64 from './simdpct.simd128.mjs';

const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
if (!WebAssembly.validate(bytes)) {
  throw new Error('simdpct needs WebAssembly with vector instructions (Chrome 91, Firefox 89, Safari 16.4, Node 16.4); for other engines, pass simdpct.wasm to instantiate of simdpct/codec');
}

export const {
  encode, decode, normalize, encodeList, decodeList, normalizeList, encodeUrl, decodeUrl, encodeForm, decodeForm,
  decodeUntilStable, check, split, encodeStream, decodeStream, normalizeStream, defineSet, describeSet, sets,
} = instantiate(new WebAssembly.Module(bytes));
export { PercentError } from './codec.mjs';
