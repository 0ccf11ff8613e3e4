//! Removes the temporary files of unfinished outputs if a signal, or Ctrl-C on Windows, ends the process.

use std::io;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tempfile::NamedTempFile;

static STATE: Mutex<State> = Mutex::new(State { paths: Vec::new(), watches: false });

struct State {
    /// The paths of the temporary files that exist in this process.
    paths: Vec<PathBuf>,
    /// Whether a thread waits for signals.
    watches: bool,
}

/// The registration of a temporary file. While it exists, a signal that ends the process removes the file first. If
/// the process goes on after an error, dropping the [`NamedTempFile`] removes the file.
pub struct Unfinished(PathBuf);

impl Unfinished {
    /// Calls `make` and registers the file that it creates.
    pub fn create<F>(
        make: impl FnOnce() -> io::Result<NamedTempFile<F>>,
    ) -> io::Result<(NamedTempFile<F>, Unfinished)> {
        // The state stays locked until the file is registered, so that no signal is handled in between.
        let mut state = state();
        if !state.watches {
            #[cfg(any(unix, windows))]
            remove_on_signals()?;
            state.watches = true;
        }
        let file = make()?;
        state.paths.push(file.path().to_owned());
        let unfinished = Unfinished(file.path().to_owned());
        Ok((file, unfinished))
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        state().paths.retain(|path| *path != self.0);
    }
}

fn state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes the temporary files, because the process ends. While the result exists, the state is locked, and no temporary file is created
/// or renamed.
#[cfg(any(unix, windows))]
fn remove_all() -> MutexGuard<'static, State> {
    let state = state();
    for path in &state.paths {
        // The process ends whether or not the file can be removed.
        let _ = std::fs::remove_file(path);
    }
    state
}

#[cfg(windows)]
fn remove_on_signals() -> io::Result<()> {
    /// The status of processes that Ctrl-C ends, STATUS_CONTROL_C_EXIT.
    const ENDED: u32 = 0xC000_013A;
    ctrlc::set_handler(|| {
        let _state = remove_all();
        std::process::exit(ENDED.cast_signed());
    })
    .map_err(io::Error::other)
}

#[cfg(unix)]
fn remove_on_signals() -> io::Result<()> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use signal_hook::{iterator::Signals, low_level::emulate_default_handler};

    // `nohup` and the shell's `&` start processes with some signals ignored. These signals must stay ignored.
    let asked = [SIGHUP, SIGINT, SIGTERM].into_iter().filter(|&signal| !is_ignored(signal));
    let mut signals = Signals::new(asked)?;
    std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
        for signal in signals.forever() {
            let _state = remove_all();
            let _ = emulate_default_handler(signal);
        }
    })?;
    Ok(())
}

/// Reports whether the process was started with `signal` ignored. Only Linux has `/proc/self/status`; other systems
/// count as not ignoring it.
#[cfg(unix)]
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    mask >> (signal - 1) & 1 == 1
}
