//! Tools that stand at the top level beside a disclosure's own.

use gatefold_catalog::{Pattern, Tool, View};
use serde_json::value::RawValue;

use crate::listing;
use crate::surface::ToolSurface;

/// Which tools stand at the top level beside a disclosure's own. Those that a session has
/// [registered](View::registered) always do.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pins {
    /// Patterns over their ids.
    pub patterns: Vec<Pattern>,
    /// Whether those that the principal used most, [as far as the view knows them](View::used),
    /// are among them.
    pub most_used: bool,
}

impl Pins {
    /// Whether this tool is one of them.
    pub fn has(&self, view: &View, tool: &Tool) -> bool {
        self.has_in_any_session(view, tool)
            || view.registered().iter().any(|name| name == tool.alias())
    }

    /// The same, whatever a session has registered.
    pub(crate) fn has_in_any_session(&self, view: &View, tool: &Tool) -> bool {
        self.patterns.iter().any(|pattern| tool.target().goes_by(|name| pattern.matches(name)))
            || (self.most_used && view.used().contains(tool.id()))
    }
}

impl From<Vec<Pattern>> for Pins {
    fn from(patterns: Vec<Pattern>) -> Self {
        Self { patterns, most_used: false }
    }
}

/// The pinned tools of a disclosure.
#[derive(Clone, Copy)]
pub(crate) struct PinnedTools<'a> {
    pub(crate) pins: &'a Pins,
    /// The names of the disclosure's own tools. A tool whose alias is one of them is not pinned.
    pub(crate) own: &'a [&'a str],
}

impl<'a> PinnedTools<'a> {
    /// The pinned tools of a view.
    pub(crate) fn of(self, view: &'a View) -> impl Iterator<Item = &'a Tool> {
        view.tools().filter(move |tool| self.pins(view, tool))
    }

    /// The pinned tool with this alias.
    pub(crate) fn named(self, view: &'a View, alias: &str) -> Option<&'a Tool> {
        with_alias(view, alias).filter(|tool| self.pins(view, tool))
    }

    /// Whether this tool is one of them.
    pub(crate) fn pins(self, view: &View, tool: &Tool) -> bool {
        self.pins.has(view, tool) && !self.own.contains(&tool.alias())
    }
}

/// The listed tool with this alias. It is looked up rather than searched for, because a view may have
/// very many tools.
pub(crate) fn with_alias<'a>(view: &'a View, alias: &str) -> Option<&'a Tool> {
    let is_listed = |tool: &&Tool| !tool.definition().is_for_apps_only();
    view.find(alias).filter(is_listed).filter(|tool| tool.alias() == alias)
}

/// Tools as they stand at the top level, by their aliases. `reader` says what reads parts of a tool's schemas,
/// where something does.
pub(crate) fn by_alias<'a>(
    tools: impl Iterator<Item = &'a Tool>,
    reader: impl Fn(&Tool) -> Option<String>,
) -> Vec<ToolSurface> {
    let mut tools: Vec<_> = tools.map(|tool| top_level(tool, || reader(tool))).collect();
    tools.sort_by(|a, b| a.name.cmp(&b.name));
    tools
}

/// A tool as its source defines it, under its alias.
fn top_level(tool: &Tool, reader: impl Fn() -> Option<String>) -> ToolSurface {
    let definition = listing::definition(tool, tool.alias(), reader);
    let definition = RawValue::from_string(definition).expect("a manifest holds JSON");
    ToolSurface { name: tool.alias().to_owned(), definition }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use gatefold_catalog::{GroupRules, Manifest, Snapshot, SourceEntry, ToolSpec};
    use gatefold_core::{Domain, Timestamp, ToolId, ToolName};

    use super::*;
    use crate::test_kinds::kind_named;
    use crate::{
        AutoDisclosure, ClientLimits, Disclosure, FlatDisclosure, Gateway, IntentDisclosure, Names,
        NamespaceDisclosure, Step, TypedDisclosure,
    };

    /// A view without `d__hidden`, of somebody who used these tools most.
    fn view(used: &[&str]) -> View {
        let names = ["often", "seldom", "hidden", "plain"];
        let start = Manifest::builder(Timestamp::from_millis(0));
        let manifest = names.into_iter().fold(start, |all, name| all.tool(ToolSpec::new(name)));
        let entry = SourceEntry {
            domain: Domain::parse("d").unwrap(),
            kind: kind_named("mcp"),
            description: None,
            aliases: Vec::new(),
            groups: GroupRules::default(),
            manifest: Some(Arc::new(manifest.build())),
        };
        let snapshot = Arc::new(Snapshot::build(vec![entry], 1));
        let used = used.iter().map(|id| ToolId::new(*id)).collect();
        View::new(snapshot, |target| *target.name != *"hidden").with_used(used)
    }

    fn disclosures(pinned: &Pins) -> [Box<dyn Disclosure>; 5] {
        let pinned = || pinned.clone();
        let gateway = Gateway { pinned: pinned(), ..Gateway::default() };
        [
            Box::new(AutoDisclosure { gateway: gateway.clone(), flat_tokens: 0 }),
            Box::new(gateway),
            Box::new(NamespaceDisclosure { pinned: pinned(), ..NamespaceDisclosure::default() }),
            Box::new(TypedDisclosure { pinned: pinned(), ..TypedDisclosure::default() }),
            Box::new(IntentDisclosure { pinned: pinned(), ..IntentDisclosure::default() }),
        ]
    }

    fn shown(disclosure: &dyn Disclosure, view: &View) -> Vec<String> {
        let surface = disclosure.surface(view, &ClientLimits::default());
        let own =
            |name: &String| ["d__often", "d__seldom", "d__hidden", "d__plain"].contains(&&**name);
        surface.tools.into_iter().map(|tool| tool.name).filter(own).collect()
    }

    #[test]
    fn what_is_used_most_is_pinned_beside_the_patterns_and_only_if_the_view_shows_it() {
        let view = view(&["d__seldom", "d__hidden", "d__gone", "d__often"]);
        let pinned = Pins { patterns: vec![Pattern::new("*__plain")], most_used: true };
        for disclosure in disclosures(&pinned) {
            assert!(disclosure.shows_used());
            assert_eq!(shown(&*disclosure, &view), ["d__often", "d__plain", "d__seldom"]);
            let call = |name| {
                let arguments = RawValue::from_string("{}".to_owned()).unwrap();
                disclosure.interpret(&view, &ToolName::parse(name).unwrap(), &arguments)
            };
            assert!(matches!(call("d__often"), Ok(Step::Call(_))));
            assert!(call("d__hidden").is_err());
        }
    }

    #[test]
    fn what_a_session_has_registered_stands_there_as_a_pinned_tool_does() {
        let names = ["d__seldom", "d__hidden", "d__gone", "execute_tool"].map(str::to_owned);
        let view = view(&[]).with_registered(names.to_vec().into());
        for disclosure in disclosures(&vec![Pattern::new("*__plain")].into()) {
            assert_eq!(shown(&*disclosure, &view), ["d__plain", "d__seldom"]);
            let surface = disclosure.surface(&view, &ClientLimits::default());
            let own = surface.tools.iter().filter(|tool| tool.name == "execute_tool").count();
            assert!(own <= 1, "a name of the disclosure's own stays its own");
        }
    }

    #[test]
    fn without_the_word_nothing_depends_on_use() {
        let view = view(&["d__often"]);
        for disclosure in disclosures(&vec![Pattern::new("*__plain")].into()) {
            assert!(!disclosure.shows_used());
            assert_eq!(shown(&*disclosure, &view), ["d__plain"]);
        }
        assert!(!FlatDisclosure { names: Names::Public }.shows_used());
    }
}
