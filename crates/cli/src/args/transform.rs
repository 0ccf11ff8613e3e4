//! The verbs that write: encode, decode, normalize.

use std::sync::Arc;

use clap::{Args, ValueEnum};
use simdpct::{ByteSet, NamedSet, sets};
use simdpct_uri::canon::Profile;

use super::files::{Files, RecordArgs, Target};
use super::parsers::{BytesParser, CharsetParser, EscapeParser, ProfileParser, SetParser};
use super::values::Pipe;
use crate::engine::plan::Request;
use crate::ground::charset::Charset;
use crate::select::logs::Log;
use crate::url::canonical::Canonical;
use crate::url::convert::{DecodeUrl, EncodeUrl};
use crate::value::options::{DecodeOptions, EncodeOptions, Layers, Scope, Verb};

/// Write bytes outside a set as escapes
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  echo 'a b/c' | pct encode                   a%20b%2Fc
  pct encode -e 'a b/c'                       a%20b%2Fc
  echo 'a b/c' | pct encode --keep /          a%20b/c
  echo 'a b&c' | pct encode --form            a+b%26c
  echo 'a b&c<d>' | pct encode --escape '<>'   a b&c%3Cd%3E
  echo '/a b%20c' | pct encode --set rfc3986-path --keep-escapes
                                              /a%20b%20c
  echo 'Привет' | pct encode --charset windows-1251   %CF%F0%E8%E2%E5%F2
  echo 'http://a.com/50% x?q=%2F' | pct encode --url        http://a.com/50%25%20x?q=%2F
  head -c 16 /dev/urandom | pct encode --raw  any bytes, newlines too

A \"\\r\" that is not directly before \"\\n\" is data, and is escaped.")]
pub struct Encode {
    #[command(flatten)]
    pub files: Files,
    #[command(flatten)]
    pub target: Target,
    #[command(flatten)]
    pub records: RecordArgs,
    #[command(flatten)]
    pub pipe: Pipe,

    /// Keep the bytes of this set as they are, and escape all others; `pct sets` lists the names
    #[arg(long, value_name = "NAME", default_value = "rfc3986-unreserved", hide_possible_values = true, value_parser = SetParser::POLICIES)]
    pub set: &'static NamedSet,

    /// Escape exactly these bytes, and every byte that is not ASCII
    ///
    /// The other direction of --set. The name of a set, such as `rfc1738-unsafe`, means its bytes; anything else is a
    /// list of bytes, where %XX names one that is hard to type.
    #[arg(long, value_name = "BYTES|NAME", value_parser = EscapeParser, allow_hyphen_values = true, conflicts_with = "set")]
    pub escape: Option<ByteSet>,

    /// Bytes that stay as well; %XX names one that is hard to type
    #[arg(long, value_name = "BYTES", value_parser = BytesParser, allow_hyphen_values = true)]
    pub keep: Vec<ByteSet>,

    /// Leave valid escapes alone and escape only a "%" that starts none: encoding twice changes nothing
    #[arg(long)]
    pub keep_escapes: bool,

    /// Write a space as "+", and escape "+"; with `--set whatwg-form`, the URL Standard's form data
    #[arg(long, conflicts_with = "keep_escapes")]
    pub form: bool,

    /// Encode a whole URL: syntax stays, and what no URL may hold is escaped
    ///
    /// Reserved bytes and their escapes stay (RFC 3986, section 2.2); every other "%" is data. `decode --url` is the exact inverse.
    #[arg(long, conflicts_with_all = ["set", "escape", "keep", "keep_escapes", "form", "lower", "charset"])]
    pub url: bool,

    /// Write new escapes with lower-case digits
    #[arg(long)]
    pub lower: bool,

    /// Escape the bytes of the text in this charset instead of UTF-8
    ///
    /// A character that the charset does not have is written as browsers do: %26%23, its number, %3B. Bytes of the
    /// input that are not UTF-8 are escaped as they are. Labels mean what they mean to browsers, so `iso-8859-1`,
    /// `latin1` and `us-ascii` are windows-1252; `iso-8859-1-strict` and `us-ascii-strict` are exact.
    #[arg(long, value_name = "LABEL", value_parser = CharsetParser, hide_possible_values = true)]
    pub charset: Option<Charset>,
}

/// Replace each escape by its byte, once
///
/// A "%" that is not followed by two hexadecimal digits stays as it is, unless --strict is given.
///
/// The options work in this order, however you order them: --nginx; escapes, with --percent-u, --times and --until-stable;
/// --charset; --printable. What --keep names, and line ends, stay escaped in each.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  echo 'caf%C3%A9%20%zz' | pct decode         café %zz
  pct decode -e 'caf%C3%A9%20noir'            café noir
  echo 'a%0Ab%2Fc' | pct decode               a%0Ab/c     (a line stays a line)
  echo 'a%2Fb%20c' | pct decode --keep /      a%2Fb c
  echo 'q=a+b' | pct decode --form            q=a b
  echo 'a%252Fb' | pct decode --times 2       a/b
  echo '%25252e%252e/' | pct decode --until-stable    ../
  echo '%C4%E3%BA%C3' | pct decode --charset gbk      你好
  echo '%u4F60%u597D%21' | pct decode --percent-u     你好!
  echo 'q=\\x22a%20b\\x22' | pct decode --nginx       q=\"a b\"
  echo 'a%20b%1B%5B2J' | pct decode --printable       a b%1B[2J
  echo 'http://a.com/50%25%20x?q=%2F' | pct decode --url    http://a.com/50% x?q=%2F
  echo '/a%20b?q=c%26d%20e' | pct decode --query            /a%20b?q=c%26d e
  echo '/a%20b%2F?q=c%20d' | pct decode --path              /a b%2F?q=c%20d
  pct decode --field 5.2 --printable access.log.gz -o plain.log.zst
  pct decode --log combined --only access.log | sort | uniq -c
  pct decode --csv --column url --into plain crawl.csv
  pct decode --in-place --diff urls.txt       what -i would change
  pct decode --csv --column url --until-stable --rejects bad.txt crawl.csv -o plain.csv
  pct decode --jsonl --key request.url --on-error drop --stats events.jsonl
  pct decode --raw blob.txt -o blob           %0A and %0D too
  pct decode --strict urls.txt -o plain.txt   all or nothing")]
pub struct Decode {
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

    /// Bytes whose escapes stay; %XX names one that is hard to type
    #[arg(long, value_name = "BYTES", value_parser = BytesParser, allow_hyphen_values = true)]
    pub keep: Vec<ByteSet>,

    /// Read "+" as a space
    #[arg(long)]
    pub form: bool,

    /// Decode a whole URL: the exact inverse of `encode --url`
    ///
    /// Reserved bytes stay escaped (RFC 3986, section 2.2), so that the parts of the URL stay what they are.
    #[arg(
        long,
        conflicts_with_all = ["keep", "form", "times", "until_stable", "nginx", "percent_u", "charset", "printable"]
    )]
    pub url: bool,

    /// Decode only in the query of a URL, names and values; what delimits them stays escaped
    #[arg(long, conflicts_with_all = ["url", "path"])]
    pub query: bool,

    /// Decode only in the path of a URL; an escaped "/" stays
    #[arg(long, conflicts_with = "url")]
    pub path: bool,

    #[command(flatten)]
    pub unwrap: Unwrap,
}

/// What else is undone when decoding.
#[derive(Debug, Args)]
pub struct Unwrap {
    /// Decode N times, which is what N runs do
    ///
    /// Only what is read is looked at for --strict; \xHH and %uXXXX are read once.
    #[arg(long, value_name = "N", default_value = "1", hide_default_value = true, value_parser = clap::value_parser!(u16).range(1..))]
    pub times: u16,

    /// Decode until nothing changes, in linear time: to see what is wrapped up
    ///
    /// Only what is read is looked at for --strict; \xHH and %uXXXX are read once. With --form, every "+" of
    /// whatever layer becomes a space.
    #[arg(long, conflicts_with = "times")]
    pub until_stable: bool,

    /// Undo \xHH, as nginx writes it in logs, before decoding
    ///
    /// With --jsonl, strings may have such escapes, as those of a `log_format` that writes JSON without `escape=json`.
    #[arg(long)]
    pub nginx: bool,

    /// Decode %uXXXX as well: UTF-16 code units, as `escape` of JavaScript writes them
    ///
    /// A surrogate without its other half stays. %XX next to it is a byte; `--charset latin1` reads it as
    /// `unescape` does.
    #[arg(long)]
    pub percent_u: bool,

    /// The decoded bytes are text in this charset: write it in UTF-8
    ///
    /// Bytes that mean nothing in the charset are written as escapes, so `--charset utf-8` decodes only what is UTF-8.
    /// Characters of --percent-u are left alone. Labels mean what they mean to browsers, so `iso-8859-1`, `latin1` and
    /// `us-ascii` are windows-1252; `iso-8859-1-strict` and `us-ascii-strict` are exact.
    #[arg(long, value_name = "LABEL", value_parser = CharsetParser, hide_possible_values = true)]
    pub charset: Option<Charset>,

    /// Leave nothing in the output that a terminal obeys: escape it again
    ///
    /// That is: C0 controls but for line ends, DEL, C1 controls, bytes that are not UTF-8, line and paragraph
    /// separators (U+2028, U+2029), and marks that turn the direction of text. Those that were not escaped in the
    /// input are escaped, too.
    #[arg(long)]
    pub printable: bool,
}

/// Spell escapes one way (RFC 3986, sections 6.2.2.1 and 6.2.2.2)
///
/// Escapes of unreserved bytes are decoded, and the digits of all other escapes are written in upper case. Nothing else
/// changes: not the case of scheme and host, nor dot segments, nor ports. With --profile, all of a URL gets a canonical form.
///
/// A URL that a profile refuses stays as it is; --rejects says where and why, and --on-error what else becomes of it.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  echo '/%7euser%2f' | pct normalize          /~user%2F
  pct normalize crawl.txt | sort -u -o unique.txt
  echo 'HTTP://A.com/a/../%7eb' | pct normalize --profile rfc3986    http://a.com/~b
  echo 'http://a.com:80' | pct normalize --profile rfc3986-scheme    http://a.com/
  echo 'http://a.com/?b=2&a=%31#c' | pct normalize --profile w3lib-2.5     http://a.com/?a=1&b=2
  pct normalize --list                        all profiles
  pct normalize --profile rfc3986-scheme --rejects bad.txt crawl.txt | sort -u
  pct normalize --profile whatwg --csv --column url --into key crawl.csv
  echo '/%28%7e%29' | pct normalize --dialect rfc2396     /(~)")]
pub struct Normalize {
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

    /// Write the canonical form by this profile
    ///
    /// A profile is versioned and never changes; no two give the same keys. `--list` says what each is.
    #[arg(long, value_name = "NAME", value_parser = ProfileParser, hide_possible_values = true)]
    pub profile: Option<Profile>,

    /// List the profiles
    #[arg(long, conflicts_with_all = ["profile", "files", "expression", "dialect"])]
    pub list: bool,

    /// The specification that says which bytes are unreserved, so that their escapes are decoded
    ///
    /// RFC 2396 has `! * ' ( )` as well, RFC 1738 also `$ + ,` and not `~`.
    #[arg(long, value_name = "NAME", default_value = "rfc3986", conflicts_with = "profile")]
    pub dialect: Unreserved,
}

/// A specification that has a set of unreserved bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Unreserved {
    Rfc3986,
    Rfc2396,
    Rfc1738,
}

/// What becomes of malformed escapes.
#[derive(Debug, Args)]
pub struct Strict {
    /// Stop at the first malformed escape, say where it is, and exit with 1
    #[arg(long, conflicts_with = "on_error")]
    pub strict: bool,
}

/// The bytes of all of `sets`.
fn all(sets: &[ByteSet]) -> ByteSet {
    sets.iter().fold(ByteSet::EMPTY, |all, set| all.union(*set))
}

/// The bytes that stay where `escaped` and all that are not ASCII are escaped.
fn kept(escaped: ByteSet) -> ByteSet {
    let ascii: Vec<u8> = (0..0x80).collect();
    ByteSet::EMPTY.add(&ascii).intersection(escaped.complement())
}

impl Encode {
    /// What is asked for.
    pub fn request(self) -> Request {
        if self.url {
            let verb = Verb::Rewrite(Arc::new(EncodeUrl));
            return self.pipe.request(verb, self.files, self.target, &self.records, false);
        }
        let verb = Verb::Encode(EncodeOptions {
            keep: self.escape.map_or(self.set.set.to_byte_set(), kept).union(all(&self.keep)),
            keep_escapes: self.keep_escapes,
            form: self.form,
            lower: self.lower,
            charset: self.charset,
        });
        self.pipe.request(verb, self.files, self.target, &self.records, false)
    }
}

impl Decode {
    /// What is asked for.
    pub fn request(self) -> Request {
        if self.url {
            let verb = Verb::Rewrite(Arc::new(DecodeUrl));
            return self.pipe.request(verb, self.files, self.target, &self.records, self.strict.strict);
        }
        let Unwrap { times, until_stable, nginx, percent_u, charset, printable } = self.unwrap;
        // What such a log has, and would be left in otherwise.
        let nginx = nginx || self.pipe.places.log.is_some_and(Log::is_nginx);
        let verb = Verb::Decode(DecodeOptions {
            keep: all(&self.keep),
            form: self.form,
            layers: if until_stable { Layers::UntilStable } else { Layers::Times(times) },
            nginx,
            percent_u,
            charset,
            printable,
            scope: match (self.query, self.path) {
                (true, _) => Some(Scope::Query),
                (_, true) => Some(Scope::Path),
                _ => None,
            },
        });
        self.pipe.request(verb, self.files, self.target, &self.records, self.strict.strict)
    }
}

impl Normalize {
    /// What is asked for.
    pub fn request(self) -> Request {
        // The profile of escapes has no need of whole URLs.
        let verb = match (self.profile.filter(|profile| *profile != Profile::Escapes), self.dialect) {
            (Some(profile), _) => Verb::Rewrite(Arc::new(Canonical(profile))),
            (None, Unreserved::Rfc3986) => Verb::Normalize(sets::RFC3986_UNRESERVED.to_byte_set()),
            (None, Unreserved::Rfc2396) => Verb::Normalize(sets::RFC2396_UNRESERVED.to_byte_set()),
            (None, Unreserved::Rfc1738) => Verb::Normalize(sets::RFC1738_UNRESERVED.to_byte_set()),
        };
        self.pipe.request(verb, self.files, self.target, &self.records, self.strict.strict)
    }
}
