//! Calls the functions of the C header with fuzzed sets, flags, capacities, pieces, columns and header fields, and
//! compares the results with those of the oracle.

#![no_main]

// The C library ends the process at a panic and has no `std`, so this file includes its modules instead of linking it.
extern crate simdpct as codec;
#[path = "../../crates/capi/src/batch.rs"]
mod batch;
#[path = "../../crates/capi/src/border.rs"]
mod border;
#[path = "../../crates/capi/src/exports.rs"]
mod exports;
#[path = "../../crates/capi/src/header.rs"]
mod header;
#[path = "../../crates/capi/src/options.rs"]
mod options;
#[path = "../../crates/capi/src/result.rs"]
mod result;
#[path = "../../crates/capi/src/sets.rs"]
mod sets;
#[path = "../../crates/capi/src/stream.rs"]
mod stream;
#[path = "../../crates/capi/src/tier.rs"]
mod tier;
#[path = "../../crates/capi/src/verbs.rs"]
mod verbs;
/// Replaces the module `system` of the C library, which has the panic handler.
mod system {
    pub(crate) unsafe fn environment<'a>(_: &core::ffi::CStr) -> Option<&'a core::ffi::CStr> {
        None
    }
}

use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::ptr;

use arbitrary::Arbitrary;
use border::Slice;
use exports::*;
use libfuzzer_sys::fuzz_target;
use options::*;
use result::*;
use simdpct_fuzz::Set;
use testkit::oracle::{self, Members, Rule};

#[derive(Arbitrary, Debug)]
struct Case<'a> {
    set: Option<Set<'a>>,
    flags: u8,
    /// The first capacity that is tried. If it is too small, the exact one follows.
    cap: u16,
    pieces: &'a [u8],
    input: &'a [u8],
}

const FILL: u8 = 0xA5;

/// The bytes that stay in an `ext-value` (RFC 8187, section 3.2.1).
const ATTR_CHAR: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789!#$&+-.^_`|~";

/// Calls a function with a capacity. If that is too small, calls it again with the exact capacity. Returns the output,
/// or the offset of the malformed escape.
fn call(cap: usize, function: impl Fn(*mut c_void, usize) -> ValueResult) -> Result<Vec<u8>, usize> {
    let attempt = |cap: usize| {
        // The address sanitizer detects a write after the last byte.
        let mut out = vec![FILL; cap].into_boxed_slice();
        let result = function(out.as_mut_ptr().cast(), cap);
        (result, out)
    };
    let (mut result, mut out) = attempt(cap);
    if result.status == SIMDPCT_TOO_SMALL {
        assert!(result.needed > cap && out.iter().all(|&byte| byte == FILL), "{} {cap}", result.needed);
        (result, out) = attempt(result.needed);
    }
    match result.status {
        SIMDPCT_OK => {
            assert_eq!(result.written, result.needed);
            Ok(out[..result.written].to_vec())
        }
        SIMDPCT_MALFORMED => Err(result.offset),
        status => panic!("status {status}"),
    }
}

/// Calls a batch function with a capacity that may be too small, and then with the exact one. Compares its outputs with `right`, which has
/// `None` for each rejected value.
fn check_batch<O: Clone + Default + Into<i64>>(
    cap: usize,
    right: &[Option<Vec<u8>>],
    function: impl Fn(*mut c_void, usize, *mut O, *mut u8) -> BatchResult,
) {
    let ends: Vec<usize> = right
        .iter()
        .scan(0, |end, value| {
            *end += value.as_ref().map_or(0, Vec::len);
            Some(*end)
        })
        .collect();
    let needed = ends.last().copied().unwrap_or(0);
    for cap in [cap % (needed + 1), needed] {
        let mut out = vec![FILL; cap].into_boxed_slice();
        let mut offsets = vec![O::default(); right.len() + 1].into_boxed_slice();
        let mut valid = vec![0xFF; right.len().div_ceil(8)].into_boxed_slice();
        let result = function(out.as_mut_ptr().cast(), cap, offsets.as_mut_ptr(), valid.as_mut_ptr());
        let fits = ends.partition_point(|&end| end <= cap);
        let status = if fits == right.len() { SIMDPCT_OK } else { SIMDPCT_TOO_SMALL };
        assert_eq!((result.status, result.values, result.needed), (status, fits, needed));
        assert_eq!(
            out[..result.written],
            right[..fits].iter().flatten().flatten().copied().collect::<Vec<u8>>()
        );
        assert!(
            offsets[1..].iter().zip(&ends[..fits]).all(|(offset, &end)| offset.clone().into() == end as i64)
        );
        let rejected = |index: &usize| right[*index].is_none();
        assert_eq!(result.rejected, (0..fits).filter(rejected).count());
        assert!(result.rejected == 0 || Some(result.first_rejected) == (0..fits).find(rejected));
        assert!((0..fits).all(|index| (valid[index / 8] >> (index % 8) & 1 == 0) == rejected(&index)));
    }
}

/// Checks that `change` is the offset of the first byte or escape of `input` that `run` changes.
fn check_change(input: &[u8], change: usize, run: impl Fn(&[u8]) -> Vec<u8>) {
    // A change begins with one byte or one escape.
    let end = input.len().min(change + 3);
    assert_eq!(run(&input[..change]), input[..change]);
    assert!(change == input.len() || run(&input[..end]) != input[..end], "{change}");
}

/// Decodes an `ext-value` by RFC 8187 and RFC 5987, a byte at a time. Returns the text and the language, or the offset of the first wrong
/// byte. Returns `None` for an unknown charset.
fn decode_ext_value(value: &[u8]) -> Option<Result<(Vec<u8>, &[u8]), usize>> {
    let quotes: Vec<usize> = (0..value.len()).filter(|&at| value[at] == b'\'').take(2).collect();
    let [first, second] = quotes[..] else { return Some(Err(value.len())) };
    let language = first + 1..second;
    let is_tag = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    if let Some(wrong) = language.clone().find(|&at| !is_tag(value[at])) {
        return Some(Err(wrong));
    }
    let is_utf8 = match value[..first].to_ascii_lowercase().as_slice() {
        b"utf-8" => true,
        b"iso-8859-1" => false,
        _ => return None,
    };
    // `offsets` has the offset of each decoded byte in `value`.
    let (mut bytes, mut offsets, mut at) = (Vec::new(), Vec::new(), second + 1);
    while at < value.len() {
        let escape = oracle::escape_at(value, at);
        if escape.is_none() && !ATTR_CHAR.contains(&value[at]) {
            return Some(Err(at));
        }
        bytes.push(escape.unwrap_or(value[at]));
        offsets.push(at);
        at += if escape.is_some() { 3 } else { 1 };
    }
    Some(match std::str::from_utf8(&bytes) {
        Err(error) if is_utf8 => Err(offsets[error.valid_up_to()]),
        _ if is_utf8 => Ok((bytes, &value[language])),
        _ => Ok((bytes.iter().map(|&byte| char::from(byte)).collect::<String>().into(), &value[language])),
    })
}

/// Compares the functions for header fields with the oracle.
fn check_header_fields(cap: usize, input: &[u8]) {
    let name = std::array::from_fn(|byte| !matches!(byte as u8, b'"' | b'\r' | b'\n'));
    let (mut encoded, mut decoded) = (Vec::new(), Vec::new());
    oracle::encode(input, &name, Rule::Plain, true, &mut encoded);
    oracle::decode(input, &name, false, &mut decoded);
    let text = std::str::from_utf8(input).map_err(|error| error.valid_up_to()).map(|_| {
        let mut text = Vec::new();
        oracle::encode(input, &oracle::members(ATTR_CHAR), Rule::Plain, true, &mut text);
        [b"UTF-8''", text.as_slice()].concat()
    });
    let (from, len) = (input.as_ptr().cast::<c_void>(), input.len());
    // SAFETY: `from` points to `len` bytes, `call` gives outputs of their own, and nothing else accesses `language`.
    unsafe {
        assert_eq!(call(cap, |out, cap| simdpct_encode_multipart_name(from, len, out, cap)), Ok(encoded));
        assert_eq!(call(cap, |out, cap| simdpct_decode_multipart_name(from, len, out, cap)), Ok(decoded));
        assert_eq!(call(cap, |out, cap| simdpct_encode_ext_value(from, len, out, cap)), text);
        for charset in [&b""[..], b"UTF-8''", b"utf-8'en-GB'", b"iso-8859-1''", b"ISO-8859-1'"] {
            let value = [charset, input].concat();
            let mut language = [0_usize; 2];
            let tag = language.as_mut_ptr().cast::<Slice>();
            let run = |out, cap| simdpct_decode_ext_value(value.as_ptr().cast(), value.len(), out, cap, tag);
            match decode_ext_value(&value) {
                None => assert_eq!(run(ptr::null_mut(), 0).status, SIMDPCT_NOT_FOUND),
                Some(Err(offset)) => assert_eq!(call(cap, run), Err(offset)),
                Some(Ok((text, of))) => {
                    assert_eq!(call(cap, run), Ok(text));
                    assert_eq!(language, [of.as_ptr().addr(), of.len()]);
                }
            }
        }
    }
}

/// Makes sets from bytes and compares them with `members`.
fn check_sets(members: &Members) {
    let bytes = oracle::bytes(members);
    let (from, len) = (bytes.as_ptr().cast::<c_void>(), bytes.len());
    let mut sets = [MaybeUninit::uninit(); 3];
    let [own, safe, complement] = sets.each_mut().map(MaybeUninit::as_mut_ptr);
    // SAFETY: `from` points to `len` bytes, and each set is written before it is read.
    unsafe {
        assert_eq!(simdpct_set_bytes(own, from, len), SIMDPCT_OK);
        assert_eq!(simdpct_set_safe(safe, from, len), SIMDPCT_OK);
        assert_eq!(simdpct_set_complement(complement, own), SIMDPCT_OK);
        for byte in 0..=255_u8 {
            let member = members[usize::from(byte)];
            assert_eq!(simdpct_set_contains(own, byte) != 0, member);
            assert_eq!(
                simdpct_set_contains(safe, byte) != 0,
                member || oracle::UNRESERVED[usize::from(byte)]
            );
            assert_eq!(simdpct_set_contains(complement, byte) != 0, !member);
        }
    }
}

/// Feeds a stream with pieces of `input` and returns the output, or the offset of the malformed escape.
fn feed(
    case: &Case<'_>,
    push: impl Fn(Option<&[u8]>, *mut c_void, usize) -> ValueResult,
) -> Result<Vec<u8>, usize> {
    let (mut rest, mut all) = (case.input, Vec::new());
    for &len in case.pieces {
        let piece;
        (piece, rest) = rest.split_at(rest.len().min(len.into()));
        all.extend(call((case.cap % 64).into(), |out, cap| push(Some(piece), out, cap))?);
    }
    all.extend(call(case.cap.into(), |out, cap| push(Some(rest), out, cap))?);
    all.extend(call(0, |out, cap| push(None, out, cap))?);
    Ok(all)
}

fuzz_target!(|case: Case<'_>| {
    let (input, len) = (case.input.as_ptr().cast::<c_void>(), case.input.len());
    let cap = usize::from(case.cap) % (3 * len + 2);
    let members: Members = case.set.as_ref().map_or(oracle::UNRESERVED, Set::members);
    let mut set = MaybeUninit::uninit();
    let bits: [u8; 32] =
        std::array::from_fn(|i| (0..8).map(|bit| u8::from(members[8 * i + bit]) << bit).sum());
    // SAFETY: `set` has the memory of a set, and `bits` has 32 bytes.
    assert_eq!(unsafe { simdpct_set_bitmap(set.as_mut_ptr(), bits.as_ptr()) }, SIMDPCT_OK);
    let keep = if case.set.is_some() { set.as_ptr() } else { ptr::null() };
    check_sets(&members);
    check_header_fields(cap, case.input);
    // The values of a column are the pieces.
    let mut ends: Vec<usize> = vec![0];
    ends.extend(case.pieces.iter().scan(0, |end, &piece| {
        *end = len.min(*end + usize::from(piece));
        Some(*end)
    }));
    let narrow: Vec<i32> = ends.iter().map(|&end| end as i32).collect();
    let wide: Vec<i64> = ends.iter().map(|&end| end as i64).collect();
    let count = case.pieces.len();
    let slices: Vec<Slice> = ends.windows(2).map(|ends| Slice::of(&case.input[ends[0]..ends[1]])).collect();
    let values = ends.windows(2).map(|ends| &case.input[ends[0]..ends[1]]);

    // Check encoding: its length, its first change, and its output at once, in columns and in pieces.
    let (rule, mode) = [
        (Rule::Plain, 0),
        (Rule::KeepEscapes, SIMDPCT_KEEP_ESCAPES),
        (Rule::Form, SIMDPCT_FORM),
        (Rule::FormKeepingPlus, SIMDPCT_FORM_KEEP_PLUS),
    ][usize::from(case.flags % 4)];
    let lower = case.flags & 4 != 0;
    let flags = mode | if lower { SIMDPCT_LOWER_CASE } else { 0 };
    let encoded = |input: &[u8]| {
        let mut out = Vec::new();
        oracle::encode(input, &members, rule, !lower, &mut out);
        out
    };
    let right = encoded(case.input);
    let column: Vec<_> = values.clone().map(|value| Some(encoded(value))).collect();
    // SAFETY: `input` has `len` bytes, `keep` is null or a prepared set, `call` and `feed` give outputs of their own with `cap` bytes, and
    // `stream` is started before it is used.
    unsafe {
        assert_eq!(simdpct_encoded_len(keep, flags, input, len).needed, right.len());
        let change = simdpct_encode_first_change(keep, flags, input, len);
        check_change(case.input, change, encoded);
        assert_eq!(
            call(cap, |out, cap| simdpct_encode(keep, flags, input, len, out, cap)),
            Ok(right.clone())
        );
        let mut out = [FILL];
        let short = simdpct_encode(keep, flags | SIMDPCT_IF_CHANGED, input, len, out.as_mut_ptr().cast(), 0);
        assert_eq!(short.status == SIMDPCT_UNCHANGED, right == case.input);

        check_batch::<i32>(cap, &column, |out, cap, offsets, _| {
            simdpct_encode_column32(keep, flags, input, len, narrow.as_ptr(), count, out, cap, offsets)
        });
        check_batch::<i64>(cap, &column, |out, cap, offsets, _| {
            simdpct_encode_slices64(keep, flags, slices.as_ptr(), count, out, cap, offsets)
        });

        let mut stream = MaybeUninit::<[u64; 16]>::zeroed();
        let stream = stream.as_mut_ptr().cast::<EncodeStream>();
        assert_eq!(simdpct_encode_start(stream, keep, flags), SIMDPCT_OK);
        let push = |piece: Option<&[u8]>, out, cap| match piece {
            Some(piece) => simdpct_encode_push(stream, piece.as_ptr().cast(), piece.len(), out, cap),
            None => simdpct_encode_finish(stream, out, cap),
        };
        assert_eq!(feed(&case, push), Ok(right));
    }

    // Check decoding in the mode that the flags choose: at once, in place, in columns and in pieces.
    let (plus, strict, normalize) = (case.flags & 8 != 0, case.flags & 16 != 0, case.flags & 32 != 0);
    let members = if case.set.is_some() { members } else { [false; 256] };
    let (keep, flags) = if normalize {
        (ptr::null(), SIMDPCT_NORMALIZE)
    } else {
        (keep, if plus { SIMDPCT_FORM } else { 0 })
    };
    let flags = flags | if strict { SIMDPCT_STRICT } else { 0 };
    let lenient = |input: &[u8]| {
        let mut out = Vec::new();
        if normalize {
            oracle::normalize(input, &mut out);
        } else {
            oracle::decode(input, &members, plus, &mut out);
        }
        out
    };
    let decoded = |input: &[u8]| match oracle::first_malformed(input) {
        Some(malformed) if strict => Err(malformed.offset),
        _ => Ok(lenient(input)),
    };
    let malformed = oracle::first_malformed(case.input).map(|malformed| malformed.offset);
    let right = decoded(case.input);
    let column: Vec<_> = values.map(|value| decoded(value).ok()).collect();
    // SAFETY: `input` points to `len` bytes, and the closures get memory of `cap` bytes. `call` gives `len` bytes for the copy of the
    // input, which is decoded in place.
    unsafe {
        let measured = simdpct_decoded_len(keep, flags, input, len);
        match &right {
            Ok(right) => assert_eq!((measured.status, measured.needed), (SIMDPCT_OK, right.len())),
            Err(offset) => assert_eq!((measured.status, measured.offset), (SIMDPCT_MALFORMED, *offset)),
        }
        assert_eq!(call(cap, |out, cap| simdpct_decode(keep, flags, input, len, out, cap)), right);
        let in_place = call(len, |out, cap| {
            out.cast::<u8>().copy_from_nonoverlapping(case.input.as_ptr(), cap);
            let result = simdpct_decode_in_place(keep, flags, out, cap);
            ValueResult { needed: result.written, ..result }
        });
        assert_eq!(in_place, right);
        check_change(case.input, simdpct_decode_first_change(keep, flags, input, len), lenient);
        let mut out = [FILL];
        let short = simdpct_decode(keep, flags | SIMDPCT_IF_CHANGED, input, len, out.as_mut_ptr().cast(), 0);
        assert_eq!(short.status == SIMDPCT_UNCHANGED, right.as_deref() == Ok(case.input));
        check_batch::<i64>(cap, &column, |out, cap, offsets, valid| {
            simdpct_decode_column64(keep, flags, input, len, wide.as_ptr(), count, out, cap, offsets, valid)
        });
        check_batch::<i32>(cap, &column, |out, cap, offsets, valid| {
            simdpct_decode_slices32(keep, flags, slices.as_ptr(), count, out, cap, offsets, valid)
        });
        let valid = simdpct_validate(input, len);
        assert_eq!((valid.status == SIMDPCT_MALFORMED).then_some(valid.offset), malformed);

        let mut stream = MaybeUninit::<[u64; 16]>::zeroed();
        let stream = stream.as_mut_ptr().cast::<DecodeStream>();
        assert_eq!(simdpct_decode_start(stream, keep, flags), SIMDPCT_OK);
        let push = |piece: Option<&[u8]>, out, cap| match piece {
            Some(piece) => simdpct_decode_push(stream, piece.as_ptr().cast(), piece.len(), out, cap),
            None => simdpct_decode_finish(stream, out, cap),
        };
        assert_eq!(feed(&case, push), right);
    }
});
