//! Reviews of games.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use claimeven_arena::{Judgement, MoveReview, Review, ReviewOptions};
use claimeven_game::{Game, Outcome, Position, Ruleset, Setup};

const UNLIMITED: ReviewOptions =
    ReviewOptions { time: None, time_per_position: None, table_mb: 64, cancel: None };

fn review(setup: Setup, moves: &str) -> Review {
    Review::of(&Game::parse(setup, moves).unwrap(), &UNLIMITED)
}

fn judgements(review: &Review) -> Vec<Judgement> {
    review.moves.iter().map(|reviewed| reviewed.judgement).collect()
}

/// A row of four cells in which two neighbours win. A first move in the middle threatens both
/// neighbours and wins with the second disc; one at the edge threatens only one, which the other
/// side can block.
fn four_in_a_row() -> Setup {
    Setup::new(4, 1, 2, Ruleset::Standard).unwrap()
}

#[test]
fn a_win_is_given_away_and_a_draw_is_kept() {
    // After 1 and 2 the first player has to take 3, or the second player wins there.
    let review = review(four_in_a_row(), "1234");
    let expected = [Judgement::Mistake, Judgement::Only, Judgement::Only, Judgement::Best];
    assert_eq!(judgements(&review), expected);
    let [first, second] = &review.players;
    assert_eq!((first.moves, first.mistakes, first.only_moves), (2, 1, 1));
    // One half point of two: each of the two moves could have given away one.
    assert_eq!(first.accuracy, Some(0.5));
    assert_eq!((second.blunders, second.accuracy), (0, Some(1.0)));
    let values: Vec<&str> = review.moves[0].choices.iter().map(|c| c.value.as_str()).collect();
    assert_eq!(values, ["draw", "wins in 2", "wins in 2", "draw"]);
    assert_eq!(review.moves[0].best().unwrap().column, 2);
}

#[test]
fn a_blunder_and_its_punishment() {
    // The second player leaves 2 free. Every move but 2 gives the win back, and the game away.
    let review = review(four_in_a_row(), "132");
    assert_eq!(judgements(&review), [Judgement::Mistake, Judgement::Blunder, Judgement::Only]);
    let [first, second] = &review.players;
    // One half point of one with the first move, none of two with the third.
    assert!((first.accuracy.unwrap() - 2.0 / 3.0).abs() < 1e-9);
    assert_eq!((second.blunders, second.accuracy), (1, Some(0.0)));
}

#[test]
fn a_player_with_nothing_to_lose_has_no_accuracy() {
    // After 2 the second player loses in any case.
    let review = review(four_in_a_row(), "213");
    assert_eq!(judgements(&review), [Judgement::Best, Judgement::Best, Judgement::Only]);
    assert_eq!(review.players[0].accuracy, Some(1.0));
    assert_eq!(review.players[1].accuracy, None);
}

#[test]
fn judgements_match_minimax() {
    let mut seen = HashSet::new();
    for connect in [3, 4] {
        let setup = Setup::new(4, 4, connect, Ruleset::Standard).unwrap();
        let mut known = HashMap::new();
        for seed in 0..40 {
            check_by_minimax(&random_game(setup, seed), &mut known, &mut seen);
        }
    }
    assert_eq!(seen.len(), Judgement::ALL.len() - 2, "all but good and unknown: {seen:?}");
}

fn check_by_minimax(game: &Game, known: &mut HashMap<u128, i32>, seen: &mut HashSet<Judgement>) {
    let review = Review::of(game, &UNLIMITED);
    let mut position = Position::new(game.position().setup());
    for (played, reviewed) in game.moves().iter().zip(&review.moves) {
        let mut scores = Vec::new();
        for column in position.legal() {
            let mut child = position;
            child.play(column).unwrap();
            scores.push((column.number(), -minimax(&child, known)));
        }
        let reviewed_scores: Vec<(u8, i32)> =
            reviewed.choices.iter().map(|choice| (choice.column, choice.score)).collect();
        assert_eq!(reviewed_scores, scores);
        assert_eq!(reviewed.judgement, plain_judgement(&scores, played.number()), "{game:?}");
        seen.insert(reviewed.judgement);
        position.play(*played).unwrap();
    }
}

#[test]
fn both_rulesets_are_judged_by_minimax_on_a_small_board() {
    let setup = Setup::new(4, 3, 3, Ruleset::Lines).unwrap();
    let mut known = HashMap::new();
    for seed in 0..10 {
        let game = random_game(setup, seed);
        let review = Review::of(&game, &UNLIMITED);
        let mut position = Position::new(setup);
        for (played, reviewed) in game.moves().iter().zip(&review.moves) {
            for choice in &reviewed.choices {
                let mut child = position;
                let column = position.legal().find(|c| c.number() == choice.column).unwrap();
                child.play(column).unwrap();
                assert_eq!(choice.score, -margin(&child, &mut known), "{}", choice.value);
                assert!(choice.exact && choice.plies.is_none());
            }
            assert_eq!(reviewed.choices.len(), position.legal().count());
            position.play(*played).unwrap();
        }
    }
}

#[test]
fn a_whole_standard_game_is_reviewed_quickly() {
    let game = Game::parse(Setup::STANDARD, "44444252622333356666577755").unwrap();
    let before = processor_time();
    let review = Review::of(&game, &UNLIMITED);
    // Processor time, because other tests run on the same processors.
    let used = processor_time().zip(before).map(|(after, before)| after.saturating_sub(before));
    assert!(used.is_none_or(|used| used < Duration::from_secs(2)), "{used:?}");
    assert!(review.moves.iter().all(|reviewed| reviewed.judgement != Judgement::Unknown));
    // Every exact score is at most that of the best choice in the position before.
    for pair in review.moves.windows(2) {
        let after = pair[1].choices.iter().map(|choice| choice.score).max();
        assert_eq!(pair[0].played().map(|choice| -choice.score), after);
    }
}

#[test]
fn early_moves_stay_unknown_but_the_end_is_judged() {
    let setup = Setup::new(10, 10, 4, Ruleset::Standard).unwrap();
    let game = Game::parse(setup, "1213141").unwrap();
    let options = ReviewOptions { time_per_position: Some(Duration::from_millis(50)), ..UNLIMITED };
    let start = Instant::now();
    let review = Review::of(&game, &options);
    assert!(start.elapsed() < Duration::from_secs(5));
    assert_eq!(review.moves[0].judgement, Judgement::Unknown);
    // The winning move is known without a search, and only known values count.
    assert_ne!(review.moves[6].judgement, Judgement::Unknown);
    let known = |index: &usize| review.moves[*index].judgement != Judgement::Unknown;
    assert_eq!(review.players[0].judged, (0..7).step_by(2).filter(known).count());
    let cancelled = ReviewOptions { cancel: Some(Arc::new(true.into())), ..UNLIMITED };
    let review = Review::of(&game, &cancelled);
    assert!(review.moves.iter().all(|reviewed| reviewed.judgement == Judgement::Unknown));
}

#[test]
fn the_time_for_all_positions_is_shared_between_them() {
    let setup = Setup::new(11, 9, 5, Ruleset::Lines).unwrap();
    let game = random_game(setup, 1);
    let options = ReviewOptions { time: Some(Duration::from_secs(5)), ..ReviewOptions::default() };
    let before = processor_time();
    let review = Review::of(&game, &options);
    if let (Some(before), Some(after)) = (before, processor_time()) {
        // Unlimited, it would take about twenty seconds.
        let used = after.saturating_sub(before);
        assert!(used < Duration::from_secs(8), "{used:?}");
    }
    assert_eq!(review.moves.len(), 99);
    let is_known = |reviewed: &&MoveReview| reviewed.judgement != Judgement::Unknown;
    assert!(review.moves.iter().filter(is_known).count() > 5);
    assert!(review.moves.iter().any(|reviewed| reviewed.estimate.is_some()));
}

#[test]
fn an_interrupted_review_is_resumed() {
    let game = Game::parse(Setup::STANDARD, "44444132233").unwrap();
    let complete = Review::of(&game, &UNLIMITED);
    assert!(complete.is_complete());
    let mut interrupted = complete.clone();
    interrupted.moves[7].judgement = Judgement::Unknown;
    interrupted.moves[7].choices.clear();
    // What is known stays as it is, and needs no time.
    interrupted.moves[9].judgement = Judgement::Only;
    let resumed = interrupted.resume(&game, &UNLIMITED);
    assert_eq!(resumed.moves[7], complete.moves[7]);
    assert_eq!(resumed.moves[9], interrupted.moves[9]);
    let no_time = ReviewOptions { cancel: Some(Arc::new(true.into())), ..UNLIMITED };
    assert_eq!(interrupted.resume(&game, &no_time).moves, interrupted.moves);
    // The review of another game is of no use.
    let other = Game::parse(Setup::STANDARD, "44444132234").unwrap();
    assert_eq!(interrupted.resume(&other, &UNLIMITED), Review::of(&other, &UNLIMITED));
}

#[test]
fn a_stored_review_round_trips() {
    let review = review(four_in_a_row(), "132");
    let json = serde_json::to_string(&review).unwrap();
    assert!(json.contains(r#""judgement":"blunder""#), "{json}");
    assert_eq!(serde_json::from_str::<Review>(&json).unwrap(), review);
}

/// The processor time of all threads of this process, if the system provides it.
fn processor_time() -> Option<Duration> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // User and system time in hundredths of a second, fields 14 and 15; the name before may have spaces.
    let (_, rest) = stat.rsplit_once(')')?;
    let hundredths =
        rest.split_whitespace().skip(11).take(2).map(|field| field.parse::<u64>().ok());
    Some(Duration::from_millis(10 * hundredths.sum::<Option<u64>>()?))
}

fn random_game(setup: Setup, seed: u64) -> Game {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut game = Game::new(setup);
    while game.position().outcome().is_none() {
        let legal: Vec<_> = game.position().legal().collect();
        game.play(*random.choice(&legal).unwrap()).unwrap();
    }
    game
}

/// The score by exhaustive search.
fn minimax(position: &Position, known: &mut HashMap<u128, i32>) -> i32 {
    let empty = (position.setup().cells() - position.ply()) as i32;
    match position.outcome() {
        Some(Outcome::Draw) => return 0,
        Some(Outcome::Win(winner)) if winner == position.player() => return empty / 2 + 1,
        Some(Outcome::Win(_)) => return -(empty / 2 + 1),
        None => {}
    }
    if let Some(&score) = known.get(&position.key()) {
        return score;
    }
    let mut best = i32::MIN;
    for column in position.legal() {
        let mut child = *position;
        child.play(column).unwrap();
        best = best.max(-minimax(&child, known));
    }
    known.insert(position.key(), best);
    best
}

/// The margin in lines by exhaustive search.
fn margin(position: &Position, known: &mut HashMap<u128, i32>) -> i32 {
    if position.outcome().is_some() {
        let [first, second] = position.scores().map(|lines| lines as i32);
        return if position.player().index() == 0 { first - second } else { second - first };
    }
    if let Some(&margin) = known.get(&position.key()) {
        return margin;
    }
    let mut best = i32::MIN;
    for column in position.legal() {
        let mut child = *position;
        child.play(column).unwrap();
        best = best.max(-margin(&child, known));
    }
    known.insert(position.key(), best);
    best
}

/// The annotation of a move by its definition.
fn plain_judgement(scores: &[(u8, i32)], column: u8) -> Judgement {
    let played = scores.iter().find(|(other, _)| *other == column).unwrap().1;
    let others: Vec<i32> = scores.iter().filter(|(c, _)| *c != column).map(|(_, s)| *s).collect();
    let can_win = others.iter().any(|&score| score > 0);
    let can_draw = others.contains(&0);
    if played > 0 {
        return match () {
            () if !can_win && !others.is_empty() => Judgement::Only,
            () if others.iter().any(|&score| score > played) => Judgement::SlowerWin,
            () => Judgement::Best,
        };
    }
    if played == 0 {
        return match () {
            () if can_win => Judgement::Mistake,
            () if !can_draw && !others.is_empty() => Judgement::Only,
            () => Judgement::Best,
        };
    }
    match () {
        () if can_win || can_draw => Judgement::Blunder,
        () if others.iter().any(|&score| score > played) => Judgement::FasterLoss,
        () => Judgement::Best,
    }
}
