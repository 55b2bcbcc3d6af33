//! The games in memory. Each game is changed, stored and broadcast in one place.

mod agents;
mod people;
mod shared;
mod sweep;

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use tokio::sync::{Semaphore, broadcast};
use tokio_util::sync::CancellationToken;
use tokio_util::task::{AbortOnDropHandle, TaskTracker};
use tracing::Instrument;

use crate::bus::Message;
use crate::client::Client;
use crate::config::Config;
use crate::error::Error;
use crate::fleet::Fleet;
use crate::metrics::Metrics;
use crate::quota::{Exceeded, Permit, Quota};
use crate::session::{GameSession, Refusal, Rematch, Status};
use crate::store::{Store, StoreError, now_ms};
use crate::visitor::{Visitor, random_name};
use crate::work::engine::{Engine, EngineError};

use agents::{Thinking, urgency};
use people::People;
pub(crate) use people::{Presence, Subscription};

/// All games in memory.
pub(crate) struct LiveGames {
    config: Arc<Config>,
    store: Store,
    fleet: Arc<Fleet>,
    engine: Arc<Engine>,
    metrics: Arc<Metrics>,
    games: Mutex<HashMap<String, Arc<LiveGame>>>,
    /// How often games were deleted, or changed by another server while they were not in memory. A game
    /// that was being loaded may be one of them.
    unseen_changes: AtomicU64,
    /// Games that could not be loaded to end them on time, and when to try again.
    unreadable: Mutex<HashMap<String, Instant>>,
    /// The limits on unfinished games.
    quota: Quota,
    /// Changes in progress, which a shutdown waits for.
    tasks: TaskTracker,
    stopping: CancellationToken,
}

/// A game in memory.
pub(crate) struct LiveGame {
    /// Locked while a change is made and stored.
    gate: tokio::sync::Mutex<()>,
    /// The changes that hold the gate or wait for it.
    changes: Arc<Semaphore>,
    /// The stored state of the game.
    session: Mutex<Arc<GameSession>>,
    people: Mutex<People>,
    /// The client whose share of the engine its agents use: its creator, later the player who
    /// requested it last.
    client: Mutex<Client>,
    /// Its permit as an unfinished game; a finished game needs none.
    permit: Mutex<Option<Permit>>,
    events: broadcast::Sender<GameEvent>,
    /// Whether a notification about the number of watchers is pending.
    will_notify: AtomicBool,
    thinking: Mutex<Option<Thinking>>,
    /// When this server last found that another one holds the lease of the game.
    leased_elsewhere: Mutex<Option<Instant>>,
    /// When a change could first not be stored, until one is stored again. Clocks stand still.
    failing_since: Mutex<Option<Instant>>,
    /// Ends the game when a person runs out of time.
    flag: Mutex<Option<AbortOnDropHandle<()>>>,
}

/// How many changes of a game may wait for each other.
const MAX_CHANGES: usize = 32;

/// What subscribers of a game receive.
#[derive(Clone, Debug)]
pub(crate) enum GameEvent {
    /// The game or its players' presence has changed.
    Changed,
    /// Progress of an agent's search, as JSON.
    Thought(Arc<str>),
    /// The game can no longer be followed, with the reason.
    Gone(&'static str),
}

fn not_found(id: &str) -> Error {
    Error::NotFound(format!("Game '{id}' not found"))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl LiveGame {
    fn new(session: GameSession, client: Client, permit: Option<Permit>) -> LiveGame {
        LiveGame {
            gate: tokio::sync::Mutex::default(),
            changes: Arc::new(Semaphore::new(MAX_CHANGES)),
            session: Mutex::new(Arc::new(session)),
            people: Mutex::new(People::new()),
            client: Mutex::new(client),
            permit: Mutex::new(permit),
            events: broadcast::channel(16).0,
            will_notify: AtomicBool::new(false),
            thinking: Mutex::default(),
            leased_elsewhere: Mutex::default(),
            failing_since: Mutex::default(),
            flag: Mutex::default(),
        }
    }

    /// The stored state of the game.
    pub(crate) fn session(&self) -> Arc<GameSession> {
        Arc::clone(&lock(&self.session))
    }

    fn client(&self) -> Client {
        lock(&self.client).clone()
    }

    /// Subscribes to all events from now on.
    pub(crate) fn subscribe(&self) -> broadcast::Receiver<GameEvent> {
        self.events.subscribe()
    }

    fn notify(&self, event: GameEvent) {
        // There may be no subscriber.
        let _ = self.events.send(event);
    }
}

impl LiveGames {
    pub(crate) fn new(
        config: Arc<Config>,
        store: Store,
        fleet: Arc<Fleet>,
        engine: Arc<Engine>,
        metrics: Arc<Metrics>,
    ) -> Arc<LiveGames> {
        Arc::new(LiveGames {
            quota: Quota::new(
                config.live_games,
                config.live_games_per_address,
                config.live_games_per_visitor,
            ),
            config,
            store,
            fleet,
            engine,
            metrics,
            games: Mutex::default(),
            unseen_changes: AtomicU64::default(),
            unreadable: Mutex::default(),
            tasks: TaskTracker::new(),
            stopping: CancellationToken::new(),
        })
    }

    /// Resumes the games that were in progress when the server last stopped; returns their number.
    /// A game that cannot be read is skipped and logged.
    pub(crate) async fn resume(self: &Arc<Self>) -> Result<usize, StoreError> {
        if !self.fleet.is_shared() {
            self.store.restart_turns().await?;
        }
        let since = now_ms() - 24 * 3_600_000;
        let max = if self.config.live_games == 0 { 100_000 } else { self.config.live_games / 2 };
        let mut resumed = 0;
        for id in self.store.unfinished(since, max as i64).await? {
            match self.get(&id, &Client::SERVER).await {
                Ok(_) => resumed += 1,
                Err(error) => tracing::error!(game = id, ?error, "Failed to resume a game"),
            }
        }
        Ok(resumed)
    }

    /// Whether the server is shutting down.
    pub(crate) fn is_closing(&self) -> bool {
        self.stopping.is_cancelled()
    }

    /// The number of games in memory.
    pub(crate) fn len(&self) -> usize {
        lock(&self.games).len()
    }

    /// The stored state of a game, without putting it into memory.
    pub(crate) async fn session(&self, id: &str) -> Result<Arc<GameSession>, Error> {
        let known = lock(&self.games).get(id).map(|live| live.session());
        match known {
            Some(session) => Ok(session),
            None => self.load(id).await.map(Arc::new),
        }
    }

    async fn load(&self, id: &str) -> Result<GameSession, Error> {
        if id.len() > 32 || !id.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            return Err(not_found(id));
        }
        self.store.load(id).await?.ok_or_else(|| not_found(id))
    }

    /// A game by its id, loaded for a client if it is not in memory.
    pub(crate) async fn get(
        self: &Arc<Self>,
        id: &str,
        client: &Client,
    ) -> Result<Arc<LiveGame>, Error> {
        let known = lock(&self.games).get(id).cloned();
        if let Some(live) = known {
            if !self.fleet.is_connected() {
                self.refresh(&live).await?;
            }
            live.touch();
            if client.visitor.as_ref().is_some_and(|who| live.session().belongs_to(who)) {
                *lock(&live.client) = client.clone();
            }
            // Agents that paused while nobody was watching resume.
            self.start_agent(&live, &live.session());
            return Ok(live);
        }
        let unseen_changes = self.unseen_changes.load(Ordering::SeqCst);
        let session = self.load(id).await?;
        self.admit_loaded(session, unseen_changes, client).await
    }

    /// Puts a game that was loaded for a client into memory, unless it was deleted after there had been
    /// this many unseen changes.
    async fn admit_loaded(
        self: &Arc<Self>,
        session: GameSession,
        unseen_changes: u64,
        client: &Client,
    ) -> Result<Arc<LiveGame>, Error> {
        let id = session.id.clone();
        let permit = match session.status() {
            Status::Finished => None,
            // The server's own work, such as ending games on time, does not wait for a permit.
            _ if *client == Client::SERVER => self.quota.acquire(client).ok(),
            _ => Some(self.acquire_permit(client)?),
        };
        let live = self.admit(session, client, permit);
        if self.unseen_changes.load(Ordering::SeqCst) != unseen_changes {
            let _gate = live.gate.lock().await;
            self.reload(&live).await?;
            if !lock(&self.games).contains_key(&id) {
                return Err(not_found(&id));
            }
        }
        Ok(live)
    }

    /// A permit for an unfinished game of a client.
    fn acquire_permit(&self, client: &Client) -> Result<Permit, Error> {
        self.quota.acquire(client).map_err(|exceeded| match exceeded {
            Exceeded::All => {
                Error::Busy("Too many games are in progress, try again later".to_owned(), 30)
            }
            Exceeded::Address => {
                let limit = self.config.live_games_per_address;
                let message =
                    format!("Too many games from your address are in progress (limit: {limit})");
                Error::TooMany(message, 30)
            }
            Exceeded::Visitor => {
                let limit = self.config.live_games_per_visitor;
                let message = format!("Too many of your games are in progress (limit: {limit})");
                Error::TooMany(message, 30)
            }
        })
    }

    /// Puts a stored game into memory unless it is already there.
    fn admit(
        self: &Arc<Self>,
        session: GameSession,
        client: &Client,
        permit: Option<Permit>,
    ) -> Arc<LiveGame> {
        let id = session.id.clone();
        let live = {
            let mut games = lock(&self.games);
            let new = || Arc::new(LiveGame::new(session, client.clone(), permit));
            Arc::clone(games.entry(id.clone()).or_insert_with(new))
        };
        self.fleet.publish(Message::Entered { game: id });
        self.start_tasks(&live);
        live
    }

    /// Stores a new game of a client.
    pub(crate) async fn create(
        self: &Arc<Self>,
        session: GameSession,
        client: &Client,
    ) -> Result<Arc<LiveGame>, Error> {
        let permit = self.acquire_permit(client)?;
        if session.agent_to_move().is_some() && !self.engine.has_room(client, urgency(&session)) {
            return Err(EngineError::Busy.into());
        }
        let (live_games, client) = (Arc::clone(self), client.clone());
        self.finish(async move {
            live_games.store.create(session.clone()).await?;
            live_games.metrics.games.inc();
            Ok(live_games.admit(session, &client, Some(permit)))
        })
        .await
    }

    /// Changes a game, stores it and notifies its subscribers. The change is completed even if the
    /// caller is dropped.
    pub(crate) async fn change<T: Send + 'static>(
        self: &Arc<Self>,
        live: &Arc<LiveGame>,
        change: impl Fn(&mut GameSession, Instant) -> Result<T, Refusal> + Send + Sync + 'static,
    ) -> Result<T, Error> {
        // More would pile up while nothing can be stored.
        let place = Arc::clone(&live.changes).try_acquire_owned().map_err(|_| {
            Error::Busy("Too many changes of this game are waiting, try again".to_owned(), 2)
        })?;
        let (live_games, live) = (Arc::clone(self), Arc::clone(live));
        self.finish(async move {
            let _place = place;
            live_games.apply(&live, change).await
        })
        .await
    }

    async fn apply<T>(
        self: &Arc<Self>,
        live: &Arc<LiveGame>,
        change: impl Fn(&mut GameSession, Instant) -> Result<T, Refusal>,
    ) -> Result<T, Error> {
        // Another server may have changed the game since this one last read it.
        const ATTEMPTS: usize = 5;
        let _gate = live.gate.lock().await;
        for _ in 1..ATTEMPTS {
            let before = live.session().version;
            match self.apply_once(live, &change).await {
                Err(Error::Conflict(_) | Error::Forbidden(_)) if self.fleet.is_shared() => {
                    self.refresh_gated(live).await?;
                    if live.session().version == before {
                        break;
                    }
                }
                applied => return Ok(applied??),
            }
        }
        Ok(self.apply_once(live, &change).await??)
    }

    /// Fails if nothing was stored. If the player's flag had fallen, that is stored instead of the
    /// change, and the inner result is a refusal.
    async fn apply_once<T>(
        self: &Arc<Self>,
        live: &Arc<LiveGame>,
        change: impl Fn(&mut GameSession, Instant) -> Result<T, Refusal>,
    ) -> Result<Result<T, Refusal>, Error> {
        let now = Instant::now();
        let before = live.session();
        let mut session = GameSession::clone(&before);
        if let Some(since) = *lock(&live.failing_since) {
            session.pause_clock(since, now);
        }
        // A move after the flag has fallen is too late.
        let fallen = session.drop_flag(now);
        let result = if fallen {
            Err(Refusal::Conflict("Your time is up".to_owned()))
        } else {
            change(&mut session, now)
        };
        if !fallen {
            result.as_ref().map_err(|refusal| Error::from(refusal.clone()))?;
        }
        session.version += 1;
        self.commit(live, &before, session).await?;
        Ok(result)
    }

    /// Stores and installs a changed session. The caller holds the gate.
    async fn commit(
        self: &Arc<Self>,
        live: &Arc<LiveGame>,
        before: &GameSession,
        session: GameSession,
    ) -> Result<(), Error> {
        // A finished game has returned its permit. If a move is taken back, it needs another one.
        let continues = before.status() == Status::Finished && session.status() != Status::Finished;
        let permit = continues.then(|| self.acquire_permit(&live.client())).transpose()?;
        let same =
            before.moves.iter().zip(&session.moves).take_while(|(old, new)| old == new).count();
        let started = Instant::now();
        let stored = self.store.update(session.clone(), same..before.moves.len()).await;
        self.metrics.store_seconds.observe(started.elapsed().as_secs_f64());
        if let Err(error) = stored {
            if matches!(error, StoreError::Stale) {
                self.reload(live).await?;
                // If the change had been stored although its answer was lost, the clock of the next
                // player still has to stand still until now.
                if live.session().version != session.version {
                    *lock(&live.failing_since) = None;
                }
            } else {
                lock(&live.failing_since).get_or_insert(started);
            }
            return Err(error.into());
        }
        *lock(&live.failing_since) = None;
        self.metrics.moves.inc_by(session.moves.len().saturating_sub(same) as u64);
        let (game, version) = (session.id.clone(), session.version);
        self.fleet.publish(Message::Changed { game, version });
        if session.status() == Status::Finished && before.status() != Status::Finished {
            self.metrics.finished.inc();
        }
        if permit.is_some() {
            *lock(&live.permit) = permit;
        }
        self.install(live, session);
        // An acknowledged change has been published, so watchers on other servers see it even if this
        // one is killed now.
        self.fleet.flush().await;
        Ok(())
    }

    /// Puts a stored session into memory and starts what its state requires.
    fn install(self: &Arc<Self>, live: &Arc<LiveGame>, session: GameSession) {
        if session.status() == Status::Finished {
            self.engine.forget(&session.id);
            self.release(&session.id);
        }
        self.update_permit(live, &session);
        *lock(&live.session) = Arc::new(session);
        self.start_tasks(live);
        live.notify(GameEvent::Changed);
    }

    /// Returns the permit of a finished game. A game that continues because another server took back a
    /// move gets one if any is free.
    fn update_permit(&self, live: &LiveGame, session: &GameSession) {
        let mut permit = lock(&live.permit);
        if session.status() == Status::Finished {
            *permit = None;
        } else if permit.is_none() {
            *permit = self.quota.acquire(&live.client()).ok();
        }
    }

    /// Reloads the game after another process has changed it. The caller holds the gate.
    async fn reload(self: &Arc<Self>, live: &Arc<LiveGame>) -> Result<(), Error> {
        let known = live.session();
        let Some(mut session) = self.store.load(&known.id).await? else {
            self.remove(live, &known.id);
            return Ok(());
        };
        if session.ply() == known.ply() && session.clock.is_none() {
            // Without a clock the start of the turn is not stored.
            session.turn_began = known.turn_began;
        }
        self.metrics.reloads.inc();
        self.install(live, session);
        Ok(())
    }

    /// Reloads the games that somebody else has changed or deleted in the database. One that cannot be
    /// read is skipped.
    pub(crate) async fn reload_changed(self: &Arc<Self>) -> Result<(), Error> {
        let games: Vec<Arc<LiveGame>> = lock(&self.games).values().cloned().collect();
        let ids: Vec<String> = games.iter().map(|live| live.session().id.clone()).collect();
        let versions = self.store.versions(&ids).await?;
        for live in games {
            let is_current = |live: &LiveGame| {
                let session = live.session();
                versions.get(&session.id).is_some_and(|version| *version <= session.version)
            };
            if !is_current(&live) {
                let _gate = live.gate.lock().await;
                if let Err(error) = self.reload(&live).await {
                    tracing::error!(game = live.session().id, ?error, "Failed to reload a game");
                }
            }
        }
        Ok(())
    }

    /// Reloads all games of a visitor after they have changed in the database.
    pub(crate) async fn reload_games_of(self: &Arc<Self>, who: &Visitor) -> Result<(), Error> {
        self.unseen_changes.fetch_add(1, Ordering::SeqCst);
        let games: Vec<Arc<LiveGame>> = lock(&self.games).values().cloned().collect();
        for live in games.into_iter().filter(|live| live.session().belongs_to(who)) {
            let _gate = live.gate.lock().await;
            self.reload(&live).await?;
        }
        self.fleet.publish(Message::ManyChanged);
        Ok(())
    }

    /// Starts a rematch, or offers one to the other person.
    pub(crate) async fn rematch(
        self: &Arc<Self>,
        live: &Arc<LiveGame>,
        who: &Visitor,
        client: &Client,
    ) -> Result<Option<String>, Error> {
        self.forget_missing_rematch(live).await?;
        match GameSession::clone(&live.session()).request_rematch(who)? {
            Rematch::Started(id) => return Ok(Some(id)),
            Rematch::Offered => {
                let visitor = who.clone();
                let change = self.change(live, move |session, _| session.request_rematch(&visitor));
                if change.await? == Rematch::Offered {
                    return Ok(None);
                }
            }
            Rematch::Agreed => {}
        }
        let id = random_name();
        let next = live.session().next(id.clone(), now_ms(), fastrand::u64(..), Instant::now());
        let (live_games, finished, client) = (Arc::clone(self), Arc::clone(live), client.clone());
        self.finish(async move {
            // The new game exists before anyone is notified.
            let created = live_games.create(next, &client).await?;
            let name = id.clone();
            let linking = live_games.apply(&finished, move |session, _| {
                Ok(session.rematch.get_or_insert_with(|| name.clone()).clone())
            });
            let linked = linking.await;
            if !matches!(&linked, Ok(linked) if *linked == id) {
                // A second request was faster, or the id could not be stored.
                let _gate = created.gate.lock().await;
                live_games.erase(&created).await?;
            }
            linked.map(Some)
        })
        .await
    }

    /// Forgets a rematch that does not exist: it was deleted, or an earlier version named it first and
    /// was then stopped.
    async fn forget_missing_rematch(self: &Arc<Self>, live: &Arc<LiveGame>) -> Result<(), Error> {
        let Some(id) = live.session().rematch.clone() else { return Ok(()) };
        match self.session(&id).await {
            Err(Error::NotFound(_)) => {
                let forget = move |session: &mut GameSession, _| {
                    session.rematch.take_if(|named| *named == id);
                    Ok(())
                };
                self.change(live, forget).await
            }
            found => found.map(drop),
        }
    }

    /// Removes a visitor from a game, and deletes the game if it belongs to nobody else.
    pub(crate) async fn delete(
        self: &Arc<Self>,
        live: &Arc<LiveGame>,
        who: &Visitor,
    ) -> Result<(), Error> {
        let (live_games, gone, visitor) = (Arc::clone(self), Arc::clone(live), who.clone());
        self.finish(async move {
            let _gate = gone.gate.lock().await;
            if live_games.fleet.is_shared() {
                live_games.refresh_gated(&gone).await?;
            }
            let before = gone.session();
            let mut session = GameSession::clone(&before);
            if session.forget(&visitor)? {
                session.version += 1;
                return live_games.commit(&gone, &before, session).await;
            }
            live_games.erase(&gone).await
        })
        .await
    }

    /// Deletes a game for everyone. The caller holds the gate.
    async fn erase(self: &Arc<Self>, gone: &LiveGame) -> Result<(), Error> {
        let session = gone.session();
        self.store.delete(session.id.clone(), session.version).await?;
        self.unseen_changes.fetch_add(1, Ordering::SeqCst);
        self.fleet.publish(Message::Deleted { game: session.id.clone() });
        self.remove(gone, &session.id);
        Ok(())
    }

    /// Removes a deleted game from memory.
    fn remove(self: &Arc<Self>, gone: &LiveGame, id: &str) {
        lock(&self.games).remove(id);
        self.engine.forget(id);
        self.release(id);
        *lock(&gone.thinking) = None;
        *lock(&gone.flag) = None;
        gone.notify(GameEvent::Gone("deleted"));
    }

    /// Starts what the state of a game requires: the agent to move and the clock.
    fn start_tasks(self: &Arc<Self>, live: &Arc<LiveGame>) {
        if self.stopping.is_cancelled() {
            return;
        }
        let session = live.session();
        self.start_agent(live, &session);
        let falls = session.flag_falls();
        let mut flag = lock(&live.flag);
        *flag = falls.map(|falls| {
            let (live_games, live) = (Arc::clone(self), Arc::downgrade(live));
            AbortOnDropHandle::new(tokio::spawn(async move {
                tokio::time::sleep_until(falls.into()).await;
                if let Some(live) = live.upgrade() {
                    // In a separate task, because the change aborts this one.
                    let tasks = live_games.tasks.clone();
                    tasks.spawn(async move { live_games.drop_flag(&live).await });
                }
            }))
        });
    }

    /// Cancels all searches, disconnects all subscribers, and waits for changes in progress.
    pub(crate) async fn close(&self) {
        self.stopping.cancel();
        self.engine.close();
        for live in lock(&self.games).values() {
            *lock(&live.thinking) = None;
            *lock(&live.flag) = None;
            live.notify(GameEvent::Gone("the server is restarting"));
        }
        self.tasks.close();
        self.tasks.wait().await;
        self.fleet.leave().await;
    }

    /// The number of changes that are not completely stored yet.
    pub(crate) fn unfinished_changes(&self) -> usize {
        self.tasks.len()
    }

    /// Runs to completion even if the caller is dropped or the server is shutting down.
    async fn finish<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T, Error>> + Send + 'static,
    ) -> Result<T, Error> {
        let task = self.tasks.spawn(work.in_current_span());
        task.await.unwrap_or_else(|error| Err(Error::Internal(error.to_string())))
    }
}

#[cfg(test)]
mod tests;
