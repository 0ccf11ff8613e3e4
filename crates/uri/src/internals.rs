//! Functions that select a kernel, for tests, fuzz targets and benchmarks of this workspace. They may change at any time.

use alloc::vec::Vec;

use simdpct::Tier;
use simdpct::batch::{Column, Offset};

#[cfg(feature = "whatwg")]
pub use crate::canon::kernel_tables;
use crate::canon::{CanonicalizeError, Profile};
pub use crate::columns::split_each_on;
use crate::columns::{Columns, Lines, UrlTooLong, visit_each_line_on_tier};
use crate::parts::Parts;
pub use crate::parts::split_on;
use crate::reference;

/// Runs [`split`](crate::split) without a kernel: the result that every kernel must return.
#[must_use]
pub fn split_by_reference<'a>(input: &'a (impl AsRef<[u8]> + ?Sized)) -> Parts<'a> {
    let input = input.as_ref();
    Parts::from_offsets(input, reference::split(input))
}

/// Runs [`Columns::split`] with the kernels of `tier`.
///
/// # Errors
///
/// See [`Columns::split`].
pub fn split_column_on<O: Offset>(
    tier: Tier,
    urls: Column<'_, O>,
    columns: &mut Columns,
) -> Result<(), UrlTooLong> {
    columns.split_on_tier(tier, urls)
}

/// Runs [`split_each_line`](crate::split_each_line) with the kernels of `tier`.
pub fn split_each_line_on<'a>(tier: Tier, text: &'a [u8], mut each: impl FnMut(Parts<'a>)) {
    visit_each_line_on_tier(tier, text, &mut each);
}

/// Runs [`Lines::split`] with the kernels of `tier`.
///
/// # Errors
///
/// See [`Lines::split`].
pub fn split_lines_on(tier: Tier, text: &[u8], lines: &mut Lines) -> Result<(), UrlTooLong> {
    lines.split_on_tier(tier, text)
}

/// Runs [`Profile::canonicalize_lines`] with the kernels of `tier`.
pub fn canonicalize_lines_on(
    tier: Tier,
    profile: Profile,
    text: &[u8],
    out: &mut Vec<u8>,
    rejected: impl FnMut(usize, CanonicalizeError),
) {
    profile.canonicalize_lines_on_tier(tier, text, out, rejected);
}
