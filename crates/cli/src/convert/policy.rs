//! Converts the values of records, and applies the policies for bad ones.

use simdpct::ByteSet;
use simdpct_records::Kind;

use super::report::Report;
use super::{Conversion, Escapes, Unit, Value};
use crate::common::fault::{Handling, Policy};
use crate::common::reason::{Reason, Refusal};

/// The action for a record after one of its values was converted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Write the new value.
    Write,
    /// Write an empty value.
    Empty,
    /// Write `null` instead of the JSON value, or the text for a missing value instead of the record.
    Null,
    /// Write the record unchanged, because it is unreadable, or leave the value unchanged, because the record cannot hold the new one.
    Copy,
    /// Leave the record out.
    Drop,
    /// Stop the run. The offset counts from the start of the chunk.
    Stop(Refusal),
}

impl Policy {
    /// Returns the action for the fault `refusal`; `None` if the value or the record is kept or repaired.
    fn action(self, refusal: Refusal) -> Option<Action> {
        match self {
            Policy::Keep | Policy::Replace => None,
            Policy::Empty => Some(Action::Empty),
            Policy::Null => Some(Action::Null),
            Policy::Drop => Some(Action::Drop),
            Policy::Fail => Some(Action::Stop(refusal)),
        }
    }
}

/// A record and its position.
#[derive(Clone, Copy)]
pub struct Record<'a> {
    /// The chunk that contains the record.
    pub chunk: &'a [u8],
    /// The start of the record in the chunk.
    pub start: usize,
    /// The end of the record in the chunk, without the line end.
    pub stop: usize,
    /// The byte that ends a line, for line numbers.
    pub end: u8,
}

impl<'a> Record<'a> {
    /// Returns the bytes of the record.
    pub fn bytes(&self) -> &'a [u8] {
        &self.chunk[self.start..self.stop]
    }

    /// Adds a rejection at `offset` of the chunk to `report`, if rejections are reported and the record has none yet.
    pub fn refuse(&self, report: &mut Report, offset: usize, reason: &Reason) {
        let is_known = report.refused.last().is_some_and(|last| last.offset >= self.start as u64);
        if report.rejects && !is_known {
            let line = report.line(self.chunk, self.end, offset);
            report.refuse(line, offset as u64, reason, self.bytes());
        }
    }
}

/// The place of a value in a record.
#[derive(Clone, Copy, Debug)]
pub struct At {
    /// The index of the selected field, column or key.
    pub index: usize,
    /// The syntax of the value.
    pub kind: Kind,
    /// The bytes that must stay escaped in the value because of the syntax around it; `None` for `ValueHandler::usual`.
    pub kept: Option<ByteSet>,
    /// Whether `null` can be written instead of the value.
    pub can_be_null: bool,
}

/// Converts values, and applies the policies for bad ones.
#[derive(Clone)]
pub struct ValueHandler {
    pub convert: Conversion,
    /// The bytes that stay escaped in a value if `At::kept` is `None`.
    pub usual: ByteSet,
    /// The policies for bad values and unreadable records.
    pub policies: Handling,
    /// Whether faults have no effect, so that values need no checks.
    pub lenient: bool,
    /// Whether values are counted.
    pub stats: bool,
    /// The text that the policy `null` writes instead of an unreadable record that is not JSON.
    pub null: &'static [u8],
    /// The text that is written for an empty value, such as `-` in fields between blanks.
    pub empty: &'static [u8],
    /// The text that means a missing URL, such as `-`, and is never converted; empty if no text has this meaning.
    pub none: &'static [u8],
    /// Whether new values are written beside the old ones. If so, a rejected value has no new value.
    pub is_beside: bool,
}

impl ValueHandler {
    /// Returns the policies for values, as opposed to unreadable records.
    pub fn value_policies(&self) -> Handling {
        match self.policies.rejected {
            Policy::Keep if self.is_beside => Handling { rejected: Policy::Null, ..self.policies },
            _ => self.policies,
        }
    }

    /// Reports whether a value without a "%" needs neither conversion nor checks.
    pub fn needs_percent(&self) -> bool {
        self.lenient && self.convert.inner.decoder().is_some_and(|decoder| decoder.needs_percent(&self.usual))
    }

    /// Returns the codec of values in which the bytes of `usual` stay escaped, and all bytes whose escapes stay.
    /// Returns `None` unless faults have no effect and values are only decoded once.
    pub fn codec(&self) -> Option<(simdpct::Decode, ByteSet)> {
        let is_plain = self.lenient && self.convert.inner.unit() == Unit::Byte;
        self.convert.inner.decoder().filter(|_| is_plain)?.codec(&self.usual)
    }

    /// Converts like [`ValueHandler::value`], but does not count changes, and returns [`Action::Empty`] instead of writing an empty value.
    fn judge(
        &mut self,
        value: Value<'_>,
        out: &mut Vec<u8>,
        record: Record<'_>,
        report: &mut Report,
        place: impl Fn(usize) -> usize,
    ) -> Action {
        let policies = self.value_policies();
        let mut handling = Handling::REJECT;
        // A value can have a fault of each kind, so each kind is handled once.
        loop {
            let mut refusal = match self.convert.convert(value, handling, out) {
                Ok(layers) => {
                    report.stats.layers = report.stats.layers.max(layers as u64);
                    return Action::Write;
                }
                Err(refusal) => refusal,
            };
            let is_not_text = refusal.reason.is_not_text() && handling.not_text.rejects();
            let (policy, handled) = match refusal.reason {
                Reason::Malformed(_) if handling.malformed.rejects() => {
                    (policies.malformed, Some(&mut handling.malformed))
                }
                _ if is_not_text => {
                    report.stats.invalid_utf8 += 1;
                    (policies.not_text, Some(&mut handling.not_text))
                }
                _ => {
                    report.stats.rejected += 1;
                    (policies.rejected, None)
                }
            };
            refusal.offset = place(refusal.offset);
            // A conversion that copies escapes goes on after a malformed escape or invalid UTF-8, so these reject a value only if a
            // policy says so.
            if handled.is_none() || policy.rejects() || self.convert.escapes != Some(Escapes::Copied) {
                record.refuse(report, refusal.offset, &refusal.reason);
            }
            match (policy.action(refusal), handled) {
                (Some(action), _) => return action,
                (None, Some(handled)) => *handled = policy,
                (None, None) => {
                    out.extend_from_slice(value.bytes);
                    return Action::Write;
                }
            }
        }
    }

    /// Appends the new value for the value `bytes`, which is part of `record`. `place` maps an offset in the value to its
    /// offset in the chunk.
    pub fn value(
        &mut self,
        At { kind, kept, can_be_null, .. }: At,
        bytes: &[u8],
        out: &mut Vec<u8>,
        record: Record<'_>,
        report: &mut Report,
        place: impl Fn(usize) -> usize,
    ) -> Action {
        if !self.none.is_empty() && bytes == self.none && self.convert.inner.unit() == Unit::Value {
            out.extend_from_slice(bytes);
            return Action::Write;
        }
        let keep = kept.unwrap_or(self.usual);
        let value = Value { bytes, kind, keep: &keep };
        if self.lenient {
            let result = self.convert.convert(value, Handling::KEEP, out);
            debug_assert!(result.is_ok(), "nothing is rejected");
            report.stats.rejected += self.convert.take_kept();
            return Action::Write;
        }
        let from = out.len();
        let mut action = self.judge(value, out, record, report, place);
        report.stats.emptied += u64::from(action == Action::Empty);
        let is_null = action == Action::Null;
        if action == Action::Empty || (is_null && !can_be_null) {
            out.extend_from_slice(self.empty);
            action = Action::Write;
        }
        if self.stats {
            report.stats.values += 1;
            report.stats.count_escapes(bytes, self.convert.inner.decoder());
            let is_changed = action == Action::Null || (action == Action::Write && &out[from..] != bytes);
            report.stats.changed += u64::from(is_changed);
        }
        action
    }

    /// Returns the action for a value whose new text its record cannot hold.
    pub fn unwritable(&mut self, record: Record<'_>, refusal: Refusal, report: &mut Report) -> Action {
        report.stats.rejected += 1;
        record.refuse(report, refusal.offset, &refusal.reason);
        self.value_policies().rejected.action(refusal).unwrap_or(Action::Copy)
    }

    /// Returns the action for a record, or a value in it, that cannot be parsed.
    pub fn unreadable(&mut self, record: Record<'_>, refusal: Refusal, report: &mut Report) -> Action {
        let is_clash = matches!(refusal.reason, Reason::HasKey(_));
        report.stats.unreadable += 1;
        report.stats.clashes += u64::from(is_clash);
        record.refuse(report, refusal.offset, &refusal.reason);
        match self.policies.rejected {
            // A record that has the new key already can be read, so the rest of it must not be lost.
            Policy::Null if is_clash => Action::Copy,
            policy => policy.action(refusal).unwrap_or(Action::Copy),
        }
    }
}
