"""Checks that urlencode only reads objects that are alive, while Python code drops them during the call.

    python lifetime.py

From 3.12 on, CPython converts large ints to text in Python code, which may do anything. Exits with 75 on older versions.
"""

import sys
from urllib.parse import quote_plus

import simdpct

LARGE = 1 << 40000
VALUE = bytes(1000)


def queries():
    """Yield queries of every shape, each with the object to clear in the call, the argument `doseq`, and the result."""
    result = "1=" + quote_plus(VALUE)
    pairs = [(LARGE, bytes(1000))]
    yield pairs, pairs, False, result
    entries = {LARGE: bytes(1000)}
    yield entries, entries, False, result
    values = [LARGE, bytes(1000)]
    yield [("k", values)], values, True, f"k=1&k={quote_plus(VALUE)}"
    values = [LARGE, bytes(1000)]
    yield (("k", values),), values, True, f"k=1&k={quote_plus(VALUE)}"


def main():
    try:
        import _pylong
    except ImportError:
        print("lifetime: this version converts ints without Python code")
        return 75
    limit, convert = sys.get_int_max_str_digits(), _pylong.int_to_decimal_string
    sys.set_int_max_str_digits(0)
    calls = 0
    try:
        for _ in range(50):
            for query, part, doseq, wanted in queries():
                kept = []

                def drop_and_fill(number):
                    nonlocal calls
                    calls += 1
                    part.clear()
                    # The new objects have the size of the freed one, so that one of them takes its memory.
                    kept.extend(bytes([index]) * 1000 for index in range(1, 201))
                    return "1"

                _pylong.int_to_decimal_string = drop_and_fill
                got = simdpct.urlencode(query, doseq)
                assert got == wanted, f"{type(query).__name__}, doseq={doseq}: {got[:60]}"
    finally:
        _pylong.int_to_decimal_string = convert
        sys.set_int_max_str_digits(limit)
    assert calls == 200, calls
    print(f"{sys.version.split()[0]}: {calls} calls read objects that are alive")
    return 0


if __name__ == "__main__":
    sys.exit(main())
