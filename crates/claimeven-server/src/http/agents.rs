//! The players to choose from.

use axum::Json;
use axum::extract::State;
use claimeven_arena::{AGENTS, Parameter, Values};
use claimeven_search::{Heuristic, LEVELS};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::extract::AppState;
use crate::agents::{is_offered, is_settable, max_value};
use crate::config::Config;

/// All players to choose from.
#[derive(Serialize, ToSchema)]
pub(crate) struct AgentsView {
    agents: Vec<AgentView>,
    levels: Vec<LevelView>,
}

/// A kind of player.
#[derive(Serialize, ToSchema)]
struct AgentView {
    name: &'static str,
    about: &'static str,
    parameters: Vec<ParameterView>,
}

/// A parameter of a player.
#[derive(Serialize, ToSchema)]
struct ParameterView {
    name: &'static str,
    about: &'static str,
    /// `integer`, `number`, `choice` or `text` (the training run of a network).
    kind: &'static str,
    default: Option<Value>,
    min: Option<Value>,
    max: Option<Value>,
    choices: Option<Vec<&'static str>>,
}

/// A playing strength.
#[derive(Serialize, ToSchema)]
struct LevelView {
    level: usize,
    about: &'static str,
}

impl AgentsView {
    pub(crate) fn new(config: &Config) -> AgentsView {
        let agents = AGENTS.iter().filter(|kind| is_offered(kind)).map(|kind| AgentView {
            name: kind.name,
            about: kind.about,
            parameters: kind
                .all_parameters()
                .filter(|parameter| is_settable(parameter))
                .map(|parameter| ParameterView::new(parameter, config))
                .collect(),
        });
        let levels =
            (1..).zip(&LEVELS).map(|(level, style)| LevelView { level, about: style.about });
        AgentsView { agents: agents.collect(), levels: levels.collect() }
    }
}

impl ParameterView {
    fn new(parameter: &Parameter, config: &Config) -> ParameterView {
        let Parameter { name, about, values } = *parameter;
        let view = ParameterView {
            name,
            about,
            kind: "choice",
            default: None,
            min: None,
            max: None,
            choices: None,
        };
        match values {
            Values::Whole { min, max: limit, default } => ParameterView {
                kind: "integer",
                default: default.map(Value::from),
                min: Some(min.into()),
                // JavaScript cannot represent larger integers.
                max: Some(
                    max_value(name, config).unwrap_or(limit).min(limit).min((1 << 53) - 1).into(),
                ),
                ..view
            },
            Values::Decimal { min, max, default } => ParameterView {
                kind: "number",
                default: Some(default.into()),
                min: Some(min.into()),
                max: Some(max.into()),
                ..view
            },
            Values::Word(words) => ParameterView {
                default: words.first().copied().map(Value::from),
                choices: Some(words.to_vec()),
                ..view
            },
            Values::Text { .. } => ParameterView { kind: "text", ..view },
            Values::Heuristic { default } => ParameterView {
                default: Some(default.into()),
                choices: Some(Heuristic::names().collect()),
                ..view
            },
        }
    }
}

/// The players to choose from.
#[utoipa::path(get, path = "/api/agents", responses((status = 200, body = AgentsView)))]
pub(crate) async fn list_agents(State(app): AppState) -> Json<AgentsView> {
    Json(AgentsView::new(&app.config))
}
