//! Splits many URLs at once: the values of a column, or the lines of a text.

use alloc::vec::Vec;
use core::fmt;

use simdpct::Tier;
use simdpct::batch::{Column, Offset};
use simdpct::simd::run;

#[doc(hidden)]
pub use crate::kernel::columns::PartsVisitor;
use crate::kernel::columns::{Many, Out, SplitColumn, SplitEach, SplitEachLine, SplitLines};
use crate::offsets::Offsets;
use crate::parts::Parts;

/// The positions of the parts of many URLs: a column for each field of [`Offsets`], a row for each URL.
///
/// Make a `Columns` once and fill it again and again: it allocates only when it grows. Splitting a column takes a third to a half of the
/// time that [`split`](crate::split) takes for each URL.
///
/// ```
/// use simdpct::batch::Column;
/// use simdpct_uri::Columns;
///
/// let urls = b"http://example.com/amailto:b@c?d#e";
/// let urls = Column::new(urls, &[0_u32, 20, 30, 34])?;
/// let mut columns = Columns::new();
/// columns.split(urls)?;
/// assert_eq!(columns.scheme_end(), [4, 6, 0]);
/// assert_eq!(columns.path_start(), [18, 7, 0]);
/// let third = columns.parts(2, urls.get(2).unwrap()).unwrap();
/// assert_eq!(third.query(), Some(&b"d"[..]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Columns([Vec<u32>; 6]); // INVARIANT: all columns have the same length.

macro_rules! columns {
    ($($(#[$doc:meta])* $name:ident = $index:literal;)*) => {
        impl Columns {
            $(
                $(#[$doc])*
                #[must_use]
                pub fn $name(&self) -> &[u32] {
                    &self.0[$index]
                }
            )*
        }
    };
}

// The indexes are those of the array that `Offsets::to_array` returns.
columns! {
    /// Returns the end of the scheme of each URL; 0 for a URL without a scheme.
    scheme_end = 0;
    /// Returns the start of the host of each URL.
    host_start = 1;
    /// Returns the end of the host of each URL.
    host_end = 2;
    /// Returns the start of the path of each URL, which is the end of its authority.
    path_start = 3;
    /// Returns the end of the path of each URL.
    path_end = 4;
    /// Returns the end of the query of each URL.
    query_end = 5;
}

impl Columns {
    /// Makes columns without rows.
    #[must_use]
    pub fn new() -> Columns {
        Columns::default()
    }

    /// Returns the number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0[0].len()
    }

    /// Reports whether there are no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0[0].is_empty()
    }

    /// Splits every value of `urls`. The new rows replace the old ones. Takes time linear in the bytes of the column.
    ///
    /// # Errors
    ///
    /// [`UrlTooLong`] if a value is longer than `u32::MAX` bytes. The rows are then unspecified.
    pub fn split<O: Offset>(&mut self, urls: Column<'_, O>) -> Result<(), UrlTooLong> {
        split_column_on(Tier::active(), urls, self)
    }

    fn resize(&mut self, rows: usize) {
        self.0.iter_mut().for_each(|column| column.resize(rows, 0));
    }

    fn out(&mut self, from: usize) -> Out<'_> {
        self.0.each_mut().map(|column| &mut column[from..])
    }

    /// Returns the parts of `url`, which must be the value that row `row` was made from. Returns `None` if there is no such row, or if
    /// its offsets exceed the length of `url`.
    #[inline]
    #[must_use]
    pub fn parts<'a>(&self, row: usize, url: &'a [u8]) -> Option<Parts<'a>> {
        let at = |column: usize| Some(*self.0[column].get(row)? as usize);
        let at = Offsets {
            scheme_end: at(0)?,
            host_start: at(1)?,
            host_end: at(2)?,
            path_start: at(3)?,
            path_end: at(4)?,
            query_end: at(5)?,
        };
        // The offsets of a row are in order, so this check of the largest keeps all within `url`, even if the row was made from
        // another URL.
        (at.query_end <= url.len()).then(|| Parts::from_offsets(url, at))
    }
}

/// Runs [`Columns::split`] with the kernels of `tier`.
///
/// # Errors
///
/// See [`Columns::split`].
pub fn split_column_on<O: Offset>(
    tier: Tier,
    urls: Column<'_, O>,
    columns: &mut Columns,
) -> Result<(), UrlTooLong> {
    columns.resize(urls.len());
    run(tier, Many(SplitColumn { urls, out: columns.out(0) })).map_err(|index| UrlTooLong { index })
}

/// Splits each URL, and passes its parts to `each`. `None`, which is a row without a URL, is passed to `each`, too.
///
/// Use it for URLs that are not in one [`Column`]. It chooses the kernels once for all URLs, and
/// [`split`](crate::split) chooses them for each URL.
///
/// ```
/// let mut hosts = Vec::new();
/// simdpct_uri::split_each([Some(&b"http://a/"[..]), None], |url| hosts.push(url.and_then(|url| url.host())));
/// assert_eq!(hosts[0].unwrap(), "a");
/// assert!(hosts[1].is_none());
/// ```
pub fn split_each<'a>(urls: impl IntoIterator<Item = Option<&'a [u8]>>, each: impl FnMut(Option<Parts<'a>>)) {
    split_each_on(Tier::active(), urls, each);
}

/// Runs [`split_each`] with the kernels of `tier`.
pub fn split_each_on<'a>(
    tier: Tier,
    urls: impl IntoIterator<Item = Option<&'a [u8]>>,
    each: impl FnMut(Option<Parts<'a>>),
) {
    run(tier, Many(SplitEach { urls: urls.into_iter(), each }));
}

/// Splits each line of `text`, and passes its parts to `each`.
///
/// LF, CR LF or the end of the text ends a line, and is not part of the URL. This function stores no positions;
/// [`Lines`] stores them.
///
/// ```
/// let mut hosts = Vec::new();
/// simdpct_uri::split_each_line(b"http://a/b\r\n//c\n", |url| hosts.extend(url.host()));
/// assert_eq!(hosts, ["a", "c"]);
/// ```
pub fn split_each_line<'a>(text: &'a [u8], mut each: impl FnMut(Parts<'a>)) {
    visit_each_line(text, &mut each);
}

/// Splits each line of `text`, and passes its parts to `visitor`. See [`split_each_line`].
#[doc(hidden)]
pub fn visit_each_line<'a>(text: &'a [u8], visitor: &mut impl PartsVisitor<'a>) {
    visit_each_line_on(Tier::active(), text, visitor);
}

/// Runs [`visit_each_line`] with the kernels of `tier`.
pub fn visit_each_line_on<'a>(tier: Tier, text: &'a [u8], visitor: &mut impl PartsVisitor<'a>) {
    run(tier, Many(SplitEachLine { text, visitor }));
}

/// The positions of the lines of a text, and of the parts of the URL in each line.
///
/// LF, CR LF or the end of the text ends a line, and is not part of the URL.
///
/// ```
/// use simdpct_uri::Lines;
///
/// let text = b"http://a/b\r\n/c?d\n";
/// let mut lines = Lines::new();
/// lines.split(text)?;
/// assert_eq!(lines.columns().path_start(), [8, 0]);
/// assert_eq!(lines.parts(1, text).unwrap().query(), Some(&b"d"[..]));
/// # Ok::<(), simdpct_uri::UrlTooLong>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lines {
    // INVARIANT: `starts`, `lens` and `columns` have the same length.
    starts: Vec<usize>,
    lens: Vec<u32>,
    columns: Columns,
}

impl Lines {
    /// Makes lines of an empty text.
    #[must_use]
    pub fn new() -> Lines {
        Lines::default()
    }

    /// Splits `text` into lines, and each line into its parts. The new lines replace the old ones. Takes time linear in the text.
    ///
    /// # Errors
    ///
    /// [`UrlTooLong`] if a line is longer than `u32::MAX` bytes. The lines before it are kept.
    pub fn split(&mut self, text: &[u8]) -> Result<(), UrlTooLong> {
        split_lines_on(Tier::active(), text, self)
    }

    fn resize(&mut self, rows: usize) {
        self.starts.resize(rows, 0);
        self.lens.resize(rows, 0);
        self.columns.resize(rows);
    }

    /// Returns the number of lines.
    #[must_use]
    pub fn len(&self) -> usize {
        self.lens.len()
    }

    /// Reports whether there are no lines.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.lens.is_empty()
    }

    /// Returns the offsets in the text at which the lines start.
    #[must_use]
    pub fn starts(&self) -> &[usize] {
        &self.starts
    }

    /// Returns the lengths of the lines in bytes, without LF and CR LF.
    #[must_use]
    pub fn lens(&self) -> &[u32] {
        &self.lens
    }

    /// Returns the positions of the parts, in bytes from the start of each line.
    #[must_use]
    pub fn columns(&self) -> &Columns {
        &self.columns
    }

    /// Returns the parts of line `line` of `text`. Returns `None` if there is no such line, or if it exceeds the end of `text`.
    #[inline]
    #[must_use]
    pub fn parts<'a>(&self, line: usize, text: &'a [u8]) -> Option<Parts<'a>> {
        let (&start, &len) = (self.starts.get(line)?, self.lens.get(line)?);
        let url = text.get(start..)?.get(..len as usize)?;
        self.columns.parts(line, url)
    }
}

/// Runs [`Lines::split`] with the kernels of `tier`.
///
/// # Errors
///
/// See [`Lines::split`].
pub fn split_lines_on(tier: Tier, text: &[u8], lines: &mut Lines) -> Result<(), UrlTooLong> {
    let (mut rows, mut at) = (0, 0);
    let mut result = Ok(());
    while at < text.len() {
        if rows == lines.lens.len() {
            // Add enough rows for the rest of the text if its lines have the mean length of the lines so far. At the start,
            // the mean is taken as 64 bytes.
            let left = text.len() - at;
            let mean = at.checked_div(rows).unwrap_or(64).max(1);
            lines.resize(rows + left / mean + left / mean / 8 + 16);
        }
        let (starts, lens) = (&mut lines.starts[rows..], &mut lines.lens[rows..]);
        let out = lines.columns.out(rows);
        let progress = run(tier, Many(SplitLines { text, at, starts, lens, out }));
        rows += progress.rows;
        at = progress.at;
        if progress.too_long {
            result = Err(UrlTooLong { index: rows });
            break;
        }
    }
    lines.resize(rows);
    result
}

/// The error of [`Columns::split`] and [`Lines::split`]: a URL is longer than `u32::MAX` bytes, the largest offset of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UrlTooLong {
    /// The index of the URL that is too long, counted from 0.
    pub index: usize,
}

impl fmt::Display for UrlTooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "URL {} is longer than {} bytes", self.index, u32::MAX)
    }
}

impl core::error::Error for UrlTooLong {}
