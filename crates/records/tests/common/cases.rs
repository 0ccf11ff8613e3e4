//! Makes random records of most syntaxes, and checks that values can be written back and replaced.

use simdpct_records::{
    Dialect, Editor, Escaping, Field, Form, KeyPath, Log, Numbered, Place, Position, Quotes, Separator,
    Syntax, Table,
};

use super::Random;

pub fn strings(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

pub fn fields(positions: &[&str], separator: Separator) -> Syntax {
    let positions: Vec<Position> = positions.iter().map(|text| text.parse().unwrap()).collect();
    Syntax::fields(Numbered::new(&positions, separator, Escaping::None).unwrap())
}

pub fn csv(quotes: Quotes, columns: &[&str]) -> Syntax {
    let dialect = Dialect { delimiter: b',', quotes };
    Syntax::table(Table::new(dialect, &strings(columns), &[], None).unwrap())
}

pub fn json(paths: &[&str], escaping: Escaping) -> Syntax {
    let paths: Vec<KeyPath> = paths.iter().map(|path| path.parse().unwrap()).collect();
    Syntax::json(&paths, &[], escaping).unwrap()
}

pub fn logfmt(keys: &[&str]) -> Syntax {
    Syntax::logfmt(&strings(keys)).unwrap()
}

pub fn log(name: &str) -> Syntax {
    Syntax::log(Log::named(name).unwrap(), None, &[Field::Agent, Field::Target]).unwrap()
}

/// A syntax, and the texts that make up its random records.
pub struct Case {
    pub name: &'static str,
    pub syntax: Syntax,
    pub words: Vec<&'static [u8]>,
    /// The text around the words in most records.
    pub frame: [&'static str; 2],
}

impl Case {
    pub fn record(&self, random: &mut Random) -> Vec<u8> {
        let words = (0..random.below(9)).flat_map(|_| random.pick(&self.words).to_vec()).collect::<Vec<_>>();
        let [before, after] = if random.below(8) == 0 { [""; 2] } else { self.frame };
        [before.as_bytes(), &words, after.as_bytes()].concat()
    }
}

/// Returns cases for lines, fields, CSV, JSON and logfmt, and for some of these inside others. Logs are here only as access logs in
/// strings of JSON, and lines of loggers, such as those of CRI and syslog, are not.
pub fn all() -> Vec<Case> {
    let plain: &[&[u8]] = &[
        b"a", b"%41", b"\"", b"\"\"", b"\\", b"\\\"", b" ", b"\t", b",", b"[", b"]", b"=", b"b c", b"\xE9",
        b"\r",
    ];
    let with = |more: &[&'static [u8]]| [plain, more].concat();
    let json_words: &[&[u8]] = &[
        b"{\"a\":\"x\",\"b\":[\"y\\u00e9\",{\"a\":\"\\\\\"}]}",
        b"{\"b\":[\"",
        b"\\\"",
        b"x",
        b"\xE9",
        b"\"],\"a\":\"",
        b"\"}",
        b"{\"a\":\"",
        b"\\ud83d\\ude00",
        b"\\x41",
    ];
    let logs: &[&[u8]] = &[b" HTTP/1.1\\\" 200 1 \\\"-\\\" \\\"", b"\\\"", b"\\\\x22", b"\\\\\\\"", b"x"];
    let line = [
        r#"{"log":"192.0.2.1 - - [10/Oct/2000:13:55:36 -0700] \"GET /q?a="#,
        r#" HTTP/1.1\" 200 1 \"-\" \"agent\"\n"}"#,
    ];
    let bare = [""; 2];
    let case = |name, syntax, words: Vec<&'static [u8]>, frame| Case { name, syntax, words, frame };
    vec![
        case("line", Syntax::line(Escaping::None), with(&[]), bare),
        case("byte", fields(&["2", "-1"], Separator::Byte(b',')), with(&[b",", b","]), bare),
        case("blanks", fields(&["3", "1", "-1..-1"], Separator::Blanks), with(&[b" ", b" "]), bare),
        case(
            "quoted",
            fields(&["2", "1.2", "3..4"], Separator::Quoted),
            with(&[b" ", b"\" ", b" \"", b"] ", b" ["]),
            bare,
        ),
        case("strict", csv(Quotes::Strict, &["2", "1"]), with(&[b"\",", b",\"", b"\n", b","]), bare),
        case("lazy", csv(Quotes::Lazy, &["2", "1"]), with(&[b"\",", b",\"", b"\n", b","]), bare),
        case("backslash", csv(Quotes::Backslash, &["2", "1"]), with(&[b"\",", b",\"", b"\\\\", b","]), bare),
        case(
            "json",
            json(&["a", "b[]", "b[1].a"], Escaping::Json),
            json_words.to_vec(),
            ["{\"a\":\"", "\"}"],
        ),
        case("json hex", json(&["**"], Escaping::JsonHex), json_words.to_vec(), ["[\"", "\"]"]),
        case("logfmt", logfmt(&["a", "b"]), with(&[b"a=", b" a=", b" b=\"", b"\" ", b"b="]), bare),
        case("docker", json(&["log"], Escaping::Json).containing(log("apache")), logs.to_vec(), line),
        case("docker of jetty", json(&["log"], Escaping::Json).containing(log("jetty")), logs.to_vec(), line),
        case(
            "fields in cells",
            csv(Quotes::Strict, &["2"]).containing(fields(&["1", "2"], Separator::Quoted)),
            with(&[b"\",", b",\"", b" "]),
            ["a,", ""],
        ),
        case(
            "json in logfmt",
            logfmt(&["a"]).containing(json(&["a"], Escaping::Json)),
            vec![b"x", b"\\\\\\\"", b"\\\\u00e9", b"y", b"\xE9"],
            [r#"b a="{\"a\":\""#, r#"\"}" b=c"#],
        ),
        case(
            "blanks between commas",
            fields(&["2"], Separator::Byte(b',')).containing(fields(&["1", "2"], Separator::Blanks)),
            with(&[b",", b" "]),
            bare,
        ),
    ]
}

/// Returns the places of `record`, if it can be read.
pub fn places(syntax: &mut Syntax, record: &[u8]) -> Option<Vec<Place>> {
    let mut places = Vec::new();
    let result = syntax.find(record, &mut places);
    for place in &places {
        assert!(place.range.end <= record.len() && place.index < syntax.names().len());
    }
    let is_sorted = places.is_sorted_by(|one, other| one.range.end <= other.range.start);
    assert!(is_sorted, "{}", record.escape_ascii());
    result.ok().map(|()| places)
}

pub fn edit(record: &[u8], place: &Place, value: &[u8]) -> Result<Vec<u8>, usize> {
    let mut out = Vec::new();
    let mut editor = Editor::new(record, 0, Form::Whole, &mut out);
    editor.begin(0..record.len());
    editor.put(place, value)?;
    editor.end(1, record.len());
    editor.copy_to(record.len());
    Ok(out)
}

/// The numbers of values that were written back, replaced and rejected, and of records that were unreadable.
#[derive(Debug, Default)]
pub struct Counts {
    pub unchanged: usize,
    pub changed: usize,
    pub refused: usize,
    pub unreadable: usize,
}

/// Writes each value of `record` back, then writes a new value in its place, and checks that all other values stay.
pub fn check(random: &mut Random, case: &mut Case, record: &[u8], counts: &mut Counts) {
    let name = case.name;
    let Some(found) = places(&mut case.syntax, record) else {
        counts.unreadable += 1;
        return;
    };
    for (number, place) in found.iter().enumerate() {
        let mut buffer = Vec::new();
        let Ok(value) = place.value(record, &mut buffer) else { continue };
        assert_eq!(edit(record, place, value), Ok(record.to_vec()), "{name}");
        assert_eq!(place.origin(record, value.len()), place.range.end, "{name}");
        counts.unchanged += 1;
        let new = if random.below(4) == 0 { random.value(b"") } else { random.pick(&case.words).to_vec() };
        // In logs, an empty text and `-` mean that there is no value.
        if name.starts_with("docker") && [&b""[..], b"-"].contains(&&new[..]) {
            continue;
        }
        let Ok(out) = edit(record, place, &new) else {
            counts.refused += 1;
            // If `x` replaces the bytes that the place refuses, the value can be written.
            let refused = place.refused();
            let usual = |byte: &u8| if refused.contains(*byte) { b'x' } else { *byte };
            let other: Vec<u8> = new.iter().map(usual).chain([b'x']).collect();
            let is_text = str::from_utf8(&other).is_ok();
            assert!(!is_text || edit(record, place, &other).is_ok(), "{name}: {}", other.escape_ascii());
            continue;
        };
        let context = || format!("{name}: {} became {}", record.escape_ascii(), out.escape_ascii());
        let again = places(&mut case.syntax, &out).unwrap_or_else(|| panic!("{}", context()));
        assert_eq!(again.len(), found.len(), "{}", context());
        for (index, (old, now)) in found.iter().zip(&again).enumerate() {
            if index == number {
                assert_eq!(now.value(&out, &mut Vec::new()), Ok(&new[..]), "{}", context());
            } else {
                assert_eq!(now.raw(&out), old.raw(record), "{}", context());
            }
        }
        counts.changed += 1;
    }
}
