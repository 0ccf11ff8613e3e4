"""Puts the functions of this package into urllib.parse."""

import sys
import types
import urllib.parse

from . import _simdpct
from ._urlencode import urlencode

_NAMES = (
    "parse_qs",
    "parse_qsl",
    "quote",
    "quote_from_bytes",
    "quote_plus",
    "unquote",
    "unquote_plus",
    "unquote_to_bytes",
    "urlencode",
)
_ORIGINALS = {name: getattr(urllib.parse, name) for name in _NAMES}
_OURS = {name: getattr(_simdpct, name) for name in _NAMES} | {"urlencode": urlencode}
# An entry for each replaced function: the module, the function's name in the module, and urllib's function.
_replaced = []


def patch(*, everywhere=False):
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
    package = __name__.partition(".")[0]
    originals = {id(function): name for name, function in _ORIGINALS.items()}
    for module in list(sys.modules.values()) if everywhere else [urllib.parse]:
        # The attribute access of a lazy module would load it, so it must not run.
        is_module = issubclass(type(module), types.ModuleType)
        namespace = object.__getattribute__(module, "__dict__") if is_module else None
        if type(namespace) is not dict or str(namespace.get("__name__")).partition(".")[0] == package:
            continue
        for name, value in list(namespace.items()):
            original = originals.get(id(value))
            if original is not None:
                _replaced.append((module, name, value))
                setattr(module, name, _OURS[original])


def unpatch():
    """Take back what `patch` did. A function that somebody else has replaced since then stays."""
    while _replaced:
        module, name, original = _replaced.pop()
        if getattr(module, name, None) is _OURS[original.__name__]:
            setattr(module, name, original)
