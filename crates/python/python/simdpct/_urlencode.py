"""urlencode. It is in Python because the default of `quote_via` is a function, which a built-in signature cannot express."""

from ._simdpct import quote_plus
from ._simdpct import urlencode as _urlencode


def urlencode(query, doseq=False, safe="", encoding=None, errors=None, quote_via=quote_plus):
    """Encode a mapping, or a sequence of pairs, as the query of a URL.

    If `doseq` is true, each item of a value that is a sequence makes a pair of its own.

    The same as urllib.parse.urlencode.

    >>> urlencode({'q': 'fish & chips', 'page': 2})
    'q=fish+%26+chips&page=2'
    >>> urlencode({'tag': ['a', 'b']}, doseq=True)
    'tag=a&tag=b'
    """
    return _urlencode(query, doseq, safe, encoding, errors, quote_via)


urlencode.__module__ = "simdpct"
