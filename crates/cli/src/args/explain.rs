//! The arguments of `explain`.

use std::path::PathBuf;

use clap::Args as Options;

use super::options::Input;
use super::parsers::{ANY_TEXT, choice};
use crate::common::format::OutputFormat;
use crate::io::names::{self, Sources};

/// Explain the bytes of URLs that are not plain, for people or as JSON
///
/// The notes say whether a byte must be escaped in its place and why, and name the part of the URL, the character, and its class in
/// RFC 1738, 2396, 3986 and in the URL Standard. A byte is plain if it is unreserved in RFC 3986, or a delimiter in its place. An
/// argument that names no file is a URL. The last lines say which URL browsers make of it, and on which paths servers route it.
#[derive(Debug, Options)]
#[command(after_long_help = include_str!("examples/explain.txt").trim_ascii_end())]
pub struct Explain {
    /// The format of the output
    ///
    /// The default is text on a terminal, and elsewhere one line of JSON for each URL.
    #[arg(long, value_name = "FORMAT", value_parser = choice(ANY_TEXT))]
    pub format: Option<OutputFormat>,

    #[command(flatten)]
    pub input: Input,
}

impl Explain {
    /// Returns the inputs, in the order of the arguments. An argument that names no file is a URL.
    pub fn sources(self) -> Vec<Sources> {
        let mut input = self.input;
        let arguments = std::mem::take(&mut input.files);
        if arguments.is_empty() {
            return vec![input.sources(input.records())];
        }
        let source = |name: PathBuf| {
            let is_file = names::is_stdin(&name) || name.exists();
            (input.files, input.expression) =
                if is_file { (vec![name], Vec::new()) } else { (Vec::new(), vec![name.into()]) };
            input.sources(input.records())
        };
        arguments.into_iter().map(source).collect()
    }
}
