// The four functions of ECMAScript by their own names, for `import { encodeURIComponent } from 'simdpct/compat'`. Results and errors are
// exactly those of the engine: whatever the module rejects is given to the engine's function, which throws.
import { decode, defineSet, encode } from './small.mjs';

const engine = globalThis;
const STRICT = { strict: true };
const URI = { set: 'ecma-uri' };
const KEPT = { strict: true, keep: defineSet({ add: ';/?:@&=+$,#' }) };
// Shorter strings are the engine's: see README.md.
const SHORT = 512;

/** Returns a function that converts with `run`, and with the function `name` of the engine where that throws. */
const exactly = (name, run) => ({
  [name](value) {
    // A template literal throws for a symbol, as ToString does.
    const text = typeof value === 'string' ? value : `${value}`;
    if (text.length < SHORT) return engine[name](text);
    try {
      return run(text);
    } catch {
      return engine[name](text);
    }
  },
})[name];

export const encodeURIComponent = exactly('encodeURIComponent', (text) => encode(text));
export const encodeURI = exactly('encodeURI', (text) => encode(text, URI));
export const decodeURIComponent = exactly('decodeURIComponent', (text) => decode(text, STRICT));
export const decodeURI = exactly('decodeURI', (text) => decode(text, KEPT));
