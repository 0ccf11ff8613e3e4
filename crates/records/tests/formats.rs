//! Compares the tables of docs/logs.md with the rows of the formats. With `SIMDPCT_BLESS=1`, writes the tables.

use std::fmt::Write as _;

use simdpct_records::{Escaping, Field, Holds, Lead, Log, Part, Rule, Shape, Split, WRITERS, Word};

/// Returns the words for the rule by which the fields of a format are found, and for the fields that no client can shift.
fn rule(log: Log) -> (&'static str, &'static str) {
    let usual = "the target; the others if there is one reading";
    let (rule, certain) = match (&log.layout.shape, log.writer.rule) {
        (Shape::Json(_), _) => ("JSON, also with bytes that are not UTF-8", "all"),
        (Shape::Columns(_), _) => ("columns, as a header line names them", "all"),
        (Shape::Words(_), _) => ("words before and after the target", "the target"),
        (Shape::Labels, _) => ("the last label of a request", "all, if no label is in them"),
        (_, Rule::Escaped) => ("the first quote opens the request, the next one closes it", "all"),
        (_, Rule::RequestEscaped) => ("the first quote opens the request, the next one closes it", usual),
        (_, Rule::Words) => ("the first quote, and three words without blanks", usual),
        (_, Rule::WordsOrHeader) => {
            ("the first quote, and three words without blanks", "those that have one reading")
        }
        (_, Rule::WordsAfterUser) => ("a quote after a date, and three words without blanks", usual),
        (_, Rule::Raw) => ("one reading, or unreadable", "those that have one reading"),
        (_, Rule::Unknown) => ("one reading by all rules", "those on which all servers agree"),
    };
    (rule, if log.has_raw_line_feeds() { "none" } else { certain })
}

/// Returns `bytes` as code of Markdown in a table.
fn code(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes).replace('|', "\\|");
    if text.contains('`') { format!("`` {text} ``") } else { format!("`{text}`") }
}

/// Returns the text that a format writes for `byte` in a target.
fn written(escaping: Escaping, byte: u8) -> String {
    let mut out = Vec::new();
    match escaping.apply(&[byte], &mut out) {
        _ if escaping == Escaping::Unknown => "?".to_owned(),
        Ok(()) if out != [byte] => code(&out),
        Ok(()) => "raw".to_owned(),
        Err(_) => "no".to_owned(),
    }
}

/// Returns the bytes that a new target cannot have, because the writer does not escape them, and they would end the target.
fn refused(log: Log) -> String {
    let escaping = log.escaping();
    let ends: &[u8] = match &log.layout.shape {
        Shape::Access(_) | Shape::Labels => b" \"\n",
        Shape::Json(_) => b"\n",
        Shape::Columns(columns) if columns.split == Split::Tab => b"\t\n",
        Shape::Columns(_) | Shape::Words(_) => b" \n",
    };
    let names = ends.iter().filter(|&&byte| !escaping.escapes(byte)).map(|byte| match byte {
        b' ' => "blank",
        b'\t' => "tab",
        b'"' => "`\"`",
        _ => "line end",
    });
    names.collect::<Vec<_>>().join(", ")
}

/// Returns the texts that a writer puts in the place of a missing target.
fn placeholders(log: Log) -> String {
    let known = &log.writer.placeholders;
    let prefixes = known.prefixes.iter().map(|prefix| [*prefix, "…".as_bytes()].concat());
    let texts = known.targets.iter().chain(known.requests).map(|text| text.to_vec()).chain(prefixes);
    texts.map(|text| code(&text)).collect::<Vec<_>>().join(" ")
}

/// Returns the table of formats. The formats of one writer that differ only in their fields share a row.
fn formats() -> String {
    let mut table = String::from(
        "| `--log` | rule | certain fields | `\"` | `\\` | byte E9 | line feed | not in a new target | no target | checked with |\n\
         |---|---|---|---|---|---|---|---|---|---|\n",
    );
    for writer in WRITERS {
        let mut rows = Vec::<(String, Vec<String>)>::new();
        for log in writer.layouts.iter().map(|layout| Log { writer, layout }) {
            let (rule, certain) = rule(log);
            let mut row = format!("{rule} | {certain} |");
            for byte in [b'"', b'\\', 0xE9, b'\n'] {
                write!(row, " {} |", written(log.escaping(), byte)).unwrap();
            }
            write!(row, " {} | {} | {} |", refused(log), placeholders(log), writer.checked).unwrap();
            let name = code(log.name().as_bytes());
            match rows.iter_mut().find(|(other, _)| *other == row) {
                Some((_, names)) => names.push(name),
                None => rows.push((row, vec![name])),
            }
        }
        for (row, names) in rows {
            writeln!(table, "| {} | {row}", names.join(" ")).unwrap();
        }
    }
    table
}

const NOT_SAFE: &str = "not safe: a client can write a new line";

/// Returns the list of the limits of formats. Formats with the same limit share an item, which has at most six of them.
fn notes() -> String {
    let mut rows = Vec::<(&str, Vec<String>)>::new();
    let not_safe = |log: Log| Some((log, NOT_SAFE)).filter(|_| log.has_raw_line_feeds());
    let noted = |log: Log| Some((log, log.writer.note)).filter(|(_, note)| !note.is_empty());
    for (log, note) in Log::all().filter_map(not_safe).chain(Log::all().filter_map(noted)) {
        // JSON escapes quotes, so notes about quotes do not apply.
        if matches!(log.layout.shape, Shape::Json(_)) && note.contains("quotes") {
            continue;
        }
        let name = code(log.name().as_bytes());
        match rows.iter_mut().find(|(other, _)| *other == note) {
            Some((_, names)) => names.push(name),
            None => rows.push((note, vec![name])),
        }
    }
    let mut list = String::new();
    for (note, names) in rows {
        // Lines of pages have at most 120 characters.
        for names in names.chunks(6) {
            let names = names.join(" ");
            let gap = if names.chars().count() + note.chars().count() > 115 { "\n  " } else { " " };
            writeln!(list, "- {names}:{gap}{note}.").unwrap();
        }
    }
    list
}

/// Returns the fields of a format, in the order of the variants of [`Field`].
fn fields(log: Log) -> Vec<Field> {
    let mut fields: Vec<Field> = match &log.layout.shape {
        Shape::Access(access) => {
            let tail = access.tail.iter().filter_map(|part| match part {
                Part::Quoted(field) | Part::QuotedWord(field) => *field,
                Part::Status | Part::Word => None,
            });
            [Field::Target].into_iter().chain(access.word.map(|word| word.field)).chain(tail).collect()
        }
        Shape::Json(keys) => keys.iter().map(|key| key.field).collect(),
        Shape::Columns(columns) => columns.columns.iter().map(|key| key.field).collect(),
        Shape::Words(_) => vec![Field::Target],
        Shape::Labels => {
            vec![Field::Target, Field::Referer, Field::Host, Field::Upstream, Field::Subrequest]
        }
    };
    fields.sort();
    fields.dedup();
    fields
}

/// Returns the words for a word before or after a target.
fn word_name(word: Word) -> String {
    let name = match word {
        Word::Any => "a word",
        Word::Number | Word::Count => "a number",
        Word::Status => "a status",
        Word::Result => "a result with a status",
        Word::Method => "a method",
        Word::Peer => "a code and a peer",
        Word::Address => "an address in parentheses",
        Word::Milliseconds => "milliseconds",
        Word::Is(text) => return code(text.as_bytes()),
    };
    name.to_owned()
}

/// Returns the words for the text that shows that a line has the layout. In most layouts, it is before the target.
fn anchor(log: Log) -> String {
    match &log.layout.shape {
        Shape::Access(access) => match access.lead {
            Lead::Date => "a date in brackets".to_owned(),
            Lead::Words(count) => format!("{count} words"),
            Lead::Hyphen => "a hyphen".to_owned(),
            Lead::Haproxy => "counters, or captured headers in braces".to_owned(),
        },
        Shape::Json(keys) => {
            let names = keys
                .iter()
                .filter(|key| matches!(key.holds, Holds::Target | Holds::Request))
                .map(|key| code(key.name.as_bytes()));
            format!("the keys {}", names.collect::<Vec<_>>().join(" "))
        }
        Shape::Columns(columns) => format!("a line that begins with {}", code(columns.header)),
        Shape::Words(words) => {
            let names =
                |words: &[Word]| words.iter().map(|word| word_name(*word)).collect::<Vec<_>>().join(", ");
            format!("{}; after it {}", names(words.before), names(words.after))
        }
        Shape::Labels => "the label `request:`, or that of an upstream".to_owned(),
    }
}

/// Returns the table of fields. Formats whose layouts do not differ share a row.
fn layouts() -> String {
    let mut rows = Vec::<(String, Vec<String>)>::new();
    for log in Log::all() {
        let names = fields(log).iter().map(|field| code(field.name().as_bytes())).collect::<Vec<_>>();
        let row = format!("{} | {} |", anchor(log), names.join(" "));
        let name = code(log.name().as_bytes());
        match rows.iter_mut().find(|(other, _)| *other == row) {
            Some((_, names)) => names.push(name),
            None => rows.push((row, vec![name])),
        }
    }
    let mut table = String::from("| `--log` | before the target | fields |\n|---|---|---|\n");
    for (row, names) in rows {
        // A row has at most six names, because a wide cell is hard to read.
        for names in names.chunks(6) {
            writeln!(table, "| {} | {row}", names.join(" ")).unwrap();
        }
    }
    table
}

#[test]
fn the_page_has_the_tables() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/logs.md");
    let old = std::fs::read_to_string(path).unwrap();
    let mut text = old.clone();
    for (name, table) in [("formats", formats()), ("notes", notes()), ("layouts", layouts())] {
        let (start, end) = (format!("<!-- {name}"), format!("<!-- end of {name} -->"));
        let (head, rest) = text.split_once(&start).unwrap();
        let (comment, rest) = rest.split_once("-->\n").unwrap();
        let (_, tail) = rest.split_once(&end).unwrap();
        text = [head, &start, comment, "-->\n", &table, &end, tail].concat();
    }
    if std::env::var_os("SIMDPCT_BLESS").is_some() {
        std::fs::write(path, &text).unwrap();
        return;
    }
    assert!(
        text == old,
        "docs/logs.md is stale; SIMDPCT_BLESS=1 cargo test -p simdpct-records --test formats writes it"
    );
}
