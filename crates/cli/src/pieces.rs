//! Work on lines that needs more than one look at them: input is cut where nothing that belongs together is cut, so
//! a piece holds many lines, or a part of a long one.

use std::path::{Path, PathBuf};

use crate::error::{Failure, Outcome, Place};
use crate::input::{self, BLOCK, Input};
use crate::output::Output;
use crate::work::{Refusal, Work};

/// The longest stretch of a line without a place to cut. It bounds memory use.
const LONGEST: usize = 1 << 20;

/// Passes each file through `work`. `line_end` is what to count to say where an error is.
pub fn run(
    files: &[PathBuf],
    target: Option<&Path>,
    mut work: Work,
    line_end: u8,
) -> Result<Outcome, Failure> {
    let mut output = Output::create(target)?;
    let mut buffer = vec![0; 2 * BLOCK];
    let mut out = Vec::new();
    for path in input::names(files) {
        let mut input = Input::open(path)?;
        output.forbid(input.file(), input.name())?;
        let (mut kept, mut lines) = (0, 0);
        loop {
            if kept + BLOCK > buffer.len() {
                if kept > LONGEST {
                    let place = (input.name(), lines + 1, input.offset() - kept as u64);
                    return Err(too_long(place));
                }
                buffer.resize(kept + 4 * BLOCK, 0);
            }
            let read = input.read(&mut buffer[kept..kept + BLOCK])?;
            let len = kept + read;
            // What was kept holds no place to cut, but an escape may have been completed.
            let looked = kept.saturating_sub(Work::LOOK_BEHIND);
            let cut = match Work::cut(&buffer[looked..len]) {
                _ if read == 0 => len,
                Some(cut) => looked + cut,
                None => 0,
            };
            let piece = &buffer[..cut];
            let start = input.offset() - len as u64;
            let count = |octets| memchr::memchr_iter(line_end, octets).count() as u64;
            if let Err(refusal) = work.apply(piece, &mut out) {
                let offset = refusal.offset();
                work.apply_lenient(&piece[..offset], &mut out);
                output.write(&out)?;
                let place = Place {
                    file: input.name().to_owned(),
                    line: lines + count(&piece[..offset]) + 1,
                    offset: start + offset as u64,
                };
                return Err(match refusal {
                    Refusal::Malformed(escape) => Failure::malformed(place, &escape),
                    _ => unreachable!("only malformed escapes are refused here"),
                });
            }
            output.write(&out)?;
            out.clear();
            lines += count(piece);
            if read == 0 {
                break;
            }
            buffer.copy_within(cut..len, 0);
            kept = len - cut;
        }
    }
    output.commit()?;
    Ok(Outcome::Clean)
}

fn too_long((file, line, offset): (&str, u64, u64)) -> Failure {
    Failure::Usage(format!(
        "{file}:{line}: offset {offset}: {LONGEST} octets in a row without a line end, punctuation or a letter after F"
    ))
}
