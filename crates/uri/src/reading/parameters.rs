//! The parameters of a reading.

use core::fmt;

use simdpct::{ByteSet, sets};

/// How one server, in one configuration, reads the path of a request target.
///
/// Every field that differs from [`Reading::PLAIN`] is a deviation that a test against a real server showed. To describe a
/// gateway of your own, start from the reading of a similar server and change fields:
///
/// ```
/// use simdpct_uri::reading::{Dots, Outcome, Reading};
///
/// let gateway = Reading { dots: Dots::Refuse, ..Reading::PLAIN };
/// assert!(matches!(gateway.read("/public/../admin"), Outcome::Refused { .. }));
/// ```
///
/// The fields are in the order in which they are applied. Each names servers that need it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    /// Bytes that are removed from the target before anything else (Squid: space and tab; Waitress: tab).
    pub drop_raw: ByteSet,
    /// Bytes that may not be in a target (Tomcat: 23 of ASCII and all above; Node: control bytes and all above ASCII).
    pub refuse_raw: ByteSet,
    /// Raw bytes from 0x80 up (axum and Jetty reject them if they are not UTF-8; Flask reads them as Latin-1).
    pub raw_utf8: RawUtf8,
    /// The absolute form, `http://host/path` (Node's `req.url` keeps it, Django rejects it, h2o puts a slash before it).
    pub absolute: Form,
    /// The path of an absolute form that has none (Go: empty; HAProxy: rejected if a query follows).
    pub empty: EmptyPath,
    /// The target `*` (Go: kept; h2o: `/*`; HAProxy: an empty path).
    pub star: Form,
    /// A target that begins with no slash, such as `a/b` (Varnish keeps it, h2o puts a slash before it).
    pub relative: Form,
    /// A target that begins with `?` (Traffic Server keeps it, Apache puts a slash before it).
    pub query_only: Form,
    /// A `#` in the target (nginx cuts the target there, Apache and Tomcat reject it, Go reads it as part of the path).
    pub fragment: Fragment,
    /// A raw backslash, and one that was escaped (Tomcat, Node's `new URL`, Envoy, Sinatra).
    pub backslash: Backslash,
    /// Two slashes at the start of the target (Django and Flask keep one; Node's `new URL` reads an authority).
    pub lead: Lead,
    /// Raw bytes that are escaped in the path before it is read (Node's `new URL`, Envoy).
    pub escape_raw: ByteSet,

    /// Rejects a path parameter of an empty segment, `/;x` (Tomcat with `rejectSuspiciousURIs`).
    pub refuse_empty_params: bool,
    /// A path parameter of a dot segment, `..;x` (Jetty rejects it, Envoy reads a dot segment).
    pub dot_params: Params,
    /// Rejects a dot segment with an escape, `%2e` (Jetty without ambiguous URIs, Tomcat with `rejectSuspiciousURIs`).
    pub refuse_escaped_dots: bool,
    /// Path parameters, from `;` to the next slash (Tomcat and Jetty remove them before anything is decoded).
    pub params: Params,

    /// The bytes whose escapes are decoded (HAProxy, Express, Varnish: none; Apache with `NoDecode`: all but the slash).
    pub decode: ByteSet,
    /// The bytes whose escapes are rejected (Apache: the slash; Tomcat: slash and backslash; lighttpd: control bytes).
    pub refuse_escape: ByteSet,
    /// A `%` that begins no escape (nginx and Go reject it, Flask keeps it, HAProxy's `url_dec` has no value then).
    pub malformed: Malformed,
    /// Decodes `%uXXXX` (Jetty).
    pub percent_u: bool,
    /// Changes escapes that stay to upper case (HAProxy with `normalize-uri`, aiohttp).
    pub upper: bool,
    /// The escape `%00` (nginx, Apache and Tomcat reject it, h2o's file handler ends the path there).
    pub nul: Nul,
    /// Replaces control bytes that were escaped with `_` (lighttpd without `url-normalize`).
    pub underscore_control: bool,
    /// Bytes that are not UTF-8 after decoding (Tomcat and Express reject them, Flask replaces them, Django keeps their escapes).
    pub utf8: Utf8,
    /// Rejects a line feed, because the pattern of the route does not match it (Flask, Starlette, aiohttp).
    pub refuse_newline: bool,

    /// Two slashes at the start that appear only after decoding (Flask keeps one, tower-http rejects them).
    pub decoded_lead: DecodedLead,
    /// Rejects `..\` as a segment (`express.static`).
    pub refuse_dotdot_backslash: bool,
    /// Puts a slash before a path that does not begin with one (Caddy and Go, file servers).
    pub slash_first: bool,
    /// Bytes that are removed from the end of the path (Caddy's `path` matcher: dots and spaces).
    pub trim: ByteSet,
    /// Runs of slashes (nginx, Apache, Tomcat: one; lighttpd with `dotseg-reject`: rejected).
    pub merge: Merge,
    /// The segments `.` and `..` (nginx removes them as RFC 3986 does, Express keeps them, lighttpd may reject them).
    pub dots: Dots,
    /// Removes dot segments before or after decoding (Node's `new URL`: before; nginx: after; Apache: both).
    pub dots_on: DotsOn,
    /// Rejects `..` above the root (nginx, Tomcat, Jetty, Apache) instead of removing it.
    pub refuse_above: bool,
    /// Removes the slash at the end (`FileServer` of Go, `ServeDir` of tower-http).
    pub drop_trailing_slash: bool,
    /// Compares in lower case (Caddy's `path` matcher).
    pub lower: bool,

    /// The bytes whose escapes are rejected in a query (lighttpd: control bytes).
    pub refuse_query: ByteSet,
    /// Ends the path at the last `?` instead of the first (lighttpd with Debian's `url-normalize`).
    pub query_last: bool,
    /// Removes a `?` without a query (nginx with a variable, Traffic Server).
    pub drop_empty_query: bool,
    /// The targets that are answered with a redirect to a normalized path (Go's `ServeMux`, Envoy).
    pub redirect: RedirectOn,
    /// The text that the next server, or the application, gets.
    pub pass_on: PassOn,
    /// The bytes that stay if the route is escaped again (nginx and Apache, each their own).
    pub pass_set: ByteSet,
    /// The bytes whose escapes are decoded in the text that is passed on (lighttpd).
    pub pass_decode: ByteSet,
    /// Passes the absolute form on as it was sent (HAProxy, Go's `ServeMux`, PHP).
    pub pass_as_sent: bool,
    /// Passes on only one of the slashes at the start (Apache with `nocanon`).
    pub pass_one_slash: bool,
    /// Passes no fragment on (nginx with a variable, Puma).
    pub pass_no_fragment: bool,
    /// The status of rejections whose status is not 400; 0 closes the connection without an answer.
    pub statuses: &'static [(Why, u16)],
}

/// The bytes 0x00 to 0x1F, and 0x7F.
pub(super) const CONTROL: ByteSet = ByteSet::from_bitmap([0xFFFF_FFFF, 1 << 63, 0, 0]);
/// No bytes.
pub(super) const NONE: ByteSet = ByteSet::from_bitmap([0; 4]);
/// All bytes.
pub(super) const ALL: ByteSet = NONE.complement();
/// The unreserved bytes of RFC 3986.
pub(super) const UNRESERVED: ByteSet = sets::RFC3986_UNRESERVED.to_byte_set();
/// The bytes of a path in RFC 3986.
pub(super) const PATH: ByteSet = sets::RFC3986_PATH.to_byte_set();

impl Reading {
    /// The plainest reading: it decodes every escape, changes nothing else, and passes the target on as it came.
    pub const PLAIN: Reading = Reading {
        drop_raw: NONE,
        refuse_raw: CONTROL.add(b" "),
        raw_utf8: RawUtf8::Any,
        absolute: Form::Strip,
        empty: EmptyPath::Slash,
        star: Form::Refuse,
        relative: Form::Refuse,
        query_only: Form::Refuse,
        fragment: Fragment::Keep,
        backslash: Backslash::Keep,
        lead: Lead::Keep,
        escape_raw: NONE,
        refuse_empty_params: false,
        dot_params: Params::Keep,
        refuse_escaped_dots: false,
        params: Params::Keep,
        decode: ALL,
        refuse_escape: NONE,
        malformed: Malformed::Keep,
        percent_u: false,
        upper: false,
        nul: Nul::Byte,
        underscore_control: false,
        utf8: Utf8::Any,
        refuse_newline: false,
        decoded_lead: DecodedLead::Keep,
        refuse_dotdot_backslash: false,
        slash_first: false,
        trim: NONE,
        merge: Merge::Keep,
        dots: Dots::Keep,
        dots_on: DotsOn::Decoded,
        refuse_above: false,
        drop_trailing_slash: false,
        lower: false,
        refuse_query: NONE,
        query_last: false,
        drop_empty_query: false,
        redirect: RedirectOn::Never,
        pass_on: PassOn::Target,
        pass_set: PATH,
        pass_decode: ALL,
        pass_as_sent: false,
        pass_one_slash: false,
        pass_no_fragment: false,
        statuses: &[],
    };

    /// The reading of a gateway that all servers can trust: it rejects the targets that two of the [default
    /// readings](super::Named::is_default) route differently, or rewrites them to a form that all route alike.
    ///
    /// It never decodes `%2F`, `%5C` and `%25`. It rejects the first two, and `%25` before text that would make it an escape; it
    /// rejects path parameters, control bytes, fragments, malformed escapes and bytes that are not UTF-8. It removes dot segments,
    /// merges slashes, and decodes and escapes everything else anew. Case and a trailing dot stay as they are.
    ///
    /// ```
    /// use simdpct_uri::reading::{Outcome, Reading};
    ///
    /// let Outcome::Read { passed_on: Some(path), .. } = Reading::STRICT.read("//docs/./caf%c3%a9/%7Eme?q") else { panic!() };
    /// assert_eq!(path, b"/docs/caf%C3%A9/~me?q".as_slice());
    /// for target in ["/a%2fb", "/a/..;/b", "/a%2541", "/..%5Ca", "/a%00", "/a%ff", "/../a"] {
    ///     assert!(matches!(Reading::STRICT.read(target), Outcome::Refused { .. }), "{target}");
    /// }
    /// ```
    pub const STRICT: Reading = Reading {
        refuse_raw: CONTROL.add(b" "),
        raw_utf8: RawUtf8::Refuse,
        fragment: Fragment::Refuse,
        backslash: Backslash::Refuse,
        params: Params::Refuse,
        decode: ALL.remove(b"/\\%"),
        refuse_escape: CONTROL.add(b"/\\"),
        malformed: Malformed::RefuseDouble,
        nul: Nul::Refuse,
        utf8: Utf8::Refuse,
        merge: Merge::First,
        dots: Dots::Rfc,
        refuse_above: true,
        pass_on: PassOn::Escaped,
        pass_set: PATH.add(b"%").remove(b";"),
        ..Reading::PLAIN
    };
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Why::Byte => "a byte that may not be in a target",
            Why::Form => "not a path",
            Why::Fragment => "a fragment",
            Why::Query => "an escape in the query",
            Why::Params => "a path parameter",
            Why::Malformed => "a malformed escape",
            Why::Escape => "an escape that is not allowed",
            Why::Double => "an escape that is escaped again",
            Why::Nul => "an escaped NUL",
            Why::Utf8 => "not UTF-8",
            Why::Newline => "a line feed",
            Why::Backslash => "a backslash",
            Why::Slashes => "more than one slash in a row",
            Why::Dots => "a dot segment",
            Why::Above => "a dot segment above the root",
        })
    }
}

macro_rules! choices {
    ($($(#[$doc:meta])* $name:ident { $($(#[$choice_doc:meta])* $choice:ident,)* })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum $name { $($(#[$choice_doc])* $choice,)* }
    )*};
}

choices! {
    /// The treatment of a target that is not a path.
    Form {
        /// The target is rejected.
        Refuse,
        /// The target is read as it is. If it is only a query, the path is empty.
        Keep,
        /// A slash is put before the target.
        Slash,
        /// Scheme and authority are removed. The target `*` becomes empty.
        Strip,
    }

    /// The path of an absolute form that has no path, such as `http://host`.
    EmptyPath {
        /// The path is `/`.
        Slash,
        /// The path is `/`, and a query after the host is rejected.
        SlashNoQuery,
        /// The path is empty.
        Empty,
        /// The path is empty, and a query after the host is rejected.
        EmptyNoQuery,
        /// The target is rejected.
        Refuse,
    }

    /// The treatment of raw bytes from 0x80 up.
    RawUtf8 {
        /// Raw bytes from 0x80 up are bytes like others.
        Any,
        /// A target that is not valid UTF-8 is rejected.
        Refuse,
        /// Each raw byte from 0x80 up is a character of Latin-1, and becomes two bytes of UTF-8.
        Latin1,
    }

    /// The treatment of `#`.
    Fragment {
        /// `#` is a byte like others.
        Keep,
        /// The target ends before the first `#`.
        Cut,
        /// A target with `#` is rejected.
        Refuse,
    }

    /// The treatment of two slashes at the start of a target.
    Lead {
        /// Both slashes stay.
        Keep,
        /// One slash stays.
        One,
        /// The two slashes and the text up to the next slash, a host, are removed.
        Authority,
    }

    /// The treatment of path parameters.
    Params {
        /// Path parameters are a part of their segment.
        Keep,
        /// A path with parameters is rejected.
        Refuse,
        /// Path parameters are removed, so that `..;x` is a dot segment.
        Drop,
    }

    /// The treatment of a `%` that begins no escape.
    Malformed {
        /// The `%` stays.
        Keep,
        /// The target is rejected.
        Refuse,
        /// The route is empty.
        NoRoute,
        /// The `%` stays, and becomes `%25` if decoding would make it the start of an escape.
        Guard,
        /// The target is rejected, also if `%25` before two hexadecimal digits would stay.
        RefuseDouble,
    }

    /// The treatment of `%00`.
    Nul {
        /// NUL is a byte like others.
        Byte,
        /// A target with `%00` is rejected.
        Refuse,
        /// The path ends before the NUL.
        Cut,
    }

    /// The treatment of bytes that are not UTF-8 after decoding.
    Utf8 {
        /// Invalid bytes stay.
        Any,
        /// A path with invalid bytes is rejected.
        Refuse,
        /// Invalid bytes become U+FFFD.
        Replace,
        /// Invalid bytes stay escaped, as they were written.
        Keep,
        /// Invalid bytes stay escaped, with upper-case digits.
        KeepUpper,
        /// If a byte is invalid, all bytes of the path are read as Latin-1.
        Latin1,
        /// A path is rejected only for the bytes C0, C1 and F5 to FF.
        Lead,
    }

    /// The treatment of backslashes.
    Backslash {
        /// Backslashes are bytes like others.
        Keep,
        /// Backslashes, raw or escaped, are slashes.
        Slash,
        /// Backslashes that were not escaped are slashes.
        RawSlash,
        /// A target with a backslash that was not escaped is rejected.
        Refuse,
    }

    /// The treatment of slashes at the start of a path that were escaped.
    DecodedLead {
        /// The slashes stay.
        Keep,
        /// One slash stays.
        One,
        /// The target is rejected.
        Refuse,
    }

    /// The treatment of runs of slashes.
    Merge {
        /// Runs of slashes stay.
        Keep,
        /// Each run becomes one slash before dot segments are removed.
        First,
        /// Each run becomes one slash after dot segments are removed, but the path `//` stays.
        Last,
        /// A path with a run of slashes is rejected.
        Refuse,
    }

    /// The treatment of the segments `.` and `..`.
    Dots {
        /// Dot segments stay.
        Keep,
        /// Dot segments are removed by RFC 3986, section 5.2.4.
        Rfc,
        /// Dot segments are removed, and at the end of a path they leave no slash.
        Clean,
        /// A path with `.` or `..` is rejected.
        Refuse,
        /// `.` is removed, and a path with `..` is rejected.
        Forbid,
    }

    /// The text in which dot segments are looked for.
    DotsOn {
        /// The decoded path.
        Decoded,
        /// The path before decoding, in which `%2e` is a dot and `%2f` is no slash.
        Escaped,
        /// First the path before decoding, then the decoded path, in which `..` above the root is ignored.
        Both,
    }

    /// The targets that a redirect answers.
    RedirectOn {
        /// No target.
        Never,
        /// Targets whose path has dot segments or runs of slashes.
        Unclean,
        /// Targets whose path has an escaped slash or backslash.
        EscapedSlash,
    }

    /// The text that the next server, or the application, gets.
    PassOn {
        /// The target as it came.
        Target,
        /// The path as it came, without the query.
        RawPath,
        /// The route, without the query (WSGI, ASGI).
        Route,
        /// The route and the query (nginx with a variable, Envoy).
        RouteAndQuery,
        /// The route, escaped again, and the query (Apache).
        Escaped,
        /// The route and the query; the route is escaped again if the path had an escape (nginx with a URI in `proxy_pass`).
        Quoted,
        /// The route after all its escapes are decoded once more: the parameter of an application's route (axum, Fastify).
        Param,
        /// The parameter of an application's route, with malformed escapes rejected (Express).
        StrictParam,
        /// The parameter of an application's route; one that cannot be decoded stays as it is (Koa).
        ParamOrRoute,
        /// The path after all its escapes are decoded: the parameter of an application's route (aiohttp).
        RawParam,
        /// Scheme and authority as they came, the route and the query (HAProxy with `normalize-uri`).
        Origin,
        /// The path as it came if all its bytes may be in a path, and otherwise the decoded path, escaped again (Go).
        Go,
        /// The path with only some escapes decoded, read as the route is (lighttpd).
        Redecoded,
        /// The route, escaped again except `%2F`; other text with `%` is rejected (Apache with `NoDecode`).
        EscapedButSlash,
        /// Nothing, because the server serves files of its own.
        Nothing,
    }

    /// The reason of a rejection.
    Why {
        /// A raw byte that may not be in a target.
        Byte,
        /// A target that is not a path.
        Form,
        /// A `#`.
        Fragment,
        /// An escape in the query.
        Query,
        /// A path parameter.
        Params,
        /// A `%` that begins no escape.
        Malformed,
        /// The escape of a byte that may not be escaped.
        Escape,
        /// An escape whose text would be an escape again.
        Double,
        /// The escape `%00`.
        Nul,
        /// Bytes that are not UTF-8.
        Utf8,
        /// A line feed that the route's pattern does not match.
        Newline,
        /// A backslash.
        Backslash,
        /// A run of slashes.
        Slashes,
        /// A dot segment.
        Dots,
        /// A dot segment above the root.
        Above,
    }
}
