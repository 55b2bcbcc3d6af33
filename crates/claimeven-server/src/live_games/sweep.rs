//! Periodic work: ending games whose players are gone or out of time, retrying what failed, evicting
//! idle games.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::{LiveGame, LiveGames, lock};
use crate::client::Client;
use crate::error::Error;
use crate::session::{GameSession, Refusal, Status};
use crate::store::now_ms;

impl LiveGames {
    /// Periodic work: ending abandoned games, retrying what failed, evicting idle games.
    pub(crate) async fn sweep(self: &Arc<Self>) {
        let linger = Duration::from_secs(self.config.linger_seconds);
        let away = Duration::from_secs(self.config.away_seconds);
        let games: Vec<Arc<LiveGame>> = lock(&self.games).values().cloned().collect();
        for live in &games {
            let session = live.session();
            live.forget_silent_servers();
            self.end_if_abandoned(live, &session, away).await;
            // Make up for failed writes.
            self.resume_clock(live).await;
            let session = live.session();
            if session.flag_falls().is_some_and(|falls| falls <= Instant::now()) {
                self.drop_flag(live).await;
            }
            self.start_agent(live, &live.session());
            // Without watchers agents pause, unless a clock is running.
            if !live.is_active(linger) && session.clock.is_none() {
                *lock(&live.thinking) = None;
            }
        }
        drop(games);
        self.drop_stored_flags().await;
        let mut evicted = Vec::new();
        lock(&self.games).retain(|id, live| {
            let falls = live.session().flag_falls();
            let idle = !live.is_active(linger)
                && lock(&live.thinking).is_none()
                && falls.is_none_or(|falls| falls > Instant::now() + linger);
            // A game that is in use must stay, or its users would miss later changes.
            let stays = !(idle && Arc::strong_count(live) == 1);
            if !stays {
                evicted.push(id.clone());
            }
            stays
        });
        for id in evicted {
            self.fleet.release(&id).await;
        }
    }

    /// Loads games with a clock that were evicted and whose time is up, which ends them.
    async fn drop_stored_flags(self: &Arc<Self>) {
        const LIMIT: usize = 100;
        const PAUSE: Duration = Duration::from_mins(10);
        let mut unreadable = std::mem::take(&mut *lock(&self.unreadable));
        unreadable.retain(|_, again| *again > Instant::now());
        // Games that cannot be read must not take the places of others.
        let limit = LIMIT + unreadable.len();
        let fallen = match self.store.fallen_flags(now_ms(), limit as i64).await {
            Ok(fallen) => fallen,
            Err(error) => {
                tracing::error!(?error, "Failed to look for fallen flags");
                Vec::new()
            }
        };
        for id in fallen {
            if unreadable.contains_key(&id) {
                continue;
            }
            if let Err(error) = self.get(&id, &Client::SERVER).await {
                tracing::error!(game = id, ?error, "Failed to end a game on time");
                if matches!(error, Error::Database(_) | Error::Internal(_)) {
                    unreadable.insert(id, Instant::now() + PAUSE);
                }
            }
        }
        *lock(&self.unreadable) = unreadable;
    }

    /// Ends the games without a move for `abandon_hours`.
    pub(crate) async fn abandon_old(self: &Arc<Self>) {
        if self.config.abandon_hours > 0 {
            let before = now_ms() - self.config.abandon_hours as i64 * 3_600_000;
            let abandon = async {
                // Those in memory are changed as well, and their watchers notified.
                if self.store.abandon(before).await? > 0 {
                    self.reload_changed().await?;
                }
                Ok::<(), Error>(())
            };
            if let Err(error) = abandon.await {
                tracing::error!(?error, "Failed to end abandoned games");
            }
        }
    }

    /// Ends a game between people if one of them has been away for too long.
    async fn end_if_abandoned(
        self: &Arc<Self>,
        live: &Arc<LiveGame>,
        session: &GameSession,
        limit: Duration,
    ) {
        if limit.is_zero() || !session.is_between_people() || session.status() != Status::Playing {
            return;
        }
        let presence = live.presence(session, &self.config);
        for player in [0, 1] {
            let gone = presence.away[player].is_some_and(|away| away > limit);
            if gone && presence.connected[1 - player] && self.acquire_lease(live).await {
                let change = move |session: &mut GameSession, now| {
                    if session.status() != Status::Playing {
                        return Err(Refusal::Conflict("The game is over".to_owned()));
                    }
                    session.abandon(player, now);
                    Ok(())
                };
                if let Err(Error::Database(cause) | Error::Internal(cause)) =
                    self.apply(live, change).await
                {
                    tracing::error!(cause, "Failed to end an abandoned game");
                }
            }
        }
    }

    /// Lets a clock run again that stood still while the database failed.
    async fn resume_clock(self: &Arc<Self>, live: &Arc<LiveGame>) {
        let is_failing = lock(&live.failing_since).is_some();
        if is_failing && live.session().clock.is_some() {
            // Any stored change does.
            let resumed = self.change(live, |_, _| Ok(())).await;
            tracing::info!(resumed = resumed.is_ok(), "A clock stood still");
        }
    }

    /// Ends a game whose flag has fallen.
    pub(super) async fn drop_flag(self: &Arc<Self>, live: &Arc<LiveGame>) {
        if !self.acquire_lease(live).await {
            return;
        }
        let change = |_: &mut GameSession, _| {
            Err::<(), _>(Refusal::Conflict("the flag has not fallen".to_owned()))
        };
        if let Err(Error::Database(cause) | Error::Internal(cause)) = self.apply(live, change).await
        {
            tracing::error!(cause, "Failed to end a game on time");
        }
    }
}
