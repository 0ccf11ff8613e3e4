"""Applications that answer with the route and the text that the application gets, in hex: apps.py NAME."""
import asyncio
import sys

def hex_of(text, encoding='utf-8'):
    return text.encode(encoding, 'surrogateescape').hex()

def body(route, passed_on):
    return f'[[RH:{route}:RH]][[PH:{passed_on}:PH]]'

def wsgi(env, start):
    path = env.get('SCRIPT_NAME', '') + env.get('PATH_INFO', '')
    start('200 OK', [('Content-Type', 'text/plain')])
    return [body(hex_of(path, 'latin-1'), hex_of(path, 'latin-1')).encode()]

def wsgiref():
    from wsgiref.simple_server import make_server
    make_server('127.0.0.1', 29751, wsgi).serve_forever()

def flask():
    from flask import Flask, request
    from werkzeug.serving import run_simple
    app = Flask(__name__, static_folder=None)
    def answer(t=''):
        return body(hex_of(request.path), hex_of(request.path))
    app.add_url_rule('/', view_func=answer)
    app.add_url_rule('/<path:t>', view_func=answer)
    run_simple('127.0.0.1', 29754, app, threaded=True)

def django():
    import django.conf
    from django.http import HttpResponse
    from django.urls import re_path
    global urlpatterns
    urlpatterns = [re_path(r'(?s)^(.*)$', lambda q, t: HttpResponse(body(hex_of(q.path_info), hex_of(q.path_info))))]
    sys.modules['apps'] = sys.modules['__main__']
    django.conf.settings.configure(DEBUG=False, ALLOWED_HOSTS=['*'], ROOT_URLCONF='apps', SECRET_KEY='x',
                                   MIDDLEWARE=['django.middleware.common.CommonMiddleware'])
    from django.core.management import execute_from_command_line
    execute_from_command_line(['x', 'runserver', '--noreload', '127.0.0.1:29755'])

def starlette():
    import uvicorn
    from starlette.applications import Starlette
    from starlette.responses import PlainTextResponse
    from starlette.routing import Route
    async def answer(q):
        route = hex_of('/' + q.path_params['t'])
        return PlainTextResponse(body(route, route))
    uvicorn.run(Starlette(routes=[Route('/{t:path}', answer)]), host='127.0.0.1', port=29756, http='h11', log_level='warning')

def aiohttp():
    from aiohttp import web
    async def main():
        app = web.Application()
        async def answer(q):
            return web.Response(text=body(hex_of(q.rel_url.path_safe), hex_of(q.path)))
        app.router.add_get('/{t:.*}', answer)
        runner = web.AppRunner(app, max_line_size=32768)
        await runner.setup()
        await web.TCPSite(runner, '127.0.0.1', 29753).start()
        await asyncio.Event().wait()
    asyncio.run(main())

def tornado():
    import tornado.web
    class Answer(tornado.web.RequestHandler):
        def get(self, t):
            self.write(body(hex_of(self.request.path, 'latin-1'), hex_of(t)))
    async def main():
        tornado.web.Application([(r'(?s)(.*)', Answer)]).listen(29758, '127.0.0.1')
        await asyncio.Event().wait()
    asyncio.run(main())

if __name__ == '__main__':
    globals()[sys.argv[1]]()
