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
            .with_protocol_versions(versions(config.text("ssl_min_protocol_version")))
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

/// The versions from the least one on. What is older than 1.2 is not spoken at all.
fn versions(least: &str) -> &'static [&'static SupportedProtocolVersion] {
    static ALL: [&SupportedProtocolVersion; 2] = [&rustls::version::TLS13, &rustls::version::TLS12];
    if least == "TLSv1.3" { &ALL[..1] } else { &ALL }
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
