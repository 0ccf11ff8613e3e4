//! The arguments of the commands for whole URLs: split, get, join, resolve, iri, uri, form.

use std::path::Path;

use clap::Args as Options;
use simdpct_uri::Strictness;
use simdpct_uri::form::LineEnds;

use super::options::{Args, CharsetArg, Columns, Controls, FromArg, Parts};
use super::parsers::{ROWS, choice, template_error};
use crate::common::charset::Charset;
use crate::common::fault::Policy;
use crate::common::format::OutputFormat;
use crate::convert::{Conversion, Escapes};
use crate::url::form::{FromForm, ToForm};
use crate::url::join;
use crate::url::part::{self, Part, Template};
use crate::url::refer::{self, ToIri, ToUri};
use crate::url::row::Style;
use crate::url::split::{Layout, PartsWriter};

/// Split URLs into their parts, before anything is decoded (RFC 3986, sections 2.4 and 3)
///
/// Each URL becomes a row of TSV or CSV, or an object of JSON. Every input can be split, and `pct join` restores every URL
/// that it accepts; line ends and NUL stay escaped after TSV and CSV, tabs and a part of two quotes after TSV, and bytes that are
/// invalid UTF-8 after JSON. The parts are written unchanged; --decode decodes each once.
///
/// In TSV and CSV, a missing part is an empty cell, and an empty part is "": `http://a/` has no query, `http://a/?`
/// has an empty one. In JSON, a missing part has no member. Line ends and NUL in a cell are escaped, and tabs in TSV.
/// All other quotes in TSV are data: `--tsv --field N` reads such cells, and --tsv with --column would read the quotes. There is no header.
#[derive(Debug, Options)]
#[command(after_long_help = include_str!("examples/split.txt").trim_ascii_end(), mut_arg("raw", |raw| raw.hide(true)))]
pub struct Split {
    #[command(flatten)]
    pub columns: Columns,

    /// Also write the values of these parameters, like query:NAME
    #[arg(long, value_name = "NAME,...", value_delimiter = ',', value_parser = |name: &str| Part::find(&format!("query:{name}")))]
    pub query_param: Vec<Part>,

    /// The format of the output
    #[arg(long, value_name = "FORMAT", default_value = "tsv", value_parser = choice(ROWS))]
    pub format: OutputFormat,

    #[command(flatten)]
    pub parts: Parts,
    #[command(flatten)]
    pub controls: Controls,
    #[command(flatten)]
    pub args: Args,
}

/// Write the parts of URLs that a template names
///
/// `{host}` stands for the host unchanged, `{query:q}` for the value of the first parameter `q`, and a missing part
/// is empty. `{query:q[]}` stands for all its values, separated by blanks, or by commas if the template has blanks. A separator inside
/// one of several values is escaped. The names are those of `pct split --parts`. \t is a tab, \{ a brace, and \\ a backslash.
///
/// The target of a request in a log is read by RFC 9112: one that begins with a slash has no host, and that of CONNECT is a host and a
/// port.
#[derive(Debug, Options)]
#[command(after_long_help = include_str!("examples/get.txt").trim_ascii_end(), mut_arg("raw", |raw| raw.hide(true)))]
pub struct Get {
    /// The text to write, with {PART} for each part; the names are those of `pct split --parts`
    #[arg(value_parser = Template::new)]
    pub template: Template,

    #[command(flatten)]
    pub parts: Parts,
    #[command(flatten)]
    pub controls: Controls,
    #[command(flatten)]
    pub args: Args,
}

/// Join parts to URLs: the inverse of `pct split`
///
/// Each record is a row of parts, or an object of JSON. A PART=VALUE among the files sets this part of every URL. If
/// there are no files, the result is one URL, an error in it ends the run, and --rejects and --on-rejected are refused. Write
/// `./PART=VALUE` for a file that has such a name.
///
/// A part is rejected if it could not be read back unchanged, such as a host with a slash, or the path //x without a host. It is
/// also rejected if it has tabs or line ends, or if the URL would begin with a blank, because browsers remove these bytes.
/// No part may be given twice. With --encode, the path //x becomes /.//x, and the path a:b becomes ./a:b. user and password
/// may replace userinfo, and authority may replace userinfo, host and port. query:NAME is added to the query unless the query
/// has that parameter.
#[derive(Debug, Options)]
#[command(after_long_help = include_str!("examples/join.txt").trim_ascii_end(), mut_arg("raw", |raw| raw.hide(true)))]
pub struct Join {
    #[command(flatten)]
    pub columns: Columns,
    #[command(flatten)]
    pub from: FromArg,

    /// Treat the parts as data, and escape each with the set of its component
    ///
    /// This is the inverse of `pct split --decode`: escapes in a path, a query, userinfo and an authority stay. In other parts each `%` is
    /// escaped, also that of an escape that the split kept, such as the %0A of a line end.
    #[arg(long)]
    pub encode: bool,

    #[command(flatten)]
    pub args: Args,
}

/// Resolve references against a base URL (RFC 3986, section 5)
///
/// With --html, `<base href>` of a document changes the base for the URLs after it.
#[derive(Debug, Options)]
#[command(after_long_help = include_str!("examples/resolve.txt").trim_ascii_end(), mut_arg("raw", |raw| raw.hide(true)))]
pub struct Resolve {
    /// The base URL
    #[arg(long, value_name = "URL")]
    pub base: String,

    /// Read `http:g` as `g` if the base is http as well, like some old parsers (section 5.2.2)
    #[arg(long, hide_short_help = true)]
    pub not_strict: bool,

    /// Resolve as browsers do, by the URL Standard, and write the URL as `pct normalize --profile whatwg` does
    #[arg(long, conflicts_with = "not_strict")]
    pub standard: bool,

    #[command(flatten)]
    pub args: Args,
}

/// Write URIs in readable form, as IRIs (RFC 3987, section 3.2)
///
/// Escapes of visible UTF-8 characters are decoded, but in hosts only Punycode is (IDNA). Escapes of ASCII stay, so the meaning of a URI does
/// not change; `pct uri` is its way back.
#[derive(Debug, Options)]
#[command(after_long_help = include_str!("examples/iri.txt").trim_ascii_end(), mut_arg("raw", |raw| raw.hide(true)))]
pub struct Iri {
    #[command(flatten)]
    pub args: Args,
}

/// Write IRIs as URIs: convert hosts by IDNA (UTS 46), and escape all other UTF-8 (RFC 3987, section 3.1)
///
/// Escapes stay, and URIs do not change. A `\` in a path becomes %5C, although browsers read it as `/`. The `%` of a malformed escape becomes
/// %25, so --strict stops only at rejected URLs and unreadable records. A URL with an invalid host is rejected.
#[derive(Debug, Options)]
#[command(after_long_help = include_str!("examples/uri.txt").trim_ascii_end(), mut_arg("raw", |raw| raw.hide(true)))]
pub struct Uri {
    #[command(flatten)]
    pub args: Args,
}

/// Convert forms to pairs, and pairs to forms (application/x-www-form-urlencoded)
///
/// Each record is a form, such as the query of a URL. In TSV and CSV, names and values alternate; line ends and NUL in them are escaped,
/// and so is a "%" that looks like the start of such an escape, or of %25. --from reads these escapes. In JSON, a form is an array of
/// pairs, in which a name or value that is invalid UTF-8 is an object, {"bytes":"%C3"}; --from also reads an object, whose values may be
/// arrays.
#[derive(Debug, Options)]
#[command(after_long_help = include_str!("examples/form.txt").trim_ascii_end(), mut_arg("raw", |raw| raw.hide(true)))]
pub struct Form {
    /// The format of the output
    #[arg(long, value_name = "FORMAT", default_value = "tsv", value_parser = choice(ROWS), conflicts_with = "from")]
    pub format: OutputFormat,

    #[command(flatten)]
    pub from: FromArg,

    /// Write every line end in a name or value as %0D%0A, as browsers do
    #[arg(long, requires = "from", conflicts_with = "format", hide_short_help = true)]
    pub crlf: bool,

    #[command(flatten)]
    pub charset: CharsetArg,
    #[command(flatten)]
    pub controls: Controls,
    #[command(flatten)]
    pub args: Args,
}

/// Returns the style of rows in `format`, which is one of [`ROWS`], or an error message if `args` would join rows on a line.
fn style(format: OutputFormat, args: &Args) -> Result<Style, String> {
    match format {
        _ if args.written.output_delimiter.is_some() => Err(
            "--output-delimiter would escape its CHAR in the syntax of rows; write them with --values alone"
                .to_owned(),
        ),
        OutputFormat::Csv => Ok(Style::Csv),
        OutputFormat::Jsonl => Ok(Style::Jsonl),
        _ => Ok(Style::Tsv),
    }
}

impl Split {
    /// Returns the conversion, or an error message.
    pub fn conversion(&self) -> Result<Conversion, String> {
        self.args.check_overwritten("split", true)?;
        let parts: Vec<_> = self.columns.parts.iter().chain(&self.query_param).cloned().collect();
        check_unique(&parts)?;
        let is_escaped = self.parts.decode && self.controls.are_escaped(&self.args);
        let style = style(self.format, &self.args)?;
        let writer = PartsWriter::new(Template::row(parts, style), Layout::Row(style), self.parts.options()?);
        Ok(Conversion::of_urls(writer, self.parts.escapes()).printable(is_escaped))
    }
}

impl Get {
    /// Returns the conversion, or an error message.
    pub fn conversion(&self) -> Result<Conversion, String> {
        // With -e, there is no file whose name could have become the template by mistake.
        if self.template.items.is_empty() && self.args.input.expression.is_empty() {
            return Err(template_error("get"));
        }
        self.args.check_overwritten("get", false)?;
        let is_escaped = self.parts.decode && self.controls.are_escaped(&self.args);
        let writer = PartsWriter::new(self.template.clone(), Layout::Template, self.parts.options()?);
        Ok(Conversion::of_urls(writer, self.parts.escapes()).printable(is_escaped))
    }
}

impl Join {
    /// Returns the conversion, or an error message. Takes each PART=VALUE out of the files.
    pub fn conversion(&mut self) -> Result<Conversion, String> {
        let input = &mut self.args.input;
        let mut fixed: Vec<(Part, Vec<u8>)> = Vec::new();
        for name in std::mem::take(&mut input.files) {
            match assignment(&name) {
                None => input.files.push(name),
                Some((name, value)) => {
                    let part = join::find(name)?;
                    if fixed.iter().any(|(known, _)| *known == part) {
                        return Err(format!("the part '{name}' is given twice"));
                    }
                    fixed.push((part, value.to_vec()));
                }
            }
        }
        let parts = &self.columns.parts;
        check_unique(parts)?;
        parts.iter().try_for_each(|part| join::find(&part.to_string()).map(drop))?;
        if !fixed.is_empty() && !input.is_given() {
            // An empty row makes one URL of the fixed parts.
            input.expression.push("".into());
            if self.args.output.rejects.is_some()
                || self.args.written.on_rejected.replace(Policy::Fail).is_some()
            {
                return Err(
                    "--rejects and --on-rejected need rows: an error in the one URL ends the run".to_owned()
                );
            }
        }
        let style = self.from.from.unwrap_or(Style::Tsv);
        let is_usual = part::USUAL.split(',').map(Part::find).eq(parts.iter().cloned().map(Ok));
        if style == Style::Jsonl && !is_usual {
            return Err("--parts names the cells of TSV and CSV; the members of JSON have names".to_owned());
        }
        let join = join::Join { fields: parts.clone(), style, fixed, encode: self.encode };
        Ok(Conversion::of_urls(join, if self.encode { Escapes::Data } else { Escapes::Copied }))
    }
}

/// Fails if one of the `parts` of a row is there twice.
fn check_unique(parts: &[Part]) -> Result<(), String> {
    let is_twice = |(index, part): &(usize, &Part)| parts[..*index].contains(part);
    match parts.iter().enumerate().find(is_twice) {
        Some((_, part)) => Err(format!("--parts names the part '{part}' twice")),
        None => Ok(()),
    }
}

/// Splits `PART=VALUE`; `None` if `argument` is the name of a file.
fn assignment(argument: &Path) -> Option<(&str, &[u8])> {
    let bytes = argument.as_os_str().as_encoded_bytes();
    let at = memchr::memchr(b'=', bytes)?;
    let name = std::str::from_utf8(&bytes[..at]).ok()?;
    let is_name = |name: &str| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase());
    let has_argument = ["query:", "segment:"].iter().any(|start| name.starts_with(start));
    (is_name(name) || has_argument).then_some((name, &bytes[at + 1..]))
}

impl Resolve {
    /// Returns the conversion, or an error message.
    pub fn conversion(&self) -> Result<Conversion, String> {
        if self.standard {
            return Ok(Conversion::of_urls(refer::ResolveStandard::new(&self.base)?, Escapes::Copied));
        }
        let strictness = if self.not_strict { Strictness::Lenient } else { Strictness::Strict };
        let resolve = refer::Resolve::new(self.base.clone().into_bytes(), strictness)?;
        Ok(Conversion::of_urls(resolve, Escapes::Copied))
    }
}

impl Iri {
    /// Returns the conversion.
    pub fn conversion(&self) -> Result<Conversion, String> {
        Ok(Conversion::of_urls(ToIri, Escapes::Copied))
    }
}

impl Uri {
    /// Returns the conversion.
    pub fn conversion(&self) -> Result<Conversion, String> {
        // The conversion escapes the `%` of a malformed escape.
        Ok(Conversion::of_urls(ToUri, Escapes::Data))
    }
}

impl Form {
    /// Returns the conversion, or an error message.
    pub fn conversion(&self) -> Result<Conversion, String> {
        let charset = self.charset.charset;
        match self.from.from {
            Some(_) if charset.is_some_and(Charset::is_guessed) => {
                Err("--charset auto reads forms, and --from writes them; name one charset".to_owned())
            }
            Some(from) => {
                let line_ends = if self.crlf { LineEnds::CrLf } else { LineEnds::Kept };
                Ok(Conversion::of_urls(ToForm { from, line_ends, charset }, Escapes::Data))
            }
            None => {
                self.args.check_overwritten("form", true)?;
                let is_escaped = self.controls.are_escaped(&self.args);
                let form = FromForm { style: style(self.format, &self.args)?, charset };
                Ok(Conversion::of_urls(form, Escapes::Decoded).printable(is_escaped))
            }
        }
    }
}
