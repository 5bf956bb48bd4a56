//! Two worlds: a gateway with sources that are hidden from whoever asks, and one without them. On
//! every face the answers are the same, byte for byte.

use std::fs::{self, File};
use std::time::{Duration, Instant, SystemTime};

use gatefold_testkit::{RawClient, wait_until};

use crate::process::{BINARY, Gateway, LIMIT, WITHOUT_ENCODER, run};
use crate::scratch::Scratch;

/// A demonstration's server under any name.
fn demo(scratch: &Scratch, domain: &str, name: &str) -> String {
    let data = scratch.path().display();
    format!(
        "[sources.{domain}]\ncommand = '{BINARY}'\n\
         args = ['demo-server', '{name}', '--scratch', '{data}/data']\n"
    )
}

/// A gateway with `issues` alone, and what is further written there.
fn alone(further: &str) -> Scratch {
    let scratch = Scratch::new();
    let issues = demo(&scratch, "issues", "issues");
    scratch.write("gatefold.toml", format!("{WITHOUT_ENCODER}{further}{issues}"));
    scratch
}

/// The same with four more sources: two of the same tools and words, one that never answers and one
/// that is broken. Each is hidden by `hides`, a line of its section.
fn among_others(further: &str, hides: &str) -> Scratch {
    let scratch = Scratch::new();
    let (issues, twin) = (demo(&scratch, "issues", "issues"), demo(&scratch, "archive", "issues"));
    let units = demo(&scratch, "units", "units");
    let slow = "[sources.slow]\ndescription = 'Slow things'\ncommand = 'sleep'\nargs = ['600']\n";
    let broken = "[sources.broken]\ndescription = 'Broken things'\ncommand = '/nowhere/secret'\n";
    let text = format!(
        "{WITHOUT_ENCODER}{further}{issues}{twin}{hides}\n{units}{hides}\n{slow}{hides}\n{broken}{hides}\n"
    );
    scratch.write("gatefold.toml", text);
    scratch
}

/// Serves, and waits until these sources are listed.
async fn serve(scratch: &Scratch, listed: &[&str]) -> Gateway {
    let gateway = Gateway::serve(scratch).await;
    let are_listed = || {
        let status = run(scratch, &["status", "--json"]).json();
        let Some(sources) = status["running"]["sources"].as_array() else { return false };
        listed.iter().all(|name| {
            let tools = sources.iter().find(|own| own["domain"] == **name);
            tools.is_some_and(|own| own["tools"].as_u64() > Some(0))
        })
    };
    assert!(wait_until(LIMIT, are_listed).await, "{}", gateway.log());
    gateway
}

/// What a search or a call may be about that others have too.
const ASKED: &[&str] = &[
    "issue",
    "create",
    "convert units",
    "archive",
    "search",
    "echo",
    "slow",
    "broken things",
    "zzz",
];
const NAMES: &[&str] = &[
    "search_issues",
    "create_issue",
    "issues__create_issue",
    "archive__create_issue",
    "units__convert",
    "convert",
    "slow__anything",
    "broken__anything",
    "creat_issue",
];

/// Everything that a client is answered, with what it asked.
async fn told(gateway: &Gateway, bearer: Option<&str>, names: &[&str]) -> Vec<String> {
    let mut told = Vec::new();
    let client = |path: &str| {
        let client = RawClient::new(format!("{}{path}", gateway.url())).unwrap();
        match bearer {
            Some(token) => client.with_bearer(token),
            None => client,
        }
    };
    for disclosure in ["gateway", "namespace", "typed", "intent", "flat", "auto"] {
        let mut client = client(&format!("?disclosure={disclosure}"));
        told.push(format!("{disclosure} {}", client.initialize().await.unwrap().response));
        let listed = client.list().await.unwrap();
        let listed_names = listed.tool_names();
        told.push(format!("{disclosure} {}", listed.response));
        for method in ["prompts/list", "resources/list", "resources/templates/list"] {
            told.push(format!("{method} {}", client.request(method, "{}").await.unwrap().response));
        }
        let mut arguments = vec!["{}".to_owned()];
        arguments.extend(
            ASKED.iter().map(|asked| format!(r#"{{"query":"{asked}","request":"{asked}"}}"#)),
        );
        arguments.extend(
            ["archive", "units", "slow", "broken", "issues"]
                .map(|domain| format!(r#"{{"domain":"{domain}","source":"{domain}"}}"#)),
        );
        arguments.extend(
            names.iter().map(|name| format!(r#"{{"tool_name":"{name}","arguments":{{}}}}"#)),
        );
        let meta = listed_names.iter().filter(|name| !name.starts_with("issues"));
        let called = meta.map(String::as_str).chain(names.iter().copied());
        for name in called {
            for arguments in &arguments {
                let began = Instant::now();
                let answer = client.call(name, arguments).await.unwrap().response;
                assert!(began.elapsed() < Duration::from_secs(4), "{name} {arguments} waited");
                told.push(format!("{disclosure} {name} {arguments} {answer}"));
            }
        }
    }
    for domain in ["archive", "units", "slow", "broken", "none"] {
        let face = client(&format!("/source/{domain}"));
        let reply = face.post_raw("{}", http::HeaderMap::new()).await.unwrap();
        told.push(format!("{} {}", reply.status, reply.body.replace(domain, "DOMAIN")));
    }
    told
}

fn check(shown: &[String], expected: &[String]) {
    for (shown, expected) in shown.iter().zip(expected) {
        assert_eq!(shown, expected);
    }
    assert_eq!(shown.len(), expected.len());
}

#[tokio::test(flavor = "multi_thread")]
async fn hidden_sources_change_nothing_that_a_client_or_a_person_is_answered() {
    let with = among_others("", "deny = ['*']");
    let without = alone("");
    let (one, other) =
        tokio::join!(serve(&with, &["issues", "archive", "units"]), serve(&without, &["issues"]));
    check(&told(&one, None, NAMES).await, &told(&other, None, NAMES).await);
    for args in [
        &["tools", "list", "--json"][..],
        &["tools", "search", "create an issue", "--json"],
        &["tools", "list", "slow"],
        &["tools", "schema", "create_issue"],
        &["tools", "call", "broken__anything"],
    ] {
        let (shown, expected) = (run(&with, args), run(&without, args));
        assert_eq!(
            (shown.code, shown.stdout, shown.stderr),
            (expected.code, expected.stdout, expected.stderr),
            "{args:?}"
        );
    }
    drop((one, other));
    // A command that opens the gateway for itself starts none of them.
    let args = ["tools", "list", "--json"];
    let (shown, expected) = (run(&with, &args), run(&without, &args));
    assert_eq!(
        (shown.code, shown.stdout, shown.stderr),
        (expected.code, expected.stdout, expected.stderr)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn sources_that_a_token_leaves_out_change_nothing_that_its_bearer_is_answered() {
    let required = "[server]\nauthentication = 'token'\n";
    let (with, without) = (among_others(required, ""), alone(required));
    let token = |scratch: &Scratch| {
        let args = ["token", "create", "--name", "ci", "--for", "ann", "--tools", "issues__*"];
        run(scratch, &args).stdout.trim_end().to_owned()
    };
    let tokens = [token(&with), token(&without)];
    let (one, other) =
        tokio::join!(serve(&with, &["issues", "archive", "units"]), serve(&without, &["issues"]));
    let shown = told(&one, Some(&tokens[0]), NAMES).await;
    check(&shown, &told(&other, Some(&tokens[1]), NAMES).await);
}

/// The tools of a base that is there, of one that is hidden, and of both together.
const OF_BASES: &[&str] = &[
    "handbook__kb_retrieve",
    "handbook__list_documents",
    "papers__kb_retrieve",
    "papers__list_documents",
    "knowledge__kb_retrieve",
    "kb_retrieve",
];

/// A gateway with a knowledge base, and with another one that is hidden and has the same words more often.
fn with_bases(hidden: bool) -> Scratch {
    let scratch = Scratch::new();
    let write = |path: &str, text: &str| {
        let path = scratch.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        File::open(&path).unwrap().set_modified(SystemTime::UNIX_EPOCH).unwrap();
    };
    write("handbook/issues.md", "# Issues\n\nCreate an issue for each fault, and search before.\n");
    write("handbook/units.md", "# Units\n\nConvert units slowly.\n");
    let mut config = format!("{WITHOUT_ENCODER}[sources.handbook]\nknowledge = 'handbook'\n");
    if hidden {
        for number in 0..20 {
            let text = "# Archive\n\nAn archive of broken things: create, search, echo, convert.\n";
            write(&format!("papers/{number}.md"), text);
        }
        config += "[sources.papers]\nknowledge = 'papers'\ndeny = ['*']\n";
    }
    scratch.write("gatefold.toml", config);
    scratch
}

/// What the base that is there finds and answers.
async fn found(gateway: &Gateway) -> Vec<String> {
    let mut client = RawClient::new(format!("{}?disclosure=flat", gateway.url())).unwrap();
    client.initialize().await.unwrap();
    let mut found = Vec::new();
    for asked in ASKED {
        for (tool, argument) in [("kb_retrieve", "query"), ("grounded_retrieve", "question")] {
            let arguments = format!(r#"{{"{argument}":"{asked}"}}"#);
            let answer = client.call(&format!("handbook__{tool}"), &arguments).await.unwrap();
            found.push(answer.response);
        }
    }
    found
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hidden_knowledge_base_changes_nothing_that_a_client_is_answered() {
    let (with, without) = (with_bases(true), with_bases(false));
    let (one, other) =
        tokio::join!(serve(&with, &["handbook", "papers"]), serve(&without, &["handbook"]));
    let documents =
        |scratch: &Scratch| run(scratch, &["tools", "call", "handbook__list_documents"]).stdout;
    let are_read =
        || [&with, &without].iter().all(|scratch| documents(scratch).contains("2 documents"));
    assert!(wait_until(LIMIT, are_read).await, "{}", documents(&with));
    check(&told(&one, None, OF_BASES).await, &told(&other, None, OF_BASES).await);
    let shown = found(&one).await;
    check(&shown, &found(&other).await);
    assert!(
        shown.iter().any(|told| told.contains("gatefold://handbook/kb/issues.md@")),
        "{shown:?}"
    );
}
