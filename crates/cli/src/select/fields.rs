//! Selects fields of a line, separated by one byte or, as in access logs, by blanks.

use std::ops::Range;

use simdpct::ByteSet;

use super::edit::Form;
use super::field_map::FieldMap;
use super::order::Order;
use super::pass::Pass;
pub use super::position::Position;
use crate::ground::escape::escape;
use crate::ground::reason::{Reason, Refusal};
use crate::value::policy::{Action, At, Treat};

/// The rule by which a line is split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Split {
    /// The line is split at each occurrence of this byte.
    Byte(u8),
    /// The line is split at runs of blanks, except inside the marks that enclose a field.
    Blanks(Enclosure),
}

/// The marks that can enclose a field that contains blanks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Enclosure {
    None,
    Quotes,
    QuotesOrBrackets,
}

impl Split {
    /// Returns the bytes that stay escaped in a value, for each variant of `Around`: control bytes, the bytes of
    /// `structure`, and the bytes that would split or end the field.
    pub fn kept(self, structure: ByteSet) -> [ByteSet; 3] {
        let controls: Vec<u8> = (0..0x20).chain([0x7F]).collect();
        let structure = structure.add(&controls);
        let (structure, bytes): (ByteSet, [&[u8]; 3]) = match self {
            Split::Byte(byte) => (structure.add(&[byte]), [b"", b"", b" "]),
            Split::Blanks(Enclosure::None) => (structure, [b" "; 3]),
            // In Apache's quoted fields, a backslash escapes a quote.
            Split::Blanks(_) => (structure, [b" \"\\", b"\"\\", b" \"\\]"]),
        };
        bytes.map(|bytes| structure.add(bytes))
    }
}

/// The fields of a line that contain values.
#[derive(Clone, Debug)]
pub struct Fields {
    split: Split,
    /// The bytes that stay escaped in a value, for each variant of `Around`.
    kept: [ByteSet; 3],
    /// The positions of the selected fields, in ascending order. One that was asked for twice is here twice.
    positions: Vec<Position>,
    /// The order in which the user asked for the fields.
    order: Order,
    /// The fields of the current line that are selected: the number of the field, the word, and the index of the
    /// position. They are in the order of the line, and the same for all lines unless a field is counted from the end.
    places: Vec<(usize, Option<usize>, usize)>,
    /// The lines of the file that name its fields.
    field_map: Option<FieldMap>,
    /// The number of fields that the last of these lines has named.
    named: Option<usize>,
    /// The part of each line that shows its format, and without which a line is unreadable.
    anchor: Option<Anchor>,
    /// Whether the conversion can produce bytes that split a line, although their escapes are kept. If so, new values
    /// are checked for them.
    mends: bool,
}

/// The syntax around a value, which determines the bytes that must stay escaped in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Around {
    /// The usual syntax, to which neither of the other variants applies.
    Plain,
    /// Quotes that enclose only this value, so that it may contain blanks.
    Quotes,
    /// Syntax in which a new blank or closing bracket in the value could also change how the line is split.
    Guarded,
}

/// The part of a line that shows that the line has the format of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// A date in brackets before a quoted request. The date counts as field 4, because the fields before it can contain
    /// blanks and brackets: clients choose the user name.
    Date,
    /// A quoted request as the last field.
    Last,
    /// A quoted request, or a hyphen, as the field with this number, from 0.
    Request(usize),
    /// The time, the status and the number of fields in the logs of Squid.
    Squid,
}

impl Anchor {
    /// Returns the number and the offset of the first field to read in `line`, or the reason why the line is unreadable.
    fn start(self, line: &Line<'_>) -> Result<(usize, usize), Reason> {
        match self {
            Anchor::Date => date(line.bytes)
                .map(|start| (DATE, start))
                .ok_or(Reason::NotInLog("no date in brackets before a quoted request")),
            Anchor::Last if line.last_is_quoted() => Ok((0, 0)),
            Anchor::Last => Err(Reason::NotInLog("no quoted request at the end of the line")),
            Anchor::Request(_) => Ok((0, 0)),
            Anchor::Squid if is_squid(line) => Ok((0, 0)),
            Anchor::Squid => {
                Err(Reason::NotInLog("the line has not the time, status and ten fields of Squid"))
            }
        }
    }

    /// Returns the number of the field that must be a request, if it is known before the line is read.
    fn request(self) -> Option<usize> {
        match self {
            Anchor::Date => Some(DATE + 1),
            Anchor::Request(number) => Some(number),
            Anchor::Last | Anchor::Squid => None,
        }
    }
}

/// A field of a line.
struct Field {
    /// The field without its quotes or brackets.
    value: Range<usize>,
    kind: Kind,
    /// The start of the search for the next field, if there is one.
    next: Option<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Bare,
    /// A field in quotes. It is fragile if it contains a quote that would end the field if a blank followed that quote.
    Quoted {
        is_fragile: bool,
    },
    Bracketed,
}

impl Fields {
    /// Selects the fields at `positions`, or returns an error message. `mends` means that the conversion can change how
    /// a line is split, although it keeps the escapes of [`Split::kept`]: encoding can remove a backslash or add quotes
    /// and delimiters, and a charset can too.
    pub fn new(positions: &[Position], split: Split, mends: bool) -> Result<Fields, String> {
        let order = Order::of(positions.iter());
        let mut positions = positions.to_vec();
        positions.sort();
        let is_within = |pair: &&[Position]| pair[0].field == pair[1].field && pair[0].word.is_none();
        match positions.windows(2).find(|pair| is_within(pair) && pair[0] != pair[1]) {
            Some(pair) => Err(format!("--field: field {} and a word of it are both selected", pair[0])),
            None => {
                let places = places(&positions, 0);
                Ok(Fields {
                    split,
                    kept: split.kept(ByteSet::EMPTY),
                    positions,
                    order,
                    places,
                    field_map: None,
                    named: None,
                    anchor: None,
                    mends,
                })
            }
        }
    }

    /// Keeps the bytes of `structure` escaped in values.
    pub fn keeping(self, structure: ByteSet) -> Fields {
        Fields { kept: self.split.kept(structure), ..self }
    }

    /// Treats lines without `anchor` as unreadable.
    pub fn with_anchor(self, anchor: Anchor) -> Fields {
        Fields { anchor: Some(anchor), ..self }
    }

    /// Selects the fields that lines of the file itself name.
    pub fn named(map: FieldMap, split: Split, mends: bool) -> Fields {
        let positions = map.positions();
        let (order, places) = (Order::default(), places(&positions, 0));
        let kept = split.kept(ByteSet::EMPTY);
        Fields {
            split,
            kept,
            positions,
            order,
            places,
            field_map: Some(map),
            named: None,
            anchor: None,
            mends,
        }
    }

    /// Returns the positions of the fields.
    pub fn positions(&self) -> &[Position] {
        &self.positions
    }

    /// Reports whether blanks separate the fields.
    pub fn is_separated_by_blanks(&self) -> bool {
        matches!(self.split, Split::Blanks(_))
    }

    /// Returns the description of the lines that name fields, if the format has such lines.
    pub fn field_map(&self) -> Option<&FieldMap> {
        self.field_map.as_ref()
    }

    /// Returns the message for a file in which no line named a selected field.
    pub fn missing(&self, was_found: bool) -> Vec<String> {
        let Some(map) = self.field_map.as_ref().filter(|_| !was_found) else { return Vec::new() };
        let prefix = String::from_utf8_lossy(map.prefix());
        let columns = map.columns().join(", ");
        vec![format!("no line starting with '{}' names any of {columns}", prefix.trim())]
    }

    /// Reports whether the referrer of an access log is selected, in addition to the request target. Returns `None` if other
    /// fields are selected.
    pub fn has_referrer(&self) -> Option<bool> {
        const REQUEST: Position = Position::word(DATE as isize + 1, Position::TARGET);
        const REFERRER: Position = Position::of(DATE as isize + 4);
        let is_split = self.split == Split::Blanks(Enclosure::QuotesOrBrackets);
        let is_plain = is_split && self.anchor == Some(Anchor::Date) && !self.mends;
        match self.positions.as_slice() {
            _ if !is_plain => None,
            [REQUEST] => Some(false),
            [REQUEST, REFERRER] => Some(true),
            _ => None,
        }
    }

    /// Reports whether every line can be read.
    pub fn is_always_readable(&self) -> bool {
        !self.is_log()
    }

    /// Reports whether the lines are those of a named log format, so that a line can be unreadable.
    fn is_log(&self) -> bool {
        self.anchor.is_some() || self.field_map.is_some()
    }

    /// Rewrites the values of one record.
    pub fn rewrite(&mut self, pass: &mut Pass<'_, '_, impl Treat>) -> Action {
        let record = pass.record;
        if let Some(map) = &self.field_map {
            match map.read(record.bytes()) {
                None => {}
                Some(header) => {
                    if let Some((count, positions)) = header {
                        if !positions.is_empty() {
                            pass.report.stats.find(0);
                        }
                        self.named = Some(count);
                        self.places = places(&positions, 0);
                        self.positions = positions;
                    }
                    return Action::Write;
                }
            }
            if map.is_foreign(record.bytes()) {
                return Action::Stop(Refusal { offset: record.start, reason: Reason::Cdxj });
            }
        }
        let is_doubled = self.field_map.as_ref().is_some_and(FieldMap::doubles_quotes);
        let mut line = Line { bytes: record.bytes(), no_quote: false, no_bracket: false, is_doubled };
        if let Split::Blanks(enclosure) = self.split {
            line.no_quote = enclosure == Enclosure::None;
            line.no_bracket = enclosure != Enclosure::QuotesOrBrackets;
        }
        if self.is_log() && line.bytes.iter().all(|&byte| is_blank(byte)) {
            return Action::Write;
        }
        pass.report.stats.searched |= self.field_map.is_some();
        if let Some(map) = &self.field_map
            && let Some(reason) = map.mismatch(self.count(&line), self.named)
        {
            return pass.unreadable(record.start, reason);
        }
        let (mut number, start) = match self.anchor.map_or(Ok((0, 0)), |anchor| anchor.start(&line)) {
            Ok(start) => start,
            Err(reason) => return pass.unreadable(record.start, reason),
        };
        let request = self.anchor.and_then(Anchor::request);
        pass.report.stats.searched |= request.is_none();
        if self.positions.first().is_some_and(|first| first.field < 0) {
            self.places =
                places(&self.positions, number + self.count(&Line { bytes: &line.bytes[start..], ..line }));
        }
        let mut next = Some(start);
        let mut places = self.places.iter().peekable();
        while let (Some(from), Some((wanted, ..))) = (next, places.peek()) {
            let field = match self.split {
                // Skips the fields before the next selected one.
                Split::Byte(byte) if number < *wanted => {
                    let skip = wanted - number;
                    let found = memchr::memchr_iter(byte, &line.bytes[from..]).nth(skip - 1);
                    (number, next) = (*wanted, found.map(|found| from + found + 1));
                    continue;
                }
                Split::Byte(byte) => {
                    let found = memchr::memchr(byte, &line.bytes[from..]);
                    let stop = found.map_or(line.bytes.len(), |found| from + found);
                    Field { value: from..stop, kind: Kind::Bare, next: found.map(|_| stop + 1) }
                }
                Split::Blanks(_) => match line.field(from) {
                    Some(field) => field,
                    None => break,
                },
            };
            if request == Some(number)
                && let Some((offset, reason)) = field.is_no_request(line.bytes)
            {
                return pass.unreadable(record.start + offset, reason);
            }
            pass.report.stats.searched = true;
            // The field begins with a quote, and nothing closes it.
            let is_open = self.is_log()
                && field.kind == Kind::Bare
                && !matches!(self.split, Split::Byte(_) | Split::Blanks(Enclosure::None))
                && line.bytes[field.value.start] == b'"';
            // The place in this field before the current one, which can be the same or the whole field.
            let mut before = None;
            while let Some(&(_, word, index)) = places.next_if(|(wanted, ..)| *wanted == number) {
                let is_repeated = before == Some(word);
                let is_joined = matches!(pass.edit.form(), Form::Values { delimiter: Some(_), .. });
                if is_repeated || before == Some(None) && !is_joined {
                    if !is_open && nth_word(line.bytes, field.value.clone(), word).is_some() {
                        pass.report.stats.find(index);
                        pass.edit.repeat(self.order.rank(index));
                    }
                    continue;
                }
                if before != Some(None) {
                    before = Some(word);
                }
                let value = nth_word(line.bytes, field.value.clone(), word).filter(|_| {
                    let has_none =
                        word == Some(Position::TARGET) && is_missing(&line.bytes[field.value.clone()]);
                    !is_open && !has_none
                });
                let Some(value) = value else {
                    if is_open || self.anchor.is_some() && !is_missing(&line.bytes[field.value.clone()]) {
                        let reason =
                            if is_open { Reason::OpenQuote { limit: None } } else { Reason::NoTarget };
                        pass.report.stats.find(index);
                        let place = record.start + field.value.start..record.start + field.value.end;
                        let none = if pass.edit.form() == Form::Whole { "-" } else { "" };
                        let rank = self.order.rank(index);
                        let action = pass.unreadable_value(rank, place.start, reason, place, none);
                        if action != Action::Write {
                            return action;
                        }
                    }
                    continue;
                };
                pass.report.stats.find(if self.field_map.is_some() { 0 } else { index });
                let at = At {
                    index,
                    kind: simdpct_records::Kind::Text,
                    kept: self.kept(&line, &field, word.is_some()),
                };
                let (start, stop) = (record.start + value.start, record.start + value.end);
                let bytes = &record.chunk[start..stop];
                let out = pass.edit.copy_to(start);
                let from = out.len();
                let action =
                    pass.treatment.value(at, bytes, out, record, pass.report, |offset| start + offset);
                if pass.edit.form() == Form::Whole {
                    self.mend(&field, bytes, pass.edit.output(), from);
                }
                pass.edit.compare(from, bytes);
                pass.edit.close(self.order.rank(index), from, stop);
                if action != Action::Write {
                    return action;
                }
            }
            number += 1;
            next = field.next;
        }
        match request {
            Some(request) if number <= request => {
                pass.unreadable(record.start, Reason::NotInLog("no quoted request in its field"))
            }
            _ => Action::Write,
        }
    }

    /// Returns the number of fields of `line`.
    fn count(&self, line: &Line<'_>) -> usize {
        match self.split {
            Split::Byte(byte) => 1 + memchr::memchr_iter(byte, line.bytes).count(),
            Split::Blanks(_) => line.fields(0).count(),
        }
    }

    /// Returns the bytes that stay escaped in a value; `None` for those of the usual syntax.
    #[inline]
    fn kept(&self, line: &Line<'_>, field: &Field, is_word: bool) -> Option<ByteSet> {
        match self.around(line, field, is_word) {
            Around::Plain => None,
            around => Some(self.kept[around as usize]),
        }
    }

    /// Returns the syntax around a value.
    #[inline]
    fn around(&self, line: &Line<'_>, field: &Field, is_word: bool) -> Around {
        match self.split {
            // The field consists of words, so decoding must not add spaces.
            Split::Byte(_) if is_word => Around::Guarded,
            Split::Byte(_) | Split::Blanks(Enclosure::None) => Around::Plain,
            // An unclosed bracket earlier in the line must not become closed.
            Split::Blanks(Enclosure::QuotesOrBrackets) if line.no_bracket => Around::Guarded,
            Split::Blanks(_) => match field.kind {
                Kind::Quoted { is_fragile: false } if !is_word => Around::Quotes,
                Kind::Bracketed | Kind::Quoted { is_fragile: true } => Around::Guarded,
                Kind::Bare | Kind::Quoted { .. } => Around::Plain,
            },
        }
    }

    /// Escapes those bytes that were appended at `from` of `out` and that would change how the line is split.
    #[inline]
    fn mend(&self, field: &Field, value: &[u8], out: &mut Vec<u8>, from: usize) {
        let Split::Blanks(enclosure) = self.split else {
            if self.mends && out[from..] != *value {
                self.escape_structure(value, out, from);
            }
            return;
        };
        if enclosure == Enclosure::QuotesOrBrackets
            && field.kind == Kind::Bare
            && out.get(from) == Some(&b'[')
            && !value.starts_with(b"[")
        {
            // A decoded bracket at the start would begin a bracketed field, so it is escaped again.
            let spelt = value.get(..3).filter(|spelt| spelt.eq_ignore_ascii_case(b"%5b")).unwrap_or(b"%5B");
            out.splice(from..=from, spelt.iter().copied());
        }
        if self.mends && out[from..] != *value {
            self.escape_structure(value, out, from);
            if out.len() == from && field.kind == Kind::Bare {
                // An empty field would disappear from the line.
                out.push(b'-');
            }
        }
    }

    /// Escapes all structural bytes that were appended at `from` of `out`, if there are more of them than in `value`,
    /// or if a backslash is missing that may have escaped one.
    fn escape_structure(&self, value: &[u8], out: &mut Vec<u8>, from: usize) {
        // `structure` has no blanks: only decoding produces them, and the decoder keeps their escapes.
        let delimiter;
        let structure: &[u8] = match self.split {
            Split::Byte(byte) => {
                delimiter = [byte];
                &delimiter
            }
            Split::Blanks(Enclosure::None) => return,
            Split::Blanks(_) => b"\"\\[]",
        };
        let count = |bytes: &[u8], byte| memchr::memchr_iter(byte, bytes).count();
        // A backslash has a meaning only before a mark, which can be the one that ends the field.
        let is_delicate = out.ends_with(b"\\") || out[from..].iter().any(|byte| b"\"[]".contains(byte));
        let has_more = structure.iter().any(|&byte| {
            let (before, after) = (count(value, byte), count(&out[from..], byte));
            after > before || byte == b'\\' && after < before && is_delicate
        });
        if has_more {
            let new = out.split_off(from);
            for byte in new {
                if structure.contains(&byte) { escape(&[byte], out) } else { out.push(byte) }
            }
        }
    }
}

/// Returns the fields at `positions` of a line of `count` fields: the number of each field, the word, and the index of the
/// position. They are in the order of the line, and a field is before its words.
fn places(positions: &[Position], count: usize) -> Vec<(usize, Option<usize>, usize)> {
    let mut places: Vec<_> = (positions.iter().enumerate())
        .filter_map(|(index, position)| {
            let from = if position.field < 0 { count } else { 0 };
            Some((from.checked_add_signed(position.field)?, position.word, index))
        })
        .collect();
    places.sort_unstable();
    places
}

impl Field {
    /// Returns why this field of `line` cannot be a request, and at which offset. A hyphen is the request of an entry without
    /// one. Servers escape quotes, or end each request with the protocol, so a quote inside a request without it is that of a
    /// later field.
    fn is_no_request(&self, line: &[u8]) -> Option<(usize, Reason)> {
        let value = &line[self.value.clone()];
        match self.kind {
            Kind::Quoted { is_fragile: true } if protocol(value).is_none() => {
                Some((self.value.start - 1, Reason::OpenQuote { limit: None }))
            }
            Kind::Quoted { .. } => None,
            Kind::Bare if value.first() == Some(&b'"') => {
                Some((self.value.start, Reason::OpenQuote { limit: None }))
            }
            Kind::Bare if value == b"-" => None,
            _ => Some((self.value.start, Reason::NotInLog("no quoted request in its field"))),
        }
    }
}

/// A line whose fields are separated by blanks.
#[derive(Clone, Copy)]
struct Line<'a> {
    bytes: &'a [u8],
    /// Whether no quoted field ends in the rest of the line.
    no_quote: bool,
    /// Whether no bracketed field ends in the rest of the line.
    no_bracket: bool,
    /// Whether two quotes inside quotes mean one quote.
    is_doubled: bool,
}

impl Line<'_> {
    /// Returns the first field from `from` on.
    fn field(&mut self, from: usize) -> Option<Field> {
        let start = from + self.bytes[from..].iter().position(|&byte| !is_blank(byte))?;
        let close = match self.bytes[start] {
            b'"' if !self.no_quote => {
                let close = self.close(b'"', start);
                self.no_quote = close.is_none();
                close.map(|(close, is_fragile)| (close, Kind::Quoted { is_fragile }))
            }
            b'[' if !self.no_bracket => {
                let close = self.close(b']', start);
                self.no_bracket = close.is_none();
                close.map(|(close, _)| (close, Kind::Bracketed))
            }
            _ => None,
        };
        Some(match close {
            Some((close, kind)) => Field { value: start + 1..close, kind, next: Some(close + 1) },
            None => {
                let stop = start + word_len(&self.bytes[start..]);
                Field { value: start..stop, kind: Kind::Bare, next: Some(stop) }
            }
        })
    }

    /// Returns the fields from `from` on.
    fn fields(mut self, mut from: usize) -> impl Iterator<Item = Field> {
        std::iter::from_fn(move || {
            let field = self.field(from)?;
            from = field.next.unwrap_or(self.bytes.len());
            Some(field)
        })
    }

    /// Reports whether the last field is in quotes.
    fn last_is_quoted(&self) -> bool {
        self.fields(0).last().is_some_and(|field| matches!(field.kind, Kind::Quoted { .. }))
    }

    /// Returns the end of the field that starts with the quote or bracket at `start`: the first such mark that is
    /// followed by a blank or the end of the line, and not preceded by an odd number of backslashes. Also reports
    /// whether an earlier mark would be the end if a blank followed it.
    fn close(&self, mark: u8, start: usize) -> Option<(usize, bool)> {
        let (mut is_fragile, mut from) = (false, start + 1);
        for found in memchr::memchr_iter(mark, &self.bytes[start + 1..]) {
            let at = start + 1 + found;
            if at < from {
                continue;
            }
            if self.is_doubled && mark == b'"' && self.bytes.get(at + 1) == Some(&mark) {
                from = at + 2;
                continue;
            }
            let backslashes =
                self.bytes[start + 1..at].iter().rev().take_while(|&&byte| byte == b'\\').count();
            if backslashes % 2 == 0 {
                if self.bytes.get(at + 1).is_none_or(|&byte| is_blank(byte)) {
                    return Some((at, is_fragile));
                }
                is_fragile = true;
            }
        }
        None
    }
}

/// The index of the date among the fields of an access log, from 0.
const DATE: usize = 3;

/// Returns the offset of the date of an access log: of the bracket that opens before the first `] "`. Quotes in the
/// fields before it are escaped, so the first quote after a blank is that of the request.
fn date(line: &[u8]) -> Option<usize> {
    let end = memchr::memchr_iter(b']', line).find(|&end| line[end..].starts_with(b"] \""))?;
    memchr::memrchr(b'[', &line[..end])
}

/// Reports whether `line` has the fields of Squid's native format: a time in seconds, `TAG/STATUS` as field 4, `PEER/HOST`
/// as field 9, and ten fields.
fn is_squid(line: &Line<'_>) -> bool {
    let mut words = line.bytes.split(|&byte| is_blank(byte)).filter(|word| !word.is_empty());
    let is_time = |word: &[u8]| word.iter().all(|&byte| byte.is_ascii_digit() || byte == b'.');
    words.next().is_some_and(is_time)
        && words.nth(2).is_some_and(|status| status.contains(&b'/'))
        && words.nth(4).is_some_and(|peer| peer.contains(&b'/'))
        && words.next().is_some()
}

/// Reports whether the request of a log entry says that there was none: the connection ended before it, or HAProxy
/// (`<BADREQ>`) or Amazon's load balancer (`- - -`) could not read it.
pub fn is_missing(request: &[u8]) -> bool {
    [&b""[..], b"-", b"- - -", b"<BADREQ>"].contains(&request.trim_ascii())
}

/// Returns the offset of the blank before the protocol at the end of `request`, if it ends with one.
fn protocol(request: &[u8]) -> Option<usize> {
    let blank = request.iter().rposition(|&byte| is_blank(byte))?;
    request[blank + 1..].starts_with(b"HTTP/").then_some(blank)
}

/// Returns the place of the target in `request`, such as `GET / HTTP/1.1`: all words between the method and the protocol.
/// Clients can send blanks in the target, and requests of HTTP/0.9 have no protocol.
fn target(request: &[u8]) -> Option<Range<usize>> {
    let method = nth_word(request, 0..request.len(), Some(0))?;
    let start = nth_word(request, method.end..request.len(), Some(0))?.start;
    // Tokens can contain `%`, but methods that exist do not, and a target in their place must not be missed.
    let is_method = |&byte: &u8| byte.is_ascii_alphanumeric() || b"!#$&'*+-.^_`|~".contains(&byte);
    if !request[method].iter().all(is_method) {
        return None;
    }
    let stop = protocol(request).filter(|&blank| blank > start).unwrap_or(request.len());
    Some(start..start + request[start..stop].trim_ascii_end().len())
}

/// Returns the length of the first word of `rest`.
#[inline]
fn word_len(rest: &[u8]) -> usize {
    // Most words are short, so a search in one register is faster than a call of memchr.
    const ONES: u64 = u64::MAX / 0xFF;
    if let Some(&word) = rest.first_chunk::<8>() {
        let word = u64::from_le_bytes(word);
        let zero = |word: u64| word.wrapping_sub(ONES) & !word & ONES << 7;
        let found = zero(word ^ (ONES * u64::from(b' '))) | zero(word ^ (ONES * u64::from(b'\t')));
        if found != 0 {
            return (found.trailing_zeros() / 8) as usize;
        }
    }
    memchr::memchr2(b' ', b'\t', rest).unwrap_or(rest.len())
}

/// Returns word number `n` of `field`, or the whole field if `n` is `None`.
pub fn nth_word(line: &[u8], field: Range<usize>, n: Option<usize>) -> Option<Range<usize>> {
    let Some(n) = n else { return Some(field) };
    if n == Position::TARGET {
        let target = target(&line[field.clone()])?;
        return Some(field.start + target.start..field.start + target.end);
    }
    let mut at = field.start;
    for number in 0.. {
        let start = at + line[at..field.end].iter().position(|&byte| !is_blank(byte))?;
        at = start + word_len(&line[start..field.end]);
        if number == n {
            return Some(start..at);
        }
    }
    None
}

fn is_blank(byte: u8) -> bool {
    byte == b' ' || byte == b'\t'
}
