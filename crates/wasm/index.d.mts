import type { Codec } from './codec.mjs';

export const encode: Codec['encode'];
export const decode: Codec['decode'];
export const normalize: Codec['normalize'];
export const defineSet: Codec['defineSet'];
export const sets: Codec['sets'];
/** Whether the engine has vector instructions, and so which of the two modules is in use. */
export const simd: boolean;

export { PercentError } from './codec.mjs';
export type {
  Codec, DecodeOptions, DecodeTextOptions, EncodeOptions, PercentSet, SetDefinition, SetName,
} from './codec.mjs';
