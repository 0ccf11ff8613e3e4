//! The table of the functions for data engines, and the names that choose their options.

use std::fmt::Write;
use std::sync::LazyLock;

use simdpct::{AsciiSet, Decode, Encode, SetKind, sets};
use simdpct_uri::canon::Profile;

use crate::policy::Policy;
use crate::verb::Verb;

/// The type of the results of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// Text, or bytes if the values are bytes.
    Text,
    /// Bytes.
    Bytes,
    /// True or false.
    Boolean,
}

/// The optional second argument of a function in SQL: a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Name {
    /// The name of a set of bytes that stay as they are.
    Set,
    /// The name of a canonical form.
    Profile,
}

/// The options of a function. Each function uses some of them.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// The bytes that an encoder leaves as they are.
    pub keep: AsciiSet,
    /// Whether a space is written `+`, as in HTML forms.
    pub plus: bool,
    /// The profile of the canonical form.
    pub profile: Profile,
    /// The handling of bad values.
    pub policy: Policy,
    /// Whether the values, and thus the results, are text.
    pub utf8: bool,
}

/// The options of a function in SQL that is called with one argument.
impl Default for Options {
    fn default() -> Options {
        Options {
            keep: sets::RFC3986_UNRESERVED,
            plus: false,
            profile: Profile::Rfc3986Scheme,
            policy: Policy::Keep,
            utf8: true,
        }
    }
}

/// A function for data engines: a row of the table.
#[derive(Debug)]
pub struct Function {
    /// The name of the first argument.
    pub value: &'static str,
    /// Whether the first argument may be binary in SQL. It may always be text.
    pub takes_binary: bool,
    /// The optional second argument.
    pub name: Option<Name>,
    /// The type of the results.
    pub output: Output,
    /// The documentation of the result, in one sentence or more.
    pub about: &'static str,
    /// The policies that a caller may choose, each with a sentence that says what it does.
    pub policies: &'static [(Policy, &'static str)],
    /// The names of the function in SQL, where each policy has a function of its own.
    pub sql: &'static [(&'static str, Policy)],
    /// Makes the verb that does the work, with the given options.
    pub verb: fn(&Options) -> Verb,
}

/// Percent-encodes text or binary values.
pub static ENCODE: Function = Function {
    value: "value",
    takes_binary: true,
    name: Some(Name::Set),
    output: Output::Text,
    about: "Percent-encodes text (its UTF-8) or binary. The bytes of the set stay as they are; without a name, these are letters, \
            digits and `- . _ ~`.",
    policies: &[],
    sql: &[("pct_encode", Policy::Keep)],
    verb: |options| {
        let encoder = Encode::keeping(options.keep);
        Verb::Encode(if options.plus { encoder.form_keeping_plus() } else { encoder })
    },
};

/// Decodes escapes to text.
pub static DECODE: Function = Function {
    value: "text",
    takes_binary: false,
    name: None,
    output: Output::Text,
    about: "Decodes escapes.",
    policies: &[
        (
            Policy::Keep,
            "A malformed escape stays as it is, and so does an escape whose byte is not part of valid UTF-8.",
        ),
        (Policy::Replace, "A malformed escape stays as it is, and U+FFFD replaces invalid UTF-8."),
        (Policy::Null, "Returns NULL if an escape is malformed or the result is not valid UTF-8."),
        (Policy::Fail, "Fails if an escape is malformed or the result is not valid UTF-8."),
    ],
    sql: &[("pct_decode", Policy::Keep), ("try_pct_decode", Policy::Null)],
    verb: |options| Verb::Decode { decoder: decoder(options), policy: options.policy, utf8: options.utf8 },
};

/// Decodes escapes to bytes.
pub static DECODE_BYTES: Function = Function {
    value: "text",
    takes_binary: false,
    name: None,
    output: Output::Bytes,
    about: "Decodes escapes to the exact bytes, as binary. A malformed escape stays as it is.",
    policies: &[],
    sql: &[("pct_decode_blob", Policy::Keep)],
    verb: |options| Verb::Decode { decoder: decoder(options), policy: Policy::Keep, utf8: false },
};

/// Normalizes the escapes of values.
pub static NORMALIZE: Function = Function {
    value: "text",
    takes_binary: false,
    name: None,
    output: Output::Text,
    about: "Decodes escapes of unreserved characters and writes the others in upper case (RFC 3986, 6.2.2.1 and 6.2.2.2).",
    policies: &[
        (Policy::Keep, "A malformed escape stays as it is."),
        (Policy::Replace, "A malformed escape stays as it is."),
        (Policy::Null, "Returns NULL if an escape is malformed."),
        (Policy::Fail, "Fails if an escape is malformed."),
    ],
    sql: &[("pct_normalize", Policy::Keep)],
    // Only escapes of ASCII characters are decoded, so valid UTF-8 stays valid and needs no check.
    verb: |options| Verb::Decode { decoder: Decode::NORMALIZE, policy: options.policy, utf8: false },
};

/// Brings URLs into a canonical form.
pub static CANONICALIZE: Function = Function {
    value: "url",
    takes_binary: false,
    name: Some(Name::Profile),
    output: Output::Text,
    about: "Brings a URL into the canonical form of a profile; without a name, of `rfc3986-scheme`.",
    policies: &[
        (Policy::Keep, "A URL that the profile rejects stays as it is."),
        (Policy::Null, "Returns NULL if the profile rejects the URL."),
        (Policy::Fail, "Fails if the profile rejects the URL."),
    ],
    sql: &[("url_canonical", Policy::Keep), ("try_url_canonical", Policy::Null)],
    verb: |options| Verb::Canonicalize {
        profile: options.profile,
        policy: options.policy,
        utf8: options.utf8,
    },
};

/// Reports whether values are malformed.
pub static MALFORMED: Function = Function {
    value: "text",
    takes_binary: false,
    name: None,
    output: Output::Boolean,
    about: "Reports whether a value has a malformed escape or, as text, is not valid UTF-8 when decoded.",
    policies: &[],
    sql: &[],
    verb: |options| Verb::Malformed { utf8: options.utf8 },
};

static ALL: [&Function; 6] = [&ENCODE, &DECODE, &DECODE_BYTES, &NORMALIZE, &CANONICALIZE, &MALFORMED];

fn decoder(options: &Options) -> Decode {
    if options.plus { Decode::new().form() } else { Decode::new() }
}

impl Name {
    /// Returns the name that the argument has in SQL.
    #[must_use]
    pub fn argument(self) -> &'static str {
        match self {
            Name::Set => "set",
            Name::Profile => "profile",
        }
    }
}

/// Returns the set with this name.
///
/// # Errors
///
/// A message with all names if there is no such set, or if it is only a building block of others.
pub fn find_set(name: &str) -> Result<AsciiSet, String> {
    let policies = || sets::ALL.iter().filter(|set| set.kind == SetKind::Policy).map(|set| set.name);
    sets::find(name).map(|set| set.set).ok_or_else(|| unknown("set", name, policies()))
}

/// Returns the profile with this name.
///
/// # Errors
///
/// A message with all names if there is no such profile.
pub fn find_profile(name: &str) -> Result<Profile, String> {
    Profile::find(name)
        .ok_or_else(|| unknown("profile", name, Profile::ALL.iter().map(|profile| profile.name())))
}

fn unknown<'a>(what: &str, name: &str, known: impl Iterator<Item = &'a str>) -> String {
    format!("there is no {what} '{name}'; {what}s are {}", known.collect::<Vec<_>>().join(", "))
}

/// A function of SQL: a row of the table with one of its policies.
#[derive(Clone, Copy, Debug)]
pub struct SqlFunction {
    /// The name of the function in SQL.
    pub name: &'static str,
    /// The row of the table that defines the function.
    pub function: &'static Function,
    /// The handling of bad values.
    pub policy: Policy,
}

/// Returns all functions of SQL, in the order of the table.
pub fn sql_functions() -> &'static [SqlFunction] {
    static SQL: LazyLock<Vec<SqlFunction>> = LazyLock::new(|| {
        let in_sql = |function: &&'static Function| {
            let function = *function;
            function.sql.iter().map(move |&(name, policy)| SqlFunction { name, function, policy })
        };
        ALL.iter().flat_map(in_sql).collect()
    });
    &SQL
}

impl SqlFunction {
    /// Returns the call with names for the arguments, such as `pct_encode(value [, set])`.
    #[must_use]
    pub fn syntax(&self) -> String {
        let mut syntax = format!("{}({}", self.name, self.function.value);
        if let Some(name) = self.function.name {
            write!(syntax, " [, {}]", name.argument()).expect("a String takes any text");
        }
        syntax + ")"
    }

    /// Returns the documentation of the function, with the effect of its policy.
    #[must_use]
    pub fn about(&self) -> String {
        let policy = self.function.policies.iter().find(|(policy, _)| *policy == self.policy);
        match policy {
            Some((_, effect)) => format!("{} {effect}", self.function.about),
            None => self.function.about.to_owned(),
        }
    }

    /// Reports whether the result may be null if no argument is null.
    #[must_use]
    pub fn makes_nulls(&self) -> bool {
        self.policy == Policy::Null
    }

    /// Makes the verb for a call with the name of a set or profile, or for a call without a name.
    ///
    /// # Errors
    ///
    /// A message if there is no set or profile with this name. It starts with the name of the function.
    pub fn verb(&self, name: Option<&str>) -> Result<Verb, String> {
        let mut options = Options { policy: self.policy, ..Options::default() };
        let in_function = |message| format!("{}: {message}", self.name);
        match (self.function.name, name) {
            (Some(Name::Set), Some(name)) => options.keep = find_set(name).map_err(in_function)?,
            (Some(Name::Profile), Some(name)) => options.profile = find_profile(name).map_err(in_function)?,
            _ => {}
        }
        Ok((self.function.verb)(&options))
    }
}
