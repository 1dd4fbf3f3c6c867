//! SCRAM-SHA-256 verifiers, as PostgreSQL stores them in `pg_authid.rolpassword` (RFC 5802, RFC 7677).
//!
//! `SCRAM-SHA-256$<iterations>:<salt>$<StoredKey>:<ServerKey>`, all but the number in base64. The password itself is
//! never kept. A password that already is a verifier is stored as it is; one in the form of MD5 is refused, because
//! nothing here could check it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, Mac};
use sha2::{Digest, Sha256};
use std::fmt::Write;

/// PostgreSQL's number of iterations.
const ITERATIONS: u32 = 4096;

fn hmac(key: &[u8], message: &[u8]) -> [u8; 32] {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("HMAC takes keys of any length");
    mac.update(message);
    mac.finalize().into_bytes().into()
}

/// `Hi` of RFC 5802: PBKDF2 with one block.
fn salted_password(password: &[u8], salt: &[u8], iterations: u32) -> [u8; 32] {
    let mut first = salt.to_vec();
    first.extend_from_slice(&1_u32.to_be_bytes());
    let mut block = hmac(password, &first);
    let mut result = block;
    for _ in 1..iterations {
        block = hmac(password, &block);
        for (byte, other) in result.iter_mut().zip(block) {
            *byte ^= other;
        }
    }
    result
}

/// The verifier of a password, with a salt that the caller has drawn.
#[must_use]
pub fn verifier(password: &str, salt: [u8; 16]) -> String {
    let prepared = stringprep::saslprep(password).unwrap_or(password.into());
    let salted = salted_password(prepared.as_bytes(), &salt, ITERATIONS);
    let stored_key = Sha256::digest(hmac(&salted, b"Client Key"));
    let server_key = hmac(&salted, b"Server Key");
    let mut text = format!("SCRAM-SHA-256${ITERATIONS}:{}$", STANDARD.encode(salt));
    // Writing to a String cannot fail.
    let _ = write!(text, "{}:{}", STANDARD.encode(stored_key), STANDARD.encode(server_key));
    text
}

/// What a verifier consists of.
struct Parts {
    iterations: u32,
    salt: Vec<u8>,
    server_key: [u8; 32],
}

/// The parts of a text that already is a verifier.
fn parts(text: &str) -> Option<Parts> {
    let rest = text.strip_prefix("SCRAM-SHA-256$")?;
    let parts: Vec<&str> = rest.split(['$', ':']).collect();
    let [iterations, salt, stored, server] = parts.as_slice() else { return None };
    let key =
        |text: &str| STANDARD.decode(text).ok().and_then(|key| <[u8; 32]>::try_from(key).ok());
    key(stored)?;
    Some(Parts {
        iterations: iterations.parse().ok().filter(|count| *count > 0)?,
        salt: STANDARD.decode(salt).ok()?,
        server_key: key(server)?,
    })
}

/// Whether a text already is a verifier.
#[must_use]
pub fn is_verifier(text: &str) -> bool {
    parts(text).is_some()
}

/// Whether a text is a verifier of the empty password, which nobody may log in with. Takes as long as the text's
/// iterations say.
#[must_use]
pub fn verifies_nothing(text: &str) -> bool {
    parts(text).is_some_and(|parts| {
        hmac(&salted_password(b"", &parts.salt, parts.iterations), b"Server Key")
            == parts.server_key
    })
}

/// Whether a text has the form of an MD5 password hash.
#[must_use]
pub fn is_md5(text: &str) -> bool {
    text.strip_prefix("md5")
        .is_some_and(|hash| hash.len() == 32 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of RFC 7677, section 3: password `pencil`.
    #[test]
    fn keys_are_those_of_the_rfc() {
        let salt = STANDARD.decode("W22ZaJ0SNY7soEsUEjb6gQ==").unwrap();
        let salted = salted_password(b"pencil", &salt, 4096);
        let expected = "xKSVEDI6tPlSysH6mUQZOeeOp01r6B3fcJbodRPcYV0=";
        assert_eq!(STANDARD.encode(salted), expected);
    }

    #[test]
    fn a_verifier_is_one() {
        let made = verifier("secret", [7; 16]);
        assert!(made.starts_with("SCRAM-SHA-256$4096:BwcHBwcHBwcHBwcHBwcHBw==$"));
        assert!(is_verifier(&made));
        assert!(!is_verifier("secret"));
        assert!(!verifies_nothing(&made));
        assert!(verifies_nothing(&verifier("", [7; 16])));
        assert!(is_md5("md55d41402abc4b2a76b9719d911017c592"));
    }
}
