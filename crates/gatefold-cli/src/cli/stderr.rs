//! Standard error, which logs, messages and the progress display share.

use std::io::{self, Write as _, stderr};
use std::sync::{Mutex, PoisonError};

use indicatif::MultiProgress;

use super::visible;

/// The progress display, if there is one. Lines written in between must not break it.
static DRAWN: Mutex<Option<MultiProgress>> = Mutex::new(None);

/// Sets the progress display, or removes it.
pub(super) fn set_drawn(drawn: Option<MultiProgress>) {
    *DRAWN.lock().unwrap_or_else(PoisonError::into_inner) = drawn;
}

/// Writes without breaking the progress display.
pub(super) fn write(bytes: &[u8]) -> io::Result<()> {
    let drawn = DRAWN.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let write = || stderr().lock().write_all(bytes);
    drawn.map_or_else(write, |drawn| drawn.suspend(write))
}

/// Where logs go.
#[derive(Debug)]
pub(super) struct Log;

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        write(&visible::log_record(bytes)).map(|()| bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        stderr().flush()
    }
}
