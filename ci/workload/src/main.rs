//! Runs one verb on one tier repeatedly over generated text, for tools that count instructions.
//!
//! ```text
//! workload TIER encode|decode|normalize clean|url|dense BYTES REPEATS
//! ```
//!
//! Each repeat processes 64 KiB of input, in calls of BYTES each. The difference between two numbers of repeats is the cost of
//! the verb without start-up. `ci/cpus count` uses this program.

use std::process::ExitCode;

use simdpct::{Decode, Encode, Tier, sets};

const TOTAL: usize = 65536;

/// Returns the same text on every run: letters, and `per_cent` bytes that are escaped.
fn text(per_cent: u32) -> Vec<u8> {
    let mut state = 1u32;
    let mut below = |n: u32| {
        // This is a linear congruential generator. Its upper bits are random enough for text.
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 16) % n
    };
    let mut text = Vec::with_capacity(TOTAL);
    while text.len() < TOTAL {
        let bytes = if below(100) < per_cent { b" /?&=:#\xC3\xA9" } else { b"aetoinsr9" };
        text.push(bytes[below(9) as usize]);
    }
    text
}

fn run(args: &[String]) -> Option<usize> {
    let [tier, verb, kind, bytes, repeats] = args else { return None };
    let tier = Tier::find(tier)?;
    let per_cent = match kind.as_str() {
        "clean" => 0,
        "url" => 11,
        "dense" => 100,
        _ => return None,
    };
    let bytes: usize = bytes.parse().ok().filter(|&bytes| bytes > 0)?;
    let repeats: usize = repeats.parse().ok()?;
    let mut input = text(per_cent);
    let encode = Encode::keeping(sets::RFC3986_UNRESERVED).tier(tier);
    if verb != "encode" {
        input = encode.encode(&input).into_owned().into_bytes();
        input.truncate(TOTAL);
    }
    let mut out = vec![0; 3 * bytes + 256];
    let mut written = 0;
    for _ in 0..repeats {
        for call in input.chunks(bytes) {
            written += match verb.as_str() {
                "encode" => encode.encode_to_slice(call, &mut out).ok()?,
                "decode" => Decode::new().tier(tier).decode_to_slice(call, &mut out).ok()?,
                "normalize" => Decode::NORMALIZE.tier(tier).decode_to_slice(call, &mut out).ok()?,
                _ => return None,
            };
        }
    }
    Some(written)
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match run(&args) {
        Some(written) => {
            println!("{written}");
            ExitCode::SUCCESS
        }
        None => {
            eprintln!(
                "usage: workload TIER encode|decode|normalize clean|url|dense BYTES REPEATS; this CPU has the tiers:"
            );
            Tier::available().for_each(|tier| eprintln!("  {tier}"));
            ExitCode::FAILURE
        }
    }
}
