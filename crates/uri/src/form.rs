//! `application/x-www-form-urlencoded` (WHATWG URL Standard, section 5): writes pairs as text, and reads them.
//!
//! ```
//! use simdpct_uri::form;
//!
//! let mut out = form::Serializer::new();
//! out.append_pair("name", "J\u{fc}rgen & Co.").append_pair("n", "1+1");
//! let text = out.finish();
//! assert_eq!(text, "name=J%C3%BCrgen+%26+Co.&n=1%2B1");
//! let pairs: Vec<_> = form::pairs(&text).map(|(name, value)| (name.into_owned(), value.into_owned())).collect();
//! assert_eq!(pairs[1], (b"n".to_vec(), b"1+1".to_vec()));
//! ```

use alloc::borrow::Cow;
use alloc::string::String;
use core::iter::FusedIterator;

#[cfg(feature = "charset")]
use crate::charset::Charset;
use crate::pieces::{QueryPair, query_pairs};

/// Returns the pairs of a form, decoded (section 5.1).
///
/// `+` is a space, malformed escapes stay, empty parameters are left out, and a parameter without `=` has an empty value. Names and
/// values are borrowed if decoding does not change them. Takes time linear in the input.
///
/// ```
/// let mut pairs = simdpct_uri::form::pairs("a=1+%2B&&b");
/// assert_eq!(pairs.next(), Some((b"a".into(), b"1 +".into())));
/// assert_eq!(pairs.next(), Some((b"b".into(), b"".into())));
/// ```
pub fn pairs<'a>(
    input: &'a (impl AsRef<[u8]> + ?Sized),
) -> impl DoubleEndedIterator<Item = (Cow<'a, [u8]>, Cow<'a, [u8]>)> + FusedIterator + Clone {
    let decode =
        |pair: QueryPair<'a>| (pair.name.decode_form(), pair.value.unwrap_or_default().decode_form());
    query_pairs(input.as_ref()).map(decode)
}

/// Returns the pairs of a form as text, with U+FFFD in place of invalid UTF-8 (section 5.1). Otherwise it works like [`pairs`].
///
/// ```
/// let mut pairs = simdpct_uri::form::pairs_utf8("q=caf%C3%A9+%FF");
/// assert_eq!(pairs.next(), Some(("q".into(), "caf\u{e9} \u{fffd}".into())));
/// ```
pub fn pairs_utf8<'a>(
    input: &'a (impl AsRef<[u8]> + ?Sized),
) -> impl DoubleEndedIterator<Item = (Cow<'a, str>, Cow<'a, str>)> + FusedIterator + Clone {
    query_pairs(input.as_ref()).map(QueryPair::decoded)
}

/// Returns the pairs of a form as text in a charset, with U+FFFD in place of bytes that are invalid in the charset. Otherwise it
/// works like [`pairs`]. See [`charset`] for an example.
#[cfg(feature = "charset")]
pub fn pairs_in<'a>(
    input: &'a (impl AsRef<[u8]> + ?Sized),
    charset: Charset,
) -> impl DoubleEndedIterator<Item = (Cow<'a, str>, Cow<'a, str>)> + FusedIterator + Clone {
    query_pairs(input.as_ref()).map(move |pair| {
        let [name, value] = [pair.name, pair.value.unwrap_or_default()].map(|piece| piece.raw());
        (charset.decode_form_lossy(name), charset.decode_form_lossy(value))
    })
}

/// Returns the charset that a form names: the value of its first field `_charset_`, which browsers fill in (HTML, section 4.10.22.4).
/// `None` without such a field, or if its value is not a label of a charset.
///
/// ```
/// use simdpct_uri::{charset::Charset, form};
///
/// let text = "q=caf%E9&_charset_=windows-1252";
/// let charset = form::charset(text).unwrap_or(Charset::find("utf-8").unwrap());
/// assert_eq!(form::pairs_in(text, charset).next(), Some(("q".into(), "caf\u{e9}".into())));
/// ```
#[cfg(feature = "charset")]
#[must_use]
pub fn charset(input: &(impl AsRef<[u8]> + ?Sized)) -> Option<Charset> {
    let (_, label) = pairs(input).find(|(name, _)| **name == *b"_charset_")?;
    Charset::find(core::str::from_utf8(&label).ok()?)
}

/// The way in which a [`Serializer`] writes line ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum LineEnds {
    /// Line ends stay as they are.
    #[default]
    Kept,
    /// LF, CR and CR LF become CR LF, which browsers send for the lines of a text area (HTML, section 4.10.22.6).
    CrLf,
}

/// Writes pairs as a form (section 5.2). Its methods are named like those of the crate form_urlencoded.
///
/// ```
/// use simdpct_uri::form::Serializer;
///
/// let mut form = Serializer::after("/search?".to_owned());
/// form.append_pair("q", "a&b").append_key_only("exact");
/// assert_eq!(form.finish(), "/search?q=a%26b&exact");
/// ```
#[derive(Clone, Debug, Default)]
pub struct Serializer {
    out: String,
    start: usize,
    line_ends: LineEnds,
    #[cfg(feature = "charset")]
    charset: Option<Charset>,
}

impl Serializer {
    /// Makes a serializer without pairs.
    #[must_use]
    pub fn new() -> Serializer {
        Serializer::default()
    }

    /// Makes a serializer that appends to `out`, such as a URL with its `?`. No `&` is written before the first pair.
    #[must_use]
    pub fn after(out: String) -> Serializer {
        Serializer { start: out.len(), out, ..Serializer::default() }
    }

    /// Sets how line ends are written from now on.
    pub fn line_ends(&mut self, line_ends: LineEnds) -> &mut Serializer {
        self.line_ends = line_ends;
        self
    }

    /// Sets the charset that text is written in from now on; the default is UTF-8.
    ///
    /// A character that the charset does not have becomes a character reference of HTML, as [`Charset::encode_append`] writes it.
    /// Names and values that are not UTF-8 are taken to be in the charset already.
    ///
    /// ```
    /// use simdpct_uri::{charset::Charset, form::Serializer};
    ///
    /// let mut form = Serializer::new();
    /// form.charset(Charset::find("latin1").unwrap()).append_charset().append_pair("q", "caf\u{e9} \u{20ac}\u{4f8b}");
    /// assert_eq!(form.finish(), "_charset_=windows-1252&q=caf%E9+%80%26%2320363%3B");
    /// ```
    #[cfg(feature = "charset")]
    pub fn charset(&mut self, charset: Charset) -> &mut Serializer {
        self.charset = Some(charset);
        self
    }

    /// Appends the pair `_charset_` with the name of the charset, as browsers write it.
    #[cfg(feature = "charset")]
    pub fn append_charset(&mut self) -> &mut Serializer {
        let name = self.charset.map_or("UTF-8", Charset::name);
        self.append_pair("_charset_", name)
    }

    /// Appends a pair.
    pub fn append_pair(
        &mut self,
        name: &(impl AsRef<[u8]> + ?Sized),
        value: &(impl AsRef<[u8]> + ?Sized),
    ) -> &mut Serializer {
        self.append_key_only(name);
        self.out.push('=');
        self.append(value.as_ref());
        self
    }

    /// Appends a name without `=`. [`pairs`] reads it as a name with an empty value.
    pub fn append_key_only(&mut self, name: &(impl AsRef<[u8]> + ?Sized)) -> &mut Serializer {
        if self.out.len() > self.start {
            self.out.push('&');
        }
        self.append(name.as_ref());
        self
    }

    /// Appends many pairs.
    pub fn extend_pairs<N: AsRef<[u8]>, V: AsRef<[u8]>>(
        &mut self,
        pairs: impl IntoIterator<Item = (N, V)>,
    ) -> &mut Serializer {
        for (name, value) in pairs {
            self.append_pair(&name, &value);
        }
        self
    }

    fn append(&mut self, mut data: &[u8]) {
        if self.line_ends == LineEnds::CrLf {
            while let Some(at) = memchr::memchr2(b'\r', b'\n', data) {
                self.append_encoded(&data[..at]);
                self.out.push_str("%0D%0A");
                let is_crlf = data[at..].starts_with(b"\r\n");
                data = &data[at + 1 + usize::from(is_crlf)..];
            }
        }
        self.append_encoded(data);
    }

    fn append_encoded(&mut self, data: &[u8]) {
        #[cfg(feature = "charset")]
        if let Some(charset) = self.charset
            && let Ok(text) = core::str::from_utf8(data)
        {
            return charset.encode_form(text, &mut self.out);
        }
        simdpct::form::encode_append(data, &mut self.out);
    }

    /// Returns the text, and leaves a serializer without pairs.
    #[must_use]
    pub fn finish(&mut self) -> String {
        self.start = 0;
        core::mem::take(&mut self.out)
    }
}
