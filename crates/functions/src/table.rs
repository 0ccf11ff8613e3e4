//! The table of the functions for data engines, and the names that choose their options.

use std::borrow::Cow;
use std::fmt::Write;
use std::sync::LazyLock;

use simdpct::internals::form_keeping_plus;
use simdpct::{AsciiSet, Decode, Encode, SetKind, sets};
use simdpct_uri::Piece;
use simdpct_uri::canon::Profile;

use crate::output::Output;
use crate::policy::Policy;
use crate::url::{self, PartBody, UrlBody};
use crate::verb::Verb;

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
    /// Whether the values are text, so that decoded and canonical values must be UTF-8.
    pub utf8: bool,
}

/// The options of a function in SQL that is called with one argument.
impl Default for Options {
    fn default() -> Options {
        Options {
            keep: sets::RFC3986_UNRESERVED,
            plus: false,
            profile: Profile::Rfc3986Scheme,
            policy: Policy::default(),
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
    /// The optional second argument, which chooses a set or a profile.
    pub name: Option<Name>,
    /// The names of the required arguments after the first. They are text.
    pub more: &'static [&'static str],
    /// The type of the results.
    pub output: Output,
    /// The documentation of the result, in one sentence or more.
    pub about: &'static str,
    /// The policies that a caller may choose, each with a sentence that says what it does.
    pub policies: &'static [(Policy, &'static str)],
    /// The names of the function in SQL, each with its policy for bad values: a call in SQL cannot choose the policy.
    pub sql: &'static [(&'static str, Policy)],
    /// The work of the function.
    pub body: Body,
}

/// The work of a function.
#[derive(Clone, Copy, Debug)]
pub enum Body {
    /// Makes the verb, which does the work on many rows, with the given options.
    Verb(fn(&Options) -> Verb),
    /// Returns a part of each URL as it is written, for [`extract_parts`](crate::extract_parts).
    Part(PartBody),
    /// Takes URLs apart or puts them together, for [`Output::extract`].
    Url(UrlBody),
}

/// Percent-encodes text or binary values.
pub static ENCODE: Function = Function {
    value: "value",
    takes_binary: true,
    name: Some(Name::Set),
    more: &[],
    output: Output::Text,
    about: "Percent-encodes text (its UTF-8) or binary. The bytes of the set stay as they are; without a name, these are letters, \
            digits and `- . _ ~`.",
    policies: &[],
    sql: &[("pct_encode", Policy::Keep)],
    body: Body::Verb(|options| {
        let encoder = Encode::keeping(options.keep);
        Verb::Encode(if options.plus { form_keeping_plus(encoder) } else { encoder })
    }),
};

/// Decodes escapes to text.
pub static DECODE: Function = Function {
    value: "text",
    takes_binary: false,
    name: None,
    more: &[],
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
    body: Body::Verb(|options| Verb::Decode {
        decoder: decoder(options),
        policy: options.policy,
        utf8: options.utf8,
    }),
};

/// Decodes escapes to bytes.
pub static DECODE_BYTES: Function = Function {
    value: "text",
    takes_binary: false,
    name: None,
    more: &[],
    output: Output::Bytes,
    about: "Decodes escapes to the exact bytes, as binary. A malformed escape stays as it is.",
    policies: &[],
    sql: &[("pct_decode_blob", Policy::Keep)],
    body: Body::Verb(|options| Verb::Decode { decoder: decoder(options), policy: Policy::Keep, utf8: false }),
};

/// Normalizes the escapes of values.
pub static NORMALIZE: Function = Function {
    value: "text",
    takes_binary: false,
    name: None,
    more: &[],
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
    body: Body::Verb(|options| Verb::Decode {
        decoder: Decode::NORMALIZE,
        policy: options.policy,
        utf8: false,
    }),
};

/// Brings URLs into a canonical form.
pub static CANONICALIZE: Function = Function {
    value: "url",
    takes_binary: false,
    name: Some(Name::Profile),
    more: &[],
    output: Output::Text,
    about: "Brings a URL into the canonical form of a profile; without a name, of `rfc3986-scheme`.",
    policies: &[
        (Policy::Keep, "A URL that the profile rejects stays as it is."),
        (Policy::Null, "Returns NULL if the profile rejects the URL."),
        (Policy::Fail, "Fails if the profile rejects the URL."),
    ],
    sql: &[("url_canonical", Policy::Keep), ("try_url_canonical", Policy::Null)],
    body: Body::Verb(|options| Verb::Canonicalize {
        profile: options.profile,
        policy: options.policy,
        utf8: options.utf8,
    }),
};

/// Reports whether a value has a malformed escape or, if it is text, decodes to invalid UTF-8.
pub static MALFORMED: Function = Function {
    value: "text",
    takes_binary: false,
    name: None,
    more: &[],
    output: Output::Boolean,
    about: "Reports whether a value has a malformed escape or, as text, is not valid UTF-8 when decoded.",
    policies: &[],
    sql: &[],
    body: Body::Verb(|options| Verb::Malformed { utf8: options.utf8 }),
};

/// Defines functions of URLs: their names, arguments, results, documentation and bodies.
macro_rules! url_functions {
    ($($constant:ident = $name:ident($url:ident $(, $more:ident)*) -> $output:ident: $about:literal, $kind:ident($body:expr);)*) => {
        $(
            #[doc = $about]
            static $constant: Function = Function {
                value: stringify!($url),
                takes_binary: false,
                name: None,
                more: &[$(stringify!($more)),*],
                output: Output::$output,
                about: $about,
                policies: &[],
                sql: &[(stringify!($name), Policy::Keep)],
                body: Body::$kind($body),
            };
        )*
        static URL: &[&Function] = &[$(&$constant),*];
    };
}

url_functions! {
    URL_SCHEME = url_scheme(url) -> Text:
        "Returns the scheme of a URL without its `:`.",
        Part(|url| url.scheme());
    URL_AUTHORITY = url_authority(url) -> Text:
        "Returns the user information, host and port of a URL without the `//`.",
        Part(|url| url.authority());
    URL_USERINFO = url_userinfo(url) -> Text:
        "Returns the user information of a URL without its `@`.",
        Part(|url| url.userinfo().map(Piece::raw));
    URL_USER = url_user(url) -> Text:
        "Returns the user information before its first colon.",
        Part(|url| url.user().map(Piece::raw));
    URL_PASSWORD = url_password(url) -> Text:
        "Returns the user information after its first colon.",
        Part(|url| url.password().map(Piece::raw));
    URL_HOST = url_host(url) -> Text:
        "Returns the host of a URL, with the brackets of an IPv6 address. NULL without `//`, as in `a.example/b`, and empty in `file:///a`.",
        Part(|url| url.host().map(Piece::raw));
    URL_DOMAIN = url_domain(url) -> Text:
        "Returns the registrable domain of the host by the Public Suffix List: the public suffix and the label before it. NULL for an \
         address and for a host that is a suffix.",
        Part(|url| url.domain().map(Piece::raw));
    URL_SUFFIX = url_suffix(url) -> Text:
        "Returns the public suffix of the host, such as `com`, `co.uk` or `github.io`. NULL for an address.",
        Part(|url| url.suffix().map(Piece::raw));
    URL_PORT = url_port(url) -> Text:
        "Returns the port of a URL without its `:`.",
        Part(|url| url.port());
    URL_PATH = url_path(url) -> Text:
        "Returns the path of a URL. It may be empty, but not NULL.",
        Part(|url| Some(url.path()));
    URL_QUERY = url_query(url) -> Text:
        "Returns the query of a URL without its `?`.",
        Part(|url| url.query());
    URL_FRAGMENT = url_fragment(url) -> Text:
        "Returns the fragment of a URL without its `#`.",
        Part(|url| url.fragment().map(Piece::raw));
    URL_PARTS = url_parts(url) -> Parts:
        "Returns seven parts as a struct: `scheme`, `userinfo`, `host`, `port`, `path`, `query` and `fragment`.",
        Url(|row, out| {
            for (field, part) in out.iter_mut().zip(url::parts(row.parts())) {
                field.push(part.map(Cow::Borrowed));
            }
        });
    URL_SEGMENTS = url_segments(url) -> List:
        "Returns the segments of the path as a list, each of them decoded after splitting, so that `%2F` is a slash in a segment. \
         The last segment of `/a/` is empty.",
        Url(|row, out| out[0].extend(row.parts().segments().map(|segment| row.decode(segment, Decode::new()))));
    URL_PARAM = url_param(url, name) -> Text:
        "Returns the value of the first parameter with this name, decoded. It is empty if the parameter has no `=`, and NULL if there is no such parameter.",
        Url(|row, out| out[0].push(row.param()));
    URL_PARAMS = url_params(url) -> Pairs:
        "Returns all parameters in their order, decoded, as a list of structs of `name` and `value`.",
        Url(|row, out| {
            for pair in row.parts().query_pairs() {
                out.iter_mut().zip(row.pair(pair)).for_each(|(field, text)| field.push(text));
            }
        });
    URL_WITHOUT_PARAMS = url_without_params(url, names) -> Text:
        "Removes the parameters with these decoded names, separated by commas, in which `*` matches any characters: `utm_*,gclid`. \
         The rest stays as it is. Blanks around names are ignored; `%2C`, `%2A`, `%25` and `%20` in a name are decoded.",
        Url(|mut row, out| out[0].push(row.without_params()));
    URL_WITH_PARAM = url_with_param(url, name, value) -> Text:
        "Adds a parameter at the end of the query, and encodes its name and value, a space as `%20`. Parameters with the same name stay.",
        Url(|row, out| out[0].push(row.with_param()));
    URL_JOIN = url_join(base, reference) -> Text:
        "Resolves a reference against its base (RFC 3986, 5.2). NULL if the base has no scheme.",
        Url(|row, out| out[0].push(row.join()));
}

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

/// Returns the set that [`sets::find`] finds by this name, or else by `rfc3986-` and this name: `path` means `rfc3986-path`.
///
/// # Errors
///
/// A message with all names if there is no such set, or if it is only a building block of other sets.
pub fn find_set(name: &str) -> Result<AsciiSet, String> {
    let policies = || sets::ALL.iter().filter(|set| set.kind == SetKind::Policy).map(|set| set.name);
    let found = sets::find(name).or_else(|| sets::find(&format!("rfc3986-{name}")));
    let message = || unknown("set", name, policies()) + "; `rfc3986-` may be left out";
    found.map(|set| set.set).ok_or_else(message)
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

/// Returns the error message for the unknown `name` of a `what`, such as a set. The message lists the names in `known`.
pub fn unknown<'a>(what: &str, name: &str, known: impl Iterator<Item = &'a str>) -> String {
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
        ALL.iter().chain(URL).flat_map(in_sql).collect()
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
        for argument in self.function.more {
            syntax += ", ";
            syntax += argument;
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

    /// Reports whether the result may be null if no argument is null. Returns `true` for every function of URLs, although some of them,
    /// such as `url_path`, never return null for a URL.
    #[must_use]
    pub fn makes_nulls(&self) -> bool {
        self.policy == Policy::Null || !matches!(self.function.body, Body::Verb(_))
    }

    /// Returns the options of a call with the name of a set or profile, or of a call without a name.
    ///
    /// # Errors
    ///
    /// A message if there is no set or profile with this name. It starts with the name of the function.
    pub fn options(&self, name: Option<&str>) -> Result<Options, String> {
        let mut options = Options { policy: self.policy, ..Options::default() };
        let in_function = |message| format!("{}: {message}", self.name);
        match (self.function.name, name) {
            (Some(Name::Set), Some(name)) => options.keep = find_set(name).map_err(in_function)?,
            (Some(Name::Profile), Some(name)) => options.profile = find_profile(name).map_err(in_function)?,
            _ => {}
        }
        Ok(options)
    }
}
