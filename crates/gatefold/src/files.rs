//! Reads files that people and other programs name: only regular ones, and always with a limit.

use std::fs::File;
use std::io::{self, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use rustix::fs::OFlags;

pub use gatefold_store::create_private_directory;

/// Opens a regular file, following links. Refuses anything else: a pipe may never answer, and a
/// device may never end.
fn open(path: &Path) -> io::Result<File> {
    // Opening a pipe waits for a writer, unless it is non-blocking (fifo(7)).
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    let file = File::options().read(true).custom_flags(flags).open(path)?;
    let kind = file.metadata()?.file_type();
    if kind.is_file() {
        Ok(file)
    } else if kind.is_dir() {
        Err(io::ErrorKind::IsADirectory.into())
    } else {
        Err(not_regular())
    }
}

/// The error for pipes, sockets and devices.
pub fn not_regular() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file")
}

/// A file of at most `limit` bytes. A larger one is [`io::ErrorKind::FileTooLarge`].
pub fn read(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    Ok(bytes)
}

/// Like [`read`], for a text. One that is not UTF-8 is [`io::ErrorKind::InvalidData`].
pub fn read_text(path: &Path, limit: u64) -> io::Result<String> {
    let not_text = |_| io::Error::new(io::ErrorKind::InvalidData, "the text is not UTF-8");
    String::from_utf8(read(path, limit)?).map_err(not_text)
}
