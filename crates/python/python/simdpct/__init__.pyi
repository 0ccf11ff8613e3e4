from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol, overload

__version__: str

class _QuoteVia(Protocol):
    @overload
    def __call__(self, string: str, safe: str | bytes, encoding: str, errors: str, /) -> str: ...
    @overload
    def __call__(self, string: bytes, safe: str | bytes, /) -> str: ...

@overload
def quote(string: str, safe: str | Iterable[int] = "/", encoding: str | None = None, errors: str | None = None) -> str: ...
@overload
def quote(string: bytes | bytearray, safe: str | Iterable[int] = "/") -> str: ...
@overload
def quote_plus(string: str, safe: str | bytes = "", encoding: str | None = None, errors: str | None = None) -> str: ...
@overload
def quote_plus(string: bytes | bytearray, safe: str | bytes = "") -> str: ...
def quote_from_bytes(bs: bytes | bytearray, safe: str | Iterable[int] = "/") -> str: ...
@overload
def unquote(string: str, encoding: str | None = "utf-8", errors: str | None = "replace") -> str: ...
@overload
def unquote(string: bytes, encoding: str = "utf-8", errors: str = "replace") -> str: ...
def unquote_plus(string: str, encoding: str | None = "utf-8", errors: str | None = "replace") -> str: ...
def unquote_to_bytes(string: str | bytes | bytearray) -> bytes: ...
def urlencode(
    query: Mapping[Any, Any] | Sequence[tuple[Any, Any]],
    doseq: bool = False,
    safe: str | bytes = "",
    encoding: str | None = None,
    errors: str | None = None,
    quote_via: _QuoteVia | Callable[..., str] = ...,
) -> str: ...
@overload
def parse_qs(
    qs: str | None,
    keep_blank_values: bool = False,
    strict_parsing: bool = False,
    encoding: str = "utf-8",
    errors: str = "replace",
    max_num_fields: int | None = None,
    separator: str = "&",
) -> dict[str, list[str]]: ...
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
) -> list[tuple[str, str]]: ...
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
def patch(*, everywhere: bool = False) -> None: ...
def unpatch() -> None: ...
