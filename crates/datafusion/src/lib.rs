//! Parts of URLs, percent-encoding and canonical URLs as functions of Apache DataFusion, for SQL and for data frames.
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
//! let host = ctx.sql("SELECT url_host('http://me@a.example:80/'), url_param('?q=a+b', 'q')").await?;
//! assert!(host.to_string().await?.contains("| a.example "));
//!
//! // In a data frame. A malformed escape stays as it is and does not end the query.
//! let values = dataframe!("q" => ["caf%C3%A9", "100%"])?;
//! let decoded = values.select(vec![pct_decode(col("q")).alias("q")])?;
//! assert!(decoded.clone().to_string().await?.contains("| café |"));
//! assert!(decoded.to_string().await?.contains("| 100% |"));
//! # Ok(()) }) }
//! ```
//!
//! [`simdpct_functions`](simdpct_functions#the-functions-in-sql) describes each function. The functions that return a
//! part split a URL by RFC 3986, appendix B. A part that a URL does not have is null.
//!
//! The DuckDB extension has the same functions with the same answers. If an argument is null, the result is null. A set
//! has the bytes that stay, and a profile has the rules of a canonical form. An unknown name of a set or profile is an
//! error. If the name is a constant, the error comes when the query is planned.
//!
//! # Types
//!
//! Text is `Utf8`, `LargeUtf8`, `Utf8View`, or a dictionary of one of these; binary is `Binary`, `LargeBinary`, `BinaryView` or a
//! dictionary of one of these. `FixedSizeBinary` is converted to `Binary`. The result has the layout of the argument. Each value of
//! a dictionary is processed once. The keys stay, except that the keys of a value that becomes null become null, and that values
//! without a key are removed from a dictionary with more values than rows. If encoding, decoding, normalizing or canonicalizing
//! changes no value of a column, the result shares its memory. If few values of a `Utf8View` have escapes, decoding and normalizing
//! copy only these values. Parts of URLs that are not decoded are views of its buffers. The functions that take URLs apart or put
//! them together unpack a dictionary. If a column has the names of sets or profiles, a dictionary is unpacked, and the result is a
//! copy. The code for arrays is [`simdpct_functions::columns`].
//!
//! The results of a batch of `Utf8` or of views may be at most 2 GiB long. A longer batch is an error; casting the
//! column to `LargeUtf8` avoids it.

#![forbid(unsafe_code)]

mod apply;
mod function;

use std::sync::Arc;

use datafusion_common::Result;
use datafusion_expr::ScalarUDF;
use datafusion_expr::registry::FunctionRegistry;
use simdpct_functions::{SqlFunction, sql_functions};

use crate::function::Function;

/// Returns all functions. A caller can register some of them, or call them without a session.
#[must_use]
pub fn functions() -> Vec<Arc<ScalarUDF>> {
    sql_functions().iter().map(udf).collect()
}

/// Registers all functions in a `SessionContext` or another registry, where they replace functions of the same names.
///
/// # Errors
///
/// The error of the registry if it does not accept functions. A `SessionContext` accepts them.
pub fn register_all(registry: &mut dyn FunctionRegistry) -> Result<()> {
    for function in functions() {
        registry.register_udf(function)?;
    }
    Ok(())
}

fn udf(sql: &'static SqlFunction) -> Arc<ScalarUDF> {
    Arc::new(ScalarUDF::new_from_impl(Function::new(sql)))
}

/// The functions as expressions, for data frames. Names of sets and profiles are expressions, too: `lit("rfc3986-path")`.
///
/// The documentation of the [crate] describes the functions.
pub mod expr_fn {
    use datafusion_expr::Expr;
    use simdpct_functions::sql_functions;

    macro_rules! expressions {
        ($($name:ident($($argument:ident),*) = $sql:literal;)*) => {
            $(
                #[doc = concat!("Returns the expression `", $sql, "(", stringify!($($argument),*), ")`.")]
                #[must_use]
                pub fn $name($($argument: Expr),*) -> Expr {
                    let sql = sql_functions().iter().find(|sql| sql.name == $sql);
                    crate::udf(sql.expect("a function of this name")).call(vec![$($argument),*])
                }
            )*
        };
    }

    expressions! {
        pct_encode(value) = "pct_encode";
        pct_encode_keeping(value, set) = "pct_encode";
        pct_decode(text) = "pct_decode";
        try_pct_decode(text) = "try_pct_decode";
        pct_decode_blob(text) = "pct_decode_blob";
        pct_normalize(text) = "pct_normalize";
        url_canonical(url) = "url_canonical";
        url_canonical_by(url, profile) = "url_canonical";
        try_url_canonical(url) = "try_url_canonical";
        try_url_canonical_by(url, profile) = "try_url_canonical";
        url_scheme(url) = "url_scheme";
        url_authority(url) = "url_authority";
        url_userinfo(url) = "url_userinfo";
        url_user(url) = "url_user";
        url_password(url) = "url_password";
        url_host(url) = "url_host";
        url_domain(url) = "url_domain";
        url_suffix(url) = "url_suffix";
        url_port(url) = "url_port";
        url_path(url) = "url_path";
        url_query(url) = "url_query";
        url_fragment(url) = "url_fragment";
        url_parts(url) = "url_parts";
        url_segments(url) = "url_segments";
        url_param(url, name) = "url_param";
        url_params(url) = "url_params";
        url_without_params(url, names) = "url_without_params";
        url_with_param(url, name, value) = "url_with_param";
        url_join(base, reference) = "url_join";
    }
}
