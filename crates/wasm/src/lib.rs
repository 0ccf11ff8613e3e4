//! Exports the codec as a WebAssembly module. `core.mjs` and `codec.mjs` are its only callers.
//!
//! The module owns an input and an output buffer. The caller reserves input memory with [`pct_input`], writes to it, calls an operation
//! with the number of bytes that it wrote, and reads the result at [`pct_output`]. An operation returns the length of the result, or a
//! negative code if the result equals the input or there is an error. Sets are numbers: first those of `sets::ALL`, the registry, in
//! its order, then those that the caller defined.
//!
//! No argument of a caller causes a panic, which would end the module.
//!
//! SAFETY of each `#[unsafe(no_mangle)]`, the only unsafe attribute here: no other symbol of the module begins with `pct_`.

use std::collections::TryReserveError;
use std::sync::{Mutex, MutexGuard, PoisonError};

use simdpct::{AsciiSet, ByteSet, Decode, Encode, HexCase, SetKind, TryDecode, sets};

// Without the feature `full`, the module is the smaller one of `simdpct/small`.
#[cfg(feature = "full")]
mod url;

/// The return value of an operation whose result equals its input.
const UNCHANGED: i32 = -1;
/// The error code for a malformed escape, or a lone surrogate, whose offset [`pct_error_offset`] returns. [`pct_to_wide`] returns it for
/// output that is not valid UTF-8, without an offset.
const MALFORMED: i32 = -2;
/// The error code if memory for the result cannot be allocated, or if the input buffer is too small for [`pct_from_wide`].
const NO_MEMORY: i32 = -3;
/// The error code for a set or a property of a set that does not exist, and for a member that is not ASCII.
const NO_SUCH_SET: i32 = -4;

/// The flag for encoders that keep the escapes of the input.
const KEEP_ESCAPES: u32 = 1;
/// The flag for the form mode of encoders and decoders, in which `+` is a space.
const FORM: u32 = 2;
/// The flag for encoders that write hexadecimal digits in lower case.
const LOWER: u32 = 4;
/// The flag for decoders that fail at a malformed escape.
const STRICT: u32 = 8;

/// The spare capacity after the result, in bytes, which operations may write to.
const SLACK: usize = 256;

struct State {
    /// The caller's input. Bytes of longer earlier inputs may follow it.
    input: Vec<u8>,
    output: Vec<u8>,
    defined: Vec<AsciiSet>,
    error_offset: usize,
    #[cfg(feature = "full")]
    layers: usize,
    /// Text in UTF-16, for callers in JavaScript that copy UTF-16 instead of converting UTF-8.
    wide: Vec<u16>,
}

static STATE: Mutex<State> = Mutex::new(State {
    input: Vec::new(),
    output: Vec::new(),
    defined: Vec::new(),
    error_offset: 0,
    #[cfg(feature = "full")]
    layers: 0,
    wide: Vec::new(),
});

/// Locks the state. The module has one thread, so this never waits.
fn state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

impl State {
    fn set(&self, number: i32) -> Option<AsciiSet> {
        let number = usize::try_from(number).ok()?;
        match sets::ALL.get(number) {
            Some(named) => Some(named.set),
            None => self.defined.get(number - sets::ALL.len()).copied(),
        }
    }

    fn define(&mut self, set: AsciiSet) -> i32 {
        if self.defined.try_reserve(1).is_err() {
            return NO_MEMORY;
        }
        self.defined.push(set);
        length(sets::ALL.len() + self.defined.len() - 1)
    }

    /// Returns the first `len` bytes of the input.
    fn input(&self, len: usize) -> &[u8] {
        &self.input[..len.min(self.input.len())]
    }

    /// Clears the output, reserves `growth` times `len` bytes plus [`SLACK`] for it, and runs an operation that appends to it.
    fn run(
        &mut self,
        len: usize,
        growth: usize,
        operation: impl FnOnce(&[u8], &mut Vec<u8>) -> Result<(), i32>,
    ) -> i32 {
        let State { input, output, .. } = self;
        let input = &input[..len.min(input.len())];
        output.clear();
        if output.try_reserve(len.saturating_mul(growth).saturating_add(SLACK)).is_err() {
            return NO_MEMORY;
        }
        match operation(input, output) {
            Ok(()) if output == input => UNCHANGED,
            Ok(()) => length(output.len()),
            Err(code) => code,
        }
    }

    fn decode(&mut self, len: usize, decode: TryDecode) -> i32 {
        let mut offset = 0;
        let result = self.run(len, 1, |input, output| {
            decode.decode_append(input, output).map_err(|error| {
                offset = error.offset;
                MALFORMED
            })
        });
        self.error_offset = offset;
        result
    }
}

/// Converts a length, or the number of a set, for the caller. It fits `i32`, because no vector of a 32-bit target has
/// 2^31 bytes or more.
fn length(len: usize) -> i32 {
    i32::try_from(len).unwrap_or(NO_MEMORY)
}

/// Returns the decoder for `flags`, but ignores [`STRICT`]. The decoder keeps escapes of the set `keep`, unless `keep`
/// is negative. Returns `None` if there is no such set.
fn decoder(state: &State, keep: i32, flags: u32) -> Option<Decode> {
    let keep = if keep < 0 { ByteSet::EMPTY } else { state.set(keep)?.to_byte_set() };
    let decode = Decode::new().keep(keep);
    Some(if flags & FORM != 0 { decode.form() } else { decode })
}

/// Grows `buffer` to at least `len` items. Returns `false` if there is no memory for them.
fn grow<T: Clone + Default>(buffer: &mut Vec<T>, len: usize) -> bool {
    let more = len.saturating_sub(buffer.len());
    if buffer.try_reserve_exact(more).is_err() {
        return false;
    }
    if more > 0 {
        buffer.resize(len, T::default());
    }
    true
}

/// Returns memory for `len` bytes of input, or null if memory cannot be allocated. The memory is valid until the next call of
/// this function or of [`pct_release`].
#[unsafe(no_mangle)]
pub extern "C" fn pct_input(len: usize) -> *mut u8 {
    let input = &mut state().input;
    if grow(input, len) { input.as_mut_ptr() } else { core::ptr::null_mut() }
}

/// Returns the address of the result of the last operation. It is valid until the next operation or call of [`pct_release`].
#[unsafe(no_mangle)]
pub extern "C" fn pct_output() -> *const u8 {
    state().output.as_ptr()
}

/// Returns the length of the result at [`pct_output`].
#[unsafe(no_mangle)]
pub extern "C" fn pct_output_length() -> usize {
    state().output.len()
}

/// Frees all buffers.
#[unsafe(no_mangle)]
pub extern "C" fn pct_release() {
    let mut state = state();
    state.input = Vec::new();
    state.output = Vec::new();
    state.wide = Vec::new();
}

/// Returns memory for `len` units of UTF-16, or null if memory cannot be allocated. The memory is valid until the next call of
/// this function, of [`pct_to_wide`] or of [`pct_release`].
#[unsafe(no_mangle)]
pub extern "C" fn pct_wide(len: usize) -> *mut u16 {
    let wide = &mut state().wide;
    if grow(wide, len) { wide.as_mut_ptr() } else { core::ptr::null_mut() }
}

/// Converts the first `len` units at [`pct_wide`] to UTF-8 in the input buffer, for which the caller has reserved three bytes for
/// each unit. Returns the length, or `MALFORMED` if there is a lone surrogate at [`pct_error_offset`].
#[unsafe(no_mangle)]
pub extern "C" fn pct_from_wide(len: usize) -> i32 {
    let mut state = state();
    let State { input, wide, error_offset, .. } = &mut *state;
    let wide = &wide[..len.min(wide.len())];
    let (mut read, mut written) = (0, 0);
    while let Some(&unit) = wide.get(read) {
        let Some(room) = input.get_mut(written..) else { return NO_MEMORY };
        // The most frequent case comes first: a unit that is a whole character of three bytes.
        if let (0x800..=0xD7FF, [a, b, c, ..]) = (unit, &mut *room) {
            [*a, *b, *c] =
                [0xE0 | (unit >> 12) as u8, 0x80 | (unit >> 6 & 63) as u8, 0x80 | (unit & 63) as u8];
            (read, written) = (read + 1, written + 3);
            continue;
        }
        let rest = wide[read..].iter().take(2).copied();
        let Some(Ok(character)) = char::decode_utf16(rest).next() else {
            *error_offset = read;
            return MALFORMED;
        };
        if room.len() < character.len_utf8() {
            return NO_MEMORY;
        }
        written += character.encode_utf8(room).len();
        read += character.len_utf16();
    }
    length(written)
}

/// Converts the output to UTF-16 at [`pct_wide`] and returns its length. If the output is ASCII, converts nothing and
/// returns 0. Returns `MALFORMED` if the output is not valid UTF-8.
#[unsafe(no_mangle)]
pub extern "C" fn pct_to_wide() -> i32 {
    let mut state = state();
    let State { output, wide, .. } = &mut *state;
    if output.is_ascii() {
        return 0;
    }
    if core::str::from_utf8(output).is_err() {
        return MALFORMED;
    }
    if !grow(wide, output.len()) {
        return NO_MEMORY;
    }
    length(widen(output, wide))
}

/// Converts `text`, which is valid UTF-8, to UTF-16 and returns the length. `wide` has one unit for each byte of `text`, which is
/// enough.
fn widen(text: &[u8], wide: &mut [u16]) -> usize {
    let (mut rest, mut written) = (text, 0);
    let low = |byte: u8| u32::from(byte & 63);
    // Each arm matches a lead byte of UTF-8 and its continuation bytes.
    while let Some(unit) = wide.get_mut(written) {
        rest = match *rest {
            [a @ ..0x80, ref rest @ ..] => {
                *unit = a.into();
                rest
            }
            [a @ 0xC0..0xE0, b, ref rest @ ..] => {
                *unit = (u32::from(a & 31) << 6 | low(b)) as u16;
                rest
            }
            [a @ 0xE0..0xF0, b, c, ref rest @ ..] => {
                *unit = (u32::from(a & 15) << 12 | low(b) << 6 | low(c)) as u16;
                rest
            }
            [a, b, c, d, ref rest @ ..] => {
                let code =
                    (u32::from(a & 7) << 18 | low(b) << 12 | low(c) << 6 | low(d)).wrapping_sub(0x1_0000);
                *unit = 0xD800 | (code >> 10 & 0x3FF) as u16;
                written += 1;
                if let Some(unit) = wide.get_mut(written) {
                    *unit = 0xDC00 | (code & 0x3FF) as u16;
                }
                rest
            }
            _ => break,
        };
        written += 1;
    }
    written
}

/// Encodes the first `len` bytes of input and keeps the bytes of `set`. The flags are `KEEP_ESCAPES`, `FORM` and `LOWER`.
#[unsafe(no_mangle)]
pub extern "C" fn pct_encode(len: usize, set: i32, flags: u32) -> i32 {
    let mut state = state();
    let Some(set) = state.set(set) else { return NO_SUCH_SET };
    let mut encode = Encode::keeping(set);
    if flags & KEEP_ESCAPES != 0 {
        encode = encode.keep_escapes();
    }
    if flags & FORM != 0 {
        encode = encode.form();
    }
    if flags & LOWER != 0 {
        encode = encode.hex_case(HexCase::Lower);
    }
    state.run(len, 3, |input, output| {
        encode.encode_append(input, output);
        Ok(())
    })
}

/// Decodes the first `len` bytes of input. Keeps escapes of the set `keep`, unless `keep` is negative. The flags are `FORM` and
/// `STRICT`.
#[unsafe(no_mangle)]
pub extern "C" fn pct_decode(len: usize, keep: i32, flags: u32) -> i32 {
    let mut state = state();
    let Some(decode) = decoder(&state, keep, flags) else { return NO_SUCH_SET };
    state.decode(len, if flags & STRICT != 0 { decode.strict() } else { decode.lenient() })
}

/// Normalizes the first `len` bytes of input by RFC 3986.
#[unsafe(no_mangle)]
pub extern "C" fn pct_normalize(len: usize) -> i32 {
    state().decode(len, Decode::NORMALIZE.lenient())
}

/// Returns the offset at which the last decoding or [`pct_from_wide`] failed: in the input, or in the units at [`pct_wide`].
#[unsafe(no_mangle)]
pub extern "C" fn pct_error_offset() -> usize {
    state().error_offset
}

/// Returns the offset at which the first `len` bytes of input stop decoding to valid UTF-8, `UNCHANGED` if all of them decode to it, or an
/// error code. Keeps escapes of the set `keep`, unless `keep` is negative. The flag is `FORM`.
#[unsafe(no_mangle)]
pub extern "C" fn pct_not_utf8(len: usize, keep: i32, flags: u32) -> i32 {
    let state = state();
    let Some(decode) = decoder(&state, keep, flags) else { return NO_SUCH_SET };
    match not_utf8(decode, state.input(len)) {
        Ok(offset) => offset.map_or(UNCHANGED, length),
        Err(_) => NO_MEMORY,
    }
}

/// Returns the offset at which `input` stops decoding to valid UTF-8, or an error if memory for the decoded text cannot be allocated.
fn not_utf8(decode: Decode, input: &[u8]) -> Result<Option<usize>, TryReserveError> {
    let mut text = String::new();
    text.try_reserve(input.len().saturating_add(SLACK))?;
    Ok(decode.decode_utf8_append(input, &mut text).err().map(|error| error.offset))
}

/// Writes a property of a set of the registry to the output and returns its length. Properties: 0 name, 1 members, 2
/// `policy`, or `block` for a building block of other sets, 3 address of its specification, 4 description.
#[unsafe(no_mangle)]
pub extern "C" fn pct_set_text(number: usize, property: u32) -> i32 {
    let Some(named) = sets::ALL.get(number) else { return NO_SUCH_SET };
    let text = match property {
        0 => named.name,
        1 => "",
        2 if named.kind == SetKind::Policy => "policy",
        2 => "block",
        3 => named.source,
        4 => named.description,
        _ => return NO_SUCH_SET,
    };
    let output = &mut state().output;
    output.clear();
    // A set has at most 128 members.
    if output.try_reserve(text.len().max(128)).is_err() {
        return NO_MEMORY;
    }
    output.extend_from_slice(text.as_bytes());
    if property == 1 {
        output.extend(named.set.iter());
    }
    length(output.len())
}

/// Defines the set that has the members of `set` (none if that is negative) and the first `len` bytes of input. Returns the
/// number of the new set, or `NO_SUCH_SET` if there is no such set or a byte is not ASCII.
#[unsafe(no_mangle)]
pub extern "C" fn pct_set_add(set: i32, len: usize) -> i32 {
    let mut state = state();
    let base = if set < 0 { Some(AsciiSet::EMPTY) } else { state.set(set) };
    match base.and_then(|base| base.add(state.input(len))) {
        Some(set) => state.define(set),
        None => NO_SUCH_SET,
    }
}

/// Defines the set that has the members of `set` without the first `len` bytes of input. Returns the number of the new set.
#[unsafe(no_mangle)]
pub extern "C" fn pct_set_remove(set: i32, len: usize) -> i32 {
    let mut state = state();
    let Some(base) = state.set(set) else { return NO_SUCH_SET };
    let set = base.remove(state.input(len));
    state.define(set)
}
