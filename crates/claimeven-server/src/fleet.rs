//! The servers that share a database, and their leases on games.
//!
//! Every server accepts moves. Only the holder of a game's lease lets agents think and ends the game
//! when a player's time is up or a player has left; a server acquires the lease when it needs it. The
//! version of a stored game decides in any case: a server that wrongly believes it holds a lease can
//! waste time but cannot overwrite anything.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use crate::bus::{Bus, Inbox, LocalBus, Message, NatsBus};
use crate::config::Config;
use crate::metrics::Metrics;
use crate::store::{SERVER_LIFETIME, Store, StoreError};

/// This server as part of a fleet, or alone.
pub(crate) struct Fleet {
    bus: Box<dyn Bus>,
    store: Store,
    metrics: Arc<Metrics>,
    /// The hash of the key that signs cookies.
    signing_key: String,
    /// `None` if it runs alone.
    leases: Option<Mutex<Leases>>,
}

/// The leases of this server.
struct Leases {
    games: HashSet<String>,
    /// Until when they are valid.
    until: Instant,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Fleet {
    /// A server that runs alone.
    pub(crate) fn alone(store: Store, metrics: Arc<Metrics>) -> Fleet {
        let signing_key = String::new();
        Fleet { bus: Box::new(LocalBus), store, metrics, signing_key, leases: None }
    }

    /// Joins the servers of a database. Returns their messages, and whether this is the first server.
    pub(crate) async fn join(
        config: &Config,
        store: Store,
        server: &Arc<str>,
        signing_key: String,
        metrics: &Arc<Metrics>,
    ) -> Result<(Fleet, Inbox, bool), String> {
        let (bus, inbox) = NatsBus::open(config, server, metrics).await?;
        let until = Instant::now() + SERVER_LIFETIME;
        store.measure_clock().await.map_err(|error| error.to_string())?;
        let registered = store.register_server(&signing_key).await;
        let is_first = registered.map_err(|error| error.to_string())?;
        let leases = Some(Mutex::new(Leases { games: HashSet::new(), until }));
        let metrics = Arc::clone(metrics);
        let fleet = Fleet { bus: Box::new(bus), store, metrics, signing_key, leases };
        Ok((fleet, inbox, is_first))
    }

    /// Whether other servers may use the database.
    pub(crate) fn is_shared(&self) -> bool {
        self.leases.is_some()
    }

    /// Sends a message to the other servers.
    pub(crate) fn publish(&self, message: Message) {
        self.bus.publish(message);
    }

    /// Waits until everything that was published has left this process.
    pub(crate) async fn flush(&self) {
        self.bus.flush().await;
    }

    /// Whether the other servers can be reached.
    pub(crate) fn is_connected(&self) -> bool {
        self.bus.is_connected()
    }

    /// Changes when messages may have been missed.
    pub(crate) fn connects(&self) -> u64 {
        self.bus.connects()
    }

    /// Whether this server has the lease of a game.
    pub(crate) fn has_lease(&self, game: &str) -> bool {
        self.leases.as_ref().is_none_or(|leases| {
            let leases = lock(leases);
            leases.games.contains(game) && Instant::now() < leases.until
        })
    }

    /// The number of games whose lease this server holds.
    pub(crate) fn leased_games(&self) -> usize {
        self.leases.as_ref().map_or(0, |leases| lock(leases).games.len())
    }

    /// Acquires the lease of a game if it is free; returns whether this server has it now.
    pub(crate) async fn acquire_lease(&self, game: &str) -> bool {
        let Some(leases) = &self.leases else { return true };
        if self.has_lease(game) {
            return true;
        }
        if Instant::now() >= lock(leases).until {
            // No lease can be taken before the next heartbeat.
            return false;
        }
        match self.store.take_lease(game).await {
            Ok(true) => {
                lock(leases).games.insert(game.to_owned());
                self.metrics.leases_taken.inc();
                true
            }
            Ok(false) => false,
            Err(error) => {
                tracing::error!(?error, game, "Failed to take the lease of a game");
                false
            }
        }
    }

    /// Releases the lease of a game, if this server has it.
    pub(crate) async fn release(&self, game: &str) {
        let Some(leases) = &self.leases else { return };
        if !lock(leases).games.remove(game) {
            return;
        }
        match self.store.release_lease(game).await {
            Ok(()) => self.publish(Message::Released { game: game.to_owned() }),
            // It expires with this server.
            Err(error) => tracing::error!(?error, game, "Failed to give back a lease"),
        }
    }

    /// Renews this server's registration. Returns whether it had expired, and its leases with it.
    pub(crate) async fn heartbeat(&self) -> Result<bool, StoreError> {
        let Some(leases) = &self.leases else { return Ok(false) };
        let until = Instant::now() + SERVER_LIFETIME;
        let was_alive = self.store.heartbeat(&self.signing_key).await?;
        if !was_alive {
            tracing::warn!(
                "The registration of this server expired; others may have taken over its games"
            );
            let lost = std::mem::take(&mut lock(leases).games).len();
            self.metrics.leases_lost.inc_by(lost as u64);
        }
        lock(leases).until = until;
        Ok(!was_alive)
    }

    /// Hands its games over to the others.
    pub(crate) async fn leave(&self) {
        let Some(leases) = &self.leases else { return };
        lock(leases).games.clear();
        if let Err(error) = self.store.leave().await {
            tracing::error!(?error, "Failed to leave the fleet");
        }
        self.publish(Message::Left);
        self.bus.flush().await;
    }
}
