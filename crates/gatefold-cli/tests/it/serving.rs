//! The long-lived commands: what they serve, how they follow their configuration, how they end.

use std::process::Command;
use std::time::{Duration, Instant};

use gatefold_testkit::{Exchange, Fixture, RawClient, StdioClient, serve_http};

use crate::process::{BINARY, Gateway, LIMIT, await_gone, children_of, command, run, two_sources};
use crate::scratch::Scratch;

fn scratch_with_sources() -> Scratch {
    let scratch = Scratch::new();
    let config = two_sources(&scratch);
    scratch.write("gatefold.toml", config);
    scratch
}

/// Starts `gatefold serve` and waits until it has learned from both sources.
async fn serve_both(scratch: &Scratch) -> Gateway {
    let gateway = Gateway::serve(scratch).await;
    let args = ["status", "--listen", &gateway.address(), "--json"];
    let are_known = || run(scratch, &args).json()["running"]["tools"] == 24;
    assert!(gatefold_testkit::wait_until(LIMIT, are_known).await, "{}", gateway.log());
    gateway
}

/// How many issues there are, asked as a model would ask.
async fn issue_count(client: &RawClient) -> u64 {
    let arguments = r#"{"tool_name": "issues__count_issues", "arguments": {"by": "state"}}"#;
    let counted = client.call("execute_tool", arguments).await.unwrap();
    let counted: serde_json::Value = serde_json::from_str(&counted.text()).unwrap();
    let counts = counted["result"]["counts"].as_array().unwrap_or_else(|| panic!("{counted}"));
    counts.iter().map(|count| count["issues"].as_u64().unwrap()).sum()
}

#[tokio::test]
async fn an_issue_that_a_client_creates_outlives_a_restart() {
    let scratch = scratch_with_sources();
    let mut gateway = serve_both(&scratch).await;
    let client = RawClient::new(gateway.url()).unwrap();
    let before = issue_count(&client).await;
    let arguments = r#"{"tool_name": "issues__create_issue", "arguments": {"title": "t"}}"#;
    let created = client.call("execute_tool", arguments).await.unwrap();
    assert!(!created.result()["isError"].as_bool().unwrap_or(false), "{}", created.response);
    gateway.signal("-TERM");
    assert_eq!(gateway.ended().await, Some(0), "{}", gateway.log());
    let gateway = Gateway::serve(&scratch).await;
    let client = RawClient::new(gateway.url()).unwrap();
    assert_eq!(issue_count(&client).await, before + 1);
}

#[tokio::test]
async fn a_signal_ends_the_gateway_and_every_process_it_started() {
    for signal in ["-INT", "-TERM"] {
        let scratch = scratch_with_sources();
        let mut gateway = serve_both(&scratch).await;
        // The child that counts tokens comes and goes.
        let are_two = || children_of(gateway.pid()).len() == 2;
        let are_started = gatefold_testkit::wait_until(LIMIT, are_two).await;
        assert!(are_started, "sources that are not known yet are started");
        let children = children_of(gateway.pid());
        gateway.signal(signal);
        assert_eq!(gateway.ended().await, Some(0), "{}", gateway.log());
        await_gone(&children).await;
    }
}

#[tokio::test]
async fn a_second_signal_ends_the_gateway_at_once() {
    let scratch = Scratch::new();
    scratch.write("gatefold.toml", "[sources.hangs]\ncommand = 'sleep'\nargs = ['600']");
    let mut gateway = Gateway::start(&scratch, &["serve", "--listen", "127.0.0.1:0"]);
    let mut children = Vec::new();
    let has_started = gatefold_testkit::wait_until(LIMIT, || {
        children = children_of(gateway.pid());
        !children.is_empty()
    });
    assert!(has_started.await, "{}", gateway.log());
    gateway.signal("-INT");
    gateway.await_log("asked to stop").await;
    gateway.signal("-INT");
    assert!(matches!(gateway.ended().await, Some(0 | 130)), "{}", gateway.log());
    await_gone(&children).await;
}

#[tokio::test]
async fn a_source_that_hangs_does_not_hold_up_the_others() {
    let scratch = Scratch::new();
    let hangs = "[sources.hangs]\ncommand = 'sleep'\nargs = ['600']\n";
    scratch.write("gatefold.toml", two_sources(&scratch) + hangs);
    let gateway = serve_both(&scratch).await;
    let client = RawClient::new(gateway.url()).unwrap().with_limit(Duration::from_secs(5));
    assert!(issue_count(&client).await > 0);
}

#[tokio::test]
async fn a_deadline_of_its_own_binds_one_source_and_no_other() {
    let scratch = Scratch::new();
    let server = serve_http(Fixture::new(&[]).unwrap()).unwrap();
    let source =
        |name: &str, more: &str| format!("[sources.{name}]\nurl = '{}'\n{more}", server.url);
    scratch.write(
        "gatefold.toml",
        source("hasty", "call_deadline = '300ms'\n") + &source("patient", ""),
    );
    let gateway = Gateway::serve(&scratch).await;
    gateway.await_log("took up a new list of tools domain=hasty").await;
    gateway.await_log("took up a new list of tools domain=patient").await;
    let client = RawClient::new(gateway.url()).unwrap();
    let slow = async |domain: &str, ms: u64| {
        let call = format!(r#"{{"tool_name":"{domain}__slow","arguments":{{"ms":{ms}}}}}"#);
        client.call("execute_tool", &call).await.unwrap().text()
    };
    // A new list reaches the catalogue a moment after it was accepted.
    let is_known = async |domain| !slow(domain, 0).await.contains("Unknown tool");
    let known_by = Instant::now() + LIMIT;
    while !(is_known("hasty").await && is_known("patient").await) {
        assert!(Instant::now() < known_by);
    }
    let began = Instant::now();
    let late = slow("hasty", 60_000).await;
    assert!(late.contains("Tool 'hasty__slow' did not answer within 0.3 s"), "{late}");
    assert!(began.elapsed() < LIMIT, "{:?}", began.elapsed());
    let answer = slow("patient", 600).await;
    assert!(answer.contains(r#""tool":"patient__slow","result""#), "{answer}");
}

#[tokio::test]
async fn a_source_whose_list_fails_says_so_in_the_status() {
    let scratch = Scratch::new();
    let server = serve_http(Fixture::new(&["--repeat-cursor"]).unwrap()).unwrap();
    let config = format!("[sources.circular]\nurl = '{}'\n", server.url);
    scratch.write("gatefold.toml", two_sources(&scratch) + &config);
    let gateway = serve_both(&scratch).await;
    let args = ["status", "--listen", &gateway.address(), "--json"];
    let source = || run(&scratch, &args).json()["running"]["sources"][0].clone();
    assert!(gatefold_testkit::wait_until(LIMIT, || !source()["error"].is_null()).await);
    let shown = source();
    assert_eq!((&shown["domain"], &shown["state"]), (&"circular".into(), &"running".into()));
    let expected = "its list could not be taken up: `tools/list` gave the cursor it was asked with";
    assert_eq!(shown["error"], expected);
    let text = run(&scratch, &["status", "--listen", &gateway.address()]).stdout;
    assert!(text.contains("circular: its list could not be taken up"), "{text}");
}

#[tokio::test]
async fn a_source_that_is_down_at_the_start_is_learned_once_it_is_up() {
    let scratch = Scratch::new();
    let program = scratch.path().join("later");
    let config = two_sources(&scratch).replace(BINARY, program.to_str().unwrap());
    scratch.write("gatefold.toml", config);
    let gateway = Gateway::serve(&scratch).await;
    gateway.await_log("connecting failed").await;
    std::os::unix::fs::symlink(BINARY, program).unwrap();
    gateway.await_log("took up a new list of tools domain=issues").await;
    gateway.await_log("took up a new list of tools domain=units").await;
}

#[tokio::test]
async fn a_changed_configuration_is_taken_up_and_a_wrong_one_refused() {
    let scratch = scratch_with_sources();
    let gateway = serve_both(&scratch).await;
    let client = RawClient::new(gateway.url()).unwrap();
    let before = children_of(gateway.pid());
    // Editors save like this: a new file replaces the old one.
    let renamed = two_sources(&scratch).replace("[sources.units]", "[sources.maths]");
    scratch.write("new.toml", &renamed);
    std::fs::rename(scratch.path().join("new.toml"), scratch.path().join("gatefold.toml")).unwrap();
    gateway.await_log("applied the changed configuration kept=1 added=1 removed=1").await;
    gateway.await_log("domain=maths").await;
    let one_is_left = || {
        let children = children_of(gateway.pid());
        before.iter().filter(|pid| children.contains(pid)).count() == 1
    };
    assert!(gatefold_testkit::wait_until(LIMIT, one_is_left).await, "issues goes on, units ends");

    scratch.write("gatefold.toml", renamed.clone() + "oops = 1\n");
    gateway.await_log("rejected the changed configuration").await;
    gateway.await_log("gatefold.toml:7:1: `sources.maths.oops` is not a known key").await;
    assert!(issue_count(&client).await > 0);

    scratch.write("gatefold.toml", renamed + "[server]\nlisten = '127.0.0.1:1'\n");
    gateway.await_log("kept=2 added=0 removed=0").await;
    gateway.await_log(r#"some changes take effect after a restart keys=["server.listen"]"#).await;
    gateway.signal("-HUP");
    let twice = || gateway.log().matches("kept=2 added=0 removed=0").count() == 2;
    assert!(gatefold_testkit::wait_until(LIMIT, twice).await, "{}", gateway.log());
}

#[tokio::test]
async fn a_status_asks_the_running_gateway() {
    let scratch = scratch_with_sources();
    let gateway = serve_both(&scratch).await;
    let client = RawClient::new(gateway.url()).unwrap();
    issue_count(&client).await;
    let address = gateway.address();
    let status = run(&scratch, &["status", "--listen", &address]);
    assert!(status.stdout.starts_with(&format!("running on http://{address}/mcp\n")));
    assert!(status.stdout.contains("calls since its start: 1 done\n"), "{}", status.stdout);
    let status = run(&scratch, &["status", "--listen", &address, "--json"]).json();
    assert_eq!(status["running"]["process"], gateway.pid());
    assert_eq!(status["running"]["tools"], 24);
    assert_eq!(status["running"]["sources"][0]["state"], "running");
}

#[tokio::test]
async fn an_address_in_use_is_named_with_the_way_out() {
    let scratch = scratch_with_sources();
    let gateway = Gateway::serve(&scratch).await;
    let second = run(&scratch, &["serve", "--listen", &gateway.address(), "--log", "off"]);
    assert_eq!(second.code, Some(1));
    let message = second.stderr.replace(&gateway.address(), "ADDRESS");
    let message = message.replace(&gateway.pid().to_string(), "PID");
    insta::assert_snapshot!(message, @r#"
    error: `ADDRESS` is already in use by Gatefold, process PID
      help: use that one, stop it with `kill PID`, or choose another address with `--listen`
    "#);
}

/// Calls a tool of a source that may not have answered yet.
async fn call_once_known(client: &mut StdioClient, arguments: &str) -> Exchange {
    loop {
        let called = client.call("execute_tool", arguments).await.unwrap();
        if !called.text().contains("unknown tool") {
            return called;
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn over_stdio_nothing_but_the_protocol_is_on_standard_output() {
    let scratch = scratch_with_sources();
    let command = command(&scratch, &["stdio", "--log", "trace"]);
    let mut client = StdioClient::from_command(command.into()).unwrap().with_limit(LIMIT);
    let hello = client.initialize().await.unwrap();
    assert!(hello.notices.is_empty(), "{:?}", hello.notices);
    assert!(hello.result()["instructions"].as_str().unwrap().contains("issues"));
    let listed = client.list().await.unwrap();
    assert!(listed.notices.is_empty(), "{:?}", listed.notices);
    assert_eq!(listed.tool_names(), ["discover_tools", "get_tool_schema", "execute_tool"]);
    let arguments =
        r#"{"tool_name": "units__evaluate_expression", "arguments": {"expression": "6*7"}}"#;
    let called = call_once_known(&mut client, arguments).await;
    assert!(called.text().contains("42"), "{}", called.text());
    let children = children_of(client.pid().unwrap());
    assert!(!children.is_empty());
    client.close_stdin();
    assert_eq!(client.wait().await.unwrap().code(), Some(0), "{}", client.stderr());
    await_gone(&children).await;
}

#[tokio::test]
async fn over_stdio_calls_under_way_finish_when_a_signal_comes() {
    let scratch = Scratch::new();
    let source = serve_http(Fixture::new(&[]).unwrap()).unwrap();
    scratch.write("gatefold.toml", format!("sources.fixture.url = '{}'", source.url));
    let command = command(&scratch, &["stdio"]);
    let mut client = StdioClient::from_command(command.into()).unwrap().with_limit(LIMIT);
    client.initialize().await.unwrap();
    let quick = r#"{"tool_name": "fixture__slow", "arguments": {"ms": 0}}"#;
    assert!(call_once_known(&mut client, quick).await.text().contains("slept"));
    let params = r#"{"name": "execute_tool",
        "arguments": {"tool_name": "fixture__slow", "arguments": {"ms": 5000}}}"#;
    let call = client.start("tools/call", &params.replace('\n', "")).await.unwrap();
    let is_under_way = || {
        let status = run(&scratch, &["status", "--json"]).json();
        status["running"]["sources"][0]["calls_in_flight"] == 1
    };
    assert!(gatefold_testkit::wait_until(LIMIT, is_under_way).await, "{}", client.stderr());
    let signalled = Command::new("kill").arg(client.pid().unwrap().to_string()).status();
    assert!(signalled.unwrap().success());
    let called = client.finish(call, "a slow call").await.unwrap();
    assert!(!called.result()["isError"].as_bool().unwrap_or(false), "{}", called.response);
    assert_eq!(client.wait().await.unwrap().code(), Some(0), "{}", client.stderr());
}

/// Official clients in a hurry close their end, send SIGTERM, and a second later SIGKILL.
#[tokio::test]
async fn over_stdio_whoever_leaves_in_a_hurry_leaves_nothing_behind() {
    let scratch = Scratch::new();
    let deaf = "trap '' TERM; sleep 600 | sleep 600";
    scratch.write(
        "gatefold.toml",
        format!("sources.deaf = {{ command = 'sh', args = ['-c', \"{deaf}\"] }}"),
    );
    let mut client =
        StdioClient::from_command(command(&scratch, &["stdio"]).into()).unwrap().with_limit(LIMIT);
    client.initialize().await.unwrap();
    let gateway = client.pid().unwrap();
    let offspring = || {
        let shells = children_of(gateway);
        let sleepers = shells.iter().flat_map(|shell| children_of(*shell));
        sleepers.chain(shells.iter().copied()).collect::<Vec<_>>()
    };
    let have_started = || offspring().len() == 3;
    assert!(gatefold_testkit::wait_until(LIMIT, have_started).await, "{}", client.stderr());
    let offspring = offspring();
    client.close_stdin();
    let signalled = Command::new("kill").arg(gateway.to_string()).status();
    let began = Instant::now();
    assert!(signalled.unwrap().success());
    assert_eq!(client.wait().await.unwrap().code(), Some(0), "{}", client.stderr());
    // A client waits a second; a test under load takes longer to see the end. Those that are not in
    // a hurry take two.
    assert!(began.elapsed() < Duration::from_millis(1800), "it took {:?}", began.elapsed());
    await_gone(&offspring).await;
}

#[tokio::test]
async fn over_stdio_definitions_are_counted_in_the_background() {
    let scratch = scratch_with_sources();
    let mut client =
        StdioClient::from_command(command(&scratch, &["stdio"]).into()).unwrap().with_limit(LIMIT);
    client.initialize().await.unwrap();
    let counted = || {
        let status = run(&scratch, &["status", "--json", "--listen", "127.0.0.1:1"]).json();
        status["state"]["tokens"]["definitions"].as_u64().is_some_and(|tokens| tokens > 1000)
    };
    assert!(gatefold_testkit::wait_until(LIMIT, counted).await, "{}", client.stderr());
    client.close_stdin();
    assert_eq!(client.wait().await.unwrap().code(), Some(0), "{}", client.stderr());
}

#[tokio::test]
async fn servers_that_gatefold_ends_itself_are_no_warning() {
    let scratch = Scratch::new();
    let idle = "[limits]\nidle_stop = '1s'\n";
    scratch.write("gatefold.toml", format!("{}{idle}", two_sources(&scratch)));
    let mut gateway = serve_both(&scratch).await;
    let args = ["status", "--listen", &gateway.address(), "--json"];
    let are_all = |state: &str| {
        let status = run(&scratch, &args).json();
        let sources = status["running"]["sources"].as_array();
        sources.is_some_and(|all| all.iter().all(|source| source["state"] == state))
    };
    assert!(gatefold_testkit::wait_until(LIMIT, || are_all("idle")).await, "{}", gateway.log());
    // Other sources replace these while they run.
    let other = two_sources(&scratch).replace("/data'", "/other'");
    scratch.write("gatefold.toml", other.clone());
    gateway.await_log("applied the changed configuration").await;
    assert!(gatefold_testkit::wait_until(LIMIT, || are_all("running")).await, "{}", gateway.log());
    scratch.write("gatefold.toml", other.replace("/other'", "/third'"));
    let is_taken_up = || gateway.log().matches("applied the changed").count() == 2;
    assert!(gatefold_testkit::wait_until(LIMIT, is_taken_up).await, "{}", gateway.log());
    assert!(gatefold_testkit::wait_until(LIMIT, || are_all("running")).await, "{}", gateway.log());
    gateway.signal("-TERM");
    assert_eq!(gateway.ended().await, Some(0));
    let log = gateway.log();
    assert!(!log.contains("a server ended") && !log.contains("WARN"), "{log}");
}
