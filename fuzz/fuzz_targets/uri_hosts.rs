//! Checks with the crate url that the key (canonical form) of every profile has the host that browsers contact.

#![no_main]

use libfuzzer_sys::fuzz_target;
use simdpct_uri::canon::Profile;
use url::{Host, ParseError, Url};

const SPECIAL: [&str; 6] = ["http", "https", "ws", "wss", "ftp", "file"];

/// Returns the host of a special URL. `None` means that no host can be compared, `Some(None)` that the URL is invalid or has no host.
fn host_of(url: &str) -> Option<Option<Host>> {
    let is_special = |scheme: &str| SPECIAL.iter().any(|special| scheme.eq_ignore_ascii_case(special));
    match Url::parse(url) {
        // The crate url drops the host of some `file` URLs with drive letters.
        Ok(url) if url.scheme() == "file" && url.path().contains([':', '|']) => None,
        Ok(url) => is_special(url.scheme()).then(|| url.host().map(|host| host.to_owned())),
        Err(ParseError::RelativeUrlWithoutBase | ParseError::InvalidPort) => None,
        Err(_) => url.split_once(':').is_some_and(|(scheme, _)| is_special(scheme)).then_some(None),
    }
}

/// Returns the host as keys have it: IPv4 for an IPv6 address that contains it, and names without final dots. A name
/// also has no empty labels or, in a SURT, no `www` at its start.
fn plain(host: Host, is_surt: bool) -> Host {
    match host {
        Host::Ipv6(address) => match address.segments() {
            [0, 0, 0, 0, 0, 0xFFFF, a, b] | [0x64, 0xFF9B, 0, 0, 0, 0, a, b] => {
                Host::Ipv4((u32::from(a) << 16 | u32::from(b)).into())
            }
            _ => Host::Ipv6(address),
        },
        Host::Domain(name) => {
            let mut labels: Vec<&str> =
                name.trim_end_matches('.').split('.').filter(|label| is_surt || !label.is_empty()).collect();
            let is_www = |label: &str| {
                label
                    .strip_prefix("www")
                    .is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))
            };
            while is_surt && labels.len() > 1 && is_www(labels[0]) {
                labels.remove(0);
            }
            let name = labels.join(".");
            // Without its final dots, a name can have the form of an address. It stays a name, which is another host.
            Host::Domain(name)
        }
        address => address,
    }
}

/// Returns a URL with the host of a SURT. A SURT has the labels of its host in reverse order.
fn from_surt(key: &str, scheme: &str, is_ipv6: bool) -> Option<String> {
    let (host, _) = key.split_once(')')?;
    if is_ipv6 {
        let address = |host: &str| host.parse::<std::net::Ipv6Addr>().ok();
        let address = address(host).or_else(|| address(host.rsplit_once(':')?.0))?;
        return Some(format!("{scheme}://[{address}]/"));
    }
    let host = host.split_once(':').map_or(host, |(host, _)| host);
    let labels: Vec<&str> = host.split(',').rev().collect();
    Some(format!("{scheme}://{}/", labels.join(".")))
}

fuzz_target!(|text: &[u8]| {
    let Ok(text) = std::str::from_utf8(text) else { return };
    for &profile in Profile::ALL {
        let Ok(key) = profile.canonicalize(text) else { continue };
        let name = profile.name();
        let (is_surt, is_google) = (name.starts_with("surt"), name.starts_with("safe-browsing"));
        let mut input = text.trim_matches(|c| c <= ' ').replace(['\t', '\n', '\r'], "");
        let is_relative = Url::parse(&input) == Err(ParseError::RelativeUrlWithoutBase);
        let is_host_and_port = input.split_once(':').is_some_and(|(host, port)| {
            port.starts_with(|c: char| c.is_ascii_digit()) && (host.contains('.') || host == "localhost")
        });
        if is_google && (is_relative || is_host_and_port) {
            if simdpct::decode_until_stable(&input).windows(3).any(|bytes| bytes == b"://") {
                continue;
            }
            input = format!("http://{}", input.trim_start_matches('/'));
        }
        let Some(theirs) = host_of(&input) else { continue };
        // The profile `escapes` does not split URLs. It decodes the escape in `http://[::%31]`, which browsers reject.
        if profile == Profile::Escapes && theirs.is_none() {
            continue;
        }
        // The URL for a SURT keeps the scheme `file`, because browsers find no host in `file://localhost`.
        let is_file = input.get(..5).is_some_and(|start| start.eq_ignore_ascii_case("file:"));
        let scheme = if is_file { "file" } else { "http" };
        let is_ipv6 = matches!(theirs, Some(Host::Ipv6(_)));
        // A key without a host begins with a scheme: `foo:x)` has the path `x)`, and `foo:x:)` the path `x:)`.
        let has_reversed_host = key.split_once(')').is_some_and(|(host, _)| {
            let port = host.split_once(':').map_or("", |(_, port)| port);
            !host.contains(['/', '?']) && (is_ipv6 || port.bytes().all(|byte| byte.is_ascii_digit()))
        });
        let key_url = match is_surt && has_reversed_host {
            true => match from_surt(&key, scheme, is_ipv6) {
                Some(url) => url,
                None => continue,
            },
            false => key.clone().into_owned(),
        };
        let Some(ours) = host_of(&key_url) else { continue };
        let [theirs, ours] = [theirs, ours].map(|host| match is_surt || is_google {
            true => host.map(|host| plain(host, is_surt)),
            false => host,
        });
        // Browsers ignore the label that is left in the key of `www.%C2%AD`.
        let is_www = |host: &Host| matches!(host, Host::Domain(name) if name.starts_with("www"));
        if is_surt && ours.is_none() && theirs.as_ref().is_some_and(is_www) {
            continue;
        }
        assert_eq!(ours, theirs, "{profile}: {text:?} has the key {key:?}");
    }
});
