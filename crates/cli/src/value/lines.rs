//! Encoding lines: a line end stays, and a `\r` elsewhere is data.

use simdpct::stream::Encoder;
use simdpct::{ByteSet, Encode};

/// Encodes lines: a `\r` directly before `\n` stays, any other is data.
///
/// Most blocks hold no `\r`, or only those of line ends, and go through one encoder in one piece; the other
/// encoder takes stretches in which each `\r` is data.
#[derive(Clone, Debug)]
pub struct LineEncoder {
    /// Keeps `\r`.
    structure: Encoder<ByteSet>,
    /// Escapes `\r`.
    data: Encoder<ByteSet>,
    /// Whether the stretch under way is one of `data`.
    is_data: bool,
    /// Whether the last piece ended in a `\r`, of which the next byte decides.
    held: bool,
}

impl LineEncoder {
    /// Encodes with the encoding that `make` makes of the set of `keep` and line ends.
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

    /// Begins a stretch whose first byte is a `\r`. No escape reaches over it, so the encoder can be left.
    fn stretch(&mut self, is_data: bool, out: &mut Vec<u8>) {
        if self.is_data != is_data {
            self.encoder().finish(out);
            self.is_data = is_data;
        }
    }

    /// Takes the next piece and appends what it makes certain to `out`.
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
            // Within `settled` the last byte may be a `\r` too, before the one that is held.
            let is_data = piece.get(at + 1) != Some(&b'\n');
            if is_data != self.is_data {
                self.encoder().push(&settled[from..at], out);
                self.stretch(is_data, out);
                from = at;
            }
        }
        self.encoder().push(&settled[from..], out);
    }

    /// Ends the input, appends what was held back, and starts anew.
    pub fn finish(&mut self, out: &mut Vec<u8>) {
        if std::mem::take(&mut self.held) {
            self.stretch(true, out);
            self.encoder().push(b"\r", out);
        }
        self.encoder().finish(out);
        self.is_data = false;
    }
}
