use super::*;
use crate::session::Seat;
use crate::store::tests::{session, sqlite};

fn live_games(store: &Store) -> Arc<LiveGames> {
    let config = Arc::new(Config::default());
    let metrics = Arc::new(Metrics::new().unwrap());
    let fleet = Arc::new(Fleet::alone(store.clone(), Arc::clone(&metrics)));
    let engine = Arc::new(Engine::new(&config, &metrics));
    LiveGames::new(config, store.clone(), fleet, engine, metrics)
}

/// A request may have read a game just before another one deletes it.
#[tokio::test(flavor = "multi_thread")]
async fn a_deleted_game_does_not_return() {
    let (store, _folder) = sqlite().await;
    let live_games = live_games(&store);
    let ada = Visitor::of("ada");
    let seat = || Seat::Human { holder: Some(ada.clone()), name: String::new() };
    let mut game = session("g");
    (game.owner, game.seats) = (Some(ada.clone()), [seat(), seat()]);
    store.create(game).await.unwrap();

    let unseen_changes = live_games.unseen_changes.load(Ordering::SeqCst);
    let read = live_games.load("g").await.unwrap();
    let live = live_games.get("g", &Client::SERVER).await.unwrap();
    live_games.delete(&live, &ada).await.unwrap();
    let admitted = live_games.admit_loaded(read, unseen_changes, &Client::SERVER).await;
    assert!(matches!(admitted, Err(Error::NotFound(_))));
    assert_eq!(live_games.len(), 0);
}
