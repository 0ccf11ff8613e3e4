//! Reads lines that real servers wrote for known requests. `recorded.tsv` has a small part of all lines that were recorded.

use simdpct_records::{Editor, Field, Form, Spec, Syntax};

/// Decodes the escapes that `[u8]::escape_ascii` writes.
fn unescape(text: &str) -> Vec<u8> {
    let mut bytes = text.bytes();
    let mut out = Vec::new();
    while let Some(byte) = bytes.next() {
        out.push(match byte {
            b'\\' => match bytes.next().unwrap() {
                b'n' => b'\n',
                b'r' => b'\r',
                b't' => b'\t',
                b'x' => {
                    let digits = [bytes.next().unwrap(), bytes.next().unwrap()];
                    u8::from_str_radix(std::str::from_utf8(&digits).unwrap(), 16).unwrap()
                }
                other => other,
            },
            other => other,
        });
    }
    out
}

#[test]
fn servers_lines_are_read() {
    let mut count = 0;
    for row in include_str!("recorded.tsv").lines().filter(|row| !row.starts_with('#')) {
        let [format, case, want, line] = row.split('\t').collect::<Vec<_>>()[..] else { panic!("{row}") };
        let spec: Spec = format.parse().unwrap();
        let line = unescape(line);
        let mut syntax = Syntax::log(spec.log.unwrap(), spec.wrapper, &[Field::Target]).unwrap();
        let mut places = Vec::new();
        let result = syntax.find(&line, &mut places);
        let mut buffer = Vec::new();
        let found = match (result, places.first()) {
            (Ok(()), None) => "(none)".to_owned(),
            (Ok(()), Some(place)) => place.value(&line, &mut buffer).unwrap().escape_ascii().to_string(),
            (Err(_), _) => "(unreadable)".to_owned(),
        };
        assert_eq!(found, want, "{format} {case}: {row}");
        count += 1;
    }
    assert!(count > 200);
}

#[test]
fn places_are_in_the_order_of_the_line() {
    let mut count = 0;
    for row in include_str!("recorded.tsv").lines().filter(|row| !row.starts_with('#')) {
        let [format, _, _, line] = row.split('\t').collect::<Vec<_>>()[..] else { panic!("{row}") };
        let spec: Spec = format.parse().unwrap();
        let line = unescape(line);
        let all = spec.log.unwrap().layout.fields();
        let mut syntax = Syntax::log(spec.log.unwrap(), spec.wrapper, &all).unwrap();
        let mut places = Vec::new();
        let _ = syntax.find(&line, &mut places);
        assert!(places.is_sorted_by(|one, other| one.range.end <= other.range.start), "{row}");
        let mut out = Vec::new();
        let mut editor = Editor::new(&line, 0, Form::Whole, &mut out);
        editor.begin(0..line.len());
        for place in &places {
            let mut buffer = Vec::new();
            let value = place.value(&line, &mut buffer).unwrap();
            editor.put(place, value).unwrap();
            // A longer value replaces the old one, unless it cannot be written at this place.
            let _ = editor.put(place, &[value, b"x"].concat());
        }
        editor.end(all.len(), line.len());
        editor.copy_to(line.len());
        assert!(out.len() >= line.len(), "{row}");
        count += places.len();
    }
    assert!(count > 400, "{count}");
}
