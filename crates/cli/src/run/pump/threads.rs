//! Runs a job in several threads that share one input and one output, and keeps the order of chunks.

use std::num::NonZeroUsize;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::feed::{Feed, Piece};
use super::{Buffers, long};
use crate::common::error::Failure;
use crate::io::{BLOCK, output};
use crate::print::Sink;
use crate::print::keys::Counts;
use crate::run::job::Job;

/// The largest number of threads that are started.
const MOST: usize = 128;

/// The total size, in bytes, of the input buffers of all threads, unless a block would be too small or too large then.
const SPREAD: usize = 8 << 20;

/// The maximum block size, in bytes, if threads write in turn. A larger block makes turns rarer: handing over the
/// turn costs as much as copying about ten thousand bytes.
const LONG_BLOCK: usize = 8 * BLOCK;

/// The maximum block size, in bytes, if threads write their results in any order. Input and output of this size stay
/// in the second-level cache.
const FREE_BLOCK: usize = 4 * BLOCK;

/// The number of threads that the user asked for, if any.
#[derive(Clone, Copy, Debug)]
pub struct Threads(pub Option<NonZeroUsize>);

impl Threads {
    /// One thread, for work that depends on earlier records.
    pub const ONE: Threads = Threads(Some(NonZeroUsize::MIN));

    /// Returns the number of threads, which is by default the number of cores. Counting cores takes as long as
    /// processing a small file.
    pub fn number(self) -> usize {
        let number = self.0.or_else(|| std::thread::available_parallelism().ok());
        number.map_or(1, |number| number.get().min(MOST))
    }
}

/// Passes the rest of `feed` through `job` to `sink`, in `threads` threads.
pub fn run(feed: Feed<'_>, job: Job, sink: &mut Sink<'_>, threads: usize) -> Result<(), Failure> {
    let file = sink.shared();
    let most = if file.is_some() { FREE_BLOCK } else { LONG_BLOCK };
    let size = (SPREAD / threads).next_multiple_of(4096).clamp(BLOCK, most);
    let shared = Shared {
        file,
        counts: sink.counts(),
        input: Mutex::new(InputState { feed, number: 0, ended: false }),
        output: Mutex::new(OutputState { sink, number: 0, ended: Ok(()) }),
        turned: Condvar::new(),
    };
    std::thread::scope(|scope| {
        for _ in 1..threads {
            let (shared, job) = (&shared, job.clone());
            // If the operating system cannot start a thread, the threads that already run do all the work.
            let started = std::thread::Builder::new()
                .name("work".to_owned())
                .spawn_scoped(scope, move || shared.run(job, size));
            if started.is_err() {
                break;
            }
        }
        shared.run(job, size);
    });
    shared.output.into_inner().unwrap_or_else(PoisonError::into_inner).ended
}

/// The state that threads share.
struct Shared<'a, 'o> {
    /// The output file, if threads may write to it in any order.
    file: Option<output::Shared>,
    /// The counts, if keys are counted. Threads add to them in any order.
    counts: Option<Arc<Counts>>,
    input: Mutex<InputState<'a>>,
    output: Mutex<OutputState<'a, 'o>>,
    /// The condition that `output.number` or `output.ended` has changed.
    turned: Condvar,
}

/// The chunks that no thread has taken yet.
struct InputState<'a> {
    feed: Feed<'a>,
    /// The number of the next chunk.
    number: u64,
    ended: bool,
}

/// The sink, and the number of the chunk that is written next.
struct OutputState<'a, 'o> {
    sink: &'a mut Sink<'o>,
    /// The number of the next chunk to write.
    number: u64,
    /// The failure that ended the run, or `Ok` if nothing has failed.
    ended: Result<(), Failure>,
}

impl<'a, 'o> Shared<'a, 'o> {
    /// Processes chunks until the input ends or something fails.
    fn run(&self, mut job: Job, size: usize) {
        let _end = EndOnPanic(self);
        let mut buffers = Buffers::new(size, job.report());
        loop {
            buffers.clear();
            let mut input = lock(&self.input);
            if input.ended {
                return;
            }
            let piece = input.feed.next(&mut buffers.block);
            let number = input.number;
            input.number += 1;
            let result = match piece {
                Ok(Piece::Chunk { len, offset }) => {
                    // The input stays locked for a block that has grown, so that only one thread at a time has such a
                    // block and memory does not depend on the number of threads.
                    let input = Some(input).filter(|_| buffers.has_grown());
                    let Buffers { block, out, report, .. } = &mut buffers;
                    job.work(block.chunk(len), out, report);
                    let done = match (&self.file, &self.counts) {
                        (_, Some(counts)) => {
                            let counted = counts.take(3 * number as usize, out);
                            self.finish(lock(&self.output), |sink| {
                                counted.and_then(|()| sink.note(offset, report))
                            })
                        }
                        (None, None) => {
                            self.finish(self.wait_for(number), |sink| sink.take(offset, out, report))
                        }
                        (Some(file), None) => {
                            let mut place = 0;
                            let reserved = self.finish(self.wait_for(number), |sink| {
                                place = sink.reserve(out, report.is_open)?;
                                sink.note(offset, report)
                            });
                            reserved.and_then(|()| self.check(place, file.write(out, place)))
                        }
                    };
                    if input.is_some() {
                        buffers.shrink();
                    }
                    done
                }
                Ok(Piece::Long { offset }) => {
                    let turn = self.wait_for(number);
                    let done = self.finish(turn, |sink| {
                        long::pass(&mut input.feed, &mut job, &mut buffers, sink, offset)
                    });
                    drop(input);
                    buffers.shrink();
                    done
                }
                Ok(Piece::End) => {
                    input.ended = true;
                    return;
                }
                Err(failure) => {
                    input.ended = true;
                    drop(input);
                    self.finish(self.wait_for(number), |_| Err(failure))
                }
            };
            if result.is_none() {
                // This thread must hold no lock here: locking the input a second time would deadlock.
                lock(&self.input).ended = true;
                return;
            }
        }
    }

    /// Waits until chunk `number` may be written, or the run has failed.
    fn wait_for(&self, number: u64) -> MutexGuard<'_, OutputState<'a, 'o>> {
        let output = lock(&self.output);
        let waited = self.turned.wait_while(output, |output| output.number != number && output.ended.is_ok());
        waited.unwrap_or_else(PoisonError::into_inner)
    }

    /// Calls `work` with the sink, and then lets the next chunk be written. Returns `None` if the run has failed.
    fn finish(
        &self,
        mut output: MutexGuard<'_, OutputState<'a, 'o>>,
        work: impl FnOnce(&mut Sink<'o>) -> Result<(), Failure>,
    ) -> Option<()> {
        if output.ended.is_err() {
            return None;
        }
        output.ended = work(output.sink);
        output.number += 1;
        self.turned.notify_all();
        output.ended.is_ok().then_some(())
    }

    /// Ends the run if `result`, of writing at offset `place`, is an error.
    fn check(&self, place: u64, result: std::io::Result<()>) -> Option<()> {
        let Err(error) = result else { return Some(()) };
        let mut output = lock(&self.output);
        if output.ended.is_ok() {
            output.ended = Err(output.sink.output.failed(place, error));
        }
        self.turned.notify_all();
        None
    }
}

/// Ends the run if the thread that owns this value panics, so that no other thread waits for it.
struct EndOnPanic<'s, 'a, 'o>(&'s Shared<'a, 'o>);

impl Drop for EndOnPanic<'_, '_, '_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            lock(&self.0.output).ended = Err(Failure::Usage("a thread has failed; this is a bug".to_owned()));
            self.0.turned.notify_all();
        }
    }
}

/// Locks `mutex`, even if a thread panicked while it held the lock: then [`EndOnPanic`] has ended the run.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
