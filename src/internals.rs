//! Items for other crates of this repository. They are not part of the public API, and may change in every release.
//!
//! | item | crates that use it |
//! |---|---|
//! | [`after`], [`try_after`] | `crates/cli` and `crates/capi`, which decode a value piece by piece |
//! | [`strict_if`] | `crates/capi`, `crates/wasm` and `crates/testkit`, which learn the strictness at run time |
//! | [`form_keeping_plus`] | `crates/capi`, `crates/functions`, `crates/python` and `crates/testkit`, for Python's `quote_plus(text, safe='+')` |
//! | [`TIER_NAMES`] | `crates/capi` and `benches/charts`, which know the tiers of other machines |
//! | [`compiled_features`] | the tests, which ask the standard library for the same features |
//! | the functions and types of marks, rows and stops | `crates/cli`, which converts one field of many records |
//!
//! The functions and types of marks, rows and stops deal with tables and records, so they are to move to a crate of their own.

use crate::coder::KeepSet;
use crate::decode::{Decode, TryDecode};
use crate::encode::Encode;
pub use crate::kernel::isa::TIER_NAMES;
use crate::kernel::isa::Tier;
#[cfg(feature = "alloc")]
pub use crate::marks::{
    RowState, Stops, decode_marked_append, list_bits, list_stops, mark_bytes, mark_rows,
    try_decode_beside_append, try_decode_marked_append,
};

/// Continues an input whose last two bytes so far are `before` (zeros for bytes that do not exist). Only
/// [`Decode::NORMALIZE`], and decoders that are made of it, depend on them. They are before each input of the decoder: before
/// each value of a column, and before each input of a stream.
///
/// ```
/// use simdpct::{Decode, internals::after};
///
/// assert_eq!(&*Decode::NORMALIZE.decode("%35"), b"5");
/// assert_eq!(&*after(Decode::NORMALIZE, *b"%2").decode("%35"), b"%35");
/// ```
#[inline(always)]
pub const fn after(mut decode: Decode, before: [u8; 2]) -> Decode {
    decode.core.job.before = before;
    decode
}

/// Does the same as [`after`] for a [`TryDecode`].
#[inline(always)]
pub const fn try_after(mut decode: TryDecode, before: [u8; 2]) -> TryDecode {
    decode.core.job.before = before;
    decode
}

/// Makes a malformed escape an error if `strict` is true. If `strict` is false, the returned decoder gives the same output as
/// `decode` and never fails because of its input.
///
/// ```
/// use simdpct::Decode;
/// use simdpct::internals::strict_if;
///
/// for strict in [false, true] {
///     assert_eq!(strict_if(Decode::new(), strict).decode("100%").is_err(), strict);
/// }
/// ```
#[inline(always)]
pub const fn strict_if(decode: Decode, strict: bool) -> TryDecode {
    let mut decode = decode.strict();
    decode.core.job.strict = strict;
    decode
}

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
