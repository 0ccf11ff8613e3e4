//! Checks of short inputs with instructions that every CPU of the target has. They need no detection of CPU features
//! and no call.
//!
//! For inputs of at most sixteen bytes, the call of a kernel takes longer than all other work, so public functions
//! inline these checks (lab: call-overhead). "lab: NAME" names docs/lab/DATE-NAME.md.

use crate::kernel::word::ShortCheck;
#[cfg(not(any(
    all(target_arch = "x86_64", target_feature = "sse2"),
    all(target_arch = "aarch64", target_feature = "neon"),
)))]
use crate::kernel::word::{all_common as all_common_in_word, equal};

/// The check whether decoding leaves a short input unchanged, in modes that keep `+`.
#[derive(Clone, Copy)]
pub(crate) struct NoEscape {
    /// Whether a malformed escape is an error. If not, a `%` in the last two bytes stays unchanged.
    pub(crate) strict: bool,
}

impl ShortCheck for NoEscape {
    #[cfg_attr(optimized, inline(always))]
    fn len_1(self, byte: u8) -> bool {
        !self.strict || byte != b'%'
    }

    #[cfg_attr(optimized, inline(always))]
    fn len_2_to_3(self, len: usize, start: u16, end: u16) -> bool {
        if self.strict {
            no_percent(u64::from(start) | u64::from(end) << 32, 0)
        } else {
            len < 3 || start as u8 != b'%'
        }
    }

    #[cfg_attr(optimized, inline(always))]
    fn len_4_to_7(self, len: usize, start: u32, end: u32) -> bool {
        let (start, end) = (u64::from(start), u64::from(end));
        if self.strict {
            no_percent(start | end << 32, 0)
        } else {
            // This joins all bytes in their order at the top of a word and then shifts the last two out.
            let bytes = start << (64 - 8 * len) | end << 32;
            no_percent(bytes << 16, 0)
        }
    }

    #[cfg_attr(optimized, inline(always))]
    fn len_8_to_16(self, start: u64, end: u64) -> bool {
        no_percent(start, if self.strict { end } else { end << 16 })
    }
}

/// The check whether encoding leaves a short input unchanged, for a set with all letters, digits, `-`, `.` and `_`. Nearly
/// every set has these.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CommonBytes {
    /// Another ASCII byte of the set, or one of the common bytes.
    pub(crate) other: u8,
}

impl ShortCheck for CommonBytes {
    #[cfg_attr(optimized, inline(always))]
    fn len_1(self, byte: u8) -> bool {
        let byte = u64::from(byte) | u64::from_le_bytes([b'a'; 8]) << 8;
        all_common(byte, byte, self.other)
    }

    #[cfg_attr(optimized, inline(always))]
    fn len_2_to_3(self, _: usize, start: u16, end: u16) -> bool {
        let all = u64::from(start) | u64::from(end) << 16;
        all_common(all | all << 32, all | all << 32, self.other)
    }

    #[cfg_attr(optimized, inline(always))]
    fn len_4_to_7(self, _: usize, start: u32, end: u32) -> bool {
        let both = u64::from(start) | u64::from(end) << 32;
        all_common(both, both, self.other)
    }

    #[cfg_attr(optimized, inline(always))]
    fn len_8_to_16(self, start: u64, end: u64) -> bool {
        all_common(start, end, self.other)
    }
}

/// Reports whether no byte of the two words is `%`.
#[cfg_attr(optimized, inline(always))]
fn no_percent(a: u64, b: u64) -> bool {
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    // SAFETY: this is compiled only for targets with SSE2.
    unsafe {
        use core::arch::x86_64::*;
        let bytes = _mm_set_epi64x(b.cast_signed(), a.cast_signed());
        _mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(b'%'.cast_signed()))) == 0
    }
    #[cfg(all(target_arch = "aarch64", target_feature = "neon"))]
    // SAFETY: this is compiled only for targets with NEON.
    unsafe {
        use core::arch::aarch64::*;
        let bytes = vcombine_u8(vcreate_u8(a), vcreate_u8(b));
        none(vceqq_u8(bytes, vdupq_n_u8(b'%')))
    }
    #[cfg(not(any(
        all(target_arch = "x86_64", target_feature = "sse2"),
        all(target_arch = "aarch64", target_feature = "neon"),
    )))]
    {
        equal(a, b'%') | equal(b, b'%') == 0
    }
}

/// Reports whether all bytes of the two words are letters, digits, `-`, `.`, `_` or `other`.
#[cfg_attr(optimized, inline(always))]
fn all_common(a: u64, b: u64, other: u8) -> bool {
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    // SAFETY: this is compiled only for targets with SSE2.
    unsafe {
        use core::arch::x86_64::*;
        let bytes = _mm_set_epi64x(b.cast_signed(), a.cast_signed());
        let all = |byte: u8| _mm_set1_epi8(byte.cast_signed());
        // Comparisons are signed, so an addition moves a range to the lowest signed numbers.
        let letters = _mm_add_epi8(_mm_or_si128(bytes, all(0x20)), all(0x80 - b'a'));
        let letters = _mm_cmplt_epi8(letters, all(0x80 + 26));
        // The bytes from `-` to `9` are `-`, `.`, `/` and the digits; `/` is excluded afterwards.
        let digits = _mm_cmplt_epi8(_mm_add_epi8(bytes, all(0x80 - b'-')), all(0x80 + 13));
        let digits = _mm_andnot_si128(_mm_cmpeq_epi8(bytes, all(b'/')), digits);
        let others = _mm_or_si128(_mm_cmpeq_epi8(bytes, all(b'_')), _mm_cmpeq_epi8(bytes, all(other)));
        _mm_movemask_epi8(_mm_or_si128(_mm_or_si128(letters, digits), others)) == 0xFFFF
    }
    #[cfg(all(target_arch = "aarch64", target_feature = "neon"))]
    // SAFETY: this is compiled only for targets with NEON.
    unsafe {
        use core::arch::aarch64::*;
        let bytes = vcombine_u8(vcreate_u8(a), vcreate_u8(b));
        // A subtraction moves a range to zero, so one comparison tests it.
        let letters = vsubq_u8(vorrq_u8(bytes, vdupq_n_u8(0x20)), vdupq_n_u8(b'a'));
        let letters = vcltq_u8(letters, vdupq_n_u8(26));
        // The bytes from `-` to `9` are `-`, `.`, `/` and the digits; `/` is excluded afterwards.
        let digits = vcltq_u8(vsubq_u8(bytes, vdupq_n_u8(b'-')), vdupq_n_u8(13));
        let digits = vbicq_u8(digits, vceqq_u8(bytes, vdupq_n_u8(b'/')));
        let others = vorrq_u8(vceqq_u8(bytes, vdupq_n_u8(b'_')), vceqq_u8(bytes, vdupq_n_u8(other)));
        none(vmvnq_u8(vorrq_u8(vorrq_u8(letters, digits), others)))
    }
    #[cfg(not(any(
        all(target_arch = "x86_64", target_feature = "sse2"),
        all(target_arch = "aarch64", target_feature = "neon"),
    )))]
    {
        all_common_in_word(a, other) && all_common_in_word(b, other)
    }
}

/// Reports whether no bit of `lanes` is set.
#[cfg(all(target_arch = "aarch64", target_feature = "neon"))]
#[cfg_attr(optimized, inline(always))]
fn none(lanes: core::arch::aarch64::uint8x16_t) -> bool {
    use core::arch::aarch64::*;
    // SAFETY: this is compiled only for targets with NEON. The narrowing saturates, so a word that is not zero stays nonzero.
    unsafe { vget_lane_u64::<0>(vreinterpret_u64_u32(vqmovn_u64(vreinterpretq_u64_u8(lanes)))) == 0 }
}
