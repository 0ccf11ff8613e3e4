//! Writes records with new values, or the values alone.

use std::ops::Range;

use crate::place::{Marks, Place};
use crate::syntax::Syntax;

/// The parts of a record that are written.
#[derive(Clone, Copy, Debug, Default)]
pub enum Form {
    /// The whole record, with new values.
    #[default]
    Whole,
    /// Only the values. Each is a record, or those of one record are joined.
    Values {
        /// The byte between the values of one record. Without it, each value is a record. Joined values are in the order in which they were
        /// asked for, and a missing one is empty. Several values with one number, such as the elements of an array, share a cell.
        delimiter: Option<u8>,
        /// The byte that ends a record.
        end: u8,
        /// Appends the escape of a byte that would be read as a delimiter or a line end.
        escape: fn(u8, &mut Vec<u8>),
    },
    /// Only the values, as a key of the record, in the order in which they were asked for. Each is followed by its length, its number and a
    /// flag for values without quotes of their own, such as the numbers of JSON, so that records with different values have different keys.
    Key,
    /// No part: values are only checked.
    Nothing,
}

impl Form {
    /// Reports whether whole records are written.
    pub fn is_whole(self) -> bool {
        matches!(self, Form::Whole)
    }
}

/// Copies input to output and replaces values. The unchanged parts in between are copied in as few pieces as possible.
#[derive(Debug)]
pub struct Editor<'a> {
    input: &'a [u8],
    form: Form,
    out: &'a mut Vec<u8>,
    /// The number of input bytes that have been copied or replaced.
    done: usize,
    /// The current record, without its line end.
    record: Range<usize>,
    /// `done` and the length of `out` at the start of the record.
    mark: (usize, usize),
    has_changed: bool,
    /// The values of the record that are to be joined, or sorted: their numbers, and their places in `out`.
    values: Vec<(usize, Range<usize>)>,
    buffer: Vec<u8>,
}

impl<'a> Editor<'a> {
    /// Starts at offset `start` of `input`, and appends to `out`.
    pub fn new(input: &'a [u8], start: usize, form: Form, out: &'a mut Vec<u8>) -> Editor<'a> {
        let (done, record, mark) = (start, start..start, (start, out.len()));
        let (values, buffer) = (Vec::new(), Vec::new());
        Editor { input, form, out, done, record, mark, has_changed: false, values, buffer }
    }

    /// Starts the record at `record` of the input, without its line end. The offsets of places count from its start.
    /// Places must be edited in ascending order.
    pub fn begin(&mut self, record: Range<usize>) {
        self.record = record;
        self.mark = (self.done, self.out.len());
        self.has_changed = false;
        self.values.clear();
    }

    /// Returns which parts of a record are written.
    #[inline]
    pub fn form(&self) -> Form {
        self.form
    }

    /// Copies the input up to `at`, if whole records are written, and returns the output, so that other text can
    /// replace the next bytes.
    #[inline]
    pub fn copy_to(&mut self, at: usize) -> &mut Vec<u8> {
        if self.form.is_whole() {
            self.out.extend_from_slice(&self.input[self.done..at]);
        }
        self.done = at;
        self.out
    }

    /// Leaves the input up to `at` out.
    #[inline]
    pub fn skip_to(&mut self, at: usize) {
        self.done = at;
    }

    /// Leaves the input up to `at` out. The value that replaces it has been written, from offset `from` of the output on.
    #[inline]
    pub fn replace_to(&mut self, at: usize, from: usize) {
        self.has_changed |= self.out[from..] != self.input[self.done..at];
        self.done = at;
    }

    /// Writes `value` at `place`. An error is that of [`Place::write`]; nothing is written then.
    pub fn put(&mut self, place: &Place, value: &[u8]) -> Result<(), usize> {
        let record = &self.input[self.record.clone()];
        match self.form {
            Form::Whole => {
                self.buffer.clear();
                place.write(record, value, &mut self.buffer)?;
                if self.buffer != place.raw(record) {
                    self.replace(place.range.clone(), None);
                    self.has_changed = true;
                }
            }
            Form::Nothing => {}
            Form::Values { .. } | Form::Key => {
                self.has_changed |= is_new(place, record, value, &mut self.buffer);
                self.value(place, value);
            }
        }
        Ok(())
    }

    /// Writes a text that is no value in place of the value at `place`, such as `null` for a string and its quotes.
    pub fn put_text(&mut self, place: &Place, text: &[u8]) {
        match self.form {
            Form::Whole => self.replace(place.whole(), Some(text)),
            _ => self.value(place, text),
        }
        self.has_changed = true;
    }

    /// Writes `value`, or the text for no value, at `place.beside`. Does nothing if `place.beside` is `None` or if whole records are
    /// not written. An error is that of [`Syntax::write_beside`]; nothing is written then.
    pub fn put_beside(&mut self, syntax: &Syntax, place: &Place, value: Option<&[u8]>) -> Result<(), usize> {
        let (Some(at), Form::Whole) = (place.beside, self.form) else { return Ok(()) };
        self.buffer.clear();
        syntax.write_beside(place, value, &mut self.buffer)?;
        self.replace(at..at, None);
        let record = &self.input[self.record.clone()];
        self.has_changed |= value.is_none_or(|value| is_new(place, record, value, &mut self.buffer));
        Ok(())
    }

    /// Replaces the bytes at `range` of the record by `text`, or else by the buffer.
    fn replace(&mut self, range: Range<usize>, text: Option<&[u8]>) {
        self.copy_to(self.record.start + range.start);
        self.out.extend_from_slice(text.unwrap_or(&self.buffer));
        self.done = self.record.start + range.end;
    }

    /// Writes the value at `place` without the rest of its record.
    fn value(&mut self, place: &Place, value: &[u8]) {
        let (from, index) = (self.out.len(), place.index);
        match self.form {
            Form::Whole | Form::Nothing => {}
            Form::Key => {
                self.out.extend_from_slice(value);
                let is_bare = usize::from(place.marks == Marks::None);
                let numbers = [value.len(), index, is_bare].map(|number| (number as u64).to_le_bytes());
                self.out.extend(numbers.as_flattened());
                self.values.push((index, from..self.out.len()));
            }
            Form::Values { delimiter, end, escape } => {
                let special = [b'\n', b'\r', end, delimiter.unwrap_or(end)];
                push_escaped(value, &special, escape, self.out);
                match delimiter {
                    None => self.out.push(end),
                    Some(_) => self.values.push((index, from..self.out.len())),
                }
            }
        }
    }

    /// Ends a record of `count` selected values, at offset `end` of the input, after its line end. Returns whether a value has changed.
    pub fn end(&mut self, count: usize, end: usize) -> bool {
        if let Form::Values { delimiter: Some(delimiter), end, escape } = self.form
            && !self.values.is_empty()
        {
            self.join(count, delimiter, end, escape);
        }
        if matches!(self.form, Form::Key) && !self.values.is_sorted_by_key(|(index, _)| *index) {
            self.sort();
        }
        if !self.form.is_whole() {
            self.done = end;
        }
        self.has_changed
    }

    /// Joins the values of the record in the order in which they were asked for. Blanks separate values that share a
    /// cell, or commas if the delimiter is a blank.
    fn join(&mut self, count: usize, delimiter: u8, end: u8, escape: fn(u8, &mut Vec<u8>)) {
        let start = self.values[0].1.start;
        self.values.sort_by_key(|(index, _)| *index);
        self.buffer.clear();
        let separator = if delimiter == b' ' { b',' } else { b' ' };
        let mut cells = self.values.chunk_by(|one, other| one.0 == other.0).peekable();
        for index in 0..count {
            let cell = cells.next_if(|cell| cell[0].0 == index).unwrap_or_default();
            let special: &[u8] = if cell.len() > 1 { &[separator] } else { &[] };
            for (number, (_, place)) in cell.iter().enumerate() {
                self.buffer.extend((number > 0).then_some(separator));
                push_escaped(&self.out[place.clone()], special, escape, &mut self.buffer);
            }
            self.buffer.push(if index + 1 < count { delimiter } else { end });
        }
        self.out.truncate(start);
        self.out.extend_from_slice(&self.buffer);
    }

    /// Sorts the values of a key in the order in which they were asked for.
    fn sort(&mut self) {
        self.values.sort_by_key(|(index, _)| *index);
        self.buffer.clear();
        self.values.iter().for_each(|(_, place)| self.buffer.extend_from_slice(&self.out[place.clone()]));
        let start = self.out.len() - self.buffer.len();
        self.out.truncate(start);
        self.out.extend_from_slice(&self.buffer);
    }

    /// Discards the output for the record, so that the record can be copied unchanged.
    pub fn discard(&mut self) {
        self.done = self.mark.0;
        self.out.truncate(self.mark.1);
        self.values.clear();
        self.has_changed = false;
    }

    /// Writes `text` instead of the record, which ends at offset `end` of the input, after its line end.
    pub fn leave_out(&mut self, text: &[u8], end: usize) {
        self.discard();
        self.copy_to(self.record.start).extend_from_slice(text);
        self.done = end;
    }
}

/// Reports whether the value at `place` of `record` can be read, and is not `value`.
fn is_new(place: &Place, record: &[u8], value: &[u8], buffer: &mut Vec<u8>) -> bool {
    place.value(record, buffer).is_ok_and(|old| old != value)
}

/// Appends `value` to `out`, and its bytes in `special` as escapes.
fn push_escaped(value: &[u8], special: &[u8], escape: fn(u8, &mut Vec<u8>), out: &mut Vec<u8>) {
    for &byte in value {
        if special.contains(&byte) { escape(byte, out) } else { out.push(byte) }
    }
}
