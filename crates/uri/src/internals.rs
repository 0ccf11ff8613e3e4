//! Functions that select a kernel, for tests, fuzz targets and benchmarks of this workspace. They may change at any time.

use alloc::vec::Vec;

use simdpct::Tier;
use simdpct::batch::{Column, Offset};

use crate::canon::{CanonicalizeError, Profile};
use crate::columns::{Columns, Lines, UrlTooLong, split_each_at_level};
use crate::kernel::isa::Level;
use crate::parts::{Parts, split_at_level};

/// Runs [`split`](crate::split) with the kernels of `tier`.
#[must_use]
pub fn split_on<'a>(tier: Tier, input: &'a (impl AsRef<[u8]> + ?Sized)) -> Parts<'a> {
    split_at_level(Level::of(tier), input.as_ref())
}

/// Runs [`split`](crate::split) without a kernel: the result that every kernel must return.
#[must_use]
pub fn split_by_reference<'a>(input: &'a (impl AsRef<[u8]> + ?Sized)) -> Parts<'a> {
    split_at_level(Level::Scalar, input.as_ref())
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
    columns.split_at_level(Level::of(tier), urls)
}

/// Runs [`split_each`](crate::split_each) with the kernels of `tier`.
pub fn split_each_on<'a>(
    tier: Tier,
    urls: impl IntoIterator<Item = Option<&'a [u8]>>,
    each: impl FnMut(Option<Parts<'a>>),
) {
    split_each_at_level(Level::of(tier), urls, each);
}

/// Runs [`Lines::split`] with the kernels of `tier`.
///
/// # Errors
///
/// See [`Lines::split`].
pub fn split_lines_on(tier: Tier, text: &[u8], lines: &mut Lines) -> Result<(), UrlTooLong> {
    lines.split_at_level(Level::of(tier), text)
}

/// Runs [`Profile::canonicalize_lines`] with the kernels of `tier`.
pub fn canonicalize_lines_on(
    tier: Tier,
    profile: Profile,
    text: &[u8],
    out: &mut Vec<u8>,
    rejected: impl FnMut(usize, CanonicalizeError),
) {
    profile.canonicalize_lines_at_level(Level::of(tier), text, out, rejected);
}

/// Reports whether one scan with the kernel of `tier` is enough to read the path: all named readings route on it as it is.
#[must_use]
pub fn is_plain_on(tier: Tier, path: &[u8]) -> bool {
    crate::reading::plain::is_plain_on(Level::of(tier), path)
}
