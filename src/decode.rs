//! Decoding: each escape is replaced by its byte, once.

#[cfg(feature = "alloc")]
use alloc::{borrow::Cow, vec::Vec};
use core::mem::MaybeUninit;

use crate::error::{BufferTooSmall, DecodeError, MalformedEscape};
use crate::hex::{self, HexCase};
use crate::kernel::cursor::{self, Cursor, Room, Written};
use crate::kernel::isa::{Tier, look::NoEscape};
use crate::kernel::job::{DecodeJob, DecodeRule, Decoded, Measured};
#[cfg(feature = "alloc")]
use crate::kernel::word;
use crate::set::{ByteSet, sets};

/// What [`Decode`] and [`TryDecode`] share: what to decode, and by which kernels.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Core {
    pub(crate) job: DecodeJob,
    tier: Option<Tier>,
}

impl Core {
    #[inline(always)]
    pub(crate) fn kernels(&self) -> Tier {
        match self.tier {
            Some(tier) => tier,
            None => Tier::active(),
        }
    }

    #[inline(always)]
    pub(crate) fn measure(&self, input: &[u8]) -> Measured {
        self.kernels().decode_measure(&self.job, input)
    }

    #[inline(always)]
    pub(crate) fn write<'c>(&self, input: &[u8], out: Room<'c>) -> Decoded<'c> {
        self.kernels().decode(&self.job, input, out)
    }

    /// Copies a few bytes that decoding leaves as they are. The call of a kernel would take longer than all other work. A
    /// decoder that is not strict says so with a constant.
    #[inline(always)]
    fn copy_few<'c>(&self, input: &[u8], out: Room<'c>, strict: bool) -> Option<Written<'c>> {
        if self.job.plus() {
            return None;
        }
        let look = NoEscape { strict };
        cursor::copy_few(input, out, look, |input, out| cursor::copy_fewer(input, out, look))
    }

    /// Writes into the room, if it is large enough. Nothing is written if measuring already refuses the input.
    #[inline(always)]
    fn write_checked<'c>(
        &self,
        input: &[u8],
        out: Room<'c>,
        strict: bool,
    ) -> Result<Decoded<'c>, BufferTooSmall> {
        if let Some(written) = self.copy_few(input, out, strict) {
            return Ok(Decoded { written, stopped: input.len() });
        }
        if out.len() < input.len()
            && let Some(stopped) = self.check_room(input, out.len())?
        {
            return Ok(Decoded { written: Cursor::new(out).finish(), stopped });
        }
        Ok(self.write(input, out))
    }

    /// Where decoding stops, if the input is refused; else whether there is room.
    #[inline(never)]
    fn check_room(&self, input: &[u8], room: usize) -> Result<Option<usize>, BufferTooSmall> {
        let measured = self.measure(input);
        if measured.stopped() < input.len() {
            return Ok(Some(measured.stopped()));
        }
        if room < measured.len() { Err(BufferTooSmall { needed: measured.len() }) } else { Ok(None) }
    }

    /// Decodes `bytes`, which hold no escape that is refused, in place.
    fn in_place(&self, bytes: &mut [u8]) -> usize {
        if bytes.len() <= 512 {
            self.in_place_by::<512, 576>(bytes)
        } else {
            self.in_place_by::<8192, 8256>(bytes)
        }
    }

    /// Decodes pieces of at most `N` bytes to one side, in room for `M`, and copies the result back. Where the result is so
    /// far behind the input already that the two cannot meet, a piece is decoded to its place.
    fn in_place_by<const N: usize, const M: usize>(&self, bytes: &mut [u8]) -> usize {
        let (mut read, mut written) = (0, 0);
        while read < bytes.len() {
            let (before, rest) = bytes.split_at_mut(read);
            let gap = &mut before[written..];
            let direct = gap.len() >= 1024;
            let mut len = rest.len().min(if direct { gap.len() } else { N });
            if len < rest.len() {
                len -= hex::held_back(&rest[..len]);
            }
            let piece = &rest[..len];
            let decoded = if direct {
                self.write(piece, Room::over(gap)).written.len()
            } else {
                let mut aside = [const { MaybeUninit::uninit() }; M];
                let Ok((decoded, ())) = cursor::fill(&mut aside, |room| {
                    Ok::<_, core::convert::Infallible>((self.write(piece, room).written, ()))
                });
                // Under the plain rule nothing changes but what becomes shorter.
                if written < read || decoded.len() < len || !self.job.is_plain() {
                    Cursor::new(Room::over(&mut bytes[written..])).push_run(decoded);
                }
                decoded.len()
            };
            read += len;
            written += decoded;
        }
        written
    }

    /// Whether decoding changes anything, in input that is not refused.
    pub(crate) fn changes(&self, input: &[u8]) -> bool {
        hex::pieces(input, 4096).any(|(_, piece)| self.measure(piece).changed())
    }

    /// The offset of the first byte or escape that decoding changes, in input that is not refused.
    fn first_change(&self, input: &[u8]) -> Option<usize> {
        hex::first_change(input, |piece| self.measure(piece).changed(), |rest| self.stay(rest))
    }

    /// The number of bytes at the start of `rest`, which is not empty, that stay as they are: one, or the three of an
    /// escape; or none.
    fn stay(&self, rest: &[u8]) -> usize {
        match (rest[0], hex::unescape(rest)) {
            (b'+', _) if self.job.plus() => 0,
            (_, Some(byte)) if !self.job.stays(byte) => 0,
            (_, Some(byte)) if self.job.upper && rest[..3] != hex::escape(byte, HexCase::Upper) => 0,
            (_, Some(_)) => 3,
            (_, None) => 1,
        }
    }
}

/// An input of at most this many bytes is decoded on the stack before it is copied to memory of its own.
#[cfg(feature = "alloc")]
const ASIDE: usize = 256;

#[cfg(feature = "alloc")]
impl Core {
    /// The decoded bytes, and where decoding stopped; if that is not the end, the bytes are those of the input.
    #[inline(always)]
    fn cow<'a>(&self, input: &'a [u8], strict: bool) -> (Cow<'a, [u8]>, usize) {
        if !self.job.plus() && word::stays(input, NoEscape { strict }) {
            (Cow::Borrowed(input), input.len())
        } else {
            self.others(input)
        }
    }

    #[inline(never)]
    fn others<'a>(&self, input: &'a [u8]) -> (Cow<'a, [u8]>, usize) {
        if input.len() <= ASIDE && !self.job.plus() {
            // Strict, for the last bytes of a piece are not those of the input.
            return if word::all_stay(input, NoEscape { strict: true }) {
                (Cow::Borrowed(input), input.len())
            } else {
                self.by_way_of_the_stack(input)
            };
        }
        let measured = self.measure(input);
        if !measured.changed() || measured.stopped() < input.len() {
            return (Cow::Borrowed(input), measured.stopped());
        }
        if input.len() <= ASIDE {
            return self.by_way_of_the_stack(input);
        }
        let mut out = Vec::with_capacity(measured.len());
        let stopped = self.append_bytes(input, measured.len(), &mut out);
        (Cow::Owned(out), stopped)
    }

    /// As [`Core::others`], for at most [`ASIDE`] bytes. To decode where there is ample room and copy the result takes half the
    /// time of decoding into a room of the exact size, where a kernel cannot store whole registers.
    #[inline(never)]
    fn by_way_of_the_stack<'a>(&self, input: &'a [u8]) -> (Cow<'a, [u8]>, usize) {
        let mut aside = [const { MaybeUninit::uninit() }; ASIDE + 64];
        let Ok((bytes, stopped)) = cursor::fill(&mut aside, |room| {
            let Decoded { written, stopped } = self.write(input, room);
            Ok::<_, core::convert::Infallible>((written, stopped))
        });
        // Where every change is an escape that becomes a byte, the length says whether there was one.
        let is_shorter = bytes.len() < input.len();
        let may_change_bytes = self.job.upper || self.job.plus();
        let changed = is_shorter || (may_change_bytes && bytes != input);
        if !changed || stopped < input.len() {
            return (Cow::Borrowed(input), stopped);
        }
        (Cow::Owned(bytes.to_vec()), stopped)
    }

    /// Appends the decoded bytes and returns where decoding stopped.
    #[inline(always)]
    fn append(&self, input: &[u8], out: &mut Vec<u8>, strict: bool) -> usize {
        if input.is_empty() || cursor::append_few(out, |room| self.copy_few(input, room, strict)) {
            input.len()
        } else {
            self.append_others(input, out)
        }
    }

    #[inline(always)]
    fn append_others(&self, input: &[u8], out: &mut Vec<u8>) -> usize {
        // The output is no longer than the input.
        if out.capacity() - out.len() >= input.len() {
            self.append_bytes(input, 0, out)
        } else {
            self.append_to_little_room(input, out)
        }
    }

    /// A function of its own: where there is room, each instruction of the caller shows in the time of a short input.
    #[inline(never)]
    fn append_to_little_room(&self, input: &[u8], out: &mut Vec<u8>) -> usize {
        // For a few bytes a little more, so that a buffer that is used again soon has room for what a kernel writes at once.
        let len = input.len();
        self.append_bytes(input, len.max(len.saturating_mul(4).min(64)), out)
    }

    #[inline(always)]
    fn append_bytes(&self, input: &[u8], room: usize, out: &mut Vec<u8>) -> usize {
        cursor::append(out, room, |room| {
            let Decoded { written, stopped } = self.write(input, room);
            (written, stopped)
        })
    }
}

/// How to decode: which escapes stay, and what `+` means. Every input has a result.
///
/// A `%` that is not followed by two hexadecimal digits stays as it is, and the next byte is looked at anew (URL Standard,
/// section 1.3). [`Decode::strict`] makes it an error. Both cases of digits are read. Escapes are decoded once: `%2541`
/// becomes `%41`.
///
/// A value is cheap to make and to copy. Every verb takes time linear in the input. No verb panics, except that `Vec` and
/// `String` panic or abort when they cannot allocate.
///
/// ```
/// use simdpct::{ByteSet, Decode};
///
/// assert_eq!(&*Decode::new().decode("100%25 %zz"), b"100% %zz");
///
/// // Everything but `/` and line ends:
/// let decode = Decode::new().keep(ByteSet::from_bytes(b"/\r\n"));
/// assert_eq!(&*decode.decode("%61%2Fb%0a"), b"a%2Fb%0a");
/// ```
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct Decode {
    // INVARIANT: not strict.
    pub(crate) core: Core,
}

/// How to decode, where a malformed escape is an error.
///
/// [`Decode::strict`] makes one, and [`Decode::strict_if`] where strictness is chosen at run time. Its verbs are those of
/// [`Decode`] and return the first malformed escape as an error.
///
/// ```
/// use simdpct::Decode;
///
/// assert_eq!(&*Decode::new().strict().decode("a%20b")?, b"a b");
/// assert_eq!(Decode::new().strict().decode("100%").unwrap_err().offset, 3);
/// # Ok::<(), simdpct::MalformedEscape>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct TryDecode {
    pub(crate) core: Core,
}

impl Default for Decode {
    fn default() -> Decode {
        Decode::new()
    }
}

impl Decode {
    /// The normalization of escapes (RFC 3986, section 6.2.2.1 for the digits of escapes, and 6.2.2.2): escapes of
    /// unreserved bytes are decoded, the digits of all other escapes are written in upper case, and nothing else changes.
    /// Each escape is looked at once: `%257E` stays `%257E`.
    ///
    /// [`normalize`](crate::normalize()) and its neighbours are shortcuts for its verbs.
    ///
    /// ```
    /// let mut out = Vec::new();
    /// simdpct::Decode::NORMALIZE.decode_append("%7euser/%2f", &mut out);
    /// assert_eq!(out, b"~user/%2F");
    /// ```
    pub const NORMALIZE: Decode = {
        let keep = sets::RFC3986_UNRESERVED.to_byte_set().complement();
        let job = DecodeJob { upper: true, ..DecodeJob::PLAIN.keeping(keep) };
        Decode { core: Core { job, tier: None } }
    };

    /// Decodes every valid escape, and keeps malformed ones.
    ///
    /// ```
    /// assert_eq!(&*simdpct::Decode::new().decode("50% off%21"), b"50% off!");
    /// ```
    #[inline(always)]
    pub const fn new() -> Decode {
        Decode { core: Core { job: DecodeJob::PLAIN, tier: None } }
    }

    /// The same, but a malformed escape is an error.
    ///
    /// ```
    /// let strict = simdpct::Decode::new().strict();
    /// assert_eq!(strict.decode("50% off").unwrap_err().offset, 2);
    /// ```
    #[inline(always)]
    pub const fn strict(self) -> TryDecode {
        self.strict_if(true)
    }

    /// The same, but a malformed escape is an error if `strict` is true: for strictness that is chosen at run time.
    ///
    /// ```
    /// use simdpct::Decode;
    /// for strict in [false, true] {
    ///     assert_eq!(Decode::new().strict_if(strict).decode("100%").is_err(), strict);
    /// }
    /// ```
    #[inline(always)]
    pub const fn strict_if(mut self, strict: bool) -> TryDecode {
        self.core.job.strict = strict;
        TryDecode { core: self.core }
    }

    /// Keeps escapes of the bytes of `set` as they are spelt, so that decoding cannot create one of these bytes: delimiters
    /// when text is decoded before it is split, line ends in line-oriented output.
    ///
    /// ```
    /// use simdpct::{ByteSet, Decode};
    /// let lines = Decode::new().keep(ByteSet::from_bytes(b"\r\n"));
    /// assert_eq!(&*lines.decode("%61%0A"), b"a%0A");
    /// ```
    #[inline(always)]
    pub const fn keep(mut self, set: ByteSet) -> Decode {
        self.core.job = self.core.job.keeping(set);
        self
    }

    /// Reads a `+` that is not escaped as a space (URL Standard, section 5.1).
    ///
    /// ```
    /// let form = simdpct::Decode::new().form();
    /// assert_eq!(&*form.decode("a+b%2B"), b"a b+");
    /// ```
    #[inline(always)]
    pub const fn form(mut self) -> Decode {
        self.core.job.rule = DecodeRule::Form;
        self
    }

    /// Uses the kernels of `tier` instead of the active one.
    ///
    /// ```
    /// use simdpct::{Decode, Tier};
    /// for tier in Tier::available() {
    ///     assert_eq!(&*Decode::new().tier(tier).decode("%41"), b"A", "{tier}");
    /// }
    /// ```
    pub const fn tier(mut self, tier: Tier) -> Decode {
        self.core.tier = Some(tier);
        self
    }

    /// The exact length of the decoded bytes.
    ///
    /// ```
    /// assert_eq!(simdpct::Decode::new().decoded_len("a%20b"), 3);
    /// ```
    #[must_use]
    pub fn decoded_len(&self, input: &(impl AsRef<[u8]> + ?Sized)) -> usize {
        self.core.measure(input.as_ref()).len()
    }

    /// Whether decoding would change nothing. It stops at the first block of input that changes.
    ///
    /// ```
    /// use simdpct::Decode;
    /// assert!(Decode::new().is_decoded("100%"));
    /// assert!(!Decode::new().is_decoded("100%25"));
    /// ```
    #[must_use]
    pub fn is_decoded(&self, input: &(impl AsRef<[u8]> + ?Sized)) -> bool {
        !self.core.changes(input.as_ref())
    }

    /// The offset of the first byte or escape of `input` that decoding would change; `None` if nothing changes.
    ///
    /// ```
    /// use simdpct::Decode;
    /// assert_eq!(Decode::new().first_change("50%-100%25"), Some(7));
    /// assert_eq!(Decode::NORMALIZE.first_change("/%2F%2f"), Some(4));
    /// ```
    #[must_use]
    pub fn first_change(&self, input: &(impl AsRef<[u8]> + ?Sized)) -> Option<usize> {
        self.core.first_change(input.as_ref())
    }

    /// Decodes into `out` and returns the number of bytes written. The bytes of `out` after these are unspecified. A slice
    /// as long as the input is always large enough; a shorter one costs one more pass to measure.
    ///
    /// # Errors
    ///
    /// [`BufferTooSmall`] says the exact size needed; `out` is then unchanged.
    ///
    /// ```
    /// let mut out = [0; 8];
    /// assert_eq!(simdpct::Decode::new().decode_to_slice("a%20b", &mut out), Ok(3));
    /// assert_eq!(&out[..3], b"a b");
    /// ```
    #[inline]
    pub fn decode_to_slice(
        &self,
        input: &(impl AsRef<[u8]> + ?Sized),
        out: &mut [u8],
    ) -> Result<usize, BufferTooSmall> {
        Ok(self.core.write_checked(input.as_ref(), Room::over(out), false)?.written.len())
    }

    /// As [`Decode::decode_to_slice`], into memory that need not be initialised; returns the part that was written.
    ///
    /// # Errors
    ///
    /// [`BufferTooSmall`] says the exact size needed; `out` is then unchanged.
    ///
    /// ```
    /// use std::mem::MaybeUninit;
    ///
    /// let mut out = [MaybeUninit::uninit(); 16];
    /// let bytes = simdpct::Decode::new().decode_to_uninit("a%20b", &mut out)?;
    /// assert_eq!(bytes, b"a b");
    /// # Ok::<(), simdpct::BufferTooSmall>(())
    /// ```
    #[inline]
    pub fn decode_to_uninit<'o>(
        &self,
        input: &(impl AsRef<[u8]> + ?Sized),
        out: &'o mut [MaybeUninit<u8>],
    ) -> Result<&'o mut [u8], BufferTooSmall> {
        let input = input.as_ref();
        let (bytes, ()) =
            cursor::fill(out, |room| Ok((self.core.write_checked(input, room, false)?.written, ())))?;
        Ok(bytes)
    }

    /// Decodes `bytes` in place and returns the length of the result, which is at the start. The bytes after it are
    /// unspecified.
    ///
    /// ```
    /// let mut bytes = *b"a%20b%20c";
    /// let len = simdpct::Decode::new().decode_in_place(&mut bytes);
    /// assert_eq!(&bytes[..len], b"a b c");
    /// ```
    #[must_use = "the bytes after the result are unspecified"]
    pub fn decode_in_place(&self, bytes: &mut [u8]) -> usize {
        self.core.in_place(bytes)
    }
}

impl TryDecode {
    #[inline(always)]
    fn refusal(input: &[u8], stopped: usize) -> Result<(), MalformedEscape> {
        MalformedEscape::unless_whole(input, stopped)
    }

    /// Keeps escapes of the bytes of `set` as they are spelt, so that decoding cannot create one of these bytes: delimiters
    /// when text is decoded before it is split, line ends in line-oriented output.
    ///
    /// ```
    /// use simdpct::{ByteSet, Decode};
    /// let lines = Decode::new().keep(ByteSet::from_bytes(b"\r\n")).strict();
    /// assert_eq!(&*lines.decode("%61%0A")?, b"a%0A");
    /// # Ok::<(), simdpct::MalformedEscape>(())
    /// ```
    pub const fn keep(mut self, set: ByteSet) -> TryDecode {
        self.core.job = self.core.job.keeping(set);
        self
    }

    /// Reads a `+` that is not escaped as a space (URL Standard, section 5.1).
    ///
    /// ```
    /// let form = simdpct::Decode::new().form().strict();
    /// assert_eq!(&*form.decode("a+b%2B")?, b"a b+");
    /// # Ok::<(), simdpct::MalformedEscape>(())
    /// ```
    pub const fn form(mut self) -> TryDecode {
        self.core.job.rule = DecodeRule::Form;
        self
    }

    /// Uses the kernels of `tier` instead of the active one.
    ///
    /// ```
    /// use simdpct::{Decode, Tier};
    /// for tier in Tier::available() {
    ///     assert!(Decode::new().strict().tier(tier).decode("%4").is_err(), "{tier}");
    /// }
    /// ```
    pub const fn tier(mut self, tier: Tier) -> TryDecode {
        self.core.tier = Some(tier);
        self
    }

    /// As [`Decode::decoded_len`].
    ///
    /// # Errors
    ///
    /// The first malformed escape.
    ///
    /// ```
    /// assert_eq!(simdpct::Decode::new().strict().decoded_len("a%2").unwrap_err().offset, 1);
    /// ```
    pub fn decoded_len(&self, input: &(impl AsRef<[u8]> + ?Sized)) -> Result<usize, MalformedEscape> {
        let input = input.as_ref();
        let measured = self.core.measure(input);
        TryDecode::refusal(input, measured.stopped())?;
        Ok(measured.len())
    }

    /// As [`Decode::is_decoded`].
    ///
    /// # Errors
    ///
    /// The first malformed escape.
    ///
    /// ```
    /// let strict = simdpct::Decode::new().strict();
    /// assert!(strict.is_decoded("plain")?);
    /// assert!(strict.is_decoded("100%").is_err());
    /// # Ok::<(), simdpct::MalformedEscape>(())
    /// ```
    pub fn is_decoded(&self, input: &(impl AsRef<[u8]> + ?Sized)) -> Result<bool, MalformedEscape> {
        let input = input.as_ref();
        if !self.core.job.strict {
            return Ok(!self.core.changes(input));
        }
        let measured = self.core.measure(input);
        TryDecode::refusal(input, measured.stopped())?;
        Ok(!measured.changed())
    }

    /// As [`Decode::first_change`].
    ///
    /// # Errors
    ///
    /// The first malformed escape.
    ///
    /// ```
    /// let strict = simdpct::Decode::new().strict();
    /// assert_eq!(strict.first_change("ab%20")?, Some(2));
    /// # Ok::<(), simdpct::MalformedEscape>(())
    /// ```
    pub fn first_change(
        &self,
        input: &(impl AsRef<[u8]> + ?Sized),
    ) -> Result<Option<usize>, MalformedEscape> {
        let input = input.as_ref();
        Ok(if self.is_decoded(input)? { None } else { self.core.first_change(input) })
    }

    /// As [`Decode::decode_to_slice`].
    ///
    /// # Errors
    ///
    /// [`DecodeError::Malformed`] is the first malformed escape; the content of `out` is then unspecified.
    /// [`DecodeError::BufferTooSmall`] says the exact size needed; `out` is then unchanged.
    ///
    /// ```
    /// use simdpct::{Decode, DecodeError};
    ///
    /// let mut out = [0; 2];
    /// let strict = Decode::new().strict();
    /// assert!(matches!(strict.decode_to_slice("%4", &mut out), Err(DecodeError::Malformed(_))));
    /// assert!(matches!(strict.decode_to_slice("%41bc", &mut out), Err(DecodeError::BufferTooSmall(_))));
    /// ```
    #[inline]
    pub fn decode_to_slice(
        &self,
        input: &(impl AsRef<[u8]> + ?Sized),
        out: &mut [u8],
    ) -> Result<usize, DecodeError> {
        let input = input.as_ref();
        let Decoded { written, stopped } = self.core.write_checked(input, Room::over(out), true)?;
        TryDecode::refusal(input, stopped)?;
        Ok(written.len())
    }

    /// As [`Decode::decode_to_uninit`].
    ///
    /// # Errors
    ///
    /// Those of [`TryDecode::decode_to_slice`].
    ///
    /// ```
    /// use std::mem::MaybeUninit;
    ///
    /// let mut out = [MaybeUninit::uninit(); 16];
    /// let bytes = simdpct::Decode::new().strict().decode_to_uninit("a%20b", &mut out)?;
    /// assert_eq!(bytes, b"a b");
    /// # Ok::<(), simdpct::DecodeError>(())
    /// ```
    #[inline]
    pub fn decode_to_uninit<'o>(
        &self,
        input: &(impl AsRef<[u8]> + ?Sized),
        out: &'o mut [MaybeUninit<u8>],
    ) -> Result<&'o mut [u8], DecodeError> {
        let input = input.as_ref();
        let (bytes, stopped) = cursor::fill(out, |room| {
            let Decoded { written, stopped } = self.core.write_checked(input, room, true)?;
            Ok::<_, BufferTooSmall>((written, stopped))
        })?;
        TryDecode::refusal(input, stopped)?;
        Ok(bytes)
    }

    /// As [`Decode::decode_in_place`].
    ///
    /// # Errors
    ///
    /// The first malformed escape; `bytes` is then unchanged.
    ///
    /// ```
    /// let mut bytes = *b"a%20b%2";
    /// assert_eq!(simdpct::Decode::new().strict().decode_in_place(&mut bytes).unwrap_err().offset, 5);
    /// assert_eq!(&bytes, b"a%20b%2");
    /// ```
    pub fn decode_in_place(&self, bytes: &mut [u8]) -> Result<usize, MalformedEscape> {
        if self.core.job.strict {
            self.decoded_len(bytes)?;
        }
        Ok(self.core.in_place(bytes))
    }
}

#[cfg(feature = "alloc")]
impl Decode {
    /// The decoded bytes: borrowed, without an allocation, when nothing changes; else one allocation of the exact size.
    ///
    /// ```
    /// use std::borrow::Cow;
    /// use simdpct::Decode;
    ///
    /// assert!(matches!(Decode::new().decode("clean"), Cow::Borrowed(b"clean")));
    /// assert_eq!(&*Decode::new().decode("a%00%FF"), b"a\0\xff");
    /// ```
    #[must_use]
    #[inline]
    pub fn decode<'a>(&self, input: &'a (impl AsRef<[u8]> + ?Sized)) -> Cow<'a, [u8]> {
        self.core.cow(input.as_ref(), false).0
    }

    /// Appends the decoded bytes to `out`.
    ///
    /// ```
    /// let mut out = b"q=".to_vec();
    /// simdpct::Decode::new().form().decode_append("a+b%2B", &mut out);
    /// assert_eq!(out, b"q=a b+");
    /// ```
    #[inline]
    pub fn decode_append(&self, input: &(impl AsRef<[u8]> + ?Sized), out: &mut Vec<u8>) {
        self.core.append(input.as_ref(), out, false);
    }

    /// Decodes bytes that the caller owns, in their own memory.
    ///
    /// ```
    /// assert_eq!(simdpct::Decode::new().decode_vec(b"a%20b".to_vec()), b"a b");
    /// ```
    #[must_use]
    pub fn decode_vec(&self, mut input: Vec<u8>) -> Vec<u8> {
        if self.core.changes(&input) {
            let len = self.core.in_place(&mut input);
            input.truncate(len);
        }
        input
    }
}

#[cfg(feature = "alloc")]
impl TryDecode {
    /// The error of an input of which decoding stopped at `stopped`. Of `out` the first `len` bytes stay. It is not inlined, so that
    /// the verb may be.
    #[cold]
    #[inline(never)]
    fn take_back(input: &[u8], stopped: usize, out: &mut Vec<u8>, len: usize) -> MalformedEscape {
        out.truncate(len);
        MalformedEscape::at(input, stopped)
    }

    /// As [`Decode::decode`].
    ///
    /// # Errors
    ///
    /// The first malformed escape.
    ///
    /// ```
    /// use std::borrow::Cow;
    ///
    /// let strict = simdpct::Decode::new().strict();
    /// assert!(matches!(strict.decode("clean")?, Cow::Borrowed(b"clean")));
    /// assert_eq!(strict.decode("a%2").unwrap_err().offset, 1);
    /// # Ok::<(), simdpct::MalformedEscape>(())
    /// ```
    #[inline]
    pub fn decode<'a>(
        &self,
        input: &'a (impl AsRef<[u8]> + ?Sized),
    ) -> Result<Cow<'a, [u8]>, MalformedEscape> {
        let input = input.as_ref();
        let (bytes, stopped) = self.core.cow(input, true);
        TryDecode::refusal(input, stopped)?;
        Ok(bytes)
    }

    /// As [`Decode::decode_append`].
    ///
    /// # Errors
    ///
    /// The first malformed escape; `out` is then unchanged.
    ///
    /// ```
    /// let mut out = b"kept".to_vec();
    /// assert!(simdpct::Decode::new().strict().decode_append("a%2", &mut out).is_err());
    /// assert_eq!(out, b"kept");
    /// ```
    // The compiler takes it for a little too long, while it inlines the lenient one. The frame and the result in memory would cost
    // 2 ns, as much as all else for 16 bytes.
    #[inline(always)]
    pub fn decode_append(
        &self,
        input: &(impl AsRef<[u8]> + ?Sized),
        out: &mut Vec<u8>,
    ) -> Result<(), MalformedEscape> {
        let (input, before) = (input.as_ref(), out.len());
        match self.core.append(input, out, true) {
            stopped if stopped == input.len() => Ok(()),
            stopped => Err(TryDecode::take_back(input, stopped, out, before)),
        }
    }

    /// As [`Decode::decode_vec`].
    ///
    /// # Errors
    ///
    /// The first malformed escape. The input is gone then; where it is still needed, use [`TryDecode::decode_in_place`].
    ///
    /// ```
    /// let strict = simdpct::Decode::new().strict();
    /// assert_eq!(strict.decode_vec(b"a%20b".to_vec())?, b"a b");
    /// # Ok::<(), simdpct::MalformedEscape>(())
    /// ```
    pub fn decode_vec(&self, mut input: Vec<u8>) -> Result<Vec<u8>, MalformedEscape> {
        if !self.is_decoded(&input)? {
            let len = self.core.in_place(&mut input);
            input.truncate(len);
        }
        Ok(input)
    }
}

/// The byte of the escape at the start of `input` (RFC 3986, section 2.1); `None` if `input` does not start with a valid
/// escape. Bytes after the escape do not matter.
///
/// ```
/// assert_eq!(simdpct::decode_escape(b"%2Fa"), Some(b'/'));
/// assert_eq!(simdpct::decode_escape(b"%2"), None);
/// assert_eq!(simdpct::decode_escape(b"a%2F"), None);
/// ```
#[must_use]
pub const fn decode_escape(input: &[u8]) -> Option<u8> {
    hex::unescape(input)
}

/// Decodes every valid escape of `input`, and keeps malformed ones: [`Decode::decode`].
///
/// The result is borrowed, without an allocation, when nothing changes.
///
/// ```
/// assert_eq!(&*simdpct::decode("100%25+%zz%"), b"100%+%zz%");
/// ```
#[cfg(feature = "alloc")]
#[must_use]
#[inline]
pub fn decode(input: &(impl AsRef<[u8]> + ?Sized)) -> Cow<'_, [u8]> {
    Decode::new().decode(input)
}

/// Decodes every escape of `input`, or returns the first malformed one: [`TryDecode::decode`].
///
/// # Errors
///
/// [`MalformedEscape`] says where the first `%` is that is not followed by two hexadecimal digits, and why.
///
/// ```
/// use simdpct::MalformedCause::NotHex;
///
/// assert_eq!(simdpct::decode_strict("a%20b").unwrap(), &b"a b"[..]);
/// let error = simdpct::decode_strict("a%2zb").unwrap_err();
/// assert_eq!(error.offset, 1);
/// assert!(matches!(error.cause, NotHex { offset: 3, byte: b'z', .. }));
/// ```
#[cfg(feature = "alloc")]
#[inline]
pub fn decode_strict(input: &(impl AsRef<[u8]> + ?Sized)) -> Result<Cow<'_, [u8]>, MalformedEscape> {
    Decode::new().strict().decode(input)
}

/// Appends `input`, decoded, to `out`: [`Decode::decode_append`].
///
/// ```
/// let mut out = Vec::new();
/// simdpct::decode_append("a%20b", &mut out);
/// assert_eq!(out, b"a b");
/// ```
#[cfg(feature = "alloc")]
#[inline]
pub fn decode_append(input: &(impl AsRef<[u8]> + ?Sized), out: &mut Vec<u8>) {
    Decode::new().decode_append(input, out);
}

/// Decodes `input` into `out` and returns the number of bytes written: [`Decode::decode_to_slice`].
///
/// # Errors
///
/// [`BufferTooSmall`] says the exact size needed; `out` is then unchanged.
///
/// ```
/// let mut out = [0; 8];
/// assert_eq!(simdpct::decode_to_slice("%41%42", &mut out), Ok(2));
/// ```
#[inline]
pub fn decode_to_slice(input: &(impl AsRef<[u8]> + ?Sized), out: &mut [u8]) -> Result<usize, BufferTooSmall> {
    Decode::new().decode_to_slice(input, out)
}

/// Decodes `bytes` in place and returns the length of the result: [`Decode::decode_in_place`].
///
/// ```
/// let mut bytes = *b"%41%42";
/// assert_eq!(simdpct::decode_in_place(&mut bytes), 2);
/// assert_eq!(&bytes[..2], b"AB");
/// ```
#[must_use = "the bytes after the result are unspecified"]
#[inline]
pub fn decode_in_place(bytes: &mut [u8]) -> usize {
    Decode::new().decode_in_place(bytes)
}
