//! Handles records that do not fit in memory.

use super::Buffers;
use super::feed::Feed;
use crate::common::error::{Failure, warn};
use crate::print::{Print, Sink};
use crate::run::job::{Job, Long};

/// Passes a record that does not fit in memory through `job` to `sink`. The record is at `offset` of the input, and
/// the block in `buffers` is full of its first bytes.
pub fn pass(
    feed: &mut Feed<'_>,
    job: &mut Job,
    buffers: &mut Buffers,
    sink: &mut Sink<'_>,
    offset: u64,
) -> Result<(), Failure> {
    let Buffers { block, out, report, .. } = buffers;
    let block = block.bytes_mut();
    let (end, reason) = (feed.line_end(), feed.too_long());
    let long = job.long(block, &reason, report);
    sink.take(offset, &[], report)?;
    let outcome = match long {
        Long::Copy => "stays as it is",
        Long::Unseen => "is too long for a preview, but -i converts it",
        Long::Edit => "stays as it is, with an empty new cell",
        Long::Skip => "is left out",
        Long::Instead(_) => "is now empty, or null in JSON",
        Long::Pass => "is not checked",
        Long::Pieces => {
            let mut offset = offset;
            return feed.rest(block, |piece, is_last| {
                out.clear();
                report.clear();
                job.piece(piece, is_last, out, report);
                sink.take(offset, out, report)?;
                offset += piece.len() as u64;
                Ok(())
            });
        }
    };
    let line = if report.places { format!("{}:", sink.lines + 1) } else { String::new() };
    let is_hidden = matches!(sink.print, Print::Preview(_)) && !matches!(long, Long::Copy | Long::Unseen);
    let note = if is_hidden { ", which a preview does not show" } else { "" };
    warn(format_args!("{}:{line} offset {offset}: {reason}, and {outcome}{note}", sink.file));
    feed.rest(block, |piece, is_last| {
        if report.places {
            sink.lines += memchr::memchr_iter(end, piece).count() as u64;
        }
        sink.stats.bytes_in += piece.len() as u64;
        let is_open = is_last && piece.last() != Some(&end);
        if let Print::Preview(preview) = sink.print {
            return preview.pass(piece, is_open, is_hidden, sink.output);
        }
        out.clear();
        match long {
            Long::Copy => out.extend_from_slice(piece),
            Long::Edit => job.piece(piece, is_last, out, report),
            Long::Instead(text) if is_last => {
                out.extend_from_slice(text);
                out.extend((!is_open).then_some(end));
            }
            _ => {}
        }
        if out.is_empty() { Ok(()) } else { sink.write(out, out.last() != Some(&end)) }
    })
}
