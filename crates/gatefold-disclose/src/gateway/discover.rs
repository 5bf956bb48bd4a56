mod answers;
mod twins;

use std::borrow::Cow;

use gatefold_catalog::{
    DomainEntry, Fit, GroupCount, Hit, LINE_LIMIT, PHRASINGS, Scope, SearchMode, Tool, View,
    call_signature, compact_signature, fit, one_line, search_phrasings, token_bound,
};
use gatefold_core::{Domain, ToolId};
use serde::Serialize;
use serde_json::value::RawValue;

use super::{DISCOVER, GatewayLimits};
use crate::arguments::Arguments;
use crate::cursor::Pages;
use crate::surface::{Reply, SearchAnswer, Step, UsageError, raw};
use crate::wording::{
    BROWSE, WEAKLY_FITS, described, hinted, listed, nothing_fits, nothing_known, quoted, unlisted,
};
use answers::{DomainLine, DomainTools, GroupLine, Page, SkillLine, Summary, ToolLine};

/// How much of a query an answer repeats, in characters.
const REPEATED_QUERY: usize = 100;

/// How many results the pages of a search can reach. Beyond that, another query is better than
/// another page.
const REACHED_RESULTS: usize = 100;

/// How many tools the first page of a search shows, and how many if the first fits exactly. The rest
/// are on the next page: a model that has to read ten tools pays for eight that it does not want.
const FIRST_RESULTS: usize = 5;
const EXACT_RESULTS: usize = 3;

/// A list of at most so many items is written whole before anything else is tried: it mostly fits.
const SHORT_PAGE: usize = 20;

/// How many tools of a page have a signature, if their score is this share of the best's. The
/// others' come from `get_tool_schema`.
const SIGNED_RESULTS: usize = 5;
const SIGNED_SHARE: f32 = 0.75;

/// How many domains are named if nothing fits well, with how many groups, and the length of their
/// descriptions, in characters.
const NEAREST_DOMAINS: usize = 3;
const NEAREST_GROUPS: usize = 12;
const NEAREST_DESCRIPTION: usize = 80;

/// How many skills the answer about their domain names.
const DOMAIN_SKILLS: usize = 10;

/// The most bytes of names in an error.
const NAMED_BYTES: usize = 2000;

/// One over the share of an answer that a domain's list of groups may take.
const GROUPS_SHARE: usize = 2;

/// How a summary of domains gets shorter: the length of descriptions, and whether groups are shown.
const SUMMARIES: [(usize, bool); 4] = [(200, true), (80, false), (40, false), (0, false)];

pub(super) fn answer(
    view: &View,
    limits: &GatewayLimits,
    arguments: &RawValue,
) -> Result<Step, UsageError> {
    let arguments = Arguments::parse(DISCOVER, arguments)?;
    arguments.only(&["domain", "group", "query", "search_mode", "cursor"])?;
    let domain = arguments.text("domain")?;
    let group = arguments.text("group")?;
    let query = arguments.phrasings("query", PHRASINGS)?;
    let mode = arguments.text("search_mode")?.map(|mode| known_mode(&mode)).transpose()?;
    let cursor = arguments.text("cursor")?;
    let browsing =
        BrowseRequest { view, budget: limits.discovery_tokens, cursor: cursor.as_deref() };
    let domain = domain.map(|name| known_domain(view, &name)).transpose()?;
    let group = match (domain, group) {
        (_, None) => None,
        (None, Some(group)) => return Err(without_domain(view, &group)),
        // Without tools there are no groups to name either.
        (Some(domain), _) if view.groups(domain).is_empty() => None,
        (Some(domain), Some(group)) => Some(known_group(view, domain, &group)?),
    };
    let text = match (query, domain, group) {
        (Some(query), domain, group) => {
            let asked = SearchRequest {
                phrasings: &query,
                entry: domain,
                group,
                mode: mode.unwrap_or_default(),
            };
            let (text, tools) = browsing.search(&asked, limits.search_results)?;
            // The first is the person's own, if the model does as it is told.
            let query = query.into_iter().next().unwrap_or_default();
            let found = SearchAnswer { query, tools, whole: Vec::new() };
            return Ok(Step::Found(Reply::text(&text), found));
        }
        (None, Some(domain), Some(group)) => browsing.group(domain, group),
        (None, Some(domain), None) => browsing.domain(domain),
        (None, None, _) => browsing.summary(),
    };
    text.map(|text| Step::Reply(Reply::text(&text)))
}

/// A page of a domain's tools.
pub(crate) fn domain_page(
    view: &View,
    entry: &DomainEntry,
    budget: usize,
    cursor: Option<&str>,
) -> Result<String, UsageError> {
    BrowseRequest { view, budget, cursor }.domain(entry)
}

/// A parsed search request.
struct SearchRequest<'a> {
    phrasings: &'a [String],
    entry: Option<&'a DomainEntry>,
    group: Option<&'a str>,
    mode: SearchMode,
}

/// The modes of a search, by the names that models know them by.
const MODES: [(&str, SearchMode); 3] = [
    ("hybrid", SearchMode::Hybrid),
    ("keyword", SearchMode::Keyword),
    ("semantic", SearchMode::Semantic),
];

fn known_mode(name: &str) -> Result<SearchMode, UsageError> {
    let known = MODES.iter().find(|(known, _)| known.eq_ignore_ascii_case(name.trim()));
    known.map(|(_, mode)| *mode).ok_or_else(|| {
        let names = MODES.map(|(name, _)| name).join(", ");
        UsageError::new(format!("Unknown search_mode {}. Available modes: {names}", quoted(name)))
    })
}

fn known_domain<'a>(view: &'a View, name: &str) -> Result<&'a DomainEntry, UsageError> {
    let written = view.domain(name.trim());
    let meant = || view.domain(Domain::from_key(name).as_str());
    written.or_else(meant).ok_or_else(|| {
        let available = view.domains().map(|entry| entry.domain().as_str());
        let available = listed(available, NAMED_BYTES, str::len);
        UsageError::new(format!("Unknown domain {}. Available domains: {available}", quoted(name)))
    })
}

fn known_group<'a>(
    view: &'a View,
    domain: &DomainEntry,
    name: &str,
) -> Result<&'a str, UsageError> {
    let groups: Vec<_> = view.groups(domain).iter().map(|group| group.name).collect();
    let written = groups.iter().find(|group| **group == name);
    let meant = || groups.iter().find(|group| group.eq_ignore_ascii_case(name.trim()));
    written.or_else(meant).copied().ok_or_else(|| {
        let available = listed(groups.iter().copied(), NAMED_BYTES, str::len);
        UsageError::new(format!(
            "Unknown group {} in domain '{}'. Available groups: {available}",
            quoted(name),
            domain.domain()
        ))
    })
}

fn without_domain(view: &View, group: &str) -> UsageError {
    let having = |entry: &&DomainEntry| view.groups(entry).iter().any(|known| known.name == group);
    let with: Vec<_> = view.domains().filter(having).collect();
    let (what, domains) = if with.is_empty() {
        ("Available domains".to_owned(), view.domains().collect())
    } else {
        (format!("Domains with a group {}", quoted(group)), with)
    };
    let names = domains.iter().map(|entry| entry.domain().as_str());
    let names = listed(names, NAMED_BYTES, str::len);
    UsageError::new(format!("Parameter 'group' requires 'domain'. {what}: {names}"))
}

struct BrowseRequest<'a> {
    view: &'a View,
    budget: usize,
    cursor: Option<&'a str>,
}

impl<'a> BrowseRequest<'a> {
    fn fits(&self, text: &str) -> bool {
        // No token is shorter than a byte.
        text.len() <= self.budget || token_bound(text) <= self.budget
    }

    /// The longest page from `start` within the budget, with at least one item.
    fn page(
        &self,
        items: &[impl Serialize],
        start: usize,
        write: impl Fn(usize) -> String,
    ) -> String {
        self.page_and_end(items, start, write).0
    }

    /// The same page, and the item it ends before.
    fn page_and_end(
        &self,
        items: &[impl Serialize],
        start: usize,
        write: impl Fn(usize) -> String,
    ) -> (String, usize) {
        let (least, all) = ((start + 1).min(items.len()), items.len());
        if all - start <= SHORT_PAGE {
            let whole = write(all);
            if self.fits(&whole) {
                return (whole, all);
            }
        }
        let mut cost = token_bound(&write(start));
        let within = |item: &&_| {
            cost += token_bound(&json(item));
            cost <= self.budget
        };
        // Items cost a little more one by one than joined, so this guess is close and never too
        // high.
        let mut end = (start + items[start..].iter().take_while(within).count()).max(least);
        let mut page = write(end);
        while !self.fits(&page) && end > least {
            end -= 1;
            page = write(end);
        }
        while end < all {
            let longer = write(end + 1);
            if !self.fits(&longer) {
                break;
            }
            (page, end) = (longer, end + 1);
        }
        (page, end)
    }

    /// The message about a domain whose tools nobody knows yet.
    fn unknown(&self, entry: &DomainEntry) -> Option<String> {
        let domain = entry.domain();
        let source = || self.view.unlisted().find(|source| source.domain == *domain);
        entry.manifest().is_none().then(|| nothing_known(domain.as_str(), source()))
    }

    fn summary(&self) -> Result<String, UsageError> {
        let entries: Vec<_> = self.view.domains().collect();
        let pages = Pages::of(&["summary"], entries.iter().map(|entry| entry.domain().as_str()));
        let start = pages.start(self.cursor)?;
        let (total_tools, not_known_yet) = (self.view.tool_count(), &*unlisted(self.view));
        let written = |lines: &[DomainLine<'_>], next_cursor| {
            json(&Summary { domains: lines, total_tools, next_cursor, not_known_yet })
        };
        let lines = |(limit, groups): (usize, bool)| -> Vec<_> {
            entries.iter().map(|entry| self.domain_line(entry, limit, groups)).collect()
        };
        let shortest = SUMMARIES[SUMMARIES.len() - 1];
        if start == 0 {
            let mut wholes = SUMMARIES.into_iter().map(|form| written(&lines(form), None));
            if let Some(whole) = wholes.find(|text| self.fits(text)) {
                return Ok(whole);
            }
        }
        let lines = lines(shortest);
        Ok(self.page(&lines, start, |end| written(&lines[start..end], pages.cursor(end))))
    }

    fn domain_line(
        &self,
        entry: &'a DomainEntry,
        limit: usize,
        with_groups: bool,
    ) -> DomainLine<'a> {
        let groups = self.view.groups(entry);
        DomainLine {
            name: entry.domain().as_str(),
            description: one_line(&described(self.view, entry), limit),
            tool_count: groups.iter().map(|group| group.tool_count).sum(),
            groups: with_groups.then(|| groups.iter().map(|group| group.name).collect()),
        }
    }

    /// All tools of a domain; if they are too many, its groups and as many tools as fit.
    fn domain(&self, entry: &'a DomainEntry) -> Result<String, UsageError> {
        let tools: Vec<_> = self.view.tools_in(entry).map(ToolLine::grouped).collect();
        let domain = entry.domain().as_str();
        let pages = Pages::of(&["domain", domain], tools.iter().map(|line| line.name));
        let start = pages.start(self.cursor)?;
        let plain = |end: usize| DomainTools {
            domain,
            group: None,
            tools: &tools[start..end],
            groups: None,
            more_groups: None,
            next_cursor: pages.cursor(end),
            note: self.unknown(entry),
            skills: if start == 0 { self.skills_for(entry) } else { Vec::new() },
        };
        let whole = json(&plain(tools.len()));
        if start > 0 || self.fits(&whole) {
            return Ok(self.page(&tools, start, |end| json(&plain(end))));
        }
        let (groups, more_groups) = self.group_lines(entry);
        let with_groups = |end: usize| {
            let groups = groups.iter().map(|group| GroupLine { ..*group }).collect();
            json(&DomainTools { groups: Some(groups), more_groups, ..plain(end) })
        };
        Ok(self.page(&tools, start, with_groups))
    }

    /// The skills that are said to be for a domain.
    fn skills_for(&self, entry: &'a DomainEntry) -> Vec<SkillLine<'a>> {
        let lines = self.view.topics_for(entry.domain()).filter_map(|(folder, topic)| {
            let tool = self.view.tool_named(folder, &topic.tool)?;
            let description = one_line(&topic.description, LINE_LIMIT);
            Some(SkillLine { name: &topic.name, description, tool: tool.id().as_str() })
        });
        lines.take(DOMAIN_SKILLS).collect()
    }

    /// A domain's groups within their share of the budget, and how many are left out.
    fn group_lines(&self, entry: &'a DomainEntry) -> (Vec<GroupLine<'a>>, Option<usize>) {
        let line = |GroupCount { name, tool_count }| GroupLine { name, tool_count };
        let mut lines: Vec<_> = self.view.groups(entry).into_iter().map(line).collect();
        let all = lines.len();
        while lines.len() > 1 && token_bound(&json(&lines)) > self.budget / GROUPS_SHARE {
            lines.truncate(lines.len() * 3 / 4);
        }
        let left_out = all - lines.len();
        (lines, (left_out > 0).then_some(left_out))
    }

    fn group(&self, entry: &'a DomainEntry, group: &'a str) -> Result<String, UsageError> {
        let members = self.view.tools_in(entry).filter(|tool| tool.group() == group);
        let tools: Vec<_> = members.map(ToolLine::of).collect();
        let domain = entry.domain().as_str();
        let pages = Pages::of(&["group", domain, group], tools.iter().map(|line| line.name));
        let start = pages.start(self.cursor)?;
        Ok(self.page(&tools, start, |end| {
            json(&DomainTools {
                domain,
                group: Some(group),
                tools: &tools[start..end],
                groups: None,
                more_groups: None,
                next_cursor: pages.cursor(end),
                note: None,
                skills: Vec::new(),
            })
        }))
    }

    /// A page of the tools that fit a query, best first, and the tools on it. The likeliest have
    /// signatures, if the budget allows. The less certain the best tool is, the longer the first
    /// page. If it fits weakly, the page says so and names the nearest domains. If nothing fits,
    /// stand-ins get one such page, and are not among the returned tools.
    fn search(
        &self,
        asked: &SearchRequest<'_>,
        page_length: usize,
    ) -> Result<(String, Vec<ToolId>), UsageError> {
        let SearchRequest { phrasings, entry, group, mode } = *asked;
        let phrasings: Vec<_> = phrasings.iter().map(String::as_str).collect();
        let domain = entry.map(|entry| entry.domain().as_str());
        let reached = REACHED_RESULTS.max(page_length);
        let scope = Scope { domain, group };
        let mut hits = search_phrasings(self.view, &phrasings, &scope, mode, reached);
        let fit = fit(&hits);
        if fit == Fit::None {
            hits.truncate(page_length);
        }
        let note = self.note(entry, &hits, fit);
        let nearest = (fit <= Fit::Weak && entry.is_none()).then(|| self.nearest(&hits));
        let nearest = nearest.filter(|lines| !lines.is_empty());
        let mut results: Vec<_> = hits.iter().map(ToolLine::found).collect();
        let mode_name = MODES.iter().find(|(_, known)| *known == mode).map_or("", |(name, _)| name);
        let (domain, group) = (domain.unwrap_or_default(), group.unwrap_or_default());
        let mut request = vec!["query", domain, group, mode_name];
        request.extend(&phrasings);
        let pages = Pages::of(&request, results.iter().map(|line| line.name));
        let start = pages.start(self.cursor)?;
        let query = one_line(&phrasings.join(" / "), REPEATED_QUERY);
        let told = if entry.is_none() && start == 0 { unlisted(self.view) } else { Vec::new() };
        let length = first_length(fit).filter(|_| start == 0).unwrap_or(page_length);
        let length = length.min(page_length);
        let page_end = results.len().min(start + length);
        let write = |results: &[ToolLine<'_>]| {
            let end = start + results.len();
            let more = pages.left(end).map(|left| format!("{left} more with cursor"));
            let (note, nearest) = (note.as_deref(), nearest.as_deref());
            json(&Page {
                query: &query,
                fit: fit.name(),
                note,
                nearest,
                results,
                more,
                next_cursor: pages.cursor(end),
                not_known_yet: &told,
            })
        };
        let mut signed = if fit > Fit::Weak { signed(&hits[start..page_end]) } else { 0 };
        for at in start..start + signed {
            results[at].signature = Some(signature(hits[at].tool, at == 0));
        }
        for (at, unlike) in twins::lines(&hits[start..start + signed]).into_iter().enumerate() {
            results[start + at].unlike = unlike;
        }
        let (mut page, mut end) =
            self.page_and_end(&results[..page_end], start, |end| write(&results[start..end]));
        // If not all fit, tools matter more than signatures.
        while end < page_end && signed > 0 {
            signed -= 1;
            results[start + signed].signature = None;
            (page, end) =
                self.page_and_end(&results[..page_end], start, |end| write(&results[start..end]));
        }
        let shown = hits[start..end].iter().filter(|hit| hit.fits());
        Ok((page, shown.map(|hit| hit.tool.id().clone()).collect()))
    }

    /// What an answer says about how little its tools fit.
    fn note(&self, entry: Option<&DomainEntry>, hits: &[Hit<'_>], fit: Fit) -> Option<String> {
        match fit {
            Fit::None => {
                let unknown = entry.and_then(|entry| self.unknown(entry));
                unknown.or_else(|| Some(hinted(&nothing_fits(hits.len()), BROWSE)))
            }
            Fit::Weak => Some(hinted(WEAKLY_FITS, BROWSE)),
            Fit::Likely | Fit::Exact => None,
        }
    }

    /// The domains of some tools with their groups, in the tools' order.
    fn nearest(&self, hits: &[Hit<'a>]) -> Vec<DomainLine<'a>> {
        let mut lines: Vec<DomainLine<'_>> = Vec::new();
        for hit in hits {
            let name = hit.tool.domain().as_str();
            if lines.len() == NEAREST_DOMAINS || lines.iter().any(|line| line.name == name) {
                continue;
            }
            let entry = self.view.domain(name);
            lines.extend(entry.map(|entry| {
                let mut line = self.domain_line(entry, NEAREST_DESCRIPTION, true);
                line.groups.iter_mut().for_each(|groups| groups.truncate(NEAREST_GROUPS));
                line
            }));
        }
        lines
    }
}

/// How many tools the first page of a search shows; as many as any other if nothing fits, because
/// there is no other.
fn first_length(fit: Fit) -> Option<usize> {
    match fit {
        Fit::Exact => Some(EXACT_RESULTS),
        Fit::Likely | Fit::Weak => Some(FIRST_RESULTS),
        Fit::None => None,
    }
}

/// How many tools at the beginning of a page have a signature.
fn signed(page: &[Hit<'_>]) -> usize {
    let Some(best) = page.first() else { return 0 };
    let likely = |hit: &&Hit<'_>| hit.score >= SIGNED_SHARE * best.score;
    page.iter().take(SIGNED_RESULTS).take_while(likely).count()
}

fn signature(tool: &Tool, with_output: bool) -> Cow<'_, str> {
    if with_output { compact_signature(tool) } else { call_signature(tool) }
}

fn json(body: &impl Serialize) -> String {
    Box::<str>::from(raw(body)).into()
}
