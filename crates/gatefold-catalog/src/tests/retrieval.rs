//! Texts that were written so that tools are found.

use super::*;

fn lists() -> SourceEntry {
    entry("lists", &[&tool("a1", "Alpha."), &tool("b2", "Beta."), &tool("c3", "Gamma.")])
}

fn texts(of: &Snapshot, id: &str, request: &str) -> RetrievalTexts {
    let tool = of.tools().iter().find(|tool| tool.id().as_str() == id).unwrap();
    let digest = tool.definition().digest();
    let mut texts = RetrievalTexts::default();
    let requests = vec![request.to_owned()];
    assert!(texts.insert(id, ToolTexts { digest, summary: String::new(), requests }));
    texts
}

fn first(snapshot: Snapshot, request: &str) -> Option<String> {
    let view = View::whole(Arc::new(snapshot));
    let hits = search(&view, request, &Scope::default(), SearchMode::Hybrid, 1);
    hits.first().filter(|hit| hit.fits()).map(|hit| hit.tool.id().to_string())
}

#[test]
fn a_tool_is_found_by_what_was_written_for_it() {
    let bare = Snapshot::build(vec![lists()], 1);
    let written = texts(&bare, "lists__b2", "put oat milk on the shopping list");
    let request = "add oat milk to my shopping";
    assert_ne!(first(bare, request).as_deref(), Some("lists__b2"));
    let with = || Snapshot::build(vec![lists()], 1).with_texts(Some(Arc::new(written.clone())));
    assert_eq!(first(with(), request).as_deref(), Some("lists__b2"));
    let later = Snapshot::build_after(&with(), vec![lists()], 2);
    assert_eq!(first(later, request).as_deref(), Some("lists__b2"), "it stays");
    let without = Snapshot::build_after(&with(), vec![lists()], 2).with_texts(None);
    assert_ne!(first(without, request).as_deref(), Some("lists__b2"), "until it is taken away");
}

#[test]
fn a_text_counts_only_for_the_definition_that_it_was_written_for() {
    let bare = Snapshot::build(vec![lists()], 1);
    let written = Arc::new(texts(&bare, "lists__b2", "put oat milk on the shopping list"));
    let changed = || entry("lists", &[&tool("a1", "Alpha."), &tool("b2", "Something else.")]);
    let snapshot = Snapshot::build(vec![changed()], 1).with_texts(Some(Arc::clone(&written)));
    let fits =
        |tool: &Tool| written.fitting(tool.id().as_str(), tool.definition().digest()).is_some();
    assert!(!fits(&snapshot.tools()[1]));
    assert_ne!(first(snapshot, "add oat milk to my shopping").as_deref(), Some("lists__b2"));
    assert!(fits(&bare.tools()[1]) && !fits(&bare.tools()[0]));
}

#[test]
fn a_hidden_tool_is_not_found_by_what_was_written_for_it() {
    let bare = Snapshot::build(vec![lists()], 1);
    let written = Arc::new(texts(&bare, "lists__b2", "put oat milk on the shopping list"));
    let snapshot = Arc::new(bare.with_texts(Some(written)));
    let view = View::new(snapshot, |target| &*target.name != "b2");
    let hits = search(&view, "oat milk shopping list", &Scope::default(), SearchMode::Hybrid, 9);
    assert!(hits.iter().all(|hit| hit.tool.id().as_str() != "lists__b2"));
}
