//! Contenders: ways to call a library that can be checked and timed.

use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};

use simdpct::Tier;

use crate::place;

/// The output buffers that all calls share, so that no contender pays for memory more often than its idiom requires.
pub struct Buffers {
    /// A buffer for idioms that append bytes.
    pub bytes: Vec<u8>,
    /// A buffer for idioms that append text.
    pub text: String,
    /// Initialised bytes for idioms that write to a slice, enough for every answer.
    pub ready: Vec<u8>,
    /// Memory for hexadecimal digits, as long as the longest input.
    pub digits: Vec<u8>,
}

impl Buffers {
    /// Allocates buffers for inputs of at most `longest` bytes. They start `offset` bytes after the start of a page.
    pub fn new(longest: usize, offset: usize) -> Buffers {
        let worst = longest * 3 + 4096;
        let mut ready = place::at(worst, offset);
        ready.resize(worst, 0);
        Buffers {
            bytes: place::at(worst, offset),
            text: String::from_utf8(place::at(worst, offset)).expect("an empty vector is valid UTF-8"),
            ready,
            digits: b"0123456789abcdefFEDCBA98765432".iter().copied().cycle().take(longest).collect(),
        }
    }
}

/// The result of a call, in the type that a library returns.
pub trait Answer {
    /// Returns the bytes of the answer, or `None` if the library rejected the input.
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

/// The role of a contender in a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A reference point. It does less work than the other contenders, and so shows the limits of the hardware.
    Mark,
    /// Another library that does the same work.
    Rival,
    /// The algorithm of a library that does the same work and cannot be linked. It needs this instruction set.
    Algorithm(Needs),
    /// This library on a tier.
    Ours(Tier),
    /// This library on a tier, called as in [`Append`](crate::Shape::Append). Other shapes of calls are compared with it.
    Base(Tier),
}

/// The instruction set that an algorithm needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// AVX2.
    Avx2,
    /// AVX-512 with VBMI2.
    Avx512,
    /// NEON.
    Neon,
}

impl Needs {
    /// Reports whether each CPU that has `tier` has this instruction set, too.
    pub fn is_in(self, tier: Tier) -> bool {
        match tier.name() {
            "avx2" => self == Needs::Avx2,
            "neon" => self == Needs::Neon,
            name => name.starts_with("avx512") && self != Needs::Neon,
        }
    }
}

type Pass = dyn Fn(&[&str], &mut Buffers);
type Call = dyn Fn(&str, &mut Buffers) -> Option<Vec<u8>>;

/// One way to call one library.
pub struct Contender {
    /// The name of the library or tier.
    pub name: String,
    /// The description of the call, such as the name of the method.
    pub idiom: &'static str,
    /// The role of the contender in a comparison.
    pub role: Role,
    pass: Box<Pass>,
    answer: Box<Call>,
}

impl Contender {
    /// Creates a contender from a function that is timed and one that is checked. The macro `contender!` makes both from one
    /// expression.
    pub fn new(
        name: impl ToString,
        idiom: &'static str,
        role: Role,
        pass: impl Fn(&[&str], &mut Buffers) + 'static,
        answer: impl Fn(&str, &mut Buffers) -> Option<Vec<u8>> + 'static,
    ) -> Contender {
        Contender { name: name.to_string(), idiom, role, pass: Box::new(pass), answer: Box::new(answer) }
    }

    /// Calls the library once for each of `strings`, in order, or once for all of them ([`Shape::Values`](crate::Shape::Values)).
    pub fn pass(&self, strings: &[&str], buffers: &mut Buffers) {
        (self.pass)(strings, buffers);
    }

    /// Returns the answer to `input`, or `None` if the library rejects the input or panics.
    pub fn answer(&self, input: &str, buffers: &mut Buffers) -> Option<Vec<u8>> {
        catch_unwind(AssertUnwindSafe(|| (self.answer)(input, buffers))).ok().flatten()
    }
}

/// Creates a contender from an expression, which is compiled into the loop that is timed and into the call that is checked.
#[macro_export]
macro_rules! contender {
    ($role:expr, $name:expr, $idiom:literal, |$input:ident, $buffers:ident| $call:expr) => {
        $crate::Contender::new(
            $name,
            $idiom,
            $role,
            move |strings: &[&str], $buffers: &mut $crate::Buffers| {
                $crate::place::align_code();
                for &$input in strings {
                    let answer = $call;
                    let bytes = $crate::Answer::bytes(&answer);
                    std::hint::black_box(bytes.map(|bytes| (bytes.as_ptr(), bytes.len())));
                }
            },
            move |$input: &str, $buffers: &mut $crate::Buffers| {
                $crate::Answer::bytes(&$call).map(<[u8]>::to_vec)
            },
        )
    };
}
