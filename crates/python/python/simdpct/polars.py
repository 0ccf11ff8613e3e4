"""Expressions for Polars: parts of URLs and percent-encoding of columns, in lazy, eager and streaming queries, at the speed of simdpct.

The import adds `pct` to expressions and to Series:

>>> import polars as pl
>>> import simdpct.polars as pct
>>> log = pl.DataFrame({"url": ["http://a.example/caf%C3%A9?q=1", "http://b.example/100%", None]})
>>> log.select(pl.col("url").pct.host(), pl.col("url").pct.path()).rows()
[('a.example', '/caf%C3%A9'), ('b.example', '/100%'), (None, None)]
>>> log.lazy().select(pl.col("url").pct.path().pct.decode()).collect(engine="streaming")["path"].to_list()
['/café', '/100%', None]

Type checkers do not know what an import adds to the classes of Polars. They know `pct.Pct("url").host()`, the same expression as
`pl.col("url").pct.host()`. The functions of this module are those of `simdpct` for columns.

All methods take a column of String or Binary, and nulls stay. The result has the type of the column, unless the method names another.
The results of functions that take URLs apart, and of `join`, have the name of the function; that of `param` has the name of a constant
parameter, else `param`. Whole URLs and other results keep the name of their column. A column of another type, also Categorical and Enum,
is an error while the query is planned: cast it first.

`errors` says what happens to a malformed value. Only 'strict' ends a query:

- 'keep', the default: malformed escapes stay, and so do the escapes of invalid UTF-8.
- 'replace', like urllib: malformed escapes stay, and U+FFFD replaces invalid UTF-8.
- 'null': the value becomes null.
- 'strict': raise polars.exceptions.ComputeError, which names the value.

In columns of Binary, results need not be valid UTF-8.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal, Union

import polars as _pl

from . import _simdpct
from ._columns import split_arguments

__all__ = ["Pct", "canonicalize", "malformed", "normalize", "quote", "quote_plus", "unquote", "unquote_plus", "url"]

if int(_pl.__version__.split(".")[0]) < 1:
    raise ImportError(f"simdpct.polars needs Polars 1.0 or later, not {_pl.__version__}")

from polars.plugins import register_plugin_function as _register  # noqa: E402

_Column = Union[str, _pl.Expr, _pl.Series]
_Text = Union[str, bytes]
_Argument = Union[str, bytes, _pl.Expr, _pl.Series]
_Errors = Literal["keep", "replace", "null", "strict"]
_LIBRARY = Path(_simdpct.__file__)
# The functions that return a whole URL. Their results keep the name of the column.
_WHOLE = ("without_params", "with_param")

_simdpct.polars_threads(_pl.thread_pool_size())


def _is_column(argument: Any) -> bool:
    return isinstance(argument, (_pl.Expr, _pl.Series))


def _expression(caller: str, function: str, column: _Column, more: Sequence[Any] | None = None, **options: Any) -> _pl.Expr:
    constants, columns = (None, []) if more is None else split_arguments(function, more, _is_column)
    return _register(
        plugin_path=_LIBRARY,
        function_name=function,
        args=[column, *columns],
        kwargs={"options": _simdpct.options(caller, function, constants, **options)},
        is_elementwise=True,
    )


def _url(caller: str, function: str, column: _Column, *arguments: _Argument | Sequence[_Text]) -> _pl.Expr:
    expression = _expression(caller, function, column, arguments)
    if function in _WHOLE:
        return expression
    # Each parameter has a column of its own name, because a query can select several parameters.
    name = arguments[0] if function == "param" else function
    name = name.decode(errors="replace") if isinstance(name, bytes) else name
    return expression.alias(name if isinstance(name, str) else function)


@_pl.api.register_expr_namespace("pct")
class Pct:
    """The functions of simdpct as methods of an expression: `pl.col("url").pct.host()`, or `Pct("url").host()`."""

    def __init__(self, column: _Column) -> None:
        self._column = column

    def encode(self, *, safe: _Text = "", plus: bool = False) -> _pl.Expr:
        """Percent-encode each value. Letters, digits, `_.-~` and the characters of `safe` stay. With `plus`, a space becomes a plus sign.

        >>> pl.select(pl.lit("fish & chips").pct.encode(plus=True)).item()
        'fish+%26+chips'
        """
        return _expression("encode", "encode", self._column, safe=safe, plus=plus)

    def decode(self, *, plus: bool = False, errors: _Errors = "keep") -> _pl.Expr:
        """Decode the escapes of each value. With `plus`, a plus sign becomes a space.

        >>> pl.DataFrame({"path": ["/a%20b", "/%FF", "/100%"]}).select(pl.col("path").pct.decode())["path"].to_list()
        ['/a b', '/%FF', '/100%']
        """
        return _expression("decode", "decode", self._column, plus=plus, errors=errors)

    def normalize(self, *, errors: _Errors = "keep") -> _pl.Expr:
        """Upper-case the digits of escapes, and decode those of unreserved characters (RFC 3986, 6.2.2.1 and 6.2.2.2).

        Only malformed escapes are errors.

        >>> pl.select(pl.lit("/%7ejoe/a%2fb").pct.normalize()).item()
        '/~joe/a%2Fb'
        """
        return _expression("normalize", "normalize", self._column, errors=errors)

    def canonicalize(self, profile: str = "rfc3986-scheme", *, errors: Literal["keep", "null", "strict"] = "keep") -> _pl.Expr:
        """Bring each URL into the canonical form of a profile, which is one of simdpct.PROFILES.

        `errors` says what happens to a URL that the profile rejects.

        >>> pl.select(pl.lit("HTTP://Example.com:80/%7Ejoe").pct.canonicalize()).item()
        'http://example.com/~joe'
        """
        return _expression("canonicalize", "canonicalize", self._column, profile=profile, errors=errors)

    def malformed(self) -> _pl.Expr:
        """Report whether each value has a malformed escape or, in a column of String, is not valid UTF-8 when decoded.

        >>> pl.DataFrame({"path": ["/a%20b", "/%FF", "/100%"]}).filter(~pl.col("path").pct.malformed()).rows()
        [('/a%20b',)]
        """
        return _expression("malformed", "malformed", self._column)

    def scheme(self) -> _pl.Expr:
        """Return the scheme of each URL without its `:`."""
        return _url("scheme", "scheme", self._column)

    def authority(self) -> _pl.Expr:
        """Return the user information, host and port of each URL without the `//`."""
        return _url("authority", "authority", self._column)

    def userinfo(self) -> _pl.Expr:
        """Return the user information of each URL without its `@`."""
        return _url("userinfo", "userinfo", self._column)

    def user(self) -> _pl.Expr:
        """Return the user information before its first colon."""
        return _url("user", "user", self._column)

    def password(self) -> _pl.Expr:
        """Return the user information after its first colon."""
        return _url("password", "password", self._column)

    def host(self) -> _pl.Expr:
        """Return the host of each URL, with the brackets of an IPv6 address. It is empty in `file:///a`, and null without `//`.

        >>> pl.DataFrame({"url": ["http://a.example/b", "/b"]}).with_columns(pl.col("url").pct.host()).rows()
        [('http://a.example/b', 'a.example'), ('/b', None)]
        """
        return _url("host", "host", self._column)

    def domain(self) -> _pl.Expr:
        """Return the registrable domain of the host by the Public Suffix List. It is null for an address and for a public suffix.

        The domain is written as in the URL, so canonicalize URLs before you count domains.

        >>> urls = pl.Series("url", ["http://WWW.EXAMPLE.COM/", "http://example.com", "http://münchen.de", "http://xn--mnchen-3ya.de"])
        >>> urls.pct.canonicalize("whatwg").pct.domain().unique(maintain_order=True).to_list()
        ['example.com', 'xn--mnchen-3ya.de']
        """
        return _url("domain", "domain", self._column)

    def suffix(self) -> _pl.Expr:
        """Return the public suffix of the host, such as `com`, `co.uk` or `github.io`. It is null for an address."""
        return _url("suffix", "suffix", self._column)

    def port(self) -> _pl.Expr:
        """Return the port of each URL as text."""
        return _url("port", "port", self._column)

    def path(self) -> _pl.Expr:
        """Return the path of each URL. It may be empty, but not null."""
        return _url("path", "path", self._column)

    def query(self) -> _pl.Expr:
        """Return the query of each URL without its `?`."""
        return _url("query", "query", self._column)

    def fragment(self) -> _pl.Expr:
        """Return the fragment of each URL without its `#`."""
        return _url("fragment", "fragment", self._column)

    def parts(self) -> _pl.Expr:
        """Return a Struct of scheme, userinfo, host, port, path, query and fragment.

        >>> pl.select(pl.lit("//h/p?q").pct.parts()).unnest("parts").select("host", "path", "query").rows()
        [('h', '/p', 'q')]
        """
        return _url("parts", "parts", self._column)

    def segments(self) -> _pl.Expr:
        """Return a List of the segments of the path, each decoded after splitting.

        >>> pl.select(pl.lit("http://a.example/b%2Fc/d").pct.segments()).item().to_list()
        ['b/c', 'd']
        """
        return _url("segments", "segments", self._column)

    def params(self) -> _pl.Expr:
        """Return a List of Structs of name and value: the parameters of the query, decoded as in a form.

        >>> pl.select(pl.lit("?q=e%26f&p").pct.params()).item().to_list()
        [{'name': 'q', 'value': 'e&f'}, {'name': 'p', 'value': ''}]
        """
        return _url("params", "params", self._column)

    def param(self, name: _Argument) -> _pl.Expr:
        """Return the value of the first parameter with this name, decoded as in a form, or null. The column has the name of the parameter.

        >>> pl.select(pl.lit("?q=e%26f&page=2").pct.param("q"), pl.lit("?q=e%26f&page=2").pct.param("page")).rows(named=True)
        [{'q': 'e&f', 'page': '2'}]
        """
        return _url("param", "param", self._column, name)

    def without_params(self, names: _Argument | Sequence[_Text]) -> _pl.Expr:
        """Remove the parameters with these names, in which `*` matches any characters. Text has commas between the names.

        >>> pl.select(pl.lit("/b?utm_id=1&q=c&gclid=2").pct.without_params(["utm_*", "gclid"])).item()
        '/b?q=c'
        """
        return _url("without_params", "without_params", self._column, names)

    def with_param(self, name: _Argument, value: _Argument) -> _pl.Expr:
        """Add a parameter at the end of the query, and encode its name and value.

        >>> pl.select(pl.lit("/b?q=c").pct.with_param("r", "e&f")).item()
        '/b?q=c&r=e%26f'
        """
        return _url("with_param", "with_param", self._column, name, value)

    def join(self, reference: _Argument) -> _pl.Expr:
        """Resolve a reference against each URL, its base (RFC 3986, 5.2). The result is null if the base has no scheme.

        >>> links = pl.DataFrame({"page": ["http://a.example/b/"], "href": ["../c"]})
        >>> links.with_columns(pl.col("page").pct.join(pl.col("href"))).rows()
        [('http://a.example/b/', '../c', 'http://a.example/c')]
        """
        return _url("join", "join", self._column, reference)


@_pl.api.register_series_namespace("pct")
class _SeriesPct:
    """The methods of `Pct` for a Series, which return a Series."""

    def __init__(self, series: _pl.Series) -> None:
        self._series = series

    def __dir__(self) -> list[str]:
        return [name for name in dir(Pct) if not name.startswith("_")]

    def __getattr__(self, name: str) -> Callable[..., _pl.Series]:
        # A copy asks for special methods before it has a series.
        if name.startswith("_"):
            raise AttributeError(name)
        method = getattr(Pct(self._series), name)
        return lambda *arguments, **options: _pl.select(method(*arguments, **options)).to_series()


def quote(column: _Column, safe: _Text = "/") -> _pl.Expr:
    """Percent-encode each value like urllib.parse.quote. Letters, digits, `_.-~` and the characters of `safe` stay.

    >>> pl.select(pct.quote(pl.Series(["/El Niño/", None]))).to_series().to_list()
    ['/El%20Ni%C3%B1o/', None]
    """
    return _expression("quote", "encode", column, safe=safe)


def quote_plus(column: _Column, safe: _Text = "") -> _pl.Expr:
    """Percent-encode each value for an HTML form: a space becomes a plus sign.

    >>> pl.select(pct.quote_plus(pl.Series(["fish & chips"]))).to_series().to_list()
    ['fish+%26+chips']
    """
    return _expression("quote_plus", "encode", column, safe=safe, plus=True)


def unquote(column: _Column, *, plus: bool = False, errors: _Errors = "keep") -> _pl.Expr:
    """Decode the escapes of each value. With `plus`, a plus sign becomes a space. urllib.parse.unquote has `errors='replace'`.

    >>> frame = pl.DataFrame({"path": ["/a%20b", "/%FF", "/100%"]})
    >>> frame.select(pct.unquote("path", errors="null"))["path"].to_list()
    ['/a b', None, None]
    """
    return _expression("unquote", "decode", column, plus=plus, errors=errors)


def unquote_plus(column: _Column, *, errors: _Errors = "keep") -> _pl.Expr:
    """Decode the escapes of each value of an HTML form: a plus sign becomes a space.

    >>> pl.select(pct.unquote_plus(pl.Series(["fish+%26+chips"]))).to_series().to_list()
    ['fish & chips']
    """
    return _expression("unquote_plus", "decode", column, plus=True, errors=errors)


def normalize(column: _Column, *, errors: _Errors = "keep") -> _pl.Expr:
    """Upper-case the digits of escapes, and decode those of unreserved characters (RFC 3986, 6.2.2.1 and 6.2.2.2).

    Two URLs with the same normalized URL mean the same, so join and group by it. Only malformed escapes are errors.

    >>> frame = pl.DataFrame({"url": ["/%7ejoe", "/~joe", "/a%2fb"]})
    >>> frame.group_by(pct.normalize("url"), maintain_order=True).len().rows()
    [('/~joe', 2), ('/a%2Fb', 1)]
    """
    return Pct(column).normalize(errors=errors)


def canonicalize(column: _Column, profile: str = "rfc3986-scheme", *, errors: Literal["keep", "null", "strict"] = "keep") -> _pl.Expr:
    """Bring each URL into the canonical form of a profile, which is one of simdpct.PROFILES.

    `errors` says what happens to a URL that the profile rejects.

    >>> frame = pl.DataFrame({"url": ["HTTP://Example.com:80/%7Ejoe", "http://a:99999/"]})
    >>> frame.select(pct.canonicalize("url"))["url"].to_list()
    ['http://example.com/~joe', 'http://a:99999/']
    """
    return Pct(column).canonicalize(profile, errors=errors)


def malformed(column: _Column) -> _pl.Expr:
    """Report whether each value has a malformed escape or, in a column of String, is not valid UTF-8 when decoded.

    >>> frame = pl.DataFrame({"path": ["/a%20b", "/%FF", "/100%", None]})
    >>> frame.select(pct.malformed("path"))["path"].to_list()
    [False, True, True, None]
    """
    return Pct(column).malformed()


def url(column: _Column, function: str, *arguments: _Argument | Sequence[_Text]) -> _pl.Expr:
    """Take each URL apart, or put it together, by the method of `Pct` that `function` names: 'host', 'path', 'param' and so on.

    `arguments` are those of the method: constants, or expressions and Series with a value for each URL.

    >>> frame = pl.DataFrame({"url": ["http://a.example/b%2Fc/d?q=e%26f&utm_id=1", "/b", None]})
    >>> frame.select(pct.url("url", "host"), pct.url("url", "param", "q")).rows()
    [('a.example', 'e&f'), (None, None), (None, None)]
    >>> frame.select(pct.url("url", "without_params", ["utm_*", "gclid"]))["url"].to_list()
    ['http://a.example/b%2Fc/d?q=e%26f', '/b', None]
    >>> frame.select(pct.url("url", "join", pl.lit("c?d")))["join"].to_list()
    ['http://a.example/b%2Fc/c?d', None, None]
    """
    return _url("url", function, column, *arguments)
