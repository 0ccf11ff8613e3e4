//! Chooses the format of a log by its first lines.

use std::io;

use simdpct_records::{Log, Wrapper, detect};

use super::error::{Failure, warn};

/// The number of lines that the format of a log is chosen by.
const LINES: usize = 100;

/// Returns the format of the log `name` that begins with `start`, in lines of `wrapper` if there is one, and prints it unless `quiet`. Lines
/// end in `end`.
pub fn detected(
    start: &[u8],
    end: u8,
    wrapper: Option<Wrapper>,
    name: &str,
    quiet: bool,
) -> Result<Log, Failure> {
    // The last line can be cut, if it is not the only one.
    let whole = memchr::memrchr(end, start).map_or(start.len(), |last| last + 1);
    let lines = start[..whole].split(|&byte| byte == end).take(LINES);
    let lines: Vec<_> = lines.map(|line| line.strip_suffix(b"\r").unwrap_or(line)).collect();
    let log = detect(&lines, wrapper).ok_or_else(|| {
        Failure::missing(
            name,
            io::Error::other("--log auto: no format fits the first lines; name the format"),
        )
    })?;
    if !quiet {
        let prefix = Wrapper::ALL.iter().find(|(known, _)| wrapper == Some(*known));
        let prefix = prefix.map_or(String::new(), |(_, name)| format!("{name}+"));
        warn(format_args!("{name}: the format is {prefix}{}", log.name()));
    }
    Ok(log)
}
