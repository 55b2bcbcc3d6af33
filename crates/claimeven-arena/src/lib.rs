//! Players, matches, tournaments and analysis for Connect Four.
//!
//! ```
//! use claimeven_arena::{AgentSpec, Match, Openings};
//! use claimeven_game::Setup;
//!
//! let players: [AgentSpec; 2] = ["mcts:sims=200".parse()?, "level:2".parse()?];
//! let openings = Openings::Random(4).choose(Setup::STANDARD, 5, 1)?;
//! let status = Match::new(Setup::STANDARD, players.each_ref(), &openings).run(|_, _| {})?;
//! println!("score {:.2} in {} games", status.pairs.score().estimate, status.games());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! - [`AgentSpec`] is a player by name and parameters: `alphabeta:depth=8,eval=sawwan`.
//! - [`Participant`] is a side of a game: a person or a program.
//! - [`play_game`] plays one game, [`Match`] a match on several threads; both return [`GameRecord`]s.
//! - [`GameRecord::replay`] checks a record against the rules; [`LegacyRecord`] and [`pgn`] convert it.
//! - [`run_ugi`] offers the players to other programs; `ugi:cmd=…` is another program as a player.
//! - [`TournamentPlan`] describes a tournament, [`Tournament`] plays it and resumes it after an
//!   interruption, and [`Report`] has its results.
//! - [`Analyzer`] evaluates every move of a position.
//! - [`Review`] annotates the moves of a game by exact scores.
//! - [`Puzzle`] is a position with exactly one right move.
//! - [`TreeDrawing`] is a search tree prepared for drawing.
//! - [`svg`] draws positions and search trees.
//! - [`Picture`] renders a position as PNG, [`game_gif`] a game as an animated GIF.
//! - [`PairResults`], [`Sprt`] and [`ratings`] are the statistics of results.
//! - [`evaluate`] measures a player against exact scores; [`Scoreboard`] has the results of other
//!   programs.
//! - [`experiments`] are claims about players and their tests.
//!
//! The example `own_agent` enters a player of your own in a tournament.

mod agents;
mod analysis;
mod csv;
pub mod experiments;
mod export;
mod external;
mod fleet_version;
mod game;
mod game_match;
mod game_units;
mod import;
mod journal;
mod line_margins;
mod move_units;
mod network_units;
mod openings;
mod picture;
mod plan;
mod proof_player;
mod puzzles;
mod rating;
mod record;
mod replay;
mod report;
mod review;
mod roster;
mod scoreboard;
mod self_play_units;
mod strength;
pub mod svg;
mod tournament;
mod tree_drawing;
mod ugi;

pub use agents::{AGENTS, ALIASES};
pub use analysis::{Analysis, AnalysisLimits, Analyzer, ColumnAnalysis, Estimate, ExactValue};
pub use claimeven_coach::Theme;
pub use export::{LegacyRecord, pgn};
pub use external::EnginePool;
pub use fleet_version::FLEET_VERSION;
pub use game::{
    Clock, MatchError, Pairing, ParseTimeError, RecordMismatch, TimeControl, play_game,
    play_game_watched,
};
pub use game_match::{Match, MatchEvent, MatchStatus, PlayerStats};
pub use game_units::{Games, PlannedGame};
pub use import::{ImportError, import_legacy};
pub use journal::{Journal, JournalError};
pub use move_units::{ChosenMove, MoveRequest, Moves};
pub use network_units::{ExamEvaluations, GateGames};
pub use openings::{OpeningError, OpeningSearch, Openings, ParseOpeningsError};
pub use picture::{Picture, game_gif};
pub use plan::{Entrant, Fixture, Format, PlanError, TournamentPlan};
pub use puzzles::{ParsePuzzleError, Puzzle, PuzzleGoal};
pub use rating::{PairScore, rating_groups, ratings};
pub use record::{EndReason, GameRecord, MoveRecord, PlayerRecord, ResultRecord};
pub use replay::{RecordError, RecordErrorKind};
pub use report::{GameLength, PlayerReport, Report, TournamentResults};
pub use review::{
    Judgement, MoveReview, PlayerReview, Review, ReviewChoice, ReviewEstimate, ReviewOptions,
};
pub use roster::{AgentKind, AgentSpec, Parameter, Participant, SpecError, Values};
pub use scoreboard::{PUBLIC_SETS, Scoreboard, ScoreboardEntry, ScoreboardError, public_set};
pub use self_play_units::{FleetTraining, SelfPlayGames, SelfPlayOutput};
pub use strength::{
    EvaluateError, LineError, RandomPositions, Rate, Strength, TestSet, TestSetError, evaluate,
    evaluate_on,
};
pub use tournament::{Tournament, TournamentError, TournamentProgress};
pub use tree_drawing::{NoTree, NodeKind, PrunedMoves, TreeDrawing};
pub use ugi::run_ugi;

pub use claimeven_zero::{
    Interval, MatchScore, PairResults, Sprt, SprtOutcome, elo_of_score, score_of_elo,
};
