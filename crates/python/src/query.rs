//! Queries: `urlencode`, `parse_qsl` and `parse_qs` of urllib.parse.
//!
//! urllib binds `quote_plus` as the default value of an argument of `urlencode`, so replacing `quote_plus` alone would
//! not make `urlencode` faster.

use codec::{AsciiSet, Decode, Encode};
use pyo3::prelude::*;
use pyo3::types::{PyDictMethods, PyList, PyListMethods};

use crate::call::{Call, Pair};
use crate::object::{Answer, Obj, Stop, decode_str, new_dict, new_list, new_pair, new_str, no_memory};
use crate::quoting::{self, Errors, errors, for_query, is_utf8, with_decoded};

pub(crate) static URLENCODE: Pair = Pair::new();
pub(crate) static PARSE_QSL: Pair = Pair::new();
pub(crate) static PARSE_QS: Pair = Pair::new();

/// Returns the value of an argument that must be a `bool`, or false if the argument is not given.
fn flag(argument: Option<Obj<'_>>) -> Result<bool, Stop> {
    argument.map_or(Ok(false), |argument| argument.as_bool().ok_or(Stop::Unusual))
}

pub(crate) fn urlencode<'py>(call: &Call<'py>) -> Answer<'py> {
    let [query, doseq, safe, encoding, errors, quote_via] =
        call.arguments(["query", "doseq", "safe", "encoding", "errors", "quote_via"])?;
    let query = query.ok_or(Stop::Unusual)?;
    let doseq = flag(doseq)?;
    let plus = match quote_via {
        None => true,
        Some(function) if quoting::QUOTE_PLUS.contains(function) => true,
        Some(function) if quoting::QUOTE.contains(function) => false,
        Some(_) => return Err(Stop::Unusual),
    };
    if !is_utf8(encoding) {
        return Err(Stop::Unusual);
    }
    self::errors(errors)?;
    let py = call.py;
    for_query(py, safe, plus, |encoder| {
        let mut out = Pairs { py, out: String::new(), encoder, doseq };
        if let Some(entries) = query.dict_entries(py) {
            for (key, value) in &entries {
                out.push(key.into(), value.into())?;
            }
        } else if let Some(pairs) = query.tuple_items() {
            for pair in pairs {
                out.push_tuple(pair)?;
            }
        } else {
            for pair in &query.list_items(py).ok_or(Stop::Unusual)? {
                out.push_tuple(pair.into())?;
            }
        }
        new_str(py, out.out.as_bytes())
    })
}

/// For a value of more bytes than this, memory is reserved first, so that a failed allocation becomes an exception.
const LONG: usize = 1024;

/// A query string that `urlencode` is writing.
struct Pairs<'a, 'py> {
    py: Python<'py>,
    out: String,
    encoder: &'a Encode<AsciiSet>,
    doseq: bool,
}

impl Pairs<'_, '_> {
    /// Appends a pair, which must be a tuple of two items.
    fn push_tuple(&mut self, pair: Obj<'_>) -> Result<(), Stop> {
        let mut items = pair.tuple_items().ok_or(Stop::Unusual)?;
        match (items.next(), items.next(), items.next()) {
            (Some(key), Some(value), None) => self.push(key, value),
            _ => Err(Stop::Unusual),
        }
    }

    /// Appends a pair of a key and a value. With `doseq`, appends a pair for each item of a value that is a list or tuple.
    fn push(&mut self, key: Obj<'_>, value: Obj<'_>) -> Result<(), Stop> {
        if !self.doseq {
            self.pair(key, value)
        } else if let Some(values) = value.tuple_items() {
            self.pairs(key, values)
        } else if let Some(values) = value.list_items(self.py) {
            self.pairs(key, values.iter().map(Obj::from))
        } else {
            self.pair(key, value)
        }
    }

    fn pairs<'a>(&mut self, key: Obj<'_>, values: impl Iterator<Item = Obj<'a>>) -> Result<(), Stop> {
        // urllib converts the key first, so a key that it rejects is rejected even if there is no value.
        let before = self.out.len();
        self.value(key)?;
        self.out.truncate(before);
        for value in values {
            self.pair(key, value)?;
        }
        Ok(())
    }

    fn pair(&mut self, key: Obj<'_>, value: Obj<'_>) -> Result<(), Stop> {
        if !self.out.is_empty() {
            self.out.push('&');
        }
        self.value(key)?;
        self.out.push('=');
        self.value(value)
    }

    fn value(&mut self, value: Obj<'_>) -> Result<(), Stop> {
        if let Some(bytes) = value.as_utf8().or_else(|| value.as_bytes()) {
            if bytes.len() > LONG {
                self.out.try_reserve(self.encoder.encoded_len(bytes)).map_err(|_| no_memory(self.py))?;
            }
            self.encoder.encode_append(bytes, &mut self.out);
            return Ok(());
        }
        let text = value.plain_str(self.py)?;
        let text: &str = text.extract()?;
        self.encoder.encode_append(text, &mut self.out);
        Ok(())
    }
}

pub(crate) fn parse_qsl<'py>(call: &Call<'py>) -> Answer<'py> {
    let list = new_list(call.py)?;
    parse(call, |name, value| Ok(list.append(new_pair(call.py, name, value)?)?))?;
    Ok(list.into_any())
}

pub(crate) fn parse_qs<'py>(call: &Call<'py>) -> Answer<'py> {
    let dict = new_dict(call.py)?;
    parse(call, |name, value| {
        if let Some(values) = dict.get_item(&name)? {
            return Ok(values.cast_into::<PyList>().map_err(PyErr::from)?.append(value)?);
        }
        let values = new_list(call.py)?;
        values.append(value)?;
        Ok(dict.set_item(name, values)?)
    })?;
    Ok(dict.into_any())
}

/// Splits a query string and passes its decoded names and values to `add`. This is the common part of `parse_qsl` and
/// `parse_qs`.
fn parse<'py>(
    call: &Call<'py>,
    mut add: impl FnMut(Bound<'py, PyAny>, Bound<'py, PyAny>) -> Result<(), Stop>,
) -> Result<(), Stop> {
    let [query, keep_blank_values, strict_parsing, encoding, errors, max_num_fields, separator] = call
        .arguments([
            "qs",
            "keep_blank_values",
            "strict_parsing",
            "encoding",
            "errors",
            "max_num_fields",
            "separator",
        ])?;
    let py = call.py;
    let query = query.and_then(Obj::as_utf8).ok_or(Stop::Unusual)?;
    let (keep_blank, strict) = (flag(keep_blank_values)?, flag(strict_parsing)?);
    if !is_utf8(encoding) {
        return Err(Stop::Unusual);
    }
    let replace = self::errors(errors)? == Errors::Replace;
    let separator = match separator {
        None => b'&',
        Some(separator) => match separator.as_utf8() {
            Some(&[byte]) => byte,
            _ => return Err(Stop::Unusual),
        },
    };
    let max = max_num_fields.filter(|max| !max.is_none());
    if query.is_empty() {
        // Versions of Python differ for an empty query: some check the limit, and some reject the query under
        // `strict_parsing`. So urllib answers.
        return if max.is_some() || strict { Err(Stop::Unusual) } else { Ok(()) };
    }
    if let Some(max) = max {
        let fields = 1 + memchr::memchr_iter(separator, query).count();
        let max = max.as_int().ok_or(Stop::Unusual)?;
        if !usize::try_from(max).is_ok_and(|max| max >= fields) {
            return Err(Stop::Unusual);
        }
    }
    let decoder = Decode::new().form();
    let text = |piece: &[u8]| with_decoded(py, piece, decoder, |out| decode_str(py, out, replace));
    let mut start = 0;
    while start <= query.len() {
        let end = memchr::memchr(separator, &query[start..]).map_or(query.len(), |at| start + at);
        let field = &query[start..end];
        start = end + 1;
        if field.is_empty() && !strict {
            continue;
        }
        let (name, value) = match memchr::memchr(b'=', field) {
            Some(at) => (&field[..at], &field[at + 1..]),
            // urllib's function raises `ValueError` here.
            None if strict => return Err(Stop::Unusual),
            None => (field, &[][..]),
        };
        if !value.is_empty() || keep_blank {
            add(text(name)?, text(value)?)?;
        }
    }
    Ok(())
}
