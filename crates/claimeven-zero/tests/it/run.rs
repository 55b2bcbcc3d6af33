//! Training runs: they learn, resume after an interruption, and reject other parameters.

use std::fs;
use std::ops::ControlFlow;
use std::path::Path;

use claimeven_game::{Ruleset, Setup};
use claimeven_zero::{Architecture, Event, Metrics, Network, Parameters, Resources, Run, RunError};

use crate::folder::Folder;

/// A game and a network that can be learnt within seconds.
fn parameters() -> Parameters {
    let setup = Setup::new(4, 4, 3, Ruleset::Standard).unwrap();
    let mut parameters = Parameters::ten_minutes(setup);
    parameters.architecture = Architecture::new(setup, 1, 12);
    parameters.self_play.games = 60;
    parameters.self_play.in_flight = 16;
    parameters.self_play.full_simulations = 16;
    parameters.self_play.fast_simulations = 6;
    parameters.self_play.opening_plies = 3;
    parameters.self_play.cache = 1 << 10;
    parameters.learning.batch = 64;
    parameters.learning.chunk = 32;
    parameters.learning.passes = 20.0;
    parameters.learning.rate = 5e-3;
    parameters.learning.min_buffer = 150;
    parameters.gate.every = 2;
    parameters.gate.pairs = 4;
    parameters.gate.simulations = 4;
    parameters.gate.opening_plies = 2;
    parameters.exam.positions = 300;
    parameters.exam.min_plies = 0;
    parameters.exam.max_plies = 5;
    parameters.exam.simulations = 4;
    parameters
}

fn keep_going(_: Event<'_>) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

fn begin(folder: &Folder, parameters: &Parameters, threads: usize) -> Result<Run, RunError> {
    Run::begin(&folder.0, parameters, None, Resources::new(threads), &mut keep_going)
}

fn resume(folder: &Folder, parameters: Option<&Parameters>) -> Result<Run, RunError> {
    Run::resume(&folder.0, parameters, Resources::new(2), &mut keep_going)
}

fn iterate(run: &mut Run) -> Metrics {
    run.iterate(&mut keep_going).unwrap().unwrap()
}

fn begin_from(folder: &Folder, parameters: &Parameters, other: &Path) -> Result<Run, RunError> {
    Run::begin(&folder.0, parameters, Some(other), Resources::new(2), &mut keep_going)
}

fn files(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<String> = names.map(|name| name.into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_run_learns() {
    let folder = Folder::new("learns");
    let mut run = begin(&folder, &parameters(), 2).unwrap();
    let first = iterate(&mut run);
    let last = (0..5).map(|_| iterate(&mut run)).last().unwrap();
    let (before, after) = (first.exam.unwrap(), last.exam.unwrap());
    assert!(after.policy_error < before.policy_error, "{before:?} {after:?}");
    assert!(after.value_error < 0.7 * before.value_error, "{before:?} {after:?}");
    assert!(last.policy_loss < 0.6 * first.policy_loss, "{first:?} {last:?}");
    assert!(last.value_loss < 0.6 * first.value_loss, "{first:?} {last:?}");
    assert!(last.gate.is_some() && first.gate.is_none());
    assert_eq!(last.state.games, 360);

    // Every network can be loaded, including the best one.
    assert_eq!(files(&folder.0.join("networks")).len(), 6);
    let best = Network::load(&folder.0.join("best.safetensors")).unwrap();
    assert_eq!(best.note("iteration"), Some(&*last.state.best.to_string()));
    // Files that are no longer needed are gone.
    assert_eq!(files(&folder.0.join("learner")).len(), 3);
    let buffered = files(&folder.0.join("samples")).len() as u64;
    assert_eq!(buffered, 6 + 1 - last.state.buffer_from);
    assert!(buffered < 6, "{buffered}");
}

#[test]
fn the_newest_network_is_judged_before_a_stop() {
    let folder = Folder::new("stale");
    let mut parameters = parameters();
    parameters.gate.every = 100;
    parameters.gate.threshold = 0.0;
    let mut run = begin(&folder, &parameters, 2).unwrap();
    for _ in 0..3 {
        iterate(&mut run);
    }
    assert_eq!((run.state().best, run.state().gated), (1, 1));
    let mut reported = Vec::new();
    let mut record = |event: Event<'_>| {
        if let Event::Done(metrics) = event {
            reported.push(*metrics);
        }
        // The gate match is finished even so.
        ControlFlow::Break(())
    };
    run.finish(&mut record).unwrap();
    // The second time there is nothing left to do.
    run.finish(&mut record).unwrap();
    let [last] = reported[..] else { panic!("{reported:?}") };
    assert_eq!((last.state.iteration, last.state.best, last.state.gated), (3, 3, 3));
    assert!(last.gate.is_some_and(|gate| gate.wins + gate.draws + gate.losses >= 8), "{last:?}");
    let saved = Run::metrics_of(&folder.0).unwrap();
    assert_eq!((saved.len(), saved[2].gate, saved[2].state.best), (3, last.gate, 3));
    let best = Network::load(&folder.0.join("best.safetensors")).unwrap();
    assert_eq!(best.note("iteration"), Some("3"));
    drop(run);

    // A stop that was interrupted before its state was written is rolled back.
    let state = folder.0.join("state.json");
    let text = fs::read_to_string(&state).unwrap();
    let text = text.replace("\"best\": 3", "\"best\": 1").replace("\"gated\": 3", "\"gated\": 1");
    fs::write(&state, text).unwrap();
    let mut run = resume(&folder, None).unwrap();
    let saved = Run::metrics_of(&folder.0).unwrap();
    assert_eq!((saved[2].gate, saved[2].state.best), (None, 1));
    assert_eq!(Network::load(&folder.0.join("best.safetensors")).unwrap(), *run.best());
    assert_eq!(run.best().note("iteration"), Some("1"));
    run.finish(&mut keep_going).unwrap();
    assert_eq!((run.state().best, run.best().note("iteration")), (3, Some("3")));
}

#[test]
fn an_interrupted_run_resumes_as_if_nothing_had_happened() {
    let (whole, broken) = (Folder::new("whole"), Folder::new("broken"));
    let mut run = begin(&whole, &parameters(), 1).unwrap();
    let expected: Vec<Metrics> = (0..4).map(|_| iterate(&mut run)).collect();

    let mut found = Vec::new();
    for iteration in 1..=4 {
        let mut run = match iteration {
            1 => begin(&broken, &parameters(), 2).unwrap(),
            _ => resume(&broken, Some(&parameters())).unwrap(),
        };
        assert_eq!(run.state().iteration, iteration - 1);
        found.push(iterate(&mut run));
        drop(run);
        // The next iteration is interrupted.
        let next = format!("{:06}", iteration + 1);
        fs::write(broken.0.join(format!("samples/{next}.safetensors")), b"half").unwrap();
        fs::write(broken.0.join(format!("networks/{next}.safetensors.new")), b"half").unwrap();
        let metrics = broken.0.join("metrics.jsonl");
        let text = fs::read_to_string(&metrics).unwrap();
        assert_eq!(text.lines().count() as u64, iteration);
        fs::write(&metrics, text + "{\"iteration\": 7, ").unwrap();
    }
    for (expected, found) in expected.iter().zip(&found) {
        assert_eq!(expected.policy_loss.to_bits(), found.policy_loss.to_bits());
        assert_eq!((expected.gate, expected.exam), (found.gate, found.exam));
        assert_eq!((expected.buffer, expected.pool), (found.buffer, found.pool));
    }
    let network = |folder: &Folder| Network::load(&folder.0.join("networks/000004.safetensors"));
    assert_eq!(network(&whole).unwrap(), network(&broken).unwrap());
}

#[test]
fn runs_are_not_mixed() {
    let folder = Folder::new("mixed");
    assert!(matches!(resume(&folder, None), Err(RunError::NoRun(_))));
    let run = begin(&folder, &parameters(), 1).unwrap();
    assert!(Run::is_active(&folder.0));
    assert!(matches!(resume(&folder, None), Err(RunError::Busy(_))));
    drop(run);
    assert!(!Run::is_active(&folder.0));
    assert!(matches!(begin(&folder, &parameters(), 1), Err(RunError::Exists(_))));
    let mut other = parameters();
    other.learning.rate = 1e-3;
    let error = resume(&folder, Some(&other)).err().unwrap();
    assert!(error.to_string().ends_with("has learning.rate 0.005, not 0.001"), "{error}");
    assert!(resume(&folder, None).is_ok());

    let foreign = Folder::new("foreign");
    fs::create_dir(&foreign.0).unwrap();
    fs::write(foreign.0.join("letter.txt"), b"dear").unwrap();
    assert!(matches!(begin(&foreign, &parameters(), 1), Err(RunError::NotEmpty(_))));
}

#[test]
fn an_interrupted_start_does_not_block_the_next_one() {
    let folder = Folder::new("half");
    fs::create_dir_all(folder.0.join("learner")).unwrap();
    fs::write(folder.0.join("parameters.json.new"), "{").unwrap();
    assert!(begin(&folder, &parameters(), 1).is_ok());
}

#[test]
fn nothing_is_written_to_a_nearly_full_disk() {
    let folder = Folder::new("full");
    drop(begin(&folder, &parameters(), 1).unwrap());
    let resources = Resources { keep_free: u64::MAX / 2, ..Resources::new(1) };
    let error = Run::resume(&folder.0, None, resources, &mut keep_going).err().unwrap();
    assert!(matches!(error, RunError::Disk { .. }), "{error}");
    assert!(error.to_string().contains("too little free disk space: "), "{error}");
}

#[test]
fn a_damaged_file_is_named() {
    let folder = Folder::new("damaged");
    iterate(&mut begin(&folder, &parameters(), 1).unwrap());
    let path = folder.0.join("learner/000001-first.safetensors");
    let bytes = fs::read(&path).unwrap();
    fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
    let error = resume(&folder, None).err().unwrap().to_string();
    assert!(error.contains("000001-first.safetensors"), "{error}");
}

#[test]
fn stopping_keeps_the_last_iteration() {
    let (folder, whole) = (Folder::new("break"), Folder::new("unbroken"));
    let mut run = begin(&folder, &parameters(), 1).unwrap();
    let mut stop = |event: Event<'_>| match event {
        Event::Learning { steps: 3, .. } => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    };
    assert_eq!(run.iterate(&mut stop).unwrap(), None);
    iterate(&mut run);
    assert_eq!(run.iterate(&mut stop).unwrap(), None);
    let second = iterate(&mut run);
    assert_eq!(second.state.iteration, 2);
    let mut run = begin(&whole, &parameters(), 1).unwrap();
    iterate(&mut run);
    assert_eq!(iterate(&mut run).policy_loss.to_bits(), second.policy_loss.to_bits());
    assert_eq!(Run::metrics_of(&folder.0).unwrap().len(), 2);
}

#[test]
fn stopping_before_the_first_iteration_leaves_a_resumable_run() {
    let folder = Folder::new("early");
    let mut stop = |event: Event<'_>| match event {
        Event::PreparingExam { solved: 1.., .. } => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    };
    let mut parameters = parameters();
    parameters.exam.positions = 100_000;
    let run = Run::begin(&folder.0, &parameters, None, Resources::new(2), &mut stop);
    assert!(matches!(run, Err(RunError::Stopped(_))));
    let mut stop = |_: Event<'_>| ControlFlow::Break(());
    let run = Run::resume(&folder.0, Some(&parameters), Resources::new(2), &mut stop);
    assert!(matches!(run, Err(RunError::Stopped(_))));
}

#[test]
fn a_game_that_cannot_be_solved_is_trained_without_an_exam() {
    let folder = Folder::new("lines");
    let mut parameters = parameters();
    parameters.architecture.lines = true;
    let metrics = iterate(&mut begin(&folder, &parameters, 2).unwrap());
    assert_eq!(metrics.exam, None);
    assert!((metrics.moves_per_game - 14.5).abs() < 1.0, "{metrics:?}");
}

#[test]
fn presets_have_names() {
    for name in Parameters::PRESETS {
        let parameters = Parameters::preset(name, Setup::STANDARD).unwrap();
        let text = serde_json::to_string(&parameters).unwrap();
        assert_eq!(serde_json::from_str::<Parameters>(&text).unwrap(), parameters);
    }
    assert_eq!(Parameters::preset("forever", Setup::STANDARD), None);
}

#[test]
fn a_larger_network_starts_with_the_games_and_the_knowledge_of_a_smaller_one() {
    let (small, large, again) = (Folder::new("small"), Folder::new("large"), Folder::new("again"));
    let mut wider = parameters();
    wider.architecture.channels = 16;
    let mut run = begin(&small, &parameters(), 2).unwrap();
    for _ in 0..3 {
        iterate(&mut run);
    }
    let grown = run.player().grown(wider.architecture, wider.seed).unwrap();
    let buffered = files(&small.0.join("samples")).len();

    let mut run = begin_from(&large, &wider, &small.0).unwrap();
    assert_eq!(run.player().tensors(), grown.tensors());
    let learnt: Vec<Metrics> = (0..buffered).map(|_| iterate(&mut run)).collect();
    assert!(learnt.iter().all(|metrics| metrics.new_samples > 0 && metrics.state.games == 0));
    assert!(learnt[buffered - 1].policy_loss < learnt[0].policy_loss, "{learnt:?}");
    assert_eq!(files(&large.0.join("inherited")), [""; 0]);
    assert_eq!(iterate(&mut run).state.games, 60);
    let last = run.player().clone();

    // An interruption in the middle changes nothing.
    let mut run = begin_from(&again, &wider, &small.0).unwrap();
    iterate(&mut run);
    drop(run);
    let mut run = resume(&again, Some(&wider)).unwrap();
    for _ in 0..buffered {
        iterate(&mut run);
    }
    assert_eq!(*run.player(), last);
}

#[test]
fn training_can_start_from_a_network() {
    let [folder, again, rejected] = ["network", "network-again", "network-shape"].map(Folder::new);
    let first = Network::new(parameters().architecture, 77).unwrap();
    let path = std::env::temp_dir().join(format!("claimeven-initial-{}", std::process::id()));
    first.save(&path).unwrap();
    let mut unchanged = parameters();
    unchanged.learning.passes = 0.0;
    let mut run = begin_from(&folder, &unchanged, &path).unwrap();
    assert_eq!(*run.player(), first);
    iterate(&mut run);
    assert_eq!(run.player().tensors(), first.tensors());

    // The run keeps a copy, from which it restarts before its first iteration.
    drop(begin_from(&again, &parameters(), &path).unwrap());
    let mut narrower = parameters();
    narrower.architecture.channels = 4;
    let error = begin_from(&rejected, &narrower, &path).err().unwrap();
    assert!(error.to_string().ends_with("a network of a different shape"), "{error}");
    fs::remove_file(&path).unwrap();
    assert_eq!(*resume(&again, None).unwrap().player(), first);
}

#[test]
fn games_on_another_board_are_rejected() {
    let (folder, other) = (Folder::new("board"), Folder::new("other-board"));
    drop(begin(&other, &parameters(), 2).unwrap());
    let standard = Parameters::ten_minutes(Setup::STANDARD);
    let error = begin_from(&folder, &standard, &other.0).err().unwrap();
    assert!(error.to_string().contains("is for 4x4, connect 3"), "{error}");
    assert!(!folder.0.exists());
}
