//! The place of a value in a record, and the ways to read and to write it.

use std::borrow::Cow;
use std::ops::Range;

use simdpct::ByteSet;

use crate::charset::Charset;
use crate::escaping::Escaping;
use crate::placeholders::Placeholders;

/// The name of a value in a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Field {
    /// The target of the request.
    Target,
    /// The query of the request, if the record has it apart from the path.
    Query,
    /// The `Referer` header.
    Referer,
    /// The `User-Agent` header.
    Agent,
    /// The host that the client asked for.
    Host,
    /// The URL, or the address, of the server that a proxy asked.
    Upstream,
    /// The target of a request that the server itself made.
    Subrequest,
    /// The key of an object in a store.
    Key,
    /// The URL of a redirect.
    Redirect,
}

impl Field {
    /// Every field with its name, in the order in which the help lists them.
    pub const ALL: [(Field, &'static str); 9] = [
        (Field::Target, "target"),
        (Field::Query, "query"),
        (Field::Referer, "referer"),
        (Field::Agent, "agent"),
        (Field::Host, "host"),
        (Field::Upstream, "upstream"),
        (Field::Subrequest, "subrequest"),
        (Field::Key, "key"),
        (Field::Redirect, "redirect"),
    ];

    /// Returns the name of the field.
    pub fn name(self) -> &'static str {
        Field::ALL[self as usize].1
    }

    /// Reports whether the field contains URLs.
    pub(crate) fn is_url(self) -> bool {
        !matches!(self, Field::Agent | Field::Host)
    }

    /// Returns the field with this name.
    pub fn named(name: &str) -> Option<Field> {
        Field::ALL.iter().find(|(_, known)| *known == name).map(|(field, _)| *field)
    }
}

impl AsRef<str> for Field {
    fn as_ref(&self) -> &str {
        self.name()
    }
}

/// The syntax of a value, by which the caller splits it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A path, and a query if it has one: the origin-form of RFC 9112, 3.2.1. It has no host, even if it begins with `//`.
    Path,
    /// A path in a column of its own, with a `?` or `#` that is part of it, because the writer decoded an escape.
    DecodedPath,
    /// An absolute URL, such as the absolute-form of RFC 9112, 3.2.2, or another reference.
    Url,
    /// A host and a port: the authority-form of RFC 9112, 3.2.3.
    Authority,
    /// `*`: the asterisk-form of RFC 9112, 3.2.4.
    Asterisk,
    /// A query without the `?` before it.
    Query,
    /// Text without a known syntax.
    Text,
}

/// The content of a text in a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holds {
    /// A request: method, target and protocol.
    Request,
    /// The target of a request.
    Target,
    /// The target of a request without its query, which has a column of its own.
    Stem,
    /// The method of a request.
    Method,
    /// The URL of a server, or its host and port.
    Server,
    /// A value of this kind.
    Value(Kind),
}

/// A text that the record itself names: a member of a JSON document, or a column.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// The name in the record. In JSON, dots are between the names of members, and `[]` is each element of an array:
    /// `request.headers.Referer[]`.
    pub name: &'static str,
    /// The name of the value. If several keys of a format have the same name, the first one that has text is used; of columns, the
    /// first one that the header names.
    pub field: Field,
    /// The content of the text.
    pub holds: Holds,
}

/// A text of a record that may be, or may contain, a value.
#[derive(Clone, Debug)]
pub(crate) struct Text {
    /// The place of the text, or the reason why it is not certain.
    pub range: Result<Range<usize>, Reason>,
    /// The number of the value: the index of its field in [`Field::ALL`]. Columns and paths that were asked for follow.
    pub index: usize,
    pub holds: Holds,
    pub escaping: Escaping,
    pub fence: ByteSet,
}

/// The texts of the current record.
#[derive(Clone, Debug, Default)]
pub(crate) struct Texts {
    /// The escaping of the writer.
    pub escaping: Escaping,
    pub list: Vec<Text>,
}

impl Texts {
    /// Adds a text that the writer has escaped.
    pub fn add(&mut self, index: usize, range: Result<Range<usize>, Reason>, holds: Holds, fence: ByteSet) {
        self.list.push(Text { range, index, holds, escaping: self.escaping, fence });
    }
}

/// The control bytes, which terminals obey.
pub(crate) const CONTROLS: ByteSet = ByteSet::from_bitmap([u32::MAX as u64, 1 << 63, 0, 0]);
/// The bytes that cannot be in a quoted target (`REQUEST`), in another quoted text (`QUOTED`), and in a word (`BLANK`).
pub(crate) const REQUEST: ByteSet = ByteSet::from_bytes(b" \"");
pub(crate) const QUOTED: ByteSet = ByteSet::from_bytes(b"\"");
pub(crate) const BLANK: ByteSet = ByteSet::from_bytes(b" ");

/// Returns the set of bytes for which `is_member` returns true.
fn set(is_member: impl Fn(u8) -> bool) -> ByteSet {
    ByteSet::from_bytes(&(0..=u8::MAX).filter(|&byte| is_member(byte)).collect::<Vec<_>>())
}

/// The quotes around a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Marks {
    /// No quotes enclose exactly the value: the syntax has none, or they enclose other text, too.
    None,
    /// The value is between quotes.
    Quotes,
    /// The value is not quoted, and is written in quotes, with this escaping, if it cannot be written without.
    Optional(Escaping),
}

/// The place of a value in a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The bytes of the value in the record, without the quotes around it.
    pub range: Range<usize>,
    /// The number of the value in the order in which the values were asked for.
    pub index: usize,
    /// The syntax of the value.
    pub kind: Kind,
    /// The escapings of the value: one that the reader was told to undo in addition, that of the writer, and that of the logger around the
    /// record. [`Escaping::None`] is in place of those that are missing.
    pub escapings: [Escaping; 3],
    /// The bytes that would end the value, or change where other values are.
    pub fence: ByteSet,
    /// The texts that a new value cannot start with, in upper or lower case, unless the old one starts with the same text.
    pub reserved: &'static [&'static [u8]],
    /// The texts that mean "no value". [`Place::write`] rejects such a text if percent-decoding the old value gives the same text.
    pub placeholders: Option<&'static Placeholders>,
    /// Whether the value is the target of a request without a protocol, so that a new value could be read as the protocol.
    pub ends_request: bool,
    /// The quotes around the value.
    pub marks: Marks,
    /// Whether a new value can keep the bytes of the fence that the old one has, because only the bytes next to them
    /// decide their meaning. An opening bracket is then a byte of the fence only at the start of the value.
    pub has_lone_marks: bool,
    /// The charset of the value.
    pub charset: Charset,
    /// Whether the record can have an empty value here.
    pub may_be_empty: bool,
    /// The offset at which a new member or cell can be written beside this value. It is `None` if none was asked for,
    /// or if the object has a member of the new name already.
    pub beside: Option<usize>,
}

impl Place {
    /// Returns the place of value number `index`, which `escaping` protects. The value is text without quotes, and can be empty.
    pub(crate) fn new(range: Range<usize>, index: usize, escaping: Escaping, fence: ByteSet) -> Place {
        Place {
            range,
            index,
            kind: Kind::Text,
            escapings: [Escaping::None, escaping, Escaping::None],
            fence,
            reserved: &[],
            placeholders: None,
            ends_request: false,
            marks: Marks::None,
            has_lone_marks: false,
            charset: Charset::default(),
            may_be_empty: true,
            beside: None,
        }
    }

    /// Returns the bytes at this place.
    pub fn raw<'a>(&self, record: &'a [u8]) -> &'a [u8] {
        &record[self.range.clone()]
    }

    /// Returns the range that is replaced by a text that is no value, such as `null`: this place and the quotes around
    /// it.
    pub fn whole(&self) -> Range<usize> {
        let quotes = usize::from(self.marks == Marks::Quotes && self.escapings[2] == Escaping::None);
        self.range.start - quotes..self.range.end + quotes
    }

    /// Converts `places` in the value at this place to places in `record`. Returns false if a value would have more
    /// escapings than a place can have.
    pub(crate) fn contain(&self, record: &[u8], places: &mut [Place]) -> bool {
        let [none, logger, outermost] = self.escapings;
        if places.iter().any(|place| [none, outermost, place.escapings[2]] != [Escaping::None; 3]) {
            return false;
        }
        let mut offsets: Vec<_> =
            places.iter().flat_map(|Place { range, .. }| [range.start, range.end]).collect();
        offsets.sort_unstable();
        let mut origins = offsets.clone();
        logger.origins(self.raw(record), &mut origins);
        let origin = |offset: usize| {
            let number = offsets.partition_point(|&other| other < offset);
            self.range.start + origins[number]
        };
        let fence = set(|byte| self.fence.contains(byte) && !logger.escapes(byte));
        for place in places {
            place.range = origin(place.range.start)..origin(place.range.end);
            place.escapings[2] = logger;
            place.fence = place.fence.union(fence);
            place.beside = None;
        }
        true
    }

    /// Returns the text at this place, and the texts that it means when one escaping after another is undone. The last one is the value.
    /// An error is the offset in `record` of a malformed escape.
    fn texts<'a>(&self, record: &'a [u8]) -> Result<Vec<Cow<'a, [u8]>>, usize> {
        let mut texts = vec![self.charset.decode(self.raw(record))];
        for (number, escaping) in self.escapings.iter().enumerate().rev() {
            let (text, mut buffer) = (&texts[texts.len() - 1], Vec::new());
            let next = match escaping.undo(text, &mut buffer) {
                Ok(next) if *next == **text => text.clone(),
                Ok(_) => Cow::Owned(buffer),
                Err(offset) => {
                    let mut offsets = [offset];
                    self.outer_origins(record, &texts, number + 1, &mut offsets);
                    return Err(offsets[0]);
                }
            };
            texts.push(next);
        }
        Ok(texts)
    }

    /// Replaces `offsets` in the last of `texts`, in which the escapings from `number` on are undone, by those in the
    /// record.
    fn outer_origins(&self, record: &[u8], texts: &[Cow<'_, [u8]>], number: usize, offsets: &mut [usize]) {
        for (escaping, text) in self.escapings[number..].iter().zip(texts.iter().rev().skip(1)) {
            escaping.origins(text, offsets);
        }
        self.charset.origins(self.raw(record), offsets);
        offsets.iter_mut().for_each(|offset| *offset += self.range.start);
    }

    /// Returns the value as the client sent it, from `record` or in `buffer`. An error is the offset in `record` of a malformed escape.
    pub fn value<'a>(&self, record: &'a [u8], buffer: &'a mut Vec<u8>) -> Result<&'a [u8], usize> {
        if let ([Escaping::None, writer, Escaping::None], true) = (self.escapings, self.charset.is_same()) {
            return writer.undo(self.raw(record), buffer).map_err(|offset| self.range.start + offset);
        }
        let value = self.texts(record)?.pop().unwrap_or_default();
        buffer.clear();
        buffer.extend_from_slice(&value);
        Ok(buffer)
    }

    /// Returns the offset in `record` that byte number `offset` of the value comes from. If the value has a malformed escape, this is the
    /// start of the place.
    pub fn origin(&self, record: &[u8], offset: usize) -> usize {
        let mut offsets = [offset];
        self.origins(record, &mut offsets);
        offsets[0]
    }

    /// Replaces `offsets` in the value, in ascending order, by those that [`Place::origin`] returns for them. The time is linear in the
    /// length of the value.
    pub fn origins(&self, record: &[u8], offsets: &mut [usize]) {
        match self.texts(record) {
            Ok(texts) => self.outer_origins(record, &texts, 0, offsets),
            Err(_) => offsets.fill(self.range.start),
        }
    }

    /// Appends `value` to `out` as the writer of the record would write it here. The bytes of the record stay if the value is the same. An
    /// error is the offset of the first byte of `value` that cannot be written here: the writer has no escape for it, and it would end the
    /// value. It is 0 if the value cannot be empty, or cannot start as it does.
    pub fn write(&self, record: &[u8], value: &[u8], out: &mut Vec<u8>) -> Result<(), usize> {
        let mut buffer = Vec::new();
        let old = self.value(record, &mut buffer);
        if old == Ok(value) {
            out.extend_from_slice(self.raw(record));
            return Ok(());
        }
        let [more, mut writer, logger] = self.escapings;
        let mut quote: &[u8] = b"";
        let old = old.unwrap_or_default();
        let starts_with = |text: &[u8], start: &[u8]| {
            text.get(..start.len()).is_some_and(|text| text.eq_ignore_ascii_case(start))
        };
        let is_bad_start =
            self.reserved.iter().any(|start| starts_with(value, start) && !starts_with(old, start));
        let is_none = |known: &Placeholders| {
            known.contains(value) && *simdpct::decode_until_stable(old) == *value
                || self.ends_request && known.takes_for_protocol(value) && !known.takes_for_protocol(old)
        };
        let is_bad = match value {
            [] => !self.may_be_empty,
            _ => is_bad_start || self.placeholders.is_some_and(is_none),
        };
        if let Some(offset) = self.barrier(old, value).or(is_bad.then_some(0)) {
            let Marks::Optional(quoted) = self.marks else { return Err(offset) };
            (writer, quote) = (quoted, b"\"");
        }
        // A writer that is unknown may be HAProxy, which writes `#22` for a quote. The reader takes no value that could be meant so.
        if writer == Escaping::Unknown
            && let Some(at) = memchr::memchr(b'#', value)
            && Escaping::Haproxy.undo(value, &mut Vec::new()).is_ok_and(|other| other != value)
        {
            return Err(at + 2);
        }
        if let Some(at) = value.iter().position(|&byte| self.adds_number_sign(byte)) {
            return Err(at);
        }
        // Text that was UTF-8 must stay so.
        let was_text = || !self.charset.is_same() || str::from_utf8(self.raw(record)).is_ok();
        let check = |escaping: Escaping, text: &[u8]| {
            let is_lost = escaping.is_text() && str::from_utf8(text).is_err() && was_text();
            let offset = || str::from_utf8(value).map_or_else(|error| error.valid_up_to(), |_| 0);
            if is_lost { Err(offset()) } else { Ok(()) }
        };
        let mut buffer = Vec::new();
        let mut text = value;
        if more != Escaping::None {
            more.apply(value, &mut buffer)?;
            text = &buffer;
        }
        check(writer, text)?;
        let mut written = quote.to_vec();
        match writer {
            // The fence contains line ends. So a line end that is left here is from the old value, and stays.
            Escaping::None if self.has_lone_marks => written.extend_from_slice(text),
            // A writer without an escaping cannot write line ends.
            _ => writer.apply(text, &mut written)?,
        }
        written.extend_from_slice(quote);
        if logger != Escaping::None {
            check(logger, &written)?;
            return logger.apply(&written, out);
        }
        out.extend_from_slice(&self.charset.encode(written));
        Ok(())
    }

    /// Returns the bytes that a new value should not have here, because [`Place::write`] could fail for them. A caller
    /// can write them in another way, if it has one.
    pub fn refused(&self) -> ByteSet {
        if let Marks::Optional(_) = self.marks {
            return ByteSet::EMPTY;
        }
        let [more, writer, _] = self.escapings;
        let can_write = |byte: u8| {
            let (mut text, mut out) = (Vec::new(), Vec::new());
            let is_written = more == Escaping::None || more.apply(&[byte], &mut text).is_ok();
            let text = if more == Escaping::None { &[byte] } else { &text[..] };
            is_written && writer.apply(text, &mut out).is_ok()
        };
        // A new `#` may look like the start of an escape of HAProxy, which `write` refuses.
        let is_number_sign = |byte: u8| byte == b'#' && writer == Escaping::Unknown;
        set(|byte| {
            self.is_mark(byte) || !can_write(byte) || is_number_sign(byte) || self.adds_number_sign(byte)
        })
    }

    /// Reports whether rsyslog writes `byte` as `#` and digits, which may be text of a client, or an escape of HAProxy.
    fn adds_number_sign(&self, byte: u8) -> bool {
        let [.., logger] = self.escapings;
        logger == Escaping::Octal && logger.escapes(byte)
    }

    /// Returns the bytes that can be written here, but not as they are.
    pub(crate) fn respelt(&self) -> ByteSet {
        let [_, writer, _] = self.escapings;
        let is_same = |byte: u8| {
            let mut out = Vec::new();
            writer.apply(&[byte], &mut out).is_ok() && out == [byte] && byte != writer.rule().mark
        };
        let refused = self.refused();
        set(|byte| !is_same(byte) && !refused.contains(byte))
    }

    /// Reports whether `byte`, or its escape, would be read as a part of the syntax around the value.
    fn is_mark(&self, byte: u8) -> bool {
        let [more, writer, _] = self.escapings;
        let is_read =
            |byte: &u8| self.fence.contains(*byte) && (writer.has_references() || !writer.escapes(*byte));
        if !self.fence.contains(byte) || !more.escapes(byte) {
            return is_read(&byte);
        }
        // An escape such as `\"` still has the byte.
        let mut text = Vec::new();
        more.apply(&[byte], &mut text).is_ok() && text.iter().any(is_read)
    }

    /// Returns the offset of the first mark of `value`: a byte that would be read as a part of the syntax around it.
    ///
    /// If `has_lone_marks` is set, and no escaping hides marks, a mark of the old value may stay. Then all marks before
    /// it must stay, too, and the bytes next to it must mean the same.
    fn barrier(&self, old: &[u8], value: &[u8]) -> Option<usize> {
        let is_inner_bracket = |text: &[u8], at: usize| at > 0 && text[at] == b'[' && self.has_lone_marks;
        let offsets = |text: &[u8]| {
            let is_barrier = |at: &usize| self.is_mark(text[*at]) && !is_inner_bracket(text, *at);
            (0..text.len()).filter(is_barrier).collect::<Vec<_>>()
        };
        let new = offsets(value);
        // An escaping could hide a mark of the old value.
        let is_hidden = self.escapings.iter().any(|one| *one != Escaping::None && !one.has_references());
        if new.is_empty() || !self.has_lone_marks || is_hidden {
            return new.first().copied();
        }
        // Returns the mark at an offset, and the facts about the bytes next to it that decide its meaning.
        let mark = |text: &[u8], at: usize| {
            // A blank does not change the meaning of a control byte.
            let is_blank = |next: &u8| b" \t".contains(next) && !text[at].is_ascii_control();
            let is_before_blank = text.get(at + 1).map(is_blank);
            (text[at], at == 0, at > 0 && self.is_mark(text[at - 1]), is_before_blank)
        };
        let pairs = new.iter().zip(offsets(old));
        let same = pairs.take_while(|&(&new_at, old_at)| mark(value, new_at) == mark(old, old_at)).count();
        new.get(same).copied()
    }
}

/// A record, or a value of it, that cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unreadable {
    /// The offset in the record of the first byte that is not as expected.
    pub offset: usize,
    /// The reason.
    pub reason: Reason,
}

/// The reason why a record cannot be read. Its text is for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Reason(pub &'static str);

#[allow(missing_docs, reason = "the texts are the documentation")]
impl Reason {
    pub const NO_ANCHOR: Reason = Reason("the part that this format has before the request is missing");
    pub const NO_REQUEST: Reason = Reason("no quoted request");
    pub const OPEN_QUOTE: Reason = Reason("a quote is not closed");
    pub const OTHER_FIELDS: Reason = Reason("the fields after the request are not those of this format");
    pub const AMBIGUOUS: Reason = Reason("the record can be read in two ways");
    pub const UNKNOWN_WRITER: Reason =
        Reason("the servers that write this format disagree about this record; name the server");
    pub const NO_TARGET: Reason = Reason("the request is one word");
    pub const METHOD: Reason = Reason("the method of the request is not a token");
    pub const CUT: Reason = Reason("the server cut this record");
    pub const GLUED: Reason = Reason("another record follows without a line end");
    pub const NOT_JSON: Reason = Reason("the record is not JSON");
    pub const TWICE_IN_JSON: Reason = Reason("a key occurs twice");
    pub const NO_HEADER: Reason = Reason("no line before this one names the fields");
    pub const FIELD_COUNT: Reason = Reason("the record has not as many fields as it should");
    pub const CDXJ: Reason = Reason("the record is CDXJ and not CDX");
    pub const NO_PREFIX: Reason = Reason("the prefix of the logger is missing");
    pub const PART: Reason = Reason("the record is a part of a longer line");
    pub const ESCAPE: Reason = Reason("an escape is malformed");
    pub const TEXT_AFTER_QUOTE: Reason = Reason("text follows a closing quote");
    pub const QUOTE_INSIDE: Reason = Reason("a quote is inside a cell without quotes");
    pub const TOO_DEEP: Reason = Reason("the record is inside more records than can be read");
}

/// Returns an error at `offset`.
pub(crate) fn unreadable<T>(offset: usize, reason: Reason) -> Result<T, Unreadable> {
    Err(Unreadable { offset, reason })
}
