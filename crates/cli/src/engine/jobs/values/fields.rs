//! Converts one field of many records with one call, as long as no record needs a treatment of its own.

use std::ops::Range;

use simdpct::{ByteSet, Decode};

use crate::engine::pump::feed::Chunk;
use crate::ground::utf8;
use crate::select::Selector;
use crate::select::sweep::{Delimited, Pace, Sweep, WINDOW, words};
use crate::value::policy::Treatment;

/// The marks of all bytes of a batch.
const ALL: [u64; WINDOW / 64] = [u64::MAX; WINDOW / 64];

/// Converts one field of batches of records.
#[derive(Clone)]
pub struct FieldBatch {
    sweep: Sweep,
    codec: Decode,
    /// Whether the escapes that stay are those of structural bytes, so that their records need a treatment of their own.
    is_strict: bool,
    /// The bytes whose escapes stay.
    keep: ByteSet,
    /// Whether the result must be valid UTF-8.
    is_text: bool,
    /// Whether the new value becomes a field after the old one.
    is_new: bool,
    pace: Pace,
}

impl FieldBatch {
    /// Creates the converter of the field that `selector` selects, if that is a single field whose values are only decoded.
    /// Records end in `end`. `is_new` says that new values become fields after the old ones.
    pub fn new(selector: &Selector, treatment: &Treatment, end: u8, is_new: bool) -> Option<FieldBatch> {
        let (mut sweep, structure) = selector.sweep(end)?;
        match &mut sweep {
            Sweep::Delimited(delimited) if is_new => delimited.with_bounds(),
            _ if is_new => return None,
            _ => {}
        }
        let (codec, keep) = treatment.codec()?;
        let is_strict = structure.difference(keep) != ByteSet::EMPTY;
        let is_text =
            matches!(sweep, Sweep::Shapes(_)) && ByteSet::NON_ASCII.difference(keep) != ByteSet::EMPTY;
        let keep = if is_strict { keep.union(structure) } else { keep };
        let codec = codec.keep(keep);
        Some(FieldBatch { sweep, codec, keep, is_strict, is_text, is_new, pace: Pace::new() })
    }

    /// Learns from `record`, which `selector` has read without an error.
    pub fn learn(&mut self, selector: &Selector, record: &[u8]) {
        selector.teach(record, &mut self.sweep);
    }

    /// Converts the first records of `chunk` from `start` on, and appends the result to `out`. Returns the length of these records;
    /// the caller must convert the next record by itself.
    pub fn apply(&mut self, chunk: &Chunk<'_>, start: usize, out: &mut Vec<u8>) -> usize {
        if !self.pace.may_try() {
            return 0;
        }
        let rest = &chunk.bytes[start..];
        let mut done = 0;
        loop {
            let len = self.sweep.next(chunk.bytes, start + done, self.pace.size(), chunk.marks());
            let records = &rest[done..done + len];
            let mut end = len;
            while let Err(at) = self.convert(&records[..end], out) {
                // The records before this one can have a fault of another kind.
                end = memchr::memrchr(b'\n', &records[..at]).map_or(0, |found| found + 1);
            }
            done += end;
            if end < len || len == 0 {
                self.pace.shrink(done);
                return done;
            }
            if done == rest.len() {
                return done;
            }
            self.pace.grow();
        }
    }

    /// Appends the converted `records`, in which the escapes have been found. Fails with the offset of an escape whose record
    /// needs its own treatment; nothing is appended then.
    fn convert(&self, records: &[u8], out: &mut Vec<u8>) -> Result<(), usize> {
        let (start, chosen) = (out.len(), self.sweep.chosen());
        if self.is_new
            && let Sweep::Delimited(delimited) = &self.sweep
        {
            return self.add(records, delimited, out).inspect_err(|_| out.truncate(start));
        }
        if self.is_strict {
            self.codec.try_decode_marked_append(records, chosen, out)?;
        } else {
            self.codec.decode_marked_append(records, chosen, out);
        }
        if self.is_text && utf8::validate(&out[start..]).is_err() {
            out.truncate(start);
            // Some escape outside ASCII makes the text invalid.
            let codec = self.codec.keep(self.keep.union(ByteSet::NON_ASCII));
            codec.try_decode_marked_append(records, chosen, out)?;
        }
        Ok(())
    }

    /// Appends `records`, each with the converted field after the old one. Fails with the offset of a field whose record needs its
    /// own treatment.
    fn add(&self, records: &[u8], delimited: &Delimited, out: &mut Vec<u8>) -> Result<(), usize> {
        let chosen = delimited.chosen();
        let (mut done, mut result) = (0, Ok(()));
        delimited.each_field(records.len(), |field| {
            // The carriage return before a line feed is not part of the last field.
            let rest = &records[field.start..];
            let has_return = rest[field.len()..].starts_with(b"\n") && rest[..field.len()].ends_with(b"\r");
            let stop = field.end - usize::from(has_return);
            let value = &records[field.start..stop];
            copy(records, done..stop, out);
            out.push(delimited.delimiter());
            done = stop;
            if !words(field.start, stop).any(|(index, inside)| chosen[index] & inside != 0) {
                copy(records, field.start..stop, out);
            } else if self.codec.try_decode_marked_append(value, &ALL, out).is_err() && result.is_ok() {
                result = Err(field.start);
            }
        });
        out.extend_from_slice(&records[done..]);
        result
    }
}

/// Appends the bytes of `records` in `range` to `out`. Short ranges are copied in one piece of a fixed size, and the surplus is removed,
/// because a copy of a length that varies takes several times as long.
#[inline]
fn copy(records: &[u8], range: Range<usize>, out: &mut Vec<u8>) {
    let len = out.len() + range.len();
    match records[range.start..].first_chunk::<128>() {
        Some(piece) if range.len() <= piece.len() => {
            out.extend_from_slice(piece);
            out.truncate(len);
        }
        _ => out.extend_from_slice(&records[range]),
    }
}
