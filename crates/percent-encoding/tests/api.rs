//! Tests the documented API: signatures, constants and traits, with and without an allocator.

use std::fmt::{Debug, Display, Write};
use std::ops;

use percent_encoding::{
    AsciiSet, CONTROLS, NON_ALPHANUMERIC, PercentDecode, PercentEncode, percent_decode, percent_decode_str,
    percent_encode, percent_encode_byte, utf8_percent_encode,
};

/// `PATH` and `ASCII` prove that sets can be made in constants. A test uses `ASCII` as a pattern.
const PATH: &AsciiSet = &CONTROLS.add(b' ').add(b'#').add(b'?').union(AsciiSet::EMPTY.add(b'%')).remove(b'#');
const ASCII: AsciiSet = AsciiSet::EMPTY.complement();

#[test]
fn signatures() {
    let _: for<'a> fn(&'a [u8], &'static AsciiSet) -> PercentEncode<'a> = percent_encode;
    let _: for<'a> fn(&'a str, &'static AsciiSet) -> PercentEncode<'a> = utf8_percent_encode;
    let _: fn(&[u8]) -> PercentDecode<'_> = percent_decode;
    let _: fn(&str) -> PercentDecode<'_> = percent_decode_str;
    let _: fn(u8) -> &'static str = percent_encode_byte;
    let _: fn(&AsciiSet, u8) -> AsciiSet = AsciiSet::add;
    let _: fn(&AsciiSet, u8) -> AsciiSet = AsciiSet::remove;
    let _: fn(&AsciiSet, AsciiSet) -> AsciiSet = AsciiSet::union;
    let _: fn(&AsciiSet) -> AsciiSet = AsciiSet::complement;
}

#[test]
fn traits() {
    fn encode<'a, T: Iterator<Item = &'a str> + Display + Debug + Clone + Eq + Send + Sync + Unpin>(_: T) {}
    fn decode<T: Iterator<Item = u8> + Debug + Clone + Send + Sync + Unpin>(_: T) {}
    fn set<T: Debug + Eq + ops::Add<Output = T> + ops::Not<Output = T> + Send + Sync + 'static>(_: T) {}
    encode(percent_encode(b"", CONTROLS));
    assert_eq!(percent_encode(b"a", CONTROLS), utf8_percent_encode("a", CONTROLS));
    assert_ne!(percent_encode(b"a", CONTROLS), percent_encode(b"a", NON_ALPHANUMERIC));
    decode(percent_decode(b""));
    set(AsciiSet::EMPTY);
}

#[test]
fn sets_are_what_they_say() {
    let escaped = |set: &'static AsciiSet| {
        (0..=u8::MAX)
            .filter(move |&byte| percent_encode(&[byte], set).next().is_some_and(|text| text.len() == 3))
    };
    assert!(escaped(CONTROLS).eq((0..=0x1F).chain(0x7F..=0xFF)));
    assert!(escaped(NON_ALPHANUMERIC).eq((0..=0xFF).filter(|byte: &u8| !byte.is_ascii_alphanumeric())));
    assert!(escaped(&AsciiSet::EMPTY).eq(0x80..=0xFF));
    assert!(escaped(&ASCII).eq(0..=0xFF));
    assert!(escaped(PATH).eq((0..=0x20).chain(*b"%?").chain(0x7F..=0xFF)));
    assert!(matches!(AsciiSet::EMPTY.complement(), ASCII));
    assert_eq!(format!("{:?}", AsciiSet::EMPTY.add(b'a').add(b'\n')), r"AsciiSet({\na})");
}

/// The iterator yields the longest runs of copied bytes, and each escape by itself.
#[test]
fn pieces() {
    let pieces: Vec<&str> = utf8_percent_encode("ab  \u{e9}c", CONTROLS).collect();
    assert_eq!(pieces, ["ab  ", "%C3", "%A9", "c"]);
    assert_eq!(percent_encode(b"abc", CONTROLS).size_hint(), (1, Some(3)));
    assert_eq!(percent_encode(b"", CONTROLS).size_hint(), (0, Some(0)));
    assert_eq!(percent_decode(b"%41%4").size_hint(), (2, Some(5)));
}

/// A run must be a slice of the input. The iterator must not read the whole rest of the input to yield a piece, or this
/// test would take hours.
#[test]
fn iterators_are_lazy() {
    let input = b" a".repeat(1 << 20);
    for start in 0..input.len() {
        let mut encode = percent_encode(&input[start..], NON_ALPHANUMERIC);
        encode.next();
        let run = encode.next().into_iter().chain(encode.next()).find(|piece| piece.len() == 1);
        assert!(run.is_none_or(|run| input.as_ptr_range().contains(&run.as_ptr())));
        assert_eq!(percent_decode(&input[start..]).next(), Some(input[start]));
    }
}

#[test]
fn display_does_not_allocate_what_it_writes() {
    struct Pieces(usize, usize);
    impl Write for Pieces {
        fn write_str(&mut self, text: &str) -> std::fmt::Result {
            assert!(text.is_ascii());
            self.0 = self.0.max(text.len());
            self.1 += text.len();
            Ok(())
        }
    }
    let mut pieces = Pieces(0, 0);
    let input = b" a".repeat(100_000);
    write!(pieces, "{}", percent_encode(&input, NON_ALPHANUMERIC)).unwrap();
    assert_eq!(pieces.1, 400_000);
    assert!(pieces.0 < 10_000, "a piece of {} bytes", pieces.0);
}

#[cfg(feature = "alloc")]
#[test]
fn conversions() {
    use std::borrow::Cow;

    let cow: Cow<'_, str> = utf8_percent_encode("clean", NON_ALPHANUMERIC).into();
    assert!(matches!(cow, Cow::Borrowed("clean")));
    let cow: Cow<'_, str> = utf8_percent_encode("a b", NON_ALPHANUMERIC).into();
    assert!(matches!(cow, Cow::Owned(text) if text == "a%20b"));
    let cow: Cow<'_, [u8]> = percent_decode_str("100% clean").into();
    assert!(matches!(cow, Cow::Borrowed(b"100% clean")));
    let cow: Cow<'_, [u8]> = percent_decode_str("%00").into();
    assert!(matches!(cow, Cow::Owned(bytes) if bytes == [0]));
    assert_eq!(percent_decode(b"\xE9%41").decode_utf8().unwrap_err().valid_up_to(), 0);
    assert_eq!(percent_decode(b"\xE9%41").decode_utf8_lossy(), "\u{fffd}A");
}
