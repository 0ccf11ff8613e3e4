//! Input in pieces: any way of cutting it gives the bytes that one call gives.
//!
//! The start of an escape at the end of a piece, at most two bytes, is held until the rest is there. A call takes the whole
//! piece or, if the output has too little room for it, nothing.

use core::mem::MaybeUninit;

use codec::{ByteSet, Encode, TryDecode};

use crate::answer::{Answer, SIMDPCT_MALFORMED, SIMDPCT_OK};
use crate::options::{self, SIMDPCT_KEEP_ESCAPES};
use crate::verbs;

/// The content of `simdpct_encode_stream` and `simdpct_decode_stream`, in memory of the caller. Any bytes are a value of
/// this type, but most are no stream.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Stream {
    /// Which kind of stream it is, if it is one.
    kind: u32,
    flags: u32,
    keep: ByteSet,
    /// The number of bytes of input before those held; of a stream that has failed, the place of the malformed escape.
    offset: u64,
    held: [u8; 2],
    /// How many bytes are held.
    len: u8,
    /// Whether `keep` is a set that the caller gave.
    has_set: u8,
    /// Whether a malformed escape has ended the input.
    failed: u8,
    unused: [u8; 3],
}

pub(crate) const ENCODER: u32 = 0x5350_4345;
pub(crate) const DECODER: u32 = 0x5350_4344;

/// What a stream does with parts that cut no escape.
trait Codec {
    /// The most bytes that a byte becomes.
    const GROWTH: usize;

    /// Whether the start of an escape at the end of a piece is held.
    fn holds(&self) -> bool;

    /// The length of what `part` becomes, or a refusal.
    fn measure(&self, part: &[u8]) -> Answer;

    fn write(&self, part: &[u8], out: &mut [MaybeUninit<u8>]) -> Answer;
}

struct Encoding {
    encode: Encode<ByteSet>,
    holds: bool,
}

impl Codec for Encoding {
    const GROWTH: usize = 3;

    fn holds(&self) -> bool {
        self.holds
    }

    fn measure(&self, part: &[u8]) -> Answer {
        Answer::length(self.encode.encoded_len(part))
    }

    fn write(&self, part: &[u8], out: &mut [MaybeUninit<u8>]) -> Answer {
        verbs::encode_by(&self.encode, part, out)
    }
}

impl Codec for TryDecode {
    const GROWTH: usize = 1;

    fn holds(&self) -> bool {
        true
    }

    fn measure(&self, part: &[u8]) -> Answer {
        match self.decoded_len(part) {
            Ok(len) => Answer::length(len),
            Err(error) => Answer::malformed(error.offset),
        }
    }

    fn write(&self, part: &[u8], out: &mut [MaybeUninit<u8>]) -> Answer {
        verbs::decode_by(self, part, out)
    }
}

impl Stream {
    /// A stream of that kind, at its start; nothing if flags exclude each other or are not for it.
    pub(crate) fn new(kind: u32, keep: Option<&ByteSet>, flags: u32) -> Option<Stream> {
        let flags_are_right = match kind {
            ENCODER => options::encoder(keep, flags).is_some(),
            _ => options::decoder(keep, flags).is_some(),
        };
        let stream = Stream {
            kind,
            flags,
            keep: keep.copied().unwrap_or(ByteSet::EMPTY),
            offset: 0,
            held: [0; 2],
            len: 0,
            has_set: u8::from(keep.is_some()),
            failed: 0,
            unused: [0; 3],
        };
        (flags_are_right && !options::has(flags, options::SIMDPCT_IF_CHANGED)).then_some(stream)
    }

    fn keep(&self) -> Option<&ByteSet> {
        (self.has_set != 0).then_some(&self.keep)
    }

    /// The most bytes that a piece of `len` bytes can become; `usize::MAX` if it is more.
    pub(crate) fn bound(growth: usize, len: usize) -> usize {
        len.saturating_add(2).saturating_mul(growth)
    }

    fn encoding(&self) -> Option<Encoding> {
        let encode = options::encoder(self.keep(), self.flags)?;
        (self.kind == ENCODER)
            .then_some(Encoding { encode, holds: options::has(self.flags, SIMDPCT_KEEP_ESCAPES) })
    }

    fn decoding(&self) -> Option<TryDecode> {
        if self.kind == DECODER { options::decoder(self.keep(), self.flags) } else { None }
    }

    pub(crate) fn encode(&mut self, piece: &[u8], out: &mut [MaybeUninit<u8>]) -> Option<Answer> {
        Some(self.push(&self.encoding()?, piece, out, false))
    }

    pub(crate) fn encode_end(&mut self, out: &mut [MaybeUninit<u8>]) -> Option<Answer> {
        Some(self.push(&self.encoding()?, &[], out, true))
    }

    pub(crate) fn decode(&mut self, piece: &[u8], out: &mut [MaybeUninit<u8>]) -> Option<Answer> {
        Some(self.push(&self.decoding()?, piece, out, false))
    }

    pub(crate) fn decode_end(&mut self, out: &mut [MaybeUninit<u8>]) -> Option<Answer> {
        Some(self.push(&self.decoding()?, &[], out, true))
    }

    /// Takes `piece`, or ends the input.
    fn push<C: Codec>(&mut self, codec: &C, piece: &[u8], out: &mut [MaybeUninit<u8>], end: bool) -> Answer {
        if self.failed != 0 {
            return Answer::malformed(self.place());
        }
        // What is held and two bytes more settle the escape that is held. The first part is of these, the second of `piece`.
        let held = usize::from(self.len).min(2);
        let more = if held == 0 { 0 } else { piece.len().min(2) };
        let mut joint = [0; 4];
        joint[..held].copy_from_slice(&self.held[..held]);
        joint[held..held + more].copy_from_slice(&piece[..more]);
        let joint = &joint[..held + more];
        let hold = |bytes: &[u8]| if end || !codec.holds() { 0 } else { held_back(bytes) };
        let settled = joint.len() - hold(joint);
        let (ready, left) = joint.split_at(settled);
        let (rest, left) = if more == piece.len() {
            (&[][..], left)
        } else {
            // The joint settles at least what was held.
            let rest = &piece[settled.saturating_sub(held)..];
            rest.split_at(rest.len() - hold(rest))
        };

        let answer = write_both(codec, ready, rest, out);
        match answer.status {
            SIMDPCT_OK => {
                let taken = (ready.len() as u64).saturating_add(rest.len() as u64);
                self.offset = if end { 0 } else { self.offset.saturating_add(taken) };
                self.len = left.len() as u8;
                self.held[..left.len()].copy_from_slice(left);
                answer
            }
            SIMDPCT_MALFORMED => {
                self.offset = self.offset.saturating_add(answer.offset as u64);
                self.failed = 1;
                Answer { offset: self.place(), ..answer }
            }
            _ => answer,
        }
    }

    fn place(&self) -> usize {
        usize::try_from(self.offset).unwrap_or(usize::MAX)
    }
}

/// Writes what two parts become, which follow each other, or nothing if there is no room for all of it. If one is refused,
/// what comes before the malformed escape is written.
fn write_both<C: Codec>(codec: &C, first: &[u8], second: &[u8], out: &mut [MaybeUninit<u8>]) -> Answer {
    let worst = first.len().saturating_add(second.len()).saturating_mul(C::GROWTH);
    if out.len() < worst {
        let (a, b) = (codec.measure(first), codec.measure(second));
        // Parts that are refused are shorter than this, and looked at again.
        let needed = if a.status != SIMDPCT_OK {
            codec.measure(&first[..a.offset]).needed
        } else if b.status != SIMDPCT_OK {
            a.needed.saturating_add(codec.measure(&second[..b.offset]).needed)
        } else {
            a.needed.saturating_add(b.needed)
        };
        if out.len() < needed {
            return Answer::too_small(needed);
        }
    }
    let a = write_up_to_error(codec, first, out);
    if a.status != SIMDPCT_OK {
        return a;
    }
    let b = write_up_to_error(codec, second, &mut out[a.written..]);
    let written = a.written + b.written;
    match b.status {
        SIMDPCT_OK => Answer::ok(written),
        _ => Answer { written, offset: first.len() + b.offset, ..b },
    }
}

fn write_up_to_error<C: Codec>(codec: &C, part: &[u8], out: &mut [MaybeUninit<u8>]) -> Answer {
    let answer = codec.write(part, out);
    if answer.status == SIMDPCT_OK {
        return answer;
    }
    // A malformed escape, of which only strict decoders tell. What comes before it holds none.
    let before = codec.write(&part[..answer.offset.min(part.len())], out);
    Answer { written: before.written, ..answer }
}

/// The number of bytes at the end of `bytes` that may be the start of an escape: 0, 1 or 2.
fn held_back(bytes: &[u8]) -> usize {
    match bytes {
        [.., b'%'] => 1,
        [.., b'%', digit] if digit.is_ascii_hexdigit() => 2,
        _ => 0,
    }
}
