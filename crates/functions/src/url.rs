//! The functions that take URLs apart and put them together, a row at a time. The crate `simdpct-uri` does the work.

use std::borrow::Cow;

use simdpct::{ByteSet, Decode, OnInvalidUtf8};
use simdpct_uri::{Parts, Piece, QueryPair, resolve, split, split_each};

use crate::output::Output;
use crate::values::Values;

/// The arguments of a function in one row. None of them is null.
#[derive(Debug)]
pub struct Row<'a, 'b> {
    pub(crate) url: &'a [u8],
    /// The arguments after the URL. An argument that the function does not have is empty.
    pub(crate) rest: [&'a [u8]; 2],
    /// Whether the results are text, so that they must be valid UTF-8.
    pub(crate) utf8: bool,
    /// The patterns that an earlier row of the batch has decoded, so that this row can use them again.
    patterns: &'b mut Patterns<'a>,
}

/// One text of a result. A borrowed text is a slice of an argument; `None` is null.
pub type Value<'a> = Option<Cow<'a, [u8]>>;

/// The results of a function for a batch of rows.
#[derive(Debug)]
pub struct Extracted<'a> {
    /// For each name of [`Output::fields`], the values of all rows. A row has one value, or one for each item if its
    /// result is a list.
    pub fields: Vec<Vec<Value<'a>>>,
    /// For each row, the index after the last item of its list in the vectors of `fields`. Empty if there are no lists.
    pub ends: Vec<usize>,
    /// For each row, whether no argument is null. If an argument is null, the whole result of the row is null.
    pub valid: Vec<bool>,
}

/// A function that returns a part of a URL, as a slice of the URL.
pub type PartBody = for<'a> fn(&Parts<'a>) -> Option<&'a [u8]>;

/// Calls `each` with each URL and the part that `body` returns, in the order of the rows. A null row is an empty URL without a part.
#[inline]
pub fn extract_parts<'a>(
    body: PartBody,
    urls: &(impl Values<'a> + ?Sized),
    mut each: impl FnMut(&'a [u8], Option<&'a [u8]>),
) {
    split_each(urls.iter(), |url| match url {
        Some(url) => each(url.input(), body(&url)),
        None => each(b"", None),
    });
}

/// A function that adds the result for one row to the fields of [`Extracted`].
pub type UrlBody = for<'a> fn(Row<'a, '_>, &mut [Vec<Value<'a>>]);

impl Output {
    /// Applies `body`, whose results are of this type, to each row. `arguments` is the number of arguments after the
    /// URL, and `rest(index, row)` returns one of these. If `utf8` is set, the results are text.
    pub fn extract<'a>(
        self,
        body: UrlBody,
        urls: &(impl Values<'a> + ?Sized),
        arguments: usize,
        rest: impl Fn(usize, usize) -> Option<&'a [u8]>,
        utf8: bool,
    ) -> Extracted<'a> {
        let rows = urls.rows();
        let mut fields: Vec<Vec<_>> = self.fields().iter().map(|_| Vec::with_capacity(rows)).collect();
        let (mut ends, mut valid) = (Vec::new(), Vec::with_capacity(rows));
        let mut patterns = Patterns::default();
        let argument = |index, row| if index < arguments { rest(index, row) } else { Some(&b""[..]) };
        for row in 0..rows {
            let given = urls.get(row).zip(argument(0, row)).zip(argument(1, row));
            match given {
                Some(((url, first), second)) => {
                    let row = Row { url, rest: [first, second], utf8, patterns: &mut patterns };
                    body(row, &mut fields);
                }
                None if self.is_list() => {}
                None => fields.iter_mut().for_each(|field| field.push(None)),
            }
            valid.push(given.is_some());
            if self.is_list() {
                ends.push(fields[0].len());
            }
        }
        Extracted { fields, ends, valid }
    }
}

/// Returns the raw parts of a URL in the order of the fields of [`Output::Parts`].
pub(crate) fn parts<'a>(url: Parts<'a>) -> [Option<&'a [u8]>; 7] {
    [
        url.scheme(),
        url.userinfo().map(Piece::raw),
        url.host().map(Piece::raw),
        url.port(),
        Some(url.path()),
        url.query(),
        url.fragment().map(Piece::raw),
    ]
}

impl<'a> Row<'a, '_> {
    pub(crate) fn parts(&self) -> Parts<'a> {
        split(self.url)
    }

    /// Decodes a piece of the URL. If the results are text, an escape stays if its byte is not part of valid UTF-8.
    pub(crate) fn decode(&self, piece: Piece<'a>, decoder: Decode) -> Value<'a> {
        Some(match self.utf8 {
            false => decoder.decode(piece.raw()),
            true => match decoder.decode_utf8_with(piece.raw(), OnInvalidUtf8::Keep) {
                Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
                Cow::Owned(text) => Cow::Owned(text.into_bytes()),
            },
        })
    }

    /// Decodes the name of a parameter as in forms, where `+` is a space.
    fn name(&self, pair: QueryPair<'a>) -> Value<'a> {
        self.decode(pair.name, Decode::new().form())
    }

    /// Decodes the name and the value of a parameter as in forms, where `+` is a space. A parameter without `=` has an empty value.
    pub(crate) fn pair(&self, pair: QueryPair<'a>) -> [Value<'a>; 2] {
        [pair.name, pair.value.unwrap_or_default()].map(|piece| self.decode(piece, Decode::new().form()))
    }

    /// Returns the value of the first parameter whose name is the second argument, or `None` if no parameter has it.
    pub(crate) fn param(&self) -> Value<'a> {
        let is_named = |pair: &QueryPair<'a>| self.name(*pair).as_deref() == Some(self.rest[0]);
        let [_, value] = self.pair(self.parts().query_pairs().find(is_named)?);
        value
    }

    /// Returns the URL without the parameters that the second argument names.
    pub(crate) fn without_params(&mut self) -> Value<'a> {
        self.patterns.read(self.rest[0]);
        let is_removed = |pair| {
            let name = self.name(pair).unwrap_or_default();
            self.patterns.pieces.iter().any(|pattern| matches(pattern, &name))
        };
        Some(self.parts().without_query_params(is_removed))
    }

    /// Returns the URL with one more parameter, whose name and value are the second and the third argument.
    pub(crate) fn with_param(&self) -> Value<'a> {
        Some(self.parts().with_query_param(self.rest[0], self.rest[1]).into())
    }

    /// Resolves the second argument, a reference, against the base URL. Returns `None` if the base has no scheme.
    pub(crate) fn join(&self) -> Value<'a> {
        resolve(self.url, self.rest[0]).ok().map(Cow::Owned)
    }
}

/// The patterns of the parameters that `without_params` removes. They are decoded again only if the argument changes.
#[derive(Debug, Default)]
struct Patterns<'a> {
    /// The argument of the function: patterns with commas between them.
    list: &'a [u8],
    /// The decoded pieces between the stars of each pattern.
    pieces: Vec<Vec<Vec<u8>>>,
}

impl<'a> Patterns<'a> {
    /// Reads the patterns of `list`. In a pattern, only the bytes that would have another meaning can be written as escapes: commas, stars,
    /// percent signs and blanks.
    fn read(&mut self, list: &'a [u8]) {
        if self.list != list {
            let decode = Decode::new().keep(ByteSet::from_bytes(b",*% \t\n\x0C\r").complement());
            let decoded = |piece: &[u8]| decode.decode(piece).into_owned();
            let patterns = list.split(|&byte| byte == b',').map(<[u8]>::trim_ascii);
            let patterns = patterns.filter(|pattern| !pattern.is_empty());
            self.pieces =
                patterns.map(|pattern| pattern.split(|&byte| byte == b'*').map(decoded).collect()).collect();
            self.list = list;
        }
    }
}

/// Reports whether `name` matches the pattern whose pieces are `pattern`. Between two pieces, where the pattern has a `*`, any
/// characters match. A star that is written as `%2A` is part of a piece.
fn matches(pattern: &[Vec<u8>], name: &[u8]) -> bool {
    let [first, middle @ .., last] = pattern else {
        return pattern.first().is_some_and(|piece| piece == name);
    };
    let Some(mut left) = name.strip_prefix(&**first) else { return false };
    for piece in middle {
        let Some(at) = (0..=left.len()).find(|&at| left[at..].starts_with(piece)) else { return false };
        left = &left[at + piece.len()..];
    }
    left.ends_with(last)
}
