//! The options for inputs, outputs and record separators.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};

use crate::common::records::Records;
use crate::io::compression::Format;
use crate::io::files::{Destination, Writes};
use crate::io::names::{Reading, Sources};

pub const INPUT: &str = "Input";
const OUTPUT: &str = "Output";

/// The options that name the inputs.
#[derive(Debug, Args)]
pub struct Files {
    /// Files to read, one after the other; standard input if no file is given, or for `-`. Compressed files (gzip,
    /// zstd, bzip2, xz) are recognised by their first bytes
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub files: Vec<PathBuf>,

    /// Read the files that FILE lists, one name a line; `-` is standard input
    #[arg(long, value_name = "FILE", help_heading = INPUT, value_hint = ValueHint::FilePath, conflicts_with_all = ["files", "files0_from"])]
    pub files_from: Option<PathBuf>,

    /// Like --files-from, but each name ends in NUL, as `find -print0` writes them
    #[arg(long, value_name = "FILE", help_heading = INPUT, value_hint = ValueHint::FilePath, conflicts_with = "files")]
    pub files0_from: Option<PathBuf>,

    /// Read STRING instead of files, as one record; may be given several times
    #[arg(
        short = 'e', long, value_name = "STRING", help_heading = INPUT, allow_hyphen_values = true,
        conflicts_with_all = ["files", "files_from", "files0_from"]
    )]
    pub expression: Vec<OsString>,

    /// Read every file as it is: decompress none, and accept zip archives, UTF-16 and other formats that are rejected
    /// otherwise
    #[arg(long, help_heading = INPUT)]
    pub no_decompress: bool,

    /// Memory limit in MiB, for decompressing one file and for keys [default: 128, 256 for xz, 1024 for keys]
    ///
    /// Files that were compressed with a large window, for example by `zstd --long=31`, need more. Keys of `top` and `dedup` that do not
    /// fit go to temporary files.
    #[arg(long, value_name = "MIB", help_heading = INPUT, value_parser = clap::value_parser!(u32).range(1..=1 << 20))]
    pub memory: Option<u32>,
}

/// The options that name the output.
#[derive(Debug, Args)]
pub struct Target {
    /// Write to FILE, which appears whole or not at all; it may be one of the inputs. The output is compressed if the
    /// name ends in .gz, .zst, .bz2 or .xz
    ///
    /// The new file takes over the mode, the extended attributes and the access lists of the old one, and its owner
    /// if you may give files away. Other names of the old file (hard links) keep the old content, and a message says so. A symbolic
    /// link is followed; a link to a missing file is an error. Devices, pipes, `/dev/stdout`, and the file that standard output or
    /// standard error is redirected to are written to directly.
    #[arg(short, long, value_name = "FILE", help_heading = OUTPUT, value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,

    /// Replace each file by its output, whole or not at all. With SUFFIX (`-i.bak` or `--in-place=.bak`), keep the
    /// old file under its name plus SUFFIX. Compressed files stay compressed
    ///
    /// A file that has that name already is replaced, as `sed -i.bak` does: a second run keeps the output of the first.
    /// If a file changes while it is read, it is left alone and the run reports an error. The new file keeps the same
    /// attributes as with --output.
    #[arg(
        short, long, value_name = "SUFFIX", help_heading = OUTPUT, num_args = 0..=1, require_equals = true, default_missing_value = "",
        conflicts_with_all = ["output", "compress"]
    )]
    pub in_place: Option<String>,

    /// Compress the output in this format; `none` writes a plain file whatever its name
    #[arg(long, value_name = "FORMAT", help_heading = OUTPUT, value_enum)]
    pub compress: Option<Compress>,

    /// The compression level, on the scale of the format: gzip and xz 0-9, zstd 1-22, bzip2 1-9
    #[arg(long, value_name = "N", help_heading = OUTPUT)]
    pub level: Option<u8>,

    /// Do not wait until files are on the disk. This is faster, but a power cut can leave a written file empty
    #[arg(long, help_heading = OUTPUT)]
    pub no_sync: bool,

    /// Show no progress bar
    #[arg(short, long)]
    pub quiet: bool,
}

/// The compression format of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Compress {
    Gzip,
    Zstd,
    Bzip2,
    Xz,
    None,
}

impl Files {
    /// Reports whether an input is named; otherwise standard input is read.
    pub fn is_given(&self) -> bool {
        !self.files.is_empty()
            || self.files_from.is_some()
            || self.files0_from.is_some()
            || !self.expression.is_empty()
    }

    /// Returns the inputs. Each `--expression` becomes one of `records`.
    pub fn sources(self, records: Records) -> Sources {
        let list = match (self.files_from, self.files0_from) {
            (Some(path), _) => Some((path, b'\n')),
            (_, Some(path)) => Some((path, b'\0')),
            _ => None,
        };
        let texts = self.expression;
        let text = (!texts.is_empty()).then(|| {
            let mut joined = Vec::new();
            for text in texts {
                joined.extend_from_slice(text.as_encoded_bytes());
                if records != Records::Raw {
                    joined.push(records.end());
                }
            }
            joined
        });
        let reading = Reading { decompress: !self.no_decompress, memory: self.memory };
        Sources { names: self.files, list, text, reading }
    }
}

impl Target {
    /// Returns the destination of the output.
    pub fn destination(self) -> Destination {
        let format = match self.compress {
            Some(Compress::Gzip) => Some(Format::Gzip),
            Some(Compress::Zstd) => Some(Format::Zstd),
            Some(Compress::Bzip2) => Some(Format::Bzip2),
            Some(Compress::Xz) => Some(Format::Xz),
            Some(Compress::None) => None,
            None => self.output.as_deref().and_then(Format::of_extension),
        };
        let path = self.output.filter(|path| path.as_os_str() != "-");
        let place = match (self.in_place, path) {
            (Some(suffix), _) => Writes::InPlace { suffix },
            (None, Some(path)) => Writes::File { path, format },
            (None, None) => Writes::Stdout { format },
        };
        Destination { place, level: self.level, sync: !self.no_sync, quiet: self.quiet }
    }
}

/// The options that say where records end.
#[derive(Debug, Args)]
pub struct RecordArgs {
    /// Treat the input as bytes without records: line ends are encoded, and %0A and %0D are decoded
    #[arg(long, help_heading = INPUT, conflicts_with_all = ["field", "log", "csv", "jsonl", "logfmt"])]
    raw: bool,

    /// End records with NUL instead of a newline: %00 stays escaped, and line ends are data
    #[arg(short = '0', long, help_heading = INPUT, conflicts_with = "raw")]
    null: bool,
}

impl RecordArgs {
    /// Returns the record separator.
    pub fn records(&self) -> Records {
        match (self.raw, self.null) {
            (true, _) => Records::Raw,
            (_, true) => Records::Null,
            _ => Records::Lines,
        }
    }
}
