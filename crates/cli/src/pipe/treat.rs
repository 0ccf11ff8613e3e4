//! What is done to one value, and to one that cannot be read.

use crate::args::{Pipe, Policy};
use crate::work::{Bad, Refusal, Work};

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

    /// Whether nothing of a value may be written before all of it was looked at.
    pub fn withhold(self) -> bool {
        [self.malformed, self.utf8]
            .iter()
            .any(|policy| matches!(policy, Policy::Empty | Policy::Drop | Policy::Fail))
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
    /// The value shall be empty.
    Empty,
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
    /// The start of the record, if the chunk is a part of it.
    pub shown: Option<&'a [u8]>,
}

impl<'a> Record<'a> {
    /// Its bytes.
    pub fn bytes(&self) -> &'a [u8] {
        &self.chunk[self.start..self.stop]
    }

    /// Adds to `report`, if that is wanted, what is wrong at `offset` of the chunk, unless it is there already.
    pub fn refuse(&self, report: &mut Report, offset: usize, reason: &Reason) {
        let is_known = report.refused.last().is_some_and(|last| last.offset >= self.start);
        if report.rejects && !is_known {
            let line = report.line(self.chunk, self.end, offset);
            report.refuse(line, offset, reason, self.shown.unwrap_or(self.bytes()));
        }
    }
}

/// Which bytes would break the record where a value stands.
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

    /// What becomes of values that cannot be read.
    pub fn policies(&self) -> Policies {
        self.policies
    }

    /// Appends what becomes of `value`, which is part of `record`, to `out`. `place` tells where in the chunk an
    /// byte of the value comes from.
    pub fn value(
        &mut self,
        spot: Spot,
        value: &[u8],
        out: &mut Vec<u8>,
        record: Record<'_>,
        report: &mut Report,
        place: impl Fn(usize) -> usize,
    ) -> Verdict {
        let from = out.len();
        let mut verdict = self.part(spot, value, out, record, report, place);
        if verdict == Verdict::Empty {
            out.extend_from_slice(self.empty);
            verdict = Verdict::Keep;
        }
        if self.stats {
            report.stats.changed += u64::from(verdict == Verdict::Keep && &out[from..] != value);
        }
        verdict
    }

    /// The same for a value that may be a part of one, so that nobody can tell yet whether the whole changes, and an
    /// empty one is a verdict.
    pub fn part(
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
        let verdict = match work.apply(value, out) {
            Ok(()) => Verdict::Keep,
            Err(refusal) => {
                let refused = |report: &mut Report, offset, reason: &Reason| {
                    record.refuse(report, place(offset), reason);
                };
                match refuse(work, self.policies, value, refusal, out, report, refused) {
                    Verdict::Stop(offset, reason) => Verdict::Stop(place(offset), reason),
                    verdict => verdict,
                }
            }
        };
        if self.stats {
            report.stats.look(value, work);
            report.stats.layers = report.stats.layers.max(work.layers() as u64);
        }
        verdict
    }

    /// What an empty value is written as.
    pub fn empty(&self) -> &'static [u8] {
        self.empty
    }

    /// Where a value can be cut so that work on the parts gives what work on the whole does.
    pub fn cut(&self, value: &[u8]) -> Option<usize> {
        self.plain.cut_value(value)
    }
}

/// Does to `value`, which was refused, what the policies say.
#[cold]
fn refuse(
    work: &mut Work,
    policies: Policies,
    value: &[u8],
    refusal: Refusal,
    out: &mut Vec<u8>,
    report: &mut Report,
    mut refused: impl FnMut(&mut Report, usize, &Reason),
) -> Verdict {
    // It can be bad in both ways.
    let mut not_text = Some(refusal);
    if let Refusal::Malformed(escape) = refusal {
        let reason = Reason::from(refusal);
        refused(report, escape.offset, &reason);
        match policies.malformed {
            Policy::Keep | Policy::Replace => {}
            Policy::Empty => return Verdict::Empty,
            Policy::Drop => return Verdict::Drop,
            Policy::Fail => return Verdict::Stop(escape.offset, reason),
        }
        let from = out.len();
        not_text = work.apply_text(value, out).err();
        out.truncate(from);
    }
    if let Some(refusal) = not_text {
        let (offset, reason) = (refusal.offset(), Reason::from(refusal));
        report.stats.invalid_utf8 += 1;
        refused(report, offset, &reason);
        match policies.utf8 {
            Policy::Keep | Policy::Replace => {}
            Policy::Empty => return Verdict::Empty,
            Policy::Drop => return Verdict::Drop,
            Policy::Fail => return Verdict::Stop(offset, reason),
        }
    }
    let is_replaced = |policy| policy == Policy::Replace;
    let repaired = Bad {
        malformed: is_replaced(policies.malformed),
        not_text: not_text.is_some() && is_replaced(policies.utf8),
    };
    work.apply_repairing(value, repaired, out);
    Verdict::Keep
}
