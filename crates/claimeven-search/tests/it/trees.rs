//! Recorded trees match the searches.

use claimeven_game::{Column, Position, Ruleset, Setup};
use claimeven_search::{
    Agent, AlphaBeta, BoundKind, Decision, DepthParameters, IterativeDeepening, Limits, Mcts,
    MctsParameters, Minimax, Mtdf, NodeContent, Tree, TreeNode, Value, ValueSource,
};
use proptest::prelude::*;

use crate::positions::positions;

fn parameters(depth: u32) -> DepthParameters {
    DepthParameters { depth, ..DepthParameters::default() }
}

fn record(agent: &mut dyn Agent, position: &Position, levels: u32) -> (Decision, Tree) {
    agent.decide_with_tree(position, &Limits::default(), levels).unwrap()
}

fn minimax(position: &Position, depth: u32, levels: u32) -> (Decision, Tree) {
    record(&mut Minimax { parameters: parameters(depth) }, position, levels)
}

fn alphabeta(position: &Position, depth: u32, levels: u32) -> (Decision, Tree) {
    record(&mut AlphaBeta::new(parameters(depth)), position, levels)
}

fn mcts(position: &Position, simulations: u64, levels: u32) -> (Decision, Tree) {
    let parameters = MctsParameters { simulations, ..MctsParameters::default() };
    record(&mut Mcts::new(parameters), position, levels)
}

fn timed(position: &Position, depth: u32) -> (Decision, Tree) {
    record(&mut IterativeDeepening::new(parameters(depth), 1), position, u32::MAX)
}

fn mtdf(position: &Position, depth: u32) -> (Decision, Tree) {
    record(&mut Mtdf::new(parameters(depth), 1), position, u32::MAX)
}

/// A number that orders the values of one search; a draw counts as 0 points.
fn rank(value: Value) -> i64 {
    match value {
        Value::Win(plies) => 1_000_000 - i64::from(plies),
        Value::Loss(plies) => i64::from(plies) - 1_000_000,
        Value::Draw => 0,
        Value::Points(points) => points.into(),
        Value::Expected(_) => unreachable!("these searches count points"),
    }
}

fn is_max(node: &TreeNode) -> bool {
    node.level.is_multiple_of(2)
}

fn total(tree: &Tree) -> u64 {
    tree.nodes.len() as u64 + tree.hidden()
}

fn setup(cols: u8, rows: u8, connect: u8, ruleset: Ruleset) -> Setup {
    Setup::new(cols, rows, connect, ruleset).unwrap()
}

/// Parents come before their children and one level above them, except for passes.
fn check_shape(tree: &Tree) {
    assert_eq!(tree.nodes[0].parent, None);
    for (index, node) in tree.nodes.iter().enumerate() {
        let Some(parent) = node.parent else {
            assert_eq!(index, 0);
            continue;
        };
        assert!(parent < index);
        let step = u32::from(node.column.is_some());
        assert_eq!(node.level, tree.nodes[parent].level + step);
        assert_eq!(node.pass.is_some(), node.column.is_none());
        assert_eq!(tree.nodes[parent].children.iter().filter(|&&child| child == index).count(), 1);
        let position = tree.position_at(index);
        assert_eq!(position.ply(), tree.position.ply() + node.level);
    }
}

/// Each move was either searched or pruned, and moves were pruned only after a cutoff.
fn check_cuts(tree: &Tree) {
    for (index, node) in tree.nodes.iter().enumerate() {
        let NodeContent::Window { alpha, beta, value: Some(value), bound, source } = node.content
        else {
            panic!("a finished search has found every value")
        };
        let has_passes = node.children.iter().any(|&child| tree.nodes[child].pass.is_some());
        if source != ValueSource::Search || has_passes {
            assert!(node.pruned.is_empty());
            continue;
        }
        let position = tree.position_at(index);
        let searched = node.children.iter().filter_map(|&child| tree.nodes[child].column);
        let mut moves: Vec<Column> = searched.chain(node.pruned.iter().copied()).collect();
        moves.sort_by_key(|column| column.index());
        assert_eq!(moves, position.legal().collect::<Vec<_>>(), "{node:?}");

        let (low, high) = (alpha.map_or(i64::MIN, rank), beta.map_or(i64::MAX, rank));
        let is_cutoff = if is_max(node) { rank(value) >= high } else { rank(value) <= low };
        assert!(is_cutoff || node.pruned.is_empty(), "{node:?}");
        match bound {
            BoundKind::Exact => {}
            BoundKind::Lower => assert!(rank(value) >= high, "{node:?}"),
            BoundKind::Upper => assert!(rank(value) <= low, "{node:?}"),
        }
    }
}

/// A node's value is the best of its children's values for the side to move.
fn check_backed_up(tree: &Tree) {
    for node in tree.nodes.iter().filter(|node| !node.children.is_empty()) {
        let value = |child: &usize| rank(tree.nodes[*child].content.value().unwrap());
        let values = node.children.iter().map(value);
        let best = if is_max(node) { values.max() } else { values.min() };
        assert_eq!(node.content.value().map(rank), best, "{node:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 250, ..ProptestConfig::default() })]

    #[test]
    fn minimax_records_every_node(position in positions(42), depth in 1..4_u32, levels in 0..5_u32) {
        let (decision, tree) = minimax(&position, depth, u32::MAX);
        prop_assert_eq!(tree.nodes.len() as u64, decision.stats.nodes);
        prop_assert_eq!(tree.nodes[0].content.value().map(rank), Some(rank(decision.value)));
        check_shape(&tree);
        check_cuts(&tree);
        check_backed_up(&tree);
        prop_assert!(tree.nodes.iter().all(|node| node.pruned.is_empty()));

        let (decision, tree) = minimax(&position, depth, levels);
        prop_assert_eq!(total(&tree), decision.stats.nodes);
        prop_assert!(tree.nodes.iter().all(|node| node.level <= levels));
        check_shape(&tree);
    }

    #[test]
    fn alphabeta_records_every_node(position in positions(42), depth in 1..5_u32, levels in 0..5_u32) {
        let (decision, tree) = alphabeta(&position, depth, u32::MAX);
        prop_assert_eq!(tree.nodes.len() as u64, decision.stats.nodes);
        prop_assert_eq!(tree.nodes[0].content.value().map(rank), Some(rank(decision.value)));
        check_shape(&tree);
        check_cuts(&tree);
        check_backed_up(&tree);

        let (decision, tree) = alphabeta(&position, depth, levels);
        prop_assert_eq!(total(&tree), decision.stats.nodes);
        check_shape(&tree);

        let mut with_table = AlphaBeta::new(parameters(depth)).with_table(1);
        let (decision, tree) = record(&mut with_table, &position, u32::MAX);
        prop_assert_eq!(tree.nodes[0].content.value().map(rank), Some(rank(decision.value)));
        check_shape(&tree);
        check_cuts(&tree);
    }

    #[test]
    fn searches_with_passes_record_every_node(position in positions(42), depth in 1..5_u32) {
        // The root that represents the passes is not a node of the search.
        let (decision, tree) = timed(&position, depth);
        prop_assert_eq!(total(&tree), decision.stats.nodes + 1);
        let (other_decision, other) = mtdf(&position, depth);
        prop_assert!(total(&other) <= other_decision.stats.nodes + 1);
        for (decision, tree) in [(decision, tree), (other_decision, other)] {
            prop_assert_eq!(tree.nodes[0].content.value(), Some(decision.value));
            check_shape(&tree);
            check_cuts(&tree);
            let chosen = tree.nodes_on(&decision.pv);
            prop_assert!(chosen.len() >= 3);
            prop_assert!(tree.nodes[chosen[1]].pass.is_some());
        }
    }

    #[test]
    fn mcts_records_every_visited_node(position in positions(42), simulations in 1..400_u64, levels in 0..5_u32) {
        let (decision, tree) = mcts(&position, simulations, u32::MAX);
        prop_assert_eq!(tree.nodes.len() as u64, decision.stats.nodes);
        prop_assert_eq!(decision.pv[0], decision.column);
        check_shape(&tree);
        for node in &tree.nodes {
            let visits = |node: &TreeNode| match node.content {
                NodeContent::Visits { visits, .. } => visits,
                NodeContent::Window { .. } => unreachable!("it counts visits"),
            };
            let below: u32 = node.children.iter().map(|&child| visits(&tree.nodes[child])).sum();
            prop_assert!(visits(node) >= below);
        }

        let (decision, tree) = mcts(&position, simulations, levels);
        prop_assert_eq!(total(&tree), decision.stats.nodes);
    }

    #[test]
    fn a_cut_tree_counts_the_removed_nodes(
        position in positions(42), depth in 1..5_u32, max_nodes in 1..80_usize
    ) {
        for (decision, tree) in [
            alphabeta(&position, depth, 3), mtdf(&position, depth), mcts(&position, 200, 4)
        ] {
            let cut = tree.cut_to(max_nodes, &decision.pv);
            prop_assert_eq!(cut.nodes.len(), max_nodes.min(tree.nodes.len()));
            prop_assert_eq!(total(&cut), total(&tree));
            check_shape(&cut);
            let whole_pv = tree.nodes_on(&decision.pv).len();
            prop_assert_eq!(cut.nodes_on(&decision.pv).len(), whole_pv.min(max_nodes));
        }
    }
}

#[test]
fn the_ruleset_lines_and_large_boards_have_trees() {
    for setup in [setup(4, 5, 3, Ruleset::Lines), setup(9, 7, 4, Ruleset::Standard)] {
        let position = Position::new(setup);
        for (decision, tree) in [minimax(&position, 3, 9), alphabeta(&position, 3, 9)] {
            assert_eq!(total(&tree), decision.stats.nodes);
            assert_eq!(tree.nodes[0].content.value(), Some(decision.value));
        }
    }
}

#[test]
fn a_window_narrowed_by_the_table_is_recorded() {
    for moves in ["", "4", "44", "4453", "3345"] {
        let position = Position::from_moves(Setup::STANDARD, moves).unwrap();
        let (_, tree) = timed(&position, 7);
        check_cuts(&tree);
    }
}

#[test]
fn a_drawn_game_is_a_draw_and_not_an_estimate() {
    let position = Position::from_moves(setup(2, 2, 3, Ruleset::Standard), "12").unwrap();
    let (_, tree) = minimax(&position, 4, 4);
    let ends = tree.nodes.iter().filter(|node| node.children.is_empty());
    assert!(ends.map(|node| node.content.value()).all(|value| value == Some(Value::Draw)));
}

#[test]
fn a_search_that_was_cancelled_before_it_started_has_a_root() {
    let limits = Limits { nodes: Some(0), ..Limits::default() };
    let position = Position::new(Setup::STANDARD);
    let agents: [Box<dyn Agent>; 3] = [
        Box::new(AlphaBeta::default()),
        Box::new(Mtdf::new(parameters(4), 1)),
        Box::new(IterativeDeepening::new(parameters(4), 1)),
    ];
    for mut agent in agents {
        let (decision, tree) = agent.decide_with_tree(&position, &limits, 3).unwrap();
        assert!(decision.stopped);
        assert_eq!((tree.nodes.len(), tree.nodes[0].content.value()), (1, None));
    }
}
