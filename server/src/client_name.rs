//! A client's host name, as far as the name service confirms it: its address has this name, and the name has this address.
//!
//! What `pg_hba.conf` compares with the names of its lines (PostgreSQL 15 manual, section 21.1). Whoever may say what an
//! address is called could call it anything, so that a name alone proves nothing: looked up again it has to lead back.
//! Both look-ups may wait for a name server. They run on a thread that may wait ([`look_up`]), never on one that
//! drives a loop, and within `authentication_timeout`.

use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};

/// What knows hosts' names and addresses.
pub trait NameService {
    /// The name of an address.
    ///
    /// # Errors
    /// It has none, or nobody can tell.
    fn name_of(&self, address: IpAddr) -> io::Result<String>;
    /// The addresses of a name.
    ///
    /// # Errors
    /// It has none, or nobody can tell.
    fn addresses_of(&self, name: &str) -> io::Result<Vec<IpAddr>>;
}

/// The system's: `/etc/hosts`, name servers, and whatever else it is told to ask.
#[derive(Clone, Copy, Debug)]
pub struct SystemNames;

impl NameService for SystemNames {
    fn name_of(&self, address: IpAddr) -> io::Result<String> {
        // Without the flag an address that has no name would be its own.
        let found = dns_lookup::getnameinfo(&SocketAddr::new(address, 0), libc::NI_NAMEREQD);
        Ok(found.map_err(io::Error::from)?.0)
    }

    fn addresses_of(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        Ok((name, 0).to_socket_addrs()?.map(|address| address.ip()).collect())
    }
}

/// The confirmed name of the client at `address`; else why there is none, for the server's log.
///
/// # Errors
/// One of the look-ups failed, or the name has other addresses.
pub fn confirmed(address: IpAddr, names: &impl NameService) -> Result<String, String> {
    let name = names
        .name_of(address)
        .map_err(|error| format!("Could not resolve client IP address to a host name: {error}."))?;
    let addresses = names.addresses_of(&name).map_err(|error| {
        format!("Could not translate client host name \"{name}\" to IP address: {error}.")
    })?;
    if addresses.contains(&address) {
        Ok(name)
    } else {
        Err(format!("Client IP address resolved to \"{name}\", forward lookup does not match."))
    }
}

/// [`confirmed`] by the system's name service, while the caller's thread goes on.
///
/// # Errors
/// As [`confirmed`].
pub async fn look_up(address: IpAddr) -> Result<String, String> {
    let asked = tokio::task::spawn_blocking(move || confirmed(address, &SystemNames));
    asked.await.unwrap_or_else(|error| Err(format!("The name service was not asked: {error}.")))
}

/// Whether a line that names `pattern` means the host called `name`: a pattern that begins with a dot means all names that
/// end with it. Case does not count.
#[must_use]
pub fn matches(pattern: &str, name: &str) -> bool {
    let (pattern, name) = (pattern.as_bytes(), name.as_bytes());
    let end = match pattern.first() {
        Some(b'.') => name.len().checked_sub(pattern.len()).map(|from| &name[from..]),
        _ => Some(name),
    };
    end.is_some_and(|end| end.eq_ignore_ascii_case(pattern))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names of addresses, and addresses of names, each separated by blanks.
    struct Listed(&'static [(&'static str, &'static str)], &'static [(&'static str, &'static str)]);

    fn listed<'t>(list: &'t [(&str, &str)], asked: &str) -> io::Result<&'t str> {
        let found = list.iter().find(|(known, _)| *known == asked);
        found.map(|(_, answer)| *answer).ok_or_else(|| io::Error::other("unknown"))
    }

    impl NameService for Listed {
        fn name_of(&self, address: IpAddr) -> io::Result<String> {
            listed(self.0, &address.to_string()).map(str::to_owned)
        }

        fn addresses_of(&self, name: &str) -> io::Result<Vec<IpAddr>> {
            let addresses = listed(self.1, name)?;
            Ok(addresses.split(' ').map(|address| address.parse().unwrap()).collect())
        }
    }

    #[test]
    fn a_name_that_does_not_lead_back_is_none() {
        let names = Listed(
            &[
                ("10.0.0.1", "db.example.com"),
                ("10.0.0.2", "db.example.com"),
                ("10.0.0.3", "lost.example.com"),
                ("2001:db8::1", "db.example.com"),
            ],
            &[("db.example.com", "10.0.0.1 10.0.0.9 2001:db8::1")],
        );
        let asked = |address: &str| confirmed(address.parse().unwrap(), &names);
        assert_eq!(asked("10.0.0.1").as_deref(), Ok("db.example.com"));
        assert_eq!(asked("2001:db8::1").as_deref(), Ok("db.example.com"));
        assert_eq!(
            asked("10.0.0.2").unwrap_err(),
            "Client IP address resolved to \"db.example.com\", forward lookup does not match."
        );
        assert_eq!(
            asked("10.0.0.3").unwrap_err(),
            "Could not translate client host name \"lost.example.com\" to IP address: unknown."
        );
        assert_eq!(
            asked("10.0.0.9").unwrap_err(),
            "Could not resolve client IP address to a host name: unknown."
        );
    }

    #[test]
    fn a_pattern_with_a_dot_in_front_means_what_ends_so() {
        assert!(matches("db.example.com", "DB.Example.Com"));
        assert!(!matches("db.example.com", "db.example.com.evil"));
        assert!(!matches("example.com", "db.example.com"));
        assert!(matches(".EXAMPLE.com", "db.example.com"));
        assert!(matches(".example.com", ".example.com"));
        assert!(!matches(".example.com", "example.com"));
        assert!(!matches(".example.com", "badexample.com"));
    }
}
