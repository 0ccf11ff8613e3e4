//! The rules of encoding and decoding, one step at a time, in the words of the specifications.
//!
//! A step reads one byte or one escape and gives its replacement. Fast code does many steps at once, but must write the
//! same bytes. The scalar tier makes single steps where it neither copies bytes nor has a faster loop, and functions that
//! report one position iterate over the steps. The tests of the public functions compare them with an oracle of their own.
//! "lab: NAME" names docs/lab/DATE-NAME.md.

use core::ops::Range;

use crate::hex::{self, HexCase};
use crate::kernel::job::{DecodeJob, EncodeJob, EncodeRule};

/// One step of a conversion.
#[derive(Clone, Copy)]
pub(crate) struct Step {
    /// The number of input bytes that the step consumes: one, or three for an escape.
    pub used: usize,
    /// The output: the low `len` bytes, little-endian.
    // The field is a word, because the compiler would split an array and join it again (lab: ladders).
    pub bytes: u32,
    pub len: usize,
    /// Whether the output differs from the input that the step consumes.
    pub changed: bool,
}

impl Step {
    /// Writes `byte` as an escape.
    #[inline(always)]
    pub(crate) fn escape(byte: u8, case: HexCase) -> Step {
        let bytes = u32::from_le_bytes(case.escapes()[usize::from(byte)]);
        Step { used: 1, bytes, len: 3, changed: true }
    }

    /// Copies `byte`.
    #[inline(always)]
    pub(crate) fn copy(byte: u8) -> Step {
        Step { used: 1, bytes: u32::from(byte), len: 1, changed: false }
    }

    /// Writes `byte` in place of the first `used` bytes of the input.
    #[inline(always)]
    fn replace(used: usize, byte: u8) -> Step {
        Step { used, bytes: u32::from(byte), len: 1, changed: true }
    }

    /// Copies the escape at the start of `rest`.
    #[inline(always)]
    fn copy_escape(rest: &[u8]) -> Step {
        let bytes = u32::from_le_bytes([rest[0], rest[1], rest[2], 0]);
        Step { used: 3, bytes, len: 3, changed: false }
    }

    /// Iterates over the bytes of the output.
    pub(crate) fn output(self) -> impl Iterator<Item = u8> {
        self.bytes.to_le_bytes().into_iter().take(self.len)
    }
}

/// Encodes the start of `rest`, which is not empty. RFC 3986, section 2.1: a byte that is not allowed in its place is written
/// as `"%" HEXDIG HEXDIG`.
pub(crate) fn encode(job: &EncodeJob, rest: &[u8]) -> Step {
    let has_meaning = match job.rule {
        EncodeRule::Plain => false,
        EncodeRule::KeepEscapes => rest[0] == b'%',
        EncodeRule::Form => rest[0] == b' ',
    };
    if job.set.contains(rest[0]) && !has_meaning { Step::copy(rest[0]) } else { encode_special(job, rest) }
}

/// Encodes a byte that is not in the set, or that has a meaning of its own in this mode. See [`encode`] for the arguments.
#[inline(always)]
pub(crate) fn encode_special(job: &EncodeJob, rest: &[u8]) -> Step {
    match (job.rule, rest[0]) {
        (EncodeRule::KeepEscapes, b'%') if hex::unescape(rest).is_some() => Step::copy_escape(rest),
        (EncodeRule::Form, b' ') => Step::replace(1, b'+'),
        (_, byte) => Step::escape(byte, job.case),
    }
}

/// Decodes the start of `input[at..]`, which is not empty. URL Standard, section 1.3, "percent-decode": a `%` and the
/// two hexadecimal digits after it become one byte, and every other byte stays. Returns `None` if a malformed escape
/// there ends a strict decoding.
///
/// A normalization decodes only escapes that mean the same as their byte (RFC 3986, section 6.2.2.2). See [`DecodeJob::completes`]
/// for an escape that does not.
pub(crate) fn decode(job: &DecodeJob, input: &[u8], at: usize) -> Option<Step> {
    match input[at] {
        b'%' => decode_special::<false>(job, input, at, &input[at..]),
        b'+' if job.plus() => decode_special::<false>(job, input, at, &input[at..]),
        byte => Some(Step::copy(byte)),
    }
}

/// Decodes a `%`, or a `+` that means a space, at the start of `rest`, which are the bytes from offset `at` of `input` on. With
/// `PLAIN`, the mode is the default: `+` has no meaning, and no escapes stay.
#[inline(always)]
pub(crate) fn decode_special<const PLAIN: bool>(
    job: &DecodeJob,
    input: &[u8],
    at: usize,
    rest: &[u8],
) -> Option<Step> {
    let stays = |byte| job.stays(byte) || job.upper && job.completes(input, at, byte);
    Some(match (rest[0], hex::unescape(rest)) {
        (b'+', _) if !PLAIN => Step::replace(1, b' '),
        (_, Some(byte)) if PLAIN || !stays(byte) => Step::replace(3, byte),
        (_, Some(_)) if job.upper => {
            let escape = Step::copy_escape(rest);
            let bytes = u32::from_le_bytes(escape.bytes.to_le_bytes().map(|byte| byte.to_ascii_uppercase()));
            Step { bytes, changed: bytes != escape.bytes, ..escape }
        }
        (_, Some(_)) => Step::copy_escape(rest),
        (_, None) if job.strict => return None,
        (_, None) => Step::copy(b'%'),
    })
}

/// Iterates over the steps at the offsets from the start of `range` to its end, each with its offset. Ends early if `step`, which gets
/// an offset, returns `None`.
pub(crate) fn steps(
    range: Range<usize>,
    step: impl Fn(usize) -> Option<Step>,
) -> impl Iterator<Item = (usize, Step)> {
    let mut next = range.start;
    core::iter::from_fn(move || {
        let offset = next;
        let step = step(Some(offset).filter(|offset| *offset < range.end)?)?;
        next += step.used;
        Some((offset, step))
    })
}

/// Returns the offset of the first step that changes anything. `changed` gets an offset and the piece of the input
/// there, and reports quickly whether the piece has such a step.
pub(crate) fn first_change(
    input: &[u8],
    changed: impl Fn(usize, &[u8]) -> bool,
    step: impl Fn(usize) -> Option<Step>,
) -> Option<usize> {
    let (start, piece) = hex::pieces(input, 4096).find(|(at, piece)| changed(*at, piece))?;
    let (within, piece) = hex::pieces(piece, 64).find(|(at, piece)| changed(start + at, piece))?;
    let from = start + within;
    steps(from..from + piece.len(), step).find(|(_, step)| step.changed).map(|(offset, _)| offset)
}
