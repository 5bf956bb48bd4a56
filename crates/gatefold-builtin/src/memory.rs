//! `memory`: notes that a principal keeps from session to session.

use std::sync::Arc;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use gatefold_core::Hints;
use gatefold_dispatch::{DataOwner, Note, NoteText, Notes};
use gatefold_search::{Analysis, Document, Entry, Index, Mode};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::compute::ComputePlaces;
use crate::face::{self, ToolCategory, ToolFace};
use crate::tool::BuiltinTool;
use crate::{BuiltinAnswer, BuiltinCall, BuiltinError, arguments};

/// The most notes of one principal, and the longest title and text of one, in bytes.
const MAX_NOTES: usize = 1000;
const MAX_TITLE: usize = 200;
const MAX_TEXT: usize = 8 * 1024;

/// The most notes of one answer, and how many without a wish.
const MAX_RESULTS: usize = 100;
const RESULTS: usize = 20;

/// How much of a note's text a list shows, in characters.
const SHOWN: usize = 200;

/// How many words of a note are searched as one piece. An index reads no more of one text.
const PIECE: usize = 120;

/// How many pieces are ranked. Each note has at least one.
const RANKED: usize = 400;

const READING: [&str; 3] = ["search", "list", "get"];
const WRITING: [&str; 3] = ["add", "update", "delete"];

/// The two tools for notes, so that annotations are true.
pub(crate) fn tools(notes: &Arc<dyn Notes>, places: &ComputePlaces) -> [Box<dyn BuiltinTool>; 2] {
    let (notes, places) = (notes.clone(), places.clone());
    [Box::new(MemoryReader { notes: notes.clone(), places }), Box::new(MemoryWriter { notes })]
}

struct MemoryReader {
    notes: Arc<dyn Notes>,
    places: ComputePlaces,
}

struct MemoryWriter {
    notes: Arc<dyn Notes>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RecallArguments {
    action: RecallAction,
    query: Option<String>,
    id: Option<i64>,
    after: Option<i64>,
    max_results: Option<usize>,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum RecallAction {
    Search,
    List,
    Get,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RememberArguments {
    action: RememberAction,
    id: Option<i64>,
    title: Option<String>,
    text: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum RememberAction {
    Add,
    Update,
    Delete,
}

#[derive(Serialize)]
struct NotesAnswer {
    notes: Vec<ShownNote>,
    /// How many there are in all.
    total: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_after: Option<i64>,
}

#[derive(Serialize)]
struct ShownNote {
    id: i64,
    title: String,
    text: String,
    updated: String,
}

#[derive(Serialize)]
struct WrittenNote {
    id: i64,
    action: &'static str,
}

impl MemoryReader {
    async fn answer(&self, call: &BuiltinCall) -> Result<BuiltinAnswer, BuiltinError> {
        let asked: RecallArguments = arguments::read(&call.arguments)?;
        let most = asked.max_results.unwrap_or(RESULTS).clamp(1, MAX_RESULTS);
        let notes = self.notes.notes(&DataOwner::lasting(&call.principal)).await.map_err(failed)?;
        let total = notes.len();
        match asked.action {
            RecallAction::Get => {
                let id = arguments::needed("id", "get", asked.id)?;
                let note =
                    notes.into_iter().find(|note| note.id == id).ok_or_else(|| unknown(id))?;
                let text = format!("{}\n\n{}", note.title, note.text);
                let notes = vec![ShownNote::whole(note)];
                Ok(BuiltinAnswer::new(
                    text.trim_start(),
                    &NotesAnswer { notes, total, next_after: None },
                ))
            }
            RecallAction::List => {
                let after = asked.after.unwrap_or(i64::MIN);
                let mut rest: Vec<_> = notes.into_iter().filter(|note| note.id > after).collect();
                let more = rest.len() > most;
                rest.truncate(most);
                let next_after = rest.last().filter(|_| more).map(|last| last.id);
                Ok(listed(rest, total, next_after))
            }
            RecallAction::Search => {
                let query = arguments::needed("query", "search", asked.query)?;
                let query = arguments::bounded("query", &query, MAX_TEXT)?.to_owned();
                let found = self.places.run(move |_| ranked(notes, &query, most)).await?;
                Ok(listed(found, total, None))
            }
        }
    }
}

impl MemoryWriter {
    async fn answer(&self, call: &BuiltinCall) -> Result<BuiltinAnswer, BuiltinError> {
        let asked: RememberArguments = arguments::read(&call.arguments)?;
        let owner = DataOwner::lasting(&call.principal);
        let (id, action) = match asked.action {
            RememberAction::Add => {
                let text = written(asked.title, arguments::needed("text", "add", asked.text)?)?;
                let added = self.notes.add(&owner, text, MAX_NOTES).await.map_err(failed)?;
                let full = || {
                    BuiltinError::arguments(format!(
                        "there are {MAX_NOTES} notes, as many as are kept; delete some first"
                    ))
                };
                (added.ok_or_else(full)?.id, "added")
            }
            RememberAction::Update => {
                let id = arguments::needed("id", "update", asked.id)?;
                let notes = self.notes.notes(&owner).await.map_err(failed)?;
                let old =
                    notes.into_iter().find(|note| note.id == id).ok_or_else(|| unknown(id))?;
                let title = asked.title.unwrap_or(old.title);
                let text = written(Some(title), asked.text.unwrap_or(old.text))?;
                let updated = self.notes.update(&owner, id, text).await.map_err(failed)?;
                (updated.ok_or_else(|| unknown(id))?.id, "updated")
            }
            RememberAction::Delete => {
                let id = arguments::needed("id", "delete", asked.id)?;
                if !self.notes.delete(&owner, id).await.map_err(failed)? {
                    return Err(unknown(id));
                }
                (id, "deleted")
            }
        };
        Ok(BuiltinAnswer::new(format!("{action} note {id}"), &WrittenNote { id, action }))
    }
}

fn written(title: Option<String>, text: String) -> Result<NoteText, BuiltinError> {
    let title = title.unwrap_or_default();
    arguments::bounded("title", &title, MAX_TITLE)?;
    arguments::bounded("text", &text, MAX_TEXT)?;
    if text.trim().is_empty() {
        return Err(BuiltinError::arguments("`text` is empty"));
    }
    Ok(NoteText { title, text })
}

/// The notes that fit a request best. Long ones are searched piece by piece.
fn ranked(notes: Vec<Note>, query: &str, most: usize) -> Vec<Note> {
    let mut pieces: Vec<(usize, String)> = Vec::new();
    for (place, note) in notes.iter().enumerate() {
        let words: Vec<_> = note.text.split_whitespace().collect();
        pieces.extend(words.chunks(PIECE).map(|words| (place, words.join(" "))));
    }
    let ids: Vec<_> = (0..pieces.len()).map(|number| format!("{number:06}")).collect();
    let entries: Vec<_> = pieces
        .iter()
        .zip(&ids)
        .map(|((place, text), id)| {
            let title = notes[*place].title.as_str();
            let document =
                Document { name: title, description: &[text.as_str()], ..Document::default() };
            Entry { id, domain: id, analysis: Analysis::of(&document), service: None }
        })
        .collect();
    let findings = Index::build(&entries).search(query, Mode::Hybrid, |_| true, RANKED);
    let mut found: Vec<usize> = Vec::new();
    for one in findings.matches {
        let place = pieces[one.place].0;
        if found.len() < most && !found.contains(&place) {
            found.push(place);
        }
    }
    let mut notes: Vec<_> = notes.into_iter().map(Some).collect();
    found.into_iter().filter_map(|place| notes[place].take()).collect()
}

fn listed(notes: Vec<Note>, total: usize, next_after: Option<i64>) -> BuiltinAnswer {
    let notes: Vec<_> = notes.into_iter().map(ShownNote::cut).collect();
    let line = |note: &ShownNote| {
        let text = note.text.split_whitespace().collect::<Vec<_>>().join(" ");
        let colon = if note.title.is_empty() { "" } else { ": " };
        format!("{}. {}{colon}{text}", note.id, note.title)
    };
    let mut lines: Vec<_> = notes.iter().map(line).collect();
    if lines.is_empty() {
        let text = if total == 0 { "there are no notes" } else { "no note fits" };
        lines.push(text.to_owned());
    }
    if let Some(after) = next_after {
        lines.push(format!("[{total} notes in all; go on with after={after}]"));
    }
    BuiltinAnswer::new(lines.join("\n"), &NotesAnswer { notes, total, next_after })
}

impl ShownNote {
    fn whole(note: Note) -> Self {
        let Note { id, title, text, updated_at, .. } = note;
        Self { id, title, text, updated: updated_at.to_string() }
    }

    /// A note in a list. `get` shows all of it.
    fn cut(note: Note) -> Self {
        let mut shown = Self::whole(note);
        if let Some((end, _)) = shown.text.char_indices().nth(SHOWN) {
            shown.text.truncate(end);
            shown.text.push_str("...");
        }
        shown
    }
}

fn failed(source: gatefold_core::BoxError) -> BuiltinError {
    let reason = "the notes could not be read or written".to_owned();
    BuiltinError::Unavailable { reason, source: Some(source) }
}

fn unknown(id: i64) -> BuiltinError {
    BuiltinError::arguments(format!("there is no note {id}"))
}

fn note_schema() -> Value {
    face::object(
        &json!({
            "id": { "type": "integer" },
            "title": { "type": "string" },
            "text": { "type": "string" },
            "updated": { "type": "string" },
        }),
        &["id", "title", "text", "updated"],
    )
}

impl BuiltinTool for MemoryReader {
    fn face(&self) -> ToolFace {
        ToolFace {
            name: "recall",
            title: "Recall notes",
            description:
                "Look into the notes kept from earlier sessions: search them by meaning and \
                          words, list them, or get one whole."
                    .to_owned(),
            category: ToolCategory::Knowledge,
            hints: face::reading(),
            input: face::object(
                &json!({
                    "action": face::choice("`search` needs `query`, `get` needs `id`.", &READING),
                    "query": face::text("What is looked for, in words."),
                    "id": { "type": "integer" },
                    "after": { "type": "integer", "description": "For `list`: `next_after`." },
                    "max_results": face::count("How many at most.", MAX_RESULTS),
                }),
                &["action"],
            ),
            output: face::object(
                &json!({
                    "notes": { "type": "array", "items": note_schema() },
                    "total": { "type": "integer", "description": "How many notes there are." },
                    "next_after": { "type": "integer" },
                }),
                &["notes", "total"],
            ),
        }
    }

    fn call<'a>(
        &'a self,
        call: &'a BuiltinCall,
    ) -> BoxFuture<'a, Result<BuiltinAnswer, BuiltinError>> {
        self.answer(call).boxed()
    }
}

impl BuiltinTool for MemoryWriter {
    fn face(&self) -> ToolFace {
        ToolFace {
            name: "remember",
            title: "Keep notes",
            description:
                "Keep a note for later sessions, change one or delete one. Only the same person \
                          can read it. Keep no passwords or keys."
                    .to_owned(),
            category: ToolCategory::Knowledge,
            hints: Hints {
                read_only: Some(false),
                destructive: Some(true),
                idempotent: Some(false),
                open_world: Some(false),
            },
            input: face::object(
                &json!({
                    "action": face::choice(
                        "`add` needs `text`, `update` and `delete` need `id`.",
                        &WRITING,
                    ),
                    "id": { "type": "integer" },
                    "title": face::bounded_text("A few words that say what it is about.", MAX_TITLE),
                    "text": face::bounded_text("The note.", MAX_TEXT),
                }),
                &["action"],
            ),
            output: face::object(
                &json!({
                    "id": { "type": "integer" },
                    "action": face::choice("What was done.", &["added", "updated", "deleted"]),
                }),
                &["id", "action"],
            ),
        }
    }

    fn call<'a>(
        &'a self,
        call: &'a BuiltinCall,
    ) -> BoxFuture<'a, Result<BuiltinAnswer, BuiltinError>> {
        self.answer(call).boxed()
    }
}
