//! Selects values of logfmt: `key=value` pairs between blanks, where a value may be quoted.

use super::json::{raw_offset, unescape, write_string};
use super::pass::Pass;
use crate::ground::reason::Reason;
use crate::value::policy::{Action, At, Treat};

/// The keys whose values are selected in logfmt.
#[derive(Clone)]
pub struct Pairs {
    keys: Vec<String>,
    /// Buffers for the unescaped value and the new value.
    old: Vec<u8>,
    new: Vec<u8>,
}

impl Pairs {
    /// Selects the values of `keys`.
    pub fn new(keys: Vec<String>) -> Pairs {
        Pairs { keys, old: Vec::new(), new: Vec::new() }
    }

    /// Returns the keys.
    pub fn keys(&self) -> &[String] {
        &self.keys
    }

    /// Reports whether no quote in `line`, which has no backslashes, opens a value without closing it. Such a quote would be
    /// the last one, and follow a `=`. Returns false for some lines without such a quote.
    pub fn has_no_open_quote(line: &[u8]) -> bool {
        memchr::memrchr(b'"', line).is_none_or(|at| !line[..at].ends_with(b"="))
    }

    /// Rewrites the values of one record.
    pub fn rewrite(&mut self, pass: &mut Pass<'_, '_, impl Treat>) -> Action {
        let record = pass.record;
        let line = record.bytes();
        let mut at = 0;
        while let Some(pair) = next(line, at) {
            at = pair.stop;
            if pair.is_open {
                // Nobody knows where the value should have ended, so the rest of the line is part of it.
                let place = record.start + pair.equals + 1..record.stop;
                let reason = Reason::OpenQuote { limit: None };
                return pass.unreadable_value(self.keys.len(), place.start, reason, place, "");
            }
            let is_key = |key: &String| key.as_bytes() == &line[pair.start..pair.equals];
            let Some(index) = self.keys.iter().position(is_key) else { continue };
            for (index, _) in self.keys.iter().enumerate().filter(|(_, key)| is_key(key)) {
                pass.report.stats.find(index);
            }
            let action = self.value(pair, index, pass);
            if action != Action::Write {
                return action;
            }
        }
        pass.report.stats.searched = true;
        Action::Write
    }

    /// Rewrites the value of `pair`.
    fn value(&mut self, pair: Pair, index: usize, pass: &mut Pass<'_, '_, impl Treat>) -> Action {
        let record = pass.record;
        let Pairs { keys, old, new } = self;
        let (start, stop) = (record.start + pair.equals + 1, record.start + pair.stop);
        let spelt = &record.chunk[start..stop];
        let quotes = usize::from(pair.is_quoted);
        let raw = &spelt[quotes..spelt.len() - quotes];
        let value = if pair.is_quoted && raw.contains(&b'\\') {
            old.clear();
            if let Err(at) = unescape(raw, old, true) {
                let offset = start + quotes + at;
                return pass.unreadable_value(index, offset, Reason::UnknownEscape, start..stop, "");
            }
            &old[..]
        } else {
            raw
        };
        new.clear();
        let place =
            |offset| start + quotes + if pair.is_quoted { raw_offset(raw, offset, true) } else { offset };
        let action = pass.treatment.value(At::plain(index), value, new, record, pass.report, place);
        if action != Action::Write {
            return action;
        }
        if *new != value {
            pass.edit.change();
        }
        if pass.edit.write_bare(index, start, stop, new) {
            let twins = (index + 1..keys.len()).filter(|&other| keys[other] == keys[index]);
            twins.for_each(|index| pass.edit.repeat(index));
        } else if *new != value {
            let out = pass.edit.copy_to(start);
            let needs_quotes = |byte: &u8| *byte <= b' ' || b"=\"\\\x7F".contains(byte);
            if pair.is_quoted || new.iter().any(needs_quotes) {
                write_string(new, out);
            } else {
                out.extend_from_slice(new);
            }
            pass.edit.skip_to(stop);
        }
        Action::Write
    }
}

/// A key and its value, as offsets in a line.
#[derive(Clone, Copy)]
struct Pair {
    start: usize,
    equals: usize,
    stop: usize,
    /// Whether the value is quoted. The offsets include the quotes.
    is_quoted: bool,
    /// Whether the value begins with a quote that is never closed.
    is_open: bool,
}

/// Returns the first pair from `at` on.
fn next(line: &[u8], mut at: usize) -> Option<Pair> {
    loop {
        let start = at + line[at..].iter().position(|&byte| !is_blank(byte))?;
        let word = &line[start..];
        let len = word.iter().position(|&byte| byte == b'=' || is_blank(byte))?;
        let equals = start + len;
        if line[equals] != b'=' {
            // This word is a key without a value, so it is skipped.
            at = equals;
            continue;
        }
        let value = equals + 1;
        let has_quote = line.get(value) == Some(&b'"');
        if has_quote && let Some(stop) = close(line, value) {
            return Some(Pair { start, equals, stop, is_quoted: true, is_open: false });
        }
        let len = line[value..].iter().position(|&byte| is_blank(byte)).unwrap_or(line.len() - value);
        return Some(Pair { start, equals, stop: value + len, is_quoted: false, is_open: has_quote });
    }
}

/// Returns the end of the quoted value that starts at `start`, if the quotes are closed.
fn close(line: &[u8], start: usize) -> Option<usize> {
    let mut at = start + 1;
    loop {
        at += memchr::memchr2(b'"', b'\\', line.get(at..)?)?;
        if line[at] == b'"' {
            return Some(at + 1);
        }
        at += 2;
    }
}

fn is_blank(byte: u8) -> bool {
    byte == b' ' || byte == b'\t'
}
