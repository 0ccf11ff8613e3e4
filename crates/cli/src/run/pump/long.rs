//! Handles records that do not fit in memory.

use super::buffers::Buffers;
use super::feed::Feed;
use super::job::{Job, Long};
use crate::common::error::{Failure, warn};
use crate::common::reason::Reason;
use crate::io::held::Held;
use crate::print::Sink;

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
    let is_shown = sink.preview.is_some();
    let held = |is_held: bool| if is_held { Held::new().map(Some) } else { Ok(None) };
    let (instead, outcome, reason) = match job.long(block, report) {
        Long::Copy(reason) => (Instead::Record, "stays as it is", reason),
        Long::Edit(reason) => (Instead::Edited, "stays as it is, with an empty new cell", reason),
        Long::Skip(reason) => (Instead::Nothing, "is left out", reason),
        Long::Instead(text, reason) => (Instead::Text(text), "is now empty, or null in JSON", reason),
        Long::Pass(reason) => (Instead::Nothing, "is not checked", reason),
        Long::Parts { held: is_held } => {
            // Memory is bounded, so results that must wait go to a temporary file. A preview shows the old record
            // before the new one, so both wait.
            let (mut old, mut new) = (held(is_shown)?, held(is_held || is_shown)?);
            // The closure below borrows the job mutably, so places to cut are found by a clone.
            let finder = job.clone();
            feed.parts(
                block,
                |bytes| finder.cut(bytes),
                |bytes, part| {
                    out.clear();
                    report.clear();
                    job.part(bytes, part, out, report);
                    if let Some(old) = &mut old {
                        old.write(bytes)?;
                    }
                    let Some(new) = &mut new else { return sink.take(part.offset, out, report) };
                    new.write(out)?;
                    // Only the report is passed on here; the result of this part is held back.
                    let is_open = std::mem::take(&mut report.is_open);
                    sink.take(part.offset, &[], report)?;
                    report.is_open = is_open;
                    Ok(())
                },
            )?;
            let Some(mut new) = new else { return Ok(()) };
            out.clear();
            let is_other = job.instead(out);
            return match (&mut sink.preview, old) {
                (Some(preview), Some(mut old)) => {
                    if is_other {
                        new.replace(out)?;
                    }
                    preview.large(&mut old, &mut new, sink.output)
                }
                _ if is_other => sink.write(out, report.is_open),
                _ => new.each(|bytes| sink.write(bytes, report.is_open)),
            };
        }
    };
    let places = report.places;
    sink.take(offset, &[], report)?;
    tell(sink, places.then_some(sink.lines), offset, &reason, outcome);
    let end = feed.line_end();
    let is_copied = matches!(instead, Instead::Record);
    let is_edited = matches!(instead, Instead::Edited);
    let (mut old, mut new) = (held(is_shown && !is_copied)?, held(is_shown && is_edited)?);
    let mut last = None;
    // Passes on a piece of the record as the job changes it.
    let mut edit = |piece: &[u8], is_end: bool, sink: &mut Sink<'_>| {
        out.clear();
        job.edit(piece, is_end, out);
        match &mut new {
            Some(new) => new.write(out),
            None if out.is_empty() => Ok(()),
            None => sink.write(out, out.last() != Some(&end)),
        }
    };
    feed.rest(block, |piece| {
        if places {
            sink.lines += memchr::memchr_iter(end, piece).count() as u64;
        }
        sink.stats.bytes_in += piece.len() as u64;
        last = piece.last().copied().or(last);
        match (&mut sink.preview, &mut old) {
            (Some(_), Some(old)) if is_edited => old.write(piece).and_then(|()| edit(piece, false, sink)),
            (None, _) if is_edited => edit(piece, false, sink),
            (Some(_), Some(old)) => old.write(piece),
            (Some(preview), None) => preview.pass(piece, sink.output),
            (None, _) if is_copied => sink.write(piece, piece.last() != Some(&end)),
            (None, _) => Ok(()),
        }
    })?;
    let is_open = last != Some(end);
    let text = match instead {
        Instead::Record => return Ok(()),
        Instead::Edited => {
            edit(b"", true, sink)?;
            return match (&mut sink.preview, old, new) {
                (Some(preview), Some(mut old), Some(mut new)) => {
                    preview.large(&mut old, &mut new, sink.output)
                }
                _ => Ok(()),
            };
        }
        Instead::Nothing => Vec::new(),
        Instead::Text(text) if is_open => text.to_vec(),
        Instead::Text(text) => [text, &[end]].concat(),
    };
    match (&mut sink.preview, old) {
        (Some(preview), Some(mut old)) => {
            let mut new = Held::new()?;
            new.write(&text)?;
            preview.large(&mut old, &mut new, sink.output)
        }
        _ if text.is_empty() => Ok(()),
        _ => sink.write(&text, is_open),
    }
}

/// Warns about the record at `offset`, after `lines` lines if they were counted.
fn tell(sink: &Sink<'_>, lines: Option<u64>, offset: u64, reason: &Reason, outcome: &str) {
    let line = lines.map_or(String::new(), |lines| format!("{}:", lines + 1));
    warn(format_args!("{}:{line} offset {offset}: {reason}, and {outcome}", sink.file));
}

/// The output for a record that does not fit in memory.
enum Instead {
    /// The record as it is.
    Record,
    /// The record as [`Job::edit`] changes it.
    Edited,
    Nothing,
    /// This text, and the end of the record.
    Text(&'static [u8]),
}
