//! Reads records of every syntax and log format, and checks that values can be written back and replaced.

#![no_main]
#![allow(dead_code, reason = "the tests of the crate use more of these modules")]

/// The checks are those of the tests of `simdpct-records`. Here, the fuzzer chooses the records and the values.
#[path = "../../crates/records/tests/common"]
mod common {
    pub mod cases;
    pub mod lines;
    pub mod links;

    /// A source of choices: the bytes of the fuzzer, and zeros after them.
    pub struct Random<'a>(pub &'a [u8]);

    impl<'a> Random<'a> {
        pub fn next(&mut self) -> u64 {
            self.0.split_off_first().copied().unwrap_or_default().into()
        }

        pub fn below(&mut self, count: usize) -> usize {
            let high = if count > 0x100 { self.next() << 8 } else { 0 };
            (high | self.next()) as usize % count
        }

        pub fn pick<'b, T: ?Sized>(&mut self, of: &[&'b T]) -> &'b T {
            of[self.below(of.len())]
        }

        /// Returns the next `count` bytes, or all if there are fewer.
        pub fn bytes(&mut self, count: usize) -> &'a [u8] {
            self.0.split_off(..count.min(self.0.len())).unwrap_or_default()
        }

        /// Returns a value made of fragments and bytes, without the bytes of `without`.
        pub fn value(&mut self, without: &[u8]) -> Vec<u8> {
            let mut value = Vec::new();
            for _ in 0..self.below(6) {
                match self.below(2 * lines::FRAGMENTS.len()) {
                    number if number < lines::FRAGMENTS.len() => {
                        value.extend_from_slice(lines::FRAGMENTS[number])
                    }
                    len => value.extend_from_slice(self.bytes(len - lines::FRAGMENTS.len())),
                }
            }
            value.retain(|byte| !without.contains(byte));
            value
        }
    }
}

use std::sync::LazyLock;

use common::{Random, cases, lines, links};
use libfuzzer_sys::fuzz_target;
use simdpct_records::{Log, Spec, Wrapper};

/// Every log format with lines that the tests can write.
static LOGS: LazyLock<Vec<Log>> = LazyLock::new(|| {
    Log::all().filter(|log| log.layout.name != "cdx" && !log.writer.name.is_empty()).collect()
});

/// Reads a record in any format. Reads a line before the record first, because this line can be a header.
fn any(random: &mut Random<'_>) {
    let logs: Vec<Log> = Log::all().collect();
    let spec = Spec {
        wrapper: [None, Some(Wrapper::Cri), Some(Wrapper::Docker), Some(Wrapper::Syslog)][random.below(4)],
        log: Some(logs[random.below(logs.len())]),
    };
    let log = spec.log.expect("a format");
    let text = random.bytes(random.0.len() * 3 / 4);
    let (header, record) = match memchr::memchr(b'\n', text) {
        Some(end) => (Some(&text[..end]), &text[end + 1..]),
        None => (None, text),
    };
    let record: Vec<u8> = record.iter().copied().filter(|&byte| byte != b'\n').collect();
    let mut places = Vec::new();
    let mut syntax = lines::syntax(log, spec.wrapper, None);
    if let Some(header) = header {
        let _ = syntax.find(header, &mut Vec::new());
    }
    let result = syntax.find(&record, &mut places);
    assert!(result.is_ok_and(|()| true) || result.is_err_and(|error| error.offset <= record.len()));
    for place in &places {
        let value = lines::value(place, &record);
        assert!((0..=value.len()).map(|offset| place.origin(&record, offset)).is_sorted());
    }
    lines::rewrite(random, log, &syntax, &record, &places);
}

fuzz_target!(|input: &[u8]| {
    let mut random = Random(input);
    match random.below(4) {
        0 => {
            let log = LOGS[random.below(LOGS.len())];
            lines::check(&mut random, log);
        }
        1 => any(&mut random),
        2 => drop(links::check(&mut random)),
        _ => {
            let mut cases = cases::all();
            let mut case = cases.swap_remove(random.below(cases.len()));
            let record = match random.below(2) {
                0 => case.record(&mut random),
                _ => random.bytes(random.0.len() / 2).to_vec(),
            };
            cases::check(&mut random, &mut case, &record, &mut cases::Counts::default());
        }
    }
});
