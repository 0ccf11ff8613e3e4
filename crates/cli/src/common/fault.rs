//! Defines the policies for faults in values and records.

use std::borrow::Cow;

use simdpct::{MalformedEscape, decode_escape};

use super::escape::replace;
use super::reason::{Reason, Refusal};

/// The policy for one kind of fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// Leave the faulty bytes as they are, and convert the rest. A rejected value or an unreadable record stays as a whole.
    Keep,
    /// Replace the faulty bytes. A rejected value cannot be repaired.
    Replace,
    /// Make the value empty.
    Empty,
    /// Write `null` in JSON, and nothing elsewhere.
    Null,
    /// Leave the record out.
    Drop,
    /// Stop with an error.
    Fail,
}

impl Policy {
    /// Reports whether a conversion must reject a value with a fault of this kind, so that the policy can be applied.
    pub fn rejects(self) -> bool {
        !matches!(self, Policy::Keep | Policy::Replace)
    }
}

/// The policies for the faults of values. By `Keep` and `Replace`, a conversion keeps or replaces the faulty bytes. By
/// any other policy, it rejects the value, and its caller applies the policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handling {
    /// The policy for malformed escapes. `%25` replaces their `%`.
    pub malformed: Policy,
    /// The policy for bytes that are invalid in UTF-8 or in the charset. U+FFFD replaces them.
    pub not_text: Policy,
    /// The policy for values that the conversion rejects, and for unreadable records.
    pub rejected: Policy,
}

impl Handling {
    /// Accepts everything. A value that the conversion rejects stays as it is. Malformed escapes and invalid UTF-8 stay as they are, and
    /// bytes that are invalid in the charset stay escaped. Characters that the charset lacks are written as the URL Standard says
    /// ("percent-encode after encoding"): `%26%23`, the number of the character, `%3B`.
    pub const KEEP: Handling =
        Handling { malformed: Policy::Keep, not_text: Policy::Keep, rejected: Policy::Keep };

    /// Rejects all kinds of faults.
    pub const REJECT: Handling =
        Handling { malformed: Policy::Fail, not_text: Policy::Fail, rejected: Policy::Fail };

    /// Leaves out rejected values and unreadable records, and keeps everything else.
    pub const LEAVE_OUT: Handling = Handling { rejected: Policy::Drop, ..Handling::KEEP };

    /// Returns `value` with `new` in the place of each `%` that does not start an escape, if malformed escapes are to be
    /// repaired. A conversion that decodes passes `%2525` as `new`, because decoding makes `%25` of it.
    pub fn repaired<'a>(self, value: &'a [u8], new: &[u8]) -> Cow<'a, [u8]> {
        let repair = |rest: &[u8]| decode_escape(rest).is_none().then_some((1, new));
        if self.malformed == Policy::Replace { replace(value.into(), repair) } else { value.into() }
    }

    /// Reports whether any kind of fault is repaired.
    pub fn repairs(self) -> bool {
        [self.malformed, self.not_text].contains(&Policy::Replace)
    }

    /// Reports whether a fault can stop the run.
    pub fn can_fail(self) -> bool {
        [self.malformed, self.not_text, self.rejected].contains(&Policy::Fail)
    }
}

/// Returns the error for a malformed escape.
pub fn malformed(escape: MalformedEscape) -> Refusal {
    Refusal { offset: escape.offset, reason: Reason::Malformed(escape.cause) }
}
