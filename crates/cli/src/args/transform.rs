//! The arguments of the commands that convert values: encode, decode, normalize.

use clap::Args as Options;
use clap::builder::{OsStringValueParser, TypedValueParser};
use simdpct::{ByteSet, NamedSet, sets};
use simdpct_uri::Dialect;

use super::options::{
    Args, CharsetArg, Controls, DialectArg, Input, Kept, Output, Places, ProfileArg, Strict, Written,
};
use super::parsers::{HASHES, KEPT_SET, byte_set, choice, escaped_set};
use crate::common::charset::Charset;
use crate::common::records::Records;
use crate::convert::decode::{DecodeOptions, Decoder, Layers};
use crate::convert::encode::{EncodeOptions, Encoder};
use crate::convert::parts::{Normalizer, UrlPart, UrlPartDecoder};
use crate::convert::{Conversion, Escapes};
use crate::url::canonical::{Fingerprint, Hash};
use crate::url::convert::{DecodeUrl, EncodeUrl};
use crate::url::ext_value::ExtValue;

/// Write bytes outside a set as escapes
#[derive(Debug, Options)]
#[command(after_long_help = include_str!("examples/encode.txt").trim_ascii_end())]
pub struct Encode {
    /// Keep the bytes of this set as they are, and escape all others; `pct sets` lists the names
    #[arg(
        long, value_name = "NAME", default_value = "rfc3986-unreserved", hide_possible_values = true, value_parser = KEPT_SET,
        conflicts_with_all = ["url", "ext_value"]
    )]
    pub set: &'static NamedSet,

    #[command(flatten)]
    pub kept: Kept,

    /// Escape exactly these bytes, and all bytes that are not ASCII
    ///
    /// This is the opposite of --set. The name of a set, such as `rfc1738-unsafe`, stands for its bytes; anything
    /// else is a list of bytes, in which %XX names a byte that is hard to type.
    #[arg(
        long, value_name = "BYTES|NAME", value_parser = OsStringValueParser::new().map(|text| escaped_set(&text)),
        allow_hyphen_values = true, conflicts_with_all = ["set", "url", "ext_value"]
    )]
    pub escape: Option<ByteSet>,

    /// Leave valid escapes alone, and escape only a "%" that starts none: encoding twice changes nothing
    #[arg(long, conflicts_with_all = ["url", "form", "ext_value"])]
    pub keep_escapes: bool,

    /// Write new escapes with lower-case digits
    #[arg(long, conflicts_with_all = ["url", "ext_value"], hide_short_help = true)]
    pub lower: bool,

    #[command(flatten)]
    pub charset: CharsetArg,
    #[command(flatten)]
    pub input: Input,
    #[command(flatten)]
    pub places: Places,
    #[command(flatten)]
    pub output: Output,
    #[command(flatten)]
    pub written: Written,
}

/// Replace each escape by its byte, once
///
/// A "%" that is not followed by two hexadecimal digits stays as it is, unless --strict is given.
///
/// The steps run in this order, whatever the order of the options: --unescape; escapes, with --percent-u, --times and
/// --until-stable; --charset; --printable. The bytes of --keep stay escaped in each step, and so do line ends,
/// except in cells of CSV and in JSON.
#[derive(Debug, Options)]
#[command(after_long_help = include_str!("examples/decode.txt").trim_ascii_end())]
pub struct Decode {
    #[command(flatten)]
    pub kept: Kept,

    /// Decode only the escapes of these bytes; %XX names a byte that is hard to type
    ///
    /// VCF escapes `:;=%,`, CR, LF and tabs; GFF3 escapes `;=&,%`, tabs and other controls. Line ends stay escaped in lines.
    #[arg(
        long, value_name = "BYTES", value_parser = OsStringValueParser::new().map(|text| byte_set(&text)), allow_hyphen_values = true,
        hide_short_help = true, conflicts_with_all = ["keep", "url", "percent_u", "ext_value"]
    )]
    pub bytes: Option<ByteSet>,

    /// Decode only the names and values in the query of a URL; delimiters stay escaped
    #[arg(long, conflicts_with_all = ["url", "path", "ext_value"], hide_short_help = true)]
    pub query: bool,

    /// Decode only the path of a URL; an escaped "/" or "\" stays
    #[arg(long, conflicts_with_all = ["url", "ext_value"], hide_short_help = true)]
    pub path: bool,

    /// Decode N times in one run
    ///
    /// The result is that of N runs, except that --strict, --on-malformed and --rejects look only at the escapes of the first layer,
    /// `--charset auto` decides once, and %uXXXX and the escapes of --unescape are read once.
    #[arg(
        long, value_name = "N", default_value = "1", hide_default_value = true, hide_short_help = true, conflicts_with_all = ["url", "ext_value"],
        value_parser = clap::value_parser!(u16).range(1..)
    )]
    pub times: u16,

    /// Decode until nothing changes, in linear time, to reveal values that are escaped several times
    ///
    /// --strict, --on-malformed and --rejects look only at the escapes of the first layer; %uXXXX is read once. With --form, a "+" in
    /// any layer becomes a space.
    #[arg(long, conflicts_with_all = ["times", "url", "ext_value"])]
    pub until_stable: bool,

    /// Decode %uXXXX as well: UTF-16 code units, as JavaScript's `escape` writes them
    ///
    /// A surrogate without its other half stays as it is. A %XX is still a byte; with `--charset latin1` the result is that of
    /// JavaScript's `unescape`.
    #[arg(long, conflicts_with = "ext_value", hide_short_help = true)]
    pub percent_u: bool,

    #[command(flatten)]
    pub charset: CharsetArg,

    /// Escape everything in the values that controls a terminal
    ///
    /// These are C0 controls other than line ends, DEL, C1 controls, invalid UTF-8, line and paragraph separators
    /// (U+2028, U+2029), and characters that change the direction of text. They are escaped even if they were not
    /// escaped in the input. Other parts of records, such as the fields that --field does not name, are copied as they are.
    #[arg(long, conflicts_with_all = ["url", "ext_value"])]
    pub printable: bool,

    #[command(flatten)]
    pub controls: Controls,
    #[command(flatten)]
    pub args: Args,
}

/// Write equivalent escapes in one way (RFC 3986, sections 6.2.2.1 and 6.2.2.2)
///
/// Escapes of unreserved bytes are decoded, and the digits of all other escapes are written in upper case. Nothing
/// else changes: neither the case of scheme and host, nor dot segments, nor ports. With --profile, the whole URL is
/// brought into a canonical form.
///
/// A URL that the profile rejects stays as it is, and is counted on stderr; --rejects says where and why, and
/// --on-rejected chooses another policy.
#[derive(Debug, Options)]
#[command(after_long_help = include_str!("examples/normalize.txt").trim_ascii_end())]
pub struct Normalize {
    #[command(flatten)]
    pub profile: ProfileArg,

    /// List the values of --profile or --reading, with descriptions
    #[arg(long, exclusive = true)]
    pub list: bool,

    /// Write the fingerprint of the canonical form instead of the form, in hexadecimal digits
    #[arg(long, value_name = "NAME", requires = "profile", value_parser = choice(HASHES))]
    pub hash: Option<Hash>,

    #[command(flatten)]
    pub dialect: DialectArg,
    #[command(flatten)]
    pub args: Args,
}

/// Returns the union of `sets`.
fn all(sets: &[ByteSet]) -> ByteSet {
    sets.iter().fold(ByteSet::EMPTY, |all, set| all.union(*set))
}

/// Returns the ASCII bytes outside `escaped`.
fn kept(escaped: ByteSet) -> ByteSet {
    ByteSet::NON_ASCII.union(escaped).complement()
}

/// Returns `charset`, or an error message if it cannot be the charset of escapes in URLs.
fn url_charset(charset: Option<Charset>) -> Result<Option<Charset>, String> {
    if charset.is_some_and(Charset::is_stateful) {
        return Err("--charset iso-2022-jp spells characters with bytes that separate the parts of \
             a URL as well; remove --url"
            .to_owned());
    }
    Ok(charset)
}

/// Returns the conversion of values of header parameters, or an error message if there is a `charset`.
fn ext_value(conversion: ExtValue, charset: Option<Charset>) -> Result<Conversion, String> {
    match charset {
        None => Ok(Conversion::of_urls(conversion, Escapes::Copied)),
        Some(_) => {
            Err("--charset cannot be used with --ext-value, whose values name their charset".to_owned())
        }
    }
}

impl Encode {
    /// Returns the conversion, or an error message.
    pub fn conversion(&self) -> Result<Conversion, String> {
        let charset = self.charset.charset;
        if charset.is_some_and(Charset::is_guessed) {
            return Err("--charset auto decodes; name the charset to encode in".to_owned());
        }
        if self.kept.ext_value {
            return ext_value(ExtValue::Encode, charset);
        }
        if self.kept.url {
            let charset = url_charset(charset)?;
            return Ok(Conversion::of_urls(EncodeUrl { charset }, Escapes::Data));
        }
        let keep = all(&self.kept.keep);
        let is_none_escaped =
            self.escape.is_some_and(|bytes| !bytes.is_empty() && bytes.difference(keep).is_empty());
        let conflicts = [
            (
                self.kept.form && (keep.contains(b' ') || keep.contains(b'+')),
                "--form writes + for a space, and %2B for +",
            ),
            (self.keep_escapes && keep.contains(b'%'), "--keep-escapes escapes each % that starts no escape"),
            (
                charset.is_some_and(|known| known != Charset::UTF_8) && !keep.is_ascii(),
                "with --charset, only ASCII bytes can be kept",
            ),
            (is_none_escaped, "no byte of --escape would be escaped"),
        ];
        if let Some((_, message)) = conflicts.into_iter().find(|(applies, _)| *applies) {
            return Err(format!("--keep: {message}"));
        }
        Ok(Conversion::new(Encoder::new(EncodeOptions {
            keep: self.escape.map_or(self.set.set.to_byte_set(), kept).union(keep),
            keep_escapes: self.keep_escapes,
            form: self.kept.form,
            lower: self.lower,
            charset,
        })))
    }

    /// Returns the options that are not about the conversion. `encode` has no options for malformed escapes.
    pub fn args(self) -> Args {
        let Encode { input, places, output, written, .. } = self;
        Args { input, places, output, written, strict: Strict::default() }
    }
}

impl Decode {
    /// Returns the conversion, or an error message.
    pub fn conversion(&self) -> Result<Conversion, String> {
        let is_escaped = self.controls.are_escaped(&self.args);
        let charset = self.charset.charset;
        if self.kept.ext_value {
            return Ok(ext_value(ExtValue::Decode, charset)?.printable(is_escaped));
        }
        if self.kept.url {
            let charset = url_charset(charset)?;
            let decode = DecodeUrl { charset, percent_u: self.percent_u };
            return Ok(Conversion::of_urls(decode, Escapes::Decoded).printable(is_escaped));
        }
        let options = DecodeOptions {
            keep: self.bytes.map_or_else(|| all(&self.kept.keep), |bytes| bytes.complement()),
            form: self.kept.form,
            layers: if self.until_stable { Layers::UntilStable } else { Layers::Times(self.times) },
            percent_u: self.percent_u,
            charset,
            printable: self.printable || is_escaped,
        };
        Ok(match (self.query, self.path) {
            (true, _) => Conversion::new(UrlPartDecoder::new(options, UrlPart::Query)),
            (_, true) => Conversion::new(UrlPartDecoder::new(options, UrlPart::Path)),
            _ => Conversion::new(Decoder::new(options)),
        })
    }
}

impl Normalize {
    /// Returns the conversion, or an error message.
    pub fn conversion(&self) -> Result<Conversion, String> {
        let dialect = self.dialect.dialect;
        match (self.profile.canonical()?, self.hash) {
            (Some(_), _) if dialect.is_some() => {
                return Err("--profile names the form of the whole URL; remove --dialect".to_owned());
            }
            (Some(canonical), Some(hash)) => {
                return Ok(Conversion::of_urls(Fingerprint(canonical, hash), Escapes::Copied));
            }
            (Some(canonical), None) => return Ok(Conversion::of_urls(canonical, Escapes::Copied)),
            (None, _) => {}
        }
        let unreserved = match dialect {
            Some(Dialect::Rfc2396) => sets::RFC2396_UNRESERVED,
            Some(Dialect::Rfc1738) => sets::RFC1738_UNRESERVED,
            _ => sets::RFC3986_UNRESERVED,
        }
        .to_byte_set();
        // With --raw, the input is not a URL, so escapes need not stay to prevent a new scheme.
        Ok(match self.args.records() {
            Records::Raw => Conversion::new(Decoder::normalizer(unreserved)),
            _ => Conversion::new(Normalizer::new(unreserved)),
        })
    }
}
