//! Addresses of `pg_hba.conf`: numbers in all forms that `inet_aton` takes (`127.1`, `10/8`), masks, names of hosts, the
//! networks that this machine is in.

use std::net::{IpAddr, Ipv4Addr};

/// Where a client may come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// `all`; and of lines for Unix sockets.
    All,
    /// `samehost`.
    SameHost,
    /// `samenet`, as the networks were when the file was read.
    SameNet(Vec<(IpAddr, IpAddr)>),
    /// A host by its name, or by the end of it.
    Name(String),
    /// An address, which may have more bits than its mask, and the mask.
    Network(IpAddr, IpAddr),
}

impl Address {
    /// Whether an address is of this network.
    #[must_use]
    pub fn has(network: (IpAddr, IpAddr), client: IpAddr) -> bool {
        masked(client, network.1).is_some_and(|one| Some(one) == masked(network.0, network.1))
    }
}

/// An address in numbers.
#[must_use]
pub fn number(text: &str) -> Option<IpAddr> {
    text.parse().ok().or_else(|| short_form(text).map(IpAddr::V4))
}

/// One to four numbers, decimal, octal or hexadecimal, the last of which has all bits that are left.
fn short_form(text: &str) -> Option<Ipv4Addr> {
    let parts: Vec<&str> = text.split('.').collect();
    let (last, first) = parts.split_last()?;
    if first.len() > 3 {
        return None;
    }
    let value = |part: &str| match part.as_bytes() {
        [b'0', b'x' | b'X', ..] => u32::from_str_radix(&part[2..], 16).ok(),
        [b'0', _, ..] => u32::from_str_radix(&part[1..], 8).ok(),
        [b'0'..=b'9', ..] => part.parse().ok(),
        _ => None,
    };
    let mut address = 0_u32;
    for (place, part) in first.iter().enumerate() {
        address |= value(part).filter(|part| *part < 256)? << (24 - 8 * place);
    }
    let rest = value(last)?;
    let bits = 32 - 8 * first.len();
    if bits < 32 && rest >> bits != 0 {
        return None;
    }
    Some((address | rest).into())
}

/// The mask of so many bits, of an address's kind; none if it cannot have so many.
#[must_use]
pub fn mask(of: IpAddr, bits: u32) -> Option<IpAddr> {
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
#[must_use]
pub fn own_networks() -> Vec<(IpAddr, IpAddr)> {
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

    #[test]
    fn short_forms_are_the_systems() {
        let number = |text| number(text).map(|address| address.to_string());
        for (text, wanted) in [
            ("127.1", Some("127.0.0.1")),
            ("0", Some("0.0.0.0")),
            ("10", Some("0.0.0.10")),
            ("10.1.2", Some("10.1.0.2")),
            ("0x7f.1", Some("127.0.0.1")),
            ("010.1.1.1", Some("8.1.1.1")),
            ("1.65536", Some("1.1.0.0")),
            ("256.1", None),
            ("1.2.3.256", None),
            ("1.2.3.4.5", None),
            ("db", None),
            ("1.x", None),
            ("::1", Some("::1")),
        ] {
            assert_eq!(number(text).as_deref(), wanted, "{text}");
        }
    }
}
