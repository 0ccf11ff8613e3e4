//! The codec as a WebAssembly module with plain exports; `codec.mjs` is its only caller.
//!
//! Two buffers live in the module. The caller asks [`pct_input`] for room, writes there, calls an operation with the
//! length of what it wrote, and reads the result at [`pct_output`]. An operation returns the length of the result, or
//! a negative number that says why there is none. Sets are numbers: first the registry's, in its order, then those
//! that the caller defined.
//!
//! Nothing here panics on what a caller passes, for a panic would end the module.
//!
//! SAFETY of each `#[unsafe(no_mangle)]`, the only unsafe thing here: no other symbol of the module begins with `pct_`.

use std::sync::{Mutex, MutexGuard, PoisonError};

use simdpct::{AsciiSet, ByteSet, Decode, Encode, HexCase, TryDecode, sets};

/// The result is the input.
const UNCHANGED: i32 = -1;
/// The input has a malformed escape, at [`pct_error_offset`].
const MALFORMED: i32 = -2;
/// No memory for the result.
const NO_MEMORY: i32 = -3;
/// There is no such set, name or member.
const NO_SUCH_SET: i32 = -4;

/// For encoding: valid escapes in the input stay.
const KEEP_ESCAPES: u32 = 1;
/// For encoding and decoding: the rule of forms.
const FORM: u32 = 2;
/// For encoding: digits in lower case.
const LOWER: u32 = 4;
/// For decoding: a malformed escape is an error.
const STRICT: u32 = 8;

/// What an operation may write beyond the result.
const SLACK: usize = 256;

struct State {
    /// What the caller wrote is at its start.
    input: Vec<u8>,
    output: Vec<u8>,
    defined: Vec<AsciiSet>,
    error_offset: usize,
}

static STATE: Mutex<State> =
    Mutex::new(State { input: Vec::new(), output: Vec::new(), defined: Vec::new(), error_offset: 0 });

/// The module has one thread, so this never waits.
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
        self.defined.push(set);
        length(sets::ALL.len() + self.defined.len() - 1)
    }

    /// Runs an operation that appends to an empty output of at least `room` bytes.
    fn run(
        &mut self,
        len: usize,
        room: usize,
        operation: impl FnOnce(&[u8], &mut Vec<u8>) -> Result<(), i32>,
    ) -> i32 {
        let State { input, output, .. } = self;
        let input = &input[..len.min(input.len())];
        output.clear();
        if output.try_reserve(room).is_err() {
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
        let result = self.run(len, len.saturating_add(SLACK), |input, output| {
            decode.decode_append(input, output).map_err(|error| {
                offset = error.offset;
                MALFORMED
            })
        });
        self.error_offset = offset;
        result
    }
}

/// A length or a number for the caller. Memory ends before 2^31 bytes wherever this module runs.
fn length(len: usize) -> i32 {
    i32::try_from(len).unwrap_or(NO_MEMORY)
}

/// The decoder that `flags` ask for, without [`STRICT`], and with the set `keep` unless that is negative.
fn decoder(state: &State, keep: i32, flags: u32) -> Option<Decode> {
    let keep = if keep < 0 { ByteSet::EMPTY } else { state.set(keep)?.to_byte_set() };
    let decode = Decode::new().keep(keep);
    Some(if flags & FORM != 0 { decode.form() } else { decode })
}

/// Room for `len` bytes of input, or null if there is no memory. It stays valid until the next call of this function
/// or of [`pct_release`].
#[unsafe(no_mangle)]
pub extern "C" fn pct_input(len: usize) -> *mut u8 {
    let input = &mut state().input;
    if input.len() < len {
        if input.try_reserve_exact(len - input.len()).is_err() {
            return core::ptr::null_mut();
        }
        input.resize(len, 0);
    }
    input.as_mut_ptr()
}

/// The result of the last operation, valid until the next.
#[unsafe(no_mangle)]
pub extern "C" fn pct_output() -> *const u8 {
    state().output.as_ptr()
}

/// The length of the result at [`pct_output`].
#[unsafe(no_mangle)]
pub extern "C" fn pct_output_length() -> usize {
    state().output.len()
}

/// Gives both buffers back.
#[unsafe(no_mangle)]
pub extern "C" fn pct_release() {
    let mut state = state();
    state.input = Vec::new();
    state.output = Vec::new();
}

/// Encodes the first `len` bytes of input: `KEEP_ESCAPES`, `FORM`, `LOWER`.
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
    let room = len.saturating_mul(3).saturating_add(SLACK);
    state.run(len, room, |input, output| {
        encode.encode_append(input, output);
        Ok(())
    })
}

/// Decodes the first `len` bytes of input: `FORM`, `STRICT`. Escapes of the set `keep` stay, if it is not
/// negative.
#[unsafe(no_mangle)]
pub extern "C" fn pct_decode(len: usize, keep: i32, flags: u32) -> i32 {
    let mut state = state();
    let Some(decode) = decoder(&state, keep, flags) else { return NO_SUCH_SET };
    state.decode(len, decode.strict_if(flags & STRICT != 0))
}

/// Normalizes the first `len` bytes of input.
#[unsafe(no_mangle)]
pub extern "C" fn pct_normalize(len: usize) -> i32 {
    state().decode(len, Decode::NORMALIZE.strict_if(false))
}

/// After a failed operation, where in the input.
#[unsafe(no_mangle)]
pub extern "C" fn pct_error_offset() -> usize {
    state().error_offset
}

/// Where, in the first `len` bytes of input, that starts which does not decode to UTF-8; negative if all does.
#[unsafe(no_mangle)]
pub extern "C" fn pct_not_utf8(len: usize, keep: i32, flags: u32) -> i32 {
    let state = state();
    let Some(decode) = decoder(&state, keep, flags) else { return NO_SUCH_SET };
    match decode.decode_utf8(&state.input[..len.min(state.input.len())]) {
        Err(error) => length(error.offset),
        Ok(_) => UNCHANGED,
    }
}

/// Writes the name of a set of the registry to the output and returns its length.
#[unsafe(no_mangle)]
pub extern "C" fn pct_set_name(number: usize) -> i32 {
    let Some(named) = sets::ALL.get(number) else { return NO_SUCH_SET };
    state().output = named.name.into();
    length(named.name.len())
}

/// Defines the set with the members of `set` (none if that is negative) and the first `len` bytes of input, and
/// returns its number. Bytes that are not ASCII cannot be added.
#[unsafe(no_mangle)]
pub extern "C" fn pct_set_add(set: i32, len: usize) -> i32 {
    let mut state = state();
    let base = if set < 0 { Some(AsciiSet::EMPTY) } else { state.set(set) };
    let members = &state.input[..len.min(state.input.len())];
    match base.and_then(|base| base.add(members)) {
        Some(set) => state.define(set),
        None => NO_SUCH_SET,
    }
}

/// Defines the set with the members of `set` but for the first `len` bytes of input, and returns its number.
#[unsafe(no_mangle)]
pub extern "C" fn pct_set_remove(set: i32, len: usize) -> i32 {
    let mut state = state();
    let Some(base) = state.set(set) else { return NO_SUCH_SET };
    let set = base.remove(&state.input[..len.min(state.input.len())]);
    state.define(set)
}
