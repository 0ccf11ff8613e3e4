//! The functions for header fields: `ext-value`s (RFC 8187), and names in `multipart/form-data` (HTML Standard).

use core::mem::MaybeUninit;
use core::{iter, str};

use codec::{ByteSet, Decode, Encode, TryDecode, decode_escape, sets};

use crate::result::{SIMDPCT_NOT_FOUND, ValueResult};
use crate::verbs;

/// The charset and the empty language tag of a value that is encoded.
const PREFIX: &[u8] = b"UTF-8''";
static EXT_VALUE: Encode<ByteSet> = Encode::keeping(sets::RFC8187_ATTR_CHAR.to_byte_set());
static DECODE: TryDecode = Decode::new().strict();
static MULTIPART_NAME: ByteSet = ByteSet::from_bytes(b"\"\r\n").complement();

pub(crate) fn encode_ext_value(text: &[u8], out: &mut [MaybeUninit<u8>]) -> ValueResult {
    if let Err(error) = str::from_utf8(text) {
        return ValueResult::malformed(error.valid_up_to());
    }
    let Some((start, rest)) = out.split_at_mut_checked(PREFIX.len()) else {
        return ValueResult::too_small(EXT_VALUE.encoded_len(text).saturating_add(PREFIX.len()));
    };
    match EXT_VALUE.encode_to_uninit(text, rest) {
        Ok(written) => {
            iter::zip(start, PREFIX).for_each(|(place, byte)| _ = place.write(*byte));
            ValueResult::ok(PREFIX.len() + written.len())
        }
        Err(error) => ValueResult::too_small(error.needed.saturating_add(PREFIX.len())),
    }
}

/// Decodes an `ext-value`. Also returns its language tag, which is empty if there is an error.
pub(crate) fn decode_ext_value<'v>(value: &'v [u8], out: &mut [MaybeUninit<u8>]) -> (ValueResult, &'v [u8]) {
    let failed = |offset| (ValueResult::malformed(offset), &[][..]);
    let mut parts = value.splitn(3, |byte| *byte == b'\'');
    let (Some(charset), Some(language), Some(escaped)) = (parts.next(), parts.next(), parts.next()) else {
        return failed(value.len());
    };
    let is_other = |byte: &u8| !byte.is_ascii_alphanumeric() && *byte != b'-';
    if let Some(at) = language.iter().position(is_other) {
        return failed(charset.len() + 1 + at);
    }
    let is_utf8 = charset.eq_ignore_ascii_case(b"UTF-8");
    if !is_utf8 && !charset.eq_ignore_ascii_case(b"ISO-8859-1") {
        return (ValueResult { status: SIMDPCT_NOT_FOUND, written: 0, needed: 0, offset: 0 }, &[]);
    }
    let start = value.len() - escaped.len();
    if let Some(at) = EXT_VALUE.keep_escapes().first_change(escaped) {
        return failed(start + at);
    }
    if !is_utf8 {
        return (latin1_to_utf8(escaped, out), language);
    }
    match DECODE.decode_to_uninit(escaped, out) {
        Ok(text) => match str::from_utf8(text) {
            Ok(text) => (ValueResult::ok(text.len()), language),
            Err(error) => {
                let invalid = decoded(escaped).nth(error.valid_up_to());
                failed(start + invalid.map_or(0, |(offset, _)| offset))
            }
        },
        Err(_) => (verbs::decode_with(&DECODE, escaped, &mut []), language),
    }
}

/// Returns the bytes of a text without malformed escapes, decoded, each with its offset in the text.
fn decoded(text: &[u8]) -> impl Iterator<Item = (usize, u8)> {
    let mut at = 0;
    iter::from_fn(move || {
        let offset = at;
        let rest = &text[offset..];
        let escape = decode_escape(rest);
        at += if escape.is_some() { 3 } else { 1 };
        Some((offset, escape.or(rest.first().copied())?))
    })
}

/// Decodes text in ISO-8859-1, in which the number of a byte is that of its character in Unicode, and writes it in UTF-8.
fn latin1_to_utf8(escaped: &[u8], out: &mut [MaybeUninit<u8>]) -> ValueResult {
    let needed = decoded(escaped).map(|(_, byte)| char::from(byte).len_utf8()).sum();
    if out.len() < needed {
        return ValueResult::too_small(needed);
    }
    let mut places = out.iter_mut();
    for (_, byte) in decoded(escaped) {
        let mut utf8 = [0; 2];
        let utf8 = char::from(byte).encode_utf8(&mut utf8).as_bytes();
        // The bytes come first, because `zip` takes an item of its first iterator before it sees that the second has ended.
        iter::zip(utf8, places.by_ref()).for_each(|(byte, place)| _ = place.write(*byte));
    }
    ValueResult::ok(needed)
}

pub(crate) fn encode_multipart_name(name: &[u8], out: &mut [MaybeUninit<u8>]) -> ValueResult {
    verbs::encode(Some(&MULTIPART_NAME), 0, name, out)
}

pub(crate) fn decode_multipart_name(name: &[u8], out: &mut [MaybeUninit<u8>]) -> ValueResult {
    verbs::decode(Some(&MULTIPART_NAME), 0, name, out)
}
