//! Escapes whole URLs, and decodes them back.

use alloc::vec::Vec;

use simdpct::{ByteSet, Decode, Encode, decode_escape, sets};

use crate::parts::split;

/// Converts a whole URL: encoding escapes the bytes that a URL cannot hold, and decoding restores the URL.
///
/// Use it for URLs that people type, read or paste. Syntax stays: the reserved bytes of RFC 3986, section 2.2, and
/// their escapes, so that the conversion does not change the parts of the URL. All other bytes are data: encoding
/// escapes those that are not unreserved (section 2.3), and every `%`. To insert data into a URL, use
/// [`Builder`](crate::Builder) or [`escape_for`](crate::escape_for), which know the component.
///
/// If encoding wrote `%2F` and `%252F` in the same way, decoding could not restore them. So both directions keep each spelling `%(25)*XX`
/// of a byte `XX` that is syntax. Encoding never makes a new spelling: if `%25` and the bytes after it are one, they were one before the
/// `25` was inserted. So decoding removes exactly the escapes that encoding has added.
///
/// Decoding never gives a scheme to a URL that has none: `%6Aavascript:alert(1)` stays as it is. Encoding never writes such a URL.
///
/// ```
/// use simdpct_uri::Converter;
///
/// let converter = Converter::new();
/// let typed = "http://example.org/50% off?to=%2Fcaf\u{e9}";
/// let mut url = Vec::new();
/// converter.encode_append(typed, &mut url);
/// assert_eq!(url, b"http://example.org/50%25%20off?to=%2Fcaf%C3%A9");
///
/// let mut shown = Vec::new();
/// converter.decode_append(&url, &mut shown);
/// assert_eq!(shown, typed.as_bytes());
/// ```
#[derive(Clone, Debug)]
pub struct Converter {
    /// The bytes of syntax, which both directions keep, escaped or not.
    syntax: ByteSet,
    /// The encoder, which is made once because a converter is used for many URLs.
    encode: Encode<ByteSet>,
}

impl Converter {
    /// Makes a converter whose syntax is the reserved bytes of RFC 3986.
    #[must_use]
    pub fn new() -> Converter {
        Converter::of(sets::RFC3986_RESERVED.to_byte_set())
    }

    /// Adds `bytes` to the syntax, such as line ends if each line is a URL. Decoding undoes encoding only with the same bytes. `%` is
    /// always data.
    #[must_use]
    pub fn keeping(self, bytes: ByteSet) -> Converter {
        Converter::of(self.syntax.union(bytes).remove(b"%"))
    }

    fn of(syntax: ByteSet) -> Converter {
        Converter { syntax, encode: Encode::keeping(sets::RFC3986_UNRESERVED.to_byte_set().union(syntax)) }
    }

    /// Encodes `url` and appends the result to `out`. Every input is accepted. Takes time linear in the input.
    pub fn encode_append(&self, url: &(impl AsRef<[u8]> + ?Sized), out: &mut Vec<u8>) {
        self.between(url.as_ref(), out, |data, out| self.encode.encode_append(data, out));
    }

    /// Decodes `url` and appends the result to `out`, which need not be UTF-8 afterwards. Undoes [`Converter::encode_append`]. Every
    /// input is accepted: malformed escapes stay. Takes time linear in the input.
    pub fn decode_append(&self, url: &(impl AsRef<[u8]> + ?Sized), out: &mut Vec<u8>) {
        let decode = |data: &[u8], out: &mut Vec<u8>| Decode::new().decode_append(data, out);
        let (start, url) = (out.len(), url.as_ref());
        // Only an unescaped colon ends a scheme, because the escape of a colon stays.
        let colon = url.iter().position(|byte| b":/?#".contains(byte)).filter(|&at| url[at] == b':');
        let scheme = colon.map_or(0, |at| at + 1);
        self.between(&url[..scheme], out, decode);
        if out[start..] != url[..scheme] && split(&out[start..]).scheme().is_some() {
            out.truncate(start);
            out.extend_from_slice(&url[..scheme]);
        }
        self.between(&url[scheme..], out, decode);
    }

    /// Copies the spellings `%(25)*XX` of bytes of syntax to `out`, and calls `each` with the data between them.
    fn between(&self, url: &[u8], out: &mut Vec<u8>, each: impl Fn(&[u8], &mut Vec<u8>)) {
        let mut from = 0;
        for at in memchr::memchr_iter(b'%', url) {
            if let Some(len) = self.spelling(&url[at..]) {
                each(&url[from..at], out);
                out.extend_from_slice(&url[at..at + len]);
                from = at + len;
            }
        }
        each(&url[from..], out);
    }

    /// Returns the length of the spelling `%(25)*XX` of a byte of syntax at the start of `rest`, which starts with `%`. A
    /// spelling holds no other `%`, so no byte is checked twice.
    fn spelling(&self, rest: &[u8]) -> Option<usize> {
        let mut at = 1;
        while rest[at..].starts_with(b"25") {
            at += 2;
        }
        let &[high, low] = rest[at..].first_chunk()?;
        decode_escape(&[b'%', high, low]).filter(|&byte| self.syntax.contains(byte)).map(|_| at + 2)
    }
}

impl Default for Converter {
    fn default() -> Converter {
        Converter::new()
    }
}
