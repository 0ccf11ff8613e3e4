//! The functions of `simdpct.h`, which documents them. Each turns its arguments into safe types and calls another module.
//!
//! # Safety
//!
//! All functions of this module have one contract, which is that of the header. It applies to each pointer argument
//! that is aligned and not NULL, and to the memory at this pointer. The header says how large the memory is: the length
//! or count of values, 32 bytes of a bitmap, a string up to its NUL, or else one value.
//!
//! - If the pointer is to `const`, the memory is initialised, and nothing but the function writes to it during the call.
//! - Otherwise the memory may be written, and nothing but the function accesses it during the call. Streams, `valid` and the bytes
//!   of an in-place function are initialised.
//!
//! The attribute `no_mangle` is sound on each function, because no other library defines a symbol that begins with
//! `simdpct_`.
//!
//! The functions detect all other mistakes: NULL, misaligned pointers, sizes that no memory can have, and overlaps.
//! They compare the addresses of outputs and inputs before they make an exclusive reference, so no other reference
//! overlaps it while both are in use.

use core::ffi::{CStr, c_char, c_void};
use core::mem::MaybeUninit;
use core::ptr;

use codec::batch::{Column, Offset};
use codec::{ByteSet, Tier};

use crate::batch;
use crate::border::{self, Range, Slice, Value};
use crate::options::{self, SIMDPCT_ENVIRONMENT, SIMDPCT_IF_CHANGED};
use crate::result::{BatchResult, SIMDPCT_INVALID, SIMDPCT_NOT_FOUND, SIMDPCT_OK, ValueResult};
use crate::stream::{DECODER, ENCODER, Stream};
use crate::{header, sets, system, tier, verbs};

/// The struct `simdpct_encode_stream` of the header: the state of an encoder for input in pieces.
#[repr(transparent)]
pub struct EncodeStream(Stream);

/// The struct `simdpct_decode_stream` of the header: the state of a decoder for input in pieces.
#[repr(transparent)]
pub struct DecodeStream(Stream);

/// The size of a stream in the header, in bytes, which must be large enough for a [`Stream`].
const STREAM: usize = 128;
const _: () = assert!(size_of::<Stream>() <= STREAM && align_of::<Stream>() <= 8);
const _: () = assert!(size_of::<ByteSet>() == 64 && align_of::<ByteSet>() == 8);

// ---- one value

/// The set and the input of a function, as references. The set is `None` if the caller passed NULL.
type SetAndInput<'a> = (Option<&'a ByteSet>, &'a [u8]);

/// Turns the arguments `keep` and `input` into references. Returns `None` if an argument is invalid.
///
/// # Safety
///
/// The caller guarantees the contract in the documentation of this module.
#[inline(always)]
unsafe fn set_and_input<'a>(
    keep: *const ByteSet,
    input: *const c_void,
    len: usize,
) -> Option<SetAndInput<'a>> {
    // SAFETY: by the contract of this module, nothing writes to the set or the input during the call.
    unsafe { Some((border::optional(keep)?, border::slice(input.cast(), len)?)) }
}

/// Turns the arguments `keep`, `input` and `out` into references. Returns `None` if an argument is invalid or the output overlaps
/// an input.
///
/// # Safety
///
/// The caller guarantees the contract in the documentation of this module.
#[inline(always)]
unsafe fn set_input_and_output<'a>(
    keep: *const ByteSet,
    input: *const c_void,
    len: usize,
    out: *mut c_void,
    out_cap: usize,
) -> Option<(SetAndInput<'a>, &'a mut [MaybeUninit<u8>])> {
    let inputs = [Range::one(keep), Range::new::<u8>(input.cast(), len)];
    if !Range::new::<u8>(out.cast(), out_cap).is_apart_from(inputs) {
        return None;
    }
    // SAFETY: by the contract of this module, nothing writes to the set or the input and nothing else accesses the output,
    // which overlaps neither.
    unsafe { Some((set_and_input(keep, input, len)?, border::uninit(out.cast(), out_cap)?)) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn simdpct_encode(
    keep: *const ByteSet,
    flags: u32,
    input: *const c_void,
    len: usize,
    out: *mut c_void,
    out_cap: usize,
) -> ValueResult {
    // SAFETY: the caller guarantees the contract of this module, which the called function demands.
    match unsafe { set_input_and_output(keep, input, len, out, out_cap) } {
        Some(((keep, input), out)) => verbs::encode(keep, flags, input, out),
        None => ValueResult::invalid(),
    }
}

/// Defines two functions of the header: `$length` measures an output, and `$first_change` finds the first byte that
/// changes.
macro_rules! measuring_functions {
    ($measure:path, $length:ident, $find:path, $first_change:ident) => {
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $length(
            keep: *const ByteSet,
            flags: u32,
            input: *const c_void,
            len: usize,
        ) -> ValueResult {
            // SAFETY: the caller guarantees the contract of this module, which the called function demands.
            match unsafe { set_and_input(keep, input, len) } {
                Some((keep, input)) => $measure(keep, flags, input),
                None => ValueResult::invalid(),
            }
        }

        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $first_change(
            keep: *const ByteSet,
            flags: u32,
            input: *const c_void,
            len: usize,
        ) -> usize {
            // SAFETY: the caller guarantees the contract of this module, which the called function demands.
            unsafe { set_and_input(keep, input, len) }
                .and_then(|(keep, input)| $find(keep, flags, input))
                .unwrap_or(len)
        }
    };
}

measuring_functions!(
    verbs::encoded_len,
    simdpct_encoded_len,
    verbs::encode_first_change,
    simdpct_encode_first_change
);
measuring_functions!(
    verbs::decoded_len,
    simdpct_decoded_len,
    verbs::decode_first_change,
    simdpct_decode_first_change
);

#[unsafe(no_mangle)]
pub unsafe extern "C" fn simdpct_decode(
    keep: *const ByteSet,
    flags: u32,
    input: *const c_void,
    len: usize,
    out: *mut c_void,
    out_cap: usize,
) -> ValueResult {
    if input.cast_mut() == out && out_cap >= len {
        // SAFETY: by the contract of this module, the `len` bytes are initialised as input and may be written as output.
        return unsafe { simdpct_decode_in_place(keep, flags, out, len) };
    }
    // SAFETY: the caller guarantees the contract of this module, which the called function demands.
    match unsafe { set_input_and_output(keep, input, len, out, out_cap) } {
        Some(((keep, input), out)) => verbs::decode(keep, flags, input, out),
        None => ValueResult::invalid(),
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn simdpct_decode_in_place(
    keep: *const ByteSet,
    flags: u32,
    bytes: *mut c_void,
    len: usize,
) -> ValueResult {
    if !Range::new::<u8>(bytes.cast(), len).is_apart_from([Range::one(keep)]) {
        return ValueResult::invalid();
    }
    // SAFETY: by the contract of this module, nothing writes to the set and nothing else accesses the bytes, which do not
    // overlap it.
    match unsafe { (border::optional(keep), border::slice_mut(bytes.cast(), len)) } {
        (Some(keep), Some(bytes)) => verbs::decode_in_place(keep, flags, bytes),
        _ => ValueResult::invalid(),
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn simdpct_normalize(
    input: *const c_void,
    len: usize,
    out: *mut c_void,
    out_cap: usize,
) -> ValueResult {
    // SAFETY: the caller guarantees the contract of this module, which the called function demands.
    unsafe { simdpct_decode(ptr::null(), options::SIMDPCT_NORMALIZE, input, len, out, out_cap) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn simdpct_normalize_in_place(bytes: *mut c_void, len: usize) -> ValueResult {
    // SAFETY: the caller guarantees the contract of this module, which the called function demands.
    unsafe { simdpct_decode_in_place(ptr::null(), options::SIMDPCT_NORMALIZE, bytes, len) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn simdpct_validate(input: *const c_void, len: usize) -> ValueResult {
    // SAFETY: the caller guarantees the contract of this module, which the called function demands.
    unsafe { border::slice(input.cast(), len) }.map_or_else(ValueResult::invalid, verbs::validate)
}

// ---- many values

/// The output arguments of a batch function, as the caller passed them.
struct Output<O> {
    out: *mut c_void,
    out_cap: usize,
    out_offsets: *mut O,
    /// The validity bitmap, or NULL if the caller wants none.
    valid: *mut u8,
    count: usize,
}

impl<O: Offset> Output<O> {
    /// Returns the number of bytes of the validity bitmap.
    fn valid_len(&self) -> usize {
        if self.valid.is_null() { 0 } else { self.count.div_ceil(8) }
    }

    fn ranges(&self) -> [Range; 3] {
        [
            Range::new::<u8>(self.out.cast(), self.out_cap),
            Range::new(self.out_offsets, self.count.saturating_add(1)),
            Range::new(self.valid, self.valid_len()),
        ]
    }

    /// Turns the arguments into references. Returns `None` if an argument is invalid or outputs overlap each other.
    ///
    /// # Safety
    ///
    /// The caller guarantees the contract of this module. If an input overlaps an output, no reference to that input is
    /// used during `'a`.
    unsafe fn references<'a>(self) -> Option<batch::Output<'a, O>> {
        let [bytes, offsets, valid] = self.ranges();
        if !bytes.is_apart_from([offsets, valid]) || !offsets.is_apart_from([valid]) {
            return None;
        }
        // SAFETY: by the contract of this function, nothing else accesses the outputs, and by the check above, they do not
        // overlap each other.
        unsafe {
            Some(batch::Output {
                bytes: border::uninit(self.out.cast(), self.out_cap)?,
                offsets: border::uninit(self.out_offsets, self.count.checked_add(1)?)?,
                valid: border::slice_mut(self.valid, self.valid_len())?,
            })
        }
    }
}

/// Calls `run` with references to the set, to the bytes and offsets of a column, and to the output.
///
/// # Safety
///
/// The caller guarantees the contract in the documentation of this module.
unsafe fn with_column<O: Offset>(
    keep: *const ByteSet,
    flags: u32,
    (bytes, len, offsets): (*const c_void, usize, *const O),
    output: Output<O>,
    run: impl FnOnce(Option<&ByteSet>, u32, Column<'_, O>, batch::Output<'_, O>) -> BatchResult,
) -> BatchResult {
    let count = output.count.saturating_add(1);
    // A column without values may have no offsets, as in old versions of Arrow.
    let (no_values, one) = (output.count == 0 && offsets.is_null(), [O::ZERO]);
    let inputs = [Range::one(keep), Range::new::<u8>(bytes.cast(), len), Range::new(offsets, count)];
    if options::has(flags, SIMDPCT_IF_CHANGED) || !border::are_apart(&output.ranges(), &inputs) {
        return BatchResult::invalid();
    }
    // SAFETY: by the contract of this module, nothing writes to the inputs, and by the check above, no output overlaps one.
    let references = unsafe {
        (
            border::optional(keep),
            border::slice(bytes.cast(), len),
            if no_values { Some(&one[..]) } else { border::slice(offsets, count) },
            output.references(),
        )
    };
    let (Some(keep), Some(bytes), Some(offsets), Some(output)) = references else {
        return BatchResult::invalid();
    };
    match Column::new(bytes, offsets) {
        Ok(values) => run(keep, flags, values, output),
        Err(error) => BatchResult { values: error.index, ..BatchResult::invalid() },
    }
}

/// Calls `run` with references to the set, to the slices and to the output.
///
/// # Safety
///
/// The caller guarantees the contract of this module, also for the memory of each slice that is aligned, not NULL and not empty.
unsafe fn with_slices<O: Offset>(
    keep: *const ByteSet,
    flags: u32,
    values: *const Slice,
    output: Output<O>,
    run: impl FnOnce(Option<&ByteSet>, u32, &[Value], batch::Output<'_, O>) -> BatchResult,
) -> BatchResult {
    let inputs = [Range::one(keep), Range::new(values, output.count)];
    if options::has(flags, SIMDPCT_IF_CHANGED) || !border::are_apart(&output.ranges(), &inputs) {
        return BatchResult::invalid();
    }
    // SAFETY: by the contract of this module, nothing writes to the set or the array of slices, and by the check above, no output
    // overlaps them.
    let references = unsafe { (border::optional(keep), border::slice(values, output.count)) };
    let (Some(keep), Some(values)) = references else { return BatchResult::invalid() };
    let outputs = output.ranges();
    if !values.iter().all(|value| value.is_valid() && value.range().is_apart_from(outputs)) {
        return BatchResult::invalid();
    }
    // SAFETY: all slices are valid by the check above, and by the contract of this function nothing writes to their bytes. No
    // output overlaps the set, the array, or the bytes of a slice.
    let (values, output) = unsafe { (border::values(values), output.references()) };
    output.map_or_else(BatchResult::invalid, |output| run(keep, flags, values, output))
}

/// Defines the batch functions of the header for one type of offsets.
macro_rules! batch_functions {
    ($offset:ty, $encode_column:ident, $decode_column:ident, $encode_slices:ident, $decode_slices:ident) => {
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $encode_column(
            keep: *const ByteSet,
            flags: u32,
            bytes: *const c_void,
            len: usize,
            offsets: *const $offset,
            count: usize,
            out: *mut c_void,
            out_cap: usize,
            out_offsets: *mut $offset,
        ) -> BatchResult {
            let output = Output { out, out_cap, out_offsets, valid: ptr::null_mut(), count };
            // SAFETY: the caller guarantees the contract of this module, which the called function demands.
            unsafe { with_column(keep, flags, (bytes, len, offsets), output, batch::encode_column) }
        }

        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $decode_column(
            keep: *const ByteSet,
            flags: u32,
            bytes: *const c_void,
            len: usize,
            offsets: *const $offset,
            count: usize,
            out: *mut c_void,
            out_cap: usize,
            out_offsets: *mut $offset,
            valid: *mut u8,
        ) -> BatchResult {
            let output = Output { out, out_cap, out_offsets, valid, count };
            // SAFETY: the caller guarantees the contract of this module, which the called function demands.
            unsafe { with_column(keep, flags, (bytes, len, offsets), output, batch::decode_column) }
        }

        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $encode_slices(
            keep: *const ByteSet,
            flags: u32,
            values: *const Slice,
            count: usize,
            out: *mut c_void,
            out_cap: usize,
            out_offsets: *mut $offset,
        ) -> BatchResult {
            let output = Output { out, out_cap, out_offsets, valid: ptr::null_mut(), count };
            // SAFETY: the caller guarantees the contract of this module, also for the memory of the slices.
            unsafe { with_slices(keep, flags, values, output, batch::encode_slices) }
        }

        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $decode_slices(
            keep: *const ByteSet,
            flags: u32,
            values: *const Slice,
            count: usize,
            out: *mut c_void,
            out_cap: usize,
            out_offsets: *mut $offset,
            valid: *mut u8,
        ) -> BatchResult {
            let output = Output { out, out_cap, out_offsets, valid, count };
            // SAFETY: the caller guarantees the contract of this module, also for the memory of the slices.
            unsafe { with_slices(keep, flags, values, output, batch::decode_slices) }
        }
    };
}

batch_functions!(
    i32,
    simdpct_encode_column32,
    simdpct_decode_column32,
    simdpct_encode_slices32,
    simdpct_decode_slices32
);
batch_functions!(
    i64,
    simdpct_encode_column64,
    simdpct_decode_column64,
    simdpct_encode_slices64,
    simdpct_decode_slices64
);

// ---- input in pieces

/// Starts a stream of the given kind, `ENCODER` or `DECODER`, in the caller's memory.
///
/// # Safety
///
/// The caller guarantees the contract in the documentation of this module.
unsafe fn start(stream: *mut Stream, kind: u32, keep: *const ByteSet, flags: u32) -> i32 {
    if !Range::new::<u8>(stream.cast(), STREAM).is_apart_from([Range::one(keep)]) {
        return SIMDPCT_INVALID;
    }
    // SAFETY: by the contract of this module, nothing writes to the set and nothing else accesses the stream. By the check above,
    // the two do not overlap.
    let (Some(keep), Some([place])) = (unsafe { (border::optional(keep), border::uninit(stream, 1)) }) else {
        return SIMDPCT_INVALID;
    };
    let Some(stream) = Stream::new(kind, keep, flags) else { return SIMDPCT_INVALID };
    place.write(stream);
    SIMDPCT_OK
}

/// Pushes a piece of input to a stream, or ends its input if `piece` is `None`.
///
/// # Safety
///
/// The caller guarantees the contract in the documentation of this module.
unsafe fn push(
    stream: *mut Stream,
    kind: u32,
    piece: Option<(*const c_void, usize)>,
    out: *mut c_void,
    out_cap: usize,
) -> ValueResult {
    let (input, len) = piece.unwrap_or((ptr::null(), 0));
    let range = Range::new::<u8>(stream.cast(), STREAM);
    let (output, read) = (Range::new::<u8>(out.cast(), out_cap), Range::new::<u8>(input.cast(), len));
    if !range.is_apart_from([read, output]) || !output.is_apart_from([read]) {
        return ValueResult::invalid();
    }
    // SAFETY: by the contract of this module, nothing writes to the input and nothing else accesses the stream or the output. By
    // the check above, no two of the three overlap.
    let references = unsafe {
        (border::slice_mut(stream, 1), border::slice(input.cast(), len), border::uninit(out.cast(), out_cap))
    };
    let (Some([stream]), Some(input), Some(out)) = references else { return ValueResult::invalid() };
    stream.run(kind, piece.map(|_| input), out).unwrap_or(ValueResult::invalid())
}

/// Defines the functions of the header for encoding streams or for decoding streams.
macro_rules! stream_functions {
    ($stream:ty, $kind:expr, $growth:expr, $start:ident, $bound:ident, $push:ident, $finish:ident) => {
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $start(stream: *mut $stream, keep: *const ByteSet, flags: u32) -> i32 {
            // SAFETY: the caller guarantees the contract of this module, which the called function demands.
            unsafe { start(stream.cast(), $kind, keep, flags) }
        }

        #[unsafe(no_mangle)]
        pub extern "C" fn $bound(len: usize) -> usize {
            // The stream may hold up to two bytes of earlier pieces.
            len.saturating_add(2).saturating_mul($growth)
        }

        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $push(
            stream: *mut $stream,
            input: *const c_void,
            len: usize,
            out: *mut c_void,
            out_cap: usize,
        ) -> ValueResult {
            // SAFETY: the caller guarantees the contract of this module, which the called function demands.
            unsafe { push(stream.cast(), $kind, Some((input, len)), out, out_cap) }
        }

        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $finish(
            stream: *mut $stream,
            out: *mut c_void,
            out_cap: usize,
        ) -> ValueResult {
            // SAFETY: the caller guarantees the contract of this module, which the called function demands.
            unsafe { push(stream.cast(), $kind, None, out, out_cap) }
        }
    };
}

stream_functions!(
    EncodeStream,
    ENCODER,
    3,
    simdpct_encode_start,
    simdpct_encode_bound,
    simdpct_encode_push,
    simdpct_encode_finish
);
stream_functions!(
    DecodeStream,
    DECODER,
    1,
    simdpct_decode_start,
    simdpct_decode_bound,
    simdpct_decode_push,
    simdpct_decode_finish
);

// ---- header fields

/// Defines the functions of the header for text in header fields.
macro_rules! header_functions {
    ($run:path, $function:ident) => {
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $function(
            input: *const c_void,
            len: usize,
            out: *mut c_void,
            out_cap: usize,
        ) -> ValueResult {
            // SAFETY: the caller guarantees the contract of this module, which the called function demands.
            match unsafe { set_input_and_output(ptr::null(), input, len, out, out_cap) } {
                Some(((_, input), out)) => $run(input, out),
                None => ValueResult::invalid(),
            }
        }
    };
}

header_functions!(header::encode_ext_value, simdpct_encode_ext_value);
header_functions!(header::encode_multipart_name, simdpct_encode_multipart_name);
header_functions!(header::decode_multipart_name, simdpct_decode_multipart_name);

#[unsafe(no_mangle)]
pub unsafe extern "C" fn simdpct_decode_ext_value(
    input: *const c_void,
    len: usize,
    out: *mut c_void,
    out_cap: usize,
    language: *mut Slice,
) -> ValueResult {
    let others = [Range::new::<u8>(input.cast(), len), Range::new::<u8>(out.cast(), out_cap)];
    if !language.is_aligned() || !Range::one(language).is_apart_from(others) {
        return ValueResult::invalid();
    }
    // SAFETY: by the contract of this module, nothing writes to the input and nothing else accesses the output or the slice. By the
    // check above, the slice overlaps neither.
    let references =
        unsafe { (set_input_and_output(ptr::null(), input, len, out, out_cap), border::uninit(language, 1)) };
    let (Some(((_, input), out)), place) = references else { return ValueResult::invalid() };
    let (result, tag) = header::decode_ext_value(input, out);
    if let (SIMDPCT_OK, Some([place])) = (result.status, place) {
        place.write(Slice::of(tag));
    }
    result
}

// ---- sets

/// Writes `made` to `set`. `input` is the memory that `made` was made from, and must not overlap `set`.
///
/// # Safety
///
/// The caller guarantees the contract of this module for `set`. No reference to `input` is used any more, unless `made`
/// is `None`.
unsafe fn write_set(set: *mut ByteSet, input: Range, made: Option<ByteSet>) -> i32 {
    if !Range::one(set).is_apart_from([input]) {
        return SIMDPCT_INVALID;
    }
    // SAFETY: by the contract of this function, nothing else accesses the set.
    match (unsafe { border::uninit(set, 1) }, made) {
        (Some([place]), Some(made)) => {
            place.write(made);
            SIMDPCT_OK
        }
        _ => SIMDPCT_INVALID,
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn simdpct_set_named(set: *mut ByteSet, name: *const c_char) -> i32 {
    // SAFETY: by the contract of this module, a name that is not NULL ends with a NUL, and nothing writes to it.
    let Some(text) = (unsafe { border::text(name) }) else { return SIMDPCT_INVALID };
    let range = Range::new(name, text.count_bytes() + 1);
    let Some(found) = sets::named(text) else { return SIMDPCT_NOT_FOUND };
    // SAFETY: the caller guarantees the contract of this module, and the reference to the name is not used any more.
    unsafe { write_set(set, range, Some(found)) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn simdpct_set_bitmap(set: *mut ByteSet, bits: *const u8) -> i32 {
    // SAFETY: by the contract of this module, `bits` points to 32 initialised bytes, and nothing writes to them. The reference to
    // them ends before the set is written.
    unsafe {
        let made = border::slice(bits, 32).map(sets::from_bitmap);
        write_set(set, Range::new(bits, 32), made)
    }
}

/// Defines the functions of the header that make a set from bytes.
macro_rules! set_functions {
    ($make:path, $function:ident) => {
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $function(set: *mut ByteSet, bytes: *const c_void, len: usize) -> i32 {
            // SAFETY: by the contract of this module, nothing writes to the bytes. The reference to them ends before the set is written.
            unsafe {
                let made = border::slice::<u8>(bytes.cast(), len).map($make);
                write_set(set, Range::new::<u8>(bytes.cast(), len), made)
            }
        }
    };
}

set_functions!(ByteSet::from_bytes, simdpct_set_bytes);
set_functions!(sets::safe, simdpct_set_safe);

#[unsafe(no_mangle)]
pub unsafe extern "C" fn simdpct_set_complement(set: *mut ByteSet, of: *const ByteSet) -> i32 {
    let input = if set.cast_const() == of { Range::one::<u8>(ptr::null()) } else { Range::one(of) };
    // SAFETY: by the contract of this module, nothing writes to `of`. The reference to it ends before `set` is written.
    unsafe {
        let made = border::optional(of).flatten().map(|of| of.complement());
        write_set(set, input, made)
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn simdpct_set_contains(set: *const ByteSet, byte: u8) -> i32 {
    // SAFETY: by the contract of this module, nothing writes to the set during the call.
    unsafe { border::optional(set) }.flatten().is_some_and(|set| set.contains(byte)).into()
}

// ---- the library

const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "\0");

#[unsafe(no_mangle)]
pub extern "C" fn simdpct_version() -> *const c_char {
    VERSION.as_ptr().cast()
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn simdpct_init(tier: *const c_char, flags: u32) -> i32 {
    const NAME: &CStr = c"SIMDPCT_TIER";
    if flags & !SIMDPCT_ENVIRONMENT != 0 {
        return SIMDPCT_INVALID;
    }
    // SAFETY: by the contract of this module, the name ends with a NUL and does not change. By the header, nothing changes the
    // environment during a call with `SIMDPCT_ENVIRONMENT`.
    let (wanted, preferred) = unsafe {
        let reads_environment = options::has(flags, SIMDPCT_ENVIRONMENT);
        (border::text(tier), if reads_environment { system::environment(NAME) } else { None })
    };
    tier::init(wanted, preferred)
}

#[unsafe(no_mangle)]
pub extern "C" fn simdpct_tier() -> *const c_char {
    tier::name(Tier::active()).as_ptr()
}

#[unsafe(no_mangle)]
pub extern "C" fn simdpct_tier_at(index: usize) -> *const c_char {
    Tier::available().nth(index).map_or(ptr::null(), |found| tier::name(found).as_ptr())
}
