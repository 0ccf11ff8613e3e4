//! Values of options that clap does not read by itself.
//!
//! The rooms below know nothing of clap, so the names of their choices, and what help says of them, are here.

use std::ffi::{OsStr, OsString};

use clap::builder::{PossibleValue, TypedValueParser};
use clap::error::ErrorKind;
use clap::{Arg, Command, Error, ValueEnum};
use simdpct::{ByteSet, NamedSet, SetKind, sets};
use simdpct_uri::canon::Profile;

use crate::ground::charset::{self, Charset};
use crate::scan::kind::Group;
use crate::select::logs::Log;
use crate::url::row::Style;
use crate::value::policy::Policy;
use crate::value::stats::StatsFormat;

/// Reads the name of a set.
#[derive(Clone)]
pub struct SetParser {
    /// Whether only policies will do.
    policies: bool,
}

impl SetParser {
    /// Of those that an encoder may keep.
    pub const POLICIES: SetParser = SetParser { policies: true };

    /// Of all.
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
        // There are many: completions show them, help points to `pct sets`.
        Some(Box::new(sets::ALL.iter().filter(|set| self.takes(set)).map(|set| PossibleValue::new(set.name))))
    }
}

/// Reads the label of a charset.
#[derive(Clone)]
pub struct CharsetParser;

impl TypedValueParser for CharsetParser {
    type Value = Charset;

    fn parse_ref(&self, _: &Command, _: Option<&Arg>, value: &OsStr) -> Result<Charset, Error> {
        Charset::find(&value.to_string_lossy())
            .map_err(|message| Error::raw(ErrorKind::InvalidValue, format!("{message}\n")))
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(charset::NAMES.iter().map(|name| PossibleValue::new(*name))))
    }
}

/// Reads the name of a canonical form.
#[derive(Clone)]
pub struct ProfileParser;

impl TypedValueParser for ProfileParser {
    type Value = Profile;

    fn parse_ref(&self, _: &Command, _: Option<&Arg>, value: &OsStr) -> Result<Profile, Error> {
        let name = value.to_string_lossy();
        Profile::find(&name).ok_or_else(|| {
            let names: Vec<_> = Profile::ALL.iter().map(|profile| profile.name()).collect();
            let message = format!("unknown profile '{name}'; there are: {}\n", names.join(", "));
            Error::raw(ErrorKind::InvalidValue, message)
        })
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let value = |profile: &Profile| PossibleValue::new(profile.name()).help(profile.about());
        Some(Box::new(Profile::ALL.iter().map(value)))
    }
}

/// Reads bytes, which may be given as escapes.
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

/// Reads what is written between values.
#[derive(Clone)]
pub struct JoinParser;

impl TypedValueParser for JoinParser {
    type Value = u8;

    fn parse_ref(&self, _: &Command, _: Option<&Arg>, value: &OsStr) -> Result<u8, Error> {
        match (value.as_encoded_bytes(), value.to_str()) {
            (_, Some("tab" | "\\t")) => Ok(b'\t'),
            (_, Some("space")) => Ok(b' '),
            // These are part of escapes, or of line ends.
            ([byte], _) if byte.is_ascii() && !byte.is_ascii_alphanumeric() && !b"%\r\n".contains(byte) => {
                Ok(*byte)
            }
            _ => {
                let message = "--output-delimiter: one ASCII character that is no letter, digit or %, or `tab` or `space`\n";
                Err(Error::raw(ErrorKind::InvalidValue, message))
            }
        }
    }
}

/// The set called `name`, or what to tell the person.
fn find_set(name: &str, parser: &SetParser) -> Result<&'static NamedSet, String> {
    match sets::find_any(name) {
        Some(set) if parser.takes(set) => Ok(set),
        Some(set) => Err(format!(
            "--set {name}: these bytes are a building block, and to keep only them is hardly meant; `--escape {}` \
             escapes them, `pct sets` lists the sets to keep",
            set.name
        )),
        None => {
            let similar = similar(&name.to_ascii_lowercase().replace('_', "-"), parser);
            let hint =
                if similar.is_empty() { String::new() } else { format!("similar: {}; ", similar.join(", ")) };
            Err(format!("unknown set '{name}'; {hint}`pct sets` lists all"))
        }
    }
}

/// Up to four names that `name` may stand for, best first.
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

/// Reads the bytes of `--escape`: the name of a set, or themselves.
#[derive(Clone)]
pub struct EscapeParser;

impl TypedValueParser for EscapeParser {
    type Value = ByteSet;

    fn parse_ref(&self, command: &Command, argument: Option<&Arg>, value: &OsStr) -> Result<ByteSet, Error> {
        match sets::find_any(&value.to_string_lossy()) {
            Some(set) => Ok(set.set.to_byte_set()),
            None => BytesParser.parse_ref(command, argument, value),
        }
    }
}

impl ValueEnum for Policy {
    fn value_variants<'a>() -> &'a [Policy] {
        &[Policy::Keep, Policy::Replace, Policy::Empty, Policy::Drop, Policy::Fail]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let (name, help) = match self {
            Policy::Keep => ("keep", "Do what can be done: what is malformed stays as it is"),
            Policy::Replace => {
                ("replace", "Write \"%25\" for a \"%\" that starts no escape, U+FFFD for what is not UTF-8")
            }
            Policy::Empty => ("empty", "Make the value empty (\"-\" in a blank-separated line)"),
            Policy::Drop => ("drop", "Leave the record out"),
            Policy::Fail => ("fail", "Stop, say where it is, and exit with 1, as --strict"),
        };
        Some(PossibleValue::new(name).help(help))
    }
}

impl ValueEnum for Style {
    fn value_variants<'a>() -> &'a [Style] {
        &[Style::Tsv, Style::Csv, Style::Jsonl]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let (name, help) = match self {
            Style::Tsv => ("tsv", "Tabs between them, and no quotes"),
            Style::Csv => ("csv", "Commas between them, in quotes where needed (RFC 4180)"),
            Style::Jsonl => ("jsonl", "JSON, one document a line"),
        };
        Some(PossibleValue::new(name).help(help))
    }
}

impl ValueEnum for Log {
    fn value_variants<'a>() -> &'a [Log] {
        &Log::ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let (name, help) = self.describe();
        Some(PossibleValue::new(name).help(help))
    }
}

impl ValueEnum for StatsFormat {
    fn value_variants<'a>() -> &'a [StatsFormat] {
        &[StatsFormat::Text, StatsFormat::Json]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let (name, help) = match self {
            StatsFormat::Text => ("text", "A line for each count"),
            StatsFormat::Json => ("json", "One JSON object"),
        };
        Some(PossibleValue::new(name).help(help))
    }
}

impl ValueEnum for Group {
    fn value_variants<'a>() -> &'a [Group] {
        &Group::ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let help = match self {
            Group::Malformed => "A \"%\" that is not followed by two hexadecimal digits",
            Group::Utf8 => "Bytes that are not UTF-8 after decoding; at most one a record",
            Group::Double => "An escaped \"%\" in front of two hexadecimal digits, as in %2541",
            Group::Nul => "%00",
            Group::Separator => "An escaped \"/\" or \"\\\"",
            Group::Dot => "An escaped \".\"",
            Group::Needless => {
                "An escape of a letter, a digit or one of \"-._~\"; not looked for unless named"
            }
            Group::Illegal => "Of a URL: a byte that its component may hold only as an escape",
            Group::NonAscii => "Of a URL: bytes that are not ASCII, which an IRI may have",
            Group::Control => "Of a URL: a control byte as such",
            Group::Host => {
                "Of a URL: a host in brackets that is no address, or more than one \"@\" before it"
            }
            Group::Port => "Of a URL: a port that is no number of at most 65535",
            Group::Unreadable => "A record whose values cannot be found: not JSON, or too long",
        };
        Some(PossibleValue::new(self.name()).help(help))
    }
}
