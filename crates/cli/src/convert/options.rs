//! The options of conversions.

use std::sync::Arc;

use simdpct::ByteSet;

use crate::common::charset::Charset;
use crate::url::{Escapes, Rewrite};

/// The conversion of values that a command asks for.
#[derive(Clone, Debug)]
pub enum Verb {
    Encode(EncodeOptions),
    Decode(DecodeOptions),
    /// Decode the escapes of these bytes, and write all other escapes in upper case.
    Normalize(ByteSet),
    /// Rewrite whole URLs.
    Rewrite(Arc<dyn Rewrite>),
}

impl Verb {
    /// Returns the charset of the conversion, if it is not UTF-8.
    pub fn charset(&self) -> Option<Charset> {
        match self {
            Verb::Encode(options) => options.charset,
            Verb::Decode(options) => options.charset,
            Verb::Normalize(_) | Verb::Rewrite(_) => None,
        }
    }

    /// Reports whether keeping the escapes of the bytes `kept` can split characters, because the charset uses the
    /// bytes of visible ASCII as halves of characters.
    pub fn may_garble(&self, kept: ByteSet) -> bool {
        matches!(self, Verb::Decode(options) if options.charset.is_some_and(Charset::is_stateful))
            && (0x21..0x7F).any(|byte| kept.contains(byte))
    }

    /// Returns the bytes whose escapes stay because of `--keep`.
    pub fn kept(&self) -> ByteSet {
        if let Verb::Decode(options) = self { options.keep } else { ByteSet::EMPTY }
    }

    /// Reports whether a `%` is data like any other byte, so that no escape is malformed.
    pub fn has_no_escapes(&self) -> bool {
        matches!(self, Verb::Rewrite(rewrite) if rewrite.escapes() == Escapes::Data)
    }

    /// Returns the text for a value without a result: `null` if results are JSON.
    pub fn missing(&self) -> &'static [u8] {
        if let Verb::Rewrite(rewrite) = self { rewrite.missing() } else { b"" }
    }

    /// Reports whether bytes are converted independently of each other, except those of an escape, so that blocks of input can be
    /// converted that end inside records.
    pub fn is_bytewise(&self) -> bool {
        match self {
            Verb::Encode(options) => options.charset.is_none(),
            Verb::Decode(options) => options.is_plain() && options.scope.is_none(),
            Verb::Normalize(_) => true,
            Verb::Rewrite(_) => false,
        }
    }

    /// Reports whether the conversion needs a whole value at once.
    pub fn takes_whole_values(&self) -> bool {
        match self {
            Verb::Rewrite(_) => true,
            Verb::Decode(options) => {
                options.scope.is_some() || options.charset.is_some_and(Charset::is_guessed)
            }
            Verb::Encode(_) | Verb::Normalize(_) => false,
        }
    }
}

/// The options of encoding.
#[derive(Clone, Debug)]
pub struct EncodeOptions {
    /// The bytes that are not escaped.
    pub keep: ByteSet,
    /// Whether valid escapes stay.
    pub keep_escapes: bool,
    /// Whether a space becomes `+`.
    pub form: bool,
    /// Whether new escapes have lower-case digits.
    pub lower: bool,
    /// The charset whose bytes are escaped, if it is not UTF-8.
    pub charset: Option<Charset>,
}

/// The options of decoding, most of which are off by default.
#[derive(Clone, Debug)]
pub struct DecodeOptions {
    /// The bytes whose escapes stay.
    pub keep: ByteSet,
    /// Whether `+` becomes a space.
    pub form: bool,
    pub layers: Layers,
    /// Whether `%uXXXX` is decoded.
    pub percent_u: bool,
    /// The charset of the decoded bytes, if it is not UTF-8.
    pub charset: Option<Charset>,
    /// Whether everything that controls a terminal is escaped again.
    pub printable: bool,
    /// The part of a URL that is decoded; `None` for the whole value.
    pub scope: Option<Scope>,
}

impl DecodeOptions {
    /// Decodes every escape once, and does nothing else.
    pub const ONCE: DecodeOptions = DecodeOptions {
        keep: ByteSet::EMPTY,
        form: false,
        layers: Layers::Times(1),
        percent_u: false,
        charset: None,
        printable: false,
        scope: None,
    };

    /// Reports whether decoding once is the only step.
    pub fn is_plain(&self) -> bool {
        let DecodeOptions { layers, percent_u, charset, printable, .. } = *self;
        layers == Layers::Times(1) && !percent_u && charset.is_none() && !printable
    }
}

/// A part of a URL that can be decoded alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    Path,
    Query,
}

/// The number of times that a value is decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layers {
    Times(u16),
    UntilStable,
}
