//! What RFC 3986 does not allow.

use core::iter::FusedIterator;

use crate::class::{is_pchar, is_sub_delim, is_unreserved};
use crate::offsets::Offsets;
use crate::parts::{HostKind, Parts, port_number};

/// A component of a URI, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Component {
    /// Section 3.1.
    Scheme,
    /// Section 3.2.1.
    Userinfo,
    /// Section 3.2.2.
    Host,
    /// Section 3.2.3.
    Port,
    /// Section 3.3.
    Path,
    /// Section 3.4.
    Query,
    /// Section 3.5.
    Fragment,
}

/// Something that RFC 3986 does not allow where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Flaw {
    /// Its place, in bytes from the start of the input.
    pub offset: usize,
    /// The component that it is in.
    pub component: Component,
    /// What it is.
    pub kind: FlawKind,
}

/// What a [`Flaw`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FlawKind {
    /// A printable ASCII byte that the component may hold only as an escape, or not at all.
    Illegal(u8),
    /// A byte of 0x80 or above. An IRI may hold it, a URI may not.
    NonAscii(u8),
    /// A control: below 0x20, or 0x7F.
    Control(u8),
    /// `%` without two hexadecimal digits.
    MalformedEscape,
    /// An `@` in the userinfo: only the last `@` of the authority ends it, and readers disagree.
    SeveralAt,
    /// `[` without `]`.
    UnclosedBracket,
    /// What is in brackets is not an address.
    BadAddress,
    /// The port is not a number of at most 65535. Its offset is that of the port's first byte.
    BadPort,
    /// A colon in the first segment of a reference without a scheme (section 4.2): others take what is before it for one.
    ColonInFirstSegment,
}

/// The flaws of a URI, in order. See [`Parts::flaws`].
#[derive(Clone, Debug)]
pub struct Flaws<'a> {
    input: &'a [u8],
    at: Offsets,
    next: usize,
    kind: Option<HostKind>,
    /// The first colon of the first segment, if that is a flaw.
    colon: Option<usize>,
}

impl<'a> Flaws<'a> {
    pub(crate) fn new(parts: &Parts<'a>) -> Flaws<'a> {
        let at = parts.offsets();
        // A scheme is valid, or it would not be one. Delimiters are no flaws.
        let next = if at.has_authority() { at.after_scheme() + 2 } else { at.after_scheme() };
        let first_segment = parts.path().split(|&byte| byte == b'/').next().unwrap_or_default();
        let relative = at.scheme_end == 0 && !at.has_authority();
        let colon = memchr::memchr(b':', first_segment).filter(|_| relative);
        Flaws { input: parts.input(), at, next, kind: parts.host_kind(), colon }
    }

    /// The component of the byte at `offset`, which is after the scheme; `None` for a delimiter between components.
    fn component(&self, offset: usize) -> Option<Component> {
        let at = &self.at;
        if offset < at.path_start {
            // Within an authority, since without one the path starts after the scheme.
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

    /// What is wrong at `offset`.
    fn look(&self, offset: usize, component: Component) -> Option<FlawKind> {
        let byte = self.input[offset];
        let allowed = match component {
            Component::Userinfo if byte == b'@' => return Some(FlawKind::SeveralAt),
            Component::Userinfo => is_unreserved(byte) || is_sub_delim(byte) || byte == b':',
            Component::Host => match self.kind {
                Some(HostKind::Invalid) if offset == self.at.host_start => {
                    let closed = self.input[offset..self.at.host_end].contains(&b']');
                    return Some(if closed { FlawKind::BadAddress } else { FlawKind::UnclosedBracket });
                }
                Some(HostKind::Ipv6(_) | HostKind::IpFuture) => true,
                // The brackets and colons of what is no address are part of one flaw.
                Some(HostKind::Invalid) if matches!(byte, b'[' | b']' | b':') => true,
                _ => is_unreserved(byte) || is_sub_delim(byte),
            },
            Component::Port => {
                let port = &self.input[self.at.host_end + 1..self.at.path_start];
                let first = offset == self.at.host_end + 1;
                return (first && port_number(port).is_none()).then_some(FlawKind::BadPort);
            }
            Component::Path if Some(offset) == self.colon => return Some(FlawKind::ColonInFirstSegment),
            Component::Scheme => true,
            Component::Path => is_pchar(byte) || byte == b'/',
            Component::Query | Component::Fragment => is_pchar(byte) || matches!(byte, b'/' | b'?'),
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
            let Some(component) = self.component(offset) else { continue };
            if let Some(kind) = self.look(offset, component) {
                return Some(Flaw { offset, component, kind });
            }
        }
        None
    }
}
impl FusedIterator for Flaws<'_> {}
