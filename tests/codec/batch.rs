//! Many values at once: each as if it were alone, whatever its neighbours are.

use simdpct::batch::{Column, Offset, Values};
use simdpct::{ByteSet, Decode, Encode, sets};

use crate::common::check::{Decoding, Encoding};
use crate::common::columns;
use crate::common::oracle::{self, Rule};
use crate::common::shapes::{Rng, SHAPES};
use crate::common::tiers::{exhaustive, runs};

/// Pieces of every shape that add up to `count` values, of which many are empty, short or cut inside an escape.
fn values(count: usize, longest: usize, rng: &mut Rng) -> (Vec<u8>, Vec<i32>) {
    let (mut bytes, mut offsets) = (Vec::new(), vec![0]);
    while offsets.len() <= count {
        let (_, shape) = SHAPES[rng.below(SHAPES.len())];
        let len = rng.below(longest);
        bytes.extend(shape(len, rng));
        let end = bytes.len() as i32;
        // Ends in the middle, more often than not close to each other.
        let mut at = *offsets.last().unwrap();
        while at < end && offsets.len() < count {
            at = (at + [0, 1, 2, 3, 5, 62, 64, 200][rng.below(8)]).min(end);
            offsets.push(at);
        }
        offsets.push(end);
    }
    (bytes, offsets)
}

/// The columns of all tests: few and many values, short and long.
fn for_all(mut each: impl FnMut(&[u8], &[i32])) {
    let mut rng = Rng(11);
    for round in 0..150 {
        let (count, longest) = [(1, 200), (3, 70), (20, 300), (700, 100), (3, 40_000)][round % 5];
        let (bytes, offsets) = values(count, longest, &mut rng);
        if round < 5 || runs(round) {
            each(&bytes, &offsets);
            // Bytes before the first value and behind the last belong to nobody.
            let inner = &offsets[offsets.len() / 3..offsets.len() - offsets.len() / 3];
            each(&bytes, inner);
        }
    }
}

#[test]
fn encode() {
    let unreserved = oracle::members(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~");
    for rule in [Rule::Plain, Rule::KeepEscapes, Rule::Form] {
        for members in [unreserved, Rng(12).members()] {
            let encoding = Encoding { members, rule, upper: rule != Rule::Form };
            for_all(|bytes, offsets| columns::encode(&encoding, bytes, offsets));
        }
    }
}

#[test]
fn decode() {
    let delimiters = oracle::members(b"/?#%\r\n\0");
    for decoding in [Decoding::ALL, Decoding::FORM, Decoding::NORMALIZE, Decoding::keeping(delimiters)] {
        for_all(|bytes, offsets| columns::decode(&decoding, bytes, offsets));
    }
}

#[test]
fn decode_strict() {
    for_all(columns::decode_strict);
}

fn one_type<O: Offset + PartialEq + std::fmt::Debug + TryFrom<u64, Error: std::fmt::Debug>>() {
    let offsets: Vec<O> = [0, 3, 3, 4].map(|offset: u64| offset.try_into().unwrap()).into();
    let mut column = Column::new();
    let values = Values::new(b"a b/", &offsets).unwrap();
    Encode::keeping(sets::RFC3986_UNRESERVED).values(values, &mut column).unwrap();
    assert_eq!(column.bytes(), b"a%20b%2F");
    let ends: Vec<O> = [0, 5, 5, 8].map(|offset: u64| offset.try_into().unwrap()).into();
    assert_eq!(column.offsets(), ends);
    assert_eq!((column.get(0), column.get(1), column.get(3)), (Some(&b"a%20b"[..]), Some(&b""[..]), None));
    let mut back = Column::new();
    Decode::new().values(column.values(), &mut back).unwrap();
    assert_eq!(back.bytes(), b"a b/");
    assert_eq!(back.offsets(), offsets);
}

#[test]
fn every_type_of_offset() {
    one_type::<i32>();
    one_type::<i64>();
    one_type::<u32>();
    one_type::<u64>();
}

#[test]
fn columns_are_appended_to() {
    let encode = Encode::keeping(ByteSet::EMPTY);
    let mut column = Column::new();
    for offsets in [[0_i32, 1], [1, 2]] {
        encode.values(Values::new(b"ab", &offsets).unwrap(), &mut column).unwrap();
    }
    assert_eq!((column.bytes(), column.offsets()), (&b"%61%62"[..], &[0, 3, 6][..]));
    column.clear();
    assert!(column.is_empty());
    assert_eq!(column.offsets(), [0]);
}

#[test]
fn bad_offsets_are_refused() {
    let index = |offsets: &[i32]| Values::new(b"abc", offsets).map(|_| ()).map_err(|error| error.index);
    assert_eq!(index(&[]), Err(0));
    assert_eq!(index(&[-1, 2]), Err(0));
    assert_eq!(index(&[0, 2, 1]), Err(2));
    assert_eq!(index(&[0, 4]), Err(1));
    assert_eq!(index(&[3, 3]), Ok(()));
}

#[test]
fn offsets_that_are_too_narrow_are_refused() {
    // An `i32` says no more than 2 GiB, and it takes that much to see it.
    if !exhaustive() || cfg!(target_pointer_width = "32") {
        return;
    }
    let bytes = vec![b' '; 1 << 20];
    let offsets: Vec<i32> = vec![0, 1 << 20];
    let values = Values::new(&bytes, &offsets).unwrap();
    let encode = Encode::keeping(ByteSet::EMPTY);
    let mut column = Column::<i32>::new();
    for _ in 0..682 {
        encode.values(values, &mut column).unwrap();
    }
    let whole = column.bytes().len();
    assert_eq!(encode.values(values, &mut column).unwrap_err().index, 0);
    assert_eq!((column.len(), column.bytes().len()), (682, whole), "the column is as it was");
}
