"""Percent-encoding (URL encoding) with SIMD instructions.

The package has the functions of urllib.parse, with the same arguments, answers and exceptions:

>>> from simdpct import quote, unquote
>>> quote('/El Niño/')
'/El%20Ni%C3%B1o/'
>>> unquote('/El%20Ni%C3%B1o/')
'/El Niño/'

`patch()` puts these functions into urllib.parse, for programs and libraries that you do not want to change.

These functions take columns of pyarrow, polars, pandas and DuckDB, by the Arrow C data interface: `quote_array`, `unquote_array`,
`normalize_array`, `canonicalize_array`, `malformed_array` and `url_array`. Expressions for queries in Polars are in `simdpct.polars`.

The functions of one string are `normalize`, `validate`, `count` and `decode_until_stable`; of one URL: `split`, `get` and
`canonicalize`; of a value in a header: `encode_ext_value`, `decode_ext_value`, `encode_multipart_name`, `decode_multipart_name`.
"""

from ._columns import canonicalize_array, malformed_array, normalize_array, quote_array, unquote_array, url_array
from ._patch import patch, unpatch
from ._simdpct import (
    PROFILES,
    Column,
    Counts,
    MalformedEscape,
    Parts,
    __version__,
    canonicalize,
    count,
    decode_ext_value,
    decode_multipart_name,
    decode_until_stable,
    encode_ext_value,
    encode_multipart_name,
    get,
    normalize,
    parse_qs,
    parse_qsl,
    quote,
    quote_from_bytes,
    quote_plus,
    split,
    unquote,
    unquote_plus,
    unquote_to_bytes,
    validate,
)
from ._urlencode import urlencode

__all__ = [
    "PROFILES",
    "Column",
    "Counts",
    "MalformedEscape",
    "Parts",
    "__version__",
    "canonicalize",
    "canonicalize_array",
    "count",
    "decode_ext_value",
    "decode_multipart_name",
    "decode_until_stable",
    "encode_ext_value",
    "encode_multipart_name",
    "get",
    "malformed_array",
    "normalize",
    "normalize_array",
    "parse_qs",
    "parse_qsl",
    "patch",
    "quote",
    "quote_array",
    "quote_from_bytes",
    "quote_plus",
    "split",
    "unpatch",
    "unquote",
    "unquote_array",
    "unquote_plus",
    "unquote_to_bytes",
    "url_array",
    "urlencode",
    "validate",
]
