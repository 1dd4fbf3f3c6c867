//! One line of `pg_hba.conf`, read word by word as PostgreSQL reads it (`parse_hba_line`).

use super::address::{Address, mask, number, own_networks};
use super::tokens::{self, Word};
use super::{CertificateName, ClientCertificate, Connection, Method, Rule};
use sql::host::AccessRule;

/// What is wrong with a line. A line that can match nobody is kept all the same, and told of.
type Parsed = (Option<Rule>, Option<String>);

/// The rule of a line.
pub(super) fn parse(line: &tokens::Line, tls: bool) -> Parsed {
    let fields = match &line.fields {
        Ok(fields) => fields,
        Err(error) => return (None, Some(error.clone())),
    };
    let parser = Parser { fields, at: 0 };
    match parser.rule(line, tls) {
        Ok((rule, useless)) => (Some(rule), useless),
        Err(error) => (None, Some(error)),
    }
}

struct Parser<'l> {
    fields: &'l [Vec<Word>],
    at: usize,
}

impl Parser<'_> {
    fn field(&mut self, missing: &str) -> Result<&[Word], String> {
        let field = self.fields.get(self.at).ok_or_else(|| format!("end-of-line before {missing}"));
        self.at += 1;
        field.map(Vec::as_slice)
    }

    /// A field of one word.
    fn one(&mut self, missing: &str, several: &str) -> Result<Word, String> {
        match self.field(missing)? {
            [word] => Ok(word.clone()),
            _ => Err(format!("multiple values specified for {several}")),
        }
    }

    fn rule(mut self, line: &tokens::Line, tls: bool) -> Result<(Rule, Option<String>), String> {
        let word = self.one("connection type", "connection type")?.text;
        let connection = Connection::named(&word)
            .ok_or_else(|| format!("invalid connection type \"{word}\""))?;
        let useless = match connection {
            Connection::HostSsl if !tls => {
                Some("hostssl record cannot match because SSL is disabled".to_owned())
            }
            Connection::HostGss => Some(
                "hostgssenc record cannot match because GSSAPI is not supported by this build"
                    .to_owned(),
            ),
            _ => None,
        };
        let databases = self.field("database specification")?.to_vec();
        let users = self.field("role specification")?.to_vec();
        let address = match connection {
            Connection::Local => Address::All,
            _ => self.address()?,
        };
        let method = self.method(connection)?;
        let mut rule = Rule {
            line: line.number,
            raw: line.raw.clone(),
            connection,
            databases,
            users,
            address,
            method,
            map: None,
            certificate: ClientCertificate::Off,
            certificate_name: CertificateName::Common,
        };
        let options: Vec<Word> = self.fields[self.at..].iter().flatten().cloned().collect();
        for option in options {
            let Some((name, value)) = option.text.split_once('=') else {
                return Err(format!(
                    "authentication option not in name=value format: {}",
                    option.text
                ));
            };
            rule.set(name, value)?;
        }
        if rule.method == Method::Certificate {
            rule.certificate = ClientCertificate::Full;
        }
        Ok((rule, useless))
    }

    fn address(&mut self) -> Result<Address, String> {
        let word = self.one("IP address specification", "host address")?;
        if word.is("all") {
            return Ok(Address::All);
        }
        if word.is("samehost") {
            return Ok(Address::SameHost);
        }
        if word.is("samenet") {
            return Ok(Address::SameNet(own_networks()));
        }
        let (host, bits) = match word.text.split_once('/') {
            Some((host, bits)) => (host, Some(bits)),
            None => (word.text.as_str(), None),
        };
        let Some(address) = number(host) else {
            return match bits {
                None => Ok(Address::Name(host.to_owned())),
                Some(_) => Err(format!(
                    "specifying both host name and CIDR mask is invalid: \"{}\"",
                    word.text
                )),
            };
        };
        if let Some(bits) = bits {
            let mask = bits.parse().ok().and_then(|bits| mask(address, bits));
            let wrong = || format!("invalid CIDR mask in address \"{}\"", word.text);
            return Ok(Address::Network(address, mask.ok_or_else(wrong)?));
        }
        let text = self.one("netmask specification", "netmask")?.text;
        let mask = number(&text)
            .ok_or_else(|| format!("invalid IP mask \"{text}\": Name or service not known"))?;
        if mask.is_ipv4() != address.is_ipv4() {
            return Err("IP address and mask do not match".to_owned());
        }
        Ok(Address::Network(address, mask))
    }

    fn method(&mut self, connection: Connection) -> Result<Method, String> {
        let word = self.one("authentication method", "authentication type")?.text;
        let local = connection == Connection::Local;
        Ok(match word.as_str() {
            "trust" => Method::Trust,
            "reject" => Method::Reject,
            "scram-sha-256" => Method::Scram,
            "md5" => Method::Md5,
            "password" => Method::Password,
            "ident" if !local => Method::Ident,
            "ident" | "peer" if local => Method::Peer,
            "peer" => return Err("peer authentication is only supported on local sockets".into()),
            "cert" if connection == Connection::HostSsl => Method::Certificate,
            "cert" => {
                return Err(
                    "cert authentication is only supported on hostssl connections".to_owned()
                );
            }
            "gss" | "sspi" | "ldap" | "radius" | "pam" | "bsd" => {
                return Err(format!(
                    "invalid authentication method \"{word}\": not supported by this build"
                ));
            }
            _ => return Err(format!("invalid authentication method \"{word}\"")),
        })
    }
}

impl Rule {
    /// An option (`parse_hba_auth_opt`).
    fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        let only = |methods: &str| {
            Err(format!(
                "authentication option \"{name}\" is only valid for authentication methods {methods}"
            ))
        };
        match name {
            "map" => match self.method {
                Method::Ident | Method::Peer | Method::Certificate => {
                    self.map = Some(value.to_owned());
                }
                _ => return only("ident, peer, gssapi, sspi, and cert"),
            },
            "clientcert" => {
                if self.connection != Connection::HostSsl {
                    return Err("clientcert can only be configured for \"hostssl\" rows".into());
                }
                self.certificate = match value {
                    "verify-full" => ClientCertificate::Full,
                    "verify-ca" if self.method == Method::Certificate => {
                        return Err(
                            "clientcert can only be set to \"verify-full\" when using \"cert\" authentication"
                                .into(),
                        );
                    }
                    "verify-ca" => ClientCertificate::Authority,
                    _ => return Err(format!("invalid value for clientcert: \"{value}\"")),
                };
            }
            "clientname" => {
                if self.connection != Connection::HostSsl {
                    return Err("clientname can only be configured for \"hostssl\" rows".into());
                }
                self.certificate_name = match value {
                    "CN" => CertificateName::Common,
                    "DN" => CertificateName::Distinguished,
                    _ => return Err(format!("invalid value for clientname: \"{value}\"")),
                };
            }
            "pamservice" | "pam_use_hostname" => return only("pam"),
            "krb_realm" | "include_realm" => return only("gssapi and sspi"),
            "compat_realm" | "upn_username" => return only("sspi"),
            "radiusservers" | "radiusports" | "radiussecrets" | "radiusidentifiers" => {
                return only("radius");
            }
            _ if name.starts_with("ldap") => return only("ldap"),
            _ => return Err(format!("unrecognized authentication option name: \"{name}\"")),
        }
        Ok(())
    }

    /// As `pg_hba_file_rules` shows it.
    pub(super) fn shown(&self, error: Option<String>) -> AccessRule {
        let texts = |words: &[Word]| words.iter().map(|word| word.text.clone()).collect();
        let (address, mask) = match &self.address {
            Address::All if self.connection == Connection::Local => (None, None),
            Address::All => (Some("all".to_owned()), None),
            Address::SameHost => (Some("samehost".to_owned()), None),
            Address::SameNet(_) => (Some("samenet".to_owned()), None),
            Address::Name(name) => (Some(name.clone()), None),
            Address::Network(address, mask) => (Some(address.to_string()), Some(mask.to_string())),
        };
        let map = self.map.as_ref().map(|map| format!("map={map}"));
        let certificate = match self.certificate {
            ClientCertificate::Off => None,
            ClientCertificate::Authority => Some("clientcert=verify-ca".to_owned()),
            ClientCertificate::Full => Some("clientcert=verify-full".to_owned()),
        };
        AccessRule {
            line: self.line,
            error,
            kind: Some(self.connection.word().to_owned()),
            databases: texts(&self.databases),
            users: texts(&self.users),
            address,
            mask,
            method: Some(self.method.word().to_owned()),
            options: map.into_iter().chain(certificate).collect(),
        }
    }
}
