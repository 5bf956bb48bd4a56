//! Standard error, which logs and messages share with a drawn progress.

use std::io::{self, Write as _, stderr};
use std::sync::{Mutex, PoisonError};

use indicatif::MultiProgress;

/// The progress that is drawn now. Lines written in between must not break it.
static DRAWN: Mutex<Option<MultiProgress>> = Mutex::new(None);

/// Sets what is drawn from now on, if anything.
pub(super) fn set_drawn(drawn: Option<MultiProgress>) {
    *DRAWN.lock().unwrap_or_else(PoisonError::into_inner) = drawn;
}

/// Writes without breaking the drawn progress.
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
        write(bytes).map(|()| bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        stderr().flush()
    }
}
