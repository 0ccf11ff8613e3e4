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


# A call, and the text that its argument repeats.
LARGE = {
    "quote": ("simdpct.quote(text)", "%41/ "),
    "quote_from_bytes": ("simdpct.quote_from_bytes(data)", "%41/ "),
    "unquote": ("simdpct.unquote(text)", "%41/ "),
    "unquote_plus": ("simdpct.unquote_plus(text)", "%41/ "),
    "unquote_to_bytes": ("simdpct.unquote_to_bytes(data)", "%41/ "),
    "urlencode": ("simdpct.urlencode([('k', text)])", "%41/ "),
    "normalize": ("simdpct.normalize(text)", "%41/ "),
    "decode_until_stable": ("simdpct.decode_until_stable(text)", "%2541/ "),
    "decode_until_stable of invalid UTF-8": ("simdpct.decode_until_stable(text)", "%25ff/ "),
    "canonicalize": ("simdpct.canonicalize(text, 'whatwg')", "http://h/%41 "),
    "get": ("simdpct.get('/?k=' + text, param='k')", "%41/ "),
    "encode_ext_value": ("simdpct.encode_ext_value(text)", "%41/ "),
    "encode_multipart_name": ("simdpct.encode_multipart_name(text)", '%41" '),
    "columns": ("simdpct.quote_array(rows, threads=1)", "%41/ "),
    "columns of views": ("simdpct.unquote_array(rows.cast('string_view'), threads=1)", "%41/ "),
    "a column as one array": ("simdpct.quote_array(rows, threads=1).__arrow_c_array__() and rows", "%41/ "),
}

LARGE_CALL = """
import resource, sys, simdpct
call, piece, megabytes = sys.argv[1], sys.argv[2], int(sys.argv[3])
text = piece * ((32 << 20) // len(piece))
data = text.encode()
rows = None
if "rows" in call:
    import pyarrow
    rows = pyarrow.chunked_array([pyarrow.array([text[:60]] * 100_000)] * 5)
eval(call, {"simdpct": simdpct, "text": text[:60], "data": data[:60], "rows": rows and rows.slice(0, 9)})
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (megabytes << 20),) * 2)
try:
    print(len(eval(call)))
except MemoryError:
    print("MemoryError")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("name", LARGE)
def test_a_large_result_without_memory_for_it(name):
    call, piece = LARGE[name]
    answers = []
    for megabytes in 8, 60, 150, 3000:
        command = [sys.executable, "-c", LARGE_CALL, call, piece, str(megabytes)]
        done = subprocess.run(command, capture_output=True, text=True, cwd=sys.path[0])
        assert done.returncode == 0, (megabytes, done.stderr)
        answers.append(done.stdout.strip())
    assert answers[0] == "MemoryError" and answers[-1] != "MemoryError", answers
