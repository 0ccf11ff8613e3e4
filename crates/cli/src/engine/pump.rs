//! Input through a job to output: in one thread, or in several with the order kept.
//!
//! Each thread takes the next chunk while it holds the feed, works on it, and waits for its turn to write. So there
//! are as many buffers as threads, whatever the input, and the order is that of taking chunks.

use std::fs::File;
use std::io::{ErrorKind, Read, Seek, Write};
use std::num::NonZeroUsize;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::feed::{Feed, Part, Piece};
use super::findings::Findings;
use super::preview::Preview;
use super::rejects::Rejects;
use crate::ground::error::{Failure, Place, warn};
use crate::ground::reason::Reason;
use crate::ground::records::Records;
use crate::io::BLOCK;
use crate::io::buffer::Buffer;
use crate::io::output::{self, Output};
use crate::select::ends::Marks;
use crate::value::report::{Report, Stop};
use crate::value::stats::Stats;

/// What is done to a chunk; each thread has one of its own.
pub trait Job: Clone + Send {
    /// Appends what becomes of `chunk` to `out`. After `report.stop`, `out` is what comes before.
    fn work(&mut self, chunk: Chunk<'_>, out: &mut Vec<u8>, report: &mut Report);

    /// What becomes of a record of which only the `start` fits in memory. If it is refused, `report` says so.
    fn long(&mut self, start: &[u8], report: &mut Report) -> Long;

    /// Where such a record can be cut: the last place in `bytes`.
    fn cut(&self, bytes: &[u8]) -> Option<usize>;

    /// Appends what becomes of a part of such a record to `out`, as far as that is settled.
    fn part(&mut self, bytes: &[u8], part: Part, out: &mut Vec<u8>, report: &mut Report);

    /// After the last part: whether the record is not what became of its parts, but what is appended to `out`.
    fn instead(&self, _out: &mut Vec<u8>) -> bool {
        false
    }

    /// A report as this job wants it.
    fn report(&self) -> Report;
}

/// What is worked on at once.
#[derive(Clone, Copy)]
pub struct Chunk<'a> {
    pub bytes: &'a [u8],
    /// The byte that follows.
    pub next: Option<u8>,
    /// Where its records end, if they are those of a table.
    pub marks: &'a Marks,
}

/// What becomes of a record that does not fit in memory.
pub enum Long {
    /// It is written as it is.
    Copy(Reason),
    /// It is left out.
    Skip(Reason),
    /// It would only have been looked at.
    Pass(Reason),
    /// It is worked on in parts, which are `held` back until it is known what becomes of it.
    Parts { held: bool },
}

/// Room for what one block can become, so that no block is measured before it is encoded and none makes the
/// buffer grow. Pages that no output reaches are never touched.
const fn room(block: usize) -> usize {
    3 * block + 4096
}

/// So much is done before threads are worth their start.
const SMALL: u64 = 2 << 20;

/// The most bytes of a chunk for one of several threads: handing over costs as much as copying some ten thousand.
const LONG_BLOCK: usize = 8 * BLOCK;

/// The same if threads need not wait for each other to write: input and output stay in the second-level cache.
const FREE_BLOCK: usize = 4 * BLOCK;

/// The bytes of the input that all threads together work on.
const SPREAD: usize = 8 << 20;

/// The most threads that are of use.
const THREADS: usize = 128;

/// Where output goes and what is counted, in order.
pub struct Sink<'o> {
    pub output: &'o mut Output,
    pub rejects: Option<&'o mut Rejects>,
    /// What takes findings, and says when there are enough.
    pub findings: Option<&'o mut Findings>,
    pub stats: &'o mut Stats,
    /// The name of the input.
    pub file: String,
    /// The lines before the next chunk.
    pub lines: u64,
    /// What takes marked lines instead of the output.
    pub preview: Option<&'o mut Preview>,
    pub seam: &'o mut Seam,
}

/// Where one file ends and the next begins, in one output: a record ends where its file does.
pub struct Seam {
    /// What ends a record, if there are records.
    end: Option<u8>,
    /// Whether what is written ends in a record without its end.
    is_open: bool,
    /// Whether nothing of the file at hand has been written.
    is_start: bool,
    /// Whether anything was written at all.
    is_used: bool,
}

impl Seam {
    /// Before the first file.
    pub fn new(records: Records) -> Seam {
        let end = Some(records.end()).filter(|_| records != Records::Raw);
        Seam { end, is_open: false, is_start: true, is_used: false }
    }

    /// Another file begins.
    pub fn next_file(&mut self) {
        self.is_start = true;
    }

    /// Whether anything was written before.
    pub fn is_used(&self) -> bool {
        self.is_used
    }

    /// `out` is going to be written, the last record of which `is_open`. Returns what must be written before it.
    fn pass(&mut self, out: &[u8], is_open: bool) -> Option<u8> {
        if out.is_empty() && !is_open {
            return None;
        }
        let end = self.end.filter(|_| self.is_start && self.is_open);
        (self.is_open, self.is_start, self.is_used) = (is_open, false, true);
        end
    }
}

impl Sink<'_> {
    /// Takes what became of the chunk at `offset`.
    fn take(&mut self, offset: u64, out: &[u8], report: &Report) -> Result<(), Failure> {
        self.write(out, report.is_open)?;
        self.note(offset, report)
    }

    /// Leaves room in the output for `bytes`, as [`Sink::write`] would write them, and returns their place.
    fn leave(&mut self, bytes: &[u8], is_open: bool) -> Result<u64, Failure> {
        if let Some(end) = self.seam.pass(bytes, is_open) {
            self.stats.bytes_out += 1;
            self.output.write(&[end])?;
        }
        self.stats.bytes_out += bytes.len() as u64;
        Ok(self.output.leave(bytes.len()))
    }

    /// Takes what is to be said of the chunk at `offset`.
    fn note(&mut self, offset: u64, report: &Report) -> Result<(), Failure> {
        if let Some(rejects) = &mut self.rejects {
            for refused in &report.refused {
                let (line, offset) =
                    (self.lines + refused.line + 1, offset.saturating_add_signed(refused.offset));
                rejects.add(format_args!("{}:{line}:{offset}: {}\n", self.file, report.text(refused)))?;
            }
        }
        self.stats.add(&report.stats);
        if let Some(findings) = &mut self.findings {
            findings.take(&self.file, self.lines, offset, &report.findings, self.output)?;
        }
        if report.too_deep > 0 {
            warn(format_args!(
                "{}: offset {offset}: an escape is spelt in more layers than fit in memory; the outermost stay",
                self.file
            ));
        }
        if let Some(Stop { line, offset: at, reason }) = &report.stop {
            let place = Place {
                file: self.file.clone(),
                line: self.lines + line + 1,
                offset: offset.saturating_add_signed(*at),
            };
            return Err(Failure::Data { place, reason: reason.clone() });
        }
        self.lines += report.lines;
        Ok(())
    }

    /// Writes `bytes`, whose last record has no end if it `is_open`.
    pub fn write(&mut self, bytes: &[u8], is_open: bool) -> Result<(), Failure> {
        if let Some(preview) = &mut self.preview {
            return preview.push(bytes, self.output);
        }
        if let Some(end) = self.seam.pass(bytes, is_open) {
            self.stats.bytes_out += 1;
            self.output.write(&[end])?;
        }
        self.stats.bytes_out += bytes.len() as u64;
        self.output.write(bytes)
    }
}

/// What software puts before text to say that it is UTF-8.
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// Passes the byte order mark that the input may begin with, which is part of no value. It is written, if all else
/// is, but only at the start of the output is it one.
pub fn pass_mark(feed: &mut Feed<'_>, sink: &mut Sink<'_>, is_written: bool) -> Result<(), Failure> {
    if !feed.strip(BYTE_ORDER_MARK)? {
        return Ok(());
    }
    sink.stats.bytes_in += BYTE_ORDER_MARK.len() as u64;
    if let Some(preview) = &mut sink.preview {
        preview.begin(BYTE_ORDER_MARK);
        return Ok(());
    }
    if sink.seam.is_used() || !is_written {
        return Ok(());
    }
    sink.write(BYTE_ORDER_MARK, false)
}

/// The buffers of a thread.
pub struct Buffers {
    size: usize,
    block: Buffer,
    marks: Marks,
    out: Vec<u8>,
    report: Report,
}

impl Buffers {
    fn new(size: usize, report: Report) -> Buffers {
        let (block, out) = (Buffer::new(size), Vec::with_capacity(room(size)));
        Buffers { size, block, marks: Marks::default(), out, report }
    }

    fn clear(&mut self) {
        self.out.clear();
        self.report.clear();
    }

    /// Gives back what a long record asked for.
    fn shrink(&mut self) {
        if self.block.len() > self.size {
            self.block = Buffer::new(self.size);
            self.marks = Marks::default();
        }
        self.out.clear();
        self.out.shrink_to(room(self.size));
    }
}

/// How many threads there may be.
#[derive(Clone, Copy, Debug)]
pub struct Threads(pub Option<NonZeroUsize>);

impl Threads {
    /// Their number: one for each core, if it was not said. To ask for the cores takes a small file's time.
    fn number(self) -> usize {
        let number = self.0.or_else(|| std::thread::available_parallelism().ok());
        number.map_or(1, |number| number.get().min(THREADS))
    }
}

/// The buffers that small files use one after the other.
#[derive(Default)]
pub struct Desk(Option<Buffers>);

/// Passes what `feed` has through `job` to `sink`, with at most so many `threads`.
pub fn pump<J: Job>(
    mut feed: Feed<'_>,
    mut job: J,
    mut sink: Sink<'_>,
    threads: Threads,
    desk: &mut Desk,
) -> Result<(), Failure> {
    let mut buffers = match desk.0.take() {
        Some(buffers) => Buffers { report: job.report(), ..buffers },
        None => Buffers::new(BLOCK, job.report()),
    };
    let start = feed.offset();
    let mut number = None;
    loop {
        if number.is_none() && feed.offset() - start >= SMALL {
            number = Some(threads.number());
        }
        if number.is_some_and(|number| number > 1) {
            break;
        }
        buffers.clear();
        match feed.next(&mut buffers.block, &mut buffers.marks)? {
            Piece::Chunk { len, offset, next } => {
                let Buffers { block, marks, out, report, .. } = &mut buffers;
                job.work(Chunk { bytes: &block[..len], next, marks }, out, report);
                sink.take(offset, out, report)?;
            }
            Piece::Long { offset } => long(&mut feed, &mut job, &mut buffers, &mut sink, offset)?,
            Piece::End => {
                buffers.shrink();
                desk.0 = Some(buffers);
                return Ok(());
            }
        }
    }
    drop(buffers);
    let threads = number.unwrap_or(1);
    let file = if sink.preview.is_none() && sink.findings.is_none() { sink.output.shared() } else { None };
    let most = if file.is_some() { FREE_BLOCK } else { LONG_BLOCK };
    let size = (SPREAD / threads).next_multiple_of(4096).clamp(BLOCK, most);
    let shared = Shared {
        file,
        feed: Mutex::new(Line { feed, number: 0, ended: false }),
        sink: Mutex::new(Turn { sink, number: 0, ended: Ok(()) }),
        turned: Condvar::new(),
    };
    std::thread::scope(|scope| {
        for _ in 1..threads {
            let (shared, job) = (&shared, job.clone());
            // Without a thread more, those that there are do the work.
            let started = std::thread::Builder::new()
                .name("work".to_owned())
                .spawn_scoped(scope, move || shared.run(job, size));
            if started.is_err() {
                break;
            }
        }
        shared.run(job, size);
    });
    shared.sink.into_inner().unwrap_or_else(PoisonError::into_inner).ended
}

/// Passes a record that is too long, at `offset`, of which the buffer is full.
fn long<J: Job>(
    feed: &mut Feed<'_>,
    job: &mut J,
    buffers: &mut Buffers,
    sink: &mut Sink<'_>,
    offset: u64,
) -> Result<(), Failure> {
    let Buffers { block, out, report, .. } = buffers;
    let (keep, outcome, reason) = match job.long(block, report) {
        Long::Copy(reason) => (true, "stays as it is", reason),
        Long::Skip(reason) => (false, "is left out", reason),
        Long::Pass(reason) => (false, "is not looked at", reason),
        Long::Parts { held } => {
            // A file, because memory is bounded.
            let mut held = if held { Some(Held::new()?) } else { None };
            // One part is worked on while the next place to cut is looked for.
            let finder = job.clone();
            feed.parts(
                block,
                |bytes| finder.cut(bytes),
                |bytes, part| {
                    out.clear();
                    report.clear();
                    job.part(bytes, part, out, report);
                    let Some(held) = &mut held else { return sink.take(part.offset, out, report) };
                    held.write(out)?;
                    // The record is written, or not, as a whole.
                    let is_open = std::mem::take(&mut report.is_open);
                    sink.take(part.offset, &[], report)?;
                    report.is_open = is_open;
                    Ok(())
                },
            )?;
            let Some(held) = held else { return Ok(()) };
            out.clear();
            let (is_other, is_open) = (job.instead(out), report.is_open);
            return if is_other { sink.write(out, is_open) } else { held.copy(block, sink, is_open) };
        }
    };
    let places = report.places;
    sink.take(offset, &[], report)?;
    warn(format_args!("{}: offset {offset}: {reason}, and {outcome}", sink.file));
    let end = feed.line_end();
    feed.rest(block, |piece| {
        if places {
            sink.lines += memchr::memchr_iter(end, piece).count() as u64;
        }
        sink.stats.bytes_in += piece.len() as u64;
        match &mut sink.preview {
            Some(preview) => preview.pass(piece, sink.output),
            None if keep => sink.write(piece, piece.last() != Some(&end)),
            None => Ok(()),
        }
    })
}

/// Output that may never be written: a temporary file.
struct Held {
    file: File,
    len: u64,
}

impl Held {
    fn new() -> Result<Held, Failure> {
        match tempfile::tempfile() {
            Ok(file) => Ok(Held { file, len: 0 }),
            Err(error) => Err(Failure::open(Held::name(), error)),
        }
    }

    /// What it is called in messages.
    fn name() -> String {
        format!("temporary file in {}", std::env::temp_dir().display())
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        self.file.write_all(bytes).map_err(|error| Failure::output(Held::name(), self.len, error))?;
        self.len += bytes.len() as u64;
        Ok(())
    }

    /// Writes all of it to `sink`, by way of `buffer`.
    fn copy(mut self, buffer: &mut [u8], sink: &mut Sink<'_>, is_open: bool) -> Result<(), Failure> {
        let failed = |error| Failure::open(Held::name(), error);
        self.file.rewind().map_err(failed)?;
        loop {
            match self.file.read(buffer) {
                Ok(0) => return Ok(()),
                Ok(len) => sink.write(&buffer[..len], is_open)?,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(failed(error)),
            }
        }
    }
}

/// What threads share.
struct Shared<'a> {
    /// The file that all write to, if its parts may be written in any order.
    file: Option<output::Shared>,
    feed: Mutex<Line<'a>>,
    sink: Mutex<Turn<'a>>,
    /// There is another turn, or the end.
    turned: Condvar,
}

/// The chunks to come.
struct Line<'a> {
    feed: Feed<'a>,
    /// The number of the next.
    number: u64,
    ended: bool,
}

/// The chunks that are done.
struct Turn<'a> {
    sink: Sink<'a>,
    /// The number of the next.
    number: u64,
    /// The failure that ended the run.
    ended: Result<(), Failure>,
}

impl<'a> Shared<'a> {
    /// Works until there is nothing left.
    fn run<J: Job>(&self, mut job: J, size: usize) {
        let _end = EndOnPanic(self);
        let mut buffers = Buffers::new(size, job.report());
        loop {
            buffers.clear();
            let mut line = lock(&self.feed);
            if line.ended {
                return;
            }
            let piece = line.feed.next(&mut buffers.block, &mut buffers.marks);
            let number = line.number;
            line.number += 1;
            let result = match piece {
                Ok(Piece::Chunk { len, offset, next }) => {
                    // One such chunk at a time, so that memory does not depend on the number of threads.
                    let line = Some(line).filter(|_| buffers.block.len() > size);
                    let Buffers { block, marks, out, report, .. } = &mut buffers;
                    job.work(Chunk { bytes: &block[..len], next, marks }, out, report);
                    let turn = self.turn(number);
                    let done = match &self.file {
                        None => self.done(turn, |sink| sink.take(offset, out, report)),
                        Some(file) => {
                            let mut place = 0;
                            let left = self.done(turn, |sink| {
                                place = sink.leave(out, report.is_open)?;
                                sink.note(offset, report)
                            });
                            left.and_then(|()| self.written(place, file.write(out, place)))
                        }
                    };
                    if line.is_some() {
                        buffers.shrink();
                    }
                    done
                }
                Ok(Piece::Long { offset }) => {
                    let turn = self.turn(number);
                    let done =
                        self.done(turn, |sink| long(&mut line.feed, &mut job, &mut buffers, sink, offset));
                    buffers.shrink();
                    done
                }
                Ok(Piece::End) => {
                    line.ended = true;
                    return;
                }
                Err(failure) => {
                    line.ended = true;
                    drop(line);
                    self.done(self.turn(number), |_| Err(failure))
                }
            };
            if result.is_none() {
                // Not while anything else is locked.
                lock(&self.feed).ended = true;
                return;
            }
        }
    }

    /// Waits for the turn of chunk `number`; there is none after a failure.
    fn turn(&self, number: u64) -> Option<MutexGuard<'_, Turn<'a>>> {
        let turn = lock(&self.sink);
        let waited = self.turned.wait_while(turn, |turn| turn.number != number && turn.ended.is_ok());
        Some(waited.unwrap_or_else(PoisonError::into_inner)).filter(|turn| turn.ended.is_ok())
    }

    /// Does what there is to do with the sink, and gives the turn to the next; `None` after a failure.
    fn done(
        &self,
        turn: Option<MutexGuard<'_, Turn<'a>>>,
        work: impl FnOnce(&mut Sink<'a>) -> Result<(), Failure>,
    ) -> Option<()> {
        let mut turn = turn?;
        turn.ended = work(&mut turn.sink);
        turn.number += 1;
        self.turned.notify_all();
        turn.ended.is_ok().then_some(())
    }

    /// The end of all if writing at `place` has failed.
    fn written(&self, place: u64, result: std::io::Result<()>) -> Option<()> {
        let Err(error) = result else { return Some(()) };
        let mut turn = lock(&self.sink);
        if turn.ended.is_ok() {
            turn.ended = Err(turn.sink.output.failed(place, error));
        }
        self.turned.notify_all();
        None
    }
}

/// Lets no thread wait for one that is gone.
struct EndOnPanic<'s, 'a>(&'s Shared<'a>);

impl Drop for EndOnPanic<'_, '_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            lock(&self.0.sink).ended = Err(Failure::Usage("a thread has failed; this is a bug".to_owned()));
            self.0.turned.notify_all();
        }
    }
}

/// Locks: after a panic elsewhere nothing is read from what it left but that there is an end.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
