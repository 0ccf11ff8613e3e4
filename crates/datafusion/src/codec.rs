//! Encoding, decoding and normalizing through the batch verbs, of values in one buffer and of values that lie anywhere.

use datafusion_common::arrow::array::OffsetSizeTrait;
use simdpct::batch::{Column, ColumnBuf, Offset, TooLong};
use simdpct::{AsciiSet, Decode, Encode, OnInvalidUtf8, TryDecode};

use crate::verb::{Code, OnWrong};

/// Offsets that Arrow and the codec have.
pub(crate) trait Width: OffsetSizeTrait + Offset {}
impl Width for i32 {}
impl Width for i64 {}

/// What values become.
pub(crate) struct Made<O> {
    pub(crate) column: ColumnBuf<O>,
    /// The indices of values that are null and were not. They are empty in the column, if they are in it.
    pub(crate) nulls: Vec<usize>,
}

/// Values that a batch verb takes.
pub(crate) trait Source<'a> {
    type Offset: Width;

    fn len(&self) -> usize;
    fn get(&self, index: usize) -> &'a [u8];
    /// How many bytes the values have together.
    fn size(&self) -> usize;
    /// Whether there is no `%`, and so nothing that a decoder would change.
    fn is_plain(&self) -> bool;
    fn encode(&self, encoder: &Encode<AsciiSet>, out: &mut ColumnBuf<Self::Offset>) -> Result<(), TooLong>;
    fn decode(&self, decoder: &Decode, out: &mut ColumnBuf<Self::Offset>) -> Result<(), TooLong>;
    fn decode_strict(
        &self,
        decoder: &TryDecode,
        out: &mut ColumnBuf<Self::Offset>,
        refused: impl FnMut(usize),
    ) -> Result<(), TooLong>;
}

impl<'a, O: Width> Source<'a> for Column<'a, O> {
    type Offset = O;

    fn len(&self) -> usize {
        Column::len(self)
    }

    fn get(&self, index: usize) -> &'a [u8] {
        Column::get(self, index).unwrap_or_default()
    }

    fn size(&self) -> usize {
        used(self).len()
    }

    fn is_plain(&self) -> bool {
        memchr::memchr(b'%', used(self)).is_none()
    }

    fn encode(&self, encoder: &Encode<AsciiSet>, out: &mut ColumnBuf<O>) -> Result<(), TooLong> {
        encoder.encode_column(*self, out)
    }

    fn decode(&self, decoder: &Decode, out: &mut ColumnBuf<O>) -> Result<(), TooLong> {
        decoder.decode_column(*self, out)
    }

    fn decode_strict(
        &self,
        decoder: &TryDecode,
        out: &mut ColumnBuf<O>,
        mut refused: impl FnMut(usize),
    ) -> Result<(), TooLong> {
        decoder.decode_column(*self, out, |index, _| refused(index))
    }
}

/// The bytes of the values; a column may be a part of a buffer.
fn used<'a, O: Width>(column: &Column<'a, O>) -> &'a [u8] {
    match column.offsets() {
        [first, .., last] => &column.bytes()[first.as_usize()..last.as_usize()],
        _ => &[],
    }
}

/// Values that lie anywhere.
pub(crate) struct Slices<'v, 'a>(pub(crate) &'v [&'a [u8]]);

impl<'a> Source<'a> for Slices<'_, 'a> {
    type Offset = i32;

    fn len(&self) -> usize {
        self.0.len()
    }

    fn get(&self, index: usize) -> &'a [u8] {
        self.0[index]
    }

    fn size(&self) -> usize {
        self.0.iter().map(|value| value.len()).sum()
    }

    fn is_plain(&self) -> bool {
        !self.0.iter().any(|value| memchr::memchr(b'%', value).is_some())
    }

    fn encode(&self, encoder: &Encode<AsciiSet>, out: &mut ColumnBuf<i32>) -> Result<(), TooLong> {
        encoder.encode_slices(self.0, out)
    }

    fn decode(&self, decoder: &Decode, out: &mut ColumnBuf<i32>) -> Result<(), TooLong> {
        decoder.decode_slices(self.0, out)
    }

    fn decode_strict(
        &self,
        decoder: &TryDecode,
        out: &mut ColumnBuf<i32>,
        mut refused: impl FnMut(usize),
    ) -> Result<(), TooLong> {
        decoder.decode_slices(self.0, out, |index, _| refused(index))
    }
}

/// Room for what a verb may write beyond what it needs.
const SPARE: usize = 256;
/// The values that the encoder works on at a time, each byte of which may become three.
const RUN: usize = 3 << 13;

/// Applies a verb of the codec. `None`: no value changes.
pub(crate) fn code<'a, S: Source<'a>>(values: &S, verb: Code) -> Result<Option<Made<S::Offset>>, TooLong> {
    let size = values.size();
    let mut nulls = Vec::new();
    let mut out;
    match verb {
        Code::Encode(encoder) => {
            // Room is reserved for a half more, which is enough for most, and grows.
            out = ColumnBuf::with_capacity(values.len(), (size / 2 + RUN).min(size * 2) + size + SPARE);
            values.encode(&encoder, &mut out)?;
        }
        _ if values.is_plain() => return Ok(None),
        Code::Decode(OnWrong::Keep) => {
            out = ColumnBuf::with_capacity(values.len(), size + SPARE);
            values.decode(&Decode::new(), &mut out)?;
            let instead = |index| {
                let text = Decode::new().decode_utf8_with(values.get(index), OnInvalidUtf8::Keep);
                (index, text.into_owned().into_bytes())
            };
            let replaced = out.as_column().invalid_utf8().map(instead).collect();
            out = patched(out, replaced)?;
        }
        Code::Decode(OnWrong::Null) => {
            out = ColumnBuf::with_capacity(values.len(), size + SPARE);
            values.decode_strict(&Decode::new().strict(), &mut out, |index| nulls.push(index))?;
            let not_text: Vec<usize> = out.as_column().invalid_utf8().collect();
            nulls.extend(&not_text);
            out = patched(out, not_text.into_iter().map(|index| (index, Vec::new())).collect())?;
        }
        Code::DecodeBytes => {
            out = ColumnBuf::with_capacity(values.len(), size + SPARE);
            values.decode(&Decode::new(), &mut out)?;
        }
        Code::Normalize => {
            out = ColumnBuf::with_capacity(values.len(), size + SPARE);
            values.decode(&Decode::NORMALIZE, &mut out)?;
        }
    }
    // An escape is longer than what it is for, so the size tells of any change but one of case.
    let mut same = nulls.is_empty() && out.bytes().len() == size;
    if same && matches!(verb, Code::Normalize) {
        same = out.iter().enumerate().all(|(index, value)| value == values.get(index));
    }
    Ok((!same).then_some(Made { column: out, nulls }))
}

/// The column with some values replaced, which are in ascending order.
fn patched<O: Width>(column: ColumnBuf<O>, replaced: Vec<(usize, Vec<u8>)>) -> Result<ColumnBuf<O>, TooLong> {
    if replaced.is_empty() {
        return Ok(column);
    }
    let more: usize = replaced.iter().map(|(_, value)| value.len()).sum();
    let mut out = ColumnBuf::with_capacity(column.len(), column.bytes().len() + more);
    let mut replaced = replaced.into_iter().peekable();
    for (index, value) in column.iter().enumerate() {
        match replaced.next_if(|(wrong, _)| *wrong == index) {
            Some((_, value)) => out.push(&value)?,
            None => out.push(value)?,
        }
    }
    Ok(out)
}
