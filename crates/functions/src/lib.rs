//! Defines each function for data engines once: its name, arguments, choices on bad input, documentation and body.
//!
//! DuckDB, DataFusion, Polars and the columns of the Python package call these functions. The packages for these engines only
//! translate types: this crate alone decides what a function does, and depends on no engine.
//!
//! - DataFusion, Polars and Python have Arrow arrays, which they pass to the module `columns` of the feature `arrow`.
//! - DuckDB gives a batch of rows as [`Values`], calls [`Verb::apply`], [`extract_parts`] or [`Output::extract`], and copies the
//!   [`Results`] or [`Extracted`] texts into a vector.
//!
//! # Adding a function
//!
//! Add an entry to `table.rs`: [`Function`] describes its fields, and a [`Body`] does the work. A function of URLs is an entry
//! of `url_functions!`, and its body gets one row of a batch at a time. The body of another function makes a [`Verb`], which
//! works on a whole batch; if no verb can do the work, add one to `verb.rs`. The list `ALL` names each function that has a verb. SQL
//! engines then have the function, because they register [`sql_functions`]; the Rust expressions of DataFusion and the functions of
//! Python must name it, too. Then run `SIMDPCT_BLESS=1 cargo test -p simdpct-functions`, which writes the table of FUNCTIONS.md anew.
//!
#![doc = include_str!("../FUNCTIONS.md")]
#![forbid(unsafe_code)]

mod canonical;
#[cfg(feature = "arrow")]
pub mod columns;
mod output;
mod policy;
mod table;
mod url;
mod values;
mod verb;

pub use canonical::{Form, canonicalize_each};
pub use output::Output;
pub use policy::{Failure, Policy};
pub use table::{
    Body, CANONICALIZE, DECODE, DECODE_BYTES, ENCODE, Function, MALFORMED, NORMALIZE, Name, Options,
    SqlFunction, find_profile, find_set, sql_functions, unknown,
};
pub use url::{Extracted, PartBody, Row, UrlBody, Value, extract_parts};
pub use values::Values;
pub use verb::{Results, Verb};
