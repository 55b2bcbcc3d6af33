//! Who follows a game, on this server and on others.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use tokio::runtime::Handle;

use super::{GameEvent, LiveGame, LiveGames, lock};
use crate::bus::{Message, RemotePeople};
use crate::config::Config;
use crate::fleet::Fleet;
use crate::session::{GameSession, Seat};
use crate::visitor::Visitor;

/// Who is connected to a game.
pub(super) struct People {
    /// Open sockets of each visitor.
    sockets: HashMap<Visitor, usize>,
    /// Who follows the game on other servers, and when they last said so.
    remote: HashMap<String, (RemotePeople, Instant)>,
    /// When the players' last sockets closed.
    left: [Option<Instant>; 2],
    /// When anybody last requested the game.
    pub(super) last_seen: Instant,
}

/// How long another server's report is valid. It is repeated every few seconds.
const REMOTE_LIFETIME: Duration = Duration::from_secs(15);

/// Who is connected and thinking: the part of a game's state that is not stored.
#[derive(Clone, Debug, Default)]
pub(crate) struct Presence {
    pub(crate) connected: [bool; 2],
    pub(crate) away: [Option<Duration>; 2],
    pub(crate) watchers: usize,
    pub(crate) thinking: Option<usize>,
    pub(crate) away_limit: Option<Duration>,
}

impl People {
    pub(super) fn new() -> People {
        People {
            sockets: HashMap::new(),
            remote: HashMap::new(),
            left: [None; 2],
            last_seen: Instant::now(),
        }
    }

    /// Which players have a socket on this server.
    fn connected_here(&self, session: &GameSession) -> [bool; 2] {
        [0, 1].map(|player| match &session.seats[player] {
            Seat::Human { holder: Some(holder), .. } => self.sockets.contains_key(holder),
            _ => false,
        })
    }

    fn connected_elsewhere(&self) -> [bool; 2] {
        [0, 1].map(|player| self.remote.values().any(|(people, _)| people.connected[player]))
    }

    /// How many visitors who do not play have a socket on this server.
    fn watchers_here(&self, session: &GameSession) -> usize {
        let is_player = |visitor: &Visitor| session.holds(visitor, 0) || session.holds(visitor, 1);
        self.sockets.keys().filter(|visitor| !is_player(visitor)).count()
    }

    fn watchers_elsewhere(&self) -> usize {
        self.remote.values().map(|(people, _)| people.watchers).sum()
    }

    /// Changes what is known about other servers; returns whether the visible presence changed.
    fn change_remote(&mut self, change: impl FnOnce(&mut Self)) -> bool {
        let before = (self.connected_elsewhere(), self.watchers_elsewhere());
        change(self);
        let after = (self.connected_elsewhere(), self.watchers_elsewhere());
        for player in [0, 1] {
            if after.0[player] {
                self.left[player] = None;
            } else if before.0[player] {
                self.left[player] = Some(Instant::now());
            }
        }
        before != after
    }
}

impl LiveGame {
    /// Notifies subscribers that somebody joined or left: at once for players, within a second for
    /// watchers, so that many watchers do not cause a flood of notifications.
    fn notify_presence(self: &Arc<Self>, who: &Visitor, fleet: &Arc<Fleet>) {
        const PERIOD: Duration = Duration::from_secs(1);
        if self.session().belongs_to(who) {
            self.notify(GameEvent::Changed);
            self.announce_people(fleet);
        } else if !self.will_notify.swap(true, Ordering::Relaxed)
            && let Ok(runtime) = Handle::try_current()
        {
            let (live, fleet) = (Arc::downgrade(self), Arc::clone(fleet));
            runtime.spawn(async move {
                tokio::time::sleep(PERIOD).await;
                if let Some(live) = live.upgrade() {
                    live.will_notify.store(false, Ordering::Relaxed);
                    live.notify(GameEvent::Changed);
                    live.announce_people(&fleet);
                }
            });
        }
    }

    /// Tells the other servers who follows the game on this one.
    pub(super) fn announce_people(&self, fleet: &Fleet) {
        if !fleet.is_shared() {
            return;
        }
        let session = self.session();
        let people = {
            let people = lock(&self.people);
            let connected = people.connected_here(&session);
            let away = |player: usize| people.left[player].filter(|_| !connected[player]);
            let away_ms = [0, 1].map(|player| {
                away(player).map(|left| left.elapsed().as_millis().try_into().unwrap_or(u64::MAX))
            });
            RemotePeople { connected, away_ms, watchers: people.watchers_here(&session) }
        };
        fleet.publish(Message::Presence { game: session.id.clone(), people });
    }

    /// Whether anybody follows the game on this server.
    pub(super) fn is_followed_here(&self) -> bool {
        !lock(&self.people).sockets.is_empty()
    }

    /// Whether anybody follows the game on another server.
    pub(super) fn is_followed_elsewhere(&self) -> bool {
        let people = lock(&self.people);
        people
            .remote
            .values()
            .any(|(people, _)| people.watchers > 0 || people.connected != [false; 2])
    }

    /// Records who follows the game on another server.
    pub(super) fn update_remote_people(&self, server: String, reported: RemotePeople) {
        let session = self.session();
        let has_changed = {
            let mut people = lock(&self.people);
            let has_changed = people.change_remote(|people| {
                people.remote.insert(server, (reported, Instant::now()));
            });
            let (here, elsewhere) = (people.connected_here(&session), people.connected_elsewhere());
            for player in [0, 1] {
                let away = reported.away_ms[player].map(Duration::from_millis);
                let left = away.and_then(|away| Instant::now().checked_sub(away));
                if !here[player] && !elsewhere[player] && people.left[player].is_none() {
                    people.left[player] = left;
                }
            }
            has_changed
        };
        if has_changed {
            self.notify(GameEvent::Changed);
        }
    }

    /// Forgets who follows the game on a server that has shut down.
    pub(super) fn forget_server(&self, server: &str) {
        let forget = |people: &mut People| {
            people.remote.remove(server);
        };
        if lock(&self.people).change_remote(forget) {
            self.notify(GameEvent::Changed);
        }
    }

    /// Forgets servers whose report is too old.
    pub(super) fn forget_silent_servers(&self) {
        let forget = |people: &mut People| {
            people.remote.retain(|_, (_, heard)| heard.elapsed() < REMOTE_LIFETIME);
        };
        if lock(&self.people).change_remote(forget) {
            self.notify(GameEvent::Changed);
        }
    }

    /// Records that somebody requested the game.
    pub(super) fn touch(&self) {
        lock(&self.people).last_seen = Instant::now();
    }

    /// Whether anybody is following the game or did so recently.
    pub(super) fn is_active(&self, linger: Duration) -> bool {
        self.is_followed_here()
            || self.is_followed_elsewhere()
            || lock(&self.people).last_seen.elapsed() < linger
    }

    pub(crate) fn presence(&self, session: &GameSession, config: &Config) -> Presence {
        // Never both locks at once: other code acquires them in the opposite order.
        let thinking = lock(&self.thinking).as_ref().map(|thinking| thinking.player);
        let elsewhere = || session.agent_to_move().filter(|_| self.is_leased_elsewhere());
        let thinking = thinking.or_else(|| elsewhere().map(|(player, _)| player));
        let people = lock(&self.people);
        let (here, elsewhere) = (people.connected_here(session), people.connected_elsewhere());
        let connected = [0, 1].map(|player| {
            let is_agent = matches!(session.seats[player], Seat::Agent { .. });
            is_agent || here[player] || elsewhere[player]
        });
        let away = [0, 1].map(|player| {
            people.left[player].filter(|_| !connected[player]).map(|since| since.elapsed())
        });
        let between_people = session.is_between_people() && config.away_seconds > 0;
        Presence {
            connected,
            away,
            watchers: people.watchers_here(session) + people.watchers_elsewhere(),
            thinking,
            away_limit: between_people.then(|| Duration::from_secs(config.away_seconds)),
        }
    }
}

/// A socket's presence in a game, which ends when it is dropped.
pub(crate) struct Subscription {
    live_games: Arc<LiveGames>,
    live: Arc<LiveGame>,
    who: Visitor,
}

impl Drop for Subscription {
    fn drop(&mut self) {
        let session = self.live.session();
        {
            let mut people = lock(&self.live.people);
            let count = people.sockets.get_mut(&self.who);
            if let Some(count) = count {
                *count -= 1;
                if *count == 0 {
                    people.sockets.remove(&self.who);
                    for player in [0, 1] {
                        if session.holds(&self.who, player) {
                            people.left[player] = Some(Instant::now());
                        }
                    }
                }
            }
            people.last_seen = Instant::now();
        }
        self.live_games.metrics.sockets.dec();
        self.live.notify_presence(&self.who, &self.live_games.fleet);
    }
}

impl LiveGames {
    /// Registers a socket that follows a game.
    pub(crate) fn enter(self: &Arc<Self>, live: &Arc<LiveGame>, who: &Visitor) -> Subscription {
        {
            let mut people = lock(&live.people);
            *people.sockets.entry(who.clone()).or_default() += 1;
            let session = live.session();
            for player in [0, 1] {
                if session.holds(who, player) {
                    people.left[player] = None;
                }
            }
        }
        self.metrics.sockets.inc();
        self.start_tasks(live);
        live.notify_presence(who, &self.fleet);
        Subscription { live_games: Arc::clone(self), live: Arc::clone(live), who: who.clone() }
    }
}
