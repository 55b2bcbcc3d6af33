//! `claimeven tree`: the search tree of a player, drawn.

mod caption;
mod dot;
mod json;
mod layout;
mod legend;
mod svg;
mod text;

use std::fs;
use std::io::Write;
use std::path::PathBuf;

use claimeven_arena::{AGENTS, AgentSpec};
use claimeven_game::{Column, Game, Player, Setup};
use claimeven_search::{Bound, Content, Decision, Limits, Node, Source, Tree, Value};
use clap::ValueEnum;

use crate::Failure;
use crate::setup::SetupArgs;

/// Draw the search tree of a player
#[derive(clap::Args)]
#[command(after_help = "\
Values are those of the player to move at the root: max nodes are its choices, min nodes the\n\
opponent's. W2 means that it wins with two more discs, L1 that the opponent wins with one more.\n\
Minimax, alphabeta, mtdf (its passes), timed (its iterations) and mcts (visits) have a tree.\n\n\
Examples:\n  \
    claimeven tree 4453 --agent alphabeta:depth=2\n  \
    claimeven tree --agent minimax:depth=3 --cols 4 --rows 4 --format svg --out tree.svg\n  \
    claimeven tree 4453 --agent mcts:sims=500 --max-nodes 30\n  \
    claimeven tree 4453 --agent mtdf:depth=3 --format json\n  \
    claimeven tree 4453 --format dot | dot -Tpdf -o tree.pdf")]
pub(crate) struct Args {
    /// Moves such as 4453
    #[arg(value_name = "POS", default_value = "", hide_default_value = true)]
    position: String,

    /// Whose search, such as minimax:depth=2 or mcts:sims=500
    #[arg(long, value_name = "AGENT", default_value = "alphabeta:depth=3")]
    agent: AgentSpec,

    /// How to draw it: text, json, dot (Graphviz) or svg
    #[arg(long, value_name = "FORMAT", default_value = "text", hide_possible_values = true)]
    format: Format,

    /// Print JSON, as --format json does
    #[arg(long, conflicts_with = "format")]
    json: bool,

    /// Nodes to draw at most [default: 200 as text, 100 as svg, 1000 as dot, 10000 as json]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    max_nodes: Option<u32>,

    /// Write to a file
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,

    #[command(flatten)]
    setup: SetupArgs,
}

#[derive(Clone, Copy, ValueEnum)]
enum Format {
    Text,
    Json,
    Dot,
    Svg,
}

impl Format {
    const fn most_nodes(self) -> u32 {
        match self {
            Format::Text => 200,
            Format::Json => 10_000,
            Format::Dot => 1000,
            Format::Svg => 100,
        }
    }
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let setup = args.setup.setup()?;
    let game = Game::parse(setup, &args.position)?;
    check_has_tree(&args.agent)?;
    let mut agent = args.agent.build(setup, 0)?;
    let (decision, tree) =
        agent.decide_with_tree(game.position(), &Limits::default(), levels(setup))?;
    let format = if args.json { Format::Json } else { args.format };
    let most = args.max_nodes.unwrap_or(format.most_nodes()) as usize;
    let sketch = Sketch::new(&args.agent, &game, &decision, tree.cut_to(most, &decision.line));
    let drawing = match format {
        Format::Text => text::draw(&sketch),
        Format::Json => json::draw(&sketch)?,
        Format::Dot => dot::draw(&sketch),
        Format::Svg => svg::draw(&sketch),
    };
    match &args.out {
        None => anstream::stdout().lock().write_all(drawing.as_bytes())?,
        Some(path) => {
            let plain = anstream::adapter::strip_str(&drawing).to_string();
            let describe =
                |error| Failure::Other(format!("cannot write {}: {error}", path.display()));
            fs::write(path, plain).map_err(describe)?;
        }
    }
    Ok(())
}

fn check_has_tree(agent: &AgentSpec) -> Result<(), Failure> {
    if agent.kind().has_tree {
        return Ok(());
    }
    let names = AGENTS.iter().filter(|kind| kind.has_tree).map(|kind| kind.name);
    let names = names.collect::<Vec<_>>().join(", ");
    Err(Failure::Input(format!("{agent} has no search tree to draw (these have one: {names})")))
}

/// How many levels to record: as many as some hundred thousand nodes can fill, so that no search
/// fills the memory with its tree. Below them, nodes are counted.
fn levels(setup: Setup) -> u32 {
    const MOST_NODES: u32 = 300_000;
    if setup.cols() == 1 { setup.cells() } else { MOST_NODES.ilog(setup.cols().into()) }
}

/// A tree and what its drawings tell besides.
struct Sketch<'a> {
    agent: &'a AgentSpec,
    game: &'a Game,
    decision: &'a Decision,
    tree: Tree,
    /// Whether each node is on the line that the player chose.
    chosen: Vec<bool>,
}

/// What a node is in the game of the two players.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// The player at the root chooses.
    Max,
    /// The opponent chooses.
    Min,
    /// The search looked no further: an evaluation.
    Horizon,
    /// The game is over.
    End,
    /// The transposition table knew enough.
    Table,
}

impl Kind {
    const fn name(self) -> &'static str {
        match self {
            Kind::Max => "max",
            Kind::Min => "min",
            Kind::Horizon => "leaf",
            Kind::End => "end",
            Kind::Table => "table",
        }
    }
}

impl<'a> Sketch<'a> {
    fn new(agent: &'a AgentSpec, game: &'a Game, decision: &'a Decision, tree: Tree) -> Sketch<'a> {
        let mut chosen = vec![false; tree.nodes.len()];
        for node in tree.nodes_on(&decision.line) {
            chosen[node] = true;
        }
        Sketch { agent, game, decision, tree, chosen }
    }

    fn kind(&self, node: usize) -> Kind {
        let is_over = || self.tree.position_at(node).outcome().is_some();
        match self.tree.nodes[node].content {
            Content::Window { source: Source::Evaluation, .. } => Kind::Horizon,
            Content::Window { source: Source::GameOver, .. } => Kind::End,
            Content::Window { source: Source::Table, .. } => Kind::Table,
            Content::Visits { .. } if is_over() => Kind::End,
            _ if self.tree.nodes[node].level.is_multiple_of(2) => Kind::Max,
            _ => Kind::Min,
        }
    }

    /// The steps from the root to each node. A pass is a step, though it is no move.
    fn rows(&self) -> Vec<usize> {
        let mut rows: Vec<usize> = Vec::with_capacity(self.tree.nodes.len());
        for node in &self.tree.nodes {
            rows.push(node.parent.map_or(0, |parent| rows[parent] + 1));
        }
        rows
    }

    /// Who is to move at the root, and whose values are shown.
    fn player(&self) -> Player {
        self.game.position().player()
    }

    /// The moves from the empty board to a node.
    fn moves_to(&self, node: usize) -> String {
        let mut moves = Vec::new();
        let mut next = Some(node);
        while let Some(index) = next {
            moves.extend(self.tree.nodes[index].column.map(Column::to_char));
            next = self.tree.nodes[index].parent;
        }
        let start = self.game.move_text();
        start.chars().chain(moves.into_iter().rev()).collect()
    }

    fn has_visits(&self) -> bool {
        matches!(self.tree.nodes[0].content, Content::Visits { .. })
    }

    /// What the player does: `alphabeta:depth=3 plays 4: +12`.
    fn headline(&self) -> String {
        let Decision { column, value, .. } = self.decision;
        format!("{} plays {column}: {value}", self.agent)
    }

    /// How much of the tree is drawn.
    fn extent(&self) -> String {
        let (drawn, hidden) = (self.tree.nodes.len(), self.tree.hidden());
        match hidden {
            0 => format!("all {drawn} nodes"),
            _ => format!("{drawn} of {} nodes, {hidden} left out", drawn as u64 + hidden),
        }
    }

    /// The cut at a node, as the two bounds that met there.
    fn cut(&self, node: usize) -> Option<Cut> {
        let Node { pruned, content, .. } = &self.tree.nodes[node];
        let Content::Window { alpha, beta, value, .. } = *content else { return None };
        let (alpha, beta) =
            if self.kind(node) == Kind::Max { (value, beta) } else { (alpha, value) };
        (!pruned.is_empty()).then(|| Cut {
            alpha: bound_text(alpha, "-inf"),
            beta: bound_text(beta, "+inf"),
            moves: pruned.iter().map(|column| column.to_char().to_string()).collect(),
        })
    }
}

/// Moves that were not searched, and why.
struct Cut {
    alpha: String,
    beta: String,
    moves: Vec<String>,
}

/// A value in a few letters: `+12`, `W2`, `L1`, `draw`, `62 %`.
fn short(value: Value) -> String {
    match value {
        Value::Win(plies) => format!("W{}", plies.div_ceil(2)),
        Value::Loss(plies) => format!("L{}", plies / 2),
        Value::Chance(chance) => format!("{:.0} %", 100.0 * chance),
        Value::Draw | Value::Points(_) => value.to_string(),
    }
}

/// An end of a window in a few letters.
fn bound_text(value: Option<Value>, nothing: &str) -> String {
    value.map_or(nothing.to_owned(), short)
}

/// How a value stands to the true one, before the value.
fn sign(content: &Content) -> &'static str {
    match content {
        Content::Window { bound: Bound::AtMost, .. } => "<= ",
        Content::Window { bound: Bound::AtLeast, .. } => ">= ",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use claimeven_game::Ruleset;

    use super::*;

    fn drawn(agent: &str, moves: &str, most: usize, draw: fn(&Sketch) -> String) -> String {
        let setup = Setup::new(4, 5, 4, Ruleset::Standard).unwrap();
        let agent: AgentSpec = agent.parse().unwrap();
        let game = Game::parse(setup, moves).unwrap();
        let mut player = agent.build(setup, 0).unwrap();
        let (decision, tree) =
            player.decide_with_tree(game.position(), &Limits::default(), levels(setup)).unwrap();
        draw(&Sketch::new(&agent, &game, &decision, tree.cut_to(most, &decision.line)))
    }

    #[test]
    fn a_picture_has_every_node_every_cut_branch_and_every_count() {
        for agent in ["alphabeta:depth=4", "mtdf:depth=3", "timed:depth=3", "mcts:sims=300"] {
            for moves in ["", "2233", "1123124411"] {
                let svg = drawn(agent, moves, 60, svg::draw);
                let nodes: serde_json::Value =
                    serde_json::from_str(&drawn(agent, moves, 60, |sketch| {
                        json::draw(sketch).unwrap()
                    }))
                    .unwrap();
                let nodes = nodes["nodes"].as_array().unwrap();
                let pruned = |node: &serde_json::Value| node["pruned"].as_array().unwrap().len();
                let hidden = nodes.iter().filter(|node| node["hidden"] != 0);
                for (mark, count) in [
                    (r##"<use href="#board"/>"##, nodes.len()),
                    (r#"stroke-dasharray="3 2""#, nodes.iter().map(pruned).sum()),
                    // The legend has one of its own, where there are any.
                    (r#"<rect class="hidden""#, hidden.clone().count() + hidden.take(1).count()),
                ] {
                    assert_eq!(svg.matches(mark).count(), count, "{agent} {moves} {mark}");
                }
            }
        }
    }

    #[test]
    fn the_levels_recorded_fit_into_memory_on_every_board() {
        for (cols, rows, expected) in [(1, 9, 9), (2, 30, 18), (7, 6, 6), (35, 2, 3)] {
            let setup = Setup::new(cols, rows, 4, Ruleset::Standard).unwrap();
            assert_eq!(levels(setup), expected, "{setup}");
        }
    }
}
