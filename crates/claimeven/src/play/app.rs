//! The state of the terminal application, and how keys change it.
//!
//! Nothing here draws, waits, opens a file or starts a thread. The event loop reports what
//! happened, and the worker threads ask which searches are wanted.

use std::path::PathBuf;
use std::time::Duration;

use claimeven_arena::{AgentSpec, EndReason, Participant, Review};
use claimeven_game::{Column, Game, Player, Ruleset, Setup};
use claimeven_search::{Decision, SearchInfo, Value};
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::layout::Rect;

use super::form::{Action, Form};
use super::layout::Layout;
use super::session::{GameSession, Played};
use crate::text::counted;

/// The whole state of the terminal application.
pub(crate) struct App {
    pub(crate) session: GameSession,
    pub(crate) screen: Screen,
    pub(crate) popup: Option<Popup>,
    /// The selected column.
    pub(crate) cursor: usize,
    pub(crate) fall: Option<Fall>,
    /// Who evaluates the columns.
    pub(crate) analysis_by: AnalysisBy,
    pub(crate) analysis: Option<Analysis>,
    pub(crate) hint: Hint,
    /// Evaluations for the first player by ply, from -1 to 1.
    pub(crate) evaluations: Vec<Option<f64>>,
    /// The search of the player to move, or the last search.
    pub(crate) thinking: Option<Thinking>,
    pub(crate) review: Option<Reviewed>,
    /// The explanation that was requested last.
    pub(crate) explanation: Option<Explained>,
    pub(crate) paused: bool,
    /// Moves that programs may still make while paused.
    steps: u32,
    /// The delay between moves if only programs play.
    pub(crate) delay: Duration,
    pub(crate) message: Option<String>,
    /// The time since the application was started.
    pub(crate) now: Duration,
    pub(crate) turn_start: Duration,
    /// A decided move that is not shown yet.
    pending: Option<Decision>,
    pub(crate) size: Rect,
    pub(crate) is_done: bool,
    /// Started by `claimeven review`.
    only_review: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Screen {
    Start,
    Game,
    /// Review of the game, at the position after this many moves.
    Review(usize),
}

#[derive(Clone, Debug)]
pub(crate) enum Popup {
    /// Opened from a form, to which it returns, or from the game.
    Help(Option<Form>),
    Confirm(Question),
    Players(Form),
    Input(Purpose, Input),
    /// Why the displayed position is won, lost or drawn; in a review, what the move did.
    Explanation,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Question {
    Quit,
    Resign,
    New,
}

/// What a text is entered for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    Save,
    Load,
    Analysis,
}

/// A text being typed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Input {
    pub(crate) text: String,
    pub(crate) error: Option<String>,
}

impl Input {
    /// The name of a file, with a suggestion.
    fn file() -> Input {
        Input { text: "games.jsonl".to_owned(), error: None }
    }
}

/// A falling disc.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fall {
    pub(crate) column: Column,
    pub(crate) start: Duration,
}

/// Who evaluates the columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum AnalysisBy {
    Off,
    /// The solver.
    Exact,
    Agent(AgentSpec),
}

/// An agent's evaluation of the columns.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Analysis {
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
    pub(crate) info: SearchInfo,
    pub(crate) time: Duration,
    pub(crate) is_over: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Reviewed {
    game: Game,
    pub(crate) review: Review,
}

/// The explanation of a position, or of the last move of a game.
#[derive(Clone, Debug)]
pub(crate) struct Explained {
    of: Request,
    pub(crate) text: String,
}

/// I/O, which is left to the event loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    Save(PathBuf),
    Load(String),
}

/// A search that is wanted.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Request {
    pub(crate) task: Task,
    pub(crate) game: Game,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Task {
    /// Choose a move for the side to move.
    Move(AgentSpec),
    /// Evaluate all columns.
    Analysis(AgentSpec),
    Review,
    /// Explain the position.
    ExplainPosition,
    /// Explain the last move.
    ExplainMove,
}

/// Searches that may run at the same time, one per slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Slot {
    Move,
    Analysis,
    Review,
    Explanation,
}

impl Slot {
    pub(crate) const ALL: [Slot; 4] = [Slot::Move, Slot::Analysis, Slot::Review, Slot::Explanation];
}

/// How long a disc takes to fall by a row.
const ROW_TIME: Duration = Duration::from_millis(45);

/// The delays between moves of programs that can be selected, from fast to slow.
const DELAYS: [Duration; 6] = [
    Duration::ZERO,
    Duration::from_millis(200),
    Duration::from_millis(500),
    Duration::from_secs(1),
    Duration::from_secs(2),
    Duration::from_secs(4),
];

/// The default delay between moves of programs.
pub(crate) const DEFAULT_DELAY: Duration = DELAYS[2];

/// The time limit of an analysis.
pub(crate) const ANALYSIS_TIME: Duration = Duration::from_secs(10);

impl App {
    pub(crate) fn new(session: GameSession, screen: Screen) -> App {
        let mut app = App {
            cursor: usize::from(session.setup().cols() - 1) / 2,
            session,
            screen,
            popup: None,
            fall: None,
            analysis_by: AnalysisBy::Off,
            analysis: None,
            hint: Hint::None,
            evaluations: Vec::new(),
            thinking: None,
            review: None,
            explanation: None,
            paused: false,
            steps: 0,
            delay: DEFAULT_DELAY,
            message: None,
            now: Duration::ZERO,
            turn_start: Duration::ZERO,
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

    /// The form of the start screen.
    pub(crate) fn start_form(&self) -> Form {
        let seats = [0, 1].map(|index| {
            let seat = &self.session.seats()[index];
            super::form::without_seed(seat).parse().unwrap_or(Participant::Human)
        });
        Form::start(self.session.setup(), &seats, self.session.clock())
    }

    /// The game as displayed: up to an earlier position in a review.
    pub(crate) fn displayed_game(&self) -> Game {
        let mut game = self.session.game().clone();
        if let Screen::Review(ply) = self.screen {
            while game.moves().len() > ply {
                game.undo();
            }
        }
        game
    }

    /// The review of the game, if it is up to date.
    pub(crate) fn current_review(&self) -> Option<&Review> {
        let reviewed = self.review.as_ref()?;
        (reviewed.game == *self.session.game()).then_some(&reviewed.review)
    }

    /// The analysis of the current position, if it is available.
    pub(crate) fn current_analysis(&self) -> Option<&Analysis> {
        self.analysis.as_ref().filter(|analysis| analysis.game == *self.session.game())
    }

    /// The explanation of what is displayed, if it is available.
    pub(crate) fn current_explanation(&self) -> Option<&Explained> {
        self.explanation.as_ref().filter(|explained| explained.of == self.explained_request())
    }

    /// What to explain: the position, or in a review the move that led to it.
    fn explained_request(&self) -> Request {
        let game = self.displayed_game();
        let task = match self.screen {
            Screen::Review(1..) => Task::ExplainMove,
            _ => Task::ExplainPosition,
        };
        Request { task, game }
    }

    /// The column of the falling disc, and how many rows it has fallen.
    pub(crate) fn falling(&self) -> Option<(Column, u32)> {
        let Fall { column, start } = self.fall?;
        let rows = (self.now.saturating_sub(start).as_millis() / ROW_TIME.as_millis()) as u32;
        Some((column, rows))
    }

    /// Whether something on the screen is about to change.
    pub(crate) fn is_animated(&self) -> bool {
        self.fall.is_some() || self.pending.is_some()
    }

    /// The thinking time of the side to move.
    pub(crate) fn turn_time(&self) -> Duration {
        if self.session.is_over() || self.screen != Screen::Game || self.is_waiting() {
            return Duration::ZERO;
        }
        // The delay before the move is shown does not count.
        let since = self.now.saturating_sub(self.turn_start);
        self.pending.as_ref().map_or(since, |decision| decision.time)
    }

    /// Whether a program is to move but the game is paused.
    pub(crate) fn is_waiting(&self) -> bool {
        self.paused && self.steps == 0 && self.session.agent_to_move().is_some()
    }

    // Searches.

    /// The search that a slot should run now.
    pub(crate) fn wants(&self, slot: Slot) -> Option<Request> {
        let game = self.session.game();
        let request = |task| Some(Request { task, game: game.clone() });
        match slot {
            Slot::Move if self.screen != Screen::Game => None,
            Slot::Move if self.pending.is_some() || self.is_waiting() => None,
            Slot::Move => request(Task::Move(self.session.agent_to_move()?.clone())),
            Slot::Analysis if self.screen != Screen::Game || self.session.is_over() => None,
            Slot::Analysis => {
                let by = self.analyst()?;
                let is_known = self.current_analysis().is_some_and(|analysis| analysis.by == by);
                if is_known { None } else { request(Task::Analysis(by)) }
            }
            Slot::Review => {
                let is_wanted = match self.screen {
                    Screen::Start => false,
                    Screen::Game => self.session.is_over(),
                    Screen::Review(_) => true,
                };
                let is_known = self.current_review().is_some() || game.moves().is_empty();
                if is_wanted && !is_known { request(Task::Review) } else { None }
            }
            Slot::Explanation => {
                let is_wanted = matches!(self.popup, Some(Popup::Explanation));
                let is_known = self.current_explanation().is_some();
                (is_wanted && !is_known).then(|| self.explained_request())
            }
        }
    }

    /// The time budget of the side to move, by its clock.
    pub(crate) fn move_time(&self) -> Option<Duration> {
        let left = self.session.left(self.session.position().player(), self.turn_time())?;
        Some(self.session.clock()?.budget(left))
    }

    /// The agent that evaluates the columns.
    fn analyst(&self) -> Option<AgentSpec> {
        match (&self.analysis_by, self.hint) {
            (AnalysisBy::Agent(spec), _) => Some(spec.clone()),
            (AnalysisBy::Exact, _) => "perfect".parse().ok(),
            (AnalysisBy::Off, Hint::Wanted) => hint_agent(self.session.setup()).parse().ok(),
            (AnalysisBy::Off, _) => None,
        }
    }

    // Events.

    /// Time has passed.
    pub(crate) fn tick(&mut self, now: Duration) {
        self.now = now;
        if let Some((column, rows)) = self.falling() {
            let rows = rows as usize;
            let height = super::layout::height(self.session.position(), column);
            if rows + height > usize::from(self.session.setup().rows()) {
                self.fall = None;
            }
        }
        if self.screen == Screen::Game && self.fall.is_none() && !self.is_waiting() {
            let since = self.now.saturating_sub(self.turn_start);
            let is_time = self.session.has_human() || since >= self.delay || self.steps > 0;
            if let Some(decision) = self.pending.take_if(|_| is_time) {
                self.steps = self.steps.saturating_sub(1);
                self.play(Played::by_agent(&decision));
            }
        }
        let mover = self.session.position().player();
        if self.session.left(mover, self.turn_time()) == Some(Duration::ZERO) {
            self.session.end(mover, EndReason::Time);
            self.pending = None;
        }
    }

    /// A search reports its progress.
    pub(crate) fn search_progress(&mut self, info: SearchInfo, time: Duration) {
        let player = self.session.position().player();
        self.thinking = Some(Thinking { player, info, time, is_over: false });
    }

    /// The player to move has decided.
    pub(crate) fn decided(&mut self, decision: Result<Decision, String>) {
        match decision {
            Ok(decision) => {
                self.record_value(decision.value);
                self.thinking = Some(Thinking {
                    player: self.session.position().player(),
                    info: decision.info(),
                    time: decision.time,
                    is_over: true,
                });
                self.pending = Some(decision);
            }
            Err(error) => {
                self.message = Some(error);
                self.session.end(self.session.position().player(), EndReason::Forfeit);
            }
        }
    }

    /// An agent has evaluated the columns.
    pub(crate) fn analyzed(&mut self, by: AgentSpec, decision: Result<Decision, String>) {
        if let Ok(decision) = &decision {
            self.record_value(decision.value);
        }
        if self.hint == Hint::Wanted {
            self.hint = match &decision {
                Ok(decision) => {
                    self.cursor = decision.column.index();
                    self.message =
                        Some(format!("Hint: column {}, {}", decision.column, decision.value));
                    Hint::Given(decision.column)
                }
                Err(_) => Hint::None,
            };
        }
        if let Err(error) = &decision {
            self.message = Some(error.clone());
        }
        self.analysis = Some(Analysis { by, game: self.session.game().clone(), decision });
    }

    pub(crate) fn reviewed(&mut self, review: Review) {
        self.review = Some(Reviewed { game: self.session.game().clone(), review });
    }

    pub(crate) fn explained(&mut self, of: Request, text: String) {
        self.explanation = Some(Explained { of, text });
    }

    pub(crate) fn saved(&mut self, path: &std::path::Path, result: Result<(), String>) {
        self.message = Some(match result {
            Ok(()) => format!("Saved to {}", path.display()),
            Err(error) => format!("{}: {error}", path.display()),
        });
    }

    pub(crate) fn loaded(&mut self, session: Result<GameSession, String>) {
        match session {
            Ok(session) => {
                let count = session.game().moves().len();
                self.start_session(session);
                self.paused = !self.session.has_human();
                self.message = Some(format!("Loaded a game with {}", counted(count, "move")));
            }
            Err(error) => self.message = Some(error),
        }
    }

    /// Records the value of the current position for the side to move.
    fn record_value(&mut self, value: Value) {
        let position = self.session.position();
        let ply = position.ply() as usize;
        if self.evaluations.len() <= ply {
            self.evaluations.resize(ply + 1, None);
        }
        let value = normalized(value);
        self.evaluations[ply] =
            Some(if position.player() == Player::First { value } else { -value });
    }

    /// Switches to another session.
    fn start_session(&mut self, session: GameSession) {
        let (size, now) = (self.size, self.now);
        let analysis_by = self.analysis_by.clone();
        let paused = self.paused && !session.has_human();
        *self = App {
            size,
            now,
            analysis_by,
            paused,
            delay: self.delay,
            ..App::new(session, Screen::Game)
        };
        self.turn_start = now;
    }

    fn play(&mut self, played: Played) {
        let column = played.column;
        match self.session.play(played) {
            Ok(()) => {
                self.fall = Some(Fall { column, start: self.now });
                self.new_turn();
                self.message = None;
            }
            Err(error) => self.message = Some(error.to_string()),
        }
    }

    /// The position has changed.
    fn new_turn(&mut self) {
        self.turn_start = self.now;
        self.pending = None;
        self.hint = Hint::None;
        self.evaluations.truncate(self.session.game().moves().len() + 1);
    }

    // Keys.

    /// A key was pressed.
    pub(crate) fn key(&mut self, key: KeyEvent) -> Option<Effect> {
        let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
        if is_control && matches!(key.code, KeyCode::Char('c' | 'C')) {
            self.is_done = true;
            return None;
        }
        if let Some(popup) = self.popup.take() {
            return self.popup_key(popup, key);
        }
        if is_control {
            return None;
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

    /// The mouse was moved or clicked.
    pub(crate) fn mouse(&mut self, x: u16, y: u16, is_press: bool) {
        if self.popup.is_some() || self.screen != Screen::Game {
            return;
        }
        let layout = Layout::of(self.size, self.session.position());
        if let Some(column) = layout.column_at(x, y) {
            self.cursor = column;
            if is_press {
                self.drop_disc(column);
            }
        }
    }

    fn game_key(&mut self, key: KeyEvent) {
        let cols = usize::from(self.session.setup().cols());
        match key.code {
            KeyCode::Char('?') | KeyCode::F(1) => self.popup = Some(Popup::Help(None)),
            KeyCode::Char('q') | KeyCode::Esc => {
                self.popup = Some(Popup::Confirm(Question::Quit));
            }
            KeyCode::Left => self.cursor = (self.cursor + cols - 1) % cols,
            KeyCode::Right => self.cursor = (self.cursor + 1) % cols,
            KeyCode::Home => self.cursor = 0,
            KeyCode::End => self.cursor = cols - 1,
            KeyCode::Enter | KeyCode::Down | KeyCode::Char(' ') => self.drop_disc(self.cursor),
            // Lower-case letters are commands, so the columns after the ninth are upper-case.
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
            KeyCode::Char('h') if !self.session.is_over() => {
                self.hint = Hint::Wanted;
                self.message = Some("Looking for a hint ...".to_owned());
                // An analysis of the position already has the answer.
                if let Some(Analysis { by, decision, .. }) = self.current_analysis().cloned() {
                    self.analyzed(by, decision);
                }
            }
            KeyCode::Char('n') => {
                if self.session.is_over() || self.session.played().is_empty() {
                    self.show_start();
                } else {
                    self.popup = Some(Popup::Confirm(Question::New));
                }
            }
            KeyCode::Char('g') if !self.session.is_over() => match self.session.resigner() {
                Some(_) => self.popup = Some(Popup::Confirm(Question::Resign)),
                None => self.message = Some("Nobody can resign: only programs play".to_owned()),
            },
            KeyCode::Char('x') => {
                self.session.switch_sides();
                self.new_turn();
            }
            KeyCode::Char('o') => {
                self.popup = Some(Popup::Players(Form::players(&self.session)));
            }
            KeyCode::Char('a') => self.next_analyst(),
            KeyCode::Char('e') => self.popup = Some(Popup::Explanation),
            KeyCode::Char('i') => {
                self.popup = Some(Popup::Input(Purpose::Analysis, Input::default()));
            }
            KeyCode::Char('s') => {
                self.popup = Some(Popup::Input(Purpose::Save, Input::file()));
            }
            KeyCode::Char('l') => {
                self.popup = Some(Popup::Input(Purpose::Load, Input::file()));
            }
            KeyCode::Char('p') => {
                self.paused = !self.paused;
                self.turn_start = self.now;
            }
            KeyCode::Char('.') => {
                self.paused = true;
                self.steps = 1;
                self.turn_start = self.now;
            }
            KeyCode::Char('+' | '=') => {
                self.set_delay(DELAYS.into_iter().rev().find(|&delay| delay < self.delay));
            }
            KeyCode::Char('-') => {
                self.set_delay(DELAYS.into_iter().find(|&delay| delay > self.delay));
            }
            KeyCode::Char('v') => match self.session.played().len() {
                0 => self.message = Some("No moves to review".to_owned()),
                moves => self.screen = Screen::Review(moves),
            },
            _ => {}
        }
    }

    fn review_key(&mut self, ply: usize, key: KeyEvent) {
        let last = self.session.played().len();
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
                self.popup = Some(Popup::Help(None));
                ply
            }
            KeyCode::Char('s') => {
                self.popup = Some(Popup::Input(Purpose::Save, Input::file()));
                ply
            }
            KeyCode::Char('w') => {
                self.popup = Some(Popup::Explanation);
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
                self.turn_start = self.now;
                return;
            }
            _ => ply,
        };
        self.screen = Screen::Review(ply);
    }

    fn popup_key(&mut self, popup: Popup, key: KeyEvent) -> Option<Effect> {
        match popup {
            Popup::Help(form) => self.popup = form.map(Popup::Players),
            Popup::Explanation => {}
            Popup::Confirm(question) => match key.code {
                KeyCode::Char('y' | 'Y') | KeyCode::Enter => self.confirmed(question),
                KeyCode::Char('n' | 'N' | 'q') | KeyCode::Esc => {}
                _ => self.popup = Some(Popup::Confirm(question)),
            },
            Popup::Players(mut form) => match form.key(key) {
                Action::Edit => self.popup = Some(Popup::Players(form)),
                Action::Help => self.popup = Some(Popup::Help(Some(form))),
                Action::Cancel => self.is_done |= self.screen == Screen::Start,
                Action::Accept => {
                    if let Err(error) = self.accept(&form) {
                        form.error = Some(error);
                        self.popup = Some(Popup::Players(form));
                    }
                }
            },
            Popup::Input(purpose, mut input) => {
                let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
                match key.code {
                    KeyCode::Char('u') if is_control => input.text.clear(),
                    _ if is_control => {}
                    KeyCode::Esc => return None,
                    KeyCode::Enter => return self.entered(purpose, input),
                    KeyCode::Delete => input.text.clear(),
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

    /// Applies a form: a new session, or other players in the current one.
    fn accept(&mut self, form: &Form) -> Result<(), String> {
        if self.screen == Screen::Start {
            self.start_session(form.session()?);
            return Ok(());
        }
        let seats = form.seats()?;
        let before = Form::players(&self.session).seats()?;
        for ((player, seat), before) in Player::BOTH.into_iter().zip(seats).zip(before) {
            // An unchanged player keeps its seed.
            if seat != before {
                self.session.set_seat(player, seat).map_err(|failure| failure.message())?;
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
            Purpose::Analysis => match text.parse() {
                Ok(spec) => self.analysis_by = AnalysisBy::Agent(spec),
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
                if let Some(player) = self.session.resigner() {
                    self.session.end(player, EndReason::Resigned);
                    self.pending = None;
                }
            }
        }
    }

    fn show_start(&mut self) {
        self.screen = Screen::Start;
        self.popup = Some(Popup::Players(self.start_form()));
    }

    /// The user drops a disc.
    fn drop_disc(&mut self, column: usize) {
        if self.session.is_over() {
            self.message = Some("The game is over: n for a new game, v to review it".to_owned());
            return;
        }
        if self.session.agent_to_move().is_some() {
            self.message = Some(if self.session.has_human() {
                "It is not your turn".to_owned()
            } else {
                "Only programs are playing: p to pause, o to change the players".to_owned()
            });
            return;
        }
        if let Some(column) = Column::from_index(column) {
            self.play(Played::by_human(column, self.turn_time()));
        }
    }

    fn undo(&mut self) {
        if self.session.undo() {
            self.fall = None;
            self.new_turn();
            // Otherwise the programs would play the same move again.
            self.paused |= !self.session.has_human();
            self.message = None;
        } else {
            self.message = Some("No move to undo".to_owned());
        }
    }

    fn redo(&mut self) {
        if self.session.redo() {
            self.fall = None;
            self.new_turn();
            self.message = None;
        } else {
            self.message = Some("No move to redo".to_owned());
        }
    }

    /// Changes the delay between moves, unless it is the fastest or slowest.
    fn set_delay(&mut self, delay: Option<Duration>) {
        self.delay = delay.unwrap_or(self.delay);
        let seconds = self.delay.as_secs_f64();
        self.message = Some(format!("Delay between moves: {seconds} s"));
    }

    fn next_analyst(&mut self) {
        let opponent =
            Player::BOTH.into_iter().find_map(|player| match self.session.seat(player) {
                Participant::Agent(spec) => Some(spec.clone()),
                Participant::Human => None,
            });
        self.analysis_by = match (&self.analysis_by, opponent) {
            (AnalysisBy::Off, _) => AnalysisBy::Exact,
            (AnalysisBy::Exact, Some(spec)) => AnalysisBy::Agent(spec),
            _ => AnalysisBy::Off,
        };
        self.analysis = None;
    }
}

/// A value on a scale from -1 (lost) to 1 (won).
pub(crate) fn normalized(value: Value) -> f64 {
    match value {
        // A distant win is worth a little less, to make progress visible.
        Value::Win(plies) => 1.0 - f64::from(plies.min(60)) / 120.0,
        Value::Loss(plies) => f64::from(plies.min(60)) / 120.0 - 1.0,
        Value::Draw => 0.0,
        Value::Points(points) => (f64::from(points) / 40.0).tanh() * 0.6,
        Value::Expected(result) => 2.0 * result - 1.0,
    }
}

/// The agent that gives hints: the solver on boards that it can solve, a search on others.
pub(crate) fn hint_agent(setup: Setup) -> &'static str {
    let is_solvable = match setup.ruleset() {
        Ruleset::Standard => setup.cells() <= Setup::STANDARD.cells(),
        Ruleset::Lines => claimeven_search::Perfect::check(setup).is_ok(),
    };
    if is_solvable { "perfect" } else { "timed:ms=1000" }
}
