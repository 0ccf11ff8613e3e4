//! The tests of simdpct-uri, in one program, so that it is linked once.

mod canon;
mod charset;
mod compose;
mod hosts;
mod iri;
mod kernels;
mod owned;
mod split;
mod standard;
mod state_machine;
mod suffix;
mod vectors;
mod whole;

use simdpct_uri::canon::Profile;

/// The profile of w3lib with its default arguments.
const W3LIB: Profile = Profile::W3lib2_5 { keep_blank_values: true, keep_fragments: false };

/// Returns the rows of a file of `tests/vectors`. TAB separates the fields of a row.
fn raw_rows(text: &'static str) -> impl Iterator<Item = Vec<&'static str>> {
    text.lines().filter(|line| !line.starts_with("# ")).map(|line| line.split('\t').collect())
}

/// Returns `http` URLs with the path `/x` and a host that holds one non-ASCII character: every character of Unicode, at the start of the
/// host, at the end of a label in the middle, and at the end of the host. Of planes without characters, for private use, or with
/// ideographs that no rule maps to others, it takes only a few code points; if `SIMDPCT_TEST_SCALE` is less than 100, it does so of all.
fn hosts_with_every_character() -> impl Iterator<Item = String> {
    let step = if testkit::tiers::scale() < 100 { 97 } else { 1 };
    let full = |c: char| matches!(c, ..'\u{20000}' | '\u{2f800}'..'\u{2fa20}' | '\u{e0000}'..'\u{e1000}');
    let characters = ('\u{80}'..=char::MAX).step_by(step).filter(move |&c| full(c) || u32::from(c) % 97 == 0);
    characters.flat_map(|c| {
        [
            format!("http://{c}a.evil.org/x"),
            format!("http://good.com{c}.evil.org/x"),
            format!("http://a.evil.org{c}/x"),
        ]
    })
}

/// Returns the rows of a file, and replaces the escapes `\t`, `\n`, `\r`, `\\` and `\u{...}` in its fields.
fn rows(text: &'static str) -> impl Iterator<Item = Vec<String>> {
    raw_rows(text).map(|row| row.into_iter().map(unescaped).collect())
}

fn unescaped(field: &str) -> String {
    let mut out = String::new();
    let mut left = field;
    while let Some((before, after)) = left.split_once('\\') {
        out.push_str(before);
        let (escape, rest) = after.split_at(1);
        left = rest;
        match escape {
            "t" => out.push('\t'),
            "n" => out.push('\n'),
            "r" => out.push('\r'),
            "u" => {
                let (code, rest) = rest[1..].split_once('}').expect("a closing brace");
                out.extend(char::from_u32(u32::from_str_radix(code, 16).expect("hexadecimal digits")));
                left = rest;
            }
            _ => out.push_str(escape),
        }
    }
    out + left
}
