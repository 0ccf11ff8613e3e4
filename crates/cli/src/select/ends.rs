//! Where records of CSV end: a line feed within quotes is data.
//!
//! [`Ends`] is the definition, a step at a time. [`Scan`] says the same of whole blocks of 64 bytes at once, wherever quotes
//! are where they belong.

/// Finds the ends of records in input that comes in pieces.
///
/// A quote opens a cell only at its start, and within a cell that is quoted two quotes are one that is data.
#[derive(Clone, Copy, Debug)]
pub struct Ends {
    delimiter: u8,
    state: State,
}

#[derive(Clone, Copy, Debug)]
enum State {
    /// Outside of quotes, after this byte.
    Outside(u8),
    Quoted,
    /// After a quote within quotes.
    Quote,
}

/// The state between records.
const START: State = State::Outside(b'\n');

impl Ends {
    /// At the start of a record.
    pub fn new(delimiter: u8) -> Ends {
        Ends { delimiter, state: START }
    }

    /// The end of the record under way, after its line feed; or `None` when it does not end in `piece`.
    pub fn next(&mut self, piece: &[u8]) -> Option<usize> {
        let mut at = 0;
        loop {
            let rest = piece.get(at..).filter(|rest| !rest.is_empty())?;
            self.state = match self.state {
                State::Outside(last) => match memchr::memchr2(b'\n', b'"', rest) {
                    None => {
                        self.state = State::Outside(rest[rest.len() - 1]);
                        return None;
                    }
                    Some(found) if rest[found] == b'\n' => {
                        self.state = START;
                        return Some(at + found + 1);
                    }
                    Some(found) => {
                        let last = if found == 0 { last } else { rest[found - 1] };
                        at += found + 1;
                        if last == self.delimiter || last == b'\n' {
                            State::Quoted
                        } else {
                            State::Outside(b'"')
                        }
                    }
                },
                State::Quoted => {
                    let after = memchr::memchr(b'"', rest)? + 1;
                    at += after;
                    match rest[after..] {
                        // Most often another such cell follows.
                        [byte, b'"', ..] if byte == self.delimiter => {
                            at += 2;
                            State::Quoted
                        }
                        _ => State::Quote,
                    }
                }
                State::Quote if rest[0] == b'"' => {
                    at += 1;
                    State::Quoted
                }
                State::Quote => State::Outside(b'"'),
            };
        }
    }

    /// The same, at the start of a record.
    pub fn fresh(self) -> Ends {
        Ends::new(self.delimiter)
    }
}

/// The ends of the records of a chunk: a bit for each byte, set for line feeds that end one. There are none as long as there
/// is no quote, for then every line feed does.
#[derive(Clone, Debug, Default)]
pub struct Marks(Vec<u64>);

impl Marks {
    /// Whether there are none, because every line feed ends a record.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Takes them away.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// The end of the record that byte `at` is part of, if it has one.
    pub fn end(&self, at: usize) -> Option<usize> {
        let (mut index, mut word) = (at / BLOCK, *self.0.get(at / BLOCK)? & u64::MAX << (at % BLOCK));
        while word == 0 {
            index += 1;
            word = *self.0.get(index)?;
        }
        Some(index * BLOCK + word.trailing_zeros() as usize + 1)
    }

    /// The start of the record that byte `at` is part of.
    pub fn start(&self, at: usize) -> usize {
        let (whole, rest) = (at / BLOCK, at % BLOCK);
        let word = self.0.get(whole).map_or(0, |word| word & !(u64::MAX << rest));
        let before = self.0[..self.0.len().min(whole)].iter().copied().enumerate().rev();
        let mut words = std::iter::once((whole, word)).chain(before);
        let last = words.find(|(_, word)| *word != 0);
        last.map_or(0, |(index, word)| index * BLOCK + BLOCK - word.leading_zeros() as usize)
    }
}

/// The bytes that are looked at together.
const BLOCK: usize = 64;

/// Marks the ends of the records in bytes that become more.
#[derive(Clone, Copy, Debug)]
pub struct Scan {
    /// After the blocks that are done.
    ends: Ends,
    /// After all bytes.
    last: Ends,
    /// The bytes of the blocks that are done.
    done: usize,
    /// The bytes looked at in vain for a quote.
    looked: usize,
    /// The last end of a record.
    end: Option<usize>,
}

impl Scan {
    /// At `ends`, the start of a record.
    pub fn new(ends: Ends) -> Scan {
        Scan { ends, last: ends, done: 0, looked: 0, end: None }
    }

    /// Marks the ends in `bytes`, which begin with those of the last time, and returns the last.
    pub fn look(&mut self, bytes: &[u8], marks: &mut Marks) -> Option<usize> {
        if marks.is_empty() {
            let more = &bytes[self.looked..];
            if memchr::memchr(b'"', more).is_none() {
                if let Some(&last) = more.last() {
                    self.last.state = State::Outside(last);
                }
                let found = memchr::memrchr(b'\n', more).map(|found| self.looked + found + 1);
                (self.end, self.looked) = (found.or(self.end), bytes.len());
                return self.end;
            }
        }
        marks.0.truncate(self.done / BLOCK);
        let (blocks, rest) = bytes[self.done..].as_chunks::<BLOCK>();
        self.ends.mark(blocks, marks);
        self.done += blocks.len() * BLOCK;
        self.last = self.ends;
        if !rest.is_empty() {
            marks.0.push(self.last.step(rest));
        }
        self.end = Some(marks.start(bytes.len())).filter(|&end| end > 0);
        self.end
    }

    /// The state after all bytes.
    pub fn last(&self) -> Ends {
        self.last
    }
}

impl Ends {
    /// Passes `blocks`, and marks the line feeds that end a record.
    fn mark(&mut self, blocks: &[[u8; BLOCK]], marks: &mut Marks) {
        let delimiter = self.delimiter;
        // Whether all before the first quote is quoted, and whether a quote may open a cell if it comes first.
        let (mut is_quoted, mut may_open) = self.bits();
        for block in blocks {
            let [quotes, feeds, delimiters] = [b'"', b'\n', delimiter].map(|byte| mask(block, byte));
            // From each quote that opens to the byte before the one that closes.
            let quoted = parity(quotes) ^ is_quoted;
            // Two quotes within quotes close and open again.
            let openers = quotes | feeds | delimiters;
            if quotes & quoted & !(openers << 1 | may_open) == 0 {
                marks.0.push(feeds & !quoted);
                (is_quoted, may_open) = (0_u64.wrapping_sub(quoted >> 63), openers >> 63);
            } else {
                self.state = Ends::state(is_quoted, may_open);
                marks.0.push(self.step(block));
                (is_quoted, may_open) = self.bits();
            }
        }
        self.state = Ends::state(is_quoted, may_open);
    }

    /// What the state is for whole blocks: whether they begin within quotes, in each bit, and whether a quote may open a
    /// cell, in the lowest.
    fn bits(&self) -> (u64, u64) {
        match self.state {
            State::Quoted => (u64::MAX, 0),
            State::Quote => (0, 1),
            State::Outside(last) => (0, u64::from(last == self.delimiter || last == b'\n')),
        }
    }

    /// The other way round. At the start of a cell, a quote does what it does after a quote within quotes.
    fn state(is_quoted: u64, may_open: u64) -> State {
        match (is_quoted, may_open) {
            (0, 0) => State::Outside(b'"'),
            (0, _) => State::Quote,
            _ => State::Quoted,
        }
    }

    /// Passes at most a block, a step at a time: where a quote is data though it is not within quotes.
    #[cold]
    fn step(&mut self, block: &[u8]) -> u64 {
        let (mut at, mut marks) = (0, 0);
        while let Some(len) = self.next(&block[at..]) {
            at += len;
            marks |= 1 << (at - 1);
        }
        marks
    }
}

/// A bit for each byte of `block` that is `wanted`. It is written so that it compiles to vector code: eight bytes
/// become one, by bits in the wrong order, which are then put in the right one.
#[inline(always)]
fn mask(block: &[u8; BLOCK], wanted: u8) -> u64 {
    let mut bits = [0; BLOCK];
    for (index, bit) in bits.iter_mut().enumerate() {
        *bit = if block[index] == wanted { 1_u8 << (index / 8) } else { 0 };
    }
    let (rows, _) = bits.as_chunks::<8>();
    transposed(rows.iter().fold(0, |all, row| all | u64::from_le_bytes(*row)))
}

/// The transpose of a matrix of eight by eight bits.
#[inline(always)]
fn transposed(mut bits: u64) -> u64 {
    for (shift, mask) in
        [(7, 0x00AA_00AA_00AA_00AA), (14, 0x0000_CCCC_0000_CCCC), (28, 0x0000_0000_F0F0_F0F0)]
    {
        let differ = (bits ^ bits >> shift) & mask;
        bits ^= differ ^ differ << shift;
    }
    bits
}

/// For each bit, whether the number of bits up to it is odd.
#[inline(always)]
fn parity(mut bits: u64) -> u64 {
    for shift in [1, 2, 4, 8, 16, 32] {
        bits ^= bits << shift;
    }
    bits
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The ends that [`Ends`] finds, and its state after them.
    fn stepwise(bytes: &[u8]) -> (Vec<usize>, Ends) {
        let (mut ends, mut found, mut at) = (Ends::new(b','), Vec::new(), 0);
        while let Some(len) = ends.next(&bytes[at..]) {
            at += len;
            found.push(at);
        }
        (found, ends)
    }

    #[test]
    fn marks_are_where_the_steps_end() {
        let words: [&[u8]; 12] = [
            b"\"",
            b"\"",
            b",",
            b"\n",
            b"a",
            b"\"\"",
            b",\"",
            b"\",",
            b"\"\n",
            b"\r\n",
            b"a cell without quotes",
            b"%41",
        ];
        let (mut seed, mut irregular, mut regular) = (1_u64, 0, 0);
        for round in 0..20_000 {
            let mut random = |below: usize| {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (seed >> 33) as usize % below
            };
            let mut bytes = Vec::new();
            for _ in 0..random(if round % 10 == 0 { 200 } else { 40 }) {
                // Cells as writers write them, and whatever else.
                bytes.extend_from_slice(words[if round % 2 == 0 { 4 + random(8) } else { random(12) }]);
            }
            let (wanted, state) = stepwise(&bytes);
            let (mut scan, mut marks, mut len) = (Scan::new(Ends::new(b',')), Marks::default(), 0);
            while len < bytes.len() {
                len = bytes.len().min(len + 1 + random(150));
                let last = wanted.iter().copied().rfind(|&end| end <= len);
                assert_eq!(scan.look(&bytes[..len], &mut marks), last, "{}", bytes.escape_ascii());
            }
            if bytes.contains(&b'"') {
                let (mut found, mut at) = (Vec::new(), 0);
                while let Some(end) = marks.end(at) {
                    found.push(end);
                    assert!(
                        (at..end).all(|inside| marks.start(inside) == at && marks.end(inside) == Some(end))
                    );
                    at = end;
                }
                assert_eq!(found, wanted, "{}", bytes.escape_ascii());
                let after = |mut ends: Ends| ends.next(b"\"\n\",\n\n");
                assert_eq!(after(scan.last()), after(state), "{}", bytes.escape_ascii());
                let blocks = bytes.chunks_exact(BLOCK).count();
                (irregular, regular) = if round % 2 == 0 {
                    (irregular, regular + blocks)
                } else {
                    (irregular + blocks, regular)
                };
            } else {
                assert!(marks.is_empty());
            }
        }
        assert!(irregular > 1000 && regular > 1000, "{irregular} {regular}");
    }

    #[test]
    fn bits_are_in_the_order_of_bytes() {
        for at in 0..BLOCK {
            let mut block = [b'a'; BLOCK];
            block[at] = b'b';
            assert_eq!(mask(&block, b'b'), 1 << at);
        }
    }
}
