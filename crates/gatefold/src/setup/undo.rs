//! What is kept for the way back from `connect`: one file for each client's file, in the state
//! directory, for its owner's eyes only, because it holds the client's file as it was.

use std::fs;
use std::path::{Path, PathBuf};

use gatefold_clients::{ConfigFile, Undo};
use gatefold_core::Digest;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::{SetupError, files};

/// The folder under the state directory.
const FOLDER: &str = "clients";

/// The largest record, in bytes: two texts of a client's largest file, each character escaped.
const RECORD_BYTES: u64 = 2 * 6 * gatefold_clients::FILE_BYTES as u64;

#[derive(Serialize, Deserialize)]
struct Record {
    client: String,
    path: PathBuf,
    undo: Undo,
}

/// Where the way back for a client's file is kept.
pub(super) fn path(state_dir: &Path, file: &ConfigFile) -> PathBuf {
    let mut hash = Sha256::new();
    hash.update(file.path.as_os_str().as_encoded_bytes());
    for member in &file.servers {
        hash.update([0]);
        hash.update(member.as_bytes());
    }
    let digest = Digest::new(hash.finalize().into()).to_string();
    state_dir.join(FOLDER).join(format!("{}-{}.json", file.client.id(), &digest[..16]))
}

pub(super) fn load(state_dir: &Path, file: &ConfigFile) -> Result<Option<Undo>, SetupError> {
    let record = path(state_dir, file);
    let Some(text) = files::read_limited(&record, RECORD_BYTES)? else {
        return Ok(None);
    };
    let read = serde_json::from_str::<Record>(&text);
    read.map(|read| Some(read.undo)).map_err(|error| SetupError::Record {
        record,
        path: file.path.clone(),
        error,
    })
}

pub(super) fn save(state_dir: &Path, file: &ConfigFile, undo: &Undo) -> Result<(), SetupError> {
    let record = path(state_dir, file);
    let old = files::read_limited(&record, RECORD_BYTES)?;
    let new =
        Record { client: file.client.id().to_owned(), path: file.path.clone(), undo: undo.clone() };
    let text = serde_json::to_string_pretty(&new).expect("a record has only string keys");
    // A new file is readable by its owner alone.
    files::replace(&record, old.as_deref(), Some(&text))
}

pub(super) fn forget(state_dir: &Path, file: &ConfigFile) -> Result<(), SetupError> {
    let record = path(state_dir, file);
    let failed = |error| SetupError::File { path: record.clone(), act: "removed", error };
    match fs::remove_file(&record) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(failed(error)),
        _ => Ok(()),
    }
}
