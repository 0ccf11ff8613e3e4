//! Selects the conversion of a value for each command.

use simdpct::ByteSet;
use simdpct_records::Kind;

use super::decode::Decoder;
use super::encode::Encoder;
use super::normalize::Normalizer;
use super::options::Verb;
use super::rewrite::Rewriter;
use super::within::Within;
use crate::common::charset::Charset;
use crate::common::fault::Handling;
use crate::common::reason::Refusal;
use crate::common::records::Records;
use crate::url::Escapes;

/// The conversion of a value.
#[derive(Clone)]
pub enum Work {
    Encode(Box<Encoder>),
    Decode(Box<Decoder>),
    Normalize(Box<Normalizer>),
    /// Decodes a part of a URL.
    Within(Box<Within>),
    /// Rewrites whole URLs.
    Rewrite(Box<Rewriter>),
}

/// The conversions of values for the syntaxes around them, which differ in the bytes that must stay escaped.
#[derive(Clone)]
pub struct Works {
    verb: Verb,
    records: Records,
    /// The conversions that were needed so far, with the bytes that they keep escaped. The first is for the usual syntax.
    known: Vec<(ByteSet, Work)>,
    /// The references that values are relative to.
    bases: Vec<Vec<u8>>,
}

impl Works {
    /// Creates the conversions of single values by `verb` in `records`. The bytes of `usual` stay escaped in the usual syntax.
    pub fn new(verb: &Verb, usual: ByteSet, records: Records) -> Works {
        let known = vec![(usual, Work::on_values(verb, usual, records))];
        Works { verb: verb.clone(), records, known, bases: Vec::new() }
    }

    /// Returns the conversion for the usual syntax.
    pub fn usual(&self) -> &Work {
        &self.known[0].1
    }

    /// Returns the conversion that keeps the bytes of `kept` escaped, or that for the usual syntax.
    #[inline]
    pub fn at(&mut self, kept: Option<ByteSet>) -> &mut Work {
        let number = match kept {
            None => 0,
            Some(kept) => {
                let known = self.known.iter().position(|(other, _)| *other == kept);
                known.unwrap_or_else(|| self.add(kept))
            }
        };
        &mut self.known[number].1
    }

    /// Creates the conversion that keeps the bytes of `kept` escaped, and returns its number.
    #[cold]
    fn add(&mut self, kept: ByteSet) -> usize {
        let mut work = Work::on_values(&self.verb, kept, self.records);
        self.bases.iter().for_each(|reference| _ = work.enter_base(reference));
        self.known.push((kept, work));
        self.known.len() - 1
    }

    /// Makes the following values relative to `reference`, if the conversion resolves references. Returns whether it does.
    pub fn enter_base(&mut self, reference: &[u8]) -> bool {
        let is_entered = self.known.iter_mut().all(|(_, work)| work.enter_base(reference));
        if is_entered {
            self.bases.push(reference.to_vec());
        }
        is_entered
    }

    /// Undoes the last call of [`Works::enter_base`] that returned true.
    pub fn leave_base(&mut self) {
        self.bases.pop();
        self.known.iter_mut().for_each(|(_, work)| work.leave_base());
    }
}

impl Work {
    /// Creates the conversion of single values in `records`. The bytes of `structure` stay escaped.
    pub fn on_values(verb: &Verb, structure: ByteSet, records: Records) -> Work {
        match verb {
            Verb::Normalize(unreserved) if records != Records::Raw => {
                Work::Normalize(Box::new(Normalizer::new(*unreserved, structure, None)))
            }
            verb => Work::new(verb, structure, Records::Raw),
        }
    }

    /// Creates the conversion of texts that contain several records, whose ends stay.
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
            // A text without records is no URL.
            Verb::Normalize(unreserved) if records == Records::Raw => {
                Work::Decode(Box::new(Decoder::normalizer(*unreserved, structure)))
            }
            Verb::Normalize(unreserved) => {
                Work::Normalize(Box::new(Normalizer::new(*unreserved, structure, Some(records.end()))))
            }
            Verb::Rewrite(rewrite) => {
                Work::Rewrite(Box::new(Rewriter::new(rewrite.clone(), structure, records)))
            }
        }
    }

    /// Converts a value, or several, without a syntax of their own. See [`Work::apply_as`].
    pub fn apply(&mut self, value: &[u8], handling: Handling, out: &mut Vec<u8>) -> Result<usize, Refusal> {
        self.apply_as(Kind::Text, value, handling, out)
    }

    /// Appends the new value for `value`, which has the syntax `kind`, to `out`. Returns the number of layers: how many times decoding
    /// changed the value. After an error, `out` is unchanged.
    pub fn apply_as(
        &mut self,
        kind: Kind,
        value: &[u8],
        handling: Handling,
        out: &mut Vec<u8>,
    ) -> Result<usize, Refusal> {
        let start = out.len();
        let result = match self {
            Work::Encode(encoder) => encoder.apply(value, handling.not_text, out).map(|()| 0),
            Work::Decode(decoder) => decoder.apply(value, handling, out),
            Work::Normalize(normalizer) => normalizer.apply(value, kind, handling, out),
            Work::Within(within) => within.apply(value, kind, handling, out),
            Work::Rewrite(rewriter) => rewriter.apply(value, kind, handling, out).map(|()| 0),
        };
        if result.is_err() {
            out.truncate(start);
            self.take_kept();
        }
        result
    }

    /// Returns the number of values that were rejected but kept since the last call.
    pub fn take_kept(&self) -> u64 {
        if let Work::Rewrite(rewriter) = self { rewriter.kept.take() } else { 0 }
    }

    /// Makes the following values relative to `reference`, if the conversion resolves references. Returns whether it does.
    pub fn enter_base(&mut self, reference: &[u8]) -> bool {
        if let Work::Rewrite(rewriter) = self { rewriter.enter_base(reference) } else { false }
    }

    /// Undoes the last call of [`Work::enter_base`] that returned true.
    pub fn leave_base(&mut self) {
        if let Work::Rewrite(rewriter) = self {
            rewriter.leave_base();
        }
    }

    /// Sets the last two bytes before the next values (zeros for those that do not exist), on which a normalization depends.
    pub fn set_before(&mut self, before: [u8; 2]) {
        if let Work::Decode(decoder) = self {
            decoder.set_before(before);
        }
    }

    /// Reports whether a value with a malformed escape or invalid UTF-8 is converted like others.
    pub fn copies_escapes(&self) -> bool {
        matches!(self, Work::Rewrite(rewriter) if rewriter.escapes() == Escapes::Copied)
    }

    /// Returns the decoder, if the conversion decodes.
    fn decoder(&self) -> Option<&Decoder> {
        match self {
            Work::Decode(decoder) => Some(decoder),
            Work::Normalize(normalizer) => Some(&normalizer.decoder),
            Work::Within(within) => Some(&within.decoder),
            Work::Encode(_) | Work::Rewrite(_) => None,
        }
    }

    /// Returns the codec of values, if the conversion only decodes them once, and the bytes whose escapes stay.
    pub fn codec(&self) -> Option<(simdpct::Decode, ByteSet)> {
        let Work::Decode(decoder) = self else { return None };
        Some((decoder.codec()?, decoder.options.keep))
    }

    /// Returns the length of the `%uXXXX`, or the pair of them, at the start of `rest`, if the conversion decodes them.
    pub fn percent_u(&self, rest: &[u8]) -> Option<usize> {
        self.decoder()?.percent_u(rest)
    }

    /// Reports whether every value without a "%" stays as it is.
    pub fn needs_percent(&self) -> bool {
        self.decoder().is_some_and(Decoder::needs_percent)
    }

    /// Reports whether the conversion needs a whole value at once.
    pub fn takes_whole_values(&self) -> bool {
        matches!(self, Work::Within(_) | Work::Rewrite(_)) || self.charset().is_some_and(Charset::is_guessed)
    }

    /// Reports whether texts that contain several records can be converted at once.
    pub fn takes_records(&self) -> bool {
        !matches!(self, Work::Within(_)) && !self.is_stateful()
    }

    /// Reports whether the meaning of a byte can depend on any byte before it.
    fn is_stateful(&self) -> bool {
        self.charset().is_some_and(|charset| charset.is_stateful() || charset.is_guessed())
    }

    /// Returns the charset of the conversion, if it is not UTF-8.
    fn charset(&self) -> Option<Charset> {
        match self {
            Work::Encode(encoder) => encoder.charset,
            _ => self.decoder().and_then(|decoder| decoder.options.charset),
        }
    }
}
