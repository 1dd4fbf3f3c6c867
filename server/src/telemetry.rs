//! What the server tells its operator: the log, and metrics for a scraper.
//!
//! The log goes to standard error, one line an event, as text or (`log_destination = 'jsonlog'`) as JSON, at the level
//! of `log_min_messages`. Metrics are served as Prometheus text at `/metrics` of the address `atoll.metrics_listen`, off
//! by default; `/healthz` answers as long as the desk does.

use crate::config::Config;
use crate::server::Server;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::fmt;

/// The largest request of a scraper, in bytes.
const REQUEST_BYTES: usize = 8192;
/// How long a scraper may take.
const REQUEST_TIME: Duration = Duration::from_secs(5);

/// The least severe events that `log_min_messages` lets through.
fn level(config: &Config) -> LevelFilter {
    match config.text("log_min_messages") {
        "debug5" => LevelFilter::TRACE,
        "debug4" | "debug3" | "debug2" | "debug1" | "debug" => LevelFilter::DEBUG,
        // PostgreSQL ranks LOG, as which it logs its own events, above all of these.
        "info" | "notice" | "warning" | "error" | "log" => LevelFilter::INFO,
        _ => LevelFilter::ERROR,
    }
}

/// Begins to log.
pub fn log_to_stderr(config: &Config) {
    let log = fmt().with_max_level(level(config)).with_writer(std::io::stderr).with_target(false);
    let json = config.list("log_destination").iter().any(|place| place == "jsonlog");
    // A program that has begun to log already (a test) goes on as it did.
    let _ = if json { log.json().try_init() } else { log.with_ansi(false).try_init() };
}

/// Logs that a session waits long for a lock, or has got it.
pub fn log_lock_wait(wait: &sql::LockWait) {
    let (message, detail) = sql::error::lock_wait_message(wait);
    match detail {
        Some(detail) => tracing::info!(detail, "{message}"),
        None => tracing::info!("{message}"),
    }
}

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
