//! What is done to one value, and to one that cannot be read.

use super::handling::Handling;
use super::report::Report;
use super::stats::Stats;
use super::stream::{Faults, Stream};
use super::work::Work;
use crate::ground::fault::OnFault;
use crate::ground::reason::{Reason, Refusal};

/// What becomes of a value that cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// Do what can be done.
    Keep,
    /// Repair the value.
    Replace,
    /// Make the value empty.
    Empty,
    /// Leave the record out.
    Drop,
    /// End the run.
    Fail,
}

/// What becomes of what cannot be read.
#[derive(Clone, Copy, Debug)]
pub struct Policies {
    /// Of malformed escapes, of URLs that are refused, and of records that cannot be read at all.
    pub malformed: Policy,
    /// Of what is not UTF-8, or not of the charset.
    pub not_text: Policy,
}

impl Policies {
    /// Whether nothing of a value may be written before all of it was looked at.
    pub fn withhold(self) -> bool {
        [self.malformed, self.not_text]
            .iter()
            .any(|policy| matches!(policy, Policy::Empty | Policy::Drop | Policy::Fail))
    }

    /// Whether a run may end at what it meets.
    pub fn can_fail(self) -> bool {
        [self.malformed, self.not_text].contains(&Policy::Fail)
    }
}

/// What to do with a record after one of its values was treated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Write the new value.
    Write,
    /// Write an empty value.
    Empty,
    /// Write the record as it is: it cannot be read.
    Copy,
    /// Leave the record out.
    Drop,
    /// End the run. The offset is that in the chunk.
    Stop(Refusal),
}

/// A record, and its place.
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
        let is_known = report.refused.last().is_some_and(|last| last.offset >= self.start as i64);
        if report.rejects && !is_known {
            let line = report.line(self.chunk, self.end, offset);
            report.refuse(line, offset as i64, reason, self.shown.unwrap_or(self.bytes()));
        }
    }
}

/// Which bytes would break the record around a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Around {
    /// The usual ones.
    Plain,
    /// Those around a value between quotes of its own, where blanks do no harm.
    Quotes,
    /// Those where a bracket may end as well.
    Guarded,
}

/// Which value of a record it is.
#[derive(Clone, Copy, Debug)]
pub struct At {
    /// Its number among those that were selected.
    pub index: usize,
    pub around: Around,
}

impl At {
    /// Number `index`, with nothing unusual around it.
    pub fn plain(index: usize) -> At {
        At { index, around: Around::Plain }
    }
}

/// What is done to the values of records.
pub trait Treat {
    /// Appends what becomes of `value`, which is part of `record`, to `out`. `place` tells where in the chunk a byte of
    /// the value comes from.
    fn value(
        &mut self,
        at: At,
        value: &[u8],
        out: &mut Vec<u8>,
        record: Record<'_>,
        report: &mut Report,
        place: impl Fn(usize) -> usize,
    ) -> Action;

    /// What becomes of `record`, whose values cannot be found.
    fn unreadable(&mut self, record: Record<'_>, refusal: Refusal, report: &mut Report) -> Action;
}

/// What the policies say of a value that came in pieces.
pub struct Judged {
    pub action: Action,
    /// What is wrong, by its offset in the value.
    pub refused: Option<(u64, Reason)>,
}

/// What is done to values.
#[derive(Clone)]
pub struct Treatment {
    plain: Work,
    quoted: Work,
    guarded: Work,
    policies: Policies,
    /// Nobody wants to know what is wrong with values.
    lenient: bool,
    /// Whether values are counted.
    stats: bool,
    /// What an empty value is written as.
    empty: &'static [u8],
    /// The value that says that there is none, and stays; empty if nothing does.
    none: &'static [u8],
}

impl Treatment {
    /// Does `plain`, `quoted` or `guarded`, by what is [`Around`] a value. `stats` and `rejects` say what is wanted
    /// besides.
    pub fn new(
        [plain, quoted, guarded]: [Work; 3],
        policies: Policies,
        stats: bool,
        rejects: bool,
        empty: &'static [u8],
    ) -> Treatment {
        let keeps = [policies.malformed, policies.not_text] == [Policy::Keep; 2];
        let lenient = keeps && !stats && !rejects;
        Treatment { plain, quoted, guarded, policies, lenient, stats, empty, none: b"" }
    }

    /// The same, where the value `none` says that there is none, if the work is on whole URLs: to other work it is text.
    pub fn with_none(self, none: &'static [u8]) -> Treatment {
        Treatment { none: if self.takes_whole_values() { none } else { b"" }, ..self }
    }

    /// What becomes of values that cannot be read.
    pub fn policies(&self) -> Policies {
        self.policies
    }

    /// Whether a value without a "%" stays as it is, and nobody wants to know of it.
    pub fn needs_percent(&self) -> bool {
        self.lenient && [&self.plain, &self.quoted, &self.guarded].into_iter().all(Work::needs_percent)
    }

    /// Does to `value` what [`Treat::value`] does, where it may be a part of one, so that nobody can tell yet whether the whole changes, and an
    /// empty one is an action.
    pub fn part(
        &mut self,
        around: Around,
        value: &[u8],
        out: &mut Vec<u8>,
        record: Record<'_>,
        report: &mut Report,
        place: impl Fn(usize) -> usize,
    ) -> Action {
        let policies = self.policies;
        let stats = self.stats;
        let work = self.work(around);
        let (action, layers) = match work.apply(value, Handling::REFUSE, out) {
            Ok(layers) => (Action::Write, layers),
            Err(refusal) => {
                let refused = |report: &mut Report, offset, reason: &Reason| {
                    record.refuse(report, place(offset), reason);
                };
                match refuse(work, policies, value, refusal, out, report, refused) {
                    (Action::Stop(refusal), layers) => {
                        (Action::Stop(Refusal { offset: place(refusal.offset), ..refusal }), layers)
                    }
                    other => other,
                }
            }
        };
        if stats {
            report.stats.values += 1;
            report.stats.look(value, value.len(), work);
            report.stats.layers = report.stats.layers.max(layers as u64);
        }
        action
    }

    /// The same work on a value that comes in pieces, which notes what the policies do not take.
    pub fn stream(&self) -> Stream {
        let malformed = match self.policies.malformed {
            Policy::Keep => OnFault::Keep,
            Policy::Replace => OnFault::Repair,
            Policy::Empty | Policy::Drop | Policy::Fail => OnFault::Refuse,
        };
        let not_text = match self.policies.not_text {
            Policy::Keep if self.lenient => OnFault::Keep,
            Policy::Replace => OnFault::Repair,
            _ => OnFault::Refuse,
        };
        Stream::new(&self.plain, Handling { malformed, not_text })
    }

    /// What the policies say of the faults of a value, the first of each kind, by their offset in it.
    pub fn judge(&self, faults: &Faults) -> Judged {
        let mut judged = Judged { action: Action::Write, refused: None };
        let kinds =
            [(&faults.malformed, self.policies.malformed), (&faults.not_text, self.policies.not_text)];
        for (fault, policy) in kinds {
            let Some((offset, reason)) = fault else { continue };
            judged.refused.get_or_insert((*offset, reason.clone()));
            judged.action = match policy {
                Policy::Keep | Policy::Replace => continue,
                Policy::Empty => Action::Empty,
                Policy::Drop => Action::Drop,
                Policy::Fail => Action::Stop(Refusal { offset: *offset as usize, reason: reason.clone() }),
            };
            break;
        }
        judged
    }

    /// Counts the escapes of `value` that begin before `upto`, as [`Stats::look`] does.
    pub fn look(&self, value: &[u8], upto: usize, stats: &mut Stats) -> usize {
        stats.look(value, upto, &self.plain)
    }

    /// Whether the work needs all of a value at once.
    pub fn takes_whole_values(&self) -> bool {
        self.plain.takes_whole_values()
    }

    /// What an empty value is written as.
    pub fn empty(&self) -> &'static [u8] {
        self.empty
    }

    /// Where a value can be cut so that work on the parts gives what work on the whole does.
    pub fn cut(&self, value: &[u8]) -> Option<usize> {
        self.plain.cut(value)
    }

    #[inline]
    fn work(&mut self, around: Around) -> &mut Work {
        match around {
            Around::Plain => &mut self.plain,
            Around::Quotes => &mut self.quoted,
            Around::Guarded => &mut self.guarded,
        }
    }
}

impl Treat for Treatment {
    fn value(
        &mut self,
        At { around, .. }: At,
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
            let result = self.work(around).apply(value, Handling::KEEP, out);
            debug_assert!(result.is_ok(), "nothing is refused");
            return Action::Write;
        }
        let from = out.len();
        let mut action = self.part(around, value, out, record, report, place);
        if action == Action::Empty {
            out.extend_from_slice(self.empty);
            action = Action::Write;
        }
        if self.stats {
            report.stats.changed += u64::from(action == Action::Write && &out[from..] != value);
        }
        action
    }

    fn unreadable(&mut self, record: Record<'_>, refusal: Refusal, report: &mut Report) -> Action {
        report.stats.unreadable += 1;
        report.stats.clashes += u64::from(matches!(refusal.reason, Reason::HasKey(_)));
        record.refuse(report, refusal.offset, &refusal.reason);
        match self.policies.malformed {
            Policy::Drop => Action::Drop,
            Policy::Fail => Action::Stop(refusal),
            // There is no value that could be replaced.
            Policy::Keep | Policy::Replace | Policy::Empty => Action::Copy,
        }
    }
}

/// Does to `value`, which was refused, what the policies say; and returns the layers, if it is written.
#[cold]
fn refuse(
    work: &mut Work,
    policies: Policies,
    value: &[u8],
    refusal: Refusal,
    out: &mut Vec<u8>,
    report: &mut Report,
    mut refused: impl FnMut(&mut Report, usize, &Reason),
) -> (Action, usize) {
    let ended = |policy, refusal: Refusal| match policy {
        Policy::Keep | Policy::Replace => None,
        Policy::Empty => Some((Action::Empty, 0)),
        Policy::Drop => Some((Action::Drop, 0)),
        Policy::Fail => Some((Action::Stop(refusal), 0)),
    };
    // Both can be wrong with it.
    let mut not_text = Some(refusal);
    if let Some(refusal) = not_text.take_if(|refusal| refusal.reason.is_malformed()) {
        report.stats.unreadable += u64::from(!matches!(refusal.reason, Reason::Malformed(_)));
        refused(report, refusal.offset, &refusal.reason);
        if let Some(ended) = ended(policies.malformed, refusal) {
            return ended;
        }
        let from = out.len();
        let handling = Handling { malformed: OnFault::Keep, ..Handling::REFUSE };
        not_text = work.apply(value, handling, out).err();
        out.truncate(from);
    }
    let is_text = not_text.is_none();
    if let Some(refusal) = not_text {
        report.stats.invalid_utf8 += 1;
        refused(report, refusal.offset, &refusal.reason);
        if let Some(ended) = ended(policies.not_text, refusal) {
            return ended;
        }
    }
    let repair = |policy| if policy == Policy::Replace { OnFault::Repair } else { OnFault::Keep };
    let not_text = if is_text { OnFault::Keep } else { repair(policies.not_text) };
    let result = work.apply(value, Handling { malformed: repair(policies.malformed), not_text }, out);
    debug_assert!(result.is_ok(), "nothing is refused");
    (Action::Write, result.unwrap_or(0))
}
