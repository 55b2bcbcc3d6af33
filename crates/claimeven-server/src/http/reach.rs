//! How clients reach the server: trusted proxies and allowed host names.

use std::net::{IpAddr, SocketAddr};

use axum::http::HeaderMap;
use ipnet::IpNet;

use crate::config::Config;
use crate::error::Error;

/// The proxies whose headers are trusted, and the names of this server.
#[derive(Debug, Default)]
pub(crate) struct Reach {
    proxies: Vec<IpNet>,
    hosts: Vec<String>,
    has_tls: bool,
}

impl Reach {
    /// Parses `trusted_proxies` and `hosts`; the error names the invalid value.
    pub(crate) fn new(config: &Config) -> Result<Reach, String> {
        let values = |text: &str| -> Vec<String> {
            let values = text.split(',').map(|value| value.trim().to_ascii_lowercase());
            values.filter(|value| !value.is_empty()).collect()
        };
        let range = |value: &String| {
            let one = || value.parse::<IpAddr>().map(IpNet::from);
            value.parse::<IpNet>().or_else(|_| one()).map_err(|_| {
                format!(
                    "trusted_proxies must be addresses or ranges such as 10.0.0.0/8, not '{value}'"
                )
            })
        };
        let proxies =
            values(&config.trusted_proxies).iter().map(range).collect::<Result<_, _>>()?;
        Ok(Reach { proxies, hosts: values(&config.hosts), has_tls: config.has_tls() })
    }

    pub(crate) fn is_proxy(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        self.proxies.iter().any(|range| range.contains(&address))
    }

    /// The client's address: the peer's, or the last one in X-Forwarded-For that is not a trusted
    /// proxy.
    pub(crate) fn client(&self, peer: SocketAddr, headers: &HeaderMap) -> IpAddr {
        let peer = peer.ip().to_canonical();
        if !self.is_proxy(peer) {
            return peer;
        }
        let lists = headers.get_all("x-forwarded-for").iter().rev();
        let hops = lists.filter_map(|list| list.to_str().ok()).flat_map(|list| list.rsplit(','));
        let mut last = peer;
        for hop in hops {
            // After something that is not an address, the hops before it cannot be trusted either.
            let Some(address) = hop_address(hop.trim()) else { break };
            last = address;
            if !self.is_proxy(address) {
                break;
            }
        }
        last
    }

    /// The host that the client requested, with its port.
    pub(crate) fn host<'a>(&self, peer: SocketAddr, headers: &'a HeaderMap) -> Option<&'a str> {
        self.forwarded(peer, headers, "x-forwarded-host")
            .or_else(|| headers.get("host")?.to_str().ok())
    }

    /// The value of a header, if it comes from a trusted proxy.
    pub(crate) fn forwarded<'a>(
        &self,
        peer: SocketAddr,
        headers: &'a HeaderMap,
        name: &str,
    ) -> Option<&'a str> {
        let value = headers.get(name).filter(|_| self.is_proxy(peer.ip()))?;
        value.to_str().ok()
    }

    /// Whether the client speaks HTTPS, with this server or with a trusted proxy.
    pub(crate) fn is_https(&self, peer: SocketAddr, headers: &HeaderMap) -> bool {
        self.has_tls || self.forwarded(peer, headers, "x-forwarded-proto") == Some("https")
    }

    /// Whether the request comes from a program on this machine, such as a browser or an SSH tunnel, and
    /// was not forwarded by a proxy there.
    pub(crate) fn is_local(&self, peer: SocketAddr, headers: &HeaderMap) -> bool {
        const FORWARDED: [&str; 4] = ["forwarded", "via", "x-forwarded-for", "x-real-ip"];
        let host = headers.get("host").and_then(|host| host.to_str().ok());
        let name = host.map(|host| without_port(host).to_ascii_lowercase());
        let is_loopback = |name: &str| {
            let address = name.parse::<IpAddr>();
            name == "localhost" || address.is_ok_and(|address| address.to_canonical().is_loopback())
        };
        peer.ip().to_canonical().is_loopback()
            && !self.is_proxy(peer.ip())
            && FORWARDED.iter().all(|header| !headers.contains_key(*header))
            && name.is_some_and(|name| is_loopback(&name))
    }

    /// Rejects host names that are not this server's. Otherwise a page that points its own name to
    /// this address (DNS rebinding) would count as our own page. The attack needs a name, so IP addresses
    /// are allowed.
    pub(crate) fn check_host(&self, host: Option<&str>) -> Result<(), Error> {
        let Some(host) = host else { return Ok(()) };
        let name = without_port(host).trim_end_matches('.').to_ascii_lowercase();
        let is_known = name.parse::<IpAddr>().is_ok()
            || name == "localhost"
            || name.ends_with(".localhost")
            || self.hosts.iter().any(|known| known == "*" || *known == name);
        if is_known {
            return Ok(());
        }
        let name = name.escape_debug();
        Err(Error::Forbidden(format!(
            "This server is not known as '{name}'; its operator can add the name to the setting 'hosts'"
        )))
    }
}

/// `127.0.0.1`, `127.0.0.1:80`, `::1` or `[::1]:80`.
fn hop_address(text: &str) -> Option<IpAddr> {
    let address = text.parse().ok().or_else(|| without_port(text).parse().ok())?;
    Some(IpAddr::to_canonical(&address))
}

/// The name or address of `NAME`, `NAME:PORT`, `[ADDRESS]` or `[ADDRESS]:PORT`.
fn without_port(host: &str) -> &str {
    match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or(rest),
        None => host.split(':').next().unwrap_or(host),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    fn reach(trusted_proxies: &str, hosts: &str) -> Reach {
        let (trusted_proxies, hosts) = (trusted_proxies.to_owned(), hosts.to_owned());
        Reach::new(&Config { hosts, trusted_proxies, ..Config::default() }).unwrap()
    }

    #[test]
    fn trusted_proxies_determine_the_client_address() {
        let reach = reach("10.0.0.0/8, ::1", "");
        let client = |peer: &str, lists: &[&'static str]| {
            let mut headers = HeaderMap::new();
            for &list in lists {
                headers.append("x-forwarded-for", HeaderValue::from_static(list));
            }
            reach.client(peer.parse().unwrap(), &headers).to_string()
        };
        assert_eq!(client("1.2.3.4:5", &["9.9.9.9"]), "1.2.3.4", "anyone can send the header");
        assert_eq!(client("10.0.0.1:5", &["9.9.9.9"]), "9.9.9.9");
        assert_eq!(client("10.0.0.1:5", &["6.6.6.6, 9.9.9.9:1234, 10.0.0.2"]), "9.9.9.9");
        assert_eq!(client("10.0.0.1:5", &["6.6.6.6", "[2001:db8::1]:443"]), "2001:db8::1");
        assert_eq!(client("[::1]:5", &["unknown"]), "::1");
        assert_eq!(client("[::ffff:10.0.0.1]:5", &["9.9.9.9"]), "9.9.9.9");
        assert_eq!(client("10.0.0.1:5", &[]), "10.0.0.1");
    }

    #[test]
    fn foreign_host_names_are_rejected_and_ip_addresses_are_not() {
        let reach = reach("", "play.example, Other.Example");
        for host in ["localhost:8080", "a.localhost", "127.0.0.1:80", "[::1]:80", "192.168.0.7"] {
            assert!(reach.check_host(Some(host)).is_ok(), "{host}");
        }
        for host in ["play.example", "PLAY.example:443", "other.example."] {
            assert!(reach.check_host(Some(host)).is_ok(), "{host}");
        }
        for host in ["evil.example", "play.example.evil.example", "localhost.evil.example", ""] {
            assert!(reach.check_host(Some(host)).is_err(), "{host}");
        }
        assert!(reach.check_host(None).is_ok());
    }

    #[test]
    fn requests_from_this_machine_are_local_unless_a_proxy_forwards_them() {
        let is_local = |peer: &str, trusted: &str, given: &[(&'static str, &'static str)]| {
            let mut headers = HeaderMap::new();
            for (name, value) in given {
                headers.append(*name, HeaderValue::from_static(value));
            }
            reach(trusted, "").is_local(peer.parse().unwrap(), &headers)
        };
        let here = ("host", "127.0.0.1:8080");
        assert!(is_local("127.0.0.1:5", "", &[here]));
        assert!(is_local("[::1]:5", "", &[("host", "localhost:8080")]));
        assert!(is_local("[::ffff:127.0.0.1]:5", "", &[("host", "[::1]:8080")]));
        assert!(!is_local("192.168.0.7:5", "", &[here]));
        assert!(!is_local("127.0.0.1:5", "", &[("host", "play.example")]), "an unknown proxy");
        assert!(!is_local("127.0.0.1:5", "", &[here, ("x-forwarded-for", "9.9.9.9")]));
        assert!(!is_local("127.0.0.1:5", "127.0.0.1", &[here]), "a trusted proxy");
        assert!(!is_local("127.0.0.1:5", "", &[]));
    }

    #[test]
    fn errors_name_the_invalid_range() {
        let config = Config { trusted_proxies: "10.0.0.0/33".to_owned(), ..Config::default() };
        assert!(Reach::new(&config).unwrap_err().contains("'10.0.0.0/33'"));
    }
}
