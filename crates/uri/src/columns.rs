//! Many URLs at once.

use alloc::vec::Vec;
use core::fmt;

use simdpct::Tier;
use simdpct::batch::{Column, Offset};

use crate::kernel::columns::Out;
use crate::kernel::isa::Level;
use crate::offsets::Offsets;
use crate::parts::Parts;

/// Where the parts of many URLs are: one column for each field of [`Offsets`], one row for each URL.
///
/// A `Columns` is made once and filled again and again; it allocates only when it grows. Splitting a column costs a third
/// to a half of calling [`split`](crate::split) for each URL.
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
pub struct Columns {
    // INVARIANT: all of one length.
    scheme_end: Vec<u32>,
    host_start: Vec<u32>,
    host_end: Vec<u32>,
    path_start: Vec<u32>,
    path_end: Vec<u32>,
    query_end: Vec<u32>,
}

macro_rules! columns {
    ($($(#[$doc:meta])* $name:ident)*) => {
        impl Columns {
            $(
                $(#[$doc])*
                #[must_use]
                pub fn $name(&self) -> &[u32] {
                    &self.$name
                }
            )*

            fn resize(&mut self, rows: usize) {
                $(self.$name.resize(rows, 0);)*
            }

            fn out(&mut self, from: usize) -> Out<'_> {
                Out { $($name: &mut self.$name[from..]),* }
            }

            fn row(&self, row: usize) -> Option<Offsets> {
                // A `u32` fits in a `usize` wherever a URL of that length exists.
                Some(Offsets { $($name: *self.$name.get(row)? as usize),* })
            }
        }
    };
}
columns! {
    /// The ends of the schemes; 0 without one.
    scheme_end
    /// The starts of the hosts.
    host_start
    /// The ends of the hosts.
    host_end
    /// The starts of the paths, which are the ends of the authorities.
    path_start
    /// The ends of the paths.
    path_end
    /// The ends of the queries.
    query_end
}

impl Columns {
    /// Without rows.
    #[must_use]
    pub fn new() -> Columns {
        Columns::default()
    }

    /// The number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.scheme_end.len()
    }

    /// Whether there are no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.scheme_end.is_empty()
    }

    /// Splits every value of `urls`; its rows replace those that were there. Takes time linear in the bytes.
    ///
    /// # Errors
    ///
    /// [`UrlTooLong`] if one is longer than `u32::MAX` bytes. The rows are unspecified then.
    pub fn split<O: Offset>(&mut self, urls: Column<'_, O>) -> Result<(), UrlTooLong> {
        self.split_at_level(Level::active(), urls)
    }

    /// The same with the kernels of another tier, for tests and comparisons.
    ///
    /// # Errors
    ///
    /// As [`Columns::split`].
    pub fn split_on<O: Offset>(&mut self, tier: Tier, urls: Column<'_, O>) -> Result<(), UrlTooLong> {
        self.split_at_level(Level::of(tier), urls)
    }

    fn split_at_level<O: Offset>(&mut self, level: Level, urls: Column<'_, O>) -> Result<(), UrlTooLong> {
        self.resize(urls.len());
        level.column(urls, &mut self.out(0)).map_err(|index| UrlTooLong { index })
    }

    /// The parts of row `row`, which are those of `url`; `None` if there is no such row, or if it is not a row of `url`
    /// because it reaches over its end.
    #[must_use]
    pub fn parts<'a>(&self, row: usize, url: &'a [u8]) -> Option<Parts<'a>> {
        let at = self.row(row)?;
        // In order and within `url`, even if it is another one.
        (at.query_end <= url.len()).then(|| Parts::from_offsets(url, at))
    }
}

/// Where the lines of a text are, and the parts of the URL that each is.
///
/// A line ends with LF, CR LF or the text; these do not belong to the URL.
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
    // INVARIANT: all of one length.
    starts: Vec<usize>,
    lens: Vec<u32>,
    columns: Columns,
}

impl Lines {
    /// Without lines.
    #[must_use]
    pub fn new() -> Lines {
        Lines::default()
    }

    /// Splits `text` into lines and each line into its parts; they replace those that were there. Takes time linear in the
    /// text.
    ///
    /// # Errors
    ///
    /// [`UrlTooLong`] if one is longer than `u32::MAX` bytes. The lines before it are there.
    pub fn split(&mut self, text: &[u8]) -> Result<(), UrlTooLong> {
        self.split_at_level(Level::active(), text)
    }

    /// The same with the kernels of another tier, for tests and comparisons.
    ///
    /// # Errors
    ///
    /// As [`Lines::split`].
    pub fn split_on(&mut self, tier: Tier, text: &[u8]) -> Result<(), UrlTooLong> {
        self.split_at_level(Level::of(tier), text)
    }

    fn split_at_level(&mut self, level: Level, text: &[u8]) -> Result<(), UrlTooLong> {
        let (mut rows, mut at) = (0, 0);
        let mut result = Ok(());
        while at < text.len() {
            if rows == self.lens.len() {
                // What is left, at the mean length so far; in doubt, lines are 64 bytes long.
                let left = text.len() - at;
                let mean = at.checked_div(rows).unwrap_or(64).max(1);
                self.resize(rows + left / mean + left / mean / 8 + 16);
            }
            let (starts, lens) = (&mut self.starts[rows..], &mut self.lens[rows..]);
            let progress = level.lines(text, at, starts, lens, &mut self.columns.out(rows));
            rows += progress.rows;
            at = progress.at;
            if progress.too_long {
                result = Err(UrlTooLong { index: rows });
                break;
            }
        }
        self.resize(rows);
        result
    }

    fn resize(&mut self, rows: usize) {
        self.starts.resize(rows, 0);
        self.lens.resize(rows, 0);
        self.columns.resize(rows);
    }

    /// The number of lines.
    #[must_use]
    pub fn len(&self) -> usize {
        self.lens.len()
    }

    /// Whether there are no lines.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.lens.is_empty()
    }

    /// Where the lines start in the text.
    #[must_use]
    pub fn starts(&self) -> &[usize] {
        &self.starts
    }

    /// The lengths of the lines, without their ends.
    #[must_use]
    pub fn lens(&self) -> &[u32] {
        &self.lens
    }

    /// Where the parts are, in bytes from the start of the line.
    #[must_use]
    pub fn columns(&self) -> &Columns {
        &self.columns
    }

    /// The parts of line `line` of `text`; `None` if there is no such line, or if it is not a line of `text` because it
    /// reaches over its end.
    #[must_use]
    pub fn parts<'a>(&self, line: usize, text: &'a [u8]) -> Option<Parts<'a>> {
        let (&start, &len) = (self.starts.get(line)?, self.lens.get(line)?);
        let url = text.get(start..)?.get(..len as usize)?;
        self.columns.parts(line, url)
    }
}

/// A URL is longer than offsets of columns can say: `u32::MAX` bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UrlTooLong {
    /// Its index.
    pub index: usize,
}

impl fmt::Display for UrlTooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "URL {} is longer than {} bytes", self.index, u32::MAX)
    }
}

impl core::error::Error for UrlTooLong {}
