//! `quote`, `unquote` and the similar functions of urllib.parse.
//!
//! The fast paths take `str`, as UTF-8, and `bytes`, but no subclasses. urllib's functions answer calls with other types,
//! charsets or surrogates, and raise all exceptions ([`Stop::Unusual`]) except `MemoryError`.

use std::mem::MaybeUninit;
use std::sync::{LazyLock, Mutex};

use codec::internals::form_keeping_plus;
use codec::{AsciiSet, Decode, Encode, sets};
use pyo3::prelude::*;

use crate::call::{Call, Pair};
use crate::object::{Answer, Obj, Stop, decode_str, memory, new_bytes, new_str};

pub(crate) static QUOTE: Pair = Pair::new();
pub(crate) static QUOTE_PLUS: Pair = Pair::new();
pub(crate) static QUOTE_FROM_BYTES: Pair = Pair::new();
pub(crate) static UNQUOTE: Pair = Pair::new();
pub(crate) static UNQUOTE_PLUS: Pair = Pair::new();
pub(crate) static UNQUOTE_TO_BYTES: Pair = Pair::new();

/// The largest result, in bytes, that is written to the stack before Python's object is made.
const STACK: usize = 3072;

type Encoder = Encode<AsciiSet>;

static SLASH: LazyLock<Encoder> = LazyLock::new(|| Encode::keeping(sets::PYTHON_QUOTE));
static NOTHING: LazyLock<Encoder> = LazyLock::new(|| encoder_of(b"", false));
static NOTHING_PLUS: LazyLock<Encoder> = LazyLock::new(|| encoder_of(b"", true));

fn encoder_of(safe: &[u8], plus: bool) -> Encoder {
    let encoder = Encode::keeping(keep(bits_of(safe)));
    if plus { form_keeping_plus(encoder) } else { encoder }
}

/// Returns a bitmap of the bytes of `safe`. Like Python, it ignores bytes that are not ASCII.
pub(crate) fn bits_of(safe: &[u8]) -> u128 {
    safe.iter().filter(|byte| byte.is_ascii()).fold(0, |bits, byte| bits | 1 << byte)
}

/// Returns the set of bytes that urllib does not encode: unreserved characters and the bytes of the bitmap `safe`.
pub(crate) fn keep(safe: u128) -> AsciiSet {
    sets::RFC3986_UNRESERVED.union(AsciiSet::from_bitmap(safe))
}

/// A cached encoder, and the argument `safe` for which it was made.
struct Cached {
    safe: Py<PyAny>,
    plus: bool,
    encoder: Encoder,
}

/// A cache of encoders for recent `safe` arguments, which are mostly constants, and the index of the next entry to replace.
static CACHE: Mutex<([Option<Cached>; 4], usize)> = Mutex::new(([const { None }; 4], 0));

/// Calls `then` with the encoder for the argument `safe`.
#[inline(always)]
fn with_encoder<'py>(
    py: Python<'py>,
    safe: Option<Obj<'py>>,
    default: &LazyLock<Encoder>,
    plus: bool,
    then: impl FnOnce(&Encoder) -> Answer<'py>,
) -> Answer<'py> {
    match safe {
        None => then(default),
        Some(safe) => then(&cached(py, safe, plus)?),
    }
}

fn cached<'py>(py: Python<'py>, safe: Obj<'py>, plus: bool) -> Result<Encoder, Stop> {
    // If another thread holds the cache, this one makes an encoder instead of waiting.
    let Ok(mut cache) = CACHE.try_lock() else {
        return Ok(encoder_of(safe_bytes(safe)?, plus));
    };
    let (entries, next) = &mut *cache;
    let hit = entries
        .iter()
        .flatten()
        .find(|entry| entry.safe.as_ptr().addr() == safe.address() && entry.plus == plus);
    if let Some(hit) = hit {
        return Ok(hit.encoder);
    }
    let encoder = encoder_of(safe_bytes(safe)?, plus);
    let old = entries[*next].replace(Cached { safe: safe.own(py).unbind(), plus, encoder });
    *next = (*next + 1) % entries.len();
    drop(cache);
    if let Some(old) = old {
        old.safe.drop_ref(py);
    }
    Ok(encoder)
}

/// Returns the bytes of the argument `safe`.
fn safe_bytes(safe: Obj<'_>) -> Result<&[u8], Stop> {
    safe.as_utf8().or_else(|| safe.as_bytes()).ok_or(Stop::Unusual)
}

/// Reports whether the argument `encoding` means UTF-8. It knows only the usual names; urllib handles the others.
#[inline(always)]
pub(crate) fn is_utf8(encoding: Option<Obj<'_>>) -> bool {
    match encoding {
        None => true,
        Some(encoding) if encoding.is_none() => true,
        Some(encoding) => matches!(encoding.as_utf8(), Some(b"utf-8" | b"utf8" | b"UTF-8" | b"UTF8")),
    }
}

/// The error handlers that every Python has. They matter only for input with errors. urllib's functions handle such input, except that
/// this package decodes it itself if the handler is `replace`.
const HANDLERS: &[&[u8]] = &[
    b"strict",
    b"replace",
    b"ignore",
    b"surrogateescape",
    b"backslashreplace",
    b"xmlcharrefreplace",
    b"surrogatepass",
];

/// The effect of the argument `errors` on decoding.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Errors {
    /// Invalid UTF-8 becomes U+FFFD.
    Replace,
    /// Any other error handler. It matters only for invalid UTF-8, which urllib's functions then handle.
    Other,
}

#[inline(always)]
pub(crate) fn errors(argument: Option<Obj<'_>>) -> Result<Errors, Stop> {
    match argument {
        None => Ok(Errors::Replace),
        Some(errors) if errors.is_none() => Ok(Errors::Replace),
        Some(errors) => match errors.as_utf8() {
            Some(b"replace") => Ok(Errors::Replace),
            Some(name) if HANDLERS.contains(&name) => Ok(Errors::Other),
            _ => Err(Stop::Unusual),
        },
    }
}

/// Reports whether an argument is given and is not `None`.
#[inline(always)]
fn is_given(argument: Option<Obj<'_>>) -> bool {
    argument.is_some_and(|argument| !argument.is_none())
}

#[inline(always)]
pub(crate) fn quote<'py>(call: &Call<'py>) -> Answer<'py> {
    let [string, safe, encoding, errors] = call.arguments(["string", "safe", "encoding", "errors"])?;
    quote_any(call.py, string, safe, encoding, errors, &SLASH, false)
}

#[inline(always)]
pub(crate) fn quote_plus<'py>(call: &Call<'py>) -> Answer<'py> {
    let [string, safe, encoding, errors] = call.arguments(["string", "safe", "encoding", "errors"])?;
    quote_any(call.py, string, safe, encoding, errors, &NOTHING_PLUS, true)
}

#[inline(always)]
pub(crate) fn quote_from_bytes<'py>(call: &Call<'py>) -> Answer<'py> {
    let [bytes, safe] = call.arguments(["bs", "safe"])?;
    let bytes = bytes.and_then(Obj::as_bytes).ok_or(Stop::Unusual)?;
    with_encoder(call.py, safe, &SLASH, false, |encoder| encoded(call.py, bytes, None, encoder, false))
}

/// Calls `then` with the encoder that `urlencode` uses for the argument `safe`.
#[inline(always)]
pub(crate) fn for_query<'py>(
    py: Python<'py>,
    safe: Option<Obj<'py>>,
    plus: bool,
    then: impl FnOnce(&Encoder) -> Answer<'py>,
) -> Answer<'py> {
    with_encoder(py, safe, if plus { &NOTHING_PLUS } else { &NOTHING }, plus, then)
}

#[inline(always)]
fn quote_any<'py>(
    py: Python<'py>,
    string: Option<Obj<'py>>,
    safe: Option<Obj<'py>>,
    encoding: Option<Obj<'py>>,
    errors: Option<Obj<'py>>,
    default: &LazyLock<Encoder>,
    plus: bool,
) -> Answer<'py> {
    let string = string.ok_or(Stop::Unusual)?;
    let (bytes, same) = match string.as_utf8() {
        Some(utf8) => {
            if !is_utf8(encoding) {
                return Err(Stop::Unusual);
            }
            // Text without surrogates has no encoding errors, so `errors` has no effect, but an unknown handler must be
            // rejected.
            self::errors(errors)?;
            (utf8, Some(string))
        }
        None => match string.as_bytes() {
            Some(bytes) if !is_given(encoding) && !is_given(errors) => (bytes, None),
            _ => return Err(Stop::Unusual),
        },
    };
    with_encoder(py, safe, default, plus, |encoder| encoded(py, bytes, same, encoder, plus))
}

/// Encodes `bytes` to a `str`. If nothing changes, returns `same`, the `str` that `bytes` come from.
#[inline(always)]
fn encoded<'py>(
    py: Python<'py>,
    bytes: &[u8],
    same: Option<Obj<'py>>,
    encoder: &Encoder,
    plus: bool,
) -> Answer<'py> {
    if bytes.len() > STACK / 3 {
        return encoded_long(py, bytes, same, encoder);
    }
    let mut buffer = [MaybeUninit::uninit(); STACK];
    let Ok(out) = encoder.encode_to_uninit(bytes, &mut buffer) else {
        return Err(Stop::Unusual);
    };
    match same {
        // Every change makes the text longer, except for that of a space to a plus sign. So texts of equal length need a
        // comparison only if `plus` is true.
        Some(same) if out.len() == bytes.len() && (!plus || out == bytes) => Ok(same.own(py)),
        _ => new_str(py, out),
    }
}

#[cold]
fn encoded_long<'py>(
    py: Python<'py>,
    bytes: &[u8],
    same: Option<Obj<'py>>,
    encoder: &Encoder,
) -> Answer<'py> {
    match (encoder.first_change(bytes), same) {
        (None, Some(same)) => Ok(same.own(py)),
        (None, None) => new_str(py, bytes),
        (Some(_), _) => {
            let mut out = memory(py, encoder.encoded_len(bytes))?;
            encoder.encode_append(bytes, &mut out);
            new_str(py, &out)
        }
    }
}

#[inline(always)]
pub(crate) fn unquote<'py>(call: &Call<'py>) -> Answer<'py> {
    let [string, encoding, errors] = call.arguments(["string", "encoding", "errors"])?;
    let string = string.ok_or(Stop::Unusual)?;
    if !is_utf8(encoding) {
        return Err(Stop::Unusual);
    }
    let handler = self::errors(errors)?;
    if let Some(text) = string.as_utf8() {
        return decoded(call.py, text, Some(string), Decode::new(), false, handler);
    }
    // urllib's function rejects `None` as `encoding` or `errors` if the string is `bytes`.
    match string.as_bytes() {
        Some(bytes) if !encoding.is_some_and(Obj::is_none) && !errors.is_some_and(Obj::is_none) => {
            decoded(call.py, bytes, None, Decode::new(), false, handler)
        }
        _ => Err(Stop::Unusual),
    }
}

#[inline(always)]
pub(crate) fn unquote_plus<'py>(call: &Call<'py>) -> Answer<'py> {
    let [string, encoding, errors] = call.arguments(["string", "encoding", "errors"])?;
    let string = string.ok_or(Stop::Unusual)?;
    let text = string.as_utf8().ok_or(Stop::Unusual)?;
    if !is_utf8(encoding) {
        return Err(Stop::Unusual);
    }
    decoded(call.py, text, Some(string), Decode::new().form(), true, self::errors(errors)?)
}

#[inline(always)]
pub(crate) fn unquote_to_bytes<'py>(call: &Call<'py>) -> Answer<'py> {
    let [string] = call.arguments(["string"])?;
    let string = string.ok_or(Stop::Unusual)?;
    let (bytes, same) = match string.as_utf8() {
        Some(text) => (text, None),
        None => (string.as_bytes().ok_or(Stop::Unusual)?, Some(string)),
    };
    with_decoded(call.py, bytes, Decode::new(), |out| match same {
        Some(same) if out.len() == bytes.len() => Ok(same.own(call.py)),
        _ => new_bytes(call.py, out),
    })
}

/// Decodes `bytes` to a `str`. If nothing changes, returns `same`, the `str` that `bytes` come from.
///
/// urllib decodes each run of ASCII characters by itself. Decoding everything at once gives the same result: the other
/// characters of a `str` are complete UTF-8 sequences, so invalid UTF-8 in a run never continues in them. If invalid UTF-8 is
/// not replaced, urllib's function answers, because its exception has offsets in the run.
#[inline(always)]
fn decoded<'py>(
    py: Python<'py>,
    bytes: &[u8],
    same: Option<Obj<'py>>,
    decoder: Decode,
    plus: bool,
    errors: Errors,
) -> Answer<'py> {
    with_decoded(py, bytes, decoder, |out| match same {
        Some(same) if out.len() == bytes.len() && (!plus || out == bytes) => Ok(same.own(py)),
        _ => decode_str(py, out, errors == Errors::Replace),
    })
}

/// Calls `then` with the decoded bytes of `bytes`.
#[inline(always)]
pub(crate) fn with_decoded<'py>(
    py: Python<'py>,
    bytes: &[u8],
    decoder: Decode,
    then: impl FnOnce(&[u8]) -> Answer<'py>,
) -> Answer<'py> {
    if bytes.len() > STACK {
        if decoder.is_decoded(bytes) {
            return then(bytes);
        }
        let mut out = memory(py, bytes.len())?;
        decoder.decode_append(bytes, &mut out);
        return then(&out);
    }
    let mut buffer = [MaybeUninit::uninit(); STACK];
    match decoder.decode_to_uninit(bytes, &mut buffer) {
        Ok(out) => then(out),
        Err(_) => Err(Stop::Unusual),
    }
}
