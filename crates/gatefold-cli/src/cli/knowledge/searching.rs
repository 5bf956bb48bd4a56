//! `gatefold knowledge search`.

use std::process::ExitCode;
use std::sync::Arc;

use clap::Args;
use gatefold::Environment;
use gatefold_knowledge::ranking::FITS;
use gatefold_knowledge::{
    Citation, Found, MAX_QUERY, MAX_TOP, PASSAGES_PER_DOCUMENT, Passage, Query, place_words,
};
use serde_json::{Value, json};

use super::opening::{self, ConfiguredBases};
use crate::cli::arguments::{Format, SharedOptions};
use crate::cli::failure::usage_with_help;
use crate::cli::output::Output;

#[derive(Debug, Args)]
pub(crate) struct SearchBases {
    /// What to look for: a question or a few telling words
    #[arg(required = true)]
    query: Vec<String>,
    /// Of this knowledge base only
    #[arg(long, value_name = "NAME")]
    base: Option<String>,
    /// The most passages to show, up to 100
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = top)]
    top: usize,
    #[command(flatten)]
    pub(super) format: Format,
}

fn top(text: &str) -> Result<usize, String> {
    let top = text.parse().ok().filter(|top| (1..=MAX_TOP).contains(top));
    top.ok_or_else(|| format!("write a whole number from 1 to {MAX_TOP}"))
}

/// A passage and the base that it is of.
struct FoundPassage {
    base: String,
    domain: String,
    passage: Passage,
}

pub(super) async fn search(
    it: &SearchBases,
    shared: &SharedOptions,
    environment: &Environment,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    let text = it.query.join(" ").trim().to_owned();
    if text.is_empty() {
        return Err(usage_with_help("the query is blank", "say what to look for"));
    }
    if text.len() > MAX_QUERY {
        let fault = format!("the query is longer than {MAX_QUERY} bytes");
        return Err(usage_with_help(fault, "ask for less at once"));
    }
    let chosen = ConfiguredBases::load(shared, environment)?.choose(it.base.as_deref())?;
    let opened = opening::open(chosen, output).await?;
    let (mut passages, mut nearest) = (Vec::new(), Vec::new());
    let (shared_text, top): (Arc<str>, _) = (text.as_str().into(), it.top);
    for own in &opened {
        let text = Arc::clone(&shared_text);
        let query = move |base: &gatefold_knowledge::KnowledgeBase| {
            base.search(&Query { text: &text, top, per_document: PASSAGES_PER_DOCUMENT })
        };
        let Found { passages: found, nearest_titles } = own.with(query).await?;
        let (base, domain) = (&own.configured.name, own.configured.domain().as_str());
        passages.extend(found.into_iter().map(|passage| FoundPassage {
            base: base.clone(),
            domain: domain.to_owned(),
            passage,
        }));
        nearest.extend(nearest_titles);
    }
    // Scores mean the same in every base.
    passages.sort_by(|one, other| other.passage.score.total_cmp(&one.passage.score));
    passages.truncate(it.top);
    let fits = passages.first().is_some_and(|best| best.passage.score >= FITS);
    if output.is_json() {
        let shown: Vec<_> = passages.iter().map(FoundPassage::as_json).collect();
        let nearest = if fits { Vec::new() } else { nearest };
        output.json(&json!({
            "query": text, "fits": fits, "passages": shown, "nearest_titles": nearest,
        }));
        return Ok(ExitCode::SUCCESS);
    }
    if !fits {
        print_misfit(&passages, &nearest, output);
    }
    for (at, found) in passages.iter().enumerate() {
        if at > 0 || !fits {
            output.line("");
        }
        found.print(output);
    }
    for own in &opened {
        own.warn(output);
    }
    Ok(ExitCode::SUCCESS)
}

fn print_misfit(passages: &[FoundPassage], nearest: &[String], output: &Output) {
    if passages.is_empty() {
        output.line("No passage has words of the query.");
    } else {
        output.line("No passage fits the query. These are merely the nearest.");
    }
    if !nearest.is_empty() {
        output.paragraph("", &format!("Documents that may be meant: {}", nearest.join("; ")));
    }
}

impl FoundPassage {
    fn citation(&self) -> Citation {
        Citation {
            domain: self.domain.clone(),
            document: self.passage.document.to_string(),
            version: self.passage.version,
            span: self.passage.span.clone(),
        }
    }

    fn place(&self) -> Option<String> {
        self.passage.place.map(|place| place_words(place, self.passage.excerpt()))
    }

    fn print(&self, output: &Output) {
        let (style, passage) = (output.style(), &self.passage);
        let mut place = self.place().map(|place| format!(", {place}")).unwrap_or_default();
        for heading in &passage.headings {
            place.extend([" > ", heading]);
        }
        let title = style.strong(&passage.title);
        let head =
            format!("{title} {:.2} ({}: {}{place})", passage.score, self.base, passage.document);
        output.paragraph("", &head);
        for line in passage.excerpt().trim_end().lines() {
            output.line(&format!("  {line}"));
        }
        output.line(&format!("  {}", style.faint(&self.citation().to_string())));
    }

    fn as_json(&self) -> Value {
        let passage = &self.passage;
        json!({
            "base": self.base,
            "document": &*passage.document,
            "title": &*passage.title,
            "place": self.place(),
            "headings": passage.headings,
            "score": (f64::from(passage.score) * 100.0).round() / 100.0,
            "citation": self.citation().to_string(),
            "text": passage.excerpt(),
        })
    }
}
