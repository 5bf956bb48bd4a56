//! Where documents come from, and which ones a description may lead to.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use futures::future::{BoxFuture, FutureExt as _};
use gatefold_core::BoxError;
use url::Url;

use super::text::DOCUMENT_LIMIT;

/// Fetches the documents that make up a description.
///
/// The reader asks for the first one and then for what that refers to: a file for files at or below its
/// folder, anything else for `http` and `https` alone. The implementation has to bound size and time, and takes
/// the bytes that it holds from the budget, for it is asked for several documents at once.
pub trait Documents: Send + Sync {
    fn fetch<'a>(
        &'a self,
        url: &'a Url,
        budget: &'a DocumentBudget,
    ) -> BoxFuture<'a, Result<Bytes, BoxError>>;
}

/// The bytes that the documents of one description may still have: those that were read and those that are
/// arriving count together.
#[derive(Debug)]
pub struct DocumentBudget(AtomicUsize);

impl DocumentBudget {
    pub(super) fn new(bytes: usize) -> Self {
        Self(AtomicUsize::new(bytes))
    }

    /// Takes some of it. What was taken for a document that did not arrive is not given back.
    pub fn take(&self, bytes: usize) -> Result<(), BudgetSpent> {
        let taken = self
            .0
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(bytes));
        taken.map(|_| ()).map_err(|_| BudgetSpent)
    }
}

/// The documents of a description are too large together.
#[derive(Debug, thiserror::Error)]
#[error("all documents together have more than {DOCUMENT_LIMIT} bytes")]
pub struct BudgetSpent;

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

    fn read(&self, url: &Url, budget: &DocumentBudget) -> Result<Bytes, BoxError> {
        let path = url.to_file_path().map_err(|()| format!("`{url}` is no file"))?;
        let path = path.canonicalize()?;
        if !path.starts_with(&self.folder) {
            return Err(format!("`{}` is not in the description's folder", path.display()).into());
        }
        let size = path.metadata()?.len();
        match usize::try_from(size) {
            Ok(size) if size <= DOCUMENT_LIMIT => budget.take(size)?,
            _ => {
                let why = format!("it has {size} bytes, and the limit is {DOCUMENT_LIMIT}");
                return Err(why.into());
            }
        }
        Ok(std::fs::read(path)?.into())
    }
}

impl Documents for FileDocuments {
    fn fetch<'a>(
        &'a self,
        url: &'a Url,
        budget: &'a DocumentBudget,
    ) -> BoxFuture<'a, Result<Bytes, BoxError>> {
        std::future::ready(self.read(url, budget)).boxed()
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
