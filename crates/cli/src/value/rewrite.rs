//! Applies a [`Rewrite`] of whole URLs, and the treatment of faults in them.

use std::cell::Cell;
use std::sync::Arc;

use simdpct::ByteSet;

use super::decode::malformed;
use super::handling::Handling;
use super::{nginx, origins};
use crate::ground::escape::escape;
use crate::ground::fault::OnFault;
use crate::ground::reason::{Reason, Refusal};
use crate::ground::records::Records;
use crate::ground::utf8;
use crate::url::Rewrite;

/// A conversion of whole URLs in a log of nginx, whose `\xHH` are decoded first.
#[derive(Debug)]
pub struct Logged(pub Arc<dyn Rewrite>);

impl Rewrite for Logged {
    fn append(
        &self,
        value: &[u8],
        keep: &ByteSet,
        on_fault: OnFault,
        out: &mut Vec<u8>,
    ) -> Result<(), Refusal> {
        let mut room = Vec::new();
        let url = nginx::unescape(value, keep, &mut room);
        self.0.append(url, keep, on_fault, out).map_err(|refusal| {
            let origins = origins::of_logged(value, keep);
            Refusal { offset: origins.get(refusal.offset).copied().unwrap_or(value.len()), ..refusal }
        })
    }

    fn reads_escapes(&self) -> bool {
        self.0.reads_escapes()
    }
}

/// Applies a [`Rewrite`], and escapes structural bytes in its result.
#[derive(Clone)]
pub struct Rewriter {
    rewrite: Arc<dyn Rewrite>,
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
        Rewriter { rewrite, structure, few, records, kept: Cell::new(0) }
    }

    /// Returns the offset of the first structural byte in `bytes`.
    fn find_structure(&self, bytes: &[u8]) -> Option<usize> {
        match self.few {
            Some([a, b, c]) => memchr::memchr3(a, b, c, bytes),
            None => bytes.iter().position(|&byte| self.structure.contains(byte)),
        }
    }

    /// Appends the new value. A rejected URL stays as it is unless `handling` says otherwise. After an error, the
    /// appended bytes are meaningless.
    pub fn apply(&self, value: &[u8], handling: Handling, out: &mut Vec<u8>) -> Result<(), Refusal> {
        match self.records {
            Records::Raw => self.one(value, handling, out),
            Records::Lines | Records::Null => self.all(value, handling, out),
        }
    }

    /// Rewrites a text of several records. The offset of an error is meaningless.
    fn all(&self, text: &[u8], handling: Handling, out: &mut Vec<u8>) -> Result<(), Refusal> {
        let (from, end) = (out.len(), self.records.end());
        let mut refused = 0;
        if self.records == Records::Lines && self.rewrite.append_lines(text, out, &mut || refused += 1) {
            self.kept.set(self.kept.get() + refused);
            if refused > 0 && handling.malformed == OnFault::Refuse {
                return Err(Refusal { offset: 0, reason: Reason::Url(String::new()) });
            }
            self.check_escapes(text, handling)?;
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
            self.one(value, handling, out)?;
            out.extend_from_slice(&record[value.len()..]);
        }
        Ok(())
    }

    /// Rewrites one value.
    fn one(&self, value: &[u8], handling: Handling, out: &mut Vec<u8>) -> Result<(), Refusal> {
        let from = out.len();
        self.check_escapes(value, handling)?;
        let repaired;
        let mut new = value;
        if handling.repairs() {
            repaired = self.repaired(value, handling);
            new = &repaired;
        }
        if let Err(refusal) = self.rewrite.append(new, &self.structure, handling.not_text, out) {
            let is_text = !matches!(refusal.reason, Reason::InvalidUtf8 | Reason::NotInCharset);
            let on_fault = if is_text { handling.malformed } else { handling.not_text };
            if on_fault == OnFault::Refuse {
                return Err(refusal);
            }
            out.truncate(from);
            out.extend_from_slice(value);
            self.kept.set(self.kept.get() + u64::from(is_text));
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

    /// Fails if malformed escapes are rejected and `value` contains one.
    fn check_escapes(&self, value: &[u8], handling: Handling) -> Result<(), Refusal> {
        if handling.malformed == OnFault::Refuse && self.rewrite.reads_escapes() {
            simdpct::validate(value).map_err(malformed)?;
        }
        Ok(())
    }

    /// Returns `value` with its faults repaired, as far as `handling` asks for that.
    fn repaired(&self, value: &[u8], handling: Handling) -> Vec<u8> {
        let mut new = Vec::new();
        let mut rest = value;
        while handling.malformed == OnFault::Repair
            && self.rewrite.reads_escapes()
            && let Err(escape) = simdpct::validate(rest)
        {
            new.extend_from_slice(&rest[..escape.offset]);
            new.extend_from_slice(b"%25");
            rest = &rest[escape.offset + 1..];
        }
        new.extend_from_slice(rest);
        if handling.not_text == OnFault::Repair {
            new = String::from_utf8_lossy(&new).into_owned().into_bytes();
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
