//! A contender: one way to call one library; and this library's.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashMap;
use std::hint::black_box;
use std::panic::{AssertUnwindSafe, catch_unwind};

use simdpct::batch::{Column, ColumnBuf, TooLong};
use simdpct::{ByteSet, Decode, Encode, Tier, sets};

use crate::rivals::COMPONENT;
use crate::{Verb, place};

/// Buffers that all calls share, so that no idiom pays for memory more often than it must.
pub struct Room {
    /// For bytes that are appended.
    pub(crate) bytes: Vec<u8>,
    /// For text that is appended.
    pub(crate) text: String,
    /// Initialised bytes, enough for every answer.
    pub(crate) ready: Vec<u8>,
    /// Hexadecimal digits, as many as the longest input.
    pub(crate) digits: Vec<u8>,
}

impl Room {
    /// Room for the answers to inputs of at most `longest` bytes, in buffers that start `offset` bytes after the start of a
    /// page.
    pub fn new(longest: usize, offset: usize) -> Room {
        let worst = longest * 3 + 4096;
        let mut ready = place::at(worst, offset);
        ready.resize(worst, 0);
        Room {
            bytes: place::at(worst, offset),
            text: String::from_utf8(place::at(worst, offset)).expect("nothing is text"),
            ready,
            digits: b"0123456789abcdefFEDCBA98765432".iter().copied().cycle().take(longest).collect(),
        }
    }
}

/// An answer, however a rival hands it over. `None` is a refusal of the input.
pub(crate) trait Answer {
    fn bytes(&self) -> Option<&[u8]>;
}

macro_rules! answers {
    ($($type:ty),*) => { $(impl Answer for $type {
        #[inline(always)]
        fn bytes(&self) -> Option<&[u8]> {
            Some(self.as_ref())
        }
    })* };
}
answers!(&[u8], &Vec<u8>, Vec<u8>, &String, &str, String, Cow<'_, [u8]>);

impl Answer for Cow<'_, str> {
    #[inline(always)]
    fn bytes(&self) -> Option<&[u8]> {
        Some(self.as_bytes())
    }
}

impl<A: Answer> Answer for Option<A> {
    #[inline(always)]
    fn bytes(&self) -> Option<&[u8]> {
        self.as_ref()?.bytes()
    }
}

impl<A: Answer, E> Answer for Result<A, E> {
    #[inline(always)]
    fn bytes(&self) -> Option<&[u8]> {
        self.as_ref().ok()?.bytes()
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
    /// A contender by its two functions; `contender!` makes both from one expression.
    pub fn new(
        name: impl ToString,
        idiom: &'static str,
        role: Role,
        pass: impl Fn(&[&str], &mut Room) + 'static,
        answer: impl Fn(&str, &mut Room) -> Option<Vec<u8>> + 'static,
    ) -> Contender {
        Contender { name: name.to_string(), idiom, role, pass: Box::new(pass), answer: Box::new(answer) }
    }

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
        $crate::contender::Contender::new(
            $name,
            $idiom,
            $role,
            move |strings: &[&str], $room: &mut $crate::Room| {
                for &$input in strings {
                    let answer = $call;
                    let bytes = $crate::contender::Answer::bytes(&answer);
                    std::hint::black_box(bytes.map(|bytes| (bytes.as_ptr(), bytes.len())));
                }
            },
            move |$input: &str, $room: &mut $crate::Room| {
                $crate::contender::Answer::bytes(&$call).map(<[u8]>::to_vec)
            },
        )
    };
}
pub(crate) use contender;

/// The ways to call this library. The first is the one that is compared with the rivals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// `Encode::append` or `Decode::append` to a reused buffer.
    Append,
    /// The same to a new buffer in which nobody has made room.
    Fresh,
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
            Verb::Encode => &[Shape::Fresh, Shape::Slice, Shape::Cow, Shape::Values],
            Verb::Decode => &[
                Shape::Fresh,
                Shape::Slice,
                Shape::Cow,
                Shape::Normalize,
                Shape::Strict,
                Shape::Keep,
                Shape::Values,
            ],
        }
    }

    /// What `verb` in this shape is called: `encode`, or `decode, strict`.
    pub fn of(self, verb: Verb) -> String {
        let verb = match verb {
            Verb::Encode => "encode",
            Verb::Decode => "decode",
        };
        if self == Shape::Append { verb.to_owned() } else { format!("{verb}, {}", self.name()) }
    }

    fn name(self) -> &'static str {
        match self {
            Shape::Append => "append",
            Shape::Fresh => "fresh",
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
    sets::RFC3986_RESERVED.to_byte_set()
}

/// This library on `tier`, called as `shape` says.
pub fn ours(verb: Verb, shape: Shape, tier: Tier, role: Role) -> Contender {
    let encode = Encode::keeping(sets::RFC3986_UNRESERVED).tier(tier);
    let decode = match shape {
        Shape::Normalize => Decode::NORMALIZE,
        Shape::Keep => Decode::new().keep(kept()),
        _ => Decode::new(),
    };
    let decode = decode.tier(tier);
    let strict = decode.strict();
    match (verb, shape) {
        (Verb::Encode, Shape::Values) => {
            batch(tier, role, "Encode::encode_column", move |values, out| encode.encode_column(values, out))
        }
        (Verb::Decode, Shape::Values) => {
            batch(tier, role, "Decode::decode_column", move |values, out| decode.decode_column(values, out))
        }
        (Verb::Encode, Shape::Slice) => contender!(role, tier, "Encode::encode_to_slice", |input, room| {
            encode.encode_to_slice(input, &mut room.ready).map(|written| &room.ready[..written])
        }),
        (Verb::Encode, Shape::Cow) => {
            contender!(role, tier, "Encode::encode", |input, _room| { encode.encode(input) })
        }
        (Verb::Encode, Shape::Fresh) => {
            contender!(role, tier, "Encode::encode_append to a new Vec", |input, _room| {
                let mut fresh = Vec::new();
                encode.encode_append(input, &mut fresh);
                fresh
            })
        }
        (Verb::Encode, _) => contender!(role, tier, "Encode::encode_append", |input, room| {
            room.text.clear();
            encode.encode_append(input, &mut room.text);
            &room.text
        }),
        (Verb::Decode, Shape::Slice) => contender!(role, tier, "Decode::decode_to_slice", |input, room| {
            decode.decode_to_slice(input, &mut room.ready).map(|written| &room.ready[..written])
        }),
        (Verb::Decode, Shape::Cow) => {
            contender!(role, tier, "Decode::decode", |input, _room| { decode.decode(input) })
        }
        (Verb::Decode, Shape::Fresh) => {
            contender!(role, tier, "Decode::decode_append to a new Vec", |input, _room| {
                let mut fresh = Vec::new();
                decode.decode_append(input, &mut fresh);
                fresh
            })
        }
        (Verb::Decode, Shape::Strict) => {
            contender!(role, tier, "Decode::decode_append, strict", |input, room| {
                room.bytes.clear();
                strict.decode_append(input, &mut room.bytes).map(|()| &room.bytes)
            })
        }
        (Verb::Decode, _) => contender!(role, tier, "Decode::decode_append", |input, room| {
            room.bytes.clear();
            decode.decode_append(input, &mut room.bytes);
            &room.bytes
        }),
    }
}

/// A contender that takes all strings at once, from where they lie one after the other, as a column of a data engine.
fn batch(
    tier: Tier,
    role: Role,
    idiom: &'static str,
    verb: impl Fn(Column<'_, i32>, &mut ColumnBuf<i32>) -> Result<(), TooLong> + Clone + 'static,
) -> Contender {
    /// Strings, one after the other, and where each ends.
    fn join(strings: &[&str]) -> (String, Vec<i32>) {
        let (mut bytes, mut offsets) = (String::new(), vec![0]);
        for string in strings {
            bytes.push_str(string);
            offsets.push(i32::try_from(bytes.len()).expect("a row is smaller than 2 GiB"));
        }
        (bytes, offsets)
    }
    let timed = verb.clone();
    let joined = RefCell::new(HashMap::new());
    let out = RefCell::new(ColumnBuf::new());
    Contender::new(
        tier,
        idiom,
        role,
        // The first pass, which joins the strings, is one of several of which the fastest counts.
        move |strings: &[&str], _: &mut Room| {
            let (mut joined, mut out) = (joined.borrow_mut(), out.borrow_mut());
            let (bytes, offsets) =
                joined.entry((strings.as_ptr().addr(), strings.len())).or_insert_with(|| join(strings));
            let values = Column::new(bytes.as_bytes(), offsets).expect("the offsets cut the bytes");
            out.clear();
            timed(values, &mut out).expect("a row is smaller than 2 GiB");
            black_box(out.bytes().len());
        },
        move |input: &str, _: &mut Room| {
            let (bytes, offsets) = join(&[input]);
            let mut out = ColumnBuf::new();
            verb(Column::new(bytes.as_bytes(), &offsets).ok()?, &mut out).ok()?;
            out.get(0).map(<[u8]>::to_vec)
        },
    )
}

/// The reference for `shape`, written with a rival where one has the operation, else the scalar tier.
pub fn expected(verb: Verb, shape: Shape, input: &str, room: &mut Room) -> Option<Vec<u8>> {
    match (verb, shape) {
        (Verb::Encode, _) => {
            Some(percent_encoding::utf8_percent_encode(input, COMPONENT).to_string().into_bytes())
        }
        (Verb::Decode, Shape::Append | Shape::Fresh | Shape::Slice | Shape::Cow | Shape::Values) => {
            Some(percent_encoding::percent_decode_str(input).collect())
        }
        (Verb::Decode, _) => {
            let scalar = Tier::find("scalar").expect("every machine has the scalar tier");
            ours(verb, shape, scalar, Role::Ours(scalar)).answer(input, room)
        }
    }
}
