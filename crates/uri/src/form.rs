//! `application/x-www-form-urlencoded` (WHATWG URL Standard, section 5): pairs to text and back.
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
use crate::pieces;

/// The pairs of a form, decoded: `+` is a space, a malformed escape stays, empty parameters are left out, and a parameter
/// without `=` has an empty value (section 5.1). Borrowed where nothing changes.
#[must_use]
pub fn pairs<'a>(input: &'a (impl AsRef<[u8]> + ?Sized)) -> Pairs<'a> {
    Pairs(pieces::Pairs::new(input.as_ref()))
}

/// See [`pairs`].
#[derive(Clone, Debug)]
pub struct Pairs<'a>(pieces::Pairs<'a>);

impl<'a> Iterator for Pairs<'a> {
    type Item = (Cow<'a, [u8]>, Cow<'a, [u8]>);

    fn next(&mut self) -> Option<Self::Item> {
        let pair = self.0.next()?;
        Some((pair.name.decode_form(), pair.value.unwrap_or_default().decode_form()))
    }
}

impl FusedIterator for Pairs<'_> {}

/// The pairs of a form as text: what is not UTF-8 is replaced by U+FFFD (section 5.1).
#[must_use]
pub fn pairs_utf8<'a>(input: &'a (impl AsRef<[u8]> + ?Sized)) -> PairsUtf8<'a> {
    PairsUtf8(pieces::Pairs::new(input.as_ref()))
}

/// See [`pairs_utf8`].
#[derive(Clone, Debug)]
pub struct PairsUtf8<'a>(pieces::Pairs<'a>);

impl<'a> Iterator for PairsUtf8<'a> {
    type Item = (Cow<'a, str>, Cow<'a, str>);

    fn next(&mut self) -> Option<Self::Item> {
        let pair = self.0.next()?;
        let text = |piece: pieces::Piece<'a>| simdpct::Decode::new().form().decode_utf8_lossy(piece.raw());
        Some((text(pair.name), text(pair.value.unwrap_or_default())))
    }
}

impl FusedIterator for PairsUtf8<'_> {}

/// The charset that a form says it is in: the value of its first field `_charset_`, which browsers fill in (HTML, section
/// 4.10.22.5), if that is a label of one.
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

/// The pairs of a form as text in a charset: what is not text in it is replaced by U+FFFD. See [`charset`].
#[cfg(feature = "charset")]
#[must_use]
pub fn pairs_in<'a>(input: &'a (impl AsRef<[u8]> + ?Sized), charset: Charset) -> PairsIn<'a> {
    PairsIn { pairs: pieces::Pairs::new(input.as_ref()), charset }
}

/// See [`pairs_in`].
#[cfg(feature = "charset")]
#[derive(Clone, Debug)]
pub struct PairsIn<'a> {
    pairs: pieces::Pairs<'a>,
    charset: Charset,
}

#[cfg(feature = "charset")]
impl<'a> Iterator for PairsIn<'a> {
    type Item = (Cow<'a, str>, Cow<'a, str>);

    fn next(&mut self) -> Option<Self::Item> {
        let pair = self.pairs.next()?;
        let text = |piece: pieces::Piece<'a>| self.charset.decode_form_lossy(piece.raw());
        Some((text(pair.name), text(pair.value.unwrap_or_default())))
    }
}

#[cfg(feature = "charset")]
impl FusedIterator for PairsIn<'_> {}

/// Line ends of the values of a form.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum LineEnds {
    /// As they are.
    #[default]
    Kept,
    /// CR LF: what browsers send for the lines of a text area (HTML, section 4.10.22.4).
    CrLf,
}

/// Writes pairs (section 5.2). Familiar to users of form_urlencoded.
#[derive(Clone, Debug, Default)]
pub struct Serializer {
    out: String,
    start: usize,
    line_ends: LineEnds,
    #[cfg(feature = "charset")]
    charset: Option<Charset>,
}

impl Serializer {
    /// With no pairs.
    #[must_use]
    pub fn new() -> Serializer {
        Serializer::default()
    }

    /// Appends to text, such as a URL with its `?`: no `&` is written before the first pair.
    #[must_use]
    pub fn after(out: String) -> Serializer {
        Serializer { start: out.len(), out, ..Serializer::default() }
    }

    /// What becomes of line ends in the pairs that follow.
    pub fn line_ends(&mut self, line_ends: LineEnds) -> &mut Serializer {
        self.line_ends = line_ends;
        self
    }

    /// The charset of the pairs that follow; UTF-8 if nothing is said. A character that it does not have becomes a character
    /// reference of HTML, as in [`Charset::encode_append`]; what is not UTF-8 is bytes in the charset already.
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

    /// The pair `_charset_` with the name of the charset, as browsers write it.
    #[cfg(feature = "charset")]
    pub fn append_charset(&mut self) -> &mut Serializer {
        let name = self.charset.map_or("UTF-8", Charset::name);
        self.append_pair("_charset_", name)
    }

    /// One pair.
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

    /// A name without `=`, which reads back as a name with an empty value.
    pub fn append_key_only(&mut self, name: &(impl AsRef<[u8]> + ?Sized)) -> &mut Serializer {
        if self.out.len() > self.start {
            self.out.push('&');
        }
        self.append(name.as_ref());
        self
    }

    /// Many pairs.
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
        let encode = simdpct::Encode::keeping(simdpct::sets::WHATWG_FORM).form();
        if self.line_ends == LineEnds::CrLf {
            while let Some(at) = memchr::memchr2(b'\r', b'\n', data) {
                self.append_encoded(encode, &data[..at]);
                self.out.push_str("%0D%0A");
                let crlf = data[at..].starts_with(b"\r\n");
                data = &data[at + 1 + usize::from(crlf)..];
            }
        }
        self.append_encoded(encode, data);
    }

    fn append_encoded(&mut self, encode: simdpct::Encode<simdpct::AsciiSet>, data: &[u8]) {
        #[cfg(feature = "charset")]
        if let Some(charset) = self.charset
            && let Ok(text) = core::str::from_utf8(data)
        {
            return charset.encode_with(encode, text, &mut self.out);
        }
        encode.encode_append(data, &mut self.out);
    }

    /// The text. The serializer starts anew.
    #[must_use]
    pub fn finish(&mut self) -> String {
        self.start = 0;
        core::mem::take(&mut self.out)
    }
}
