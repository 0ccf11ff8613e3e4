//! The functions of `simdpct.h`, which is their documentation: here, arguments become safe types, and are handed on.
//!
//! Each function first looks at all that can be seen to be wrong with its pointers, so that the slices it makes are valid and
//! no slice that is written overlaps another.

use core::ffi::{CStr, c_char, c_void};

use codec::batch::Offset;
use codec::{ByteSet, Tier};

use crate::answer::{Answer, BatchAnswer, SIMDPCT_INVALID, SIMDPCT_NOT_FOUND, SIMDPCT_OK};
use crate::batch::{self, Target};
use crate::border::{self, Range, Slice};
use crate::options::{self, SIMDPCT_ENVIRONMENT};
use crate::stream::{self, Stream};
use crate::{sets, system, tier, verbs};

/// `simdpct_encode_stream`.
#[repr(C)]
pub struct EncodeStream(Stream);

/// `simdpct_decode_stream`.
#[repr(C)]
pub struct DecodeStream(Stream);

/// The size of a stream in the header.
const STREAM: usize = 128;
const _: () = assert!(size_of::<EncodeStream>() <= STREAM && align_of::<EncodeStream>() <= 8);
const _: () = assert!(size_of::<ByteSet>() == 64 && align_of::<ByteSet>() == 8);

// ---- one value

/// # Safety
///
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn simdpct_encode(
    keep: *const ByteSet,
    flags: u32,
    input: *const c_void,
    len: usize,
    out: *mut c_void,
    room: usize,
) -> Answer {
    if !Range::new::<u8>(input.cast(), len).is_apart_from(Range::new::<u8>(out.cast(), room)) {
        return Answer::invalid();
    }
    // SAFETY: the caller vouches for set, input and room; input and room were just seen to be apart.
    let (keep, input, out) =
        unsafe { (border::one(keep), border::slice(input.cast(), len), border::room(out.cast(), room)) };
    match (input, out) {
        (Some(input), Some(out)) => verbs::encode(keep, flags, input, out),
        _ => Answer::invalid(),
    }
}

/// # Safety
///
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn simdpct_encoded_len(
    keep: *const ByteSet,
    flags: u32,
    input: *const c_void,
    len: usize,
) -> Answer {
    // SAFETY: the caller vouches for set and input.
    let (keep, input) = unsafe { (border::one(keep), border::slice(input.cast(), len)) };
    input.map_or_else(Answer::invalid, |input| verbs::encoded_len(keep, flags, input))
}

/// # Safety
///
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn simdpct_encode_first_change(
    keep: *const ByteSet,
    flags: u32,
    input: *const c_void,
    len: usize,
) -> usize {
    // SAFETY: the caller vouches for set and input.
    let (keep, input) = unsafe { (border::one(keep), border::slice(input.cast(), len)) };
    input.and_then(|input| verbs::encode_first_change(keep, flags, input)).unwrap_or(len)
}

/// # Safety
///
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn simdpct_decode(
    keep: *const ByteSet,
    flags: u32,
    input: *const c_void,
    len: usize,
    out: *mut c_void,
    room: usize,
) -> Answer {
    if input.cast_mut() == out && room >= len {
        // SAFETY: the caller vouches for set and bytes, which are both input and room.
        return unsafe { simdpct_decode_in_place(keep, flags, out, len) };
    }
    if !Range::new::<u8>(input.cast(), len).is_apart_from(Range::new::<u8>(out.cast(), room)) {
        return Answer::invalid();
    }
    // SAFETY: the caller vouches for set, input and room; input and room were just seen to be apart.
    let (keep, input, out) =
        unsafe { (border::one(keep), border::slice(input.cast(), len), border::room(out.cast(), room)) };
    match (input, out) {
        (Some(input), Some(out)) => verbs::decode(keep, flags, input, out),
        _ => Answer::invalid(),
    }
}

/// # Safety
///
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn simdpct_decode_in_place(
    keep: *const ByteSet,
    flags: u32,
    bytes: *mut c_void,
    len: usize,
) -> Answer {
    // SAFETY: the caller vouches for set and bytes.
    let (keep, bytes) = unsafe { (border::one(keep), border::slice_mut(bytes.cast(), len)) };
    match bytes {
        Some(bytes) => verbs::decode_in_place(keep, flags, bytes),
        None => Answer::invalid(),
    }
}

/// # Safety
///
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn simdpct_decoded_len(
    keep: *const ByteSet,
    flags: u32,
    input: *const c_void,
    len: usize,
) -> Answer {
    // SAFETY: the caller vouches for set and input.
    let (keep, input) = unsafe { (border::one(keep), border::slice(input.cast(), len)) };
    input.map_or_else(Answer::invalid, |input| verbs::decoded_len(keep, flags, input))
}

/// # Safety
///
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn simdpct_decode_first_change(
    keep: *const ByteSet,
    flags: u32,
    input: *const c_void,
    len: usize,
) -> usize {
    // SAFETY: the caller vouches for set and input.
    let (keep, input) = unsafe { (border::one(keep), border::slice(input.cast(), len)) };
    input.and_then(|input| verbs::decode_first_change(keep, flags, input)).unwrap_or(len)
}

/// # Safety
///
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn simdpct_normalize(
    input: *const c_void,
    len: usize,
    out: *mut c_void,
    room: usize,
) -> Answer {
    // SAFETY: the caller vouches for input and room.
    unsafe { simdpct_decode(core::ptr::null(), options::SIMDPCT_NORMALIZE, input, len, out, room) }
}

/// # Safety
///
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn simdpct_normalize_in_place(bytes: *mut c_void, len: usize) -> Answer {
    // SAFETY: the caller vouches for the bytes.
    unsafe { simdpct_decode_in_place(core::ptr::null(), options::SIMDPCT_NORMALIZE, bytes, len) }
}

/// # Safety
///
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn simdpct_validate(input: *const c_void, len: usize) -> Answer {
    // SAFETY: the caller vouches for the input.
    unsafe { border::slice(input.cast(), len) }.map_or_else(Answer::invalid, verbs::validate)
}

// ---- many values

/// The arguments that all batch functions share.
struct Output<O> {
    out: *mut c_void,
    room: usize,
    offsets: *mut O,
    valid: *mut u8,
    count: usize,
}

impl<O: Offset> Output<O> {
    /// Where it is.
    fn ranges(&self) -> [Range; 3] {
        let valid = if self.valid.is_null() { 0 } else { self.count.div_ceil(8) };
        [
            Range::new::<u8>(self.out.cast(), self.room),
            Range::new(self.offsets, self.count.saturating_add(1)),
            Range::new(self.valid, valid),
        ]
    }

    /// Whether all of it is apart from itself and from `other`.
    fn is_apart_from(&self, other: Range) -> bool {
        self.ranges().into_iter().all(|range| range.is_apart_from(other))
    }

    /// As slices, if they are apart.
    ///
    /// # Safety
    ///
    /// The caller of the C function vouches for the memory.
    unsafe fn target<'a>(self) -> Option<Target<'a, O>> {
        let [bytes, offsets, valid] = self.ranges();
        let apart =
            bytes.is_apart_from(offsets) && bytes.is_apart_from(valid) && offsets.is_apart_from(valid);
        if !apart {
            return None;
        }
        // SAFETY: the caller vouches for the memory, and the three were just seen to be apart.
        unsafe {
            Some(Target {
                bytes: border::room(self.out.cast(), self.room)?,
                offsets: border::room(self.offsets, self.count.checked_add(1)?)?,
                valid: match self.valid.is_null() {
                    true => None,
                    false => Some(border::slice_mut(self.valid, self.count.div_ceil(8))?),
                },
            })
        }
    }
}

/// The bytes and offsets of a column, and where its output goes.
///
/// # Safety
///
/// The caller of the C function vouches for the memory.
unsafe fn column<'a, O: Offset>(
    bytes: *const c_void,
    len: usize,
    offsets: *const O,
    output: Output<O>,
) -> Option<(&'a [u8], &'a [O], Target<'a, O>)> {
    let count = output.count.checked_add(1)?;
    let apart = output.is_apart_from(Range::new::<u8>(bytes.cast(), len))
        && output.is_apart_from(Range::new(offsets, count));
    if !apart {
        return None;
    }
    // SAFETY: the caller vouches for the memory, and input was just seen to be apart from output.
    unsafe { Some((border::slice(bytes.cast(), len)?, border::slice(offsets, count)?, output.target()?)) }
}

/// The slices of an array, and where its output goes.
///
/// # Safety
///
/// The caller of the C function vouches for the memory.
unsafe fn slices<'a, O: Offset>(
    values: *const Slice,
    output: Output<O>,
) -> Option<(&'a [Slice], Target<'a, O>)> {
    if !output.is_apart_from(Range::new(values, output.count)) {
        return None;
    }
    // SAFETY: the caller vouches for the memory, and the array was just seen to be apart from output.
    let values = unsafe { border::slice(values, output.count) }?;
    if !values.iter().all(|value| value.is_valid() && output.is_apart_from(value.range())) {
        return None;
    }
    // SAFETY: the same, and all values were just seen to be apart from output, too.
    Some((values, unsafe { output.target() }?))
}

/// # Safety
///
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn simdpct_encode_column32(
    keep: *const ByteSet,
    flags: u32,
    bytes: *const c_void,
    len: usize,
    offsets: *const i32,
    count: usize,
    out: *mut c_void,
    room: usize,
    out_offsets: *mut i32,
) -> BatchAnswer {
    let output = Output { out, room, offsets: out_offsets, valid: core::ptr::null_mut(), count };
    // SAFETY: the caller vouches for set and memory.
    let (keep, column) = unsafe { (border::one(keep), column(bytes, len, offsets, output)) };
    match (batch::encoder(keep, flags), column) {
        (Some(encode), Some((bytes, offsets, target))) => {
            batch::encode_column(&encode, bytes, offsets, target)
        }
        _ => BatchAnswer::INVALID,
    }
}

/// # Safety
///
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn simdpct_encode_slices32(
    keep: *const ByteSet,
    flags: u32,
    values: *const Slice,
    count: usize,
    out: *mut c_void,
    room: usize,
    out_offsets: *mut i32,
) -> BatchAnswer {
    let output = Output { out, room, offsets: out_offsets, valid: core::ptr::null_mut(), count };
    // SAFETY: the caller vouches for set and memory.
    let (keep, slices) = unsafe { (border::one(keep), slices(values, output)) };
    match (batch::encoder(keep, flags), slices) {
        (Some(encode), Some((values, target))) => {
            // SAFETY: the slices were seen to be valid, and the caller vouches for their bytes.
            let values = unsafe { border::values(values) };
            batch::encode_slices(&encode, values, target)
        }
        _ => BatchAnswer::INVALID,
    }
}

/// # Safety
///
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn simdpct_decode_column32(
    keep: *const ByteSet,
    flags: u32,
    bytes: *const c_void,
    len: usize,
    offsets: *const i32,
    count: usize,
    out: *mut c_void,
    room: usize,
    out_offsets: *mut i32,
    valid: *mut u8,
) -> BatchAnswer {
    let output = Output { out, room, offsets: out_offsets, valid, count };
    // SAFETY: the caller vouches for set and memory.
    let (keep, column) = unsafe { (border::one(keep), column(bytes, len, offsets, output)) };
    match (batch::decoder(keep, flags), column) {
        (Some(decode), Some((bytes, offsets, target))) => {
            batch::decode_column(&decode, bytes, offsets, target)
        }
        _ => BatchAnswer::INVALID,
    }
}

/// # Safety
///
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn simdpct_decode_slices32(
    keep: *const ByteSet,
    flags: u32,
    values: *const Slice,
    count: usize,
    out: *mut c_void,
    room: usize,
    out_offsets: *mut i32,
    valid: *mut u8,
) -> BatchAnswer {
    let output = Output { out, room, offsets: out_offsets, valid, count };
    // SAFETY: the caller vouches for set and memory.
    let (keep, slices) = unsafe { (border::one(keep), slices(values, output)) };
    match (batch::decoder(keep, flags), slices) {
        (Some(decode), Some((values, target))) => {
            // SAFETY: the slices were seen to be valid, and the caller vouches for their bytes.
            let values = unsafe { border::values(values) };
            batch::decode_slices(&decode, values, target)
        }
        _ => BatchAnswer::INVALID,
    }
}

/// # Safety
///
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn simdpct_encode_column64(
    keep: *const ByteSet,
    flags: u32,
    bytes: *const c_void,
    len: usize,
    offsets: *const i64,
    count: usize,
    out: *mut c_void,
    room: usize,
    out_offsets: *mut i64,
) -> BatchAnswer {
    let output = Output { out, room, offsets: out_offsets, valid: core::ptr::null_mut(), count };
    // SAFETY: the caller vouches for set and memory.
    let (keep, column) = unsafe { (border::one(keep), column(bytes, len, offsets, output)) };
    match (batch::encoder(keep, flags), column) {
        (Some(encode), Some((bytes, offsets, target))) => {
            batch::encode_column(&encode, bytes, offsets, target)
        }
        _ => BatchAnswer::INVALID,
    }
}

/// # Safety
///
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn simdpct_encode_slices64(
    keep: *const ByteSet,
    flags: u32,
    values: *const Slice,
    count: usize,
    out: *mut c_void,
    room: usize,
    out_offsets: *mut i64,
) -> BatchAnswer {
    let output = Output { out, room, offsets: out_offsets, valid: core::ptr::null_mut(), count };
    // SAFETY: the caller vouches for set and memory.
    let (keep, slices) = unsafe { (border::one(keep), slices(values, output)) };
    match (batch::encoder(keep, flags), slices) {
        (Some(encode), Some((values, target))) => {
            // SAFETY: the slices were seen to be valid, and the caller vouches for their bytes.
            let values = unsafe { border::values(values) };
            batch::encode_slices(&encode, values, target)
        }
        _ => BatchAnswer::INVALID,
    }
}

/// # Safety
///
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn simdpct_decode_column64(
    keep: *const ByteSet,
    flags: u32,
    bytes: *const c_void,
    len: usize,
    offsets: *const i64,
    count: usize,
    out: *mut c_void,
    room: usize,
    out_offsets: *mut i64,
    valid: *mut u8,
) -> BatchAnswer {
    let output = Output { out, room, offsets: out_offsets, valid, count };
    // SAFETY: the caller vouches for set and memory.
    let (keep, column) = unsafe { (border::one(keep), column(bytes, len, offsets, output)) };
    match (batch::decoder(keep, flags), column) {
        (Some(decode), Some((bytes, offsets, target))) => {
            batch::decode_column(&decode, bytes, offsets, target)
        }
        _ => BatchAnswer::INVALID,
    }
}

/// # Safety
///
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn simdpct_decode_slices64(
    keep: *const ByteSet,
    flags: u32,
    values: *const Slice,
    count: usize,
    out: *mut c_void,
    room: usize,
    out_offsets: *mut i64,
    valid: *mut u8,
) -> BatchAnswer {
    let output = Output { out, room, offsets: out_offsets, valid, count };
    // SAFETY: the caller vouches for set and memory.
    let (keep, slices) = unsafe { (border::one(keep), slices(values, output)) };
    match (batch::decoder(keep, flags), slices) {
        (Some(decode), Some((values, target))) => {
            // SAFETY: the slices were seen to be valid, and the caller vouches for their bytes.
            let values = unsafe { border::values(values) };
            batch::decode_slices(&decode, values, target)
        }
        _ => BatchAnswer::INVALID,
    }
}

// ---- in pieces

/// # Safety
///
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn simdpct_encode_start(
    stream: *mut EncodeStream,
    keep: *const ByteSet,
    flags: u32,
) -> i32 {
    // SAFETY: the caller vouches for set and stream.
    let (keep, place) = unsafe { (border::one(keep), border::room(stream, 1)) };
    match (place, Stream::new(stream::ENCODER, keep, flags)) {
        (Some([place]), Some(stream)) => {
            place.write(EncodeStream(stream));
            SIMDPCT_OK
        }
        _ => SIMDPCT_INVALID,
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn simdpct_encode_bound(len: usize) -> usize {
    Stream::bound(3, len)
}

/// # Safety
///
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn simdpct_encode_push(
    stream: *mut EncodeStream,
    input: *const c_void,
    len: usize,
    out: *mut c_void,
    room: usize,
) -> Answer {
    let (stream_range, input_range, out_range) =
        (Range::new(stream, 1), Range::new::<u8>(input.cast(), len), Range::new::<u8>(out.cast(), room));
    let apart = stream_range.is_apart_from(input_range)
        && stream_range.is_apart_from(out_range)
        && input_range.is_apart_from(out_range);
    if !apart {
        return Answer::invalid();
    }
    // SAFETY: the caller vouches for stream, input and room, which were just seen to be apart.
    let (stream, input, out) = unsafe {
        (border::slice_mut(stream, 1), border::slice(input.cast(), len), border::room(out.cast(), room))
    };
    match (stream, input, out) {
        (Some([stream]), Some(input), Some(out)) => stream.0.encode(input, out).unwrap_or(Answer::invalid()),
        _ => Answer::invalid(),
    }
}

/// # Safety
///
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn simdpct_encode_finish(
    stream: *mut EncodeStream,
    out: *mut c_void,
    room: usize,
) -> Answer {
    if !Range::new(stream, 1).is_apart_from(Range::new::<u8>(out.cast(), room)) {
        return Answer::invalid();
    }
    // SAFETY: the caller vouches for stream and room, which were just seen to be apart.
    let (stream, out) = unsafe { (border::slice_mut(stream, 1), border::room(out.cast(), room)) };
    match (stream, out) {
        (Some([stream]), Some(out)) => stream.0.encode_end(out).unwrap_or(Answer::invalid()),
        _ => Answer::invalid(),
    }
}

/// # Safety
///
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn simdpct_decode_start(
    stream: *mut DecodeStream,
    keep: *const ByteSet,
    flags: u32,
) -> i32 {
    // SAFETY: the caller vouches for set and stream.
    let (keep, place) = unsafe { (border::one(keep), border::room(stream, 1)) };
    match (place, Stream::new(stream::DECODER, keep, flags)) {
        (Some([place]), Some(stream)) => {
            place.write(DecodeStream(stream));
            SIMDPCT_OK
        }
        _ => SIMDPCT_INVALID,
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn simdpct_decode_bound(len: usize) -> usize {
    Stream::bound(1, len)
}

/// # Safety
///
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn simdpct_decode_push(
    stream: *mut DecodeStream,
    input: *const c_void,
    len: usize,
    out: *mut c_void,
    room: usize,
) -> Answer {
    let (stream_range, input_range, out_range) =
        (Range::new(stream, 1), Range::new::<u8>(input.cast(), len), Range::new::<u8>(out.cast(), room));
    let apart = stream_range.is_apart_from(input_range)
        && stream_range.is_apart_from(out_range)
        && input_range.is_apart_from(out_range);
    if !apart {
        return Answer::invalid();
    }
    // SAFETY: the caller vouches for stream, input and room, which were just seen to be apart.
    let (stream, input, out) = unsafe {
        (border::slice_mut(stream, 1), border::slice(input.cast(), len), border::room(out.cast(), room))
    };
    match (stream, input, out) {
        (Some([stream]), Some(input), Some(out)) => stream.0.decode(input, out).unwrap_or(Answer::invalid()),
        _ => Answer::invalid(),
    }
}

/// # Safety
///
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn simdpct_decode_finish(
    stream: *mut DecodeStream,
    out: *mut c_void,
    room: usize,
) -> Answer {
    if !Range::new(stream, 1).is_apart_from(Range::new::<u8>(out.cast(), room)) {
        return Answer::invalid();
    }
    // SAFETY: the caller vouches for stream and room, which were just seen to be apart.
    let (stream, out) = unsafe { (border::slice_mut(stream, 1), border::room(out.cast(), room)) };
    match (stream, out) {
        (Some([stream]), Some(out)) => stream.0.decode_end(out).unwrap_or(Answer::invalid()),
        _ => Answer::invalid(),
    }
}

// ---- sets

/// # Safety
///
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn simdpct_set_named(set: *mut ByteSet, name: *const c_char) -> i32 {
    // SAFETY: the caller vouches for the name and the place of the set.
    let (place, name) = unsafe { (border::room(set, 1), border::text(name)) };
    let (Some([place]), Some(name)) = (place, name) else { return SIMDPCT_INVALID };
    let Some(found) = sets::named(name) else { return SIMDPCT_NOT_FOUND };
    place.write(found);
    SIMDPCT_OK
}

/// # Safety
///
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn simdpct_set_bitmap(bits: *const u8) -> ByteSet {
    // SAFETY: the caller vouches for 32 bytes.
    let bits = unsafe { border::slice(bits, 32) }.unwrap_or(&[0; 32]);
    sets::of_bitmap(bits)
}

/// # Safety
///
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn simdpct_set_bytes(bytes: *const c_void, len: usize) -> ByteSet {
    // SAFETY: the caller vouches for the bytes.
    ByteSet::from_bytes(unsafe { border::slice(bytes.cast(), len) }.unwrap_or(&[]))
}

/// # Safety
///
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn simdpct_set_safe(bytes: *const c_void, len: usize) -> ByteSet {
    // SAFETY: the caller vouches for the bytes.
    sets::safe(unsafe { border::slice(bytes.cast(), len) }.unwrap_or(&[]))
}

/// # Safety
///
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn simdpct_set_complement(set: *const ByteSet) -> ByteSet {
    // SAFETY: the caller vouches for the set.
    unsafe { border::one(set) }.copied().unwrap_or(ByteSet::EMPTY).complement()
}

/// # Safety
///
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn simdpct_set_contains(set: *const ByteSet, byte: u8) -> i32 {
    // SAFETY: the caller vouches for the set.
    unsafe { border::one(set) }.is_some_and(|set| set.contains(byte)).into()
}

// ---- the library

/// `simdpct_version`.
const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "\0");

#[unsafe(no_mangle)]
pub extern "C" fn simdpct_version() -> *const c_char {
    VERSION.as_ptr().cast()
}

/// # Safety
///
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn simdpct_init(tier: *const c_char, flags: u32) -> i32 {
    const NAME: &CStr = c"SIMDPCT_TIER";
    if flags & !SIMDPCT_ENVIRONMENT != 0 {
        return SIMDPCT_INVALID;
    }
    // SAFETY: the caller vouches for the name, and that nobody changes the environment meanwhile if it is to be asked.
    let (wanted, perhaps) = unsafe {
        let asked = options::has(flags, SIMDPCT_ENVIRONMENT);
        (border::text(tier), if asked { system::environment(NAME) } else { None })
    };
    tier::init(wanted, perhaps)
}

#[unsafe(no_mangle)]
pub extern "C" fn simdpct_tier() -> *const c_char {
    tier::name(Tier::active()).as_ptr()
}

#[unsafe(no_mangle)]
pub extern "C" fn simdpct_tier_at(index: usize) -> *const c_char {
    Tier::available().nth(index).map_or(core::ptr::null(), |found| tier::name(found).as_ptr())
}
