//! Selects string values of JSON, one document per line.
//!
//! [`json`](super::json) finds the values; everything else is copied unchanged.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use serde::de::IgnoredAny;

use super::json::{Reader, Span, Step, Tree, raw_offset, unescape, write_string};
use super::pass::Pass;
use super::shape::Shape;
use crate::ground::escape::to_text;
use crate::ground::reason::{Reason, Refusal};
use crate::value::policy::{Action, At, Treat};

/// A path to values, such as `request.url`, `urls[]`, `items[].href` or `**`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyPath {
    /// The path exactly as the user typed it.
    text: String,
    steps: Vec<Step>,
}

impl fmt::Display for KeyPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl KeyPath {
    /// Returns the path exactly as the user typed it.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Reports whether the values of both paths are in the same object or array.
    pub fn is_beside(&self, other: &KeyPath) -> bool {
        self.steps.split_last().map(|(_, parent)| parent)
            == other.steps.split_last().map(|(_, parent)| parent)
    }

    /// Reports whether the path ends in a key, so that its value is a member of an object.
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
        // The path `.` means the document itself, and any path may begin with a dot, as in jq.
        let path = if text.starts_with("..") { text } else { text.strip_prefix('.').unwrap_or(text) };
        let mut rest = path.chars();
        while let Some(character) = rest.next() {
            match character {
                '\\' => {
                    key.push(rest.next().ok_or("expected a character after \"\\\"")?);
                    has_key = true;
                }
                '[' => {
                    let is_each = ["]", "*]"].iter().find_map(|end| rest.as_str().strip_prefix(end));
                    rest = is_each
                        .ok_or("expected `[]`, for each element; write \"\\[\" for a bracket in a name")?
                        .chars();
                    if has_key {
                        steps.push(Step::Key(std::mem::take(&mut key)));
                        has_key = false;
                    }
                    steps.push(Step::Each);
                }
                '*' if !has_key && rest.as_str().starts_with('*') => {
                    if rest.as_str() != "*" {
                        return Err("`**` must be at the end; write \"\\*\" for an asterisk in a name");
                    }
                    rest.next();
                    steps.push(Step::Every);
                }
                '.' if has_key => {
                    steps.push(Step::Key(std::mem::take(&mut key)));
                    // A name must follow the dot, so another dot or the end of the path is an error.
                    has_key = false;
                    if rest.as_str().is_empty() {
                        return Err("expected a name after \".\"");
                    }
                }
                '.' if steps.last() == Some(&Step::Each) && !rest.as_str().is_empty() => {}
                '.' => return Err("expected a name before \".\""),
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
            return Err("expected a name, or `.` for the document itself");
        }
        Ok(KeyPath { text: text.to_owned(), steps })
    }
}

/// The paths whose values are selected in JSON Lines.
#[derive(Clone)]
pub struct Keys {
    paths: Vec<KeyPath>,
    tree: Tree,
    reader: Reader,
    /// For each path, the index of the next path that is the same, because the user asked for it twice.
    twins: Vec<Option<usize>>,
    /// For each path, the key under which its new value is added; empty if new values replace the old ones.
    names: Vec<String>,
    /// For each path, whether the object of the current value already has the key for the new value.
    is_taken: Vec<bool>,
    /// Buffers for the unescaped value and the new value.
    old: Vec<u8>,
    new: Vec<u8>,
}

impl Keys {
    /// Selects the values at `paths`. If `names` is not empty, new values are added under these keys. `nginx` makes
    /// `\xHH` a valid escape in strings.
    pub fn new(paths: &[KeyPath], names: &[String], nginx: bool) -> Keys {
        let twin = |(index, path): (usize, &KeyPath)| {
            (index + 1..paths.len()).find(|&other| paths[other].steps == path.steps)
        };
        Keys {
            twins: paths.iter().enumerate().map(twin).collect(),
            tree: Tree::new(paths.iter().map(|path| path.steps.as_slice())),
            paths: paths.to_vec(),
            reader: Reader::new(nginx),
            names: names.to_vec(),
            is_taken: vec![false; paths.len()],
            old: Vec::new(),
            new: Vec::new(),
        }
    }

    /// Returns the paths.
    pub fn paths(&self) -> &[KeyPath] {
        &self.paths
    }

    /// Reports whether a single member of objects is selected, and strings are those of JSON.
    pub fn is_single(&self) -> bool {
        let is_key = |step: &Step| matches!(step, Step::Key(_));
        matches!(self.paths.as_slice(), [path] if !path.steps.is_empty() && path.steps.iter().all(is_key))
            && self.names.is_empty()
            && !self.reader.nginx
    }

    /// Returns the shape of `line`, which was read last and is JSON, if it has at most one selected string and no escapes.
    pub fn shape(&self, line: &[u8]) -> Option<Shape> {
        match self.reader.spans.as_slice() {
            [] => Shape::of(line, None),
            [span] => Shape::of(line, Some(span.range.start)),
            _ => None,
        }
    }

    /// Rewrites the values of one record. Fails if the record is not JSON.
    pub fn rewrite(&mut self, pass: &mut Pass<'_, '_, impl Treat>) -> Result<Action, Refusal> {
        let record = pass.record;
        let bytes = record.bytes();
        let refuse = |offset: usize, reason: Reason| Refusal { offset: record.start + offset, reason };
        let not_json = |offset: usize, message: &str| refuse(offset, Reason::NotJson(message.to_owned()));
        if let Err(offset) = crate::ground::utf8::validate(bytes) {
            return Err(not_json(offset, "invalid UTF-8"));
        }
        let Keys { tree, reader, names, .. } = self;
        if let Err(offset) = reader.read(tree, bytes, names) {
            if bytes.iter().all(u8::is_ascii_whitespace) {
                return Ok(Action::Write);
            }
            return Err(refuse(offset, why(bytes)));
        }
        // A line of a document that is spread over several lines can be a valid string or number, so only a line that
        // begins like an object shows that the input is JSON Lines.
        pass.report.stats.searched |=
            !self.reader.spans.is_empty() || bytes.trim_ascii_start().starts_with(b"{");
        let clashes = pass.report.stats.clashes;
        for index in 0..self.reader.spans.len() {
            let span = self.reader.spans[index].clone();
            let mut is_wanted = self.names.is_empty();
            for path in same(&self.twins, &span) {
                pass.report.stats.find(path);
                let clash = self.clash(&span, path).map(|name| Reason::HasKey(name.to_owned()));
                self.is_taken[path] = clash.is_some();
                is_wanted |= clash.is_none();
                // A record is counted once.
                let Some(reason) = clash.filter(|_| pass.report.stats.clashes == clashes) else { continue };
                let action = pass.unreadable(record.start + span.range.start - 1, reason);
                if action != Action::Copy {
                    return Ok(action);
                }
            }
            if !is_wanted {
                continue;
            }
            let action = self.value(&span, pass)?;
            if action != Action::Write {
                return Ok(action);
            }
        }
        Ok(Action::Write)
    }

    /// Returns the key for the new value at path number `path` if the object has a member with this key already.
    fn clash(&self, span: &Span, path: usize) -> Option<&str> {
        let name = self.names.get(path)?;
        let is_taken =
            |(object, number): &(u32, usize)| Some(*object) == span.object && self.names[*number] == *name;
        self.reader.watched.iter().any(is_taken).then_some(name)
    }

    /// Rewrites one value.
    fn value(&mut self, span: &Span, pass: &mut Pass<'_, '_, impl Treat>) -> Result<Action, Refusal> {
        let record = pass.record;
        let Keys { reader, names, is_taken, twins, old, new, .. } = self;
        let (start, stop) = (record.start + span.range.start, record.start + span.range.end);
        let raw = &record.chunk[start..stop];
        let value = if span.has_escapes {
            old.clear();
            unescape(raw, old, reader.nginx).map_err(|offset| Refusal {
                offset: start + offset,
                reason: Reason::NotJson("a lone surrogate in a string".to_owned()),
            })?;
            &old[..]
        } else {
            raw
        };
        new.clear();
        let place =
            |offset| start + if span.has_escapes { raw_offset(raw, offset, reader.nginx) } else { offset };
        let action =
            pass.treatment.value(At::plain(span.path as usize), value, new, record, pass.report, place);
        let is_null = action == Action::Null;
        if action != Action::Write && !is_null {
            return Ok(action);
        }
        if pass.edit.write_bare(span.path as usize, start, stop, new) {
            same(twins, span).skip(1).for_each(|path| pass.edit.repeat(path));
            if *new != value {
                pass.edit.change();
            }
            return Ok(Action::Write);
        }
        if *new == value && names.is_empty() && !is_null {
            return Ok(Action::Write);
        }
        // Bytes that are invalid UTF-8 stay percent-encoded, because JSON cannot contain them.
        let new = to_text(new);
        // If decoding only gave bytes that had to be escaped again, the value keeps its old spelling.
        let has_changed = is_null
            || match &new {
                Cow::Borrowed(new) => new.as_bytes() != value,
                Cow::Owned(new) => !new.as_bytes().eq_ignore_ascii_case(value),
            };
        if has_changed {
            pass.edit.change();
        }
        let write = |out: &mut Vec<u8>| {
            if is_null { out.extend_from_slice(b"null") } else { write_string(new.as_bytes(), out) }
        };
        if !names.is_empty() {
            let out = pass.edit.copy_to(stop + 1);
            for name in same(twins, span).filter(|&path| !is_taken[path]).map(|path| &names[path]) {
                out.push(b',');
                write_string(name.as_bytes(), out);
                out.push(b':');
                write(out);
            }
        } else if has_changed {
            write(pass.edit.copy_to(start - 1));
            pass.edit.skip_to(stop + 1);
        }
        Ok(Action::Write)
    }
}

/// Returns the indices of the paths that select `span`. `twins` has the next path that is the same, for each path.
fn same(twins: &[Option<usize>], span: &Span) -> impl Iterator<Item = usize> {
    std::iter::successors(Some(span.path as usize), |&path| twins[path])
}

/// Returns serde_json's explanation why `line` is not JSON.
#[cold]
fn why(line: &[u8]) -> Reason {
    match serde_json::from_slice::<IgnoredAny>(line) {
        Err(error) => Reason::not_json(&error),
        Ok(IgnoredAny) => Reason::NotJson("syntax error".to_owned()),
    }
}
