//! Converts one field of many records with one call, as long as no record needs a treatment of its own.

use simdpct::internals::decode_chosen_append;
use simdpct::{ByteSet, Decode};
use simdpct_records::Sweep;

use crate::common::escape::byte_of;
use crate::common::utf8;
use crate::convert::policy::Treatment;
use crate::run::pace::Pace;
use crate::run::pump::feed::Chunk;
use crate::select::Selector;
use crate::select::rewrite::set_of;

/// Converts one field of batches of records.
#[derive(Clone)]
pub struct FieldBatch {
    sweep: Box<Sweep>,
    codec: Decode,
    /// Whether the escapes that stay are those of structural bytes, so that their records need a treatment of their own.
    is_strict: bool,
    /// The bytes whose escapes stay.
    keep: ByteSet,
    /// The bytes that are written in another way if they are decoded, each with its spelling; empty if a record with one needs its own treatment.
    spellings: Vec<Option<Vec<u8>>>,
    /// Whether the result must be valid UTF-8.
    is_text: bool,
    /// The byte before a new field.
    separator: u8,
    pace: Pace,
}

impl FieldBatch {
    /// Creates the converter of the field that `selector` selects, if that is a single field whose values are only decoded.
    /// Records end in `end`. `is_new` says that new values become fields after the old ones.
    pub fn new(selector: &Selector, treatment: &Treatment, end: u8, is_new: bool) -> Option<FieldBatch> {
        let sweep = Box::new(selector.sweep(end, is_new)?);
        let structure = set_of(sweep.special());
        let (codec, keep) = treatment.codec()?;
        let keep = keep.union(set_of(sweep.kept()));
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
        Some(FieldBatch { sweep, codec, keep, spellings, is_strict, is_text, separator, pace: Pace::new() })
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
    fn convert(&mut self, records: &[u8], out: &mut Vec<u8>) -> Result<(), usize> {
        let (start, (chosen, first)) = (out.len(), self.sweep.chosen());
        if let Some(fields) = self.sweep.fields() {
            return self.add(records, fields, first, out);
        }
        let mut done = 0;
        // Records with new spellings are converted in parts.
        for (index, &word) in chosen.iter().enumerate().filter(|_| !self.spellings.is_empty()) {
            let mut rest = word;
            while rest != 0 {
                let at = (index * u64::BITS as usize + rest.trailing_zeros() as usize).wrapping_sub(first);
                rest &= rest - 1;
                let byte = records.get(at..).and_then(|rest| byte_of(rest.first_chunk()?));
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
            // Some escape outside ASCII makes the text invalid.
            let codec = self.codec.keep(self.keep.union(ByteSet::NON_ASCII));
            decode_chosen_append(&codec, records, chosen, first, true, out)?;
        }
        Ok(())
    }

    /// Appends `records`, each with the converted field after the old one. Fails with the offset of a field whose record needs its own
    /// treatment; nothing is appended then.
    fn add(
        &self,
        records: &[u8],
        fields: &[[usize; 2]],
        first: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), usize> {
        let (before, mut done) = (out.len(), 0);
        for [begin, stop] in fields.iter().map(|field| field.map(|place| place - first)) {
            // The records after the last of these are not converted now.
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
                // An escape stays that the new field may have in another spelling.
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
