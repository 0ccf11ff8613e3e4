//! Queries, as urllib.parse has them: `urlencode`, `parse_qsl`, `parse_qs`.
//!
//! urllib's `urlencode` has `quote_plus` as a default argument, bound when it was defined, so replacing `quote_plus` does not
//! make it faster.

use codec::{AsciiSet, Decode, Encode};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyDictMethods, PyList, PyListMethods};

use crate::call::{self, Call};
use crate::object::{Answer, Obj, Stop, decode_str, new_list, new_pair, new_str};
use crate::quoting::{Errors, errors, for_query, is_utf8, with_decoded};

/// An argument that is a bool, or that is not given.
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
        Some(function) if call::is_function(function, call::QUOTE_PLUS) => true,
        Some(function) if call::is_function(function, call::QUOTE) => false,
        Some(_) => return Err(Stop::Unusual),
    };
    if !is_utf8(encoding) {
        return Err(Stop::Unusual);
    }
    self::errors(errors)?;
    for_query(call.py, safe, plus, |encoder| {
        let mut out = Pairs { py: call.py, out: String::new(), encoder, doseq };
        if let Some(entries) = query.as_entries() {
            for (key, value) in entries {
                out.push(key, value)?;
            }
        } else {
            for pair in query.as_items().ok_or(Stop::Unusual)? {
                let mut items = pair.as_items().filter(|_| pair.is_tuple()).ok_or(Stop::Unusual)?;
                match (items.next(), items.next(), items.next()) {
                    (Some(key), Some(value), None) => out.push(key, value)?,
                    _ => return Err(Stop::Unusual),
                }
            }
        }
        new_str(call.py, out.out.as_bytes())
    })
}

struct Pairs<'a, 'py> {
    py: Python<'py>,
    out: String,
    encoder: &'a Encode<AsciiSet>,
    doseq: bool,
}

impl<'py> Pairs<'_, 'py> {
    fn push(&mut self, key: Obj<'py>, value: Obj<'py>) -> Result<(), Stop> {
        match value.as_items().filter(|_| self.doseq) {
            None => self.pair(key, value),
            Some(values) => {
                // A key that urllib would refuse is refused even if there is no value.
                let before = self.out.len();
                self.value(key)?;
                self.out.truncate(before);
                for value in values {
                    self.pair(key, value)?;
                }
                Ok(())
            }
        }
    }

    fn pair(&mut self, key: Obj<'py>, value: Obj<'py>) -> Result<(), Stop> {
        if !self.out.is_empty() {
            self.out.push('&');
        }
        self.value(key)?;
        self.out.push('=');
        self.value(value)
    }

    fn value(&mut self, value: Obj<'py>) -> Result<(), Stop> {
        if let Some(bytes) = value.as_utf8().or_else(|| value.as_bytes()) {
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
    let dict = PyDict::new(call.py);
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

/// Hands the pairs of the query to `add`.
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
        // Whether a limit is looked at then, and whether it is strictly wrong, depends on the version of Python.
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
    let text = |piece: &[u8]| with_decoded(piece, decoder, |out| decode_str(py, out, replace));
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
            // urllib raises ValueError.
            None if strict => return Err(Stop::Unusual),
            None => (field, &[][..]),
        };
        if !value.is_empty() || keep_blank {
            add(text(name)?, text(value)?)?;
        }
    }
    Ok(())
}
