//! Times work that uses `percent-encoding`, `form_urlencoded` and `urlencoding`: parsing URLs and forms, and requests to an axum router.
//!
//! `run` builds this program with the published crates and with this project's replacements for them. Each line has the
//! name of a row, the best time of a call in ns, and a checksum of the answers, which must be equal in both builds.

#![forbid(unsafe_code)]

#[path = "../../kit/src/random.rs"]
#[allow(dead_code, reason = "the other benchmarks use the rest")]
mod random;
#[path = "../../kit/src/urls.rs"]
#[allow(dead_code, reason = "the other benchmarks use the rest")]
mod urls;

use std::collections::HashMap;
use std::hint::black_box;
use std::time::Instant;

use axum::Router;
use axum::body::Body;
use axum::extract::{Path, Query};
use axum::http::Request;
use axum::routing::get;
use futures_executor::block_on;
use tower_service::Service;
use url::Url;

use random::Random;
use urls::Urls;

const DISTINCT: usize = 5_000;
const ROUNDS: usize = 9;

/// Times `one` on all `inputs`, and prints the row `name`. The checksum is the sum of the results of `one`.
fn row<T>(name: &str, inputs: &[T], mut one: impl FnMut(&T) -> usize) {
    let mut best = f64::INFINITY;
    let mut sum = 0usize;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        sum = inputs.iter().map(|input| black_box(one(black_box(input)))).sum();
        best = best.min(start.elapsed().as_nanos() as f64 / inputs.len() as f64);
    }
    println!("{name}\t{best}\t{sum}");
}

/// Escapes all bytes except letters and digits, without the crate that is measured.
fn escaped(text: &str) -> String {
    let escape = |byte: u8| match byte.is_ascii_alphanumeric() {
        true => char::from(byte).to_string(),
        false => format!("%{byte:02X}"),
    };
    text.bytes().map(escape).collect()
}

/// Returns text of `letters` characters: spaces and Cyrillic letters, which have two bytes each.
fn words(random: &mut Random, letters: usize) -> String {
    (0..letters)
        .map(|_| match random.below(7) {
            0 => ' ',
            _ => char::from_u32(0x430 + random.below(32) as u32).unwrap(),
        })
        .collect()
}

/// Sends a request to the router, and returns a checksum of the answer, which is the decoded text.
fn serve(router: &mut Router, uri: &str) -> usize {
    let request = Request::get(uri).body(Body::empty()).unwrap();
    let response = block_on(router.call(request)).unwrap();
    assert!(response.status().is_success(), "{uri}");
    let bytes = block_on(axum::body::to_bytes(response.into_body(), usize::MAX)).unwrap();
    bytes.len() + usize::from(bytes.first().copied().unwrap_or(0))
}

fn main() {
    let random = &mut Random::new(1);
    let urls = Urls::new(1).distinct(DISTINCT);
    let urls: Vec<String> = urls.into_iter().filter(|url| Url::parse(url).is_ok()).collect();
    let texts: Vec<String> = (0..DISTINCT).map(|_| words(random, 40)).collect();
    let wild: Vec<String> =
        texts.iter().map(|text| format!("https://example.org/{text}?q={text}#{text}")).collect();
    let parsed: Vec<Url> = wild.iter().map(|url| Url::parse(url).unwrap()).collect();
    let redirects: Vec<Url> = urls
        .iter()
        .map(|url| Url::parse(&format!("https://example.org/login?next={}&lang=en", escaped(url))).unwrap())
        .collect();

    row("url: Url::parse, generated URLs", &urls, |url| Url::parse(url).unwrap().as_str().len());
    row("url: Url::parse, 40 Cyrillic letters in path, query and fragment", &wild, |url| {
        Url::parse(url).unwrap().as_str().len()
    });
    row("url: query_pairs, a URL in a parameter", &redirects, |url| {
        url.query_pairs().map(|(name, value)| name.len() + value.len()).sum()
    });
    row("url: query_pairs, 40 Cyrillic letters", &parsed, |url| {
        url.query_pairs().map(|(name, value)| name.len() + value.len()).sum()
    });
    row("url: append_pair, a URL as a parameter", &urls, |url| {
        let mut login = Url::parse("https://example.org/login").unwrap();
        login.query_pairs_mut().append_pair("next", url);
        login.as_str().len()
    });
    row("serde_urlencoded: to a vector of pairs, a URL in a parameter", &redirects, |url| {
        serde_urlencoded::from_str::<Vec<(String, String)>>(url.query().unwrap()).unwrap()[0].1.len()
    });

    let queries: Vec<&str> = redirects.iter().filter_map(Url::query).collect();
    let count = |form: &str| {
        form_urlencoded::parse(form.as_bytes()).map(|(name, value)| name.len() + value.len()).sum()
    };
    row("form_urlencoded: parse, a URL in a parameter", &queries, |query| count(query));
    let plain: Vec<String> =
        (0..DISTINCT).map(|index| format!("page={index}&sort=up&limit=20&exact")).collect();
    row("form_urlencoded: parse, four short parameters", &plain, |form| count(form));
    let append = |value: &String| {
        form_urlencoded::Serializer::new(String::new())
            .append_pair("next", value)
            .append_pair("lang", "en")
            .finish()
            .len()
    };
    row("form_urlencoded: append_pair, a URL as a parameter", &urls, append);
    row("form_urlencoded: append_pair, 40 Cyrillic letters", &texts, append);
    let names: Vec<String> = (0..DISTINCT).map(|index| format!("report {index}")).collect();
    row("form_urlencoded: append_pair, 12 letters and a space", &names, append);
    row("form_urlencoded: byte_serialize to a String, a URL", &urls, |url| {
        form_urlencoded::byte_serialize(url.as_bytes()).collect::<String>().len()
    });

    row("urlencoding: encode, a URL", &urls, |url| urlencoding::encode(url).len());
    row("urlencoding: encode, 40 Cyrillic letters", &texts, |text| urlencoding::encode(text).len());
    row("urlencoding: encode, 12 letters and a space", &names, |name| urlencoding::encode(name).len());
    row("urlencoding: Encoded in format!, a URL", &urls, |url| {
        format!("?q={}", urlencoding::Encoded(url)).len()
    });
    let escaped_urls: Vec<String> = urls.iter().map(|url| escaped(url)).collect();
    let escaped_texts: Vec<String> = texts.iter().map(|text| escaped(text)).collect();
    row("urlencoding: decode, a URL", &escaped_urls, |text| urlencoding::decode(text).unwrap().len());
    row("urlencoding: decode, 40 Cyrillic letters", &escaped_texts, |text| {
        urlencoding::decode(text).unwrap().len()
    });
    row("urlencoding: decode, nothing escaped", &plain, |url| urlencoding::decode(url).unwrap().len());

    let mut router =
        Router::new()
            .route("/file/{name}", get(|Path(name): Path<String>| async { name }))
            .route(
                "/login",
                get(|Query(mut query): Query<HashMap<String, String>>| async move {
                    query.remove("next").unwrap()
                }),
            )
            .route("/plain", get(|| async { "a" }));
    let name: Vec<String> = (0..DISTINCT).map(|index| format!("/file/report-{index}")).collect();
    let path: Vec<String> = texts.iter().map(|text| format!("/file/{}", escaped(text))).collect();
    let login: Vec<String> = urls.iter().map(|url| format!("/login?next={}", escaped(url))).collect();
    let plain = vec!["/plain"; DISTINCT];
    row("axum: a request without parameters", &plain, |uri| serve(&mut router, uri));
    row("axum: Path<String>, a plain name", &name, |uri| serve(&mut router, uri));
    row("axum: Path<String>, 40 Cyrillic letters", &path, |uri| serve(&mut router, uri));
    row("axum: Query, a URL in a parameter", &login, |uri| serve(&mut router, uri));
}
