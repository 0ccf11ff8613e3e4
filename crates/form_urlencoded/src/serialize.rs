//! The serializer of form data.

use alloc::borrow::{Borrow, Cow};
use alloc::string::String;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, PercentEncode, percent_encode};

/// The ASCII bytes that are escaped, and the space, which is written as `+`.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'*').remove(b'-').remove(b'.').remove(b'_');

/// Encodes one name or value (the byte serializer of the URL Standard, section 5.2).
///
/// The iterator yields each run of unescaped bytes as one piece, each escape as one piece, and `+` for each space.
///
/// ```
/// assert_eq!(form_urlencoded::byte_serialize(b"1 + \xFF").collect::<String>(), "1+%2B+%FF");
/// ```
pub fn byte_serialize(input: &[u8]) -> ByteSerialize<'_> {
    ByteSerialize { pieces: percent_encode(input, ESCAPED) }
}

/// The iterator that [`byte_serialize`] returns.
#[derive(Debug)]
pub struct ByteSerialize<'a> {
    pieces: PercentEncode<'a>,
}

impl<'a> Iterator for ByteSerialize<'a> {
    type Item = &'a str;

    #[inline]
    fn next(&mut self) -> Option<&'a str> {
        // The set escapes `%`, so the piece `%20` is always the escape of a space.
        self.pieces.next().map(|piece| if piece == "%20" { "+" } else { piece })
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.pieces.size_hint()
    }
}

/// A function that encodes text in a charset other than UTF-8, before bytes are escaped. `None` means UTF-8.
pub type EncodingOverride<'a> = Option<&'a dyn Fn(&str) -> Cow<'_, [u8]>>;

/// Writes pairs to a string (URL Standard, section 5.2).
///
/// # Panics
///
/// Every method except [`Serializer::encoding_override`] panics after [`Serializer::finish`].
pub struct Serializer<'a, T: Target> {
    target: Option<T>,
    start_position: usize,
    encoding: EncodingOverride<'a>,
}

/// The destination of a [`Serializer`].
pub trait Target {
    /// Returns the string that the serializer appends to.
    fn as_mut_string(&mut self) -> &mut String;
    /// Returns the result of [`Serializer::finish`].
    fn finish(self) -> Self::Finished;
    /// The type of the result.
    type Finished;
}

impl Target for String {
    fn as_mut_string(&mut self) -> &mut String {
        self
    }

    fn finish(self) -> Self {
        self
    }

    type Finished = Self;
}

impl Target for &mut String {
    fn as_mut_string(&mut self) -> &mut String {
        self
    }

    fn finish(self) -> Self {
        self
    }

    type Finished = Self;
}

impl<'a, T: Target> Serializer<'a, T> {
    /// Makes a serializer that appends pairs to `target`, after a `&` if the target is not empty.
    pub fn new(target: T) -> Self {
        Self::for_suffix(target, 0)
    }

    /// Makes a serializer that appends pairs to `target`, after a `&` if the target is longer than `start_position` bytes.
    ///
    /// # Panics
    ///
    /// If the target is shorter than `start_position`.
    pub fn for_suffix(mut target: T, start_position: usize) -> Self {
        let length = target.as_mut_string().len();
        assert!(length >= start_position, "invalid length {start_position} for target of length {length}");
        Serializer { target: Some(target), start_position, encoding: None }
    }

    /// Removes all text after the start position, which is 0 unless [`Serializer::for_suffix`] set it.
    pub fn clear(&mut self) -> &mut Self {
        let start = self.start_position;
        self.string().truncate(start);
        self
    }

    /// Sets the function that encodes names and values in another charset.
    pub fn encoding_override(&mut self, new: EncodingOverride<'a>) -> &mut Self {
        self.encoding = new;
        self
    }

    /// Appends a pair.
    pub fn append_pair(&mut self, name: &str, value: &str) -> &mut Self {
        self.append_key_only(name);
        self.string().push('=');
        self.append_encoded(value);
        self
    }

    /// Appends a name without `=`.
    pub fn append_key_only(&mut self, name: &str) -> &mut Self {
        let start = self.start_position;
        let string = self.string();
        if string.len() > start {
            string.push('&');
        }
        self.append_encoded(name);
        self
    }

    /// Appends pairs.
    ///
    /// ```
    /// let mut url = String::from("/search?");
    /// let start = url.len();
    /// form_urlencoded::Serializer::for_suffix(&mut url, start).extend_pairs([("q", "a&b"), ("n", "1")]).finish();
    /// assert_eq!(url, "/search?q=a%26b&n=1");
    /// ```
    pub fn extend_pairs<I, K, V>(&mut self, iter: I) -> &mut Self
    where
        I: IntoIterator,
        I::Item: Borrow<(K, V)>,
        K: AsRef<str>,
        V: AsRef<str>,
    {
        self.string();
        for pair in iter {
            let (name, value) = pair.borrow();
            self.append_pair(name.as_ref(), value.as_ref());
        }
        self
    }

    /// Appends names without `=`.
    pub fn extend_keys_only<I, K>(&mut self, iter: I) -> &mut Self
    where
        I: IntoIterator,
        I::Item: Borrow<K>,
        K: AsRef<str>,
    {
        self.string();
        for key in iter {
            self.append_key_only(key.borrow().as_ref());
        }
        self
    }

    /// Returns the string with all pairs.
    ///
    /// # Panics
    ///
    /// If the method is called twice.
    pub fn finish(&mut self) -> T::Finished {
        self.target.take().expect("url::form_urlencoded::Serializer double finish").finish()
    }

    fn string(&mut self) -> &mut String {
        self.target.as_mut().expect("url::form_urlencoded::Serializer finished").as_mut_string()
    }

    fn append_encoded(&mut self, text: &str) {
        let bytes = self.encoding.map_or(Cow::Borrowed(text.as_bytes()), |encode| encode(text));
        simdpct::form::encode_append(&bytes, self.string());
    }
}
