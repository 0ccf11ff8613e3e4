//! Compares typed forms with serde_urlencoded.

use std::collections::BTreeMap;
use std::fmt::Debug;

use proptest::prelude::*;
use serde::de::DeserializeOwned;
use serde::ser::{SerializeTuple, Serializer};
use serde::{Deserialize, Serialize};
use simdpct_uri::form;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Sort {
    Up,
    Down,
    Other(u8),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Newtype(Option<i16>);

#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
struct Fields {
    text: String,
    flag: Option<bool>,
    number: Option<f64>,
    small: Option<f32>,
    letter: Option<char>,
    sort: Option<Sort>,
    inner: Option<Newtype>,
    #[serde(default)]
    big: u64,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Borrowing<'a> {
    a: &'a str,
    b: std::borrow::Cow<'a, str>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Marker;

/// Serializes a pair with a wrong number of elements.
struct Elements(usize);

impl Serialize for Elements {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut pair = serializer.serialize_tuple(2)?;
        (0..self.0).try_for_each(|_| pair.serialize_element("a"))?;
        pair.end()
    }
}

/// Bytes, which serde does not serialize as such by default.
struct Bytes(&'static [u8]);

impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(self.0)
    }
}

fn same_reading_of<T: DeserializeOwned + PartialEq + Debug>(form: &[u8]) {
    let ours = form::from_bytes::<T>(form).map_err(|error| error.to_string());
    let theirs = serde_urlencoded::from_bytes::<T>(form).map_err(|error| error.to_string());
    // A float may be NaN, so the comparison is by text.
    assert_eq!(format!("{ours:?}"), format!("{theirs:?}"), "{}", form.escape_ascii());
}

fn same_reading(form: &[u8]) {
    same_reading_of::<Fields>(form);
    same_reading_of::<Vec<(String, String)>>(form);
    same_reading_of::<Vec<(char, i8)>>(form);
    same_reading_of::<BTreeMap<String, String>>(form);
    same_reading_of::<BTreeMap<Sort, Option<u128>>>(form);
    same_reading_of::<[(String, Sort); 2]>(form);
    same_reading_of::<Option<Fields>>(form);
    same_reading_of::<()>(form);
    same_reading_of::<Marker>(form);
    same_reading_of::<Sort>(form);
    same_reading_of::<String>(form);
    same_reading_of::<Vec<(Vec<u8>, Marker)>>(form);
    same_reading_of::<Vec<(String, (u8, u8))>>(form);
}

/// Writes a value with both crates. The texts of errors differ.
fn same_writing(value: impl Serialize) {
    let ours = form::to_string(&value);
    assert_eq!(ours.clone().ok(), serde_urlencoded::to_string(&value).ok());
    if let Err(error) = ours {
        assert!(!error.to_string().is_empty());
    }
}

#[test]
fn reading() {
    for form in [
        "",
        "&&",
        "text=a+%26+b&flag=true&number=1.5&letter=%C3%A9&sort=up&inner=-3&big=18446744073709551615",
        "text=a&text=b",
        "text=%FF&unknown=1",
        "flag=true",
        "text=&flag=",
        "text=&flag=yes",
        "text=&number=1e400&small=-inf",
        "text=&number=NaN&small=1e-46",
        "text=&letter=ab",
        "text=&sort=sideways",
        "text=&sort=other",
        "text=&big=-1",
        "text=&big=18446744073709551616",
        "text=&inner=32768",
        "a=1&%C3%A9=2",
        "a=300",
        "up=1&down=",
        "a=up&b=down",
        "a=up",
    ] {
        same_reading(form.as_bytes());
    }
    let borrowing: Borrowing<'_> = form::from_str("a=x&b=y").unwrap();
    assert!(matches!(borrowing, Borrowing { a: "x", b: std::borrow::Cow::Owned(_) }));
    assert!(form::from_str::<Borrowing<'_>>("a=x+&b=y").is_err());
    assert!(serde_urlencoded::from_str::<Borrowing<'_>>("a=x+&b=y").is_err());
}

#[test]
fn writing() {
    let fields = Fields {
        text: "a & b".into(),
        flag: Some(true),
        letter: Some('\u{e9}'),
        sort: Some(Sort::Down),
        inner: Some(Newtype(Some(-3))),
        ..Fields::default()
    };
    same_writing(&fields);
    same_writing(Some(&fields));
    same_writing(Fields { sort: Some(Sort::Other(1)), ..fields.clone() });
    same_writing([("a", 1.0), ("b", 1e16), ("c", 1.234e-5), ("d", f64::NAN), ("e", -0.0), ("f", f64::MIN)]);
    same_writing([("a", 1.5f32), ("b", 1e13), ("c", f32::INFINITY), ("d", f32::MIN_POSITIVE)]);
    same_writing((("a", i128::MIN), ('b', u128::MAX), (1, false), (Sort::Up, Marker)));
    same_writing(BTreeMap::from([("a", Some("")), ("b", None)]));
    same_writing(BTreeMap::from([(Some("a"), "")]));
    same_writing(BTreeMap::from([(1.5f32.to_bits(), ())]));
    same_writing([[1, 2], [3, 4]]);
    same_writing(vec![Some(("a", "b")), None]);
    same_writing(vec![("a", "b", "c")]);
    same_writing(vec![("a", vec!["b"])]);
    same_writing(vec![("a", ("b", "c"))]);
    same_writing(vec![("a", BTreeMap::from([("b", "c")]))]);
    same_writing(vec![(Bytes(b"a\xC3\xA9"), Bytes(b"")), (Bytes(b"b"), Bytes(b"+"))]);
    same_writing(vec![(Bytes(b"\xFF"), "a")]);
    same_writing(vec!["ab"]);
    same_writing("ab");
    same_writing(7);
    same_writing(());
    same_writing(Marker);
    same_writing(Sort::Up);
    same_writing(Newtype(None));
    same_writing(Newtype(Some(1)));
    for elements in 0..4 {
        same_writing(vec![Elements(elements)]);
    }
}

proptest! {
    #[test]
    fn random_forms(form in "([a-f=&+%0-9]|%[0-9a-f]{2}|text|flag|number|sort|up|true|big){0,20}", bytes: Vec<u8>) {
        same_reading(form.as_bytes());
        same_reading(&bytes);
    }

    #[test]
    fn random_values(
        text: String,
        options in any::<(Option<bool>, Option<f64>, Option<f32>, Option<char>, Option<i16>, u64)>(),
        pairs: Vec<(String, i64)>,
    ) {
        let (flag, number, small, letter, inner, big) = options;
        let inner = Some(Newtype(inner));
        let value = Fields { text, flag, number, small, letter, sort: Some(Sort::Up), inner, big };
        same_writing(&value);
        same_writing(&pairs);
        prop_assert_eq!(form::from_str::<Vec<(String, i64)>>(&form::to_string(&pairs).unwrap()).unwrap(), pairs);
        let text = form::to_string(&value).unwrap();
        prop_assert_eq!(format!("{:?}", form::from_str::<Fields>(&text)), format!("{:?}", serde_urlencoded::from_str::<Fields>(&text)));
    }
}
