//! String values of JSON, one document a line.
//!
//! [`json`](super::json) tells where the values are; everything else is copied as it is.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use serde::de::IgnoredAny;

use super::edit::{Edit, Form};
use super::json::{Reader, Span, Step, Tree, raw_offset, unescape, write_string};
use crate::ground::reason::{Reason, Refusal};
use crate::value::policy::{Action, At, Record, Treat};
use crate::value::report::Report;

/// A path to values: `request.url`, `urls[]`, `items[].href`, `**`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyPath {
    /// As it was given.
    text: String,
    steps: Vec<Step>,
}

impl fmt::Display for KeyPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl KeyPath {
    /// The path through objects with these keys.
    pub fn of(keys: &[&str]) -> KeyPath {
        let steps = keys.iter().map(|&key| Step::Key(key.to_owned())).collect();
        KeyPath { text: keys.join("."), steps }
    }

    /// To the elements of what is there.
    pub fn each(mut self) -> KeyPath {
        self.text.push_str("[]");
        self.steps.push(Step::Each);
        self
    }

    /// As it was given.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether it ends in a key, so that its value is a member of an object.
    pub fn is_member(&self) -> bool {
        matches!(self.steps.last(), Some(Step::Key(_)))
    }
}

impl FromStr for KeyPath {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<KeyPath, &'static str> {
        let mut steps = Vec::new();
        let mut key = String::new();
        let mut has_key = false;
        // As jq has it: `.` is the document itself, and may begin any path.
        let path = if text.starts_with("..") { text } else { text.strip_prefix('.').unwrap_or(text) };
        let mut rest = path.chars();
        while let Some(character) = rest.next() {
            match character {
                '\\' => {
                    key.push(rest.next().ok_or("a character after \"\\\"")?);
                    has_key = true;
                }
                '[' => {
                    let is_each = ["]", "*]"].iter().find_map(|end| rest.as_str().strip_prefix(end));
                    rest = is_each.ok_or("`[]` for each element; \"\\[\" in a name")?.chars();
                    if has_key {
                        steps.push(Step::Key(std::mem::take(&mut key)));
                        has_key = false;
                    }
                    steps.push(Step::Each);
                }
                '*' if !has_key && rest.as_str().starts_with('*') => {
                    if rest.as_str() != "*" {
                        return Err("`**`, every string, at the end; \"\\*\" in a name");
                    }
                    rest.next();
                    steps.push(Step::Every);
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
        if steps.is_empty() && text != "." {
            return Err("a name, or `.` for the document itself");
        }
        Ok(KeyPath { text: text.to_owned(), steps })
    }
}

/// The keys that hold values.
#[derive(Clone)]
pub struct Keys {
    paths: Vec<KeyPath>,
    tree: Tree,
    reader: Reader,
    /// The names under which new values are written beside the old ones, one for each path; empty if they replace them.
    names: Vec<String>,
    /// A value, and what becomes of it.
    old: Vec<u8>,
    new: Vec<u8>,
}

impl Keys {
    /// The keys of `paths`; with `names`, new values are written beside the old ones. `nginx` says that `\xHH` is an
    /// escape of strings.
    pub fn new(paths: &[KeyPath], names: &[String], nginx: bool) -> Keys {
        Keys {
            tree: Tree::new(paths.iter().map(|path| path.steps.as_slice())),
            paths: paths.to_vec(),
            reader: Reader::new(nginx),
            names: names.to_vec(),
            old: Vec::new(),
            new: Vec::new(),
        }
    }

    /// The paths that were looked for.
    pub fn paths(&self) -> &[KeyPath] {
        &self.paths
    }

    /// Rewrites the values of one record; fails if it is not JSON.
    pub fn rewrite(
        &mut self,
        record: Record<'_>,
        treatment: &mut impl Treat,
        edit: &mut Edit<'_>,
        report: &mut Report,
    ) -> Result<Action, Refusal> {
        let bytes = record.bytes();
        let refuse = |offset: usize, reason: Reason| Refusal { offset: record.start + offset, reason };
        let not_json = |offset: usize, message: &str| refuse(offset, Reason::NotJson(message.to_owned()));
        if let Err(offset) = crate::ground::utf8::validate(bytes) {
            return Err(not_json(offset, "not UTF-8"));
        }
        let Keys { tree, reader, names, .. } = self;
        if let Err(offset) = reader.read(tree, bytes, names) {
            if bytes.iter().all(u8::is_ascii_whitespace) {
                return Ok(Action::Write);
            }
            return Err(not_json(offset, &why(bytes)));
        }
        // Lines of a document that goes on over several may be strings and numbers.
        report.stats.looked |= !self.reader.spans.is_empty() || bytes.trim_ascii_start().starts_with(b"{");
        for index in 0..self.reader.spans.len() {
            let span = self.reader.spans[index].clone();
            report.stats.find(span.path as usize);
            if let Some(name) = self.clash(&span) {
                return Err(refuse(span.range.start - 1, Reason::HasKey(name.to_owned())));
            }
            let action = self.value(&span, record, treatment, edit, report)?;
            if action != Action::Write {
                return Ok(action);
            }
        }
        Ok(Action::Write)
    }

    /// The name under which the new value would be written, if its object has one such member already.
    fn clash(&self, span: &Span) -> Option<&str> {
        let name = self.names.get(span.path as usize)?;
        let is_taken =
            |(object, number): &(u32, usize)| Some(*object) == span.object && self.names[*number] == *name;
        self.reader.watched.iter().any(is_taken).then_some(name)
    }

    /// Rewrites one value.
    fn value(
        &mut self,
        span: &Span,
        record: Record<'_>,
        treatment: &mut impl Treat,
        edit: &mut Edit<'_>,
        report: &mut Report,
    ) -> Result<Action, Refusal> {
        let Keys { reader, names, old, new, .. } = self;
        let (start, stop) = (record.start + span.range.start, record.start + span.range.end);
        let raw = &record.chunk[start..stop];
        let value = if span.has_escapes {
            old.clear();
            unescape(raw, old, reader.nginx).map_err(|offset| Refusal {
                offset: start + offset,
                reason: Reason::NotJson("lone surrogate in a string".to_owned()),
            })?;
            &old[..]
        } else {
            raw
        };
        new.clear();
        let place =
            |offset| start + if span.has_escapes { raw_offset(raw, offset, reader.nginx) } else { offset };
        let action = treatment.value(At::plain(span.path as usize), value, new, record, report, place);
        if action != Action::Write {
            return Ok(action);
        }
        if let Form::Values { .. } = edit.form() {
            if *new != value {
                edit.change();
            }
            let out = edit.open(start);
            let from = out.len();
            out.extend_from_slice(new);
            edit.close(from, stop);
            return Ok(Action::Write);
        }
        let name = names.get(span.path as usize);
        if *new == value && name.is_none() {
            return Ok(Action::Write);
        }
        let new = text(new);
        // What only turned out to be no text is as it was, and is not spelt anew.
        let has_changed = match &new {
            Cow::Borrowed(new) => new.as_bytes() != value,
            Cow::Owned(new) => !new.as_bytes().eq_ignore_ascii_case(value),
        };
        if has_changed {
            edit.change();
        }
        match name {
            Some(name) => {
                let out = edit.copy_to(stop + 1);
                out.push(b',');
                write_string(name.as_bytes(), out);
                out.push(b':');
                write_string(new.as_bytes(), out);
            }
            None if has_changed => {
                write_string(new.as_bytes(), edit.copy_to(start - 1));
                edit.skip_to(stop + 1);
            }
            None => {}
        }
        Ok(Action::Write)
    }
}

/// `value` as text; bytes that are not UTF-8, and so cannot be in JSON, are percent-encoded.
fn text(value: &[u8]) -> Cow<'_, str> {
    match simdutf8::basic::from_utf8(value) {
        Ok(value) => Cow::Borrowed(value),
        Err(_) => {
            let mut text = String::new();
            for chunk in value.utf8_chunks() {
                text.push_str(chunk.valid());
                text.push_str(&simdpct::encode(chunk.invalid()));
            }
            Cow::Owned(text)
        }
    }
}

/// Why `line` is not JSON, in the words of the usual parser.
#[cold]
fn why(line: &[u8]) -> String {
    match serde_json::from_slice::<IgnoredAny>(line) {
        Err(error) => error.to_string().split(" at line ").next().unwrap_or_default().to_owned(),
        Ok(IgnoredAny) => "syntax error".to_owned(),
    }
}
