//! Real servers' lists, replayed: no tool is lost on the way, however many servers there are.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use gatefold_catalog::{GroupRules, KindName, Tool, View};
use gatefold_core::{Domain, Principal, ToolName};
use gatefold_disclose::{ClientLimits, Disclosure, Gateway, Step};
use gatefold_dispatch::{IdentityScope, Limits, Setup, SourceSetup};
use gatefold_mcp::{McpSettings, McpSource, StdioSettings, Transport};
use gatefold_policy::Policy;
use libtest_mimic::Trial;
use serde_json::Value;
use serde_json::value::RawValue;

use super::support::{settings, stdio, trial};
use super::world::{self, World};

/// How long a server may take when all of them start at once beside other tests.
const ALL_AT_ONCE: Duration = Duration::from_mins(1);

pub(crate) fn trials() -> Vec<Trial> {
    #[expect(clippy::disallowed_methods, reason = "the path of an external data set")]
    let directory = std::env::var_os("GATEFOLD_CATALOGS").map(PathBuf::from);
    let ignored = directory.is_none();
    let replayed =
        trial("no_tool_of_many_servers_is_lost", || replay(directory.unwrap_or_default()));
    vec![replayed.with_ignored_flag(ignored)]
}

async fn replay(directory: PathBuf) {
    let lists = lists(&directory);
    let listed: usize = lists.values().map(|list| list.tools.len()).sum();
    assert!(listed > 0, "there are lists in {}", directory.display());
    let world = World::new(&[]);
    let sources: Vec<_> =
        lists.values().map(|list| world::source(&list.settings, &world.keeper, None)).collect();
    install(&world, &sources);
    for (domain, fared) in world.refresh().await {
        assert_eq!(fared, Ok(()), "{domain}");
    }
    let whole = view(&world);
    let ids: HashSet<_> = whole.tools().map(Tool::id).collect();
    assert_eq!((whole.tool_count(), ids.len()), (listed, listed));
    for (domain, list) in &lists {
        let entry = whole.domain(domain.as_str()).expect("every source is a domain");
        let raw = whole.tools_in(entry).map(|tool| tool.definition().raw());
        let told: Vec<_> = raw.map(|raw| serde_json::from_str(raw).unwrap()).collect();
        assert_eq!(sorted(&told), sorted(&list.tools), "{domain}");
    }
    looks_the_same_with_one_down(&world, sources, &whole).await;
    world.dispatcher.close().await;
}

/// Replaces the first source with one that cannot start, and gives it the manifest that the first
/// one last delivered.
async fn looks_the_same_with_one_down(
    world: &World,
    mut sources: Vec<Arc<McpSource>>,
    whole: &View,
) {
    let kept = world.keeper.kept().into_iter();
    let (domain, known) = kept
        .map(|(domain, _, manifest)| (domain, manifest))
        .max_by_key(|(_, manifest)| manifest.tools().len())
        .expect("a manifest was kept");
    let command = "/nowhere/that/there/is".to_owned();
    let nothing = StdioSettings { command, ..StdioSettings::default() };
    let down = settings(domain.as_str(), Transport::Stdio(nothing));
    let expected = shown(whole);
    let at = whole.snapshot().domains().iter().position(|entry| *entry.domain() == domain);
    sources[at.expect("it is a domain")] = world::source(&down, &world.keeper, Some(known));
    install(world, &sources);
    assert_eq!(shown(&view(world)), expected);
    let refreshed = world.refresh().await;
    let failed: Vec<_> = refreshed
        .iter()
        .filter_map(|(failed, fared)| fared.is_err().then_some(failed.as_str()))
        .collect();
    assert_eq!(failed, [domain.as_str()]);
    assert_eq!(shown(&view(world)), expected);
}

struct List {
    settings: McpSettings,
    tools: Vec<Value>,
}

/// The lists of a directory by domain, sorted as the snapshot sorts them.
fn lists(directory: &Path) -> BTreeMap<Domain, List> {
    let files = std::fs::read_dir(directory).unwrap().map(|file| file.unwrap().path());
    let is_list = |path: &PathBuf| {
        path.extension().is_some_and(|extension| extension == "json")
            && !path.file_name().unwrap().to_string_lossy().starts_with('_')
    };
    let files: Vec<_> = files.filter(is_list).collect();
    let lists: BTreeMap<_, _> = files.iter().map(|path| list(path)).collect();
    assert_eq!(lists.len(), files.len(), "each list has a domain of its own");
    lists
}

fn list(path: &Path) -> (Domain, List) {
    let domain = Domain::from_key(path.file_stem().unwrap().to_str().unwrap());
    let behaviour = ["--replay", path.to_str().unwrap(), "--page-size", "50"];
    let settings = stdio(domain.as_str(), &behaviour);
    let settings = McpSettings { connect_deadline: ALL_AT_ONCE, ..settings };
    let mut said: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let Value::Array(tools) = said["tools"].take() else { panic!("{}", path.display()) };
    (domain, List { settings, tools })
}

fn install(world: &World, sources: &[Arc<McpSource>]) {
    let sources = sources.iter().map(|source| SourceSetup {
        source: source.clone(),
        kind: KindName::new("mcp"),
        description: None,
        aliases: Vec::new(),
        groups: GroupRules::default(),
        identity: IdentityScope::Shared,
        call_deadline: None,
    });
    world.dispatcher.install(Setup {
        policy: Policy::default(),
        limits: Limits::default(),
        learns: false,
        encoder: None,
        texts: None,
        loop_sources: Vec::new(),
        sources: sources.collect(),
    });
}

fn view(world: &World) -> View {
    world.dispatcher.pin(Arc::new(Principal::local())).view().clone()
}

fn sorted(tools: &[Value]) -> Vec<String> {
    let mut tools: Vec<_> = tools.iter().map(ToString::to_string).collect();
    tools.sort_unstable();
    tools
}

/// What a model sees before it asks for anything in particular.
fn shown(view: &View) -> Vec<String> {
    let gateway = Gateway::default();
    let surface = gateway.surface(view, &ClientLimits::default());
    let nothing = RawValue::from_string("{}".to_owned()).unwrap();
    let discover = ToolName::parse("discover_tools").unwrap();
    let Ok(Step::Reply(summary)) = gateway.interpret(view, &discover, &nothing) else {
        panic!("discovery is answered at once")
    };
    let definitions = surface.tools.iter().map(|tool| tool.definition.get().to_owned());
    let summary = summary.content.iter().map(|block| block.get().to_owned());
    definitions.chain([surface.instructions]).chain(summary).collect()
}
