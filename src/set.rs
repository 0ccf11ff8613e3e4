//! Sets of bytes.
//!
//! A set is stored twice: as the pair of lookup tables that a byte shuffle needs, and as words for looking up one byte.
//! Kernels use both directly, so a set made at run time is as fast as a named one. "lab: NAME" names the page
//! docs/lab/DATE-NAME.md, which has the measurements.

/// A set of bytes. In [`Encode::keeping`](crate::Encode::keeping), it holds the bytes that stay.
///
/// Any of the 256 bytes may be a member, so the result of encoding need not be UTF-8, and an encoder returns bytes. For
/// text, use [`AsciiSet`].
///
/// All methods but [`ByteSet::iter`] are `const`. They take constant time, or time linear in the bytes that are given.
///
/// ```
/// use simdpct::{ByteSet, Encode, sets};
///
/// // Keep the characters of a URI and everything that is not ASCII, as in an IRI.
/// const IRI: ByteSet = ByteSet::NON_ASCII.union(sets::RFC3986_URI.to_byte_set());
/// let iri = Encode::keeping(IRI);
/// assert_eq!(iri.encode("/caf\u{e9} au lait"), "/caf\u{e9}%20au%20lait".as_bytes());
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
// C programs hold sets by value, as 64 bytes, so the layout must be that of a C struct.
#[repr(C)]
pub struct ByteSet {
    // INVARIANT: `rows` and `words` hold the same members. If they differed, output would be wrong, and a text might not be
    // UTF-8, but no access would be out of bounds. Only C can make them differ, and its functions write bytes.
    /// The members as a table for byte shuffles. Byte `b` is bit `(b >> 4) & 7` of row `(b >> 7) * 16 + (b & 15)`: 16 rows for
    /// ASCII, 16 for the bytes of `0x80` or more.
    rows: [u8; 32],
    /// The members as a bitmap. Byte `b` is bit `b & 63` of word `b >> 6`.
    words: [u64; 4],
}

impl ByteSet {
    /// The empty set.
    pub const EMPTY: ByteSet = ByteSet { rows: [0; 32], words: [0; 4] };
    /// The set of all 256 bytes.
    pub const ALL: ByteSet = ByteSet { rows: [0xFF; 32], words: [u64::MAX; 4] };
    /// The bytes `0x00..=0x7F`.
    pub const ASCII: ByteSet = ByteSet::from_bitmap([u64::MAX, u64::MAX, 0, 0]);
    /// The bytes `0x80..=0xFF`.
    pub const NON_ASCII: ByteSet = ByteSet::ASCII.complement();

    /// Makes a set from a bitmap: byte `b` is bit `b & 63` of word `b >> 6`. This order is stable.
    ///
    /// The function is cheap enough to make a set for each encoding or decoding.
    ///
    /// ```
    /// use simdpct::ByteSet;
    /// assert_eq!(ByteSet::from_bitmap([1 << b'/', 0, 0, 0]), ByteSet::from_bytes(b"/"));
    /// ```
    #[must_use]
    pub const fn from_bitmap(words: [u64; 4]) -> ByteSet {
        let mut rows = [0; 32];
        let mut half = 0;
        while half < 2 {
            let [low, high] = [words[2 * half], words[2 * half + 1]];
            // Bit `i` of row `8 * c + j` is bit `j` of byte `2 * i + c` of `low` and `high`. So their even bytes (`c`
            // is 0) and their odd bytes (`c` is 1) are each transposed as a matrix of 8 by 8 bits.
            let [even, odd] = [transpose(columns(low, high, 0)), transpose(columns(low, high, 1))];
            let (even, odd) = (even.to_le_bytes(), odd.to_le_bytes());
            let mut row = 0;
            while row < 8 {
                rows[16 * half + row] = even[row];
                rows[16 * half + 8 + row] = odd[row];
                row += 1;
            }
            half += 1;
        }
        ByteSet { rows, words }
    }

    /// Returns the bitmap, in the order that [`ByteSet::from_bitmap`] takes.
    ///
    /// ```
    /// use simdpct::ByteSet;
    /// assert_eq!(ByteSet::ASCII.to_bitmap(), [u64::MAX, u64::MAX, 0, 0]);
    /// ```
    #[must_use]
    pub const fn to_bitmap(self) -> [u64; 4] {
        self.words
    }

    /// Makes the set of `bytes`.
    ///
    /// ```
    /// use simdpct::ByteSet;
    /// assert_eq!(ByteSet::from_bytes(b"/%/").len(), 2);
    /// ```
    #[must_use]
    pub const fn from_bytes(bytes: &[u8]) -> ByteSet {
        let mut words = [0; 4];
        let mut i = 0;
        while i < bytes.len() {
            words[(bytes[i] >> 6) as usize] |= 1 << (bytes[i] & 63);
            i += 1;
        }
        ByteSet::from_bitmap(words)
    }

    const fn place(byte: u8) -> (usize, u8) {
        (((byte >> 7) as usize) * 16 + (byte & 15) as usize, 1 << ((byte >> 4) & 7))
    }

    /// Reports whether `byte` is a member.
    ///
    /// ```
    /// use simdpct::ByteSet;
    /// assert!(ByteSet::NON_ASCII.contains(0xFF));
    /// ```
    #[must_use]
    #[inline(always)]
    pub const fn contains(&self, byte: u8) -> bool {
        self.words[(byte >> 6) as usize] >> (byte & 63) & 1 != 0
    }

    /// Returns 1 for a member, else 0. The compiler would emit a branch for a result of type `bool` (lab: call-overhead).
    #[inline(always)]
    pub(crate) const fn bit(&self, byte: u8) -> u32 {
        (self.words[(byte >> 6) as usize] >> (byte & 63)) as u32 & 1
    }

    /// Returns the set with each of `bytes` as a member.
    ///
    /// ```
    /// use simdpct::ByteSet;
    /// assert_eq!(ByteSet::from_bytes(b"ab").add(b"bc"), ByteSet::from_bytes(b"abc"));
    /// ```
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

    /// Returns the set with none of `bytes` as a member.
    ///
    /// ```
    /// use simdpct::ByteSet;
    /// assert!(!ByteSet::ALL.remove(b"%").contains(b'%'));
    /// ```
    #[must_use]
    pub const fn remove(mut self, bytes: &[u8]) -> ByteSet {
        let mut i = 0;
        while i < bytes.len() {
            let (row, bit) = ByteSet::place(bytes[i]);
            self.rows[row] &= !bit;
            self.words[(bytes[i] >> 6) as usize] &= !(1 << (bytes[i] & 63));
            i += 1;
        }
        self
    }

    /// Returns the bytes of either set.
    ///
    /// ```
    /// use simdpct::{ByteSet, sets};
    /// // What an IRI may hold: all that a URI may, and every byte of `0x80` or more.
    /// const IRI: ByteSet = sets::RFC3986_URI.to_byte_set().union(ByteSet::NON_ASCII);
    /// assert!(IRI.contains(b'/') && IRI.contains(0xC3));
    /// ```
    #[must_use]
    pub const fn union(self, other: ByteSet) -> ByteSet {
        self.complement().difference(other).complement()
    }

    /// Returns the bytes of this set that are not in `other`.
    ///
    /// ```
    /// use simdpct::{ByteSet, sets};
    /// let printable = ByteSet::ALL.difference(simdpct::AsciiSet::CONTROLS.to_byte_set());
    /// assert!(printable.contains(b' ') && !printable.contains(b'\n'));
    /// ```
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

    /// Returns the bytes that are in both sets.
    ///
    /// ```
    /// use simdpct::{ByteSet, sets};
    /// let digits = ByteSet::from_bytes(b"0123456789");
    /// assert_eq!(sets::ALPHANUMERIC.to_byte_set().intersection(digits), digits);
    /// ```
    #[must_use]
    pub const fn intersection(self, other: ByteSet) -> ByteSet {
        self.difference(other.complement())
    }

    /// Returns the bytes that are not in this set.
    ///
    /// ```
    /// use simdpct::{ByteSet, Encode};
    /// // To escape only these bytes, keep all others.
    /// let quotes = Encode::keeping(ByteSet::from_bytes(b"\"%").complement());
    /// assert_eq!(&*quotes.encode("a \"b\""), b"a %22b%22");
    /// ```
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

    /// Returns the set as an [`AsciiSet`], or `None` when it has a member of `0x80` or more.
    ///
    /// ```
    /// use simdpct::{AsciiSet, ByteSet};
    /// assert_eq!(ByteSet::ASCII.to_ascii_set(), Some(AsciiSet::ALL));
    /// assert_eq!(ByteSet::ALL.to_ascii_set(), None);
    /// ```
    #[must_use]
    pub const fn to_ascii_set(self) -> Option<AsciiSet> {
        if self.is_ascii() { Some(AsciiSet(self)) } else { None }
    }

    /// Reports whether every member is below `0x80`.
    ///
    /// ```
    /// use simdpct::ByteSet;
    /// assert!(ByteSet::from_bytes(b"/?").is_ascii());
    /// assert!(!ByteSet::from_bytes(b"/\xff").is_ascii());
    /// ```
    #[must_use]
    #[inline]
    pub const fn is_ascii(&self) -> bool {
        self.words[2] | self.words[3] == 0
    }

    /// Reports whether the set is empty.
    ///
    /// ```
    /// use simdpct::{ByteSet, sets};
    /// assert!(sets::RFC3986_UNRESERVED.to_byte_set().intersection(ByteSet::from_bytes(b"/%")).is_empty());
    /// ```
    #[must_use]
    #[inline]
    pub const fn is_empty(&self) -> bool {
        let [a, b, c, d] = self.words;
        a | b | c | d == 0
    }

    /// Returns the number of members.
    ///
    /// ```
    /// use simdpct::sets;
    /// assert_eq!(sets::RFC3986_UNRESERVED.to_byte_set().len(), 66);
    /// ```
    #[must_use]
    pub const fn len(&self) -> usize {
        let [a, b, c, d] = self.words;
        (a.count_ones() + b.count_ones() + c.count_ones() + d.count_ones()) as usize
    }

    /// Returns the members, in ascending order.
    ///
    /// ```
    /// use simdpct::ByteSet;
    /// assert!(ByteSet::from_bytes(b"b/a").iter().eq(*b"/ab"));
    /// ```
    pub fn iter(&self) -> impl Iterator<Item = u8> + use<> {
        let set = *self;
        (0..=u8::MAX).filter(move |&byte| set.contains(byte))
    }

    /// The first two words of the set of the ASCII letters and digits, `-`, `.` and `_`. Nearly every set holds these bytes.
    const COMMON: [u64; 2] = [0x03FF_6000_0000_0000, 0x07FF_FFFE_87FF_FFFE];

    /// If the set holds the ASCII letters and digits, `-`, `.` and `_`, returns `~` if that is a member, as in nearly all of
    /// these sets, and otherwise `_`. Returns `None` for any other set.
    #[inline(always)]
    pub(crate) const fn common_and_tilde(&self) -> Option<u8> {
        let ([low, high, ..], [common_low, common_high]) = (self.words, ByteSet::COMMON);
        if low & common_low != common_low || high & common_high != common_high {
            return None;
        }
        Some(if self.contains(b'~') { b'~' } else { b'_' })
    }

    /// Returns the additional member if the set is the ASCII letters and digits, `-`, `.`, `_` and at most one more ASCII byte.
    /// Returns `-` if there is no additional member, and `None` for any other set. Sets of this kind are common, and
    /// kernels look them up without a table.
    #[inline(always)]
    pub(crate) const fn common_and_one(&self) -> Option<u8> {
        // The additional member is in one word, so the other word is that of `COMMON`. Comparing both words as one
        // `u128` would take twice as many instructions (lab: kernels).
        let ([low, high, ..], [common_low, common_high]) = (self.words, ByteSet::COMMON);
        let (differing, offset, common) = match (low ^ common_low, high ^ common_high) {
            (0, differing) => (differing, 64, common_high),
            (differing, 0) => (differing, 0, common_low),
            _ => return None,
        };
        if !self.is_ascii() || differing & (common | differing.wrapping_sub(1)) != 0 {
            None
        } else if differing == 0 {
            Some(b'-')
        } else {
            Some(offset + differing.trailing_zeros() as u8)
        }
    }

    /// Returns the members: byte `b` is bit `b & 63` of word `b >> 6`.
    #[allow(dead_code, reason = "on some architectures no tier uses them")]
    #[inline(always)]
    pub(crate) fn words(&self) -> &[u64; 4] {
        &self.words
    }

    /// Returns two lookup tables of 16 rows: one for ASCII bytes, one for bytes of `0x80` or more. Byte `b` is bit `(b >> 4) &
    /// 7` of row `b & 15`.
    #[inline(always)]
    pub(crate) fn halves(&self) -> [&[u8; 16]; 2] {
        let (halves, _) = self.rows.as_chunks();
        [&halves[0], &halves[1]]
    }
}

/// Returns every second byte of the sixteen bytes of `low` and `high`, starting at byte `first`, which is 0 or 1.
const fn columns(low: u64, high: u64, first: u32) -> u64 {
    let mut columns = 0;
    let mut i = 0;
    while i < 4 {
        columns |= (low >> (16 * i + 8 * first) & 0xFF) << (8 * i);
        columns |= (high >> (16 * i + 8 * first) & 0xFF) << (8 * i + 32);
        i += 1;
    }
    columns
}

/// Transposes a matrix of 8 by 8 bits: bit `c` of byte `r` becomes bit `r` of byte `c`.
const fn transpose(mut matrix: u64) -> u64 {
    let mut swap = (matrix ^ (matrix >> 7)) & 0x00AA_00AA_00AA_00AA;
    matrix ^= swap ^ (swap << 7);
    swap = (matrix ^ (matrix >> 14)) & 0x0000_CCCC_0000_CCCC;
    matrix ^= swap ^ (swap << 14);
    swap = (matrix ^ (matrix >> 28)) & 0x0000_0000_F0F0_F0F0;
    matrix ^ swap ^ (swap << 28)
}

impl core::fmt::Debug for ByteSet {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("{")?;
        self.iter().try_for_each(|byte| write!(f, "{}", byte.escape_ascii()))?;
        f.write_str("}")
    }
}

/// A set of ASCII bytes. In [`Encode::keeping`](crate::Encode::keeping), it holds the bytes that stay; in
/// [`Encode::escaping`](crate::Encode::escaping), the ASCII bytes that are escaped.
///
/// Every byte of `0x80` or more is escaped, so the result of encoding is ASCII, and an encoder returns `str`. The named
/// sets in [`sets`](crate::sets) are of this type.
///
/// All methods but [`AsciiSet::iter`] are `const`. They take constant time, or time linear in the bytes that are given.
///
/// ```
/// use simdpct::{AsciiSet, Encode, sets};
///
/// const KEY: AsciiSet = sets::RFC3986_UNRESERVED.add(b"/:").unwrap();
/// assert_eq!(Encode::keeping(KEY).encode("a/b:c d"), "a/b:c%20d");
/// ```
// INVARIANT: no member is 0x80 or more. `str` conversions of encoded text rely on it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
// `coder::members` reads an `AsciiSet` as a `ByteSet`, so both must have the same layout.
#[repr(transparent)]
pub struct AsciiSet(ByteSet);

impl AsciiSet {
    /// The empty set.
    pub const EMPTY: AsciiSet = AsciiSet(ByteSet::EMPTY);
    /// The bytes `0x00..=0x7F`.
    pub const ALL: AsciiSet = AsciiSet(ByteSet::ASCII);
    /// The control characters `0x00..=0x1F` and `0x7F`.
    pub const CONTROLS: AsciiSet = AsciiSet(ByteSet::from_bitmap([0xFFFF_FFFF, 1 << 63, 0, 0]));

    /// Makes a set from a bitmap: byte `b` is bit `b`. This order is stable.
    ///
    /// ```
    /// use simdpct::{AsciiSet, sets};
    /// let bits = sets::RFC3986_UNRESERVED.to_bitmap();
    /// assert_eq!(AsciiSet::from_bitmap(bits | 1 << b'/'), sets::PYTHON_QUOTE);
    /// ```
    #[must_use]
    pub const fn from_bitmap(bits: u128) -> AsciiSet {
        AsciiSet(ByteSet::from_bitmap([bits as u64, (bits >> 64) as u64, 0, 0]))
    }

    /// Returns the bitmap, in the order that [`AsciiSet::from_bitmap`] takes.
    ///
    /// ```
    /// use simdpct::AsciiSet;
    /// assert_eq!(AsciiSet::CONTROLS.to_bitmap(), 1_u128 << 127 | 0xFFFF_FFFF);
    /// ```
    #[must_use]
    pub const fn to_bitmap(self) -> u128 {
        let [low, high, ..] = self.0.to_bitmap();
        (high as u128) << 64 | low as u128
    }

    /// Makes the set of `bytes`, or returns `None` if one of them is not ASCII.
    ///
    /// ```
    /// use simdpct::AsciiSet;
    /// assert_eq!(AsciiSet::from_bytes(b"/:").map(|set| set.len()), Some(2));
    /// assert_eq!(AsciiSet::from_bytes(b"\xff"), None);
    /// ```
    #[must_use]
    pub const fn from_bytes(bytes: &[u8]) -> Option<AsciiSet> {
        ByteSet::from_bytes(bytes).to_ascii_set()
    }

    /// Reports whether `byte` is a member.
    ///
    /// ```
    /// use simdpct::sets;
    /// assert!(sets::RFC3986_PATH.contains(b'/'));
    /// assert!(!sets::RFC3986_SEGMENT.contains(b'/'));
    /// ```
    #[must_use]
    #[inline(always)]
    pub const fn contains(&self, byte: u8) -> bool {
        self.0.contains(byte)
    }

    /// Returns the set with each of `bytes` as a member, or `None` when one of them is not ASCII.
    ///
    /// In a constant, `.unwrap()` turns `None` into a compile error.
    ///
    /// ```
    /// use simdpct::{AsciiSet, sets};
    /// const KEY: AsciiSet = sets::RFC3986_UNRESERVED.add(b"/").unwrap();
    /// assert_eq!(KEY, sets::PYTHON_QUOTE);
    /// assert_eq!(KEY.add(b"\xe9"), None);
    /// ```
    #[must_use]
    pub const fn add(self, bytes: &[u8]) -> Option<AsciiSet> {
        self.0.add(bytes).to_ascii_set()
    }

    /// Returns the set with none of `bytes` as a member.
    ///
    /// ```
    /// use simdpct::{AsciiSet, Encode, sets};
    /// // A query in which `+` must not be read as a space.
    /// const QUERY: AsciiSet = sets::RFC3986_QUERY.remove(b"+");
    /// assert_eq!(Encode::keeping(QUERY).encode("q=1+1"), "q=1%2B1");
    /// ```
    #[must_use]
    pub const fn remove(self, bytes: &[u8]) -> AsciiSet {
        AsciiSet(self.0.remove(bytes))
    }

    /// Returns the bytes of either set.
    ///
    /// ```
    /// use simdpct::{AsciiSet, sets};
    /// const RESERVED: AsciiSet = sets::RFC3986_GEN_DELIMS.union(sets::RFC3986_SUB_DELIMS);
    /// assert_eq!(RESERVED, sets::RFC3986_RESERVED);
    /// ```
    #[must_use]
    pub const fn union(self, other: AsciiSet) -> AsciiSet {
        AsciiSet(self.0.union(other.0))
    }

    /// Returns the bytes of this set that are not in `other`.
    ///
    /// ```
    /// use simdpct::{AsciiSet, sets};
    /// const MARKS: AsciiSet = sets::RFC3986_UNRESERVED.difference(sets::ALPHANUMERIC);
    /// assert_eq!(MARKS, AsciiSet::from_bytes(b"-._~").unwrap());
    /// ```
    #[must_use]
    pub const fn difference(self, other: AsciiSet) -> AsciiSet {
        AsciiSet(self.0.difference(other.0))
    }

    /// Returns the bytes that are in both sets.
    ///
    /// ```
    /// use simdpct::sets;
    /// // No byte is both reserved and unreserved.
    /// assert!(sets::RFC3986_RESERVED.intersection(sets::RFC3986_UNRESERVED).is_empty());
    /// ```
    #[must_use]
    pub const fn intersection(self, other: AsciiSet) -> AsciiSet {
        AsciiSet(self.0.intersection(other.0))
    }

    /// Returns the ASCII bytes that are not in this set. For all bytes, use `.to_byte_set().complement()`.
    ///
    /// ```
    /// use simdpct::sets;
    /// assert!(sets::ALPHANUMERIC.complement().contains(b'%'));
    /// assert!(!sets::ALPHANUMERIC.complement().to_byte_set().contains(0xFF));
    /// ```
    #[must_use]
    pub const fn complement(self) -> AsciiSet {
        AsciiSet::ALL.difference(self)
    }

    /// Returns the same members as a [`ByteSet`].
    ///
    /// ```
    /// use simdpct::{ByteSet, Encode, sets};
    /// // The path of an IRI: text that is not ASCII stays.
    /// let path = sets::RFC3986_PATH.to_byte_set().union(ByteSet::NON_ASCII);
    /// assert_eq!(Encode::keeping(path).encode("/caf\u{e9}"), "/caf\u{e9}".as_bytes());
    /// ```
    #[must_use]
    #[inline(always)]
    pub const fn to_byte_set(self) -> ByteSet {
        self.0
    }

    /// Reports whether the set is empty.
    ///
    /// ```
    /// use simdpct::{AsciiSet, sets};
    /// assert_eq!(sets::NONE, AsciiSet::EMPTY);
    /// assert!(sets::NONE.is_empty());
    /// ```
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the number of members.
    ///
    /// ```
    /// use simdpct::sets;
    /// assert_eq!(sets::ALPHANUMERIC.len(), 62);
    /// ```
    #[must_use]
    pub const fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns the members, in ascending order.
    ///
    /// ```
    /// use simdpct::sets;
    /// let marks = sets::RFC3986_UNRESERVED.difference(sets::ALPHANUMERIC);
    /// assert!(marks.iter().map(char::from).eq(['-', '.', '_', '~']));
    /// ```
    pub fn iter(&self) -> impl Iterator<Item = u8> + use<> {
        self.0.iter()
    }
}

impl core::fmt::Debug for AsciiSet {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        self.0.fmt(f)
    }
}

/// Collects bytes: `(b'0'..=b'9').collect::<ByteSet>()`.
impl FromIterator<u8> for ByteSet {
    fn from_iter<I: IntoIterator<Item = u8>>(bytes: I) -> ByteSet {
        bytes.into_iter().fold(ByteSet::EMPTY, |set, byte| set.add(&[byte]))
    }
}

/// The purpose of a named set.
///
/// ```
/// use simdpct::{SetKind, sets};
/// let policies = sets::ALL.iter().filter(|named| named.kind == SetKind::Policy);
/// assert!(policies.clone().any(|named| named.name == "whatwg-path"));
/// assert!(policies.clone().all(|named| named.name != "rfc1738-unsafe"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SetKind {
    /// A set for [`Encode::keeping`](crate::Encode::keeping): the bytes that stay in a component, or that a function of some
    /// language keeps.
    Policy,
    /// A group of bytes to build other sets from, such as `reserved`. An encoder that kept only these bytes would escape
    /// letters.
    Block,
}

/// A named set, with its source.
///
/// ```
/// for named in simdpct::sets::ALL {
///     println!("{:22} {} ({})", named.name, named.description, named.source);
/// }
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct NamedSet {
    /// The name, in lower case, such as `rfc3986-unreserved`.
    pub name: &'static str,
    /// The purpose of the set.
    pub kind: SetKind,
    /// The members. For a policy, they are the bytes that stay as they are.
    pub set: AsciiSet,
    /// The URL of the clause of a specification, or of the page of documentation, that defines the set.
    pub source: &'static str,
    /// The description of the set in one line.
    pub description: &'static str,
}

/// The named sets of RFC 3986, RFC 2396, RFC 1738, the WHATWG URL Standard, ECMAScript, Python, Java and RFC 8187.
///
/// A [policy](SetKind::Policy) holds the bytes that stay. The URL Standard defines the complements, the bytes to escape:
/// `WHATWG_PATH` holds the bytes that are not in the path percent-encode set. A [block](SetKind::Block) is a group of bytes to
/// build other sets from.
pub mod sets {
    use super::{AsciiSet, NamedSet, SetKind};

    include!(concat!(env!("OUT_DIR"), "/sets.rs"));

    /// Finds the policy called `name`, such as `rfc3986-unreserved` or `whatwg-path`, for an encoder whose set a user names.
    /// Letter case and the choice between `-` and `_` do not matter.
    ///
    /// ```
    /// use simdpct::{Encode, sets};
    ///
    /// let named = sets::find("whatwg-form").unwrap();
    /// assert_eq!(Encode::keeping(named.set).form().encode("a b~"), "a+b%7E");
    /// assert!(sets::find("whatwg").is_none());
    /// // A building block is not a policy.
    /// assert!(sets::find("rfc1738-unsafe").is_none());
    /// ```
    #[must_use]
    pub fn find(name: &str) -> Option<&'static NamedSet> {
        let same = |a: u8, b: u8| a == b.to_ascii_lowercase() || (a == b'-' && b == b'_');
        ALL.iter().filter(|known| known.kind == SetKind::Policy).find(|known| {
            known.name.len() == name.len() && known.name.bytes().zip(name.bytes()).all(|(a, b)| same(a, b))
        })
    }
}
