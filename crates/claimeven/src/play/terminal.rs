//! The event loop, and setting up and restoring the terminal.

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
use super::look::Look;
use super::screen::draw;
use super::session::GameSession;
use super::workers::Workers;
use crate::Failure;

/// Runs the application until the user quits.
pub(crate) fn run(mut app: App, look: Look) -> Result<(), Failure> {
    #[cfg(unix)]
    end_on_signals()?;
    let mut screen = OpenScreen::open()?;
    let mut workers = Workers::new(look);
    let start = Instant::now();
    while !app.is_done {
        app.tick(start.elapsed());
        workers.update(&mut app);
        screen.terminal.draw(|frame| {
            app.size = frame.area();
            draw(frame, &app, look);
        })?;
        let is_animated = app.is_animated() || workers.is_busy();
        // The clocks are redrawn in any case.
        let timeout = Duration::from_millis(if is_animated { 30 } else { 100 });
        let mut is_waiting = event::poll(timeout)?;
        while is_waiting {
            handle(&mut app, &event::read()?);
            is_waiting = event::poll(Duration::ZERO)?;
        }
    }
    Ok(())
}

fn handle(app: &mut App, event: &Event) {
    match event {
        Event::Key(key) if key.kind != KeyEventKind::Release => press(app, *key),
        Event::Mouse(mouse) => {
            let is_press = mouse.kind == MouseEventKind::Down(MouseButton::Left);
            if is_press || mouse.kind == MouseEventKind::Moved {
                app.mouse(mouse.column, mouse.row, is_press);
            }
        }
        // A new size takes effect when the screen is drawn next.
        _ => {}
    }
}

fn press(app: &mut App, key: KeyEvent) {
    #[cfg(debug_assertions)]
    panic_if_tested(key);
    match app.key(key) {
        None => {}
        Some(Effect::Save(path)) => {
            let result = app.session.save(&path).map_err(|error| error.to_string());
            app.saved(&path, result);
        }
        Some(Effect::Load(text)) => {
            app.loaded(GameSession::load(&text).map_err(|failure| failure.message()));
        }
    }
}

/// Lets a test check that a panic restores the terminal.
#[cfg(debug_assertions)]
fn panic_if_tested(key: KeyEvent) {
    let is_tested = std::env::var_os("CLAIMEVEN_TEST_PANIC").is_some();
    assert!(!is_tested || key.code != event::KeyCode::F(12), "requested by a test");
}

/// The terminal in raw mode; restored on drop.
struct OpenScreen {
    terminal: Terminal<CrosstermBackend<Stdout>>,
}

/// Whether the terminal has to be restored.
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

/// Restores the terminal. Errors are ignored: nothing can be done about them.
fn restore() {
    if IS_OPEN.swap(false, Ordering::SeqCst) {
        let _ = execute!(io::stdout(), DisableMouseCapture, LeaveAlternateScreen, cursor::Show);
        let _ = disable_raw_mode();
        let _ = io::stdout().flush();
    }
}

/// Restores the terminal before a panic of this thread is reported. Panics of worker threads are
/// not reported: they end the game of that player.
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

/// Restores the terminal before a signal ends the process. This needs its own thread: if the
/// terminal is gone, the event loop may wait for its next event forever.
#[cfg(unix)]
fn end_on_signals() -> io::Result<()> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    let mut signals = signal_hook::iterator::Signals::new([SIGHUP, SIGINT, SIGTERM])?;
    thread::spawn(move || {
        for signal in signals.forever() {
            restore();
            // The exit status should tell which signal it was.
            let _ = signal_hook::low_level::emulate_default_handler(signal);
        }
    });
    Ok(())
}
