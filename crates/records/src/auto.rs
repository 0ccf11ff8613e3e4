//! Chooses the format of a log by its first lines.

use crate::logs::Log;
use crate::syntax::Syntax;
use crate::wrapper::Wrapper;

/// The formats that are tried, the special ones first. CDX is left out, because any line of words could be CDX. Formats that differ only in
/// escaping are left to the user, because a few lines do not show the writer.
const CANDIDATES: &str = "caddy traefik-json envoy-json nginx-json cloudfront w3c squid nginx-error combined common httplog httpslog s3 \
                          alb elb envoy istio";

/// Returns the format that finds most values in `lines`, which are the first lines of a log. If several formats find equally many, the first
/// one of a fixed list is chosen.
pub fn detect(lines: &[&[u8]], wrapper: Option<Wrapper>) -> Option<Log> {
    // IIS writes no quotes around values, unlike other writers of W3C logs.
    let is_iis = |line: &&[u8]| {
        line.strip_prefix(b"#Software: Microsoft ").is_some_and(|name| {
            name.starts_with(b"Internet Information Services") || name.starts_with(b"HTTP Server")
        })
    };
    if lines.iter().any(is_iis) {
        return Log::named("iis");
    }
    let mut best = None;
    for log in CANDIDATES.split(' ').filter_map(Log::named) {
        let mut syntax = Syntax::log(log, wrapper, &log.layout.fields()).ok()?;
        let mut places = Vec::new();
        for line in lines {
            let before = places.len();
            // If no writer is named, the writers often disagree. The certain values of a line with an error count then.
            if syntax.find(line, &mut places).is_err() && !log.writer.name.is_empty() {
                places.truncate(before);
            }
        }
        if places.len() > best.map_or(0, |(most, _)| most) {
            best = Some((places.len(), log));
        }
    }
    best.map(|(_, log)| log)
}
