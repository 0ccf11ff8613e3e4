//! Builds output as a copy of the input with some parts replaced, or from the replaced parts alone.

use std::ops::Range;

/// The parts of a record that are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    /// The whole record, with new values.
    #[default]
    Whole,
    /// Only the values. Each becomes a record that ends in `end`, unless a delimiter joins the values of one record: then
    /// they are in the order in which the user asked for them, a missing value is empty, and several values of one place, such
    /// as the elements of an array, share a cell.
    Values { delimiter: Option<u8>, end: u8 },
    /// Only the values, as a key of the record: each is followed by its length and its place in the order in which the user
    /// asked, so that records with different values have different keys.
    Key,
    /// No part: values are only checked, and the output is discarded.
    Nothing,
}

/// Copies input to output and replaces values. The unchanged parts in between are copied in as few pieces as
/// possible.
pub struct Edit<'a> {
    input: &'a [u8],
    /// The number of input bytes that have been copied or replaced.
    done: usize,
    out: &'a mut Vec<u8>,
    form: Form,
    /// The values of the current record that are to be joined: their ranks, and their places in `out`.
    values: Vec<(usize, Range<usize>)>,
    /// A buffer for the joined values.
    joined: Vec<u8>,
    /// Whether [`Edit::compare`] checks for changes.
    watches: bool,
    /// Whether a value of the current record has changed.
    has_changed: bool,
}

/// A state to which [`Edit::rewind`] can return.
#[derive(Clone, Copy)]
pub struct Mark {
    done: usize,
    len: usize,
}

impl<'a> Edit<'a> {
    /// Creates an edit that starts at offset `start` of `input` and appends to `out`.
    pub fn new(input: &'a [u8], start: usize, out: &'a mut Vec<u8>, form: Form) -> Edit<'a> {
        let (values, joined) = (Vec::new(), Vec::new());
        Edit { input, done: start, out, form, values, joined, watches: false, has_changed: false }
    }

    /// Sets whether [`Edit::compare`] checks if values change.
    pub fn watching(self, watches: bool) -> Edit<'a> {
        Edit { watches, ..self }
    }

    /// Returns the output.
    #[inline]
    pub fn output(&mut self) -> &mut Vec<u8> {
        self.out
    }

    /// Returns which parts of a record are written.
    #[inline]
    pub fn form(&self) -> Form {
        self.form
    }

    /// Copies the input up to `at`, if whole records are written, and returns the output so that a replacement can be
    /// appended.
    #[inline]
    pub fn copy_to(&mut self, at: usize) -> &mut Vec<u8> {
        if self.form == Form::Whole {
            self.out.extend_from_slice(&self.input[self.done..at]);
        }
        self.done = at;
        self.out
    }

    /// Skips the input up to `at`.
    #[inline]
    pub fn skip_to(&mut self, at: usize) {
        self.done = at;
    }

    /// Ends the value that was appended at `from` of the output, and skips the old value up to `stop` of the input.
    /// `rank` is the place of the value in the order that the user asked for.
    #[inline]
    pub fn close(&mut self, rank: usize, from: usize, stop: usize) {
        self.done = stop;
        if self.form != Form::Whole {
            self.end_value(rank, from);
        }
    }

    /// Writes `value` for the value of the input from `start` to `stop`, if only values are written. Returns whether it
    /// did; otherwise the caller writes the value with the syntax around it. `rank` is that of [`Edit::close`].
    pub fn write_bare(&mut self, rank: usize, start: usize, stop: usize, value: &[u8]) -> bool {
        let is_bare = matches!(self.form, Form::Values { .. } | Form::Key);
        if is_bare {
            let out = self.copy_to(start);
            let from = out.len();
            out.extend_from_slice(value);
            self.close(rank, from, stop);
        }
        is_bare
    }

    /// Ends the value that was appended at `from`: escapes line ends and delimiters in it.
    fn end_value(&mut self, rank: usize, from: usize) {
        if self.form == Form::Key {
            let len = self.out.len() - from;
            self.out.extend([len, rank].into_iter().flat_map(|number| (number as u32).to_le_bytes()));
        }
        let Form::Values { delimiter, end } = self.form else { return };
        let is_structure = |byte: &u8| [b'\n', b'\r', end, delimiter.unwrap_or(end)].contains(byte);
        if self.out[from..].iter().any(is_structure) {
            let value = self.out.split_off(from);
            for byte in value {
                if is_structure(&byte) {
                    crate::ground::escape::escape(&[byte], self.out);
                } else {
                    self.out.push(byte);
                }
            }
        }
        match delimiter {
            None => self.out.push(end),
            Some(_) => self.values.push((rank, from..self.out.len())),
        }
    }

    /// Notes whether the output from `from` on differs from `value`, if changes are tracked.
    #[inline]
    pub fn compare(&mut self, from: usize, value: &[u8]) {
        if self.watches && !self.has_changed {
            self.has_changed = self.out[from..] != *value;
        }
    }

    /// Notes that a value has changed.
    pub fn change(&mut self) {
        self.has_changed = true;
    }

    /// Reports whether a value of the current record has changed.
    #[inline]
    pub fn has_changed(&self) -> bool {
        self.has_changed
    }

    /// Starts a record, and returns the state before it.
    #[inline]
    pub fn begin(&mut self) -> Mark {
        self.values.clear();
        self.has_changed = false;
        Mark { done: self.done, len: self.out.len() }
    }

    /// Ends a record with `count` selected places, at offset `at` of the input.
    #[inline]
    pub fn end(&mut self, count: usize, at: usize) {
        if let Form::Values { delimiter, end } = self.form {
            if let Some(delimiter) = delimiter
                && !self.values.is_empty()
            {
                self.join(count, delimiter);
                self.out.push(end);
            }
            self.done = at;
        }
    }

    /// Joins the values of the current record in the order of their ranks, with an empty cell for each missing rank
    /// below `count`. Several values of one rank are in one cell, so that the cells after it stay in their columns. Blanks separate
    /// them, or commas if the delimiter is a blank, and the separator is escaped inside them.
    fn join(&mut self, count: usize, delimiter: u8) {
        let Edit { values, joined, out, .. } = self;
        let start = values[0].1.start;
        values.sort_by_key(|(rank, _)| *rank);
        joined.clear();
        let separator = if delimiter == b' ' { b',' } else { b' ' };
        let mut rest = &values[..];
        for rank in 0..count {
            let several;
            (several, rest) = rest.split_at(rest.iter().take_while(|(found, _)| *found == rank).count());
            for (index, (_, place)) in several.iter().enumerate() {
                if index > 0 {
                    joined.push(separator);
                }
                for &byte in &out[place.clone()] {
                    if several.len() > 1 && byte == separator {
                        crate::ground::escape::escape(&[byte], joined);
                    } else {
                        joined.push(byte);
                    }
                }
            }
            if rank + 1 < count {
                joined.push(delimiter);
            }
        }
        out.truncate(start);
        out.extend_from_slice(joined);
    }

    /// Returns to `mark`: discards the output after it.
    pub fn rewind(&mut self, mark: Mark) {
        self.done = mark.done;
        self.out.truncate(mark.len);
    }
}
