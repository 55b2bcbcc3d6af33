//! Players measured against exact scores.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use claimeven_arena::{TestSet, evaluate};
use claimeven_game::{Position, Setup};
use claimeven_search::{
    Agent, AgentError, AlphaBeta, Decision, Limits, Random, SearchStats, Value,
};
use claimeven_solver::{Options, Solver, embedded_books};

/// Plays by exact scores.
struct Exact(Solver);

impl Agent for Exact {
    fn decide(&mut self, position: &Position, _: &Limits) -> Result<Decision, AgentError> {
        let pv = self.0.principal_variation(position).expect("the standard game is solvable");
        Ok(Decision {
            column: pv[0],
            value: Value::Draw,
            columns: vec![None; 7],
            shares: Vec::new(),
            pv,
            stats: SearchStats::default(),
            time: std::time::Duration::from_millis(1),
            stopped: false,
        })
    }
}

fn exact() -> Box<dyn Agent> {
    Box::new(Exact(Solver::new(Options::default().with_books(embedded_books()))))
}

#[test]
fn better_players_make_fewer_errors() {
    let set = TestSet::random(Setup::STANDARD, 60, 18..=26, 5, 2).unwrap();
    let limits = Limits::default();
    let moves = AtomicU64::new(0);
    let count = || {
        moves.fetch_add(1, Ordering::Relaxed);
    };
    let perfect = evaluate(|| Ok(exact()), &set, &limits, 2, count).unwrap();
    assert_eq!(moves.into_inner(), 60);
    assert_eq!((perfect.positions, perfect.errors(), perfect.best_moves), (60, 0, 60));
    assert!((perfect.seconds - 1e-3).abs() < 1e-9);

    let random = evaluate(|| Ok(Box::new(Random::default())), &set, &limits, 2, || ()).unwrap();
    let searching =
        evaluate(|| Ok(Box::new(AlphaBeta::default())), &set, &limits, 1, || ()).unwrap();
    assert!(random.errors() > searching.errors(), "{random:?} {searching:?}");
    assert!(random.best_moves < searching.best_moves);
    assert_eq!(
        random,
        evaluate(|| Ok(Box::new(Random::default())), &set, &limits, 1, || ())
            .map(|again| claimeven_arena::Strength { seconds: random.seconds, ..again })
            .unwrap()
    );
}

#[test]
fn sets_are_read_and_errors_name_the_line() {
    let path = std::env::temp_dir().join(format!("claimeven-set-{}", std::process::id()));
    std::fs::write(&path, "13712 3\n\n3246313 -2\n").unwrap();
    assert_eq!(TestSet::load(&path, Setup::STANDARD).unwrap().len(), 2);
    std::fs::write(&path, "13712 3\n1x 3\n").unwrap();
    let error = TestSet::load(&path, Setup::STANDARD).unwrap_err().to_string();
    assert!(error.ends_with("line 2 is not 'moves score': '1x 3'"), "{error}");
    std::fs::remove_file(path).unwrap();
}

#[test]
fn public_sets_are_read_from_their_folder() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/testdata");
    if folder.exists() {
        let set = TestSet::load(&folder.join("Test_L3_R1"), Setup::STANDARD).unwrap();
        assert_eq!(set.len(), 1000);
        let strength =
            evaluate(|| Ok(exact()), &set.truncated(20), &Limits::default(), 1, || ()).unwrap();
        assert_eq!((strength.errors(), strength.best_moves), (0, 20));
    }
}
