//! The verbs: the work of the functions, for batches of rows.

use simdpct::batch::{ColumnBuf, Offset, TooLong};
use simdpct::{AsciiSet, Decode, Encode, OnInvalidUtf8};
use simdpct_uri::canon::Profile;

use crate::canonical::{self, Form};
use crate::policy::{Failure, Policy};
use crate::values::Values;

/// A verb: the work that a function does, with its options.
///
/// If `utf8` is set, the results are text, and a result that is not valid UTF-8 is handled by the policy.
#[derive(Clone, Copy, Debug)]
pub enum Verb {
    /// Percent-encodes each value.
    Encode(Encode<AsciiSet>),
    /// Decodes each value, or normalizes it with [`Decode::NORMALIZE`].
    Decode {
        /// The escapes that are decoded, and whether `+` is a space.
        decoder: Decode,
        /// The handling of malformed escapes and invalid UTF-8.
        policy: Policy,
        /// Whether the results are text, so that decoded bytes must be valid UTF-8.
        utf8: bool,
    },
    /// Brings URLs into the canonical form of a profile.
    Canonicalize {
        /// The profile that defines the canonical form.
        profile: Profile,
        /// The handling of URLs that the profile rejects.
        policy: Policy,
        /// Whether the results are text, so that a form must be valid UTF-8.
        utf8: bool,
    },
    /// Finds the rows for which decoding with [`Policy::Null`] gives null. [`Results::nulls`] lists them.
    Malformed {
        /// Whether a value counts as malformed if its decoded bytes are invalid UTF-8.
        utf8: bool,
    },
}

/// The results of a batch.
#[derive(Debug)]
pub struct Results<O: Offset> {
    /// The result of each row, except for the rows in `replaced`. The bytes for a null row are arbitrary.
    column: ColumnBuf<O>,
    /// The rows whose result is not the one in `column`, in ascending order. `None` is a null result.
    replaced: Vec<(usize, Option<Vec<u8>>)>,
}

impl Verb {
    /// Applies the verb to each row. `out` must be an empty column, whose memory the results use. Null rows stay null.
    ///
    /// # Errors
    ///
    /// [`Failure::Rejected`] for the first bad value if the policy is [`Policy::Fail`]; [`Failure::TooLong`] if the results
    /// are longer than the offsets of `out` can express.
    pub fn apply<'a, V, O>(self, values: &V, mut out: ColumnBuf<O>) -> Result<Results<O>, Failure>
    where
        V: Values<'a> + ?Sized,
        O: Offset,
    {
        match self {
            Verb::Encode(encoder) => {
                match values.column() {
                    Some(column) => encoder.encode_column(column, &mut out),
                    None => encoder.encode_slices(values.iter(), &mut out),
                }?;
                Ok(Results { column: out, replaced: Vec::new() })
            }
            Verb::Decode { decoder, policy, utf8 } => {
                let on_invalid = match policy {
                    Policy::Keep => OnInvalidUtf8::Keep,
                    Policy::Replace => OnInvalidUtf8::Replace,
                    Policy::Null | Policy::Fail => {
                        return decode_strictly(values, decoder, policy == Policy::Fail, utf8, out);
                    }
                };
                decode(values, decoder, utf8.then_some(on_invalid), out)
            }
            Verb::Malformed { utf8 } => decode_strictly(values, Decode::new(), false, utf8, out),
            Verb::Canonicalize { profile, policy, utf8 } => {
                let mut replaced = Vec::new();
                canonical::canonicalize_each(values, profile, policy, utf8, |row, form| {
                    out.push(match form {
                        Form::Same => values.get(row).unwrap_or_default(),
                        Form::New(form) => form,
                        Form::Null => {
                            replaced.push((row, None));
                            b""
                        }
                    })
                })?;
                Ok(Results { column: out, replaced })
            }
        }
    }

    /// Returns a capacity, in bytes, that is enough for the results of most batches whose values have `size` bytes together.
    #[must_use]
    pub fn capacity(&self, size: usize) -> usize {
        /// The codec writes whole blocks, and then removes the bytes after the output, so it needs this spare capacity.
        const SPARE: usize = 256;
        /// The encoder processes up to 8 KiB of values at once even if the column must grow for them. Each byte may become three, so the
        /// column needs this spare capacity in order not to grow.
        const RUN: usize = 3 << 13;
        match self {
            Verb::Encode(_) => size + (size / 2 + RUN).min(size * 2) + SPARE,
            Verb::Decode { .. } | Verb::Malformed { .. } => size + SPARE,
            Verb::Canonicalize { .. } => size,
        }
    }

    /// Reports whether a value without `%` never changes, so that it need not be processed. Returns `false` for [`Verb::Malformed`],
    /// whose results are not values.
    #[must_use]
    pub fn needs_escapes(&self) -> bool {
        match self {
            Verb::Decode { decoder, .. } => decoder.is_decoded("+"),
            Verb::Malformed { .. } | Verb::Encode(_) | Verb::Canonicalize { .. } => false,
        }
    }
}

/// Decodes each row and keeps malformed escapes. `on_invalid` is the policy for invalid UTF-8 if results are text; if it is
/// `None`, results are bytes.
fn decode<'a, O: Offset>(
    values: &(impl Values<'a> + ?Sized),
    decoder: Decode,
    on_invalid: Option<OnInvalidUtf8>,
    mut out: ColumnBuf<O>,
) -> Result<Results<O>, Failure> {
    match values.column() {
        Some(column) => decoder.decode_column(column, &mut out),
        None => decoder.decode_slices(values.iter(), &mut out),
    }?;
    let mut replaced = Vec::new();
    if let Some(on_invalid) = on_invalid {
        for row in out.as_column().invalid_utf8() {
            let text = values.get(row).map(|value| decoder.decode_utf8_with(value, on_invalid));
            replaced.push((row, Some(text.unwrap_or_default().into_owned().into_bytes())));
        }
    }
    Ok(Results { column: out, replaced })
}

/// Decodes each row. If a row has a malformed escape or, if `utf8` is set, invalid UTF-8 when decoded, the row becomes null, or
/// the call fails if `fail` is set.
fn decode_strictly<'a, O: Offset>(
    values: &(impl Values<'a> + ?Sized),
    decoder: Decode,
    fail: bool,
    utf8: bool,
    mut out: ColumnBuf<O>,
) -> Result<Results<O>, Failure> {
    let strict = decoder.strict();
    let (mut replaced, mut first) = (Vec::new(), None);
    // The bytes of a null row are arbitrary, so errors in them are ignored.
    let rejected = |row, error| {
        if values.get(row).is_some() {
            first.get_or_insert((row, error));
            replaced.push((row, None));
        }
    };
    match values.column() {
        Some(column) => strict.decode_column(column, &mut out, rejected),
        None => strict.decode_slices(values.iter(), &mut out, rejected),
    }?;
    let mut first = first.map(|(row, error)| (row, error.to_string()));
    if utf8 {
        for row in out.as_column().invalid_utf8() {
            let value = values.get(row);
            if let Some(value) = value
                && first.as_ref().is_none_or(|(before, _)| row < *before)
            {
                first = decoder.decode_utf8(value).err().map(|error| (row, error.to_string()));
            }
            replaced.push((row, value.is_none().then(Vec::new)));
        }
        // If a row has a malformed escape, its value in the column is empty and thus valid UTF-8. So no row is in `replaced` twice.
        replaced.sort_unstable_by_key(|(row, _)| *row);
    }
    match first.filter(|_| fail) {
        Some((row, why)) => Err(Failure::Rejected { row, why }),
        None => Ok(Results { column: out, replaced }),
    }
}

impl<O: Offset> Results<O> {
    /// Iterates over the results. Gives `None` if a result became null, but arbitrary bytes if the value itself was null.
    pub fn iter(&self) -> impl Iterator<Item = Option<&[u8]>> {
        let mut replaced = self.replaced.iter().peekable();
        self.column.iter().enumerate().map(move |(row, value)| {
            match replaced.next_if(|(replaced, _)| *replaced == row) {
                Some((_, replacement)) => replacement.as_deref(),
                None => Some(value),
            }
        })
    }

    /// Iterates over the rows that became null, in ascending order.
    pub fn nulls(&self) -> impl Iterator<Item = usize> {
        self.replaced.iter().filter(|(_, value)| value.is_none()).map(|(row, _)| *row)
    }

    /// Reports whether the result of each row equals its value. May wrongly return `false` if [`Values::size`] is an estimate.
    pub fn equal<'a>(&self, values: &(impl Values<'a> + ?Sized)) -> bool {
        // The lengths are compared first, because they differ for nearly every batch that changes.
        let size = self.replaced.is_empty().then_some(self.column.bytes().len());
        size.is_none_or(|size| size == values.size())
            && self.iter().zip(values.iter()).all(|(result, value)| value.is_none() || result == value)
    }

    /// Returns the memory of the results, so that it can be reused.
    #[must_use]
    pub fn into_memory(self) -> ColumnBuf<O> {
        self.column
    }

    /// Turns the results into one column, in which rows that became null are empty. If a copy is needed, `new` makes an empty
    /// column with capacity for a number of values and bytes, and `free` gets the column that was copied.
    ///
    /// # Errors
    ///
    /// [`TooLong`] if the results are longer than the offsets can express.
    pub fn into_column(
        self,
        new: impl FnOnce(usize, usize) -> ColumnBuf<O>,
        free: impl FnOnce(ColumnBuf<O>),
    ) -> Result<ColumnBuf<O>, TooLong> {
        let is_in_place = |(row, value): &(usize, Option<Vec<u8>>)| {
            self.column.get(*row) == Some(value.as_deref().unwrap_or(b""))
        };
        if self.replaced.iter().all(is_in_place) {
            return Ok(self.column);
        }
        let more: usize = self.replaced.iter().filter_map(|(_, value)| Some(value.as_ref()?.len())).sum();
        let mut out = new(self.column.len(), self.column.bytes().len() + more);
        for value in self.iter() {
            out.push(value.unwrap_or_default())?;
        }
        free(self.column);
        Ok(out)
    }
}
