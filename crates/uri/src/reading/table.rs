//! The readings of real servers.
//!
//! Each row was compared with the answers of the server itself, on one machine with Debian 12 (amd64): requests over a socket, with
//! the target as it is. `ci/readers` asks again. A new version of a server is one run and one row.

use simdpct::ByteSet;

use super::parameters::{
    ALL, Backslash, CONTROL, DecodedLead, Dots, DotsOn, EmptyPath, Form, Fragment, Lead, Malformed, Merge,
    NONE, Nul, PATH, Params, PassOn, RawUtf8, Reading, RedirectOn, UNRESERVED, Utf8, Why,
};

/// A reading with its name and its evidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Named {
    /// The name, for example `nginx-1.22`.
    pub name: &'static str,
    /// The server or framework.
    pub server: &'static str,
    /// The version that was asked.
    pub version: &'static str,
    /// The configuration.
    pub config: &'static str,
    /// The way in which the route was observed. The text that is passed on was observed by a listener after a proxy, and by the
    /// handler of an application.
    pub asked: &'static str,
    /// The day on which the server was asked, as year, month and day.
    pub date: &'static str,
    /// Whether the reading is one of those on which [`Reading::STRICT`] and [`is_ambiguous`](super::is_ambiguous) rely.
    pub is_default: bool,
    /// The reading.
    pub reading: Reading,
}

/// Returns the reading with this name: one of [`NAMED`], or `strict` for [`Reading::STRICT`].
#[must_use]
pub fn find(name: &str) -> Option<&'static Named> {
    static STRICT: Named = Named {
        name: "strict",
        server: "",
        version: "",
        config: "rejects or rewrites the targets that default readings route differently",
        asked: "",
        date: "",
        is_default: false,
        reading: Reading::STRICT,
    };
    NAMED.iter().chain([&STRICT]).find(|named| named.name == name)
}

const HIGH: ByteSet = ByteSet::from_bitmap([0, 0, u64::MAX, u64::MAX]);
/// All bytes but those of visible ASCII.
const NOT_GRAPHIC: ByteSet = CONTROL.union(HIGH).add(b" ");
/// The ASCII bytes at which `str.split` of Python splits.
const NOT_IN_WORDS: ByteSet = NONE.add(b"\t\n\x0B\x0C\r \x1C\x1D\x1E\x1F");

const NGINX: Reading = Reading {
    malformed: Malformed::Refuse,
    nul: Nul::Refuse,
    merge: Merge::First,
    dots: Dots::Rfc,
    refuse_above: true,
    fragment: Fragment::Cut,
    ..Reading::PLAIN
};
const NGINX_URI: Reading = Reading {
    drop_empty_query: true,
    pass_no_fragment: true,
    pass_set: CONTROL.union(HIGH).add(b" \"#%<>?\\^`{|}").complement(),
    ..NGINX
};
const APACHE: Reading = Reading {
    malformed: Malformed::Refuse,
    nul: Nul::Refuse,
    merge: Merge::First,
    dots: Dots::Rfc,
    dots_on: DotsOn::Both,
    refuse_above: true,
    fragment: Fragment::Refuse,
    query_only: Form::Slash,
    refuse_escape: NONE.add(b"/"),
    pass_on: PassOn::Escaped,
    statuses: &[(Why::Escape, 404), (Why::Nul, 404)],
    ..Reading::PLAIN
};
const APACHE_ON: Reading = Reading { refuse_escape: NONE, ..APACHE };
const APACHE_NODECODE: Reading = Reading { refuse_escape: NONE, decode: ALL.remove(b"/"), ..APACHE };
const HAPROXY: Reading = Reading {
    decode: NONE,
    refuse_raw: NOT_GRAPHIC.remove(b"\x7F"),
    fragment: Fragment::Refuse,
    empty: EmptyPath::EmptyNoQuery,
    star: Form::Strip,
    pass_as_sent: true,
    ..Reading::PLAIN
};
const GO: Reading = Reading {
    malformed: Malformed::Refuse,
    star: Form::Keep,
    empty: EmptyPath::Empty,
    pass_on: PassOn::Go,
    ..Reading::PLAIN
};
const H2O: Reading = Reading {
    absolute: Form::Slash,
    relative: Form::Slash,
    star: Form::Slash,
    query_only: Form::Slash,
    dots: Dots::Rfc,
    nul: Nul::Cut,
    ..Reading::PLAIN
};
const LIGHTTPD: Reading = Reading {
    nul: Nul::Refuse,
    refuse_escape: CONTROL,
    merge: Merge::First,
    dots: Dots::Rfc,
    fragment: Fragment::Cut,
    utf8: Utf8::Lead,
    empty: EmptyPath::Refuse,
    refuse_raw: CONTROL,
    pass_on: PassOn::Redecoded,
    pass_decode: PATH,
    refuse_query: CONTROL,
    ..Reading::PLAIN
};
const TOMCAT: Reading = Reading {
    refuse_raw: NOT_GRAPHIC.add(b"\"#<>[\\]^`{|}"),
    malformed: Malformed::Refuse,
    nul: Nul::Refuse,
    utf8: Utf8::Refuse,
    params: Params::Drop,
    merge: Merge::First,
    dots: Dots::Clean,
    refuse_above: true,
    fragment: Fragment::Refuse,
    refuse_escape: NONE.add(b"/\\"),
    backslash: Backslash::Refuse,
    pass_on: PassOn::RawPath,
    ..Reading::PLAIN
};
const JETTY: Reading = Reading {
    refuse_raw: CONTROL.remove(b"\x7F").add(b" "),
    raw_utf8: RawUtf8::Refuse,
    fragment: Fragment::Cut,
    malformed: Malformed::Refuse,
    nul: Nul::Refuse,
    percent_u: true,
    utf8: Utf8::Latin1,
    params: Params::Drop,
    dots: Dots::Rfc,
    refuse_above: true,
    empty: EmptyPath::SlashNoQuery,
    pass_on: PassOn::RawPath,
    dot_params: Params::Refuse,
    ..Reading::PLAIN
};
const NODE: Reading = Reading {
    decode: NONE,
    refuse_raw: NOT_GRAPHIC,
    absolute: Form::Keep,
    star: Form::Keep,
    ..Reading::PLAIN
};
const EXPRESS: Reading = Reading {
    absolute: Form::Strip,
    star: Form::Refuse,
    fragment: Fragment::Cut,
    pass_on: PassOn::StrictParam,
    utf8: Utf8::Refuse,
    ..NODE
};
const EXPRESS_STATIC: Reading = Reading {
    decode: ALL,
    star: Form::Slash,
    malformed: Malformed::Refuse,
    nul: Nul::Refuse,
    merge: Merge::First,
    dots: Dots::Clean,
    refuse_above: true,
    refuse_dotdot_backslash: true,
    pass_on: PassOn::Nothing,
    statuses: &[
        (Why::Malformed, 404),
        (Why::Nul, 404),
        (Why::Utf8, 404),
        (Why::Dots, 404),
        (Why::Above, 404),
    ],
    ..EXPRESS
};
const WSGI: Reading = Reading { refuse_raw: NOT_GRAPHIC, pass_on: PassOn::Route, ..Reading::PLAIN };
const HYPER: Reading = Reading {
    decode: NONE,
    refuse_raw: CONTROL.add(b" <>`"),
    raw_utf8: RawUtf8::Refuse,
    fragment: Fragment::Cut,
    star: Form::Keep,
    ..Reading::PLAIN
};
const PUMA: Reading = Reading {
    refuse_raw: CONTROL.add(b" \"<>"),
    fragment: Fragment::Cut,
    pass_as_sent: true,
    pass_no_fragment: true,
    ..Reading::PLAIN
};
const ENVOY: Reading = Reading {
    decode: NONE,
    refuse_raw: NOT_GRAPHIC,
    fragment: Fragment::Refuse,
    empty: EmptyPath::SlashNoQuery,
    ..Reading::PLAIN
};
const ENVOY_NORMALIZE: Reading = Reading {
    decode: UNRESERVED,
    dots: Dots::Rfc,
    nul: Nul::Refuse,
    malformed: Malformed::Guard,
    backslash: Backslash::RawSlash,
    escape_raw: NONE.add(b"\"<>^`{|}"),
    dot_params: Params::Drop,
    pass_on: PassOn::RouteAndQuery,
    ..ENVOY
};
const ENVOY_UNESCAPE: Reading = Reading {
    decode: UNRESERVED.add(b"/\\"),
    backslash: Backslash::Slash,
    merge: Merge::Last,
    ..ENVOY_NORMALIZE
};

macro_rules! named {
    ($($name:literal $server:literal $version:literal, $config:literal, $asked:literal $($default:ident)?: $reading:expr;)*) => {
        /// All readings, with their evidence.
        pub static NAMED: &[Named] = &[$(Named {
            name: $name,
            server: $server,
            version: $version,
            config: $config,
            asked: $asked,
            date: "2026-11-22",
            is_default: named!(@ $($default)?),
            reading: $reading,
        },)*];
    };
    (@) => { false };
    (@ default) => { true };
}

named! {
    "nginx-1.22" "nginx" "1.22.1", "proxy_pass without a URI", "`return 200 $uri`" default:
        NGINX;
    "nginx-1.22-uri" "nginx" "1.22.1", "proxy_pass with a URI", "`return 200 $uri`":
        Reading { pass_on: PassOn::Quoted, ..NGINX_URI };
    "nginx-1.22-uri-unmerged" "nginx" "1.22.1", "merge_slashes off, proxy_pass with a URI", "`return 200 $uri`":
        Reading { pass_on: PassOn::Quoted, merge: Merge::Keep, ..NGINX_URI };
    "nginx-1.22-variable" "nginx" "1.22.1", "proxy_pass http://up$uri$is_args$args", "`return 200 $uri`":
        Reading { pass_on: PassOn::RouteAndQuery, ..NGINX_URI };
    "nginx-1.22-static" "nginx" "1.22.1", "root", "strace: the file it looks for":
        Reading { pass_on: PassOn::Nothing, ..NGINX };
    "apache-2.4" "Apache httpd" "2.4.71", "AllowEncodedSlashes Off, ProxyPass", "mod_lua in the fixup phase: r.uri":
        APACHE;
    "apache-2.4-on" "Apache httpd" "2.4.71", "AllowEncodedSlashes On, ProxyPass", "mod_lua in the fixup phase: r.uri":
        APACHE_ON;
    "apache-2.4-nodecode" "Apache httpd" "2.4.71", "AllowEncodedSlashes NoDecode, ProxyPass", "mod_lua in the fixup phase: r.uri" default:
        Reading { pass_on: PassOn::EscapedButSlash, ..APACHE_NODECODE };
    "apache-2.4-nocanon" "Apache httpd" "2.4.71", "AllowEncodedSlashes NoDecode, ProxyPass nocanon", "mod_lua in the fixup phase: r.uri":
        Reading { pass_on: PassOn::Target, pass_one_slash: true, ..APACHE_NODECODE };
    "apache-2.4-static" "Apache httpd" "2.4.71", "files, AllowEncodedSlashes Off", "mod_lua in the fixup phase: r.uri":
        Reading { pass_on: PassOn::Nothing, ..APACHE };
    "apache-2.4-static-on" "Apache httpd" "2.4.71", "files, AllowEncodedSlashes On", "mod_lua in the fixup phase: r.uri":
        Reading { pass_on: PassOn::Nothing, ..APACHE_ON };
    "haproxy-2.6" "HAProxy" "2.6.12", "path", "http-request return with %[path]":
        HAPROXY;
    "haproxy-2.6-url-dec" "HAProxy" "2.6.12", "path,url_dec", "http-request return with %[path]":
        Reading { decode: ALL, malformed: Malformed::NoRoute, ..HAPROXY };
    "haproxy-2.6-normalize" "HAProxy" "2.6.12", "http-request normalize-uri, all normalizers", "http-request return with %[path]" default:
        Reading {
            decode: UNRESERVED,
            upper: true,
            merge: Merge::First,
            dots: Dots::Rfc,
            pass_on: PassOn::Origin,
            ..HAPROXY
        };
    "caddy-2.6" "Caddy" "2.6.2", "path matcher, reverse_proxy", "an exact `path` matcher for each candidate" default:
        Reading { merge: Merge::First, dots: Dots::Rfc, trim: NONE.add(b". "), lower: true, ..GO };
    "caddy-2.6-regexp" "Caddy" "2.6.2", "path_regexp, reverse_proxy", "a `path_regexp` that matches all":
        Reading { merge: Merge::First, dots: Dots::Clean, ..GO };
    "caddy-2.6-placeholder" "Caddy" "2.6.2", "{path}, reverse_proxy", "respond {http.request.uri.path}":
        GO;
    "caddy-2.6-static" "Caddy" "2.6.2", "file_server", "strace: the file it looks for":
        Reading {
            merge: Merge::First,
            dots: Dots::Clean,
            nul: Nul::Refuse,
            slash_first: true,
            pass_on: PassOn::Nothing, statuses: &[(Why::Nul, 500)],
            ..GO
        };
    "h2o-2.2" "h2o" "2.2.5", "proxy.reverse.url", "strace: the file it looks for" default:
        H2O;
    "h2o-2.2-mruby" "h2o" "2.2.5", "mruby.handler", "PATH_INFO, and REQUEST_URI":
        Reading { pass_on: PassOn::RawPath, pass_as_sent: true, ..H2O };
    "lighttpd-1.4.69" "lighttpd" "1.4.69", "url parse options of the build, mod_proxy", "mod_magnet: uri.path" default:
        Reading { pass_decode: UNRESERVED.add(b"/"), ..LIGHTTPD };
    "lighttpd-1.4.69-debian" "lighttpd" "1.4.69", "Debian's url parse options, mod_proxy", "mod_magnet: uri.path":
        Reading { query_last: true, ..LIGHTTPD };
    "lighttpd-1.4.69-plain" "lighttpd" "1.4.69", "url-normalize disabled, mod_proxy", "mod_magnet: uri.path":
        Reading {
            refuse_escape: NONE,
            refuse_raw: NONE,
            refuse_query: NONE,
            underscore_control: true,
            nul: Nul::Byte,
            utf8: Utf8::Any,
            pass_on: PassOn::Target,
            pass_no_fragment: true,
            ..LIGHTTPD
        };
    "lighttpd-1.4.69-reject" "lighttpd" "1.4.69", "url-path-2f-reject, url-path-dotseg-reject, mod_proxy", "mod_magnet: uri.path":
        Reading {
            refuse_escape: CONTROL.add(b"/"),
            dots: Dots::Refuse,
            merge: Merge::Refuse,
            query_last: true,
            ..LIGHTTPD
        };
    "tomcat-10.1" "Apache Tomcat" "10.1.60", "default", "getServletPath() + getPathInfo()" default:
        TOMCAT;
    "tomcat-10.1-decode" "Apache Tomcat" "10.1.60", "encodedSolidusHandling=decode, encodedReverseSolidusHandling=decode, allowBackslash", "getServletPath() + getPathInfo()":
        Reading { refuse_escape: NONE, backslash: Backslash::Slash, ..TOMCAT };
    "tomcat-10.1-passthrough" "Apache Tomcat" "10.1.60", "encodedSolidusHandling=passthrough, encodedReverseSolidusHandling=passthrough", "getServletPath() + getPathInfo()":
        Reading { refuse_escape: NONE, decode: ALL.remove(b"/\\%"), ..TOMCAT };
    "tomcat-10.1-suspicious" "Apache Tomcat" "10.1.60", "rejectSuspiciousURIs", "getServletPath() + getPathInfo()":
        Reading {
            refuse_escape: CONTROL.add(b"/\\"),
            refuse_empty_params: true,
            dot_params: Params::Refuse,
            refuse_escaped_dots: true,
            ..TOMCAT
        };
    "jetty-9.4" "Jetty" "9.4.57", "HttpCompliance.RFC7230", "getServletPath() + getPathInfo()" default:
        JETTY;
    "jetty-9.4-unambiguous" "Jetty" "9.4.57", "HttpCompliance.RFC7230_NO_AMBIGUOUS_URIS", "getServletPath() + getPathInfo()":
        Reading { refuse_escape: NONE.add(b"/"), refuse_escaped_dots: true, ..JETTY };
    "jetty-9.4-legacy" "Jetty" "9.4.57", "HttpCompliance.LEGACY", "getServletPath() + getPathInfo()":
        Reading { dot_params: Params::Keep, ..JETTY };
    "go-1.19" "Go net/http" "1.19.8", "handler, ReverseProxy", "r.URL.Path":
        GO;
    "go-1.19-servemux" "Go net/http" "1.19.8", "ServeMux", "r.URL.Path" default:
        Reading {
            redirect: RedirectOn::Unclean,
            pass_on: PassOn::Target,
            pass_as_sent: true,
            star: Form::Refuse,
            ..GO
        };
    "go-1.19-static" "Go net/http" "1.19.8", "FileServer", "strace: the file it looks for":
        Reading {
            merge: Merge::First,
            dots: Dots::Clean,
            drop_trailing_slash: true,
            slash_first: true,
            nul: Nul::Refuse,
            pass_on: PassOn::Nothing, statuses: &[(Why::Nul, 500)],
            ..GO
        };
    "node-20" "Node.js" "20.20.2", "req.url", "the value in the handler":
        NODE;
    "node-new-url" "Node.js" "20.20.2", "new URL(req.url, base).pathname", "the value in the handler" default:
        Reading {
            pass_as_sent: true,
            absolute: Form::Strip,
            star: Form::Slash,
            lead: Lead::Authority,
            fragment: Fragment::Cut,
            backslash: Backslash::RawSlash,
            escape_raw: NONE.add(b"\"<>`{}"),
            dots: Dots::Rfc,
            dots_on: DotsOn::Escaped,
            ..NODE
        };
    "node-url-parse" "Node.js" "20.20.2", "url.parse(req.url).pathname", "the value in the handler":
        Reading {
            pass_as_sent: true,
            absolute: Form::Strip,
            fragment: Fragment::Cut,
            backslash: Backslash::RawSlash,
            ..NODE
        };
    "express-4" "Express" "4.22.3", "route /*", "req.path, and the parameter of the route":
        EXPRESS;
    "express-5" "Express" "5.3.0", "route /{*t}", "req.path, and the parameter of the route" default:
        EXPRESS;
    "express-4-static" "Express" "4.22.3", "express.static", "strace: the file it looks for":
        EXPRESS_STATIC;
    "express-5-static" "Express" "5.3.0", "express.static", "strace: the file it looks for":
        EXPRESS_STATIC;
    "koa-3" "Koa" "3.3.0", "@koa/router, route /{*t}", "ctx.path, and the parameter of the route":
        Reading { pass_on: PassOn::ParamOrRoute, ..EXPRESS };
    "fastify-5" "Fastify" "5.12.8", "route /*", "find-my-way's decoding, and the parameter of the route":
        Reading {
            star: Form::Slash,
            decode: ALL.remove(b"#$%&+,/:;=?@"),
            malformed: Malformed::Refuse,
            pass_on: PassOn::Param,
            ..EXPRESS
        };
    "wsgiref-3.11" "Python wsgiref" "3.11.7", "PATH_INFO", "PATH_INFO":
        Reading {
            refuse_raw: NOT_IN_WORDS,
            absolute: Form::Keep,
            relative: Form::Keep,
            query_only: Form::Keep,
            star: Form::Keep,
            lead: Lead::One,
            ..WSGI
        };
    "http-server-3.11" "Python http.server" "3.11.7", "SimpleHTTPRequestHandler", "strace: the file it looks for":
        Reading {
            refuse_raw: NONE.add(b"\n\r "),
            absolute: Form::Slash,
            relative: Form::Slash,
            query_only: Form::Slash,
            star: Form::Slash,
            lead: Lead::One,
            raw_utf8: RawUtf8::Latin1,
            nul: Nul::Refuse,
            utf8: Utf8::Replace,
            fragment: Fragment::Cut,
            merge: Merge::First,
            dots: Dots::Clean,
            pass_on: PassOn::Nothing, statuses: &[(Why::Nul, 0)],
            ..WSGI
        };
    "aiohttp-3" "aiohttp" "3.14.5", "route /{t:.*}", "rel_url.path_safe, and the parameter of the route":
        Reading {
            decode: ALL.remove(b"%/"),
            upper: true,
            utf8: Utf8::Keep,
            fragment: Fragment::Cut,
            refuse_newline: true,
            empty: EmptyPath::Refuse,
            star: Form::Refuse,
            pass_on: PassOn::RawParam, statuses: &[(Why::Newline, 404), (Why::Form, 404)],
            ..WSGI
        };
    "flask-3.1" "Flask" "3.1.3 (werkzeug 3.1.9)", "route /<path:t>", "PATH_INFO, and the parameter of the route" default:
        Reading {
            refuse_raw: NOT_IN_WORDS,
            relative: Form::Slash,
            star: Form::Slash,
            utf8: Utf8::Replace,
            raw_utf8: RawUtf8::Latin1,
            fragment: Fragment::Cut,
            refuse_newline: true,
            lead: Lead::One,
            decoded_lead: DecodedLead::One, statuses: &[(Why::Newline, 404)],
            ..WSGI
        };
    "django-5.2" "Django" "5.2.19", "path_info", "request.path_info" default:
        Reading {
            refuse_raw: NOT_IN_WORDS,
            absolute: Form::Refuse,
            query_only: Form::Slash,
            lead: Lead::One,
            utf8: Utf8::KeepUpper, statuses: &[(Why::Form, 404)],
            ..WSGI
        };
    "starlette" "Starlette" "1.10.0 (uvicorn 0.54.0, h11 0.16.0)", "scope path", "scope[path]" default:
        Reading { absolute: Form::Refuse, utf8: Utf8::Replace, refuse_newline: true, statuses: &[(Why::Form, 404), (Why::Newline, 404)], ..WSGI };
    "tornado-6" "Tornado" "6.6.1", "request.path, group of the route", "request.path, and the group of the route":
        Reading {
            decode: NONE,
            refuse_raw: CONTROL.add(b" "),
            absolute: Form::Keep,
            relative: Form::Keep,
            query_only: Form::Keep,
            star: Form::Keep,
            pass_on: PassOn::Param,
            utf8: Utf8::Refuse,
            ..WSGI
        };
    "gunicorn-27" "Gunicorn" "27.0.1", "PATH_INFO", "PATH_INFO":
        Reading { fragment: Fragment::Cut, empty: EmptyPath::Empty, ..WSGI };
    "waitress-3" "Waitress" "3.0.2", "PATH_INFO", "PATH_INFO":
        Reading {
            refuse_raw: HIGH.add(b" "),
            drop_raw: NONE.add(b"\t"),
            fragment: Fragment::Cut,
            empty: EmptyPath::Empty,
            star: Form::Keep,
            relative: Form::Keep,
            query_only: Form::Keep,
            lead: Lead::One,
            decoded_lead: DecodedLead::One,
            ..WSGI
        };
    "php-8.2" "PHP (php -S)" "8.2.36", "router script", "SCRIPT_NAME + PATH_INFO, and REQUEST_URI" default:
        Reading {
            refuse_raw: NOT_GRAPHIC,
            fragment: Fragment::Cut,
            star: Form::Slash,
            merge: Merge::First,
            dots: Dots::Rfc,
            empty: EmptyPath::SlashNoQuery,
            pass_as_sent: true, statuses: &[(Why::Byte, 0), (Why::Form, 0)],
            ..Reading::PLAIN
        };
    "axum" "axum" "0.8.9 (hyper 1.12.0)", "route /{*t}", "uri.path(), and the parameter of the route" default:
        Reading { pass_on: PassOn::Param, utf8: Utf8::Refuse, ..HYPER };
    "tower-http-0.6" "tower-http" "0.6.11", "ServeDir", "strace: the file it looks for":
        Reading {
            decode: ALL,
            utf8: Utf8::Refuse,
            nul: Nul::Refuse,
            dots: Dots::Forbid,
            decoded_lead: DecodedLead::Refuse,
            merge: Merge::First,
            drop_trailing_slash: true,
            pass_on: PassOn::Nothing,
            star: Form::Slash, statuses: &[(Why::Dots, 404), (Why::Utf8, 404), (Why::Slashes, 404), (Why::Nul, 404)],
            ..HYPER
        };
    "actix-web-4" "actix-web" "4.18.1", "route /{t:.*}", "req.match_info(), and the parameter of the route":
        Reading {
            decode: ALL.remove(b"%/+"),
            refuse_raw: NOT_GRAPHIC.add(b"<>`"),
            star: Form::Refuse,
            pass_on: PassOn::Param,
            utf8: Utf8::Replace, statuses: &[(Why::Form, 404)],
            ..HYPER
        };
    "puma-5.6" "Puma" "5.6.5", "rack PATH_INFO", "PATH_INFO, and REQUEST_URI":
        Reading { decode: NONE, star: Form::Keep, empty: EmptyPath::Empty, ..PUMA };
    "sinatra-3.0" "Sinatra" "3.0.5 (puma 5.6.5)", "route (.*)", "PATH_INFO, and REQUEST_URI":
        Reading {
            star: Form::Slash,
            backslash: Backslash::Slash,
            merge: Merge::First,
            dots: Dots::Rfc,
            ..PUMA
        };
    "varnish-7.1" "Varnish" "7.1.1", "req.url", "the path that went upstream" default:
        Reading {
            decode: NONE,
            star: Form::Keep,
            relative: Form::Keep,
            query_only: Form::Keep,
            ..Reading::PLAIN
        };
    "squid-5.7" "Squid" "5.7", "accel, cache_peer", "the target that went upstream; its routes were not seen":
        Reading {
            decode: NONE,
            refuse_raw: CONTROL.remove(b"\t"),
            drop_raw: NONE.add(b" \t"),
            star: Form::Strip,
            relative: Form::Keep,
            query_only: Form::Slash,
            ..Reading::PLAIN
        };
    "trafficserver-9.2" "Apache Traffic Server" "9.2.9", "map /", "the target that went upstream; its routes were not seen":
        Reading {
            decode: NONE,
            refuse_raw: NOT_GRAPHIC,
            query_only: Form::Keep,
            empty: EmptyPath::Empty,
            lead: Lead::One,
            fragment: Fragment::Cut,
            drop_empty_query: true,
            pass_no_fragment: true,
            pass_on: PassOn::RouteAndQuery,
            ..Reading::PLAIN
        };
    "envoy-1.39" "Envoy" "1.39.3", "defaults", "the path that went upstream":
        ENVOY;
    "envoy-1.39-normalize" "Envoy" "1.39.3", "normalize_path", "the path that went upstream" default:
        ENVOY_NORMALIZE;
    "envoy-1.39-unescape" "Envoy" "1.39.3", "normalize_path, merge_slashes, UNESCAPE_AND_FORWARD", "the path that went upstream":
        ENVOY_UNESCAPE;
    "envoy-1.39-reject" "Envoy" "1.39.3", "normalize_path, merge_slashes, REJECT_REQUEST", "the path that went upstream":
        Reading { refuse_escape: NONE.add(b"/\\"), merge: Merge::Last, ..ENVOY_NORMALIZE };
    "envoy-1.39-redirect" "Envoy" "1.39.3", "normalize_path, merge_slashes, UNESCAPE_AND_REDIRECT", "the path that went upstream":
        Reading { redirect: RedirectOn::EscapedSlash, ..ENVOY_UNESCAPE };
}
