//! Chooses the format of a log by its first lines.

use crate::logs::{Log, Shape};
use crate::place::Reason;
use crate::syntax::Syntax;
use crate::wrapper::{self, Lines, Wrapper};

/// The formats that are tried, the special ones first. CDX is left out, because any line of words could be CDX. Formats that differ only
/// in escaping are left to the user, because a few lines do not show the writer.
const CANDIDATES: &str = "caddy traefik-json envoy-json json cloudfront w3c squid nginx-error combined common httplog httpslog s3 \
                          alb elb envoy istio";

/// The header lines of W3C logs that name a writer with rules of its own, and the format of this writer.
const SOFTWARE: [(&[u8], &str); 3] = [
    (b"#Software: Microsoft Internet Information Services", "iis"),
    (b"#Software: Microsoft HTTP Server", "iis"),
    (b"#Software: Apache Tomcat", "w3c:tomcat"),
];

/// Returns the format that finds values in most of `lines`, which are the first lines of a log. Among several, it is the one that finds
/// most values, or else the first one of a fixed list. A header line that names its writer decides at once. Returns `None` if each format
/// cannot read more lines than it finds values in, and for lines of Kubernetes without a `wrapper`, because a part of a line may look like a
/// line. The message of an error of nginx can have more lines, so its format needs only one line with values.
pub fn detect(lines: &[&[u8]], wrapper: Option<Wrapper>) -> Option<Log> {
    let named = SOFTWARE.iter().find(|(start, _)| lines.iter().any(|line| line.starts_with(start)));
    if let Some((_, name)) = named {
        return Log::named(name);
    }
    let wrapped = lines.iter().filter(|line| wrapper::cri(line).is_ok()).count();
    if wrapper.is_none() && wrapped > 0 && 2 * wrapped >= lines.len() {
        return None;
    }
    // CloudFront encodes its values once more, and only its columns have such names. Other programs also separate columns by tabs.
    let is_cloudfront = lines
        .iter()
        .filter_map(|line| line.strip_prefix(b"#Fields:"))
        .any(|names| names.split(u8::is_ascii_whitespace).any(|name| name.starts_with(b"x-edge-")));
    let names = CANDIDATES.split(' ').filter(|name| is_cloudfront || *name != "cloudfront");
    let mut best = None;
    for log in names.filter_map(Log::named) {
        let mut syntax = Syntax::log(log, wrapper, &log.layout.fields()).ok()?;
        let has_labels = matches!(log.layout.shape, Shape::Labels);
        let (mut places, mut read, mut failed) = (Vec::new(), 0, 0);
        for line in lines {
            let before = places.len();
            let result = syntax.find(line, &mut places);
            // If no writer is named, the writers often disagree. The certain values of a line with an error count then.
            let is_read = result.is_ok() || log.writer.name.is_empty();
            // A client can write labels into a header of another format, but not the start of the line.
            if !is_read || has_labels && !begins_entry(line, wrapper) {
                places.truncate(before);
            }
            let has_values = places.len() > before;
            read += usize::from(has_values);
            // A line of this format can have any text in place of a request, such as the start of a TLS connection.
            failed +=
                usize::from(!has_values && result.is_err_and(|error| error.reason != Reason::NO_TARGET));
        }
        let found = (read, places.len());
        if read > 0 && (has_labels || read >= failed) && best.is_none_or(|(most, _)| found > most) {
            best = Some((found, log));
        }
    }
    best.map(|(_, log)| log)
}

/// Reports whether the record in `line` begins with a date as in nginx's error log, such as `2024/01/31 `.
fn begins_entry(line: &[u8], wrapper: Option<Wrapper>) -> bool {
    let mut buffer = Vec::new();
    let place = wrapper.map(|wrapper| Lines::new(wrapper).find(line));
    let record = match place {
        None => line,
        Some(place) => place.ok().and_then(|place| place.value(line, &mut buffer).ok()).unwrap_or_default(),
    };
    let is_digit = |at: &usize| record.get(*at).is_some_and(u8::is_ascii_digit);
    let has = |at: usize, byte: u8| record.get(at) == Some(&byte);
    [0, 1, 2, 3, 5, 6, 8, 9].iter().all(is_digit) && has(4, b'/') && has(7, b'/') && has(10, b' ')
}
