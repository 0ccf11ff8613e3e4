//! What the fuzz targets make of fuzzed bytes, for the checks of the test kit.

use std::cell::RefCell;

use arbitrary::Arbitrary;

use testkit::check::{Checker, Decoding, Encoding};
use testkit::guard::Place;
use testkit::oracle::{self, Members, Rule};

/// A set: few bytes added to or taken from a usual one, or any.
#[derive(Arbitrary, Debug)]
pub enum Set<'a> {
    /// The named set of this number, modulo their count.
    Named(u8),
    /// These bytes.
    Of(&'a [u8]),
    /// All but these bytes.
    AllBut([u8; 3]),
    /// Any set, as a bitmap.
    Bitmap([u8; 32]),
}

impl Set<'_> {
    /// Its members.
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

/// An encoding.
#[derive(Arbitrary, Debug)]
pub struct FuzzedEncoding<'a> {
    set: Set<'a>,
    rule: u8,
    upper: bool,
}

impl FuzzedEncoding<'_> {
    /// In the words of the oracle.
    pub fn encoding(&self) -> Encoding {
        let rule = [Rule::Plain, Rule::KeepEscapes, Rule::Form][usize::from(self.rule % 3)];
        Encoding { members: self.set.members(), rule, upper: self.upper }
    }
}

/// A decoding.
#[derive(Arbitrary, Debug)]
pub enum FuzzedDecoding<'a> {
    /// Every escape.
    All,
    /// All but the escapes of a set.
    Keep(Set<'a>, bool),
    /// Every escape, and `+`.
    Form,
}

impl FuzzedDecoding<'_> {
    /// In the words of the oracle.
    pub fn decoding(&self) -> Decoding {
        match self {
            FuzzedDecoding::All => Decoding::ALL,
            FuzzedDecoding::Keep(set, plus) => Decoding { plus: *plus, ..Decoding::keeping(set.members()) },
            FuzzedDecoding::Form => Decoding::FORM,
        }
    }
}

/// Where a slice lies: flush against a guard page, or a few bytes from one.
pub fn place(place: u8) -> Place {
    let by = usize::from(place / 4);
    match place % 4 {
        0 => Place::End(0),
        1 => Place::Start(0),
        2 => Place::End(by),
        _ => Place::Start(by),
    }
}

/// Lends the checker of this thread.
pub fn with_checker(run: impl FnOnce(&mut Checker)) {
    thread_local! {
        static CHECKER: RefCell<Checker> = RefCell::new(Checker::new());
    }
    CHECKER.with_borrow_mut(run);
}
