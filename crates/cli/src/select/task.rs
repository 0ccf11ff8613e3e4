//! Defines the tasks for selected values: conversion and checks.

use crate::check::kind::Group;
use crate::check::listing::{AHEAD, Criteria, Value};
use crate::check::scanner::{State, ready};
use crate::common::reason::Refusal;
use crate::convert::policy::{Action, At, Record, ValueHandler};
use crate::convert::report::Report;

/// The work on each selected value.
#[derive(Clone)]
pub enum Task {
    Convert(Box<ValueHandler>),
    Check(Box<Check>),
}

impl Task {
    /// Appends the new value for `value`, which is part of `record`. `place` replaces ascending offsets in the value by
    /// offsets in the chunk.
    pub fn value(
        &mut self,
        at: At,
        value: &[u8],
        out: &mut Vec<u8>,
        record: Record<'_>,
        report: &mut Report,
        place: impl Fn(&mut [usize]),
    ) -> Action {
        match self {
            Task::Convert(handler) => handler.value(at, value, out, record, report, |offset| {
                let mut offsets = [offset];
                place(&mut offsets);
                offsets[0]
            }),
            Task::Check(check) => {
                check.value(at, value, record, report, place);
                out.extend_from_slice(value);
                Action::Write
            }
        }
    }

    /// Returns the action for a record, or a value in it, that cannot be parsed.
    pub fn unreadable(&mut self, record: Record<'_>, refusal: Refusal, report: &mut Report) -> Action {
        match self {
            Task::Convert(handler) => handler.unreadable(record, refusal, report),
            Task::Check(check) => {
                check.unreadable(record, &refusal, report);
                Action::Copy
            }
        }
    }

    /// Returns the action for a value whose new text its record cannot hold.
    pub fn unwritable(&mut self, record: Record<'_>, refusal: Refusal, report: &mut Report) -> Action {
        match self {
            Task::Convert(handler) => handler.unwritable(record, refusal, report),
            Task::Check(_) => Action::Copy,
        }
    }

    /// Makes the following values relative to `reference`, if the task resolves references. Returns whether it does.
    pub fn enter_base(&mut self, reference: &[u8]) -> bool {
        if let Task::Convert(handler) = self { handler.convert.inner.enter_base(reference) } else { false }
    }

    /// Undoes the last call of [`Task::enter_base`] that returned true.
    pub fn leave_base(&mut self) {
        if let Task::Convert(handler) = self {
            handler.convert.inner.leave_base();
        }
    }
}

/// The check of selected values: their findings are added to the report, and the values stay unchanged.
#[derive(Clone)]
pub struct Check {
    pub wanted: Criteria,
    /// For each finding in the current record: the number of its value, or `None` if the finding is about the record
    /// itself.
    found_in: Vec<Option<usize>>,
    /// The scanner's state inside a line that is too long for memory.
    state: State,
    /// The bytes of that long line that cannot be checked before more of the line is read.
    rest: Vec<u8>,
}

impl Check {
    /// Creates the check for the findings that are `wanted`.
    pub fn new(wanted: Criteria) -> Check {
        Check { state: wanted.state(), wanted, found_in: Vec::new(), rest: Vec::new() }
    }

    /// Prepares for the pieces of a line that is too long for memory.
    pub fn begin_pieces(&mut self) {
        (self.state, self.rest) = (self.wanted.state(), Vec::new());
    }

    /// Checks the next piece of a line that is too long for memory.
    pub fn piece(&mut self, piece: &[u8], is_last: bool, report: &mut Report, end: u8) {
        let shift = -((self.state.base + self.rest.len() as u64) as i64);
        self.rest.extend_from_slice(piece);
        let window = &self.rest;
        let ready = if is_last { window.len() } else { ready(window, 0, AHEAD) };
        let ends = self.wanted.scan_window(&mut self.state, window, ready, shift, is_last, &mut report.list);
        self.state.advance(ready);
        self.rest.drain(..ready);
        report.stats.bytes_in += piece.len() as u64;
        report.stats.records += ends;
        report.lines = u64::from(piece.last() == Some(&end));
    }

    fn value(
        &mut self,
        at: At,
        value: &[u8],
        record: Record<'_>,
        report: &mut Report,
        place: impl Fn(&mut [usize]),
    ) {
        let from = report.list.findings.len();
        self.wanted.scan_value(value, at.kind, &mut report.list);
        // Mapping the offsets takes another pass over the value, and most values have no findings.
        if report.list.findings.len() == from {
            return;
        }
        // Findings of different kinds are not in the order of their offsets.
        let mut offsets: Vec<_> =
            report.list.findings[from..].iter().map(|finding| finding.offset as usize).collect();
        offsets.sort_unstable();
        let mut places = offsets.clone();
        place(&mut places);
        for number in from..report.list.findings.len() {
            let offset = report.list.findings[number].offset as usize;
            let offset = places[offsets.partition_point(|&other| other < offset)];
            let line = report.line(record.chunk, record.end, offset);
            let finding = &mut report.list.findings[number];
            (finding.offset, finding.line) = (offset as i64, line);
            self.found_in.push(Some(at.index));
        }
    }

    /// Adds a finding that says that the record is unreadable, if such findings are wanted.
    pub fn unreadable(&mut self, record: Record<'_>, refusal: &Refusal, report: &mut Report) {
        report.stats.unreadable += 1;
        if self.wanted.contains(Group::Unreadable) {
            let Refusal { offset, reason } = refusal;
            let line = report.line(record.chunk, record.end, *offset);
            report.list.add(Group::Unreadable, line, *offset as i64, format_args!("{reason}"));
            self.found_in.push(None);
        }
    }

    /// Sets the value of each finding from number `from` on. These are the findings in the record at `start`. `name`
    /// returns the type and the name of a value, if it has a name.
    pub fn name_values(
        &mut self,
        start: usize,
        from: usize,
        report: &mut Report,
        name: impl Fn(usize) -> Option<(&'static str, String)>,
    ) {
        for (finding, index) in report.list.findings[from..].iter_mut().zip(self.found_in.drain(..)) {
            let Some((kind, name)) = index.and_then(&name) else { continue };
            finding.value = Some(Value { kind, name, at: finding.offset - start as i64 });
        }
    }
}
