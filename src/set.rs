//! Sets of bytes: which stay as they are, and which are escaped.
//!
//! A set is two bitmaps: the pair of lookup tables that a byte shuffle wants, and words for looking up one byte. So
//! a set made at run time is as fast as a named one, and nothing is derived from it.

/// A set of bytes. In an encoder: the bytes that stay as they are.
///
/// Any of the 256 bytes may be a member, so text written with such a set need not be UTF-8, and the verbs
/// return bytes. For text, use [`AsciiSet`].
///
/// All operations are `const` and take constant time.
///
/// ```
/// use simdpct::{ByteSet, sets};
///
/// // Keep everything but controls, space and `%`: the high half stays, as in an IRI.
/// const IRI: ByteSet = ByteSet::NON_ASCII.union(sets::RFC3986_URI.bytes());
/// assert_eq!(simdpct::encode("/caf\u{e9} au lait", &IRI), "/caf\u{e9}%20au%20lait".as_bytes());
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct ByteSet {
    // INVARIANT: both bitmaps hold the same bytes.
    /// Byte `b` is bit `(b >> 4) & 7` of row `(b >> 7) * 16 + (b & 15)`: 16 rows for ASCII, 16 for the rest.
    rows: [u8; 32],
    /// Byte `b` is bit `b & 63` of word `b >> 6`.
    words: [u64; 4],
}

impl ByteSet {
    /// No byte.
    pub const EMPTY: ByteSet = ByteSet { rows: [0; 32], words: [0; 4] };
    /// All 256 bytes.
    pub const ALL: ByteSet = ByteSet { rows: [0xFF; 32], words: [u64::MAX; 4] };
    /// The bytes `0x00..=0x7F`.
    pub const ASCII: ByteSet = {
        let mut rows = [0; 32];
        let mut i = 0;
        while i < 16 {
            rows[i] = 0xFF;
            i += 1;
        }
        ByteSet { rows, words: [u64::MAX, u64::MAX, 0, 0] }
    };
    /// The bytes `0x80..=0xFF`.
    pub const NON_ASCII: ByteSet = ByteSet::ASCII.complement();

    const fn place(byte: u8) -> (usize, u8) {
        (((byte >> 7) as usize) * 16 + (byte & 15) as usize, 1 << ((byte >> 4) & 7))
    }

    /// Whether `byte` is a member.
    #[must_use]
    #[inline(always)]
    pub const fn contains(&self, byte: u8) -> bool {
        self.words[(byte >> 6) as usize] >> (byte & 63) & 1 != 0
    }

    /// The set with each of `bytes` as a member.
    #[must_use]
    pub const fn add(mut self, bytes: &[u8]) -> ByteSet {
        let mut i = 0;
        while i < bytes.len() {
            let (row, bit) = ByteSet::place(bytes[i]);
            self.rows[row] |= bit;
            self.words[(bytes[i] >> 6) as usize] |= 1 << (bytes[i] & 63);
            i += 1;
        }
        self
    }

    /// The set with none of `bytes` as a member.
    #[must_use]
    pub const fn remove(self, bytes: &[u8]) -> ByteSet {
        self.difference(ByteSet::EMPTY.add(bytes))
    }

    /// The bytes of either set.
    #[must_use]
    pub const fn union(self, other: ByteSet) -> ByteSet {
        self.complement().difference(other).complement()
    }

    /// The bytes of this set that are not in `other`.
    #[must_use]
    pub const fn difference(mut self, other: ByteSet) -> ByteSet {
        let mut i = 0;
        while i < 32 {
            self.rows[i] &= !other.rows[i];
            i += 1;
        }
        let ([a, b, c, d], [no_a, no_b, no_c, no_d]) = (self.words, other.words);
        self.words = [a & !no_a, b & !no_b, c & !no_c, d & !no_d];
        self
    }

    /// The bytes that are in both sets.
    #[must_use]
    pub const fn intersection(self, other: ByteSet) -> ByteSet {
        self.difference(other.complement())
    }

    /// The bytes that are not in this set.
    #[must_use]
    pub const fn complement(mut self) -> ByteSet {
        let mut i = 0;
        while i < 32 {
            self.rows[i] = !self.rows[i];
            i += 1;
        }
        let [a, b, c, d] = self.words;
        self.words = [!a, !b, !c, !d];
        self
    }

    /// The set as an [`AsciiSet`], or `None` when it has a member of `0x80` or more.
    #[must_use]
    pub const fn ascii(self) -> Option<AsciiSet> {
        if self.is_ascii() { Some(AsciiSet(self)) } else { None }
    }

    /// Whether every member is below `0x80`.
    #[must_use]
    #[inline]
    pub const fn is_ascii(&self) -> bool {
        self.words[2] | self.words[3] == 0
    }

    /// Whether there is no member.
    #[must_use]
    #[inline]
    pub const fn is_empty(&self) -> bool {
        let [a, b, c, d] = self.words;
        a | b | c | d == 0
    }

    /// The number of members.
    #[must_use]
    pub const fn len(&self) -> usize {
        let [a, b, c, d] = self.words;
        (a.count_ones() + b.count_ones() + c.count_ones() + d.count_ones()) as usize
    }

    /// The members, in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = u8> + use<> {
        let set = *self;
        (0..=u8::MAX).filter(move |&byte| set.contains(byte))
    }

    /// If the set is the ASCII letters and digits, `-`, `.`, `_`, and at most one other ASCII byte: that byte, or one of
    /// these. Sets for which that holds are common, and are looked up without a table.
    #[inline(always)]
    pub(crate) const fn usual_and_one(&self) -> Option<u8> {
        const LOW: u64 = 0x03FF_6000_0000_0000;
        const HIGH: u64 = 0x07FF_FFFE_87FF_FFFE;
        let [low, high, ..] = self.words;
        let (low, high) = (low ^ LOW, high ^ HIGH);
        let others = low as u128 | (high as u128) << 64;
        if !self.is_ascii() || low & LOW != 0 || high & HIGH != 0 || others & others.wrapping_sub(1) != 0 {
            None
        } else if others == 0 {
            Some(b'-')
        } else {
            Some(others.trailing_zeros() as u8)
        }
    }

    /// The first byte from `from` on that is a member, or that is none; 256 if there is no such byte.
    #[allow(dead_code, reason = "for tiers without a byte shuffle")]
    #[inline(always)]
    pub(crate) fn next(&self, from: usize, member: bool) -> usize {
        let mut from = from;
        while from < 256 {
            let word = if member { self.words[from / 64] } else { !self.words[from / 64] };
            let rest = word >> (from % 64);
            if rest != 0 {
                return from + rest.trailing_zeros() as usize;
            }
            from = (from / 64 + 1) * 64;
        }
        256
    }

    /// The members: byte `b` is bit `b & 63` of word `b >> 6`.
    #[allow(dead_code, reason = "on some architectures no tier looks at them")]
    #[inline(always)]
    pub(crate) fn words(&self) -> &[u64; 4] {
        &self.words
    }

    /// The lookup rows of ASCII bytes, and of the others: row `b & 15`, bit `(b >> 4) & 7`.
    #[inline(always)]
    pub(crate) fn halves(&self) -> [&[u8; 16]; 2] {
        let (halves, _) = self.rows.as_chunks();
        [&halves[0], &halves[1]]
    }
}

impl core::fmt::Debug for ByteSet {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("{")?;
        self.iter().try_for_each(|byte| write!(f, "{}", byte.escape_ascii()))?;
        f.write_str("}")
    }
}

/// A set of ASCII bytes. In an encoder: the bytes that stay as they are.
///
/// Because no byte of `0x80` or more can stay, whatever is encoded with such a set is ASCII, and the verbs
/// return `str`. The named sets of [`sets`](crate::sets) are of this type.
///
/// All operations are `const` and take constant time.
///
/// ```
/// use simdpct::{AsciiSet, sets};
///
/// const KEY: AsciiSet = sets::RFC3986_UNRESERVED.add(b"/:").unwrap();
/// assert_eq!(simdpct::encode("a/b:c d", &KEY), "a/b:c%20d");
/// ```
// INVARIANT: no member is 0x80 or more. `str` conversions of encoded text rely on it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct AsciiSet(ByteSet);

impl AsciiSet {
    /// No byte: everything is escaped.
    pub const EMPTY: AsciiSet = AsciiSet(ByteSet::EMPTY);
    /// The bytes `0x00..=0x7F`.
    pub const ALL: AsciiSet = AsciiSet(ByteSet::ASCII);

    /// The set of `bytes`, which build.rs has checked to be ASCII.
    const fn of(bytes: &[u8]) -> AsciiSet {
        match ByteSet::EMPTY.add(bytes).ascii() {
            Some(set) => set,
            None => AsciiSet::EMPTY,
        }
    }

    /// Whether `byte` is a member.
    #[must_use]
    #[inline(always)]
    pub const fn contains(&self, byte: u8) -> bool {
        self.0.contains(byte)
    }

    /// The set with each of `bytes` as a member, or `None` when one of them is not ASCII.
    ///
    /// In a constant, `.unwrap()` makes that a compile error.
    #[must_use]
    pub const fn add(self, bytes: &[u8]) -> Option<AsciiSet> {
        self.0.add(bytes).ascii()
    }

    /// The set with none of `bytes` as a member.
    #[must_use]
    pub const fn remove(self, bytes: &[u8]) -> AsciiSet {
        AsciiSet(self.0.remove(bytes))
    }

    /// The bytes of either set.
    #[must_use]
    pub const fn union(self, other: AsciiSet) -> AsciiSet {
        AsciiSet(self.0.union(other.0))
    }

    /// The bytes of this set that are not in `other`.
    #[must_use]
    pub const fn difference(self, other: AsciiSet) -> AsciiSet {
        AsciiSet(self.0.difference(other.0))
    }

    /// The bytes that are in both sets.
    #[must_use]
    pub const fn intersection(self, other: AsciiSet) -> AsciiSet {
        AsciiSet(self.0.intersection(other.0))
    }

    /// The ASCII bytes that are not in this set. For all bytes, use `.bytes().complement()`.
    #[must_use]
    pub const fn complement(self) -> AsciiSet {
        AsciiSet::ALL.difference(self)
    }

    /// The same members as a [`ByteSet`].
    #[must_use]
    #[inline(always)]
    pub const fn bytes(self) -> ByteSet {
        self.0
    }

    /// Whether there is no member.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The number of members.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.0.len()
    }

    /// The members, in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = u8> + use<> {
        self.0.iter()
    }
}

impl core::fmt::Debug for AsciiSet {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        self.0.fmt(f)
    }
}

impl From<AsciiSet> for ByteSet {
    fn from(set: AsciiSet) -> ByteSet {
        set.bytes()
    }
}

/// A named set and where it is defined.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct NamedSet {
    /// The name, in lower case, such as `rfc3986-unreserved`.
    pub name: &'static str,
    /// The bytes that stay as they are.
    pub set: AsciiSet,
    /// The URL of the specification's clause.
    pub source: &'static str,
    /// One line of documentation.
    pub description: &'static str,
}

/// The named sets of RFC 3986, RFC 2396, RFC 1738, the WHATWG URL Standard, ECMAScript, Python and Java.
///
/// Each holds the bytes that stay as they are. The URL Standard defines the complements, the bytes to
/// escape; `WHATWG_PATH`, say, holds what the path percent-encode set leaves alone.
pub mod sets {
    use super::{AsciiSet, NamedSet};

    include!(concat!(env!("OUT_DIR"), "/sets.rs"));

    /// The named set called `name`, such as `rfc3986-unreserved` or `whatwg-path`; letter case and the choice
    /// between `-` and `_` do not matter.
    ///
    /// ```
    /// let named = simdpct::sets::find("whatwg-form").unwrap();
    /// assert_eq!(named.set, simdpct::sets::WHATWG_FORM);
    /// assert!(simdpct::sets::find("whatwg").is_none());
    /// ```
    #[must_use]
    pub fn find(name: &str) -> Option<&'static NamedSet> {
        let same = |a: u8, b: u8| a == b.to_ascii_lowercase() || (a == b'-' && b == b'_');
        ALL.iter().find(|known| {
            known.name.len() == name.len() && known.name.bytes().zip(name.bytes()).all(|(a, b)| same(a, b))
        })
    }
}
