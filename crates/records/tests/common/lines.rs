//! Makes records as each writer writes them, with values that clients choose.

use std::ops::Range;

use simdpct_records::{
    Access, Escaping, Field, Holds, Key, Kind, Lead, Log, Part, Place, Rule, Shape, Syntax, Wrapper,
};

use super::Random;

/// The parts of random values: delimiters, escapes and whole fields of all formats.
pub const FRAGMENTS: &[&[u8]] = &[
    b"/a",
    b"\"",
    b"\\",
    b" ",
    b"-",
    b"\"\"",
    b"\\\"",
    b"\\x22",
    b"\\x5C",
    b"\\u0022",
    b"\\u00e9",
    b"#22",
    b"#011",
    b"%22",
    b"%",
    b"]",
    b"[",
    b"\xC3\xA9",
    b"\xE9",
    b"\t",
    b"\x01",
    b"\x7F",
    b"\x1B",
    b"}",
    b"~",
    b"{|}",
    b" HTTP/1.1",
    b" HTTP/1.1\"",
    b"GET /spoof HTTP/1.1",
    b"\"GET /spoof HTTP/1.1\"",
    b"] \"GET /spoof HTTP/1.1\" 200 1 \"",
    b"[10/Oct/2000:13:55:36 +0000] \"GET /spoof HTTP/1.1\" 200 1",
    b"[10/Oct/2000:13:55:36 +0000] \"",
    b"\" 200 5 \"",
    b"\" 200 5",
    b"\" \"",
    b"\" \"-\" \"",
    b"\",\"uri\":\"/spoof",
    b"\\\",\"uri\":\"/spoof",
    b", request: \"GET /spoof HTTP/1.1\"",
    b"\", request: \"GET /spoof HTTP/1.1\", host: \"h\"",
    b", host: \"x\"",
    b"\", referrer: \"http://spoof/",
    b", upstream: \"http://spoof/\"",
    b" failed (2: No such file), client: 1, server: 2",
];

pub const FIELDS: [Field; 6] =
    [Field::Target, Field::Query, Field::Referer, Field::Agent, Field::Host, Field::Redirect];

/// A record, and the values that were written into it.
#[derive(Default)]
pub struct Record {
    pub header: Option<&'static [u8]>,
    pub line: Vec<u8>,
    pub values: Vec<(Field, Range<usize>, Vec<u8>)>,
    /// Whether the writer has no way to write one of the values.
    pub is_lossy: bool,
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

fn json(random: &mut Random, log: Log, keys: &[Key]) -> Record {
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
        Holds::Method => record.text(b"GET"),
        Holds::Request => {
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
                let is_tomcat = escaping == Escaping::TomcatW3c;
                record.value(Some(field), if is_tomcat { Escaping::TomcatHeader } else { escaping }, value);
                record.text(b"\"");
            }
            // The writers put no blanks, and no quotes at the start, into these columns.
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

/// Returns an entry of nginx's error log. Hosts, and the targets of requests that nginx understood, have no blanks.
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
    // Squid is the only one of these servers that accepts blanks in a target.
    let target = target(random, if log.layout.name == "squid" { LINE_ENDS } else { b"\r\n\0 " });
    record.value(Some(Field::Target), log.escaping(), target);
    record.text(match log.layout.name {
        "squid" => b" - FIRSTUP_PARENT/192.0.2.9 text/html",
        "tornado" => b" (192.0.2.1) 0.57ms",
        _ => b" 200 - - 0.576 ms",
    });
    record
}

pub fn write(random: &mut Random, log: Log) -> Record {
    match &log.layout.shape {
        Shape::Access(layout) => access(random, log, layout),
        Shape::Json(keys) => json(random, log, keys),
        Shape::Columns(_) => columns(random, log),
        Shape::Labels => labels(random),
        Shape::Words(_) => words(random, log),
    }
}

/// Returns `line` inside a record of the logger `wrapper`.
pub fn wrap(wrapper: Option<Wrapper>, line: &[u8]) -> Vec<u8> {
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

/// Returns the fields of [`FIELDS`] that the format has. [`Place::index`] is an index of this list.
pub fn fields(log: Log) -> Vec<Field> {
    let known = log.layout.fields();
    FIELDS.into_iter().filter(|field| known.contains(field)).collect()
}

pub fn syntax(log: Log, wrapper: Option<Wrapper>, header: Option<&[u8]>) -> Syntax {
    let mut syntax = Syntax::log(log, wrapper, &fields(log)).unwrap();
    if let Some(header) = header {
        syntax.find(&wrap(wrapper, header), &mut Vec::new()).unwrap();
    }
    syntax
}

pub fn value(place: &Place, record: &[u8]) -> Vec<u8> {
    let mut buffer = Vec::new();
    place.value(record, &mut buffer).unwrap().to_vec()
}

/// Checks that two texts are equal, and shows them with `context` if they are not.
#[track_caller]
pub fn same(got: &[u8], want: &[u8], context: impl Fn() -> String) {
    assert!(got == want, "{} is not {}: {}", got.escape_ascii(), want.escape_ascii(), context());
}

/// Checks that a random record has the values that were written. Returns the numbers of found and of missed values.
pub fn check(random: &mut Random, log: Log) -> (usize, usize) {
    let written = write(random, log);
    if written.is_lossy {
        return (0, 0);
    }
    let wrappers = [None, Some(Wrapper::Cri), Some(Wrapper::Docker), Some(Wrapper::Syslog)];
    let wrapper = wrappers[random.below(4)];
    let record = wrap(wrapper, &written.line);
    let shown = || format!("{}: {}", log.name(), record.escape_ascii());
    let mut syntax = syntax(log, wrapper, written.header);
    let fields = fields(log);
    let mut places = Vec::new();
    let result = syntax.find(&record, &mut places);
    for place in &places {
        let (_, range, sent) =
            written.values.iter().find(|(field, ..)| *field == fields[place.index]).unwrap_or_else(|| {
                panic!("invented {place:?} in {}", shown());
            });
        same(&value(place, &record), sent, shown);
        if wrapper != Some(Wrapper::Docker) {
            let before = record.len() - written.line.len();
            assert_eq!(place.range, before + range.start..before + range.end, "{}", shown());
        }
    }
    if result.is_ok() {
        // A hyphen or an empty text means that there is no value.
        let expected = written
            .values
            .iter()
            .filter(|(field, _, value)| FIELDS.contains(field) && !value.is_empty() && value != b"-");
        assert_eq!(places.len(), expected.count(), "{}", shown());
    } else {
        // A user name can contain blanks, so the word before it is not certain, and the record may be rejected.
        let has_word =
            matches!(&log.layout.shape, Shape::Access(Access { word: Some(_), .. }) | Shape::Labels);
        let is_safe = log.writer.rule == Rule::Escaped && !has_word;
        assert!(!is_safe, "{result:?} {}", shown());
    }
    rewrite(random, log, &syntax, &record, &places);
    (places.len(), written.values.len() - places.len())
}

/// Writes a value into one place, and checks that it is found there, and that all other values stay.
pub fn rewrite(random: &mut Random, log: Log, syntax: &Syntax, record: &[u8], places: &[Place]) {
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
    let is_missing = new.is_empty() || log.writer.placeholders.contains(&new);
    if is_missing || place.write(record, &new, &mut out).is_err() {
        return;
    }
    let changed = [&record[..place.range.start], &out, &record[place.range.end..]].concat();
    let mut found = Vec::new();
    let shown = || {
        format!(
            "{} {}: {}\n {}",
            log.name(),
            fields(log)[place.index].name(),
            record.escape_ascii(),
            changed.escape_ascii()
        )
    };
    let result = syntax.clone().find(&changed, &mut found);
    assert_eq!(found.len(), places.len(), "{result:?} {}", shown());
    for (number, (before, after)) in places.iter().zip(&found).enumerate() {
        if number == index {
            same(&value(after, &changed), &new, shown);
        } else {
            assert_eq!(before.raw(record), after.raw(&changed), "{}", shown());
        }
    }
}
