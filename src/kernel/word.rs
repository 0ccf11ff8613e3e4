//! Bytes in machine words: loads and checks of short inputs, and searches of eight bytes at once.

const EACH: u64 = 0x0101_0101_0101_0101;
const TOP: u64 = EACH << 7;

/// Returns the bytes of an input shorter than 16, little-endian, with zeros after them.
#[inline(always)]
pub(crate) fn words(input: &[u8]) -> [u64; 2] {
    let len = input.len();
    if let (Some(start), Some(end)) = (input.first_chunk(), input.last_chunk()) {
        // The last eight bytes, without those that are in the first word. Two shifts, because the distance may be 64.
        let behind = u64::from_le_bytes(*end) >> 1 >> (127 - 8 * len.min(15));
        [u64::from_le_bytes(*start), behind]
    } else if let (Some(start), Some(end)) = (input.first_chunk(), input.last_chunk()) {
        let end = u64::from(u32::from_le_bytes(*end)) << (8 * (len - 4));
        [u64::from(u32::from_le_bytes(*start)) | end, 0]
    } else {
        let byte = |i: usize| u64::from(input[i]) << (8 * i);
        [if len == 0 { 0 } else { byte(0) | byte(len / 2) | byte(len - 1) }, 0]
    }
}

/// The longest input that a [`Look`] checks.
pub(crate) const SHORT: usize = 16;

/// A quick check whether an input of at most [`SHORT`] bytes stays unchanged. The methods get two pieces that cover the input and
/// may overlap. `true` means that the input stays unchanged; `false` means that the check cannot tell.
pub(crate) trait Look: Copy {
    /// Checks an input of one byte.
    fn one(self, byte: u8) -> bool;

    /// Checks an input of two or three bytes, given its first two and its last two.
    fn three(self, len: usize, start: u16, end: u16) -> bool;

    /// Checks an input of four to seven bytes, given its first four and its last four.
    fn seven(self, len: usize, start: u32, end: u32) -> bool;

    /// Checks an input of eight to sixteen bytes, given its first eight and its last eight.
    fn sixteen(self, start: u64, end: u64) -> bool;
}

/// Checks `input` with `look`. Returns `false` if it is longer than [`SHORT`] bytes.
#[cfg(feature = "alloc")]
#[inline(always)]
pub(crate) fn stays(input: &[u8], look: impl Look) -> bool {
    let len = input.len();
    if len > SHORT {
        false
    } else if let (Some(start), Some(end)) = (input.first_chunk(), input.last_chunk()) {
        look.sixteen(u64::from_le_bytes(*start), u64::from_le_bytes(*end))
    } else if let (Some(start), Some(end)) = (input.first_chunk(), input.last_chunk()) {
        look.seven(len, u32::from_le_bytes(*start), u32::from_le_bytes(*end))
    } else if let (Some(start), Some(end)) = (input.first_chunk(), input.last_chunk()) {
        look.three(len, u16::from_le_bytes(*start), u16::from_le_bytes(*end))
    } else {
        input.first().is_none_or(|&byte| look.one(byte))
    }
}

/// Checks an input of 16 bytes or more with `look`, piece by piece. Returns `false` if the input is shorter.
#[cfg(feature = "alloc")]
#[inline(always)]
pub(crate) fn all_stay(input: &[u8], look: impl Look) -> bool {
    let (blocks, _) = input.as_chunks::<64>();
    blocks.iter().all(|block| four_stay(block, look))
        && four_stay(input.last_chunk::<64>().map_or(input, |last| last), look)
}

/// Checks 16 to 64 bytes with `look`, as four overlapping pieces of sixteen. There is no branch on the length, because it could
/// not be predicted. Returns `false` for any other length.
#[cfg(feature = "alloc")]
#[inline(always)]
fn four_stay(input: &[u8], look: impl Look) -> bool {
    let len = input.len();
    if !(16..=64).contains(&len) {
        return false;
    }
    let last = len - 16;
    let mut stay = true;
    for from in [0, last.min(16), last.saturating_sub(16), last] {
        let Some(piece) = input.get(from..).and_then(<[u8]>::first_chunk::<16>) else { return false };
        let (Some(start), Some(end)) = (piece.first_chunk(), piece.last_chunk()) else { return false };
        stay &= look.sixteen(u64::from_le_bytes(*start), u64::from_le_bytes(*end));
    }
    stay
}

/// Returns the top bit of each byte of `word` that is `byte`, and no other bit.
#[inline(always)]
pub(crate) const fn equal(word: u64, byte: u8) -> u64 {
    !differ(word, byte) & TOP
}

/// Returns the top bit of each byte of `word` that is `a` or `b`, and no other bit.
#[inline(always)]
pub(crate) const fn either(word: u64, a: u8, b: u8) -> u64 {
    !(differ(word, a) & differ(word, b)) & TOP
}

/// Returns a word with the top bit set in exactly the bytes of `word` that are not `byte`. Its other bits are arbitrary.
#[inline(always)]
const fn differ(word: u64, byte: u8) -> u64 {
    let difference = word ^ (EACH * byte as u64);
    // The sum of seven bits and 0x7F does not overflow its byte.
    ((difference & !TOP) + !TOP) | difference
}

/// Returns a word with the top bit set in exactly the bytes of `word` that are `byte` or more. All bytes are below 0x80. Other
/// bits are arbitrary.
#[inline(always)]
const fn from(word: u64, byte: u8) -> u64 {
    word + EACH * (0x80 - byte as u64)
}

/// Returns the top bit of each byte of `word` that is not an ASCII letter or digit, `-`, `.`, `_` or the ASCII byte `other`.
#[inline(always)]
pub(crate) const fn unusual(word: u64, other: u8) -> u64 {
    let ascii = word & !TOP;
    let folded = ascii | (EACH * 0x20);
    let letters = from(folded, b'a') & !from(folded, b'z' + 1);
    // The bytes from `-` to `9` are `-`, `.`, `/` and the digits.
    let digits = from(ascii, b'-') & !from(ascii, b'9' + 1) & differ(ascii, b'/');
    let others = !(differ(ascii, b'_') & differ(ascii, other));
    (!(letters | digits | others) | word) & TOP
}

/// Whether a loop over bytes is faster than words, because the compiler turns it into SSE2, which every x86-64 CPU has. Only the
/// scalar kernels read this constant, and other targets with vectors in every CPU (AArch64) use a vector tier instead of them.
const VECTORS: bool = cfg!(target_arch = "x86_64");

/// Reports whether `byte` is not an ASCII letter or digit, `-`, `.`, `_` or `other`. There is no branch, so that the compiler
/// can check many bytes at once.
#[inline(always)]
const fn is_unusual(byte: u8, other: u8) -> bool {
    let letter = (byte | 0x20).wrapping_sub(b'a') < 26;
    // The bytes from `-` to `9` are `-`, `.`, `/` and the digits.
    let digit = (byte.wrapping_sub(b'-') < 13) & (byte != b'/');
    !(letter | digit | (byte == b'_') | (byte == other))
}

/// Reports whether any byte is not an ASCII letter or digit, `-`, `.`, `_` or `other`. `N` is a multiple of eight.
#[inline(always)]
pub(crate) fn any_unusual<const N: usize>(bytes: &[u8; N], other: u8) -> bool {
    if VECTORS {
        bytes.iter().fold(false, |any, &byte| any | is_unusual(byte, other))
    } else {
        bytes.as_chunks().0.iter().fold(0, |any, word| any | unusual(u64::from_le_bytes(*word), other)) != 0
    }
}

/// Reports whether any byte of the two pieces is `byte`. `N` is a multiple of eight.
#[inline(always)]
pub(crate) fn any_equal<const N: usize>(pieces: [&[u8; N]; 2], byte: u8) -> bool {
    if VECTORS {
        let [a, b] = pieces;
        a.iter().zip(b).fold(false, |any, (&a, &b)| any | (a == byte) | (b == byte))
    } else {
        let words = pieces.into_iter().flat_map(|piece| piece.as_chunks().0);
        words.fold(0, |any, word| any | equal(u64::from_le_bytes(*word), byte)) != 0
    }
}

/// A word in which escapes have been decoded.
pub(crate) struct Unescaped {
    /// The decoded bytes: eight, and two fewer for each escape. The bytes after them are arbitrary.
    pub(crate) bytes: u64,
    /// The top bit of each byte that was the `%` of an escape.
    pub(crate) escapes: u64,
    /// The top bit of each byte that was a `%`.
    pub(crate) percents: u64,
}

impl Unescaped {
    /// Returns the number of bytes by which decoding shortened the word: two for each escape.
    #[inline(always)]
    pub(crate) const fn dropped(&self) -> usize {
        2 * count(self.escapes)
    }

    /// Returns the number of bytes at the end of the word that may start an escape which the next word completes.
    #[inline(always)]
    pub(crate) const fn held_back(&self) -> usize {
        let last = self.percents >> 63;
        (last | self.percents >> 54 & 2 & !(last << 1)) as usize
    }
}

/// Returns a word with the top bit set in exactly the bytes of `word` that are hexadecimal digits. Its other bits are arbitrary.
#[inline(always)]
const fn digits(word: u64) -> u64 {
    let ascii = word & !TOP;
    let folded = ascii | (EACH * 0x20);
    let digits = from(ascii, b'0') & !from(ascii, b'9' + 1) | from(folded, b'a') & !from(folded, b'f' + 1);
    digits & !word
}

/// Reports whether `byte` is a hexadecimal digit, without a branch.
#[inline(always)]
const fn is_digit(byte: u8) -> bool {
    (byte.wrapping_sub(b'0') < 10) | ((byte | 0x20).wrapping_sub(b'a') < 6)
}

/// Returns the number of `%` among the first 64 bytes of `near`, and how many of these start an escape.
#[inline(always)]
pub(crate) fn count_escapes(near: &[u8; 66]) -> [usize; 2] {
    let (mut percents, mut escapes) = (0, 0);
    if VECTORS {
        // The sums of at most 64 fit in bytes, so that a vector holds many of them.
        let (mut all, mut valid) = (0u8, 0u8);
        for i in 0..64 {
            let percent = near[i] == b'%';
            all += u8::from(percent);
            valid += u8::from(percent & is_digit(near[i + 1]) & is_digit(near[i + 2]));
        }
        return [usize::from(all), usize::from(valid)];
    }
    // Each byte of a sum counts those at its place in the eight words.
    for i in (0..64).step_by(8) {
        let word = |from: usize| near[from..].first_chunk().map_or(0, |word| u64::from_le_bytes(*word));
        let percent = equal(word(i), b'%');
        percents += percent >> 7;
        escapes += (percent & digits(word(i + 1)) & digits(word(i + 2))) >> 7;
    }
    [percents, escapes].map(|sums: u64| (sums.wrapping_mul(EACH) >> 56) as usize)
}

/// Decodes the escapes in eight bytes, without a branch.
#[inline(always)]
pub(crate) const fn unescape(word: u64) -> Unescaped {
    let percents = equal(word, b'%');
    let digits = digits(word);
    let escapes = percents & digits >> 8 & digits >> 16;
    // The value of each byte if it is a digit. Values of other bytes are arbitrary, because only valid escapes use them.
    let values = (word & (EACH * 0x0F)) + (word >> 6 & EACH) * 9;
    let values = values >> 4 | values >> 16;
    let mut bytes = word ^ ((word ^ values) & ((escapes >> 7) * 0xFF));
    // Eight bytes hold at most two escapes. First the two digits of the first escape are removed, then those of the second. If
    // there is no such escape, `before` covers all bytes.
    let before = escapes ^ escapes.wrapping_sub(1);
    bytes = bytes & before | bytes >> 16 & !before;
    let second = (escapes & escapes.wrapping_sub(1)) >> 16;
    let before = second ^ second.wrapping_sub(1);
    bytes = bytes & before | bytes >> 16 & !before;
    Unescaped { bytes, escapes, percents }
}

/// Returns the number of top bits in `tops`. No other bits of `tops` are set.
#[inline(always)]
pub(crate) const fn count(tops: u64) -> usize {
    ((tops >> 7).wrapping_mul(EACH) >> 56) as usize
}

/// Returns a word with bit `n` set if the top bit of byte `n` is set. No other bits of `tops` are set.
#[inline(always)]
pub(crate) const fn bits(tops: u64) -> u64 {
    (tops >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56
}
