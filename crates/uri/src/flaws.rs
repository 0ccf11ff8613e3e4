//! Validation: the bytes of a URI that RFC 3986 does not allow.

use core::iter::FusedIterator;

use simdpct::sets;

use crate::host::{HostKind, port_number};
use crate::offsets::Offsets;

/// A component of a URI. Components are ordered as they appear in a URI.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Component {
    /// The scheme (RFC 3986, section 3.1).
    Scheme,
    /// The userinfo: user name and password (RFC 3986, section 3.2.1).
    Userinfo,
    /// The host (RFC 3986, section 3.2.2).
    Host,
    /// The port (RFC 3986, section 3.2.3).
    Port,
    /// The path (RFC 3986, section 3.3).
    Path,
    /// The query (RFC 3986, section 3.4).
    Query,
    /// The fragment (RFC 3986, section 3.5).
    Fragment,
}

/// A violation of RFC 3986: a byte or a sequence that the grammar does not allow at its position, or a port that TCP does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Flaw {
    /// The offset of the flaw, in bytes from the start of the input.
    pub offset: usize,
    /// The component that holds the flaw.
    pub component: Component,
    /// The rule that the flaw violates.
    pub kind: FlawKind,
}

/// The kind of a [`Flaw`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FlawKind {
    /// A printable ASCII byte that the component may hold only as an escape, or not at all.
    Illegal(u8),
    /// A byte of 0x80 or above. An IRI may hold it, a URI may not.
    NonAscii(u8),
    /// A control character: below 0x20, or 0x7F.
    Control(u8),
    /// A `%` without two hexadecimal digits after it.
    MalformedEscape,
    /// An `@` in the userinfo. Only the last `@` of the authority ends it, and parsers disagree about earlier ones.
    SeveralAt,
    /// A `[` at the start of the host, without a `]` in the host.
    UnclosedBracket,
    /// A host that starts with `[` and holds a `]`, but is not an address in brackets.
    BadAddress,
    /// A port that is neither empty nor a number of at most 65535. The grammar allows larger numbers. The offset of the flaw is that of the
    /// first byte of the port.
    BadPort,
    /// A colon in the first segment of a reference without a scheme (RFC 3986, section 4.2). Other parsers may take the text
    /// before the colon for a scheme.
    ColonInFirstSegment,
}

/// An iterator over the flaws of a URI, in order. [`Parts::flaws`](crate::Parts::flaws) returns it.
#[derive(Clone, Debug)]
pub struct Flaws<'a> {
    input: &'a [u8],
    at: Offsets,
    next: usize,
    host: HostKind,
    /// The offset of the first colon of the first segment, if the colon is a flaw.
    colon: Option<usize>,
}

impl<'a> Flaws<'a> {
    /// Makes an iterator over the flaws of `input`, whose parts are at the offsets `at`.
    pub(crate) fn new(input: &'a [u8], at: Offsets) -> Flaws<'a> {
        let (next, mut colon) = (at.after_scheme() + if at.has_authority() { 2 } else { 0 }, None);
        if at.scheme_end == 0 && !at.has_authority() {
            let delimiter = memchr::memchr2(b':', b'/', &input[..at.path_end]);
            colon = delimiter.filter(|&delimiter| input[delimiter] == b':');
        }
        Flaws { input, at, next, host: HostKind::of(&input[at.host_start..at.host_end]), colon }
    }

    /// Returns the component of the byte at `offset`, which is after the scheme; `None` for a delimiter between components.
    fn component(&self, offset: usize) -> Option<Component> {
        let at = &self.at;
        if offset < at.path_start {
            // The offset is inside an authority: without one the path starts directly after the scheme.
            return match offset {
                _ if offset + 1 == at.host_start || offset == at.host_end => None,
                _ if offset < at.host_start => Some(Component::Userinfo),
                _ if offset < at.host_end => Some(Component::Host),
                _ => Some(Component::Port),
            };
        }
        match offset {
            _ if offset < at.path_end => Some(Component::Path),
            _ if offset == at.path_end && at.path_end < at.query_end || offset == at.query_end => None,
            _ if offset < at.query_end => Some(Component::Query),
            _ => Some(Component::Fragment),
        }
    }

    /// Returns the kind of the flaw that starts at `offset`, if one does.
    fn flaw_at(&self, offset: usize, component: Component) -> Option<FlawKind> {
        let byte = self.input[offset];
        let allowed = match component {
            Component::Userinfo if byte == b'@' => return Some(FlawKind::SeveralAt),
            Component::Userinfo => sets::RFC3986_USERINFO.contains(byte),
            Component::Host => match self.host {
                HostKind::Invalid if offset == self.at.host_start => {
                    let closed = self.input[offset..self.at.host_end].contains(&b']');
                    return Some(if closed { FlawKind::BadAddress } else { FlawKind::UnclosedBracket });
                }
                HostKind::Ipv6(_) | HostKind::IpFuture => true,
                // The flaw at the start of an invalid host covers its brackets and colons.
                HostKind::Invalid if matches!(byte, b'[' | b']' | b':') => true,
                _ => sets::RFC3986_REG_NAME.contains(byte),
            },
            Component::Port => {
                let port = &self.input[self.at.host_end + 1..self.at.path_start];
                if offset == self.at.host_end + 1 && port_number(port).is_none() {
                    return Some(FlawKind::BadPort);
                }
                // The flaw at the start of a bad port covers its other visible bytes.
                byte.is_ascii_graphic()
            }
            Component::Path if Some(offset) == self.colon => return Some(FlawKind::ColonInFirstSegment),
            Component::Scheme => true,
            Component::Path => sets::RFC3986_PATH.contains(byte),
            Component::Query | Component::Fragment => sets::RFC3986_QUERY.contains(byte),
        };
        match byte {
            _ if allowed => None,
            b'%' => {
                let escape = simdpct::decode_escape(&self.input[offset..]);
                escape.is_none().then_some(FlawKind::MalformedEscape)
            }
            0x80.. => Some(FlawKind::NonAscii(byte)),
            0..0x20 | 0x7F => Some(FlawKind::Control(byte)),
            _ => Some(FlawKind::Illegal(byte)),
        }
    }
}

impl Iterator for Flaws<'_> {
    type Item = Flaw;

    fn next(&mut self) -> Option<Flaw> {
        while self.next < self.input.len() {
            let offset = self.next;
            self.next += 1;
            if let Some(component) = self.component(offset)
                && let Some(kind) = self.flaw_at(offset, component)
            {
                return Some(Flaw { offset, component, kind });
            }
        }
        None
    }
}

impl FusedIterator for Flaws<'_> {}
