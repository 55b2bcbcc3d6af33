//! Who plays whom in Connect Four, and what comes of it.
//!
//! - [`AgentSpec`] is a player by name and parameters: `alphabeta:depth=8,eval=sawwan`.
//! - [`Participant`] is a side of a game, taken by a person or by a program.
//! - [`play_game`] plays one game, [`Match`] a match on all cores; both give [`GameRecord`]s.
//! - [`GameRecord::replay`] holds a record against the rules; [`LegacyRecord`] and [`pgn`] are other
//!   forms of it.
//! - [`run_ugi`] lends the players to other programs; `ugi:cmd=…` is a player that is one.
//! - [`Plan`] is a tournament as a file says it; [`Tournament`] plays it, and goes on with it after an
//!   interruption; [`Report`] is what came of it.
//! - [`Analyzer`] says what every move of a position is worth.
//! - [`TreeDrawing`] is the search tree of a player with what its drawings tell.
//! - [`Review`] judges the moves of a game by exact scores.
//! - [`Puzzle`] is a position with one way.
//! - [`Picture`] is a position as PNG, [`game_gif`] a game as an animated GIF.
//! - [`PairResults`], [`Sprt`] and [`ratings`] say what results mean.
//! - [`evaluate`] measures any player against exact scores.
//! - [`EXPERIMENTS`] are claims about players, each of which is put to the test in a [`Lab`].

mod agents;
mod analysis;
mod csv;
mod experiments;
mod export;
mod external;
mod game;
mod game_match;
mod journal;
mod line_margins;
mod openings;
mod picture;
mod plan;
mod pool;
mod puzzles;
mod rating;
mod record;
mod replay;
mod report;
mod review;
mod roster;
mod statistics;
mod strength;
mod tournament;
mod tree_drawing;
mod ugi;

pub use agents::AGENTS;
pub use analysis::{Analysis, AnalysisLimits, Analyzer, ColumnAnalysis, Estimate, ExactValue};
pub use experiments::{
    Cell, EXPERIMENTS, Experiment, ExperimentError, Figure, Finding, HeatPanel, Lab, Line,
    LinePanel, Origin, Plot, Progress, RangePanel, RangeRow, Table, Unit, UnknownExperiment,
    Verdict,
};
pub use export::{LegacyRecord, pgn};
pub use game::{Clock, MatchError, Pairing, TimeControl, play_game, play_game_watched};
pub use game_match::{Match, MatchStatus, PlayerStats};
pub use journal::{Journal, JournalError};
pub use openings::{OpeningError, Openings};
pub use picture::{Picture, game_gif};
pub use plan::{Entrant, Fixture, Format, Plan, PlanError};
pub use puzzles::{Goal, Puzzle, Theme};
pub use rating::{PairScore, ratings};
pub use record::{GameRecord, MoveRecord, PlayerRecord, Reason, ResultRecord, SetupRecord};
pub use replay::{Fault, RecordError};
pub use report::{Length, PlayerReport, Report, Results, TournamentResults};
pub use review::{
    Choice, Judgement, MoveReview, PlayerReview, Review, ReviewEstimate, ReviewOptions,
};
pub use roster::{AgentKind, AgentSpec, Parameter, Participant, SpecError, Values};
pub use statistics::{Interval, PairResults, Sprt, SprtOutcome, elo_of_score, score_of_elo};
pub use strength::{EvaluateError, LineError, Rate, Strength, TestSet, TestSetError, evaluate};
pub use tournament::{Tournament, TournamentError};
pub use tree_drawing::{Cut, NodeKind, TreeDrawing};
pub use ugi::run_ugi;
