use std::collections::BTreeMap;

use claimeven_coach::{
    Coach, English, Explanation, ExplanationView, MAX_LINE, MAX_WORDS, MoveNote, MoveView, Reason,
    Sentence, TextLevel, verify, verify_by_solver,
};
use claimeven_game::{Column, Game, Position, Ruleset, Setup};
use claimeven_solver::{Options, Solver, embedded_books};

/// A random game that is not over after a number of plies.
fn random_game(setup: Setup, plies: u32, random: &mut fastrand::Rng) -> Position {
    loop {
        let mut game = Game::new(setup);
        while game.position().ply() < plies && game.position().outcome().is_none() {
            let legal: Vec<Column> = game.position().legal().collect();
            game.play(*random.choice(&legal).expect("the game is not over")).unwrap();
        }
        if game.position().outcome().is_none() {
            return *game.position();
        }
    }
}

fn solver() -> Solver {
    Solver::new(Options::default().with_books(embedded_books()))
}

/// The solver checks the score and the line; the reason is played out.
fn check(explanation: &Explanation, solver: &mut Solver) {
    let position = explanation.position;
    assert!(explanation.line.len() <= MAX_LINE, "{position}");
    assert!(verify_by_solver(explanation, solver), "{position}\n{explanation:?}");
    let end = explanation.end();
    assert!(verify(&end, &explanation.reason), "{position}\n{:?}", explanation.reason);
    for level in [TextLevel::Beginner, TextLevel::Player] {
        let text = English::default().explanation(explanation, level);
        let words = text.split_whitespace().count();
        assert!(words < MAX_WORDS, "{words} words: {text}");
    }
}

#[test]
fn no_explanation_is_false_and_nearly_all_end_in_a_proven_reason() {
    let mut random = fastrand::Rng::with_seed(1);
    let (mut coach, mut solver) = (Coach::new(), solver());
    let mut kinds = BTreeMap::<&str, u32>::new();
    let (mut decided, mut proven) = (0, 0);
    // The example `measure` uses 2000.
    while decided < 150 {
        let plies = random.u32(8..=30);
        let position = random_game(Setup::STANDARD, plies, &mut random);
        let explanation = coach.explain(&position).unwrap();
        check(&explanation, &mut solver);
        if explanation.winner().is_some() {
            decided += 1;
            proven += u32::from(explanation.is_proven());
            *kinds.entry(explanation.reason.kind()).or_default() += 1;
        }
    }
    println!("{proven} of {decided} proven: {kinds:?}");
    assert!(100 * proven >= 95 * decided, "{proven} of {decided}: {kinds:?}");
}

#[test]
fn plans_hold_on_boards_of_every_parity() {
    let mut random = fastrand::Rng::with_seed(2);
    let mut plans = 0;
    for (cols, rows, connect) in [(6, 5, 4), (5, 5, 4), (5, 4, 3), (4, 6, 4), (6, 6, 4)] {
        let setup = Setup::new(cols, rows, connect, Ruleset::Standard).unwrap();
        let (mut coach, mut solver) = (Coach::new(), solver());
        for _ in 0..60 {
            let cells = setup.cells();
            let plies = random.u32(cells / 3..cells * 2 / 3);
            let position = random_game(setup, plies, &mut random);
            let explanation = coach.explain(&position).unwrap();
            check(&explanation, &mut solver);
            plans += u32::from(matches!(explanation.reason, Reason::Plan(_)));
        }
    }
    assert!(plans >= 10, "{plans} plans");
}

#[test]
fn the_verifier_rejects_wrong_reasons() {
    let mut random = fastrand::Rng::with_seed(3);
    let mut coach = Coach::new();
    let mut rejected = 0;
    for _ in 0..150 {
        let position = random_game(Setup::STANDARD, random.u32(12..=26), &mut random);
        let explanation = coach.explain(&position).unwrap();
        // The reason of one position rarely holds in another.
        let other = random_game(Setup::STANDARD, explanation.end().ply(), &mut random);
        if explanation.is_proven() && explanation.winner().is_some() {
            rejected += u32::from(!verify(&other, &explanation.reason));
        }
    }
    assert!(rejected > 100, "{rejected}");
}

#[test]
fn moves_are_explained_briefly_and_mistakes_have_a_better_move() {
    let mut coach = Coach::new();
    let english = English::default();
    let position = position("444355");
    let mut random = fastrand::Rng::with_seed(4);
    for _ in 0..12 {
        let position = random_game(Setup::STANDARD, random.u32(12..=26), &mut random);
        for column in position.legal() {
            let played = coach.explain_move(&position, column).unwrap();
            for level in [TextLevel::Beginner, TextLevel::Player] {
                let text = english.played(&played, level);
                let words = text.split_whitespace().count();
                assert!(words < MAX_WORDS, "{words} words: {text}");
            }
            assert_eq!(played.better.is_none(), played.move_score() == played.score);
        }
    }
    let first = coach.explain_move(&position, column(1)).unwrap();
    assert!(english.played(&first, TextLevel::Beginner).starts_with("Column 1 "));
}

fn position(moves: &str) -> Position {
    Position::from_moves(Setup::STANDARD, moves).unwrap()
}

fn column(number: usize) -> Column {
    Column::from_index(number - 1).unwrap()
}

#[test]
fn obvious_mistakes_have_a_note() {
    let mut coach = Coach::new();
    let mut note =
        |moves, number| coach.explain_move(&position(moves), column(number)).unwrap().note;
    // X has three in a row and does not connect four; O does not block.
    assert!(matches!(note("445566", 1), Some(MoveNote::MissesFour { .. })));
    assert!(matches!(note("41424", 1), Some(MoveNote::LeavesFour { .. })));
    assert_eq!(note("", 4), None);
}

#[test]
fn explanations_have_json_with_marks_and_sentences() {
    let mut coach = Coach::new();
    let english = English::default();
    let mut random = fastrand::Rng::with_seed(5);
    for _ in 0..20 {
        let position = random_game(Setup::STANDARD, random.u32(12..=30), &mut random);
        let explanation = coach.explain(&position).unwrap();
        let json = serde_json::to_value(ExplanationView::new(&explanation, &english)).unwrap();
        assert_eq!(json["reason"]["kind"], explanation.reason.kind());
        let sentences = json["sentences"].as_array().unwrap();
        assert!(!sentences.is_empty());
        for sentence in sentences {
            let key = sentence["key"].as_str().unwrap();
            assert!(Sentence::KEYS.contains(&key), "{key}");
        }
        let column = position.legal().next().unwrap();
        let played = coach.explain_move(&position, column).unwrap();
        let json = serde_json::to_value(MoveView::new(&played, &english)).unwrap();
        assert_eq!(json["column"], column.number());
        assert!(json["text"]["beginner"].as_str().unwrap().len() > 10);
    }
    let explanation = coach.explain(&self::position("445566")).unwrap();
    let json = serde_json::to_string(&ExplanationView::new(&explanation, &english)).unwrap();
    assert!(json.contains(r#""sentences":[{"key":"wins_now","winner":0,"column":3}]"#), "{json}");
}

/// The page has a text for each key.
#[test]
fn every_sentence_has_its_own_key() {
    let mut keys = Sentence::KEYS.to_vec();
    keys.sort_unstable();
    keys.dedup();
    assert_eq!(keys.len(), Sentence::KEYS.len());
}
