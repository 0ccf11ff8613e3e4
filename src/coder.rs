//! The encoder, whose type says whether its result is text. Only this module turns encoded output into `str` without a
//! check of its UTF-8. "lab: NAME" names the page docs/lab/DATE-NAME.md, which has the measurements.

#[cfg(feature = "alloc")]
use alloc::{borrow::Cow, borrow::ToOwned, string::String, vec::Vec};
use core::fmt;
use core::marker::PhantomData;
use core::mem::MaybeUninit;

use crate::error::BufferTooSmall;
use crate::hex::{self, HexCase};
#[cfg(feature = "alloc")]
use crate::kernel::cursor::Tail;
use crate::kernel::cursor::{self, OutputSpan, Written};
use crate::kernel::isa::{Tier, look};
use crate::kernel::job::{EncodeJob, EncodeRule, Measure};
use crate::kernel::reference;
#[cfg(feature = "alloc")]
use crate::kernel::word;
use crate::set::{AsciiSet, ByteSet};

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::AsciiSet {}
    impl Sealed for super::ByteSet {}
    #[cfg(feature = "alloc")]
    impl Sealed for super::String {}
    #[cfg(feature = "alloc")]
    impl Sealed for super::Vec<u8> {}
}

/// A set of bytes that an encoder or a decoder keeps: an [`AsciiSet`], with which an encoder returns text (`str`), or a
/// [`ByteSet`], with which it returns bytes (`[u8]`). This trait is sealed.
///
/// ```
/// use simdpct::{Encode, KeepSet, sets};
///
/// /// Any set: the result is text for an `AsciiSet`, and bytes for a `ByteSet`.
/// fn longest(set: impl KeepSet, values: &[&str]) -> Option<usize> {
///     values.iter().map(|value| Encode::keeping(set).encoded_len(value)).max()
/// }
/// assert_eq!(longest(sets::RFC3986_SEGMENT, &["a b", "/"]), Some(5));
/// ```
pub trait KeepSet: Copy + sealed::Sealed {
    /// The type of the encoded output: `str` or `[u8]`.
    #[cfg(feature = "alloc")]
    type Text: ?Sized + ToOwned<Owned: AppendText<Self::Text>> + 'static;

    /// Returns the bytes of the set.
    fn members(&self) -> ByteSet;

    #[cfg(feature = "alloc")]
    #[doc(hidden)]
    fn encode<'a>(coder: &Coder<Self>, input: &'a [u8]) -> Cow<'a, Self::Text>;

    #[cfg(feature = "alloc")]
    #[doc(hidden)]
    fn encode_owned(coder: &Coder<Self>, input: Vec<u8>) -> <Self::Text as ToOwned>::Owned;
}

/// A buffer that encoded output of type `T` can be appended to: a `Vec<u8>` for any `T`, a `String` for `str`. This trait is sealed.
#[cfg(feature = "alloc")]
pub trait AppendText<T: ?Sized>: sealed::Sealed {
    #[doc(hidden)]
    fn append<S: KeepSet<Text = T>>(&mut self, coder: &Coder<S>, input: &[u8]);
}

/// The options of an encoder, and the type of its set, which gives the type of its result.
// INVARIANT: `core.job.set` is a set of type `S`, apart from the space and the `+`, which form mode adds or removes. So a
// `Coder<AsciiSet>` writes ASCII only: members, `%`, `+` and hexadecimal digits.
#[derive(Clone, Copy, Debug)]
pub struct Coder<S> {
    core: Core,
    /// Whether the caller's set holds the space and the `+`. In form mode, `core.job.set` does not show that.
    keeps: [bool; 2],
    set: PhantomData<S>,
}

/// The part of an encoder that does not depend on the type of the set, so its code exists once.
// `repr(C)` puts the job first, so that a pointer to a `Core` is also a pointer to the job, which kernels take.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Core {
    pub(crate) job: EncodeJob,
    tier: Option<Tier>,
    /// The bytes that nearly every set holds, if this one holds all of them. An input of only these bytes stays unchanged in
    /// every mode.
    common: Option<look::CommonBytes>,
}

/// The longest input, in bytes, that is encoded on the stack before the result is copied to memory of its own.
#[cfg(feature = "alloc")]
const ASIDE: usize = 256;

/// The longest input, in bytes, whose output is never measured before it is appended.
#[cfg(feature = "alloc")]
const APPENDED_UNMEASURED: usize = 1024;

impl<S: KeepSet> Coder<S> {
    #[inline(always)]
    pub(crate) const fn new(set: S) -> Coder<S> {
        let job = EncodeJob::new(members(&set));
        let keeps = [job.set.contains(b' '), job.set.contains(b'+')];
        let common = match job.set.common_and_tilde() {
            Some(other) => Some(look::CommonBytes { other }),
            None => None,
        };
        Coder { core: Core { job, tier: None, common }, keeps, set: PhantomData }
    }

    #[inline(always)]
    pub(crate) const fn keep_escapes(mut self) -> Coder<S> {
        // In other modes, `job.set` is already the set of the caller, and is not copied again (lab: doors).
        if matches!(self.core.job.rule, EncodeRule::Form) {
            self.core.job.set = self.members();
        }
        self.core.job.rule = EncodeRule::KeepEscapes;
        self
    }

    #[inline(always)]
    pub(crate) const fn form(self) -> Coder<S> {
        self.with(EncodeRule::Form, self.members().difference(PLUS).union(SPACE))
    }

    #[inline(always)]
    pub(crate) const fn form_keeping_plus(self) -> Coder<S> {
        self.with(EncodeRule::Form, self.members().union(SPACE))
    }

    #[inline(always)]
    pub(crate) const fn hex_case(mut self, case: HexCase) -> Coder<S> {
        self.core.job.case = case;
        self
    }

    #[inline(always)]
    pub(crate) const fn tier(mut self, tier: Tier) -> Coder<S> {
        self.core.tier = Some(tier);
        self
    }

    /// Returns the set of the caller.
    #[inline(always)]
    const fn members(&self) -> ByteSet {
        let set = self.core.job.set;
        if !matches!(self.core.job.rule, EncodeRule::Form) {
            return set;
        }
        let [space, plus] = self.keeps;
        let set = if space { set } else { set.difference(SPACE) };
        if plus { set.union(PLUS) } else { set.difference(PLUS) }
    }

    #[inline(always)]
    const fn with(mut self, rule: EncodeRule, set: ByteSet) -> Coder<S> {
        self.core.job.rule = rule;
        self.core.job.set = set;
        self
    }
}

/// The set of the space, which the form modes add by `union` and not by `add`. If `add` has just stored one row of the
/// set's table, which is one byte, a kernel that loads many rows at once has to wait (lab: kernels).
const SPACE: ByteSet = ByteSet::from_bytes(b" ");

/// The set of the `+`.
const PLUS: ByteSet = ByteSet::from_bytes(b"+");

/// Returns the members of `set`. Unlike [`KeepSet::members`], this function can be called in constants.
#[inline(always)]
pub(crate) const fn members<S: KeepSet>(set: &S) -> ByteSet {
    // SAFETY: `KeepSet` is sealed, and implemented for two types: `ByteSet`, and `AsciiSet`, which is a transparent wrapper of
    // a `ByteSet`.
    unsafe { *core::ptr::from_ref(set).cast::<ByteSet>() }
}

impl<S> Coder<S> {
    #[inline(always)]
    pub(crate) fn core(&self) -> &Core {
        &self.core
    }
}

impl Core {
    #[inline(always)]
    pub(crate) fn kernels(&self) -> Tier {
        self.tier.unwrap_or_else(Tier::active_or_pending)
    }

    #[inline(always)]
    pub(crate) fn measure(&self, input: &[u8]) -> Measure {
        self.kernels().encode_measure(&self.job, input)
    }

    #[inline(always)]
    pub(crate) fn write<'id>(&self, input: &[u8], out: OutputSpan<'id>) -> Written<'id> {
        self.kernels().encode(&self.job, input, out)
    }

    /// Encodes a short input without calling a kernel, which would take longer than all other work (lab: call-overhead). Returns `None`
    /// if the input is not short enough, or needs a kernel.
    #[inline(always)]
    fn write_short<'id>(&self, input: &[u8], out: OutputSpan<'id>) -> Option<Written<'id>> {
        let common = self.common?;
        cursor::copy_short(input, out, common, |input, out| {
            if !self.job.is_plain() {
                return None;
            }
            // A single byte skips this check, which would take as long as writing its escape (lab: call-overhead).
            if input.len() != 1
                && let Some(copied) = cursor::copy_tiny(input, out, common)
            {
                return Some(copied);
            }
            cursor::triple_tiny::<3>(input, out, self.job.case.escapes(), |byte| !self.job.set.bit(byte))
        })
    }

    /// Encodes into `out`, or returns the size needed if `out` is too small.
    #[inline(always)]
    pub(crate) fn write_checked<'id>(
        &self,
        input: &[u8],
        out: OutputSpan<'id>,
    ) -> Result<Written<'id>, BufferTooSmall> {
        if let Some(written) = self.write_short(input, out) {
            return Ok(written);
        }
        if out.len() / 3 < input.len() {
            self.check_capacity(input, out.len())?;
        }
        Ok(self.write(input, out))
    }

    /// Encodes `input` into `out` and returns the length, or the size needed if `out` is too small.
    #[inline(always)]
    pub(crate) fn write_to_slice(&self, input: &[u8], out: &mut [u8]) -> Result<usize, BufferTooSmall> {
        #[inline(always)]
        fn write((core, input): (&Core, &[u8]), room: OutputSpan<'_>) -> Result<usize, BufferTooSmall> {
            Ok(core.write_checked(input, room)?.len())
        }
        cursor::lend_slice(out, (self, input), write)
    }

    #[inline(never)]
    fn check_capacity(&self, input: &[u8], room: usize) -> Result<(), BufferTooSmall> {
        let needed = self.measure(input).len;
        if room < needed { Err(BufferTooSmall { needed }) } else { Ok(()) }
    }

    /// Returns the offset of the first byte that encoding changes, or `None` if nothing changes.
    pub(crate) fn first_change(&self, input: &[u8]) -> Option<usize> {
        let step = |at: usize| Some(reference::encode(&self.job, &input[at..]));
        reference::first_change(input, |_, piece| self.measure(piece).changed, step)
    }

    /// Reports whether encoding changes nothing.
    pub(crate) fn is_encoded(&self, input: &[u8]) -> bool {
        hex::pieces(input, 4096).all(|(_, piece)| !self.measure(piece).changed)
    }
}

#[cfg(feature = "alloc")]
impl Core {
    #[inline(always)]
    fn encode_bytes<'a>(&self, input: &'a [u8]) -> Cow<'a, [u8]> {
        let stays = self.common.is_some_and(|common| word::stays(input, common));
        if stays { Cow::Borrowed(input) } else { self.encode_slow(input) }
    }

    #[inline(never)]
    fn encode_slow<'a>(&self, input: &'a [u8]) -> Cow<'a, [u8]> {
        let measure = self.measure(input);
        if !measure.changed {
            return Cow::Borrowed(input);
        }
        if input.len() <= ASIDE {
            return Cow::Owned(self.encode_by_stack(input));
        }
        let mut out = Vec::with_capacity(measure.len);
        self.append_by_kernel(input, measure.len, Tail::new(&mut out));
        Cow::Owned(out)
    }

    /// Encodes at most [`ASIDE`] bytes into a buffer on the stack, and copies the output to a vector of its exact size.
    /// In such a vector, a kernel could not store whole registers near the end (lab: call-overhead).
    #[inline(never)]
    fn encode_by_stack(&self, input: &[u8]) -> Vec<u8> {
        let mut buffer = [const { MaybeUninit::uninit() }; 3 * ASIDE + cursor::MAX_WINDOW];
        let Ok((bytes, ())) = cursor::fill(&mut buffer, |room| {
            Ok::<_, core::convert::Infallible>((self.write(input, room), ()))
        });
        bytes.to_vec()
    }

    #[inline(always)]
    fn append_bytes(&self, input: &[u8], mut out: Tail<'_>) {
        if input.is_empty() || out.append_short(|room| self.write_short(input, room)) {
            return;
        }
        // If `ample` is true, the capacity holds three bytes for each byte of input, and `MAX_WINDOW` bytes more. The
        // check takes few instructions (lab: call-overhead).
        let ample = out.spare() / 4 >= input.len() + cursor::MAX_WINDOW / 4;
        if ample {
            self.append_by_kernel(input, 0, out);
        } else {
            self.append_and_grow(input, out);
        }
    }

    /// Reserves capacity and then appends. This function is not inlined, because more instructions in its caller would slow
    /// down short inputs (lab: call-overhead).
    #[inline(never)]
    fn append_and_grow(&self, input: &[u8], out: Tail<'_>) {
        let worst = worst(input.len());
        let is_long = input.len() > APPENDED_UNMEASURED && out.spare() < worst;
        self.append_by_kernel(input, if is_long { self.measure(input).len } else { worst }, out);
    }

    #[inline(always)]
    fn append_by_kernel(&self, input: &[u8], reserve: usize, mut out: Tail<'_>) {
        out.append(reserve, |room| (self.write(input, room), ()));
    }
}

/// Returns the capacity to reserve for `len` bytes of input: three times as much, which is the longest output. For up to
/// 85 bytes it is ten times as much, but at most `MAX_WINDOW`, so that a reused vector soon has capacity for stores of
/// whole registers.
#[cfg(feature = "alloc")]
#[inline(always)]
fn worst(len: usize) -> usize {
    len.saturating_mul(3).max(len.saturating_mul(10).min(cursor::MAX_WINDOW))
}

impl Coder<AsciiSet> {
    /// Writes the encoded text piece by piece.
    pub(crate) fn format(&self, input: &[u8], f: &mut impl fmt::Write) -> fmt::Result {
        let mut buffer = [MaybeUninit::uninit(); 3 * 128 + cursor::MAX_WINDOW];
        for (_, piece) in hex::pieces(input, 128) {
            let Ok((bytes, ())) = cursor::fill(&mut buffer, |room| {
                Ok::<_, core::convert::Infallible>((self.core.write(piece, room), ()))
            });
            debug_assert!(bytes.is_ascii());
            // SAFETY: `self.core` wrote the bytes, and by the invariant a `Coder<AsciiSet>` writes ASCII only.
            f.write_str(unsafe { core::str::from_utf8_unchecked(bytes) })?;
        }
        Ok(())
    }
}

impl KeepSet for AsciiSet {
    #[cfg(feature = "alloc")]
    type Text = str;

    #[inline(always)]
    fn members(&self) -> ByteSet {
        self.to_byte_set()
    }

    #[cfg(feature = "alloc")]
    #[inline(always)]
    fn encode<'a>(coder: &Coder<Self>, input: &'a [u8]) -> Cow<'a, str> {
        let encoded = coder.core.encode_bytes(input);
        debug_assert!(encoded.is_ascii());
        match encoded {
            // SAFETY: the encoder borrows its input only if encoding changes nothing, so these bytes equal its output. By its
            // invariant, a `Coder<AsciiSet>` writes ASCII only.
            Cow::Borrowed(bytes) => Cow::Borrowed(unsafe { core::str::from_utf8_unchecked(bytes) }),
            // SAFETY: a `Coder<AsciiSet>` wrote the bytes, and by its invariant it writes ASCII only.
            Cow::Owned(bytes) => Cow::Owned(unsafe { String::from_utf8_unchecked(bytes) }),
        }
    }

    #[cfg(feature = "alloc")]
    fn encode_owned(coder: &Coder<Self>, input: Vec<u8>) -> String {
        match Self::encode(coder, &input) {
            Cow::Owned(text) => text,
            Cow::Borrowed(text) => {
                debug_assert_eq!(text.len(), input.len());
                // SAFETY: `Core::encode_bytes` borrows only its whole input, so `input` is the text, which is valid UTF-8.
                unsafe { String::from_utf8_unchecked(input) }
            }
        }
    }
}

impl KeepSet for ByteSet {
    #[cfg(feature = "alloc")]
    type Text = [u8];

    #[inline(always)]
    fn members(&self) -> ByteSet {
        *self
    }

    #[cfg(feature = "alloc")]
    #[inline(always)]
    fn encode<'a>(coder: &Coder<Self>, input: &'a [u8]) -> Cow<'a, [u8]> {
        coder.core.encode_bytes(input)
    }

    #[cfg(feature = "alloc")]
    fn encode_owned(coder: &Coder<Self>, input: Vec<u8>) -> Vec<u8> {
        match Self::encode(coder, &input) {
            Cow::Owned(bytes) => bytes,
            Cow::Borrowed(_) => input,
        }
    }
}

#[cfg(feature = "alloc")]
impl<T: ?Sized> AppendText<T> for Vec<u8> {
    #[inline(always)]
    fn append<S: KeepSet<Text = T>>(&mut self, coder: &Coder<S>, input: &[u8]) {
        coder.core.append_bytes(input, Tail::new(self));
    }
}

#[cfg(feature = "alloc")]
impl AppendText<str> for String {
    #[inline(always)]
    fn append<S: KeepSet<Text = str>>(&mut self, coder: &Coder<S>, input: &[u8]) {
        // SAFETY: `AsciiSet` is the only `KeepSet` whose text is `str`, and by its invariant a `Coder<AsciiSet>` writes ASCII
        // only. A `Tail` appends that and changes nothing else.
        coder.core.append_bytes(input, Tail::new(unsafe { self.as_mut_vec() }));
    }
}
