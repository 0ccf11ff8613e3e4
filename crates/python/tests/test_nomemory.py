"""Calls every function of strings while memory cannot be allocated: it answers as always, or raises MemoryError.

Python's allocator fails at each allocation of a call in turn. The allocator of the compiled part fails where a large result does not fit in
the memory that the process may have.
"""

import subprocess
import sys

import pytest

import simdpct

URL = "http://u:p@h.example:80/a%20b/\u00e9 ?q=1&r=%41+&\"=#f"
ONE_STRING = ["quote", "quote_plus", "unquote", "unquote_to_bytes", "normalize", "count", "decode_until_stable", "split"]
ONE_STRING += ["encode_multipart_name", "decode_multipart_name"]


def calls(text):
    """Return calls with this text and with its bytes: the name of the function, and the arguments."""
    for value in text, text.encode():
        yield from ((name, value) for name in ONE_STRING)
        yield "canonicalize", value, "whatwg"
        yield "get", value, "path"
        yield "validate", value + ("%" if value is text else b"%")
    yield from ((name, text) for name in ("unquote_plus", "encode_ext_value", "parse_qs", "parse_qsl"))
    yield "decode_ext_value", simdpct.encode_ext_value(text)
    yield "decode_ext_value", text
    yield "quote", text, "&"
    yield "quote_from_bytes", text.encode()
    yield "urlencode", {"a": text, "b": 1}
    yield "urlencode", [("a", text), ("b", [1, text])], True


def outcome(name, *args):
    try:
        # An object of this package has no `==`.
        return repr(getattr(simdpct, name)(*args))
    except ValueError as error:
        return repr(error)


@pytest.mark.parametrize("times", [1, 200])
def test_each_allocation_of_python_fails_once(times):
    _testcapi = pytest.importorskip("_testcapi")
    failed = 0
    for name, *args in calls(URL * times):
        right = outcome(name, *args)
        reached, number = True, 0
        while reached and number < 100:
            answer = None
            _testcapi.set_nomemory(number, number + 1)
            try:
                answer = getattr(simdpct, name)(*args)
            except (MemoryError, ValueError) as error:
                answer = error
            # If the call made fewer allocations, one of these fails.
            try:
                for _ in range(number + 100):
                    [bytes(200)]
            except MemoryError:
                reached = False
            _testcapi.remove_mem_hooks()
            assert isinstance(answer, MemoryError) or repr(answer) == right, (name, args, number)
            number += 1
        failed += number - 1
    assert failed > 50


LARGE = """
import resource, sys, simdpct, test_nomemory as t
size = 64 << 20
name, text, megabytes = sys.argv[1], sys.argv[2], int(sys.argv[3])
args = {"urlencode": lambda s: [("k", s)]}.get(name, lambda s: s)(text * (size // len(text)))
if name in ("quote_from_bytes", "unquote_to_bytes"):
    args = args.encode()
getattr(simdpct, name)(args[:9])
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (megabytes << 20),) * 2)
try:
    print(len(getattr(simdpct, name)(args)))
except MemoryError:
    print("MemoryError")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("name", ["quote", "quote_from_bytes", "unquote", "unquote_plus", "unquote_to_bytes", "urlencode"])
def test_a_large_result_without_memory_for_it(name):
    answers = []
    for megabytes in 8, 80, 100, 208, 1000:
        command = [sys.executable, "-c", LARGE, name, "%41/ ", str(megabytes)]
        done = subprocess.run(command, capture_output=True, text=True, cwd=sys.path[0])
        assert done.returncode == 0, (megabytes, done.stderr)
        answers.append(done.stdout.strip())
    assert answers[0] == "MemoryError" and answers[-1] != "MemoryError", answers
