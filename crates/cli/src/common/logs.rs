//! Chooses the format of a log by its first lines.

use std::io;
use std::sync::Once;

use simdpct_records::{Log, Wrapper, detect};

use super::error::{Failure, warn};

/// The maximum number of lines from which the format of a log is chosen.
const LINES: usize = 100;

/// Returns the format of the log that begins with `start`, if there is one that fits.
fn find(start: &[u8], end: u8, wrapper: Option<Wrapper>) -> Option<Log> {
    // The last line may be incomplete, so it does not count unless it is the only one.
    let whole = memchr::memrchr(end, start).map_or(start.len(), |last| last + 1);
    let lines = start[..whole].split(|&byte| byte == end).take(LINES);
    let lines: Vec<_> = lines.map(|line| line.strip_suffix(b"\r").unwrap_or(line)).collect();
    detect(&lines, wrapper)
}

/// Prints a hint, at most once in a run, if the file `name`, which begins with `start`, seems to be a log.
pub fn mention(start: &[u8], end: u8, name: &str) {
    static ONCE: Once = Once::new();
    if let Some(log) = find(start, end, None) {
        ONCE.call_once(|| {
            let log = log.name();
            warn(format_args!(
                "{name}: this looks like a log, and whole lines are counted; --log {log} counts the URLs of its requests"
            ));
        });
    }
}

/// Returns the format of the log `name` that begins with `start`, and prints it unless `quiet`. Lines end in `end`. If
/// there is a `wrapper`, such as Docker, its lines contain those of the log.
pub fn detected(
    start: &[u8],
    end: u8,
    wrapper: Option<Wrapper>,
    name: &str,
    quiet: bool,
) -> Result<Log, Failure> {
    let log = find(start, end, wrapper).ok_or_else(|| {
        Failure::missing(
            name,
            io::Error::other("--log auto: no format fits the first lines; name the format, and the logger around it if there is one"),
        )
    })?;
    if !quiet {
        let prefix = Wrapper::ALL.iter().find(|(known, _)| wrapper == Some(*known));
        let prefix = prefix.map_or(String::new(), |(_, name)| format!("{name}+"));
        warn(format_args!("{name}: the format is {prefix}{}", log.name()));
    }
    Ok(log)
}
