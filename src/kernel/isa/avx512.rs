//! AVX-512 with VBMI and VBMI2 (Ice Lake, Zen 4 and later): 64 lanes in one register.
//!
//! Masks are native, partial blocks are masked loads, and lanes are removed by one compress instruction. Encoding
//! triples 21 lanes at a time: each byte is repeated three times, `%` and the digits are blended in, and the lanes
//! that are not needed are removed. The compress instruction with a memory operand is slow on Zen 4, so its result
//! goes to a register and is stored whole.

#[cfg(target_arch = "x86")]
use core::arch::x86::*;
#[cfg(target_arch = "x86_64")]
use core::arch::x86_64::*;

use super::tables::{BITS, SHIFTED};
use super::token::Avx512;
use crate::hex::{self, HexCase};
use crate::kernel::cursor::{Cursor, Stage};
use crate::kernel::drive::{Escapes, Isa, Tier, first};
use crate::set::ByteSet;

/// The rows of a set, in each quarter of a register: for ASCII bytes, and for the others.
#[derive(Clone, Copy)]
pub(crate) struct Class {
    ascii: __m512i,
    high: __m512i,
}

/// The lanes that one group of [`Isa::expand`] triples.
const GROUP: usize = 21;

/// The first lane of each triple.
const FIRST_OF_THREE: u64 = 0x1249_2492_4924_9249;

/// For each group, where its triples come from.
static TRIPLES: [[u8; 64]; 3] = {
    let mut places = [[0; 64]; 3];
    let mut i = 0;
    while i < 3 * 64 {
        places[i / 64][i % 64] = (i / 64 * GROUP + i % 64 / 3) as u8;
        i += 1;
    }
    places
};

/// The places of the lanes behind, by one and by two; 64 and above are lanes of the second register.
static BEHIND: [[u8; 64]; 2] = {
    let mut places = [[0; 64]; 2];
    let mut i = 0;
    while i < 64 {
        places[0][i] = i as u8 + 1;
        places[1][i] = i as u8 + 2;
        i += 1;
    }
    places
};

/// Where `lane` is written.
#[inline(always)]
fn place(escape: u64, lane: usize) -> usize {
    lane + 2 * (escape & first(lane)).count_ones() as usize
}

impl Avx512 {
    /// Sixteen bytes in each quarter of a register.
    #[inline(always)]
    fn quarters(self, bytes: &[u8; 16]) -> __m512i {
        // SAFETY: the token proves AVX-512; sixteen bytes are readable.
        unsafe { _mm512_broadcast_i32x4(_mm_loadu_si128(bytes.as_ptr().cast())) }
    }

    #[inline(always)]
    fn whole(self, bytes: &[u8; 64]) -> __m512i {
        // SAFETY: the token proves AVX-512; 64 bytes are readable.
        unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
    }

    #[inline(always)]
    fn all(self, byte: u8) -> __m512i {
        // SAFETY: the token proves AVX-512.
        unsafe { _mm512_set1_epi8(byte.cast_signed()) }
    }

    /// The high half of each byte.
    #[inline(always)]
    fn high_half(self, block: __m512i) -> __m512i {
        // SAFETY: the token proves AVX-512. The shift moves bits between bytes, so it is masked before use.
        unsafe { _mm512_and_si512(_mm512_srli_epi16::<4>(block), self.all(0x0F)) }
    }

    /// The lanes whose bit is set in their row.
    #[inline(always)]
    fn in_row(self, row: __m512i, block: __m512i) -> u64 {
        // SAFETY: the token proves AVX-512.
        unsafe {
            let bit = _mm512_shuffle_epi8(self.quarters(&BITS), self.high_half(block));
            _mm512_test_epi8_mask(row, bit)
        }
    }

    /// The bits of the lanes of a group, each at the first lane of its triple.
    #[inline(always)]
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

    /// Writes the lanes of group `i`, those in `escape` as escapes.
    ///
    /// # Safety
    ///
    /// `window` has `2 * 63 + 64` writable bytes.
    #[inline(always)]
    unsafe fn group(self, i: usize, block: __m512i, escape: u64, digits: __m512i, window: *mut u8) {
        let percent = self.deposit(escape >> (GROUP * i));
        let (high, low) = (percent << 1, percent << 2);
        // SAFETY: the token proves AVX-512. At most 126 bytes come before the last group, so its register ends
        // within the window.
        unsafe {
            let bytes = _mm512_permutexvar_epi8(self.whole(&TRIPLES[i]), block);
            let triples = _mm512_mask_mov_epi8(bytes, percent, self.all(b'%'));
            let triples = _mm512_mask_shuffle_epi8(triples, high, digits, self.high_half(bytes));
            let nibbles = _mm512_and_si512(bytes, self.all(0x0F));
            let triples = _mm512_mask_shuffle_epi8(triples, low, digits, nibbles);
            let kept = _mm512_maskz_compress_epi8(FIRST_OF_THREE | high | low, triples);
            _mm512_storeu_si512(window.add(place(escape, GROUP * i)).cast(), kept);
        }
    }

    /// The value of each hexadecimal digit; 16 or more in the other lanes.
    #[inline(always)]
    fn digits(self, block: __m512i) -> __m512i {
        // SAFETY: the token proves AVX-512.
        unsafe {
            // `0` to `9` become 0xF6 to 0xFF, and all below them less: saturating parts them from the others.
            let decimal = _mm512_subs_epu8(_mm512_add_epi8(block, self.all(0xFF - b'9')), self.all(6));
            let decimal = _mm512_sub_epi8(decimal, self.all(0xF0));
            let letter = _mm512_sub_epi8(_mm512_and_si512(block, self.all(!0x20)), self.all(b'A'));
            _mm512_min_epu8(decimal, _mm512_adds_epu8(letter, self.all(10)))
        }
    }

    /// The lanes above `byte`, both below 0x80.
    #[inline(always)]
    fn above(self, block: __m512i, byte: u8) -> u64 {
        // SAFETY: the token proves AVX-512.
        unsafe { _mm512_cmpgt_epi8_mask(block, self.all(byte)) }
    }
}

impl Tier for Avx512 {
    type Wide = Avx512;
    type Narrow = Avx512;
    const SHORT: usize = 0;

    #[inline(always)]
    fn wide(self) -> Avx512 {
        self
    }

    #[inline(always)]
    fn narrow(self) -> Avx512 {
        self
    }
}

impl Isa for Avx512 {
    const LANES: usize = 64;
    type Block = __m512i;
    type Class = Class;

    #[inline(always)]
    fn class(self, set: &ByteSet, _: usize) -> Class {
        let [ascii, high] = set.halves();
        Class { ascii: self.quarters(ascii), high: self.quarters(high) }
    }

    #[inline(always)]
    fn load(self, input: &[u8]) -> __m512i {
        match input.first_chunk::<64>() {
            Some(bytes) => self.whole(bytes),
            // SAFETY: the token proves AVX-512; only the bytes of the mask are read.
            None => unsafe { _mm512_maskz_loadu_epi8(first(input.len()), input.as_ptr().cast()) },
        }
    }

    #[inline(always)]
    fn bytes(self, block: __m512i) -> [u8; 64] {
        let mut bytes = [0; 64];
        // SAFETY: the token proves AVX-512; 64 bytes are writable.
        unsafe { _mm512_storeu_si512(bytes.as_mut_ptr().cast(), block) };
        bytes
    }

    #[inline(always)]
    fn member(self, block: __m512i, class: &Class) -> u64 {
        // A shuffle gives zero where the byte is above 0x7F: each half of the set sees only its own bytes.
        // SAFETY: the token proves AVX-512.
        let row = unsafe {
            let high = _mm512_shuffle_epi8(class.high, _mm512_xor_si512(block, self.all(0x80)));
            _mm512_or_si512(_mm512_shuffle_epi8(class.ascii, block), high)
        };
        self.in_row(row, block)
    }

    #[inline(always)]
    fn eq(self, block: __m512i, byte: u8) -> u64 {
        // SAFETY: the token proves AVX-512.
        unsafe { _mm512_cmpeq_epi8_mask(block, self.all(byte)) }
    }

    #[inline(always)]
    fn lower(self, block: __m512i) -> u64 {
        self.above(block, b'Z')
    }

    #[inline(always)]
    fn replace(self, block: __m512i, from: u8, to: u8) -> __m512i {
        self.select(self.eq(block, from), block, self.all(to))
    }

    #[inline(always)]
    fn escapes(self, block: __m512i, behind: [u8; 2]) -> Escapes<__m512i> {
        let digits = self.digits(block);
        let next = u16::from_le_bytes([hex::value(behind[0]), hex::value(behind[1])]);
        // SAFETY: the token proves AVX-512.
        unsafe {
            let next = _mm512_zextsi128_si512(_mm_cvtsi32_si128(i32::from(next)));
            let first = _mm512_permutex2var_epi8(digits, self.whole(&BEHIND[0]), next);
            let second = _mm512_permutex2var_epi8(digits, self.whole(&BEHIND[1]), next);
            let values = _mm512_or_si512(_mm512_shuffle_epi8(self.quarters(&SHIFTED), first), second);
            let worse = _mm512_or_si512(first, second);
            let valid = _mm512_mask_cmple_epu8_mask(self.eq(block, b'%'), worse, self.all(0x0F));
            Escapes { valid, values, decoded: self.select(valid, block, values), lanes: block }
        }
    }

    #[inline(always)]
    fn select(self, mask: u64, block: __m512i, other: __m512i) -> __m512i {
        // SAFETY: the token proves AVX-512.
        unsafe { _mm512_mask_blend_epi8(mask, block, other) }
    }

    #[inline(always)]
    fn upper(self, mask: u64, block: __m512i) -> __m512i {
        // Of the digits, only lower-case letters are above `Z`.
        let letters = mask & self.above(block, b'Z');
        // SAFETY: the token proves AVX-512.
        unsafe { _mm512_mask_sub_epi8(block, letters, block, self.all(0x20)) }
    }

    #[inline(always)]
    fn store(self, block: __m512i, lanes: usize, out: &mut Cursor<'_>) {
        let mut stage = Stage::new();
        if out.room() >= 64 {
            let window = out.window(64, &mut stage);
            // SAFETY: the token proves AVX-512; the window has 64 bytes, which are all written, and `lanes <= 64`.
            unsafe {
                _mm512_storeu_si512(window.cast(), block);
                out.commit(64, lanes, &stage);
            }
        } else {
            let window = out.window(lanes, &mut stage);
            // SAFETY: the token proves AVX-512; the window has `lanes` bytes, which are those of the mask.
            unsafe {
                _mm512_mask_storeu_epi8(window.cast(), first(lanes), block);
                out.commit(lanes, lanes, &stage);
            }
        }
    }

    #[inline(always)]
    fn compress(self, block: __m512i, drop: u64, lanes: usize, out: &mut Cursor<'_>) {
        let keep = first(lanes) & !drop;
        // What stands behind the kept lanes does not matter. It is not zeroed, for Bochs 2.7, which tests this tier where
        // no CPU has it, zeroes everything when all 64 lanes are kept.
        // SAFETY: the token proves AVX-512.
        let kept = unsafe { _mm512_mask_compress_epi8(block, keep, block) };
        self.store(kept, keep.count_ones() as usize, out);
    }

    #[inline(always)]
    fn expand(self, block: __m512i, escape: u64, lanes: usize, case: HexCase, out: &mut Cursor<'_>) {
        /// Two groups, and one register behind them; or three groups and a triple, with a byte to spare.
        const WINDOW: usize = 3 * 63 + 4;
        let escape = escape & first(lanes);
        let digits = self.quarters(case.digits());
        let mut stage = Stage::new();
        let window = out.window(WINDOW, &mut stage);
        // SAFETY: the window has room for three groups.
        unsafe {
            self.group(0, block, escape, digits, window);
            self.group(1, block, escape, digits, window);
            self.group(2, block, escape, digits, window);
        }
        if lanes == 64 {
            // The three groups leave one lane.
            let byte = self.bytes(block)[63];
            let [percent, high, low] = hex::escape(byte, case);
            let spelt = if escape >> 63 != 0 { [percent, high, low, 0] } else { [byte, 0, 0, 0] };
            // SAFETY: at most 3 * 63 bytes come before, so four fit in the window.
            unsafe { window.add(place(escape, 63)).cast::<[u8; 4]>().write_unaligned(spelt) };
        }
        // SAFETY: the groups wrote `lanes` bytes and two more for each escape, without a gap.
        unsafe { out.commit(WINDOW, lanes + 2 * escape.count_ones() as usize, &stage) };
    }
}
