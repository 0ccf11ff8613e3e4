//! The bytes between the fields of a line.

/// The bytes between fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Separator {
    /// This byte, each time.
    Byte(u8),
    /// Runs of blanks, as for awk.
    Blanks,
    /// Runs of blanks, except in quotes and brackets. A quote, or a bracket, ends the field that it began if a blank or the end of the line
    /// follows, and no backslash is before it.
    Quoted,
}
