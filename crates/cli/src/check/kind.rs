//! Defines the kinds of findings of `pct audit` and the groups of findings of `pct check`.

use simdpct_uri::FlawKind;

/// Defines an enum with a list of its variants, and with a name and a description of each variant.
macro_rules! named {
    ($(#[$meta:meta])* $type:ident: $($variant:ident $name:literal $description:literal;)*) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $type {
            $($variant,)*
        }

        impl $type {
            /// All variants, in the order of their definition.
            pub const ALL: [$type; [$($name),*].len()] = [$($type::$variant),*];

            /// Returns the name of the variant in reports and options.
            pub fn name(self) -> &'static str {
                match self {
                    $($type::$variant => $name,)*
                }
            }

            /// Returns the description of the variant in reports and help.
            pub fn description(self) -> &'static str {
                match self {
                    $($type::$variant => $description,)*
                }
            }
        }
    };
}

named! {
    /// A kind of finding, in the order of the report of `pct audit`.
    Kind:
    Malformed "malformed" "% without two hexadecimal digits";
    Nul "nul" "%00";
    Newline "newline" "escaped line end: %0A, %0D";
    Control "control" "other escaped control byte";
    RawControl "raw-control" "unescaped control byte other than tab";
    Slash "slash" "escaped /";
    Backslash "backslash" "escaped \\";
    Dot "dot" "escaped .";
    Double "double" "escaped twice: %25 and two digits";
    Overlong "overlong" "overlong UTF-8 after decoding";
    Utf8 "utf8" "other invalid UTF-8 after decoding";
    LowerCase "lower-case" "hexadecimal digits in lower case";
    Unreserved "unreserved" "needless escape: A-Z a-z 0-9 - . _ ~";
}

named! {
    /// A group of kinds of findings, which `pct check` reports under one name. The order is that of the summary. The
    /// groups from `Illegal` to `Ambiguous` are about whole URLs. `Unreadable` is a record or value that cannot be parsed.
    Group:
    Malformed "malformed" "A malformed escape: a \"%\" that is not followed by two hexadecimal digits";
    Utf8 "utf8" "Decoded bytes that are invalid UTF-8; at most one finding per record";
    Double "double" "An escaped \"%\" in front of two hexadecimal digits, as in %2541";
    Nul "nul" "%00";
    Separator "separator" "An escaped \"/\" or \"\\\"";
    Dot "dot" "An escaped \".\"";
    Needless "needless" "An escape of an unreserved byte (--dialect): a letter, a digit or one of \"-._~\"; reported only if named";
    Illegal "illegal" "In a URL: a byte that its component may contain only as an escape";
    NonAscii "non-ascii" "In a URL: bytes that are not ASCII, which only an IRI may contain";
    Control "control" "In a URL: an unescaped control byte";
    Host "host" "In a URL: an invalid address in brackets, or more than one \"@\" before the host";
    Port "port" "In a URL: a port that is not a number up to 65535";
    Ambiguous "ambiguous" "In a URL: a path that servers route differently, as `pct route` shows; reported only if named";
    Unreadable "unreadable" "A record or quoted value that cannot be parsed, or a record that is too long";
}

impl Kind {
    /// Returns the set that contains only this kind, as a bit mask.
    pub const fn bit(self) -> u16 {
        1 << self as u16
    }

    /// Returns the group under which `pct check` reports this kind, or `None` if it does not report this kind.
    pub fn group(self) -> Option<Group> {
        Group::ALL.into_iter().find(|group| group.kinds() & self.bit() != 0)
    }
}

impl Group {
    /// Reports whether `pct check` reports the group by default, because its findings are suspicious in any text with
    /// escapes.
    pub fn is_usual(self) -> bool {
        self != Group::Needless && !self.is_of_urls()
    }

    /// Reports whether findings of the group are about whole URLs, and not about single escapes.
    pub fn is_of_urls(self) -> bool {
        let is_of_flaws =
            matches!(self, Group::Illegal | Group::NonAscii | Group::Control | Group::Host | Group::Port);
        is_of_flaws || self == Group::Ambiguous
    }

    /// Returns the group that reports this kind of flaw of a URL, or `None` if the check of escapes reports the flaw.
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

    /// Returns the set of the kinds that belong to the group, as a bit mask.
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
            | Group::Ambiguous
            | Group::Unreadable => 0,
        }
    }
}
