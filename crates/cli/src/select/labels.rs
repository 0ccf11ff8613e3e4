//! Selects quoted values after labels, such as `request: "GET / HTTP/1.1"` in the error log of nginx.

use super::fields::{is_missing, nth_word};
use super::pass::Pass;
use crate::ground::reason::Reason;
use crate::value::policy::{Action, At, Treat};

/// The labels whose values are selected.
#[derive(Clone, Copy, Debug)]
pub struct Labels(pub &'static [Label]);

/// A label, and the number of the selected word of its value; `None` for the whole value.
#[derive(Clone, Copy, Debug)]
pub struct Label {
    pub name: &'static str,
    pub word: Option<usize>,
}

/// The text between a label and its value, without the quote before the value.
const AFTER: &[u8] = b": ";

/// The label that nginx writes before all others.
const FIRST: &[u8] = b", client: ";

/// The levels of an entry, which are in brackets after the date.
const LEVELS: [&[u8]; 8] = [b"error", b"warn", b"info", b"notice", b"crit", b"alert", b"emerg", b"debug"];

impl Labels {
    /// Reports whether `line` is an entry without a value in quotes and without these labels, and so is readable.
    pub fn is_plain(self, line: &[u8]) -> bool {
        let has_value = |at: usize| {
            line.get(at + AFTER.len()) == Some(&b'"')
                || self.0.iter().any(|label| is_label(line, at, label.name))
        };
        is_entry(line) && !memchr::memmem::find_iter(line, AFTER).any(has_value)
    }

    /// Rewrites the values of these labels in one record. Text before the first `client:` is a message, such as the name of a file
    /// that a client asked for, and has no labels. After it, a label can occur more than once, because a part of a log line that
    /// comes from a client, such as the user agent, can contain text that looks like a label. Each occurrence is rewritten.
    pub fn rewrite(self, pass: &mut Pass<'_, '_, impl Treat>) -> Action {
        let record = pass.record;
        let line = record.bytes();
        pass.report.stats.searched = true;
        let mut from = memchr::memmem::find(line, FIRST).unwrap_or(0);
        let mut has_value = memchr::memmem::find(&line[..from], b": \"").is_some();
        while let Some(found) = memchr::memmem::find(&line[from..], AFTER) {
            let label = from + found;
            from = label + AFTER.len();
            let is_quoted = line.get(from) == Some(&b'"');
            has_value |= is_quoted;
            let is_before = |known: &Label| is_label(line, label, known.name);
            let Some(index) = self.0.iter().position(is_before) else { continue };
            let Label { name, word } = self.0[index];
            // The proxy of mail writes `upstream` without quotes, and text before the labels has no comma.
            if !is_quoted && (name == "upstream" || !line[..label - name.len()].ends_with(b", ")) {
                continue;
            }
            let start = from + usize::from(is_quoted);
            let close = if is_quoted { close(line, start) } else { None };
            let stop = match close {
                None if !is_quoted => {
                    memchr::memchr(b',', &line[start..]).map_or(line.len(), |len| start + len)
                }
                close => close.unwrap_or(line.len()),
            };
            from = stop;
            let value = nth_word(line, start..stop, word);
            let (Some(value), Some(_)) = (value, close) else {
                let (offset, reason) = match close {
                    Some(_) if is_missing(&line[start..stop]) => continue,
                    Some(_) => (start, Reason::NoTarget),
                    // nginx cuts lines after 2,048 bytes.
                    None if is_quoted => (start - 1, Reason::OpenQuote { limit: None }),
                    None => (start, Reason::NotInLog("the value of this label is not in quotes")),
                };
                let place = record.start + start..record.start + stop;
                let action = pass.unreadable_value(index, record.start + offset, reason, place, "");
                if action != Action::Write {
                    return action;
                }
                continue;
            };
            pass.report.stats.find(index);
            let (start, stop) = (record.start + value.start, record.start + value.end);
            let bytes = &record.chunk[start..stop];
            let out = pass.edit.copy_to(start);
            let len = out.len();
            let at = At::plain(index);
            let action = pass.treatment.value(at, bytes, out, record, pass.report, |offset| start + offset);
            pass.edit.compare(len, bytes);
            pass.edit.close(index, len, stop);
            if action != Action::Write {
                return action;
            }
        }
        // Messages can have several lines, the last of which has the labels.
        if !has_value && !is_entry(line) && !line.trim_ascii().is_empty() {
            return pass.unreadable(
                record.start,
                Reason::NotInLog("no level in brackets, such as [error], and no label"),
            );
        }
        Action::Write
    }
}

/// Reports whether `line` has the level of an entry in brackets. Other text may be before the date, such as that of syslog.
fn is_entry(line: &[u8]) -> bool {
    memchr::memchr_iter(b'[', line).any(|at| {
        let rest = &line[at + 1..];
        LEVELS.iter().any(|level| rest.strip_prefix(*level).is_some_and(|rest| rest.starts_with(b"] ")))
    })
}

/// Reports whether the label `name` is in `line` before offset `stop`, after a blank or at the start.
fn is_label(line: &[u8], stop: usize, name: &str) -> bool {
    let before = line[..stop].strip_suffix(name.as_bytes());
    before.is_some_and(|before| before.last().is_none_or(|&byte| byte == b' '))
}

/// Returns the end of the value at `start`: the offset of its closing quote, which is at the end of the line or before
/// another label, or before the counts that nginx's stream proxy adds. A quote before anything else is part of the value,
/// because nginx does not escape quotes there.
fn close(line: &[u8], start: usize) -> Option<usize> {
    memchr::memchr_iter(b'"', &line[start..]).map(|found| start + found).find(|&at| {
        let Some(rest) = line[at + 1..].strip_prefix(b", ") else { return at + 1 == line.len() };
        let name = rest.iter().take_while(|byte| byte.is_ascii_lowercase()).count();
        name > 0 && rest[name..].starts_with(b": \"") || rest.starts_with(b"bytes from/to client:")
    })
}
