"""Applications that answer every request, for servers that import this file. As a program, it is a server itself: apps.py SERVER PORT."""
import logging
import sys


def wsgi(_, start):
    start('200 OK', [('Content-Type', 'text/plain'), ('Content-Length', '2')])
    return [b'ok']


async def asgi(scope, _, send):
    if scope['type'] == 'http':
        await send({'type': 'http.response.start', 'status': 200, 'headers': [(b'content-type', b'text/plain'), (b'content-length', b'2')]})
        await send({'type': 'http.response.body', 'body': b'ok'})


def aiohttp(port):
    from aiohttp import web

    async def answer(_):
        return web.Response(text='ok')

    app = web.Application()
    app.router.add_route('*', '/{target:(?s:.*)}', answer)
    web.run_app(app, host='127.0.0.1', port=port, print=None)


def tornado(port):
    import tornado.ioloop
    import tornado.web

    class Answer(tornado.web.RequestHandler):
        def get(self):
            self.write('ok')

    tornado.web.Application([(r'(?s).*', Answer)]).listen(port, '127.0.0.1')
    tornado.ioloop.IOLoop.current().start()


def werkzeug(port):
    from werkzeug.serving import run_simple
    run_simple('127.0.0.1', port, wsgi, threaded=True)


def wsgiref(port):
    from wsgiref.simple_server import make_server
    make_server('127.0.0.1', port, wsgi).serve_forever()


def django(port):
    from django.conf import settings
    from django.core.management import execute_from_command_line
    from django.http import HttpResponse
    from django.urls import re_path
    sys.modules['urls'] = type('urls', (), {'urlpatterns': [re_path(r'(?s).*', lambda _: HttpResponse('ok'))]})
    settings.configure(DEBUG=True, ROOT_URLCONF='urls', ALLOWED_HOSTS=['*'], SECRET_KEY='x')
    execute_from_command_line(['django', 'runserver', f'127.0.0.1:{port}', '--noreload', '--skip-checks'])


if __name__ == '__main__':
    logging.basicConfig(level=logging.INFO, format='%(message)s')
    globals()[sys.argv[1]](int(sys.argv[2]))
