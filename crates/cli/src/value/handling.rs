//! The treatment of faults in a value.

use crate::ground::fault::OnFault;

/// The treatment of faults in a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handling {
    /// The treatment of malformed escapes. The repair writes `%25` for the `%`.
    pub malformed: OnFault,
    /// The treatment of bytes that are invalid in UTF-8 or in the charset. The repair writes U+FFFD.
    pub not_text: OnFault,
}

impl Handling {
    /// Rejects nothing. Malformed escapes and invalid UTF-8 stay as they are, and bytes that are invalid in the
    /// charset stay escaped. Characters that the charset lacks are written as the URL Standard says ("percent-encode
    /// after encoding"): `%26%23`, the number of the character, `%3B`.
    pub const KEEP: Handling = Handling { malformed: OnFault::Keep, not_text: OnFault::Keep };

    /// Rejects both kinds of faults.
    pub const REFUSE: Handling = Handling { malformed: OnFault::Refuse, not_text: OnFault::Refuse };

    /// Reports whether any kind of fault is repaired.
    pub fn repairs(self) -> bool {
        self.malformed == OnFault::Repair || self.not_text == OnFault::Repair
    }
}
