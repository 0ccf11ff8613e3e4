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
pub mod values;

use std::fmt::Debug;
use std::sync::Arc;

use simdpct::ByteSet;
use simdpct_records::Kind;

use crate::common::fault::Handling;
use crate::common::reason::Refusal;
use crate::common::records::Records;
pub use crate::convert::Escapes;
use crate::convert::{Convert, Value};

/// A conversion that needs a whole value in memory.
pub trait Rewrite: Debug + Send + Sync {
    /// Appends the converted `value`, which has the syntax `kind`, to `out`. If the conversion decodes, the bytes of `keep` stay escaped. If the
    /// conversion has a charset, `handling.not_text` decides whether bytes that are invalid in it are escaped, rejected or
    /// replaced. After an error, the appended bytes are meaningless.
    fn append(
        &self,
        value: &[u8],
        kind: Kind,
        keep: &ByteSet,
        handling: Handling,
        out: &mut Vec<u8>,
    ) -> Result<(), Refusal>;

    /// Converts each line of `text` like [`Rewrite::append`], if the conversion has a faster way for many lines;
    /// otherwise returns `false`. Rejected lines are appended unchanged, and `refused` is called for each.
    fn append_lines(&self, _text: &[u8], _out: &mut Vec<u8>, _refused: &mut dyn FnMut()) -> bool {
        false
    }

    /// Returns the conversion of values that are relative to `reference`, which is itself relative to the base of this conversion. `None` if
    /// the conversion has no base, or if `reference` cannot be a base.
    fn with_base(&self, _reference: &[u8]) -> Option<Arc<dyn Rewrite>> {
        None
    }

    /// Returns the meaning of a `%` in the value.
    fn escapes(&self) -> Escapes {
        Escapes::Copied
    }

    /// Returns the text for a value without a result: `null` if results are JSON.
    fn missing(&self) -> &'static [u8] {
        b""
    }

    /// Reports whether a value is UTF-8, as opposed to bytes in a charset.
    fn reads_utf8(&self) -> bool {
        true
    }
}

/// A [`Rewrite`] as a [`Convert`].
#[derive(Clone)]
pub struct Rewriting {
    rewrite: Arc<dyn Rewrite>,
    /// The conversions before each call of [`Convert::enter_base`].
    outer: Vec<Arc<dyn Rewrite>>,
}

impl Rewriting {
    pub fn new(rewrite: impl Rewrite + 'static) -> Rewriting {
        Rewriting { rewrite: Arc::new(rewrite), outer: Vec::new() }
    }
}

impl Convert for Rewriting {
    fn append(
        &mut self,
        Value { bytes, kind, keep }: Value<'_>,
        handling: Handling,
        out: &mut Vec<u8>,
    ) -> Result<usize, Refusal> {
        self.rewrite.append(bytes, kind, keep, handling, out).map(|()| 0)
    }

    fn append_many(&mut self, text: &[u8], records: Records, _: Handling, out: &mut Vec<u8>) -> Option<u64> {
        let mut refused = 0;
        let is_done = records == Records::Lines && self.rewrite.append_lines(text, out, &mut || refused += 1);
        is_done.then_some(refused)
    }

    fn escapes(&self) -> Option<Escapes> {
        Some(self.rewrite.escapes())
    }

    fn reads_utf8(&self) -> bool {
        self.rewrite.reads_utf8()
    }

    fn missing(&self) -> &'static [u8] {
        self.rewrite.missing()
    }

    fn enter_base(&mut self, reference: &[u8]) -> bool {
        let inner = self.rewrite.with_base(reference);
        inner.map(|inner| self.outer.push(std::mem::replace(&mut self.rewrite, inner))).is_some()
    }

    fn leave_base(&mut self) {
        if let Some(outer) = self.outer.pop() {
            self.rewrite = outer;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that `rewrite` converts random lines of `words` like single values, and that it has a faster way for most of them.
    pub fn assert_lines_are_like_values(rewrite: &dyn Rewrite, words: &[&str]) {
        let (mut seed, mut fast) = (1_u64, 0);
        for round in 0..10_000 {
            let mut random = |below: usize| {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (seed >> 33) as usize % below
            };
            let mut text = Vec::new();
            for _ in 0..random(if round % 50 == 0 { 200 } else { 12 }) {
                text.extend_from_slice(if random(4) == 0 {
                    b"\n"
                } else {
                    words[random(words.len())].as_bytes()
                });
            }
            if round % 20 == 0 {
                text.extend_from_slice(
                    [&b"\t"[..], b"\r", b"\0", b"%", b"%2", b"\"", b"\\", b"\xC3"][random(8)],
                );
            }
            let (mut wanted, mut rejected) = (b"old".to_vec(), 0);
            for line in text.split_inclusive(|&byte| byte == b'\n') {
                let value = line.strip_suffix(b"\n").unwrap_or(line);
                let len = wanted.len();
                if rewrite.append(value, Kind::Text, &ByteSet::EMPTY, Handling::KEEP, &mut wanted).is_err() {
                    wanted.truncate(len);
                    wanted.extend_from_slice(value);
                    rejected += 1;
                }
                wanted.extend_from_slice(&line[value.len()..]);
            }
            let mut out = b"old".to_vec();
            if rewrite.append_lines(&text, &mut out, &mut || rejected -= 1) {
                assert_eq!(rejected, 0);
                fast += 1;
                assert_eq!(out.escape_ascii().to_string(), wanted.escape_ascii().to_string());
            } else {
                assert_eq!(out, b"old");
            }
        }
        assert!(fast > 5000, "{fast}");
    }
}
