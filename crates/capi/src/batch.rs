//! Many values at once, into memory of the caller.

use core::mem::MaybeUninit;

use codec::batch::{Column, ColumnError, NullableBytes, Offset, UninitColumn};
use codec::{ByteSet, Encode, TryDecode};

use crate::answer::{BatchAnswer, SIMDPCT_INVALID, SIMDPCT_OK, SIMDPCT_TOO_LONG, SIMDPCT_TOO_SMALL};
use crate::options::{self, SIMDPCT_IF_CHANGED};

/// Where output goes: bytes, offsets, and perhaps the bits of the values that were refused.
pub(crate) struct Target<'a, O> {
    pub(crate) bytes: &'a mut [MaybeUninit<u8>],
    pub(crate) offsets: &'a mut [MaybeUninit<O>],
    pub(crate) valid: Option<&'a mut [u8]>,
}

/// Values that are refused: how many, and the first.
#[derive(Default)]
struct Refused {
    count: usize,
    first: usize,
}

impl Refused {
    /// A value is refused. Its bit is cleared, as in Apache Arrow's validity bitmaps.
    fn note(&mut self, index: usize, valid: &mut Option<&mut [u8]>) {
        if self.count == 0 {
            self.first = index;
        }
        self.count += 1;
        if let Some(byte) = valid.as_mut().and_then(|bits| bits.get_mut(index / 8)) {
            *byte &= !(1 << (index % 8));
        }
    }
}

pub(crate) fn encoder(keep: Option<&ByteSet>, flags: u32) -> Option<Encode<ByteSet>> {
    options::encoder(keep, flags).filter(|_| !options::has(flags, SIMDPCT_IF_CHANGED))
}

pub(crate) fn decoder(keep: Option<&ByteSet>, flags: u32) -> Option<TryDecode> {
    options::decoder(keep, flags).filter(|_| !options::has(flags, SIMDPCT_IF_CHANGED))
}

pub(crate) fn encode_column<O: Offset>(
    encode: &Encode<ByteSet>,
    bytes: &[u8],
    offsets: &[O],
    target: Target<'_, O>,
) -> BatchAnswer {
    let values = match Column::new(bytes, offsets) {
        Ok(values) => values,
        Err(error) => return wrong_offsets(error.index),
    };
    let mut out = UninitColumn::new(target.bytes, target.offsets);
    let result = encode.encode_column(values, &mut out);
    answer(out, result, Refused::default())
}

pub(crate) fn decode_column<O: Offset>(
    decode: &TryDecode,
    bytes: &[u8],
    offsets: &[O],
    mut target: Target<'_, O>,
) -> BatchAnswer {
    let values = match Column::new(bytes, offsets) {
        Ok(values) => values,
        Err(error) => return wrong_offsets(error.index),
    };
    let mut refused = Refused::default();
    let mut out = UninitColumn::new(target.bytes, target.offsets);
    let result = decode.decode_column(values, &mut out, |index, _| {
        refused.note(index, &mut target.valid);
    });
    answer(out, result, refused)
}

pub(crate) fn encode_slices<O: Offset>(
    encode: &Encode<ByteSet>,
    values: impl Iterator<Item: NullableBytes>,
    target: Target<'_, O>,
) -> BatchAnswer {
    let mut out = UninitColumn::new(target.bytes, target.offsets);
    let result = encode.encode_slices(values, &mut out);
    answer(out, result, Refused::default())
}

pub(crate) fn decode_slices<O: Offset>(
    decode: &TryDecode,
    values: impl Iterator<Item: NullableBytes>,
    mut target: Target<'_, O>,
) -> BatchAnswer {
    let mut refused = Refused::default();
    let mut out = UninitColumn::new(target.bytes, target.offsets);
    let result = decode.decode_slices(values, &mut out, |index, _| {
        refused.note(index, &mut target.valid);
    });
    answer(out, result, refused)
}

fn wrong_offsets(index: usize) -> BatchAnswer {
    BatchAnswer { values: index, ..BatchAnswer::INVALID }
}

fn answer<O: Offset>(
    out: UninitColumn<'_, O>,
    result: Result<(), ColumnError>,
    refused: Refused,
) -> BatchAnswer {
    let Ok(column) = out.finish() else { return BatchAnswer::INVALID };
    let (written, values) = (column.bytes().len(), column.len());
    let (status, needed) = match result {
        Ok(()) => (SIMDPCT_OK, written),
        Err(ColumnError::TooSmall(error)) => (SIMDPCT_TOO_SMALL, error.bytes),
        Err(ColumnError::TooLong(_)) => (SIMDPCT_TOO_LONG, 0),
        // There is no other error today; a new one is no success.
        Err(_) => (SIMDPCT_INVALID, 0),
    };
    BatchAnswer { status, written, values, refused: refused.count, first_refused: refused.first, needed }
}
