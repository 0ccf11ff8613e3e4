//! AVX-512 with VBMI, VBMI2 and VPOPCNTDQ (Ice Lake, Zen 4 and later): 64 lanes in one register.
//!
//! The CPU has mask registers, a masked load reads a partial block, and one compress instruction removes lanes. A set,
//! or the values of digits, is a table of 128 bytes in two registers, which one permutation looks up. Encoding triples
//! 21 lanes at a time: one permutation writes `%`, the high digit and the low digit of each lane to escape. For each
//! other lane, it writes the byte in place of the high digit. A compress instruction removes the `%` and the low digit
//! of lanes that stay. Compressing to memory is slow on Zen 4, so the result goes to a register, which is stored whole
//! (lab: ladders). "lab: NAME" names the page docs/lab/DATE-NAME.md, which has the measurements.

#[cfg(target_arch = "x86")]
use core::arch::x86::*;
#[cfg(target_arch = "x86_64")]
use core::arch::x86_64::*;

use super::tables::BITS;
use super::token::Avx512;
use crate::hex::{self, HexCase};
use crate::kernel::cursor::{Cursor, OutputSpan, Stage, Written};
use crate::kernel::drive::{
    DecodeStep, EncodeStep, Features, Found, Isa, Lanes, Other, PLACED_TOGETHER, Plain, RECORDS_TOGETHER,
    Records, Tier, decode, digits_of, encode, lookahead, low_mask,
};
use crate::kernel::job::{DecodeJob, EncodeJob, Outcome};
use crate::kernel::simd::{self, Sets};
use crate::set::ByteSet;

/// A set, prepared for lookups. `ascii` has a lane for each byte below 128, all ones for members. `high` has a bit for
/// each byte from 128 on, where most sets have no members.
#[derive(Clone, Copy)]
pub(crate) struct Class {
    ascii: [__m512i; 2],
    high: [u64; 2],
    /// The two tables that [`ByteSet::halves`] returns, each in all quarters of a register, for inputs of few blocks. Unlike
    /// `ascii`, they need no preparation (lab: kernels).
    rows: [__m512i; 2],
}

/// The sixteen digits in each quarter of a register, and their case.
#[derive(Clone, Copy)]
pub(crate) struct Spelling {
    digits: __m512i,
    case: HexCase,
}

/// The number of lanes that one group of [`Isa::expand`] triples.
const TRIPLED_TOGETHER: usize = 21;

/// The number of output bytes of a block in which every lane becomes an escape.
const TRIPLED: usize = 3 * 64;

/// The first lane of each triple, as a mask.
const FIRST_OF_THREE: u64 = 0x1249_2492_4924_9249;

/// For each group, the lanes that its triples are made of, as indices into two registers. The second byte of a triple comes from
/// the first register, and the third byte from the second register. In place of an index, the first byte of a triple has `%`.
const TRIPLES: [[u8; 64]; 3] = {
    let mut places = [[0; 64]; 3];
    let mut i = 0;
    while i < 3 * 64 {
        let (group, lane) = (i / 64, i % 64);
        places[group][lane] = [b'%', 0, 64][lane % 3];
        if lane % 3 > 0 {
            places[group][lane] += (group * TRIPLED_TOGETHER + lane / 3) as u8;
        }
        i += 1;
    }
    places
};

/// The value of each ASCII byte as a high digit (shifted) and as a low digit. For bytes that are not digits, both are 255.
const DIGITS: [[[u8; 64]; 2]; 2] = {
    let mut values = [[[0xFF; 64]; 2]; 2];
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

/// The offsets of the first digits of 64 consecutive escapes, and those of the second digits. Offsets from 128 on are in the
/// third of three registers; a permutation of that one register ignores the upper bits.
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

/// For the first digits and for the second, all ones in the lanes whose offset in [`DIGITS_OF_RUN`] is in the third
/// register.
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

/// For each of the three registers of a run of 64 escapes, all ones in the lanes that have to be `%`.
const PERCENT_OF_RUN: [[u8; 64]; 3] = {
    let mut lanes = [[0; 64]; 3];
    let mut i = 0;
    while i < 3 * 64 {
        lanes[i / 64][i % 64] = 0xFF;
        i += 3;
    }
    lanes
};

impl Avx512 {
    /// Returns a register with the sixteen bytes in each quarter.
    #[cfg_attr(optimized, inline(always))]
    fn quarters(self, bytes: &[u8; 16]) -> __m512i {
        // SAFETY: the token proves AVX-512; the array has sixteen readable bytes.
        unsafe { _mm512_broadcast_i32x4(_mm_loadu_si128(bytes.as_ptr().cast())) }
    }

    #[cfg_attr(optimized, inline(always))]
    fn whole(self, bytes: &[u8; 64]) -> __m512i {
        // SAFETY: the token proves AVX-512; the array has 64 readable bytes.
        unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
    }

    #[cfg_attr(optimized, inline(always))]
    fn all(self, byte: u8) -> __m512i {
        // SAFETY: the token proves AVX-512.
        unsafe { _mm512_set1_epi8(byte.cast_signed()) }
    }

    /// Returns a register with `BYTE` in each lane. Unlike the constants of [`Avx512::all`], it is in the program once,
    /// and not once for each function (lab: doors).
    #[cfg_attr(optimized, inline(always))]
    fn every<const BYTE: u8>(self) -> __m512i {
        self.whole(const { &[BYTE; 64] })
    }

    /// Looks up each byte of `block`, without its top bit, in a table of 128 bytes.
    #[cfg_attr(optimized, inline(always))]
    fn look_up(self, table: [__m512i; 2], block: __m512i) -> __m512i {
        // SAFETY: the token proves AVX-512.
        unsafe { _mm512_permutex2var_epi8(table[0], block, table[1]) }
    }

    /// Returns a register with all ones in the lanes of `mask`.
    #[cfg_attr(optimized, inline(always))]
    fn spread(self, mask: u64) -> __m512i {
        // SAFETY: the token proves AVX-512.
        unsafe { _mm512_movm_epi8(mask) }
    }

    /// Moves the bits of the 21 lanes of a group to the first lanes of their triples.
    #[cfg_attr(optimized, inline(always))]
    fn deposit(self, mask: u64) -> u64 {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the token proves BMI2.
        let places = unsafe { _pdep_u64(mask, FIRST_OF_THREE) };
        #[cfg(target_arch = "x86")]
        // SAFETY: the token proves BMI2. The lower half of `FIRST_OF_THREE` has eleven bits, so the upper half takes the bits
        // from the twelfth on.
        let places = unsafe {
            let [low, high] = [FIRST_OF_THREE as u32, (FIRST_OF_THREE >> 32) as u32];
            u64::from(_pdep_u32(mask as u32, low)) | u64::from(_pdep_u32((mask >> 11) as u32, high)) << 32
        };
        places
    }

    /// Returns the triples of the 21 lanes of group `i`. That of a lane is `%`, and this lane of `second` and of `third`.
    #[cfg_attr(optimized, inline(always))]
    fn triple(self, i: usize, [second, third]: [__m512i; 2], case: HexCase) -> __m512i {
        // Lane 63 is not used. Its bit depends on `case`, because a constant mask would cost one more instruction (lab: kernels).
        let places = !FIRST_OF_THREE ^ (case as u64) << 63;
        // SAFETY: the token proves AVX-512. Lanes that are not in the mask keep their index, which is `%`.
        unsafe { _mm512_mask2_permutex2var_epi8(second, self.whole(&TRIPLES[i]), places, third) }
    }

    /// Returns `block` with the high digits in the lanes of `escape`, and the low digits of all lanes. Only the low four bits of an index
    /// of the permutations matter, because `digits` repeats in each quarter.
    #[cfg_attr(optimized, inline(always))]
    fn sources(self, escape: u64, block: __m512i, digits: __m512i) -> [__m512i; 2] {
        // SAFETY: the token proves AVX-512.
        unsafe {
            let high = _mm512_srli_epi16::<4>(block);
            [
                _mm512_mask_permutexvar_epi8(block, escape, high, digits),
                _mm512_permutexvar_epi8(block, digits),
            ]
        }
    }

    /// Returns the lanes one and two after each lane of `block`, which is at the start of `input`, with 0x7F in place of bytes above it.
    #[cfg_attr(optimized, inline(always))]
    fn lookahead(self, block: __m512i, input: &[u8]) -> [__m512i; 2] {
        if let (Some(first), Some(second)) = (
            input.get(1..).and_then(<[u8]>::first_chunk::<64>),
            input.get(2..).and_then(<[u8]>::first_chunk::<64>),
        ) {
            return [self.ascii(self.whole(first)), self.ascii(self.whole(second))];
        }
        let (block, next) = (self.ascii(block), lookahead::<Self>(input).map(|byte| byte.min(0x7F)));
        let next = i32::from(u16::from_le_bytes(next));
        // SAFETY: the token proves AVX-512.
        unsafe {
            let next = _mm512_zextsi128_si512(_mm_cvtsi32_si128(next));
            let next = _mm512_alignr_epi64::<2>(next, block);
            [_mm512_alignr_epi8::<1>(next, block), _mm512_alignr_epi8::<2>(next, block)]
        }
    }

    /// Returns the first or the second digits of a run of 64 escapes in three registers; `which` is 0 for the first digits.
    #[cfg_attr(optimized, inline(always))]
    fn digits_of_run(self, which: usize, [a, b, c]: [__m512i; 3]) -> __m512i {
        let from = self.whole(&DIGITS_OF_RUN[which]);
        let in_third = self.whole(&THIRD_OF_RUN[which]);
        // A vector and not a mask selects the lanes: a mask would occupy a general register, and the calling loop has
        // none to spare (lab: avx512).
        // SAFETY: the token proves AVX-512.
        unsafe {
            let digits = _mm512_permutex2var_epi8(a, from, b);
            let third = _mm512_permutexvar_epi8(from, c);
            _mm512_ternarylogic_epi32::<0xCA>(in_third, third, digits)
        }
    }

    /// Returns the values of the bytes of `block`, which are below 0x80, as digits. `which` is 0 for high digits and 1 for low digits. See
    /// [`DIGITS`].
    #[cfg_attr(optimized, inline(always))]
    fn digits(self, which: usize, block: __m512i) -> __m512i {
        let [low, high] = &DIGITS[which];
        self.look_up([self.whole(low), self.whole(high)], block)
    }

    /// Returns `block` with 0x7F, which is not a digit, in place of bytes above it.
    #[cfg_attr(optimized, inline(always))]
    fn ascii(self, block: __m512i) -> __m512i {
        // SAFETY: the token proves AVX-512.
        unsafe { _mm512_min_epu8(block, self.every::<0x7F>()) }
    }

    /// Returns those of the lanes `among` whose values are members of the set; if `members` is false, not members.
    #[cfg_attr(optimized, inline(always))]
    fn chosen(self, among: u64, values: __m512i, class: &Class, members: bool) -> u64 {
        // The inversion is done in vectors: inverting a mask would need a second mask, moved from a general register (lab: kernels).
        let flip = self.all(if members { 0xFF } else { 0 });
        // SAFETY: the token proves AVX-512.
        unsafe {
            let chosen = if class.high == [0; 2] {
                // One instruction does the rest of `look_up_set` and the inversion: `(values | !ascii) ^ flip`.
                let ascii = self.look_up(class.ascii, values);
                _mm512_ternarylogic_epi32::<0x59>(values, ascii, flip)
            } else {
                _mm512_xor_si512(self.look_up_set(values, class), flip)
            };
            _mm512_mask_cmplt_epi8_mask(among, chosen, _mm512_setzero_si512())
        }
    }

    /// Reports whether two digits follow every `%` in the blocks of `input`, which end before its last two bytes.
    #[cfg_attr(optimized, inline(always))]
    fn is_well_formed(self, input: &[u8]) -> bool {
        // Without `black_box`, the compiler keeps results of the caller on the stack for this rare check (lab: kernels).
        let mut rest = core::hint::black_box(input);
        while let Some(next) = rest.first_chunk::<66>() {
            let block = self.load(next);
            if self.correct(&self.find(block, next)).0 != 0 {
                return false;
            }
            rest = &rest[64..];
        }
        true
    }

    /// Writes the first `len` lanes of `block`; at most all 64.
    #[cfg_attr(optimized, inline(always))]
    fn store_low(self, block: __m512i, len: usize, out: &mut Cursor<'_>) {
        if out.spare() >= 64 {
            // SAFETY: the token proves AVX-512. The check shows 64 writable bytes, the store initialises all of them, and at
            // most 64 are kept.
            unsafe {
                _mm512_storeu_si512(out.as_mut_ptr().cast(), block);
                out.advance(len.min(64));
            }
        } else {
            let len = len.min(out.spare());
            // SAFETY: the token proves AVX-512. `len` is at most `spare`, and the masked store writes exactly `len` bytes.
            unsafe {
                _mm512_mask_storeu_epi8(out.as_mut_ptr().cast(), low_mask(len), block);
                out.advance(len);
            }
        }
    }

    /// Does the work of [`Isa::place_ends`] for eight values. The second result is the part of each block's mask from
    /// the end of the value on.
    #[cfg_attr(optimized, inline(always))]
    fn place_eight(self, ends: &[u32; 8], records: Records<'_>, by: u32) -> Option<(__m256i, __m512i)> {
        const { assert!(RECORDS_TOGETHER == 16) };
        let first = ends[0] as usize / 64;
        let masks = records.masks.get(first..)?.first_chunk::<RECORDS_TOGETHER>()?;
        let leads = records.leads.get(first..)?.first_chunk::<RECORDS_TOGETHER>()?;
        if (ends[7] as usize / 64).wrapping_sub(first) >= RECORDS_TOGETHER {
            return None;
        }
        // SAFETY: the token proves AVX-512. `ends` has eight readable numbers. By the assertion above, there are sixteen
        // masks, which are two registers, and sixteen leads, which are one.
        unsafe {
            let end = _mm256_loadu_si256(ends.as_ptr().cast());
            let near = _mm256_sub_epi32(end, _mm256_set1_epi32((64 * first as u32).cast_signed()));
            let wide = _mm512_cvtepu32_epi64(near);
            let mask = _mm512_permutex2var_epi64(
                _mm512_loadu_si512(masks.as_ptr().cast()),
                _mm512_srli_epi64::<6>(wide),
                _mm512_loadu_si512(masks.as_ptr().add(8).cast()),
            );
            // This shift ignores all but the lower six bits of each count.
            let rest = _mm512_shrdv_epi64(mask, _mm512_setzero_si512(), wide);
            let count = _mm512_cvtepi64_epi32(_mm512_popcnt_epi64(rest));
            let lead = _mm512_castsi512_si256(_mm512_permutexvar_epi32(
                _mm512_zextsi256_si512(_mm256_srli_epi32::<6>(near)),
                _mm512_loadu_si512(leads.as_ptr().cast()),
            ));
            let gain = _mm256_sub_epi32(lead, _mm256_set1_epi32(records.base.cast_signed()));
            let less = _mm256_mullo_epi32(count, _mm256_set1_epi32(by.cast_signed()));
            Some((_mm256_sub_epi32(_mm256_add_epi32(end, gain), less), rest))
        }
    }
}

impl Tier for Avx512 {
    type Wide = Self;
    type Narrow = Self;
}

// The next two functions are the *ladders* (`drive/tier.rs`): they choose the code for an input by its length and mode.

/// Encodes a value. In the default mode, the code for one block and the code that copies two unchanged blocks are part
/// of this function, because they need few registers (lab: kernels). Other inputs have functions of their own
/// (`encode_by`).
#[cfg_attr(optimized, inline(always))]
pub(super) fn encode<'c>(tier: Avx512, job: &EncodeJob, input: &[u8], out: OutputSpan<'c>) -> Written<'c> {
    match (job.is_plain(), input.len()) {
        (true, 0..=64) => encode::OneBlock::<Plain>::encode(tier, job, input, out),
        (true, 65..=128) => match encode::copy_two_blocks(tier, job, input, out) {
            Some(copied) => copied,
            None => tier.encode_by::<encode::TwoBlocks<Plain>>(job, input, out),
        },
        (true, 129..=512) => tier.encode_by::<encode::FewBlocks>(job, input, out),
        (true, 513..) => tier.encode_by::<encode::AnyLength<Plain>>(job, input, out),
        (false, 0..=64) => tier.encode_by::<encode::OneBlock<Other>>(job, input, out),
        (false, 65..=128) => tier.encode_by::<encode::TwoBlocks<Other>>(job, input, out),
        (false, 129..) => tier.encode_by::<encode::AnyLength<Other>>(job, input, out),
    }
}

/// Decodes a value. The code for one block, and in the default mode for two, is part of this function: it needs so few
/// registers that none has to be saved on the stack (lab: kernels). Other inputs have functions of their own (`decode_by`).
#[cfg_attr(optimized, inline(always))]
pub(super) fn decode<'c>(tier: Avx512, job: &DecodeJob, input: &[u8], out: OutputSpan<'c>) -> Outcome<'c> {
    match (job.is_plain(), input.len()) {
        (true, 0..=64) => decode::OneBlock::<Plain>::decode(tier, job, input, out),
        (true, 65..=128) => decode::FewBlocks::<2, Plain>::decode(tier, job, input, out),
        (true, 129..=192) => tier.decode_by::<decode::FewBlocks<3, Plain>>(job, input, out),
        (true, 193..=256) => tier.decode_by::<decode::FewBlocks<4, Plain>>(job, input, out),
        (true, 257..) => tier.decode_by::<decode::AnyLength<Plain>>(job, input, out),
        (false, 0..=64) => decode::OneBlock::<Other>::decode(tier, job, input, out),
        (false, 65..=128) => tier.decode_by::<decode::FewBlocks<2, Other>>(job, input, out),
        (false, 129..=192) => tier.decode_by::<decode::FewBlocks<3, Other>>(job, input, out),
        (false, 193..=256) => tier.decode_by::<decode::FewBlocks<4, Other>>(job, input, out),
        (false, 257..) => tier.decode_by::<decode::AnyLength<Other>>(job, input, out),
    }
}

impl Isa for Avx512 {
    const LANES: usize = 64;
    const TOGETHER: usize = 4;
    const LOOKS_AHEAD: bool = true;
    const DECODES_DENSE: bool = true;
    const EXPANDS_ALL: bool = true;
    type Block = __m512i;
    type Class = Class;
    /// The top bit is set in exactly the lanes that are not members of the set.
    type SetLookup = __m512i;
    type Spelling = Spelling;
    type Members = u64;
    type Token = Self;

    #[cfg_attr(optimized, inline(always))]
    fn new(token: Self) -> Self {
        token
    }

    #[cfg_attr(optimized, inline(always))]
    fn class(self, set: &ByteSet) -> Class {
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
            // SAFETY: the token proves AVX-512; the mask has `input.len()` bits, so only bytes of `input` are read.
            None => unsafe { _mm512_maskz_loadu_epi8(low_mask(input.len()), input.as_ptr().cast()) },
        }
    }

    #[cfg_attr(optimized, inline(always))]
    fn bytes(self, block: __m512i) -> [u8; 64] {
        let mut bytes = [0; 64];
        // SAFETY: the token proves AVX-512; the array has 64 writable bytes.
        unsafe { _mm512_storeu_si512(bytes.as_mut_ptr().cast(), block) };
        bytes
    }

    #[cfg_attr(optimized, inline(always))]
    fn find_members(self, block: __m512i, class: &Class) -> u64 {
        // A shuffle gives zero if the index is above 0x7F, so each of the two tables finds only its own half of the bytes.
        // SAFETY: the token proves AVX-512.
        unsafe {
            let high = _mm512_shuffle_epi8(class.rows[1], _mm512_xor_si512(block, self.every::<0x80>()));
            let row = _mm512_or_si512(_mm512_shuffle_epi8(class.rows[0], block), high);
            let half = _mm512_and_si512(_mm512_srli_epi16::<4>(block), self.every::<0x0F>());
            _mm512_test_epi8_mask(row, _mm512_shuffle_epi8(self.quarters(&BITS), half))
        }
    }

    #[cfg_attr(optimized, inline(always))]
    fn look_up_set(self, block: __m512i, class: &Class) -> __m512i {
        let ascii = self.look_up(class.ascii, block);
        // SAFETY: the token proves AVX-512.
        unsafe {
            let [low, high] = class.high;
            if low | high == 0 {
                // The instruction computes `block | !ascii`. A table of `!ascii` would have to be inverted for each
                // short input (lab: kernels).
                _mm512_ternarylogic_epi32::<0xF3>(block, ascii, ascii)
            } else {
                let high = self.look_up([self.spread(low), self.spread(high)], block);
                let members = _mm512_mask_mov_epi8(ascii, _mm512_movepi8_mask(block), high);
                _mm512_xor_si512(members, self.all(0xFF))
            }
        }
    }

    #[cfg_attr(optimized, inline(always))]
    fn members_from_mask(self, mask: u64) -> u64 {
        mask
    }

    #[cfg_attr(optimized, inline(always))]
    fn members_in(self, others: __m512i) -> u64 {
        // SAFETY: the token proves AVX-512.
        unsafe { !_mm512_movepi8_mask(others) }
    }

    #[cfg_attr(optimized, inline(always))]
    fn all_members<const M: usize>(self, blocks: [__m512i; M], class: &Class) -> bool {
        let mut any = self.all(0);
        // SAFETY: the token proves AVX-512.
        unsafe {
            if class.high == [0; 2] {
                // This does the work of `look_up_set` for all blocks together. Joining the results of `look_up_set` would take
                // two instructions more (lab: kernels).
                let mut ascii = self.all(0xFF);
                for block in blocks {
                    ascii = _mm512_and_si512(ascii, self.look_up(class.ascii, block));
                    any = _mm512_or_si512(any, block);
                }
                any = _mm512_ternarylogic_epi32::<0xF3>(any, ascii, ascii);
            } else {
                for block in blocks {
                    any = _mm512_or_si512(any, self.look_up_set(block, class));
                }
            }
            _mm512_movepi8_mask(any) == 0
        }
    }

    #[cfg_attr(optimized, inline(always))]
    fn eq(self, block: __m512i, byte: u8) -> u64 {
        // SAFETY: the token proves AVX-512.
        unsafe { _mm512_cmpeq_epi8_mask(block, self.all(byte)) }
    }

    #[cfg_attr(optimized, inline(always))]
    fn lower(self, block: __m512i) -> u64 {
        // SAFETY: the token proves AVX-512.
        unsafe { _mm512_cmpgt_epi8_mask(block, self.all(b'Z')) }
    }

    #[cfg_attr(optimized, inline(always))]
    fn replace(self, block: __m512i, from: u8, to: u8) -> __m512i {
        self.select(self.eq(block, from), block, self.all(to))
    }

    #[cfg_attr(optimized, inline(always))]
    fn find(self, block: __m512i, input: &[u8]) -> Found<__m512i> {
        let [first, second] = self.lookahead(block, input);
        let [high, low] = [self.digits(0, first), self.digits(1, second)];
        // SAFETY: the token proves AVX-512.
        unsafe {
            let percent = self.eq(block, b'%');
            // In `high` the lower half of a digit's lane is zero, in `low` the upper half. `wrong` joins these halves, so it is
            // zero for digits.
            let wrong = _mm512_ternarylogic_epi32::<0xCA>(self.all(0x0F), high, low);
            // The two halves of a byte have no bit in common, so their sum joins them. A sum can be masked by byte, a union cannot.
            let decoded = _mm512_mask_adds_epu8(block, percent, high, low);
            Found { percent, marks: block, wrong, values: _mm512_or_si512(high, low), decoded }
        }
    }

    #[cfg_attr(optimized, inline(always))]
    fn any_wrong<const N: usize>(self, found: [&Found<__m512i>; N]) -> bool {
        found.iter().fold(0, |wrong, found| wrong | self.correct(found).0) != 0
    }

    #[cfg_attr(optimized, inline(always))]
    fn correct(self, found: &Found<__m512i>) -> (u64, __m512i) {
        // SAFETY: the token proves AVX-512.
        let wrong = unsafe { _mm512_mask_test_epi8_mask(found.percent, found.wrong, found.wrong) };
        (wrong, self.select(wrong, found.decoded, self.all(b'%')))
    }

    #[cfg_attr(optimized, inline(always))]
    fn decode_dense(self, input: &[u8], carry: &mut u64, out: &mut Cursor<'_>) -> Option<[u64; 4]> {
        let input = input.first_chunk::<{ 4 * 64 + 2 }>()?;
        if out.spare() < 4 * 64 {
            return None;
        }
        let mut stage = Stage::new();
        let mut window = out.window(4 * 64, &mut stage);
        let start = window.as_mut_ptr();
        let (mut at, mut carried, mut most) = (start, *carry, self.all(0));
        let (mut blocks, mut drops) = ([most; 4], [0; 4]);
        // All blocks are decoded before the first store: a load waits for an older store if the lower twelve bits of their addresses
        // are equal (lab: kernels).
        for i in 0..4 {
            let block = self.load(&input[64 * i..]);
            let percent = self.eq(block, b'%');
            let [first, second] = self.lookahead(block, &input[64 * i..]);
            let [high, low] = [self.digits(0, first), self.digits(1, second)];
            // SAFETY: the token proves AVX-512.
            unsafe {
                // The two halves of a byte have no bit in common, so their sum joins them. A sum can be masked by byte, a union cannot.
                // If either is not a digit, the saturating sum is 0xFF.
                blocks[i] = _mm512_mask_adds_epu8(block, percent, high, low);
                most = _mm512_max_epu8(most, blocks[i]);
            }
            drops[i] = digits_of(percent, Lanes::<Self>::ALL, &mut carried);
        }
        // A lane of 0xFF may also be that byte or its escape, but few texts have either.
        if self.eq(most, 0xFF) != 0 && !self.is_well_formed(input) {
            return None;
        }
        for i in 0..4 {
            // SAFETY: the token proves AVX-512. The blocks before this one have at most `64 * i` bytes, so 64 more are inside the
            // window.
            unsafe {
                _mm512_storeu_si512(at.cast(), _mm512_mask_compress_epi8(blocks[i], !drops[i], blocks[i]));
                at = at.add((!drops[i]).count_ones() as usize);
            }
        }
        *carry = carried;
        // SAFETY: the window has `4 * 64` bytes. Each store initialised the bytes of its block, one block after the other, and they
        // are at most 64 each.
        unsafe { window.keep(at.addr() - start.addr()) };
        Some(drops)
    }

    #[cfg_attr(optimized, inline(always))]
    fn all_escapes(self, input: &[u8]) -> Option<__m512i> {
        let [a, b, c] = input.first_chunk::<192>()?.as_chunks::<64>().0 else { return None };
        let parts = [self.whole(a), self.whole(b), self.whole(c)];
        let high = self.digits(0, self.ascii(self.digits_of_run(0, parts)));
        let low = self.digits(1, self.ascii(self.digits_of_run(1, parts)));
        // SAFETY: the token proves AVX-512.
        unsafe {
            // In `high` the lower half of a digit's lane is zero, in `low` the upper half. `bad` joins these halves, so it is
            // zero for digits.
            let mut bad = _mm512_ternarylogic_epi32::<0xCA>(self.all(0x0F), high, low);
            for i in 0..3 {
                // `differ` is nonzero in lanes that have to be `%` and are not.
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
        found: &Found<__m512i>,
        class: &Class,
        members: bool,
    ) -> (u64, __m512i) {
        // SAFETY: the token proves AVX-512.
        let valid = unsafe { _mm512_mask_testn_epi8_mask(found.percent, found.wrong, found.wrong) };
        let decoded = self.chosen(valid, found.values, class, members);
        (decoded, self.select(decoded, block, found.values))
    }

    #[cfg_attr(optimized, inline(always))]
    fn decodes_none(self, found: &Found<__m512i>, class: &Class, members: bool) -> bool {
        self.chosen(found.percent, found.values, class, members) == 0
    }

    #[cfg_attr(optimized, inline(always))]
    fn upper(self, mask: u64, block: __m512i) -> __m512i {
        // The lanes of `mask` are hexadecimal digits, and of these only lower-case letters are above `Z`.
        // SAFETY: the token proves AVX-512.
        unsafe {
            let letters = _mm512_mask_cmpgt_epi8_mask(mask, block, self.all(b'Z'));
            _mm512_mask_sub_epi8(block, letters, block, self.all(0x20))
        }
    }

    #[cfg_attr(optimized, inline(always))]
    fn place_ends(
        self,
        ends: &[u32; PLACED_TOGETHER],
        records: Records<'_>,
        by: u32,
        places: &mut [u32; PLACED_TOGETHER],
        crossing: &mut u64,
    ) -> bool {
        let [low, high] = ends.as_chunks().0 else { return false };
        let (Some(low), Some(high)) =
            (self.place_eight(low, records, by), self.place_eight(high, records, by))
        else {
            return false;
        };
        // SAFETY: the token proves AVX-512. `places` has sixteen writable numbers.
        unsafe {
            if by.cast_signed() < 0 {
                let both = _mm512_or_si512(low.1, high.1);
                *crossing |= u64::from(_mm512_test_epi64_mask(both, _mm512_set1_epi64(1)) != 0);
            }
            let both = _mm512_inserti64x4::<1>(_mm512_castsi256_si512(low.0), high.0);
            _mm512_storeu_si512(places.as_mut_ptr().cast(), both);
        }
        true
    }

    #[cfg_attr(optimized, inline(always))]
    fn store(self, block: __m512i, lanes: Lanes<Self>, out: &mut Cursor<'_>) {
        self.store_low(block, lanes.count(), out);
    }

    #[cfg_attr(optimized, inline(always))]
    fn store_all<const M: usize>(self, blocks: [__m512i; M], last: Lanes<Self>, out: &mut Cursor<'_>) {
        const { assert!(M > 0, "there is a last block") };
        let mut stage = Stage::new();
        let mut window = out.window(M * 64, &mut stage);
        let start = window.as_mut_ptr();
        for (i, block) in blocks.into_iter().enumerate() {
            // SAFETY: the token proves AVX-512; `64 * i + 64 <= M * 64`, and the window has `M * 64` writable bytes.
            unsafe { _mm512_storeu_si512(start.add(64 * i).cast(), block) };
        }
        // SAFETY: the loop initialised all `M * 64` bytes of the window. By the invariant of `Lanes`, `last` has at most 64 lanes, so
        // its padding is no more than one block, and `M` is at least one.
        unsafe { window.keep(M * 64 - last.padding()) };
    }

    #[cfg_attr(optimized, inline(always))]
    fn compress(self, block: __m512i, drop: u64, lanes: Lanes<Self>, out: &mut Cursor<'_>) {
        let keep = lanes.mask() & !drop;
        // The lanes after the kept ones are arbitrary. They are not zeroed, because Bochs 2.7, which tests this tier on CPUs
        // without it, zeroes everything if all 64 lanes are kept.
        // SAFETY: the token proves AVX-512.
        let kept = unsafe { _mm512_mask_compress_epi8(block, keep, block) };
        self.store_low(kept, keep.count_ones() as usize, out);
    }

    #[cfg_attr(optimized, inline(always))]
    fn spelling(self, case: HexCase) -> Spelling {
        Spelling { digits: self.quarters(case.digits()), case }
    }

    #[cfg_attr(optimized, inline(always))]
    fn compress_all<const M: usize>(
        self,
        blocks: [__m512i; M],
        drops: [u64; M],
        lanes: Lanes<Self>,
        out: &mut Cursor<'_>,
    ) {
        if M == 1 {
            return self.compress(blocks[0], drops[0], lanes, out);
        }
        let mut stage = Stage::new();
        let mut window = out.window(lanes.count() + (M - 1) * 64, &mut stage);
        let (start, mut len) = (window.as_mut_ptr(), 0);
        for i in 0..M {
            let keep = if i == 0 { lanes.mask() & !drops[0] } else { !drops[i] };
            // SAFETY: the token proves AVX-512. `M >= 2`, and each block before this one left at most its lanes, so 64 bytes fit.
            unsafe {
                let kept = _mm512_mask_compress_epi8(blocks[i], keep, blocks[i]);
                _mm512_storeu_si512(start.add(len).cast(), kept);
            }
            len += keep.count_ones() as usize;
        }
        // SAFETY: each store starts where the kept bytes before it end, so `len` bytes are initialised. They are at most the width.
        unsafe { window.keep(len) };
    }

    #[cfg_attr(optimized, inline(always))]
    fn expand(
        self,
        block: __m512i,
        input: &[u8],
        members: u64,
        lanes: Lanes<Self>,
        spelling: Spelling,
        out: &mut Cursor<'_>,
    ) {
        let Spelling { digits, case } = spelling;
        let escape = !members & lanes.mask();
        let mut stage = Stage::new();
        let mut window = out.window(TRIPLED + 1, &mut stage);
        let start = window.as_mut_ptr();
        let sources = self.sources(escape, block, digits);
        // If the input fits into one group, the other groups are not written, to save time (lab: avx512).
        let groups = if lanes.count() <= TRIPLED_TOGETHER { 1 } else { 3 };
        // SAFETY: the token proves AVX-512. The window has 64 bytes for each group at its largest offset, and four for the
        // last lane. The groups write, without a gap, one byte for each of the first 63 lanes and two more for each escape
        // among them; a single group does so if there are at most `TRIPLED_TOGETHER` lanes. In a block of 64 lanes, the
        // store after the loop writes the last lane. So all bytes that are kept are initialised.
        unsafe {
            let mut at = start;
            for i in 0..3 {
                if i >= groups {
                    break;
                }
                let escaped = self.deposit(escape >> (TRIPLED_TOGETHER * i));
                let stay = FIRST_OF_THREE << 1 | escaped.wrapping_mul(5);
                let kept = _mm512_maskz_compress_epi8(stay, self.triple(i, sources, case));
                _mm512_storeu_si512(at.add(TRIPLED_TOGETHER * i).cast(), kept);
                at = at.add(2 * escaped.count_ones() as usize);
            }
            if lanes.is_all() {
                // The last lane follows the groups.
                let spelt = u32::from_ne_bytes(case.escapes()[usize::from(input[63])]);
                let byte = u32::from(input[63]);
                // A branch would be unpredictable (lab: kernels).
                let last = core::hint::select_unpredictable(escape >> 63 != 0, spelt, byte.to_le());
                at.add(63).cast::<u32>().write_unaligned(last);
            }
            window.keep(lanes.count() + 2 * escape.count_ones() as usize);
        }
    }

    #[cfg_attr(optimized, inline(always))]
    fn expand_all(
        self,
        block: __m512i,
        input: &[u8],
        Spelling { digits, case }: Spelling,
        out: &mut Cursor<'_>,
    ) {
        let mut stage = Stage::new();
        let mut window = out.window(TRIPLED, &mut stage);
        let start = window.as_mut_ptr();
        let sources = self.sources(u64::MAX, block, digits);
        // SAFETY: the token proves AVX-512. The window has `TRIPLED` bytes, and all are written: the triples of 63 lanes, and the
        // last triple.
        unsafe {
            for i in 0..3 {
                _mm512_storeu_si512(
                    start.add(3 * TRIPLED_TOGETHER * i).cast(),
                    self.triple(i, sources, case),
                );
            }
            let [percent, high, low, _] = case.escapes()[usize::from(input[63])];
            start.add(TRIPLED - 3).cast::<[u8; 3]>().write([percent, high, low]);
            window.keep(TRIPLED);
        }
    }
}

/// The sets that hold a byte are bits of its lane, which one permutation looks up.
impl simd::Simd for Avx512 {
    type Block = __m512i;
    type Classes = __m512i;

    #[cfg_attr(optimized, inline(always))]
    fn load(self, bytes: &[u8]) -> __m512i {
        Isa::load(self, bytes)
    }

    #[cfg_attr(optimized, inline(always))]
    fn eq(self, block: __m512i, byte: u8) -> u64 {
        Isa::eq(self, block, byte)
    }

    #[cfg_attr(optimized, inline(always))]
    fn high(self, block: __m512i) -> u64 {
        // SAFETY: the token proves AVX-512.
        unsafe { _mm512_movepi8_mask(block) }
    }

    #[cfg_attr(optimized, inline(always))]
    fn classify(self, block: __m512i, sets: &Sets) -> __m512i {
        self.look_up([self.whole(&sets.by_byte[0]), self.whole(&sets.by_byte[1])], block)
    }

    #[cfg_attr(optimized, inline(always))]
    fn both(self, first: __m512i, second: __m512i) -> __m512i {
        // SAFETY: the token proves AVX-512.
        unsafe { _mm512_and_si512(first, second) }
    }

    #[cfg_attr(optimized, inline(always))]
    fn masks<const K: usize>(self, classes: __m512i) -> [u64; K] {
        let mut masks = [0; K];
        for k in 0..K {
            // SAFETY: the token proves AVX-512.
            masks[k] = unsafe { _mm512_test_epi8_mask(classes, self.all(1 << k)) };
        }
        masks
    }

    #[cfg_attr(optimized, inline(always))]
    fn any(self, classes: __m512i) -> u64 {
        // SAFETY: the token proves AVX-512.
        unsafe { _mm512_test_epi8_mask(classes, classes) }
    }
}
