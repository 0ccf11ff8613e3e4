//! What is done to one value, and to one that cannot be read.

use std::borrow::Cow;

use crate::args::{Pipe, Policy};
use crate::work::{Refusal, Work};

use super::reason::Reason;
use super::report::Report;

/// What becomes of what cannot be read.
#[derive(Clone, Copy, Debug)]
pub struct Policies {
    /// Of malformed escapes, and of records that cannot be read at all.
    pub malformed: Policy,
    pub utf8: Policy,
}

impl Policies {
    /// As `args` and `--strict` ask.
    pub fn new(args: &Pipe, strict: bool) -> Policies {
        let malformed = if strict { Policy::Fail } else { args.on_error.unwrap_or(Policy::Keep) };
        Policies { malformed, utf8: args.on_invalid_utf8.unwrap_or(Policy::Keep) }
    }

    /// Whether a run may end at what it meets.
    pub fn can_fail(self) -> bool {
        [self.malformed, self.utf8].contains(&Policy::Fail)
    }
}

/// What becomes of the record after one of its values was treated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The new value is there.
    Keep,
    /// The record could not be read, and stays as it is.
    Unreadable,
    /// The record is left out.
    Drop,
    /// The run ends: why, and where in the chunk.
    Stop(usize, Reason),
}

/// A record, and where it stands.
#[derive(Clone, Copy)]
pub struct Record<'a> {
    /// The chunk that it is part of.
    pub chunk: &'a [u8],
    /// Its start in the chunk.
    pub start: usize,
    /// Its end in the chunk, without the line end.
    pub stop: usize,
    /// What is counted for line numbers.
    pub end: u8,
}

impl<'a> Record<'a> {
    /// Its octets.
    pub fn octets(&self) -> &'a [u8] {
        &self.chunk[self.start..self.stop]
    }

    /// Adds to `report`, if that is wanted, what is wrong at `offset` of the chunk, unless it is there already.
    pub fn refuse(&self, report: &mut Report, offset: usize, reason: &Reason) {
        let is_known = report.refused.last().is_some_and(|last| last.offset >= self.start);
        if report.rejects && !is_known {
            let line = report.line(self.chunk, self.end, offset);
            report.refuse(line, offset, reason, self.octets());
        }
    }
}

/// Which octets would break the record where a value stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spot {
    /// The usual ones.
    Plain,
    /// A value between quotes of its own, where blanks do no harm.
    Quoted,
}

/// What is done to values.
#[derive(Clone)]
pub struct Treatment {
    plain: Work,
    quoted: Work,
    policies: Policies,
    /// Nobody wants to know what is wrong with values.
    lenient: bool,
    /// Whether values are counted.
    stats: bool,
    /// What an empty value is written as.
    empty: &'static [u8],
}

impl Treatment {
    /// Does `plain`, or `quoted` to values between quotes.
    pub fn new(
        plain: Work,
        quoted: Work,
        args: &Pipe,
        policies: Policies,
        empty: &'static [u8],
    ) -> Treatment {
        let stats = args.stats.is_some();
        let keeps = [policies.malformed, policies.utf8] == [Policy::Keep; 2];
        Treatment {
            plain,
            quoted,
            policies,
            lenient: keeps && !stats && args.rejects.is_none(),
            stats,
            empty,
        }
    }

    /// What becomes of records that cannot be read at all.
    pub fn unreadable(&self) -> Policy {
        self.policies.malformed
    }

    /// Appends what becomes of `value`, which is part of `record`, to `out`. `place` tells where in the chunk an
    /// octet of the value comes from.
    pub fn value(
        &mut self,
        spot: Spot,
        value: &[u8],
        out: &mut Vec<u8>,
        record: Record<'_>,
        report: &mut Report,
        place: impl Fn(usize) -> usize,
    ) -> Verdict {
        let work = match spot {
            Spot::Plain => &mut self.plain,
            Spot::Quoted => &mut self.quoted,
        };
        if self.lenient {
            work.apply_lenient(value, out);
            return Verdict::Keep;
        }
        let from = out.len();
        let verdict = match work.apply(value, out) {
            Ok(()) => Verdict::Keep,
            Err(refusal) => {
                let refused = |report: &mut Report, offset, reason: &Reason| {
                    record.refuse(report, place(offset), reason);
                };
                match refuse(work, self.policies, self.empty, value, refusal, out, report, refused) {
                    Verdict::Stop(offset, reason) => Verdict::Stop(place(offset), reason),
                    verdict => verdict,
                }
            }
        };
        if self.stats {
            report.stats.look(value, work);
            report.stats.layers = report.stats.layers.max(work.layers() as u64);
            report.stats.changed += u64::from(verdict == Verdict::Keep && &out[from..] != value);
        }
        verdict
    }
}

/// Does to `value`, which was refused, what the policies say.
#[cold]
#[allow(
    clippy::too_many_arguments,
    reason = "the rare half of `Treatment::value`, with parts of self borrowed"
)]
fn refuse(
    work: &mut Work,
    policies: Policies,
    empty: &[u8],
    value: &[u8],
    refusal: Refusal,
    out: &mut Vec<u8>,
    report: &mut Report,
    mut refused: impl FnMut(&mut Report, usize, &Reason),
) -> Verdict {
    let from = out.len();
    let mut not_text = refusal;
    if let Refusal::Malformed(escape) = refusal {
        let reason = Reason::from(refusal);
        refused(report, escape.offset, &reason);
        let result = match policies.malformed {
            Policy::Keep => work.apply_text(value, out),
            Policy::Replace => {
                // It can be wrong in both ways.
                let result = work.apply_text(value, out);
                out.truncate(from);
                repair(work, value, escape.offset, out);
                result
            }
            Policy::Empty => {
                out.extend_from_slice(empty);
                return Verdict::Keep;
            }
            Policy::Drop => return Verdict::Drop,
            Policy::Fail => return Verdict::Stop(escape.offset, reason),
        };
        match result {
            Ok(()) => return Verdict::Keep,
            Err(refusal) => not_text = refusal,
        }
    }
    if out.len() == from {
        work.apply_lenient(value, out);
    }
    let (offset, reason) = (not_text.offset(), Reason::from(not_text));
    report.stats.invalid_utf8 += 1;
    refused(report, offset, &reason);
    match policies.utf8 {
        Policy::Keep => {}
        // Octets stay escaped, and a character is a reference to it.
        Policy::Replace if reason == Reason::NotInCharset => {}
        Policy::Replace => {
            // What is wrong with values to be encoded does not show in the result.
            if out[from..].is_ascii()
                && let Cow::Owned(text) = String::from_utf8_lossy(value)
            {
                out.truncate(from);
                work.apply_lenient(text.as_bytes(), out);
            }
            if let Cow::Owned(text) = String::from_utf8_lossy(&out[from..]) {
                out.truncate(from);
                out.extend_from_slice(text.as_bytes());
            }
        }
        Policy::Empty => {
            out.truncate(from);
            out.extend_from_slice(empty);
        }
        Policy::Drop => return Verdict::Drop,
        Policy::Fail => return Verdict::Stop(offset, reason),
    }
    Verdict::Keep
}

/// Appends what becomes of `value`, of which the `%` at `bad` is the first that starts no escape, with `%25` for
/// each of these.
fn repair(work: &mut Work, value: &[u8], mut bad: usize, out: &mut Vec<u8>) {
    let mut rest = value;
    loop {
        work.apply_lenient(&rest[..bad], out);
        out.extend_from_slice(b"%25");
        // It may be written as `\x25`.
        let len = if rest[bad] == b'%' { 1 } else { 4 };
        rest = &rest[bad + len..];
        match work.apply_well_formed(rest, out) {
            Ok(()) => return,
            Err(refusal) => bad = refusal.offset(),
        }
    }
}
