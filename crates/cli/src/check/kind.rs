//! Defines the kinds of findings that `pct audit` counts, and the groups of kinds that `pct check` reports.
//!
//! The names and descriptions in help texts, reports and JSON are those of the tables in this file.

use simdpct_uri::{Component, FlawKind};

/// Defines an enum with a list of its variants, and with a name, a property and a description of each variant.
macro_rules! named {
    ($(#[$meta:meta])* $type:ident $property:ident: $of:ty; $($variant:ident $name:literal $value:expr, $description:literal;)*) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $type {
            $($variant,)*
        }

        impl $type {
            /// All variants, in the order of their definition.
            pub const ALL: [$type; [$($name),*].len()] = [$($type::$variant),*];

            /// Returns the set that contains only this variant, as a bit mask.
            pub const fn bit(self) -> u16 {
                1 << self as u16
            }

            /// Returns the name of the variant in reports and options.
            pub fn name(self) -> &'static str {
                [$($name),*][self as usize]
            }

            /// Returns the description of the variant in reports and help.
            pub fn description(self) -> &'static str {
                [$($description),*][self as usize]
            }

            /// Returns the property of the variant.
            pub const fn $property(self) -> $of {
                [$($value),*][self as usize]
            }
        }
    };
}

named! {
    /// A kind of finding, in the order of the report of `pct audit`. The property is the group under which `pct check` reports the kind,
    /// or `None` if it does not report the kind.
    Kind group: Option<Group>;
    Malformed "malformed" Some(Group::Malformed), "% without two hexadecimal digits";
    Nul "nul" Some(Group::Nul), "%00";
    LineEnd "crlf" Some(Group::LineEnd), "escaped line end: %0A, %0D";
    Control "control" None, "other escaped control byte";
    RawControl "raw-control" None, "unescaped control byte other than tab";
    Slash "slash" Some(Group::Separator), "escaped /";
    Backslash "backslash" Some(Group::Separator), "escaped \\";
    Dot "dot" Some(Group::Dot), "escaped .";
    Double "double" Some(Group::Double), "escaped twice: %25 and two digits";
    Overlong "overlong" Some(Group::Utf8), "overlong UTF-8 after decoding";
    Utf8 "utf8" Some(Group::Utf8), "other invalid UTF-8 after decoding";
    LowerCase "lower-case" None, "hexadecimal digits in lower case";
    Unreserved "unreserved" Some(Group::Needless), "needless escape: A-Z a-z 0-9 - . _ ~";
}

named! {
    /// A group of kinds of findings, which `pct check` reports under one name. The order is that of the summary. The property says whether
    /// findings are about whole URLs, and not about single escapes. `Unreadable` is a record or value that cannot be parsed.
    Group is_of_urls: bool;
    Malformed "malformed" false, "A malformed escape: a \"%\" that is not followed by two hexadecimal digits";
    Utf8 "utf8" false, "Decoded bytes that are invalid UTF-8; at most one finding per record";
    Double "double" false, "An escaped \"%\" in front of two hexadecimal digits, as in %2541";
    Nul "nul" false, "%00";
    LineEnd "crlf" false, "An escaped line end, which can begin a line of a header or a log: %0D%0A, %0D or %0A";
    Separator "separator" false, "An escaped \"/\" or \"\\\"";
    Dot "dot" false, "An escaped \".\"";
    Needless "needless" false, "An escape of an unreserved byte (--dialect), such as %41 or %7E; without --component, reported only if named";
    Illegal "illegal" true, "In a URL: a byte that its component may contain only as an escape";
    NonAscii "non-ascii" true, "In a URL: bytes that are not ASCII, which only an IRI may contain";
    Control "control" true, "In a URL: an unescaped control byte";
    Host "host" true, "In a URL: an invalid address in brackets, or more than one \"@\" before the host";
    Port "port" true, "In a URL: a port that is not a number up to 65535";
    Ambiguous "ambiguous" true, "In a URL: a path that servers route differently, as `pct route` shows; reported only if named";
    Unreadable "unreadable" false, "A record or quoted value that cannot be parsed, or a record that is too long";
}

impl Group {
    /// Reports whether `pct check` reports the group by default, because its findings are suspicious in any text with
    /// escapes.
    pub fn is_usual(self) -> bool {
        self != Group::Needless && !self.is_of_urls()
    }

    /// Reports whether a finding of the group can be in `component` of a URL. An unreadable record is reported whatever the components are.
    pub fn can_be_in(self, component: Component) -> bool {
        match self {
            Group::Unreadable => true,
            Group::Host => matches!(component, Component::Userinfo | Component::Host),
            Group::Port => component == Component::Port,
            Group::Ambiguous => component == Component::Path,
            _ => component != Component::Scheme,
        }
    }

    /// Returns the set of the kinds that belong to the group, as a bit mask.
    pub fn kinds(self) -> u16 {
        Kind::ALL.into_iter().filter(|kind| kind.group() == Some(self)).fold(0, |set, kind| set | kind.bit())
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
}
