//! What learning from use gains: some requests of a set become past queries of their tools, the
//! others are asked.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Instant;

use super::{Answer, DEPTH, Figures, ListedTool, Request};
use crate::document::Analysis;
use crate::index::{Entry, Index};
use crate::past::{PastIndex, PastJudge, PastQuery};
use crate::ranking::{Mode, SearchEvidence, SimilarityFn};

/// How a set is split.
#[derive(Debug, Clone, Copy)]
pub struct QuerySplit {
    /// How many past queries a tool gets.
    pub past_queries: usize,
    /// One in how many tools gets any, beginning with the first; 1 for all.
    pub one_in: usize,
    /// The most requests that are asked of either kind.
    pub asked: usize,
    pub mode: Mode,
}

/// The figures of the same requests without past queries, and with them.
#[derive(Debug, Clone, Copy)]
pub struct Comparison {
    pub without: Figures,
    pub with: Figures,
}

/// What past queries did for requests that fit a tool with past queries, and for all others.
#[derive(Debug, Clone, Copy)]
pub struct LearningEffect {
    pub own: Comparison,
    pub others: Comparison,
}

/// A sentence encoder: how similar a request is to each of these texts, in their order.
pub type Similarities<'a> = dyn Fn(&str, &[&str]) -> Vec<Option<f32>> + 'a;

/// Makes past queries of the first requests that fit each learning tool, and asks the others.
pub fn learning(
    tools: &[ListedTool],
    requests: &[Request],
    trial: &QuerySplit,
    encoder: Option<&Similarities<'_>>,
) -> LearningEffect {
    let learns: HashSet<&str> =
        tools.iter().step_by(trial.one_in.max(1)).map(|tool| tool.id.as_str()).collect();
    let (past, rest) = split(requests, &learns, trial.past_queries);
    let analyses: Vec<_> = tools.iter().map(|tool| tool.with_document(Analysis::of)).collect();
    let entries = tools.iter().zip(&analyses).map(|(tool, analysis)| Entry {
        id: &tool.id,
        domain: tool.server.as_deref().unwrap_or_default(),
        analysis: Arc::clone(analysis),
        service: tool.service().map(Arc::new),
    });
    let index = Index::build(&entries.collect::<Vec<_>>());
    let past =
        PastIndex::of(past.iter().map(|(tool, query)| PastQuery { tool, query, weight: 1.0 }));
    let nothing = PastIndex::of([]);
    let places = tools.iter().zip(0..).map(|(tool, place)| (tool.id.as_str(), place)).collect();
    let passages: Vec<_> = tools.iter().map(ListedTool::passage).collect();
    let passages = passages.iter().map(String::as_str).collect();
    let mode = trial.mode;
    let ranking = Ranking { tools, index: &index, places: &places, passages, encoder, mode };
    let is_own = |request: &&Request| request.relevant.iter().any(|id| learns.contains(&**id));
    let (own, others): (Vec<_>, Vec<_>) = rest.into_iter().partition(is_own);
    let gain = |requests: &[&Request]| {
        let asked = &requests[..requests.len().min(trial.asked)];
        let figures = |past: &PastIndex| {
            let answers: Vec<_> = asked.iter().map(|it| ranking.answer(past, it)).collect();
            Figures::of(&answers)
        };
        Comparison { without: figures(&nothing), with: figures(&past) }
    };
    LearningEffect { own: gain(&own), others: gain(&others) }
}

struct Ranking<'a> {
    tools: &'a [ListedTool],
    index: &'a Index,
    places: &'a HashMap<&'a str, usize>,
    passages: Vec<&'a str>,
    encoder: Option<&'a Similarities<'a>>,
    mode: Mode,
}

impl Ranking<'_> {
    fn answer(&self, past: &PastIndex, request: &Request) -> Answer {
        let start = Instant::now();
        let similarities = |asked: &str, texts: &[&str]| {
            self.encoder.map_or_else(Vec::new, |encoder| encoder(asked, texts))
        };
        let judge = |asked: &str, places: &[usize]| {
            similarities(asked, &places.iter().map(|at| self.passages[*at]).collect::<Vec<_>>())
        };
        let similarities = |texts: &[&str]| similarities(&request.text, texts);
        let reader: Option<&PastJudge<'_>> = self.encoder.is_some().then_some(&similarities);
        let judge: Option<&SimilarityFn<'_>> = self.encoder.is_some().then_some(&judge);
        let bonuses = past.bonuses(&request.text, self.mode, self.tools.len(), |_| true, reader);
        let placed = |(id, bonus): (&str, f32)| Some((*self.places.get(id)?, bonus));
        let bonuses: Vec<_> = bonuses.into_iter().filter_map(placed).collect();
        let aids = SearchEvidence { bonuses: &bonuses, judge, bar: None };
        let found = self.index.search_with(&request.text, self.mode, |_| true, &aids, DEPTH);
        let took = start.elapsed();
        let relevant: HashSet<&str> = request.relevant.iter().map(String::as_str).collect();
        let fits =
            found.matches.iter().map(|it| relevant.contains(self.tools[it.place].id.as_str()));
        Answer { fits: fits.collect(), relevant: relevant.len(), took }
    }
}

/// The past queries, each with its tool, and the requests that became none.
fn split<'a>(
    requests: &'a [Request],
    learns: &HashSet<&str>,
    per_tool: usize,
) -> (Vec<(&'a str, &'a str)>, Vec<&'a Request>) {
    let mut taken: HashMap<&str, usize> = HashMap::new();
    let (mut past, mut others) = (Vec::new(), Vec::new());
    for request in requests {
        let mut is_past = false;
        for tool in request.relevant.iter().filter(|tool| learns.contains(tool.as_str())) {
            let taken = taken.entry(tool).or_default();
            if *taken < per_tool {
                *taken += 1;
                is_past = true;
                past.push((tool.as_str(), request.text.as_str()));
            }
        }
        if !is_past {
            others.push(request);
        }
    }
    (past, others)
}

#[cfg(test)]
mod tests {
    use super::super::{read_requests, read_tools};
    use super::*;

    #[test]
    fn past_queries_help_the_requests_that_were_not_among_them() {
        let tools = r#"
            {"id":"a","name":"alpha","description":"does this"}
            {"id":"b","name":"beta","description":"does that"}"#;
        let requests = r#"
            {"id":"1","text":"my umbrella is wet","relevant":["a"]}
            {"id":"2","text":"the car is dirty","relevant":["b"]}
            {"id":"3","text":"dry my wet umbrella","relevant":["a"]}
            {"id":"4","text":"wash the dirty car","relevant":["b"]}"#;
        let (tools, requests) = (read_tools(tools).unwrap(), read_requests(requests).unwrap());
        let trial = |one_in| QuerySplit { past_queries: 1, one_in, asked: 9, mode: Mode::Keyword };
        let all = learning(&tools, &requests, &trial(1), None);
        assert_eq!((all.own.with.queries, all.others.with.queries), (2, 0));
        assert!(all.own.without.mrr < 0.5 && all.own.with.mrr > 0.99, "{all:?}");
        let half = learning(&tools, &requests, &trial(2), None);
        assert_eq!((half.own.with.queries, half.others.with.queries), (1, 2));
    }
}
