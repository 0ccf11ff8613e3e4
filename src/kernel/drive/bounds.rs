//! Where values end: one value that is the whole input, or many that lie one after the other.

use crate::kernel::ends::Ends;

/// The ends of values.
pub(super) trait Bounds {
    /// The ends of many values; nothing if the input is one value, so that the compiler drops what follows from it.
    fn ends(&mut self) -> Option<&mut Ends>;

    /// Whether there may be ends.
    const MANY: bool;
}

/// One value.
pub(super) struct Whole;

impl Bounds for Whole {
    const MANY: bool = false;

    #[inline(always)]
    fn ends(&mut self) -> Option<&mut Ends> {
        None
    }
}

impl Bounds for &mut Ends {
    const MANY: bool = true;

    #[inline(always)]
    fn ends(&mut self) -> Option<&mut Ends> {
        Some(self)
    }
}
