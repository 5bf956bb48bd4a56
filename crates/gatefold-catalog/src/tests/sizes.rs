//! How the size of a catalogue decides where searches of it run.

use super::*;
use crate::snapshot::QUICK_TOOLS;

/// Whether a catalogue of this many tools searches quickly before and after its first unknown name.
fn quickly(tools: usize) -> (bool, bool) {
    let names: Vec<_> = (0..tools).map(|number| format!("t{number}")).collect();
    let view = view(vec![named("a", &names.iter().map(String::as_str).collect::<Vec<_>>())]);
    let before = view.snapshot().searches_quickly();
    assert!(view.resolve(&ToolName::parse("nobody_has_this").unwrap()).is_err());
    (before, view.snapshot().searches_quickly())
}

#[test]
fn a_catalogue_searches_quickly_once_its_indexes_are_built_unless_it_is_large() {
    assert_eq!(quickly(3), (false, true));
    assert_eq!(quickly(QUICK_TOOLS + 1), (false, false));
}
