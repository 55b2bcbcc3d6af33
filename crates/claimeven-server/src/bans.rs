//! The banned addresses. `claimeven admin ban` writes them into the database.

use std::net::IpAddr;
use std::sync::{PoisonError, RwLock};

use ipnet::IpNet;

/// The ranges that are banned now.
#[derive(Default)]
pub(crate) struct Bans(RwLock<Vec<IpNet>>);

impl Bans {
    pub(crate) fn contains(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        let ranges = self.0.read().unwrap_or_else(PoisonError::into_inner);
        ranges.iter().any(|range| range.contains(&address))
    }

    /// Replaces all of them.
    pub(crate) fn set(&self, ranges: Vec<IpNet>) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = ranges;
    }
}
