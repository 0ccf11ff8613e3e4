//! The Python package `simdpct`: what the stubs in `python/simdpct` declare.
//!
//! | module | what |
//! |---|---|
//! | `call` | urllib's functions, as Python calls them; what is unusual goes on to urllib |
//! | `object` | Python objects as slices, and slices as Python objects |
//! | `quoting`, `query` | what urllib's functions do, without `unsafe` |
//!
//! `unsafe` is in the first two only.

mod call;
mod object;
mod query;
mod quoting;

use pyo3::prelude::*;

/// The compiled part of simdpct.
#[pymodule]
fn _simdpct(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    call::install(module)
}
