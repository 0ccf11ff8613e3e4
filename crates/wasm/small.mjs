// Starts the module without whole URIs, synchronously: see index.mjs.
import { compile, start } from './core.mjs';
import hex from './simdpct.small.mjs';

export const {
  encode, decode, normalize, encodeList, decodeList, normalizeList, encodeForm, decodeForm, encodeStream, decodeStream, normalizeStream,
  defineSet, describeSet, sets,
} = start(compile(hex)).codec;
export { PercentError } from './core.mjs';
