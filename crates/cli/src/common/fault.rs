//! Defines the treatment of faults in values.

use std::borrow::Cow;

use super::escape::repair;

/// The treatment of one kind of fault in a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnFault {
    /// The faulty bytes stay, if the output can hold them.
    Keep,
    /// The value is rejected.
    Refuse,
    /// The faulty bytes are replaced.
    Repair,
}

/// The treatment of faults in a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handling {
    /// The treatment of malformed escapes. The repair writes `%25` for the `%`.
    pub malformed: OnFault,
    /// The treatment of bytes that are invalid in UTF-8 or in the charset. The repair writes U+FFFD.
    pub not_text: OnFault,
    /// The treatment of a value that the conversion rejects. It cannot be repaired.
    pub rejected: OnFault,
}

impl Handling {
    /// Accepts everything. A value that the conversion rejects stays as it is. Malformed escapes and invalid UTF-8 stay as they are, and bytes that are invalid in the
    /// charset stay escaped. Characters that the charset lacks are written as the URL Standard says ("percent-encode
    /// after encoding"): `%26%23`, the number of the character, `%3B`.
    pub const KEEP: Handling =
        Handling { malformed: OnFault::Keep, not_text: OnFault::Keep, rejected: OnFault::Keep };

    /// Rejects all kinds of faults.
    pub const REFUSE: Handling =
        Handling { malformed: OnFault::Refuse, not_text: OnFault::Refuse, rejected: OnFault::Refuse };

    /// Returns `value` with `new` in the place of each `%` that does not start an escape, if malformed escapes are to be
    /// repaired. A conversion that decodes passes `%2525`, which becomes `%25`.
    pub fn repaired<'a>(self, value: &'a [u8], new: &[u8]) -> Cow<'a, [u8]> {
        if self.malformed == OnFault::Repair { repair(value, new) } else { Cow::Borrowed(value) }
    }

    /// Reports whether any kind of fault is repaired.
    pub fn repairs(self) -> bool {
        self.malformed == OnFault::Repair || self.not_text == OnFault::Repair
    }
}
