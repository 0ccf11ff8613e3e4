//! Chooses the format of a log, and the values of its records.

use std::io;

use simdpct_records::{Escaping, KeyPath, Log, Spec, Syntax, Wrapper};

use super::Target;
use crate::common::error::Failure;
use crate::common::logs;
use crate::run::pump::feed::Feed;
use crate::select::{FieldName, Format, Selector};

/// The number of bytes at the start of a file from which the format is chosen.
const START: usize = 64 * 1024;

/// The values of a log that the user selected.
#[derive(Clone, Debug)]
pub struct LogSelection {
    pub spec: Spec,
    /// The names of the values; empty for all values that contain URLs.
    pub names: Vec<FieldName>,
    /// The paths of the strings in JSON that contain the records; empty if the records are the lines.
    pub outer: Vec<KeyPath>,
    /// Whether to print no message that names the detected format.
    pub quiet: bool,
}

impl LogSelection {
    /// Returns the syntax of records of `log`.
    pub fn syntax(&self, log: Log, wrapper: Option<Wrapper>) -> Result<Syntax, String> {
        let name = |name: &FieldName| match name {
            FieldName::Name(name) => Ok(name.clone()),
            FieldName::Number(number) => Err(format!(
                "--field {number}: with --log, fields have names, such as {}",
                log.layout.fields()[0].name()
            )),
        };
        let names = self.names.iter().map(name).collect::<Result<Vec<_>, _>>()?;
        let inner = Syntax::log(log, wrapper, &names)?;
        if self.outer.is_empty() {
            return Ok(inner);
        }
        Ok(Syntax::json(&self.outer, &[], Escaping::Json)?.containing(inner))
    }
}

/// Chooses the format of the log in `feed` for `--log auto`, and makes `target` select the values of its records. Without that option,
/// only prints a hint, if `target` asks for it and `feed` seems to be a log.
pub fn choose(target: &mut Target, feed: &mut Feed<'_>) -> Result<(), Failure> {
    let end = feed.line_end();
    if target.mentions_logs {
        logs::mention(&feed.peek(START)?, end, feed.name());
    }
    let Some(selected) = &target.auto else { return Ok(()) };
    let start = feed.peek(START)?;
    if start.is_empty() {
        return Ok(());
    }
    let (wrapper, mut texts) = (selected.spec.wrapper, start);
    if !selected.outer.is_empty() {
        let documents = std::mem::take(&mut texts);
        let mut strings = Syntax::json(&selected.outer, &[], Escaping::Json).map_err(Failure::Usage)?;
        let (mut places, mut buffer) = (Vec::new(), Vec::new());
        for line in documents.split(|&byte| byte == end) {
            places.clear();
            // The strings before an error are records, too.
            let _ = strings.find(line, &mut places);
            for place in &places {
                let text = place.value(line, &mut buffer).unwrap_or_default().trim_ascii_end();
                texts.extend_from_slice(text);
                texts.push(b'\n');
            }
        }
    }
    let log = logs::detected(&texts, end, wrapper, feed.name(), selected.quiet)?;
    let syntax = selected.syntax(log, wrapper);
    let syntax = syntax.map_err(|message| Failure::missing(feed.name(), io::Error::other(message)))?;
    target.selector = Selector::new(syntax, Format::Log(log, !selected.names.is_empty()));
    Ok(())
}
