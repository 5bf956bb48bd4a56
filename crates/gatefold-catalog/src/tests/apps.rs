//! Tools that sources offer to their own apps, and the resources that hosts show for tools.

use super::*;

fn with_meta(name: &str, meta: &str) -> String {
    format!(r#"{{"name":"{name}","inputSchema":{{}},"_meta":{meta}}}"#)
}

#[test]
fn visibility_and_the_resource_of_a_tool_are_read_in_both_spellings() {
    for (meta, for_apps_only, resource) in [
        ("{}", false, None),
        (r#"{"ui":{"visibility":["app"]}}"#, true, None),
        (r#"{"ui":{"visibility":["model","app"]}}"#, false, None),
        (r#"{"ui":{"visibility":["app","\u006dodel"]}}"#, false, None),
        (r#"{"ui":{"visibility":[]}}"#, true, None),
        (r#"{"ui":{"visibility":"app"}}"#, false, None),
        (r#"{"ui":{"visibility":[1,null]}}"#, true, None),
        (r#"{"ui":7,"ui/visibility":["app"]}"#, true, None),
        (r#"{"ui":{"visibility":["model"]},"ui/visibility":["app"]}"#, false, None),
        (r#"{"ui":{"resourceUri":"ui://a/b"}}"#, false, Some("ui://a/b")),
        (r#"{"ui/resourceUri":"ui:\/\/a"}"#, false, Some("ui://a")),
        (r#"{"ui":{"resourceUri":7}}"#, false, None),
    ] {
        let manifest = manifest(&[&with_meta("t", meta)]);
        let read = Manifest::from_bytes(&manifest.to_bytes()).unwrap();
        for tool in [&manifest.tools()[0], &read.tools()[0]] {
            assert_eq!(tool.is_for_apps_only(), for_apps_only, "{meta}");
            assert_eq!(tool.ui_resource(), resource, "{meta}");
        }
    }
}

#[test]
fn a_tool_for_apps_only_is_found_by_name_and_shown_nowhere() {
    let hidden = with_meta("board_refresh", r#"{"ui":{"visibility":["app"]}}"#);
    let odd = with_meta("board_app_refresh", r#"{"ui":{"visibility":["app"]}}"#);
    let view = view(vec![
        entry("board", &[&hidden, &odd, &tool("board_show", "Shows it"), &tool("list", "")]),
        entry("apps", &[&hidden]),
    ]);
    let listed: Vec<_> = view.tools().map(|tool| tool.id().as_str()).collect();
    assert_eq!(listed, ["board__list", "board_show"]);
    assert_eq!(view.tool_count(), 2);
    let board = view.domain("board").unwrap();
    assert_eq!(view.tools_in(board).count(), 2);
    assert_eq!(view.groups(board).iter().map(|group| group.tool_count).sum::<usize>(), 2);
    let of_apps: Vec<_> = view.tools_of_apps().map(|tool| tool.id().as_str()).collect();
    assert_eq!(of_apps.len(), 3);
    for name in ["board_refresh", "board__board_refresh", "apps__board_refresh"] {
        assert!(view.find(name).is_some_and(|tool| tool.definition().is_for_apps_only()), "{name}");
        assert!(of_apps.contains(&view.find(name).unwrap().id().as_str()));
    }
    assert!(view.find("board_app_refresh").is_some(), "it is an id");
    for query in ["board_refresh", "apps__board_refresh", "refresh", "zzz", "board_refres"] {
        let hits = search(&view, query, &Scope::default(), SearchMode::default(), 9);
        let all_listed = hits.iter().all(|hit| listed.contains(&hit.tool.id().as_str()));
        assert!(all_listed && !hits.is_empty(), "{query}");
    }
    let miss = view.resolve(&ToolName::parse("board_refres").unwrap()).unwrap_err();
    assert!(miss.nearest.iter().all(|id| listed.contains(&id.as_str())), "{miss:?}");
    assert!(view.tool_named(&Domain::parse("apps").unwrap(), "board_refresh").is_some());
    assert!(view.domain("apps").is_some(), "an endpoint may serve its apps");
}

#[test]
fn a_bare_name_never_means_a_tool_for_apps_only() {
    let app = with_meta("refresh", r#"{"ui":{"visibility":["app"]}}"#);
    let view = view(vec![entry("board", &[&app]), entry("other", &[&tool("refresh", "")])]);
    assert!(view.find("refresh").is_none(), "the catalogue has it twice");
    let alone = super::view(vec![entry("board", &[&app])]);
    assert!(alone.find("refresh").is_none());
    assert!(alone.find("board__refresh").is_some());
}

#[test]
fn a_hidden_tool_for_apps_only_is_not_there() {
    let app = with_meta("refresh", r#"{"ui":{"visibility":["app"]}}"#);
    let snapshot = Arc::new(Snapshot::build(vec![entry("board", &[&app])], 1));
    let view = View::new(snapshot, |_| false);
    assert!(view.find("board__refresh").is_none());
    assert!(view.tool_named(&Domain::parse("board").unwrap(), "refresh").is_none());
    assert_eq!((view.tools_of_apps().count(), view.domains().count()), (0, 0));
}
