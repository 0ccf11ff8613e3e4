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

use crate::ground::fault::OnFault;
use crate::ground::reason::Refusal;

/// A conversion that needs a whole value in memory.
pub trait Rewrite: Debug + Send + Sync {
    /// Appends the converted `value` to `out`. If the conversion decodes, the bytes of `keep` stay escaped. If the
    /// conversion has a charset, `on_fault` decides whether bytes that are invalid in it are escaped, rejected or
    /// replaced. After an error, the appended bytes are meaningless.
    fn append(
        &self,
        value: &[u8],
        keep: &ByteSet,
        on_fault: OnFault,
        out: &mut Vec<u8>,
    ) -> Result<(), Refusal>;

    /// Converts each line of `text` like [`Rewrite::append`], if the conversion has a faster way for many lines;
    /// otherwise returns `false`. Rejected lines are appended unchanged, and `refused` is called for each.
    fn append_lines(&self, _text: &[u8], _out: &mut Vec<u8>, _refused: &mut dyn FnMut()) -> bool {
        false
    }

    /// Reports whether a `%` in the value starts an escape, so that a malformed escape is an error.
    fn reads_escapes(&self) -> bool {
        true
    }
}
