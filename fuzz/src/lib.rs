//! Conversions from fuzzed bytes to the arguments of the test kit's checks.

use std::cell::RefCell;

use arbitrary::Arbitrary;

use testkit::check::{Checker, Decoding, Encoding};
use testkit::guard::Place;
use testkit::oracle::{self, Members, Rule};

/// A set of bytes that the fuzzer chooses.
#[derive(Arbitrary, Debug)]
pub enum Set<'a> {
    /// The named set with this number, modulo the number of named sets.
    Named(u8),
    /// The set of these bytes.
    Of(&'a [u8]),
    /// The set of all bytes except these.
    AllBut([u8; 3]),
    /// The set with this bitmap: bit `b % 8` of byte `b / 8` is 1 if `b` is a member.
    Bitmap([u8; 32]),
}

impl Set<'_> {
    /// Returns the members of the set.
    pub fn members(&self) -> Members {
        let named = |index: usize| simdpct::sets::ALL[index % simdpct::sets::ALL.len()].set;
        match *self {
            Set::Named(index) => {
                let set = named(index.into());
                std::array::from_fn(|byte| set.contains(byte as u8))
            }
            Set::Of(bytes) => oracle::members(bytes),
            Set::AllBut(bytes) => std::array::from_fn(|byte| !bytes.contains(&(byte as u8))),
            Set::Bitmap(bits) => std::array::from_fn(|byte| bits[byte / 8] >> (byte % 8) & 1 == 1),
        }
    }
}

/// An encoding that the fuzzer chooses.
#[derive(Arbitrary, Debug)]
pub struct FuzzedEncoding<'a> {
    set: Set<'a>,
    rule: u8,
    upper: bool,
}

impl FuzzedEncoding<'_> {
    /// Converts the fuzzed encoding to the oracle's type.
    pub fn encoding(&self) -> Encoding {
        let rule = [Rule::Plain, Rule::KeepEscapes, Rule::Form][usize::from(self.rule % 3)];
        Encoding { members: self.set.members(), rule, upper: self.upper }
    }
}

/// A decoding that the fuzzer chooses.
#[derive(Arbitrary, Debug)]
pub enum FuzzedDecoding<'a> {
    /// Decodes every escape.
    All,
    /// Decodes all escapes except those of a set. If the flag is true, decodes `+` to a space, too.
    Keep(Set<'a>, bool),
    /// Decodes every escape, and `+` to a space.
    Form,
}

impl FuzzedDecoding<'_> {
    /// Converts the fuzzed decoding to the oracle's type.
    pub fn decoding(&self) -> Decoding {
        match self {
            FuzzedDecoding::All => Decoding::ALL,
            FuzzedDecoding::Keep(set, plus) => Decoding { plus: *plus, ..Decoding::keeping(set.members()) },
            FuzzedDecoding::Form => Decoding::FORM,
        }
    }
}

/// Returns the place of a slice: next to a guard page, or up to 63 bytes from one.
pub fn place(place: u8) -> Place {
    let by = usize::from(place / 4);
    match place % 4 {
        0 => Place::End(0),
        1 => Place::Start(0),
        2 => Place::End(by),
        _ => Place::Start(by),
    }
}

/// Calls `run` with the checker of this thread.
pub fn with_checker(run: impl FnOnce(&mut Checker)) {
    thread_local! {
        static CHECKER: RefCell<Checker> = RefCell::new(Checker::default());
    }
    CHECKER.with_borrow_mut(run);
}
