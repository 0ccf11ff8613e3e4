// Tests which calls the types accept and reject. `npm run types` compiles this file, and nothing runs it.
import {
  encode, decode, normalize, defineSet, sets, PercentError, encodeList, decodeUrl, encodeUrl, decodeUntilStable, check, split,
  decodeStream, describeSet, type Finding, type SetName,
} from 'simdpct';
import { instantiate, type Codec } from 'simdpct/codec';
const a: string = encode('a b', { set: 'whatwg-path', keepEscapes: true });
const b: Uint8Array = encode(new Uint8Array(3));
const c: string = decode('a', { strict: true, lossy: true, keep: defineSet({ base: 'rfc3986-path', add: '+' }) });
const d: Uint8Array = decode(Buffer.from('a'), { form: true });
const e: readonly SetName[] = sets;
const g: (m: WebAssembly.Module) => Codec = instantiate;
normalize('x').length; normalize(new Uint8Array(1)).byteLength;
try { decode('%') } catch (error) { if (error instanceof PercentError) { const n: number = error.offset; console.log(n); } }
// @ts-expect-error no such set
encode('a', { set: 'nope' });
// @ts-expect-error bytes are never lossy
decode(new Uint8Array(1), { lossy: true });
// @ts-expect-error a set is made by defineSet
encode('a', { set: {} });
const h: string[] = encodeList(['a'] as const, { set: 'whatwg-form', form: true });
const i: Uint8Array = decodeUntilStable(new Uint8Array(1)).value;
const j: Finding[] = check(decodeUrl('x', { lossy: true }));
const k: string | null = split('x').pairs[0]!.value;
const l: ReadableStream<Uint8Array> = new Blob(['%41']).stream().pipeThrough(decodeStream({ strict: true }));
const m: 'policy' | 'block' = describeSet('rfc3986-path').kind;
// @ts-expect-error a list is of strings
encodeList([new Uint8Array(1)]);
// @ts-expect-error no layer is strict
decodeUntilStable('a', { strict: true });
// @ts-expect-error streams are of bytes
decodeStream({ lossy: true });
const either = (input: string | Uint8Array): string | Uint8Array => normalize(decode(encode(input)));
const n: string[] = ['a'].map(encode).map(decode).map(normalize).map(encodeUrl).map(decodeUrl);
console.log(either, n, a, b, c, d, e, g, h, i, j, k, l, m);
