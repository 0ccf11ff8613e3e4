//! Answers how servers read the path of a request target: on which path they route, and what they pass on.
//!
//! RFC 3986 says in which order a path is decoded, but every server decides for itself. If a gateway reads `/public/..;/admin` as
//! harmless and the server after it reads `/admin`, the gate is open. A [`Reading`] describes one server in one configuration, and
//! [`NAMED`] lists those that were observed, each with its version and the way in which it was asked.
//!
//! ```
//! use simdpct_uri::reading::{Outcome, find};
//!
//! let (caddy, tomcat) = (find("caddy-2.6").unwrap(), find("tomcat-10.1").unwrap());
//! let (front, back) = caddy.reading.then(&tomcat.reading).read("/public/..;/admin");
//! assert_eq!(front.route().unwrap(), b"/public/..;/admin");
//! assert_eq!(back.unwrap().route().unwrap(), b"/admin");
//! ```
//!
//! Only the path of a request is covered: no headers, no host names, no bodies. That two readings agree on a target is no proof
//! that two servers do, because other versions and configurations read differently.

mod agree;
mod parameters;
pub(crate) mod plain;
mod read;
mod table;

pub use agree::{Agreement, agreement, is_ambiguous};
pub use parameters::{
    Backslash, DecodedLead, Dots, DotsOn, EmptyPath, Form, Fragment, Lead, Malformed, Merge, Nul, Params,
    PassOn, RawUtf8, Reading, RedirectOn, Utf8, Why,
};
pub use read::{Chain, Outcome};
pub use table::{NAMED, Named, find};
