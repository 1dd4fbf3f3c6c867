//! Which line fits whom, and what is wrong with lines.

use super::*;
use std::net::IpAddr;

fn rules(text: &str) -> Result<Rules, Vec<String>> {
    let include = |name: &str| match name {
        "admins" => Ok("alice\nbob, \"all\" # the chosen\n".to_owned()),
        _ => Err(format!("no {name}")),
    };
    Rules::of(parse(text, true, &include), &|line, error| format!("line {line}: {error}"))
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
    let method = rules.rule(&request).map(|rule| rule.method);
    let nameless = Request { client_name: None, ..request };
    assert!(
        rules.asks_name(&nameless) || rules.rule(&nameless).map(|rule| rule.method) == method,
        "{from}"
    );
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
         host d1,d2 \\\n\"u 1\",u2 2001:db8::/32 md5",
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
    assert_eq!(asked(&rules, "2001:db8::9", "d2", "u 1"), Some(Method::Md5));
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
    assert_eq!(asked(&rules, "10.9.0.2", "d1", "u"), Some(Method::Md5));
    assert_eq!(asked(&rules, "10.9.0.3", "d1", "u"), None, "a quoted all is a host's name");
    assert_eq!(asked(&rules, "tls:10.9.0.1", "d2", "u"), Some(Method::Password));
    assert_eq!(asked(&rules, "tls:10.9.0.2", "d2", "u"), Some(Method::Md5));
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
        let request = Request { origin: &origin, database, user: "u", roles: &roles, client_name };
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
        ("# nothing\n", ""),
        ("\nlocale all all trust", "line 2: invalid connection type \"locale\""),
        ("local all all", "line 1: end-of-line before authentication method"),
        ("host all all all peer", "line 1: peer authentication is only supported on local sockets"),
        (
            "host all all all cert",
            "line 1: cert authentication is only supported on hostssl connections",
        ),
        (
            "local all all ldap",
            "line 1: invalid authentication method \"ldap\": not supported by this build",
        ),
        ("local all all magic", "line 1: invalid authentication method \"magic\""),
        ("host all all 1.2.3.4/33 trust", "line 1: invalid CIDR mask in address \"1.2.3.4/33\""),
        (
            "host all all 1.2.3.4 trust",
            "line 1: invalid IP mask \"trust\": Name or service not known",
        ),
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
        assert_eq!(rules(text).unwrap_err().join("\n"), wanted, "{text}");
    }
}
