"""Expressions for Polars: percent-encoding of columns, in lazy, eager and streaming queries, at the speed of simdpct.

>>> import polars as pl
>>> import simdpct.polars as pct
>>> frame = pl.DataFrame({"url": ["/a%20b", "/100%", None, "/caf%C3%A9"]})
>>> frame.select(pct.unquote("url"))["url"].to_list()
['/a b', '/100%', None, '/café']
>>> frame.lazy().filter(~pct.malformed("url")).select(pct.unquote("url")).collect(engine="streaming")["url"].to_list()
['/a b', '/café']

Each function takes the name of a column, an expression or a Series, of String or Binary. The result has the same type and name; nulls
stay. A column of another type, also Categorical and Enum, is an error while the query is planned: cast it first.

`errors` says what happens to a malformed value. Only 'strict' ends a query:

- 'keep': malformed escapes stay, and so do the escapes of invalid UTF-8.
- 'replace', like urllib: malformed escapes stay, and U+FFFD replaces invalid UTF-8.
- 'null': the value becomes null.
- 'strict': raise polars.exceptions.ComputeError, which names the value.

In columns of Binary, results need not be valid UTF-8.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal, Union

import polars as _pl

from . import _simdpct

__all__ = ["canonicalize", "malformed", "normalize", "quote", "quote_plus", "unquote", "unquote_plus", "url"]

if int(_pl.__version__.split(".")[0]) < 1:
    raise ImportError(f"simdpct.polars needs Polars 1.0 or later, not {_pl.__version__}")

from polars.plugins import register_plugin_function as _register  # noqa: E402

_Column = Union[str, _pl.Expr, _pl.Series]
_LIBRARY = Path(_simdpct.__file__)

_simdpct.polars_threads(_pl.thread_pool_size())


def _expression(name: str, column: _Column, *arguments: str | bytes | _pl.Expr | _pl.Series, **options: str | bytes) -> _pl.Expr:
    columns = [argument for argument in arguments if isinstance(argument, (_pl.Expr, _pl.Series))]
    constants = [None if isinstance(argument, (_pl.Expr, _pl.Series)) else argument for argument in arguments]
    return _register(
        plugin_path=_LIBRARY,
        function_name=name,
        args=[column, *columns],
        kwargs={"options": _simdpct.polars_options(*constants, **options)},
        is_elementwise=True,
    )


def quote(column: _Column, safe: str | bytes = "/") -> _pl.Expr:
    """Percent-encode each value like urllib.parse.quote. Letters, digits, `_.-~` and the characters of `safe` stay.

    >>> pl.select(pct.quote(pl.Series(["/El Niño/", None]))).to_series().to_list()
    ['/El%20Ni%C3%B1o/', None]
    """
    return _expression("quote", column, safe=safe)


def quote_plus(column: _Column, safe: str | bytes = "") -> _pl.Expr:
    """Percent-encode each value for an HTML form: a space becomes a plus sign.

    >>> pl.select(pct.quote_plus(pl.Series(["fish & chips"]))).to_series().to_list()
    ['fish+%26+chips']
    """
    return _expression("quote_plus", column, safe=safe)


def unquote(column: _Column, *, errors: Literal["replace", "keep", "null", "strict"] = "replace") -> _pl.Expr:
    """Decode the escapes of each value like urllib.parse.unquote.

    >>> frame = pl.DataFrame({"path": ["/a%20b", "/%FF", "/100%"]})
    >>> frame.select(pct.unquote("path", errors="null"))["path"].to_list()
    ['/a b', None, None]
    """
    return _expression("unquote", column, errors=errors)


def unquote_plus(column: _Column, *, errors: Literal["replace", "keep", "null", "strict"] = "replace") -> _pl.Expr:
    """Decode the escapes of each value of an HTML form: a plus sign becomes a space.

    >>> pl.select(pct.unquote_plus(pl.Series(["fish+%26+chips"]))).to_series().to_list()
    ['fish & chips']
    """
    return _expression("unquote_plus", column, errors=errors)


def normalize(column: _Column, *, errors: Literal["replace", "keep", "null", "strict"] = "keep") -> _pl.Expr:
    """Upper-case the digits of escapes, and decode those of unreserved characters (RFC 3986, 6.2.2.1 and 6.2.2.2).

    Two URLs that differ only in these mean the same, so join and group by the normalized URL. Only malformed escapes are errors.

    >>> frame = pl.DataFrame({"url": ["/%7ejoe", "/~joe", "/a%2fb"]})
    >>> frame.group_by(pct.normalize("url"), maintain_order=True).len().rows()
    [('/~joe', 2), ('/a%2Fb', 1)]
    """
    return _expression("normalize", column, errors=errors)


def canonicalize(column: _Column, profile: str, *, errors: Literal["keep", "null", "strict"] = "null") -> _pl.Expr:
    """Bring each URL into the canonical form of a profile, which is one of simdpct.PROFILES.

    `errors` says what happens to a URL that the profile rejects.

    >>> frame = pl.DataFrame({"url": ["HTTP://Example.com:80/%7Ejoe", "http://a:99999/"]})
    >>> frame.select(pct.canonicalize("url", "rfc3986-scheme"))["url"].to_list()
    ['http://example.com/~joe', None]
    """
    return _expression("canonicalize", column, profile=profile, errors=errors)


def malformed(column: _Column) -> _pl.Expr:
    """Report whether each value has a malformed escape or, in a column of String, is not valid UTF-8 when decoded.

    >>> frame = pl.DataFrame({"path": ["/a%20b", "/%FF", "/100%", None]})
    >>> frame.select(pct.malformed("path"))["path"].to_list()
    [False, True, True, None]
    """
    return _expression("malformed", column)


def url(column: _Column, function: str, *arguments: str | bytes | _pl.Expr | _pl.Series) -> _pl.Expr:
    """Take each URL apart, or put it together, by a function of the SQL engines without its `url_`: 'scheme', 'userinfo', 'host',
    'domain', 'suffix', 'port', 'path', 'query', 'fragment', 'parts', 'segments', 'params', 'param', 'without_params', 'with_param' or 'join'.

    The README of the package describes them. `arguments` are those after the URL: constants, or expressions and Series with a value for
    each URL. A part that a URL does not have is null. 'segments' gives a List, 'params' a List of Structs of name and value, and
    'parts' a Struct.

    >>> frame = pl.DataFrame({"url": ["http://a.example/b%2Fc/d?q=e%26f&utm_id=1", "/b", None]})
    >>> frame.select(pct.url("url", "host"))["url"].to_list()
    ['a.example', None, None]
    >>> frame.select(pct.url("url", "param", "q"))["url"].to_list()
    ['e&f', None, None]
    >>> frame.select(pct.url("url", "segments"))["url"].to_list()
    [['b/c', 'd'], ['b'], None]
    >>> frame.select(pct.url("url", "parts").struct.field("host", "query"))["query"].to_list()
    ['q=e%26f&utm_id=1', None, None]
    >>> frame.select(pct.url("url", "join", pl.lit("c?d")))["url"].to_list()
    ['http://a.example/b%2Fc/c?d', None, None]
    """
    return _expression("url", column, *arguments, url=function)
