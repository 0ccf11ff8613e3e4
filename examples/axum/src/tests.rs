//! Tests the responses of the server without a network, and the layer in front of a file server that reads paths in its own way.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::{StatusCode, header};
use axum::routing::any;
use tower_service::Service;

use super::{app, guarded};

/// Requests `targets` one after the other, and returns the status, the target of a redirect and the text of each response.
async fn ask<const N: usize>(targets: [&str; N]) -> [(StatusCode, String, String); N] {
    let mut app = guarded(app());
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

/// Each line has a target, and the status and text of the response. `/echo` answers with the path that it got.
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

/// Python's file server on the loopback interface, with the file `admin/secret`.
struct FileServer {
    process: Child,
    address: SocketAddr,
}

impl FileServer {
    fn start() -> FileServer {
        let root = std::env::temp_dir().join(format!("axum-example-{}", std::process::id()));
        fs::create_dir_all(root.join("admin")).unwrap();
        fs::write(root.join("admin/secret"), "secret\n").unwrap();
        fs::write(root.join("news"), "news\n").unwrap();
        let mut process = Command::new("python3")
            .args(["-u", "-m", "http.server", "0", "--bind", "127.0.0.1", "--directory"])
            .arg(root)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("python3 can be started");
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        // The line is "Serving HTTP on 127.0.0.1 port 40000 (http://127.0.0.1:40000/) ...".
        let port = line.split(' ').skip_while(|word| *word != "port").nth(1).unwrap().parse().unwrap();
        FileServer { process, address: ([127, 0, 0, 1], port).into() }
    }
}

impl Drop for FileServer {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        let root = std::env::temp_dir().join(format!("axum-example-{}", std::process::id()));
        let _ = fs::remove_dir_all(root);
    }
}

/// Requests `target` from a server, and returns the status and the body of the response.
fn request(address: SocketAddr, target: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    write!(stream, "GET {target} HTTP/1.0\r\nHost: localhost\r\n\r\n").unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).unwrap();
    let (head, body) = response.split_once("\r\n\r\n").unwrap();
    (head.split(' ').nth(1).unwrap().parse().unwrap(), body.to_owned())
}

/// Returns a gateway that forbids `/admin`, and passes all other targets on to `back` unchanged.
fn gateway(back: SocketAddr) -> Router {
    let held = || async { StatusCode::FORBIDDEN };
    let pass_on = move |request: Request| async move {
        let target = request.uri().path_and_query().unwrap().to_string();
        let (status, body) = tokio::task::spawn_blocking(move || self::request(back, &target)).await.unwrap();
        (StatusCode::from_u16(status).unwrap(), body)
    };
    Router::new().route("/admin", any(held)).route("/admin/{*rest}", any(held)).fallback(pass_on)
}

async fn serve(app: Router) -> SocketAddr {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(axum::serve(listener, app).into_future());
    address
}

/// The gateway routes on the raw path. The file server gets this path, decodes it and removes dot segments. Each line has a target, and
/// the status without and with the layer [`read_alike`].
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_target_gets_past_the_rule_of_the_gateway() {
    let files = FileServer::start();
    let open = serve(gateway(files.address)).await;
    let closed = serve(guarded(gateway(files.address))).await;
    for (target, without, with) in [
        ("/news", 200, 200),
        ("/n%65ws", 200, 200),
        ("/admin/secret", 403, 403),
        ("/x/../admin/secret", 200, 403),
        ("/%61dmin/secret", 200, 403),
        ("//admin/secret", 200, 403),
        ("/x/%2e%2e/admin/secret", 200, 403),
        ("/admin%2Fsecret", 200, 400),
        ("/x%2F..%2Fadmin/secret", 200, 400),
        ("/admin;/secret", 404, 400),
    ] {
        let ask = |address| tokio::task::spawn_blocking(move || request(address, target));
        let (found, body) = ask(open).await.unwrap();
        assert_eq!((found, body == "secret\n"), (without, without != with && without == 200), "{target}");
        assert_eq!(ask(closed).await.unwrap().0, with, "{target} with the layer");
    }
}
