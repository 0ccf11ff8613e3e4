//! Positions of values in a line.

use std::fmt;

/// A field of a line, or a word of a field. Positions that count from the same end are in the order of the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// The number of the field: from 0 on if it counts from the start of the line, and -1 for the last field.
    pub field: isize,
    /// The number of the word, from 0, or [`Position::TARGET`].
    pub word: Option<usize>,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let field = self.field + isize::from(self.field >= 0);
        match self.word {
            None => write!(f, "{field}"),
            Some(Position::TARGET) => write!(f, "{field}.2"),
            Some(word) => write!(f, "{field}.{}", word + 1),
        }
    }
}

impl Position {
    /// The number that means the target of a request: its second word, and all other words up to the protocol.
    pub const TARGET: usize = usize::MAX;

    /// Returns the position of field number `field`.
    pub const fn of(field: isize) -> Position {
        Position { field, word: None }
    }

    /// Returns the position of word number `word` in field number `field`.
    pub const fn word(field: isize, word: usize) -> Position {
        Position { field, word: Some(word) }
    }
}
