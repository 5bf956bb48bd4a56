//! Prompts, resources and resource templates in snapshots and views.

use gatefold_core::{EntryKind, Target};

use super::*;

/// What a source offers besides tools, as names and URIs.
#[derive(Default)]
struct Offer<'a> {
    tools: &'a [&'a str],
    prompts: &'a [&'a str],
    resources: &'a [&'a str],
    templates: &'a [&'a str],
    capabilities: Option<&'a str>,
}

fn offered(domain: &str, offer: &Offer<'_>) -> SourceEntry {
    let all = |member: &str, key: &str, values: &[&str]| {
        let value = |value: &&str| format!(r#"{{"{key}":"{value}","name":"{value}"}}"#);
        [page(member, &values.iter().map(value).collect::<Vec<_>>().join(","))]
    };
    let server = ServerInfo { capabilities: offer.capabilities.map(ToOwned::to_owned), ..server() };
    let listing = Listing {
        tools: &all("tools", "name", offer.tools),
        prompts: &all("prompts", "name", offer.prompts),
        resources: &all("resources", "uri", offer.resources),
        templates: &all("resourceTemplates", "uriTemplate", offer.templates),
    };
    let manifest = Manifest::from_listing(server, listing, Timestamp::from_millis(7));
    SourceEntry { manifest: Some(Arc::new(manifest)), ..named(domain, &[]) }
}

fn hiding(entries: Vec<SourceEntry>, hidden: &'static [&'static str]) -> View {
    let snapshot = Arc::new(Snapshot::build(entries, 1));
    View::new(snapshot, |target| !hidden.contains(&target.id.as_str()))
}

fn ids<'a>(entries: impl Iterator<Item = &'a Entry>) -> Vec<&'a str> {
    entries.map(|entry| entry.id().as_str()).collect()
}

fn files_and_notes() -> Vec<SourceEntry> {
    let files = Offer {
        prompts: &["review", "files_summary"],
        resources: &["file:///a", "file:///shared"],
        templates: &["file:///{name}.md"],
        ..Offer::default()
    };
    let notes = Offer {
        tools: &["review"],
        prompts: &["review", "write"],
        resources: &["file:///shared", "ui://board/main"],
        templates: &["note://{id}", "file:///n/{+rest}"],
        ..Offer::default()
    };
    vec![offered("notes", &notes), offered("files", &files)]
}

#[test]
fn entries_have_ids_behind_the_gateway_and_are_sorted() {
    let view = view(files_and_notes());
    let expected = ["files_summary", "files__review", "notes__review", "notes__write"];
    assert_eq!(ids(view.prompts()), expected);
    assert_eq!(
        ids(view.resources()),
        [
            "gatefold://files/file:///a",
            "gatefold://files/file:///shared",
            "gatefold://notes/file:///shared",
            "ui://gatefold/notes/board/main",
        ]
    );
    assert_eq!(
        ids(view.templates()),
        [
            "gatefold://files/file:///{name}.md",
            "gatefold://notes/file:///n/{+rest}",
            "gatefold://notes/note://{id}",
        ]
    );
    let kinds =
        |entries: &[Entry]| -> Vec<_> { entries.iter().map(|entry| entry.target().kind).collect() };
    let snapshot = view.snapshot();
    assert_eq!(kinds(snapshot.prompts()), [EntryKind::Prompt; 4]);
    assert_eq!(kinds(snapshot.resources()), [EntryKind::Resource; 4]);
    assert_eq!(kinds(snapshot.templates()), [EntryKind::Resource; 3]);
    let notes = view.domain("notes").unwrap();
    assert_eq!(ids(view.prompts_in(notes)), ["notes__review", "notes__write"]);
    assert_eq!(ids(view.resources_in(notes)).len(), 2);
    assert_eq!(ids(view.templates_in(notes)).len(), 2);
    assert_eq!(view.resources_in(notes).next().unwrap().definition().key(), "file:///shared");
}

#[test]
fn prompts_and_tools_do_not_disturb_one_anothers_ids() {
    let view = view(files_and_notes());
    assert_eq!(view.find("notes__review").unwrap().id().as_str(), "notes__review");
    assert_eq!(view.find_prompt("notes__review").unwrap().id().as_str(), "notes__review");
    let odd = Offer { prompts: &["x", "a__x"], ..Offer::default() };
    let view = super::view(vec![offered("a", &odd)]);
    let all = ids(view.prompts());
    assert_eq!(all.len(), 2);
    assert_ne!(all[0], all[1]);
}

#[test]
fn two_definitions_of_one_uri_are_one_resource() {
    let mut entry = offered("a", &Offer::default());
    let page = page("resources", r#"{"uri":"a://b","name":"1"},{"uri":"a://b","name":"2"}"#);
    let listing = Listing { resources: &[page], ..Listing::default() };
    let manifest = Manifest::from_listing(server(), listing, Timestamp::from_millis(7));
    assert_eq!(manifest.resources().len(), 2);
    entry.manifest = Some(Arc::new(manifest));
    assert_eq!(ids(view(vec![entry]).resources()), ["gatefold://a/a://b"]);
}

#[test]
fn a_prompts_name_resolves_in_order_of_certainty() {
    let view = hiding(files_and_notes(), &["notes__write"]);
    for (name, expected) in [
        ("files_summary", Some("files_summary")),
        ("files__files_summary", Some("files_summary")),
        ("files__review", Some("files__review")),
        ("review", None),
        ("write", None),
        ("notes__write", None),
        ("file:///a", None),
    ] {
        assert_eq!(view.find_prompt(name).map(|entry| entry.id().as_str()), expected, "{name}");
    }
    let view = hiding(files_and_notes(), &["notes__review", "files_summary"]);
    assert_eq!(view.find_prompt("files__files_summary").map(Entry::id), None);
    let review = view.find_prompt("review").map(|entry| entry.id().as_str());
    assert_eq!(review, Some("files__review"), "it is the only one here that is called so");
}

#[test]
fn a_resource_is_found_by_its_address_or_by_what_only_one_source_has() {
    let view = view(files_and_notes());
    for (uri, expected) in [
        ("gatefold://files/file:///a", Some("gatefold://files/file:///a")),
        ("ui://gatefold/notes/board/main", Some("ui://gatefold/notes/board/main")),
        ("gatefold://notes/note://{id}", Some("gatefold://notes/note://{id}")),
        // Not listed, but the source has resources.
        ("gatefold://files/file:///b", Some("gatefold://files/file:///b")),
        ("gatefold://files/x", Some("gatefold://files/x")),
        // The sources' own URIs.
        ("file:///a", Some("gatefold://files/file:///a")),
        ("ui://board/main", Some("ui://gatefold/notes/board/main")),
        ("note://{id}", Some("gatefold://notes/note://{id}")),
        ("note://7", Some("gatefold://notes/note://7")),
        ("file:///n/o/p", Some("gatefold://notes/file:///n/o/p")),
        ("file:///n.md", Some("gatefold://files/file:///n.md")),
        // In both sources, in neither, and not an address.
        ("file:///shared", None),
        ("file:///b", None),
        ("gatefold://files/", None),
        ("gatefold://nowhere/file:///a", None),
        ("gatefold://notes/ui://board/main", None),
        ("gatefold://files/a\nb", None),
        ("", None),
    ] {
        let found = view.find_resource(uri);
        assert_eq!(found.as_ref().map(|target| target.id.as_str()), expected, "{uri}");
        assert!(found.is_none_or(|target| target.kind == EntryKind::Resource), "{uri}");
    }
    let too_long = format!("gatefold://files/{}", "x".repeat(8193));
    assert!(view.find_resource(&too_long).is_none());
}

#[test]
fn a_uri_that_fits_templates_of_two_sources_means_neither() {
    let one = Offer { templates: &["x://{a}", "x://{+a}"], ..Offer::default() };
    let other = Offer { templates: &["x://{a}/c"], ..Offer::default() };
    let view = view(vec![offered("one", &one), offered("other", &other)]);
    let found = view.find_resource("x://b").unwrap();
    assert_eq!(found.id.as_str(), "gatefold://one/x://b");
    assert_eq!(view.find_resource("x://b/c"), None);
    assert_eq!(view.find_resource("gatefold://other/x://b/c").unwrap().domain.as_str(), "other");
}

#[test]
fn a_hidden_resource_looks_missing_by_every_name() {
    let hidden = &["gatefold://files/file:///a", "gatefold://files/file:///{name}.md"];
    let view = hiding(files_and_notes(), hidden);
    for uri in ["file:///a", "file:///n.md", "file:///{name}.md"] {
        assert_eq!(view.find_resource(uri), None, "{uri}");
    }
    // By its address it looks like any that is not listed. Policy judges all of these.
    for uri in [hidden[0], hidden[1], "gatefold://files/file:///none"] {
        let found = view.find_resource(uri).unwrap();
        assert!(!view.lists_resource(&found), "{uri}");
    }
    assert_eq!(ids(view.resources_in(view.domain("files").unwrap())).len(), 1);
    assert_eq!(view.templates().count(), 2);
    // A template of the same source leads to it as to any that is not listed.
    let offer = Offer {
        resources: &["file:///a.md"],
        templates: &["file:///{name}.md"],
        ..Offer::default()
    };
    let view = hiding(vec![offered("files", &offer)], &["gatefold://files/file:///a.md"]);
    for uri in ["file:///a.md", "file:///b.md"] {
        assert!(!view.lists_resource(&view.find_resource(uri).unwrap()), "{uri}");
    }
    // What one source hides does not block another.
    let view = hiding(files_and_notes(), &["gatefold://files/file:///shared"]);
    let shared = view.find_resource("file:///shared").unwrap();
    assert_eq!(shared.id.as_str(), "gatefold://notes/file:///shared");
}

#[test]
fn a_resource_that_is_not_listed_is_known_by_its_uri() {
    let view = view(files_and_notes());
    let target = view.find_resource("gatefold://files/file:///b").unwrap();
    let Target { domain, name, digest, .. } = target.as_ref();
    assert_eq!((domain.as_str(), name.as_ref()), ("files", "file:///b"));
    let elsewhere = view.find_resource("gatefold://notes/file:///b").unwrap();
    assert_eq!(*digest, elsewhere.digest);
    let other = view.find_resource("gatefold://files/file:///c").unwrap();
    assert_ne!(*digest, other.digest);
}

#[test]
fn only_a_source_that_offers_resources_has_some_that_it_does_not_list() {
    for (capabilities, expected) in [
        (None, false),
        (Some(r#"{"tools":{}}"#), false),
        (Some(r#"{"resources":null}"#), false),
        (Some("[]"), false),
        (Some(r#"{"resources":{"subscribe":true}}"#), true),
    ] {
        let offer = Offer { tools: &["t"], capabilities, ..Offer::default() };
        let view = view(vec![offered("a", &offer)]);
        let found = view.find_resource("gatefold://a/x://y");
        assert_eq!(found.is_some(), expected, "{capabilities:?}");
    }
    let silent = SourceEntry { manifest: None, ..named("a", &[]) };
    assert_eq!(view(vec![silent]).find_resource("gatefold://a/x://y"), None);
}

#[test]
fn a_domain_is_shown_for_anything_that_is_visible_of_it() {
    let prompt = Offer { prompts: &["p"], ..Offer::default() };
    let resource = Offer { resources: &["r://"], ..Offer::default() };
    let both = Offer { tools: &["t"], templates: &["{x}"], ..Offer::default() };
    let entries = || {
        vec![
            offered("prompts", &prompt),
            offered("resources", &resource),
            offered("both", &both),
            offered("nothing", &Offer::default()),
        ]
    };
    let shown = |hidden: &'static [&'static str]| -> Vec<String> {
        let view = hiding(entries(), hidden);
        view.domains().map(|entry| entry.domain().to_string()).collect()
    };
    assert_eq!(shown(&[]), ["both", "nothing", "prompts", "resources"]);
    assert_eq!(shown(&["both__t"]), ["both", "nothing", "prompts", "resources"]);
    let hidden = &["both__t", "gatefold://both/{x}", "prompts__p", "gatefold://resources/r://"];
    assert_eq!(shown(hidden), ["nothing"]);
}

#[test]
fn a_view_narrowed_to_a_domain_knows_no_other() {
    let whole = hiding(files_and_notes(), &["notes__write"]);
    let notes = whole.within(&Domain::parse("notes").unwrap());
    assert_eq!(ids(notes.prompts()), ["notes__review"]);
    assert_eq!(notes.tool_count(), 1);
    assert_eq!(notes.domains().count(), 1);
    assert!(notes.domain("files").is_none());
    assert_eq!(notes.find_prompt("review").unwrap().id().as_str(), "notes__review");
    assert_eq!(notes.find_prompt("files__review").map(Entry::id), None);
    assert_eq!(notes.find_prompt("write").map(Entry::id), None, "what was hidden stays hidden");
    let shared = notes.find_resource("file:///shared").unwrap();
    assert_eq!(shared.domain.as_str(), "notes");
    assert_eq!(notes.find_resource("gatefold://files/file:///a"), None);
    assert_eq!(notes.find_resource("gatefold://files/file:///unlisted"), None);
    for empty in
        [notes.within(&Domain::parse("files").unwrap()), whole.within(&Domain::parse("x").unwrap())]
    {
        assert_eq!((empty.tool_count(), empty.domains().count()), (0, 0));
        assert_eq!((empty.prompts().count(), empty.templates().count()), (0, 0));
        assert_eq!(empty.find_resource("file:///a"), None);
        assert!(search(&empty, "review", &Scope::default(), SearchMode::default(), 9).is_empty());
    }
}

#[test]
fn an_entry_is_found_by_the_name_its_source_gives_it() {
    let view = hiding(files_and_notes(), &["notes__write"]);
    let notes = Domain::parse("notes").unwrap();
    let files = Domain::parse("files").unwrap();
    let prompt = |domain: &Domain, name: &str| {
        view.prompt_named(domain, name).map(|entry| entry.id().as_str())
    };
    assert_eq!(prompt(&notes, "review"), Some("notes__review"));
    assert_eq!(prompt(&files, "review"), Some("files__review"));
    assert_eq!(prompt(&files, "files_summary"), Some("files_summary"));
    assert_eq!(prompt(&notes, "files_summary"), None);
    assert_eq!(prompt(&notes, "write"), None);
    assert_eq!(prompt(&notes, "notes__review"), None);
    assert!(view.tool_named(&notes, "review").is_some());
    assert!(view.tool_named(&files, "review").is_none());
    assert!(view.within(&files).tool_named(&notes, "review").is_none());
}
