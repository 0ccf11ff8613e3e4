// Tests the page in Chromium: its results are those of the command `pct`, and it is accessible.
//   PCT=<the command> node --test page.test.mjs
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { launch, serve } from './chromium.mjs';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const { PCT } = process.env;
assert(PCT, 'PCT names the command to compare with');
const axe = readFileSync(here('node_modules/axe-core/axe.min.js'), 'utf8');
const utf8 = new TextEncoder();

/** Runs `pct` on records that end with a NUL. */
const pct = (args, values) => {
  const input = values.map((value) => `${value}\0`).join('');
  const { stdout, status, stderr } = spawnSync(PCT, [...args, '-0'], { input, maxBuffer: 1 << 28 });
  assert([0, 1].includes(status), `${args.join(' ')}: ${stderr}`);
  return stdout;
};
/** Returns the output of `pct` for each value. */
const records = (args, values) => {
  const out = [];
  const bytes = pct(args, values);
  for (let from = 0; from < bytes.length; ) {
    const end = bytes.indexOf(0, from);
    out.push(new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes.subarray(from, end)));
    from = end + 1;
  }
  assert.equal(out.length, values.length, args.join(' '));
  return out;
};

const SAMPLES = [
  ...readFileSync(here('../../samples/urls.txt'), 'utf8').split('\n').filter(Boolean),
  'a', ' ', '%', '%%', '%4', '%zz', '%%41', '100%', '%2', '%25', '%2525', '%252525252541', '%25%32%35', 'a+b c', '+', '&=;', '%2B+%2b',
  'é', '日本語', '😀', 'caf%C3%A9', '%E6%97%A5%e6%9c%ac', '%F0%9F%98%80', '%ff', 'a%C3', '%C3(', 'é%ff%20%', '%C0%80', '%ED%A0%80', '%f4%90%80%80',
  '%0A', '%0d%0Ax', 'tab\there', '../%2e%2e/%2F%5c', '%7Euser/%41%2d', 'https://user:p%40ss@[::1]:99999/%2f?a=1&b&=c#f#g', '//a@b@c/x y',
  'mailto:a@b?subject=%25', 'x:', '?', '#', 'http://[::1', '%EF%BB%BFbom', '\ufeffbom', "!$&'()*+,;=:/?#[]@", '"<>\\^`{|}~', '\u0001\u007f\u0080\u00ff',
  '%252F%2f%25252f%25', '<script>alert(1)</script>', 'a%26b=c%3Dd&e', 'x'.repeat(3000) + '%zz', 'é%20'.repeat(500),
];

let browser, server;
before(async () => {
  server = await serve({ web: here('../dist') });
  browser = await launch();
});
after(async () => {
  await browser?.close();
  server?.close();
});

/** Opens the page. Any message on its console and any request to another host fails the test. */
async function open(options = {}, hash = '') {
  const context = await browser.newContext({ viewport: { width: 1180, height: 900 }, permissions: ['clipboard-read', 'clipboard-write'], ...options });
  const page = await context.newPage();
  const seen = { requests: [], complaints: [] };
  page.on('request', (request) => seen.requests.push(request.url()));
  page.on('console', (message) => ['error', 'warning'].includes(message.type()) && seen.complaints.push(message.text()));
  page.on('pageerror', (error) => seen.complaints.push(String(error)));
  await page.goto(`${server.origin}/web/${hash}`);
  await page.waitForSelector('html[data-ready]');
  const close = async () => {
    assert.deepEqual(seen.complaints, []);
    for (const url of seen.requests) assert(url.startsWith(`${server.origin}/web/`) || /^(data|blob|about):/.test(url), url);
    await context.close();
  };
  return { page, close, seen };
}

/** Types `text` and returns everything that the page shows. */
const results = async (page, text) => {
  await page.fill('#text', text);
  await page.waitForTimeout(text.length > 20_000 ? 400 : 0);
  return page.evaluate(() => {
    const outputs = [...document.querySelectorAll('output')].map(({ id, textContent, classList }) => [id, { text: textContent, rejected: classList.contains('rejected') }]);
    const marks = [...document.querySelectorAll('#marked mark')].map(({ className, textContent, title }) => [className, textContent, title]);
    const findings = [...document.querySelectorAll('#findings li')].map((item) => item.textContent);
    const parts = [...document.querySelectorAll('#parts tbody tr')].map((row) => [...row.cells].map((cell) => cell.textContent));
    return { ...Object.fromEntries(outputs), marks, findings, parts, marked: document.querySelector('#marked').textContent };
  });
};

describe('what it shows', () => {
  test('is what pct says', async () => {
    const { page, close } = await open();
    const shown = [];
    for (const sample of SAMPLES) shown.push(await results(page, sample));
    const commands = {
      encode: ['encode', '--set', 'rfc3986-unreserved'],
      form: ['encode', '--set', 'whatwg-form', '--form'],
      repair: ['encode', '--set', 'rfc3986-uri', '--keep-escapes'],
      normalize: ['normalize'],
      decode: ['decode'],
      'form-decode': ['decode', '--form'],
      stable: ['decode', '--until-stable'],
    };
    // These conversions may be missing in an older command.
    if (execFileSync(PCT, ['encode', '--help'], { encoding: 'utf8' }).includes('--url')) {
      Object.assign(commands, { 'encode-url': ['encode', '--url'], 'decode-url': ['decode', '--url'] });
    }
    let compared = 0;
    for (const [id, args] of Object.entries(commands)) {
      records(args, SAMPLES).forEach((expected, i) => {
        assert.equal(shown[i][id].text, expected, `${id} of ${SAMPLES[i]}`);
        compared++;
      });
    }
    assert(compared >= 7 * SAMPLES.length);

    // Kind and offset of each finding. The strict decoder rejects exactly the records with a malformed escape.
    const found = SAMPLES.map(() => []);
    let start = 0;
    const starts = SAMPLES.map((sample) => (start += utf8.encode(sample).length + 1) - utf8.encode(sample).length - 1);
    for (const line of pct(['check', '--json'], SAMPLES).toString().split('\n').filter(Boolean)) {
      const { line: number, offset, kind } = JSON.parse(line);
      const before = utf8.encode(SAMPLES[number - 1]).subarray(0, offset - starts[number - 1]);
      found[number - 1].push([kind, new TextDecoder('utf-8', { ignoreBOM: true }).decode(before).length]);
    }
    SAMPLES.forEach((sample, i) => {
      const told = shown[i].findings.filter((text) => !/^and /.test(text)).map((text) => /^([a-z0-9]+?)at (\d+)/.exec(text)).map(([, kind, offset]) => [kind, Number(offset)]);
      const order = (list) => list.map(String).sort().slice(0, 50);
      assert.deepEqual(order(told), order(found[i]), sample);
      const malformed = found[i].filter(([kind]) => kind === 'malformed').map(([, offset]) => offset);
      const { strict, decode } = shown[i];
      assert.equal(strict.rejected, malformed.length > 0, sample);
      assert.equal(strict.text, malformed.length > 0 ? `Rejected: malformed escape at offset ${Math.min(...malformed)}` : decode.text);
      assert.equal(shown[i].marked, sample);
      const kinds = (kind) => shown[i].marks.filter(([name]) => name === kind).length;
      assert.equal(kinds('malformed'), malformed.length, sample);
      assert.equal(kinds('double'), found[i].filter(([kind]) => kind === 'double').length, sample);
      for (const [, , title] of shown[i].marks) assert(title.length > 5);
    });
    await close();
  });

  test('holds for every set', async () => {
    const { page, close } = await open();
    const samples = SAMPLES.filter((sample) => sample.length < 100);
    const ascii = Array.from({ length: 126 }, (_, i) => String.fromCharCode(i + 1)).join('').replace('\r', '');
    const names = await page.$$eval('#set option', (options) => options.map((option) => option.value));
    assert(names.length > 20);
    for (const name of names) {
      await page.selectOption('#set', name);
      for (const text of [ascii, samples[1], samples[3]]) {
        assert.equal((await results(page, text)).encode.text, records(['encode', '--set', name], [text])[0], name);
      }
      assert.match(await page.textContent('#keeps'), /^Stays: .+ (is escaped)\./);
    }
    await close();
  });

  test('holds for charsets', async () => {
    const { page, close } = await open();
    for (const [charset, text] of [
      ['windows-1252', '€ Grüße %80 %E4%FC'], ['koi8-r', 'Привет %F0%D2'], ['iso-8859-2', 'Łódź %A3'], ['windows-1252', '日本 a'],
    ]) {
      await page.selectOption('#charset', charset);
      const { encode, form } = await results(page, text);
      assert.equal(encode.text, records(['encode', '--charset', charset, '--set', 'rfc3986-unreserved'], [text])[0]);
      assert.equal(form.text, records(['encode', '--charset', charset, '--set', 'whatwg-form', '--form'], [text])[0]);
    }
    for (const [charset, text] of [
      ['windows-1252', '%80%E4%FC+b'], ['koi8-r', '%F0%D2%C9%D7%C5%D4'], ['shift_jis', '%93%FA%96%7B%83A'], ['gb18030', '%C4%E3%BA%C3'], ['euc-kr', '%C7%D1'],
    ]) {
      await page.selectOption('#charset', charset);
      const { decode, encode } = await results(page, text);
      assert.equal(decode.text, records(['decode', '--charset', charset], [text])[0], charset);
      assert.equal(encode.rejected, !['windows-1252', 'koi8-r'].includes(charset));
    }
    await close();
  });

  test('takes URLs apart, and decodes each piece once', async () => {
    const { page, close } = await open();
    const { parts } = await results(page, 'https://bob@example.org:8042/a%2Fb/50%25?to=a%26b&x+y=1%2B1&flag#top%20');
    assert.deepEqual(parts, [
      ['Scheme', 'https', 'https'], ['User', 'bob', 'bob'], ['Host', 'example.org', 'example.org'], ['Port', '8042', '8042'],
      ['Path', '/a%2Fb/50%25', 'piece by piece, below'], ['Segment 1', 'a%2Fb', 'a/b'], ['Segment 2', '50%25', '50%'],
      ['Query', 'to=a%26b&x+y=1%2B1&flag', 'piece by piece, below'], ['Parameter to', 'to=a%26b', 'a&b'],
      ['Parameter x y', 'x+y=1%2B1', '1+1'], ['Parameter flag', 'flag', ''], ['Fragment', 'top%20', 'top '],
    ]);
    await page.fill('#text', 'http://a@b@host:99999/x y');
    assert.deepEqual((await page.$$eval('#flaws li', (items) => items.map((item) => item.textContent))).map((text) => text.replace(/:.*/, '')),
      ['userinfoat 8', 'portat 16', 'pathat 23']);
    const { parts: layers } = await results(page, '%252541');
    assert.equal(layers.length, 1);
    assert.deepEqual(await page.$$eval('.layers li', (items) => items.map((item) => item.textContent)), ['%2541', '%41', 'A']);
    await close();
  });

  test('a lone surrogate is rejected, and the page goes on', async () => {
    const { page, close } = await open();
    await page.evaluate(() => {
      const text = document.querySelector('#text');
      text.value = 'a\ud800';
      text.dispatchEvent(new Event('input'));
    });
    assert.match(await page.textContent('#encode'), /^Rejected: a lone surrogate/);
    assert(await page.isVisible('#problem'));
    assert.equal((await results(page, 'a b')).encode.text, 'a%20b');
    assert(!(await page.isVisible('#problem')));
    await close();
  });

  test('has tables that are those of the command, and finds in them', async () => {
    const { page, close } = await open();
    const rows = (id) => page.$$eval(`#${id} tbody tr`, (all) => all.map((row) => [...row.cells].map((cell) => cell.textContent)));
    const ascii = Array.from({ length: 128 }, (_, code) => String.fromCharCode(code));
    const escapes = records(['encode', '--set', 'none'], ascii.slice(1));
    assert.deepEqual((await rows('ascii')).map((cells) => cells[2]), ['%00', ...escapes]);
    const unreserved = ascii.filter((character) => /[0-9A-Za-z\-._~]/.test(character));
    const kept = (await rows('ascii')).flatMap((cells, code) => (cells[4] === 'yes' ? [ascii[code]] : []));
    assert.deepEqual(kept, unreserved);

    const latin = await rows('latin');
    const characters = latin.map((cells) => String.fromCodePoint(parseInt(cells[1].slice(2), 16)));
    assert.deepEqual(latin.map((cells) => cells[3]), records(['encode', '--set', 'none'], characters));
    assert.deepEqual(latin.map((cells) => cells[2]), records(['encode', '--set', 'none', '--charset', 'windows-1252'], characters));
    assert.deepEqual(latin.map((cells) => cells[2]), Array.from({ length: 128 }, (_, i) => `%${(i + 128).toString(16).toUpperCase()}`));

    if (execFileSync(PCT, ['sets', '--help'], { encoding: 'utf8' }).includes('--table')) {
      const table = JSON.parse(execFileSync(PCT, ['sets', '--table', '--as', 'json'], { encoding: 'utf8' }));
      const pairs = (first, second) => [...first.map((cells) => [cells[2], cells[2]]), ...second.map((cells) => [cells[2], cells[3]])];
      assert.deepEqual(pairs(await rows('ascii'), latin), table.map((row) => [row['windows-1252'], row['utf-8']]));
    }

    const visible = () => page.$$eval('#ascii tbody tr:not([hidden]), #latin tbody tr:not([hidden])', (all) => all.map((row) => row.cells[2].textContent));
    for (const [wanted, expected] of [['é', ['%E9']], ['tilde', ['%7E']], ['%E2%82%AC', ['%80']], ['€', ['%80']], ['no such', []]]) {
      await page.fill('#search', wanted);
      assert.deepEqual(await visible(), expected, wanted);
    }
    await page.fill('#search', '');
    assert.equal((await visible()).length, 256);
    await close();
  });
});

describe('everybody', () => {
  for (const [name, options] of Object.entries({
    light: { colorScheme: 'light' }, dark: { colorScheme: 'dark' },
    phone: { colorScheme: 'light', viewport: { width: 390, height: 844 } }, 'dark phone': { colorScheme: 'dark', viewport: { width: 320, height: 640 } },
  })) {
    test(`can read it: axe has nothing to say, ${name}`, async () => {
      const { page, close } = await open({ ...options, bypassCSP: true });
      await page.fill('#text', 'https://example.org/caf%C3%A9 menu/50%?q=a%26b&note=%2541&bad=%ff');
      await page.evaluate(axe);
      const { violations, passes } = await page.evaluate(() =>
        globalThis.axe.run({ runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] }));
      assert.deepEqual(violations.map(({ id, nodes }) => [id, nodes.map((node) => node.failureSummary)]), []);
      assert(passes.some(({ id }) => id === 'color-contrast'));
      // No element is wider than the screen.
      assert(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
      await close();
    });
  }

  test('can use it with a keyboard', async () => {
    const { page, close } = await open();
    await page.keyboard.press('Tab');
    assert.equal(await page.evaluate(() => document.activeElement.textContent), 'Skip to the results');
    await page.keyboard.press('Enter');
    assert.equal(await page.evaluate(() => document.activeElement.id), 'results');
    await page.focus('#text');
    await page.keyboard.press('Control+A');
    await page.keyboard.type('tab me 100%');
    await page.focus('#results');
    await page.keyboard.press('Tab');
    assert.equal(await page.evaluate(() => document.activeElement.getAttribute('aria-label')), 'Copy: encoded, Component');
    await page.keyboard.press('Enter');
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), 'tab%20me%20100%25');
    await page.waitForFunction(() => document.querySelector('#status').textContent.startsWith('Copied'));
    await close();
  });

  test('hears what has happened', async () => {
    const { page, close } = await open();
    await page.fill('#text', '%zz');
    await page.waitForFunction(() => /1 malformed escape.*%25zz/.test(document.querySelector('#status').textContent));
    assert.equal(await page.getAttribute('#status', 'role'), 'status');
    await close();
  });

  test('can share it: the link brings back what was typed', async () => {
    const { page, close } = await open();
    const text = 'a&b=c#d%2541+ é 😀\n"<script>';
    await page.fill('#text', text);
    await page.selectOption('#set', 'whatwg-path');
    await page.selectOption('#charset', 'koi8-r');
    await page.click('#share');
    const link = await page.evaluate(() => navigator.clipboard.readText());
    await close();
    const again = await open({}, new URL(link).hash);
    assert.deepEqual(await again.page.$$eval('#text, #set, #charset', (fields) => fields.map((field) => field.value)), [text, 'whatwg-path', 'koi8-r']);
    await again.close();
  });
});

describe('files', () => {
  const bytes = Buffer.alloc(5_000_000);
  let seed = 1;
  for (let i = 0; i < bytes.length; i++) bytes[i] = ((seed = (Math.imul(seed, 1103515245) + 12345) >>> 0) >>> 16) % 3 ? (seed >>> 20) & 0xff : '%0Aa4'.charCodeAt((seed >>> 20) % 5);
  const digest = (data) => createHash('sha256').update(data).digest('hex');
  const saved = (page) =>
    page.evaluate(async () => {
      const { href, download } = document.querySelector('#save');
      const hash = await crypto.subtle.digest('SHA-256', await (await fetch(href)).arrayBuffer()).catch((error) => String(error));
      return { download, hash: typeof hash === 'string' ? hash : [...new Uint8Array(hash)].map((byte) => byte.toString(16).padStart(2, '0')).join('') };
    });
  // As one value: the package itself, in this process, which its own tests compare with the definition.
  test('are converted as bytes', async () => {
    const codec = await import('../../crates/wasm/index.mjs');
    const { page, close } = await open({ bypassCSP: true });
    const expected = { decode: codec.decode(bytes), encode: codec.encode(bytes, { set: 'rfc3986-unreserved' }), normalize: codec.normalize(bytes) };
    for (const [work, name] of [['decode', 'x.bin.decoded'], ['encode', 'x.bin.encoded'], ['normalize', 'x.bin.normal']]) {
      await page.selectOption('#work', work);
      await page.setInputFiles('#file', { name: 'x.bin', mimeType: 'application/octet-stream', buffer: bytes });
      await page.waitForFunction((download) => !document.querySelector('#save').hidden && document.querySelector('#save').download === download, name);
      assert.deepEqual(await saved(page), { download: name, hash: digest(expected[work]) });
      assert.equal(await page.$eval('#bar', (bar) => bar.value), 1);
    }
    await close();
  });

  test('can be dropped anywhere, and downloaded', async () => {
    const { page, close } = await open();
    await page.evaluate(() => {
      const data = new DataTransfer();
      data.items.add(new File(['50%25%zz%C3%A9'], 'dropped.txt'));
      document.querySelector('h1').dispatchEvent(new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true }));
    });
    await page.waitForSelector('#save:not([hidden])');
    const [download] = await Promise.all([page.waitForEvent('download'), page.click('#save')]);
    assert.equal(download.suggestedFilename(), 'dropped.txt.decoded');
    assert.equal(readFileSync(await download.path(), 'utf8'), '50%%zzé');
    assert.match(await page.textContent('#amount'), /^dropped\.txt: 14 bytes read, 8 bytes written$/);
    await close();
  });
});

describe('alone', () => {
  test('it asks nobody else for anything, and cannot', async () => {
    const { page, close, seen } = await open();
    const asked = seen.requests.length;
    assert(asked >= 6);
    const outcome = await page.evaluate(() => fetch('http://127.0.0.1:1/').then(() => 'answered', () => 'refused'));
    assert.equal(outcome, 'refused');
    const inline = await page.evaluate(() => {
      const script = document.createElement('script');
      script.textContent = 'globalThis.injected = true';
      document.body.append(script);
      return globalThis.injected ?? 'refused';
    });
    assert.equal(inline, 'refused');
    // The content security policy reported both attempts, and nothing else.
    assert(seen.complaints.length >= 2 && seen.complaints.every((text) => /Content Security Policy/i.test(text)), seen.complaints.join());
    seen.complaints.length = 0;
    seen.requests.splice(asked);
    await close();
  });

  test('what is typed is text, never markup', async () => {
    const { page, close } = await open();
    const { decode, parts } = await results(page, 'https://h/%3Cimg%20src=x%20onerror=alert(1)%3E?<b>=%3Cb%3E');
    assert.equal(decode.text, 'https://h/<img src=x onerror=alert(1)>?<b>=<b>');
    assert(parts.flat().includes('<b>'));
    assert.equal(await page.$$eval('main img, main b', (found) => found.length), 0);
    await close();
  });

  test('it says so when the module does not load', async () => {
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.route('**/*.wasm', (route) => route.abort());
    await page.goto(`${server.origin}/web/`);
    await page.waitForSelector('#problem:not([hidden])');
    assert.match(await page.textContent('#problem'), /could not be loaded/);
    await context.close();
  });

  test('it paints before anything is converted', async (t) => {
    const { page, close } = await open();
    const paints = [];
    // Measured in a tab that is open already, because the first load also starts the browser's processes.
    for (let round = 0; round < 5; round++) {
      await page.goto('about:blank');
      await page.goto(`${server.origin}/web/`);
      await page.waitForSelector('html[data-ready]');
      paints.push(await page.evaluate(() => performance.getEntriesByName('first-paint')[0]?.startTime ?? NaN));
    }
    await close();
    // `ci/web --time` checks the limit of 100 ms, on a machine that does nothing else.
    const median = paints.sort((a, b) => a - b)[2];
    t.diagnostic(`first paint: ${median.toFixed(0)} ms`);
    assert(median > 0);
    if (process.env.SIMDPCT_TIME) assert(median <= 100, `${median} ms`);
  });
});
