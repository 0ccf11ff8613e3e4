//! Named log formats: the fields that contain URLs, and the rule by which lines are split.
//!
//! Each format follows the documentation of the program that writes it.

use super::field_map::FieldMap;
use super::fields::{Anchor, Enclosure, Position, Split};
use super::labels::{Label, Labels};

/// A log format.
#[derive(Clone, Copy, Debug)]
pub struct Log {
    pub name: &'static str,
    /// The description of the format in help.
    pub help: &'static str,
    pub places: LogPlaces,
}

/// The places of URLs in a log format.
#[derive(Clone, Copy, Debug)]
pub enum LogPlaces {
    /// The quoted values after these labels.
    Labels(Labels),
    /// These fields of a line, which is split by this rule and has this anchor.
    Fields(&'static [Position], Split, Anchor),
    /// The fields that lines of the file name.
    Named(FieldMap, Split),
    /// The values at these paths in JSON Lines.
    Keys(&'static [&'static str]),
}

const REQUEST: Position = Position::word(4, Position::TARGET);
/// The split of access logs, in which quotes and brackets enclose fields.
pub const ACCESS: Split = Split::Blanks(Enclosure::QuotesOrBrackets);
const QUOTED: Split = Split::Blanks(Enclosure::Quotes);
const WORDS: Split = Split::Blanks(Enclosure::None);

impl Log {
    /// All formats, in the order of help.
    pub const ALL: &'static [Log] = &[
        Log {
            name: "combined",
            help: "Apache's combined: request target and referrer; --field 5.2,8",
            places: LogPlaces::Fields(&[REQUEST, Position::of(7)], ACCESS, Anchor::Date),
        },
        Log {
            name: "common",
            help: "Apache's common: request target; --field 5.2",
            places: LogPlaces::Fields(&[REQUEST], ACCESS, Anchor::Date),
        },
        Log {
            name: "nginx",
            help: "nginx's combined: request target and referrer; decode also decodes \\xHH",
            places: LogPlaces::Fields(&[REQUEST, Position::of(7)], ACCESS, Anchor::Date),
        },
        Log {
            name: "vhost_combined",
            help: "Debian's vhost_combined: combined, after the name of the virtual host",
            places: LogPlaces::Fields(&[REQUEST, Position::of(7)], ACCESS, Anchor::Date),
        },
        Log {
            name: "nginx-error",
            help: "nginx's error log: request target, upstream and referrer, after their labels",
            places: LogPlaces::Labels(Labels(&[
                Label { name: "request", word: Some(Position::TARGET) },
                Label { name: "subrequest", word: None },
                Label { name: "upstream", word: None },
                Label { name: "referrer", word: None },
            ])),
        },
        Log {
            name: "haproxy",
            help: "HAProxy's HTTP log: request target; --field -1.2",
            places: LogPlaces::Fields(&[Position::word(-1, Position::TARGET)], ACCESS, Anchor::Last),
        },
        Log {
            name: "envoy",
            help: "Envoy's and Istio's default format: request target; --field 2.2",
            places: LogPlaces::Fields(&[REQUEST], ACCESS, Anchor::Date),
        },
        Log {
            name: "traefik",
            help: "Traefik's common format: request target and referrer; --field 5.2,8",
            places: LogPlaces::Fields(&[REQUEST, Position::of(7)], ACCESS, Anchor::Date),
        },
        Log {
            name: "elb",
            help: "AWS Classic Load Balancer: request URL; --field 12.2",
            places: LogPlaces::Fields(&[Position::word(11, Position::TARGET)], ACCESS, Anchor::Request(11)),
        },
        Log {
            name: "alb",
            help: "AWS Application Load Balancer: request and redirect URLs; --field 13.2,24",
            places: LogPlaces::Fields(
                &[Position::word(12, Position::TARGET), Position::of(23)],
                ACCESS,
                Anchor::Request(12),
            ),
        },
        Log {
            name: "s3",
            help: "S3 server access log: key, request target and referrer; --field 8,9.2,16",
            places: LogPlaces::Fields(
                &[Position::of(7), Position::word(8, Position::TARGET), Position::of(15)],
                ACCESS,
                Anchor::Request(8),
            ),
        },
        Log {
            name: "cloudfront",
            help: "CloudFront standard log: the columns of w3c, separated by tabs",
            places: LogPlaces::Named(FieldMap::w3c(), Split::Byte(b'\t')),
        },
        Log {
            name: "w3c",
            help: "W3C extended log: the columns cs-uri, cs-uri-stem, cs-uri-query and cs(Referer) of #Fields:",
            places: LogPlaces::Named(FieldMap::w3c(), QUOTED),
        },
        Log {
            name: "iis",
            help: "IIS: the columns of w3c, without quotes",
            places: LogPlaces::Named(FieldMap::w3c(), WORDS),
        },
        Log {
            name: "caddy",
            help: "Caddy: --jsonl --key request.uri,request.headers.Referer[]",
            places: LogPlaces::Keys(&["request.uri", "request.headers.Referer[]"]),
        },
        Log {
            name: "cdx",
            help: "CDX index of a web archive: the URL and redirect columns of its CDX line",
            places: LogPlaces::Named(FieldMap::cdx(), WORDS),
        },
        Log {
            name: "squid",
            help: "Squid's native format: URL; field 7",
            places: LogPlaces::Fields(&[Position::of(6)], WORDS, Anchor::Squid),
        },
    ];

    /// Returns the format with only the URL of the request, without the referrer and others.
    pub fn request_only(self) -> Log {
        let places = match self.places {
            LogPlaces::Labels(Labels(labels)) => LogPlaces::Labels(Labels(&labels[..1])),
            LogPlaces::Fields(positions, split, anchor) => {
                let request = positions.iter().position(|position| position.word.is_some()).unwrap_or(0);
                LogPlaces::Fields(&positions[request..=request], split, anchor)
            }
            LogPlaces::Keys(paths) => LogPlaces::Keys(&paths[..1]),
            LogPlaces::Named(map, split) => LogPlaces::Named(map.request_only(), split),
        };
        Log { places, ..self }
    }

    /// Reports whether the program writes some bytes as `\xHH`.
    pub fn is_nginx(self) -> bool {
        self.name == "nginx"
    }
}
