//! Applies a [`Rewrite`] of whole URLs, and the treatment of faults in them.

use std::borrow::Cow;
use std::cell::Cell;
use std::sync::Arc;

use simdpct::ByteSet;
use simdpct_records::Kind;

use super::decode::malformed;
use crate::common::escape::escape;
use crate::common::fault::{Handling, OnFault};
use crate::common::reason::{Reason, Refusal};
use crate::common::records::Records;
use crate::common::utf8;
use crate::url::{Escapes, Rewrite};

/// Applies a [`Rewrite`], and escapes the bytes in its result that would separate or quote values in the record format.
#[derive(Clone)]
pub struct Rewriter {
    rewrite: Arc<dyn Rewrite>,
    /// The conversions before each call of [`Rewriter::enter_base`].
    outer: Vec<Arc<dyn Rewrite>>,
    /// The bytes that the result must not contain unescaped.
    structure: ByteSet,
    /// The bytes of `structure`, if it has at most three, for a fast search with memchr.
    few: Option<[u8; 3]>,
    /// The separator, if a value can contain several records.
    records: Records,
    /// The number of values that were rejected but kept.
    pub(super) kept: Cell<u64>,
}

impl Rewriter {
    /// Applies `rewrite` to single values, or to texts of several records unless `records` is [`Records::Raw`].
    pub fn new(rewrite: Arc<dyn Rewrite>, structure: ByteSet, records: Records) -> Rewriter {
        let members: Vec<u8> = (0..=u8::MAX).filter(|&byte| structure.contains(byte)).collect();
        let few = match members[..] {
            [a] => Some([a; 3]),
            [a, b] => Some([a, b, b]),
            [a, b, c] => Some([a, b, c]),
            _ => None,
        };
        Rewriter { rewrite, outer: Vec::new(), structure, few, records, kept: Cell::new(0) }
    }

    /// Makes the following values relative to `reference`, if the conversion resolves references. Returns whether it does.
    pub fn enter_base(&mut self, reference: &[u8]) -> bool {
        let inner = self.rewrite.with_base(reference);
        inner.map(|inner| self.outer.push(std::mem::replace(&mut self.rewrite, inner))).is_some()
    }

    /// Undoes the last call of [`Rewriter::enter_base`] that returned true.
    pub fn leave_base(&mut self) {
        if let Some(outer) = self.outer.pop() {
            self.rewrite = outer;
        }
    }

    /// Returns the offset of the first byte of `structure` in `bytes`.
    fn find_structure(&self, bytes: &[u8]) -> Option<usize> {
        match self.few {
            Some([a, b, c]) => memchr::memchr3(a, b, c, bytes),
            None => bytes.iter().position(|&byte| self.structure.contains(byte)),
        }
    }

    /// Appends the new value. A rejected URL stays as it is unless `handling` says otherwise. After an error, the
    /// appended bytes are meaningless.
    pub fn apply(
        &self,
        value: &[u8],
        kind: Kind,
        handling: Handling,
        out: &mut Vec<u8>,
    ) -> Result<(), Refusal> {
        match self.records {
            Records::Raw => self.one(value, kind, handling, out),
            Records::Lines | Records::Null => self.all(value, handling, out),
        }
    }

    /// Rewrites a text of several records. The offset of an error is meaningless.
    fn all(&self, text: &[u8], handling: Handling, out: &mut Vec<u8>) -> Result<(), Refusal> {
        let (from, end) = (out.len(), self.records.end());
        let mut refused = 0;
        if self.records == Records::Lines && self.rewrite.append_lines(text, out, &mut || refused += 1) {
            if refused > 0 && handling.rejected == OnFault::Refuse {
                return Err(Refusal { offset: 0, reason: Reason::Url(String::new()) });
            }
            self.kept.set(self.kept.get() + refused);
            self.check(text, handling)?;
            return text_only(text, handling, out, from);
        }
        let mut start = 0;
        while start < text.len() {
            let next = memchr::memchr(end, &text[start..]).map_or(text.len(), |found| start + found + 1);
            let record = &text[start..next];
            start = next;
            let mut value = record.strip_suffix(&[end]).unwrap_or(record);
            if self.records == Records::Lines && value.len() < record.len() {
                value = value.strip_suffix(b"\r").unwrap_or(value);
            }
            self.one(value, Kind::Text, handling, out)?;
            out.extend_from_slice(&record[value.len()..]);
        }
        Ok(())
    }

    /// Rewrites one value.
    fn one(&self, value: &[u8], kind: Kind, handling: Handling, out: &mut Vec<u8>) -> Result<(), Refusal> {
        let from = out.len();
        self.check(value, handling)?;
        let repaired;
        let mut new = value;
        if handling.repairs() {
            repaired = self.repaired(value, handling);
            new = &repaired;
        }
        if let Err(refusal) = self.rewrite.append(new, kind, &self.structure, handling, out) {
            let is_not_text = handling.not_text == OnFault::Refuse && refusal.reason.is_not_text();
            if is_not_text || handling.rejected == OnFault::Refuse {
                return Err(refusal);
            }
            out.truncate(from);
            out.extend_from_slice(value);
            self.kept.set(self.kept.get() + 1);
            return Ok(());
        }
        if let Some(at) = self.find_structure(&out[from..]) {
            let is_made = |byte: u8| self.structure.contains(byte) && !value.contains(&byte);
            let rest = out.split_off(from + at);
            for byte in rest {
                if is_made(byte) { escape(&[byte], out) } else { out.push(byte) }
            }
        }
        text_only(value, handling, out, from)
    }

    /// Returns the meaning of a `%` to the conversion.
    pub fn escapes(&self) -> Escapes {
        self.rewrite.escapes()
    }

    /// Fails if `value` contains a malformed escape or invalid UTF-8 that `handling` rejects.
    fn check(&self, value: &[u8], handling: Handling) -> Result<(), Refusal> {
        if handling.malformed == OnFault::Refuse && self.escapes() != Escapes::Data {
            simdpct::validate(value).map_err(malformed)?;
        }
        if handling.not_text == OnFault::Refuse && self.rewrite.reads_utf8() {
            let not_text = |offset| Refusal { offset, reason: Reason::InvalidUtf8 };
            utf8::validate(value).map_err(not_text)?;
        }
        Ok(())
    }

    /// Returns `value` with its faults repaired, as far as `handling` asks for that and the conversion does not do it.
    fn repaired<'a>(&self, value: &'a [u8], handling: Handling) -> Cow<'a, [u8]> {
        let new = match self.escapes() {
            Escapes::Copied => handling.repaired(value, b"%25"),
            Escapes::Data | Escapes::Decoded => Cow::Borrowed(value),
        };
        if handling.not_text == OnFault::Repair && self.rewrite.reads_utf8() && utf8::validate(&new).is_err()
        {
            return Cow::Owned(String::from_utf8_lossy(&new).into_owned().into_bytes());
        }
        new
    }
}

/// Rejects or repairs the bytes of `out` from `from` on, which were made of `value`, if they are not valid UTF-8.
fn text_only(value: &[u8], handling: Handling, out: &mut Vec<u8>, from: usize) -> Result<(), Refusal> {
    if handling.not_text == OnFault::Keep || utf8::validate(&out[from..]).is_ok() {
        return Ok(());
    }
    if handling.not_text == OnFault::Repair {
        let text = String::from_utf8_lossy(&out[from..]).into_owned();
        out.truncate(from);
        out.extend_from_slice(text.as_bytes());
        return Ok(());
    }
    // Either the value itself or one of its escapes is invalid UTF-8.
    let offset = match utf8::validate(value) {
        Err(offset) => offset,
        Ok(()) => simdpct::Decode::new().decode_utf8(value).map_or_else(|error| error.offset, |_| 0),
    };
    Err(Refusal { offset, reason: Reason::InvalidUtf8 })
}
