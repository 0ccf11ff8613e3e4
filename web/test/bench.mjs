// Benchmarks the package in Chromium:  ci/web --bench [ROUNDS] [REGEX]
import { fileURLToPath } from 'node:url';

import { launch, serve } from './chromium.mjs';

const [rounds = '15', wanted = ''] = process.argv.slice(2);
const server = await serve({ wasm: fileURLToPath(new URL('../../crates/wasm', import.meta.url)) });
const browser = await launch();
const page = await browser.newPage();
page.on('console', (message) => console.log(message.text()));
await page.goto(`${server.origin}/empty/`);
console.log(`Chromium ${browser.version()}; ${rounds} rounds; GB/s of input\n`);
try {
  process.exitCode = await page.evaluate(async ({ rounds, wanted }) => {
    const { bench } = await import('/wasm/bench.mjs');
    const load = async (name) => (await fetch(new URL(name, new URL('/wasm/', location.href)))).arrayBuffer();
    return (await bench(load, { rounds: Number(rounds), wanted: new RegExp(wanted) })) ? 0 : 1;
  }, { rounds, wanted });
} finally {
  await browser.close();
  server.close();
}
