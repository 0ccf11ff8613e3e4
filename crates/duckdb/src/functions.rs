//! Applies a function to the rows of a chunk.

use simdpct::batch::ColumnBuf;
use simdpct_functions::{Body, Extracted, SqlFunction, Values, Verb, extract_parts};

use crate::api::{Output, Vector};

/// Evaluates a function for each row and writes the result to `out`. `columns` are the arguments.
///
/// Processes each run of rows with the same name at once. Most calls name one set or profile (canonical form).
///
/// # Errors
///
/// A message if a name is not the name of a set or profile, or if DuckDB has no memory for lists. It makes the query fail.
pub(crate) fn evaluate(
    function: &SqlFunction,
    columns: &[Vector<'_>],
    out: &mut Output<'_>,
) -> Result<(), String> {
    let values = &columns[0];
    let make = match function.function.body {
        Body::Verb(make) => make,
        Body::Part(part) => {
            let mut row = 0;
            extract_parts(part, values, |_, part| {
                match part {
                    Some(part) => out.put(row, part),
                    None => out.put_null(row),
                }
                row += 1;
            });
            return Ok(());
        }
        Body::Url(body) => {
            let argument = |index: usize, row: usize| columns[1 + index].get(row);
            let count = function.function.more.len();
            return write(&function.function.output.extract(body, values, count, argument, true), out);
        }
    };
    let Some(names) = columns.get(1) else { return fill(make(&function.options(None)?), values, 0, out) };
    let mut start = 0;
    while start < values.rows() {
        let name = names.get(start);
        let end = (start + 1..names.rows()).find(|&row| names.get(row) != name).unwrap_or(names.rows());
        match name {
            None => (start..end).for_each(|row| out.put_null(row)),
            // All names of sets and profiles are ASCII, so a name with invalid UTF-8 matches none, even after U+FFFD
            // replaces its invalid bytes.
            Some(name) => {
                let verb = make(&function.options(Some(&String::from_utf8_lossy(name)))?);
                fill(verb, &values.slice(start..end), start, out)?;
            }
        }
        start = end;
    }
    Ok(())
}

/// Writes the results of a function of URLs.
fn write(made: &Extracted<'_>, out: &mut Output<'_>) -> Result<(), String> {
    let nulls = || (0..).zip(&made.valid).filter(|(_, valid)| !**valid).map(|(row, _)| row);
    nulls().for_each(|row| out.put_null(row));
    let mut lists;
    let fields = if made.ends.is_empty() {
        out.fields()
    } else {
        lists = out.lists(&made.ends)?;
        lists.fields()
    };
    for (mut field, values) in fields.into_iter().zip(&made.fields) {
        for (row, value) in values.iter().enumerate() {
            match value {
                Some(value) => field.put(row, value),
                None => field.put_null(row),
            }
        }
    }
    Ok(())
}

/// Applies `verb`, the work of a function, to `values`, and writes the results to the rows of `out` from `first` on.
fn fill(verb: Verb, values: &Vector<'_>, first: usize, out: &mut Output<'_>) -> Result<(), String> {
    let results = verb.apply(values, ColumnBuf::<i64>::new()).map_err(|failure| failure.to_string())?;
    for (row, result) in results.iter().enumerate() {
        match result.filter(|_| values.is_valid(row)) {
            Some(value) => out.put(first + row, value),
            None => out.put_null(first + row),
        }
    }
    Ok(())
}
