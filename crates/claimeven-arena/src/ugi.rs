//! The server side of the Universal Game Interface, for the built-in players.
//!
//! <https://github.com/kz04px/cutegames/blob/master/ugi.md> describes the protocol. Moves are
//! written as in move text, separated by spaces; `fen` is not supported.

use std::io::{self, BufRead, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, Scope, ScopedJoinHandle};
use std::time::Duration;

use claimeven_game::{Game, Outcome, Player, Ruleset, Setup};
use claimeven_search::{Agent, AgentError, Decision, Limits, Value};

use crate::game::Clock;
use crate::roster::AgentSpec;

/// Answers commands until `quit` or the end of the input.
///
/// ```
/// let input = "ugi\nposition startpos moves 4 4 4\nquery p1turn\ngo depth 2\n";
/// let mut output = Vec::new();
/// let agent = "alphabeta:depth=4".parse().unwrap();
/// let setup = claimeven_game::Setup::STANDARD;
/// claimeven_arena::run_ugi(input.as_bytes(), &mut output, agent, setup).unwrap();
/// let output = String::from_utf8(output).unwrap();
/// assert!(output.contains("\nugiok\nresponse false\n"), "{output}");
/// assert!(output.ends_with("\nbestmove 4\n"), "{output}");
/// ```
pub fn run_ugi(
    input: impl BufRead,
    output: impl Write + Send,
    agent: AgentSpec,
    setup: Setup,
) -> io::Result<()> {
    let output = Mutex::new(output);
    thread::scope(|scope| {
        let mut session = Session {
            output: &output,
            options: Options::new(agent, setup),
            game: Game::new(setup),
            player: None,
            search: None,
        };
        for line in input.split(b'\n') {
            let line = String::from_utf8_lossy(&line?).into_owned();
            if line.trim() == "quit" {
                session.stop();
                break;
            }
            session.answer(&line, scope)?;
        }
        session.finish().unwrap_or(Ok(()))
    })
}

struct Session<'scope, W> {
    output: &'scope Mutex<W>,
    options: Options,
    game: Game,
    /// Kept from move to move; `None` before the first search and during a search.
    player: Option<Box<dyn Agent>>,
    search: Option<Search<'scope>>,
}

/// A running search.
struct Search<'scope> {
    cancel: Arc<AtomicBool>,
    is_infinite: bool,
    thread: ScopedJoinHandle<'scope, Searched>,
}

/// A finished search.
struct Searched {
    player: Box<dyn Agent>,
    written: io::Result<()>,
}

impl<'scope, W: Write + Send> Session<'scope, W> {
    fn answer<'env>(&mut self, line: &str, scope: &'scope Scope<'scope, 'env>) -> io::Result<()> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let done = match words[..] {
            [] => Ok(()),
            ["ugi"] => return self.introduce(),
            ["isready"] => return self.send("readyok"),
            ["query", question] => return self.respond(question),
            ["stop"] => {
                self.stop();
                Ok(())
            }
            ["uginewgame"] => self.new_game(),
            ["setoption", "name", name, "value", ..] => {
                let value = line.split_once(" value ").map_or("", |(_, value)| value.trim());
                self.set_option(name, value)
            }
            ["position", "startpos", ref rest @ ..] => self.set_position(rest),
            ["position", ..] => Err("only 'position startpos moves …' is supported".to_owned()),
            ["go", ref rest @ ..] => self.go(rest, scope),
            [word, ..] => Err(format!("unknown command {word:?}")),
        };
        match done {
            Ok(()) => Ok(()),
            Err(message) => self.send(&format!("info string error: {message}")),
        }
    }

    fn introduce(&self) -> io::Result<()> {
        let Options { agent, cols, rows, connect, ruleset, seed } = &self.options;
        let max = Setup::MAX_SIDE;
        let lines = [
            format!("id name Claimeven {}", env!("CARGO_PKG_VERSION")),
            "id author the Claimeven authors".to_owned(),
            format!("option name agent type string default {agent}"),
            format!("option name cols type spin default {cols} min 1 max {max}"),
            format!("option name rows type spin default {rows} min 1 max {max}"),
            format!("option name connect type spin default {connect} min 2 max 255"),
            format!(
                "option name ruleset type combo default {ruleset} var {} var {}",
                Ruleset::ALL[0],
                Ruleset::ALL[1]
            ),
            format!("option name seed type spin default {seed} min 0 max {}", u64::MAX),
            "ugiok".to_owned(),
        ];
        self.send(&lines.join("\n"))
    }

    fn respond(&self, question: &str) -> io::Result<()> {
        let position = self.game.position();
        let answer = match (question, position.outcome()) {
            ("gameover", outcome) => outcome.is_some().to_string(),
            ("p1turn", _) => (position.player() == Player::First).to_string(),
            ("result", None) => "none".to_owned(),
            ("result", Some(Outcome::Draw)) => "draw".to_owned(),
            ("result", Some(Outcome::Win(Player::First))) => "p1win".to_owned(),
            ("result", Some(Outcome::Win(Player::Second))) => "p2win".to_owned(),
            _ => return self.send(&format!("info string error: unknown query {question:?}")),
        };
        self.send(&format!("response {answer}"))
    }

    fn new_game(&mut self) -> Result<(), String> {
        self.finish();
        self.player = None;
        self.game = Game::new(self.options.setup()?);
        Ok(())
    }

    fn set_option(&mut self, name: &str, value: &str) -> Result<(), String> {
        self.finish();
        self.options.set(name, value)?;
        self.player = None;
        // The other options of the board may still follow, so the setup is checked only when a
        // position or a search needs it.
        if let Ok(setup) = self.options.setup()
            && setup != self.game.position().setup()
        {
            self.game = Game::new(setup);
        }
        Ok(())
    }

    fn set_position(&mut self, words: &[&str]) -> Result<(), String> {
        self.finish();
        let moves = match words {
            [] => String::new(),
            ["moves", moves @ ..] => moves.concat(),
            [word, ..] => return Err(format!("expected 'moves', not {word:?}")),
        };
        self.game =
            Game::parse(self.options.setup()?, &moves).map_err(|error| error.to_string())?;
        Ok(())
    }

    fn go<'env>(
        &mut self,
        words: &[&str],
        scope: &'scope Scope<'scope, 'env>,
    ) -> Result<(), String> {
        self.finish();
        let setup = self.options.setup()?;
        let position = *self.game.position();
        if position.outcome().is_some() {
            return Err(AgentError::GameOver.to_string());
        }
        let Go { mut limits, is_infinite } = Go::parse(words, position.player())?;
        let mut player = if let Some(player) = self.player.take() {
            player
        } else {
            let built = self.options.agent.build(setup, self.options.seed);
            built.map_err(|error| error.to_string())?
        };
        let cancel = Arc::new(AtomicBool::new(false));
        limits.cancel = Some(Arc::clone(&cancel));
        let output = self.output;
        let thread = scope.spawn(move || {
            let decision = player.decide(&position, &limits);
            let is_cancelled = || limits.cancel.as_ref().is_none_or(|c| c.load(Ordering::Relaxed));
            while is_infinite && !is_cancelled() {
                thread::sleep(Duration::from_millis(2));
            }
            let text = decision.map_or_else(
                |error| format!("info string error: {error}\nbestmove none"),
                |decision| best_move_text(&decision),
            );
            Searched { player, written: send(output, &text) }
        });
        self.search = Some(Search { cancel, is_infinite, thread });
        Ok(())
    }

    /// Stops the search, which then prints its move.
    fn stop(&mut self) {
        if let Some(search) = &self.search {
            search.cancel.store(true, Ordering::Relaxed);
        }
        self.finish();
    }

    /// Waits for the search, unless it has no limit.
    fn finish(&mut self) -> Option<io::Result<()>> {
        let search = self.search.take()?;
        if search.is_infinite {
            search.cancel.store(true, Ordering::Relaxed);
        }
        let searched = search.thread.join().ok()?;
        self.player = Some(searched.player);
        Some(searched.written)
    }

    fn send(&self, text: &str) -> io::Result<()> {
        send(self.output, text)
    }
}

fn send<W: Write>(output: &Mutex<W>, text: &str) -> io::Result<()> {
    let mut output = output.lock().unwrap_or_else(PoisonError::into_inner);
    writeln!(output, "{text}")?;
    output.flush()
}

fn best_move_text(decision: &Decision) -> String {
    let Decision { column, value, pv, stats, time, .. } = decision;
    let score = match *value {
        Value::Win(plies) => format!("mate {}", plies.div_ceil(2)),
        Value::Loss(plies) => format!("mate -{}", plies / 2),
        Value::Draw => "cp 0".to_owned(),
        Value::Points(points) => format!("cp {points}"),
        Value::Expected(result) => format!("cp {:.0}", 200.0 * result - 100.0),
    };
    let pv: String = pv.iter().flat_map(|column| [' ', column.to_char()]).collect();
    let (depth, nodes, ms) = (stats.depth, stats.nodes, time.as_millis());
    format!("info depth {depth} score {score} time {ms} nodes {nodes} pv{pv}\nbestmove {column}")
}

/// The limits of a search.
struct Go {
    limits: Limits,
    is_infinite: bool,
}

impl Go {
    fn parse(words: &[&str], player: Player) -> Result<Go, String> {
        let mut go = Go { limits: Limits::default(), is_infinite: false };
        let (mut left, mut increment) = ([None; 2], [0; 2]);
        let mut words = words.iter();
        while let Some(&name) = words.next() {
            if name == "infinite" {
                go.is_infinite = true;
                continue;
            }
            let value = words.next().copied().unwrap_or("");
            let number: u64 =
                value.parse().map_err(|_| format!("{name} {value:?} is not a whole number"))?;
            match name {
                "p1time" => left[0] = Some(number),
                "p2time" => left[1] = Some(number),
                "p1inc" => increment[0] = number,
                "p2inc" => increment[1] = number,
                "movetime" => go.limits.time = Some(Duration::from_millis(number)),
                "depth" => go.limits.depth = Some(u32::try_from(number).unwrap_or(u32::MAX).max(1)),
                "nodes" => go.limits.nodes = Some(number.max(1)),
                _ => return Err(format!("unknown limit {name:?}")),
            }
        }
        if let Some(left) = left[player.index()] {
            let left = Duration::from_millis(left);
            let increment = Duration::from_millis(increment[player.index()]);
            let budget = Clock { base: left, increment }.budget(left);
            go.limits.time = Some(go.limits.time.map_or(budget, |time| time.min(budget)));
        }
        Ok(go)
    }
}

/// The options. Those of the board are set one by one and may be inconsistent in between.
struct Options {
    agent: AgentSpec,
    cols: u8,
    rows: u8,
    connect: u8,
    ruleset: Ruleset,
    seed: u64,
}

impl Options {
    fn new(agent: AgentSpec, setup: Setup) -> Options {
        Options {
            agent,
            cols: setup.cols(),
            rows: setup.rows(),
            connect: setup.connect(),
            ruleset: setup.ruleset(),
            seed: 0,
        }
    }

    fn setup(&self) -> Result<Setup, String> {
        Setup::new(self.cols, self.rows, self.connect, self.ruleset)
            .map_err(|error| error.to_string())
    }

    fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        let wrong = || format!("{name} cannot be {value:?}");
        let number = || value.parse::<u8>().map_err(|_| wrong());
        match name {
            "agent" => self.agent = value.parse().map_err(|error| format!("{error}"))?,
            "cols" => self.cols = number()?,
            "rows" => self.rows = number()?,
            "connect" => self.connect = number()?,
            "ruleset" => self.ruleset = value.parse().map_err(|error| format!("{error}"))?,
            "seed" => self.seed = value.parse().map_err(|_| wrong())?,
            _ => return Err(format!("unknown option {name:?}")),
        }
        Ok(())
    }
}
