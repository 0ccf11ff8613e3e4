//! Tests that no value that a client sends can change where another value is found. Records with hostile values are written as each
//! writer writes them, and the places that are found are compared with those that were written.

mod common;

use common::Random;
use common::lines::{check, fields, same, syntax, value, wrap, write};
use simdpct_records::{Log, Rule, Shape, Syntax, WRITERS, Wrapper};

#[test]
fn no_value_shifts_another() {
    let scale = std::env::var("SIMDPCT_TEST_SCALE").map_or(100, |scale| scale.parse().unwrap_or(100));
    let count = 20 * scale;
    let logs = Log::all().filter(|log| !matches!(log.layout.name, "cdx") && !log.writer.name.is_empty());
    for (seed, log) in logs.enumerate() {
        let mut random = Random(seed as u64);
        let (mut found, mut missed) = (0, 0);
        for _ in 0..count {
            let (some, none) = check(&mut random, log);
            (found, missed) = (found + some, missed + none);
        }
        // A line of Envoy is ambiguous as soon as a value has the end of a request, and many of these values have it.
        let is_certain = log.writer.rule != Rule::WordsOrHeader || matches!(log.layout.shape, Shape::Json(_));
        assert!(found > if is_certain { missed } else { 0 }, "{}: {found} found, {missed} not", log.name());
    }
    assert!(WRITERS.len() > 20);
}

/// For a line of any writer, the format that names only the layout finds the value that was sent, or none.
#[test]
fn a_layout_without_a_writer_reads_only_what_all_writers_mean() {
    let count = 300;
    for (seed, log) in Log::all().filter(|log| matches!(log.layout.name, "combined" | "common")).enumerate() {
        let unknown = Log::named(log.layout.name).unwrap();
        // `Log::all` includes the formats of Hypercorn and Rack, which lose bytes.
        let mut random = Random(seed as u64 + 1000);
        for _ in 0..count {
            let written = write(&mut random, log);
            let mut places = Vec::new();
            let _ = syntax(unknown, None, None).find(&written.line, &mut places);
            for place in places.iter().filter(|_| !written.is_lossy) {
                let (_, _, sent) =
                    written.values.iter().find(|(field, ..)| *field == fields(unknown)[place.index]).unwrap();
                let shown = || format!("{} {}", log.name(), written.line.escape_ascii());
                same(&value(place, &written.line), sent, shown);
            }
        }
    }
}

/// A line with only the quotes of the layout is read by one rule. With a backslash after the known fields, every rule reads the line.
/// Checks that both ways give the same result.
#[test]
fn one_reading_of_a_line_without_a_backslash_is_that_of_all_rules() {
    let log = Log::named("combined").unwrap();
    let find = |line: &str| {
        let mut places = Vec::new();
        let result = syntax(log, None, None).find(line.as_bytes(), &mut places);
        (result.map_err(|error| error.reason), places)
    };
    let lead = "192.0.2.1 - - [10/Oct/2000:13:55:36 -0700] \"";
    let pieces =
        ["\"", "\" 200 5 \"", " - [10/Oct/2000:13:55:36 -0700] \"", "GET /a HTTP/1.1", "/b", "\" \"", " "];
    let mut read = 0;
    for number in 0..pieces.len().pow(6) {
        let piece = |at| pieces[number / pieces.len().pow(at) % pieces.len()];
        let line = format!("{lead}{}", (0..6).map(piece).collect::<String>());
        let (once, all) = (find(&line), find(&format!("{line} \\")));
        assert_eq!(once, all, "{line}");
        read += usize::from(once.0.is_ok() && line.matches('"').count() == 6);
    }
    assert!(read > 100, "{read}");
}

/// No text makes a reader panic, and every place is within the record.
#[test]
fn any_bytes_are_read_or_rejected() {
    let mut random = Random(7);
    for log in Log::all() {
        for _ in 0..300 {
            let mut line = match random.below(2) {
                0 => write(&mut random, log).line,
                _ => (0..random.below(8)).flat_map(|_| random.value(b"")).collect(),
            };
            for _ in 0..random.below(4) {
                let at = random.below(line.len() + 1);
                match random.below(3) {
                    0 => line.truncate(at),
                    1 => line.insert(at, random.next() as u8),
                    _ => drop(line.drain(at.min(line.len())..(at + random.below(9)).min(line.len()))),
                }
            }
            let wrapper =
                [None, Some(Wrapper::Cri), Some(Wrapper::Docker), Some(Wrapper::Syslog)][random.below(4)];
            let line =
                if random.below(2) == 0 || line.contains(&b'\n') { line } else { wrap(wrapper, &line) };
            let mut syntax = Syntax::log(log, wrapper, &log.layout.fields()).unwrap();
            let mut places = Vec::new();
            if let Err(error) = syntax.find(&line, &mut places) {
                assert!(error.offset <= line.len(), "{}: {error:?} {}", log.name(), line.escape_ascii());
            }
            for place in places {
                value(&place, &line);
                assert!(place.origin(&line, random.below(20)) <= line.len());
            }
        }
    }
}
