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

    /// Reports whether rsyslog wrote `line` to a file, with controls escaped. Messages from the network begin with `<`.
    pub(crate) fn is_rsyslog(self, line: &[u8]) -> bool {
        self == Wrapper::Syslog && line.first() != Some(&b'<')
    }
}

/// A reader of the lines of a logger in one file.
#[derive(Clone, Debug)]
pub(crate) struct Lines {
    pub wrapper: Wrapper,
    /// Whether the last record of stdout, and that of stderr, was a part of a line that goes on in the next one.
    goes_on: [bool; 2],
    /// The reader of Docker's documents.
    json: json::Reader,
}

impl Lines {
    /// Returns a reader that is at the start of a file.
    pub fn new(wrapper: Wrapper) -> Lines {
        let paths = ["log", "stream"].iter().flat_map(|name| name.parse()).collect();
        Lines { wrapper, goes_on: [false; 2], json: json::Reader::new(paths, Vec::new()) }
    }

    /// Returns the place of the program's record in `line`. A part of a longer line is unreadable.
    pub fn find(&mut self, line: &[u8]) -> Result<Place, Unreadable> {
        let (range, escaping, stream, goes_on) = match self.wrapper {
            Wrapper::Cri => cri(line)?,
            Wrapper::Docker => docker(line, &mut self.json)?,
            Wrapper::Syslog => match syslog(line) {
                // A message in UTF-8 can begin with a byte order mark (RFC 5424, section 6.4).
                Some(start) => {
                    let mark = if line[start..].starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 };
                    (start + mark..line.len(), Escaping::None, 0, false)
                }
                None => return unreadable(0, Reason::NO_PREFIX),
            },
        };
        // The last part is marked like a whole line, but begins where a client may have chosen.
        if std::mem::replace(&mut self.goes_on[stream], goes_on) || goes_on {
            return unreadable(range.start, Reason::PART);
        }
        Ok(Place::new(range, 0, escaping, ByteSet::EMPTY))
    }
}

/// The place of a record with its escaping, the number of its stream, and whether its line goes on in the next record.
pub(crate) type Found = (Range<usize>, Escaping, usize, bool);

pub(crate) fn cri(line: &[u8]) -> Result<Found, Unreadable> {
    let mut words = line.splitn(4, |&byte| byte == b' ');
    match [(); 4].map(|()| words.next()) {
        [Some(time), Some(stream @ (b"stdout" | b"stderr")), Some(tag), Some(text)] if is_time(time) => {
            let range = line.len() - text.len()..line.len();
            // The tag can have further words after a colon.
            let goes_on = !matches!(tag, [b'F'] | [b'F', b':', ..]);
            Ok((range, Escaping::None, usize::from(stream == b"stderr"), goes_on))
        }
        _ => unreadable(0, Reason::NO_PREFIX),
    }
}

fn docker(line: &[u8], json: &mut json::Reader) -> Result<Found, Unreadable> {
    json.read_once(line, Escaping::Json)?;
    let string = |path| json.found.iter().find(|found| found.path == path).map(|found| found.range.clone());
    let Some(range) = string(0) else { return unreadable(0, Reason::NO_PREFIX) };
    let is_stderr = string(1).is_some_and(|stream| &line[stream] == b"stderr");
    // Only the last part of a line ends in `\n`. In `\\n`, the backslash is escaped.
    let backslashes = |text: &[u8]| text.iter().rev().take_while(|&&byte| byte == b'\\').count();
    let goes_on = line[range.clone()].strip_suffix(b"n").is_none_or(|text| backslashes(text) % 2 == 0);
    Ok((range, Escaping::Json, usize::from(is_stderr), goes_on))
}

/// Reports whether `word` is a time such as `2026-11-27T15:38:10.123Z`.
fn is_time(word: &[u8]) -> bool {
    word.len() >= 20 && word[0].is_ascii_digit() && word[10] == b'T' && word[13] == b':'
}

/// Returns the length of the structured data at the start of `text`, if a blank follows it (RFC 5424, section 6.3).
fn data_len(text: &[u8]) -> Option<usize> {
    let (mut at, mut is_quoted) = (0, false);
    loop {
        match text[at..] {
            [b']', b' ', ..] if !is_quoted => return Some(at + 1),
            [b'\\', _, ..] if is_quoted => at += 1,
            [b'"', ..] => is_quoted = !is_quoted,
            [] => return None,
            _ => {}
        }
        at += 1;
    }
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
            [b'[', ..] => Some(at + data_len(rest)? + 1),
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
