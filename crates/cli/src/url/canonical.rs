//! Canonical forms: the profiles of simdpct-uri.

use simdpct::ByteSet;
use simdpct_uri::canon::{self, Profile, Refused};

use super::Rewrite;
use crate::ground::reason::{Reason, Refusal};

/// The canonical form by a profile.
#[derive(Clone, Copy, Debug)]
pub struct Canonical(pub Profile);

impl Rewrite for Canonical {
    fn append(&self, value: &[u8], _: &ByteSet, out: &mut Vec<u8>) -> Result<(), Refusal> {
        self.0.canonicalize_append(value, out).map_err(refusal)
    }

    fn append_lines(&self, text: &[u8], out: &mut Vec<u8>, refused: &mut dyn FnMut()) -> bool {
        self.0.canonicalize_lines(text, out, |_, _| refused());
        true
    }
}

fn refusal(refused: Refused) -> Refusal {
    let reason = match refused.reason {
        canon::Reason::NotUtf8 => Reason::InvalidUtf8,
        _ => {
            // The place is said with the record.
            let text = refused.to_string();
            Reason::Url(text.split(", at offset ").next().unwrap_or_default().to_owned())
        }
    };
    Refusal { offset: refused.offset, reason }
}

/// What each profile is, in one line.
const ABOUT: &[(&str, &str)] = &[
    ("escapes", "RFC 3986, 6.2.2, of escapes only: what normalize does without --profile"),
    ("rfc3986", "RFC 3986, 6.2.2: case of scheme and host, escapes, dot segments"),
    ("rfc3986-scheme", "the same and 6.2.3: no default port, no empty path, by scheme"),
    ("whatwg", "the URL Standard: what browsers show and send"),
    ("safe-browsing-4", "keys of Google Safe Browsing, version 4"),
    ("safe-browsing-5", "keys of Google Safe Browsing, version 5"),
    ("surt-python-0.3", "keys of web archives: the Python package surt 0.3"),
    ("surt-java", "keys of web archives: SURT of webarchive-commons"),
    ("w3lib-2.5", "keys of Scrapy: canonicalize_url of w3lib 2.5"),
    ("w3lib-2.5-no-blank-values", "the same with keep_blank_values=False"),
    ("w3lib-2.5-fragments", "the same with keep_fragments=True"),
    ("w3lib-2.5-no-blank-values-fragments", "the same with both"),
    ("robots", "paths and patterns of robots.txt, as google/robotstxt compares them"),
];

/// What `profile` is, in one line; empty if that is not said here.
pub fn about(profile: Profile) -> &'static str {
    ABOUT.iter().find(|(name, _)| *name == profile.name()).map_or("", |(_, about)| about)
}
