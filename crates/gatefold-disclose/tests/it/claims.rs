use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use gatefold_catalog::{
    Manifest, Pattern, Scope, SearchMode, Tool, View, compact_signature, search, token_bound,
};
use gatefold_core::Domain;
use gatefold_disclose::{
    ClientLimits, Disclosure, FlatDisclosure, Gateway, IntentDisclosure, Names, Pins,
    TypedDisclosure,
};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::catalogue::{Catalogue, Source, ask, ask_of, manifest, pages, view};
use crate::chance::Chance;
use crate::lines::every_line_says_what_its_tool_does;
use crate::rebuilds;

pub(crate) type Claim = (&'static str, fn(&Catalogue));

pub(crate) const ALL: &[Claim] = &[
    ("no_tool_is_lost", no_tool_is_lost),
    ("every_alias_is_legal_and_unique", every_alias_is_legal_and_unique),
    ("every_tool_is_reached_by_browsing", every_tool_is_reached_by_browsing),
    ("every_schema_is_complete", every_schema_is_complete),
    ("every_listed_schema_is_bounded", every_listed_schema_is_bounded),
    ("a_part_is_discovered_by_its_path", a_part_is_discovered_by_its_path),
    ("every_line_and_signature_is_short", every_line_and_signature_is_short),
    ("every_line_says_what_its_tool_does", every_line_says_what_its_tool_does),
    ("the_definitions_stay_within_their_budget", the_definitions_stay_within_their_budget),
    (
        "the_typed_tools_stay_within_what_clients_take",
        the_typed_tools_stay_within_what_clients_take,
    ),
    ("a_name_finds_its_tool_first", a_name_finds_its_tool_first),
    ("no_text_is_counted_too_low", no_text_is_counted_too_low),
    ("a_shuffled_catalogue_reads_the_same", a_shuffled_catalogue_reads_the_same),
    ("every_surface_of_a_shuffled_catalogue_is_the_same", |catalogue| {
        rebuilds::every_surface_is_the_same(&catalogue.sources, REAL_READ_ANEW);
    }),
];

/// How many real sources are read anew for each rebuild: all of them would take minutes.
const REAL_READ_ANEW: usize = 6;

const TOOLS: usize = 2466;
const BUDGET: usize = 2000;

fn exact(text: &str) -> usize {
    tiktoken_rs::o200k_base_singleton().count_ordinary(text)
}

fn no_tool_is_lost(catalogue: &Catalogue) {
    let listed: usize = catalogue.sources.iter().map(|source| source.tools.len()).sum();
    assert_eq!((listed, catalogue.view.tool_count()), (TOOLS, TOOLS));
    for source in &catalogue.sources {
        assert_eq!(source.manifest.alterations(), []);
        let raw: HashSet<_> =
            source.manifest.tools().iter().map(|tool| tool.raw().to_owned()).collect();
        assert!(source.tools.iter().all(|tool| raw.contains(&tool.to_string())));
        let again = Manifest::from_bytes(&source.manifest.to_bytes()).unwrap();
        assert_eq!(again.digest(), source.manifest.digest());
    }
}

fn every_alias_is_legal_and_unique(catalogue: &Catalogue) {
    let mut names = HashSet::new();
    for tool in catalogue.view.tools() {
        let alias = tool.alias();
        assert!(names.insert(tool.id().to_string()), "{alias}");
        assert!(alias == tool.id().as_str() || names.insert(alias.to_owned()), "{alias}");
        assert!((1..=64).contains(&alias.len()), "{alias}");
        let legal = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        assert!(alias.chars().all(legal), "{alias}");
        assert_eq!(catalogue.view.find(alias).map(gatefold_catalog::Tool::id), Some(tool.id()));
    }
}

fn within_budget(answer: &str) {
    let (bound, exact) = (token_bound(answer), exact(answer));
    assert!(exact <= bound && bound <= BUDGET, "{exact} {bound} {answer}");
}

fn every_tool_is_reached_by_browsing(catalogue: &Catalogue) {
    let view = &catalogue.view;
    let domains = listed(&pages(view, &json!({})), "domains");
    assert_eq!(domains.len(), catalogue.sources.len());
    let (mut by_domain, mut by_group) = (Vec::new(), Vec::new());
    for domain in &domains {
        by_domain.extend(listed(&pages(view, &json!({"domain": domain})), "tools"));
        let entry = view.domain(domain).unwrap();
        for group in view.groups(entry) {
            let group = json!({"domain": domain, "group": group.name});
            by_group.extend(listed(&pages(view, &group), "tools"));
        }
    }
    let all: Vec<_> = view.tools().map(|tool| tool.id().to_string()).collect();
    assert_eq!(by_domain, all);
    assert_eq!(by_group, all);
    for query in ["create an issue", "send mail", "list", "zzzz"] {
        for page in pages(view, &json!({"query": query})) {
            within_budget(&page);
        }
    }
}

fn listed(pages: &[String], list: &str) -> Vec<String> {
    let names = |page: &String| -> Vec<String> {
        within_budget(page);
        let page: Value = serde_json::from_str(page).unwrap();
        let items = page[list].as_array().unwrap();
        items.iter().map(|item| item["name"].as_str().unwrap().to_owned()).collect()
    };
    pages.iter().flat_map(names).collect()
}

/// The longest schema that is shown whole.
const WHOLE_BYTES: usize = 64 * 1024;

fn every_schema_is_complete(catalogue: &Catalogue) {
    #[derive(serde::Deserialize)]
    struct Answer {
        name: String,
        parameters: Box<RawValue>,
        output_schema: Option<Box<RawValue>>,
    }
    let check = |tool: &Tool, shown: &str, schema: &str| {
        if schema.len() <= WHOLE_BYTES {
            assert_eq!(shown, schema);
            return;
        }
        // The first levels, and the rest by its path.
        assert!(shown.len() <= WHOLE_BYTES, "{}: {}", tool.id(), shown.len());
        let left_out: Vec<_> = shown.split("(Left out: path ").skip(1).collect();
        assert!(!left_out.is_empty(), "{}", tool.id());
        for rest in left_out.iter().take(3) {
            let path = rest.split(')').next().unwrap();
            let asked = json!({"tool_name": tool.id(), "path": path});
            let part = ask(&catalogue.view, "get_tool_schema", &asked);
            let part: Value = serde_json::from_str(&part).unwrap();
            assert!(part["schema"].is_object(), "{path}: {part}");
        }
    };
    for tool in catalogue.view.tools() {
        let answer = ask(&catalogue.view, "get_tool_schema", &json!({"tool_name": tool.id()}));
        let answer: Answer = serde_json::from_str(&answer).unwrap();
        assert_eq!(answer.name, tool.id().as_str());
        let definition = tool.definition();
        check(tool, answer.parameters.get(), definition.input_schema());
        let output = answer.output_schema.as_deref().map(RawValue::get);
        assert_eq!(output.is_some(), definition.output_schema().is_some(), "{}", tool.id());
        if let (Some(shown), Some(schema)) = (output, definition.output_schema()) {
            check(tool, shown, schema);
        }
        assert!(definition.raw().contains(definition.input_schema()));
    }
}

fn every_listed_schema_is_bounded(catalogue: &Catalogue) {
    #[derive(serde::Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Listed {
        name: String,
        input_schema: Box<RawValue>,
    }
    const NOTE_BYTES: usize = 500;
    let pinned = Pins::from(vec![Pattern::new("*")]);
    let gateway = Gateway { pinned: pinned.clone(), ..Gateway::default() };
    let flat = FlatDisclosure { names: Names::Public };
    let disclosures: [(&dyn Disclosure, bool); 3] = [
        (&flat, false),
        (&gateway, true),
        (&IntentDisclosure { pinned, ..IntentDisclosure::default() }, false),
    ];
    for (disclosure, reads_on) in disclosures {
        let surface = disclosure.surface(&catalogue.view, &ClientLimits::default());
        let mut long = 0;
        for tool in surface.tools {
            let listed: Listed = serde_json::from_str(tool.definition.get()).unwrap();
            let tool = catalogue.view.find(&listed.name).filter(|own| own.alias() == listed.name);
            let Some(tool) = tool else { continue };
            let schema = tool.definition().listed_schema();
            let shown = listed.input_schema.get();
            if schema.len() <= WHOLE_BYTES {
                // The type, which clients insist on, may have been added.
                let untyped = shown.replacen(r#""type":"object","#, "", 1);
                assert!(shown == schema || untyped == schema, "{}: {shown}", tool.id());
                continue;
            }
            long += 1;
            assert!(shown.len() <= WHOLE_BYTES + NOTE_BYTES, "{}: {}", tool.id(), shown.len());
            assert_eq!(shown.contains("(Left out: path #"), reads_on, "{}", tool.id());
            assert_eq!(shown.contains("get_tool_schema"), reads_on, "{}", tool.id());
            let shown: Value = serde_json::from_str(shown).unwrap();
            let whole: Value = serde_json::from_str(schema).unwrap();
            let names = |schema: &Value| -> Vec<String> {
                schema["properties"].as_object().unwrap().keys().cloned().collect()
            };
            assert_eq!(names(&shown), names(&whole), "{}", tool.id());
            assert_eq!(shown["required"], whole["required"], "{}", tool.id());
        }
        assert_eq!(long, LONG);
    }
}

fn a_part_is_discovered_by_its_path(catalogue: &Catalogue) {
    let typed = TypedDisclosure::default();
    let mut long = 0;
    for tool in catalogue.view.tools() {
        if tool.definition().input_schema().len() <= WHOLE_BYTES {
            continue;
        }
        long += 1;
        let name = tool.definition().name();
        let mut call = json!({"subcommand": "discover", "server": tool.domain(), "tool": name});
        let first = ask_of(&typed, &catalogue.view, "mcp", &call);
        let path = first.split_once("(Left out: path ").unwrap().1.split(')').next().unwrap();
        call["path"] = json!(path);
        let part = ask_of(&typed, &catalogue.view, "mcp", &call);
        let part: Value = serde_json::from_str(&part).unwrap();
        assert!(part["schema"]["properties"].is_object(), "{path}: {part}");
    }
    assert_eq!(long, LONG);
}

/// How many of the catalogue's tools have a longer schema.
const LONG: usize = 3;

fn every_line_and_signature_is_short(catalogue: &Catalogue) {
    for tool in catalogue.view.tools() {
        assert!(tool.line().chars().count() <= 80, "{}", tool.line());
        assert!(!tool.line().is_empty(), "{}", tool.id());
        assert!(!tool.line().chars().any(char::is_control), "{}", tool.line());
        assert!(token_bound(&compact_signature(tool)) <= BUDGET, "{}", compact_signature(tool));
    }
}

fn the_definitions_stay_within_their_budget(catalogue: &Catalogue) {
    let surface = Gateway::default().surface(&catalogue.view, &ClientLimits::default());
    let definitions: Vec<_> = surface.tools.iter().map(|tool| tool.definition.get()).collect();
    let tokens = exact(&format!("[{}]", definitions.join(",")));
    assert!(tokens <= 420, "{tokens}");
    assert!(surface.instructions.len() <= 2048, "{}", surface.instructions);
    for source in &catalogue.sources {
        assert!(surface.instructions.contains(source.domain.as_str()), "{}", source.domain);
    }
}

fn the_typed_tools_stay_within_what_clients_take(catalogue: &Catalogue) {
    let typed = TypedDisclosure::default();
    let surface = typed.surface(&catalogue.view, &ClientLimits::default());
    let [mcp] = surface.tools.as_slice() else { panic!("all sources are MCP servers") };
    let definition: Value = serde_json::from_str(mcp.definition.get()).unwrap();
    let description = definition["description"].as_str().unwrap();
    assert!(description.len() <= 2048, "{description}");
    let servers = &definition["inputSchema"]["properties"]["server"]["enum"];
    let domains: Vec<_> = catalogue.view.domains().map(|entry| entry.domain().as_str()).collect();
    assert_eq!(*servers, json!(domains));
    for domain in domains {
        let mut seen = Vec::new();
        let mut cursor = Value::Null;
        loop {
            let call = json!({"subcommand": "discover", "server": domain, "cursor": cursor});
            let page = ask_of(&typed, &catalogue.view, "mcp", &call);
            let page: Value = serde_json::from_str(&page).unwrap();
            seen.extend(page["tools"].as_array().unwrap().iter().map(|tool| tool["name"].clone()));
            cursor = page["next_cursor"].clone();
            if cursor.is_null() {
                break;
            }
        }
        let entry = catalogue.view.domain(domain).unwrap();
        let all = catalogue.view.tools_in(entry).map(|tool| tool.definition().name());
        assert_eq!(seen, all.collect::<Vec<_>>(), "{domain}");
    }
}

fn a_name_finds_its_tool_first(catalogue: &Catalogue) {
    for tool in catalogue.view.tools().step_by(17) {
        let hits = search(
            &catalogue.view,
            tool.id().as_str(),
            &Scope::default(),
            SearchMode::default(),
            3,
        );
        assert_eq!(hits[0].tool.id(), tool.id());
    }
}

fn no_text_is_counted_too_low(catalogue: &Catalogue) {
    let (mut bounds, mut exacts) = (0, 0);
    for tool in catalogue.view.tools() {
        let definition = tool.definition();
        let texts = [Some(definition.raw()), definition.description(), Some(tool.line())];
        for text in texts.into_iter().flatten() {
            let (bound, exact) = (token_bound(text), exact(text));
            assert!(bound >= exact, "{bound} {exact} {text}");
            (bounds, exacts) = (bounds + bound, exacts + exact);
        }
    }
    assert!(bounds * 100 <= exacts * 120, "{bounds} for {exacts}");
}

/// A hundred rebuilds with sources, pages, tools and keys in other orders, a few sources parsed
/// again each time, and one loaded from disk.
///
/// Every rebuild compares the surface, every page of the summary, and every page of the domains
/// that were parsed again, of the one loaded from disk and of another twentieth of the domains, so
/// that twenty rebuilds see each domain at least once; all pages of all domains in all rebuilds
/// would take a minute. Two rebuilds also compare some searches, whose index is the slow part.
fn a_shuffled_catalogue_reads_the_same(catalogue: &Catalogue) {
    const REBUILDS: usize = 100;
    const READ_ANEW: usize = 6;
    const SHARES: usize = 20;
    const SEARCHES_COMPARED: usize = 50;
    let all: Vec<_> = catalogue.sources.iter().map(|source| &source.domain).collect();
    let expected: Seen =
        browsed(&catalogue.view, &all).into_iter().chain(searched(&catalogue.view)).collect();
    let mut chance = Chance::new(42);
    for rebuild in 0..REBUILDS {
        let mut entries: Vec<_> = catalogue.sources.iter().map(Source::entry).collect();
        let mut domains: HashSet<_> =
            all.iter().copied().skip(rebuild % SHARES).step_by(SHARES).collect();
        for step in 0..READ_ANEW {
            let at = (rebuild * READ_ANEW + step) % entries.len();
            let source = &catalogue.sources[at];
            let mut tools: Vec<_> =
                source.tools.iter().map(|tool| chance.reordered(tool)).collect();
            chance.shuffle(&mut tools);
            let (first, rest) = tools.split_at(chance.below(tools.len() + 1));
            entries[at].manifest = Some(Arc::new(manifest(&source.server, &[first, rest])));
            domains.insert(&source.domain);
        }
        let down = rebuild % entries.len();
        let stored = entries[down].manifest.take().unwrap().to_bytes();
        entries[down].manifest = Some(Arc::new(Manifest::from_bytes(&stored).unwrap()));
        domains.insert(&catalogue.sources[down].domain);
        chance.shuffle(&mut entries);
        let domains: Vec<_> = all.iter().copied().filter(|name| domains.contains(name)).collect();
        let rebuilt = view(entries);
        let mut seen = browsed(&rebuilt, &domains);
        if rebuild % SEARCHES_COMPARED == 0 {
            seen.extend(searched(&rebuilt));
        }
        for (request, answer) in seen {
            assert_eq!(expected.get(&request), Some(&answer), "rebuild {rebuild}: {request}");
        }
    }
}

/// What a model sees, all pages of it, by its request.
type Seen = BTreeMap<String, Vec<String>>;

fn browsed(view: &View, domains: &[&Domain]) -> Seen {
    let surface = Gateway::default().surface(view, &ClientLimits::default());
    let mut seen = Seen::from([("instructions".to_owned(), vec![surface.instructions])]);
    let definitions = surface.tools.iter();
    seen.extend(definitions.map(|tool| (tool.name.clone(), vec![tool.definition.to_string()])));
    let domains = domains.iter().map(|domain| json!({"domain": domain.as_str()}));
    let requests = [json!({})].into_iter().chain(domains);
    seen.extend(requests.map(|request| (request.to_string(), pages(view, &request))));
    seen
}

fn searched(view: &View) -> Seen {
    let requests = ["create issue", "read file", "qqqq"].map(|query| json!({"query": query}));
    requests.map(|request| (request.to_string(), pages(view, &request))).into()
}
