//! Tests the responses of the server, without a network.

use axum::body::{Body, to_bytes};
use axum::http::{Request, StatusCode, header};
use tower_service::Service;

use super::guarded;

/// Requests `targets` one after the other, and returns the status, the target of a redirect and the text of each response.
async fn ask<const N: usize>(targets: [&str; N]) -> [(StatusCode, String, String); N] {
    let mut app = guarded();
    let mut responses = Vec::new();
    for target in targets {
        let request = Request::get(target).body(Body::empty()).unwrap();
        let response = app.call(request).await.unwrap();
        let location =
            response.headers().get(header::LOCATION).map_or("", |value| value.to_str().unwrap()).to_owned();
        let status = response.status();
        let bytes = to_bytes(response.into_body(), usize::MAX).await.unwrap();
        responses.push((status, location, String::from_utf8(bytes.to_vec()).unwrap()));
    }
    responses.try_into().unwrap()
}

#[tokio::test]
async fn malformed_escapes_are_rejected_before_handlers_run() {
    for target in ["/search?q=100%", "/search?q=%4", "/login?user=%zz", "/search?%0g"] {
        let [(status, ..)] = ask([target]).await;
        assert_eq!(status, StatusCode::BAD_REQUEST, "{target}");
    }
}

#[tokio::test]
async fn equivalent_targets_have_one_answer() {
    let responses =
        ask(["/search?q=%7eann+caf%c3%a9", "/search?q=~ann+caf%C3%A9", "/search?q=%7Eann+caf%C3%a9"]).await;
    for (status, _, text) in responses {
        assert_eq!((status, text.as_str()), (StatusCode::OK, "9 characters\n"));
    }
}

#[tokio::test]
async fn a_name_cannot_leave_its_argument() {
    let [(status, location, _)] = ask(["/login?user=a%26admin=1%0d%0aSet-Cookie:+x%23"]).await;
    assert_eq!(status, StatusCode::SEE_OTHER);
    assert_eq!(location, "/home?user=a%26admin%3D1%0D%0ASet-Cookie%3A%20x%23");
}

/// Each line has a target, the status, and the path that the handler gets.
#[tokio::test]
async fn paths_that_servers_read_differently_are_rejected_or_rewritten() {
    for (target, status, path) in [
        ("/echo/a/b", 200, "/echo/a/b"),
        ("/echo//a/./%7Eb", 200, "/echo/a/~b"),
        ("/echo/caf%c3%a9%20", 200, "/echo/caf%C3%A9%20"),
        ("/x/../echo/a", 200, "/echo/a"),
        ("/x/../admin", 403, "not for you\n"),
        ("/%61dmin", 403, "not for you\n"),
        ("/echo/..;/admin", 400, "in the path: a path parameter\n"),
        ("/echo/..%2fadmin", 400, "in the path: an escape that is not allowed\n"),
        ("/echo/%252e", 400, "in the path: an escape that is escaped again\n"),
        ("/echo/%ff", 400, "in the path: not UTF-8\n"),
        ("/../admin", 400, "in the path: a dot segment above the root\n"),
    ] {
        let [(found, _, text)] = ask([target]).await;
        assert_eq!((found.as_u16(), text.as_str()), (status, path), "{target}");
    }
}
