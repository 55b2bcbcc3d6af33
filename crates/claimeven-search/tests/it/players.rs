//! Properties of each player.

use claimeven_game::{Column, Position, Ruleset, Setup};
use claimeven_search::{
    Agent, AgentError, Decision, DepthParameters, Heuristic, Influence, LEVELS, Level, Limits,
    Mcts, MctsParameters, Minimax, Perfect, Random, TieBreak, Value,
};
use claimeven_solver::{Options, Solver, embedded_books};
use proptest::prelude::*;

use crate::positions::{positions, standard_positions};

fn decide(agent: &mut dyn Agent, position: &Position) -> Decision {
    agent.decide(position, &Limits::default()).unwrap()
}

fn from_moves(moves: &str) -> Position {
    Position::from_moves(Setup::STANDARD, moves).unwrap()
}

fn mcts(simulations: u64, seed: u64) -> Mcts {
    Mcts::new(MctsParameters { simulations, seed, ..MctsParameters::default() })
}

fn perfect() -> Perfect {
    let options = Options::default().with_books(embedded_books());
    Perfect::new(options, TieBreak::default(), 0)
}

fn level(number: usize, seed: u64) -> Level {
    let options = Options::default().with_books(embedded_books());
    Level::new(number, options, seed).unwrap()
}

/// The immediate wins of the side to move.
fn immediate_wins(position: &Position) -> Vec<Column> {
    let wins = |column: &Column| {
        let mut child = *position;
        child.play(*column).unwrap();
        child.outcome().and_then(claimeven_game::Outcome::winner) == Some(position.player())
    };
    position.legal().filter(wins).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn every_player_plays_every_game(position in positions(90), seed in any::<u64>()) {
        let agents: [&mut dyn Agent; 5] = [
            &mut Random { seed },
            &mut Influence { tie_break: TieBreak::Random, seed },
            &mut mcts(50, seed),
            &mut level(1, seed),
            &mut level(4, seed),
        ];
        for agent in agents {
            let decision = decide(agent, &position);
            prop_assert!(position.legal().any(|column| column == decision.column));
            let mut after = position;
            for &column in &decision.pv {
                prop_assert!(after.play(column).is_ok());
            }
        }
    }

    #[test]
    fn the_same_seed_makes_the_same_decision(position in positions(42), seed in any::<u64>()) {
        let agents: [fn(u64) -> Box<dyn Agent>; 3] = [
            |seed| Box::new(Random { seed }),
            |seed| Box::new(mcts(100, seed)),
            |seed| Box::new(level(3, seed)),
        ];
        for agent in agents {
            let [mut first, second] = [0; 2].map(|_| decide(&mut *agent(seed), &position));
            first.time = second.time;
            prop_assert_eq!(first, second);
        }
    }

    #[test]
    fn levels_from_three_on_never_miss_an_immediate_win(
        position in standard_positions(),
        seed in any::<u64>(),
    ) {
        let wins = immediate_wins(&position);
        prop_assume!(!wins.is_empty());
        // Exact scores of early positions, which the upper levels need, take long.
        let levels = if position.ply() < 14 { 3..=6 } else { 3..=10 };
        for number in levels {
            let column = decide(&mut level(number, seed), &position).column;
            prop_assert!(wins.contains(&column), "level {} plays {}\n{}", number, column, position);
        }
    }

    #[test]
    fn the_influence_map_sees_immediate_wins_and_threats(position in standard_positions()) {
        let column = decide(&mut Influence::default(), &position).column;
        let wins = immediate_wins(&position);
        if !wins.is_empty() {
            prop_assert!(wins.contains(&column));
            return Ok(());
        }
        // A single threat of the opponent is blocked.
        let prevents_loss = |column: Column| {
            let mut child = position;
            child.play(column).unwrap();
            child.outcome().is_some() || immediate_wins(&child).is_empty()
        };
        let is_best = prevents_loss(column) || !position.legal().any(prevents_loss);
        prop_assert!(is_best, "{}\n{}", column, position);
    }

    #[test]
    fn perfect_play_is_what_the_solver_says(position in standard_positions()) {
        prop_assume!(position.ply() >= 16);
        let mut solver = Solver::new(Options::default());
        let scores = solver.scores(&position).unwrap();
        let decision = decide(&mut perfect(), &position);
        let best = scores.iter().flatten().max().copied();
        prop_assert_eq!(scores[decision.column.index()], best);
        prop_assert_eq!(decision.value, Value::of_score(best.unwrap(), &position));
        for (score, known) in scores.iter().zip(&decision.columns) {
            let expected = score.map(|score| Value::of_score(score, &position));
            prop_assert_eq!(known.map(|known| known.value), expected);
        }
    }

    #[test]
    fn perfect_play_for_lines_is_a_search_to_the_end(position in positions(12)) {
        let setup = position.setup();
        let lines = Setup::new(setup.cols(), setup.rows(), setup.connect(), Ruleset::Lines).unwrap();
        prop_assume!(setup == lines);
        let parameters = DepthParameters {
            depth: 12,
            heuristic: Heuristic::named("terminal").unwrap(),
            ..DepthParameters::default()
        };
        prop_assume!(setup.cells() - position.ply() <= 8);
        let minimax = decide(&mut Minimax { parameters }, &position);
        let decision = decide(&mut perfect(), &position);
        let as_result = |value| if value == Value::Points(0) { Value::Draw } else { value };
        prop_assert_eq!(decision.column, minimax.column);
        for (known, truth) in decision.columns.iter().zip(&minimax.columns) {
            let truth = truth.map(|truth| as_result(truth.value));
            prop_assert_eq!(known.map(|known| known.value), truth);
        }
    }
}

#[test]
fn mcts_proves_short_wins_and_prevents_short_losses() {
    let decision = decide(&mut mcts(10_000, 1), &from_moves("4455"));
    assert!(matches!(decision.value, Value::Win(3)), "{:?}", decision.value);
    assert!([3, 6].contains(&decision.column.number()));
    // A proof ends the search.
    assert!(decision.stats.simulations < 10_000);

    let decision = decide(&mut mcts(2_000, 1), &from_moves("445"));
    assert!([3, 5, 6].contains(&decision.column.number()), "{}", decision.column);
    let decision = decide(&mut mcts(500, 1), &from_moves("414141"));
    assert_eq!((decision.column.number(), decision.value), (4, Value::Win(1)));
    let decision = decide(&mut mcts(500, 1), &from_moves("41414"));
    assert_eq!(decision.column.number(), 4);
}

#[test]
fn mcts_without_proofs_simulates_to_the_end() {
    let parameters =
        MctsParameters { simulations: 300, proofs: false, ..MctsParameters::default() };
    let decision = decide(&mut Mcts::new(parameters), &from_moves("414141"));
    assert_eq!((decision.column.number(), decision.stats.simulations), (4, 300));
    assert!(matches!(decision.value, Value::Expected(result) if result > 0.9));
}

#[test]
fn mcts_reuses_its_tree() {
    let mut player = mcts(2_000, 3);
    let fresh = decide(&mut player, &from_moves("44")).stats.nodes;
    let (mut next, column) = (from_moves("44"), decide(&mut player, &from_moves("44")).column);
    next.play(column).unwrap();
    next.play(Column::from_index(3).unwrap()).unwrap();
    let again = decide(&mut player, &next).stats.nodes;
    assert!(again > fresh, "{again} nodes, {fresh} without an earlier tree");
    // A game on another board does not use the tree.
    let other = Position::new(Setup::new(4, 4, 3, Ruleset::Lines).unwrap());
    decide(&mut player, &other);
}

#[test]
fn finished_games_have_no_decision() {
    let finished = from_moves("1212121");
    let agents: [&mut dyn Agent; 6] = [
        &mut Random::default(),
        &mut Influence::default(),
        &mut Minimax::default(),
        &mut mcts(10, 0),
        &mut perfect(),
        &mut level(5, 0),
    ];
    for agent in agents {
        assert_eq!(agent.decide(&finished, &Limits::default()), Err(AgentError::GameOver));
    }
}

#[test]
fn perfect_play_rejects_boards_that_are_out_of_reach() {
    let setup = Setup::new(7, 6, 4, Ruleset::Lines).unwrap();
    let error = perfect().decide(&Position::new(setup), &Limits::default()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "perfect cannot play 7x6, connect 4, lines: with the ruleset lines it needs a board of at \
         most 20 cells, not 42"
    );
}

#[test]
fn there_are_ten_levels() {
    assert_eq!(LEVELS.len(), 10);
    assert!(Level::new(0, Options::default(), 0).is_none());
    assert!(Level::new(11, Options::default(), 0).is_none());
    let best = decide(&mut level(10, 7), &from_moves("4444"));
    assert_eq!(best.value.to_string(), "wins in 19");
}
