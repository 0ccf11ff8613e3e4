//! What to do about what is wrong.

/// What to do about one kind of fault in a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnFault {
    /// What is wrong stays, as well as that can be.
    Keep,
    /// The value is refused.
    Refuse,
    /// What is wrong is replaced.
    Repair,
}
