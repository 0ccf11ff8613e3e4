//! Reads the inputs (files, standard input, or text from the command line) in blocks, and decompresses them if asked.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::BLOCK;
use super::compression::{Format, Guess, refusal};
use super::decompress::Decompressor;
use super::names::{self, Names, Reading, Sources};
use super::progress::{self, Progress};
use super::streams::{BlockingFile, Version};
use crate::common::error::Failure;

/// The name in messages of an input that is text from the command line.
const TEXT: &str = "<-e>";

/// The inputs of a run, which are opened one after the other.
pub struct Inputs {
    /// An input that is already open and comes first.
    first: Option<Input>,
    names: Names,
    reading: Reading,
    /// The progress bar, which is hidden before a message is printed.
    progress: Progress,
    /// The treatment of the other inputs if one input cannot be read.
    others: OnUnreadableInput,
    /// The number of inputs so far, including those that could not be opened.
    pub count: u64,
    /// The highest exit code of the inputs that could not be read, or `None` if all could be read.
    code: Option<u8>,
}

/// The treatment of the other inputs if one input cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnUnreadableInput {
    /// The other inputs are processed, so that the output has everything that could be read.
    Done,
    /// The other inputs are only opened, so that every error is reported.
    Opened,
    /// There are no other inputs.
    None,
}

impl Inputs {
    /// Opens the list of the inputs of `sources`, and starts a progress bar. [`Progress::start`] says when there is no bar.
    pub fn open(
        sources: &Sources,
        quiet: bool,
        fills_terminal: bool,
        others: OnUnreadableInput,
    ) -> Result<Inputs, Failure> {
        let names = Names::new(sources)?;
        let progress = Progress::start(names.known(), quiet, fills_terminal);
        let (first, reading) = (sources.text.clone().map(Input::text), sources.reading);
        Ok(Inputs { first, names, reading, progress, others, count: 0, code: None })
    }

    /// Creates a list of inputs with only `input`, which is already open.
    pub fn only(input: Input, reading: Reading) -> Inputs {
        let (names, progress, others) = (Names::default(), Progress::default(), OnUnreadableInput::None);
        Inputs { first: Some(input), names, reading, progress, others, count: 0, code: None }
    }

    /// Calls `work` with each input, until it returns false. If an input cannot be read, its error is reported, and
    /// the remaining inputs are treated as [`OnUnreadableInput`] says.
    pub fn each(&mut self, mut work: impl FnMut(&mut Input) -> Result<bool, Failure>) -> Result<(), Failure> {
        while let Some(input) = self.next() {
            self.count += 1;
            let is_wanted = self.is_wanted();
            match input.and_then(|mut input| if is_wanted { work(&mut input) } else { Ok(true) }) {
                Ok(true) => {}
                Ok(false) => return Ok(()),
                Err(failure @ Failure::Input { .. }) if self.others != OnUnreadableInput::None => {
                    self.progress.hide();
                    self.code = self.code.max(Some(failure.report()));
                }
                Err(failure) => return Err(failure),
            }
        }
        Ok(())
    }

    /// Fails if an input could not be read.
    pub fn outcome(&self) -> Result<(), Failure> {
        self.code.map_or(Ok(()), |code| Err(Failure::Reported { code }))
    }

    fn next(&mut self) -> Option<Result<Input, Failure>> {
        if let Some(input) = self.first.take() {
            return Some(Ok(input));
        }
        let is_wanted = self.is_wanted();
        // If inputs are only opened and not processed, standard input is skipped, because it might wait for the user.
        let named = |name: &Result<PathBuf, Failure>| name.as_ref().is_ok_and(|name| names::is_stdin(name));
        let name = self.names.find(|name| is_wanted || !named(name))?;
        Some(name.and_then(|name| Input::open(&name, self.reading)))
    }

    /// Reports whether the next input is processed, not only opened.
    fn is_wanted(&self) -> bool {
        self.code.is_none() || self.others == OnUnreadableInput::Done
    }
}

/// One open input.
pub struct Input {
    /// The name of the input for messages.
    pub name: String,
    /// The path exactly as the user gave it; empty for text from the command line.
    pub path: PathBuf,
    /// The first bytes of the text. The rest is read from `source`.
    start: Vec<u8>,
    /// The number of bytes of `start` that have been handed out.
    taken: usize,
    source: Source,
    /// The format of the compressed input; `None` if it is not compressed.
    pub format: Option<Format>,
    /// The version of the input file; `None` if it is not a regular file.
    pub version: Option<Version>,
    /// The number of bytes read from this input, after decompression.
    pub offset: u64,
}

/// The source of the bytes after those that were read to recognise the format.
enum Source {
    /// The input is text from the command line, which has no other bytes.
    Text,
    File(File),
    Compressed(Decompressor),
}

impl Input {
    /// Opens the input `path`; `-` is standard input. If `reading` asks for decompression, this fails if the format of the file, or of its
    /// decompressed content, is unsupported, or if the file is compressed twice. Otherwise, any file is read as it is.
    pub fn open(path: &Path, reading: Reading) -> Result<Input, Failure> {
        let (name, file, version) = names::open(path)?;
        let (mut start, mut format) = (Vec::new(), None);
        if reading.decompress {
            let read = |block: &mut [u8]| BlockingFile(&file).read(block).map_err(|error| (0, error));
            format = recognise(&name, &mut start, read)?;
        }
        let source = if let Some(outer) = format {
            let memory = reading.memory.unwrap_or(outer.usual_memory());
            let mut text = Decompressor::spawn(outer, memory, std::mem::take(&mut start), file)
                .map_err(|error| Failure::missing(&name, error))?;
            if let Some(inner) = recognise(&name, &mut start, |block| text.read(block))? {
                return Err(Failure::input(&name, 0, inner.nested(outer)));
            }
            Source::Compressed(text)
        } else {
            progress::advance(start.len());
            Source::File(file)
        };
        Ok(Input { name, path: path.to_owned(), start, taken: 0, source, format, version, offset: 0 })
    }

    /// Creates an input that holds text from the command line.
    fn text(text: Vec<u8>) -> Input {
        let (name, path, source) = (TEXT.to_owned(), PathBuf::new(), Source::Text);
        Input { name, path, start: text, taken: 0, source, format: None, version: None, offset: 0 }
    }

    /// Reports whether the input is text from the command line.
    pub fn is_argument(&self) -> bool {
        matches!(self.source, Source::Text)
    }

    /// Returns the path of the input, or its name in messages if it is no file that the user named.
    pub fn exact_name(&self) -> &[u8] {
        let is_named = !self.is_argument() && !names::is_stdin(&self.path);
        if is_named { self.path.as_os_str().as_encoded_bytes() } else { self.name.as_bytes() }
    }

    /// Skips `prefix` at the current position and reports whether it was there. Returns `None` if too few bytes have
    /// been read to decide.
    pub fn skip(&mut self, prefix: &[u8]) -> Option<bool> {
        let rest = &self.start[self.taken..];
        if rest.starts_with(prefix) {
            self.taken += prefix.len();
            self.offset += prefix.len() as u64;
            return Some(true);
        }
        (rest.len() >= prefix.len() || !prefix.starts_with(rest)).then_some(false)
    }

    /// Reads the available bytes, at most as many as fit in `block`, and returns their number; 0 at the end. The
    /// function does not wait to fill the block, so bytes of a slow producer are processed at once.
    pub fn read(&mut self, block: &mut [u8]) -> Result<usize, Failure> {
        let rest = &self.start[self.taken..];
        let len = match &mut self.source {
            _ if !rest.is_empty() => {
                let taking = block.len().min(rest.len());
                block[..taking].copy_from_slice(&rest[..taking]);
                self.taken += taking;
                taking
            }
            Source::Text => 0,
            Source::File(file) => {
                let len = BlockingFile(&*file)
                    .read(block)
                    .map_err(|error| Failure::input(&self.name, self.offset, error))?;
                progress::advance(len);
                len
            }
            Source::Compressed(decompressor) => decompressor
                .read(block)
                .map_err(|(offset, error)| Failure::input(&self.name, offset, error))?,
        };
        self.offset += len as u64;
        Ok(len)
    }
}

/// Reads bytes of the file `name` into `start`, until they show its format or the file ends. Fails if the format is
/// unsupported. Errors of `read` come with their offsets in the file.
fn recognise(
    name: &str,
    start: &mut Vec<u8>,
    mut read: impl FnMut(&mut [u8]) -> Result<usize, (u64, io::Error)>,
) -> Result<Option<Format>, Failure> {
    let mut len = 0;
    loop {
        start.resize(BLOCK, 0);
        let more = read(&mut start[len..]).map_err(|(offset, error)| Failure::input(name, offset, error))?;
        len += more;
        start.truncate(len);
        match Format::guess(start) {
            Guess::Settled(format) => return Ok(format),
            Guess::Open if more == 0 => return Ok(None),
            Guess::Open => {}
            Guess::Foreign { name: what, remedy } => {
                return Err(Failure::input(name, 0, refusal(what, remedy)));
            }
        }
    }
}
