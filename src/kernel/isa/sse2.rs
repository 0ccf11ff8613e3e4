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
use super::vector::{each_one_intrinsic, operators};
use crate::hex::{self, HexCase};
use crate::kernel::cursor::{Cursor, Stage, escape_block, triple};
use crate::kernel::drive::{self, Escapes, Isa, Lanes, Tier, lookahead, low_mask};
use crate::kernel::word::words;
use crate::set::ByteSet;

/// A register of sixteen bytes. A method that selects lanes returns or takes *marks*: lanes of all ones or all zeros.
// INVARIANT: a value exists only if the CPU has SSE2, because each is made by an `Sse2` token or from other values.
#[derive(Clone, Copy)]
pub(crate) struct Register(__m128i);

operators! { Register:
    BitAnd bitand = _mm_and_si128;
    BitOr bitor = _mm_or_si128;
}

impl Register {
    each_one_intrinsic! {
        add(other) = _mm_add_epi8;
        add_saturating(other) = _mm_adds_epu8;
        sub(other) = _mm_sub_epi8;
        sub_saturating(other) = _mm_subs_epu8;
        min(other) = _mm_min_epu8;
        eq(other) = _mm_cmpeq_epi8;
        below(other) = _mm_cmplt_epi8;
        above(other) = _mm_cmpgt_epi8;
        pairs(other) = _mm_unpacklo_epi8;
        fours(other) = _mm_unpacklo_epi16;
        eights(other) = _mm_unpacklo_epi32;
        times_sixteen() = _mm_slli_epi16::<4>;
        up_by_fourteen() = _mm_slli_si128::<14>;
        up_by_fifteen() = _mm_slli_si128::<15>;
        down_by_one() = _mm_srli_si128::<1>;
        down_by_two() = _mm_srli_si128::<2>;
    }

    /// Loads the sixteen bytes of `input` from offset `at` on.
    ///
    /// # Safety
    ///
    /// `at + 16 <= input.len()`.
    #[cfg_attr(optimized, inline(always))]
    unsafe fn load_at(_: Sse2, input: &[u8], at: usize) -> Register {
        // SAFETY: the token proves SSE2, and the caller guarantees `at + 16 <= input.len()`.
        Register(unsafe { _mm_loadu_si128(input.as_ptr().add(at).cast()) })
    }

    /// Stores the register.
    ///
    /// # Safety
    ///
    /// Sixteen bytes are writable at `to`.
    #[cfg_attr(optimized, inline(always))]
    unsafe fn store(self, to: *mut u8) {
        // SAFETY: `self` exists, so the CPU has SSE2; the caller guarantees sixteen writable bytes at `to`.
        unsafe { _mm_storeu_si128(to.cast(), self.0) };
    }

    /// Returns the lanes with the bits of `bits` cleared.
    #[cfg_attr(optimized, inline(always))]
    fn without(self, bits: Register) -> Register {
        // SAFETY: `self` exists, so the CPU has SSE2.
        Register(unsafe { _mm_andnot_si128(bits.0, self.0) })
    }

    /// Returns `self` with the marked lanes taken from `other`.
    #[cfg_attr(optimized, inline(always))]
    fn blend(self, marks: Register, other: Register) -> Register {
        marks & other | self.without(marks)
    }

    /// Returns the marked lanes as a mask.
    #[cfg_attr(optimized, inline(always))]
    fn mask(self) -> u64 {
        // SAFETY: `self` exists, so the CPU has SSE2.
        u64::from(unsafe { _mm_movemask_epi8(self.0) }.cast_unsigned())
    }
}

type Block = [Register; 4];

/// The largest number of ranges that are compared one by one.
const RANGES: usize = 10;

/// The shortest input for which finding the ranges of a set pays.
const LONG: usize = 64;

/// A set, prepared for lookups.
#[derive(Clone, Copy)]
pub(crate) enum Class {
    /// A set of letters, digits, `-`, `.`, `_` and one byte, which is in all lanes; and the length of the input.
    Usual(Register, usize),
    /// A set of at most [`RANGES`] ranges: the first byte of each and the number of bytes after it; the number of ranges; and
    /// the set, to look up single bytes.
    Ranges([(u8, u8); RANGES], usize, ByteSet),
    /// Any other set, and the number of lanes to look up.
    Any(ByteSet, usize),
}

impl Sse2 {
    #[cfg_attr(optimized, inline(always))]
    fn all(self, byte: u8) -> Register {
        // SAFETY: the token proves SSE2.
        Register(unsafe { _mm_set1_epi8(byte.cast_signed()) })
    }

    /// Returns a register of two words, little-endian.
    #[cfg_attr(optimized, inline(always))]
    fn words(self, low: u64, high: u64) -> Register {
        // SAFETY: the token proves SSE2.
        Register(unsafe { _mm_set_epi64x(high.cast_signed(), low.cast_signed()) })
    }

    #[cfg_attr(optimized, inline(always))]
    fn load_sixteen(self, bytes: &[u8; 16]) -> Register {
        // SAFETY: the array has sixteen bytes.
        unsafe { Register::load_at(self, bytes, 0) }
    }

    /// Returns the marked lanes of a block as a mask.
    #[cfg_attr(optimized, inline(always))]
    fn mask(self, [a, b, c, d]: Block) -> u64 {
        a.mask() | b.mask() << 16 | c.mask() << 32 | d.mask() << 48
    }

    /// Marks the lanes with a byte from `start` to `start + more`.
    #[cfg_attr(optimized, inline(always))]
    fn in_range(self, bytes: Register, (start, more): (u8, u8)) -> Register {
        let from_start = bytes.sub(self.all(start));
        from_start.min(self.all(more)).eq(from_start)
    }

    /// Marks the lanes of ASCII letters, digits, `-`, `.`, `_` and the byte in all lanes of `other`.
    #[cfg_attr(optimized, inline(always))]
    fn usual(self, bytes: Register, other: Register) -> Register {
        // An addition moves a range to the lowest signed numbers, so one comparison tests it. The two cases of a letter
        // differ in one bit, and setting that bit makes no other byte a letter.
        let letters = (bytes | self.all(0x20)).add(self.all(0x80 - b'a')).below(self.all(0x80 + 26));
        // The bytes from `-` to `9` are `-`, `.`, `/` and the digits; `/` is excluded afterwards.
        let digits = bytes.add(self.all(0x80 - b'-')).below(self.all(0x80 + 13));
        let digits = digits.without(bytes.eq(self.all(b'/')));
        letters | digits | (bytes.eq(self.all(b'_')) | bytes.eq(other))
    }

    /// Marks the lanes that are members of the set. Returns `None` if the set has to be looked up byte by byte.
    #[cfg_attr(optimized, inline(always))]
    fn members(self, block: Block, class: &Class) -> Option<Block> {
        let mut members = [self.all(0); 4];
        match class {
            Class::Usual(other, _) => {
                for i in 0..4 {
                    members[i] = self.usual(block[i], *other);
                }
            }
            Class::Ranges(ranges, used, _) => {
                for &range in &ranges[..*used] {
                    for i in 0..4 {
                        members[i] = members[i] | self.in_range(block[i], range);
                    }
                }
            }
            Class::Any(..) => return None,
        }
        Some(members)
    }

    /// Marks the lanes of `mask`.
    #[cfg_attr(optimized, inline(always))]
    fn spread(self, mask: u64) -> Block {
        let bit = self.words(0x8040_2010_0804_0201, 0x8040_2010_0804_0201);
        let mut marks = [bit; 4];
        for i in 0..4 {
            let bits = self.words(mask >> (16 * i) & 0xFFFF, 0);
            let pairs = bits.pairs(bits);
            let fours = pairs.fours(pairs);
            marks[i] = (fours.eights(fours) & bit).eq(bit);
        }
        marks
    }

    /// Returns the value of each hexadecimal digit. Other lanes get 16 or more.
    #[cfg_attr(optimized, inline(always))]
    fn digits(self, bytes: Register) -> Register {
        // The addition makes `0` to `9` 0xF6 to 0xFF and bytes below `0` less. The saturating subtraction keeps the two apart.
        let decimal = bytes.add(self.all(0xFF - b'9')).sub_saturating(self.all(6)).sub(self.all(0xF0));
        let letter = (bytes & self.all(!0x20)).sub(self.all(b'A'));
        decimal.min(letter.add_saturating(self.all(10)))
    }

    /// Returns the marks of the escapes that start in `bytes`, and in each of their lanes the byte that the digits spell.
    /// `digits` has the values of the digits in `bytes`, and `next` those in the register after it.
    #[cfg_attr(optimized, inline(always))]
    fn escapes_in(self, bytes: Register, digits: Register, next: Register) -> [Register; 2] {
        let first = digits.down_by_one() | next.up_by_fifteen();
        let second = digits.down_by_two() | next.up_by_fourteen();
        // The 16-bit shift would move the upper bits of a lane into the next byte, so they are cleared first.
        let values = (first & self.all(0x0F)).times_sixteen() | second;
        let worse = first | second;
        [worse.min(self.all(0x0F)).eq(worse) & bytes.eq(self.all(b'%')), values]
    }

    /// Returns the members of the usual set among the sixteen bytes of `input` from offset `at` on, as a mask of lanes of the
    /// input. `other` has the set's additional byte in all lanes.
    ///
    /// # Safety
    ///
    /// `at + 16 <= input.len() <= 64`.
    #[cfg_attr(optimized, inline(always))]
    unsafe fn usual_at(self, input: &[u8], at: usize, other: Register) -> u64 {
        // SAFETY: the caller guarantees `at + 16 <= input.len()`.
        self.usual(unsafe { Register::load_at(self, input, at) }, other).mask() << at
    }

    /// Returns the lanes of `block` and 64 zeros, so that 64 bytes are readable from any lane on.
    #[cfg_attr(optimized, inline(always))]
    fn padded(self, block: Block) -> [u8; 128] {
        let mut bytes = [0; 128];
        bytes[..64].copy_from_slice(&self.bytes(block));
        bytes
    }
}

/// Copies `N` times sixteen bytes.
///
/// # Safety
///
/// `16 * N` bytes are readable at `from` and writable at `to`, and they do not overlap.
#[cfg_attr(optimized, inline(always))]
unsafe fn copy<const N: usize>(from: *const u8, to: *mut u8) {
    for i in 0..N {
        // SAFETY: the caller guarantees `16 * N` readable and writable bytes, and `i < N`.
        unsafe { to.cast::<[u8; 16]>().add(i).write(from.cast::<[u8; 16]>().add(i).read()) };
    }
}

/// Writes the lanes of `rest` to `to`, run by run. Each run is written as `N` times sixteen bytes from its start, and the next
/// run overwrites the surplus.
///
/// # Safety
///
/// `16 * N` bytes are readable in `bytes` from each lane of `rest` on, and `64 + 16 * N` bytes are writable at `to`.
#[cfg_attr(optimized, inline(always))]
unsafe fn copy_runs<const N: usize>(bytes: &[u8; 128], mut rest: u64, to: *mut u8) {
    let mut written = 0;
    while rest != 0 {
        let start = rest.trailing_zeros() as usize;
        let len = (!(rest >> start)).trailing_zeros() as usize;
        // SAFETY: the caller guarantees `16 * N` readable bytes from lane `start` on. `written < 64`, so as many are
        // writable at that offset.
        unsafe { copy::<N>(bytes.as_ptr().add(start), to.add(written)) };
        written += len;
        rest &= !low_mask(start + len);
    }
}

/// Writes `16 * N` bytes to `to`, with the lanes in `escape` as escapes. Each escape is written over the copy before it, followed
/// by `16 * N` bytes with the lanes after it.
///
/// # Safety
///
/// `16 * N` bytes are readable in `bytes` from its start and after each lane of `escape`. At `to`, `16 * N` bytes are writable,
/// and after the three bytes of each escape as many.
#[cfg_attr(optimized, inline(always))]
unsafe fn escape_sparse<const N: usize>(
    bytes: &[u8; 128],
    escape: u64,
    escapes: &[[u8; 4]; 256],
    to: *mut u8,
) {
    // SAFETY: the caller guarantees the readable bytes after each lane, and the writable bytes after each escape, which
    // starts at offset `at`.
    unsafe {
        copy::<N>(bytes.as_ptr(), to);
        for (before, lane) in drive::bits(escape).enumerate() {
            let at = lane + 2 * before;
            to.add(at).cast::<[u8; 4]>().write(escapes[usize::from(bytes[lane])]);
            copy::<N>(bytes.as_ptr().add(lane + 1), to.add(at + 3));
        }
    }
}

/// The width of the window of [`compress_lanes`]: up to 63 lanes, and a block written after them.
const COMPRESSED: usize = 128;

/// Writes the lanes of `rest`, which are among the first `lanes` lanes, and initialises as many bytes. `left` is their number. Many
/// kernels use this, so it is not inlined.
///
/// # Safety
///
/// `rest` has no lanes from lane `lanes` on, `lanes <= 64`, and [`COMPRESSED`] bytes are writable at `to`.
#[inline(never)]
unsafe fn compress_lanes(bytes: &[u8; 128], rest: u64, left: usize, lanes: usize, to: *mut u8) {
    /// The largest number of dropped lanes for which the lanes that stay are copied run by run. With more, copying them one by
    /// one is faster.
    const SPARSE: usize = 20;
    /// A mask of every third lane from lane 0 on.
    const THIRDS: u64 = 0x9249_2492_4924_9249;
    if lanes <= 16 {
        // SAFETY: `rest` is in the first sixteen lanes, so sixteen of the 128 bytes are readable from each, and 128 bytes are
        // writable.
        unsafe { copy_runs::<1>(bytes, rest, to) };
    } else if rest == THIRDS.wrapping_shl(rest.trailing_zeros()) {
        // The block is nothing but escapes, such as those of Chinese text, so the lanes that stay are known. After the last
        // come zeros.
        let first = rest.trailing_zeros() as usize;
        for i in 0..22 {
            // SAFETY: `i < 22`, and 128 bytes are writable.
            unsafe { to.add(i).write(bytes[(first + 3 * i) % 128]) };
        }
    } else if lanes - left > SPARSE {
        for (written, lane) in drive::bits(rest).enumerate() {
            // SAFETY: `rest` has at most 64 lanes, so `written < 64`, and 128 bytes are writable.
            unsafe { to.add(written).write(bytes[lane]) };
        }
    } else {
        // SAFETY: 64 of the 128 bytes are readable from each lane on, and 128 bytes are writable.
        unsafe { copy_runs::<4>(bytes, rest, to) };
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
/// `escape` has no lanes from lane `lanes` on, `lanes <= 64`, and `3 * 64 + 1` bytes are writable at `to`.
#[inline(never)]
unsafe fn expand_dense(bytes: &[u8; 128], escape: u64, lanes: usize, escapes: &[[u8; 4]; 256], to: *mut u8) {
    if escape == u64::MAX {
        // An array of 128 bytes has a chunk of 64 at its start, so this always continues.
        let Some(bytes) = bytes.first_chunk() else { return };
        // SAFETY: the caller guarantees `3 * 64 + 1` writable bytes.
        return unsafe { escape_block(bytes, to, escapes) };
    }
    let mut rest = escape;
    let escaped = |_| {
        let lowest = rest as u32;
        rest >>= 1;
        lowest
    };
    // SAFETY: the caller guarantees `3 * 64 + 1` writable bytes and `lanes <= 64`.
    unsafe { triple(&bytes[..lanes], to, escapes, escaped) };
}

impl Tier for Sse2 {
    type Wide = Self;
    type Narrow = Self;
}

impl Isa for Sse2 {
    const LANES: usize = 64;
    const WORD: bool = true;
    // Few CPUs without SSSE3 are left, and such loops would make this tier's code much larger.
    const LOOPS_IN_OTHER_MODES: bool = false;
    type Block = Block;
    type Class = Class;
    type Look = u64;
    type Spelling = HexCase;
    type Members = u64;
    type Token = Self;

    #[cfg_attr(optimized, inline(always))]
    fn new(token: Self) -> Self {
        token
    }

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
        let (whole, rest) = input.as_chunks::<16>();
        let mut block = [self.all(0); 4];
        if let Some(quarters) = whole.first_chunk::<4>() {
            for i in 0..4 {
                block[i] = self.load_sixteen(&quarters[i]);
            }
        } else {
            let [low, high] = words(rest);
            let rest = self.words(low, high);
            for i in 0..4 {
                match whole.get(i) {
                    Some(bytes) => block[i] = self.load_sixteen(bytes),
                    None if i == whole.len() => block[i] = rest,
                    None => {}
                }
            }
        }
        block
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
            // SAFETY: a chunk has sixteen writable bytes.
            unsafe { quarter.store(out.as_mut_ptr()) };
        }
        bytes
    }

    #[cfg_attr(optimized, inline(always))]
    fn look(self, block: Block, class: &Class) -> u64 {
        self.member(block, class)
    }

    #[cfg_attr(optimized, inline(always))]
    fn found(self, members: u64) -> u64 {
        members
    }

    #[cfg_attr(optimized, inline(always))]
    fn member(self, block: Block, class: &Class) -> u64 {
        if let Class::Usual(other, ..=16) = class {
            return self.usual(block[0], *other).mask();
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
            all = all & (a & b & (c & d));
        }
        all.mask() == 0xFFFF
    }

    #[cfg_attr(optimized, inline(always))]
    fn lacks(self, input: &[u8], byte: u8) -> bool {
        let (len, byte) = (input.len(), self.all(byte));
        let found = if len < 16 {
            // The zeros after the input do not match, because no caller checks for zero.
            let [low, high] = words(input);
            self.words(low, high).eq(byte)
        } else if len <= 64 {
            // Four overlapping pieces cover the input, so there is no branch on the number of pieces.
            let second = len / 32 * 16;
            let mut found = self.all(0);
            for at in [0, second, len - 16 - second, len - 16] {
                // SAFETY: `len` is from 16 to 64, so each offset is at most `len - 16`.
                found = found | unsafe { Register::load_at(self, input, at) }.eq(byte);
            }
            found
        } else {
            return false;
        };
        found.mask() == 0
    }

    #[cfg_attr(optimized, inline(always))]
    fn eq(self, mut block: Block, byte: u8) -> u64 {
        for i in 0..4 {
            block[i] = block[i].eq(self.all(byte));
        }
        self.mask(block)
    }

    #[cfg_attr(optimized, inline(always))]
    fn lower(self, mut block: Block) -> u64 {
        for i in 0..4 {
            block[i] = block[i].above(self.all(b'Z'));
        }
        self.mask(block)
    }

    #[cfg_attr(optimized, inline(always))]
    fn replace(self, mut block: Block, from: u8, to: u8) -> Block {
        for i in 0..4 {
            block[i] = block[i].blend(block[i].eq(self.all(from)), self.all(to));
        }
        block
    }

    #[cfg_attr(optimized, inline(always))]
    fn escapes(self, block: Block, input: &[u8]) -> Escapes<Block> {
        let mut found = Escapes { valid: 0, values: block, decoded: block, marks: block };
        if input.len() <= 16 {
            let digits = self.digits(block[0]);
            // The lanes after the register count as bytes that are not digits.
            let [valid, values] = self.escapes_in(block[0], digits, self.all(0xFF));
            found.valid = valid.mask();
            found.values[0] = values;
            found.decoded[0] = block[0].blend(valid, values);
            return found;
        }
        let [first, second] = lookahead::<Self>(input);
        let next = u16::from_le_bytes([hex::value(first), hex::value(second)]);
        let mut digits = [self.words(u64::from(next), 0); 5];
        for i in 0..4 {
            digits[i] = self.digits(block[i]);
        }
        for i in 0..4 {
            let [valid, values] = self.escapes_in(block[i], digits[i], digits[i + 1]);
            found.marks[i] = valid;
            found.values[i] = values;
            found.decoded[i] = block[i].blend(valid, values);
        }
        found.valid = self.mask(found.marks);
        found
    }

    #[cfg_attr(optimized, inline(always))]
    fn select(self, mask: u64, mut block: Block, other: Block) -> Block {
        let marks = self.spread(mask);
        for i in 0..4 {
            block[i] = block[i].blend(marks[i], other[i]);
        }
        block
    }

    #[cfg_attr(optimized, inline(always))]
    fn decode_some(self, block: Block, found: &Escapes<Block>, class: &Class, members: bool) -> (u64, Block) {
        let found_members = match class {
            Class::Usual(other, _) => {
                let mut members = found.values;
                for i in 0..4 {
                    members[i] = self.usual(members[i], *other);
                }
                self.mask(members)
            }
            Class::Any(set, _) | Class::Ranges(.., set) => {
                looked_up(&self.bytes(found.values), found.valid, set)
            }
        };
        let decoded = found.valid & if members { found_members } else { !found_members };
        (decoded, self.select(decoded, block, found.values))
    }

    #[cfg_attr(optimized, inline(always))]
    fn upper(self, mask: u64, mut block: Block, _: &mut bool) -> Block {
        let marks = self.spread(mask);
        for i in 0..4 {
            // The marked lanes are hexadecimal digits, and of these only lower-case letters are above `Z`.
            let letters = block[i].above(self.all(b'Z')) & marks[i];
            block[i] = block[i].without(letters & self.all(0x20));
        }
        block
    }

    #[cfg_attr(optimized, inline(always))]
    fn store(self, block: Block, lanes: Lanes<Self>, out: &mut Cursor<'_>) {
        let mut stage = Stage::new();
        let mut window = out.window(64, &mut stage);
        let start = window.as_mut_ptr();
        for i in 0..4 {
            // SAFETY: `16 * i + 16 <= 64`, and the window has 64 writable bytes.
            unsafe { block[i].store(start.add(16 * i)) };
        }
        // SAFETY: the loop initialised all 64 bytes of the window, and by the invariant of `Lanes` the count is at most 64.
        unsafe { window.keep(lanes.count()) };
    }

    #[cfg_attr(optimized, inline(always))]
    fn store_whole<const M: usize>(self, blocks: [Block; M], out: &mut Cursor<'_>) {
        let mut stage = Stage::new();
        let mut window = out.window(M * 64, &mut stage);
        let start = window.as_mut_ptr();
        for (m, block) in blocks.into_iter().enumerate() {
            for (i, quarter) in block.into_iter().enumerate() {
                // SAFETY: `64 * m + 16 * i + 16 <= M * 64`, and the window has `M * 64` writable bytes.
                unsafe { quarter.store(start.add(64 * m + 16 * i)) };
            }
        }
        // SAFETY: the loops initialised all `M * 64` bytes of the window.
        unsafe { window.keep(M * 64) };
    }

    #[cfg_attr(optimized, inline(always))]
    fn compress(self, block: Block, drop: u64, lanes: Lanes<Self>, out: &mut Cursor<'_>) {
        let rest = lanes.mask() & !drop;
        let left = count(rest);
        let mut stage = Stage::new();
        let mut window = out.window(COMPRESSED, &mut stage);
        // SAFETY: `rest` was masked by `lanes`, whose count is at most 64 by the invariant of `Lanes`, and the window has
        // `COMPRESSED` bytes. The function initialises `left` bytes, one for each lane of `rest`.
        unsafe {
            compress_lanes(&self.padded(block), rest, left, lanes.count(), window.as_mut_ptr());
            window.keep(left);
        }
    }

    #[cfg_attr(optimized, inline(always))]
    fn spelling(self, case: HexCase) -> HexCase {
        case
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
        const SPARSE: usize = 16;
        // If lane 63 is the last of `SPARSE` lanes to escape, a block is copied after its three bytes.
        const { assert!(63 + 2 * (SPARSE - 1) + 3 + 64 <= WINDOW && 3 * 64 < WINDOW) };
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
            unsafe { escape_sparse::<1>(&bytes, escape, escapes, start) };
        } else if escaped <= SPARSE {
            // SAFETY: 64 of the 128 bytes are readable after each lane. The assertion above shows that 64 bytes are writable
            // after each of at most `SPARSE` escapes.
            unsafe { escape_sparse::<4>(&bytes, escape, escapes, start) };
        } else {
            // SAFETY: the assertion above shows that the window has `3 * 64 + 1` bytes. `escape` was masked by `lanes`, whose
            // count is at most 64 by the invariant of `Lanes`.
            unsafe { expand_dense(&bytes, escape, lanes.count(), escapes, start) };
        }
        // SAFETY: each branch wrote `lanes` bytes and two more for each escape without a gap.
        unsafe { window.keep(lanes.count() + 2 * escaped) };
    }
}
