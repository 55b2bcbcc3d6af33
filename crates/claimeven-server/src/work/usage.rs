//! How much of the engine each client has used recently.

use std::collections::HashMap;
use std::hash::Hash;
use std::time::{Duration, Instant};

use crate::client::{Address, Client};
use crate::visitor::Visitor;

/// The engine time that clients have used, with exponential decay.
#[derive(Default)]
pub(crate) struct Usage {
    addresses: DecayingTimes<Option<Address>>,
    visitors: DecayingTimes<Visitor>,
}

impl Usage {
    pub(crate) fn of_address(&self, address: Option<Address>, now: Instant) -> Duration {
        self.addresses.get(&address, now)
    }

    pub(crate) fn of_visitor(&self, visitor: Option<&Visitor>, now: Instant) -> Duration {
        visitor.map_or(Duration::ZERO, |visitor| self.visitors.get(visitor, now))
    }

    pub(crate) fn add(&mut self, client: &Client, time: Duration, now: Instant) {
        self.addresses.add(client.address, time, now);
        if let Some(visitor) = &client.visitor {
            self.visitors.add(visitor.clone(), time, now);
        }
    }
}

/// Times with exponential decay.
struct DecayingTimes<K> {
    used: HashMap<K, (Duration, Instant)>,
}

impl<K> Default for DecayingTimes<K> {
    fn default() -> DecayingTimes<K> {
        DecayingTimes { used: HashMap::new() }
    }
}

impl<K: Eq + Hash> DecayingTimes<K> {
    const HALF_LIFE: Duration = Duration::from_secs(10);
    /// Times below this are forgotten.
    const NEGLIGIBLE: Duration = Duration::from_millis(1);

    fn get(&self, key: &K, now: Instant) -> Duration {
        self.used.get(key).map_or(Duration::ZERO, |used| decayed(*used, now))
    }

    fn add(&mut self, key: K, time: Duration, now: Instant) {
        let used = self.get(&key, now) + time;
        // Cleaning up pays off once their number has doubled.
        if self.used.len() == self.used.capacity() {
            self.used.retain(|_, used| decayed(*used, now) > Self::NEGLIGIBLE);
        }
        self.used.insert(key, (used, now));
    }
}

fn decayed((used, since): (Duration, Instant), now: Instant) -> Duration {
    let elapsed = now.saturating_duration_since(since).as_secs_f64();
    used.mul_f64((-elapsed / DecayingTimes::<()>::HALF_LIFE.as_secs_f64()).exp2())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usage_decays_and_is_forgotten() {
        let (now, mut used) = (Instant::now(), DecayingTimes::default());
        used.add(1, Duration::from_secs(8), now);
        used.add(2, Duration::from_secs(1), now);
        let later = now + 2 * DecayingTimes::<u32>::HALF_LIFE;
        assert_eq!(used.get(&1, later), Duration::from_secs(2));
        used.add(1, Duration::from_secs(1), later);
        assert_eq!(used.get(&1, later), Duration::from_secs(3));

        for key in 3..100_000 {
            used.add(key, Duration::from_secs(1), now + key * Duration::from_secs(1));
        }
        assert!(used.used.len() < 1000, "{}", used.used.len());
    }
}
