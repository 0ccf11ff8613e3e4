// Keeps the files of the page, so that it works offline. web/build replaces the version and the list of files.
const VERSION = '@version@';
const FILES = ['@files@'];

addEventListener('install', (event) => {
  event.waitUntil((async () => {
    const cache = await caches.open(VERSION);
    // The browser's own cache may still have files of an older version.
    await cache.addAll(FILES.map((file) => new Request(file, { cache: 'no-cache' })));
    await skipWaiting();
  })());
});

addEventListener('activate', (event) => {
  event.waitUntil((async () => {
    for (const name of await caches.keys()) if (name.startsWith('simdpct-') && name !== VERSION) await caches.delete(name);
    await clients.claim();
  })());
});

addEventListener('fetch', (event) => {
  const { origin } = new URL(event.request.url);
  if (event.request.method !== 'GET' || origin !== location.origin) return;
  event.respondWith((async () => {
    const cache = await caches.open(VERSION);
    return (await cache.match(event.request, { ignoreSearch: true })) ?? fetch(event.request);
  })());
});
