// Applications that answer with the route and the text that the application gets, in hex.
const http = require('http'), url = require('url');
const hex = s => Buffer.from(s, 'utf8').toString('hex'), raw = s => Buffer.from(s, 'latin1').toString('hex');
const body = (r, p) => `[[RH:${r}:RH]][[PH:${p}:PH]]`;
const listen = (port, f) => http.createServer({ maxHeaderSize: 65536 }, f).listen(port, '127.0.0.1');
const answer = f => (q, s) => { try { s.end(f(q)); } catch { s.statusCode = 400; s.end(); } };
listen(29711, answer(q => body(raw(q.url.split('?')[0]), raw(q.url))));
listen(29712, answer(q => body(hex(new URL(q.url, 'http://h').pathname), raw(q.url))));
listen(29713, answer(q => body(hex(url.parse(q.url).pathname || ''), raw(q.url))));
for (const [port, name] of [[29724, 'express'], [29725, 'express5']]) {
  const app = require(name)(), is4 = name == 'express';
  app.get(is4 ? '/*' : '/{*t}', (q, s) => s.end(body(raw(q.path), hex('/' + (is4 ? q.params[0] : (q.params.t || []).join('/'))))));
  listen(port, app);
}
const Koa = require('koa'), router = require('@koa/router'), Router = router.default || router.Router || router;
const koa = new Koa(), routes = new Router();
routes.get('/{*t}', c => { c.body = body(raw(c.path), hex('/' + (c.params.t === undefined ? '' : [].concat(c.params.t).join('/')))); });
koa.use(routes.routes());
listen(29726, koa.callback());
const fastify = require('fastify')({ http: { maxHeaderSize: 65536 } }), sanitizer = require('find-my-way/lib/url-sanitizer');
fastify.get('/*', async (q, s) => { s.header('content-type', 'text/plain'); return body(hex(sanitizer.safeDecodeURI(q.raw.url, false).path.replace(/^https?:\/\/.*?\//i, '/')), hex('/' + q.params['*'])); });
fastify.listen({ port: 29717, host: '127.0.0.1' });
