//! Fuzz tests: every parser accepts or rejects damaged input, and never panics.
//!
#[path = "fuzz/harness.rs"]
mod harness;

use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use claimeven_arena::{
    AgentSpec, GameRecord, MoveRecord, Openings, PlayerRecord, Puzzle, ResultRecord, Review,
    ReviewOptions, TournamentPlan, run_ugi,
};
use claimeven_game::{Column, Game, Position, Setup};
use claimeven_search::Heuristic;
use claimeven_solver::{Book, Options, Score, Solver, build_book};
use claimeven_zero::{Architecture, Event, Exam, Network, Parameters, Resources, Run};
use fastrand::Rng;
use harness::{fuzz, texts};

/// Fuzzes a parser of text with valid UTF-8.
fn fuzz_text(name: &str, known: &[&str], mut parse: impl FnMut(&str) -> bool) {
    fuzz(name, &texts(known), |input| parse(&String::from_utf8_lossy(input)));
}

/// A parsed value prints as a text that parses to the same value.
fn round_trip<T: FromStr + ToString + PartialEq + std::fmt::Debug>(text: &str) -> bool {
    let Ok(value) = text.parse::<T>() else { return false };
    let again = value.to_string().parse::<T>().ok();
    assert_eq!(again.as_ref(), Some(&value), "{text:?} became {:?}", value.to_string());
    true
}

#[test]
fn notations() {
    let setups = ["7x6", "5x4 connect 3", "9x7x5", "4x4x3:lines", "7x6x4"];
    let boards =
        ["44444", "1234567", "7x6:4455", ".......\n.......\nX.O....", "0 1 2 0 0 0 0", "xo./...x"];
    fuzz_text("notations", &[&setups[..], &boards[..]].concat(), |text| {
        let readable = [
            round_trip::<Setup>(text),
            round_trip::<Column>(text),
            round_trip::<Position>(text),
            round_trip::<Game>(text),
        ];
        let small = Setup::new(5, 4, 3, claimeven_game::Ruleset::Lines).unwrap();
        for setup in [Setup::STANDARD, small] {
            if let Ok(game) = Game::parse(setup, text) {
                assert_eq!(Game::parse(setup, &game.move_text()).as_ref(), Ok(&game));
            }
            if let Ok(position) = Position::from_picture(setup, text) {
                let again = Position::from_picture(setup, &position.to_string());
                assert_eq!(again.ok(), Some(position));
            }
            let _ = Position::from_openspiel(setup, text);
            let bytes: Vec<u8> = text.bytes().map(|byte| byte % 4).collect();
            let _ = Position::from_kaggle(setup, &bytes);
        }
        readable.contains(&true)
    });
}

#[test]
fn agents() {
    let known = [
        "mcts:sims=1000,c=1.4",
        "minimax:depth=3,eval=bits",
        "zero:model=first@9,sims=50",
        "level:3",
        "ugi:cmd=\"program --level=a,b\",ms=50",
        "timed:ms=100,table=16",
        "random:seed=7",
        "balanced:4",
        "random:6",
    ];
    fuzz_text("agents", &known, |text| {
        let readable = round_trip::<AgentSpec>(text);
        let _ = AgentSpec::parse_list(text);
        let _ = text.parse::<Openings>();
        let _ = text.parse::<Puzzle>();
        let _ = text.parse::<Heuristic>();
        readable
    });
}

#[test]
fn plans() {
    let toml = "title = \"Cup\"\nformat = \"round-robin\"\ngames = 4\nseed = 1\nopenings = \"random:4\"\n\
                [setup]\ncols = 5\nrows = 4\n[[players]]\nagent = \"random\"\nname = \"R\"\n[[players]]\nagent = \"level:1\"\n";
    let json = r#"{"format":"gauntlet","players":[{"agent":"random"},{"agent":"level:2","name":"Two"}],"games":2,"seed":3}"#;
    let weights = "[cells]\ncentre = 3\n[groups]\ntwo = 10\nthree = 100\n";
    fuzz_text("plans", &[toml, json, weights], |text| {
        let weights = Heuristic::from_toml("weights".to_owned(), text);
        TournamentPlan::from_toml(text).is_ok()
            || TournamentPlan::from_json(text).is_ok()
            || weights.is_ok()
    });
}

#[test]
fn records() {
    let game = Game::parse(Setup::STANDARD, "4433221").unwrap();
    let player = |agent: &str| PlayerRecord { agent: agent.to_owned(), name: agent.to_owned() };
    let record = GameRecord {
        time_control: None,
        version: GameRecord::VERSION,
        id: "1".to_owned(),
        time: "2026-01-01T00:00:00Z".to_owned(),
        setup: Setup::STANDARD,
        players: [player("random"), player("human")],
        first_player: 1,
        seed: 1,
        opening_moves: 2,
        moves: game.moves().iter().map(|&column| MoveRecord::given(column)).collect(),
        result: ResultRecord::of_game(&game, 1).unwrap(),
    };
    let record = serde_json::to_string(&record).unwrap();
    let options = ReviewOptions { time_per_position: None, ..ReviewOptions::default() };
    let review = serde_json::to_string(&Review::of(&game, &options)).unwrap();
    fuzz_text("records", &[&record, &review], |text| {
        let record = serde_json::from_str::<GameRecord>(text);
        if let Ok(record) = &record {
            let _ = record.replay();
            let _ = claimeven_arena::pgn(record);
        }
        let review = serde_json::from_str::<Review>(text);
        if let Ok(review) = &review {
            let _ = review.players_after(0);
        }
        record.is_ok()
    });
}

#[test]
fn ugi() {
    let session = "ugi\nisready\nsetoption name depth value 2\nuginewgame\nposition startpos moves 4 4 4\n\
                   position fen 7/7/7/7/7/3x3 o moves 1\nquery p1turn\nquery result\ngo depth 2\nstop\ngo movetime 5\nquit\n";
    let agent: AgentSpec = "random".parse().unwrap();
    fuzz("ugi", &texts(&[session]), |input| {
        let mut output = Vec::new();
        run_ugi(input, &mut output, agent.clone(), Setup::STANDARD).unwrap();
        String::from_utf8(output).unwrap().contains("bestmove")
    });
}

fn temporary(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("claimeven-fuzz-{}-{name}", std::process::id()))
}

#[test]
fn books() {
    let setup: Setup = Setup::new(5, 4, 4, claimeven_game::Ruleset::Standard).unwrap();
    let checkpoint = temporary("book");
    let scorer = || {
        let mut solver = Solver::new(Options::default());
        move |position: &Position| -> Score { solver.score(position).unwrap() }
    };
    let book = build_book(setup, 3, &checkpoint, 1, scorer, |_| ControlFlow::Continue(()));
    let book = book.unwrap().unwrap();
    let _ = fs::remove_file(checkpoint);
    let positions = [
        Position::new(setup),
        Position::from_moves(setup, "123").unwrap(),
        Position::new(Setup::STANDARD),
    ];
    let mut random = Rng::new();
    fuzz("books", &[book.to_bytes()], |input| {
        let mut input = input.to_vec();
        // Mostly with the right checksum, which would otherwise hide all other errors.
        if random.u8(..4) > 0
            && let Some((content, sum)) = input.split_last_chunk_mut::<4>()
        {
            *sum = crc32fast::hash(content).to_le_bytes();
        }
        let Ok(book) = Book::from_bytes(&input) else { return false };
        for position in &positions {
            let _ = (book.get(position), book.contains(position));
        }
        true
    });
}

#[test]
fn networks() {
    let setup = Setup::new(4, 4, 3, claimeven_game::Ruleset::Standard).unwrap();
    let network = Network::new(Architecture::new(setup, 1, 4), 1).unwrap();
    fuzz("networks", &[network.to_bytes()], |input| {
        let Ok(network) = Network::from_bytes(input) else { return false };
        let again = Network::from_bytes(&network.to_bytes()).unwrap();
        assert_eq!(again.architecture(), network.architecture());
        true
    });
}

#[test]
fn exams() {
    let setup = Setup::new(4, 4, 3, claimeven_game::Ruleset::Standard).unwrap();
    let file = temporary("exam");
    let known =
        r#"{"questions":[{"moves":"1","results":[1,0,-1,1]},{"moves":"","results":[1,1,1,1]}]}"#;
    fuzz("exams", &texts(&[known, "[]", "{}"]), |input| {
        fs::write(&file, input).unwrap();
        Exam::load(&file, setup).is_ok()
    });
    let _ = fs::remove_file(file);
}

/// A training run of a single tiny iteration.
fn tiny_run() -> Parameters {
    let setup = Setup::new(3, 3, 3, claimeven_game::Ruleset::Standard).unwrap();
    let mut parameters = Parameters::ten_minutes(setup);
    parameters.architecture = Architecture::new(setup, 1, 4);
    parameters.self_play.games = 4;
    parameters.self_play.in_flight = 4;
    parameters.self_play.full_simulations = 4;
    parameters.self_play.fast_simulations = 2;
    parameters.self_play.opening_plies = 2;
    parameters.self_play.cache = 1 << 8;
    parameters.learning.batch = 16;
    parameters.learning.chunk = 16;
    parameters.learning.min_buffer = 10;
    parameters.gate.pairs = 2;
    parameters.gate.simulations = 2;
    parameters.gate.opening_plies = 2;
    parameters.exam.positions = 10;
    parameters.exam.min_plies = 0;
    parameters.exam.max_plies = 3;
    parameters.exam.simulations = 2;
    parameters
}

fn files_in(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files_in(&path) } else { vec![path] }).collect()
}

/// One file of a checkpoint is damaged: the first byte of the input selects it.
#[test]
fn checkpoints() {
    let folder = temporary("run");
    let mut observer = |_: Event<'_>| ControlFlow::Continue(());
    let resources = || Resources { keep_free: 0, ..Resources::new(1) };
    let mut run = Run::begin(&folder, &tiny_run(), None, resources(), &mut observer).unwrap();
    run.iterate(&mut observer).unwrap().unwrap();
    drop(run);
    let files: Vec<(PathBuf, Vec<u8>)> =
        files_in(&folder).into_iter().map(|path| (path.clone(), fs::read(path).unwrap())).collect();
    let known: Vec<Vec<u8>> = (0..)
        .zip(&files)
        .map(|(number, (_, content))| [&[number], &content[..]].concat())
        .collect();
    fuzz("checkpoints", &known, |input| {
        let Some((&number, damaged)) = input.split_first() else { return false };
        for (place, (path, content)) in (0..).zip(&files) {
            fs::write(path, if place == number { damaged } else { content }).unwrap();
        }
        Run::resume(&folder, None, resources(), &mut observer).is_ok()
    });
    let _ = fs::remove_dir_all(folder);
}
