//! Charsets: bytes to UTF-8 and back, as the Encoding Standard says.

use encoding_rs::{DecoderResult, EncoderResult, Encoding};

use super::options::OnFault;
use crate::ground::escape::escape;

/// A charset in which ASCII bytes are ASCII characters, as they are in URLs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Charset(&'static Encoding);

/// The names of all charsets; most have other labels as well.
pub const NAMES: &[&str] = &[
    "big5",
    "euc-jp",
    "euc-kr",
    "gb18030",
    "gbk",
    "ibm866",
    "iso-8859-2",
    "iso-8859-3",
    "iso-8859-4",
    "iso-8859-5",
    "iso-8859-6",
    "iso-8859-7",
    "iso-8859-8",
    "iso-8859-8-i",
    "iso-8859-10",
    "iso-8859-13",
    "iso-8859-14",
    "iso-8859-15",
    "iso-8859-16",
    "koi8-r",
    "koi8-u",
    "latin1",
    "macintosh",
    "shift_jis",
    "utf-8",
    "windows-874",
    "windows-1250",
    "windows-1251",
    "windows-1252",
    "windows-1253",
    "windows-1254",
    "windows-1255",
    "windows-1256",
    "windows-1257",
    "windows-1258",
    "x-mac-cyrillic",
    "x-user-defined",
];

impl Charset {
    /// The charset with this label, or what to tell the person.
    pub fn find(label: &str) -> Result<Charset, String> {
        match Encoding::for_label(label.as_bytes()) {
            Some(encoding) if encoding.is_ascii_compatible() => Ok(Charset(encoding)),
            Some(_) => Err(format!(
                "charset '{label}' cannot stand in a URL, because ASCII is not part of it as it is"
            )),
            None => {
                let label_lower = label.to_ascii_lowercase();
                let mut ranked: Vec<_> =
                    NAMES.iter().map(|name| (strsim::jaro_winkler(&label_lower, name), *name)).collect();
                ranked.sort_by(|(a, _), (b, _)| b.total_cmp(a));
                let similar: Vec<_> = ranked
                    .into_iter()
                    .filter(|(likeness, _)| *likeness >= 0.8)
                    .map(|(_, name)| name)
                    .collect();
                Err(match similar.is_empty() {
                    false => format!(
                        "unknown charset '{label}'; similar: {}",
                        similar[..similar.len().min(4)].join(", ")
                    ),
                    true => format!("unknown charset '{label}'; known: {}", NAMES.join(", ")),
                })
            }
        }
    }

    /// Appends `bytes` as UTF-8. `on_invalid` says what becomes of those that are nothing in this charset: they
    /// are escaped, refused, or replaced by U+FFFD. An error is the offset of the first.
    pub fn decode(self, bytes: &[u8], on_invalid: OnFault, out: &mut Vec<u8>) -> Result<(), usize> {
        if Encoding::ascii_valid_up_to(bytes) == bytes.len() {
            out.extend_from_slice(bytes);
            return Ok(());
        }
        let mut decoder = self.0.new_decoder_without_bom_handling();
        let (mut read, mut written) = (0, out.len());
        let mut escapes = Vec::new();
        loop {
            make_room(out, written, bytes.len() - read);
            let (result, more_read, more_written) =
                decoder.decode_to_utf8_without_replacement(&bytes[read..], &mut out[written..], true);
            read += more_read;
            written += more_written;
            match result {
                DecoderResult::InputEmpty => break,
                DecoderResult::OutputFull => {}
                DecoderResult::Malformed(len, after) => {
                    // The decoder remembers what it has read after them.
                    let end = read - usize::from(after);
                    let start = end - usize::from(len);
                    make_room(out, written, bytes.len() - read);
                    let instead = match on_invalid {
                        OnFault::Refuse => return Err(start),
                        OnFault::Keep => {
                            escapes.clear();
                            escape(&bytes[start..end], &mut escapes);
                            &escapes
                        }
                        OnFault::Repair => "\u{fffd}".as_bytes(),
                    };
                    out[written..written + instead.len()].copy_from_slice(instead);
                    written += instead.len();
                }
            }
        }
        out.truncate(written);
        Ok(())
    }

    /// Appends the bytes of `text`, up to the first character that the charset lacks: that one and the rest.
    pub fn encode<'a>(self, text: &'a str, out: &mut Vec<u8>) -> Option<(char, &'a str)> {
        let mut encoder = self.0.new_encoder();
        let mut rest = text;
        let mut written = out.len();
        let lacking = loop {
            make_room(out, written, rest.len());
            let (result, read, more) =
                encoder.encode_from_utf8_without_replacement(rest, &mut out[written..], true);
            written += more;
            rest = &rest[read..];
            match result {
                EncoderResult::InputEmpty => break None,
                EncoderResult::OutputFull => {}
                EncoderResult::Unmappable(character) => break Some((character, rest)),
            }
        };
        out.truncate(written);
        lacking
    }
}

/// Makes room in `out`, behind what is `written`, for what becomes of the `rest`: a little at a time, because room is
/// filled, and what is lacking in a charset may end a stretch at any byte.
fn make_room(out: &mut Vec<u8>, written: usize, rest: usize) {
    let room = (3 * rest).clamp(LEAST_ROOM, MOST_ROOM);
    if out.len() < written + room / 2 {
        out.resize(written + room, 0);
    }
}

/// Twice what a character, or the escapes of what is none, may take.
const LEAST_ROOM: usize = 64;
const MOST_ROOM: usize = 4096;
