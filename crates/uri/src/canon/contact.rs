//! Reads the host that a browser would contact for a URL, by the host rules of the URL Standard.
//!
//! The tools whose keys the profiles make split URLs by rules of their own. A key that names another host than the one that browsers
//! contact would let a URL pass as another site, so the profiles compare both hosts and reject the URL if they differ.

use alloc::vec::Vec;

use super::host;
use super::shared::{old_ipv4, trim, without_line_ends};
use crate::class::is_special;
use crate::parts::split;

/// The host that a browser contacts for a URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Contact {
    /// Browsers do not open the URL themselves, because its scheme is not special, or the URL is relative and names no host.
    Unknown,
    /// The host of the URL is not valid, so browsers contact none.
    Nothing,
    /// A name, an IPv4 address, an IPv6 address in brackets, or for `file` an empty host.
    Host(Vec<u8>),
}

impl Contact {
    /// Reads the host of `url`. Ports are not validated. In `file` URLs, `localhost` and drive letters are not told from other names, because
    /// no form changes them to an empty host. The base of a reference that begins with two slashes or backslashes is a
    /// page of the web.
    pub(super) fn of(url: &[u8]) -> Contact {
        let url = without_line_ends(trim(url));
        let is_slash = |byte: &u8| matches!(byte, b'/' | b'\\');
        let (scheme, mut rest) = match split(&url).scheme() {
            Some(scheme) => (scheme, &url[scheme.len() + 1..]),
            None if url.len() > 1 && url[..2].iter().all(is_slash) => (&b"http"[..], &url[..]),
            None => return Contact::Unknown,
        };
        let is_file = scheme.eq_ignore_ascii_case(b"file");
        if !is_file && !is_special(scheme) {
            return Contact::Unknown;
        }
        if is_file {
            match rest {
                [a, b, after @ ..] if is_slash(a) && is_slash(b) => rest = after,
                _ => return Contact::Host(Vec::new()),
            }
        } else {
            rest = &rest[rest.iter().position(|byte| !is_slash(byte)).unwrap_or(rest.len())..];
        }
        let end = rest.iter().position(|byte| is_slash(byte) || matches!(byte, b'?' | b'#'));
        let mut host = &rest[..end.unwrap_or(rest.len())];
        if is_file {
            return if host.is_empty() { Contact::Host(Vec::new()) } else { Contact::of_host(host) };
        }
        if let Some(at) = memchr::memrchr(b'@', host) {
            host = &host[at + 1..];
        }
        let literal = if host.starts_with(b"[") { memchr::memchr(b']', host).unwrap_or(0) } else { 0 };
        if let Some(colon) = memchr::memchr(b':', &host[literal..]) {
            host = &host[..literal + colon];
        }
        Contact::of_host(host)
    }

    /// Reads a host without userinfo and port.
    fn of_host(name: &[u8]) -> Contact {
        let mut out = Vec::new();
        host::append(name, false, &mut out).map_or(Contact::Nothing, |()| Contact::Host(out))
    }

    /// Reports whether a key of `scheme` with the host `name` is for the host that browsers contact. `key_host` makes the host of a
    /// key from a host without escapes.
    pub(super) fn has_key_host(
        &self,
        scheme: &[u8],
        name: &[u8],
        key_host: impl FnOnce(&[u8]) -> Option<Vec<u8>>,
    ) -> bool {
        if name.iter().any(|byte| b"/\\?#@".contains(byte)) {
            return false;
        }
        let is_address = |host: &[u8]| host.starts_with(b"[") || old_ipv4(host).is_some();
        let scheme = if scheme.is_empty() { b"http" } else { scheme };
        let named = || Contact::of(&[scheme, b"://", name, b"/"].concat());
        match self {
            Contact::Unknown => true,
            Contact::Nothing => named() == Contact::Nothing,
            Contact::Host(host) => match named() {
                named if named == *self => true,
                // Without its dots at the end, the name `1.2..` is an address, and `a.1..` is not valid.
                Contact::Host(named) => {
                    is_address(&named) == is_address(host) && key_host(host).as_deref() == Some(name)
                }
                _ => false,
            },
        }
    }
}
