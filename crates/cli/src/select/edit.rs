//! Builds output as a copy of the input with some parts replaced, or from the replaced parts alone.

/// The parts of a record that are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    /// The whole record, with new values.
    #[default]
    Whole,
    /// Only the values. Each becomes a record that ends in `end`, unless a delimiter joins the values of one record.
    Values { delimiter: Option<u8>, end: u8 },
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
    /// The number of values of the current record that were written.
    values: usize,
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
        Edit { input, done: start, out, form, values: 0, watches: false, has_changed: false }
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

    /// Prepares the output for the value at `at` of the input. The caller appends the new value and calls
    /// [`Edit::close`].
    #[inline]
    pub fn open(&mut self, at: usize) -> &mut Vec<u8> {
        self.copy_to(at);
        if let Form::Values { delimiter: Some(delimiter), .. } = self.form
            && self.values > 0
        {
            self.out.push(delimiter);
        }
        self.out
    }

    /// Ends the value that was appended at `from` of the output, and skips the old value up to `stop` of the input.
    #[inline]
    pub fn close(&mut self, from: usize, stop: usize) {
        self.done = stop;
        if self.form != Form::Whole {
            self.end_value(from);
        }
    }

    /// Writes `value` for the value of the input from `start` to `stop`, if only values are written. Returns whether it
    /// did; otherwise the caller writes the value with the syntax around it.
    pub fn write_bare(&mut self, start: usize, stop: usize, value: &[u8]) -> bool {
        let is_bare = matches!(self.form, Form::Values { .. });
        if is_bare {
            let out = self.open(start);
            let from = out.len();
            out.extend_from_slice(value);
            self.close(from, stop);
        }
        is_bare
    }

    /// Ends the value that was appended at `from`: escapes line ends and delimiters in it.
    fn end_value(&mut self, from: usize) {
        let Form::Values { delimiter, end } = self.form else { return };
        self.values += 1;
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
        if delimiter.is_none() {
            self.out.push(end);
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
        (self.values, self.has_changed) = (0, false);
        Mark { done: self.done, len: self.out.len() }
    }

    /// Ends a record, at offset `at` of the input.
    #[inline]
    pub fn end(&mut self, at: usize) {
        if let Form::Values { delimiter, end } = self.form {
            if delimiter.is_some() && self.values > 0 {
                self.out.push(end);
            }
            self.done = at;
        }
    }

    /// Returns to `mark`: discards the output after it.
    pub fn rewind(&mut self, mark: Mark) {
        self.done = mark.done;
        self.out.truncate(mark.len);
    }
}
