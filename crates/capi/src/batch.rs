//! The batch functions, which encode or decode many values in one call.

use core::mem::MaybeUninit;

use codec::ByteSet;
use codec::batch::{Column, ColumnError, Offset, UninitColumn};

use crate::border::Value;
use crate::options;
use crate::result::{BatchResult, SIMDPCT_INVALID, SIMDPCT_OK, SIMDPCT_TOO_LONG, SIMDPCT_TOO_SMALL};

/// The output memory of a batch function. The validity bitmap `valid` is empty if the caller passed none.
pub(crate) struct Output<'a, O> {
    pub(crate) bytes: &'a mut [MaybeUninit<u8>],
    pub(crate) offsets: &'a mut [MaybeUninit<O>],
    pub(crate) valid: &'a mut [u8],
}

impl BatchResult {
    /// Counts the value at `index` as rejected, and clears its bit in the validity bitmap.
    fn reject(&mut self, index: usize, valid: &mut [u8]) {
        if self.rejected == 0 {
            self.first_rejected = index;
        }
        self.rejected += 1;
        if let Some(byte) = valid.get_mut(index / 8) {
            *byte &= !(1 << (index % 8));
        }
    }

    /// Stores the numbers of bytes and values written, the status, and the size needed.
    fn finish<O: Offset>(&mut self, out: UninitColumn<'_, O>, done: Result<(), ColumnError>) {
        let Ok(column) = out.finish() else { return };
        (self.written, self.values) = (column.bytes().len(), column.len());
        (self.status, self.needed) = match done {
            Ok(()) => (SIMDPCT_OK, self.written),
            Err(ColumnError::TooSmall(error)) => (SIMDPCT_TOO_SMALL, error.bytes),
            Err(ColumnError::TooLong(_)) => (SIMDPCT_TOO_LONG, 0),
            // `ColumnError` has no other variant today. If one is added, it must not pass for success.
            Err(_) => (SIMDPCT_INVALID, 0),
        };
    }
}

/// Defines a function that calls a method of an encoder or decoder. `$reject` gets the index of each value that a decoder rejects.
macro_rules! batch_verb {
    ($verb:ident, $values:ty, $options:path $(, $reject:ident)?) => {
        pub(crate) fn $verb<O: Offset>(
            keep: Option<&ByteSet>,
            flags: u32,
            values: $values,
            output: Output<'_, O>,
        ) -> BatchResult {
            let mut built = None;
            let mut result = BatchResult::invalid();
            let Some(codec) = $options(keep, flags, &mut built) else { return result };
            let mut out = UninitColumn::new(output.bytes, output.offsets);
            let done = codec.$verb(values, &mut out $(, |index, _| result.$reject(index, output.valid))?);
            result.finish(out, done);
            result
        }
    };
}

batch_verb!(encode_column, Column<'_, O>, options::encoder);
batch_verb!(encode_slices, &[Value], options::encoder);
batch_verb!(decode_column, Column<'_, O>, options::decoder, reject);
batch_verb!(decode_slices, &[Value], options::decoder, reject);
