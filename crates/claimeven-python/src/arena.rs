//! Matches, tournaments, measurements, reviews and training. Results are passed as JSON, which
//! Python turns into dataclasses.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use claimeven_arena::{
    AGENTS, GameRecord, Match, MatchScore, MatchStatus, OpeningError, Openings, Review,
    ReviewOptions, Sprt, SprtOutcome, TestSet, Tournament, TournamentPlan,
};
use claimeven_game::{Column, Setup as GameSetup};
use claimeven_search::{AgentError, Limits as SearchLimits};
use claimeven_solver::Limits as SolverLimits;
use claimeven_zero::{Event, Parameters, Resources, Run, RunError};
use pyo3::prelude::*;
use serde_json::{Value as Json, json};

use crate::agent::{FirstError, has_failed, no_result, player_of, raise_first};
use crate::boards::Boards;
use crate::game::Game;
use crate::setup::{Setup, or_standard};
use crate::{numbers, value_error, work};

/// The built-in players, as JSON.
#[pyfunction]
pub(crate) fn agent_names() -> String {
    let kind = |kind: &claimeven_arena::AgentKind| {
        let parameter = |parameter: &claimeven_arena::Parameter| {
            json!([parameter.name, parameter.about, parameter.values.to_string()])
        };
        let parameters: Vec<Json> = kind.parameters.iter().map(parameter).collect();
        json!({ "name": kind.name, "about": kind.about, "has_tree": kind.has_tree, "parameters": parameters })
    };
    Json::from(AGENTS.iter().map(kind).collect::<Vec<_>>()).to_string()
}

fn openings(
    text: Option<&str>,
    setup: GameSetup,
    count: usize,
    seed: u64,
    cancel: &Arc<AtomicBool>,
) -> Result<Vec<Vec<Column>>, String> {
    let limits = SolverLimits::default().with_cancel(Arc::clone(cancel));
    let chosen = match text {
        None => Openings::choose_default_within(setup, count, seed, &limits),
        Some(text) => {
            let openings: Openings = text.parse().map_err(|error| format!("{error}"))?;
            openings.choose_within(setup, count, seed, &limits)
        }
    };
    chosen.map_err(|error: OpeningError| error.to_string())
}

/// Plays a match of pairs of games. Returns a summary as JSON, and the games.
#[pyfunction]
#[pyo3(signature = (first, second, games, setup, openings_text, seed, threads, sprt, forfeit, progress))]
#[expect(clippy::too_many_arguments, reason = "Python calls it with keywords")]
pub(crate) fn play_match(
    py: Python<'_>,
    first: &Bound<'_, PyAny>,
    second: &Bound<'_, PyAny>,
    #[pyo3(from_py_with = numbers::games)] games: u64,
    setup: Option<&Setup>,
    openings_text: Option<&str>,
    #[pyo3(from_py_with = numbers::seed)] seed: u64,
    #[pyo3(from_py_with = numbers::threads)] threads: Option<usize>,
    #[pyo3(from_py_with = numbers::sprt)] sprt: Option<(f64, f64)>,
    forfeit: bool,
    progress: Option<Py<PyAny>>,
) -> PyResult<(String, Vec<Game>)> {
    let errors = FirstError::default();
    let setup = or_standard(setup);
    let known = Arc::default();
    let read = |value| player_of(value, &errors, &known, forfeit);
    let players = [read(first)?, read(second)?];
    let pairs = games.div_ceil(2);
    if pairs == 0 {
        return Err(value_error("a match needs at least 1 game, not 0"));
    }
    if let Some((elo0, elo1)) = sprt
        && !(elo0.is_finite() && elo1.is_finite() && elo0 < elo1)
    {
        let reason = "expected two ratings, the lower first";
        return Err(value_error(format!("sprt ({elo0}, {elo1}): {reason}")));
    }
    let sprt = sprt.map(|(elo0, elo1)| Sprt::new(elo0, elo1));
    let played = AtomicU64::new(0);
    let failed = Arc::clone(&errors);
    let result = work::run(
        py,
        |cancel| -> Result<(MatchStatus, Vec<GameRecord>), String> {
            let openings = openings(openings_text, setup, pairs as usize, seed, cancel)?;
            known.set(setup, &openings);
            let mut records = Vec::new();
            let status = Match::new(setup, players.each_ref(), &openings)
                .with_pairs(pairs)
                .with_seed(seed)
                .with_threads(work::threads(threads))
                .with_sprt(sprt)
                .with_cancel(Arc::clone(cancel))
                .run(|games, status| {
                    records.extend(games.iter().cloned());
                    played.store(status.games(), Ordering::Relaxed);
                    if has_failed(&failed) {
                        cancel.store(true, Ordering::Relaxed);
                    }
                });
            Ok((status.map_err(|error| error.to_string())?, records))
        },
        |py| report(py, progress.as_ref(), played.load(Ordering::Relaxed), 2 * pairs),
    );
    raise_first(&errors)?;
    let (status, records) = result?.map_err(value_error)?;
    report(py, progress.as_ref(), status.games(), 2 * pairs)?;
    let outcome = status.sprt.map(|outcome| match outcome {
        SprtOutcome::Accepted => "accepted",
        SprtOutcome::Rejected => "rejected",
    });
    let counts = |MatchScore { wins, draws, losses }| [wins, draws, losses];
    let summary = json!({
        "players": players.each_ref().map(ToString::to_string),
        "results": counts(status.results),
        "first_mover": counts(status.first_mover),
        "score": status.pairs.score(),
        "elo": status.pairs.elo(),
        "sprt": outcome,
    });
    let records = records.into_iter().map(Game::of_record).collect::<PyResult<_>>()?;
    Ok((summary.to_string(), records))
}

fn report(py: Python<'_>, progress: Option<&Py<PyAny>>, done: u64, of: u64) -> PyResult<()> {
    progress.map_or(Ok(()), |progress| progress.call1(py, (done, of)).map(drop))
}

/// Plays a round robin. Returns a summary as JSON, and the games.
#[pyfunction]
#[pyo3(signature = (players, games, setup, openings_text, seed, threads, forfeit, progress))]
#[expect(clippy::too_many_arguments, reason = "Python calls it with keywords")]
pub(crate) fn play_tournament(
    py: Python<'_>,
    players: Vec<Bound<'_, PyAny>>,
    #[pyo3(from_py_with = numbers::games)] games: u64,
    setup: Option<&Setup>,
    openings_text: Option<&str>,
    #[pyo3(from_py_with = numbers::seed)] seed: u64,
    #[pyo3(from_py_with = numbers::threads)] threads: Option<usize>,
    forfeit: bool,
    progress: Option<Py<PyAny>>,
) -> PyResult<(String, Vec<Game>)> {
    let errors = FirstError::default();
    let setup = or_standard(setup);
    let known = Arc::default();
    let players = players
        .iter()
        .map(|player| player_of(player, &errors, &known, forfeit))
        .collect::<PyResult<Vec<_>>>()?;
    let plan =
        TournamentPlan::round_robin(setup, players, games).map_err(value_error)?.with_seed(seed);
    let total = plan.games();
    let played = AtomicU64::new(0);
    let failed = Arc::clone(&errors);
    let result = work::run(
        py,
        |cancel| -> Result<_, String> {
            let pairs = games.div_ceil(2) as usize;
            let openings = openings(openings_text, setup, pairs, seed, cancel)?;
            known.set(setup, &openings);
            let plan = plan.with_openings(Openings::Given(openings));
            let tournament = Tournament::new(&plan).map_err(|error| error.to_string())?;
            let mut records = Vec::new();
            let take = |record, results: &claimeven_arena::TournamentResults| {
                records.push(record);
                played.store(results.games(), Ordering::Relaxed);
                if has_failed(&failed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            };
            let threads = work::threads(threads);
            let results = tournament.resume([], threads, cancel, |_, _, _| {}, take);
            let results = results.map_err(|error| error.to_string())?;
            Ok((results.report(&plan), records))
        },
        |py| report(py, progress.as_ref(), played.load(Ordering::Relaxed), total),
    );
    raise_first(&errors)?;
    let (results, records) = result?.map_err(value_error)?;
    report(py, progress.as_ref(), results.games, total)?;
    let records = records.into_iter().map(Game::of_record).collect::<PyResult<_>>()?;
    Ok((serde_json::to_string(&results).map_err(value_error)?, records))
}

/// Compares a player's moves with the exact scores of positions. Returns a summary as JSON.
#[pyfunction]
#[pyo3(signature = (agent, boards, scores, setup, seed, threads, progress))]
#[expect(clippy::too_many_arguments, reason = "Python calls it with keywords")]
pub(crate) fn evaluate(
    py: Python<'_>,
    agent: &Bound<'_, PyAny>,
    boards: &Bound<'_, PyAny>,
    scores: Vec<i32>,
    setup: Option<&Setup>,
    #[pyo3(from_py_with = numbers::seed)] seed: u64,
    #[pyo3(from_py_with = numbers::threads)] threads: Option<usize>,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let errors = FirstError::default();
    let agent = player_of(agent, &errors, &Arc::default(), false)?;
    let boards = Boards::of(boards, setup)?;
    let count = boards.positions.len();
    let set = TestSet::new(agent.to_string(), boards.positions.into_iter().zip(scores));
    let done = AtomicU64::new(0);
    let result = work::run(
        py,
        |cancel| {
            let limits = SearchLimits::default().with_cancel(Arc::clone(cancel));
            let make = || {
                if cancel.load(Ordering::Relaxed) {
                    return Err(AgentError::Failed { reason: "cancelled".to_owned() });
                }
                agent.build(boards.setup, seed)
            };
            claimeven_arena::evaluate(make, &set, &limits, work::threads(threads), || {
                done.fetch_add(1, Ordering::Relaxed);
            })
        },
        |py| report(py, progress.as_ref(), done.load(Ordering::Relaxed), count as u64),
    );
    raise_first(&errors)?;
    let strength = result?.map_err(value_error)?;
    report(py, progress.as_ref(), count as u64, count as u64)?;
    let summary = json!({
        "strength": strength,
        "errors": strength.errors(),
        "error_rate": strength.error_rate(),
        "best_rate": strength.best_rate(),
    });
    Ok(summary.to_string())
}

/// The moves of a game judged by exact scores, as JSON.
#[pyfunction]
pub(crate) fn review(
    py: Python<'_>,
    game: &Game,
    #[pyo3(from_py_with = numbers::seconds)] seconds: f64,
) -> PyResult<String> {
    let time = crate::solver::duration(seconds)?;
    let game = game.game(py);
    let review = work::run(
        py,
        |cancel| {
            let cancel = Some(Arc::clone(cancel));
            let time_per_position = Some(time);
            let options = ReviewOptions { time_per_position, cancel, ..ReviewOptions::default() };
            Review::of(&game, &options)
        },
        |_| Ok(()),
    )?;
    serde_json::to_string(&review).map_err(value_error)
}

/// Trains a network in a folder. `progress` is called with the name of an event and its numbers as JSON.
#[pyfunction]
#[pyo3(signature = (folder, preset, parameters, setup, iterations, seconds, resume, threads, progress))]
#[expect(clippy::too_many_arguments, reason = "Python calls it with keywords")]
pub(crate) fn train(
    py: Python<'_>,
    folder: PathBuf,
    preset: &str,
    parameters: Vec<(String, String)>,
    setup: Option<&Setup>,
    #[pyo3(from_py_with = numbers::iterations)] iterations: Option<u64>,
    #[pyo3(from_py_with = numbers::seconds)] seconds: Option<f64>,
    resume: bool,
    #[pyo3(from_py_with = numbers::threads)] threads: Option<usize>,
    progress: Option<Py<PyAny>>,
) -> PyResult<()> {
    let unknown = || {
        let names = Parameters::PRESETS.join(", ");
        value_error(format!("unknown preset '{preset}' (available: {names})"))
    };
    let mut all = Parameters::preset(preset, or_standard(setup)).ok_or_else(unknown)?;
    for (name, value) in &parameters {
        all.set(name, value).map_err(value_error)?;
    }
    all.check().map_err(value_error)?;
    let seconds = seconds.map(crate::solver::duration).transpose()?;
    let stop_condition = StopCondition { iterations, seconds };
    let (sender, receiver) = mpsc::channel::<String>();
    let sender = Mutex::new(sender);
    let pass_events = |py: Python<'_>| -> PyResult<()> {
        while let Ok(event) = receiver.try_recv() {
            if let Some(progress) = &progress {
                progress.call1(py, (event,))?;
            }
        }
        Ok(())
    };
    let trained = work::run(
        py,
        |cancel| {
            let mut observer = |event: Event<'_>| {
                let sender = sender.lock().expect("nothing panics while it is held");
                // The receiver is dropped once the work has been cancelled.
                let _ = sender.send(event_json(event));
                if cancel.load(Ordering::Relaxed) {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                }
            };
            let resources = Resources::new(work::threads(threads));
            let mut run = if resume && folder.join("parameters.json").exists() {
                Run::resume(&folder, Some(&all), resources, &mut observer)?
            } else {
                Run::begin(&folder, &all, None, resources, &mut observer)?
            };
            while !stop_condition.is_reached(&run) && !cancel.load(Ordering::Relaxed) {
                run.iterate(&mut observer)?;
            }
            Ok::<(), RunError>(())
        },
        pass_events,
    )?;
    pass_events(py)?;
    match trained {
        Ok(()) => Ok(()),
        Err(RunError::Stopped(_)) => Err(no_result()),
        Err(error) => Err(value_error(error)),
    }
}

struct StopCondition {
    iterations: Option<u64>,
    seconds: Option<Duration>,
}

impl StopCondition {
    fn is_reached(&self, run: &Run) -> bool {
        let state = run.state();
        self.iterations.is_some_and(|iterations| state.iteration >= iterations)
            || self.seconds.is_some_and(|time| state.seconds >= time.as_secs_f64())
    }
}

fn event_json(event: Event<'_>) -> String {
    let json = match event {
        Event::PreparingExam { solved, of } => json!({ "stage": "exam", "done": solved, "of": of }),
        Event::Playing { iteration, games, of } => {
            json!({ "stage": "self-play", "iteration": iteration, "done": games, "of": of })
        }
        Event::Played { iteration, .. } => json!({ "stage": "played", "iteration": iteration }),
        Event::Learning { iteration, steps, of } => {
            json!({ "stage": "learning", "iteration": iteration, "done": steps, "of": of })
        }
        Event::Testing { iteration } => json!({ "stage": "testing", "iteration": iteration }),
        Event::Done(metrics) => {
            json!({ "stage": "done", "iteration": metrics.state.iteration, "metrics": metrics })
        }
    };
    json.to_string()
}
