// Tests the types in a project without the library `dom` and without the types of Node. `npm run types` compiles this file.
import { encode, decode, decodeStream, encodeList } from 'simdpct';
import { encodeURIComponent, decodeURIComponent } from 'simdpct/compat';
import { instantiate } from 'simdpct/codec';
import { decode as small, PercentError, type DecodeOptions } from 'simdpct/small';
export const a: string[] = ['a'].map(encode).map(decode).map(encodeURIComponent).map(decodeURIComponent);
export const b: string[] = encodeList(a);
export const c: object = decodeStream().readable;
export const d = (module: object) => instantiate(module).decode(new Uint8Array(1)).length;
export const e = (options: DecodeOptions): string => (PercentError.name, small('a', options));
