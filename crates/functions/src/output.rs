//! The types of the results of functions.

/// The type of the results of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// Text, or bytes if the values are bytes.
    Text,
    /// Bytes.
    Bytes,
    /// True or false.
    Boolean,
    /// A list of texts.
    List,
    /// A list of structs of two texts, `name` and `value`.
    Pairs,
    /// A struct of seven texts: the parts of a URL.
    Parts,
}

impl Output {
    /// Returns the names of the texts of a result, or of an item if the result is a list.
    #[must_use]
    pub fn fields(self) -> &'static [&'static str] {
        match self {
            Output::Text | Output::Bytes | Output::Boolean | Output::List => &["item"],
            Output::Pairs => &["name", "value"],
            Output::Parts => &["scheme", "userinfo", "host", "port", "path", "query", "fragment"],
        }
    }

    /// Reports whether a result is a list.
    #[must_use]
    pub fn is_list(self) -> bool {
        matches!(self, Output::List | Output::Pairs)
    }
}
