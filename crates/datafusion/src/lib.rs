//! Percent-encoding and canonical URLs as functions of Apache DataFusion, for SQL and for data frames.
//!
//! ```
//! use datafusion::prelude::*;
//! use simdpct_datafusion::expr_fn::pct_decode;
//!
//! # fn main() -> datafusion::error::Result<()> {
//! # tokio::runtime::Runtime::new()?.block_on(async {
//! let mut ctx = SessionContext::new();
//! simdpct_datafusion::register_all(&mut ctx)?;
//!
//! // In SQL.
//! let pages = ctx.sql("SELECT url_canonical('HTTP://A.example:80/%7ejoe') AS page").await?;
//! assert!(pages.to_string().await?.contains("| http://a.example/~joe |"));
//!
//! // In a data frame. A malformed escape ends no query: it stays.
//! let values = dataframe!("q" => ["caf%C3%A9", "100%"])?;
//! let decoded = values.select(vec![pct_decode(col("q")).alias("q")])?;
//! assert!(decoded.clone().to_string().await?.contains("| café |"));
//! assert!(decoded.to_string().await?.contains("| 100% |"));
//! # Ok(()) }) }
//! ```
//!
//! | function | gives |
//! |---|---|
//! | `pct_encode(value [, set])` | text; `value` is text (its UTF-8) or binary. Without `set` only letters, digits and `- . _ ~` stay |
//! | `pct_decode(text)` | text; malformed escapes stay, and so do escapes of bytes that would not be UTF-8 |
//! | `try_pct_decode(text)` | the same, and null where an escape is malformed or the result is not UTF-8 |
//! | `pct_decode_blob(text)` | the exact bytes, as binary |
//! | `pct_normalize(text)` | escapes of unreserved bytes decoded, the others in upper case (RFC 3986, 6.2.2.1 and 6.2.2.2) |
//! | `url_canonical(url [, profile])` | the canonical form by a [`Profile`], `rfc3986-scheme` if none is given; a URL that it refuses stays |
//! | `try_url_canonical(url [, profile])` | the same, and null where the profile refuses |
//!
//! These are the functions that the DuckDB extension has, with the same answers. Null gives null. An unknown set or profile
//! is an error, when the query is planned if the name is a constant.
//!
//! # Types
//!
//! Text is `Utf8`, `LargeUtf8`, `Utf8View`, or a dictionary of one of these; binary is the same of `Binary`. The result has the
//! layout of the argument. Of a dictionary each value is worked on once, and the keys stay. A column in which nothing changes is
//! returned as it is, without a copy, and so are the values of a `Utf8View` that have no escape to decode.
//!
//! A batch of `Utf8`, or of views, may become at most 2 GiB long, and an error says where it does not; cast to `LargeUtf8`.

#![forbid(unsafe_code)]

mod apply;
mod canonical;
mod codec;
mod function;
mod verb;

use std::sync::Arc;

use datafusion_common::Result;
use datafusion_expr::ScalarUDF;
use datafusion_expr::registry::FunctionRegistry;
#[cfg(doc)]
use simdpct_uri::canon::Profile;

use crate::function::{Function, Kind};

/// All functions, to register some of them or to call them without a session.
#[must_use]
pub fn functions() -> Vec<Arc<ScalarUDF>> {
    Kind::ALL.into_iter().map(udf).collect()
}

/// Registers all functions, in a `SessionContext` or another registry. A function that has the name of one of these is replaced.
///
/// # Errors
///
/// Those of the registry, if it takes no functions. A `SessionContext` returns none.
pub fn register_all(registry: &mut dyn FunctionRegistry) -> Result<()> {
    for function in functions() {
        registry.register_udf(function)?;
    }
    Ok(())
}

fn udf(kind: Kind) -> Arc<ScalarUDF> {
    Arc::new(ScalarUDF::new_from_impl(Function::new(kind)))
}

/// The functions as expressions, for data frames. Names of sets and profiles are expressions, too: `lit("rfc3986-path")`.
pub mod expr_fn {
    use datafusion_expr::Expr;

    use crate::function::Kind;

    macro_rules! expressions {
        ($($(#[$doc:meta])* $name:ident($($argument:ident),*) = $kind:ident;)*) => {
            $(
                $(#[$doc])*
                #[must_use]
                pub fn $name($($argument: Expr),*) -> Expr {
                    crate::udf(Kind::$kind).call(vec![$($argument),*])
                }
            )*
        };
    }

    expressions! {
        /// All but letters, digits and `- . _ ~` as escapes (RFC 3986, 2.1 and 2.3).
        pct_encode(value) = PctEncode;
        /// The bytes of a named set stay; `pct sets` of the command lists them.
        pct_encode_keeping(value, set) = PctEncode;
        /// Escapes decoded. A malformed escape stays, and so does an escape whose byte would not be part of UTF-8.
        pct_decode(text) = PctDecode;
        /// The same, and null where an escape is malformed or the result is not UTF-8.
        try_pct_decode(text) = TryPctDecode;
        /// The exact bytes that are encoded, as binary.
        pct_decode_blob(text) = PctDecodeBlob;
        /// Escapes of unreserved bytes decoded, the others in upper case (RFC 3986, 6.2.2.1 and 6.2.2.2).
        pct_normalize(text) = PctNormalize;
        /// The canonical form by the profile `rfc3986-scheme`; a URL that it refuses stays.
        url_canonical(url) = UrlCanonical;
        /// The canonical form by a named profile; a URL that it refuses stays.
        url_canonical_by(url, profile) = UrlCanonical;
        /// The canonical form by the profile `rfc3986-scheme`, and null where it refuses.
        try_url_canonical(url) = TryUrlCanonical;
        /// The canonical form by a named profile, and null where it refuses.
        try_url_canonical_by(url, profile) = TryUrlCanonical;
    }
}
