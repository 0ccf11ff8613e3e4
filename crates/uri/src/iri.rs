//! IRIs: the identifiers that people read (RFC 3987), to URIs and back.
//!
//! ```
//! use simdpct_uri::iri;
//!
//! let iri = "http://\u{4f8b}\u{3048}.jp/\u{5f15}\u{304d}\u{51fa}\u{3057}";
//! let uri = "http://xn--r8jz45g.jp/%E5%BC%95%E3%81%8D%E5%87%BA%E3%81%97";
//! assert_eq!(iri::to_uri(iri)?, uri);
//! assert_eq!(iri::from_uri(uri), iri);
//! # Ok::<(), simdpct_uri::iri::NotAHost>(())
//! ```

use alloc::borrow::Cow;
use alloc::string::String;
use core::fmt;
use core::str;

use idna::uts46::{AsciiDenyList, DnsLength, Hyphens, Uts46};
use simdpct::{AsciiSet, Encode, sets};

use crate::parts::{HostKind, split};

/// The bytes that a URI may hold, escapes among them.
const URI: AsciiSet = sets::RFC3986_URI;

/// The URI of an IRI (RFC 3987, section 3.1): the host by IDNA (UTS 46, without transitional processing: `fa\u{df}.de` is
/// `xn--fa-hia.de`), everything else as UTF-8 in escapes.
///
/// Escapes stay as they are. ASCII that no URI may hold, such as a space, is escaped, too, as section 3.1 allows. A host that
/// is ASCII stays as it is, in its case. Takes time linear in the input, but for the host, for which it is IDNA's.
///
/// # Errors
///
/// [`NotAHost`] if the host is not ASCII and has no form by IDNA.
pub fn to_uri(iri: &str) -> Result<Cow<'_, str>, NotAHost> {
    let parts = split(iri);
    let encode = Encode::keeping(URI).keep_escapes();
    let (start, end) = (parts.offsets().host_start, parts.offsets().host_end);
    if iri.is_char_boundary(start) && iri.is_char_boundary(end) && !iri[start..end].is_ascii() {
        // An escape in such a host is one of its bytes, in UTF-8 (section 3.1, step 2).
        let host = simdpct::decode(&iri[start..end]);
        let host = Uts46::new()
            .to_ascii(&host, AsciiDenyList::URL, Hyphens::Allow, DnsLength::Ignore)
            .map_err(|_| NotAHost { offset: start })?;
        let mut uri = String::with_capacity(iri.len() * 2);
        encode.encode_append(&iri[..start], &mut uri);
        uri.push_str(&host);
        encode.encode_append(&iri[end..], &mut uri);
        return Ok(Cow::Owned(uri));
    }
    Ok(encode.encode(iri))
}

/// The IRI of a URI, to be shown (RFC 3987, section 3.2): escapes of UTF-8 that may stand in an IRI and can be seen are decoded,
/// and a host is decoded by IDNA. [`to_uri`] gives a URI back that means the same.
///
/// Escapes stay if they are malformed or not UTF-8, and those of ASCII: `%25` and reserved bytes would change the
/// meaning, and unreserved ones are for [`normalize`](simdpct::normalize). So do those of characters that section 2.2 does not
/// allow where they are (private use outside of the query, noncharacters), of those that section 4.1 forbids (controls of
/// direction), and of characters that are not seen or look like space. A host with escapes and one
/// whose form is not reversible stay.
///
/// Bytes of the input that are not UTF-8 are escaped. Takes time linear in the input, but for the host.
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
        // Decoded escapes would go through IDNA on the way back, and be another host or none.
        None => append_raw(host, &mut iri),
    }
    append_readable(&uri[at.host_end..at.path_end], false, &mut iri);
    append_readable(&uri[at.path_end..at.query_end], true, &mut iri);
    append_readable(&uri[at.query_end..], false, &mut iri);
    iri
}

/// The host decoded by IDNA, if every label of it can be shown and it is found again.
fn readable_host(host: &[u8], kind: Option<HostKind>) -> Option<String> {
    if kind != Some(HostKind::RegName) || !host.is_ascii() || host.contains(&b'%') {
        return None;
    }
    let idna = Uts46::new();
    let (readable, result) = idna.to_unicode(host, AsciiDenyList::URL, Hyphens::Allow);
    result.ok()?;
    if readable.is_ascii() || !readable.chars().all(|c| c.is_ascii() || is_readable(c, false)) {
        return None;
    }
    let back =
        idna.to_ascii(readable.as_bytes(), AsciiDenyList::URL, Hyphens::Allow, DnsLength::Ignore).ok()?;
    back.as_bytes().eq_ignore_ascii_case(host).then(|| readable.into_owned())
}

fn append_readable(part: &[u8], is_query: bool, iri: &mut String) {
    let mut left = part;
    while !left.is_empty() {
        let clean = memchr::memchr(b'%', left).unwrap_or(left.len());
        append_raw(&left[..clean], iri);
        left = &left[clean..];
        // The escapes of one character, of which there are at most four.
        let mut bytes = [0; 4];
        let mut len = 0;
        while len < 4 {
            match simdpct::decode_escape(&left[(3 * len).min(left.len())..]) {
                Some(byte) if len == 0 || byte & 0xC0 == 0x80 => bytes[len] = byte,
                _ => break,
            }
            len += 1;
            if bytes[0] < 0xC0 {
                break;
            }
        }
        let decoded = first_char(&bytes[..len]).filter(|&c| !c.is_ascii() && is_readable(c, is_query));
        let escapes = decoded.map_or(len.min(1), char::len_utf8);
        match decoded {
            Some(c) => iri.push(c),
            // All of an escape, or a `%` that starts none.
            None => append_raw(&left[..left.len().min(if len == 0 { 1 } else { 3 })], iri),
        }
        left = &left[left.len().min(if len == 0 { 1 } else { 3 * escapes })..];
    }
}

fn first_char(bytes: &[u8]) -> Option<char> {
    let valid = match str::from_utf8(bytes) {
        Ok(valid) => valid,
        Err(error) => str::from_utf8(&bytes[..error.valid_up_to()]).ok()?,
    };
    valid.chars().next()
}

/// As it is, but for what is not UTF-8.
fn append_raw(bytes: &[u8], iri: &mut String) {
    for chunk in bytes.utf8_chunks() {
        iri.push_str(chunk.valid());
        simdpct::encode_append(chunk.invalid(), iri);
    }
}

/// `ucschar`, in a query also `iprivate` (RFC 3987, section 2.2), without what cannot be seen: spaces, line and paragraph
/// separators, what has no width, controls of direction (section 4.1), fillers, variation selectors, tags.
fn is_readable(c: char, is_query: bool) -> bool {
    let allowed = match u32::from(c) {
        0xA0..=0xD7FF | 0xF900..=0xFDCF | 0xFDF0..=0xFFEF => true,
        0xE000..=0xF8FF | 0xF_0000.. => is_query && u32::from(c) & 0xFFFE != 0xFFFE,
        code @ 0x1_0000..=0xD_FFFF => code & 0xFFFE != 0xFFFE,
        0xE_1000..=0xE_FFFD => true,
        _ => false,
    };
    let unseen = matches!(c,
        '\u{AD}' | '\u{34F}' | '\u{61C}' | '\u{115F}' | '\u{1160}' | '\u{17B4}' | '\u{17B5}' | '\u{180B}'..='\u{180F}'
        | '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{2800}' | '\u{3164}'
        | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}' | '\u{FFA0}' | '\u{FFF0}'..='\u{FFFB}' | '\u{1BCA0}'..='\u{1BCA3}'
        | '\u{1D173}'..='\u{1D17A}' | '\u{E0000}'..='\u{E0FFF}');
    allowed && !unseen && !c.is_whitespace() && !c.is_control()
}

/// The host of an IRI has no form by IDNA.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NotAHost {
    /// Where the host starts, in bytes from the start of the IRI.
    pub offset: usize,
}

impl fmt::Display for NotAHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the host at offset {} is not valid by IDNA", self.offset)
    }
}

impl core::error::Error for NotAHost {}
