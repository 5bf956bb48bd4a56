//! What a model is shown and told, whole: each surface, answer and error of each disclosure, for a
//! configuration with every kind of source.

mod auto;
mod flat;
mod gateway;
mod intent;
mod namespace;
mod selection;
mod typed;

use std::fmt::Write as _;

use gatefold_testkit::RawClient;
use serde_json::Value;

use crate::every_kind::{self, EveryKind};
use crate::process::{Gateway, WITHOUT_ENCODER};
use crate::scratch::Scratch;

/// Few tools, so that whole definitions can be read here.
const KINDS: EveryKind = EveryKind {
    builtin: "['calculate']",
    keys: |name| match name {
        "units" => Some(
            "deny = ['calculate_*', '*_number*', 'list_*', 'evaluate_*', 'convert_to_all', \
             'compare_*', 'find_*', 'describe_*']",
        ),
        "shop" => Some(
            "deny = ['*_orders', 'change_order', 'cancel_order', 'track_order', 'get_*', \
             'list_categories']",
        ),
        "staff" => Some("hide_columns = ['bank_accounts.*']"),
        "skills" => Some(""),
        _ => None,
    },
};

/// A gateway, and the address that shows it through one disclosure.
struct Shown {
    gateway: Gateway,
    query: &'static str,
    _scratch: Scratch,
}

impl Shown {
    async fn through(query: &'static str, config: &str) -> Self {
        let scratch = Scratch::new();
        let gateway =
            every_kind::serve(&scratch, &KINDS, &format!("{config}{WITHOUT_ENCODER}")).await;
        Self { gateway, query, _scratch: scratch }
    }

    fn client(&self) -> RawClient {
        RawClient::new(format!("{}?{}", self.gateway.url(), self.query)).unwrap()
    }

    /// The instructions, and each definition with every member of it.
    async fn surface(&self) -> String {
        let client = self.client();
        let told = client.request("server/discover", "{}").await.unwrap().result();
        let mut text = format!("{}\n", told["instructions"].as_str().unwrap_or_default());
        let listed = client.list().await.unwrap().result();
        for tool in listed["tools"].as_array().unwrap() {
            writeln!(text, "\n# {}", tool["name"].as_str().unwrap()).unwrap();
            writeln!(text, "{}", tool["description"].as_str().unwrap_or_default()).unwrap();
            let members = tool.as_object().unwrap().iter();
            for (key, value) in
                members.filter(|(key, _)| !["name", "description"].contains(&key.as_str()))
            {
                writeln!(text, "{key}: {value}").unwrap();
            }
        }
        without_ports(&text)
    }

    /// Each call, and what the model reads as its answer.
    async fn answers(&self, calls: &[(&str, &str)]) -> String {
        let client = self.client();
        let mut text = String::new();
        for (tool, arguments) in calls {
            let answered = client.call(tool, arguments).await.unwrap().value();
            writeln!(text, "> {tool} {arguments}\n{}\n", read(&answered)).unwrap();
        }
        without_ports(&text)
    }
}

/// The demonstration's API listens at another port each time.
fn without_ports(text: &str) -> String {
    const HOST: &str = "http://127.0.0.1:";
    let mut parts = text.split(HOST);
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |all, part| {
        all + HOST + "PORT" + part.trim_start_matches(|c: char| c.is_ascii_digit())
    })
}

/// An answer as its client gets it.
fn read(answered: &Value) -> String {
    let error = &answered["error"];
    if error.is_object() {
        return format!("protocol error {}: {}", error["code"], error["message"].as_str().unwrap());
    }
    let result = &answered["result"];
    let mark = if result["isError"] == true { "error: " } else { "" };
    let blocks = result["content"].as_array().unwrap().iter();
    let texts = blocks.map(|block| block["text"].as_str().map_or(block.to_string(), str::to_owned));
    let mut text = format!("{mark}{}", texts.collect::<Vec<_>>().join("\n"));
    if let Some(structured) = result.get("structuredContent") {
        write!(text, "\nstructured: {structured}").unwrap();
    }
    text
}
