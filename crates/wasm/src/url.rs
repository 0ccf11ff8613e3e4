//! Exports the functions for whole URLs, for text that was encoded several times, and for the findings of `pct check`.
//!
//! SAFETY of each `#[unsafe(no_mangle)]`, the only unsafe attribute here: no other symbol of the module begins with `pct_`.

use simdpct::{Decode, Escape, MalformedCause, escapes};
use simdpct_uri::{Component, Converter, FlawKind, Parts, split};

use super::{NO_MEMORY, NO_SUCH_SET, State, decoder, length, state};

/// A table of results that an operation appends rows to.
struct Rows<'o> {
    bytes: &'o mut Vec<u8>,
    /// Whether memory for a row could not be allocated.
    full: bool,
}

impl Rows<'_> {
    fn push(&mut self, row: [usize; 3]) {
        self.full |= self.bytes.try_reserve(12).is_err();
        if self.full {
            return;
        }
        for number in row {
            // Every number fits: it is at most an offset in memory of less than 2^32 bytes.
            self.bytes.extend_from_slice(&(number as u32).to_le_bytes());
        }
    }
}

impl State {
    /// Writes a table to the output: rows of three numbers, each of four bytes in little-endian order. Returns the length of the table.
    fn tabulate(&mut self, len: usize, rows: impl FnOnce(&[u8], &mut Rows<'_>)) -> i32 {
        let State { input, output, .. } = self;
        output.clear();
        let mut table = Rows { bytes: output, full: false };
        rows(&input[..len.min(input.len())], &mut table);
        if table.full { NO_MEMORY } else { length(output.len()) }
    }
}

/// Encodes the first `len` bytes of input as a whole URL: keeps reserved bytes and their escapes, and escapes every other `%`.
#[unsafe(no_mangle)]
pub extern "C" fn pct_encode_url(len: usize) -> i32 {
    state().run(len, 3, |input, output| {
        Converter::new().encode_append(input, output);
        Ok(())
    })
}

/// Decodes the first `len` bytes of input as a whole URL, the inverse of [`pct_encode_url`].
#[unsafe(no_mangle)]
pub extern "C" fn pct_decode_url(len: usize) -> i32 {
    state().run(len, 1, |input, output| {
        Converter::new().decode_append(input, output);
        Ok(())
    })
}

/// Decodes the first `len` bytes of input until nothing changes. Keeps escapes of the set `keep`, unless `keep` is negative. The only
/// flag is `FORM`. [`pct_layers`] returns the number of rounds that changed something.
#[unsafe(no_mangle)]
pub extern "C" fn pct_decode_until_stable(len: usize, keep: i32, flags: u32) -> i32 {
    let mut state = state();
    let Some(decode) = decoder(&state, keep, flags) else { return NO_SUCH_SET };
    let mut layers = 0;
    let result = state.run(len, 1, |input, output| {
        layers = decode.decode_until_stable_append(input, output);
        Ok(())
    });
    state.layers = layers;
    result
}

/// Returns the number of layers of escapes that the last [`pct_decode_until_stable`] removed.
#[unsafe(no_mangle)]
pub extern "C" fn pct_layers() -> usize {
    state().layers
}

/// Writes the findings of `pct check` in the first `len` bytes of input, taken as one record, as rows of offset, kind
/// and byte. Kinds: 0 malformed, at the end of the text; 1 malformed, with `byte` in place of a digit; 2 escaped twice,
/// where `byte` is the byte of the inner escape; 3 NUL; 4 slash or backslash; 5 dot; 6 not valid UTF-8 after decoding,
/// once for all input; 7 a line end: an escaped CR with the escaped LF after it, if there is one, or an escaped LF,
/// where `byte` is CR or LF, the last byte of the line end.
#[unsafe(no_mangle)]
pub extern "C" fn pct_check(len: usize) -> i32 {
    state().tabulate(len, |input, rows| {
        let Ok(mut not_utf8) = super::not_utf8(Decode::new(), input) else {
            rows.full = true;
            return;
        };
        let mut found = escapes(input).peekable();
        while let Some(escape) = found.next() {
            let row = match escape {
                Ok(escape) => match escape.byte {
                    0 => [escape.offset, 3, 0],
                    byte @ (b'/' | b'\\') => [escape.offset, 4, byte.into()],
                    b'.' => [escape.offset, 5, b'.'.into()],
                    b'\r' => {
                        let is_feed = |next: &Escape| next.byte == b'\n' && next.offset == escape.offset + 3;
                        let feed = found.next_if(|next| next.as_ref().is_ok_and(is_feed));
                        [escape.offset, 7, if feed.is_some() { b'\n' } else { b'\r' }.into()]
                    }
                    b'\n' => [escape.offset, 7, b'\n'.into()],
                    b'%' => match inner(&input[escape.offset + 3..]) {
                        Some(byte) => [escape.offset, 2, byte.into()],
                        None => continue,
                    },
                    _ => continue,
                },
                Err(error) => match error.cause {
                    MalformedCause::NotHex { byte, .. } => [error.offset, 1, byte.into()],
                    _ => [error.offset, 0, 0],
                },
            };
            if let Some(offset) = not_utf8.take_if(|offset| *offset < row[0]) {
                rows.push([offset, 6, 0]);
            }
            rows.push(row);
        }
        if let Some(offset) = not_utf8 {
            rows.push([offset, 6, 0]);
        }
    })
}

/// Returns the byte of the escape that a `%` and the first two bytes of `text` form, or `None` if they form no escape.
fn inner(text: &[u8]) -> Option<u8> {
    let &[high, low, ..] = text else { return None };
    simdpct::decode_escape(&[b'%', high, low])
}

/// Splits the first `len` bytes of input. Writes rows of part, start and end, for the parts that the URL has. Parts: 0 scheme, 1
/// userinfo, 2 host, 3 port, 4 path, 5 query, 6 fragment, 7 each segment of the path, 8 each name of the query, 9 its value.
#[unsafe(no_mangle)]
pub extern "C" fn pct_split(len: usize) -> i32 {
    state().tabulate(len, |input, rows| {
        let parts = split(input);
        // Each part is a slice of the input, so the difference of the addresses is its offset.
        let mut push = |part: usize, slice: Option<&[u8]>| {
            if let Some(slice) = slice {
                let start = slice.as_ptr().addr() - input.as_ptr().addr();
                rows.push([part, start, start + slice.len()]);
            }
        };
        push(0, parts.scheme());
        push(1, parts.userinfo().map(|piece| piece.raw()));
        push(2, parts.host().map(|piece| piece.raw()));
        push(3, parts.port());
        push(4, Some(parts.path()));
        push(5, parts.query());
        push(6, parts.fragment().map(|piece| piece.raw()));
        for segment in parts.segments() {
            push(7, Some(segment.raw()));
        }
        for pair in parts.query_pairs() {
            push(8, Some(pair.name.raw()));
            push(9, pair.value.map(|piece| piece.raw()));
        }
    })
}

/// Writes the violations of RFC 3986 in the first `len` bytes of input, as rows of offset, kind and byte. Kind is the number of the
/// component (see [`pct_split`]) plus 16 times that of the violation: 0 illegal byte, 1 not ASCII, 2 control, 3 malformed escape, 4 several
/// `@`, 5 unclosed bracket, 6 bad address, 7 bad port, 8 colon in the first segment, 9 another. From kind 3 on, byte is 0.
#[unsafe(no_mangle)]
pub extern "C" fn pct_flaws(len: usize) -> i32 {
    state().tabulate(len, |input, rows| flaws(&split(input), rows))
}

fn flaws(parts: &Parts<'_>, rows: &mut Rows<'_>) {
    for flaw in parts.flaws() {
        let component = match flaw.component {
            Component::Scheme => 0,
            Component::Userinfo => 1,
            Component::Host => 2,
            Component::Port => 3,
            Component::Path => 4,
            Component::Query => 5,
            _ => 6,
        };
        let (kind, byte) = match flaw.kind {
            FlawKind::Illegal(byte) => (0, byte),
            FlawKind::NonAscii(byte) => (1, byte),
            FlawKind::Control(byte) => (2, byte),
            FlawKind::MalformedEscape => (3, 0),
            FlawKind::SeveralAt => (4, 0),
            FlawKind::UnclosedBracket => (5, 0),
            FlawKind::BadAddress => (6, 0),
            FlawKind::BadPort => (7, 0),
            FlawKind::ColonInFirstSegment => (8, 0),
            _ => (9, 0),
        };
        rows.push([flaw.offset, kind << 4 | component, byte.into()]);
    }
}
