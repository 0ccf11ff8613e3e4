//! Calls the functions of the C header with fuzzed sets, flags, capacities, pieces and columns, and compares with the oracle.

#![no_main]

// The C library itself ends the process at a panic and has no `std`, so its modules are included, as `records` does for the command.
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
/// Takes the place of the module with the panic handler.
mod system {
    pub(crate) unsafe fn environment<'a>(_: &core::ffi::CStr) -> Option<&'a core::ffi::CStr> {
        None
    }
}

use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::ptr;

use arbitrary::Arbitrary;
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

/// Calls a function with a capacity that may be too small, and then with the exact one. Returns the output, or the offset of the
/// malformed escape.
fn call(cap: usize, function: impl Fn(*mut c_void, usize) -> ValueResult) -> Result<Vec<u8>, usize> {
    let attempt = |cap: usize| {
        // The address sanitizer sees a write after the last byte.
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
    // SAFETY, of this block and the next two: each pointer is to memory of the length beside it, and outputs are memory of their own.
    assert_eq!(unsafe { simdpct_set_bitmap(set.as_mut_ptr(), bits.as_ptr()) }, SIMDPCT_OK);
    let keep = if case.set.is_some() { set.as_ptr() } else { ptr::null() };

    // Encoding: lengths, the first change, one value, in pieces.
    let (rule, mode) = [
        (Rule::Plain, 0),
        (Rule::KeepEscapes, SIMDPCT_KEEP_ESCAPES),
        (Rule::Form, SIMDPCT_FORM),
        (Rule::FormKeepingPlus, SIMDPCT_FORM_KEEP_PLUS),
    ][usize::from(case.flags % 4)];
    let lower = case.flags & 4 != 0;
    let flags = mode | if lower { SIMDPCT_LOWER_CASE } else { 0 };
    let mut right = Vec::new();
    oracle::encode(case.input, &members, rule, !lower, &mut right);
    // SAFETY: `input` has `len` bytes, `keep` is null or a prepared set, `call` and `feed` give outputs of their own with `cap` bytes, and
    // `stream` is started before it is used.
    unsafe {
        assert_eq!(simdpct_encoded_len(keep, flags, input, len).needed, right.len());
        let change = simdpct_encode_first_change(keep, flags, input, len);
        assert_eq!(case.input[..change], right[..change]);
        assert_eq!(change == len, right == case.input);
        assert_eq!(
            call(cap, |out, cap| simdpct_encode(keep, flags, input, len, out, cap)),
            Ok(right.clone())
        );
        let mut out = [FILL];
        let short = simdpct_encode(keep, flags | SIMDPCT_IF_CHANGED, input, len, out.as_mut_ptr().cast(), 0);
        assert_eq!(short.status == SIMDPCT_UNCHANGED, right == case.input);

        let mut stream = MaybeUninit::<[u64; 16]>::zeroed();
        let stream = stream.as_mut_ptr().cast::<EncodeStream>();
        assert_eq!(simdpct_encode_start(stream, keep, flags), SIMDPCT_OK);
        let push = |piece: Option<&[u8]>, out, cap| match piece {
            Some(piece) => simdpct_encode_push(stream, piece.as_ptr().cast(), piece.len(), out, cap),
            None => simdpct_encode_finish(stream, out, cap),
        };
        assert_eq!(feed(&case, push), Ok(right));
    }

    // Decoding in all modes, and in place.
    let (plus, strict, normalize) = (case.flags & 8 != 0, case.flags & 16 != 0, case.flags & 32 != 0);
    let members = if case.set.is_some() { members } else { [false; 256] };
    let (keep, flags) = if normalize {
        (ptr::null(), SIMDPCT_NORMALIZE)
    } else {
        (keep, if plus { SIMDPCT_FORM } else { 0 })
    };
    let flags = flags | if strict { SIMDPCT_STRICT } else { 0 };
    let mut right = Vec::new();
    if normalize {
        oracle::normalize(case.input, &mut right);
    } else {
        oracle::decode(case.input, &members, plus, &mut right);
    }
    let malformed = oracle::first_malformed(case.input).map(|malformed| malformed.offset);
    let right = if let (true, Some(offset)) = (strict, malformed) { Err(offset) } else { Ok(right) };
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
