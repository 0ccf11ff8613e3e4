//! The options of an expression on their way through Polars: from Python to text, and from text to a job.
//!
//! Polars takes the options of a plugin as keyword arguments, serializes them, and passes the bytes to the plugin. Current
//! versions pickle them, but Polars only promises a format for values that JSON can express. So the options are one ASCII
//! string, which looks the same in both formats. This module finds it by a mark at its start and one at its end.

use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};

use functions::{
    Body, CANONICALIZE, DECODE, ENCODE, Function, MALFORMED, NORMALIZE, Name, Options, sql_functions,
};
use memchr::{memchr, memmem};
use pyo3::prelude::*;

use crate::columns::{Argument, Job};
use crate::strings::{self, Text};
use crate::{quoting, table};

/// The mark before the options. Its number is the version of their format.
const START: &str = "simdpct:1 ";
/// The mark after the options.
const END: char = ';';

/// A function as an expression of Polars, and whether a space is written `+`.
#[derive(Clone, Copy)]
pub(crate) struct Expression {
    /// The function, or `None` if the options name a function of URLs.
    function: Option<&'static Function>,
    plus: bool,
}

impl Expression {
    pub(crate) const QUOTE: Expression = Expression { function: Some(&ENCODE), plus: false };
    pub(crate) const QUOTE_PLUS: Expression = Expression { function: Some(&ENCODE), plus: true };
    pub(crate) const UNQUOTE: Expression = Expression { function: Some(&DECODE), plus: false };
    pub(crate) const UNQUOTE_PLUS: Expression = Expression { function: Some(&DECODE), plus: true };
    pub(crate) const NORMALIZE: Expression = Expression { function: Some(&NORMALIZE), plus: false };
    pub(crate) const CANONICALIZE: Expression = Expression { function: Some(&CANONICALIZE), plus: false };
    pub(crate) const URL: Expression = Expression { function: None, plus: false };
    pub(crate) const MALFORMED: Expression = Expression { function: Some(&MALFORMED), plus: false };
}

/// Return the options of an expression as text, for the keyword arguments of a plugin. An argument that is a column is None. Raises ValueError like the functions on
/// columns.
#[pyfunction]
#[pyo3(signature = (*more, safe = None, profile = None, errors = None, url = None))]
pub(crate) fn polars_options(
    more: Vec<Option<Text<'_>>>,
    safe: Option<Text<'_>>,
    profile: Option<&str>,
    errors: Option<&str>,
    url: Option<&str>,
) -> PyResult<String> {
    let mut text = START.to_owned();
    if let Some(name) = url {
        text += &format!("url={name} ");
        for argument in table::url_job(name, &more)?.more {
            match argument {
                Argument::Constant(bytes) => {
                    let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
                    text += &format!("more={digits} ");
                }
                Argument::Column => text += "column= ",
            }
        }
    }
    if let Some(safe) = safe {
        text += &format!("safe={:032x} ", quoting::bits_of(safe.bytes()?));
    }
    if let Some(name) = profile {
        text += &format!("profile={} ", strings::profile(name)?.name());
    }
    if let Some(errors) = errors {
        // All functions without a profile have the same policies, so `DECODE` stands for each of them.
        table::policy(if profile.is_some() { &CANONICALIZE } else { &DECODE }, errors)?;
        text += &format!("errors={errors} ");
    }
    text.push(END);
    Ok(text)
}

impl Expression {
    /// Reads the options from the keyword arguments as Polars has serialized them, and returns the job of this expression.
    ///
    /// # Errors
    ///
    /// A message if the options are missing or unknown.
    pub(crate) fn job(self, kwargs: &[u8]) -> Result<Job, String> {
        let job = match self.function {
            Some(function) => {
                self.options(function, kwargs).map(|options| Job { function, options, more: Vec::new() })
            }
            None => url_job(kwargs),
        };
        job.ok_or_else(|| {
            "the options are not such as this version of simdpct.polars passes; did another version make the plan?".to_owned()
        })
    }

    fn options(self, function: &Function, kwargs: &[u8]) -> Option<Options> {
        let mut options = Options { plus: self.plus, ..Options::default() };
        let (needs_safe, needs_profile) =
            (function.name == Some(Name::Set), function.name == Some(Name::Profile));
        let needs_errors = !function.policies.is_empty();
        if !needs_safe && !needs_errors {
            return Some(options);
        }
        let (mut safe, mut profile, mut errors) = (false, false, false);
        for option in find(kwargs)?.split_ascii_whitespace() {
            let (name, value) = option.split_once('=')?;
            match name {
                "safe" => options.keep = quoting::keep(u128::from_str_radix(value, 16).ok()?),
                "profile" => options.profile = functions::find_profile(value).ok()?,
                "errors" => options.policy = table::find_policy(value)?,
                _ => return None,
            }
            safe |= name == "safe";
            profile |= name == "profile";
            errors |= name == "errors";
        }
        ((safe, profile, errors) == (needs_safe, needs_profile, needs_errors)).then_some(options)
    }
}

/// Returns the options in the keyword arguments.
fn find(kwargs: &[u8]) -> Option<&str> {
    let text = &kwargs[memmem::find(kwargs, START.as_bytes())? + START.len()..];
    std::str::from_utf8(&text[..memchr(END as u8, text)?]).ok()
}

/// Reads the name and the arguments of a function of URLs, and returns its job.
fn url_job(kwargs: &[u8]) -> Option<Job> {
    let mut options = find(kwargs)?.split_ascii_whitespace().map(|option| option.split_once('='));
    let (_, name) = options.next()?.filter(|(name, _)| *name == "url")?;
    let sql = sql_functions().iter().find(|sql| sql.name.strip_prefix("url_") == Some(name))?;
    let byte = |digits: &[u8]| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok();
    let argument = |option: Option<(&str, &str)>| match option? {
        ("more", digits) => {
            digits.as_bytes().chunks(2).map(byte).collect::<Option<_>>().map(Argument::Constant)
        }
        ("column", "") => Some(Argument::Column),
        _ => None,
    };
    let more = options.map(argument).collect::<Option<Vec<_>>>()?;
    let is_url = !matches!(sql.function.body, Body::Verb(_)) && more.len() == sql.function.more.len();
    is_url.then(|| Job { function: sql.function, options: Options::default(), more })
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
