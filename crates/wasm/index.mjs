// Starts the module and exports the functions of the codec. The module is text in a script, and starts synchronously, so that this file
// works the same in Node, browsers and workers, with `import` and `require`, and in every bundler, whatever its format.
import { instantiate } from './codec.mjs';
import { compile } from './core.mjs';
import hex from './simdpct.simd128.mjs';

export const {
  encode, decode, normalize, encodeList, decodeList, normalizeList, encodeUrl, decodeUrl, encodeForm, decodeForm,
  decodeUntilStable, check, split, encodeStream, decodeStream, normalizeStream, defineSet, describeSet, sets,
} = instantiate(compile(hex));
export { PercentError } from './codec.mjs';
