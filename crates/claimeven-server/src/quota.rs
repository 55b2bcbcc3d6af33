//! Limits in total, per address and per visitor: on connections, WebSockets, games and jobs.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};

use crate::client::{Address, Client};
use crate::visitor::Visitor;

/// The number of permits in total, per address and per visitor. A limit of 0 means no limit.
pub(crate) struct Quota {
    all: usize,
    per_address: usize,
    per_visitor: usize,
    taken: Arc<Mutex<Taken>>,
}

#[derive(Default)]
struct Taken {
    all: usize,
    by_address: HashMap<Address, usize>,
    by_visitor: HashMap<Visitor, usize>,
}

/// Which limit has been reached.
pub(crate) enum Exceeded {
    All,
    Address,
    Visitor,
}

impl Quota {
    pub(crate) fn new(all: usize, per_address: usize, per_visitor: usize) -> Quota {
        Quota { all, per_address, per_visitor, taken: Arc::default() }
    }

    /// Acquires a permit, which counts for the client's address and visitor, as far as they are known.
    pub(crate) fn acquire(&self, client: &Client) -> Result<Permit, Exceeded> {
        let is_full = |limit: usize, count: usize| limit > 0 && count >= limit;
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        if is_full(self.all, taken.all) {
            return Err(Exceeded::All);
        }
        if is_full(self.per_address, count(&taken.by_address, client.address.as_ref())) {
            return Err(Exceeded::Address);
        }
        if is_full(self.per_visitor, count(&taken.by_visitor, client.visitor.as_ref())) {
            return Err(Exceeded::Visitor);
        }
        taken.all += 1;
        increment(&mut taken.by_address, client.address.as_ref());
        increment(&mut taken.by_visitor, client.visitor.as_ref());
        Ok(Permit { taken: Arc::clone(&self.taken), client: client.clone() })
    }
}

fn count<K: Eq + Hash>(counts: &HashMap<K, usize>, key: Option<&K>) -> usize {
    key.and_then(|key| counts.get(key)).copied().unwrap_or_default()
}

fn increment<K: Eq + Hash + Clone>(counts: &mut HashMap<K, usize>, key: Option<&K>) {
    if let Some(key) = key {
        *counts.entry(key.clone()).or_default() += 1;
    }
}

fn decrement<K: Eq + Hash>(counts: &mut HashMap<K, usize>, key: Option<&K>) {
    let Some(key) = key else { return };
    if let Some(count) = counts.get_mut(key) {
        *count -= 1;
        if *count == 0 {
            counts.remove(key);
        }
    }
}

/// A permit, returned on drop.
pub(crate) struct Permit {
    taken: Arc<Mutex<Taken>>,
    client: Client,
}

impl Drop for Permit {
    fn drop(&mut self) {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        taken.all -= 1;
        decrement(&mut taken.by_address, self.client.address.as_ref());
        decrement(&mut taken.by_visitor, self.client.visitor.as_ref());
    }
}
