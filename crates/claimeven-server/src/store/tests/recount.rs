//! The totals always equal a recount after random changes to the games.

use std::collections::{BTreeMap, HashMap};

use claimeven_arena::EndReason;
use claimeven_game::{Column, Ruleset};
use fastrand::Rng;

use super::*;
use crate::session::{GameEnd, PlayedMove, end_on_board};
use crate::store::statistics::tally_of;

type Table = BTreeMap<[String; 3], Tally>;

/// The stored data, in memory.
struct Model {
    rng: Rng,
    games: Vec<GameSession>,
    /// The accuracies of reviews, with the moves they are about.
    reviews: HashMap<String, (String, [Option<f64>; 2])>,
}

impl Model {
    fn visitor(&mut self) -> Option<Visitor> {
        let name = ["ada", "bob", ""][self.rng.usize(..3)];
        (!name.is_empty()).then(|| Visitor::stored(name.to_owned()))
    }

    fn seat(&mut self) -> Seat {
        if self.rng.bool() {
            Seat::Human { holder: self.visitor(), name: String::new() }
        } else {
            let spec = ["level:1", "level:2"][self.rng.usize(..2)];
            Seat::Agent { spec: spec.parse().unwrap(), name: spec.to_owned() }
        }
    }

    fn new_game(&mut self) -> GameSession {
        let mut new = session(&format!("g{}", self.rng.u64(..)));
        if self.rng.u8(..4) == 0 {
            new.game = Game::new(Setup::new(5, 4, 4, Ruleset::Standard).unwrap());
        }
        new.owner = self.visitor();
        new.seats = [self.seat(), self.seat()];
        new.first = self.rng.usize(..2);
        new.opening = self.rng.usize(..3);
        for _ in 0..new.opening {
            self.play(&mut new, Duration::ZERO);
        }
        new
    }

    fn play(&mut self, game: &mut GameSession, time: Duration) {
        let columns: Vec<Column> = game.game.position().legal().collect();
        let column = columns[self.rng.usize(..columns.len())];
        game.game.play(column).unwrap();
        let column = column.number();
        game.moves.push(PlayedMove { column, time, nodes: None, value: None });
        game.end = end_on_board(&game.game, game.first);
    }

    /// Changes the store and the model in the same way.
    async fn step(&mut self, store: &Store) {
        let change = self.rng.u8(..20);
        if self.games.is_empty() || change == 0 {
            let new = self.new_game();
            store.create(new.clone()).await.unwrap();
            self.games.push(new);
            return;
        }
        let at = self.rng.usize(..self.games.len());
        let mut game = self.games[at].clone();
        let stored = game.moves.len();
        let mut kept = stored;
        match change {
            1 => {
                store.delete(game.id.clone(), game.version).await.unwrap();
                self.reviews.remove(&game.id);
                self.games.remove(at);
                return;
            }
            2 => {
                // A review of the current moves or of earlier ones.
                let line = game.game.move_text();
                let line = if self.rng.bool() { line } else { line.chars().skip(1).collect() };
                let known = |rng: &mut Rng| rng.bool().then(|| rng.f64());
                let accuracy = [known(&mut self.rng), known(&mut self.rng)];
                let (id, content) = (game.id.clone(), "null".to_owned());
                let review = StoredReview {
                    game: id.clone(),
                    line: line.clone(),
                    accuracy,
                    themes: [None; 2],
                    content,
                };
                store.store_review(review).await.unwrap();
                self.reviews.insert(id, (line, accuracy));
                return;
            }
            3 => {
                let stale = store.update(game, kept..stored).await;
                assert!(matches!(stale, Err(StoreError::Stale)), "{stale:?}");
                return;
            }
            4 => {
                store.abandon(i64::MAX).await.unwrap();
                for game in self.games.iter_mut().filter(|game| game.end.is_none()) {
                    game.version += 1;
                    game.end = Some(GameEnd { winner: None, reason: EndReason::Abandoned });
                }
                return;
            }
            5 => {
                game.owner = None;
                if let Seat::Human { holder, .. } = &mut game.seats[0] {
                    *holder = None;
                }
            }
            6 => {
                let winner = [None, Some(0), Some(1)][self.rng.usize(..3)];
                game.end = Some(GameEnd { winner, reason: EndReason::Resigned });
            }
            7 => {
                let stays = self.rng.usize(game.opening..=game.moves.len());
                while game.moves.len() > stays {
                    game.game.undo();
                    game.moves.pop();
                }
                kept = stays;
                game.end = end_on_board(&game.game, game.first);
            }
            _ if game.end.is_none() => {
                for _ in 0..self.rng.usize(1..8) {
                    if game.end.is_none() {
                        let time = Duration::from_micros(self.rng.u64(..5_000_000));
                        self.play(&mut game, time);
                    }
                }
            }
            _ => game.is_listed = !game.is_listed,
        }
        game.version += 1;
        store.update(game.clone(), kept..stored).await.unwrap();
        self.games[at] = game;
    }

    /// Counts all games again.
    fn recount(&self) -> [Table; 2] {
        let [mut totals, mut openings] = [Table::new(), Table::new()];
        let finished = |game: &&GameSession| game.end.is_some() && !game.moves.is_empty();
        for game in self.games.iter().filter(finished) {
            let line = game.game.move_text();
            let accuracy = match self.reviews.get(&game.id) {
                Some((reviewed, accuracy)) if *reviewed == line => *accuracy,
                _ => [None; 2],
            };
            let winner = game.end.unwrap().winner;
            let seen_from = |player: usize| {
                let own = game.moves.iter().enumerate().skip(game.opening);
                let own = own.filter(|(ply, _)| game.mover(*ply) == player);
                Tally {
                    games: 1,
                    won: (winner == Some(player)).into(),
                    drawn: winner.is_none().into(),
                    lost: winner.is_some_and(|winner| winner != player).into(),
                    reviewed: accuracy[player].is_some().into(),
                    accuracy: accuracy[player].map_or(0, |share| (share * 1e6).round() as i64),
                    moves: game.moves.len() as i64,
                    own_moves: own.clone().count() as i64,
                    micros: own.map(|(_, played)| played.time.as_micros() as i64).sum(),
                }
            };
            let player_name = |player: usize| match &game.seats[player] {
                Seat::Agent { spec, .. } => spec.to_string(),
                _ => "human".to_owned(),
            };
            let colour = |player: usize| if game.first == player { "first" } else { "second" };
            let size = format!("{}x{}", game.setup().cols(), game.setup().rows());
            let opening: String = line.chars().take(4).collect();
            let length = game.moves.len().to_string();
            let mut seen = vec![
                (String::new(), 0, "player", player_name(0)),
                (String::new(), 1, "player", player_name(1)),
                (String::new(), 0, "colour", colour(0).to_owned()),
                (String::new(), 1, "colour", colour(1).to_owned()),
            ];
            let mut whose = vec![(String::new(), game.first)];
            let visitors = ["ada", "bob"].map(|name| Visitor::stored(name.to_owned()));
            for who in &visitors {
                let name = who.key().to_owned();
                let sides: Vec<usize> =
                    [0, 1].into_iter().filter(|player| game.holds(who, *player)).collect();
                if let [player] = sides[..] {
                    seen.push((name.clone(), player, "opponent", player_name(1 - player)));
                    seen.push((name.clone(), player, "colour", colour(player).to_owned()));
                    whose.push((name, player));
                }
            }
            for (name, player) in whose {
                let common = [
                    ("total", String::new()),
                    ("size", size.clone()),
                    ("ruleset", "standard".to_owned()),
                    ("length", length.clone()),
                ];
                seen.extend(common.map(|(category, key)| (name.clone(), player, category, key)));
                if size == "7x6" {
                    seen.push((name, player, "opening", opening.clone()));
                }
            }
            let add = |table: &mut Table, key: [String; 3], tally: Tally| {
                let sum = table.entry(key).or_default();
                sum.games += tally.games;
                sum.won += tally.won;
                sum.drawn += tally.drawn;
                sum.lost += tally.lost;
                sum.reviewed += tally.reviewed;
                sum.accuracy += tally.accuracy;
                sum.moves += tally.moves;
                sum.own_moves += tally.own_moves;
                sum.micros += tally.micros;
            };
            for (whose, player, category, name) in seen {
                add(&mut totals, [whose, category.to_owned(), name], seen_from(player));
            }
            let owners = visitors.iter().filter(|who| game.belongs_to(who)).map(Visitor::key);
            for whose in owners.chain([""]) {
                for plies in 0..=line.len().min(8) {
                    let start = line.chars().take(plies).collect();
                    let Tally { games, won, drawn, lost, .. } = seen_from(game.first);
                    let tally = Tally { games, won, drawn, lost, ..Tally::default() };
                    let setup = format!("{size}-4-standard");
                    add(&mut openings, [whose.to_owned(), setup, start], tally);
                }
            }
        }
        [totals, openings]
    }
}

async fn stored(store: &Store) -> [Table; 2] {
    let sql = "SELECT * FROM totals";
    let mut tables = [Table::new(), Table::new()];
    for row in store.fetch(sqlx::query(sql)).await.unwrap() {
        let key = ["whose", "category", "name"].map(|name| row.get::<String, _>(name));
        tables[0].insert(key, tally_of(&row).unwrap());
    }
    for row in store.fetch(sqlx::query("SELECT * FROM openings")).await.unwrap() {
        let key = ["whose", "setup", "line"].map(|name| row.get::<String, _>(name));
        let [games, won, drawn, lost] =
            ["games", "won", "drawn", "lost"].map(|name| row.get::<i64, _>(name));
        tables[1].insert(key, Tally { games, won, drawn, lost, ..Tally::default() });
    }
    tables
}

#[tokio::test]
async fn totals_match_a_recount() {
    let (sqlite, _folder) = sqlite().await;
    for store in [Some(sqlite), postgres().await].into_iter().flatten() {
        let seed = fastrand::u64(..);
        println!("seed {seed}");
        let mut model =
            Model { rng: Rng::with_seed(seed), games: Vec::new(), reviews: HashMap::new() };
        for number in 0..600 {
            model.step(&store).await;
            if number % 100 == 99 {
                assert_eq!(stored(&store).await, model.recount(), "seed {seed}, step {number}");
            }
        }
        // Visitors see the contents of the tables.
        let [totals, openings] = model.recount();
        let ada = Visitor::stored("ada".to_owned());
        for (whose, who) in [("", None), ("ada", Some(&ada))] {
            let statistics = store.statistics(who).await.unwrap();
            for (category, rows) in &statistics.totals {
                for (name, tally) in rows {
                    let key = [whose, category.as_str(), name.as_str()].map(str::to_owned);
                    assert_eq!(Some(tally), totals.get(&key), "{key:?}");
                }
            }
            let explored = store.explore(Setup::STANDARD, "", who).await.unwrap();
            let key = |line: &str| [whose, "7x6-4-standard", line].map(str::to_owned);
            assert_eq!(explored.games, openings.get(&key("")).map_or(0, |tally| tally.games));
            for (column, tally) in explored.next {
                assert_eq!(tally, openings[&key(&column.to_string())]);
            }
        }

        // The games of an older database are not counted yet.
        for at_once in [false, true] {
            for sql in
                ["DELETE FROM totals", "DELETE FROM openings", "UPDATE games SET counted = 0"]
            {
                sqlx::query(sql).execute(&store.pool).await.unwrap();
            }
            if at_once {
                let mut connection = store.pool.acquire().await.unwrap();
                count_all(&mut connection).await.unwrap();
            }
            while store.count_finished().await.unwrap() > 0 {
                assert!(!at_once, "some games were not counted");
            }
            assert_eq!(stored(&store).await, model.recount(), "seed {seed}, {at_once}");
        }
    }
}
