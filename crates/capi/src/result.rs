//! The result types and status codes of the functions of the header.

pub const SIMDPCT_OK: i32 = 0;
pub const SIMDPCT_UNCHANGED: i32 = 1;
pub const SIMDPCT_TOO_SMALL: i32 = -1;
pub const SIMDPCT_MALFORMED: i32 = -2;
pub const SIMDPCT_INVALID: i32 = -3;
pub const SIMDPCT_NOT_FOUND: i32 = -4;
pub const SIMDPCT_IN_USE: i32 = -5;
pub const SIMDPCT_TOO_LONG: i32 = -6;

/// The struct `simdpct_result` of the header: the result of a function for one value.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ValueResult {
    pub status: i32,
    pub written: usize,
    pub needed: usize,
    pub offset: usize,
}

// Every function builds its result field by field. If it copied a result, the compiler would store the fields and load
// them as one vector, to which the CPU cannot forward the stores (docs/lab/2026-11-23-tables.md).
impl ValueResult {
    /// Returns the result for invalid arguments.
    #[inline(always)]
    pub(crate) fn invalid() -> ValueResult {
        ValueResult { status: SIMDPCT_INVALID, written: 0, needed: 0, offset: 0 }
    }

    #[inline(always)]
    pub(crate) fn ok(written: usize) -> ValueResult {
        ValueResult { status: SIMDPCT_OK, written, needed: written, offset: 0 }
    }

    /// Returns the result of a function that measures the output and does not write it.
    #[inline(always)]
    pub(crate) fn measured(needed: usize) -> ValueResult {
        ValueResult { status: SIMDPCT_OK, written: 0, needed, offset: 0 }
    }

    #[inline(always)]
    pub(crate) fn unchanged(len: usize) -> ValueResult {
        ValueResult { status: SIMDPCT_UNCHANGED, written: 0, needed: len, offset: 0 }
    }

    #[inline(always)]
    pub(crate) fn too_small(needed: usize) -> ValueResult {
        ValueResult { status: SIMDPCT_TOO_SMALL, written: 0, needed, offset: 0 }
    }

    #[inline(always)]
    pub(crate) fn malformed(offset: usize) -> ValueResult {
        ValueResult { status: SIMDPCT_MALFORMED, written: 0, needed: 0, offset }
    }
}

/// The struct `simdpct_batch_result` of the header: the result of a function for many values.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct BatchResult {
    pub status: i32,
    pub written: usize,
    pub values: usize,
    pub rejected: usize,
    pub first_rejected: usize,
    pub needed: usize,
}

impl BatchResult {
    /// Returns the result for invalid arguments.
    pub(crate) fn invalid() -> BatchResult {
        let [written, values, rejected, first_rejected, needed] = [0; 5];
        BatchResult { status: SIMDPCT_INVALID, written, values, rejected, first_rejected, needed }
    }
}
