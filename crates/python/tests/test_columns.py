"""Tests columns of every type, layout and producer against one call for each value."""

import ctypes
import gc
import os
import pathlib
import random
import re
import runpy
import sys
import threading
import urllib.parse

import pytest

import simdpct

pyarrow = pytest.importorskip("pyarrow")

TEXT = [pyarrow.string(), pyarrow.large_string(), pyarrow.string_view()]
BINARY = [pyarrow.binary(), pyarrow.large_binary(), pyarrow.binary_view()]
PIECES = ["%41", "%zz", "%", "%4", "%e9", "%C3%A9", "%c3", "+", "%2B", "%25", "é", "日", "a", "/", "&", " ", "https://example.org/"]


def values(rng, count, nulls=0.2):
    lengths = (0, 1, 2, 3, 6, 12, 40)
    return [
        None if rng.random() < nulls else "".join(rng.choices(PIECES, k=rng.choice(lengths)))
        for _ in range(count)
    ]


def malformed(value, text=True):
    try:
        simdpct.validate(value)
        if text:
            simdpct.unquote(value, errors="strict")
    except ValueError:
        return True
    return False


def each(function):
    return lambda value: None if value is None else function(value)


def keep(value):
    """Decode the valid UTF-8 in a value, and keep the other escapes."""
    data, out, at = urllib.parse.unquote_to_bytes(value), [], 0
    places, position = [], 0
    source = value.encode()
    while position < len(source):
        escape = source[position : position + 3]
        size = 3 if len(escape) == 3 and simdpct.unquote_to_bytes(escape) != escape else 1
        places.append(source[position : position + size])
        position += size
    assert len(places) == len(data)
    while at < len(data):
        for size in (1, 2, 3, 4):
            try:
                out.append(data[at : at + size].decode())
                at += size
                break
            except UnicodeDecodeError:
                continue
        else:
            out.append(places[at].decode("utf-8", "replace"))
            at += 1
    return "".join(out)


VERBS = [
    (lambda column, **kw: simdpct.quote_array(column, **kw), simdpct.quote),
    (lambda column, **kw: simdpct.quote_array(column, "", **kw), lambda value: simdpct.quote(value, "")),
    (lambda column, **kw: simdpct.quote_array(column, "+é", plus=True, **kw), lambda value: simdpct.quote_plus(value, "+é")),
    (lambda column, **kw: simdpct.unquote_array(column, errors="replace", **kw), simdpct.unquote),
    (lambda column, **kw: simdpct.unquote_array(column, plus=True, errors="replace", **kw), simdpct.unquote_plus),
    (lambda column, **kw: simdpct.unquote_array(column, **kw), keep),
    (
        lambda column, **kw: simdpct.unquote_array(column, errors="null", **kw),
        lambda value: None if malformed(value) else simdpct.unquote(value),
    ),
    (lambda column, **kw: simdpct.normalize_array(column, **kw), simdpct.normalize),
    (
        lambda column, **kw: simdpct.normalize_array(column, errors="null", **kw),
        lambda value: None if malformed(value, text=False) else simdpct.normalize(value),
    ),
]


def check(result, class_, wanted):
    """Check the values of a result as one array and as chunks, and that both are valid Arrow data."""
    array = pyarrow.array(result)
    array.validate(full=True)
    assert array.type == class_
    assert array.to_pylist() == wanted
    assert (len(result), result.null_count) == (len(wanted), wanted.count(None))
    assert result.to_pylist() == wanted
    chunks = pyarrow.chunked_array(result)
    chunks.validate(full=True)
    assert chunks.type == class_ and chunks.to_pylist() == wanted


@pytest.mark.parametrize("class_", TEXT, ids=str)
@pytest.mark.parametrize("verb", range(len(VERBS)))
def test_text(class_, verb):
    rng = random.Random(verb)
    verb, one = VERBS[verb]
    for count in (0, 1, 2, 7, 8, 9, 64, 1000):
        rows = values(rng, count, rng.choice((0, 0.2, 1)))
        array = pyarrow.array(rows, class_)
        wanted = [each(one)(row) for row in rows]
        check(verb(array), class_, wanted)
        # The offsets and validity of a slice start inside their buffers.
        for start, end in [(1, count), (3, count - 2), (8, count), (9, 9)]:
            if start <= end:
                check(verb(array[start:end]), class_, wanted[start:end])
        # Some chunks are empty.
        chunked = pyarrow.chunked_array([array[: count // 3], array[:0], array[count // 3 :]], class_)
        check(verb(chunked), class_, wanted)


@pytest.mark.parametrize("class_", BINARY, ids=str)
def test_binary(class_):
    rng = random.Random(5)
    rows = [None if rng.random() < 0.1 else rng.randbytes(rng.choice((0, 1, 12, 13, 50))) + b"%ff%zz" for _ in range(500)]
    array = pyarrow.array(rows, class_)[3:]
    rows = rows[3:]
    quoted = [each(lambda value: simdpct.quote(value, "").encode())(row) for row in rows]
    check(simdpct.quote_array(array, ""), class_, quoted)
    check(simdpct.unquote_array(array), class_, [each(simdpct.unquote_to_bytes)(row) for row in rows])
    check(simdpct.unquote_array(pyarrow.array(quoted, class_), errors="strict"), class_, rows)
    # In binary, invalid UTF-8 is not malformed, but each value ends in a malformed escape.
    check(simdpct.malformed_array(array), pyarrow.bool_(), [each(lambda value: True)(row) for row in rows])


@pytest.mark.parametrize("class_", TEXT + BINARY, ids=str)
def test_malformed(class_):
    rng = random.Random(6)
    text = class_ in TEXT
    for count in (0, 1, 8, 9, 700):
        rows = values(rng, count)
        cells = rows if text else [each(str.encode)(row) for row in rows]
        array = pyarrow.array(cells, class_)
        wanted = [each(lambda value: malformed(value, text))(row) for row in rows]
        check(simdpct.malformed_array(array), pyarrow.bool_(), wanted)
        if count > 5:
            check(simdpct.malformed_array(array[5:]), pyarrow.bool_(), wanted[5:])


def test_strict_names_the_first_row():
    rows = ["a"] * 200_000
    rows[199_999] = "%zz"
    rows[70_001] = "é%FF"
    rows[150_000] = "%"
    for array in (pyarrow.array(rows), pyarrow.chunked_array([rows[:70_000], rows[70_000:]]), pyarrow.array(rows, TEXT[2])):
        for threads in (1, 2, 7):
            with pytest.raises(ValueError, match=r"^row 70001: .*not UTF-8"):
                simdpct.unquote_array(array, errors="strict", threads=threads)
            with pytest.raises(ValueError, match=r"^row 150000: malformed escape at offset 0"):
                simdpct.normalize_array(array, errors="strict", threads=threads)
    # The bytes under a null do not matter.
    array = pyarrow.Array.from_buffers(
        pyarrow.string(), 2, [pyarrow.py_buffer(b"\x02"), pyarrow.py_buffer(b"\0\0\0\0\3\0\0\0\4\0\0\0"), pyarrow.py_buffer(b"%FFa")]
    )
    assert pyarrow.array(simdpct.unquote_array(array, errors="strict")).to_pylist() == [None, "a"]
    check(simdpct.unquote_array(array), pyarrow.string(), [None, "a"])
    check(simdpct.malformed_array(array), pyarrow.bool_(), [None, False])


@pytest.mark.parametrize("class_", TEXT, ids=str)
def test_many_rows_on_many_threads(class_):
    rng = random.Random(7)
    some = values(rng, 3001)
    rows = some * 70
    array = pyarrow.array(rows, class_)
    for verb, one in VERBS[:1] + VERBS[5:7]:
        wanted = [each(one)(row) for row in some] * 70
        for threads in (1, 3, None):
            result = verb(array, threads=threads)
            check(result, class_, wanted)
            # Each export of the result as one array gives equal arrays.
            assert pyarrow.array(result).equals(pyarrow.array(result))


@pytest.mark.parametrize("class_", TEXT, ids=str)
def test_canonicalize(class_):
    rows = ["HTTP://Example.com:80/%7Ejoe", None, "http://a:99999/", "http://example.com/é", "a b"]
    array = pyarrow.array(rows, class_)
    wanted = ["http://example.com/~joe", None, None, "http://example.com/é", "a b"]
    check(simdpct.canonicalize_array(array, "rfc3986-scheme", errors="null"), class_, wanted)
    wanted[2] = rows[2]
    check(simdpct.canonicalize_array(array), class_, wanted)
    with pytest.raises(ValueError, match="row 2: the port"):
        simdpct.canonicalize_array(array, "rfc3986-scheme", errors="strict")
    with pytest.raises(ValueError, match="^canonicalize_array: errors must be 'keep', 'null' or 'strict', not \"replace\""):
        simdpct.canonicalize_array(array, "rfc3986", errors="replace")
    for profile in simdpct.PROFILES:
        ours = pyarrow.array(simdpct.canonicalize_array(array[:1], profile)).to_pylist()
        assert ours == [simdpct.canonicalize(rows[0], profile)]


def test_objects_that_are_not_columns():
    table = pyarrow.table({"a": ["b"], "c": ["d"]})
    dictionary = pyarrow.array(["a"]).dictionary_encode()
    for thing, why in [
        (5, "expected an object with __arrow_c_array__ or __arrow_c_stream__.*, not int"),
        (["a"], ", not list"),
        (pyarrow.array([1]), 'not one of Arrow format "l"'),
        (pyarrow.chunked_array([[1.5]]), 'not one of Arrow format "g"'),
        (table, "a table with 2 columns"),
        (dictionary, "dictionary-encoded"),
    ]:
        with pytest.raises(TypeError, match=why):
            simdpct.quote_array(thing)
    for safe in (None, 5, bytearray(b"/")):
        with pytest.raises(TypeError, match="str or bytes, not "):
            simdpct.quote_array(pyarrow.array(["a/b"]), safe)
    with pytest.raises(ValueError, match="^unquote_array: errors must be 'keep', 'replace', 'null' or 'strict', not \"ignore\""):
        simdpct.unquote_array(pyarrow.array(["a"]), errors="ignore")
    for threads in (0, -1):
        with pytest.raises(ValueError, match="^quote_array: threads must be a positive number"):
            simdpct.quote_array(pyarrow.array(["a"]), threads=threads)
    # A table with one column counts as a column, and so does a slice of such a table.
    check(simdpct.quote_array(table.select(["a"])), pyarrow.string(), ["b"])
    batch = pyarrow.record_batch({"a": ["a b", None, "c d", "e"]})[1:3]
    check(simdpct.quote_array(batch), pyarrow.string(), [None, "c%20d"])


def numbers(*values):
    return b"".join(value.to_bytes(4, "little", signed=True) for value in values)


def test_columns_that_are_not_valid():
    string, views, data = pyarrow.string(), pyarrow.string_view(), pyarrow.py_buffer(b"a" * 20)
    for class_, length, what in [
        (string, 2, numbers(0, 3, 1)),
        (string, 1, numbers(-1, 1)),
        (string, 1, numbers(2, 1)),
        (views, 1, numbers(21, 0, 0, 0)),
        (views, 1, numbers(20, 0, 1, 0)),
        (views, 1, numbers(20, 0, -1, 0)),
        (views, 1, numbers(20, 0, 0, -5)),
        (views, 1, numbers(20, 0, 0, 1)),
        (views, 1, numbers(-1, 0, 0, 0)),
    ]:
        # pyarrow checks the array that it makes, so the test makes the memory invalid after this check.
        memory = bytearray(len(what))
        array = pyarrow.Array.from_buffers(class_, length, [None, pyarrow.py_buffer(memory), data])
        memory[:] = what
        for function in (simdpct.quote_array, simdpct.unquote_array, simdpct.malformed_array):
            with pytest.raises(ValueError, match="not valid as an Arrow column"):
                function(array)
    # The view of a null does not matter.
    memory = bytearray(16)
    array = pyarrow.Array.from_buffers(views, 1, [pyarrow.py_buffer(b"\0"), pyarrow.py_buffer(memory), data])
    memory[:] = numbers(20, 0, 7, 0)
    check(simdpct.quote_array(array), views, [None])


def test_structs_that_are_not_valid():
    """Change a number or a pointer of the C struct in a capsule: the column is rejected before a buffer is read."""
    get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
    get_pointer.argtypes, get_pointer.restype = [ctypes.py_object, ctypes.c_char_p], ctypes.c_void_p
    length, offset, buffer_count, child_count, buffers, release = 0, 2, 3, 4, 5, 8

    class Changed:
        def __init__(self, array, field, value, index=None):
            self.pair = array.__arrow_c_array__()
            fields = (ctypes.c_int64 * 10).from_address(get_pointer(self.pair[1], b"arrow_array"))
            if index is not None:
                # The change concerns one pointer in the list of buffers, and not a field of the struct.
                fields = (ctypes.c_int64 * fields[buffer_count]).from_address(fields[buffers])
                field, value = index, value and fields[index] + value
            if field == "lengths":
                pointers = (ctypes.c_int64 * fields[buffer_count]).from_address(fields[buffers])
                field, fields = 0, (ctypes.c_int64 * 1).from_address(pointers[fields[buffer_count] - 1])
            fields[field] = value

        def __arrow_c_array__(self, requested_schema=None):
            return self.pair

    changes = [(length, -1), (length, 2**62), (offset, -1), (offset, 2**62), (buffer_count, -1), (buffer_count, 1), (buffers, 0)]
    changes += [(release, 0), (buffers, 0, 1), (buffers, 1, 1), (buffers, 0, 2)]
    for class_ in TEXT + BINARY:
        values = ["a", "b" * 20, None] if class_ in TEXT else [b"a", b"b" * 20, None]
        has_views = class_ in (TEXT[2], BINARY[2])
        for change in changes + has_views * [("lengths", -1), ("lengths", 19), (buffers, 0, 3), (buffers, 4, 3), (buffer_count, 2)]:
            with pytest.raises(ValueError, match="not valid as an Arrow column"):
                simdpct.quote_array(Changed(pyarrow.array(values, class_), *change))
        check(simdpct.quote_array(Changed(pyarrow.array(values, class_), length, 2)), class_, values[:2])
    for change in [(child_count, 0), (length, 3), (offset, 1), (offset, 2**63 - 1)]:
        with pytest.raises(ValueError, match="not valid as an Arrow column"):
            simdpct.quote_array(Changed(pyarrow.record_batch({"a": ["a", None]}), *change))
    # The only child of a table is released, and not the table itself.
    for index, name, children, release in [(0, b"arrow_schema", 5, 7), (1, b"arrow_array", 6, 8)]:
        batch = Changed(pyarrow.record_batch({"a": ["a", None]}), length, 2)
        pointers = (ctypes.c_int64 * 10).from_address(get_pointer(batch.pair[index], name))[children]
        (ctypes.c_int64 * 10).from_address(ctypes.c_int64.from_address(pointers).value)[release] = 0
        with pytest.raises(ValueError, match="not valid as an Arrow column: an? (type|array) that was used before"):
            simdpct.quote_array(batch)


def test_capsules_are_used_once():
    class Once:
        def __init__(self, array):
            self.pair = array.__arrow_c_array__()

        def __arrow_c_array__(self, requested_schema=None):
            return self.pair

    once = Once(pyarrow.array(["a b"]))
    check(simdpct.quote_array(once), pyarrow.string(), ["a%20b"])
    with pytest.raises(ValueError, match="not valid as an Arrow column"):
        simdpct.quote_array(once)

    # pyarrow takes over a struct by its `release` only: the other fields stay, and what they point to is freed.
    once = Once(pyarrow.array(["a b"]))
    pyarrow.DataType._import_from_c_capsule(once.pair[0])
    with pytest.raises(ValueError, match="not valid as an Arrow column: a type that was used before"):
        simdpct.quote_array(once)

    class Stream:
        def __init__(self, column):
            self.capsule = column.__arrow_c_stream__()

        def __arrow_c_stream__(self, requested_schema=None):
            return self.capsule

    for column in (pyarrow.chunked_array([["a b"]]), simdpct.quote_array(pyarrow.array(["a b"]))):
        for take in (pyarrow.chunked_array, simdpct.quote_array):
            once = Stream(column)
            assert len(take(once)) == 1
            with pytest.raises(ValueError, match="not valid as an Arrow column: a stream that was used before"):
                simdpct.quote_array(once)

    class Wrong:
        def __arrow_c_stream__(self, requested_schema=None):
            return pyarrow.array(["a"]).__arrow_c_array__()[0]

    with pytest.raises(ValueError):
        simdpct.quote_array(Wrong())
    # A capsule that no consumer takes over frees its contents.
    result = simdpct.quote_array(pyarrow.array(["a b"] * 1000))
    for _ in range(1000):
        result.__arrow_c_schema__(), result.__arrow_c_array__(), result.__arrow_c_stream__(None)
    check(result, pyarrow.string(), ["a%20b"] * 1000)


def test_capsules_that_others_change():
    api = ctypes.pythonapi
    api.PyCapsule_SetName.argtypes = [ctypes.py_object, ctypes.c_char_p]
    api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    api.PyCapsule_GetPointer.restype = ctypes.c_void_p
    # A capsule with another name is freed, although its contents cannot be found.
    name, result = b"other", simdpct.quote_array(pyarrow.array(["a b"]))
    capsule = result.__arrow_c_schema__()
    api.PyCapsule_SetName(capsule, name)
    del capsule
    check(result, pyarrow.string(), ["a%20b"])

    class Changed:
        def __arrow_c_array__(self, requested_schema=None):
            schema, array = pyarrow.array(["a b"]).__arrow_c_array__()
            # The numbers are length, null count, offset and the number of buffers.
            numbers = (ctypes.c_int64 * 4).from_address(api.PyCapsule_GetPointer(array, b"arrow_array"))
            assert list(numbers) == [1, 0, 0, 3]
            numbers[3] = self.buffers
            return schema, array

    for buffers in (-1, 0, 2):
        changed = Changed()
        changed.buffers = buffers
        with pytest.raises(ValueError, match="a buffer is missing"):
            simdpct.quote_array(changed)


def test_a_stream_that_fails():
    def batches():
        yield pyarrow.record_batch({"a": ["b"]})
        raise RuntimeError("no more of it")

    reader = pyarrow.RecordBatchReader.from_batches(pyarrow.schema({"a": pyarrow.string()}), batches())
    with pytest.raises(ValueError, match="no more of it"):
        simdpct.quote_array(reader)


def test_results_outlive_their_inputs():
    arrays = [pyarrow.array(simdpct.quote_array(pyarrow.array([f"a {i}"] * 3000))) for i in range(50)]
    for i, array in enumerate(arrays):
        assert array.to_pylist() == [f"a%20{i}"] * 3000
    streams = [pyarrow.chunked_array(simdpct.quote_array(pyarrow.array([f"b {i}"] * 70_000, TEXT[i % 3]))) for i in range(6)]
    for i, stream in enumerate(streams):
        assert stream.to_pylist() == [f"b%20{i}"] * 70_000


def test_threads_of_python():
    array = pyarrow.array(["a b%41"] * 100_000)
    wrong = []

    def work():
        for _ in range(5):
            if pyarrow.chunked_array(simdpct.quote_array(array)).to_pylist()[::1000] != ["a%20b%2541"] * 100:
                wrong.append(1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_the_gil_is_free_during_the_work():
    array = pyarrow.array(["%" * 100] * 100_000)
    go, seen = threading.Lock(), []
    go.acquire()

    def look():
        with go:
            seen.append(1)

    thread = threading.Thread(target=look)
    thread.start()
    interval = sys.getswitchinterval()
    # From here on, a thread keeps the GIL until it releases it. This thread releases the GIL only in quote_array.
    sys.setswitchinterval(1000)
    try:
        go.release()
        for _ in range(1000):
            simdpct.quote_array(array, threads=1)
            if seen:
                break
        assert seen
    finally:
        sys.setswitchinterval(interval)
        thread.join()


def test_polars():
    polars = pytest.importorskip("polars")
    series = polars.Series("url", ["a b", None, "x" * 20 + " é", ""])
    assert polars.Series(simdpct.quote_array(series)).to_list() == ["a%20b", None, "x" * 20 + "%20%C3%A9", ""]
    parts = polars.concat([series, series[1:3]], rechunk=False)
    assert polars.Series(simdpct.quote_array(parts)).to_list()[4:] == [None, "x" * 20 + "%20%C3%A9"]
    assert polars.Series(simdpct.malformed_array(polars.Series(["%", "%20", None]))).to_list() == [True, False, None]
    many = polars.Series(["/a b/é"] * 200_000)
    assert polars.Series(simdpct.unquote_array(simdpct.quote_array(many))).equals(many)


def test_pandas():
    pandas = pytest.importorskip("pandas")
    series = pandas.Series(["a b", None, "é"])
    result = pandas.Series.from_arrow(simdpct.quote_array(series))
    assert result.isna().tolist() == [False, True, False] and result[0] == "a%20b" and result[2] == "%C3%A9"
    # A column of results can be assigned.
    frame = pandas.DataFrame({"c": ["a%20b", None, "%C3%A9"]}, index=[5, 6, 7])
    frame["d"] = simdpct.unquote_array(frame["c"])
    frame["e"] = simdpct.malformed_array(frame["c"])
    frame["f"] = simdpct.url_array(frame["c"], "segments")
    frame = frame.assign(g=simdpct.quote_array(frame["d"]))
    assert frame["d"].dtype == frame["c"].dtype and frame["d"].isna().tolist() == [False, True, False]
    assert frame["d"][5] == "a b" and frame["d"][7] == "é" and frame["e"].tolist() == [False, None, False]
    assert frame["f"].tolist() == [["a b"], None, ["é"]] and frame["g"].equals(frame["c"])
    assert pandas.Series(simdpct.unquote_array(frame["c"]), index=frame.index).equals(frame["d"])
    with pytest.raises(ValueError, match="Length of values"):
        frame["d"] = simdpct.unquote_array(frame["c"][:2])


def test_duckdb():
    duckdb = pytest.importorskip("duckdb")
    relation = duckdb.sql("select 'a b' || i as url from range(5000) t(i)")
    result = pyarrow.chunked_array(simdpct.quote_array(relation))
    assert sorted(result.to_pylist()) == sorted(f"a%20b{i}" for i in range(5000))
    urls = pyarrow.table({"url": result})
    assert duckdb.sql("select count(*) from urls where starts_with(url, 'a%20b')").fetchall() == [(5000,)]
    assert urls.num_rows == 5000


def test_datafusion():
    """Runs the functions of examples/datafusion_udfs.py in queries."""
    datafusion = pytest.importorskip("datafusion")
    example = pathlib.Path(__file__).parent.parent / "examples" / "datafusion_udfs.py"
    functions = runpy.run_path(str(example))
    given = values(random.Random(9), 30_000)
    for of in TEXT:
        ctx = datafusion.SessionContext()
        functions["register"](ctx)
        batches = pyarrow.table({"i": list(range(len(given))), "v": pyarrow.array(given, of)}).to_batches(max_chunksize=7000)
        ctx.register_record_batches("t", [batches])

        def column(sql):
            parts = ctx.sql(f"SELECT {sql} AS r FROM t ORDER BY i").collect()
            return [value for part in parts for value in part.column(0).to_pylist()]

        quoted = [None if value is None else urllib.parse.quote(value, safe="") for value in given]
        assert column("pct_encode(v)") == quoted
        assert column("pct_decode(pct_encode(v))") == given
        wanted = [None if value is None or malformed(value) else urllib.parse.unquote(value) for value in given]
        assert column("try_pct_decode(v)") == wanted
        assert wanted.count(None) > given.count(None)
        assert column("pct_normalize(v)") == [None if value is None else simdpct.normalize(value) for value in given]
        forms = ctx.sql("SELECT try_url_canonical(v) AS u, count(*) AS n FROM t WHERE v LIKE 'https%' GROUP BY u")
        assert sum(sum(part.column(1).to_pylist()) for part in forms.collect()) == sum(
            value is not None and value.startswith("https") for value in given
        )


@pytest.mark.parametrize("class_", TEXT + BINARY, ids=str)
def test_results_are_sequences(class_):
    rows = ["a b", None, "", "é" * 20] * 20_000
    rows = rows if class_ in TEXT else [each(str.encode)(row) for row in rows]
    column = simdpct.unquote_array(pyarrow.array(rows, class_))
    assert list(column) == column.to_pylist() == rows and list(column) == rows
    assert [column[index] for index in (0, 1, 3, -1, -80_000, 79_999, 65_537)] == [rows[index] for index in (0, 1, 3, -1, 0, -1, 65_537)]
    assert rows[3] in column and "x" not in column
    numpy = pytest.importorskip("numpy")
    assert numpy.asarray(column, dtype=object).tolist() == rows
    for index in (80_000, -80_001, 2**62, -(2**63)):
        with pytest.raises(IndexError, match="outside a column of 80000 values"):
            column[index]
    with pytest.raises(TypeError):
        column["a"]
    flags = simdpct.malformed_array(pyarrow.array(rows, class_))
    assert flags[0] is False and flags[1] is None and flags[-1] is False


def test_results_are_columns_themselves():
    column = simdpct.quote_array(pyarrow.array(["é/%", None]))
    check(simdpct.unquote_array(column, errors="strict"), pyarrow.string(), ["é/%", None])
    assert repr(column) == "<simdpct.Column of 2 values, 1 null: ['%C3%A9/%25', None]>"
    column = simdpct.quote_array(pyarrow.array(["a" * 200] * 200_000))
    assert repr(column) == "<simdpct.Column of 200000 values, 0 null: [" + ("'" + "a" * 79 + "..., ") * 10 + "...]>"
    with pytest.raises(TypeError):
        simdpct.Column()


@pytest.mark.skipif("SIMDPCT_EXHAUSTIVE" not in os.environ, reason="takes 5 GB; SIMDPCT_EXHAUSTIVE=1 runs it")
def test_long_values():
    """The results of three rows are too long for offsets of 32 bits, so the column of results has several chunks."""
    row = "%" * (300 << 20)
    array = pyarrow.array([row] * 3)
    result = simdpct.quote_array(array, threads=1)
    del array
    chunks = pyarrow.chunked_array(result)
    assert chunks.num_chunks > 1
    assert [len(value.as_buffer()) for value in chunks] == [900 << 20] * 3
    with pytest.raises(OverflowError, match="stream of chunks"):
        result.__arrow_c_array__()


PARTS = ["scheme", "userinfo", "host", "port", "path", "query", "fragment"]


def parts(url):
    """Split a URL by the regular expression of RFC 3986, appendix B, and its authority by section 3.2."""
    pattern = r"(?:([A-Za-z][A-Za-z0-9+.-]*):)?(?://([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?"
    scheme, authority, path, query, fragment = re.fullmatch(pattern, url, re.DOTALL).groups()
    userinfo = host = port = None
    if authority is not None:
        *before, place = authority.rsplit("@", 1)
        userinfo = before[0] if before else None
        end = (place.find("]") if "]" in place else len(place)) if place.startswith("[") else 0
        host, colon, port = place[end:].partition(":")
        host, port = place[:end] + host, port if colon else None
    return dict(zip(PARTS, [scheme, userinfo, host, port, path, query, fragment]))


def params(url):
    pairs = [pair.partition("=") for pair in (parts(url)["query"] or "").split("&") if pair]
    return [{"name": keep(name.replace("+", " ")), "value": keep(value.replace("+", " "))} for name, _, value in pairs]


URL_FUNCTIONS = [
    *[((name,), lambda url, name=name: parts(url)[name]) for name in PARTS],
    (("param", "q"), lambda url: next((pair["value"] for pair in params(url) if pair["name"] == "q"), None)),
    (("with_param", "a b", "&"), lambda url: re.sub(
        "#|$",
        lambda end: {None: "?", "": ""}.get(parts(url)["query"], "&") + "a%20b=%26" + end[0],
        url,
        count=1,
    )),
    (("without_params", "none"), lambda url: url),
    (("parts",), parts),
    (("segments",), lambda url: [keep(part) for part in parts(url)["path"].removeprefix("/").split("/") if parts(url)["path"]]),
    (("params",), params),
]


def nested(function, class_):
    """Return the type of the results of a function for a column of a type."""
    if function == "parts":
        return pyarrow.struct([(name, class_) for name in PARTS])
    if function == "params":
        return pyarrow.large_list(pyarrow.struct([("name", class_), ("value", class_)]))
    return pyarrow.large_list(class_) if function == "segments" else class_


@pytest.mark.parametrize("class_", TEXT, ids=str)
def test_urls(class_):
    rng = random.Random(8)
    pieces = PIECES + ["?", "#", "q=", "=", ":", "@", "[", "]", "//", "http:", "a-name-of-more-than-twelve-bytes"]
    for count in (0, 1, 9, 1500):
        rows = ["".join(rng.choices(pieces, k=rng.randrange(14))) if rng.random() < 0.8 else None for _ in range(count)]
        array = pyarrow.array(rows, class_)
        chunks = pyarrow.chunked_array([array[: count // 3], array[:0], array[count // 3 :]], class_)
        for arguments, model in URL_FUNCTIONS:
            wanted = [each(model)(row) for row in rows]
            check(simdpct.url_array(array, *arguments), nested(arguments[0], class_), wanted)
            check(simdpct.url_array(chunks, *arguments), nested(arguments[0], class_), wanted)
    # These functions have no model above, or have more rows here than one chunk of a result has.
    rows = ["../g", None] * 50_000
    base = pyarrow.array(["http://a/b/c/d;p?q", "/b"] * 50_000, class_)
    check(simdpct.url_array(base, "join", "../g"), class_, ["http://a/b/g", None] * 50_000)
    many = pyarrow.array(["/a/b?c=d", None, "x"] * 50_000, class_)
    check(simdpct.url_array(many, "segments"), nested("segments", class_), [["a", "b"], None, ["x"]] * 50_000)
    pair = [{"name": "c", "value": "d"}]
    check(simdpct.url_array(many, "params"), nested("params", class_), [pair, None, []] * 50_000)
    hosts = pyarrow.array(["http://www.a.co.uk/", "http://127.0.0.1/", None], class_)
    check(simdpct.url_array(hosts, "domain"), class_, ["a.co.uk", None, None])
    check(simdpct.url_array(hosts, "suffix"), class_, ["co.uk", None, None])
    # In binary, all escapes are decoded.
    binary = BINARY[TEXT.index(class_)]
    url = pyarrow.array([b"/%FF?q=%FF"], binary)
    check(simdpct.url_array(url, "segments"), nested("segments", binary), [[b"\xff"]])
    check(simdpct.url_array(url, "param", "q"), binary, [b"\xff"])


@pytest.mark.parametrize("class_", TEXT, ids=str)
def test_columns_of_arguments(class_):
    base = pyarrow.array(["http://a/b/c", "/x", None, "http://h/"] * 30_000, class_)
    reference = pyarrow.array(["../g", "g", "g", None] * 30_000, class_)
    chunks = pyarrow.chunked_array([reference[:7], reference[:0], reference[7:70_001], reference[70_001:]])
    for argument in (reference, chunks):
        check(simdpct.url_array(base, "join", argument), class_, ["http://a/g", None, None, None] * 30_000)
    # A column of one row has the value for all rows.
    one = pyarrow.array(["http://a/b/c"], class_)
    check(simdpct.url_array(one, "join", chunks), class_, ["http://a/g", "http://a/b/g", "http://a/b/g", None] * 30_000)
    check(simdpct.url_array(one, "join", one[:0]), class_, [])
    check(simdpct.url_array(pyarrow.array([None], class_), "join", chunks), class_, [None] * 120_000)
    check(simdpct.url_array(base, "join", pyarrow.array([None], class_)), class_, [None] * 120_000)
    names = pyarrow.array(["a", "b"])
    check(simdpct.url_array(one, "with_param", names, one), class_, [f"http://a/b/c?{name}=http://a/b/c" for name in "ab"])
    check(simdpct.url_array(one, "with_param", "n", names), class_, [f"http://a/b/c?n={name}" for name in "ab"])
    with pytest.raises(ValueError, match="reference has 3 rows, and the arguments before it 120000"):
        simdpct.url_array(base, "join", reference[:3])
    # If the URLs are text, so are the results: binary arguments are rejected.
    for binary in (b"\xff", pyarrow.array([b"\xff"])):
        with pytest.raises(ValueError, match="reference must be text"):
            simdpct.url_array(base, "join", binary)


def test_parts_of_views_are_views():
    urls = pyarrow.array(["http://a-long-host.example/" + "x" * 20, "//a", None, "http://b/?" + "q" * 13] * 40_000, pyarrow.string_view())
    for function, wanted in [
        ("host", ["a-long-host.example", "a", None, "b"]),
        ("path", ["/" + "x" * 20, "", None, "/"]),
        ("query", [None, None, None, "q" * 13]),
    ]:
        column = simdpct.url_array(urls, function)
        check(column, pyarrow.string_view(), wanted * 40_000)
        theirs = {buffer.address for buffer in urls.buffers()[2:]}
        for chunk in pyarrow.chunked_array(column).chunks:
            assert {buffer.address for buffer in chunk.buffers()[2:]} <= theirs
    # The result keeps the memory of the column.
    column = simdpct.url_array(pyarrow.array(["http://a-long-host.example/"] * 100_000, pyarrow.string_view()), "host")
    gc.collect()
    check(column, pyarrow.string_view(), ["a-long-host.example"] * 100_000)


def test_buffers_of_views_are_handed_over_once():
    """A column of 1000 joined ones has 1000 buffers. Each array of a result has them all, so the result is only one array."""
    urls = [f"http://a-long-host.example/{row}" for row in range(200_000)]
    parts = [pyarrow.array(urls[row : row + 200]).cast(pyarrow.string_view()) for row in range(0, len(urls), 200)]
    array = pyarrow.concat_arrays(parts)
    assert len(array.buffers()[2:]) == len(parts) == 1000
    changed = pyarrow.concat_arrays([array, pyarrow.array(["%41" * 9], array.type)])
    for result, most in [
        (simdpct.url_array(array, "host"), 1000),
        (simdpct.url_array(array, "without_params", "a"), 1000),
        (simdpct.unquote_array(array), 1000),
        (simdpct.unquote_array(changed), 1002),
        (simdpct.quote_array(array), 1),
    ]:
        chunks = pyarrow.chunked_array(result).chunks
        assert len(chunks) == 1 and len(chunks[0].buffers()[2:]) <= most


def test_urls_equal_urllib():
    """Check the parts that urllib defines in the same way, for absolute URLs in ASCII without control characters."""
    rng = random.Random(9)
    pieces = ["a", "b.c", "%41", "%20", "+", "=", "&", "/", "q=1", ";", ":", ".", "..", "~"]
    some = lambda most: "".join(rng.choices(pieces, k=rng.randrange(most)))
    rows = []
    for _ in range(20_000):
        end = rng.choice(["", "?" + some(8), "#" + some(3), "?" + some(5) + "#" + some(3)])
        rows.append(f"http://{rng.choice(['', 'u@', 'u:p@'])}h{rng.choice(['', ':80'])}/{some(7)}{end}")
    column = pyarrow.array(rows)
    for ours, theirs in [
        (("path",), lambda url: urllib.parse.urlsplit(url).path),
        # urllib gives an empty string for an empty query or fragment and for a missing one.
        (("query",), lambda url: urllib.parse.urlsplit(url).query or ("" if "?" in url.partition("#")[0] else None)),
        (("fragment",), lambda url: urllib.parse.urlsplit(url).fragment or ("" if "#" in url else None)),
        (("host",), lambda url: urllib.parse.urlsplit(url).hostname),
        (("port",), lambda url: each(str)(urllib.parse.urlsplit(url).port)),
        (("params",), lambda url: [
            {"name": name, "value": value}
            for name, value in urllib.parse.parse_qsl(urllib.parse.urlsplit(url).query, keep_blank_values=True)
        ]),
        (("join", "../x?y#z"), lambda url: urllib.parse.urljoin(url, "../x?y#z")),
    ]:
        got = pyarrow.array(simdpct.url_array(column, *ours)).to_pylist()
        for url, one in zip(rows, got):
            # urljoin removes empty segments, which RFC 3986, 5.2.4, keeps.
            assert one == theirs(url) or ours[0] == "join" and "//" in url[7:], (ours, url)


def test_functions_of_urls_that_do_not_exist():
    column = pyarrow.array(["a"])
    with pytest.raises(ValueError, match="^url_array: there is no function 'hots'; functions are scheme, authority, userinfo, user, password, host, domain, suffix, port"):
        simdpct.url_array(column, "hots")
    for arguments, needed in [(("param",), "url, name"), (("with_param", "a"), "url, name, value"), (("host", "a"), "url")]:
        with pytest.raises(ValueError, match=f'^url_array: "{arguments[0]}" takes {needed}, and got {len(arguments)} arguments'):
            simdpct.url_array(column, *arguments)
    for arguments in [("param", 5), ("param", ["q"]), ("without_params", 5), ("without_params", ["q", 5])]:
        with pytest.raises(TypeError):
            simdpct.url_array(column, *arguments)
    for arguments in [("param", None), ("with_param", column, None), ("join", None)]:
        with pytest.raises(TypeError, match="must be a str, bytes or a column, not None"):
            simdpct.url_array(column, *arguments)


def test_lists_of_names():
    column = pyarrow.array(["/?utm_a=1&q=2&gclid=3&a,b=4&a%2Cb=5&*=6"])
    for names, wanted in [
        (["utm_*", "gclid"], "/?q=2&a,b=4&a%2Cb=5&*=6"),
        (("q",), "/?utm_a=1&gclid=3&a,b=4&a%2Cb=5&*=6"),
        ([b"a,b"], "/?utm_a=1&q=2&gclid=3&*=6"),
        (["%2A", "", "q"], "/?utm_a=1&gclid=3&a,b=4&a%2Cb=5"),
        (" q , gclid", "/?utm_a=1&a,b=4&a%2Cb=5&*=6"),
        ([], "/?utm_a=1&q=2&gclid=3&a,b=4&a%2Cb=5&*=6"),
    ]:
        assert simdpct.url_array(column, "without_params", names).to_pylist() == [wanted]
    blanks = pyarrow.array(["/?+q=1&q%09=2&q=3"])
    assert simdpct.url_array(blanks, "without_params", [" q", "q\t"]).to_pylist() == ["/?q=3"]


DEFAULTS = [
    # A function of one value and `errors`; a value; and the results with `errors` 'keep' (the default), 'replace' and 'null'.
    (lambda *args, **kw: simdpct.unquote_array(pyarrow.array(args), **kw).to_pylist()[0], "%zz%41", ["%zzA", "%zzA", None]),
    (lambda *args, **kw: simdpct.unquote_array(pyarrow.array(args), **kw).to_pylist()[0], "%FF%41", ["%FFA", "\ufffdA", None]),
    (lambda *args, **kw: simdpct.normalize_array(pyarrow.array(args), **kw).to_pylist()[0], "%zz%41", ["%zzA", "%zzA", None]),
    (lambda *args, **kw: simdpct.canonicalize_array(pyarrow.array(args), **kw).to_pylist()[0], "http://a:99999/", ["http://a:99999/", None, None]),
    (lambda *args, **kw: simdpct.canonicalize(*args, **kw), "http://a:99999/", ["http://a:99999/", None, None]),
]


@pytest.mark.parametrize("row", DEFAULTS, ids=range(len(DEFAULTS)))
def test_one_default_for_bad_values(row):
    function, value, (keep, replace, null) = row
    assert function(value) == function(value, errors="keep") == keep
    assert function(value, errors="null") is null
    if replace is not None:
        assert function(value, errors="replace") == replace
    with pytest.raises(ValueError):
        function(value, errors="strict")
    # The functions of urllib have urllib's own default, 'replace'.
    assert simdpct.unquote("%FF") == "\ufffd"
