use gatefold_catalog::{GroupRules, Manifest, Pattern, Snapshot, SourceEntry, ToolSpec};
use gatefold_core::{Domain, Timestamp};
use insta::assert_snapshot;
use serde_json::Value;

use super::*;
use crate::test_kinds::kind_named;
use crate::{FlatDisclosure, Gateway, Names, NamespaceDisclosure, TypedDisclosure};

/// A name, and what it is about.
type Described = (&'static str, &'static str);

const TOOLS: [(&str, &str, &[Described]); 4] = [
    (
        "mail",
        "mcp",
        &[
            ("send_mail", "Send an e-mail to somebody."),
            ("list_mails", "List the mails of a folder."),
            ("delete_mail", "Delete a mail."),
            ("move_mail", "Move a mail to a folder."),
        ],
    ),
    (
        "calendar",
        "mcp",
        &[
            ("create_event", "Put an appointment into the calendar."),
            ("list_events", "List the appointments of a day."),
            ("delete_event", "Remove an appointment."),
            ("find_free_time", "Find a time when everybody is free."),
        ],
    ),
    (
        "files",
        "mcp",
        &[
            ("read_file", "Read a file."),
            ("write_file", "Write a file."),
            ("list_files", "List the files of a folder."),
        ],
    ),
    (
        "shop",
        "openapi",
        &[
            ("create_order", "Order an article."),
            ("get_order", "What became of an order."),
            ("refund_order", "Give the money for an order back."),
        ],
    ),
];

fn view() -> View {
    let entry = |(domain, kind, tools): &(&str, &'static str, &[Described])| {
        let start = Manifest::builder(Timestamp::from_millis(0));
        let manifest = tools
            .iter()
            .fold(start, |all, (name, about)| all.tool(ToolSpec::new(*name).description(*about)));
        SourceEntry {
            domain: Domain::parse(domain).unwrap(),
            kind: kind_named(kind),
            description: None,
            aliases: Vec::new(),
            groups: GroupRules::default(),
            manifest: Some(Arc::new(manifest.build())),
        }
    };
    View::whole(Arc::new(Snapshot::build(TOOLS.iter().map(entry).collect(), 1)))
}

fn flat() -> Arc<dyn Disclosure> {
    Arc::new(FlatDisclosure { names: Names::Public })
}

fn selected(inner: Arc<dyn Disclosure>, request: &str) -> SelectedDisclosure {
    SelectedDisclosure::new(inner, request, SelectionLimits::default(), Pins::default())
}

fn surface(disclosure: &dyn Disclosure) -> Surface {
    disclosure.surface(&view(), &ClientLimits::default())
}

fn names(surface: &Surface) -> Vec<&str> {
    surface.tools.iter().map(|tool| tool.name.as_str()).collect()
}

fn answer(disclosure: &dyn Disclosure, name: &str, arguments: &str) -> String {
    let name = ToolName::parse(name).unwrap();
    let arguments = RawValue::from_string(arguments.to_owned()).unwrap();
    match disclosure.interpret(&view(), &name, &arguments) {
        Ok(Step::Reply(reply) | Step::Loaded(reply, _)) => {
            let block: Value = serde_json::from_str(reply.content[0].get()).unwrap();
            block["text"].as_str().unwrap().to_owned()
        }
        Ok(Step::Call(request)) => {
            format!("call {} {}", request.operation.subject(), request.operation.arguments())
        }
        Ok(Step::Found(..)) => panic!("{name} searched"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn the_likeliest_six_are_shown_and_the_others_named() {
    let shown = surface(&selected(flat(), "send an e-mail about the order to Ada"));
    let names = names(&shown);
    assert_eq!(names.len(), 8, "{names:?}");
    assert!(names.contains(&"mail__send_mail"), "{names:?}");
    assert_eq!(names[6..], ["request_tools", "execute_tool"]);
    let rest: Value = serde_json::from_str(shown.tools[6].definition.get()).unwrap();
    let listed = rest["inputSchema"]["properties"]["tool_names"]["items"]["enum"].as_array();
    let listed: Vec<_> = listed.unwrap().iter().map(|name| name.as_str().unwrap()).collect();
    assert_eq!(listed.len(), 8);
    let all: BTreeSet<_> = names[..6].iter().chain(&listed).copied().collect();
    assert_eq!(all.len(), 14, "every tool is in one of the two");
    let description = rest["description"].as_str().unwrap();
    let start =
        "Load additional tools into the current session.\nAvailable tools not yet loaded:\n- ";
    assert!(description.starts_with(start), "{description}");
    assert!(description.contains("\n- files__read_file: Read a file."), "{description}");
}

#[test]
fn another_request_has_other_tools_and_the_same_one_the_same_bytes() {
    let of = |request: &str| -> Vec<String> {
        let shown = surface(&selected(flat(), request));
        shown.tools.iter().map(|tool| tool.definition.get().to_owned()).collect()
    };
    assert_eq!(of("read a file"), of("read a file"));
    assert_ne!(of("read a file"), of("cancel the appointment on Monday"));
}

#[test]
fn a_surface_that_is_small_enough_stays_as_it_is() {
    for inner in [Arc::new(Gateway::default()) as Arc<dyn Disclosure>, typed()] {
        let whole: Vec<_> = surface(&*inner).tools.iter().map(|tool| tool.name.clone()).collect();
        assert_eq!(names(&surface(&selected(inner, "read a file"))), whole);
    }
}

fn typed() -> Arc<dyn Disclosure> {
    Arc::new(TypedDisclosure::default())
}

#[test]
fn a_tool_that_reaches_others_counts_as_its_best() {
    let limits = SelectionLimits { threshold: 3, most: 2 };
    let inner = Arc::new(NamespaceDisclosure::default());
    let request = "give the money for the order back";
    let chosen = SelectedDisclosure::new(inner, request, limits, Pins::default());
    let shown = surface(&chosen);
    let expected = ["shop__get_tool_schema", "shop__invoke_tool", "request_tools", "execute_tool"];
    assert_eq!(names(&shown), expected);
}

#[test]
fn pinned_and_loaded_tools_are_shown_too() {
    let chosen = SelectedDisclosure {
        pinned: vec![Pattern::new("shop__*")].into(),
        ..selected(flat(), "read a file")
    };
    assert_eq!(surface(&chosen).tools.len(), 3 + 6 + 2);
    let loaded = chosen.with_loaded(["calendar__find_free_time".to_owned(), "nothing".to_owned()]);
    let shown = surface(&loaded);
    let names = names(&shown);
    assert!(names.contains(&"calendar__find_free_time") && !names.contains(&"nothing"));
}

#[test]
fn what_is_not_shown_is_loaded_with_its_schema_and_called() {
    let chosen = selected(flat(), "read a file");
    let told = answer(&chosen, "request_tools", r#"{"tool_names":["mail__move_mail"]}"#);
    assert_snapshot!(told, @r#"{"tools":[{"description":"Move a mail to a folder.","inputSchema":{"type":"object"},"name":"mail__move_mail"}],"note":"Call them by their names, or with execute_tool(tool_name, arguments)."}"#);
    for call in [
        ("mail__move_mail", r#"{"to":"old"}"#),
        ("execute_tool", r#"{"tool_name":"mail__move_mail","arguments":{"to":"old"}}"#),
    ] {
        assert_eq!(answer(&chosen, call.0, call.1), r#"call mail__move_mail {"to":"old"}"#);
    }
    let some = r#"{"tool_names":["mail__move_mail","mail__mov_mail"," mail__move_mail"]}"#;
    assert_snapshot!(answer(&chosen, "request_tools", some), @r#"{"tools":[{"description":"Move a mail to a folder.","inputSchema":{"type":"object"},"name":"mail__move_mail"}],"note":"Call them by their names, or with execute_tool(tool_name, arguments).","not_loaded":"Unknown tool 'mail__mov_mail'. Did you mean 'mail__move_mail', 'mail__send_mail' or 'mail__list_mails'?"}"#);
    for (arguments, told) in [
        ("{}", "Missing parameter 'tool_names' of request_tools. Name tools that it lists."),
        (
            r#"{"tool_names":7}"#,
            "Parameter 'tool_names' of request_tools must be a list of strings.",
        ),
        (
            r#"{"tool_names":"mail__mov_mail"}"#,
            "Unknown tool 'mail__mov_mail'. Did you mean 'mail__move_mail', 'mail__send_mail' or 'mail__list_mails'? request_tools lists what it can load.",
        ),
    ] {
        assert_eq!(answer(&chosen, "request_tools", arguments), told);
    }
}

#[test]
fn a_meta_tool_is_loaded_and_called_like_any_other() {
    let limits = SelectionLimits { threshold: 1, most: 1 };
    let chosen = SelectedDisclosure::new(typed(), "move the mail", limits, Pins::default());
    assert_eq!(names(&surface(&chosen)), ["mcp", "request_tools", "execute_tool"]);
    let call = r#"{"tool_name":"connector","arguments":{"subcommand":"execute","connector":"shop","action":"get_order"}}"#;
    assert_eq!(answer(&chosen, "execute_tool", call), "call shop__get_order {}");
}

/// A view after what a loop was shown, and what it is shown then.
fn in_loop(view: View, inner: Arc<dyn Disclosure>, request: &str) -> (View, Vec<String>) {
    let shown = selected(inner, request).for_loop().surface(&view, &ClientLimits::default());
    let shown: Vec<_> = shown.tools.into_iter().map(|tool| tool.name).collect();
    let kept = view.registered().iter().chain(&shown).cloned();
    let kept: BTreeSet<_> = kept.collect();
    (view.with_registered(kept.into_iter().collect()), shown)
}

#[test]
fn a_loop_keeps_what_it_was_shown_and_has_no_tool_that_runs_others() {
    let (view, first) = in_loop(view(), flat(), "read a file");
    assert_eq!((first.len(), first.last().map(String::as_str)), (7, Some(REQUEST)));
    let (view, same) = in_loop(view, flat(), "read a file");
    assert_eq!(same, first, "what was chosen before counts");
    let (_, more) = in_loop(view, flat(), "cancel the appointment on Monday");
    assert!(first.iter().all(|name| more.contains(name)) && more.len() > first.len(), "{more:?}");
    let chosen = selected(flat(), "read a file").for_loop();
    let told = answer(&chosen, "request_tools", r#"{"tool_names":["mail__move_mail"]}"#);
    assert_snapshot!(told, @r#"{"loaded":["mail__move_mail"],"note":"They are among your tools now. Call them by their names."}"#);
}

#[test]
fn a_loop_whose_list_is_full_is_told_so_and_shown_what_it_keeps() {
    let full = TOOLS_LIMIT - 2;
    let names = |range: std::ops::Range<usize>| -> Vec<String> {
        range.map(|at| format!("many__search_{at:04}")).collect()
    };
    let chosen = selected(flat(), "find out what is new").for_loop();
    let shown = |view: &View| -> BTreeSet<String> {
        let surface = chosen.surface(view, &ClientLimits::default());
        surface.tools.into_iter().map(|tool| tool.name).filter(|name| name != REQUEST).collect()
    };
    let load = |view: &View| {
        let arguments = serde_json::json!({ "tool_names": names(100..103) }).to_string();
        let arguments = RawValue::from_string(arguments).unwrap();
        let step = chosen.interpret(view, &ToolName::parse(REQUEST).unwrap(), &arguments);
        let Ok(Step::Loaded(reply, loaded)) = step else { panic!("{step:?}") };
        let block: Value = serde_json::from_str(reply.content[0].get()).unwrap();
        (block["text"].as_str().unwrap().to_owned(), loaded)
    };
    let crowd = crowd(300, 20);
    let with = |registered: Vec<String>| crowd.clone().with_registered(registered.into());
    let best: Vec<_> = shown(&crowd).into_iter().collect();
    let kept = [best.clone(), names(180..298)].concat();
    assert_eq!((best.len(), kept.len()), (6, full - 2));
    let (told, loaded) = load(&with(kept.clone()));
    assert_eq!(loaded, names(100..102));
    assert_snapshot!(told, @r#"{"loaded":["many__search_0100","many__search_0101"],"note":"They are among your tools now. Call them by their names.","left_out":"many__search_0102: your list of tools is full, and none leaves it. Work with those in it."}"#);
    let view = with([kept, loaded].concat());
    let all: BTreeSet<_> = view.registered().iter().cloned().collect();
    assert_eq!(shown(&view), all);
    let (told, loaded) = load(&view);
    assert_eq!(loaded, names(100..102), "it has them");
    assert!(told.contains("many__search_0102: your list of tools is full"), "{told}");

    // What is away and may come back keeps its room.
    let away = ["gone__1", "gone__2", "gone__3", "gone__4"].map(str::to_owned).to_vec();
    assert_eq!(shown(&with([away, names(180..300)].concat())).len(), full - 4);
}

#[test]
fn a_loop_always_has_the_tools_for_whole_kinds() {
    let limits = SelectionLimits { threshold: 1, most: 1 };
    let chosen = SelectedDisclosure::new(typed(), "move the mail", limits, Pins::default());
    assert_eq!(names(&surface(&chosen.clone().for_loop())), ["connector", "mcp"]);
    assert_eq!(names(&surface(&chosen)), ["mcp", "request_tools", "execute_tool"]);
}

/// A source of many tools with long descriptions and schemas.
fn crowd(tools: usize, schema_bytes: usize) -> View {
    let about = "Search the web for current information and return relevant results with everything \
                 that anybody could ever want to know.";
    let schema =
        serde_json::json!({ "type": "object", "description": "x ".repeat(schema_bytes / 2) });
    let start = Manifest::builder(Timestamp::from_millis(0));
    let manifest = (0..tools).fold(start, |all, at| {
        let spec = ToolSpec::new(format!("search_{at:04}")).description(about);
        all.tool(spec.input_schema(schema.clone()))
    });
    let entry = SourceEntry {
        domain: Domain::parse("many").unwrap(),
        kind: kind_named("mcp"),
        description: None,
        aliases: Vec::new(),
        groups: GroupRules::default(),
        manifest: Some(Arc::new(manifest.build())),
    };
    View::whole(Arc::new(Snapshot::build(vec![entry], 1)))
}

#[test]
fn the_list_stays_within_what_clients_take() {
    let request = "find out what is new";
    let shown =
        |view: &View, chosen: &SelectedDisclosure| chosen.surface(view, &ClientLimits::default());
    let few = crowd(14, 20);
    let surface = shown(&few, &selected(flat(), request));
    let rest: Value = serde_json::from_str(surface.tools[6].definition.get()).unwrap();
    let line = "- many__search_0010: Search the web for current information and return relevant results with every...";
    assert!(rest["description"].as_str().unwrap().ends_with(line), "{rest}");
    for tools in [300, 1500] {
        let view = crowd(tools, 20);
        let chosen = SelectedDisclosure {
            pinned: vec![Pattern::new("many__*")].into(),
            ..selected(flat(), request)
        };
        let surface = shown(&view, &chosen);
        assert_eq!(surface.tools.len(), TOOLS_LIMIT);
        let rest = surface.tools.iter().find(|tool| tool.name == REQUEST).unwrap();
        let rest: Value = serde_json::from_str(rest.definition.get()).unwrap();
        assert!(rest["description"].as_str().unwrap().len() <= DESCRIPTION_BYTES);
        let names = &rest["inputSchema"]["properties"]["tool_names"]["items"]["enum"];
        assert_eq!(names.is_array(), tools == 300, "{tools}");
    }
}

#[test]
fn one_answer_has_so_many_schemas_and_names_the_others() {
    let view = crowd(20, 40_000);
    let arguments = r#"{"tool_names":["many__search_0001","many__search_0002"]}"#;
    let arguments = RawValue::from_string(arguments.to_owned()).unwrap();
    let name = ToolName::parse(REQUEST).unwrap();
    let Ok(Step::Loaded(reply, loaded)) =
        selected(flat(), "news").interpret(&view, &name, &arguments)
    else {
        panic!("it loads");
    };
    assert_eq!(loaded, ["many__search_0001"]);
    assert!(reply.content[0].get().contains("many__search_0002: too long"), "{reply:?}");
}
