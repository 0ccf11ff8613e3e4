//! Provides the names of inputs: from the arguments, or from a list that is read during the run.

use std::fs::File;
use std::io::{self, BufRead, BufReader, ErrorKind, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};

use super::streams::{self, BlockingFile, Version};
use crate::common::error::Failure;
use crate::common::shown::shown;

/// The name of standard input in messages.
pub const STDIN: &str = "<stdin>";

/// The names of the inputs, and the options for reading them.
#[derive(Clone, Debug)]
pub struct Sources {
    /// The names of files; `-` is standard input.
    pub names: Vec<PathBuf>,
    /// A file that lists the names of the inputs in place of `names`, and the byte that ends each name.
    pub list: Option<(PathBuf, u8)>,
    /// The text from the command line that is the only input, if the user gave one.
    pub text: Option<Vec<u8>>,
    pub reading: Reading,
}

/// The options for reading files.
#[derive(Clone, Copy, Debug)]
pub struct Reading {
    /// Whether compressed files are decompressed. If so, files in unsupported formats are rejected.
    pub decompress: bool,
    /// The memory limit for decompression, in MiB, if the user gave one.
    pub memory: Option<u32>,
}

/// Reports whether `path` means standard input.
pub fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// The length limit for a name in a list of files, in bytes.
const LONGEST_NAME: u64 = 64 * 1024;

/// The names of the inputs, from the arguments or from a list.
#[derive(Default)]
pub struct Names {
    given: std::vec::IntoIter<PathBuf>,
    list: Option<List>,
}

/// A list of names, which may have any length because it is read during the run.
struct List {
    file: BufReader<BlockingFile<File>>,
    name: String,
    is_stdin: bool,
    /// The byte that ends each name.
    end: u8,
    offset: u64,
}

impl Names {
    /// Returns the names of `sources`, or standard input if `sources` is empty.
    pub fn new(sources: &Sources) -> Result<Names, Failure> {
        let Some((path, end)) = &sources.list else {
            let is_stdin = sources.names.is_empty() && sources.text.is_none();
            let names = if is_stdin { vec![PathBuf::from("-")] } else { sources.names.clone() };
            return Ok(Names { given: names.into_iter(), list: None });
        };
        let (name, file, _) = open(path).map_err(Failure::of_list)?;
        let file = BufReader::new(BlockingFile(file));
        let list = List { file, name, is_stdin: is_stdin(path), end: *end, offset: 0 };
        Ok(Names { list: Some(list), ..Names::default() })
    }

    /// Returns the names, or `None` if they come from a list that has not been read yet.
    pub fn known(&self) -> Option<&[PathBuf]> {
        self.list.is_none().then_some(self.given.as_slice())
    }
}

impl Iterator for Names {
    type Item = Result<PathBuf, Failure>;

    fn next(&mut self) -> Option<Result<PathBuf, Failure>> {
        match &mut self.list {
            None => self.given.next().map(Ok),
            Some(list) => list.next().transpose(),
        }
    }
}

impl List {
    /// Reads the next name; `None` at the end of the list.
    fn next(&mut self) -> Result<Option<PathBuf>, Failure> {
        loop {
            let failed = |error| Failure::input(&self.name, self.offset, error).of_list();
            let mut bytes = Vec::new();
            let read = (&mut self.file).take(LONGEST_NAME).read_until(self.end, &mut bytes);
            let len = read.map_err(failed)? as u64;
            if bytes.pop_if(|last| *last == self.end).is_none() && len == LONGEST_NAME {
                let what = "the name is longer than a file name can be";
                return Err(failed(io::Error::new(ErrorKind::InvalidFilename, what)));
            }
            self.offset += len;
            if len == 0 {
                return Ok(None);
            }
            if self.is_stdin && bytes == b"-" {
                let message = "standard input is the list of files, and cannot be one of them";
                return Err(Failure::Usage(message.to_owned()));
            }
            if !bytes.is_empty() {
                return path(bytes).map(Some).map_err(|error| Failure::open(&self.name, error));
            }
        }
    }
}

/// Converts the bytes of a name to a path of the operating system.
#[cfg(unix)]
fn path(bytes: Vec<u8>) -> io::Result<PathBuf> {
    Ok(PathBuf::from(<std::ffi::OsString as std::os::unix::ffi::OsStringExt>::from_vec(bytes)))
}

/// Converts a name to a path of the operating system. The name must be UTF-8, and a carriage return at its end is
/// removed.
#[cfg(not(unix))]
fn path(bytes: Vec<u8>) -> io::Result<PathBuf> {
    let name = String::from_utf8(bytes).map_err(|error| io::Error::new(ErrorKind::InvalidData, error))?;
    Ok(PathBuf::from(name.trim_end_matches('\r')))
}

/// Opens the file `path` or standard input. Returns it, its name for messages, and its version if it is a regular file.
pub fn open(path: &Path) -> Result<(String, File, Option<Version>), Failure> {
    if is_stdin(path) {
        let file = streams::stdin().map_err(|error| Failure::missing(STDIN, error))?;
        if file.is_terminal() && io::stderr().is_terminal() {
            // Without the hint, a user who forgot the input would wait for output in vain.
            let hint = "pct: reading from the terminal; Ctrl-D ends the input, `pct help` shows examples";
            let _ = writeln!(io::stderr(), "{hint}");
        }
        let version = Version::of(&file);
        return Ok((STDIN.to_owned(), file, version));
    }
    let opened = File::open(path).map(|file| (Version::of(&file), file));
    match opened {
        Ok((version @ Some(_), file)) => Ok((shown(path), file, version)),
        // Windows opens no directory, and says that access is denied.
        _ if path.is_dir() => Err(Failure::missing(shown(path), ErrorKind::IsADirectory.into())),
        Ok((None, file)) => Ok((shown(path), file, None)),
        Err(error) => Err(Failure::missing(shown(path), explain(path, error))),
    }
}

/// Adds a hint to `error` if `path` looks like text that was meant as input.
fn explain(path: &Path, error: io::Error) -> io::Error {
    let is_text =
        |name: &str| name.contains(|character| "% ?&<>\"'".contains(character)) || name.contains("://");
    // Windows reports a name with `?` or `"` as invalid and not as missing, because no file can have this name.
    let is_missing = matches!(error.kind(), ErrorKind::NotFound | ErrorKind::InvalidFilename);
    if !is_missing || !path.to_str().is_some_and(is_text) {
        return error;
    }
    // The name is quoted as one word of a shell.
    let text = format!("'{}'", shown(path).replace('\'', "'\\''"));
    let message = format!(
        "No such file or directory; if that is text and not a file: -e {text}, or echo {text} | pct ..."
    );
    io::Error::new(ErrorKind::NotFound, message)
}
