//! Parses the values of arguments that clap does not read by itself.
//!
//! The modules that define the choices do not depend on clap, so the names and help texts of most choices are defined here.

use std::env;
use std::ffi::OsStr;
use std::num::{IntErrorKind, NonZeroUsize, ParseIntError};
use std::sync::Arc;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::error::ErrorKind;
use clap::{Arg, Command, Error, ValueEnum};
use simdpct::{ByteSet, NamedSet, SetKind, sets};
use simdpct_readings::{READINGS, Reading};
use simdpct_records::{Escaping, Layout, Log, Quotes, Spec, WRITERS, Wrapper, Writer};
use simdpct_uri::canon::Profile;
use simdpct_uri::{Dialect, SuffixList};

use crate::check::chain::Rule;
use crate::check::kind::Group;
use crate::common::charset::{self, Charset};
use crate::common::fault::Policy;
use crate::common::format::OutputFormat;
use crate::io::compression::Format;
use crate::select::FieldName;
use crate::url::canonical::Hash;
use crate::url::row::Style;

/// A parser of names, which has its own error message. Help and completions show the possible names.
#[derive(Clone)]
pub struct Named<T> {
    find: fn(&str) -> Result<T, String>,
    names: fn() -> Vec<PossibleValue>,
}

impl<T: Clone + Send + Sync + 'static> TypedValueParser for Named<T> {
    type Value = T;

    fn parse_ref(&self, _: &Command, _: Option<&Arg>, value: &OsStr) -> Result<T, Error> {
        (self.find)(&value.to_string_lossy())
            .map_err(|message| Error::raw(ErrorKind::InvalidValue, format!("{message}\n")))
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new((self.names)().into_iter()))
    }
}

/// A set of bytes that an encoder may keep unescaped.
pub const KEPT_SET: Named<&'static NamedSet> =
    Named { find: |name| find_set(name, true), names: || set_names(true) };

/// Any set.
pub const ANY_SET: Named<&'static NamedSet> =
    Named { find: |name| find_set(name, false), names: || set_names(false) };

/// A charset, or the way to guess one.
pub const CHARSET: Named<Charset> = Named {
    find: Charset::find_or_auto,
    names: || std::iter::once("auto").chain(charset::names()).map(PossibleValue::new).collect(),
};

/// A canonical form.
pub const PROFILE: Named<Profile> = Named {
    find: |name| {
        Profile::find(&spelled(name)).ok_or_else(|| {
            let names: Vec<_> = Profile::ALL.iter().map(|profile| profile.name()).collect();
            format!("unknown profile '{name}'; expected one of {}", names.join(", "))
        })
    },
    names: || {
        let value = |profile: &Profile| PossibleValue::new(profile.name()).help(profile.about());
        Profile::ALL.iter().map(value).collect()
    },
};

/// The format of a log.
pub const LOG: Named<Spec> = Named {
    find: |name| {
        let name = name.to_ascii_lowercase();
        name.parse().map_err(|message| format!("--log {name}: {message}; `pct help decode` lists them"))
    },
    names: log_names,
};

/// A server whose escapes are undone.
pub const UNESCAPE: Named<Escaping> = Named {
    find: |name| {
        let name = name.to_ascii_lowercase();
        let found = escaping_servers().find(|(known, _)| *known == name);
        found.map(|(_, escaping)| escaping).ok_or_else(|| {
            let names: Vec<_> = escaping_servers().map(|(name, _)| name).collect();
            format!("--unescape {name}: expected one of {}", names.join(", "))
        })
    },
    names: || escaping_servers().map(|(name, _)| PossibleValue::new(name)).collect(),
};

/// The number of a field, or its name in a log.
pub const FIELD: Named<FieldName> = Named {
    find: |text| {
        let is_number = text.starts_with(|first: char| first.is_ascii_digit() || "-.".contains(first));
        if !is_number && !text.is_empty() {
            return Ok(FieldName::Name(text.to_owned()));
        }
        let position = text.parse().map(FieldName::Number);
        position.map_err(|message| format!("invalid value '{text}' for '--field': {message}"))
    },
    names: Vec::new,
};

/// The way in which a server reads paths.
pub const READING: Named<&'static Reading> = Named {
    find: |name| {
        simdpct_readings::find(name).ok_or_else(|| {
            let similar = similar(&name.to_ascii_lowercase(), READINGS.iter().map(|reading| reading.name));
            let hint = similar.first().map_or(String::new(), |best| format!("did you mean '{best}'? "));
            format!("unknown reading '{name}'; {hint}`pct route --list` names all")
        })
    },
    names: || READINGS.iter().map(|reading| reading.name).chain(["strict"]).map(PossibleValue::new).collect(),
};

/// Returns the names of log formats, with help for each server. Returns none for `-h`, so the short help omits them.
fn log_names() -> Vec<PossibleValue> {
    if env::args_os().any(|argument| argument == "-h") {
        return Vec::new();
    }
    let mut values = vec![PossibleValue::new("auto").help("The format of the first lines of each file")];
    for writer in WRITERS {
        let names: Vec<_> = writer.layouts.iter().map(|layout| Log { writer, layout }.name()).collect();
        if writer.name.is_empty() {
            let help = format!("Servers that are not known: {}", writer.note);
            values.extend(names.into_iter().map(|name| PossibleValue::new(name).help(help.clone())));
            continue;
        }
        values.push(PossibleValue::new(writer.name).help(describe(writer, &names)));
        let others = names.into_iter().filter(|name| name != writer.name);
        values.extend(others.map(|name| PossibleValue::new(name).hide(true)));
    }
    let wrappers = Wrapper::ALL.iter().map(|(_, name)| PossibleValue::new(format!("{name}+auto")).hide(true));
    values.extend(wrappers);
    values
}

/// Returns the help text for the formats `names` of `writer`.
fn describe(writer: &'static Writer, names: &[String]) -> String {
    let fields = |layout: &Layout| {
        let fields: Vec<_> = layout.fields().into_iter().map(|field| field.name()).collect();
        fields.join(", ")
    };
    let describe = |(layout, name): (&&'static Layout, &String)| {
        let is_safe = !Log { writer, layout }.has_raw_line_feeds();
        format!("{name} ({}{})", fields(layout), if is_safe { "" } else { "; a client can write a new line" })
    };
    let layouts: Vec<_> = writer.layouts.iter().zip(names).map(describe).collect();
    let note = if writer.note.is_empty() { String::new() } else { format!("; {}", writer.note) };
    format!("{}{note}", layouts.join(", "))
}

/// Returns the servers that write escapes, with their escaping.
fn escaping_servers() -> impl Iterator<Item = (&'static str, Escaping)> {
    let servers = WRITERS.iter().map(|writer| (writer.name, writer.escaping));
    servers.filter(|(_, escaping)| ![Escaping::None, Escaping::Unknown].contains(escaping))
}

/// Returns the bytes of `text`, in which a byte may be written as an escape.
pub fn byte_set(text: &OsStr) -> ByteSet {
    ByteSet::EMPTY.add(&simdpct::decode(text.as_encoded_bytes()))
}

/// Returns the bytes of `--escape`: those of the set that `text` names, or those of `text` itself.
pub fn escaped_set(text: &OsStr) -> ByteSet {
    named_set(&text.to_string_lossy()).map_or_else(|| byte_set(text), |set| set.set.to_byte_set())
}

/// Parses the byte that separates fields or columns.
pub fn delimiter(text: &str) -> Result<u8, &'static str> {
    match text {
        // These bytes can be part of an escape, a quoted cell or a line end.
        "\n" | "\r" | "\"" | "%" | "+" => {
            Err("this byte cannot separate fields: it is part of escapes, quotes or line ends")
        }
        _ => separator(text)
            .ok_or("expected one ASCII character other than a letter or digit, or `tab` or `space`"),
    }
}

/// Parses the byte that is written between values.
pub fn join_delimiter(text: &str) -> Result<u8, &'static str> {
    // A `%` begins escapes; CR and LF end lines.
    separator(text)
        .filter(|byte| !b"%\r\n".contains(byte))
        .ok_or("expected one ASCII character other than a letter, a digit or %, or `tab` or `space`")
}

/// Returns the byte that `text` names, unless it is a letter or digit, which can be part of an escape.
fn separator(text: &str) -> Option<u8> {
    match (text, text.as_bytes()) {
        ("tab" | "\\t", _) => Some(b'\t'),
        ("space", _) => Some(b' '),
        (_, &[byte]) if byte.is_ascii() && !byte.is_ascii_alphanumeric() => Some(byte),
        _ => None,
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

/// Parses a number of threads.
pub fn threads(text: &str) -> Result<NonZeroUsize, &'static str> {
    text.parse().map_err(|error: ParseIntError| match error.kind() {
        IntErrorKind::PosOverflow => {
            "the number of threads is too large; one for each core is the most that helps"
        }
        _ => "expected a number of threads, at least 1",
    })
}

/// Returns the name of a set or a profile in the usual spelling.
fn spelled(name: &str) -> String {
    name.to_ascii_lowercase().replace('_', "-")
}

/// Returns the set called `name`. It is a policy, which an encoder may keep, or a building block of other sets.
fn named_set(name: &str) -> Option<&'static NamedSet> {
    let name = spelled(name);
    sets::ALL.iter().find(|set| set.name == name)
}

/// Returns all sets, or if `kept`, only the policies, which are the sets that an encoder may keep.
fn all_sets(kept: bool) -> impl Iterator<Item = &'static NamedSet> {
    sets::ALL.iter().filter(move |set| !kept || set.kind == SetKind::Policy)
}

/// Returns the names of sets for completions; they are too many for help, which points to `pct sets` instead.
fn set_names(kept: bool) -> Vec<PossibleValue> {
    all_sets(kept).map(|set| PossibleValue::new(set.name)).collect()
}

/// Returns the set called `name`, or an error message. If `kept`, the set must be a policy.
fn find_set(name: &str, kept: bool) -> Result<&'static NamedSet, String> {
    match named_set(name) {
        Some(set) if !kept || set.kind == SetKind::Policy => Ok(set),
        Some(set) => Err(format!(
            "--set {name}: this set is a building block, not a policy for encoding; `--escape {}` \
             escapes its bytes, and `pct sets` lists the sets to keep",
            set.name
        )),
        None => {
            let similar = similar(&spelled(name), all_sets(kept).map(|set| set.name));
            let hint =
                if similar.is_empty() { String::new() } else { format!("similar: {}; ", similar.join(", ")) };
            Err(format!("unknown set '{name}'; {hint}`pct sets` lists all"))
        }
    }
}

/// Returns up to four of `names` that are similar to `name`, the best first.
fn similar(name: &str, names: impl Iterator<Item = &'static str>) -> Vec<&'static str> {
    let likeness = |known: &str| {
        let part = !name.is_empty() && (known.contains(name) || name.contains(known));
        f64::from(u8::from(part)) + strsim::jaro_winkler(name, known)
    };
    let mut ranked: Vec<_> = names.map(|known| (likeness(known), known)).collect();
    ranked.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    ranked.into_iter().filter(|(likeness, _)| *likeness >= 0.8).map(|(_, name)| name).take(4).collect()
}

/// Returns the error message for a template without a part.
pub fn template_error(verb: &str) -> String {
    let what = if verb == "top" { "key" } else { "template" };
    format!("the {what} has no {{PART}}: write it before the files, as in `pct {verb} '{{host}}' FILE`")
}

/// Reports whether `name` is the format of a log.
pub fn is_log(name: &str) -> bool {
    (LOG.find)(name).is_ok()
}

/// Commands and options that other programs or earlier versions have, with the words to use instead.
const HINTS: &str = include_str!("hints.tsv");

/// Returns the words to use in place of the unknown option or command `name`.
pub fn hint(name: &str) -> Option<&'static str> {
    let name = name.split('=').next().unwrap_or(name);
    HINTS.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('\t'))
}

/// A possible value of an option: its name, its value in the program, and its description.
type Choice<T> = (&'static str, T, &'static str);

/// Returns a parser that takes `choices`.
pub fn choice<T: Clone + Send + Sync>(choices: &'static [Choice<T>]) -> impl TypedValueParser<Value = T> {
    let help = |help: &'static str| (!help.is_empty()).then_some(help);
    // If `jsonl` is a choice and `json` is not, `json` is another name for `jsonl`.
    let is_json = |name: &str| name == "jsonl" && !choices.iter().any(|(name, ..)| *name == "json");
    let other = move |name| if is_json(name) { "json" } else { name };
    let value = move |name| PossibleValue::new(name).alias(other(name));
    let values = choices.iter().map(|(name, _, text)| value(*name).help(help(text)));
    PossibleValuesParser::new(values).try_map(move |given| {
        let found = choices.iter().find(|(name, ..)| *name == given || other(name) == given);
        found.map(|(_, choice, _)| choice.clone()).ok_or("unknown name")
    })
}

/// The policies for malformed escapes and invalid bytes.
pub const ON_FAULT: &[Choice<Policy>] = &[
    ("keep", Policy::Keep, "Leave bad escapes and bytes as they are, and convert the rest"),
    ("replace", Policy::Replace, "Write \"%25\" for a malformed \"%\", and U+FFFD for invalid UTF-8"),
    ("empty", Policy::Empty, "Make the value empty (\"-\" in a blank-separated line)"),
    ("drop", Policy::Drop, "Leave the record out"),
    ("fail", Policy::Fail, "Stop with an error that says where, and exit with 1, like --strict"),
];

/// The policies for rejected values and unreadable records.
pub const ON_REJECTED: &[Choice<Policy>] = &[
    ("keep", Policy::Keep, "Leave the value or the record as it is"),
    ("drop", Policy::Drop, "Leave the record out"),
    (
        "null",
        Policy::Null,
        "Write `null` in JSON, and nothing elsewhere (\"-\" in logs and blank-separated lines); an unreadable line becomes \
         empty, in JSON `null`, and a log value that can be read in two ways stays",
    ),
    ("fail", Policy::Fail, "Stop with an error that says where, and exit with 1, like --strict"),
];

/// The formats of rows that are read.
pub const STYLES: &[Choice<Style>] = &[
    ("tsv", Style::Tsv, "Separated by tabs, without quotes"),
    ("csv", Style::Csv, "Separated by commas, quoted where necessary (RFC 4180), one row a line"),
    ("jsonl", Style::Jsonl, "JSON, one document per line"),
];

const TEXT: Choice<OutputFormat> = ("text", OutputFormat::Text, "For reading");
const TSV: Choice<OutputFormat> = ("tsv", OutputFormat::Tsv, "Separated by tabs, without quotes");
const CSV: Choice<OutputFormat> =
    ("csv", OutputFormat::Csv, "Separated by commas, quoted where necessary (RFC 4180), one row a line");
const JSONL: Choice<OutputFormat> = ("jsonl", OutputFormat::Jsonl, "JSON, one document per line");
const JSON: Choice<OutputFormat> = ("json", OutputFormat::Json, "One JSON document");

/// The formats of rows. The next constants have the formats of tables, of one report, of lists, and of explanations.
pub const ROWS: &[Choice<OutputFormat>] = &[TSV, CSV, JSONL];
pub const TABLES: &[Choice<OutputFormat>] = &[TEXT, TSV, JSON];
pub const ONE_TEXT: &[Choice<OutputFormat>] = &[TEXT, JSON];
pub const LISTS: &[Choice<OutputFormat>] = &[TEXT, JSONL];
pub const ANY_TEXT: &[Choice<OutputFormat>] = &[TEXT, JSON, JSONL];

/// The formats of statistics.
pub const STATS: &[Choice<OutputFormat>] =
    &[("text", OutputFormat::Text, "One line per count"), ("json", OutputFormat::Json, "One JSON object")];

/// The format of `--compress`; `None` if the output is not compressed.
pub type Compression = Option<Format>;

/// The compression of the output.
pub const COMPRESSION: &[Choice<Compression>] = &[
    ("gzip", Some(Format::Gzip), ""),
    ("zstd", Some(Format::Zstd), ""),
    ("bzip2", Some(Format::Bzip2), ""),
    ("xz", Some(Format::Xz), ""),
    ("none", None, ""),
];

/// The specifications of URLs.
pub const DIALECTS: &[Choice<Dialect>] = &[
    ("rfc3986", Dialect::Rfc3986, ""),
    ("rfc2396", Dialect::Rfc2396, ""),
    ("rfc1738", Dialect::Rfc1738, ""),
];

/// The hash functions of fingerprints.
pub const HASHES: &[Choice<Hash>] = &[
    ("xxh3", Hash::Xxh3, "64 bits, the fastest; not for data that somebody may choose to collide"),
    ("xxh3-128", Hash::Xxh3_128, "128 bits, as fast"),
    ("sha1", Hash::Sha1, "160 bits, cryptographic but broken"),
    ("sha256", Hash::Sha256, "256 bits, cryptographic"),
];

/// The routes that a rule matches.
pub const RULES: &[Choice<Rule>] = &[
    ("prefix", Rule::Prefix, "Routes that begin with PATH"),
    ("segment", Rule::Segment, "PATH, and the routes below it"),
    ("exact", Rule::Exact, "Only PATH"),
];

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
