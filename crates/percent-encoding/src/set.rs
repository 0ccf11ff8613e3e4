//! Sets of ASCII bytes that are escaped.

use core::fmt;
use core::ops;

/// A set of ASCII bytes: the ones that [`percent_encode`](crate::percent_encode) escapes.
///
/// Bytes of `0x80` and more are always escaped. Make a set in a constant, by changing one that exists:
///
/// ```
/// use percent_encoding::{AsciiSet, CONTROLS, NON_ALPHANUMERIC, utf8_percent_encode};
///
/// /// <https://url.spec.whatwg.org/#fragment-percent-encode-set>
/// const FRAGMENT: &AsciiSet = &CONTROLS.add(b' ').add(b'"').add(b'<').add(b'>').add(b'`');
/// /// All bytes that are not unreserved (RFC 3986, section 2.3).
/// const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
///
/// assert_eq!(utf8_percent_encode("a <b>/c", FRAGMENT).to_string(), "a%20%3Cb%3E/c");
/// assert_eq!(utf8_percent_encode("a-b/c", RESERVED).to_string(), "a-b%2Fc");
/// ```
#[derive(PartialEq, Eq)]
pub struct AsciiSet {
    // INVARIANT: `keep` and `keeps` describe the same bytes: the ASCII bytes that are not members. `keeps` is false from 0x80 on.
    /// The bytes that kernels leave unescaped.
    keep: simdpct::AsciiSet,
    /// Whether each byte stays unescaped. A lookup in this table takes fewer instructions than one in a bitmap.
    keeps: [bool; 256],
}

impl AsciiSet {
    /// The empty set: only bytes that are not ASCII are escaped.
    pub const EMPTY: Self = AsciiSet::keeping(simdpct::AsciiSet::ALL);

    const fn keeping(keep: simdpct::AsciiSet) -> Self {
        let mut keeps = [false; 256];
        let mut byte = 0;
        while byte < 0x80 {
            keeps[byte] = keep.contains(byte as u8);
            byte += 1;
        }
        AsciiSet { keep, keeps }
    }

    /// Returns the set with `byte` as a member.
    ///
    /// # Panics
    ///
    /// If `byte` is not ASCII; in a constant, the panic is a compile error. Non-ASCII bytes are always escaped.
    #[must_use]
    pub const fn add(&self, byte: u8) -> Self {
        assert!(byte.is_ascii(), "an AsciiSet holds ASCII bytes; all others are always escaped");
        AsciiSet::keeping(self.keep.remove(&[byte]))
    }

    /// Returns the set without `byte`.
    ///
    /// # Panics
    ///
    /// If `byte` is not ASCII; in a constant, the panic is a compile error. Non-ASCII bytes are always escaped.
    #[must_use]
    pub const fn remove(&self, byte: u8) -> Self {
        match self.keep.add(&[byte]) {
            Some(keep) => AsciiSet::keeping(keep),
            None => panic!("an AsciiSet holds ASCII bytes; all others are always escaped"),
        }
    }

    /// Returns the union: the members of either set.
    #[must_use]
    pub const fn union(&self, other: Self) -> Self {
        AsciiSet::keeping(self.keep.intersection(other.keep))
    }

    /// Returns the complement: the ASCII bytes that are not members.
    #[must_use]
    pub const fn complement(&self) -> Self {
        AsciiSet::keeping(self.keep.complement())
    }

    /// Returns the encoder that escapes the members of the set.
    #[inline(always)]
    pub(crate) fn encode(&self) -> simdpct::Encode<simdpct::AsciiSet> {
        simdpct::Encode::keeping(self.keep)
    }

    /// Reports whether `byte` stays unescaped, and is therefore ASCII.
    #[inline(always)]
    pub(crate) fn keeps(&self, byte: u8) -> bool {
        self.keeps[usize::from(byte)]
    }
}

impl ops::Add for AsciiSet {
    type Output = Self;

    /// Returns the union of the sets.
    fn add(self, other: Self) -> Self {
        self.union(other)
    }
}

impl ops::Not for AsciiSet {
    type Output = Self;

    /// Returns the complement of the set.
    fn not(self) -> Self {
        self.complement()
    }
}

impl fmt::Debug for AsciiSet {
    /// Lists the members of the set.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("AsciiSet").field(&self.keep.complement()).finish()
    }
}

/// The C0 controls, `0x00..=0x1F`, and DEL, `0x7F`: the
/// [C0 control percent-encode set](https://url.spec.whatwg.org/#c0-control-percent-encode-set) of the URL Standard. Line
/// ends and tabs are members, the space is not.
pub const CONTROLS: &AsciiSet = &{
    let mut set = AsciiSet::EMPTY.add(0x7F);
    let mut byte = 0u8;
    while byte < 0x20 {
        set = set.add(byte);
        byte += 1;
    }
    set
};

/// All ASCII bytes but letters and digits.
pub const NON_ALPHANUMERIC: &AsciiSet = &{
    let mut set = AsciiSet::EMPTY;
    let mut byte = 0u8;
    while byte < 0x80 {
        if !byte.is_ascii_alphanumeric() {
            set = set.add(byte);
        }
        byte += 1;
    }
    set
};
