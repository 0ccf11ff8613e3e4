"""Runs the examples of the README, and compares its tables with what the functions do."""

import ast
import pathlib
import re

import pytest

import simdpct

pl = pytest.importorskip("polars")
pyarrow = pytest.importorskip("pyarrow")
import simdpct.polars as pct  # noqa: E402

README = (pathlib.Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")


def plain(value):
    """Return the value that a literal in a comment of the README is compared with: a Series becomes a list."""
    value = value.collect() if isinstance(value, pl.LazyFrame) else value
    return value.to_list() if isinstance(value, pl.Series) else value


def test_examples():
    for module in ("pandas", "datafusion"):
        pytest.importorskip(module)
    if tuple(map(int, pl.__version__.split(".")[:2])) < (1, 23):
        pytest.skip("the examples name the streaming engine as it is called today")
    blocks, compared, names = re.findall("```python\n(.*?)```", README, re.DOTALL), 0, {}
    for block in blocks:
        for line in filter(None, block.split("\n")):
            code, _, comment = line.partition("  # ")
            try:
                wanted = ast.literal_eval(comment.strip())
            except (SyntaxError, ValueError):
                exec(code, names)
                continue
            assert plain(eval(code, names)) == wanted, line
            compared += 1
    simdpct.unpatch()
    assert len(blocks) == 7 and compared >= 18


def decode_scalar(value, **options):
    # Of the functions of one string, only `get` decodes like the functions on columns. It has no argument `errors`.
    return simdpct.get("#" + value, "fragment", decode=True) if not options else simdpct.unquote_array(pyarrow.array([value]), **options)[0]


DECODERS = [
    decode_scalar,
    lambda value, **options: simdpct.unquote_array(pyarrow.array([value]), **options).to_pylist()[0],
    lambda value, **options: pl.select(pct.unquote(pl.lit(value), **options)).item(),
    lambda value, **options: pl.select(pct.unquote_plus(pl.lit(value), **options)).item(),
    lambda value, **options: pl.select(pl.lit(value).pct.decode(**options)).item(),
]
CANONICALIZERS = [
    simdpct.canonicalize,
    lambda value, **options: simdpct.canonicalize_array(pyarrow.array([value]), **options).to_pylist()[0],
    lambda value, **options: pl.select(pct.canonicalize(pl.lit(value), **options)).item(),
    lambda value, **options: pl.select(pl.lit(value).pct.canonicalize(**options)).item(),
]


def test_the_table_of_defaults():
    rows = re.findall(r"^\| `'(\w+)'`(, the default)? \| (.*) \|$", README.partition("## Columns")[0], re.MULTILINE)
    assert [row[0] for row in rows] == ["keep", "replace", "null", "strict"]
    for errors, default, cells in rows:
        for cell, functions, value in zip(cells.split("|"), (DECODERS, DECODERS, CANONICALIZERS), ("%zz", "%FF", "http://a:99999/")):
            for function in functions:
                for options in [{"errors": errors}] + [{}] * bool(default):
                    if cell.strip() in ("error", ""):
                        with pytest.raises((ValueError, pl.exceptions.ComputeError), match=None if cell.strip() else "errors must be"):
                            function(value, **options)
                    else:
                        assert function(value, **options) == {"stays": value, "U+FFFD": "\ufffd", "null": None}[cell.strip()]


def test_the_functions_of_urllib_are_listed():
    listed = re.search(r"These are (.*?)\.\s", README, re.DOTALL)[1]
    assert sorted(re.findall(r"`(\w+)`", listed)) == sorted(simdpct._patch._NAMES)


def test_the_parts_are_listed():
    listed = re.search(r"The parts are (.*?)\.", README, re.DOTALL)[1]
    names = re.findall(r"`(\w+)`", listed)
    with pytest.raises(ValueError) as raised:
        simdpct.get("a", "x")
    assert str(raised.value).endswith("there is no part 'x'; parts are " + ", ".join(names))
    assert set(names) | {"domain", "suffix"} == {name for name in vars(simdpct.Parts) if name[0] != "_" and name != "url"}
