//! Output that is input with some stretches replaced, or only what was found in it.

/// What is written of a record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    /// All of it, with new values.
    #[default]
    Whole,
    /// Its values. Each is a record of its own that ends in `end`, unless a delimiter joins those of one record.
    Values { delimiter: Option<u8>, end: u8 },
    /// None of it: values are only looked at. What is appended is of no use.
    Nothing,
}

/// Copies input to output, but for what is replaced. What stays is copied in pieces as long as possible.
pub struct Edit<'a> {
    input: &'a [u8],
    /// The bytes of the input that are settled.
    done: usize,
    out: &'a mut Vec<u8>,
    form: Form,
    /// The values of the record that were written.
    values: usize,
    /// Whether anybody wants to know if one has changed.
    watches: bool,
    /// Whether one of them has changed.
    has_changed: bool,
}

/// A state to come back to.
#[derive(Clone, Copy)]
pub struct Mark {
    done: usize,
    len: usize,
}

impl<'a> Edit<'a> {
    /// Appends to `out` what becomes of `input` from `start` on.
    pub fn new(input: &'a [u8], start: usize, out: &'a mut Vec<u8>, form: Form) -> Edit<'a> {
        Edit { input, done: start, out, form, values: 0, watches: false, has_changed: false }
    }

    /// The same, which notes whether a value has changed.
    pub fn watching(self, watches: bool) -> Edit<'a> {
        Edit { watches, ..self }
    }

    /// The output.
    #[inline]
    pub fn output(&mut self) -> &mut Vec<u8> {
        self.out
    }

    /// What is written.
    #[inline]
    pub fn form(&self) -> Form {
        self.form
    }

    /// Copies the input up to `at`, if all of it is written, and returns the output, to which a replacement can be
    /// appended.
    #[inline]
    pub fn copy_to(&mut self, at: usize) -> &mut Vec<u8> {
        if self.form == Form::Whole {
            self.out.extend_from_slice(&self.input[self.done..at]);
        }
        self.done = at;
        self.out
    }

    /// Leaves out the input up to `at`.
    #[inline]
    pub fn skip_to(&mut self, at: usize) {
        self.done = at;
    }

    /// The output up to the value at `at`, to which what becomes of it must be appended before [`Edit::close`].
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

    /// The value that was appended at `from` of the output is that of the input up to `stop`.
    #[inline]
    pub fn close(&mut self, from: usize, stop: usize) {
        self.done = stop;
        if self.form != Form::Whole {
            self.end_value(from);
        }
    }

    /// Ends the value that was appended at `from`, and makes it one line.
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

    /// If anybody wants to know: whether what was appended at `from` of the output is not `value`, so that it has changed.
    #[inline]
    pub fn compare(&mut self, from: usize, value: &[u8]) {
        if self.watches && !self.has_changed {
            self.has_changed = self.out[from..] != *value;
        }
    }

    /// A value has changed.
    pub fn change(&mut self) {
        self.has_changed = true;
    }

    /// Whether a value of the record has changed.
    #[inline]
    pub fn has_changed(&self) -> bool {
        self.has_changed
    }

    /// A record begins: the state at hand.
    #[inline]
    pub fn begin(&mut self) -> Mark {
        (self.values, self.has_changed) = (0, false);
        Mark { done: self.done, len: self.out.len() }
    }

    /// A record ends, at `at` of the input.
    #[inline]
    pub fn end(&mut self, at: usize) {
        if let Form::Values { delimiter, end } = self.form {
            if delimiter.is_some() && self.values > 0 {
                self.out.push(end);
            }
            self.done = at;
        }
    }

    /// Goes back to `mark`.
    pub fn rewind(&mut self, mark: Mark) {
        self.done = mark.done;
        self.out.truncate(mark.len);
    }
}
