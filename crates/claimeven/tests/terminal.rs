//! The terminal application in a real pseudo-terminal.
#![cfg(unix)]

use std::io::{Read, Write};
use std::num::NonZero;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use portable_pty::{
    Child, CommandBuilder, ExitStatus, MasterPty, PtySize, SlavePty, native_pty_system,
};
use vt100::{Color, MouseProtocolMode, Parser};

/// The program in a pseudo-terminal.
struct Session {
    screen: Arc<Mutex<Parser>>,
    keyboard: Box<dyn Write + Send>,
    child: Box<dyn Child + Send + Sync>,
    master: Box<dyn MasterPty + Send>,
    /// Kept open, so that the terminal can be examined after the program has exited.
    _slave: Box<dyn SlavePty + Send>,
    /// The settings of the terminal before the program started.
    settings: String,
}

/// Generous, for busy machines; on an idle one, every step takes less than a second.
const TIMEOUT: Duration = Duration::from_secs(90);

impl Session {
    fn start(arguments: &[&str]) -> Session {
        Session::start_in(arguments, 80, 24, &[])
    }

    fn start_in(arguments: &[&str], cols: u16, rows: u16, variables: &[(&str, &str)]) -> Session {
        let size = PtySize { rows, cols, pixel_width: 0, pixel_height: 0 };
        let pair = native_pty_system().openpty(size).unwrap();
        let settings = settings(&*pair.master);
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_claimeven"));
        command.args(arguments);
        for name in ["NO_COLOR", "LC_ALL", "LC_CTYPE", "CLICOLOR", "CLICOLOR_FORCE"] {
            command.env_remove(name);
        }
        command.env("TERM", "xterm-256color");
        command.env("RUST_BACKTRACE", "0");
        command.env("LANG", "C.UTF-8");
        for (name, value) in variables {
            command.env(name, value);
        }
        let child = pair.slave.spawn_command(command).unwrap();
        let screen = Arc::new(Mutex::new(Parser::new(nonzero(rows), nonzero(cols), 0)));
        let mut output = pair.master.try_clone_reader().unwrap();
        let reader = Arc::clone(&screen);
        thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(count @ 1..) = output.read(&mut bytes) {
                reader.lock().unwrap().process(&bytes[..count]);
            }
        });
        let keyboard = pair.master.take_writer().unwrap();
        let (master, slave) = (pair.master, pair.slave);
        Session { screen, keyboard, child, master, _slave: slave, settings }
    }

    fn text(&self) -> String {
        self.screen.lock().unwrap().screen().contents()
    }

    fn wait_until(&self, what: &str, condition: impl Fn(&str) -> bool) {
        let start = Instant::now();
        while !condition(&self.text()) {
            assert!(start.elapsed() < TIMEOUT, "{what}:\n{}", self.text());
            thread::sleep(Duration::from_millis(10));
        }
    }

    fn wait_for(&self, text: &str) {
        self.wait_until(text, |screen| screen.contains(text));
    }

    fn send(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).unwrap();
        self.keyboard.flush().unwrap();
    }

    fn resize(&mut self, cols: u16, rows: u16) {
        self.screen.lock().unwrap().screen_mut().set_size(nonzero(rows), nonzero(cols));
        self.master.resize(PtySize { rows, cols, pixel_width: 0, pixel_height: 0 }).unwrap();
    }

    /// Waits for the exit, and checks that the terminal is restored.
    fn end(mut self) -> (ExitStatus, String) {
        let start = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            assert!(start.elapsed() < TIMEOUT, "it does not exit:\n{}", self.text());
            thread::sleep(Duration::from_millis(10));
        };
        // The last output may not have arrived yet.
        self.wait_until("alternate screen", |_| {
            !self.screen.lock().unwrap().screen().alternate_screen()
        });
        assert_eq!(settings(&*self.master), self.settings, "the terminal was not restored");
        let parser = self.screen.lock().unwrap();
        assert!(!parser.screen().hide_cursor(), "the cursor is hidden");
        assert_eq!(parser.screen().mouse_protocol_mode(), MouseProtocolMode::None);
        (status, parser.screen().contents())
    }
}

fn nonzero(number: u16) -> NonZero<u16> {
    NonZero::new(number).unwrap()
}

/// The line discipline: echo, line by line or raw, and so on.
fn settings(master: &dyn MasterPty) -> String {
    format!("{:?}", master.get_termios().unwrap())
}

#[test]
fn two_people_play_a_whole_game_and_review_it() {
    let mut session = Session::start(&["play", "human", "human"]);
    session.wait_for("Move 1: Red to move");
    for (ply, key) in (1..).zip("121314".chars()) {
        session.send(&key.to_string());
        session.wait_for(&format!("Move {}:", ply + 1));
    }
    session.send("1");
    session.wait_for("Red wins: four in a row");
    // The exact scores appear without a key.
    session.wait_for("blunder");
    session.send("v");
    session.wait_for("7. Red 1: ");
    session.send("\x1b[D");
    session.wait_for("6. Yellow 4: ");
    session.send("vqy");
    assert!(session.end().0.success());
}

#[test]
fn a_position_and_a_move_are_explained_and_play_continues() {
    let mut session = Session::start(&["play", "human", "human"]);
    session.wait_for("Move 1: Red to move");
    for (ply, key) in (1..).zip("445566".chars()) {
        session.send(&key.to_string());
        session.wait_for(&format!("Move {}:", ply + 1));
    }
    session.send("e");
    session.wait_for("Red wins now: column 3 makes four in a row.");
    // Any key closes it, and the next one plays.
    session.send("3");
    session.wait_until("the box is gone", |screen| !screen.contains("Red wins now"));
    session.send("3");
    session.wait_for("Red wins: four in a row");
    session.send("v");
    session.wait_for("7. Red 3: ");
    session.send("w");
    session.wait_for("Press any key to close.");
    session.send(" ");
    session.wait_until("the box is gone", |screen| !screen.contains("Press any key"));
    session.send("vqy");
    assert!(session.end().0.success());
}

#[test]
fn a_game_against_a_program_is_played_to_the_end() {
    let mut session =
        Session::start(&["play", "human", "level:2,seed=3", "--cols", "5", "--rows", "4"]);
    for turn in 0..10 {
        session.wait_until("a turn", |screen| {
            screen.contains(&format!("Move {}:", 2 * turn + 1)) || is_over(screen)
        });
        if is_over(&session.text()) {
            break;
        }
        // Some of these columns may be full; the others take a disc, one after another.
        for key in ["3", "2", "4", "1", "5"] {
            session.send(key);
            let is_next = |screen: &str| !screen.contains(&format!("Move {}:", 2 * turn + 1));
            session.wait_until("a move or a full column", is_next);
            if !session.text().contains("is full") {
                break;
            }
        }
    }
    session.wait_until("the end", is_over);
    session.send("qy");
    assert!(session.end().0.success());
}

fn is_over(screen: &str) -> bool {
    screen.contains(" wins: ") || screen.contains(" Draw")
}

#[test]
fn programs_play_each_other_to_the_end() {
    let mut session = Session::start(&["play", "random:seed=1", "random:seed=2"]);
    session.send("++++");
    session.wait_until("the end", is_over);
    session.send("qy");
    assert!(session.end().0.success());
}

#[test]
fn a_move_is_taken_back_and_played_again() {
    let mut session = Session::start(&["play", "human", "level:3,seed=1"]);
    session.wait_for("Move 1: Red to move");
    session.send("4");
    session.wait_for("Move 3: Red to move");
    session.send("u");
    session.wait_for("Move 1: Red to move");
    session.send("r");
    session.wait_for("Move 3: Red to move");
    session.send("qy");
    assert!(session.end().0.success());
}

#[test]
fn the_window_can_be_resized() {
    let mut session = Session::start(&["play", "human", "human"]);
    session.wait_for("Players");
    session.send("4");
    session.wait_for("Move 2: Yellow to move");
    session.resize(40, 16);
    session.wait_until("a small board", |screen| screen.contains("(●)") && !screen.contains('▟'));
    session.wait_for("Move 2: Yellow to move");
    session.resize(12, 5);
    thread::sleep(Duration::from_millis(300));
    session.resize(120, 40);
    session.wait_until("a large board", |screen| screen.contains("▟████▙"));
    session.send("qy");
    assert!(session.end().0.success());
}

#[test]
fn quitting_does_not_wait_for_a_thinking_program() {
    let mut session = Session::start(&["play", "human", "mcts:sims=10000000"]);
    session.wait_for("Move 1: Red to move");
    session.send("4");
    session.wait_for("is thinking");
    session.wait_until("its thoughts", |screen| screen.contains(" nodes") && screen.contains('%'));
    session.send("q");
    session.wait_for("Quit the game?");
    session.send("y");
    assert!(session.end().0.success());
}

#[test]
fn without_colour_shapes_tell_the_players_apart() {
    let mut session = Session::start_in(&["play", "human", "human"], 80, 24, &[("NO_COLOR", "1")]);
    session.wait_for("Move 1: ● to move");
    session.send("4");
    session.wait_for("Move 2:");
    session.send("5");
    session
        .wait_until("both discs", |screen| screen.contains("Move 3:") && screen.contains("(╭──╮)"));
    assert!(session.text().contains("▟██▙"));
    {
        let parser = session.screen.lock().unwrap();
        let cells = (0..24).flat_map(|row| (0..80).map(move |col| (row, col)));
        for (row, col) in cells {
            let cell = parser.screen().cell(row, col).unwrap();
            assert_eq!((cell.fgcolor(), cell.bgcolor()), (Color::Default, Color::Default));
        }
    }
    session.send("qy");
    assert!(session.end().0.success());
}

#[test]
fn a_locale_without_utf8_gets_ascii() {
    let mut session = Session::start_in(&["play", "human", "human"], 80, 24, &[("LANG", "C")]);
    session.wait_for("Move 1: Red to move");
    session.send("4");
    session.wait_for("Move 2:");
    session.send("?");
    session.wait_for("swap sides");
    assert!(session.text().is_ascii());
    session.send("xqy");
    assert!(session.end().0.success());
}

#[test]
fn control_c_exits_at_once_and_restores_the_terminal() {
    let mut session = Session::start(&["play"]);
    session.wait_for("First player");
    session.send("\x03");
    assert!(session.end().0.success());
}

#[test]
fn a_signal_ends_the_program_and_restores_the_terminal() {
    for signal in ["TERM", "INT", "HUP"] {
        let session = Session::start(&["play", "human", "mcts:sims=10000000"]);
        session.wait_for("Move 1: Red to move");
        let id = session.child.process_id().unwrap().to_string();
        assert!(Command::new("kill").args(["-s", signal, &id]).status().unwrap().success());
        let (status, _) = session.end();
        assert!(status.signal().is_some(), "{signal}: {status:?}");
    }
}

#[test]
fn the_program_exits_when_its_terminal_is_gone() {
    let is_ready = |screen: &str| screen.contains("Move 1: Red to move");
    exits_without_terminal(&["play", "human", "human"], is_ready);
}

#[test]
fn training_ends_and_keeps_its_run_when_its_terminal_is_gone() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    let tiny = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/train/tiny.toml");
    let parameters = run.join("parameters.json");
    let run = run.to_str().unwrap();
    let endless = ["train", "--run", run, "--parameters", tiny, "--iterations", "1000000"];
    // The dashboard is there before the run.
    let is_ready = |screen: &str| screen.contains(" iterations, best ") && parameters.exists();
    exits_without_terminal(&endless, is_ready);
    // It can be resumed.
    let resume = ["train", "--run", run, "--resume", "--iterations", "1", "--plain"];
    let output = Command::new(env!("CARGO_BIN_EXE_claimeven")).args(resume).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Starts a command, waits until it is ready and closes the terminal.
fn exits_without_terminal(arguments: &[&str], is_ready: impl Fn(&str) -> bool) {
    let size = PtySize { rows: 24, cols: 80, pixel_width: 0, pixel_height: 0 };
    let pair = native_pty_system().openpty(size).unwrap();
    let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_claimeven"));
    command.args(arguments);
    command.env("TERM", "xterm-256color");
    let mut child = pair.slave.spawn_command(command).unwrap();
    let mut output = pair.master.try_clone_reader().unwrap();
    let mut parser = Parser::new(nonzero(24), nonzero(80), 0);
    let mut bytes = [0; 4096];
    while !is_ready(&parser.screen().contents()) {
        let count = output.read(&mut bytes).unwrap();
        parser.process(&bytes[..count]);
    }
    // Closes the other end, as when a window is closed.
    drop((output, pair));
    let start = Instant::now();
    while child.try_wait().unwrap().is_none() {
        assert!(start.elapsed() < TIMEOUT, "it does not exit without a terminal");
        thread::sleep(Duration::from_millis(10));
    }
}

#[test]
#[cfg(debug_assertions)]
fn a_panic_is_reported_after_the_terminal_is_restored() {
    let mut session =
        Session::start_in(&["play", "human", "human"], 80, 24, &[("CLAIMEVEN_TEST_PANIC", "1")]);
    session.wait_for("Move 1: Red to move");
    session.send("\x1b[24~");
    let (status, screen) = session.end();
    assert_eq!(status.exit_code(), 101);
    assert!(screen.contains("requested by a test"), "{screen}");
}

#[test]
fn the_start_screen_starts_a_game_and_reports_invalid_fields() {
    let mut session = Session::start(&["play"]);
    session.wait_for("First player");
    session.send("\x1b[B\x7f\x7f\x7f\x7f\x7f\x7f\x7fnobody\r");
    session.wait_for("'nobody'");
    session.send("\x1b[3~human\r");
    session.wait_for("Move 1: Red to move");
    // A click on the last column, and one beside the board.
    session.send("\x1b[<0;42;10M\x1b[<0;42;10m\x1b[<0;79;10M\x1b[<0;79;10m");
    session.wait_for("Move 2: Yellow to move");
    session.send("qy");
    assert!(session.end().0.success());
}

#[test]
fn a_game_is_saved_loaded_and_reviewed() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("games.jsonl");
    let file = file.to_str().unwrap();
    let erase = "\x7f".repeat("games.jsonl".len());
    let mut session = Session::start(&["play", "human", "human"]);
    session.wait_for("Move 1: Red to move");
    session.send("121314");
    session.wait_for("Move 7: Red to move");
    session.send(&format!("s{erase}{file}\r"));
    session.wait_for("Saved to");
    session.send("u");
    session.wait_for("Move 6: Yellow to move");
    session.send(&format!("l{erase}{file}#1\r"));
    session.wait_for("Loaded a game with 6 moves");
    session.send("1");
    session.wait_for("Red wins: four in a row");
    session.send(&format!("s{erase}{file}\r"));
    session.wait_for("Saved to");
    session.send("qy");
    assert!(session.end().0.success());

    let mut session = Session::start(&["review", file]);
    session.wait_for("Review of 7 moves");
    session.send("\x1b[F");
    session.wait_for("7. Red 1: ");
    session.send("q");
    assert!(session.end().0.success());

    let mut session = Session::start(&["play", "--load", file, "--game", "1"]);
    session.wait_for("Move 7: Red to move");
    session.send("qy");
    assert!(session.end().0.success());
}

#[test]
fn a_line_by_line_game_also_works_in_a_terminal() {
    let mut session = Session::start(&["play", "human", "human", "--plain"]);
    session.wait_for("X> ");
    session.send("4\r");
    session.wait_for("O> ");
    session.send("quit\r");
    assert!(session.end().0.success());
}
