"""Answers for `agree` with a tool in Python. Each line of standard input is a URL in hexadecimal digits. The same line of standard
output is the tool's answer in hexadecimal digits, or `!` and the name of the exception."""

import socket
import sys
import warnings

warnings.simplefilter("ignore")


def surt():
    # surt resolves some hosts. This answers for numeric addresses, and never asks the network.
    def numeric(host):
        host = host.decode() if isinstance(host, bytes) else host
        try:
            return (host, [], [socket.inet_ntoa(socket.inet_aton(host))])
        except OSError as error:
            raise socket.gaierror() from error

    socket.gethostbyname_ex = numeric
    from surt import surt as tool

    def answer(url):
        key = tool(url)
        return key if isinstance(key, bytes) else key.encode()

    return answer


def w3lib(**arguments):
    from w3lib.url import canonicalize_url

    return lambda url: canonicalize_url(url.decode(), **arguments).encode()


def can_ada():
    import can_ada

    return lambda url: str(can_ada.parse(url.decode())).encode()


TOOLS = {
    "surt": surt,
    "w3lib": w3lib,
    "w3lib-no-blank-values": lambda: w3lib(keep_blank_values=False),
    "w3lib-fragments": lambda: w3lib(keep_fragments=True),
    "w3lib-no-blank-values-fragments": lambda: w3lib(keep_blank_values=False, keep_fragments=True),
    "can_ada": can_ada,
}

tool = TOOLS[sys.argv[1]]()
for line in sys.stdin:
    try:
        print(tool(bytes.fromhex(line)).hex())
    except Exception as error:
        print("!" + type(error).__name__)
