//! Tests the exports with an allocator that fails: each export reports the failure, and works again afterwards.

#![cfg(not(target_family = "wasm"))]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

// The crate is not a Rust library, so this test includes its source.
#[path = "../src/lib.rs"]
mod module;

// SAFETY: these are functions of `module`, whose own module for URLs is private. They accept any length.
unsafe extern "C" {
    safe fn pct_encode_url(len: usize) -> i32;
    safe fn pct_decode_url(len: usize) -> i32;
    safe fn pct_decode_until_stable(len: usize, keep: i32, flags: u32) -> i32;
    safe fn pct_check(len: usize) -> i32;
    safe fn pct_split(len: usize) -> i32;
    safe fn pct_flaws(len: usize) -> i32;
}

/// The allocator of the system, except that an allocation fails if [`LEFT`] is 0 before it.
struct Failing;

thread_local! {
    /// The number of allocations before the one that fails.
    static LEFT: Cell<usize> = const { Cell::new(usize::MAX) };
}

fn fails() -> bool {
    // `try_with` fails if the thread is ending and its counter is already gone. Then no allocation fails.
    LEFT.try_with(|left| left.replace(left.get().wrapping_sub(1)) == 0).unwrap_or(false)
}

// SAFETY: every call is passed on unchanged to `System`, or returns null, which means that there is no memory; counting neither allocates
// nor unwinds.
unsafe impl GlobalAlloc for Failing {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the contract of `GlobalAlloc::alloc`.
        if fails() { std::ptr::null_mut() } else { unsafe { System.alloc(layout) } }
    }

    unsafe fn realloc(&self, old: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller keeps the contract of `GlobalAlloc::realloc`.
        if fails() { std::ptr::null_mut() } else { unsafe { System.realloc(old, layout, size) } }
    }

    unsafe fn dealloc(&self, old: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of `GlobalAlloc::dealloc`.
        unsafe { System.dealloc(old, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Failing = Failing;

/// The result of an operation: its code, and its output.
#[derive(Debug, PartialEq)]
struct Answer(i32, Vec<u8>);

/// Writes `input` to new buffers and runs `operation` on it. The allocation with the number `fail`, counted from 0, fails. Returns the
/// answer, and whether the operation made that allocation.
fn run(input: &[u8], operation: fn(usize) -> i32, fail: usize) -> (Answer, bool) {
    module::pct_release();
    let to = module::pct_input(input.len());
    // SAFETY: `pct_input` returned memory for the input, which is valid until the next call of it.
    unsafe { to.copy_from_nonoverlapping(input.as_ptr(), input.len()) };
    LEFT.set(fail);
    let code = operation(input.len());
    let made = LEFT.replace(usize::MAX) > fail;
    // SAFETY: the output has this length, and nothing writes to it before it is copied.
    let output = unsafe { std::slice::from_raw_parts(module::pct_output(), module::pct_output_length()) };
    (Answer(code, output.to_vec()), made)
}

/// A name, an operation that takes the length of the input, and the least number of its allocations.
type Operation = (&'static str, fn(usize) -> i32, usize);

const NO_MEMORY: i32 = -3;

#[test]
fn every_operation_reports_a_failed_allocation() {
    // The first use of the codec reads the environment, which allocates. So this use comes before allocations are
    // counted.
    std::hint::black_box(simdpct::Tier::active());
    let operations: &[Operation] = &[
        ("encode", |len| module::pct_encode(len, 0, 0), 1),
        ("encode --keep-escapes", |len| module::pct_encode(len, 0, 1), 1),
        ("encode --form", |len| module::pct_encode(len, 0, 2), 1),
        ("decode", |len| module::pct_decode(len, -1, 0), 1),
        ("decode, strict", |len| module::pct_decode(len, -1, 8), 1),
        ("decode, keeping a set", |len| module::pct_decode(len, 0, 2), 1),
        ("normalize", |len| module::pct_normalize(len), 1),
        ("not_utf8", |len| module::pct_not_utf8(len, -1, 0), 1),
        ("encode_url", |len| pct_encode_url(len), 1),
        ("decode_url", |len| pct_decode_url(len), 1),
        ("decode_until_stable", |len| pct_decode_until_stable(len, -1, 0), 1),
        ("check", |len| pct_check(len), 1),
        ("split", |len| pct_split(len), 1),
        ("flaws", |len| pct_flaws(len), 0),
        ("set_text, name", |_| module::pct_set_text(0, 0), 1),
        ("set_text, members", |_| module::pct_set_text(0, 1), 1),
        ("set_text, description", |_| module::pct_set_text(0, 4), 1),
        (
            "to_wide",
            |len| match module::pct_normalize(len) {
                code @ NO_MEMORY => code,
                _ => module::pct_to_wide(),
            },
            1,
        ),
    ];
    let unit = "http://u%41@h.example/a%252525%41%zz/\u{e9} %FF?a=b&%2F=%00#f|";
    for input in [2, 50, 2000].map(|times| unit.repeat(times)) {
        for &(name, operation, least) in operations {
            let (right, _) = run(input.as_bytes(), operation, usize::MAX - 1);
            let mut fail = 0;
            loop {
                let (answer, made) = run(input.as_bytes(), operation, fail);
                if !made {
                    assert_eq!(answer, right, "{name}");
                    break;
                }
                assert_eq!(answer.0, NO_MEMORY, "{name}, allocation {fail} of {} bytes", input.len());
                fail += 1;
            }
            assert!(fail >= least, "{name} allocates {fail} times");
        }
    }
    // Each call of `pct_set_add` defines another set and returns another number, so the loop above cannot test it.
    let defined = simdpct::sets::ALL.len() as i32;
    for (fail, answer) in [(0, NO_MEMORY), (usize::MAX - 1, defined)] {
        assert_eq!(run(b"~", |len| module::pct_set_add(-1, len), fail).0, Answer(answer, Vec::new()));
    }
    // The functions that return buffers return null if the allocation fails.
    module::pct_release();
    LEFT.set(0);
    assert!(module::pct_input(1000).is_null());
    LEFT.set(0);
    assert!(module::pct_wide(1000).is_null());
    LEFT.set(usize::MAX);
    assert!(!module::pct_input(1000).is_null() && !module::pct_wide(1000).is_null());
}
