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

/// The text between a label and its value.
const OPEN: &[u8] = b": \"";

impl Labels {
    /// Reports whether `line` may have a label.
    pub fn has_label(line: &[u8]) -> bool {
        memchr::memmem::find(line, OPEN).is_some()
    }

    /// Rewrites the values of these labels in one record. A label can occur more than once, because a part of a log line that
    /// comes from a client, such as the user agent, can contain text that looks like a label. Each occurrence is rewritten.
    pub fn rewrite(self, pass: &mut Pass<'_, '_, impl Treat>) -> Action {
        let record = pass.record;
        let line = record.bytes();
        pass.report.stats.searched = true;
        let mut from = 0;
        while let Some(found) = memchr::memmem::find(&line[from..], OPEN) {
            let start = from + found + OPEN.len();
            from = start;
            let is_before = |label: &Label| is_label(line, start - OPEN.len(), label.name);
            let Some(index) = self.0.iter().position(is_before) else { continue };
            let close = close(line, start);
            let stop = close.unwrap_or(line.len());
            from = stop;
            let value = nth_word(line, start..stop, self.0[index].word);
            let (Some(value), Some(_)) = (value, close) else {
                let (offset, reason) = match close {
                    Some(_) if is_missing(&line[start..stop]) => continue,
                    Some(_) => (start, Reason::NoTarget),
                    // nginx cuts lines after 2,048 bytes.
                    None => (start - 1, Reason::OpenQuote { limit: None }),
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
        Action::Write
    }
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
        name > 0 && rest[name..].starts_with(OPEN) || rest.starts_with(b"bytes from/to client:")
    })
}
