//! Reads the host that a browser would contact for a URL, by the host rules of the URL Standard.
//!
//! Safe Browsing, w3lib and SURT split URLs by rules of their own. So their canonical form of a URL, the key, may name
//! another host than browsers contact. The profiles of these forms reject a URL if the hosts differ.

use alloc::vec::Vec;

use super::shared::{is_plain_name, old_ipv4, trim, without_line_ends};
use super::standard;
use crate::host::special_port;
use crate::parts::{Parts, split};

/// The host that a browser contacts for a URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Contact {
    /// The URL is relative and names no host.
    Relative,
    /// Browsers do not open the URL themselves, because its scheme is not special.
    Unknown,
    /// The URL is not valid, so browsers contact no host.
    Nothing,
    /// A name, an IPv4 address, an IPv6 address in brackets, or for `file` an empty host.
    Host(Vec<u8>),
}

impl Contact {
    /// Reads the host of `url`. A reference with two slashes or backslashes first is read as on an `http` page.
    pub(super) fn of(url: &[u8]) -> Contact {
        let url = without_line_ends(trim(url));
        let with_scheme;
        let url = match split(&url).scheme() {
            Some(scheme) if is_opened(scheme) => &*url,
            Some(_) => return Contact::Unknown,
            None if matches!(*url, [b'/' | b'\\', b'/' | b'\\', ..]) => {
                with_scheme = [b"http:", &*url].concat();
                &with_scheme
            }
            None => return Contact::Relative,
        };
        let mut out = Vec::with_capacity(url.len() + 8);
        match standard::append(url, None, &mut out) {
            Ok(()) => Contact::Host(split(&out).host().unwrap_or_default().raw().to_vec()),
            Err(_) => Contact::Nothing,
        }
    }

    /// Reports whether a key with `scheme` and the host `name` has the host that browsers contact for the URL.
    /// `is_same` compares this host with the host that browsers find in the key, which is empty if they find none.
    pub(super) fn has_key_host(
        &self,
        scheme: &[u8],
        name: &[u8],
        is_same: impl FnOnce(&[u8], &[u8]) -> bool,
    ) -> bool {
        if name.iter().any(|byte| b"/\\?#@".contains(byte)) {
            return false;
        }
        let is_address = |host: &[u8]| host.starts_with(b"[") || old_ipv4(host).is_some();
        let scheme = if scheme.is_empty() { b"http" } else { scheme };
        let named = || Contact::of(&[scheme, b"://", name, b"/"].concat());
        match self {
            Contact::Relative | Contact::Unknown => true,
            Contact::Nothing => named() == Contact::Nothing,
            Contact::Host(host) if host == name => true,
            Contact::Host(host) => {
                let named = named();
                let name = if let Contact::Host(name) = &named { name } else { &b""[..] };
                // `is_same` may ignore dots at the end. Without them, `1.2..` is an address, `a.1..` is not valid, and `.` is nothing.
                let has_labels = host.iter().any(|byte| *byte != b'.');
                named == *self || has_labels && is_address(name) == is_address(host) && is_same(host, name)
            }
        }
    }
}

/// Reports whether browsers contact the same host for `url` and for its canonical form `form`, or no host for both. The caller guarantees
/// that `form` has the same scheme as `parts`, and, if the host is plain, the same host except for case. `parts` may be
/// those of a rewritten `url`.
#[inline]
pub(super) fn is_kept(url: &[u8], parts: &Parts<'_>, form: &[u8]) -> bool {
    // Most URLs pass one of these checks, and are then not parsed. The target of a request names no host.
    let is_target = |url: &[u8]| matches!(url, [b'/', b'!'..=b'.' | b'0'..=b'[' | b']'.., ..]);
    if is_target(url) && is_target(form) {
        return true;
    }
    // An unchanged authority has the same host, unless browsers skip all of it or a blank at its end.
    let start = &parts.input()[..parts.offsets().path_start];
    let host = parts.host().unwrap_or_default().raw();
    let is_same = !matches!(host, [] | [b'\\', ..])
        && start.last().is_some_and(|&last| last > b' ')
        && form.starts_with(start)
        && matches!(form.get(start.len()), None | Some(b'/' | b'?' | b'#'));
    // For browsers, a plain host after `://` in the form is the same host as that of the URL.
    let is_plain =
        || is_plain_name(host) && parts.userinfo().is_none() && !parts.scheme().is_some_and(is_file);
    // In a `file` URL with three slashes, the host is empty.
    let is_local = |url: &[u8]| url.starts_with(b"file:///");
    is_same || is_plain() || is_local(url) && is_local(form) || Contact::of(url) == Contact::of(form)
}

/// Reports whether browsers open URLs of `scheme` themselves.
pub(super) fn is_opened(scheme: &[u8]) -> bool {
    special_port(scheme).is_some() || is_file(scheme)
}

fn is_file(scheme: &[u8]) -> bool {
    scheme.eq_ignore_ascii_case(b"file")
}
