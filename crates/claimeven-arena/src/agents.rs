//! The table of all players.

use std::time::Duration;

use claimeven_search::{
    Agent, AgentError, AlphaBeta, DepthParameters, Influence, IterativeDeepening, Level, Mcts,
    MctsParameters, Minimax, Mtdf, Perfect, Random, TieBreak,
};
use claimeven_solver::{Options, embedded_books};
use claimeven_zero::{SelectionRule, TreeParameters, Zero, ZeroParameters, embedded_network};

use crate::external::External;
use crate::proof_player::ProofPlayer;
use crate::roster::{AgentKind, Built, Parameter, Settings, Values};

/// All players, the simplest first.
pub static AGENTS: &[AgentKind] = &[
    AgentKind {
        name: "random",
        about: "plays a legal column at random",
        has_tree: false,
        parameters: &[],
        build: |settings| player(Random { seed: settings.seed() }),
    },
    AgentKind {
        name: "influence",
        about: "plays by an influence map, without search",
        has_tree: false,
        parameters: &[TIES],
        build: |settings| {
            player(Influence { tie_break: tie_break(settings), seed: settings.seed() })
        },
    },
    AgentKind {
        name: "minimax",
        about: "searches every sequence of moves to a fixed depth",
        has_tree: true,
        parameters: &[DEPTH, EVAL, TIES],
        build: |settings| player(Minimax { parameters: depth_parameters(settings)? }),
    },
    AgentKind {
        name: "alphabeta",
        about: "minimax with alpha-beta pruning",
        has_tree: true,
        parameters: &[
            DEPTH,
            EVAL,
            Parameter {
                name: "every",
                about: "whether every move gets its exact value",
                values: Values::Word(&["off", "on"]),
            },
            Parameter {
                name: "table",
                about: "transposition table in MiB; 0 for none",
                values: Values::Whole { min: 0, max: 65_536, default: Some(0) },
            },
            TIES,
        ],
        build: alphabeta,
    },
    AgentKind {
        name: "mtdf",
        about: "MTD(f): null-window searches with a transposition table",
        has_tree: true,
        parameters: &[DEPTH, EVAL, TABLE, TIES],
        build: |settings| player(Mtdf::new(depth_parameters(settings)?, table_mb(settings))),
    },
    AgentKind {
        name: "timed",
        about: "iterative deepening until its time is up",
        has_tree: true,
        parameters: &[
            Parameter {
                name: "ms",
                about: "milliseconds per move; 500 if no limit is given",
                values: MS,
            },
            Parameter {
                name: "depth",
                about: "maximum depth in plies",
                values: Values::Whole { min: 1, max: 128, default: None },
            },
            Parameter {
                name: "nodes",
                about: "maximum number of nodes per move",
                values: Values::Whole { min: 1, max: 1 << 40, default: None },
            },
            EVAL,
            TABLE,
            TIES,
        ],
        build: timed,
    },
    AgentKind {
        name: "mcts",
        about: "Monte Carlo tree search with random playouts",
        has_tree: true,
        parameters: &[
            Parameter {
                name: "sims",
                about: "simulations per move; without limit if only ms is given",
                values: Values::Whole { min: 1, max: 10_000_000, default: Some(10_000) },
            },
            MOVE_TIME,
            Parameter {
                name: "c",
                about: "exploration constant",
                values: Values::Decimal { min: 0.0, max: 100.0, default: 1.0 },
            },
            Parameter {
                name: "proofs",
                about: "whether forced wins and losses are proven",
                values: Values::Word(&["on", "off"]),
            },
            TIES,
        ],
        build: |settings| {
            player(Mcts::new(MctsParameters {
                simulations: simulations(settings),
                time: move_time(settings),
                exploration: settings.decimal("c"),
                proofs: settings.word("proofs") == "on",
                tie_break: tie_break(settings),
                seed: settings.seed(),
            }))
        },
    },
    AgentKind {
        name: "zero",
        about: "a neural network trained by self-play, with tree search",
        has_tree: true,
        parameters: &[
            Parameter {
                name: "sims",
                about: "simulations per move, without limit if only ms is given; 0 plays by the policy alone",
                values: Values::Whole { min: 0, max: 10_000_000, default: Some(600) },
            },
            MOVE_TIME,
            Parameter {
                name: "model",
                about: "a network other than the built-in one for 7x6",
                values: Values::Text {
                    what: "a file of weights, the folder of a run, or FOLDER@ITERATION",
                    needed: false,
                },
            },
            Parameter {
                name: "rule",
                about: "how a move is selected: PUCT, or the UCB rule of an older project",
                values: Values::Word(&["puct", "ucb"]),
            },
            Parameter {
                name: "cpuct",
                about: "exploration constant of PUCT",
                values: Values::Decimal { min: 0.0, max: 100.0, default: 1.4 },
            },
            Parameter {
                name: "c1",
                about: "weight of the confidence interval in UCB",
                values: Values::Decimal { min: 0.0, max: 100.0, default: 1.0 },
            },
            Parameter {
                name: "c2",
                about: "weight of the policy in UCB",
                values: Values::Decimal { min: 0.0, max: 100.0, default: 1.0 },
            },
            Parameter {
                name: "fpu",
                about: "first-play urgency: how much lower than its parent an unvisited move is rated",
                values: Values::Decimal { min: 0.0, max: 10.0, default: 0.3 },
            },
            Parameter {
                name: "batch",
                about: "positions evaluated together; larger is faster and slightly weaker",
                values: Values::Whole { min: 1, max: 1024, default: Some(8) },
            },
            Parameter {
                name: "temperature",
                about: "randomness of the move; 0 plays the best one",
                values: Values::Decimal { min: 0.0, max: 100.0, default: 0.0 },
            },
        ],
        build: zero,
    },
    AgentKind {
        name: "perfect",
        about: "perfect play: the fastest win, else a draw, else the slowest loss",
        has_tree: false,
        parameters: &[
            Parameter {
                name: "threads",
                about: "threads per position",
                values: Values::Whole { min: 1, max: 256, default: Some(1) },
            },
            Parameter {
                name: "table",
                about: "transposition table per thread in MiB",
                values: Values::Whole { min: 1, max: 1 << 20, default: Some(2) },
            },
            Parameter {
                name: "book",
                about: "whether to use the opening book",
                values: Values::Word(&["on", "off"]),
            },
            TIES,
        ],
        build: perfect,
    },
    AgentKind {
        name: "proof",
        about: "plays by a proof, without search",
        has_tree: false,
        parameters: &[Parameter {
            name: "file",
            about: "a proof other than the embedded ones of 7x6 and 6x6",
            values: Values::Text {
                what: "a file written by `claimeven proof build`",
                needed: false,
            },
        }],
        build: |settings| {
            player(match settings.file("file") {
                Some(file) => ProofPlayer::from_file(file, settings.setup)?,
                None => ProofPlayer::embedded(settings.setup)?,
            })
        },
    },
    AgentKind {
        name: "level",
        about: "an opponent for people, from 1 (beginner) to 10 (perfect)",
        has_tree: false,
        parameters: &[Parameter {
            name: "level",
            about: "the strength",
            values: Values::Whole { min: 1, max: 10, default: None },
        }],
        build: |settings| {
            let number = settings.whole("level").expect("a level has a number") as usize;
            let options = Options::default().with_books(embedded_books());
            player(
                Level::new(number, options, settings.seed()).expect("the number has been checked"),
            )
        },
    },
    AgentKind {
        name: "ugi",
        about: "another program that speaks the Universal Game Interface",
        has_tree: false,
        parameters: &[
            Parameter {
                name: "cmd",
                about: "the command that starts it",
                values: Values::Text { what: "a command in quotes", needed: true },
            },
            Parameter {
                name: "ms",
                about: "milliseconds per move",
                values: Values::Whole { min: 1, max: 3_600_000, default: Some(1000) },
            },
            Parameter {
                name: "wait",
                about: "milliseconds beyond that before it forfeits",
                values: Values::Whole { min: 1, max: 3_600_000, default: Some(5000) },
            },
        ],
        build: external,
    },
];

/// Aliases of players, each with the text it stands for.
pub const ALIASES: [(&str, &str); 3] =
    [("easy", "alphabeta:depth=1"), ("medium", "alphabeta:depth=3"), ("hard", "alphabeta:depth=5")];

const DEPTH: Parameter = Parameter {
    name: "depth",
    about: "depth in plies",
    values: Values::Whole { min: 1, max: 128, default: Some(4) },
};
const EVAL: Parameter = Parameter {
    name: "eval",
    about: "evaluation of positions at the horizon",
    values: Values::Heuristic { default: "galli" },
};
const MS: Values = Values::Whole { min: 1, max: 3_600_000, default: None };
const MOVE_TIME: Parameter =
    Parameter { name: "ms", about: "maximum milliseconds per move", values: MS };
const TABLE: Parameter = Parameter {
    name: "table",
    about: "transposition table in MiB",
    values: Values::Whole { min: 1, max: 65_536, default: Some(8) },
};
const TIES: Parameter = Parameter {
    name: "ties",
    about: "which of several equally good moves to play",
    values: Values::Word(&["centre", "first", "last", "random"]),
};

#[expect(clippy::unnecessary_wraps, reason = "the return type of the builders")]
fn player(agent: impl Agent + 'static) -> Built {
    Ok(Box::new(agent))
}

fn tie_break(settings: &Settings) -> TieBreak {
    settings.word("ties").parse().expect("the word is a tie-break rule")
}

fn table_mb(settings: &Settings) -> u32 {
    settings.whole("table").expect("it has a default") as u32
}

fn depth_parameters(settings: &Settings) -> Result<DepthParameters, AgentError> {
    Ok(DepthParameters {
        depth: settings.whole("depth").map_or(u32::MAX, |depth| depth as u32),
        time: None,
        nodes: None,
        heuristic: settings.heuristic("eval")?,
        tie_break: tie_break(settings),
        seed: settings.seed(),
    })
}

/// The player's time limit per move.
fn move_time(settings: &Settings) -> Option<Duration> {
    settings.whole("ms").map(Duration::from_millis)
}

/// The number of simulations: unlimited if the player has a time limit instead.
fn simulations(settings: &Settings) -> u64 {
    let has_time = settings.is_timed || settings.whole("ms").is_some();
    match settings.text("sims") {
        None if has_time => u64::MAX,
        _ => settings.whole("sims").expect("it has a default"),
    }
}

fn alphabeta(settings: &Settings) -> Built {
    let mut search = AlphaBeta::new(depth_parameters(settings)?);
    if settings.word("every") == "on" {
        search = search.with_exact_moves();
    }
    match table_mb(settings) {
        0 => player(search),
        megabytes => player(search.with_table(megabytes)),
    }
}

fn timed(settings: &Settings) -> Built {
    let nodes = settings.whole("nodes");
    let has_limit = settings.is_timed || nodes.or(settings.whole("depth")).is_some();
    let default = (!has_limit).then_some(Duration::from_millis(500));
    let time = move_time(settings).or(default);
    let parameters = DepthParameters { time, nodes, ..depth_parameters(settings)? };
    player(IterativeDeepening::new(parameters, table_mb(settings)))
}

fn zero(settings: &Settings) -> Built {
    let unsuited =
        |reason| AgentError::Unsupported { agent: "zero", setup: settings.setup, reason };
    let network = match settings.text("model") {
        None => embedded_network(settings.setup).map_err(|error| unsuited(error.to_string()))?,
        Some(text) => {
            let failed = |error| format!("model '{text}' of zero: {error}");
            let network = settings.model(text).load();
            let network = network.map_err(|error| AgentError::Failed { reason: failed(error) })?;
            if network.setup() != settings.setup {
                return Err(unsuited(format!("the network {text} is for {}", network.setup())));
            }
            network
        }
    };
    let decimal = |name| settings.decimal(name) as f32;
    player(Zero::new(ZeroParameters {
        network,
        simulations: simulations(settings),
        time: move_time(settings),
        seed: settings.seed(),
        batch: settings.whole("batch").expect("it has a default") as usize,
        temperature: decimal("temperature"),
        tree: TreeParameters {
            rule: match settings.word("rule") {
                "ucb" => SelectionRule::Ucb,
                _ => SelectionRule::Puct,
            },
            exploration: decimal("cpuct"),
            first_play_reduction: decimal("fpu"),
            c1: decimal("c1"),
            c2: decimal("c2"),
        },
    }))
}

fn perfect(settings: &Settings) -> Built {
    Perfect::check(settings.setup)?;
    let whole = |name| settings.whole(name).expect("it has a default") as usize;
    let books = if settings.word("book") == "on" { embedded_books() } else { Vec::new() };
    let options = Options::default()
        .with_table_mb(whole("table"))
        .with_threads(whole("threads"))
        .with_books(books);
    player(Perfect::new(options, tie_break(settings), settings.seed()))
}

fn external(settings: &Settings) -> Built {
    let ms = |name| Duration::from_millis(settings.whole(name).expect("it has a default"));
    player(External {
        command: settings.text("cmd").expect("the command is required").to_owned(),
        time: ms("ms"),
        grace: ms("wait"),
        seed: settings.seed(),
        pool: settings.engines().cloned(),
        engine: None,
        game: None,
    })
}

#[cfg(test)]
mod tests {
    use claimeven_game::{Position, Ruleset, Setup};
    use claimeven_search::{AgentError, Limits};
    use claimeven_zero::{Architecture, Network, TreeParameters};

    use super::{AGENTS, Values};
    use crate::AgentSpec;

    #[test]
    fn players_have_a_tree_according_to_their_kind() {
        let setup = Setup::STANDARD;
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

    #[test]
    fn players_with_a_time_limit_use_their_time() {
        let position = Position::from_moves(Setup::STANDARD, "44").unwrap();
        let ms = std::time::Duration::from_millis(60);
        for text in ["mcts:ms=60", "zero:ms=60", "timed:ms=60", "timed", "mcts", "zero"] {
            let spec: AgentSpec = text.parse().unwrap();
            // Players without a limit of their own use that of the game.
            let own = spec.given("ms").is_some();
            let built = if own {
                spec.build(Setup::STANDARD, 0)
            } else {
                spec.build_timed(Setup::STANDARD, 0)
            };
            let limits = if own { Limits::default() } else { Limits::default().with_time(ms) };
            let decision = built.unwrap().decide(&position, &limits).unwrap();
            assert!(decision.stopped && decision.time >= ms, "{text}: {decision:?}");
        }
        // A given number of simulations is kept.
        let mut few =
            "mcts:sims=20".parse::<AgentSpec>().unwrap().build_timed(Setup::STANDARD, 0).unwrap();
        let decision = few.decide(&position, &Limits::default().with_time(ms)).unwrap();
        assert_eq!((decision.stats.simulations, decision.stopped), (20, false));
        let nodes = |text: &str| {
            let mut agent = text.parse::<AgentSpec>().unwrap().build(Setup::STANDARD, 0).unwrap();
            agent.decide(&position, &Limits::default()).unwrap()
        };
        let decision = nodes("timed:nodes=5000");
        assert!(decision.stopped && decision.stats.nodes <= 5000, "{decision:?}");
        assert_eq!(decision.column, nodes("timed:nodes=5000").column);
        let [plain, table] = ["alphabeta:depth=8", "alphabeta:depth=8,table=8"].map(nodes);
        assert_eq!((plain.value, plain.column), (table.value, table.column));
        assert!(table.stats.table_hits > 0 && table.stats.nodes < plain.stats.nodes);
    }

    #[test]
    fn zero_plays_if_it_has_a_network_and_reports_an_error_otherwise() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        let setup = Setup::new(4, 4, 3, Ruleset::Standard).unwrap();
        let (small, text) = (path("small.safetensors"), path("text"));
        let network = Network::new(Architecture::new(setup, 1, 4), 1).unwrap();
        network.save(small.as_ref()).unwrap();
        std::fs::write(&text, "weights").unwrap();
        let build = |text: &str, setup| text.parse::<AgentSpec>().unwrap().build(setup, 0);

        assert!(build("zero", Setup::STANDARD).is_ok());
        assert!(build(&format!("zero:sims=0,model={small}"), setup).is_ok());
        let error = |text: &str, setup| build(text, setup).err().unwrap().to_string();
        assert_eq!(
            error("zero", setup),
            "zero cannot play 4x4, connect 3, standard: no embedded network (available: 7x6, \
             connect 4, standard); train one and use model=PATH"
        );
        assert_eq!(
            error(&format!("zero:model={small}"), Setup::STANDARD),
            format!(
                "zero cannot play 7x6, connect 4, standard: the network {small} is for 4x4, \
                 connect 3, standard"
            )
        );
        for (model, reason) in [
            (path("none"), "cannot read"),
            (text, "damaged network file"),
            (path(""), "no training run in"),
            (path("@7"), "no training run in"),
        ] {
            let error = error(&format!("zero:model={model}"), setup);
            assert!(error.starts_with(&format!("model '{model}' of zero: ")), "{error}");
            assert!(error.contains(reason), "{error}");
        }
    }

    #[test]
    fn the_defaults_of_zero_match_its_library() {
        let kind = AGENTS.iter().find(|kind| kind.name == "zero").unwrap();
        let TreeParameters { rule, exploration, first_play_reduction, c1, c2 } =
            TreeParameters::default();
        assert_eq!(rule, claimeven_zero::SelectionRule::Puct);
        let numbers =
            [("cpuct", exploration), ("fpu", first_play_reduction), ("c1", c1), ("c2", c2)];
        for (name, expected) in numbers {
            let parameter = kind.parameters.iter().find(|known| known.name == name).unwrap();
            let Values::Decimal { default, .. } = parameter.values else { panic!("{name}") };
            assert_eq!((default as f32).to_bits(), expected.to_bits(), "{name}");
        }
    }
}
