//! The bytes that each specification allows unescaped in each component.

use simdpct::{AsciiSet, Encode, sets};

use crate::class::set;
use crate::flaws::Component;

/// A specification of URIs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Dialect {
    /// RFC 1738, of 1994, which is obsolete. Path and query have the sets of `http`, and userinfo has that of `ftp`.
    Rfc1738,
    /// RFC 1738, which is obsolete, with the sets of `ftp`: a `?` stays in a path, because it does not start a query, and a `;` is escaped,
    /// because `;type=a` ends the path.
    Rfc1738Ftp,
    /// RFC 2396, of 1998, which is obsolete.
    Rfc2396,
    /// RFC 3986, the current standard of the IETF.
    Rfc3986,
    /// The WHATWG URL Standard, which browsers implement, with the sets for special schemes such as `http`.
    Whatwg,
}

/// The unescaped bytes of a path segment of `http` in RFC 1738: `uchar | ";" | ":" | "@" | "&" | "="`.
const RFC1738_HSEGMENT: AsciiSet = sets::RFC1738_UNRESERVED.union(set(b";:@&="));
/// The unescaped bytes of a path segment of `ftp` in RFC 1738: `uchar | "?" | ":" | "@" | "&" | "="`.
const RFC1738_FSEGMENT: AsciiSet = sets::RFC1738_UNRESERVED.union(set(b"?:@&="));
/// The unescaped bytes of a user name or password in RFC 1738: `uchar | ";" | "?" | "&" | "="`.
const RFC1738_USER: AsciiSet = sets::RFC1738_UNRESERVED.union(set(b";?&="));
/// The unescaped bytes of a path segment in RFC 2396: `unreserved | ":" | "@" | "&" | "=" | "+" | "$" | ","`, and the `;` of
/// parameters.
const RFC2396_SEGMENT: AsciiSet = sets::RFC2396_UNRESERVED.union(set(b":@&=+$,;"));
/// The unescaped bytes of `userinfo` in RFC 2396: `unreserved | ";" | ":" | "&" | "=" | "+" | "$" | ","`.
const RFC2396_USERINFO: AsciiSet = sets::RFC2396_UNRESERVED.union(set(b";:&=+$,"));

/// Returns an encoder for data that becomes one component, or one segment of a path. It escapes every byte that would delimit the
/// component from its neighbours.
///
/// `Component::Path` is one segment, so a `/` in the data is escaped. Schemes and ports cannot hold escapes, so text for them should not
/// be encoded: their sets keep only letters and digits, and `+`, `-` and `.` are escaped, too, although a scheme may hold them.
/// [`Builder`](crate::Builder) takes a scheme as it is, and rejects an invalid one. The sets of RFC 1738 are those of its section 5.
///
/// The sets of queries keep `&`, `=` and `+` in every dialect but `Rfc1738Ftp`, whose URLs have no query: its set of queries keeps only
/// unreserved bytes, to which `+` belongs. For the parameters of a query use [`Builder::query_pair`](crate::Builder::query_pair) or
/// [`form`](crate::form).
///
/// ```
/// use simdpct_uri::{Component, Dialect, escape_for};
///
/// assert_eq!(escape_for(Component::Path, Dialect::Rfc3986).encode("~a/b;c d"), "~a%2Fb;c%20d");
/// assert_eq!(escape_for(Component::Path, Dialect::Rfc1738).encode("~a/b;c d"), "%7Ea%2Fb;c%20d");
/// assert_eq!(escape_for(Component::Path, Dialect::Rfc1738Ftp).encode("what?;type=a"), "what?%3Btype=a");
/// assert_eq!(escape_for(Component::Query, Dialect::Whatwg).encode("it's|"), "it%27s|");
/// ```
pub fn escape_for(component: Component, dialect: Dialect) -> Encode<AsciiSet> {
    Encode::keeping(set_for(component, dialect))
}

/// Returns the set of bytes that [`escape_for`] keeps.
#[must_use]
pub const fn set_for(component: Component, dialect: Dialect) -> AsciiSet {
    match (component, dialect) {
        (Component::Scheme | Component::Port, _) => sets::ALPHANUMERIC,

        (Component::Userinfo, Dialect::Rfc1738 | Dialect::Rfc1738Ftp) => RFC1738_USER,
        (Component::Userinfo, Dialect::Rfc2396) => RFC2396_USERINFO,
        (Component::Userinfo, Dialect::Rfc3986) => sets::RFC3986_USERINFO,
        (Component::Userinfo | Component::Host, Dialect::Whatwg) => sets::WHATWG_USERINFO.remove(b"%"),

        // The grammars of the old RFCs allow no escapes in hosts: `*[ alphadigit | "-" | "." ]`.
        (Component::Host, Dialect::Rfc1738 | Dialect::Rfc1738Ftp | Dialect::Rfc2396) => {
            sets::ALPHANUMERIC.union(set(b"-."))
        }
        (Component::Host, Dialect::Rfc3986) => sets::RFC3986_REG_NAME,

        (Component::Path | Component::Query, Dialect::Rfc1738) => RFC1738_HSEGMENT,
        (Component::Path, Dialect::Rfc1738Ftp) => RFC1738_FSEGMENT,
        (Component::Path, Dialect::Rfc2396) => RFC2396_SEGMENT,
        (Component::Path, Dialect::Rfc3986) => sets::RFC3986_SEGMENT,
        // The URL Standard reads a backslash as a slash in special schemes, so data must not hold one.
        (Component::Path, Dialect::Whatwg) => sets::WHATWG_PATH.remove(b"%/\\"),

        (Component::Query | Component::Fragment, Dialect::Rfc2396) => sets::RFC2396_URIC,
        (Component::Query, Dialect::Rfc3986) => sets::RFC3986_QUERY,
        (Component::Query, Dialect::Whatwg) => sets::WHATWG_SPECIAL_QUERY.remove(b"%"),

        (Component::Query, Dialect::Rfc1738Ftp) => sets::RFC1738_UNRESERVED,
        (Component::Fragment, Dialect::Rfc1738 | Dialect::Rfc1738Ftp) => sets::RFC1738_UNRESERVED,
        (Component::Fragment, Dialect::Rfc3986) => sets::RFC3986_FRAGMENT,
        (Component::Fragment, Dialect::Whatwg) => sets::WHATWG_FRAGMENT.remove(b"%"),
    }
}
