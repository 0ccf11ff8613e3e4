//! Takes the record of a program out of the line of a logger: Kubernetes, Docker, and syslog.

use std::ops::Range;

use memchr::memchr;
use simdpct::ByteSet;

use crate::escaping::Escaping;
use crate::json;
use crate::place::{Place, Reason, Unreadable, unreadable};

/// The logger that wrote the lines of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Wrapper {
    /// Kubernetes (CRI): a time, the stream, and `F`, or `P` for a part of a longer line.
    Cri,
    /// Docker's json-file: the line is the string `log` of a JSON object.
    Docker,
    /// syslog: RFC 3164, RFC 5424, and the files of rsyslog.
    Syslog,
}

/// The months of RFC 3164.
const MONTHS: &[u8] = b"JanFebMarAprMayJunJulAugSepOctNovDec";

impl Wrapper {
    /// Every wrapper with its name.
    pub const ALL: [(Wrapper, &'static str); 3] =
        [(Wrapper::Cri, "cri"), (Wrapper::Docker, "docker"), (Wrapper::Syslog, "syslog")];

    /// Returns the place of the program's record in `line`.
    pub(crate) fn find(self, line: &[u8]) -> Result<Place, Unreadable> {
        let (range, escaping) = match self {
            Wrapper::Cri => (cri(line)?, Escaping::None),
            Wrapper::Docker => (docker(line)?, Escaping::Json),
            Wrapper::Syslog => match syslog(line) {
                Some(start) => (start..line.len(), Escaping::None),
                None => return unreadable(0, Reason::NO_PREFIX),
            },
        };
        Ok(Place::new(range, 0, escaping, ByteSet::EMPTY))
    }

    /// Reports whether rsyslog wrote `line` to a file, with controls escaped. Messages from the network begin with `<`.
    pub(crate) fn is_rsyslog(self, line: &[u8]) -> bool {
        self == Wrapper::Syslog && line.first() != Some(&b'<')
    }
}

fn cri(line: &[u8]) -> Result<Range<usize>, Unreadable> {
    let mut words = line.splitn(4, |&byte| byte == b' ');
    match [(); 4].map(|()| words.next()) {
        [Some(time), Some(b"stdout" | b"stderr"), Some(tag), Some(text)] if is_time(time) => {
            let start = line.len() - text.len();
            // The tag can have further parts after a colon.
            match tag {
                [b'F'] | [b'F', b':', ..] => Ok(start..line.len()),
                _ => unreadable(start - 2, Reason::PART),
            }
        }
        _ => unreadable(0, Reason::NO_PREFIX),
    }
}

fn docker(line: &[u8]) -> Result<Range<usize>, Unreadable> {
    let mut reader = json::Reader::new("log".parse().into_iter().collect(), Vec::new());
    reader.read_once(line, Escaping::Json)?;
    match reader.found.pop() {
        Some(found) => Ok(found.range),
        None => unreadable(0, Reason::NO_PREFIX),
    }
}

/// Reports whether `word` is a time such as `2026-11-27T15:38:10.123Z`.
fn is_time(word: &[u8]) -> bool {
    word.len() >= 20 && word[0].is_ascii_digit() && word[10] == b'T' && word[13] == b':'
}

/// Returns the start of the message in a line of syslog.
fn syslog(line: &[u8]) -> Option<usize> {
    let mut at = 0;
    if line.first() == Some(&b'<') {
        at = memchr(b'>', line.get(..5)?)? + 1;
    }
    let word = |at: usize| Some((at, at + memchr(b' ', line.get(at..)?)?));
    if line[at..].starts_with(b"1 ") {
        // In RFC 5424, five words come before the structured data: time, host, program, process and kind of message.
        at += 2;
        for _ in 0..5 {
            at = word(at)?.1 + 1;
        }
        let rest = &line[at..];
        return match rest {
            [b'-', b' ', ..] => Some(at + 2),
            [b'[', ..] => Some(at + memchr::memmem::find(rest, b"] ")? + 2),
            _ => None,
        };
    }
    let (start, end) = word(at)?;
    at = if is_time(&line[start..end]) {
        end + 1
    } else if end == start + 3 && MONTHS.chunks(3).any(|month| month == &line[start..end]) {
        // The day can be one digit after a blank.
        start + b"Nov 27 15:38:10 ".len()
    } else {
        return None;
    };
    // Next come the host, which HAProxy leaves out, and the tag of the program.
    let (start, end) = word(at)?;
    let is_tag = |start: usize, end: usize| line[start..end].ends_with(b":");
    if is_tag(start, end) {
        return Some(end + 1);
    }
    let (start, end) = word(end + 1)?;
    is_tag(start, end).then_some(end + 1)
}
