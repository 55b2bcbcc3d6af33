//! Other programs as players: correct ones, and all kinds of failures.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use claimeven_arena::{AgentSpec, EndReason, GameRecord, Pairing, TimeControl, play_game};
use claimeven_game::{Ruleset, Setup};

/// A program as a shell script that runs `at_go` for each `go`.
fn engine(at_go: &str) -> AgentSpec {
    let script = format!(
        "while read -r word rest; do case $word in \
         ugi) echo id name test; echo ugiok;; isready) echo readyok;; quit) exit;; \
         go) {at_go};; esac; done"
    );
    shell(&script)
}

fn shell(script: &str) -> AgentSpec {
    let script = script.replace('\\', r"\\").replace('"', r#"\""#);
    format!("ugi:cmd=\"sh -c '{script}'\",ms=20,wait=1500").parse().unwrap()
}

/// A game in which the program moves first.
fn play(engine: &AgentSpec, setup: Setup) -> GameRecord {
    play_against(engine, &"random:seed=1".parse().unwrap(), setup)
}

fn play_against(engine: &AgentSpec, other: &AgentSpec, setup: Setup) -> GameRecord {
    let pairing = Pairing {
        setup,
        players: [engine, other],
        first_player: 0,
        opening: &[],
        seed: 1,
        time: TimeControl::default(),
        memory: None,
    };
    play_game(&pairing, "1".to_owned(), &Arc::new(AtomicBool::new(false))).unwrap().unwrap()
}

/// Checks that the program forfeits and that the record has the reason.
fn forfeits(engine: &AgentSpec, moves: usize, reason: &str) {
    let start = Instant::now();
    let game = play(engine, Setup::STANDARD);
    assert_eq!((game.result.winner, game.result.reason), (Some(1), EndReason::Forfeit), "{reason}");
    assert_eq!(game.moves.len(), moves, "{reason}");
    let detail = game.result.detail.as_deref().unwrap_or_default();
    assert!(detail.starts_with(reason), "{detail:?} is not {reason:?}");
    game.replay().unwrap();
    assert!(start.elapsed() < Duration::from_secs(20), "{reason}");
}

#[test]
fn a_correct_program_plays_to_the_end() {
    // It fills the columns one after another, from the first.
    let game = play(
        &engine("n=$((n + 1)); echo info nodes 7 score cp 12; echo bestmove $(((n + 2) / 3))"),
        Setup::STANDARD,
    );
    assert_ne!(game.result.reason, EndReason::Time);
    assert!(game.moves.len() > 2, "{:?}", game.result);
    assert_eq!((game.moves[0].nodes, game.moves[0].value.as_deref()), (7, Some("+12")));
    game.replay().unwrap();
}

#[test]
fn a_program_that_cannot_be_started_forfeits() {
    let nobody = "ugi:cmd=/no/such/program".parse().unwrap();
    forfeits(&nobody, 0, "cannot start /no/such/program: No such file");
    let unclosed = r#"ugi:cmd="sh -c 'exit""#.parse().unwrap();
    forfeits(&unclosed, 0, "'sh -c 'exit' is not a command");
}

#[test]
fn a_program_that_exits_forfeits() {
    forfeits(&shell("exit 3"), 0, "sh -c 'exit 3': the program exited before");
    forfeits(&engine("exit 3"), 0, "the program exited before sending bestmove (exit status: 3)");
    let later = engine("if [ -n \"$n\" ]; then exit 4; fi; n=1; echo bestmove 4");
    forfeits(&later, 2, "the program exited before sending bestmove (exit status: 4)");
    forfeits(
        &engine("exec 1>&-; read -r rest"),
        0,
        "the program closed its output before sending bestmove",
    );
}

#[test]
fn a_program_that_hangs_forfeits() {
    forfeits(&engine("exec sleep 60"), 0, "timed out waiting for bestmove");
    forfeits(&shell("exec sleep 60"), 0, "sh -c 'exec sleep 60': timed out waiting for ugiok");
}

#[test]
fn a_program_that_plays_an_illegal_move_forfeits() {
    forfeits(
        &engine("echo bestmove 8"),
        0,
        "illegal move \"8\": no column 8: the board has 7 columns",
    );
    forfeits(&engine("echo bestmove 44"), 0, "illegal move \"44\": not a column (1 to 7)");
    forfeits(&engine("echo bestmove"), 0, "illegal move \"\": not a column (1 to 7)");
}

#[test]
fn a_full_column_is_an_illegal_move() {
    let stubborn = engine("echo bestmove 4");
    let game = play_against(&stubborn, &stubborn, Setup::STANDARD);
    assert_eq!(game.move_text(), "444444");
    assert_eq!((game.result.winner, game.result.reason), (Some(1), EndReason::Forfeit));
    assert_eq!(game.result.detail.as_deref(), Some("illegal move \"4\": column 4 is full"));
}

#[test]
fn garbage_is_skipped_but_not_forever() {
    let game = play(
        &engine("printf \"\\377\\000\\n\\ninfo nodes many score\\n%70000d\\n\" 1; echo bestmove 4"),
        Setup::STANDARD,
    );
    assert_eq!(game.moves[0].column, 4);
    assert_eq!(game.moves[0].value.as_deref(), Some("+0"));
    forfeits(&shell("exec yes"), 0, "sh -c 'exec yes': timed out waiting for ugiok");
    forfeits(&engine("exec yes bestmov"), 0, "timed out waiting for bestmove");
}

#[test]
fn a_program_without_board_options_plays_only_the_standard_board() {
    let wide = Setup::new(9, 7, 4, Ruleset::Standard).unwrap();
    let game = play(&engine("echo bestmove 4"), wide);
    let detail = game.result.detail.unwrap();
    assert!(detail.starts_with("sh -c "), "{detail}");
    assert!(
        detail.ends_with("': it has no board options and cannot play 9x7, connect 4, standard"),
        "{detail}"
    );
}
