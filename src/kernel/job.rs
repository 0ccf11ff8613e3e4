//! What a verb asks of the codec: the operands that every tier takes.

use crate::hex::HexCase;
use crate::kernel::cursor::Written;
use crate::set::ByteSet;

/// What happens to bytes outside the set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum EncodeRule {
    /// Each is escaped, `%` like any other.
    #[default]
    Plain,
    /// A valid escape stays whole; every other `%` is escaped, even when the set holds it.
    KeepEscapes,
    /// As `Plain`, but a space is written as `+` (and the set holds the space and not the `+`).
    Form,
}

/// An encoding.
// INVARIANT: `usual` is what `ByteSet::usual_and_one` says of `set`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EncodeJob {
    pub set: ByteSet,
    pub rule: EncodeRule,
    pub case: HexCase,
    /// What [`ByteSet::usual_and_one`] says of the set.
    pub usual: Option<u8>,
}

/// Which escapes are decoded, and what else is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum DecodeRule {
    /// All escapes.
    #[default]
    Plain,
    /// Escapes of bytes outside the set that stays.
    Keep,
    /// As `Keep`, and a `+` that is not escaped is a space.
    Form,
}

/// A decoding.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DecodeJob {
    /// Escapes of the members stay escapes, or those of all other bytes do. A tier looks bytes up faster in a set of ASCII
    /// bytes, and of most sets that are not, the complement is.
    // INVARIANT: no byte stays if the rule is `Plain`.
    pub set: ByteSet,
    /// Whether it is the members that stay.
    pub members_stay: bool,
    pub rule: DecodeRule,
    /// Escapes that stay are written in upper case.
    pub upper: bool,
    /// A `%` that starts no escape is an error.
    pub strict: bool,
}

impl EncodeJob {
    /// The plain rule, with digits in upper case.
    #[inline(always)]
    pub(crate) const fn new(set: ByteSet) -> EncodeJob {
        EncodeJob { set, rule: EncodeRule::Plain, case: HexCase::Upper, usual: set.usual_and_one() }
    }

    /// The same, but with another rule and set.
    #[inline(always)]
    pub(crate) const fn with(self, rule: EncodeRule, set: ByteSet) -> EncodeJob {
        EncodeJob { set, rule, usual: set.usual_and_one(), ..self }
    }

    /// Whether the rule is the first.
    #[inline(always)]
    pub(crate) fn is_plain(&self) -> bool {
        self.rule == EncodeRule::Plain
    }
}

impl DecodeJob {
    /// A lenient decoding of all escapes.
    pub(crate) const PLAIN: DecodeJob = DecodeJob {
        set: ByteSet::EMPTY,
        members_stay: true,
        rule: DecodeRule::Plain,
        upper: false,
        strict: false,
    };

    /// Whether an escape of `byte` stays.
    #[inline(always)]
    pub(crate) fn stays(&self, byte: u8) -> bool {
        self.set.contains(byte) == self.members_stay
    }

    /// Whether the rule is the first.
    #[inline(always)]
    pub(crate) fn is_plain(&self) -> bool {
        self.rule == DecodeRule::Plain
    }

    /// Whether a `+` that is not escaped is a space.
    #[inline(always)]
    pub(crate) fn plus(&self) -> bool {
        self.rule == DecodeRule::Form
    }

    /// The same, but that escapes of the bytes of `set` stay.
    #[inline(always)]
    pub(crate) const fn keeping(mut self, set: ByteSet) -> DecodeJob {
        self.members_stay = set.is_ascii() || !set.complement().is_ascii();
        self.set = if self.members_stay { set } else { set.complement() };
        self.rule = match self.rule {
            DecodeRule::Form => DecodeRule::Form,
            _ if set.is_empty() => DecodeRule::Plain,
            _ => DecodeRule::Keep,
        };
        self
    }
}

/// What an operation would write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Measure {
    /// The exact number of bytes.
    pub len: usize,
    /// Whether they differ from the input.
    pub changed: bool,
}

/// What a decoding wrote, and where it stopped: two words, which a call returns in registers.
pub(crate) struct Decoded<'c> {
    /// What was written. If the decoding stopped early, this ends somewhere before the malformed escape.
    pub written: Written<'c>,
    /// The length of the input, or the offset of the malformed escape that ended a strict decoding.
    pub stopped: usize,
}

/// What a decoding would write, and where it would stop: two words, which a call returns in registers.
#[derive(Clone, Copy)]
pub(crate) struct Measured {
    len: usize,
    /// No input is longer than `isize::MAX`, so one bit is free.
    stopped_and_changed: usize,
}

impl Measured {
    #[inline(always)]
    pub(crate) fn new(measure: Measure, stopped: usize) -> Measured {
        Measured { len: measure.len, stopped_and_changed: stopped << 1 | usize::from(measure.changed) }
    }

    /// The exact number of bytes, if the decoding does not stop early.
    #[inline(always)]
    pub(crate) fn len(self) -> usize {
        self.len
    }

    /// Whether the output differs from the input, if the decoding does not stop early.
    #[inline(always)]
    pub(crate) fn changed(self) -> bool {
        self.stopped_and_changed & 1 != 0
    }

    /// The length of the input, or the offset of the malformed escape that ends a strict decoding.
    #[inline(always)]
    pub(crate) fn stopped(self) -> usize {
        self.stopped_and_changed >> 1
    }
}
