"""Percent-encoding (URL encoding) at close to the speed of copying.

The functions of urllib.parse, with the same arguments, answers and exceptions:

>>> from simdpct import quote, unquote
>>> quote('/El Niño/')
'/El%20Ni%C3%B1o/'
>>> unquote('/El%20Ni%C3%B1o/')
'/El Niño/'

`patch()` puts them into urllib.parse, for programs and libraries that you do not want to change.
"""

from ._patch import patch, unpatch
from ._simdpct import (
    __version__,
    parse_qs,
    parse_qsl,
    quote,
    quote_from_bytes,
    quote_plus,
    unquote,
    unquote_plus,
    unquote_to_bytes,
)
from ._urlencode import urlencode

__all__ = [
    "__version__",
    "parse_qs",
    "parse_qsl",
    "patch",
    "quote",
    "quote_from_bytes",
    "quote_plus",
    "unpatch",
    "unquote",
    "unquote_plus",
    "unquote_to_bytes",
    "urlencode",
]
