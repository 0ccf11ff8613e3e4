//! Which field of a line.

use std::fmt;
use std::str::FromStr;

/// Which field, and which word of it, both counted from 0. They are in the order in which they stand in a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Spot {
    pub field: usize,
    pub word: Option<usize>,
}

impl FromStr for Spot {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Spot, &'static str> {
        let number = |text: &str| {
            let number = text.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
            number.ok_or("a number of a field, from 1, or N.W for a word of a field")
        };
        let (field, word) = match text.split_once('.') {
            Some((field, word)) => (field, Some(number(word)?)),
            None => (text, None),
        };
        Ok(Spot { field: number(field)?, word })
    }
}

impl fmt::Display for Spot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.word {
            None => write!(f, "{}", self.field + 1),
            Some(word) => write!(f, "{}.{}", self.field + 1, word + 1),
        }
    }
}

impl Spot {
    /// All of field number `field`, from 0.
    pub const fn of(field: usize) -> Spot {
        Spot { field, word: None }
    }

    /// Word number `word`, from 0, of field number `field`.
    pub const fn word(field: usize, word: usize) -> Spot {
        Spot { field, word: Some(word) }
    }
}
