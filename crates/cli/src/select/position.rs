//! Positions of values in a line.

use std::fmt;
use std::str::FromStr;

/// A field of a line, or a word of a field. Positions that count from the same end are in the order of the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// The number of the field: from 0 on if it counts from the start of the line, and -1 for the last field.
    pub field: isize,
    /// The number of the word, from 0, or [`Position::TARGET`].
    pub word: Option<usize>,
}

impl FromStr for Position {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Position, &'static str> {
        const EXPECTED: &str =
            "expected the number of a field, from 1 or, from the end, from -1; or N.W for a word of a field";
        let number = |text: &str| {
            let number = text.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
            number.ok_or(EXPECTED)
        };
        let (field, word) = match text.split_once('.') {
            Some((field, word)) => (field, Some(number(word)?)),
            None => (text, None),
        };
        let from_end = field.strip_prefix('-');
        let field = isize::try_from(number(from_end.unwrap_or(field))?).map_err(|_| EXPECTED)?;
        Ok(Position { field: if from_end.is_some() { -1 - field } else { field }, word })
    }
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
