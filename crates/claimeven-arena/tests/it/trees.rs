//! Every proven value in the search tree of every player, compared with the solver.

use std::collections::HashMap;

use claimeven_arena::{AGENTS, AgentSpec};
use claimeven_game::{Position, Ruleset, Setup};
use claimeven_search::{BoundKind, Limits, NodeContent, RandomGames, Tree, Value};
use claimeven_solver::{Options, Solver};
use claimeven_zero::{Architecture, Network};

/// Exact values; each position is solved once.
struct ExactValues {
    solver: Solver,
    known: HashMap<Position, Value>,
}

impl ExactValues {
    fn new() -> ExactValues {
        ExactValues { solver: Solver::new(Options::default()), known: HashMap::new() }
    }

    /// The exact value of a node for the player to move at the root, with plies counted from the
    /// root.
    fn at(&mut self, tree: &Tree, node: usize) -> Value {
        let position = tree.position_at(node);
        let value = *self.known.entry(position).or_insert_with(|| {
            if position.outcome().is_some() {
                return Value::of_outcome(&position);
            }
            Value::of_score(self.solver.score(&position).unwrap(), &position)
        });
        (0..tree.nodes[node].level).fold(value, |value, _| value.before())
    }
}

/// A number that orders proven values; `None` for estimates.
fn rank(value: Value) -> Option<i64> {
    match value {
        Value::Win(plies) => Some(1000 - i64::from(plies)),
        Value::Draw => Some(0),
        Value::Loss(plies) => Some(i64::from(plies) - 1000),
        Value::Points(_) | Value::Expected(_) => None,
    }
}

/// Checks every proven value of a tree and returns how many there are.
fn check(tree: &Tree, exact_values: &mut ExactValues, text: &str) -> u64 {
    let mut proven = 0;
    for (index, node) in tree.nodes.iter().enumerate() {
        let Some((value, found)) =
            node.content.value().and_then(|value| Some((value, rank(value)?)))
        else {
            continue;
        };
        proven += 1;
        let exact = exact_values.at(tree, index);
        let expected = rank(exact).unwrap();
        let is_correct = match node.content {
            NodeContent::Window { bound: BoundKind::Exact, .. } => found == expected,
            NodeContent::Window { bound: BoundKind::Lower, .. } => expected >= found,
            NodeContent::Window { bound: BoundKind::Upper, .. } => expected <= found,
            // The first win that was found decides, and a faster one may exist.
            NodeContent::Visits { .. } => match (value, exact) {
                (Value::Win(found), Value::Win(exact))
                | (Value::Loss(found), Value::Loss(exact)) => {
                    found >= exact && found % 2 == exact % 2
                }
                (Value::Draw, Value::Draw) => true,
                _ => false,
            },
        };
        let position = tree.position_at(index);
        assert!(
            is_correct,
            "{text}: {value} at {position:?}, where the solver says {exact}: {node:?}"
        );
    }
    proven
}

#[test]
fn every_proven_value_in_every_tree_matches_the_solver() {
    let folder = tempfile::tempdir().unwrap();
    let standard = Setup::STANDARD;
    let boards = [
        standard,
        Setup::new(4, 4, 3, Ruleset::Standard).unwrap(),
        Setup::new(5, 5, 4, Ruleset::Standard).unwrap(),
    ];
    for setup in boards {
        let model = folder.path().join(format!("{}.safetensors", setup.cols()));
        Network::new(Architecture::new(setup, 1, 4), 1).unwrap().save(&model).unwrap();
        let model = model.to_str().unwrap();
        let mut exact_values = ExactValues::new();
        let mut random = fastrand::Rng::with_seed(1);
        let games = RandomGames::new(setup);
        let late = setup.cells() - (setup.cells() / 3).max(10);
        let mut proven: HashMap<&str, u64> = HashMap::new();
        for _ in 0..20 {
            let plies = random.u32(late..setup.cells() - 3);
            let Ok(game) = games.sample(plies, &mut random) else { continue };
            for kind in AGENTS.iter().filter(|kind| kind.has_tree) {
                let texts = match kind.name {
                    "mcts" => vec!["mcts:sims=400".to_owned(), "mcts:sims=3000".to_owned()],
                    "zero" => vec![
                        format!("zero:sims=40,model={model}"),
                        format!("zero:sims=400,batch=1,model={model}"),
                    ],
                    "alphabeta" => vec![
                        "alphabeta:depth=4".to_owned(),
                        "alphabeta:depth=6,table=1".to_owned(),
                        "alphabeta:depth=5,every=on,table=1,eval=bits".to_owned(),
                    ],
                    name => vec![
                        format!("{name}:depth=3"),
                        format!("{name}:depth=5,eval=sawwan"),
                        format!("{name}:depth=4,eval=terminal,ties=first"),
                    ],
                };
                for text in texts {
                    let mut agent = text.parse::<AgentSpec>().unwrap().build(setup, 1).unwrap();
                    let (_, tree) =
                        agent.decide_with_tree(game.position(), &Limits::default(), 42).unwrap();
                    *proven.entry(kind.name).or_default() += check(&tree, &mut exact_values, &text);
                }
            }
        }
        for kind in AGENTS.iter().filter(|kind| kind.has_tree) {
            assert!(proven[kind.name] >= 20, "{setup}: {} {proven:?}", kind.name);
        }
    }
}

/// O is forced for four moves. Every min node of the principal variation once had a distance that was
/// one move too short.
#[test]
fn distances_in_the_tree_of_zero_are_counted_from_the_root() {
    let position = Position::from_moves(Setup::STANDARD, "543224712112137367263763327711").unwrap();
    let mut zero = "zero:sims=50".parse::<AgentSpec>().unwrap().build(Setup::STANDARD, 1).unwrap();
    let (decision, tree) = zero.decide_with_tree(&position, &Limits::default(), 42).unwrap();
    let mut exact_values = ExactValues::new();
    assert!(check(&tree, &mut exact_values, "zero") > 10);
    let expected = exact_values.at(&tree, 0);
    assert_eq!((decision.value, tree.nodes[0].content.value()), (expected, Some(expected)));
    for node in tree.nodes_on(&decision.pv) {
        assert_eq!(tree.nodes[node].content.value(), Some(expected), "node {node}");
    }
}
