//! Looks at a few bytes with what every CPU of the target has: no tier, no call.
//!
//! For inputs of at most sixteen bytes, the call of a kernel takes longer than all other work. The verbs look at these
//! where they are inlined, as two words that hold all bytes of the input and no others.

/// Whether no byte of two words is `%`.
#[inline(always)]
pub(crate) fn no_percent(a: u64, b: u64) -> bool {
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    // SAFETY: the target has SSE2.
    unsafe {
        use core::arch::x86_64::*;
        let bytes = _mm_set_epi64x(b.cast_signed(), a.cast_signed());
        _mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(b'%'.cast_signed()))) == 0
    }
    #[cfg(not(all(target_arch = "x86_64", target_feature = "sse2")))]
    {
        use crate::kernel::word::equal;
        equal(a, b'%') | equal(b, b'%') == 0
    }
}

/// Whether all bytes of two words are letters, digits, `-`, `.` or `_`, which nearly every set holds. `false` says nothing.
#[inline(always)]
pub(crate) fn all_usual(a: u64, b: u64) -> bool {
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    // SAFETY: the target has SSE2.
    unsafe {
        use core::arch::x86_64::*;
        let bytes = _mm_set_epi64x(b.cast_signed(), a.cast_signed());
        let all = |byte: u8| _mm_set1_epi8(byte.cast_signed());
        // Comparisons are signed: a range is moved down to where the signed numbers begin.
        let letters = _mm_add_epi8(_mm_or_si128(bytes, all(0x20)), all(0x80 - b'a'));
        let letters = _mm_cmplt_epi8(letters, all(0x80 + 26));
        // From `-` to `9`, without `/`.
        let digits = _mm_cmplt_epi8(_mm_add_epi8(bytes, all(0x80 - b'-')), all(0x80 + 13));
        let digits = _mm_andnot_si128(_mm_cmpeq_epi8(bytes, all(b'/')), digits);
        let low_line = _mm_cmpeq_epi8(bytes, all(b'_'));
        _mm_movemask_epi8(_mm_or_si128(_mm_or_si128(letters, digits), low_line)) == 0xFFFF
    }
    #[cfg(not(all(target_arch = "x86_64", target_feature = "sse2")))]
    {
        let _ = (a, b);
        false
    }
}
