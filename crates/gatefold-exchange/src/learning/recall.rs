//! Everybody's last few searches, until they lead to a call or expire.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use gatefold_core::{ClientName, Principal, Tenant, ToolId};

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

/// How often the searches of those who do not come back are looked through.
const SWEEP: Duration = Duration::from_mins(1);

/// The most searches that led nowhere and wait to be taken. Further ones are lost.
const LAPSED: usize = 64;

/// The searches of askers: at most [`SEARCHERS`] askers, and at most [`SEARCHES`] each.
#[derive(Default)]
pub(crate) struct RecentSearches(Mutex<Recall>);

#[derive(Default)]
struct Recall {
    /// At most [`SEARCHERS`], with at most [`SEARCHES`] each.
    askers: HashMap<Searcher, VecDeque<Search>>,
    /// Forgotten without having led to a call. At most [`LAPSED`].
    lapsed: Vec<LapsedSearch>,
    swept: Duration,
}

/// A search that led nowhere, and whose it was.
pub(crate) struct LapsedSearch {
    pub(crate) tenant: Tenant,
    pub(crate) query: Arc<str>,
}

/// What a successful call taught.
pub(crate) struct ServedSearch {
    pub(crate) query: Arc<str>,
    /// Whether it is the first call that the search led to.
    pub(crate) is_first: bool,
}

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
        let mut recall = self.lock();
        recall.sweep(at);
        let tenant = asker.principal.tenant();
        if tools.is_empty() {
            // The end of a search that showed something led somewhere, or lapses with it.
            let mut known = recall.askers.get(&asker).into_iter().flatten();
            if !known.any(|search| *search.query == *query) {
                recall
                    .lapse(&tenant, Search { at, query: query.into(), tools, served: Vec::new() });
            }
            return;
        }
        tools.truncate(TOOLS);
        if recall.askers.len() >= SEARCHERS && !recall.askers.contains_key(&asker) {
            recall.forget(at);
        }
        recall.drop_stale(&asker, at);
        let searches = recall.askers.entry(asker).or_default();
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
        let displaced = (searches.len() > SEARCHES).then(|| searches.pop_front()).flatten();
        if let Some(displaced) = displaced {
            recall.lapse(&tenant, displaced);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Recall> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The searches that led nowhere since this was last called.
    pub(crate) fn take_lapsed(&self) -> Vec<LapsedSearch> {
        std::mem::take(&mut self.lock().lapsed)
    }

    /// The query that led to a successful call of a tool, if one did. Each search leads to each
    /// tool once.
    ///
    /// It is the latest search that showed the tool, unless that one has led to another tool and an
    /// earlier search led here: then the tool was known already, and merely shown again.
    pub(crate) fn served(
        &self,
        asker: &Searcher,
        tool: &ToolId,
        at: Duration,
    ) -> Option<ServedSearch> {
        let mut recall = self.lock();
        recall.drop_stale(asker, at);
        let searches = recall.askers.get_mut(asker)?;
        let is_known = searches.iter().any(|search| search.served.contains(tool));
        let latest = searches.iter_mut().rfind(|search| search.tools.contains(tool))?;
        if latest.served.contains(tool) || (is_known && !latest.served.is_empty()) {
            return None;
        }
        let is_first = latest.served.is_empty();
        latest.served.push(tool.clone());
        Some(ServedSearch { query: latest.query.clone(), is_first })
    }
}

impl Recall {
    /// Drops an asker's searches that are too old to lead to a call.
    fn drop_stale(&mut self, asker: &Searcher, now: Duration) {
        let Some(searches) = self.askers.get_mut(asker) else { return };
        let fresh = searches.iter().position(|search| is_fresh(search, now));
        let stale: Vec<_> = searches.drain(..fresh.unwrap_or(searches.len())).collect();
        let tenant = asker.principal.tenant();
        for search in stale {
            self.lapse(&tenant, search);
        }
    }

    /// The same for everybody, now and then: most askers never come back.
    fn sweep(&mut self, now: Duration) {
        if now.saturating_sub(self.swept) < SWEEP {
            return;
        }
        self.swept = now;
        let is_over =
            |searches: &VecDeque<Search>| searches.back().is_none_or(|last| !is_fresh(last, now));
        let over: Vec<_> = self.askers.extract_if(|_, searches| is_over(searches)).collect();
        for (asker, searches) in over {
            let tenant = asker.principal.tenant();
            for search in searches {
                self.lapse(&tenant, search);
            }
        }
    }

    fn lapse(&mut self, tenant: &Tenant, search: Search) {
        if search.served.is_empty() && self.lapsed.len() < LAPSED {
            self.lapsed.push(LapsedSearch { tenant: tenant.clone(), query: search.query });
        }
    }

    /// Makes room: drops old searches, or everything if all are fresh.
    fn forget(&mut self, now: Duration) {
        self.swept = Duration::ZERO;
        self.sweep(now);
        if self.askers.len() >= SEARCHERS {
            self.askers.clear();
        }
    }
}

fn is_fresh(search: &Search, now: Duration) -> bool {
    now.saturating_sub(search.at) <= REMEMBERED
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
            let served = served.map(|served| served.query);
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
        assert_eq!(recall.lock().askers.len(), 1);
        let many: Vec<_> = (0..=TOOLS).map(|tool| ToolId::new(tool.to_string())).collect();
        recall.found(asker("ann", None), "q", many, NOW);
        let last = ToolId::new(TOOLS.to_string());
        assert!(recall.served(&asker("ann", None), &last, NOW).is_none());
    }

    fn lapsed(recall: &RecentSearches) -> Vec<(String, String)> {
        let taken = recall.take_lapsed().into_iter();
        taken.map(|one| (one.tenant.to_string(), one.query.to_string())).collect()
    }

    #[test]
    fn a_search_that_leads_to_no_call_lapses_once() {
        let session = Session::default();
        let ann = |query: &str| ("user:ann".to_owned(), query.to_owned());
        session.search("what nobody serves", &[]);
        assert_eq!(lapsed(&session.0), [ann("what nobody serves")]);
        session.search("file a bug", &["create"]);
        session.search("all bugs", &["list"]);
        session.call("create", Some("file a bug"));
        assert_eq!(lapsed(&session.0), []);
        let late = NOW + REMEMBERED + SWEEP;
        session.0.found(asker("bob", None), "other", ids(&["t"]), late);
        assert_eq!(lapsed(&session.0), [ann("all bugs")], "ann never came back");
        session.0.found(asker("bob", None), "other", ids(&["t"]), late);
        assert_eq!(lapsed(&session.0), []);
    }

    #[test]
    fn the_last_page_of_a_search_is_no_search_that_led_nowhere() {
        let session = Session::default();
        session.search("bugs", &["list"]);
        session.search("bugs", &[]);
        assert_eq!(lapsed(&session.0), []);
        session.call("list", Some("bugs"));
    }

    #[test]
    fn a_search_that_others_push_out_has_led_nowhere() {
        let session = Session::default();
        for number in 0..=SEARCHES {
            session.search(&format!("query {number}"), &["t"]);
        }
        assert_eq!(lapsed(&session.0), [("user:ann".to_owned(), "query 0".to_owned())]);
    }

    #[test]
    fn the_first_call_that_a_search_leads_to_is_told_from_the_next() {
        let session = Session::default();
        session.search("bugs", &["create", "list"]);
        let first = |tool: &str| {
            let served = session.0.served(&asker("ann", Some(1)), &ToolId::new(tool), NOW);
            served.map(|served| served.is_first)
        };
        assert_eq!(
            (first("list"), first("create"), first("list")),
            (Some(true), Some(false), None)
        );
    }
}
