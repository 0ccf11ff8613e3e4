//! This library as a contender, and the expected answers of all contenders.

use std::cell::RefCell;
use std::collections::HashMap;
use std::hint::black_box;

use simdpct::batch::{Column, ColumnBuf, TooLong};
use simdpct::{Decode, Encode, Tier, sets};

use crate::rivals::COMPONENT;
use crate::{Buffers, Contender, Role, Shape, Verb, contender, place};

/// Returns this library on `tier` as a contender that is called in the way of `shape`.
pub fn ours(verb: Verb, shape: Shape, tier: Tier, role: Role) -> Contender {
    match verb {
        Verb::Encode => encoder(shape, tier, role),
        Verb::Decode => decoder(shape, tier, role),
    }
}

fn encoder(shape: Shape, tier: Tier, role: Role) -> Contender {
    let encode = Encode::keeping(sets::RFC3986_UNRESERVED).tier(tier);
    match shape {
        Shape::Values => {
            batch(tier, role, "Encode::encode_column", move |values, out| encode.encode_column(values, out))
        }
        Shape::Slice => contender!(role, tier, "Encode::encode_to_slice", |input, buffers| {
            encode.encode_to_slice(input, &mut buffers.ready).map(|written| &buffers.ready[..written])
        }),
        Shape::Cow => contender!(role, tier, "Encode::encode", |input, _buffers| encode.encode(input)),
        Shape::Fresh => {
            contender!(role, tier, "Encode::encode_append to a new Vec", |input, _buffers| {
                let mut fresh = Vec::new();
                encode.encode_append(input, &mut fresh);
                fresh
            })
        }
        _ => contender!(role, tier, "Encode::encode_append", |input, buffers| {
            buffers.text.clear();
            encode.encode_append(input, &mut buffers.text);
            &buffers.text
        }),
    }
}

fn decoder(shape: Shape, tier: Tier, role: Role) -> Contender {
    let decode = match shape {
        Shape::Normalize => Decode::NORMALIZE,
        Shape::Keep => Decode::new().keep(sets::RFC3986_RESERVED.to_byte_set()),
        _ => Decode::new(),
    };
    let decode = decode.tier(tier);
    let strict = decode.strict();
    match shape {
        Shape::Values => {
            batch(tier, role, "Decode::decode_column", move |values, out| decode.decode_column(values, out))
        }
        Shape::Slice => contender!(role, tier, "Decode::decode_to_slice", |input, buffers| {
            decode.decode_to_slice(input, &mut buffers.ready).map(|written| &buffers.ready[..written])
        }),
        Shape::Cow => contender!(role, tier, "Decode::decode", |input, _buffers| decode.decode(input)),
        Shape::Fresh => {
            contender!(role, tier, "Decode::decode_append to a new Vec", |input, _buffers| {
                let mut fresh = Vec::new();
                decode.decode_append(input, &mut fresh);
                fresh
            })
        }
        Shape::Strict => contender!(role, tier, "Decode::decode_append, strict", |input, buffers| {
            buffers.bytes.clear();
            strict.decode_append(input, &mut buffers.bytes).map(|()| &buffers.bytes)
        }),
        _ => contender!(role, tier, "Decode::decode_append", |input, buffers| {
            buffers.bytes.clear();
            decode.decode_append(input, &mut buffers.bytes);
            &buffers.bytes
        }),
    }
}

/// Returns a contender that passes all strings in one call, as a column of a data engine.
fn batch(
    tier: Tier,
    role: Role,
    idiom: &'static str,
    verb: impl Fn(Column<'_, i32>, &mut ColumnBuf<i32>) -> Result<(), TooLong> + Clone + 'static,
) -> Contender {
    /// Concatenates the strings, at the offset of all inputs in a page. Also returns 0 and the end of each string.
    fn join(strings: &[&str]) -> (Vec<u8>, Vec<i32>) {
        let len = strings.iter().map(|string| string.len()).sum();
        let (mut bytes, mut offsets) = (place::at(len, place::INPUT), vec![0]);
        for string in strings {
            bytes.extend_from_slice(string.as_bytes());
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
        // The first pass also joins the strings, which does not change the median of the times. All passes share one copy, because two
        // copies would not fit in the second-level cache.
        move |strings: &[&str], _: &mut Buffers| {
            let (mut joined, mut out) = (joined.borrow_mut(), out.borrow_mut());
            let (bytes, offsets) =
                joined.entry((strings.as_ptr().addr(), strings.len())).or_insert_with(|| join(strings));
            let values = Column::new(bytes, offsets).expect("the offsets are those of the strings");
            out.clear();
            timed(values, &mut out).expect("a row is smaller than 2 GiB");
            black_box(out.bytes().len());
        },
        move |input: &str, _: &mut Buffers| {
            let (bytes, offsets) = join(&[input]);
            let mut out = ColumnBuf::new();
            verb(Column::new(&bytes, &offsets).ok()?, &mut out).ok()?;
            out.get(0).map(<[u8]>::to_vec)
        },
    )
}

/// Returns the right answer to `input`: the one of percent-encoding if that crate has the operation, otherwise the one of the
/// scalar tier.
pub fn expected(verb: Verb, shape: Shape, input: &str, buffers: &mut Buffers) -> Option<Vec<u8>> {
    match (verb, shape) {
        (Verb::Encode, _) => {
            Some(percent_encoding::utf8_percent_encode(input, COMPONENT).to_string().into_bytes())
        }
        (Verb::Decode, Shape::Append | Shape::Fresh | Shape::Slice | Shape::Cow | Shape::Values) => {
            Some(percent_encoding::percent_decode_str(input).collect())
        }
        (Verb::Decode, _) => {
            let scalar = Tier::find("scalar").expect("every machine has the scalar tier");
            ours(verb, shape, scalar, Role::Ours(scalar)).answer(input, buffers)
        }
    }
}
