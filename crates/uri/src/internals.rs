//! Functions that select a kernel, for tests, fuzz targets and benchmarks of this workspace. They may change at any time.

use alloc::vec::Vec;

use simdpct::Tier;
use simdpct::batch::{Column, Offset};
use simdpct::simd::{Kernel, Sets, Simd, run};

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

/// The masks of one block of up to 64 bytes. A mask has one bit for each byte.
#[derive(Debug)]
pub struct Masks {
    /// The lanes whose byte is the one asked for.
    pub equal: u64,
    /// The lanes whose byte is 0x80 or above.
    pub high: u64,
    /// The lanes whose byte is in each set.
    pub members: [u64; 8],
    /// The lanes of `members` whose byte in the block before is in the set for that block.
    pub pairs: [u64; 8],
    /// The union of `pairs`.
    pub any_pair: u64,
}

/// Makes masks with the kernels of `tier`. `sets` has the sets for `before` and those for `bytes`. Bits after `bytes` are unspecified, and
/// in masks of sets also those of bytes that are not ASCII. `None` if `tier` has no kernels.
#[must_use]
pub fn masks_on(
    tier: Tier,
    before: &[u8; 64],
    bytes: &[u8],
    byte: u8,
    sets: [[&[u8]; 8]; 2],
) -> Option<Masks> {
    struct Make<'a>(&'a [u8; 64], &'a [u8], u8, [Sets; 2]);

    impl Kernel for Make<'_> {
        type Output = Option<Masks>;

        #[inline(always)]
        fn run<S: Simd>(self, simd: S) -> Option<Masks> {
            let Make(before, bytes, byte, [before_sets, sets]) = &self;
            let before = simd.load(&before[..]);
            let block = simd.load(bytes);
            let pairs = simd.both(simd.classify(before, before_sets), simd.classify(block, sets));
            Some(Masks {
                equal: simd.eq(block, *byte),
                high: simd.high(block),
                members: simd.masks(simd.classify(block, sets)),
                pairs: simd.masks(pairs),
                any_pair: simd.any(pairs),
            })
        }

        fn run_scalar(self) -> Option<Masks> {
            None
        }
    }

    run(tier, Make(before, bytes, byte, sets.map(|sets| Sets::new(&sets))))
}
