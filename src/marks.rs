//! Decoding at marked places, and the marks: for records in which only some fields are percent-encoded.
//!
//! A chunk of many records is decoded in one pass, which copies everything outside the wanted fields. The caller finds these
//! fields by the places of delimiters.

use alloc::vec::Vec;

use crate::decode::Decode;
use crate::kernel::cursor::Tail;
use crate::kernel::isa::Tier;
use crate::kernel::job::{DecodeJob, DecodeRule, Fields, Marks};

pub use crate::kernel::job::{RowState, Stops};

/// Finds four bytes in `input`, and replaces the content of `marks` by one entry for each 64 bytes of `input`. In word `n` of
/// entry `i`, bit `b` is set if byte `64 * i + b` of the input equals `bytes[n]`.
///
/// Takes time linear in the input.
///
/// ```
/// let mut marks = Vec::new();
/// simdpct::internals::mark_bytes(b"a%41,%42\n", *b"%,\n;", &mut marks);
/// assert_eq!(marks, [[0b000_100_010, 0b000_010_000, 0b100_000_000, 0]]);
/// ```
pub fn mark_bytes(input: &(impl AsRef<[u8]> + ?Sized), bytes: [u8; 4], marks: &mut Vec<[u64; 4]>) {
    mark_bytes_with(Tier::active(), input.as_ref(), bytes, marks);
}

fn mark_bytes_with(tier: Tier, input: &[u8], bytes: [u8; 4], marks: &mut Vec<[u64; 4]>) {
    // All entries are written below, so old ones need not be cleared.
    marks.resize(input.len().div_ceil(64), [0; 4]);
    tier.mark(bytes, input, marks);
}

/// Finds the ends of the rows and cells of a table (CSV, RFC 4180), where a line feed or a delimiter inside quotes is data. Replaces the first
/// entries of `marks` by one for each whole block of 64 bytes of `input`, and returns their number.
///
/// In each word of an entry, bit `b` belongs to byte `b` of the block. The words have the places of `%`, of line feeds outside
/// quotes, of delimiters outside quotes, and of irregular bytes: line feeds inside quotes, and bytes after a closing quote that neither end
/// the cell nor are a carriage return. The other words are right up to the first irregular byte. A block in which a quote opens a cell
/// after its start is not marked, nor are the blocks after it. The other entries of `marks` have no particular content afterwards.
///
/// `state` says what is before the input, and is replaced by what is before the first block that is not marked. It begins with
/// [`RowState::START`]. Takes time linear in the input.
///
/// ```
/// use simdpct::internals::{RowState, mark_rows};
///
/// let (mut state, mut marks) = (RowState::START, [[0; 4]]);
/// let rows = br#"1,"a,%41",x,"a longer cell of bytes that fills the rest of the blo-ck""#;
/// assert_eq!(mark_rows(rows, b',', &mut state, &mut marks), 1);
/// assert_eq!(marks, [[1 << 5, 0, 1 << 1 | 1 << 9 | 1 << 11, 0]]);
/// assert!(state.is_quoted);
/// ```
pub fn mark_rows(
    input: &(impl AsRef<[u8]> + ?Sized),
    delimiter: u8,
    state: &mut RowState,
    marks: &mut [[u64; 4]],
) -> usize {
    mark_rows_with(Tier::active(), input.as_ref(), delimiter, state, marks)
}

fn mark_rows_with(
    tier: Tier,
    input: &[u8],
    delimiter: u8,
    state: &mut RowState,
    marks: &mut [[u64; 4]],
) -> usize {
    tier.rows(delimiter, input, state, marks)
}

impl RowState {
    /// The state at the beginning of a row.
    pub const START: RowState = RowState {
        is_quoted: false,
        may_open: true,
        has_closed: false,
        has_returns: false,
        has_quoted_feeds: false,
    };
}

/// Writes the places of the bits that are set in `words`, in ascending order, to `places`, and returns their number. The place of bit
/// `b` of word `i` is `64 * i + b`. The rest of `places` has no particular content afterwards.
///
/// Takes time linear in the number of words and bits.
///
/// # Panics
///
/// If `places` is shorter than 64 entries for each word, or there are 2^26 words or more.
///
/// ```
/// let mut places = [0; 128];
/// let len = simdpct::internals::list_bits(&[0b1010, 1], &mut places);
/// assert_eq!(places[..len], [1, 3, 64]);
/// ```
pub fn list_bits(words: &[u64], places: &mut [u32]) -> usize {
    list_bits_with(Tier::active(), words, places)
}

fn list_bits_with(tier: Tier, words: &[u64], places: &mut [u32]) -> usize {
    assert!(words.len() < 1 << 26 && places.len() >= 64 * words.len());
    tier.list(words, places)
}

/// Writes the places where a field ends, in ascending order, to `places`: the second and third words of each of `blocks`, which are those
/// that [`mark_rows`] writes, or [`mark_bytes`] if the second and third of its bytes end records and fields. The place of bit `b` of block
/// `i` is `64 * i + b`. The rest of `places` has no particular content afterwards. [`Stops::has_irregular`] says whether a fourth word is
/// not 0.
///
/// Takes time linear in the number of blocks and bits.
///
/// # Panics
///
/// If `places` is shorter than 64 entries for each block, or there are 2^26 blocks or more.
///
/// ```
/// let (mut marks, mut places) = (Vec::new(), [0; 64]);
/// simdpct::internals::mark_bytes("1,a\n2,b\n", *b"%\n,;", &mut marks);
/// let stops = simdpct::internals::list_stops(&marks, &mut places);
/// assert_eq!((&places[..stops.count], stops.ends), (&[1, 3, 5, 7][..], 2));
/// ```
pub fn list_stops(blocks: &[[u64; 4]], places: &mut [u32]) -> Stops {
    list_stops_with(Tier::active(), blocks, places)
}

fn list_stops_with(tier: Tier, blocks: &[[u64; 4]], places: &mut [u32]) -> Stops {
    assert!(blocks.len() < 1 << 26 && places.len() >= 64 * blocks.len());
    tier.stops(blocks, places)
}

/// Decodes the escapes at marked places, copies everything else, and appends the result to `out`.
///
/// The bits of `marks` belong to the bytes of the input in their order. Bit `first`, counted from the lowest bit of the first
/// word, belongs to the first byte. An escape is decoded if the bit of its `%` is set. Other bits are ignored, and missing words
/// have no bits, so nothing is decoded if `first` is after all words. A `+` stays, also in a decoder with [`Decode::form`].
///
/// ```
/// let mut out = Vec::new();
/// simdpct::internals::decode_marked_append(&simdpct::Decode::new(), "%41 %42", &[0b1000], 3, &mut out);
/// assert_eq!(out, b"A %42");
/// ```
pub fn decode_marked_append(
    decode: &Decode,
    input: &(impl AsRef<[u8]> + ?Sized),
    marks: &[u64],
    first: usize,
    out: &mut Vec<u8>,
) {
    append_marked(decode, input.as_ref(), marks, first, false, out);
}

/// Decodes like [`decode_marked_append`], unless an escape at a marked place stays because of [`Decode::keep`].
///
/// # Errors
///
/// The offset of the first escape that would stay; `out` is then unchanged.
///
/// ```
/// use simdpct::internals::try_decode_marked_append;
///
/// let (decode, mut out) = (simdpct::Decode::new().keep(simdpct::ByteSet::from_bytes(b"\"")), Vec::new());
/// assert_eq!(try_decode_marked_append(&decode, "%41%22", &[0b1001], 0, &mut out), Err(3));
/// assert_eq!(try_decode_marked_append(&decode, "%41%22", &[0b0001], 0, &mut out), Ok(()));
/// assert_eq!(out, b"A%22");
/// ```
pub fn try_decode_marked_append(
    decode: &Decode,
    input: &(impl AsRef<[u8]> + ?Sized),
    marks: &[u64],
    first: usize,
    out: &mut Vec<u8>,
) -> Result<(), usize> {
    let (input, len) = (input.as_ref(), out.len());
    let stopped = append_marked(decode, input, marks, first, true, out);
    if stopped < input.len() {
        out.truncate(len);
        return Err(stopped);
    }
    Ok(())
}

/// Appends `input`, with `separator` and the decoded field after each of `fields`: a column beside the column that it comes from.
///
/// A field `[begin, stop]` begins at place `begin` and ends before place `stop`; the first byte of the input has place `first`. Fields
/// are in ascending order and do not overlap. The first field that breaks this, or that is not inside the input, and all after it
/// are not decoded. A `+` stays, also in a decoder with [`Decode::form`], and so does a malformed escape. The time is linear in the
/// input, and the output is at most twice as long as the input, and one byte for each field.
///
/// # Errors
///
/// The offset of the first escape in a field that would stay because of [`Decode::keep`]; `out` is then unchanged.
///
/// ```
/// use simdpct::internals::try_decode_beside_append;
///
/// let mut out = Vec::new();
/// try_decode_beside_append(&simdpct::Decode::new(), "1,a%41,%42\n", &[[2, 6]], 0, b',', &mut out)?;
/// assert_eq!(out, b"1,a%41,aA,%42\n");
/// # Ok::<(), usize>(())
/// ```
pub fn try_decode_beside_append(
    decode: &Decode,
    input: &(impl AsRef<[u8]> + ?Sized),
    fields: &[[u32; 2]],
    first: usize,
    separator: u8,
    out: &mut Vec<u8>,
) -> Result<(), usize> {
    let (input, len) = (input.as_ref(), out.len());
    let fields = Fields { places: fields, first, separator };
    // Fields do not overlap, so the decoded ones are together no longer than the input.
    let most = (2 * input.len()).saturating_add(fields.places.len());
    let job = marked_job(decode);
    let stopped = Tail::new(out).append(most, |room| {
        let decoded = decode.core.kernels().decode_beside(&job, input, fields, room);
        (decoded.written, decoded.stopped)
    });
    if stopped < input.len() {
        out.truncate(len);
        return Err(stopped);
    }
    Ok(())
}

/// Returns the job for selected escapes, which does not replace `+`.
fn marked_job(decode: &Decode) -> DecodeJob {
    let mut job = decode.core.job;
    if job.rule == DecodeRule::Form {
        job.rule = DecodeRule::Keep;
    }
    job
}

/// Appends the decoded bytes, and returns where decoding ended.
fn append_marked(
    decode: &Decode,
    input: &[u8],
    marks: &[u64],
    first: usize,
    strict: bool,
    out: &mut Vec<u8>,
) -> usize {
    let words = marks.get(first / 64..).unwrap_or_default();
    let (job, marks) = (marked_job(decode), Marks { words, first: first % 64, strict });
    // The output is never longer than the input.
    Tail::new(out).append(input.len(), |room| {
        let decoded = decode.core.kernels().decode_marked(&job, input, marks, room);
        (decoded.written, decoded.stopped)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Marks byte by byte.
    fn naive(input: &[u8], bytes: [u8; 4]) -> Vec<[u64; 4]> {
        let mut marks = alloc::vec![[0; 4]; input.len().div_ceil(64)];
        for (at, &byte) in input.iter().enumerate() {
            for (n, &wanted) in bytes.iter().enumerate() {
                marks[at / 64][n] |= u64::from(byte == wanted) << (at % 64);
            }
        }
        marks
    }

    #[test]
    fn every_tier_lists_the_same_bits() {
        let mut seed = 1_u64;
        let mut random = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            seed ^ seed >> 33
        };
        for round in 0..2000 {
            let words: Vec<u64> = (0..round % 9)
                .map(|_| match random() % 4 {
                    0 => 0,
                    1 => u64::MAX >> (random() % 64),
                    2 => random() & random() & random() & random(),
                    _ => 1 << (random() % 64) | 1 << (random() % 64),
                })
                .collect();
            let is_set = |place: &u32| words[*place as usize / 64] >> (place % 64) & 1 != 0;
            let wanted: Vec<u32> = (0..64 * words.len() as u32).filter(is_set).collect();
            for tier in Tier::available() {
                let mut places = alloc::vec![7; 64 * words.len()];
                let len = list_bits_with(tier, &words, &mut places);
                assert_eq!(places[..len], wanted, "{tier} {words:x?}");
                // The same bits, of which one in three is that of a record's end.
                let third = 0x9249_2492_4924_9249;
                let irregular = u64::from(round % 7 == 0);
                let blocks: Vec<_> =
                    words.iter().map(|word| [!0, word & third, word & !third, irregular]).collect();
                places.fill(7);
                let stops = list_stops_with(tier, &blocks, &mut places);
                assert_eq!(places[..stops.count], wanted, "{tier} {words:x?}");
                let ends = words.iter().map(|word| (word & third).count_ones() as usize).sum();
                let has_irregular = irregular != 0 && !words.is_empty();
                assert_eq!(stops, Stops { count: len, ends, has_irregular }, "{tier} {words:x?}");
            }
        }
    }

    /// Marks the rows byte by byte, like `mark_rows`.
    fn naive_rows(input: &[u8], state: &mut RowState) -> Vec<[u64; 4]> {
        let mut marks = Vec::new();
        for block in input.as_chunks::<64>().0 {
            let (mut next, mut words) = (*state, [0; 4]);
            for (at, &byte) in block.iter().enumerate() {
                let is_opener = matches!(byte, b'"' | b',' | b'\n');
                let is_irregular = next.has_closed && !is_opener && byte != b'\r';
                words[3] |= u64::from(is_irregular) << at;
                next.has_closed = byte == b'"' && next.is_quoted;
                match byte {
                    b'"' if !next.is_quoted && !next.may_open => return marks,
                    b'"' => next.is_quoted = !next.is_quoted,
                    b'%' => words[0] |= 1 << at,
                    b'\n' if next.is_quoted => {
                        words[3] |= 1 << at;
                        next.has_quoted_feeds = true;
                    }
                    b'\n' => words[1] |= 1 << at,
                    b',' => words[2] |= u64::from(!next.is_quoted) << at,
                    b'\r' => next.has_returns = true,
                    _ => {}
                }
                next.may_open = is_opener;
            }
            marks.push(words);
            *state = next;
        }
        marks
    }

    #[test]
    fn every_tier_marks_the_same_rows() {
        let mut seed = 7_u64;
        let mut random = |below: usize| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) as usize % below
        };
        // The first cells have irregular bytes, but no misplaced quote.
        let cells: [&[u8]; 12] = [
            b"%41,",
            b",",
            b"\"b\"x,",
            b"\"b\"\r,",
            b"\"b\nb\"%,",
            b"\"\",",
            b"\"\"\"\"y\n",
            b"\r",
            b"a\"",
            b"\"",
            b"\"\"\"",
            b"\n",
        ];
        let (mut whole, mut partial) = (0, 0);
        for round in 0..600 {
            // Regular rows, rows with irregular bytes, and rows with misplaced quotes.
            let mut input = Vec::new();
            while input.len() < 64 * [3, 70, 200][round % 3] {
                let row: &[u8] =
                    if round % 2 == 0 { b"1,\"a,%41 \"\"b\"\" c\",%42\n" } else { b"1,\"a\",%42\r\n" };
                input.extend_from_slice(row);
                // Cells without quotes move the next ones by up to two bytes.
                input.extend_from_slice([&b""[..], b",", b"a,"][random(3)]);
                if round % 5 == 1 || random(1 << (round % 9)) == 0 {
                    input.extend_from_slice(cells[random(if round % 7 < 4 { 8 } else { cells.len() })]);
                    input.push(b',');
                }
            }
            let start = RowState { is_quoted: random(9) == 0, has_closed: random(9) == 0, ..RowState::START };
            let mut wanted_state = start;
            let wanted = naive_rows(&input, &mut wanted_state);
            if wanted.len() == input.len() / 64 {
                whole += 1
            } else {
                partial += 1
            }
            for tier in Tier::available() {
                let (mut state, mut marks) = (start, alloc::vec![[7; 4]; input.len() / 64]);
                let len = mark_rows_with(tier, &input, b',', &mut state, &mut marks);
                assert_eq!(
                    (&marks[..len], state),
                    (&wanted[..], wanted_state),
                    "{tier} {}",
                    input.escape_ascii()
                );
                // The state continues, and short buffers end the marks.
                let (mut state, mut done) = (start, 0);
                while done < len {
                    let most = (1 + random(140)).min(len - done);
                    let some = mark_rows_with(
                        tier,
                        &input[64 * done..],
                        b',',
                        &mut state,
                        &mut marks[done..done + most],
                    );
                    assert_eq!(some, most);
                    done += some;
                }
                assert_eq!(
                    (&marks[..len], state),
                    (&wanted[..], wanted_state),
                    "{tier} {}",
                    input.escape_ascii()
                );
            }
        }
        assert!(whole > 100 && partial > 100, "{whole} {partial}");
    }

    #[test]
    fn every_tier_marks_the_same_bytes() {
        for tier in Tier::available() {
            let mut marks = alloc::vec![[u64::MAX; 4]; 3];
            for len in 0..300 {
                for byte in 0..=255_u8 {
                    let mut input = alloc::vec![0; len];
                    for (at, slot) in input.iter_mut().enumerate() {
                        // Neighbours of each byte, and bytes that differ from it in one bit.
                        *slot = byte ^ [0, 1, 0x80, 0, 0x20, 0][(at * 7 + len) % 6];
                    }
                    let bytes = [byte, 0, byte ^ 1, 0x80];
                    mark_bytes_with(tier, &input, bytes, &mut marks);
                    assert_eq!(marks, naive(&input, bytes), "{tier} {len} {byte}");
                }
            }
        }
    }
}
