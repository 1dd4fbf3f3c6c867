//! `pg_hba.conf`: who may connect from where to what, and how they prove who they are.
//!
//! PostgreSQL's format and rules (manual, section 21.1): the first line that fits decides, and no line means no. Left
//! out, and refused when the file is read: the methods that ask another authority (gss, sspi, ident, peer, ldap, radius,
//! cert, pam, bsd).
//!
//! A line may name a host. Whether it fits is not known before a name service has been asked for the client's name
//! (`client_name.rs`), which takes as long as it takes: [`Rules::asks_name`] says whether a client needs that.
//!
//! `md5` means SCRAM here: verifiers are always SCRAM's, and PostgreSQL's own `md5` does SCRAM with those.

use crate::client_name;
use crate::stream::Origin;
use std::net::IpAddr;
use std::path::Path;

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

/// How a client proves who it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// It need not.
    Trust,
    /// It cannot.
    Reject,
    /// SCRAM-SHA-256.
    Scram,
    /// The password in clear text.
    Password,
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
pub struct Rules(Vec<Line>);

#[derive(Debug)]
struct Line {
    connection: Connection,
    databases: Vec<Word>,
    users: Vec<Word>,
    address: Address,
    method: Method,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Connection {
    Local,
    Host,
    HostSsl,
    HostNoSsl,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Word {
    text: String,
    /// In quotes a keyword is a name.
    quoted: bool,
}

impl Word {
    fn is(&self, keyword: &str) -> bool {
        !self.quoted && self.text == keyword
    }
}

#[derive(Debug)]
enum Address {
    All,
    SameHost,
    /// A host by its name, or by the end of it.
    Name(String),
    Networks(Vec<(IpAddr, IpAddr)>),
}

impl Rules {
    /// Reads the file.
    ///
    /// # Errors
    /// What is wrong, with the line's number.
    pub fn read(path: &Path) -> Result<Rules, String> {
        let text = std::fs::read_to_string(path)
            .map_err(|error| format!("could not open file \"{}\": {error}", path.display()))?;
        let folder = path.parent().unwrap_or(Path::new("."));
        Rules::parse(&text, &|name| {
            let path = folder.join(name);
            std::fs::read_to_string(&path)
                .map_err(|error| format!("could not open file \"{}\": {error}", path.display()))
        })
        .map_err(|error| format!("{}: {error}", path.display()))
    }

    /// Parses the file's text; `include` reads what `@name` names.
    ///
    /// # Errors
    /// As [`Rules::read`].
    pub fn parse(
        text: &str,
        include: &dyn Fn(&str) -> Result<String, String>,
    ) -> Result<Rules, String> {
        let mut lines = Vec::new();
        let joined = text.replace("\\\n", " ");
        for (number, line) in joined.lines().enumerate() {
            let fields =
                fields(line, include).map_err(|error| format!("line {}: {error}", number + 1))?;
            if !fields.is_empty() {
                let parsed = parse_line(fields);
                lines.push(parsed.map_err(|error| format!("line {}: {error}", number + 1))?);
            }
        }
        if lines.is_empty() {
            return Err("the file contains no entries".to_owned());
        }
        Ok(Rules(lines))
    }

    /// Whether a line that names a host comes before any that fits without: the client's name has to be known.
    #[must_use]
    pub fn asks_name(&self, request: &Request<'_>) -> bool {
        let decides = |line: &&Line| line.asks_name(request) || line.fits(request);
        self.0.iter().find(decides).is_some_and(|line| line.asks_name(request))
    }

    /// The method of the first line that fits; none if no line does.
    #[must_use]
    pub fn method(&self, request: &Request<'_>) -> Option<Method> {
        self.0.iter().find(|line| line.fits(request)).map(|line| line.method)
    }
}

impl Line {
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
            (_, None) => false,
            (Connection::Host, Some(_)) => true,
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
            Address::Networks(networks) => {
                networks.iter().any(|(network, mask)| masked(client, *mask) == Some(*network))
            }
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

/// The fields of a line, each a list of words; empty for a comment.
fn fields(
    line: &str,
    include: &dyn Fn(&str) -> Result<String, String>,
) -> Result<Vec<Vec<Word>>, String> {
    let mut fields: Vec<Vec<Word>> = Vec::new();
    let mut rest = line;
    let mut continues = false;
    loop {
        rest = rest.trim_start_matches([' ', '\t', '\r']);
        if rest.is_empty() || rest.starts_with('#') {
            return Ok(fields);
        }
        if let Some(behind) = rest.strip_prefix(',') {
            rest = behind;
            continues = true;
            continue;
        }
        let (word, behind) = word(rest);
        rest = behind;
        if !std::mem::take(&mut continues) {
            fields.push(Vec::new());
        }
        // PostgreSQL lets a list's comma stand behind blanks only where the word before it ended with it.
        continues = rest.starts_with(',');
        let field = fields.last_mut().expect("a field has just begun, or goes on");
        match word.text.strip_prefix('@') {
            Some(name) if !word.quoted && !name.is_empty() => {
                for line in include(name)?.lines() {
                    field.extend(self::fields(line, include)?.into_iter().flatten());
                }
            }
            _ => field.push(word),
        }
    }
}

/// The word at the beginning of `text`, and what comes behind it.
fn word(text: &str) -> (Word, &str) {
    let mut word = Word { text: String::new(), quoted: false };
    let mut in_quotes = false;
    for (at, character) in text.char_indices() {
        match character {
            '"' => {
                in_quotes = !in_quotes;
                word.quoted |= at == 0;
            }
            ' ' | '\t' | '\r' | ',' | '#' if !in_quotes => return (word, &text[at..]),
            other => word.text.push(other),
        }
    }
    (word, "")
}

fn parse_line(fields: Vec<Vec<Word>>) -> Result<Line, String> {
    let mut fields = fields.into_iter();
    let mut one = |what: &str| -> Result<String, String> {
        let field = fields.next().ok_or_else(|| format!("end-of-line before {what}"))?;
        match <[Word; 1]>::try_from(field) {
            Ok([word]) => Ok(word.text),
            Err(_) => Err(format!("multiple values specified for {what}")),
        }
    };
    let connection = match one("connection type")?.as_str() {
        "local" => Connection::Local,
        "host" | "hostnogssenc" => Connection::Host,
        "hostssl" => Connection::HostSsl,
        "hostnossl" => Connection::HostNoSsl,
        "hostgssenc" => return Err("hostgssenc: GSS encryption is not supported".to_owned()),
        other => return Err(format!("invalid connection type \"{other}\"")),
    };
    let databases = fields.next().ok_or("end-of-line before database specification")?;
    let users = fields.next().ok_or("end-of-line before role specification")?;
    let address = match connection {
        Connection::Local => Address::All,
        _ => address(&mut fields)?,
    };
    let mut words = fields.flatten();
    let method = words.next().ok_or("end-of-line before authentication method")?;
    let method = match method.text.as_str() {
        "trust" => Method::Trust,
        "reject" => Method::Reject,
        "scram-sha-256" | "md5" => Method::Scram,
        "password" => Method::Password,
        "gss" | "sspi" | "ident" | "peer" | "ldap" | "radius" | "cert" | "pam" | "bsd" => {
            return Err(format!("authentication method \"{}\" is not supported", method.text));
        }
        other => return Err(format!("invalid authentication method \"{other}\"")),
    };
    match words.next() {
        None => Ok(Line { connection, databases, users, address, method }),
        Some(option) => Err(format!("authentication option \"{}\" is not supported", option.text)),
    }
}

fn address(fields: &mut impl Iterator<Item = Vec<Word>>) -> Result<Address, String> {
    let field = fields.next().ok_or("end-of-line before IP address specification")?;
    let [word] = <[Word; 1]>::try_from(field)
        .map_err(|_| "multiple values specified for host address".to_owned())?;
    if word.is("all") {
        return Ok(Address::All);
    }
    if word.is("samehost") {
        return Ok(Address::SameHost);
    }
    if word.is("samenet") {
        return Ok(Address::Networks(own_networks()));
    }
    let (host, bits) = match word.text.split_once('/') {
        Some((host, bits)) => (host, Some(bits)),
        None => (word.text.as_str(), None),
    };
    let Ok(network) = host.parse::<IpAddr>() else {
        return match bits {
            None => Ok(Address::Name(host.to_owned())),
            Some(_) => Err(format!(
                "specifying both host name and CIDR mask is invalid: \"{}\"",
                word.text
            )),
        };
    };
    let mask = match bits {
        Some(bits) => bits
            .parse()
            .ok()
            .and_then(|bits| mask(network, bits))
            .ok_or_else(|| format!("invalid CIDR mask in address \"{}\"", word.text))?,
        None => {
            let field = fields.next().ok_or("end-of-line before netmask specification")?;
            let text: String = field.into_iter().map(|word| word.text).collect();
            let mask: IpAddr = text.parse().map_err(|_| format!("invalid IP mask \"{text}\""))?;
            if mask.is_ipv4() != network.is_ipv4() {
                return Err("IP address and mask do not match".to_owned());
            }
            mask
        }
    };
    let network = masked(network, mask).ok_or("IP address and mask do not match")?;
    Ok(Address::Networks(vec![(network, mask)]))
}

/// The mask of so many bits, of an address's kind; none if it cannot have so many.
fn mask(of: IpAddr, bits: u32) -> Option<IpAddr> {
    match of {
        IpAddr::V4(_) => {
            let mask = u32::MAX.checked_shl(32u32.checked_sub(bits)?).unwrap_or(0);
            Some(IpAddr::V4(mask.into()))
        }
        IpAddr::V6(_) => {
            let mask = u128::MAX.checked_shl(128u32.checked_sub(bits)?).unwrap_or(0);
            Some(IpAddr::V6(mask.into()))
        }
    }
}

/// The network of an address; none if the mask is of the other kind.
fn masked(address: IpAddr, mask: IpAddr) -> Option<IpAddr> {
    match (address, mask) {
        (IpAddr::V4(address), IpAddr::V4(mask)) => Some(IpAddr::V4(address & mask)),
        (IpAddr::V6(address), IpAddr::V6(mask)) => Some(IpAddr::V6(address & mask)),
        _ => None,
    }
}

/// The networks this host is on, as the system lists them when the file is read.
fn own_networks() -> Vec<(IpAddr, IpAddr)> {
    let mut networks = vec![(IpAddr::from([127, 0, 0, 0]), IpAddr::from([255, 0, 0, 0]))];
    // A list that is not there names no network: `samenet` then fits the loopback network alone.
    let routes = std::fs::read_to_string("/proc/net/route").unwrap_or_default();
    for route in routes.lines().skip(1) {
        let columns: Vec<&str> = route.split_whitespace().collect();
        let number = |at: usize| columns.get(at).and_then(|hex| u32::from_str_radix(hex, 16).ok());
        // Destination, gateway, mask, in the machine's byte order; a route through a gateway is another network's.
        if let (Some(network), Some(0), Some(mask)) = (number(1), number(2), number(7))
            && mask != 0
        {
            let address = |word: u32| IpAddr::from(word.to_ne_bytes());
            networks.push((address(network), address(mask)));
        }
    }
    let interfaces = std::fs::read_to_string("/proc/net/if_inet6").unwrap_or_default();
    for interface in interfaces.lines() {
        let columns: Vec<&str> = interface.split_whitespace().collect();
        if let [address, _, bits, ..] = columns[..]
            && let (Ok(address), Ok(bits)) =
                (u128::from_str_radix(address, 16), u32::from_str_radix(bits, 16))
        {
            let address = IpAddr::V6(address.into());
            if let Some(mask) = mask(address, bits)
                && let Some(network) = masked(address, mask)
            {
                networks.push((network, mask));
            }
        }
    }
    networks
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(text: &str) -> Result<Rules, String> {
        Rules::parse(text, &|name| match name {
            "admins" => Ok("alice\nbob, \"all\" # the chosen\n".to_owned()),
            _ => Err(format!("no {name}")),
        })
    }

    fn asked(rules: &Rules, from: &str, database: &str, user: &str) -> Option<Method> {
        let (tls, from) = match from.strip_prefix("tls:") {
            Some(from) => (true, from),
            None => (false, from),
        };
        let client = from.parse().ok().map(|ip: IpAddr| (ip, 1).into());
        let origin = Origin { client, local: None, tls };
        // Whoever comes from one of these addresses has a name.
        let client_name = match from {
            "10.9.0.1" => Some("DB1.example.com"),
            "10.9.0.2" => Some("example.com"),
            _ => None,
        };
        let roles = match user {
            "carol" => vec!["carol".to_owned(), "staff".to_owned()],
            _ => vec![user.to_owned()],
        };
        let request = Request { origin: &origin, database, user, roles: &roles, client_name };
        let method = rules.method(&request);
        let nameless = Request { client_name: None, ..request };
        assert!(rules.asks_name(&nameless) || rules.method(&nameless) == method, "{from}");
        method
    }

    #[test]
    fn a_new_directory_trusts_this_machine_alone() {
        let rules = rules(DEFAULT).unwrap();
        assert_eq!(asked(&rules, "local", "d", "u"), Some(Method::Trust));
        assert_eq!(asked(&rules, "127.0.0.1", "d", "u"), Some(Method::Trust));
        assert_eq!(asked(&rules, "::1", "d", "u"), Some(Method::Trust));
        assert_eq!(asked(&rules, "::ffff:127.0.0.1", "d", "u"), Some(Method::Trust));
        assert_eq!(asked(&rules, "127.0.0.2", "d", "u"), Some(Method::Scram));
        assert_eq!(asked(&rules, "10.0.0.1", "d", "u"), Some(Method::Scram));
        assert_eq!(asked(&rules, "2001:db8::1", "d", "u"), Some(Method::Scram));
    }

    #[test]
    fn the_first_line_that_fits_decides() {
        let rules = rules(
            "local sameuser all trust\n\
             local samerole +staff password\n\
             hostssl all @admins 10.1.0.0/16 trust\n\
             hostnossl \"all\",sales all 10.1.2.3 255.255.255.255 reject\n\
             host d1 , d2 \\\n\"u 1\",u2 2001:db8::/32 md5",
        )
        .unwrap();
        assert_eq!(asked(&rules, "local", "carol", "carol"), Some(Method::Trust));
        assert_eq!(asked(&rules, "local", "staff", "carol"), Some(Method::Password));
        assert_eq!(asked(&rules, "local", "other", "carol"), None);
        assert_eq!(asked(&rules, "tls:10.1.9.9", "x", "bob"), Some(Method::Trust));
        assert_eq!(asked(&rules, "tls:10.1.9.9", "x", "all"), Some(Method::Trust));
        assert_eq!(asked(&rules, "tls:10.1.9.9", "x", "eve"), None, "a quoted all is a name");
        assert_eq!(asked(&rules, "10.1.2.3", "sales", "eve"), Some(Method::Reject));
        assert_eq!(asked(&rules, "10.1.2.3", "all", "eve"), Some(Method::Reject));
        assert_eq!(asked(&rules, "10.1.2.3", "x", "eve"), None);
        assert_eq!(asked(&rules, "2001:db8::9", "d2", "u 1"), Some(Method::Scram));
        assert_eq!(asked(&rules, "2001:db9::9", "d2", "u 1"), None);
    }

    #[test]
    fn samehost_and_samenet_know_the_loopback() {
        let rules = rules("host all all samehost trust\nhost all all samenet reject").unwrap();
        assert_eq!(asked(&rules, "127.0.0.1", "d", "u"), Some(Method::Trust));
        assert_eq!(asked(&rules, "203.0.113.77", "d", "u"), None);
    }

    #[test]
    fn a_host_is_known_by_its_name_or_the_end_of_it() {
        let rules = rules(
            "host d1 all db1.EXAMPLE.com trust\n\
             hostssl d2 all .example.com password\n\
             host all bob 10.9.0.0/16 reject\n\
             host all all example.com md5\n\
             host all all \"all\" trust",
        )
        .unwrap();
        assert_eq!(asked(&rules, "10.9.0.1", "d1", "u"), Some(Method::Trust));
        assert_eq!(asked(&rules, "10.9.0.2", "d1", "u"), Some(Method::Scram));
        assert_eq!(asked(&rules, "10.9.0.3", "d1", "u"), None, "a quoted all is a host's name");
        assert_eq!(asked(&rules, "tls:10.9.0.1", "d2", "u"), Some(Method::Password));
        assert_eq!(asked(&rules, "tls:10.9.0.2", "d2", "u"), Some(Method::Scram));
        assert_eq!(asked(&rules, "10.9.0.1", "d2", "u"), None, "the line is for TLS");
        assert_eq!(asked(&rules, "10.9.0.1", "d3", "bob"), Some(Method::Reject));
        assert_eq!(asked(&rules, "local", "d1", "u"), None);
    }

    #[test]
    fn nobody_is_asked_for_a_name_that_decides_nothing() {
        let rules = rules(
            "local all all trust\n\
             host all all 10.0.0.0/8 trust\n\
             host named all db.example trust\n\
             host all all all reject",
        )
        .unwrap();
        let asks = |from: &str, database: &str| {
            let client = from.parse().ok().map(|ip: IpAddr| (ip, 1).into());
            let origin = Origin { client, local: None, tls: false };
            let roles = ["u".to_owned()];
            let client_name = None;
            let request =
                Request { origin: &origin, database, user: "u", roles: &roles, client_name };
            rules.asks_name(&request)
        };
        assert!(asks("192.0.2.1", "named"));
        assert!(!asks("192.0.2.1", "other"), "the line is of another database");
        assert!(!asks("10.1.1.1", "named"), "an earlier line fits");
        assert!(!asks("local", "named"), "a Unix socket has no address");
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        for (text, wanted) in [
            ("# nothing\n", "the file contains no entries"),
            ("\nlocale all all trust", "line 2: invalid connection type \"locale\""),
            ("local all all", "line 1: end-of-line before authentication method"),
            ("local all all peer", "line 1: authentication method \"peer\" is not supported"),
            ("local all all magic", "line 1: invalid authentication method \"magic\""),
            (
                "host all all 1.2.3.4/33 trust",
                "line 1: invalid CIDR mask in address \"1.2.3.4/33\"",
            ),
            ("host all all 1.2.3.4 trust", "line 1: invalid IP mask \"trust\""),
            (
                "host all all db.example/24 trust",
                "line 1: specifying both host name and CIDR mask is invalid: \"db.example/24\"",
            ),
            (
                "host all all db.example 255.0.0.0 trust",
                "line 1: invalid authentication method \"255.0.0.0\"",
            ),
            ("local all @nobody trust", "line 1: no nobody"),
        ] {
            assert_eq!(rules(text).unwrap_err(), wanted, "{text}");
        }
    }
}
