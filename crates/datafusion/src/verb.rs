//! What is done to each value, and the names that say it.

use datafusion_common::arrow::datatypes::DataType;
use datafusion_common::{Result, plan_datafusion_err};
use simdpct::{AsciiSet, Encode, SetKind, sets};
use simdpct_uri::canon::Profile;

/// What becomes of a value that is wrong: a malformed escape, what is not UTF-8 when decoded, a URL that a profile refuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OnWrong {
    /// It stays as it is; where only some escapes are not UTF-8, these.
    Keep,
    Null,
}

/// What is done to each value of a column.
#[derive(Clone, Copy)]
pub(crate) enum Verb {
    Code(Code),
    Canonicalize(Profile, OnWrong),
}

/// What the batch verbs of the codec do.
#[derive(Clone, Copy)]
pub(crate) enum Code {
    Encode(Encode<AsciiSet>),
    /// To text.
    Decode(OnWrong),
    /// To bytes.
    DecodeBytes,
    Normalize,
}

impl Verb {
    fn gives_text(&self) -> bool {
        !matches!(self, Verb::Code(Code::DecodeBytes))
    }

    /// The type of the result, text or binary, in the layout of what is given.
    pub(crate) fn gives(&self, given: &DataType) -> DataType {
        layout(self.gives_text(), given)
    }
}

/// Text or binary, in the layout of another type.
pub(crate) fn layout(text: bool, given: &DataType) -> DataType {
    match given {
        DataType::Dictionary(keys, values) => {
            DataType::Dictionary(keys.clone(), Box::new(layout(text, values)))
        }
        DataType::LargeUtf8 | DataType::LargeBinary if text => DataType::LargeUtf8,
        DataType::LargeUtf8 | DataType::LargeBinary => DataType::LargeBinary,
        DataType::Utf8View | DataType::BinaryView if text => DataType::Utf8View,
        DataType::Utf8View | DataType::BinaryView => DataType::BinaryView,
        _ if text => DataType::Utf8,
        _ => DataType::Binary,
    }
}

/// The set that has this name; without one, the unreserved bytes.
pub(crate) fn set(name: Option<&str>) -> Result<AsciiSet> {
    let Some(name) = name else { return Ok(sets::RFC3986_UNRESERVED) };
    let known = || sets::ALL.iter().filter(|set| set.kind == SetKind::Policy).map(|set| set.name);
    match sets::find(name) {
        Some(found) => Ok(found.set),
        None => Err(plan_datafusion_err!("pct_encode: there is no set '{name}'; sets are {}", list(known()))),
    }
}

/// The profile that has this name; without one, that of RFC 3986 with what is known of schemes.
pub(crate) fn profile(function: &str, name: Option<&str>) -> Result<Profile> {
    let Some(name) = name else { return Ok(Profile::Rfc3986Scheme) };
    let known = || list(Profile::ALL.iter().map(|profile| profile.name()));
    Profile::find(name).ok_or_else(|| {
        plan_datafusion_err!("{function}: there is no profile '{name}'; profiles are {}", known())
    })
}

fn list<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.collect::<Vec<_>>().join(", ")
}
