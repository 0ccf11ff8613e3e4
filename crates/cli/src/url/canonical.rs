//! Connects the canonical forms of simdpct-uri, its profiles, with the command.

use sha1::Sha1;
use sha2::{Digest, Sha256};
use simdpct::ByteSet;
use simdpct_records::Kind;
use simdpct_uri::canon::{self, CanonicalizeError, Profile};

use twox_hash::{XxHash3_64, XxHash3_128};

use super::Rewrite;
use crate::common::fault::Handling;
use crate::common::reason::{Reason, Refusal};
use crate::common::target;

/// Converts a URL to the canonical form of a profile.
#[derive(Clone, Copy, Debug)]
pub struct Canonical(pub Profile);

impl Rewrite for Canonical {
    fn append(
        &self,
        value: &[u8],
        kind: Kind,
        _: &ByteSet,
        _: Handling,
        out: &mut Vec<u8>,
    ) -> Result<(), Refusal> {
        target::convert(kind, value, out, |url, out| self.0.canonicalize_append(url, out).map_err(refusal))
    }

    fn append_lines(&self, text: &[u8], out: &mut Vec<u8>, refused: &mut dyn FnMut()) -> bool {
        self.0.canonicalize_lines(text, out, |_, _| refused());
        true
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
pub struct Fingerprint(pub Profile, pub Hash);

impl Rewrite for Fingerprint {
    fn append(
        &self,
        value: &[u8],
        kind: Kind,
        keep: &ByteSet,
        handling: Handling,
        out: &mut Vec<u8>,
    ) -> Result<(), Refusal> {
        let mut key = Vec::new();
        Canonical(self.0).append(value, kind, keep, handling, &mut key)?;
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
        Ok(())
    }
}

fn refusal(error: CanonicalizeError) -> Refusal {
    let reason = match error.reason {
        canon::Reason::InvalidUtf8 => Reason::InvalidUtf8,
        reason => Reason::Url(reason.to_string()),
    };
    Refusal { offset: error.offset, reason }
}
