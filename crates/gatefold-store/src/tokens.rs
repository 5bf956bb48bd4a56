//! Exact token counts, stored next to the manifests of their tools.

use std::fs;
use std::io::{self, Read as _, Write as _};
use std::path::Path;

use gatefold_core::Digest;
use tempfile::NamedTempFile;

use crate::blocking::blocking;
use crate::layout::create_private_directory;
use crate::{Store, StoreError};

/// The first line of a file of counts: the vocabulary used.
const VOCABULARY: &str = "o200k";

/// The largest file that is read: counts of some hundred thousand tools.
const FILE_LIMIT_BYTES: u64 = 1024 * 1024;

impl Store {
    /// How many tokens each tool of a manifest has, in the manifest's order, if they were counted.
    ///
    /// An unreadable file counts as none: counting again replaces it.
    pub async fn token_counts(&self, manifest: Digest) -> Option<Vec<usize>> {
        let path = self.inner().manifests().join(file_name(&manifest.to_string()));
        blocking(move || read(&path)).await
    }

    /// Stores the counts for a manifest. They are removed along with it.
    pub async fn keep_token_counts(
        &self,
        manifest: Digest,
        counts: &[usize],
    ) -> Result<(), StoreError> {
        let directory = self.inner().manifests();
        let path = directory.join(file_name(&manifest.to_string()));
        let lines = counts.iter().map(ToString::to_string);
        let lines: Vec<_> = std::iter::once(VOCABULARY.to_owned()).chain(lines).collect();
        let text = lines.join("\n") + "\n";
        let place = path.clone();
        let written = blocking(move || write(&directory, &path, &text)).await;
        written.map_err(|source| StoreError::unusable(&place, source))
    }
}

pub(crate) fn file_name(manifest: &str) -> String {
    format!("{manifest}.tokens")
}

fn read(path: &Path) -> Option<Vec<usize>> {
    let mut text = String::new();
    fs::File::open(path).ok()?.take(FILE_LIMIT_BYTES).read_to_string(&mut text).ok()?;
    let lines = text.strip_prefix(VOCABULARY)?.strip_prefix('\n')?;
    lines.lines().map(|line| line.parse().ok()).collect()
}

/// Unlike manifests, counts need not survive a power cut.
fn write(directory: &Path, path: &Path, text: &str) -> io::Result<()> {
    create_private_directory(directory)?;
    let mut file = NamedTempFile::new_in(directory)?;
    file.write_all(text.as_bytes())?;
    file.persist(path)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use gatefold_core::Digest;

    use crate::{Store, StoreOptions};

    #[tokio::test]
    async fn counts_are_found_again_unless_the_file_is_damaged() {
        let state = tempfile::tempdir().unwrap();
        let store = Store::open(state.path(), StoreOptions::default()).await.unwrap();
        let manifest = Digest::new([7; 32]);
        assert_eq!(store.token_counts(manifest).await, None);
        store.keep_token_counts(manifest, &[3, 0, 12_345]).await.unwrap();
        assert_eq!(store.token_counts(manifest).await, Some(vec![3, 0, 12_345]));
        let file = state.path().join("manifests").join(super::file_name(&manifest.to_string()));
        for damaged in ["", "o200k\nthree\n", "cl100k\n3\n"] {
            std::fs::write(&file, damaged).unwrap();
            assert_eq!(store.token_counts(manifest).await, None, "{damaged}");
        }
        store.close().await.unwrap();
    }
}
