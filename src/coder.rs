//! An encoding and the type of its result. The only module that makes a `str` of encoded bytes without a check.

#[cfg(feature = "alloc")]
use alloc::{borrow::Cow, borrow::ToOwned, string::String, vec::Vec};
use core::fmt;
use core::mem::MaybeUninit;

use crate::error::BufferTooSmall;
use crate::hex::{self, HexCase};
use crate::kernel::cursor::{self, Room, Written};
use crate::kernel::isa::{Tier, look};
use crate::kernel::job::{EncodeJob, EncodeRule, Measure};
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

/// A set of bytes that an encoder keeps: an [`AsciiSet`], which gives text (`str`), or a [`ByteSet`], which gives bytes
/// (`[u8]`). This trait is sealed.
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
#[cfg(feature = "alloc")]
pub trait KeepSet: Copy + sealed::Sealed {
    /// The type of encoded text.
    type Text: ?Sized + ToOwned<Owned: AppendText<Self::Text>> + 'static;

    /// The members.
    fn members(&self) -> ByteSet;

    #[doc(hidden)]
    fn encode<'a>(coder: &Coder<Self>, input: &'a [u8]) -> Cow<'a, Self::Text>;

    #[doc(hidden)]
    fn encode_vec(coder: &Coder<Self>, input: Vec<u8>) -> <Self::Text as ToOwned>::Owned;
}

/// A set of bytes that an encoder keeps: an [`AsciiSet`] or a [`ByteSet`]. This trait is sealed.
#[cfg(not(feature = "alloc"))]
pub trait KeepSet: Copy + sealed::Sealed {
    /// The members.
    fn members(&self) -> ByteSet;
}

/// A buffer that text of type `T` can be appended to: `Vec<u8>` takes all, `String` takes `str`. This trait is sealed.
#[cfg(feature = "alloc")]
pub trait AppendText<T: ?Sized>: sealed::Sealed {
    #[doc(hidden)]
    fn append<S: KeepSet<Text = T>>(&mut self, coder: &Coder<S>, input: &[u8]);
}

/// What an encoder does, and by which kernels.
// INVARIANT: the members of `job.set` are members of the `S` that it was made of, or a space, which is written as `+`. So
// with an `AsciiSet` all that is written is ASCII: members, `%`, `+` and hexadecimal digits.
#[derive(Clone, Copy, Debug)]
pub struct Coder<S> {
    job: EncodeJob,
    tier: Option<Tier>,
    /// Whether the bytes of [`look::all_usual`] stay.
    usual: bool,
    set: S,
}

/// An input of at most this many bytes is encoded on the stack before it is copied to memory of its own.
#[cfg(feature = "alloc")]
const ASIDE: usize = 256;

/// An input of at most this many bytes is not measured before it is appended.
#[cfg(feature = "alloc")]
const SHORT: usize = 1024;

impl<S: KeepSet> Coder<S> {
    #[inline(always)]
    pub(crate) const fn new(set: S) -> Coder<S> {
        let job = EncodeJob::new(members(&set));
        Coder { job, tier: None, usual: job.set.holds_usual(), set }
    }

    #[inline(always)]
    pub(crate) const fn keep_escapes(self) -> Coder<S> {
        Coder { job: self.job.with(EncodeRule::KeepEscapes, members(&self.set)), ..self }
    }

    #[inline(always)]
    pub(crate) const fn form(self) -> Coder<S> {
        const PLUS: ByteSet = ByteSet::from_bytes(b"+");
        let set = members(&self.set).difference(PLUS).union(SPACE);
        Coder { job: self.job.with(EncodeRule::Form, set), ..self }
    }

    #[inline(always)]
    pub(crate) const fn form_keeping_plus(self) -> Coder<S> {
        Coder { job: self.job.with(EncodeRule::Form, members(&self.set).union(SPACE)), ..self }
    }

    #[inline(always)]
    pub(crate) const fn hex_case(mut self, case: HexCase) -> Coder<S> {
        self.job.case = case;
        self
    }

    #[inline(always)]
    pub(crate) const fn tier(mut self, tier: Tier) -> Coder<S> {
        self.tier = Some(tier);
        self
    }
}

/// Added as a set: a kernel that loads a row right after a single byte of it was stored would have to wait.
const SPACE: ByteSet = ByteSet::from_bytes(b" ");

/// [`KeepSet::members`], for constants.
#[inline(always)]
const fn members<S: KeepSet>(set: &S) -> ByteSet {
    // SAFETY: the trait is sealed, so `S` is `ByteSet`, or `AsciiSet`, which is a transparent wrapper of one.
    unsafe { *core::ptr::from_ref(set).cast::<ByteSet>() }
}

impl<S> Coder<S> {
    #[inline(always)]
    pub(crate) fn job(&self) -> &EncodeJob {
        &self.job
    }

    #[inline(always)]
    pub(crate) fn kernels(&self) -> Tier {
        match self.tier {
            Some(tier) => tier,
            None => Tier::active(),
        }
    }

    #[inline(always)]
    pub(crate) fn measure(&self, input: &[u8]) -> Measure {
        self.kernels().encode_measure(&self.job, input)
    }

    #[inline(always)]
    pub(crate) fn write<'c>(&self, input: &[u8], out: Room<'c>) -> Written<'c> {
        self.kernels().encode(&self.job, input, out)
    }

    /// Writes a few bytes without the call of a kernel, which would take longer than all other work. `None` if they are not few,
    /// or are for a kernel.
    #[inline(always)]
    fn write_few<'c>(&self, input: &[u8], out: Room<'c>) -> Option<Written<'c>> {
        if !self.usual {
            return None;
        }
        cursor::copy_few(input, out, look::AllUsual, |input, out| {
            if !self.job.is_plain() {
                return None;
            }
            // Of one byte, the look would take as long as the escape.
            if input.len() != 1
                && let Some(copied) = cursor::copy_fewer(input, out, look::AllUsual)
            {
                return Some(copied);
            }
            cursor::triple_few::<3>(input, out, self.job.case.escapes(), |byte| !self.job.set.bit(byte))
        })
    }

    /// Writes into whatever room there is, if it is enough.
    #[inline(always)]
    pub(crate) fn write_checked<'c>(
        &self,
        input: &[u8],
        out: Room<'c>,
    ) -> Result<Written<'c>, BufferTooSmall> {
        if let Some(written) = self.write_few(input, out) {
            return Ok(written);
        }
        if out.len() / 3 < input.len() {
            self.check_room(input, out.len())?;
        }
        Ok(self.write(input, out))
    }

    #[inline(never)]
    fn check_room(&self, input: &[u8], room: usize) -> Result<(), BufferTooSmall> {
        let needed = self.measure(input).len;
        if room < needed { Err(BufferTooSmall { needed }) } else { Ok(()) }
    }

    /// The number of bytes at the start of `rest`, which is not empty, that stay as they are: one, or the three of an
    /// escape; or none.
    fn stay(&self, rest: &[u8]) -> usize {
        let byte = rest[0];
        match self.job.rule {
            EncodeRule::KeepEscapes if byte == b'%' => hex::unescape(rest).map_or(0, |_| 3),
            EncodeRule::Form if byte == b' ' => 0,
            _ => usize::from(self.job.set.contains(byte)),
        }
    }

    /// The offset of the first byte that does not stay as it is.
    pub(crate) fn first_change(&self, input: &[u8]) -> Option<usize> {
        hex::first_change(input, |piece| self.measure(piece).changed, |rest| self.stay(rest))
    }

    /// Whether nothing changes.
    pub(crate) fn is_encoded(&self, input: &[u8]) -> bool {
        hex::pieces(input, 4096).all(|(_, piece)| !self.measure(piece).changed)
    }
}

#[cfg(feature = "alloc")]
impl<S> Coder<S> {
    #[inline(always)]
    fn bytes_of<'a>(&self, input: &'a [u8]) -> Cow<'a, [u8]> {
        let stays = self.usual && word::stays(input, look::AllUsual);
        if stays { Cow::Borrowed(input) } else { self.others_of(input) }
    }

    #[inline(never)]
    fn others_of<'a>(&self, input: &'a [u8]) -> Cow<'a, [u8]> {
        let measure = self.measure(input);
        if !measure.changed {
            return Cow::Borrowed(input);
        }
        if input.len() <= ASIDE {
            return Cow::Owned(self.by_way_of_the_stack(input));
        }
        let mut out = Vec::with_capacity(measure.len);
        self.write_to_room(input, measure.len, &mut out);
        Cow::Owned(out)
    }

    /// The encoded bytes of at most [`ASIDE`]. To encode where there is ample room and copy the result takes two thirds of the time
    /// of encoding into a room of the exact size, where a kernel cannot store whole registers.
    #[inline(never)]
    fn by_way_of_the_stack(&self, input: &[u8]) -> Vec<u8> {
        let mut aside = [const { MaybeUninit::uninit() }; 3 * ASIDE + cursor::MAX_WINDOW];
        let Ok((bytes, ())) = cursor::fill(&mut aside, |room| {
            Ok::<_, core::convert::Infallible>((self.write(input, room), ()))
        });
        bytes.to_vec()
    }

    fn vec_of(&self, input: Vec<u8>) -> Vec<u8> {
        match self.bytes_of(&input) {
            Cow::Borrowed(_) => input,
            Cow::Owned(bytes) => bytes,
        }
    }

    #[inline(always)]
    fn append_bytes(&self, input: &[u8], out: &mut Vec<u8>) {
        if input.is_empty() || cursor::append_few(out, |room| self.write_few(input, room)) {
            return;
        }
        let spare = out.capacity() - out.len();
        // Three bytes for each, and a window: asked so that it takes few instructions.
        let ample = spare / 4 >= input.len() + cursor::MAX_WINDOW / 4;
        if ample {
            self.write_to_room(input, 0, out);
        } else {
            self.append_to_little_room(input, out);
        }
    }

    /// A function of its own: where there is ample room, each instruction of the caller shows in the time of a short input.
    #[inline(never)]
    fn append_to_little_room(&self, input: &[u8], out: &mut Vec<u8>) {
        let worst = worst(input.len());
        let is_long = input.len() > SHORT && out.capacity() - out.len() < worst;
        self.write_to_room(input, if is_long { self.measure(input).len } else { worst }, out);
    }

    #[inline(always)]
    fn write_to_room(&self, input: &[u8], room: usize, out: &mut Vec<u8>) {
        cursor::append(out, room, |room| (self.write(input, room), ()));
    }
}

/// Room for the worst case of `len` bytes. For a few bytes it is a little more, so that a buffer that is used again soon has
/// room for what a kernel writes at once.
#[cfg(feature = "alloc")]
#[inline(always)]
fn worst(len: usize) -> usize {
    len.saturating_mul(3).max(len.saturating_mul(10).min(cursor::MAX_WINDOW))
}

impl Coder<AsciiSet> {
    /// Writes the encoded text piece by piece.
    pub(crate) fn format(&self, input: &[u8], f: &mut impl fmt::Write) -> fmt::Result {
        let mut out = [MaybeUninit::uninit(); 3 * 128 + cursor::MAX_WINDOW];
        for (_, piece) in hex::pieces(input, 128) {
            let Ok((bytes, ())) = cursor::fill(&mut out, |room| {
                Ok::<_, core::convert::Infallible>((self.write(piece, room), ()))
            });
            // SAFETY: by the invariant of `Coder` the bytes are ASCII.
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
        match coder.bytes_of(input) {
            // SAFETY: by the invariant of `Coder` the bytes are ASCII.
            Cow::Borrowed(bytes) => Cow::Borrowed(unsafe { core::str::from_utf8_unchecked(bytes) }),
            // SAFETY: by the invariant of `Coder` the bytes are ASCII.
            Cow::Owned(bytes) => Cow::Owned(unsafe { String::from_utf8_unchecked(bytes) }),
        }
    }

    #[cfg(feature = "alloc")]
    fn encode_vec(coder: &Coder<Self>, input: Vec<u8>) -> String {
        // SAFETY: by the invariant of `Coder` the bytes are ASCII.
        unsafe { String::from_utf8_unchecked(coder.vec_of(input)) }
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
        coder.bytes_of(input)
    }

    #[cfg(feature = "alloc")]
    fn encode_vec(coder: &Coder<Self>, input: Vec<u8>) -> Vec<u8> {
        coder.vec_of(input)
    }
}

#[cfg(feature = "alloc")]
impl<T: ?Sized> AppendText<T> for Vec<u8> {
    #[inline(always)]
    fn append<S: KeepSet<Text = T>>(&mut self, coder: &Coder<S>, input: &[u8]) {
        coder.append_bytes(input, self);
    }
}

#[cfg(feature = "alloc")]
impl AppendText<str> for String {
    #[inline(always)]
    fn append<S: KeepSet<Text = str>>(&mut self, coder: &Coder<S>, input: &[u8]) {
        // SAFETY: only an `AsciiSet` has text of type `str`, and by the invariant of `Coder` what is appended is ASCII.
        coder.append_bytes(input, unsafe { self.as_mut_vec() });
    }
}
