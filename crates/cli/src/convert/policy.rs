//! Converts the values of records, and applies the policies for bad ones.

use simdpct::ByteSet;
use simdpct_records::Kind;

use super::report::Report;
use super::work::{Work, Works};
use crate::common::fault::{Handling, OnFault};
use crate::common::reason::{Reason, Refusal};

/// The policy for malformed escapes, or for invalid UTF-8.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// Leave the bad parts as they are, and convert the rest.
    Keep,
    /// Replace the bad parts.
    Replace,
    /// Make the value empty.
    Empty,
    /// Leave the record out.
    Drop,
    /// Stop with an error.
    Fail,
}

/// The policy for values that the conversion rejects, and for unreadable records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnRejected {
    /// Leave the value or the record as it is.
    Keep,
    /// Leave the record out.
    Drop,
    /// Write `null` in JSON, and nothing elsewhere.
    Null,
    /// Stop with an error.
    Fail,
}

/// The policies for bad values and records.
#[derive(Clone, Copy, Debug)]
pub struct Policies {
    /// The policy for malformed escapes.
    pub malformed: Policy,
    /// The policy for rejected values and unreadable records.
    pub rejected: OnRejected,
    /// The policy for values that are invalid in UTF-8 or in the charset.
    pub not_text: Policy,
}

impl Policies {
    /// Leaves out rejected values and unreadable records, and keeps everything else.
    pub const LEAVE_OUT: Policies =
        Policies { malformed: Policy::Keep, rejected: OnRejected::Drop, not_text: Policy::Keep };

    /// Reports whether a fault can stop the run.
    pub fn can_fail(self) -> bool {
        [self.malformed, self.not_text].contains(&Policy::Fail) || self.rejected == OnRejected::Fail
    }
}

/// The action for a record after one of its values was converted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Write the new value.
    Write,
    /// Write an empty value.
    Empty,
    /// Write `null` instead of the JSON value, or the text for a missing value instead of the record.
    Null,
    /// Write the record unchanged, because it is unreadable.
    Copy,
    /// Leave the record out.
    Drop,
    /// Stop the run. The offset counts from the start of the chunk.
    Stop(Refusal),
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
        let is_known = report.refused.last().is_some_and(|last| last.offset >= self.start as i64);
        if report.rejects && !is_known {
            let line = report.line(self.chunk, self.end, offset);
            report.refuse(line, offset as i64, reason, self.bytes());
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
    /// The bytes that must stay escaped in the value because of the syntax around it; `None` for the usual syntax.
    pub kept: Option<ByteSet>,
}

impl At {
    /// Returns the place for selection number `index`, with the usual syntax around it.
    pub fn plain(index: usize) -> At {
        At { index, kind: Kind::Text, kept: None }
    }
}

/// Converts or checks the values of records.
pub trait Treat {
    /// Appends the new value for `value`, which is part of `record`. `place` maps an offset in the value to its
    /// offset in the chunk.
    fn value(
        &mut self,
        at: At,
        value: &[u8],
        out: &mut Vec<u8>,
        record: Record<'_>,
        report: &mut Report,
        place: impl Fn(usize) -> usize,
    ) -> Action;

    /// Returns the action for a record, or a value in it, that cannot be parsed.
    fn unreadable(&mut self, record: Record<'_>, refusal: Refusal, report: &mut Report) -> Action;

    /// Makes the following values relative to `reference`, if the conversion resolves references. Returns whether it does.
    fn enter_base(&mut self, _reference: &[u8]) -> bool {
        false
    }

    /// Undoes the last call of [`Treat::enter_base`] that returned true.
    fn leave_base(&mut self) {}
}

/// Converts values, and applies the policies for bad ones.
#[derive(Clone)]
pub struct Treatment {
    /// The conversions for the syntaxes around values.
    works: Works,
    policies: Policies,
    /// Whether faults have no effect, so that values need no checks.
    lenient: bool,
    /// Whether values are counted.
    stats: bool,
    /// Whether values are written in JSON, which has a `null`.
    is_json: bool,
    /// The text that is written for a missing record.
    null: &'static [u8],
    /// The text that is written for an empty value, such as `-` in fields between blanks.
    empty: &'static [u8],
    /// The text that means a missing value, such as `-`, and is never converted; empty if no text has this meaning.
    none: &'static [u8],
    /// Whether new values are written beside the old ones.
    is_beside: bool,
}

impl Treatment {
    /// Creates a treatment that runs one of `works`, depending on the syntax around a value. `stats` and `rejects`
    /// tell whether values are counted and rejections are reported.
    pub fn new(
        works: Works,
        policies: Policies,
        stats: bool,
        rejects: bool,
        empty: &'static [u8],
    ) -> Treatment {
        let keeps = [policies.malformed, policies.not_text] == [Policy::Keep; 2];
        let lenient = keeps && policies.rejected == OnRejected::Keep && !stats && !rejects;
        Treatment {
            works,
            policies,
            lenient,
            stats,
            is_json: false,
            null: b"",
            empty,
            none: b"",
            is_beside: false,
        }
    }

    /// Sets whether values are written in JSON, which has a `null`, and the text for a missing record.
    pub fn with_null(self, is_json: bool, null: &'static [u8]) -> Treatment {
        Treatment { is_json, null, ..self }
    }

    /// Sets whether new values are written beside the old ones. If so, a rejected value has no new value.
    pub fn with_beside(self, is_beside: bool) -> Treatment {
        let lenient = self.lenient && !(is_beside && self.takes_whole_values());
        Treatment { lenient, is_beside, ..self }
    }

    /// Returns the text that is written for a missing record.
    pub fn null(&self) -> &'static [u8] {
        self.null
    }

    /// Sets the text `none`, which means a missing value. It matters only for whole URLs; other conversions treat it as
    /// text.
    pub fn with_none(self, none: &'static [u8]) -> Treatment {
        Treatment { none: if self.takes_whole_values() { none } else { b"" }, ..self }
    }

    /// Returns the policies for bad values.
    pub fn policies(&self) -> Policies {
        self.policies
    }

    /// Returns the policies for values, as opposed to unreadable records.
    pub fn value_policies(&self) -> Policies {
        match self.policies.rejected {
            OnRejected::Keep if self.is_beside => Policies { rejected: OnRejected::Null, ..self.policies },
            _ => self.policies,
        }
    }

    /// Reports whether a value without a "%" needs neither conversion nor checks.
    pub fn needs_percent(&self) -> bool {
        self.lenient && self.works.usual().needs_percent()
    }

    /// Returns the codec of values in the usual syntax, if faults have no effect and values are decoded once, and the bytes
    /// whose escapes stay.
    pub fn codec(&self) -> Option<(simdpct::Decode, ByteSet)> {
        if self.lenient { self.works.usual().codec() } else { None }
    }

    /// Converts like [`Treat::value`], but does not count changes, and returns [`Action::Empty`] instead of writing an empty value.
    fn judge(
        &mut self,
        At { kind, kept, .. }: At,
        value: &[u8],
        out: &mut Vec<u8>,
        record: Record<'_>,
        report: &mut Report,
        place: impl Fn(usize) -> usize,
    ) -> Action {
        let policies = self.value_policies();
        let stats = self.stats;
        let work = self.works.at(kept);
        let (action, layers) = match work.apply_as(kind, value, Handling::REFUSE, out) {
            Ok(layers) => (Action::Write, layers),
            Err(refusal) => {
                let refused = |report: &mut Report, offset, reason: &Reason| {
                    record.refuse(report, place(offset), reason);
                };
                match refuse(work, policies, (kind, value), refusal, out, report, refused) {
                    (Action::Stop(refusal), layers) => {
                        (Action::Stop(Refusal { offset: place(refusal.offset), ..refusal }), layers)
                    }
                    other => other,
                }
            }
        };
        if stats {
            report.stats.values += 1;
            report.stats.count_escapes(value, work);
            report.stats.layers = report.stats.layers.max(layers as u64);
        }
        action
    }

    /// Reports whether the conversion needs a whole value at once.
    pub fn takes_whole_values(&self) -> bool {
        self.works.usual().takes_whole_values()
    }
}

impl Treat for Treatment {
    fn value(
        &mut self,
        at: At,
        value: &[u8],
        out: &mut Vec<u8>,
        record: Record<'_>,
        report: &mut Report,
        place: impl Fn(usize) -> usize,
    ) -> Action {
        if !self.none.is_empty() && value == self.none {
            out.extend_from_slice(value);
            return Action::Write;
        }
        if self.lenient {
            let work = self.works.at(at.kept);
            let result = work.apply_as(at.kind, value, Handling::KEEP, out);
            debug_assert!(result.is_ok(), "nothing is refused");
            report.stats.rejected += work.take_kept();
            return Action::Write;
        }
        let from = out.len();
        let mut action = self.judge(at, value, out, record, report, place);
        if action == Action::Empty || (action == Action::Null && !self.is_json) {
            out.extend_from_slice(self.empty);
            action = Action::Write;
        }
        if self.stats {
            let is_changed = action == Action::Null || (action == Action::Write && &out[from..] != value);
            report.stats.changed += u64::from(is_changed);
        }
        action
    }

    fn unreadable(&mut self, record: Record<'_>, refusal: Refusal, report: &mut Report) -> Action {
        report.stats.unreadable += 1;
        report.stats.clashes += u64::from(matches!(refusal.reason, Reason::HasKey(_)));
        record.refuse(report, refusal.offset, &refusal.reason);
        match self.policies.rejected {
            OnRejected::Keep => Action::Copy,
            // Such a record can be read, so nothing else in it must be lost.
            OnRejected::Null if matches!(refusal.reason, Reason::HasKey(_)) => Action::Copy,
            OnRejected::Drop => Action::Drop,
            OnRejected::Null => Action::Null,
            OnRejected::Fail => Action::Stop(refusal),
        }
    }

    fn enter_base(&mut self, reference: &[u8]) -> bool {
        self.works.enter_base(reference)
    }

    fn leave_base(&mut self) {
        self.works.leave_base();
    }
}

/// Applies the policies to a value with a fault, and its syntax. Returns the action and the number of layers.
#[cold]
fn refuse(
    work: &mut Work,
    policies: Policies,
    (kind, value): (Kind, &[u8]),
    mut refusal: Refusal,
    out: &mut Vec<u8>,
    report: &mut Report,
    mut refused: impl FnMut(&mut Report, usize, &Reason),
) -> (Action, usize) {
    // A conversion that copies escapes converts a value whatever its faults are, so the value is not rejected unless a
    // policy says so.
    let is_listed = |policy| !work.copies_escapes() || !matches!(policy, Policy::Keep | Policy::Replace);
    let is_listed = [is_listed(policies.malformed), is_listed(policies.not_text)];
    let mut handling = Handling::REFUSE;
    // A value can have a fault of each kind, so each kind is handled once.
    loop {
        let Refusal { offset, reason } = &refusal;
        let is_not_text = reason.is_not_text() && handling.not_text == OnFault::Refuse;
        let (policy, on_fault, is_listed) = match reason {
            Reason::Malformed(_) if handling.malformed == OnFault::Refuse => {
                (policies.malformed, &mut handling.malformed, is_listed[0])
            }
            _ if is_not_text => {
                report.stats.invalid_utf8 += 1;
                (policies.not_text, &mut handling.not_text, is_listed[1])
            }
            _ => {
                report.stats.rejected += 1;
                refused(report, *offset, reason);
                match policies.rejected {
                    OnRejected::Keep => {
                        out.extend_from_slice(value);
                        return (Action::Write, 0);
                    }
                    OnRejected::Drop => return (Action::Drop, 0),
                    OnRejected::Null => return (Action::Null, 0),
                    OnRejected::Fail => return (Action::Stop(refusal), 0),
                }
            }
        };
        if is_listed {
            refused(report, *offset, reason);
        }
        *on_fault = match policy {
            Policy::Keep => OnFault::Keep,
            Policy::Replace => OnFault::Repair,
            Policy::Empty => return (Action::Empty, 0),
            Policy::Drop => return (Action::Drop, 0),
            Policy::Fail => return (Action::Stop(refusal), 0),
        };
        match work.apply_as(kind, value, handling, out) {
            Ok(layers) => return (Action::Write, layers),
            Err(next) => refusal = next,
        }
    }
}
