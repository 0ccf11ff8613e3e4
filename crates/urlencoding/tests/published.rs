//! Compares all observable behaviour of this crate with that of the published one.

#[path = "../../../benches/kit/src/random.rs"]
#[allow(dead_code, reason = "the benchmarks use the rest")]
mod random;

use std::fmt;
use std::io;
use std::string::FromUtf8Error;

use random::Random;

/// Text, and whether it is borrowed.
type Text = (bool, String);

/// All observable behaviour of a crate on one input. Except in `failures`, a `bool` is true if the result is borrowed.
#[derive(Debug, PartialEq)]
struct Observed {
    encoded: Text,
    decoded: (bool, Vec<u8>),
    /// The results of `Encoded`: `to_str`, `to_string`, `Display` with a width, `write` and `append_to`.
    wrapped: (bool, Vec<String>),
    debug: String,
    /// For writers of several capacities, whether `write!` and `write` fail.
    failures: Vec<(bool, Option<io::ErrorKind>)>,
    /// The results for text.
    text: Option<(Text, Result<Text, FromUtf8Error>)>,
}

/// A writer with the given capacity. It rejects a piece that does not fit.
struct Limited(usize);

impl fmt::Write for Limited {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0 = self.0.checked_sub(text.len()).ok_or(fmt::Error)?;
        Ok(())
    }
}

impl io::Write for Limited {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 = self.0.checked_sub(bytes.len()).ok_or(io::ErrorKind::StorageFull)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Defines a module that observes the crate `$krate`.
macro_rules! observe {
    ($name:ident, $krate:ident) => {
        mod $name {
            use std::borrow::Cow;
            use std::fmt::Write;

            use $krate::{Encoded, decode, decode_binary, encode, encode_binary};

            use super::{Limited, Observed};

            fn of<T: ToOwned + ?Sized>(cow: Cow<'_, T>) -> (bool, T::Owned) {
                (matches!(cow, Cow::Borrowed(_)), cow.into_owned())
            }

            pub fn observe(input: &[u8]) -> Observed {
                let wrapped = Encoded(input);
                let (borrowed, string) = of(wrapped.to_str());
                let (mut written, mut appended) = (Vec::new(), String::from("so far: "));
                Encoded::new(input.to_vec()).write(&mut written).unwrap();
                wrapped.append_to(&mut appended);
                let limits = [0, 1, string.len() / 2, string.len()];
                let failures = limits.map(|limit| {
                    let error = wrapped.write(&mut Limited(limit)).err();
                    (write!(Limited(limit), "{wrapped}").is_err(), error.map(|error| error.kind()))
                });
                let text = std::str::from_utf8(input).ok().map(|text| {
                    assert_eq!(Encoded::str(text).to_string(), string);
                    (of(encode(text)), decode(text).map(of))
                });
                Observed {
                    encoded: of(encode_binary(input)),
                    decoded: of(decode_binary(input)),
                    wrapped: (
                        borrowed,
                        vec![
                            string,
                            wrapped.to_string(),
                            format!("{wrapped:>300}{wrapped:.2}"),
                            String::from_utf8(written).unwrap(),
                            appended,
                        ],
                    ),
                    debug: format!("{wrapped:?} {:?}", wrapped.cmp(&Encoded(b"m"))),
                    failures: failures.to_vec(),
                    text,
                }
            }
        }
    };
}

observe!(published, upstream);
observe!(this, urlencoding);

fn same(input: &[u8]) {
    assert_eq!(this::observe(input), published::observe(input), "{}", input.escape_ascii());
}

#[test]
fn all_inputs_of_up_to_two_bytes() {
    same(b"");
    for first in 0..=u8::MAX {
        same(&[first]);
        for second in 0..=u8::MAX {
            same(&[first, second]);
            same(&[b'%', first, second]);
        }
    }
}

#[test]
fn all_short_inputs_of_few_bytes() {
    for length in 0..=6u32 {
        for number in 0..7usize.pow(length) {
            let byte = |place| b"%2Fcg\xC3a"[number / 7usize.pow(place) % 7];
            same(&(0..length).map(byte).collect::<Vec<u8>>());
        }
    }
}

#[test]
fn random_inputs_at_every_length() {
    let random = &mut Random::new(1);
    for length in (0..300).chain([1000, 1537, 5000, 70_000]) {
        for alphabet in
            [&b"abcxyz019-._~"[..], b"abcdef019%", b"%%%0123456789abcdefABCDEF", b" /%&+", b"\xC3\xA9"]
        {
            let input: Vec<u8> = (0..length)
                .map(|_| if random.below(100) == 0 { random.below(256) as u8 } else { random.pick(alphabet) })
                .collect();
            same(&input);
        }
    }
}
