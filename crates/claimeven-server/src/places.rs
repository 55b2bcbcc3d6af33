//! A limited number of places, in total and per address: for connections, WebSockets, games and
//! jobs.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::client::Address;

/// Places that are taken and returned. A limit of 0 means no limit.
pub(crate) struct Places {
    all: usize,
    per_address: usize,
    taken: Arc<Mutex<Taken>>,
}

#[derive(Default)]
struct Taken {
    all: usize,
    by_address: HashMap<Address, usize>,
}

/// Which limit has been reached.
pub(crate) enum Full {
    All,
    Address,
}

impl Places {
    pub(crate) fn new(all: usize, per_address: usize) -> Places {
        Places { all, per_address, taken: Arc::default() }
    }

    /// Takes a place, which counts for the address if there is one.
    pub(crate) fn take(&self, address: Option<Address>) -> Result<Place, Full> {
        let is_full = |limit: usize, count: usize| limit > 0 && count >= limit;
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        if is_full(self.all, taken.all) {
            return Err(Full::All);
        }
        if let Some(address) = address {
            let count = taken.by_address.get(&address).copied().unwrap_or_default();
            if is_full(self.per_address, count) {
                return Err(Full::Address);
            }
            taken.by_address.insert(address, count + 1);
        }
        taken.all += 1;
        Ok(Place { taken: Arc::clone(&self.taken), address })
    }
}

/// A taken place, returned on drop.
pub(crate) struct Place {
    taken: Arc<Mutex<Taken>>,
    address: Option<Address>,
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        taken.all -= 1;
        let Some(address) = self.address else { return };
        if let Some(count) = taken.by_address.get_mut(&address) {
            *count -= 1;
            if *count == 0 {
                taken.by_address.remove(&address);
            }
        }
    }
}
