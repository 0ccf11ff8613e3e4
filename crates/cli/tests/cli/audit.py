"""What `pct audit --format json` should count, the slow way: reads stdin, writes the lines and finds of each kind."""

import json
import re
import sys

ESCAPE = re.compile(rb"%([0-9A-Fa-f]{2})")
# A first byte, and as many that follow as there are of those it asks for.
SEQUENCE = re.compile(
    rb"[\xC0-\xDF][\x80-\xBF]?|[\xE0-\xEF][\x80-\xBF]{0,2}|[\xF0-\xF7][\x80-\xBF]{0,3}|[\x80-\xBF\xF8-\xFF]"
)


def sequences(decoded):
    overlong = invalid = 0
    for sequence in SEQUENCE.findall(decoded):
        try:
            sequence.decode()
        except UnicodeDecodeError:
            first, len_ = sequence[0], len(sequence)
            bits = first & (0x3F >> (len_ - 1)) if len_ > 1 else 0
            for byte in sequence[1:]:
                bits = bits << 6 | byte & 0x3F
            whole = len_ > 1 and len_ == (2 if first < 0xE0 else 3 if first < 0xF0 else 4)
            if whole and bits < {2: 0x80, 3: 0x800, 4: 0x10000}[len_]:
                overlong += 1
            else:
                invalid += 1
    return overlong, invalid


def kinds(line):
    escapes = ESCAPE.findall(line)
    values = [int(digits, 16) for digits in escapes]
    # A malformed % stays, and nothing is an escape twice.
    decoded = ESCAPE.sub(lambda found: bytes([int(found[1], 16)]), line)
    raw = ESCAPE.sub(b"", line)
    overlong, invalid = sequences(decoded)
    is_control = lambda byte: byte < 0x20 or byte == 0x7F
    return {
        "malformed": raw_percents(line),
        "nul": values.count(0),
        "crlf": values.count(10) + values.count(13),
        "control": sum(is_control(byte) and byte not in (0, 10, 13) for byte in values),
        "raw-control": sum(is_control(byte) and byte != 9 for byte in raw),
        "slash": values.count(0x2F),
        "backslash": values.count(0x5C),
        "dot": values.count(0x2E),
        "double": doubles(line),
        "overlong": overlong,
        "utf8": invalid,
        "lower-case": sum(digits != digits.upper() for digits in escapes),
        "unreserved": sum(chr(byte).isalnum() if byte < 128 else False for byte in values)
        + sum(chr(byte) in "-._~" for byte in values),
    }


def raw_percents(line):
    """`%` that start no escape; not what is left when escapes are cut out, which may join to one."""
    return line.count(b"%") - len(ESCAPE.findall(line))


def doubles(line):
    return sum(found[1] == b"25" and ESCAPE.fullmatch(b"%" + line[found.end() : found.end() + 2]) is not None
               for found in ESCAPE.finditer(line))


def main():
    bytes = sys.stdin.buffer.read()
    lines = bytes.split(b"\n")
    if not lines[-1]:
        lines.pop()
    ended = len(lines) - (not bytes.endswith(b"\n"))
    totals = {}
    escapes = 0
    buckets = [0] * 9
    for number, line in enumerate(lines):
        if number < ended and line.endswith(b"\r"):
            line = line[:-1]
        for kind, found in kinds(line).items():
            old = totals.get(kind, (0, 0))
            totals[kind] = (old[0] + (found > 0), old[1] + found)
        here = len(ESCAPE.findall(line))
        escapes += here
        buckets[sum(here >= least for least in (1, 2, 3, 5, 9, 17, 33, 65))] += 1
    json.dump({"lines": len(lines), "escapes": escapes, "buckets": buckets, "kinds": totals}, sys.stdout)


main()
