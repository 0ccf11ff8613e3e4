//! Compares the operations on sets with those on 256 `bool`s, and encodes with the resulting set on every tier.

#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use simdpct::ByteSet;
use simdpct_fuzz::{Set, with_checker};
use testkit::check::{Encoding, byte_set};
use testkit::guard::Place;
use testkit::oracle::{self, Members, Rule};

#[derive(Arbitrary, Debug)]
enum Step<'a> {
    Add(&'a [u8]),
    Remove(&'a [u8]),
    Union(Set<'a>),
    Difference(Set<'a>),
    Intersection(Set<'a>),
    Complement,
}

impl Step<'_> {
    fn apply(&self, set: ByteSet, members: &Members) -> (ByteSet, Members) {
        let zip = |other: Members, both: fn(bool, bool) -> bool| {
            std::array::from_fn(|byte| both(members[byte], other[byte]))
        };
        match self {
            Step::Add(bytes) => (set.add(bytes), zip(oracle::members(bytes), |a, b| a || b)),
            Step::Remove(bytes) => (set.remove(bytes), zip(oracle::members(bytes), |a, b| a && !b)),
            Step::Union(other) => {
                let other = other.members();
                (set.union(byte_set(&other)), zip(other, |a, b| a || b))
            }
            Step::Difference(other) => {
                let other = other.members();
                (set.difference(byte_set(&other)), zip(other, |a, b| a && !b))
            }
            Step::Intersection(other) => {
                let other = other.members();
                (set.intersection(byte_set(&other)), zip(other, |a, b| a && b))
            }
            Step::Complement => (set.complement(), members.map(|member| !member)),
        }
    }
}

fuzz_target!(|case: (Set<'_>, Vec<Step<'_>>)| {
    let (start, steps) = case;
    let mut members = start.members();
    let mut set = byte_set(&members);
    for step in steps {
        (set, members) = step.apply(set, &members);
        let bytes = oracle::bytes(&members);
        assert!(set.iter().eq(bytes.iter().copied()), "{set:?} after {step:?}");
        assert_eq!((set.len(), set.is_empty()), (bytes.len(), bytes.is_empty()));
        assert_eq!((set.is_ascii(), set.to_ascii_set().is_some()), (bytes.is_ascii(), bytes.is_ascii()));
        assert!((0..=255u8).all(|byte| set.contains(byte) == members[usize::from(byte)]));
    }
    let all: Vec<u8> = (0..=255).collect();
    let encoding = Encoding { members, rule: Rule::Plain, upper: true };
    with_checker(|checker| checker.encode_with(set, &encoding, &all, Place::End(0)));
});
