//! String values of JSON, one document a line.
//!
//! `serde_json` reads the line, and tells where the values stand; everything else is copied as it is.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::edit::Edit;
use super::reason::Reason;
use super::report::Report;
use super::treat::{Record, Spot, Treatment, Verdict};

/// A path to values: `request.url`, `urls[]`, `items[].href`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyPath(Vec<Step>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    /// The value of this key.
    Key(String),
    /// Each element.
    Each,
}

impl FromStr for KeyPath {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<KeyPath, &'static str> {
        let mut steps = Vec::new();
        let mut key = String::new();
        let mut has_key = false;
        let mut rest = text.chars();
        while let Some(character) = rest.next() {
            match character {
                '\\' => {
                    key.push(rest.next().ok_or("a character after \"\\\"")?);
                    has_key = true;
                }
                '[' => {
                    if rest.next() != Some(']') {
                        return Err("`[]` for each element; \"\\[\" in a name");
                    }
                    if has_key {
                        steps.push(Step::Key(std::mem::take(&mut key)));
                        has_key = false;
                    }
                    steps.push(Step::Each);
                }
                '.' if has_key => {
                    steps.push(Step::Key(std::mem::take(&mut key)));
                    // What follows may be an empty name only if it is at the end.
                    has_key = false;
                    if rest.as_str().is_empty() {
                        return Err("a name after \".\"");
                    }
                }
                '.' if steps.last() == Some(&Step::Each) && !rest.as_str().is_empty() => {}
                '.' => return Err("a name before \".\""),
                _ => {
                    key.push(character);
                    has_key = true;
                }
            }
        }
        if has_key {
            steps.push(Step::Key(key));
        }
        if steps.is_empty() { Err("a name") } else { Ok(KeyPath(steps)) }
    }
}

/// What several paths have in common.
#[derive(Clone, Debug, Default)]
struct Node {
    keys: Vec<(String, Node)>,
    each: Option<Box<Node>>,
    /// Whether the string here is a value.
    is_value: bool,
}

impl Node {
    fn add(&mut self, steps: &[Step]) {
        match steps {
            [] => self.is_value = true,
            [Step::Each, rest @ ..] => self.each.get_or_insert_default().add(rest),
            [Step::Key(key), rest @ ..] => match self.keys.iter().position(|(name, _)| name == key) {
                Some(known) => self.keys[known].1.add(rest),
                None => {
                    let mut node = Node::default();
                    node.add(rest);
                    self.keys.push((key.clone(), node));
                }
            },
        }
    }
}

/// The keys that hold values.
#[derive(Clone)]
pub struct Keys {
    root: Node,
    /// Where the strings of a line stand, with their quotes.
    spans: Vec<Range<usize>>,
    /// What becomes of a value.
    new: Vec<u8>,
}

impl Keys {
    /// The keys of `paths`.
    pub fn new(paths: &[KeyPath]) -> Keys {
        let mut root = Node::default();
        paths.iter().for_each(|path| root.add(&path.0));
        Keys { root, spans: Vec::new(), new: Vec::new() }
    }

    /// Rewrites the values of one record; fails if it is not JSON.
    pub fn rewrite(
        &mut self,
        record: Record<'_>,
        treatment: &mut Treatment,
        edit: &mut Edit<'_>,
        report: &mut Report,
    ) -> Result<Verdict, (usize, Reason)> {
        let bytes = record.bytes();
        if bytes.iter().all(u8::is_ascii_whitespace) {
            return Ok(Verdict::Keep);
        }
        let line = std::str::from_utf8(bytes)
            .map_err(|error| (record.start + error.valid_up_to(), Reason::NotJson("not UTF-8".to_owned())))?;
        let not_json = |error: &serde_json::Error| {
            // Lines have no line ends, so the column, from 1, is the offset.
            let offset = if error.is_eof() { bytes.len() } else { error.column().saturating_sub(1) };
            let offset = offset.min(bytes.len());
            let message = error.to_string();
            let message = message.split(" at line ").next().unwrap_or_default().to_owned();
            (record.start + offset, Reason::NotJson(message))
        };
        self.spans.clear();
        if let Err(error) = find(&self.root, line, line, &mut self.spans) {
            // A number may be out of every range, but is ignored here.
            serde_json::from_str::<IgnoredAny>(line).map_err(|error| not_json(&error))?;
            if !error.to_string().starts_with("number out of range") {
                return Err(not_json(&error));
            }
        }
        for index in 0..self.spans.len() {
            let span = self.spans[index].clone();
            let raw = &line[span.clone()];
            let content = &raw[1..raw.len() - 1];
            let value = if memchr::memchr(b'\\', content.as_bytes()).is_none() {
                Cow::Borrowed(content)
            } else {
                // Only a lone surrogate is wrong in what has been read as JSON.
                let value = serde_json::from_str(raw);
                Cow::Owned(value.map_err(|_| {
                    (record.start + span.start, Reason::NotJson("lone surrogate in a string".to_owned()))
                })?)
            };
            let start = record.start + span.start;
            self.new.clear();
            let place = |offset| start + 1 + raw_offset(content, offset);
            let verdict =
                treatment.value(Spot::Plain, value.as_bytes(), &mut self.new, record, report, place);
            if verdict != Verdict::Keep {
                return Ok(verdict);
            }
            if self.new != value.as_bytes() {
                let out = edit.copy_to(start);
                write_string(&self.new, out);
                edit.skip_to(record.start + span.end);
            }
        }
        Ok(Verdict::Keep)
    }
}

/// Writes a JSON string; bytes that are not UTF-8 are percent-encoded.
fn write_string(value: &[u8], out: &mut Vec<u8>) {
    let mut text = String::new();
    let value = match std::str::from_utf8(value) {
        Ok(value) => value,
        Err(_) => {
            for chunk in value.utf8_chunks() {
                text.push_str(chunk.valid());
                text.push_str(&simdpct::encode(chunk.invalid()));
            }
            &text
        }
    };
    // Writing a string to a vector does not fail.
    let _ = serde_json::to_writer(out, value);
}

/// Where byte `offset` of the value of the string `raw`, without quotes, stands in it.
fn raw_offset(raw: &str, offset: usize) -> usize {
    let (mut at, mut bytes) = (0, 0);
    while bytes < offset && at < raw.len() {
        let rest = &raw[at..];
        let len = match rest.as_bytes() {
            // A surrogate pair is one character of four bytes.
            [b'\\', b'u', b'd' | b'D', b'8' | b'9' | b'a'..=b'b' | b'A'..=b'B', ..] => 12,
            [b'\\', b'u', ..] => 6,
            [b'\\', ..] => 2,
            _ => rest.chars().next().map_or(1, char::len_utf8),
        };
        let spelling = &rest[..len.min(rest.len())];
        let character = serde_json::from_str::<String>(&format!("\"{spelling}\""));
        bytes += character.map_or(1, |character| character.len());
        at += len;
    }
    at.min(raw.len())
}

/// Finds the values of `json`, which is part of `line`.
fn find(node: &Node, json: &str, line: &str, spans: &mut Vec<Range<usize>>) -> Result<(), serde_json::Error> {
    let mut deserializer = serde_json::Deserializer::from_str(json);
    Seek { node, line, spans }.deserialize(&mut deserializer)?;
    deserializer.end()
}

/// Reads a JSON value, and notes the strings that `node` asks for.
struct Seek<'s> {
    node: &'s Node,
    line: &'s str,
    spans: &'s mut Vec<Range<usize>>,
}

impl<'de> DeserializeSeed<'de> for Seek<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        if !self.node.is_value {
            return deserializer.deserialize_any(self);
        }
        let raw = <&RawValue as serde::Deserialize>::deserialize(deserializer)?.get();
        if raw.starts_with('"') {
            let start = raw.as_ptr().addr() - self.line.as_ptr().addr();
            self.spans.push(start..start + raw.len());
            return Ok(());
        }
        // Another path may lead further.
        let node = Node { is_value: false, ..self.node.clone() };
        if node.keys.is_empty() && node.each.is_none() {
            return Ok(());
        }
        find(&node, raw, self.line, self.spans).map_err(D::Error::custom)
    }
}

impl<'de> Visitor<'de> for Seek<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(found) = map.next_key_seed(Key(self.node))? {
            match found {
                Some(node) => map.next_value_seed(Seek { node, line: self.line, spans: self.spans })?,
                None => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        match &self.node.each {
            Some(node) => {
                while seq.next_element_seed(Seek { node, line: self.line, spans: self.spans })?.is_some() {}
            }
            None => while seq.next_element::<IgnoredAny>()?.is_some() {},
        }
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }
}

/// Reads a key, and returns the node that it leads to.
struct Key<'n>(&'n Node);

impl<'de, 'n> DeserializeSeed<'de> for Key<'n> {
    type Value = Option<&'n Node>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'n> Visitor<'_> for Key<'n> {
    type Value = Option<&'n Node>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E>(self, key: &str) -> Result<Self::Value, E> {
        Ok(self.0.keys.iter().find(|(name, _)| name == key).map(|(_, node)| node))
    }
}
