//! The arguments of the commands for whole URLs: split, get, join, resolve, iri, uri, form.

use std::path::PathBuf;
use std::sync::Arc;

use clap::{Args, ValueHint};
use simdpct_uri::form::LineEnds;
use simdpct_uri::{Strictness, SuffixList};

use super::parsers::{CharsetParser, formats, suffix_list};
use super::values::StrictPipe;
use crate::common::charset::Charset;
use crate::common::fault::Policy;
use crate::common::format::OutputFormat;
use crate::plan::Request;
use crate::url::form::{FromForm, ToForm};
use crate::url::join;
use crate::url::part::{self, Part, Suffixes};
use crate::url::refer::{self, ToIri, ToUri};
use crate::url::row::Style;
use crate::url::split::{self, Template};

/// Split URLs into their parts, before anything is decoded (RFC 3986, sections 2.4 and 3)
///
/// Each URL becomes a row of TSV or CSV, or an object of JSON. Every input can be split, and `pct join` restores every URL
/// that it accepts. The parts are written unchanged; --decode decodes each once.
///
/// In TSV and CSV, a missing part is an empty cell, and an empty part is "": `http://a/` has no query, `http://a/?`
/// has an empty one. In JSON, a missing part has no member. Line ends and NUL in a cell are escaped, and tabs in TSV.
/// There is no header.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  echo 'https://a.com/x%2Fy?q=1' | pct split --format csv     https,,a.com,,/x%2Fy,q=1,
  echo 'http://a.com/?q=a+b' | pct split --parts host,query:q --decode --format jsonl
                                              {\"host\":\"a.com\",\"query:q\":\"a b\"}
  pct split --parts host crawl.txt | sort | uniq -c
  pct split --parts host --query-param q,page --format csv crawl.txt -o pages.csv.gz
  pct split --csv --column url --parts host --into host crawl.csv
  pct split crawl.txt | pct join scheme=https -           changes the scheme of each")]
pub struct Split {
    #[command(flatten)]
    pub pipe: StrictPipe,

    /// The parts to write, in this order
    ///
    /// The parts are url, scheme, authority, userinfo, user, password, host, port, path, query, fragment, query:NAME for the
    /// value of the first parameter of that name, and segment:N for a segment of the path, from 1, or from -1 backwards.
    /// domain is the registrable domain of the host, suffix its public suffix, and subdomain the labels before the domain.
    #[arg(long, value_name = "PART,...", value_delimiter = ',', default_value = part::USUAL, value_parser = Part::find)]
    pub parts: Vec<Part>,

    /// Also write the values of these parameters, like query:NAME
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    pub query_param: Vec<String>,

    /// Decode each part once, after splitting
    ///
    /// `%` and the delimiters inside a part stay escaped: %2F in a path; %26, %3D, %3B, %2B in a query. query:NAME and
    /// segment:N have no delimiters: all of each is decoded, and in query:NAME `+` becomes a space.
    #[arg(long)]
    pub decode: bool,

    /// The format of the parts
    #[arg(long, value_name = "FORMAT", default_value = "tsv", value_parser = formats(ROWS))]
    pub format: OutputFormat,

    #[command(flatten)]
    pub charset: PartCharset,
    #[command(flatten)]
    pub suffixes: SuffixArgs,
}

/// The formats of rows.
const ROWS: &[OutputFormat] = &[OutputFormat::Tsv, OutputFormat::Csv, OutputFormat::Jsonl];

/// Returns the style of rows in `format`, which is one of [`ROWS`].
fn style(format: OutputFormat) -> Style {
    match format {
        OutputFormat::Csv => Style::Csv,
        OutputFormat::Jsonl => Style::Jsonl,
        _ => Style::Tsv,
    }
}

/// The charset of decoded parts.
#[derive(Debug, Args)]
pub struct PartCharset {
    /// With --decode: read each segment, each name and each value as text in this charset, and write it as UTF-8
    ///
    /// `auto` decides for each of them: UTF-8 if it is valid UTF-8, and otherwise windows-1252; `auto:LABEL` names another charset for
    /// that. The host is in UTF-8. Bytes that are invalid in the charset stay escaped. Labels mean what they mean to browsers;
    /// `iso-8859-1-strict` and `us-ascii-strict` are exact.
    #[arg(long, value_name = "LABEL", requires = "decode", value_parser = CharsetParser::LABEL_OR_AUTO, hide_possible_values = true)]
    pub charset: Option<Charset>,
}

/// The options for domain, suffix and subdomain.
#[derive(Debug, Args)]
pub struct SuffixArgs {
    /// Divide hosts by this public suffix list instead of the one that is compiled in, whose version `pct info` shows
    ///
    /// The format is that of the list on publicsuffix.org. Debian has a list in
    /// /usr/share/publicsuffix/public_suffix_list.dat.
    #[arg(long, value_name = "FILE", value_parser = suffix_list, value_hint = ValueHint::FilePath)]
    pub suffix_list: Option<Arc<SuffixList>>,

    /// Use only the ICANN section of the list, so that the domain of a.github.io is github.io
    #[arg(long)]
    pub icann: bool,
}

impl SuffixArgs {
    /// Returns the list to use.
    pub fn suffixes(self) -> Suffixes {
        Suffixes { list: self.suffix_list, icann: self.icann }
    }
}

/// Write the parts of URLs that a template names
///
/// `{host}` stands for the host unchanged, `{query:q}` for the value of the first parameter `q`, and a missing part
/// is empty. The names are those of `pct split --parts`. \t is a tab, \{ a brace, and \\ a backslash.
///
/// The target of a request in a log is read by RFC 9112: one that begins with a slash has no host, and that of CONNECT is a host and a
/// port.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  echo 'https://a.com/x%20y?q=1&p=2' | pct get '{host}{path} {query:p}'    a.com/x%20y 2
  echo 'https://a.com/x%20y?q=1+2' | pct get --decode '{path} {query:q}'     /x y 1 2
  pct get --decode '{path} {query:q}' --charset auto:gbk -e '/%E4%BD%A0?q=%C4%E3'     /你 你
  pct get '{scheme}://{host}/' crawl.txt | sort -u
  pct get '{domain} {suffix}' -e 'https://www.example.co.uk/'     example.co.uk co.uk
  pct get --decode '{segment:1} {segment:-1}' -e '/a/b/c%2Fd'     a c/d
  pct get '{host}' --html --values -e '<a href=\"//a.com/b\">'     a.com
  pct get '{host}' --log combined --values access.log")]
pub struct Get {
    /// The text to write, with {PART} for each part
    #[arg(value_parser = Template::new)]
    pub template: Template,

    #[command(flatten)]
    pub pipe: StrictPipe,

    /// Decode each part once, as `pct split --decode` does
    #[arg(long)]
    pub decode: bool,

    #[command(flatten)]
    pub charset: PartCharset,
    #[command(flatten)]
    pub suffixes: SuffixArgs,
}

/// Join parts to URLs: the inverse of `pct split`
///
/// Each record is a row of parts, or an object of JSON. A PART=VALUE among the files sets this part of every URL. If
/// there are no files, the result is one URL, and an error in it ends the run. Write `./PART=VALUE` for a file that
/// has such a name.
///
/// Parts that could not be read back unchanged, such as a host with a slash or the path //x without a host, are rejected,
/// and so are bytes that browsers read as a delimiter or remove: tabs, line ends, and controls and blanks at the start. The rule
/// is the same for rows and PART=VALUE; no part may be given twice. With --encode, the path //x becomes /.//x, and a:b becomes
/// ./a:b. user and password, or authority, may replace userinfo; query:NAME is
/// added to the query unless the query has that parameter.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pct join scheme=https host=a.com path=/x    https://a.com/x
  pct join --encode scheme=https host=a.com path='/50%/x y' query:q='a&b'
                                              https://a.com/50%25/x%20y?q=a%26b
  echo 'https,,a.com,8080,/x,,' | pct join --from csv       https://a.com:8080/x
  echo '{\"host\":\"a.com\",\"path\":\"/x\"}' | pct join --from jsonl scheme=ftp -    ftp://a.com/x
  echo 'http://a.com/x?' | pct split | pct join             http://a.com/x?")]
pub struct Join {
    #[command(flatten)]
    pub pipe: StrictPipe,

    /// The parts in the columns of a row, as in `pct split --parts`
    #[arg(long, value_name = "PART,...", value_delimiter = ',', default_value = part::USUAL, value_parser = Part::find)]
    pub parts: Vec<Part>,

    /// The format of the rows
    #[arg(long, value_name = "FORMAT", default_value = "tsv")]
    pub from: Style,

    /// Treat the parts as data, and escape each with the set of its component
    ///
    /// This is the inverse of `pct split --decode`: escapes in a path, a query and userinfo stay.
    #[arg(long)]
    pub encode: bool,
}

/// Resolve references against a base URL (RFC 3986, section 5)
///
/// With --html, `<base href>` of a document changes the base for the URLs after it.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  echo '../x?q' | pct resolve --base http://a.com/b/c/d     http://a.com/b/x?q
  pct resolve --standard --base http://a.com/b -e 'c\\d'         http://a.com/c/d
  pct resolve --html --base http://a.com/ -e '<img srcset=\"b 1x, c 2x\">'
                                              <img srcset=\"http://a.com/b 1x, http://a.com/c 2x\">
  pct resolve --base https://example.org/ --jsonl --key request.url events.jsonl")]
pub struct Resolve {
    #[command(flatten)]
    pub pipe: StrictPipe,

    /// The base URL
    #[arg(long, value_name = "URL")]
    pub base: String,

    /// Read `http:g` as `g` if the base is http as well, like some old parsers (section 5.2.2)
    #[arg(long)]
    pub not_strict: bool,

    /// Resolve as browsers do, by the URL Standard, and write the URL as `pct normalize --profile whatwg` does
    #[arg(long, conflicts_with = "not_strict")]
    pub standard: bool,
}

/// Write URIs in readable form, as IRIs (RFC 3987, section 3.2)
///
/// Escapes of visible UTF-8 characters are decoded, and hosts are converted by IDNA. Escapes of ASCII stay, so the
/// meaning does not change; `pct uri` is the way back.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  echo 'http://xn--r8jz45g.jp/%E5%BC%95%E3%81%8D%2F' | pct iri     http://例え.jp/引き%2F")]
pub struct Iri {
    #[command(flatten)]
    pub pipe: StrictPipe,
}

/// Write IRIs as URIs: convert hosts by IDNA (UTS 46), and escape all other UTF-8 (RFC 3987, section 3.1)
///
/// Escapes stay, and URIs do not change. A URL whose host is not valid is rejected.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  echo 'http://例え.jp/引き%2F' | pct uri     http://xn--r8jz45g.jp/%E5%BC%95%E3%81%8D%2F")]
pub struct Uri {
    #[command(flatten)]
    pub pipe: StrictPipe,
}

/// Convert forms to pairs, and pairs to forms (application/x-www-form-urlencoded)
///
/// Each record is a form, such as the query of a URL. In TSV and CSV, names and values alternate; line ends and NUL in
/// them are escaped, and --from reads these escapes. In JSON, a form is an array of pairs, in which a name or value that
/// is invalid UTF-8 is an object, {"bytes":"%C3"}; --from also reads an object, whose values may be arrays.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  echo 'a=1&b=x+y%26' | pct form --format jsonl   [[\"a\",\"1\"],[\"b\",\"x y&\"]]
  echo 'a=1&b=x+y' | pct form --format csv        a,1,b,x y
  echo '{\"a\":[1,2],\"b\":\"x y\"}' | pct form --from jsonl       a=1&a=2&b=x+y
  echo 'q=%CF%F0&r=1' | pct form --charset windows-1251 --format csv     q,Пр,r,1
  echo '_charset_=koi8-r&q=%F0' | pct form --format csv     _charset_,koi8-r,q,П
  pct form --charset auto:gbk -e 'a=%E4%BD%A0&b=%C4%E3'     a,你,b,你 with tabs
  pct get '{query}' crawl.txt | pct form")]
pub struct Form {
    #[command(flatten)]
    pub pipe: StrictPipe,

    /// The format of the pairs
    #[arg(long, value_name = "FORMAT", default_value = "tsv", value_parser = formats(ROWS), conflicts_with = "from")]
    pub format: OutputFormat,

    /// Read pairs in this format, and write forms
    #[arg(long, value_name = "FORMAT")]
    pub from: Option<Style>,

    /// Write every line end in a name or value as %0D%0A, as browsers do
    #[arg(long, requires = "from")]
    pub crlf: bool,

    /// The charset of forms that name none by a parameter `_charset_`; the pairs are always UTF-8
    ///
    /// The value of `_charset_` is a label of a charset, as in the HTML Standard. `auto` decides for each name and each value: UTF-8 if
    /// it is valid UTF-8, and otherwise windows-1252; `auto:LABEL` names another charset for that. Bytes that are invalid in the charset
    /// are written as escapes. A character that the charset lacks is written in the way of browsers: %26%23, its number, %3B. Labels mean
    /// what they mean to browsers; `iso-8859-1-strict` and `us-ascii-strict` are exact.
    #[arg(long, value_name = "LABEL", value_parser = CharsetParser::LABEL_OR_AUTO, hide_possible_values = true)]
    pub charset: Option<Charset>,
}

impl Split {
    /// Converts the arguments to a request.
    pub fn request(self) -> Request {
        let mut parts = self.parts;
        parts.extend(self.query_param.into_iter().map(Part::Parameter));
        let split = split::Split::new(parts, style(self.format), self.decode, self.suffixes.suffixes());
        self.pipe.rewrite(split.in_charset(self.charset.charset))
    }
}

impl Get {
    /// Converts the arguments to a request, or returns an error message.
    pub fn request(self) -> Result<Request, String> {
        if !self.template.has_parts() && !self.pipe.pipe.files.is_given() {
            // A forgotten template: the first file has its place, and standard input would be read.
            return Err("the template has no {PART}, and there is no file: write the template before the files, as in \
                 `pct get '{host}' FILE`"
                .to_owned());
        }
        let get = split::Get::new(self.template, self.decode, self.suffixes.suffixes());
        Ok(self.pipe.rewrite(get.in_charset(self.charset.charset)))
    }
}

impl Join {
    /// Converts the arguments to a request, or returns an error message.
    pub fn request(mut self) -> Result<Request, String> {
        let files = &mut self.pipe.pipe.files;
        let mut fixed: Vec<(Part, Vec<u8>)> = Vec::new();
        let mut others: Vec<PathBuf> = Vec::new();
        for name in std::mem::take(&mut files.files) {
            match assignment(&name) {
                None => others.push(name),
                Some((name, value)) => {
                    let part = Part::find(name)?;
                    if fixed.iter().any(|(known, _)| *known == part) {
                        return Err(format!("the part '{name}' is given twice"));
                    }
                    fixed.push((part, value.to_vec()));
                }
            }
        }
        files.files = others;
        let is_twice = |(index, part)| self.parts[..index].contains(part);
        if let Some((_, part)) = self.parts.iter().enumerate().find(|field| is_twice(*field)) {
            return Err(format!("--parts names the part '{part}' twice"));
        }
        if !fixed.is_empty() && !files.is_given() {
            // An empty row, which has only the fixed parts.
            files.expression.push("".into());
            self.pipe.pipe.on_rejected.get_or_insert(Policy::Fail);
        }
        Ok(self.pipe.rewrite(join::Join::new(self.parts, self.from, fixed, self.encode)))
    }
}

/// Splits `PART=VALUE`; `None` if `argument` is the name of a file.
fn assignment(argument: &std::path::Path) -> Option<(&str, &[u8])> {
    let bytes = argument.as_os_str().as_encoded_bytes();
    let at = memchr::memchr(b'=', bytes)?;
    let name = std::str::from_utf8(&bytes[..at]).ok()?;
    let is_name = |name: &str| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase());
    (is_name(name) || name.starts_with("query:")).then_some((name, &bytes[at + 1..]))
}

impl Resolve {
    /// Converts the arguments to a request, or returns an error message.
    pub fn request(self) -> Result<Request, String> {
        if self.standard {
            return Ok(self.pipe.rewrite(refer::ResolveStandard::new(&self.base)?));
        }
        let strictness = if self.not_strict { Strictness::Lenient } else { Strictness::Strict };
        Ok(self.pipe.rewrite(refer::Resolve::new(self.base.into_bytes(), strictness)?))
    }
}

impl Iri {
    /// Converts the arguments to a request.
    pub fn request(self) -> Request {
        self.pipe.rewrite(ToIri)
    }
}

impl Uri {
    /// Converts the arguments to a request.
    pub fn request(self) -> Request {
        self.pipe.rewrite(ToUri)
    }
}

impl Form {
    /// Converts the arguments to a request, or returns an error message.
    pub fn request(self) -> Result<Request, String> {
        match self.from {
            Some(_) if self.charset.is_some_and(Charset::is_guessed) => {
                Err("--charset auto reads forms, and --from writes them; name one charset".to_owned())
            }
            Some(from) => {
                let line_ends = if self.crlf { LineEnds::CrLf } else { LineEnds::Kept };
                Ok(self.pipe.rewrite(ToForm { from, line_ends, charset: self.charset }))
            }
            None => Ok(self.pipe.rewrite(FromForm { style: style(self.format), charset: self.charset })),
        }
    }
}
