//! `claimeven tree`: draws the search tree of a player.

mod dot;
mod json;
mod text;

use std::io::Write;
use std::path::PathBuf;

use claimeven_arena::{AgentSpec, NodeKind as Kind, PrunedMoves, TreeDrawing};
use claimeven_game::Game;
use claimeven_search::{BoundKind, Limits, NodeContent, Value};
use clap::ValueEnum;

use crate::Failure;
use crate::output::write_file;
use crate::setup::SetupArgs;

/// Draw the search tree of a player
#[derive(clap::Args)]
#[command(after_help = "\
Values are from the point of view of the side to move at the root: max nodes are its choices, min\n\
nodes the opponent's. W2 means that it wins with two more discs, L1 that the opponent wins with one\n\
more. minimax, alphabeta, mtdf (passes), timed (iterations), mcts and zero (visits) have a tree.\n\n\
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

    /// Player that searches, such as minimax:depth=2 or mcts:sims=500
    #[arg(long, value_name = "AGENT", default_value = "alphabeta:depth=3")]
    agent: AgentSpec,

    /// Output format: text, json, dot (Graphviz) or svg
    #[arg(long, value_name = "FORMAT", default_value = "text", hide_possible_values = true)]
    format: Format,

    /// Print JSON (the same as --format json)
    #[arg(long, conflicts_with = "format")]
    json: bool,

    /// Maximum number of nodes to draw [default: text 200, svg 100, dot 1000, json 10000]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    max_nodes: Option<u32>,

    /// File to write to [default: standard output]
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
    const fn max_nodes(self) -> u32 {
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
    TreeDrawing::check(&args.agent).map_err(|error| Failure::Input(error.to_string()))?;
    let format = if args.json { Format::Json } else { args.format };
    let max_nodes = args.max_nodes.unwrap_or(format.max_nodes()) as usize;
    let drawing =
        TreeDrawing::new(&args.agent, &game, &Limits::default(), MAX_RECORDED, max_nodes)?;
    let rendered = match format {
        Format::Text => text::draw(&drawing),
        Format::Json => json::draw(&drawing)?,
        Format::Dot => dot::draw(&drawing),
        Format::Svg => claimeven_arena::svg::tree(&drawing),
    };
    match &args.out {
        None => anstream::stdout().lock().write_all(rendered.as_bytes())?,
        Some(path) => {
            let plain = anstream::adapter::strip_str(&rendered).to_string();
            write_file(path, plain)?;
        }
    }
    Ok(())
}

/// The maximum number of nodes that are kept in memory.
const MAX_RECORDED: u32 = 300_000;

/// A bound of the search window, abbreviated.
fn bound_text(value: Option<Value>, nothing: &str) -> String {
    value.map_or(nothing.to_owned(), Value::short)
}

/// The sign of a bound, before the value.
fn sign(content: &NodeContent) -> &'static str {
    match content {
        NodeContent::Window { bound: BoundKind::Upper, .. } => "<= ",
        NodeContent::Window { bound: BoundKind::Lower, .. } => ">= ",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use claimeven_game::{Ruleset, Setup};

    use super::*;

    fn drawn(agent: &str, moves: &str, max: usize, draw: fn(&TreeDrawing) -> String) -> String {
        let setup = Setup::new(4, 5, 4, Ruleset::Standard).unwrap();
        let agent: AgentSpec = agent.parse().unwrap();
        let game = Game::parse(setup, moves).unwrap();
        let limits = Limits::default();
        draw(&TreeDrawing::new(&agent, &game, &limits, MAX_RECORDED, max).unwrap())
    }

    #[test]
    fn a_picture_has_every_node_every_cut_branch_and_every_count() {
        for agent in ["alphabeta:depth=4", "mtdf:depth=3", "timed:depth=3", "mcts:sims=300"] {
            for moves in ["", "2233", "1123124411"] {
                let svg = drawn(agent, moves, 60, claimeven_arena::svg::tree);
                let nodes: serde_json::Value =
                    serde_json::from_str(&drawn(agent, moves, 60, |drawing| {
                        json::draw(drawing).unwrap()
                    }))
                    .unwrap();
                let nodes = nodes["nodes"].as_array().unwrap();
                let pruned = |node: &serde_json::Value| node["pruned"].as_array().unwrap().len();
                let hidden = nodes.iter().filter(|node| node["hidden"] != 0);
                for (mark, count) in [
                    (r##"<use href="#board"/>"##, nodes.len()),
                    (r#"stroke-dasharray="3 2""#, nodes.iter().map(pruned).sum()),
                    // The legend has one of its own if there are any.
                    (r#"<rect class="hidden""#, hidden.clone().count() + hidden.take(1).count()),
                ] {
                    assert_eq!(svg.matches(mark).count(), count, "{agent} {moves} {mark}");
                }
            }
        }
    }
}
