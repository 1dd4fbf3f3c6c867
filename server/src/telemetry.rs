//! What the server tells its operator beside the log: metrics for a scraper, served as Prometheus text at `/metrics` of the
//! address `atoll.metrics_listen`, off by default; `/healthz` answers as long as the desk does.

use crate::server::Server;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// The largest request of a scraper, in bytes.
const REQUEST_BYTES: usize = 8192;
/// How long a scraper may take.
const REQUEST_TIME: Duration = Duration::from_secs(5);

/// Answers scrapers.
pub async fn serve_metrics(server: Arc<Server>, listener: TcpListener) {
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(Duration::from_millis(100)).await;
            continue;
        };
        let server = Arc::clone(&server);
        tokio::spawn(async move {
            // A scraper that is slow or gone asks again.
            let _ = tokio::time::timeout(REQUEST_TIME, scrape(&server, stream)).await;
        });
    }
}

async fn scrape(server: &Server, mut stream: TcpStream) -> std::io::Result<()> {
    let mut request = Vec::new();
    while !request.windows(4).any(|window| window == b"\r\n\r\n") {
        let mut chunk = [0; 1024];
        let bytes = stream.read(&mut chunk).await?;
        if bytes == 0 || request.len() + bytes > REQUEST_BYTES {
            return Ok(());
        }
        request.extend_from_slice(&chunk[..bytes]);
    }
    let line = request.split(|&byte| byte == b'\r').next().unwrap_or_default();
    let (status, body) = match line {
        line if line.starts_with(b"GET /metrics ") => ("200 OK", server.metrics()),
        line if line.starts_with(b"GET /healthz ") => ("200 OK", "ok\n".to_owned()),
        _ => ("404 Not Found", "not found\n".to_owned()),
    };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n\
         Content-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).await?;
    stream.write_all(body.as_bytes()).await?;
    stream.shutdown().await
}
