//! What is done to a whole URL: one value becomes one value, or is refused with an offset and a reason.
//!
//! [`Rewrite`] is all that the rooms above know of it. What splits, joins and canonicalizes is the crate simdpct-uri; here is
//! what the command adds: how pieces are written and read as text.

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

/// Work that takes all of a value at once.
pub trait Rewrite: Debug + Send + Sync {
    /// Appends what becomes of `value`. What it decodes must not make the bytes of `structure`, as far as it can help it.
    /// After a refusal, what was appended means nothing.
    fn append(&self, value: &[u8], structure: &ByteSet, out: &mut Vec<u8>) -> Result<(), Refusal>;

    /// The same, where bytes may be text in a charset that the work knows. Those that are nothing in it are escaped, refused or
    /// replaced, as `on_invalid` says.
    fn append_text(
        &self,
        value: &[u8],
        structure: &ByteSet,
        _on_invalid: OnFault,
        out: &mut Vec<u8>,
    ) -> Result<(), Refusal> {
        self.append(value, structure, out)
    }

    /// The same as [`Rewrite::append`] for each line of `text`, if there is a faster way than one after the other; returns whether there is. Lines
    /// that are refused are appended as they are, and `refused` is called for each.
    fn append_lines(&self, _text: &[u8], _out: &mut Vec<u8>, _refused: &mut dyn FnMut()) -> bool {
        false
    }

    /// Whether a `%` in the value starts an escape, so that a malformed one is a fault.
    fn reads_escapes(&self) -> bool {
        true
    }
}
