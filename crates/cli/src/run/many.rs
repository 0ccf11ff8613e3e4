//! Treats many records at once, as long as none of them needs a treatment of its own.

use std::ops::Range;

use simdpct::internals::decode_chosen_append;
use simdpct::{ByteSet, Decode};
use simdpct_records::Sweep;

use super::pump::feed::Chunk;
use crate::common::fault::{Handling, Policy};
use crate::common::records::Records;
use crate::common::utf8;
use crate::convert::policy::ValueHandler;
use crate::convert::report::Report;
use crate::convert::{Conversion, Escapes, Text};
use crate::select::Selector;

/// The treatment of many records at once.
#[derive(Clone)]
pub enum Many {
    /// Converts blocks of input, which may begin and end inside records: each byte or escape is converted by itself.
    Blocks(Conversion),
    /// Converts records with one call.
    Batch(Batch),
    /// Skips the records that cannot change.
    Skip(EscapeSearch),
    /// Skips the records whose escapes cannot be findings.
    Sweep(Box<Sweep>, Pace),
}

/// Chooses the sizes of batches of records. After a record that needs its own treatment, batches are smaller, so that
/// one such record does not slow down many others.
#[derive(Clone)]
pub struct Pace {
    /// The maximum size of a batch, in bytes.
    most: usize,
    /// The maximum size of the next batch, in bytes.
    pub size: usize,
    /// The number of bytes that were treated since the last batch that ended early.
    done: usize,
    /// The number of consecutive batches that ended early near their start, counted up to 7.
    ended: u32,
    /// The number of next records that are treated by themselves without an attempt to treat a batch.
    skip: u32,
}

/// The maximum size of a batch of lines, in bytes.
const LINES: usize = 16 * 1024;

/// The maximum size of a batch of records in which fields are found, in bytes. With its masks and its result, such a
/// batch stays in the first-level cache.
pub const WINDOW: usize = 8 * 1024;

/// The minimum size of a batch, in bytes.
const LEAST: usize = 512;

impl Pace {
    /// Creates a pace that begins with batches of the maximum size `most`.
    pub fn new(most: usize) -> Pace {
        Pace { most, size: most, done: 0, ended: 0, skip: 0 }
    }

    /// Reports whether a batch may be treated now. Otherwise, the next record is treated by itself.
    pub fn may_try(&mut self) -> bool {
        let may_try = self.skip == 0;
        self.skip = self.skip.saturating_sub(1);
        may_try
    }

    /// Chooses the next size after `done` bytes of a batch were treated. `is_whole` says whether they are the whole
    /// batch.
    pub fn step(&mut self, done: usize, is_whole: bool) {
        self.done += done;
        if is_whole {
            self.size = self.most.min(2 * self.size);
        } else {
            self.ended = if self.done < LEAST { (self.ended + 1).min(7) } else { 0 };
            self.skip = (1 << self.ended) - 1;
            self.size = (2 * self.done).clamp(LEAST, self.most);
            self.done = 0;
        }
    }

    /// Lets the next `records` records be treated one by one. Callers do so after many records that needed a treatment of
    /// their own.
    pub fn pause(&mut self, records: u32) {
        self.skip = records;
    }
}

/// The conversion of many records with one call, up to a record that needs a treatment of its own.
#[derive(Clone)]
pub struct Batch {
    way: Way,
    pub pace: Pace,
}

#[derive(Clone)]
enum Way {
    /// Each line is a value.
    Lines(Conversion, Records, Handling),
    /// One field of each record is a value.
    Field(Box<FieldCodec>),
}

impl Batch {
    /// Creates a batch that converts lines by `convert`. A value needs a treatment of its own if a policy other than
    /// `keep` applies to it, or if it is rejected and `rejects` is set, so that rejected values are listed.
    pub fn lines(convert: Conversion, records: Records, policies: Handling, rejects: bool) -> Batch {
        let on = |policy, is_listed| if is_listed || policy != Policy::Keep { Policy::Fail } else { policy };
        let is_listed = rejects && convert.escapes != Some(Escapes::Copied);
        let handling = Handling {
            malformed: on(policies.malformed, is_listed),
            not_text: on(policies.not_text, is_listed),
            rejected: on(policies.rejected, rejects),
        };
        Batch { way: Way::Lines(convert, records, handling), pace: Pace::new(LINES) }
    }

    /// Creates a batch that converts the selected field. Returns `None` unless there is only one and its values are
    /// only decoded. Records end in `end`. `is_new` says whether new values become fields after the old ones.
    pub fn field(selector: &Selector, handler: &ValueHandler, end: u8, is_new: bool) -> Option<Batch> {
        let codec = FieldCodec::new(selector, handler, end, is_new)?;
        Some(Batch { way: Way::Field(Box::new(codec)), pace: Pace::new(WINDOW) })
    }

    /// Learns the shape of `record` (in JSON, its text without strings and numbers), so that a batch can have records
    /// of this shape. `selector` has read `record` without an error.
    pub fn learn(&mut self, selector: &Selector, record: &[u8]) {
        if let Way::Field(codec) = &mut self.way {
            codec.sweep.learn(record, &selector.found);
        }
    }

    /// Converts the first records of `chunk` from `start` on, each of which ends in `end`, and appends the result to
    /// `out`. Returns the length of these records, and whether the next one needs a treatment of its own.
    pub fn apply(
        &mut self,
        chunk: &Chunk<'_>,
        start: usize,
        end: u8,
        out: &mut Vec<u8>,
        report: &mut Report,
    ) -> (usize, bool) {
        let (rest, size) = (&chunk.bytes[start..], self.pace.size);
        let (len, done) = match &mut self.way {
            Way::Lines(convert, records, handling) => {
                let near = memchr::memrchr(end, &rest[..rest.len().min(size)]);
                let len = near.map_or_else(|| records.end_of(rest, 0), |near| near + 1);
                let text = Text { bytes: &rest[..len], records: *records, handling: *handling };
                let done = convert.convert_many(text, out);
                report.stats.rejected += convert.take_kept();
                (len, done)
            }
            Way::Field(codec) => {
                let len = codec.sweep.next(chunk.bytes, start, size, chunk.marks);
                let mut done = len;
                while let Err(at) = codec.apply(&rest[..done], out) {
                    // The records before the failed one are converted again. They can fail for another reason.
                    done = memchr::memrchr(end, &rest[..at]).map_or(0, |near| near + 1);
                }
                (len, done)
            }
        };
        let is_whole = done == len && len > 0;
        self.pace.step(done, is_whole);
        (done, !is_whole)
    }
}

/// Converts one field of records.
#[derive(Clone)]
struct FieldCodec {
    sweep: Sweep,
    codec: Decode,
    /// Whether a record needs its own treatment if an escape in it is of a byte that the syntax spells differently.
    is_strict: bool,
    /// The bytes whose escapes stay.
    keep: ByteSet,
    /// For each byte, its spelling if the syntax of the record has one for it. Empty if there is no spelling.
    spellings: Vec<Option<Vec<u8>>>,
    /// Whether the result must be valid UTF-8.
    is_text: bool,
    /// The byte before a new field.
    separator: u8,
}

impl FieldCodec {
    fn new(selector: &Selector, handler: &ValueHandler, end: u8, is_new: bool) -> Option<FieldCodec> {
        let sweep = selector.sweep(end, is_new)?;
        let structure = sweep.special;
        let (codec, keep) = handler.codec()?;
        let keep = keep.union(sweep.kept);
        let respelt = structure.difference(keep);
        let spell = |byte| if respelt.contains(byte) { sweep.spell(byte) } else { None };
        let mut spellings: Vec<_> = (0..=u8::MAX).map(spell).collect();
        if spellings.iter().all(Option::is_none) {
            spellings.clear();
        }
        let is_strict = respelt != ByteSet::EMPTY && spellings.is_empty();
        let is_text = sweep.is_text() && ByteSet::NON_ASCII.difference(keep) != ByteSet::EMPTY;
        let keep = keep.union(structure);
        let codec = codec.keep(keep);
        let separator = selector.table().map_or(b',', |table| table.dialect().delimiter);
        Some(FieldCodec { sweep, codec, keep, spellings, is_strict, is_text, separator })
    }

    /// Appends the converted `records`, whose escapes the sweep has found. Fails with the offset of an escape whose
    /// record needs its own treatment; nothing is appended then.
    fn apply(&mut self, records: &[u8], out: &mut Vec<u8>) -> Result<(), usize> {
        let (start, (chosen, first)) = (out.len(), self.sweep.chosen());
        if let Some(fields) = self.sweep.fields() {
            return self.add(records, fields, first, out);
        }
        let mut done = 0;
        // If the syntax has a spelling for the byte of an escape, the spelling replaces the escape. The records between
        // such escapes are decoded in parts.
        for (index, &word) in chosen.iter().enumerate().filter(|_| !self.spellings.is_empty()) {
            let mut rest = word;
            while rest != 0 {
                let at = (index * u64::BITS as usize + rest.trailing_zeros() as usize).wrapping_sub(first);
                rest &= rest - 1;
                let byte = records.get(at..).and_then(simdpct::decode_escape);
                if let Some(text) = byte.and_then(|byte| self.spellings[usize::from(byte)].as_ref()) {
                    if at > done {
                        let part = &records[done..at];
                        decode_chosen_append(&self.codec, part, chosen, first + done, false, out)?;
                    }
                    out.extend_from_slice(text);
                    done = at + 3;
                }
            }
        }
        decode_chosen_append(&self.codec, &records[done..], chosen, first + done, self.is_strict, out)?;
        if self.is_text && utf8::validate(&out[start..]).is_err() {
            out.truncate(start);
            // An escape of a byte outside ASCII makes the text invalid. The next call fails at the first such escape.
            let codec = self.codec.keep(self.keep.union(ByteSet::NON_ASCII));
            decode_chosen_append(&codec, records, chosen, first, true, out)?;
        }
        Ok(())
    }

    /// Appends `records`, each with the converted field after the old one. Fails with the offset of a field whose
    /// record needs its own treatment; nothing is appended then.
    fn add(
        &self,
        records: &[u8],
        fields: &[[usize; 2]],
        first: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), usize> {
        let (before, mut done) = (out.len(), 0);
        for [begin, stop] in fields.iter().map(|field| field.map(|place| place - first)) {
            // The fields after `records` are not converted now.
            if stop >= records.len() {
                break;
            }
            // A blank line is no row, and gets no new cell.
            let is_first = begin == 0 || records[begin - 1] == b'\n';
            if is_first && begin == stop && b"\r\n".contains(&records[stop]) {
                continue;
            }
            out.extend_from_slice(&records[done..stop]);
            out.push(self.separator);
            let value = &records[begin..stop];
            if memchr::memchr(b'%', value).is_none() {
                out.extend_from_slice(value);
            } else {
                let at = out.len();
                self.codec.decode_append(value, out);
                // The row may have another spelling for the byte of an escape that stays.
                if self.is_strict && memchr::memchr(b'%', &out[at..]).is_some() {
                    out.truncate(before);
                    return Err(begin);
                }
            }
            done = stop;
        }
        out.extend_from_slice(&records[done..]);
        Ok(())
    }
}

/// After this number of consecutive records with an escape, the search pauses for [`PAUSE`] records.
const DENSE: u32 = 8;

/// The number of records for which the search pauses.
const PAUSE: u32 = 64;

/// Finds the records of a chunk that contain a `%`, and those that may be unreadable. In JSON, logfmt, logs and lines with
/// escapes of a server it also finds a `\`, and in the last two a `#`, which may begin another spelling of `%`.
#[derive(Clone)]
pub struct EscapeSearch {
    /// The offset after the byte that was found last; 0 before the first search in a chunk, and `usize::MAX` if no such
    /// byte is left.
    percent: usize,
    /// The start of the record with that byte; the length of the chunk if no such byte is left.
    record: usize,
    /// The number of consecutive records in which the search has found an escape.
    dense: u32,
    pace: Pace,
}

impl EscapeSearch {
    pub fn new() -> EscapeSearch {
        EscapeSearch { percent: 0, record: 0, dense: 0, pace: Pace::new(WINDOW) }
    }

    /// Returns the start of the first record from `start` on that may contain an escape or be unreadable. Returns the
    /// end of the chunk if no such record is left.
    #[inline]
    pub fn next(&mut self, selector: &Selector, chunk: &Chunk<'_>, start: usize, records: Records) -> usize {
        if start == 0 {
            self.percent = 0;
        }
        if !self.pace.may_try() {
            return start;
        }
        if self.percent <= start {
            let found = selector.find_escape(&chunk.bytes[start..]).map(|found| start + found);
            (self.percent, self.record) = match found {
                Some(at) => (at + 1, chunk.start_of(at, start, records.end()).max(start)),
                None => (usize::MAX, chunk.bytes.len()),
            };
        }
        if start < self.record {
            self.dense = 0;
            if let Some(record) = unreadable(selector, chunk, start..self.record, records) {
                return record;
            }
        }
        self.dense += 1;
        if self.dense == DENSE {
            self.dense = 0;
            self.pace.pause(PAUSE);
        }
        self.record
    }
}

/// Reports whether `record` is copied without being read, if records may be skipped. Such a record has no escape, and
/// [`Selector::looks_readable`] returns true for it.
pub fn may_pass(selector: &Selector, record: &[u8]) -> bool {
    selector.find_escape(record).is_none() && selector.looks_readable(record)
}

/// Returns the start of the first record in `range` of `chunk` that may be unreadable.
fn unreadable(
    selector: &Selector,
    chunk: &Chunk<'_>,
    range: Range<usize>,
    records: Records,
) -> Option<usize> {
    if selector.is_always_readable() {
        return None;
    }
    if selector.table().is_some() {
        // Misplaced quotes are only in rows that `irregular` finds, such as rows with line feeds in quotes.
        let irregular = chunk.marks?.irregular(range.clone())?;
        return Some(chunk.start_of(irregular, range.start, records.end()).max(range.start));
    }
    let mut start = range.start;
    while start < range.end {
        let stop = chunk.end_of(start, records.end());
        if !selector.looks_readable(chunk.record(start, stop, records).bytes()) {
            return Some(start);
        }
        start = stop;
    }
    None
}
