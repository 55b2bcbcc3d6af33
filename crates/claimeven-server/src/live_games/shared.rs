//! Games shared with other servers, which may change them as well.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use tokio_util::task::AbortOnDropHandle;

use super::{GameEvent, LiveGame, LiveGames, lock};
use crate::bus::{Envelope, Inbox, Message};
use crate::client::Client;
use crate::error::Error;
use crate::fleet::Fleet;

/// For how long another server is believed to hold the lease of a game before it is tried again.
const LEASED_ELSEWHERE: Duration = Duration::from_secs(4);

/// How many games of dead servers are taken over at once.
const MAX_ADOPTED: u32 = 500;

impl LiveGame {
    /// Whether another server was recently found to hold the lease of the game.
    pub(super) fn is_leased_elsewhere(&self) -> bool {
        lock(&self.leased_elsewhere).is_some_and(|found| found.elapsed() < LEASED_ELSEWHERE)
    }
}

impl LiveGames {
    /// Acquires the lease of a game if it is free; returns whether this server has it now.
    pub(super) async fn acquire_lease(&self, live: &LiveGame) -> bool {
        let has = self.fleet.acquire_lease(&live.session().id).await;
        *lock(&live.leased_elsewhere) = (!has).then(Instant::now);
        has
    }

    /// This server among others.
    pub(crate) fn fleet(&self) -> &Fleet {
        &self.fleet
    }

    /// Releases the lease of a game, in the background.
    pub(super) fn release(self: &Arc<Self>, game: &str) {
        if self.fleet.is_shared() && self.fleet.has_lease(game) {
            let (live_games, game) = (Arc::clone(self), game.to_owned());
            self.tasks.spawn(async move { live_games.fleet.release(&game).await });
        }
    }

    /// Reloads a game if the database has a newer version.
    pub(super) async fn refresh(self: &Arc<Self>, live: &Arc<LiveGame>) -> Result<(), Error> {
        let _gate = live.gate.lock().await;
        self.refresh_gated(live).await
    }

    /// The same for a caller that holds the gate.
    pub(super) async fn refresh_gated(self: &Arc<Self>, live: &Arc<LiveGame>) -> Result<(), Error> {
        let known = live.session();
        let stored = self.store.versions(std::slice::from_ref(&known.id)).await?;
        match stored.get(&known.id) {
            Some(version) if *version <= known.version => Ok(()),
            _ => self.reload(live).await,
        }
    }

    /// Handles the messages of other servers that are about games. `observe` sees all messages.
    pub(crate) async fn listen(
        self: Arc<Self>,
        mut inbox: Inbox,
        observe: impl Fn(&str, &Message),
    ) {
        while let Some(Envelope { server, message, .. }) = inbox.next().await {
            observe(&server, &message);
            self.handle(server, message);
        }
    }

    fn handle(self: &Arc<Self>, server: String, message: Message) {
        let game = match &message {
            Message::Changed { game, .. }
            | Message::Deleted { game }
            | Message::Released { game }
            | Message::Entered { game }
            | Message::Presence { game, .. }
            | Message::Thought { game, .. } => game,
            Message::ManyChanged => return self.catch_up(),
            Message::Left => return self.handle_departure(&server),
            Message::StopJob { .. } | Message::Status(_) => return,
        };
        let live = {
            let games = lock(&self.games);
            let Some(live) = games.get(game) else {
                if let Message::Changed { .. } | Message::Deleted { .. } = message {
                    self.unseen_changes.fetch_add(1, Ordering::SeqCst);
                }
                return;
            };
            Arc::clone(live)
        };
        match message {
            Message::Changed { version, .. } if version <= live.session().version => {}
            Message::Changed { version, .. } => {
                if !self.fleet.has_lease(game) {
                    // The other server has its lease or is about to acquire it. If both tried, their
                    // writes would wait for each other.
                    *lock(&live.leased_elsewhere) = Some(Instant::now());
                }
                self.reload_in_background(live, Some(version));
            }
            Message::Deleted { .. } => self.reload_in_background(live, None),
            Message::Released { .. } => {
                *lock(&live.leased_elsewhere) = None;
                self.start_tasks(&live);
            }
            Message::Entered { .. } => {
                if live.is_followed_here() {
                    live.announce_people(&self.fleet);
                }
            }
            Message::Presence { people, .. } => live.update_remote_people(server, people),
            Message::Thought { json, .. } => live.notify(GameEvent::Thought(json.into())),
            Message::ManyChanged | Message::Left | Message::StopJob { .. } | Message::Status(_) => {
            }
        }
    }

    /// Reloads a game that has a new version or was deleted.
    fn reload_in_background(self: &Arc<Self>, live: Arc<LiveGame>, version: Option<u64>) {
        let live_games = Arc::clone(self);
        self.tasks.spawn(async move {
            let _gate = live.gate.lock().await;
            if version.is_some_and(|version| version <= live.session().version) {
                return;
            }
            if let Err(error) = live_games.reload(&live).await {
                // The next check of all games makes up for it.
                tracing::warn!(?error, "Failed to reload a game");
            }
        });
    }

    /// Looks for games that have changed in the database, in the background.
    fn catch_up(self: &Arc<Self>) {
        let live_games = Arc::clone(self);
        self.tasks.spawn(async move {
            if let Err(error) = live_games.reload_changed().await {
                tracing::warn!(?error, "Failed to look for changed games");
            }
        });
    }

    fn handle_departure(self: &Arc<Self>, server: &str) {
        let games: Vec<Arc<LiveGame>> = lock(&self.games).values().cloned().collect();
        for live in games {
            live.forget_server(server);
            *lock(&live.leased_elsewhere) = None;
            self.start_tasks(&live);
        }
        let live_games = Arc::clone(self);
        self.tasks.spawn(async move { live_games.adopt().await });
    }

    /// Periodic work of a server in a fleet: heartbeats, games of dead servers, and missed changes.
    /// `on_lapse` is called when this server's registration had expired, `on_tick` every time.
    pub(crate) async fn run_fleet_tasks<F>(
        self: Arc<Self>,
        on_lapse: impl Fn(),
        on_tick: impl Fn() -> F,
    ) where
        F: Future<Output = ()>,
    {
        const PERIOD: Duration = Duration::from_secs(1);
        /// How often clocks are compared and all games are checked, in periods.
        const CLOCK_CHECK: u64 = 30;
        const GAME_CHECK: u64 = 5;
        let mut interval = tokio::time::interval(PERIOD);
        interval.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let mut connects = self.fleet.connects();
        let mut adopting: Option<AbortOnDropHandle<()>> = None;
        for count in 0_u64.. {
            interval.tick().await;
            match self.fleet.heartbeat().await {
                Ok(true) => on_lapse(),
                Ok(false) => {}
                Err(error) => {
                    tracing::error!(?error, "Failed to send a heartbeat");
                    continue;
                }
            }
            let missed = std::mem::replace(&mut connects, self.fleet.connects()) != connects;
            if missed || !self.fleet.is_connected() || count.is_multiple_of(GAME_CHECK) {
                self.catch_up();
                self.announce_all();
            }
            if count.is_multiple_of(CLOCK_CHECK)
                && let Err(error) = self.store.measure_clock().await
            {
                tracing::warn!(?error, "Failed to compare the clocks");
            }
            // In the background, because it can take longer than the time between heartbeats.
            if adopting.as_ref().is_none_or(AbortOnDropHandle::is_finished) {
                let live_games = Arc::clone(&self);
                let adopt = tokio::spawn(async move { live_games.adopt().await });
                adopting = Some(AbortOnDropHandle::new(adopt));
            }
            on_tick().await;
        }
    }

    /// Tells the other servers who is connected here, and hands over games that are followed only there.
    fn announce_all(self: &Arc<Self>) {
        let games: Vec<Arc<LiveGame>> = lock(&self.games).values().cloned().collect();
        for live in games {
            if live.is_followed_here() {
                live.announce_people(&self.fleet);
            } else if live.is_followed_elsewhere() && lock(&live.thinking).is_none() {
                self.release(&live.session().id);
            }
        }
    }

    /// Takes over the games of dead servers.
    async fn adopt(self: &Arc<Self>) {
        let orphans = match self.store.orphaned_leases(MAX_ADOPTED).await {
            Ok(orphans) => orphans,
            Err(error) => return tracing::error!(?error, "Failed to look for games to take over"),
        };
        for name in orphans {
            let live = self.get(&name, &Client::SERVER).await;
            let needs_lease = match &live {
                Ok(live) => {
                    *lock(&live.leased_elsewhere) = None;
                    self.start_tasks(live);
                    let session = live.session();
                    session.agent_to_move().is_some() || session.flag_falls().is_some()
                }
                Err(_) => false,
            };
            let done = match (live, needs_lease) {
                (Ok(live), true) => {
                    self.acquire_lease(&live).await;
                    Ok(())
                }
                // A finished or deleted game, one in which people move without a clock, or a job.
                (Ok(_) | Err(Error::NotFound(_)), _) => self.store.release_lease(&name).await,
                (Err(error), _) => {
                    tracing::warn!(?error, game = name, "Failed to take over a game");
                    Ok(())
                }
            };
            if let Err(error) = done {
                tracing::warn!(?error, name, "Failed to remove a lease");
            }
        }
    }
}
