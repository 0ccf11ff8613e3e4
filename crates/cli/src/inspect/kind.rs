//! What a line can hold.

/// What a line can hold. The order is that of the report of `pct audit`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Malformed,
    Nul,
    Newline,
    Control,
    RawControl,
    Slash,
    Backslash,
    Dot,
    Double,
    Overlong,
    Utf8,
    LowerCase,
    Unreserved,
}

impl Kind {
    /// All of them.
    pub const ALL: [Kind; 13] = [
        Kind::Malformed,
        Kind::Nul,
        Kind::Newline,
        Kind::Control,
        Kind::RawControl,
        Kind::Slash,
        Kind::Backslash,
        Kind::Dot,
        Kind::Double,
        Kind::Overlong,
        Kind::Utf8,
        Kind::LowerCase,
        Kind::Unreserved,
    ];

    /// Its name in JSON, and what it means.
    pub fn describe(self) -> (&'static str, &'static str) {
        match self {
            Kind::Malformed => ("malformed", "% without two hexadecimal digits"),
            Kind::Nul => ("nul", "%00"),
            Kind::Newline => ("newline", "escaped line end: %0A, %0D"),
            Kind::Control => ("control", "other escaped control byte"),
            Kind::RawControl => ("raw-control", "control byte as such, but no tab"),
            Kind::Slash => ("slash", "escaped /"),
            Kind::Backslash => ("backslash", "escaped \\"),
            Kind::Dot => ("dot", "escaped ."),
            Kind::Double => ("double", "escaped twice: %25 and two digits"),
            Kind::Overlong => ("overlong", "overlong UTF-8 after decoding"),
            Kind::Utf8 => ("utf8", "other invalid UTF-8 after decoding"),
            Kind::LowerCase => ("lower-case", "hexadecimal digits in lower case"),
            Kind::Unreserved => ("unreserved", "needless escape: A-Z a-z 0-9 - . _ ~"),
        }
    }

    /// The set that holds only this kind.
    pub const fn bit(self) -> u16 {
        1 << self as u16
    }

    /// What `pct check` calls it, if it is a finding there.
    pub fn group(self) -> Option<Group> {
        Group::ALL.into_iter().find(|group| group.kinds() & self.bit() != 0)
    }
}

/// The kinds as `pct check` names them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    Malformed,
    Utf8,
    Double,
    Nul,
    Separator,
    Dot,
}

impl Group {
    /// All of them, in the order of the summary.
    pub const ALL: [Group; 6] =
        [Group::Malformed, Group::Utf8, Group::Double, Group::Nul, Group::Separator, Group::Dot];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Group::Malformed => "malformed",
            Group::Utf8 => "utf8",
            Group::Double => "double",
            Group::Nul => "nul",
            Group::Separator => "separator",
            Group::Dot => "dot",
        }
    }

    /// The set of its kinds.
    pub const fn kinds(self) -> u16 {
        match self {
            Group::Malformed => Kind::Malformed.bit(),
            Group::Utf8 => Kind::Utf8.bit() | Kind::Overlong.bit(),
            Group::Double => Kind::Double.bit(),
            Group::Nul => Kind::Nul.bit(),
            Group::Separator => Kind::Slash.bit() | Kind::Backslash.bit(),
            Group::Dot => Kind::Dot.bit(),
        }
    }
}
