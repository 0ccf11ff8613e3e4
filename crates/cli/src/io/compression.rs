//! Recognises compressed formats and some that `pct` does not read, and compresses output.

use std::io::{self, Write};
use std::ops::RangeInclusive;
use std::path::Path;

/// A compressed format. Several members, frames or streams in one file are read as one text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// gzip (RFC 1952).
    Gzip,
    /// Zstandard (RFC 8878).
    Zstd,
    /// bzip2.
    Bzip2,
    /// xz.
    Xz,
}

/// The properties of a compressed format.
pub struct Traits {
    pub name: &'static str,
    extensions: [&'static str; 2],
    /// The compression levels, numbered as in the format's own command.
    pub levels: RangeInclusive<u8>,
    /// The default compression level of the format's own command.
    pub usual_level: u8,
    /// Whether NUL bytes between and after the members of a file are padding.
    pub has_padding: bool,
}

/// The properties of the formats, in the order of [`Format`].
static TRAITS: [Traits; 4] = [
    Traits { name: "gzip", extensions: ["gz", "gzip"], levels: 0..=9, usual_level: 6, has_padding: true },
    Traits { name: "zstd", extensions: ["zst", "zstd"], levels: 1..=22, usual_level: 3, has_padding: false },
    Traits { name: "bzip2", extensions: ["bz2", "bzip2"], levels: 1..=9, usual_level: 9, has_padding: false },
    Traits { name: "xz", extensions: ["xz", "xz"], levels: 0..=9, usual_level: 6, has_padding: true },
];

/// A guess at the format of a file from its first bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guess {
    /// The file has this format; `None` if the file is not compressed.
    Settled(Option<Format>),
    /// The format is recognised but unsupported, so the file is not processed as text. `remedy` tells the user which
    /// command converts such a file to text.
    Foreign { name: &'static str, remedy: &'static str },
    /// More bytes of the file are needed to decide.
    Open,
}

/// Returns the error for a file that pct cannot read as text. `what` is its format, and `remedy` a command that helps.
pub fn refusal(what: &str, remedy: &str) -> io::Error {
    let message = format!(
        "this is {what}, which pct does not read as text; {remedy}, or --no-decompress reads the file unchanged"
    );
    io::Error::new(io::ErrorKind::InvalidData, message)
}

/// The first bytes of a format, as the lower and upper bounds of each, and the guess for files with these bytes.
struct Signature(&'static [u8], &'static [u8], Guess);

/// Returns the signature of files in the format `format`.
const fn read(least: &'static [u8], most: &'static [u8], format: Format) -> Signature {
    Signature(least, most, Guess::Settled(Some(format)))
}

/// Returns the signature of files in an unsupported format.
const fn foreign(bytes: &'static [u8], name: &'static str, remedy: &'static str) -> Signature {
    Signature(bytes, bytes, Guess::Foreign { name, remedy })
}

const UTF_16: Guess = Guess::Foreign { name: "UTF-16 text", remedy: "iconv -f UTF-16 -t UTF-8 converts it" };

static SIGNATURES: [Signature; 20] = [
    read(b"\x1F\x8B\x08", b"\x1F\x8B\x08", Format::Gzip),
    read(b"\x28\xB5\x2F\xFD", b"\x28\xB5\x2F\xFD", Format::Zstd),
    // Parallel compressors may write a skippable frame first.
    read(b"\x50\x2A\x4D\x18", b"\x5F\x2A\x4D\x18", Format::Zstd),
    // The header of bzip2 is ASCII that a text file may begin with, so the magic number after it is compared as well.
    read(b"BZh1\x31\x41\x59\x26\x53\x59", b"BZh9\x31\x41\x59\x26\x53\x59", Format::Bzip2),
    read(b"BZh1\x17\x72\x45\x38\x50\x90", b"BZh9\x17\x72\x45\x38\x50\x90", Format::Bzip2),
    read(b"\xFD7zXZ\0", b"\xFD7zXZ\0", Format::Xz),
    foreign(b"PK\x03\x04", "a zip archive", "unzip -p writes what is in it"),
    foreign(b"\x04\x22\x4D\x18", "lz4 data", "lz4 -dc decompresses it"),
    foreign(b"\x02\x21\x4C\x18", "lz4 data (legacy)", "lz4 -dc decompresses it"),
    foreign(b"7z\xBC\xAF\x27\x1C", "a 7z archive", "7z x -so writes what is in it"),
    foreign(b"LZIP\x01", "lzip data", "lzip -dc decompresses it"),
    foreign(b"\x1F\x9D", "data of compress (.Z)", "gzip -dc decompresses it"),
    // A byte order mark alone may be the start of other data, so it is compared together with an ASCII character.
    Signature(b"\xFF\xFE\x01\x00", b"\xFF\xFE\xFF\x00", UTF_16),
    Signature(b"\xFE\xFF\x00\x01", b"\xFE\xFF\x00\xFF", UTF_16),
    foreign(
        b"PAR1",
        "a Parquet file",
        "DuckDB and Polars convert its columns, with the functions of simdpct",
    ),
    foreign(b"%PDF-", "a PDF document", "pdftotext writes its text"),
    foreign(b"Rar!\x1A\x07", "a rar archive", "unrar p writes what is in it"),
    foreign(b"SQLite format 3\0", "an SQLite database", "sqlite3 FILE .dump writes it as text"),
    foreign(b"Obj\x01", "an Avro file", "avro-tools tojson writes it as JSON"),
    foreign(b"ARROW1\0", "an Arrow file", "a program that reads Arrow can write CSV or JSON"),
];

/// A tar archive, whose signature is not at its start.
const TAR: Guess = Guess::Foreign { name: "a tar archive", remedy: "tar -xO writes what is in it" };

/// The offset of the signature of tar archives.
const TAR_OFFSET: usize = 257;

/// Reports whether `start` begins with the header of a tar archive: with a signature or, as in tar before POSIX, with
/// only a checksum. The checksum is the octal sum of all bytes of the header, with blanks in place of the checksum.
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

impl Format {
    const ALL: [Format; 4] = [Format::Gzip, Format::Zstd, Format::Bzip2, Format::Xz];

    /// Returns the properties of the format.
    pub fn traits(self) -> &'static Traits {
        &TRAITS[self as usize]
    }

    /// Recognises the format of a file by its first bytes, `start`.
    pub fn guess(start: &[u8]) -> Guess {
        // This check does not ask for more bytes, or every text shorter than a tar header would wait for them.
        if is_tar(start) {
            return TAR;
        }
        let mut guess = Guess::Settled(None);
        for Signature(least, most, found) in &SIGNATURES {
            if start.iter().zip(least.iter().zip(*most)).all(|(x, (a, b))| (a..=b).contains(&x)) {
                if start.len() >= least.len() {
                    return *found;
                }
                guess = Guess::Open;
            }
        }
        guess
    }

    /// Returns the error for data of this format inside a file in the format `outer`.
    pub fn nested(self, outer: Format) -> io::Error {
        let (inner, outer) = (self.traits().name, outer.traits().name);
        let remedy = format!("{outer} -dc decompresses the outer layer");
        refusal(&format!("{inner} data inside {outer} data"), &remedy)
    }

    /// Returns the format that the file name extension of `path` means.
    pub fn of_extension(path: &Path) -> Option<Format> {
        let extension = path.extension()?.to_str()?.to_ascii_lowercase();
        Format::ALL.into_iter().find(|format| format.traits().extensions.contains(&extension.as_str()))
    }

    /// Returns the default memory limit for decompression, in MiB. Files compressed with usual options need less.
    pub fn usual_memory(self) -> u32 {
        // 256 MiB is more than the highest preset of xz needs; 128 MiB is the limit of `zstd -d`.
        if self == Format::Xz { 256 } else { 128 }
    }
}

/// A function that compresses the bytes of each call, and returns the compressed bytes that are ready. A call with an
/// empty slice completes the stream.
pub type Encoder = Box<dyn FnMut(&[u8]) -> io::Result<Vec<u8>> + Send>;

/// Creates a compressor. `level` is one of the levels of `format`.
pub fn encoder(format: Format, level: u8) -> io::Result<Encoder> {
    fn new<E: Write + Send + 'static>(
        mut encoder: E,
        finish: fn(&mut E) -> io::Result<()>,
        ready: fn(&mut E) -> &mut Vec<u8>,
    ) -> Encoder {
        Box::new(move |bytes| {
            if bytes.is_empty() { finish(&mut encoder) } else { encoder.write_all(bytes) }?;
            Ok(std::mem::take(ready(&mut encoder)))
        })
    }
    use {bzip2::write::BzEncoder, flate2::write::GzEncoder, liblzma::write::XzEncoder};
    let (out, number) = (Vec::new(), u32::from(level));
    Ok(match format {
        Format::Gzip => {
            let encoder = GzEncoder::new(out, flate2::Compression::new(number));
            new(encoder, GzEncoder::try_finish, GzEncoder::get_mut)
        }
        Format::Zstd => {
            let encoder = zstd::Encoder::new(out, i32::from(level))?;
            new(encoder, zstd::Encoder::do_finish, zstd::Encoder::get_mut)
        }
        Format::Bzip2 => {
            let encoder = BzEncoder::new(out, bzip2::Compression::new(number));
            new(encoder, BzEncoder::try_finish, BzEncoder::get_mut)
        }
        Format::Xz => new(XzEncoder::new(out, number), XzEncoder::try_finish, XzEncoder::get_mut),
    })
}
