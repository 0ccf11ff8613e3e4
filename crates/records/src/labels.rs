//! Finds the values after labels in the error log of nginx.

use memchr::memmem;

use crate::place::{Field, Holds, Kind, QUOTED, REQUEST, Reason, Texts, Unreadable, unreadable};

/// The labels after the server, in the order in which nginx writes them.
pub(crate) const LABELS: [(&[u8], Field, Holds); 5] = [
    (b", request: \"", Field::Target, Holds::Request),
    (b", subrequest: \"", Field::Subrequest, Holds::Target),
    (b", upstream: \"", Field::Upstream, Holds::Server),
    (b", host: \"", Field::Host, Holds::Value(Kind::Authority)),
    (b", referrer: \"", Field::Referer, Holds::Value(Kind::Url)),
];

/// The label of the counts that follow the other labels of a stream (TCP or UDP).
const COUNTS: &[u8] = b", bytes from/to client:";

/// The length, in bytes, after which nginx cuts a line.
const LONGEST: usize = 2047;

/// The levels of entries.
const LEVELS: [&[u8]; 8] =
    [b"[error] ", b"[warn] ", b"[info] ", b"[notice] ", b"[crit] ", b"[alert] ", b"[emerg] ", b"[debug] "];

/// Appends the values of `line` to `texts`.
///
/// Nothing is escaped, and the message before the labels contains the decoded name of a file, in which a client can plant labels. So the
/// last label of a request counts, unless it can be a part of a later value: the referrer, the target of a subrequest, the URL of an
/// upstream, which can be decoded, or a request line that nginx did not understand. The targets of other requests, and hosts, have no
/// blanks, so they have no labels.
pub(crate) fn find(line: &[u8], texts: &mut Texts) -> Result<(), Unreadable> {
    let has = |text: &[u8]| memmem::find(line, text).is_some();
    // A message can have several lines. The last one has the labels.
    if !LEVELS.iter().any(|level| has(level)) && !has(b", client: ") {
        return unreadable(0, Reason::NO_ANCHOR);
    }
    let [request, subrequest, upstream, _, referrer] = LABELS.map(|(label, ..)| label);
    // Entries of nginx's stream proxy have an upstream, but no request.
    let Some(start) = memmem::rfind(line, request).or_else(|| memmem::find(line, upstream)) else {
        let without_quote = memmem::find(line, b", request: ");
        return without_quote.map_or(Ok(()), |start| unreadable(start, Reason::NO_REQUEST));
    };
    let has_before = |text: &[u8]| memmem::find(&line[..start], text).is_some();
    let can_hold_labels = [b" while reading client request", subrequest, upstream];
    if has_before(request) && can_hold_labels.into_iter().any(has_before) || has_before(referrer) {
        return unreadable(start, Reason::AMBIGUOUS);
    }
    // Before nginx has read the request line, it knows nothing that comes after it. Only streams, which have no request, have counts.
    let is_alone = has_before(b" while reading client request line");
    let counts = Some(COUNTS).filter(|_| !line[start..].starts_with(request));
    let mut from = start;
    for (number, &(label, field, holds)) in LABELS.iter().enumerate() {
        if !line[from..].starts_with(label) {
            continue;
        }
        let start = from + label.len();
        let later = LABELS[number + 1..].iter().map(|(label, ..)| *label);
        let ends =
            later.chain(counts).filter_map(|label| Some((memmem::find(&line[start..], label)?, label)));
        let end = match ends.min() {
            Some((len, label)) if is_alone || memmem::find(&line[start + len + 1..], label).is_some() => {
                return unreadable(start + len, Reason::AMBIGUOUS);
            }
            end => end.map_or(line.len(), |(len, _)| start + len),
        };
        if end == start || line[end - 1] != b'"' {
            return unreadable(start - 1, Reason::OPEN_QUOTE);
        }
        let fence = if number == 0 { REQUEST } else { QUOTED };
        // The last quote of a line that was cut can be one of the client.
        let is_cut = end == line.len() && line.len() >= LONGEST;
        texts.add(field as usize, if is_cut { Err(Reason::CUT) } else { Ok(start..end - 1) }, holds, fence);
        from = end;
    }
    Ok(())
}
