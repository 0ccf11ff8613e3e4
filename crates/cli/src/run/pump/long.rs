//! Handles records that do not fit in memory.

use super::Buffers;
use super::feed::Feed;
use crate::common::error::{Failure, warn};
use crate::io::temporary::SpooledBytes;
use crate::print::{Print, Sink};
use crate::run::job::{Job, OversizedAction};

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
    let block = &mut block.bytes;
    let (end, reason) = (feed.line_end(), feed.too_long());
    let long = job.long(block, &reason, report);
    sink.take(offset, &[], report)?;
    let outcome = match long {
        OversizedAction::Copy => "stays as it is",
        OversizedAction::Unseen => "is too long for a preview, but -i converts it",
        OversizedAction::Edit => "stays as it is, with an empty new cell unless a quote is misplaced",
        OversizedAction::Skip => "is left out",
        OversizedAction::Replace(_) => "is now empty, or null in JSON",
        OversizedAction::Pass => "is not checked",
        OversizedAction::Keyless => "stays, because it has no key",
        OversizedAction::Pieces => "",
        OversizedAction::Escapes => "is not read as a URL",
    };
    if !outcome.is_empty() {
        let line = if report.places { format!("{}:", sink.lines + 1) } else { String::new() };
        warn(format_args!("{}:{line} offset {offset}: {reason}, and {outcome}", sink.file));
    }
    if matches!(long, OversizedAction::Keyless | OversizedAction::Pieces | OversizedAction::Escapes) {
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
    // Memory is bounded, so the two versions of a record that a preview shows are in temporary files.
    let is_copied = matches!(long, OversizedAction::Copy | OversizedAction::Unseen);
    let mut versions = match matches!(sink.print, Print::Preview(_)) && !is_copied {
        true => Some((SpooledBytes::new()?, SpooledBytes::new()?)),
        false => None,
    };
    let mut is_open = true;
    feed.rest(block, |piece, is_last| {
        if report.places {
            sink.lines += memchr::memchr_iter(end, piece).count() as u64;
        }
        sink.stats.bytes_in += piece.len() as u64;
        is_open = is_last && piece.last() != Some(&end);
        out.clear();
        match long {
            OversizedAction::Edit => job.piece(piece, is_last, out, report),
            OversizedAction::Replace(text) if is_last => {
                out.extend_from_slice(text);
                out.extend((!is_open).then_some(end));
            }
            _ => {}
        }
        match (&mut versions, &mut *sink.print) {
            (Some((old, new)), _) => old.write(piece).and_then(|()| new.write(out)),
            (None, Print::Preview(preview)) => {
                preview.pass(piece, matches!(long, OversizedAction::Unseen), sink.output)
            }
            _ if is_copied && !piece.is_empty() => sink.write(piece, piece.last() != Some(&end)),
            _ if out.is_empty() => Ok(()),
            _ => sink.write(out, out.last() != Some(&end)),
        }
    })?;
    match (versions, &mut *sink.print) {
        (Some((mut old, mut new)), Print::Preview(preview)) => preview.large(&mut old, &mut new, sink.output),
        _ => Ok(()),
    }
}
