//! Resolves URI references, and converts IRIs to URIs and back.

use simdpct::ByteSet;
use simdpct_uri::canon::{self, resolve_standard};
use simdpct_uri::{Strictness, iri, resolve_append, split};

use super::Rewrite;
use crate::ground::fault::OnFault;
use crate::ground::reason::{Reason, Refusal};

/// Resolves each value, a URI reference, against a base URI (RFC 3986, section 5.2).
#[derive(Clone, Debug)]
pub struct Resolve {
    base: Vec<u8>,
    strictness: Strictness,
}

impl Resolve {
    /// Creates a converter that resolves references against `base`. Returns an error message if `base` has no scheme.
    pub fn new(base: Vec<u8>, strictness: Strictness) -> Result<Resolve, String> {
        if split(&base).is_uri() {
            return Ok(Resolve { base, strictness });
        }
        let base = base.escape_ascii();
        Err(format!("--base '{base}' has no scheme, so nothing can be resolved against it"))
    }
}

impl Rewrite for Resolve {
    fn append(&self, value: &[u8], _: &ByteSet, _: OnFault, out: &mut Vec<u8>) -> Result<(), Refusal> {
        resolve_append(&self.base, value, self.strictness, out)
            .map_err(|error| Refusal { offset: 0, reason: Reason::Url(error.to_string()) })
    }
}

/// Resolves each value against a base URL as browsers do, by the URL Standard.
#[derive(Clone, Debug)]
pub struct ResolveStandard {
    base: String,
}

impl ResolveStandard {
    /// Creates a converter that resolves references against `base`. Returns an error message if `base` is not a valid URL.
    pub fn new(base: String) -> Result<ResolveStandard, String> {
        match resolve_standard(&base, "") {
            Err(error) if error.reason == canon::Reason::Base => {
                Err(format!("--base '{}' is not a valid URL of the URL Standard", base.escape_debug()))
            }
            _ => Ok(ResolveStandard { base }),
        }
    }
}

impl Rewrite for ResolveStandard {
    fn append(&self, value: &[u8], _: &ByteSet, _: OnFault, out: &mut Vec<u8>) -> Result<(), Refusal> {
        let text = std::str::from_utf8(value)
            .map_err(|error| Refusal { offset: error.valid_up_to(), reason: Reason::InvalidUtf8 })?;
        let url = resolve_standard(&self.base, text).map_err(|error| Refusal {
            offset: error.offset,
            reason: Reason::Url(error.reason.to_string()),
        })?;
        out.extend_from_slice(url.as_bytes());
        Ok(())
    }
}

/// Converts an IRI to a URI.
#[derive(Clone, Copy, Debug)]
pub struct ToUri;

impl Rewrite for ToUri {
    fn append(&self, value: &[u8], _: &ByteSet, _: OnFault, out: &mut Vec<u8>) -> Result<(), Refusal> {
        let text = std::str::from_utf8(value)
            .map_err(|error| Refusal { offset: error.valid_up_to(), reason: Reason::InvalidUtf8 })?;
        let uri = iri::to_uri(text).map_err(|error| Refusal {
            offset: error.offset,
            reason: Reason::Url("the host is invalid in IDNA".to_owned()),
        })?;
        out.extend_from_slice(uri.as_bytes());
        Ok(())
    }

    fn reads_escapes(&self) -> bool {
        // The conversion escapes the `%` of a malformed escape, so none is an error.
        false
    }
}

/// Converts a URI to an IRI.
#[derive(Clone, Copy, Debug)]
pub struct ToIri;

impl Rewrite for ToIri {
    fn append(&self, value: &[u8], _: &ByteSet, _: OnFault, out: &mut Vec<u8>) -> Result<(), Refusal> {
        out.extend_from_slice(iri::from_uri(value).as_bytes());
        Ok(())
    }
}
