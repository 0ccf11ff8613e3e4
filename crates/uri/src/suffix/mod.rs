//! Public suffixes and registrable domains, by the Public Suffix List (<https://publicsuffix.org>).
//!
//! A public suffix is a name under which people register names: `com`, `co.uk`, `github.io`. The registrable domain is the public
//! suffix with one more label. [`Parts::domain`] and the similar methods use the list that is compiled in, and
//! [`SuffixList::parse`] reads another one. This module neither resolves names nor checks that they exist.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::hash::{BuildHasherDefault, Hasher};
use core::ops::Range;
use std::collections::HashMap;
use std::sync::OnceLock;

use crate::host::{is_number, to_ascii};
use crate::parts::Parts;
use crate::pieces::Piece;
use crate::text::{Source, Text, copy};

/// The list that is compiled in.
const TEXT: &str = include_str!("public_suffix_list.dat");

// The rules of a name, as bits. The bit of the private section is twice that of the ICANN section.
const RULE: u8 = 1;
const WILDCARD: u8 = 4;
const EXCEPTION: u8 = 16;
const PARENT: u8 = 64;

/// The factor that turns a constant above into the bits of both sections. The factor of the ICANN section alone is 1.
const BOTH: u8 = 3;

/// The rules of a public suffix list.
///
/// ```
/// use simdpct_uri::SuffixList;
///
/// let name = SuffixList::compiled().find(b"www.example.co.uk").unwrap();
/// assert_eq!(name.suffix(), "co.uk");
/// assert_eq!(name.domain().unwrap(), "example.co.uk");
///
/// let own = SuffixList::parse("intern\n*.lan\n")?;
/// assert_eq!(own.find(b"pc.office.lan").unwrap().domain().unwrap(), "pc.office.lan");
/// # Ok::<(), simdpct_uri::InvalidSuffixList>(())
/// ```
#[derive(Clone)]
pub struct SuffixList {
    version: Option<String>,
    /// The rules of each name, in ASCII and lower case, as bits. A name has `PARENT` if a longer name that ends in it has rules.
    rules: HashMap<Box<[u8]>, u8, BuildHasherDefault<NameHasher>>,
}

/// The section of a list that holds the rule of a suffix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Section {
    /// Suffixes of registries: `com`, `co.uk`.
    Icann,
    /// Suffixes that the owner of a domain has submitted: `github.io`.
    Private,
    /// No rule matches, so the last label is the suffix. This is the rule `*`, which every list implies.
    Unlisted,
}

/// A host name, divided into public suffix, registrable domain and subdomain. [`SuffixList::find`] returns it.
#[derive(Debug, PartialEq, Eq)]
pub struct DomainName<'a, T: Text + ?Sized = [u8]> {
    suffix: &'a T,
    domain: Option<&'a T>,
    subdomain: Option<&'a T>,
    section: Section,
}

copy! { DomainName }

impl<'a, T: Text + ?Sized> DomainName<'a, T> {
    /// Returns the public suffix as it is written, without a trailing dot.
    #[must_use]
    pub fn suffix(&self) -> Piece<'a, T> {
        Piece::new(self.suffix)
    }

    /// Returns the registrable domain, which is the suffix and the label before it. Returns `None` if the whole name is a suffix.
    #[must_use]
    pub fn domain(&self) -> Option<Piece<'a, T>> {
        self.domain.map(Piece::new)
    }

    /// Returns the labels before the registrable domain, without the dot between them. Returns `None` if the name has no such labels.
    #[must_use]
    pub fn subdomain(&self) -> Option<Piece<'a, T>> {
        self.subdomain.map(Piece::new)
    }

    /// Returns the section of the rule that decided the suffix.
    #[must_use]
    pub fn section(&self) -> Section {
        self.section
    }
}

impl SuffixList {
    /// Returns the list that is compiled in. The first call parses it, which takes about two milliseconds.
    pub fn compiled() -> &'static SuffixList {
        static LIST: OnceLock<SuffixList> = OnceLock::new();
        LIST.get_or_init(|| SuffixList::parse(TEXT).unwrap_or_else(|error| unreachable!("{error}")))
    }

    /// Parses a list in the format of <https://publicsuffix.org/list/>: a line that starts with `//` is a comment, and the first word of
    /// every other line is a rule. The comments `===BEGIN ICANN DOMAINS===` and `===BEGIN PRIVATE DOMAINS===` start the sections. Rules
    /// before them count as ICANN rules. Labels may be U-labels or Punycode. Takes time linear in the text, except for IDNA.
    ///
    /// # Errors
    ///
    /// [`InvalidSuffixList`] if a line is not a rule, or if the list has no rules. A `*` is accepted as the first label only.
    pub fn parse(text: &str) -> Result<SuffixList, InvalidSuffixList> {
        let mut list = SuffixList { version: None, rules: HashMap::default() };
        let mut section = 1;
        for (index, line) in text.strip_prefix('\u{feff}').unwrap_or(text).lines().enumerate() {
            if let Some(comment) = line.trim_start().strip_prefix("//") {
                let comment = comment.trim();
                match comment {
                    "===BEGIN ICANN DOMAINS===" => section = 1,
                    "===BEGIN PRIVATE DOMAINS===" => section = 2,
                    _ if list.version.is_none() => {
                        list.version = comment.strip_prefix("VERSION: ").map(String::from);
                    }
                    _ => {}
                }
            } else if let Some(rule) = line.split_whitespace().next() {
                list.add(rule, section).ok_or(InvalidSuffixList { line: Some(index + 1) })?;
            }
        }
        if list.rules.is_empty() { Err(InvalidSuffixList { line: None }) } else { Ok(list) }
    }

    /// Returns the version that the list names in a comment `VERSION:`, if it has one. In lists since 2024, it is the
    /// time at which the list was made.
    #[must_use]
    pub fn version(&self) -> Option<&str> {
        self.version.as_deref()
    }

    /// Divides `host`, a host as it is written in a URL, by the rules of both sections.
    ///
    /// The longest rule that matches decides; an exception (`!`) goes before all others, and `*` matches one label. If no rule matches, the
    /// last label is the suffix. The parts are slices of `host`, as it is written:
    ///
    /// * upper and lower case, Punycode and U-labels (UTS 46) match the same rules;
    /// * escapes are read as the bytes that they mean, so `%2E` is a dot, and so are U+3002, U+FF0E and U+FF61;
    /// * a trailing dot belongs to no part.
    ///
    /// Returns `None` for an empty host, for an address, for every host that browsers read as an address (its last label is a number, as in
    /// `127.1` and `0x7f`), for a host with an empty label, and for a host with escapes or characters outside ASCII that is not valid by
    /// UTS 46.
    ///
    /// Takes time linear in the host, except for IDNA.
    ///
    /// ```
    /// use simdpct_uri::{Section, SuffixList};
    ///
    /// let list = SuffixList::compiled();
    /// let name = list.find(b"a.b.github.io.").unwrap();
    /// assert_eq!(name.subdomain().unwrap(), "a");
    /// assert_eq!(name.domain().unwrap(), "b.github.io");
    /// assert_eq!(name.suffix(), "github.io");
    /// assert_eq!(name.section(), Section::Private);
    /// assert_eq!(list.find(b"localhost").unwrap().domain(), None);
    /// assert_eq!(list.find(b"127.0.0.1"), None);
    /// ```
    #[must_use]
    pub fn find<'a, S: Source + ?Sized>(&self, host: &'a S) -> Option<DomainName<'a, S::Text>> {
        self.find_in(host.text(), BOTH)
    }

    /// Divides `host` by the rules of the ICANN section only. See [`SuffixList::find`].
    ///
    /// ```
    /// let name = simdpct_uri::SuffixList::compiled().find_icann(b"a.b.github.io").unwrap();
    /// assert_eq!(name.domain().unwrap(), "github.io");
    /// ```
    #[must_use]
    pub fn find_icann<'a, S: Source + ?Sized>(&self, host: &'a S) -> Option<DomainName<'a, S::Text>> {
        self.find_in(host.text(), 1)
    }

    fn find_in<'a, T: Text + ?Sized>(&self, host: &'a T, sections: u8) -> Option<DomainName<'a, T>> {
        let is_plain =
            host.as_ref().iter().fold(true, |plain, &byte| plain & byte.is_ascii() & (byte != b'%'));
        if !is_plain {
            return self.find_spelt(host, sections);
        }
        let name = host.as_ref().strip_suffix(b".").unwrap_or(host.as_ref());
        let (suffix, section) = self.suffix_of(name, sections)?;
        let before = suffix.checked_sub(1).map(|dot| memchr::memrchr(b'.', &name[..dot]));
        Some(DomainName {
            suffix: host.part(suffix..name.len()),
            domain: before.map(|dot| host.part(dot.map_or(0, |dot| dot + 1)..name.len())),
            subdomain: before.flatten().map(|dot| host.part(0..dot)),
            section,
        })
    }

    /// Divides a host with escapes or characters that are not ASCII: finds the suffix of its ASCII form, and takes as
    /// many labels from the end of `host`.
    fn find_spelt<'a, T: Text + ?Sized>(&self, host: &'a T, sections: u8) -> Option<DomainName<'a, T>> {
        let decoded = simdpct::decode(host.as_ref());
        let ascii = to_ascii(&decoded)?;
        let name = ascii.strip_suffix('.').unwrap_or(&ascii).as_bytes();
        let (suffix, section) = self.suffix_of(name, sections)?;
        let len = host.as_ref().len();
        let mut dots = dots(host.as_ref());
        let trailing = dots.pop_if(|dot| dot.end == len);
        let end = trailing.map_or(len, |dot| dot.start);
        let count = |name| memchr::memchr_iter(b'.', name).count();
        if dots.len() != count(name) {
            return None;
        }
        let before = dots.len() - count(&name[suffix..]);
        let dot = |labels: usize| before.checked_sub(labels).map(|index| &dots[index]);
        let after = |dot: Option<&Range<usize>>| host.part(dot.map_or(0, |dot| dot.end)..end);
        Some(DomainName {
            suffix: after(dot(1)),
            domain: dot(1).map(|_| after(dot(2))),
            subdomain: dot(2).map(|dot| host.part(0..dot.start)),
            section,
        })
    }

    /// Returns the start of the suffix of `name`, which is ASCII, and its section. Returns `None` if `name` is not a domain name.
    fn suffix_of(&self, name: &[u8], sections: u8) -> Option<(usize, Section)> {
        let dots = name.iter().zip(name.get(1..).unwrap_or_default());
        let has_empty = dots.fold(false, |found, (&a, &b)| found | (a == b'.') & (b == b'.'));
        if matches!(name.first(), None | Some(b'.' | b'[')) || has_empty {
            return None;
        }
        let has_upper = name.iter().fold(false, |found, byte| found | byte.is_ascii_uppercase());
        let name = &*if has_upper { Cow::Owned(name.to_ascii_lowercase()) } else { Cow::Borrowed(name) };
        let label_start = |end: usize| memchr::memrchr(b'.', &name[..end]).map_or(0, |dot| dot + 1);
        let (mut start, mut end) = (label_start(name.len()), name.len());
        if is_number(&name[start..]) {
            return None;
        }
        let mut rules = self.rules[&b""[..]];
        let mut found = (start, Section::Unlisted);
        loop {
            if let Some(section) = section_of(rules, WILDCARD, sections) {
                found = (start, section);
            }
            if rules & PARENT == 0 {
                return Some(found);
            }
            let Some(&of_name) = self.rules.get(&name[start..]) else { return Some(found) };
            rules = of_name;
            if let Some(section) = section_of(rules, EXCEPTION, sections) {
                return Some((end + 1, section));
            }
            if let Some(section) = section_of(rules, RULE, sections) {
                found = (start, section);
            }
            if start == 0 {
                return Some(found);
            }
            end = start - 1;
            start = label_start(end);
        }
    }

    /// Adds a rule of a section. Returns `None` if it is not a rule.
    fn add(&mut self, rule: &str, section: u8) -> Option<()> {
        let (bit, name) = match (rule.strip_prefix('!'), rule.strip_prefix('*')) {
            (Some(name), _) => (EXCEPTION, name.contains('.').then_some(name)?),
            (_, Some("")) => (WILDCARD, ""),
            (_, Some(name)) => (WILDCARD, name.strip_prefix('.').filter(|name| !name.is_empty())?),
            _ => (RULE, rule),
        };
        let name =
            if rule == "*" { Cow::default() } else { to_ascii(name).filter(|name| !name.contains('*'))? };
        // Each parent of a rule is stored, too, so the length of a rule is limited. No name of DNS is longer.
        if rule != "*" && (name.len() > 255 || name.split('.').any(str::is_empty)) {
            return None;
        }
        let mut add = |name: &str, bits| *self.rules.entry(name.as_bytes().into()).or_default() |= bits;
        add("", PARENT);
        add(&name, bit * section);
        let mut parent = &*name;
        while let Some((_, rest)) = parent.split_once('.') {
            add(rest, PARENT);
            parent = rest;
        }
        Some(())
    }
}

impl fmt::Debug for SuffixList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SuffixList")
            .field("version", &self.version)
            .field("names", &self.rules.len())
            .finish_non_exhaustive()
    }
}

/// Returns the section of the rule of type `kind`, such as `WILDCARD`, in `rules`. Returns `None` if
/// `rules` has no such rule of these `sections`.
fn section_of(rules: u8, kind: u8, sections: u8) -> Option<Section> {
    match rules & (kind * sections) {
        0 => None,
        bits if bits & kind != 0 => Some(Section::Icann),
        _ => Some(Section::Private),
    }
}

/// The hash function of names: one multiplication for each byte.
#[derive(Clone, Default)]
struct NameHasher(u64);

impl Hasher for NameHasher {
    fn write(&mut self, bytes: &[u8]) {
        // The factor is 2^64 divided by the golden ratio, rounded to an odd number.
        let mix = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        self.0 = bytes.iter().fold(self.0, mix);
    }

    fn write_usize(&mut self, _: usize) {
        // Names are the only keys, so their lengths need not be mixed in.
    }

    fn finish(&self) -> u64 {
        self.0 ^ self.0 >> 32
    }
}

/// Returns the positions of the dots of `host`, also of those in other scripts (UTS 46) and of those that are escaped.
fn dots(host: &[u8]) -> Vec<Range<usize>> {
    let byte_at = |at: usize| match simdpct::decode_escape(&host[at..]) {
        Some(byte) => Some((byte, at + 3)),
        None => host.get(at).map(|&byte| (byte, at + 1)),
    };
    let end_of = |dot: &str, start| {
        dot.bytes()
            .try_fold(start, |at, byte| byte_at(at).filter(|&(found, _)| found == byte).map(|(_, end)| end))
    };
    let mut dots = Vec::new();
    let mut at = 0;
    while at < host.len() {
        match [".", "\u{3002}", "\u{ff0e}", "\u{ff61}"].iter().find_map(|dot| end_of(dot, at)) {
            Some(end) => {
                dots.push(at..end);
                at = end;
            }
            None => at += 1,
        }
    }
    dots
}

impl<'a, T: Text + ?Sized> Parts<'a, T> {
    /// Returns the registrable domain of the host by the list that is compiled in: the public suffix and the label before it. `None`
    /// without a host, for an address, and for a host that is a suffix. [`SuffixList::find`] has the rules, and takes other lists.
    ///
    /// ```
    /// use simdpct_uri::split;
    ///
    /// assert_eq!(split("https://www.Example.CO.UK/").domain().unwrap(), "Example.CO.UK");
    /// assert_eq!(split("//a.b.xn--55qx5d.cn.:80").domain().unwrap(), "b.xn--55qx5d.cn");
    /// assert_eq!(split("//a.b\u{fc}cher.de").domain().unwrap(), "b\u{fc}cher.de");
    /// assert!(["//co.uk", "//10.0.0.1", "//[::1]", "/a"].iter().all(|url| split(url).domain().is_none()));
    /// ```
    #[must_use]
    pub fn domain(&self) -> Option<Piece<'a, T>> {
        self.domain_name()?.domain()
    }

    /// Returns the public suffix of the host by the list that is compiled in. See [`SuffixList::find`].
    ///
    /// ```
    /// assert_eq!(simdpct_uri::split("//a.b.github.io").suffix().unwrap(), "github.io");
    /// ```
    #[must_use]
    pub fn suffix(&self) -> Option<Piece<'a, T>> {
        Some(self.domain_name()?.suffix())
    }

    /// Returns the labels of the host before its registrable domain. Returns `None` if the host has no such labels. See
    /// [`SuffixList::find`].
    ///
    /// ```
    /// assert_eq!(simdpct_uri::split("//a.b.example.com").subdomain().unwrap(), "a.b");
    /// ```
    #[must_use]
    pub fn subdomain(&self) -> Option<Piece<'a, T>> {
        self.domain_name()?.subdomain()
    }

    /// Divides the host by the list that is compiled in, once for all of its parts. See [`SuffixList::find`].
    #[must_use]
    pub fn domain_name(&self) -> Option<DomainName<'a, T>> {
        SuffixList::compiled().find(self.host()?.raw())
    }
}

/// The error of [`SuffixList::parse`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct InvalidSuffixList {
    /// The number of the line that is not a rule, from 1; `None` if the list has no rules.
    pub line: Option<usize>,
}

impl fmt::Display for InvalidSuffixList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "line {line} is not a rule of a public suffix list"),
            None => f.write_str("a public suffix list without rules"),
        }
    }
}

impl core::error::Error for InvalidSuffixList {}
