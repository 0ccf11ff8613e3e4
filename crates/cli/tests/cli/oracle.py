"""What `pct encode | decode | normalize` should write, line by line, by urllib and a regular expression."""

import re
import sys
from urllib.parse import quote, unquote_to_bytes

UNRESERVED = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"


def encode(value):
    return quote(value, safe="").encode("ascii")


def decode(value):
    parts = re.split(rb"(%0[AaDd])", value)
    return b"".join(part if i % 2 else unquote_to_bytes(part) for i, part in enumerate(parts))


def normalize(value):
    def one(match):
        byte = bytes.fromhex(match[1].decode("ascii"))
        before = match.string[max(0, match.start() - 2) : match.start()]
        # A digit stays escaped after an escape that lacks it.
        lacks_digit = re.search(rb"%[0-9A-Fa-f]?\Z", before) and re.fullmatch(rb"[0-9A-Fa-f]", byte)
        return byte if byte in UNRESERVED and not lacks_digit else match[0].upper()

    # Browsers remove controls and blanks at the start, and tabs and line ends anywhere, before they look for a scheme.
    scheme = re.compile(rb"[\0- ]*[A-Za-z][A-Za-z0-9+.\t\r\n-]*:")
    escape = re.compile(rb"%([0-9A-Fa-f]{2})")
    normal = escape.sub(one, value)
    if scheme.match(normal) and not scheme.match(value):
        # Decoding would make a URI of a relative reference.
        start, colon, rest = value.partition(b":")
        normal = escape.sub(lambda match: match[0].upper(), start) + colon + escape.sub(one, rest)
    return normal


def main():
    verb = {"encode": encode, "decode": decode, "normalize": normalize}[sys.argv[1]]
    *lines, rest = sys.stdin.buffer.read().split(b"\n")
    out = []
    for line in lines:
        end = b"\r\n" if line.endswith(b"\r") else b"\n"
        out.append(verb(line.removesuffix(b"\r")) + end)
    out.append(verb(rest))
    sys.stdout.buffer.write(b"".join(out))


main()
