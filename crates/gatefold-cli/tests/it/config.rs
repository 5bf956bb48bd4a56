//! `gatefold init` and `gatefold config`: what people read about the keys and the values in force.

use gatefold::config::keys::sections;
use gatefold::config::kinds::Kinds;
use gatefold::config::{ConfigError, Inputs, template};
use serde_json::Value;

use crate::process::run;
use crate::scratch::Scratch;

#[test]
fn a_file_to_begin_with_is_written_once() {
    let scratch = Scratch::new();
    let deep = ["init", "--path", "a/b/own.toml"];
    for (args, file) in [
        (&["init"][..], "gatefold.toml"),
        (&["init", "--user"], ".config/gatefold/gatefold.toml"),
        (&deep, "a/b/own.toml"),
    ] {
        let written = run(&scratch, args);
        assert_eq!(written.code, Some(0), "{}", written.stderr);
        assert!(written.stdout.starts_with("wrote "), "{}", written.stdout);
        assert_eq!(
            std::fs::read_to_string(scratch.path().join(file)).unwrap(),
            template(&sections(&Kinds::default()))
        );
        std::fs::write(scratch.path().join(file), "mine").unwrap();
        let again = run(&scratch, args);
        assert_eq!((again.code, again.stdout.as_str()), (Some(2), ""));
        assert!(again.stderr.contains("is there already\n  help: "), "{}", again.stderr);
        assert_eq!(std::fs::read_to_string(scratch.path().join(file)).unwrap(), "mine");
    }
    assert_eq!(run(&scratch, &["init", "--force"]).code, Some(0));
    let inputs = Inputs { config: Some("gatefold.toml".into()), ..Inputs::default() };
    scratch.load(&inputs).unwrap();
}

/// What is printed about a key.
fn explained(key: &str) -> String {
    let shown = run(&Scratch::new(), &["config", "explain", key]);
    assert_eq!((shown.code, shown.stderr.as_str()), (Some(0), ""), "{key}");
    shown.stdout
}

#[test]
fn a_key_is_explained() {
    insta::assert_snapshot!(explained("sources.github.url"), @r#"
    sources.NAME.url
    The address of a server over HTTP. The server speaks streamable HTTP there. Parts that may be secret are never shown.

      type       URL
                 with `http` or `https`, and a host
                 not together with `command` or `openapi` or `actions` or `database` or `builtin` or `skills` or `knowledge`
      default    none
      example    url = "https://host.example/mcp"
      variables  `${VAR}` and `${VAR:-default}` are replaced
      change     takes effect when the configuration reloads
    "#);
    insta::assert_snapshot!(explained("audit.durability"), @r#"
    audit.durability
    What the record of a call survives once it is open. With "process" it survives a crash of Gatefold, with "disk" a power cut too, which makes every call wait some milliseconds for the disk.

      type       "process" or "disk"
      default    "process"
      example    durability = "disk"
      variables  `${VAR}` and `${VAR:-default}` are replaced
      change     takes effect at the next start
    "#);
    insta::assert_snapshot!(explained("[disclosure]"), @r#"
    [disclosure]
    How tools are shown to a model.

    key                  type                         default                what it is
    pinned               list of patterns and "used"  []                     Tools to show at the top level too, beside Gatefold's three.
    discovery_tokens     whole number                 2000                   The most o200k tokens of one discovery answer.
    default              string                       "gateway"              How tools are shown to whoever asks for nothing else.
    auto_share           number                       0.1                    The share of the context up to which `auto` shows all definitions in full.
    context_tokens       whole number                 200000                 How many tokens a model's context has.
    split_execute        boolean                      false                  Whether `execute_read` and `execute_write` stand in the place of `execute_tool`.
    selection_threshold  whole number                 12                     The most tools that are all shown where it is known what they are for.
    selection_max        whole number                 6                      How many tools are chosen for such a request.
    register             boolean                      false                  Whether tools that a session has found stand at its top level from then on.
    builtin_tools        list of built-in tools       all that need nothing  The built-in tools that Gatefold's own loop has without a source.
    skill_tool_mode      "progressive" or "inline"    "progressive"          How `typed` shows skills.
    connector_tool_mode  "progressive" or "legacy"    "progressive"          How `typed` shows HTTP APIs.
    database_tool_mode   "progressive" or "legacy"    "progressive"          How `typed` shows databases.
    mcp_tool_mode        "progressive" or "legacy"    "progressive"          How `typed` shows MCP servers.
    "#);
    insta::assert_snapshot!(explained("limits.calls_in_flight"), @r#"
    limits.calls_in_flight
    How many calls one source works on at once.

      type       whole number
                 above zero
      default    128
      example    calls_in_flight = 16
      change     takes effect when the configuration reloads
    "#);
}

#[test]
fn a_name_of_the_users_is_explained_as_any() {
    for (path, same) in [
        ("sources.\"my server\".command", "sources.NAME.command"),
        ("sources.a.env.TOKEN", "sources.NAME.env"),
        ("sources.a", "sources"),
        ("[sources.NAME]", "sources"),
    ] {
        assert_eq!(explained(path), explained(same), "{path}");
    }
}

#[test]
fn a_key_is_explained_as_json() {
    let json = run(&Scratch::new(), &["config", "explain", "server.listen", "--json"]).json();
    insta::assert_snapshot!(format!("{json:#}"), @r#"
    {
      "key": "server.listen",
      "type": "address and port",
      "default": "127.0.0.1:8420",
      "without_it": "\"127.0.0.1:8420\"",
      "summary": "Where to listen.",
      "details": "`--listen` wins over it.",
      "example": "listen = \"127.0.0.1:9000\"",
      "constraints": [
        "such as \"127.0.0.1:8420\", \"[::1]:8420\" or \"localhost:8420\""
      ],
      "takes_variables": true,
      "takes_effect": "restart"
    }
    "#);
}

#[test]
fn all_sections_are_explained_as_json() {
    let all = run(&Scratch::new(), &["config", "explain", "--json"]).json();
    assert_eq!(all["sections"].as_array().unwrap().len(), sections(&Kinds::default()).len());
}

/// A folder with two files of configuration, with secrets and a default in use.
fn two_files() -> Scratch {
    let scratch = Scratch::new();
    scratch.write(
        "gatefold.toml",
        "[limits]\ncall_deadline = '90s'\nidle_stop = '${IDLE:-5m}'\n[policy]\ndeny = ['*__drop_*', 'prompt:*']\n\
         [sources.a]\ncommand = 'x'\nargs = ['${TOKEN}', 'b']\nenv = { KEY = '${TOKEN}' }\n\
         [sources.b]\nurl = 'https://host.example:1/${TOKEN}?k=${TOKEN}'\nheaders.A = '${TOKEN}'\n\
         [state]\ndir = '/state'\n",
    );
    scratch.write("mcp.json", r#"{"mcpServers": {"c": {"command": "y", "disabled": true}}}"#);
    scratch
}

#[test]
#[expect(clippy::too_many_lines, reason = "the snapshot is the whole configuration")]
fn what_is_in_force_is_shown_with_its_origin_and_without_secrets() {
    let scratch = two_files();
    let args = ["config", "show", "--config", "gatefold.toml", "--mcp-config", "mcp.json"];
    let shown = run(&scratch, &args);
    assert_eq!(shown.code, Some(0), "{}", shown.stderr);
    let text = shown.stdout.replace(scratch.path().to_str().unwrap(), "HERE");
    assert!(!text.contains("s3cret"), "{text}");
    insta::assert_snapshot!(text, @r#"
    files  HERE/gatefold.toml, HERE/mcp.json
    state  /state

    source  from              how it is reached
    a       gatefold.toml:6   x and 2 arguments KEY=***
    b       gatefold.toml:10  https://host.example:1/... A: ***
    c       mcp.json:1        disabled

    key                             from              value
    policy.allow                    default           all of them
    policy.ask                      default           none
    policy.ask_unless               default           none
    policy.deny                     gatefold.toml:5   ["*__drop_*","prompt:*"]
    policy.deny_unless              default           none
    disclosure.pinned               default           []
    disclosure.discovery_tokens     default           2000
    disclosure.default              default           "gateway"
    disclosure.auto_share           default           0.1
    disclosure.context_tokens       default           200000
    disclosure.split_execute        default           false
    disclosure.selection_threshold  default           12
    disclosure.selection_max        default           6
    disclosure.register             default           false
    disclosure.builtin_tools        default           all that need nothing
    disclosure.skill_tool_mode      default           "progressive"
    disclosure.connector_tool_mode  default           "progressive"
    disclosure.database_tool_mode   default           "progressive"
    disclosure.mcp_tool_mode        default           "progressive"
    search.learn                    default           true
    search.encoder                  default           "builtin"
    search.texts                    default           tools are found by what their sources say
    limits.call_deadline            gatefold.toml:2   "90s"
    limits.connect_deadline         default           "15s"
    limits.install_deadline         default           "5m"
    limits.starts                   default           the number of processor cores, and two more
    limits.installs                 default           4
    limits.idle_stop                gatefold.toml:3   "${IDLE:-5m}"
    limits.result_preview           default           4000
    limits.stored_result            default           "16MiB"
    limits.results_size             default           "256MiB"
    limits.statement_memory         default           "256MiB"
    limits.stored_result_expiry     default           "1h"
    limits.stored_results           default           100
    limits.request_size             default           "4MiB"
    limits.requests_size            default           "32MiB"
    limits.body_deadline            default           "30s"
    limits.connections              default           2000
    limits.head_deadline            default           "10s"
    limits.connection_idle          default           "90s"
    limits.calls_in_flight          default           128
    limits.calls_waiting            default           512
    limits.breaker_failures         default           5
    limits.breaker_pause            default           "10s"
    limits.nesting                  default           8
    limits.agent_iterations         default           50
    limits.agent_turn               default           2 min for each try, and 8 min with all that its endpoint asks to wait
    limits.agent_run                default           "30m"
    limits.agent_calls_at_once      default           8
    limits.agent_tokens             default           as many as it needs
    limits.agent_cost               default           what it costs
    limits.model_tokens             default           5000000
    limits.question                 default           "5m"
    limits.suspension               default           "10m"
    limits.approval                 default           "24h"
    limits.drain                    default           "60s"
    limits.shutdown                 default           "10s"
    results.format                  default           "json"
    server.listen                   default           "127.0.0.1:8420"
    server.authentication           default           nobody has to, and only a loopback address is served
    server.tls                      default           plain HTTP
    server.public_url               default           clients do not have to know it
    server.issuers                  default           only tokens of `gatefold token create`
    server.sign_in                  default           nobody signs in here
    server.allowed_hosts            default           []
    server.allowed_origins          default           []
    server.trusted_proxies          default           []
    server.session_idle             default           "30m"
    secrets.file                    default           secrets are in the operating system's keyring
    secrets.root_key                default           a file in the state directory
    secrets.previous_root_key       default           none
    state.dir                       gatefold.toml:14  "/state"
    audit.durability                default           "process"
    audit.retention                 default           "30d"
    audit.records                   default           1000000
    "#);
    let json = run(&scratch, &[&args[..], &["--json"]].concat());
    assert!(!json.stdout.contains("s3cret"), "{}", json.stdout);
    let json = json.json();
    assert_eq!(json["sources"][0]["connection"]["arguments"], 2);
    assert_eq!(json["sources"][1]["origin"], "gatefold.toml:10");
    assert_eq!(json["settings"][0]["value"], Value::Null);
}

#[test]
fn what_a_source_says_of_itself_is_shown() {
    let scratch = Scratch::new();
    scratch.write(
        "gatefold.toml",
        "[limits]\ncall_deadline = '90s'\n[sources.a]\ncommand = 'x'\nenv = { KEY = '${TOKEN}' }\n\
         ask = 'writes'\ncall_deadline = '5m'\ngroups = { reading = ['get_*'] }\n\
         [sources.'b c']\nurl = 'https://host.example/'\nask = ['send_*']\nidle_stop = '${IDLE:-5m}'\n\
         [sources.d]\ncommand = 'x'\n",
    );
    let shown = run(&scratch, &["config", "show", "--config", "gatefold.toml"]);
    let own = shown.stdout.lines().filter(|line| line.starts_with("sources."));
    let own: Vec<_> =
        own.map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    insta::assert_snapshot!(own.join("\n"), @r#"
    sources.a.ask gatefold.toml:6 "writes"
    sources.a.call_deadline gatefold.toml:7 "5m"
    sources.a.groups gatefold.toml:8 {"reading":["get_*"]}
    sources."b c".ask gatefold.toml:11 ["send_*"]
    sources."b c".idle_stop gatefold.toml:12 "${IDLE:-5m}"
    "#);
    let json = run(&scratch, &["config", "show", "--config", "gatefold.toml", "--json"]).json();
    let deadlines = |at: usize| json["sources"][at]["call_deadline_ms"].clone();
    assert_eq!([deadlines(0), deadlines(1), deadlines(2)], [300_000, 90_000, 90_000]);
    let settings = json["settings"].as_array().unwrap();
    let ask = settings.iter().find(|one| one["key"] == "sources.a.ask").unwrap();
    assert_eq!((&ask["value"], &ask["origin"]), (&"writes".into(), &"gatefold.toml:6".into()));
}

#[test]
fn a_configuration_is_checked_without_connecting_it() {
    let scratch = Scratch::new();
    scratch.write("gatefold.toml", "[sources.a]\ncommand = 'no-such-program'\n");
    scratch.write("mcp.json", r#"{"mcpServers": {"c": {"url": "nowhere"}}}"#);
    let args = ["config", "check", "--config", "gatefold.toml", "--mcp-config", "mcp.json"];
    let checked = run(&scratch, &args);
    assert_eq!(checked.code, Some(1), "{}", checked.stderr);
    let text = checked.stdout.replace(scratch.path().to_str().unwrap(), "HERE");
    insta::assert_snapshot!(text, @r#"
    failed c cannot be used: `mcpServers.c.url` has no `http` scheme; write the whole address, such as "https://host.example/mcp" (mcp.json:1:30)
    "#);
    let fine = run(&scratch, &["config", "check"]);
    assert_eq!(fine.code, Some(0), "{}", fine.stderr);
    assert!(fine.stdout.starts_with("no faults in "), "{}", fine.stdout);
    scratch.write("gatefold.toml", "[sources.a]\ncomand = 'x'\n");
    assert_eq!(run(&scratch, &["config", "check"]).code, Some(2));
    let error = scratch.load(&Inputs { config: Some("gatefold.toml".into()), ..Inputs::default() });
    assert!(matches!(error, Err(ConfigError::Invalid(_))));
}
