//! The batch functions, which encode or decode many values in one call.

use core::mem::MaybeUninit;

use codec::ByteSet;
use codec::batch::{Column, ColumnError, Offset, UninitColumn};

use crate::border::Value;
use crate::options;
use crate::result::{BatchResult, SIMDPCT_INVALID, SIMDPCT_OK, SIMDPCT_TOO_LONG, SIMDPCT_TOO_SMALL};

/// The output memory of a batch function: bytes, offsets, and perhaps a validity bitmap.
pub(crate) struct Output<'a, O> {
    pub(crate) bytes: &'a mut [MaybeUninit<u8>],
    pub(crate) offsets: &'a mut [MaybeUninit<O>],
    pub(crate) valid: Option<&'a mut [u8]>,
}

/// The number of rejected values, and the index of the first of them.
#[derive(Default)]
struct Rejected {
    count: usize,
    first: usize,
}

impl Rejected {
    /// Counts the value at `index` as rejected, and clears its bit in the validity bitmap.
    fn add(&mut self, index: usize, valid: &mut Option<&mut [u8]>) {
        if self.count == 0 {
            self.first = index;
        }
        self.count += 1;
        if let Some(byte) = valid.as_mut().and_then(|bits| bits.get_mut(index / 8)) {
            *byte &= !(1 << (index % 8));
        }
    }
}

pub(crate) fn encode_column<O: Offset>(
    keep: Option<&ByteSet>,
    flags: u32,
    bytes: &[u8],
    offsets: &[O],
    output: Output<'_, O>,
) -> BatchResult {
    let mut built = None;
    let Some(encode) = options::encoder(keep, flags, &mut built) else {
        return BatchResult::INVALID;
    };
    let values = match Column::new(bytes, offsets) {
        Ok(values) => values,
        Err(error) => return BatchResult { values: error.index, ..BatchResult::INVALID },
    };
    let mut out = UninitColumn::new(output.bytes, output.offsets);
    let done = encode.encode_column(values, &mut out);
    result(out, done, Rejected::default())
}

pub(crate) fn decode_column<O: Offset>(
    keep: Option<&ByteSet>,
    flags: u32,
    bytes: &[u8],
    offsets: &[O],
    mut output: Output<'_, O>,
) -> BatchResult {
    let mut built = None;
    let Some(decode) = options::decoder(keep, flags, &mut built) else {
        return BatchResult::INVALID;
    };
    let values = match Column::new(bytes, offsets) {
        Ok(values) => values,
        Err(error) => return BatchResult { values: error.index, ..BatchResult::INVALID },
    };
    let mut rejected = Rejected::default();
    let mut out = UninitColumn::new(output.bytes, output.offsets);
    let done = decode.decode_column(values, &mut out, |index, _| rejected.add(index, &mut output.valid));
    result(out, done, rejected)
}

pub(crate) fn encode_slices<O: Offset>(
    keep: Option<&ByteSet>,
    flags: u32,
    values: &[Value],
    output: Output<'_, O>,
) -> BatchResult {
    let mut built = None;
    let Some(encode) = options::encoder(keep, flags, &mut built) else {
        return BatchResult::INVALID;
    };
    let mut out = UninitColumn::new(output.bytes, output.offsets);
    let done = encode.encode_slices(values, &mut out);
    result(out, done, Rejected::default())
}

pub(crate) fn decode_slices<O: Offset>(
    keep: Option<&ByteSet>,
    flags: u32,
    values: &[Value],
    mut output: Output<'_, O>,
) -> BatchResult {
    let mut built = None;
    let Some(decode) = options::decoder(keep, flags, &mut built) else {
        return BatchResult::INVALID;
    };
    let mut rejected = Rejected::default();
    let mut out = UninitColumn::new(output.bytes, output.offsets);
    let done = decode.decode_slices(values, &mut out, |index, _| rejected.add(index, &mut output.valid));
    result(out, done, rejected)
}

fn result<O: Offset>(
    out: UninitColumn<'_, O>,
    done: Result<(), ColumnError>,
    rejected: Rejected,
) -> BatchResult {
    let Ok(column) = out.finish() else { return BatchResult::INVALID };
    let (written, values) = (column.bytes().len(), column.len());
    let (status, needed) = match done {
        Ok(()) => (SIMDPCT_OK, written),
        Err(ColumnError::TooSmall(error)) => (SIMDPCT_TOO_SMALL, error.bytes),
        Err(ColumnError::TooLong(_)) => (SIMDPCT_TOO_LONG, 0),
        // `ColumnError` has no other variant today. If one is added, it must not pass for success.
        Err(_) => (SIMDPCT_INVALID, 0),
    };
    BatchResult { status, written, values, rejected: rejected.count, first_rejected: rejected.first, needed }
}
