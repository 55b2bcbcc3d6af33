//! Key presses and the resulting screens.

use std::time::Duration;

use claimeven_arena::{Participant, Review, ReviewOptions};
use claimeven_game::{Game, Player, Position, Ruleset, Setup};
use claimeven_search::{Limits, SearchInfo, Value};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::layout::Rect;

use super::app::{AnalysisBy, App, Effect, Popup, Screen, Slot, Task};
use super::layout::Layout;
use super::look::Look;
use super::screen::draw;
use super::session::GameSession;

const FULL: Look = Look { unicode: true, colour: true };
const ASCII: Look = Look { unicode: false, colour: false };

fn seat(text: &str) -> Participant {
    text.parse().unwrap()
}

fn session(first: &str, second: &str) -> GameSession {
    GameSession::new(Setup::STANDARD, [seat(first), seat(second)], None).unwrap()
}

fn app(first: &str, second: &str) -> App {
    App::new(session(first, second), Screen::Game)
}

/// An application with a local game after these moves.
fn app_after(moves: &str) -> App {
    let mut app = app("human", "human");
    keys(&mut app, moves);
    settle(&mut app);
    app
}

fn key(app: &mut App, code: KeyCode) -> Option<Effect> {
    app.key(KeyEvent::new(code, KeyModifiers::NONE))
}

fn keys(app: &mut App, text: &str) {
    for character in text.chars() {
        key(app, KeyCode::Char(character));
    }
}

/// Lets discs fall to their places.
fn settle(app: &mut App) {
    app.tick(app.now + Duration::from_secs(2));
    app.turn_start = app.now;
}

/// Lets a program decide, and waits until its move is on the board.
fn decide(app: &mut App) {
    let request = app.wants(Slot::Move).expect("a program is to move");
    let Task::Move(spec) = &request.task else { panic!("{request:?}") };
    let mut agent = spec.build(app.session.setup(), 0).unwrap();
    let decision = agent.decide(request.game.position(), &Limits::default()).unwrap();
    app.decided(Ok(claimeven_search::Decision { time: Duration::from_millis(1200), ..decision }));
    settle(app);
    settle(app);
}

fn moves(app: &App) -> String {
    app.session.game().move_text()
}

fn status(session: &GameSession) -> String {
    session.status(&Player::BOTH.map(|player| player.to_string()))
}

fn screen_of(app: &mut App, look: Look, width: u16, height: u16) -> String {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    app.size = Rect::new(0, 0, width, height);
    terminal.draw(|frame| draw(frame, app, look)).unwrap();
    let buffer = terminal.backend().buffer();
    let row = |y| -> String {
        let cells = (0..width).map(|x| buffer[(x, y)].symbol());
        cells.collect::<String>().trim_end().to_owned()
    };
    (0..height).map(|y| row(y) + "\n").collect()
}

// Keys.

#[test]
fn digits_arrows_and_the_mouse_drop_discs() {
    let mut app = app("human", "human");
    keys(&mut app, "4");
    key(&mut app, KeyCode::Left);
    key(&mut app, KeyCode::Enter);
    for _ in 0..5 {
        key(&mut app, KeyCode::Right);
    }
    key(&mut app, KeyCode::Down);
    let layout = Layout::of(app.size, &Position::new(Setup::STANDARD));
    app.mouse(layout.column_x(1) + 1, layout.hover.y, false);
    assert_eq!(app.cursor, 1);
    app.mouse(layout.column_x(6), layout.board.y + 3, true);
    assert_eq!(moves(&app), "4317");
    // Clicks beside the board have no effect.
    app.mouse(79, 5, true);
    app.mouse(0, 0, true);
    assert_eq!(moves(&app), "4317");
}

#[test]
fn capital_letters_drop_discs_beyond_column_nine() {
    let setup = Setup::new(12, 6, 4, Ruleset::Standard).unwrap();
    let session = GameSession::new(setup, [seat("human"), seat("human")], None).unwrap();
    let mut app = App::new(session, Screen::Game);
    keys(&mut app, "9AC");
    assert_eq!((moves(&app).as_str(), app.cursor), ("9ac", 11));
    keys(&mut app, "D");
    assert_eq!(app.message.as_deref(), Some("no column d: the board has 12 columns"));
}

#[test]
fn full_and_missing_columns_are_rejected_with_a_message() {
    let mut app = app_after("111111");
    keys(&mut app, "1");
    assert_eq!(app.message.as_deref(), Some("column 1 is full"));
    keys(&mut app, "8");
    assert!(app.message.as_deref().unwrap().contains('8'), "{:?}", app.message);
    assert_eq!(moves(&app), "111111");
    keys(&mut app, "2");
    assert_eq!((moves(&app).as_str(), app.message), ("1111112", None));
}

#[test]
fn undo_and_redo_stop_at_the_persons_turn() {
    let mut app = app("human", "level:3,seed=1");
    keys(&mut app, "4");
    settle(&mut app);
    decide(&mut app);
    keys(&mut app, "3");
    settle(&mut app);
    let before = moves(&app);
    assert_eq!(before.len(), 3);
    // The program is thinking, but undo does not wait for its move.
    assert!(app.wants(Slot::Move).is_some());
    keys(&mut app, "u");
    assert_eq!(moves(&app).len(), 2);
    assert!(app.wants(Slot::Move).is_none());
    keys(&mut app, "u");
    assert_eq!(moves(&app), "");
    keys(&mut app, "u");
    assert_eq!(app.message.as_deref(), Some("No move to undo"));
    keys(&mut app, "r");
    assert_eq!(moves(&app), before[..2]);
    keys(&mut app, "r");
    assert_eq!(moves(&app), before);
    keys(&mut app, "r");
    assert_eq!(app.message.as_deref(), Some("No move to redo"));
    // A new move discards what was undone.
    keys(&mut app, "uu5");
    settle(&mut app);
    keys(&mut app, "r");
    assert_eq!(moves(&app), "5");
}

#[test]
fn an_outdated_search_is_not_wanted() {
    let mut app = app("human", "level:3,seed=1");
    keys(&mut app, "4");
    let request = app.wants(Slot::Move);
    keys(&mut app, "u");
    keys(&mut app, "5");
    assert_ne!(app.wants(Slot::Move), request);
}

#[test]
fn a_person_cannot_move_for_a_program() {
    let mut app = app("level:3", "human");
    keys(&mut app, "4");
    assert_eq!((moves(&app).as_str(), app.message.as_deref()), ("", Some("It is not your turn")));
}

#[test]
fn quitting_asks_for_confirmation_and_control_c_does_not() {
    let mut app = app_after("4");
    keys(&mut app, "qn");
    assert!(!app.is_done && app.popup.is_none());
    keys(&mut app, "qy");
    assert!(app.is_done);
    let mut app = app_after("4");
    app.key(KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL));
    assert!(app.is_done);
}

#[test]
fn resigning_ends_the_game_and_can_be_undone() {
    let mut app = app("human", "level:3");
    keys(&mut app, "gy");
    assert_eq!(status(&app.session), "O wins: X resigned");
    assert!(app.wants(Slot::Move).is_none());
    keys(&mut app, "u");
    assert!(!app.session.is_over());
}

#[test]
fn the_clock_ends_the_game() {
    let clock = Some("10+1".parse().unwrap());
    let session =
        GameSession::new(Setup::STANDARD, [Participant::Human, Participant::Human], clock).unwrap();
    let mut app = App::new(session, Screen::Game);
    app.tick(Duration::from_secs(4));
    keys(&mut app, "4");
    let left = |app: &App, player| app.session.left(player, Duration::ZERO).unwrap();
    assert_eq!(left(&app, Player::First), Duration::from_secs(7));
    app.tick(Duration::from_secs(13));
    assert!(!app.session.is_over());
    app.tick(Duration::from_secs(15));
    assert_eq!(status(&app.session), "X wins: O ran out of time");
    // Undoing a move gives its time back.
    keys(&mut app, "u");
    assert_eq!(left(&app, Player::First), Duration::from_secs(10));
}

#[test]
fn players_and_sides_can_change_during_a_game() {
    let mut app = app("human", "level:3,seed=5");
    keys(&mut app, "4x");
    assert_eq!(app.session.seats()[0], seat("level:3,seed=5"));
    keys(&mut app, "x");
    keys(&mut app, "o");
    key(&mut app, KeyCode::Down);
    key(&mut app, KeyCode::Delete);
    keys(&mut app, "levle:9");
    key(&mut app, KeyCode::Enter);
    let Some(Popup::Players(form)) = &app.popup else { panic!("{:?}", app.popup) };
    let error = form.error.as_deref().unwrap();
    assert!(error.starts_with("unknown player 'levle'; did you mean level?"), "{error}");
    key(&mut app, KeyCode::Delete);
    keys(&mut app, "human");
    key(&mut app, KeyCode::Enter);
    assert_eq!(app.session.seats(), &[Participant::Human, Participant::Human]);
    keys(&mut app, "4");
    assert_eq!(moves(&app), "44");
}

#[test]
fn programs_can_be_paused_and_stepped() {
    let mut app = app("random:seed=1", "random:seed=2");
    keys(&mut app, "p");
    assert!(app.wants(Slot::Move).is_none());
    keys(&mut app, ".");
    decide(&mut app);
    assert_eq!(moves(&app).len(), 1);
    assert!(app.wants(Slot::Move).is_none());
    keys(&mut app, "p");
    decide(&mut app);
    assert_eq!(moves(&app).len(), 2);
    keys(&mut app, "u");
    assert!(app.paused && moves(&app).len() == 1);
}

#[test]
fn the_delay_between_programs_moves_is_kept() {
    let mut app = app("random:seed=1", "random:seed=2");
    let slowest = |app: &mut App| keys(app, "------");
    slowest(&mut app);
    let request = app.wants(Slot::Move).unwrap();
    let mut agent = app.session.agent_to_move().unwrap().build(Setup::STANDARD, 0).unwrap();
    app.decided(
        agent.decide(request.game.position(), &Limits::default()).map_err(|e| e.to_string()),
    );
    app.tick(Duration::from_millis(3900));
    assert_eq!(moves(&app), "");
    app.tick(Duration::from_secs(4));
    assert_eq!(moves(&app).len(), 1);
}

#[test]
fn a_delayed_move_costs_no_time_and_respects_pausing() {
    let clock = Some("2".parse().unwrap());
    let seats = [seat("random:seed=1"), seat("random:seed=2")];
    let mut app = App::new(GameSession::new(Setup::STANDARD, seats, clock).unwrap(), Screen::Game);
    keys(&mut app, "------");
    let request = app.wants(Slot::Move).unwrap();
    let mut agent = app.session.agent_to_move().unwrap().build(Setup::STANDARD, 0).unwrap();
    app.decided(
        agent.decide(request.game.position(), &Limits::default()).map_err(|e| e.to_string()),
    );
    keys(&mut app, "p");
    app.tick(Duration::from_secs(5));
    assert_eq!((moves(&app).as_str(), app.session.is_over()), ("", false));
    keys(&mut app, "p");
    app.tick(Duration::from_secs(9));
    assert_eq!((moves(&app).len(), app.session.is_over()), (1, false));
}

#[test]
fn hints_use_exact_scores_and_move_the_cursor() {
    let mut app = app_after("4455");
    keys(&mut app, "h");
    let request = app.wants(Slot::Analysis).unwrap();
    let Task::Analysis(spec) = request.task else { panic!("{request:?}") };
    assert_eq!(spec.to_string(), "perfect");
    let mut agent = spec.build(Setup::STANDARD, 0).unwrap();
    let decision = agent.decide(request.game.position(), &Limits::default()).unwrap();
    app.analyzed(spec, Ok(decision));
    assert_eq!(app.message.as_deref(), Some("Hint: column 3, wins in 2"));
    assert_eq!(app.cursor, 2);
    assert!(app.wants(Slot::Analysis).is_none());
}

#[test]
fn a_position_or_a_reviewed_move_is_explained_in_a_dialog() {
    let mut app = app_after("445566");
    keys(&mut app, "e");
    assert!(screen_of(&mut app, FULL, 80, 24).contains("Explaining ..."));
    let request = app.wants(Slot::Explanation).unwrap();
    assert_eq!(request.task, Task::ExplainPosition);
    app.explained(request, "X wins now: column 3 makes four in a row.".to_owned());
    assert!(app.wants(Slot::Explanation).is_none());
    // On a narrow screen the text is wrapped.
    let narrow = screen_of(&mut app, FULL, 40, 16);
    assert!(narrow.contains("column 3 makes four") && narrow.contains("in a row."), "{narrow}");
    // Any key closes it, and does nothing else.
    keys(&mut app, "3");
    assert!(app.popup.is_none());
    assert_eq!(app.session.played().len(), 6);
    keys(&mut app, "vw");
    let request = app.wants(Slot::Explanation).unwrap();
    assert_eq!((request.task, request.game.moves().len()), (Task::ExplainMove, 6));
}

#[test]
fn an_unavailable_exact_analysis_is_an_error() {
    let setup = Setup::new(7, 6, 4, Ruleset::Lines).unwrap();
    let session = GameSession::new(setup, [Participant::Human, Participant::Human], None).unwrap();
    let mut app = App::new(session, Screen::Game);
    keys(&mut app, "a");
    assert_eq!(app.analysis_by, AnalysisBy::Exact);
    let Some(Task::Analysis(spec)) = app.wants(Slot::Analysis).map(|request| request.task) else {
        panic!("an analysis is wanted")
    };
    app.analyzed(spec, Err("perfect cannot play this".to_owned()));
    assert!(app.wants(Slot::Analysis).is_none());
    assert_eq!(app.message.as_deref(), Some("perfect cannot play this"));
}

#[test]
fn file_names_are_entered_in_a_dialog() {
    let mut app = app_after("44");
    keys(&mut app, "s");
    for _ in 0.."games.jsonl".len() {
        key(&mut app, KeyCode::Backspace);
    }
    keys(&mut app, "mine");
    assert_eq!(key(&mut app, KeyCode::Enter), Some(Effect::Save("mine".into())));
    app.saved("mine".as_ref(), Err("no room".to_owned()));
    assert_eq!(app.message.as_deref(), Some("mine: no room"));
    keys(&mut app, "l");
    assert_eq!(key(&mut app, KeyCode::Enter), Some(Effect::Load("games.jsonl".to_owned())));
    app.loaded(Err("no such file".to_owned()));
    assert_eq!((moves(&app).as_str(), app.message.as_deref()), ("44", Some("no such file")));
}

#[test]
fn a_saved_game_is_loaded_unchanged() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("games.jsonl");
    let mut app = app("human", "level:3,seed=1");
    keys(&mut app, "4");
    settle(&mut app);
    decide(&mut app);
    app.session.save(&path).unwrap();
    keys(&mut app, "gy");
    app.session.save(&path).unwrap();
    let load = |game| GameSession::of_record(&crate::records::load(&path, game).ok().unwrap()).ok();
    let unfinished = load(Some("1")).unwrap();
    assert!(!unfinished.is_over());
    assert_eq!(unfinished.game(), app.session.game());
    assert_eq!(unfinished.seats(), app.session.seats());
    let resigned = load(None).unwrap();
    assert_eq!(status(&resigned), status(&app.session));
    assert_eq!(resigned.spent(Player::Second), Duration::from_millis(1200));
    assert!(crate::records::load(&path, Some("3")).is_err());
}

#[test]
fn the_start_screen_starts_the_game_it_describes() {
    let mut app = App::new(session("human", "level:4"), Screen::Start);
    key(&mut app, KeyCode::Right);
    let down = |app: &mut App| key(app, KeyCode::Down);
    down(&mut app);
    down(&mut app);
    key(&mut app, KeyCode::Delete);
    keys(&mut app, "9y7");
    key(&mut app, KeyCode::Enter);
    let Some(Popup::Players(form)) = &app.popup else { panic!("{:?}", app.popup) };
    assert_eq!(
        form.error.as_deref(),
        Some("invalid board '9y7': expected columns x rows, such as 7x6")
    );
    key(&mut app, KeyCode::Delete);
    keys(&mut app, "9x7");
    for _ in 0..3 {
        down(&mut app);
    }
    key(&mut app, KeyCode::Right);
    key(&mut app, KeyCode::Right);
    key(&mut app, KeyCode::Enter);
    assert_eq!(app.screen, Screen::Game);
    assert_eq!(app.session.setup(), Setup::new(9, 7, 4, Ruleset::Standard).unwrap());
    assert!(app.session.seats()[0].to_string().starts_with("level:1,seed="));
    assert_eq!(app.session.left(Player::First, Duration::ZERO), Some(Duration::from_mins(1)));
    let mut app = App::new(session("human", "level:4"), Screen::Start);
    key(&mut app, KeyCode::Esc);
    assert!(app.is_done);
}

#[test]
fn help_on_the_start_screen_returns_to_the_form_as_it_was() {
    let mut app = App::new(session("human", "level:4"), Screen::Start);
    key(&mut app, KeyCode::Right);
    keys(&mut app, "?");
    let help = screen_of(&mut app, FULL, 40, 16);
    assert!(help.contains("clear the field"), "{help}");
    keys(&mut app, "x");
    let form = screen_of(&mut app, FULL, 40, 16);
    assert!(form.contains("level:1") && !form.contains("clear the field"), "{form}");
    key(&mut app, KeyCode::Enter);
    assert!(app.session.seats()[0].to_string().starts_with("level:1,seed="));
}

#[test]
fn control_u_clears_a_field_and_a_text() {
    let clear = |app: &mut App| {
        app.key(KeyEvent::new(KeyCode::Char('u'), KeyModifiers::CONTROL));
    };
    let mut app = App::new(session("human", "level:4"), Screen::Start);
    clear(&mut app);
    keys(&mut app, "perfect");
    key(&mut app, KeyCode::Enter);
    assert!(app.session.seats()[0].to_string().starts_with("perfect"));
    keys(&mut app, "s");
    clear(&mut app);
    keys(&mut app, "a.jsonl");
    assert_eq!(key(&mut app, KeyCode::Enter), Some(Effect::Save("a.jsonl".into())));
}

#[test]
fn a_paused_game_says_so() {
    let mut app = app("random:seed=1", "random:seed=2");
    keys(&mut app, "p");
    for (width, height) in [(80, 24), (40, 16)] {
        let screen = screen_of(&mut app, FULL, width, height);
        assert!(screen.contains("Red to move (paused)"), "{screen}");
    }
    assert!(screen_of(&mut app, FULL, 80, 24).contains("p resume"));
    keys(&mut app, "p");
    let screen = screen_of(&mut app, FULL, 80, 24);
    assert!(!screen.contains("paused") && screen.contains("p pause"), "{screen}");
}

#[test]
fn a_board_taller_than_the_screen_shows_its_top_discs() {
    let setup = Setup::new(3, 35, 4, Ruleset::Standard).unwrap();
    let people = [seat("human"), seat("human")];
    let mut app = App::new(GameSession::new(setup, people, None).unwrap(), Screen::Game);
    for _ in 0..35 {
        keys(&mut app, "1");
        settle(&mut app);
        let screen = screen_of(&mut app, ASCII, 80, 24);
        assert!(!screen.contains("too small"), "{screen}");
        assert_eq!(screen.matches("(X)").count() + screen.matches("(O)").count(), 1, "{screen}");
    }
    // It says which rows are shown, and its floor is not the board's.
    let screen = screen_of(&mut app, ASCII, 80, 24);
    assert!(screen.contains(" to 35 are shown") && screen.contains("+....."), "{screen}");
    keys(&mut app, "1");
    assert_eq!(app.message.as_deref(), Some("column 1 is full"));
}

#[test]
fn a_review_steps_from_error_to_error() {
    let mut app = app_after("1213141");
    assert!(app.session.is_over());
    let request = app.wants(Slot::Review).unwrap();
    let review = Review::of(&request.game, &ReviewOptions::default());
    let errors: Vec<usize> =
        (1..=7).filter(|ply| review.moves[ply - 1].judgement.is_error()).collect();
    app.reviewed(review);
    assert!(app.wants(Slot::Review).is_none());
    keys(&mut app, "v");
    key(&mut app, KeyCode::Home);
    let mut seen = Vec::new();
    for _ in &errors {
        keys(&mut app, "e");
        let Screen::Review(ply) = app.screen else { panic!() };
        seen.push(ply);
    }
    assert_eq!(seen, errors);
    assert!(errors.len() >= 2, "{errors:?}");
    keys(&mut app, "v");
    assert_eq!(app.screen, Screen::Game);
}

// Screens.

#[test]
fn every_size_of_screen_is_drawn_without_panic() {
    let sizes = [(80, 24), (40, 16), (20, 8), (5, 3), (1, 1), (200, 60), (76, 16), (40, 40)];
    let setups = [Setup::STANDARD, Setup::new(35, 2, 4, Ruleset::Standard).unwrap()];
    for setup in setups.into_iter().chain(Setup::new(10, 10, 4, Ruleset::Lines)) {
        for (width, height) in sizes {
            for popup in ["", "?", "q", "o", "s", "v"] {
                let session =
                    GameSession::new(setup, [Participant::Human, Participant::Human], None)
                        .unwrap();
                let mut app = App::new(session, Screen::Game);
                keys(&mut app, "12");
                keys(&mut app, popup);
                screen_of(&mut app, FULL, width, height);
            }
            let session =
                GameSession::new(setup, [Participant::Human, Participant::Human], None).unwrap();
            screen_of(&mut App::new(session, Screen::Start), ASCII, width, height);
        }
    }
}

#[test]
fn board_and_status_fit_on_forty_by_sixteen() {
    let mut app = app_after("4453");
    let screen = screen_of(&mut app, ASCII, 40, 16);
    for text in ["Move 5: X to move", "(O)", "q quit", "human"] {
        assert!(screen.contains(text), "{text} is not in\n{screen}");
    }
    assert!(screen.lines().all(|line| line.chars().count() <= 40));
}

#[test]
fn ascii_screens_contain_no_unicode() {
    let mut app = app_after("4453");
    for popup in ["", "?", "q", "o", "s", "v"] {
        keys(&mut app, popup);
        assert!(screen_of(&mut app, ASCII, 80, 24).is_ascii(), "{popup}");
        key(&mut app, KeyCode::Esc);
    }
}

#[test]
fn without_colour_no_cell_is_coloured() {
    let app = app_after("4453");
    let mut terminal = Terminal::new(TestBackend::new(80, 24)).unwrap();
    let look = Look { unicode: true, colour: false };
    terminal.draw(|frame| draw(frame, &app, look)).unwrap();
    let is_plain = |cell: &ratatui::buffer::Cell| {
        use ratatui::style::Color;
        (cell.fg, cell.bg) == (Color::Reset, Color::Reset)
    };
    assert!(terminal.backend().buffer().content.iter().all(is_plain));
    terminal.draw(|frame| draw(frame, &app, FULL)).unwrap();
    assert!(!terminal.backend().buffer().content.iter().all(is_plain));
}

#[test]
fn a_disc_falls_from_the_top_to_its_place() {
    let mut app = app("human", "human");
    keys(&mut app, "4");
    let layout = Layout::of(Rect::new(0, 0, 80, 24), &Position::new(Setup::STANDARD));
    let mut heights = Vec::new();
    for step in 0..12 {
        app.tick(Duration::from_millis(45 * step));
        let screen = screen_of(&mut app, FULL, 80, 24);
        let rows = screen.lines().skip(layout.board.y.into()).take(12);
        let row = rows.into_iter().position(|line| line.contains('▟'));
        heights.push(row.expect("the disc is on the board") / 2);
    }
    assert_eq!(heights, [0, 1, 2, 3, 4, 5, 5, 5, 5, 5, 5, 5]);
    assert!(app.fall.is_none());
}

#[test]
fn snapshot_of_the_start_screen() {
    let mut app = App::new(session("human", "level:4,seed=1"), Screen::Start);
    insta::assert_snapshot!("start-80x24", screen_of(&mut app, FULL, 80, 24));
    key(&mut app, KeyCode::Right);
    insta::assert_snapshot!("start-40x16-ascii", screen_of(&mut app, ASCII, 40, 16));
}

/// A game against a program that is thinking, with its evaluation of the columns.
fn busy_app() -> App {
    let mut app = app("human", "alphabeta:depth=6,seed=1");
    keys(&mut app, "4");
    settle(&mut app);
    decide(&mut app);
    keys(&mut app, "5");
    settle(&mut app);
    decide(&mut app);
    keys(&mut app, "a");
    let request = app.wants(Slot::Analysis).unwrap();
    let Task::Analysis(spec) = request.task else { panic!("{request:?}") };
    let mut agent = spec.build(Setup::STANDARD, 0).unwrap();
    let decision = agent.decide(request.game.position(), &Limits::default()).unwrap();
    app.analyzed(spec, Ok(decision));
    app
}

#[test]
fn snapshots_of_a_game() {
    let mut app = busy_app();
    insta::assert_snapshot!("game-80x24", screen_of(&mut app, FULL, 80, 24));
    insta::assert_snapshot!("game-80x24-ascii", screen_of(&mut app, ASCII, 80, 24));
    insta::assert_snapshot!("game-40x16", screen_of(&mut app, FULL, 40, 16));
    keys(&mut app, "?");
    insta::assert_snapshot!("help-40x16", screen_of(&mut app, FULL, 40, 16));
    key(&mut app, KeyCode::Esc);
    keys(&mut app, "q");
    insta::assert_snapshot!("quit-80x24", screen_of(&mut app, FULL, 80, 24));
}

#[test]
fn snapshot_of_a_program_thinking() {
    let mut app = app("human", "timed:ms=5000,seed=1");
    keys(&mut app, "4");
    settle(&mut app);
    let pv = app.session.position().legal().take(3).collect();
    let info = SearchInfo { nodes: 1_234_567, depth: 11, value: Some(Value::Points(14)), pv };
    app.search_progress(info, Duration::from_millis(2300));
    insta::assert_snapshot!("thinking-80x24", screen_of(&mut app, FULL, 80, 24));
    insta::assert_snapshot!("thinking-40x16", screen_of(&mut app, FULL, 40, 16));
}

#[test]
fn snapshots_of_a_finished_game_and_its_review() {
    let mut app = app_after("1213141");
    let game = Game::parse(Setup::STANDARD, "1213141").unwrap();
    app.reviewed(Review::of(&game, &ReviewOptions::default()));
    insta::assert_snapshot!("over-80x24", screen_of(&mut app, FULL, 80, 24));
    insta::assert_snapshot!("over-40x16", screen_of(&mut app, FULL, 40, 16));
    keys(&mut app, "v");
    key(&mut app, KeyCode::Left);
    insta::assert_snapshot!("review-80x24", screen_of(&mut app, FULL, 80, 24));
    insta::assert_snapshot!("review-40x16", screen_of(&mut app, FULL, 40, 16));
}

#[test]
fn snapshot_of_a_large_board_with_lines() {
    let setup = Setup::new(10, 10, 4, Ruleset::Lines).unwrap();
    let session = GameSession::new(setup, [Participant::Human, Participant::Human], None).unwrap();
    let mut app = App::new(session, Screen::Game);
    keys(&mut app, "12121213");
    settle(&mut app);
    insta::assert_snapshot!("lines-80x24", screen_of(&mut app, FULL, 80, 24));
}
