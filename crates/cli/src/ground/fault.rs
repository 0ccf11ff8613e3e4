//! Defines the treatment of faults in values.

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
