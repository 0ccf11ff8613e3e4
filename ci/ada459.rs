//! Decodes a file repeatedly with the algorithm of ada#459 on NEON, for `ci/cpus count`.
//!
//! ```text
//! ada459 FILE REPEATS
//! ```

use std::hint::black_box;

#[path = "../benches/compare/src/algorithms/ada459.rs"]
mod ada459;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let input = std::fs::read(&arguments[1]).expect("a file");
    let repeats: usize = arguments[2].parse().expect("a number of repeats");
    let mut out = Vec::with_capacity(input.len() + 64);
    let mut written = 0;
    for _ in 0..repeats {
        // SAFETY: Every aarch64 CPU has NEON. The vector is empty, and its capacity is at least 64 bytes more than the length of `input`.
        written += unsafe { ada459::decode_neon(black_box(&input), out.spare_capacity_mut()) };
    }
    println!("{written}");
}
