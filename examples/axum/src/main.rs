//! A server that follows the advice of docs/servers.md and docs/readings.md. Before any handler runs, it rejects paths that servers read
//! differently, and before a handler that reads the query, malformed escapes. It uses normalized URLs as cache keys, and escapes the values
//! that it writes to redirects.
//!
//! ```sh
//! cargo run --release -- 127.0.0.1:8080
//! cargo run --release -- load       # sends requests to itself on the loopback interface, and prints the requests per second
//! ```

mod load;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::extract::{RawQuery, Request, State};
use axum::http::{StatusCode, Uri, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use simdpct::{Decode, Encode, TryDecode, sets};
use simdpct_readings::{Outcome, STRICT};

/// The cache: responses by normalized request target.
type Cache = Arc<Mutex<HashMap<Vec<u8>, String>>>;

/// The decoder of form data, in which `+` is a space.
const FORM: TryDecode = Decode::new().form().strict();

/// Returns the decoded value of the query parameter `name`, or `None` if the parameter is missing, has a malformed escape or is
/// not valid UTF-8.
fn parameter<'a>(query: &'a str, name: &str) -> Option<Cow<'a, str>> {
    let (_, value) = query
        .split('&')
        .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
        .find(|(found, _)| *found == name)?;
    FORM.decode_utf8(value).ok()
}

/// Rejects requests with a malformed escape in the target, which another server behind this one may read differently.
async fn well_formed(request: Request, next: Next) -> Response {
    let target = request.uri().path_and_query().map_or("", |target| target.as_str());
    match simdpct::validate(target) {
        Ok(()) => next.run(request).await,
        Err(error) => (StatusCode::BAD_REQUEST, format!("{error}\n")).into_response(),
    }
}

/// Rejects requests whose path servers route differently, and rewrites other paths to a form that all servers read alike: `//a/./%7Eb`
/// becomes `/a/~b`. So no request gets past a rule of this server because another server reads its path differently.
async fn read_alike(mut request: Request, next: Next) -> Response {
    let target = request.uri().path_and_query().map_or("", |target| target.as_str());
    let rewritten = match STRICT.read(target) {
        Outcome::Read { passed_on: Some(text), .. } if *text == *target.as_bytes() => {
            Ok(request.uri().clone())
        }
        Outcome::Read { passed_on: Some(text), .. } => Uri::try_from(&*text),
        Outcome::Rejected { reason, .. } => {
            return (StatusCode::BAD_REQUEST, format!("in the path: {reason}\n")).into_response();
        }
        _ => return StatusCode::BAD_REQUEST.into_response(),
    };
    let Ok(uri) = rewritten else { return StatusCode::BAD_REQUEST.into_response() };
    *request.uri_mut() = uri;
    next.run(request).await
}

/// Handles `/search?q=...`. The queries `q=%7Eann`, `q=~ann` and `q=%7eann` share an entry of the cache, because its key
/// is the normalized target.
async fn search(State(cache): State<Cache>, uri: Uri) -> String {
    let target = uri.path_and_query().map_or("", |target| target.as_str());
    let key = simdpct::normalize(target);
    let mut cache = cache.lock().expect("no handler panics");
    if let Some(answer) = cache.get(&*key) {
        return answer.clone();
    }
    let words = parameter(uri.query().unwrap_or(""), "q").unwrap_or_default();
    let answer = format!("{} characters\n", words.chars().count());
    if cache.len() < 10_000 {
        cache.insert(key.into_owned(), answer.clone());
    }
    answer
}

/// Handles `/login?user=...`. The user's text becomes the value of one parameter of a URL, and can neither end the value nor add
/// a header.
async fn login(RawQuery(query): RawQuery) -> impl IntoResponse {
    let user = parameter(query.as_deref().unwrap_or(""), "user").unwrap_or_default();
    let mut target = String::from("/home?user=");
    Encode::keeping(sets::RFC3986_UNRESERVED).encode_append(&*user, &mut target);
    (StatusCode::SEE_OTHER, [(header::LOCATION, target)])
}

fn app() -> Router {
    Router::new()
        .route("/search", get(search))
        .route("/login", get(login))
        .layer(middleware::from_fn(well_formed))
        .route("/plain", get(|| async { "14 characters\n" }))
        .route("/admin", get(|| async { (StatusCode::FORBIDDEN, "not for you\n") }))
        .route("/echo/{*path}", get(|uri: Uri| async move { uri.path().to_owned() }))
        .with_state(Cache::default())
}

/// Returns a router that calls [`read_alike`] before `app`. The layer is around `app`, because a layer inside a router
/// runs after the router has chosen the route.
fn guarded(app: Router) -> Router {
    Router::new().fallback_service(app).layer(middleware::from_fn(read_alike))
}

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let Some(address) = std::env::args().nth(1) else {
        eprintln!("usage: axum-example ADDRESS | load");
        std::process::exit(2);
    };
    if address == "load" {
        return load::run(guarded(app())).await;
    }
    let listener = tokio::net::TcpListener::bind(&address).await?;
    println!("listening on http://{}", listener.local_addr()?);
    axum::serve(listener, guarded(app())).await
}
