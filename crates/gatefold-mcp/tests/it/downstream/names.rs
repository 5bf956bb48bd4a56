//! What things are called towards clients, and that those names reach them.

use gatefold_core::{Domain, EntryKind, RuleId};
use gatefold_http::HttpEndpoint;
use gatefold_policy::{Effect, Entries, Glob, Policy, PrincipalFilter, Rule, Scope};
use libtest_mimic::Trial;
use serde_json::{Value, json};

use super::edge::{Edge, Sse, said, trial};
use super::scripted::{DOC, ScriptedServer, tool_names};
use crate::upstream::support::{Era, Upstream, Wire};

pub(super) fn trials() -> Vec<Trial> {
    vec![
        trial("an_error_at_the_endpoint_of_one_source_has_its_own_names", own_errors),
        trial("whatever_is_listed_can_be_had_by_its_listed_name", had),
        trial("names_are_told_apart_by_their_source", apart),
        trial("resources_in_results_can_be_read_by_the_addresses_there", addresses),
        trial("prompts_and_resources_are_completed_under_either_name", completed),
        trial("the_flat_disclosure_lists_and_calls_by_aliases", flat),
        trial("what_is_denied_looks_missing_on_every_path", denied),
        trial("what_is_denied_reads_like_what_never_was_and_leads_to_no_other_source", no_other),
        trial("a_resource_is_asked_for_as_it_was_judged_however_it_is_written", judged),
        trial("lists_come_in_one_piece", pages),
    ]
}

fn names<'a>(result: &'a Value, list: &str, key: &str) -> Vec<&'a str> {
    let entries = result[list].as_array().expect("there is a list");
    entries.iter().map(|entry| entry[key].as_str().unwrap()).collect()
}

async fn apart() {
    let (one, two) = (ScriptedServer::new("one").await, ScriptedServer::new("two").await);
    let edge = Edge::over(&[&one.settings, &two.settings]).await;
    let prompts = edge.result("/mcp", "prompts/list", json!({})).await;
    let expected = ["one__greet", "one__part", "two__greet", "two__part"];
    assert_eq!(names(&prompts, "prompts", "name"), expected);
    let resources = edge.result("/mcp", "resources/list", json!({})).await;
    assert_eq!(
        names(&resources, "resources", "uri"),
        [
            "gatefold://one/scripted://doc",
            "gatefold://one/scripted://secret",
            "ui://gatefold/one/view/main.html",
            "gatefold://two/scripted://doc",
            "gatefold://two/scripted://secret",
            "ui://gatefold/two/view/main.html",
        ]
    );
    let templates = edge.result("/mcp", "resources/templates/list", json!({})).await;
    assert_eq!(
        names(&templates, "resourceTemplates", "uriTemplate"),
        ["gatefold://one/scripted://page/{number}", "gatefold://two/scripted://page/{number}"]
    );
    edge.result("/mcp", "prompts/get", json!({"name": "two__greet"})).await;
    edge.result("/mcp", "resources/read", json!({"uri": "gatefold://two/scripted://doc"})).await;
    assert_eq!((one.script.count("prompts/get"), two.script.count("prompts/get")), (0, 1));
    assert_eq!((one.script.count("resources/read"), two.script.count("resources/read")), (0, 1));
    for uri in [DOC, "gatefold://three/scripted://doc", "gatefold://ONE/scripted://doc"] {
        let reply = edge.ask("/mcp", "resources/read", json!({"uri": uri})).await;
        assert_eq!(reply.code(), Some(-32602), "{uri}: {}", reply.body);
    }
}

async fn had() {
    let up = ScriptedServer::new("up").await;
    let edge = Edge::over(&[&up.settings]).await;
    for path in
        ["/mcp", "/mcp/source/up", "/mcp?disclosure=flat", "/mcp/source/up?disclosure=gateway"]
    {
        let prompts = edge.result(path, "prompts/list", json!({})).await;
        for (name, own) in names(&prompts, "prompts", "name").into_iter().zip(["greet", "part"]) {
            let got = edge.result(path, "prompts/get", json!({"name": name})).await;
            assert_eq!(got["messages"][0]["content"]["text"], format!("prompt {own}"), "{path}");
        }
        let resources = edge.result(path, "resources/list", json!({})).await;
        let uris = names(&resources, "resources", "uri");
        let owns = [DOC, "scripted://secret", "ui://view/main.html"];
        for (uri, own) in uris.iter().zip(owns) {
            let read = edge.result(path, "resources/read", json!({"uri": uri})).await;
            assert_eq!(read["contents"][0]["text"], format!("read {own}"), "{path}");
            assert_eq!(read["contents"][0]["uri"], *uri, "{path}");
        }
        assert_eq!(uris.len(), 3);
        let templates = edge.result(path, "resources/templates/list", json!({})).await;
        let template = names(&templates, "resourceTemplates", "uriTemplate")[0];
        let uri = template.replace("{number}", "7");
        let read = edge.result(path, "resources/read", json!({"uri": uri})).await;
        assert_eq!(read["contents"][0]["text"], "read scripted://page/7", "{path}");
    }
}

async fn addresses() {
    let up = ScriptedServer::new("up").await;
    let edge = Edge::over(&[&up.settings]).await;
    for (path, tool) in [
        ("/mcp", json!({"name": "execute_tool", "arguments": {"tool_name": "up__link"}})),
        ("/mcp?disclosure=flat", json!({"name": "up__link"})),
        ("/mcp/source/up", json!({"name": "link"})),
    ] {
        let result = edge.result(path, "tools/call", tool).await;
        let blocks = result["content"].as_array().unwrap().iter();
        let named = |block: &Value| {
            block["uri"].as_str().or(block["resource"]["uri"].as_str()).map(str::to_owned)
        };
        let uris: Vec<_> = blocks.filter_map(named).collect();
        for uri in &uris {
            let read = edge.result(path, "resources/read", json!({"uri": uri})).await;
            assert_eq!(read["contents"][0]["uri"], *uri, "{path}");
        }
        let own = [DOC, "scripted://page/7"].map(str::to_owned);
        let expected = match path {
            "/mcp/source/up" => own,
            _ => own.map(|own| format!("gatefold://up/{own}")),
        };
        assert_eq!(uris, expected, "{path}: {result}");
    }
}

async fn completed() {
    let up = ScriptedServer::new("up").await;
    let edge = Edge::over(&[&up.settings]).await;
    let argument = json!({"name": "number", "value": "1"});
    for (path, reference, own) in [
        (
            "/mcp",
            json!({"type": "ref/prompt", "name": "up__greet"}),
            json!({"type": "ref/prompt", "name": "greet"}),
        ),
        (
            "/mcp/source/up",
            json!({"type": "ref/prompt", "name": "greet"}),
            json!({"type": "ref/prompt", "name": "greet"}),
        ),
        (
            "/mcp",
            json!({"type": "ref/resource", "uri": "gatefold://up/scripted://page/{number}"}),
            json!({"type": "ref/resource", "uri": "scripted://page/{number}"}),
        ),
        (
            "/mcp/source/up",
            json!({"type": "ref/resource", "uri": "scripted://page/{number}"}),
            json!({"type": "ref/resource", "uri": "scripted://page/{number}"}),
        ),
    ] {
        let context = json!({"arguments": {"a": "b"}});
        let params = json!({"ref": reference, "argument": argument, "context": context});
        let result = edge.result(path, "completion/complete", params).await;
        assert_eq!(result["completion"]["values"], json!([own.to_string()]), "{path}");
        let asked = up.script.received("completion/complete").pop().unwrap();
        assert_eq!(asked["params"]["argument"], argument);
        assert_eq!(asked["params"]["context"], context);
    }
    for reference in [
        json!({"type": "ref/prompt", "name": "no"}),
        json!({"type": "ref/prompt"}),
        json!({"type": "ref/tool", "name": "up__say"}),
        json!({"type": "ref/resource", "uri": "gatefold://down/scripted://page/{number}"}),
    ] {
        let params = json!({"ref": reference, "argument": argument});
        let reply = edge.ask("/mcp", "completion/complete", params).await;
        assert_eq!(reply.code(), Some(-32602), "{reference}: {}", reply.body);
    }
}

async fn flat() {
    let up = ScriptedServer::new("up").await;
    let edge = Edge::over(&[&up.settings]).await;
    let path = "/mcp?disclosure=flat";
    let tools = edge.result(path, "tools/list", json!({})).await;
    assert_eq!(
        tool_names(&tools),
        ["up__button", "up__chat", "up__hold", "up__link", "up__say", "up__view"]
    );
    let say = json!({"name": "up__say", "arguments": {"a": 1.50}});
    assert_eq!(said(&edge.result(path, "tools/call", say.clone()).await), r#"say {"a":1.5}"#);
    let session = edge.session(path).await;
    assert_eq!(said(&session.result("tools/call", say).await), r#"say {"a":1.5}"#);
    let reply = edge.ask(path, "tools/call", json!({"name": "up__shout"})).await;
    assert_eq!(reply.code(), Some(-32602), "{}", reply.body);
    let usual = edge.result("/mcp", "tools/list", json!({})).await;
    assert_eq!(tool_names(&usual), ["discover_tools", "get_tool_schema", "execute_tool"]);
}

fn deny(id: &str, kind: EntryKind, pattern: &str) -> Rule {
    Rule {
        id: RuleId::new(id),
        effect: Effect::Deny,
        who: PrincipalFilter::everybody(),
        scope: Scope::Domain(Domain::parse("up").unwrap()),
        entries: Entries::Only(kind),
        pattern: Glob::new(pattern),
        unless: Vec::new(),
    }
}

async fn denied() {
    let up = ScriptedServer::new("up").await;
    let policy = Policy::new(vec![
        deny("tools", EntryKind::Tool, "say"),
        deny("prompts", EntryKind::Prompt, "greet"),
        deny("resources", EntryKind::Resource, "scripted://secret"),
    ]);
    let edge = Edge::with(&[&up.settings], policy, HttpEndpoint::default()).await;
    let call = |name: &str| json!({"name": name, "arguments": {}});
    let execute = |name: &str| json!({"name": "execute_tool", "arguments": {"tool_name": name}});
    let prompt = |name: &str| {
        json!({"ref": {"type": "ref/prompt", "name": name},
        "argument": {"name": "a", "value": ""}})
    };
    let uri = |uri: &str| json!({"uri": uri});
    let at = |own: &str| json!({"uri": format!("gatefold://up/{own}")});
    let flat = "/mcp?disclosure=flat";
    // Each with what is denied, and with something of the same length that was never there.
    let tried = [
        ("/mcp", "tools/call", execute("up__say"), execute("up__sax")),
        (flat, "tools/call", call("up__say"), call("up__sax")),
        ("/mcp/source/up", "tools/call", call("say"), call("sax")),
        ("/mcp", "prompts/get", call("up__greet"), call("up__grexx")),
        ("/mcp/source/up", "prompts/get", call("greet"), call("grexx")),
        ("/mcp", "completion/complete", prompt("up__greet"), prompt("up__grexx")),
        ("/mcp/source/up", "completion/complete", prompt("greet"), prompt("grexx")),
    ];
    for (path, method, hidden, missing) in tried {
        let hidden_one = edge.ask(path, method, hidden).await;
        let missing_one = edge.ask(path, method, missing).await;
        let hidden_body = hidden_one.body.replace("say", "sax").replace("greet", "grexx");
        assert_eq!(hidden_body, missing_one.body, "{path} {method}");
        assert_eq!(hidden_one.status, missing_one.status);
    }
    let secret = "scripted://secret";
    for (path, params) in
        [("/mcp", at(secret)), (flat, at(secret)), ("/mcp/source/up", uri(secret))]
    {
        let reply = edge.ask(path, "resources/read", params.clone()).await;
        assert_eq!(reply.code(), Some(-32602), "{path}: {}", reply.body);
        let session = edge.session(path).await;
        for method in ["resources/read", "resources/subscribe"] {
            let reply = session.ask(1, method, params.clone()).await;
            assert_eq!(reply.message()["error"]["code"], -32002, "{path} {method}: {}", reply.body);
        }
        for method in ["prompts/list", "resources/list", "tools/list"] {
            let listed = session.result(method, json!({})).await.to_string();
            for name in ["secret", "greet", "\"say\"", "__say\""] {
                assert!(!listed.contains(name), "{path} {method}: {listed}");
            }
        }
    }
    let filter =
        json!({"notifications": {"resourceSubscriptions": [format!("gatefold://up/{secret}")]}});
    let mut listening = Sse::of(edge.begin("/mcp", "subscriptions/listen", filter).await);
    let acknowledged = listening.message().await;
    assert_eq!(acknowledged["params"]["notifications"], json!({}), "no part of it is accepted");
    for method in ["tools/call", "prompts/get", "resources/read", "resources/subscribe"] {
        assert_eq!(up.script.count(method), 0, "{method} reached the source");
    }
}

/// Sends the same requests to two gateways: one denies what its source has, and the other's source
/// never had it. Every answer is identical, and no source is called.
async fn no_other() {
    let evil = || async {
        ScriptedServer::listing(
            "evil",
            &["bank__say", "bank_say", "bank__bank_say", "say", "other"],
            &["bank__greet", "bank_greet", "greet"],
            &["scripted://secret", "gatefold://bank/scripted://secret"],
        )
        .await
    };
    let (some, all) = (["other"], ["say", "bank_say", "other"]);
    let having =
        ScriptedServer::listing("bank", &all, &["greet", "bank_greet"], &["scripted://secret"])
            .await;
    let lacking = ScriptedServer::listing("bank", &some, &[], &[]).await;
    let (beside, too) = (evil().await, evil().await);
    let deny = |kind, pattern: &str| {
        let scope = Scope::Domain(Domain::parse("bank").unwrap());
        Rule { scope, ..deny(pattern, kind, pattern) }
    };
    let policy = || {
        Policy::new(vec![
            deny(EntryKind::Tool, "*say"),
            deny(EntryKind::Prompt, "*greet"),
            deny(EntryKind::Resource, "scripted://secret"),
        ])
    };
    let endpoint = HttpEndpoint::default;
    let denied = Edge::with(&[&having.settings, &beside.settings], policy(), endpoint()).await;
    let never = Edge::with(&[&lacking.settings, &too.settings], policy(), endpoint()).await;
    for (path, method, params) in every_entrance() {
        let hidden = denied.ask(path, method, params.clone()).await;
        let missing = never.ask(path, method, params.clone()).await;
        assert_eq!(hidden.body, missing.body, "{path} {method} {params}");
        assert_eq!(hidden.status, missing.status, "{path} {method} {params}");
        let is_refused = ["nknown", "there is no"].iter().any(|words| hidden.body.contains(words));
        assert!(is_refused, "{path} {method} {params}: {}", hidden.body);
    }
    for source in [&having, &lacking, &beside, &too] {
        for method in ["tools/call", "prompts/get", "resources/read", "completion/complete"] {
            assert_eq!(source.script.count(method), 0, "{method} reached a source");
        }
    }
}

/// Requests for the denied tool, by each of its names and through each entrance.
fn every_entrance() -> Vec<(&'static str, &'static str, Value)> {
    let mut tried = Vec::new();
    let one = "/mcp/source/bank";
    let flat = "/mcp?disclosure=flat";
    let scoped = "/mcp/source/bank?disclosure=gateway";
    for name in ["bank__say", "bank_say", "bank__bank_say", "bank__nothing"] {
        let named = json!({"tool_name": name, "arguments": {"account": 7}});
        for path in ["/mcp", scoped] {
            tried.push((path, "tools/call", json!({"name": "execute_tool", "arguments": named})));
            let schema = json!({"tool_name": name});
            tried.push((
                path,
                "tools/call",
                json!({"name": "get_tool_schema", "arguments": schema}),
            ));
            let schemas = json!({"tool_names": [name, "nothing"]});
            tried.push((
                path,
                "tools/call",
                json!({"name": "get_tool_schema", "arguments": schemas}),
            ));
        }
        for path in [flat, one, "/mcp"] {
            tried.push((path, "tools/call", json!({"name": name, "arguments": {"account": 7}})));
        }
    }
    tried.push((one, "tools/call", json!({"name": "say"})));
    for name in ["bank__greet", "bank_greet", "bank__bank_greet"] {
        let reference = json!({"type": "ref/prompt", "name": name});
        let argument = json!({"name": "a", "value": ""});
        for path in ["/mcp", flat, one] {
            tried.push((path, "prompts/get", json!({"name": name})));
            let params = json!({"ref": reference, "argument": argument});
            tried.push((path, "completion/complete", params));
        }
    }
    for path in ["/mcp", flat] {
        let uri = json!({"uri": "gatefold://bank/scripted://secret"});
        tried.push((path, "resources/read", uri));
    }
    tried
}

/// A resource that is not listed reaches its source under the URI that the rules judged, from every
/// entrance.
async fn judged() {
    let up = ScriptedServer::new("up").await;
    let policy = Policy::new(vec![deny("resources", EntryKind::Resource, "file:///etc/*")]);
    let edge = Edge::with(&[&up.settings], policy, HttpEndpoint::default()).await;
    for own in [
        "file:/etc/passwd",
        "file://localhost/etc/passwd",
        "file:////etc/passwd",
        "file:///etc%5cpasswd",
    ] {
        for (path, uri) in
            [("/mcp", format!("gatefold://up/{own}")), ("/mcp/source/up", own.to_owned())]
        {
            let reply = edge.ask(path, "resources/read", json!({"uri": uri})).await;
            assert_eq!(reply.code(), Some(-32602), "{uri}: {}", reply.body);
            let session = edge.session(path).await;
            let reply = session.ask(1, "resources/subscribe", json!({"uri": uri})).await;
            assert_eq!(reply.message()["error"]["code"], -32002, "{uri}: {}", reply.body);
        }
    }
    assert_eq!(up.script.count("resources/read") + up.script.count("resources/subscribe"), 0);
    let session = edge.session("/mcp").await;
    let uri = json!({"uri": "gatefold://up/file://localhost/pub/x/../a%2emd"});
    session.result("resources/read", uri.clone()).await;
    session.result("resources/subscribe", uri.clone()).await;
    for method in ["resources/read", "resources/subscribe"] {
        let sent = up.script.received(method).pop().unwrap();
        assert_eq!(sent["params"]["uri"], "file:///pub/a.md", "{method}");
    }
    session.result("resources/unsubscribe", uri).await;
    up.script.reached("resources/unsubscribe", 1).await;
    let sent = up.script.received("resources/unsubscribe").pop().unwrap();
    assert_eq!(sent["params"]["uri"], "file:///pub/a.md");
}

async fn pages() {
    let up = ScriptedServer::new("up").await;
    let edge = Edge::over(&[&up.settings]).await;
    for method in ["tools/list", "prompts/list", "resources/list", "resources/templates/list"] {
        let reply = edge.ask("/mcp", method, json!({"cursor": "x"})).await;
        assert_eq!(reply.code(), Some(-32602), "{method}");
        let result = edge.result("/mcp", method, json!({})).await;
        assert!(result.get("nextCursor").is_none());
        assert_eq!((&result["ttlMs"], &result["cacheScope"]), (&json!(0), &json!("private")));
    }
}

async fn own_errors() {
    let up = Upstream::new("up", Wire::Stdio, Era::Stateless, &[]);
    let edge = Edge::over(&[&up.settings]).await;
    for (path, name) in [("/mcp/source/up", "die"), ("/mcp?disclosure=flat", "up__die")] {
        let session = edge.session(path).await;
        let result = session.result("tools/call", json!({ "name": name })).await;
        let expected = format!("Tool '{name}' did not finish");
        assert!(result.to_string().contains(&expected), "{path}: {result}");
    }
}
