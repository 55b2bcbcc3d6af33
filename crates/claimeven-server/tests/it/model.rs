//! Random walks through whole games, compared with a simple model after every step.

use claimeven_game::{Game, Ruleset, Setup};
use claimeven_server::Config;
use fastrand::Rng;
use serde_json::{Value, json};

use crate::test_server::{TestServer, Visitor, on_both_databases};

const COLS: u8 = 4;
const ROWS: u8 = 4;
const CONNECT: u8 = 3;

/// The initial time on the clock, and the increment per move.
const INITIAL_MS: u64 = 600_000;
const INCREMENT_MS: u64 = 5_000;

/// An action. People are numbered: 0 has created the game, 1 joins it, 2 only watches.
#[derive(Clone, Copy, Debug)]
enum Action {
    Join,
    Play { column: u8, ply: i64 },
    Undo(Option<bool>),
    Redo,
    Draw(Option<bool>),
    Resign,
    Rematch(Option<bool>),
}

impl Action {
    fn random(random: &mut Rng, model: &Model) -> Action {
        let accept = [None, Some(true), Some(false)][random.usize(..3)];
        match random.u8(..20) {
            0 | 1 => Action::Join,
            2 | 3 => Action::Undo(accept),
            4 => Action::Redo,
            5 => Action::Draw(accept),
            6 if random.u8(..3) == 0 => Action::Resign,
            7..=9 if model.end.is_some() => Action::Rematch(accept),
            _ => {
                // Mostly a sensible move.
                let late = if random.u8(..12) == 0 { random.i64(-1..=1) } else { 0 };
                let ply = (model.moves.len() as i64 + late).max(0);
                Action::Play { column: random.u8(1..=COLS + u8::from(late != 0)), ply }
            }
        }
    }

    fn request(self) -> (&'static str, Value) {
        match self {
            Action::Join => ("join", json!({})),
            Action::Play { column, ply } => ("moves", json!({ "column": column, "ply": ply })),
            Action::Undo(accept) => ("undo", json!({ "accept": accept })),
            Action::Redo => ("redo", json!({})),
            Action::Draw(accept) => ("draw", json!({ "accept": accept })),
            Action::Resign => ("resign", json!({})),
            Action::Rematch(accept) => ("rematch", json!({ "accept": accept })),
        }
    }
}

/// The expected state of a game between two people.
#[derive(Clone, Debug)]
struct Model {
    first: usize,
    has_joined: bool,
    moves: Vec<u8>,
    /// The winner and the reason.
    end: Option<(Option<usize>, &'static str)>,
    undo: Option<usize>,
    draw: Option<usize>,
    rematch_offer: Option<usize>,
    rematch: Option<String>,
    /// The maximum time on each clock.
    clock_ms: [u64; 2],
}

impl Model {
    fn new(first: usize, has_joined: bool) -> Model {
        Model {
            first,
            has_joined,
            moves: Vec::new(),
            end: None,
            undo: None,
            draw: None,
            rematch_offer: None,
            rematch: None,
            clock_ms: [INITIAL_MS; 2],
        }
    }

    fn game(&self) -> Game {
        let setup = Setup::new(COLS, ROWS, CONNECT, Ruleset::Standard).unwrap();
        let moves: String = self.moves.iter().map(ToString::to_string).collect();
        Game::parse(setup, &moves).unwrap()
    }

    fn mover(&self, ply: usize) -> usize {
        (self.first + ply) % 2
    }

    fn forget_offers(&mut self) {
        (self.undo, self.draw, self.rematch_offer) = (None, None, None);
    }

    /// Applies an action; returns the expected status of the response.
    fn apply(&mut self, who: usize, action: Action) -> u16 {
        let has_seat = who == 0 || (who == 1 && self.has_joined);
        if matches!(action, Action::Join) {
            if has_seat || self.has_joined || self.end.is_some() {
                return 409;
            }
            self.has_joined = true;
            return 200;
        }
        if !has_seat {
            return 403;
        }
        let is_playing = self.has_joined && self.end.is_none();
        match action {
            Action::Join => unreachable!("handled above"),
            Action::Play { column, ply } => {
                let own = self.mover(self.moves.len()) == who;
                if column > COLS {
                    return 400;
                }
                if !is_playing || !own || ply != self.moves.len() as i64 {
                    return 409;
                }
                let is_legal = |legal: claimeven_game::Column| legal.number() == column;
                if !self.game().position().legal().any(is_legal) {
                    return 409;
                }
                self.moves.push(column);
                self.forget_offers();
                self.clock_ms[who] += INCREMENT_MS;
                if let Some(outcome) = self.game().position().outcome() {
                    let winner = outcome.winner().map(|winner| (winner.index() + self.first) % 2);
                    let reason = if winner.is_some() { "line" } else { "board-full" };
                    self.end = Some((winner, reason));
                }
                200
            }
            Action::Redo => 409,
            Action::Undo(accept) => {
                if !is_playing {
                    return 409;
                }
                let last =
                    |player| (0..self.moves.len()).rev().find(|&ply| self.mover(ply) == player);
                match (accept, self.undo) {
                    (None | Some(true), Some(requester)) if requester != who => {
                        let Some(ply) = last(requester) else { return 409 };
                        self.moves.truncate(ply);
                        self.forget_offers();
                    }
                    (Some(false), Some(_)) => self.undo = None,
                    (Some(_), _) => return 409,
                    (None, _) => {
                        if last(who).is_none() {
                            return 409;
                        }
                        self.undo = Some(who);
                    }
                }
                200
            }
            Action::Draw(accept) => {
                if !is_playing {
                    return 409;
                }
                match (accept, self.draw) {
                    (None | Some(true), Some(requester)) if requester != who => {
                        self.forget_offers();
                        self.end = Some((None, "agreed"));
                    }
                    (Some(false), Some(_)) => self.draw = None,
                    (Some(_), _) => return 409,
                    (None, _) => self.draw = Some(who),
                }
                200
            }
            Action::Resign => {
                if !is_playing {
                    return 409;
                }
                self.forget_offers();
                self.end = Some((Some(1 - who), "resigned"));
                200
            }
            Action::Rematch(Some(false)) => match self.rematch_offer.take() {
                Some(_) => 200,
                None => 409,
            },
            Action::Rematch(_) => {
                if self.end.is_none() || (!self.has_joined && self.rematch.is_none()) {
                    return 409;
                }
                if self.rematch.is_none()
                    && self.rematch_offer.is_none_or(|requester| requester == who)
                {
                    self.rematch_offer = Some(who);
                }
                200
            }
        }
    }

    /// Compares the view of a game with the model.
    fn check(&self, game: &Value, who: usize, elapsed_ms: u64) {
        let columns = |game: &Value| -> Vec<u64> {
            let moves = game["moves"].as_array().unwrap().iter();
            moves.map(|played| played["column"].as_u64().unwrap()).collect()
        };
        let moves: Vec<u64> = self.moves.iter().map(|&column| column.into()).collect();
        assert_eq!(columns(game), moves);
        let status = match (self.has_joined, self.end.is_some()) {
            (_, true) => "finished",
            (false, _) => "waiting",
            _ => "playing",
        };
        assert_eq!(game["status"], status);
        let result = self.end.map(|(winner, reason)| json!({ "winner": winner, "reason": reason }));
        assert_eq!(game["result"], result.unwrap_or(Value::Null));
        let to_move = (status == "playing").then(|| self.mover(moves.len()));
        assert_eq!(game["to_move"], json!(to_move));
        let offers = json!({ "draw": self.draw, "undo": self.undo, "rematch": self.rematch_offer });
        assert_eq!(game["offers"], offers);
        assert_eq!(game["rematch"], json!(self.rematch));
        for player in [0, 1] {
            assert_eq!(
                game["players"][player]["you"],
                who == player && (who == 0 || self.has_joined)
            );
            let left = game["clock"]["remaining_ms"][player].as_u64().unwrap();
            let max = self.clock_ms[player];
            assert!(left <= max && left + elapsed_ms + 1000 >= max, "{left} of {max}");
        }
    }
}

/// One walk: a game, its rematches and some restarts of the server.
async fn walk(mut server: TestServer, seed: u64) -> TestServer {
    let mut random = Rng::with_seed(seed);
    let mut people = [server.visitor(), server.visitor(), server.visitor()];
    let first = random.usize(..2);
    let new = json!({
        "setup": { "cols": COLS, "rows": ROWS, "connect": CONNECT },
        "seats": [{ "kind": "human" }, { "kind": "open" }], "first": first,
        "clock": { "initial_ms": INITIAL_MS, "increment_ms": INCREMENT_MS },
    });
    let mut id = people[0].create_with(new).await;
    let mut model = Model::new(first, false);
    let mut started = std::time::Instant::now();
    let mut log = Vec::new();
    for step in 0..60 {
        if random.u8(..25) == 0 {
            server = server.restart().await;
            people = people.map(|visitor: Visitor| visitor.at(&server));
        }
        let who = if random.u8(..10) == 0 { 2 } else { random.usize(..2) };
        let action = Action::random(&mut random, &model);
        if who == 2 && matches!(action, Action::Join) && !model.has_joined {
            continue;
        }
        log.push((who, action));
        let both_agree = matches!(action, Action::Rematch(None | Some(true)))
            && who < 2
            && model.rematch.is_none()
            && model.rematch_offer.is_some_and(|requester| requester != who);
        let expected = model.apply(who, action);
        let (path, body) = action.request();
        let reply = people[who].act(&id, path, body).await;
        assert_eq!(reply.status.as_u16(), expected, "seed {seed}, {log:?}: {reply:?}");
        if both_agree {
            let next = reply.json()["id"].as_str().unwrap().to_owned();
            model.rematch = Some(next.clone());
            // The old game does not change, and everyone continues with the new one.
            model.check(&people[0].game(&id).await, 0, started.elapsed().as_millis() as u64);
            (id, started) = (next, std::time::Instant::now());
            model = Model::new(1 - model.first, true);
            log.clear();
        }
        let elapsed = started.elapsed().as_millis() as u64;
        for (viewer, visitor) in people.iter().enumerate() {
            model.check(&visitor.game(&id).await, viewer, elapsed + 1000);
        }
        // A socket shows the same game.
        if step % 15 == 0 {
            let game = people[2].follow(&id).await.game(|_| true).await;
            model.check(&game, 2, elapsed + 1000);
        }
    }
    server
}

/// Without rate limits, because a program is faster than any visitor.
async fn without_rate_limits(server: TestServer) -> TestServer {
    let change = |config: &mut Config| {
        (config.requests_per_second, config.games_per_minute) = (0, 0);
    };
    server.restart_with(change).await
}

on_both_databases! {
    async fn games_of_people_match_a_simple_model(server: TestServer) {
        let mut server = without_rate_limits(server).await;
        for seed in 0..12 {
            server = walk(server, seed).await;
        }
    }

    async fn games_against_agents_follow_the_rules(server: TestServer) {
        let mut server = without_rate_limits(server).await;
        for seed in 0..8 {
            server = walk_against_agent(server, seed).await;
        }
    }
}

/// A walk against an agent, whose moves the model does not know: checks what must hold in any case.
async fn walk_against_agent(mut server: TestServer, seed: u64) -> TestServer {
    let mut random = Rng::with_seed(seed);
    let mut ada = server.visitor();
    let me = random.usize(..2);
    let mut seats = vec![json!({ "kind": "agent", "agent": "random" })];
    seats.insert(me, json!({ "kind": "human" }));
    let id = ada.create(json!(seats)).await;
    let is_settled = |game: &Value| game["status"] == "finished" || game["to_move"] == me;
    let mut game = ada.wait(&id, is_settled).await;
    for _ in 0..30 {
        if random.u8(..15) == 0 {
            server = server.restart().await;
            ada = ada.at(&server);
        }
        let ply = game["ply"].as_u64().unwrap();
        let own_moves = game["moves"].as_array().unwrap().iter();
        let own_moves = own_moves.filter(|played| played["player"] == me).count();
        let is_over = game["status"] == "finished";
        let before = game["moves"].clone();
        if random.u8(..4) == 0 {
            let undone = ada.act(&id, "undo", json!({})).await;
            if own_moves == 0 {
                assert_eq!(undone.status, 409);
                continue;
            }
            undone.expect(200);
            game = ada.wait(&id, is_settled).await;
            assert!(game["ply"].as_u64().unwrap() < ply, "seed {seed}");
            // Undone moves can be redone.
            if random.bool() {
                ada.act(&id, "redo", json!({})).await.expect(200);
                game = ada.wait(&id, is_settled).await;
                let after = game["moves"].as_array().unwrap();
                let column = |played: &Value| played["column"].clone();
                let [old, new] = [before.as_array().unwrap(), after]
                    .map(|moves| moves.iter().map(column).collect::<Vec<_>>());
                assert_eq!(new[..], old[..new.len()], "seed {seed}");
            }
        } else if is_over {
            let next = ada.act(&id, "rematch", json!({})).await.expect(200);
            let next = next["id"].as_str().unwrap().to_owned();
            let rematch = ada.wait(&next, is_settled).await;
            assert_eq!(rematch["status"], "playing");
            break;
        } else {
            let legal = game["legal"].as_array().unwrap();
            let column = legal[random.usize(..legal.len())].as_u64().unwrap();
            ada.play(&id, column, ply).await.expect(200);
            game = ada.wait(&id, is_settled).await;
            let after = game["ply"].as_u64().unwrap();
            let is_over = game["status"] == "finished";
            assert!(after == ply + 2 || (is_over && after == ply + 1), "seed {seed}: {game}");
        }
    }
    server
}
