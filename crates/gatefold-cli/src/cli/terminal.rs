//! The terminal's settings around a prompt.

use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};

/// The terminal's settings before a prompt changes them. Dropping it restores them and discards unread
/// input, because the background reader may never return. If that reader restores the settings later,
/// they are the same.
pub(super) struct Terminal(Option<Termios>);

impl Terminal {
    pub(super) fn kept() -> Self {
        Self(tcgetattr(std::io::stdin()).ok())
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        if let Some(before) = &self.0 {
            let _ = tcsetattr(std::io::stdin(), OptionalActions::Flush, before);
        }
    }
}
