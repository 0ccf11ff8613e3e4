//! What can be asked of the work on a value.

use std::sync::Arc;

use simdpct::ByteSet;

use crate::ground::charset::Charset;
use crate::url::Rewrite;

/// What is done to values.
#[derive(Clone, Debug)]
pub enum Verb {
    Encode(EncodeOptions),
    Decode(DecodeOptions),
    /// Escapes of these bytes are decoded, and the others written in upper case.
    Normalize(ByteSet),
    /// Whole URLs become something else.
    Rewrite(Arc<dyn Rewrite>),
}

impl Verb {
    /// The charset, if there is one.
    pub fn charset(&self) -> Option<Charset> {
        match self {
            Verb::Encode(options) => options.charset,
            Verb::Decode(options) => options.charset,
            Verb::Normalize(_) | Verb::Rewrite(_) => None,
        }
    }

    /// Whether keeping the escapes of these bytes could tear characters apart, because in its charset the bytes of visible
    /// ASCII are halves of characters, too.
    pub fn may_garble(&self, kept: ByteSet) -> bool {
        matches!(self, Verb::Decode(options) if options.charset.is_some_and(Charset::is_stateful))
            && (0x21..0x7F).any(|byte| kept.contains(byte))
    }

    /// The bytes whose escapes were asked to stay.
    pub fn kept(&self) -> ByteSet {
        if let Verb::Decode(options) = self { options.keep } else { ByteSet::EMPTY }
    }

    /// Whether `\xHH` is read as nginx writes it.
    pub fn is_nginx(&self) -> bool {
        matches!(self, Verb::Decode(options) if options.nginx)
    }

    /// Whether it may make quotes, brackets and delimiters that it was told not to make, or unveil some: a charset may
    /// have them as parts of other characters, and encoding may take away the backslash before one that stays.
    pub fn may_make_structure(&self) -> bool {
        match self {
            Verb::Encode(_) | Verb::Rewrite(_) => true,
            Verb::Decode(options) => options.charset.is_some(),
            Verb::Normalize(_) => false,
        }
    }

    /// Whether it needs all of a value at once.
    pub fn takes_whole_values(&self) -> bool {
        match self {
            Verb::Rewrite(_) => true,
            Verb::Decode(options) => options.scope.is_some(),
            Verb::Encode(_) | Verb::Normalize(_) => false,
        }
    }
}

/// How to encode.
#[derive(Clone, Debug)]
pub struct EncodeOptions {
    /// The bytes that stay as they are.
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

/// How to decode. Most of it is off unless asked for.
#[derive(Clone, Debug)]
pub struct DecodeOptions {
    /// The bytes whose escapes stay.
    pub keep: ByteSet,
    /// Whether `+` is a space.
    pub form: bool,
    pub layers: Layers,
    /// Whether `\xHH` is undone first.
    pub nginx: bool,
    /// Whether `%uXXXX` is read.
    pub percent_u: bool,
    /// The charset of the decoded bytes.
    pub charset: Option<Charset>,
    /// Whether what a terminal obeys is escaped again.
    pub printable: bool,
    /// The part of a URL that is decoded, if it is not all of the value.
    pub scope: Option<Scope>,
}

/// A part of a URL that is decoded by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    Path,
    Query,
}

/// How often to decode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layers {
    Times(u16),
    UntilStable,
}
