//! Finds the places of bytes, as masks with one bit for each of 64 bytes, and the rows of tables from them.

use std::ops::Range;

use simdpct::Tier;
use simdpct::simd::{Kernel, Simd, run};

use crate::ends::{Ends, Quotes, State};

/// The number of bytes in a block: one for each bit of a mask.
pub(crate) const BLOCK: usize = 64;

/// A search for bytes in one block after another. This is a trait because a closure would not be compiled with the features of a tier.
trait Search: Copy {
    /// Returns the places of each of `bytes` in at most 64 bytes. Places after their end are unspecified.
    fn find<const N: usize>(self, block: &[u8], bytes: [u8; N]) -> [u64; N];
}

impl<S: Simd> Search for S {
    #[inline(always)]
    fn find<const N: usize>(self, block: &[u8], bytes: [u8; N]) -> [u64; N] {
        let mut found = [0; N];
        let block = self.load(block);
        for (found, byte) in found.iter_mut().zip(bytes) {
            *found = self.eq(block, byte);
        }
        found
    }
}

/// The search without vectors.
#[derive(Clone, Copy)]
struct ByBytes;

impl Search for ByBytes {
    #[inline(always)]
    fn find<const N: usize>(self, block: &[u8], bytes: [u8; N]) -> [u64; N] {
        let place =
            |byte| (0..).zip(block).fold(0, |mask, (at, &other)| mask | u64::from(other == byte) << at);
        bytes.map(place)
    }
}

/// Finds `bytes` in `input`, and replaces the content of `marks` by one entry for each 64 bytes of `input`. In word `n` of entry `i`, bit
/// `b` is set if byte `64 * i + b` of the input equals `bytes[n]`. Takes time linear in the input.
///
/// ```
/// let mut marks = Vec::new();
/// simdpct_records::mark_bytes(b"a%41,%42\n", *b"%,\n;", &mut marks);
/// assert_eq!(marks, [[0b000_100_010, 0b000_010_000, 0b100_000_000, 0]]);
/// ```
pub fn mark_bytes<const N: usize>(input: &[u8], bytes: [u8; N], marks: &mut Vec<[u64; N]>) {
    mark(Tier::active(), input, bytes, marks);
}

/// Does the work of [`mark_bytes`] with the instructions of `tier`.
pub(crate) fn mark<const N: usize>(tier: Tier, input: &[u8], bytes: [u8; N], marks: &mut Vec<[u64; N]>) {
    // All entries are written below, so old ones need not be cleared.
    marks.resize(input.len().div_ceil(BLOCK), [0; N]);
    run(tier, Mark { input, bytes, marks });
}

struct Mark<'a, const N: usize> {
    input: &'a [u8],
    bytes: [u8; N],
    marks: &'a mut [[u64; N]],
}

impl<const N: usize> Mark<'_, N> {
    #[inline(always)]
    fn run_with(self, search: impl Search) {
        // Whole blocks need no mask of their lanes.
        let (blocks, rest) = self.input.as_chunks::<BLOCK>();
        let mut marks = self.marks.iter_mut();
        for (block, marks) in blocks.iter().zip(&mut marks) {
            *marks = search.find(block, self.bytes);
        }
        if let Some(marks) = marks.next() {
            *marks = search.find(rest, self.bytes).map(|found| found & !(u64::MAX << rest.len()));
        }
    }
}

impl<const N: usize> Kernel for Mark<'_, N> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        self.run_with(simd);
    }

    fn run_scalar(self) {
        self.run_with(ByBytes);
    }
}

/// The places of bytes in one block of a table, as one bit per byte: each `%`, the line feeds that end a record, the
/// delimiters of cells, and irregular bytes: line feeds inside quotes. In a block that [`Ends`](crate::Ends) has read,
/// all bytes are irregular. The first three words are correct up to the first irregular byte.
pub type Block = [u64; 4];

/// Finds the ends of rows and cells in the whole blocks of `input` (RFC 4180). Replaces the first entries of `marks` by one for each block,
/// and returns their number, which is at most that of `marks`. A misplaced quote opens a cell after its start, or closes one before its
/// end. A block with such a quote is not marked, nor are those after it. No block is marked if `ends` is in the state after such a quote,
/// or in a dialect with backslashes.
///
/// `ends` is the state before the input, and becomes the state before the first block that is not marked. `has_returns`
/// becomes true if a carriage return, or NUL, is in the marked blocks.
pub fn mark_rows(
    tier: Tier,
    input: &[u8],
    ends: &mut Ends,
    has_returns: &mut bool,
    marks: &mut [Block],
) -> usize {
    if ends.dialect.quotes == Quotes::Backslash || ends.state == State::Lost {
        return 0;
    }
    run(tier, Rows { input, ends, has_returns, marks })
}

struct Rows<'a> {
    input: &'a [u8],
    ends: &'a mut Ends,
    has_returns: &'a mut bool,
    marks: &'a mut [Block],
}

/// The number of blocks whose words are computed together.
const TOGETHER: usize = 64;

impl Rows<'_> {
    #[inline(always)]
    fn run_with(self, search: impl Search) -> usize {
        let Rows { input, ends, has_returns, marks } = self;
        let bytes = [b'"', b'\n', ends.dialect.delimiter, b'%', b'\r', 0];
        let state = &mut ends.state;
        let blocks = input.as_chunks().0;
        let len = blocks.len().min(marks.len());
        let (blocks, marks) = (&blocks[..len], &mut marks[..len]);
        let mut count = 0;
        // The words of many blocks are computed together, so the compiler makes vector code. The blocks of a group with a misplaced quote,
        // and the last ones, are marked one by one.
        if len >= TOGETHER {
            let mut words = Words([[0; TOGETHER + 1]; 5]);
            let groups = blocks.as_chunks::<TOGETHER>().0.iter().zip(marks.as_chunks_mut::<TOGETHER>().0);
            for (blocks, marks) in groups {
                if !words.mark(blocks, bytes, (state, has_returns), marks, search) {
                    break;
                }
                count += TOGETHER;
            }
        }
        let mut words = Words([[0; 2]; 5]);
        for (block, marks) in blocks[count..].iter().zip(&mut marks[count..]) {
            let (block, marks) = (std::array::from_ref(block), std::array::from_mut(marks));
            if !words.mark(block, bytes, (state, has_returns), marks, search) {
                break;
            }
            count += 1;
        }
        count
    }
}

impl Kernel for Rows<'_> {
    type Output = usize;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> usize {
        self.run_with(simd)
    }

    fn run_scalar(self) -> usize {
        self.run_with(ByBytes)
    }
}

/// The places in each block of quotes, line feeds, delimiters and `%`, and of bytes inside quotes. The first word of each kind is that of
/// the block before.
struct Words<const M: usize>([[u64; M]; 5]);

impl<const M: usize> Words<M> {
    /// Marks the rows in `N` blocks, one less than `M`. `bytes` are a quote, a line feed, the delimiter, `%`, a carriage return and NUL.
    /// Returns `false`, and leaves `state` as it was, if a quote is misplaced, or text follows a closing one.
    #[inline(always)]
    fn mark<const N: usize>(
        &mut self,
        blocks: &[[u8; BLOCK]; N],
        bytes: [u8; 6],
        (state, has_returns): (&mut State, &mut bool),
        marks: &mut [Block; N],
        search: impl Search,
    ) -> bool {
        const { assert!(M == N + 1) };
        let Words([quotes, feeds, delimiters, percents, quoted]) = self;
        let mut returns = 0;
        for (i, block) in blocks.iter().enumerate() {
            let found = search.find(block, bytes);
            [quotes[i + 1], feeds[i + 1], delimiters[i + 1], percents[i + 1], ..] = found;
            returns |= found[4] | found[5];
        }
        // One bit for each byte from an opening quote up to the byte before the closing one.
        for i in 1..N + 1 {
            quoted[i] = parity(quotes[i]);
        }
        let mut is_quoted = if *state == State::Quoted { u64::MAX } else { 0 };
        for quoted in &mut quoted[1..N + 1] {
            *quoted ^= is_quoted;
            is_quoted = 0_u64.wrapping_sub(*quoted >> 63);
        }
        // The top bits of the words for the block before say whether the first byte may be a quote that opens a cell,
        // and whether it follows a closing quote.
        quotes[0] = u64::from(matches!(state, State::Start | State::Quote)) << 63;
        quoted[0] = if *state == State::Quote { 0 } else { u64::MAX };
        let (mut misplaced, mut open) = (0, 0);
        // An escaped quote counts as a closing and an opening quote.
        let openers = |i: usize| quotes[i] | feeds[i] | delimiters[i];
        let closed = |i: usize| quotes[i] & !quoted[i];
        // The bytes after a closing quote that do not end the cell. The carriage return of a line end is one of them,
        // and is allowed.
        let after = |i: usize| (closed(i) << 1 | closed(i - 1) >> 63) & !openers(i);
        for i in 1..N + 1 {
            misplaced |= quotes[i] & quoted[i] & !(openers(i) << 1 | openers(i - 1) >> 63);
            let inside = feeds[i] & quoted[i];
            marks[i - 1] = [percents[i], feeds[i] & !quoted[i], delimiters[i] & !quoted[i], inside];
            open |= after(i);
        }
        // A carriage return after a closing quote, after which only a line feed can follow.
        let mut line_ends = u64::from(*state == State::Return) << 63;
        if open | line_ends != 0 {
            for (i, block) in blocks.iter().enumerate() {
                let after = after(i + 1);
                let found = if after == 0 { 0 } else { after & search.find(block, [b'\r'])[0] };
                misplaced |= after & !found | (found << 1 | line_ends >> 63) & !feeds[i + 1];
                line_ends = found;
            }
        }
        if misplaced != 0 {
            return false;
        }
        // The state after the last byte is the first of these whose condition is not 0.
        let states = [
            (is_quoted, State::Quoted),
            (closed(N) >> 63, State::Quote),
            (line_ends >> 63, State::Return),
            (openers(N) >> 63, State::Start),
        ];
        *state = states.into_iter().find(|(is_so, _)| *is_so != 0).map_or(State::Bare, |(_, state)| state);
        *has_returns |= returns != 0;
        true
    }
}

/// Returns a mask in which each bit is the parity of the bits up to and including it.
#[inline(always)]
fn parity(mut bits: u64) -> u64 {
    for shift in [1, 2, 4, 8, 16, 32] {
        bits ^= bits << shift;
    }
    bits
}

/// Writes the places of the bits that are set in `words`, in ascending order, to the start of `places`, and returns their number. The place
/// of bit `b` of word `i` is `64 * i + b`.
#[inline(always)]
pub(crate) fn list_bits(words: impl ExactSizeIterator<Item = u64>, places: &mut Vec<u32>) -> usize {
    // Each round writes six places, so that most words need one round.
    let most = BLOCK * words.len() + 6;
    if places.len() < most {
        places.resize(most, 0);
    }
    let mut count = 0;
    for (word, first) in words.zip((0..).step_by(BLOCK)) {
        let (mut bits, mut at) = (word, count);
        while let Some(group) = places.get_mut(at..).and_then(<[u32]>::first_chunk_mut::<6>) {
            for place in group {
                *place = first + bits.trailing_zeros();
                bits &= bits.wrapping_sub(1);
            }
            if bits == 0 {
                break;
            }
            at += 6;
        }
        count += word.count_ones() as usize;
    }
    count
}

/// Returns the place of the first bit from `from` on that is set in the words of `blocks`. The place of bit `b` of word `i` is
/// `64 * i + b`.
#[inline(always)]
pub(crate) fn next_bit<T>(blocks: &[T], word: impl Fn(&T) -> u64, from: usize) -> Option<usize> {
    let mut live = u64::MAX << (from % BLOCK);
    for (index, block) in blocks.iter().enumerate().skip(from / BLOCK) {
        let found = word(block) & live;
        if found != 0 {
            return Some(index * BLOCK + found.trailing_zeros() as usize);
        }
        live = u64::MAX;
    }
    None
}

/// Returns the place of the last bit before `to` that is set in the words of `blocks`.
#[inline(always)]
pub(crate) fn last_bit<T>(blocks: &[T], word: impl Fn(&T) -> u64, to: usize) -> Option<usize> {
    let whole = to / BLOCK;
    let before = |index: usize| if index < whole { u64::MAX } else { !(u64::MAX << (to % BLOCK)) };
    let blocks = blocks[..blocks.len().min(whole + 1)].iter().enumerate().rev();
    let mut words = blocks.map(|(index, block)| (index, word(block) & before(index)));
    let (index, found) = words.find(|(_, found)| *found != 0)?;
    Some((index + 1) * BLOCK - 1 - found.leading_zeros() as usize)
}

/// Returns the indices of the words with the bits in `range`, each with the mask of these bits.
#[inline(always)]
pub(crate) fn words(range: Range<usize>) -> impl Iterator<Item = (usize, u64)> {
    let Range { start, end } = range;
    (start / BLOCK..end.div_ceil(BLOCK)).map(move |index| {
        let from = u64::MAX.checked_shl(start.saturating_sub(index * BLOCK) as u32).unwrap_or(0);
        let to = u64::MAX.checked_shl((end - index * BLOCK) as u32).unwrap_or(0);
        (index, from & !to)
    })
}
