//! SSE2, the baseline of x86-64: 64 lanes in four registers.
//!
//! SSE2 has no byte shuffle. Most sets are letters, digits, `-`, `.`, `_` and at most one byte more, and these take twelve
//! operations a register. Another set is compared range by range. A set of too many ranges, or an input too short to find the
//! ranges, is looked up byte by byte. If few lanes are dropped or escaped, the rest of the block is copied to its new place,
//! whole registers at a time. If there are many, bytes are written one by one, without a branch on their content.

#[cfg(target_arch = "x86")]
use core::arch::x86::*;
#[cfg(target_arch = "x86_64")]
use core::arch::x86_64::*;

use super::tables::count;
use super::token::Sse2;
use crate::hex::{self, HexCase};
use crate::kernel::cursor::{Cursor, Stage, triple};
use crate::kernel::drive::{self, Escapes, Isa, Lanes, OneWidth, lookahead, low_mask};
use crate::kernel::word::words;
use crate::set::ByteSet;

/// Evaluates an expression for each of the four registers of a block, for tiers whose registers hold sixteen lanes. This is a
/// macro because a closure and its intrinsics would not be inlined into the entry points.
///
/// The expression may use intrinsics of the tier that take and return registers. Intrinsics that read or write memory need an
/// `unsafe` block of their own.
macro_rules! each {
    ($block:expr, |$quarter:ident| $value:expr) => {{
        let block = $block;
        each!(|i| {
            let $quarter = block[i];
            $value
        })
    }};
    (|$i:ident| $value:expr) => {{
        // SAFETY: every use is in a method of the tier's token, which proves the CPU features of the intrinsics.
        #[allow(unused_unsafe, reason = "not every expression needs it")]
        unsafe {
            [
                {
                    let $i = 0;
                    $value
                },
                {
                    let $i = 1;
                    $value
                },
                {
                    let $i = 2;
                    $value
                },
                {
                    let $i = 3;
                    $value
                },
            ]
        }
    }};
}

type Block = [__m128i; 4];

/// The largest number of ranges that are compared one by one.
const RANGES: usize = 10;

/// The shortest input for which finding the ranges of a set pays.
const LONG: usize = 64;

/// A set, prepared for lookups.
#[derive(Clone, Copy)]
pub(crate) enum Class {
    /// A set of letters, digits, `-`, `.`, `_` and one byte, which is in all lanes; and the length of the input.
    Usual(__m128i, usize),
    /// A set of at most [`RANGES`] ranges: the first byte of each and the number of bytes after it; the number of ranges; and
    /// the set, to look up single bytes.
    Ranges([(u8, u8); RANGES], usize, ByteSet),
    /// Any other set, and the number of lanes to look up.
    Any(ByteSet, usize),
}

impl Sse2 {
    #[cfg_attr(optimized, inline(always))]
    fn all(self, byte: u8) -> __m128i {
        // SAFETY: the token proves SSE2.
        unsafe { _mm_set1_epi8(byte.cast_signed()) }
    }

    /// Returns the mask of the marked lanes of four registers, whose lanes are all ones or all zeros.
    #[cfg_attr(optimized, inline(always))]
    fn mask(self, quarters: Block) -> u64 {
        let [a, b, c, d] = each!(quarters, |quarter| u64::from(_mm_movemask_epi8(quarter).cast_unsigned()));
        a | b << 16 | c << 32 | d << 48
    }

    /// Marks the lanes with a byte from `start` to `start + more`.
    #[cfg_attr(optimized, inline(always))]
    fn in_range(self, quarter: __m128i, (start, more): (u8, u8)) -> __m128i {
        // SAFETY: the token proves SSE2.
        unsafe {
            let from_start = _mm_sub_epi8(quarter, self.all(start));
            _mm_cmpeq_epi8(_mm_min_epu8(from_start, self.all(more)), from_start)
        }
    }

    /// Marks the lanes of ASCII letters, digits, `-`, `.`, `_` and the byte in all lanes of `other`.
    #[cfg_attr(optimized, inline(always))]
    fn usual(self, quarter: __m128i, other: __m128i) -> __m128i {
        // SAFETY: the token proves SSE2.
        unsafe {
            // An addition moves a range to the lowest signed numbers, so one comparison tests it. The two cases of a letter
            // differ in one bit, and setting that bit makes no other byte a letter.
            let letters = _mm_add_epi8(_mm_or_si128(quarter, self.all(0x20)), self.all(0x80 - b'a'));
            let letters = _mm_cmplt_epi8(letters, self.all(0x80 + 26));
            // The bytes from `-` to `9` are `-`, `.`, `/` and the digits; `/` is excluded afterwards.
            let digits = _mm_cmplt_epi8(_mm_add_epi8(quarter, self.all(0x80 - b'-')), self.all(0x80 + 13));
            let digits = _mm_andnot_si128(_mm_cmpeq_epi8(quarter, self.all(b'/')), digits);
            let marks = _mm_or_si128(_mm_cmpeq_epi8(quarter, self.all(b'_')), _mm_cmpeq_epi8(quarter, other));
            _mm_or_si128(_mm_or_si128(letters, digits), marks)
        }
    }

    /// Marks the lanes that are members of the set. Returns `None` if the set has to be looked up byte by byte.
    #[cfg_attr(optimized, inline(always))]
    fn members(self, block: Block, class: &Class) -> Option<Block> {
        match class {
            Class::Usual(other, _) => Some(each!(block, |quarter| self.usual(quarter, *other))),
            Class::Ranges(ranges, used, _) => {
                let mut members = each!(|_i| _mm_setzero_si128());
                for &range in &ranges[..*used] {
                    members = each!(|i| _mm_or_si128(members[i], self.in_range(block[i], range)));
                }
                Some(members)
            }
            Class::Any(..) => None,
        }
    }

    /// Marks the lanes of `mask`.
    #[cfg_attr(optimized, inline(always))]
    fn spread(self, mask: u64) -> Block {
        each!(|i| {
            let bits = _mm_cvtsi32_si128(i32::from((mask >> (16 * i)) as u16));
            let pairs = _mm_unpacklo_epi8(bits, bits);
            let fours = _mm_unpacklo_epi16(pairs, pairs);
            let bytes = _mm_unpacklo_epi32(fours, fours);
            let bit = _mm_set1_epi64x(0x8040_2010_0804_0201_u64.cast_signed());
            _mm_cmpeq_epi8(_mm_and_si128(bytes, bit), bit)
        })
    }

    /// Returns `quarter` with the lanes that `mask` marks taken from `other`.
    #[cfg_attr(optimized, inline(always))]
    fn blend(self, mask: __m128i, quarter: __m128i, other: __m128i) -> __m128i {
        // SAFETY: the token proves SSE2.
        unsafe { _mm_or_si128(_mm_and_si128(mask, other), _mm_andnot_si128(mask, quarter)) }
    }

    /// Returns the value of each hexadecimal digit. Other lanes get 16 or more.
    #[cfg_attr(optimized, inline(always))]
    fn digits(self, quarter: __m128i) -> __m128i {
        // SAFETY: the token proves SSE2.
        unsafe {
            // The addition makes `0` to `9` 0xF6 to 0xFF and bytes below `0` less. The saturating subtraction keeps the two
            // apart.
            let decimal = _mm_subs_epu8(_mm_add_epi8(quarter, self.all(0xFF - b'9')), self.all(6));
            let decimal = _mm_sub_epi8(decimal, self.all(0xF0));
            let letter = _mm_sub_epi8(_mm_and_si128(quarter, self.all(!0x20)), self.all(b'A'));
            _mm_min_epu8(decimal, _mm_adds_epu8(letter, self.all(10)))
        }
    }

    /// Returns the members of the usual set among the sixteen bytes of `input` from offset `at` on, as a mask of lanes of the
    /// input. `other` has the set's additional byte in all lanes.
    ///
    /// # Safety
    ///
    /// `at + 16 <= input.len() <= 64`.
    #[cfg_attr(optimized, inline(always))]
    unsafe fn usual_at(self, input: &[u8], at: usize, other: __m128i) -> u64 {
        // SAFETY: the token proves SSE2, and the caller guarantees `at + 16 <= input.len()`.
        unsafe {
            let bytes = _mm_loadu_si128(input.as_ptr().add(at).cast());
            u64::from(_mm_movemask_epi8(self.usual(bytes, other)).cast_unsigned()) << at
        }
    }

    /// Finds the escapes in the first register, for an input of at most sixteen bytes. See [`Isa::escapes`].
    #[cfg_attr(optimized, inline(always))]
    fn escapes_of_one(self, mut block: Block) -> Escapes<Block> {
        let mut values = block;
        // SAFETY: the token proves SSE2.
        let valid = unsafe {
            let digits = self.digits(block[0]);
            // The lanes that are shifted in count as bytes that are not digits.
            let first = _mm_or_si128(_mm_srli_si128::<1>(digits), _mm_slli_si128::<15>(self.all(0xFF)));
            let second = _mm_or_si128(_mm_srli_si128::<2>(digits), _mm_slli_si128::<14>(self.all(0xFF)));
            let high = _mm_slli_epi16::<4>(_mm_and_si128(first, self.all(0x0F)));
            values[0] = _mm_or_si128(high, second);
            let worse = _mm_or_si128(first, second);
            let digits = _mm_cmpeq_epi8(_mm_min_epu8(worse, self.all(0x0F)), worse);
            let valid = _mm_and_si128(digits, _mm_cmpeq_epi8(block[0], self.all(b'%')));
            block[0] = self.blend(valid, block[0], values[0]);
            u64::from(_mm_movemask_epi8(valid).cast_unsigned())
        };
        Escapes { valid, values, decoded: block, marks: block }
    }

    /// Writes the lanes of `rest` to `window`, run by run. Each run is written as `N` whole registers from its start, and the
    /// next run overwrites the surplus.
    ///
    /// # Safety
    ///
    /// `16 * N` bytes are readable in `bytes` from each lane of `rest` on, and `64 + 16 * N` bytes are writable at `window`.
    #[cfg_attr(optimized, inline(always))]
    unsafe fn copy_runs<const N: usize>(self, bytes: &[u8; 128], mut rest: u64, window: *mut u8) {
        let mut written = 0;
        while rest != 0 {
            let start = rest.trailing_zeros() as usize;
            let len = (!(rest >> start)).trailing_zeros() as usize;
            // SAFETY: the caller guarantees `16 * N` readable bytes from lane `start` on. `written < 64`, so as many are
            // writable at that offset.
            unsafe { self.copy::<N>(bytes.as_ptr().add(start), window.add(written)) };
            written += len;
            rest &= !low_mask(start + len);
        }
    }

    /// Writes `N` registers of lanes to `window`, with the lanes in `escape` as escapes. Each escape is written over the copy
    /// before it, followed by `N` registers with the lanes after it.
    ///
    /// # Safety
    ///
    /// `16 * N` bytes are readable in `bytes` from its start and after each lane of `escape`. At `window`, `16 * N` bytes are
    /// writable, and after the three bytes of each escape as many.
    #[cfg_attr(optimized, inline(always))]
    unsafe fn escape_few<const N: usize>(
        self,
        bytes: &[u8; 128],
        escape: u64,
        escapes: &[[u8; 4]; 256],
        window: *mut u8,
    ) {
        // SAFETY: the caller guarantees the readable bytes after each lane, and the writable bytes after each escape, which
        // starts at offset `at`.
        unsafe {
            self.copy::<N>(bytes.as_ptr(), window);
            for (before, lane) in drive::bits(escape).enumerate() {
                let at = lane + 2 * before;
                window.add(at).cast::<[u8; 4]>().write_unaligned(escapes[usize::from(bytes[lane])]);
                self.copy::<N>(bytes.as_ptr().add(lane + 1), window.add(at + 3));
            }
        }
    }

    /// Returns the lanes of `block` and 64 zeros, so that 64 bytes are readable from any lane on.
    #[cfg_attr(optimized, inline(always))]
    fn padded(self, block: Block) -> [u8; 128] {
        let mut bytes = [0; 128];
        bytes[..64].copy_from_slice(&self.bytes(block));
        bytes
    }

    /// Copies `N` registers of sixteen bytes.
    ///
    /// # Safety
    ///
    /// `16 * N` bytes are readable at `from` and writable at `to`, and they do not overlap.
    #[cfg_attr(optimized, inline(always))]
    unsafe fn copy<const N: usize>(self, from: *const u8, to: *mut u8) {
        for i in 0..N {
            // SAFETY: the token proves SSE2; the caller guarantees `16 * N` readable and writable bytes, and `i < N`.
            unsafe {
                _mm_storeu_si128(to.cast::<__m128i>().add(i), _mm_loadu_si128(from.cast::<__m128i>().add(i)))
            };
        }
    }
}

/// Returns those of the first `lanes` lanes that are members of `set`. Many kernels use it for rare sets, so it is not inlined.
#[inline(never)]
fn all_looked_up(bytes: &[u8; 64], lanes: usize, set: &ByteSet) -> u64 {
    bytes.iter().take(lanes).enumerate().fold(0, |mask, (i, &byte)| mask | u64::from(set.contains(byte)) << i)
}

/// Returns those of `lanes` that are members of `set`. Many kernels use it, so it is not inlined.
#[inline(never)]
fn looked_up(bytes: &[u8; 64], lanes: u64, set: &ByteSet) -> u64 {
    drive::bits(lanes).fold(0, |members, lane| members | u64::from(set.bit(bytes[lane])) << lane)
}

/// Writes the first `lanes` lanes, with those in `escape` as escapes. Blocks with many escapes take so long that a call does
/// not matter, and many kernels use this, so it is not inlined.
///
/// # Safety
///
/// `lanes <= 64`, and `escape` has no lanes after these. `3 * lanes + 1` bytes are writable at `to`.
#[inline(never)]
unsafe fn expand_dense(bytes: &[u8; 128], escape: u64, lanes: usize, escapes: &[[u8; 4]; 256], to: *mut u8) {
    if escape == u64::MAX {
        for (lane, &byte) in bytes[..64].iter().enumerate() {
            // SAFETY: all 64 lanes are escaped, so `lanes` is 64, and the caller guarantees `3 * 64 + 1` bytes. `3 * lane + 4`
            // is at most that.
            unsafe { to.add(3 * lane).cast::<[u8; 4]>().write_unaligned(escapes[usize::from(byte)]) };
        }
        return;
    }
    let mut rest = escape;
    let escaped = |_| {
        let lowest = rest as u32;
        rest >>= 1;
        lowest
    };
    // SAFETY: the caller guarantees `3 * lanes + 1` writable bytes at `to`.
    unsafe { triple(&bytes[..lanes], to, escapes, escaped) };
}

impl OneWidth for Sse2 {}

impl Isa for Sse2 {
    const LANES: usize = 64;
    const WORD: bool = true;
    // Few CPUs without SSSE3 are left, and such loops would make this tier's code much larger.
    const LOOPS_IN_OTHER_MODES: bool = false;
    type Block = Block;
    type Class = Class;

    #[cfg_attr(optimized, inline(always))]
    fn class(self, set: &ByteSet, len: usize) -> Class {
        if let Some(other) = set.usual_and_one() {
            return Class::Usual(self.all(other), len);
        }
        if len < LONG {
            return Class::Any(*set, len.min(64));
        }
        let (mut ranges, mut used) = ([(0, 0); RANGES], 0);
        let mut start = set.next(0, true);
        while start < 256 {
            if used == RANGES {
                return Class::Any(*set, len.min(64));
            }
            let end = set.next(start, false);
            ranges[used] = (start as u8, (end - start - 1) as u8);
            used += 1;
            start = set.next(end, true);
        }
        Class::Ranges(ranges, used, *set)
    }

    #[cfg_attr(optimized, inline(always))]
    fn load(self, input: &[u8]) -> Block {
        match input.first_chunk::<64>() {
            // SAFETY: the token proves SSE2; the array has 64 readable bytes.
            Some(bytes) => each!(|i| {
                // SAFETY: the token proves SSE2; `i < 4`, so `16 * i + 16` is at most the 64 bytes of the array.
                unsafe { _mm_loadu_si128(bytes.as_ptr().cast::<__m128i>().add(i)) }
            }),
            None => {
                let (whole, rest) = input.as_chunks::<16>();
                let [low, high] = words(rest);
                // SAFETY: the token proves SSE2.
                let rest = unsafe { _mm_set_epi64x(high.cast_signed(), low.cast_signed()) };
                let zero = self.all(0);
                each!(|i| match whole.get(i) {
                    // SAFETY: the token proves SSE2; a chunk has sixteen bytes.
                    Some(bytes) => unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) },
                    None if i == whole.len() => rest,
                    None => zero,
                })
            }
        }
    }

    #[cfg_attr(optimized, inline(always))]
    fn lanes_to_escape(self, input: &[u8], class: &Class) -> Option<u64> {
        let len = input.len();
        let &Class::Usual(other, _) = class else { return None };
        if !(17..=64).contains(&len) {
            return None;
        }
        // Two or four overlapping pieces of sixteen bytes cover the input.
        // SAFETY: `len >= 17`, so `len - 16` is a valid offset. `second` is at most 32, and `second + 16 <= len` because `len >
        // 32`.
        let members = unsafe {
            let mut members = self.usual_at(input, 0, other) | self.usual_at(input, len - 16, other);
            if len > 32 {
                let second = len / 32 * 16;
                members |= self.usual_at(input, second, other);
                members |= self.usual_at(input, len - 16 - second, other);
            }
            members
        };
        Some(!members & low_mask(len))
    }

    #[cfg_attr(optimized, inline(always))]
    fn bytes(self, block: Block) -> [u8; 64] {
        let mut bytes = [0; 64];
        for (quarter, out) in block.into_iter().zip(bytes.as_chunks_mut::<16>().0) {
            // SAFETY: the token proves SSE2; a chunk has sixteen writable bytes.
            unsafe { _mm_storeu_si128(out.as_mut_ptr().cast(), quarter) };
        }
        bytes
    }

    #[cfg_attr(optimized, inline(always))]
    fn member(self, block: Block, class: &Class) -> u64 {
        if let Class::Usual(other, ..=16) = class {
            // SAFETY: the token proves SSE2.
            return u64::from(unsafe { _mm_movemask_epi8(self.usual(block[0], *other)) }.cast_unsigned());
        }
        if let Some(members) = self.members(block, class) {
            return self.mask(members);
        }
        let Class::Any(set, lanes) = class else { return 0 };
        all_looked_up(&self.bytes(block), *lanes, set)
    }

    #[cfg_attr(optimized, inline(always))]
    fn all_members<const M: usize>(self, blocks: [Block; M], class: &Class) -> bool {
        let mut all = self.all(0xFF);
        for block in blocks {
            let Some([a, b, c, d]) = self.members(block, class) else { return false };
            // SAFETY: the token proves SSE2.
            all = unsafe { _mm_and_si128(all, _mm_and_si128(_mm_and_si128(a, b), _mm_and_si128(c, d))) };
        }
        // SAFETY: the token proves SSE2.
        unsafe { _mm_movemask_epi8(all) == 0xFFFF }
    }

    #[cfg_attr(optimized, inline(always))]
    fn lacks(self, input: &[u8], byte: u8) -> bool {
        let (len, byte) = (input.len(), self.all(byte));
        let found = if len < 16 {
            let [low, high] = words(input);
            // The zeros after the input do not match, because no caller checks for zero.
            // SAFETY: the token proves SSE2.
            unsafe { _mm_cmpeq_epi8(_mm_set_epi64x(high.cast_signed(), low.cast_signed()), byte) }
        } else if len <= 64 {
            // Four overlapping pieces cover the input, so there is no branch on the number of pieces.
            let second = len / 32 * 16;
            let [a, b, c, d] = each!([0, second, len - 16 - second, len - 16], |at| {
                // SAFETY: the token proves SSE2; `len` is from 16 to 64, so each offset is at most `len - 16`.
                unsafe { _mm_cmpeq_epi8(_mm_loadu_si128(input.as_ptr().add(at).cast()), byte) }
            });
            // SAFETY: the token proves SSE2.
            unsafe { _mm_or_si128(_mm_or_si128(a, b), _mm_or_si128(c, d)) }
        } else {
            return false;
        };
        // SAFETY: the token proves SSE2.
        unsafe { _mm_movemask_epi8(found) == 0 }
    }

    #[cfg_attr(optimized, inline(always))]
    fn eq(self, block: Block, byte: u8) -> u64 {
        self.mask(each!(block, |quarter| _mm_cmpeq_epi8(quarter, self.all(byte))))
    }

    #[cfg_attr(optimized, inline(always))]
    fn lower(self, block: Block) -> u64 {
        self.mask(each!(block, |quarter| _mm_cmpgt_epi8(quarter, self.all(b'Z'))))
    }

    #[cfg_attr(optimized, inline(always))]
    fn replace(self, block: Block, from: u8, to: u8) -> Block {
        each!(block, |quarter| self.blend(_mm_cmpeq_epi8(quarter, self.all(from)), quarter, self.all(to)))
    }

    #[cfg_attr(optimized, inline(always))]
    fn escapes(self, block: Block, input: &[u8]) -> Escapes<Block> {
        if input.len() <= 16 {
            return self.escapes_of_one(block);
        }
        let [first, second] = lookahead::<Self>(input);
        let digits = each!(block, |quarter| self.digits(quarter));
        let next = u16::from_le_bytes([hex::value(first), hex::value(second)]);
        // SAFETY: the token proves SSE2.
        let next = unsafe { _mm_cvtsi32_si128(i32::from(next)) };
        let following = [digits[1], digits[2], digits[3], next];
        let first =
            each!(|i| _mm_or_si128(_mm_srli_si128::<1>(digits[i]), _mm_slli_si128::<15>(following[i])));
        let second =
            each!(|i| _mm_or_si128(_mm_srli_si128::<2>(digits[i]), _mm_slli_si128::<14>(following[i])));
        // The mask is needed because the 16-bit shift would move the upper bits of a lane into the next byte.
        let values =
            each!(|i| _mm_or_si128(_mm_slli_epi16::<4>(_mm_and_si128(first[i], self.all(0x0F))), second[i]));
        let valid = each!(|i| {
            let worse = _mm_or_si128(first[i], second[i]);
            let digits = _mm_cmpeq_epi8(_mm_min_epu8(worse, self.all(0x0F)), worse);
            _mm_and_si128(digits, _mm_cmpeq_epi8(block[i], self.all(b'%')))
        });
        let decoded = each!(|i| self.blend(valid[i], block[i], values[i]));
        Escapes { valid: self.mask(valid), values, decoded, marks: block }
    }

    #[cfg_attr(optimized, inline(always))]
    fn select(self, mask: u64, block: Block, other: Block) -> Block {
        let mask = self.spread(mask);
        each!(|i| self.blend(mask[i], block[i], other[i]))
    }

    #[cfg_attr(optimized, inline(always))]
    fn decode_some(self, block: Block, found: &Escapes<Block>, class: &Class, members: bool) -> (u64, Block) {
        /// The largest number of escapes whose values are looked up one by one. With more, comparing all lanes with the ranges
        /// is faster.
        const FEW: usize = 16;
        let found_members = match class {
            Class::Any(set, _) => looked_up(&self.bytes(found.values), found.valid, set),
            Class::Ranges(.., set) if count(found.valid) <= FEW => {
                looked_up(&self.bytes(found.values), found.valid, set)
            }
            _ => match self.members(found.values, class) {
                Some(members) => self.mask(members),
                None => 0,
            },
        };
        let decoded = found.valid & if members { found_members } else { !found_members };
        (decoded, self.select(decoded, block, found.values))
    }

    #[cfg_attr(optimized, inline(always))]
    fn upper(self, mask: u64, block: Block) -> Block {
        let mask = self.spread(mask);
        // The lanes of `mask` are hexadecimal digits, and of these only lower-case letters are above `Z`.
        each!(|i| {
            let letter = _mm_cmpgt_epi8(block[i], self.all(b'Z'));
            _mm_andnot_si128(_mm_and_si128(letter, _mm_and_si128(mask[i], self.all(0x20))), block[i])
        })
    }

    #[cfg_attr(optimized, inline(always))]
    fn store(self, block: Block, lanes: Lanes<Self>, out: &mut Cursor<'_>) {
        let mut stage = Stage::new();
        let mut window = out.window(64, &mut stage);
        let start = window.as_mut_ptr().cast::<__m128i>();
        // SAFETY: the token proves SSE2. The window has 64 bytes, the stores initialise all of them, and `lanes.count()` is at
        // most `LANES`.
        unsafe {
            _mm_storeu_si128(start, block[0]);
            _mm_storeu_si128(start.add(1), block[1]);
            _mm_storeu_si128(start.add(2), block[2]);
            _mm_storeu_si128(start.add(3), block[3]);
            window.keep(lanes.count());
        }
    }

    #[cfg_attr(optimized, inline(always))]
    fn store_whole<const M: usize>(self, blocks: [Block; M], out: &mut Cursor<'_>) {
        let mut stage = Stage::new();
        let mut window = out.window(M * 64, &mut stage);
        let start = window.as_mut_ptr();
        for (m, block) in blocks.into_iter().enumerate() {
            for (i, quarter) in block.into_iter().enumerate() {
                // SAFETY: the token proves SSE2; `64 * m + 16 * i + 16 <= M * 64`, and the window has `M * 64` writable bytes.
                unsafe { _mm_storeu_si128(start.add(64 * m + 16 * i).cast(), quarter) };
            }
        }
        // SAFETY: the loops initialised all `M * 64` bytes of the window.
        unsafe { window.keep(M * 64) };
    }

    #[cfg_attr(optimized, inline(always))]
    fn compress(self, block: Block, drop: u64, lanes: Lanes<Self>, out: &mut Cursor<'_>) {
        /// The width of the window: up to 63 lanes, and a block written after them.
        const WINDOW: usize = 128;
        /// The largest number of dropped lanes for which the lanes that stay are copied run by run. With more, copying them one
        /// by one is faster.
        const FEW: usize = 20;
        /// A mask of every third lane from lane 0 on.
        const THIRDS: u64 = 0x9249_2492_4924_9249;
        let bytes = self.padded(block);
        let mut stage = Stage::new();
        let mut window = out.window(WINDOW, &mut stage);
        let start = window.as_mut_ptr();
        let rest = lanes.mask() & !drop;
        if lanes.count() <= 16 {
            // SAFETY: `rest` is in the first sixteen lanes, so sixteen of the 128 bytes are readable from each, and the window
            // has 128 bytes.
            unsafe { self.copy_runs::<1>(&bytes, rest, start) };
        } else if rest == THIRDS.wrapping_shl(rest.trailing_zeros()) {
            // The block is nothing but escapes, such as those of Chinese text, so the lanes that stay are known. After the last
            // come zeros.
            let first = rest.trailing_zeros() as usize;
            for i in 0..22 {
                // SAFETY: `i < 22`, and the window has 128 bytes.
                unsafe { start.add(i).write(bytes[(first + 3 * i) % 128]) };
            }
        } else if count(lanes.mask() & drop) > FEW {
            for (written, lane) in drive::bits(rest).enumerate() {
                // SAFETY: `rest` has at most 64 lanes, so `written < 64`, and the window has 128 bytes.
                unsafe { start.add(written).write(bytes[lane]) };
            }
        } else {
            // SAFETY: 64 of the 128 bytes are readable from each lane on, and the window has 128 bytes.
            unsafe { self.copy_runs::<4>(&bytes, rest, start) };
        }
        // SAFETY: each branch wrote the lanes of `rest` without a gap, and there are at most 64.
        unsafe { window.keep(count(rest)) };
    }

    #[cfg_attr(optimized, inline(always))]
    fn expand(
        self,
        block: Block,
        _: &[u8],
        escape: u64,
        lanes: Lanes<Self>,
        case: HexCase,
        out: &mut Cursor<'_>,
    ) {
        /// The width of the window: three bytes for each of 63 lanes, and then a block, which is more than the four bytes of
        /// the last escape.
        const WINDOW: usize = 63 * 3 + 64;
        /// The largest number of escapes for which the rest of the block is copied after each. With more, writing byte by
        /// byte is faster.
        const FEW: usize = 16;
        // If lane 63 is the last of `FEW` lanes to escape, a block is copied after its three bytes.
        const { assert!(63 + 2 * (FEW - 1) + 3 + 64 <= WINDOW) };
        let escape = escape & lanes.mask();
        let bytes = self.padded(block);
        let escapes = case.escapes();
        let escaped = count(escape);
        let mut stage = Stage::new();
        let mut window = out.window(WINDOW, &mut stage);
        let start = window.as_mut_ptr();
        if lanes.count() <= 16 {
            // SAFETY: `escape` is in the first sixteen lanes, so sixteen of the 128 bytes are readable after each. The window
            // has more than three bytes for each of these lanes and sixteen more.
            unsafe { self.escape_few::<1>(&bytes, escape, escapes, start) };
        } else if escaped <= FEW {
            // SAFETY: 64 of the 128 bytes are readable after each lane. The assertion above shows that 64 bytes are writable
            // after each of at most `FEW` escapes.
            unsafe { self.escape_few::<4>(&bytes, escape, escapes, start) };
        } else {
            // SAFETY: the window has more than `3 * 64 + 1` bytes, and `escape` was masked by `lanes`.
            unsafe { expand_dense(&bytes, escape, lanes.count(), escapes, start) };
        }
        // SAFETY: each branch wrote `lanes` bytes and two more for each escape without a gap.
        unsafe { window.keep(lanes.count() + 2 * escaped) };
    }
}
