//! Generators of test inputs, one for each kind of data that a kernel treats differently.

use crate::tiers::runs;

/// A generator of pseudo-random numbers (SplitMix64). It gives the same sequence on every run and every target.
#[derive(Clone)]
pub struct Rng(pub u64);

impl Rng {
    /// Returns 64 random bits.
    #[allow(clippy::should_implement_trait, reason = "a number, not an `Option` of one")]
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        bits ^ (bits >> 31)
    }

    /// Returns a random number below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    /// Returns a random byte.
    pub fn byte(&mut self) -> u8 {
        (self.next() >> 56) as u8
    }

    /// Returns one of `bytes`.
    pub fn pick(&mut self, bytes: &[u8]) -> u8 {
        bytes[self.below(bytes.len())]
    }

    /// Returns a random set of about half of all bytes.
    pub fn members(&mut self) -> [bool; 256] {
        std::array::from_fn(|_| self.next() >> 63 == 1)
    }
}

/// Bytes that have a meaning under some rule, digits of both cases, and the bytes next to the digits in ASCII.
pub const INTERESTING: &[u8] = b"%%%%%%0123456789abcdefABCDEF/:@G`g +-._~!*'()\r\n\x00\x7f\x80\xa5\xc3\xff";

/// A kind of test input: its name, and a function that makes `len` bytes of it.
pub type Shape = (&'static str, fn(usize, &mut Rng) -> Vec<u8>);

/// All kinds of test input.
pub const SHAPES: &[Shape] = &[
    ("clean", |len, _| cycle(b"abcxyzABCXYZ0189-._~", len)),
    ("all special", |len, rng| (0..len).map(|_| rng.pick(b" \"<>^`{|}\\\x00\x1f\x7f\x80\xbf\xff")).collect()),
    ("one byte, special", |len, _| vec![b' '; len]),
    ("only %", |len, _| vec![b'%'; len]),
    ("dense escapes", |len, _| cycle(b"%41%e2%2F%fF%00%7e", len)),
    ("dense escapes, whole at the end", |len, _| {
        let from = (3 - len % 3) % 3;
        cycle(b"%C3%a9%25%0d%5A%20", len + from)[from..].to_vec()
    }),
    ("%%41", |len, _| cycle(b"%%41", len)),
    ("near escapes", |len, _| cycle(b"%4%41%zz%4g%G4%%%2%2f%/0%:0%@A%`a", len)),
    ("truncated, one digit", |len, _| end_in(b"%4", len)),
    ("truncated, no digit", |len, _| end_in(b"a%", len)),
    ("every third byte", |len, _| cycle(b"ab\xe9cd fg%", len)),
    ("UTF-8", |len, _| cycle("caf\u{e9} \u{65e5}\u{672c}\u{8a9e} \u{1f600}".as_bytes(), len)),
    ("form", |len, _| cycle(b"a+b c%2B+%20 d", len)),
    ("random bytes", |len, rng| (0..len).map(|_| rng.byte()).collect()),
    ("random of the interesting", |len, rng| (0..len).map(|_| rng.pick(INTERESTING)).collect()),
    ("few escapes", |len, rng| sprinkle(len, rng, 24)),
    ("some escapes", |len, rng| sprinkle(len, rng, 6)),
];

/// Repeats `pattern` up to `len` bytes.
pub fn cycle(pattern: &[u8], len: usize) -> Vec<u8> {
    pattern.iter().copied().cycle().take(len).collect()
}

fn end_in(end: &[u8], len: usize) -> Vec<u8> {
    let mut data = cycle(b"0a1b2c", len);
    let from = len.saturating_sub(end.len());
    data[from..].copy_from_slice(&end[..len - from]);
    data
}

/// Makes text in which about one in `every` places has a valid escape, a malformed escape or a random byte.
fn sprinkle(len: usize, rng: &mut Rng, every: usize) -> Vec<u8> {
    let mut data = Vec::with_capacity(len + 3);
    while data.len() < len {
        if rng.below(every) > 0 {
            data.push(rng.pick(b"abcdefghijklmnopqrstuvwxyz/:?=&"));
            continue;
        }
        match rng.below(8) {
            0 => data.extend_from_slice(b"%4"),
            1 => data.push(b'%'),
            2 => data.push(rng.byte()),
            3 => data.extend_from_slice(format!("%{:02x}", rng.byte()).as_bytes()),
            _ => data.extend_from_slice(format!("%{:02X}", rng.byte()).as_bytes()),
        }
    }
    data.truncate(len);
    data
}

/// Calls `each` with every string of at most `longest` bytes of `alphabet`. If the environment variable
/// `SIMDPCT_TEST_SCALE` is less than 100, it leaves out some of the strings that are longer than `whole` bytes.
pub fn words(alphabet: &[u8], longest: usize, whole: usize, mut each: impl FnMut(&[u8])) {
    fn extend(alphabet: &[u8], word: &mut Vec<u8>, longest: usize, each: &mut impl FnMut(&[u8])) {
        each(word);
        if word.len() < longest {
            for &byte in alphabet {
                word.push(byte);
                extend(alphabet, word, longest, each);
                word.pop();
            }
        }
    }
    let mut index = 0;
    extend(alphabet, &mut Vec::new(), longest, &mut |word: &[u8]| {
        index += 1;
        if word.len() <= whole || runs(index) {
            each(word);
        }
    });
}
