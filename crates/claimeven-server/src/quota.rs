//! Limits in total and per address: on connections, WebSockets, games and jobs.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::client::Address;

/// The number of permits in total and per address. A limit of 0 means no limit.
pub(crate) struct Quota {
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
pub(crate) enum Exceeded {
    All,
    Address,
}

impl Quota {
    pub(crate) fn new(all: usize, per_address: usize) -> Quota {
        Quota { all, per_address, taken: Arc::default() }
    }

    /// Acquires a permit, which counts for the address if there is one.
    pub(crate) fn acquire(&self, address: Option<Address>) -> Result<Permit, Exceeded> {
        let is_full = |limit: usize, count: usize| limit > 0 && count >= limit;
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        if is_full(self.all, taken.all) {
            return Err(Exceeded::All);
        }
        if let Some(address) = address {
            let count = taken.by_address.get(&address).copied().unwrap_or_default();
            if is_full(self.per_address, count) {
                return Err(Exceeded::Address);
            }
            taken.by_address.insert(address, count + 1);
        }
        taken.all += 1;
        Ok(Permit { taken: Arc::clone(&self.taken), address })
    }
}

/// A permit, returned on drop.
pub(crate) struct Permit {
    taken: Arc<Mutex<Taken>>,
    address: Option<Address>,
}

impl Drop for Permit {
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
