//! Tests the named sets against the tables of their specifications, and the algebra of sets.

use std::collections::BTreeSet;

use proptest::prelude::*;
use simdpct::sets::*;
use simdpct::{AsciiSet, ByteSet, NamedSet, SetKind};

use testkit::tiers::scaled;

/// One named set with its members, which are copied from the text of a specification and not from `sets.def`.
struct Row {
    name: &'static str,
    set: AsciiSet,
    rule: Table,
}

/// The way in which a specification words a set.
enum Table {
    /// Only these bytes stay.
    Stay(&'static str),
    /// Only letters, digits and these bytes stay.
    AlphanumericAnd(&'static str),
    /// Only C0 controls, bytes above `~`, and these bytes are escaped.
    Escape(&'static str),
}
use Table::{AlphanumericAnd, Escape, Stay};

const fn row(name: &'static str, set: AsciiSet, rule: Table) -> Row {
    Row { name, set, rule }
}

/// The expected members of every named set.
const SPECIFIED: &[Row] = &[
    row("none", NONE, Stay("")),
    row("alphanumeric", ALPHANUMERIC, AlphanumericAnd("")),
    // RFC 3986, appendix A.
    row("rfc3986-unreserved", RFC3986_UNRESERVED, AlphanumericAnd("-._~")),
    row("rfc3986-gen-delims", RFC3986_GEN_DELIMS, Stay(":/?#[]@")),
    row("rfc3986-sub-delims", RFC3986_SUB_DELIMS, Stay("!$&'()*+,;=")),
    row("rfc3986-reserved", RFC3986_RESERVED, Stay(":/?#[]@!$&'()*+,;=")),
    row("rfc3986-userinfo", RFC3986_USERINFO, AlphanumericAnd("-._~!$&'()*+,;=:")),
    row("rfc3986-reg-name", RFC3986_REG_NAME, AlphanumericAnd("-._~!$&'()*+,;=")),
    row("rfc3986-segment", RFC3986_SEGMENT, AlphanumericAnd("-._~!$&'()*+,;=:@")),
    row("rfc3986-path", RFC3986_PATH, AlphanumericAnd("-._~!$&'()*+,;=:@/")),
    row("rfc3986-query", RFC3986_QUERY, AlphanumericAnd("-._~!$&'()*+,;=:@/?")),
    row("rfc3986-fragment", RFC3986_FRAGMENT, AlphanumericAnd("-._~!$&'()*+,;=:@/?")),
    row("rfc3986-uri", RFC3986_URI, AlphanumericAnd("-._~:/?#[]@!$&'()*+,;=")),
    // RFC 2396, section 2 and appendix A: mark, reserved.
    row("rfc2396-unreserved", RFC2396_UNRESERVED, AlphanumericAnd("-_.!~*'()")),
    row("rfc2396-reserved", RFC2396_RESERVED, Stay(";/?:@&=+$,")),
    row("rfc2396-uric", RFC2396_URIC, AlphanumericAnd(";/?:@&=+$,-_.!~*'()")),
    // RFC 1738, sections 2.2 and 5: safe "$-_.+", extra "!*'(),"; unsafe; reserved.
    row("rfc1738-unreserved", RFC1738_UNRESERVED, AlphanumericAnd("$-_.+!*'(),")),
    row("rfc1738-reserved", RFC1738_RESERVED, Stay(";/?:@=&")),
    row("rfc1738-unsafe", RFC1738_UNSAFE, Stay(" <>\"#%{}|\\^~[]`")),
    // URL Standard, section 1.3. For each set, the bytes of the sets that it includes are written out.
    row("whatwg-c0-control", WHATWG_C0_CONTROL, Escape("")),
    row("whatwg-fragment", WHATWG_FRAGMENT, Escape(" \"<>`")),
    row("whatwg-query", WHATWG_QUERY, Escape(" \"#<>")),
    row("whatwg-special-query", WHATWG_SPECIAL_QUERY, Escape(" \"#<>'")),
    row("whatwg-path", WHATWG_PATH, Escape(" \"#<>?^`{}")),
    row("whatwg-userinfo", WHATWG_USERINFO, Escape(" \"#<>?^`{}/:;=@[\\]|")),
    row("whatwg-component", WHATWG_COMPONENT, Escape(" \"#<>?^`{}/:;=@[\\]|$%&+,")),
    row("whatwg-form", WHATWG_FORM, Escape(" \"#<>?^`{}/:;=@[\\]|$%&+,!'()~")),
    // ECMA-262, section 19.2.6: uriMark, uriReserved and "#".
    row("ecma-uri-component", ECMA_URI_COMPONENT, AlphanumericAnd("-_.!~*'()")),
    row("ecma-uri", ECMA_URI, AlphanumericAnd("-_.!~*'();/?:@&=+$,#")),
    // Python's documentation of urllib.parse.quote: "letters, digits, and the characters '_.-~' are never quoted",
    // and safe='/'.
    row("python-quote", PYTHON_QUOTE, AlphanumericAnd("_.-~/")),
    // Java's documentation of URLEncoder: alphanumeric and ".", "-", "*", "_" remain the same.
    row("java-form", JAVA_FORM, AlphanumericAnd(".-*_")),
    // RFC 8187, section 3.2.1: attr-char.
    row("rfc8187-attr-char", RFC8187_ATTR_CHAR, AlphanumericAnd("!#$&+-.^_`|~")),
];

/// The named sets that are building blocks: groups of delimiters or of other special bytes.
const BLOCKS: [&str; 6] = [
    "rfc3986-gen-delims",
    "rfc3986-sub-delims",
    "rfc3986-reserved",
    "rfc2396-reserved",
    "rfc1738-reserved",
    "rfc1738-unsafe",
];

#[test]
fn kinds_are_as_listed_here() {
    let blocks: Vec<&str> =
        ALL.iter().filter(|named| named.kind == SetKind::Block).map(|named| named.name).collect();
    assert_eq!(blocks, BLOCKS);
    // A policy must keep all letters and digits, or nothing at all.
    for named in ALL.iter().filter(|named| named.kind == SetKind::Policy) {
        assert!(named.set.is_empty() || ALPHANUMERIC.difference(named.set).is_empty(), "{}", named.name);
    }
}

fn stays(rule: &Table, byte: u8) -> bool {
    match rule {
        Stay(these) => these.as_bytes().contains(&byte),
        AlphanumericAnd(these) => byte.is_ascii_alphanumeric() || these.as_bytes().contains(&byte),
        Escape(these) => (0x20..=0x7E).contains(&byte) && !these.as_bytes().contains(&byte),
    }
}

#[test]
fn named_sets_are_those_of_their_specifications() {
    for Row { name, set, rule } in SPECIFIED {
        for byte in 0..=255u8 {
            assert_eq!(set.contains(byte), stays(rule, byte), "{name}: {:?}", char::from(byte));
        }
    }
}

#[test]
fn every_named_set_has_a_row_here() {
    let rows: BTreeSet<&str> = SPECIFIED.iter().map(|row| row.name).collect();
    let names: BTreeSet<&str> = ALL.iter().map(|named| named.name).collect();
    assert_eq!(rows.len(), SPECIFIED.len(), "a row is there twice");
    assert_eq!(names.len(), ALL.len(), "two sets have one name");
    assert_eq!(names, rows, "sets.def and the rows of this test differ");
}

#[test]
fn registry_finds_each_set_by_its_name() {
    for Row { name, set, .. } in SPECIFIED {
        for spelling in [(*name).to_owned(), name.to_uppercase(), name.replace('-', "_")] {
            let found = find(&spelling).map(|found| (found.name, found.set));
            // Only policies are found.
            assert_eq!(found, (!BLOCKS.contains(name)).then_some((*name, *set)), "{spelling}");
        }
    }
    for NamedSet { name, source, description, .. } in ALL {
        assert!(name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-'), "{name}");
        assert!(source.starts_with("https://"), "{name}: {source}");
        assert!(!description.trim().is_empty(), "{name} is not described");
    }
    for name in ["", "rfc3986", "rfc3986-unreserved ", "rfc3986 unreserved", "rfc3986-unreserve"] {
        assert!(find(name).is_none(), "{name:?} is found");
    }
}

/// Tests that the algebra of sets works in constants.
mod constants {
    use super::*;

    const ADDED: AsciiSet = RFC3986_UNRESERVED.add(b"/:").unwrap();
    const FULL: ByteSet = ADDED.to_byte_set().union(ByteSet::NON_ASCII);
    const NO_DIGITS: ByteSet = FULL.remove(b"0123456789");

    const _: () = assert!(ADDED.contains(b'/') && !ADDED.contains(b'%') && ADDED.len() == 68);
    const _: () = assert!(FULL.contains(0xFF) && !FULL.is_ascii() && FULL.to_ascii_set().is_none());
    const _: () =
        assert!(!NO_DIGITS.contains(b'7') && NO_DIGITS.contains(b'a') && NO_DIGITS.len() == 68 - 10 + 128);
    const _: () = assert!(NO_DIGITS.intersection(ByteSet::ASCII).complement().contains(b'0'));
    const _: () = assert!(ADDED.difference(RFC3986_UNRESERVED).len() == 2);
    const _: () = assert!(AsciiSet::EMPTY.add(&[0x80]).is_none() && AsciiSet::EMPTY.is_empty());
    const _: () =
        assert!(AsciiSet::EMPTY.complement().len() == 128 && ByteSet::EMPTY.complement().len() == 256);
}

/// Tests that `Encode::escaping` escapes the bytes of the set and every byte that is not ASCII.
#[test]
fn escaping_is_keeping_the_rest() {
    for named in ALL {
        let encode = simdpct::Encode::escaping(named.set);
        for byte in 0..=255u8 {
            let escaped = named.set.contains(byte) || byte >= 0x80;
            assert_eq!(encode.encoded_len(&[byte]), if escaped { 3 } else { 1 }, "{}: {byte:#x}", named.name);
        }
    }
    let controls: Vec<u8> = (0..=255).filter(|byte: &u8| byte.is_ascii_control()).collect();
    assert!(AsciiSet::CONTROLS.iter().eq(controls));
}

fn model(set: &ByteSet) -> BTreeSet<u8> {
    (0..=255u8).filter(|&byte| set.contains(byte)).collect()
}

fn of(bytes: &BTreeSet<u8>) -> ByteSet {
    ByteSet::EMPTY.add(&bytes.iter().copied().collect::<Vec<_>>())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(scaled(512)) })]

    #[test]
    fn byte_sets_are_sets(
        a in proptest::collection::btree_set(any::<u8>(), 0..256),
        b in proptest::collection::btree_set(any::<u8>(), 0..256),
        list in proptest::collection::vec(any::<u8>(), 0..40),
    ) {
        let all: BTreeSet<u8> = (0..=255).collect();
        let (x, y) = (of(&a), of(&b));
        let listed: BTreeSet<u8> = list.iter().copied().collect();
        prop_assert_eq!(model(&x), a.clone());
        prop_assert_eq!(model(&x.union(y)), &a | &b);
        prop_assert_eq!(model(&x.intersection(y)), &a & &b);
        prop_assert_eq!(model(&x.difference(y)), &a - &b);
        prop_assert_eq!(model(&x.complement()), &all - &a);
        prop_assert_eq!(list.iter().copied().collect::<ByteSet>(), ByteSet::from_bytes(&list));
        prop_assert_eq!(model(&x.add(&list)), &a | &listed);
        prop_assert_eq!(model(&x.remove(&list)), &a - &listed);
        prop_assert_eq!(x.len(), a.len());
        prop_assert_eq!(x.is_empty(), a.is_empty());
        prop_assert_eq!(x.is_ascii(), a.iter().all(u8::is_ascii));
        prop_assert_eq!(x.to_ascii_set().map(AsciiSet::to_byte_set), x.is_ascii().then_some(x));
        prop_assert!(x.iter().eq(a.iter().copied()));
        prop_assert_eq!(x == y, a == b);

        let from_bytes = ByteSet::from_bytes(&list);
        prop_assert_eq!(from_bytes, ByteSet::EMPTY.add(&list));
        prop_assert_eq!(model(&from_bytes), listed.clone());
        let words: [u64; 4] = std::array::from_fn(|word| {
            (0..64).filter(|bit| a.contains(&(64 * word as u8 + bit))).map(|bit| 1 << bit).sum()
        });
        prop_assert_eq!(x.to_bitmap(), words);
        // Equality also compares the lookup rows, which the kernels use.
        prop_assert_eq!(ByteSet::from_bitmap(words), x);
        let ascii = u128::from(words[1]) << 64 | u128::from(words[0]);
        prop_assert_eq!(AsciiSet::from_bitmap(ascii).to_byte_set(), x.intersection(ByteSet::ASCII));
        prop_assert_eq!(AsciiSet::from_bitmap(ascii).to_bitmap(), ascii);
        prop_assert_eq!(AsciiSet::from_bytes(&list), from_bytes.to_ascii_set());
    }

    #[test]
    fn ascii_sets_are_sets(
        a in proptest::collection::btree_set(0..0x80u8, 0..128),
        b in proptest::collection::btree_set(0..0x80u8, 0..128),
        list in proptest::collection::vec(any::<u8>(), 0..4),
    ) {
        let ascii: BTreeSet<u8> = (0..0x80).collect();
        let (x, y) = (of(&a).to_ascii_set().unwrap(), of(&b).to_ascii_set().unwrap());
        let listed: BTreeSet<u8> = list.iter().copied().collect();
        prop_assert_eq!(model(&x.to_byte_set()), a.clone());
        prop_assert_eq!(model(&x.union(y).to_byte_set()), &a | &b);
        prop_assert_eq!(model(&x.intersection(y).to_byte_set()), &a & &b);
        prop_assert_eq!(model(&x.difference(y).to_byte_set()), &a - &b);
        prop_assert_eq!(model(&x.complement().to_byte_set()), &ascii - &a);
        prop_assert_eq!(model(&x.remove(&list).to_byte_set()), &a - &listed);
        let added = x.add(&list).map(|set| model(&set.to_byte_set()));
        prop_assert_eq!(added, list.is_ascii().then(|| &a | &listed));
        prop_assert_eq!(x.len(), a.len());
        prop_assert_eq!(x.is_empty(), a.is_empty());
        prop_assert!(x.iter().eq(a.iter().copied()));
    }
}
