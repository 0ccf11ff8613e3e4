//! Proves that lines are keys of Google Safe Browsing, versions 4 and 5.

use simdpct::AsciiSet;

use super::KEPT;
use crate::canon::key::KeyRule;
use crate::kernel::tables::set;

pub(crate) struct SafeBrowsing;

impl KeyRule for SafeBrowsing {
    const REJECTED: AsciiSet = KEPT.complement().remove(b"%\n");
    // The escape `%25` is decoded, too, because the decoded `%` may start another escape.
    const DECODED: AsciiSet = KEPT.union(set(b"%"));
    const REDUCES: bool = true;
}
