//! Tests the functions on Arrow arrays: ranges, threads, chunks, arguments, buffers and errors. The tests of crates/datafusion compare the
//! results in all layouts with models.
#![cfg(feature = "arrow")]

use std::num::NonZero;

use arrow_buffer::{Buffer, NullBuffer};
use arrow_data::ArrayData;
use arrow_schema::DataType;
use simdpct_functions::columns::{Column, Host, Job, ROWS, builder, value};
use simdpct_functions::{CANONICALIZE, DECODE, Failure, Function, MALFORMED, Options, Policy, sql_functions};

static SPLIT: Host = Host {
    large_lists: true,
    is_split: true,
    has_room: |_| true,
    take: Vec::with_capacity,
    free: drop,
    buffer: Buffer::from_vec,
    build: |parts| builder(parts).build(),
};
static WHOLE: Host = Host { large_lists: false, is_split: false, ..SPLIT };

fn url(name: &str) -> &'static Function {
    sql_functions().iter().find(|sql| sql.name == name).expect("a function").function
}

fn job(function: &'static Function, policy: Policy, host: &'static Host) -> Job {
    Job { function, options: Options { policy, ..Options::default() }, host }
}

fn array(of: DataType, nulls: Vec<bool>, buffers: Vec<Buffer>) -> ArrayData {
    let builder = ArrayData::builder(of).len(nulls.len()).buffers(buffers).align_buffers(true);
    builder.nulls(Some(NullBuffer::from(nulls))).build().expect("an array")
}

fn small(values: &[Option<&str>]) -> ArrayData {
    let (mut bytes, mut offsets) = (Vec::new(), vec![0_i32]);
    for value in values {
        bytes.extend_from_slice(value.unwrap_or_default().as_bytes());
        offsets.push(bytes.len() as i32);
    }
    let nulls = values.iter().map(Option::is_some).collect();
    array(DataType::Utf8, nulls, vec![Buffer::from_vec(offsets), Buffer::from_vec(bytes)])
}

/// Makes an array of views of texts of more than twelve bytes, each in a buffer of its own. `rows` has the index in `texts` for each row.
fn views(texts: &[&str], rows: impl Iterator<Item = usize>) -> ArrayData {
    let view = |index: usize| {
        let text = texts[index].as_bytes();
        let words =
            [text.len() as u32, u32::from_le_bytes([text[0], text[1], text[2], text[3]]), index as u32, 0];
        words.iter().rev().fold(0_u128, |view, word| view << 32 | u128::from(*word))
    };
    let views: Vec<u128> = rows.map(view).collect();
    let nulls = vec![true; views.len()];
    let mut buffers = vec![Buffer::from_vec(views)];
    buffers.extend(texts.iter().map(|text| Buffer::from(text.as_bytes())));
    array(DataType::Utf8View, nulls, buffers)
}

fn column(chunks: Vec<ArrayData>) -> Column {
    Column { data_type: chunks[0].data_type().clone(), chunks }
}

/// Returns the texts of arrays of texts.
fn texts(arrays: &[ArrayData]) -> Vec<Option<&str>> {
    let rows = arrays.iter().flat_map(|array| (0..array.len()).map(move |row| value(array, row)));
    rows.map(|value| value.map(|value| std::str::from_utf8(value).expect("text"))).collect()
}

/// Returns values with and without escapes, and nulls.
fn given(rows: usize) -> Vec<Option<&'static str>> {
    let some = [
        Some("http://a.example/%41?q=1"),
        Some("plain"),
        None,
        Some("http://b/%zz"),
        Some("%C3%A9"),
        Some(""),
    ];
    (0..rows).map(|row| some[row * row / 7 % some.len()]).collect()
}

#[test]
fn ranges_threads_and_chunks_do_not_matter() {
    let given = given(3 * ROWS + 5);
    let whole = column(vec![small(&given)]);
    let (first, rest) = given.split_at(ROWS - 3);
    let chunks = column(vec![small(first), small(&[]), whole.chunks[0].slice(first.len(), rest.len())]);
    for function in [&DECODE, &CANONICALIZE, url("url_host"), url("url_segments"), url("url_parts")] {
        let flat = |arrays: &[ArrayData]| -> Vec<Option<String>> {
            // Lists are compared by the texts in them, and structs by their fields, one field after the other.
            let fields = 0..arrays[0].child_data().len();
            let leaves: Vec<_> = fields
                .flat_map(|field| arrays.iter().map(move |array| array.child_data()[field].clone()))
                .collect();
            let leaves = if leaves.is_empty() { arrays } else { &leaves };
            texts(leaves).into_iter().map(|text| text.map(str::to_owned)).collect()
        };
        let one = NonZero::<usize>::MIN;
        let want = job(function, Policy::Null, &WHOLE).apply(&whole, &[], Some(one)).expect("results");
        assert_eq!(want.len(), 1);
        let split = job(function, Policy::Null, &SPLIT);
        for (input, threads, arrays) in
            [(&whole, Some(one), 4), (&whole, one.checked_add(2), 4), (&chunks, None, 4)]
        {
            let got = split.apply(input, &[], threads).expect("results");
            assert_eq!(got.len(), arrays);
            assert_eq!(got.iter().map(ArrayData::len).sum::<usize>(), given.len());
            assert!(flat(&got) == flat(&want), "{}", function.about);
        }
    }
    let decoded = job(&DECODE, Policy::Null, &SPLIT).apply(&chunks, &[], None).expect("results");
    let model = |text: &'static str| match text {
        "http://b/%zz" => None,
        "%C3%A9" => Some("\u{e9}"),
        "http://a.example/%41?q=1" => Some("http://a.example/A?q=1"),
        other => Some(other),
    };
    assert!(texts(&decoded).into_iter().eq(given.iter().map(|text| text.and_then(model))));
    assert_eq!(
        chunks.get(ROWS + 8).map(<[u8]>::to_vec),
        given[ROWS + 8].map(|text| text.as_bytes().to_vec())
    );
}

#[test]
fn arguments_of_one_row_are_repeated() {
    let join = job(url("url_join"), Policy::Keep, &SPLIT);
    let references = [Some("x"), None, Some("../y")];
    let (one, three) = (column(vec![small(&[Some("http://h/a/b")])]), column(vec![small(&references)]));
    let got = join.apply(&one, std::slice::from_ref(&three), None).expect("results");
    assert_eq!(texts(&got), [Some("http://h/a/x"), None, Some("http://h/y")]);
    let got = join.apply(&three, &[one], None).expect("results");
    assert_eq!(texts(&got), [None, None, None]);
    let null = column(vec![small(&[None])]);
    assert_eq!(texts(&join.apply(&null, std::slice::from_ref(&three), None).expect("results")), [None; 3]);

    let two = column(vec![small(&[None, None])]);
    let why = join.apply(&three, &[two], None).expect_err("two rows").to_string();
    assert_eq!(why, "reference has 2 rows, and the arguments before it 3");
    let binary = column(vec![array(DataType::Binary, vec![true], small(&[Some("x")]).buffers().to_vec())]);
    let why = join.apply(&three, &[binary], None).expect_err("binary").to_string();
    assert_eq!(why, "reference must be text, as the first column is");
}

#[test]
fn failures_count_rows_from_the_start_of_the_column() {
    let mut given = vec![Some("plain-and-longer-than-a-view"); ROWS + 100];
    given[ROWS + 7] = Some("%zz");
    let chunk = |given: &[Option<&str>]| column(vec![small(&[None, None]), small(given)]);
    let fail = job(&DECODE, Policy::Fail, &SPLIT);
    let row_of = |column: &Column| match fail.apply(column, &[], None) {
        Err(Failure::Rejected { row, .. }) => row,
        other => panic!("{other:?}"),
    };
    assert_eq!(row_of(&chunk(&given)), 2 + ROWS + 7);
    let malformed = job(&MALFORMED, Policy::Keep, &SPLIT).apply(&chunk(&given), &[], None).expect("booleans");
    let is_set = |row: usize| malformed[2].buffers()[0][row / 8] >> (row % 8) & 1 == 1;
    assert!((0..100).all(|row| is_set(row) == (row == 7)));
    // Only some views have escapes, so they are decoded apart from the others.
    let texts = ["plain-and-longer-than-a-view", "%zz-and-longer-than-a-view"];
    let rows = (0..ROWS + 100).map(|row| usize::from(row == ROWS + 7));
    assert_eq!(row_of(&column(vec![views(&texts, rows)])), ROWS + 7);
}

/// Checks that a call fails if `has_room` of its host reports that there is too little memory.
#[test]
fn a_host_without_memory_is_asked_before_each_range() {
    static POOR: Host = Host { has_room: |bytes| bytes < 1000, ..SPLIT };
    let texts = |len: usize| column(vec![small(&[Some("a"), None, Some(&"%41".repeat(len / 3))])]);
    assert!(job(&DECODE, Policy::Keep, &POOR).apply(&texts(30), &[], None).is_ok());
    let failed = job(&DECODE, Policy::Keep, &POOR).apply(&texts(300), &[], None);
    assert!(matches!(failed, Err(Failure::NoMemory)));
    assert_eq!(Failure::NoMemory.to_string(), "there is not enough memory for the results");
}

#[test]
fn buffers_are_handed_over_once() {
    let texts: Vec<_> = (0..4000).map(|number| format!("http://a-long-host-{number}.example/path")).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let column = column(vec![views(&texts, (0..4 * ROWS).map(|row| row * 31 % texts.len()))]);
    for name in ["url_host", "pct_decode", "url_param"] {
        let more = if name == "url_param" { vec![self::column(vec![small(&[Some("q")])])] } else { vec![] };
        let got = job(url(name), Policy::Keep, &SPLIT).apply(&column, &more, None).expect("results");
        let buffers: usize = got.iter().map(|array| array.buffers().len() - 1).sum();
        assert_eq!(buffers, texts.len(), "{name}");
    }
}
