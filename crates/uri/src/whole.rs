//! Escapes whole URLs, and decodes them back.

use alloc::vec::Vec;

use simdpct::{ByteSet, Decode, Encode, decode_escape, sets};

use crate::canon::hidden_schemes;

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
/// Before the query, browsers read `\` as a slash and remove TAB, LF and CR; at the start of a URL, they also remove blanks and C0
/// controls. In these places, these bytes are syntax too, because a URL such as `http://a.com\@b.com/` has another host if they are
/// escaped, and `/%5Cb.com/` if they are decoded. So the result of encoding is a valid URI only if the input has none of them there.
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
#[must_use]
pub struct Converter {
    before_query: Zone,
    from_query: Zone,
}

/// The conversion of one zone of a URL.
#[derive(Clone, Debug)]
struct Zone {
    /// The bytes of syntax, which both directions keep, escaped or not.
    syntax: ByteSet,
    /// The encoder, which is made once because a converter is used for many URLs.
    encode: Encode<ByteSet>,
}

impl Converter {
    /// Makes a converter whose syntax is the reserved bytes of RFC 3986, and the bytes that only browsers read as syntax.
    pub fn new() -> Converter {
        Converter::of(sets::RFC3986_RESERVED.to_byte_set())
    }

    /// Adds `bytes` to the syntax, such as line ends if each line is a URL. Decoding undoes encoding only with the same bytes. `%` is
    /// always data.
    pub fn keeping(self, bytes: ByteSet) -> Converter {
        Converter::of(self.from_query.syntax.union(bytes).remove(b"%"))
    }

    fn of(syntax: ByteSet) -> Converter {
        Converter { before_query: Zone::new(syntax.add(b"\\\t\r\n")), from_query: Zone::new(syntax) }
    }

    /// Encodes `url` and appends the result to `out`. Every input is accepted. Takes time linear in the input.
    pub fn encode_append(&self, url: &(impl AsRef<[u8]> + ?Sized), out: &mut Vec<u8>) {
        let url = url.as_ref();
        self.convert(url, blanks(url), out, |zone, data, out| zone.encode.encode_append(data, out));
    }

    /// Decodes `url` and appends the result to `out`, which need not be UTF-8 afterwards. Undoes [`Converter::encode_append`]. Every
    /// input is accepted: malformed escapes stay. Takes time linear in the input.
    pub fn decode_append(&self, url: &(impl AsRef<[u8]> + ?Sized), out: &mut Vec<u8>) {
        let url = url.as_ref();
        let kept = hidden_schemes(url, None).next().map_or_else(|| blanks(url), |scheme| scheme.end);
        self.convert(url, kept, out, |_, data, out| Decode::new().decode_append(data, out));
    }

    /// Copies the first `kept` bytes of `url` and the spellings of syntax to `out`, and calls `each` with the data between them.
    fn convert(&self, url: &[u8], kept: usize, out: &mut Vec<u8>, each: impl Fn(&Zone, &[u8], &mut Vec<u8>)) {
        let (kept, rest) = url.split_at(kept);
        out.extend_from_slice(kept);
        let (before, from) = rest.split_at(memchr::memchr2(b'?', b'#', rest).unwrap_or(rest.len()));
        for (zone, part) in [(&self.before_query, before), (&self.from_query, from)] {
            let mut done = 0;
            for at in memchr::memchr_iter(b'%', part) {
                if let Some(len) = spelling(&part[at..], zone.syntax) {
                    each(zone, &part[done..at], out);
                    out.extend_from_slice(&part[at..at + len]);
                    done = at + len;
                }
            }
            each(zone, &part[done..], out);
        }
    }
}

impl Zone {
    fn new(syntax: ByteSet) -> Zone {
        Zone { syntax, encode: Encode::keeping(sets::RFC3986_UNRESERVED.to_byte_set().union(syntax)) }
    }
}

/// Returns the length of the spelling `%(25)*XX` of one of `bytes` at the start of `rest`, which starts with `%`. A spelling holds no
/// other `%`, so no byte is checked twice.
fn spelling(rest: &[u8], bytes: ByteSet) -> Option<usize> {
    let mut at = 1;
    while rest[at..].starts_with(b"25") {
        at += 2;
    }
    let &[high, low] = rest[at..].first_chunk()?;
    decode_escape(&[b'%', high, low]).filter(|&byte| bytes.contains(byte)).map(|_| at + 2)
}

/// Returns the length of the blanks and C0 controls at the start of `url`, and of one spelling `%(25)*XX` after them: browsers remove no
/// bytes after it.
fn blanks(url: &[u8]) -> usize {
    const BLANKS: ByteSet = ByteSet::from_bitmap([(1 << 33) - 1, 0, 0, 0]);

    let start = url.iter().take_while(|byte| **byte <= b' ').count();
    let rest = &url[start..];
    start + if rest.starts_with(b"%") { spelling(rest, BLANKS).unwrap_or(0) } else { 0 }
}

impl Default for Converter {
    fn default() -> Converter {
        Converter::new()
    }
}
