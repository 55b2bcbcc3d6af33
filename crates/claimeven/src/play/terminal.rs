//! The loop: what happens is told to the state, and the state is drawn.

use std::io::{self, Stdout, Write};
use std::panic;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::event::{
    self, DisableMouseCapture, EnableMouseCapture, Event, KeyEvent, KeyEventKind, MouseButton,
    MouseEventKind,
};
use ratatui::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use ratatui::crossterm::{cursor, execute};

use super::app::{App, Effect};
use super::crew::Crew;
use super::look::Look;
use super::screen::draw;
use super::table::Table;
use crate::Failure;
use crate::records::load;

/// Runs the application until its user leaves it.
pub(crate) fn run(mut app: App, look: Look) -> Result<(), Failure> {
    #[cfg(unix)]
    end_on_signals()?;
    let mut screen = OpenScreen::open()?;
    let mut crew = Crew::default();
    let start = Instant::now();
    while !app.is_done {
        app.tick(start.elapsed());
        crew.serve(&mut app);
        screen.terminal.draw(|frame| {
            app.size = frame.area();
            draw(frame, &app, look);
        })?;
        let is_lively = app.is_lively() || crew.is_busy();
        // Clocks are on show, so there is something to draw now and then all the same.
        let patience = Duration::from_millis(if is_lively { 30 } else { 100 });
        let mut is_waiting = event::poll(patience)?;
        while is_waiting {
            happen(&mut app, &event::read()?);
            is_waiting = event::poll(Duration::ZERO)?;
        }
    }
    Ok(())
}

fn happen(app: &mut App, event: &Event) {
    match event {
        Event::Key(key) if key.kind != KeyEventKind::Release => press(app, *key),
        Event::Mouse(mouse) => {
            let is_press = mouse.kind == MouseEventKind::Down(MouseButton::Left);
            if is_press || mouse.kind == MouseEventKind::Moved {
                app.mouse(mouse.column, mouse.row, is_press);
            }
        }
        // A new size is seen with the next drawing.
        _ => {}
    }
}

fn press(app: &mut App, key: KeyEvent) {
    #[cfg(debug_assertions)]
    panic_if_tested(key);
    match app.key(key) {
        None => {}
        Some(Effect::Save(path)) => {
            let result = app.table.save(&path).map_err(|error| error.to_string());
            app.saved(&path, result);
        }
        Some(Effect::Load(text)) => {
            let (file, game) = match text.rsplit_once('#') {
                Some((file, game)) => (file, Some(game)),
                None => (text.as_str(), None),
            };
            let table = load(file.as_ref(), game).and_then(|record| Table::of_record(&record));
            app.loaded(table.map_err(|failure| failure.message()));
        }
    }
}

/// Lets a test see what a panic leaves behind.
#[cfg(debug_assertions)]
fn panic_if_tested(key: KeyEvent) {
    let is_tested = std::env::var_os("CLAIMEVEN_TEST_PANIC").is_some();
    assert!(!is_tested || key.code != event::KeyCode::F(12), "a test has asked for this");
}

/// The terminal as the application uses it. It is given back as it was, whatever happens.
struct OpenScreen {
    terminal: Terminal<CrosstermBackend<Stdout>>,
}

/// Whether there is anything to give back.
static IS_OPEN: AtomicBool = AtomicBool::new(false);

impl OpenScreen {
    fn open() -> io::Result<OpenScreen> {
        restore_on_panic();
        enable_raw_mode()?;
        IS_OPEN.store(true, Ordering::SeqCst);
        let mut out = io::stdout();
        let opened = execute!(out, EnterAlternateScreen, EnableMouseCapture, cursor::Hide);
        let terminal = opened.and_then(|()| Terminal::new(CrosstermBackend::new(out)));
        terminal.map(|terminal| OpenScreen { terminal }).inspect_err(|_| restore())
    }
}

impl Drop for OpenScreen {
    fn drop(&mut self) {
        restore();
    }
}

/// Gives the terminal back. There is nobody to tell if that fails.
fn restore() {
    if IS_OPEN.swap(false, Ordering::SeqCst) {
        let _ = execute!(io::stdout(), DisableMouseCapture, LeaveAlternateScreen, cursor::Show);
        let _ = disable_raw_mode();
        let _ = io::stdout().flush();
    }
}

/// A panic of this thread gives the terminal back before it is reported. One of a player's thread
/// ends its game, and would only spoil the screen.
fn restore_on_panic() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        let own = thread::current().id();
        let report = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if thread::current().id() == own {
                restore();
                report(info);
            }
        }));
    });
}

/// Lets signals end the program as they do, with the terminal given back. It takes a thread of its
/// own: when the terminal has gone, the loop may wait for its next event for ever.
#[cfg(unix)]
fn end_on_signals() -> io::Result<()> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    let mut signals = signal_hook::iterator::Signals::new([SIGHUP, SIGINT, SIGTERM])?;
    thread::spawn(move || {
        for signal in signals.forever() {
            restore();
            // Whoever sent it is to see that it did what it does.
            let _ = signal_hook::low_level::emulate_default_handler(signal);
        }
    });
    Ok(())
}
