//! The arguments of the commands that convert values: encode, decode, normalize.

use clap::{Args, ValueEnum};
use simdpct::{ByteSet, NamedSet, sets};
use simdpct_uri::canon::Profile;

use super::parsers::{BytesParser, CharsetParser, EscapeParser, ProfileParser, SetParser};
use super::values::{Pipe, StrictPipe};
use crate::common::charset::Charset;
use crate::common::records::Records;
use crate::convert::decode::{DecodeOptions, Decoder, Layers};
use crate::convert::encode::{EncodeOptions, Encoder};
use crate::convert::parts::{Normalizer, UrlPart, UrlPartDecoder};
use crate::plan::Request;
use crate::url::Rewriting;
use crate::url::canonical::{Canonical, Fingerprint, Hash};
use crate::url::convert::{DecodeUrl, EncodeUrl};

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
  echo 'http://a.ru/?q=Да нет' | pct encode --url --charset koi8-r
                                              http://a.ru/?q=%E4%C1%20%CE%C5%D4
  echo 'http://a.com/50% x?q=%2F' | pct encode --url        http://a.com/50%25%20x?q=%2F
  head -c 16 /dev/urandom | pct encode --raw  any bytes, newlines too

A \"\\r\" that is not directly before \"\\n\" is data and is escaped.")]
pub struct Encode {
    #[command(flatten)]
    pub pipe: Pipe,

    /// Keep the bytes of this set as they are, and escape all others; `pct sets` lists the names
    #[arg(long, value_name = "NAME", default_value = "rfc3986-unreserved", hide_possible_values = true, value_parser = SetParser::POLICIES)]
    pub set: &'static NamedSet,

    /// Escape exactly these bytes, and all bytes that are not ASCII
    ///
    /// This is the opposite of --set. The name of a set, such as `rfc1738-unsafe`, stands for its bytes; anything
    /// else is a list of bytes, in which %XX names a byte that is hard to type.
    #[arg(long, value_name = "BYTES|NAME", value_parser = EscapeParser, allow_hyphen_values = true, conflicts_with = "set")]
    pub escape: Option<ByteSet>,

    /// Keep these bytes as well; %XX names a byte that is hard to type
    #[arg(long, value_name = "BYTES", value_parser = BytesParser, allow_hyphen_values = true)]
    pub keep: Vec<ByteSet>,

    /// Leave valid escapes alone, and escape only a "%" that starts none: encoding twice changes nothing
    #[arg(long)]
    pub keep_escapes: bool,

    /// Write a space as "+", and escape "+"; together with `--set whatwg-form`, this is the URL Standard's form
    /// encoding
    #[arg(long, conflicts_with = "keep_escapes")]
    pub form: bool,

    /// Encode a whole URL: keep its syntax, and escape only bytes that no URL may contain
    ///
    /// Reserved bytes and their escapes stay (RFC 3986, section 2.2); every other "%" is data and is escaped. `decode
    /// --url` is the exact inverse.
    #[arg(long, conflicts_with_all = ["set", "escape", "keep", "keep_escapes", "form", "lower"])]
    pub url: bool,

    /// Write new escapes with lower-case digits
    #[arg(long)]
    pub lower: bool,

    /// Escape the bytes of the text in this charset instead of UTF-8
    ///
    /// With --url, the host stays in UTF-8. A character that the charset lacks is written in the way of browsers:
    /// %26%23, its number, %3B. Input bytes that are invalid UTF-8 are escaped unchanged. Labels mean what they mean to
    /// browsers, so `iso-8859-1`, `latin1` and `us-ascii` are windows-1252; `iso-8859-1-strict` and `us-ascii-strict`
    /// are exact.
    #[arg(long, value_name = "LABEL", value_parser = CharsetParser::LABEL, hide_possible_values = true)]
    pub charset: Option<Charset>,
}

/// Replace each escape by its byte, once
///
/// A "%" that is not followed by two hexadecimal digits stays as it is, unless --strict is given.
///
/// The steps run in this order, whatever the order of the options: --unescape; escapes, with --percent-u, --times and
/// --until-stable; --charset; --printable. The bytes of --keep, and line ends, stay escaped in each step.
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
  pct decode --charset auto -e 'caf%C3%A9' -e 'caf%E9'    café café
  pct decode --url --charset auto:gbk -e '/%E4%BD%A0?q=%C4%E3'     /你?q=你
  echo '%u4F60%u597D%21' | pct decode --percent-u     你好!
  echo 'q=\\x22a%20b\\x22' | pct decode --unescape nginx    q=\"a b\"
  echo 'a%20b%1B%5B2J' | pct decode --printable       a b%1B[2J
  echo 'http://a.com/50%25%20x?q=%2F' | pct decode --url    http://a.com/50% x?q=%2F
  echo '/a%20b?q=c%26d%20e' | pct decode --query            /a%20b?q=c%26d e
  echo '/a%20b%2F?q=c%20d' | pct decode --path              /a b%2F?q=c%20d
  pct decode --field 7 --printable access.log.gz -o plain.log.zst
  pct decode --log combined --values access.log | sort | uniq -c
  pct decode --csv --column url --into plain crawl.csv
  pct decode --in-place --diff urls.txt       what -i would change
  pct decode --csv --column url --until-stable --rejects bad.txt crawl.csv -o plain.csv
  pct decode --jsonl --key request.url --on-malformed drop --stats events.jsonl
  pct decode --html --keep '&#?' -e '<a href=\"caf%C3%A9?a%26b\">'   <a href=\"café?a%26b\">
  pct decode --raw blob.txt -o blob           %0A and %0D too
  pct decode --strict urls.txt -o plain.txt   all or nothing")]
pub struct Decode {
    #[command(flatten)]
    pub pipe: StrictPipe,

    /// Keep the escapes of these bytes; %XX names a byte that is hard to type
    #[arg(long, value_name = "BYTES", value_parser = BytesParser, allow_hyphen_values = true)]
    pub keep: Vec<ByteSet>,

    /// Read "+" as a space
    #[arg(long)]
    pub form: bool,

    /// Decode a whole URL: the exact inverse of `encode --url`
    ///
    /// Reserved bytes stay escaped (RFC 3986, section 2.2), so that the URL still has the same parts.
    #[arg(
        long,
        conflicts_with_all = ["keep", "form", "times", "until_stable", "percent_u", "printable"]
    )]
    pub url: bool,

    /// Decode only the names and values in the query of a URL; delimiters stay escaped
    #[arg(long, conflicts_with_all = ["url", "path"])]
    pub query: bool,

    /// Decode only the path of a URL; an escaped "/" stays
    #[arg(long, conflicts_with = "url")]
    pub path: bool,

    #[command(flatten)]
    pub unwrap: Unwrap,
}

/// The options that undo further layers of encoding.
#[derive(Debug, Args)]
pub struct Unwrap {
    /// Decode N times, with the same result as N runs
    ///
    /// --strict checks only the first layer; %uXXXX is read once.
    #[arg(long, value_name = "N", default_value = "1", hide_default_value = true, value_parser = clap::value_parser!(u16).range(1..))]
    pub times: u16,

    /// Decode until nothing changes, in linear time, to reveal values that are escaped several times
    ///
    /// --strict checks only the first layer; %uXXXX is read once. With --form, a "+" in any
    /// layer becomes a space.
    #[arg(long, conflicts_with = "times")]
    pub until_stable: bool,

    /// Decode %uXXXX as well: UTF-16 code units, as JavaScript's `escape` writes them
    ///
    /// A surrogate without its other half stays as it is. A %XX next to it is a byte; with `--charset latin1` the
    /// result is that of JavaScript's `unescape`.
    #[arg(long)]
    pub percent_u: bool,

    /// Read the decoded bytes as text in this charset, and write it as UTF-8
    ///
    /// Bytes that are invalid in the charset are written as escapes, so `--charset utf-8` decodes only valid UTF-8. With --url,
    /// the host is in UTF-8. `auto` decodes a value as UTF-8 if it is valid UTF-8, and otherwise as windows-1252;
    /// `auto:LABEL` names another charset for that. With --url, --path or --query, each segment of the path and each name and value of
    /// the query is such a value; without them, it is the whole line, field or cell. Characters that --percent-u decodes are not converted. Labels mean what they mean to browsers, so
    /// `iso-8859-1`, `latin1` and `us-ascii` are windows-1252; `iso-8859-1-strict` and `us-ascii-strict` are exact.
    #[arg(long, value_name = "LABEL", value_parser = CharsetParser::LABEL_OR_AUTO, hide_possible_values = true)]
    pub charset: Option<Charset>,

    /// Escape everything in the output that controls a terminal
    ///
    /// These are C0 controls other than line ends, DEL, C1 controls, invalid UTF-8, line and paragraph separators
    /// (U+2028, U+2029), and characters that change the direction of text. They are escaped even if they were not
    /// escaped in the input.
    #[arg(long)]
    pub printable: bool,
}

/// Write equivalent escapes in one way (RFC 3986, sections 6.2.2.1 and 6.2.2.2)
///
/// Escapes of unreserved bytes are decoded, and the digits of all other escapes are written in upper case. Nothing
/// else changes: neither the case of scheme and host, nor dot segments, nor ports. With --profile, the whole URL is
/// brought into a canonical form.
///
/// A URL that the profile rejects stays as it is, and is counted on stderr; --rejects says where and why, and
/// --on-rejected chooses another policy.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  echo '/%7euser%2f' | pct normalize          /~user%2F
  pct normalize crawl.txt | sort -u -o unique.txt
  echo 'HTTP://A.com/a/../%7eb' | pct normalize --profile rfc3986    http://a.com/~b
  echo 'http://a.com:80' | pct normalize --profile rfc3986-scheme    http://a.com/
  echo 'http://a.com/?b=2&a=%31#c' | pct normalize --profile w3lib-2.5     http://a.com/?a=1&b=2
  pct normalize --profile rfc3986 --hash xxh3 -e 'HTTP://A.com/'     the hash of http://a.com/
  pct normalize --list                        lists all profiles
  pct normalize --profile rfc3986-scheme --rejects bad.txt crawl.txt | sort -u
  pct normalize --profile rfc3986-scheme --csv --column url --into key crawl.csv
  pct normalize --html -e '<a href=\"/%7e?a&amp;b\">'      <a href=\"/~?a&amp;b\">
  echo '/%28%7e%29' | pct normalize --dialect rfc2396     /(~)")]
pub struct Normalize {
    #[command(flatten)]
    pub pipe: StrictPipe,

    /// Write the canonical form by this profile
    ///
    /// A profile is versioned and never changes, and no two profiles give the same keys. `--list` describes each.
    #[arg(long, value_name = "NAME", value_parser = ProfileParser, hide_possible_values = true)]
    pub profile: Option<Profile>,

    /// Write the fingerprint of the canonical form instead of the form, in hexadecimal digits
    #[arg(long, value_name = "NAME", requires = "profile")]
    pub hash: Option<HashName>,

    /// List the profiles
    #[arg(long, conflicts_with_all = ["profile", "files", "expression", "dialect"])]
    pub list: bool,

    /// The specification that defines the unreserved bytes, whose escapes are decoded
    ///
    /// RFC 2396 adds `! * ' ( )`; RFC 1738 also adds `$ + ,` and omits `~`.
    #[arg(long, value_name = "NAME", default_value = "rfc3986", conflicts_with = "profile")]
    pub dialect: Unreserved,
}

/// A hash function for fingerprints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum HashName {
    /// 64 bits, the fastest; not for data that somebody may choose to collide
    Xxh3,
    /// 128 bits, as fast
    #[value(name = "xxh3-128")]
    Xxh3128,
    /// 160 bits, cryptographic but broken
    Sha1,
    /// 256 bits, cryptographic
    Sha256,
}

impl From<HashName> for Hash {
    fn from(name: HashName) -> Hash {
        match name {
            HashName::Xxh3 => Hash::Xxh3,
            HashName::Xxh3128 => Hash::Xxh3_128,
            HashName::Sha1 => Hash::Sha1,
            HashName::Sha256 => Hash::Sha256,
        }
    }
}

/// A specification that defines a set of unreserved bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Unreserved {
    Rfc3986,
    Rfc2396,
    Rfc1738,
}

/// Returns the union of `sets`.
fn all(sets: &[ByteSet]) -> ByteSet {
    sets.iter().fold(ByteSet::EMPTY, |all, set| all.union(*set))
}

/// Returns the ASCII bytes outside `escaped`.
fn kept(escaped: ByteSet) -> ByteSet {
    let ascii: Vec<u8> = (0..0x80).collect();
    ByteSet::EMPTY.add(&ascii).intersection(escaped.complement())
}

/// Returns an error message if escapes in URLs cannot be in `charset`.
fn check_url_charset(charset: Option<Charset>) -> Result<(), String> {
    match charset {
        Some(charset) if charset.is_stateful() => {
            Err("--charset iso-2022-jp spells characters with bytes that separate the parts of \
             a URL as well; remove --url"
                .to_owned())
        }
        _ => Ok(()),
    }
}

impl Encode {
    /// Converts the arguments to a request, or returns an error message.
    pub fn request(self) -> Result<Request, String> {
        if self.url {
            check_url_charset(self.charset)?;
            return Ok(self.pipe.request(Rewriting::new(EncodeUrl { charset: self.charset })));
        }
        let options = EncodeOptions {
            keep: self.escape.map_or(self.set.set.to_byte_set(), kept).union(all(&self.keep)),
            keep_escapes: self.keep_escapes,
            form: self.form,
            lower: self.lower,
            charset: self.charset,
        };
        Ok(self.pipe.request(Encoder::new(options)))
    }
}

impl Decode {
    /// Converts the arguments to a request, or returns an error message.
    pub fn request(self) -> Result<Request, String> {
        if self.url {
            check_url_charset(self.unwrap.charset)?;
            return Ok(self.pipe.rewrite(DecodeUrl { charset: self.unwrap.charset }));
        }
        let Unwrap { times, until_stable, percent_u, charset, printable } = self.unwrap;
        let options = DecodeOptions {
            keep: all(&self.keep),
            form: self.form,
            layers: if until_stable { Layers::UntilStable } else { Layers::Times(times) },
            percent_u,
            charset,
            printable,
        };
        Ok(match (self.query, self.path) {
            (true, _) => self.pipe.request(UrlPartDecoder::new(options, UrlPart::Query)),
            (_, true) => self.pipe.request(UrlPartDecoder::new(options, UrlPart::Path)),
            _ => self.pipe.request(Decoder::new(options)),
        })
    }
}

impl Normalize {
    /// Converts the arguments to a request.
    pub fn request(self) -> Request {
        if let (Some(profile), Some(hash)) = (self.profile, self.hash) {
            return self.pipe.rewrite(Fingerprint(profile, hash.into()));
        }
        if let Some(profile) = self.profile {
            return self.pipe.rewrite(Canonical(profile));
        }
        let unreserved = match self.dialect {
            Unreserved::Rfc3986 => sets::RFC3986_UNRESERVED,
            Unreserved::Rfc2396 => sets::RFC2396_UNRESERVED,
            Unreserved::Rfc1738 => sets::RFC1738_UNRESERVED,
        }
        .to_byte_set();
        // A text without records is no URL.
        match self.pipe.pipe.records.records() {
            Records::Raw => self.pipe.request(Decoder::normalizer(unreserved)),
            _ => self.pipe.request(Normalizer::new(unreserved)),
        }
    }
}
