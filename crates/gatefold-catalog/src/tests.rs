use std::sync::Arc;

use gatefold_core::{Domain, Timestamp, ToolName};
use serde_json::value::RawValue;

use super::*;

mod apps;
mod builders;
mod descriptions;
mod encoders;
mod entries;
mod ids;
mod listings;
mod phrasings;
mod renamed;
mod retrieval;
mod signatures;
mod sizes;
mod topics;
mod twins;

fn server() -> ServerInfo {
    ServerInfo {
        name: "a-server".to_owned(),
        version: "1".to_owned(),
        title: None,
        description: None,
        instructions: None,
        protocol: "2025-11-25".to_owned(),
        capabilities: None,
        whole: None,
    }
}

fn manifest(pages: &[&str]) -> Manifest {
    let pages: Vec<_> = pages.iter().map(|tools| page("tools", tools)).collect();
    Manifest::from_pages(server(), &pages, Timestamp::from_millis(7))
}

/// A page of one of the lists.
fn page(member: &str, entries: &str) -> Box<RawValue> {
    RawValue::from_string(format!("{{\"{member}\":[{entries}]}}")).unwrap()
}

fn entry(domain: &str, tools: &[&str]) -> SourceEntry {
    SourceEntry {
        domain: Domain::parse(domain).unwrap(),
        kind: KindName::new("mcp"),
        description: None,
        aliases: Vec::new(),
        groups: GroupRules::default(),
        manifest: Some(Arc::new(manifest(&[&tools.join(",")]))),
    }
}

fn tool(name: &str, description: &str) -> String {
    format!(
        r#"{{"name":"{name}","description":"{description}","inputSchema":{{"type":"object"}}}}"#
    )
}

fn named(domain: &str, names: &[&str]) -> SourceEntry {
    let tools: Vec<_> = names.iter().map(|name| tool(name, "")).collect();
    entry(domain, &tools.iter().map(String::as_str).collect::<Vec<_>>())
}

fn view(entries: Vec<SourceEntry>) -> View {
    View::whole(Arc::new(Snapshot::build(entries, 1)))
}

mod manifests {
    use super::*;

    fn check(tool: &str, raw: Option<&str>, alterations: &[&str]) {
        let manifest = manifest(&[tool]);
        assert_eq!(manifest.tools().first().map(ToolDefinition::raw), raw, "{tool}");
        let notes: Vec<_> = manifest.alterations().iter().map(ToString::to_string).collect();
        assert_eq!(notes, alterations, "{tool}");
    }

    #[test]
    fn a_good_tool_keeps_its_definition_letter_for_letter() {
        let raw = r#"{"execution":{}, "name":"a","inputSchema" : {"type":"object", "x":1.0},"new":[ 1 ]}"#;
        check(raw, Some(raw), &[]);
        let manifest = manifest(&[raw]);
        assert_eq!(manifest.tools()[0].input_schema(), r#"{"type":"object", "x":1.0}"#);
    }

    #[test]
    fn a_bad_tool_is_repaired_or_left_out_on_its_own() {
        let bare = r#"{"name":"a","inputSchema":{"type":"object"}}"#;
        check(r#"{"name":"a"}"#, Some(bare), &["tool `a` was repaired: it had no `inputSchema`"]);
        check(
            r#"{"name":"a","inputSchema":true,"description":null,"outputSchema":"x"}"#,
            Some(bare),
            &[
                "tool `a` was repaired: `inputSchema` was not of the right kind",
                "tool `a` was repaired: `description` was not of the right kind",
                "tool `a` was repaired: `outputSchema` was not of the right kind",
            ],
        );
        check(
            r#"{"name":"a","inputSchema":{},"annotations":{"readOnlyHint":"yes","mine":1}}"#,
            Some(r#"{"name":"a","inputSchema":{},"annotations":{"mine":1}}"#),
            &["tool `a` was repaired: `readOnlyHint` was not of the right kind"],
        );
        check("7", None, &["tool 1 of page 1 was left out: it is not an object"]);
        check(r#"{"name":7}"#, None, &["tool 1 of page 1 was left out: it has no name"]);
        check(
            r#"{"name":"a\nb"}"#,
            None,
            &["tool `a b` was left out: its name is empty or has control characters"],
        );
        let twice = format!("{bare},{bare}");
        check(&twice, Some(bare), &["tool `a` was left out: it is listed twice"]);
        let manifest = manifest(&["7", &tool("a", "A"), &tool("b", "B")]);
        assert_eq!(manifest.tools().len(), 2);
    }

    #[test]
    fn maps_are_maps_at_any_depth_of_a_schema_and_lists_stay_lists() {
        let repaired =
            |places: &str| format!("tool `a` was repaired: {places} was not of the right kind");
        let check = |schema: &str, expected: &str, places: &str| {
            let tool = |schema: &str| format!(r#"{{"name":"a","inputSchema":{schema}}}"#);
            check(&tool(schema), Some(&tool(expected)), &[&repaired(places)]);
            check(&tool(expected), Some(&tool(expected)), &[]);
        };
        check("[]", r#"{"type":"object"}"#, "`inputSchema`");
        check(
            r#"{"type":"object","properties":[],"required":[]}"#,
            r#"{"type":"object","properties":{},"required":[]}"#,
            "`inputSchema/properties`",
        );
        check(
            r#"{"properties":{"rows":{"items":{"properties":[]}},"any":{"anyOf":[{"properties":null},[]]}}}"#,
            r#"{"properties":{"rows":{"items":{"properties":{}}},"any":{"anyOf":[{},{}]}}}"#,
            "`inputSchema/properties/rows/items/properties`, \
             `inputSchema/properties/any/anyOf/0/properties`, `inputSchema/properties/any/anyOf/1`",
        );
        check(
            r#"{"$defs":[],"patternProperties":[],"properties":{"q":{"default":[],"examples":[],"title":null},"b":true}}"#,
            r#"{"$defs":{},"patternProperties":{},"properties":{"q":{"default":[],"examples":[]},"b":{}}}"#,
            "`inputSchema/$defs`, `inputSchema/patternProperties`, `inputSchema/properties/q/title`, \
             and 1 more",
        );
        check(
            r#"{"properties":{"a":{"enum":[null,1],"default":null},"b":{"enum":[]}},"required":["a",null]}"#,
            r#"{"properties":{"a":{"enum":[null,1],"default":null},"b":{}},"required":["a"]}"#,
            "`inputSchema/properties/b/enum`, `inputSchema/required`",
        );
        check(
            r#"{"properties":{"a":{"required":true,"items":[{"type":"string"}]}}}"#,
            r#"{"properties":{"a":{"items":[{"type":"string"}]}}}"#,
            "`inputSchema/properties/a/required`",
        );
    }

    #[test]
    fn half_a_pair_of_surrogates_costs_no_tool() {
        let tool = |half: &str| {
            format!(
                r#"{{"name":"a","title":"T {half}","description":"{half} \ud83d\ude00","inputSchema":{{"properties":{{"x{half}":{{}}}}}}}}"#
            )
        };
        let notes = ["tool `a` was repaired: it had half of a surrogate pair"];
        check(&tool(r"\ud83d"), Some(&tool(r"\ufffd")), &notes);
        let manifest = manifest(&[&tool(r"\uDC4D")]);
        let tool = &manifest.tools()[0];
        assert_eq!(
            (tool.title(), tool.description()),
            (Some("T \u{fffd}"), Some("\u{fffd} \u{1f600}"))
        );
    }

    #[test]
    fn icons_and_annotations_are_what_clients_take() {
        check(
            r#"{"name":"a","inputSchema":{},"icons":[{"src":"x","sizes":null},{},"y"],"execution":{"taskSupport":null}}"#,
            Some(r#"{"name":"a","inputSchema":{},"icons":[{"src":"x"}],"execution":{}}"#),
            &[
                "tool `a` was repaired: `taskSupport` was not of the right kind",
                "tool `a` was repaired: `sizes` was not of the right kind",
                "tool `a` was repaired: one of its `icons` had no `src`",
                "tool `a` was repaired: one of its `icons` had no `src`",
            ],
        );
    }

    #[test]
    fn arguments_that_providers_refuse_are_listed_by_other_names_also_from_disk() {
        let odd = r#"{"name":"a","inputSchema":{"properties":{"ids[]":{}}}}"#;
        let manifest = manifest(&[odd]);
        let read = Manifest::from_bytes(&manifest.to_bytes()).unwrap();
        for manifest in [&manifest, &read] {
            let tool = &manifest.tools()[0];
            assert_eq!(tool.raw(), odd);
            assert_eq!(tool.listed_schema(), r#"{"properties":{"ids":{}}}"#);
            assert_eq!(tool.own_arguments(r#"{"ids":[1]}"#).unwrap(), r#"{"ids[]":[1]}"#);
        }
        let plain = self::manifest(&[r#"{"name":"a","inputSchema":{}}"#]);
        assert_eq!(plain.tools()[0].own_arguments(r#"{"ids":[1]}"#), None);
    }

    #[test]
    fn a_page_without_tools_costs_only_itself() {
        let pages = ["{}", r#"{"tools":[{"name":"a"}]}"#];
        let pages = pages.map(|page| RawValue::from_string(page.to_owned()).unwrap());
        let manifest = Manifest::from_pages(server(), &pages, Timestamp::from_millis(0));
        assert_eq!(manifest.tools().len(), 1);
        let first = manifest.alterations()[0].to_string();
        assert_eq!(first, "page 1 of the tools was left out: it holds no list of tools");
    }

    #[test]
    fn texts_are_decoded_and_hints_read() {
        let manifest = manifest(&[
            r#"{"name":"\u0061","description":"a\n\"b\"","inputSchema":{},"annotations":{"title":"T","destructiveHint":true}}"#,
        ]);
        let tool = &manifest.tools()[0];
        assert_eq!((tool.name(), tool.description()), ("a", Some("a\n\"b\"")));
        assert_eq!(tool.title(), Some("T"));
        assert!(tool.hints().is_destructive());
    }

    #[test]
    fn order_paging_and_key_order_do_not_show() {
        let (a, b) = (tool("a", "A"), tool("b", "B"));
        let turned = r#"{"inputSchema":{"type":"object"},"description":"B","name":"b"}"#;
        let one = manifest(&[&format!("{a},{b}")]);
        let other = manifest(&[turned, &a]);
        let names = |manifest: &Manifest| -> Vec<_> {
            manifest.tools().iter().map(|tool| tool.name().to_owned()).collect()
        };
        assert_eq!(one.digest(), other.digest());
        assert_eq!(names(&one), names(&other));
        assert_ne!(one.digest(), manifest(&[&a]).digest());
    }

    #[test]
    fn a_manifest_survives_its_bytes_and_damage_is_found() {
        let manifest = manifest(&[&tool("a", "ü \\n"), "7", &tool("b", "B")]);
        let bytes = manifest.to_bytes();
        let read = Manifest::from_bytes(&bytes).unwrap();
        assert_eq!(read.to_bytes(), bytes);
        assert_eq!(read.digest(), manifest.digest());
        assert_eq!(read.fetched_at(), Timestamp::from_millis(7));
        assert_eq!(read.tools()[0].description(), Some("ü \n"));
        assert_eq!(read.alterations(), manifest.alterations());
        for at in 0..bytes.len() {
            let mut bad = bytes.clone();
            bad[at] ^= 1;
            assert!(Manifest::from_bytes(&bad).is_err(), "{at}");
            assert!(Manifest::from_bytes(&bytes[..at]).is_err(), "{at}");
        }
    }
}

mod odd_listings {
    use proptest::prelude::*;

    use super::*;

    /// JSON from the words that listings consist of.
    fn json() -> impl Strategy<Value = String> {
        let leaf = prop_oneof![
            Just("null".to_owned()),
            Just("true".to_owned()),
            Just("1e999".to_owned()),
            any::<String>().prop_map(|text| serde_json::Value::from(text).to_string()),
            Just(r#""\\ud800""#.to_owned()),
        ];
        leaf.prop_recursive(4, 40, 6, |inner| {
            let key = prop_oneof![
                Just("name"),
                Just("description"),
                Just("inputSchema"),
                Just("annotations"),
                Just("title"),
                Just("properties"),
                Just("required"),
                Just("type"),
                Just("readOnlyHint"),
                Just("uri"),
                Just("uriTemplate"),
                Just("arguments"),
                Just("_meta"),
                Just("ui"),
                Just("visibility"),
                Just("resourceUri"),
            ];
            let object = proptest::collection::vec((key, inner.clone()), 0..6);
            let object = object.prop_map(|fields| {
                let field = |(key, value): &(&str, String)| {
                    format!("{}:{value}", serde_json::Value::from(*key))
                };
                format!("{{{}}}", fields.iter().map(field).collect::<Vec<_>>().join(", "))
            });
            let array = proptest::collection::vec(inner, 0..4);
            prop_oneof![3 => object, 1 => array.prop_map(|items| format!("[{}]", items.join(",")))]
        })
    }

    proptest! {
        #[test]
        fn no_listing_is_too_odd(tools in proptest::collection::vec(json(), 0..5)) {
            let manifest = manifest(&[&tools.join(",")]);
            prop_assert_eq!(manifest.tools().len() + left_out(&manifest), tools.len());
            let bytes = manifest.to_bytes();
            let read = Manifest::from_bytes(&bytes).unwrap();
            prop_assert_eq!(read.digest(), manifest.digest());
            let entry = SourceEntry { manifest: Some(Arc::new(read)), ..named("a", &[]) };
            let view = view(vec![entry]);
            for tool in view.tools() {
                prop_assert!(compact_signature(tool).starts_with(tool.id().as_str()));
                prop_assert!(differences(tool, tool.definition().raw()).len() < 99);
                prop_assert!(serde_json::from_str::<&RawValue>(tool.definition().raw()).is_ok());
            }
            prop_assert_eq!(search(&view, "name", &Scope::default(), SearchMode::default(), 9).is_empty(), view.tool_count() == 0);
        }
    }

    proptest! {
        #[test]
        fn no_entry_is_too_odd(entries in proptest::collection::vec(json(), 0..5)) {
            let pages = ["prompts", "resources", "resourceTemplates"];
            let [prompts, resources, templates] =
                pages.map(|member| [page(member, &entries.join(","))]);
            let listing = Listing {
                tools: &[],
                prompts: &prompts,
                resources: &resources,
                templates: &templates,
            };
            let manifest = Manifest::from_listing(server(), listing, Timestamp::from_millis(7));
            let kept =
                [manifest.prompts(), manifest.resources(), manifest.templates()].map(<[_]>::len);
            prop_assert_eq!(
                kept.iter().sum::<usize>() + left_out(&manifest),
                3 * entries.len()
            );
            let read = Manifest::from_bytes(&manifest.to_bytes()).unwrap();
            prop_assert_eq!(read.digest(), manifest.digest());
            let entry = SourceEntry { manifest: Some(Arc::new(read)), ..named("a", &[]) };
            let view = view(vec![entry]);
            for prompt in view.prompts() {
                prop_assert_eq!(view.find_prompt(prompt.id().as_str()).map(Entry::id), Some(prompt.id()));
                prop_assert!(object_fields(prompt.definition().raw()).is_some());
            }
            for resource in view.resources() {
                let found = view.find_resource(resource.id().as_str());
                prop_assert_eq!(found.as_ref(), Some(resource.target()));
            }
        }
    }

    fn left_out(manifest: &Manifest) -> usize {
        let left_out = |alteration: &&Alteration| matches!(alteration.what, Change::LeftOut(_));
        manifest.alterations().iter().filter(left_out).count()
    }
}

mod views {
    use super::*;

    fn check(view: &View, name: &str, expected: Result<&str, &[&str]>) {
        let resolved = view.resolve(&ToolName::parse(name).unwrap());
        let resolved = resolved.map(|tool| tool.id().to_string());
        let resolved = resolved
            .map_err(|miss| miss.nearest.iter().map(ToString::to_string).collect::<Vec<_>>());
        let nearest: Vec<String> =
            expected.err().into_iter().flatten().map(|id| (*id).into()).collect();
        assert_eq!(resolved, expected.map(str::to_owned).map_err(|_| nearest), "{name}");
    }

    #[test]
    fn a_name_resolves_in_order_of_certainty() {
        let view = view(vec![
            named("apollo", &["apollo_search", "list", "a.b"]),
            named("hubspot", &["list", "apollo_search", "enrich"]),
        ]);
        check(&view, "apollo_search", Ok("apollo_search"));
        check(&view, "apollo__apollo_search", Ok("apollo_search"));
        check(&view, "enrich", Ok("hubspot__enrich"));
        check(&view, "hubspot__list", Ok("hubspot__list"));
        check(&view, "list", Err(&["apollo__list", "hubspot__list"]));
        let odd = view.resolve(&ToolName::parse("apollo__a.b").unwrap()).unwrap();
        check(&view, odd.alias(), Ok("apollo__a.b"));
    }

    #[test]
    fn a_hidden_tool_looks_missing() {
        let snapshot = Arc::new(Snapshot::build(
            vec![named("a", &["list", "secret_list"]), named("b", &["list"]), named("c", &[])],
            1,
        ));
        let view =
            View::new(snapshot, |tool| tool.domain.as_str() != "b" && &*tool.name != "secret_list");
        check(&view, "list", Ok("a__list"));
        check(&view, "b__list", Err(&["a__list"]));
        check(&view, "secret_list", Err(&["a__list"]));
        let domains: Vec<_> = view.domains().map(|entry| entry.domain().as_str()).collect();
        assert_eq!(domains, ["a", "c"]);
        assert!(view.domain("b").is_none());
        assert_eq!(view.tool_count(), 1);
        assert!(
            search(&view, "secret", &Scope::default(), SearchMode::default(), 9)
                .iter()
                .all(|hit| hit.tool.id().as_str() == "a__list")
        );
    }

    #[test]
    fn an_invented_name_suggests_the_tools_that_do_it() {
        let view = view(vec![
            entry("mail", &[&tool("send_message", "Sends an email to somebody.")]),
            entry("tracker", &[&tool("create_issue", "Opens a ticket."), &tool("sent", "")]),
        ]);
        check(&view, "open_ticket", Err(&["tracker__create_issue"]));
        check(&view, "mail__send_mesage", Err(&["mail__send_message"]));
        check(&view, "zzzz", Err(&[]));
        let hidden = View::new(Arc::clone(view.snapshot()), |tool| &*tool.name != "create_issue");
        check(&hidden, "open_ticket", Err(&[]));
    }

    #[test]
    fn a_name_that_stays_keeps_its_shape() {
        let first = Snapshot::build(vec![named("a", &["read", "send"])], 1);
        first.names();
        let later = Snapshot::build_after(&first, vec![named("a", &["read", "sent"])], 2);
        let last = Snapshot::build_after(&later, vec![named("a", &["read", "send"])], 3);
        let is_kept = |name: &str| {
            let shapes = [&first, &last].map(|snapshot| snapshot.names().shape(name).unwrap());
            Arc::ptr_eq(shapes[0], shapes[1])
        };
        assert_eq!(["read", "a__read", "send"].map(is_kept), [true; 3], "nobody used the second");
        assert!(first.names().shape("sent").is_none());
    }

    #[test]
    fn a_name_of_many_tools_hides_none_that_is_shown() {
        let sources: Vec<_> =
            (0..30).map(|number| named(&format!("s{number:02}"), &["list_notes"])).collect();
        let snapshot = Arc::new(Snapshot::build(sources, 1));
        let last = View::new(snapshot, |tool| tool.domain.as_str() == "s29");
        check(&last, "list_notse", Err(&["s29__list_notes"]));
    }

    #[test]
    fn the_few_that_fit_are_selected_from_many_tools() {
        let names: Vec<_> =
            (0..SELECTION_THRESHOLD).map(|number| format!("tool{number}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let few = view(vec![named("a", &names)]);
        assert_eq!(select(&few, "send a letter").len(), SELECTION_THRESHOLD);
        let many = view(vec![named("a", &names), named("b", &["send_letter"])]);
        let selected = select(&many, "send a letter");
        assert_eq!(selected[0].id().as_str(), "b__send_letter");
        assert!(selected.len() <= SELECTED);
    }

    #[test]
    fn a_destructive_tool_is_never_suggested_first() {
        let delete =
            r#"{"name":"delete_note","inputSchema":{},"annotations":{"destructiveHint":true}}"#;
        let view = view(vec![entry("a", &[delete, &tool("delete_notes_draft", "")])]);
        check(&view, "delete_not", Err(&["a__delete_notes_draft", "a__delete_note"]));
        let view = super::view(vec![entry("a", &[delete])]);
        check(&view, "delete_not", Err(&[]));
    }

    #[test]
    fn no_two_tools_share_an_id_and_none_is_dropped() {
        let view = view(vec![
            entry(
                "a",
                &[&tool("b_c", "1"), &tool("b_c", "2"), &tool("a__b_c", "3"), &tool("_x", "")],
            ),
            named("_a", &["x"]),
            named("a_b", &["a_b_c"]),
        ]);
        let mut ids: Vec<_> = view.tools().map(|tool| tool.id().to_string()).collect();
        assert_eq!(ids.len(), 6);
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), 6, "{ids:?}");
    }

    #[test]
    fn entries_in_any_order_make_one_snapshot() {
        let (a, b) = (named("a", &["x", "y_z", "y_w"]), named("b", &["x"]));
        let one = Snapshot::build(vec![a.clone(), b.clone()], 1);
        let other = Snapshot::build(vec![b, a], 1);
        let shown = |snapshot: &Snapshot| -> Vec<_> {
            snapshot
                .tools()
                .iter()
                .map(|tool| (tool.id().clone(), tool.group().to_owned()))
                .collect()
        };
        assert_eq!(shown(&one), shown(&other));
    }
}

mod searches {
    use super::*;

    fn check(query: &str, scope: &Scope<'_>, expected: &[&str]) {
        let issue = r#"{"name":"createIssue","description":"Opens a ticket","inputSchema":{"properties":{"assignee_name":{}}}}"#;
        let view = view(vec![
            entry(
                "tracker",
                &[issue, &tool("list_issues", "Lists all tickets"), &tool("whoami", "The user")],
            ),
            entry(
                "mail",
                &[&tool("send", "Sends a message to somebody"), &tool("list", "Lists messages")],
            ),
        ]);
        let hits = search(&view, query, scope, SearchMode::Keyword, 3);
        let hits: Vec<_> = hits.iter().map(|hit| hit.tool.id().as_str()).collect();
        assert_eq!(hits, expected, "{query}");
    }

    #[test]
    fn all_fields_and_forms_of_words_are_searched() {
        let everywhere = Scope::default();
        check("create an issue", &everywhere, &["tracker__createIssue", "tracker__list_issues"]);
        check("assignees", &everywhere, &["tracker__createIssue"]);
        check("mail", &everywhere, &["mail__list", "mail__send"]);
        check("somebod", &everywhere, &["mail__send"]);
        check("list", &everywhere, &["mail__list", "tracker__list_issues"]);
    }

    #[test]
    fn a_name_comes_first_and_a_scope_holds() {
        check("tracker__whoami", &Scope::default(), &["tracker__whoami"]);
        let scope = Scope { domain: Some("mail"), group: None };
        check("list issues", &scope, &["mail__list"]);
    }

    #[test]
    fn an_answer_is_never_empty() {
        check("creatIsue", &Scope::default(), &["tracker__createIssue"]);
        check("qqqq", &Scope::default(), &["mail__list", "mail__send", "tracker__createIssue"]);
        check("the", &Scope { domain: Some("mail"), group: None }, &["mail__list", "mail__send"]);
    }
}

#[test]
fn a_resolved_entry_counts_only_where_it_is_shown() {
    let snapshot = || Arc::new(Snapshot::build(vec![named("mail", &["read", "send"])], 1));
    let (first, later) = (snapshot(), View::whole(snapshot()));
    let whole = View::whole(Arc::clone(&first));
    let reader = View::new(Arc::clone(&first), |target| &*target.name == "read");
    let [read, send] = ["read", "send"].map(|name| whole.find_tool(name).unwrap());
    assert_eq!(whole.tool_of(&send).unwrap().id().as_str(), "mail__send");
    assert!(reader.has(&read) && whole.has(&send));
    assert!(!reader.has(&send) && reader.tool_of(&send).is_none(), "it is hidden there");
    assert!(!later.has(&send), "it is of another snapshot");
    let again = View::new(first, |target| &*target.name == "read");
    assert!(again.is_same(&reader) && !again.is_same(&whole));
}
