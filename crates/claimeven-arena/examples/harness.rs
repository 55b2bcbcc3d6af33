//! The overhead of matches, without the players' searches: `cargo xtask bench arena`.
//!
//! The overhead is the time of a match on one thread minus the times that its players report: the
//! construction of players, the rules, the records and the statistics. Times are wall-clock times,
//! so other load on the machine affects both.

use std::error::Error;
use std::time::Instant;

use claimeven_arena::{AgentSpec, Match, Openings, Tournament, TournamentPlan};
use claimeven_game::Setup;

fn main() -> Result<(), Box<dyn Error>> {
    let cores = std::thread::available_parallelism().map_or(1, Into::into);
    println!("random against random, whole games from the empty board");
    for threads in [1, cores] {
        let (games, seconds, _) =
            play_match(["random", "random"], &Openings::None, 20_000, threads)?;
        println!("  {threads} threads: {:.0} games a second", games as f64 / seconds);
    }

    println!("\ntime outside of the players, one thread, games from balanced openings");
    for (players, games) in [
        (["alphabeta:depth=4", "alphabeta:depth=3"], 2000),
        (["alphabeta:depth=6", "alphabeta:depth=5"], 1000),
        (["alphabeta:depth=8", "alphabeta:depth=7"], 200),
        (["mcts:sims=1000", "mcts:sims=500"], 200),
    ] {
        let (games, seconds, thinking) = play_match(players, &Openings::Balanced(6), games, 1)?;
        print_overhead(&players.join(" against "), games, seconds, thinking);
    }

    // The same with everything that a tournament adds: the schedule, results and a journal on disk.
    let plan = TournamentPlan::from_toml(
        "players = ['alphabeta:depth=6', 'alphabeta:depth=5']\ngames = 1000\nopenings = 'balanced:6'",
    )?;
    let tournament = Tournament::new(&plan)?;
    let folder = tempfile::tempdir()?;
    let start = Instant::now();
    let results = tournament.run(Some(&folder.path().join("games.jsonl")), 1, |_| {})?;
    let seconds = start.elapsed().as_secs_f64();
    let report = results.report(&plan);
    assert_eq!(report.games, 1000);
    let thinking =
        report.players.iter().map(|player| player.ms_per_move * player.moves as f64 / 1e3).sum();
    print_overhead(
        "a tournament with a journal of depths 6 and 5",
        report.games,
        seconds,
        thinking,
    );
    Ok(())
}

/// Plays a match; returns the number of games, their seconds, and the seconds of the players'
/// searches.
fn play_match(
    players: [&str; 2],
    openings: &Openings,
    games: u64,
    threads: usize,
) -> Result<(u64, f64, f64), Box<dyn Error>> {
    let [first, second]: [AgentSpec; 2] = [players[0].parse()?, players[1].parse()?];
    // Choosing the openings is not measured.
    let openings = openings.choose(Setup::STANDARD, games as usize / 2, 1)?;
    let planned = Match::new(Setup::STANDARD, [&first, &second], &openings)
        .with_pairs(games / 2)
        .with_threads(threads);
    let start = Instant::now();
    let status = planned.run(|_, _| {})?;
    let seconds = start.elapsed().as_secs_f64();
    assert_eq!(status.games(), games);
    let thinking = status.stats.iter().map(|stats| stats.ms / 1e3).sum();
    Ok((games, seconds, thinking))
}

fn print_overhead(what: &str, games: u64, seconds: f64, thinking: f64) {
    let outside = seconds - thinking;
    println!(
        "  {what}: {games} games, {seconds:.2} s, {:.2} % or {:.0} us a game outside",
        100.0 * outside / seconds,
        1e6 * outside / games as f64
    );
}
