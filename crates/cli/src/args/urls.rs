//! The verbs for whole URLs: split, get, join, resolve, iri, uri, form.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use simdpct_uri::Strictness;
use simdpct_uri::form::LineEnds;

use super::files::{Files, RecordArgs, Target};
use super::parsers::CharsetParser;
use super::transform::Strict;
use super::values::Pipe;
use crate::engine::plan::Request;
use crate::ground::charset::Charset;
use crate::url::Rewrite;
use crate::url::form::{FromForm, ToForm};
use crate::url::join;
use crate::url::part::{self, Part};
use crate::url::refer::{self, ToIri, ToUri};
use crate::url::row::Style;
use crate::url::split::{self, Template};
use crate::value::options::Verb;

/// What all of them take.
#[derive(Debug, Args)]
pub struct Whole {
    #[command(flatten)]
    pub files: Files,
    #[command(flatten)]
    pub target: Target,
    #[command(flatten)]
    pub records: RecordArgs,
    #[command(flatten)]
    pub pipe: Pipe,
    #[command(flatten)]
    pub strict: Strict,
}

impl Whole {
    fn request(self, rewrite: impl Rewrite + 'static) -> Request {
        let verb = Verb::Rewrite(Arc::new(rewrite));
        self.pipe.request(verb, self.files, self.target, &self.records, self.strict.strict)
    }
}

/// Split URLs into their parts, before anything is decoded (RFC 3986, sections 2.4 and 3)
///
/// Each URL becomes a row of TSV or CSV, or an object of JSON. Every input has parts, and `pct join` gives it back. The parts are
/// as they are written; with --decode each is decoded once.
///
/// In TSV and CSV a part that is not there is nothing, and an empty one is \"\": `http://a/` has no query, `http://a/?` an empty one.
/// In JSON the member is left out. A line end or NUL in a cell is escaped, and a tab in TSV. There is no header.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  echo 'https://a.com/x%2Fy?q=1' | pct split --as csv     https,,a.com,,/x%2Fy,q=1,
  echo 'http://a.com/?q=a+b' | pct split --fields host,query:q --decode --as jsonl
                                              {\"host\":\"a.com\",\"query:q\":\"a b\"}
  pct split --fields host crawl.txt | sort | uniq -c
  pct split --fields host --query-param q,page --as csv crawl.txt -o pages.csv.gz
  pct split --csv --column url --fields host --into host crawl.csv
  pct split crawl.txt | pct join scheme=https -           another scheme for each")]
pub struct Split {
    #[command(flatten)]
    pub whole: Whole,

    /// The parts, in this order
    ///
    /// url, scheme, authority, userinfo, user, password, host, port, path, query, fragment; and query:NAME for the value of the
    /// first parameter of that name.
    #[arg(long, value_name = "PART,...", value_delimiter = ',', default_value = part::USUAL, value_parser = Part::find)]
    pub fields: Vec<Part>,

    /// The values of these parameters as well, as query:NAME
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    pub query_param: Vec<String>,

    /// Decode each part once, after splitting
    ///
    /// What delimits the pieces of a part stays escaped, and so does `%`: %2F in a path; %26, %3D, %3B, %2B in a query. The value
    /// of query:NAME is one piece: all of it is decoded, and `+` is a space.
    #[arg(long)]
    pub decode: bool,

    /// How parts are written
    #[arg(long = "as", value_name = "STYLE", default_value = "tsv")]
    pub style: Style,
}

/// Write the parts of URLs that a template names
///
/// `{host}` is the host as it is written, `{query:q}` the value of the first parameter `q`; what a URL does not have is empty. The
/// names are those of `pct split --fields`. \t is a tab, \{ a brace, and \\ a backslash.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  echo 'https://a.com/x%20y?q=1&p=2' | pct get '{host}{path} {query:p}'    a.com/x%20y 2
  echo 'https://a.com/x%20y?q=1+2' | pct get --decode '{path} {query:q}'     /x y 1 2
  pct get '{scheme}://{host}/' crawl.txt | sort -u
  pct get '{host}' --log combined --only access.log")]
pub struct Get {
    /// Text with {PART} in it
    #[arg(value_parser = Template::new)]
    pub template: Template,

    #[command(flatten)]
    pub whole: Whole,

    /// Decode each part once, as `pct split --decode` does
    #[arg(long)]
    pub decode: bool,
}

/// Join parts to URLs: the inverse of `pct split`
///
/// Each record is a row of parts, or an object of JSON. PART=VALUE among the files is the same in every URL; if there are no
/// files, that makes one URL, and what is wrong with it ends the run. A file whose name is like that is `./PART=VALUE`.
///
/// Parts that would not be read back as they are, such as a host with a slash, are refused. user and password, or authority, may be
/// given instead of userinfo; query:NAME is added to the query if that has no such parameter.
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
    pub whole: Whole,

    /// What the columns of a row are, as in `pct split --fields`
    #[arg(long, value_name = "PART,...", value_delimiter = ',', default_value = part::USUAL, value_parser = Part::find)]
    pub fields: Vec<Part>,

    /// How parts are written
    #[arg(long, value_name = "STYLE", default_value = "tsv")]
    pub from: Style,

    /// The parts are data: escape them, each with the set of its component
    ///
    /// The inverse of `pct split --decode`: escapes in a path, a query and userinfo stay.
    #[arg(long)]
    pub encode: bool,
}

/// Write the targets of references as seen from a base (RFC 3986, section 5)
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  echo '../x?q' | pct resolve --base http://a.com/b/c/d     http://a.com/b/x?q
  pct resolve --base https://example.org/ --jsonl --key request.url events.jsonl")]
pub struct Resolve {
    #[command(flatten)]
    pub whole: Whole,

    /// The URL that the references are relative to
    #[arg(long, value_name = "URL")]
    pub base: String,

    /// Read `http:g` as `g` if the base is http, too, as some old parsers have it (section 5.2.2)
    #[arg(long)]
    pub not_strict: bool,
}

/// Write URIs as people read them: IRIs (RFC 3987, section 3.2)
///
/// Escapes of UTF-8 that can be seen are decoded, and hosts by IDNA. Escapes of ASCII stay, so the meaning does; `pct uri`
/// leads back.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  echo 'http://xn--r8jz45g.jp/%E5%BC%95%E3%81%8D%2F' | pct iri     http://例え.jp/引き%2F")]
pub struct Iri {
    #[command(flatten)]
    pub whole: Whole,
}

/// Write IRIs as URIs: hosts by IDNA (UTS 46), all else as UTF-8 in escapes (RFC 3987, section 3.1)
///
/// Escapes stay, and a URI stays as it is. A host that is not valid is refused.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  echo 'http://例え.jp/引き%2F' | pct uri     http://xn--r8jz45g.jp/%E5%BC%95%E3%81%8D%2F")]
pub struct Uri {
    #[command(flatten)]
    pub whole: Whole,
}

/// Write the pairs of forms, and forms of pairs (application/x-www-form-urlencoded)
///
/// Each record is a form, such as the query of a URL. In TSV and CSV, names and values follow each other; in JSON it is an array of
/// pairs, in which nothing is lost. --from also reads an object, whose values may be arrays.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  echo 'a=1&b=x+y%26' | pct form --as jsonl   [[\"a\",\"1\"],[\"b\",\"x y&\"]]
  echo 'a=1&b=x+y' | pct form --as csv        a,1,b,x y
  echo '{\"a\":[1,2],\"b\":\"x y\"}' | pct form --from jsonl       a=1&a=2&b=x+y
  echo 'q=%CF%F0&r=1' | pct form --charset windows-1251 --as csv     q,Пр,r,1
  pct get '{query}' crawl.txt | pct form")]
pub struct Form {
    #[command(flatten)]
    pub whole: Whole,

    /// How pairs are written
    #[arg(long = "as", value_name = "STYLE", default_value = "tsv", conflicts_with = "from")]
    pub style: Style,

    /// Read pairs that are written like this, and write forms
    #[arg(long, value_name = "STYLE")]
    pub from: Option<Style>,

    /// Write every line end in a name or value as %0D%0A, as browsers do
    #[arg(long, requires = "from")]
    pub crlf: bool,

    /// The form is in this charset; what it is read from, or written as, is UTF-8
    ///
    /// Bytes that mean nothing in the charset are written as escapes; a character that it does not have, as browsers do:
    /// %26%23, its number, %3B. Labels mean what they mean to browsers; `iso-8859-1-strict` and `us-ascii-strict` are exact.
    #[arg(long, value_name = "LABEL", value_parser = CharsetParser, hide_possible_values = true)]
    pub charset: Option<Charset>,
}

impl Split {
    /// What is asked for.
    pub fn request(self) -> Request {
        let mut fields = self.fields;
        fields.extend(self.query_param.into_iter().map(Part::Parameter));
        self.whole.request(split::Split::new(fields, self.style, self.decode))
    }
}

impl Get {
    /// What is asked for.
    pub fn request(self) -> Request {
        self.whole.request(split::Get::new(self.template, self.decode))
    }
}

impl Join {
    /// What is asked for; or what is wrong with that.
    pub fn request(mut self) -> Result<Request, String> {
        let files = &mut self.whole.files;
        let mut fixed = Vec::new();
        let mut others: Vec<PathBuf> = Vec::new();
        for name in std::mem::take(&mut files.files) {
            match assignment(&name) {
                None => others.push(name),
                Some((part, value)) => fixed.push((Part::find(part)?, value.to_vec())),
            }
        }
        files.files = others;
        let has_input = !files.files.is_empty()
            || files.files_from.is_some()
            || files.files0_from.is_some()
            || !files.expression.is_empty();
        if !fixed.is_empty() && !has_input {
            // One row without parts of its own.
            files.expression.push("".into());
            self.whole.strict.strict |= self.whole.pipe.on_error.is_none();
        }
        Ok(self.whole.request(join::Join::new(self.fields, self.from, fixed, self.encode)))
    }
}

/// The name and the value of `PART=VALUE`, if that is what `argument` is and not the name of a file.
fn assignment(argument: &std::path::Path) -> Option<(&str, &[u8])> {
    let bytes = argument.as_os_str().as_encoded_bytes();
    let at = memchr::memchr(b'=', bytes)?;
    let name = std::str::from_utf8(&bytes[..at]).ok()?;
    let is_name = |name: &str| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase());
    (is_name(name) || name.starts_with("query:")).then_some((name, &bytes[at + 1..]))
}

impl Resolve {
    /// What is asked for; or what is wrong with that.
    pub fn request(self) -> Result<Request, String> {
        let strictness = if self.not_strict { Strictness::Lenient } else { Strictness::Strict };
        Ok(self.whole.request(refer::Resolve::new(self.base.into_bytes(), strictness)?))
    }
}

impl Iri {
    /// What is asked for.
    pub fn request(self) -> Request {
        self.whole.request(ToIri)
    }
}

impl Uri {
    /// What is asked for.
    pub fn request(self) -> Request {
        self.whole.request(ToUri)
    }
}

impl Form {
    /// What is asked for.
    pub fn request(self) -> Request {
        match self.from {
            Some(from) => {
                let line_ends = if self.crlf { LineEnds::CrLf } else { LineEnds::Kept };
                self.whole.request(ToForm { from, line_ends, charset: self.charset })
            }
            None => self.whole.request(FromForm { style: self.style, charset: self.charset }),
        }
    }
}
