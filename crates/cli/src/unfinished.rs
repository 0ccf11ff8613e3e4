//! The temporary file of an unfinished output, which signals remove.

use std::io;
use std::sync::Mutex;

use tempfile::NamedTempFile;

#[cfg(unix)]
static PATH: Mutex<Option<std::path::PathBuf>> = Mutex::new(None);
#[cfg(not(unix))]
static PATH: Mutex<Option<std::convert::Infallible>> = Mutex::new(None);

/// Stands for the one temporary file of this process. While it lives, a signal that ends the process removes the
/// file first; the file's own `drop` does so on errors.
pub struct Unfinished(());

impl Unfinished {
    /// The file that `make` makes.
    pub fn create(
        make: impl FnOnce() -> io::Result<NamedTempFile>,
    ) -> io::Result<(NamedTempFile, Unfinished)> {
        #[cfg(unix)]
        remove_on_signals()?;
        // Held while the file is made, so that no signal falls between that and its name.
        let mut path = PATH.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let file = make()?;
        #[cfg(unix)]
        path.replace(file.path().to_owned());
        #[cfg(not(unix))]
        path.take();
        Ok((file, Unfinished(())))
    }

    /// The file has got its final name.
    pub fn done(self) {}
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        PATH.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).take();
    }
}

#[cfg(unix)]
fn remove_on_signals() -> io::Result<()> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use signal_hook::{iterator::Signals, low_level::emulate_default_handler};

    // `nohup` and the shell's `&` ask for some signals to be ignored.
    let asked = [SIGHUP, SIGINT, SIGTERM].into_iter().filter(|&signal| !is_ignored(signal));
    let mut signals = Signals::new(asked)?;
    std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
        for signal in signals.forever() {
            let path = PATH.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            if let Some(path) = &*path {
                // The process ends either way, and there is nobody to tell.
                let _ = std::fs::remove_file(path);
            }
            // The lock is kept: no output may be finished, nor a file be made, after this.
            let _ = emulate_default_handler(signal);
        }
    })?;
    Ok(())
}

/// Whether the process was started with `signal` ignored, where the system tells.
#[cfg(unix)]
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    mask >> (signal - 1) & 1 == 1
}
