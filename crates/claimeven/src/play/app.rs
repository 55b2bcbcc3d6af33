//! What is on the screen, and what keys do to it.
//!
//! Nothing here draws, waits, opens a file or starts a thread. The loop tells the state what
//! happened, and asks it what is to be thought about.

use std::path::PathBuf;
use std::time::Duration;

use claimeven_arena::{AgentSpec, Reason, Review, Seat};
use claimeven_game::{Column, Game, Player, Ruleset, Setup};
use claimeven_search::{Decision, Thought, Value};
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::layout::Rect;

use super::form::{Done, Form};
use super::layout::Layout;
use super::table::{Played, Table};

/// The whole state of the terminal application.
pub(crate) struct App {
    pub(crate) table: Table,
    pub(crate) screen: Screen,
    pub(crate) popup: Option<Popup>,
    /// The column under the hover disc.
    pub(crate) cursor: usize,
    pub(crate) fall: Option<Fall>,
    /// Whose opinion on the columns is on show.
    pub(crate) opinion: Source,
    /// The last opinion, and the game it is of.
    pub(crate) told: Option<Told>,
    pub(crate) hint: Hint,
    /// What positions were said to be worth to the first player, by ply: -1 to 1.
    pub(crate) evaluations: Vec<Option<f64>>,
    /// What the player to move is thinking, or has thought last.
    pub(crate) thinking: Option<Thinking>,
    pub(crate) review: Option<Reviewed>,
    pub(crate) paused: bool,
    /// Moves that programs may make though they are paused.
    steps: u32,
    /// The time between two moves of programs that play each other.
    pub(crate) pace: Duration,
    pub(crate) message: Option<String>,
    /// Time since the application began.
    pub(crate) now: Duration,
    pub(crate) turn_began: Duration,
    /// A move that was decided before it was time to show it.
    pending: Option<Decision>,
    pub(crate) size: Rect,
    pub(crate) is_done: bool,
    /// Whether the program was started for the review alone.
    only_review: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Screen {
    Start,
    Game,
    /// The position after so many moves, and what is to be said of the last of them.
    Review(usize),
}

#[derive(Clone, Debug)]
pub(crate) enum Popup {
    Help,
    Confirm(Question),
    Players(Form),
    Input(Purpose, Input),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Question {
    Quit,
    Resign,
    New,
}

/// What a text is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    Save,
    Load,
    Opinion,
}

/// A text being typed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Input {
    pub(crate) text: String,
    pub(crate) error: Option<String>,
}

/// A disc on its way down.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fall {
    pub(crate) column: Column,
    pub(crate) began: Duration,
}

/// Whose opinion on the columns is on show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    Nobody,
    Truth,
    Agent(AgentSpec),
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Told {
    pub(crate) by: AgentSpec,
    game: Game,
    pub(crate) decision: Result<Decision, String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hint {
    None,
    Wanted,
    Given(Column),
}

#[derive(Clone, Debug)]
pub(crate) struct Thinking {
    pub(crate) player: Player,
    pub(crate) thought: Thought,
    pub(crate) time: Duration,
    pub(crate) is_over: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Reviewed {
    game: Game,
    pub(crate) review: Review,
}

/// What only the loop can do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    Save(PathBuf),
    Load(String),
}

/// Something to be thought about.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Job {
    pub(crate) task: Task,
    pub(crate) game: Game,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Task {
    /// The move of the player who is to move.
    Move(AgentSpec),
    /// What somebody says of all columns.
    Opinion(AgentSpec),
    Review,
}

/// What is thought about at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Slot {
    Move,
    Opinion,
    Review,
}

impl Slot {
    pub(crate) const ALL: [Slot; 3] = [Slot::Move, Slot::Opinion, Slot::Review];
}

/// How long a disc takes for a row.
const ROW_TIME: Duration = Duration::from_millis(45);

/// The times between two moves of programs that keys choose from, from fast to slow.
const PACES: [Duration; 6] = [
    Duration::ZERO,
    Duration::from_millis(200),
    Duration::from_millis(500),
    Duration::from_secs(1),
    Duration::from_secs(2),
    Duration::from_secs(4),
];

/// The time between two moves of programs when nobody has chosen another.
pub(crate) const DEFAULT_PACE: Duration = PACES[2];

/// How long the exact truth is looked for where it may be out of reach.
pub(crate) const TRUTH_TIME: Duration = Duration::from_secs(10);

impl App {
    pub(crate) fn new(table: Table, screen: Screen) -> App {
        let mut app = App {
            cursor: usize::from(table.setup().cols() - 1) / 2,
            table,
            screen,
            popup: None,
            fall: None,
            opinion: Source::Nobody,
            told: None,
            hint: Hint::None,
            evaluations: Vec::new(),
            thinking: None,
            review: None,
            paused: false,
            steps: 0,
            pace: DEFAULT_PACE,
            message: None,
            now: Duration::ZERO,
            turn_began: Duration::ZERO,
            pending: None,
            size: Rect::new(0, 0, 80, 24),
            is_done: false,
            only_review: matches!(screen, Screen::Review(_)),
        };
        if screen == Screen::Start {
            app.show_start();
        }
        app
    }

    /// The form that the start screen shows.
    pub(crate) fn start_form(&self) -> Form {
        let seats = [0, 1].map(|index| {
            let seat = &self.table.seats()[index];
            super::form::without_seed(seat).parse().unwrap_or(Seat::Human)
        });
        Form::start(self.table.setup(), &seats, self.table.clock())
    }

    /// The position on the board: that of the game, or an earlier one in a review.
    pub(crate) fn shown(&self) -> Game {
        let mut game = self.table.game().clone();
        if let Screen::Review(ply) = self.screen {
            while game.moves().len() > ply {
                game.undo();
            }
        }
        game
    }

    /// The review of the game as it is now, if there is one.
    pub(crate) fn current_review(&self) -> Option<&Review> {
        let reviewed = self.review.as_ref()?;
        (reviewed.game == *self.table.game()).then_some(&reviewed.review)
    }

    /// What is said of the position on the table.
    pub(crate) fn current_opinion(&self) -> Option<&Told> {
        self.told.as_ref().filter(|told| told.game == *self.table.game())
    }

    /// Where the falling disc is: its column and how many rows it has fallen, if it still falls.
    pub(crate) fn falling(&self) -> Option<(Column, u32)> {
        let Fall { column, began } = self.fall?;
        let rows = (self.now.saturating_sub(began).as_millis() / ROW_TIME.as_millis()) as u32;
        Some((column, rows))
    }

    /// Whether something moves on the screen.
    pub(crate) fn is_lively(&self) -> bool {
        self.fall.is_some() || self.pending.is_some()
    }

    /// How long the player to move has thought.
    pub(crate) fn turn_time(&self) -> Duration {
        if self.table.is_over() || self.screen != Screen::Game || self.is_held() {
            return Duration::ZERO;
        }
        // Who has decided does not pay for the pace of the screen.
        let since = self.now.saturating_sub(self.turn_began);
        self.pending.as_ref().map_or(since, |decision| decision.time)
    }

    /// Whether programs that play each other wait.
    fn is_held(&self) -> bool {
        self.paused && self.steps == 0 && self.table.agent_to_move().is_some()
    }

    // What is to be thought about.

    /// What a slot is to work on now.
    pub(crate) fn wants(&self, slot: Slot) -> Option<Job> {
        let game = self.table.game();
        let job = |task| Some(Job { task, game: game.clone() });
        match slot {
            Slot::Move if self.screen != Screen::Game => None,
            Slot::Move if self.pending.is_some() || self.is_held() => None,
            Slot::Move => job(Task::Move(self.table.agent_to_move()?.clone())),
            Slot::Opinion if self.screen != Screen::Game || self.table.is_over() => None,
            Slot::Opinion => {
                let by = self.adviser()?;
                let is_known = self.current_opinion().is_some_and(|told| told.by == by);
                if is_known { None } else { job(Task::Opinion(by)) }
            }
            Slot::Review => {
                let is_wanted = match self.screen {
                    Screen::Start => false,
                    Screen::Game => self.table.is_over(),
                    Screen::Review(_) => true,
                };
                let is_known = self.current_review().is_some() || game.moves().is_empty();
                if is_wanted && !is_known { job(Task::Review) } else { None }
            }
        }
    }

    /// How long the player to move may think, by its clock.
    pub(crate) fn move_time(&self) -> Option<Duration> {
        let left = self.table.left(self.table.position().player(), self.turn_time())?;
        Some(self.table.clock()?.budget(left))
    }

    /// Who is asked for what the columns are worth.
    fn adviser(&self) -> Option<AgentSpec> {
        match (&self.opinion, self.hint) {
            (Source::Agent(spec), _) => Some(spec.clone()),
            (Source::Truth, _) => "perfect".parse().ok(),
            (Source::Nobody, Hint::Wanted) => hinter(self.table.setup()).parse().ok(),
            (Source::Nobody, _) => None,
        }
    }

    // What has happened.

    /// Time has passed.
    pub(crate) fn tick(&mut self, now: Duration) {
        self.now = now;
        if let Some((column, rows)) = self.falling() {
            let rows = rows as usize;
            let height = super::layout::height(self.table.position(), column);
            if rows + height > usize::from(self.table.setup().rows()) {
                self.fall = None;
            }
        }
        if self.screen == Screen::Game && self.fall.is_none() && !self.is_held() {
            let since = self.now.saturating_sub(self.turn_began);
            let is_time = self.table.has_human() || since >= self.pace || self.steps > 0;
            if let Some(decision) = self.pending.take_if(|_| is_time) {
                self.steps = self.steps.saturating_sub(1);
                self.play(Played::by_agent(&decision));
            }
        }
        let mover = self.table.position().player();
        if self.table.left(mover, self.turn_time()) == Some(Duration::ZERO) {
            self.table.end(mover, Reason::Time);
            self.pending = None;
        }
    }

    /// A search has got so far.
    pub(crate) fn thought(&mut self, thought: Thought, time: Duration) {
        let player = self.table.position().player();
        self.thinking = Some(Thinking { player, thought, time, is_over: false });
    }

    /// The player to move has decided.
    pub(crate) fn decided(&mut self, decision: Result<Decision, String>) {
        match decision {
            Ok(decision) => {
                self.note(decision.value);
                self.thinking = Some(Thinking {
                    player: self.table.position().player(),
                    thought: decision.thought(),
                    time: decision.time,
                    is_over: true,
                });
                self.pending = Some(decision);
            }
            Err(error) => {
                self.message = Some(error);
                self.table.end(self.table.position().player(), Reason::Forfeit);
            }
        }
    }

    /// Somebody has said what the columns are worth.
    pub(crate) fn advised(&mut self, by: AgentSpec, decision: Result<Decision, String>) {
        if let Ok(decision) = &decision {
            self.note(decision.value);
        }
        if self.hint == Hint::Wanted {
            self.hint = match &decision {
                Ok(decision) => {
                    self.cursor = decision.column.index();
                    self.message =
                        Some(format!("hint: column {}, {}", decision.column, decision.value));
                    Hint::Given(decision.column)
                }
                Err(_) => Hint::None,
            };
        }
        if let Err(error) = &decision {
            self.message = Some(error.clone());
        }
        self.told = Some(Told { by, game: self.table.game().clone(), decision });
    }

    pub(crate) fn reviewed(&mut self, review: Review) {
        self.review = Some(Reviewed { game: self.table.game().clone(), review });
    }

    pub(crate) fn saved(&mut self, path: &std::path::Path, result: Result<(), String>) {
        self.message = Some(match result {
            Ok(()) => format!("saved to {}", path.display()),
            Err(error) => format!("{}: {error}", path.display()),
        });
    }

    pub(crate) fn loaded(&mut self, table: Result<Table, String>) {
        match table {
            Ok(table) => {
                let count = table.game().moves().len();
                self.sit_down(table);
                self.paused = !self.table.has_human();
                self.message = Some(format!("{count} moves loaded"));
            }
            Err(error) => self.message = Some(error),
        }
    }

    /// Takes note of what the position on the table is worth to the side to move.
    fn note(&mut self, value: Value) {
        let position = self.table.position();
        let ply = position.ply() as usize;
        if self.evaluations.len() <= ply {
            self.evaluations.resize(ply + 1, None);
        }
        let worth = share(value);
        self.evaluations[ply] =
            Some(if position.player() == Player::First { worth } else { -worth });
    }

    /// Begins with another table.
    fn sit_down(&mut self, table: Table) {
        let (size, now) = (self.size, self.now);
        let opinion = self.opinion.clone();
        let paused = self.paused && !table.has_human();
        *self =
            App { size, now, opinion, paused, pace: self.pace, ..App::new(table, Screen::Game) };
        self.turn_began = now;
    }

    fn play(&mut self, played: Played) {
        let column = played.column;
        match self.table.play(played) {
            Ok(()) => {
                self.fall = Some(Fall { column, began: self.now });
                self.new_turn();
                self.message = None;
            }
            Err(error) => self.message = Some(error.to_string()),
        }
    }

    /// Another position is on the table.
    fn new_turn(&mut self) {
        self.turn_began = self.now;
        self.pending = None;
        self.hint = Hint::None;
        self.evaluations.truncate(self.table.game().moves().len() + 1);
    }

    // What keys do.

    /// A key was pressed.
    pub(crate) fn key(&mut self, key: KeyEvent) -> Option<Effect> {
        if key.modifiers.contains(KeyModifiers::CONTROL) {
            self.is_done |= matches!(key.code, KeyCode::Char('c' | 'C'));
            return None;
        }
        if let Some(popup) = self.popup.take() {
            return self.popup_key(popup, key);
        }
        match self.screen {
            Screen::Start => {
                self.popup = Some(Popup::Players(self.start_form()));
                None
            }
            Screen::Game => {
                self.game_key(key);
                None
            }
            Screen::Review(ply) => {
                self.review_key(ply, key);
                None
            }
        }
    }

    /// The mouse points at a place of the screen, and may have been pressed there.
    pub(crate) fn mouse(&mut self, x: u16, y: u16, is_press: bool) {
        if self.popup.is_some() || self.screen != Screen::Game {
            return;
        }
        let layout = Layout::of(self.size, self.table.setup());
        if let Some(column) = layout.column_at(x, y) {
            self.cursor = column;
            if is_press {
                self.drop_disc(column);
            }
        }
    }

    fn game_key(&mut self, key: KeyEvent) {
        let cols = usize::from(self.table.setup().cols());
        match key.code {
            KeyCode::Char('?') | KeyCode::F(1) => self.popup = Some(Popup::Help),
            KeyCode::Char('q') | KeyCode::Esc => {
                self.popup = Some(Popup::Confirm(Question::Quit));
            }
            KeyCode::Left => self.cursor = (self.cursor + cols - 1) % cols,
            KeyCode::Right => self.cursor = (self.cursor + 1) % cols,
            KeyCode::Home => self.cursor = 0,
            KeyCode::End => self.cursor = cols - 1,
            KeyCode::Enter | KeyCode::Down | KeyCode::Char(' ') => self.drop_disc(self.cursor),
            // Small letters are commands, so the columns beyond the ninth are capital ones.
            KeyCode::Char(name @ ('1'..='9' | 'A'..='Z')) => {
                if let Some(column) = Column::from_char(name.to_ascii_lowercase()) {
                    if column.index() < cols {
                        self.cursor = column.index();
                    }
                    self.drop_disc(column.index());
                }
            }
            KeyCode::Char('u') => self.undo(),
            KeyCode::Char('r') => self.redo(),
            KeyCode::Char('h') if !self.table.is_over() => {
                self.hint = Hint::Wanted;
                self.message = Some("looking for a hint".to_owned());
                // An opinion that is already there is as good as a new one.
                if let Some(Told { by, decision, .. }) = self.current_opinion().cloned() {
                    self.advised(by, decision);
                }
            }
            KeyCode::Char('n') => {
                if self.table.is_over() || self.table.played().is_empty() {
                    self.show_start();
                } else {
                    self.popup = Some(Popup::Confirm(Question::New));
                }
            }
            KeyCode::Char('g') if !self.table.is_over() => match self.table.resigner() {
                Some(_) => self.popup = Some(Popup::Confirm(Question::Resign)),
                None => self.message = Some("no person plays who could give up".to_owned()),
            },
            KeyCode::Char('x') => {
                self.table.switch_sides();
                self.new_turn();
            }
            KeyCode::Char('o') => {
                self.popup = Some(Popup::Players(Form::players(&self.table)));
            }
            KeyCode::Char('a') => self.next_opinion(),
            KeyCode::Char('i') => {
                self.popup = Some(Popup::Input(Purpose::Opinion, Input::default()));
            }
            KeyCode::Char('s') => {
                let text = "games.jsonl".to_owned();
                self.popup = Some(Popup::Input(Purpose::Save, Input { text, error: None }));
            }
            KeyCode::Char('l') => {
                let text = "games.jsonl".to_owned();
                self.popup = Some(Popup::Input(Purpose::Load, Input { text, error: None }));
            }
            KeyCode::Char('p') => {
                self.paused = !self.paused;
                self.turn_began = self.now;
            }
            KeyCode::Char('.') => {
                self.paused = true;
                self.steps = 1;
                self.turn_began = self.now;
            }
            KeyCode::Char('+' | '=') => {
                self.set_pace(PACES.into_iter().rev().find(|&pace| pace < self.pace));
            }
            KeyCode::Char('-') => {
                self.set_pace(PACES.into_iter().find(|&pace| pace > self.pace));
            }
            KeyCode::Char('v') => match self.table.played().len() {
                0 => self.message = Some("there is no move to review".to_owned()),
                moves => self.screen = Screen::Review(moves),
            },
            _ => {}
        }
    }

    fn review_key(&mut self, ply: usize, key: KeyEvent) {
        let last = self.table.played().len();
        let is_error = |ply: &usize| {
            self.current_review().is_some_and(|review| review.moves[ply - 1].judgement.is_error())
        };
        let ply = match key.code {
            KeyCode::Left | KeyCode::Up | KeyCode::Char('b') => ply.saturating_sub(1),
            KeyCode::Right | KeyCode::Down | KeyCode::Enter | KeyCode::Char(' ') => {
                (ply + 1).min(last)
            }
            KeyCode::Home => 0,
            KeyCode::End => last,
            KeyCode::Char('e') => (ply + 1..=last).find(is_error).unwrap_or(ply),
            KeyCode::Char('E') => (1..ply).rev().find(is_error).unwrap_or(ply),
            KeyCode::Char('?') | KeyCode::F(1) => {
                self.popup = Some(Popup::Help);
                ply
            }
            KeyCode::Char('s') => {
                let text = "games.jsonl".to_owned();
                self.popup = Some(Popup::Input(Purpose::Save, Input { text, error: None }));
                ply
            }
            KeyCode::Char('q') | KeyCode::Esc if self.only_review => {
                self.is_done = true;
                ply
            }
            KeyCode::Char('q') => {
                self.popup = Some(Popup::Confirm(Question::Quit));
                ply
            }
            KeyCode::Esc | KeyCode::Char('v') => {
                self.screen = Screen::Game;
                self.turn_began = self.now;
                return;
            }
            _ => ply,
        };
        self.screen = Screen::Review(ply);
    }

    fn popup_key(&mut self, popup: Popup, key: KeyEvent) -> Option<Effect> {
        match popup {
            Popup::Help => {}
            Popup::Confirm(question) => match key.code {
                KeyCode::Char('y' | 'Y') | KeyCode::Enter => self.confirmed(question),
                KeyCode::Char('n' | 'N' | 'q') | KeyCode::Esc => {}
                _ => self.popup = Some(Popup::Confirm(question)),
            },
            Popup::Players(mut form) => match form.key(key) {
                Done::Editing => self.popup = Some(Popup::Players(form)),
                Done::Left => self.is_done |= self.screen == Screen::Start,
                Done::Accepted => {
                    if let Err(error) = self.accept(&form) {
                        form.error = Some(error);
                        self.popup = Some(Popup::Players(form));
                    }
                }
            },
            Popup::Input(purpose, mut input) => {
                match key.code {
                    KeyCode::Esc => return None,
                    KeyCode::Enter => return self.entered(purpose, input),
                    KeyCode::Backspace => {
                        input.text.pop();
                    }
                    KeyCode::Char(character) if input.text.len() < 400 => {
                        input.text.push(character);
                    }
                    _ => {}
                }
                input.error = None;
                self.popup = Some(Popup::Input(purpose, input));
            }
        }
        None
    }

    /// Takes what a form says: a new table, or other players at the same one.
    fn accept(&mut self, form: &Form) -> Result<(), String> {
        if self.screen == Screen::Start {
            self.sit_down(form.table()?);
            return Ok(());
        }
        let seats = form.seats()?;
        let before = Form::players(&self.table).seats()?;
        for ((player, seat), before) in Player::BOTH.into_iter().zip(seats).zip(before) {
            // Who stays keeps the seed.
            if seat != before {
                self.table.set_seat(player, seat).map_err(|failure| failure.message())?;
            }
        }
        self.new_turn();
        Ok(())
    }

    fn entered(&mut self, purpose: Purpose, input: Input) -> Option<Effect> {
        let text = input.text.trim();
        match purpose {
            Purpose::Save if !text.is_empty() => return Some(Effect::Save(text.into())),
            Purpose::Load if !text.is_empty() => return Some(Effect::Load(text.to_owned())),
            Purpose::Save | Purpose::Load => {}
            Purpose::Opinion => match text.parse() {
                Ok(spec) => self.opinion = Source::Agent(spec),
                Err(error) => {
                    let error = Some(error.to_string());
                    self.popup = Some(Popup::Input(purpose, Input { error, ..input }));
                }
            },
        }
        None
    }

    fn confirmed(&mut self, question: Question) {
        match question {
            Question::Quit => self.is_done = true,
            Question::New => self.show_start(),
            Question::Resign => {
                if let Some(player) = self.table.resigner() {
                    self.table.end(player, Reason::Resigned);
                    self.pending = None;
                }
            }
        }
    }

    fn show_start(&mut self) {
        self.screen = Screen::Start;
        self.popup = Some(Popup::Players(self.start_form()));
    }

    /// A person drops a disc.
    fn drop_disc(&mut self, column: usize) {
        if self.table.is_over() {
            self.message = Some("the game is over: n for a new one, v for its review".to_owned());
            return;
        }
        if self.table.agent_to_move().is_some() {
            self.message = Some(if self.table.has_human() {
                "it is not your turn".to_owned()
            } else {
                "programs play here: p stops them, o changes them".to_owned()
            });
            return;
        }
        if let Some(column) = Column::from_index(column) {
            self.play(Played::by_hand(column, self.turn_time()));
        }
    }

    fn undo(&mut self) {
        if self.table.undo() {
            self.fall = None;
            self.new_turn();
            // Programs would play the same again at once.
            self.paused |= !self.table.has_human();
            self.message = None;
        } else {
            self.message = Some("there is no move to take back".to_owned());
        }
    }

    fn redo(&mut self) {
        if self.table.redo() {
            self.fall = None;
            self.new_turn();
            self.message = None;
        } else {
            self.message = Some("there is no move to play again".to_owned());
        }
    }

    /// Takes another pace, if there is one that is faster or slower.
    fn set_pace(&mut self, pace: Option<Duration>) {
        self.pace = pace.unwrap_or(self.pace);
        let seconds = self.pace.as_secs_f64();
        self.message = Some(format!("programs play a move every {seconds} s"));
    }

    fn next_opinion(&mut self) {
        let opponent = Player::BOTH.into_iter().find_map(|player| match self.table.seat(player) {
            Seat::Agent(spec) => Some(spec.clone()),
            Seat::Human => None,
        });
        self.opinion = match (&self.opinion, opponent) {
            (Source::Nobody, _) => Source::Truth,
            (Source::Truth, Some(spec)) => Source::Agent(spec),
            _ => Source::Nobody,
        };
        self.told = None;
    }
}

/// A value as a number from -1, lost, to 1, won.
pub(crate) fn share(value: Value) -> f64 {
    match value {
        // A win that is far away is worth a little less, so that progress is seen.
        Value::Win(plies) => 1.0 - f64::from(plies.min(60)) / 120.0,
        Value::Loss(plies) => f64::from(plies.min(60)) / 120.0 - 1.0,
        Value::Draw => 0.0,
        Value::Points(points) => (f64::from(points) / 40.0).tanh() * 0.6,
        Value::Chance(chance) => 2.0 * chance - 1.0,
    }
}

/// Who is asked for a hint: the truth where it is near, or else a good search.
pub(crate) fn hinter(setup: Setup) -> &'static str {
    let is_near = match setup.ruleset() {
        Ruleset::Standard => setup.cells() <= Setup::STANDARD.cells(),
        Ruleset::Lines => claimeven_search::Perfect::check(setup).is_ok(),
    };
    if is_near { "perfect" } else { "timed:ms=1000" }
}
