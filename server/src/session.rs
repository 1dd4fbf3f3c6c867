//! A client from its first packet to its last: encryption, authentication, session, dialogue.
//!
//! Runs on a worker. All of it up to the session is bounded: in bytes by `startup.rs` and `auth.rs`, in time by
//! `authentication_timeout`, in number by the slots that `max_connections` allows.

use crate::auth::{Claimant, Refused};
use crate::backend::Live;
use crate::client_name;
use crate::connection::{Connection, Ended};
use crate::dialogue::{Dialogue, guarded};
use crate::hba::{CertificateName, ClientCertificate, Method, Request, Rule, UserMaps};
use crate::log;
use crate::peer::{Admitted, SECRET_BYTES};
use crate::respond;
use crate::server::Server;
use crate::startup::{self, First, Startup};
use crate::stream::{Origin, Stream};
use crate::system_user;
use bytes::BytesMut;
use pgwire::messages::Message;
use pgwire::messages::startup::{Authentication, NegotiateProtocolVersion};
use sql::sqlstate::SqlState;
use sql::{Connect, Severity, SqlError};
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};

/// What an idle session's buffers hold at least, in bytes each.
const BUFFER_BYTES: usize = 4096;
/// How long a client that is refused may take to take the message.
const LAST_WORDS: Duration = Duration::from_secs(1);

fn fatal(state: SqlState, message: impl Into<String>) -> SqlError {
    SqlError::new(state, message).severity(Severity::Fatal)
}

/// A client before it has a session.
struct Client {
    /// None once it is lost within a handshake.
    stream: Option<Stream>,
    origin: Origin,
    /// What goes before the next that it is told.
    greeting: BytesMut,
    /// Who it is for the log, as far as it has said.
    log: log::Session,
}

/// What a client is let in with.
struct Entry {
    admitted: Admitted,
    startup: Startup,
}

impl Client {
    fn stream(&mut self) -> io::Result<&mut Stream> {
        self.stream.as_mut().ok_or_else(|| io::ErrorKind::NotConnected.into())
    }

    async fn say(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut all = self.greeting.split();
        all.extend_from_slice(bytes);
        let stream = self.stream()?;
        stream.write_all(&all).await?;
        stream.flush().await
    }

    /// Tells it why it does not get in.
    async fn refuse(mut self, server: &Server, error: &SqlError) {
        server.counters.refused();
        let around = log::Around { session: Some(&self.log), tag: "startup", ..Default::default() };
        log::write(error, around);
        let mut bytes = Vec::new();
        respond::report(&mut bytes, error);
        let told = async {
            self.say(&bytes).await?;
            self.stream()?.shutdown().await
        };
        // A client that does not listen is not waited for.
        let _ = tokio::time::timeout(LAST_WORDS, told).await;
    }

    /// Ends a connection that wanted no session. Over TLS that is said: a client that only sees the end of the bytes
    /// takes it for an attack.
    async fn leave(mut self) {
        if let Ok(stream) = self.stream() {
            let _ = tokio::time::timeout(LAST_WORDS, stream.shutdown()).await;
        }
    }
}

/// Serves a client whose first packet has been read.
pub async fn serve(server: Arc<Server>, stream: Stream, origin: Origin, packet: Vec<u8>) {
    let log = log::Session::of_client(std::process::id(), ("", ""), origin.client);
    let mut client = Client { stream: Some(stream), origin, greeting: BytesMut::new(), log };
    let limit = Duration::from_secs(server.config().integer("authentication_timeout") as u64);
    let entry = match tokio::time::timeout(limit, admit(&server, &mut client, packet)).await {
        Ok(Ok(Some(entry))) => entry,
        Ok(Ok(None)) => return client.leave().await,
        Ok(Err(Refused::Gone(error))) => {
            tracing::debug!(%error, "a client has gone during its start-up");
            return;
        }
        Ok(Err(Refused::Told(error))) => return client.refuse(&server, &error).await,
        Err(_) => {
            let message = "canceling authentication due to timeout";
            let error = fatal(SqlState::QUERY_CANCELED, message);
            return client.refuse(&server, &error).await;
        }
    };
    let Entry { admitted, startup } = entry;
    let mut dialogue = match open(&server, &admitted, &startup, &client) {
        Ok(dialogue) => dialogue,
        Err(error) => {
            return client.refuse(&server, &error.severity(Severity::Fatal)).await;
        }
    };
    let Some(stream) = client.stream else { return };
    server.counters.connected();
    let config = server.config();
    dialogue.log = client.log;
    dialogue.speak_by(stream.outlet());
    let log_disconnections = config.is_on("log_disconnections");
    drop(config);
    let (ended, dialogue) = Connection::new(stream, dialogue, Stream::tune).run().await;
    match ended {
        Ended::Closed => {}
        Ended::Lost(error) => {
            let message = format!("connection to client lost: {error}");
            dialogue.log(&log::notice(Severity::Log, message));
        }
        Ended::Halted(error) => server.halt(&error),
    }
    if log_disconnections {
        dialogue.log_disconnection();
    }
}

/// From the first packet to an authenticated client with a place among the sessions; none if it wanted no session.
async fn admit(
    server: &Arc<Server>,
    client: &mut Client,
    mut packet: Vec<u8>,
) -> Result<Option<Entry>, Refused> {
    let (mut tls_asked, mut gss_asked) = (false, false);
    let startup = loop {
        match startup::decode(&packet)? {
            First::Tls if !tls_asked => {
                tls_asked = true;
                encrypt(server, client).await?;
            }
            First::Gss if !gss_asked => {
                gss_asked = true;
                client.say(b"N").await?;
            }
            First::Tls | First::Gss => {
                return Err(crate::frame::violation("encryption was asked for twice").into());
            }
            First::Cancel { pid, secret } => {
                server.peers.cancel(pid, &secret);
                return Ok(None);
            }
            First::Startup(startup) => break startup,
        }
        packet = read_packet(client.stream()?).await?;
    };
    if let Some(unknown) = &startup.negotiate {
        let negotiate = NegotiateProtocolVersion::new(3 << 16, unknown.clone());
        negotiate.encode(&mut client.greeting).map_err(io::Error::other)?;
    }
    if startup.replication {
        return Err(SqlError::unsupported("replication connections are").into());
    }
    let names = (&*startup.user, &*startup.database);
    client.log = log::Session::of_client(std::process::id(), names, client.origin.client);
    let limit = server.config().integer("max_connections") as usize;
    let admitted = server.peers.admit(limit)?;
    client.log = log::Session::of_client(admitted.peer.pid, names, client.origin.client);
    authenticate(server, client, &startup).await?;
    Ok(Some(Entry { admitted, startup }))
}

/// Reads one start-up packet, and not a byte more.
///
/// # Errors
/// 08P01 for its length; the client has gone.
pub async fn read_packet<S: AsyncRead + Unpin>(stream: &mut S) -> Result<Vec<u8>, Refused> {
    let mut length = [0; 4];
    stream.read_exact(&mut length).await?;
    let mut packet = vec![0; startup::packet_bytes(length)?];
    stream.read_exact(&mut packet).await?;
    Ok(packet)
}

/// Answers SSLRequest.
async fn encrypt(server: &Server, client: &mut Client) -> Result<(), Refused> {
    let Some(tls) = server.tls().filter(|_| client.origin.client.is_some()) else {
        return Ok(client.say(b"N").await?);
    };
    client.say(b"S").await?;
    match client.stream.take() {
        Some(Stream::Plain(plain)) => {
            let protected = tls.acceptor.accept(plain).await?;
            client.stream = Some(Stream::protected(protected));
            client.origin.tls = true;
        }
        other => client.stream = other,
    }
    Ok(())
}

async fn authenticate(
    server: &Server,
    client: &mut Client,
    startup: &Startup,
) -> Result<(), Refused> {
    let state = SqlState::INVALID_AUTHORIZATION_SPECIFICATION;
    let origin = client.origin;
    let roles = server.engine.memberships(&startup.user);
    let mut request = Request {
        origin: &origin,
        database: &startup.database,
        user: &startup.user,
        roles: &roles,
        client_name: None,
    };
    let (rules, maps) = server.rules();
    let name = match origin.client_ip() {
        Some(address) if rules.asks_name(&request) => Some(client_name::look_up(address).await),
        _ => None,
    };
    request.client_name = name.as_ref().and_then(|name| name.as_deref().ok());
    let rule = match rules.rule(&request) {
        Some(rule) if rule.method != Method::Reject => rule,
        rule => {
            if let Some(Err(unnamed)) = &name {
                tracing::info!("{unnamed}");
            }
            return Err(no_entry(rule.is_some(), &request).into());
        }
    };
    demand_certificate(server, client, rule)?;
    let login = server.engine.role(&startup.user);
    if matches!(rule.method, Method::Scram | Method::Md5 | Method::Password) {
        client.say(&[]).await?;
        let tls = server.tls().filter(|_| origin.tls);
        let claimant = Claimant {
            user: &startup.user,
            login: login.as_ref(),
            now: server.wall_clock(),
            certificate: tls.as_ref().map(|tls| &tls.certificate[..]),
            mock_key: &server.mock_key,
        };
        claimant.authenticate(client.stream()?, rule.method).await?;
    }
    identify(client, startup, rule, &maps).await?;
    if server.config().is_on("log_connections") {
        log_authorized(client, startup);
    }
    // Who it is has been settled: what it may not do is said behind that.
    Authentication::Ok.encode(&mut client.greeting).map_err(io::Error::other)?;
    let Some(login) = login else {
        return Err(fatal(state, format!("role \"{}\" does not exist", startup.user)).into());
    };
    if !login.can_login {
        let message = format!("role \"{}\" is not permitted to log in", startup.user);
        return Err(fatal(state, message).into());
    }
    let config = server.config();
    let free = config.integer("max_connections") - server.peers.len() as i64;
    if !login.superuser && free < config.integer("superuser_reserved_connections") {
        let message =
            "remaining connection slots are reserved for non-replication superuser connections";
        return Err(fatal(SqlState::TOO_MANY_CONNECTIONS, message).into());
    }
    Ok(())
}

/// A line that wants a certificate is only for clients that have shown one (`ClientAuthentication`).
fn demand_certificate(server: &Server, client: &Client, rule: &Rule) -> Result<(), Refused> {
    if rule.certificate == ClientCertificate::Off {
        return Ok(());
    }
    if !server.tls().is_some_and(|tls| tls.verifies) {
        let message =
            "client certificates can only be checked if a root certificate store is available";
        return Err(fatal(SqlState::CONFIG_FILE_ERROR, message).into());
    }
    if client.stream.as_ref().and_then(Stream::certificate).is_none() {
        let message = "connection requires a valid client certificate";
        return Err(fatal(SqlState::INVALID_AUTHORIZATION_SPECIFICATION, message).into());
    }
    Ok(())
}

/// Whom the system, the client's machine or a certificate says the client is, as far as the line asks: it has to be the
/// role, by the line's map or by name (`auth_peer`, `ident_inet`, `CheckCertAuth`).
async fn identify(
    client: &mut Client,
    startup: &Startup,
    rule: &Rule,
    maps: &UserMaps,
) -> Result<(), Refused> {
    let role = &*startup.user;
    let found = match rule.method {
        Method::Peer => match client.stream()?.descriptor() {
            Some(socket) => system_user::peer(socket),
            None => Err("Peer authentication is for Unix sockets".to_owned()),
        },
        Method::Ident => match (client.origin.local, client.origin.client) {
            (Some(server), Some(client)) => system_user::ident(server, client).await,
            _ => Err("an Ident server answers for TCP connections only".to_owned()),
        },
        _ if rule.certificate == ClientCertificate::Full => {
            let certificate = client.stream()?.certificate();
            let name = certificate.and_then(|found| match rule.certificate_name {
                CertificateName::Common => found.common_name,
                CertificateName::Distinguished => Some(found.distinguished_name),
            });
            name.filter(|name| !name.is_empty()).ok_or_else(|| {
                format!(
                    "certificate authentication failed for user \"{role}\": client certificate contains no user name"
                )
            })
        }
        _ => return Ok(()),
    };
    let Err(why) = found.and_then(|found| maps.allows(rule.map.as_deref(), role, &found)) else {
        return Ok(());
    };
    let around =
        log::Around { session: Some(&client.log), tag: "authentication", ..log::Around::default() };
    log::write(&log::notice(Severity::Log, why), around);
    if rule.certificate == ClientCertificate::Full && rule.method != Method::Certificate {
        let what = match rule.certificate_name {
            CertificateName::Common => "CN",
            CertificateName::Distinguished => "DN",
        };
        let message = format!(
            "certificate validation (clientcert=verify-full) failed for user \"{role}\": {what} mismatch"
        );
        log::write(&log::notice(Severity::Log, message), around);
    }
    Err(failed(rule, role).into())
}

/// What a client is told that is not who it says it is (`auth_failed`); the log also says by which line.
fn failed(rule: &Rule, user: &str) -> SqlError {
    let (state, what) = match rule.method {
        Method::Scram | Method::Md5 | Method::Password => (SqlState::INVALID_PASSWORD, "password"),
        Method::Trust => (SqlState::INVALID_AUTHORIZATION_SPECIFICATION, "\"trust\""),
        Method::Peer => (SqlState::INVALID_AUTHORIZATION_SPECIFICATION, "Peer"),
        Method::Ident => (SqlState::INVALID_AUTHORIZATION_SPECIFICATION, "Ident"),
        Method::Certificate => (SqlState::INVALID_AUTHORIZATION_SPECIFICATION, "certificate"),
        Method::Reject => (SqlState::INVALID_AUTHORIZATION_SPECIFICATION, "rejected"),
    };
    tracing::info!("Connection matched pg_hba.conf line {}: \"{}\"", rule.line, rule.raw);
    fatal(state, format!("{what} authentication failed for user \"{user}\""))
}

/// `log_connections`: a client has said who it is, and has been believed.
fn log_authorized(client: &Client, startup: &Startup) {
    let Startup { user, database, settings, .. } = startup;
    let mut message = format!("connection authorized: user={user} database={database}");
    let application = settings.iter().rev().find(|(name, _)| name == "application_name");
    let application = application.map_or("", |(_, value)| value);
    if !application.is_empty() {
        message += &format!(" application_name={application}");
    }
    if let Some(known) = client.stream.as_ref().and_then(Stream::encryption) {
        let (version, cipher, bits) = (known.version, known.cipher, known.bits);
        message += &format!(" SSL enabled (protocol={version}, cipher={cipher}, bits={bits})");
    }
    let around =
        log::Around { session: Some(&client.log), tag: "authentication", ..log::Around::default() };
    log::write(&log::notice(Severity::Log, message), around);
}

/// What a client is told that no line of `pg_hba.conf` lets in, or one turns away.
fn no_entry(rejected: bool, request: &Request<'_>) -> SqlError {
    let what = if rejected { "pg_hba.conf rejects connection" } else { "no pg_hba.conf entry" };
    let host = match request.origin.client {
        Some(client) => client.ip().to_string(),
        None => "[local]".to_owned(),
    };
    let encryption = if request.origin.tls { "SSL encryption" } else { "no encryption" };
    let (user, database) = (request.user, request.database);
    fatal(
        SqlState::INVALID_AUTHORIZATION_SPECIFICATION,
        format!(
            "{what} for host \"{host}\", user \"{user}\", database \"{database}\", {encryption}"
        ),
    )
}

/// Opens the session; its dialogue begins with what the client has not been told yet.
fn open(
    server: &Arc<Server>,
    admitted: &Admitted,
    startup: &Startup,
    client: &Client,
) -> Result<Dialogue<Live>, SqlError> {
    let connect = Connect {
        database: startup.database.clone(),
        user: startup.user.clone(),
        settings: startup.settings.clone(),
        client: client.origin.client,
        server: client.origin.local,
        encryption: client.stream.as_ref().and_then(Stream::encryption),
        socket: client.origin.client.and(client.stream.as_ref()).and_then(Stream::times),
    };
    let wait = Arc::clone(&admitted.peer.wait);
    let session = Box::new(guarded(|| server.engine.connect(connect, wait))?);
    let mut secret = [0; SECRET_BYTES];
    crate::process::random(&mut secret);
    admitted.set_secret(&secret);
    let backend = Live { engine: Arc::clone(&server.engine), session };
    let peer = Arc::clone(&admitted.peer);
    let (timers, counters) = (Arc::clone(&server.timers), Arc::clone(&server.counters));
    let mut dialogue = Dialogue::new(backend, peer, timers, counters, BUFFER_BYTES);
    dialogue.greet(client.greeting.to_vec(), &secret);
    Ok(dialogue)
}
