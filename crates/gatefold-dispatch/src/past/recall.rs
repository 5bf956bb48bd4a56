//! Everybody's last few searches, until they lead to a call or expire.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use gatefold_core::{ClientName, Principal, ToolId};

/// How long a search is remembered. A call that comes later hardly has anything to do with it.
const REMEMBERED: Duration = Duration::from_mins(10);

/// The most searches to remember for one asker.
const SEARCHES: usize = 8;

/// The most tools to remember for one search.
const TOOLS: usize = 32;

/// The most askers at a time. Beyond this, everything is forgotten.
const SEARCHERS: usize = 1024;

/// Whose searches and calls belong together: those of one connected client, or of all stateless
/// clients with the same principal and name.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Searcher {
    pub(crate) principal: Arc<Principal>,
    pub(crate) client: Option<ClientName>,
    pub(crate) connection: Option<u64>,
}

/// The searches of askers: at most [`SEARCHERS`] askers, and at most [`SEARCHES`] each.
#[derive(Default)]
pub(crate) struct RecentSearches(Mutex<HashMap<Searcher, VecDeque<Search>>>);

struct Search {
    /// By the clock's uptime, like every moment here.
    at: Duration,
    query: Arc<str>,
    /// The tools that it showed.
    tools: Vec<ToolId>,
    /// The tools that it led to.
    served: Vec<ToolId>,
}

impl RecentSearches {
    /// Remembers a search and the tools that it showed.
    pub(crate) fn found(&self, asker: Searcher, query: &str, mut tools: Vec<ToolId>, at: Duration) {
        if tools.is_empty() {
            return;
        }
        tools.truncate(TOOLS);
        let mut askers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if askers.len() >= SEARCHERS && !askers.contains_key(&asker) {
            forget(&mut askers, at);
        }
        let searches = askers.entry(asker).or_default();
        searches.retain(|search| is_fresh(search, at));
        let known = searches.iter().position(|search| *search.query == *query);
        let mut served = Vec::new();
        // The next page of the same search, or the same search again.
        if let Some(known) = known.and_then(|known| searches.remove(known)) {
            served = known.served;
            let others = known.tools.into_iter().filter(|tool| !tools.contains(tool));
            tools.extend(others.collect::<Vec<_>>());
            tools.truncate(TOOLS);
        }
        searches.push_back(Search { at, query: query.into(), tools, served });
        while searches.len() > SEARCHES {
            searches.pop_front();
        }
    }

    /// The query that led to a successful call of a tool, if one did. Each search leads to each
    /// tool once.
    ///
    /// It is the latest search that showed the tool, unless that one has led to another tool and an
    /// earlier search led here: then the tool was known already, and merely shown again.
    pub(crate) fn served(&self, asker: &Searcher, tool: &ToolId, at: Duration) -> Option<Arc<str>> {
        let mut askers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let searches = askers.get_mut(asker)?;
        searches.retain(|search| is_fresh(search, at));
        let is_known = searches.iter().any(|search| search.served.contains(tool));
        let latest = searches.iter_mut().rfind(|search| search.tools.contains(tool))?;
        if latest.served.contains(tool) || (is_known && !latest.served.is_empty()) {
            return None;
        }
        latest.served.push(tool.clone());
        Some(latest.query.clone())
    }
}

fn is_fresh(search: &Search, now: Duration) -> bool {
    now.saturating_sub(search.at) <= REMEMBERED
}

/// Makes room: drops old searches, or everything if all are fresh.
fn forget(askers: &mut HashMap<Searcher, VecDeque<Search>>, now: Duration) {
    askers.retain(|_, searches| searches.back().is_some_and(|last| is_fresh(last, now)));
    if askers.len() >= SEARCHERS {
        askers.clear();
    }
}

#[cfg(test)]
mod tests {
    use gatefold_core::UserId;

    use super::*;

    const NOW: Duration = Duration::from_secs(1000);

    fn asker(user: &str, connection: Option<u64>) -> Searcher {
        Searcher {
            principal: Arc::new(Principal::user(UserId::new(user))),
            client: None,
            connection,
        }
    }

    fn ids(tools: &[&str]) -> Vec<ToolId> {
        tools.iter().map(|tool| ToolId::new(*tool)).collect()
    }

    /// A client of Ann, and what its calls teach.
    #[derive(Default)]
    struct Session(RecentSearches);

    impl Session {
        fn search(&self, query: &str, tools: &[&str]) {
            self.0.found(asker("ann", Some(1)), query, ids(tools), NOW);
        }

        #[track_caller]
        fn call(&self, tool: &str, taught: Option<&str>) {
            self.call_as(&asker("ann", Some(1)), tool, NOW, taught);
        }

        #[track_caller]
        fn call_as(&self, asker: &Searcher, tool: &str, at: Duration, taught: Option<&str>) {
            let served = self.0.served(asker, &ToolId::new(tool), at);
            assert_eq!(served.as_deref(), taught, "{tool}");
        }
    }

    #[test]
    fn a_search_teaches_each_tool_once() {
        let session = Session::default();
        session.search("file a bug", &["create", "list"]);
        session.call("drop", None);
        session.call("create", Some("file a bug"));
        session.call("create", None);
        session.call("list", Some("file a bug"));
        session.search("file a bug", &["create"]);
        session.call("create", None);
    }

    #[test]
    fn the_latest_search_that_showed_the_tool_teaches() {
        let session = Session::default();
        session.search("bug", &["create"]);
        session.search("file a bug", &["create"]);
        session.call("create", Some("file a bug"));
        session.search("all bugs", &["list", "create"]);
        session.call("list", Some("all bugs"));
        session.call("create", None);
    }

    #[test]
    fn the_next_page_is_the_same_search() {
        let session = Session::default();
        session.search("bug", &["create"]);
        session.search("bug", &["list"]);
        session.call("create", Some("bug"));
        session.call("list", Some("bug"));
    }

    #[test]
    fn nobody_is_taught_by_the_search_of_another() {
        let session = Session::default();
        session.search("file a bug", &["create"]);
        let elsewhere = Searcher { client: Some(ClientName::new("c")), ..asker("ann", Some(1)) };
        let others = [asker("bob", Some(1)), asker("ann", Some(2)), asker("ann", None), elsewhere];
        for other in others {
            session.call_as(&other, "create", NOW, None);
        }
    }

    #[test]
    fn what_was_long_ago_teaches_nothing() {
        let session = Session::default();
        session.search("file a bug", &["create"]);
        let late = NOW + REMEMBERED + Duration::from_millis(1);
        session.call_as(&asker("ann", Some(1)), "create", late, None);
    }

    #[test]
    fn what_is_remembered_has_limits() {
        let session = Session::default();
        for number in 0..=SEARCHES {
            session.search(&format!("query {number}"), &[&format!("tool{number}")]);
        }
        session.call("tool0", None);
        session.call("tool1", Some("query 1"));
        let recall = RecentSearches::default();
        for user in 0..=SEARCHERS {
            recall.found(asker(&user.to_string(), None), "q", ids(&["t"]), NOW);
        }
        assert_eq!(recall.0.lock().unwrap().len(), 1);
        let many: Vec<_> = (0..=TOOLS).map(|tool| ToolId::new(tool.to_string())).collect();
        recall.found(asker("ann", None), "q", many, NOW);
        let last = ToolId::new(TOOLS.to_string());
        assert_eq!(recall.served(&asker("ann", None), &last, NOW), None);
    }
}
