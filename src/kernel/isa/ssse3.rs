//! SSSE3: 64 lanes in four registers, or, for short inputs, 32 in two.
//!
//! The algorithms are those of AVX2 at half the width: two nibble shuffles for membership, shuffle tables for removing
//! lanes and tripling them. There is no `popcnt` on these CPUs; the counts come from one multiplication.

#[cfg(target_arch = "x86")]
use core::arch::x86::*;
#[cfg(target_arch = "x86_64")]
use core::arch::x86_64::*;

use super::tables::{
    BITS, DIGIT_HIGH, DIGIT_LOW, DIGITS_OF, PAIRS, Row, SHIFTED, SHIFTED_LESS, SLIDE, THIRDS, any_above_four,
    counts, last_left, without_digits,
};
use super::token::Ssse3;
use crate::hex::{self, HexCase};
use crate::kernel::cursor::{Cursor, Stage};
use crate::kernel::drive::{Escapes, Isa, Tier, behind, first};
use crate::kernel::word::words;
use crate::set::ByteSet;

/// Blocks of `N` registers.
#[derive(Clone, Copy)]
pub(crate) struct Registers<const N: usize>(Ssse3);

/// The rows of a set: for ASCII bytes, and for the others, of which most sets hold none.
#[derive(Clone, Copy)]
pub(crate) struct Class {
    ascii: __m128i,
    high: __m128i,
    is_ascii: bool,
}

impl Tier for Ssse3 {
    type Wide = Registers<4>;
    type Narrow = Registers<2>;
    const SHORT: usize = 32;

    #[inline(always)]
    fn wide(self) -> Registers<4> {
        Registers(self)
    }

    #[inline(always)]
    fn narrow(self) -> Registers<2> {
        Registers(self)
    }
}

/// Operations on one register.
impl Ssse3 {
    #[inline(always)]
    fn sixteen(self, bytes: &[u8; 16]) -> __m128i {
        // SAFETY: the token proves SSSE3; sixteen bytes are readable.
        unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) }
    }

    #[inline(always)]
    fn all(self, byte: u8) -> __m128i {
        // SAFETY: the token proves SSSE3.
        unsafe { _mm_set1_epi8(byte.cast_signed()) }
    }

    /// The lanes whose top bit is set, as a mask.
    #[inline(always)]
    fn mask(self, lanes: __m128i) -> u64 {
        // SAFETY: the token proves SSSE3.
        u64::from(unsafe { _mm_movemask_epi8(lanes) }.cast_unsigned())
    }

    /// The high half of each byte.
    #[inline(always)]
    fn high_half(self, bytes: __m128i) -> __m128i {
        // SAFETY: the token proves SSSE3. The shift moves bits between bytes, so it is masked before use.
        unsafe { _mm_and_si128(_mm_srli_epi16::<4>(bytes), self.all(0x0F)) }
    }

    /// Zero in the lanes that are no ASCII members of the set, and only there.
    #[inline(always)]
    fn ascii_member(self, bytes: __m128i, class: &Class) -> __m128i {
        // SAFETY: the token proves SSSE3. A shuffle gives zero where the byte is above 0x7F.
        unsafe { _mm_and_si128(_mm_shuffle_epi8(class.ascii, bytes), self.bit(bytes)) }
    }

    /// Zero in the lanes that are no other members of the set, and only there.
    #[inline(always)]
    fn high_member(self, bytes: __m128i, class: &Class) -> __m128i {
        // SAFETY: the token proves SSSE3. A shuffle gives zero where the byte was below 0x80.
        unsafe {
            let row = _mm_shuffle_epi8(class.high, _mm_xor_si128(bytes, self.all(0x80)));
            _mm_and_si128(row, self.bit(bytes))
        }
    }

    /// All ones in the lanes that are no members of the set.
    #[inline(always)]
    fn others(self, bytes: __m128i, class: &Class) -> __m128i {
        // SAFETY: the token proves SSSE3.
        unsafe {
            let zero = _mm_setzero_si128();
            let others = _mm_cmpeq_epi8(self.ascii_member(bytes, class), zero);
            if class.is_ascii {
                return others;
            }
            _mm_and_si128(others, _mm_cmpeq_epi8(self.high_member(bytes, class), zero))
        }
    }

    /// The bit of a row of a set that stands for each byte.
    #[inline(always)]
    fn bit(self, bytes: __m128i) -> __m128i {
        // SAFETY: the token proves SSSE3.
        unsafe { _mm_shuffle_epi8(self.sixteen(&BITS), self.high_half(bytes)) }
    }

    /// The lanes that are zero, as a mask.
    #[inline(always)]
    fn zeros(self, lanes: __m128i) -> u64 {
        // SAFETY: the token proves SSSE3.
        self.mask(unsafe { _mm_cmpeq_epi8(lanes, _mm_setzero_si128()) })
    }

    /// All ones in the lanes of `mask`.
    #[inline(always)]
    fn spread(self, mask: u16) -> __m128i {
        // SAFETY: the token proves SSSE3.
        unsafe {
            let byte_of_lane = _mm_set_epi64x(0x0101_0101_0101_0101, 0);
            let bit = _mm_set1_epi64x(0x8040_2010_0804_0201_u64.cast_signed());
            let bytes = _mm_shuffle_epi8(_mm_cvtsi32_si128(i32::from(mask)), byte_of_lane);
            _mm_cmpeq_epi8(_mm_and_si128(bytes, bit), bit)
        }
    }

    /// The lanes of `mask` from `other`, the others from `bytes`.
    #[inline(always)]
    fn blend(self, mask: __m128i, bytes: __m128i, other: __m128i) -> __m128i {
        // SAFETY: the token proves SSSE3.
        unsafe { _mm_or_si128(_mm_and_si128(mask, other), _mm_andnot_si128(mask, bytes)) }
    }

    /// All ones in the lanes above `byte`, both below 0x80.
    #[inline(always)]
    fn above(self, bytes: __m128i, byte: u8) -> __m128i {
        // SAFETY: the token proves SSSE3.
        unsafe { _mm_cmpgt_epi8(bytes, self.all(byte)) }
    }

    /// In the low half the value of each hexadecimal digit; the top bit is set in the other lanes, and only there.
    #[inline(always)]
    fn digits(self, bytes: __m128i) -> __m128i {
        // SAFETY: the token proves SSSE3.
        unsafe {
            let high = _mm_shuffle_epi8(self.sixteen(&DIGIT_HIGH), self.high_half(bytes));
            _mm_adds_epu8(_mm_shuffle_epi8(self.sixteen(&DIGIT_LOW), bytes), high)
        }
    }

    /// Sixteen bytes of a partial block from lane `16 * i` on: those there, or the last sixteen, slid down.
    ///
    /// # Safety
    ///
    /// `input` has at least sixteen bytes.
    #[inline(always)]
    unsafe fn sixteen_of(self, input: &[u8], i: usize) -> __m128i {
        let start = (16 * i).min(input.len() - 16);
        let slide = (16 * i - start).min(16);
        // SAFETY: the token proves SSSE3; `start + 16 <= len` and `slide + 16 <= 32`.
        unsafe {
            let bytes = _mm_loadu_si128(input.as_ptr().add(start).cast());
            _mm_shuffle_epi8(bytes, _mm_loadu_si128(SLIDE.as_ptr().add(slide).cast()))
        }
    }

    /// Writes a group, those lanes in `escape` as escapes, of which there are at most four unless `DENSE`; returns where it
    /// ends. `sources` holds eight bytes, or the high digits of those to escape, and then the eight low digits; all
    /// with the bits of `%` flipped, so that a zero is one.
    ///
    /// # Safety
    ///
    /// 24 bytes are writable at `at`.
    #[inline(always)]
    unsafe fn expand_group<const DENSE: bool>(
        self,
        sources: __m128i,
        escape: u64,
        group: usize,
        at: *mut u8,
    ) -> *mut u8 {
        let row = Row::of_group(escape, group);
        // SAFETY: the token proves SSSE3. A row is 32 bytes, aligned to as many, and says that there are at most 24 bytes.
        unsafe {
            let start = _mm_shuffle_epi8(sources, _mm_load_si128(row.cast()));
            _mm_storeu_si128(at.cast(), _mm_xor_si128(start, self.all(b'%')));
            if DENSE {
                let end = _mm_shuffle_epi8(sources, _mm_load_si128(row.add(16).cast()));
                _mm_storel_epi64(at.add(16).cast(), _mm_xor_si128(end, self.all(b'%')));
            }
            at.add(Row::len(row))
        }
    }
}

impl<const N: usize> Registers<N> {
    /// Writes all groups, those lanes in `escape` as escapes, of which a group has at most four unless `DENSE`. `escaped` has
    /// all ones in these. Returns where they end.
    ///
    /// # Safety
    ///
    /// `24 * 2 * N` bytes are writable at `window`.
    #[inline(always)]
    unsafe fn groups<const DENSE: bool>(
        self,
        block: [__m128i; N],
        escaped: [__m128i; N],
        escape: u64,
        digits: __m128i,
        window: *mut u8,
    ) -> *mut u8 {
        let mut at = window;
        // SAFETY: the token proves SSSE3.
        let digits = unsafe { _mm_xor_si128(digits, self.0.all(b'%')) };
        for (i, bytes) in block.into_iter().enumerate() {
            // SAFETY: the token proves SSSE3. Before group `g` come at most `24 * g` bytes.
            unsafe {
                let high = _mm_shuffle_epi8(digits, self.0.high_half(bytes));
                let low = _mm_shuffle_epi8(digits, _mm_and_si128(bytes, self.0.all(0x0F)));
                let bytes = self.0.blend(escaped[i], _mm_xor_si128(bytes, self.0.all(b'%')), high);
                at = self.0.expand_group::<DENSE>(_mm_unpacklo_epi64(bytes, low), escape, 2 * i, at);
                at = self.0.expand_group::<DENSE>(_mm_unpackhi_epi64(bytes, low), escape, 2 * i + 1, at);
            }
        }
        at
    }

    /// Writes the first `lanes` lanes, those in `escape` as escapes; `escaped` has all ones in these, and in lanes that come
    /// after the first `lanes`.
    #[inline(always)]
    fn expand_lanes(
        self,
        block: [__m128i; N],
        escaped: [__m128i; N],
        escape: u64,
        lanes: usize,
        case: HexCase,
        out: &mut Cursor<'_>,
    ) {
        // Groups of at most 24 bytes.
        let width = 2 * N * 24;
        let mut stage = Stage::new();
        let window = out.window(width, &mut stage);
        let digits = self.0.sixteen(case.digits());
        // SAFETY: the window has 24 bytes for each group, and the groups write `lanes` bytes and two more for each escape
        // without a gap.
        unsafe {
            let end = if any_above_four(counts(escape)) {
                self.groups::<true>(block, escaped, escape, digits, window)
            } else {
                self.groups::<false>(block, escaped, escape, digits, window)
            };
            // Lanes after the end are a byte each.
            out.commit(width, end.addr() - window.addr() - (Self::LANES - lanes), &stage);
        }
    }
}

// The loops over registers are unrolled. (A closure would not be inlined into the entry points, nor then the intrinsics
// in it.)
#[allow(clippy::needless_range_loop, reason = "the index says which register it is")]
impl<const N: usize> Isa for Registers<N> {
    const LANES: usize = 16 * N;
    const EXPANDS_ALL: bool = N == 4;
    const DECODES_ALL: bool = N == 4;
    type Block = [__m128i; N];
    type Class = Class;

    #[inline(always)]
    fn class(self, set: &ByteSet, _: usize) -> Class {
        let [ascii, high] = set.halves();
        Class { ascii: self.0.sixteen(ascii), high: self.0.sixteen(high), is_ascii: set.is_ascii() }
    }

    #[inline(always)]
    fn load(self, input: &[u8]) -> Self::Block {
        let mut block = [self.0.all(0); N];
        if input.len() >= Self::LANES {
            for (i, bytes) in block.iter_mut().enumerate() {
                // SAFETY: the token proves SSSE3; `16 * i + 16 <= LANES <= len`.
                *bytes = unsafe { _mm_loadu_si128(input.as_ptr().add(16 * i).cast()) };
            }
        } else if input.len() < 16 {
            let [low, high] = words(input);
            // SAFETY: the token proves SSSE3.
            block[0] = unsafe { _mm_set_epi64x(high.cast_signed(), low.cast_signed()) };
        } else {
            for (i, bytes) in block.iter_mut().enumerate() {
                // SAFETY: there are sixteen bytes.
                *bytes = unsafe { self.0.sixteen_of(input, i) };
            }
        }
        block
    }

    #[inline(always)]
    fn ends(self, input: &[u8]) -> Option<Self::Block> {
        let mut block = [self.0.all(0); N];
        let end = input.len().checked_sub(8 * N)?;
        if input.len() > Self::LANES {
            return None;
        }
        for (i, bytes) in block.iter_mut().enumerate() {
            let at = if i < N / 2 { 16 * i } else { end + 16 * (i - N / 2) };
            // SAFETY: the token proves SSSE3; there are `8 * N` bytes, and as many from `end` on.
            *bytes = unsafe { _mm_loadu_si128(input.as_ptr().add(at).cast()) };
        }
        Some(block)
    }

    #[inline(always)]
    fn bytes(self, block: Self::Block) -> [u8; 64] {
        let mut bytes = [0; 64];
        for (lanes, out) in block.into_iter().zip(bytes.as_chunks_mut::<16>().0) {
            // SAFETY: the token proves SSSE3; sixteen bytes are writable.
            unsafe { _mm_storeu_si128(out.as_mut_ptr().cast(), lanes) };
        }
        bytes
    }

    #[inline(always)]
    fn member(self, block: Self::Block, class: &Class) -> u64 {
        let mut others = 0;
        for i in 0..N {
            others |= self.0.zeros(self.0.ascii_member(block[i], class)) << (16 * i);
        }
        if !class.is_ascii {
            let mut not_high = 0;
            for i in 0..N {
                not_high |= self.0.zeros(self.0.high_member(block[i], class)) << (16 * i);
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
                // SAFETY: the token proves SSSE3.
                all = unsafe { _mm_min_epu8(all, self.0.ascii_member(blocks[m][i], class)) };
            }
        }
        self.0.zeros(all) == 0
    }

    #[inline(always)]
    fn lacks(self, input: &[u8], byte: u8) -> bool {
        let Some(ends) = self.ends(input) else { return false };
        let mut found = self.0.all(0);
        for bytes in ends {
            // SAFETY: the token proves SSSE3.
            found = unsafe { _mm_or_si128(found, _mm_cmpeq_epi8(bytes, self.0.all(byte))) };
        }
        self.0.mask(found) == 0
    }

    #[inline(always)]
    fn eq(self, block: Self::Block, byte: u8) -> u64 {
        let mut mask = 0;
        for i in 0..N {
            // SAFETY: the token proves SSSE3.
            mask |= self.0.mask(unsafe { _mm_cmpeq_epi8(block[i], self.0.all(byte)) }) << (16 * i);
        }
        mask
    }

    #[inline(always)]
    fn lower(self, block: Self::Block) -> u64 {
        let mut mask = 0;
        for i in 0..N {
            mask |= self.0.mask(self.0.above(block[i], b'Z')) << (16 * i);
        }
        mask
    }

    #[inline(always)]
    fn replace(self, mut block: Self::Block, from: u8, to: u8) -> Self::Block {
        for i in 0..N {
            // SAFETY: the token proves SSSE3.
            let is_from = unsafe { _mm_cmpeq_epi8(block[i], self.0.all(from)) };
            block[i] = self.0.blend(is_from, block[i], self.0.all(to));
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
        let next = behind::<Self>(input).map(hex::value);
        // SAFETY: the token proves SSSE3.
        let next = unsafe { _mm_cvtsi32_si128(i32::from(u16::from_le_bytes(next))) };
        for i in 0..N {
            let behind = if i + 1 < N { digits[i + 1] } else { next };
            // SAFETY: the token proves SSSE3.
            unsafe {
                let first = _mm_alignr_epi8::<1>(behind, digits[i]);
                let second = _mm_alignr_epi8::<2>(behind, digits[i]);
                let low = _mm_and_si128(second, self.0.all(0x0F));
                found.values[i] = _mm_or_si128(_mm_shuffle_epi8(self.0.sixteen(&SHIFTED), first), low);
                let bad = _mm_cmplt_epi8(_mm_or_si128(first, second), _mm_setzero_si128());
                let valid = _mm_andnot_si128(bad, _mm_cmpeq_epi8(block[i], self.0.all(b'%')));
                let less = _mm_add_epi8(_mm_shuffle_epi8(self.0.sixteen(&SHIFTED_LESS), first), low);
                found.decoded[i] = _mm_add_epi8(block[i], _mm_and_si128(less, valid));
                found.lanes[i] = valid;
                found.valid |= self.0.mask(valid) << (16 * i);
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
            // Sixteen escapes in three registers.
            let mut parts = [self.0.all(0); 3];
            for j in 0..3 {
                // SAFETY: the token proves SSSE3; `48 * i + 48 <= 192`.
                parts[j] = unsafe { _mm_loadu_si128(input.as_ptr().add(48 * i + 16 * j).cast()) };
            }
            let mut digits = [self.0.all(0); 2];
            for k in 0..2 {
                for j in 0..3 {
                    let places = self.0.sixteen(&DIGITS_OF[k][j]);
                    // SAFETY: the token proves SSSE3.
                    digits[k] = unsafe { _mm_or_si128(digits[k], _mm_shuffle_epi8(parts[j], places)) };
                }
                digits[k] = self.0.digits(digits[k]);
            }
            let [first, second] = digits;
            // The places of the `%` in the three registers differ, so that all fill one.
            // SAFETY: the token proves SSSE3.
            unsafe {
                let mut all = _mm_andnot_si128(
                    _mm_or_si128(self.0.sixteen(&THIRDS[0][0]), self.0.sixteen(&THIRDS[0][1])),
                    parts[0],
                );
                for j in 1..3 {
                    all = _mm_or_si128(all, _mm_and_si128(parts[j], self.0.sixteen(&THIRDS[0][j - 1])));
                }
                percent = _mm_and_si128(percent, _mm_cmpeq_epi8(all, self.0.all(b'%')));
                bad = _mm_or_si128(bad, _mm_or_si128(first, second));
                let second = _mm_and_si128(second, self.0.all(0x0F));
                values[i] = _mm_or_si128(_mm_shuffle_epi8(self.0.sixteen(&SHIFTED), first), second);
            }
        }
        // SAFETY: the token proves SSSE3.
        let good = self.0.mask(unsafe { _mm_andnot_si128(bad, percent) });
        if good == u64::from(u16::MAX) { Some(values) } else { None }
    }

    #[inline(always)]
    fn select(self, mask: u64, mut block: Self::Block, other: Self::Block) -> Self::Block {
        for i in 0..N {
            block[i] = self.0.blend(self.0.spread((mask >> (16 * i)) as u16), block[i], other[i]);
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
            // SAFETY: the token proves SSSE3.
            unsafe {
                let others = self.0.others(found.values[i], class);
                let lanes = _mm_and_si128(_mm_xor_si128(others, flip), found.lanes[i]);
                block[i] = self.0.blend(lanes, block[i], found.values[i]);
                decoded |= self.0.mask(lanes) << (16 * i);
            }
        }
        (decoded, block)
    }

    #[inline(always)]
    fn upper(self, mask: u64, mut block: Self::Block) -> Self::Block {
        for i in 0..N {
            let mask = self.0.spread((mask >> (16 * i)) as u16);
            // Of the digits, only lower-case letters are above `Z`.
            // SAFETY: the token proves SSSE3.
            block[i] = unsafe {
                let letter = _mm_and_si128(self.0.above(block[i], b'Z'), mask);
                _mm_andnot_si128(_mm_and_si128(letter, self.0.all(0x20)), block[i])
            };
        }
        block
    }

    #[inline(always)]
    fn store(self, block: Self::Block, lanes: usize, out: &mut Cursor<'_>) {
        let mut stage = Stage::new();
        let window = out.window(Self::LANES, &mut stage);
        for (i, bytes) in block.into_iter().enumerate() {
            // SAFETY: the token proves SSSE3; `16 * i + 16 <= LANES`, which the window has.
            unsafe { _mm_storeu_si128(window.add(16 * i).cast(), bytes) };
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
                // SAFETY: the token proves SSSE3; the window has as many bytes as `M` blocks.
                unsafe { _mm_storeu_si128(window.add(Self::LANES * m + 16 * i).cast(), blocks[m][i]) };
            }
        }
        // SAFETY: the whole window was written.
        unsafe { out.commit(M * Self::LANES, M * Self::LANES, &stage) };
    }

    #[inline(always)]
    fn compress(self, block: Self::Block, drop: u64, lanes: usize, out: &mut Cursor<'_>) {
        let mut stage = Stage::new();
        let window = out.window(Self::LANES, &mut stage);
        let mut left = 0;
        for (i, bytes) in block.into_iter().enumerate() {
            // SAFETY: the token proves SSSE3. The places are sixteen bytes, aligned to as many. Each register before left at
            // most sixteen bytes: `left`, and one for each.
            unsafe {
                let row = without_digits((drop >> (16 * i)) as u16);
                let bytes = _mm_shuffle_epi8(bytes, _mm_load_si128(row.cast()));
                _mm_storeu_si128(window.add(left + i).cast(), bytes);
                left += last_left(row);
            }
        }
        let mut len = left + N;
        if lanes < Self::LANES {
            // Of the lanes after the end, at most two are dropped.
            let over = drop.checked_shr(lanes as u32).unwrap_or(0) as usize & 3;
            len = len.saturating_sub(Self::LANES - lanes - (over - (over >> 1)).min(Self::LANES - lanes));
        }
        // SAFETY: the lanes that stay were written without a gap, and are no more than all.
        unsafe { out.commit(Self::LANES, len, &stage) };
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
            escaped[i] = self.0.spread((escape >> (16 * i)) as u16);
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
        let width = 48 * N;
        let mut stage = Stage::new();
        let window = out.window(width, &mut stage);
        // As in a block of which some lanes stay.
        // SAFETY: the token proves SSSE3.
        let digits = unsafe { _mm_xor_si128(self.0.sixteen(case.digits()), self.0.all(b'%')) };
        for (i, bytes) in block.into_iter().enumerate() {
            // SAFETY: the token proves SSSE3. The window has three bytes for each lane, and all are written.
            unsafe {
                let high = _mm_shuffle_epi8(digits, self.0.high_half(bytes));
                let low = _mm_shuffle_epi8(digits, _mm_and_si128(bytes, self.0.all(0x0F)));
                // The digits of eight lanes each, from lane 0, 4 and 8 on.
                let (start, end) = (_mm_unpacklo_epi8(high, low), _mm_unpackhi_epi8(high, low));
                let pairs = [start, _mm_alignr_epi8::<8>(end, start), end];
                for j in 0..3 {
                    let places = self.0.sixteen(&PAIRS[j]);
                    let bytes = _mm_xor_si128(_mm_shuffle_epi8(pairs[j], places), self.0.all(b'%'));
                    _mm_storeu_si128(window.add(48 * i + 16 * j).cast(), bytes);
                }
            }
        }
        // SAFETY: the whole window was written.
        unsafe { out.commit(width, width, &stage) };
    }
}
