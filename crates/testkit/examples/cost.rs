//! Runs a verb (an operation) once on each of many inputs, for `ci/worst`, which counts the instructions of each call.
//!
//! `cost shapes LEN` writes one input of each kind to standard output, and `cost tiers 0` writes the tiers of this CPU.
//! `cost VERB TIER LEN` reads inputs of that length from standard input.

use std::hint::black_box;
use std::io::{Read, Write};

use simdpct::{Decode, Encode, Tier, sets};
use testkit::shapes::{Rng, SHAPES};

/// Performs the verb. `ci/worst` counts the instructions of this function, which it knows by its name.
#[inline(never)]
#[unsafe(no_mangle)]
fn measured(verb: &dyn Fn(&[u8]), input: &[u8]) {
    verb(black_box(input));
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let len: usize = arguments[arguments.len() - 1].parse().expect("a length");
    if arguments[0] == "shapes" {
        let mut rng = Rng(1);
        SHAPES
            .iter()
            .for_each(|(_, shape)| std::io::stdout().write_all(&shape(len, &mut rng)).expect("stdout"));
        return;
    }
    if arguments[0] == "tiers" {
        Tier::available().for_each(|tier| println!("{tier}"));
        return;
    }
    let tier = Tier::find(arguments[1]).expect("a tier of this CPU");
    let room = std::cell::RefCell::new(vec![0; 3 * len]);
    let text = std::cell::RefCell::new(String::with_capacity(3 * len));
    let encode = Encode::keeping(sets::RFC3986_UNRESERVED).tier(tier);
    let decode = Decode::new().tier(tier);
    let verb: &dyn Fn(&[u8]) = match arguments[0] {
        "encode" => &|input| _ = black_box(encode.encode_to_slice(input, &mut room.borrow_mut())),
        "encode-keeping" => {
            &|input| _ = black_box(encode.keep_escapes().encode_to_slice(input, &mut room.borrow_mut()))
        }
        "decode" => &|input| _ = black_box(decode.decode_to_slice(input, &mut room.borrow_mut())),
        "decode-strict" => {
            &|input| _ = black_box(decode.strict().decode_to_slice(input, &mut room.borrow_mut()))
        }
        "normalize" => &|input| {
            _ = black_box(Decode::NORMALIZE.tier(tier).decode_to_slice(input, &mut room.borrow_mut()))
        },
        "decode-text" => &|input| {
            text.borrow_mut().clear();
            _ = black_box(decode.decode_utf8_append(input, &mut text.borrow_mut()));
        },
        other => panic!("no verb {other}"),
    };
    let mut inputs = Vec::new();
    std::io::stdin().read_to_end(&mut inputs).expect("stdin");
    inputs.chunks_exact(len).for_each(|input| measured(verb, input));
}
