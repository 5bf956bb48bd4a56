use std::collections::BTreeSet;

use super::*;

#[test]
fn every_key_says_what_it_is() {
    for section in &sections(&Kinds::default()) {
        for key in &section.keys {
            let path = section.key_path(key);
            let ends = |text: &str| text.is_empty() || text.ends_with('.');
            assert!(!key.summary.is_empty() && ends(&key.summary), "{path}");
            assert!(ends(&key.details) && !key.unset.ends_with('.'), "{path}");
            assert!(!key.example.is_empty(), "{path}");
            let is_required = section.is_way(key);
            assert!(is_required || !key.default_text().is_empty(), "{path} has no default");
        }
    }
}

#[test]
fn keys_that_are_named_by_others_are_there() {
    for section in &sections(&Kinds::default()) {
        let names: BTreeSet<_> = section.keys.iter().map(|key| key.name.as_str()).collect();
        assert_eq!(names.len(), section.keys.len(), "{}", section.path);
        for key in &section.keys {
            let others = section.excluded_by(key).into_iter();
            for other in others.chain(key.needs.iter().map(String::as_str)) {
                assert!(names.contains(other), "{}", section.key_path(key));
            }
        }
    }
}
