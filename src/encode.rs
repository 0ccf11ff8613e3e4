//! Encoding: bytes outside a set are written as escapes.

#[cfg(feature = "alloc")]
use alloc::{borrow::Cow, vec::Vec};

use crate::error::BufferTooSmall;
use crate::hex::HexCase;
#[cfg(feature = "alloc")]
use crate::kernel::cursor;
use crate::kernel::cursor::{Room, Written};
use crate::kernel::isa::Tier;
use crate::kernel::job::{EncodeJob, EncodeRule};
#[cfg(feature = "alloc")]
use crate::utf8::AppendText;
use crate::utf8::KeepSet;

/// How to encode: the set of bytes that stay, and what else differs from the plain rule.
///
/// Bytes outside the set are written as `%` and two hexadecimal digits (RFC 3986, section 2.1). Under the plain
/// rule `%` is a byte like any other, so decoding gives back exactly what was encoded, for every set that does
/// not hold `%`.
///
/// A value is cheap to make and to copy. Every verb takes time linear in the input. No verb panics (but for a
/// failed allocation, as `Vec` does).
///
/// ```
/// use simdpct::{Encode, sets};
///
/// let path = Encode::new(sets::RFC3986_PATH);
/// assert_eq!(path.to_cow("/a b/%41%"), "/a%20b/%2541%25");
/// assert_eq!(path.keep_escapes().to_cow("/a b/%41%"), "/a%20b/%41%25");
/// ```
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct Encode<S> {
    pub(crate) job: EncodeJob,
    tier: Option<Tier>,
    set: S,
}

impl<S: KeepSet> Encode<S> {
    /// The plain rule: every byte outside `set` is escaped, with upper-case digits.
    #[inline(always)]
    pub fn new(set: S) -> Encode<S> {
        let members = set.members();
        let usual = members.usual_and_one();
        let job = EncodeJob { set: members, rule: EncodeRule::Plain, case: HexCase::Upper, usual };
        Encode { job, tier: None, set }
    }

    /// A valid escape in the input stays as it is, and a `%` that starts none becomes `%25`, whatever the set
    /// says. Encoding twice gives the same as encoding once: a rule for repairing URLs found in the wild. Takes the
    /// place of [`Encode::form`].
    pub fn keep_escapes(mut self) -> Encode<S> {
        self.job.rule = EncodeRule::KeepEscapes;
        self.job.set = self.set.members();
        self.job.usual = self.job.set.usual_and_one();
        self
    }

    /// A space becomes `+`, and `+` is escaped, whatever the set says (URL Standard, section 5.2). Takes the place of
    /// [`Encode::keep_escapes`].
    pub fn form(mut self) -> Encode<S> {
        self.job.rule = EncodeRule::Form;
        self.job.set = self.set.members().remove(b"+").add(b" ");
        self.job.usual = self.job.set.usual_and_one();
        self
    }

    /// The case of the digits of new escapes.
    pub fn hex_case(mut self, case: HexCase) -> Encode<S> {
        self.job.case = case;
        self
    }

    /// Uses the kernels of `tier` instead of the active one.
    pub fn tier(mut self, tier: Tier) -> Encode<S> {
        self.tier = Some(tier);
        self
    }

    #[inline(always)]
    pub(crate) fn kernels(&self) -> Tier {
        match self.tier {
            Some(tier) => tier,
            None => Tier::active(),
        }
    }

    /// The exact length of the encoded text in bytes; `usize::MAX` if it has no place in memory.
    ///
    /// ```
    /// use simdpct::{Encode, sets};
    /// assert_eq!(Encode::new(sets::RFC3986_UNRESERVED).encoded_len("a b"), 5);
    /// ```
    #[must_use]
    pub fn encoded_len(&self, input: impl AsRef<[u8]>) -> usize {
        self.kernels().encode_measure(&self.job, input.as_ref()).len
    }

    /// Encodes into `out` and returns the number of bytes written. The bytes of `out` behind that number are
    /// unspecified.
    ///
    /// # Errors
    ///
    /// [`BufferTooSmall`] names the exact size needed; `out` is then untouched.
    ///
    /// ```
    /// use simdpct::{Encode, sets};
    ///
    /// let encode = Encode::new(sets::RFC3986_UNRESERVED);
    /// let mut out = [0; 8];
    /// assert_eq!(encode.to_slice("a b", &mut out), Ok(5));
    /// assert_eq!(&out[..5], b"a%20b");
    /// assert_eq!(encode.to_slice("a b", &mut out[..4]).unwrap_err().needed, 5);
    /// ```
    pub fn to_slice(&self, input: impl AsRef<[u8]>, out: &mut [u8]) -> Result<usize, BufferTooSmall> {
        let input = input.as_ref();
        if out.len() / 3 < input.len() {
            let needed = self.encoded_len(input);
            if out.len() < needed {
                return Err(BufferTooSmall { needed });
            }
        }
        Ok(self.write(input, Room::over(out)).len())
    }

    #[inline(always)]
    pub(crate) fn write<'c>(&self, input: &[u8], out: Room<'c>) -> Written<'c> {
        self.kernels().encode(&self.job, input, out)
    }
}

#[cfg(feature = "alloc")]
impl<S: KeepSet> Encode<S> {
    /// The encoded text: borrowed when nothing changes, without an allocation; else one allocation of the exact
    /// size.
    pub fn to_cow<'a>(&self, input: &'a (impl AsRef<[u8]> + ?Sized)) -> Cow<'a, S::Text> {
        S::encode(self, input.as_ref())
    }

    /// Appends the encoded text to `out`, a `Vec<u8>` or (with an [`AsciiSet`](crate::AsciiSet)) a `String`.
    ///
    /// A short input makes room for three bytes for each of its own, so that a reused buffer soon needs no more
    /// room at all; a long one is measured first when it does not surely fit.
    ///
    /// ```
    /// use simdpct::{Encode, sets};
    ///
    /// let mut url = String::from("/search?q=");
    /// Encode::new(sets::RFC3986_UNRESERVED).append("a&b", &mut url);
    /// assert_eq!(url, "/search?q=a%26b");
    /// ```
    #[inline]
    pub fn append(&self, input: impl AsRef<[u8]>, out: &mut impl AppendText<S::Text>) {
        let input = input.as_ref();
        // An empty part is common, and a call would take longer than all other work.
        if !input.is_empty() {
            out.encode(self, input);
        }
    }

    /// The bytes of what [`Encode::to_cow`] returns.
    #[inline(always)]
    pub(crate) fn bytes_of<'a>(&self, input: &'a [u8]) -> Cow<'a, [u8]> {
        let measure = self.kernels().encode_measure(&self.job, input);
        if !measure.changed {
            return Cow::Borrowed(input);
        }
        let mut out = Vec::with_capacity(measure.len);
        self.write_to_room(input, measure.len, &mut out);
        Cow::Owned(out)
    }

    /// [`Encode::append`] of the bytes.
    pub(crate) fn append_bytes(&self, input: &[u8], out: &mut Vec<u8>) {
        let room = if input.len() <= SHORT {
            worst(input.len())
        } else {
            self.room_for_long(input, out.capacity() - out.len())
        };
        self.write_to_room(input, room, out);
    }

    #[inline(never)]
    fn room_for_long(&self, input: &[u8], spare: usize) -> usize {
        let worst = worst(input.len());
        if spare >= worst { worst } else { self.encoded_len(input) }
    }

    #[inline(always)]
    fn write_to_room(&self, input: &[u8], room: usize, out: &mut Vec<u8>) {
        let Ok(()) =
            cursor::append::<core::convert::Infallible>(out, room, |room| Ok(self.write(input, room)));
    }
}

/// Room for whatever `len` bytes become, and for a window behind them.
#[cfg(feature = "alloc")]
#[inline(always)]
fn worst(len: usize) -> usize {
    len.saturating_mul(3).saturating_add(cursor::MAX_WINDOW)
}

/// An input of at most this many bytes is not measured before it is appended.
#[cfg(feature = "alloc")]
const SHORT: usize = 1024;

/// Encodes `input`, keeping the bytes of `set`: [`Encode::to_cow`] under the plain rule.
///
/// The result is borrowed, without an allocation, when nothing changes. With an [`AsciiSet`](crate::AsciiSet) it
/// is `Cow<str>`, with a [`ByteSet`](crate::ByteSet) `Cow<[u8]>`.
///
/// ```
/// use simdpct::sets::{RFC3986_UNRESERVED, WHATWG_PATH};
///
/// assert_eq!(simdpct::encode("caf\u{e9} \u{2615}", &RFC3986_UNRESERVED), "caf%C3%A9%20%E2%98%95");
/// assert_eq!(simdpct::encode("/a b?", &WHATWG_PATH), "/a%20b%3F");
/// assert!(matches!(simdpct::encode("clean", &RFC3986_UNRESERVED), std::borrow::Cow::Borrowed("clean")));
/// ```
#[cfg(feature = "alloc")]
#[must_use]
#[inline]
pub fn encode<'a, S: KeepSet>(input: &'a (impl AsRef<[u8]> + ?Sized), set: &S) -> Cow<'a, S::Text> {
    Encode::new(*set).to_cow(input)
}

/// Appends `input`, encoded with `set`, to `out`: [`Encode::append`] under the plain rule.
///
/// ```
/// let mut out = Vec::new();
/// simdpct::encode_append("a b", &simdpct::sets::RFC3986_UNRESERVED, &mut out);
/// assert_eq!(out, b"a%20b");
/// ```
#[cfg(feature = "alloc")]
#[inline]
pub fn encode_append<S: KeepSet>(input: impl AsRef<[u8]>, set: &S, out: &mut impl AppendText<S::Text>) {
    Encode::new(*set).append(input, out);
}

/// Encodes `input` with `set` into `out` and returns the number of bytes written: [`Encode::to_slice`] under
/// the plain rule.
///
/// # Errors
///
/// [`BufferTooSmall`] names the exact size needed; `out` is then untouched.
#[inline]
pub fn encode_to_slice<S: KeepSet>(
    input: impl AsRef<[u8]>,
    set: &S,
    out: &mut [u8],
) -> Result<usize, BufferTooSmall> {
    Encode::new(*set).to_slice(input, out)
}
