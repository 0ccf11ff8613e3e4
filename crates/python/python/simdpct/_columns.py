"""The functions on columns. They are in Python because they only pass options to one function of the compiled part."""

import re

from . import _simdpct


def split_arguments(function, arguments, is_column):
    """Return two lists: the arguments after the URL, with None in place of each column, and the columns."""
    # Commas separate names, and blanks around a name are ignored, so those in a name of a list become their escapes.
    if function == "without_params" and isinstance(arguments[0] if arguments else None, (list, tuple)):
        names = [name.encode() if isinstance(name, str) else name for name in arguments[0]]
        arguments = (b",".join(re.sub(rb"[, \t\n\f\r]", lambda at: b"%%%02X" % at[0][0], name) for name in names), *arguments[1:])
    if any(argument is None for argument in arguments):
        raise TypeError("an argument must be a str, bytes or a column, not None")
    constants = [None if is_column(argument) else argument for argument in arguments]
    return constants, [argument for argument in arguments if is_column(argument)]


def _is_column(argument):
    return hasattr(argument, "__arrow_c_array__") or hasattr(argument, "__arrow_c_stream__")


def quote_array(values, safe="/", *, plus=False, threads=None):
    """Percent-encode each value of a column like `quote`, or with `plus` like `quote_plus`.

    `values` is any object with `__arrow_c_array__` or `__arrow_c_stream__`, such as a column of pyarrow, polars, pandas 3 or DuckDB,
    of strings or binary. The result is of the same type; nulls stay. The work runs on all cores, or on `threads`, and without
    the GIL.

    >>> import pyarrow
    >>> pyarrow.array(quote_array(pyarrow.array(["a b", None, "é"]))).to_pylist()
    ['a%20b', None, '%C3%A9']
    """
    options = _simdpct.options("quote_array", "encode", safe=safe, plus=plus)
    return _simdpct.apply("quote_array", "encode", options, values, [], threads)


def unquote_array(values, *, plus=False, errors="keep", threads=None):
    """Decode the escapes of each value of a column like `unquote`, or with `plus` like `unquote_plus`.

    `errors` says what happens to a value with a malformed escape or, in a column of strings, with invalid UTF-8 when decoded:

    - 'keep': malformed escapes stay, and so do the escapes of invalid UTF-8.
    - 'replace', like `unquote` and urllib: malformed escapes stay, and U+FFFD replaces invalid UTF-8.
    - 'null': the value becomes null.
    - 'strict': raise ValueError, which names the row.

    >>> import pyarrow
    >>> pyarrow.array(unquote_array(pyarrow.array(["a%20b", "%FF", "100%"]), errors="null")).to_pylist()
    ['a b', None, None]
    """
    options = _simdpct.options("unquote_array", "decode", plus=plus, errors=errors)
    return _simdpct.apply("unquote_array", "decode", options, values, [], threads)


def normalize_array(values, *, errors="keep", threads=None):
    """Normalize the escapes of each value of a column like `normalize`.

    `errors` says what happens to a value with a malformed escape: with 'keep' or 'replace' the escape stays, with 'null' the value
    becomes null, and 'strict' raises ValueError.

    >>> import pyarrow
    >>> pyarrow.array(normalize_array(pyarrow.array(["/%7ejoe/a%2fb"]))).to_pylist()
    ['/~joe/a%2Fb']
    """
    options = _simdpct.options("normalize_array", "normalize", errors=errors)
    return _simdpct.apply("normalize_array", "normalize", options, values, [], threads)


def canonicalize_array(values, profile="rfc3986-scheme", *, errors="keep", threads=None):
    """Bring each URL of a column into a canonical form like `canonicalize`.

    `errors` says what happens to a URL that the profile rejects: with 'keep' it stays, with 'null' it becomes null, and 'strict'
    raises ValueError.

    >>> import pyarrow
    >>> urls = pyarrow.array(["HTTP://Example.com:80/%7Ejoe", "http://a:99999/"])
    >>> canonicalize_array(urls, errors="null").to_pylist()
    ['http://example.com/~joe', None]
    """
    options = _simdpct.options("canonicalize_array", "canonicalize", profile=profile, errors=errors)
    return _simdpct.apply("canonicalize_array", "canonicalize", options, values, [], threads)


def malformed_array(values, *, threads=None):
    """Report for each value of a column whether it is malformed, as a column of booleans.

    A malformed value has a malformed escape or, in a column of strings, invalid UTF-8 when decoded. `errors` of `unquote_array` says
    what happens to these values.

    >>> import pyarrow
    >>> pyarrow.array(malformed_array(pyarrow.array(["a%20b", "%FF", "100%", None]))).to_pylist()
    [False, True, True, None]
    """
    return _simdpct.apply("malformed_array", "malformed", _simdpct.options("malformed_array", "malformed"), values, [], threads)


def url_array(values, function, *arguments, threads=None):
    """Take each URL of a column apart, or put it together, by a function of the SQL engines without its `url_`: 'scheme', 'authority',
    'userinfo', 'user', 'password', 'host', 'domain', 'suffix', 'port', 'path', 'query', 'fragment', 'parts', 'segments', 'params', 'param',
    'without_params', 'with_param' or 'join'.

    The README of the package describes them. `arguments` are those after the URL: constants, or columns with a value for each URL. A column
    of one row, also of URLs, is repeated. The names of 'without_params' may be a list. A part that a URL does not have is null. The parts
    of a column of views are views of its buffers.

    >>> import pyarrow
    >>> urls = pyarrow.array(["http://a.example/b?q=c%26d&utm_id=1", "/b", None])
    >>> url_array(urls, "host").to_pylist()
    ['a.example', None, None]
    >>> url_array(urls, "param", "q").to_pylist()
    ['c&d', None, None]
    >>> url_array(urls, "without_params", ["utm_*", "gclid"]).to_pylist()
    ['http://a.example/b?q=c%26d', '/b', None]
    >>> url_array(urls, "join", pyarrow.array(["../c", "d", "e"])).to_pylist()
    ['http://a.example/c', None, None]
    """
    constants, columns = split_arguments(function, arguments, _is_column)
    options = _simdpct.options("url_array", function, constants)
    return _simdpct.apply("url_array", function, options, values, columns, threads)


for _function in (quote_array, unquote_array, normalize_array, canonicalize_array, malformed_array, url_array):
    _function.__module__ = "simdpct"
