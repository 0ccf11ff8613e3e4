//! The kernels that split many URLs into columns.

use simdpct::batch::{Column, Offset};
use simdpct::simd::{Kernel, Simd};

use super::split::{find, split};
use crate::offsets::Offsets;
use crate::parts::Parts;
use crate::reference;

/// The columns to fill, in the order of [`Offsets::to_array`]. All have the same length.
pub(crate) type Out<'o> = [&'o mut [u32]; 6];

/// Writes the offsets of one URL to one row. The caller has checked that the URL is at most `u32::MAX` bytes long.
#[inline(always)]
#[allow(clippy::cast_possible_truncation, reason = "offsets are at most the length of the URL")]
fn set(out: &mut Out<'_>, row: usize, at: Offsets) {
    for (column, offset) in out.iter_mut().zip(at.to_array()) {
        column[row] = offset as u32;
    }
}

/// An operation on many URLs. The same code runs with the kernels of a tier and with the module `reference`, which
/// works a byte at a time.
pub(crate) trait SplitMany {
    type Output;

    /// Runs the operation. Implementations are `inline(always)`; see [`Kernel::run`].
    fn run_with(self, splitter: impl Splitter) -> Self::Output;
}

/// The kernel that runs an operation on many URLs.
pub(crate) struct Many<T>(pub(crate) T);

impl<T: SplitMany> Kernel for Many<T> {
    type Output = T::Output;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> T::Output {
        self.0.run_with(simd)
    }

    fn run_scalar(self) -> T::Output {
        self.0.run_with(Reference)
    }
}

/// Splits every value of a column into its row of `out`, which has one row for each value. Fails with the index of the first
/// value that is longer than `u32::MAX` bytes.
pub(crate) struct SplitColumn<'a, 'o, O> {
    pub(crate) urls: Column<'a, O>,
    pub(crate) out: Out<'o>,
}

impl<O: Offset> SplitMany for SplitColumn<'_, '_, O> {
    type Output = Result<(), usize>;

    #[inline(always)]
    fn run_with(mut self, splitter: impl Splitter) -> Result<(), usize> {
        let bytes = self.urls.bytes();
        // The values of a column follow each other without gaps, so each starts where the one before it ends.
        let mut start = self.urls.get(0).map_or(0, |first| first.as_ptr().addr() - bytes.as_ptr().addr());
        for (row, url) in self.urls.iter().enumerate() {
            if u32::try_from(url.len()).is_err() {
                return Err(row);
            }
            set(&mut self.out, row, splitter.split(url, &bytes[start..]));
            start += url.len();
        }
        Ok(())
    }
}

/// Splits each URL of an iterator, and passes its parts to a function.
pub(crate) struct SplitEach<U, F> {
    pub(crate) urls: U,
    pub(crate) each: F,
}

impl<'a, U: Iterator<Item = Option<&'a [u8]>>, F: FnMut(Option<Parts<'a>>)> SplitMany for SplitEach<U, F> {
    type Output = ();

    #[inline(always)]
    fn run_with(mut self, splitter: impl Splitter) {
        for url in self.urls {
            // A closure in `map` would not have the CPU features, so the kernel would not be inlined.
            match url {
                None => (self.each)(None),
                Some(url) => (self.each)(Some(Parts::from_offsets(url, splitter.split(url, url)))),
            }
        }
    }
}

/// A receiver of the parts of many URLs, for the command. It is not part of the API.
///
/// Implementations of the method are marked `inline(always)` and so become a part of the loop that splits the URLs, with its CPU features.
/// A closure would be called in the loop, and `pct split` would take a sixth longer.
#[doc(hidden)]
pub trait PartsVisitor<'a> {
    /// Receives the parts of the next URL.
    fn url(&mut self, url: Parts<'a>);
}

impl<'a, F: FnMut(Parts<'a>)> PartsVisitor<'a> for F {
    #[inline(always)]
    fn url(&mut self, url: Parts<'a>) {
        self(url);
    }
}

/// Splits each line of a text, and passes its parts to a visitor.
pub(crate) struct SplitEachLine<'a, 'v, V> {
    pub(crate) text: &'a [u8],
    pub(crate) visitor: &'v mut V,
}

impl<'a, V: PartsVisitor<'a>> SplitMany for SplitEachLine<'a, '_, V> {
    type Output = ();

    #[inline(always)]
    fn run_with(self, splitter: impl Splitter) {
        let mut at = 0;
        while let Some(text) = self.text.get(at..).filter(|text| !text.is_empty()) {
            let (line_len, url_len, offsets) = splitter.split_line(text);
            self.visitor.url(Parts::from_offsets(&text[..url_len], offsets));
            at += line_len + 1;
        }
    }
}

/// Splits the lines of `text` from the offset `at` on, until all rows are filled or the text ends.
pub(crate) struct SplitLines<'a, 'o> {
    pub(crate) text: &'a [u8],
    pub(crate) at: usize,
    pub(crate) starts: &'o mut [usize],
    pub(crate) lens: &'o mut [u32],
    pub(crate) out: Out<'o>,
}

/// The position at which [`SplitLines`] stopped.
pub(crate) struct Progress {
    /// The number of rows filled.
    pub(crate) rows: usize,
    /// The start of the next line. It is at or after the end of the text if no line is left.
    pub(crate) at: usize,
    /// Whether the line that starts at `at` is longer than `u32::MAX` bytes.
    pub(crate) too_long: bool,
}

impl SplitMany for SplitLines<'_, '_> {
    type Output = Progress;

    #[inline(always)]
    fn run_with(mut self, splitter: impl Splitter) -> Progress {
        let (mut rows, mut at) = (0, self.at);
        while rows < self.lens.len() && at < self.text.len() {
            let (line_len, url_len, offsets) = splitter.split_line(&self.text[at..]);
            let Ok(len) = u32::try_from(url_len) else {
                return Progress { rows, at, too_long: true };
            };
            self.starts[rows] = at;
            self.lens[rows] = len;
            set(&mut self.out, rows, offsets);
            rows += 1;
            at += line_len + 1;
        }
        Progress { rows, at, too_long: false }
    }
}

/// A way to split one URL of many: with the instructions of a tier, or by the module `reference`.
pub(crate) trait Splitter: Copy {
    /// Splits `url`. `text` starts with `url`, and its further bytes may be loaded, too.
    fn split(self, url: &[u8], text: &[u8]) -> Offsets;

    /// Splits the first line of `text`. Returns the length of the line without LF, the length of the URL without LF and CR, and
    /// the offsets of the parts of the URL.
    fn split_line(self, text: &[u8]) -> (usize, usize, Offsets);
}

impl<S: Simd> Splitter for S {
    #[inline(always)]
    fn split(self, url: &[u8], text: &[u8]) -> Offsets {
        // Loading a whole block takes fewer instructions than loading a part. `split` ignores the bytes after the URL.
        let block = match text.first_chunk::<64>() {
            Some(bytes) => self.load(bytes),
            None => self.load(url),
        };
        split(self, url, block)
    }

    #[inline(always)]
    fn split_line(self, text: &[u8]) -> (usize, usize, Offsets) {
        let live = if text.len() < 64 { (1 << text.len()) - 1 } else { !0 };
        let block = self.load(text);
        let newline = self.eq(block, b'\n') & live;
        let end = if newline != 0 {
            newline.trailing_zeros() as usize
        } else {
            find(self, text, text.len().min(64), *b"\n\n\n\n")
        };
        let url = without_cr(&text[..end]);
        (end, url.len(), split(self, url, block))
    }
}

/// The splitter without vectors: it calls the module `reference`.
#[derive(Clone, Copy)]
struct Reference;

impl Splitter for Reference {
    fn split(self, url: &[u8], _: &[u8]) -> Offsets {
        reference::split(url)
    }

    fn split_line(self, text: &[u8]) -> (usize, usize, Offsets) {
        let end = memchr::memchr(b'\n', text).unwrap_or(text.len());
        let url = without_cr(&text[..end]);
        (end, url.len(), reference::split(url))
    }
}

#[inline(always)]
fn without_cr(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}
