//! The port to a sentence encoder, which re-scores the likeliest tools of a search.

use std::fmt;
use std::time::Duration;

/// A sentence encoder that supplements the index.
///
/// It reads one passage for each tool. Until it has read all of them, tools are ranked without it, so
/// that a request has two answers at most: one from before, and one from then on.
pub trait Encoder: fmt::Debug + Send + Sync + 'static {
    /// Replaces the passages to read by those of all tools, and reads them when it can. Returns at
    /// once.
    fn read(&self, passages: Vec<String>);

    /// Waits until nothing is left to read, past requests included, at most `limit`, and returns
    /// whether nothing is: also if it cannot read at all. For measurements; the search of a client
    /// never waits.
    fn finish(&self, limit: Duration) -> bool;

    /// How similar a request is to passages, in their order: cosines; none for those that it was not
    /// given to read, and for all until it has read what it was given.
    ///
    /// It may take some hundredths of a second for a request that it has not seen recently. It
    /// cannot fail: what it cannot judge counts as not read.
    fn similarities(&self, request: &str, passages: &[&str]) -> Vec<Option<f32>>;

    /// The same for past requests: none for those that are not read, and for all until the passages
    /// are. The encoder starts to read those that it does not know, beginning with those of the latest
    /// search. It must not keep anything of them beyond the life of the process, because they may be
    /// erased.
    fn past_similarities(&self, request: &str, past: &[&str]) -> Vec<Option<f32>>;

    /// The bar above which something fits, if its cosines are on another scale than those of the
    /// built-in encoder: see [`SearchEvidence::bar`](gatefold_search::SearchEvidence::bar).
    fn bar(&self) -> Option<f32> {
        None
    }
}
