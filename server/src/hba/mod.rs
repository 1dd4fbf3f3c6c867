//! `pg_hba.conf`: who may connect from where to what, and how they prove who they are; `pg_ident.conf`: whom the system's
//! users and certificates' owners may be.
//!
//! PostgreSQL's format and rules (manual, sections 21.1 and 21.2): the first line that fits decides, and no line means no.
//! Refused when the file is read: the methods that ask another authority (gss, sspi, ldap, radius, pam, bsd).
//!
//! A line may name a host. Whether it fits is not known before a name service has been asked for the client's name
//! (`client_name.rs`), which takes as long as it takes: [`Rules::asks_name`] says whether a client needs that.
//!
//! `md5` means SCRAM here: verifiers are always SCRAM's, and PostgreSQL's own `md5` does SCRAM with those.

mod address;
mod line;
mod maps;
mod tokens;

use crate::client_name;
use crate::stream::Origin;
use address::Address;
pub use maps::UserMaps;
use sql::host::AccessRule;
use std::path::Path;
use tokens::{Include, Word};

/// What a new directory's file says.
pub const DEFAULT: &str = "\
# Who may connect: the first line that fits decides. Format: PostgreSQL 15 manual, section 21.1.
#
# TYPE  DATABASE        USER            ADDRESS                 METHOD
local   all             all                                     trust
host    all             all             127.0.0.1/32            trust
host    all             all             ::1/128                 trust
host    all             all             all                     scram-sha-256
";

/// What a new directory's file of maps says.
pub const DEFAULT_MAPS: &str = "\
# Which roles the system's users and the owners of certificates may be. Format: PostgreSQL 15 manual, section 21.2.
#
# MAPNAME       SYSTEM-USERNAME         PG-USERNAME
";

/// How a client proves who it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// It need not.
    Trust,
    /// It cannot.
    Reject,
    /// SCRAM-SHA-256.
    Scram,
    /// The same: verifiers are SCRAM's.
    Md5,
    /// The password in clear text.
    Password,
    /// The system says who has the other end of the Unix socket.
    Peer,
    /// The client's machine says who has the other end of the connection (RFC 1413).
    Ident,
    /// A certificate says so.
    Certificate,
}

impl Method {
    fn word(self) -> &'static str {
        match self {
            Method::Trust => "trust",
            Method::Reject => "reject",
            Method::Scram => "scram-sha-256",
            Method::Md5 => "md5",
            Method::Password => "password",
            Method::Peer => "peer",
            Method::Ident => "ident",
            Method::Certificate => "cert",
        }
    }
}

/// `clientcert`: whether a client has to show a certificate of a known authority, and whether it has to be its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientCertificate {
    /// It need not.
    Off,
    /// `verify-ca`.
    Authority,
    /// `verify-full`.
    Full,
}

/// `clientname`: what of a certificate names its owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CertificateName {
    /// `CN`.
    Common,
    /// `DN`, in the form of RFC 2253.
    Distinguished,
}

/// What a client asks for, as far as a line looks at it.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// Where it comes from.
    pub origin: &'a Origin,
    /// The database.
    pub database: &'a str,
    /// The user.
    pub user: &'a str,
    /// The roles the user is a member of, itself included.
    pub roles: &'a [String],
    /// The client's host name, where it was asked for and is confirmed.
    pub client_name: Option<&'a str>,
}

/// The file.
#[derive(Debug, Default)]
pub struct Rules(Vec<Rule>);

/// What a line says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Its number in the file.
    pub line: i32,
    /// As it stands there.
    pub raw: String,
    connection: Connection,
    databases: Vec<Word>,
    users: Vec<Word>,
    address: Address,
    /// How the client proves who it is.
    pub method: Method,
    /// The map by which a system's user is a role's.
    pub map: Option<String>,
    /// Whether a certificate is wanted besides.
    pub certificate: ClientCertificate,
    /// What of it names its owner.
    pub certificate_name: CertificateName,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Connection {
    Local,
    Host,
    HostSsl,
    HostNoSsl,
    HostGss,
    HostNoGss,
}

impl Connection {
    const WORDS: [(Connection, &str); 6] = [
        (Connection::Local, "local"),
        (Connection::Host, "host"),
        (Connection::HostSsl, "hostssl"),
        (Connection::HostNoSsl, "hostnossl"),
        (Connection::HostGss, "hostgssenc"),
        (Connection::HostNoGss, "hostnogssenc"),
    ];

    fn named(word: &str) -> Option<Connection> {
        Connection::WORDS.iter().find(|(_, known)| *known == word).map(|(kind, _)| *kind)
    }

    fn word(self) -> &'static str {
        Connection::WORDS.iter().find(|(kind, _)| *kind == self).map_or("", |(_, word)| word)
    }
}

/// What the lines of a file are: for each the rule, if it is one, and what is wrong with it.
type Lines = Vec<(i32, Option<Rule>, Option<String>)>;

fn read(path: &Path, tls: bool) -> Result<Lines, String> {
    let text = std::fs::read_to_string(path).map_err(|error| {
        format!("could not open file \"{}\": {}", path.display(), tokens::reason(&error))
    })?;
    Ok(parse(&text, tls, &tokens::beside(path)))
}

fn parse(text: &str, tls: bool, include: &Include<'_>) -> Lines {
    let lines = tokens::lines(text, include);
    let parsed = lines.iter().map(|line| {
        let (rule, error) = line::parse(line, tls);
        (line.number, rule, error)
    });
    parsed.collect()
}

impl Rules {
    /// Reads the file; `tls`: the server speaks TLS.
    ///
    /// # Errors
    /// What is wrong, with the lines' numbers. Lines that can fit nobody are only told of in the log.
    pub fn read(path: &Path, tls: bool) -> Result<Rules, Vec<String>> {
        let lines = read(path, tls).map_err(|error| vec![error])?;
        let place = |number: i32, error: &str| {
            format!("{error}, in line {number} of configuration file \"{}\"", path.display())
        };
        for (number, rule, error) in &lines {
            if let (Some(_), Some(error)) = (rule, error) {
                tracing::info!("{}", place(*number, error));
            }
        }
        Rules::of(lines, &place).map_err(|errors| match errors.is_empty() {
            true => vec![format!("configuration file \"{}\" contains no entries", path.display())],
            false => errors,
        })
    }

    /// All rules, or what is wrong with any; nothing where there is none.
    fn of(lines: Lines, place: &dyn Fn(i32, &str) -> String) -> Result<Rules, Vec<String>> {
        let (mut rules, mut errors) = (Vec::new(), Vec::new());
        for (number, rule, error) in lines {
            match (rule, error) {
                (Some(rule), _) => rules.push(rule),
                (None, Some(error)) => errors.push(place(number, &error)),
                (None, None) => {}
            }
        }
        if rules.is_empty() || !errors.is_empty() { Err(errors) } else { Ok(Rules(rules)) }
    }

    /// The lines of a file for `pg_hba_file_rules`, with what is wrong with them.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn shown(path: &Path, tls: bool) -> Result<Vec<AccessRule>, String> {
        let lines = read(path, tls)?.into_iter().map(|(line, rule, error)| match rule {
            Some(rule) => rule.shown(error),
            None => AccessRule { line, error, ..AccessRule::default() },
        });
        Ok(lines.collect())
    }

    /// Whether a line that names a host comes before any that fits without: the client's name has to be known.
    #[must_use]
    pub fn asks_name(&self, request: &Request<'_>) -> bool {
        let decides = |rule: &&Rule| rule.asks_name(request) || rule.fits(request);
        self.0.iter().find(decides).is_some_and(|rule| rule.asks_name(request))
    }

    /// The first line that fits; none if no line does.
    #[must_use]
    pub fn rule(&self, request: &Request<'_>) -> Option<&Rule> {
        self.0.iter().find(|rule| rule.fits(request))
    }
}

impl Rule {
    fn fits(&self, request: &Request<'_>) -> bool {
        self.connection_fits(request.origin)
            && self.address_fits(request)
            && self.names_fit(request)
    }

    /// Whether it fits if the client has the name that it tells of.
    fn asks_name(&self, request: &Request<'_>) -> bool {
        matches!(self.address, Address::Name(_))
            && self.connection_fits(request.origin)
            && self.names_fit(request)
    }

    fn connection_fits(&self, origin: &Origin) -> bool {
        match (self.connection, origin.client) {
            (Connection::Local, client) => client.is_none(),
            (_, None) | (Connection::HostGss, _) => false,
            (Connection::Host | Connection::HostNoGss, Some(_)) => true,
            (Connection::HostSsl, Some(_)) => origin.tls,
            (Connection::HostNoSsl, Some(_)) => !origin.tls,
        }
    }

    fn address_fits(&self, request: &Request<'_>) -> bool {
        let origin = request.origin;
        let Some(client) = origin.client_ip() else { return self.connection == Connection::Local };
        match &self.address {
            Address::All => true,
            Address::Name(pattern) => {
                request.client_name.is_some_and(|name| client_name::matches(pattern, name))
            }
            Address::SameHost => {
                client.is_loopback()
                    || origin.local.is_some_and(|local| local.ip().to_canonical() == client)
            }
            Address::SameNet(networks) => networks.iter().any(|one| Address::has(*one, client)),
            Address::Network(address, mask) => Address::has((*address, *mask), client),
        }
    }

    fn names_fit(&self, request: &Request<'_>) -> bool {
        let database = self.databases.iter().any(|word| {
            word.is("all")
                || word.is("sameuser") && request.database == request.user
                || (word.is("samerole") || word.is("samegroup"))
                    && request.roles.iter().any(|role| role == request.database)
                // Replication connections are refused earlier: the keyword fits nothing here.
                || !word.is("replication") && word.text == request.database
        });
        let user = || {
            self.users.iter().any(|word| match word.text.strip_prefix('+') {
                Some(group) if !word.quoted => request.roles.iter().any(|role| role == group),
                _ => word.is("all") || word.text == request.user,
            })
        };
        database && user()
    }
}

#[cfg(test)]
mod tests;
