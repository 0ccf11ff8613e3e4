//! The kernels that prove lines canonical: a whole text, 64 bytes at a time, without work for each line.
//!
//! A mask has one bit for each byte. An addition whose carry goes from block to block finds the ends of runs, and a subtraction
//! with borrow fills regions, so neither the length of a line nor the number of lines causes a branch. The caller
//! splits and rewrites every line that is not proven. A rule may fail to prove a canonical line, which costs time only;
//! it must never prove a line that is not canonical.

use alloc::vec::Vec;
use core::marker::PhantomData;

use simdpct::simd::{Kernel, Simd};

/// The bit that an operation on masks carries from block to block.
#[derive(Clone, Copy, Default)]
pub(crate) struct Carry(pub(crate) u64);

impl Carry {
    /// Returns, for each bit of `start`, the first position at or after it that is not in `run`. A run holds at most one start.
    #[inline(always)]
    pub(crate) fn ends(&mut self, run: u64, start: u64) -> u64 {
        // A run that continues from the block before is like one that starts at the first bit.
        let (sum, over) = run.overflowing_add(start | self.0);
        self.0 = u64::from(over);
        sum & !run
    }

    /// Returns the positions from each start up to the end after it, without that end. Starts and ends alternate.
    #[inline(always)]
    pub(crate) fn between(&mut self, start: u64, end: u64) -> u64 {
        // If the block before ends between a start and its end, the first bit here is like a start.
        let (difference, under) = end.overflowing_sub(start | self.0);
        self.0 = u64::from(under);
        difference
    }

    /// Moves each bit to the next position. The last bit of a block moves to the next block.
    #[inline(always)]
    pub(crate) fn next(&mut self, mask: u64) -> u64 {
        let moved = mask << 1 | self.0;
        self.0 = mask >> 63;
        moved
    }
}

/// Finds the first byte of each line, from the line feeds.
pub(crate) struct LineStarts(Carry);

impl Default for LineStarts {
    /// Makes the state at the start of a text, where the first line starts.
    fn default() -> LineStarts {
        LineStarts(Carry(1))
    }
}

impl LineStarts {
    #[inline(always)]
    pub(crate) fn find(&mut self, newline: u64) -> u64 {
        self.0.next(newline)
    }
}

/// Finds the first byte after each `//` that starts at a given position.
#[derive(Default)]
pub(crate) struct Authorities([Carry; 2]);

impl Authorities {
    #[inline(always)]
    pub(crate) fn find(&mut self, slash: u64, start: u64) -> u64 {
        let first = slash & start;
        let second = slash & self.0[0].next(first);
        self.0[1].next(second)
    }
}

/// Finds the positions after the first dot and after the first two dots of segments that begin with dots. A segment is `.` or `..` if such
/// a position holds a delimiter.
#[derive(Default)]
pub(crate) struct Dots([Carry; 2]);

impl Dots {
    #[inline(always)]
    pub(crate) fn ends(&mut self, first: u64, dot: u64) -> u64 {
        // Few blocks have a segment that begins with a dot, so the branch is predicted.
        if first | self.0[0].0 | self.0[1].0 == 0 {
            return 0;
        }
        let after_1 = self.0[0].next(first);
        let after_2 = self.0[1].next(after_1 & dot);
        after_1 | after_2
    }
}

/// Finds the two bytes after each `%`.
#[derive(Default)]
pub(crate) struct Digits([Carry; 2]);

impl Digits {
    #[inline(always)]
    pub(crate) fn find(&mut self, percent: u64) -> (u64, u64) {
        if percent | self.0[0].0 | self.0[1].0 == 0 {
            return (0, 0);
        }
        let first = self.0[0].next(percent);
        (first, self.0[1].next(first))
    }
}

/// The state of a search for unproven lines, from block to block.
#[derive(Default)]
pub(crate) struct ProvenLines {
    proven: Carry,
    with_path: Carry,
}

impl ProvenLines {
    /// Returns the ends of unproven lines. A line is proven if it has a bit in `start` and no byte from there on is `bad`, its line feed
    /// included. `no_path` marks the ends of authorities without a path, whose lines lack only a slash.
    #[inline(always)]
    pub(crate) fn ends(&mut self, newline: u64, start: u64, bad: u64, no_path: u64) -> LineEnds {
        let lacks_path = no_path != 0 || self.proven.0 != self.with_path.0;
        let proven = self.proven.ends(!(bad | newline), start) & newline & !bad;
        if !lacks_path {
            self.with_path = self.proven;
            return LineEnds { unproven: newline & !proven, slash_missing: 0 };
        }
        let bad = bad | no_path;
        let canonical = self.with_path.ends(!(bad | newline), start) & newline & !bad;
        LineEnds { unproven: newline & !canonical, slash_missing: proven }
    }
}

/// The checks that prove that a line is in a certain canonical form.
pub(crate) trait Rule {
    /// The carries that the checks pass from block to block.
    type State: Default;

    /// Checks a block, and returns the ends of its unproven lines. `before` is the block that starts one byte earlier.
    fn check<S: Simd>(simd: S, before: &[u8; 64], block: &[u8; 64], state: &mut Self::State) -> LineEnds;
}

/// Masks of the line feeds that end unproven lines of a block.
pub(crate) struct LineEnds {
    pub(crate) unproven: u64,
    /// The line feeds of lines that become canonical if a slash is inserted after the authority. Bits outside `unproven` are
    /// unspecified.
    pub(crate) slash_missing: u64,
}

/// A line that is not proven canonical.
#[derive(Clone, Copy)]
pub(crate) struct Unproven {
    /// The end of the line: the offset of its line feed, or the length of the text.
    pub(crate) end: usize,
    /// Whether the line becomes canonical if a slash is inserted after the authority.
    pub(crate) slash_missing: bool,
}

/// Appends every line of `text` that is not proven canonical to `unproven`. Each line ends before a line feed or at the end of
/// the text. On the scalar tier the scan does nothing and returns `false`.
pub(crate) struct Scan<'a, R> {
    text: &'a [u8],
    unproven: &'a mut Vec<Unproven>,
    rule: PhantomData<R>,
}

impl<'a, R: Rule> Scan<'a, R> {
    pub(crate) fn new(text: &'a [u8], unproven: &'a mut Vec<Unproven>) -> Scan<'a, R> {
        Scan { text, unproven, rule: PhantomData }
    }

    /// Checks the last 64 of 65 bytes. They start at offset `at` of the text, and only line feeds in the lanes of `live` are
    /// reported.
    #[inline(always)]
    fn check<S: Simd>(&mut self, simd: S, bytes: &[u8; 65], live: u64, at: usize, state: &mut R::State) {
        let [before @ .., _] = bytes;
        let [_, block @ ..] = bytes;
        let ends = R::check(simd, before, block, state);
        let mut places = ends.unproven & live;
        while places != 0 {
            let place = places.trailing_zeros();
            let slash_missing = ends.slash_missing >> place & 1 != 0;
            self.unproven.push(Unproven { end: at + place as usize, slash_missing });
            places &= places - 1;
        }
    }
}

impl<R: Rule> Kernel for Scan<'_, R> {
    type Output = bool;

    #[inline(always)]
    fn run<S: Simd>(mut self, simd: S) -> bool {
        let text = self.text;
        let mut state = R::State::default();
        let mut at: usize = 0;
        let mut staged = [b'\n'; 65];
        if text.len() >= 64 {
            staged[1..].copy_from_slice(&text[..64]);
            self.check(simd, &staged, !0, 0, &mut state);
            at = 64;
        }
        while let Some(bytes) = text.get(at.wrapping_sub(1)..).and_then(<[u8]>::first_chunk::<65>) {
            self.check(simd, bytes, !0, at, &mut state);
            at += 64;
        }
        // The last block is padded with line feeds. The first of these ends the last line if that has no line feed of its own.
        let rest = &text[at.saturating_sub(1)..];
        staged = [b'\n'; 65];
        staged[usize::from(at == 0)..][..rest.len()].copy_from_slice(rest);
        let len = text.len() - at + usize::from(text.last().is_some_and(|&last| last != b'\n'));
        let live = if len < 64 { (1 << len) - 1 } else { !0 };
        self.check(simd, &staged, live, at, &mut state);
        true
    }

    fn run_scalar(self) -> bool {
        false
    }
}
