// Takes the screenshots in docs/img:  ci/web --screenshots
import { fileURLToPath } from 'node:url';

import { launch, serve } from './chromium.mjs';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const server = await serve({ web: here('../dist') });
const browser = await launch();
for (const [name, options] of Object.entries({
  light: { viewport: { width: 1180, height: 1130 }, colorScheme: 'light' },
  dark: { viewport: { width: 1180, height: 1130 }, colorScheme: 'dark' },
  phone: { viewport: { width: 390, height: 1400 }, colorScheme: 'light' },
})) {
  const page = await browser.newPage(options);
  await page.goto(`${server.origin}/web/`);
  await page.waitForSelector('html[data-ready]');
  await page.screenshot({ path: here(`../../docs/img/web-${name}.png`) });
  await page.close();
}
await browser.close();
server.close();
