//! Makes an encoder or a decoder from flags and a set.

use codec::internals::form_keeping_plus;
use codec::{ByteSet, Decode, Encode, HexCase, TryDecode, sets};

pub const SIMDPCT_FORM: u32 = 1 << 0;
pub const SIMDPCT_FORM_KEEP_PLUS: u32 = 1 << 1;
pub const SIMDPCT_KEEP_ESCAPES: u32 = 1 << 2;
pub const SIMDPCT_LOWER_CASE: u32 = 1 << 3;
pub const SIMDPCT_STRICT: u32 = 1 << 4;
pub const SIMDPCT_NORMALIZE: u32 = 1 << 5;
pub const SIMDPCT_IF_CHANGED: u32 = 1 << 6;
pub const SIMDPCT_ENVIRONMENT: u32 = 1 << 7;

const FOR_ENCODERS: u32 =
    SIMDPCT_FORM | SIMDPCT_FORM_KEEP_PLUS | SIMDPCT_KEEP_ESCAPES | SIMDPCT_LOWER_CASE | SIMDPCT_IF_CHANGED;
const FOR_DECODERS: u32 = SIMDPCT_FORM | SIMDPCT_STRICT | SIMDPCT_NORMALIZE | SIMDPCT_IF_CHANGED;

/// Reports whether `flags` has all bits of `flag`.
#[inline(always)]
pub(crate) const fn has(flags: u32, flag: u32) -> bool {
    flags & flag == flag
}

/// Returns the encoder for `keep` and `flags`, like [`inline_encoder`]. This function is not inlined. It is for callers
/// that are large or rarely called.
#[inline(never)]
pub(crate) fn encoder<'b>(
    keep: Option<&ByteSet>,
    flags: u32,
    built: &'b mut Option<Encode<ByteSet>>,
) -> Option<&'b Encode<ByteSet>> {
    inline_encoder(keep, flags, built)
}

/// Returns the encoder for `keep` and `flags`. Returns `None` if a flag is not for encoders or excludes another flag.
/// If the caller passes a set, the encoder is built in `built`. The encoders without such a set are constants, so that
/// a call does not build them.
#[inline(always)]
pub(crate) fn inline_encoder<'b>(
    keep: Option<&ByteSet>,
    flags: u32,
    built: &'b mut Option<Encode<ByteSet>>,
) -> Option<&'b Encode<ByteSet>> {
    static DEFAULTS: [Option<Encode<ByteSet>>; 16] = {
        let mut encoders = [None; 16];
        let mut flags = 0;
        while flags < encoders.len() {
            if are_for_encoders(flags as u32) {
                encoders[flags] = Some(build_encoder(sets::RFC3986_UNRESERVED.to_byte_set(), flags as u32));
            }
            flags += 1;
        }
        encoders
    };

    match keep {
        None => DEFAULTS.get((flags & !SIMDPCT_IF_CHANGED) as usize)?.as_ref(),
        Some(_) if !are_for_encoders(flags) => None,
        Some(set) if flags & (SIMDPCT_FORM | SIMDPCT_FORM_KEEP_PLUS) != 0 => {
            Some(built.insert(form_encoder(set, flags)))
        }
        Some(set) if has(flags, SIMDPCT_KEEP_ESCAPES) => {
            Some(built.insert(build_encoder(*set, SIMDPCT_KEEP_ESCAPES | flags & SIMDPCT_LOWER_CASE)))
        }
        Some(set) => Some(built.insert(build_encoder(*set, flags & SIMDPCT_LOWER_CASE))),
    }
}

/// Builds an encoder in form mode. This function is not inlined, to keep its code out of the callers.
#[inline(never)]
fn form_encoder(set: &ByteSet, flags: u32) -> Encode<ByteSet> {
    build_encoder(*set, flags)
}

#[inline(always)]
const fn are_for_encoders(flags: u32) -> bool {
    let form = flags & (SIMDPCT_FORM | SIMDPCT_FORM_KEEP_PLUS);
    flags & !FOR_ENCODERS == 0 && (form == 0 || !has(flags, SIMDPCT_KEEP_ESCAPES))
}

#[inline(always)]
const fn build_encoder(set: ByteSet, flags: u32) -> Encode<ByteSet> {
    let case = if has(flags, SIMDPCT_LOWER_CASE) { HexCase::Lower } else { HexCase::Upper };
    let encode = Encode::keeping(set).hex_case(case);
    if has(flags, SIMDPCT_FORM_KEEP_PLUS) {
        form_keeping_plus(encode)
    } else if has(flags, SIMDPCT_FORM) {
        encode.form()
    } else if has(flags, SIMDPCT_KEEP_ESCAPES) {
        encode.keep_escapes()
    } else {
        encode
    }
}

/// Returns the decoder for `keep` and `flags`, like [`inline_decoder`]. This function is not inlined. It is for callers
/// that are large or rarely called.
#[inline(never)]
pub(crate) fn decoder<'b>(
    keep: Option<&ByteSet>,
    flags: u32,
    built: &'b mut Option<TryDecode>,
) -> Option<&'b TryDecode> {
    inline_decoder(keep, flags, built)
}

/// Returns the decoder for `keep` and `flags`. Returns `None` if a flag is not for decoders or excludes another flag.
/// If the caller passes a set, the decoder is built in `built`. The decoders without such a set are constants.
#[inline(always)]
pub(crate) fn inline_decoder<'b>(
    keep: Option<&ByteSet>,
    flags: u32,
    built: &'b mut Option<TryDecode>,
) -> Option<&'b TryDecode> {
    const FORM: Decode = Decode::new().form();
    // The index of a decoder consists of the bits 4, 5 and 0 of its flags: `SIMDPCT_STRICT`, `SIMDPCT_NORMALIZE` and `SIMDPCT_FORM`.
    // The last two exclude each other.
    static DEFAULTS: [TryDecode; 6] = [
        Decode::new().lenient(),
        Decode::new().strict(),
        Decode::NORMALIZE.lenient(),
        Decode::NORMALIZE.strict(),
        FORM.lenient(),
        FORM.strict(),
    ];

    if !are_for_decoders(flags) {
        return None;
    }
    match keep {
        None => DEFAULTS.get((flags >> 4 & 3 | (flags & SIMDPCT_FORM) << 2) as usize),
        Some(_) if has(flags, SIMDPCT_NORMALIZE) => None,
        Some(set) => Some(built.insert(build_decoder(Decode::new().keep(*set), flags))),
    }
}

#[inline(always)]
const fn are_for_decoders(flags: u32) -> bool {
    flags & !FOR_DECODERS == 0 && !has(flags, SIMDPCT_NORMALIZE | SIMDPCT_FORM)
}

/// Turns on form mode and strictness in `decode`, as `flags` demand.
#[inline(always)]
const fn build_decoder(decode: Decode, flags: u32) -> TryDecode {
    let decode = if has(flags, SIMDPCT_FORM) { decode.form() } else { decode };
    if has(flags, SIMDPCT_STRICT) { decode.strict() } else { decode.lenient() }
}
