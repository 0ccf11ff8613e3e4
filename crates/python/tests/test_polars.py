"""Tests the expressions for Polars in every kind of query, against urllib or one call for each value.

SIMDPCT_TEST_URLS=FILE adds a list of URLs, one in each line.
"""

import copy
import ctypes
import doctest
import importlib.metadata
import os
import pathlib
import pickle
import random
import re
import struct
import subprocess
import sys
import threading
import typing
import urllib.parse

import pytest

import simdpct

pl = pytest.importorskip("polars")

import simdpct.polars as pct  # noqa: E402
from polars.testing import assert_frame_equal, assert_series_equal  # noqa: E402

VERSION = tuple(int(part) for part in pl.__version__.split(".")[:2])
STREAMING = {"engine": "streaming"} if VERSION >= (1, 23) else {"streaming": True}
REPOSITORY = pathlib.Path(__file__).parents[3]
LIBRARY = simdpct._simdpct.__file__


def real():
    """Return real URLs of samples, test vectors and installed packages: as they are, quoted, and quoted for a form."""
    files = [REPOSITORY / "samples" / name for name in ("urls.txt", "crawl.txt")]
    files += sorted((REPOSITORY / "crates/uri/tests/vectors").glob("*.tsv"))
    files += [pathlib.Path(name) for name in [os.environ.get("SIMDPCT_TEST_URLS")] if name]
    found = {cell for file in files for cell in re.split("[\n\t]", file.read_bytes().decode(errors="replace"))}
    for package in importlib.metadata.distributions():
        found.update(re.findall(r"https?://[^\s<>()\"'\]]+", package.read_text("METADATA") or ""))
    found = sorted(found)
    assert len(found) > 1000
    return found + [urllib.parse.quote(url, "") for url in found] + [urllib.parse.quote_plus(url) for url in found]


def mutants(count):
    """Return real URLs and `count` damaged ones. Those are null, or cut, spliced, malformed or invalid UTF-8."""
    rng = random.Random(1)
    urls = real()
    rows = urls.copy()
    pieces = ["%", "%4", "%zz", "%FF", "%C3", "%c3%a9", "%F0%9F%98%80", "%E2%82", "+", " ", "é", "日", "\0", "%00", ""]
    for _ in range(count):
        url = rng.choice(urls)
        for _ in range(rng.randrange(4)):
            at, end = rng.randrange(len(url) + 1), rng.randrange(len(url) + 1)
            url = url[:at] + rng.choice(pieces) + url[at + rng.randrange(4) :] + url[at:end]
        rows.append(None if rng.random() < 0.05 else url[: rng.choice((5, 12, 13, 60, 500))])
    return rows


ROWS = mutants(15_000)


def is_malformed(value, text=True):
    try:
        simdpct.validate(value)
        if text:
            urllib.parse.unquote(value, errors="strict")
    except ValueError:
        return True
    return False


def keep(value):
    """Decode, and keep the escapes of invalid UTF-8."""
    return simdpct.get("#" + value, "fragment", decode=True)


# Each expression, with a function that gives the expected result for one value that is not null.
EXPRESSIONS = {
    "quote": (lambda c: pct.quote(c), urllib.parse.quote),
    "quote, safe": (lambda c: pct.quote(c, ":/?&=é"), lambda value: urllib.parse.quote(value, ":/?&=é")),
    "quote, nothing safe": (lambda c: pct.quote(c, safe=b""), lambda value: urllib.parse.quote(value, "")),
    "quote_plus": (lambda c: pct.quote_plus(c), urllib.parse.quote_plus),
    "quote_plus, safe": (lambda c: pct.quote_plus(c, "+&"), lambda value: urllib.parse.quote_plus(value, "+&")),
    "unquote": (lambda c: pct.unquote(c, errors="replace"), urllib.parse.unquote),
    "unquote, keep": (lambda c: pct.unquote(c), keep),
    "unquote, null": (
        lambda c: pct.unquote(c, errors="null"),
        lambda value: None if is_malformed(value) else urllib.parse.unquote(value),
    ),
    "unquote_plus": (lambda c: pct.unquote_plus(c, errors="replace"), urllib.parse.unquote_plus),
    "unquote, plus": (lambda c: pct.unquote(c, plus=True, errors="replace"), urllib.parse.unquote_plus),
    "unquote_plus, null": (
        lambda c: pct.unquote_plus(c, errors="null"),
        lambda value: None if is_malformed(value) else urllib.parse.unquote_plus(value),
    ),
    "normalize": (lambda c: pct.normalize(c), simdpct.normalize),
    "normalize, null": (
        lambda c: pct.normalize(c, errors="null"),
        lambda value: None if is_malformed(value, text=False) else simdpct.normalize(value),
    ),
    "canonicalize": (lambda c: pct.canonicalize(c), simdpct.canonicalize),
    "canonicalize, null": (lambda c: pct.canonicalize(c, errors="null"), lambda value: simdpct.canonicalize(value, errors="null")),
    "malformed": (lambda c: pct.malformed(c), is_malformed),
}


def wanted(name, rows=None):
    one = EXPRESSIONS[name][1]
    return [None if row is None else one(row) for row in (ROWS if rows is None else rows)]


def in_chunks(series):
    """Return the same values in several chunks, one of which is empty."""
    cuts = [0, 1, 1, 8, 700, len(series) // 2, len(series)]
    parts = [series.slice(start, end - start) for start, end in zip(cuts, cuts[1:])]
    chunked = pl.concat(parts, rechunk=False)
    assert chunked.n_chunks() >= 5
    return chunked


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_each_row_is_as_urllib_has_it(name):
    expression = EXPRESSIONS[name][0]
    frame = pl.DataFrame({"url": ROWS, "row": range(len(ROWS))})
    results = pl.Series("url", wanted(name), pl.Boolean if name == "malformed" else pl.String)
    lazy = frame.lazy().select(expression("url"))
    assert dict(lazy.collect_schema()) == {"url": results.dtype}
    for result in (
        frame.select(expression("url")),
        frame.select(expression(pl.col("url"))),
        lazy.collect(),
        lazy.collect(**STREAMING),
        pl.DataFrame([in_chunks(frame["url"])]).select(expression("url")),
        frame.lazy().with_columns(expression("url")).select("url").collect(**STREAMING),
    ):
        assert_series_equal(result["url"], results)
    # The views, offsets and validity of a slice start inside their buffers.
    for start, length in [(1, 7), (3, 64), (8, 1), (len(ROWS) - 5, 5), (100, 0)]:
        assert_series_equal(frame.slice(start, length).select(expression("url"))["url"], results.slice(start, length))
        assert_series_equal(
            lazy.slice(start, length).collect(**STREAMING)["url"],
            results.slice(start, length),
        )
    # A Series can be passed like an expression.
    assert_series_equal(pl.select(expression(frame["url"])).to_series(), results)


@pytest.mark.parametrize("options", [{}, STREAMING], ids=["in memory", "streaming"])
def test_urls_equal_the_functions_on_columns(options):
    pyarrow = pytest.importorskip("pyarrow")
    rows = mutants(20_000)
    frame = pl.DataFrame({"url": rows}, schema={"url": pl.String})
    # The oldest supported Polars does not export columns by Arrow's C interface, so pyarrow makes the column.
    column = pyarrow.array(rows, pyarrow.string())
    pair = pl.Struct({"name": pl.String, "value": pl.String})
    for arguments, dtype in [
        (("host",), pl.String),
        (("param", "q"), pl.String),
        (("without_params", "utm_*, q"), pl.String),
        (("with_param", "\u00e9", ""), pl.String),
        (("join", "../x"), pl.String),
        (("segments",), pl.List(pl.String)),
        (("params",), pl.List(pair)),
        (("parts",), pl.Struct(dict.fromkeys(["scheme", "userinfo", "host", "port", "path", "query", "fragment"], pl.String))),
    ]:
        query = frame.lazy().select(pct.url("url", *arguments))
        name = {"param": "q", "without_params": "url", "with_param": "url"}.get(arguments[0], arguments[0])
        assert query.collect_schema() == {name: dtype}
        got = query.collect(**options)[name]
        assert got.dtype == dtype
        # The oldest supported Polars shows a null as a struct of nulls. The path of a URL is never null.
        found = [None if isinstance(row, dict) and set(row.values()) == {None} else row for row in got.to_list()]
        assert found == pyarrow.array(simdpct.url_array(column, *arguments)).to_pylist()
        nothing = pl.DataFrame({"url": [None, None]}).select(pct.url("url", *arguments))[name]
        assert nothing.null_count() == 2 and nothing.dtype == dtype
    # Arguments are constants or columns.
    both = pl.DataFrame({"url": rows, "reference": rows[1:] + rows[:1]}, schema={"url": pl.String, "reference": pl.String})
    joined = both.lazy().select(pct.url("url", "join", pl.col("reference"))).collect(**options)["join"]
    assert joined.to_list() == pyarrow.array(simdpct.url_array(column, "join", pyarrow.array(rows[1:] + rows[:1]))).to_pylist()
    based = both.lazy().select(pct.url(pl.lit("http://a/b"), "join", pl.col("reference")).alias("url")).collect(**options)["url"]
    assert based.to_list() == pyarrow.array(simdpct.url_array(pyarrow.array(["http://a/b"]), "join", pyarrow.array(rows[1:] + rows[:1]))).to_pylist()
    assert both.select(pct.url("url", "join", pl.lit(None)))["join"].null_count() == len(rows)
    # Other expressions of a query can use nested results.
    found = frame.lazy().select(pct.url("url", "segments").list.len().sum(), n=pct.url("url", "parts").struct.field("host").n_unique())
    assert found.collect(**options).row(0)[1] > 100


def test_parts_are_named():
    frame = pl.DataFrame({"url": ["http://u:p@www.a.co.uk:80/b%20c?q=1+2&utm_id=3#f", "/x", None], "href": ["../d", "", "e"]})
    url = pl.col("url").pct
    names = ["scheme", "authority", "userinfo", "user", "password", "host", "domain", "suffix", "port", "path", "query", "fragment"]
    parts = frame.select(getattr(url, name)() for name in names)
    assert_frame_equal(parts, frame.select(pct.url("url", name) for name in names))
    assert parts.columns == names
    assert list(parts.row(0)) == [simdpct.get(frame["url"][0], name) for name in names]
    assert parts.row(2) == (None,) * 12
    frame = frame.with_columns(url.host(), url.path(), url.param("q"), url.join(pl.col("href")))
    assert frame.columns == ["url", "href", "host", "path", "q", "join"]
    assert frame.row(0)[2:] == ("www.a.co.uk", "/b%20c", "1 2", "http://u:p@www.a.co.uk:80/d")
    assert frame.select(pl.lit("http://b/").pct.join(pl.col("href")), url.param(pl.col("href"))).columns == ["join", "param"]
    assert frame.select(url.param(b"q"), url.param("\u00e9".encode())).columns == ["q", "\u00e9"]
    # A result that is a whole URL keeps the name of its column.
    changed = frame.select(url.without_params(["utm_*", "q"]).pct.with_param("n", pl.col("href")))
    assert changed["url"].to_list() == ["http://u:p@www.a.co.uk:80/b%20c?n=../d#f", "/x?n=", None]
    assert frame.select(url.segments(), url.params(), url.parts()).columns == ["segments", "params", "parts"]
    # The methods have the same arguments as the functions of this module.
    assert frame.select(url.path().pct.decode(), x=url.query().pct.decode(plus=True)).row(0) == ("/b c", "q=1 2&utm_id=3")
    assert pl.select(pl.lit("a b/").pct.encode(), x=pl.lit("a b/").pct.encode(safe="/", plus=True)).row(0) == ("a%20b%2F", "a+b/")
    assert pl.select(pl.lit("%7e").pct.normalize(), x=pl.lit("HTTP://A").pct.canonicalize(), y=pl.lit("%").pct.malformed()).row(0) == ("~", "http://a/", True)
    assert pl.select(pl.lit("http://a:99999/").pct.canonicalize(errors="null")).item() is None
    assert pl.select(pl.lit("%FF").pct.decode(), x=pl.lit("%FF").pct.decode(errors="replace")).row(0) == ("%FF", "\ufffd")
    # Series have the same methods, and so has the class `Pct`, which type checkers know.
    assert_series_equal(frame["url"].pct.host(), parts["host"])
    assert_series_equal(copy.copy(frame["url"].pct).host(), parts["host"])
    assert_series_equal(frame.select(pct.Pct("url").host())["host"], parts["host"])
    with pytest.raises(AttributeError, match="hots"):
        frame["url"].pct.hots()


def test_plans_show_the_part():
    lazy = pl.LazyFrame({"url": ["http://a/b"]})
    for name in ("host", "path", "segments"):
        plan = lazy.select(pct.url("url", name).alias("x")).explain()
        assert f":{name}(" in plan
    assert ":decode(" in lazy.select(pct.unquote("url")).explain()


def test_messages_name_the_function():
    for wrong, why in [
        (lambda: pct.url("url", "hots"), "url: there is no function 'hots'; functions are scheme, authority"),
        (lambda: pct.url("url", "encode"), "url: there is no function 'encode'"),
        (lambda: pct.url("url", "param"), 'url: "param" takes url, name, and got 1 arguments'),
        (lambda: pl.col("url").pct.decode(errors="x"), "decode: errors must be 'keep'"),
        (lambda: pl.col("url").pct.canonicalize("x"), "canonicalize: there is no profile 'x'"),
    ]:
        with pytest.raises(ValueError, match="^" + re.escape(why)):
            wrong()
    with pytest.raises(TypeError):
        pl.col("url").pct.param(["q"])


def test_binary():
    rng = random.Random(2)
    rows = [None if rng.random() < 0.1 else rng.randbytes(rng.choice((0, 1, 12, 13, 50))) + b"%ff%zz" for _ in range(3000)]
    frame = pl.DataFrame({"data": in_chunks(pl.Series(rows, dtype=pl.Binary))})

    def each(function):
        return pl.Series("data", [None if row is None else function(row) for row in rows], pl.Binary)

    for options in ({}, STREAMING):
        lazy = frame.lazy()
        quoted = each(lambda row: urllib.parse.quote(row, "").encode())
        assert_series_equal(lazy.select(pct.quote("data", "")).collect(**options)["data"], quoted)
        assert_series_equal(lazy.select(pct.unquote("data")).collect(**options)["data"], each(urllib.parse.unquote_to_bytes))
        assert_series_equal(lazy.select(pct.normalize("data")).collect(**options)["data"], each(simdpct.normalize))
        back = pl.LazyFrame({"data": quoted}).select(pct.unquote("data", errors="strict"), m=pct.malformed("data"))
        assert_frame_equal(
            back.collect(**options),
            pl.DataFrame({"data": each(bytes), "m": [None if row is None else False for row in rows]}),
        )
        # In binary, invalid UTF-8 is not malformed, but each value ends in a malformed escape.
        assert lazy.select(pct.malformed("data")).collect(**options)["data"].drop_nulls().all()


def test_keep():
    frame = pl.DataFrame({"path": ["/%41%FF%C3%A9", "100%", "%C3", "é%A9", None]})
    assert frame.select(pct.unquote("path", errors="keep"))["path"].to_list() == ["/A%FFé", "100%", "%C3", "é%A9", None]
    refused = pl.DataFrame({"url": ["HTTP://a:99999/", "HTTP://A/"]})
    assert refused.select(pct.canonicalize("url", "rfc3986-scheme", errors="keep"))["url"].to_list() == ["HTTP://a:99999/", "http://a/"]
    for profile in simdpct.PROFILES:
        form = pl.select(pct.canonicalize(pl.Series(["http://example.com/%7Ejoe"]), profile)).item()
        assert form == simdpct.canonicalize("http://example.com/%7Ejoe", profile)


def test_many_rows():
    """The rows are so many that several threads work, and that the streaming engine has several morsels."""
    rows = ROWS * 21
    frame = pl.DataFrame({"row": range(len(rows)), "url": rows})
    expected = frame.with_columns(
        quoted=pl.Series(wanted("quote") * 21), unquoted=pl.Series(wanted("unquote, keep") * 21), bad=pl.Series(wanted("malformed") * 21)
    )
    query = frame.lazy().with_columns(quoted=pct.quote("url"), unquoted=pct.unquote("url"), bad=pct.malformed("url"))
    assert_frame_equal(query.collect(), expected)
    assert_frame_equal(query.collect(**STREAMING).sort("row"), expected)


@pytest.mark.parametrize("options", [{}, STREAMING], ids=["in memory", "streaming"])
def test_queries(options, tmp_path):
    frame = pl.DataFrame({"row": range(len(ROWS)), "url": ROWS, "key": [row % 7 for row in range(len(ROWS))]})
    unquoted = pl.Series("url", wanted("unquote, keep"))
    whole = frame.with_columns(unquoted)
    # Predicates run before and after the expression.
    query = frame.lazy().filter(~pct.malformed("url"), pl.col("key") > 2).with_columns(pct.unquote("url", errors="strict"))
    clean = [
        (row, value, row % 7)
        for row, (value, bad) in enumerate(zip(unquoted.to_list(), wanted("malformed")))
        if bad is False and row % 7 > 2
    ]
    assert query.sort("row").collect(**options).rows() == clean
    query = frame.lazy().with_columns(pct.unquote("url")).filter(pl.col("url").str.contains("/", literal=True))
    assert_frame_equal(query.sort("row").collect(**options), whole.filter(pl.col("url").str.contains("/", literal=True)))
    # Group by a result, group results, and use a window.
    counts = frame.lazy().group_by(pct.unquote("url")).len().sort("url").collect(**options)
    assert_frame_equal(counts, whole.group_by("url").len().sort("url"))
    query = frame.lazy().group_by("key").agg(
        all=pct.unquote("url"), first=pct.unquote(pl.col("url").first()), last=pct.unquote("url").last(), bad=pct.malformed("url").sum()
    )
    groups = whole.with_columns(bad=pl.Series(wanted("malformed"))).group_by("key")
    groups = groups.agg(all=pl.col("url"), first=pl.col("url").first(), last=pl.col("url").last(), bad=pl.col("bad").sum())
    assert_frame_equal(query.sort("key").collect(**options), groups.sort("key"))
    over = frame.lazy().select(a=pct.unquote("url").over("key"), b=pct.quote(pl.col("url").first().over("key"))).collect(**options)
    assert over["a"].to_list() == unquoted.to_list()
    assert over["b"].to_list()[:7] == wanted("quote", ROWS[:7])
    # Nest expressions, and use several columns and literals.
    twice = frame.lazy().select(pct.unquote(pct.quote(pl.col("url") + "é%")), x=pct.quote(pl.lit("a b")), y=pct.quote(pl.lit(None)))
    twice = twice.collect(**options)
    assert twice["url"].to_list() == [None if row is None else row + "é%" for row in ROWS]
    assert set(twice["x"]) == {"a%20b"} and set(twice["y"]) == {None} and twice["y"].dtype == pl.String
    both = pl.LazyFrame({"a": ["%41"], "b": ["%42"]}).select(pct.unquote(pl.col("a", "b")).name.suffix("!")).collect(**options)
    assert both.rows(named=True) == [{"a!": "A", "b!": "B"}]
    joined = frame.lazy().select("row", k=pct.normalize("url")).join(frame.lazy().select(k=pct.normalize("url")).unique(), on="k")
    assert joined.collect(**options).height == len(ROWS) - ROWS.count(None)
    # Read and write files.
    frame.write_parquet(tmp_path / "in.parquet", row_group_size=1000)
    pl.scan_parquet(tmp_path / "in.parquet").select(pct.unquote("url")).sink_parquet(tmp_path / "out.parquet")
    assert_series_equal(pl.read_parquet(tmp_path / "out.parquet")["url"], unquoted)


@pytest.mark.parametrize("options", [{}, STREAMING], ids=["in memory", "streaming"])
@pytest.mark.parametrize("name", EXPRESSIONS)
def test_nothing_and_nulls(name, options):
    expression = EXPRESSIONS[name][0]
    dtype = pl.Boolean if name == "malformed" else pl.String
    for rows in ([], [None], [None] * 9, [""], ["", None] * 70_000):
        result = pl.LazyFrame({"url": pl.Series(rows, dtype=pl.String)}).select(expression("url")).collect(**options)["url"]
        assert_series_equal(result, pl.Series("url", wanted(name, rows), dtype))
        assert result.null_count() == rows.count(None)
    # A column of type Null only has nulls.
    for count in (0, 1, 9, 200_000):
        query = pl.LazyFrame({"url": pl.Series([None] * count, dtype=pl.Null)}).select(expression("url"))
        assert query.collect_schema()["url"] == dtype
        assert_series_equal(query.collect(**options)["url"], pl.Series("url", [None] * count, dtype))


def test_results_are_columns_of_polars_as_any():
    """Polars relies on all parts of views: prefixes, lengths, inline values, null counts."""
    frame = pl.DataFrame({"url": ROWS}).with_columns(ours=pct.unquote("url"), theirs=pl.Series(wanted("unquote, keep")))
    assert_series_equal(frame["ours"], frame["theirs"], check_names=False)
    assert frame["ours"].null_count() == ROWS.count(None)
    assert frame["ours"].sort().to_list() == frame["theirs"].sort().to_list()
    assert frame["ours"].hash(1).to_list() == frame["theirs"].hash(1).to_list()
    assert frame.join(frame, left_on="ours", right_on="theirs", how="anti").height == ROWS.count(None)
    assert frame["ours"].str.len_bytes().to_list() == frame["theirs"].str.len_bytes().to_list()
    assert frame["ours"].cast(pl.Categorical).cast(pl.String).to_list() == frame["theirs"].to_list()
    # Each input frame is freed before its result is read, and the memory of the frame is used again.
    results = [pl.DataFrame({"a": [f"a {i}"] * 3000}).select(pct.quote("a"))["a"] for i in range(50)]
    for i, result in enumerate(results):
        assert result.to_list() == [f"a%20{i}"] * 3000


def test_strict():
    frame = pl.DataFrame({"path": ["/a%20b", None, "/%FF", "100%"], "x": [1, 2, 3, 4]})
    for rows, why in [
        (frame, r'not UTF-8.*in "/%FF" of column "path"'),
        (frame.filter(pl.col("x") != 3), r'malformed escape at offset 3.*in "100%" of column "path"'),
    ]:
        for expression in (pct.unquote("path", errors="strict"), pct.unquote_plus("path", errors="strict")):
            for options in ({}, STREAMING):
                with pytest.raises(pl.exceptions.ComputeError, match=why):
                    rows.lazy().select(expression).collect(**options)
    with pytest.raises(pl.exceptions.ComputeError, match="malformed escape at offset 3"):
        frame.select(pct.normalize("path", errors="strict"))
    with pytest.raises(pl.exceptions.ComputeError, match='port.*in "http://a:99999/" of column "url"'):
        pl.select(pct.canonicalize(pl.Series("url", ["http://a:99999/"]), "rfc3986-scheme", errors="strict"))
    # If several threads find bad rows, the message names the first bad row. It cuts long values, and a NUL does not end it.
    rows = ["a"] * 300_000
    rows[150_001], rows[299_999] = "\0é%zz" + "b" * 5000, "%"
    with pytest.raises(pl.exceptions.ComputeError) as raised:
        pl.DataFrame({"path": rows}).select(pct.unquote("path", errors="strict"))
    message = str(raised.value)
    assert "\\0é%zzbbb" in message and len(message) < 500
    # Queries work after an error.
    assert frame.select(pct.unquote("path", errors="null"))["path"].to_list() == ["/a b", None, None, None]


def test_arguments():
    four, three = "'keep', 'replace', 'null' or 'strict'", "'keep', 'null' or 'strict'"
    for name, errors, choices in [("unquote", "ignore", four), ("unquote_plus", "", four), ("normalize", "raise", four), ("canonicalize", "replace", three)]:
        with pytest.raises(ValueError, match=f"^{name}: errors must be {choices}, not "):
            getattr(pct, name)("a", errors=errors)
    with pytest.raises(ValueError, match="^canonicalize: there is no profile 'nope'; profiles are escapes,"):
        pct.canonicalize("a", "nope")
    for safe in (5, None):
        with pytest.raises(TypeError):
            pct.quote("a", safe=safe)
    with pytest.raises(TypeError, match="must be a str, bytes or a column, not None"):
        pct.url("a", "param", None)
    with pytest.raises(pl.exceptions.ColumnNotFoundError):
        pl.DataFrame({"a": ["b"]}).select(pct.quote("c"))


@pytest.mark.parametrize(
    "series",
    [
        pl.Series("n", [1]),
        pl.Series("n", [1.5]),
        pl.Series("n", [True]),
        pl.Series("n", [["a"]]),
        pl.Series("n", [{"a": "b"}]),
        pl.Series("n", [{"a": "b", "c": "d"}]),
        pl.Series("n", ["a"], dtype=pl.Categorical),
        pl.Series("n", ["a"], dtype=pl.Enum(["a"])),
    ],
    ids=lambda series: str(series.dtype),
)
def test_other_types_are_rejected_while_the_query_is_planned(series):
    lazy = pl.LazyFrame([series])
    why = r'column "n" is not of String or Binary; cast it: pl.col\("n"\).cast\(pl.String\)'
    for expression, _ in EXPRESSIONS.values():
        with pytest.raises(pl.exceptions.ComputeError, match=why):
            lazy.select(expression("n")).collect_schema()
    with pytest.raises(pl.exceptions.ComputeError, match=why):
        lazy.select(pct.quote("n")).collect()
    if not series.dtype.is_nested():
        # After the cast that the message advises, the query works.
        assert lazy.select(pct.quote(pl.col("n").cast(pl.String))).collect().height == 1


def test_threads():
    frame = pl.DataFrame({"url": ROWS})
    expected = [wanted("unquote, keep"), wanted("quote")]
    wrong = []

    def work(number):
        for turn in range(5):
            for name, error in [("100%", "offset 3"), ("%zz", "offset 0")][:: 1 if number % 2 else -1]:
                try:
                    pl.DataFrame({"a": [name]}).select(pct.unquote("a", errors="strict"))
                    wrong.append(name)
                except pl.exceptions.ComputeError as raised:
                    # The message is about the query of this thread, and not of another one.
                    if error not in str(raised) or name not in str(raised):
                        wrong.append(str(raised))
            a, b = frame.lazy().select(pct.unquote("url").alias("a"), pct.quote("url").alias("b")).collect(
                **(STREAMING if turn % 2 else {})
            )
            if a.to_list() != expected[0] or b.to_list() != expected[1]:
                wrong.append(turn)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def anonymous_memory():
    for line in pathlib.Path("/proc/self/status").read_text().splitlines():
        if line.startswith("RssAnon:"):
            return int(line.split()[1]) * 1024
    raise AssertionError("no RssAnon")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory is read from /proc")
def test_nothing_leaks():
    # There are so many chunks that even a leak of 100 bytes for each would be noticed.
    chunks = pl.concat([pl.DataFrame({"a": ["a b/é%zz" * 5] * 5})] * 5000, rechunk=False)
    assert chunks.n_chunks() == 5000
    strict = chunks.lazy().select(pct.unquote("a", errors="strict"))

    def run(times):
        for _ in range(times):
            chunks.select(pct.quote("a"), b=pct.malformed("a"))
            with pytest.raises(pl.exceptions.ComputeError):
                strict.collect()
            with pytest.raises(pl.exceptions.ComputeError):
                chunks.lazy().select(pct.quote(pl.col("a").str.len_bytes())).collect_schema()

    run(3)
    before = anonymous_memory()
    run(15)
    # The structs of the input chunks take 50 MB in all, and those of the results take as much.
    assert anonymous_memory() - before < 15 << 20


def test_plans_can_be_sent():
    lazy = pl.LazyFrame({"url": ["a b", None]}).select(pct.quote("url", safe=" "), x=pct.unquote("url"), y=pct.quote("url"))
    again = pickle.loads(pickle.dumps(lazy))
    assert again.collect().rows() == lazy.collect().rows() == [("a b", "a b", "a%20b"), (None, None, None)]
    # Run the plan in another process, which has not imported this module.
    code = "import pickle, sys; print(pickle.loads(sys.stdin.buffer.read()).collect().rows())"
    other = subprocess.run([sys.executable, "-c", code], input=pickle.dumps(lazy), capture_output=True, check=True)
    assert other.stdout.decode().strip() == "[('a b', 'a b', 'a%20b'), (None, None, None)]"
    # Expressions are equal if their options are equal.
    assert pct.quote("a").meta.eq(pct.quote("a", "/")) and not pct.quote("a").meta.eq(pct.quote("a", ""))


def test_a_version_that_is_too_old():
    code = "import polars; polars.__version__ = '0.20.31'; import simdpct.polars"
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert other.returncode == 1
    assert "ImportError: simdpct.polars needs Polars 1.0 or later, not 0.20.31" in other.stderr


def test_the_border():
    """Calls that Polars does not make give an error with a message, and a panic does not reach the caller."""
    library = ctypes.CDLL(LIBRARY)
    # This is version 0.1 of the interface. Polars rejects a plugin of another version.
    assert library._polars_plugin_get_version() == 0x0001
    message = library._polars_plugin_get_last_error_message
    message.restype = ctypes.c_char_p
    good = pickle.dumps({"options": simdpct._simdpct.options("quote", "encode", safe="/")}, protocol=5)

    def call(count, options):
        out = (ctypes.c_uint64 * 5)()
        library._polars_plugin_encode(None, ctypes.c_size_t(count), options, ctypes.c_size_t(len(options)), out, None)
        assert list(out) == [0] * 5
        return message().decode()

    def field(count, options):
        out = (ctypes.c_uint64 * 9)()
        library._polars_plugin_field_encode(None, ctypes.c_size_t(count), out, options, ctypes.c_size_t(len(options)))
        assert list(out) == [0] * 9
        return message().decode()

    for function in (call, field):
        assert function(0, good) == "one column is needed"
        for options in (b"", b"\x80", good[:-6], good.replace(b":2 ", b":1 "), good.replace(b"safe", b"save"), good.replace(b"safe=0", b"safe=g")):
            assert "options are not such as this version" in function(0, options)
        # The plugin also finds the options if they are serialized as JSON.
        assert function(0, b'{"options":"simdpct:2 safe=0 ;"}') == "one column is needed"
    # No list can have so many columns, so this panics.
    assert call(2**62, good) == "a bug in simdpct: its code panicked"
    # Each thread has its own message, and a new thread has none.
    seen = []
    thread = threading.Thread(target=lambda: seen.append(message()))
    thread.start()
    thread.join()
    assert seen == [b""] and message() == b"a bug in simdpct: its code panicked"
    # After these errors, calls still work.
    assert "options" in call(0, b"") and pl.select(pct.quote(pl.Series(["a b"]))).item() == "a%20b"


def exported(path):
    """Return the names of the dynamic symbols that a shared library defines (ELF, 64 bits, little-endian)."""
    data = pathlib.Path(path).read_bytes()
    assert data[:6] == b"\x7fELF\x02\x01"
    start, = struct.unpack_from("<Q", data, 0x28)
    size, count = struct.unpack_from("<HH", data, 0x3A)
    sections = [struct.unpack_from("<IIQQQQIIQQ", data, start + index * size) for index in range(count)]
    table = next(section for section in sections if section[1] == 11)
    strings = sections[table[6]]
    names = []
    for at in range(table[4], table[4] + table[5], 24):
        name, _, _, section = struct.unpack_from("<IBBH", data, at)
        if section:
            name += strings[4]
            names.append(data[name : data.index(b"\0", name)].decode())
    return names


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads ELF")
def test_nothing_else_is_exported():
    methods = [name for name in vars(pct.Pct) if name[0] != "_"]
    plugin = ["get_version", "get_last_error_message"] + [prefix + name for name in methods for prefix in ("", "field_")]
    assert sorted(exported(LIBRARY)) == sorted(["PyInit__simdpct"] + ["_polars_plugin_" + name for name in plugin])


@pytest.mark.skipif(VERSION < (1, 23), reason="the examples name the streaming engine as it is called today")
def test_examples():
    result = doctest.testmod(pct, extraglobs={"pl": pl, "pct": pct})
    assert result.attempted >= 30 and result.failed == 0
    assert all(">>>" in getattr(pct, name).__doc__ for name in pct.__all__ if name != "Pct")
    assert all(method.__doc__ for name, method in vars(pct.Pct).items() if name[0] != "_")


def test_types_are_declared():
    for name in pct.__all__[1:]:
        hints = typing.get_type_hints(getattr(pct, name))
        assert hints["return"] is pl.Expr and hints["column"] == typing.Union[str, pl.Expr, pl.Series]
    for name, method in vars(pct.Pct).items():
        assert name[0] == "_" or typing.get_type_hints(method)["return"] is pl.Expr
