//! Which tools a server lists to which clients.
//!
//! Some servers list a tool only to clients that can be asked something. In the stateless era every
//! request says what its sender can do, so the server is asked as different clients: as one that can do
//! everything and as one that can do nothing, and only if these get different tools as others too. In
//! the handshake era this would take a second session, for which some servers give up the first.

use std::collections::{BTreeSet, HashMap};

use futures::future::try_join_all;
use gatefold_core::{AbleClients, ClientAbilities};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{ListError, Pages, TOOLS, UpstreamSession};
use crate::protocol::Era;
use crate::upstream::handshake::declared_by;

/// The tools of a server.
#[derive(Default)]
pub(super) struct ListedTools {
    pub(super) pages: Pages,
    /// The tools that are not listed to everybody, by their names.
    pub(super) clients: HashMap<String, AbleClients>,
}

impl UpstreamSession {
    /// The tools that the server lists to anybody. In the handshake era these are what it lists to the
    /// client that its session was opened for.
    pub(super) async fn listed_tools(&self) -> Result<ListedTools, ListError> {
        if self.era() == Era::Handshake {
            return Ok(ListedTools {
                pages: self.pages_as(None, TOOLS).await?,
                ..Default::default()
            });
        }
        if let Some(client) = self.notices.roots.sole_capabilities() {
            let pages = self.pages_as(Some(client.raw()), TOOLS).await?;
            return Ok(ListedTools { pages, ..ListedTools::default() });
        }
        let list = async |client| {
            let pages = self.pages_as(Some(&declared_by(client)), TOOLS).await?;
            Ok::<_, ListError>((client, pages))
        };
        let ends = [ClientAbilities::ALL, ClientAbilities::NONE];
        let mut lists = try_join_all(ends.map(list)).await?;
        if names_of(&lists[0].1) == names_of(&lists[1].1) {
            let (_, pages) = lists.swap_remove(0);
            return Ok(ListedTools { pages, ..ListedTools::default() });
        }
        lists.extend(try_join_all(ClientAbilities::SINGLE.map(list)).await?);
        Ok(merge(lists))
    }
}

/// All that was listed to any of these clients. Of two tools with one name the earlier one is taken.
fn merge(lists: Vec<(ClientAbilities, Pages)>) -> ListedTools {
    let names: Vec<_> = lists.iter().map(|(client, pages)| (*client, names_of(pages))).collect();
    let is_listed_to = |name: &str, client| {
        names.iter().any(|(listed_to, names)| *listed_to == client && names.contains(name))
    };
    let all: BTreeSet<_> = names.iter().flat_map(|(_, names)| names.iter().cloned()).collect();
    let clients = all.into_iter().map(|name| {
        let clients = AbleClients::infer(|client| is_listed_to(&name, client));
        (name, clients)
    });
    let clients = clients.filter(|(_, clients)| !clients.are_everybody()).collect();
    let mut lists = lists.into_iter().map(|(_, pages)| pages);
    let mut pages = lists.next().unwrap_or_default();
    let mut known = names_of(&pages);
    for other in lists {
        let others: Vec<_> = tools_of(&other)
            .filter(|tool| name_of(tool).is_none_or(|name| known.insert(name)))
            .map(RawValue::get)
            .collect();
        let page = format!(r#"{{"tools":[{}]}}"#, others.join(","));
        pages.extend(RawValue::from_string(page));
    }
    ListedTools { pages, clients }
}

#[derive(Deserialize)]
struct ToolPage<'a> {
    #[serde(borrow)]
    tools: Vec<&'a RawValue>,
}

fn tools_of(pages: &[Box<RawValue>]) -> impl Iterator<Item = &RawValue> {
    let read =
        pages.iter().filter_map(|page| serde_json::from_str::<ToolPage<'_>>(page.get()).ok());
    read.flat_map(|page| page.tools)
}

fn name_of(tool: &RawValue) -> Option<String> {
    #[derive(Deserialize)]
    struct NamedTool {
        name: String,
    }
    serde_json::from_str::<NamedTool>(tool.get()).ok().map(|tool| tool.name)
}

fn names_of(pages: &[Box<RawValue>]) -> BTreeSet<String> {
    tools_of(pages).filter_map(name_of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(client: ClientAbilities, tools: &[&str]) -> (ClientAbilities, Pages) {
        let tools: Vec<_> = tools
            .iter()
            .map(|name| format!(r#"{{"name":"{name}","for":{}}}"#, tools.len()))
            .collect();
        let page = format!(r#"{{"tools":[{}]}}"#, tools.join(","));
        (client, vec![RawValue::from_string(page).unwrap()])
    }

    #[test]
    fn each_tool_is_there_once_and_for_the_clients_that_it_was_listed_to() {
        let [elicitation, sampling, roots] = ClientAbilities::SINGLE;
        let merged = merge(vec![
            list(ClientAbilities::ALL, &["echo", "ask"]),
            list(ClientAbilities::NONE, &["echo", "form", "guess"]),
            list(elicitation, &["echo", "ask"]),
            list(sampling, &["echo", "form", "guess"]),
            list(roots, &["echo", "form", "guess"]),
        ]);
        let tools: Vec<_> = tools_of(&merged.pages).map(RawValue::get).collect();
        let expected = [
            r#"{"name":"echo","for":2}"#,
            r#"{"name":"ask","for":2}"#,
            r#"{"name":"form","for":3}"#,
            r#"{"name":"guess","for":3}"#,
        ];
        assert_eq!(tools, expected);
        let mut clients: Vec<_> = merged.clients.into_iter().collect();
        clients.sort_by(|(one, _), (other, _)| one.cmp(other));
        let names: Vec<_> = clients.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["ask", "form", "guess"]);
        for (name, clients) in clients {
            let is_ask = name == "ask";
            assert_eq!(clients.include(elicitation), is_ask, "{name}");
            assert_eq!(clients.include(ClientAbilities::NONE), !is_ask, "{name}");
            assert_eq!(clients.include(elicitation.and(roots)), is_ask, "{name}");
        }
    }
}
