//! The readings of real servers: the steps by which each server reads the path of a request target.
//!
//! Each row was compared with the answers of the server itself, on one machine with Debian 12 (amd64). The requests went over a socket,
//! with the target unchanged. `ci/readers` repeats the comparison. To add a new version of a server, add a row and run `ci/readers`.

use simdpct::{ByteSet, sets};

use crate::reading::Reading;
use crate::step::Form;
use crate::step::Step::{self, *};

/// The reading of a gateway that all servers can trust: it rejects the targets that two of the [default readings](Reading::is_default)
/// route differently, or rewrites them to a form that all route alike.
///
/// It never decodes `%2F`, `%5C` and `%25`. It rejects the first two, and `%25` before text that would make it an escape. It rejects path
/// parameters, backslashes, spaces, control bytes, escapes of control bytes, fragments, malformed escapes, bytes that are not UTF-8, `..`
/// above the root, and targets that are neither a path nor an absolute URL. It removes the other dot segments, merges slashes, decodes the
/// other escapes, and escapes bytes that a path cannot hold. Case and a trailing dot stay.
///
/// ```
/// use simdpct_readings::{Outcome, STRICT};
///
/// assert_eq!(STRICT.read("//docs/./caf%c3%a9/%7Eme?q").passed_on().unwrap(), b"/docs/caf%C3%A9/~me?q");
/// for target in ["/a%2fb", "/a/..;/b", "/a%2541", "/..%5Ca", "/a%00", "/a%ff", "/../a"] {
///     assert!(matches!(STRICT.read(target), Outcome::Rejected { .. }), "{target}");
/// }
/// ```
pub static STRICT: Reading = Reading {
    config: "rejects or rewrites the targets that default readings route differently",
    ..Reading::new("strict", STRICT_STEPS)
};

/// Returns the reading with this name: one of [`READINGS`], or [`STRICT`] for `strict`.
#[must_use]
pub fn find(name: &str) -> Option<&'static Reading> {
    READINGS.iter().chain([&STRICT]).find(|reading| reading.name == name)
}

const ALL: ByteSet = ByteSet::ALL;
/// The bytes 0x00 to 0x1F, and 0x7F.
const CONTROL: ByteSet = ByteSet::from_bitmap([0xFFFF_FFFF, 1 << 63, 0, 0]);
/// Control bytes and the space.
const BLANK: ByteSet = CONTROL.add(b" ");
const HIGH: ByteSet = ByteSet::NON_ASCII;
/// All bytes but those of visible ASCII.
const NOT_GRAPHIC: ByteSet = BLANK.union(HIGH);
/// The ASCII bytes at which `str.split` of Python splits.
const NOT_IN_WORDS: ByteSet = set(b"\t\n\x0B\x0C\r \x1C\x1D\x1E\x1F");
const UNRESERVED: ByteSet = sets::RFC3986_UNRESERVED.to_byte_set();
/// The bytes of a path in RFC 3986. `NOT_PATH` has all other bytes.
const PATH: ByteSet = sets::RFC3986_PATH.to_byte_set();
const NOT_PATH: ByteSet = PATH.complement();
const NOT_AUTHORITY: ByteSet = NOT_PATH.remove(b"%[]");
const SLASH: ByteSet = set(b"/");
const SLASHES: ByteSet = set(b"/\\");

const fn set(bytes: &[u8]) -> ByteSet {
    ByteSet::from_bytes(bytes)
}

const ANY: &[Form] = &[Form::Absolute, Form::Star, Form::StarPath, Form::Query, Form::Relative];
const STARS: &[Form] = &[Form::Star, Form::StarPath];

// These steps remove scheme and authority. They differ in the handling of an empty path.
const STRIP: Step = StripOrigin { empty: Some("/"), query: true };
const STRIP_NO_QUERY: Step = StripOrigin { empty: Some("/"), query: false };
const STRIP_TO_NOTHING: Step = StripOrigin { empty: Some(""), query: true };
const STRIP_PATH: Step = StripOrigin { empty: None, query: false };

// These steps remove dot segments: `RFC` by RFC 3986, 5.2.4, and `CLEAN` without the slash that the RFC leaves for a
// dot segment at the end. `ESCAPED` also counts `%2e` as a dot. Those with `BELOW` reject `..` above the root.
const RFC: Step = RemoveDots { escaped: false, clean: false, reject_above: false };
const RFC_BELOW: Step = RemoveDots { escaped: false, clean: false, reject_above: true };
const ESCAPED: Step = RemoveDots { escaped: true, clean: false, reject_above: false };
const ESCAPED_BELOW: Step = RemoveDots { escaped: true, clean: false, reject_above: true };
const CLEAN: Step = RemoveDots { escaped: false, clean: true, reject_above: false };
const CLEAN_BELOW: Step = RemoveDots { escaped: false, clean: true, reject_above: true };

/// Declares lists of steps.
macro_rules! steps {
    ($($name:ident: $($step:expr),*;)*) => { $(const $name: &[Step] = &[$($step),*];)* };
}

steps! {
    STRICT_STEPS:
        RejectBytes(BLANK), RejectInvalidUtf8, STRIP, RejectOtherForms, RejectFragment, Split, RejectBackslash, RejectParams,
            RejectMalformed, RejectEscapes(CONTROL.union(SLASHES)), Decode(ALL.remove(b"/\\%")), RejectDouble, RejectInvalidUtf8,
            MergeSlashes, RFC_BELOW, Route, EscapeBytes(NOT_PATH.add(b";").remove(b"%")), AddQuery;
    NGINX:
        RejectBytes(BLANK), RejectInAuthority(NOT_AUTHORITY.add(b"%@")), RejectEmptyHost, STRIP, RejectOtherForms, CutFragment, Split,
            RejectMalformed, RejectNul, Decode(ALL);
    NGINX_URI: Route, DropEmptyQuery, EscapeIfEscaped(CONTROL.union(HIGH).add(b" \"#%<>?\\^`{|}")), AddQuery;
    APACHE:
        RejectBytes(BLANK), STRIP, PutSlash(&[Form::Query]), RejectOtherForms, RejectFragment, Split, RejectMalformed,
            MergeSlashes, ESCAPED_BELOW, Status(404), RejectNul;
    APACHE_NODECODE: Decode(ALL.remove(b"/")), MergeSlashes, RFC;
    HAPROXY:
        RejectBytes(NOT_GRAPHIC.remove(b"\x7F")), StripOrigin { empty: Some(""), query: false }, Keep(STARS),
            RejectOtherForms, RejectFragment, EmptyStar, Split;
    GO:
        RejectBytes(BLANK), STRIP_TO_NOTHING, StripScheme, Keep(&[Form::Star]), RejectOtherForms, Split, RejectMalformed;
    GO_PROXY: Route, EscapeLikeGo, AddQuery;
    H2O: RejectBytes(BLANK), PutSlash(ANY), Split, Decode(ALL), CutAtNul, RFC, Route;
    LIGHTTPD: RejectBytes(CONTROL), STRIP_PATH, RejectOtherForms, CutFragment, Split;
    LIGHTTPD_QUERY:
        RejectQueryEscapes(CONTROL), ExtendToLastQuery, Route, NormalizeQuery(PATH.remove(b"&=+;#?"));
    LIGHTTPD_AGAIN: RawPath, EscapeMalformed, UpperEscapes(ALL);
    TOMCAT: RejectBytes(NOT_GRAPHIC.add(b"\"#<>[\\]^`{|}")), STRIP, RejectOtherForms, Split;
    TOMCAT_ROUTE: MergeSlashes, CLEAN_BELOW, Route, RawPath;
    JETTY:
        RejectBytes(BLANK.remove(b"\x7F")), RejectInvalidUtf8, STRIP_NO_QUERY, RejectOtherForms, CutFragment, Split;
    JETTY_ROUTE: Decode(ALL), InvalidUtf8ToLatin1, RFC_BELOW, Route, RawPath;
    NODE: RejectBytes(NOT_GRAPHIC), RejectInAuthority(NOT_AUTHORITY);
    STATIC_NODE: STRIP, PutSlash(STARS), RejectOtherForms, CutFragment, Split;
    EXPRESS:
        STRIP, RejectOtherForms, CutFragment, Split, ParseLikeNode, Route, RejectMalformed, Decode(ALL), RejectInvalidUtf8;
    EXPRESS_STATIC:
        Status(404), RejectMalformed, RejectNul, Decode(ALL), RejectInvalidUtf8, RejectDotDotBackslash, MergeSlashes, CLEAN_BELOW,
            ServeFiles;
    HYPER: RejectBytes(BLANK.add(b"<>`")), RejectInvalidUtf8, STRIP;
    PUMA: RejectBytes(BLANK.add(b"\"<>"));
    ENVOY:
        RejectBytes(NOT_GRAPHIC), RejectOtherSchemes, RejectInAuthority(NOT_AUTHORITY), RejectEmptyHost, STRIP_NO_QUERY,
            RejectOtherForms, RejectFragment, Split;
    ENVOY_NORMALIZE:
        DropDotParams, RejectNul, BackslashesToSlashes, EscapeBytes(set(b"\"<>^`{|}")), DecodeGuarded(UNRESERVED), RFC;
}

/// Returns the steps of several lists, one after the other. `N` is the number of all steps.
const fn joined<const N: usize>(lists: &[&[Step]]) -> [Step; N] {
    let mut steps = [Route; N];
    let (mut list, mut at, mut len) = (0, 0, 0);
    while len < N {
        if at == lists[list].len() {
            (list, at) = (list + 1, 0);
        } else {
            steps[len] = lists[list][at];
            (at, len) = (at + 1, len + 1);
        }
    }
    steps
}

macro_rules! readings {
    ($($name:literal $server:literal $version:literal, $config:literal, $asked:literal $($default:ident)?: $($list:expr),*;)*) => {
        /// The readings of servers, with their evidence. [`STRICT`] is not one of them.
        pub static READINGS: &[Reading] = &[$(Reading {
            server: $server,
            version: $version,
            config: $config,
            asked: $asked,
            date: "2026-11-22",
            is_default: readings!(@ $($default)?),
            ..Reading::new($name, {
                const LEN: usize = 0 $(+ $list.len())*;
                const STEPS: &[Step] = &joined::<LEN>(&[$($list),*]);
                STEPS
            })
        },)*];
    };
    (@) => { false };
    (@ default) => { true };
}

readings! {
    "nginx-1.22" "nginx" "1.22.1", "proxy_pass without a URI", "`return 200 $uri`" default:
        NGINX, &[MergeSlashes, RFC_BELOW, Route, Target];
    "nginx-1.22-uri" "nginx" "1.22.1", "proxy_pass with a URI", "`return 200 $uri`":
        NGINX, &[MergeSlashes, RFC_BELOW], NGINX_URI;
    "nginx-1.22-uri-unmerged" "nginx" "1.22.1", "merge_slashes off, proxy_pass with a URI", "`return 200 $uri`":
        NGINX, &[RFC_BELOW], NGINX_URI;
    "nginx-1.22-variable" "nginx" "1.22.1", "proxy_pass http://up$uri$is_args$args", "`return 200 $uri`":
        NGINX, &[MergeSlashes, RFC_BELOW, Route, DropEmptyQuery, AddQuery];
    "nginx-1.22-static" "nginx" "1.22.1", "root", "strace: the file it looks for":
        NGINX, &[MergeSlashes, RFC_BELOW, ServeFiles];
    "apache-2.4" "Apache httpd" "2.4.71", "AllowEncodedSlashes Off, ProxyPass", "mod_lua in the fixup phase: r.uri":
        APACHE, &[RejectEscapes(SLASH), Decode(ALL), MergeSlashes, RFC, Route, EscapeBytes(NOT_PATH), AddQuery];
    "apache-2.4-on" "Apache httpd" "2.4.71", "AllowEncodedSlashes On, ProxyPass", "mod_lua in the fixup phase: r.uri":
        APACHE, &[Decode(ALL), MergeSlashes, RFC, Route, EscapeBytes(NOT_PATH), AddQuery];
    "apache-2.4-nodecode" "Apache httpd" "2.4.71", "AllowEncodedSlashes NoDecode, ProxyPass", "mod_lua in the fixup phase: r.uri" default:
        APACHE, APACHE_NODECODE, &[Route, Status(400), EscapeButSlash(NOT_PATH), AddQuery];
    "apache-2.4-nocanon" "Apache httpd" "2.4.71", "AllowEncodedSlashes NoDecode, ProxyPass nocanon", "mod_lua in the fixup phase: r.uri":
        APACHE, APACHE_NODECODE, &[Route, Target, MergeLeadingSlashes];
    "apache-2.4-static" "Apache httpd" "2.4.71", "files, AllowEncodedSlashes Off", "mod_lua in the fixup phase: r.uri":
        APACHE, &[RejectEscapes(SLASH), Decode(ALL), MergeSlashes, RFC, ServeFiles];
    "apache-2.4-static-on" "Apache httpd" "2.4.71", "files, AllowEncodedSlashes On", "mod_lua in the fixup phase: r.uri":
        APACHE, &[Decode(ALL), MergeSlashes, RFC, ServeFiles];
    "haproxy-2.6" "HAProxy" "2.6.12", "path", "http-request return with %[path]":
        HAPROXY, &[Route, Sent];
    "haproxy-2.6-url-dec" "HAProxy" "2.6.12", "path,url_dec", "http-request return with %[path]":
        HAPROXY, &[EmptyIfMalformed, Decode(ALL), Route, Sent];
    "haproxy-2.6-normalize" "HAProxy" "2.6.12", "http-request normalize-uri, all normalizers", "http-request return with %[path]" default:
        HAPROXY, &[UpperEscapes(ALL), Decode(UNRESERVED), MergeSlashes, RFC, Route, AddOrigin, AddQuery];
    "caddy-2.6" "Caddy" "2.6.2", "path matcher, reverse_proxy", "an exact `path` matcher for each candidate" default:
        GO, &[Decode(ALL), TrimEnd(set(b". ")), MergeSlashes, RFC, Lowercase], GO_PROXY;
    "caddy-2.6-regexp" "Caddy" "2.6.2", "path_regexp, reverse_proxy", "a `path_regexp` that matches all":
        GO, &[Decode(ALL), MergeSlashes, CLEAN], GO_PROXY;
    "caddy-2.6-placeholder" "Caddy" "2.6.2", "{path}, reverse_proxy", "respond {http.request.uri.path}":
        GO, &[Decode(ALL)], GO_PROXY;
    "caddy-2.6-static" "Caddy" "2.6.2", "file_server", "strace: the file it looks for":
        GO, &[Status(500), RejectNul, Decode(ALL), StartWithSlash, MergeSlashes, CLEAN, ServeFiles];
    "h2o-2.2" "h2o" "2.2.5", "proxy.reverse.url", "strace: the file it looks for" default:
        H2O, &[Target];
    "h2o-2.2-mruby" "h2o" "2.2.5", "mruby.handler", "PATH_INFO, and REQUEST_URI":
        H2O, &[Sent, CutQuery];
    "lighttpd-1.4.69" "lighttpd" "1.4.69", "url parse options of the build, mod_proxy", "mod_magnet: uri.path" default:
        LIGHTTPD, &[RejectEscapes(CONTROL), Decode(ALL), RejectNeverUtf8, MergeSlashes, RFC, RejectQueryEscapes(CONTROL), Route],
            LIGHTTPD_AGAIN, &[Decode(UNRESERVED.add(b"/")), MergeSlashes, RFC, EscapeBytes(NOT_PATH.remove(b"%")), AddQuery];
    "lighttpd-1.4.69-debian" "lighttpd" "1.4.69", "Debian's url parse options, mod_proxy", "mod_magnet: uri.path":
        LIGHTTPD, &[RejectEscapes(CONTROL), Decode(ALL), RejectNeverUtf8, MergeSlashes, RFC], LIGHTTPD_QUERY, LIGHTTPD_AGAIN,
            &[Decode(PATH), MergeSlashes, RFC, EscapeBytes(NOT_PATH.remove(b"%")), AddQuery];
    "lighttpd-1.4.69-plain" "lighttpd" "1.4.69", "url-normalize disabled, mod_proxy", "mod_magnet: uri.path":
        &[STRIP_PATH, RejectOtherForms, CutFragment, Split, EscapesToUnderscores(CONTROL), Decode(ALL), MergeSlashes, RFC, Route,
            Target, CutFragment];
    "lighttpd-1.4.69-reject" "lighttpd" "1.4.69", "url-path-2f-reject, url-path-dotseg-reject, mod_proxy", "mod_magnet: uri.path":
        LIGHTTPD, &[RejectEscapes(CONTROL.union(SLASH)), Decode(ALL), RejectNeverUtf8, RejectDoubleSlashes, RejectDots],
            LIGHTTPD_QUERY, LIGHTTPD_AGAIN, &[Decode(PATH), EscapeBytes(NOT_PATH.remove(b"%")), AddQuery];
    "tomcat-10.1" "Apache Tomcat" "10.1.60", "default", "getServletPath() + getPathInfo()" default:
        TOMCAT, &[DropParams, RejectMalformed, RejectEscapes(SLASHES), RejectNul, Decode(ALL), RejectInvalidUtf8], TOMCAT_ROUTE;
    "tomcat-10.1-decode" "Apache Tomcat" "10.1.60", "encodedSolidusHandling=decode, encodedReverseSolidusHandling=decode, allowBackslash", "getServletPath() + getPathInfo()":
        TOMCAT, &[DropParams, RejectMalformed, RejectNul, Decode(ALL), RejectInvalidUtf8, BackslashesToSlashes], TOMCAT_ROUTE;
    "tomcat-10.1-passthrough" "Apache Tomcat" "10.1.60", "encodedSolidusHandling=passthrough, encodedReverseSolidusHandling=passthrough", "getServletPath() + getPathInfo()":
        TOMCAT, &[DropParams, RejectMalformed, RejectNul, Decode(ALL.remove(b"/\\%")), RejectInvalidUtf8], TOMCAT_ROUTE;
    "tomcat-10.1-suspicious" "Apache Tomcat" "10.1.60", "rejectSuspiciousURIs", "getServletPath() + getPathInfo()":
        TOMCAT, &[RejectEmptyParams, RejectDotParams, DropParams, RejectEscapedDots, RejectMalformed,
            RejectEscapes(CONTROL.union(SLASHES)), Decode(ALL), RejectInvalidUtf8], TOMCAT_ROUTE;
    "jetty-9.4" "Jetty" "9.4.57", "HttpCompliance.RFC7230", "getServletPath() + getPathInfo()" default:
        JETTY, &[RejectDotParams, DropParams, RejectNul, ExpandPercentU, RejectMalformed], JETTY_ROUTE;
    "jetty-9.4-unambiguous" "Jetty" "9.4.57", "HttpCompliance.RFC7230_NO_AMBIGUOUS_URIS", "getServletPath() + getPathInfo()":
        JETTY, &[RejectDotParams, DropParams, RejectEscapedDots, RejectNul, ExpandPercentU, RejectMalformed, RejectEscapes(SLASH)],
            JETTY_ROUTE;
    "jetty-9.4-legacy" "Jetty" "9.4.57", "HttpCompliance.LEGACY", "getServletPath() + getPathInfo()":
        JETTY, &[DropParams, RejectNul, ExpandPercentU, RejectMalformed], JETTY_ROUTE;
    "go-1.19" "Go net/http" "1.19.8", "handler, ReverseProxy", "r.URL.Path":
        GO, &[Decode(ALL)], GO_PROXY;
    "go-1.19-servemux" "Go net/http" "1.19.8", "ServeMux", "r.URL.Path" default:
        &[RejectBytes(BLANK), STRIP_TO_NOTHING, StripScheme, RejectOtherForms, Split, RejectMalformed, Decode(ALL),
            RedirectUnclean, Route, Sent];
    "go-1.19-static" "Go net/http" "1.19.8", "FileServer", "strace: the file it looks for":
        GO, &[Status(500), RejectNul, Decode(ALL), StartWithSlash, MergeSlashes, CLEAN, TrimEnd(SLASH), ServeFiles];
    "node-20" "Node.js" "20.20.2", "req.url", "the value in the handler":
        NODE, &[Keep(&[Form::Absolute, Form::Star, Form::StarPath]), RejectOtherForms, Split, Route, Target];
    "node-new-url" "Node.js" "20.20.2", "new URL(req.url, base).pathname", "the value in the handler" default:
        NODE, &[STRIP, StripSpecialOrigin, PutSlash(STARS), RejectOtherForms, CutFragment, Split, BackslashesToSlashes,
            DropAuthority, EscapeBytes(set(b"\"<>`{}")), ESCAPED, Route, Sent];
    "node-url-parse" "Node.js" "20.20.2", "url.parse(req.url).pathname", "the value in the handler":
        NODE, &[STRIP, Keep(STARS), RejectOtherForms, CutFragment, Split, UrlParse, Route, Sent];
    "express-4" "Express" "4.22.3", "route /*", "req.path, and the parameter of the route":
        NODE, EXPRESS;
    "express-5" "Express" "5.3.0", "route /{*t}", "req.path, and the parameter of the route" default:
        NODE, EXPRESS;
    "express-4-static" "Express" "4.22.3", "express.static", "strace: the file it looks for":
        NODE, STATIC_NODE, EXPRESS_STATIC;
    "express-5-static" "Express" "5.3.0", "express.static", "strace: the file it looks for":
        NODE, STATIC_NODE, EXPRESS_STATIC;
    "koa-3" "Koa" "3.3.0", "@koa/router, route /{*t}", "ctx.path, and the parameter of the route":
        NODE, &[STRIP, RejectOtherForms, CutFragment, Split, ParseLikeNode, Route, DecodeOrKeep];
    "fastify-5" "Fastify" "5.12.8", "route /*", "find-my-way's decoding, and the parameter of the route":
        NODE, &[STRIP, PutSlash(&[Form::Star]), RejectOtherForms, CutFragment, Split, RejectMalformed,
            Decode(ALL.remove(b"#$%&+,/:;=?@")), RejectInvalidUtf8, Route, Decode(ALL), RejectInvalidUtf8];
    "wsgiref-3.11" "Python wsgiref" "3.11.7", "PATH_INFO", "PATH_INFO":
        &[RejectBytes(NOT_IN_WORDS), Keep(ANY), Split, MergeLeadingSlashes, Decode(ALL)];
    "http-server-3.11" "Python http.server" "3.11.7", "SimpleHTTPRequestHandler", "strace: the file it looks for":
        &[RejectBytes(set(b"\n\r ")), PutSlash(ANY), CutFragment, Split, MergeLeadingSlashes, ReadLatin1, Status(0), RejectNul,
            Decode(ALL), ReplaceInvalidUtf8, MergeSlashes, CLEAN, ServeFiles];
    "aiohttp-3" "aiohttp" "3.14.5", "route /{t:.*}", "rel_url.path_safe, and the parameter of the route":
        &[RejectBytes(NOT_GRAPHIC), Status(404), STRIP_PATH, RejectOtherForms, CutFragmentWithoutQuery, Split, UpperEscapes(SLASH),
            DecodeUtf8(ALL.remove(b"%/")), RejectNewline, Route, RawPath, DecodeUtf8(ALL)];
    "flask-3.1" "Flask" "3.1.3 (werkzeug 3.1.9)", "route /<path:t>", "PATH_INFO, and the parameter of the route" default:
        &[RejectBytes(NOT_IN_WORDS), STRIP, PutSlash(&[Form::Relative, Form::Star, Form::StarPath]),
            StripAnyScheme { slash: "/" },
            RejectOtherForms, CutFragment, Split, MergeLeadingSlashes, ReadLatin1, Decode(ALL), ReplaceInvalidUtf8, Status(404), RejectNewline,
            MergeLeadingSlashes];
    "django-5.2" "Django" "5.2.19", "path_info", "request.path_info" default:
        &[RejectBytes(NOT_IN_WORDS), Status(404), PutSlash(&[Form::Query]), RejectOtherForms, Split, MergeLeadingSlashes,
            Decode(ALL), EscapeInvalidUtf8];
    "starlette" "Starlette" "1.10.0 (uvicorn 0.54.0, h11 0.16.0)", "scope path", "scope[path]" default:
        &[RejectBytes(NOT_GRAPHIC), Status(404), RejectOtherForms, Split, Decode(ALL), ReplaceInvalidUtf8, DropLastNewline,
            RejectNewline];
    "tornado-6" "Tornado" "6.6.1", "request.path, group of the route", "request.path, and the group of the route":
        &[RejectBytes(BLANK), Keep(ANY), Split, Route, ReadLatin1, Decode(ALL), RejectInvalidUtf8];
    "gunicorn-27" "Gunicorn" "27.0.1", "PATH_INFO", "PATH_INFO":
        &[RejectBytes(NOT_GRAPHIC), STRIP_TO_NOTHING, RejectOtherForms, CutFragment, Split, Decode(ALL)];
    "waitress-3" "Waitress" "3.0.2", "PATH_INFO", "PATH_INFO":
        &[DropBytes(set(b"\t")), RejectBytes(HIGH.add(b" ")), STRIP_TO_NOTHING,
            Keep(&[Form::Star, Form::StarPath, Form::Query, Form::Relative]), StripAnyScheme { slash: "" }, CutFragment, Split,
            MergeLeadingSlashes, Decode(ALL), MergeLeadingSlashes];
    "php-8.2" "PHP (php -S)" "8.2.36", "router script", "SCRIPT_NAME + PATH_INFO, and REQUEST_URI" default:
        &[Status(0), RejectBytes(NOT_GRAPHIC), STRIP_NO_QUERY, PutSlash(STARS), RejectOtherForms, CutFragment, Split,
            Decode(ALL), MergeSlashes, RFC, DropSlash(&[Form::StarPath]), Route, Sent];
    "axum" "axum" "0.8.9 (hyper 1.12.0)", "route /{*t}", "uri.path(), and the parameter of the route" default:
        HYPER, &[Keep(&[Form::Star]), RejectOtherForms, CutFragment, Split, Route, Decode(ALL), RejectInvalidUtf8];
    "tower-http-0.6" "tower-http" "0.6.11", "ServeDir", "strace: the file it looks for":
        HYPER, &[PutSlash(&[Form::Star]), RejectOtherForms, CutFragment, Split, Status(404), RejectNul, Decode(ALL),
            RejectInvalidUtf8, RejectDecodedLead, MergeSlashes, RejectDotDot, RFC, TrimEnd(SLASH), ServeFiles];
    "actix-web-4" "actix-web" "4.18.1", "route /{t:.*}", "req.match_info(), and the parameter of the route":
        &[RejectBytes(NOT_GRAPHIC.add(b"<>`")), STRIP, Status(404), RejectOtherForms, CutFragment, Split,
            Decode(ALL.remove(b"%/+")), ReplaceInvalidUtf8, Route, Decode(ALL), ReplaceInvalidUtf8];
    "puma-5.6" "Puma" "5.6.5", "rack PATH_INFO", "PATH_INFO, and REQUEST_URI":
        PUMA, &[STRIP_TO_NOTHING, Keep(&[Form::Star]), RejectOtherForms, CutFragment, Split, Route, Sent, CutFragment];
    "sinatra-3.0" "Sinatra" "3.0.5 (puma 5.6.5)", "route (.*)", "PATH_INFO, and REQUEST_URI":
        PUMA, &[STRIP, PutSlash(&[Form::Star]), RejectOtherForms, CutFragment, Split, Decode(ALL), BackslashesToSlashes,
            MergeSlashes, RFC, Route, Sent, CutFragment];
    "varnish-7.1" "Varnish" "7.1.1", "req.url", "the path that went upstream" default:
        &[RejectBytes(BLANK), STRIP, Keep(&[Form::Star, Form::StarPath, Form::Query, Form::Relative]), Split, Route, Target];
    "squid-5.7" "Squid" "5.7", "accel, cache_peer", "the target that went upstream; its routes were not seen":
        &[DropBytes(set(b" \t")), RejectBytes(CONTROL.remove(b"\t")), STRIP, StripHost(STARS), Keep(&[Form::Relative]),
            PutSlash(&[Form::Query]), Split, Route, Target];
    "trafficserver-9.2" "Apache Traffic Server" "9.2.9", "map /", "the target that went upstream; its routes were not seen":
        &[RejectBytes(NOT_GRAPHIC), STRIP_TO_NOTHING, Keep(&[Form::Query]), RejectOtherForms, CutFragment, Split,
            MergeLeadingSlashes, Route, DropEmptyQuery, AddQuery];
    "envoy-1.39" "Envoy" "1.39.3", "defaults", "the path that went upstream":
        ENVOY, &[Route, Target];
    "envoy-1.39-normalize" "Envoy" "1.39.3", "normalize_path", "the path that went upstream" default:
        ENVOY, ENVOY_NORMALIZE, &[Route, AddQuery];
    "envoy-1.39-unescape" "Envoy" "1.39.3", "normalize_path, merge_slashes, UNESCAPE_AND_FORWARD", "the path that went upstream":
        ENVOY, &[Decode(SLASHES)], ENVOY_NORMALIZE, &[MergeSlashesUnlessAll, Route, AddQuery];
    "envoy-1.39-reject" "Envoy" "1.39.3", "normalize_path, merge_slashes, REJECT_REQUEST", "the path that went upstream":
        ENVOY, &[RejectEscapes(SLASHES)], ENVOY_NORMALIZE, &[MergeSlashesUnlessAll, Route, AddQuery];
    "envoy-1.39-redirect" "Envoy" "1.39.3", "normalize_path, merge_slashes, UNESCAPE_AND_REDIRECT", "the path that went upstream":
        ENVOY, &[Decode(SLASHES)], ENVOY_NORMALIZE, &[MergeSlashesUnlessAll, RedirectEscapedSlash, Route, AddQuery];
}
