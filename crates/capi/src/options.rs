//! Flags and sets, as the codec wants them.

use codec::{ByteSet, Decode, Encode, HexCase, TryDecode, sets};

/// A space is `+`.
pub const SIMDPCT_FORM: u32 = 1 << 0;
/// With `SIMDPCT_FORM`: a `+` of the set stays.
pub const SIMDPCT_FORM_KEEP_PLUS: u32 = 1 << 1;
/// Valid escapes stay.
pub const SIMDPCT_KEEP_ESCAPES: u32 = 1 << 2;
/// New escapes have digits in lower case.
pub const SIMDPCT_LOWER_CASE: u32 = 1 << 3;
/// Malformed escapes are refused.
pub const SIMDPCT_STRICT: u32 = 1 << 4;
/// Only escapes of unreserved bytes are decoded; the digits of others are written in upper case.
pub const SIMDPCT_NORMALIZE: u32 = 1 << 5;
/// Nothing is written if nothing changes.
pub const SIMDPCT_IF_CHANGED: u32 = 1 << 6;
/// The environment is asked for a tier.
pub const SIMDPCT_ENVIRONMENT: u32 = 1 << 7;

const OF_ENCODERS: u32 =
    SIMDPCT_FORM | SIMDPCT_FORM_KEEP_PLUS | SIMDPCT_KEEP_ESCAPES | SIMDPCT_LOWER_CASE | SIMDPCT_IF_CHANGED;
const OF_DECODERS: u32 = SIMDPCT_FORM | SIMDPCT_STRICT | SIMDPCT_NORMALIZE | SIMDPCT_IF_CHANGED;

/// Whether `flags` holds all bits of `flag`.
#[inline(always)]
pub(crate) const fn has(flags: u32, flag: u32) -> bool {
    flags & flag == flag
}

/// The encoder that a caller asks for; nothing if flags exclude each other or are not for encoders.
#[inline(always)]
pub(crate) const fn encoder(keep: Option<&ByteSet>, flags: u32) -> Option<Encode<ByteSet>> {
    if !are_of_encoders(flags) {
        return None;
    }
    let set = match keep {
        Some(set) => *set,
        None => sets::RFC3986_UNRESERVED.to_byte_set(),
    };
    Some(encoder_of(set, flags))
}

/// Whether flags are for encoders and do not exclude each other.
#[inline(always)]
pub(crate) const fn are_of_encoders(flags: u32) -> bool {
    let form = flags & (SIMDPCT_FORM | SIMDPCT_FORM_KEEP_PLUS);
    flags & !OF_ENCODERS == 0 && (form == 0 || !has(flags, SIMDPCT_KEEP_ESCAPES))
}

/// The encoder for flags that are right. Each rule ends in an expression of its own, so that nothing is copied from one
/// encoder to the next.
#[inline(always)]
pub(crate) const fn encoder_of(set: ByteSet, flags: u32) -> Encode<ByteSet> {
    let case = if has(flags, SIMDPCT_LOWER_CASE) { HexCase::Lower } else { HexCase::Upper };
    let form = flags & (SIMDPCT_FORM | SIMDPCT_FORM_KEEP_PLUS);
    if form == SIMDPCT_FORM {
        Encode::keeping(set).form().hex_case(case)
    } else if form != 0 {
        Encode::keeping(set).form_keeping_plus().hex_case(case)
    } else if has(flags, SIMDPCT_KEEP_ESCAPES) {
        Encode::keeping(set).keep_escapes().hex_case(case)
    } else {
        Encode::keeping(set).hex_case(case)
    }
}

/// The encoders without a set of the caller's, made at compile time: to put one together takes as long as to encode a short
/// value.
#[inline(always)]
pub(crate) fn known_encoder(keep: Option<&ByteSet>, flags: u32) -> Option<&'static Encode<ByteSet>> {
    static KNOWN: [Option<Encode<ByteSet>>; 16] = {
        let mut known = [None; 16];
        let mut flags = 0;
        while flags < known.len() {
            known[flags] = encoder(None, flags as u32);
            flags += 1;
        }
        known
    };

    match keep {
        None => KNOWN.get((flags & !SIMDPCT_IF_CHANGED) as usize)?.as_ref(),
        Some(_) => None,
    }
}

/// The decoder that a caller asks for; nothing if flags exclude each other or are not for decoders.
#[inline(always)]
pub(crate) const fn decoder(keep: Option<&ByteSet>, flags: u32) -> Option<TryDecode> {
    match keep {
        _ if !are_of_decoders(keep.is_some(), flags) => None,
        Some(set) => Some(decoder_of(set, flags)),
        None => {
            let decode = if has(flags, SIMDPCT_NORMALIZE) { Decode::NORMALIZE } else { Decode::new() };
            let decode = if has(flags, SIMDPCT_FORM) { decode.form() } else { decode };
            Some(decode.strict_if(has(flags, SIMDPCT_STRICT)))
        }
    }
}

/// Whether flags are for decoders, with or without a set, and do not exclude each other.
#[inline(always)]
pub(crate) const fn are_of_decoders(with_set: bool, flags: u32) -> bool {
    flags & !OF_DECODERS == 0 && (!has(flags, SIMDPCT_NORMALIZE) || !(with_set || has(flags, SIMDPCT_FORM)))
}

/// The decoder for a set and flags that are right.
#[inline(always)]
pub(crate) const fn decoder_of(set: &ByteSet, flags: u32) -> TryDecode {
    let strict = has(flags, SIMDPCT_STRICT);
    if has(flags, SIMDPCT_FORM) {
        Decode::new().keep(*set).form().strict_if(strict)
    } else {
        Decode::new().keep(*set).strict_if(strict)
    }
}

/// As [`known_encoder`].
#[inline(always)]
pub(crate) fn known_decoder(keep: Option<&ByteSet>, flags: u32) -> Option<&'static TryDecode> {
    // The flags of a decoder are bits 0, 4 and 5: together they are a place.
    const FLAGS: [u32; 3] = [SIMDPCT_FORM, SIMDPCT_STRICT, SIMDPCT_NORMALIZE];
    static KNOWN: [Option<TryDecode>; 8] = {
        let mut known = [None; 8];
        let mut place = 0;
        while place < known.len() {
            let (mut flags, mut bit) = (0, 0);
            while bit < FLAGS.len() {
                flags |= if place >> bit & 1 == 1 { FLAGS[bit] } else { 0 };
                bit += 1;
            }
            known[place] = decoder(None, flags);
            place += 1;
        }
        known
    };

    if keep.is_some() || flags & !OF_DECODERS != 0 {
        return None;
    }
    let flags = flags & !SIMDPCT_IF_CHANGED;
    KNOWN[((flags | flags >> 3) & 7) as usize].as_ref()
}
