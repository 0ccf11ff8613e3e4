// Starts Debian's Chromium and a local server of folders.
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname, join, normalize } from 'node:path';

import { chromium } from 'playwright-core';

const TYPES = {
  '.html': 'text/html; charset=utf-8', '.mjs': 'text/javascript; charset=utf-8', '.css': 'text/css; charset=utf-8', '.wasm': 'application/wasm',
  '.js': 'text/javascript; charset=utf-8', '.svg': 'image/svg+xml', '.webmanifest': 'application/manifest+json',
};

/** Serves folders: the first segment of a path is a key of `folders`. */
export async function serve(folders) {
  const server = createServer(async (request, response) => {
    const [, first, ...rest] = normalize(new URL(request.url, 'http://localhost').pathname).split('/');
    const path = rest.join('/') || 'index.html';
    // These headers give scripts clocks of high resolution, which the benchmark needs. Workers of such a page need them, too.
    if (first === 'empty' || first === 'project') {
      response.setHeader('Cross-Origin-Opener-Policy', 'same-origin');
      response.setHeader('Cross-Origin-Embedder-Policy', 'require-corp');
    }
    try {
      const body = first === 'empty' ? '<!doctype html><title>empty</title>' : await readFile(join(folders[first], path));
      response.setHeader('Content-Type', first === 'empty' ? TYPES['.html'] : (TYPES[extname(path)] ?? 'application/octet-stream'));
      response.end(body);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { origin: `http://localhost:${server.address().port}`, close: () => server.close() };
}

export const launch = () =>
  chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: [
      '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update',
      '--disable-sync',
    ],
  });
