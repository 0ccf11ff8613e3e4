//! Handles records that do not fit in memory.

use std::fs::File;
use std::io::{ErrorKind, Read, Seek, Write};

use super::buffers::Buffers;
use super::feed::Feed;
use super::job::{Job, Long};
use crate::engine::sink::Sink;
use crate::ground::error::{Failure, warn};

/// Passes a record that does not fit in memory through `job` to `sink`. The record is at `offset` of the input, and
/// the block in `buffers` is full of its first bytes.
pub fn pass<J: Job>(
    feed: &mut Feed<'_>,
    job: &mut J,
    buffers: &mut Buffers,
    sink: &mut Sink<'_>,
    offset: u64,
) -> Result<(), Failure> {
    let Buffers { block, out, report, .. } = buffers;
    let block = block.bytes_mut();
    let (keep, outcome, reason) = match job.long(block, report) {
        Long::Copy(reason) => (true, "stays as it is", reason),
        Long::Skip(reason) => (false, "is left out", reason),
        Long::Pass(reason) => (false, "is not checked", reason),
        Long::Lines(at, reason, outcome) => {
            sink.take(offset, &[], report)?;
            warn(format_args!("{}: offset {}: {reason}, and {outcome}", sink.file, offset + at as u64));
            return lines(feed, job, buffers, sink, offset);
        }
        Long::Parts { held } => {
            // Held results go to a temporary file, because memory is bounded.
            let mut held = if held { Some(Held::new()?) } else { None };
            // The closure below borrows the job mutably, so places to cut are found by a clone.
            let finder = job.clone();
            feed.parts(
                block,
                |bytes| finder.cut(bytes),
                |bytes, part| {
                    out.clear();
                    report.clear();
                    job.part(bytes, part, out, report);
                    let Some(held) = &mut held else { return sink.take(part.offset, out, report) };
                    held.write(out)?;
                    // Only the report is passed on here; the result of this part is held back.
                    let is_open = std::mem::take(&mut report.is_open);
                    sink.take(part.offset, &[], report)?;
                    report.is_open = is_open;
                    Ok(())
                },
            )?;
            let Some(held) = held else { return Ok(()) };
            out.clear();
            let (is_other, is_open) = (job.instead(out), report.is_open);
            return if is_other { sink.write(out, is_open) } else { held.copy(block, sink, is_open) };
        }
    };
    let places = report.places;
    sink.take(offset, &[], report)?;
    warn(format_args!("{}: offset {offset}: {reason}, and {outcome}", sink.file));
    let end = feed.line_end();
    feed.rest(block, |piece| {
        if places {
            sink.lines += memchr::memchr_iter(end, piece).count() as u64;
        }
        sink.stats.bytes_in += piece.len() as u64;
        match &mut sink.preview {
            Some(preview) => preview.pass(piece, sink.output),
            None if keep => sink.write(piece, piece.last() != Some(&end)),
            None => Ok(()),
        }
    })
}

/// Passes the lines of an unreadable record through `job` to `sink`. The record is at `offset` of the input, and the block
/// in `buffers` is full of its first bytes.
fn lines<J: Job>(
    feed: &mut Feed<'_>,
    job: &mut J,
    buffers: &mut Buffers,
    sink: &mut Sink<'_>,
    mut offset: u64,
) -> Result<(), Failure> {
    let Buffers { block, out, report, .. } = buffers;
    let (block, end) = (block.bytes_mut(), feed.line_end());
    let mut rest = Vec::new();
    let mut is_fragment = false;
    let mut work = |lines: &[u8], is_fragment: bool| {
        out.clear();
        report.clear();
        job.salvage(lines, is_fragment, out, report);
        let at = offset;
        offset += lines.len() as u64;
        sink.take(at, out, report)
    };
    let limit = block.len();
    feed.rest(block, |piece| {
        let after = |found: Option<usize>| found.map(|at| rest.len() + at + 1);
        let (first, last) = (after(memchr::memchr(end, piece)), after(memchr::memrchr(end, piece)));
        rest.extend_from_slice(piece);
        let mut done = 0;
        if let Some(first) = first.filter(|_| is_fragment) {
            work(&rest[..first], true)?;
            (done, is_fragment) = (first, false);
        }
        if let Some(last) = last.filter(|&last| last > done) {
            work(&rest[done..last], false)?;
            done = last;
        }
        rest.drain(..done);
        // A line that does not fit in memory is passed on in fragments.
        if rest.len() > limit {
            is_fragment = true;
            work(&rest, true)?;
            rest.clear();
        }
        Ok(())
    })?;
    if rest.is_empty() { Ok(()) } else { work(&rest, is_fragment) }
}

/// The results for the parts of a record, in a temporary file, until it is known whether they must be written.
struct Held {
    file: File,
    len: u64,
}

impl Held {
    fn new() -> Result<Held, Failure> {
        match tempfile::tempfile() {
            Ok(file) => Ok(Held { file, len: 0 }),
            Err(error) => Err(Failure::open(Held::name(), error)),
        }
    }

    /// Returns the name of the temporary file for messages.
    fn name() -> String {
        format!("temporary file in {}", std::env::temp_dir().display())
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        self.file.write_all(bytes).map_err(|error| Failure::output(Held::name(), self.len, error))?;
        self.len += bytes.len() as u64;
        Ok(())
    }

    /// Copies all held results to `sink`. `buffer` holds the bytes in between.
    fn copy(mut self, buffer: &mut [u8], sink: &mut Sink<'_>, is_open: bool) -> Result<(), Failure> {
        let failed = |error| Failure::open(Held::name(), error);
        self.file.rewind().map_err(failed)?;
        loop {
            match self.file.read(buffer) {
                Ok(0) => return Ok(()),
                Ok(len) => sink.write(&buffer[..len], is_open)?,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(failed(error)),
            }
        }
    }
}
