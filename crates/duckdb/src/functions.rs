//! What each function does to the rows of a chunk.
//!
//! A row is a value or NULL, and NULL gives NULL. The second argument of a function, the name of a set or of a profile, is
//! nearly always the same for all rows, so rows are worked on in runs that share it, and a run goes through the batch verbs.

use std::borrow::Cow;
use std::ops::Range;

use simdpct::batch::{ColumnBuf, TooLong};
use simdpct::{Decode, Encode, OnInvalidUtf8, sets};
use simdpct_uri::canon::Profile;

/// The types that are used here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    Varchar,
    Blob,
}

/// A function of SQL.
pub trait Function {
    const NAME: &'static str;
    /// The types that the first argument may have.
    const TAKES: &'static [Type];
    /// Whether there is a form with a second argument, a name, and whether there is one without.
    const ARGUMENTS: &'static [usize];
    const GIVES: Type;

    /// Works on a run of rows that share their name. `Err` is a message, and ends the query.
    fn run<'a>(
        name: Option<&str>,
        rows: &impl Rows<'a>,
        range: Range<usize>,
        out: &mut impl Out,
    ) -> Result<(), String>;
}

/// An argument of a function.
pub trait Rows<'a> {
    /// The value of a row; `None` is NULL.
    fn get(&self, row: usize) -> Option<&'a [u8]>;
}

/// The result of a function.
pub trait Out {
    fn put(&mut self, row: usize, value: &[u8]);
    fn put_null(&mut self, row: usize);
}

/// Works on all rows of a chunk.
pub fn call<'a, F: Function>(
    values: &impl Rows<'a>,
    names: Option<&impl Rows<'a>>,
    rows: usize,
    out: &mut impl Out,
) -> Result<(), String> {
    let Some(names) = names else { return F::run(None, values, 0..rows, out) };
    let mut start = 0;
    while start < rows {
        let name = names.get(start);
        let same = (start + 1..rows).take_while(|&row| names.get(row) == name).count();
        let run = start..start + 1 + same;
        start = run.end;
        match name {
            None => run.for_each(|row| out.put_null(row)),
            // Names are ASCII, so what is not text is no name.
            Some(name) => F::run(Some(&String::from_utf8_lossy(name)), values, run, out)?,
        }
    }
    Ok(())
}

/// Writes the rows of a run from a column. NULL stays NULL, and so do rows that `otherwise`, in ascending order, names: what
/// is written there is up to the function it comes with.
fn put_column<'a, O: Out>(
    column: &ColumnBuf<i64>,
    rows: &impl Rows<'a>,
    range: Range<usize>,
    out: &mut O,
    otherwise: &[usize],
    mut put_other: impl FnMut(usize, &'a [u8], &mut O),
) {
    let mut otherwise = otherwise.iter().peekable();
    for (index, (row, value)) in range.zip(column).enumerate() {
        let Some(input) = rows.get(row) else {
            out.put_null(row);
            continue;
        };
        match otherwise.next_if(|&&other| other == index) {
            Some(_) => put_other(row, input, out),
            None => out.put(row, value),
        }
    }
}

fn too_long(_: TooLong) -> String {
    "the rows of one chunk are too long together".to_owned()
}

/// `pct_encode(value)`, `pct_encode(value, set)`.
pub struct PctEncode;

impl Function for PctEncode {
    const NAME: &'static str = "pct_encode";
    const TAKES: &'static [Type] = &[Type::Varchar, Type::Blob];
    const ARGUMENTS: &'static [usize] = &[1, 2];
    const GIVES: Type = Type::Varchar;

    fn run<'a>(
        name: Option<&str>,
        rows: &impl Rows<'a>,
        range: Range<usize>,
        out: &mut impl Out,
    ) -> Result<(), String> {
        let set = match name {
            None => sets::RFC3986_UNRESERVED,
            Some(name) => {
                let known = || {
                    sets::ALL.iter().filter(|set| set.kind == simdpct::SetKind::Policy).map(|set| set.name)
                };
                let unknown = || format!("pct_encode: there is no set '{name}'; sets are {}", list(known()));
                sets::find(name).ok_or_else(unknown)?.set
            }
        };
        let mut column = ColumnBuf::<i64>::new();
        Encode::keeping(set)
            .encode_slices(range.clone().map(|row| rows.get(row)), &mut column)
            .map_err(too_long)?;
        put_column(&column, rows, range, out, &[], |_, _, _| ());
        Ok(())
    }
}

/// `pct_decode(text)`: what is malformed stays, and so do escapes of bytes that are not UTF-8.
pub struct PctDecode;

impl Function for PctDecode {
    const NAME: &'static str = "pct_decode";
    const TAKES: &'static [Type] = &[Type::Varchar];
    const ARGUMENTS: &'static [usize] = &[1];
    const GIVES: Type = Type::Varchar;

    fn run<'a>(
        _: Option<&str>,
        rows: &impl Rows<'a>,
        range: Range<usize>,
        out: &mut impl Out,
    ) -> Result<(), String> {
        let mut column = ColumnBuf::<i64>::new();
        Decode::new().decode_slices(range.clone().map(|row| rows.get(row)), &mut column).map_err(too_long)?;
        let not_text: Vec<usize> = column.as_column().invalid_utf8().collect();
        put_column(&column, rows, range, out, &not_text, |row, text, out| {
            out.put(row, Decode::new().decode_utf8_with(text, OnInvalidUtf8::Keep).as_bytes());
        });
        Ok(())
    }
}

/// `try_pct_decode(text)`: NULL where an escape is malformed or the result is not UTF-8.
pub struct TryPctDecode;

impl Function for TryPctDecode {
    const NAME: &'static str = "try_pct_decode";
    const TAKES: &'static [Type] = &[Type::Varchar];
    const ARGUMENTS: &'static [usize] = &[1];
    const GIVES: Type = Type::Varchar;

    fn run<'a>(
        _: Option<&str>,
        rows: &impl Rows<'a>,
        range: Range<usize>,
        out: &mut impl Out,
    ) -> Result<(), String> {
        let mut column = ColumnBuf::<i64>::new();
        let mut refused = Vec::new();
        let values = range.clone().map(|row| rows.get(row));
        Decode::new()
            .strict()
            .decode_slices(values, &mut column, |index, _| refused.push(index))
            .map_err(too_long)?;
        // What is refused is empty in the column, and so no index comes twice.
        refused.extend(column.as_column().invalid_utf8());
        refused.sort_unstable();
        put_column(&column, rows, range, out, &refused, |row, _, out| out.put_null(row));
        Ok(())
    }
}

/// `pct_decode_blob(text)`: the bytes, whatever they are.
pub struct PctDecodeBlob;

impl Function for PctDecodeBlob {
    const NAME: &'static str = "pct_decode_blob";
    const TAKES: &'static [Type] = &[Type::Varchar];
    const ARGUMENTS: &'static [usize] = &[1];
    const GIVES: Type = Type::Blob;

    fn run<'a>(
        _: Option<&str>,
        rows: &impl Rows<'a>,
        range: Range<usize>,
        out: &mut impl Out,
    ) -> Result<(), String> {
        let mut column = ColumnBuf::<i64>::new();
        Decode::new().decode_slices(range.clone().map(|row| rows.get(row)), &mut column).map_err(too_long)?;
        put_column(&column, rows, range, out, &[], |_, _, _| ());
        Ok(())
    }
}

/// `pct_normalize(text)`: RFC 3986, 6.2.2.1 and 6.2.2.2, for escapes.
pub struct PctNormalize;

impl Function for PctNormalize {
    const NAME: &'static str = "pct_normalize";
    const TAKES: &'static [Type] = &[Type::Varchar];
    const ARGUMENTS: &'static [usize] = &[1];
    const GIVES: Type = Type::Varchar;

    fn run<'a>(
        _: Option<&str>,
        rows: &impl Rows<'a>,
        range: Range<usize>,
        out: &mut impl Out,
    ) -> Result<(), String> {
        let mut column = ColumnBuf::<i64>::new();
        Decode::NORMALIZE
            .decode_slices(range.clone().map(|row| rows.get(row)), &mut column)
            .map_err(too_long)?;
        // Only escapes of ASCII are decoded, so text stays text.
        put_column(&column, rows, range, out, &[], |_, _, _| ());
        Ok(())
    }
}

/// `url_canonical(url, profile)`: a URL that the profile refuses stays as it is.
pub struct UrlCanonical;

impl Function for UrlCanonical {
    const NAME: &'static str = "url_canonical";
    const TAKES: &'static [Type] = &[Type::Varchar];
    const ARGUMENTS: &'static [usize] = &[1, 2];
    const GIVES: Type = Type::Varchar;

    fn run<'a>(
        name: Option<&str>,
        rows: &impl Rows<'a>,
        range: Range<usize>,
        out: &mut impl Out,
    ) -> Result<(), String> {
        let profile = profile(Self::NAME, name)?;
        for row in range {
            match rows.get(row) {
                None => out.put_null(row),
                Some(url) => out.put(row, canonical(profile, url).as_deref().unwrap_or(url)),
            }
        }
        Ok(())
    }
}

/// `try_url_canonical(url, profile)`: NULL where the profile refuses the URL.
pub struct TryUrlCanonical;

impl Function for TryUrlCanonical {
    const NAME: &'static str = "try_url_canonical";
    const TAKES: &'static [Type] = &[Type::Varchar];
    const ARGUMENTS: &'static [usize] = &[1, 2];
    const GIVES: Type = Type::Varchar;

    fn run<'a>(
        name: Option<&str>,
        rows: &impl Rows<'a>,
        range: Range<usize>,
        out: &mut impl Out,
    ) -> Result<(), String> {
        let profile = profile(Self::NAME, name)?;
        for row in range {
            match rows.get(row).and_then(|url| canonical(profile, url)) {
                None => out.put_null(row),
                Some(url) => out.put(row, &url),
            }
        }
        Ok(())
    }
}

fn profile(function: &str, name: Option<&str>) -> Result<Profile, String> {
    let Some(name) = name else { return Ok(Profile::Rfc3986Scheme) };
    let known = || list(Profile::ALL.iter().map(|profile| profile.name()));
    Profile::find(name)
        .ok_or_else(|| format!("{function}: there is no profile '{name}'; profiles are {}", known()))
}

/// The canonical form; nothing if the profile refuses the URL, or if the form is not text.
fn canonical(profile: Profile, url: &[u8]) -> Option<Cow<'_, [u8]>> {
    profile.canonicalize(url).ok().filter(|url| std::str::from_utf8(url).is_ok())
}

fn list<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.collect::<Vec<_>>().join(", ")
}
