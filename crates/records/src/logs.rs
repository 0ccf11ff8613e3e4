//! The table of log formats: which program writes which layouts, how it escapes values, and by which rule its quotes are read.
//!
//! A format is a layout and a writer, because one layout, such as `combined`, means different things in the logs of different programs.
//! Most rows were checked against lines that real servers wrote for hostile requests; [`Writer::checked`] says which.

use std::str::FromStr;

use crate::access::{Access, Lead, LeadWord, Part, Rule};
use crate::columns::{Columns, Split, Word, Words};
use crate::escaping::Escaping;
use crate::labels::LABELS;
use crate::place::{Field, Holds, Key, Kind};
use crate::placeholders::{Placeholders, Protocol};
use crate::wrapper::Wrapper;

/// The arrangement of fields in the lines of a log.
#[derive(Debug)]
pub struct Layout {
    /// The name in the option `--log` of the command `pct`, such as `combined`.
    pub name: &'static str,
    /// The way in which a line is split.
    pub shape: Shape,
    /// The escaping in this layout, if it is not the usual one of the writer.
    pub escaping: Option<Escaping>,
}

/// The way in which a line is split.
#[derive(Debug)]
pub enum Shape {
    /// A quoted request among other fields.
    Access(Access),
    /// One JSON document.
    Json(&'static [Key]),
    /// Columns that a header line names.
    Columns(Columns),
    /// A target between words.
    Words(Words),
    /// The error log of nginx.
    Labels,
}

/// A program that writes logs.
#[derive(Debug)]
pub struct Writer {
    /// The name in the option `--log` of the command `pct`, such as `apache`; empty if the writer is unknown.
    pub name: &'static str,
    /// The layouts that the program writes, the usual one first.
    pub layouts: &'static [&'static Layout],
    /// The usual escaping.
    pub escaping: Escaping,
    /// The rule by which quotes are read.
    pub rule: Rule,
    /// Texts that are no targets.
    pub placeholders: Placeholders,
    /// The versions of the program, or the sources, with which this row was checked.
    pub checked: &'static str,
    /// A warning for help; empty if the format is safe and loses nothing.
    pub note: &'static str,
    /// Whether the program decodes paths before it writes them.
    pub decodes: bool,
    /// Whether a client can write a new line, because the program writes line feeds of some value as they are. JSON escapes them.
    has_raw_line_feeds: bool,
}

/// A layout of a writer.
#[derive(Clone, Copy, Debug)]
pub struct Log {
    /// The program.
    pub writer: &'static Writer,
    /// The layout.
    pub layout: &'static Layout,
}

/// The value of the option `--log` of the command `pct`: `[WRAPPER+]FORMAT`, where the format is `auto`, a writer, a layout, or
/// `LAYOUT:WRITER`. A wrapper without a format means `auto`.
#[derive(Clone, Copy, Debug)]
pub struct Spec {
    /// The logger around the records of the program.
    pub wrapper: Option<Wrapper>,
    /// The format of the records; `None` if it is detected from the first lines.
    pub log: Option<Log>,
}

const REFERER: Part = Part::Quoted(Some(Field::Referer));
const AGENT: Part = Part::Quoted(Some(Field::Agent));
const OTHER: Part = Part::Quoted(None);
const WORD: Part = Part::Word;
const QUOTED: Part = Part::QuotedWord(None);
const REDIRECT: Part = Part::QuotedWord(Some(Field::Redirect));

/// Returns the layout of lines with a quoted request after `lead`, and then `tail`.
const fn access(name: &'static str, lead: Lead, tail: &'static [Part]) -> Layout {
    line(name, Access { lead, word: None, tail, is_closed: false })
}

/// Returns the layout of lines that end after `tail`.
const fn closed(name: &'static str, lead: Lead, tail: &'static [Part]) -> Layout {
    line(name, Access { lead, word: None, tail, is_closed: true })
}

/// Returns the layout of access logs in which one of the words before the request can be selected.
const fn with_word(name: &'static str, lead: Lead, word: LeadWord, tail: &'static [Part]) -> Layout {
    line(name, Access { lead, word: Some(word), tail, is_closed: false })
}

const fn line(name: &'static str, access: Access) -> Layout {
    Layout { name, shape: Shape::Access(access), escaping: None }
}

const fn json(name: &'static str, keys: &'static [Key], escaping: Option<Escaping>) -> Layout {
    Layout { name, shape: Shape::Json(keys), escaping }
}

const HOST: Part = Part::Quoted(Some(Field::Host));
const COMMON_TAIL: &[Part] = &[Part::Status, WORD];
const COMBINED_TAIL: &[Part] = &[Part::Status, WORD, REFERER, AGENT];
const HOST_FIRST: LeadWord = LeadWord { field: Field::Host, number: 0, count: 6 };
const HOST_SECOND: LeadWord = LeadWord { field: Field::Host, number: 1, count: 5 };
const KEY: LeadWord = LeadWord { field: Field::Key, number: 8, count: 9 };

/// After the counters, Envoy writes X-Forwarded-For, the agent, the request ID, the host and the upstream.
const ENVOY_TAIL: &[Part] = &[Part::Status, WORD, WORD, WORD, WORD, WORD, OTHER, AGENT, OTHER, HOST, OTHER];
/// Istio has a quoted reason among the counters.
const ISTIO_TAIL: &[Part] =
    &[Part::Status, WORD, WORD, WORD, OTHER, WORD, WORD, WORD, WORD, OTHER, AGENT, OTHER, HOST, OTHER];

/// The quoted words are a trace, the domain and the certificate; then the actions and the URL of a redirect.
const ALB_TAIL: &[Part] = &[AGENT, WORD, WORD, WORD, QUOTED, QUOTED, QUOTED, WORD, WORD, QUOTED, REDIRECT];

static COMMON: Layout = access("common", Lead::Date, COMMON_TAIL);
static COMBINED: Layout = access("combined", Lead::Date, COMBINED_TAIL);
static VHOST: Layout = with_word("vhost_combined", Lead::Date, HOST_FIRST, COMBINED_TAIL);
static LIGHTTPD: Layout = with_word("accesslog", Lead::Date, HOST_SECOND, COMBINED_TAIL);
/// The layout for writers whose fields can contain quotes. More fields after the known ones would be ambiguous.
static RAW_COMMON: Layout = closed("common", Lead::Date, COMMON_TAIL);
static RAW_COMBINED: Layout = closed("combined", Lead::Date, COMBINED_TAIL);
/// After the agent, Traefik writes the number of the request, the router, the server and the duration.
static TRAEFIK: Layout =
    closed("traefik", Lead::Date, &[Part::Status, WORD, REFERER, AGENT, WORD, OTHER, OTHER, WORD]);
static RACK: Layout = closed("common", Lead::Date, &[Part::Status, WORD, WORD]);
static HTTPLOG: Layout = access("httplog", Lead::Haproxy, &[]);
static HTTPSLOG: Layout = closed("httpslog", Lead::Haproxy, &[WORD, WORD]);
static CLF: Layout = access("clf", Lead::Date, COMMON_TAIL);
static UVICORN: Layout = access("uvicorn", Lead::Hyphen, &[Part::Status]);
static GRANIAN: Layout = access("granian", Lead::Hyphen, &[Part::Status]);
static SQUID_COMMON: Layout = access("common", Lead::Date, &[Part::Status, WORD, WORD]);
static SQUID_COMBINED: Layout = access("combined", Lead::Date, &[Part::Status, WORD, REFERER, AGENT, WORD]);
static ENVOY: Layout = access("envoy", Lead::Date, ENVOY_TAIL);
static ISTIO: Layout = access("istio", Lead::Date, ISTIO_TAIL);
static ELB: Layout = access("elb", Lead::Words(11), &[AGENT]);
static ALB: Layout = access("alb", Lead::Words(12), ALB_TAIL);
static S3: Layout =
    with_word("s3", Lead::Words(9), KEY, &[Part::Status, WORD, WORD, WORD, WORD, WORD, REFERER, AGENT]);
static NGINX_ERROR: Layout =
    Layout { name: "nginx-error", shape: Shape::Labels, escaping: Some(Escaping::None) };

const fn words(
    name: &'static str,
    before: &'static [Word],
    after: &'static [Word],
    mark: Option<Word>,
) -> Layout {
    Layout { name, shape: Shape::Words(Words { before, after, mark }), escaping: None }
}

/// Before the target are the time, milliseconds, client, result, bytes and method; after it the user, the server and the media type.
static SQUID: Layout = words(
    "squid",
    &[Word::Number, Word::Number, Word::Any, Word::Result, Word::Count, Word::Method],
    &[Word::Any, Word::Peer, Word::Any],
    Some(Word::Peer),
);
static TORNADO: Layout =
    words("tornado", &[Word::Status, Word::Method], &[Word::Address, Word::Milliseconds], None);
/// `200 - - 0.576 ms` is after the target.
static TINY: Layout = words(
    "tiny",
    &[Word::Method],
    &[Word::Status, Word::Count, Word::Is("-"), Word::Number, Word::Is("ms")],
    None,
);

const TARGET: Holds = Holds::Target;
const METHOD: Holds = Holds::Method;
const URL: Holds = Holds::Value(Kind::Url);
const TEXT: Holds = Holds::Value(Kind::Text);
const AUTHORITY: Holds = Holds::Value(Kind::Authority);

const fn key(name: &'static str, field: Field, holds: Holds) -> Key {
    Key { name, field, holds }
}

/// The names that people give to members in JSON logs of servers that let users choose the layout.
const KEYS: &[Key] = &[
    key("request_uri", Field::Target, TARGET),
    key("request", Field::Target, Holds::Request),
    key("uri", Field::Target, TARGET),
    key("url", Field::Target, TARGET),
    key("req.url", Field::Target, TARGET),
    key("request_method", Field::Target, METHOD),
    key("method", Field::Target, METHOD),
    key("req.method", Field::Target, METHOD),
    key("http_referer", Field::Referer, URL),
    key("http_referrer", Field::Referer, URL),
    key("referer", Field::Referer, URL),
    key("referrer", Field::Referer, URL),
    key("requestHeaders.Referer", Field::Referer, URL),
    key("req.headers.referer", Field::Referer, URL),
    key("http_user_agent", Field::Agent, TEXT),
    key("user_agent", Field::Agent, TEXT),
    key("ua", Field::Agent, TEXT),
    key("requestHeaders.User-Agent", Field::Agent, TEXT),
    key("req.headers.user-agent", Field::Agent, TEXT),
    key("http_host", Field::Host, AUTHORITY),
    key("host", Field::Host, AUTHORITY),
    key("req.headers.host", Field::Host, AUTHORITY),
];
const CADDY_KEYS: &[Key] = &[
    key("request.uri", Field::Target, TARGET),
    key("request.method", Field::Target, METHOD),
    key("request.headers.Referer[]", Field::Referer, URL),
    key("request.headers.User-Agent[]", Field::Agent, TEXT),
    key("request.host", Field::Host, AUTHORITY),
];
const ENVOY_KEYS: &[Key] = &[
    key("path", Field::Target, TARGET),
    key("method", Field::Target, METHOD),
    key("referer", Field::Referer, URL),
    key("user_agent", Field::Agent, TEXT),
    key("ua", Field::Agent, TEXT),
    key("authority", Field::Host, AUTHORITY),
];
const TRAEFIK_KEYS: &[Key] = &[
    key("RequestPath", Field::Target, TARGET),
    key("RequestMethod", Field::Target, METHOD),
    key("request_Referer", Field::Referer, URL),
    key("request_User-Agent", Field::Agent, TEXT),
    key("RequestAddr", Field::Host, AUTHORITY),
];
static JSON: Layout = json("json", KEYS, None);
static UNKNOWN_JSON: Layout = json("json", KEYS, Some(Escaping::UnknownJson));
static JSON_TEXT: Layout = json("json", KEYS, Some(Escaping::Json));
static LIGHTTPD_JSON: Layout = json("json", KEYS, Some(Escaping::LighttpdJson));
static H2O_JSON: Layout = json("json", KEYS, Some(Escaping::JsonBytes));
static NGINX_JSON: Layout = json("nginx-json", KEYS, Some(Escaping::Json));
static ENVOY_JSON: Layout = json("envoy-json", ENVOY_KEYS, Some(Escaping::Json));
static TRAEFIK_JSON: Layout = json("traefik-json", TRAEFIK_KEYS, Some(Escaping::Json));
static CADDY: Layout = json("caddy", CADDY_KEYS, Some(Escaping::Json));

const W3C_COLUMNS: &[Key] = &[
    key("cs-uri", Field::Target, TARGET),
    key("cs-uri-stem", Field::Target, Holds::Stem),
    key("cs-uri-query", Field::Query, Holds::Value(Kind::Query)),
    key("cs(Referer)", Field::Referer, URL),
    key("cs(Referrer)", Field::Referer, URL),
    key("cs(User-Agent)", Field::Agent, TEXT),
    key("cs-host", Field::Host, AUTHORITY),
    key("cs(Host)", Field::Host, AUTHORITY),
    key("cs-method", Field::Target, METHOD),
];

const fn w3c(name: &'static str, split: Split, escaping: Escaping) -> Layout {
    let columns = Columns {
        split,
        header: b"#Fields:",
        comment: b"#",
        reserved: &[b"#"],
        columns: W3C_COLUMNS,
        default: b"",
    };
    Layout { name, shape: Shape::Columns(columns), escaping: Some(escaping) }
}

static W3C: Layout = w3c("w3c", Split::QuotedBlank, Escaping::DoubledQuote);
static TOMCAT_W3C: Layout = w3c("w3c", Split::QuotedBlank, Escaping::TomcatW3c);
static IIS: Layout = w3c("iis", Split::Blank, Escaping::None);
static CLOUDFRONT: Layout = w3c("cloudfront", Split::Tab, Escaping::Percent);
static CDX: Layout = Layout {
    name: "cdx",
    shape: Shape::Columns(Columns {
        split: Split::Blank,
        header: b" CDX ",
        comment: b" CDX ",
        // CDXJ has an object of JSON after the time.
        reserved: &[b"{", b"CDX"],
        columns: &[key("a", Field::Target, URL), key("r", Field::Redirect, URL)],
        default: b"N b a m s k r M S V g",
    }),
    escaping: Some(Escaping::None),
};

/// Returns the row of a program that escapes quotes in all fields.
const fn writer(
    name: &'static str,
    layouts: &'static [&'static Layout],
    escaping: Escaping,
    checked: &'static str,
) -> Writer {
    let (rule, placeholders) = (Rule::Escaped, Placeholders::HYPHEN);
    let (decodes, has_raw_line_feeds) = (false, false);
    Writer { name, layouts, escaping, rule, placeholders, checked, note: "", decodes, has_raw_line_feeds }
}

impl Writer {
    /// Returns the row of a program that escapes no quotes.
    const fn raw(self) -> Writer {
        self.rule(Rule::Raw)
            .note("quotes are not escaped: a line that could be read in two ways is unreadable")
    }

    const fn rule(self, rule: Rule) -> Writer {
        let protocol = match rule {
            Rule::Words | Rule::WordsOrHeader | Rule::WordsAfterUser => Protocol::Word,
            _ => self.placeholders.protocol,
        };
        Writer { rule, placeholders: Placeholders { protocol, ..self.placeholders }, ..self }
    }

    const fn note(self, note: &'static str) -> Writer {
        Writer { note, ..self }
    }

    const fn decoding(self) -> Writer {
        Writer { decodes: true, has_raw_line_feeds: true, note: DECODED, ..self }
    }

    /// Returns the row of a program that decodes the name of the user in a URL, and writes it without escapes.
    const fn with_raw_user(self) -> Writer {
        Writer { has_raw_line_feeds: true, ..self.rule(Rule::WordsAfterUser) }
    }

    const fn placeholders(self, placeholders: Placeholders) -> Writer {
        Writer { placeholders, ..self }
    }
}

const HYPHEN: Placeholders = Placeholders::HYPHEN;
const VARNISH_REFUSED: &[u8] = b"- http://localhost HTTP/1.0";
const UNKNOWN_ESCAPES: &str =
    "an escape that the client sent, such as \\x22, cannot be told from one of the server";
const DISAGREE: &str =
    "a line, or the value, on which the servers that write this layout disagree is unreadable";
const DOCUMENTATION: &str = "documentation";
const DECODED: &str = "the path is decoded, and the query is missing";

/// All programs, in the order in which the help lists them.
pub static WRITERS: &[Writer] = &[
    writer("", &[&COMBINED, &COMMON, &VHOST, &UNKNOWN_JSON], Escaping::Unknown, "")
        .rule(Rule::Unknown)
        .placeholders(Placeholders {
            requests: &[VARNISH_REFUSED, b"UNKNOWN / HTTP/1.0", b"- - -"],
            targets: &[b"-", b"<BADREQ>"],
            protocols: &[b"null", b"-"],
            prefixes: &[b"error:"],
            protocol: Protocol::Version,
        })
        .note(DISAGREE),
    writer("apache", &[&COMBINED, &COMMON, &VHOST, &JSON], Escaping::Apache, "2.4.71"),
    writer(
        "nginx",
        &[&COMBINED, &COMMON, &VHOST, &NGINX_JSON, &JSON, &NGINX_ERROR],
        Escaping::Nginx,
        "1.22.1",
    ),
    writer("nginx-none", &[&RAW_COMBINED, &RAW_COMMON], Escaping::None, "1.22.1 with escape=none").raw(),
    writer("haproxy", &[&HTTPLOG, &HTTPSLOG, &CLF, &RAW_COMBINED], Escaping::Haproxy, "2.6.12")
        .rule(Rule::RequestEscaped)
        .placeholders(Placeholders { targets: &[b"-", b"<BADREQ>"], ..HYPHEN }),
    writer("varnish", &[&COMBINED, &COMMON, &JSON_TEXT], Escaping::Varnish, "7.1.1")
        .placeholders(Placeholders { requests: &[VARNISH_REFUSED], ..HYPHEN })
        .note("the target is http://HOST and the path; values are cut after 255 bytes without a sign"),
    writer("lighttpd", &[&LIGHTTPD, &COMBINED, &COMMON, &LIGHTTPD_JSON], Escaping::Lighttpd, "1.4.69"),
    writer("h2o", &[&COMBINED, &COMMON, &H2O_JSON], Escaping::H2o, "2.2.5").note(UNKNOWN_ESCAPES),
    writer("tomcat", &[&COMMON, &COMBINED, &JSON, &TOMCAT_W3C], Escaping::Tomcat, "10.1.60")
        .placeholders(Placeholders { protocols: &[b"null"], ..HYPHEN }),
    writer("jetty", &[&RAW_COMBINED, &RAW_COMMON], Escaping::None, "9.4.57")
        .raw()
        .placeholders(Placeholders { protocols: &[b"-"], ..HYPHEN }),
    writer("gunicorn", &[&RAW_COMBINED], Escaping::Quote, "27.0.1")
        .rule(Rule::WordsAfterUser)
        .note("not safe with %(U)s, which is decoded, so that a client can write a new line"),
    writer("uvicorn", &[&UVICORN], Escaping::None, "0.54.0")
        .rule(Rule::Words)
        .note("the path was decoded and encoded again"),
    writer("morgan", &[&COMBINED, &COMMON, &TINY, &JSON_TEXT], Escaping::Morgan, "1.12.1"),
    writer("envoy", &[&ENVOY, &ISTIO, &RAW_COMBINED, &ENVOY_JSON], Escaping::None, "1.39.3")
        .rule(Rule::WordsOrHeader)
        .note("quotes in headers are not escaped, and a header of the client can replace the target"),
    writer("traefik", &[&TRAEFIK, &RAW_COMBINED, &TRAEFIK_JSON], Escaping::Quote, "3.7.15")
        .with_raw_user()
        .note("the path was cleaned and encoded again"),
    writer("caddy", &[&CADDY], Escaping::Json, "2.6.2, 2.11.7"),
    writer("squid", &[&SQUID, &SQUID_COMMON, &SQUID_COMBINED], Escaping::None, "5.7")
        .raw()
        .placeholders(Placeholders { prefixes: &[b"error:"], ..HYPHEN }),
    writer("go", &[&COMBINED, &COMMON], Escaping::Go, "gorilla/handlers 1.5.1").with_raw_user(),
    writer("rack", &[&RACK], Escaping::Rack, "rack 2.2.22, puma 5.6.5").raw(),
    writer("aiohttp", &[&RAW_COMBINED], Escaping::None, "3.14.5").raw().rule(Rule::Words).placeholders(
        Placeholders { requests: &[b"UNKNOWN / HTTP/1.0"], protocol: Protocol::Word, ..HYPHEN },
    ),
    writer("uwsgi", &[&RAW_COMBINED], Escaping::None, "2.0.21").raw(),
    writer("daphne", &[&RAW_COMMON], Escaping::None, "4.2.3")
        .raw()
        .placeholders(Placeholders { protocol: Protocol::None, ..HYPHEN }),
    writer("tornado", &[&TORNADO], Escaping::None, "6.6.1").raw(),
    writer("django", &[&RAW_COMMON], Escaping::None, "5.2.19").raw(),
    writer("webrick", &[&RAW_COMMON, &RAW_COMBINED], Escaping::Ruby, "1.8.1").raw(),
    writer("python", &[&RAW_COMMON], Escaping::Python, "http.server, wsgiref of 3.11.7, werkzeug 3.1.9")
        .raw(),
    writer("hypercorn", &[&RAW_COMBINED], Escaping::None, "0.18.0")
        .raw()
        .placeholders(Placeholders { protocol: Protocol::Version, ..HYPHEN })
        .decoding(),
    writer("granian", &[&GRANIAN], Escaping::None, "2.8.9").raw().decoding(),
    writer("elb", &[&ELB], Escaping::None, DOCUMENTATION).rule(Rule::Words),
    writer("alb", &[&ALB], Escaping::H2o, "documentation, and a published line with a quote")
        .rule(Rule::Words)
        .note(UNKNOWN_ESCAPES),
    writer("s3", &[&S3], Escaping::None, DOCUMENTATION).rule(Rule::Words),
    writer("cloudfront", &[&CLOUDFRONT], Escaping::Percent, DOCUMENTATION),
    writer("w3c", &[&W3C], Escaping::DoubledQuote, DOCUMENTATION),
    writer("cdx", &[&CDX], Escaping::None, DOCUMENTATION),
    writer("iis", &[&IIS], Escaping::None, DOCUMENTATION)
        .note("the server writes + for bytes that are not printable"),
];

impl Layout {
    /// Returns the fields that lines can have.
    pub fn fields(&self) -> Vec<Field> {
        let mut fields = vec![Field::Target];
        match &self.shape {
            Shape::Access(Access { word, tail, .. }) => {
                fields.extend(word.map(|word| word.field));
                fields.extend(tail.iter().filter_map(|part| match part {
                    Part::Quoted(field) | Part::QuotedWord(field) => *field,
                    Part::Status | Part::Word => None,
                }));
            }
            Shape::Json(keys) | Shape::Columns(Columns { columns: keys, .. }) => {
                fields.extend(keys.iter().map(|key| key.field));
            }
            Shape::Words(_) => {}
            Shape::Labels => fields.extend(LABELS.map(|(_, field, _)| field)),
        }
        fields.sort_unstable();
        fields.dedup();
        fields
    }
}

impl Log {
    /// Reports whether a client can write a line of this log, because the program writes line feeds of some value as they are.
    pub fn has_raw_line_feeds(&self) -> bool {
        match self.layout.shape {
            Shape::Json(_) => false,
            // The message has the decoded name of a file.
            Shape::Labels => true,
            _ => self.writer.has_raw_line_feeds,
        }
    }

    /// Returns a message that says that the format has no field `name`.
    pub(crate) fn has_no(self, name: &str) -> String {
        let known: Vec<_> = self.layout.fields().into_iter().map(Field::name).collect();
        format!("{} has no field '{name}'; it has {}", self.name(), known.join(", "))
    }

    /// Returns the format with this name: `LAYOUT:WRITER`, a writer for its usual layout, or a layout that only one writer has or that is
    /// read without a writer.
    pub fn named(name: &str) -> Option<Log> {
        let of = |writer: &'static Writer, layout: &str| {
            let layout = writer.layouts.iter().find(|known| known.name == layout)?;
            Some(Log { writer, layout })
        };
        if let Some((layout, writer)) = name.split_once(':') {
            return of(WRITERS.iter().find(|known| known.name == writer)?, layout);
        }
        let writer = WRITERS.iter().find(|writer| !name.is_empty() && writer.name == name);
        let usual = writer.map(|writer| Log { writer, layout: writer.layouts[0] });
        // The name of a layout means that of the unknown writer, which is the first row, or of the only writer that has
        // it.
        let mut logs = WRITERS.iter().filter_map(|writer| of(writer, name));
        let first = logs.next().filter(|log| log.writer.name.is_empty() || logs.next().is_none());
        usual.or(first)
    }

    /// Returns every format.
    pub fn all() -> impl Iterator<Item = Log> {
        WRITERS.iter().flat_map(|writer| writer.layouts.iter().map(move |layout| Log { writer, layout }))
    }

    /// Returns the name of the format, which [`Log::named`] understands.
    pub fn name(self) -> String {
        let (layout, writer) = (self.layout.name, self.writer.name);
        let named = |name: &str| Log::named(name).is_some_and(|log| log.is(self));
        match [writer, layout].into_iter().find(|name| named(name)) {
            Some(name) => name.to_owned(),
            None => format!("{layout}:{writer}"),
        }
    }

    /// Reports whether both are the same format.
    pub fn is(self, other: Log) -> bool {
        std::ptr::eq(self.writer, other.writer) && std::ptr::eq(self.layout, other.layout)
    }

    /// Returns the escaping of values.
    pub fn escaping(self) -> Escaping {
        self.layout.escaping.unwrap_or(self.writer.escaping)
    }
}

impl FromStr for Spec {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Spec, &'static str> {
        let named =
            |name: &str| Wrapper::ALL.iter().find(|(_, known)| *known == name).map(|(found, _)| *found);
        let (wrapper, name) = match text.split_once('+') {
            Some((name, rest)) => {
                (Some(named(name).ok_or("no such wrapper; expected cri, docker or syslog")?), rest)
            }
            None => named(text).map_or((None, text), |wrapper| (Some(wrapper), "auto")),
        };
        let missing = "no such format; expected a server, a layout or LAYOUT:SERVER";
        let log = if name == "auto" { None } else { Some(Log::named(name).ok_or(missing)?) };
        Ok(Spec { wrapper, log })
    }
}
