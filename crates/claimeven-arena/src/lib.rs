//! Who plays whom in Connect Four, and what comes of it.
//!
//! - [`AgentSpec`] is a player by name and parameters: `alphabeta:depth=8,eval=sawwan`.
//! - [`Seat`] is a side of a game, taken by a person or by a program.
//! - [`play_game`] plays one game, [`Contest`] a match on all cores; both give [`GameRecord`]s.
//! - [`GameRecord::replay`] holds a record against the rules; [`OlderRecord`] and [`pgn`] are other
//!   forms of it.
//! - [`speak_ugi`] lends the players to other programs; `ugi:cmd=…` is a player that is one.
//! - [`Plan`] is a tournament as a file says it; [`Tournament`] plays it, and goes on with it after an
//!   interruption; [`Report`] is what came of it.
//! - [`Analyst`] says what every move of a position is worth.
//! - [`Sketch`] is the search tree of a player with what its drawings tell.
//! - [`Review`] judges the moves of a game by exact scores.
//! - [`Puzzle`] is a position with one way.
//! - [`PairResults`], [`Sprt`] and [`ratings`] say what results mean.
//! - [`EXPERIMENTS`] are claims about players, each of which is put to the test in a [`Lab`].

mod agents;
mod analysis;
mod contest;
mod csv;
mod experiments;
mod export;
mod external;
mod game;
mod journal;
mod openings;
mod plan;
mod pool;
mod puzzles;
mod rating;
mod record;
mod replay;
mod report;
mod review;
mod roster;
mod sketch;
mod statistics;
mod tournament;
mod ugi;

pub use agents::AGENTS;
pub use analysis::{Analysis, AnalysisLimits, Analyst, ColumnAnalysis};
pub use contest::{Contest, Effort, Standing};
pub use experiments::{
    Cell, EXPERIMENTS, Experiment, Figure, Finding, HeatPanel, Lab, Line, LinePanel, Origin, Plot,
    Progress, RangePanel, RangeRow, Ruling, Table, Unit, UnknownExperiment,
};
pub use export::{OlderRecord, pgn};
pub use game::{Clock, Pairing, TimeControl, play_game, play_game_watched};
pub use journal::{Journal, JournalError};
pub use openings::{OpeningError, Openings};
pub use plan::{Entrant, Fixture, Format, Plan, PlanError};
pub use puzzles::{Goal, Puzzle};
pub use rating::{PairScore, ratings};
pub use record::{GameRecord, MoveRecord, PlayerRecord, Reason, ResultRecord, SetupRecord};
pub use replay::{Fault, RecordError};
pub use report::{Length, PlayerReport, Report, Results, Tally};
pub use review::{Choice, Judgement, MoveReview, PlayerReview, Review, ReviewOptions};
pub use roster::{AgentKind, AgentSpec, Parameter, Seat, SpecError, Values};
pub use sketch::{Cut, NodeKind, Sketch};
pub use statistics::{Interval, PairResults, Sprt, Verdict, elo_of_score, score_of_elo};
pub use tournament::{Tournament, TournamentError};
pub use ugi::speak_ugi;
