//! Why a server died, from what it wrote before: real processes that print what runtimes print.

use serde_json::{Value, json};

use crate::process::{Gateway, LIMIT, run};
use crate::scratch::Scratch;

const NODE: &str = "node:internal/modules/cjs/loader:1228
  throw err;
  ^

Error: Cannot find module '/srv/index.js'
    at Module._resolveFilename (node:internal/modules/cjs/loader:1225:15)
    at Function.executeUserEntryPoint [as runMain] {
  code: 'MODULE_NOT_FOUND',
  requireStack: []
}

Node.js v22.1.0
}
";

const PYTHON: &str = "Traceback (most recent call last):
  File \"/srv/server.py\", line 1, in <module>
    import tickets
ModuleNotFoundError: No module named 'tickets'
";

/// A source that writes a trace and dies.
fn dying(scratch: &Scratch, name: &str, trace: &str) -> String {
    scratch.write(&format!("{name}.txt"), trace);
    let file = scratch.path().join(format!("{name}.txt"));
    let line = format!("cat {} >&2; exit 1", file.display());
    format!("[sources.{name}]\ncommand = 'sh'\nargs = ['-c', '{line}']\n")
}

fn scratch() -> Scratch {
    let scratch = Scratch::new();
    let missing = "[sources.shell]\ncommand = 'sh'\nargs = ['-c', 'no-such-mcp --stdio']\n";
    let sources = dying(&scratch, "node", NODE) + &dying(&scratch, "python", PYTHON) + missing;
    scratch.write("gatefold.toml", sources);
    scratch
}

#[test]
fn the_reason_is_the_line_that_names_the_error() {
    let scratch = scratch();
    let checked = run(&scratch, &["check", "--json"]).json();
    let error = |at: usize| checked["sources"][at]["error"].as_str().unwrap().to_owned();
    let node = "the server exited with code 1; it wrote: Error: Cannot find module '/srv/index.js'";
    assert_eq!(error(0), node);
    let python =
        "the server exited with code 1; it wrote: ModuleNotFoundError: No module named 'tickets'";
    assert_eq!(error(1), python);
    assert!(error(2).starts_with("the server exited with code 127; it wrote: "), "{}", error(2));
    assert!(error(2).ends_with("not found"), "{}", error(2));
    let last =
        json!(["  code: 'MODULE_NOT_FOUND',", "  requireStack: []", "}", "Node.js v22.1.0", "}"]);
    assert_eq!(checked["sources"][0]["last_lines"], last);
}

#[test]
fn the_last_lines_are_shown_to_whoever_asks() {
    let scratch = scratch();
    for (command, plain) in [("check", "failed node: "), ("doctor", "node: no connection: ")] {
        let short = run(&scratch, &[command]).stdout;
        assert!(short.contains(plain) && !short.contains("Node.js v22"), "{short}");
        let long = run(&scratch, &[command, "-v"]).stdout;
        assert!(long.contains("| Node.js v22.1.0"), "{long}");
        assert!(long.contains("import tickets"), "{long}");
    }
}

#[tokio::test]
async fn a_running_gateway_tells_the_last_lines_in_its_status() {
    let scratch = scratch();
    let gateway = Gateway::serve(&scratch).await;
    let listen = gateway.address();
    let node = || {
        let status = run(&scratch, &["status", "--json", "--listen", &listen]).json();
        status["running"]["sources"][0].clone()
    };
    // One that starts again has no last lines.
    let mut seen = Value::Null;
    let is_failing = || {
        seen = node();
        seen["state"] == "failing"
    };
    let failed = gatefold_testkit::wait_until(LIMIT, is_failing).await;
    assert!(failed, "{seen}");
    assert_eq!(seen["last_lines"][3], "Node.js v22.1.0");
}
