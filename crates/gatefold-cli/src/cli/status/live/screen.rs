//! The terminal during the live view.

use std::io::{self, Write as _, stdout};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crossterm::event::{self, Event, KeyCode, KeyEventKind, KeyModifiers};
use crossterm::{cursor, execute, queue, terminal};
use tokio::sync::mpsc;

use crate::cli::output::Style;
use crate::cli::visible;

/// How often the thread that reads keys checks whether the view still exists.
const KEY_WAIT: Duration = Duration::from_millis(100);

/// The most unread keys to keep. Anybody who typed more did so blindly.
const KEYS: usize = 16;

/// The size of a window that does not report one.
const USUAL: (u16, u16) = (80, 24);

/// Whether the terminal is ours, so that it is restored exactly once.
static IS_TAKEN: AtomicBool = AtomicBool::new(false);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Input {
    Leave,
    /// An event that requires drawing again, such as a new size.
    Other,
}

/// The alternate screen with unbuffered keys. Dropping it, or a panic, restores the terminal.
pub(super) struct Screen {
    inputs: mpsc::Receiver<Input>,
    has_colour: bool,
}

impl Screen {
    pub(super) fn open(style: Style) -> io::Result<Self> {
        static HOOK: Once = Once::new();
        HOOK.call_once(|| {
            let before = std::panic::take_hook();
            std::panic::set_hook(Box::new(move |panic| {
                restore();
                before(panic);
            }));
        });
        terminal::enable_raw_mode()?;
        IS_TAKEN.store(true, Ordering::SeqCst);
        let (sender, inputs) = mpsc::channel(KEYS);
        let screen = Self { inputs, has_colour: style.has_colour() };
        execute!(stdout(), terminal::EnterAlternateScreen, cursor::Hide)?;
        std::thread::spawn(move || read_inputs(&sender));
        Ok(screen)
    }

    /// Columns and rows.
    pub(super) fn size() -> (usize, usize) {
        let (columns, rows) = terminal::size().unwrap_or(USUAL);
        let known = |size: u16, usual: u16| usize::from(if size == 0 { usual } else { size });
        (known(columns, USUAL.0), known(rows, USUAL.1))
    }

    /// Waits for the next key or a change of the window. If keys can no longer be read, the
    /// terminal has gone, and this asks to leave.
    pub(super) async fn input(&mut self) -> Input {
        self.inputs.recv().await.unwrap_or(Input::Leave)
    }

    /// Draws over the previous lines, one by one, so that nothing flickers.
    pub(super) fn show(&self, lines: &[String]) -> io::Result<()> {
        let mut out = stdout().lock();
        queue!(out, cursor::MoveTo(0, 0))?;
        for (at, line) in lines.iter().enumerate() {
            if at > 0 {
                write!(out, "\r\n")?;
            }
            write!(out, "{}", visible::shown(&visible::on_one_line(line), self.has_colour))?;
            queue!(out, terminal::Clear(terminal::ClearType::UntilNewLine))?;
        }
        queue!(out, terminal::Clear(terminal::ClearType::FromCursorDown))?;
        out.flush()
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        restore();
    }
}

fn restore() {
    if IS_TAKEN.swap(false, Ordering::SeqCst) {
        let _ = execute!(stdout(), cursor::Show, terminal::LeaveAlternateScreen);
        let _ = terminal::disable_raw_mode();
    }
}

fn read_inputs(sender: &mpsc::Sender<Input>) {
    while !sender.is_closed() {
        let input = match event::poll(KEY_WAIT) {
            Ok(false) => continue,
            Ok(true) => event::read().ok().map(|event| meaning(&event)),
            Err(_) => None,
        };
        let Some(input) = input else { return };
        if sender.blocking_send(input).is_err() {
            return;
        }
    }
}

fn meaning(event: &Event) -> Input {
    let Event::Key(key) = event else { return Input::Other };
    let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
    match key.code {
        _ if key.kind == KeyEventKind::Release => Input::Other,
        KeyCode::Char('c') if is_control => Input::Leave,
        KeyCode::Char('q' | 'Q') | KeyCode::Esc => Input::Leave,
        _ => Input::Other,
    }
}
