//! Rewrites the values of a record: finds them, treats them, and writes them back.

use simdpct::{ByteSet, Encode};
use simdpct_records::html::{ATTRIBUTES, Link, Role};
use simdpct_records::{Editor, Escaping, Form, Kind, Marks, Place, Unreadable, is_document};

use super::task::Task;
use super::{Format, Selector};
use crate::common::escape::to_text;
use crate::common::reason::{Reason, Refusal};
use crate::convert::policy::{Action, At, Record};
use crate::convert::report::Report;
use crate::convert::stats::Stats;

/// A record to rewrite, with the task for its values, the output and the report.
pub struct RewriteArgs<'p, 'e> {
    pub record: Record<'p>,
    pub task: &'p mut Task,
    pub edit: &'p mut Editor<'e>,
    pub report: &'p mut Report,
}

impl RewriteArgs<'_, '_> {
    /// Returns the action for a record that cannot be read from `offset` of the chunk on.
    pub fn unreadable(&mut self, offset: usize, reason: Reason) -> Action {
        self.task.unreadable(self.record, Refusal { offset, reason }, self.report)
    }

    /// Returns the action for a record in which the place of a value is not certain. Unless the record is left out, this value
    /// stays, because nothing can be written at an unknown place, and the other values can be written.
    pub fn unreadable_part(&mut self, offset: usize, reason: Reason) -> Action {
        let action = self.unreadable(offset, reason);
        let is_kept = matches!(action, Action::Copy | Action::Null);
        self.report.stats.uncertain += u64::from(is_kept);
        if is_kept { Action::Write } else { action }
    }
}

/// The properties of a place that decide which bytes a value cannot have there.
pub type Around = (ByteSet, [Escaping; 3], Marks);

impl Selector {
    /// Rewrites the values of the record of `args`.
    pub fn rewrite(&mut self, args: &mut RewriteArgs<'_, '_>) -> Action {
        match self.format {
            Format::Whole => {
                let record = args.record;
                let out = args.edit.copy_to(record.start);
                let from = out.len();
                let place =
                    |offsets: &mut [usize]| offsets.iter_mut().for_each(|offset| *offset += record.start);
                let at = At { index: 0, kind: Kind::Text, kept: None, can_be_null: false };
                let action = args.task.value(at, record.bytes(), out, record, args.report, place);
                args.edit.replace_to(record.stop, from);
                action
            }
            Format::Html => self.rewrite_links(args),
            _ => self.rewrite_found(args),
        }
    }

    /// Rewrites the URLs of a start tag.
    fn rewrite_links(&mut self, args: &mut RewriteArgs<'_, '_>) -> Action {
        let links = std::mem::take(&mut self.links);
        let tag = args.record.bytes();
        let url =
            |link: &Link| link.place.value(tag, &mut Vec::new()).map(<[u8]>::to_vec).unwrap_or_default();
        let codebase = links.iter().find(|link| link.role == Role::Codebase).map(url);
        args.report.stats.searched = true;
        self.found = links.iter().map(|link| link.place.clone()).collect();
        for (number, link) in links.iter().enumerate() {
            let codebase = codebase.as_deref().filter(|_| ATTRIBUTES[link.place.index].is_in_codebase);
            let is_inside = codebase.is_some_and(|base| args.task.enter_base(base));
            let action = self.value(number, args);
            if is_inside {
                args.task.leave_base();
            }
            if action != Action::Write {
                return action;
            }
            if link.role == Role::Base {
                args.task.enter_base(&url(link));
            }
        }
        Action::Write
    }

    /// Reports whether `record`, which is readable, can have values. A line of a longer JSON document can itself be a
    /// valid string or number. So only a line that begins with `{` shows that the input has one document per line.
    fn can_have_values(&self, record: &[u8]) -> bool {
        !matches!(self.format, Format::Json)
            || !self.found.is_empty()
            || record.trim_ascii_start().starts_with(b"{")
    }

    /// Rewrites the values of one record. Of an unreadable record, the values that were found are used only in a log, or if
    /// nothing is written ([`Form::Nothing`]).
    fn rewrite_found(&mut self, args: &mut RewriteArgs<'_, '_>) -> Action {
        let record = args.record;
        self.found.clear();
        let result = self.syntax.find(record.bytes(), &mut self.found);
        if self.more != Escaping::None {
            self.found.iter_mut().for_each(|place| place.escapings[0] = self.more);
        }
        let unreadable = result.err().map(|Unreadable { offset, reason }| (offset, Reason::Record(reason)));
        let is_partly_read = matches!(self.format, Format::Log(..)) && !self.found.is_empty();
        if unreadable.is_none() || is_partly_read || matches!(args.edit.form(), Form::Nothing) {
            args.report.stats.searched |=
                (unreadable.is_none() || is_partly_read) && self.can_have_values(record.bytes());
            let clashes = args.report.stats.clashes;
            for number in 0..self.found.len() {
                // A record with several clashes is counted once.
                let is_first = args.report.stats.clashes == clashes;
                let action = match self.clash(number) {
                    Some(name) if is_first => {
                        let name = Reason::HasKey(name.to_owned());
                        args.unreadable(record.start + self.found[number].whole().start, name)
                    }
                    Some(_) => continue,
                    None => self.value(number, args),
                };
                if !matches!(action, Action::Write | Action::Copy) {
                    return action;
                }
            }
        }
        match unreadable {
            Some((offset, reason)) if is_partly_read => args.unreadable_part(record.start + offset, reason),
            Some((offset, reason)) => args.unreadable(record.start + offset, reason),
            None => Action::Write,
        }
    }

    /// Returns the name for the new value of value number `number`, if the object already has a member with this name.
    fn clash(&self, number: usize) -> Option<&str> {
        let place = &self.found[number];
        self.into.get(place.index).filter(|_| place.beside.is_none()).map(String::as_str)
    }

    /// Rewrites value number `number` of the record.
    fn value(&mut self, number: usize, args: &mut RewriteArgs<'_, '_>) -> Action {
        let can_be_null = args.edit.form().is_whole() && self.can_be_null(&self.found[number]);
        let Selector { syntax, format, into, found, kept, old, new, .. } = self;
        // A log in JSON has hyphens, too, in strings that hold more than the value.
        let has_hyphens = format.has_hyphens() || matches!(format, Format::Log(..));
        let (record, place) = (args.record, &found[number]);
        let (bytes, start) = (record.bytes(), record.start);
        args.report.stats.find(place.index);
        if matches!(format, Format::Json) && place.marks == Marks::None {
            // A value that is not a string is no URL.
            let _ = args.edit.put(place, place.raw(bytes));
            return Action::Write;
        }
        let is_whole = args.edit.form().is_whole();
        let is_beside = is_whole && place.beside.is_some() && !into.is_empty();
        let none: &[u8] = match can_be_null {
            true => b"null",
            false if is_whole && has_hyphens => b"-",
            false => b"",
        };
        let value = match place.value(bytes, old) {
            Ok(value) => value,
            Err(offset) => {
                let action = args.unreadable(start + offset, Reason::Record(simdpct_records::Reason::ESCAPE));
                // If the record is kept, only this value stays as it is, because the others can be read.
                args.report.stats.partial += u64::from(matches!(action, Action::Copy | Action::Null));
                match action {
                    Action::Null | Action::Copy if is_beside => {
                        // The text for no value can always be written.
                        let _ = args.edit.put_beside(syntax, place, None);
                        return Action::Write;
                    }
                    Action::Null => {
                        args.edit.put_text(place, none);
                        return Action::Write;
                    }
                    Action::Copy => {
                        if matches!(format, Format::Unescaped) {
                            let _ = args.edit.put(place, place.raw(bytes));
                        }
                        return Action::Write;
                    }
                    action => {
                        // The record is left before its other values, which it has all the same.
                        found.iter().for_each(|place| args.report.stats.find(place.index));
                        return action;
                    }
                }
            }
        };
        new.clear();
        // A value that is written alone has no syntax around it, so only the bytes of `ValueHandler::usual` stay escaped in it.
        let kept = is_whole.then(|| match kept_at(place, kept) {
            // A string that holds a JSON document must still hold the same document.
            kept if matches!(format, Format::Json) && value.contains(&b'%') && is_document(value) => {
                kept.add(&(0..0x20).chain(*b"\"\\").collect::<Vec<_>>())
            }
            // Text that is not UTF-8 could get more bytes that are not UTF-8, and these would not be noticed.
            kept if place.escapings.iter().any(|one| one.is_text()) && str::from_utf8(value).is_err() => {
                kept.add(&(0x80..=0xFF).collect::<Vec<_>>())
            }
            kept => kept,
        });
        let at = At { index: place.index, kind: place.kind, kept, can_be_null };
        let origin = |offsets: &mut [usize]| {
            place.origins(bytes, offsets);
            offsets.iter_mut().for_each(|offset| *offset += start);
        };
        let Stats { changed, emptied, .. } = args.report.stats;
        let action = args.task.value(at, value, new, record, args.report, origin);
        let is_null = action == Action::Null;
        if action != Action::Write && !is_null {
            return action;
        }
        if new.is_empty() && is_whole && has_hyphens && !place.may_be_empty {
            // An empty field would disappear from the line.
            new.push(b'-');
        }
        let edit = &mut *args.edit;
        let mut stays = false;
        let is_written = match is_null {
            true if is_beside => edit.put_beside(syntax, place, None).is_ok(),
            true => {
                edit.put_text(place, none);
                true
            }
            false if is_beside => put(place, new, |new| edit.put_beside(syntax, place, Some(new))),
            false if !is_whole => edit.put(place, new).is_ok(),
            false if new == value => true,
            // Browsers escape a query in the charset of the document, which the conversion does not know.
            false if !place.charset.is_same() && respells_query(value, new) => false,
            false => put(place, new, |other| {
                // If only bytes that had to be escaped again would change, the value keeps its old spelling.
                stays = other != new && other.eq_ignore_ascii_case(value);
                if stays {
                    Ok(())
                } else if other != new && escapes_more(place.refused(), value, new, other) {
                    Err(0)
                } else {
                    edit.put(place, other)
                }
            }),
        };
        if stays || !is_written {
            (args.report.stats.changed, args.report.stats.emptied) = (changed, emptied);
        }
        if is_written {
            return Action::Write;
        }
        let refusal = Refusal { offset: start + place.range.start, reason: Reason::Unwritable };
        match args.task.unwritable(record, refusal, args.report) {
            Action::Null if is_beside => {
                let _ = edit.put_beside(syntax, place, None);
            }
            Action::Null => edit.put_text(place, none),
            Action::Copy => {}
            action => return action,
        }
        Action::Write
    }
}

/// Reports whether the query of `new` has bytes outside ASCII that are escaped in that of `old`, or the other way round.
fn respells_query(old: &[u8], new: &[u8]) -> bool {
    // Returns the number of bytes outside ASCII in the query of `url`, and that of escapes of such bytes.
    let foreign = |url: &[u8]| {
        let url = &url[..memchr::memchr(b'#', url).unwrap_or(url.len())];
        let query = memchr::memchr(b'?', url).map_or(&[][..], |at| &url[at..]);
        let is_high = |at: &usize| simdpct::decode_escape(&query[*at..]).is_some_and(|byte| !byte.is_ascii());
        let raw = query.iter().filter(|byte| !byte.is_ascii()).count();
        (raw, memchr::memchr_iter(b'%', query).filter(is_high).count())
    };
    let ((raw, escaped), (new_raw, new_escaped)) = (foreign(old), foreign(new));
    new_raw > raw || new_raw < raw && new_escaped > escaped
}

/// Reports whether a byte of `refused` that `old` and `new` have as it is, is an escape in `other`, a spelling of `new`.
fn escapes_more(refused: ByteSet, old: &[u8], new: &[u8], other: &[u8]) -> bool {
    let count = |text: &[u8], byte: u8| memchr::memchr_iter(byte, text).count();
    let is_new = |byte: u8| count(other, byte) < count(old, byte).min(count(new, byte));
    (0..=255).any(|byte| refused.contains(byte) && is_new(byte))
}

/// Returns the bytes that stay escaped in the value at `place`. `known` holds these bytes for earlier places.
fn kept_at(place: &Place, known: &mut Vec<(Around, ByteSet)>) -> ByteSet {
    let around = (place.fence, place.escapings, place.marks);
    let number = known.iter().position(|(other, _)| *other == around).unwrap_or_else(|| {
        known.push((around, kept_in(place)));
        known.len() - 1
    });
    known[number].1
}

/// Returns the bytes that stay escaped in the value at `place`.
pub fn kept_in(place: &Place) -> ByteSet {
    let refused = place.refused();
    // An opening bracket has a meaning only at the start of a value, where `Editor::put` fails for it.
    if place.has_lone_marks { refused.remove(b"[") } else { refused }
}

/// Passes the value `new` for `place` to `write`. After a failure, tries again with more bytes percent-encoded: the
/// byte that failed, then invalid UTF-8, then all bytes that the record cannot have, then both. Returns false if all
/// fail.
fn put(place: &Place, new: &[u8], mut write: impl FnMut(&[u8]) -> Result<(), usize>) -> bool {
    let Err(offset) = write(new) else { return true };
    let encode = Encode::keeping(place.refused().complement());
    let (before, rest) = new.split_at(offset.min(new.len()));
    let (byte, after) = rest.split_at(rest.len().min(1));
    let escape = Encode::keeping(ByteSet::EMPTY);
    if write(&[before, &escape.encode(byte), after].concat()).is_ok()
        || write(to_text(new).as_bytes()).is_ok()
    {
        return true;
    }
    let escaped = encode.encode(new);
    write(&escaped).is_ok() || write(to_text(&escaped).as_bytes()).is_ok()
}
