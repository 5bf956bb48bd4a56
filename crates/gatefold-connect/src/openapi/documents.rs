//! Where documents come from, and which ones a description may lead to.

use std::path::{Path, PathBuf};

use bytes::Bytes;
use futures::future::{BoxFuture, FutureExt as _};
use gatefold_core::BoxError;
use url::Url;

use super::text::DOCUMENT_LIMIT;

/// Fetches the documents that make up a description.
///
/// The reader asks for the first one and then for what that refers to: a file for files at or below its
/// folder, anything else for `http` and `https` alone. The implementation has to bound size and time.
pub trait Documents: Send + Sync {
    fn fetch<'a>(&'a self, url: &'a Url) -> BoxFuture<'a, Result<Bytes, BoxError>>;
}

/// Files at or below a folder. Links that lead out of it are not followed.
#[derive(Debug, Clone)]
pub struct FileDocuments {
    folder: PathBuf,
}

impl FileDocuments {
    /// The folder of a description, and the URL of the description itself.
    pub fn beside(description: &Path) -> Result<(Self, Url), BoxError> {
        let whole = description.canonicalize()?;
        let url = Url::from_file_path(&whole).map_err(|()| "a file needs a whole path")?;
        let folder = whole.parent().map(Path::to_owned).unwrap_or_default();
        Ok((Self { folder }, url))
    }

    fn read(&self, url: &Url) -> Result<Bytes, BoxError> {
        let path = url.to_file_path().map_err(|()| format!("`{url}` is no file"))?;
        let path = path.canonicalize()?;
        if !path.starts_with(&self.folder) {
            return Err(format!("`{}` is not in the description's folder", path.display()).into());
        }
        let size = path.metadata()?.len();
        if usize::try_from(size).map_or(true, |size| size > DOCUMENT_LIMIT) {
            return Err(format!("it has {size} bytes, and the limit is {DOCUMENT_LIMIT}").into());
        }
        Ok(std::fs::read(path)?.into())
    }
}

impl Documents for FileDocuments {
    fn fetch<'a>(&'a self, url: &'a Url) -> BoxFuture<'a, Result<Bytes, BoxError>> {
        std::future::ready(self.read(url)).boxed()
    }
}

/// Whether a description at `first` may lead to `other`. Neither has a fragment.
pub(super) fn may_lead_to(first: &Url, other: &Url) -> bool {
    if first.scheme() == "file" {
        let folder = first.path().rsplit_once('/').map_or("", |(folder, _)| folder);
        let is_below = other.path().strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
        return other.scheme() == "file" && other.host() == first.host() && is_below;
    }
    matches!(other.scheme(), "http" | "https")
}
