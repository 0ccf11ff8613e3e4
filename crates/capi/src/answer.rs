//! What the functions return.

/// Done.
pub const SIMDPCT_OK: i32 = 0;
/// Nothing would change, and nothing was written.
pub const SIMDPCT_UNCHANGED: i32 = 1;
/// The output has too little room.
pub const SIMDPCT_TOO_SMALL: i32 = -1;
/// A malformed escape, in strict decoding.
pub const SIMDPCT_MALFORMED: i32 = -2;
/// Arguments that make no sense.
pub const SIMDPCT_INVALID: i32 = -3;
/// No set or tier has that name.
pub const SIMDPCT_NOT_FOUND: i32 = -4;
/// Another tier is in use already.
pub const SIMDPCT_IN_USE: i32 = -5;
/// The output is longer than its offsets can say.
pub const SIMDPCT_TOO_LONG: i32 = -6;

/// `simdpct_result`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Answer {
    pub status: i32,
    pub written: usize,
    pub needed: usize,
    pub offset: usize,
}

// Made where they are returned, field by field: a copy of a constant, or of another answer, would be loaded as a whole right
// after its fields were stored, and such a load has to wait.
impl Answer {
    /// Arguments make no sense.
    #[inline(always)]
    pub(crate) fn invalid() -> Answer {
        Answer { status: SIMDPCT_INVALID, written: 0, needed: 0, offset: 0 }
    }

    #[inline(always)]
    pub(crate) fn ok(written: usize) -> Answer {
        Answer { status: SIMDPCT_OK, written, needed: written, offset: 0 }
    }

    /// The length of output that was not written.
    #[inline(always)]
    pub(crate) fn length(needed: usize) -> Answer {
        Answer { status: SIMDPCT_OK, written: 0, needed, offset: 0 }
    }

    #[inline(always)]
    pub(crate) fn unchanged(len: usize) -> Answer {
        Answer { status: SIMDPCT_UNCHANGED, written: 0, needed: len, offset: 0 }
    }

    #[inline(always)]
    pub(crate) fn too_small(needed: usize) -> Answer {
        Answer { status: SIMDPCT_TOO_SMALL, written: 0, needed, offset: 0 }
    }

    #[inline(always)]
    pub(crate) fn malformed(offset: usize) -> Answer {
        Answer { status: SIMDPCT_MALFORMED, written: 0, needed: 0, offset }
    }
}

/// `simdpct_batch_result`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct BatchAnswer {
    pub status: i32,
    pub written: usize,
    pub values: usize,
    pub refused: usize,
    pub first_refused: usize,
    pub needed: usize,
}

impl BatchAnswer {
    pub(crate) const INVALID: BatchAnswer = BatchAnswer {
        status: SIMDPCT_INVALID,
        written: 0,
        values: 0,
        refused: 0,
        first_refused: 0,
        needed: 0,
    };
}
