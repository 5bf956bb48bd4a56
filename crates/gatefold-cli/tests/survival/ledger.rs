//! A model that wants twenty calls, and the server that keeps a ledger of them outside of all gateways.

use std::collections::HashMap;
use std::path::PathBuf;

use gatefold_testkit::fixture::read_log;
use gatefold_testkit::model::{Move, Prompt, ScriptedModel};
use gatefold_testkit::{Fixture, HttpFixture, serve_http};
use serde_json::json;

use crate::scratch::Scratch;

/// How many calls the model wants.
pub(crate) const CALLS: usize = 20;

/// How long each takes.
const CALL_MILLIS: u64 = 15;

const TOOLS: &str = r#"{"tools": [
    {"name": "pay", "description": "Pays a bill.", "inputSchema": {"type": "object"}},
    {"name": "look", "description": "Looks at a bill.", "inputSchema": {"type": "object"},
     "annotations": {"readOnlyHint": true}}
]}"#;

/// Numbers that look random and are the same each time (xorshift).
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn of(seed: u64) -> Self {
        Self((seed + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15))
    }

    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }
}

pub(crate) struct Ledger {
    model: ScriptedModel,
    log: PathBuf,
    _server: HttpFixture,
}

impl Ledger {
    /// Starts both, and writes a configuration with them.
    pub(crate) fn start(scratch: &Scratch, more: &str) -> Self {
        scratch.write("tools.json", TOOLS);
        let (tools, log) = (scratch.path().join("tools.json"), scratch.path().join("ledger.log"));
        let flags = ["--replay", tools.to_str().unwrap(), "--log", log.to_str().unwrap()];
        let server = serve_http(Fixture::new(&flags).unwrap()).unwrap();
        let model = ScriptedModel::start(next);
        let config = format!(
            "[sources.bills]\nurl = '{}'\n[models.fast]\napi = 'openai-chat'\nurl = '{}'\nmodel = 'scripted'\n{more}",
            server.url,
            model.url()
        );
        scratch.write("gatefold.toml", config);
        Self { model, log, _server: server }
    }

    /// How often the model was asked.
    pub(crate) fn asked(&self) -> usize {
        self.model.requests().len()
    }

    /// The last request.
    pub(crate) fn last_request(&self) -> String {
        self.model.requests().pop().unwrap_or_default()
    }

    /// The calls that reached the server: the tool and the number of each.
    pub(crate) fn calls(&self) -> Vec<(String, u64)> {
        let calls = read_log(&self.log).into_iter().filter(|one| one.method == "tools/call");
        let call = |message: &serde_json::Value| {
            let params = &message["params"];
            let name = params["name"].as_str().unwrap().to_owned();
            (name, params["arguments"]["n"].as_u64().unwrap())
        };
        calls.map(|one| call(&one.message)).collect()
    }

    /// Checks the ledger of a run that has ended: no payment is there twice, and the model was told of each call that it
    /// lacks. Returns of how many it was told.
    pub(crate) fn check(&self, seed: u64) -> usize {
        let mut times: HashMap<(String, u64), usize> = HashMap::new();
        for call in self.calls() {
            *times.entry(call).or_default() += 1;
        }
        let last = self.last_request();
        let told = last.matches("may have taken effect").count();
        let mut missing = 0;
        for number in 0..CALLS as u64 {
            let tool = tool(number);
            match times.get(&(tool.to_owned(), number)).copied().unwrap_or_default() {
                0 => missing += 1,
                1 => {}
                many => {
                    assert_eq!(tool, "look", "seed {seed}: call {number} was made {many} times");
                }
            }
        }
        assert!(
            missing <= told,
            "seed {seed}: {missing} calls are missing, and {told} are told of"
        );
        told
    }
}

fn tool(number: u64) -> &'static str {
    if number % 3 == 1 { "look" } else { "pay" }
}

/// One to three calls at once, twenty in all, and then an answer.
fn next(prompt: &Prompt) -> Move {
    let made = prompt.told().len() as u64;
    if made >= CALLS as u64 {
        return Move::say("All are done.");
    }
    let more = (1 + made % 3).min(CALLS as u64 - made);
    let call = |number: u64| {
        let parameters = json!({ "n": number, "ms": CALL_MILLIS });
        let own = json!({
            "subcommand": "call", "server": "bills", "tool": tool(number), "parameters": parameters,
        });
        ("mcp".to_owned(), own.to_string())
    };
    Move::Call((made..made + more).map(call).collect())
}
