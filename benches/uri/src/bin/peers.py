"""Answers of a tool in Python, for `agree`: a URL in hexadecimal digits on each line of standard input, and on the same line of
standard output the tool's answer in the same way, or `!` and the name of the exception."""

import socket
import sys
import warnings

warnings.simplefilter("ignore")


def surt():
    # surt asks the resolver what some hosts are. What is an address is answered, and the network is not asked.
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
