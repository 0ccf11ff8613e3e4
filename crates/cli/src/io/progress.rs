//! Shows a progress bar on stderr, if the run takes long and stderr is a terminal.

use std::fs;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::names;

/// The number of bytes that this run has read from its input files, before decompression.
static READ: AtomicU64 = AtomicU64::new(0);

/// A run that ends within this time shows no progress bar.
const PATIENCE: Duration = Duration::from_secs(1);

/// The time between two updates of the progress bar.
const PERIOD: Duration = Duration::from_millis(100);

/// Records that `bytes` more bytes were read from an input file.
#[inline]
pub fn advance(bytes: usize) {
    READ.fetch_add(bytes as u64, Ordering::Relaxed);
}

/// A progress bar, which disappears when this value is dropped. A thread of its own draws it.
#[derive(Default)]
pub struct Progress(Option<(SyncSender<()>, JoinHandle<()>)>);

impl Progress {
    /// Starts a progress bar for the files `names`. Without `names` the bar shows no percentage. There is no bar if
    /// stderr is not a terminal, or if `fills_terminal` and standard output is a terminal: the run then writes to
    /// this terminal all the time.
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
            let bar = bar(total).with_elapsed(start.elapsed());
            while stopped.recv_timeout(PERIOD) == Err(RecvTimeoutError::Timeout) {
                bar.set_position(READ.load(Ordering::Relaxed));
            }
            bar.finish_and_clear();
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

/// Creates a progress bar with `total` bytes, or a spinner if the total is unknown. It has no colours, so `NO_COLOR`
/// needs no check.
fn bar(total: Option<u64>) -> ProgressBar {
    let template = match total {
        Some(_) => "{percent:>3}% [{bar:32}] {bytes} of {total_bytes}, {bytes_per_sec}, {eta} left",
        None => "{spinner} {bytes}, {bytes_per_sec}, {elapsed}",
    };
    let bar = ProgressBar::with_draw_target(total, ProgressDrawTarget::stderr());
    // Both templates are valid, so the default style is never used. A test draws a bar.
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    bar.set_style(style.progress_chars("=> "));
    bar
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_of_files_are_known() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("file");
        fs::write(&file, "12345").unwrap();
        assert_eq!(size(&file), Some(5));
        assert_eq!(size(&dir.path().to_owned()), None);
        assert_eq!(size(&dir.path().join("missing")), None);
    }
}
