//! Shows the effect that `--in-place` would have: a unified diff, or the number of lines that would change.
//!
//! The job says which old record becomes which new one, so no search for differences is needed. The time is linear in
//! the input. Memory is bounded: a long block of changed lines is cut into several hunks, and lines that are too long
//! for memory are in temporary files.

use std::collections::VecDeque;
use std::io::{self, Write as _};
use std::path::Path;

use crate::common::error::Failure;
use crate::common::shown::shown;
use crate::io::held::Held;
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

/// A block of changed lines is cut into hunks of about this number of bytes.
const LARGE: usize = 256 * 1024;

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
    /// The name of the file for messages.
    name: String,
    /// The name of the file as the header of a diff has it.
    header: String,
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
    /// The number of unchanged lines before the first change, and of their bytes in `text`.
    context: (u64, usize),
    /// Whether the hunk has no context, because it is a piece of a larger block.
    is_bare: bool,
    /// The added lines of the current block of changed lines. They follow the removed lines of the block.
    plus: Vec<u8>,
    /// The unchanged lines after the last changed line.
    after: VecDeque<Vec<u8>>,
}

impl Preview {
    /// Creates an empty preview of the file at `path`.
    pub fn new(show: Show, path: &Path, has_colours: bool) -> Preview {
        Preview {
            show,
            name: shown(path),
            header: header(path),
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
        self.cut(output)?;
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
        let is_full = |hunk: &Hunk| line[0] == GOES && hunk.text.len() + hunk.plus.len() >= LARGE;
        let is_bare = self.hunk.as_ref().is_some_and(is_full);
        if is_bare {
            self.cut(output)?;
        }
        let (old, new) = (self.old, self.new);
        let before = &mut self.before;
        let hunk = self.hunk.get_or_insert_with(|| {
            let lines = before.len() as u64;
            let text: Vec<u8> = before.drain(..).flatten().collect();
            Hunk {
                old: old - lines,
                new: new - lines,
                old_lines: lines,
                new_lines: lines,
                context: (lines, text.len()),
                is_bare,
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

    /// Writes the current hunk without context, because what follows belongs to the same block. Forgets the unchanged
    /// lines since the last change.
    fn cut(&mut self, output: &mut Output) -> Result<(), Failure> {
        if let Some(hunk) = &mut self.hunk {
            let (lines, bytes) = std::mem::take(&mut hunk.context);
            hunk.text.drain(..bytes);
            (hunk.old, hunk.new) = (hunk.old + lines, hunk.new + lines);
            (hunk.old_lines, hunk.new_lines) = (hunk.old_lines - lines, hunk.new_lines - lines);
            hunk.is_bare = true;
        }
        self.close(output)?;
        self.before.clear();
        Ok(())
    }

    /// Shows that the record `old`, which is too long for memory, becomes `new`. Without a change, the record is passed
    /// over like the lines between hunks.
    pub fn large(&mut self, old: &mut Held, new: &mut Held, output: &mut Output) -> Result<(), Failure> {
        self.cut(output)?;
        let (old_lines, new_lines) = (old.lines(), new.lines());
        if !old.equals(new)? {
            (self.gone, self.come) = (self.gone + old_lines, self.come + new_lines);
            if self.show == Show::Diff {
                let mut text = Vec::new();
                self.write_headers([(self.old, old_lines), (self.new, new_lines)], &mut text);
                output.write(&text)?;
                for (mark, held) in [(GOES, old), (COMES, new)] {
                    let mut is_start = true;
                    held.each(|block| {
                        for line in block.split_inclusive(|&byte| byte == b'\n') {
                            if std::mem::replace(&mut is_start, line.ends_with(b"\n")) {
                                output.write(&[mark])?;
                            }
                            output.write(line)?;
                        }
                        Ok(())
                    })?;
                    if held.last().is_some_and(|last| last != b'\n') {
                        output.write(NO_END)?;
                    }
                }
            }
        }
        (self.old, self.new) = (self.old + old_lines, self.new + new_lines);
        Ok(())
    }

    /// Appends the header of a hunk to `out`, after that of the file if this is the first hunk. `ranges` are the first
    /// line and the number of lines in the old and in the new file.
    fn write_headers(&mut self, ranges: [(u64, u64); 2], out: &mut Vec<u8>) {
        if !std::mem::replace(&mut self.has_header, true) {
            for mark in ["---", "+++"] {
                self.paint("1", format!("{mark} {}\n", self.header).as_bytes(), out);
            }
        }
        // In a unified diff, the number of an empty range is that of the line before it.
        let [old, new] = ranges.map(|(first, lines)| {
            let first = if lines == 0 { first - 1 } else { first };
            format!("{first},{lines}")
        });
        self.paint("36", format!("@@ -{old} +{new} @@\n").as_bytes(), out);
    }

    /// Writes the current hunk.
    fn close(&mut self, output: &mut Output) -> Result<(), Failure> {
        let Some(mut hunk) = self.hunk.take() else { return Ok(()) };
        hunk.text.append(&mut hunk.plus);
        // With less context before the changes than after them, `patch` looks for the hunk only at the start of the file.
        let most = match hunk.context.0 as usize {
            _ if hunk.is_bare => 0,
            _ if hunk.old == 1 => CONTEXT,
            before => before,
        };
        let shown = hunk.after.len().min(most);
        hunk.text.extend(hunk.after.drain(..shown).flatten());
        let [old_lines, new_lines] = [hunk.old_lines, hunk.new_lines].map(|lines| lines + shown as u64);
        while hunk.after.len() > CONTEXT {
            hunk.after.pop_front();
        }
        self.before = hunk.after;
        let mut text = Vec::new();
        self.write_headers([(hunk.old, old_lines), (hunk.new, new_lines)], &mut text);
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

/// Returns the name of the file at `path` as git writes it in the header of a diff (`core.quotePath`): a name with special bytes, or
/// bytes outside ASCII, is quoted as in C, and a tab follows a name with blanks, so that `patch` reads neither as something else.
fn header(path: &Path) -> String {
    const SHORT: &[u8] = b"\n\r\t\x07\x08\x0B\x0C\"\\";
    let mut name = String::new();
    let mut is_quoted = false;
    for &byte in path.as_os_str().as_encoded_bytes() {
        let short = SHORT.iter().position(|&known| known == byte);
        is_quoted |= short.is_some() || !matches!(byte, b' '..=b'~');
        match short {
            Some(at) => name.extend(['\\', char::from(b"nrtabvf\"\\"[at])]),
            None if matches!(byte, b' '..=b'~') => name.push(char::from(byte)),
            None => name += &format!("\\{byte:03o}"),
        }
    }
    let tab = if name.contains(' ') { "\t" } else { "" };
    if is_quoted { format!("\"{name}\"{tab}") } else { name + tab }
}

/// Prints to stderr how many of the files would change.
pub fn print_total(changed: u64, files: u64) {
    let plural = if files == 1 { "" } else { "s" };
    // If stderr is closed, nobody reads the message, so the error is ignored.
    let _ =
        writeln!(io::stderr(), "pct: {changed} of {files} file{plural} would change; nothing was written");
}
