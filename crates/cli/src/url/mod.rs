//! Rewrites whole URLs: each value becomes one value, or is rejected with an offset and a reason.
//!
//! The modules that process values use only the trait [`Rewrite`]. The crate simdpct-uri splits, joins and
//! canonicalizes URLs; this module adds the text formats of their parts.

pub mod canonical;
pub mod convert;
pub mod form;
pub mod join;
pub mod part;
pub mod refer;
pub mod row;
pub mod split;

use std::fmt::Debug;

use simdpct::ByteSet;

use crate::ground::fault::Handling;
use crate::ground::reason::Refusal;

/// The meaning of a `%` to a conversion, which decides how malformed escapes are treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Escapes {
    /// A `%` is data like any other byte, so no escape is malformed.
    Data,
    /// Escapes are copied, or changed without being decoded. A value with a malformed escape is converted like others.
    Copied,
    /// Escapes are decoded, so that the value with a malformed escape is not decoded as a whole. The conversion writes
    /// `%25` for its `%`, if malformed escapes are to be repaired.
    Decoded,
}

/// A conversion that needs a whole value in memory.
pub trait Rewrite: Debug + Send + Sync {
    /// Appends the converted `value` to `out`. If the conversion decodes, the bytes of `keep` stay escaped. If the
    /// conversion has a charset, `handling.not_text` decides whether bytes that are invalid in it are escaped, rejected or
    /// replaced. After an error, the appended bytes are meaningless.
    fn append(
        &self,
        value: &[u8],
        keep: &ByteSet,
        handling: Handling,
        out: &mut Vec<u8>,
    ) -> Result<(), Refusal>;

    /// Converts each line of `text` like [`Rewrite::append`], if the conversion has a faster way for many lines;
    /// otherwise returns `false`. Rejected lines are appended unchanged, and `refused` is called for each.
    fn append_lines(&self, _text: &[u8], _out: &mut Vec<u8>, _refused: &mut dyn FnMut()) -> bool {
        false
    }

    /// Returns the meaning of a `%` in the value.
    fn escapes(&self) -> Escapes {
        Escapes::Copied
    }

    /// Reports whether a value is UTF-8, as opposed to bytes in a charset.
    fn reads_utf8(&self) -> bool {
        true
    }
}
