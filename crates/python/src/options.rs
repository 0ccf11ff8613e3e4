//! The options of a function on a column: from Python to text, and from text to a job.
//!
//! The functions on columns read this text directly. The text of an expression goes through Polars. Polars takes the
//! options of a plugin as keyword arguments, serializes them, and passes the bytes to the plugin. Current versions
//! pickle them, but Polars only promises a format for values that JSON can express. So the options are one ASCII
//! string, which is the same in a pickle and in JSON. Marks at its start and end let this module find it.

use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};

use functions::{Options, Policy};
use memchr::{memchr, memmem};
use pyo3::prelude::*;

use crate::arguments::{self, Text};
use crate::columns::{Argument, Job};
use crate::quoting;

/// The mark before the options. Its number is the version of their format.
const START: &str = "simdpct:2 ";
/// The mark after the options.
const END: char = ';';

/// Reads an argument that was passed. So a `None` is not a missing argument but an object of a wrong type, as in `urllib.parse.quote`.
fn given<'py>(argument: &Bound<'py, PyAny>) -> PyResult<Option<Text<'py>>> {
    argument.extract().map(Some)
}

/// Return the options of a function as text. `more` are the arguments after the URL of a function of
/// URLs; None among them is a column. Raises ValueError like the functions on columns, with `caller` as the name of the called function.
#[pyfunction]
#[pyo3(signature = (caller, function, more = None, *, safe = None, plus = false, profile = None, errors = None))]
pub(crate) fn options(
    caller: &str,
    function: &str,
    more: Option<Vec<Option<Text<'_>>>>,
    #[pyo3(from_py_with = given)] safe: Option<Text<'_>>,
    plus: bool,
    profile: Option<&str>,
    errors: Option<&str>,
) -> PyResult<String> {
    let mut text = START.to_owned();
    if let Some(safe) = safe {
        text += &format!("safe={:032x} ", quoting::bits_of(safe.bytes()?));
    }
    if plus {
        text += "plus= ";
    }
    if let Some(name) = profile {
        text += &format!("profile={} ", arguments::profile(caller, name)?.name());
    }
    if let (Some(errors), Some(function)) = (errors, arguments::find(function)) {
        arguments::policy(caller, function, errors)?;
        text += &format!("errors={errors} ");
    }
    let more = more.map(|more| arguments::url_arguments(caller, function, &more));
    for argument in more.transpose()?.unwrap_or_default() {
        match argument {
            Argument::Constant(bytes) => {
                let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
                text += &format!("more={digits} ");
            }
            Argument::Column => text += "column= ",
        }
    }
    text.push(END);
    Ok(text)
}

/// Reads the options of a function from the keyword arguments as Polars has serialized them, and returns its job.
///
/// # Errors
///
/// A message if the options are missing or unknown.
pub(crate) fn job(function: &str, kwargs: &[u8]) -> Result<Job, String> {
    read(function, kwargs).ok_or_else(|| {
        "the options are not such as this version of simdpct.polars passes; did another version make the plan?".to_owned()
    })
}

fn read(function: &str, kwargs: &[u8]) -> Option<Job> {
    let mut job = Job { function: arguments::find(function)?, options: Options::default(), more: Vec::new() };
    let text = &kwargs[memmem::find(kwargs, START.as_bytes())? + START.len()..];
    let text = std::str::from_utf8(&text[..memchr(END as u8, text)?]).ok()?;
    let byte = |digits: &[u8]| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok();
    for option in text.split_ascii_whitespace() {
        match option.split_once('=')? {
            ("safe", bits) => job.options.keep = quoting::keep(u128::from_str_radix(bits, 16).ok()?),
            ("plus", "") => job.options.plus = true,
            ("profile", name) => job.options.profile = functions::find_profile(name).ok()?,
            ("errors", name) => {
                job.options.policy = Policy::ALL.into_iter().find(|(known, _)| *known == name)?.1;
            }
            ("more", digits) => {
                let bytes = digits.as_bytes().chunks(2).map(byte).collect::<Option<_>>()?;
                job.more.push(Argument::Constant(bytes));
            }
            ("column", "") => job.more.push(Argument::Column),
            _ => return None,
        }
    }
    (job.more.len() == job.function.more.len()).then_some(job)
}

/// The number of threads that Polars has, or 0 if it is not known.
static THREADS: AtomicUsize = AtomicUsize::new(0);

/// Set the number of threads that Polars has. No expression uses more.
#[pyfunction]
pub(crate) fn polars_threads(count: usize) {
    THREADS.store(count, Ordering::Relaxed);
}

/// Returns the number of threads that an expression may use, or `None` if it is not known.
pub(crate) fn threads() -> Option<NonZero<usize>> {
    NonZero::new(THREADS.load(Ordering::Relaxed))
}
