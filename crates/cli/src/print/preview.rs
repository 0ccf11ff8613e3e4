//! Shows the effect that `--in-place` would have: a unified diff, or the number of lines that would change.
//!
//! The job says which old record becomes which new one, so no search for differences is needed. The time is linear in
//! the input. Memory is bounded: a long block of changed lines is cut into several hunks, and lines that are too long
//! for memory are in temporary files.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::path::Path;

use crate::common::error::{Failure, warn};
use crate::common::shown::{append_line, counted, is_harmful, shown};
use crate::io::output::Output;
use crate::io::temporary::SpooledBytes;

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

/// The form of a preview.
#[derive(Clone, Copy, Debug, Default)]
pub struct Form {
    /// Whether the preview is a unified diff, and not the number of lines that would change.
    pub is_diff: bool,
    pub has_colours: bool,
    /// Whether control characters are escaped, because a terminal shows the preview.
    pub is_escaped: bool,
}

/// The previews of files, one after the other.
#[derive(Default)]
pub struct Preview {
    form: Form,
    /// The number of files so far (`files`), of those that would change (`changed`), and of the others with a line that is not
    /// shown and may change (`uncertain`).
    files: u64,
    changed: u64,
    uncertain: u64,
    /// Whether a line of the file is not shown and may change.
    has_unseen: bool,
    /// The name of the file for messages.
    name: String,
    /// The name of the file as the header of a diff has it.
    header: String,
    /// The numbers, from 1, of the next line in the old file and in the new one.
    next: [u64; 2],
    /// The lines of the next hunk so far, with their marks. Until a line has changed, they are the context of the hunk.
    rows: VecDeque<Vec<u8>>,
    /// The length of `rows` in bytes.
    size: usize,
    /// The number of unchanged lines at the end of `rows`.
    tail: usize,
    /// The number of removed lines of the file so far.
    gone: u64,
    /// The number of added lines of the file so far.
    come: u64,
    has_header: bool,
    /// The byte order mark before the first line; empty if the file has none.
    prefix: &'static [u8],
}

impl Preview {
    /// Creates a preview without files.
    pub fn new(form: Form) -> Preview {
        Preview { form, next: [1; 2], ..Preview::default() }
    }

    /// Starts with the file at `path`.
    pub fn file(&mut self, path: &Path) {
        let (name, header) = (shown(path), header(path));
        let Preview { form, files, changed, uncertain, .. } = *self;
        *self = Preview { files, changed, uncertain, name, header, ..Preview::new(form) };
    }

    /// Sets the byte order mark of the file. The lines that `push` gets do not contain it.
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
            if self.form.is_diff {
                let is_first = self.next[usize::from(line[0] == COMES)] == 1;
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

    /// Counts the lines in `bytes`, which are part of a record that is too long to be shown. `may_change` says whether the record
    /// can change.
    pub fn pass(&mut self, bytes: &[u8], may_change: bool, output: &mut Output) -> Result<(), Failure> {
        self.has_unseen |= may_change;
        self.close(true, output)?;
        let lines = memchr::memchr_iter(b'\n', bytes).count() as u64;
        self.next = self.next.map(|line| line + lines);
        Ok(())
    }

    fn line(&mut self, line: &[u8], output: &mut Output) -> Result<(), Failure> {
        if line[0] == GOES && self.size >= LARGE {
            self.close(true, output)?;
        }
        for (next, other) in self.next.iter_mut().zip([COMES, GOES]) {
            *next += u64::from(line[0] != other);
        }
        self.tail = if line[0] == STAYS { self.tail + 1 } else { 0 };
        self.size += line.len();
        self.rows.push_back(line.to_vec());
        if self.tail > 2 * CONTEXT {
            return self.close(false, output);
        }
        self.forget_context();
        Ok(())
    }

    /// Forgets unchanged lines that are too far from the next change to be its context.
    fn forget_context(&mut self) {
        while self.rows.len() == self.tail && self.tail > CONTEXT {
            self.size -= self.rows.pop_front().map_or(0, |row| row.len());
            self.tail -= 1;
        }
    }

    /// Writes the current hunk, if it has changes. If `is_cut`, the hunk has no context, because the next lines belong
    /// to the same block of changes, or are not shown.
    fn close(&mut self, is_cut: bool, output: &mut Output) -> Result<(), Failure> {
        let mut rows = std::mem::take(&mut self.rows);
        let tail = std::mem::take(&mut self.tail);
        if rows.len() > tail {
            let lines = |rows: &VecDeque<Vec<u8>>| {
                [COMES, GOES].map(|other| rows.iter().filter(|row| row[0] != other).count() as u64)
            };
            let of_all = lines(&rows);
            let mut first = [self.next[0] - of_all[0], self.next[1] - of_all[1]];
            let context = rows.iter().take_while(|row| row[0] == STAYS).count();
            if is_cut {
                rows.drain(..context);
                first = first.map(|line| line + context as u64);
            }
            // With less context before the changes than after them, `patch` searches for the hunk only at the start of
            // the file.
            let most = if is_cut {
                0
            } else if first[0] == 1 {
                CONTEXT
            } else {
                context
            };
            let rest = rows.split_off(rows.len() - tail.saturating_sub(most));
            let of_hunk = lines(&rows);
            let mut text = Vec::new();
            self.write_headers([(first[0], of_hunk[0]), (first[1], of_hunk[1])], &mut text);
            // In a block of changes, the added lines follow all removed ones.
            let mut added = Vec::new();
            for row in &rows {
                // The text about a missing line end has no mark and no colour.
                let (line, note) =
                    row.split_at(row.len() - if row.ends_with(NO_END) { NO_END.len() - 1 } else { 0 });
                if row[0] == STAYS {
                    text.append(&mut added);
                }
                let line = &self.visible(line);
                let out = if row[0] == COMES { &mut added } else { &mut text };
                match row[0] {
                    COMES => self.paint("32", line, out),
                    GOES => self.paint("31", line, out),
                    _ => out.extend_from_slice(line),
                }
                out.extend_from_slice(note);
            }
            text.append(&mut added);
            output.write(&text)?;
            rows = rest;
        }
        if !is_cut {
            (self.tail, self.size) = (rows.len(), rows.iter().map(Vec::len).sum());
            self.rows = rows;
            self.forget_context();
            return Ok(());
        }
        self.size = 0;
        Ok(())
    }

    /// Shows that the record `old`, which is too long for memory, becomes `new`.
    pub fn large(
        &mut self,
        old: &mut SpooledBytes,
        new: &mut SpooledBytes,
        output: &mut Output,
    ) -> Result<(), Failure> {
        self.close(true, output)?;
        let (old_lines, new_lines) = (old.lines(), new.lines());
        (self.gone, self.come) = (self.gone + old_lines, self.come + new_lines);
        if self.form.is_diff {
            let mut text = Vec::new();
            self.write_headers([(self.next[0], old_lines), (self.next[1], new_lines)], &mut text);
            output.write(&text)?;
            for (mark, held) in [(GOES, old), (COMES, new)] {
                let mut is_start = true;
                held.each(|block| {
                    for line in block.split_inclusive(|&byte| byte == b'\n') {
                        if std::mem::replace(&mut is_start, line.ends_with(b"\n")) {
                            output.write(&[mark])?;
                        }
                        output.write(&self.visible(line))?;
                    }
                    Ok(())
                })?;
                if held.last.is_some_and(|last| last != b'\n') {
                    output.write(NO_END)?;
                }
            }
        }
        self.next = [self.next[0] + old_lines, self.next[1] + new_lines];
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

    /// Returns `line` as the preview shows it. Only the diff that a terminal shows has escapes, because `patch` needs the
    /// exact lines. They are not percent-escapes, so that the old line and the new one differ.
    fn visible<'l>(&self, line: &'l [u8]) -> Cow<'l, [u8]> {
        if !self.form.is_escaped {
            return line.into();
        }
        let text = line.strip_suffix(b"\n").map_or(line, |text| text.strip_suffix(b"\r").unwrap_or(text));
        let mut visible = String::new();
        append_line(text, |character| is_harmful(character) && character != '\t', &mut visible);
        [visible.as_bytes(), &line[text.len()..]].concat().into()
    }

    /// Appends `line`, which ends in a line feed, in `colour` if the preview has colours.
    fn paint(&self, colour: &str, line: &[u8], out: &mut Vec<u8>) {
        if !self.form.has_colours {
            out.extend_from_slice(line);
            return;
        }
        out.extend_from_slice(format!("\x1B[{colour}m").as_bytes());
        out.extend_from_slice(line.strip_suffix(b"\n").unwrap_or(line));
        out.extend_from_slice(b"\x1B[m\n");
    }

    /// Completes the preview of the file.
    pub fn finish(&mut self, output: &mut Output) -> Result<(), Failure> {
        self.close(false, output)?;
        let lines = self.gone.max(self.come);
        self.files += 1;
        self.changed += u64::from(lines > 0);
        self.uncertain += u64::from(lines == 0 && self.has_unseen);
        if lines > 0 && !self.form.is_diff {
            output.write(format!("{}: {} would change\n", self.name, counted(lines, "line")).as_bytes())?;
        }
        Ok(())
    }

    /// Reports whether a file would or may change.
    pub fn has_changes(&self) -> bool {
        self.changed + self.uncertain > 0
    }

    /// Prints to stderr how many of the files would change, unless the changes are shown.
    pub fn print_total(&self) {
        if !self.form.is_diff {
            let files = counted(self.files, "file");
            let others =
                if self.uncertain > 0 { format!(", and {} may", self.uncertain) } else { String::new() };
            warn(format_args!("{} of {files} would change{others}; nothing was written", self.changed));
        }
    }
}

/// Returns the name of the file at `path` as git writes it in the header of a diff (`core.quotePath`). A name with
/// special or non-ASCII bytes is quoted as in C. A tab after a name with blanks tells `patch` where the name ends.
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
