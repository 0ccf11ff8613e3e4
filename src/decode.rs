//! Decoding: escapes are replaced by their bytes, once; a set can keep some. "lab: NAME" names the page docs/lab/DATE-NAME.md, which has
//! the measurements.

#[cfg(feature = "alloc")]
use alloc::{borrow::Cow, vec::Vec};
use core::convert::Infallible;
use core::mem::MaybeUninit;

use crate::coder::{self, KeepSet};
use crate::error::{BufferTooSmall, DecodeError, MalformedEscape};
use crate::hex;
#[cfg(feature = "alloc")]
use crate::kernel::cursor::Tail;
use crate::kernel::cursor::{self, Cursor, OutputSpan, Written};
use crate::kernel::isa::{Tier, look::NoEscape};
use crate::kernel::job::{DecodeJob, DecodeRule, Decoded, End, Measured, Outcome};
use crate::kernel::reference;
use crate::kernel::word;
use crate::set::sets;

/// The implementation that [`Decode`] and [`TryDecode`] share: the options and the tier. A method that may meet a malformed escape returns
/// where decoding stopped. A lenient decoder always reaches the end, so [`Decode`] ignores that result.
// `repr(C)` puts the job first, so that a pointer to a `Core` is also a pointer to the job, which kernels take.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Core {
    pub(crate) job: DecodeJob,
    tier: Option<Tier>,
}

impl Core {
    #[inline(always)]
    pub(crate) fn kernels(&self) -> Tier {
        self.tier.unwrap_or_else(Tier::active_or_pending)
    }

    /// Reports whether decoding a batch in one pass is faster than searching for the values that change, unless these
    /// are rare (lab: columns). A strict decoder has to search, because one malformed escape rejects all values decoded
    /// together.
    pub(crate) fn batches_in_one_pass(&self) -> bool {
        self.job.is_plain() && !self.job.strict && self.tier.unwrap_or_else(Tier::active) != Tier::SCALAR
    }

    #[inline(always)]
    pub(crate) fn measure(&self, input: &[u8]) -> Measured {
        self.kernels().decode_measure(&self.job, input)
    }

    #[inline(always)]
    pub(crate) fn write<'id>(&self, input: &[u8], out: OutputSpan<'id>) -> Outcome<'id> {
        self.kernels().decode(&self.job, input, out)
    }

    /// Copies `input` up to the first byte that decoding may change, and maybe more. The result has the offset of that
    /// byte, or the length of `input` if no byte may change. `out` must have capacity for all of `input`.
    #[inline(always)]
    pub(crate) fn copy_clean<'id>(&self, input: &[u8], out: OutputSpan<'id>) -> Decoded<'id> {
        self.kernels().copy_clean(self.job.plus(), input, out)
    }

    /// Copies a short input if it fits and a quick check shows that decoding leaves it unchanged. Otherwise returns `None`.
    /// For a short input, the call of a kernel would take longer than all other work (lab: call-overhead).
    #[inline(always)]
    fn copy_short<'id>(&self, input: &[u8], out: OutputSpan<'id>, strict: bool) -> Option<Written<'id>> {
        if input.len() > word::LONGEST_SHORT || self.job.plus() {
            return None;
        }
        let check = NoEscape { strict };
        cursor::copy_short(input, out, check, |input, out| cursor::copy_tiny(input, out, check))
    }

    /// Decodes into `out`, or returns an error if `out` is too small. If `out` is shorter than the input, the output is measured first. If
    /// this finds a malformed escape, nothing is written.
    #[inline(always)]
    fn write_checked<'id>(
        &self,
        input: &[u8],
        out: OutputSpan<'id>,
        strict: bool,
    ) -> Result<Outcome<'id>, BufferTooSmall> {
        if let Some(written) = self.copy_short(input, out, strict) {
            return Ok(Outcome::whole(written, input));
        }
        if out.len() < input.len()
            && let Some(stopped) = self.check_capacity(input, out.len())?
        {
            return Ok(Outcome::new(Cursor::new(out).finish(), input, stopped));
        }
        Ok(self.write(input, out))
    }

    /// Returns the offset at which strict decoding stops, or `None` if it reaches the end. If it reaches the end, but
    /// the output does not fit into `room` bytes, returns an error.
    #[inline(never)]
    fn check_capacity(&self, input: &[u8], room: usize) -> Result<Option<usize>, BufferTooSmall> {
        let measured = self.measure(input);
        if measured.stopped() < input.len() {
            return Ok(Some(measured.stopped()));
        }
        if room < measured.len { Err(BufferTooSmall { needed: measured.len }) } else { Ok(None) }
    }

    /// Decodes `bytes` in place and returns the length of the result. A strict caller must have validated `bytes`.
    #[inline(always)]
    fn in_place(&self, bytes: &mut [u8]) -> usize {
        if self.job.is_plain()
            && let Some(len) = self.kernels().decode_in_place(bytes)
        {
            len
        } else {
            self.in_place_by_stack(bytes)
        }
    }

    #[inline(never)]
    fn in_place_by_stack(&self, bytes: &mut [u8]) -> usize {
        if bytes.len() <= 512 {
            // These bytes are one piece, so the compiler removes the loop over pieces (lab: doors).
            self.in_place_by::<512, 576>(bytes)
        } else {
            self.in_place_by::<1984, 2048>(bytes)
        }
    }

    /// Decodes in pieces. A piece of at most `N` bytes is decoded to a buffer of `M` bytes on the stack, and the result is
    /// copied back. Once the result is at least 1024 bytes shorter than the input read so far, pieces are decoded directly to
    /// their final place.
    ///
    /// A buffer of more than a page would need stack probes. With a buffer of nearly a page, loads from the caller's frame would wait for
    /// stores to the kernel's frame, because the lower bits of their addresses are equal (lab: doors).
    #[inline(always)]
    fn in_place_by<const N: usize, const M: usize>(&self, bytes: &mut [u8]) -> usize {
        let (mut read, mut written) = (0, 0);
        let mut core = *self;
        while read < bytes.len() {
            let (before, rest) = bytes.split_at_mut(read);
            let gap = &mut before[written..];
            let direct = gap.len() >= 1024;
            let mut len = rest.len().min(if direct { gap.len() } else { N });
            if len < rest.len() {
                len -= hex::held_back(&rest[..len]);
            }
            let piece = &rest[..len];
            let last = self.job.before(piece, len);
            let decoded = if direct {
                cursor::lend_slice(gap, (), |(), room| core.write(piece, room).written.len())
            } else {
                let mut buffer = [const { MaybeUninit::uninit() }; M];
                let Ok((decoded, ())) = cursor::fill(&mut buffer, |room| {
                    Ok::<_, Infallible>((core.write(piece, room).written, ()))
                });
                // In the default mode, a piece that keeps its length is unchanged, so it needs no copy if it is already in
                // place.
                if written < read || decoded.len() < len || !self.job.is_plain() {
                    cursor::lend_slice(&mut bytes[written..], (), |(), room| {
                        Cursor::new(room).push_run(decoded)
                    });
                }
                decoded.len()
            };
            core.job.before = last;
            read += len;
            written += decoded;
        }
        written
    }

    /// Reports whether decoding changes `input`. For a strict decoder, `input` must have no malformed escape.
    pub(crate) fn changes(&self, input: &[u8]) -> bool {
        hex::pieces(input, 4096).any(|(at, piece)| self.at(input, at).measure(piece).changed())
    }

    /// Returns the decoder for the bytes of `input` from offset `at` on.
    #[inline(always)]
    pub(crate) fn at(&self, input: &[u8], at: usize) -> Core {
        Core { job: DecodeJob { before: self.job.before(input, at), ..self.job }, ..*self }
    }

    /// Returns the offset of the first byte or escape that decoding changes. For a strict decoder, `input` must have no
    /// malformed escape.
    fn first_change(&self, input: &[u8]) -> Option<usize> {
        let changed = |at: usize, piece: &[u8]| self.at(input, at).measure(piece).changed();
        reference::first_change(input, changed, |at| reference::decode(&self.job, input, at))
    }
}

/// Returns `Ok` if all of `input` was decoded. Otherwise returns the error for the escape that ended the decoding.
#[inline(always)]
pub(crate) fn unless_malformed(input: &[u8], end: End) -> Result<(), MalformedEscape> {
    match end.malformed(input) {
        None => Ok(()),
        Some((offset, flaw)) => Err(MalformedEscape::with_flaw(offset, flaw)),
    }
}

/// The longest input, in bytes, that is decoded on the stack before the result is copied to memory of its own.
#[cfg(feature = "alloc")]
const ASIDE: usize = 256;

#[cfg(feature = "alloc")]
impl Core {
    /// Returns the decoded bytes, and the offset where decoding stopped. If that is not the end, returns the bytes of
    /// the input.
    #[inline(always)]
    pub(crate) fn cow<'a>(&self, input: &'a [u8], strict: bool) -> (Cow<'a, [u8]>, usize) {
        if !self.job.plus() && word::stays(input, NoEscape { strict }) {
            (Cow::Borrowed(input), input.len())
        } else {
            self.cow_slow(input)
        }
    }

    #[inline(never)]
    fn cow_slow<'a>(&self, input: &'a [u8]) -> (Cow<'a, [u8]>, usize) {
        if input.len() <= ASIDE && !self.job.plus() {
            // The check is strict even for a lenient decoder, because it works on pieces of the input. A lenient check
            // would ignore a `%` in the last bytes of a piece, although the escape may continue in the next piece.
            return if word::all_stay(input, NoEscape { strict: true }) {
                (Cow::Borrowed(input), input.len())
            } else {
                self.cow_by_stack(input)
            };
        }
        let measured = self.measure(input);
        if !measured.changed() || measured.stopped() < input.len() {
            return (Cow::Borrowed(input), measured.stopped());
        }
        if input.len() <= ASIDE {
            return self.cow_by_stack(input);
        }
        let mut out = Vec::with_capacity(measured.len);
        // The measurement has shown that no malformed escape ends the decoding.
        self.append_bytes(input, measured.len, Tail::new(&mut out), false);
        (Cow::Owned(out), input.len())
    }

    /// Does the work of [`Core::cow_slow`] for at most [`ASIDE`] bytes. Decodes into a buffer on the stack, and copies
    /// the output to a vector of its exact size. In such a vector, a kernel could not store whole registers near the
    /// end (lab: call-overhead).
    #[inline(never)]
    fn cow_by_stack<'a>(&self, input: &'a [u8]) -> (Cow<'a, [u8]>, usize) {
        let mut buffer = [const { MaybeUninit::uninit() }; ASIDE + 64];
        let Ok((bytes, stopped)) = cursor::fill(&mut buffer, |room| {
            let outcome = self.write(input, room);
            let stopped = outcome.end.stopped(input);
            Ok::<_, Infallible>((outcome.written, stopped))
        });
        // Unless the mode changes bytes in place, every change makes the output shorter.
        let is_shorter = bytes.len() < input.len();
        let may_change_bytes = self.job.upper || self.job.plus();
        let changed = is_shorter || (may_change_bytes && bytes != input);
        if !changed || stopped < input.len() {
            return (Cow::Borrowed(input), stopped);
        }
        (Cow::Owned(bytes.to_vec()), stopped)
    }

    /// Appends the decoded bytes. If `strict` and a malformed escape ends the decoding, nothing is appended.
    #[inline(always)]
    pub(crate) fn append(&self, input: &[u8], mut out: Tail<'_>, strict: bool) -> End {
        // The check for an empty input comes second, because inputs of a few bytes are more frequent than empty ones.
        if out.append_short(|room| self.copy_short(input, room, strict)) || input.is_empty() {
            End::WHOLE
        } else if out.spare() >= input.len() {
            // The output is never longer than the input, so the vector need not grow.
            self.append_bytes(input, 0, out, strict)
        } else {
            self.append_and_grow(input, out)
        }
    }

    /// Grows the vector and then appends. This function is not inlined, because more instructions in its caller would slow down
    /// short inputs (lab: call-overhead).
    #[inline(never)]
    fn append_and_grow(&self, input: &[u8], out: Tail<'_>) -> End {
        // For a short input, the call reserves up to 64 bytes, so that a vector that is reused soon has capacity for
        // stores of whole registers.
        let len = input.len();
        self.append_bytes(input, len.max(len.saturating_mul(4).min(64)), out, true)
    }

    #[inline(always)]
    fn append_bytes(&self, input: &[u8], reserve: usize, mut out: Tail<'_>, strict: bool) -> End {
        out.append_if(
            reserve,
            |room| {
                let Outcome { written, end } = self.write(input, room);
                (written, end)
            },
            |end| !strict || end.is_whole(),
        )
    }

    /// Decodes an owned vector in place. If `is_decoded` is true, decoding would change nothing. A strict caller must have
    /// validated `bytes`.
    fn owned(&self, mut bytes: Vec<u8>, is_decoded: bool) -> Vec<u8> {
        if !is_decoded {
            let len = self.in_place(&mut bytes);
            bytes.truncate(len);
        }
        bytes
    }
}

/// A lenient decoder: the options of decoding. Every input has a result.
///
/// A `%` that is not followed by two hexadecimal digits stays, and decoding goes on at the next byte (URL Standard, section
/// 1.3). With [`Decode::strict`] it is an error. Digits of both cases are read. Escapes are decoded once: `%2541` becomes
/// `%41`.
///
/// A decoder is cheap to make and to copy. Every method takes time linear in the input. No method panics, except that
/// `Vec` and `String` panic or abort when they cannot allocate.
///
/// ```
/// use simdpct::{ByteSet, Decode};
///
/// assert_eq!(&*Decode::new().decode("100%25 %zz"), b"100% %zz");
///
/// // Decode everything but `/` and line ends.
/// let decode = Decode::new().keep(ByteSet::from_bytes(b"/\r\n"));
/// assert_eq!(&*decode.decode("%61%2Fb%0a"), b"a%2Fb%0a");
/// ```
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct Decode {
    // INVARIANT: `core.job.strict` is false.
    pub(crate) core: Core,
}

/// A decoder that may fail: a malformed escape is an error, unless [`Decode::lenient`] made the decoder.
///
/// [`Decode::strict`] makes one. A `TryDecode` has the methods of [`Decode`] that decode or answer a question, other than
/// those that decode until nothing changes, and each returns the first malformed escape as an error. The methods for
/// columns and slices pass errors to a function of the caller. The options are set on the [`Decode`] before:
/// `Decode::new().form().strict()`.
///
/// ```
/// use simdpct::Decode;
///
/// let strict = Decode::new().strict();
/// assert_eq!(&*strict.decode("a%20b")?, b"a b");
/// assert_eq!(strict.decode("100%").unwrap_err().offset, 3);
/// assert!(strict.is_decoded("plain")?);
/// assert_eq!(strict.first_change("ab%20")?, Some(2));
/// assert_eq!(strict.decode_owned("a%20b")?, b"a b");
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
    /// The normalization of escapes (RFC 3986, sections 6.2.2.1 and 6.2.2.2): escapes of unreserved bytes are decoded, the
    /// digits of all other escapes are written in upper case, and nothing else changes. Escapes are decoded once: `%257E`
    /// stays `%257E`.
    ///
    /// An escape means the same as its byte only if the byte completes no other escape. So the escape of a hexadecimal
    /// digit stays directly after a malformed escape that lacks a digit: `%2%35` stays, because `%25` means something
    /// else. A second normalization then changes nothing. The decoder that [`Decode::keep`] makes of this one does so,
    /// too, if the set of kept bytes holds `%`.
    ///
    /// [`normalize`](crate::normalize()) is a shortcut for [`Decode::decode`] of this decoder.
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

    /// Makes a decoder that decodes every valid escape and keeps malformed ones.
    ///
    /// ```
    /// assert_eq!(&*simdpct::Decode::new().decode("50% off%21"), b"50% off!");
    /// ```
    #[inline(always)]
    pub const fn new() -> Decode {
        Decode { core: Core { job: DecodeJob::PLAIN, tier: None } }
    }

    /// Makes a malformed escape an error.
    ///
    /// ```
    /// let strict = simdpct::Decode::new().strict();
    /// assert_eq!(strict.decode("50% off").unwrap_err().offset, 2);
    /// ```
    #[inline(always)]
    pub const fn strict(mut self) -> TryDecode {
        self.core.job.strict = true;
        TryDecode { core: self.core }
    }

    /// Gives this decoder the type of a strict one. Its methods never return a malformed escape, and their output is
    /// that of this decoder. Use it in programs that learn at run time whether malformed escapes are errors.
    ///
    /// ```
    /// use simdpct::Decode;
    ///
    /// for is_strict in [false, true] {
    ///     let decode = if is_strict { Decode::new().strict() } else { Decode::new().lenient() };
    ///     assert_eq!(decode.decode("100%").is_err(), is_strict);
    /// }
    /// ```
    #[inline(always)]
    pub const fn lenient(self) -> TryDecode {
        TryDecode { core: self.core }
    }

    /// Returns a decoder for an input that continues `before`. Only [`Decode::NORMALIZE`], and decoders that are made
    /// from it, depend on the bytes before their input. They keep the escape of a digit if the decoded digit would
    /// complete an escape that began there. So the pieces of an input can be normalized one by one, or at the same
    /// time, as long as none ends inside an escape. [`stream`](crate::stream) also joins escapes.
    ///
    /// The decoder takes `before` to come before each of its inputs: each value of a column, and each input of a stream. Only the last two
    /// bytes of `before` matter.
    ///
    /// ```
    /// use simdpct::Decode;
    ///
    /// assert_eq!(&*Decode::NORMALIZE.decode("%35"), b"5");
    /// assert_eq!(&*Decode::NORMALIZE.continuing(b"a%2").decode("%35"), b"%35");
    /// ```
    #[inline]
    pub fn continuing(self, before: &[u8]) -> Decode {
        Decode { core: self.core.at(before, before.len()) }
    }

    /// Keeps the escapes of the bytes of `set`, an [`AsciiSet`](crate::AsciiSet) or a [`ByteSet`](crate::ByteSet), exactly as
    /// they are spelt. So decoding cannot create one of these bytes: a delimiter in text that is split later, or a line end in
    /// line-oriented output. Only the `+` of a form still becomes a space, even if the set holds the space.
    ///
    /// The set replaces that of an earlier call, and that of [`Decode::NORMALIZE`], which is all bytes but the unreserved ones. A decoder
    /// made from `NORMALIZE` writes the digits of kept escapes in upper case.
    ///
    /// ```
    /// use simdpct::{ByteSet, Decode, sets};
    /// let lines = Decode::new().keep(ByteSet::from_bytes(b"\r\n"));
    /// assert_eq!(&*lines.decode("%61%0A"), b"a%0A");
    /// assert_eq!(&*Decode::new().keep(sets::RFC3986_RESERVED).decode("%61%2F"), b"a%2F");
    /// ```
    #[inline(always)]
    pub const fn keep<S: KeepSet>(mut self, set: S) -> Decode {
        self.core.job = self.core.job.keeping(coder::members(&set));
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

    /// Uses the kernels of `tier` instead of those of the active tier.
    ///
    /// ```
    /// use simdpct::{Decode, Tier};
    /// for tier in Tier::available() {
    ///     assert_eq!(&*Decode::new().tier(tier).decode("%41"), b"A", "{tier}");
    /// }
    /// ```
    #[inline(always)]
    pub const fn tier(mut self, tier: Tier) -> Decode {
        self.core.tier = Some(tier);
        self
    }

    /// Returns the exact length of the decoded bytes.
    ///
    /// ```
    /// assert_eq!(simdpct::Decode::new().decoded_len("a%20b"), 3);
    /// ```
    #[must_use]
    pub fn decoded_len(&self, input: &(impl AsRef<[u8]> + ?Sized)) -> usize {
        self.core.measure(input.as_ref()).len
    }

    /// Reports whether decoding would change nothing. It stops at the first piece of input, at most 4 KiB, that changes.
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

    /// Returns the offset of the first byte or escape of `input` that decoding would change, or `None` if nothing changes.
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

    /// Decodes into `out` and returns the number of bytes written. The bytes of `out` after these are unspecified. A
    /// slice as long as the input is always large enough; a shorter one may cost a second pass, which measures the output.
    ///
    /// # Errors
    ///
    /// [`BufferTooSmall`] gives the exact size needed; `out` is then unchanged.
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
        let input = input.as_ref();
        cursor::lend_slice(out, (), |(), room| Ok(self.core.write_checked(input, room, false)?.written.len()))
    }

    /// Decodes into memory that need not be initialised, and returns the part that was written. See
    /// [`Decode::decode_to_slice`] for the size.
    ///
    /// # Errors
    ///
    /// [`BufferTooSmall`] gives the exact size needed; `out` is then unchanged.
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
        let fill = cursor::fill(out, |room| Ok((self.core.write_checked(input, room, false)?.written, ())));
        fill.map(|(bytes, ())| bytes)
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
    #[inline]
    pub fn decode_in_place(&self, bytes: &mut [u8]) -> usize {
        self.core.in_place(bytes)
    }
}

impl TryDecode {
    /// Returns the exact length of the decoded bytes.
    ///
    /// # Errors
    ///
    /// Returns the first malformed escape.
    pub fn decoded_len(&self, input: &(impl AsRef<[u8]> + ?Sized)) -> Result<usize, MalformedEscape> {
        let input = input.as_ref();
        let measured = self.core.measure(input);
        MalformedEscape::unless_whole(input, measured.stopped())?;
        Ok(measured.len)
    }

    /// Reports whether decoding would change nothing.
    ///
    /// # Errors
    ///
    /// Returns the first malformed escape.
    pub fn is_decoded(&self, input: &(impl AsRef<[u8]> + ?Sized)) -> Result<bool, MalformedEscape> {
        let input = input.as_ref();
        if !self.core.job.strict {
            return Ok(!self.core.changes(input));
        }
        let measured = self.core.measure(input);
        MalformedEscape::unless_whole(input, measured.stopped())?;
        Ok(!measured.changed())
    }

    /// Returns the offset of the first byte or escape of `input` that decoding would change, or `None` if nothing changes.
    ///
    /// # Errors
    ///
    /// Returns the first malformed escape.
    pub fn first_change(
        &self,
        input: &(impl AsRef<[u8]> + ?Sized),
    ) -> Result<Option<usize>, MalformedEscape> {
        let input = input.as_ref();
        Ok(if self.is_decoded(input)? { None } else { self.core.first_change(input) })
    }

    /// Decodes into `out` and returns the number of bytes written. See [`Decode::decode_to_slice`] for the size.
    ///
    /// # Errors
    ///
    /// [`DecodeError::Malformed`] is the first malformed escape, also if `out` is too small; the content of `out` is then unspecified.
    /// [`DecodeError::BufferTooSmall`] gives the exact size needed; `out` is then unchanged.
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
        cursor::lend_slice(out, (), |(), room| Ok(self.write(input, room)?.len()))
    }

    /// Decodes into memory that need not be initialised, and returns the part that was written. See
    /// [`Decode::decode_to_slice`] for the size.
    ///
    /// # Errors
    ///
    /// The errors of [`TryDecode::decode_to_slice`].
    #[inline]
    pub fn decode_to_uninit<'o>(
        &self,
        input: &(impl AsRef<[u8]> + ?Sized),
        out: &'o mut [MaybeUninit<u8>],
    ) -> Result<&'o mut [u8], DecodeError> {
        let input = input.as_ref();
        cursor::fill(out, |room| Ok((self.write(input, room)?, ()))).map(|(bytes, ())| bytes)
    }

    #[inline(always)]
    pub(crate) fn write<'id>(&self, input: &[u8], out: OutputSpan<'id>) -> Result<Written<'id>, DecodeError> {
        let outcome = self.core.write_checked(input, out, true)?;
        unless_malformed(input, outcome.end)?;
        Ok(outcome.written)
    }

    /// Decodes `bytes` in place and returns the length of the result, which is at the start. The bytes after it are
    /// unspecified.
    ///
    /// # Errors
    ///
    /// Returns the first malformed escape; `bytes` is then unchanged.
    ///
    /// ```
    /// let mut bytes = *b"a%20b%2";
    /// assert_eq!(simdpct::Decode::new().strict().decode_in_place(&mut bytes).unwrap_err().offset, 5);
    /// assert_eq!(&bytes, b"a%20b%2");
    /// ```
    #[inline]
    pub fn decode_in_place(&self, bytes: &mut [u8]) -> Result<usize, MalformedEscape> {
        if self.core.job.strict {
            self.decoded_len(bytes)?;
        }
        Ok(self.core.in_place(bytes))
    }
}

#[cfg(feature = "alloc")]
impl Decode {
    /// Returns the decoded bytes: borrowed, without an allocation, when nothing changes; else one allocation of the exact size.
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
        self.core.append(input.as_ref(), Tail::new(out), false);
    }

    /// Decodes bytes that the caller owns, a `Vec<u8>` or a `String`, in their own memory.
    ///
    /// ```
    /// assert_eq!(simdpct::Decode::new().decode_owned(String::from("a%20b")), b"a b");
    /// ```
    #[must_use]
    pub fn decode_owned(&self, input: impl Into<Vec<u8>>) -> Vec<u8> {
        let input = input.into();
        let is_decoded = self.is_decoded(&input);
        self.core.owned(input, is_decoded)
    }
}

#[cfg(feature = "alloc")]
impl TryDecode {
    /// Returns the decoded bytes: borrowed, without an allocation, when nothing changes; else one allocation of the exact size.
    ///
    /// # Errors
    ///
    /// Returns the first malformed escape.
    #[inline]
    pub fn decode<'a>(
        &self,
        input: &'a (impl AsRef<[u8]> + ?Sized),
    ) -> Result<Cow<'a, [u8]>, MalformedEscape> {
        let input = input.as_ref();
        let (bytes, stopped) = self.core.cow(input, true);
        MalformedEscape::unless_whole(input, stopped)?;
        Ok(bytes)
    }

    /// Appends the decoded bytes to `out`.
    ///
    /// # Errors
    ///
    /// Returns the first malformed escape; `out` is then unchanged.
    ///
    /// ```
    /// let mut out = b"kept".to_vec();
    /// assert!(simdpct::Decode::new().strict().decode_append("a%2", &mut out).is_err());
    /// assert_eq!(out, b"kept");
    /// ```
    // Without this attribute, the compiler would not inline this method, although it inlines the lenient one (lab: kernel-history).
    #[inline(always)]
    pub fn decode_append(
        &self,
        input: &(impl AsRef<[u8]> + ?Sized),
        out: &mut Vec<u8>,
    ) -> Result<(), MalformedEscape> {
        let input = input.as_ref();
        unless_malformed(input, self.core.append(input, Tail::new(out), true))
    }

    /// Decodes bytes that the caller owns, a `Vec<u8>` or a `String`, in their own memory.
    ///
    /// # Errors
    ///
    /// Returns the first malformed escape. The input is then dropped; to keep it, use [`TryDecode::decode_in_place`].
    pub fn decode_owned(&self, input: impl Into<Vec<u8>>) -> Result<Vec<u8>, MalformedEscape> {
        let input = input.into();
        let is_decoded = self.is_decoded(&input)?;
        Ok(self.core.owned(input, is_decoded))
    }
}

/// Returns the byte of the escape at the start of `input` (RFC 3986, section 2.1), or `None` if `input` does not start with a
/// valid escape. Bytes after the escape do not matter.
///
/// ```
/// assert_eq!(simdpct::decode_escape(b"%2Fa"), Some(b'/'));
/// assert_eq!(simdpct::decode_escape(b"%2"), None);
/// assert_eq!(simdpct::decode_escape(b"a%2F"), None);
/// ```
#[must_use]
#[inline]
pub const fn decode_escape(input: &[u8]) -> Option<u8> {
    hex::unescape(input)
}

/// Decodes every valid escape of `input` and keeps malformed ones: [`Decode::decode`].
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

/// Decodes `input` and appends the bytes to `out`: [`Decode::decode_append`].
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
/// [`BufferTooSmall`] gives the exact size needed; `out` is then unchanged.
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
