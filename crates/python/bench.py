"""Times this package beside urllib.parse and yarl, in one run.

    pip install dist/simdpct-*.whl -r crates/python/requirements-test.txt yarl
    python crates/python/bench.py [URLS [PART...]]

URLS is a file with a URL in each line, or - for generated ones, like no argument. A PART is strings, lengths, columns
or polars. Prints nanoseconds for each value, without the loop around the call: medians of rounds in which the rivals take turns.
"""

import itertools
import pathlib
import random
import statistics
import sys
import time
import urllib.parse

import pyarrow

import simdpct

try:
    from yarl._quoting import _Quoter, _Unquoter

    QUOTER, UNQUOTER = _Quoter(), _Unquoter()
except ImportError:
    QUOTER = UNQUOTER = None

ROUNDS = 7


def urls():
    if len(sys.argv) > 1 and sys.argv[1] != "-":
        return pathlib.Path(sys.argv[1]).read_text(encoding="utf-8", errors="replace").split("\n")[:-1]
    rng = random.Random(1)
    words = "search article image user profile café view index latest über data item 日本 archive static".split()
    return [
        "https://www." + rng.choice(words) + ".example/" + "/".join(rng.choices(words, k=rng.randint(1, 6)))
        + rng.choice(("", "?q=" + rng.choice(words) + " " + rng.choice(words) + "&page=2"))
        for _ in range(10_000)
    ]


def once(function, values):
    """Nanoseconds a value, with those of the loop."""
    # The loop is in C, so that its share is small.
    start = time.perf_counter_ns()
    for _ in map(function, values):
        pass
    return (time.perf_counter_ns() - start) / len(values)


def compare(title, values, *functions, note=""):
    """Rivals take turns, and the first is ours. Prints one row of a table."""
    times = [[] for _ in functions]
    loop = []
    for _ in range(ROUNDS):
        loop.append(once(len, values))
        for function, so_far in zip(functions, times):
            so_far.append(once(function, values))
    base = min(loop)
    # This measures the loop: len() with its loop takes less than any call here.
    medians = [statistics.median(so_far) for so_far in times]
    ours = medians[0]
    cells = [f"{ours:.0f}", *(f"{theirs:.0f} ({theirs / ours:.1f})" for theirs in medians[1:])]
    print(f"| {title} | " + " | ".join(cells) + f" |{note}", flush=True)
    return base


def strings(found):
    quoted = [urllib.parse.quote(url, safe="") for url in found]
    clean = [url for url in found if url.isascii() and urllib.parse.quote(url, safe=":/?&=#%+,;@!$'()*~") == url]
    print(f"\n{len(found)} URLs of {sum(map(len, found)) / len(found):.0f} characters on average\n")
    print("| ns a call | simdpct | urllib | yarl |")
    print("|---|---|---|---|")
    none = [] if QUOTER is None else [QUOTER]
    base = compare("`quote(url)`", found, simdpct.quote, urllib.parse.quote, *none)
    compare("`quote_plus(url)`", found, simdpct.quote_plus, urllib.parse.quote_plus)
    none = [] if UNQUOTER is None else [UNQUOTER]
    compare("`unquote(url)` as found", found, simdpct.unquote, urllib.parse.unquote, *none)
    compare("`unquote(url)` quoted", quoted, simdpct.unquote, urllib.parse.unquote, *none)
    compare("`unquote_to_bytes(url)` quoted", quoted, simdpct.unquote_to_bytes, urllib.parse.unquote_to_bytes)
    assert clean or found
    rng = random.Random(2)
    queries = [
        "&".join(f"{urllib.parse.quote_plus(rng.choice(found)[8:20])}={urllib.parse.quote_plus(rng.choice(found)[8:40])}" for _ in range(20))
        for _ in range(200)
    ]
    pairs = [urllib.parse.parse_qsl(query, keep_blank_values=True) for query in queries]
    compare("`parse_qsl`, 20 pairs", queries, simdpct.parse_qsl, urllib.parse.parse_qsl)
    compare("`parse_qs`, 20 pairs", queries, simdpct.parse_qs, urllib.parse.parse_qs)
    compare("`urlencode`, 20 pairs", pairs, simdpct.urlencode, urllib.parse.urlencode)
    print(f"\n(`len()` in the same loop: {base:.0f} ns)")


def lengths():
    """Where a call costs more than the work: each length from 0 on, beside yarl."""
    if QUOTER is None:
        return
    slower = []
    worst = (10.0, "")
    for length in [*range(0, 70), 100, 127, 128, 129, 200, 255, 256, 257, 500, 1000, 1024, 1025, 2000, 3072, 3073, 5000]:
        for kind in ("clean", "dirty", "quoted"):
            unit = {"clean": "abcdefgh/", "dirty": "a b/é&?=", "quoted": "a%20b%C3%A9"}[kind]
            text = (unit * (length // len(unit) + 1))[:length]
            ours, theirs = (simdpct.unquote, UNQUOTER) if kind == "quoted" else (simdpct.quote, QUOTER)
            # The objects are distinct, like real strings, and fit into the cache.
            values = ["".join(["", text]) for _ in range(64)] * max(2, 2000 // (64 + length))
            times = [min(once(function, values) for _ in range(5)) for function in (ours, theirs)]
            ratio = times[1] / times[0]
            if ratio < 1:
                slower.append(f"{kind} {length}: {times[0]:.1f} ns, yarl {times[1]:.1f}")
            worst = min(worst, (ratio, f"{kind}, {length} characters: {times[0]:.0f} ns, yarl {times[1]:.0f} ns"))
    print(f"\nBy length, beside yarl: slower at {len(slower)} of them {slower[:8]}; the least gain is {worst[0]:.2f} times, {worst[1]}")


def columns(found):
    rows = list(itertools.islice(itertools.cycle(found), 1_000_000))
    quoted = [urllib.parse.quote(url, safe="") for url in found]
    quoted_rows = list(itertools.islice(itertools.cycle(quoted), 1_000_000))
    print(f"\n| ns a value, {len(rows)} rows | `string` | `string_view` | `string`, all cores |")
    print("|---|---|---|---|")

    def row(title, values, function):
        arrays = [pyarrow.array(values, kind) for kind in (pyarrow.string(), pyarrow.string_view())]
        cells = []
        for array, threads in ((arrays[0], 1), (arrays[1], 1), (arrays[0], None)):
            times = []
            for _ in range(ROUNDS):
                start = time.perf_counter_ns()
                result = function(array, threads)
                times.append((time.perf_counter_ns() - start) / len(array))
                del result
            cells.append(f"{statistics.median(times):.1f}")
        print(f"| {title} | " + " | ".join(cells) + " |", flush=True)

    row("`quote_array`", rows, lambda array, threads: simdpct.quote_array(array, threads=threads))
    row("`unquote_array`, as found", rows, lambda array, threads: simdpct.unquote_array(array, threads=threads))
    row("`unquote_array`, quoted", quoted_rows, lambda array, threads: simdpct.unquote_array(array, threads=threads))
    row("the same, `errors='null'`", quoted_rows, lambda array, threads: simdpct.unquote_array(array, errors="null", threads=threads))
    row("`normalize_array`", rows, lambda array, threads: simdpct.normalize_array(array, threads=threads))
    row("`canonicalize_array`, rfc3986", rows, lambda array, threads: simdpct.canonicalize_array(array, "rfc3986", threads=threads))
    row("`malformed_array`, quoted", quoted_rows, lambda array, threads: simdpct.malformed_array(array, threads=threads))
    print("\n| ns a value, `string_view` in so many buffers | 1 | 1,000 | 3,000 | 10,000 |")
    print("|---|---|---|---|---|")
    cells = []
    for buffers in (1, 1000, 3000, 10_000):
        size = -(-len(rows) // buffers)
        parts = [pyarrow.array(rows[at : at + size]).cast(pyarrow.string_view()) for at in range(0, len(rows), size)]
        array, times = pyarrow.concat_arrays(parts), []
        for _ in range(ROUNDS):
            start = time.perf_counter_ns()
            pyarrow.chunked_array(simdpct.url_array(array, "host", threads=1))
            times.append((time.perf_counter_ns() - start) / len(array))
        cells.append(f"{statistics.median(times):.1f}")
    print("| `url_array(urls, 'host')` | " + " | ".join(cells) + " |", flush=True)
    some = pyarrow.array(rows[:20_000])
    start = time.perf_counter_ns()
    pyarrow.array([urllib.parse.quote(value) for value in some.to_pylist()])
    print(f"\nWith `to_pylist`, `urllib.parse.quote` and `pyarrow.array`: {(time.perf_counter_ns() - start) / len(some):.0f} ns a value")


def polars(found):
    """Expressions, beside what a query in Polars can do without them. With all cores, unless POLARS_MAX_THREADS says less."""
    import polars as pl

    import simdpct.polars as pct

    rows = list(itertools.islice(itertools.cycle(found), 1_000_000))
    as_found = pl.DataFrame({"url": rows})
    quoted = as_found.select(pct.quote("url", ""))
    # str.replace_many gets each character with its escapes.
    escapes = {character: urllib.parse.quote(character, "") for character in {*map(chr, range(128)), *"".join(found)}}
    escapes = {character: escape for character, escape in escapes.items() if character != escape}
    print(f"\n| ns a row, {len(rows)} rows, {pl.thread_pool_size()} threads | in memory | streaming | `str.replace_many` | `map_batches`, urllib | `map_elements`, urllib |")
    print("|---|---|---|---|---|---|")

    def row(title, frame, expression, function=None, replace=None):
        column = pl.col("url")
        rivals = [(expression, ROUNDS, "in-memory"), (expression, ROUNDS, "streaming"), None, None, None]
        if replace:
            rivals[2] = column.str.replace_many(*replace), 3, "in-memory"
        if function:
            def batch(series):
                return pl.Series([function(value) for value in series])

            rivals[3] = column.map_batches(batch, return_dtype=pl.String), 1, "in-memory"
            rivals[4] = column.map_elements(function, return_dtype=pl.String), 1, "in-memory"
        cells, first, ours = [], None, None
        for rival in rivals:
            if rival is None:
                cells.append("")
                continue
            expression, rounds, engine = rival
            query, times, result = frame.lazy().select(expression), [], None
            for _ in range(rounds):
                # The next result uses this memory again.
                del result
                start = time.perf_counter_ns()
                result = query.collect(engine=engine)["url"]
                times.append((time.perf_counter_ns() - start) / len(frame))
                assert first is None or result.equals(first)
            median = statistics.median(times)
            first, ours = (result, median) if first is None else (first, ours)
            cells.append(f"{median:.1f}" + (f" ({median / ours:.1f})" if cells else ""))
        print(f"| {title} | " + " | ".join(cells) + " |", flush=True)

    row("`quote(url, '')`", as_found, pct.quote("url", ""), lambda url: urllib.parse.quote(url, ""), (list(escapes), list(escapes.values())))
    row("`unquote(url)`, quoted", quoted, pct.unquote("url"), urllib.parse.unquote, (list(escapes.values()), list(escapes)))
    row("`unquote(url)`, as found", as_found, pct.unquote("url", errors="replace"), urllib.parse.unquote)
    row("the same, `errors='null'`", as_found, pct.unquote("url", errors="null"))
    row("`normalize(url)`", as_found, pct.normalize("url"))
    row("`canonicalize(url, 'rfc3986')`", as_found, pct.canonicalize("url", "rfc3986"))
    row("`malformed(url)`, quoted", quoted, pct.malformed("url"))


if __name__ == "__main__":
    known = [url for url in urls() if url]
    print(f"Python {sys.version.split()[0]}, simdpct {simdpct.__version__}")
    parts = {"strings": lambda: strings(known), "lengths": lengths, "columns": lambda: columns(known), "polars": lambda: polars(known)}
    for name in sys.argv[2:] or parts:
        parts[name]()
