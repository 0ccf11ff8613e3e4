//! Converts one field of many records with one call, as long as no record needs a treatment of its own.

use simdpct::{ByteSet, Decode};

use crate::ground::utf8;
use crate::select::Selector;
use crate::select::sweep::Sweep;
use crate::value::policy::Treatment;

/// The minimum and maximum size of a batch, in bytes. After a record that needs its own treatment, batches are smaller, so
/// that one such record does not slow down many others.
const SIZES: (usize, usize) = (512, 8 * 1024);

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
    /// The maximum size of the next batch, in bytes.
    size: usize,
    /// The number of consecutive batches that ended early near their start, counted up to 4.
    ended: u32,
    /// The number of next records that are left to the caller without an attempt to convert them.
    skip: u32,
}

impl FieldBatch {
    /// Creates the converter of the field that `selector` selects, if that is a single field whose values are only decoded.
    /// Records end in `end`.
    pub fn new(selector: &Selector, treatment: &Treatment, end: u8) -> Option<FieldBatch> {
        let (sweep, structure) = selector.sweep(end)?;
        let (codec, keep) = treatment.codec()?;
        let is_strict = structure.difference(keep) != ByteSet::EMPTY;
        let is_text =
            matches!(sweep, Sweep::Shapes(_)) && ByteSet::NON_ASCII.difference(keep) != ByteSet::EMPTY;
        let keep = if is_strict { keep.union(structure) } else { keep };
        let codec = codec.keep(keep);
        Some(FieldBatch { sweep, codec, keep, is_strict, is_text, size: SIZES.1, ended: 0, skip: 0 })
    }

    /// Learns from `record`, which `selector` has read without an error.
    pub fn learn(&mut self, selector: &Selector, record: &[u8]) {
        selector.teach(record, &mut self.sweep);
    }

    /// Converts the first records of `rest` and appends the result to `out`. Returns the length of these records; the caller
    /// must convert the next record by itself.
    pub fn apply(&mut self, rest: &[u8], out: &mut Vec<u8>) -> usize {
        if self.skip > 0 {
            self.skip -= 1;
            return 0;
        }
        let mut done = 0;
        loop {
            let len = self.sweep.next(&rest[done..], self.size);
            let records = &rest[done..done + len];
            let mut end = len;
            while let Err(at) = self.convert(&records[..end], out) {
                // The records before this one can have a fault of another kind.
                end = memchr::memrchr(b'\n', &records[..at]).map_or(0, |found| found + 1);
            }
            done += end;
            if end < len || len == 0 {
                self.ended = if done < SIZES.0 { (self.ended + 1).min(4) } else { 0 };
                self.skip = (1 << self.ended) - 1;
                self.size = (2 * done).clamp(SIZES.0, SIZES.1);
                return done;
            }
            if done == rest.len() {
                return done;
            }
            self.size = SIZES.1.min(2 * self.size);
        }
    }

    /// Appends the converted `records`, in which the escapes have been found. Fails with the offset of an escape whose record
    /// needs its own treatment; nothing is appended then.
    fn convert(&self, records: &[u8], out: &mut Vec<u8>) -> Result<(), usize> {
        let (start, chosen) = (out.len(), self.sweep.chosen());
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
}
