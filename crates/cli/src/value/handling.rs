//! What to do about faults in a value.

use crate::ground::fault::OnFault;

/// What to do about faults in a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handling {
    /// When a `%` starts no escape. Repaired, it is written as `%25`.
    pub malformed: OnFault,
    /// When bytes are not UTF-8, or not of the charset. Repaired, they become U+FFFD.
    pub not_text: OnFault,
}

impl Handling {
    /// Nothing is refused. Malformed escapes and bytes that are not UTF-8 stay as they are; bytes that the charset does
    /// not have stay escaped; characters that it does not have are written as the URL Standard says ("percent-encode
    /// after encoding"): `%26%23`, the number of the character, `%3B`.
    pub const KEEP: Handling = Handling { malformed: OnFault::Keep, not_text: OnFault::Keep };

    /// Both kinds are refused.
    pub const REFUSE: Handling = Handling { malformed: OnFault::Refuse, not_text: OnFault::Refuse };

    /// Whether anything is repaired.
    pub fn repairs(self) -> bool {
        self.malformed == OnFault::Repair || self.not_text == OnFault::Repair
    }
}
