//! Hosts and ports (RFC 3986, sections 3.2.2 and 3.2.3), and names that are not ASCII.

#[cfg(feature = "idna")]
use alloc::borrow::Cow;
use core::net::{Ipv4Addr, Ipv6Addr};

#[cfg(feature = "idna")]
use idna::uts46::{AsciiDenyList, DnsLength, Hyphens, Uts46};
use simdpct::sets;

/// The ASCII bytes that are not in `reg-name` (RFC 3986, section 3.2.2). A name that holds one after mapping is invalid.
#[cfg(feature = "idna")]
const DENIED: AsciiDenyList = AsciiDenyList::new(true, "\"#%/:<>?@[\\]^`{|}");

/// Converts a name to Punycode and lower case, by UTS 46 without transitional processing, as browsers do. Returns
/// `None` if the name is not valid by UTS 46, or if a byte of the result cannot be in the name of a host (`:`, `/`, `%`
/// and the like). Also returns `None` for an empty result, because browsers would then read the path as the host.
///
/// The limits of DNS are not checked. But a label that is not ASCII and has more than 1,000 characters, or more than 2,000 in Punycode, is
/// rejected, because Punycode takes quadratic time in the length of a label. All else takes time linear in the name.
///
/// ```
/// use simdpct_uri::host::to_ascii;
///
/// assert_eq!(to_ascii("B\u{fc}cher.example").as_deref(), Some("xn--bcher-kva.example"));
/// assert_eq!(to_ascii("fa\u{df}.de").as_deref(), Some("xn--fa-hia.de"));
/// assert_eq!(to_ascii("a\u{ff0f}b"), None);
/// ```
#[cfg(feature = "idna")]
#[must_use]
pub fn to_ascii<'a>(name: &'a (impl AsRef<[u8]> + ?Sized)) -> Option<Cow<'a, str>> {
    let ascii = Uts46::new().to_ascii(name.as_ref(), DENIED, Hyphens::Allow, DnsLength::Ignore).ok()?;
    (!ascii.is_empty()).then_some(ascii)
}

/// Converts a name from Punycode to characters, and to lower case, by UTS 46. Returns `None` if the name is not valid
/// by UTS 46, or if a byte of the result cannot be in the name of a host (`:`, `/`, `%` and the like). Long labels are rejected, as by
/// [`to_ascii`]. Takes time linear in the name, except that Punycode takes quadratic time in the length of a label.
///
/// Some characters look alike. [`iri::from_uri`](crate::iri::from_uri) converts whole URLs and keeps names with invisible characters in
/// Punycode.
///
/// ```
/// use simdpct_uri::host::to_unicode;
///
/// assert_eq!(to_unicode("xn--bcher-kva.example").as_deref(), Some("b\u{fc}cher.example"));
/// assert_eq!(to_unicode("xn--a"), None);
/// ```
#[cfg(feature = "idna")]
#[must_use]
pub fn to_unicode<'a>(name: &'a (impl AsRef<[u8]> + ?Sized)) -> Option<Cow<'a, str>> {
    let (unicode, result) = Uts46::new().to_unicode(name.as_ref(), DENIED, Hyphens::Allow);
    result.is_ok().then_some(unicode)
}

/// The kind of a host (RFC 3986, section 3.2.2). [`Parts::host_kind`](crate::Parts::host_kind) returns it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum HostKind {
    /// A registered name: every host that is not an address and does not start with `[`. It may be empty, and may hold escapes.
    RegName,
    /// An IPv4 address: four decimal numbers of at most 255 without leading zeros.
    Ipv4(Ipv4Addr),
    /// An IPv6 address in brackets.
    Ipv6(Ipv6Addr),
    /// An address of a future version in brackets, such as `[v1.x]`.
    IpFuture,
    /// A host that starts with `[` and is not an address in brackets.
    Invalid,
}

impl HostKind {
    pub(crate) fn of(host: &[u8]) -> HostKind {
        let Some(literal) = host.strip_prefix(b"[") else {
            let text = core::str::from_utf8(host).ok();
            return text.and_then(|text| text.parse().ok()).map_or(HostKind::RegName, HostKind::Ipv4);
        };
        let Some(literal) = literal.strip_suffix(b"]") else { return HostKind::Invalid };
        if let Some(address) = core::str::from_utf8(literal).ok().and_then(|text| text.parse().ok()) {
            return HostKind::Ipv6(address);
        }
        if is_ip_future(literal) { HostKind::IpFuture } else { HostKind::Invalid }
    }
}

/// Reports whether `literal` is `IPvFuture = "v" 1*HEXDIG "." 1*( unreserved / sub-delims / ":" )`.
fn is_ip_future(literal: &[u8]) -> bool {
    let [b'v' | b'V', rest @ ..] = literal else { return false };
    let Some(dot) = memchr::memchr(b'.', rest) else { return false };
    let (version, address) = (&rest[..dot], &rest[dot + 1..]);
    !version.is_empty()
        && version.iter().all(u8::is_ascii_hexdigit)
        && !address.is_empty()
        && address.iter().all(|&byte| sets::RFC3986_USERINFO.contains(byte))
}

/// Reports whether browsers read a host with this last label as an IPv4 address (URL Standard, section 3.5, "ends in a
/// number"). For an empty label, this function returns `true`, but browsers read no address.
#[cfg(feature = "alloc")]
pub(crate) fn is_number(label: &[u8]) -> bool {
    match label {
        [b'0', b'x' | b'X', digits @ ..] => digits.iter().all(u8::is_ascii_hexdigit),
        digits => digits.iter().all(u8::is_ascii_digit),
    }
}

/// Parses `port` as a decimal number. Returns `None` if it is empty, holds a byte that is not a digit, or exceeds 65535.
pub(crate) fn port_number(port: &[u8]) -> Option<u16> {
    if port.is_empty() || !port.iter().all(u8::is_ascii_digit) {
        return None;
    }
    port.iter().try_fold(0_u16, |number, digit| number.checked_mul(10)?.checked_add(u16::from(digit - b'0')))
}

/// Returns the default port of a scheme that is special in the URL Standard: `http`, `https`, `ws`, `wss` or `ftp`, with letters of either
/// case. Returns `None` for every other scheme, also for `file`, which is special but has no port. Takes constant time.
///
/// Browsers skip any number of slashes after such a scheme, and read a backslash as a slash.
///
/// ```
/// assert_eq!((simdpct_uri::host::special_port(b"WSS"), simdpct_uri::host::special_port(b"ldap")), (Some(443), None));
/// ```
#[must_use]
pub fn special_port(scheme: &[u8]) -> Option<u16> {
    let is = |name: &[u8]| scheme.eq_ignore_ascii_case(name);
    match scheme.len() {
        2 if is(b"ws") => Some(80),
        3 if is(b"wss") => Some(443),
        3 if is(b"ftp") => Some(21),
        4 if is(b"http") => Some(80),
        5 if is(b"https") => Some(443),
        _ => None,
    }
}

/// Returns the port that a scheme uses if a URL names none: the [`special_port`], or that of `ftps`, `ssh`, `sftp`, `telnet`, `gopher`,
/// `nntp`, `imap`, `ldap`, `ldaps`, `rtsp`, `ipp`, `sip`, `sips`, `coap`, `redis` or `mqtt`. Returns `None` for every other scheme. The
/// scheme is compared without regard to case. Takes constant time.
///
/// ```
/// use simdpct_uri::host::default_port;
///
/// assert_eq!((default_port("https"), default_port("LDAP"), default_port("mailto")), (Some(443), Some(389), None));
/// ```
#[must_use]
pub fn default_port(scheme: &str) -> Option<u16> {
    const OTHERS: &[(&str, u16)] = &[
        ("ftps", 990),
        ("ssh", 22),
        ("sftp", 22),
        ("telnet", 23),
        ("gopher", 70),
        ("nntp", 119),
        ("imap", 143),
        ("ldap", 389),
        ("rtsp", 554),
        ("ipp", 631),
        ("ldaps", 636),
        ("sip", 5060),
        ("sips", 5061),
        ("coap", 5683),
        ("redis", 6379),
        ("mqtt", 1883),
    ];
    let of_others = || OTHERS.iter().find(|(name, _)| name.eq_ignore_ascii_case(scheme));
    special_port(scheme.as_bytes()).or_else(|| of_others().map(|&(_, port)| port))
}
