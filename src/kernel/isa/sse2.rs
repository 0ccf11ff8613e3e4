//! SSE2, the baseline of x86-64: 64 lanes in four registers.
//!
//! SSE2 has no byte shuffle. Most sets are letters, digits, `-`, `.`, `_` and at most one byte more, and these take twelve operations a
//! register (lab: sse2-scalar). Other sets are looked up byte by byte. If few lanes are dropped or escaped, the lanes between them are
//! copied together, otherwise one by one. "lab: NAME" names the page docs/lab/DATE-NAME.md, which has the measurements.

#[cfg(target_arch = "x86")]
use core::arch::x86::*;
#[cfg(target_arch = "x86_64")]
use core::arch::x86_64::*;

pub(super) use super::ladder::encode;
use super::token::Sse2;
use super::vector::{each_one_intrinsic, operators};
use crate::hex::{self, HexCase};
use crate::kernel::cursor::{Cursor, MAX_WINDOW, OutputSpan, Stage, triple};
use crate::kernel::drive::{
    Features, Found, Isa, Lanes, Other, Plain, Tier, bits, decode, lookahead, low_mask,
};
use crate::kernel::job::{DecodeJob, Outcome};
use crate::kernel::simd::{self, Sets};
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

/// A set, prepared for lookups.
#[derive(Clone, Copy)]
pub(crate) enum Class {
    /// A set of letters, digits, `-`, `.`, `_` and at most one more byte, which is in all lanes of the register. Without one
    /// more byte, all lanes are `-`.
    Common(Register),
    /// Any other set.
    Any(ByteSet),
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
        // SAFETY: the token proves SSE2, and the array has sixteen readable bytes.
        Register(unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) })
    }

    /// Returns the marked lanes of a block as a mask.
    #[cfg_attr(optimized, inline(always))]
    fn mask(self, [a, b, c, d]: Block) -> u64 {
        a.mask() | b.mask() << 16 | c.mask() << 32 | d.mask() << 48
    }

    /// Marks the lanes of ASCII letters, digits, `-`, `.`, `_` and the byte in all lanes of `other`.
    #[cfg_attr(optimized, inline(always))]
    fn common(self, bytes: Register, other: Register) -> Register {
        // An addition moves a range to the lowest signed numbers, so one comparison tests it. The two cases of a letter
        // differ in one bit, and setting that bit makes no other byte a letter.
        let letters = (bytes | self.all(0x20)).add(self.all(0x80 - b'a')).below(self.all(0x80 + 26));
        // The bytes from `-` to `9` are `-`, `.`, `/` and the digits; `/` is excluded afterwards.
        let digits = bytes.add(self.all(0x80 - b'-')).below(self.all(0x80 + 13));
        let digits = digits.without(bytes.eq(self.all(b'/')));
        letters | digits | (bytes.eq(self.all(b'_')) | bytes.eq(other))
    }

    /// Marks the lanes of a block that are members of the set of [`Class::Common`].
    #[cfg_attr(optimized, inline(always))]
    fn all_common(self, mut block: Block, other: Register) -> Block {
        for i in 0..4 {
            block[i] = self.common(block[i], other);
        }
        block
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
        // The addition moves `0` to `9` to the top, 0xF6 to 0xFF. The saturating subtraction wraps no other byte to the
        // top.
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

    /// Returns the lanes of `block` and 64 zeros, so that 64 bytes are readable from any lane on.
    #[cfg_attr(optimized, inline(always))]
    fn padded(self, block: Block) -> [u8; 128] {
        let mut bytes = [0; 128];
        bytes[..64].copy_from_slice(&self.bytes(block));
        bytes
    }
}

/// Copies 64 bytes.
///
/// # Safety
///
/// 64 bytes are readable at `from` and writable at `to`, and they do not overlap.
#[cfg_attr(optimized, inline(always))]
unsafe fn copy(from: *const u8, to: *mut u8) {
    for i in 0..4 {
        // SAFETY: the caller guarantees 64 readable and writable bytes.
        unsafe { to.cast::<[u8; 16]>().add(i).write(from.cast::<[u8; 16]>().add(i).read()) };
    }
}

/// Returns the lanes that are members of `set`. Many kernels use it for rare sets, so it is not inlined.
#[inline(never)]
fn looked_up(bytes: &[u8; 64], set: &ByteSet) -> u64 {
    bytes.iter().enumerate().fold(0, |mask, (i, &byte)| mask | u64::from(set.contains(byte)) << i)
}

impl Tier for Sse2 {
    type Wide = Self;
    type Narrow = Self;
}

// The *ladders* (`drive/tier.rs`) choose the code for an input by its length and mode. The ladder of encoding is in `ladder.rs`.

/// Decodes a value. In any mode, this function copies an input of at most two blocks that decoding leaves unchanged.
/// The copy needs so few registers that none has to be saved on the stack (lab: kernels). Other inputs have functions
/// of their own.
#[cfg_attr(optimized, inline(always))]
pub(super) fn decode<'c>(tier: Sse2, job: &DecodeJob, input: &[u8], out: OutputSpan<'c>) -> Outcome<'c> {
    if let Some(copied) = decode::copy_short(tier, job, input, out) {
        return copied;
    }
    if job.is_plain() {
        tier.decode_by::<decode::AnyLength<Plain>>(job, input, out)
    } else {
        tier.decode_by::<decode::AnyLength<Other>>(job, input, out)
    }
}

impl Isa for Sse2 {
    const LANES: usize = 64;
    type Block = Block;
    type Class = Class;
    type SetLookup = u64;
    type Spelling = HexCase;
    type Members = u64;
    type Token = Self;

    #[cfg_attr(optimized, inline(always))]
    fn new(token: Self) -> Self {
        token
    }

    #[cfg_attr(optimized, inline(always))]
    fn class(self, set: &ByteSet) -> Class {
        match set.common_and_one() {
            Some(other) => Class::Common(self.all(other)),
            None => Class::Any(*set),
        }
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
    fn load_ends(self, input: &[u8]) -> Option<Block> {
        let (first, last) = (input.first_chunk()?, input.last_chunk()?);
        if input.len() > 64 {
            return None;
        }
        // Four pieces cover an input of any length, because they may overlap.
        let second = input.len() / 32 * 16;
        let more = [second, input.len() - 16 - second].map(|at| input[at..].first_chunk().unwrap_or(first));
        Some([first, more[0], more[1], last].map(|bytes| self.load_sixteen(bytes)))
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
    fn members_of_short(self, input: &[u8], class: &Class) -> Option<u64> {
        self.all_members([self.load_ends(input)?], class).then_some(u64::MAX)
    }

    #[cfg_attr(optimized, inline(always))]
    fn look_up_set(self, block: Block, class: &Class) -> u64 {
        match class {
            Class::Common(other) => self.mask(self.all_common(block, *other)),
            Class::Any(set) => looked_up(&self.bytes(block), set),
        }
    }

    #[cfg_attr(optimized, inline(always))]
    fn members_in(self, members: u64) -> u64 {
        members
    }

    #[cfg_attr(optimized, inline(always))]
    fn members_from_mask(self, mask: u64) -> u64 {
        mask
    }

    #[cfg_attr(optimized, inline(always))]
    fn all_members<const M: usize>(self, blocks: [Block; M], class: &Class) -> bool {
        let Class::Common(other) = class else { return false };
        let mut all = self.all(0xFF);
        for block in blocks {
            let [a, b, c, d] = self.all_common(block, *other);
            all = all & (a & b & (c & d));
        }
        all.mask() == 0xFFFF
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
    fn hex_digits(self, mut block: Block) -> u64 {
        for i in 0..4 {
            let digits = self.digits(block[i]);
            block[i] = digits.min(self.all(0x0F)).eq(digits);
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
    fn find(self, block: Block, input: &[u8]) -> Found<Block> {
        let mut found = Found { percent: 0, marks: block, wrong: block, values: block, decoded: block };
        let next = u16::from_le_bytes(lookahead::<Self>(input).map(hex::value));
        let mut digits = [self.words(u64::from(next), 0); 5];
        for i in 0..4 {
            digits[i] = self.digits(block[i]);
        }
        for i in 0..4 {
            let [valid, values] = self.escapes_in(block[i], digits[i], digits[i + 1]);
            found.marks[i] = block[i].eq(self.all(b'%'));
            found.wrong[i] = found.marks[i].without(valid);
            found.values[i] = values;
            found.decoded[i] = block[i].blend(valid, values);
        }
        found.percent = self.mask(found.marks);
        found
    }

    #[cfg_attr(optimized, inline(always))]
    fn any_wrong<const N: usize>(self, found: [&Found<Block>; N]) -> bool {
        found.iter().fold(0, |wrong, found| wrong | self.mask(found.wrong)) != 0
    }

    #[cfg_attr(optimized, inline(always))]
    fn correct(self, found: &Found<Block>) -> (u64, Block) {
        (self.mask(found.wrong), found.decoded)
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
    fn decode_some(self, block: Block, found: &Found<Block>, class: &Class, members: bool) -> (u64, Block) {
        let valid = found.percent & !self.mask(found.wrong);
        let found_members = match class {
            Class::Common(_) => self.look_up_set(found.values, class),
            Class::Any(set) => {
                let bytes = self.bytes(found.values);
                bits(valid).fold(0, |found, lane| found | u64::from(set.contains(bytes[lane])) << lane)
            }
        };
        let decoded = valid & if members { found_members } else { !found_members };
        (decoded, self.select(decoded, block, found.values))
    }

    #[cfg_attr(optimized, inline(always))]
    fn upper(self, mask: u64, mut block: Block) -> Block {
        let marks = self.spread(mask);
        for i in 0..4 {
            // The marked lanes are hexadecimal digits, and of these only lower-case letters are above `Z`.
            let letters = block[i].above(self.all(b'Z')) & marks[i];
            block[i] = block[i].without(letters & self.all(0x20));
        }
        block
    }

    #[cfg_attr(optimized, inline(always))]
    fn store_all<const M: usize>(self, blocks: [Block; M], last: Lanes<Self>, out: &mut Cursor<'_>) {
        const { assert!(M > 0, "there is a last block") };
        let mut stage = Stage::new();
        let mut window = out.window(M * 64, &mut stage);
        let start = window.as_mut_ptr();
        for (m, block) in blocks.into_iter().enumerate() {
            for (i, quarter) in block.into_iter().enumerate() {
                // SAFETY: `64 * m + 16 * i + 16 <= M * 64`, and the window has `M * 64` writable bytes.
                unsafe { quarter.store(start.add(64 * m + 16 * i)) };
            }
        }
        // SAFETY: the loops initialised all `M * 64` bytes of the window. By the invariant of `Lanes`, `last` has at most 64 lanes, so
        // its padding is no more than one block, and `M` is at least one.
        unsafe { window.keep(M * 64 - last.padding()) };
    }

    #[cfg_attr(optimized, inline(always))]
    fn compress(self, block: Block, drop: u64, lanes: Lanes<Self>, out: &mut Cursor<'_>) {
        /// The largest number of dropped lanes for which the lanes between them are copied run by run. With more, most runs are one lane.
        const SPARSE: u32 = 24;
        let (bytes, mut rest) = (self.padded(block), lanes.mask() & !drop);
        let mut stage = Stage::new();
        let mut window = out.window(64 + 16, &mut stage);
        let (start, mut written) = (window.as_mut_ptr(), 0);
        // SAFETY: `rest` has at most 64 lanes, by the invariant of `Lanes`. Each run is written where the one before ends, and the window
        // has sixteen bytes more than the lanes. A read of sixteen bytes starts at a lane below 64, and `bytes` has 128.
        unsafe {
            if drop.count_ones() > SPARSE {
                for lane in bits(rest) {
                    start.add(written).write(bytes[lane]);
                    written += 1;
                }
                rest = 0;
            }
            while rest != 0 {
                let from = rest.trailing_zeros() as usize;
                let len = (!(rest >> from)).trailing_zeros() as usize;
                for done in (0..len).step_by(16) {
                    let sixteen = bytes.as_ptr().add(from + done).cast::<[u8; 16]>().read();
                    start.add(written + done).cast::<[u8; 16]>().write(sixteen);
                }
                written += len;
                rest &= !low_mask(from + len);
            }
            window.keep(written);
        }
    }

    #[cfg_attr(optimized, inline(always))]
    fn compress_all<const M: usize>(
        self,
        blocks: [Block; M],
        drops: [u64; M],
        lanes: Lanes<Self>,
        out: &mut Cursor<'_>,
    ) {
        for i in 0..M {
            self.compress(blocks[i], drops[i], if i == 0 { lanes } else { Lanes::ALL }, out);
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
        members: u64,
        lanes: Lanes<Self>,
        case: HexCase,
        out: &mut Cursor<'_>,
    ) {
        /// The largest number of escapes for which the lanes between them are copied. With more, the block is written
        /// byte by byte, without a branch on the content (lab: sse2-scalar).
        const SPARSE: u32 = 16;
        let escape = !members & lanes.mask();
        let (bytes, escapes) = (self.padded(block), case.escapes());
        let mut stage = Stage::new();
        let mut window = out.window(MAX_WINDOW, &mut stage);
        let start = window.as_mut_ptr();
        // SAFETY: a block has at most 64 lanes, each of which becomes at most three bytes, and the window has 64 bytes more. A copy of 64
        // bytes starts at lane 64 at most, and `bytes` has 128. Each branch initialises all bytes that it keeps.
        unsafe {
            if escape.count_ones() > SPARSE {
                let mut rest = escape;
                let escaped = |_| {
                    let lowest = rest as u32;
                    rest >>= 1;
                    lowest
                };
                let len = triple(&bytes[..lanes.count()], start, escapes, escaped);
                window.keep(len);
                return;
            }
            // Each round writes an escape over the end of the copy so far, and after it all lanes that follow.
            copy(bytes.as_ptr(), start);
            for (before, lane) in bits(escape).enumerate() {
                let at = start.add(lane + 2 * before);
                at.cast::<[u8; 4]>().write(escapes[usize::from(bytes[lane])]);
                copy(bytes.as_ptr().add(lane + 1), at.add(3));
            }
            window.keep(lanes.count() + 2 * escape.count_ones() as usize);
        }
    }
}

/// Each byte is looked up by itself, and the sets that hold it are bits of its lane.
impl simd::Simd for Sse2 {
    const LOOKS_UP: bool = false;
    type Block = Block;
    type Classes = Block;

    #[cfg_attr(optimized, inline(always))]
    fn load(self, bytes: &[u8]) -> Block {
        Isa::load(self, bytes)
    }

    #[cfg_attr(optimized, inline(always))]
    fn eq(self, block: Block, byte: u8) -> u64 {
        Isa::eq(self, block, byte)
    }

    #[cfg_attr(optimized, inline(always))]
    fn high(self, block: Block) -> u64 {
        self.mask(block)
    }

    #[cfg_attr(optimized, inline(always))]
    fn classify(self, block: Block, sets: &Sets) -> Block {
        Isa::load(self, &self.bytes(block).map(|byte| sets.by_byte.as_flattened()[usize::from(byte & 0x7F)]))
    }

    #[cfg_attr(optimized, inline(always))]
    fn both(self, [a, b, c, d]: Block, [e, f, g, h]: Block) -> Block {
        [a & e, b & f, c & g, d & h]
    }

    #[cfg_attr(optimized, inline(always))]
    fn masks<const K: usize>(self, classes: Block) -> [u64; K] {
        let mut masks = [0; K];
        for k in 0..K {
            masks[k] = Isa::eq(self, simd::Simd::both(self, classes, [self.all(1 << k); 4]), 1 << k);
        }
        masks
    }
}
