//! Encodes lines: a line end stays, and a `\r` elsewhere is data.

use simdpct::stream::Encoder;
use simdpct::{ByteSet, Encode};

/// Encodes lines: a `\r` directly before a `\n` stays, and any other `\r` is data.
///
/// Most blocks contain no `\r`, or only those of line ends, and go through one encoder in one piece. The other
/// encoder handles the stretches in which each `\r` is data.
#[derive(Clone, Debug)]
pub struct LineEncoder {
    /// The encoder that keeps `\r`, for stretches in which each `\r` is part of a line end.
    structure: Encoder<ByteSet>,
    /// The encoder that escapes `\r`, for stretches in which each `\r` is data.
    data: Encoder<ByteSet>,
    /// Whether `data` encodes the current stretch.
    is_data: bool,
    /// Whether the last piece ended in a `\r`, whose meaning depends on the next byte.
    held: bool,
}

impl LineEncoder {
    /// Creates an encoder from the encodings that `make` returns for `keep` and the bytes of line ends.
    pub fn new(keep: ByteSet, make: impl Fn(ByteSet) -> Encode<ByteSet>) -> LineEncoder {
        LineEncoder {
            structure: Encoder::new(make(keep.add(b"\r\n"))),
            data: Encoder::new(make(keep.add(b"\n"))),
            is_data: false,
            held: false,
        }
    }

    fn encoder(&mut self) -> &mut Encoder<ByteSet> {
        if self.is_data { &mut self.data } else { &mut self.structure }
    }

    /// Begins a stretch whose first byte is a `\r`. No escape continues across a `\r`, so the encoder of the previous
    /// stretch can be finished.
    fn stretch(&mut self, is_data: bool, out: &mut Vec<u8>) {
        if self.is_data != is_data {
            self.encoder().finish(out);
            self.is_data = is_data;
        }
    }

    /// Encodes the next piece, as far as its meaning is certain.
    pub fn push(&mut self, piece: &[u8], out: &mut Vec<u8>) {
        let Some((&first, _)) = piece.split_first() else { return };
        if std::mem::take(&mut self.held) {
            self.stretch(first != b'\n', out);
            self.encoder().push(b"\r", out);
        }
        let settled = match piece {
            [settled @ .., b'\r'] => {
                self.held = true;
                settled
            }
            _ => piece,
        };
        let mut from = 0;
        for at in memchr::memchr_iter(b'\r', settled) {
            // The last byte of `settled` may be a `\r` as well, in front of the held one.
            let is_data = piece.get(at + 1) != Some(&b'\n');
            if is_data != self.is_data {
                self.encoder().push(&settled[from..at], out);
                self.stretch(is_data, out);
                from = at;
            }
        }
        self.encoder().push(&settled[from..], out);
    }

    /// Encodes the held `\r`, ends the input, and resets the encoder.
    pub fn finish(&mut self, out: &mut Vec<u8>) {
        if std::mem::take(&mut self.held) {
            self.stretch(true, out);
            self.encoder().push(b"\r", out);
        }
        self.encoder().finish(out);
        self.is_data = false;
    }
}
