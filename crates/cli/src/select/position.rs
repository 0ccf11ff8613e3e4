//! Positions of values in a line.

use std::fmt;
use std::str::FromStr;

/// A field of a line, or a word of a field, both counted from 0. The order is that of the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    pub field: usize,
    pub word: Option<usize>,
}

impl FromStr for Position {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Position, &'static str> {
        let number = |text: &str| {
            let number = text.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
            number.ok_or("expected the number of a field, from 1, or N.W for a word of a field")
        };
        let (field, word) = match text.split_once('.') {
            Some((field, word)) => (field, Some(number(word)?)),
            None => (text, None),
        };
        Ok(Position { field: number(field)?, word })
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.word {
            None => write!(f, "{}", self.field + 1),
            Some(word) => write!(f, "{}.{}", self.field + 1, word + 1),
        }
    }
}

impl Position {
    /// Returns the position of field number `field`.
    pub const fn of(field: usize) -> Position {
        Position { field, word: None }
    }

    /// Returns the position of word number `word` in field number `field`.
    pub const fn word(field: usize, word: usize) -> Position {
        Position { field, word: Some(word) }
    }
}
