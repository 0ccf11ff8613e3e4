//! The converters of whole URLs.

use alloc::vec::Vec;

use simdpct::{ByteSet, Decode, Encode, decode_escape, sets};

/// Converts a whole URL: what no URL may hold becomes escapes, and back. Each direction undoes the other.
///
/// This is what the old converters of URLs do, for text that is to be read or pasted. Syntax stays: the reserved bytes of
/// RFC 3986, section 2.2, and their escapes, so the URL has the same parts before and after. Everything else is data: a byte
/// that is not unreserved (section 2.3) becomes an escape, and so does every `%`. Data that is to be *put into* a URL is the
/// business of [`Builder`](crate::Builder) and [`escape_for`](crate::escape_for), which know where it goes.
///
/// `%2F` must not become what `%252F` becomes, or there would be no way back. So a spelling `%(25)*XX` of a byte `XX` that is
/// syntax stays in both directions. What the encoder writes has no such spelling that was not there: of `%25` and what follows
/// it, that would have been one without the `25`. So decoding takes away what encoding has added, and nothing else.
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
    /// The bytes that stay as they are, escaped or not.
    syntax: ByteSet,
    /// Made once, because a converter is for many URLs.
    encode: Encode<ByteSet>,
}

impl Converter {
    /// With the syntax of RFC 3986.
    #[must_use]
    pub fn new() -> Converter {
        Converter::of(sets::RFC3986_RESERVED.to_byte_set())
    }

    /// The same, to which these bytes are syntax as well: line ends, say, where each line is a URL. The two directions undo each
    /// other if both have the same ones. `%` is always data.
    #[must_use]
    pub fn keeping(self, bytes: ByteSet) -> Converter {
        Converter::of(self.syntax.union(bytes).remove(b"%"))
    }

    fn of(syntax: ByteSet) -> Converter {
        Converter { syntax, encode: Encode::keeping(sets::RFC3986_UNRESERVED.to_byte_set().union(syntax)) }
    }

    /// Appends `url` with escapes for what it may not hold. No input is wrong. Takes linear time.
    pub fn encode_append(&self, url: &(impl AsRef<[u8]> + ?Sized), out: &mut Vec<u8>) {
        self.between(url.as_ref(), out, |data, out| self.encode.encode_append(data, out));
    }

    /// Appends what [`Converter::encode_append`] has made this of. No input is wrong: a `%` that starts no escape stays. What
    /// is appended need not be UTF-8. Takes linear time.
    pub fn decode_append(&self, url: &(impl AsRef<[u8]> + ?Sized), out: &mut Vec<u8>) {
        self.between(url.as_ref(), out, |data, out| Decode::new().decode_append(data, out));
    }

    /// Hands what is between spellings of syntax to `each`, and copies these.
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

    /// The length of the spelling of a byte of syntax at the start of `rest`, which starts with `%`. There is no other `%` in it,
    /// so that no byte is looked at twice.
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
