//! Writes the table of formats in the README from the rows. `SIMDPCT_BLESS=1` updates the file.

use simdpct_records::{Log, Rule, Shape};

const START: &str = "<!-- formats -->\n";
const END: &str = "<!-- /formats -->\n";

/// Returns the words for the rule that holds the fields of a format in place.
fn rule(log: Log) -> &'static str {
    match (&log.layout.shape, log.writer.rule) {
        (Shape::Json(_), _) => "JSON that can have bytes which are not UTF-8",
        (Shape::Columns(_), _) => "the columns of a header line",
        (Shape::Words(_), _) => "words before and after the target",
        (Shape::Labels, _) => "the last label of a request",
        (_, Rule::Escaped) => "the first quote opens the request, the next one closes it",
        (_, Rule::RequestEscaped) => "the same; later fields by exactly one reading",
        (_, Rule::Words) => "the first quote, and three words without blanks",
        (_, Rule::WordsAfterUser) => "a quote after a date, and three words without blanks",
        (_, Rule::Raw) => "exactly one reading",
        (_, Rule::Unknown) => "all rules agree",
    }
}

fn table() -> String {
    let mut table =
        String::from("| `--log` | escaping | rule | checked with | note |\n|---|---|---|---|---|\n");
    for log in Log::all() {
        let (name, escaping, writer) = (log.name(), log.escaping(), log.writer);
        let (rule, checked, note) = (rule(log), writer.checked, writer.note);
        table += &format!("| `{name}` | {escaping:?} | {rule} | {checked} | {note} |\n");
    }
    table
}

#[test]
fn the_readme_has_the_table() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/README.md");
    let text = std::fs::read_to_string(path).unwrap();
    let (head, rest) = text.split_once(START).unwrap();
    let (_, tail) = rest.split_once(END).unwrap();
    let wanted = [head, START, &table(), END, tail].concat();
    if std::env::var_os("SIMDPCT_BLESS").is_some() {
        std::fs::write(path, &wanted).unwrap();
    }
    assert!(text == wanted || std::env::var_os("SIMDPCT_BLESS").is_some(), "run with SIMDPCT_BLESS=1");
}
