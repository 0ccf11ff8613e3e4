//! The options of an expression on their way through Polars: from Python to text, and from that to a verb.
//!
//! Polars takes the options of a plugin as keyword arguments, serializes them, and hands over the bytes: pickled so far, but it
//! promises no more than that they have to be fit for JSON. So they are one ASCII string with a mark at its start and at its
//! end, which looks the same in either, and is looked for.

use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};

use codec::Decode;
use memchr::{memchr, memmem};
use pyo3::prelude::*;
use uri::canon::Profile;

use crate::columns::{OnWrong, Verb};
use crate::strings::{self, Text};
use crate::{quoting, table};

/// Where the options start: after this. The number is that of their form.
const START: &str = "simdpct:1 ";
/// Where they end.
const END: char = ';';

/// The expressions.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Function {
    Quote,
    QuotePlus,
    Unquote,
    UnquotePlus,
    Normalize,
    Canonicalize,
    Malformed,
}

/// Options as text, for the keyword arguments of a plugin of Polars; ValueError as of the functions on columns.
#[pyfunction]
#[pyo3(signature = (*, safe = None, profile = None, errors = None))]
pub(crate) fn polars_options(
    safe: Option<Text<'_>>,
    profile: Option<&str>,
    errors: Option<&str>,
) -> PyResult<String> {
    let mut text = START.to_owned();
    if let Some(safe) = safe {
        text += &format!("safe={:032x} ", quoting::bits_of(safe.bytes()?));
    }
    if let Some(name) = profile {
        text += &format!("profile={} ", strings::profile(name)?.name());
    }
    if let Some(errors) = errors {
        table::on_wrong(errors, profile.is_none())?;
        text += &format!("errors={errors} ");
    }
    text.push(END);
    Ok(text)
}

impl Function {
    /// What an expression does, by the keyword arguments as Polars has serialized them.
    pub(crate) fn verb(self, kwargs: &[u8]) -> Result<Verb, String> {
        if let Function::Malformed = self {
            return Ok(Verb::Malformed);
        }
        self.verb_of(kwargs).ok_or_else(|| {
            "its options are not such as this version of simdpct.polars passes; was the plan made by another?".to_owned()
        })
    }

    fn verb_of(self, kwargs: &[u8]) -> Option<Verb> {
        let options = &kwargs[memmem::find(kwargs, START.as_bytes())? + START.len()..];
        let options = std::str::from_utf8(&options[..memchr(END as u8, options)?]).ok()?;
        let (mut safe, mut profile, mut errors) = (None, None, None);
        for option in options.split_ascii_whitespace() {
            match option.split_once('=')? {
                ("safe", bits) => safe = Some(u128::from_str_radix(bits, 16).ok()?),
                ("profile", name) => profile = Some(Profile::find(name)?),
                ("errors", name) => errors = Some(OnWrong::find(name)?),
                _ => return None,
            }
        }
        Some(match self {
            Function::Quote => Verb::Encode(quoting::encoder_of_bits(safe?, false)),
            Function::QuotePlus => Verb::Encode(quoting::encoder_of_bits(safe?, true)),
            Function::Unquote => Verb::Decode(Decode::new(), errors?),
            Function::UnquotePlus => Verb::Decode(Decode::new().form(), errors?),
            Function::Normalize => Verb::Normalize(errors?),
            Function::Canonicalize => Verb::Canonicalize(profile?, errors?),
            Function::Malformed => Verb::Malformed,
        })
    }
}

/// How many threads Polars has; 0 if nobody has said.
static THREADS: AtomicUsize = AtomicUsize::new(0);

/// Says how many threads Polars has. No expression uses more.
#[pyfunction]
pub(crate) fn polars_threads(count: usize) {
    THREADS.store(count, Ordering::Relaxed);
}

/// How many threads an expression may use; `None` if nobody has said.
pub(crate) fn threads() -> Option<NonZero<usize>> {
    NonZero::new(THREADS.load(Ordering::Relaxed))
}
