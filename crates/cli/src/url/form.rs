//! Converts `application/x-www-form-urlencoded` to rows of pairs, and back.

use std::borrow::Cow;

use serde_json::Value as Json;
use simdpct::{ByteSet, Decode, TryDecode};
use simdpct_uri::form::{self, LineEnds, Serializer};

use super::row::{self, Document, Style};
use crate::common::charset::{Charset, push_reference};
use crate::common::fault::{Handling, Policy};
use crate::common::reason::{Reason, Refusal, refuse};
use crate::common::records::Records;
use crate::common::utf8;
use crate::convert::{Convert, Text, Value};

/// Converts a form to its pairs, as a row of alternating names and values or as a JSON array of pairs.
#[derive(Clone, Copy, Debug)]
pub struct FromForm {
    /// The format in which the pairs are written.
    pub style: Style,
    /// The charset of forms that do not name one; `None` for UTF-8.
    pub charset: Option<Charset>,
}

/// The name of the parameter whose value is the charset of its form (HTML Standard, section 4.10.22.4).
const CHARSET: &[u8] = b"_charset_";

/// Returns the charset that a form names, `None` if that is UTF-8, or `other` if the form names none.
fn named_charset<T: AsRef<[u8]>>(
    mut pairs: impl Iterator<Item = (T, T)>,
    other: Option<Charset>,
) -> Option<Charset> {
    let label = pairs.find(|(name, _)| name.as_ref() == CHARSET).map(|(_, label)| label);
    let named = label.and_then(|label| Charset::find(std::str::from_utf8(label.as_ref()).ok()?).ok());
    if named == Some(Charset::UTF_8) { None } else { named.or(other) }
}

/// Returns the offsets of the non-empty parameters of `form`. Each of them is a pair.
fn starts(form: &[u8]) -> impl Iterator<Item = usize> {
    let mut next = 0;
    form.split(|&byte| byte == b'&').filter_map(move |parameter| {
        let start = next;
        next += parameter.len() + 1;
        (!parameter.is_empty()).then_some(start)
    })
}

impl Convert for FromForm {
    fn append(&mut self, value: Value<'_>, handling: Handling, out: &mut Vec<u8>) -> Result<usize, Refusal> {
        let repaired = handling.repaired(value.bytes, b"%2525");
        let charset = named_charset(form::pairs(&*repaired), self.charset);
        let (mut refusal, mut is_decoded) = (None, false);
        let pairs = form::pairs(&*repaired).zip(starts(value.bytes)).map_while(|((name, value), offset)| {
            is_decoded |= matches!((&name, &value), (Cow::Owned(_), _) | (_, Cow::Owned(_)));
            let pair = text_in(charset, name, handling.not_text)
                .and_then(|name| Ok((name, text_in(charset, value, handling.not_text)?)));
            pair.map_err(|reason| refusal = Some(Refusal { offset, reason })).ok()
        });
        self.write(pairs, out);
        refusal.map_or(Ok(usize::from(is_decoded)), Err)
    }

    fn append_many(&mut self, text: Text<'_>, out: &mut Vec<u8>) -> Option<u64> {
        let Text { bytes: text, records, .. } = text;
        if records != Records::Lines || self.style != Style::Tsv || self.charset.is_some() {
            return None;
        }
        append_tsv(text, out).map(|()| 0)
    }

    fn reads_utf8(&self) -> bool {
        self.charset.is_none()
    }

    fn missing(&self) -> &'static [u8] {
        self.style.missing()
    }
}

/// Converts the forms in the lines of `text` to rows of TSV, and appends them to `out`. Returns `None` if a value needs
/// escapes in TSV, an escape is malformed, or a form names its charset; new bytes of `out` are then unspecified.
fn append_tsv(text: &[u8], out: &mut Vec<u8>) -> Option<()> {
    // Escapes of these bytes stay, in upper case. `%25` is decoded last.
    const DECODE: TryDecode = Decode::NORMALIZE.keep(ByteSet::from_bytes(b"%\t\r\n\0")).form().strict();
    if memchr::memchr3(b'\t', b'\r', 0, text).is_some() {
        return None;
    }
    let start = out.len();
    let mut append = |piece: &[u8]| DECODE.decode_append(piece, out).ok();
    // In `rows`, separators become tabs. `from` is the offset of the first byte that is not appended yet.
    let (mut rows, mut from) = (text.to_vec(), 0);
    // The start of the current parameter, whether it has a `=`, and whether its row has no pair yet.
    let (mut parameter, mut has_value, mut is_first) = (0, false, true);
    let mut marks = Vec::new();
    simdpct_records::mark_bytes(text, *b"&=\n", &mut marks);
    let mut places = marks.iter().enumerate().flat_map(|(index, [ands, equals, ends])| {
        let mut word = ands | equals | ends;
        std::iter::from_fn(move || {
            let at = 64 * index + word.trailing_zeros() as usize;
            word &= word.checked_sub(1)?;
            Some(at)
        })
    });
    loop {
        let at = places.next().unwrap_or(text.len());
        let byte = text.get(at).copied();
        if byte == Some(b'=') {
            if !std::mem::replace(&mut has_value, true) {
                rows[at] = b'\t';
            }
            continue;
        }
        if parameter < at {
            is_first = false;
            if !has_value {
                append(&rows[from..at])?;
                append(b"\t")?;
                from = at;
            }
        }
        if byte == Some(b'&') {
            // This `&` separates two pairs, unless no pair is before it, or nothing or another `&` follows.
            if is_first || matches!(text.get(at + 1), None | Some(b'&' | b'\n')) {
                append(&rows[from..at])?;
                from = at + 1;
            } else {
                rows[at] = b'\t';
            }
        } else {
            is_first = true;
        }
        (parameter, has_value) = (at + 1, false);
        if byte.is_none() {
            break;
        }
    }
    append(&rows[from..])?;
    let new = &out[start..];
    // A cell of two quotes would mean an empty cell.
    if memchr::memmem::find(new, b"\"\"").is_some() || memchr::memmem::find(new, CHARSET).is_some() {
        return None;
    }
    if memchr::memmem::find(new, b"%25").is_some() {
        let new = out.split_off(start);
        row::append_unescaped_percents(Style::Tsv, &new, out);
    }
    Some(())
}

/// Converts a decoded name or value to UTF-8. Without a charset, bytes that are invalid UTF-8 stay unless `policy` says
/// otherwise.
fn text_in(charset: Option<Charset>, bytes: Cow<'_, [u8]>, policy: Policy) -> Result<Cow<'_, [u8]>, Reason> {
    if let Some(charset) = charset {
        let mut text = Vec::new();
        charset.decode(&bytes, policy, &mut text).map_err(|_| Reason::NotInCharset)?;
        return Ok(Cow::Owned(text));
    }
    utf8::by_policy(bytes, policy).map_err(|_| Reason::InvalidUtf8)
}

impl FromForm {
    fn write<'a>(self, pairs: impl Iterator<Item = (Cow<'a, [u8]>, Cow<'a, [u8]>)>, out: &mut Vec<u8>) {
        if self.style == Style::Jsonl {
            out.push(b'[');
            for (index, (name, value)) in pairs.enumerate() {
                out.extend_from_slice(if index > 0 { b",[" } else { b"[" });
                row::write_bytes(&name, out);
                out.push(b',');
                row::write_bytes(&value, out);
                out.push(b']');
            }
            out.push(b']');
            return;
        }
        for (index, cell) in pairs.flat_map(|(name, value)| [name, value]).enumerate() {
            if index > 0 {
                out.push(self.style.delimiter());
            }
            // A pair always has a value, so an empty cell without quotes can mean an empty value.
            let cell = Some(row::escaped(self.style, cell)).filter(|cell| !cell.is_empty());
            row::write_cell(self.style, false, cell.as_deref(), out);
        }
    }
}

/// Converts pairs to a form.
#[derive(Clone, Copy, Debug)]
pub struct ToForm {
    /// The format in which the pairs are read.
    pub from: Style,
    /// The treatment of line ends in the names and values of pairs.
    pub line_ends: LineEnds,
    /// The charset of forms that do not name one; `None` for UTF-8.
    pub charset: Option<Charset>,
}

impl Convert for ToForm {
    fn append(&mut self, value: Value<'_>, handling: Handling, out: &mut Vec<u8>) -> Result<usize, Refusal> {
        if value.bytes.is_empty() {
            return Ok(0);
        }
        let mut form = Serializer::new();
        form.line_ends(self.line_ends);
        let pairs = self.pairs(value.bytes)?;
        let charset = named_charset(pairs.iter().map(|[name, value]| (name, value)), self.charset);
        for pair in pairs {
            let [name, value] = match charset {
                None => pair,
                Some(charset) => {
                    let mut encoded = [Vec::new(), Vec::new()];
                    for (text, bytes) in pair.iter().zip(&mut encoded) {
                        // The offset of the pair in its row is not known here, so the rejection has offset 0.
                        charset
                            .encode(text, handling.not_text, bytes, push_reference)
                            .map_err(|refusal| Refusal { offset: 0, ..refusal })?;
                    }
                    encoded.map(Cow::Owned)
                }
            };
            form.append_pair(&name, &value);
        }
        out.extend_from_slice(form.finish().as_bytes());
        Ok(0)
    }
}

impl ToForm {
    /// Reads the pairs of names and values in `row`.
    fn pairs<'a>(&self, row: &'a [u8]) -> Result<Vec<[Cow<'a, [u8]>; 2]>, Refusal> {
        if self.from != Style::Jsonl {
            let cells = row::read_cells(self.from, row)?;
            let mut cells = cells.into_iter().map(|cell| row::unescaped(self.from, cell.unwrap_or_default()));
            let mut pairs = Vec::new();
            while let Some(name) = cells.next() {
                let value = cells.next();
                let message = "expected alternating names and values, and the last value is missing";
                pairs.push([name, value.ok_or_else(|| refuse(message))?]);
            }
            return Ok(pairs);
        }
        let pair = |name: Vec<u8>, value: Json| Some([name, text(value)?].map(Cow::Owned));
        let pairs: Option<Vec<_>> = match row::read_json(row)? {
            Document::Other(Json::Array(pairs)) => pairs
                .into_iter()
                .map(|item| {
                    let [name, value] = serde_json::from_value(item).ok()?;
                    pair(text(name)?, value)
                })
                .collect(),
            Document::Object(members) => members
                .into_iter()
                .flat_map(|(name, value)| {
                    let values = if let Json::Array(values) = value { values } else { vec![value] };
                    values.into_iter().map(move |value| pair(name.clone().into_bytes(), value))
                })
                .collect(),
            Document::Other(_) => None,
        };
        pairs.ok_or_else(|| refuse("expected an array of pairs, such as [[\"a\",\"1\"]], or an object"))
    }
}

/// Returns a string, number, boolean, or object of [`row::write_bytes`] as text for a form, or `None` for other JSON
/// values.
fn text(value: Json) -> Option<Vec<u8>> {
    match value {
        Json::String(text) => Some(text.into_bytes()),
        Json::Number(number) => Some(number.to_string().into_bytes()),
        Json::Bool(truth) => Some(truth.to_string().into_bytes()),
        Json::Object(members) => row::read_bytes(&members),
        Json::Null | Json::Array(_) => None,
    }
}
