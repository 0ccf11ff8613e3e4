//! Answers how servers read the path of a request target: on which path they route, and which text they pass on.
//!
//! RFC 3986 says in which order a path is decoded, but every server decides for itself. If a gateway reads `/public/..;/admin` as
//! harmless and the server after it reads `/admin`, a rule of the gateway does not protect `/admin`. A [`Reading`] describes one server
//! in one configuration, as a list of [`Step`]s in their order. [`READINGS`] lists the readings of servers that were
//! tested, with the version of each server and the way in which it was tested.
//!
//! ```
//! use simdpct_readings::find;
//!
//! let (caddy, tomcat) = (find("caddy-2.6").unwrap(), find("tomcat-10.1").unwrap());
//! let front = caddy.read("/public/..;/admin");
//! assert_eq!(front.route().unwrap(), b"/public/..;/admin");
//! let back = tomcat.read(front.passed_on().unwrap());
//! assert_eq!(back.route().unwrap(), b"/admin");
//! ```
//!
//! Only the request target is covered, not headers, host names or bodies. Two servers may differ even if their readings
//! agree, because other versions and configurations read differently.

#![forbid(unsafe_code)]

mod agree;
mod escapes;
mod plain;
mod read;
mod reading;
mod step;
mod table;

pub use agree::{Agreement, agreement, is_ambiguous};
#[doc(hidden)] // For tests, which select a kernel.
pub use plain::plain_path;
pub use read::Outcome;
pub use reading::Reading;
pub use step::{Form, RejectReason, Step};
pub use table::{READINGS, STRICT, find};

/// Runs the examples of the README as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
