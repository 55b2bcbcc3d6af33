use std::time::Duration;

use super::*;
use crate::session::{Clock, Seat};
use crate::store::tests::{session, sqlite};

fn live_games(store: &Store) -> Arc<LiveGames> {
    with_config(store, Config::default())
}

fn with_config(store: &Store, config: Config) -> Arc<LiveGames> {
    let config = Arc::new(config);
    let metrics = Arc::new(Metrics::new().unwrap());
    let fleet = Arc::new(Fleet::alone(store.clone(), Arc::clone(&metrics)));
    let engine = Arc::new(Engine::new(&config, &metrics));
    LiveGames::new(config, store.clone(), fleet, engine, metrics)
}

/// A game of one person on both sides.
fn local_game(id: &str, who: &Visitor) -> GameSession {
    let seat = || Seat::Human { holder: Some(who.clone()), name: String::new() };
    GameSession { owner: Some(who.clone()), seats: [seat(), seat()], ..session(id) }
}

/// The same with a minute on each clock, of which the first player has used some seconds.
fn timed_game(id: &str, seconds: u64) -> GameSession {
    let left = [Duration::from_mins(1); 2];
    let clock = Clock { initial: left[0], increment: Duration::ZERO, left };
    let turn_began = Instant::now().checked_sub(Duration::from_secs(seconds)).unwrap();
    GameSession { clock: Some(clock), turn_began, ..local_game(id, &Visitor::of("ada")) }
}

/// A request may have read a game just before another one deletes it.
#[tokio::test(flavor = "multi_thread")]
async fn a_deleted_game_does_not_return() {
    let (store, _folder) = sqlite().await;
    let live_games = live_games(&store);
    let ada = Visitor::of("ada");
    store.create(local_game("g", &ada)).await.unwrap();

    let unseen_changes = live_games.unseen_changes.load(Ordering::SeqCst);
    let read = live_games.load("g").await.unwrap();
    let live = live_games.get("g", &Client::SERVER).await.unwrap();
    live_games.delete(&live, &ada).await.unwrap();
    let admitted = live_games.admit_loaded(read, unseen_changes, &Client::SERVER).await;
    assert!(matches!(admitted, Err(Error::NotFound(_))));
    assert_eq!(live_games.len(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_game_that_cannot_be_read_does_not_hide_changes_of_others() {
    let (store, _folder) = sqlite().await;
    let live_games = live_games(&store);
    let mut games = Vec::new();
    for id in ["bad1", "good", "bad2"] {
        store.create(local_game(id, &Visitor::of("ada"))).await.unwrap();
        games.push(live_games.get(id, &Client::SERVER).await.unwrap());
    }
    store.execute("UPDATE games SET version = version + 1, line = '44' WHERE id LIKE 'bad%'").await;
    let finish = "UPDATE games SET version = version + 1, status = 'finished', reason = 'abandoned' \
                  WHERE id = 'good'";
    store.execute(finish).await;
    live_games.reload_changed().await.unwrap();
    assert_eq!(games[1].session().status(), Status::Finished);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_abandoned_game_ends_for_its_watchers() {
    let (store, _folder) = sqlite().await;
    let live_games = with_config(&store, Config { abandon_hours: 1, ..Config::default() });
    store.create(local_game("g", &Visitor::of("ada"))).await.unwrap();
    let live = live_games.get("g", &Client::SERVER).await.unwrap();
    let mut events = live.subscribe();
    store.execute("UPDATE games SET touched = 0").await;
    live_games.abandon_old().await;
    assert_eq!(live.session().status(), Status::Finished);
    assert!(matches!(events.try_recv(), Ok(GameEvent::Changed)));
}

#[tokio::test(flavor = "multi_thread")]
async fn flags_fall_although_all_places_are_taken() {
    let (store, _folder) = sqlite().await;
    let live_games = with_config(&store, Config { live_games: 1, ..Config::default() });
    let client = Client { address: None, visitor: Some(Visitor::of("ada")) };
    let _taken = live_games.create(local_game("g", &Visitor::of("ada")), &client).await.unwrap();
    store.create(timed_game("late", 70)).await.unwrap();
    assert!(matches!(live_games.get("late", &client).await, Err(Error::Busy(..))));
    live_games.sweep().await;
    let finished = async {
        while store.load("late").await.unwrap().unwrap().status() != Status::Finished {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_mins(1), finished).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn only_some_changes_of_a_game_wait_for_each_other() {
    let (store, _folder) = sqlite().await;
    let live_games = live_games(&store);
    store.create(local_game("g", &Visitor::of("ada"))).await.unwrap();
    let live = live_games.get("g", &Client::SERVER).await.unwrap();
    let gate = live.gate.lock().await;
    let mut waiting = Vec::new();
    for _ in 0..MAX_CHANGES {
        let (live_games, live) = (Arc::clone(&live_games), Arc::clone(&live));
        waiting.push(tokio::spawn(async move { live_games.change(&live, |_, _| Ok(())).await }));
    }
    while live.changes.available_permits() > 0 {
        tokio::task::yield_now().await;
    }
    assert!(matches!(live_games.change(&live, |_, _| Ok(())).await, Err(Error::Busy(..))));
    drop(gate);
    for change in waiting {
        change.await.unwrap().unwrap();
    }
    live_games.change(&live, |_, _| Ok(())).await.unwrap();
    assert_eq!(live.session().version, MAX_CHANGES as u64 + 1);
}

/// The database stored a change, but its answer was lost, and it stayed away for a while.
#[tokio::test(flavor = "multi_thread")]
async fn an_outage_after_a_stored_change_is_not_charged_to_the_next_player() {
    let (store, _folder) = sqlite().await;
    let live_games = live_games(&store);
    store.create(timed_game("g", 20)).await.unwrap();
    let live = live_games.get("g", &Client::SERVER).await.unwrap();
    store.execute("UPDATE games SET version = version + 1").await;
    *lock(&live.failing_since) = Instant::now().checked_sub(Duration::from_secs(20));
    let repeated = live_games.change(&live, |_, _| Ok(())).await;
    assert!(matches!(repeated, Err(Error::Conflict(_))));
    live_games.sweep().await;
    let left = live.session().time_left(0, Instant::now()).unwrap();
    assert!(left > Duration::from_secs(55), "{left:?}");
    assert!(lock(&live.failing_since).is_none());
}
