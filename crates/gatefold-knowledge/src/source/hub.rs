//! The tools for all knowledge bases at once.
//!
//! The hub has no documents. It calls the same tool of every base that its caller sees, on the path of
//! any call, so rules and records are those of these calls; scores of bases are comparable, so it can
//! merge what they answer.

use std::sync::Arc;

use futures::future::BoxFuture;
use futures::{FutureExt as _, StreamExt as _, stream};
use gatefold_catalog::{Manifest, Request, Tool, nearest_texts};
use gatefold_core::{
    BoxError, CallError, Clock, EntryKind, Operation, Outcome, Payload, Target, ToolName,
};
use gatefold_dispatch::{AdmittedCall, CallContext, StatelessSource};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::to_raw_value;
use serde_json::{Value, json};

use super::KnowledgeSource;
use super::arguments::{self, GroundArguments, MOST_TOP, RetrieveArguments};
use super::manifest::{self, GROUNDED_RETRIEVE, HUB, KB_RETRIEVE};
use super::shown::{ShownClaim, ShownClaims, ShownPart, ShownPassages};

/// How many bases are asked at once, and at most.
const ASKED_AT_ONCE: usize = 8;
const MOST_BASES: usize = 64;

/// The most nearest titles of all bases together.
const NEAREST: usize = 5;

/// Searches every base that its caller sees.
pub struct KnowledgeHub {
    clock: Arc<dyn Clock>,
}

/// What bases answered, and what is to be said of those that did not.
struct Answers<T> {
    answers: Vec<T>,
    notes: Vec<String>,
}

impl KnowledgeHub {
    /// What its domain is called, unless a source of the configuration is called so.
    pub const DOMAIN: &str = HUB;

    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self { clock }
    }

    pub fn manifest(&self) -> Manifest {
        manifest::of_hub(self.clock.now())
    }

    async fn answer(&self, call: AdmittedCall, context: CallContext) -> Result<Payload, CallError> {
        let target = Arc::clone(call.target());
        match (target.kind, &*target.name) {
            (EntryKind::Tool, KB_RETRIEVE) => {
                retrieve(&target, &context, &arguments::read(&call)?).await
            }
            (EntryKind::Tool, GROUNDED_RETRIEVE) => {
                ground(&target, &context, &arguments::read(&call)?).await
            }
            (kind, name) => Err(CallError::Unknown { kind: kind.as_str(), name: name.to_owned() }),
        }
    }
}

async fn retrieve(
    target: &Target,
    context: &CallContext,
    arguments: &RetrieveArguments,
) -> Result<Payload, CallError> {
    let bases = bases(target, context, arguments.knowledge_base.as_deref())?;
    let offset = arguments.offset().map_err(|message| arguments::wrong(target, message))?;
    let end = offset.saturating_add(arguments.top()).min(MOST_TOP);
    let given = json!({ "query": arguments.query, "top_k": end });
    let Answers { answers, notes } = ask::<ShownPassages>(&bases, context, &given).await;
    if answers.is_empty() {
        return Ok(failure(&notes));
    }
    let mut merged = ShownPassages { notes, ..ShownPassages::default() };
    let mut has_more = false;
    for answer in answers {
        // A passage that does not fit stands only where none fits.
        if answer.fits && !merged.fits {
            (merged.fits, has_more) = (true, false);
            merged.passages.clear();
        }
        if answer.fits == merged.fits {
            has_more |= answer.next_cursor.is_some();
            merged.passages.extend(answer.passages);
        }
        merged.nearest_titles.extend(answer.nearest_titles);
        merged.notes.extend(answer.notes);
    }
    if merged.fits {
        merged.nearest_titles.clear();
    }
    merged.nearest_titles.truncate(NEAREST);
    // Stable, so that equal scores stay in the order of the bases.
    merged.passages.sort_by(|one, other| other.score.total_cmp(&one.score));
    has_more |= merged.passages.len() > end;
    merged.passages.truncate(end);
    merged.passages.drain(..offset.min(merged.passages.len()));
    if has_more && end < MOST_TOP {
        merged.next_cursor = Some(end.to_string());
    } else if has_more {
        merged.notes.push("There are more: name one knowledge base to read on in it.".to_owned());
    }
    Ok(merged.payload(&hint(context)))
}

async fn ground(
    target: &Target,
    context: &CallContext,
    arguments: &GroundArguments,
) -> Result<Payload, CallError> {
    let bases = bases(target, context, arguments.knowledge_base.as_deref())?;
    let given = json!({ "question": arguments.question, "quotes": arguments.quotes() });
    let Answers { mut answers, notes } = ask::<ShownClaims>(&bases, context, &given).await;
    if answers.is_empty() {
        return Ok(failure(&notes));
    }
    let mut merged = ShownClaims { insufficient: true, notes, ..ShownClaims::default() };
    answers.sort_by(|one, other| other.confidence.total_cmp(&one.confidence));
    let suffices = answers.iter().any(|answer| !answer.insufficient);
    for answer in answers {
        merged.confidence = merged.confidence.max(answer.confidence);
        merged.insufficient &= answer.insufficient;
        merged.notes.extend(answer.notes);
        if suffices && answer.insufficient {
            continue;
        }
        merged.nearest_titles.extend(answer.nearest_titles);
        answer.claims.into_iter().for_each(|claim| add_claim(&mut merged.claims, claim));
    }
    merged.nearest_titles.truncate(NEAREST);
    let best = |claim: &ShownClaim| claim.quotes.first().map_or(0.0, |quote| quote.score);
    merged.claims.sort_by(|one, other| best(other).total_cmp(&best(one)));
    cut_quotes(&mut merged.claims, arguments.quotes());
    Ok(merged.payload(&hint(context)))
}

/// Adds a claim, to that of another base which says the same in the same words.
fn add_claim(claims: &mut Vec<ShownClaim>, claim: ShownClaim) {
    let words = |part: &ShownPart| part.text.split_whitespace().collect::<String>().to_lowercase();
    let Some(first) = claim.quotes.first().map(words) else { return };
    let same = claims.iter_mut().find(|own| own.quotes.iter().any(|quote| words(quote) == first));
    match same {
        Some(same) => same.quotes.extend(claim.quotes),
        None => claims.push(claim),
    }
}

/// Keeps so many quotes, those of the first claims.
fn cut_quotes(claims: &mut Vec<ShownClaim>, most: usize) {
    let mut left = most;
    for claim in claims.iter_mut() {
        claim.quotes.truncate(left);
        left -= claim.quotes.len();
    }
    claims.retain(|claim| !claim.quotes.is_empty());
}

/// The tools of this name of the bases that the caller sees, or of the one that is named.
fn bases<'c>(
    target: &Target,
    context: &'c CallContext,
    wanted: Option<&str>,
) -> Result<Vec<&'c Tool>, CallError> {
    let view = context.nested.view();
    let is_base = |entry: &&gatefold_catalog::DomainEntry| {
        entry.kind() == KnowledgeSource::KIND && *entry.domain() != target.domain
    };
    let all = view.domains().filter(is_base);
    let mut tools: Vec<_> =
        all.filter_map(|entry| view.tool_named(entry.domain(), &target.name)).collect();
    let Some(wanted) = wanted.map(str::trim).filter(|wanted| !wanted.is_empty()) else {
        if tools.is_empty() {
            return Err(arguments::wrong(target, "there is no knowledge base".to_owned()));
        }
        tools.truncate(MOST_BASES);
        return Ok(tools);
    };
    let own =
        tools.iter().find(|tool| tool.domain().as_str().eq_ignore_ascii_case(wanted)).copied();
    own.map(|own| vec![own]).ok_or_else(|| {
        let names: Vec<_> = tools.iter().map(|tool| tool.domain().as_str()).collect();
        let near = nearest_texts(wanted, names.iter().copied());
        let advice = match (near.as_slice(), names.as_slice()) {
            ([], names) => format!("there are: {}", names.join(", ")),
            (near, _) => format!("did you mean {}?", near.join(" or ")),
        };
        arguments::wrong(target, format!("there is no such knowledge base; {advice}"))
    })
}

/// Asks each base the same.
async fn ask<T: DeserializeOwned>(
    bases: &[&Tool],
    context: &CallContext,
    arguments: &Value,
) -> Answers<T> {
    let arguments = to_raw_value(arguments).expect("a JSON value is valid JSON");
    let request = |tool: &&Tool| {
        let name = ToolName::of(tool.id());
        let operation = Arc::new(Operation::Tool { name, arguments: arguments.clone() });
        let entry = Some(context.nested.view().resolved(tool));
        (tool.domain().to_string(), Request { operation, entry })
    };
    let requests: Vec<_> = bases.iter().map(request).collect();
    // In the order of the bases, so that the same question has the same answer.
    let asked = stream::iter(requests).map(|(domain, request)| async move {
        let answer = ask_one::<T>(request, context).await;
        answer.map_err(|reason| format!("'{domain}' was not searched: {reason}"))
    });
    let results: Vec<_> = asked.buffered(ASKED_AT_ONCE).collect().await;
    let mut answers = Answers { answers: Vec::new(), notes: Vec::new() };
    for result in results {
        match result {
            Ok(answer) => answers.answers.push(answer),
            Err(note) => answers.notes.push(note),
        }
    }
    answers
}

async fn ask_one<T: DeserializeOwned>(
    request: Request,
    context: &CallContext,
) -> Result<T, String> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Answer<T> {
        structured_content: T,
    }
    match context.nested.call(request, context.nested_caller()).await {
        Ok(Outcome::Done(payload)) if !payload.is_error => {
            let answer = serde_json::from_str::<Answer<T>>(payload.json.get());
            answer.map(|answer| answer.structured_content).map_err(|error| error.to_string())
        }
        Ok(Outcome::Done(_)) => Err("it gave an error".to_owned()),
        Ok(Outcome::Suspended(_) | Outcome::Task(_)) => {
            Err("a person is asked first, so search it by its own name".to_owned())
        }
        Err(error) => Err(error.to_string()),
    }
}

/// The answer where no base answered.
fn failure(notes: &[String]) -> Payload {
    Payload { is_error: true, ..Payload::text(&notes.join("\n")) }
}

/// How to read on, where some base can be read.
fn hint(context: &CallContext) -> String {
    let view = context.nested.view();
    let mut bases = view.domains().filter(|entry| entry.kind() == KnowledgeSource::KIND);
    let reads =
        bases.any(|entry| view.tool_named(entry.domain(), manifest::READ_DOCUMENT).is_some());
    if !reads {
        return String::new();
    }
    "To read more of a document call read_document of its knowledge base with its citation."
        .to_owned()
}

impl StatelessSource for KnowledgeHub {
    fn describe(&self) -> BoxFuture<'_, Result<Manifest, BoxError>> {
        async { Ok(self.manifest()) }.boxed()
    }

    fn call(
        &self,
        call: AdmittedCall,
        context: CallContext,
    ) -> BoxFuture<'_, Result<Payload, CallError>> {
        self.answer(call, context).boxed()
    }
}
