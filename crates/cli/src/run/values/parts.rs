//! Converts a record that does not fit in memory, part by part. Such a record is a single value.

use crate::common::records::Records;
use crate::convert::policy::{Action, At, Record, Treatment};
use crate::convert::report::{Report, SHOWN, Stop};
use crate::run::pump::feed::Part;
use crate::run::streaming::Streaming;

/// The maximum length, in bytes, of an escape together with the following bytes that decide its meaning.
const ESCAPE: usize = 16;

/// The record format, and the reports that a run needs besides the converted values.
#[derive(Clone, Copy)]
pub struct Needs {
    pub records: Records,
    /// Whether rejected values are listed.
    pub rejects: bool,
    /// Whether positions are reported, so that lines must be counted.
    pub places: bool,
    /// Whether values are counted for the statistics.
    pub stats: bool,
}

/// The state of a record that is converted in parts.
#[derive(Clone, Default)]
pub struct Parts {
    /// The first bytes of the record, for the report of a rejected value. Empty if rejected values are not listed.
    start: Vec<u8>,
    /// Whether a part has been converted.
    has_begun: bool,
    is_rejected: bool,
    is_not_text: bool,
    has_changed: bool,
    /// The action for the record if its converted parts must not be written; otherwise `None`.
    action: Option<Action>,
    /// The line end of the record, which is known after its last part.
    end: Vec<u8>,
    /// The conversion state of a stretch that cannot be cut into independent parts.
    stream: Streaming,
    /// The bytes of that stretch whose escapes have not been counted yet.
    uncounted: Vec<u8>,
}

impl Parts {
    /// Returns the state before the first part of the record that begins with `start`.
    pub fn new(start: &[u8], needs: Needs) -> Parts {
        let start = if needs.rejects { start[..start.len().min(SHOWN + 1)].to_vec() } else { Vec::new() };
        Parts { start, ..Parts::default() }
    }

    /// Converts one part of the record by `treatment` and appends the result to `out`.
    pub fn work(
        &mut self,
        treatment: &mut Treatment,
        needs: Needs,
        bytes: &[u8],
        part: Part,
        out: &mut Vec<u8>,
        report: &mut Report,
    ) {
        let Needs { records, places, stats: is_counted, .. } = needs;
        let Part { is_cut, is_last, .. } = part;
        let stop = if is_last { records.without_end(bytes) } else { bytes.len() };
        let (value, end) = bytes.split_at(stop);
        let action = if is_cut && !self.stream.is_open() {
            let shown = Some(self.start.as_slice());
            let record = Record { chunk: bytes, start: 0, stop, end: records.end(), shown };
            treatment.set_rest(self.has_begun);
            let action = treatment.part(At::plain(0), value, out, record, report, |offset| offset);
            treatment.set_rest(false);
            self.has_changed |= out != value;
            action
        } else {
            self.stream(treatment, is_counted, value, part, out, report)
        };
        self.has_begun = true;
        // All parts belong to one record, so a rejection or invalid UTF-8 is reported only once.
        if self.is_rejected {
            report.refused.clear();
        }
        self.is_rejected |= !report.refused.is_empty();
        let stats = &mut report.stats;
        let is_not_text = stats.invalid_utf8 > 0;
        stats.invalid_utf8 = u64::from(is_not_text && !self.is_not_text);
        self.is_not_text |= is_not_text;
        if report.stop.is_some() {
            return;
        }
        if let Action::Stop(refusal) = action {
            report.stop(bytes, records.end(), refusal);
            return;
        }
        if action != Action::Write {
            self.action.get_or_insert(action);
        }
        stats.bytes_in += bytes.len() as u64;
        let counted = u64::from(is_counted && is_last);
        (stats.records, stats.values) = (counted, counted);
        match self.action {
            None => {
                out.extend_from_slice(end);
                stats.changed = counted * u64::from(self.has_changed);
            }
            Some(Action::Drop) => stats.dropped = u64::from(is_last),
            Some(_) => stats.changed = counted,
        }
        if is_last {
            self.end = end.to_vec();
        }
        report.is_open = end.is_empty() && self.action != Some(Action::Drop);
        if places {
            report.line(bytes, records.end(), bytes.len());
        }
    }

    /// Converts a part that depends on the parts before or after it, through the open stream. Appends the result to
    /// `out`.
    fn stream(
        &mut self,
        treatment: &Treatment,
        is_counted: bool,
        value: &[u8],
        part: Part,
        out: &mut Vec<u8>,
        report: &mut Report,
    ) -> Action {
        let stream = self.stream.push(|| treatment.stream(), value, part, out);
        if is_counted {
            self.uncounted.extend_from_slice(value);
            let ahead = if part.is_cut { 0 } else { ESCAPE };
            let upto = self.uncounted.len().saturating_sub(ahead);
            let counted = treatment.count_escapes(&self.uncounted, upto, &mut report.stats);
            self.uncounted.drain(..counted);
            report.stats.layers = report.stats.layers.max(stream.layers() as u64);
        }
        report.stats.invalid_utf8 = u64::from(stream.faults().not_text.is_some());
        let judged = treatment.judge(stream.faults());
        if part.is_cut {
            self.has_changed |= stream.has_changed();
            report.too_deep = u64::from(stream.is_too_deep());
        }
        if let Some((at, reason)) = judged.refused.filter(|_| report.rejects) {
            report.refuse(0, self.stream.relative(at, part), &reason, &self.start);
        }
        if let Action::Stop(refusal) = &judged.action {
            let offset = self.stream.relative(refusal.offset as u64, part);
            report.stop = Some(Stop { line: 0, offset, reason: refusal.reason.clone() });
        }
        if part.is_cut {
            self.stream.end();
        }
        judged.action
    }

    /// Reports whether the converted parts must be discarded. Appends their replacement, if there is one, to `out`.
    pub fn instead(&self, treatment: &Treatment, only_changed: bool, out: &mut Vec<u8>) -> bool {
        if self.action == Some(Action::Empty) {
            out.extend_from_slice(treatment.empty());
            out.extend_from_slice(&self.end);
        }
        self.action.is_some() || (only_changed && !self.has_changed)
    }
}
