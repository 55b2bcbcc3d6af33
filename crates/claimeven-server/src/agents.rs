//! The players that visitors may choose: none that runs a program, reads a file or uses too many
//! resources.

use std::path::MAIN_SEPARATOR;

use claimeven_arena::{AGENTS, AgentKind, AgentSpec, Parameter, Values};
use claimeven_game::Setup;
use claimeven_search::Heuristic;

use crate::config::Config;

/// Parses a visitor's agent text and checks that the agent can play on this board.
pub(crate) fn parse(text: &str, setup: Setup, config: &Config) -> Result<AgentSpec, String> {
    const MAX_LENGTH: usize = 200;
    if text.len() > MAX_LENGTH {
        return Err(format!("A player must have at most {MAX_LENGTH} characters"));
    }
    // Checked before the text is parsed, because parsing an evaluation may read a file.
    let is_plain =
        |character: char| character.is_ascii_alphanumeric() || ":=,.+-@ ".contains(character);
    if let Some(unexpected) = text.chars().find(|&character| !is_plain(character)) {
        return Err(format!("unexpected character {unexpected:?} in a player"));
    }
    let (name, parameters) = text.split_once(':').unwrap_or((text, ""));
    let kind = AGENTS.iter().find(|kind| kind.name == name);
    if let Some(kind) = kind.filter(|kind| !is_offered(kind)) {
        return Err(format!("player '{}' is not available on this server", kind.name));
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
    spec.build(setup, 0).map_err(|error| without_folder(&error.to_string(), config))?;
    Ok(spec)
}

/// The message without the path of the server's runs.
fn without_folder(message: &str, config: &Config) -> String {
    match config.runs_folder() {
        Some(folder) => message.replace(&format!("{}{MAIN_SEPARATOR}", folder.display()), ""),
        None => message.to_owned(),
    }
}

/// Whether visitors may choose a kind of player: not if it requires free text, such as a command.
pub(crate) fn is_offered(kind: &AgentKind) -> bool {
    !kind
        .all_parameters()
        .any(|parameter| matches!(parameter.values, Values::Text { needed: true, .. }))
}

/// Whether visitors may set a parameter. The only free text they may set is the network, which is one
/// of this server's training runs.
pub(crate) fn is_settable(parameter: &Parameter) -> bool {
    !matches!(parameter.values, Values::Text { .. }) || parameter.name == "model"
}

/// Checks a parameter against the limits of this server.
fn check(agent: &str, parameter: &Parameter, value: &str, config: &Config) -> Result<(), String> {
    match parameter.values {
        Values::Word(_) | Values::Decimal { .. } => Ok(()),
        // Networks of this server's training runs are named by id, not by path.
        Values::Text { .. } if is_settable(parameter) && is_run(value, config) => Ok(()),
        Values::Text { .. } => {
            Err(format!("{agent}: '{}' cannot be set on this server", parameter.name))
        }
        Values::Whole { .. } => match (max_value(parameter.name, config), value.parse::<u64>()) {
            (Some(max), Ok(number)) if number > max => Err(format!(
                "{agent}: {} must be at most {max} on this server, not {value}",
                parameter.name
            )),
            _ => Ok(()),
        },
        Values::Heuristic { .. } => {
            let names: Vec<&str> = Heuristic::names().collect();
            if names.contains(&value) {
                return Ok(());
            }
            let names = names.join(", ");
            Err(format!("{agent}: unknown {} '{value}' (available: {names})", parameter.name))
        }
    }
}

/// Whether a text is `RUN` or `RUN@ITERATION` of a training run on this server.
fn is_run(text: &str, config: &Config) -> bool {
    let name = text.split('@').next().unwrap_or_default();
    let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let folder = config.runs_folder().filter(|_| is_name);
    folder.is_some_and(|folder| folder.join(name).join("parameters.json").is_file())
}

/// Whether an agent takes about a second per move at most. An agent that can take longer in some
/// positions does not count.
pub(crate) fn is_brief(spec: &AgentSpec, setup: Setup) -> bool {
    const SECOND: u64 = 1_000;
    let is_standard = setup == Setup::STANDARD;
    let at_most = |name: &str, max: u64| number(spec, name).is_some_and(|value| value <= max);
    let is_limited = match spec.kind().name {
        "random" | "influence" | "proof" => true,
        // The strongest levels solve positions, which takes long on larger boards.
        "level" => is_standard || at_most("level", 6),
        "minimax" => at_most("depth", 5),
        "alphabeta" | "mtdf" => at_most("depth", 8),
        "mcts" => at_most("sims", 20_000),
        "zero" => at_most("sims", 1_000),
        "perfect" => is_standard,
        _ => false,
    };
    is_limited || at_most("ms", SECOND)
}

/// The value of a parameter that is a whole number, or its default.
fn number(spec: &AgentSpec, name: &str) -> Option<u64> {
    if let Some(given) = spec.given(name) {
        return given.parse().ok();
    }
    let parameter = spec.kind().parameters.iter().find(|parameter| parameter.name == name)?;
    match parameter.values {
        Values::Whole { default, .. } => default,
        _ => None,
    }
}

/// The server's limit for a parameter, if it has one.
pub(crate) fn max_value(parameter: &str, config: &Config) -> Option<u64> {
    match parameter {
        "table" => Some(config.max_agent_mb()).filter(|&limit| limit > 0),
        "sims" => Some(config.simulations),
        "threads" => Some(1),
        "ms" => Some(config.think_ms),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use claimeven_game::Ruleset;

    use super::*;

    #[test]
    fn brief_agents_are_known() {
        let large = Setup::new(10, 10, 10, Ruleset::Standard).unwrap();
        for (text, standard, on_large) in [
            ("random", true, true),
            ("level:3", true, true),
            ("level:10", true, false),
            ("perfect", true, false),
            ("timed:ms=300", true, true),
            ("timed:ms=10000", false, false),
            ("alphabeta:depth=6", true, true),
            ("alphabeta:depth=14", false, false),
            ("mcts:sims=1000", true, true),
            ("mcts:sims=1000000", false, false),
            ("mcts:sims=1000000,ms=200", true, true),
            ("zero:sims=600", true, true),
        ] {
            let spec: AgentSpec = text.parse().unwrap();
            assert_eq!(is_brief(&spec, Setup::STANDARD), standard, "{text}");
            assert_eq!(is_brief(&spec, large), on_large, "{text} on a large board");
        }
    }

    #[test]
    fn tables_of_all_searches_fit_into_the_memory() {
        let config = |threads, agent_mb, memory_mb| Config {
            threads,
            agent_mb,
            memory_mb,
            ..Config::default()
        };
        // Three express threads, two common ones, two of the lab, one idle, and two of a tournament.
        // They share what analyzers and coaches leave, but at least half of the memory.
        assert_eq!(config(2, 64, 1024).max_agent_mb(), 64);
        assert_eq!(config(2, 64, 470).max_agent_mb(), 40);
        assert_eq!(config(2, 64, 100).max_agent_mb(), 5);
        assert_eq!(max_value("table", &config(2, 64, 100)), Some(5));
        assert_eq!(config(2, 64, 5).max_agent_mb(), 1);
        assert_eq!(config(2, 64, 0).max_agent_mb(), 64);
        assert_eq!(max_value("table", &config(2, 0, 100)), None);
    }
}
