//! Counts keys, and finds the first line of each key, in bounded memory: more keys go to temporary files.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hash::BuildHasher;

use hashbrown::DefaultHashBuilder;
use hashbrown::hash_table::{Entry, HashTable};

use crate::ground::error::Failure;
use crate::ground::records::Records;
use crate::io::spill::{Row, Spill, merge};

/// Receives the results of a job, in the order of the input, and decides what is written.
pub trait Gather: Send {
    /// Takes the result for a chunk, and appends the bytes that are written now to `out`.
    fn take(&mut self, result: &[u8], out: &mut Vec<u8>) -> Result<(), Failure>;
}

/// Different keys, each with a count.
#[derive(Default)]
struct Keys {
    places: HashTable<Place>,
    text: Vec<u8>,
    state: DefaultHashBuilder,
}

/// The position of a key in the text of all keys, and its count.
struct Place {
    start: usize,
    len: u32,
    count: u64,
}

impl Place {
    fn key<'k>(&self, text: &'k [u8]) -> &'k [u8] {
        &text[self.start..][..self.len as usize]
    }
}

impl Keys {
    /// Adds `count` to the count of `key`. Returns whether the key is new.
    fn add(&mut self, key: &[u8], count: u64) -> bool {
        let Keys { places, text, state } = self;
        let is_equal = |place: &Place| place.key(&text[..]) == key;
        match places.entry(state.hash_one(key), is_equal, |place| state.hash_one(place.key(&text[..]))) {
            Entry::Occupied(mut entry) => {
                entry.get_mut().count += count;
                false
            }
            Entry::Vacant(entry) => {
                // A key is part of a record, whose length is limited to 4 GiB.
                entry.insert(Place { start: text.len(), len: key.len() as u32, count });
                text.extend_from_slice(key);
                true
            }
        }
    }

    fn contains(&self, key: &[u8]) -> bool {
        self.places.find(self.state.hash_one(key), |place| place.key(&self.text) == key).is_some()
    }

    /// Returns the memory of the keys in bytes. Twice as much can be in use, because tables double when they grow.
    fn size(&self) -> usize {
        self.text.len() + self.places.len() * size_of::<Place>()
    }

    fn sorted(&self) -> Vec<(&[u8], u64)> {
        let mut keys: Vec<_> = self.places.iter().map(|place| (place.key(&self.text), place.count)).collect();
        keys.sort_unstable();
        keys
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
            self.keys.places.iter().for_each(|place| each(place.key(&self.keys.text), place.count));
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
        let end = self.records.end();
        for record in result.split_inclusive(|&byte| byte == end) {
            self.keys.add(&record[..self.records.without_end(record)], 1);
            self.total += 1;
            if self.keys.size() > self.limit {
                self.spill()?;
            }
        }
        Ok(())
    }
}

/// The number of files that keys are divided among if they do not fit in memory.
const PARTS: usize = 64;

/// The keys that were seen.
enum Seen {
    Keys(Keys),
    /// Fingerprints of 128 bits, which are keys of 32 hexadecimal digits.
    Fingerprints(HashTable<u128>),
}

impl Seen {
    fn insert(&mut self, key: &[u8]) -> bool {
        match self {
            Seen::Keys(keys) => keys.add(key, 1),
            Seen::Fingerprints(known) => {
                let key = fingerprint(key);
                let entry = known.entry(key as u64, |known| *known == key, |known| *known as u64);
                let is_new = matches!(entry, Entry::Vacant(_));
                entry.or_insert(key);
                is_new
            }
        }
    }

    fn contains(&self, key: &[u8]) -> bool {
        match self {
            Seen::Keys(keys) => keys.contains(key),
            Seen::Fingerprints(known) => {
                let key = fingerprint(key);
                known.find(key as u64, |known| *known == key).is_some()
            }
        }
    }

    fn size(&self) -> usize {
        match self {
            Seen::Keys(keys) => keys.size(),
            Seen::Fingerprints(known) => known.len() * size_of::<u128>(),
        }
    }

    fn same_kind(&self) -> Seen {
        match self {
            Seen::Keys(_) => Seen::Keys(Keys::default()),
            Seen::Fingerprints(_) => Seen::Fingerprints(HashTable::new()),
        }
    }
}

/// Returns the number that hexadecimal digits in lower case mean.
fn fingerprint(digits: &[u8]) -> u128 {
    digits.iter().fold(0, |all, digit| (all << 4) | u128::from((digit & 0xF) + 9 * (digit >> 6)))
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
    state: DefaultHashBuilder,
    parts: Vec<Spill>,
}

impl Level {
    fn new(seen: Seen, limit: usize) -> Level {
        Level { seen, limit, is_full: false, state: DefaultHashBuilder::default(), parts: Vec::new() }
    }

    /// Takes line `number` of the input. Returns whether it is written now. A line without a key is always written.
    fn push(&mut self, number: u64, key: &[u8], line: &[u8]) -> Result<bool, Failure> {
        if !self.is_full {
            let is_first = key.is_empty() || self.seen.insert(key);
            self.is_full = self.seen.size() > self.limit;
            return Ok(is_first);
        }
        if key.is_empty() || !self.seen.contains(key) {
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
                if level.push(row.number, &row.key, &row.line)? {
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

/// Keeps the first line of each key. Results are [`frame`]s.
pub struct Distinct {
    level: Level,
    /// The number of lines so far.
    lines: u64,
}

/// The length of the head of a frame: the lengths of key and line.
const HEAD: usize = 8;

/// Appends a record to `out` as [`Distinct`] expects it, and `end` if the record does not end with it. `key` appends the key. If it
/// fails, the record has no key.
pub fn frame<E>(
    line: &[u8],
    end: Option<u8>,
    out: &mut Vec<u8>,
    key: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
) -> Result<(), E> {
    let start = out.len();
    out.extend_from_slice(&[0; HEAD]);
    let result = key(out);
    if result.is_err() {
        out.truncate(start + HEAD);
    }
    // A line and its key are shorter than 4 GiB.
    let len = (out.len() - start - HEAD) as u32;
    out[start..][..4].copy_from_slice(&len.to_le_bytes());
    let end = end.filter(|end| line.last() != Some(end));
    let len = (line.len() + usize::from(end.is_some())) as u32;
    out[start + 4..][..4].copy_from_slice(&len.to_le_bytes());
    out.extend_from_slice(line);
    out.extend(end);
    result
}

impl Distinct {
    /// Creates an empty set of keys, which uses up to `memory` bytes. `has_fingerprints` says that keys are 32 hexadecimal digits.
    pub fn new(memory: usize, has_fingerprints: bool) -> Distinct {
        let seen =
            if has_fingerprints { Seen::Fingerprints(HashTable::new()) } else { Seen::Keys(Keys::default()) };
        Distinct { level: Level::new(seen, memory / 2), lines: 0 }
    }

    /// Passes the lines that were not written yet to `write`.
    pub fn finish(self, mut write: impl FnMut(&[u8]) -> Result<(), Failure>) -> Result<(), Failure> {
        self.level.finish(None, &mut |_, line| write(line))
    }
}

impl Gather for Distinct {
    fn take(&mut self, mut result: &[u8], out: &mut Vec<u8>) -> Result<(), Failure> {
        let len = |bytes: &[u8; 4]| u32::from_le_bytes(*bytes) as usize;
        while let Some((key, rest)) = result.split_first_chunk()
            && let Some((line, rest)) = rest.split_first_chunk()
        {
            let (key, rest) = rest.split_at(len(key));
            let (line, rest) = rest.split_at(len(line));
            result = rest;
            self.lines += 1;
            if self.level.push(self.lines, key, line)? {
                out.extend_from_slice(line);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

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
                    let mut frames = Vec::new();
                    for number in chunk {
                        let key = format!("{number:032x}");
                        let framed = frame(number.to_string().as_bytes(), Some(b'\n'), &mut frames, |out| {
                            out.extend_from_slice(key.as_bytes());
                            Ok::<_, ()>(())
                        });
                        assert_eq!(framed, Ok(()));
                    }
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
