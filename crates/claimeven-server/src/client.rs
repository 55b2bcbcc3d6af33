//! Clients: an address and a visitor, the unit of limits and fair sharing.

use std::net::{IpAddr, Ipv6Addr};

use crate::visitor::Visitor;

/// A network address; an IPv6 /64 network counts as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Address(IpAddr);

impl Address {
    pub(crate) fn new(address: IpAddr) -> Address {
        Address(match address.to_canonical() {
            IpAddr::V4(address) => IpAddr::V4(address),
            IpAddr::V6(address) => {
                let network = u128::from(address) >> 64 << 64;
                IpAddr::V6(Ipv6Addr::from(network))
            }
        })
    }
}

/// A visitor at an address. Deleting the cookie makes a new visitor at the same address; the visitors
/// in a school share one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Client {
    /// `None` for the server itself: games that nobody has requested since the start, and reviews
    /// prepared in advance.
    pub(crate) address: Option<Address>,
    pub(crate) visitor: Option<Visitor>,
}

impl Client {
    /// The server itself.
    pub(crate) const SERVER: Client = Client { address: None, visitor: None };
}
