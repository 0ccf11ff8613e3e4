"""Tests the functions of one string that urllib does not have."""

import codecs
import random
import urllib.parse

import pytest

import simdpct


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ("/%7ejoe/a%2fb", "/~joe/a%2Fb"),
        ("%257E", "%257E"),
        ("%zz%4", "%zz%4"),
        ("%%34%31%2%35", "%%341%2%35"),
        ("é%c3%A9", "é%C3%A9"),
        ("", ""),
    ],
)
def test_normalize(given, wanted):
    assert simdpct.normalize(given) == wanted
    assert simdpct.normalize(given.encode()) == wanted.encode()
    assert simdpct.normalize(wanted) is wanted


def test_validate():
    simdpct.validate("%41%zZ"[:3])
    for text, offset in [("é%", 1), ("%41%4", 3), ("%4z", 0), ("日本%é1", 2)]:
        with pytest.raises(simdpct.MalformedEscape) as raised:
            simdpct.validate(text)
        assert raised.value.offset == offset
        assert isinstance(raised.value, ValueError)
        with pytest.raises(simdpct.MalformedEscape) as raised:
            simdpct.validate(text.encode())
        assert raised.value.offset == len(text[:offset].encode())


def test_count():
    counts = simdpct.count("%20%2f%25%41%")
    assert (counts.escapes, counts.malformed, counts.lower_case, counts.unreserved, counts.percent) == (4, 1, 1, 1, 1)
    assert counts == simdpct.count(b"%20%2f%25%41%") != simdpct.count("")


codecs.register_error("escapes", lambda error: ("".join(f"%{byte:02X}" for byte in error.object[error.start : error.end]), error.end))


def test_until_stable():
    rng = random.Random(3)
    for _ in range(2000):
        text = "".join(rng.choices(["%", "25", "%25", "41", "2", "5", "a", "%C3", "%A9", "%FF"], k=rng.randrange(12)))
        wanted, before = text.encode(), None
        while wanted != before:
            before, wanted = wanted, simdpct.unquote_to_bytes(wanted)
        assert simdpct.decode_until_stable(text.encode()) == wanted
        assert simdpct.decode_until_stable(text) == wanted.decode(errors="escapes")
    assert simdpct.decode_until_stable("%" + "25" * 100_000 + "41") == "A"


def test_header_values():
    for text in ("", "a b.txt", "\u20ac", "%41'\"*()\0/", "".join(map(chr, range(0x300)))):
        value = simdpct.encode_ext_value(text)
        assert value == "UTF-8''" + urllib.parse.quote(text, safe="!#$&+^`|")
        assert simdpct.decode_ext_value(value) == simdpct.decode_ext_value(value.encode()) == (text, "")
    assert simdpct.decode_ext_value("iso-8859-1'en'%A3%20rates") == ("\xa3 rates", "en")
    for wrong in ("", "a", "UTF-8''a b", "UTF-8''%ff", "x''a"):
        with pytest.raises(ValueError):
            simdpct.decode_ext_value(wrong)
    name = 'a"b\r\n\xe9%22'
    assert simdpct.encode_multipart_name(name) == "a%22b%0D%0A\xe9%22"
    assert simdpct.encode_multipart_name(name.encode()) == "a%22b%0D%0A\xe9%22".encode()
    assert simdpct.decode_multipart_name("a%22b%0D%0a%25") == 'a"b\r\n%25'


def test_canonicalize():
    assert set(simdpct.PROFILES) >= {"escapes", "rfc3986", "rfc3986-scheme", "whatwg", "safe-browsing-4", "w3lib-2.5", "robots"}
    url = "HTTP://www.Example.com:80/a/./b/../%7Ejoe%2f"
    assert simdpct.canonicalize(url, "rfc3986") == "http://www.example.com:80/a/~joe%2F"
    assert simdpct.canonicalize(url.encode(), "rfc3986-scheme") == b"http://www.example.com/a/~joe%2F"
    clean = "http://example.com/a"
    for profile in simdpct.PROFILES:
        # A SURT is a key for sorting, not a URL.
        key = "com,example)/a" if profile.startswith("surt") else clean
        assert simdpct.canonicalize(clean, profile) == key
    rejected = "http://a:99999/"
    with pytest.raises(ValueError, match="not a number.*at offset 9"):
        simdpct.canonicalize(rejected, "rfc3986", errors="strict")
    assert simdpct.canonicalize(rejected) is simdpct.canonicalize(rejected, errors="keep") is rejected
    assert simdpct.canonicalize(rejected, errors="null") is simdpct.canonicalize(rejected.encode(), errors="null") is None
    assert simdpct.canonicalize(url) == simdpct.canonicalize(url, profile="rfc3986-scheme")
    with pytest.raises(ValueError, match="^canonicalize: there is no profile 'x'; profiles are .*rfc3986"):
        simdpct.canonicalize(url, "x")
    with pytest.raises(ValueError, match="^canonicalize: errors must be 'keep', 'null' or 'strict', not \"replace\""):
        simdpct.canonicalize(url, errors="replace")


PARTS = ["scheme", "authority", "userinfo", "user", "password", "host", "domain", "suffix", "port", "path", "query", "fragment"]


def test_split_and_get():
    parts = simdpct.split("https://u:p@example.com:8080/a%2Fb?q=1#top")
    assert (parts.scheme, parts.authority, parts.userinfo) == ("https", "u:p@example.com:8080", "u:p")
    assert (parts.host, parts.port, parts.path, parts.query, parts.fragment) == ("example.com", 8080, "/a%2Fb", "q=1", "top")
    parts = simdpct.split(b"a?#")
    assert (parts.scheme, parts.host, parts.port, parts.path, parts.query, parts.fragment) == (None, None, None, b"a", b"", b"")
    assert simdpct.split("//h:99999/").port is None
    url = "https://j%40b:p%3A@ex%41mple.com:80/a%2Fb%20c?a=1&b=x%26+y&c&a=2#f%20"
    # `split` and `get` return the same text for each part, as the URL has it.
    parts = simdpct.split(url)
    for name in PARTS:
        written = str(parts.port) if name == "port" else getattr(parts, name)
        assert simdpct.get(url, name) == written, name
        assert simdpct.get(url.encode(), name) == written.encode()
    assert parts.url is url
    assert (parts.path, parts.query, parts.user, parts.password) == ("/a%2Fb%20c", "a=1&b=x%26+y&c&a=2", "j%40b", "p%3A")
    decoded = {"user": "j@b", "password": "p:", "userinfo": "j@b:p%3A", "authority": "j%40b:p%3A@exAmple.com:80", "host": "exAmple.com"}
    decoded |= {"path": "/a%2Fb c", "query": "a=1&b=x%26+y&c&a=2", "fragment": "f ", "scheme": "https", "port": "80"}
    assert {name: simdpct.get(url, name, decode=True) for name in decoded} == decoded
    assert simdpct.get("?a=%3D%3B%2B%26%25%FF%41", "query", decode=True) == "a=%3D%3B%2B%26%25%FFA"
    assert simdpct.get(b"?a=%3D%3B%2B%26%25%FF%41", "query", decode=True) == b"a=%3D%3B%2B%26%25\xffA"
    assert [simdpct.get(url, param=name) for name in "abcd"] == ["1", "x& y", "", None]
    assert simdpct.get(url.encode(), param=b"b") == b"x& y"
    assert simdpct.get("?q=%FF%41", param="q") == "%FFA"
    # The escapes of invalid UTF-8 stay in names, too.
    assert simdpct.get("?%FF%41=1", param="%FFA") == "1"
    assert simdpct.get(b"?%FF%41=1", param=b"\xffA") == b"1"
    parts = simdpct.split("http://www.example.co.uk/")
    assert (parts.domain, parts.suffix, parts.user) == ("example.co.uk", "co.uk", None)
    assert simdpct.split("/a").domain is simdpct.split("http://127.0.0.1/").suffix is None
    assert simdpct.split(b"//a.b.com").domain == b"b.com"
    for name in PARTS:
        assert simdpct.get("", name) == ("" if name == "path" else None)
    for args in [{}, {"part": "x"}, {"part": "segments"}, {"part": "host", "param": "a"}]:
        with pytest.raises(ValueError, match="^get: "):
            simdpct.get(url, **args)


@pytest.mark.parametrize("function", [simdpct.normalize, simdpct.validate, simdpct.count, simdpct.split, simdpct.decode_until_stable])
def test_objects_that_are_not_text(function):
    for thing in (None, 5, bytearray(b"a"), ["a"]):
        with pytest.raises(TypeError, match="expected a str or bytes, not "):
            function(thing)
    with pytest.raises(UnicodeEncodeError):
        function("\ud800")
    with pytest.raises(UnicodeEncodeError):
        simdpct.get("/\ud800", "path")


def test_the_type_of_parts_takes_an_argument():
    """The stub declares Parts[str] and Parts[bytes], and an annotation may be evaluated."""
    assert simdpct.Parts[str].__origin__ is simdpct.Parts


def test_results_cannot_be_changed():
    for result, name in [(simdpct.count(""), "escapes"), (simdpct.split(""), "path")]:
        with pytest.raises(AttributeError):
            setattr(result, name, 1)
        assert repr(result).startswith(type(result).__name__)
