//! Alpha-beta, MTD(f) and iterative deepening agree with minimax.

use claimeven_game::{Column, Outcome, Position};
use claimeven_search::{
    Agent, AlphaBeta, BoundKind, Decision, DepthParameters, Heuristic, IterativeDeepening, Limits,
    Minimax, Mtdf, TieBreak, Value,
};
use proptest::prelude::*;

use crate::positions::positions;

fn decide(agent: &mut dyn Agent, position: &Position) -> Decision {
    agent.decide(position, &Limits::default()).unwrap()
}

fn parameters() -> impl Strategy<Value = DepthParameters> {
    let names: Vec<&str> = Heuristic::names().collect();
    let strategy =
        (1..=4_u32, prop::sample::select(names), prop::sample::select(&TieBreak::ALL[..]));
    (strategy, any::<u64>()).prop_map(|((depth, name, tie_break), seed)| DepthParameters {
        depth,
        time: None,
        nodes: None,
        heuristic: Heuristic::named(name).unwrap(),
        tie_break,
        seed,
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn all_find_the_value_and_the_move_of_minimax(
        position in positions(63),
        parameters in parameters(),
    ) {
        let minimax = decide(&mut Minimax { parameters: parameters.clone() }, &position);
        let alphabeta = || AlphaBeta::new(parameters.clone());
        let pruned = decide(&mut alphabeta(), &position);
        let every = decide(&mut alphabeta().with_exact_moves(), &position);
        let table = decide(&mut alphabeta().with_table(1), &position);
        let every_table = decide(&mut alphabeta().with_exact_moves().with_table(1), &position);
        let mtdf = decide(&mut Mtdf::new(parameters.clone(), 1), &position);

        prop_assert!(pruned.stats.nodes <= every.stats.nodes);
        prop_assert!(every.stats.nodes <= minimax.stats.nodes);
        prop_assert_eq!(&every.columns, &minimax.columns);
        prop_assert_eq!(&every_table.columns, &minimax.columns);
        prop_assert_eq!(&pruned.pv, &minimax.pv);
        for (name, decision) in
            [("alphabeta", &pruned), ("every", &every), ("table", &table), ("mtdf", &mtdf)]
        {
            prop_assert_eq!(decision.value, minimax.value, "{}\n{}", name, position);
            prop_assert_eq!(decision.column, minimax.column, "{}\n{}", name, position);
            prop_assert_eq!(decision.pv[0], decision.column);
            check_bounds(decision, &minimax)?;
        }

        // Iterative deepening prefers its previous best move, and stops as soon as the end of the
        // game is proven.
        let timed = decide(&mut IterativeDeepening::new(parameters, 1), &position);
        prop_assert_eq!(timed.value, minimax.value, "timed\n{}", position);
        prop_assert_eq!(minimax.columns[timed.column.index()].unwrap().value, minimax.value);
        if timed.stats.depth == minimax.stats.depth {
            check_bounds(&timed, &minimax)?;
        }
    }

    #[test]
    fn a_table_from_earlier_searches_does_not_change_values(
        positions in prop::collection::vec(positions(42), 1..6),
        parameters in parameters(),
    ) {
        let mut mtdf = Mtdf::new(parameters.clone(), 1);
        for position in &positions {
            let fresh = decide(&mut Mtdf::new(parameters.clone(), 1), position);
            prop_assert_eq!(decide(&mut mtdf, position).value, fresh.value);
        }
    }

    #[test]
    fn principal_variations_lead_to_the_value(
        position in positions(30),
        parameters in parameters(),
    ) {
        for agent in [
            &mut Minimax { parameters: parameters.clone() } as &mut dyn Agent,
            &mut Mtdf::new(parameters.clone(), 1),
        ] {
            let decision = decide(agent, &position);
            let mut end = position;
            for &column in &decision.pv {
                end.play(column).unwrap();
            }
            let plies = decision.pv.len() as u32;
            match decision.value {
                Value::Win(expected) | Value::Loss(expected) => {
                    prop_assert_eq!(plies, expected);
                    let winner = end.outcome().and_then(Outcome::winner);
                    let is_won = winner == Some(position.player());
                    prop_assert_eq!(is_won, matches!(decision.value, Value::Win(_)));
                }
                _ => prop_assert!(plies == parameters.depth || end.outcome().is_some()),
            }
        }
    }
}

/// The bounds of a decision's columns hold for the values that minimax finds.
fn check_bounds(decision: &Decision, minimax: &Decision) -> Result<(), TestCaseError> {
    for (known, truth) in decision.columns.iter().zip(&minimax.columns) {
        let (Some(known), Some(truth)) = (known, truth) else { continue };
        let [value, truth] = [known.value, truth.value].map(order);
        match known.bound {
            BoundKind::Exact => prop_assert_eq!(value, truth),
            BoundKind::Upper => prop_assert!(truth <= value),
            BoundKind::Lower => prop_assert!(truth >= value),
        }
    }
    Ok(())
}

/// Values as numbers: the better, the higher.
fn order(value: Value) -> i64 {
    match value {
        Value::Win(plies) => (1 << 40) - i64::from(plies),
        Value::Loss(plies) => i64::from(plies) - (1 << 40),
        Value::Points(points) => points.into(),
        Value::Draw | Value::Expected(_) => panic!("a depth-limited search counts points"),
    }
}

#[test]
fn ties_are_broken_by_the_rule() {
    let setup = claimeven_game::Setup::STANDARD;
    let empty = Position::new(setup);
    // The game cannot end within three plies, so all columns are equal to this heuristic.
    let column = |tie_break, seed| {
        let heuristic = Heuristic::named("terminal").unwrap();
        let parameters =
            DepthParameters { depth: 3, time: None, nodes: None, heuristic, tie_break, seed };
        decide(&mut AlphaBeta::new(parameters), &empty).column.number()
    };
    assert_eq!(column(TieBreak::First, 1), 1);
    assert_eq!(column(TieBreak::Last, 1), 7);
    assert_eq!(column(TieBreak::Centre, 1), 4);
    let random: Vec<u8> = (0..40).map(|seed| column(TieBreak::Random, seed)).collect();
    assert!((1..=7).all(|column| random.contains(&column)), "{random:?}");
    assert_eq!(random, (0..40).map(|seed| column(TieBreak::Random, seed)).collect::<Vec<u8>>());
}

#[test]
fn the_fastest_win_and_the_slowest_loss_are_preferred() {
    let setup = claimeven_game::Setup::STANDARD;
    let value = |moves: &str, depth| {
        let position = Position::from_moves(setup, moves).unwrap();
        let parameters = DepthParameters { depth, ..DepthParameters::default() };
        let decision = decide(&mut Minimax { parameters }, &position);
        (decision.value, decision.column)
    };
    let column = |number: usize| Column::from_index(number - 1).unwrap();
    assert_eq!(value("414141", 4), (Value::Win(1), column(4)));
    assert_eq!(value("4455", 5), (Value::Win(3), column(3)));
    // O can only choose where to lose; blocking one end leaves the other to X.
    assert_eq!(value("44553", 4).0, Value::Loss(2));
}
