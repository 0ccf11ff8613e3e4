// Tests the rules that are named after functions against these functions: JavaScript's here, and those of Python, PHP, Go and Java in
// programs that read texts, each of which ends with a NUL, and write results the same way.  FUNCTIONS=node,python node --test functions.test.mjs
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { instantiate } from '../../crates/wasm/codec.mjs';
import { strings } from '../../crates/wasm/test/inputs.mjs';
import { convert } from '../convert.mjs';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const codec = instantiate(new WebAssembly.Module(readFileSync(here('../../crates/wasm/simdpct.wasm'))));
const ascii = Array.from({ length: 127 }, (_, code) => String.fromCharCode(code + 1));
const TEXTS = [...ascii, ...ascii.map((sign) => `a${sign}é${sign}`), '日本語', '😀', 'caf%C3%A9+b', '%zz%', '%C3%28', '%ff%F0%9F', '%E2%82', '', ...[...strings()].filter((text, i) => i % 5 === 0 && text.length < 5000 && !text.includes('\0') && !/%00/.test(text))];
const wanted = process.env.FUNCTIONS?.split(',') ?? ['node', 'python', 'php', 'go', 'java'];

const PROGRAMS = {
  python: {
    rules: ['python', 'python-plus', 'python-decode', 'python-decode-plus'], command: 'python3', file: 'functions.py',
    code: `
import sys
from urllib.parse import quote, quote_plus, unquote, unquote_plus
run = {'python': quote, 'python-plus': quote_plus, 'python-decode': unquote, 'python-decode-plus': unquote_plus}[sys.argv[1]]
for text in sys.stdin.buffer.read().decode().split('\\0')[:-1]:
    sys.stdout.buffer.write(run(text).encode() + b'\\0')
`,
  },
  php: {
    rules: ['php', 'php-raw', 'php-decode', 'php-decode-raw'], command: 'php', file: 'functions.php',
    code: `<?php
$run = ['php' => 'urlencode', 'php-raw' => 'rawurlencode', 'php-decode' => 'urldecode', 'php-decode-raw' => 'rawurldecode'][$argv[1]];
foreach (array_slice(explode("\\0", stream_get_contents(STDIN)), 0, -1) as $text) echo $run($text), "\\0";
`,
  },
  go: {
    rules: ['go-query', 'go-path'], command: 'go', args: ['run'], file: 'functions.go',
    code: `package main
import ("bufio"; "io"; "net/url"; "os"; "strings")
func main() {
	run := map[string]func(string) string{"go-query": url.QueryEscape, "go-path": url.PathEscape}[os.Args[1]]
	input, _ := io.ReadAll(os.Stdin)
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	texts := strings.Split(string(input), "\\x00")
	for _, text := range texts[:len(texts)-1] { out.WriteString(run(text) + "\\x00") }
}
`,
  },
  java: {
    rules: ['java'], command: 'java', file: 'Functions.java',
    code: `
import java.net.URLEncoder;
import static java.nio.charset.StandardCharsets.UTF_8;
public class Functions {
  public static void main(String[] args) throws Exception {
    String[] texts = new String(System.in.readAllBytes(), UTF_8).split("\\0", -1);
    StringBuilder out = new StringBuilder();
    for (int i = 0; i < texts.length - 1; i++) out.append(URLEncoder.encode(texts[i], UTF_8)).append('\\0');
    System.out.write(out.toString().getBytes(UTF_8));
    System.out.flush();
  }
}
`,
  },
};
const side = (rule) => (/decode/.test(rule) ? 'decode' : 'encode');
const ours = (rule, text) => convert(codec, side(rule), rule, text);

test('JavaScript', () => {
  for (const [rule, name] of Object.entries({ 'js-component': 'encodeURIComponent', 'js-uri': 'encodeURI', strict: 'decodeURIComponent', 'js-uri-decode': 'decodeURI' })) {
    const which = /^js-(component|uri)$/.test(rule) ? 'encode' : 'decode';
    for (const text of TEXTS) {
      let expected;
      try {
        expected = globalThis[name](text);
      } catch (error) {
        assert(error instanceof URIError);
      }
      const { value, error } = convert(codec, which, rule, text);
      assert.equal(value, expected, `${name}(${JSON.stringify(text)})`);
      assert.equal(error === undefined, expected !== undefined);
    }
  }
});

for (const [language, { rules, command, args = [], file, code }] of Object.entries(PROGRAMS)) {
  if (!wanted.includes(language)) continue;
  test(language, (t) => {
    const folder = mkdtempSync(`${tmpdir()}/functions-`);
    writeFileSync(`${folder}/${file}`, code);
    for (const rule of rules) {
      const { stdout, status, stderr } = spawnSync(command, [...args, `${folder}/${file}`, rule], { input: TEXTS.map((text) => `${text}\0`).join(''), maxBuffer: 1 << 28, env: { ...process.env, GOCACHE: `${folder}/cache`, GOFLAGS: '-mod=mod' } });
      assert.equal(status, 0, String(stderr));
      // Functions of PHP return bytes, in which the page shows what is not UTF-8 as U+FFFD.
      const results = new TextDecoder('utf-8', { ignoreBOM: true }).decode(stdout).split('\0').slice(0, -1);
      assert.equal(results.length, TEXTS.length);
      TEXTS.forEach((text, i) => assert.equal(ours(rule, text).value, results[i], `${rule}: ${JSON.stringify(text)}`));
    }
    t.diagnostic(`${command}: ${rules.length} functions, ${TEXTS.length} texts each`);
    rmSync(folder, { recursive: true, force: true });
  });
}
