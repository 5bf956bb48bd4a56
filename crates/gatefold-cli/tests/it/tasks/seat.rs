//! The seat of the model in `gatefold chat`: whoever has it decides what the model does.

use std::io::Write as _;
use std::process::{Child, ChildStdin, Stdio};
use std::sync::Mutex;
use std::sync::mpsc::{SyncSender, sync_channel};

use gatefold_testkit::model::{Move, Prompt, ScriptedModel};
use serde_json::{Value, json};
use tokio::sync::Mutex as AsyncMutex;
use tokio::sync::mpsc::{Receiver, channel};
use tokio::time::timeout;

use crate::process::{LIMIT, command};
use crate::scratch::Scratch;

/// A model that waits for its next move. Its chat is one conversation from the first task to the last.
pub(super) struct Seat {
    model: ScriptedModel,
    moves: SyncSender<Move>,
    asked: AsyncMutex<Receiver<Asked>>,
    chat: Mutex<Option<(Child, ChildStdin)>>,
}

/// What the model was asked with.
struct Asked {
    tools: Vec<Value>,
    /// The answer to its last call, as MCP has it; null if it made none.
    result: Value,
}

impl Seat {
    pub(super) fn new() -> Self {
        let ((asking, asked), (moves, next)) = (channel(1), sync_channel(1));
        let next = Mutex::new(next);
        let model = ScriptedModel::start(move |prompt| {
            let _ = asking.blocking_send(Asked::with(prompt));
            let next = next.lock().unwrap().recv();
            next.unwrap_or_else(|_| Move::say("There is nothing left to do."))
        });
        Self { model, moves, asked: AsyncMutex::new(asked), chat: Mutex::new(None) }
    }

    /// The section of the configuration for this model. The other wire does not say which answers are errors.
    pub(super) fn config(&self) -> String {
        format!("[models.seat]\napi = 'anthropic'\nurl = '{}'\nmodel = 'any'\n", self.model.url())
    }

    /// Opens the chat, beside a gateway with the same state.
    pub(super) fn open(&self, scratch: &Scratch) {
        let mut chat = command(scratch, &["chat"]);
        chat.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut chat = chat.spawn().unwrap();
        let input = chat.stdin.take().unwrap();
        *self.chat.lock().unwrap() = Some((chat, input));
    }

    /// Has the person say something. Returns the tools that the model is given.
    pub(super) async fn begin(&self, words: &str) -> Result<Vec<Value>, String> {
        if let Some((_, input)) = &mut *self.chat.lock().unwrap() {
            writeln!(input, "{words}").map_err(|error| error.to_string())?;
        }
        Ok(self.next().await?.tools)
    }

    /// Makes a call, and returns its answer.
    pub(super) async fn call(&self, tool: &str, arguments: &Value) -> Result<Value, String> {
        self.play(Move::call(tool, arguments))?;
        Ok(self.next().await?.result)
    }

    /// Ends what [`Seat::begin`] began.
    pub(super) fn end(&self) -> Result<(), String> {
        self.play(Move::say("Done."))
    }

    /// Leaves the chat, and waits until it is over.
    pub(super) fn leave(&self) {
        if let Some((mut chat, input)) = self.chat.lock().unwrap().take() {
            drop(input);
            chat.wait().unwrap();
        }
    }

    fn play(&self, next: Move) -> Result<(), String> {
        self.moves.send(next).map_err(|error| error.to_string())
    }

    async fn next(&self) -> Result<Asked, String> {
        let asked = timeout(LIMIT, async { self.asked.lock().await.recv().await }).await;
        asked.ok().flatten().ok_or_else(|| "the model was not asked".to_owned())
    }
}

impl Asked {
    fn with(prompt: &Prompt) -> Self {
        let tool = |tool: &Value| {
            json!({
                "name": tool["name"],
                "description": tool["description"],
                "inputSchema": tool["input_schema"],
            })
        };
        let last = prompt.whole()["messages"].as_array().and_then(|messages| messages.last());
        let answer = last.map(|message| &message["content"][0]);
        let answer = answer.filter(|block| block["type"] == "tool_result");
        let result = answer.map_or(
            Value::Null,
            |block| json!({ "content": block["content"], "isError": block["is_error"] == true }),
        );
        Self { tools: prompt.functions().map(tool).collect(), result }
    }
}
