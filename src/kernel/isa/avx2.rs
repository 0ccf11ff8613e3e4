//! AVX2: a block is 64 lanes in two registers, or, for short inputs, 32 lanes in one.
//!
//! An encoder writes groups of eight lanes, and a decoder sixteen lanes at a time. The output offset of each group comes from a count of
//! bits in a mask, so none waits for the one before (lab: avx2-ssse3). "lab: NAME" names the page docs/lab/DATE-NAME.md.

#[cfg(target_arch = "x86")]
use core::arch::x86::*;
#[cfg(target_arch = "x86_64")]
use core::arch::x86_64::*;

use super::blocks::{Blocks, TopBits};
use super::tables::{IN_ORDER, Places, Row, SLIDE, THIRDS};
use super::token::Avx2;
use super::vector::{Vector, each_one_intrinsic, operators, slide};
use crate::kernel::cursor::{OutputSpan, Written};
use crate::kernel::drive::{EncodeStep, Features, NotCopied, Other, Plain, Tier, decode, encode};
use crate::kernel::job::{DecodeJob, EncodeJob, Outcome};

impl Tier for Avx2 {
    type Wide = Blocks<Register, 2>;
    type Narrow = Blocks<Register, 1>;
}

// The next two functions are the *ladders* (`drive/tier.rs`): they choose the code for an input by its length and mode.

/// Encodes a value. In the default mode, the code for one block is part of this function. Other inputs have functions of their own
/// (`encode_by`).
#[cfg_attr(optimized, inline(always))]
pub(super) fn encode<'c>(tier: Avx2, job: &EncodeJob, input: &[u8], out: OutputSpan<'c>) -> Written<'c> {
    match (job.is_plain(), input.len()) {
        (true, 0..=64) => encode::OneBlock::<Plain>::encode(tier, job, input, out),
        (true, 65..=128) => tier.encode_by::<encode::TwoBlocks<Plain>>(job, input, out),
        (true, 129..) => tier.encode_by::<encode::AnyLength<Plain>>(job, input, out),
        (false, 0..=64) => tier.encode_by::<encode::OneBlock<Other>>(job, input, out),
        (false, 65..=128) => tier.encode_by::<encode::TwoBlocks<Other>>(job, input, out),
        (false, 129..) => tier.encode_by::<encode::AnyLength<Other>>(job, input, out),
    }
}

/// Decodes a value. In any mode, this function copies an input of at most two blocks that decoding leaves unchanged.
/// The copy needs so few registers that none has to be saved on the stack (lab: kernels). Other inputs have functions
/// of their own.
#[cfg_attr(optimized, inline(always))]
pub(super) fn decode<'c>(tier: Avx2, job: &DecodeJob, input: &[u8], out: OutputSpan<'c>) -> Outcome<'c> {
    if let Some(copied) = decode::copy_short(tier, job, input, out) {
        return copied;
    }
    match (job.is_plain(), input.len()) {
        (true, 0..=64) => tier.decode_by::<decode::OneBlock<NotCopied<Plain>>>(job, input, out),
        (true, 65..=128) => tier.decode_by::<decode::FewBlocks<2, NotCopied<Plain>>>(job, input, out),
        (true, 129..) => tier.decode_by::<decode::AnyLength<Plain>>(job, input, out),
        (false, 0..=64) => tier.decode_by::<decode::OneBlock<NotCopied<Other>>>(job, input, out),
        (false, 65..=128) => tier.decode_by::<decode::FewBlocks<2, NotCopied<Other>>>(job, input, out),
        (false, 129..) => tier.decode_by::<decode::AnyLength<Other>>(job, input, out),
    }
}

/// A register of 32 bytes.
// INVARIANT: a value exists only if the CPU has AVX2, because each is made by an `Avx2` token or from other values.
#[derive(Clone, Copy)]
pub(crate) struct Register(__m256i);

impl TopBits for Register {}

operators! { Register:
    BitAnd bitand = _mm256_and_si256;
    BitOr bitor = _mm256_or_si256;
    BitXor bitxor = _mm256_xor_si256;
}

impl Register {
    /// Returns the lower or the upper sixteen bytes.
    #[cfg_attr(optimized, inline(always))]
    fn half(self, upper: bool) -> __m128i {
        // SAFETY: `self` exists, so the CPU has AVX2.
        unsafe { if upper { _mm256_extracti128_si256::<1>(self.0) } else { _mm256_castsi256_si128(self.0) } }
    }

    /// Loads sixteen lanes of a partial block, from lane `16 * i` on. A block has `of` times sixteen lanes.
    ///
    /// # Safety
    ///
    /// The CPU has AVX2, `i < of <= 4`, and `input` has at least sixteen bytes and fewer than the block has lanes.
    #[cfg_attr(optimized, inline(always))]
    unsafe fn quarter(input: &[u8], i: usize, of: usize) -> __m128i {
        let (start, down) = slide(input.len(), i, of);
        // SAFETY: the input has at least sixteen bytes, so `start + 16 <= len` by `slide`. `of` is at most four, so `down` is at most
        // 48, and `SLIDE` has 64 bytes.
        unsafe {
            let bytes = _mm_loadu_si128(input.as_ptr().add(start).cast());
            _mm_shuffle_epi8(bytes, _mm_loadu_si128(SLIDE.as_ptr().add(down).cast()))
        }
    }
}

// SAFETY: a register has 32 bytes, and this overrides all default methods that work on one part only. Each method does what
// the trait documents: `eq` makes lanes of all ones or all zeros, `is_dense` adds up at most eight of them, 255 each, which
// 16 bits hold, and each access to memory has its own proof.
unsafe impl Vector for Register {
    type Token = Avx2;
    const BYTES: usize = 32;
    const COUNTS_GROUPS: bool = true;
    const GROUP_WINDOW: usize = 32;

    each_one_intrinsic! {
        eq(other) = _mm256_cmpeq_epi8;
        above(other) = _mm256_cmpgt_epi8;
        min(other) = _mm256_min_epu8;
        add_saturating(other) = _mm256_adds_epu8;
        shuffle(places) = _mm256_shuffle_epi8;
        look_up(bytes) = _mm256_shuffle_epi8;
        first_eights(other) = _mm256_unpacklo_epi64;
        last_eights(other) = _mm256_unpackhi_epi64;
        first_pairs(other) = _mm256_unpacklo_epi8;
        last_pairs(other) = _mm256_unpackhi_epi8;
    }

    #[cfg_attr(optimized, inline(always))]
    unsafe fn load(_: Avx2, from: *const u8) -> Self {
        // SAFETY: the token proves AVX2; the caller guarantees 32 readable bytes at `from`.
        Register(unsafe { _mm256_loadu_si256(from.cast()) })
    }

    #[cfg_attr(optimized, inline(always))]
    unsafe fn load_halves(_: Avx2, low: *const u8, high: *const u8) -> Self {
        // SAFETY: the token proves AVX2; the caller guarantees sixteen readable bytes at `low` and at `high`.
        Register(unsafe { _mm256_loadu2_m128i(high.cast(), low.cast()) })
    }

    #[cfg_attr(optimized, inline(always))]
    unsafe fn load_partial(token: Avx2, input: &[u8], i: usize, of: usize) -> Self {
        // SAFETY: the token proves AVX2. `load` gets a pointer to the 32 bytes that the condition shows. `quarter` needs
        // sixteen bytes of input, fewer than the block has, and `i < of`, which the caller guarantees, and `2 * of <= 4`, as a
        // block has at most 64 lanes.
        unsafe {
            if input.len() >= 32 * i + 32 {
                return Register::load(token, input.as_ptr().add(32 * i));
            }
            let (low, high) = (2 * i, 2 * i + 1);
            let (low, high) = (Register::quarter(input, low, 2 * of), Register::quarter(input, high, 2 * of));
            Register(_mm256_set_m128i(high, low))
        }
    }

    #[cfg_attr(optimized, inline(always))]
    unsafe fn store(self, to: *mut u8) {
        // SAFETY: `self` exists, so the CPU has AVX2; the caller guarantees 32 writable bytes at `to`.
        unsafe { _mm256_storeu_si256(to.cast(), self.0) };
    }

    #[cfg_attr(optimized, inline(always))]
    unsafe fn store_part(self, part: usize, to: *mut u8) {
        // SAFETY: `self` exists, so the CPU has AVX2; the caller guarantees sixteen writable bytes at `to`.
        unsafe { _mm_storeu_si128(to.cast(), self.half(part == 1)) };
    }

    #[cfg_attr(optimized, inline(always))]
    fn splat(_: Avx2, byte: u8) -> Self {
        // SAFETY: the token proves AVX2.
        Register(unsafe { _mm256_set1_epi8(byte.cast_signed()) })
    }

    #[cfg_attr(optimized, inline(always))]
    fn table(_: Avx2, bytes: &[u8; 16]) -> Self {
        // SAFETY: the token proves AVX2; the array has sixteen readable bytes.
        Register(unsafe { _mm256_broadcastsi128_si256(_mm_loadu_si128(bytes.as_ptr().cast())) })
    }

    #[cfg_attr(optimized, inline(always))]
    fn words(_: Avx2, low: u64, high: u64) -> Self {
        // SAFETY: the token proves AVX2.
        Register(unsafe { _mm256_setr_epi64x(low.cast_signed(), high.cast_signed(), 0, 0) })
    }

    #[cfg_attr(optimized, inline(always))]
    fn spread(_: Avx2, mask: u64, i: usize) -> Self {
        // SAFETY: the token proves AVX2.
        Register(unsafe {
            let byte_of_lane =
                _mm256_setr_epi64x(0, 0x0101_0101_0101_0101, 0x0202_0202_0202_0202, 0x0303_0303_0303_0303);
            let bit = _mm256_set1_epi64x(0x8040_2010_0804_0201_u64.cast_signed());
            let mask = _mm256_set1_epi32(((mask >> (32 * i)) as u32).cast_signed());
            _mm256_cmpeq_epi8(_mm256_and_si256(_mm256_shuffle_epi8(mask, byte_of_lane), bit), bit)
        })
    }

    #[cfg_attr(optimized, inline(always))]
    fn high_half(self) -> Self {
        // SAFETY: `self` exists, so the CPU has AVX2. The 16-bit shift moves bits between bytes, and the mask clears these.
        Register(unsafe { _mm256_and_si256(_mm256_srli_epi16::<4>(self.0), _mm256_set1_epi8(0x0F)) })
    }

    #[cfg_attr(optimized, inline(always))]
    fn without(self, bits: Self) -> Self {
        // SAFETY: `self` exists, so the CPU has AVX2.
        Register(unsafe { _mm256_andnot_si256(bits.0, self.0) })
    }

    #[cfg_attr(optimized, inline(always))]
    fn blend(self, marks: Self, other: Self) -> Self {
        // SAFETY: `self` exists, so the CPU has AVX2.
        Register(unsafe { _mm256_blendv_epi8(self.0, other.0, marks.0) })
    }

    #[cfg_attr(optimized, inline(always))]
    fn clear_marked(self, bad: Self) -> Self {
        // On AVX2, `blend` and `mask` read only the top bit of each lane, so clearing that bit is enough.
        self.without(bad)
    }

    #[cfg_attr(optimized, inline(always))]
    fn after<const BY: i32>(self, next: Self) -> Self {
        // SAFETY: `self` exists, so the CPU has AVX2.
        Register(unsafe {
            _mm256_alignr_epi8::<BY>(_mm256_permute2x128_si256::<0x21>(self.0, next.0), self.0)
        })
    }

    #[cfg_attr(optimized, inline(always))]
    fn mask<const N: usize>(marks: [Self; N]) -> u64 {
        let mut mask = 0;
        for i in 0..N {
            // SAFETY: the values in `marks` exist, so the CPU has AVX2.
            mask |= u64::from(unsafe { _mm256_movemask_epi8(marks[i].0) }.cast_unsigned()) << (32 * i);
        }
        mask
    }

    #[cfg_attr(optimized, inline(always))]
    unsafe fn write_places(self, part: usize, places: &Places, to: *mut u8) {
        // SAFETY: `self` exists, so the CPU has AVX2. `Places` is aligned to sixteen bytes, and the caller guarantees sixteen
        // writable bytes at `to`.
        unsafe {
            let lanes =
                _mm_shuffle_epi8(self.half(part == 1), _mm_load_si128(places.bytes().as_ptr().cast()));
            _mm_storeu_si128(to.cast(), lanes);
        }
    }

    #[cfg_attr(optimized, inline(always))]
    fn concat_high_low(self, next: Self) -> Self {
        // SAFETY: `self` exists, so the CPU has AVX2.
        Register(unsafe { _mm256_alignr_epi8::<8>(next.0, self.0) })
    }

    #[cfg_attr(optimized, inline(always))]
    fn is_dense<const N: usize>(token: Avx2, marks: [Self; N], _: u64) -> bool {
        // Each escape adds 255 to the sum of its group. The loop keeps the largest sums over all registers.
        let mut most = Self::splat(token, 0).0;
        for i in 0..N {
            // SAFETY: the token proves AVX2.
            most = unsafe { _mm256_max_epi16(most, _mm256_sad_epu8(marks[i].0, _mm256_setzero_si256())) };
        }
        // SAFETY: the token proves AVX2.
        Register(unsafe { _mm256_cmpgt_epi16(most, _mm256_set1_epi16(4 * 255)) }).any()
    }

    #[cfg_attr(optimized, inline(always))]
    unsafe fn write_group<const DENSE: bool>(self, part: usize, row: &Row, to: *mut u8, token: Avx2) {
        // SAFETY: `self` exists, so the CPU has AVX2. A `Row` has 32 bytes and is aligned to 32. The caller guarantees `GROUP_WINDOW`
        // writable bytes at `to`, which is 32.
        unsafe {
            if DENSE {
                let both = Register(if part == 0 {
                    _mm256_permute4x64_epi64::<0x44>(self.0)
                } else {
                    _mm256_permute4x64_epi64::<0xEE>(self.0)
                });
                both.shuffle_prepared(Register(_mm256_load_si256(row.0.as_ptr().cast())), token).store(to);
            } else {
                let bytes = _mm_shuffle_epi8(self.half(part == 1), _mm_load_si128(row.0.as_ptr().cast()));
                let percent = Self::splat(token, b'%').half(false);
                _mm_storeu_si128(to.cast(), _mm_xor_si128(bytes, percent));
            }
        }
    }

    #[cfg_attr(optimized, inline(always))]
    unsafe fn thirds(token: Avx2, from: *const u8) -> [Self; 3] {
        // The lower halves of three registers hold sixteen escapes, the upper halves another sixteen. The `%`, the first digits
        // and the second digits occupy different lanes in each register, so blends gather each kind in one register.
        let mut parts = [Self::splat(token, 0); 3];
        for j in 0..3 {
            // SAFETY: the caller guarantees `3 * BYTES` readable bytes at `from`, which is 96, and `16 * 2 + 48 + 16` is 96.
            parts[j] = unsafe { Self::load_halves(token, from.add(16 * j), from.add(16 * j + 48)) };
        }
        let mut thirds = [parts[0]; 3];
        for k in 0..3 {
            for j in 1..3 {
                thirds[k] = thirds[k].blend(Self::table(token, &THIRDS[k][j - 1]), parts[j]);
            }
        }
        let [percent, first, second] = thirds;
        // The second digit of an escape is in the lane after its first digit; this moves it to the same lane.
        // SAFETY: the token proves AVX2.
        [percent, first, Register(unsafe { _mm256_alignr_epi8::<1>(second.0, second.0) })]
    }

    #[cfg_attr(optimized, inline(always))]
    fn in_order(self, token: Avx2) -> Self {
        self.shuffle(Self::table(token, &IN_ORDER))
    }
}
