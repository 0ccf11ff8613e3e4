//! Writes the file of `--rejects`, which lists the rejected values.

use std::fmt::{self, Write};
use std::path::Path;

use crate::common::error::Failure;
use crate::io::compression::Format;
use crate::io::output::{Output, OutputFileOptions};
use crate::io::streams::Version;

/// The number of buffered bytes at which rejected values are written to the file.
const BUFFER: usize = 64 * 1024;

/// The file of `--rejects`. At the end of the run it appears complete, or not at all.
pub struct Rejects {
    output: Output,
    buffer: String,
}

impl Rejects {
    /// Opens the file that will get the name `path`. `sync` says whether the file must be on the disk before it gets
    /// this name.
    pub fn create(path: &Path, sync: bool) -> Result<Rejects, Failure> {
        let compression = Format::of_extension(path).map(|format| (format, format.traits().usual_level));
        let output = Output::create(Some(path), OutputFileOptions { compression, suffix: "", sync })?;
        Ok(Rejects { output, buffer: String::new() })
    }

    /// Fails if the file of `--rejects` would replace the input `name`, which has this version.
    pub fn forbid(&self, input: Option<&Version>, name: &str) -> Result<(), Failure> {
        if self.output.overwrites(input) {
            return Err(Failure::Usage(format!("{name}: an input and --rejects are the same file")));
        }
        Ok(())
    }

    /// Adds a line to the list of rejected values.
    pub fn add(&mut self, line: fmt::Arguments<'_>) -> Result<(), Failure> {
        // Writing to a string does not fail.
        let _ = self.buffer.write_fmt(line);
        if self.buffer.len() >= BUFFER { self.flush() } else { Ok(()) }
    }

    /// Completes the file and gives it its final name.
    pub fn commit(mut self) -> Result<(), Failure> {
        self.flush()?;
        self.output.commit()
    }

    fn flush(&mut self) -> Result<(), Failure> {
        self.output.write(self.buffer.as_bytes())?;
        self.buffer.clear();
        Ok(())
    }
}
