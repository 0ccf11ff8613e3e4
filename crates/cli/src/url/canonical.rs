//! Connects the canonical forms of simdpct-uri, its profiles, with the command.

use sha1::Sha1;
use sha2::{Digest, Sha256};
use simdpct_uri::canon::{self, CanonicalizeError, Profile};

use twox_hash::{XxHash3_64, XxHash3_128};

use crate::common::fault::Handling;
use crate::common::reason::{Reason, Refusal};
use crate::common::records::Records;
use crate::common::target;
use crate::convert::{Convert, Text, Value};

/// Converts a URL to the canonical form of a profile.
#[derive(Clone, Copy, Debug)]
pub struct Canonical {
    pub profile: Profile,
    /// Whether values like `example.com/a` begin with a host.
    pub no_scheme: bool,
}

impl Convert for Canonical {
    fn append(&mut self, value: Value<'_>, _: Handling, out: &mut Vec<u8>) -> Result<usize, Refusal> {
        let Value { bytes, kind, .. } = value;
        let canonicalize = |url: &[u8], out: &mut Vec<u8>| {
            self.profile.canonicalize_append(url, out).map_err(
                |CanonicalizeError { offset, reason, .. }| {
                    let reason = match reason {
                        canon::Reason::InvalidUtf8 => Reason::InvalidUtf8,
                        reason => Reason::Url(reason.to_string()),
                    };
                    Refusal { offset, reason }
                },
            )
        };
        target::convert(kind, bytes, self.no_scheme, out, canonicalize)
    }

    fn append_many(&mut self, text: Text<'_>, out: &mut Vec<u8>) -> Option<u64> {
        let Text { bytes: text, records, .. } = text;
        let mut kept = 0;
        let is_done = records == Records::Lines && !self.no_scheme;
        if is_done {
            self.profile.canonicalize_lines(text, out, |_, _| kept += 1);
        }
        is_done.then_some(kept)
    }
}

/// A hash function, whose result is written as hexadecimal digits in lower case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hash {
    Xxh3,
    Xxh3_128,
    Sha1,
    Sha256,
}

/// Converts a URL to the fingerprint of its canonical form.
#[derive(Clone, Copy, Debug)]
pub struct Fingerprint(pub Canonical, pub Hash);

impl Convert for Fingerprint {
    fn append(&mut self, value: Value<'_>, handling: Handling, out: &mut Vec<u8>) -> Result<usize, Refusal> {
        let mut key = Vec::new();
        self.0.append(value, handling, &mut key)?;
        let mut digits = |bytes: &[u8]| {
            for byte in bytes {
                out.extend([byte >> 4, byte & 0xF].map(|digit| b"0123456789abcdef"[usize::from(digit)]));
            }
        };
        match self.1 {
            Hash::Xxh3 => digits(&XxHash3_64::oneshot(&key).to_be_bytes()),
            Hash::Xxh3_128 => digits(&XxHash3_128::oneshot(&key).to_be_bytes()),
            Hash::Sha1 => digits(&Sha1::digest(&key)),
            Hash::Sha256 => digits(&Sha256::digest(&key)),
        }
        Ok(0)
    }
}
