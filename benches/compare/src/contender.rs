//! Who is measured: this library on every tier, its rivals in their fastest idioms, and what the hardware gives.

use std::borrow::Cow;
use std::cell::RefCell;
use std::fmt::Write as _;
use std::hint::black_box;
use std::panic::{AssertUnwindSafe, catch_unwind};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC};
use simdpct::batch::{Column, TooLong, Values};
use simdpct::{ByteSet, Decode, Encode, Tier, sets};

use crate::corpus::Verb;

/// Buffers that all calls share, so that no idiom pays for memory more often than it must.
pub struct Room {
    bytes: Vec<u8>,
    text: String,
    /// Initialised bytes, enough for every answer.
    ready: Vec<u8>,
    /// Hexadecimal digits, as many as the longest input.
    digits: Vec<u8>,
}

impl Room {
    /// Room for the answers to inputs of at most `longest` bytes.
    pub fn new(longest: usize) -> Room {
        let worst = longest * 3 + 4096;
        Room {
            bytes: Vec::with_capacity(worst),
            text: String::with_capacity(worst),
            ready: vec![0; worst],
            digits: b"0123456789abcdefFEDCBA98765432".iter().copied().cycle().take(longest).collect(),
        }
    }
}

/// An answer, however a rival hands it over. `None` is a refusal of the input.
trait Answer {
    fn given(&self) -> Option<&[u8]>;
}

macro_rules! answers {
    ($($type:ty),*) => { $(impl Answer for $type {
        #[inline(always)]
        fn given(&self) -> Option<&[u8]> {
            Some(self.as_ref())
        }
    })* };
}
answers!(&[u8], &Vec<u8>, &String, &str, String, Cow<'_, [u8]>);

impl Answer for Cow<'_, str> {
    #[inline(always)]
    fn given(&self) -> Option<&[u8]> {
        Some(self.as_bytes())
    }
}

impl Answer for pct::PctString {
    #[inline(always)]
    fn given(&self) -> Option<&[u8]> {
        Some(self.as_bytes())
    }
}

impl<A: Answer> Answer for Option<A> {
    #[inline(always)]
    fn given(&self) -> Option<&[u8]> {
        self.as_ref()?.given()
    }
}

impl<A: Answer, E> Answer for Result<A, E> {
    #[inline(always)]
    fn given(&self) -> Option<&[u8]> {
        self.as_ref().ok()?.given()
    }
}

/// What a contender is to the reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Does less work: shows what the hardware gives.
    Mark,
    /// Another library that does the same work.
    Rival,
    /// This library on a tier.
    Ours(Tier),
    /// This library on a tier, by the verb that others are compared with.
    Base(Tier),
}

type Pass = dyn Fn(&[&str], &mut Room);
type Call = dyn Fn(&str, &mut Room) -> Option<Vec<u8>>;

/// One way to call one library.
pub struct Contender {
    /// The library or tier.
    pub name: String,
    /// How it is called.
    pub idiom: &'static str,
    /// What it is.
    pub role: Role,
    pass: Box<Pass>,
    answer: Box<Call>,
}

impl Contender {
    /// Calls it once for each of `strings`, in order.
    pub fn pass(&self, strings: &[&str], room: &mut Room) {
        (self.pass)(strings, room);
    }

    /// Its answer to `input`; `None` if it refuses it or panics.
    pub fn answer(&self, input: &str, room: &mut Room) -> Option<Vec<u8>> {
        catch_unwind(AssertUnwindSafe(|| (self.answer)(input, room))).ok().flatten()
    }
}

/// A contender from an expression, which is compiled into the loop that is timed and into one that is checked.
macro_rules! contender {
    ($role:expr, $name:expr, $idiom:literal, |$input:ident, $room:ident| $call:expr) => {
        Contender {
            name: $name.to_string(),
            idiom: $idiom,
            role: $role,
            pass: Box::new(move |strings, $room| {
                for &$input in strings {
                    let answer = $call;
                    black_box(answer.given().map(|bytes| (bytes.as_ptr(), bytes.len())));
                }
            }),
            answer: Box::new(move |$input, $room| $call.given().map(<[u8]>::to_vec)),
        }
    };
}

/// The rivals' name for `sets::RFC3986_UNRESERVED`: the bytes that do not stay.
const COMPONENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// What the hardware gives, and the rivals, one group of idioms for each; the first mark is `memcpy`.
pub fn others(verb: Verb) -> Vec<Vec<Contender>> {
    let mut groups = marks(verb);
    groups.extend(match verb {
        Verb::Encode => encoders(),
        Verb::Decode => decoders(),
    });
    groups
}

fn marks(verb: Verb) -> Vec<Vec<Contender>> {
    let mark = Role::Mark;
    vec![
        // `rep movsb`, which memcpy may be, is ten times slower on some CPUs when the two places have nearly the
        // same offset in their pages; the yardstick is the faster of two places half a page apart.
        vec![
            contender!(mark, "memcpy", "copy_from_slice into a ready slice", |input, room| {
                let to = &mut room.ready[..input.len()];
                to.copy_from_slice(input.as_bytes());
                &*to
            }),
            contender!(
                mark,
                "memcpy",
                "copy_from_slice into a ready slice, half a page on",
                |input, room| {
                    let to = &mut room.ready[2048..][..input.len()];
                    to.copy_from_slice(input.as_bytes());
                    &*to
                }
            ),
        ],
        vec![contender!(mark, "memchr", "memchr of a byte that does not occur", |input, room| {
            let at = memchr::memchr(0, input.as_bytes());
            at.map(|at| &room.ready[at..])
        })],
        vec![contender!(mark, "simdutf8", "basic::from_utf8", |input, _room| {
            simdutf8::basic::from_utf8(input.as_bytes())
        })],
        vec![match verb {
            Verb::Encode => contender!(mark, "hex-simd", "encode into a ready slice", |input, room| {
                let out = hex_simd::Out::from_slice(&mut room.ready[..input.len() * 2]);
                let digits: &[u8] = hex_simd::encode(input.as_bytes(), out, hex_simd::AsciiCase::Upper);
                digits
            }),
            Verb::Decode => contender!(mark, "hex-simd", "decode of as many digits", |input, room| {
                let digits = &room.digits[..input.len() & !1];
                let out = hex_simd::Out::from_slice(&mut room.ready[..digits.len() / 2]);
                hex_simd::decode(digits, out).map(|bytes| &*bytes)
            }),
        }],
    ]
}

fn encoders() -> Vec<Vec<Contender>> {
    let rival = Role::Rival;
    vec![
        vec![
            contender!(rival, "percent-encoding", "String::extend", |input, room| {
                room.text.clear();
                room.text.extend(percent_encoding::utf8_percent_encode(input, COMPONENT));
                &room.text
            }),
            contender!(rival, "percent-encoding", "Vec::extend_from_slice of each part", |input, room| {
                room.bytes.clear();
                for part in percent_encoding::utf8_percent_encode(input, COMPONENT) {
                    room.bytes.extend_from_slice(part.as_bytes());
                }
                &room.bytes
            }),
            contender!(rival, "percent-encoding", "copy of each part into a ready slice", |input, room| {
                let mut written = 0;
                for part in percent_encoding::utf8_percent_encode(input, COMPONENT) {
                    room.ready[written..written + part.len()].copy_from_slice(part.as_bytes());
                    written += part.len();
                }
                &room.ready[..written]
            }),
            contender!(rival, "percent-encoding", "into Cow", |input, _room| {
                Cow::<str>::from(percent_encoding::utf8_percent_encode(input, COMPONENT))
            }),
            contender!(rival, "percent-encoding", "write!", |input, room| {
                room.text.clear();
                let encoded = percent_encoding::utf8_percent_encode(input, COMPONENT);
                write!(room.text, "{encoded}").map(|()| &*room.text)
            }),
        ],
        vec![
            contender!(rival, "urlencoding", "Encoded::append_to", |input, room| {
                room.text.clear();
                urlencoding::Encoded(input).append_to(&mut room.text);
                &room.text
            }),
            contender!(rival, "urlencoding", "encode", |input, _room| urlencoding::encode(input)),
        ],
        vec![
            contender!(rival, "url-escape", "encode_to_string", |input, room| {
                room.text.clear();
                url_escape::encode_to_string(input, COMPONENT, &mut room.text)
            }),
            contender!(rival, "url-escape", "encode", |input, _room| {
                url_escape::encode(input, COMPONENT)
            }),
        ],
        vec![contender!(rival, "codex-percent", "VecEncoder::encode", |input, room| {
            room.bytes.clear();
            codex_percent::VecEncoder::encode(input, &mut room.bytes).map(|_| &room.bytes)
        })],
        vec![contender!(rival, "form-net", "encode_into", |input, room| {
            room.text.clear();
            form_net::encode_into(input, &mut room.text).map(|()| &*room.text)
        })],
        vec![contender!(rival, "pct", "PctString::encode_bytes", |input, _room| {
            pct::PctString::encode_bytes(input, pct::UriReserved::Any)
        })],
    ]
}

fn decoders() -> Vec<Vec<Contender>> {
    let rival = Role::Rival;
    vec![
        vec![
            contender!(rival, "percent-encoding", "Vec::extend", |input, room| {
                room.bytes.clear();
                room.bytes.extend(percent_encoding::percent_decode_str(input));
                &room.bytes
            }),
            contender!(rival, "percent-encoding", "loop into a ready slice", |input, room| {
                let mut written = 0;
                for (to, byte) in room.ready.iter_mut().zip(percent_encoding::percent_decode_str(input)) {
                    *to = byte;
                    written += 1;
                }
                &room.ready[..written]
            }),
            contender!(rival, "percent-encoding", "into Cow", |input, _room| {
                Cow::<[u8]>::from(percent_encoding::percent_decode_str(input))
            }),
        ],
        vec![contender!(rival, "urlencoding", "decode_binary", |input, _room| {
            urlencoding::decode_binary(input.as_bytes())
        })],
        vec![
            contender!(rival, "url-escape", "decode_to_vec", |input, room| {
                room.bytes.clear();
                url_escape::decode_to_vec(input, &mut room.bytes)
            }),
            contender!(rival, "url-escape", "decode", |input, _room| url_escape::decode(input)),
        ],
        vec![contender!(rival, "codex-percent", "VecDecoder::decode", |input, room| {
            room.bytes.clear();
            codex_percent::VecDecoder::decode(input, &mut room.bytes).map(|_| &room.bytes)
        })],
        vec![contender!(rival, "form-net", "decode_into", |input, room| {
            let policy = form_net::PercentPolicy::Literal;
            form_net::decode_into(input.as_bytes(), &mut room.ready, policy)
        })],
        vec![contender!(rival, "pct", "PctStr::new, decode", |input, _room| {
            pct::PctStr::new(input).map(pct::PctStr::decode)
        })],
    ]
}

/// The ways to call this library. The first of each verb is what stands beside the rivals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// `Encode::append` or `Decode::append` to a reused buffer.
    Append,
    /// `to_slice` of a ready slice.
    Slice,
    /// `to_cow`.
    Cow,
    /// The normalization of RFC 3986.
    Normalize,
    /// The strict decoder.
    Strict,
    /// A decoder that keeps the escapes of reserved bytes.
    Keep,
    /// All strings by one call of the batch verb, over bytes and offsets.
    Values,
}

impl Shape {
    /// The ways of `verb`, but for the first.
    pub fn further(verb: Verb) -> &'static [Shape] {
        match verb {
            Verb::Encode => &[Shape::Slice, Shape::Cow, Shape::Values],
            Verb::Decode => {
                &[Shape::Slice, Shape::Cow, Shape::Normalize, Shape::Strict, Shape::Keep, Shape::Values]
            }
        }
    }

    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Shape::Append => "append",
            Shape::Slice => "slice",
            Shape::Cow => "cow",
            Shape::Normalize => "normalize",
            Shape::Strict => "strict",
            Shape::Keep => "keep",
            Shape::Values => "values",
        }
    }
}

/// The set whose escapes [`Shape::Keep`] keeps.
fn kept() -> ByteSet {
    sets::RFC3986_RESERVED.bytes()
}

/// This library on `tier`, called as `shape` says.
pub fn ours(verb: Verb, shape: Shape, tier: Tier, role: Role) -> Contender {
    let encode = Encode::new(sets::RFC3986_UNRESERVED).tier(tier);
    let decode = match shape {
        Shape::Normalize => simdpct::NORMALIZE,
        Shape::Keep => Decode::new().keep(kept()),
        _ => Decode::new(),
    };
    let decode = decode.tier(tier);
    let strict = decode.strict();
    match (verb, shape) {
        (Verb::Encode, Shape::Values) => {
            batch(tier, role, "Encode::values", move |values, out| encode.values(values, out))
        }
        (Verb::Decode, Shape::Values) => batch(tier, role, "Decode::values", move |values, out| {
            decode.values(values, out, |_, never| match never {})
        }),
        (Verb::Encode, Shape::Slice) => contender!(role, tier, "Encode::to_slice", |input, room| {
            encode.to_slice(input, &mut room.ready).map(|written| &room.ready[..written])
        }),
        (Verb::Encode, Shape::Cow) => {
            contender!(role, tier, "Encode::to_cow", |input, _room| { encode.to_cow(input) })
        }
        (Verb::Encode, _) => contender!(role, tier, "Encode::append", |input, room| {
            room.text.clear();
            encode.append(input, &mut room.text);
            &room.text
        }),
        (Verb::Decode, Shape::Slice) => contender!(role, tier, "Decode::to_slice", |input, room| {
            decode.to_slice(input, &mut room.ready).map(|written| &room.ready[..written])
        }),
        (Verb::Decode, Shape::Cow) => {
            contender!(role, tier, "Decode::to_cow", |input, _room| { decode.to_cow(input) })
        }
        (Verb::Decode, Shape::Strict) => contender!(role, tier, "Decode::append, strict", |input, room| {
            room.bytes.clear();
            strict.append(input, &mut room.bytes).map(|()| &room.bytes)
        }),
        (Verb::Decode, _) => contender!(role, tier, "Decode::append", |input, room| {
            room.bytes.clear();
            decode.append(input, &mut room.bytes).map(|()| &room.bytes)
        }),
    }
}

/// A contender that takes all strings at once, from where they lie one behind the other, as a column of a data engine.
fn batch(
    tier: Tier,
    role: Role,
    idiom: &'static str,
    verb: impl Fn(Values<'_, i32>, &mut Column<i32>) -> Result<(), TooLong> + Clone + 'static,
) -> Contender {
    /// Strings, one behind the other, and where each ends.
    fn join(strings: &[&str]) -> (String, Vec<i32>) {
        let (mut bytes, mut offsets) = (String::new(), vec![0]);
        for string in strings {
            bytes.push_str(string);
            offsets.push(i32::try_from(bytes.len()).expect("a row is smaller than 2 GiB"));
        }
        (bytes, offsets)
    }
    let timed = verb.clone();
    let joined = RefCell::new((0, join(&[])));
    let out = RefCell::new(Column::new());
    Contender {
        name: tier.to_string(),
        idiom,
        role,
        // The first pass, which joins the strings, is one of several of which the fastest counts.
        pass: Box::new(move |strings, _| {
            let (mut joined, mut out) = (joined.borrow_mut(), out.borrow_mut());
            if joined.0 != strings.as_ptr().addr() {
                *joined = (strings.as_ptr().addr(), join(strings));
            }
            let (bytes, offsets) = &joined.1;
            let values = Values::new(bytes.as_bytes(), offsets).expect("the offsets cut the bytes");
            out.clear();
            timed(values, &mut out).expect("a row is smaller than 2 GiB");
            black_box(out.bytes().len());
        }),
        answer: Box::new(move |input, _| {
            let (bytes, offsets) = join(&[input]);
            let mut out = Column::new();
            verb(Values::new(bytes.as_bytes(), &offsets).ok()?, &mut out).ok()?;
            out.get(0).map(<[u8]>::to_vec)
        }),
    }
}

/// The reference for `shape`, written with a rival where one has the operation, else the scalar tier.
pub fn expected(verb: Verb, shape: Shape, input: &str, room: &mut Room) -> Option<Vec<u8>> {
    match (verb, shape) {
        (Verb::Encode, _) => {
            Some(percent_encoding::utf8_percent_encode(input, COMPONENT).to_string().into_bytes())
        }
        (Verb::Decode, Shape::Append | Shape::Slice | Shape::Cow | Shape::Values) => {
            Some(percent_encoding::percent_decode_str(input).collect())
        }
        (Verb::Decode, _) => {
            let scalar = Tier::find("scalar").expect("every machine has the scalar tier");
            ours(verb, shape, scalar, Role::Ours(scalar)).answer(input, room)
        }
    }
}
