import type { Codec } from './codec.mjs';

export const encode: Codec['encode'];
export const decode: Codec['decode'];
export const normalize: Codec['normalize'];
export const encodeList: Codec['encodeList'];
export const decodeList: Codec['decodeList'];
export const normalizeList: Codec['normalizeList'];
export const encodeForm: Codec['encodeForm'];
export const decodeForm: Codec['decodeForm'];
export const encodeStream: Codec['encodeStream'];
export const decodeStream: Codec['decodeStream'];
export const normalizeStream: Codec['normalizeStream'];
export const defineSet: Codec['defineSet'];
export const describeSet: Codec['describeSet'];
export const sets: Codec['sets'];

export { PercentError } from './codec.mjs';
export type { DecodeOptions, DecodeTextOptions, EncodeOptions, PercentSet, SetDefinition, SetDescription, SetName } from './codec.mjs';
