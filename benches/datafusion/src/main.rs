//! Times the functions of crates/datafusion, those that DataFusion has for Spark, and functions that call the crate percent-encoding.
//! They are called as the engine calls them, with batches of 8,192 rows.
//!
//! ```sh
//! cargo run --profile engine --manifest-path benches/datafusion/Cargo.toml -- [LIST...]
//! ```
//!
//! A LIST has a URL in each line; the default is samples/urls.txt. In each round, all functions take turns. The output
//! is the median in nanoseconds a row. In brackets is its ratio to the median of the first function. Answers are
//! compared before the timing. `benches/doors datafusion` writes a record.

#![forbid(unsafe_code)]

use std::error::Error;
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Instant;

use datafusion_common::arrow::array::{
    Array, ArrayRef, AsArray, StringArray, StringBuilder, StringViewBuilder,
};
use datafusion_common::arrow::compute::cast;
use datafusion_common::arrow::datatypes::{DataType, Field};
use datafusion_common::config::ConfigOptions;
use datafusion_common::{Result, ScalarValue, exec_err};
use datafusion_expr::{ColumnarValue, ScalarFunctionArgs, ScalarUDF, Volatility, create_udf};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

const ROWS: usize = 1_000_000;
const BATCH: usize = 8192;
const ROUNDS: usize = 5;

fn main() -> std::result::Result<(), Box<dyn Error>> {
    let lists: Vec<String> = std::env::args().skip(1).collect();
    let mut text = String::new();
    for list in &lists {
        text.push_str(&String::from_utf8_lossy(&std::fs::read(list)?));
    }
    if lists.is_empty() {
        text.push_str(include_str!("../../../samples/urls.txt"));
    }
    let lines: Vec<&str> = text.lines().filter(|line| !line.is_empty()).collect();
    // The rows must be distinct, because a branch predictor learns repeated ones by heart.
    let found = StringArray::from_iter_values(
        lines.iter().cycle().take(ROWS).enumerate().map(|(row, line)| format!("{line}&row={row}")),
    );
    let found = batches(&(Arc::new(found) as ArrayRef));
    let encoded = Task::ours("pct_encode", &[]).run(&found)?;
    println!(
        "## {ROWS} rows of {:.0} bytes, {:.0} encoded\n\n| ns a row | `Utf8` | `Utf8View` |\n|---|---|---|",
        mean(&found),
        mean(&encoded)
    );

    let percent = |name, work| Task::of(format!("percent-encoding: {name}"), work);
    let url = datafusion_spark::function::url::functions();
    let spark = |name: &str| {
        let function = url.iter().find(|function| function.name() == name).expect("a function of DataFusion");
        Task { name: format!("spark: {name}"), function: Arc::clone(function), names: vec![] }
    };
    let encode = [Task::ours("pct_encode", &[]), percent("encode", encode_all), spark("url_encode")];
    let decode = [
        Task::ours("pct_decode", &[]),
        Task::ours("try_pct_decode", &[]),
        percent("decode", decode_all),
        spark("try_url_decode"),
    ];
    let views = |batches: &[ArrayRef]| {
        batches
            .iter()
            .map(|batch| cast(batch, &DataType::Utf8View))
            .collect::<std::result::Result<Vec<_>, _>>()
    };
    let (found, encoded) = ([found.clone(), views(&found)?], [encoded.clone(), views(&encoded)?]);
    let (found, encoded) = (found.each_ref().map(Vec::as_slice), encoded.each_ref().map(Vec::as_slice));
    compare("", &found, &encode)?;
    compare(", as found", &found, &decode)?;
    compare(", encoded", &encoded, &decode)?;
    compare("", &found, &[Task::ours("pct_normalize", &[])])?;
    for profile in ["rfc3986", "rfc3986-scheme", "whatwg"] {
        compare("", &found, &[Task::ours("url_canonical", &[profile])])?;
    }
    // This column has few distinct values, 600 for the twelve URLs of samples/urls.txt, each of them many times.
    let few = StringArray::from_iter_values(
        (0..ROWS).map(|row| format!("{}&row={}", lines[row % lines.len()], row % 200)),
    );
    let few = cast(&few, &DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8)))?;
    compare(", a dictionary of few values", &[&batches(&few)], &[Task::ours("pct_encode", &[])])
        .map_err(Into::into)
}

fn batches(array: &ArrayRef) -> Vec<ArrayRef> {
    (0..array.len()).step_by(BATCH).map(|start| array.slice(start, BATCH.min(array.len() - start))).collect()
}

fn mean(batches: &[ArrayRef]) -> f64 {
    let sum: usize =
        batches.iter().flat_map(|batch| batch.as_string::<i32>().iter().flatten()).map(str::len).sum();
    sum as f64 / ROWS as f64
}

/// A function with its constant arguments.
struct Task {
    name: String,
    function: Arc<ScalarUDF>,
    names: Vec<&'static str>,
}

impl Task {
    fn ours(name: &str, names: &[&'static str]) -> Task {
        let found = simdpct_datafusion::functions().into_iter().find(|function| function.name() == name);
        let function = found.expect("a function of ours");
        Task { name: [&[name], names].concat().join(" "), function, names: names.to_vec() }
    }

    fn of(name: String, work: fn(&[ColumnarValue]) -> Result<ColumnarValue>) -> Task {
        // DataFusion asks a function for its return type, but this benchmark does not, so any type will do.
        let function =
            create_udf(&name, vec![DataType::Utf8], DataType::Utf8, Volatility::Immutable, Arc::new(work));
        Task { name, function: Arc::new(function), names: vec![] }
    }

    fn call(&self, batch: &ArrayRef, options: &Arc<ConfigOptions>) -> Result<ArrayRef> {
        let mut args = vec![ColumnarValue::Array(Arc::clone(batch))];
        args.extend(self.names.iter().map(|name| ColumnarValue::Scalar(ScalarValue::from(*name))));
        let field = Arc::new(Field::new("field", batch.data_type().clone(), true));
        let args = ScalarFunctionArgs {
            arg_fields: vec![Arc::clone(&field); args.len()],
            args,
            number_rows: batch.len(),
            return_field: field,
            config_options: Arc::clone(options),
        };
        self.function.invoke_with_args(args)?.into_array(batch.len())
    }

    fn run(&self, batches: &[ArrayRef]) -> Result<Vec<ArrayRef>> {
        let options = Arc::new(ConfigOptions::new());
        batches.iter().map(|batch| self.call(batch, &options)).collect()
    }

    /// Returns the time for a row, in nanoseconds. Each result is dropped before the next call, as a query engine does.
    fn time(&self, batches: &[ArrayRef]) -> Result<f64> {
        let options = Arc::new(ConfigOptions::new());
        let start = Instant::now();
        for batch in batches {
            std::hint::black_box(self.call(batch, &options)?);
        }
        Ok(start.elapsed().as_nanos() as f64 / ROWS as f64)
    }
}

/// Times the tasks in turn on each layout of the rows, and prints a row for each task. Reports how many answers differ from
/// those of the first task, which is a function of crates/datafusion.
fn compare(title: &str, layouts: &[&[ArrayRef]], tasks: &[Task]) -> Result<()> {
    let mut cells = vec![String::new(); tasks.len()];
    for batches in layouts {
        let want = tasks[0].run(batches)?;
        for task in &tasks[1..] {
            let got = task.run(batches)?;
            let differ: usize = got.iter().zip(&want).map(|(got, want)| differences(got, want)).sum();
            if differ > 0 {
                eprintln!("{}{title} differs from {} in {differ} rows", task.name, tasks[0].name);
            }
        }
        let mut times = vec![Vec::new(); tasks.len()];
        for _ in 0..ROUNDS {
            for (task, times) in tasks.iter().zip(&mut times) {
                times.push(task.time(batches)?);
            }
        }
        times.iter_mut().for_each(|times| times.sort_by(f64::total_cmp));
        let ours = times[0][ROUNDS / 2];
        for (times, cells) in times.iter().zip(&mut cells) {
            let median = times[ROUNDS / 2];
            *cells += &format!(" {median:.1} ({:.1}) |", median / ours);
        }
    }
    for (task, cells) in tasks.iter().zip(&cells) {
        println!("| `{}`{title} |{cells}", task.name);
    }
    Ok(())
}

fn differences(got: &ArrayRef, want: &ArrayRef) -> usize {
    let text = |array: &ArrayRef| cast(array, &DataType::Utf8View).expect("text");
    let (got, want) = (text(got), text(want));
    got.as_string_view().iter().zip(want.as_string_view()).filter(|(got, want)| got != want).count()
}

/// The bytes that are escaped: all ASCII bytes except the unreserved ones.
const KEEP: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

fn encode_all(args: &[ColumnarValue]) -> Result<ColumnarValue> {
    let [ColumnarValue::Array(array)] = args else { return exec_err!("a column") };
    let made: ArrayRef = match array.data_type() {
        DataType::Utf8 => {
            let array = array.as_string::<i32>();
            let mut out = StringBuilder::with_capacity(array.len(), array.value_data().len());
            for value in array {
                match value {
                    Some(value) => {
                        let _ = write!(out, "{}", utf8_percent_encode(value, KEEP));
                        out.append_value("");
                    }
                    None => out.append_null(),
                }
            }
            Arc::new(out.finish())
        }
        _ => {
            let array = array.as_string_view();
            let mut out = StringViewBuilder::with_capacity(array.len());
            let mut scratch = String::new();
            for value in array {
                scratch.clear();
                let pieces = value.map(|value| scratch.extend(utf8_percent_encode(value, KEEP)));
                out.append_option(pieces.map(|()| &scratch));
            }
            Arc::new(out.finish())
        }
    };
    Ok(ColumnarValue::Array(made))
}

fn decode_all(args: &[ColumnarValue]) -> Result<ColumnarValue> {
    let [ColumnarValue::Array(array)] = args else { return exec_err!("a column") };
    let decode = |value| percent_decode_str(value).decode_utf8_lossy();
    let made: ArrayRef = match array.data_type() {
        DataType::Utf8 => {
            let array = array.as_string::<i32>();
            let mut out = StringBuilder::with_capacity(array.len(), array.value_data().len());
            array.iter().for_each(|value| out.append_option(value.map(decode)));
            Arc::new(out.finish())
        }
        _ => {
            let array = array.as_string_view();
            let mut out = StringViewBuilder::with_capacity(array.len());
            array.iter().for_each(|value| out.append_option(value.map(decode)));
            Arc::new(out.finish())
        }
    };
    Ok(ColumnarValue::Array(made))
}
