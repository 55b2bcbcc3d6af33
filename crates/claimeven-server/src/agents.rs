//! Players that visitors may choose: nothing that runs a program, reads a file or takes too much.

use claimeven_arena::{AGENTS, AgentKind, AgentSpec, Parameter, Values};
use claimeven_game::Setup;
use claimeven_search::Heuristic;

use crate::config::Config;

/// Reads a visitor's text for an agent and checks that it can play a game.
pub(crate) fn parse(text: &str, setup: Setup, config: &Config) -> Result<AgentSpec, String> {
    const LONGEST: usize = 200;
    if text.len() > LONGEST {
        return Err(format!("an agent's text has at most {LONGEST} characters"));
    }
    // All this before the text is understood: that of an evaluation may name a file, which would
    // be read.
    let is_plain =
        |character: char| character.is_ascii_alphanumeric() || ":=,.+-@ ".contains(character);
    if let Some(odd) = text.chars().find(|&character| !is_plain(character)) {
        return Err(format!("{odd:?} cannot stand in the text of an agent"));
    }
    let (name, parameters) = text.split_once(':').unwrap_or((text, ""));
    let kind = AGENTS.iter().find(|kind| kind.name == name);
    if let Some(kind) = kind.filter(|kind| !is_offered(kind)) {
        return Err(format!("{} cannot be played against here", kind.name));
    }
    for parameter in parameters.split(',') {
        let (Some(kind), Some((name, value))) = (kind, parameter.split_once('=')) else { continue };
        let (name, value) = (name.trim(), value.trim());
        if let Some(parameter) = kind.all_parameters().find(|known| known.name == name) {
            check(kind.name, parameter, value, config)?;
        }
    }
    let spec: AgentSpec = text.parse().map_err(|error| format!("{error}"))?;
    let spec = spec.with_models(&config.models());
    spec.build(setup, 0).map_err(|error| error.to_string())?;
    Ok(spec)
}

/// Whether visitors may play against a kind: not if it cannot be without a text that only it
/// understands, such as a command.
pub(crate) fn is_offered(kind: &AgentKind) -> bool {
    !kind
        .all_parameters()
        .any(|parameter| matches!(parameter.values, Values::Text { needed: true, .. }))
}

/// What a visitor may ask of a parameter, besides what the player itself can do.
fn check(agent: &str, parameter: &Parameter, value: &str, config: &Config) -> Result<(), String> {
    match parameter.values {
        Values::Word(_) | Values::Decimal { .. } => Ok(()),
        // Networks of the server's own runs have names, which are no paths.
        Values::Text { .. } if parameter.name == "model" && is_run(value, config) => Ok(()),
        Values::Text { .. } => Err(format!("{} of {agent} cannot be given here", parameter.name)),
        Values::Whole { .. } => match (most(parameter.name, config), value.parse::<u64>()) {
            (Some(most), Ok(number)) if number > most => {
                Err(format!("{} '{value}' of {agent}: at most {most} here", parameter.name))
            }
            _ => Ok(()),
        },
        Values::Heuristic { .. } => {
            let names: Vec<&str> = Heuristic::names().collect();
            if names.contains(&value) {
                return Ok(());
            }
            let names = names.join(", ");
            Err(format!("{} '{value}' of {agent}: not one of {names}", parameter.name))
        }
    }
}

/// Whether a text is the name of a training run of this server, perhaps with an iteration.
fn is_run(text: &str, config: &Config) -> bool {
    let name = text.split('@').next().unwrap_or_default();
    let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let folder = config.runs_folder().filter(|_| is_name);
    folder.is_some_and(|folder| folder.join(name).join("parameters.json").is_file())
}

/// The most that visitors may ask for, where that is less than the player can do.
pub(crate) fn most(parameter: &str, config: &Config) -> Option<u64> {
    match parameter {
        "table" => Some(config.table_mb),
        "sims" => Some(config.simulations),
        "threads" => Some(1),
        "ms" => Some(config.think_ms),
        _ => None,
    }
}
