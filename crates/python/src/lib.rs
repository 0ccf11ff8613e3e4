//! The compiled part of the Python package `simdpct`, which the stubs in `python/simdpct` declare.
//!
//! | module | purpose |
//! |---|---|
//! | `urllib` | the table of the functions that replace urllib's, as CPython calls them |
//! | `quoting`, `query` | the work of these functions |
//! | `call` | the arguments of a call; an unusual call is passed to urllib's own function |
//! | `object` | Python objects as slices, and slices as Python objects |
//! | `arguments` | the arguments of the functions that urllib does not have |
//! | `strings` | functions of one string that urllib does not have |
//! | `table` | the call of a function on columns, and the class of its results |
//! | `options` | the options of the functions on columns, as text |
//! | `plugin` | the functions on columns, as Polars calls them |
//! | `columns` | columns, and the functions of the crate `simdpct-functions` on them |
//! | `arrow` | columns from and to other libraries, by the Arrow C data interface |
//! | `pool` | the memory of freed results, for new results |
//!
//! Only `arrow`, `call`, `object`, `plugin` and `urllib` contain `unsafe`.

mod arguments;
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
mod urllib;

use pyo3::prelude::*;
use pyo3::types::PyTuple;
use uri::canon::Profile;

/// The compiled part of simdpct.
// The GIL is required because items of lists and dicts are read in several steps, which must not interleave with other threads.
#[pymodule(gil_used = true)]
fn _simdpct(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    call::require_main_interpreter(py)?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("PROFILES", PyTuple::new(py, Profile::ALL.iter().map(|profile| profile.name()))?)?;
    module.add("MalformedEscape", py.get_type::<strings::MalformedEscape>())?;
    module.add_class::<strings::Counts>()?;
    module.add_class::<strings::Parts>()?;
    module.add_class::<table::PyColumn>()?;
    let functions = [
        wrap_pyfunction!(strings::normalize, module)?,
        wrap_pyfunction!(strings::validate, module)?,
        wrap_pyfunction!(strings::count, module)?,
        wrap_pyfunction!(strings::decode_until_stable, module)?,
        wrap_pyfunction!(strings::encode_ext_value, module)?,
        wrap_pyfunction!(strings::decode_ext_value, module)?,
        wrap_pyfunction!(strings::encode_multipart_name, module)?,
        wrap_pyfunction!(strings::decode_multipart_name, module)?,
        wrap_pyfunction!(strings::canonicalize, module)?,
        wrap_pyfunction!(strings::split, module)?,
        wrap_pyfunction!(strings::get, module)?,
    ];
    // Only the Python modules of the package call the next three functions.
    module.add_function(wrap_pyfunction!(table::apply, module)?)?;
    module.add_function(wrap_pyfunction!(options::options, module)?)?;
    module.add_function(wrap_pyfunction!(options::polars_threads, module)?)?;
    for function in functions {
        function.setattr("__module__", "simdpct")?;
        module.add_function(function)?;
    }
    urllib::install(module)
}
