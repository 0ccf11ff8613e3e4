"""Tests results that are not copies, references, patching and stubs. differential.py compares the answers with urllib's."""

import ast
import doctest
import gc
import importlib.util
import inspect
import pathlib
import pickle
import subprocess
import sys
import threading
import tracemalloc
import urllib.parse
import urllib.request

import pytest

import differential
import lifetime
import simdpct

NAMES = simdpct._patch._NAMES


@pytest.mark.parametrize("name", NAMES)
def test_signature_is_urllibs(name):
    ours, theirs = inspect.signature(getattr(simdpct, name)), inspect.signature(getattr(urllib.parse, name))
    assert list(ours.parameters) == list(theirs.parameters)
    for parameter in ours.parameters.values():
        default = theirs.parameters[parameter.name].default
        if parameter.name == "quote_via":
            assert (parameter.default, default) == (simdpct.quote_plus, urllib.parse.quote_plus)
        else:
            assert parameter.default == default
        assert parameter.kind == theirs.parameters[parameter.name].kind


def test_examples():
    has_pyarrow = importlib.util.find_spec("pyarrow") is not None
    # doctest does not look for examples in built-in functions by itself.
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    namespace = {name: getattr(simdpct, name) for name in simdpct.__all__}
    for name in ["__doc__", *simdpct.__all__]:
        if name in ("__version__", "PROFILES") or name.endswith("_array") and not has_pyarrow:
            continue
        thing = simdpct if name == "__doc__" else getattr(simdpct, name)
        assert inspect.getdoc(thing), name
        examples = doctest.DocTestParser().get_doctest(inspect.getdoc(thing), dict(namespace, simdpct=simdpct), name, None, 0)
        assert examples.examples or name.startswith("un") or inspect.isclass(thing), f"{name} has no example"
        runner.run(examples)
    assert runner.summarize().failed == 0
    assert runner.summarize().attempted > 10


def test_stubs_declare_what_there_is():
    package = pathlib.Path(simdpct.__file__).parent
    assert (package / "py.typed").exists()
    body = ast.parse((package / "__init__.pyi").read_text(encoding="utf-8")).body
    declared = {node.name for node in body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    declared |= {node.target.id for node in body if isinstance(node, ast.AnnAssign)}
    assert {name for name in declared if name[0] != "_" or name == "__version__"} == set(simdpct.__all__)
    described = set()
    for node in body:
        if not isinstance(node, (ast.FunctionDef, ast.ClassDef)) or node.name[0] == "_":
            continue
        thing = getattr(simdpct, node.name)
        # The first of several overloads has the documentation.
        if node.name not in described:
            assert ast.get_docstring(node) == inspect.getdoc(thing), node.name
            described.add(node.name)
        if isinstance(node, ast.ClassDef):
            for member in node.body:
                if isinstance(member, ast.FunctionDef) and member.name[0] != "_":
                    assert ast.get_docstring(member) == inspect.getdoc(getattr(thing, member.name)), member.name
        else:
            arguments = [*node.args.posonlyargs, *node.args.args, node.args.vararg, *node.args.kwonlyargs]
            names = [argument.arg for argument in arguments if argument]
            real = list(inspect.signature(thing).parameters)
            # An overload for bytes has no encoding.
            assert names == (real[: len(names)] if node.decorator_list else real), node.name
    assert len(described) > 25


def test_objects_that_go_away_during_a_call():
    if lifetime.main() == 75:
        pytest.skip("this version of Python converts ints without Python code")


@pytest.mark.parametrize("length", [1, 16, 60, 1000, 1024, 1025, 3072, 3073, 100_000])
def test_what_stays_is_the_same_object(length):
    text = "a" * length
    for function in (simdpct.quote, simdpct.quote_plus, simdpct.unquote, simdpct.unquote_plus):
        assert function(text) is text
    data = text.encode()
    assert simdpct.unquote_to_bytes(data) is data
    assert simdpct.quote(data) == text
    # quote_plus of a space, and unquote_plus of a plus sign, change the text but not its length.
    assert simdpct.quote_plus(text + " ") == text + "+"
    assert simdpct.unquote_plus(text + "+") == text + " "


@pytest.mark.parametrize("size", [10**5, 10**7])
def test_long_strings(size):
    text = "/a b%é" * (size // 6)
    assert simdpct.quote(text) == urllib.parse.quote(text)
    assert simdpct.unquote(simdpct.quote(text)) == text
    assert simdpct.unquote_to_bytes(simdpct.quote_plus(text)) == urllib.parse.unquote_to_bytes(simdpct.quote_plus(text))


@pytest.mark.parametrize("piece", ["%C3%A9", "%C4%80", "%E6%97%A5", "%F0%9F%8E%89", "%FF", "%C3", "%E6%97", "%ED%A0%80", "%F4%90%80"])
@pytest.mark.parametrize("end", ["", "a", "\xe9", "%C3%A9", "\U0001f389", "%80"])
def test_results_that_are_not_ascii(piece, end):
    for length in range(80):
        for text in ("a" * length + piece + end, piece * length + end):
            right = urllib.parse.unquote(text)
            assert simdpct.unquote(text) == right
            assert len(text) < 8 or sys.getsizeof(simdpct.unquote(text)) == sys.getsizeof(right)
            assert simdpct.unquote_plus(text) == right
            for errors in ("ignore", "backslashreplace"):
                assert simdpct.unquote(text, errors=errors) == urllib.parse.unquote(text, errors=errors)


def test_more_values_of_safe_than_are_remembered():
    for turn in range(3):
        for byte in range(128):
            # Each string is a new object. Some have the address of a freed one, for which an encoder may be cached.
            safe = "".join(["x", chr(byte)])
            assert simdpct.quote(chr(byte), safe) == chr(byte)
            assert simdpct.quote_plus(chr(byte) + " ", safe=safe) == chr(byte).replace(" ", "+") + "+"
            assert simdpct.quote("\x01" + chr(byte), safe=b"") == urllib.parse.quote("\x01" + chr(byte), safe=b"")


def test_nothing_leaks():
    calls = [
        lambda: simdpct.quote("a b" * 9, safe="".join(["/", ":"])),
        lambda: simdpct.quote("\ud800", errors="replace"),
        lambda: simdpct.unquote("%41" * 2000),
        lambda: simdpct.unquote("%ff", errors="ignore"),
        lambda: simdpct.urlencode([("a b", 1), ("c", b"\xff"), ("d", None)]),
        lambda: simdpct.urlencode({"a": [1, 2, "x"]}, doseq=True),
        lambda: simdpct.parse_qs("a=1&a=2&b=%ff"),
        lambda: simdpct.parse_qsl("a=1&a=2&b=%ff", errors="surrogateescape"),
        lambda: pytest.raises(TypeError, simdpct.quote, 5),
        lambda: pytest.raises(ValueError, simdpct.parse_qsl, "a", strict_parsing=True),
        lambda: pytest.raises(UnicodeDecodeError, simdpct.unquote, "%ff", errors="strict"),
    ]

    def run(times):
        for _ in range(times):
            for call in calls:
                call()
        gc.collect()

    run(20)
    blocks = sys.getallocatedblocks()
    run(200)
    assert sys.getallocatedblocks() - blocks < 200
    # No reference leaks, either, to an object that is returned or passed again and again.
    text, safe = "".join(["clean", "text"]), "".join(["a", "b"])
    before = sys.getrefcount(text), sys.getrefcount(safe)
    for _ in range(1000):
        simdpct.quote(text), simdpct.quote(text, safe), simdpct.quote_plus(text, safe=safe), simdpct.unquote(text)
        simdpct.parse_qsl(text), simdpct.urlencode({text: text}, safe=safe), simdpct.quote(text, safe, "latin-1")
    assert sys.getrefcount(text) - before[0] <= 1
    # The cache has up to four encoders, each with a reference to its argument `safe`.
    assert sys.getrefcount(safe) - before[1] <= 4


def test_results_take_no_more_memory_than_they_have():
    text = "a b" * 10**6
    tracemalloc.start()
    result = simdpct.quote(text)
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(result) <= size < len(result) + 10_000


def test_threads():
    expected = urllib.parse.quote("/a b/é" * 50, safe="/é:")
    wrong = []

    def work(number):
        for turn in range(2000):
            safe = "".join(["/", ":", chr(65 + (number + turn) % 7)])
            if simdpct.quote("/a b/é" * 50, safe) != expected:
                wrong.append(safe)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_pickle():
    for name in NAMES:
        function = getattr(simdpct, name)
        assert pickle.loads(pickle.dumps(function)) is function


def test_patch():
    originals = {name: getattr(urllib.parse, name) for name in NAMES}
    assert urllib.request.quote is originals["quote"]
    try:
        simdpct.patch()
        simdpct.patch()
        for name in NAMES:
            assert getattr(urllib.parse, name) is getattr(simdpct, name)
        # urllib.request has run `from urllib.parse import quote`, so it keeps urllib's function.
        assert urllib.request.quote is originals["quote"]
        simdpct.patch(everywhere=True)
        assert urllib.request.quote is simdpct.quote
        # Calls that this package passes on to urllib's functions do not come back to this package.
        assert urllib.parse.quote("é", encoding="latin-1") == "%E9"
        assert urllib.parse.parse_qs(b"a=%41&a=1") == {b"a": [b"A", b"1"]}
        assert urllib.parse.urlencode({"é": "ß"}, encoding="latin-1") == "%E9=%DF"
        urllib.parse.quote = len
    finally:
        simdpct.unpatch()
        # `unpatch` leaves a function that somebody else has put there.
        assert urllib.parse.quote is len
        urllib.parse.quote = originals["quote"]
    assert {name: getattr(urllib.parse, name) for name in NAMES} == originals
    assert urllib.request.quote is originals["quote"]
    simdpct.unpatch()


def test_patching_loads_no_lazy_module(tmp_path, monkeypatch):
    (tmp_path / "broken_and_lazy.py").write_text("import a_module_that_does_not_exist")
    monkeypatch.syspath_prepend(tmp_path)
    spec = importlib.util.find_spec("broken_and_lazy")
    spec.loader = importlib.util.LazyLoader(spec.loader)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)
    spec.loader.exec_module(module)
    try:
        simdpct.patch(everywhere=True)
        assert urllib.request.quote is simdpct.quote
    finally:
        simdpct.unpatch()


def test_importing_patches_nothing():
    code = "import urllib.parse as u; before = vars(u).copy(); import simdpct; assert before == vars(u)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_arguments_that_urllib_refuses():
    for args, named in [((), {}), (("a", "/", None, None, 5), {}), (("a",), {"string": "b"}), (("a",), {"saf": ""})]:
        with pytest.raises(TypeError) as ours:
            simdpct.quote(*args, **named)
        with pytest.raises(TypeError) as theirs:
            urllib.parse.quote(*args, **named)
        assert str(ours.value) == str(theirs.value)


@pytest.mark.parametrize("named", [{}, {"strict_parsing": True}, {"max_num_fields": -1}, {"max_num_fields": 0}])
def test_an_empty_query(named):
    """CPython 3.10 rejects some calls that later versions accept."""
    for name in ("parse_qsl", "parse_qs"):
        ours, theirs = (differential.outcome(getattr(m, name), [""], named) for m in (simdpct, urllib.parse))
        assert ours == theirs


@pytest.mark.parametrize("seed", [11, 12])
def test_random_calls(seed):
    assert differential.main(30_000, seed) == 0
