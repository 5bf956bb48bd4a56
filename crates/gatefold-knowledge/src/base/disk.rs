//! What a base takes on the disk.

use std::fs;
use std::io;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use gatefold_core::Timestamp;

use super::{INDEX_FOLDER, KnowledgeBase, STORAGE_FILE};

/// The files of a base.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DiskUse {
    pub bytes: u64,
    /// When something was written last.
    pub changed: Timestamp,
}

impl KnowledgeBase {
    /// What a base in this folder takes; none where there is none.
    pub fn disk_use(folder: &Path) -> io::Result<Option<DiskUse>> {
        if !folder.join(STORAGE_FILE).is_file() {
            return Ok(None);
        }
        let mut bytes = 0;
        let mut changed = UNIX_EPOCH;
        for folder in [folder, &folder.join(INDEX_FOLDER)] {
            let files = match fs::read_dir(folder) {
                Ok(files) => files,
                // It is made when the base is opened.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(error),
            };
            for file in files {
                // A file may go while another process writes.
                let Ok(metadata) = file?.metadata() else { continue };
                if !metadata.is_file() {
                    continue;
                }
                bytes += metadata.len();
                changed = changed.max(metadata.modified().unwrap_or(UNIX_EPOCH));
            }
        }
        Ok(Some(DiskUse { bytes, changed: timestamp(changed) }))
    }
}

fn timestamp(time: SystemTime) -> Timestamp {
    let millis = time.duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
    Timestamp::from_millis(u64::try_from(millis).unwrap_or_default())
}
