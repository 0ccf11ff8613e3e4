//! Finds the ends of CSV records in input that arrives in pieces. A line feed inside quotes is data.
//!
//! [`RowScan`](crate::RowScan) finds the same ends in blocks of 64 bytes. It uses this module for the blocks with a misplaced quote, which
//! RFC 4180 does not allow, for an incomplete last block, and for all blocks in a dialect with backslashes.

use memchr::{memchr, memchr2};

/// The bytes between fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Separator {
    /// Each occurrence of this byte.
    Byte(u8),
    /// Runs of blanks, as for awk.
    Blanks,
    /// Runs of blanks, except in quotes and brackets. A quote, or a bracket, ends the field that it began if a blank or the end of the line
    /// follows, and the number of backslashes before it is even.
    Quoted,
}

/// The dialect of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dialect {
    /// The byte between cells.
    pub delimiter: u8,
    /// The way in which quotes are read.
    pub quotes: Quotes,
}

/// The way in which the quotes of a table are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Quotes {
    /// RFC 4180: quotes enclose a whole cell, and two of them mean one.
    #[default]
    Strict,
    /// Two more kinds of quotes are data: those inside a cell without quotes, and those that no delimiter follows.
    Lazy,
    /// A backslash in a quoted cell escapes quotes and itself.
    Backslash,
}

/// The state of the search for ends between two pieces of the input.
#[derive(Clone, Copy, Debug)]
pub struct Ends {
    pub(crate) dialect: Dialect,
    pub(crate) state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// At the start of a cell.
    Start,
    /// In a cell without quotes.
    Bare,
    Quoted,
    /// After a backslash inside quotes.
    Escape,
    /// After a quote inside quotes: it either closes them or begins an escaped quote.
    Quote,
    /// After a carriage return that follows a quote inside quotes.
    Return,
    /// After a misplaced quote. The record ends with the line.
    Lost,
}

impl Ends {
    /// Starts at the beginning of a record.
    pub fn new(dialect: Dialect) -> Ends {
        Ends { dialect, state: State::Start }
    }

    /// Returns the end of the current record, after its line feed, or `None` if it does not end in `piece`.
    pub fn next(&mut self, piece: &[u8]) -> Option<usize> {
        self.stop(piece, false)
    }

    /// Returns the end of the current cell, after its delimiter or the line feed of the record, or `None` if it does not end in `piece`.
    pub(crate) fn next_cell(&mut self, piece: &[u8]) -> Option<usize> {
        self.stop(piece, true)
    }

    /// Returns the end of the current record, or of the current cell if `cells` is set.
    fn stop(&mut self, piece: &[u8], cells: bool) -> Option<usize> {
        let Dialect { delimiter, quotes } = self.dialect;
        let is_lazy = quotes == Quotes::Lazy;
        // The states after a misplaced quote: one in a cell without quotes, and one that no delimiter follows.
        let (bare_quote, after_quote) =
            if is_lazy { (State::Bare, State::Quoted) } else { (State::Lost, State::Lost) };
        let mut at = 0;
        while at < piece.len() {
            let rest = &piece[at..];
            // One search skips the bytes without a meaning in this state.
            let passed = match self.state {
                State::Bare => memchr::memchr3(b'\n', b'"', delimiter, rest),
                State::Quoted if quotes == Quotes::Backslash => memchr2(b'"', b'\\', rest),
                State::Quoted => memchr(b'"', rest),
                State::Lost => memchr(b'\n', rest),
                _ => Some(0),
            };
            at += passed?;
            let byte = piece[at];
            at += 1;
            self.state = match (self.state, byte) {
                (State::Quoted, b'\\') => State::Escape,
                (State::Quoted, _) => State::Quote,
                (State::Escape, _) => State::Quoted,
                (state, b'\n') => {
                    // After the last cell, `is_faulty` still says that a quote is misplaced.
                    self.state = if cells && state == State::Lost { state } else { State::Start };
                    return Some(at);
                }
                (State::Start | State::Bare | State::Quote, _) if byte == delimiter && cells => {
                    self.state = State::Start;
                    return Some(at);
                }
                (State::Start | State::Quote, b'"') => State::Quoted,
                (State::Start | State::Bare | State::Quote, _) if byte == delimiter => State::Start,
                (State::Bare, b'"') => bare_quote,
                (State::Start | State::Bare, _) => State::Bare,
                (State::Quote, b'\r') => State::Return,
                // In a lazy cell, the quote before the carriage return was data, and this one may close the cell.
                (State::Return, b'"') if is_lazy => State::Quote,
                (State::Quote | State::Return | State::Lost, _) => after_quote,
            };
        }
        None
    }

    /// Reports whether the record, if it ended here, could not be read: a quote is open or misplaced.
    pub fn is_faulty(self) -> bool {
        matches!(self.state, State::Quoted | State::Escape | State::Return | State::Lost)
    }
}
