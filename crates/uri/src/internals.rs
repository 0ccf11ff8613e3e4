//! Functions that select a kernel, for tests, fuzz targets and benchmarks of this workspace. They may change at any time.

#[cfg(feature = "whatwg")]
pub use crate::canon::kernel_tables;
pub use crate::canon::lines::canonicalize_lines_on;
pub use crate::columns::{split_column_on, split_each_on, split_lines_on, visit_each_line_on};
use crate::parts::Parts;
pub use crate::parts::split_on;
use crate::reference;

/// Runs [`split`](crate::split) without a kernel: the result that every kernel must return.
pub fn split_by_reference<'a>(input: &'a (impl AsRef<[u8]> + ?Sized)) -> Parts<'a> {
    let input = input.as_ref();
    Parts::from_offsets(input, reference::split(input))
}
