//! TLS: rustls with the certificate and key that `ssl_cert_file` and `ssl_key_file` name, in PEM. A client may show a
//! certificate too, if `ssl_ca_file` names authorities; one that none of them has signed, or that `ssl_crl_file` revokes,
//! ends the handshake.
//!
//! A client asks for it with SSLRequest; that request is read to its last byte and no further, so nothing that was sent
//! in clear text can be taken for part of the protected connection.

use crate::config::Config;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, CertificateRevocationListDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::server::danger::ClientCertVerifier;
use rustls::{RootCertStore, ServerConfig, SupportedProtocolVersion};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Arc;
use tokio_rustls::TlsAcceptor;

/// What a server with TLS has.
pub struct Tls {
    /// Does the handshake.
    pub acceptor: TlsAcceptor,
    /// The certificate in PEM, to which SCRAM binds.
    pub certificate: Vec<u8>,
    /// Whether clients' certificates can be verified: `ssl_ca_file` names authorities.
    pub verifies: bool,
}

impl std::fmt::Debug for Tls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tls").finish_non_exhaustive()
    }
}

impl Tls {
    /// What `config` says; none if `ssl` is off.
    ///
    /// # Errors
    /// What is wrong with which file.
    pub fn load(config: &Config, data: &Path) -> Result<Option<Tls>, String> {
        if !config.is_on("ssl") {
            return Ok(None);
        }
        let certificate_path = data.join(config.text("ssl_cert_file"));
        let key_path = data.join(config.text("ssl_key_file"));
        let certificate = std::fs::read(&certificate_path).map_err(|error| {
            format!(
                "could not load server certificate file \"{}\": {error}",
                certificate_path.display()
            )
        })?;
        let chain: Vec<CertificateDer<'static>> = CertificateDer::pem_slice_iter(&certificate)
            .collect::<Result<_, _>>()
            .map_err(|error| format!("\"{}\": {error}", certificate_path.display()))?;
        check_mode(&key_path)?;
        let key = PrivateKeyDer::from_pem_file(&key_path).map_err(|error| {
            format!("could not load private key file \"{}\": {error}", key_path.display())
        })?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let verifier = verifier(config, data, &provider)?;
        let verifies = verifier.is_some();
        let server = ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(&versions(config)?)
            .map_err(|error| error.to_string())?;
        let server = match verifier {
            Some(verifier) => server.with_client_cert_verifier(verifier),
            None => server.with_no_client_auth(),
        };
        let mut server = server.with_single_cert(chain, key).map_err(|error| error.to_string())?;
        server.alpn_protocols = vec![b"postgresql".to_vec()];
        let acceptor = TlsAcceptor::from(Arc::new(server));
        Ok(Some(Tls { acceptor, certificate, verifies }))
    }
}

/// What verifies certificates of clients that show one, by the authorities of `ssl_ca_file` and what these have revoked;
/// none without such a file.
fn verifier(
    config: &Config,
    data: &Path,
    provider: &Arc<CryptoProvider>,
) -> Result<Option<Arc<dyn ClientCertVerifier>>, String> {
    let named = |setting: &str| Some(config.text(setting)).filter(|name| !name.is_empty());
    let Some(file) = named("ssl_ca_file") else { return Ok(None) };
    let path = data.join(file);
    let failed = |what: &str, path: &Path, error: &dyn std::fmt::Display| {
        format!("could not load {what} file \"{}\": {error}", path.display())
    };
    let mut authorities = RootCertStore::empty();
    let found = CertificateDer::pem_file_iter(&path)
        .map_err(|error| failed("root certificate", &path, &error))?;
    for one in found {
        let one = one.map_err(|error| failed("root certificate", &path, &error))?;
        authorities.add(one).map_err(|error| failed("root certificate", &path, &error))?;
    }
    let mut revoked = Vec::new();
    if let Some(file) = named("ssl_crl_file") {
        let path = data.join(file);
        let what = "SSL certificate revocation list";
        let lists = CertificateRevocationListDer::pem_file_iter(&path)
            .map_err(|error| failed(what, &path, &error))?;
        for list in lists {
            revoked.push(list.map_err(|error| failed(what, &path, &error))?);
        }
    }
    let verifier =
        WebPkiClientVerifier::builder_with_provider(Arc::new(authorities), Arc::clone(provider))
            .with_crls(revoked)
            .allow_unknown_revocation_status()
            .allow_unauthenticated()
            .build()
            .map_err(|error| failed("root certificate", &path, &error))?;
    Ok(Some(verifier))
}

/// The versions of the protocol from the least to the most that is asked for; none of those before 1.2 are spoken.
///
/// # Errors
/// There are none between the two.
fn versions(config: &Config) -> Result<Vec<&'static SupportedProtocolVersion>, String> {
    let (least, most) = ("ssl_min_protocol_version", "ssl_max_protocol_version");
    spoken(config.text(least), config.text(most)).ok_or_else(|| {
        format!("could not set SSL protocol version range: no version that is supported is between \"{least}\" and \"{most}\"")
    })
}

fn spoken(least: &str, most: &str) -> Option<Vec<&'static SupportedProtocolVersion>> {
    const NAMES: [&str; 4] = ["TLSv1", "TLSv1.1", "TLSv1.2", "TLSv1.3"];
    let known = [(3, &rustls::version::TLS13), (2, &rustls::version::TLS12)];
    let place = |name: &str| NAMES.iter().position(|known| *known == name);
    let (least, most) = (place(least).unwrap_or(0), place(most).unwrap_or(NAMES.len()));
    let between = known.iter().filter(|(at, _)| (least..=most).contains(at));
    let between: Vec<_> = between.map(|(_, version)| *version).collect();
    (!between.is_empty()).then_some(between)
}

/// A key that others may read is no secret: PostgreSQL's rule.
fn check_mode(path: &Path) -> Result<(), String> {
    let metadata = std::fs::metadata(path).map_err(|error| {
        format!("could not access private key file \"{}\": {error}", path.display())
    })?;
    let forbidden = if metadata.uid() == 0 { 0o037 } else { 0o077 };
    if metadata.mode() & forbidden != 0 {
        return Err(format!(
            "private key file \"{}\" has group or world access: permissions should be 0600 or less, or 0640 or less if \
             root owns it",
            path.display()
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_versions_are_those_between_least_and_most() {
        let named = |least: &str, most: &str| {
            let found = spoken(least, most).into_iter().flatten();
            found.map(|version| format!("{:?}", version.version)).collect::<Vec<_>>()
        };
        assert_eq!(named("TLSv1.2", ""), ["TLSv1_3", "TLSv1_2"]);
        assert_eq!(named("TLSv1", "TLSv1.2"), ["TLSv1_2"]);
        assert_eq!(named("TLSv1.3", "TLSv1.3"), ["TLSv1_3"]);
        assert!(named("TLSv1", "TLSv1.1").is_empty());
        assert!(named("TLSv1.3", "TLSv1.2").is_empty());
    }
}
