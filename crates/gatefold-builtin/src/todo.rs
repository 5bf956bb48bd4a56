//! `todo`: a list of what is to be done, for one session.

use std::fmt::Write as _;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use gatefold_core::{ClientName, Clock, Hints, RecentMap};
use gatefold_dispatch::DataOwner;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::face::{self, ToolCategory, ToolFace};
use crate::tool::BuiltinTool;
use crate::{BuiltinAnswer, BuiltinCall, BuiltinError, arguments};

/// How many lists are kept. A further one replaces the one that was not used for longest.
const LISTS: usize = 1000;

/// How long a list is kept that nobody uses.
const LIST_LIFE: Duration = Duration::from_hours(24);

/// The most items of a list, and the longest text of one, in bytes.
const MAX_ITEMS: usize = 100;
const MAX_ITEM: usize = 500;

const STATES: [&str; 3] = ["open", "active", "done"];

pub(crate) struct Todo {
    clock: Arc<dyn Clock>,
    /// One for each [`TodoSession`], at most [`LISTS`].
    lists: Mutex<RecentMap<TodoSession, TodoList>>,
}

/// Whose list it is: the principal's, for one connected client, or for all clients with one name where
/// connections are not told apart.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct TodoSession {
    owner: DataOwner,
    client: Option<u64>,
    name: Option<ClientName>,
}

#[derive(Debug, Clone, Default)]
struct TodoList {
    /// At most [`MAX_ITEMS`].
    items: Vec<TodoItem>,
    last_id: u32,
    used_at: Duration,
}

#[derive(Debug, Clone, Serialize)]
struct TodoItem {
    id: u32,
    text: String,
    state: TodoState,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum TodoState {
    Open,
    Active,
    Done,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TodoArguments {
    #[serde(default)]
    clear: bool,
    #[serde(default)]
    add: Vec<String>,
    #[serde(default)]
    change: Vec<TodoChange>,
    #[serde(default)]
    remove: Vec<u32>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TodoChange {
    id: u32,
    state: Option<TodoState>,
    text: Option<String>,
}

#[derive(Serialize)]
struct TodoAnswer {
    items: Vec<TodoItem>,
}

impl Todo {
    pub(crate) fn new(clock: Arc<dyn Clock>) -> Self {
        Self { clock, lists: Mutex::new(RecentMap::new(LISTS)) }
    }

    fn answer(&self, call: &BuiltinCall) -> Result<BuiltinAnswer, BuiltinError> {
        let asked: TodoArguments = arguments::read(&call.arguments)?;
        let session = TodoSession {
            owner: DataOwner::of(&call.principal),
            client: call.peer.client(),
            name: call.client.clone(),
        };
        let now = self.clock.uptime();
        let mut lists = self.lists.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = lists.get(&session).filter(|list| now.saturating_sub(list.used_at) < LIST_LIFE);
        let mut list = kept.cloned().unwrap_or_default();
        // The list is changed as a whole or not at all.
        list.change(asked)?;
        list.used_at = now;
        let items = list.items.clone();
        lists.insert(session, list);
        Ok(BuiltinAnswer::new(shown(&items), &TodoAnswer { items }))
    }
}

impl TodoList {
    fn change(&mut self, asked: TodoArguments) -> Result<(), BuiltinError> {
        if asked.clear {
            self.items.clear();
        }
        for change in asked.change {
            let item = self.item(change.id)?;
            if let Some(text) = change.text {
                item.text = item_text(&text)?;
            }
            item.state = change.state.unwrap_or(item.state);
        }
        for id in asked.remove {
            self.item(id)?;
            self.items.retain(|item| item.id != id);
        }
        if self.items.len() + asked.add.len() > MAX_ITEMS {
            let message = format!("a list has at most {MAX_ITEMS} items; remove some first");
            return Err(BuiltinError::Arguments(message));
        }
        for text in asked.add {
            self.last_id = self.last_id.wrapping_add(1);
            let text = item_text(&text)?;
            self.items.push(TodoItem { id: self.last_id, text, state: TodoState::Open });
        }
        Ok(())
    }

    fn item(&mut self, id: u32) -> Result<&mut TodoItem, BuiltinError> {
        let item = self.items.iter_mut().find(|item| item.id == id);
        item.ok_or_else(|| BuiltinError::arguments(format!("there is no item {id} in this list")))
    }
}

fn item_text(text: &str) -> Result<String, BuiltinError> {
    let text = arguments::bounded("text", text.trim(), MAX_ITEM)?;
    if text.is_empty() {
        return Err(BuiltinError::arguments("an item's text is empty"));
    }
    Ok(text.to_owned())
}

fn shown(items: &[TodoItem]) -> String {
    let mut text = String::new();
    for TodoItem { id, text: what, state } in items {
        let mark = match state {
            TodoState::Open => ' ',
            TodoState::Active => '>',
            TodoState::Done => 'x',
        };
        let _ = writeln!(text, "[{mark}] {id}. {what}");
    }
    if items.is_empty() { "the list is empty".to_owned() } else { text.trim_end().to_owned() }
}

impl BuiltinTool for Todo {
    fn face(&self) -> ToolFace {
        let item = face::object(
            &json!({
                "id": { "type": "integer" },
                "text": { "type": "string" },
                "state": { "type": "string", "enum": STATES },
            }),
            &["id", "text", "state"],
        );
        let change = face::object(
            &json!({
                "id": { "type": "integer" },
                "state": { "type": "string", "enum": STATES },
                "text": { "type": "string" },
            }),
            &["id"],
        );
        let texts =
            json!({ "type": "array", "items": { "type": "string", "maxLength": MAX_ITEM } });
        ToolFace {
            name: "todo",
            title: "To-do list",
            description:
                "Keep a list of steps for this session. Every call answers with the whole list; \
                          a call without arguments only shows it."
                    .to_owned(),
            category: ToolCategory::General,
            hints: Hints {
                read_only: Some(false),
                destructive: Some(false),
                idempotent: Some(false),
                open_world: Some(false),
            },
            input: face::object(
                &json!({
                    "add": texts,
                    "change": { "type": "array", "items": change },
                    "remove": { "type": "array", "items": { "type": "integer" } },
                    "clear": face::flag("Remove everything first."),
                }),
                &[],
            ),
            output: face::object(
                &json!({ "items": { "type": "array", "items": item } }),
                &["items"],
            ),
        }
    }

    fn call<'a>(
        &'a self,
        call: &'a BuiltinCall,
    ) -> BoxFuture<'a, Result<BuiltinAnswer, BuiltinError>> {
        async move { self.answer(call) }.boxed()
    }
}
