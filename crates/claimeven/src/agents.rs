//! `claimeven agents`: lists the players.

use std::io::Write;

use claimeven_arena::{AGENTS, ALIASES, AgentKind, Parameter, Values};
use claimeven_search::LEVELS;
use serde_json::json;

use crate::Failure;

/// List the players and their parameters
#[derive(clap::Args)]
#[command(after_help = "\
A player is written as NAME or NAME:PARAMETER=VALUE,PARAMETER=VALUE.\n\n\
Examples:\n  \
    claimeven agents\n  \
    claimeven agents --json\n  \
    claimeven play human alphabeta:depth=8,eval=sawwan,ties=random")]
pub(crate) struct Args {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let mut out = anstream::stdout().lock();
    if args.json {
        let agents: Vec<_> = AGENTS.iter().map(agent_json).collect();
        let aliases: serde_json::Map<String, serde_json::Value> =
            ALIASES.iter().map(|&(alias, agent)| (alias.to_owned(), json!(agent))).collect();
        let levels: Vec<_> = LEVELS.iter().map(|level| level.about).collect();
        writeln!(out, "{}", json!({ "agents": agents, "levels": levels, "aliases": aliases }))?;
        return Ok(());
    }
    for kind in AGENTS {
        writeln!(out, "{:<10} {}", kind.name, kind.about)?;
        for Parameter { name, about, values } in kind.parameters {
            writeln!(out, "  {name:<11} {about}: {values}{}", default_text(values))?;
        }
    }
    writeln!(out, "human      a person\nlevels:")?;
    for (number, level) in (1..).zip(&LEVELS) {
        writeln!(out, "  level:{number:<3} {}", level.about)?;
    }
    writeln!(out, "aliases:")?;
    for (alias, agent) in ALIASES {
        writeln!(out, "  {alias:<9} {agent}")?;
    }
    writeln!(out, "every player also accepts seed=N")?;
    Ok(())
}

/// The default of a parameter, in brackets.
fn default_text(values: &Values) -> String {
    default_value(values).map_or(String::new(), |default| format!(" [{default}]"))
}

fn default_value(values: &Values) -> Option<String> {
    match values {
        Values::Whole { default, .. } => default.map(|number| number.to_string()),
        Values::Decimal { default, .. } => Some(default.to_string()),
        Values::Word(words) => words.first().map(|&word| word.to_owned()),
        Values::Heuristic { default } => Some((*default).to_owned()),
        Values::Text { .. } => None,
    }
}

fn agent_json(kind: &AgentKind) -> serde_json::Value {
    let parameters = kind.all_parameters().map(|Parameter { name, about, values }| {
        json!({ "name": name, "about": about, "values": values.to_string(),
            "default": default_value(values) })
    });
    json!({ "name": kind.name, "about": kind.about, "parameters": parameters.collect::<Vec<_>>() })
}
