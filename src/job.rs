//! What a verb asks of the codec: the operands that every tier takes.

use crate::hex::HexCase;
use crate::set::ByteSet;

/// What happens to octets outside the set.
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
#[derive(Clone, Copy, Debug)]
pub(crate) struct EncodeJob {
    pub set: ByteSet,
    pub rule: EncodeRule,
    pub case: HexCase,
}

/// A decoding.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DecodeJob {
    /// Escapes of these octets stay escapes.
    pub keep: ByteSet,
    /// Escapes that stay are written in upper case.
    pub upper: bool,
    /// A `+` that is not escaped is a space.
    pub plus: bool,
    /// A `%` that starts no escape is an error.
    pub strict: bool,
}

/// What an operation would write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Measure {
    /// The exact number of octets.
    pub len: usize,
    /// Whether they differ from the input.
    pub changed: bool,
}

/// The offset of a `%` that starts no escape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BadEscapeAt(pub usize);
