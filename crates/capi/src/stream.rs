//! Encodes and decodes input that comes in pieces. However the input is cut, the output is the same as that of a single call.
//!
//! If a piece ends with the start of an escape (at most two bytes), these bytes are held back until the next piece. A call
//! consumes the whole piece or, if the output is too small, nothing.

use core::mem::MaybeUninit;

use codec::{ByteSet, Encode, TryDecode};

use crate::options::{self, SIMDPCT_IF_CHANGED, SIMDPCT_KEEP_ESCAPES};
use crate::result::{SIMDPCT_MALFORMED, SIMDPCT_OK, ValueResult};
use crate::verbs;

/// The content of `simdpct_encode_stream` and `simdpct_decode_stream`. Any bytes are a valid value of this type, but a stream
/// that was started has `kind` set.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Stream {
    /// The kind of the stream: `ENCODER` or `DECODER`.
    kind: u32,
    flags: u32,
    keep: ByteSet,
    /// The number of input bytes before the held bytes. After a malformed escape, the offset of that escape.
    offset: u64,
    held: [u8; 2],
    /// The number of bytes in `held`.
    held_len: u8,
    /// 1 if the caller gave the set `keep`, otherwise 0.
    has_set: u8,
    /// 1 if a malformed escape has ended the input, otherwise 0.
    failed: u8,
    /// The last two bytes before the held bytes, on which a normalization depends. They are zeros at the start of the input.
    before: [u8; 2],
    unused: u8,
}

pub(crate) const ENCODER: u32 = 0x5350_4345;
pub(crate) const DECODER: u32 = 0x5350_4344;

/// Encodes or decodes a part of the input. No escape crosses the end of a part.
trait Codec {
    /// The most output bytes that one input byte can become.
    const GROWTH: usize;

    /// Reports whether the start of an escape at the end of a piece has to be held back.
    fn holds_back(&self) -> bool;

    /// Returns the length of the output for `part`, or the offset of its first malformed escape.
    fn measure(&self, part: &[u8]) -> ValueResult;

    fn write(&self, part: &[u8], out: &mut [MaybeUninit<u8>]) -> ValueResult;

    /// Returns this codec for a part that has the bytes `before` before it.
    #[must_use]
    fn after(&self, before: [u8; 2]) -> Self;
}

#[derive(Clone, Copy)]
struct Encoder<'a> {
    encode: &'a Encode<ByteSet>,
    keeps_escapes: bool,
}

impl Codec for Encoder<'_> {
    const GROWTH: usize = 3;

    fn holds_back(&self) -> bool {
        self.keeps_escapes
    }

    fn measure(&self, part: &[u8]) -> ValueResult {
        ValueResult::measured(self.encode.encoded_len(part))
    }

    fn write(&self, part: &[u8], out: &mut [MaybeUninit<u8>]) -> ValueResult {
        verbs::encode_with(self.encode, part, out)
    }

    fn after(&self, _: [u8; 2]) -> Self {
        *self
    }
}

impl Codec for TryDecode {
    const GROWTH: usize = 1;

    fn holds_back(&self) -> bool {
        true
    }

    fn measure(&self, part: &[u8]) -> ValueResult {
        match self.decoded_len(part) {
            Ok(len) => ValueResult::measured(len),
            Err(error) => ValueResult::malformed(error.offset),
        }
    }

    fn write(&self, part: &[u8], out: &mut [MaybeUninit<u8>]) -> ValueResult {
        verbs::decode_with(self, part, out)
    }

    fn after(&self, before: [u8; 2]) -> Self {
        codec::internals::try_after(*self, before)
    }
}

impl Stream {
    /// Returns a new stream of the given kind, or `None` if a flag is not for this kind or excludes another flag.
    pub(crate) fn new(kind: u32, keep: Option<&ByteSet>, flags: u32) -> Option<Stream> {
        let flags_are_valid = match kind {
            ENCODER => options::encoder(keep, flags, &mut None).is_some(),
            _ => options::decoder(keep, flags, &mut None).is_some(),
        };
        let stream = Stream {
            kind,
            flags,
            keep: keep.copied().unwrap_or(ByteSet::EMPTY),
            offset: 0,
            held: [0; 2],
            held_len: 0,
            has_set: u8::from(keep.is_some()),
            failed: 0,
            before: [0; 2],
            unused: 0,
        };
        (flags_are_valid && !options::has(flags, SIMDPCT_IF_CHANGED)).then_some(stream)
    }

    /// Returns the most bytes that a piece of `len` bytes can become, or `usize::MAX` if that number does not fit.
    pub(crate) fn bound(growth: usize, len: usize) -> usize {
        len.saturating_add(2).saturating_mul(growth)
    }

    /// Writes the output for `piece`, or ends the input if `piece` is `None`. Returns `None` if the stream is not of the given
    /// kind.
    pub(crate) fn run(
        &mut self,
        kind: u32,
        piece: Option<&[u8]>,
        out: &mut [MaybeUninit<u8>],
    ) -> Option<ValueResult> {
        if self.kind != kind {
            return None;
        }
        let (keep, flags) = ((self.has_set != 0).then_some(&self.keep), self.flags);
        if kind == ENCODER {
            let mut built = None;
            let encode = options::encoder(keep, flags, &mut built)?;
            let encoder = Encoder { encode, keeps_escapes: options::has(flags, SIMDPCT_KEEP_ESCAPES) };
            Some(self.push(&encoder, piece, out))
        } else {
            let mut built = None;
            let decode = options::decoder(keep, flags, &mut built)?;
            Some(self.push(decode, piece, out))
        }
    }

    fn push<C: Codec>(
        &mut self,
        codec: &C,
        piece: Option<&[u8]>,
        out: &mut [MaybeUninit<u8>],
    ) -> ValueResult {
        if self.failed != 0 {
            return ValueResult::malformed(self.error_offset());
        }
        let is_end = piece.is_none();
        let piece = piece.unwrap_or(&[]);
        // The held bytes and the first two bytes of the piece are the `joint`, which is long enough to decide whether an escape
        // crosses the cut. The output is that of the joint and then that of the rest of the piece.
        let held = usize::from(self.held_len).min(2);
        let more = if held == 0 { 0 } else { piece.len().min(2) };
        let mut joint = [0; 4];
        joint[..held].copy_from_slice(&self.held[..held]);
        joint[held..held + more].copy_from_slice(&piece[..more]);
        let joint = &joint[..held + more];
        let hold_back = |bytes: &[u8]| if is_end || !codec.holds_back() { 0 } else { partial_escape(bytes) };
        let settled = joint.len() - hold_back(joint);
        let (joint, left) = joint.split_at(settled);
        let (rest, left) = if more == piece.len() {
            (&[][..], left)
        } else {
            // Here the held bytes, if there are any, have two more bytes after them in the joint, so all of them are settled.
            let rest = &piece[settled.saturating_sub(held)..];
            rest.split_at(rest.len() - hold_back(rest))
        };

        let before = last_two(self.before, joint);
        let parts = [(codec.after(self.before), joint), (codec.after(before), rest)];
        let result = write_both(&parts, out);
        match result.status {
            SIMDPCT_OK => {
                let consumed = (joint.len() as u64).saturating_add(rest.len() as u64);
                self.offset = if is_end { 0 } else { self.offset.saturating_add(consumed) };
                self.before = if is_end { [0; 2] } else { last_two(before, rest) };
                self.held_len = left.len() as u8;
                self.held[..left.len()].copy_from_slice(left);
                result
            }
            SIMDPCT_MALFORMED => {
                self.offset = self.offset.saturating_add(result.offset as u64);
                self.failed = 1;
                ValueResult { offset: self.error_offset(), ..result }
            }
            _ => result,
        }
    }

    fn error_offset(&self) -> usize {
        usize::try_from(self.offset).unwrap_or(usize::MAX)
    }
}

/// Returns the last two bytes of `part`, or of `before` and `part`.
fn last_two(before: [u8; 2], part: &[u8]) -> [u8; 2] {
    match *part {
        [.., first, second] => [first, second],
        [second] => [before[1], second],
        [] => before,
    }
}

/// Writes the output for two parts, each with its codec, or nothing if `out` is too small for both. If there is a malformed escape,
/// writes the output for the bytes before it.
fn write_both<C: Codec>(parts: &[(C, &[u8]); 2], out: &mut [MaybeUninit<u8>]) -> ValueResult {
    let [(codec, first), (second_codec, second)] = parts;
    let worst = first.len().saturating_add(second.len()).saturating_mul(C::GROWTH);
    if out.len() < worst {
        let (a, b) = (codec.measure(first), second_codec.measure(second));
        let needed = if a.status != SIMDPCT_OK {
            codec.measure(&first[..a.offset]).needed
        } else if b.status != SIMDPCT_OK {
            a.needed.saturating_add(second_codec.measure(&second[..b.offset]).needed)
        } else {
            a.needed.saturating_add(b.needed)
        };
        if out.len() < needed {
            return ValueResult::too_small(needed);
        }
    }
    let a = write_up_to_error(codec, first, out);
    if a.status != SIMDPCT_OK {
        return a;
    }
    let b = write_up_to_error(second_codec, second, &mut out[a.written..]);
    let written = a.written + b.written;
    match b.status {
        SIMDPCT_OK => ValueResult::ok(written),
        _ => ValueResult { written, offset: first.len() + b.offset, ..b },
    }
}

/// Writes the output for `part`, or for the bytes before its first malformed escape.
fn write_up_to_error<C: Codec>(codec: &C, part: &[u8], out: &mut [MaybeUninit<u8>]) -> ValueResult {
    let result = codec.write(part, out);
    if result.status == SIMDPCT_OK {
        return result;
    }
    let before = codec.write(&part[..result.offset.min(part.len())], out);
    ValueResult { written: before.written, ..result }
}

/// Returns the number of bytes at the end of `bytes` that may be the start of an escape: 0, 1 or 2.
fn partial_escape(bytes: &[u8]) -> usize {
    match bytes {
        [.., b'%'] => 1,
        [.., b'%', digit] if digit.is_ascii_hexdigit() => 2,
        _ => 0,
    }
}
