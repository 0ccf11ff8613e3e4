//! Counts keys, and finds the first line of each key, in bounded memory: keys that do not fit go to temporary files. A
//! key is the text by which a line is counted or identified.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hash::BuildHasher;
use std::sync::{Mutex, PoisonError};

use foldhash::fast::RandomState;
use simdpct::{ByteSet, Decode};
use twox_hash::XxHash3_128;

use crate::common::error::Failure;
use crate::common::records::Records;
use crate::io::temporary::{Row, Spill, merge};

/// A hash table with linear probing.
///
/// A slot is 0 if it is free. Otherwise, its low half is the hash of a key, which chooses the slot. Its high half
/// distinguishes keys with equal hashes. Looking up a key and then adding it waits for one cache line, and a table that
/// grows reads its slots in order (lab: tables).
#[derive(Default)]
struct Table {
    /// The slots. Their number is 0 or a power of two, and at most five in eight are used.
    slots: Vec<u128>,
    /// The number of used slots.
    len: usize,
}

/// The least number of slots at which slots are loaded in advance. Smaller tables (256 KiB) fit in the caches.
const LARGE_TABLE: usize = 1 << 14;

impl Table {
    /// Reads the slots of all `hashes` at once, so that the CPU does not wait for one after the other. No branch
    /// depends on a slot, because a mispredicted branch would wait for it (lab: tables).
    #[inline]
    fn load(&self, hashes: impl Iterator<Item = u64>) {
        if self.slots.len() >= LARGE_TABLE {
            let mask = self.slots.len() - 1;
            // Most keys are at most three slots after the slot that their hash chooses.
            let read = |at: usize| self.slots[at & mask] | self.slots[(at + 3) & mask];
            std::hint::black_box(hashes.fold(0, |all, hash| all | read(hash as usize)));
        }
    }

    /// Returns the slot whose low half is `hash` and whose high half `is_key` accepts. If there is none, fails with the
    /// index of the free slot for the key.
    #[inline]
    fn find(&self, hash: u64, is_key: impl Fn(u64) -> bool) -> Result<u128, usize> {
        let Some(mask) = self.slots.len().checked_sub(1) else { return Err(0) };
        let mut index = hash as usize & mask;
        loop {
            match self.slots[index] {
                0 => return Err(index),
                slot if slot as u64 == hash && is_key((slot >> 64) as u64) => return Ok(slot),
                _ => index = (index + 1) & mask,
            }
        }
    }

    /// Doubles the number of slots if no key can be added.
    #[inline]
    fn make_room(&mut self) {
        if self.is_full() {
            self.grow();
        }
    }

    #[cold]
    fn grow(&mut self) {
        let mask = (2 * self.slots.len()).max(16) - 1;
        let mut slots = vec![0; mask + 1];
        for &slot in self.slots.iter().filter(|slot| **slot != 0) {
            let mut index = slot as usize & mask;
            while slots[index] != 0 {
                index = (index + 1) & mask;
            }
            slots[index] = slot;
        }
        self.slots = slots;
    }

    /// Sets the free slot at `index`.
    #[inline]
    fn set(&mut self, index: usize, slot: u128) {
        self.slots[index] = slot;
        self.len += 1;
    }

    /// Reports whether the table must grow before the next key is added.
    fn is_full(&self) -> bool {
        8 * self.len >= 5 * self.slots.len()
    }

    /// Returns the maximum memory, in bytes, while the next key is added. A table that grows is in memory together with
    /// the new one, which has twice the size.
    fn size(&self) -> usize {
        size_of_val(&*self.slots) * if self.is_full() { 3 } else { 1 }
    }
}

/// Different keys in the order in which they were added, each with a count if `COUNTED`.
#[derive(Default)]
struct Keys<const COUNTED: bool> {
    /// For each key, the low half of its slot is its hash, and the high half is the position of its entry plus one.
    table: Table,
    /// The entries: the length of the key in four bytes, the count in eight if `COUNTED`, and the key.
    entries: Vec<u8>,
}

impl<const COUNTED: bool> Keys<COUNTED> {
    /// The length of an entry without its key.
    const HEAD: usize = if COUNTED { 12 } else { 4 };

    /// Returns the count and the key of the entry at `start`, or `None` at the end. The count is 0 if keys have none.
    #[inline]
    fn entry(&self, start: usize) -> Option<(u64, &[u8])> {
        let (len, mut rest) = self.entries.get(start..)?.split_first_chunk()?;
        let mut count = 0;
        if COUNTED {
            let bytes;
            (bytes, rest) = rest.split_first_chunk()?;
            count = u64::from_le_bytes(*bytes);
        }
        Some((count, rest.get(..u32::from_le_bytes(*len) as usize)?))
    }

    /// Returns the keys with their counts in the order in which they were added.
    fn iter(&self) -> impl Iterator<Item = (u64, &[u8])> {
        let mut next = 0;
        std::iter::from_fn(move || {
            let found = self.entry(next)?;
            next += Self::HEAD + found.1.len();
            Some(found)
        })
    }

    /// Loads the slots and entries of the keys with the hashes `ids` into the caches, before the keys are looked up.
    #[inline]
    fn load(&self, ids: &[u128]) {
        let hashes = || ids.iter().map(|id| *id as u64);
        self.table.load(hashes());
        if self.table.slots.len() >= LARGE_TABLE {
            let start = |hash| self.table.find(hash, |_| true).map_or(0, |slot| (slot >> 64) as usize);
            let read = |all: u8, hash| all | self.entries.get(start(hash)).copied().unwrap_or(0);
            std::hint::black_box(hashes().fold(0, read));
        }
    }

    #[inline]
    fn find(&self, hash: u64, key: &[u8]) -> Result<usize, usize> {
        let is_key = |place: u64| self.entry(place as usize - 1).is_some_and(|(_, known)| known == key);
        self.table.find(hash, is_key).map(|slot| (slot >> 64) as usize - 1)
    }

    /// Adds one to the count of the key in the entry at `start`.
    #[inline]
    fn count(&mut self, start: usize) {
        if COUNTED && let Some(count) = self.entries[start + 4..].first_chunk_mut() {
            *count = (u64::from_le_bytes(*count) + 1).to_le_bytes();
        }
    }

    /// Adds `key`, which has this hash, or counts it if it is known. Returns whether it is new.
    #[inline]
    fn add(&mut self, hash: u64, key: &[u8]) -> bool {
        self.table.make_room();
        match self.find(hash, key) {
            Ok(start) => {
                self.count(start);
                false
            }
            Err(index) => {
                self.table.set(index, u128::from(hash) | (self.entries.len() as u128 + 1) << 64);
                // A key is part of a record, whose length is limited to 4 GiB.
                self.entries.extend_from_slice(&(key.len() as u32).to_le_bytes());
                if COUNTED {
                    self.entries.extend_from_slice(&1_u64.to_le_bytes());
                }
                self.entries.extend_from_slice(key);
                true
            }
        }
    }

    /// Returns the memory in bytes that the keys take when the next one is added.
    fn size(&self) -> usize {
        self.entries.len() + self.table.size()
    }
}

/// The counts of keys. Each record of a result of a job is a key. Several threads can count at the same time, because
/// each key belongs to one of several shards, each with a lock.
pub struct Counts {
    identity: Identity,
    shards: [Mutex<Level>; SHARDS],
    records: Records,
    /// Whether each word of a record is a key, instead of the record.
    has_lists: bool,
}

/// The number of shards. If there are more shards than threads, threads seldom wait for one (lab: command-speed).
const SHARDS: usize = 8;

/// The most frequent keys.
pub struct Top {
    /// The keys with their counts, the most frequent first. Keys with the same count are in the order of their bytes.
    pub rows: Vec<(Vec<u8>, u64)>,
    /// The sum of all counts, also of the keys that are not in `rows`.
    pub total: u64,
    /// The number of different keys.
    pub distinct: u64,
}

impl Counts {
    /// Creates empty counts, which use up to `memory` bytes.
    pub fn new(memory: usize, records: Records, has_lists: bool) -> Counts {
        let identity = Identity::new(false);
        let level = || Level::new(identity.clone(), Seen::Counts(Keys::default()), memory / SHARDS);
        Counts { shards: std::array::from_fn(|_| Mutex::new(level())), identity, records, has_lists }
    }

    /// Returns the `most` keys with the highest counts.
    pub fn top(self, most: usize) -> Result<Top, Failure> {
        let mut best = BinaryHeap::new();
        let (mut distinct, mut total) = (0, 0);
        let mut add = |key: &[u8], count| {
            (distinct, total) = (distinct + 1, total + count);
            // The first entry of the heap has the lowest count, and the last key of those with this count.
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
        for shard in self.shards {
            shard.into_inner().unwrap_or_else(PoisonError::into_inner).count(&mut add)?;
        }
        let rows =
            best.into_sorted_vec().into_iter().map(|Reverse((count, Reverse(key)))| (key, count)).collect();
        Ok(Top { rows, total, distinct })
    }

    /// Counts the keys in `result`, shard by shard from number `first` on. Threads begin with different shards.
    pub fn take(&self, first: usize, result: &[u8]) -> Result<(), Failure> {
        let end = self.records.end();
        let words: Vec<u8>;
        let mut result = result;
        if self.has_lists {
            let mut escaped = Vec::with_capacity(result.len());
            for record in result.split_inclusive(|&byte| byte == end) {
                let values = &record[..self.records.without_end(record)];
                escaped.extend(values.iter().map(|&byte| if byte == b' ' { end } else { byte }));
                // Each value has a blank after it, but a record that was kept may have none.
                escaped.extend(values.last().filter(|last| **last != b' ').map(|_| end));
            }
            // In the values of a parameter, only blanks and `%` are escaped.
            let decode = Decode::new().keep(ByteSet::from_bytes(b" %").complement());
            words = decode.decode(&escaped).into_owned();
            result = &words;
        }
        // Most keys have at least eight bytes with their end.
        let mut keys: [Vec<(u64, &[u8])>; SHARDS] =
            std::array::from_fn(|_| Vec::with_capacity(result.len() / 8 / SHARDS));
        let mut start = 0;
        let ends = memchr::memchr_iter(self.records.end(), result).map(|end| end + 1);
        let open = (!result.is_empty() && result.last() != Some(&self.records.end())).then_some(result.len());
        for end in ends.chain(open) {
            let record = &result[start..end];
            let key = &record[..self.records.without_end(record)];
            let id = self.identity.of(key) as u64;
            // The lowest bits choose the slot in the table of a shard, so the highest ones choose the shard.
            keys[(id >> 60) as usize % SHARDS].push((id, key));
            start = end;
        }
        for at in (first..).take(SHARDS) {
            let mut shard = self.shards[at % SHARDS].lock().unwrap_or_else(PoisonError::into_inner);
            for keys in keys[at % SHARDS].chunks(GROUP) {
                let mut ids = [0; GROUP];
                ids.iter_mut().zip(keys).for_each(|(id, key)| *id = key.0.into());
                shard.seen.load(&ids[..keys.len()]);
                for (id, key) in ids.iter().zip(keys) {
                    shard.push(0, *id, key.1, &[])?;
                }
            }
        }
        Ok(())
    }
}

/// The number of keys whose slots are loaded into the caches together, before the keys are looked up one by one.
const GROUP: usize = 64;

/// The number of files that keys are divided among if they do not fit in memory; for counts, the sum over all shards.
const PARTS: usize = 64;

/// The way to identify keys: by fingerprints, or by hashes if whole keys are compared as well. An identity is never 0.
#[derive(Clone)]
pub enum Identity {
    /// Fingerprints with a random seed. Without a seed, an attacker could write keys whose fingerprints share the bits
    /// that choose the slot. Each lookup would then pass the slots of all these keys.
    Fingerprint(u64),
    Hash(RandomState),
}

impl Identity {
    /// Returns the way to compare keys: by fingerprints of 128 bits, or whole.
    pub fn new(has_fingerprints: bool) -> Identity {
        if has_fingerprints {
            // The seed of the standard library is from the operating system.
            Identity::Fingerprint(std::hash::RandomState::new().hash_one(0))
        } else {
            Identity::Hash(RandomState::default())
        }
    }

    #[inline(always)]
    pub fn of(&self, key: &[u8]) -> u128 {
        match self {
            Identity::Fingerprint(seed) => XxHash3_128::oneshot_with_seed(*seed, key).max(1),
            Identity::Hash(state) => state.hash_one(key).max(1).into(),
        }
    }
}

/// The keys that were seen.
enum Seen {
    Counts(Keys<true>),
    Keys(Keys<false>),
    Fingerprints(Table),
}

impl Seen {
    /// Returns an empty set of keys of the same type.
    fn empty(&self) -> Seen {
        match self {
            Seen::Counts(_) => Seen::Counts(Keys::default()),
            Seen::Keys(_) => Seen::Keys(Keys::default()),
            Seen::Fingerprints(_) => Seen::Fingerprints(Table::default()),
        }
    }

    /// Loads the slots of the keys with the identities `ids` into the caches, before the keys are looked up.
    #[inline]
    fn load(&self, ids: &[u128]) {
        match self {
            Seen::Counts(keys) => keys.load(ids),
            Seen::Keys(keys) => keys.load(ids),
            Seen::Fingerprints(known) => known.load(ids.iter().map(|id| *id as u64)),
        }
    }

    /// Adds a key, or counts it if it is known. Returns whether it is new.
    #[inline(always)]
    fn insert(&mut self, id: u128, key: &[u8]) -> bool {
        match self {
            Seen::Counts(keys) => keys.add(id as u64, key),
            Seen::Keys(keys) => keys.add(id as u64, key),
            Seen::Fingerprints(known) => {
                known.make_room();
                let place = known.find(id as u64, |high| high == (id >> 64) as u64);
                if let Err(index) = place {
                    known.set(index, id);
                }
                place.is_err()
            }
        }
    }

    /// Reports whether a key is known. If it is, counts it.
    fn count_known(&mut self, id: u128, key: &[u8]) -> bool {
        match self {
            Seen::Counts(keys) => keys.find(id as u64, key).map(|start| keys.count(start)).is_ok(),
            Seen::Keys(keys) => keys.find(id as u64, key).is_ok(),
            Seen::Fingerprints(known) => known.find(id as u64, |high| high == (id >> 64) as u64).is_ok(),
        }
    }

    fn size(&self) -> usize {
        match self {
            Seen::Counts(keys) => keys.size(),
            Seen::Keys(keys) => keys.size(),
            Seen::Fingerprints(known) => known.size(),
        }
    }
}

/// Writes a line. The number is that of the line in the input.
type Write<'w> = dyn FnMut(u64, &[u8]) -> Result<(), Failure> + 'w;

/// Finds the first line of each key. When the keys exceed the memory limit, known keys stay in memory. Lines with other
/// keys are divided among files by their keys, and the next level processes each file in the same way.
struct Level {
    identity: Identity,
    seen: Seen,
    limit: usize,
    is_full: bool,
    /// The hash function that chooses the file for a key. Each level has its own.
    state: RandomState,
    parts: Vec<Spill>,
}

impl Level {
    fn new(identity: Identity, seen: Seen, limit: usize) -> Level {
        Level { identity, seen, limit, is_full: false, state: RandomState::default(), parts: Vec::new() }
    }

    /// Returns a level without keys.
    fn emptied(&self) -> Level {
        Level::new(self.identity.clone(), self.seen.empty(), self.limit)
    }

    /// Takes line `number` of the input, and its key. Returns whether the line is written now. A line with the identity
    /// 0 has no key, and is always written, now or later.
    #[inline(always)]
    fn push(&mut self, number: u64, id: u128, key: &[u8], line: &[u8]) -> Result<bool, Failure> {
        if self.is_full {
            self.put_off(number, id, key, line)?;
            return Ok(false);
        }
        let is_first = id == 0 || self.seen.insert(id, key);
        self.is_full = is_first && self.seen.size() > self.limit;
        Ok(is_first)
    }

    /// Writes the line to a file, unless its key is in memory.
    fn put_off(&mut self, number: u64, id: u128, key: &[u8], line: &[u8]) -> Result<(), Failure> {
        if id != 0 && self.seen.count_known(id, key) {
            return Ok(());
        }
        if self.parts.is_empty() {
            let number = if let Seen::Counts(_) = self.seen { PARTS / SHARDS } else { PARTS };
            self.parts = (0..number).map(|_| Spill::new()).collect::<Result<_, _>>()?;
        }
        let (part, fingerprint) = (self.state.hash_one(id) as usize % self.parts.len(), id.to_le_bytes());
        let is_short = id != 0 && matches!(self.identity, Identity::Fingerprint(_));
        self.parts[part].push(number, if is_short { &fingerprint } else { key }, line)
    }

    /// Returns the next level, which has taken the lines of `part`. Lines that are written now go to `write`.
    fn next(&self, part: Spill, write: &mut Write<'_>) -> Result<Level, Failure> {
        let (mut rows, mut row) = (part.rows()?, Row::default());
        let mut level = self.emptied();
        while rows.next(&mut row)? {
            let key = row.key();
            let id = match (&self.identity, key.first_chunk()) {
                (Identity::Fingerprint(_), bytes) => bytes.map_or(0, |bytes| u128::from_le_bytes(*bytes)),
                (Identity::Hash(_), _) if key.is_empty() && !matches!(self.seen, Seen::Counts(_)) => 0,
                (Identity::Hash(_), _) => self.identity.of(key),
            };
            if level.push(row.number, id, key, &row.line)? {
                write(row.number, &row.line)?;
            }
        }
        Ok(level)
    }

    /// Passes the remaining lines, and those of `first`, to `each` in the order of their numbers.
    fn finish(mut self, first: Option<Spill>, each: &mut Write<'_>) -> Result<(), Failure> {
        let mut runs: Vec<Spill> = first.into_iter().collect();
        self.seen = self.seen.empty();
        for part in std::mem::take(&mut self.parts) {
            let mut run = Spill::new()?;
            let level = self.next(part, &mut |number, line| run.push(number, &[], line))?;
            if !level.parts.is_empty() {
                let mut all = Spill::new()?;
                level.finish(Some(run), &mut |number, line| all.push(number, &[], line))?;
                run = all;
            }
            runs.push(run);
        }
        merge(runs, |row| each(row.number, &row.line))
    }

    /// Passes each key with its count to `each`, if keys are counted.
    fn count(mut self, each: &mut dyn FnMut(&[u8], u64)) -> Result<(), Failure> {
        if let Seen::Counts(keys) = &self.seen {
            keys.iter().for_each(|(count, key)| each(key, count));
        }
        self.seen = self.seen.empty();
        for part in std::mem::take(&mut self.parts) {
            self.next(part, &mut |_, _| Ok(()))?.count(each)?;
        }
        Ok(())
    }
}

/// Keeps the first line of each key. The results that it takes are [`Frame`]s.
pub struct Distinct {
    level: Level,
    /// The number of lines so far.
    lines: u64,
}

/// Lines with their keys. The text of a frame has the lines, and then the keys that are not in the lines.
#[derive(Clone, Default)]
pub struct Frame {
    /// A head for each line: the identity, the position in the text and the length of its key, and the line's length.
    heads: Vec<u8>,
    /// The length of the lines in the text.
    lines: usize,
    /// The line end to add after the last line, if that line has none.
    end: Option<u8>,
}

/// The length of a head, in bytes.
const HEAD: usize = 28;

/// Returns the three numbers after the identity in a head.
#[inline]
fn numbers(head: &[u8; HEAD]) -> [usize; 3] {
    let number =
        |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]) as usize;
    [number(16), number(20), number(24)]
}

/// Returns the identity at the start of a head.
#[inline]
fn id_of(head: &[u8; HEAD]) -> u128 {
    head.first_chunk().map_or(0, |bytes| u128::from_le_bytes(*bytes))
}

/// Returns the head of an identity and three numbers. They fit in 32 bits, because lines are shorter than 4 GiB.
#[inline]
fn head(id: u128, numbers: [usize; 3]) -> [u8; HEAD] {
    let mut head = [0; HEAD];
    head[..16].copy_from_slice(&id.to_le_bytes());
    head[16..].copy_from_slice(numbers.map(|number| (number as u32).to_le_bytes()).as_flattened());
    head
}

impl Frame {
    /// Starts the frame of `lines`. Each of them ends in `end`, if there is one, but the last one can lack it.
    pub fn begin(&mut self, lines: &[u8], end: Option<u8>) {
        self.heads.clear();
        self.end = end.filter(|end| lines.last() != Some(end));
        self.lines = lines.len() + usize::from(self.end.is_some());
    }

    /// Adds a line of `len` bytes. Its key is the end of `keys`, from offset `from` on, or missing if that is empty.
    #[inline]
    pub fn push(&mut self, len: usize, identity: &Identity, keys: &[u8], from: usize) {
        let key = &keys[from..];
        let id = if key.is_empty() { 0 } else { identity.of(key) };
        self.add(id, self.lines + from, key.len(), len);
    }

    /// Adds `lines`, which start at offset `start` of this frame. Their keys are the records in `keys` from offset
    /// `from` on; the last one can lack its end. If the keys equal the lines, they are removed from `keys`.
    pub fn push_lines(
        &mut self,
        lines: &[u8],
        start: usize,
        keys: &mut Vec<u8>,
        from: usize,
        records: Records,
        identity: &Identity,
    ) {
        let end = records.end();
        let is_same = keys[from..] == *lines;
        let (texts, base) = if is_same {
            keys.truncate(from);
            (lines, start)
        } else {
            if keys.last() != Some(&end) {
                keys.push(end);
            }
            (&keys[from..], self.lines + from)
        };
        let mut ends = memchr::memchr_iter(end, texts);
        let (mut at, mut begin) = (0, 0);
        while at < lines.len() {
            // If the lines are the keys, one search is enough.
            let stop = ends.next().map_or(texts.len(), |at| at + 1);
            let next = if is_same {
                stop
            } else {
                memchr::memchr(end, &lines[at..]).map_or(lines.len(), |len| at + len + 1)
            };
            let mut key = begin..begin + records.without_end(&texts[begin..stop]);
            if key.is_empty() {
                // An empty key would mean no key, so the record end, which no other key contains, replaces it.
                key = stop - 1..stop;
            }
            self.add(identity.of(&texts[key.clone()]), base + key.start, key.len(), next - at);
            (at, begin) = (next, stop);
        }
    }

    #[inline]
    fn add(&mut self, id: u128, start: usize, key: usize, line: usize) {
        // If the end of the key does not fit in 32 bits, its line is treated as one without a key.
        let (id, start, key) = if start + key > u32::MAX as usize { (0, 0, 0) } else { (id, start, key) };
        self.heads.extend_from_slice(&head(id, [start, key, line]));
    }

    /// Appends a frame with the `piece` of a line that has no key to `out`, and `end` if the piece lacks it.
    pub fn write_piece(&mut self, piece: &[u8], end: Option<u8>, out: &mut Vec<u8>) {
        self.begin(piece, end);
        self.add(0, 0, 0, piece.len());
        self.write(piece, &[], out);
    }

    /// Appends this frame with its `lines` and `keys` to `out`.
    pub fn write(&mut self, lines: &[u8], keys: &[u8], out: &mut Vec<u8>) {
        let end = self.end.as_slice();
        if let Some(last) = self.heads.last_chunk_mut() {
            let [start, len, line] = numbers(last);
            *last = head(id_of(last), [start, len, line + end.len()]);
        }
        out.extend_from_slice(&head(0, [self.heads.len(), self.lines, keys.len()]));
        [&self.heads, lines, end, keys].iter().for_each(|bytes| out.extend_from_slice(bytes));
    }
}

impl Distinct {
    /// Creates an empty set of keys, which uses up to `memory` bytes.
    pub fn new(memory: usize, identity: Identity) -> Distinct {
        let seen = match identity {
            Identity::Fingerprint(_) => Seen::Fingerprints(Table::default()),
            Identity::Hash(_) => Seen::Keys(Keys::default()),
        };
        Distinct { level: Level::new(identity, seen, memory), lines: 0 }
    }

    /// Passes the lines that were not written yet to `write`, and forgets all keys.
    pub fn finish(&mut self, mut write: impl FnMut(&[u8]) -> Result<(), Failure>) -> Result<(), Failure> {
        let next = self.level.emptied();
        std::mem::replace(&mut self.level, next).finish(None, &mut |_, line| write(line))
    }

    /// Forgets all keys and lines.
    pub fn clear(&mut self) {
        self.level = self.level.emptied();
    }

    /// Takes the frames of `result`, and appends the lines that are written now to `out`.
    pub fn take(&mut self, mut result: &[u8], out: &mut Vec<u8>) -> Result<(), Failure> {
        out.reserve(result.len());
        while let Some((lens, rest)) = result.split_first_chunk() {
            let [heads, lines, keys] = numbers(lens);
            let (heads, rest) = rest.split_at(heads);
            let (text, rest) = rest.split_at(lines + keys);
            result = rest;
            // The lines before `done` are written or left out. Those from `done` to `at` will be written with one copy.
            let (mut done, mut at) = (0, 0);
            for heads in heads.as_chunks::<HEAD>().0.chunks(GROUP) {
                let mut ids = [0; GROUP];
                ids.iter_mut().zip(heads).for_each(|(id, head)| *id = id_of(head));
                self.level.seen.load(&ids[..heads.len()]);
                for head in heads {
                    let [start, len, line] = numbers(head);
                    let end = at + line;
                    self.lines += 1;
                    let (key, line) = (&text[start..start + len], &text[at..end]);
                    if !self.level.push(self.lines, id_of(head), key, line)? {
                        out.extend_from_slice(&text[done..at]);
                        done = end;
                    }
                    at = end;
                }
            }
            out.extend_from_slice(&text[done..at]);
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
                let identity = Identity::new(has_fingerprints);
                let mut distinct = Distinct::new(memory, identity.clone());
                let mut out = Vec::new();
                for chunk in numbers.chunks(100) {
                    let (mut frame, mut lines, mut keys) = (Frame::default(), String::new(), Vec::new());
                    for number in chunk {
                        let _ = writeln!(lines, "{number}");
                    }
                    frame.begin(lines.as_bytes(), Some(b'\n'));
                    // About half of the chunks store the keys in addition to the lines.
                    if chunk[0] % 2 == 0 {
                        for number in chunk {
                            let (from, key) = (keys.len(), number.to_string());
                            keys.extend_from_slice(key.as_bytes());
                            frame.push(key.len() + 1, &identity, &keys, from);
                        }
                    } else {
                        keys.extend_from_slice(lines.as_bytes());
                        frame.push_lines(lines.as_bytes(), 0, &mut keys, 0, Records::Lines, &identity);
                    }
                    let mut frames = Vec::new();
                    frame.write(lines.as_bytes(), &keys, &mut frames);
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

    /// Makes keys that share ten bits of their hash without a seed, and checks that a seed spreads them over the slots.
    #[test]
    fn keys_that_share_the_bits_of_an_unseeded_hash_do_not_share_slots() {
        let key = |number: &u64| number.to_string();
        let hostile =
            |number: &u64| (XxHash3_128::oneshot(key(number).as_bytes()) as u64).is_multiple_of(1024);
        let identity = Identity::new(true);
        let slots: HashSet<u64> = (0..)
            .filter(hostile)
            .take(500)
            .map(|number| identity.of(key(&number).as_bytes()) as u64 % 1024)
            .collect();
        assert!(slots.len() > 300, "500 keys have {} of 1024 slots", slots.len());
    }
}
