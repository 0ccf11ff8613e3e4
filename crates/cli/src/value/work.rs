//! What is done to one value, whichever verb asks for it.

use simdpct::ByteSet;

use super::cut;
use super::decode::Decoder;
use super::encode::Encoder;
use super::handling::Handling;
use super::options::Verb;
use super::rewrite::Rewriter;
use super::within::Within;
use crate::ground::reason::Refusal;
use crate::ground::records::Records;

/// What is done to one value.
#[derive(Clone)]
pub enum Work {
    Encode(Box<Encoder>),
    Decode(Box<Decoder>),
    /// Decoding in a part of a URL.
    Within(Box<Within>),
    /// On whole URLs.
    Rewrite(Box<Rewriter>),
}

impl Work {
    /// Work on single values, which does not make the bytes of `structure`.
    pub fn on_values(verb: &Verb, structure: ByteSet) -> Work {
        Work::new(verb, structure, Records::Raw)
    }

    /// Work on pieces of several records, whose ends stay.
    pub fn across(verb: &Verb, records: Records) -> Work {
        Work::new(verb, records.structure(), records)
    }

    fn new(verb: &Verb, structure: ByteSet, records: Records) -> Work {
        match verb {
            Verb::Encode(options) => Work::Encode(Box::new(Encoder::new(options, records))),
            Verb::Decode(options) => match options.scope {
                Some(scope) => Work::Within(Box::new(Within::new(options, scope, structure))),
                None => Work::Decode(Box::new(Decoder::new(options, structure, records))),
            },
            Verb::Normalize(unreserved) => {
                Work::Decode(Box::new(Decoder::normalizer(*unreserved, structure)))
            }
            Verb::Rewrite(rewrite) => {
                Work::Rewrite(Box::new(Rewriter::new(rewrite.clone(), structure, records)))
            }
        }
    }

    /// Appends what becomes of `value` to `out`, and returns in how many layers it was escaped: how many times decoding
    /// it changed something. On a refusal `out` is unchanged.
    pub fn apply(&mut self, value: &[u8], handling: Handling, out: &mut Vec<u8>) -> Result<usize, Refusal> {
        let start = out.len();
        let result = match self {
            Work::Encode(encoder) => encoder.apply(value, handling.not_text, out).map(|()| 0),
            Work::Decode(decoder) => decoder.apply(value, handling, out),
            Work::Within(within) => within.apply(value, handling, out),
            Work::Rewrite(rewriter) => rewriter.apply(value, handling, out).map(|()| 0),
        };
        if result.is_err() {
            out.truncate(start);
        }
        result
    }

    /// The length of the `%uXXXX` at the start of `rest`, if that is read: of two, for the halves of a character.
    pub fn percent_u(&self, rest: &[u8]) -> Option<usize> {
        match self {
            Work::Decode(decoder) => decoder.percent_u(rest),
            Work::Within(within) => within.decoder.percent_u(rest),
            Work::Encode(_) | Work::Rewrite(_) => None,
        }
    }

    /// Whether a value without a "%" stays as it is.
    pub fn needs_percent(&self) -> bool {
        match self {
            Work::Encode(_) | Work::Rewrite(_) => false,
            Work::Decode(decoder) => decoder.needs_percent(),
            Work::Within(within) => within.decoder.needs_percent(),
        }
    }

    /// Whether it works byte by byte without regard to where values end, so that blocks can be used.
    pub fn is_blockwise(&self) -> bool {
        match self {
            Work::Encode(encoder) => encoder.is_blockwise(),
            Work::Decode(decoder) => decoder.is_plain(),
            Work::Within(_) | Work::Rewrite(_) => false,
        }
    }

    /// Whether it needs all of a value at once.
    pub fn takes_whole_values(&self) -> bool {
        matches!(self, Work::Within(_) | Work::Rewrite(_))
    }

    /// Where one value can be cut so that work on the parts, and what is said of them, is what it is of the whole: the
    /// last such place in `bytes`, if there is any.
    pub fn cut(&self, bytes: &[u8]) -> Option<usize> {
        if self.is_stateful() || self.takes_whole_values() {
            None
        } else if self.is_blockwise() {
            cut::between_escapes(bytes)
        } else {
            cut::anywhere(bytes)
        }
    }

    /// Whether it can be done to pieces of several records at once.
    pub fn takes_records(&self) -> bool {
        !matches!(self, Work::Within(_)) && !self.is_stateful()
    }

    /// Whether what a byte means depends on bytes before it, without limit, so that a value cannot be cut.
    pub fn is_stateful(&self) -> bool {
        let charset = match self {
            Work::Encode(encoder) => encoder.charset,
            Work::Decode(decoder) => decoder.charset,
            Work::Within(within) => within.decoder.charset,
            Work::Rewrite(_) => None,
        };
        charset.is_some_and(|charset| charset.is_stateful())
    }
}
