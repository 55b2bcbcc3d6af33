//! Records of real games, and tampered ones.

use std::time::Duration;

use claimeven_arena::{
    AgentSpec, Clock, EndReason, GameRecord, LegacyRecord, Match, Openings, TimeControl, pgn,
};
use claimeven_game::{Ruleset, Setup};
use serde_json::json;

const SCHEMA: &str = include_str!("../../schema/game-record.json");

/// All games of a short match.
fn games(players: [&str; 2], setup: Setup, openings: &Openings) -> Vec<GameRecord> {
    games_in_time(players, setup, openings, TimeControl::default())
}

fn games_in_time(
    players: [&str; 2],
    setup: Setup,
    openings: &Openings,
    time: TimeControl,
) -> Vec<GameRecord> {
    let [first, second] = players.map(|text| text.parse::<AgentSpec>().unwrap());
    let openings = openings.choose(setup, 3, 7).unwrap();
    let planned = Match::new(setup, [&first, &second], &openings)
        .with_pairs(3)
        .with_seed(7)
        .with_time(time)
        .with_threads(2);
    let mut games = Vec::new();
    planned.run(|pair, _| games.extend(pair.iter().cloned())).unwrap();
    assert_eq!(games.len(), 6);
    games
}

/// Matches of all kinds: boards, rulesets, players with randomness and with trees.
fn matches() -> Vec<Vec<GameRecord>> {
    let wide = Setup::new(10, 5, 4, Ruleset::Lines).unwrap();
    vec![
        games(["random", "random"], Setup::STANDARD, &Openings::None),
        games(["alphabeta:depth=3", "mcts:sims=60"], Setup::STANDARD, &Openings::Balanced(6)),
        games(["level:2", "influence:ties=random"], Setup::STANDARD, &Openings::Random(3)),
        games(["mtdf:depth=2,eval=sawwan", "random:seed=5"], wide, &Openings::Random(2)),
    ]
}

/// A short game with a winner.
fn game() -> GameRecord {
    games(["alphabeta:depth=2", "random"], Setup::STANDARD, &Openings::None).remove(0)
}

#[test]
fn records_conform_to_the_schema_and_round_trip() {
    let schema = jsonschema::validator_for(&serde_json::from_str(SCHEMA).unwrap()).unwrap();
    for game in matches().iter().flatten() {
        let document = serde_json::to_value(game).unwrap();
        let errors: Vec<String> = schema.iter_errors(&document).map(|e| e.to_string()).collect();
        assert!(errors.is_empty(), "{errors:?}: {document}");
        assert_eq!(serde_json::from_value::<GameRecord>(document).unwrap(), *game);
    }
}

#[test]
fn the_schema_rejects_invalid_records() {
    let schema = jsonschema::validator_for(&serde_json::from_str(SCHEMA).unwrap()).unwrap();
    let whole = serde_json::to_value(game()).unwrap();
    for key in whole.as_object().unwrap().keys() {
        let mut part = whole.clone();
        part.as_object_mut().unwrap().remove(key);
        assert!(!schema.is_valid(&part), "without {key}");
    }
    for (path, value) in [
        ("/version", json!(2)),
        ("/time", json!("yesterday")),
        ("/first_player", json!(2)),
        ("/setup/ruleset", json!("wild")),
        ("/moves/0/column", json!(0)),
        ("/moves/0/ms", json!(-1)),
        ("/result/reason", json!("boredom")),
        ("/result/winner", json!("X")),
        ("/players", json!([])),
    ] {
        let mut wrong = whole.clone();
        *wrong.pointer_mut(path).unwrap() = value;
        assert!(!schema.is_valid(&wrong), "{path}");
    }
}

#[test]
fn records_replay_and_players_choose_the_same_moves_again() {
    for game in matches().iter().flatten() {
        let replayed = game.replay().unwrap();
        assert_eq!(replayed.move_text(), game.move_text());
        assert_eq!(game.choose_again(), Ok(game.moves.len() - game.opening_moves));
    }
}

#[test]
fn a_loss_on_time_is_a_valid_result() {
    let clock = Clock { base: Duration::from_nanos(1), increment: Duration::ZERO };
    let time = TimeControl { clock: Some(clock), per_move: None };
    let players = ["mcts:sims=2000", "mcts:sims=2000"];
    for game in games_in_time(players, Setup::STANDARD, &Openings::Random(3), time) {
        assert_eq!(game.result.reason, EndReason::Time);
        game.replay().unwrap();
    }
}

#[test]
fn a_tampered_record_is_rejected_with_game_move_and_reason() {
    let right = game();
    assert_eq!((right.result.winner, right.result.reason), (Some(0), EndReason::Line));
    let last = right.moves.len();
    let tampered = |change: &dyn Fn(&mut GameRecord)| {
        let mut game = right.clone();
        change(&mut game);
        game.replay().unwrap_err().to_string()
    };
    for (change, message) in [
        (
            &(|game: &mut GameRecord| game.version = 2) as &dyn Fn(&mut GameRecord),
            "unknown version 2 (expected 1)".to_owned(),
        ),
        (&|game| game.first_player = 2, "first player 2: must be 0 or 1".to_owned()),
        (&|game| game.opening_moves = 99, format!("opening: 99 moves of a game of {last}")),
        (&|game| game.moves[2].column = 0, "move 3, column 0: no board has this column".to_owned()),
        (
            &|game| game.moves[2].column = 8,
            "move 3, column 8: no column 8: the board has 7 columns".to_owned(),
        ),
        (
            &|game| game.moves.push(game.moves[0].clone()),
            format!(
                "move {}, column {}: the game is already over (X wins)",
                last + 1,
                right.moves[0].column
            ),
        ),
        (
            &|game| drop(game.moves.pop()),
            "result: the reason is line, but the game is not over".to_owned(),
        ),
        (&|game| game.result.winner = Some(1), "result: player 1 won, not player 2".to_owned()),
        (&|game| game.result.winner = None, "result: player 1 won, not nobody".to_owned()),
        (
            &|game| game.result.reason = EndReason::Time,
            "result: the reason is line, not time".to_owned(),
        ),
        (
            &|game| game.result.scores = [3, 0],
            format!("result: the scores are {:?}, not [3, 0]", right.result.scores),
        ),
    ] {
        assert_eq!(tampered(change), format!("game 1, {message}"));
    }
}

#[test]
fn a_record_with_an_impossible_setup_cannot_be_read() {
    let right = serde_json::to_value(game()).unwrap();
    for (field, value, message) in [
        ("cols", json!(0), "a board has 1 to 35 columns, not 0"),
        ("ruleset", json!("wild"), "unknown ruleset 'wild' (available: standard, lines)"),
        ("width", json!(7), "unknown field `width`"),
    ] {
        let mut tampered = right.clone();
        tampered["setup"][field] = value;
        let error = serde_json::from_value::<GameRecord>(tampered).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
}

#[test]
fn a_forfeited_game_is_lost_by_the_player_to_move() {
    let mut game = game();
    game.moves.truncate(4);
    game.result.scores = [0, 0];
    game.result.reason = EndReason::Forfeit;
    game.result.winner = Some(0);
    assert_eq!(
        game.replay().unwrap_err().to_string(),
        "game 1, result: player 2 won, not player 1"
    );
    game.result.winner = Some(1);
    game.replay().unwrap();
    game.result.reason = EndReason::Resigned;
    for winner in [0, 1] {
        game.result.winner = Some(winner);
        game.replay().unwrap();
    }
    game.result.winner = None;
    game.replay().unwrap_err();
    game.result.reason = EndReason::Unfinished;
    game.replay().unwrap();
}

#[test]
fn another_seed_or_player_chooses_other_moves() {
    let right = games(["random", "random"], Setup::STANDARD, &Openings::None).remove(0);
    let other = GameRecord { seed: right.seed + 1, ..right.clone() };
    let error = other.choose_again().unwrap_err().to_string();
    assert!(error.starts_with("game 1, move ") && error.contains(" chooses "), "{error}");

    let mut nobody = right.clone();
    nobody.players[0].agent = "nobody".to_owned();
    let error = nobody.choose_again().unwrap_err().to_string();
    assert!(error.starts_with("game 1, players: unknown player 'nobody'"), "{error}");

    let mut person = right;
    person.players[0].agent = "human".to_owned();
    assert_eq!(person.choose_again(), Ok(person.moves.len() / 2));
}

#[test]
fn the_older_format_has_its_original_fields() {
    for game in matches().iter().flatten() {
        let older = serde_json::to_value(LegacyRecord::new(game).unwrap()).unwrap();
        assert_eq!(older["moves_count"], game.moves.len());
        assert_eq!(older["first_player"], game.first_player + 1);
        assert_eq!(older["winner"], game.result.winner.map_or(0, |winner| winner + 1));
        let tab = older["tab"].as_array().unwrap();
        assert_eq!(tab.len(), usize::from(game.setup.rows()));
        let moves = older["list_of_moves"].as_object().unwrap();
        assert_eq!(moves.len(), game.moves.len());
        for (ply, played) in game.moves.iter().enumerate() {
            let older = &moves[&(ply + 1).to_string()];
            assert_eq!(older["col"], played.column - 1);
            assert_eq!(older["color"], ["red", "black"][game.mover(ply)]);
            let row = older["row"].as_u64().unwrap() as usize;
            assert_eq!(tab[row][usize::from(played.column) - 1], older["color"]);
        }
        let discs = tab.iter().flat_map(|row| row.as_array().unwrap()).filter(|cell| *cell != "");
        assert_eq!(discs.count(), game.moves.len());
    }
    let game = game();
    let older = serde_json::to_string(&LegacyRecord::new(&game).unwrap()).unwrap();
    assert!(older.contains(r#""player_one_settings":{"AI":"alphabeta","options":{"depth":"2"}}"#));
    assert!(older.contains(r#""player_two_settings":{"AI":"random","options":{}}"#), "{older}");
    // Moves are in numerical order, not in the order of their texts.
    assert!(older.find("\"2\":{").unwrap() < older.find("\"10\":{").unwrap_or(usize::MAX));
    assert!(older.contains("time_elapsed_player_one") && older.contains("time_elapsed_player_two"));
}

#[test]
fn pgn_has_headers_and_the_moves_in_pairs() {
    for game in matches().iter().flatten() {
        let text = pgn(game).unwrap();
        let (headers, moves) = text.split_once("\n\n").unwrap();
        assert!(headers.lines().all(|line| line.starts_with('[') && line.ends_with("\"]")));
        assert!(moves.lines().all(|line| line.len() < 80), "{moves}");
        let words: Vec<&str> =
            moves.split_whitespace().filter(|word| !word.ends_with('.')).collect();
        let (result, columns) = words.split_last().unwrap();
        assert_eq!(columns.concat(), game.move_text());
        assert!(headers.contains(&format!("[Result \"{result}\"]")), "{text}");
    }
}
