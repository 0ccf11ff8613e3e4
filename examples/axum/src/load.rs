//! Measures how many requests the server answers over the loopback interface.

use std::io;
use std::time::{Duration, Instant};

use axum::Router;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

const CONNECTIONS: usize = 8;
const TIME: Duration = Duration::from_secs(2);

/// Requests `target` repeatedly on one connection until the time `until`, and returns the number of requests.
async fn client(address: std::net::SocketAddr, target: String, until: Instant) -> io::Result<u64> {
    let mut stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    let request = format!("GET {target} HTTP/1.1\r\nHost: localhost\r\n\r\n");
    let mut buffer = vec![0; 64 * 1024];
    let mut requests = 0;
    while Instant::now() < until {
        stream.write_all(request.as_bytes()).await?;
        let mut len = 0;
        // A response is a head and one line of text, which ends with `characters`.
        while !buffer[..len].ends_with(b"characters\n") {
            match stream.read(&mut buffer[len..]).await? {
                0 => return Err(io::Error::other("the server closed the connection")),
                read => len += read,
            }
        }
        if !buffer.starts_with(b"HTTP/1.1 200") {
            return Err(io::Error::other("the server rejected a request"));
        }
        requests += 1;
    }
    Ok(requests)
}

/// Serves `app` and prints the number of requests per second for each kind of target.
pub async fn run(app: Router) -> io::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let server = tokio::spawn(axum::serve(listener, app).into_future());
    let targets = [
        ("no escape is looked at", "/plain".to_owned()),
        ("checked, normalized, cached: 40 bytes", "/search?q=%7eann+and+caf%c3%a9+au+lait%2C".to_owned()),
        ("the same: 2 KiB", format!("/search?q={}", "%7eann+and+caf%c3%a9+".repeat(100))),
    ];
    for (name, target) in targets {
        let until = Instant::now() + TIME;
        let clients: Vec<_> =
            (0..CONNECTIONS).map(|_| tokio::spawn(client(address, target.clone(), until))).collect();
        let mut requests = 0;
        for client in clients {
            requests += client.await.map_err(io::Error::other)??;
        }
        println!("{name:<45} {:>9.0} requests a second", requests as f64 / TIME.as_secs_f64());
    }
    server.abort();
    Ok(())
}
