//! Formats of logs by name: which fields hold URLs, and how they are split.
//!
//! The formats are those that the documentation of each program describes.

use super::fields::{Marks, Split, Spot};
use super::jsonl::KeyPath;
use super::legend::Legend;

/// A format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Log {
    /// Apache's `combined`: request and referrer.
    Combined,
    /// Apache's `common`: request.
    Common,
    /// nginx's `combined`, which writes some bytes as `\xHH`.
    Nginx,
    /// Classic load balancers of AWS: request.
    Elb,
    /// Application load balancers of AWS: request and redirection.
    Alb,
    /// Server access logs of S3: key, request and referrer.
    S3,
    /// Standard logs of CloudFront: W3C, separated by tabs.
    Cloudfront,
    /// W3C extended log files.
    W3c,
    /// Those of IIS, which have no quotes.
    Iis,
    /// Access logs of Caddy: JSON Lines.
    Caddy,
    /// Indexes of web archives.
    Cdx,
    /// Squid's native format.
    Squid,
}

/// What a format means.
pub enum Meaning {
    Fields(&'static [Spot], Split),
    /// Fields that a line of the file names.
    Named(Legend, Split),
    Keys(Vec<KeyPath>),
}

const APACHE: Split = Split::Blanks(Marks { quotes: true, brackets: true });
const QUOTED: Split = Split::Blanks(Marks { quotes: true, brackets: false });
const WORDS: Split = Split::Blanks(Marks { quotes: false, brackets: false });

impl Log {
    /// All of them.
    pub const ALL: [Log; 12] = [
        Log::Combined,
        Log::Common,
        Log::Nginx,
        Log::Elb,
        Log::Alb,
        Log::S3,
        Log::Cloudfront,
        Log::W3c,
        Log::Iis,
        Log::Caddy,
        Log::Cdx,
        Log::Squid,
    ];

    /// Its name, and what holds values in it.
    pub fn describe(self) -> (&'static str, &'static str) {
        match self {
            Log::Combined => ("combined", "Apache's combined: request target and referrer; --field 5.2,8"),
            Log::Common => ("common", "Apache's common: request target; --field 5.2"),
            Log::Nginx => {
                ("nginx", "nginx's combined: request target and referrer, in which decoding undoes \\xHH")
            }
            Log::Elb => ("elb", "AWS Classic Load Balancer: request URL; --field 12.2"),
            Log::Alb => ("alb", "AWS Application Load Balancer: request and redirect URLs; --field 13.2,24"),
            Log::S3 => ("s3", "S3 server access log: key, request target and referrer; --field 8,9.2,16"),
            Log::Cloudfront => ("cloudfront", "CloudFront standard log: columns as in w3c, by tabs"),
            Log::W3c => (
                "w3c",
                "W3C extended log: cs-uri, cs-uri-stem, cs-uri-query, cs(Referer), as #Fields: has them",
            ),
            Log::Iis => ("iis", "IIS: the same columns, without quotes"),
            Log::Caddy => ("caddy", "Caddy: --jsonl --key request.uri,request.headers.Referer[]"),
            Log::Cdx => ("cdx", "CDX index of a web archive: URL and redirect, as its CDX line has them"),
            Log::Squid => ("squid", "Squid's native format: URL; field 7"),
        }
    }

    /// Whether `\xHH` is an escape in it.
    pub fn is_nginx(self) -> bool {
        self == Log::Nginx
    }

    /// Which values it has.
    pub fn meaning(self) -> Meaning {
        const REQUEST: Spot = Spot::word(4, 1);
        let key = |steps: &[&str]| KeyPath::of(steps);
        match self {
            Log::Combined | Log::Nginx => Meaning::Fields(const { &[REQUEST, Spot::of(7)] }, APACHE),
            Log::Common => Meaning::Fields(const { &[REQUEST] }, APACHE),
            Log::Elb => Meaning::Fields(const { &[Spot::word(11, 1)] }, APACHE),
            Log::Alb => Meaning::Fields(const { &[Spot::word(12, 1), Spot::of(23)] }, APACHE),
            Log::S3 => Meaning::Fields(const { &[Spot::of(7), Spot::word(8, 1), Spot::of(15)] }, APACHE),
            Log::Squid => Meaning::Fields(const { &[Spot::of(6)] }, WORDS),
            Log::Cloudfront => Meaning::Named(Legend::w3c(), Split::Byte(b'\t')),
            Log::W3c => Meaning::Named(Legend::w3c(), QUOTED),
            Log::Iis => Meaning::Named(Legend::w3c(), WORDS),
            Log::Cdx => Meaning::Named(Legend::cdx(), WORDS),
            Log::Caddy => Meaning::Keys(vec![
                key(&["request", "uri"]),
                KeyPath::of(&["request", "headers", "Referer"]).each(),
            ]),
        }
    }
}
