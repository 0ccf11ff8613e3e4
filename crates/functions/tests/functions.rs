//! Compares every function and policy with one call for each value, for all ways to store values. Checks FUNCTIONS.md.

use std::borrow::Cow;
use std::fs;
use std::path::Path;

use simdpct::batch::{Column, ColumnBuf};
use simdpct::{Decode, OnInvalidUtf8, sets};
use simdpct_functions::{
    Body, CANONICALIZE, DECODE, DECODE_BYTES, ENCODE, Failure, Function, MALFORMED, NORMALIZE, Options,
    Policy, Value, Values, Verb, extract_parts, find_profile, find_set, sql_functions,
};
use simdpct_uri::canon::Profile;

/// Test rows. Null rows have bytes as well, which must not change any result.
struct Rows {
    values: Vec<Vec<u8>>,
    valid: Vec<bool>,
}

/// The test rows as separate slices.
struct Scattered<'a>(&'a Rows);

impl<'a> Values<'a> for Scattered<'a> {
    type Offset = i32;

    fn rows(&self) -> usize {
        self.0.values.len()
    }

    fn get(&self, row: usize) -> Option<&'a [u8]> {
        self.0.valid[row].then(|| &self.0.values[row][..])
    }

    fn size(&self) -> usize {
        0
    }
}

/// The test rows as one column, with a validity bitmap beside it.
struct Stored<'a>(Scattered<'a>, Column<'a, i64>);

impl<'a> Values<'a> for Stored<'a> {
    type Offset = i64;

    fn rows(&self) -> usize {
        self.0.rows()
    }

    fn get(&self, row: usize) -> Option<&'a [u8]> {
        self.0.get(row)
    }

    fn size(&self) -> usize {
        self.1.bytes().len()
    }

    fn column(&self) -> Option<Column<'a, i64>> {
        Some(self.1)
    }
}

/// Makes test rows from pieces of URLs. Every seventh row is null.
fn rows(seed: u64, count: usize, utf8: bool) -> Rows {
    let text = [
        "%",
        "%2",
        "%41",
        "%zz",
        "%FF",
        "%c3%a9",
        "%C3",
        "a",
        "/",
        "é",
        "日本",
        "+",
        " ",
        "%25",
        "%7e",
        "x-eleven-xx",
        "\n",
        "\r",
        "%0A",
        "HTTP://EXAMPLE.org:80/./a/../b?",
        "http://a:99999/",
        "http://b.example/plain/path",
        "\u{1f600}",
        "%ED%A0%80",
    ];
    let mut state = seed;
    let mut below = |limit: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % limit
    };
    let mut value = || {
        let mut value = Vec::new();
        for _ in 0..below(9) {
            match below(if utf8 { text.len() } else { text.len() + 2 }) {
                piece if piece < text.len() => value.extend_from_slice(text[piece].as_bytes()),
                piece => value.push(0xC3 + (piece - text.len()) as u8),
            }
        }
        // Some values are longer than a batch of URLs that are canonicalized together.
        if below(500) == 0 { value.repeat(3000) } else { value }
    };
    Rows {
        values: (0..count).map(|_| value()).collect(),
        valid: (0..count).map(|row| row % 7 != 6).collect(),
    }
}

/// Returns the expected result for one value, computed in the plainest way. `Err` is the diagnostic.
fn one(verb: Verb, value: &[u8]) -> Result<Vec<u8>, String> {
    match verb {
        Verb::Encode(encoder) => Ok(encoder.encode(value).into_owned().into()),
        Verb::Malformed { utf8 } => {
            one(Verb::Decode { decoder: Decode::new(), policy: Policy::Fail, utf8 }, value)
        }
        Verb::Decode { decoder, policy, utf8 } => match policy {
            Policy::Keep | Policy::Replace if utf8 => {
                let keep = policy == Policy::Keep;
                let on_invalid = if keep { OnInvalidUtf8::Keep } else { OnInvalidUtf8::Replace };
                Ok(decoder.decode_utf8_with(value, on_invalid).into_owned().into())
            }
            Policy::Keep | Policy::Replace => Ok(decoder.decode(value).into_owned()),
            Policy::Null | Policy::Fail => {
                let bytes = decoder.strict().decode(value).map_err(|error| error.to_string())?;
                match decoder.decode_utf8(value) {
                    Err(error) if utf8 => Err(error.to_string()),
                    _ => Ok(bytes.into_owned()),
                }
            }
        },
        Verb::Canonicalize { profile, policy, utf8 } => {
            let form =
                profile.canonicalize(value).map(|form| form.into_owned()).map_err(|error| error.to_string());
            let form = form.and_then(|form| match std::str::from_utf8(&form) {
                Err(_) if utf8 => Err("the canonical form is not valid UTF-8".to_owned()),
                _ => Ok(form),
            });
            if policy == Policy::Keep { Ok(form.unwrap_or_else(|_| value.to_vec())) } else { form }
        }
    }
}

/// Compares the results of `verb` with those of `one`. `values` are the rows `rows`, stored in one of several ways.
fn check<'a>(verb: Verb, fail: bool, values: &impl Values<'a>, rows: &Rows, what: &str) {
    let wanted: Vec<_> = rows.values.iter().map(|value| one(verb, value)).collect();
    let is_valid = |row: usize| rows.valid[row];
    let results = match verb.apply(values, ColumnBuf::<i32>::new()) {
        Ok(results) => results,
        Err(Failure::Rejected { row, why }) => {
            assert!(fail, "{what}: row {row}, {why}");
            let first = (0..wanted.len()).find(|&row| is_valid(row) && wanted[row].is_err());
            assert_eq!(Some(row), first, "{what}");
            assert_eq!(Err(why), wanted[row], "{what}");
            return;
        }
        Err(failure) => panic!("{what}: {failure}"),
    };
    assert!(
        !fail || (0..wanted.len()).all(|row| !is_valid(row) || wanted[row].is_ok()),
        "{what}: nothing failed"
    );
    let nulls: Vec<usize> = results.nulls().filter(|row| is_valid(*row)).collect();
    let bad = (0..wanted.len()).filter(|&row| is_valid(row) && wanted[row].is_err());
    assert_eq!(nulls, bad.collect::<Vec<_>>(), "{what}: nulls");
    for (row, result) in results.iter().enumerate().filter(|(row, _)| is_valid(*row)) {
        let value = String::from_utf8_lossy(&rows.values[row]);
        assert_eq!(result, wanted[row].as_deref().ok(), "{what}: {value:?}");
    }
    let equal = (0..wanted.len()).all(|row| !is_valid(row) || wanted[row].as_ref() == Ok(&rows.values[row]));
    assert_eq!(results.equal(values), equal && values.size() == rows.values.concat().len(), "{what}: equal");
    let mut freed = 0;
    let column = results.into_column(ColumnBuf::with_capacity, |_| freed += 1).expect("it fits");
    assert!(freed <= 1);
    for (row, result) in column.iter().enumerate().filter(|(row, _)| is_valid(*row)) {
        assert_eq!(result, wanted[row].as_deref().unwrap_or_default(), "{what}: as a column");
    }
}

fn verb(function: &Function, options: Options) -> Verb {
    let Body::Verb(make) = function.body else { panic!("a function of URLs") };
    make(&options)
}

/// Checks a function with all its policies.
fn check_function(function: &Function, name: &str, options: Options) {
    let policies: Vec<Policy> = match function.policies {
        [] => vec![Policy::Keep],
        policies => policies.iter().map(|(policy, _)| *policy).collect(),
    };
    for policy in policies {
        // The three cases: text, arbitrary bytes, and arbitrary bytes for a function whose results must be text.
        for (utf8, utf8_values) in [(true, true), (false, false), (true, false)] {
            for (seed, count) in [(1, 0), (2, 1), (3, 13), (4, 2000)] {
                let mut rows = rows(seed, count, utf8_values);
                let verb = verb(function, Options { policy, utf8, ..options });
                for clean in [false, true] {
                    if clean {
                        // Only null rows keep bad values, for which `Policy::Fail` must not fail.
                        let valid = rows.values.iter_mut().zip(&rows.valid).filter(|(_, valid)| **valid);
                        valid
                            .filter(|(value, _)| one(verb, value).is_err())
                            .for_each(|(value, _)| value.clear());
                    }
                    let what = format!(
                        "{name}, {policy:?}, utf8: {utf8} of {utf8_values}, seed {seed}, clean: {clean}"
                    );
                    let fail = policy == Policy::Fail;
                    check(verb, fail, &Scattered(&rows), &rows, &what);
                    let mut column = ColumnBuf::<i64>::new();
                    rows.values.iter().for_each(|value| column.push(value).expect("it fits"));
                    check(verb, fail, &Stored(Scattered(&rows), column.as_column()), &rows, &what);
                }
            }
        }
    }
}

#[test]
fn functions_equal_a_call_for_each_value() {
    for plus in [false, true] {
        let options = Options { plus, ..Options::default() };
        let path = Options { keep: sets::RFC3986_PATH, ..options };
        check_function(&ENCODE, "encode", options);
        check_function(&ENCODE, "encode a path", path);
        check_function(&DECODE, "decode", options);
        check_function(&DECODE_BYTES, "decode to bytes", options);
    }
    check_function(&NORMALIZE, "normalize", Options::default());
    check_function(&MALFORMED, "malformed", Options::default());
    for &profile in Profile::ALL {
        check_function(&CANONICALIZE, profile.name(), Options { profile, ..Options::default() });
    }
}

#[test]
fn names_are_found() {
    assert_eq!(find_profile("whatwg"), Ok(Profile::Whatwg));
    assert!(
        find_profile("nope")
            .expect_err("no profile")
            .starts_with("there is no profile 'nope'; profiles are escapes, ")
    );
    for name in ["rfc3986-path", "path", "RFC3986_Path", "Path"] {
        assert_eq!(find_set(name), Ok(sets::RFC3986_PATH));
    }
    // This set is only a building block of other sets, so a caller cannot name it.
    assert!(
        find_set("rfc1738-unsafe")
            .expect_err("no set")
            .starts_with("there is no set 'rfc1738-unsafe'; sets are ")
    );
    let names: Vec<_> = sql_functions().iter().map(|function| function.syntax()).collect();
    assert_eq!(
        names,
        [
            "pct_encode(value [, set])",
            "pct_decode(text)",
            "try_pct_decode(text)",
            "pct_decode_blob(text)",
            "pct_normalize(text)",
            "url_canonical(url [, profile])",
            "try_url_canonical(url [, profile])",
            "url_scheme(url)",
            "url_authority(url)",
            "url_userinfo(url)",
            "url_user(url)",
            "url_password(url)",
            "url_host(url)",
            "url_domain(url)",
            "url_suffix(url)",
            "url_port(url)",
            "url_path(url)",
            "url_query(url)",
            "url_fragment(url)",
            "url_parts(url)",
            "url_segments(url)",
            "url_param(url, name)",
            "url_params(url)",
            "url_without_params(url, names)",
            "url_with_param(url, name, value)",
            "url_join(base, reference)",
        ]
    );
    for function in sql_functions() {
        let unknown = function.options(Some("nope")).err();
        let wanted =
            function.function.name.map(|name| format!("{}: there is no {}", function.name, name.argument()));
        assert_eq!(unknown.is_some(), wanted.is_some());
        assert!(unknown.unwrap_or_default().starts_with(&wanted.unwrap_or_default()));
        assert!(function.options(None).is_ok());
    }
}

#[test]
fn verbs_that_need_escapes_leave_other_values_alone() {
    for plus in [false, true] {
        for function in [&ENCODE, &DECODE, &DECODE_BYTES, &NORMALIZE, &CANONICALIZE] {
            let verb = verb(function, Options { plus, ..Options::default() });
            if verb.needs_escapes() {
                let values = [&b"A+b c/\xC3\xA9"[..]];
                assert!(
                    verb.apply(&values[..], ColumnBuf::<i32>::new()).expect("it fits").equal(&values[..])
                );
            }
        }
    }
    assert!(verb(&DECODE, Options::default()).needs_escapes());
}

/// Returns the result of a function of URLs for rows of arguments: the text of each field, or of each item of a list.
fn extract(name: &str, rows: &[[Option<&[u8]>; 3]], utf8: bool) -> Vec<Option<Vec<Option<Vec<u8>>>>> {
    let function = sql_functions().iter().find(|sql| sql.name == name).expect("a function").function;
    let urls: Vec<_> = rows.iter().map(|row| row[0].unwrap_or(b"http://null/?a#b").to_vec()).collect();
    let valid: Vec<_> = rows.iter().map(|row| row[0].is_some()).collect();
    let urls = Rows { values: urls, valid };
    let body = match function.body {
        Body::Url(body) => body,
        Body::Part(part) => {
            let mut made = Vec::new();
            extract_parts(part, &Scattered(&urls), |_, part| made.push(vec![part.map(<[u8]>::to_vec)]));
            return made.into_iter().zip(&urls.valid).map(|(made, valid)| valid.then_some(made)).collect();
        }
        Body::Verb(_) => panic!("{name} is not a function of URLs"),
    };
    let rest = |index: usize, row: usize| rows[row][index + 1];
    let made = function.output.extract(body, &Scattered(&urls), function.more.len(), rest, utf8);
    let mut start = 0;
    (0..rows.len())
        .map(|row| {
            let end = made.ends.get(row).map_or(row + 1, |end| *end);
            let items = std::mem::replace(&mut start, end)..end;
            let values = items.flat_map(|item| made.fields.iter().map(move |field| field[item].as_deref()));
            let values: Vec<_> = values.map(|value| value.map(<[u8]>::to_vec)).collect();
            assert!(made.valid[row] || values.iter().all(Option::is_none));
            made.valid[row].then_some(values)
        })
        .collect()
}

#[test]
fn functions_of_urls() {
    const URL: &str = "http://me:x@[::1]:80/a%2Fb/%FF/+%zz//?q=%41+b&x&&q=2&%C3%A9=%FF#top";
    const NONE: Option<&str> = None;
    // Name, arguments, and the result: fields or items, separated by `|`; `~` is a null.
    for (name, url, first, second, wanted) in [
        ("url_scheme", URL, "", "", "http"),
        ("url_scheme", "//a/b", "", "", "~"),
        ("url_scheme", "1a:b", "", "", "~"),
        ("url_authority", URL, "", "", "me:x@[::1]:80"),
        ("url_authority", "file:///a", "", "", ""),
        ("url_authority", "/a", "", "", "~"),
        ("url_user", URL, "", "", "me"),
        ("url_user", "//a:b:c@d", "", "", "a"),
        ("url_user", "//a", "", "", "~"),
        ("url_password", "//a:b:c@d", "", "", "b:c"),
        ("url_password", "//a@b", "", "", "~"),
        ("url_userinfo", URL, "", "", "me:x"),
        ("url_userinfo", "//@a", "", "", ""),
        ("url_userinfo", "//a", "", "", "~"),
        ("url_host", URL, "", "", "[::1]"),
        ("url_host", "HTTP://Ex\u{e4}mple.com:80", "", "", "Ex\u{e4}mple.com"),
        ("url_host", "file:///a", "", "", ""),
        ("url_host", "mailto:a@b", "", "", "~"),
        ("url_host", "", "", "", "~"),
        ("url_domain", "http://www.Example.co.uk:80/", "", "", "Example.co.uk"),
        ("url_domain", "//co.uk", "", "", "~"),
        ("url_domain", URL, "", "", "~"),
        ("url_suffix", "http://a.b.github.io./", "", "", "github.io"),
        ("url_suffix", "http://127.0.0.1/", "", "", "~"),
        ("url_port", URL, "", "", "80"),
        ("url_port", "http://a:/", "", "", ""),
        ("url_port", "http://a/", "", "", "~"),
        ("url_path", URL, "", "", "/a%2Fb/%FF/+%zz//"),
        ("url_path", "http://a?b", "", "", ""),
        ("url_query", URL, "", "", "q=%41+b&x&&q=2&%C3%A9=%FF"),
        ("url_query", "a?", "", "", ""),
        ("url_query", "a#?", "", "", "~"),
        ("url_fragment", URL, "", "", "top"),
        ("url_fragment", "a#", "", "", ""),
        ("url_fragment", "a", "", "", "~"),
        ("url_parts", "http://h/p", "", "", "http|~|h|~|/p|~|~"),
        ("url_parts", URL, "", "", "http|me:x|[::1]|80|/a%2Fb/%FF/+%zz//|q=%41+b&x&&q=2&%C3%A9=%FF|top"),
        ("url_segments", URL, "", "", "a/b|%FF|+%zz||"),
        ("url_segments", "http://h/", "", "", ""),
        ("url_param", URL, "q", "", "A b"),
        ("url_param", URL, "x", "", ""),
        ("url_param", URL, "\u{e9}", "", "%FF"),
        ("url_param", URL, "", "", "~"),
        ("url_param", "a?=v", "", "", "v"),
        ("url_params", URL, "", "", "q|A b|x||q|2|\u{e9}|%FF"),
        ("url_without_params", URL, "q", "", "http://me:x@[::1]:80/a%2Fb/%FF/+%zz//?x&&%C3%A9=%FF#top"),
        ("url_without_params", "/?utm_a=1&utm%5Fb&utm=2&gclid=3 4&q#f", " utm_*,, gclid", "", "/?utm=2&q#f"),
        ("url_without_params", "/?a*b=1&acb=2&a,b=3", "a%2Ab,a%2Cb", "", "/?acb=2"),
        ("url_without_params", "/?+a=1&b%09=2&a=3&c%2520=4", " %20a, b%09 ,c%2520", "", "/?a=3"),
        ("url_without_params", "/?abcbd=1&abd=2&ad=3&abcb=4", "a*b*d,x*", "", "/?ad=3&abcb=4"),
        ("url_without_params", "/?a#f", "*", "", "/#f"),
        ("url_without_params", "/?%FE=1&%FF=2&%25FF=3", "%FF", "", "/?%FE=1"),
        ("url_without_params", "/?a+b=1&a%2Bb=2&c%25d=3&c%2525d=4", "a+b,c%2525d", "", "/?a+b=1&c%25d=3"),
        ("url_param", "/?%FE=1&%FF=2", "%FF", "", "2"),
        ("url_without_params", "/a b?", "*", "", "/a b?"),
        ("url_with_param", "/a b?x#f", "n&m", "\u{e9} +", "/a b?x&n%26m=%C3%A9%20%2B#f"),
        ("url_join", "http://a/b/c/d;p?q", "../g", "", "http://a/b/g"),
        ("url_join", "/a", "b", "", "~"),
    ] {
        let rows = [
            [Some(url), Some(first), Some(second)],
            [NONE, Some(first), Some(second)],
            [Some(url), NONE, Some(second)],
            [Some(url), Some(first), NONE],
        ];
        let rows = rows.map(|row| row.map(|text| text.map(str::as_bytes)));
        let wanted = wanted.split('|').map(|text| (text != "~").then(|| text.as_bytes().to_vec())).collect();
        let nulls =
            1 + sql_functions().iter().find(|sql| sql.name == name).map_or(0, |sql| sql.function.more.len());
        let got = extract(name, &rows, true);
        for (row, got) in got.into_iter().enumerate() {
            let is_null = row > 0 && row <= nulls;
            let wanted = (!is_null).then_some(&wanted);
            assert_eq!(got.as_ref(), wanted, "{name}({url}, {first}, {second}), row {row}");
        }
    }
    // Each row removes only the parameters that its own argument names.
    let rows =
        ["q", "utm_*", "utm_*", "", "*,q", "utm_*"].map(|names| [Some("/?q&utm_a"), Some(names), NONE]);
    let rows = rows.map(|row| row.map(|text| text.map(str::as_bytes)));
    let got =
        extract("url_without_params", &rows, true).into_iter().map(|row| row.unwrap().remove(0).unwrap());
    let wanted = ["/?utm_a", "/?q", "/?q", "/?q&utm_a", "/", "/?q"];
    assert_eq!(got.collect::<Vec<_>>(), wanted.map(|url| url.as_bytes().to_vec()));
    // In binary, all escapes are decoded.
    let url = [Some(&b"/%FF?\xFF=%FF"[..]), Some(&b"\xFF"[..]), None];
    for name in ["url_segments", "url_param"] {
        assert_eq!(extract(name, &[url], false), [Some(vec![Some(vec![0xFF])])]);
    }
}

/// Checks that results for text are valid UTF-8, and that parts that are not decoded are slices of the URL.
#[test]
fn results_of_text_are_text() {
    let rows = rows(5, 3000, true);
    for function in sql_functions() {
        let body = match function.function.body {
            Body::Url(body) => body,
            Body::Part(part) => {
                let mut row = 0;
                extract_parts(part, &Scattered(&rows), |url, part| {
                    assert!(part.is_none_or(|part| std::str::from_utf8(part).is_ok()), "{}", function.name);
                    assert_eq!(url, if rows.valid[row] { &rows.values[row][..] } else { b"" });
                    row += 1;
                });
                assert_eq!(row, rows.valid.len());
                continue;
            }
            Body::Verb(_) => continue,
        };
        let (output, more) = (function.function.output, function.function.more.len());
        let name = |_: usize, row: usize| rows.values.get(row * 7 % 100).map(|value| &value[..]);
        let made = output.extract(body, &Scattered(&rows), more, name, true);
        assert!(made.valid == rows.valid, "{}", function.name);
        for value in made.fields.iter().flatten().flatten() {
            assert!(std::str::from_utf8(value).is_ok(), "{}: {}", function.name, value.escape_ascii());
        }
        let is_raw = more == 0 && !output.is_list();
        let is_borrowed = |value: &Value<'_>| !matches!(value, Some(Cow::Owned(_)));
        assert!(!is_raw || made.fields.iter().flatten().all(is_borrowed), "{}", function.name);
    }
}

/// Checks that FUNCTIONS.md has the current table of functions. With `SIMDPCT_BLESS=1`, writes the table into it.
#[test]
fn the_documentation_has_the_table() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("FUNCTIONS.md");
    let text = fs::read_to_string(&path).expect("the page");
    let (before, rest) = text.split_once("| function |").expect("a table");
    let (_, after) = rest.split_once("\n\n").expect("a paragraph after it");
    let mut made = format!("{before}| function | result | details |\n|---|---|---|\n");
    for function in sql_functions() {
        // Cells of whole descriptions would be too wide to read.
        let about = function.about();
        let (result, details) = about.split_once(". ").unwrap_or((&about, ""));
        made += &format!("| `{}` | {}. | {details} |\n", function.syntax(), result.trim_end_matches('.'));
    }
    made = made + "\n" + after;
    if std::env::var_os("SIMDPCT_BLESS").is_some() {
        fs::write(&path, made).expect("it can be written");
    } else {
        assert!(text == made, "SIMDPCT_BLESS=1 writes the table of {} anew", path.display());
    }
}
