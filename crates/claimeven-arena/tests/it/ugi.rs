//! The protocol from the point of view of other programs.

use std::io::{self, BufReader, Read};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use claimeven_arena::run_ugi;
use claimeven_game::Setup;

/// All responses to some lines.
fn answers(agent: &str, lines: &[&str]) -> Vec<String> {
    let mut output = Vec::new();
    let input = lines.join("\n");
    run_ugi(input.as_bytes(), &mut output, agent.parse().unwrap(), Setup::STANDARD).unwrap();
    String::from_utf8(output).unwrap().lines().map(str::to_owned).collect()
}

#[test]
fn it_introduces_itself() {
    let answers = answers("perfect", &["ugi", "isready", "quit"]);
    assert!(answers[0].starts_with("id name Claimeven "));
    assert!(answers.contains(&"option name agent type string default perfect".to_owned()));
    assert!(answers.contains(&"option name cols type spin default 7 min 1 max 35".to_owned()));
    assert_eq!(answers[answers.len() - 2..], ["ugiok", "readyok"]);
}

#[test]
fn queries_are_answered_by_the_rules() {
    for (moves, expected) in [
        ("", ["false", "true", "none"]),
        (" moves 4 4 5", ["false", "false", "none"]),
        (" moves 1 2 1 2 1 2 1", ["true", "false", "p1win"]),
        (" moves 7 1 2 1 2 1 2 1", ["true", "true", "p2win"]),
        (" moves 1212", ["false", "true", "none"]),
    ] {
        let position = format!("position startpos{moves}");
        let answers =
            answers("random", &[&position, "query gameover", "query p1turn", "query result"]);
        assert_eq!(answers, expected.map(|answer| format!("response {answer}")), "{moves}");
    }
}

#[test]
fn a_search_reports_its_result() {
    let answers = answers("alphabeta:depth=6", &["position startpos moves 4 1 4 1 4 1", "go"]);
    assert_eq!(answers.len(), 2, "{answers:?}");
    assert!(answers[0].starts_with("info depth "), "{answers:?}");
    assert!(answers[0].contains(" score mate 1 ") && answers[0].ends_with(" pv 4"), "{answers:?}");
    assert_eq!(answers[1], "bestmove 4");
}

#[test]
fn limits_are_obeyed_and_all_go_commands_are_answered() {
    let answers = answers(
        "timed:ms=60000",
        &[
            "go depth 3",
            "go nodes 100",
            "go movetime 10",
            "go p1time 160 p2time 1 p1inc 0 p2inc 0",
            "go infinite",
            "position startpos moves 4",
            "go p1time 1 p2time 160",
        ],
    );
    assert_eq!(answers.iter().filter(|line| line.starts_with("bestmove ")).count(), 6);
}

#[test]
fn options_choose_the_player_and_the_board() {
    let answers = answers(
        "random",
        &[
            "setoption name agent value alphabeta:depth=2,eval=sawwan",
            "setoption name cols value 20",
            "setoption name rows value 5",
            "setoption name ruleset value lines",
            "position startpos moves k k k",
            "query p1turn",
            "go",
        ],
    );
    assert_eq!(answers[0], "response false");
    assert!(answers[1].starts_with("info depth 2 "), "{answers:?}");
}

#[test]
fn unknown_input_is_an_error_and_the_session_continues() {
    for (line, message) in [
        ("hello", "unknown command \"hello\""),
        ("position fen 4", "only 'position startpos moves …' is supported"),
        ("position startpos 4", "expected 'moves', not \"4\""),
        ("position startpos moves 4 8", "move 2, '8': no column 8: the board has 7 columns"),
        ("go fast", "fast \"\" is not a whole number"),
        ("go fast 1", "unknown limit \"fast\""),
        ("go depth -1", "depth \"-1\" is not a whole number"),
        ("query weather", "unknown query \"weather\""),
        ("setoption name cols value 999", "cols cannot be \"999\""),
        ("setoption name hash value 1", "unknown option \"hash\""),
        ("setoption name ruleset value x", "unknown ruleset 'x' (available: standard, lines)"),
    ] {
        let answers = answers("random", &[line, "\u{fffd}", "isready"]);
        assert_eq!(answers[0], format!("info string error: {message}"));
        assert_eq!(answers.last().unwrap(), "readyok");
    }
    let too_large = answers("random", &["setoption name cols value 35", "position startpos", "go"]);
    assert!(too_large.iter().all(|line| line.contains("a 35x6 board is too large")));
    let over = answers("random", &["position startpos moves 1212121", "go"]);
    assert_eq!(over, ["info string error: the game is over"]);
}

#[test]
fn a_running_search_can_be_stopped_and_isready_is_answered_meanwhile() {
    let (commands, input) = channel();
    let output = Shared::default();
    let session = {
        let output = output.clone();
        thread::spawn(move || {
            let input = BufReader::new(Lines { input, left: Vec::new() });
            run_ugi(input, output, "timed:ms=3600000".parse().unwrap(), Setup::STANDARD).unwrap();
        })
    };
    send(&commands, "position startpos\ngo infinite\nisready\n");
    while !output.text().contains("readyok\n") {
        thread::sleep(Duration::from_millis(5));
    }
    assert!(!output.text().contains("bestmove"), "{}", output.text());
    send(&commands, "stop\n");
    while !output.text().contains("bestmove") {
        thread::sleep(Duration::from_millis(5));
    }
    send(&commands, "go infinite\nquit\n");
    session.join().unwrap();
    assert_eq!(output.text().matches("bestmove ").count(), 2);
}

fn send(commands: &Sender<String>, text: &str) {
    commands.send(text.to_owned()).unwrap();
}

/// An input that blocks until something is sent.
struct Lines {
    input: Receiver<String>,
    left: Vec<u8>,
}

impl Read for Lines {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.left.is_empty() {
            self.left = self.input.recv().unwrap_or_default().into_bytes();
        }
        let count = self.left.len().min(buffer.len());
        buffer[..count].copy_from_slice(&self.left[..count]);
        self.left.drain(..count);
        Ok(count)
    }
}

/// An output that can be read while it is written.
#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl Shared {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

impl io::Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
