"""Servers on the loopback interface, for ci/readers and ci/logs."""
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent


def install(work, debian, pypi, npm):
    """Installs packages of Debian, and those of PyPI and npm in the folder `work`."""
    subprocess.run([HERE / 'apt', *debian], check=True)
    work.mkdir(parents=True, exist_ok=True)
    python = work / 'venv/bin/python'
    if not python.exists():
        subprocess.run([sys.executable, '-m', 'venv', work / 'venv'], check=True)
    subprocess.run([python, '-m', 'pip', 'install', '-q', '--disable-pip-version-check', *pypi], check=True)
    if not (work / 'node_modules' / npm[-1].split('@')[0]).exists():
        subprocess.run(['npm', 'install', '--silent', '--no-audit', '--no-fund', '--prefix', work, *npm], check=True)


class Server:
    """A running server, which is stopped at the end. Its output is in a file, `name`.log, in the folder `work`."""

    def __init__(self, name, command, port, work, env, is_ready):
        env = dict(os.environ, HOME=str(work), XDG_CONFIG_HOME=str(work), XDG_DATA_HOME=str(work), NODE_PATH=str(work / 'node_modules'),
                   PYTHONPATH=str(work), PYTHONUNBUFFERED='1', **env)
        self.output = work / f'{name}.log'
        self.log = open(self.output, 'wb')
        self.process = subprocess.Popen(command, cwd=work, env=env, stdin=subprocess.DEVNULL, stdout=self.log, stderr=subprocess.STDOUT,
                                        start_new_session=True)
        end = time.time() + 60
        while time.time() < end and self.process.poll() is None:
            try:
                socket.create_connection(('127.0.0.1', port), timeout=1).close()
                # The first request may have to wait until the server has loaded its application.
                if any(is_ready() for _ in range(5)):
                    return
            except OSError:
                time.sleep(0.1)
        self.stop()
        raise SystemExit(f'{name} does not listen at port {port}; see {self.output}')

    def stop(self):
        for kill in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(self.process.pid, kill)
                self.process.wait(8)
            except (ProcessLookupError, subprocess.TimeoutExpired):
                pass
        self.log.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()
