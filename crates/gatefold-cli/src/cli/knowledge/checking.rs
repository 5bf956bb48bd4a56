//! `gatefold knowledge check` and `verify`.

use std::fmt::Write as _;
use std::io::{ErrorKind, Read as _};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context as _;
use clap::Args;
use gatefold::{BaseFindings, ConfiguredBase, Environment, files};
use gatefold_knowledge::{
    CheckedAnswer, CheckedQuote, KnowledgeBase, MAX_ANSWER, ReadableBase, ReadableTexts,
    check_citations, verdict_words,
};
use serde_json::{Value, json};
use tokio::task::spawn_blocking;

use super::opening::{self, ConfiguredBases, OpenedBase, unread_words};
use super::words::fault_words;
use crate::cli::arguments::{Format, SharedOptions};
use crate::cli::failure::{usage_with_help, with_help};
use crate::cli::output::Output;
use crate::cli::table::number_of;
use crate::cli::visible::on_one_line;

/// The name that stands for standard input.
const STDIN: &str = "-";

#[derive(Debug, Args)]
pub(crate) struct CheckBases {
    /// A knowledge base [default: all]
    #[arg(value_name = "NAME")]
    base: Option<String>,
    #[command(flatten)]
    pub(super) format: Format,
}

#[derive(Debug, Args)]
pub(crate) struct VerifyAnswer {
    /// The answer, in Markdown or plain text; `-` reads it from standard input
    #[arg(value_name = "FILE")]
    file: String,
    /// Against this knowledge base only
    #[arg(long, value_name = "NAME")]
    base: Option<String>,
    #[command(flatten)]
    pub(super) format: Format,
}

pub(super) async fn check(
    it: &CheckBases,
    shared: &SharedOptions,
    environment: &Environment,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    let chosen = ConfiguredBases::load(shared, environment)?.choose(it.base.as_deref())?;
    let mut checked = Vec::new();
    for OpenedBase { configured, base, unread } in opening::open(chosen, output).await? {
        let findings = configured.findings(&base, unread).await?;
        checked.push((configured, findings));
    }
    let is_faulty = |(_, findings): &(ConfiguredBase, BaseFindings)| {
        let is_unread = findings.unread.as_ref().is_some_and(|unread| !unread.is_busy);
        !findings.failed.is_empty() || !findings.missing.is_empty() || is_unread
    };
    let code = ExitCode::from(u8::from(checked.iter().any(is_faulty)));
    if output.is_json() {
        let bases: Vec<_> = checked.iter().map(|(base, own)| as_json(base, own)).collect();
        output.json(&json!({ "bases": bases }));
        return Ok(code);
    }
    for (base, findings) in &checked {
        print(base, findings, output);
    }
    Ok(code)
}

fn print(base: &ConfiguredBase, findings: &BaseFindings, output: &Output) {
    let style = output.style();
    let (fault, warning) = (style.bad("fault"), style.faint("warning"));
    for (root, error) in &findings.missing {
        output.paragraph("", &format!("{fault}: {}: cannot be read: {error}", root.display()));
    }
    for document in &findings.failed {
        output.paragraph("", &on_one_line_after(&fault, &fault_words(document)));
    }
    for document in &findings.incomplete {
        output.paragraph("", &on_one_line_after(&warning, &fault_words(document)));
    }
    let mut summary = number_of(findings.documents, "document");
    if !findings.failed.is_empty() {
        let _ = write!(summary, ", {} without text", findings.failed.len());
    }
    if !findings.incomplete.is_empty() {
        let _ = write!(summary, ", {} with parts missing", findings.incomplete.len());
    }
    if let Some(unread) = &findings.unread {
        let _ = write!(summary, "; {}", unread_words(unread));
    }
    output.paragraph("", &format!("{}: {summary}", style.strong(&base.name)));
}

/// Names and reasons are others' words.
fn on_one_line_after(word: &str, text: &str) -> String {
    format!("{word}: {}", on_one_line(text))
}

fn as_json(base: &ConfiguredBase, findings: &BaseFindings) -> Value {
    let finding = |document: &gatefold_knowledge::DocumentSummary| json!({ "document": document.name, "state": document.state, "reason": document.reason });
    let missing = findings.missing.iter();
    let missing: Vec<_> =
        missing.map(|(root, error)| json!({ "path": root, "reason": error.to_string() })).collect();
    json!({
        "name": base.name,
        "documents": findings.documents,
        "failed": findings.failed.iter().map(finding).collect::<Vec<_>>(),
        "incomplete": findings.incomplete.iter().map(finding).collect::<Vec<_>>(),
        "missing": missing,
        "unread_files": findings.unread.as_ref().map_or(0, |unread| unread.count),
    })
}

pub(super) async fn verify(
    it: &VerifyAnswer,
    shared: &SharedOptions,
    environment: &Environment,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    let answer = answer(&it.file, environment)?;
    let chosen = ConfiguredBases::load(shared, environment)?.choose(it.base.as_deref())?;
    let opened = opening::open(chosen, output).await?;
    let bases: Vec<(String, Arc<KnowledgeBase>)> = opened
        .iter()
        .map(|own| (own.configured.domain().as_str().to_owned(), Arc::clone(&own.base)))
        .collect();
    let checked = spawn_blocking(move || {
        let readable = bases.iter().map(|(domain, base)| ReadableBase {
            domain,
            base,
            // Whoever runs the gateway has the documents anyway.
            sees: &|_, _| true,
        });
        check_citations(&answer, &ReadableTexts::new(readable.collect()))
    });
    let checked = checked.await?;
    if output.is_json() {
        output.json(&answer_as_json(&checked));
    } else {
        print_verified(&checked, output);
        for own in &opened {
            own.warn(output);
        }
    }
    Ok(ExitCode::from(u8::from(!is_sound(&checked))))
}

/// The text of an answer, which is as long as a check reads.
fn answer(file: &str, environment: &Environment) -> anyhow::Result<String> {
    let limit = MAX_ANSWER as u64;
    let read = if file == STDIN {
        let mut bytes = Vec::new();
        let read = std::io::stdin().lock().take(limit + 1).read_to_end(&mut bytes);
        read.and_then(|_| {
            if bytes.len() > MAX_ANSWER {
                return Err(ErrorKind::FileTooLarge.into());
            }
            String::from_utf8(bytes).map_err(|_| ErrorKind::InvalidData.into())
        })
    } else {
        files::read_text(&environment.directory().join(file), limit)
    };
    let shown = if file == STDIN { "standard input" } else { file };
    let text = match read {
        Ok(text) => text,
        Err(error) => {
            let (fault, help) = match error.kind() {
                ErrorKind::NotFound => {
                    (format!("there is no file `{file}`"), "check the path, or give `-`")
                }
                ErrorKind::FileTooLarge => (
                    format!("`{shown}` is longer than {} KiB", MAX_ANSWER / 1024),
                    "check the answer in parts",
                ),
                ErrorKind::InvalidData => {
                    (format!("`{shown}` is not UTF-8 text"), "give the answer as plain text")
                }
                _ => return Err(error).with_context(|| format!("`{shown}` cannot be read")),
            };
            return Err(with_help(fault, help));
        }
    };
    if text.trim().is_empty() {
        let help = "give the answer whose quotes are to be checked";
        return Err(usage_with_help(format!("`{shown}` is blank"), help));
    }
    Ok(text)
}

fn is_sound(checked: &CheckedAnswer) -> bool {
    let is_whole = checked.unchecked == 0 && checked.unread == 0;
    is_whole && checked.quotes.iter().all(|quote| quote.verdict.is_sound())
}

fn print_verified(checked: &CheckedAnswer, output: &Output) {
    let style = output.style();
    for quote in &checked.quotes {
        let said = match (quote.quote.as_str(), &quote.citation) {
            ("", Some(citation)) => citation.to_string(),
            (words, _) => format!("\"{}\"", on_one_line(words)),
        };
        let word = quote.verdict.as_str();
        let word = if quote.verdict.is_sound() { style.good(word) } else { style.bad(word) };
        output.paragraph("", &format!("{word}: {said}"));
        output.paragraph("  ", &on_one_line(&verdict_words(quote)));
    }
    let count = checked.quotes.len();
    let unsound = checked.quotes.iter().filter(|quote| !quote.verdict.is_sound()).count();
    let quotes = match count {
        1 => "1 quote or citation".to_owned(),
        count => format!("{count} quotes and citations"),
    };
    output.line(&match (count, unsound) {
        (0, _) => "there are no quotes or citations".to_owned(),
        (_, 0) => format!("{quotes}: sound"),
        (_, unsound) => format!("{quotes}, {unsound} of them not sound"),
    });
    if checked.unchecked > 0 {
        output.warning(&format!(
            "{} more were not checked: check the answer in parts",
            checked.unchecked
        ));
    }
}

fn answer_as_json(checked: &CheckedAnswer) -> Value {
    let quote = |quote: &CheckedQuote| {
        json!({
            "quote": quote.quote,
            "verdict": quote.verdict.as_str(),
            "says": verdict_words(quote),
            "citation": quote.citation.as_ref().map(ToString::to_string),
            "found": quote.found.as_ref().map(|found| found.citation().to_string()),
        })
    };
    json!({
        "sound": is_sound(checked),
        "quotes": checked.quotes.iter().map(quote).collect::<Vec<_>>(),
        "unchecked": checked.unchecked,
    })
}
