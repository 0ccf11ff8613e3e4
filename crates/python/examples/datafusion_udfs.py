"""Percent-encoding and canonical URLs as functions of DataFusion in Python: `pip install simdpct datafusion pyarrow`.

Each batch goes to simdpct as an Arrow array, and the result is another one, without a copy and without a Python object for each
row. (crates/datafusion is for DataFusion in Rust.)
"""

import datafusion
import pyarrow
import simdpct

TEXT = pyarrow.string_view()  # strings of other layouts are cast to it


def register(ctx):
    """Registers pct_encode, pct_decode, try_pct_decode, pct_normalize and try_url_canonical."""
    functions = {
        # threads=1: the engine calls from all of its own threads.
        "pct_encode": lambda text: simdpct.quote_array(text, safe="", threads=1),
        "pct_decode": lambda text: simdpct.unquote_array(text, errors="keep", threads=1),
        "try_pct_decode": lambda text: simdpct.unquote_array(text, errors="null", threads=1),
        "pct_normalize": lambda text: simdpct.normalize_array(text, threads=1),
        "try_url_canonical": lambda url: simdpct.canonicalize_array(url, "rfc3986-scheme", errors="null", threads=1),
    }
    for name, function in functions.items():
        ctx.register_udf(datafusion.udf(arrays(function), [TEXT], TEXT, "immutable", name))


def arrays(function):
    # A batch has up to 8,192 rows by default, and up to 65,536 rows the column is one array: nothing is copied.
    return lambda values: pyarrow.array(function(values))


if __name__ == "__main__":
    ctx = datafusion.SessionContext()
    register(ctx)
    ctx.from_pydict({"url": ["HTTP://Example.com:80/caf%C3%A9", "http://a:99999/100%", None]}, name="crawl")
    ctx.sql("SELECT pct_decode(url), try_pct_decode(url), try_url_canonical(url) FROM crawl").show()
