//! Counts keys, and finds the first line of each key, in bounded memory: more keys go to temporary files.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hash::BuildHasher;
use std::ops::Range;

use foldhash::fast::RandomState;

use crate::ground::error::Failure;
use crate::ground::records::Records;
use crate::io::spill::{Row, Spill, merge};

/// Receives the results of a job, in the order of the input, and decides what is written.
pub trait Gather: Send {
    /// Takes the result for a chunk, and appends the bytes that are written now to `out`.
    fn take(&mut self, result: &[u8], out: &mut Vec<u8>) -> Result<(), Failure>;
}

/// Different keys, each with a count.
///
/// This is a hash table with linear probing. Its slots have 8 bytes, so that looking up a key and then adding it waits for one cache line;
/// in the tables of hashbrown it waits for two.
#[derive(Default)]
struct Keys {
    /// The power of two of slots, of which at most five in eight are used. A used slot has [`TAG`] high bits of the hash of its key, and
    /// below them the position of the entry plus one.
    slots: Vec<u64>,
    /// The number of keys.
    len: usize,
    /// The entries: the hash, the count, the length of the key in four bytes, the key.
    entries: Vec<u8>,
    state: RandomState,
}

/// The number of bits of a hash in a slot. The other bits are enough for the positions of the largest limit of memory.
const TAG: u32 = 24;

/// The length of an entry without its key.
const ENTRY: usize = 20;

/// An entry of [`Keys`].
struct Found<'k> {
    hash: u64,
    count: u64,
    key: &'k [u8],
}

impl Keys {
    fn hash(&self, key: &[u8]) -> u64 {
        self.state.hash_one(key)
    }

    /// Returns the entry at `start`.
    #[inline]
    fn entry(&self, start: usize) -> Option<Found<'_>> {
        let (&[a, b, c, d, e, f, g, h], rest) = self.entries.get(start..)?.split_first_chunk()?;
        let (count, rest) = rest.split_first_chunk()?;
        let (len, rest) = rest.split_first_chunk()?;
        let key = rest.get(..u32::from_le_bytes(*len) as usize)?;
        let hash = u64::from_le_bytes([a, b, c, d, e, f, g, h]);
        Some(Found { hash, count: u64::from_le_bytes(*count), key })
    }

    /// Returns the keys in the order in which they were added.
    fn iter(&self) -> impl Iterator<Item = (usize, Found<'_>)> {
        let mut next = 0;
        std::iter::from_fn(move || {
            let start = next;
            let found = self.entry(start)?;
            next += ENTRY + found.key.len();
            Some((start, found))
        })
    }

    /// Returns the position of the entry of `key`, or the index of the slot where it belongs. There must be slots.
    #[inline]
    fn find(&self, hash: u64, key: &[u8]) -> Result<usize, usize> {
        let mask = self.slots.len() - 1;
        let mut index = hash as usize & mask;
        loop {
            let slot = self.slots[index];
            if slot == 0 {
                return Err(index);
            }
            if (slot ^ hash) >> (u64::BITS - TAG) == 0 {
                let start = (slot << TAG >> TAG) as usize - 1;
                if self.entry(start).is_some_and(|found| found.hash == hash && found.key == key) {
                    return Ok(start);
                }
            }
            index = (index + 1) & mask;
        }
    }

    /// Adds `count` to the count of `key`, which has this hash. Returns whether the key is new.
    fn add(&mut self, hash: u64, key: &[u8], count: u64) -> bool {
        if is_full(&self.slots, self.len) {
            self.grow();
        }
        match self.find(hash, key) {
            Ok(start) => {
                if let Some(old) = self.entries[start + 8..].first_chunk_mut() {
                    *old = (u64::from_le_bytes(*old) + count).to_le_bytes();
                }
                false
            }
            Err(index) => {
                self.slots[index] = slot(hash, self.entries.len());
                self.len += 1;
                self.entries.extend_from_slice(&hash.to_le_bytes());
                self.entries.extend_from_slice(&count.to_le_bytes());
                // A key is part of a record, whose length is limited to 4 GiB.
                self.entries.extend_from_slice(&(key.len() as u32).to_le_bytes());
                self.entries.extend_from_slice(key);
                true
            }
        }
    }

    fn contains(&self, hash: u64, key: &[u8]) -> bool {
        !self.slots.is_empty() && self.find(hash, key).is_ok()
    }

    /// Doubles the number of slots.
    #[cold]
    fn grow(&mut self) {
        let len = (2 * self.slots.len()).max(LEAST_SLOTS);
        let mut slots = vec![0; len];
        for (start, found) in self.iter() {
            let mut index = found.hash as usize & (len - 1);
            while slots[index] != 0 {
                index = (index + 1) & (len - 1);
            }
            slots[index] = slot(found.hash, start);
        }
        self.slots = slots;
    }

    /// Returns the memory in bytes that the keys take when the next one is added.
    fn size(&self) -> usize {
        self.entries.len() + size_with_next(&self.slots, self.len)
    }

    fn sorted(&self) -> Vec<(&[u8], u64)> {
        let mut keys: Vec<_> = self.iter().map(|(_, found)| (found.key, found.count)).collect();
        keys.sort_unstable();
        keys
    }
}

/// Reports whether a table with `len` used slots must grow before the next key is added.
fn is_full<T>(slots: &[T], len: usize) -> bool {
    8 * len >= 5 * slots.len()
}

/// Returns the memory in bytes of a table with `len` used slots while the next key is added. A table that grows is in memory together
/// with the new one, which has twice the size.
fn size_with_next<T>(slots: &[T], len: usize) -> usize {
    size_of_val(slots) * if is_full(slots, len) { 3 } else { 1 }
}

/// The number of slots of the smallest table.
const LEAST_SLOTS: usize = 16;

/// Returns the slot of a key with this hash, whose entry is at `start`.
fn slot(hash: u64, start: usize) -> u64 {
    hash >> (u64::BITS - TAG) << (u64::BITS - TAG) | (start as u64 + 1)
}

/// Different fingerprints, in a hash table like that of [`Keys`].
#[derive(Default)]
struct Fingerprints {
    /// The power of two of slots, of which at most five in eight are used. The others are 0.
    slots: Vec<u128>,
    /// The number of used slots.
    len: usize,
    has_zero: bool,
}

impl Fingerprints {
    /// Returns whether the table has `key`, and otherwise the index of the slot where it belongs. There must be slots.
    #[inline]
    fn find(slots: &[u128], key: u128) -> Result<(), usize> {
        let mask = slots.len() - 1;
        let mut index = key as usize & mask;
        loop {
            match slots[index] {
                0 => return Err(index),
                known if known == key => return Ok(()),
                _ => index = (index + 1) & mask,
            }
        }
    }

    fn contains(&self, key: u128) -> bool {
        if key == 0 { self.has_zero } else { !self.slots.is_empty() && Self::find(&self.slots, key).is_ok() }
    }

    /// Adds `key`, and returns whether it is new.
    fn insert(&mut self, key: u128) -> bool {
        if key == 0 {
            return !std::mem::replace(&mut self.has_zero, true);
        }
        if is_full(&self.slots, self.len) {
            let mut slots = vec![0; (2 * self.slots.len()).max(LEAST_SLOTS)];
            for &known in self.slots.iter().filter(|known| **known != 0) {
                if let Err(index) = Self::find(&slots, known) {
                    slots[index] = known;
                }
            }
            self.slots = slots;
        }
        let found = Self::find(&self.slots, key);
        if let Err(index) = found {
            self.slots[index] = key;
            self.len += 1;
        }
        found.is_err()
    }
}

/// The number of temporary files that are merged into one, so that few files are open.
const MOST_RUNS: usize = 64;

/// The counts of keys, which are records of results.
pub struct Counts {
    keys: Keys,
    /// The memory that keys may take, in bytes.
    limit: usize,
    /// Files of keys with their counts, in the order of the keys.
    runs: Vec<Spill>,
    total: u64,
    records: Records,
}

/// The most frequent keys.
pub struct Top {
    /// The keys with their counts, the most frequent first. Keys with the same count are in their own order.
    pub rows: Vec<(Vec<u8>, u64)>,
    /// The number of all values.
    pub total: u64,
    /// The number of different keys.
    pub distinct: u64,
}

impl Counts {
    /// Creates empty counts, which use up to `memory` bytes.
    pub fn new(memory: usize, records: Records) -> Counts {
        // Sorted keys need a list of references.
        Counts { keys: Keys::default(), limit: memory / 2, runs: Vec::new(), total: 0, records }
    }

    fn spill(&mut self) -> Result<(), Failure> {
        let keys = std::mem::take(&mut self.keys);
        let mut run = Spill::new()?;
        for (key, count) in keys.sorted() {
            run.push(count, key, &[])?;
        }
        drop(keys);
        self.runs.push(run);
        if self.runs.len() == MOST_RUNS {
            let mut all = Spill::new()?;
            Counts::merge(std::mem::take(&mut self.runs), |key, count| all.push(count, &key, &[]))?;
            self.runs.push(all);
        }
        Ok(())
    }

    /// Passes each key of `runs` with its count to `each`, in the order of the keys.
    fn merge(
        runs: Vec<Spill>,
        mut each: impl FnMut(Vec<u8>, u64) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let mut last: Option<(Vec<u8>, u64)> = None;
        merge(
            runs,
            |row| std::mem::take(&mut row.key),
            |key, row| {
                match &mut last {
                    Some((known, count)) if *known == key => *count += row.number,
                    _ => {
                        if let Some((key, count)) = last.replace((key, row.number)) {
                            each(key, count)?;
                        }
                    }
                }
                Ok(())
            },
        )?;
        last.map_or(Ok(()), |(key, count)| each(key, count))
    }

    /// Returns the `most` keys with the highest counts.
    pub fn top(mut self, most: usize) -> Result<Top, Failure> {
        let mut best = BinaryHeap::new();
        let mut distinct = 0;
        let mut each = |key: &[u8], count: u64| {
            distinct += 1;
            // The smallest entry, which is the first of the heap, has the lowest count and the last key.
            let is_better = |Reverse((least, Reverse(last))): &Reverse<(u64, Reverse<Vec<u8>>)>| {
                (count, Reverse(key)) > (*least, Reverse(last.as_slice()))
            };
            if best.len() < most || best.peek().is_some_and(is_better) {
                best.push(Reverse((count, Reverse(key.to_vec()))));
            }
            if best.len() > most {
                best.pop();
            }
        };
        if self.runs.is_empty() {
            self.keys.iter().for_each(|(_, found)| each(found.key, found.count));
        } else {
            self.spill()?;
            Counts::merge(self.runs, |key, count| {
                each(&key, count);
                Ok(())
            })?;
        }
        let rows =
            best.into_sorted_vec().into_iter().map(|Reverse((count, Reverse(key)))| (key, count)).collect();
        Ok(Top { rows, total: self.total, distinct })
    }
}

impl Gather for Counts {
    /// Counts the records of `result`.
    fn take(&mut self, result: &[u8], _: &mut Vec<u8>) -> Result<(), Failure> {
        let mut start = 0;
        while start < result.len() {
            let mut group = [(&b""[..], 0); GROUP];
            let mut len = 0;
            while len < GROUP && start < result.len() {
                let end = memchr::memchr(self.records.end(), &result[start..]);
                let record = &result[start..end.map_or(result.len(), |end| start + end + 1)];
                let key = &record[..self.records.without_end(record)];
                group[len] = (key, self.keys.hash(key));
                (start, len) = (start + record.len(), len + 1);
            }
            let group = &group[..len];
            // The places of these keys are read before one of them is changed, so that the CPU waits for all of them at once.
            let known = group.iter().filter(|(key, hash)| self.keys.contains(*hash, key)).count();
            std::hint::black_box(known);
            for (key, hash) in group {
                self.keys.add(*hash, key, 1);
            }
            self.total += len as u64;
            if self.keys.size() > self.limit {
                self.spill()?;
            }
        }
        Ok(())
    }
}

/// The number of keys that are looked up together.
const GROUP: usize = 64;

/// The number of files that keys are divided among if they do not fit in memory.
const PARTS: usize = 64;

/// The keys that were seen.
enum Seen {
    Keys(Keys),
    /// Fingerprints, which are keys of 128 bits.
    Fingerprints(Fingerprints),
}

impl Seen {
    fn hash(&self, key: &[u8]) -> u64 {
        match self {
            Seen::Keys(keys) => keys.hash(key),
            Seen::Fingerprints(_) => 0,
        }
    }

    /// Adds `key`, which has this hash. Returns whether it is new.
    fn insert(&mut self, hash: u64, key: &[u8]) -> bool {
        match self {
            Seen::Keys(keys) => keys.add(hash, key, 1),
            Seen::Fingerprints(known) => known.insert(fingerprint(key)),
        }
    }

    fn contains(&self, hash: u64, key: &[u8]) -> bool {
        match self {
            Seen::Keys(keys) => keys.contains(hash, key),
            Seen::Fingerprints(known) => known.contains(fingerprint(key)),
        }
    }

    fn size(&self) -> usize {
        match self {
            Seen::Keys(keys) => keys.size(),
            Seen::Fingerprints(known) => size_with_next(&known.slots, known.len),
        }
    }

    fn same_kind(&self) -> Seen {
        match self {
            Seen::Keys(_) => Seen::Keys(Keys::default()),
            Seen::Fingerprints(_) => Seen::Fingerprints(Fingerprints::default()),
        }
    }
}

/// Returns the fingerprint that `key` consists of.
fn fingerprint(key: &[u8]) -> u128 {
    u128::from_le_bytes(key.first_chunk().copied().unwrap_or_default())
}

/// Writes a line. The number is that of the line in the input.
type Write<'w> = dyn FnMut(u64, &[u8]) -> Result<(), Failure> + 'w;

/// Finds the first line of each key. Once the keys need too much memory, the known ones stay in memory, and lines with other keys are
/// divided among files by their keys. Each file is then processed in the same way.
struct Level {
    seen: Seen,
    limit: usize,
    is_full: bool,
    /// Chooses the file for a key. Each level has a hash function of its own.
    state: RandomState,
    parts: Vec<Spill>,
}

impl Level {
    fn new(seen: Seen, limit: usize) -> Level {
        Level { seen, limit, is_full: false, state: RandomState::default(), parts: Vec::new() }
    }

    /// Takes line `number` of the input, and the hash of its key. Returns whether the line is written now. A line whose key is empty
    /// has none, and is always written.
    fn push(&mut self, number: u64, hash: u64, key: &[u8], line: &[u8]) -> Result<bool, Failure> {
        if !self.is_full {
            let is_first = key.is_empty() || self.seen.insert(hash, key);
            self.is_full = self.seen.size() > self.limit;
            return Ok(is_first);
        }
        if key.is_empty() || !self.seen.contains(hash, key) {
            if self.parts.is_empty() {
                self.parts = (0..PARTS).map(|_| Spill::new()).collect::<Result<_, _>>()?;
            }
            let part = self.state.hash_one(key) as usize % PARTS;
            self.parts[part].push(number, key, line)?;
        }
        Ok(false)
    }

    /// Passes the remaining lines, and those of `first`, to `each` in the order of their numbers.
    fn finish(self, first: Option<Spill>, each: &mut Write<'_>) -> Result<(), Failure> {
        let Level { seen, limit, parts, .. } = self;
        let mut runs: Vec<Spill> = first.into_iter().collect();
        let empty = seen.same_kind();
        drop(seen);
        for part in parts {
            let (mut rows, mut row) = (part.rows()?, Row::default());
            let (mut level, mut run) = (Level::new(empty.same_kind(), limit), Spill::new()?);
            while rows.next(&mut row)? {
                let hash = level.seen.hash(&row.key);
                if level.push(row.number, hash, &row.key, &row.line)? {
                    run.push(row.number, &[], &row.line)?;
                }
            }
            drop(rows);
            if !level.parts.is_empty() {
                let mut all = Spill::new()?;
                level.finish(Some(run), &mut |number, line| all.push(number, &[], line))?;
                run = all;
            }
            runs.push(run);
        }
        merge(runs, |row| row.number, |number, row| each(number, &row.line))
    }
}

/// Keeps the first line of each key. Results are [`Frame`]s.
pub struct Distinct {
    level: Level,
    /// The number of lines so far.
    lines: u64,
}

/// Lines with their keys.
#[derive(Clone, Default)]
pub struct Frame {
    /// For each line the position and the length of its key, and the length of the line.
    heads: Vec<u8>,
    /// The text that contains the keys.
    pub keys: Vec<u8>,
}

/// The length of a head.
const HEAD: usize = 12;

/// Returns the numbers of a head.
fn numbers(head: &[u8; HEAD]) -> [usize; 3] {
    let number =
        |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]) as usize;
    [number(0), number(4), number(8)]
}

/// Returns the head of three numbers. Lines and keys are shorter than 4 GiB.
fn head(numbers: [usize; 3]) -> [u8; HEAD] {
    let [[a, b, c, d], [e, f, g, h], [i, j, k, l]] = numbers.map(|number| (number as u32).to_le_bytes());
    [a, b, c, d, e, f, g, h, i, j, k, l]
}

impl Frame {
    /// Removes all lines.
    pub fn clear(&mut self) {
        self.heads.clear();
        self.keys.clear();
    }

    /// Adds a line of `len` bytes whose key is at `key` of the text of keys. If the key is empty, the line has none.
    pub fn push(&mut self, len: usize, key: Range<usize>) {
        self.heads.extend_from_slice(&head([key.start, key.len(), len]));
    }

    /// Appends this frame and its `lines` to `out`, and `end` if the last line does not end with it.
    pub fn write(&mut self, lines: &[u8], end: Option<u8>, out: &mut Vec<u8>) {
        let end = end.filter(|end| lines.last() != Some(end));
        let end = end.as_slice();
        if let Some(last) = self.heads.last_chunk_mut() {
            let [start, len, line] = numbers(last);
            *last = head([start, len, line + end.len()]);
        }
        out.extend_from_slice(&head([self.heads.len(), self.keys.len(), lines.len() + end.len()]));
        [&self.heads, &self.keys, lines, end].iter().for_each(|bytes| out.extend_from_slice(bytes));
    }
}

impl Distinct {
    /// Creates an empty set of keys, which uses up to `memory` bytes. `has_fingerprints` says that keys are 16 bytes.
    pub fn new(memory: usize, has_fingerprints: bool) -> Distinct {
        let seen = if has_fingerprints {
            Seen::Fingerprints(Fingerprints::default())
        } else {
            Seen::Keys(Keys::default())
        };
        Distinct { level: Level::new(seen, memory), lines: 0 }
    }

    /// Passes the lines that were not written yet to `write`.
    pub fn finish(self, mut write: impl FnMut(&[u8]) -> Result<(), Failure>) -> Result<(), Failure> {
        self.level.finish(None, &mut |_, line| write(line))
    }
}

impl Gather for Distinct {
    fn take(&mut self, mut result: &[u8], out: &mut Vec<u8>) -> Result<(), Failure> {
        while let Some((lens, rest)) = result.split_first_chunk() {
            let [heads, keys, lines] = numbers(lens);
            let (heads, rest) = rest.split_at(heads);
            let (keys, rest) = rest.split_at(keys);
            let (lines, rest) = rest.split_at(lines);
            result = rest;
            // The lines before `done` are written or left out, and those up to `at` are written.
            let (mut done, mut at) = (0, 0);
            for heads in heads.as_chunks::<HEAD>().0.chunks(GROUP) {
                let mut group = [(&b""[..], 0, false); GROUP];
                for (slot, head) in group.iter_mut().zip(heads) {
                    let [start, len, _] = numbers(head);
                    slot.0 = &keys[start..start + len];
                    slot.1 = self.level.seen.hash(slot.0);
                }
                // The places of these keys are read before one is added, so that the CPU waits for all of them at once.
                for (key, hash, is_known) in &mut group[..heads.len()] {
                    *is_known = !key.is_empty() && self.level.seen.contains(*hash, key);
                }
                for ((key, hash, is_known), head) in group.into_iter().zip(heads) {
                    let end = at + numbers(head)[2];
                    self.lines += 1;
                    if is_known || !self.level.push(self.lines, hash, key, &lines[at..end])? {
                        out.extend_from_slice(&lines[done..at]);
                        done = end;
                    }
                    at = end;
                }
            }
            out.extend_from_slice(&lines[done..at]);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::fmt::Write as _;

    use super::*;

    /// Compares with a set in memory, for limits that need no file, files of one level, and files of several levels.
    #[test]
    fn first_lines_for_every_limit() {
        let numbers: Vec<u64> =
            (0..6000_u64).map(|at| at.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 53).collect();
        let mut known = HashSet::new();
        let wanted: String = numbers
            .iter()
            .filter(|number| known.insert(**number))
            .map(|number| format!("{number}\n"))
            .collect();
        for memory in [0, 1000, 40_000, usize::MAX] {
            for has_fingerprints in [false, true] {
                let mut distinct = Distinct::new(memory, has_fingerprints);
                let mut out = Vec::new();
                for chunk in numbers.chunks(100) {
                    let (mut frame, mut lines) = (Frame::default(), String::new());
                    for number in chunk {
                        let (line, key) = (lines.len(), frame.keys.len());
                        let _ = writeln!(lines, "{number}");
                        frame.keys.extend_from_slice(&u128::from(*number).to_le_bytes());
                        frame.push(lines.len() - line, key..key + 16);
                    }
                    let mut frames = Vec::new();
                    frame.write(lines.as_bytes(), Some(b'\n'), &mut frames);
                    distinct.take(&frames, &mut out).expect("a temporary file");
                }
                let write = |line: &[u8]| {
                    out.extend_from_slice(line);
                    Ok(())
                };
                distinct.finish(write).expect("a temporary file");
                assert_eq!(String::from_utf8(out).as_deref(), Ok(&*wanted), "{memory} {has_fingerprints}");
            }
        }
    }
}
