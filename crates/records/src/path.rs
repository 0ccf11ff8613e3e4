//! Reads paths to values of JSON, such as `request.url`, `urls[]`, `items[0]."a.b"` or `**`.

use std::fmt;
use std::str::{Chars, FromStr};

/// A step of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Goes to the value of this key of an object.
    Key(String),
    /// Goes to this element of an array, from 0.
    Element(usize),
    /// Goes to each element of an array.
    Each,
    /// Selects every string at this place and below.
    Every,
}

/// A path to strings in a JSON document.
///
/// Dots separate names, `[]` is each element of an array, `[0]` the first one, and `**` at the end every string below.
/// A name with these characters has quotes or backslashes. As in jq, a dot may come first, and `.` is the document.
#[derive(Clone, Debug)]
pub struct KeyPath {
    /// The path exactly as the user typed it.
    text: String,
    pub(crate) steps: Vec<Step>,
}

impl PartialEq for KeyPath {
    /// Reports whether both paths lead to the same places, however they were typed.
    fn eq(&self, other: &KeyPath) -> bool {
        self.steps == other.steps
    }
}

impl fmt::Display for KeyPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl KeyPath {
    /// Reports whether the values of both paths are in the same object or array.
    pub fn is_beside(&self, other: &KeyPath) -> bool {
        let parent = |path: &KeyPath| path.steps.split_last().map(|(_, parent)| parent.to_vec());
        parent(self) == parent(other)
    }

    /// Reports whether both paths can lead to the same place.
    pub(crate) fn overlaps(&self, other: &KeyPath) -> bool {
        let is_same = |steps: (&Step, &Step)| {
            steps.0 == steps.1
                || matches!(steps, (Step::Each, Step::Element(_)) | (Step::Element(_), Step::Each))
        };
        let shared = self.steps.iter().zip(&other.steps).take_while(|steps| is_same(*steps)).count();
        let rests = (&self.steps[shared..], &other.steps[shared..]);
        matches!(rests, ([], []) | ([Step::Every], _) | (_, [Step::Every]))
    }

    /// Reports whether the path ends in a key, so that its value is a member of an object.
    pub fn is_member(&self) -> bool {
        matches!(self.steps.last(), Some(Step::Key(_)))
    }

    /// Reports whether the path leads to several places of a document.
    pub fn has_many(&self) -> bool {
        self.steps.iter().any(|step| matches!(step, Step::Each | Step::Every))
    }
}

/// Reads a name in quotes, or one without quotes up to a dot, an opening bracket or the end. In both, a backslash makes the character after
/// it a part of the name.
fn name(rest: &mut Chars<'_>) -> Result<String, &'static str> {
    let mut name = String::new();
    let is_quoted = rest.as_str().starts_with('"');
    if is_quoted {
        rest.next();
    }
    while let Some(character) = rest.clone().next() {
        if !is_quoted && matches!(character, '.' | '[') {
            break;
        }
        rest.next();
        match character {
            '"' if is_quoted => return Ok(name),
            '\\' => name.push(rest.next().ok_or("expected a character after \"\\\"")?),
            _ => name.push(character),
        }
    }
    match (is_quoted, name.is_empty()) {
        (true, _) => Err("expected a closing quote; write \"\\\\\\\"\" for a quote in a name"),
        (false, true) => Err("expected a name"),
        (false, false) => Ok(name),
    }
}

/// Reads the text in brackets: nothing or `*`, a number, or a name in quotes.
fn bracket(rest: &mut Chars<'_>) -> Result<Step, &'static str> {
    const EXPECTED: &str =
        "expected `[]` for each element, or `[0]` for the first; write \"\\[\" for a bracket in a name";
    let step = match rest.as_str().chars().next() {
        Some('"') => Step::Key(name(rest)?),
        _ => {
            let (text, _) = rest.as_str().split_once(']').ok_or(EXPECTED)?;
            *rest = rest.as_str()[text.len()..].chars();
            match text {
                "" | "*" => Step::Each,
                number if number.bytes().all(|byte| byte.is_ascii_digit()) => {
                    Step::Element(number.parse().map_err(|_| EXPECTED)?)
                }
                _ => return Err(EXPECTED),
            }
        }
    };
    if rest.next() == Some(']') { Ok(step) } else { Err(EXPECTED) }
}

impl FromStr for KeyPath {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<KeyPath, &'static str> {
        let mut steps = Vec::new();
        let path = if text.starts_with("..") { text } else { text.strip_prefix('.').unwrap_or(text) };
        let mut rest = path.chars();
        while !rest.as_str().is_empty() {
            if let Some(after) = rest.as_str().strip_prefix('[') {
                rest = after.chars();
                steps.push(bracket(&mut rest)?);
            } else if rest.as_str().starts_with("**") {
                if rest.as_str() != "**" {
                    return Err("`**` must be at the end; write \"\\*\" for an asterisk in a name");
                }
                steps.push(Step::Every);
                break;
            } else {
                steps.push(Step::Key(name(&mut rest)?));
            }
            if let Some(after) = rest.as_str().strip_prefix('.') {
                if after.is_empty() {
                    return Err("expected a name after \".\"");
                }
                rest = after.chars();
            } else if !rest.as_str().is_empty() && !rest.as_str().starts_with('[') {
                return Err("expected a dot or a bracket after a name in quotes or in brackets");
            }
        }
        if steps.is_empty() && text != "." {
            return Err("expected a name, or `.` for the document itself");
        }
        Ok(KeyPath { text: text.to_owned(), steps })
    }
}
