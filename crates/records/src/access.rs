//! Finds the request and other quoted fields of access logs.
//!
//! One reader serves all writers, the programs that write logs. The row of a writer in the table of formats names the
//! rule by which its quotes are read.

use std::ops::Range;

use memchr::{memchr, memchr_iter, memrchr, memrchr_iter};

use crate::escaping::Escaping;
use crate::place::{Field, Holds, Kind, QUOTED, REQUEST, Reason, Text, Texts, Unreadable, unreadable};

/// The layout of a line that has a quoted request.
#[derive(Clone, Copy, Debug)]
pub struct Access {
    /// The text before the request.
    pub lead: Lead,
    /// The word before the request that can be selected, if there is one.
    pub word: Option<LeadWord>,
    /// The fields after the request.
    pub tail: &'static [Part],
    /// Whether the line ends after these fields. Otherwise a blank and more fields may follow.
    pub is_closed: bool,
}

/// A word before the request that can be selected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeadWord {
    /// The name of the word.
    pub field: Field,
    /// The number of the word, from 0.
    pub number: usize,
    /// The number of words before the request. If a line has more or fewer, the word is not certain: a client may have sent a blank.
    pub count: usize,
}

/// The text before a request, without which a line is not of this layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lead {
    /// A date in brackets.
    Date,
    /// This number of words.
    Words(usize),
    /// A hyphen.
    Hyphen,
    /// The counters of HAProxy, or the headers that it captured.
    Haproxy,
}

/// A field after the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// A status of three digits, or `-`.
    Status,
    /// A word without blanks and quotes.
    Word,
    /// A quoted field, with its name if it can be selected.
    Quoted(Option<Field>),
    /// A quoted word: a quoted field whose text has no blanks or quotes, with its name if it can be selected.
    QuotedWord(Option<Field>),
}

/// The rule by which a writer's quotes are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// Quotes are escaped in every field. The first unescaped quote opens the request, and the next one closes it.
    Escaped,
    /// Quotes are escaped in the request, but not in the fields after it.
    RequestEscaped,
    /// The request is three words without blanks, after the first quote of the line.
    Words,
    /// The request is three words without blanks, after the first quote of the line. A header with any text can replace the target.
    WordsOrHeader,
    /// The request is three words without blanks. A user name before it can contain quotes.
    WordsAfterUser,
    /// Nothing is escaped. A text is certain if it is in all readings: the ways to divide the line into fields.
    Raw,
    /// The writer is unknown. A text is certain if all rules by which the line can be read agree about it.
    Unknown,
}

/// The maximum number of quoted fields in a layout.
const MOST: usize = 9;

/// The quoted texts of a line: first the request, then those after it. An error is the reason why a text is not certain.
type Quoted = [Result<Range<usize>, Reason>; MOST];

impl Lead {
    /// Reports whether the text before the quote at `open` is this lead.
    #[inline(always)]
    pub(crate) fn holds(self, line: &[u8], open: usize) -> bool {
        let Some(text) = line[..open].strip_suffix(b" ") else { return false };
        match self {
            // A message can have more lines, which begin with a blank and can contain a rejected request line.
            Lead::Date => {
                !line.starts_with(b" ") && (text.last_chunk().is_some_and(is_usual_date) || is_date(text))
            }
            Lead::Words(count) => text.split(|&byte| byte == b' ').count() == count,
            Lead::Hyphen => text.ends_with(b" -"),
            Lead::Haproxy => {
                let word = text.rsplit(|&byte| byte == b' ').next().unwrap_or_default();
                text.ends_with(b"}") || word.contains(&b'/') && word.last().is_some_and(u8::is_ascii_digit)
            }
        }
    }
}

/// The maximum and the minimum number of bytes of a date with its time. The minimum keeps a short user name in brackets
/// from being read as a date.
const LONGEST_DATE: usize = 40;
const SHORTEST_DATE: usize = 17;

/// Reports whether `text` ends in a date in brackets, such as `[10/Oct/2000:13:55:36 -0700]` or `[2000-10-10T13:55:36.123Z]`.
fn is_date(text: &[u8]) -> bool {
    let Some(text) = text.strip_suffix(b"]") else { return false };
    let near = &text[text.len().saturating_sub(LONGEST_DATE + 1)..];
    let Some(open) = memrchr(b'[', near) else { return false };
    let date = &near[open + 1..];
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"/:+-., ".contains(byte);
    date.len() >= SHORTEST_DATE
        && date[0].is_ascii_digit()
        && date.iter().all(is_part)
        && memchr(b':', date).is_some()
}

/// Reports whether `text` ends in a date such as `[10/Oct/2000:13:55:36 -0700]`. Most dates have this form.
#[inline(always)]
fn is_usual_date(text: &[u8; 32]) -> bool {
    const FIRST: &[u8; 32] = b"\0\0\0\0[00/Aaa/0000:00:00:00 +0000]";
    const LAST: &[u8; 32] = b"\xFF\xFF\xFF\xFF[99/Zzz/9999:99:99:99 -9999]";
    let outside = |at: usize| text[at].saturating_sub(LAST[at]) | FIRST[at].saturating_sub(text[at]);
    (0..32).fold(0, |any, at| any | outside(at)) == 0
}

/// The text after a quoted field that can contain any text: its closing quote, words, and the opening quote of the next
/// such field or the end of the known fields.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gap {
    /// The name of the field before the gap, if it can be selected.
    pub field: Option<Field>,
    words: &'static [Part],
    is_last: bool,
    is_closed: bool,
}

impl Access {
    /// Returns the gaps after the request. The first one begins with the quote that closes the request.
    pub(crate) fn gaps(&self) -> impl DoubleEndedIterator<Item = Gap> + Clone + use<> {
        let (tail, is_closed) = (self.tail, self.is_closed);
        (0..=tail.len()).filter_map(move |start| {
            let field = match start.checked_sub(1).map(|before| tail[before]) {
                None => Some(Field::Target),
                Some(Part::Quoted(field)) => field,
                Some(_) => return None,
            };
            let is_text = |part: &Part| matches!(part, Part::Quoted(_));
            let words = tail[start..].split(is_text).next().unwrap_or_default();
            Some(Gap { field, words, is_last: start + words.len() == tail.len(), is_closed })
        })
    }
}

impl Gap {
    /// Returns the end of this gap if it begins with the quote at `close`.
    #[inline(always)]
    pub(crate) fn end(self, line: &[u8], close: usize) -> Option<usize> {
        self.walk(line, close, |_, _| ())
    }

    /// Returns the number of quotes in this gap.
    pub(crate) fn quotes(self) -> usize {
        1 + 2 * self.quoted_words().count() + usize::from(!self.is_last)
    }

    /// Returns the names of the quoted words in this gap.
    fn quoted_words(self) -> impl Iterator<Item = Option<Field>> {
        self.words.iter().filter_map(|part| match part {
            Part::QuotedWord(field) => Some(*field),
            _ => None,
        })
    }

    /// Returns the end of this gap if it begins with the quote at `close`. Calls `visit` for each quoted word.
    #[inline(always)]
    fn walk(
        self,
        line: &[u8],
        close: usize,
        mut visit: impl FnMut(Option<Field>, Range<usize>),
    ) -> Option<usize> {
        let mut at = close + 1;
        for part in self.words {
            let is_quoted = matches!(part, Part::QuotedWord(_));
            let start = at + 1 + usize::from(is_quoted);
            let word = line.get(start..).filter(|_| line[at] == b' ')?;
            let len = word_len(word);
            let is_status =
                || len == 3 && word[..3].iter().all(u8::is_ascii_digit) || len == 1 && word[0] == b'-';
            let is_other = is_quoted && (line[start - 1] != b'"' || word.get(len) != Some(&b'"'))
                || *part == Part::Status && !is_status();
            if len == 0 || is_other {
                return None;
            }
            at = start + len + usize::from(is_quoted);
            if let Part::QuotedWord(field) = part {
                visit(*field, start..start + len);
            }
        }
        let rest = &line[at..];
        match self.is_last {
            false => rest.starts_with(b" \"").then_some(at + 2),
            true => (rest.is_empty() || rest[0] == b' ' && !self.is_closed).then_some(at),
        }
    }
}

/// Returns the number of bytes before the first blank or quote of `text`.
#[inline(always)]
fn word_len(text: &[u8]) -> usize {
    const ONES: u64 = u64::MAX / 0xFF;
    // Most words are short, so the first 8 bytes are checked together. After the XOR with a blank and without bit 1, a
    // blank and a quote are 0. The lowest bit of `found` is in the first byte that is 0.
    let zeros = text
        .first_chunk()
        .map_or(u64::MAX >> 1, |first| (u64::from_le_bytes(*first) ^ (ONES << 5)) & !(ONES << 1));
    match zeros.wrapping_sub(ONES) & !zeros & (ONES << 7) {
        0 => memchr::memchr2(b' ', b'"', text).unwrap_or(text.len()),
        found => found.trailing_zeros() as usize / 8,
    }
}

/// Appends the texts of `line` that can be selected to `texts`, by the rule and the escaping of their writer.
pub(crate) fn find(line: &[u8], layout: &Access, rule: Rule, texts: &mut Texts) -> Result<(), Unreadable> {
    let escaping = texts.escaping;
    let quoted = read(line, layout, rule, escaping);
    let quoted = quoted.as_ref().map_err(|error| *error)?;
    let lead = quoted[0].as_ref().map_or(0, |request| request.start.saturating_sub(1));
    if let Some(LeadWord { field, number, count }) = layout.word {
        let ends = memchr_iter(b' ', &line[..lead]);
        let start = |number: usize| ends.clone().nth(number.checked_sub(1)?).map(|end| end + 1);
        let range = start(number).unwrap_or(0)..ends.clone().nth(number).unwrap_or(lead);
        let range = if ends.clone().count() == count { Ok(range) } else { Err(Reason::AMBIGUOUS) };
        let holds =
            if field == Field::Host { Holds::Value(Kind::Authority) } else { Holds::Value(Kind::Url) };
        texts.add(field as usize, range, holds, REQUEST);
    }
    let mut add = |field: Option<Field>, range| {
        let Some(field) = field else { return };
        let (holds, fence) = match field {
            Field::Target => (Holds::Request, REQUEST),
            Field::Redirect => (Holds::Value(Kind::Url), REQUEST),
            Field::Agent => (Holds::Value(Kind::Text), QUOTED),
            Field::Host => (Holds::Value(Kind::Authority), QUOTED),
            _ => (Holds::Value(Kind::Url), QUOTED),
        };
        let is_raw = rule == Rule::RequestEscaped && field != Field::Target;
        let escaping = if is_raw { Escaping::None } else { escaping };
        texts.list.push(Text { range, index: field as usize, holds, escaping, fence });
    };
    for (range, gap) in quoted.iter().zip(layout.gaps()) {
        // The quoted words after a text are certain if the text is certain.
        match range {
            Ok(range) if gap.quoted_words().next().is_some() => {
                let _ = gap.walk(line, range.end, |field, range| add(field, Ok(range)));
            }
            Ok(_) => {}
            Err(reason) => gap.quoted_words().for_each(|field| add(field, Err(*reason))),
        }
        add(gap.field, range.clone());
    }
    Ok(())
}

/// Reads the quoted texts of `line` by `rule`.
fn read(line: &[u8], layout: &Access, rule: Rule, escaping: Escaping) -> Result<Quoted, Unreadable> {
    if let Lead::Words(count) = layout.lead
        && let Some(end) = memchr_iter(b' ', line).nth(count - 1)
        && line[end..].starts_with(b" - ")
        && memchr(b'"', &line[..end]).is_none()
    {
        // S3 also records its own operations, which have a hyphen in place of a request.
        return Ok(std::array::from_fn(|_| Ok(end + 2..end + 2)));
    }
    let next = |from| escaping.next_quote(line, from);
    let (start, close, known) = match rule {
        Rule::Raw => return raw(line, layout),
        Rule::Unknown => return unknown(line, layout),
        Rule::Escaped | Rule::RequestEscaped => {
            let (start, close) = escaped(line, layout, escaping)?;
            (start, close, if rule == Rule::Escaped { MOST } else { 1 })
        }
        Rule::Words | Rule::WordsOrHeader | Rule::WordsAfterUser => {
            let has_user = rule == Rule::WordsAfterUser;
            let (start, close) = words(line, layout, !has_user)?;
            if rule == Rule::WordsOrHeader
                && memchr_iter(b'"', &line[close + 1..]).any(|len| ends_request(line, close + 1 + len))
            {
                return unreadable(close, Reason::AMBIGUOUS);
            }
            // Go escapes quotes in all fields but the user.
            (start, close, if has_user && escaping.escapes(b'"') { MOST } else { 1 })
        }
    };
    let close_of = |from| if from == start { Some(close) } else { next(from) };
    let read = read_gaps(line, layout, start, |_| start, known, close_of);
    let words = layout.tail.get(..1).filter(|part| part == &[Part::Status]).unwrap_or_default();
    let status = Gap { field: None, words, is_last: true, is_closed: false };
    // Users can configure the fields after the request, so a status alone makes the request certain. Cloud services
    // have fixed formats.
    if read.is_ok() || matches!(layout.lead, Lead::Words(_)) || status.end(line, close).is_none() {
        return read;
    }
    let mut texts = [const { Err(Reason::OTHER_FIELDS) }; MOST];
    texts[0] = Ok(start..close);
    Ok(texts)
}

/// Reads a line whose writer is unknown.
fn unknown(line: &[u8], layout: &Access) -> Result<Quoted, Unreadable> {
    let escaped = |escaping: Escaping| {
        let (start, _) = escaped(line, layout, escaping)?;
        read_gaps(line, layout, start, |_| start, MOST, |from| escaping.next_quote(line, from))
    };
    let first = escaped(Escaping::Apache);
    // Most lines have no backslash, and only the quotes of the layout. Then the escaping does not matter, and only one reading is possible,
    // because each reading has all quotes in order.
    let quotes = || 1 + layout.gaps().map(Gap::quotes).sum::<usize>();
    if first.is_ok() && memchr(b'\\', line).is_none() && memchr_iter(b'"', line).count() == quotes() {
        return first;
    }
    // A rule by which the line cannot be read is not that of its writer.
    let others = [escaped(Escaping::Nginx), raw(line, layout)];
    others.into_iter().fold(first, |agreed, other| match (agreed, other) {
        (Ok(mut agreed), Ok(other)) => {
            for (text, _) in agreed.iter_mut().zip(other).filter(|(text, other)| *text != other) {
                *text = Err(Reason::UNKNOWN_WRITER);
            }
            Ok(agreed)
        }
        (agreed, other) => agreed.or(other),
    })
}

/// Reports whether the quote at `close` follows a protocol, and a status follows it.
pub(crate) fn ends_request(line: &[u8], close: usize) -> bool {
    let status = Gap { field: None, words: &[Part::Status], is_last: true, is_closed: false };
    // A status follows a blank. So if it is checked first, no byte is searched twice for a protocol.
    status.end(line, close).is_some() && {
        let protocol = line[..close].rsplit(|&byte| byte == b' ').next().unwrap_or_default();
        protocol == b"-" || protocol.starts_with(b"HTTP/")
    }
}

/// Returns the start and the closing quote of the request in a line in which quotes before and in the request are escaped.
fn escaped(line: &[u8], layout: &Access, escaping: Escaping) -> Result<(usize, usize), Unreadable> {
    let next = |from| escaping.next_quote(line, from);
    let Some(mut open) = next(0) else { return unreadable(line.len(), Reason::NO_REQUEST) };
    // Apache writes an empty user name as two quotes.
    if line[open..].starts_with(b"\"\" [") {
        open = next(open + 2).unwrap_or(open);
    }
    if !layout.lead.holds(line, open) {
        return unreadable(open, Reason::NO_ANCHOR);
    }
    match next(open + 1) {
        Some(close) => Ok((open + 1, close)),
        None => unreadable(open, Reason::OPEN_QUOTE),
    }
}

/// Returns the closing quote of a request at `start` that is three words without blanks.
fn three_words(line: &[u8], start: usize) -> Option<usize> {
    // Servers write these texts in place of a missing request.
    for none in [b"-".as_slice(), b"- - - "] {
        if line[start..].strip_prefix(none).is_some_and(|rest| rest.starts_with(b"\"")) {
            return Some(start + none.len());
        }
    }
    let target = start + memchr(b' ', &line[start..])? + 1;
    let protocol = target + memchr(b' ', &line[target..])? + 1;
    let end = protocol + memchr(b' ', &line[protocol..]).unwrap_or(line.len() - protocol);
    (end > protocol && line[end - 1] == b'"').then_some(end - 1)
}

/// Returns the start and the closing quote of a request that is three words. `is_first` says that the first quote of the line opens it.
fn words(line: &[u8], layout: &Access, is_first: bool) -> Result<(usize, usize), Unreadable> {
    // A message of gunicorn begins with a date, and can contain a rejected request line. An address can be in brackets, too.
    let is_address = || memchr(b']', line).is_some_and(|end| line[end + 1..].starts_with(b" - "));
    if !is_first && line.starts_with(b"[") && !is_address() {
        return unreadable(0, Reason::NO_ANCHOR);
    }
    let opens = memchr_iter(b'"', line).take(if is_first { 1 } else { usize::MAX });
    let holds = |open: &usize| layout.lead.holds(line, *open);
    let mut found = opens.filter(holds).filter_map(|open| Some((open + 1, three_words(line, open + 1)?)));
    match (found.next(), found.next()) {
        (Some(request), None) => Ok(request),
        (None, _) => unreadable(line.len(), Reason::NO_REQUEST),
        (_, Some((second, _))) => unreadable(second, Reason::AMBIGUOUS),
    }
}

/// Reads a line in which nothing is escaped.
fn raw(line: &[u8], layout: &Access) -> Result<Quoted, Unreadable> {
    let holds = |open: &usize| layout.lead.holds(line, *open);
    let Some(first) = memchr_iter(b'"', line).find(holds) else {
        return unreadable(line.len(), Reason::NO_REQUEST);
    };
    let last = |limit| memrchr_iter(b'"', &line[..limit]).find(holds).map_or(first + 1, |open| open + 1);
    read_gaps(line, layout, first + 1, last, 0, |_| None)
}

/// Reads the texts of a line by the gaps between them. The first text begins at `start`. `last` returns the last offset
/// before a given one at which it could begin. For each of the first `known` texts, `close` returns the closing quote.
/// Any quote could close a later text.
///
/// In the first reading, each gap is as far left as possible, and in the last one as far right. A text between two gaps is certain if both
/// readings have it at the same place, because each gap of any other reading is between its positions in these two.
fn read_gaps(
    line: &[u8],
    layout: &Access,
    start: usize,
    last: impl Fn(usize) -> usize,
    known: usize,
    close: impl Fn(usize) -> Option<usize>,
) -> Result<Quoted, Unreadable> {
    let gaps = layout.gaps();
    let count = gaps.clone().count();
    let mut left = [(0, start); MOST + 1];
    for (index, gap) in gaps.clone().enumerate() {
        let from = left[index].1;
        let at = |close| Some((close, gap.end(line, close)?));
        let found = match index < known {
            true => close(from).and_then(at),
            false => memchr_iter(b'"', &line[from..]).find_map(|len| at(from + len)),
        };
        let Some(found) = found else { return unreadable(from, Reason::OTHER_FIELDS) };
        left[index + 1] = found;
    }
    let mut right = left;
    let mut limit = line.len();
    for (index, gap) in (known..count).rev().zip(gaps.rev()) {
        let at = |close| Some((close, gap.end(line, close).filter(|&end| end <= limit)?));
        // The search goes to the left, and ends at the latest at the gap of the first reading.
        right[index + 1] = memrchr_iter(b'"', &line[..limit]).find_map(at).unwrap_or(left[index + 1]);
        limit = right[index + 1].0;
    }
    right[0] = (0, last(limit));
    let mut texts = [const { Err(Reason::AMBIGUOUS) }; MOST];
    let gaps = left[..=count].windows(2).zip(right[..=count].windows(2));
    for (text, (left, right)) in texts.iter_mut().zip(gaps) {
        if left == right {
            *text = Ok(left[0].1..left[1].0);
        }
    }
    Ok(texts)
}
