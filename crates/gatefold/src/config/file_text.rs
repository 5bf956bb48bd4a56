use std::io;
use std::path::Path;

use gatefold_config::Fault;
use gatefold_located::Lines;

use super::ConfigError;
use super::error::is_link_loop;
use crate::{Environment, files};

/// The largest configuration file, in bytes.
const FILE_LIMIT_BYTES: u64 = 4 * 1024 * 1024;

/// Reads a file. A file that is not text is a fault.
pub(super) fn read(
    path: &Path,
    environment: &Environment,
    faults: &mut Vec<Fault>,
) -> Result<Option<String>, ConfigError> {
    let read = files::read(&environment.directory().join(path), FILE_LIMIT_BYTES);
    let bytes = read.map_err(|error| {
        let hint = match error.kind() {
            io::ErrorKind::NotFound => "check the path",
            io::ErrorKind::PermissionDenied => "let the user that runs Gatefold read it",
            io::ErrorKind::FileTooLarge => "give a configuration of at most 4 MiB",
            io::ErrorKind::IsADirectory => "name a file in it",
            _ if is_link_loop(&error) => "give a regular file, or fix the links",
            _ => "give a regular file",
        };
        ConfigError::Unreadable { path: path.to_owned(), hint, error }
    })?;
    let error = match String::from_utf8(bytes) {
        Ok(text) => return Ok(Some(text)),
        Err(error) => error,
    };
    let valid = error.utf8_error().valid_up_to();
    let text = String::from_utf8_lossy(&error.as_bytes()[..valid]);
    let (line, column) = Lines::of(&text).place(valid);
    faults.push(Fault {
        file: path.to_owned(),
        line,
        column,
        key: String::new(),
        message: "the text is not UTF-8".to_owned(),
        hint: "save the file as UTF-8".to_owned(),
    });
    Ok(None)
}
