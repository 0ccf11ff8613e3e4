//! AVX-512 with VBMI and VBMI2 (Ice Lake, Zen 4 and later): 64 lanes in one register.
//!
//! Masks are native, partial blocks are masked loads, and lanes are removed by one compress instruction. A set, or the values
//! of digits, are a table of 128 bytes in two registers, looked up by one permutation. Encoding triples 21 lanes at a time:
//! three permutations put the byte or `%`, the high digit and the low digit where they go in each triple, whether the lane is
//! escaped or not, and the digits that are not needed are removed. The compress instruction with a memory operand is slow on
//! Zen 4, so its result goes to a register and is stored whole.

#[cfg(target_arch = "x86")]
use core::arch::x86::*;
#[cfg(target_arch = "x86_64")]
use core::arch::x86_64::*;

use super::tables::BITS;
use super::token::Avx512;
use crate::hex::{self, HexCase};
use crate::kernel::cursor::{Cursor, Stage};
use crate::kernel::drive::{Escapes, Isa, Lanes, OneWidth, lookahead, low_mask};
use crate::set::ByteSet;

/// All ones in the places of the members of a set that are ASCII bytes; and the bits of all others, of which most sets hold
/// none.
#[derive(Clone, Copy)]
pub(crate) struct Class {
    ascii: [__m512i; 2],
    high: [u64; 2],
    /// The rows of the same, for a block alone: they need no work before.
    rows: [__m512i; 2],
}

/// The lanes that one group of [`Isa::expand`] triples.
const GROUP: usize = 21;

/// A triple for each lane.
const TRIPLED: usize = 3 * 64;

/// The first lane of each triple.
const FIRST_OF_THREE: u64 = 0x1249_2492_4924_9249;

/// The lanes that always stay of a group: the first of each triple, and the one after the triples, which is that of the next
/// group, or the last of the block.
const STAY: u64 = FIRST_OF_THREE | 1 << 63;

/// For each group, where its triples come from; the third of each from the second of two registers.
const TRIPLES: [[u8; 64]; 3] = {
    let mut places = [[0; 64]; 3];
    let mut i = 0;
    while i < 3 * 64 {
        let (group, lane) = (i / 64, i % 64);
        places[group][lane] = (group * GROUP + lane / 3) as u8 + if lane % 3 == 2 { 64 } else { 0 };
        i += 1;
    }
    places
};

/// All ones in the first lane of each triple.
const STARTS: [u8; 64] = {
    let mut lanes = [0; 64];
    let mut i = 0;
    while i < 64 {
        lanes[i] = 0xFF;
        i += 3;
    }
    lanes
};

/// The value of each ASCII byte as a high digit, or 15 if it is none, and as a low digit, or 240.
const DIGITS: [[[u8; 64]; 2]; 2] = {
    let mut values = [[[0x0F; 64]; 2], [[0xF0; 64]; 2]];
    let mut byte = 0;
    while byte < 128 {
        if let Some(value) = hex::digit(byte as u8) {
            values[0][byte / 64][byte % 64] = value << 4;
            values[1][byte / 64][byte % 64] = value;
        }
        byte += 1;
    }
    values
};

/// For the first digit of each of 64 escapes that follow one another, and for the second: the byte that it is. Places from 128 on
/// are in the third of three registers, and a permutation of one ignores the upper bits.
const DIGITS_OF_RUN: [[u8; 64]; 2] = {
    let mut places = [[0; 64]; 2];
    let mut i = 0;
    while i < 64 {
        places[0][i] = (3 * i + 1) as u8;
        places[1][i] = (3 * i + 2) as u8;
        i += 1;
    }
    places
};

/// All ones in the lanes of these that come from the third register.
const THIRD_OF_RUN: [[u8; 64]; 2] = {
    let mut lanes = [[0; 64]; 2];
    let mut i = 0;
    while i < 2 * 64 {
        if DIGITS_OF_RUN[i / 64][i % 64] >= 128 {
            lanes[i / 64][i % 64] = 0xFF;
        }
        i += 1;
    }
    lanes
};

/// For each of three registers of such a run, all ones in the lanes that have to be `%`.
const PERCENT_OF_RUN: [[u8; 64]; 3] = {
    let mut lanes = [[0; 64]; 3];
    let mut i = 0;
    while i < 3 * 64 {
        lanes[i / 64][i % 64] = 0xFF;
        i += 3;
    }
    lanes
};

/// Where `lane` is written.
#[cfg_attr(optimized, inline(always))]
fn place(escape: u64, lane: usize) -> usize {
    lane + 2 * (escape & low_mask(lane)).count_ones() as usize
}

impl Avx512 {
    /// Sixteen bytes in each quarter of a register.
    #[cfg_attr(optimized, inline(always))]
    fn quarters(self, bytes: &[u8; 16]) -> __m512i {
        // SAFETY: the token proves AVX-512; sixteen bytes are readable.
        unsafe { _mm512_broadcast_i32x4(_mm_loadu_si128(bytes.as_ptr().cast())) }
    }

    #[cfg_attr(optimized, inline(always))]
    fn whole(self, bytes: &[u8; 64]) -> __m512i {
        // SAFETY: the token proves AVX-512; 64 bytes are readable.
        unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
    }

    #[cfg_attr(optimized, inline(always))]
    fn all(self, byte: u8) -> __m512i {
        // SAFETY: the token proves AVX-512.
        unsafe { _mm512_set1_epi8(byte.cast_signed()) }
    }

    /// Looks up each byte, without its top bit, in a table of 128.
    #[cfg_attr(optimized, inline(always))]
    fn look_up(self, table: [__m512i; 2], block: __m512i) -> __m512i {
        // SAFETY: the token proves AVX-512.
        unsafe { _mm512_permutex2var_epi8(table[0], block, table[1]) }
    }

    /// The top bit is set in the lanes that are members of the set, and only there.
    #[cfg_attr(optimized, inline(always))]
    fn members(self, block: __m512i, class: &Class) -> __m512i {
        let ascii = self.look_up(class.ascii, block);
        // SAFETY: the token proves AVX-512.
        unsafe {
            let [low, high] = class.high;
            if low | high == 0 {
                _mm512_andnot_si512(block, ascii)
            } else {
                let high = self.look_up([self.spread(low), self.spread(high)], block);
                _mm512_mask_mov_epi8(ascii, _mm512_movepi8_mask(block), high)
            }
        }
    }

    /// 64 bytes, all ones in those of the bits of `mask`.
    #[cfg_attr(optimized, inline(always))]
    fn spread(self, mask: u64) -> __m512i {
        // SAFETY: the token proves AVX-512.
        unsafe { _mm512_movm_epi8(mask) }
    }

    /// The bits of the lanes of a group, each at the first lane of its triple.
    #[cfg_attr(optimized, inline(always))]
    fn deposit(self, mask: u64) -> u64 {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the token proves BMI2.
        let places = unsafe { _pdep_u64(mask, FIRST_OF_THREE) };
        #[cfg(target_arch = "x86")]
        // SAFETY: the token proves BMI2. The lower half of the places takes eleven bits.
        let places = unsafe {
            let [low, high] = [FIRST_OF_THREE as u32, (FIRST_OF_THREE >> 32) as u32];
            u64::from(_pdep_u32(mask as u32, low)) | u64::from(_pdep_u32((mask >> 11) as u32, high)) << 32
        };
        places
    }

    /// The lanes of group `i` as escapes, and a byte that is the first of the lane after.
    #[cfg_attr(optimized, inline(always))]
    fn triple(self, i: usize, [starts, high, low]: [__m512i; 3]) -> __m512i {
        let from = self.whole(&TRIPLES[i]);
        // Blending by vectors takes other ports than by masks, which would need those that the permutations fill.
        // SAFETY: the token proves AVX-512.
        unsafe {
            let digits = _mm512_permutex2var_epi8(high, from, low);
            let starts = _mm512_permutexvar_epi8(from, starts);
            _mm512_ternarylogic_epi32::<0xCA>(self.whole(&STARTS), starts, digits)
        }
    }

    /// What the triples are made of: the first byte of each lane, and the digits of all. Of what is looked up for these, the
    /// permutation ignores the upper half and more.
    #[cfg_attr(optimized, inline(always))]
    fn sources(self, starts: __m512i, block: __m512i, case: HexCase) -> [__m512i; 3] {
        let digits = self.quarters(case.digits());
        // SAFETY: the token proves AVX-512.
        unsafe {
            let high = _mm512_permutexvar_epi8(_mm512_srli_epi16::<4>(block), digits);
            [starts, high, _mm512_permutexvar_epi8(block, digits)]
        }
    }

    /// The lanes after each of `block`, by one and by two, when it is at the start of `input`.
    #[cfg_attr(optimized, inline(always))]
    fn lookahead(self, block: __m512i, input: &[u8]) -> [__m512i; 2] {
        if let (Some(first), Some(second)) = (
            input.get(1..).and_then(<[u8]>::first_chunk::<64>),
            input.get(2..).and_then(<[u8]>::first_chunk::<64>),
        ) {
            return [self.whole(first), self.whole(second)];
        }
        let next = u16::from_le_bytes(lookahead::<Self>(input));
        // SAFETY: the token proves AVX-512.
        unsafe {
            let next = _mm512_zextsi128_si512(_mm_cvtsi32_si128(i32::from(next)));
            let next = _mm512_alignr_epi64::<2>(next, block);
            [_mm512_alignr_epi8::<1>(next, block), _mm512_alignr_epi8::<2>(next, block)]
        }
    }

    /// Each of the digits of a run, the first or the second of each escape.
    #[cfg_attr(optimized, inline(always))]
    fn digits_of_run(self, which: usize, [a, b, c]: [__m512i; 3]) -> __m512i {
        let from = self.whole(&DIGITS_OF_RUN[which]);
        let in_third = self.whole(&THIRD_OF_RUN[which]);
        // Joined by vectors: a mask would be kept in a general register, of which the loop around this has none to spare.
        // SAFETY: the token proves AVX-512.
        unsafe {
            let digits = _mm512_permutex2var_epi8(a, from, b);
            let third = _mm512_permutexvar_epi8(from, c);
            _mm512_ternarylogic_epi32::<0xCA>(in_third, third, digits)
        }
    }

    /// What the bytes of `block` are as digits, of which [`DIGITS`] says which.
    #[cfg_attr(optimized, inline(always))]
    fn digits(self, which: usize, block: __m512i) -> __m512i {
        // What is not ASCII is looked up as 0x7F, which is no digit either.
        // SAFETY: the token proves AVX-512.
        let ascii = unsafe { _mm512_min_epu8(block, self.all(0x7F)) };
        let [low, high] = &DIGITS[which];
        self.look_up([self.whole(low), self.whole(high)], ascii)
    }

    /// Writes the first `len` lanes, at most all.
    #[cfg_attr(optimized, inline(always))]
    fn store_low(self, block: __m512i, len: usize, out: &mut Cursor<'_>) {
        if out.room() >= 64 {
            // SAFETY: the token proves AVX-512; there is room for all 64 lanes, which are written, and no more are kept.
            unsafe {
                _mm512_storeu_si512(out.as_mut_ptr().cast(), block);
                out.advance(len.min(64));
            }
        } else {
            let len = len.min(out.room());
            // SAFETY: the token proves AVX-512; there is room for the `len` lanes of the mask, which are written.
            unsafe {
                _mm512_mask_storeu_epi8(out.as_mut_ptr().cast(), low_mask(len), block);
                out.advance(len);
            }
        }
    }

    /// The lanes above `byte`, both below 0x80.
    #[cfg_attr(optimized, inline(always))]
    fn above(self, block: __m512i, byte: u8) -> u64 {
        // SAFETY: the token proves AVX-512.
        unsafe { _mm512_cmpgt_epi8_mask(block, self.all(byte)) }
    }
}

impl OneWidth for Avx512 {}

impl Isa for Avx512 {
    const LANES: usize = 64;
    const TOGETHER: usize = 4;
    const LONGEST_LOOK: usize = 128;
    const TWO_BLOCKS: bool = true;
    const MEDIUM: usize = 256;
    const EXPANDS_ALL: bool = true;
    const DECODES_ALL: bool = true;
    type Block = __m512i;
    type Class = Class;

    #[cfg_attr(optimized, inline(always))]
    fn class(self, set: &ByteSet, _: usize) -> Class {
        let [a, b, c, d] = *set.words();
        let [ascii, high] = set.halves();
        Class {
            ascii: [self.spread(a), self.spread(b)],
            high: [c, d],
            rows: [self.quarters(ascii), self.quarters(high)],
        }
    }

    #[cfg_attr(optimized, inline(always))]
    fn load(self, input: &[u8]) -> __m512i {
        match input.first_chunk::<64>() {
            Some(bytes) => self.whole(bytes),
            // SAFETY: the token proves AVX-512; only the bytes of the mask are read.
            None => unsafe { _mm512_maskz_loadu_epi8(low_mask(input.len()), input.as_ptr().cast()) },
        }
    }

    #[cfg_attr(optimized, inline(always))]
    fn bytes(self, block: __m512i) -> [u8; 64] {
        let mut bytes = [0; 64];
        // SAFETY: the token proves AVX-512; 64 bytes are writable.
        unsafe { _mm512_storeu_si512(bytes.as_mut_ptr().cast(), block) };
        bytes
    }

    #[cfg_attr(optimized, inline(always))]
    fn member(self, block: __m512i, class: &Class) -> u64 {
        // A shuffle gives zero where the byte is above 0x7F: each half of the set sees only its own bytes.
        // SAFETY: the token proves AVX-512.
        unsafe {
            let high = _mm512_shuffle_epi8(class.rows[1], _mm512_xor_si512(block, self.all(0x80)));
            let row = _mm512_or_si512(_mm512_shuffle_epi8(class.rows[0], block), high);
            let half = _mm512_and_si512(_mm512_srli_epi16::<4>(block), self.all(0x0F));
            _mm512_test_epi8_mask(row, _mm512_shuffle_epi8(self.quarters(&BITS), half))
        }
    }

    #[cfg_attr(optimized, inline(always))]
    fn member_of_many(self, block: __m512i, class: &Class) -> u64 {
        // SAFETY: the token proves AVX-512.
        unsafe { _mm512_movepi8_mask(self.members(block, class)) }
    }

    #[cfg_attr(optimized, inline(always))]
    fn all_members<const M: usize>(self, blocks: [__m512i; M], class: &Class) -> bool {
        let mut all = self.all(0xFF);
        for block in blocks {
            // SAFETY: the token proves AVX-512.
            all = unsafe { _mm512_and_si512(all, self.members(block, class)) };
        }
        // SAFETY: the token proves AVX-512.
        unsafe { _mm512_movepi8_mask(all) == u64::MAX }
    }

    #[cfg_attr(optimized, inline(always))]
    fn lacks(self, input: &[u8], byte: u8) -> bool {
        // Of at most 64, a block says it as fast.
        if input.len() <= 64 || input.len() > 128 {
            return false;
        }
        match (input.first_chunk(), input.last_chunk()) {
            (Some(first), Some(last)) => self.none_equal([self.whole(first), self.whole(last)], byte),
            _ => false,
        }
    }

    #[cfg_attr(optimized, inline(always))]
    fn eq(self, block: __m512i, byte: u8) -> u64 {
        // SAFETY: the token proves AVX-512.
        unsafe { _mm512_cmpeq_epi8_mask(block, self.all(byte)) }
    }

    #[cfg_attr(optimized, inline(always))]
    fn lower(self, block: __m512i) -> u64 {
        self.above(block, b'Z')
    }

    #[cfg_attr(optimized, inline(always))]
    fn replace(self, block: __m512i, from: u8, to: u8) -> __m512i {
        self.select(self.eq(block, from), block, self.all(to))
    }

    #[cfg_attr(optimized, inline(always))]
    fn escapes(self, block: __m512i, input: &[u8]) -> Escapes<__m512i> {
        let [first, second] = self.lookahead(block, input);
        let [high, low] = [self.digits(0, first), self.digits(1, second)];
        // SAFETY: the token proves AVX-512.
        unsafe {
            let values = _mm512_or_si512(high, low);
            // The half of each digit that is zero if it is one.
            let bad = _mm512_ternarylogic_epi32::<0xCA>(self.all(0x0F), high, low);
            let valid = _mm512_mask_testn_epi8_mask(self.eq(block, b'%'), bad, bad);
            Escapes { valid, values, decoded: self.select(valid, block, values), marks: block }
        }
    }

    #[cfg_attr(optimized, inline(always))]
    fn all_escapes(self, input: &[u8]) -> Option<__m512i> {
        let [a, b, c] = input.first_chunk::<192>()?.as_chunks::<64>().0 else { return None };
        let parts = [self.whole(a), self.whole(b), self.whole(c)];
        let high = self.digits(0, self.digits_of_run(0, parts));
        let low = self.digits(1, self.digits_of_run(1, parts));
        // SAFETY: the token proves AVX-512.
        unsafe {
            // The half of each digit that is zero if it is one.
            let mut bad = _mm512_ternarylogic_epi32::<0xCA>(self.all(0x0F), high, low);
            for i in 0..3 {
                // What of a lane that has to be `%` differs from that.
                let lanes = self.whole(&PERCENT_OF_RUN[i]);
                let differ = _mm512_ternarylogic_epi32::<0x28>(parts[i], self.all(b'%'), lanes);
                bad = _mm512_or_si512(bad, differ);
            }
            (_mm512_test_epi8_mask(bad, bad) == 0).then_some(_mm512_or_si512(high, low))
        }
    }

    #[cfg_attr(optimized, inline(always))]
    fn select(self, mask: u64, block: __m512i, other: __m512i) -> __m512i {
        // SAFETY: the token proves AVX-512.
        unsafe { _mm512_mask_blend_epi8(mask, block, other) }
    }

    #[cfg_attr(optimized, inline(always))]
    fn decode_some(
        self,
        block: __m512i,
        found: &Escapes<__m512i>,
        class: &Class,
        members: bool,
    ) -> (u64, __m512i) {
        let found_members = self.members(found.values, class);
        // SAFETY: the token proves AVX-512.
        unsafe {
            // Top bits; a mask of those that the set does not say would have to be made elsewhere and moved here.
            let wrong = self.all(if members { 0 } else { 0xFF });
            let right = _mm512_xor_si512(found_members, wrong);
            let decoded = _mm512_mask_cmplt_epi8_mask(found.valid, right, _mm512_setzero_si512());
            (decoded, self.select(decoded, block, found.values))
        }
    }

    #[cfg_attr(optimized, inline(always))]
    fn upper(self, mask: u64, block: __m512i) -> __m512i {
        // Of the digits, only lower-case letters are above `Z`.
        // SAFETY: the token proves AVX-512.
        unsafe {
            let letters = _mm512_mask_cmpgt_epi8_mask(mask, block, self.all(b'Z'));
            _mm512_mask_sub_epi8(block, letters, block, self.all(0x20))
        }
    }

    #[cfg_attr(optimized, inline(always))]
    fn store(self, block: __m512i, lanes: Lanes<Self>, out: &mut Cursor<'_>) {
        self.store_low(block, lanes.count(), out);
    }

    #[cfg_attr(optimized, inline(always))]
    fn store_whole<const M: usize>(self, blocks: [__m512i; M], out: &mut Cursor<'_>) {
        let mut stage = Stage::new();
        let mut window = out.window(M * 64, &mut stage);
        let start = window.as_mut_ptr();
        for (i, block) in blocks.into_iter().enumerate() {
            // SAFETY: the token proves AVX-512; the window is as wide as `M` blocks.
            unsafe { _mm512_storeu_si512(start.add(64 * i).cast(), block) };
        }
        // SAFETY: the loop wrote the whole window.
        unsafe { window.keep(M * 64) };
    }

    #[cfg_attr(optimized, inline(always))]
    fn compress(self, block: __m512i, drop: u64, lanes: Lanes<Self>, out: &mut Cursor<'_>) {
        let keep = lanes.mask() & !drop;
        // The lanes after the kept ones do not matter. They are not zeroed, because Bochs 2.7, which tests this tier on CPUs
        // without it, zeroes everything when all 64 lanes are kept.
        // SAFETY: the token proves AVX-512.
        let kept = unsafe { _mm512_mask_compress_epi8(block, keep, block) };
        self.store_low(kept, keep.count_ones() as usize, out);
    }

    #[cfg_attr(optimized, inline(always))]
    fn expand(
        self,
        block: __m512i,
        input: &[u8],
        escape: u64,
        lanes: Lanes<Self>,
        case: HexCase,
        out: &mut Cursor<'_>,
    ) {
        let escape = escape & lanes.mask();
        let mut stage = Stage::new();
        let mut window = out.window(TRIPLED, &mut stage);
        let start = window.as_mut_ptr();
        // SAFETY: the token proves AVX-512.
        let starts = unsafe { _mm512_mask_mov_epi8(block, escape, self.all(b'%')) };
        let sources = self.sources(starts, block, case);
        // If the input is no more than one group, writing the other groups would double the time.
        let groups = if input.len() <= GROUP && lanes.count() <= GROUP { 1 } else { 3 };
        // SAFETY: the window has room for three groups, and for two digits after them. The groups write `lanes` bytes and two
        // more for each escape, without a gap; a single group does so if `lanes` is no more than its own.
        unsafe {
            for i in 0..3 {
                if i >= groups {
                    break;
                }
                let stay = STAY.wrapping_add(self.deposit(escape >> (GROUP * i)).wrapping_mul(6));
                let kept = _mm512_maskz_compress_epi8(stay, self.triple(i, sources));
                _mm512_storeu_si512(start.add(place(escape, GROUP * i)).cast(), kept);
            }
            if lanes.is_all() {
                // If the last lane stays, they do not count.
                let [_, digits @ ..] = hex::escape(input[63], case);
                start.add(place(escape, 63) + 1).cast::<[u8; 2]>().write_unaligned(digits);
            }
            window.keep(lanes.count() + 2 * escape.count_ones() as usize);
        }
    }

    #[cfg_attr(optimized, inline(always))]
    fn expand_all(self, block: __m512i, input: &[u8], case: HexCase, out: &mut Cursor<'_>) {
        let mut stage = Stage::new();
        let mut window = out.window(TRIPLED, &mut stage);
        let start = window.as_mut_ptr();
        let sources = self.sources(self.all(b'%'), block, case);
        // SAFETY: the token proves AVX-512. The window has room for all, and all is written: the triples of 63 lanes, the first
        // byte of the last, and its digits.
        unsafe {
            for i in 0..3 {
                _mm512_storeu_si512(start.add(3 * GROUP * i).cast(), self.triple(i, sources));
            }
            let [_, digits @ ..] = hex::escape(input[63], case);
            start.add(TRIPLED - 2).cast::<[u8; 2]>().write(digits);
            window.keep(TRIPLED);
        }
    }
}
