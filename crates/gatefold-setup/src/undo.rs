//! Records with which `disconnect` undoes `connect`: one file for each table of servers, in the
//! user's state directory. Only its owner can read it, because it holds the client's file as it
//! was.

use std::fs;
use std::path::{Path, PathBuf};

use gatefold_clients::{ConfigFile, Undo};
use gatefold_core::Digest;
use gatefold_store::create_private_directory;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::{SetupError, files};

/// The folder under a state directory.
const FOLDER: &str = "clients";

/// The largest record, in bytes: two texts of a client's largest file, each character escaped.
const RECORD_BYTES: u64 = 2 * 6 * gatefold_clients::FILE_BYTES as u64;

/// The most records of one folder that are searched for those of one file.
const RECORDS: usize = 1000;

#[derive(Serialize, Deserialize)]
struct Record {
    client: String,
    path: PathBuf,
    /// The members that lead to the servers.
    #[serde(default)]
    servers: Vec<String>,
    undo: Undo,
}

/// The folders of records. New records always go into the user's own state directory, wherever the
/// rest of the state is, so that disconnecting works without knowing how Gatefold was connected.
#[derive(Debug, Clone)]
pub struct Records {
    /// The first is for new records; the others are looked through as well.
    folders: Vec<PathBuf>,
}

impl Records {
    /// Records in this state directory.
    pub fn new(state_dir: &Path) -> Self {
        Self { folders: vec![state_dir.join(FOLDER)] }
    }

    /// Looks through another state directory as well.
    #[must_use]
    pub fn or(mut self, state_dir: &Path) -> Self {
        let folder = state_dir.join(FOLDER);
        if !self.folders.contains(&folder) {
            self.folders.push(folder);
        }
        self
    }

    /// Whether a client's file has a record.
    pub fn has(&self, file: &ConfigFile) -> bool {
        self.found(file).is_some()
    }

    /// Where a new record of a client's file goes.
    pub(super) fn path(&self, file: &ConfigFile) -> PathBuf {
        self.folders[0].join(name(file))
    }

    /// Where the record is now, which may be an older folder.
    fn found(&self, file: &ConfigFile) -> Option<PathBuf> {
        let mut paths = self.folders.iter().map(|folder| folder.join(name(file)));
        paths.find(|path| path.exists())
    }

    pub(super) fn load(&self, file: &ConfigFile) -> Result<Option<Undo>, SetupError> {
        let Some(record) = self.found(file) else {
            return Ok(None);
        };
        let text = files::read_limited(&record, RECORD_BYTES)?.unwrap_or_default();
        let read = serde_json::from_str::<Record>(&text);
        read.map(|read| Some(read.undo)).map_err(|error| SetupError::Record {
            record,
            path: file.path.clone(),
            error,
        })
    }

    /// The records of other tables of servers in the same file.
    pub(super) fn beside(&self, file: &ConfigFile) -> Vec<(ConfigFile, Undo)> {
        let folders = self.folders.iter().filter_map(|folder| fs::read_dir(folder).ok());
        let start = format!("{}-", file.client.id());
        let entries = folders.flat_map(|entries| entries.take(RECORDS).filter_map(Result::ok));
        let own = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(&start));
        let read = own.filter_map(|entry| {
            let text = files::read_limited(&entry.path(), RECORD_BYTES).ok()??;
            serde_json::from_str::<Record>(&text).ok()
        });
        let other = read.filter(|record| {
            record.path == file.path && !record.servers.is_empty() && record.servers != file.servers
        });
        other
            .map(|record| (ConfigFile { servers: record.servers, ..file.clone() }, record.undo))
            .collect()
    }

    pub(super) fn save(&self, file: &ConfigFile, undo: &Undo) -> Result<(), SetupError> {
        let record = self.path(file);
        let old = files::read_limited(&record, RECORD_BYTES)?;
        let new = Record {
            client: file.client.id().to_owned(),
            path: file.path.clone(),
            servers: file.servers.clone(),
            undo: undo.clone(),
        };
        let text = serde_json::to_string_pretty(&new).expect("a record has only string keys");
        let made = create_private_directory(&self.folders[0]);
        made.map_err(|error| SetupError::File { path: record.clone(), act: "written", error })?;
        // A new file is readable by its owner alone.
        files::replace(&record, old.as_deref(), Some(&text))?;
        forget_in(file, &self.folders[1..])
    }

    pub(super) fn forget(&self, file: &ConfigFile) -> Result<(), SetupError> {
        forget_in(file, &self.folders)
    }
}

fn forget_in(file: &ConfigFile, folders: &[PathBuf]) -> Result<(), SetupError> {
    for record in folders.iter().map(|folder| folder.join(name(file))) {
        match fs::remove_file(&record) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(SetupError::File { path: record, act: "removed", error });
            }
            _ => {}
        }
    }
    Ok(())
}

fn name(file: &ConfigFile) -> String {
    let mut hash = Sha256::new();
    hash.update(file.path.as_os_str().as_encoded_bytes());
    for member in &file.servers {
        hash.update([0]);
        hash.update(member.as_bytes());
    }
    let digest = Digest::new(hash.finalize().into()).to_string();
    format!("{}-{}.json", file.client.id(), &digest[..16])
}
