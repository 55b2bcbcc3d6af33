//! The agents of games: their searches and moves.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use claimeven_arena::Clock as ArenaClock;
use claimeven_search::{Limits, SearchInfo, SearchMonitor};
use tokio_util::task::AbortOnDropHandle;

use super::{GameEvent, LiveGame, LiveGames, lock};
use crate::bus::Message;
use crate::error::Error;
use crate::http::view::ms;
use crate::session::{GameSession, Refusal};
use crate::work::engine::{EngineError, SearchRequest, Urgency};

/// The search for an agent's move, which is cancelled when this is dropped.
pub(super) struct Thinking {
    pub(super) player: usize,
    ply: usize,
    spec: String,
    cancel: Arc<AtomicBool>,
}

impl Drop for Thinking {
    fn drop(&mut self) {
        self.cancel.store(true, Ordering::Relaxed);
    }
}

impl LiveGame {
    /// Ends a search if it is the one with this flag.
    pub(super) fn stop_thinking(&self, cancel: &Arc<AtomicBool>) {
        let mut thinking = lock(&self.thinking);
        if thinking.as_ref().is_some_and(|thinking| Arc::ptr_eq(&thinking.cancel, cancel)) {
            *thinking = None;
        }
    }
}

impl LiveGames {
    pub(super) fn start_agent(self: &Arc<Self>, live: &Arc<LiveGame>, session: &Arc<GameSession>) {
        let mut thinking = lock(&live.thinking);
        let Some((player, spec)) = session.agent_to_move() else {
            *thinking = None;
            return;
        };
        let (ply, spec) = (session.ply(), spec.clone());
        let same = |thinking: &Thinking| {
            (thinking.player, thinking.ply) == (player, ply) && thinking.spec == spec.to_string()
        };
        if thinking.as_ref().is_some_and(same) {
            return;
        }
        *thinking = None;
        let linger = Duration::from_secs(self.config.linger_seconds);
        if !live.is_active(linger) && session.clock.is_none() {
            return;
        }
        if !self.fleet.has_lease(&session.id) && live.is_leased_elsewhere() {
            return;
        }
        let cancel = Arc::new(AtomicBool::new(false));
        *thinking =
            Some(Thinking { player, ply, spec: spec.to_string(), cancel: Arc::clone(&cancel) });
        let (live_games, live, session) = (Arc::clone(self), Arc::clone(live), Arc::clone(session));
        tokio::spawn(async move { live_games.think(live, session, player, cancel).await });
    }

    /// Searches for an agent's move and plays it, unless the game has moved on.
    async fn think(
        self: Arc<Self>,
        live: Arc<LiveGame>,
        session: Arc<GameSession>,
        player: usize,
        cancel: Arc<AtomicBool>,
    ) {
        let Some((_, spec)) = session.agent_to_move() else { return };
        if !self.acquire_lease(&live).await {
            return live.stop_thinking(&cancel);
        }
        let (urgency, client) = (urgency(&session), live.client());
        let max = match urgency {
            Urgency::Person => self.config.think_ms,
            _ => self.config.think_others_ms,
        };
        let budget = session.clock.map(|clock| {
            let arena = ArenaClock { base: clock.initial, increment: clock.increment };
            arena.budget(clock.left[player])
        });
        let time = budget.into_iter().chain([Duration::from_millis(max)]).min();
        let mut seeds = fastrand::Rng::with_seed(session.seed);
        let seeds = [seeds.u64(..), seeds.u64(..)];
        let monitor = Arc::new(SearchMonitor::default());
        let report = report(&self, &live, player, &monitor);
        let mut wait = Duration::from_millis(100);
        let decided = loop {
            let request = SearchRequest {
                spec: spec.clone().with_models(&self.config.models()),
                seed: seeds[player],
                position: *session.game.position(),
                limits: Limits {
                    time,
                    cancel: Some(Arc::clone(&cancel)),
                    monitor: Some(Arc::clone(&monitor)),
                    ..Limits::default()
                },
                seat: Some((session.id.clone(), player)),
            };
            let started = Instant::now();
            match self.engine.decide(&client, urgency, request).await {
                // The person's move is accepted; the reply comes when the queue has room.
                Err(EngineError::Busy) if !cancel.load(Ordering::Relaxed) => {
                    tokio::time::sleep(wait).await;
                    wait = (2 * wait).min(Duration::from_secs(2));
                }
                decided => {
                    self.metrics.think_seconds.observe(started.elapsed().as_secs_f64());
                    break decided;
                }
            }
        };
        drop(report);
        if cancel.load(Ordering::Relaxed) && decided.is_err() {
            return;
        }
        let (ply, spec) = (session.ply(), spec.clone());
        let change = move |session: &mut GameSession, now: Instant| {
            let still = session.agent_to_move().is_some_and(|(mover, known)| {
                mover == player && session.ply() == ply && *known == spec
            });
            if !still {
                return Err(Refusal::Conflict("the game has moved on".to_owned()));
            }
            match &decided {
                Ok(decision) => session.play_agent(decision, now)?,
                Err(EngineError::Cancelled) => {
                    return Err(Refusal::Conflict("the search was cancelled".to_owned()));
                }
                Err(error) => {
                    tracing::error!(?error, agent = %spec, "An agent failed to move");
                    session.forfeit(player, now);
                }
            }
            Ok(())
        };
        self.store_agent_move(&live, change, &cancel).await;
    }

    /// Applies an agent's move and retries while the database fails. Afterwards the agent no longer
    /// counts as thinking; if its move could not be stored, the next sweep starts it again.
    async fn store_agent_move(
        self: &Arc<Self>,
        live: &Arc<LiveGame>,
        change: impl Fn(&mut GameSession, Instant) -> Result<(), Refusal> + Send + Sync + 'static,
        cancel: &Arc<AtomicBool>,
    ) {
        const DEADLINE: Duration = Duration::from_mins(1);
        let (started, mut pause) = (Instant::now(), Duration::from_millis(200));
        let change = Arc::new(change);
        loop {
            let attempt = Arc::clone(&change);
            let stored = self.change(live, move |session, now| attempt(session, now)).await;
            let Err(Error::Database(cause) | Error::Internal(cause) | Error::Busy(cause, _)) =
                stored
            else {
                break;
            };
            let gives_up = started.elapsed() > DEADLINE
                || self.stopping.is_cancelled()
                || cancel.load(Ordering::Relaxed);
            tracing::error!(cause, gives_up, "Failed to store the move of an agent");
            if gives_up {
                break;
            }
            tokio::time::sleep(pause).await;
            pause = (2 * pause).min(Duration::from_secs(5));
        }
        // If the move was played, the game is already waiting for somebody else.
        live.stop_thinking(cancel);
    }
}

/// Broadcasts the progress of an agent's search until the task is dropped.
fn report(
    live_games: &Arc<LiveGames>,
    live: &Arc<LiveGame>,
    player: usize,
    monitor: &Arc<SearchMonitor>,
) -> AbortOnDropHandle<()> {
    const PERIOD: Duration = Duration::from_millis(250);
    let (live, monitor) = (Arc::clone(live), Arc::clone(monitor));
    let fleet = Arc::clone(&live_games.fleet);
    AbortOnDropHandle::new(tokio::spawn(async move {
        let started = Instant::now();
        loop {
            tokio::time::sleep(PERIOD).await;
            let info = monitor.snapshot();
            if info.nodes > 0 {
                let json = thinking_message(player, &info, started.elapsed());
                if live.is_followed_elsewhere() {
                    let (game, json) = (live.session().id.clone(), json.to_string());
                    fleet.publish(Message::Thought { game, json });
                }
                live.notify(GameEvent::Thought(json));
            }
        }
    }))
}

fn thinking_message(player: usize, info: &SearchInfo, time: Duration) -> Arc<str> {
    let pv: Vec<u8> = info.pv.iter().map(|column| column.number()).collect();
    let message = serde_json::json!({
        "type": "thinking", "player": player, "depth": info.depth, "nodes": info.nodes,
        "value": info.value.map(|value| value.to_string()), "pv": pv, "ms": ms(time),
    });
    message.to_string().into()
}

/// How urgent a move of an agent is.
pub(super) fn urgency(session: &GameSession) -> Urgency {
    if session.is_between_agents() { Urgency::Other } else { Urgency::Person }
}
