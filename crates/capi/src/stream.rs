//! Encodes and decodes input that comes in pieces.

use core::mem::MaybeUninit;

use codec::ByteSet;
use codec::stream::State;

use crate::options::{self, SIMDPCT_IF_CHANGED};
use crate::result::ValueResult;

/// The content of `simdpct_encode_stream` and `simdpct_decode_stream`. Any bytes are a valid value of this type, and it has no padding. A
/// stream that was started has `kind` set.
#[repr(C)]
pub struct Stream {
    /// The kind of the stream: `ENCODER` or `DECODER`.
    kind: u32,
    flags: u32,
    keep: ByteSet,
    state: State,
    /// 1 if the caller gave the set `keep`, otherwise 0.
    has_set: u64,
}

const _: () = assert!(size_of::<Stream>() == 16 + size_of::<ByteSet>() + size_of::<State>());

pub(crate) const ENCODER: u32 = 0x5350_4345;
pub(crate) const DECODER: u32 = 0x5350_4344;

impl Stream {
    /// Returns a new stream of the given kind, or `None` if a flag is not for this kind or excludes another flag.
    pub(crate) fn new(kind: u32, set: Option<&ByteSet>, flags: u32) -> Option<Stream> {
        let (keep, state) = (set.copied().unwrap_or(ByteSet::EMPTY), State::default());
        let mut stream = Stream { kind, flags, keep, state, has_set: set.is_some().into() };
        // Running an empty piece checks the flags and changes nothing.
        let is_valid = stream.run(kind, Some(&[]), &mut []).is_some();
        (is_valid && !options::has(flags, SIMDPCT_IF_CHANGED)).then_some(stream)
    }

    /// Takes the next piece. `None` ends the input. Returns `None` if the stream has another kind or invalid flags.
    pub(crate) fn run(
        &mut self,
        kind: u32,
        piece: Option<&[u8]>,
        out: &mut [MaybeUninit<u8>],
    ) -> Option<ValueResult> {
        let keep = (self.has_set != 0).then_some(&self.keep);
        let done = if self.kind != kind {
            return None;
        } else if kind == ENCODER {
            let mut built = None;
            let encode = options::encoder(keep, self.flags, &mut built)?;
            encode.encode_piece_to_uninit(&mut self.state, piece, out).map(|out| (out, Ok(())))
        } else {
            let mut built = None;
            let decode = options::decoder(keep, self.flags, &mut built)?;
            decode.decode_piece_to_uninit(&mut self.state, piece, out)
        };
        Some(match done {
            Ok((out, Ok(()))) => ValueResult::ok(out.len()),
            Ok((out, Err(at))) => ValueResult { written: out.len(), ..ValueResult::malformed(at.offset) },
            Err(error) => ValueResult::too_small(error.needed),
        })
    }
}
