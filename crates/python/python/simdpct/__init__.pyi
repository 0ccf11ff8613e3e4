from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, AnyStr, Final, Generic, Literal, Protocol, final, overload

__version__: str
PROFILES: Final[tuple[str, ...]]

class _QuoteVia(Protocol):
    @overload
    def __call__(self, string: str, safe: str | bytes, encoding: str, errors: str, /) -> str: ...
    @overload
    def __call__(self, string: bytes, safe: str | bytes, /) -> str: ...

@overload
def quote(string: str, safe: str | Iterable[int] = "/", encoding: str | None = None, errors: str | None = None) -> str:
    """Percent-encode a str or bytes. Letters, digits, `_.-~` and the characters of `safe` stay.

    The same as urllib.parse.quote.

    >>> quote('/El Niño/')
    '/El%20Ni%C3%B1o/'
    """
@overload
def quote(string: bytes | bytearray, safe: str | Iterable[int] = "/") -> str: ...
@overload
def quote_plus(string: str, safe: str | bytes = "", encoding: str | None = None, errors: str | None = None) -> str:
    """Percent-encode a str or bytes for an HTML form: a space becomes a plus sign.

    The same as urllib.parse.quote_plus.

    >>> quote_plus('fish & chips')
    'fish+%26+chips'
    """
@overload
def quote_plus(string: bytes | bytearray, safe: str | bytes = "") -> str: ...
def quote_from_bytes(bs: bytes | bytearray, safe: str | Iterable[int] = "/") -> str:
    r"""Percent-encode bytes or a bytearray, and nothing else.

    The same as urllib.parse.quote_from_bytes.

    >>> quote_from_bytes(b'a&\xef')
    'a%26%EF'
    """
@overload
def unquote(string: str, encoding: str | None = "utf-8", errors: str | None = "replace") -> str:
    """Decode the escapes of a str or bytes. A malformed escape stays as it is.

    The same as urllib.parse.unquote.

    >>> unquote('/El%20Ni%C3%B1o/100%')
    '/El Niño/100%'
    """
@overload
def unquote(string: bytes, encoding: str = "utf-8", errors: str = "replace") -> str: ...
def unquote_plus(string: str, encoding: str | None = "utf-8", errors: str | None = "replace") -> str:
    """Decode the escapes of a value of an HTML form: a plus sign becomes a space.

    The same as urllib.parse.unquote_plus.

    >>> unquote_plus('fish+%26+chips')
    'fish & chips'
    """
def unquote_to_bytes(string: str | bytes | bytearray) -> bytes:
    r"""Decode the escapes of a str or bytes to bytes. Other characters of a str become UTF-8.

    The same as urllib.parse.unquote_to_bytes.

    >>> unquote_to_bytes('a%26%EF')
    b'a&\xef'
    """
def urlencode(
    query: Mapping[Any, Any] | Sequence[tuple[Any, Any]],
    doseq: bool = False,
    safe: str | bytes = "",
    encoding: str | None = None,
    errors: str | None = None,
    quote_via: _QuoteVia | Callable[..., str] = ...,
) -> str:
    """Encode a mapping, or a sequence of pairs, as the query of a URL.

    If `doseq` is true, each item of a value that is a sequence makes a pair of its own.

    The same as urllib.parse.urlencode.

    >>> urlencode({'q': 'fish & chips', 'page': 2})
    'q=fish+%26+chips&page=2'
    >>> urlencode({'tag': ['a', 'b']}, doseq=True)
    'tag=a&tag=b'
    """
@overload
def parse_qs(
    qs: str | None,
    keep_blank_values: bool = False,
    strict_parsing: bool = False,
    encoding: str = "utf-8",
    errors: str = "replace",
    max_num_fields: int | None = None,
    separator: str = "&",
) -> dict[str, list[str]]:
    """Return the decoded pairs of a query as a dict, with a list of values for each name.

    The same as urllib.parse.parse_qs.

    >>> parse_qs('tag=a&tag=b')
    {'tag': ['a', 'b']}
    """
@overload
def parse_qs(
    qs: bytes | bytearray,
    keep_blank_values: bool = False,
    strict_parsing: bool = False,
    encoding: str = "utf-8",
    errors: str = "replace",
    max_num_fields: int | None = None,
    separator: str | bytes = "&",
) -> dict[bytes, list[bytes]]: ...
@overload
def parse_qsl(
    qs: str | None,
    keep_blank_values: bool = False,
    strict_parsing: bool = False,
    encoding: str = "utf-8",
    errors: str = "replace",
    max_num_fields: int | None = None,
    separator: str = "&",
) -> list[tuple[str, str]]:
    """Return the decoded pairs of a query as a list.

    The same as urllib.parse.parse_qsl.

    >>> parse_qsl('q=fish+%26+chips&page=2')
    [('q', 'fish & chips'), ('page', '2')]
    """
@overload
def parse_qsl(
    qs: bytes | bytearray,
    keep_blank_values: bool = False,
    strict_parsing: bool = False,
    encoding: str = "utf-8",
    errors: str = "replace",
    max_num_fields: int | None = None,
    separator: str | bytes = "&",
) -> list[tuple[bytes, bytes]]: ...
def patch(*, everywhere: bool = False) -> None:
    """Put the functions of this package into urllib.parse, for the whole process.

    Modules that have run `from urllib.parse import quote` before keep urllib's function. If `everywhere` is true, the functions
    are also replaced in all loaded modules that have them as global variables. Call it early, before threads start. Calling
    it again does no harm, and `unpatch` takes everything back.

    >>> import urllib.parse, simdpct
    >>> simdpct.patch()
    >>> urllib.parse.quote is simdpct.quote
    True
    >>> simdpct.unpatch()
    """
def unpatch() -> None:
    """Take back what `patch` did. A function that somebody else has replaced since then stays."""

class MalformedEscape(ValueError):
    """A `%` that is not followed by two hexadecimal digits. `offset` is its index."""

    offset: int

@final
class Counts:
    """The numbers of escapes of each kind."""

    @property
    def escapes(self) -> int:
        """The number of valid escapes."""
    @property
    def malformed(self) -> int:
        """The number of `%` that do not start a valid escape."""
    @property
    def lower_case(self) -> int:
        """The number of valid escapes with a digit in lower case."""
    @property
    def unreserved(self) -> int:
        """The number of valid escapes of unreserved characters, which need no escape."""
    @property
    def percent(self) -> int:
        """The number of valid escapes of `%`: perhaps the text was encoded twice."""

@final
class Parts(Generic[AnyStr]):
    """The parts of a URL, not decoded. A part that the URL does not have is None."""

    @property
    def url(self) -> AnyStr:
        """The URL itself."""
    @property
    def scheme(self) -> AnyStr | None:
        """The scheme, without the colon."""
    @property
    def authority(self) -> AnyStr | None:
        """The authority: userinfo, host and port."""
    @property
    def userinfo(self) -> AnyStr | None:
        """The user name, and the password after a colon."""
    @property
    def user(self) -> AnyStr | None:
        """The user information before its first colon."""
    @property
    def password(self) -> AnyStr | None:
        """The user information after its first colon."""
    @property
    def host(self) -> AnyStr | None:
        """The host. An IPv6 address has its brackets."""
    @property
    def domain(self) -> AnyStr | None:
        """The registrable domain of the host, by the Public Suffix List."""
    @property
    def suffix(self) -> AnyStr | None:
        """The public suffix of the host, such as `com` or `co.uk`."""
    @property
    def port(self) -> int | None:
        """The port as a number; None also if it is not a number up to 65535."""
    @property
    def path(self) -> AnyStr:
        """The path, which may be empty."""
    @property
    def query(self) -> AnyStr | None:
        """The query, without the question mark."""
    @property
    def fragment(self) -> AnyStr | None:
        """The fragment, without the number sign."""

def normalize(string: AnyStr, /) -> AnyStr:
    """Upper-case the digits of escapes, and decode those of unreserved characters (RFC 3986, 6.2.2.1 and 6.2.2.2).

    URLs that become equal mean the same. A str gives a str, and bytes give bytes. If nothing changes, the result is the argument.

    >>> normalize('/%7ejoe/a%2fb')
    '/~joe/a%2Fb'
    """
def validate(string: str | bytes, /) -> None:
    """Raise MalformedEscape, a ValueError, if there is a `%` that is not followed by two hexadecimal digits.

    >>> validate('100%25')
    >>> validate('100%')
    Traceback (most recent call last):
        ...
    simdpct.MalformedEscape: the escape at offset 3 is cut off by the end
    """
def count(string: str | bytes, /) -> Counts:
    """Count the escapes of a str or bytes by kind.

    >>> count('%20%2f%25%41%')
    Counts(escapes=4, malformed=1, lower_case=1, unreserved=1, percent=1)
    """
def decode_until_stable(string: AnyStr, /) -> AnyStr:
    """Decode until nothing changes, in linear time: for text that was encoded an unknown number of times.

    Returns the type that it gets. In a str, bytes that are not valid UTF-8 stay escaped, in upper case.

    >>> decode_until_stable('%252525%41')
    '%A'
    """
def encode_ext_value(text: str, /) -> str:
    """Encode text as the value of a header parameter whose name ends with `*`, such as `filename*` (RFC 8187, section 3.2.1).

    >>> encode_ext_value('€ rates.txt')
    "UTF-8''%E2%82%AC%20rates.txt"
    """
def decode_ext_value(value: str | bytes, /) -> tuple[str, str]:
    """Decode such a value to its text and its language tag, which may be empty.

    The charsets are UTF-8 and ISO-8859-1. Raises ValueError if the value is malformed or in another charset. The text may hold any
    character, `/` included: check it before you use it as the name of a file.

    >>> decode_ext_value("iso-8859-1'en'%A3%20rates")
    ('£ rates', 'en')
    """
def encode_multipart_name(name: AnyStr, /) -> AnyStr:
    """Encode the name of a field or file of multipart/form-data as browsers do: `"`, CR and LF become `%22`, `%0D` and `%0A`.

    All else stays, `%` included (HTML Standard, section 4.10.22.8). Returns the type that it gets.

    >>> encode_multipart_name('say "50%".txt')
    'say %2250%%22.txt'
    """
def decode_multipart_name(name: AnyStr, /) -> AnyStr:
    """Decode the escapes `%22`, `%0D` and `%0A` of such a name, and no other. Returns the type that it gets.

    >>> decode_multipart_name('say %2250%25%22.txt')
    'say "50%25".txt'
    """
@overload
def canonicalize(url: AnyStr, /, profile: str = "rfc3986-scheme", *, errors: Literal["keep", "strict"] = "keep") -> AnyStr:
    """Return the canonical form of a URL by a profile, which is one of PROFILES.

    Crawlers, archives, browsers and block lists each have a canonical form of their own. Returns the type that it gets.

    `errors` says what happens to a URL that the profile rejects: with 'keep' it stays, with 'null' the result is None, and 'strict'
    raises ValueError with the reason.

    >>> canonicalize('HTTP://www.Example.com:80/a/./b/../%7Ejoe')
    'http://www.example.com/a/~joe'
    >>> canonicalize('HTTP://München.de', 'whatwg')
    'http://xn--mnchen-3ya.de/'
    """
@overload
def canonicalize(url: AnyStr, /, profile: str = "rfc3986-scheme", *, errors: Literal["null"]) -> AnyStr | None: ...
def split(url: AnyStr, /) -> Parts[AnyStr]:
    """Split a URL into its parts (RFC 3986, appendix B). It takes any str or bytes, and decodes nothing.
    A str with surrogates raises UnicodeEncodeError.

    >>> split('https://example.com:8080/a%2Fb?q=1#top')
    Parts(scheme='https', authority='example.com:8080', host='example.com', port=8080, path='/a%2Fb', query='q=1', fragment='top')
    """
def get(url: AnyStr, part: str | None = None, *, param: str | bytes | None = None, decode: bool = False) -> AnyStr | None:
    """Return a part of a URL as it is written: 'scheme', 'authority', 'userinfo', 'user', 'password', 'host', 'domain', 'suffix', 'port',
    'path', 'query' or 'fragment'. With `param`, return the value of the first parameter of the query with that name, decoded as in a form.
    Return None if the URL does not have it. A str with surrogates raises UnicodeEncodeError.

    With `decode`, the part is decoded once, and the escapes of its delimiters stay: `%2F` in a path, `%26`, `%3D`, `%3B` and `%2B` in a
    query, `%3A` and `%40` in an authority, `%3A` in a userinfo, and in all of these `%25`. In a str, the escapes of invalid UTF-8 stay
    as well.

    >>> url = 'https://example.com/caf%C3%A9%2Fbar?to=x%26y&q=1'
    >>> get(url, 'path')
    '/caf%C3%A9%2Fbar'
    >>> get(url, 'path', decode=True)
    '/café%2Fbar'
    >>> get(url, param='to')
    'x&y'
    """

class _ArrowArray(Protocol):
    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]: ...

class _ArrowStream(Protocol):
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

@final
class Column:
    """A column of results, for any library that takes Arrow data by the PyCapsule interface: `pyarrow.chunked_array(column)`,
    `polars.Series(column)`, `pandas.Series.from_arrow(column)`, and DuckDB through `pyarrow.table`. These copy no text,
    except that pandas copies string views and binary, and Polars joins the parts of a long column, unless they are views.
    `pyarrow.array(column)` joins the parts of a long column first.

    It is also a sequence of Python objects without slices, so that `frame["name"] = column` works with pandas: str or bytes, bool, list
    and dict, and None for null.
    """

    @property
    def null_count(self) -> int:
        """The number of nulls."""
    def to_pylist(self) -> list[Any]:
        """Return the values as a list of str, bytes, bool, list or dict, with None for null."""
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[Any]: ...
    def __getitem__(self, index: int, /) -> Any: ...
    def __arrow_c_schema__(self) -> object: ...
    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

def quote_array(
    values: _ArrowArray | _ArrowStream, safe: str | bytes = "/", *, plus: bool = False, threads: int | None = None
) -> Column:
    """Percent-encode each value of a column like `quote`, or with `plus` like `quote_plus`.

    `values` is any object with `__arrow_c_array__` or `__arrow_c_stream__`, such as a column of pyarrow, polars, pandas 3 or DuckDB,
    of strings or binary. The result is of the same type; nulls stay. The work runs on all cores, or on `threads`, and without
    the GIL.

    >>> import pyarrow
    >>> pyarrow.array(quote_array(pyarrow.array(["a b", None, "é"]))).to_pylist()
    ['a%20b', None, '%C3%A9']
    """
def unquote_array(
    values: _ArrowArray | _ArrowStream,
    *,
    plus: bool = False,
    errors: Literal["keep", "replace", "null", "strict"] = "keep",
    threads: int | None = None,
) -> Column:
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
def normalize_array(
    values: _ArrowArray | _ArrowStream,
    *,
    errors: Literal["keep", "replace", "null", "strict"] = "keep",
    threads: int | None = None,
) -> Column:
    """Normalize the escapes of each value of a column like `normalize`.

    `errors` says what happens to a value with a malformed escape: with 'keep' or 'replace' the escape stays, with 'null' the value
    becomes null, and 'strict' raises ValueError.

    >>> import pyarrow
    >>> pyarrow.array(normalize_array(pyarrow.array(["/%7ejoe/a%2fb"]))).to_pylist()
    ['/~joe/a%2Fb']
    """
def canonicalize_array(
    values: _ArrowArray | _ArrowStream,
    profile: str = "rfc3986-scheme",
    *,
    errors: Literal["keep", "null", "strict"] = "keep",
    threads: int | None = None,
) -> Column:
    """Bring each URL of a column into a canonical form like `canonicalize`.

    `errors` says what happens to a URL that the profile rejects: with 'keep' it stays, with 'null' it becomes null, and 'strict'
    raises ValueError.

    >>> import pyarrow
    >>> urls = pyarrow.array(["HTTP://Example.com:80/%7Ejoe", "http://a:99999/"])
    >>> canonicalize_array(urls, errors="null").to_pylist()
    ['http://example.com/~joe', None]
    """
def malformed_array(values: _ArrowArray | _ArrowStream, *, threads: int | None = None) -> Column:
    """Report for each value of a column whether it is malformed, as a column of booleans.

    A malformed value has a malformed escape or, in a column of strings, invalid UTF-8 when decoded. `errors` of `unquote_array` says
    what happens to these values.

    >>> import pyarrow
    >>> pyarrow.array(malformed_array(pyarrow.array(["a%20b", "%FF", "100%", None]))).to_pylist()
    [False, True, True, None]
    """

def url_array(
    values: _ArrowArray | _ArrowStream,
    function: str,
    *arguments: str | bytes | Sequence[str | bytes] | _ArrowArray | _ArrowStream,
    threads: int | None = None,
) -> Column:
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
