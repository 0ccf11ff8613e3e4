//! Rewrites values of the command's records: the line splits into the same fields, JSON keeps everything but the value, quoted values keep their text.

#![no_main]
// The modules of the command are included whole, and only parts of them are used.
#![allow(dead_code, unused_imports)]

#[path = "../../crates/cli/src/ground/mod.rs"]
mod ground;
#[path = "../../crates/cli/src/scan/mod.rs"]
mod scan;
#[path = "../../crates/cli/src/select/mod.rs"]
mod select;
#[path = "../../crates/cli/src/url/mod.rs"]
mod url;
#[path = "../../crates/cli/src/value/mod.rs"]
mod value;

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use simdpct::ByteSet;

use self::ground::charset::Charset;
use self::ground::records::Records;
use self::select::Selector;
use self::select::edit::{Edit, Form};
use self::select::fields::{Delimiter, Fields, Position, Split};
use self::select::jsonl::Keys;
use self::select::logfmt::Pairs;
use self::select::pass::Pass;
use self::value::options::{DecodeOptions, EncodeOptions, Layers, Scope, Verb};
use self::value::policy::{Action, OnRejected, Policies, Policy, Record, Treatment};
use self::value::report::Report;
use self::value::work::Work;

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    line: &'a [u8],
    encodes: bool,
    form: bool,
    stable: bool,
    nginx: bool,
    percent_u: bool,
    shift_jis: bool,
    printable: bool,
    only_query: Option<bool>,
    keep: &'a [u8],
    delimiter: Option<u8>,
    field: u8,
    from_end: bool,
    word: Option<u8>,
    strict: bool,
}

impl Input<'_> {
    fn verb(&self) -> Verb {
        let charset = self.shift_jis.then(|| Charset::find("shift_jis").expect("a known charset"));
        let keep = ByteSet::EMPTY.add(self.keep);
        if self.encodes {
            let (keep_escapes, form) = (self.stable, self.form && !self.stable);
            return Verb::Encode(EncodeOptions { keep, keep_escapes, form, lower: false, charset });
        }
        Verb::Decode(DecodeOptions {
            keep: ByteSet::EMPTY,
            form: self.form,
            layers: if self.stable { Layers::UntilStable } else { Layers::Times(1) },
            nginx: self.nginx,
            percent_u: self.percent_u,
            charset,
            printable: self.printable,
            scope: self.only_query.map(|is_query| if is_query { Scope::Query } else { Scope::Path }),
        })
    }

    fn treatment(&self, verb: &Verb, kept: [ByteSet; 3]) -> Treatment {
        let policy = if self.strict { Policy::Replace } else { Policy::Keep };
        let policies = Policies { malformed: policy, not_text: policy, rejected: OnRejected::Keep };
        Treatment::new(kept.map(|kept| Work::on_values(verb, kept)), policies, self.strict, false, b"-")
    }
}

/// Returns `line` with the selected values rewritten, and the action of the policy for the record.
fn rewrite(mut selector: Selector, mut treatment: Treatment, line: &[u8]) -> (Vec<u8>, Action) {
    let mut out = Vec::new();
    let mut edit = Edit::new(line, 0, &mut out, Form::Whole);
    let record = Record { chunk: line, start: 0, stop: line.len(), end: b'\n', shown: None };
    let mark = edit.begin();
    let report = &mut Report::new(false, false);
    let mut pass = Pass { record, treatment: &mut treatment, edit: &mut edit, report };
    let action = selector.rewrite(false, &mut pass);
    if action != Action::Write {
        edit.rewind(mark);
    }
    edit.copy_to(line.len());
    (out, action)
}

/// Splits `line` into fields, a byte at a time, as the expected result.
fn fields(line: &[u8], delimiter: Option<u8>) -> Vec<&[u8]> {
    if let Some(delimiter) = delimiter {
        return line.split(|&byte| byte == delimiter).collect();
    }
    let is_blank = |at: usize| line.get(at).is_none_or(|byte| b" \t".contains(byte));
    let (mut fields, mut at) = (Vec::new(), 0);
    while at < line.len() {
        if is_blank(at) {
            at += 1;
            continue;
        }
        let close = match line[at] {
            b'"' => Some(b'"'),
            b'[' => Some(b']'),
            _ => None,
        };
        let (mut end, mut is_hidden) = (None, false);
        for next in at + 1..line.len() {
            if Some(line[next]) == close && !is_hidden && is_blank(next + 1) {
                end = Some(next + 1);
                break;
            }
            is_hidden = line[next] == b'\\' && !is_hidden;
        }
        let end = end.unwrap_or_else(|| (at..=line.len()).find(|&end| is_blank(end)).unwrap_or(line.len()));
        fields.push(&line[at..end]);
        at = end;
    }
    fields
}

/// Decodes all strings of a JSON document.
fn decoded(document: &Value) -> Value {
    match document {
        Value::String(text) => {
            let mut new = String::new();
            for chunk in simdpct::decode(text.as_bytes()).utf8_chunks() {
                new.push_str(chunk.valid());
                new.push_str(&simdpct::encode(chunk.invalid()));
            }
            Value::String(if new.eq_ignore_ascii_case(text) { text.clone() } else { new })
        }
        Value::Array(items) => items.iter().map(decoded).collect(),
        Value::Object(members) => members.iter().map(|(key, value)| (key.clone(), decoded(value))).collect(),
        other => other.clone(),
    }
}

/// Returns a treatment that decodes once, and keeps malformed escapes and invalid UTF-8.
fn lenient_decode() -> Treatment {
    let verb = Verb::Decode(DecodeOptions::ONCE);
    let policies = Policies { malformed: Policy::Keep, not_text: Policy::Keep, rejected: OnRejected::Keep };
    let works = [ByteSet::EMPTY; 3].map(|kept| Work::on_values(&verb, kept));
    Treatment::new(works, policies, false, false, b"-")
}

/// Returns the text of the quoted string `raw`, read an escape at a time. Returns `None` if one of its backslashes starts no
/// escape.
fn string_text(raw: &[u8]) -> Option<Vec<u8>> {
    let mut text = Vec::new();
    let mut rest = raw;
    while let &[first, ref tail @ ..] = rest {
        let len = match (first, tail) {
            (b'\\', [b'x', high, low, ..]) if [high, low].iter().all(|digit| digit.is_ascii_hexdigit()) => {
                let digit = |byte: u8| char::from(byte).to_digit(16).unwrap_or_default() as u8;
                text.push(digit(*high) << 4 | digit(*low));
                4
            }
            (b'\\', [b'a', ..]) => {
                text.push(7);
                2
            }
            (b'\\', [b'v', ..]) => {
                text.push(11);
                2
            }
            (b'\\', [b'\'', ..]) => {
                text.push(b'\'');
                2
            }
            (b'\\', _) => {
                // An escape of JSON has 2 bytes, 6 bytes, or 12 bytes for the two halves of a surrogate pair.
                let escapes = [2, 6, 12].into_iter().filter_map(|len| rest.get(..len));
                let quoted = escapes.map(|escape| (escape.len(), [b"\"", escape, b"\""].concat()));
                let mut strings = quoted
                    .filter_map(|(len, quoted)| Some((len, serde_json::from_slice::<String>(&quoted).ok()?)));
                let (len, string) = strings.next()?;
                text.extend_from_slice(string.as_bytes());
                len
            }
            _ => {
                text.push(first);
                1
            }
        };
        rest = &rest[len..];
    }
    Some(text)
}

fuzz_target!(|input: Input<'_>| {
    let line: Vec<u8> = input.line.iter().copied().filter(|byte| !b"\r\n".contains(byte)).collect();
    let verb = input.verb();

    let delimiter = input.delimiter.filter(|byte| byte.is_ascii_punctuation() && !b"\"%+".contains(byte));
    let split = Split::from(delimiter.map_or(Delimiter::Blanks, Delimiter::Byte));
    let number = usize::from(input.field % 6);
    let field = if input.from_end { -1 - number as isize } else { number as isize };
    let position = match input.word {
        None => Position::of(field),
        Some(word) => Position::word(field, usize::from(word % 4)),
    };
    let chosen = Fields::new(&[position], split, verb.may_make_structure()).expect("one position");
    let treatment = input.treatment(&verb, split.kept(Records::Lines.structure()));
    let (out, _) = rewrite(Selector::Fields(chosen), treatment, &line);
    let (before, after) = (fields(&line, delimiter), fields(&out, delimiter));
    assert_eq!(before.len(), after.len(), "{} became {}", line.escape_ascii(), out.escape_ascii());
    let number = if input.from_end { before.len().wrapping_sub(1 + number) } else { number };
    for (index, (old, new)) in before.iter().zip(&after).enumerate() {
        assert!(index == number || old == new, "{} became {}", line.escape_ascii(), out.escape_ascii());
    }

    let keys = || Selector::Keys(Keys::new(&["**".parse().expect("a path")], &[], input.nginx));
    let (out, action) = rewrite(keys(), input.treatment(&verb, [ByteSet::EMPTY; 3]), &line);
    if let Ok(old) = serde_json::from_slice::<Value>(&line) {
        assert_eq!(action, Action::Write, "{}", line.escape_ascii());
        let new: Value = serde_json::from_slice(&out).expect("JSON stays JSON");
        let (out, _) = rewrite(keys(), lenient_decode(), &line);
        let got: Value = serde_json::from_slice(&out).expect("JSON stays JSON");
        assert_eq!(got, decoded(&old), "{}", line.escape_ascii());
        drop(new);
    }

    let pairs = || Selector::Pairs(Pairs::new(vec!["a".to_owned(), "u".to_owned()]));
    rewrite(pairs(), input.treatment(&verb, [ByteSet::EMPTY; 3]), &line);
    // In quotes, every input reaches the reader of quoted strings. If it holds no quotes itself, all of it is one value.
    let backslashes = line.iter().rev().take_while(|&&byte| byte == b'\\').count();
    if !line.contains(&b'"') && backslashes % 2 == 0 {
        let quoted = [b"u=\"", &line[..], b"\""].concat();
        let (out, _) = rewrite(pairs(), lenient_decode(), &quoted);
        match string_text(&line) {
            None => assert_eq!(out, quoted, "{}", quoted.escape_ascii()),
            Some(text) => {
                let new = string_text(&out[3..out.len() - 1]);
                assert_eq!(new.as_deref(), Some(&*simdpct::decode(&text)), "{}", quoted.escape_ascii());
            }
        }
    }
});
