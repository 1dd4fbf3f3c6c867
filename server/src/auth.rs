//! Authentication: what `pg_hba.conf` demands, asked of the client.
//!
//! SCRAM-SHA-256 (RFC 5802, 7677) runs on pgwire's state machine with stored verifiers, and with channel binding where
//! TLS protects the connection. A user that does not exist, has no password or may not use it any more goes through
//! the same exchange with a verifier that nothing fits, whose salt stays the same from try to try: the answer tells no
//! one which users there are. Every failure is 28P01 in the same words.
//!
//! No byte is decoded here that has not been framed: only `p` messages may come, and only within 10,000 bytes.

use crate::frame::{Framed, HEADER_BYTES, Reader, frame_of, invalid_encoding, violation};
use crate::hba::Method;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::{Bytes, BytesMut};
use pgwire::api::auth::sasl::scram::{ScramSecret, ScramServerAuth, gen_salted_password};
use pgwire::error::PgWireError;
use pgwire::messages::Message;
use pgwire::messages::startup::Authentication;
use sql::sqlstate::SqlState;
use sql::{RoleLogin, Severity, SqlError};
use std::io;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

/// Rounds of a new verifier: PostgreSQL's.
const ITERATIONS: usize = 4096;
const SALT_BYTES: usize = 16;
const KEY_BYTES: usize = 32;
const MECHANISM: &str = "SCRAM-SHA-256";
const MECHANISM_PLUS: &str = "SCRAM-SHA-256-PLUS";

/// Why a client did not get in.
#[derive(Debug)]
pub enum Refused {
    /// It is told so.
    Told(Box<SqlError>),
    /// It has gone, or said nothing that can be answered.
    Gone(io::Error),
}

impl From<SqlError> for Refused {
    fn from(error: SqlError) -> Refused {
        Refused::Told(Box::new(error.severity(Severity::Fatal)))
    }
}

impl From<io::Error> for Refused {
    fn from(error: io::Error) -> Refused {
        Refused::Gone(error)
    }
}

/// A client to be authenticated.
#[derive(Debug)]
pub struct Claimant<'a> {
    /// Who it says it is.
    pub user: &'a str,
    /// What is known of that role.
    pub login: Option<&'a RoleLogin>,
    /// Microseconds since 2000-01-01 UTC, for passwords that expire.
    pub now: i64,
    /// The server's certificate in PEM, if TLS protects the connection.
    pub certificate: Option<&'a [u8]>,
    /// What makes salts of users that do not exist.
    pub mock_key: &'a [u8],
}

/// The verifier of a password, as PostgreSQL stores it.
#[must_use]
pub fn verifier(password: &str, salt: &[u8]) -> String {
    let salted = gen_salted_password(password, salt, ITERATIONS);
    let secret = ScramSecret::verifier_from_salted_password(salt.to_vec(), salted, ITERATIONS);
    let ScramSecret::Verifier { stored_key, server_key, .. } = secret else {
        unreachable!("a verifier is made from a salted password");
    };
    format!(
        "SCRAM-SHA-256${ITERATIONS}:{}${}:{}",
        STANDARD.encode(salt),
        STANDARD.encode(stored_key),
        STANDARD.encode(server_key)
    )
}

fn parse_verifier(text: &str) -> Option<ScramSecret> {
    let (iterations, rest) = text.strip_prefix("SCRAM-SHA-256$")?.split_once(':')?;
    let (salt, keys) = rest.split_once('$')?;
    let (stored, server) = keys.split_once(':')?;
    let (stored_key, server_key) = (STANDARD.decode(stored).ok()?, STANDARD.decode(server).ok()?);
    if stored_key.len() != KEY_BYTES || server_key.len() != KEY_BYTES {
        return None;
    }
    let salt = STANDARD.decode(salt).ok()?;
    Some(ScramSecret::Verifier {
        salt,
        iterations: iterations.parse().ok()?,
        stored_key,
        server_key,
    })
}

impl Claimant<'_> {
    /// The stored verifier, if it may be used.
    fn secret(&self) -> Option<ScramSecret> {
        let login = self.login?;
        if login.valid_until.is_some_and(|until| until < self.now) {
            return None;
        }
        parse_verifier(login.verifier.as_deref()?)
    }

    /// A verifier that no password fits.
    fn mock(&self) -> ScramSecret {
        let salt = gen_salted_password(self.user, self.mock_key, 1);
        let key = gen_salted_password(self.user, &salt, 1);
        ScramSecret::Verifier {
            salt: salt[..SALT_BYTES].to_vec(),
            iterations: ITERATIONS,
            stored_key: key.clone(),
            server_key: key,
        }
    }

    fn failed(&self) -> SqlError {
        SqlError::new(
            SqlState::INVALID_PASSWORD,
            format!("password authentication failed for user \"{}\"", self.user),
        )
    }

    /// Authenticates the client by `method`, as far as it is asked something.
    ///
    /// # Errors
    /// 28P01, 08P01; the client is gone.
    pub async fn authenticate<S: AsyncRead + AsyncWrite + Unpin>(
        &self,
        stream: &mut S,
        method: Method,
    ) -> Result<(), Refused> {
        match method {
            Method::Password => self.clear_text(stream).await,
            Method::Scram | Method::Md5 => self.scram(stream).await,
            Method::Reject => Err(self.failed().into()),
            Method::Trust | Method::Peer | Method::Ident | Method::Certificate => Ok(()),
        }
    }

    async fn clear_text<S: AsyncRead + AsyncWrite + Unpin>(
        &self,
        stream: &mut S,
    ) -> Result<(), Refused> {
        ask(stream, &Authentication::CleartextPassword).await?;
        let body = answer(stream).await?;
        let mut reader = Reader::new(&body);
        let password = reader.text()?;
        reader.end()?;
        if password.is_empty() {
            let error =
                SqlError::new(SqlState::INVALID_PASSWORD, "empty password returned by client");
            return Err(error.into());
        }
        let (secret, real) = match self.secret() {
            Some(secret) => (secret, true),
            None => (self.mock(), false),
        };
        let ScramSecret::Verifier { salt, iterations, stored_key, .. } = secret else {
            return Err(self.failed().into());
        };
        let salted = gen_salted_password(password, &salt, iterations);
        let given = ScramSecret::verifier_from_salted_password(salt, salted, iterations);
        match given {
            ScramSecret::Verifier { stored_key: given, .. } if real && given == stored_key => {
                Ok(())
            }
            _ => Err(self.failed().into()),
        }
    }

    async fn scram<S: AsyncRead + AsyncWrite + Unpin>(
        &self,
        stream: &mut S,
    ) -> Result<(), Refused> {
        let mut server = ScramServerAuth::new();
        let mut mechanisms = vec![MECHANISM.to_owned()];
        if let Some(certificate) = self.certificate
            && server.configure_certificate(certificate).is_ok()
        {
            mechanisms.insert(0, MECHANISM_PLUS.to_owned());
        }
        ask(stream, &Authentication::SASL(mechanisms.clone())).await?;

        let body = answer(stream).await?;
        let (mechanism, first) = initial_response(&body)?;
        if !mechanisms.iter().any(|offered| offered == mechanism) {
            let error = violation("client selected an invalid SASL authentication mechanism");
            return Err(error.into());
        }
        let (secret, real) = match self.secret() {
            Some(secret) => (secret, true),
            None => (self.mock(), false),
        };
        let (server_first, expected) = server
            .on_client_first_message_with_secret(first, secret)
            .map_err(|error| self.scram_failed(&error))?;
        ask(stream, &Authentication::SASLContinue(Bytes::from(server_first))).await?;

        let body = answer(stream).await?;
        let server_final =
            expected.on_client_final_message(&body).map_err(|error| self.scram_failed(&error))?;
        if !real {
            return Err(self.failed().into());
        }
        Ok(ask(stream, &Authentication::SASLFinal(Bytes::from(server_final))).await?)
    }

    fn scram_failed(&self, error: &PgWireError) -> SqlError {
        match error {
            PgWireError::InvalidPassword(_) => self.failed(),
            other => violation("malformed SCRAM message").detail(other.to_string()),
        }
    }
}

fn initial_response(body: &[u8]) -> Result<(&str, &[u8]), SqlError> {
    let mut reader = Reader::new(body);
    let mechanism = reader.text()?;
    let length = reader.i32()?;
    let first = match usize::try_from(length) {
        Ok(length) => reader.bytes(length)?,
        Err(_) => return Err(violation("malformed SCRAM message").detail("The message is empty.")),
    };
    reader.end()?;
    if std::str::from_utf8(first).is_err() {
        return Err(invalid_encoding(first));
    }
    Ok((mechanism, first))
}

/// Sends one message of the exchange.
async fn ask<S: AsyncWrite + Unpin>(stream: &mut S, message: &Authentication) -> io::Result<()> {
    let mut bytes = BytesMut::new();
    message.encode(&mut bytes).map_err(io::Error::other)?;
    stream.write_all(&bytes).await?;
    stream.flush().await
}

/// Receives the client's answer: one `p` message, and not a byte behind it.
async fn answer<S: AsyncRead + Unpin>(stream: &mut S) -> Result<Vec<u8>, Refused> {
    let mut received = Vec::new();
    loop {
        match frame_of(&received, b'p')? {
            Framed::Whole(..) => return Ok(received.split_off(HEADER_BYTES)),
            Framed::Partial(bytes) => {
                let have = received.len();
                // The first byte alone: another message than the one expected may be shorter.
                let bytes = if have == 0 { 1 } else { bytes };
                received.resize(bytes, 0);
                stream.read_exact(&mut received[have..]).await?;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verifiers_are_postgresqls() {
        // Made by PostgreSQL 15 for the password "pencil".
        let stored = "SCRAM-SHA-256$4096:as9F/C6xMQMW3Z8P0lc/fw==\
                      $Makxfn2GEbfwO/U0TybOIVSwkXj6tuUy8skm1zko0BA=\
                      :VW9S7q4WBP71r6WC/5o31KbOfuElGJ5IE57uCNfGFdA=";
        let salt = STANDARD.decode("as9F/C6xMQMW3Z8P0lc/fw==").unwrap();
        assert_eq!(verifier("pencil", &salt), stored);
        assert!(parse_verifier(stored).is_some());
        for wrong in ["", "md5abc", "SCRAM-SHA-256$x:AA==$AA==:AA==", "SCRAM-SHA-256$1:$:"] {
            assert!(parse_verifier(wrong).is_none(), "{wrong}");
        }
    }
}
