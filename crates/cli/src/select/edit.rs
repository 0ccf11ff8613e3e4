//! Output that is input with some stretches replaced.

/// Copies input to output, but for what is replaced. What stays is copied in pieces as long as possible.
pub struct Edit<'a> {
    input: &'a [u8],
    /// The bytes of the input that are settled.
    done: usize,
    out: &'a mut Vec<u8>,
}

/// A state to come back to.
#[derive(Clone, Copy)]
pub struct Mark {
    done: usize,
    len: usize,
}

impl<'a> Edit<'a> {
    /// Appends to `out` what becomes of `input`.
    pub fn new(input: &'a [u8], out: &'a mut Vec<u8>) -> Edit<'a> {
        Edit { input, done: 0, out }
    }

    /// Copies the input up to `at`, and returns the output, to which a replacement can be appended.
    pub fn copy_to(&mut self, at: usize) -> &mut Vec<u8> {
        self.out.extend_from_slice(&self.input[self.done..at]);
        self.done = at;
        self.out
    }

    /// Leaves out the input up to `at`.
    pub fn skip_to(&mut self, at: usize) {
        self.done = at;
    }

    /// The state at hand.
    pub fn mark(&self) -> Mark {
        Mark { done: self.done, len: self.out.len() }
    }

    /// Goes back to `mark`.
    pub fn rewind(&mut self, mark: Mark) {
        self.done = mark.done;
        self.out.truncate(mark.len);
    }
}
