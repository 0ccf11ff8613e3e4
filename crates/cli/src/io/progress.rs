//! A progress bar on stderr, if the run takes long and stderr is a terminal.

use std::fs;
use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::names;

/// The number of bytes read from files, before decompression.
static READ: AtomicU64 = AtomicU64::new(0);

/// Runs that end sooner show no bar.
const PATIENCE: Duration = Duration::from_secs(1);

/// The time between two updates.
const PERIOD: Duration = Duration::from_millis(100);

/// Records that `bytes` bytes were read.
#[inline]
pub fn advance(bytes: usize) {
    READ.fetch_add(bytes as u64, Ordering::Relaxed);
}

/// A progress bar, which disappears when this is dropped. It is drawn by a thread of its own.
pub struct Progress(Option<(SyncSender<()>, JoinHandle<()>)>);

impl Progress {
    /// Starts a bar for the files `names`, if they are known and stderr is a terminal. `fills_terminal` says that the run
    /// writes to standard output all the time; if that is a terminal, there is no bar.
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
        // If the system refuses a thread, there is no bar.
        let thread = thread::Builder::new().name("progress".to_owned()).spawn(work);
        Progress(thread.ok().map(|thread| (stop, thread)))
    }
}

impl Progress {
    /// Removes the bar.
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

/// Returns the size of the file `name`; `None` for a pipe.
fn size(name: &PathBuf) -> Option<u64> {
    let metadata = if names::is_stdin(name) {
        #[cfg(unix)]
        let metadata = fs::metadata("/dev/stdin");
        #[cfg(not(unix))]
        let metadata = Err(io::Error::from(io::ErrorKind::Unsupported));
        metadata
    } else {
        fs::metadata(name)
    };
    // A missing file is reported when it is opened.
    metadata.ok().filter(fs::Metadata::is_file).map(|metadata| metadata.len())
}

/// Returns a bar without colours, which therefore agrees with `NO_COLOR`.
fn bar(total: Option<u64>) -> ProgressBar {
    let template = match total {
        Some(_) => "{percent:>3}% [{bar:32}] {bytes} of {total_bytes}, {bytes_per_sec}, {eta} left",
        None => "{spinner} {bytes}, {bytes_per_sec}, {elapsed}",
    };
    let bar = ProgressBar::with_draw_target(total, ProgressDrawTarget::stderr());
    // The templates are valid; a test draws a bar.
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
