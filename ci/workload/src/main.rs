//! Runs one verb on one tier repeatedly over generated text, for tools that count instructions.
//!
//! ```text
//! workload TIER encode|decode|normalize clean|url|dense BYTES REPEATS
//! workload TIER split|lines|PROFILE path|query BYTES REPEATS
//! ```
//!
//! The verb `input` writes the text that `decode` would read to stdout. Every run prints a count on stderr: of written bytes, or of the
//! bytes of paths for `split` and of lines for `lines`.
//!
//! Each repeat processes 64 KiB of input, in calls of BYTES each, or as lines with URLs of BYTES each. `split` has one call for each URL,
//! `lines` splits all URLs in one call, and a PROFILE of simdpct-uri canonicalizes all lines in one call. The difference between the
//! instructions of two runs with different REPEATS is the cost of the verb without start-up. `ci/cpus count` uses this program.

use std::hint::black_box;
use std::io::Write as _;
use std::process::ExitCode;

use simdpct::{Decode, Encode, Tier, sets};
use simdpct_uri::Lines;
use simdpct_uri::canon::Profile;
use simdpct_uri::internals::{canonicalize_lines_on, split_lines_on, split_on};

const TOTAL: usize = 65536;

/// Returns a function that returns a number below its argument: the same numbers on every run.
fn random() -> impl FnMut(u32) -> u32 {
    let mut state = 1u32;
    move |n| {
        // This is a linear congruential generator. Its upper bits are random enough for text.
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 16) % n
    }
}

/// Returns text of letters, in which `per_cent` of 100 bytes need an escape.
fn text(per_cent: u32) -> Vec<u8> {
    let mut below = random();
    let mut text = Vec::with_capacity(TOTAL);
    while text.len() < TOTAL {
        let bytes = if below(100) < per_cent { b" /?&=:#\xC3\xA9" } else { b"aetoinsr9" };
        text.push(bytes[below(9) as usize]);
    }
    text
}

/// Returns lines with URLs of `bytes` bytes each. Every profile that keeps schemes leaves these URLs unchanged.
fn urls(bytes: usize, with_query: bool) -> Option<Vec<u8>> {
    let mut below = random();
    let start = "https://www.example.com/";
    let query = if with_query { bytes - bytes.checked_sub(start.len())? / 3 } else { bytes };
    let mut text = Vec::with_capacity(TOTAL);
    for _ in 0..TOTAL / (bytes + 1) {
        text.extend_from_slice(start.as_bytes());
        text.extend((start.len()..bytes).map(|at| match at {
            _ if at == query => b'?',
            _ if at % 8 == 4 && at < query => b'/',
            _ if at % 16 == 12 => b'=',
            _ => b"aetoinsr"[below(8) as usize],
        }));
        text.push(b'\n');
    }
    Some(text)
}

/// Runs a verb of simdpct-uri. Returns `None` if there is no such verb or profile.
fn run_uri(tier: Tier, verb: &str, text: &[u8], bytes: usize, repeats: usize) -> Option<usize> {
    let (mut lines, mut out, mut work) = (Lines::new(), Vec::with_capacity(2 * TOTAL), 0);
    for _ in 0..repeats {
        work += match verb {
            "split" => text
                .chunks(bytes + 1)
                .map(|line| black_box(split_on(tier, &line[..bytes])).path().len())
                .sum(),
            "lines" => {
                split_lines_on(tier, text, &mut lines).ok()?;
                lines.len()
            }
            _ => {
                out.clear();
                canonicalize_lines_on(tier, Profile::find(verb)?, text, &mut out, |_, _| ());
                assert!(out == text, "the URLs are canonical");
                out.len()
            }
        };
    }
    Some(work)
}

fn run(args: &[String]) -> Option<usize> {
    let [tier, verb, kind, bytes, repeats] = args else { return None };
    let tier = Tier::find(tier)?;
    let bytes: usize = bytes.parse().ok().filter(|&bytes| bytes > 0)?;
    let repeats: usize = repeats.parse().ok()?;
    let per_cent = match kind.as_str() {
        "clean" => 0,
        "url" => 11,
        "dense" => 100,
        "path" | "query" => return run_uri(tier, verb, &urls(bytes, kind == "query")?, bytes, repeats),
        _ => return None,
    };
    let mut input = text(per_cent);
    let encode = Encode::keeping(sets::RFC3986_UNRESERVED).tier(tier);
    if verb != "encode" {
        input = encode.encode(&input).into_owned().into_bytes();
        input.truncate(TOTAL);
    }
    if verb == "input" {
        return std::io::stdout().write_all(&input).ok().map(|()| input.len());
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
            eprintln!("{written}");
            ExitCode::SUCCESS
        }
        None => {
            eprintln!("usage: workload TIER encode|decode|normalize clean|url|dense BYTES REPEATS");
            eprintln!(
                "       workload TIER split|lines|PROFILE path|query BYTES REPEATS; this CPU has the tiers:"
            );
            Tier::available().for_each(|tier| eprintln!("  {tier}"));
            ExitCode::FAILURE
        }
    }
}
