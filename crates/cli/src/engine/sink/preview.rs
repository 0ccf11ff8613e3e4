//! Shows the effect that `--in-place` would have: a unified diff, or the number of lines that would change.
//!
//! The job says which old record becomes which new one, so no search for differences is needed. The time is linear in
//! the input. Memory holds only the current block of changed lines and the lines around it.

use std::collections::VecDeque;
use std::io::{self, Write as _};

use crate::ground::error::Failure;
use crate::io::output::Output;

/// The format of a preview.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Show {
    /// The number of lines that would change.
    Counts,
    /// A unified diff.
    Diff,
}

/// The number of unchanged lines before and after changed ones.
const CONTEXT: usize = 3;

/// The mark of an unchanged line.
pub const STAYS: u8 = b' ';
/// The mark of a removed line.
pub const GOES: u8 = b'-';
/// The mark of an added line.
pub const COMES: u8 = b'+';

/// The text that a unified diff has after a line without a line end.
const NO_END: &[u8] = b"\n\\ No newline at end of file\n";

/// Appends the lines of `bytes` to `out`, each with the byte `mark` before it.
pub fn mark(mark: u8, bytes: &[u8], out: &mut Vec<u8>) {
    for line in bytes.split_inclusive(|&byte| byte == b'\n') {
        out.push(mark);
        out.extend_from_slice(line);
    }
    if bytes.last().is_some_and(|&byte| byte != b'\n') {
        out.extend_from_slice(NO_END);
    }
}

/// The preview of one file.
pub struct Preview {
    show: Show,
    name: String,
    has_colours: bool,
    /// The number, from 1, of the next line in the old file.
    old: u64,
    /// The number, from 1, of the next line in the new file.
    new: u64,
    /// The last unchanged lines, which are the context before the next hunk.
    before: VecDeque<Vec<u8>>,
    hunk: Option<Hunk>,
    /// The number of removed lines.
    gone: u64,
    /// The number of added lines.
    come: u64,
    has_header: bool,
    /// The byte order mark before the first line; empty if the file has none.
    prefix: &'static [u8],
}

/// Changed lines, and the unchanged lines around them.
struct Hunk {
    old: u64,
    new: u64,
    old_lines: u64,
    new_lines: u64,
    text: Vec<u8>,
    /// The added lines of the current block of changed lines. They follow the removed lines of the block.
    plus: Vec<u8>,
    /// The unchanged lines after the last changed line.
    after: VecDeque<Vec<u8>>,
}

impl Preview {
    /// Creates an empty preview of the file `name`.
    pub fn new(show: Show, name: &str, has_colours: bool) -> Preview {
        Preview {
            show,
            name: name.chars().map(|sign| if sign.is_control() { '?' } else { sign }).collect(),
            has_colours,
            old: 1,
            new: 1,
            before: VecDeque::new(),
            hunk: None,
            gone: 0,
            come: 0,
            has_header: false,
            prefix: b"",
        }
    }

    /// Sets the byte order mark of the file, which is not part of its first line.
    pub fn begin(&mut self, prefix: &'static [u8]) {
        self.prefix = prefix;
    }

    /// Adds lines with marks to the preview. The caller must add them in the order of the file.
    pub fn push(&mut self, marked: &[u8], output: &mut Output) -> Result<(), Failure> {
        let mut rest = marked;
        while let Some(end) = memchr::memchr(b'\n', rest) {
            let mut end = end + 1;
            if rest[end..].starts_with(&NO_END[1..]) {
                end += NO_END.len() - 1;
            }
            let (line, others) = rest.split_at(end);
            rest = others;
            match line[0] {
                GOES => self.gone += 1,
                COMES => self.come += 1,
                _ => {}
            }
            if self.show == Show::Diff {
                let is_first = if line[0] == COMES { self.new == 1 } else { self.old == 1 };
                if is_first && !self.prefix.is_empty() {
                    let line = [&line[..1], self.prefix, &line[1..]].concat();
                    self.line(&line, output)?;
                } else {
                    self.line(line, output)?;
                }
            }
        }
        Ok(())
    }

    /// Counts the lines in `bytes`, which are part of an unchanged record that is too long to be shown.
    pub fn pass(&mut self, bytes: &[u8], output: &mut Output) -> Result<(), Failure> {
        self.close(output)?;
        self.before.clear();
        let lines = memchr::memchr_iter(b'\n', bytes).count() as u64;
        (self.old, self.new) = (self.old + lines, self.new + lines);
        Ok(())
    }

    fn line(&mut self, line: &[u8], output: &mut Output) -> Result<(), Failure> {
        if line[0] == STAYS {
            (self.old, self.new) = (self.old + 1, self.new + 1);
            let Some(hunk) = &mut self.hunk else {
                if self.before.len() == CONTEXT {
                    self.before.pop_front();
                }
                self.before.push_back(line.to_vec());
                return Ok(());
            };
            hunk.text.append(&mut hunk.plus);
            hunk.after.push_back(line.to_vec());
            return if hunk.after.len() > 2 * CONTEXT { self.close(output) } else { Ok(()) };
        }
        let (old, new) = (self.old, self.new);
        let before = &mut self.before;
        let hunk = self.hunk.get_or_insert_with(|| {
            let lines = before.len() as u64;
            let text = before.drain(..).flatten().collect();
            Hunk {
                old: old - lines,
                new: new - lines,
                old_lines: lines,
                new_lines: lines,
                text,
                plus: Vec::new(),
                after: VecDeque::new(),
            }
        });
        let between = hunk.after.len() as u64;
        (hunk.old_lines, hunk.new_lines) = (hunk.old_lines + between, hunk.new_lines + between);
        hunk.text.extend(hunk.after.drain(..).flatten());
        if line[0] == GOES {
            self.old += 1;
            hunk.old_lines += 1;
            hunk.text.extend_from_slice(line);
        } else {
            self.new += 1;
            hunk.new_lines += 1;
            hunk.plus.extend_from_slice(line);
        }
        Ok(())
    }

    /// Writes the current hunk.
    fn close(&mut self, output: &mut Output) -> Result<(), Failure> {
        let Some(mut hunk) = self.hunk.take() else { return Ok(()) };
        hunk.text.append(&mut hunk.plus);
        let shown = hunk.after.len().min(CONTEXT);
        hunk.text.extend(hunk.after.drain(..shown).flatten());
        let [old_lines, new_lines] = [hunk.old_lines, hunk.new_lines].map(|lines| lines + shown as u64);
        while hunk.after.len() > CONTEXT {
            hunk.after.pop_front();
        }
        self.before = hunk.after;
        let mut text = Vec::new();
        if !self.has_header {
            self.has_header = true;
            let name = &self.name;
            self.paint("1", format!("--- {name}\n").as_bytes(), &mut text);
            self.paint("1", format!("+++ {name}\n").as_bytes(), &mut text);
        }
        // In a unified diff, the number of an empty range is that of the line before it.
        let place = |first: u64, lines: u64| if lines == 0 { first - 1 } else { first };
        let (old, new) = (place(hunk.old, old_lines), place(hunk.new, new_lines));
        self.paint("36", format!("@@ -{old},{old_lines} +{new},{new_lines} @@\n").as_bytes(), &mut text);
        if self.has_colours {
            for line in hunk.text.split_inclusive(|&byte| byte == b'\n') {
                match line[0] {
                    GOES => self.paint("31", line, &mut text),
                    COMES => self.paint("32", line, &mut text),
                    _ => text.extend_from_slice(line),
                }
            }
        } else {
            text.append(&mut hunk.text);
        }
        output.write(&text)
    }

    /// Appends `line`, which ends in a line feed, in `colour` if the preview has colours.
    fn paint(&self, colour: &str, line: &[u8], out: &mut Vec<u8>) {
        if !self.has_colours {
            out.extend_from_slice(line);
            return;
        }
        out.extend_from_slice(format!("\x1B[{colour}m").as_bytes());
        out.extend_from_slice(line.strip_suffix(b"\n").unwrap_or(line));
        out.extend_from_slice(b"\x1B[m\n");
    }

    /// Completes the preview of the file and reports whether the file would change.
    pub fn finish(mut self, output: &mut Output) -> Result<bool, Failure> {
        self.close(output)?;
        let lines = self.gone.max(self.come);
        if lines > 0 && self.show == Show::Counts {
            let plural = if lines == 1 { "" } else { "s" };
            output.write(format!("{}: {lines} line{plural} would change\n", self.name).as_bytes())?;
        }
        Ok(lines > 0)
    }
}

/// Prints to stderr how many of the files would change.
pub fn print_total(changed: u64, files: u64) {
    let plural = if files == 1 { "" } else { "s" };
    // If stderr is closed, nobody reads the message, so the error is ignored.
    let _ =
        writeln!(io::stderr(), "pct: {changed} of {files} file{plural} would change; nothing was written");
}
