//! The operations that the benchmarks measure.

/// The direction of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// Encoding.
    Encode,
    /// Decoding.
    Decode,
}

impl Verb {
    /// Both verbs: encoding and decoding.
    pub const ALL: [Verb; 2] = [Verb::Encode, Verb::Decode];

    /// Returns the ways to call this library for the verb, [`Shape::Append`] first.
    pub fn shapes(self) -> &'static [Shape] {
        use Shape::*;
        match self {
            Verb::Encode => &[Append, Fresh, Slice, Cow, Values],
            Verb::Decode => &[Append, Fresh, Slice, Cow, Normalize, Strict, Keep, Values],
        }
    }
}

/// A way to call this library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Appends to a reused buffer. Rivals are compared with this shape.
    Append,
    /// Appends to a new buffer without capacity.
    Fresh,
    /// Writes to an initialised slice.
    Slice,
    /// Returns a `Cow`.
    Cow,
    /// Normalizes by RFC 3986, and appends to a reused buffer.
    Normalize,
    /// Decodes strictly, and appends to a reused buffer.
    Strict,
    /// Decodes except for the escapes of reserved bytes, and appends to a reused buffer.
    Keep,
    /// Passes all strings in one call of `encode_column` or `decode_column`, as bytes and offsets.
    Values,
}

impl Shape {
    /// Returns the name of `verb` called with this shape, such as `encode` or `decode, strict`.
    pub fn of(self, verb: Verb) -> String {
        let verb = match verb {
            Verb::Encode => "encode",
            Verb::Decode => "decode",
        };
        match self {
            Shape::Append => verb.to_owned(),
            further => format!("{verb}, {further:?}").to_ascii_lowercase(),
        }
    }
}
