//! The API of the crate `form_urlencoded`, on the kernels of [simdpct].
//!
//! Two lines in `Cargo.toml` make a program use this crate instead of the published one, also where `url`, `serde_urlencoded`,
//! `reqwest`, `axum` or any other dependency calls it. See the README.
//!
//! The functions are those of the URL Standard, section 5, for `application/x-www-form-urlencoded`, in linear time.
//!
//! ```
//! let text = form_urlencoded::Serializer::new(String::new())
//!     .append_pair("name", "J\u{fc}rgen & Co.")
//!     .append_pair("n", "1+1")
//!     .finish();
//! assert_eq!(text, "name=J%C3%BCrgen+%26+Co.&n=1%2B1");
//! assert_eq!(form_urlencoded::parse(text.as_bytes()).last(), Some(("n".into(), "1+1".into())));
//! ```

#![no_std]
#![forbid(unsafe_code)]

#[cfg(not(feature = "alloc"))]
compile_error!("form_urlencoded needs its feature `alloc`");

extern crate alloc;

mod parse;
mod serialize;

pub use parse::{Parse, ParseIntoOwned, parse};
pub use serialize::{ByteSerialize, EncodingOverride, Serializer, Target, byte_serialize};
