//! Listening: TCP addresses and Unix sockets, and the first packet of each connection.
//!
//! The desk accepts and reads one packet, so that a cancel request is carried out even while no worker is free, and a
//! client that connects and says nothing holds nothing of the workers. Everything else goes to them with that packet.
//! Connections that have not yet said who they are are bounded in number too.

use crate::auth::Refused;
use crate::config::{Config, SOCKET_FOLDERS};
use crate::log;
use crate::peer::too_many_clients;
use crate::respond;
use crate::runtime::Runtime;
use crate::server::Server;
use crate::session::{read_packet, serve};
use crate::start_error::StartError;
use crate::startup::{self, First};
use crate::stream::{Origin, Stream};
use crate::unix_socket::SocketFile;
use socket2::Socket as SystemSocket;
use socket2::{Domain, Protocol, SockRef, Socket, TcpKeepalive, Type};
use sql::Severity;
use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UnixListener, UnixStream};

/// Connections that may wait to be accepted.
const BACKLOG: i32 = 1024;
/// How long to rest when the system has no file left for another connection.
const EXHAUSTED: Duration = Duration::from_millis(100);
/// How many clients beyond those that may start up are told at once that there are too many.
const TURNED_AWAY_MAX: usize = 1000;
/// Requests for TLS and for GSS encryption, and the start-up message.
const STARTUP_PACKETS_MAX: usize = 3;

/// What the server listens on.
#[derive(Debug)]
pub struct Listeners {
    tcp: Vec<std::net::TcpListener>,
    unix: Vec<std::os::unix::net::UnixListener>,
    files: Vec<SocketFile>,
    places: Vec<String>,
    metrics: Option<std::net::TcpListener>,
}

fn listen(address: SocketAddr) -> io::Result<std::net::TcpListener> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    socket.set_reuse_address(true)?;
    if address.is_ipv6() {
        socket.set_only_v6(true)?;
    }
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    socket.set_nonblocking(true)?;
    Ok(socket.into())
}

impl Listeners {
    /// Opens what `config` names.
    ///
    /// # Errors
    /// Nothing can be listened on, or not what was asked for by name.
    pub fn open(config: &Config, data: &Path) -> Result<Listeners, StartError> {
        let port = config.integer("port");
        let mut listeners =
            Listeners { tcp: vec![], unix: vec![], files: vec![], places: vec![], metrics: None };
        for host in config.list("listen_addresses") {
            listeners.listen_at(&host, port)?;
        }
        let mode = config.integer("unix_socket_permissions") as u32;
        for folder in &config.socket_folders {
            match SocketFile::listen(folder, port, data, mode) {
                Ok((file, listener)) => {
                    let set = listener.set_nonblocking(true);
                    set.map_err(|error| format!("could not set up a socket: {error}"))?;
                    listeners.places.push(format!("{}/.s.PGSQL.{port}", folder.display()));
                    listeners.files.push(file);
                    listeners.unix.push(listener);
                }
                Err(error) => {
                    let folder = folder.display();
                    let message =
                        format!("could not create a Unix-domain socket in \"{folder}\": {error}");
                    if config.is_set(SOCKET_FOLDERS) {
                        return Err(message.into());
                    }
                    tracing::warn!("{message}");
                }
            }
        }
        if listeners.tcp.is_empty() && listeners.unix.is_empty() {
            return Err("no socket created for listening".to_owned().into());
        }
        let address = config.text("atoll.metrics_listen");
        if !address.is_empty() {
            let parsed: SocketAddr = address
                .parse()
                .map_err(|_| format!("atoll.metrics_listen is no address: \"{address}\""))?;
            let listener = listen(parsed)
                .map_err(|error| format!("could not listen on {parsed} for metrics: {error}"))?;
            listeners.metrics = Some(listener);
        }
        Ok(listeners)
    }

    fn listen_at(&mut self, host: &str, port: i64) -> Result<(), StartError> {
        let port = u16::try_from(port).unwrap_or_default();
        let addresses: Vec<SocketAddr> = match host {
            "*" => vec![([0, 0, 0, 0], port).into(), ([0u16; 8], port).into()],
            host => (host.trim_matches(['[', ']']), port)
                .to_socket_addrs()
                .map_err(|error| format!("could not translate host name \"{host}\": {error}"))?
                .collect(),
        };
        let before = self.tcp.len();
        let mut last = None;
        for address in addresses {
            match listen(address) {
                Ok(listener) => {
                    let bound = listener.local_addr().unwrap_or(address);
                    self.places.push(bound.to_string());
                    self.tcp.push(listener);
                }
                Err(error) => last = Some((address, error)),
            }
        }
        match last {
            // A machine without IPv6 has a localhost all the same.
            Some((address, error)) if self.tcp.len() == before => {
                let hint = match error.kind() {
                    io::ErrorKind::AddrInUse => format!(
                        "\nHINT:  Is another server already running on port {port}? If not, wait a few seconds and \
                         retry, or choose another with --listen."
                    ),
                    _ => String::new(),
                };
                Err(StartError(format!("could not listen on {address}: {error}{hint}")))
            }
            _ => Ok(()),
        }
    }

    /// Where it listens, in words.
    #[must_use]
    pub fn places(&self) -> String {
        self.places.join(", ")
    }
}

/// Begins to accept. The socket files are removed when what is returned is dropped.
///
/// # Errors
/// The runtime cannot take a socket.
pub fn take(
    listeners: Listeners,
    server: &Arc<Server>,
    workers: &Arc<Runtime>,
) -> io::Result<Vec<SocketFile>> {
    let desk = Arc::new(Desk {
        server: Arc::clone(server),
        workers: Arc::clone(workers),
        greeted: AtomicUsize::new(0),
    });
    for listener in listeners.tcp {
        let listener = TcpListener::from_std(listener)?;
        tokio::spawn(accept_tcp(Arc::clone(&desk), listener));
    }
    for listener in listeners.unix {
        let listener = UnixListener::from_std(listener)?;
        tokio::spawn(accept_unix(Arc::clone(&desk), listener));
    }
    if let Some(listener) = listeners.metrics {
        let listener = TcpListener::from_std(listener)?;
        tokio::spawn(crate::telemetry::serve_metrics(Arc::clone(server), listener));
    }
    Ok(listeners.files)
}

struct Desk {
    server: Arc<Server>,
    workers: Arc<Runtime>,
    /// Connections whose first packet has not yet come.
    greeted: AtomicUsize,
}

/// A socket that the desk has accepted, and the workers take over.
trait Accepted: AsyncRead + AsyncWrite + Send + Unpin + 'static {
    fn release(self) -> io::Result<SystemSocket>;
}

impl Accepted for TcpStream {
    fn release(self) -> io::Result<SystemSocket> {
        self.into_std().map(SystemSocket::from)
    }
}

impl Accepted for UnixStream {
    fn release(self) -> io::Result<SystemSocket> {
        self.into_std().map(SystemSocket::from)
    }
}

async fn accept_tcp(desk: Arc<Desk>, listener: TcpListener) {
    loop {
        match listener.accept().await {
            Ok((stream, client)) => {
                let config = desk.server.config();
                // A socket that cannot be tuned still works.
                let _ = stream.set_nodelay(true);
                let _ = keep_alive(&stream, &config);
                log_received(&config, Some(client));
                let local = stream.local_addr().ok();
                let origin = Origin { client: Some(client), local, tls: false };
                Desk::receive(&desk, stream, origin);
            }
            Err(error) => rest(&error).await,
        }
    }
}

async fn accept_unix(desk: Arc<Desk>, listener: UnixListener) {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                log_received(&desk.server.config(), None);
                Desk::receive(&desk, stream, Origin::default());
            }
            Err(error) => rest(&error).await,
        }
    }
}

/// `log_connections`: somebody is there, whoever it is.
fn log_received(config: &Config, client: Option<SocketAddr>) {
    if !config.is_on("log_connections") {
        return;
    }
    let from = match client {
        Some(client) => format!("host={} port={}", client.ip(), client.port()),
        None => "host=[local]".to_owned(),
    };
    let session = log::Session::of_client(std::process::id(), ("", ""), client);
    let around = log::Around { session: Some(&session), ..Default::default() };
    log::write(&log::notice(Severity::Log, format!("connection received: {from}")), around);
}

async fn rest(error: &io::Error) {
    tracing::warn!(%error, "could not accept a connection");
    tokio::time::sleep(EXHAUSTED).await;
}

fn keep_alive(stream: &TcpStream, config: &Config) -> io::Result<()> {
    let mut keep = TcpKeepalive::new();
    let seconds = |name| Duration::from_secs(config.integer(name).unsigned_abs());
    if !seconds("tcp_keepalives_idle").is_zero() {
        keep = keep.with_time(seconds("tcp_keepalives_idle"));
    }
    if !seconds("tcp_keepalives_interval").is_zero() {
        keep = keep.with_interval(seconds("tcp_keepalives_interval"));
    }
    SockRef::from(stream).set_tcp_keepalive(&keep)
}

impl Desk {
    /// Reads the first packet of a connection, in a task of its own.
    fn receive(desk: &Arc<Desk>, stream: impl Accepted, origin: Origin) {
        let desk = Arc::clone(desk);
        tokio::spawn(async move {
            let config = desk.server.config();
            let limit = Duration::from_secs(config.integer("authentication_timeout") as u64);
            let waiting = desk.greeted.fetch_add(1, Ordering::Relaxed);
            // Twice max_connections may start up at once; the others are told that there are too many (`CAC_TOOMANY`), for
            // as many as that takes no memory to speak of.
            let most = 2 * config.integer("max_connections").unsigned_abs() as usize;
            drop(config);
            if waiting < most {
                // One that says nothing in time is not told why: it may not even speak this protocol.
                let _ = tokio::time::timeout(limit, desk.first_packet(stream, origin)).await;
            } else if waiting < most + TURNED_AWAY_MAX {
                let _ = tokio::time::timeout(limit, desk.turn_away(stream)).await;
            }
            desk.greeted.fetch_sub(1, Ordering::Relaxed);
        });
    }

    /// Tells a client that there are too many, as soon as it has said what it wants.
    async fn turn_away(&self, mut stream: impl Accepted) {
        self.server.counters.refused();
        for _ in 0..STARTUP_PACKETS_MAX {
            let Ok(packet) = read_packet(&mut stream).await else { return };
            match startup::decode(&packet) {
                Ok(First::Tls | First::Gss) => {
                    if stream.write_all(b"N").await.is_err() {
                        return;
                    }
                }
                Ok(First::Cancel { pid, secret }) => {
                    self.server.peers.cancel(pid, &secret);
                    return;
                }
                Ok(First::Startup(_)) | Err(_) => break,
            }
        }
        let mut bytes = Vec::new();
        respond::report(&mut bytes, &too_many_clients());
        // A client that has gone need not read the answer.
        let _ = stream.write_all(&bytes).await;
        let _ = stream.shutdown().await;
    }

    async fn first_packet(&self, mut stream: impl Accepted, origin: Origin) {
        let packet = match read_packet(&mut stream).await {
            Ok(packet) => packet,
            Err(Refused::Gone(_)) => return,
            Err(Refused::Told(error)) => {
                self.server.counters.refused();
                let session = log::Session::of_client(std::process::id(), ("", ""), origin.client);
                log::write(&error, log::Around { session: Some(&session), ..Default::default() });
                let mut bytes = Vec::new();
                respond::report(&mut bytes, &error);
                // A client that sends nonsense need not read the answer.
                let _ = stream.write_all(&bytes).await;
                return;
            }
        };
        if let Ok(First::Cancel { pid, secret }) = startup::decode(&packet) {
            if !self.server.peers.cancel(pid, &secret) {
                tracing::info!(pid, "a cancel request named no session, or a wrong key");
            }
            return;
        }
        let server = Arc::clone(&self.server);
        let handed = stream.release().and_then(|socket| {
            self.workers
                .spawn(socket, |socket| serve(server, Stream::Plain(socket), origin, packet))
        });
        if let Err(error) = handed {
            tracing::warn!(%error, "could not take a connection over");
        }
    }
}
