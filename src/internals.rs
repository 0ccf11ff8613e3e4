//! Items for other crates of this repository. They are not part of the public API, and may change in every release.
//!
//! | item | crates that use it |
//! |---|---|
//! | [`form_keeping_plus`] | `crates/capi`, `crates/functions`, `crates/python` and `crates/testkit`, for Python's `quote_plus(text, safe='+')` |
//! | [`TIER_NAMES`] | `crates/capi` and `benches/charts`, which know the tiers of other machines |
//! | [`compiled_features`] | the tests, which ask the standard library for the same features |
//! | [`decode_chosen_append`] | `crates/cli`, which converts one value of many records that `crates/records` has found |

#[cfg(feature = "alloc")]
use {
    crate::decode::Decode,
    crate::kernel::cursor::Tail,
    crate::kernel::job::{DecodeRule, Marks},
    alloc::vec::Vec,
};

use crate::coder::KeepSet;
use crate::encode::Encode;
pub use crate::kernel::isa::TIER_NAMES;
use crate::kernel::isa::Tier;

/// Writes a space as `+`, and keeps `+` if the set of `encode` holds it. So a `+` and a space give the same output, as with
/// Python's `quote_plus(text, safe='+')`.
///
/// ```
/// use simdpct::{Encode, internals::form_keeping_plus, sets};
///
/// let safe_plus = sets::RFC3986_UNRESERVED.add(b"+").unwrap();
/// assert_eq!(form_keeping_plus(Encode::keeping(safe_plus)).encode("1 + 1"), "1+++1");
/// ```
#[inline(always)]
pub const fn form_keeping_plus<S: KeepSet>(encode: Encode<S>) -> Encode<S> {
    Encode { coder: encode.coder.form_keeping_plus() }
}

/// Returns the name and the CPU features of each tier that this build holds, best first, whether this CPU has them or not.
pub fn compiled_features() -> impl Iterator<Item = (&'static str, &'static [&'static str])> {
    Tier::compiled_features()
}

/// Decodes the escapes at chosen offsets, copies everything else, and appends the result to `out`. It is for records in
/// which only some values are percent-encoded.
///
/// The bits of `chosen` belong to the bytes of the input in their order. Bit `first`, counted from the lowest bit of the first
/// word, belongs to the first byte. An escape is decoded if the bit of its `%` is set, unless [`Decode::keep`] keeps it. Other
/// bits are ignored, and missing words have no bits, so nothing is decoded if `first` is after all words. A `+` stays, also in
/// a decoder with [`Decode::form`].
///
/// # Errors
///
/// If `ends_at_kept`, returns the offset of the first chosen escape that would stay because of [`Decode::keep`]; `out` is then unchanged.
///
/// ```
/// use simdpct::{ByteSet, Decode, internals::decode_chosen_append};
///
/// let (decode, mut out) = (Decode::new().keep(ByteSet::from_bytes(b"\"")), Vec::new());
/// assert_eq!(decode_chosen_append(&decode, "%41 %42%22", &[0b100_1000], 3, false, &mut out), Ok(()));
/// assert_eq!(out, b"A %42%22");
/// assert_eq!(decode_chosen_append(&decode, "%41%22", &[0b1001], 0, true, &mut out), Err(3));
/// ```
#[cfg(feature = "alloc")]
pub fn decode_chosen_append(
    decode: &Decode,
    input: &(impl AsRef<[u8]> + ?Sized),
    chosen: &[u64],
    first: usize,
    ends_at_kept: bool,
    out: &mut Vec<u8>,
) -> Result<(), usize> {
    let (input, len) = (input.as_ref(), out.len());
    let mut job = decode.core.job;
    if job.rule == DecodeRule::Form {
        job.rule = DecodeRule::Keep;
    }
    let words = chosen.get(first / 64..).unwrap_or_default();
    let marks = Marks { words, first: first % 64, strict: ends_at_kept };
    // The output is never longer than the input.
    let stopped = Tail::new(out).append(input.len(), |room| {
        let decoded = decode.core.kernels().decode_marked(&job, input, marks, room);
        (decoded.written, decoded.stopped)
    });
    if ends_at_kept && stopped < input.len() {
        out.truncate(len);
        return Err(stopped);
    }
    Ok(())
}
