//! Tests the functions in DataFusion, through SQL, data frames and calls, against models that process one byte at a time.

mod model;
mod rows;

use std::sync::Arc;

use datafusion::arrow::array::{
    Array, ArrayRef, AsArray, BinaryArray, DictionaryArray, Int8Array, Int32Array, NullBufferBuilder,
    RecordBatch, StringArray, StringViewArray, new_empty_array,
};
use datafusion::arrow::buffer::NullBuffer;
use datafusion::arrow::compute::{cast, concat};
use datafusion::arrow::datatypes::{DataType, Field, Int8Type, Int32Type, Schema, UInt16Type};
use datafusion::config::ConfigOptions;
use datafusion::datasource::MemTable;
use datafusion::error::Result;
use datafusion::logical_expr::{ColumnarValue, ScalarFunctionArgs, ScalarUDF};
use datafusion::prelude::*;
use simdpct::{Decode, OnInvalidUtf8};
use simdpct_datafusion::{expr_fn, functions, register_all};
use simdpct_uri::{Parts, Piece, resolve};

use crate::rows::rows;

type Value = Option<Vec<u8>>;

fn run<T>(work: impl Future<Output = Result<T>>) -> Result<T> {
    tokio::runtime::Runtime::new()?.block_on(work)
}

fn session(partitions: usize) -> SessionContext {
    let config = SessionConfig::new().with_target_partitions(partitions).with_batch_size(1000);
    let mut ctx = SessionContext::new_with_config(config);
    register_all(&mut ctx).expect("a session takes functions");
    ctx
}

/// Returns the values of an array of text or binary. Dictionaries are unpacked.
fn values(array: &ArrayRef) -> Vec<Value> {
    let flat = match array.data_type() {
        DataType::Dictionary(_, of) => cast(array, of).expect("its values"),
        _ => Arc::clone(array),
    };
    let given = |value: Option<&[u8]>| value.map(<[u8]>::to_vec);
    match flat.data_type() {
        DataType::Utf8 => flat.as_string::<i32>().iter().map(|v| given(v.map(str::as_bytes))).collect(),
        DataType::LargeUtf8 => flat.as_string::<i64>().iter().map(|v| given(v.map(str::as_bytes))).collect(),
        DataType::Utf8View => flat.as_string_view().iter().map(|v| given(v.map(str::as_bytes))).collect(),
        DataType::Binary => flat.as_binary::<i32>().iter().map(given).collect(),
        DataType::LargeBinary => flat.as_binary::<i64>().iter().map(given).collect(),
        DataType::BinaryView => flat.as_binary_view().iter().map(given).collect(),
        other => panic!("{other}"),
    }
}

/// Returns the type that the plan has for the first column of a query, and the column itself. Dictionaries are unpacked,
/// because each batch has a dictionary of its own.
fn column(ctx: &SessionContext, sql: &str) -> Result<(DataType, ArrayRef)> {
    run(async {
        let frame = ctx.sql(sql).await?;
        let of = frame.schema().field(0).data_type().clone();
        let batches = frame.collect().await?;
        let flat = match &of {
            DataType::Dictionary(_, flat) => flat,
            flat => flat,
        };
        let mut parts = vec![new_empty_array(flat)];
        for batch in &batches {
            assert_eq!(*batch.column(0).data_type(), of, "{sql}: what was planned");
            parts.push(cast(batch.column(0), flat)?);
        }
        let parts: Vec<&dyn Array> = parts.iter().map(|part| &**part).collect();
        Ok((of, concat(&parts)?))
    })
}

fn text(value: &str) -> Value {
    Some(value.into())
}

#[test]
fn constants() -> Result<()> {
    let ctx = session(1);
    for (sql, want) in [
        ("pct_encode('a b&c')", text("a%20b%26c")),
        ("pct_encode('/a b', 'rfc3986-path')", text("/a%20b")),
        ("pct_encode(X'FF00')", text("%FF%00")),
        ("pct_encode('')", text("")),
        ("pct_encode(NULL)", None),
        ("pct_encode('a', NULL)", None),
        ("pct_encode(NULL, 'none')", None),
        ("pct_decode('caf%C3%A9')", text("caf\u{e9}")),
        ("pct_decode('%FF%41%zz')", text("%FFA%zz")),
        ("try_pct_decode('%FF')", None),
        ("try_pct_decode('%zz')", None),
        ("try_pct_decode('%41')", text("A")),
        ("pct_decode_blob('%FF%00')", Some(vec![0xFF, 0])),
        ("pct_normalize('/%7euser/%2f')", text("/~user/%2F")),
        ("url_canonical('HTTP://A.example:80/%7e')", text("http://a.example/~")),
        ("url_canonical('HTTP://A.example:80/%7e', 'rfc3986')", text("http://a.example:80/~")),
        ("url_canonical('http://a.example/?b&a', 'w3lib-2.5')", text("http://a.example/?a=&b=")),
        ("url_canonical('http://a:99999/')", text("http://a:99999/")),
        ("try_url_canonical('http://a:99999/')", None),
        ("try_url_canonical('http://a/', NULL)", None),
    ] {
        assert_eq!(values(&column(&ctx, &format!("SELECT {sql}"))?.1), [want], "{sql}");
    }
    Ok(())
}

#[test]
fn errors_name_the_problem() {
    let ctx = session(1);
    for (sql, message) in [
        ("pct_encode('a', 'nope')", "pct_encode: there is no set 'nope'; sets are "),
        // `rfc1738-unsafe` is only a building block of other sets, so a query cannot name it.
        ("pct_encode('a', 'rfc1738-unsafe')", "there is no set"),
        ("url_canonical('a', 'nope')", "url_canonical: there is no profile 'nope'; profiles are "),
        (
            "pct_encode('a', CASE WHEN length > 1 THEN 'nope' ELSE 'none' END) FROM (SELECT 2 AS length)",
            "no set 'nope'",
        ),
        ("pct_decode(1)", "pct_decode(text): text must be text, not Int64"),
        ("pct_decode(X'41')", "text must be text, not Binary"),
        ("pct_encode(true)", "value must be text or binary, not Boolean"),
        ("pct_encode('a', 1)", "set must be text, not Int64"),
        ("pct_decode('a', 'b')", "pct_decode(text) does not take 2 arguments"),
        ("url_canonical()", "url_canonical(url [, profile]) does not take 0 arguments"),
        ("url_param('a')", "url_param(url, name) does not take 1 arguments"),
        ("url_with_param('a', 'b', 1)", "url_with_param(url, name, value): value must be text, not Int64"),
    ] {
        let error = column(&ctx, &format!("SELECT {sql}")).expect_err(sql).to_string();
        assert!(error.contains(message), "{sql}: {error}");
    }
    // An unknown name that is a constant is an error before any row is read.
    let planned = run(async { ctx.sql("SELECT pct_encode(v, 'nope') FROM (VALUES ('a')) t(v)").await });
    assert!(planned.expect_err("planned").to_string().contains("no set 'nope'"));
}

/// Returns the types in which DataFusion stores text.
fn layouts() -> Vec<DataType> {
    let dictionary = |keys, of| DataType::Dictionary(Box::new(keys), Box::new(of));
    vec![
        DataType::Utf8,
        DataType::LargeUtf8,
        DataType::Utf8View,
        dictionary(DataType::Int32, DataType::Utf8),
        dictionary(DataType::UInt16, DataType::Utf8View),
        dictionary(DataType::Int64, DataType::LargeUtf8),
    ]
}

fn binary(of: &DataType) -> DataType {
    match of {
        DataType::Utf8 => DataType::Binary,
        DataType::LargeUtf8 => DataType::LargeBinary,
        DataType::Utf8View => DataType::BinaryView,
        DataType::Dictionary(keys, values) => DataType::Dictionary(keys.clone(), Box::new(binary(values))),
        other => panic!("{other}"),
    }
}

/// Registers a table with two columns: `i` is the number of the row and `v` its value. Its batches are slices of one array.
fn table(ctx: &SessionContext, name: &str, column: &ArrayRef) -> Result<()> {
    let numbers = Arc::new(Int32Array::from_iter_values(0..i32::try_from(column.len()).expect("few rows")));
    let schema = Arc::new(Schema::new(vec![
        Field::new("i", DataType::Int32, false),
        Field::new("v", column.data_type().clone(), true),
    ]));
    let whole = RecordBatch::try_new(Arc::clone(&schema), vec![numbers, Arc::clone(column)])?;
    let (mut parts, mut start) = (vec![Vec::new(), Vec::new()], 0);
    for (batch, rows) in [1, 7, 0, 993, 64].into_iter().cycle().enumerate() {
        let rows = rows.min(whole.num_rows() - start);
        parts[batch % 2].push(whole.slice(start, rows));
        start += rows;
        if start == whole.num_rows() {
            break;
        }
    }
    ctx.register_table(name, Arc::new(MemTable::try_new(schema, parts)?))?;
    Ok(())
}

#[test]
fn every_layout_equals_the_model() -> Result<()> {
    let given: Vec<Option<String>> = rows(12_000);
    let flat: ArrayRef = Arc::new(StringArray::from(given.clone()));
    type Model = fn(usize, &str) -> Value;
    let functions: &[(&str, Model, bool)] = &[
        ("pct_encode(v)", |_, v| Some(model::encode(v, "")), true),
        ("pct_encode(v, 'rfc3986-path')", |_, v| Some(model::encode(v, model::PATH)), true),
        (
            "pct_encode(v, CASE WHEN i % 3 = 0 THEN 'rfc3986-path' WHEN i % 3 = 1 THEN 'rfc3986-unreserved' END)",
            |i, v| [Some(model::encode(v, model::PATH)), Some(model::encode(v, "")), None][i % 3].clone(),
            true,
        ),
        ("pct_decode(v)", |_, v| Some(model::decode_keeping(v)), true),
        ("try_pct_decode(v)", |_, v| model::decode_strictly(v), true),
        ("pct_decode_blob(v)", |_, v| Some(model::decode(v)), false),
        ("pct_normalize(v)", |_, v| Some(model::normalize(v)), true),
        ("pct_decode(pct_encode(v))", |_, v| text(v), true),
        ("url_canonical(v)", |_, v| model::canonical("rfc3986-scheme", v).or(text(v)), true),
        ("try_url_canonical(v, 'whatwg')", |_, v| model::canonical("whatwg", v), true),
        ("try_url_canonical(v, 'surt-java')", |_, v| model::canonical("surt-java", v), true),
    ];
    let mut compared = 0;
    for layout in layouts() {
        for partitions in [1, 4] {
            let ctx = session(partitions);
            table(&ctx, "t", &cast(&flat, &layout)?)?;
            for (sql, model, gives_text) in functions {
                let (of, got) = column(&ctx, &format!("SELECT {sql} FROM t ORDER BY i"))?;
                assert_eq!(
                    of,
                    if *gives_text { layout.clone() } else { binary(&layout) },
                    "{sql} of {layout}"
                );
                let got = values(&got);
                assert_eq!(got.len(), given.len());
                for (row, (got, given)) in got.into_iter().zip(&given).enumerate() {
                    let want = given.as_ref().and_then(|value| model(row, value));
                    assert_eq!(got, want, "{sql} of {given:?} in {layout}");
                    compared += 1;
                }
            }
        }
    }
    assert_eq!(compared, 6 * 2 * 11 * 12_000);
    Ok(())
}

/// Returns the texts of each row: of the value itself, the fields of a struct, or the items of a list. `None` is a null row.
fn texts(array: &ArrayRef) -> Vec<Option<Vec<Value>>> {
    let row = |row| match array.data_type() {
        DataType::Struct(_) => {
            let fields = array.as_struct().columns().iter();
            fields.map(|field| values(&field.slice(row, 1)).remove(0)).collect()
        }
        DataType::List(_) => {
            texts(&array.as_list::<i32>().value(row)).into_iter().flatten().flatten().collect()
        }
        _ => values(&array.slice(row, 1)),
    };
    (0..array.len()).map(|at| array.is_valid(at).then(|| row(at))).collect()
}

#[test]
fn parts_of_urls_equal_the_model() -> Result<()> {
    fn piece(piece: Option<Piece<'_>>) -> Option<Vec<Value>> {
        Some(vec![Some(piece?.raw().to_vec())])
    }
    fn slice(slice: Option<&[u8]>) -> Option<Vec<Value>> {
        piece(slice.map(Piece::new))
    }
    // The results are text, so an escape stays if its byte is not part of valid UTF-8.
    fn decoded(piece: Piece<'_>, decoder: Decode) -> Value {
        Some(decoder.decode_utf8_with(piece.raw(), OnInvalidUtf8::Keep).into_owned().into_bytes())
    }
    fn split(url: &str) -> Parts<'_> {
        simdpct_uri::split(url.as_bytes())
    }
    type Model = fn(&str) -> Option<Vec<Value>>;
    let functions: &[(&str, Model)] = &[
        ("url_scheme(v)", |v| slice(split(v).scheme())),
        ("url_authority(v)", |v| slice(split(v).authority())),
        ("url_userinfo(v)", |v| piece(split(v).userinfo())),
        ("url_user(v)", |v| piece(split(v).user())),
        ("url_password(v)", |v| piece(split(v).password())),
        ("url_host(v)", |v| piece(split(v).host())),
        ("url_port(v)", |v| slice(split(v).port())),
        ("url_path(v)", |v| slice(Some(split(v).path()))),
        ("url_query(v)", |v| slice(split(v).query())),
        ("url_fragment(v)", |v| piece(split(v).fragment())),
        ("url_parts(v)", |v| {
            let url = split(v);
            let (userinfo, host, fragment) = (url.userinfo(), url.host(), url.fragment());
            let parts = [
                url.scheme(),
                userinfo.as_ref().map(|piece| piece.raw()),
                host.as_ref().map(|piece| piece.raw()),
                url.port(),
                Some(url.path()),
                url.query(),
                fragment.as_ref().map(|piece| piece.raw()),
            ];
            Some(parts.map(|part| part.map(<[u8]>::to_vec)).to_vec())
        }),
        ("url_segments(v)", |v| {
            Some(split(v).segments().map(|segment| decoded(segment, Decode::new())).collect())
        }),
        ("url_params(v)", |v| {
            let pairs = split(v).query_pairs().flat_map(|pair| [pair.name, pair.value.unwrap_or_default()]);
            Some(pairs.map(|piece| decoded(piece, Decode::new().form())).collect())
        }),
        ("url_param(v, CASE WHEN v IS NULL THEN 'x' ELSE 'q' END)", |v| {
            let pair = split(v).query_pairs().find(|pair| *pair.name.decode_form() == *b"q")?;
            Some(vec![decoded(pair.value.unwrap_or_default(), Decode::new().form())])
        }),
        ("url_without_params(v, 'q, utm_*')", |v| {
            let is_removed = |name: &[u8]| name == b"q" || name.starts_with(b"utm_");
            slice(Some(&*split(v).without_query_params(|pair| is_removed(&pair.name.decode_form()))))
        }),
        ("url_with_param(v, 'a b', v)", |v| slice(Some(&*split(v).with_query_param("a b", v)))),
        ("url_join('http://h/a/b?c', v)", |v| {
            slice(resolve("http://h/a/b?c", v).ok().as_deref().map(str::as_bytes))
        }),
        ("url_join(v, '../x')", |v| slice(resolve(v, "../x").ok().as_deref().map(str::as_bytes))),
    ];
    let mut given: Vec<Option<String>> = rows(3_000);
    given.extend(
        ["http://u:p@h:8/a%2Fb/%FF?q=%41+b&utm_a=1&&x#f", "http://a-long-host.example/", ""]
            .map(|v| Some(v.to_owned())),
    );
    let flat: ArrayRef = Arc::new(StringArray::from(given.clone()));
    for layout in layouts() {
        let ctx = session(2);
        table(&ctx, "t", &cast(&flat, &layout)?)?;
        for (sql, model) in functions {
            let (_, got) = column(&ctx, &format!("SELECT {sql} FROM t ORDER BY i"))?;
            let want = given.iter().map(|value| value.as_ref().and_then(|value| model(value)));
            for ((got, want), given) in texts(&got).into_iter().zip(want).zip(&given) {
                assert_eq!(got, want, "{sql} of {given:?} in {layout}");
            }
        }
    }
    let ctx = session(1);
    for (sql, want) in [
        ("url_host('http://a.example/')", Some(vec![text("a.example")])),
        ("url_domain('http://www.a.co.uk/')", Some(vec![text("a.co.uk")])),
        ("url_suffix('http://www.a.co.uk/')", Some(vec![text("co.uk")])),
        ("url_param('?a=1', NULL)", None),
        ("url_segments(NULL)", None),
        ("url_segments('a//b')", Some(vec![text("a"), text(""), text("b")])),
        ("url_parts('b')", Some(vec![None, None, None, None, text("b"), None, None])),
    ] {
        assert_eq!(texts(&column(&ctx, &format!("SELECT {sql}"))?.1), [want], "{sql}");
    }
    Ok(())
}

/// Checks that the host, the path and the query of a view are views of the same buffer.
#[test]
fn parts_of_views_are_not_copied() -> Result<()> {
    let url = "https://a-long-host.example/a/long/path?and=a&long=query";
    let given: ArrayRef = Arc::new(StringViewArray::from(vec![Some(url), None, Some("http://short/")]));
    for (name, want) in [
        ("url_host", [Some("a-long-host.example"), None, Some("short")]),
        ("url_path", [Some("/a/long/path"), None, Some("/")]),
        ("url_query", [Some("and=a&long=query"), None, None]),
    ] {
        let made = call(name, &[Arc::clone(&given)])?;
        let made = made.as_string_view();
        assert!(made.iter().eq(want), "{name}");
        assert_eq!(made.data_buffers().len(), 1, "{name}");
        assert_eq!(made.data_buffers()[0].as_ptr(), given.as_string_view().data_buffers()[0].as_ptr());
    }
    Ok(())
}

#[test]
fn binary_is_encoded() -> Result<()> {
    let given: Vec<Value> = (0..3000_usize)
        .map(|row| (row % 5 != 4).then(|| (0..row % 40).map(|byte| (row * 37 + byte * 91) as u8).collect()))
        .collect();
    let given_flat: ArrayRef = Arc::new(BinaryArray::from_iter(given.clone()));
    let dictionary = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Binary));
    for of in [DataType::Binary, DataType::LargeBinary, DataType::BinaryView, dictionary] {
        let ctx = session(1);
        table(&ctx, "t", &cast(&given_flat, &of)?)?;
        let (made, got) = column(&ctx, "SELECT pct_encode(v) FROM t ORDER BY i")?;
        assert_eq!(binary(&made), of);
        let want = given.iter().map(|value| value.as_ref().map(|value| model::encode_bytes(value, "")));
        assert!(values(&got).into_iter().eq(want), "{of}");
    }
    // A function whose result is text must change the type even if no value changes.
    let clean: ArrayRef =
        Arc::new(BinaryArray::from_iter_values(["abc", "a-value-of-more-than-twelve-bytes"]));
    for of in [DataType::Binary, DataType::LargeBinary, DataType::BinaryView] {
        let got = call("pct_encode", &[cast(&clean, &of)?])?;
        assert_eq!(binary(got.data_type()), of);
        assert_eq!(values(&got), values(&clean));
    }
    Ok(())
}

fn function(name: &str) -> Arc<ScalarUDF> {
    functions().into_iter().find(|function| function.name() == name).expect("a function")
}

/// Calls a function directly, in the way a query engine does.
fn call(name: &str, arrays: &[ArrayRef]) -> Result<ArrayRef> {
    let function = function(name);
    let rows = arrays[0].len();
    let types: Vec<_> = arrays.iter().map(|array| array.data_type().clone()).collect();
    let args = ScalarFunctionArgs {
        args: arrays.iter().cloned().map(ColumnarValue::Array).collect(),
        arg_fields: types.iter().map(|of| Arc::new(Field::new("a", of.clone(), true))).collect(),
        number_rows: rows,
        return_field: Arc::new(Field::new("r", function.return_type(&types)?, true)),
        config_options: Arc::new(ConfigOptions::new()),
    };
    function.invoke_with_args(args)?.into_array(rows)
}

#[test]
fn unchanged_columns_are_not_copied() -> Result<()> {
    let plain = [Some("https://a.example/a/path/that/is/long"), None, Some("short"), Some("")];
    let clean = [Some("letters-digits_0.1~only-and-long"), None, Some("short"), Some("")];
    let flat = |values: &[Option<&str>]| Arc::new(StringArray::from(values.to_vec())) as ArrayRef;
    for of in layouts() {
        for (name, values) in [
            ("pct_encode", &clean),
            ("pct_decode", &plain),
            ("try_pct_decode", &plain),
            ("pct_normalize", &plain),
            ("url_canonical", &plain),
        ] {
            // `pct_normalize` and `url_canonical` keep some escapes, so values with these escapes must stay unchanged.
            let escaped = [Some("https://a.example/%2F%C3%A9/that/is/long"), values[1], values[2]];
            let cases: &[&[Option<&str>]] = if name == "pct_normalize" || name == "url_canonical" {
                &[values, &escaped]
            } else {
                &[values]
            };
            for &case in cases {
                let given = cast(&flat(case), &of)?;
                assert!(Arc::ptr_eq(&call(name, &[Arc::clone(&given)])?, &given), "{name} of {of}");
            }
        }
        // `pct_decode_blob` changes nothing here, so its binary result shares the memory of its argument.
        let given = cast(&flat(&plain), &of)?;
        let made = call("pct_decode_blob", &[Arc::clone(&given)])?;
        let memory = |array: &ArrayRef| match array.data_type() {
            DataType::Dictionary(..) => array.as_any_dictionary().values().to_data(),
            _ => array.to_data(),
        };
        for (made, given) in memory(&made).buffers().iter().zip(memory(&given).buffers()) {
            assert_eq!(made.as_ptr(), given.as_ptr(), "{of}");
        }
    }
    Ok(())
}

#[test]
fn unchanged_views_keep_their_buffers() -> Result<()> {
    let stays = "https://a.example/a/path/that/is/long";
    let array = StringViewArray::from(vec![
        Some(stays),
        Some("caf%C3%A9-and-more-of-it"),
        None,
        Some("%41"),
        Some("b"),
    ]);
    let made = call("pct_decode", &[Arc::new(array.clone())])?;
    let made = made.as_string_view();
    assert_eq!(made.views()[0], array.views()[0]);
    assert_eq!(made.data_buffers()[0].as_ptr(), array.data_buffers()[0].as_ptr());
    assert_eq!(made.data_buffers().len(), 2);
    assert!(made.iter().eq([Some(stays), Some("caf\u{e9}-and-more-of-it"), None, Some("A"), Some("b")]));

    // If all values change, the result does not keep the old buffers.
    let array = StringViewArray::from(vec![Some("caf%C3%A9-and-more-of-it"), None]);
    let made = call("pct_decode", &[Arc::new(array)])?;
    assert_eq!(made.as_string_view().data_buffers().len(), 1);
    assert!(made.as_string_view().iter().eq([Some("caf\u{e9}-and-more-of-it"), None]));
    Ok(())
}

#[test]
fn values_of_a_dictionary_are_processed_once() -> Result<()> {
    let values_of: ArrayRef = Arc::new(StringArray::from(vec![Some("a%20b"), Some("%zz"), None, Some("c")]));
    let keys = Int8Array::from(vec![Some(0), Some(1), None, Some(2), Some(3), Some(0), Some(0)]);
    let given: ArrayRef = Arc::new(DictionaryArray::<Int8Type>::try_new(keys.clone(), values_of)?);

    let made = call("pct_decode", &[Arc::clone(&given)])?;
    let dictionary = made.as_dictionary::<Int8Type>();
    assert_eq!(dictionary.keys().values().inner().as_ptr(), keys.values().inner().as_ptr());
    assert_eq!(dictionary.values().len(), 4);
    let want = [text("a b"), text("%zz"), None, None, text("c"), text("a b"), text("a b")];
    assert_eq!(values(&made), want);

    // If a value of a dictionary becomes null, the keys of this value become null, too.
    let made = call("try_pct_decode", &[given])?;
    assert_eq!(values(&made), [text("a b"), None, None, None, text("c"), text("a b"), text("a b")]);
    assert_eq!(made.null_count(), 3);

    // A batch that is a slice of many rows uses few values of its dictionary, and the result has only the used values.
    let many = StringArray::from_iter_values((0..5000).map(|row| format!("%{:02x}-{row}", row % 256)));
    let many = cast(&many, &DataType::Dictionary(Box::new(DataType::UInt16), Box::new(DataType::Utf8)))?;
    let made = call("pct_normalize", &[many.slice(4000, 100)])?;
    assert_eq!(made.as_dictionary::<UInt16Type>().values().len(), 100);
    let want = values(&many.slice(4000, 100))
        .into_iter()
        .map(|value| Some(model::normalize(std::str::from_utf8(&value.unwrap_or_default()).expect("text"))));
    assert!(values(&made).into_iter().eq(want));
    Ok(())
}

#[test]
fn each_row_of_a_dictionary_has_its_own_name() -> Result<()> {
    let given: ArrayRef =
        Arc::new(DictionaryArray::<Int32Type>::from_iter([Some("/a b"), None, Some("/a b"), Some("/a b")]));
    let names: ArrayRef =
        Arc::new(StringArray::from(vec![Some("rfc3986-path"), Some("none"), None, Some("none")]));
    let made = call("pct_encode", &[Arc::clone(&given), names])?;
    assert_eq!(made.data_type(), given.data_type());
    assert_eq!(values(&made), [text("/a%20b"), None, None, text("%2F%61%20%62")]);
    Ok(())
}

#[test]
fn bytes_under_a_null_do_not_matter() -> Result<()> {
    let (given, _) = (StringArray::from(vec!["%FF", "%zz", "a%20b", "x", "HTTP://A"]), ());
    let mut valid = NullBufferBuilder::new(5);
    [false, false, true, true, false].into_iter().for_each(|bit| valid.append(bit));
    let (offsets, bytes, _) = given.into_parts();
    let given: ArrayRef = Arc::new(StringArray::try_new(offsets, bytes, valid.finish())?);
    for (name, want) in [
        ("pct_decode", "a b"),
        ("try_pct_decode", "a b"),
        ("pct_decode_blob", "a b"),
        ("pct_encode", "a%2520b"),
        ("try_url_canonical", "a%20b"),
    ] {
        let made = call(name, &[Arc::clone(&given)])?;
        assert_eq!(values(&made), [None, None, text(want), text("x"), None], "{name}");
    }
    let none: ArrayRef = Arc::new(StringArray::from(Vec::<&str>::new()));
    assert_eq!(call("pct_encode", &[none])?.len(), 0);
    let nulls = StringArray::new_null(3);
    assert_eq!(call("try_pct_decode", &[Arc::new(nulls)])?.nulls().map(NullBuffer::null_count), Some(3));
    Ok(())
}

#[test]
fn queries_as_people_write_them() -> Result<()> {
    let given = rows(7_000);
    let flat: ArrayRef = Arc::new(StringArray::from(given.clone()));
    for of in layouts() {
        let ctx = session(4);
        table(&ctx, "t", &cast(&flat, &of)?)?;
        let count = |sql: &str| -> Result<i64> {
            let (_, found) = column(&ctx, sql)?;
            Ok(found.as_primitive::<datafusion::arrow::datatypes::Int64Type>().value(0))
        };
        let decoded: Vec<Value> =
            given.iter().map(|value| value.as_ref().map(|value| model::decode_keeping(value))).collect();

        let mut distinct: Vec<_> = decoded.iter().flatten().collect();
        distinct.sort();
        distinct.dedup();
        assert!(distinct.len() < given.iter().flatten().collect::<std::collections::BTreeSet<_>>().len());
        let distinct = distinct.len() as i64;
        assert_eq!(count("SELECT count(DISTINCT pct_decode(v)) FROM t")?, distinct, "{of}");
        let grouped =
            "SELECT count(*) FROM (SELECT pct_decode(v) AS d FROM t WHERE v IS NOT NULL GROUP BY d)";
        assert_eq!(count(grouped)?, distinct, "{of}");

        let changed = given
            .iter()
            .zip(&decoded)
            .filter(|(v, d)| v.as_ref().map(|v| v.as_bytes()) != d.as_deref())
            .count();
        assert_eq!(count("SELECT count(*) FROM t WHERE pct_decode(v) <> v")?, changed as i64, "{of}");

        let wrong = given.iter().flatten().filter(|value| model::decode_strictly(value).is_none()).count();
        assert!(wrong > 0);
        let sql = "SELECT count(*) FROM t WHERE v IS NOT NULL AND try_pct_decode(v) IS NULL";
        assert_eq!(count(sql)?, wrong as i64, "{of}");

        let sql = "SELECT count(*) FROM t a JOIN t b ON pct_encode(a.v) = pct_encode(b.v) AND a.i = b.i";
        assert_eq!(count(sql)?, given.iter().flatten().count() as i64, "{of}");
    }
    Ok(())
}

#[test]
fn data_frames() -> Result<()> {
    let frame = dataframe!("url" => ["HTTP://A.example/%7e?q=a b", "100%"])?;
    let made = frame.select(vec![
        expr_fn::pct_encode(col("url")),
        expr_fn::pct_encode_keeping(col("url"), lit("rfc3986-query")),
        expr_fn::pct_decode(col("url")),
        expr_fn::try_pct_decode(col("url")),
        expr_fn::pct_decode_blob(col("url")),
        expr_fn::pct_normalize(col("url")),
        expr_fn::url_canonical(col("url")),
        expr_fn::url_canonical_by(col("url"), lit("escapes")),
        expr_fn::try_url_canonical(col("url")),
        expr_fn::try_url_canonical_by(col("url"), lit("whatwg")),
    ])?;
    let batches = run(made.collect())?;
    let string = |value: Value| value.map(|value| String::from_utf8(value).expect("text"));
    let got =
        batches[0].columns().iter().map(|column| values(column).into_iter().map(string).collect::<Vec<_>>());
    let want = [
        ["HTTP%3A%2F%2FA.example%2F%257e%3Fq%3Da%20b", "100%25"],
        ["HTTP://A.example/%257e?q=a%20b", "100%25"],
        ["HTTP://A.example/~?q=a b", "100%"],
        ["HTTP://A.example/~?q=a b", "NULL"],
        ["HTTP://A.example/~?q=a b", "100%"],
        ["HTTP://A.example/~?q=a b", "100%"],
        ["http://a.example/~?q=a b", "100%"],
        ["HTTP://A.example/~?q=a b", "100%"],
        ["http://a.example/~?q=a b", "100%"],
        // The profile `whatwg` leaves the escape `%7e` as it is.
        ["http://a.example/%7e?q=a%20b", "NULL"],
    ];
    for (got, want) in got.zip(want) {
        assert_eq!(got, want.map(|value| (value != "NULL").then(|| value.to_owned())));
    }
    Ok(())
}

#[test]
fn planners_know_what_may_be_null() -> Result<()> {
    let ctx = session(1);
    let nullable = |sql: &str| -> Result<bool> {
        let frame = run(async { ctx.sql(&format!("SELECT {sql} FROM (SELECT 'a' AS v) t")).await })?;
        Ok(frame.schema().field(0).is_nullable())
    };
    assert!(!nullable("pct_encode(v, 'none')")?);
    assert!(!nullable("url_canonical(v)")?);
    assert!(nullable("try_pct_decode(v)")?);
    assert!(nullable("try_url_canonical(v)")?);
    assert!(nullable("pct_decode(nullif(v, 'a'))")?);
    Ok(())
}

#[test]
fn each_function_is_documented() {
    for function in functions() {
        let documentation = function.documentation().expect("documented");
        assert!(documentation.syntax_example.starts_with(&format!("{}(", function.name())));
        assert!(function.is_strict());
    }
    assert_eq!(functions().len(), 26);
}
