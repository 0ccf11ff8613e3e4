//! AVX2: 64 lanes in two registers, or, for short inputs, 32 in one.
//!
//! Set membership is two nibble shuffles: the low half of a byte picks a row of the set, the high half a bit.
//! What AVX-512 does with one compress instruction is done here by a shuffle table of eight lanes at a time:
//! tripling lanes (encoding); removing lanes (decoding) takes sixteen at a time, for digits fill few patterns of lanes.
//! Each group finds its own place in the output by counting the bits below it, so that no group waits for the one before.

#[cfg(target_arch = "x86")]
use core::arch::x86::*;
#[cfg(target_arch = "x86_64")]
use core::arch::x86_64::*;

use super::tables::{
    BITS, DIGIT_HIGH, DIGIT_LOW, IN_ORDER, PAIRS, Row, SHIFTED, SLIDE, THIRDS, without_digits,
};
use super::token::Avx2;
use crate::hex::{self, HexCase};
use crate::kernel::cursor::{Cursor, Stage};
use crate::kernel::drive::{Escapes, Isa, Tier, behind, first};
use crate::kernel::word::words;
use crate::set::ByteSet;

impl Tier for Avx2 {
    type Wide = Registers<2>;
    type Narrow = Registers<1>;
    const SHORT: usize = 32;

    #[inline(always)]
    fn wide(self) -> Registers<2> {
        Registers(self)
    }

    #[inline(always)]
    fn narrow(self) -> Registers<1> {
        Registers(self)
    }
}

/// Blocks of `N` registers, one or two.
#[derive(Clone, Copy)]
pub(crate) struct Registers<const N: usize>(Avx2);

/// The rows of a set, in both halves of a register: for ASCII bytes, and for the others, of which most sets hold none.
#[derive(Clone, Copy)]
pub(crate) struct Class {
    ascii: __m256i,
    high: __m256i,
    is_ascii: bool,
}

/// Where a group starts in the output. Each counts for itself, so that none waits for the one before.
#[inline(always)]
fn place(escape: u64, group: usize) -> usize {
    8 * group + 2 * (escape & first(8 * group)).count_ones() as usize
}

/// Operations on one register.
impl Avx2 {
    #[inline(always)]
    fn all(self, byte: u8) -> __m256i {
        // SAFETY: the token proves AVX2.
        unsafe { _mm256_set1_epi8(byte.cast_signed()) }
    }

    /// Sixteen bytes in both halves.
    #[inline(always)]
    fn both(self, bytes: &[u8; 16]) -> __m256i {
        // SAFETY: the token proves AVX2; sixteen bytes are readable.
        unsafe { _mm256_broadcastsi128_si256(_mm_loadu_si128(bytes.as_ptr().cast())) }
    }

    /// The lanes whose top bit is set, as a mask.
    #[inline(always)]
    fn mask(self, lanes: __m256i) -> u64 {
        // SAFETY: the token proves AVX2.
        u64::from(unsafe { _mm256_movemask_epi8(lanes) }.cast_unsigned())
    }

    /// The high half of each byte.
    #[inline(always)]
    fn high_half(self, bytes: __m256i) -> __m256i {
        // SAFETY: the token proves AVX2. The shift moves bits between bytes, so it is masked before use.
        unsafe { _mm256_and_si256(_mm256_srli_epi16::<4>(bytes), self.all(0x0F)) }
    }

    /// Zero in the lanes that are no ASCII members of the set, and only there.
    #[inline(always)]
    fn ascii_member(self, bytes: __m256i, class: &Class) -> __m256i {
        // SAFETY: the token proves AVX2. A shuffle gives zero where the byte is above 0x7F.
        unsafe { _mm256_and_si256(_mm256_shuffle_epi8(class.ascii, bytes), self.bit(bytes)) }
    }

    /// Zero in the lanes that are no other members of the set, and only there.
    #[inline(always)]
    fn high_member(self, bytes: __m256i, class: &Class) -> __m256i {
        // SAFETY: the token proves AVX2. A shuffle gives zero where the byte was below 0x80.
        unsafe {
            let row = _mm256_shuffle_epi8(class.high, _mm256_xor_si256(bytes, self.all(0x80)));
            _mm256_and_si256(row, self.bit(bytes))
        }
    }

    /// All ones in the lanes that are no members of the set.
    #[inline(always)]
    fn others(self, bytes: __m256i, class: &Class) -> __m256i {
        // SAFETY: the token proves AVX2.
        unsafe {
            let zero = _mm256_setzero_si256();
            let others = _mm256_cmpeq_epi8(self.ascii_member(bytes, class), zero);
            if class.is_ascii {
                return others;
            }
            _mm256_and_si256(others, _mm256_cmpeq_epi8(self.high_member(bytes, class), zero))
        }
    }

    /// The bit of a row of a set that stands for each byte.
    #[inline(always)]
    fn bit(self, bytes: __m256i) -> __m256i {
        // SAFETY: the token proves AVX2.
        unsafe { _mm256_shuffle_epi8(self.both(&BITS), self.high_half(bytes)) }
    }

    /// The lanes that are zero, as a mask.
    #[inline(always)]
    fn zeros(self, lanes: __m256i) -> u64 {
        // SAFETY: the token proves AVX2.
        self.mask(unsafe { _mm256_cmpeq_epi8(lanes, _mm256_setzero_si256()) })
    }

    /// All ones in the lanes of `mask`.
    #[inline(always)]
    fn spread(self, mask: u32) -> __m256i {
        // SAFETY: the token proves AVX2.
        unsafe {
            let byte_of_lane =
                _mm256_setr_epi64x(0, 0x0101_0101_0101_0101, 0x0202_0202_0202_0202, 0x0303_0303_0303_0303);
            let bit = _mm256_set1_epi64x(0x8040_2010_0804_0201_u64.cast_signed());
            let bytes = _mm256_shuffle_epi8(_mm256_set1_epi32(mask.cast_signed()), byte_of_lane);
            _mm256_cmpeq_epi8(_mm256_and_si256(bytes, bit), bit)
        }
    }

    /// All ones in the lanes above `byte`, both below 0x80.
    #[inline(always)]
    fn above(self, bytes: __m256i, byte: u8) -> __m256i {
        // SAFETY: the token proves AVX2.
        unsafe { _mm256_cmpgt_epi8(bytes, self.all(byte)) }
    }

    /// In the low half the value of each hexadecimal digit; the top bit is set in the other lanes, and only there.
    #[inline(always)]
    fn digits(self, bytes: __m256i) -> __m256i {
        // SAFETY: the token proves AVX2.
        unsafe {
            let high = _mm256_shuffle_epi8(self.both(&DIGIT_HIGH), self.high_half(bytes));
            _mm256_adds_epu8(_mm256_shuffle_epi8(self.both(&DIGIT_LOW), bytes), high)
        }
    }

    /// Sixteen bytes of a partial block from the start of a quarter: those there, or the last sixteen, slid down.
    ///
    /// # Safety
    ///
    /// `input` has at least sixteen bytes.
    #[inline(always)]
    unsafe fn quarter(self, input: &[u8], i: usize) -> __m128i {
        let start = (16 * i).min(input.len() - 16);
        let slide = (16 * i - start).min(16);
        // SAFETY: the token proves AVX2; `start + 16 <= len` and `slide + 16 <= 32`.
        unsafe {
            let bytes = _mm_loadu_si128(input.as_ptr().add(start).cast());
            _mm_shuffle_epi8(bytes, _mm_loadu_si128(SLIDE.as_ptr().add(slide).cast()))
        }
    }

    /// Writes those of sixteen lanes, from lane `16 * i` of the block on, that are not in `drop`.
    ///
    /// # Safety
    ///
    /// `16 * i + 16` bytes are writable at `window`.
    #[inline(always)]
    unsafe fn compress_16(self, lanes: __m128i, drop: u64, i: usize, window: *mut u8) {
        let before = (first(16 * i) & !drop).count_ones() as usize;
        // SAFETY: the token proves AVX2. The places are sixteen bytes, aligned to as many. At most `16 * i` bytes come
        // before.
        unsafe {
            let places = _mm_load_si128(without_digits((drop >> (16 * i)) as u16).cast());
            _mm_storeu_si128(window.add(before).cast(), _mm_shuffle_epi8(lanes, places));
        }
    }

    /// Writes a group, those lanes in `escape` as escapes. Both halves of `sources` hold eight bytes, or the high digits of
    /// those to escape, and then the eight low digits; all with the bits of `%` flipped, so that a zero is one.
    ///
    /// # Safety
    ///
    /// `24 * group + 32` bytes are writable at `window`.
    #[inline(always)]
    unsafe fn expand_dense(self, sources: __m256i, escape: u64, group: usize, window: *mut u8) {
        let (row, at) = (Row::of_group(escape, group), place(escape, group));
        // SAFETY: the token proves AVX2. A row is 32 bytes, aligned to as many. Before the group come at most `24 * group`
        // bytes, and the caller vouches for 32 after them.
        unsafe {
            let bytes = _mm256_shuffle_epi8(sources, _mm256_load_si256(row.cast()));
            _mm256_storeu_si256(window.add(at).cast(), _mm256_xor_si256(bytes, self.all(b'%')));
        }
    }

    /// The same for a group with at most four escapes, of which there is but one half.
    ///
    /// # Safety
    ///
    /// `24 * group + 16` bytes are writable at `window`.
    #[inline(always)]
    unsafe fn expand_sparse(self, sources: __m128i, escape: u64, group: usize, window: *mut u8) {
        let (row, at) = (Row::of_group(escape, group), place(escape, group));
        // SAFETY: the token proves AVX2. A row is 32 bytes, aligned to as many. Before the group come at most `24 * group`
        // bytes, and the caller vouches for sixteen after them.
        unsafe {
            let bytes = _mm_shuffle_epi8(sources, _mm_load_si128(row.cast()));
            let percent = _mm256_castsi256_si128(self.all(b'%'));
            _mm_storeu_si128(window.add(at).cast(), _mm_xor_si128(bytes, percent));
        }
    }
}

impl<const N: usize> Registers<N> {
    /// Writes the first `lanes` lanes, those in `escape` as escapes; `escaped` has all ones in these, and in lanes that come
    /// after the first `lanes`.
    #[inline(always)]
    fn expand_lanes(
        self,
        block: [__m256i; N],
        escaped: [__m256i; N],
        escape: u64,
        lanes: usize,
        case: HexCase,
        out: &mut Cursor<'_>,
    ) {
        // All groups but the last at their longest, and one register.
        let width = (4 * N - 1) * 24 + 32;
        let mut stage = Stage::new();
        let window = out.window(width, &mut stage);
        // A shuffle gives zero for `%`, so the bits of that are flipped in all that is shuffled, and then back.
        // SAFETY: the token proves AVX2.
        let digits = unsafe { _mm256_xor_si256(self.0.both(case.digits()), self.0.all(b'%')) };
        let mut sources = [[self.0.all(0); 2]; N];
        // 255 for each escape of a group, and the most over the registers.
        let mut most = self.0.all(0);
        for i in 0..N {
            // SAFETY: the token proves AVX2.
            sources[i] = unsafe {
                most = _mm256_max_epi16(most, _mm256_sad_epu8(escaped[i], self.0.all(0)));
                let high = _mm256_shuffle_epi8(digits, self.0.high_half(block[i]));
                let low = _mm256_shuffle_epi8(digits, _mm256_and_si256(block[i], self.0.all(0x0F)));
                let bytes = _mm256_xor_si256(block[i], self.0.all(b'%'));
                let bytes = _mm256_blendv_epi8(bytes, high, escaped[i]);
                [_mm256_unpacklo_epi64(bytes, low), _mm256_unpackhi_epi64(bytes, low)]
            };
        }
        // SAFETY: the token proves AVX2.
        let dense = self.0.mask(unsafe { _mm256_cmpgt_epi16(most, _mm256_set1_epi16(4 * 255)) }) != 0;
        // SAFETY: the token proves AVX2. The window has 24 bytes for each group but the last, and 32 for that one; they write
        // `lanes` bytes and two more for each escape without a gap. If not `dense`, no group has more than four escapes.
        unsafe {
            let isa = self.0;
            for (i, [even, odd]) in sources.into_iter().enumerate() {
                let g = 4 * i;
                if dense {
                    isa.expand_dense(_mm256_permute4x64_epi64::<0x44>(even), escape, g, window);
                    isa.expand_dense(_mm256_permute4x64_epi64::<0x44>(odd), escape, g + 1, window);
                    isa.expand_dense(_mm256_permute4x64_epi64::<0xEE>(even), escape, g + 2, window);
                    isa.expand_dense(_mm256_permute4x64_epi64::<0xEE>(odd), escape, g + 3, window);
                } else {
                    isa.expand_sparse(_mm256_castsi256_si128(even), escape, g, window);
                    isa.expand_sparse(_mm256_castsi256_si128(odd), escape, g + 1, window);
                    isa.expand_sparse(_mm256_extracti128_si256::<1>(even), escape, g + 2, window);
                    isa.expand_sparse(_mm256_extracti128_si256::<1>(odd), escape, g + 3, window);
                }
            }
            out.commit(width, lanes + 2 * escape.count_ones() as usize, &stage);
        }
    }
}

// The loops over registers have one or two rounds and are unrolled. (A closure would not be inlined into the entry points,
// nor then the intrinsics in it.)
#[allow(clippy::needless_range_loop, reason = "the index says which register it is")]
impl<const N: usize> Isa for Registers<N> {
    const LANES: usize = 32 * N;
    const TWO: bool = N == 2;
    const EXPANDS_ALL: bool = N == 2;
    const DECODES_ALL: bool = N == 2;
    type Block = [__m256i; N];
    type Class = Class;

    #[inline(always)]
    fn class(self, set: &ByteSet, _: usize) -> Class {
        let [ascii, high] = set.halves();
        Class { ascii: self.0.both(ascii), high: self.0.both(high), is_ascii: set.is_ascii() }
    }

    #[inline(always)]
    fn load(self, input: &[u8]) -> Self::Block {
        let mut block = [self.0.all(0); N];
        if input.len() >= Self::LANES {
            for (i, half) in block.iter_mut().enumerate() {
                // SAFETY: the token proves AVX2; `32 * i + 32 <= LANES <= len`.
                *half = unsafe { _mm256_loadu_si256(input.as_ptr().add(32 * i).cast()) };
            }
        } else if input.len() < 16 {
            let [low, high] = words(input);
            // SAFETY: the token proves AVX2.
            block[0] = unsafe { _mm256_setr_epi64x(low.cast_signed(), high.cast_signed(), 0, 0) };
        } else {
            for (i, half) in block.iter_mut().enumerate() {
                // SAFETY: the token proves AVX2; there are sixteen bytes, and in the first case 32 from there on.
                *half = unsafe {
                    if input.len() >= 32 * i + 32 {
                        _mm256_loadu_si256(input.as_ptr().add(32 * i).cast())
                    } else {
                        _mm256_set_m128i(self.0.quarter(input, 2 * i + 1), self.0.quarter(input, 2 * i))
                    }
                };
            }
        }
        block
    }

    #[inline(always)]
    fn ends(self, input: &[u8]) -> Option<Self::Block> {
        let mut block = [self.0.all(0); N];
        let end = input.len().checked_sub(16 * N)?;
        if input.len() > Self::LANES {
            return None;
        }
        // SAFETY: the token proves AVX2; there are `16 * N` bytes, and as many from `end` on.
        unsafe {
            let (first, last) = (input.as_ptr(), input.as_ptr().add(end));
            if N == 1 {
                block[0] = _mm256_loadu2_m128i(last.cast(), first.cast());
            } else {
                block[0] = _mm256_loadu_si256(first.cast());
                block[N - 1] = _mm256_loadu_si256(last.cast());
            }
        }
        Some(block)
    }

    #[inline(always)]
    fn bytes(self, block: Self::Block) -> [u8; 64] {
        let mut bytes = [0; 64];
        for (half, out) in block.into_iter().zip(bytes.as_chunks_mut::<32>().0) {
            // SAFETY: the token proves AVX2; 32 bytes are writable.
            unsafe { _mm256_storeu_si256(out.as_mut_ptr().cast(), half) };
        }
        bytes
    }

    #[inline(always)]
    fn member(self, block: Self::Block, class: &Class) -> u64 {
        let mut others = 0;
        for i in 0..N {
            others |= self.0.zeros(self.0.ascii_member(block[i], class)) << (32 * i);
        }
        if !class.is_ascii {
            let mut not_high = 0;
            for i in 0..N {
                not_high |= self.0.zeros(self.0.high_member(block[i], class)) << (32 * i);
            }
            others &= not_high;
        }
        !others
    }

    #[inline(always)]
    fn all_members<const M: usize>(self, blocks: [Self::Block; M], class: &Class) -> bool {
        let mut all = self.0.all(0xFF);
        for m in 0..M {
            for i in 0..N {
                // SAFETY: the token proves AVX2.
                all = unsafe { _mm256_min_epu8(all, self.0.ascii_member(blocks[m][i], class)) };
            }
        }
        self.0.zeros(all) == 0
    }

    #[inline(always)]
    fn lacks(self, input: &[u8], byte: u8) -> bool {
        let Some(ends) = self.ends(input) else { return false };
        let mut found = self.0.all(0);
        for bytes in ends {
            // SAFETY: the token proves AVX2.
            found = unsafe { _mm256_or_si256(found, _mm256_cmpeq_epi8(bytes, self.0.all(byte))) };
        }
        self.0.mask(found) == 0
    }

    #[inline(always)]
    fn eq(self, block: Self::Block, byte: u8) -> u64 {
        let mut mask = 0;
        for i in 0..N {
            // SAFETY: the token proves AVX2.
            mask |= self.0.mask(unsafe { _mm256_cmpeq_epi8(block[i], self.0.all(byte)) }) << (32 * i);
        }
        mask
    }

    #[inline(always)]
    fn lower(self, block: Self::Block) -> u64 {
        let mut mask = 0;
        for i in 0..N {
            mask |= self.0.mask(self.0.above(block[i], b'Z')) << (32 * i);
        }
        mask
    }

    #[inline(always)]
    fn replace(self, mut block: Self::Block, from: u8, to: u8) -> Self::Block {
        for i in 0..N {
            // SAFETY: the token proves AVX2.
            block[i] = unsafe {
                let is_from = _mm256_cmpeq_epi8(block[i], self.0.all(from));
                _mm256_blendv_epi8(block[i], self.0.all(to), is_from)
            };
        }
        block
    }

    #[inline(always)]
    fn escapes(self, block: Self::Block, input: &[u8]) -> Escapes<Self::Block> {
        let mut found = Escapes { valid: 0, values: block, decoded: block, lanes: block };
        let mut digits = block;
        for i in 0..N {
            digits[i] = self.0.digits(block[i]);
        }
        // SAFETY: the token proves AVX2.
        let next = unsafe {
            if let Some(bytes) = input.get(Self::LANES..).and_then(<[u8]>::first_chunk::<32>) {
                self.0.digits(_mm256_loadu_si256(bytes.as_ptr().cast()))
            } else {
                let behind = behind::<Self>(input);
                let digits = u16::from_le_bytes([hex::value(behind[0]), hex::value(behind[1])]);
                _mm256_zextsi128_si256(_mm_cvtsi32_si128(i32::from(digits)))
            }
        };
        for i in 0..N {
            let behind = if i + 1 < N { digits[i + 1] } else { next };
            // SAFETY: the token proves AVX2.
            unsafe {
                let middle = _mm256_permute2x128_si256::<0x21>(digits[i], behind);
                let first = _mm256_alignr_epi8::<1>(middle, digits[i]);
                let second = _mm256_alignr_epi8::<2>(middle, digits[i]);
                let low = _mm256_and_si256(second, self.0.all(0x0F));
                found.values[i] = _mm256_or_si256(_mm256_shuffle_epi8(self.0.both(&SHIFTED), first), low);
                // The masks look at the top bit only.
                let bad = _mm256_or_si256(first, second);
                let valid = _mm256_andnot_si256(bad, _mm256_cmpeq_epi8(block[i], self.0.all(b'%')));
                found.decoded[i] = _mm256_blendv_epi8(block[i], found.values[i], valid);
                found.lanes[i] = valid;
                found.valid |= self.0.mask(valid) << (32 * i);
            }
        }
        found
    }

    #[inline(always)]
    fn all_escapes(self, input: &[u8]) -> Option<Self::Block> {
        let input = input.first_chunk::<192>()?;
        let mut values = [self.0.all(0); N];
        let (mut percent, mut bad) = (self.0.all(0xFF), self.0.all(0));
        for i in 0..N {
            // Sixteen escapes in the lower halves of three registers, and sixteen in the upper ones. The places of what they
            // are made of differ, so that one of each fill a register.
            let mut parts = [self.0.all(0); 3];
            for j in 0..3 {
                // SAFETY: the token proves AVX2; `96 * i + 96 <= 192`.
                parts[j] = unsafe {
                    let at = input.as_ptr().add(96 * i + 16 * j);
                    _mm256_loadu2_m128i(at.add(48).cast(), at.cast())
                };
            }
            let mut thirds = [parts[0]; 3];
            for k in 0..3 {
                for j in 1..3 {
                    let lanes = self.0.both(&THIRDS[k][j - 1]);
                    // SAFETY: the token proves AVX2.
                    thirds[k] = unsafe { _mm256_blendv_epi8(thirds[k], parts[j], lanes) };
                }
            }
            let (first, second) = (self.0.digits(thirds[1]), self.0.digits(thirds[2]));
            // SAFETY: the token proves AVX2.
            unsafe {
                percent = _mm256_and_si256(percent, _mm256_cmpeq_epi8(thirds[0], self.0.all(b'%')));
                bad = _mm256_or_si256(bad, _mm256_or_si256(first, second));
                let second = _mm256_and_si256(_mm256_alignr_epi8::<1>(second, second), self.0.all(0x0F));
                let value = _mm256_or_si256(_mm256_shuffle_epi8(self.0.both(&SHIFTED), first), second);
                values[i] = _mm256_shuffle_epi8(value, self.0.both(&IN_ORDER));
            }
        }
        // SAFETY: the token proves AVX2.
        let good = self.0.mask(unsafe { _mm256_andnot_si256(bad, percent) });
        if good == u64::from(u32::MAX) { Some(values) } else { None }
    }

    #[inline(always)]
    fn select(self, mask: u64, mut block: Self::Block, other: Self::Block) -> Self::Block {
        for i in 0..N {
            let mask = self.0.spread((mask >> (32 * i)) as u32);
            // SAFETY: the token proves AVX2.
            block[i] = unsafe { _mm256_blendv_epi8(block[i], other[i], mask) };
        }
        block
    }

    #[inline(always)]
    fn decode_some(
        self,
        mut block: Self::Block,
        found: &Escapes<Self::Block>,
        class: &Class,
        members: bool,
    ) -> (u64, Self::Block) {
        let mut decoded = 0;
        let flip = if members { self.0.all(0xFF) } else { self.0.all(0) };
        for i in 0..N {
            // SAFETY: the token proves AVX2.
            unsafe {
                let others = self.0.others(found.values[i], class);
                let lanes = _mm256_and_si256(_mm256_xor_si256(others, flip), found.lanes[i]);
                block[i] = _mm256_blendv_epi8(block[i], found.values[i], lanes);
                decoded |= self.0.mask(lanes) << (32 * i);
            }
        }
        (decoded, block)
    }

    #[inline(always)]
    fn upper(self, mask: u64, mut block: Self::Block) -> Self::Block {
        for i in 0..N {
            let mask = self.0.spread((mask >> (32 * i)) as u32);
            // Of the digits, only lower-case letters are above `Z`.
            // SAFETY: the token proves AVX2.
            block[i] = unsafe {
                let letter = _mm256_and_si256(self.0.above(block[i], b'Z'), mask);
                _mm256_andnot_si256(_mm256_and_si256(letter, self.0.all(0x20)), block[i])
            };
        }
        block
    }

    #[inline(always)]
    fn store(self, block: Self::Block, lanes: usize, out: &mut Cursor<'_>) {
        let mut stage = Stage::new();
        let window = out.window(Self::LANES, &mut stage);
        for (i, half) in block.into_iter().enumerate() {
            // SAFETY: the token proves AVX2; `32 * i + 32 <= LANES`, which the window has.
            unsafe { _mm256_storeu_si256(window.add(32 * i).cast(), half) };
        }
        // SAFETY: the whole window was written, and `lanes <= LANES`.
        unsafe { out.commit(Self::LANES, lanes, &stage) };
    }

    #[inline(always)]
    fn store_whole<const M: usize>(self, blocks: [Self::Block; M], out: &mut Cursor<'_>) {
        let mut stage = Stage::new();
        let window = out.window(M * Self::LANES, &mut stage);
        for m in 0..M {
            for i in 0..N {
                // SAFETY: the token proves AVX2; the window has as many bytes as `M` blocks.
                unsafe { _mm256_storeu_si256(window.add(Self::LANES * m + 32 * i).cast(), blocks[m][i]) };
            }
        }
        // SAFETY: the whole window was written.
        unsafe { out.commit(M * Self::LANES, M * Self::LANES, &stage) };
    }

    #[inline(always)]
    fn compress(self, block: Self::Block, drop: u64, lanes: usize, out: &mut Cursor<'_>) {
        let mut stage = Stage::new();
        let window = out.window(Self::LANES, &mut stage);
        // SAFETY: the token proves AVX2. The window has all lanes, and the pieces write those that stay without a gap.
        unsafe {
            for (i, half) in block.into_iter().enumerate() {
                self.0.compress_16(_mm256_castsi256_si128(half), drop, 2 * i, window);
                self.0.compress_16(_mm256_extracti128_si256::<1>(half), drop, 2 * i + 1, window);
            }
            out.commit(Self::LANES, (first(lanes) & !drop).count_ones() as usize, &stage);
        }
    }

    #[inline(always)]
    fn expand(
        self,
        block: Self::Block,
        _: &[u8],
        escape: u64,
        lanes: usize,
        case: HexCase,
        out: &mut Cursor<'_>,
    ) {
        let escape = escape & first(lanes);
        let mut escaped = block;
        for i in 0..N {
            escaped[i] = self.0.spread((escape >> (32 * i)) as u32);
        }
        self.expand_lanes(block, escaped, escape, lanes, case, out);
    }

    #[inline(always)]
    fn expand_others(
        self,
        block: Self::Block,
        _: &[u8],
        class: &Class,
        escape: u64,
        lanes: usize,
        case: HexCase,
        out: &mut Cursor<'_>,
    ) {
        let mut others = block;
        for i in 0..N {
            others[i] = self.0.others(block[i], class);
        }
        self.expand_lanes(block, others, escape, lanes, case, out);
    }

    #[inline(always)]
    fn expand_all(self, block: Self::Block, _: &[u8], case: HexCase, out: &mut Cursor<'_>) {
        let width = 96 * N;
        let mut stage = Stage::new();
        let window = out.window(width, &mut stage);
        // As in a block of which some lanes stay.
        // SAFETY: the token proves AVX2.
        let digits = unsafe { _mm256_xor_si256(self.0.both(case.digits()), self.0.all(b'%')) };
        for i in 0..N {
            // SAFETY: the token proves AVX2. The window has three bytes for each lane, and all are written.
            unsafe {
                let high = _mm256_shuffle_epi8(digits, self.0.high_half(block[i]));
                let low = _mm256_shuffle_epi8(digits, _mm256_and_si256(block[i], self.0.all(0x0F)));
                // The digits of eight lanes each, from lane 0, 4 and 8 on.
                let first = _mm256_unpacklo_epi8(high, low);
                let last = _mm256_unpackhi_epi8(high, low);
                let pairs = [first, _mm256_alignr_epi8::<8>(last, first), last];
                let window = window.add(96 * i);
                for j in 0..3 {
                    let places = self.0.both(&PAIRS[j]);
                    let bytes = _mm256_xor_si256(_mm256_shuffle_epi8(pairs[j], places), self.0.all(b'%'));
                    _mm_storeu_si128(window.add(16 * j).cast(), _mm256_castsi256_si128(bytes));
                    _mm_storeu_si128(window.add(48 + 16 * j).cast(), _mm256_extracti128_si256::<1>(bytes));
                }
            }
        }
        // SAFETY: the whole window was written.
        unsafe { out.commit(width, width, &stage) };
    }
}
