//! Tournaments have the same results regardless of interruptions.

use std::fs;
use std::path::Path;

use claimeven_arena::{GameRecord, Report, Tournament, TournamentError, TournamentPlan};

const PLAN: &str = "\
games = 6
seed = 7
openings = 'random:3'
players = [
  'random',
  { agent = 'minimax:depth=2,ties=random', name = 'two' },
  { agent = 'mcts:sims=30', name = 'tree' },
  'influence',
]
anchor = { player = 'random', elo = 0 }
setup = { cols = 6, rows = 5 }
";

fn plan(text: &str) -> TournamentPlan {
    TournamentPlan::from_toml(text).unwrap()
}

fn run(
    plan: &TournamentPlan,
    journal: Option<&Path>,
    threads: usize,
) -> Result<Report, TournamentError> {
    let results = Tournament::new(plan).unwrap().run(journal, threads, |_| {})?;
    Ok(without_times(results.report(plan)))
}

fn without_times(mut report: Report) -> Report {
    report.players.iter_mut().for_each(|player| player.ms_per_move = 0.0);
    report
}

/// The games of a journal by number, without their times.
fn games(journal: &Path) -> Vec<GameRecord> {
    let text = fs::read_to_string(journal).unwrap();
    let mut games: Vec<GameRecord> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    games.sort_by_key(|game| game.id.parse::<u64>().unwrap());
    for game in &mut games {
        game.time.clear();
        game.moves.iter_mut().for_each(|chosen| chosen.ms = 0.0);
    }
    games
}

#[test]
fn games_do_not_depend_on_the_number_of_threads() {
    let folder = tempfile::tempdir().unwrap();
    let plan = plan(PLAN);
    let path = |threads: usize| folder.path().join(format!("{threads}.jsonl"));
    let alone = run(&plan, Some(&path(1)), 1).unwrap();
    assert_eq!((alone.games, alone.planned), (36, 36));
    assert_eq!(alone.players.last().unwrap().name, "random");
    for threads in [2, 5] {
        assert_eq!(run(&plan, Some(&path(threads)), threads).unwrap(), alone);
        assert_eq!(games(&path(threads)), games(&path(1)));
    }
    assert_eq!(run(&plan, None, 3).unwrap(), alone);
}

#[test]
fn a_journal_truncated_anywhere_can_be_resumed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("games.jsonl");
    let plan = plan(PLAN);
    let whole = run(&plan, Some(&path), 2).unwrap();
    let (content, all) = (fs::read(&path).unwrap(), games(&path));
    let line_ends: Vec<usize> =
        (0..content.len()).filter(|&place| content[place] == b'\n').collect();
    let cuts = [0, 1, line_ends[0], line_ends[0] + 1, line_ends[9] - 1, line_ends[20] + 300];
    for cut in cuts.into_iter().chain([content.len() - 1, content.len()]) {
        fs::write(&path, &content[..cut]).unwrap();
        let kept = line_ends.iter().filter(|&&end| end <= cut).count();
        let tournament = Tournament::new(&plan).unwrap();
        let mut counts = Vec::new();
        let results =
            tournament.run(Some(&path), 2, |results| counts.push(results.games())).unwrap();
        assert_eq!(counts, (kept as u64..=36).collect::<Vec<_>>(), "cut at {cut}");
        assert_eq!(without_times(results.report(&plan)), whole, "cut at {cut}");
        assert_eq!(games(&path), all, "cut at {cut}");
        // The previous contents are unchanged, byte for byte.
        let kept_bytes = line_ends[..kept].last().copied().unwrap_or(0);
        assert_eq!(fs::read(&path).unwrap()[..kept_bytes], content[..kept_bytes]);
    }
}

#[test]
fn a_longer_plan_continues_a_shorter_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("games.jsonl");
    run(&plan(&PLAN.replace("games = 6", "games = 3")), Some(&path), 2).unwrap();
    let before = fs::read(&path).unwrap();
    let longer = plan(PLAN);
    let continued = run(&longer, Some(&path), 2).unwrap();
    assert!(fs::read(&path).unwrap().starts_with(&before));
    assert_eq!(continued, run(&longer, None, 2).unwrap());
}

#[test]
fn a_journal_of_another_plan_is_rejected_and_unchanged() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("games.jsonl");
    run(&plan(PLAN), Some(&path), 2).unwrap();
    let content = fs::read_to_string(&path).unwrap();
    for (old, new, reason) in [
        ("seed = 7", "seed = 8", "differs from the plan in its seed or time control"),
        (
            "seed = 7",
            "seed = 7\nmove_time = 100",
            "differs from the plan in its seed or time control",
        ),
        ("games = 6", "games = 2", "' is not in the plan"),
        ("name = 'two'", "name = 'deux'", "in its player"),
        ("sims=30", "sims=31", "in its player"),
        ("rows = 5", "rows = 6", "in its board"),
        ("random:3", "random:2", "in its opening"),
    ] {
        let error = run(&plan(&PLAN.replace(old, new)), Some(&path), 2).unwrap_err().to_string();
        assert!(error.starts_with("line ") && error.contains(reason), "{new}: {error}");
        assert_eq!(fs::read_to_string(&path).unwrap(), content);
    }
    let first_line = content.lines().next().unwrap();
    for (journal, reason) in [
        (format!("{content}{first_line}\n"), "line 37: game "),
        ("hello\n".to_owned(), "line 1: expected value"),
        (content.replacen("\"column\":", "\"column\":9", 1), "line 1: "),
        (content.replacen("\"version\":1", "\"version\":2", 1), "line 1: "),
    ] {
        fs::write(&path, &journal).unwrap();
        let error = run(&plan(PLAN), Some(&path), 2).unwrap_err().to_string();
        assert!(error.starts_with(reason), "{error}");
        assert_eq!(fs::read_to_string(&path).unwrap(), journal);
    }
}

#[test]
fn two_runs_do_not_share_a_journal() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("games.jsonl");
    let _open = claimeven_arena::Journal::open(&path, |_| Ok(())).unwrap();
    let error = run(&plan(PLAN), Some(&path), 1).unwrap_err();
    assert_eq!(error.to_string(), "another run is writing to the journal");
}

#[test]
fn a_report_counts_every_game_once() {
    // Deterministic players without openings repeat the same two games.
    let plan = plan(
        "games = 8\nopenings = 'none'\nplayers = ['minimax:ties=first,depth=1', 'minimax:ties=first,depth=2']",
    );
    let report = run(&plan, None, 2).unwrap();
    assert_eq!((report.games, report.distinct, report.repeated), (8, 2, 6));
    assert_eq!(report.first_player.games(), 8);
    assert_eq!(report.lengths.iter().map(|length| length.games).sum::<u64>(), 8);
    let points: f64 = report.players.iter().map(|player| player.points).sum();
    assert!((points - 8.0).abs() < 1e-9);
    let [stronger, weaker] = [report.head_to_head[0][1], report.head_to_head[1][0]];
    assert_eq!(
        (stronger.wins, stronger.draws, stronger.losses),
        (weaker.losses, weaker.draws, weaker.wins)
    );
    assert_eq!(report.head_to_head[0][0].games(), 0);
    assert_eq!(report.players[0].moving_first.games(), 4);
}
