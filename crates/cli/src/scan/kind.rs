//! What a line can hold.

use simdpct_uri::FlawKind;

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

    /// What `pct check` calls it, if it can be a finding there.
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
    Needless,
    // These are about a whole URL.
    Illegal,
    NonAscii,
    Control,
    Host,
    Port,
    /// A record is not what it should be, so that nobody can say what its values hold.
    Unreadable,
}

impl Group {
    /// All of them, in the order of the summary.
    pub const ALL: [Group; 13] = [
        Group::Malformed,
        Group::Utf8,
        Group::Double,
        Group::Nul,
        Group::Separator,
        Group::Dot,
        Group::Needless,
        Group::Illegal,
        Group::NonAscii,
        Group::Control,
        Group::Host,
        Group::Port,
        Group::Unreadable,
    ];

    /// Whether it is looked for if nobody has said what: what is suspicious in any text with escapes.
    pub fn is_usual(self) -> bool {
        self != Group::Needless && !self.is_of_urls()
    }

    /// Whether it is about a line that is a URL, and not about its escapes.
    pub fn is_of_urls(self) -> bool {
        matches!(self, Group::Illegal | Group::NonAscii | Group::Control | Group::Host | Group::Port)
    }

    /// What `kind` is called; `None` for what is found among escapes.
    pub fn of_flaw(kind: FlawKind) -> Option<Group> {
        match kind {
            FlawKind::Illegal(_) | FlawKind::ColonInFirstSegment => Some(Group::Illegal),
            FlawKind::NonAscii(_) => Some(Group::NonAscii),
            FlawKind::Control(_) => Some(Group::Control),
            FlawKind::SeveralAt | FlawKind::UnclosedBracket | FlawKind::BadAddress => Some(Group::Host),
            FlawKind::BadPort => Some(Group::Port),
            _ => None,
        }
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Group::Malformed => "malformed",
            Group::Utf8 => "utf8",
            Group::Double => "double",
            Group::Nul => "nul",
            Group::Separator => "separator",
            Group::Dot => "dot",
            Group::Needless => "needless",
            Group::Illegal => "illegal",
            Group::NonAscii => "non-ascii",
            Group::Control => "control",
            Group::Host => "host",
            Group::Port => "port",
            Group::Unreadable => "unreadable",
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
            Group::Needless => Kind::Unreserved.bit(),
            Group::Illegal
            | Group::NonAscii
            | Group::Control
            | Group::Host
            | Group::Port
            | Group::Unreadable => 0,
        }
    }
}
