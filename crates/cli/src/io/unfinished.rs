//! The temporary files of unfinished outputs, which signals remove.

use std::io;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tempfile::NamedTempFile;

static STATE: Mutex<State> = Mutex::new(State { paths: Vec::new(), watches: false });

struct State {
    /// The temporary files that there are.
    paths: Vec<PathBuf>,
    /// Whether a thread waits for signals.
    watches: bool,
}

/// Stands for a temporary file of this process. While it lives, a signal that ends the process removes the file
/// first; the file's own `drop` does so on errors.
pub struct Unfinished(PathBuf);

impl Unfinished {
    /// The file that `make` makes.
    pub fn create<F>(
        make: impl FnOnce() -> io::Result<NamedTempFile<F>>,
    ) -> io::Result<(NamedTempFile<F>, Unfinished)> {
        // Held while the file is made, so that no signal falls between that and its name.
        let mut state = state();
        if !state.watches {
            #[cfg(unix)]
            remove_on_signals()?;
            state.watches = true;
        }
        let file = make()?;
        state.paths.push(file.path().to_owned());
        let unfinished = Unfinished(file.path().to_owned());
        Ok((file, unfinished))
    }

    /// The file has got its final name.
    pub fn done(self) {}
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        state().paths.retain(|path| *path != self.0);
    }
}

fn state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
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
            let state = state();
            for path in &state.paths {
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
