//! Converts IRIs, the identifiers that people read, to URIs and back (RFC 3987).
//!
//! ```
//! use simdpct_uri::iri;
//!
//! let iri = "http://\u{4f8b}\u{3048}.jp/\u{5f15}\u{304d}\u{51fa}\u{3057}";
//! let uri = "http://xn--r8jz45g.jp/%E5%BC%95%E3%81%8D%E5%87%BA%E3%81%97";
//! assert_eq!(iri::to_uri(iri)?, uri);
//! assert_eq!(iri::from_uri(uri), iri);
//! # Ok::<(), simdpct_uri::iri::InvalidIri>(())
//! ```

use alloc::borrow::Cow;
use alloc::string::String;
use core::fmt;

use simdpct::{AsciiSet, Encode, sets};

use crate::flaws::Component;
use crate::host::{HostKind, special_port, to_ascii, to_unicode};
use crate::parts::split;

/// The bytes that a URI may hold. All others are escaped.
const URI: AsciiSet = sets::RFC3986_URI;

/// The ASCII bytes that the name of a host may hold, besides escapes (RFC 3986, section 3.2.2). RFC 3987 allows no other ASCII byte in
/// `ireg-name`, and an escape in place of such a byte would name another host.
const REG_NAME: Encode<AsciiSet> = Encode::keeping(sets::RFC3986_REG_NAME).keep_escapes();

/// Converts an IRI to a URI (RFC 3987, section 3.1). A host that is not ASCII becomes Punycode, other characters become escapes of
/// their UTF-8.
///
/// IDNA is UTS 46 without transitional processing: `fa\u{df}.de` becomes `xn--fa-hia.de`. Escapes, and hosts in ASCII, stay as they are.
/// Outside the host, ASCII bytes that a URI cannot hold, such as a space, are escaped, as section 3.1 allows. `[`, `]` and `#` are never
/// escaped, as the same section demands. So the result has a valid host and a valid port (RFC 3986, sections 3.2.2 and 3.2.3). Elsewhere,
/// its only flaws are delimiters of the input where RFC 3986 does not allow them; [`Parts::flaws`](crate::Parts::flaws) finds them. The
/// result is borrowed if it is the input. Takes time linear in the input, except for IDNA.
///
/// # Errors
///
/// [`InvalidIri`] in these cases:
///
/// * A backslash is in the authority that browsers find, or in the slashes before it. They read it as a slash (URL Standard, section 4.4),
///   so they would find another host in a URI with `%5C`.
/// * TAB, LF or CR is in the IRI, or a C0 control or a space at its start or end. Browsers remove them, so they might find another host
///   in a URI with escapes.
/// * The host is neither an address, nor a name of bytes that RFC 3986 allows, nor a name that is valid by IDNA.
/// * The port is neither empty nor a number of at most 65535.
pub fn to_uri(iri: &str) -> Result<Cow<'_, str>, InvalidIri> {
    let parts = split(iri);
    let encode = Encode::keeping(URI).keep_escapes();
    let (start, end) = (parts.offsets().host_start, parts.offsets().host_end);
    let (before, host, after) = (&iri[..start], &iri[start..end], &iri[end..]);
    let invalid_host = InvalidIri { offset: start, component: Component::Host };
    let is_removed = |at: usize, byte: u8| {
        matches!(byte, b'\t' | b'\n' | b'\r') || byte <= b' ' && (at == 0 || at + 1 == iri.len())
    };
    if iri.bytes().enumerate().any(|(at, byte)| is_removed(at, byte))
        && let Some(flaw) = parts.flaws().find(|flaw| is_removed(flaw.offset, iri.as_bytes()[flaw.offset]))
    {
        return Err(InvalidIri { offset: flaw.offset, component: flaw.component });
    }
    if has_backslash_in_authority(parts.scheme(), iri) {
        return Err(invalid_host);
    }
    match parts.host_kind() {
        Some(HostKind::Invalid) => return Err(invalid_host),
        Some(HostKind::RegName) if host.is_ascii() && REG_NAME.first_change(host).is_some() => {
            return Err(invalid_host);
        }
        _ => {}
    }
    if parts.port_number().is_none() && parts.port().is_some_and(|port| !port.is_empty()) {
        return Err(InvalidIri { offset: end + 1, component: Component::Port });
    }
    if host.is_ascii() {
        return Ok(encode.encode(iri));
    }
    // Escapes in a host that is not ASCII are UTF-8 bytes of its name (RFC 3987, section 3.1, step 2).
    let decoded = simdpct::decode(host);
    let host = to_ascii(&decoded).ok_or(invalid_host)?;
    let mut uri = String::with_capacity(iri.len() * 2);
    encode.encode_append(before, &mut uri);
    uri.push_str(&host);
    encode.encode_append(after, &mut uri);
    Ok(Cow::Owned(uri))
}

/// Reports whether a backslash is in the authority that browsers find in `iri`, or in the slashes before it. They skip all slashes and
/// backslashes after a special scheme. Two of them begin an authority after `file:`, and two or more without a scheme.
fn has_backslash_in_authority(scheme: Option<&str>, iri: &str) -> bool {
    let rest = &iri[scheme.map_or(0, |scheme| scheme.len() + 1)..];
    let authority = rest.trim_start_matches(['/', '\\']);
    let slashes = rest.len() - authority.len();
    let has_authority = match scheme {
        Some(scheme) if scheme.eq_ignore_ascii_case("file") => slashes == 2,
        Some(scheme) => special_port(scheme.as_bytes()).is_some(),
        None => slashes >= 2,
    };
    let end = authority.find(['/', '?', '#']).unwrap_or(authority.len());
    has_authority && rest[..slashes + end].contains('\\')
}

/// Converts a URI to an IRI that people can read (RFC 3987, section 3.2): decodes escapes of visible characters, and a host from
/// Punycode. [`to_uri`] returns an equivalent URI.
///
/// These escapes stay:
///
/// * malformed escapes and escapes that are not UTF-8;
/// * escapes of ASCII: decoding `%25` or reserved bytes would change the meaning, and
///   [`normalize`](simdpct::normalize) decodes the unreserved ones;
/// * escapes of characters that section 2.2 does not allow at their position (noncharacters, private use outside the query) or
///   section 4.1 forbids (direction controls);
/// * escapes of characters that are invisible or look like a space.
///
/// A host stays if it holds escapes, or if converting it back would give another host. Bytes of the input that are not UTF-8 are
/// escaped. Takes time linear in the input, except for IDNA.
///
/// ```
/// use simdpct_uri::iri::from_uri;
///
/// assert_eq!(from_uri("http://xn--bcher-kva.example/%C3%A9%20%E2%80%AE"), "http://b\u{fc}cher.example/\u{e9}%20%E2%80%AE");
/// ```
#[must_use]
pub fn from_uri(uri: &(impl AsRef<[u8]> + ?Sized)) -> String {
    let uri = uri.as_ref();
    let parts = split(uri);
    let at = parts.offsets();
    let mut iri = String::with_capacity(uri.len());
    append_readable(&uri[..at.host_start], false, &mut iri);
    let host = &uri[at.host_start..at.host_end];
    match readable_host(host, parts.host_kind()) {
        Some(host) => iri.push_str(&host),
        // The escapes of this host stay: `to_uri` would pass decoded ones through IDNA, which may give another host.
        None => append_raw(host, &mut iri),
    }
    append_readable(&uri[at.host_end..at.path_end], false, &mut iri);
    append_readable(&uri[at.path_end..at.query_end], true, &mut iri);
    append_readable(&uri[at.query_end..], false, &mut iri);
    iri
}

/// Decodes a host from Punycode. Returns `None` if that changes nothing, if a character is not readable, or if encoding the
/// result gives another host.
fn readable_host(host: &[u8], kind: Option<HostKind>) -> Option<String> {
    if kind != Some(HostKind::RegName) || !host.is_ascii() || host.contains(&b'%') {
        return None;
    }
    let readable = to_unicode(host)?;
    if readable.is_ascii() || !readable.chars().all(|c| c.is_ascii() || is_readable(c, false)) {
        return None;
    }
    let back = to_ascii(&*readable)?;
    back.as_bytes().eq_ignore_ascii_case(host).then(|| readable.into_owned())
}

fn append_readable(part: &[u8], is_query: bool, iri: &mut String) {
    let mut left = part;
    while !left.is_empty() {
        let clean = memchr::memchr(b'%', left).unwrap_or(left.len());
        append_raw(&left[..clean], iri);
        left = &left[clean..];
        // The escapes of one character are at most four.
        let mut bytes = [0; 4];
        let mut len = 0;
        for byte in left.chunks(3).map_while(simdpct::decode_escape).take(4) {
            bytes[len] = byte;
            len += 1;
        }
        let first = bytes[..len].utf8_chunks().next().and_then(|chunk| chunk.valid().chars().next());
        if let Some(c) = first.filter(|&c| !c.is_ascii() && is_readable(c, is_query)) {
            iri.push(c);
            left = &left[3 * c.len_utf8()..];
        } else {
            // Keeps an escape, or a malformed `%`.
            let (kept, rest) = left.split_at(left.len().min(if len == 0 { 1 } else { 3 }));
            append_raw(kept, iri);
            left = rest;
        }
    }
}

/// Appends `bytes`, and escapes those that are not UTF-8.
fn append_raw(bytes: &[u8], iri: &mut String) {
    for chunk in bytes.utf8_chunks() {
        iri.push_str(chunk.valid());
        simdpct::encode_append(chunk.invalid(), iri);
    }
}

/// Reports whether `c` is `ucschar`, or `iprivate` in a query (RFC 3987, section 2.2), and visible. These count as
/// invisible: spaces, separators, characters without width, direction controls (section 4.1), fillers, variation
/// selectors and tags.
fn is_readable(c: char, is_query: bool) -> bool {
    let allowed = match u32::from(c) {
        0xA0..=0xD7FF | 0xF900..=0xFDCF | 0xFDF0..=0xFFEF => true,
        0xE000..=0xF8FF | 0xF_0000.. => is_query && u32::from(c) & 0xFFFE != 0xFFFE,
        code @ (0x1_0000..=0xD_FFFF | 0xE_1000..=0xE_FFFF) => code & 0xFFFE != 0xFFFE,
        _ => false,
    };
    let unseen = matches!(c,
        '\u{AD}' | '\u{34F}' | '\u{61C}' | '\u{115F}' | '\u{1160}' | '\u{17B4}' | '\u{17B5}' | '\u{180B}'..='\u{180F}'
        | '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{2800}' | '\u{3164}'
        | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}' | '\u{FFA0}' | '\u{1BCA0}'..='\u{1BCA3}' | '\u{1D173}'..='\u{1D17A}');
    allowed && !unseen && !c.is_whitespace()
}

/// The error of [`to_uri`]: escapes may not make the IRI a valid URI with the same host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct InvalidIri {
    /// The offset of the invalid component, or of a byte that browsers would remove, in bytes from the start of the IRI.
    pub offset: usize,
    /// The invalid component: the host, the port, or any component with a byte that browsers would remove.
    pub component: Component,
}

impl fmt::Display for InvalidIri {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.component {
            Component::Port => "the port is not a number of at most 65535",
            Component::Host => "the host is neither valid by IDNA nor an address",
            _ => "browsers would remove a blank or a control character",
        })?;
        write!(f, ", at offset {}", self.offset)
    }
}

impl core::error::Error for InvalidIri {}
