// Tests the functions for lists, whole URLs, layers, findings, parts and streams.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import { PercentError, instantiate } from '../codec.mjs';
import { random, strings } from './inputs.mjs';

const load = async (name) => instantiate(await WebAssembly.compile(await readFile(new URL(`../${name}`, import.meta.url))));
const utf8 = new TextEncoder();
const text = (bytes) => new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);

/** What a stream makes of `pieces`. */
async function through(stream, pieces) {
  const source = new ReadableStream({
    start(controller) {
      for (const piece of pieces) controller.enqueue(piece);
      controller.close();
    },
  });
  const out = [];
  for await (const chunk of source.pipeThrough(stream)) out.push(...chunk);
  return Uint8Array.from(out);
}

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc');

/** The bytes of memory that each of 30 results of `make` holds. */
function held(make) {
  const used = () => {
    collect();
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  };
  make();
  const results = [], before = used();
  while (results.length < 30) results.push(make());
  return (used() - before) / results.length;
}

/** `bytes` cut at random places, with empty pieces among them. */
function cut(bytes, below) {
  const pieces = [];
  for (let at = 0; at < bytes.length; ) {
    const length = below(4) ? below(3) : below(100);
    pieces.push(bytes.slice(at, at + length));
    at += length;
  }
  return pieces;
}

for (const file of ['simdpct.simd128.wasm', 'simdpct.wasm']) {
  const codec = await load(file);
  const {
    encode, decode, normalize, encodeList, decodeList, normalizeList, encodeUrl, decodeUrl, encodeForm, decodeForm,
    decodeUntilStable, check, split, encodeStream, decodeStream, normalizeStream, defineSet, describeSet, sets,
  } = codec;

  describe(file, () => {
    test('every length near a crossing gives what the engine gives', () => {
      const alphabets = ['abc', 'ab %é/', '日本', 'a日', '😀x'];
      for (const alphabet of alphabets) {
        const characters = [...alphabet];
        for (const about of [0, 16, 48, 96, 512, 768, 1024]) {
          for (let length = Math.max(0, about - 20); length < about + 20; length++) {
            const value = Array.from({ length }, (_, i) => characters[(i * 7 + length) % characters.length]).join('');
            const encoded = encodeURIComponent(value);
            assert.equal(encode(value), encoded);
            assert.equal(decode(encoded), value);
            assert.equal(decode(encoded, { strict: true }), value);
            const clean = value.replaceAll('%', '+');
            assert.equal(decode(clean), clean);
            assert.equal(decodeForm(clean), clean.replaceAll('+', ' '));
            assert.throws(() => decode(clean, { keep: 'no such set' }), RangeError);
            assert.equal(decodeUntilStable(encoded.replaceAll('%', '%25')).value, decodeUntilStable(value).value);
            // A lone surrogate is an error of every encoder, and copied by the decoder, however long the text.
            for (const odd of [`${value}\ud800`, `\udc00${value}`]) {
              assert.throws(() => encode(odd), PercentError);
              assert.equal(decode(odd), odd);
              for (const options of [undefined, { strict: true }]) assert.equal(decode(`${encoded}\ud800%41`, options), `${value}\ud800A`);
              assert.throws(() => encode(odd, { set: 'ecma-uri' }), PercentError);
            }
          }
        }
      }
    });

    test('a list is each of its values', () => {
      const below = random(11);
      const values = [...strings()].filter((value) => value.length < 300);
      const odd = ['', '\n', '\0', 'a\nb', '%0A', '%0a%00', '\n\0', '%', '%4', '1', '%e3', '%81', '%82', ...values.slice(0, 40)];
      const lists = [[], [''], ['', ''], ['a'], values, odd, odd.filter((value) => !/\n|\0|%0/i.test(value))];
      for (let i = 0; i < 200; i++) lists.push(Array.from({ length: below(9) }, () => odd[below(odd.length)]));
      for (const list of lists) {
        assert.deepEqual(encodeList(list), list.map((value) => encode(value)));
        assert.deepEqual(encodeList(list, { set: 'whatwg-form', form: true }), list.map(encodeForm));
        assert.deepEqual(encodeList(list, { keepEscapes: true, set: 'rfc3986-path' }),
          list.map((value) => encode(value, { keepEscapes: true, set: 'rfc3986-path' })));
        assert.deepEqual(normalizeList(list), list.map(normalize));
        for (const options of [{ lossy: true }, { lossy: true, form: true }, { lossy: true, keep: 'rfc3986-reserved' }]) {
          assert.deepEqual(decodeList(list, options), list.map((value) => decode(value, options)));
        }
      }
      assert(lists.flat().length > 3000);
    });

    test('an error of a list says which value', () => {
      const values = Array.from({ length: 5000 }, (_, i) => `value%20${i}`);
      for (const index of [0, 1, 2500, 4999]) {
        const broken = values.with?.(index, 'é%zz') ?? values.map((value, i) => (i === index ? 'é%zz' : value));
        assert.throws(() => decodeList(broken, { strict: true }), { name: 'PercentError', index, offset: 1 });
        const lone = values.map((value, i) => (i === index ? 'ab\ud800' : value));
        assert.equal(decodeList(lone)[index], 'ab\ud800');
        assert.throws(() => encodeList(lone), { name: 'PercentError', index, offset: 2 });
        const bytes = values.map((value, i) => (i === index ? '%ff' : value));
        assert.throws(() => decodeList(bytes), { name: 'PercentError', index, offset: 0 });
      }
      assert.throws(() => encodeList(['a', 7]), TypeError);
      assert.throws(() => encodeList('a'), TypeError);
    });

    test('a value of a list holds at most 64 KiB of its neighbours, or 128 KiB if it is encoded', () => {
      const short = '%41 is a short value', huge = 'x'.repeat(500_000);
      const mixed = Array.from({ length: 200 }, (_, i) => (i % 2 ? '\u65e5'.repeat(500) : short));
      const lists = [[short, huge], [short, `${huge}%41 `], Array(40_000).fill(short), mixed];
      for (const list of lists) {
        for (const operation of [encodeList, decodeList, normalizeList]) {
          assert.deepEqual(operation(list), list.map((value) => operation([value])[0]));
          const bytes = held(() => operation(list)[0]);
          assert(bytes < (operation === encodeList ? 133_000 : 67_000), `${operation.name}: ${bytes} bytes`);
        }
      }
    });

    test('whole URLs: syntax stays, and decoding undoes encoding', () => {
      assert.equal(encodeUrl('https://example.org/a b/é?q=50%&r=[1]#x'), 'https://example.org/a%20b/%C3%A9?q=50%25&r=[1]#x');
      assert.equal(encodeUrl('/a b/%41%', { keepEscapes: true }), '/a%20b/%41%25');
      assert.equal(decodeUrl('https://example.org/a%20b%2Fc?q=%26'), 'https://example.org/a b%2Fc?q=%26');
      assert.equal(encodeUrl('/50% x?q=%2F&r=%252f&s=%41'), '/50%25%20x?q=%2F&r=%252f&s=%2541');
      assert.equal(decodeUrl('/%25252f%252'), '/%25252f%2');
      for (const value of strings()) {
        assert.equal(decodeUrl(encodeUrl(value)), value);
        assert.deepEqual(decodeUrl(encodeUrl(utf8.encode(value))), utf8.encode(value));
        // No delimiter is added or removed.
        const delimiters = (text) => text.replace(/[^:/?#[\]@!$&'()*+,;=]/g, '');
        assert.equal(delimiters(decodeUrl(value, { lossy: true })), delimiters(value));
      }
      assert.throws(() => decodeUrl('a%2Fé%ff'), { offset: 5 });
    });

    test('forms', () => {
      assert.equal(encodeForm('a b+c~'), 'a+b%2Bc%7E');
      assert.equal(decodeForm('a+b%2Bc%7E'), 'a b+c~');
    });

    test('until nothing changes', () => {
      const slowly = (value) => {
        let layers = 0;
        for (let next; (next = decode(value, { lossy: true })) !== value; value = next) layers++;
        return { value, layers };
      };
      assert.deepEqual(decodeUntilStable('/%252525%2541%zz'), { value: '/%A%zz', layers: 3 });
      for (const value of strings()) {
        // Invalid UTF-8 would change the text after it.
        if (value.length > 300 || /%[89a-f]/i.test(value)) continue;
        assert.deepEqual(decodeUntilStable(value), slowly(value), value);
      }
      assert.throws(() => decodeUntilStable('%ff'), PercentError);
      assert.equal(decodeUntilStable('%25ff', { lossy: true }).value, '\ufffd');
      assert.throws(() => decodeUntilStable('a', { strict: true }), RangeError);
    });

    test('check finds what it says, where it says', () => {
      assert.deepEqual(check('é%zz %2541 %00%2f%2e %ff%4').map(({ kind, offset }) => [kind, offset]), [
        ['malformed', 1], ['double', 5], ['nul', 11], ['separator', 14], ['dot', 17], ['utf8', 21], ['malformed', 24],
      ]);
      assert.deepEqual(check('%0a%0D%0d%0A%250d%0d x%0A').map(({ kind, offset }) => [kind, offset]), [
        ['crlf', 0], ['crlf', 3], ['crlf', 6], ['double', 12], ['crlf', 17], ['crlf', 22],
      ]);
      let found = 0;
      for (const value of strings()) {
        const malformed = [...value.matchAll(/%(?![0-9a-f]{2})/gi)].map((match) => match.index);
        const double = [...value.matchAll(/%25(?=[0-9a-f]{2})/gi)].map((match) => match.index);
        const of = (kind) => check(value).filter((finding) => finding.kind === kind).map((finding) => finding.offset);
        assert.deepEqual(of('malformed'), malformed);
        assert.deepEqual(of('double'), double);
        found += malformed.length + double.length;
      }
      assert(found > 10000);
      assert.deepEqual(check(utf8.encode('é%')), [{ kind: 'malformed', offset: 2, reason: check('é%')[0].reason }]);
    });

    test('split', () => {
      const url = split('https://bob:x@example.org:8042/a%2Fb/é//?to=a%26b&é=1&flag#top');
      assert.deepEqual({ ...url, flaws: url.flaws.map(({ kind, offset }) => [kind, offset]) }, {
        scheme: 'https', userinfo: 'bob:x', host: 'example.org', port: '8042', path: '/a%2Fb/é//', query: 'to=a%26b&é=1&flag',
        fragment: 'top', segments: ['a%2Fb', 'é', '', ''],
        pairs: [{ name: 'to', value: 'a%26b' }, { name: 'é', value: '1' }, { name: 'flag', value: null }],
        flaws: [['non-ascii', 37], ['non-ascii', 50]],
      });
      assert.deepEqual(split('').path, '');
      // Appendix B of RFC 3986, with the schemes that section 3.1 allows.
      const expression = /^(?:([A-Za-z][A-Za-z0-9+\-.]*):)?(?:\/\/([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?$/s;
      for (const value of [...strings(), 'a:b', '1:b', '//h', '//u@v@h:1/p?q#f', 'x:?', '#', '?', '//[::1]:80/']) {
        if (value.length > 300) continue;
        const [, scheme = null, authority, path, query = null, fragment = null] = expression.exec(value);
        const parts = split(value);
        const { userinfo, host, port } = parts;
        assert.deepEqual([parts.scheme, parts.path, parts.query, parts.fragment], [scheme, path, query, fragment], value);
        const joined = host === null ? undefined : `${userinfo === null ? '' : `${userinfo}@`}${host}${port === null ? '' : `:${port}`}`;
        assert.equal(joined, authority);
        assert.deepEqual(parts.segments, path === '' ? [] : path.replace(/^\//, '').split('/'));
        assert.deepEqual(parts.pairs.map(({ name, value }) => (value === null ? name : `${name}=${value}`)),
          (query ?? '').split('&').filter(Boolean));
      }
      assert.throws(() => split(new Uint8Array(1)), TypeError);
    });

    test('streams give what the whole gives, wherever it is cut', async () => {
      const below = random(3);
      for (const value of [...strings()].filter((_, i) => i % 40 === 0).concat('%', '%4', '%%41', '%%%36%4%31', 'a%', '')) {
        const bytes = utf8.encode(value);
        for (let round = 0; round < 3; round++) {
          assert.deepEqual(await through(encodeStream(), cut(bytes, below)), encode(bytes));
          const options = { set: 'rfc3986-path', keepEscapes: true };
          assert.deepEqual(await through(encodeStream(options), cut(bytes, below)), encode(bytes, options));
          assert.deepEqual(await through(decodeStream({ form: true }), cut(bytes, below)), decode(bytes, { form: true }));
          assert.deepEqual(await through(normalizeStream(), cut(bytes, below)), normalize(bytes));
        }
      }
      const error = await through(decodeStream({ strict: true }), [utf8.encode('abc%'), utf8.encode('4'), utf8.encode('x')]).catch((e) => e);
      assert(error instanceof PercentError);
      assert.equal(error.offset, 3);
      await assert.rejects(through(decodeStream({ strict: true }), [utf8.encode('a%4')]), { offset: 1 });
      await assert.rejects(through(encodeStream(), ['text']), TypeError);
      assert.equal(text(await through(encodeStream(), [utf8.encode('a b')])), 'a%20b');
    });

    test('sets are described', () => {
      for (const name of sets) {
        const { kind, keeps, source, description } = describeSet(name);
        assert.match(source, /^https:/);
        assert(description.length > 10);
        assert(kind === 'policy' || kind === 'block');
        for (let code = 0; code < 0x80; code++) {
          const character = String.fromCharCode(code);
          if (kind === 'policy') assert.equal(encode(character, { set: name }) === character, keeps.includes(character), `${name} ${code}`);
        }
      }
      assert.equal(describeSet('rfc3986-sub-delims').keeps, "!$&'()*+,;=");
      assert.throws(() => describeSet('nope'), RangeError);
      assert.throws(() => describeSet(defineSet({ add: 'a' })), RangeError);
    });
  });
}
