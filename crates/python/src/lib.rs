//! The Python package `simdpct`: what the stubs in `python/simdpct` declare.
//!
//! | module | what |
//! |---|---|
//! | `call` | urllib's functions, as Python calls them; what is unusual goes on to urllib |
//! | `object` | Python objects as slices, and slices as Python objects |
//! | `quoting`, `query` | what urllib's functions do |
//! | `strings` | what urllib does not have, of one string |
//! | `arrow` | columns that come and go by the Arrow C data interface |
//! | `columns` | what is done to columns, on all cores |
//! | `pool` | memory that is used again |
//! | `table` | the functions on columns, as Python has them |
//! | `plugin` | the same functions, as Polars calls them by its C interface for plugins |
//! | `options` | their options, on the way through Polars |
//!
//! `unsafe` is in `arrow`, `call`, `object` and `plugin` only.

mod arrow;
mod call;
mod columns;
mod object;
mod options;
mod plugin;
mod pool;
mod query;
mod quoting;
mod strings;
mod table;

use pyo3::prelude::*;
use pyo3::types::PyTuple;
use uri::canon::Profile;

/// The compiled part of simdpct.
#[pymodule]
fn _simdpct(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("PROFILES", PyTuple::new(py, Profile::ALL.iter().map(|profile| profile.name()))?)?;
    module.add("MalformedEscape", py.get_type::<strings::MalformedEscape>())?;
    module.add_class::<strings::Counts>()?;
    module.add_class::<strings::Parts>()?;
    module.add_class::<table::PyColumn>()?;
    let functions = [
        wrap_pyfunction!(strings::normalize, module)?,
        wrap_pyfunction!(strings::validate, module)?,
        wrap_pyfunction!(strings::check, module)?,
        wrap_pyfunction!(strings::decode_until_stable, module)?,
        wrap_pyfunction!(strings::canonicalize, module)?,
        wrap_pyfunction!(strings::split, module)?,
        wrap_pyfunction!(strings::get, module)?,
        wrap_pyfunction!(table::quote_array, module)?,
        wrap_pyfunction!(table::unquote_array, module)?,
        wrap_pyfunction!(table::normalize_array, module)?,
        wrap_pyfunction!(table::canonicalize_array, module)?,
        wrap_pyfunction!(table::malformed_array, module)?,
    ];
    // For simdpct.polars only.
    module.add_function(wrap_pyfunction!(options::polars_options, module)?)?;
    module.add_function(wrap_pyfunction!(options::polars_threads, module)?)?;
    for function in functions {
        function.setattr("__module__", "simdpct")?;
        module.add_function(function)?;
    }
    call::install(module)
}
