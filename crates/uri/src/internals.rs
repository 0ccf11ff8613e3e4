//! Functions that select a kernel, for tests, fuzz targets and benchmarks of this workspace. They may change at any time.

use alloc::vec::Vec;

use simdpct::Tier;
use simdpct::batch::{Column, Offset};

#[cfg(feature = "whatwg")]
pub use crate::canon::kernel_tables;
use crate::canon::{CanonicalizeError, Profile};
use crate::columns::{Columns, Lines, UrlTooLong, split_each_line_on_tier, split_each_on_tier};
use crate::parts::{Parts, split_on_tier};
use crate::reference;
use crate::text::Source;

/// Runs [`split`](crate::split) with the kernels of `tier`.
#[must_use]
pub fn split_on<S: Source + ?Sized>(tier: Tier, input: &S) -> Parts<'_, S::Text> {
    split_on_tier(tier, input.text())
}

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

/// Runs [`split_each`](crate::split_each) with the kernels of `tier`.
pub fn split_each_on<'a>(
    tier: Tier,
    urls: impl IntoIterator<Item = Option<&'a [u8]>>,
    each: impl FnMut(Option<Parts<'a>>),
) {
    split_each_on_tier(tier, urls, each);
}

/// Runs [`split_each_line`](crate::split_each_line) with the kernels of `tier`.
pub fn split_each_line_on<'a>(tier: Tier, text: &'a [u8], each: impl FnMut(Parts<'a>)) {
    split_each_line_on_tier(tier, text, each);
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
