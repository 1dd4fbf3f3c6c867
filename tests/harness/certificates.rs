//! Certificates made with OpenSSL's program, for servers and for clients that show one.

use std::path::Path;
use std::process::Command;

/// Runs `openssl` in a directory.
pub fn openssl(directory: &Path, arguments: &[&str]) {
    let output = Command::new("openssl").args(arguments).current_dir(directory).output();
    let output = output.expect("openssl is installed");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// What a new key and a certificate over it begin with.
pub const NEW: [&str; 6] = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days"];

/// Makes an authority: `name.key` and `name.crt`.
pub fn authority(directory: &Path, name: &str) {
    let (key, crt) = (format!("{name}.key"), format!("{name}.crt"));
    let own = ["30", "-subj", "/CN=authority", "-keyout", &key, "-out", &crt];
    openssl(directory, &[&NEW[..], &own].concat());
}

/// Makes a key and a certificate that an authority has signed: `name.key` and `name.crt`.
pub fn signed(directory: &Path, authority: &str, name: &str, subject: &str) {
    let (key, crt) = (format!("{name}.key"), format!("{name}.crt"));
    let (ca_key, ca_crt) = (format!("{authority}.key"), format!("{authority}.crt"));
    let by = ["30", "-CA", &ca_crt, "-CAkey", &ca_key, "-subj", subject];
    let leaf = ["-addext", "basicConstraints=critical,CA:FALSE"];
    let address = ["-addext", "subjectAltName=IP:127.0.0.1"];
    let files = ["-keyout", &key, "-out", &crt];
    openssl(directory, &[&NEW[..], &by, &leaf, &address, &files].concat());
}
