//! Parsers for option values that clap does not read by itself.
//!
//! The modules below do not depend on clap, so the names and help texts of their choices are defined here.

use std::ffi::{OsStr, OsString};
use std::num::{IntErrorKind, NonZeroUsize, ParseIntError};
use std::sync::Arc;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::error::ErrorKind;
use clap::{Arg, Command, Error, ValueEnum};
use simdpct::{ByteSet, NamedSet, SetKind, sets};
use simdpct_records::{Escaping, Layout, Log, Position, Quotes, Spec, WRITERS, Wrapper, Writer};
use simdpct_uri::SuffixList;
use simdpct_uri::canon::Profile;

use crate::check::kind::Group;
use crate::common::charset::{self, Charset};
use crate::common::fault::Policy;
use crate::common::format::OutputFormat;
use crate::convert::stats::StatsFormat;
use crate::select::FieldName;
use crate::url::row::Style;

/// Parses the name of a set.
#[derive(Clone)]
pub struct SetParser {
    /// Whether building blocks are rejected, so that only policies remain.
    policies: bool,
}

impl SetParser {
    /// Accepts only the sets that an encoder may keep.
    pub const POLICIES: SetParser = SetParser { policies: true };

    /// Accepts all sets.
    pub const ALL: SetParser = SetParser { policies: false };

    fn takes(&self, set: &NamedSet) -> bool {
        !self.policies || set.kind == SetKind::Policy
    }
}

impl TypedValueParser for SetParser {
    type Value = &'static NamedSet;

    fn parse_ref(&self, _: &Command, _: Option<&Arg>, value: &OsStr) -> Result<&'static NamedSet, Error> {
        let name = value.to_string_lossy();
        find_set(&name, self).map_err(|message| Error::raw(ErrorKind::InvalidValue, format!("{message}\n")))
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        // Completions show the names, which are too many for help; help points to `pct sets` instead.
        Some(Box::new(sets::ALL.iter().filter(|set| self.takes(set)).map(|set| PossibleValue::new(set.name))))
    }
}

/// Parses the label of a charset.
#[derive(Clone)]
pub struct CharsetParser {
    /// Whether the charset can be guessed.
    guesses: bool,
}

impl CharsetParser {
    /// Accepts labels.
    pub const LABEL: CharsetParser = CharsetParser { guesses: false };

    /// Accepts labels, `auto` and `auto:LABEL`.
    pub const LABEL_OR_AUTO: CharsetParser = CharsetParser { guesses: true };
}

impl TypedValueParser for CharsetParser {
    type Value = Charset;

    fn parse_ref(&self, _: &Command, _: Option<&Arg>, value: &OsStr) -> Result<Charset, Error> {
        let find = if self.guesses { Charset::find_or_auto } else { Charset::find };
        find(&value.to_string_lossy())
            .map_err(|message| Error::raw(ErrorKind::InvalidValue, format!("{message}\n")))
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let auto = self.guesses.then_some("auto");
        Some(Box::new(auto.into_iter().chain(charset::names()).map(PossibleValue::new)))
    }
}

/// Parses the name of a canonical form.
#[derive(Clone)]
pub struct ProfileParser;

impl TypedValueParser for ProfileParser {
    type Value = Profile;

    fn parse_ref(&self, _: &Command, _: Option<&Arg>, value: &OsStr) -> Result<Profile, Error> {
        let name = value.to_string_lossy();
        Profile::find(&name.to_ascii_lowercase().replace('_', "-")).ok_or_else(|| {
            let names: Vec<_> = Profile::ALL.iter().map(|profile| profile.name()).collect();
            let message = format!("unknown profile '{name}'; expected one of {}\n", names.join(", "));
            Error::raw(ErrorKind::InvalidValue, message)
        })
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let value = |profile: &Profile| PossibleValue::new(profile.name()).help(profile.about());
        Some(Box::new(Profile::ALL.iter().map(value)))
    }
}

/// Parses the name of a log format.
#[derive(Clone)]
pub struct LogParser;

impl TypedValueParser for LogParser {
    type Value = Spec;

    fn parse_ref(&self, _: &Command, _: Option<&Arg>, value: &OsStr) -> Result<Spec, Error> {
        let name = value.to_string_lossy().to_ascii_lowercase();
        name.parse().map_err(|message| {
            let message = format!("--log {name}: {message}; `pct help decode` lists them\n");
            Error::raw(ErrorKind::InvalidValue, message)
        })
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let auto = PossibleValue::new("auto").help("The format of the first lines of each file");
        let values = WRITERS.iter().flat_map(|writer| {
            let names: Vec<_> = writer.layouts.iter().map(|layout| Log { writer, layout }.name()).collect();
            if writer.name.is_empty() {
                let help = format!("Servers that are not known: {}", writer.note);
                return names.into_iter().map(|name| PossibleValue::new(name).help(help.clone())).collect();
            }
            let mut values = vec![PossibleValue::new(writer.name).help(describe(writer, &names))];
            values.extend(
                names
                    .into_iter()
                    .filter(|name| name != writer.name)
                    .map(|name| PossibleValue::new(name).hide(true)),
            );
            values
        });
        let wrappers =
            Wrapper::ALL.iter().map(|(_, name)| PossibleValue::new(format!("{name}+auto")).hide(true));
        Some(Box::new([auto].into_iter().chain(values).chain(wrappers)))
    }
}

/// Returns the help text for the formats `names` of `writer`.
fn describe(writer: &Writer, names: &[String]) -> String {
    let fields = |layout: &Layout| {
        let fields: Vec<_> = layout.fields().into_iter().map(|field| field.name()).collect();
        fields.join(", ")
    };
    let layouts: Vec<_> = writer
        .layouts
        .iter()
        .zip(names)
        .map(|(layout, name)| format!("{name} ({})", fields(layout)))
        .collect();
    let note = if writer.note.is_empty() { String::new() } else { format!("; {}", writer.note) };
    format!("{}{note}", layouts.join(", "))
}

/// Parses the name of the server whose escapes are undone.
#[derive(Clone)]
pub struct UnescapeParser;

/// Returns the servers that write escapes, with their escaping.
fn escaping_servers() -> impl Iterator<Item = (&'static str, Escaping)> {
    let servers = WRITERS.iter().map(|writer| (writer.name, writer.escaping));
    servers.filter(|(_, escaping)| ![Escaping::None, Escaping::Unknown].contains(escaping))
}

impl TypedValueParser for UnescapeParser {
    type Value = Escaping;

    fn parse_ref(&self, _: &Command, _: Option<&Arg>, value: &OsStr) -> Result<Escaping, Error> {
        let name = value.to_string_lossy().to_ascii_lowercase();
        let found = escaping_servers().find(|(known, _)| *known == name);
        found.map(|(_, escaping)| escaping).ok_or_else(|| {
            let names: Vec<_> = escaping_servers().map(|(name, _)| name).collect();
            let message = format!("--unescape {name}: expected one of {}\n", names.join(", "));
            Error::raw(ErrorKind::InvalidValue, message)
        })
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(escaping_servers().map(|(name, _)| PossibleValue::new(name))))
    }
}

/// Parses the number of a field, or its name in a log.
#[derive(Clone)]
pub struct FieldParser;

impl TypedValueParser for FieldParser {
    type Value = FieldName;

    fn parse_ref(&self, _: &Command, _: Option<&Arg>, value: &OsStr) -> Result<FieldName, Error> {
        let text = value.to_string_lossy();
        if !text.starts_with(|first: char| first.is_ascii_digit() || "-.".contains(first)) && !text.is_empty()
        {
            return Ok(FieldName::Name(text.into_owned()));
        }
        let position: Result<Position, _> = text.parse();
        position.map(FieldName::Number).map_err(|message| {
            Error::raw(ErrorKind::InvalidValue, format!("invalid value '{text}' for '--field': {message}\n"))
        })
    }
}

/// Parses a set of bytes, in which a byte may be written as an escape.
#[derive(Clone)]
pub struct BytesParser;

impl TypedValueParser for BytesParser {
    type Value = ByteSet;

    fn parse_ref(&self, command: &Command, argument: Option<&Arg>, value: &OsStr) -> Result<ByteSet, Error> {
        self.parse(command, argument, value.to_owned())
    }

    fn parse(&self, _: &Command, _: Option<&Arg>, value: OsString) -> Result<ByteSet, Error> {
        Ok(ByteSet::EMPTY.add(&simdpct::decode(value.as_encoded_bytes())))
    }
}

/// Parses the byte that separates fields or columns.
pub fn delimiter(text: &str) -> Result<u8, &'static str> {
    match (text, text.as_bytes()) {
        ("tab" | "\\t", _) => Ok(b'\t'),
        ("space", _) => Ok(b' '),
        // These bytes can be part of an escape, a quoted cell or a line end.
        (_, [b'\n' | b'\r' | b'"' | b'%' | b'+']) => {
            Err("this byte cannot separate fields: it is part of escapes, quotes or line ends")
        }
        (_, &[byte]) if byte.is_ascii() && !byte.is_ascii_alphanumeric() => Ok(byte),
        _ => Err("expected one ASCII character other than a letter or digit, or `tab` or `space`"),
    }
}

/// Parses the byte that escapes a quote in a quoted cell.
pub fn quote_escape(text: &str) -> Result<Quotes, &'static str> {
    match text {
        "\"" => Ok(Quotes::Strict),
        "\\" => Ok(Quotes::Backslash),
        _ => Err("a quote or a backslash"),
    }
}

/// Parses the byte that is written between values.
pub fn join_delimiter(text: &str) -> Result<u8, &'static str> {
    match (text, text.as_bytes()) {
        ("tab" | "\\t", _) => Ok(b'\t'),
        ("space", _) => Ok(b' '),
        // Letters, digits and `%` are parts of escapes; CR and LF end lines.
        (_, &[byte]) if byte.is_ascii() && !byte.is_ascii_alphanumeric() && !b"%\r\n".contains(&byte) => {
            Ok(byte)
        }
        _ => Err("expected one ASCII character other than a letter, a digit or %, or `tab` or `space`"),
    }
}

/// Parses a number of threads.
pub fn threads(text: &str) -> Result<NonZeroUsize, &'static str> {
    text.parse().map_err(|error: ParseIntError| match error.kind() {
        IntErrorKind::PosOverflow => {
            "the number of threads is too large; one for each core is the most that helps"
        }
        _ => "expected a number of threads, at least 1",
    })
}

/// Returns the name of a set in the spelling of [`NamedSet::name`].
fn spelled(name: &str) -> String {
    name.to_ascii_lowercase().replace('_', "-")
}

/// Returns the set called `name`, a policy or a building block.
fn named(name: &str) -> Option<&'static NamedSet> {
    let name = spelled(name);
    sets::ALL.iter().find(|set| set.name == name)
}

/// Returns the set called `name`, or an error message that suggests an alternative.
fn find_set(name: &str, parser: &SetParser) -> Result<&'static NamedSet, String> {
    match named(name) {
        Some(set) if parser.takes(set) => Ok(set),
        Some(set) => Err(format!(
            "--set {name}: this set is a building block, not a policy for encoding; `--escape {}` \
             escapes its bytes, and `pct sets` lists the sets to keep",
            set.name
        )),
        None => {
            let similar = similar(&spelled(name), parser);
            let hint =
                if similar.is_empty() { String::new() } else { format!("similar: {}; ", similar.join(", ")) };
            Err(format!("unknown set '{name}'; {hint}`pct sets` lists all"))
        }
    }
}

/// Returns up to four set names that are similar to `name`, the best first.
fn similar(name: &str, parser: &SetParser) -> Vec<&'static str> {
    let likeness = |set: &NamedSet| {
        let part = !name.is_empty() && (set.name.contains(name) || name.contains(set.name));
        f64::from(u8::from(part)) + strsim::jaro_winkler(name, set.name)
    };
    let sets = sets::ALL.iter().filter(|set| parser.takes(set));
    let mut ranked: Vec<_> = sets.map(|set| (likeness(set), set.name)).collect();
    ranked.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    ranked.into_iter().filter(|(likeness, _)| *likeness >= 0.8).map(|(_, name)| name).take(4).collect()
}

/// Parses the bytes of `--escape`: the name of a set, or the bytes themselves.
#[derive(Clone)]
pub struct EscapeParser;

impl TypedValueParser for EscapeParser {
    type Value = ByteSet;

    fn parse_ref(&self, command: &Command, argument: Option<&Arg>, value: &OsStr) -> Result<ByteSet, Error> {
        match named(&value.to_string_lossy()) {
            Some(set) => Ok(set.set.to_byte_set()),
            None => BytesParser.parse_ref(command, argument, value),
        }
    }
}

/// Returns the parser of `--format` for a command that writes the formats `all`.
pub fn formats(all: &'static [OutputFormat]) -> impl TypedValueParser<Value = OutputFormat> {
    let values = all.iter().filter_map(ValueEnum::to_possible_value);
    PossibleValuesParser::new(values).try_map(|name| OutputFormat::from_str(&name, false))
}

/// Implements [`ValueEnum`] for an enum, with the name and the help text of each variant.
macro_rules! choices {
    ($type:ident: $($variant:ident $name:literal $help:literal;)*) => {
        impl ValueEnum for $type {
            fn value_variants<'a>() -> &'a [$type] {
                &[$($type::$variant),*]
            }

            fn to_possible_value(&self) -> Option<PossibleValue> {
                Some(match self {
                    $($type::$variant => PossibleValue::new($name).help($help),)*
                })
            }
        }
    };
}

/// The policies for malformed escapes and invalid bytes, with their names and descriptions.
pub const ON_FAULT: &[(Policy, &str, &str)] = &[
    (Policy::Keep, "keep", "Leave bad escapes and bytes as they are, and convert the rest"),
    (
        Policy::Replace,
        "replace",
        "Write \"%25\" for a \"%\" that starts no escape, and U+FFFD for invalid UTF-8",
    ),
    (Policy::Empty, "empty", "Make the value empty (\"-\" in a blank-separated line)"),
    (Policy::Drop, "drop", "Leave the record out"),
    (Policy::Fail, "fail", "Stop with an error that says where, and exit with 1, like --strict"),
];

/// The policies for rejected values and unreadable records, with their names and descriptions.
pub const ON_REJECTED: &[(Policy, &str, &str)] = &[
    (Policy::Keep, "keep", "Leave the value or the record as it is"),
    (Policy::Drop, "drop", "Leave the record out"),
    (Policy::Null, "null", "Write `null` in JSON, and nothing elsewhere (\"-\" in a blank-separated line)"),
    (Policy::Fail, "fail", "Stop with an error that says where, and exit with 1, like --strict"),
];

/// Returns the parser of these policies.
pub fn policy(
    policies: &'static [(Policy, &'static str, &'static str)],
) -> impl TypedValueParser<Value = Policy> {
    let values = policies.iter().map(|(_, name, help)| PossibleValue::new(*name).help(*help));
    PossibleValuesParser::new(values).map(|given| {
        let found = policies.iter().find(|(_, name, _)| *name == given);
        found.map_or(Policy::Keep, |(policy, ..)| *policy)
    })
}

choices! { OutputFormat:
    Text "text" "For reading";
    Tsv "tsv" "Separated by tabs, without quotes";
    Csv "csv" "Separated by commas, quoted where necessary (RFC 4180)";
    Jsonl "jsonl" "JSON, one document per line";
    Json "json" "One JSON document";
}

choices! { Style:
    Tsv "tsv" "Separated by tabs, without quotes";
    Csv "csv" "Separated by commas, quoted where necessary (RFC 4180)";
    Jsonl "jsonl" "JSON, one document per line";
}

choices! { StatsFormat:
    Text "text" "One line per count";
    Json "json" "One JSON object";
}

impl ValueEnum for Group {
    fn value_variants<'a>() -> &'a [Group] {
        &Group::ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.name()).help(self.description()))
    }
}

/// Reads the public suffix list in the file `path`, or returns an error message.
pub fn suffix_list(path: &str) -> Result<Arc<SuffixList>, String> {
    let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
    SuffixList::parse(&text).map(Arc::new).map_err(|error| error.to_string())
}
