//! Arguments of functions that urllib lacks: texts, and names of functions, URL parts, canonical forms and policies.

use std::borrow::Cow;

use codec::{Decode, OnInvalidUtf8};
use functions::{
    Body, CANONICALIZE, DECODE, ENCODE, Function, MALFORMED, NORMALIZE, PartBody, Policy, sql_functions,
    unknown,
};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};
use uri::canon::Profile;

use crate::columns::Argument;
use crate::object::{decode_str, new_bytes, room};

/// The argument of a function that takes a `str` or `bytes`.
pub(crate) enum Text<'py> {
    Str(Bound<'py, PyString>),
    Bytes(Bound<'py, PyBytes>),
}

impl<'py> FromPyObject<'_, 'py> for Text<'py> {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Text<'py>> {
        if let Ok(text) = object.cast::<PyString>() {
            return Ok(Text::Str(text.to_owned()));
        }
        if let Ok(bytes) = object.cast::<PyBytes>() {
            return Ok(Text::Bytes(bytes.to_owned()));
        }
        Err(PyTypeError::new_err(format!("expected a str or bytes, not {}", object.get_type().name()?)))
    }
}

impl<'py> Text<'py> {
    /// Returns the bytes of a `bytes`, or the UTF-8 of a `str`. A surrogate raises `UnicodeEncodeError`.
    pub(crate) fn bytes(&self) -> PyResult<&[u8]> {
        match self {
            Text::Str(text) => Ok(text.to_str()?.as_bytes()),
            Text::Bytes(bytes) => Ok(bytes.as_bytes()),
        }
    }

    /// Makes the answer of a function: an object of the type of its argument `self`, with the content `bytes`. If `bytes` is
    /// borrowed, nothing has changed, and the answer is the argument itself.
    pub(crate) fn answer(&self, py: Python<'py>, bytes: Cow<'_, [u8]>) -> PyResult<Bound<'py, PyAny>> {
        match (self, bytes) {
            (Text::Str(text), Cow::Borrowed(_)) => Ok(text.clone().into_any()),
            (Text::Bytes(bytes), Cow::Borrowed(_)) => Ok(bytes.clone().into_any()),
            (_, Cow::Owned(bytes)) => self.part(py, &bytes),
        }
    }

    /// Makes a `str` if `self` is a `str`, or else a `bytes`, with the content `bytes`, which is UTF-8 for a `str`.
    pub(crate) fn part(&self, py: Python<'py>, bytes: &[u8]) -> PyResult<Bound<'py, PyAny>> {
        Ok(match self {
            Text::Str(_) => decode_str(py, bytes, true)?,
            Text::Bytes(_) => new_bytes(py, bytes)?,
        })
    }

    /// Returns the same bytes as `self.bytes()`. Raises `MemoryError` without memory for `times` times as many bytes.
    pub(crate) fn bytes_with_room(&self, py: Python<'_>, times: usize) -> PyResult<&[u8]> {
        let bytes = self.bytes()?;
        room(py, bytes.len().saturating_mul(times))?;
        Ok(bytes)
    }

    /// Decodes `raw`, which is a part of `self`. In a `str`, an escape stays if its byte is not part of valid UTF-8.
    pub(crate) fn decode<'a>(&self, raw: &'a [u8], decoder: Decode) -> Cow<'a, [u8]> {
        match self {
            Text::Bytes(_) => decoder.decode(raw),
            Text::Str(_) => match decoder.decode_utf8_with(raw, OnInvalidUtf8::Keep) {
                Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
                Cow::Owned(text) => Cow::Owned(text.into_bytes()),
            },
        }
    }

    /// Converts an offset in the bytes to an index into the Python object, which counts characters if it is a `str`.
    pub(crate) fn index(&self, offset: usize) -> PyResult<usize> {
        Ok(match self {
            Text::Str(text) => {
                text.to_str()?.as_bytes()[..offset].iter().filter(|byte| **byte & 0xC0 != 0x80).count()
            }
            Text::Bytes(_) => offset,
        })
    }
}

/// Returns the exception for an invalid argument of the Python function `caller`.
pub(crate) fn invalid(caller: &str, why: &str) -> PyErr {
    PyValueError::new_err(format!("{caller}: {why}"))
}

/// Returns the profile with this name. An unknown name raises `ValueError` with the name of the Python function that got it.
pub(crate) fn profile(caller: &str, name: &str) -> PyResult<Profile> {
    functions::find_profile(name).map_err(|why| invalid(caller, &why))
}

/// Returns the policy that the argument `errors` of `caller` names. A name that `function` does not support raises `ValueError`.
pub(crate) fn policy(caller: &str, function: &Function, errors: &str) -> PyResult<Policy> {
    let mut choices = Policy::ALL.to_vec();
    choices.retain(|(_, policy)| function.policies.iter().any(|(known, _)| known == policy));
    let found = choices.iter().find(|(name, _)| *name == errors);
    found.map(|(_, policy)| *policy).ok_or_else(|| {
        let names: Vec<_> = choices.iter().map(|(name, _)| format!("'{name}'")).collect();
        let (last, others) = names.split_last().expect("a function with choices");
        invalid(caller, &format!("errors must be {} or {last}, not {errors:?}", others.join(", ")))
    })
}

/// Returns the functions of URLs with the names that they have in Python.
fn url_functions() -> impl Iterator<Item = (&'static str, &'static Function)> {
    let is_url = |function: &&Function| !matches!(function.body, Body::Verb(_));
    sql_functions()
        .iter()
        .filter_map(move |sql| Some(sql.name.strip_prefix("url_")?).zip(Some(sql.function).filter(is_url)))
}

/// Returns the function with this name in Python.
pub(crate) fn find(name: &str) -> Option<&'static Function> {
    Some(match name {
        "encode" => &ENCODE,
        "decode" => &DECODE,
        "normalize" => &NORMALIZE,
        "canonicalize" => &CANONICALIZE,
        "malformed" => &MALFORMED,
        _ => url_functions().find(|(known, _)| *known == name)?.1,
    })
}

/// Returns the function that returns the part with this name. An unknown name raises `ValueError` for the Python function `caller`.
pub(crate) fn part(caller: &str, name: &str) -> PyResult<PartBody> {
    let parts = || {
        url_functions().filter_map(|(name, function)| match function.body {
            Body::Part(body) => Some((name, body)),
            _ => None,
        })
    };
    let found = parts().find(|(known, _)| *known == name).map(|(_, body)| body);
    found.ok_or_else(|| invalid(caller, &unknown("part", name, parts().map(|(name, _)| name))))
}

/// Returns the arguments after the first for the function of URLs with this name. `None` in `more` is an argument that is a column. An
/// unknown name or another number of arguments raises `ValueError`.
pub(crate) fn url_arguments(caller: &str, name: &str, more: &[Option<Text<'_>>]) -> PyResult<Vec<Argument>> {
    let found = url_functions().find(|(known, _)| *known == name);
    let message = || unknown("function", name, url_functions().map(|(name, _)| name));
    let (_, function) = found.ok_or_else(|| invalid(caller, &message()))?;
    if more.len() != function.more.len() {
        let needed = [function.value].into_iter().chain(function.more.iter().copied()).collect::<Vec<_>>();
        let message = format!("{name:?} takes {}, and got {} arguments", needed.join(", "), 1 + more.len());
        return Err(invalid(caller, &message));
    }
    let argument = |argument: &Option<Text<'_>>| match argument {
        Some(text) => Ok(Argument::Constant(text.bytes()?.to_vec())),
        None => Ok(Argument::Column),
    };
    more.iter().map(argument).collect()
}
