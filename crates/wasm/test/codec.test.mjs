// Compares all modules with the engine's own functions: encodeURIComponent and the like, and URLSearchParams.
import assert from 'node:assert/strict';
import { constants } from 'node:buffer';
import { readFile } from 'node:fs/promises';
import { describe, test } from 'node:test';

import { PercentError, instantiate } from '../codec.mjs';
import { start } from '../core.mjs';
import * as main from '../index.mjs';
import * as small from '../small.mjs';
import { allCharacters, random, strings } from './inputs.mjs';

const load = async (name) => {
  const module = await WebAssembly.compile(await readFile(new URL(`../${name}`, import.meta.url)));
  return name.includes('small') ? start(module).codec : instantiate(module);
};
const utf8 = new TextEncoder();

/** The result of `run`, or that it threw. */
const outcome = (run) => {
  try {
    return run();
  } catch (error) {
    assert(error instanceof URIError, String(error.stack));
    return URIError;
  }
};

/** Percent-encoding as its definition reads, for any bytes. */
const encodeBytes = (bytes, stays) => {
  const escape = (byte) => [0x25, ...utf8.encode(byte.toString(16).toUpperCase().padStart(2, '0'))];
  return Uint8Array.from([...bytes].flatMap((byte) => (stays(byte) ? byte : escape(byte))));
};

/** Percent-decoding as the URL Standard reads (section 1.3). */
const decodeBytes = (bytes) => {
  const out = [];
  for (let i = 0; i < bytes.length; i++) {
    const digits = String.fromCharCode(...bytes.subarray(i + 1, i + 3));
    if (bytes[i] === 0x25 && /^[0-9a-f]{2}$/i.test(digits)) {
      out.push(parseInt(digits, 16));
      i += 2;
    } else {
      out.push(bytes[i]);
    }
  }
  return Uint8Array.from(out);
};

const randomBytes = () => {
  const below = random(7);
  return Array.from({ length: 400 }, (_, length) => Uint8Array.from({ length }, () => (below(3) ? 0x25 + below(60) : below(256))));
};

for (const file of ['simdpct.simd128.wasm', 'simdpct.wasm', 'simdpct.small.wasm']) {
  const codec = await load(file);
  const { encode, decode, normalize, defineSet, sets } = codec;

  describe(file, () => {
    test('encode is encodeURIComponent, and encodeURI with its set', () => {
      let cases = 0;
      for (const text of [...strings(), ...allCharacters()]) {
        assert.equal(encode(text), encodeURIComponent(text));
        assert.equal(encode(text, { set: 'ecma-uri' }), encodeURI(text));
        cases++;
      }
      assert(cases > 3000);
    });

    test('a strict decode is decodeURIComponent', () => {
      let refused = 0;
      for (const text of [...strings(), ...Array.from(allCharacters(), (text) => encodeURIComponent(text))]) {
        const expected = outcome(() => decodeURIComponent(text));
        assert.deepEqual(outcome(() => decode(text, { strict: true })), expected, text);
        refused += expected === URIError;
      }
      assert(refused > 500);
    });

    test('every character comes back, one by one', () => {
      for (let code = 0; code < 0x3000; code++) {
        const text = String.fromCodePoint(code);
        assert.equal(decode(encode(text)), text);
      }
    });

    test('the form rule is that of URLSearchParams', () => {
      for (const text of strings()) {
        assert.equal(encode(text, { set: 'whatwg-form', form: true }), new URLSearchParams([['', text]]).toString().slice(1));
        // Node 20 misreads text that is not ASCII beside malformed escapes.
        if (text.includes('&') || /[^\0-\x7f]/.test(text)) continue;
        assert.equal(decode(text, { form: true, lossy: true }), new URLSearchParams(`=${text}`).get(''));
      }
    });

    test('bytes', () => {
      const stays = (byte) => /[0-9A-Za-z\-._~]/.test(String.fromCharCode(byte)) && byte < 0x80;
      for (const bytes of randomBytes()) {
        assert.deepEqual(encode(bytes, { set: 'rfc3986-unreserved' }), encodeBytes(bytes, stays));
        assert.deepEqual(decode(bytes), decodeBytes(bytes));
        assert.deepEqual(decode(encode(bytes)), bytes);
      }
    });

    test('the result never shares memory with the input', () => {
      const bytes = utf8.encode('clean');
      for (const operation of [encode, decode, normalize]) {
        const result = operation(bytes);
        assert.deepEqual(result, bytes);
        assert.notEqual(result.buffer, bytes.buffer);
      }
      const one = encode(utf8.encode('a b'));
      encode(utf8.encode('c d'));
      assert.deepEqual(one, utf8.encode('a%20b'));
      assert.deepEqual(decode(Buffer.from('xa%20b').subarray(1)), utf8.encode('a b'));
    });

    test('normalize', () => {
      const expected = (text) =>
        text.replace(/%([0-9a-f]{2})/gi, (escape, digits, offset) => {
          const character = String.fromCharCode(parseInt(digits, 16));
          // A digit stays escaped after an escape that lacks it.
          if (/%[0-9a-f]?$/i.test(text.slice(0, offset)) && /[0-9a-f]/i.test(character)) return escape;
          return /[0-9A-Za-z\-._~]/.test(character) && character < '\x80' ? character : escape.toUpperCase();
        });
      for (const text of strings()) {
        assert.equal(normalize(text), expected(text));
        assert.deepEqual(normalize(utf8.encode(text)), utf8.encode(expected(text)));
      }
    });

    test('keeping escapes', () => {
      assert.equal(encode('/a b/%41%', { set: 'rfc3986-path', keepEscapes: true }), '/a%20b/%41%25');
      assert.equal(encode('é', { lowerCase: true }), '%c3%a9');
      assert.throws(() => encode('a', { keepEscapes: true, form: true }), RangeError);
    });

    test('sets', () => {
      assert.equal(sets.length, new Set(sets).size);
      const hexadecimal = defineSet({ add: '0123456789abcdef' });
      assert.equal(encode('cafe%g', { set: hexadecimal }), 'cafe%25%67');
      assert.equal(encode('a+b/c', { set: defineSet({ base: 'ecma-uri-component', add: '/', remove: 'b' }) }), 'a%2B%62/c');
      assert.equal(decode('%61%2Fb%0a', { keep: defineSet({ add: '/\r\n' }) }), 'a%2Fb%0a');
      for (const add of ['é', '\ud800', 'a\udc00']) assert.throws(() => defineSet({ add }), RangeError);
      for (const wrong of [5, null, ['a'], new Uint8Array(1)]) {
        for (const definition of [{ add: wrong }, { remove: wrong }]) assert.throws(() => defineSet(definition), TypeError);
      }
      for (const definition of [5, undefined, null, 'none']) assert.throws(() => defineSet(definition), TypeError);
      assert.throws(() => encode('a', { set: 'no-such-set' }), RangeError);
      assert.throws(() => main.encode('a', { set: hexadecimal }), RangeError, 'a set of another instance');
    });

    test('options are objects, because others would have no effect', () => {
      const { encodeUrl = encode, decodeUrl = decode } = codec;
      const functions = [encode, decode, codec.decodeForm, codec.decodeUntilStable ?? decode, encodeUrl, decodeUrl];
      for (const length of [1, 2000]) {
        const text = 'a b/c'.repeat(length);
        for (const name of ['rfc3986-path', '', null, true]) for (const operation of functions) assert.throws(() => operation(text, name), TypeError);
      }
      for (const operation of [codec.encodeList, codec.decodeList]) assert.throws(() => operation(['a b/c'], 'rfc3986-path'), TypeError);
      for (const operation of [codec.encodeStream, codec.decodeStream, defineSet]) assert.throws(() => operation('none'), TypeError);
      for (const operation of functions.filter((operation) => operation !== codec.decodeUntilStable)) {
        assert.deepEqual(['a%20b', 'c'].map(operation), ['a%20b', 'c'].map((text) => operation(text)), operation.name);
      }
    });

    test('a result that is too long for a string is a RangeError', (context) => {
      // Nobody writes to this buffer either. It throws the error that a result of its length would.
      const huge = Buffer.alloc(constants.MAX_STRING_LENGTH + 1), { toString } = Buffer.prototype;
      context.mock.method(Buffer.prototype, 'toString', () => toString.call(huge, 'latin1'));
      for (const operation of [encode, decode]) assert.throws(() => operation('%41 é'.repeat(1000)), RangeError);
    });

    test('errors say where', () => {
      const at = (run) => {
        try {
          run();
        } catch (error) {
          assert(error instanceof PercentError && error instanceof URIError);
          assert.equal(error.name, 'PercentError');
          assert.match(error.message, new RegExp(`at offset ${error.offset}$`));
          return error.offset;
        }
        return assert.fail('nothing was thrown');
      };
      for (let length = 0; length < 200; length++) {
        // In a string, each of these characters is two code units and four bytes.
        const before = '😀'.repeat(length);
        assert.equal(at(() => decode(`${before}%4`, { strict: true })), 2 * length);
        assert.equal(at(() => decode(`${before}%FFa`)), 2 * length);
        assert.equal(at(() => decode(`%20${before}%C3é`)), 3 + 2 * length);
        assert.equal(at(() => decode(utf8.encode(`${before}%zz`), { strict: true })), 4 * length);
        assert.equal(at(() => encode(`${before}\ud800a`)), 2 * length);
        assert.equal(at(() => decode(`\ud800${before}%4`, { strict: true })), 2 * length + 1);
      }
      assert.equal(decode('%FF%C3%A9%e2%82', { lossy: true }), '\ufffdé\ufffd');
      assert.equal(decode('%zz%'), '%zz%');
      assert.equal(decode('%EF%BB%BFa'), '\ufeffa');
      for (const operation of [encode, decode, normalize]) {
        if (operation !== decode) at(() => operation('\udc00'));
        for (const wrong of [undefined, null, 7, ['a'], new ArrayBuffer(8)]) assert.throws(() => operation(wrong), TypeError);
      }
      assert.equal(encode('a b'), 'a%20b', 'after the errors, all is well');
    });

    test('memory grows, and is given back', () => {
      const text = 'aé '.repeat(1_000_000);
      const encoded = encode(text);
      assert.equal(encoded.length, text.length / 3 * 10);
      assert.equal(decode(encoded), text);
      assert.equal(encode('x y'), 'x%20y');
      for (let i = 0; i < 5; i++) assert.equal(encode(text).length, encoded.length);
      // Nobody writes to this array, so most systems give it no memory.
      assert.throws(() => encode(new Uint8Array(2 ** 32)), RangeError);
      assert.equal(encode('é'.repeat(2000)).length, 12_000);
    });
  });
}

test('the entries have the functions that they say, and types name every set', async () => {
  for (const entry of [main, small]) assert.equal(entry.encode('a b'), 'a%20b');
  assert.deepEqual(Object.keys(main).filter((name) => !(name in small)), ['check', 'decodeUntilStable', 'decodeUrl', 'encodeUrl', 'split']);
  assert.deepEqual(Object.keys(small).filter((name) => !(name in main)), []);
  const types = await readFile(new URL('../codec.d.mts', import.meta.url), 'utf8');
  const names = /export type SetName =([^;]*);/.exec(types)[1].match(/[a-z0-9-]+/g);
  assert.deepEqual([...names].sort(), [...main.sets].sort());
});
