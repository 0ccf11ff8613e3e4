//! A progress bar on stderr, for work that takes long and a person who watches.

use std::fs;
use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::names;

/// The bytes that were read, as they lie in the files: before decompression.
static READ: AtomicU64 = AtomicU64::new(0);

/// Work that ends sooner needs no bar.
const PATIENCE: Duration = Duration::from_secs(1);

/// Between two looks at how far the work is.
const PERIOD: Duration = Duration::from_millis(100);

/// Bytes were read.
#[inline]
pub fn advance(bytes: usize) {
    READ.fetch_add(bytes as u64, Ordering::Relaxed);
}

/// A bar, which goes away when this is dropped. It has a thread of its own, so that the work never draws.
pub struct Progress(Option<(SyncSender<()>, JoinHandle<()>)>);

impl Progress {
    /// A bar for reading the files of these names, as far as they are known, if a person sees it. `fills_terminal`
    /// says that the work writes to standard output as it goes on: on a terminal a bar would be in its way.
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
        // Without a thread there is no bar, and nothing else is the worse for it.
        let thread = thread::Builder::new().name("progress".to_owned()).spawn(work);
        Progress(thread.ok().map(|thread| (stop, thread)))
    }
}

impl Progress {
    /// Takes the bar away for good.
    pub fn hide(&mut self) {
        if let Some((stop, thread)) = self.0.take() {
            drop(stop);
            // Whatever it says next must not be drawn over; a bar that has failed is gone as well.
            let _ = thread.join();
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.hide();
    }
}

/// The bytes that the file of that name holds; `None` for a pipe.
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
    // A file that is not there is an error soon.
    metadata.ok().filter(fs::Metadata::is_file).map(|metadata| metadata.len())
}

/// Without colours, so there is nothing for `NO_COLOR` to turn off.
fn bar(total: Option<u64>) -> ProgressBar {
    let template = match total {
        Some(_) => "{percent:>3}% [{bar:32}] {bytes} of {total_bytes}, {bytes_per_sec}, {eta} left",
        None => "{spinner} {bytes}, {bytes_per_sec}, {elapsed}",
    };
    let bar = ProgressBar::with_draw_target(total, ProgressDrawTarget::stderr());
    // The templates are valid, as a test sees.
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
