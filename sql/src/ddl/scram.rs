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

/// Whether a text already is a verifier.
#[must_use]
pub fn is_verifier(text: &str) -> bool {
    let Some(rest) = text.strip_prefix("SCRAM-SHA-256$") else { return false };
    let parts: Vec<&str> = rest.split(['$', ':']).collect();
    let [iterations, salt, stored, server] = parts.as_slice() else { return false };
    let key = |text: &str| STANDARD.decode(text).is_ok_and(|key| key.len() == 32);
    iterations.parse::<u32>().is_ok_and(|count| count > 0)
        && STANDARD.decode(salt).is_ok()
        && key(stored)
        && key(server)
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
        assert!(is_md5("md55d41402abc4b2a76b9719d911017c592"));
    }
}
