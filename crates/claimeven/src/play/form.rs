//! Forms of text fields with suggestions: the start screen and the choice of players.

use std::time::Duration;

use claimeven_arena::{Clock, Participant};
use claimeven_game::{Player, Ruleset, Setup};
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::session::GameSession;

/// Text fields, one of which has the focus.
#[derive(Clone, Debug)]
pub(crate) struct Form {
    pub(crate) fields: Vec<Field>,
    pub(crate) at: usize,
    pub(crate) error: Option<String>,
}

/// A text field.
#[derive(Clone, Debug)]
pub(crate) struct Field {
    pub(crate) label: &'static str,
    pub(crate) text: String,
    suggestions: &'static [&'static str],
}

/// The effect of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    Edit,
    Accept,
    Cancel,
    Help,
}

/// Suggested players; others can be typed.
const PLAYERS: &[&str] = &[
    "human",
    "level:1",
    "level:2",
    "level:3",
    "level:4",
    "level:5",
    "level:6",
    "level:7",
    "level:8",
    "level:9",
    "level:10",
    "random",
    "influence",
    "minimax:depth=4",
    "alphabeta:depth=8",
    "mtdf:depth=10",
    "timed:ms=1000",
    "mcts:sims=10000",
    "zero",
    "perfect",
];
const SIZES: &[&str] = &["7x6", "4x5", "5x4", "6x5", "8x7", "9x7", "10x10"];
const CONNECTS: &[&str] = &["3", "4", "5"];
const RULESETS: &[&str] = &["standard", "lines"];
const CLOCKS: &[&str] = &["none", "30", "60+1", "180+2", "300", "600+5"];

impl Form {
    /// The form of the start screen.
    pub(crate) fn start(setup: Setup, seats: &[Participant; 2], clock: Option<Clock>) -> Form {
        let [first, second] = seats;
        let size = format!("{}x{}", setup.cols(), setup.rows());
        Form::new(vec![
            Field::new("First player", first.to_string(), PLAYERS),
            Field::new("Second player", second.to_string(), PLAYERS),
            Field::new("Board", size, SIZES),
            Field::new("In a row", setup.connect().to_string(), CONNECTS),
            Field::new("Ruleset", setup.ruleset().to_string(), RULESETS),
            Field::new("Clock", clock.map_or("none".to_owned(), clock_text), CLOCKS),
        ])
    }

    /// The players of a session.
    pub(crate) fn players(session: &GameSession) -> Form {
        let [first, second] = session.seats();
        Form::new(vec![
            Field::new("First player", without_seed(first), PLAYERS),
            Field::new("Second player", without_seed(second), PLAYERS),
        ])
    }

    fn new(fields: Vec<Field>) -> Form {
        Form { fields, at: 0, error: None }
    }

    pub(crate) fn key(&mut self, key: KeyEvent) -> Action {
        let count = self.fields.len();
        let field = &mut self.fields[self.at];
        if key.modifiers.contains(KeyModifiers::CONTROL) {
            if key.code == KeyCode::Char('u') {
                field.text.clear();
                self.error = None;
            }
            return Action::Edit;
        }
        match key.code {
            KeyCode::Char('?') | KeyCode::F(1) => return Action::Help,
            KeyCode::Esc => return Action::Cancel,
            KeyCode::Enter => return Action::Accept,
            KeyCode::Down | KeyCode::Tab => self.at = (self.at + 1) % count,
            KeyCode::Up | KeyCode::BackTab => self.at = (self.at + count - 1) % count,
            KeyCode::Left => field.suggest(-1),
            KeyCode::Right => field.suggest(1),
            KeyCode::Backspace => {
                field.text.pop();
            }
            KeyCode::Delete => field.text.clear(),
            KeyCode::Char(character) if field.text.len() < 200 => field.text.push(character),
            _ => {}
        }
        self.error = None;
        Action::Edit
    }

    /// The players of the first two fields.
    pub(crate) fn seats(&self) -> Result<[Participant; 2], String> {
        let seat = |index: usize| {
            let text = self.fields[index].text.trim();
            text.parse::<Participant>().map_err(|error| error.to_string())
        };
        Ok([seat(0)?, seat(1)?])
    }

    /// The session that the start form describes.
    pub(crate) fn session(&self) -> Result<GameSession, String> {
        let text = |index: usize| self.fields[index].text.trim();
        let number =
            |text: &str| text.trim().parse::<u8>().map_err(|_| format!("invalid number '{text}'"));
        let size = text(2);
        let (cols, rows) = size.split_once('x').ok_or_else(|| {
            format!("invalid board '{size}': expected columns x rows, such as 7x6")
        })?;
        let ruleset: Ruleset = text(4).parse().map_err(|error| format!("{error}"))?;
        let setup = Setup::new(number(cols)?, number(rows)?, number(text(3))?, ruleset)
            .map_err(|error| error.to_string())?;
        let clock = match text(5) {
            "none" | "" => None,
            text => Some(text.parse::<Clock>().map_err(|error| format!("clock: {error}"))?),
        };
        GameSession::new(setup, self.seats()?, clock).map_err(|failure| failure.message())
    }
}

impl Field {
    fn new(label: &'static str, text: String, suggestions: &'static [&'static str]) -> Field {
        Field { label, text, suggestions }
    }

    /// Selects the next or the previous suggestion.
    fn suggest(&mut self, step: isize) {
        let count = self.suggestions.len();
        let here = self.suggestions.iter().position(|suggestion| *suggestion == self.text);
        let next = match (here, step) {
            (Some(here), _) => (here + count).wrapping_add_signed(step) % count,
            (None, 1..) => 0,
            (None, _) => count - 1,
        };
        self.suggestions[next].clone_into(&mut self.text);
    }
}

/// The player without its seed.
pub(crate) fn without_seed(seat: &Participant) -> String {
    let text = seat.to_string();
    match text.rfind("seed=") {
        Some(start) => text[..start].trim_end_matches([',', ':']).to_owned(),
        None => text,
    }
}

/// The name of a player on the screen.
pub(crate) fn name(session: &GameSession, player: Player) -> String {
    without_seed(session.seat(player))
}

fn clock_text(clock: Clock) -> String {
    let seconds = |time: Duration| time.as_secs_f64().to_string();
    match clock.increment {
        Duration::ZERO => seconds(clock.base),
        increment => format!("{}+{}", seconds(clock.base), seconds(increment)),
    }
}
