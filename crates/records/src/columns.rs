//! Finds columns that a header line names, and targets between words, as in Squid's native format.

use std::net::IpAddr;
use std::ops::Range;

use simdpct::ByteSet;

use crate::escaping::Escaping;
use crate::place::{
    BLANK, Field, Holds, Key, Kind, QUOTED, REQUEST, Reason, Text, Texts, Unreadable, unreadable,
};
use crate::target;

/// The layout of a file whose header lines name its columns.
#[derive(Clone, Copy, Debug)]
pub struct Columns {
    /// The bytes between columns.
    pub split: Split,
    /// The start of a line that names columns.
    pub header: &'static [u8],
    /// The start of a line without columns.
    pub comment: &'static [u8],
    /// The texts that no new value can start with, because the line could be read as one without columns.
    pub reserved: &'static [&'static [u8]],
    /// The columns that can be selected.
    pub columns: &'static [Key],
    /// The names of the columns until a header line comes. A line can lack the last of these columns. Empty if a header
    /// line is required.
    pub default: &'static [u8],
}

/// The bytes between columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Split {
    /// A tab.
    Tab,
    /// A blank.
    Blank,
    /// A blank, except in quotes.
    QuotedBlank,
}

/// The columns that the last header line has named.
#[derive(Clone, Debug, Default)]
pub(crate) struct Header {
    /// The columns, or the paths of JSON, that were asked for by their own names.
    pub wanted: Vec<String>,
    /// The number of columns, once a line has named them.
    count: Option<usize>,
    /// Whether the line that named the columns has several blanks between them, or one after them, so that other lines may have them, too.
    is_aligned: bool,
    /// The position of each column that can be selected, the number of its value, and its content.
    selected: Vec<(usize, usize, Holds)>,
}

/// The place of a column, and whether it is quoted.
type Column = (Range<usize>, bool);

/// Returns the names of columns in a header line.
fn column_names(names: &[u8]) -> impl Iterator<Item = &[u8]> {
    names.split(|byte| b" \t".contains(byte)).filter(|name| !name.is_empty())
}

/// Reports whether `known` and `name` are the name of one column.
pub(crate) fn is_column(known: &str, name: &[u8]) -> bool {
    // The names in CDX are letters whose case matters; those of W3C logs are case-insensitive.
    let known = known.as_bytes();
    if known.len() == 1 { known == name } else { known.eq_ignore_ascii_case(name) }
}

impl Columns {
    /// Returns the columns among `names` that can be selected: those of the layout, and those with the names `wanted`.
    fn select(&self, names: &[u8], wanted: &[String]) -> Vec<(usize, usize, Holds)> {
        let names: Vec<_> = column_names(names).collect();
        let mut selected: Vec<(usize, usize, Holds)> = Vec::new();
        let mut select = |name: &str, index, holds| {
            let places = (0..names.len()).filter(|&at| is_column(name, names[at]));
            // If several columns have the same field, the one that the layout names first is used.
            let is_first =
                selected.iter().all(|(_, known, other)| *known != index || *other == Holds::Method);
            let is_used = is_first || holds == Holds::Method;
            selected.extend(places.filter(|_| is_used).map(|at| (at, index, holds)));
        };
        self.columns.iter().for_each(|key| select(key.name, key.field as usize, key.holds));
        for (number, name) in wanted.iter().enumerate() {
            let key = self.columns.iter().find(|key| is_column(key.name, name.as_bytes()));
            // A method that was asked for by the name of its column is text.
            let holds = key.map(|key| key.holds).filter(|holds| *holds != Holds::Method);
            select(name, Field::ALL.len() + number, holds.unwrap_or(Holds::Value(Kind::Text)));
        }
        selected.sort_by_key(|(at, ..)| *at);
        selected
    }

    /// Appends the known columns of `line`, and those that are wanted, to `texts`, or reads a header line into `header`.
    pub(crate) fn find(&self, line: &[u8], header: &mut Header, texts: &mut Texts) -> Result<(), Unreadable> {
        if let Some(names) = line.strip_prefix(self.header) {
            header.selected = self.select(names, &header.wanted);
            header.count = Some(column_names(names).count());
            let names = names.trim_ascii_start();
            header.is_aligned = memchr::memmem::find(names, b"  ").is_some() || names.ends_with(b" ");
            return Ok(());
        }
        if line.starts_with(self.comment) {
            return Ok(());
        }
        let is_cdx = !self.default.is_empty();
        if is_cdx && line.splitn(3, |&byte| byte == b' ').nth(2).is_some_and(|rest| rest.starts_with(b"{")) {
            return unreadable(0, Reason::CDXJ);
        }
        if header.count.is_none() && is_cdx && header.selected.is_empty() {
            header.selected = self.select(self.default, &header.wanted);
        }
        let Some(least) = header.count.or(header.selected.iter().map(|(at, ..)| at + 1).max()) else {
            return unreadable(0, Reason::NO_HEADER);
        };
        // An empty column is empty text between two blanks, unless the writer aligns columns by several blanks.
        let escaping = texts.escaping;
        let cells = self.cells(line, escaping, header.is_aligned && self.split != Split::Tab)?;
        let most = header.count.unwrap_or_else(|| column_names(self.default).count());
        if !(least..=most).contains(&cells.len()) {
            return unreadable(line.len(), Reason::FIELD_COUNT);
        }
        let fence = match self.split {
            Split::Tab => ByteSet::from_bytes(b"\t"),
            Split::Blank => BLANK,
            Split::QuotedBlank => REQUEST,
        };
        for &(at, index, holds) in &header.selected {
            let (range, is_quoted) = cells[at].clone();
            let (escaping, fence) = match escaping {
                Escaping::TomcatW3c if is_quoted => (Escaping::TomcatHeader, QUOTED),
                _ if is_quoted => (escaping, QUOTED),
                // In a column without quotes around it, two quotes are data.
                Escaping::DoubledQuote => (Escaping::None, fence),
                _ => (escaping, fence),
            };
            // A stem that has a `?` already keeps it.
            let fence = match holds {
                Holds::Stem if !line[range.clone()].contains(&b'?') => fence.add(b"?"),
                _ => fence,
            };
            texts.list.push(Text { range: Ok(range), index, holds, escaping, fence });
        }
        Ok(())
    }

    /// Splits `line` into columns, at runs of blanks if `runs` is set.
    fn cells(&self, line: &[u8], escaping: Escaping, runs: bool) -> Result<Vec<Column>, Unreadable> {
        let delimiter = if self.split == Split::Tab { b'\t' } else { b' ' };
        let mut cells = Vec::new();
        let mut at = 0;
        loop {
            if runs {
                at += line[at..].iter().take_while(|&&byte| byte == delimiter).count();
                if at == line.len() {
                    return Ok(cells);
                }
            }
            let is_quoted = self.split == Split::QuotedBlank && line.get(at) == Some(&b'"');
            let end = match is_quoted {
                true => closing_quote(line, at + 1, escaping)? + 1,
                false => memchr::memchr(delimiter, &line[at..]).map_or(line.len(), |len| at + len),
            };
            cells.push(if is_quoted { (at + 1..end - 1, true) } else { (at..end, false) });
            if end == line.len() {
                return Ok(cells);
            }
            at = end + 1;
        }
    }
}

/// Returns the quote that closes the column at `start`.
fn closing_quote(line: &[u8], start: usize, escaping: Escaping) -> Result<usize, Unreadable> {
    match escaping.next_quote(line, start) {
        Some(quote) if line.get(quote + 1).is_none_or(|&byte| byte == b' ') => Ok(quote),
        Some(quote) => unreadable(quote, Reason::OTHER_FIELDS),
        None => unreadable(start - 1, Reason::OPEN_QUOTE),
    }
}

/// The layout of lines that have a target between words. The line ends after the words.
#[derive(Clone, Copy, Debug)]
pub struct Words {
    /// The kinds of the words before the target.
    pub before: &'static [Word],
    /// The kinds of the words after the target.
    pub after: &'static [Word],
    /// The word after the target that shows where a target with blanks ends. It is `None` if the target cannot contain blanks.
    pub mark: Option<Word>,
}

/// A word before or after a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    /// A number, with a fraction or a sign if it has one, or `-`.
    Number,
    /// A number of bytes, or `-`.
    Count,
    /// A status of three digits, or `-`.
    Status,
    /// The result of Squid with a status, such as `TCP_MISS/200`.
    Result,
    /// The method of the request.
    Method,
    /// A hierarchy code of Squid with the server that was asked, such as `HIER_DIRECT/192.0.2.1` or `HIER_NONE/-`.
    Peer,
    /// An IP address in parentheses.
    Address,
    /// A number with its unit, such as `0.57ms`.
    Milliseconds,
    /// The word with this text.
    Is(&'static str),
    /// Another word.
    Any,
}

/// The ends of all hierarchy codes of Squid, and of Traffic Server, which writes the same layout.
const HIERARCHY_ENDS: &str = "NONE DIRECT PARENT HIT MISS FAIL FASTEST CARP PINNED DST POOL OBJ EMPTY CODE";

impl Word {
    /// Reports whether `word` is of this kind.
    fn holds(self, word: &[u8]) -> bool {
        // A text that is not UTF-8 can only be `Any`.
        let text = str::from_utf8(word).unwrap_or_default();
        let has_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let is_number = |text: &str| text.strip_prefix('-').unwrap_or(text).splitn(2, '.').all(has_digits);
        let is_code = |code: &str| HIERARCHY_ENDS.split(' ').any(|end| code.rsplit('_').next() == Some(end));
        match self {
            Word::Number => text == "-" || is_number(text),
            Word::Count => text == "-" || has_digits(text),
            Word::Status => text == "-" || text.len() == 3 && has_digits(text),
            Word::Result => {
                text.split_once('/').is_some_and(|(_, status)| Word::Status.holds(status.as_bytes()))
            }
            Word::Method => !word.is_empty() && target::is_token(word),
            Word::Peer => text.split_once('/').is_some_and(|(code, peer)| is_code(code) && !peer.is_empty()),
            Word::Address => {
                // The address can be followed by the name of an interface, as in `(fe80::1%eth0)`.
                let address =
                    text.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')?.split('%').next());
                address.is_some_and(|address| address.parse::<IpAddr>().is_ok())
            }
            Word::Milliseconds => text.strip_suffix("ms").is_some_and(is_number),
            Word::Is(known) => text == known,
            Word::Any => !word.is_empty(),
        }
    }
}

impl Words {
    /// Appends the method and the target of `line` to `texts`.
    pub(crate) fn find(&self, line: &[u8], texts: &mut Texts) -> Result<(), Unreadable> {
        // Squid ends a line that is too long with NUL, and writes no line end.
        if let Some(nul) = memchr::memchr(0, line) {
            return unreadable(nul, Reason::GLUED);
        }
        let mut add = |range, holds| texts.add(Field::Target as usize, Ok(range), holds, BLANK);
        let mut at = 0;
        for word in self.before {
            at += line[at..].iter().take_while(|&&byte| byte == b' ').count();
            let range = at..at + memchr::memchr(b' ', &line[at..]).unwrap_or(0);
            if !word.holds(&line[range.clone()]) {
                return unreadable(at, Reason::NO_ANCHOR);
            }
            at = range.end;
            if *word == Word::Method {
                add(range, Holds::Method);
            }
        }
        let mut end = line.trim_ascii_end().len();
        for word in self.after.iter().rev() {
            let start = memchr::memrchr(b' ', &line[..end]).map_or(0, |blank| blank + 1);
            if !word.holds(&line[start..end]) {
                return unreadable(start, Reason::OTHER_FIELDS);
            }
            end = start.saturating_sub(1);
        }
        if end <= at + 1 {
            return unreadable(line.len(), Reason::FIELD_COUNT);
        }
        let words = || line[at..].split(|&byte| byte == b' ');
        let count = |mark: Word| words().filter(|word| mark.holds(word)).count();
        if line[at + 1..end].contains(&b' ') && self.mark.map(count) != Some(1) {
            return unreadable(at + 1, Reason::FIELD_COUNT);
        }
        add(at + 1..end, Holds::Target);
        Ok(())
    }
}
