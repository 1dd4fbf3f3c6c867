//! A client's socket, plain or under TLS.

use crate::certificate::{self, Certificate};
use crate::runtime::{Aside, Socket};
use crate::sync::locked;
use rustix::fd::{AsFd, BorrowedFd};
use rustls::{CipherSuite, ProtocolVersion};
use socket2::{SockRef, TcpKeepalive};
use sql::{Encryption, SocketTimes};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::{Arc, Mutex, Weak};
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_rustls::server::TlsStream;

/// The socket.
#[derive(Debug)]
pub enum Stream {
    /// TCP or a Unix socket.
    Plain(Socket),
    /// TCP under TLS.
    Tls(Arc<Mutex<TlsStream<Socket>>>),
}

/// Sends beside a [`Stream`], while the task that has it is deep in something else.
#[derive(Debug)]
pub enum Outlet {
    /// TCP or a Unix socket.
    Plain(Aside),
    /// TCP under TLS.
    Tls(Weak<Mutex<TlsStream<Socket>>>),
}

impl Outlet {
    /// Whether the client has taken all so far, as far as that is known.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        match self {
            Outlet::Plain(socket) => socket.is_ready(),
            Outlet::Tls(_) => true,
        }
    }

    /// Sends what the connection takes now; how many bytes that were.
    pub fn send(&self, bytes: &[u8]) -> usize {
        let stream = match self {
            Outlet::Plain(socket) => {
                socket.send(bytes);
                return bytes.len();
            }
            Outlet::Tls(stream) => stream.upgrade(),
        };
        let Some(stream) = stream else { return 0 };
        let (mut stream, mut sent) = (locked(&stream), 0);
        // Nobody is woken: the connection writes again when the statement has ended.
        let mut context = Context::from_waker(Waker::noop());
        while sent < bytes.len()
            && let Poll::Ready(Ok(taken)) =
                Pin::new(&mut *stream).poll_write(&mut context, &bytes[sent..])
            && taken > 0
        {
            sent += taken;
        }
        let _ = Pin::new(&mut *stream).poll_flush(&mut context);
        sent
    }
}

/// Cipher suites as rustls and as OpenSSL call them, with the length of their keys.
const SUITES: [(CipherSuite, &str, i32); 9] = [
    (CipherSuite::TLS13_AES_256_GCM_SHA384, "TLS_AES_256_GCM_SHA384", 256),
    (CipherSuite::TLS13_AES_128_GCM_SHA256, "TLS_AES_128_GCM_SHA256", 128),
    (CipherSuite::TLS13_CHACHA20_POLY1305_SHA256, "TLS_CHACHA20_POLY1305_SHA256", 256),
    (CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, "ECDHE-ECDSA-AES256-GCM-SHA384", 256),
    (CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, "ECDHE-ECDSA-AES128-GCM-SHA256", 128),
    (
        CipherSuite::TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256,
        "ECDHE-ECDSA-CHACHA20-POLY1305",
        256,
    ),
    (CipherSuite::TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384, "ECDHE-RSA-AES256-GCM-SHA384", 256),
    (CipherSuite::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256, "ECDHE-RSA-AES128-GCM-SHA256", 128),
    (CipherSuite::TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256, "ECDHE-RSA-CHACHA20-POLY1305", 256),
];

impl Stream {
    /// Under TLS.
    #[must_use]
    pub fn protected(stream: TlsStream<Socket>) -> Stream {
        Stream::Tls(Arc::new(Mutex::new(stream)))
    }

    /// A way to send while who has the stream is deep in something else.
    #[must_use]
    pub fn outlet(&self) -> Outlet {
        match self {
            Stream::Plain(socket) => Outlet::Plain(socket.aside()),
            Stream::Tls(stream) => Outlet::Tls(Arc::downgrade(stream)),
        }
    }

    fn with_socket<T>(&self, look: impl FnOnce(&Socket) -> T) -> T {
        match self {
            Stream::Plain(socket) => look(socket),
            Stream::Tls(stream) => look(locked(stream).get_ref().0),
        }
    }

    /// What the socket does by itself; none if it does not say so.
    #[must_use]
    pub fn times(&self) -> Option<SocketTimes> {
        self.with_socket(Stream::times_of)
    }

    fn times_of(socket: &Socket) -> Option<SocketTimes> {
        let socket = SockRef::from(socket);
        let seconds = |time: Duration| i64::try_from(time.as_secs()).unwrap_or(i64::MAX);
        let unconfirmed = socket.tcp_user_timeout().ok()?.map_or(0, |time| time.as_millis());
        Some(SocketTimes {
            keepalives_idle_s: seconds(socket.tcp_keepalive_time().ok()?),
            keepalives_interval_s: seconds(socket.tcp_keepalive_interval().ok()?),
            keepalives_count: i64::from(socket.tcp_keepalive_retries().ok()?),
            user_timeout_ms: i64::try_from(unconfirmed).unwrap_or(i64::MAX),
        })
    }

    /// Has the socket do this by itself. One that cannot be tuned still works.
    pub fn tune(&self, times: SocketTimes) {
        self.with_socket(|socket| Stream::tune_socket(socket, times));
    }

    fn tune_socket(socket: &Socket, times: SocketTimes) {
        let socket = SockRef::from(socket);
        let seconds = |seconds: i64| Duration::from_secs(seconds.unsigned_abs());
        let keep = TcpKeepalive::new()
            .with_time(seconds(times.keepalives_idle_s))
            .with_interval(seconds(times.keepalives_interval_s))
            .with_retries(u32::try_from(times.keepalives_count).unwrap_or(0));
        let _ = socket.set_tcp_keepalive(&keep);
        let unconfirmed = Duration::from_millis(times.user_timeout_ms.unsigned_abs());
        let _ = socket.set_tcp_user_timeout(Some(unconfirmed));
    }

    /// How the connection is protected; none for one that is not.
    #[must_use]
    pub fn encryption(&self) -> Option<Encryption> {
        let Stream::Tls(stream) = self else { return None };
        let certificate = self.certificate().map(|certificate| certificate.shown);
        let stream = locked(stream);
        let (_, connection) = stream.get_ref();
        let version = match connection.protocol_version()? {
            ProtocolVersion::TLSv1_2 => "TLSv1.2",
            ProtocolVersion::TLSv1_3 => "TLSv1.3",
            _ => "unknown",
        };
        let suite = connection.negotiated_cipher_suite()?.suite();
        let known = SUITES.iter().find(|known| known.0 == suite);
        let (cipher, bits) = known.map_or(("unknown", 0), |known| (known.1, known.2));
        Some(Encryption { version, cipher, bits, certificate })
    }

    /// The certificate that the client has shown; a known authority has signed it.
    #[must_use]
    pub fn certificate(&self) -> Option<Certificate> {
        let Stream::Tls(stream) = self else { return None };
        let stream = locked(stream);
        let chain = stream.get_ref().1.peer_certificates()?;
        certificate::read(chain.first()?)
    }

    /// The socket itself, of which the system knows whose it is: TLS is for those of which it does not.
    #[must_use]
    pub fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        match self {
            Stream::Plain(socket) => Some(socket.as_fd()),
            Stream::Tls(_) => None,
        }
    }
}

/// Where a client comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// Its address; none for a Unix socket.
    pub client: Option<SocketAddr>,
    /// The address it reached.
    pub local: Option<SocketAddr>,
    /// Whether TLS protects the connection.
    pub tls: bool,
}

impl Origin {
    /// The client's address, an IPv4 one as such also where it came by IPv6; none for a Unix socket.
    #[must_use]
    pub fn client_ip(&self) -> Option<IpAddr> {
        self.client.map(|client| client.ip().to_canonical())
    }
}

impl AsyncRead for Stream {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Stream::Plain(stream) => Pin::new(stream).poll_read(context, buffer),
            Stream::Tls(stream) => Pin::new(&mut *locked(stream)).poll_read(context, buffer),
        }
    }
}

impl AsyncWrite for Stream {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Stream::Plain(stream) => Pin::new(stream).poll_write(context, bytes),
            Stream::Tls(stream) => Pin::new(&mut *locked(stream)).poll_write(context, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Stream::Plain(stream) => Pin::new(stream).poll_flush(context),
            Stream::Tls(stream) => Pin::new(&mut *locked(stream)).poll_flush(context),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Stream::Plain(stream) => Pin::new(stream).poll_shutdown(context),
            Stream::Tls(stream) => Pin::new(&mut *locked(stream)).poll_shutdown(context),
        }
    }
}
