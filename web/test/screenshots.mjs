// Takes the screenshots in docs/img, with two pixels for each pixel of the layout:  ci/web --screenshots
import { fileURLToPath } from 'node:url';

import { launch, serve } from './chromium.mjs';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const TEXT = 'https://example.org/caf%C3%A9 menu/50%?q=a%26b&note=%2541';
const server = await serve({ web: here('../dist') });
const browser = await launch();
for (const [name, options] of Object.entries({
  light: { viewport: { width: 1180, height: 1000 }, colorScheme: 'light' },
  dark: { viewport: { width: 1180, height: 1000 }, colorScheme: 'dark' },
  phone: { viewport: { width: 390, height: 1000 }, colorScheme: 'light' },
})) {
  const page = await browser.newPage({ ...options, deviceScaleFactor: 2 });
  await page.goto(`${server.origin}/web/`);
  await page.waitForSelector('html[data-ready]');
  await page.fill('#text', TEXT);
  await page.waitForFunction(() => document.querySelector('#backdrop mark'));
  await page.evaluate(() => document.querySelector('#text').setSelectionRange(25, 25));
  await page.waitForFunction(() => /small letter e/.test(document.querySelector('#about').textContent));
  await page.screenshot({ path: here(`../../docs/img/web-${name}.png`) });
  await page.close();
}
await browser.close();
server.close();
