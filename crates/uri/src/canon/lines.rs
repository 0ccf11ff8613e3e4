//! Makes each line of a text canonical. A kernel proves that most lines are canonical already, and these are copied.

use alloc::vec::Vec;

use simdpct::Tier;

use super::{CanonicalizeError, Form, Profile};
use crate::kernel::scan::Unproven;
use crate::parts::split;

/// Runs [`Profile::canonicalize_lines`] with the kernels of `tier`.
pub fn canonicalize_lines_on(
    tier: Tier,
    profile: Profile,
    text: &[u8],
    out: &mut Vec<u8>,
    mut rejected: impl FnMut(usize, CanonicalizeError),
) {
    out.reserve(text.len());
    let prove = match profile.row().form {
        Form::Bytes(append) => return append(text, Some(b'\n'), out),
        Form::Url(prove, _) => prove,
    };
    let mut append_line = |start: usize, end: usize, slash_missing: bool, out: &mut Vec<u8>| {
        let line = &text[start..end];
        if slash_missing {
            let (before, after) = line.split_at(split(line).offsets().path_start);
            return [before, b"/", after].iter().for_each(|part| out.extend_from_slice(part));
        }
        let (url, line_end) = line.split_at(line.len() - usize::from(line.last() == Some(&b'\r')));
        if let Err(error) = profile.append_unproven(url, out) {
            out.extend_from_slice(url);
            rejected(start, error);
        }
        out.extend_from_slice(line_end);
    };
    let mut unproven = Vec::new();
    // If hardly a line is canonical, proofs only take time. So the kernel runs on only one chunk in `period`.
    let (mut turn, mut period) = (0, 1);
    let mut at = 0;
    while at < text.len() {
        let end = chunk_end(text, at);
        unproven.clear();
        let chunk = &text[at..end];
        turn = (turn + 1) % period;
        if turn != 0 || !prove.is_some_and(|prove| prove(tier, chunk, &mut unproven)) {
            let mut start = at;
            for lf in memchr::memchr_iter(b'\n', chunk) {
                append_line(start, at + lf, false, out);
                out.push(b'\n');
                start = at + lf + 1;
            }
            if start < end {
                append_line(start, end, false, out);
            }
            at = end;
            continue;
        }
        let (mut done, mut slow) = (at, 0);
        for &Unproven { end, slash_missing } in &unproven {
            let end = at + end;
            let start = memchr::memrchr(b'\n', &text[done..end]).map_or(done, |lf| done + lf + 1);
            out.extend_from_slice(&text[done..start]);
            append_line(start, end, slash_missing, out);
            slow += if slash_missing { 0 } else { end - start + 1 };
            done = end;
        }
        period = if slow > chunk.len() / 8 * 7 { (2 * period).min(16) } else { 1 };
        out.extend_from_slice(&text[done..end]);
        at = end;
    }
}

/// Returns the end of the chunk of whole lines that starts at `at`. A chunk has at most 16 KiB, which fits into a first-level
/// cache, unless it is a single longer line.
fn chunk_end(text: &[u8], at: usize) -> usize {
    const CHUNK: usize = 16 * 1024;

    let Some(chunk) = text.get(at..at + CHUNK) else { return text.len() };
    if let Some(last) = memchr::memrchr(b'\n', chunk) {
        return at + last + 1;
    }
    memchr::memchr(b'\n', &text[at + CHUNK..]).map_or(text.len(), |lf| at + CHUNK + lf + 1)
}
