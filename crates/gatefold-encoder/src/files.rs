//! Reads whole files up to a given size.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use crate::EncoderError;

pub(crate) fn read(path: &Path, limit: u64) -> Result<Vec<u8>, EncoderError> {
    let unread = |source| EncoderError::Read { path: path.to_owned(), source };
    // Opening a pipe that nobody writes to would block forever.
    if !path.metadata().map_err(unread)?.is_file() {
        return Err(unread(io::Error::new(io::ErrorKind::InvalidInput, "it is no file")));
    }
    let file = File::open(path).map_err(unread)?;
    let bytes = file.metadata().map_err(unread)?.len();
    let too_large = |bytes| EncoderError::TooLarge { path: path.to_owned(), bytes, limit };
    if bytes > limit {
        return Err(too_large(bytes));
    }
    let mut content = Vec::with_capacity(usize::try_from(bytes).unwrap_or_default());
    file.take(limit + 1).read_to_end(&mut content).map_err(unread)?;
    if content.len() as u64 > limit {
        return Err(too_large(content.len() as u64));
    }
    Ok(content)
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits.map(|digit| char::from(DIGITS[usize::from(digit)])).collect()
}

#[cfg(all(test, unix))]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn a_pipe_that_nobody_writes_to_is_refused_and_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("vocab.txt");
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let Err(EncoderError::Read { source, .. }) = read(&pipe, 9) else { panic!("it was read") };
        assert_eq!(source.to_string(), "it is no file");
    }
}
