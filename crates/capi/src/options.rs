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
pub(crate) fn has(flags: u32, flag: u32) -> bool {
    flags & flag == flag
}

/// The encoder that a caller asks for; nothing if flags exclude each other or are not for encoders.
#[inline(always)]
pub(crate) fn encoder(keep: Option<&ByteSet>, flags: u32) -> Option<Encode<ByteSet>> {
    let set = match keep {
        Some(set) => *set,
        None => sets::RFC3986_UNRESERVED.to_byte_set(),
    };
    let mut encode = Encode::keeping(set);
    if flags != 0 {
        let form = flags & (SIMDPCT_FORM | SIMDPCT_FORM_KEEP_PLUS);
        if flags & !OF_ENCODERS != 0 || (form != 0 && has(flags, SIMDPCT_KEEP_ESCAPES)) {
            return None;
        }
        encode = match form {
            0 if has(flags, SIMDPCT_KEEP_ESCAPES) => encode.keep_escapes(),
            0 => encode,
            SIMDPCT_FORM => encode.form(),
            _ => encode.form_keeping_plus(),
        };
        if has(flags, SIMDPCT_LOWER_CASE) {
            encode = encode.hex_case(HexCase::Lower);
        }
    }
    Some(encode)
}

/// The decoders without a set, made once: to put one together takes longer than to decode a short value.
#[inline(always)]
pub(crate) fn known_decoder(keep: Option<&ByteSet>, flags: u32) -> Option<&'static TryDecode> {
    static PLAIN: TryDecode = Decode::new().strict_if(false);
    static STRICT: TryDecode = Decode::new().strict();
    static FORM: TryDecode = Decode::new().form().strict_if(false);
    static FORM_STRICT: TryDecode = Decode::new().form().strict();
    static NORMALIZE: TryDecode = Decode::NORMALIZE.strict_if(false);

    if keep.is_some() {
        return None;
    }
    const FORM_AND_STRICT: u32 = SIMDPCT_FORM | SIMDPCT_STRICT;
    match flags {
        0 => Some(&PLAIN),
        SIMDPCT_STRICT => Some(&STRICT),
        SIMDPCT_FORM => Some(&FORM),
        FORM_AND_STRICT => Some(&FORM_STRICT),
        SIMDPCT_NORMALIZE => Some(&NORMALIZE),
        _ => None,
    }
}

/// The same of those that are not strict, for decoding in place, where these need no look at the input before.
#[inline(always)]
pub(crate) fn known_lenient(keep: Option<&ByteSet>, flags: u32) -> Option<&'static Decode> {
    static PLAIN: Decode = Decode::new();
    static FORM: Decode = Decode::new().form();
    static NORMALIZE: Decode = Decode::NORMALIZE;

    if keep.is_some() {
        return None;
    }
    match flags {
        0 => Some(&PLAIN),
        SIMDPCT_FORM => Some(&FORM),
        SIMDPCT_NORMALIZE => Some(&NORMALIZE),
        _ => None,
    }
}

/// A decoder, and whether it is strict: only then a verb looks for errors.
pub(crate) struct Decoder {
    pub(crate) decode: Decode,
    pub(crate) strict: bool,
}

/// The decoder that a caller asks for; nothing if flags exclude each other or are not for decoders.
#[inline(always)]
pub(crate) fn decoder(keep: Option<&ByteSet>, flags: u32) -> Option<Decoder> {
    let mut decode = Decode::new();
    if flags != 0 {
        if flags & !OF_DECODERS != 0 {
            return None;
        }
        if has(flags, SIMDPCT_FORM) {
            decode = decode.form();
        }
        if has(flags, SIMDPCT_NORMALIZE) {
            if has(flags, SIMDPCT_FORM) || keep.is_some() {
                return None;
            }
            decode = Decode::NORMALIZE;
        }
    }
    if let Some(set) = keep {
        decode = decode.keep(*set);
    }
    Some(Decoder { decode, strict: has(flags, SIMDPCT_STRICT) })
}
