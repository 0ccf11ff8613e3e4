//! Finds strings, or all values, in a JSON document by their paths. Strings can have escapes that only some writers use, and bytes that
//! JSON forbids: control bytes and invalid UTF-8. Programs that build JSON from text write such strings, and no value
//! may be missed.

use std::ops::Range;

use simdpct::ByteSet;

use crate::escaping::Escaping;
use crate::path::{KeyPath, Step};
use crate::place::{BLANK, Field, Holds, Key, Kind, Reason, Texts, Unreadable, unreadable};

/// A value that was found.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    /// The number of its path.
    pub path: usize,
    /// Its place, without the quotes of a string.
    pub range: Range<usize>,
    /// The number of the object that it is a member of, if it is one.
    pub object: Option<usize>,
}

/// An object or array that is not closed yet.
#[derive(Clone, Debug)]
struct Open {
    is_object: bool,
    /// The offset of the opening bracket.
    start: usize,
    /// The number of the object or array.
    number: usize,
    /// The number of the current element.
    element: usize,
    /// The paths that lead to the object or array, in [`Reader::states`].
    states: Range<usize>,
}

/// A path whose first steps lead to a place in the document.
#[derive(Clone, Copy, Debug)]
struct State {
    path: usize,
    /// The number of steps that lead to the place.
    steps: usize,
}

/// A reader of documents.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reader {
    pub paths: Vec<KeyPath>,
    /// The number of paths at the end of `paths` that are those of a layout. They and the other paths can find the same value.
    pub keys: usize,
    /// The names whose members are noted.
    pub watched: Vec<String>,
    /// Whether values that are not strings are found, too.
    pub finds_all: bool,
    open: Vec<Open>,
    /// The paths that lead to the current value, after those that lead to the objects and arrays around it.
    states: Vec<State>,
    /// The values of the last document, in its order. An object or array comes after the values in it.
    pub found: Vec<Found>,
    /// The watched members of the last document: the number of the object, and that of the name.
    pub members: Vec<(usize, usize)>,
}

/// Reports whether `value` is a JSON object, array or string. The value of a string can be one, and should stay one.
pub fn is_document(value: &[u8]) -> bool {
    matches!(value.trim_ascii_start(), [b'{' | b'[' | b'"', ..])
        && Reader::default().read(value, Escaping::Json).is_ok()
}

impl Reader {
    /// Returns a reader that finds the strings at `paths`, and the members with the names `watched`.
    pub fn new(paths: Vec<KeyPath>, watched: Vec<String>) -> Reader {
        Reader { paths, watched, ..Reader::default() }
    }

    /// Appends the strings of the document `text` at the paths of the reader to `texts`. The last of these paths are those of `keys`. A
    /// key, other than that of a method, is left out if an earlier key with the same field has text.
    pub fn find(&mut self, text: &[u8], keys: &[Key], texts: &mut Texts) -> Result<(), Unreadable> {
        self.read_once(text, texts.escaping)?;
        let asked = self.paths.len() - keys.len();
        // For each field, the number of the first key whose member has text.
        let mut first = [usize::MAX; Field::ALL.len()];
        for Found { path, range, .. } in &self.found {
            let Some(key) = path.checked_sub(asked) else { continue };
            let Key { field, holds, .. } = keys[key];
            if holds != Holds::Method && !matches!(&text[range.clone()], b"" | b"-") {
                first[field as usize] = first[field as usize].min(key);
            }
        }
        // The start of the last value that a key has found, and its content.
        let mut known = None;
        for Found { path, range, .. } in self.found.drain(..) {
            let start = range.start;
            let mut add = |index, holds| {
                let fence = if holds == Holds::Request { BLANK } else { ByteSet::EMPTY };
                texts.add(index, Ok(range.clone()), holds, fence);
            };
            if let Some(number) = path.checked_sub(asked) {
                let Key { field, holds, .. } = keys[number];
                known = Some((start, holds));
                if holds == Holds::Method || number <= first[field as usize] {
                    add(field as usize, holds);
                }
            } else {
                // The key gives the content, but a method that was asked for is text.
                let is_known = |(at, holds): &(usize, Holds)| *at == start && *holds != Holds::Method;
                let holds = known.filter(is_known).map(|(_, holds)| holds);
                add(Field::ALL.len() + path, holds.unwrap_or(Holds::Value(Kind::Text)));
            }
        }
        Ok(())
    }

    /// Reads `text`, one document. It is unreadable if a path without `[]` and `**` finds two values.
    pub fn read_once(&mut self, text: &[u8], escaping: Escaping) -> Result<(), Unreadable> {
        self.read(text, escaping)?;
        let mut seen = vec![false; self.paths.len()];
        for Found { path, range, .. } in &self.found {
            if std::mem::replace(&mut seen[*path], true) && !self.paths[*path].has_many() {
                return unreadable(range.start, Reason::TWICE_IN_JSON);
            }
        }
        Ok(())
    }

    /// Reads `text`, one document whose strings have `escaping`.
    pub fn read(&mut self, text: &[u8], escaping: Escaping) -> Result<(), Unreadable> {
        self.document(text, escaping).map_err(|offset| Unreadable { offset, reason: Reason::NOT_JSON })
    }

    fn document(&mut self, text: &[u8], escaping: Escaping) -> Result<(), usize> {
        self.open.clear();
        self.states.clear();
        self.found.clear();
        self.members.clear();
        self.states.extend((0..self.paths.len()).map(|path| State { path, steps: 0 }));
        let (mut at, mut count) = (blanks(text, 0), 0);
        // The paths from this index of `states` on lead to the current value.
        let mut from = 0;
        loop {
            match text.get(at) {
                Some(b'"') => {
                    let (close, _) = string(text, at + 1, escaping)?;
                    self.select(from, at + 1..close);
                    at = close + 1;
                }
                Some(open @ (b'{' | b'[')) => {
                    let (is_object, start) = (*open == b'{', at);
                    at = blanks(text, at + 1);
                    if text.get(at) == Some(if is_object { &b'}' } else { &b']' }) {
                        at += 1;
                        self.select_other(from, start..at);
                    } else {
                        let states = from..self.states.len();
                        self.open.push(Open { is_object, start, number: count, element: 0, states });
                        count += 1;
                        (at, from) = self.enter(text, at, escaping)?;
                        continue;
                    }
                }
                _ => {
                    let end = scalar(text, at)?;
                    self.select_other(from, at..end);
                    at = end;
                }
            }
            // The value is complete. This loop closes the objects and arrays that end after it.
            loop {
                at = blanks(text, at);
                let Some(open) = self.open.last_mut() else {
                    return if at == text.len() { Ok(()) } else { Err(at) };
                };
                self.states.truncate(open.states.end);
                match (text.get(at), open.is_object) {
                    (Some(b','), _) => {
                        open.element += 1;
                        at = blanks(text, at + 1);
                        (at, from) = self.enter(text, at, escaping)?;
                        break;
                    }
                    (Some(b'}'), true) | (Some(b']'), false) => {
                        at += 1;
                        let (from, start) = (open.states.start, open.start);
                        self.open.pop();
                        // `**` selects the values inside, and not their text once more for each object or array around them.
                        let ends_here = |state: &State| state.steps == self.paths[state.path].steps.len();
                        if self.finds_all && self.states[from..].iter().any(ends_here) {
                            self.select(from, start..at);
                        }
                    }
                    _ => return Err(at),
                }
            }
        }
    }

    /// Enters the element, or the member, at `at` of the innermost array or object. Returns the offset of its value, and the first of the
    /// states that lead to it.
    fn enter(&mut self, text: &[u8], at: usize, escaping: Escaping) -> Result<(usize, usize), usize> {
        let from = self.states.len();
        let Some(Open { is_object, number, element, states, .. }) = self.open.last().cloned() else {
            return Err(at);
        };
        let (mut start, mut buffer) = (at, Vec::new());
        let mut name: &[u8] = b"";
        if is_object {
            if text.get(at) != Some(&b'"') {
                return Err(at);
            }
            let (close, has_escapes) = string(text, at + 1, escaping)?;
            let raw = &text[at + 1..close];
            // A name with a lone surrogate is no name of a path.
            name = if has_escapes { escaping.undo(raw, &mut buffer).unwrap_or(raw) } else { raw };
            let watched = self.watched.iter().position(|watched| watched.as_bytes() == name);
            self.members.extend(watched.map(|watched| (number, watched)));
            let colon = blanks(text, close + 1);
            if text.get(colon) != Some(&b':') {
                return Err(colon);
            }
            start = blanks(text, colon + 1);
        }
        for state in states {
            let State { path, steps } = self.states[state];
            let taken = match self.paths[path].steps.get(steps) {
                Some(Step::Key(key)) => is_object && key.as_bytes() == name,
                Some(Step::Each) => !is_object,
                Some(Step::Element(number)) => !is_object && *number == element,
                Some(Step::Every) => {
                    self.states.push(State { path, steps });
                    false
                }
                None => false,
            };
            if taken {
                self.states.push(State { path, steps: steps + 1 });
            }
        }
        Ok((start, from))
    }

    /// Notes the string at `range` if one of the states from `from` on selects it: first for a path of the layout, and then for one that
    /// was asked for.
    fn select(&mut self, from: usize, range: Range<usize>) {
        if self.states.len() == from {
            return;
        }
        let asked = self.paths.len() - self.keys;
        let selected = |is_key: bool| {
            let mut paths = self.states[from..].iter().filter(|state| {
                let rest = &self.paths[state.path].steps[state.steps..];
                (state.path >= asked) == is_key && matches!(rest, [] | [Step::Every])
            });
            paths.next().map(|state| state.path)
        };
        let object = self.open.last().filter(|open| open.is_object).map(|open| open.number);
        for path in [selected(true), selected(false)].into_iter().flatten() {
            self.found.push(Found { path, range: range.clone(), object });
        }
    }

    /// Notes the value at `range`, which is not a string, like [`Reader::select`], if such values are found.
    fn select_other(&mut self, from: usize, range: Range<usize>) {
        if self.finds_all {
            self.select(from, range);
        }
    }
}

/// Returns the first offset from `at` on that is not white space.
fn blanks(text: &[u8], at: usize) -> usize {
    at + text[at..].iter().take_while(|byte| b" \t\r\n".contains(byte)).count()
}

/// Returns the offset of the quote that closes the string whose text is at `at`, and whether the string has escapes.
fn string(text: &[u8], mut at: usize, escaping: Escaping) -> Result<(usize, bool), usize> {
    let mut has_escapes = false;
    loop {
        at += memchr::memchr2(b'"', b'\\', &text[at..]).ok_or(text.len())?;
        match text[at] {
            b'"' => return Ok((at, has_escapes)),
            _ => at += escaping.len(&text[at..]).ok_or(at)?,
        }
        has_escapes = true;
    }
}

/// Returns the end of the number, or of `true`, `false` or `null`, at `at`.
pub(crate) fn scalar(text: &[u8], at: usize) -> Result<usize, usize> {
    for word in [b"true".as_slice(), b"false", b"null"] {
        if text[at..].starts_with(word) {
            return Ok(at + word.len());
        }
    }
    let byte = |at: usize| text.get(at).copied().unwrap_or_default();
    // Returns the end of the digits at `at`, or an error if there is no digit.
    let digits = |at: usize| match text[at..].iter().take_while(|byte| byte.is_ascii_digit()).count() {
        0 => Err(at),
        count => Ok(at + count),
    };
    let start = at + usize::from(byte(at) == b'-');
    let mut end = digits(start)?;
    if byte(start) == b'0' && end > start + 1 {
        return Err(at);
    }
    if byte(end) == b'.' {
        end = digits(end + 1)?;
    }
    if matches!(byte(end), b'e' | b'E') {
        end = digits(end + 1 + usize::from(matches!(byte(end + 1), b'+' | b'-')))?;
    }
    Ok(end)
}
