//! Shows a progress bar on stderr, if the run takes long and stderr is a terminal.

use std::fs;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::names;

/// The number of bytes that this run has read from its input files, before decompression.
static READ: AtomicU64 = AtomicU64::new(0);

/// A run that ends within this time shows no progress bar.
const PATIENCE: Duration = Duration::from_secs(1);

/// The time between two updates of the progress bar.
const PERIOD: Duration = Duration::from_millis(100);

/// The width of the line with the bar, in columns of the terminal.
const WIDTH: usize = 79;

/// The number of `=` in a full bar, before its `>`.
const BAR: f64 = 19.0;

/// Records that `bytes` more bytes were read from an input file.
#[inline]
pub fn advance(bytes: usize) {
    READ.fetch_add(bytes as u64, Ordering::Relaxed);
}

/// A progress bar, which disappears when this value is dropped. A thread of its own draws it.
#[derive(Default)]
pub struct Progress(Option<(SyncSender<()>, JoinHandle<()>)>);

impl Progress {
    /// Starts a progress bar for the files `names`. Without `names` the bar shows no percentage. There is no bar if `quiet`,
    /// if stderr is not a terminal or TERM is `dumb`, if the user types the input, or if `fills_terminal` and standard
    /// output is a terminal: the run then writes to this terminal all the time.
    pub fn start(names: Option<&[PathBuf]>, quiet: bool, fills_terminal: bool) -> Progress {
        let types = names.is_some_and(|names| names.iter().any(|name| names::is_stdin(name)))
            && io::stdin().is_terminal();
        let is_dumb = std::env::var_os("TERM").is_some_and(|terminal| terminal == "dumb");
        let blocked = fills_terminal && io::stdout().is_terminal();
        if quiet || types || is_dumb || blocked || !io::stderr().is_terminal() {
            return Progress(None);
        }
        let total = names.and_then(|names| names.iter().map(size).sum());
        let (stop, stopped) = sync_channel(1);
        let start = Instant::now();
        let work = move || {
            if stopped.recv_timeout(PATIENCE) != Err(RecvTimeoutError::Timeout) {
                return;
            }
            // Errors of these writes are ignored. If stderr is closed, nobody sees the bar.
            while stopped.recv_timeout(PERIOD) == Err(RecvTimeoutError::Timeout) {
                let line = line(READ.load(Ordering::Relaxed), total, start.elapsed());
                let _ = write!(io::stderr(), "\r{line:WIDTH$.WIDTH$}");
            }
            let _ = write!(io::stderr(), "\r{:WIDTH$}\r", "");
        };
        // If the operating system cannot start a thread, there is no bar.
        let thread = thread::Builder::new().name("progress".to_owned()).spawn(work);
        Progress(thread.ok().map(|thread| (stop, thread)))
    }

    /// Removes the progress bar from the terminal.
    pub fn hide(&mut self) {
        if let Some((stop, thread)) = self.0.take() {
            drop(stop);
            // Waits until the thread has removed the bar, so that it does not overwrite the next message.
            let _ = thread.join();
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.hide();
    }
}

/// Returns the size of the file `name`, or `None` if it is not a regular file.
fn size(name: &PathBuf) -> Option<u64> {
    let path = if names::is_stdin(name) { Path::new("/dev/stdin") } else { name };
    // A missing file has no size here; its error is reported when the file is opened.
    fs::metadata(path).ok().filter(fs::Metadata::is_file).map(|metadata| metadata.len())
}

/// Returns the text of a bar after `read` bytes of `total`, which is `None` if the total is unknown.
fn line(read: u64, total: Option<u64>, elapsed: Duration) -> String {
    let (read, seconds) = (read as f64, elapsed.as_secs_f64());
    let rate = read / seconds;
    let Some(total) = total.map(|total| total as f64).filter(|total| *total >= read) else {
        return format!("{}, {}/s, {}", size_text(read), size_text(rate), time_text(seconds));
    };
    let share = read / total.max(1.0);
    let bar = format!("{}>", "=".repeat((share * BAR) as usize));
    let left = time_text((total - read) / rate.max(1.0));
    let (percent, read, total, rate) = (share * 100.0, size_text(read), size_text(total), size_text(rate));
    format!("{percent:3.0}% [{bar:20}] {read} of {total}, {rate}/s, {left} left")
}

fn size_text(mut bytes: f64) -> String {
    let mut units = ["B", "KiB", "MiB", "GiB", "TiB"].iter();
    let mut unit = units.next();
    while bytes >= 1024.0 && units.len() > 0 {
        (bytes, unit) = (bytes / 1024.0, units.next());
    }
    format!("{bytes:.1} {}", unit.unwrap_or(&""))
}

fn time_text(seconds: f64) -> String {
    let seconds = seconds as u64;
    format!("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_says_how_much_is_read_and_how_long_the_rest_takes() {
        for (read, total, wanted) in [
            (0, Some(0), "  0% [>                   ] 0.0 B of 0.0 B, 0.0 B/s, 0:00:00 left"),
            (
                1 << 20,
                Some(4 << 20),
                " 25% [====>               ] 1.0 MiB of 4.0 MiB, 512.0 KiB/s, 0:00:06 left",
            ),
            (1023, Some(1023), "100% [===================>] 1023.0 B of 1023.0 B, 511.5 B/s, 0:00:00 left"),
            (5, Some(4), "5.0 B, 2.5 B/s, 0:00:02"),
            (u64::MAX, None, "16777216.0 TiB, 8388608.0 TiB/s, 0:00:02"),
        ] {
            assert_eq!(line(read, total, Duration::from_secs(2)), wanted);
        }
    }
}
