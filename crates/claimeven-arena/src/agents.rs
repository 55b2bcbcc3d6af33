//! All players there are.

use std::time::Duration;

use claimeven_search::{
    Agent, AlphaBeta, DepthParameters, Influence, Level, Mcts, MctsParameters, Minimax, Mtdf,
    Perfect, Random, Ties, Timed,
};
use claimeven_solver::{Options, embedded_books};

use crate::external::External;
use crate::roster::{AgentKind, Parameter, Settings, Values};

/// All players there are, the simplest first.
pub static AGENTS: &[AgentKind] = &[
    AgentKind {
        name: "random",
        about: "plays every legal column with the same chance",
        has_tree: false,
        parameters: &[],
        build: |settings| Box::new(Random { seed: settings.seed() }),
        check: |_| Ok(()),
    },
    AgentKind {
        name: "influence",
        about: "plays by an influence map, without search",
        has_tree: false,
        parameters: &[TIES],
        build: |settings| Box::new(Influence { ties: ties(settings), seed: settings.seed() }),
        check: |_| Ok(()),
    },
    AgentKind {
        name: "minimax",
        about: "looks at every line of play to a fixed depth",
        has_tree: true,
        parameters: &[DEPTH, EVAL, TIES],
        build: |settings| Box::new(Minimax { parameters: depth_parameters(settings) }),
        check: |_| Ok(()),
    },
    AgentKind {
        name: "alphabeta",
        about: "minimax without the moves that cannot matter",
        has_tree: true,
        parameters: &[
            DEPTH,
            EVAL,
            Parameter {
                name: "every",
                about: "whether every move is to be given its exact value",
                values: Values::Word(&["off", "on"]),
            },
            TIES,
        ],
        build: |settings| {
            Box::new(AlphaBeta {
                parameters: depth_parameters(settings),
                every_move: settings.word("every") == "on",
            })
        },
        check: |_| Ok(()),
    },
    AgentKind {
        name: "mtdf",
        about: "the same value by a series of guesses, with a transposition table",
        has_tree: true,
        parameters: &[DEPTH, EVAL, TABLE, TIES],
        build: |settings| Box::new(Mtdf::new(depth_parameters(settings), table_mb(settings))),
        check: |_| Ok(()),
    },
    AgentKind {
        name: "timed",
        about: "deeper and deeper until its time is up",
        has_tree: true,
        parameters: &[
            Parameter {
                name: "ms",
                about: "milliseconds for a move; 500 if no depth is given either",
                values: Values::Whole { least: 1, most: 3_600_000, default: None },
            },
            Parameter {
                name: "depth",
                about: "plies to look ahead at most",
                values: Values::Whole { least: 1, most: 128, default: None },
            },
            EVAL,
            TABLE,
            TIES,
        ],
        build: timed,
        check: |_| Ok(()),
    },
    AgentKind {
        name: "mcts",
        about: "Monte Carlo tree search with random games",
        has_tree: true,
        parameters: &[
            Parameter {
                name: "sims",
                about: "games to simulate for a move",
                values: Values::Whole { least: 1, most: 10_000_000, default: Some(10_000) },
            },
            Parameter {
                name: "c",
                about: "how much to explore",
                values: Values::Decimal { least: 0.0, most: 100.0, default: 1.0 },
            },
            Parameter {
                name: "proofs",
                about: "whether forced wins and losses are recognised",
                values: Values::Word(&["on", "off"]),
            },
            TIES,
        ],
        build: |settings| {
            Box::new(Mcts::new(MctsParameters {
                simulations: settings.whole("sims").expect("it has a default"),
                time: None,
                exploration: settings.decimal("c"),
                proofs: settings.word("proofs") == "on",
                ties: ties(settings),
                seed: settings.seed(),
            }))
        },
        check: |_| Ok(()),
    },
    AgentKind {
        name: "perfect",
        about: "the fastest win, else a draw, else the slowest loss",
        has_tree: false,
        parameters: &[
            Parameter {
                name: "threads",
                about: "threads that work on a position",
                values: Values::Whole { least: 1, most: 256, default: Some(1) },
            },
            Parameter {
                name: "table",
                about: "megabytes of transposition table for each thread",
                values: Values::Whole { least: 1, most: 1 << 20, default: Some(2) },
            },
            Parameter {
                name: "book",
                about: "whether to use the opening book",
                values: Values::Word(&["on", "off"]),
            },
            TIES,
        ],
        build: perfect,
        check: Perfect::check,
    },
    AgentKind {
        name: "level",
        about: "an opponent for people, from 1, a first game, to 10, perfect",
        has_tree: false,
        parameters: &[Parameter {
            name: "level",
            about: "the strength",
            values: Values::Whole { least: 1, most: 10, default: None },
        }],
        build: |settings| {
            let number = settings.whole("level").expect("a level has a number") as usize;
            let options = Options { books: embedded_books(), ..Options::default() };
            Box::new(Level::new(number, options, settings.seed()).expect("there is that level"))
        },
        check: |_| Ok(()),
    },
    AgentKind {
        name: "ugi",
        about: "another program that speaks the Universal Game Interface",
        has_tree: false,
        parameters: &[
            Parameter {
                name: "cmd",
                about: "how to start it",
                values: Values::Text { what: "a command in quotes" },
            },
            Parameter {
                name: "ms",
                about: "milliseconds for a move",
                values: Values::Whole { least: 1, most: 3_600_000, default: Some(1000) },
            },
            Parameter {
                name: "wait",
                about: "milliseconds beyond that after which it has forfeited",
                values: Values::Whole { least: 1, most: 3_600_000, default: Some(5000) },
            },
        ],
        build: external,
        check: |_| Ok(()),
    },
];

/// Other names of players.
pub(crate) const ALIASES: [(&str, &str); 3] =
    [("easy", "alphabeta:depth=2"), ("medium", "alphabeta:depth=4"), ("hard", "alphabeta:depth=6")];

const DEPTH: Parameter = Parameter {
    name: "depth",
    about: "plies to look ahead",
    values: Values::Whole { least: 1, most: 128, default: Some(4) },
};
const EVAL: Parameter = Parameter {
    name: "eval",
    about: "what a position at the horizon is worth",
    values: Values::Evaluation { default: "galli" },
};
const TABLE: Parameter = Parameter {
    name: "table",
    about: "megabytes of transposition table",
    values: Values::Whole { least: 1, most: 65_536, default: Some(8) },
};
const TIES: Parameter = Parameter {
    name: "ties",
    about: "which of several equally good moves is played",
    values: Values::Word(&["centre", "first", "last", "random"]),
};

fn ties(settings: &Settings) -> Ties {
    settings.word("ties").parse().expect("the word is a tie rule")
}

fn table_mb(settings: &Settings) -> u32 {
    settings.whole("table").expect("it has a default") as u32
}

fn depth_parameters(settings: &Settings) -> DepthParameters {
    DepthParameters {
        depth: settings.whole("depth").map_or(u32::MAX, |depth| depth as u32),
        time: None,
        evaluation: settings.evaluation("eval"),
        ties: ties(settings),
        seed: settings.seed(),
    }
}

fn timed(settings: &Settings) -> Box<dyn Agent> {
    let default = settings.whole("depth").is_none().then_some(500);
    let time = settings.whole("ms").or(default).map(Duration::from_millis);
    let parameters = DepthParameters { time, ..depth_parameters(settings) };
    Box::new(Timed::new(parameters, table_mb(settings)))
}

fn perfect(settings: &Settings) -> Box<dyn Agent> {
    let whole = |name| settings.whole(name).expect("it has a default") as usize;
    let books = if settings.word("book") == "on" { embedded_books() } else { Vec::new() };
    let options = Options { table_mb: whole("table"), threads: whole("threads"), books };
    Box::new(Perfect::new(options, ties(settings), settings.seed()))
}

fn external(settings: &Settings) -> Box<dyn Agent> {
    let ms = |name| Duration::from_millis(settings.whole(name).expect("it has a default"));
    Box::new(External {
        command: settings.text("cmd").to_owned(),
        time: ms("ms"),
        patience: ms("wait"),
        seed: settings.seed(),
        engine: None,
        game: None,
    })
}

#[cfg(test)]
mod tests {
    use claimeven_game::{Position, Ruleset, Setup};
    use claimeven_search::{AgentError, Limits};

    use super::AGENTS;
    use crate::AgentSpec;

    #[test]
    fn players_have_a_tree_if_their_kind_says_so() {
        let setup = Setup::new(4, 4, 4, Ruleset::Standard).unwrap();
        let position = Position::from_moves(setup, "11112222").unwrap();
        let limits = Limits { depth: Some(2), ..Limits::default() };
        for kind in AGENTS {
            let text = match kind.name {
                "level" => "level:1",
                "ugi" => "ugi:cmd=none",
                name => name,
            };
            let mut agent = text.parse::<AgentSpec>().unwrap().build(setup, 0).unwrap();
            let tree = agent.decide_with_tree(&position, &limits, 1);
            let expected = if kind.has_tree { None } else { Some(AgentError::NoTree) };
            assert_eq!(tree.err(), expected, "{}", kind.name);
        }
    }
}
