"""Compares every function with urllib's by seeded random calls, with usual arguments and with hostile ones.

    python differential.py [CALLS [SEED]]

Answers must be equal and of the same type, and exceptions of the same type with the same arguments.
"""

import itertools
import random
import sys
import time
import urllib.parse

import simdpct

ABSENT = object()

ALPHABETS = [
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-~/",
    "".join(map(chr, range(128))),
    " +%&=;?#/:@",
    "é ßñ/%Aa9",
    "日本語🎉/ %",
    "\x80\xe9\xff\u0100\uffff\U0010ffff",
    "a\udc80\ud800\udfffé",
]
PIECES = ["%41", "%zz", "%", "%4", "%%41", "%e9", "%C3%A9", "%c3", "%E2%82", "%f0%9f%8e%89", "%ED%A0%80", "%00", "+", "%2B", "%25"]
PIECES += ["é", "日", "\ud800", "a", "/", "&", "=", ";", "&&", "=="]
SAFE = ["", "/", "/:?=&", "+", " ", "%", "é/", "~", "\ud800", b"", b"/", b"\xe9/", bytearray(b"/:"), [47, 300, 58], None, 7, "abc" * 30]
ENCODINGS = [None, "utf-8", "UTF-8", "utf8", "utf_8", "latin-1", "ascii", "cp1252", "shift_jis", "gbk", "utf-16", "utf-7", "bogus", 3]
ERRORS = [None, "strict", "replace", "ignore", "xmlcharrefreplace", "backslashreplace", "surrogateescape", "surrogatepass"]
ERRORS += ["namereplace", "bogus", 3]
SEPARATORS = ["&", ";", "=", "%", "+", "é", "&&", "", b"&", b";", None, 5, "\ud800"]


class Text(str):
    """A subclass of str."""


class Data(bytes):
    """A subclass of bytes."""


def text(rng):
    kind = rng.random()
    if kind < 0.03:
        return ""
    length = rng.choice((1, 2, 3, 5, 8, 15, 16, 17, 31, 33, 63, 64, 65, 100, 130, 300))
    if kind < 0.01 + 0.03:
        length = rng.choice((1023, 1024, 1025, 3071, 3072, 3073, 5000))
    if kind < 0.5:
        alphabet = rng.choice(ALPHABETS)
        return "".join(rng.choices(alphabet, k=length))
    if kind < 0.75:
        return "".join(rng.choices(PIECES, k=min(length, 40)))
    if kind < 0.9:
        return urllib.parse.quote("".join(rng.choices(ALPHABETS[rng.randrange(6)], k=length)), safe=rng.choice(("", "/")))
    mostly = rng.choices(ALPHABETS[0], k=length)
    mostly[rng.randrange(length)] = rng.choice(PIECES)
    return "".join(mostly)


def value(rng):
    """Return an argument for a function that takes text."""
    string = text(rng)
    kind = rng.random()
    if kind < 0.7:
        return string
    data = string.encode(rng.choice(("utf-8", "latin-1", "utf-16")), "replace")
    if kind < 0.9:
        return data
    return rng.choice((bytearray(data), memoryview(data), Text(string), Data(data), None, 5, 1.5, ["a"], True))


def item(rng):
    """Return a key or value for urlencode."""
    kind = rng.random()
    if kind < 0.7:
        return value(rng)
    return rng.choice((0, -1, 10**30, 1.5, float("inf"), True, None, [1, "b c", b"\xff"], ("é", 2.0), [], {"k": "v"}, object, [None, [1]]))


def hashable(rng):
    candidate = item(rng)
    try:
        hash(candidate)
    except (TypeError, ValueError):
        return "key"
    return candidate


def query(rng):
    """Return an argument for urlencode."""
    pairs = [(hashable(rng), item(rng)) for _ in range(rng.choice((0, 1, 1, 2, 3, 8)))]
    kind = rng.random()
    if kind < 0.4:
        return dict(pairs)
    if kind < 0.7:
        return pairs
    if kind < 0.8:
        return tuple(pairs)
    return rng.choice(([list(pair) for pair in pairs], pairs + [("a",)], pairs + ["ab"], "k=v", None, dict(pairs).items()))


def form(rng):
    """Return an argument for parse_qsl."""
    kind = rng.random()
    if kind < 0.1:
        return value(rng)
    fields = [text(rng)[:40] + rng.choice(("=", "=", "", "==")) + text(rng)[:40] for _ in range(rng.choice((0, 1, 2, 3, 10)))]
    string = rng.choice("&&&;").join(fields)
    return string.encode("utf-8", "replace") if kind > 0.9 else string


def outcome(function, args, named):
    try:
        answer = function(*args, **named)
    except RecursionError:
        raise
    except Exception as error:
        return type(error), error.args
    return type(answer), answer


def main(calls=1_000_000, seed=1):
    rng = random.Random(seed)
    start = time.monotonic()

    def pool(make, size):
        return [make(rng) for _ in range(size)]

    values, queries, forms = pool(value, 5000), pool(query, 1500), pool(form, 1500)
    flags = [True, False, 1, 0, None, "yes"]
    limits = [None, 0, 1, 2, 5, 100, -1, "x", 10**30]
    vias = [urllib.parse.quote, urllib.parse.quote_plus, simdpct.quote, simdpct.quote_plus, str, None, lambda s, *rest: repr(s)]
    decoding = [("encoding", ENCODINGS), ("errors", ERRORS)]
    parsing = [("keep_blank_values", flags), ("strict_parsing", flags), *decoding]
    parsing += [("max_num_fields", limits), ("separator", SEPARATORS)]
    encoding = [("safe", SAFE), *decoding]
    # Each function with its weight, the values for its first argument, and its other arguments in order with their values.
    functions = [
        ("quote", 26, values, encoding),
        ("quote_plus", 15, values, encoding),
        ("quote_from_bytes", 8, values, [("safe", SAFE)]),
        ("unquote", 22, values, decoding),
        ("unquote_plus", 12, values, decoding),
        ("unquote_to_bytes", 10, values, []),
        ("urlencode", 3, queries, [("doseq", flags), *encoding, ("quote_via", vias)]),
        ("parse_qsl", 3, forms, parsing),
        ("parse_qs", 1, forms, parsing),
    ]
    names = [name for name, *_ in functions]
    assert all(getattr(urllib.parse, name) is not getattr(simdpct, name) for name in names), "this would compare nothing"
    order = rng.choices(functions, cum_weights=list(itertools.accumulate(often for _, often, *_ in functions)), k=calls)
    raised = 0
    count = {name: 0 for name in names}
    for name, _, pool_of, others in order:
        args, named, positional = [rng.choice(pool_of)], {}, True
        for key, choices in others:
            # Most calls have few arguments.
            dice = rng.random()
            if dice < 0.12 and positional:
                args.append(rng.choice(choices))
            elif dice < 0.22:
                named[key] = rng.choice(choices)
                positional = False
            else:
                positional = False
        dice = rng.random()
        if dice < 0.002:
            named["bogus"] = 1
        elif dice < 0.004:
            args = []
        elif dice < 0.006 and others:
            named[others[0][0]] = rng.choice(others[0][1])
        elif dice < 0.008:
            args += [None] * 8
        theirs = outcome(getattr(urllib.parse, name), args, named)
        ours = outcome(getattr(simdpct, name), args, named)
        # `!=` compares exactly: no value is NaN, and objects that define no `==` are compared by identity.
        if ours != theirs:
            print(f"{name}(*{args!r}, **{named!r})\n  urllib:  {theirs!r}\n  simdpct: {ours!r}")
            return 1
        count[name] += 1
        raised += isinstance(theirs[0], type) and issubclass(theirs[0], BaseException)
    took = time.monotonic() - start
    print(f"{calls} calls equal urllib's (Python {sys.version.split()[0]}, seed {seed}), {raised} of them exceptions; {took:.0f} s")
    print(", ".join(f"{name} {times}" for name, times in count.items()))
    return 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
