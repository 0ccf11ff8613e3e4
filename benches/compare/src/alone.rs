//! Whether a core runs another thread beside ours.
//!
//! Cores of many CPUs run two threads at once, and of a rented machine the other may be a stranger's. It cannot be asked for, but
//! it can be felt: a loop that fills the ports takes longer.

use std::hint::black_box;

/// How often a piece is timed at most, by who wants to know.
pub const ATTEMPTS: usize = 12;

/// Before a piece, at most this many looks are spent on waiting for the other thread to stop.
const PATIENCE: usize = 400;

/// How often to look at first: for about 15 ms, in which the core is alone at least now and then.
const LOOKS: usize = 5000;

/// How much longer than alone the loop may take. Beside another thread it takes 1.3 to 2 times as long.
const LIMIT: f64 = 1.1;

/// The core that this thread runs on.
#[derive(Debug)]
pub struct Core {
    /// The nanoseconds that the loop takes alone.
    alone: f64,
    /// Whether it took that long when it last ran.
    shared: bool,
    /// How often a piece is timed at most.
    attempts: usize,
    pieces: usize,
    repeated: usize,
    given_up: usize,
}

impl Core {
    /// Looks for a while at how fast this core is alone. A piece will be timed at most `attempts` times; if
    /// that is 0, once and without a look.
    pub fn new(attempts: usize) -> Core {
        let mut times: Vec<_> = (0..LOOKS).map(|_| busy()).collect();
        times.sort_unstable_by(f64::total_cmp);
        // Not the least: at times the clock stands still for a while.
        Core { alone: times[times.len() / 100], shared: true, attempts, pieces: 0, repeated: 0, given_up: 0 }
    }

    /// The nanoseconds that `piece` takes on a core of its own; or, if it never has that, the fewest that it took. Others on
    /// the same core are waited for, and what was timed beside them is timed again.
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
                self.look();
            }
            let before = self.shared;
            let start = now();
            piece();
            let time = now() - start;
            self.look();
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

    /// How much was timed again, and how much never had a core of its own, in words.
    pub fn report(&self) -> String {
        let percent = |count: usize| 100.0 * count as f64 / self.pieces.max(1) as f64;
        format!(
            "in pieces of 0.06 ms, of which {:.1} % were timed again because the core ran another thread beside, and {:.2} % \
             never had it alone",
            percent(self.repeated),
            percent(self.given_up)
        )
    }

    /// Says whether the core is shared now.
    fn look(&mut self) {
        self.shared = busy() > LIMIT * self.alone;
    }
}

/// The nanoseconds of a loop of eight independent chains, which keep all ports for integers busy.
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

/// The time that this thread has run, in nanoseconds: what others do on this core in turn with it does not count.
pub fn now() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as f64 * 1e9 + time.tv_nsec as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_piece_is_timed_and_counted() {
        let mut core = Core::new(ATTEMPTS);
        let mut calls = 0;
        for _ in 0..10 {
            let time = core.time(|| {
                calls += 1;
                black_box((0..2000).fold(0_u64, |a, b| black_box(a) ^ b));
            });
            assert!(time > 0.0 && time.is_finite());
        }
        assert_eq!(core.pieces, 10);
        assert!((10..=10 * ATTEMPTS).contains(&calls));
        assert!(core.given_up <= core.repeated && core.repeated <= core.pieces);
    }

    #[test]
    fn a_core_that_is_never_alone_gives_the_fewest_nanoseconds() {
        // No loop is as fast as this, so every look says that the core is shared.
        let mut core =
            Core { alone: 1e-9, shared: true, attempts: ATTEMPTS, pieces: 0, repeated: 0, given_up: 0 };
        let mut calls = 0;
        let time = core.time(|| {
            calls += 1;
            black_box((0..2000).fold(0_u64, |a, b| black_box(a) ^ b));
        });
        assert_eq!((calls, core.pieces, core.given_up), (ATTEMPTS, 1, 1));
        assert!(time > 0.0 && time.is_finite());
        assert!(core.report().contains("100.00 % never"), "{}", core.report());
    }
}
