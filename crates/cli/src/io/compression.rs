//! Recognises, reads and writes compressed formats.

use std::io::{self, Write};
use std::ops::RangeInclusive;
use std::path::Path;

/// A compressed format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// gzip (RFC 1952). Several members are read as one text.
    Gzip,
    /// Zstandard (RFC 8878). Several frames are read as one text.
    Zstd,
    /// bzip2. Several streams are read as one text.
    Bzip2,
    /// xz. Several streams are read as one text.
    Xz,
}

/// A guess at the format of a file from its first bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guess {
    /// The file has this format, or is not compressed.
    Settled(Option<Format>),
    /// The file has an unsupported format.
    Foreign(&'static Foreign),
    /// More bytes of the file are needed to decide.
    Open,
}

/// An unsupported format. It is recognised so that its bytes are not processed as text.
#[derive(Debug, PartialEq, Eq)]
pub struct Foreign {
    name: &'static str,
    /// The command that converts such a file to text, in words for the error message.
    remedy: &'static str,
    /// The first bytes of a file in this format. `None` means any byte except NUL.
    signature: &'static [Option<u8>],
}

impl Foreign {
    /// Returns the error for a file in this format.
    pub fn refusal(&self) -> io::Error {
        refusal(self.name, self.remedy)
    }
}

/// Returns the error for a file that is `what`. `remedy` names a command that helps.
fn refusal(what: &str, remedy: &str) -> io::Error {
    let message = format!(
        "this is {what}, which pct does not read as text; {remedy}, or --no-decompress reads the file unchanged"
    );
    io::Error::new(io::ErrorKind::InvalidData, message)
}

macro_rules! bytes {
    ($($byte:expr)*) => { &[$(Some($byte)),*] };
}

/// The unsupported formats. UTF-16 is recognised by its byte order mark together with an ASCII character, because the mark
/// alone may be the start of other data.
static FOREIGN: [Foreign; 14] = [
    Foreign {
        name: "a zip archive",
        remedy: "unzip -p writes what is in it",
        signature: bytes!(b'P' b'K' 3 4),
    },
    Foreign { name: "lz4 data", remedy: "lz4 -dc decompresses it", signature: bytes!(0x04 0x22 0x4D 0x18) },
    Foreign {
        name: "lz4 data (legacy)",
        remedy: "lz4 -dc decompresses it",
        signature: bytes!(0x02 0x21 0x4C 0x18),
    },
    Foreign {
        name: "a 7z archive",
        remedy: "7z x -so writes what is in it",
        signature: bytes!(b'7' b'z' 0xBC 0xAF 0x27 0x1C),
    },
    Foreign {
        name: "lzip data",
        remedy: "lzip -dc decompresses it",
        signature: bytes!(b'L' b'Z' b'I' b'P' 1),
    },
    Foreign {
        name: "data of compress (.Z)",
        remedy: "gzip -dc decompresses it",
        signature: bytes!(0x1F 0x9D),
    },
    Foreign {
        name: "UTF-16 text",
        remedy: "iconv -f UTF-16 -t UTF-8 converts it",
        signature: &[Some(0xFF), Some(0xFE), None, Some(0)],
    },
    Foreign {
        name: "UTF-16 text",
        remedy: "iconv -f UTF-16 -t UTF-8 converts it",
        signature: &[Some(0xFE), Some(0xFF), Some(0), None],
    },
    Foreign {
        name: "a Parquet file",
        remedy: "DuckDB and Polars convert its columns, with the functions of simdpct",
        signature: bytes!(b'P' b'A' b'R' b'1'),
    },
    Foreign {
        name: "a PDF document",
        remedy: "pdftotext writes its text",
        signature: bytes!(b'%' b'P' b'D' b'F' b'-'),
    },
    Foreign {
        name: "a rar archive",
        remedy: "unrar p writes what is in it",
        signature: bytes!(b'R' b'a' b'r' b'!' 0x1A 7),
    },
    Foreign {
        name: "an SQLite database",
        remedy: "sqlite3 FILE .dump writes it as text",
        signature: bytes!(b'S' b'Q' b'L' b'i' b't' b'e' b' ' b'f' b'o' b'r' b'm' b'a' b't' b' ' b'3' 0),
    },
    Foreign {
        name: "an Avro file",
        remedy: "avro-tools tojson writes it as JSON",
        signature: bytes!(b'O' b'b' b'j' 1),
    },
    Foreign {
        name: "an Arrow file",
        remedy: "a program that reads Arrow can write CSV or JSON",
        signature: bytes!(b'A' b'R' b'R' b'O' b'W' b'1' 0),
    },
];

/// A tar archive, whose signature is not at its start.
static TAR: Foreign = Foreign {
    name: "a tar archive",
    remedy: "tar -xO writes what is in it",
    signature: bytes!(b'u' b's' b't' b'a' b'r'),
};

/// The offset of the signature of tar archives.
const TAR_OFFSET: usize = 257;

/// Reports whether `start` begins with the header of a tar archive: with a signature, or with a checksum only, as tar wrote it before
/// POSIX. The checksum is an octal number, the sum of the bytes of the header with blanks in the place of the checksum.
fn is_tar(start: &[u8]) -> bool {
    if start.get(TAR_OFFSET..).is_some_and(|rest| rest.starts_with(b"ustar")) && start.contains(&0) {
        return true;
    }
    let Some(header) = start.first_chunk::<512>() else { return false };
    let digits = std::str::from_utf8(&header[148..156]).unwrap_or_default();
    let checksum = u32::from_str_radix(digits.trim_matches([' ', '\0']), 8);
    let sum: u32 =
        header[..148].iter().chain(&[b' '; 8]).chain(&header[156..]).map(|byte| u32::from(*byte)).sum();
    checksum == Ok(sum) && header.contains(&0)
}

/// The memory limit for decompression.
#[derive(Clone, Copy, Debug)]
pub struct Memory {
    /// The limit in MiB.
    pub limit: u32,
}

impl Memory {
    /// Returns the limit that the user gave, or else a default that is enough for files compressed with usual
    /// options.
    pub fn new(format: Format, asked: Option<u32>) -> Memory {
        // 256 MiB is more than the highest preset of xz needs; 128 MiB is the limit of `zstd -d`.
        let usual = if format == Format::Xz { 256 } else { 128 };
        Memory { limit: asked.unwrap_or(usual) }
    }
}

/// The first bytes of each format, as lower and upper bounds of each byte. The header of bzip2 is ASCII that a text
/// file may begin with, so the magic number after it is compared as well.
const SIGNATURES: [(Format, &[u8], &[u8]); 6] = [
    (Format::Gzip, b"\x1F\x8B\x08", b"\x1F\x8B\x08"),
    (Format::Zstd, b"\x28\xB5\x2F\xFD", b"\x28\xB5\x2F\xFD"),
    // Parallel compressors may write a skippable frame first.
    (Format::Zstd, b"\x50\x2A\x4D\x18", b"\x5F\x2A\x4D\x18"),
    (Format::Bzip2, b"BZh1\x31\x41\x59\x26\x53\x59", b"BZh9\x31\x41\x59\x26\x53\x59"),
    (Format::Bzip2, b"BZh1\x17\x72\x45\x38\x50\x90", b"BZh9\x17\x72\x45\x38\x50\x90"),
    (Format::Xz, b"\xFD7zXZ\0", b"\xFD7zXZ\0"),
];

impl Format {
    /// Recognises the format of a file by its first bytes, `start`.
    pub fn guess(start: &[u8]) -> Guess {
        let mut guess = Guess::Settled(None);
        // A shorter start is not held back for this, because files of text would wait for it, too.
        if is_tar(start) {
            return Guess::Foreign(&TAR);
        }
        for (format, least, most) in SIGNATURES {
            let is_like = start.iter().zip(least.iter().zip(most)).all(|(x, (a, b))| (a..=b).contains(&x));
            if is_like && start.len() >= least.len() {
                return Guess::Settled(Some(format));
            }
            if is_like {
                guess = Guess::Open;
            }
        }
        for foreign in &FOREIGN {
            let is_like =
                |(byte, wanted): (&u8, &Option<u8>)| wanted.map_or(*byte != 0, |wanted| *byte == wanted);
            if start.iter().zip(foreign.signature).all(is_like) {
                if start.len() >= foreign.signature.len() {
                    return Guess::Foreign(foreign);
                }
                guess = Guess::Open;
            }
        }
        guess
    }

    /// Returns the error for text of this format inside a file in the format `outer`.
    pub fn nested(self, outer: Format) -> io::Error {
        let (inner, outer) = (self.name(), outer.name());
        refusal(
            &format!("{inner} data inside {outer} data"),
            &format!("{outer} -dc decompresses the outer layer"),
        )
    }

    /// Returns the format that the file name extension of `path` means.
    pub fn of_extension(path: &Path) -> Option<Format> {
        match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "gz" | "gzip" => Some(Format::Gzip),
            "zst" | "zstd" => Some(Format::Zstd),
            "bz2" | "bzip2" => Some(Format::Bzip2),
            "xz" => Some(Format::Xz),
            _ => None,
        }
    }

    /// Returns the name of the format.
    pub fn name(self) -> &'static str {
        match self {
            Format::Gzip => "gzip",
            Format::Zstd => "zstd",
            Format::Bzip2 => "bzip2",
            Format::Xz => "xz",
        }
    }

    /// Returns the compression levels, numbered as in the format's own command.
    pub fn levels(self) -> RangeInclusive<u8> {
        match self {
            Format::Gzip | Format::Xz => 0..=9,
            Format::Zstd => 1..=22,
            Format::Bzip2 => 1..=9,
        }
    }

    /// Returns the default compression level of the format's own command.
    pub fn usual_level(self) -> u8 {
        match self {
            Format::Gzip | Format::Xz => 6,
            Format::Zstd => 3,
            Format::Bzip2 => 9,
        }
    }

    /// Reports whether NUL bytes between and after the members of a file are padding.
    pub fn has_padding(self) -> bool {
        matches!(self, Format::Gzip | Format::Xz)
    }

    /// Converts an `error` that came from reading compressed data to one with a message for the user.
    pub fn explain(self, error: io::Error, memory: Memory) -> io::Error {
        // Errors of the operating system are about the file, all others about its content.
        if error.raw_os_error().is_some() {
            return error;
        }
        let (kind, name, text) = (error.kind(), self.name(), error.to_string());
        let message = match kind {
            io::ErrorKind::UnexpectedEof => format!("the {name} data end too early"),
            // libzstd and liblzma report too little memory only by these messages.
            _ if text.contains("too much memory") || text.contains("memory limit reached") => {
                format!(
                    "decompressing the {name} data needs more memory than {} MiB; --memory allows more",
                    memory.limit
                )
            }
            io::ErrorKind::InvalidFilename => format!("there is garbage after the {name} data"),
            _ => format!("corrupt {name} data: {text}"),
        };
        io::Error::new(kind, message)
    }
}

/// A compressor that writes to `W`. [`Writer::finish`] completes the stream.
pub enum Writer<W: Write> {
    Gzip(flate2::write::GzEncoder<W>),
    Zstd(zstd::Encoder<'static, W>),
    Bzip2(bzip2::write::BzEncoder<W>),
    Xz(liblzma::write::XzEncoder<W>),
}

impl<W: Write> Writer<W> {
    /// Creates a compressor that writes to `inner`. `level` is one of [`Format::levels`].
    pub fn new(format: Format, level: u8, inner: W) -> io::Result<Writer<W>> {
        let number = u32::from(level);
        Ok(match format {
            Format::Gzip => {
                Writer::Gzip(flate2::write::GzEncoder::new(inner, flate2::Compression::new(number)))
            }
            Format::Zstd => Writer::Zstd(zstd::Encoder::new(inner, i32::from(level))?),
            Format::Bzip2 => {
                Writer::Bzip2(bzip2::write::BzEncoder::new(inner, bzip2::Compression::new(number)))
            }
            Format::Xz => Writer::Xz(liblzma::write::XzEncoder::new(inner, number)),
        })
    }

    /// Writes all of `bytes`.
    pub fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Writer::Gzip(encoder) => encoder.write_all(bytes),
            Writer::Zstd(encoder) => encoder.write_all(bytes),
            Writer::Bzip2(encoder) => encoder.write_all(bytes),
            Writer::Xz(encoder) => encoder.write_all(bytes),
        }
    }

    /// Completes the compressed stream.
    pub fn finish(&mut self) -> io::Result<()> {
        match self {
            Writer::Gzip(encoder) => encoder.try_finish(),
            Writer::Zstd(encoder) => encoder.do_finish(),
            Writer::Bzip2(encoder) => encoder.try_finish(),
            Writer::Xz(encoder) => encoder.try_finish(),
        }
    }

    /// Completes the compressed stream and returns the inner writer.
    pub fn into_inner(self) -> io::Result<W> {
        match self {
            Writer::Gzip(encoder) => encoder.finish(),
            Writer::Zstd(encoder) => encoder.finish(),
            Writer::Bzip2(encoder) => encoder.finish(),
            Writer::Xz(encoder) => encoder.finish(),
        }
    }

    /// Returns the inner writer.
    pub fn get_ref(&self) -> &W {
        match self {
            Writer::Gzip(encoder) => encoder.get_ref(),
            Writer::Zstd(encoder) => encoder.get_ref(),
            Writer::Bzip2(encoder) => encoder.get_ref(),
            Writer::Xz(encoder) => encoder.get_ref(),
        }
    }

    /// Returns the inner writer.
    pub fn get_mut(&mut self) -> &mut W {
        match self {
            Writer::Gzip(encoder) => encoder.get_mut(),
            Writer::Zstd(encoder) => encoder.get_mut(),
            Writer::Bzip2(encoder) => encoder.get_mut(),
            Writer::Xz(encoder) => encoder.get_mut(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guess_waits_only_for_what_may_be_a_signature() {
        for (start, guess) in [
            (&b""[..], Guess::Open),
            (b"\x1F", Guess::Open),
            (b"\x1F\x8B\x08", Guess::Settled(Some(Format::Gzip))),
            (b"\x1F\x8B\x07", Guess::Settled(None)),
            (b"BZh9", Guess::Open),
            (b"BZh9 is text", Guess::Settled(None)),
            (b"BZh91AY&SY", Guess::Settled(Some(Format::Bzip2))),
            (b"BZh0", Guess::Settled(None)),
            (b"\x5A\x2A\x4D\x18", Guess::Settled(Some(Format::Zstd))),
            (b"\x60\x2A\x4D\x18", Guess::Settled(None)),
            (b"https://", Guess::Settled(None)),
            (b"PK", Guess::Open),
            (b"PK\x03\x04", Guess::Foreign(&FOREIGN[0])),
            (b"PA", Guess::Open),
            (b"PAR1", Guess::Foreign(&FOREIGN[8])),
            (b"PART", Guess::Settled(None)),
            (b"\xFF\xFEa", Guess::Open),
            (b"\xFF\xFEa\0", Guess::Foreign(&FOREIGN[6])),
            (b"\xFF\xFE\0\0", Guess::Settled(None)),
        ] {
            assert_eq!(Format::guess(start), guess, "{}", start.escape_ascii());
        }
    }
}
