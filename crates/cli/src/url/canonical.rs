//! Connects the canonical forms of simdpct-uri, its profiles, with the command.

use simdpct::ByteSet;
use simdpct_uri::canon::{self, CanonicalizeError, Profile};

use super::Rewrite;
use crate::ground::fault::Handling;
use crate::ground::reason::{Reason, Refusal};

/// Converts a URL to the canonical form of a profile.
#[derive(Clone, Copy, Debug)]
pub struct Canonical(pub Profile);

impl Rewrite for Canonical {
    fn append(&self, value: &[u8], _: &ByteSet, _: Handling, out: &mut Vec<u8>) -> Result<(), Refusal> {
        self.0.canonicalize_append(value, out).map_err(refusal)
    }

    fn append_lines(&self, text: &[u8], out: &mut Vec<u8>, refused: &mut dyn FnMut()) -> bool {
        self.0.canonicalize_lines(text, out, |_, _| refused());
        true
    }
}

fn refusal(error: CanonicalizeError) -> Refusal {
    let reason = match error.reason {
        canon::Reason::InvalidUtf8 => Reason::InvalidUtf8,
        reason => Reason::Url(reason.to_string()),
    };
    Refusal { offset: error.offset, reason }
}
