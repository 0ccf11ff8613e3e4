//! Tests how often functions allocate. Functions that return a `Cow` never do if nothing changes, and otherwise do once;
//! with memory of the caller, functions allocate nothing.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::hint::black_box;

use simdpct::stream::{Encoder, TryDecoder};
use simdpct::{Decode, Encode, OnInvalidUtf8, sets};

/// The allocator of the system, with a count of the allocations of the calling thread.
struct Counting;

thread_local! {
    /// The number of allocations and reallocations of this thread, and the size of the last one in bytes.
    static COUNT: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
}

fn note(size: usize) {
    // `try_with` fails if the thread is ending and its counter is already gone. No test reads the counter then.
    let _ = COUNT.try_with(|count| count.set((count.get().0 + 1, size)));
}

// SAFETY: every call is passed on unchanged to `System`; counting neither allocates nor unwinds.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note(layout.size());
        // SAFETY: the caller keeps the contract of `GlobalAlloc::alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        note(layout.size());
        // SAFETY: the caller keeps the contract of `GlobalAlloc::alloc_zeroed`.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, old: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        note(size);
        // SAFETY: the caller keeps the contract of `GlobalAlloc::realloc`.
        unsafe { System.realloc(old, layout, size) }
    }

    unsafe fn dealloc(&self, old: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of `GlobalAlloc::dealloc`.
        unsafe { System.dealloc(old, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Returns the number of allocations that `run` makes, and the size of the last one.
fn count<T>(run: impl FnOnce() -> T) -> (usize, usize) {
    // The tier is chosen in advance, because choosing it reads the environment, which allocates.
    black_box(simdpct::Tier::active());
    COUNT.set((0, 0));
    black_box(run());
    COUNT.get()
}

/// Fails unless `run` makes no allocation.
macro_rules! none {
    ($($run:expr),* $(,)?) => { $(assert_eq!(count(|| $run).0, 0, "{}", stringify!($run));)* };
}

/// Fails unless `run` makes exactly one allocation, of `size` bytes.
macro_rules! one {
    ($size:expr, $($run:expr),* $(,)?) => { $(assert_eq!(count(|| $run), (1, $size), "{}", stringify!($run));)* };
}

/// A writer that discards its text.
struct Nowhere;

impl std::fmt::Write for Nowhere {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        black_box(text);
        Ok(())
    }
}

const LENGTHS: [usize; 8] = [1, 5, 40, 64, 65, 200, 3000, 100_000];
const SET: simdpct::AsciiSet = sets::RFC3986_UNRESERVED;

#[test]
fn the_counter_counts() {
    assert_eq!(count(|| Vec::<u8>::with_capacity(10)), (1, 10));
    assert_eq!(count(|| vec![0u8; 10]), (1, 10));
}

#[test]
fn clean_input_is_borrowed() {
    for len in LENGTHS {
        let clean = "a".repeat(len);
        let kept = "%2F".repeat(len);
        none!(
            simdpct::encode(&clean),
            Encode::keeping(SET.to_byte_set()).encode(&clean),
            Encode::keeping(SET).keep_escapes().encode(&kept),
            simdpct::form::encode(&clean),
            simdpct::decode(&clean),
            Decode::new().strict().decode(&clean),
            simdpct::decode_utf8(&clean),
            simdpct::decode_utf8_lossy(&clean),
            Decode::new().decode_utf8_with(&clean, OnInvalidUtf8::Keep),
            Decode::new().keep(simdpct::ByteSet::ALL).decode(&kept),
            simdpct::form::decode(&clean),
            simdpct::normalize(&kept),
            Decode::NORMALIZE.decode_utf8(&kept),
        );
    }
}

#[test]
fn other_input_takes_one_allocation_of_the_exact_size() {
    for len in LENGTHS {
        let text = "a ".repeat(len);
        let escaped = "a%20".repeat(len);
        let spelt = "%2f%41".repeat(len);
        one!(4 * len, simdpct::encode(&text), Encode::keeping(SET.to_byte_set()).encode(&text));
        one!(4 * len, Encode::keeping(SET).keep_escapes().encode(&text));
        one!(2 * len, simdpct::form::encode(&text));
        one!(2 * len, simdpct::decode(&escaped), Decode::new().strict().decode(&escaped));
        one!(2 * len, simdpct::decode_utf8(&escaped), simdpct::decode_utf8_lossy(&escaped));
        one!(
            2 * len,
            Decode::new().decode_utf8_with(&escaped, OnInvalidUtf8::Keep),
            simdpct::form::decode(&escaped)
        );
        one!(4 * len, simdpct::normalize(&spelt), Decode::NORMALIZE.decode_utf8(&spelt));
    }
}

#[test]
fn a_reused_buffer_is_not_reallocated() {
    for len in LENGTHS {
        let text = "a \u{e9}".repeat(len);
        let escaped = "a%20".repeat(len);
        let mut out = Vec::new();
        let mut string = String::new();
        for round in 0..4 {
            let allocations = count(|| {
                out.clear();
                simdpct::encode_append(&text, &mut out);
                out.clear();
                simdpct::decode_append(&escaped, &mut out);
                out.clear();
                Decode::NORMALIZE.decode_append(&escaped, &mut out);
                string.clear();
                simdpct::encode_append(&text, &mut string);
            });
            assert!(round == 0 || allocations.0 == 0, "{len}: {} in round {round}", allocations.0);
        }
    }
}

#[test]
fn appending_to_a_new_buffer_allocates_once() {
    for len in LENGTHS {
        let (text, escaped) = ("a \u{e9}".repeat(len), "a%20".repeat(len));
        let once = |run: &dyn Fn(&mut Vec<u8>)| {
            let allocations = count(|| {
                let mut out = Vec::new();
                run(&mut out);
                out
            });
            assert_eq!(allocations.0, 1, "{len}");
        };
        once(&|out| simdpct::encode_append(&text, out));
        once(&|out| simdpct::decode_append(&escaped, out));
        once(&|out| Decode::NORMALIZE.decode_append(&escaped, out));
    }
}

/// Checks that the capacity of a new buffer after an append is at most ten times the length of the input, or 8 bytes.
#[test]
fn a_short_part_takes_little_memory() {
    for len in 1..=100 {
        let (mut text, mut bytes) = (String::new(), Vec::new());
        simdpct::encode_append(&" ".repeat(len), &mut text);
        simdpct::decode_append(&"a".repeat(len), &mut bytes);
        assert!(text.capacity() <= (10 * len).min(256).max(3 * len).max(8), "{len}: {}", text.capacity());
        assert!(bytes.capacity() <= (4 * len).min(64).max(len).max(8), "{len}: {}", bytes.capacity());
    }
    // Many short appends reallocate rarely, because the buffer grows by a factor.
    let mut text = String::new();
    let allocations = count(|| (0..10_000).for_each(|_| simdpct::encode_append("a b", &mut text)));
    assert!(allocations.0 < 20, "{} allocations", allocations.0);
}

#[test]
fn owned_input_is_given_back() {
    for len in LENGTHS {
        let (clean, kept) = ("a".repeat(len), "%2F".repeat(len));
        let encode = Encode::keeping(SET);
        let (a, b, c, d) =
            (clean.clone(), clean.clone().into_bytes(), clean.clone(), clean.clone().into_bytes());
        none!(encode.encode_owned(a), encode.encode_owned(b));
        none!(Decode::new().decode_utf8_owned(c).unwrap(), Decode::new().decode_owned(d));
        let (a, b) = (kept.clone(), "a%20".repeat(len).into_bytes());
        none!(Decode::NORMALIZE.strict().decode_utf8_owned(a).unwrap());
        // An owned vector is decoded in its own memory.
        none!(Decode::new().decode_owned(b));
    }
}

#[test]
fn slices_and_questions_allocate_nothing() {
    for len in LENGTHS {
        let text = "a \u{e9}".repeat(len);
        let mut escaped = "a%2f%41".repeat(len).into_bytes();
        let mut out = vec![0; 3 * text.len() + escaped.len()];
        none!(
            simdpct::encode_to_slice(&text, &mut out),
            simdpct::decode_to_slice(&escaped, &mut out),
            Decode::NORMALIZE.decode_to_slice(&escaped, &mut out),
            Encode::keeping(SET).encoded_len(&text),
            Decode::NORMALIZE.decoded_len(&escaped),
            Encode::keeping(SET).first_change(&text),
            Encode::keeping(SET).is_encoded(&text),
            Decode::new().first_change(&escaped),
            Decode::NORMALIZE.is_decoded(&escaped),
            std::fmt::Write::write_fmt(&mut Nowhere, format_args!("{}", Encode::keeping(SET).display(&text))),
            simdpct::validate(&escaped),
            simdpct::count(&escaped),
            simdpct::escapes(&escaped).count(),
            simdpct::equivalent(&escaped, &text),
            Decode::NORMALIZE.decode_in_place(&mut escaped),
            simdpct::decode_in_place(&mut escaped),
        );
    }
}

#[test]
fn streams_allocate_nothing_of_their_own() {
    let (text, escaped) = ("a %4".repeat(5000), "a%20".repeat(5000));
    let mut out = Vec::with_capacity(100_000);
    none!({
        let mut encoder = Encoder::new(Encode::keeping(SET).keep_escapes());
        for piece in text.as_bytes().chunks(777) {
            encoder.push(piece, &mut out);
        }
        encoder.finish(&mut out);
    });
    out.clear();
    none!({
        let mut decoder = TryDecoder::new(Decode::new().strict());
        escaped.as_bytes().chunks(777).for_each(|piece| decoder.push(piece, &mut out).unwrap());
        decoder.finish(&mut out).unwrap();
    });
}
