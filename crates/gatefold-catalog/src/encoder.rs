//! The port to a sentence encoder, which judges the likeliest tools of a search once more.

use std::fmt;
use std::time::Duration;

/// A sentence encoder beside the index.
///
/// A passage is what it reads of one tool. A tool whose passage it has not read yet is ranked without.
pub trait Encoder: fmt::Debug + Send + Sync + 'static {
    /// Takes the passages of all tools in place of those before, and reads them when it can. It
    /// returns at once.
    fn read(&self, passages: Vec<String>);

    /// Waits until all that was given is read, at most as long as said. Whether it is. Measures need
    /// it; a search never waits.
    fn finish(&self, limit: Duration) -> bool;

    /// How like a request passages are, in their order: cosines; none for what was not read yet.
    ///
    /// It may take some hundredths of a second for a request that it has not seen lately, and does
    /// not fail: what it cannot judge it does not know.
    fn likenesses(&self, request: &str, passages: &[&str]) -> Vec<Option<f32>>;

    /// The same of past requests. Nobody gives them to it beforehand: it begins to read those that it
    /// does not know, those of the latest search first of all. It keeps nothing of them that outlives
    /// the process, for they may be erased.
    fn past_likenesses(&self, request: &str, past: &[&str]) -> Vec<Option<f32>>;
}
