//! Converts one field of many records with one call, as long as no record needs a treatment of its own.

use std::ops::Range;

use simdpct::{ByteSet, Decode};

use crate::engine::pump::feed::Chunk;
use crate::ground::utf8;
use crate::select::Selector;
use crate::select::sweep::{Pace, Sweep, WINDOW};
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
    rows: Rows,
    pace: Pace,
}

/// Buffers for rows that get a new field.
#[derive(Clone, Default)]
struct Rows {
    /// The places of the old fields: where they begin, and where they stop.
    begins: Vec<u32>,
    stops: Vec<u32>,
    /// The rows with their fields converted.
    converted: Vec<u8>,
    /// For each mask and the end, the number of bits before it.
    ranks: Vec<u32>,
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
        Some(FieldBatch {
            sweep,
            codec,
            keep,
            is_strict,
            is_text,
            is_new,
            rows: Rows::default(),
            pace: Pace::new(),
        })
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
        if self.is_new {
            return self.add(records, out);
        }
        let (start, (chosen, first)) = (out.len(), self.sweep.chosen());
        if self.is_strict {
            self.codec.try_decode_marked_append(records, chosen, first, out)?;
        } else {
            self.codec.decode_marked_append(records, chosen, first, out);
        }
        if self.is_text && utf8::validate(&out[start..]).is_err() {
            out.truncate(start);
            // Some escape outside ASCII makes the text invalid.
            let codec = self.codec.keep(self.keep.union(ByteSet::NON_ASCII));
            codec.try_decode_marked_append(records, chosen, first, out)?;
        }
        Ok(())
    }

    /// Appends `records`, each with the converted field after the old one. Fails with the offset of an escape whose record needs its
    /// own treatment; nothing is appended then.
    fn add(&mut self, records: &[u8], out: &mut Vec<u8>) -> Result<(), usize> {
        let FieldBatch { sweep, codec, rows, .. } = self;
        let (Sweep::Delimited(delimited), (chosen, first)) = (&*sweep, sweep.chosen()) else { return Ok(()) };
        rows.converted.clear();
        codec.try_decode_marked_append(records, chosen, first, &mut rows.converted)?;
        let escapes = rows.rank(chosen, first + records.len());
        // Each decoded escape loses two bytes, so the places of the converted fields follow from the number of escapes before them. This
        // is not so if some escapes are malformed.
        let is_regular = rows.converted.len() + 2 * escapes == records.len();
        let count = delimited.fields(&mut rows.begins, &mut rows.stops);
        let places = rows.begins.iter().zip(&rows.stops).take(count);
        let places = places.map(|(&begin, &stop)| (begin as usize - first, stop as usize - first));
        // The carriage return before a line feed is not part of the last field.
        let places = places.take_while(|&(_, stop)| stop < records.len()).map(|(begin, stop)| {
            let has_return = records[stop] == b'\n' && records[begin..stop].ends_with(b"\r");
            (begin, stop - usize::from(has_return))
        });
        let (mut done, mut lost) = (0, 0);
        if !is_regular {
            for (begin, stop) in places {
                out.extend_from_slice(&records[done..stop]);
                out.push(delimited.delimiter());
                codec.decode_marked_append(&records[begin..stop], &ALL, 0, out);
                done = stop;
            }
            out.extend_from_slice(&records[done..]);
            return Ok(());
        }
        let start = out.len();
        out.resize(start + 2 * records.len() + count + PIECE, 0);
        let new = &mut out[start..];
        let mut at = 0;
        for (begin, stop) in places {
            copy(records, done..stop, new, &mut at);
            new[at] = delimited.delimiter();
            at += 1;
            done = stop;
            let before = lost;
            lost = 2 * rows.count(chosen, first + stop);
            copy(&rows.converted, begin - before..stop - lost, new, &mut at);
        }
        copy(records, done..records.len(), new, &mut at);
        out.truncate(start + at);
        Ok(())
    }
}

impl Rows {
    /// Counts the bits in `words` up to bit number `end`, and prepares [`Rows::count`].
    #[allow(clippy::cast_possible_truncation, reason = "a window is shorter than 4 GiB")]
    fn rank(&mut self, words: &[u64], end: usize) -> usize {
        self.ranks.clear();
        self.ranks.extend(words.iter().map(|word| word.count_ones()));
        self.ranks.push(0);
        let mut before = 0;
        for rank in &mut self.ranks {
            before += std::mem::replace(rank, before);
        }
        self.count(words, end)
    }

    /// Returns the number of bits in `words` up to bit number `end`.
    #[inline]
    fn count(&self, words: &[u64], end: usize) -> usize {
        let (index, below) = (end / 64, !(u64::MAX << (end % 64)));
        (self.ranks[index] + words.get(index).map_or(0, |word| (word & below).count_ones())) as usize
    }
}

/// The number of bytes that are copied at once.
const PIECE: usize = 128;

/// Copies the bytes of `from` in `range` to offset `at` of `to`, and advances `at`. Short ranges are copied in one piece of a fixed
/// size, because a copy of a length that varies takes several times as long. The next copy overwrites the surplus.
#[inline(always)]
fn copy(from: &[u8], range: Range<usize>, to: &mut [u8], at: &mut usize) {
    let (len, rest) = (range.len(), &mut to[*at..]);
    match (from[range.start..].first_chunk::<PIECE>(), rest.first_chunk_mut::<PIECE>()) {
        (Some(piece), Some(rest)) if len <= PIECE => *rest = *piece,
        _ => rest[..len].copy_from_slice(&from[range]),
    }
    *at += len;
}
