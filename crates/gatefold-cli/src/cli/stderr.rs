//! Standard error, which logs and messages share with whatever progress is drawn there.

use std::io::{self, Write as _, stderr};
use std::sync::{Mutex, PoisonError};

use indicatif::MultiProgress;

/// The progress that is drawn at the moment. Lines written meanwhile must not tear it apart.
static DRAWN: Mutex<Option<MultiProgress>> = Mutex::new(None);

/// Notes what is drawn from now on, if anything.
pub(super) fn set_drawn(drawn: Option<MultiProgress>) {
    *DRAWN.lock().unwrap_or_else(PoisonError::into_inner) = drawn;
}

/// Writes beside the progress that is drawn.
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
