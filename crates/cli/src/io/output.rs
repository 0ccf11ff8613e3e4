//! Writes one output: standard output, or a file that appears whole or not at all.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::path::Path;

use super::compression::{self, Encoder, Format};
use super::replacement::{Folders, Replacement};
use super::streams::{self, BlockingFile, Identity, Version, folder};
use crate::common::error::{Failure, Outcome};
use crate::common::shown::shown;

/// The name of standard output in messages.
pub const STDOUT: &str = "<stdout>";

/// One open output. If it is dropped without a commit, it leaves no file, and its compressed stream stays incomplete.
pub struct Output {
    /// The name of the output for messages.
    pub name: String,
    file: Counted,
    /// The compressor; `None` if the output is not compressed.
    encoder: Option<Encoder>,
    /// The identity of the regular file that is written directly or will be replaced; `None` if there is no such
    /// file.
    identity: Option<Identity>,
    /// The version of the file to be replaced, if it is also an input of the run.
    read: Option<Version>,
}

/// An output file or stream, with the number of bytes written to it.
struct Counted {
    place: Place,
    /// The number of bytes written.
    offset: u64,
}

enum Place {
    /// Standard output, or a named device or pipe. Bytes written to it cannot be taken back.
    Direct(File),
    /// A file that appears whole or not at all.
    Atomic(Box<Replacement>),
}

impl Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let len = match &self.place {
            Place::Direct(file) => BlockingFile(file).write(bytes)?,
            // Other threads may write to their reserved ranges of the file at the same time, so this write names its
            // offset and does not use the shared position.
            #[cfg(unix)]
            Place::Atomic(new) => std::os::unix::fs::FileExt::write_at(new.file(), bytes, self.offset)?,
            #[cfg(not(unix))]
            Place::Atomic(new) => new.file().write(bytes)?,
        };
        self.offset += len as u64;
        Ok(len)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A file to which several threads write.
pub struct Shared(#[cfg_attr(not(unix), allow(dead_code, reason = "only Unix writes at an offset"))] File);

impl Shared {
    /// Writes all of `bytes` at offset `place`.
    pub fn write(&self, bytes: &[u8], place: u64) -> io::Result<()> {
        #[cfg(unix)]
        return std::os::unix::fs::FileExt::write_all_at(&self.0, bytes, place);
        #[cfg(not(unix))]
        return Err(io::Error::new(ErrorKind::Unsupported, format!("{} bytes at {place}", bytes.len())));
    }
}

/// The options for an output file.
#[derive(Clone, Copy, Debug)]
pub struct OutputFileOptions<'a> {
    /// The format and level of the compression, if there is any.
    pub compression: Option<(Format, u8)>,
    /// The suffix that the old file's name gets if the old file is kept. If it is empty, the old file is not kept.
    pub suffix: &'a str,
    /// Whether the new file must be on the disk before it gets its name.
    pub sync: bool,
}

impl Output {
    /// Opens standard output, without compression.
    pub fn stdout() -> Result<Output, Failure> {
        Output::create(None, OutputFileOptions { compression: None, suffix: "", sync: false })
    }

    /// Opens standard output if `path` is `None` or `-`, or a stream, device or pipe at `path`. For any other path, makes
    /// a new file that replaces the one at `path` at the end.
    pub fn create(path: Option<&Path>, options: OutputFileOptions<'_>) -> Result<Output, Failure> {
        let (name, file) = match path.filter(|path| path.as_os_str() != "-") {
            None => (STDOUT.to_owned(), streams::stdout()),
            Some(path) => match streams::of_path(path).and_then(|stream| Ok(stream.or(special(path)?))) {
                Ok(None) => return Output::replace(path, options),
                Ok(Some(file)) => (shown(path), Ok(file)),
                Err(error) => (shown(path), Err(error)),
            },
        };
        let file = file.map_err(|error| Failure::open(&name, error))?;
        if options.compression.is_some() && file.is_terminal() {
            return Err(Failure::Usage(
                "compressed output is not for a terminal; name a file with -o".to_owned(),
            ));
        }
        let identity = Version::of(&file).and_then(|version| version.identity);
        Output::new(name, Place::Direct(file), identity, options)
    }

    /// Opens a new file that will replace the one at `path`.
    pub fn replace(path: &Path, options: OutputFileOptions<'_>) -> Result<Output, Failure> {
        let name = shown(path);
        let new = Replacement::create(path, options.suffix, options.sync);
        let (new, identity) = new.map_err(|error| Failure::open(&name, error))?;
        Output::new(name, Place::Atomic(Box::new(new)), identity, options)
    }

    fn new(
        name: String,
        place: Place,
        identity: Option<Identity>,
        options: OutputFileOptions<'_>,
    ) -> Result<Output, Failure> {
        let encoder = options.compression.map(|(format, level)| compression::encoder(format, level));
        let encoder = encoder.transpose().map_err(|error| Failure::open(&name, error))?;
        Ok(Output { name, file: Counted { place, offset: 0 }, encoder, identity, read: None })
    }

    /// Reports whether the output is a file that appears whole or not at all.
    pub fn is_atomic(&self) -> bool {
        matches!(self.file.place, Place::Atomic(_))
    }

    /// Records that the file with this `version` is an input. Fails if the run writes to this file directly, because
    /// the run would read its own output. A file that is replaced at the end of the run may be an input, if it stays
    /// unchanged until then.
    pub fn reads(&mut self, version: Option<&Version>, name: &str) -> Result<(), Failure> {
        match version.filter(|version| self.overwrites(Some(version))) {
            None => {}
            Some(version) if self.is_atomic() => {
                self.read.get_or_insert_with(|| version.clone());
            }
            Some(_) => {
                let message = "the input is the output as well; name it with -o instead";
                return Err(Failure::Usage(format!("{name}: {message}")));
            }
        }
        Ok(())
    }

    /// Reports whether this output writes to the file with this `version`, or will replace it.
    pub fn overwrites(&self, version: Option<&Version>) -> bool {
        self.identity.is_some() && version.and_then(|version| version.identity) == self.identity
    }

    /// Writes all of `bytes`.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        // An empty slice would complete the compressed stream.
        if bytes.is_empty() {
            return Ok(());
        }
        self.pass(bytes)
    }

    /// Writes all of `bytes`, compressed if the output is. An empty slice completes the compressed stream.
    fn pass(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        let result = match &mut self.encoder {
            None => self.file.write_all(bytes),
            Some(encode) => encode(bytes).and_then(|packed| self.file.write_all(&packed)),
        };
        result.map_err(|error| self.failed(self.file.offset, error))
    }

    /// Returns another handle of the new file, if it is not compressed and gets its name only with the commit. Threads
    /// may then write to the offsets that [`Output::reserve`] returns, in any order.
    pub fn shared(&self) -> Option<Shared> {
        match &self.file.place {
            #[cfg(unix)]
            Place::Atomic(new) if self.encoder.is_none() => new.file().try_clone().ok().map(Shared),
            _ => None,
        }
    }

    /// Reserves `len` bytes of the file and returns their offset. The caller must write these bytes to the [`Shared`]
    /// file.
    pub fn reserve(&mut self, len: usize) -> u64 {
        let place = self.file.offset;
        self.file.offset += len as u64;
        place
    }

    /// Returns the failure for an `error` that came from writing at `offset`.
    pub fn failed(&self, offset: u64, error: io::Error) -> Failure {
        Failure::output(&self.name, offset, error)
    }

    /// Completes the output, and replaces the old file by the new one.
    pub fn commit(self) -> Result<(), Failure> {
        let mut folders = Folders::default();
        self.commit_to(&mut folders)?;
        folders.sync()
    }

    /// Commits the file without syncing its folder. The caller syncs the folder once for all files in it; until then
    /// a power failure may lose the name of the file. Returns the identity of the new file.
    pub fn commit_to(mut self, folders: &mut Folders) -> Result<Option<Identity>, Failure> {
        self.pass(&[])?;
        match self.file.place {
            Place::Direct(_) => Ok(None),
            Place::Atomic(new) => new.commit(&self.name, self.file.offset, self.read.as_ref(), folders),
        }
    }
}

/// Writes `text`, which is all that a run prints, to standard output.
pub fn print(text: impl AsRef<[u8]>) -> Result<Outcome, Failure> {
    Output::stdout()?.write(text.as_ref())?;
    Ok(Outcome::Clean)
}

/// Opens the device or pipe at `path`. Returns `None` if the path names neither.
fn special(path: &Path) -> io::Result<Option<File>> {
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => Err(ErrorKind::IsADirectory.into()),
        Ok(metadata) if !metadata.is_file() => OpenOptions::new().write(true).open(path).map(Some),
        // Creating the file will report the error, if there is one.
        _ => Ok(None),
    }
}

/// Reports whether both paths name the same regular file. If neither file exists, reports whether creating both would
/// create one file.
pub fn is_one(a: &Path, b: &Path) -> bool {
    if a.exists() || b.exists() {
        // This comparison opens no pipe, because opening one would wait for the program at its other end.
        let identity = |path: &Path| Version::of_path(path)?.identity;
        return identity(a).is_some_and(|of_a| identity(b) == Some(of_a));
    }
    let folder = |path| fs::canonicalize(folder(path)).ok();
    a.file_name() == b.file_name() && folder(a).is_some_and(|of_a| folder(b) == Some(of_a))
}

/// Reports whether standard output is a terminal that shows colours (no-color.org).
pub fn has_colours() -> bool {
    let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let is_dumb = std::env::var_os("TERM").is_none_or(|terminal| terminal == "dumb");
    io::stdout().is_terminal() && !is_set("NO_COLOR") && !is_dumb
}
