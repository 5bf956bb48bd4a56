//! A server over standard input and output that keeps the roots it was given, as the protocol allows.

use std::io::{BufRead as _, Write as _};
use std::process::ExitCode;
use std::sync::Arc;

use gatefold_dispatch::QuestionMode;
use gatefold_mcp::{McpSettings, StdioSettings, Transport};
use libtest_mimic::Trial;
use serde_json::{Value, json};

use super::asking::{ALL, AskedClient};
use super::support::{settings, trial};
use super::world::{World, tool_call};

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("one_clients_roots_are_never_another_clients", of_two_clients),
        trial("a_client_that_follows_another_is_asked_for_its_own_roots", of_many_clients),
        trial("a_server_sees_what_an_only_client_can_do", of_one_client),
    ]
}

fn client_in(folder: &str) -> Arc<AskedClient> {
    let roots = json!({"roots": [{"uri": folder}]}).to_string();
    AskedClient::new(ALL, QuestionMode::Live, move |_| Ok(roots.clone()))
}

async fn said_to(world: &World, client: &Arc<AskedClient>) -> String {
    let result = world.done(tool_call("up__roots", "{}"), client.caller()).await;
    result["content"][0]["text"].as_str().unwrap().to_owned()
}

async fn of_two_clients() {
    let world = World::connected(&rooted("up", &[])).await;
    let (ada, bob) = (client_in("file:///ada"), client_in("file:///bob"));
    assert_eq!(said_to(&world, &ada).await, "file:///ada");
    assert_eq!(said_to(&world, &ada).await, "file:///ada");
    assert_eq!(said_to(&world, &bob).await, "file:///bob", "the server kept the other's");
    let calls = [&ada, &bob, &ada, &bob].map(|client| said_to(&world, client));
    for said in futures::future::join_all(calls).await {
        assert!(said.starts_with("refused: "), "clients that take turns have none: {said}");
    }
    assert_eq!(ada.heard().len() + bob.heard().len(), 2);
}

async fn of_many_clients() {
    let world = World::connected(&rooted("up", &[])).await;
    for number in 0..3 {
        let folder = format!("file:///{number}");
        let client = client_in(&folder);
        assert_eq!(said_to(&world, &client).await, folder);
        assert_eq!(said_to(&world, &client).await, folder);
    }
}

async fn of_one_client() {
    for (capabilities, tools) in [(ALL, vec!["up__ask", "up__roots"]), ("{}", vec!["up__roots"])] {
        let world = World::new(&[&rooted("up", &[])]);
        let client =
            AskedClient::new(
                capabilities,
                QuestionMode::Live,
                |_| Ok(r#"{"roots":[]}"#.to_owned()),
            );
        world.dispatcher.meet(client);
        assert_eq!(world.refresh().await[0].1, Ok(()));
        let mut listed = world.tools();
        listed.sort();
        assert_eq!(listed, tools, "{capabilities}");
    }
}

/// The first argument that turns this binary into the server.
const SERVER: &str = "rooted-server";
/// The argument that makes it ask as soon as it is greeted, and never again on its own.
pub(crate) const EAGER: &str = "--eager";

/// Serves, if the process was started to.
pub(crate) fn run_if_asked() -> Option<ExitCode> {
    let mut args = std::env::args().skip(1);
    if args.next().as_deref() != Some(SERVER) {
        return None;
    }
    let mut server =
        RootedServer { is_eager: args.next().as_deref() == Some(EAGER), ..RootedServer::default() };
    let mut stdout = std::io::stdout();
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        for answer in server.take(&serde_json::from_str(&line).unwrap()) {
            writeln!(stdout, "{answer}").unwrap();
        }
    }
    Some(ExitCode::SUCCESS)
}

pub(crate) fn rooted(domain: &str, args: &[&str]) -> McpSettings {
    let command = std::env::current_exe().unwrap().to_str().unwrap().to_owned();
    let args = [SERVER].iter().chain(args).map(|arg| (*arg).to_owned()).collect();
    settings(domain, Transport::Stdio(StdioSettings { command, args, ..StdioSettings::default() }))
}

#[derive(Default)]
struct RootedServer {
    is_eager: bool,
    is_offered: bool,
    can_ask: bool,
    roots: Option<String>,
    asked: u64,
    /// The calls that wait for roots.
    waiting: Vec<Value>,
}

impl RootedServer {
    fn take(&mut self, message: &Value) -> Vec<Value> {
        let id = &message["id"];
        let result = |result: Value| vec![json!({"jsonrpc": "2.0", "id": id, "result": result})];
        match message["method"].as_str() {
            Some("initialize") => {
                let capabilities = &message["params"]["capabilities"];
                self.is_offered = capabilities["roots"].is_object();
                self.can_ask = capabilities["elicitation"].is_object();
                result(json!({
                    "protocolVersion": "2025-11-25",
                    "capabilities": {"tools": {}},
                    "serverInfo": {"name": "rooted", "version": "1"},
                }))
            }
            Some("notifications/initialized") if self.is_eager && self.is_offered => self.ask(),
            Some("notifications/roots/list_changed") => self.ask(),
            Some("tools/list") => {
                // One tool is only for clients that can be asked.
                let names = ["roots", "ask"].into_iter().take(1 + usize::from(self.can_ask));
                let tool = |name| json!({"name": name, "inputSchema": {"type": "object"}});
                result(json!({"tools": names.map(tool).collect::<Vec<_>>()}))
            }
            Some("tools/call") if self.roots.is_some() || self.is_eager => {
                let said = self.roots.as_deref().unwrap_or("no roots");
                vec![called(id, said)]
            }
            Some("tools/call") => {
                self.waiting.push(id.clone());
                self.ask()
            }
            Some(method) if !id.is_null() => {
                let error = json!({"code": -32601, "message": format!("no `{method}`")});
                vec![json!({"jsonrpc": "2.0", "id": id, "error": error})]
            }
            Some(_) => Vec::new(),
            None => self.heard(message),
        }
    }

    fn ask(&mut self) -> Vec<Value> {
        self.asked += 1;
        let id = format!("roots-{}", self.asked);
        vec![json!({"jsonrpc": "2.0", "id": id, "method": "roots/list"})]
    }

    fn heard(&mut self, message: &Value) -> Vec<Value> {
        let said = match &message["result"]["roots"] {
            Value::Array(roots) => {
                let uris: Vec<_> = roots.iter().filter_map(|root| root["uri"].as_str()).collect();
                self.roots = Some(uris.join(" "));
                uris.join(" ")
            }
            _ => format!("refused: {}", message["error"]["message"]),
        };
        std::mem::take(&mut self.waiting).iter().map(|id| called(id, &said)).collect()
    }
}

fn called(id: &Value, said: &str) -> Value {
    let content = json!([{"type": "text", "text": said}]);
    json!({"jsonrpc": "2.0", "id": id, "result": {"content": content}})
}
