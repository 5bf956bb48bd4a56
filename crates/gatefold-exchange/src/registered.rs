//! The tools that a session has found, at its top level for the rest of it.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use gatefold_disclose::CHOSEN_TOOLS;
use tokio::sync::watch;

/// The most tools that one session has registered. One more takes the place of the one that was found
/// longest ago.
pub const REGISTERED_TOOLS: usize = 32;

/// The most tools that one loop keeps: as many as its disclosure shows. One more is not kept, since none may go from
/// the beginning of a prompt.
const LOOP_TOOLS: usize = CHOSEN_TOOLS;

/// The tools that a session has found or loaded so far, by their names at the top level.
///
/// Whoever keeps sessions makes one for each. What it is shown of them still depends on its view.
#[derive(Debug, Default)]
pub struct RegisteredTools {
    keeper: ToolKeeper,
    found: Mutex<FoundTools>,
    changes: watch::Sender<()>,
}

/// Who keeps them.
#[derive(Debug, Clone, Copy, Default)]
enum ToolKeeper {
    /// A client's session, which has those that were found last.
    #[default]
    Session,
    /// A loop of our own, which has those that it was ever shown.
    Loop,
}

#[derive(Debug, Default)]
struct FoundTools {
    /// In the order in which they were last found, at most [`REGISTERED_TOOLS`] or [`LOOP_TOOLS`].
    recent: VecDeque<String>,
    /// The same, sorted.
    sorted: Arc<[String]>,
}

impl RegisteredTools {
    /// Those of a loop of our own.
    pub(crate) fn of_loop() -> Self {
        Self { keeper: ToolKeeper::Loop, ..Self::default() }
    }

    /// Fires when there are others than before.
    pub fn changes(&self) -> watch::Receiver<()> {
        self.changes.subscribe()
    }

    /// Their names, sorted.
    pub(crate) fn names(&self) -> Arc<[String]> {
        self.lock().sorted.clone()
    }

    pub(crate) fn add(&self, names: impl IntoIterator<Item = String>) {
        let has_changed = self.lock().add(names, self.keeper);
        if has_changed {
            self.changes.send_replace(());
        }
    }

    fn lock(&self) -> MutexGuard<'_, FoundTools> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl FoundTools {
    fn add(&mut self, names: impl IntoIterator<Item = String>, keeper: ToolKeeper) -> bool {
        for name in names {
            if let ToolKeeper::Loop = keeper {
                if self.recent.len() < LOOP_TOOLS && !self.recent.contains(&name) {
                    self.recent.push_back(name);
                }
                continue;
            }
            self.recent.retain(|known| *known != name);
            self.recent.push_back(name);
            if self.recent.len() > REGISTERED_TOOLS {
                self.recent.pop_front();
            }
        }
        let mut sorted: Vec<_> = self.recent.iter().cloned().collect();
        sorted.sort();
        let has_changed = sorted != *self.sorted;
        if has_changed {
            self.sorted = sorted.into();
        }
        has_changed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(range: std::ops::Range<usize>) -> impl Iterator<Item = String> {
        range.map(|number| format!("t{number:02}"))
    }

    #[test]
    fn the_one_found_longest_ago_leaves_when_there_are_too_many() {
        let tools = RegisteredTools::default();
        tools.add(names(0..REGISTERED_TOOLS));
        tools.add(names(0..1));
        tools.add(names(40..41));
        let kept = tools.names();
        assert_eq!(kept.len(), REGISTERED_TOOLS);
        assert!(kept.is_sorted() && kept.contains(&"t00".to_owned()), "it was found again");
        assert!(!kept.contains(&"t01".to_owned()) && kept.contains(&"t40".to_owned()));
    }

    #[test]
    fn none_leaves_a_loop() {
        let tools = RegisteredTools::of_loop();
        tools.add(names(0..LOOP_TOOLS + 2));
        tools.add(names(0..1));
        assert!(tools.names().iter().cloned().eq(names_sorted(LOOP_TOOLS)));
    }

    fn names_sorted(count: usize) -> Vec<String> {
        let mut sorted: Vec<_> = names(0..count).collect();
        sorted.sort();
        sorted
    }

    #[test]
    fn finding_the_same_again_is_no_change() {
        let tools = RegisteredTools::default();
        let mut changes = tools.changes();
        tools.add(names(0..2));
        assert!(changes.has_changed().unwrap());
        changes.mark_unchanged();
        tools.add(names(0..1));
        tools.add(None);
        assert!(!changes.has_changed().unwrap());
    }
}
