//! No value that a client sends can change where another value is found: records are written as each writer writes them, with hostile
//! values, and the places that are found are compared with those that were written.

mod common;

use std::ops::Range;

use common::Random;
use simdpct_records::{
    Access, Escaping, Field, Fields, Kind, Lead, Log, Part, Place, Reader, Rule, Shape, WRITERS, Wrapper,
};

const FIELDS: [Field; 6] =
    [Field::Target, Field::Query, Field::Referer, Field::Agent, Field::Host, Field::Redirect];

/// A record, and the values that were written into it.
#[derive(Default)]
struct Record {
    header: Option<&'static [u8]>,
    line: Vec<u8>,
    values: Vec<(Field, Range<usize>, Vec<u8>)>,
    /// A value that the writer has no way to write.
    is_lossy: bool,
}

impl Record {
    fn text(&mut self, text: &[u8]) {
        self.line.extend_from_slice(text);
    }

    fn value(&mut self, field: Option<Field>, escaping: Escaping, value: Vec<u8>) {
        let start = self.line.len();
        self.is_lossy |= escaping.apply(&value, &mut self.line).is_err();
        if let Some(field) = field {
            self.values.push((field, start..self.line.len(), value));
        }
    }
}

const LINE_ENDS: &[u8] = b"\r\n\0";

fn target(random: &mut Random, without: &[u8]) -> Vec<u8> {
    let mut target = b"/".to_vec();
    target.extend(random.value(without));
    target.extend(random.pick(&[b"x".as_slice(), b"/y"]));
    target
}

fn access(random: &mut Random, log: Log, layout: &Access) -> Record {
    let mut record = Record::default();
    let rule = log.writer.rule;
    let escaping = log.escaping();
    let has_words = matches!(rule, Rule::Words | Rule::WordsAfterUser);
    let has_user = !matches!(rule, Rule::Words | Rule::RequestEscaped);
    match layout.lead {
        Lead::Date => {
            if layout.word.is_some_and(|word| word.number == 0) {
                record.value(Some(Field::Host), Escaping::None, b"v.example:80".to_vec());
                record.text(b" ");
            }
            record.text(b"192.0.2.1 ");
            if log.layout.name == "accesslog" {
                record.value(Some(Field::Host), Escaping::None, b"h.example".to_vec());
                record.text(b" ");
            } else {
                record.text(b"- ");
            }
            // The name of a user in HTTP has no colon.
            let user = if has_user { random.value(b"\r\n\0:") } else { Vec::new() };
            if user.is_empty() && log.writer.name == "apache" {
                record.text(b"\"\"");
            }
            record.value(None, if rule == Rule::WordsAfterUser { Escaping::None } else { escaping }, user);
            record.text(b" [10/Oct/2000:13:55:36 -0700] \"");
        }
        Lead::Words(count) => {
            (0..count).for_each(|_| record.text(b"w "));
            record.text(b"\"");
        }
        Lead::Hyphen => record.text(b"INFO:     192.0.2.1:1 - \""),
        Lead::Haproxy => {
            record.text(
                b"192.0.2.2:4 [04/Aug/2020:20:06:14.613] f b/s 0/0/0/1/3 200 2 - - ---- 1/1/0/0/3 0/0 ",
            );
            if random.below(2) == 0 {
                record.text(b"{");
                let header = random.value(b"\r\n\0{}|");
                record.value(None, escaping, header);
                record.text(b"} ");
            }
            record.text(b"\"");
        }
    }
    record.text(random.pick(&[b"GET ".as_slice(), b"M-SEARCH ", b"X'!* "]));
    let target = target(random, if has_words { b"\r\n\0 " } else { LINE_ENDS });
    record.value(Some(Field::Target), escaping, target);
    record.text(match log.writer.name {
        "hypercorn" => b" 1.1\"",
        "daphne" => b"\"",
        _ => b" HTTP/1.1\"",
    });
    for part in layout.tail {
        match part {
            Part::Status => record.text(b" 200"),
            Part::Word => record.text(b" 17"),
            Part::QuotedWord(field) => {
                record.text(b" \"");
                record.value(*field, Escaping::None, b"http://r/".to_vec());
                record.text(b"\"");
            }
            Part::Quoted(field) => {
                record.text(b" \"");
                let value = random.value(LINE_ENDS);
                let escaping = if rule == Rule::RequestEscaped { Escaping::None } else { escaping };
                record.value(*field, escaping, value);
                record.text(b"\"");
            }
        }
    }
    if !layout.is_closed && rule == Rule::Escaped && random.below(2) == 0 {
        record.text(b" \"-\" 0.001 [x]");
    }
    record
}

fn json(random: &mut Random, log: Log, keys: &[simdpct_records::Key]) -> Record {
    let mut record = Record::default();
    let escaping = log.escaping();
    let key = &keys[random.below(keys.len())];
    record.text(b"{\"other\": \"");
    let other = random.value(LINE_ENDS);
    record.value(None, escaping, other);
    record.text(b"\"");
    let names: Vec<&str> = key.name.split('.').collect();
    record.text(b",");
    for (index, name) in names.iter().enumerate() {
        let open = if name.ends_with("[]") { "[" } else { "" };
        let brace = if index + 1 < names.len() { "{" } else { "" };
        record.text(format!("\"{}\":{open}{brace}", name.trim_end_matches("[]")).as_bytes());
    }
    record.text(b"\"");
    let value = random.value(LINE_ENDS);
    match key.holds {
        simdpct_records::Holds::Method => record.text(b"GET"),
        simdpct_records::Holds::Request => {
            record.text(b"GET ");
            let target = target(random, LINE_ENDS);
            record.value(Some(key.field), escaping, target);
            record.text(b" HTTP/1.1");
        }
        _ => record.value(Some(key.field), escaping, value),
    }
    record.text(b"\"");
    if key.name.contains("[]") {
        record.text(b"]");
    }
    (1..names.len()).for_each(|_| record.text(b"}"));
    record.text(b",\"n\":[1,{\"t\":true}]}");
    record
}

fn columns(random: &mut Random, log: Log) -> Record {
    let mut record = Record::default();
    let escaping = log.escaping();
    let tab = log.layout.name == "cloudfront";
    record.header = Some(if tab {
        b"#Fields: date\tcs-uri-stem\tcs-uri-query\tcs(Referer)\tcs(User-Agent)\tx"
    } else {
        b"#Fields: date cs-uri-stem cs-uri-query cs(Referer) cs(User-Agent) x"
    });
    let between: &[u8] = if tab { b"\t" } else { b" " };
    let is_quoted = matches!(escaping, Escaping::DoubledQuote | Escaping::TomcatW3c);
    record.text(b"2000-10-10");
    for field in [Field::Target, Field::Query, Field::Referer, Field::Agent] {
        record.text(between);
        match field {
            Field::Referer | Field::Agent if is_quoted => {
                record.text(b"\"");
                let value = random.value(LINE_ENDS);
                record.value(Some(field), escaping, value);
                record.text(b"\"");
            }
            // Blanks, and quotes at the start, are not written into these columns.
            _ => {
                let escaping = if is_quoted { Escaping::None } else { escaping };
                let without = if tab { LINE_ENDS } else { b"\r\n\0 \"\\" };
                let value = target(random, without);
                record.value(Some(field), escaping, value);
            }
        }
    }
    record.text(between);
    record.text(b"-");
    record
}

/// An entry of nginx's error log. Request lines that nginx understood and hosts have no blanks.
fn labels(random: &mut Random) -> Record {
    let mut record = Record::default();
    let value = |record: &mut Record, label: &[u8], field, value: Vec<u8>, end: &[u8]| {
        record.text(label);
        record.value(field, Escaping::None, value);
        record.text(end);
    };
    let message = random.value(LINE_ENDS);
    value(
        &mut record,
        b"2026/11/27 15:37:36 [error] 1#1: *1 open() \"/www",
        None,
        message,
        b"\" failed (2: x)",
    );
    record.text(b", client: 192.0.2.1, server: h.example");
    let path = target(random, b"\r\n\0 ");
    value(&mut record, b", request: \"GET ", Some(Field::Target), path, b" HTTP/1.1\"");
    if random.below(3) > 0 {
        let host = random.value(b"\r\n\0 ");
        value(&mut record, b", host: \"", Some(Field::Host), host, b"\"");
    }
    if random.below(3) > 0 {
        let referer = random.value(LINE_ENDS);
        value(&mut record, b", referrer: \"", Some(Field::Referer), referer, b"\"");
    }
    record
}

fn words(random: &mut Random, log: Log) -> Record {
    let mut record = Record::default();
    record.text(match log.layout.name {
        "squid" => b"1278000000.123      5 192.0.2.1 TCP_MISS/200 228 GET ",
        "tornado" => b"200 GET ",
        _ => b"GET ",
    });
    let target = target(random, LINE_ENDS);
    record.value(Some(Field::Target), log.escaping(), target);
    record.text(match log.layout.name {
        "squid" => b" - FIRSTUP_PARENT/192.0.2.9 text/html",
        "tornado" => b" (192.0.2.1) 0.57ms",
        _ => b" 200 - - 0.576 ms",
    });
    record
}

fn write(random: &mut Random, log: Log) -> Record {
    match &log.layout.shape {
        Shape::Access(layout) => access(random, log, layout),
        Shape::Json(keys) => json(random, log, keys),
        Shape::Columns(_) => columns(random, log),
        Shape::Labels => labels(random),
        Shape::Words(_) => words(random, log),
    }
}

/// Writes `line` as a logger does.
fn wrap(wrapper: Option<Wrapper>, line: &[u8]) -> Vec<u8> {
    let prefix: &[u8] = match wrapper {
        None => b"",
        Some(Wrapper::Cri) => b"2026-11-27T15:38:10.123456789Z stdout F ",
        Some(Wrapper::Syslog) => b"<134>Nov 27 15:38:10 web1 nginx[123]: ",
        Some(Wrapper::Docker) => {
            let mut out = b"{\"log\":\"".to_vec();
            let line = [line, b"\n"].concat();
            Escaping::Json.apply(&line, &mut out).unwrap();
            out.extend_from_slice(b"\",\"stream\":\"stdout\",\"time\":\"2026\"}");
            return out;
        }
    };
    [prefix, line].concat()
}

fn reader(log: Log, wrapper: Option<Wrapper>, header: Option<&[u8]>) -> Reader {
    let mut reader = Reader::new(log, wrapper, Fields::of(&FIELDS));
    if let Some(header) = header {
        reader.find(&wrap(wrapper, header), &mut Vec::new()).unwrap();
    }
    reader
}

fn value(place: &Place, record: &[u8]) -> Vec<u8> {
    let mut buffer = Vec::new();
    place.value(record, &mut buffer).unwrap().to_vec()
}

/// Checks one record. Returns the number of values that were found, and of those that were not.
fn check(random: &mut Random, log: Log) -> (usize, usize) {
    let written = write(random, log);
    if written.is_lossy {
        return (0, 0);
    }
    let wrappers = [None, Some(Wrapper::Cri), Some(Wrapper::Docker), Some(Wrapper::Syslog)];
    let wrapper = wrappers[random.below(4)];
    let record = wrap(wrapper, &written.line);
    let shown = || format!("{}: {}", log.name(), record.escape_ascii());
    let mut reader = reader(log, wrapper, written.header);
    let mut places = Vec::new();
    let result = reader.find(&record, &mut places);
    for place in &places {
        let (_, range, sent) =
            written.values.iter().find(|(field, ..)| Some(*field) == place.field()).unwrap_or_else(|| {
                panic!("invented {place:?} in {}", shown());
            });
        assert_eq!(
            value(place, &record).escape_ascii().to_string(),
            sent.escape_ascii().to_string(),
            "{}",
            shown()
        );
        if wrapper != Some(Wrapper::Docker) {
            let before = record.len() - written.line.len();
            assert_eq!(place.range, before + range.start..before + range.end, "{}", shown());
        }
    }
    if result.is_ok() {
        // A hyphen, or nothing, is no value.
        let expected = written
            .values
            .iter()
            .filter(|(field, _, value)| FIELDS.contains(field) && !value.is_empty() && value != b"-");
        assert_eq!(places.len(), expected.count(), "{}", shown());
    } else {
        // A user name can contain blanks, so that a word before it is not certain.
        let has_word =
            matches!(&log.layout.shape, Shape::Access(Access { word: Some(_), .. }) | Shape::Labels);
        let is_safe = log.writer.rule == Rule::Escaped && !has_word;
        assert!(!is_safe, "{result:?} {}", shown());
    }
    rewrite(random, log, wrapper, written.header, &record, &places);
    (places.len(), written.values.len() - places.len())
}

/// Writes a value into one place, and checks that it is found there, and that all other values stay.
fn rewrite(
    random: &mut Random,
    log: Log,
    wrapper: Option<Wrapper>,
    header: Option<&[u8]>,
    record: &[u8],
    places: &[Place],
) {
    if places.is_empty() {
        return;
    }
    let index = random.below(places.len());
    let place = &places[index];
    let mut out = Vec::new();
    let old = value(place, record);
    place.write(record, &old, &mut out).unwrap();
    assert_eq!(out, place.raw(record), "an unchanged value stays byte for byte");
    let new = if place.kind == Kind::Path { target(random, b"") } else { random.value(b"") };
    out.clear();
    if new.is_empty() || new == b"-" || place.write(record, &new, &mut out).is_err() {
        return;
    }
    let changed = [&record[..place.range.start], &out, &record[place.range.end..]].concat();
    let mut found = Vec::new();
    let shown = || {
        format!(
            "{} {}: {}\n {}",
            log.name(),
            place.field().unwrap().name(),
            record.escape_ascii(),
            changed.escape_ascii()
        )
    };
    let result = reader(log, wrapper, header).find(&changed, &mut found);
    assert_eq!(found.len(), places.len(), "{result:?} {}", shown());
    for (number, (before, after)) in places.iter().zip(&found).enumerate() {
        if number == index {
            assert_eq!(
                value(after, &changed).escape_ascii().to_string(),
                new.escape_ascii().to_string(),
                "{}",
                shown()
            );
        } else {
            assert_eq!(before.raw(record), after.raw(&changed), "{}", shown());
        }
    }
}

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
        assert!(found > missed, "{}: {found} found, {missed} not", log.name());
    }
    assert!(WRITERS.len() > 20);
}

/// Whatever writer has written a line, the layout without a writer finds the value that was sent, or none.
#[test]
fn a_layout_without_a_writer_reads_only_what_all_writers_mean() {
    let count = 300;
    for (seed, log) in Log::all().filter(|log| matches!(log.layout.name, "combined" | "common")).enumerate() {
        let unknown = Log::named(log.layout.name).unwrap();
        // Hypercorn and Rack, which lose bytes, included.
        let mut random = Random(seed as u64 + 1000);
        for _ in 0..count {
            let written = write(&mut random, log);
            let mut places = Vec::new();
            let _ = Reader::new(unknown, None, Fields::of(&FIELDS)).find(&written.line, &mut places);
            for place in places.iter().filter(|_| !written.is_lossy) {
                let (_, _, sent) =
                    written.values.iter().find(|(field, ..)| Some(*field) == place.field()).unwrap();
                assert_eq!(
                    value(place, &written.line).escape_ascii().to_string(),
                    sent.escape_ascii().to_string(),
                    "{} {}",
                    log.name(),
                    written.line.escape_ascii()
                );
            }
        }
    }
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
            let mut reader = Reader::new(log, wrapper, Fields::of(&Field::ALL.map(|(field, _)| field)));
            let mut places = Vec::new();
            if let Err(error) = reader.find(&line, &mut places) {
                assert!(error.offset <= line.len(), "{}: {error:?} {}", log.name(), line.escape_ascii());
            }
            for place in places {
                value(&place, &line);
                assert!(place.origin(&line, random.below(20)) <= line.len());
            }
        }
    }
}
