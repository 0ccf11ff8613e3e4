//! Detects whether the core runs another thread beside this one.
//!
//! The cores of many CPUs run two threads at once, and on a rented machine the other thread may belong to another
//! tenant. No system call reports that thread, but a loop that fills all execution ports takes longer beside it.

use std::hint::black_box;

/// The usual limit for how often a piece of a benchmark is timed.
pub const ATTEMPTS: usize = 12;

/// The most probes (timed runs of the loop) before a piece is timed. Meanwhile, the core's other thread may stop.
const PATIENCE: usize = 400;

/// The number of probes that calibrate the loop. They take about 15 ms, in which this thread has the core to itself at least now
/// and then.
const CALIBRATION: usize = 5000;

/// The limit of the loop's time, relative to its time alone. Beside another thread, the loop takes 1.3 to 2 times as
/// long. On a CPU that clocks lower while its other cores work, it takes up to 1.1 times as long.
const LIMIT: f64 = 1.2;

/// The core that this thread runs on. Counts the short pieces of work that were timed on it, and those that were timed again because
/// another thread was on the core.
#[derive(Debug)]
pub struct Core {
    /// The time of the loop when the core runs no other thread, in nanoseconds.
    pub alone: f64,
    /// Whether the last probe found another thread on the core.
    shared: bool,
    /// The limit for how often a piece is timed. If it is 0, each piece is timed once, without a probe.
    attempts: usize,
    /// The number of pieces that were timed with probes.
    pub pieces: usize,
    /// The number of pieces that were timed more than once.
    pub repeated: usize,
    /// The number of pieces that ran beside another thread in every attempt.
    pub given_up: usize,
}

impl Core {
    /// Calibrates the loop. Each piece will be timed at most `attempts` times; if `attempts` is 0, once and without a probe.
    pub fn new(attempts: usize) -> Core {
        let mut times: Vec<_> = (0..CALIBRATION).map(|_| busy()).collect();
        times.sort_unstable_by(f64::total_cmp);
        // Take the first percentile instead of the minimum, because the clock sometimes does not advance for a while.
        Core { alone: times[times.len() / 100], shared: true, attempts, pieces: 0, repeated: 0, given_up: 0 }
    }

    /// Returns the nanoseconds that `piece` takes while this thread has the core to itself. Waits for the other thread to stop,
    /// and times the piece again if the other thread was running. If it ran in all attempts, returns the shortest time.
    pub fn time(&mut self, mut piece: impl FnMut()) -> f64 {
        if self.attempts == 0 {
            let start = now();
            piece();
            return now() - start;
        }
        let mut best = f64::INFINITY;
        for attempt in 0..self.attempts {
            for _ in 0..PATIENCE {
                if !self.shared {
                    break;
                }
                self.probe();
            }
            let before = self.shared;
            let start = now();
            piece();
            let time = now() - start;
            self.probe();
            best = best.min(time);
            if !before && !self.shared {
                self.pieces += 1;
                self.repeated += usize::from(attempt > 0);
                return time;
            }
        }
        self.pieces += 1;
        self.repeated += 1;
        self.given_up += 1;
        best
    }

    /// Describes how many pieces were timed again, and how many always ran beside another thread.
    pub fn report(&self) -> String {
        let percent = |count: usize| 100.0 * count as f64 / self.pieces.max(1) as f64;
        format!(
            "in pieces of 0.06 ms, of which {:.1} % were timed again because the core ran another thread beside, and {:.2} % \
             never had it alone",
            percent(self.repeated),
            percent(self.given_up)
        )
    }

    /// Runs the loop, and updates `shared` by its time.
    fn probe(&mut self) {
        self.shared = busy() > LIMIT * self.alone;
    }
}

/// Returns the nanoseconds of a loop with eight independent chains, which keep all ports for integers busy.
fn busy() -> f64 {
    let mut lanes = black_box([1_u64, 2, 3, 4, 5, 6, 7, 8]);
    let start = now();
    for step in 0..2000 {
        for lane in &mut lanes {
            *lane = lane.rotate_left(7).wrapping_add(step);
        }
    }
    black_box(lanes);
    now() - start
}

/// Returns the CPU time of this thread in nanoseconds, which leaves out the time slices of other threads.
pub fn now() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as f64 * 1e9 + time.tv_nsec as f64
}
