//! Compares the routes of readings. A reading describes how one server reads the path of a request target, and the
//! route is the path on which that server routes.

use std::borrow::Cow;

use simdpct::{Decode, Tier};

use crate::plain::plain_path;
use crate::read::{Outcome, lowercase};
use crate::table::READINGS;

/// The result of comparing the routes of two readings for one target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Agreement {
    /// Both routes have the same segments.
    Same,
    /// The segments differ only in case, or in dots, spaces and slashes at the end.
    Spelling,
    /// The segments differ.
    Different,
}

/// Compares two routes. Divides them at slashes, decodes the escapes that remain in each segment once, and compares the segments.
/// So a server that routes on `/a%20b` agrees with one that routes on `/a b`, but `/a%2Fb` is not `/a/b`.
///
/// ```
/// use simdpct_readings::{Agreement, agreement};
///
/// assert_eq!(agreement(b"/a%20b", b"/a b"), Agreement::Same);
/// assert_eq!(agreement(b"/Docs", b"/docs"), Agreement::Spelling);
/// assert_eq!(agreement(b"/a%2Fb", b"/a/b"), Agreement::Different);
/// assert_eq!(agreement(b"/%FF", b"/%FE"), Agreement::Different);
/// ```
#[must_use]
pub fn agreement(one: &[u8], other: &[u8]) -> Agreement {
    if one == other || segments(one).eq(segments(other)) {
        Agreement::Same
    } else if spelling(one) == spelling(other) {
        Agreement::Spelling
    } else {
        Agreement::Different
    }
}

fn segments(route: &[u8]) -> impl Iterator<Item = Cow<'_, [u8]>> {
    route.split(|&byte| byte == b'/').map(|segment| Decode::new().decode(segment))
}

/// Returns the segments in lower case, without dots, spaces and slashes at the end.
fn spelling(route: &[u8]) -> Vec<Vec<u8>> {
    let mut segments: Vec<Vec<u8>> = segments(route).map(|segment| lowercase(&segment)).collect();
    while let Some(last) = segments.last_mut() {
        // The dots of a dot segment are not trimmed, because they change the path.
        let trims = !matches!(&**last, b"." | b"..");
        while trims && last.pop_if(|byte| b". ".contains(byte)).is_some() {}
        if !last.is_empty() {
            break;
        }
        segments.pop();
    }
    segments
}

/// Reports whether two of the [default readings](crate::Reading::is_default) route `target` differently. Case, and
/// dots, spaces and slashes at the end of a route, do not count. Readings that reject or redirect the target do not count either. Takes
/// time linear in the target.
///
/// ```
/// use simdpct_readings::is_ambiguous;
///
/// assert!(!is_ambiguous(b"/caf%C3%A9?to=/a/../b"));
/// for target in ["/public/..;/admin", "/a%2Fb", "/a//b", "/a%252e"] {
///     assert!(is_ambiguous(target.as_bytes()), "{target}");
/// }
/// ```
#[must_use]
pub fn is_ambiguous(target: &[u8]) -> bool {
    if plain_path(Tier::active(), target).is_some() {
        return false;
    }
    let defaults = READINGS.iter().filter(|reading| reading.is_default);
    let mut outcomes =
        defaults.map(|reading| reading.read(target)).filter(|outcome| outcome.route().is_some());
    let Some(Outcome::Read { route: first, .. }) = outcomes.next() else { return false };
    outcomes.any(|other| other.route().is_some_and(|route| agreement(&first, route) == Agreement::Different))
}
