//! The steps of a reading, which describes how one server reads the path of a request target.

use std::fmt::{self, Display, Formatter};

use simdpct::ByteSet;

/// Declares an enum. Each variant has its documentation, and a text that `Display` writes.
macro_rules! described {
    (
        $(#[$enum_doc:meta])*
        pub enum $enum:ident {
            $($(#[$doc:meta])* $name:ident $(($field:ident: $type:ty))? $({ $($flag:ident: $flag_type:ty),* })? =>
                $text:literal $(, $argument:expr)*;)*
        }
    ) => {
        $(#[$enum_doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum $enum {
            $($(#[$doc])* $name $(($type))? $({
                $(
                    /// See the variant.
                    $flag: $flag_type,
                )*
            })?,)*
        }

        impl Display for $enum {
            fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
                match *self {
                    $($enum::$name $(($field))? $({ $($flag),* })? => write!(f, $text $(, $argument)*),)*
                }
            }
        }
    };
}

described! {
    /// The reason of a rejection.
    pub enum RejectReason {
        /// A raw byte that may not be in a target.
        Byte => "a byte that may not be in a target";
        /// A target that is not a path.
        Form => "not a path";
        /// A `#`.
        Fragment => "a fragment";
        /// An escape in the query.
        Query => "an escape in the query";
        /// A path parameter.
        Params => "a path parameter";
        /// A `%` that begins no escape.
        Malformed => "a malformed escape";
        /// The escape of a byte that may not be escaped.
        Escape => "an escape that is not allowed";
        /// An escape `%25` whose decoded `%` would begin another escape.
        Double => "an escape that is escaped again";
        /// The escape `%00`.
        Nul => "an escaped NUL";
        /// Bytes that are not UTF-8.
        Utf8 => "not UTF-8";
        /// A line feed that the route's pattern does not match.
        Newline => "a line feed";
        /// A backslash.
        Backslash => "a backslash";
        /// A run of slashes.
        Slashes => "more than one slash in a row";
        /// A dot segment.
        Dots => "a dot segment";
        /// A dot segment above the root.
        Above => "a dot segment above the root";
    }
}

described! {
    /// The form of a target that does not begin with a slash.
    pub enum Form {
        /// `http://host/path`.
        Absolute => "http://host/path";
        /// `*`.
        Star => "*";
        /// A target that begins with `*` and goes on.
        StarPath => "*path";
        /// A target that begins with `?`.
        Query => "?query";
        /// Any other text, or an empty target.
        Relative => "path";
    }
}

described! {
    /// One step of a reading.
    ///
    /// All steps work on one current text. It is the whole target at first, and the path after [`Step::Split`]. At [`Step::Route`] it
    /// becomes the route; after the last step it is passed on. Without [`Step::Route`], the final text is also the route. A step that
    /// rejects something rejects the whole target if the current text has it.
    pub enum Step {
        /// Sets the status of rejections by later steps, which is 400 at first. The status 0 closes the connection without an answer.
        Status(status: u16) => "rejects with the status {status} from here on";

        /// Removes the bytes in `set` from the target. This step belongs before [`Step::Split`]: after it, the text is the path alone,
        /// which would replace the whole target, so that [`Step::Sent`] and [`Step::Target`] would go on without the query.
        DropBytes(set: ByteSet) => "removes {}", bytes(set);
        /// Rejects the bytes in `set`.
        RejectBytes(set: ByteSet) => "rejects {}", bytes(set);
        /// Rejects a text that is not UTF-8.
        RejectInvalidUtf8 => "rejects invalid UTF-8";
        /// Rejects an absolute form with a scheme other than `http` and `https`.
        RejectOtherSchemes => "rejects other schemes than `http` and `https`";
        /// Rejects an absolute form with an empty host.
        RejectEmptyHost => "rejects an empty host";
        /// Rejects an absolute form with one of the bytes in `set` before the path and the query, be it in the authority or a `#` after it.
        RejectInAuthority(set: ByteSet) => "rejects {} between scheme and path", bytes(set);
        /// Removes scheme and authority of the absolute form. `empty` takes the place of an empty path; `None` rejects an empty path. If
        /// `query` is false, an empty path with text after it is rejected.
        StripOrigin { empty: Option<&'static str>, query: bool } => "removes scheme and authority, {}{}",
            match empty {
                None => "and rejects an empty path",
                Some("") => "and keeps an empty path",
                Some(_) => "and reads an empty path as `/`",
            },
            if query || empty.is_none() { "" } else { " unless a query follows, which is rejected" };
        /// Removes a special scheme other than `file`, all slashes and backslashes after it, and the text up to the next slash, backslash,
        /// `?` or `#`, as the URL Standard does. Puts a slash in its place if neither a slash nor a backslash follows.
        StripSpecialOrigin => "removes a special scheme, all slashes after it, and the host";
        /// Removes a scheme that one slash follows.
        StripScheme => "removes a scheme before a single slash";
        /// Removes a scheme from a target without an authority, as `urlsplit` of Python does. Puts `slash`, which is a slash or empty, before
        /// the rest if the rest does not begin with a slash.
        StripAnyScheme { slash: &'static str } => "removes a scheme{}",
            if slash.is_empty() { "" } else { ", and puts a slash before the rest if it has none" };
        /// Reads a target that begins with `*` as an empty path.
        EmptyStar => "reads `*` and the text after it as an empty path";
        /// Reads the text before the first `/`, `?` or `#` of targets of the `forms` as a host, and removes it. Puts a slash in its place
        /// if none follows.
        StripHost(forms: &'static [Form]) => "removes the host, up to `/`, `?` or `#`, of targets such as {}", list(forms);
        /// Accepts targets of the `forms` as they are.
        Keep(forms: &'static [Form]) => "keeps targets such as {}", list(forms);
        /// Puts a slash before targets of the `forms`.
        PutSlash(forms: &'static [Form]) => "puts a slash before targets such as {}", list(forms);
        /// Rejects a target that does not begin with a slash, unless an earlier step accepted its form.
        RejectOtherForms => "rejects targets of other forms";
        /// Rejects a `#`.
        RejectFragment => "rejects `#`";
        /// Removes `#` and the text after it.
        CutFragment => "removes `#` and the text after it";
        /// Removes `#` and the text after it, if the target has no `?`.
        CutFragmentWithoutQuery => "removes `#` and the text after it in targets without `?`";
        /// Divides the target at the first `?` into the path, with which the next steps go on, and the query.
        Split => "takes the path before `?`";

        /// Rejects a backslash.
        RejectBackslash => "rejects `\\`";
        /// Replaces backslashes by slashes.
        BackslashesToSlashes => "replaces `\\` by `/`";
        /// If the target has a `#` or does not begin with a slash: replaces backslashes by slashes, removes `//user@host` from the start of
        /// the target, and escapes some bytes.
        ParseLikeNode => "replaces `\\` by `/`, removes `//user@host`, escapes some bytes, if the target has `#` or no `/` first";
        /// Replaces backslashes by slashes. Does the rest of [`Step::ParseLikeNode`] also for a path that has an `@`, or more than two
        /// slashes at the start.
        UrlParse => "replaces `\\` by `/`, and may remove `//user@host` and escape some bytes, as `url.parse` does";
        /// Keeps one of the slashes at the start.
        MergeLeadingSlashes => "keeps one slash at the start";
        /// Removes two or more slashes at the start and the text up to the next slash, if the target was sent with a slash or backslash
        /// first. If no slash follows, `/` remains. A path of two or more slashes and nothing else is rejected.
        DropAuthority => "removes `//` and the text up to the next slash";
        /// Reads raw bytes as Latin-1, and writes them as UTF-8.
        ReadLatin1 => "reads raw bytes as Latin-1";
        /// Escapes the bytes in `set`.
        EscapeBytes(set: ByteSet) => "escapes {}", bytes(set);

        /// Rejects path parameters, which are the text from `;` to the next slash.
        RejectParams => "rejects `;`";
        /// Rejects a parameter of an empty segment.
        RejectEmptyParams => "rejects `/;`";
        /// Rejects a parameter of a dot segment, whose dots may be escaped.
        RejectDotParams => "rejects parameters of dot segments, as in `..;x`";
        /// Removes parameters of dot segments.
        DropDotParams => "removes parameters of dot segments, as in `..;x`";
        /// Removes path parameters.
        DropParams => "removes parameters (`;` up to the next slash)";
        /// Rejects a dot segment with a `%`: in an escaped dot, or in its parameters.
        RejectEscapedDots => "rejects dot segments with `%2e`";

        /// Rejects a `%` that begins no escape.
        RejectMalformed => "rejects malformed escapes";
        /// Empties the path if a `%` begins no escape.
        EmptyIfMalformed => "empties a path with a malformed escape";
        /// Escapes a `%` that begins no escape.
        EscapeMalformed => "escapes the `%` of malformed escapes";
        /// Rejects escapes of the bytes in `set`.
        RejectEscapes(set: ByteSet) => "rejects escapes of {}", bytes(set);
        /// Rejects `%00`.
        RejectNul => "rejects `%00`";
        /// Replaces `%uXXXX` and `%UXXXX` by the escapes of the UTF-8 bytes of the code point `XXXX`.
        ExpandPercentU => "reads `%uXXXX` as the escapes of UTF-8";
        /// Writes escapes of the bytes in `set` in upper case.
        UpperEscapes(set: ByteSet) => "changes escapes of {} to upper case", bytes(set);
        /// Replaces escapes of the bytes in `set` by `_`.
        EscapesToUnderscores(set: ByteSet) => "replaces escapes of {} by `_`", bytes(set);
        /// Decodes escapes of the bytes in `set`.
        Decode(set: ByteSet) => "decodes escapes of {}", bytes(set);
        /// Decodes escapes of the bytes in `set`. If decoding makes a malformed escape a valid one, its `%` becomes `%25`.
        DecodeGuarded(set: ByteSet) => "decodes escapes of {}, and writes `%25` if that would complete a malformed escape", bytes(set);
        /// Decodes escapes of the bytes in `set`. Escapes of bytes that are not UTF-8 stay.
        DecodeUtf8(set: ByteSet) => "decodes escapes of {} if they are UTF-8", bytes(set);
        /// Decodes all escapes, or none if one is malformed, or if the result is not UTF-8.
        DecodeOrKeep => "decodes all escapes, unless one is malformed or the result is invalid UTF-8";
        /// Rejects `%25` before two hexadecimal digits.
        RejectDouble => "rejects `%25` before two digits";
        /// Removes NUL and the text after it.
        CutAtNul => "removes NUL and the text after it";
        /// Replaces bytes that are not UTF-8 by U+FFFD.
        ReplaceInvalidUtf8 => "replaces invalid UTF-8 by U+FFFD";
        /// Escapes bytes that are not UTF-8.
        EscapeInvalidUtf8 => "escapes invalid UTF-8";
        /// Reads the path as Latin-1 if it is not UTF-8.
        InvalidUtf8ToLatin1 => "reads a path of invalid UTF-8 as Latin-1";
        /// Rejects the bytes C0, C1 and F5 to FF, which UTF-8 never has.
        RejectNeverUtf8 => "rejects `\\xC0`, `\\xC1` and `\\xF5-\\xFF`";
        /// Removes a line feed at the end, before which `$` of a pattern matches.
        DropLastNewline => "removes a line feed at the end";
        /// Rejects a line feed.
        RejectNewline => "rejects a line feed";

        /// Rejects two slashes at the start if the path had only one at [`Step::Split`].
        RejectDecodedLead => "rejects `//` at the start, unless it was not escaped";
        /// Rejects `..\` where a segment may begin, and `\..` at the end of a segment.
        RejectDotDotBackslash => "rejects `..\\` and `\\..`";
        /// Puts a slash before a path that does not begin with one.
        StartWithSlash => "puts a slash at the start if there is none";
        /// Removes the bytes in `set` from the end. The first byte stays.
        TrimEnd(set: ByteSet) => "removes {} at the end", bytes(set);
        /// Removes a slash at the start, if the target has one of the `forms`.
        DropSlash(forms: &'static [Form]) => "removes the slash at the start of targets such as {}", list(forms);
        /// Rejects a run of slashes.
        RejectDoubleSlashes => "rejects `//`";
        /// Replaces each run of slashes by one.
        MergeSlashes => "merges slashes";
        /// Replaces each run of slashes by one. A path of two or more slashes and nothing else becomes `//`.
        MergeSlashesUnlessAll => "merges slashes, but keeps two if the path has nothing else";
        /// Rejects the segments `.` and `..`.
        RejectDots => "rejects dot segments";
        /// Rejects the segment `..`.
        RejectDotDot => "rejects `..`";
        /// Removes the segments `.` and `..`. If `clean`, no slash remains in place of a dot segment at the end, except for the root. If
        /// `escaped`, `%2e` counts as a dot. If `reject_above`, `..` above the root is rejected instead of removed.
        RemoveDots { escaped: bool, clean: bool, reject_above: bool } => "removes dot segments{}{}{}",
            if escaped { ", also with `%2e`" } else { "" },
            if clean { ", and the slash at the end" } else { "" },
            if reject_above { ", and rejects `..` above the root" } else { "" };
        /// Changes the path to lower case, each character by itself, by Unicode, and replaces invalid UTF-8 by U+FFFD.
        Lowercase => "changes to lower case";

        /// Rejects escapes of the bytes in `set` in the query.
        RejectQueryEscapes(set: ByteSet) => "rejects escapes of {} in the query", bytes(set);
        /// If the query has another `?`, appends `?` and the query up to its last `?` to the path.
        ExtendToLastQuery => "ends the path at the last `?`";
        /// Removes a `?` without a query.
        DropEmptyQuery => "removes an empty query";
        /// Decodes escapes of the bytes in `set` in the query, changes the other escapes to upper case, and escapes each `%` that begins no
        /// escape.
        NormalizeQuery(set: ByteSet) => "decodes escapes of {} in the query", bytes(set);
        /// Redirects to the path without runs of slashes and dot segments, if it has any.
        RedirectUnclean => "redirects if slashes can be merged or dot segments removed";
        /// Redirects to the current path if the path had an escaped slash or backslash at [`Step::Split`].
        RedirectEscapedSlash => "redirects if a slash or backslash was escaped";
        /// Makes the current text the route. The next steps make the text that is passed on.
        Route => "routes";

        /// Continues with the target as it was sent, without the bytes that [`Step::DropBytes`] removed.
        Sent => "takes the target as it came";
        /// Continues with the target as it was sent, but as a path: without scheme and authority, and with the slash of [`Step::PutSlash`].
        Target => "takes the target as it came, as a path";
        /// Continues with the path as it was at [`Step::Split`].
        RawPath => "takes the path as it came";
        /// Removes `?` and the text after it.
        CutQuery => "removes `?` and the text after it";
        /// Escapes the bytes in `set`, if the path had a `%` at [`Step::Split`].
        EscapeIfEscaped(set: ByteSet) => "if the path had an escape, escapes {}", bytes(set);
        /// Escapes the bytes in `set`, but keeps each `%2F`. Rejects a `%` that begins no escape.
        EscapeButSlash(set: ByteSet) => "escapes {} except in `%2F`, and rejects malformed escapes", bytes(set);
        /// Keeps the path as sent if all its bytes may be in a path. Otherwise decodes and escapes it. Writes an empty path as `/`.
        EscapeLikeGo => "takes the path as it came, decoded and escaped again if a byte may not be in a path";
        /// Puts scheme and authority, as they were sent, before the text. A target that begins with `*` takes the place of the text.
        AddOrigin => "adds scheme and authority";
        /// Adds the query.
        AddQuery => "adds the query";
        /// Passes nothing on, because the server serves files of its own.
        ServeFiles => "passes nothing on";
    }
}

/// Lists the bytes of a set in the order of their values, or, for a large set, those that it lacks. Three or more
/// consecutive bytes are written as the first one, `-` and the last one.
fn bytes(set: ByteSet) -> String {
    if set == ByteSet::ALL {
        return "all bytes".to_owned();
    }
    if set.len() > 160 {
        return format!("all bytes but {}", bytes(set.complement()));
    }
    let mut text = String::new();
    let mut rest = set;
    while let Some(first) = rest.iter().next() {
        let last = (first..=u8::MAX).take_while(|&byte| set.contains(byte)).last().unwrap_or(first);
        (first..=last).for_each(|byte| rest = rest.remove(&[byte]));
        let shown = |byte: u8| match byte {
            b'!'..=b'~' if byte != b'`' => char::from(byte).to_string(),
            _ => format!("\\x{byte:02X}"),
        };
        text += &match last - first {
            0 => shown(first),
            1 => shown(first) + &shown(last),
            _ => format!("{}-{}", shown(first), shown(last)),
        };
    }
    format!("`{text}`")
}

fn list(forms: &[Form]) -> String {
    forms.iter().map(|form| format!("`{form}`")).collect::<Vec<_>>().join(", ")
}
