//! What valid configurations are read as.

use std::path::{Path, PathBuf};
use std::time::Duration;

use gatefold::Environment;
use gatefold::config::kinds::Need;
use gatefold::config::{Durability, Inputs, default_state_dir};
use gatefold_core::UserId;
use gatefold_encoder::ModelPlace;
use gatefold_policy::Effect;
use serde_json::json;

use crate::scratch::{Scratch, toml};

#[expect(clippy::too_many_lines, reason = "the snapshot is the whole configuration")]
#[test]
fn an_empty_file_has_the_documented_defaults() {
    let config = toml("").unwrap();
    insta::assert_debug_snapshot!(
        (config.limits, config.server, config.disclosure, config.audit, config.state_dir),
        @r#"
        (
            Limits {
                call_deadline: 60s,
                result_bytes: 16777216,
                result_memory: 268435456,
                calls_in_flight: 128,
                calls_waiting: 512,
                breaker_failures: 5,
                breaker_pause: 10s,
                nesting: 8,
                question: 300s,
                suspension: 600s,
                approval: 86400s,
                drain: 60s,
            },
            ServerConfig {
                listen: 127.0.0.1:8420,
                tls: None,
                authentication: None,
                public_url: None,
                issuers: [],
                sign_in: None,
                allowed_hosts: [],
                allowed_origins: [],
                trusted_proxies: [],
                request_bytes: 4194304,
                requests_bytes: 33554432,
                body_deadline: 30s,
                connections: 2000,
                head_deadline: 10s,
                connection_idle: 90s,
                session_idle: 1800s,
                shutdown: 10s,
            },
            DisclosureConfig {
                pinned: Pins {
                    patterns: [],
                    most_used: false,
                },
                discovery_tokens: 2000,
                default: "gateway",
                auto_share: Share {
                    millionths: 100000,
                },
                context_tokens: 200000,
                modes: ToolModes {
                    legacy: {},
                    inline: {},
                },
                execute: One,
                selection: SelectionLimits {
                    threshold: 12,
                    most: 6,
                },
                register: false,
                builtin_tools: {
                    Calculate,
                    Datetime,
                    JsonQuery,
                    Text,
                    Memory,
                    Todo,
                    AskUser,
                },
            },
            AuditConfig {
                durability: Process,
                retention: Retention {
                    age: 2592000s,
                    rows: 1000000,
                },
            },
            None,
        )
        "#
    );
}

#[expect(clippy::too_many_lines, reason = "the snapshot is the whole configuration")]
#[test]
fn every_key_is_taken() {
    let config = toml(EVERYTHING).unwrap();
    let text =
        format!("{:#?}", (&config.sources, &config.server, &config.disclosure, config.limits));
    let text = without_digests(&text);
    insta::assert_snapshot!(text, @r#"
    (
        [
            SourceConfig {
                domain: Domain(git_hub),
                origin: Origin {
                    file: "gatefold.toml",
                    line: 2,
                    key: "Git-Hub",
                },
                section: Stdio {
                    command: "npx",
                    args: 4 hidden,
                    env: [
                        (
                            "KEY",
                            Secret(***),
                        ),
                        (
                            "PLAIN",
                            Secret(***),
                        ),
                    ],
                    inherit_env: [
                        "HTTPS_PROXY",
                    ],
                    cwd: Some(
                        "/srv",
                    ),
                },
                description: Some(
                    "Issues and code.",
                ),
                aliases: [],
                groups: GroupRules(
                    [
                        (
                            Pattern(
                                "*issue*",
                            ),
                            "issues",
                        ),
                        (
                            Pattern(
                                "*file*",
                            ),
                            "code",
                        ),
                        (
                            Pattern(
                                "*commit*",
                            ),
                            "code",
                        ),
                    ],
                ),
                connect_deadline: 30s,
                install_deadline: 300s,
                call_deadline: None,
                idle_stop: 3600s,
                notes: [],
            },
            SourceConfig {
                domain: Domain(crm),
                origin: Origin {
                    file: "gatefold.toml",
                    line: 15,
                    key: "remote",
                },
                section: McpSection {
                    connection: Http {
                        headers: [
                            (
                                "Authorization",
                                Secret(***),
                            ),
                        ],
                        ..
                    },
                    era: "handshake",
                },
                description: None,
                aliases: [],
                groups: GroupRules(
                    [],
                ),
                connect_deadline: 5s,
                install_deadline: 300s,
                call_deadline: None,
                idle_stop: 120s,
                notes: [],
            },
            SourceConfig {
                domain: Domain(off),
                origin: Origin {
                    file: "gatefold.toml",
                    line: 21,
                    key: "off",
                },
                section: Disabled,
                description: None,
                aliases: [
                    "the old one",
                ],
                groups: GroupRules(
                    [],
                ),
                connect_deadline: 5s,
                install_deadline: 300s,
                call_deadline: None,
                idle_stop: 120s,
                notes: [],
            },
        ],
        ServerConfig {
            listen: 127.0.0.1:99,
            tls: Some(
                TlsFiles {
                    cert: "/tls/cert.pem",
                    key: "/tls/key.pem",
                },
            ),
            authentication: None,
            public_url: None,
            issuers: [],
            sign_in: None,
            allowed_hosts: [
                "gatefold.example",
            ],
            allowed_origins: [
                "https://console.example",
            ],
            trusted_proxies: [
                10.0.0.0/8,
            ],
            request_bytes: 524288,
            requests_bytes: 33554432,
            body_deadline: 30s,
            connections: 2000,
            head_deadline: 10s,
            connection_idle: 90s,
            session_idle: 1800s,
            shutdown: 3s,
        },
        DisclosureConfig {
            pinned: Pins {
                patterns: [
                    Pattern(
                        "crm__find",
                    ),
                ],
                most_used: true,
            },
            discovery_tokens: 1500,
            default: "gateway",
            auto_share: Share {
                millionths: 100000,
            },
            context_tokens: 200000,
            modes: ToolModes {
                legacy: {},
                inline: {},
            },
            execute: One,
            selection: SelectionLimits {
                threshold: 12,
                most: 6,
            },
            register: true,
            builtin_tools: {
                Calculate,
                Todo,
            },
        },
        Limits {
            call_deadline: 90s,
            result_bytes: 2097152,
            result_memory: 268435456,
            calls_in_flight: 4,
            calls_waiting: 5,
            breaker_failures: 6,
            breaker_pause: 7s,
            nesting: 2,
            question: 20s,
            suspension: 3600s,
            approval: 28800s,
            drain: 9s,
        },
    )
    "#);
    assert_eq!(config.state_dir, Some(PathBuf::from("/home/ann/state")));
    insta::assert_debug_snapshot!(config.policy.rules(), @r#"
    [
        Rule {
            id: RuleId(
                "policy.allow:crm__*",
            ),
            effect: Allow,
            who: PrincipalFilter {
                users: [],
                organisations: [],
                agents: [],
                rights: [],
                without_rights: [],
            },
            scope: Everywhere,
            entries: Every,
            pattern: Glob(
                "crm__*",
            ),
            unless: [],
        },
        Rule {
            id: RuleId(
                "policy.ask:crm__send_*",
            ),
            effect: Ask,
            who: PrincipalFilter {
                users: [],
                organisations: [],
                agents: [],
                rights: [],
                without_rights: [],
            },
            scope: Everywhere,
            entries: Every,
            pattern: Glob(
                "crm__send_*",
            ),
            unless: [],
        },
        Rule {
            id: RuleId(
                "policy.deny:*__delete_*",
            ),
            effect: Deny,
            who: PrincipalFilter {
                users: [],
                organisations: [],
                agents: [],
                rights: [],
                without_rights: [],
            },
            scope: Everywhere,
            entries: Every,
            pattern: Glob(
                "*__delete_*",
            ),
            unless: [],
        },
        Rule {
            id: RuleId(
                "sources.git_hub.allow:get_*",
            ),
            effect: Allow,
            who: PrincipalFilter {
                users: [],
                organisations: [],
                agents: [],
                rights: [],
                without_rights: [],
            },
            scope: Domain(
                Domain(git_hub),
            ),
            entries: Every,
            pattern: Glob(
                "get_*",
            ),
            unless: [],
        },
        Rule {
            id: RuleId(
                "sources.git_hub.deny:get_secret*",
            ),
            effect: Deny,
            who: PrincipalFilter {
                users: [],
                organisations: [],
                agents: [],
                rights: [],
                without_rights: [],
            },
            scope: Domain(
                Domain(git_hub),
            ),
            entries: Every,
            pattern: Glob(
                "get_secret*",
            ),
            unless: [],
        },
    ]
    "#);
}

const EVERYTHING: &str = r#"
[sources.Git-Hub]
command = "npx"
args = ["-y", "server", "--token=${TOKEN}", 7]
env = { KEY = "${TOKEN}", PLAIN = "x$${Y}" }
cwd = "/srv"
inherit_env = ["HTTPS_PROXY"]
description = "Issues and code."
allow = ["get_*"]
deny = ["get_secret*"]
groups = { issues = ["*issue*"], code = ["*file*", "*commit*"] }
connect_deadline = "30s"
idle_stop = "1h"

[sources.remote]
url = "https://host.example/mcp?key=${TOKEN}"
headers = { Authorization = "Bearer ${TOKEN}" }
era = "handshake"
domain = "crm"

[sources.off]
enabled = false
command = "x"
aliases = ["the old one"]

[policy]
allow = ["crm__*"]
ask = ["crm__send_*"]
deny = ["*__delete_*"]

[disclosure]
pinned = ["used", "crm__find"]
register = true
builtin_tools = ['calculate', 'todo']
discovery_tokens = 1500

[limits]
call_deadline = "90s"
connect_deadline = "5s"
idle_stop = "2m"
stored_result = "2MiB"
request_size = "512KiB"
calls_in_flight = 4
calls_waiting = 5
breaker_failures = 6
breaker_pause = "7s"
nesting = 2
question = "20s"
suspension = "1h"
approval = "8h"
drain = "9s"
shutdown = "3s"

[server]
listen = "localhost:${PORT}"
allowed_hosts = ["gatefold.example"]
allowed_origins = ["https://console.example"]
trusted_proxies = ["10.0.0.0/8"]
tls = { cert = "/tls/cert.pem", key = "/tls/key.pem" }

[state]
dir = "~/state"

[audit]
durability = "disk"
retention = "90d"
records = 5000
"#;

/// The text without the digits of digests: other tests check what changes them.
fn without_digests(text: &str) -> String {
    let is_digest = |line: &&str| !line.trim_start().starts_with("config_digest:");
    text.lines().filter(is_digest).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_provider_takes_the_place_of_passwords_unless_both_are_wanted() {
    let server = "[server]\nauthentication = 'token'\npublic_url = 'https://tools.example'\n";
    let listed = "[[server.issuers]]\nissuer = 'https://id.example/staff'\n";
    let ann = "[users.ann]\nsubject = '00u1'\n";
    let sign_in = |more: &str| {
        let provider = "issuer = 'https://id.example/staff', client_id = 'a', client_secret = 'b'";
        let sign_in = format!("[server.sign_in]\nprovider = {{ {provider} }}\n{more}");
        // The same issuer twice is one that people may be known to.
        let config = toml(&format!("{server}{sign_in}{listed}{ann}")).unwrap();
        let subject = config.users[&UserId::new("ann")].subject.clone().unwrap();
        assert_eq!((&*subject.issuer, &*subject.subject), ("https://id.example/staff", "00u1"));
        config.server.sign_in.unwrap()
    };
    let own = sign_in("");
    assert!(!own.password);
    let provider = own.provider.unwrap();
    assert_eq!((&*provider.name, &*provider.groups_claim), ("id.example", "groups"));
    assert!(provider.scopes.is_empty());
    assert!(sign_in("password = true\n").password);
    let alone = toml(&format!("{server}sign_in = {{ registration = true }}\n")).unwrap();
    let alone = alone.server.sign_in.unwrap();
    assert!(alone.password && alone.provider.is_none());
}

#[test]
fn a_pattern_concerns_everything_unless_it_says_what() {
    use gatefold_core::EntryKind::{Prompt, Resource, Tool};
    use gatefold_policy::Entries::{Every, Only};
    for (written, entries, pattern) in [
        ("get_*", Every, "get_*"),
        ("tool:get_*", Only(Tool), "get_*"),
        ("prompt:review", Only(Prompt), "review"),
        ("resource:file:///*", Only(Resource), "file:///*"),
        ("file:///*", Every, "file:///*"),
        ("Tool:x", Every, "Tool:x"),
        ("prompt:tool:x", Only(Prompt), "tool:x"),
    ] {
        let text = format!(
            "[policy]\nallow = ['{written}']\n\
             [sources.a]\ncommand = 'x'\ndeny = ['{written}']"
        );
        let policy = toml(&text).unwrap().policy;
        let rules: Vec<_> = policy.rules().iter().collect();
        assert_eq!(rules.len(), 2, "{written}");
        for (rule, path) in rules.into_iter().zip(["policy.allow", "sources.a.deny"]) {
            assert_eq!((rule.entries, rule.pattern.as_str()), (entries, pattern), "{written}");
            assert_eq!(rule.id.as_str(), format!("{path}:{written}"));
        }
    }
}

#[test]
fn writes_is_a_word_for_all_that_may_change_something_and_in_a_list_a_pattern() {
    use gatefold_policy::Entries::{Every, Writes};
    for (written, id, entries, pattern) in [
        ("'writes'", "writes", Writes, "*"),
        ("'${NONE:-writes}'", "writes", Writes, "*"),
        ("['writes']", "writes", Every, "writes"),
        ("['delete_*']", "delete_*", Every, "delete_*"),
    ] {
        let keys = format!("ask = {written}\n");
        let text = format!("[policy]\n{keys}[sources.a]\ncommand = 'x'\n{keys}");
        let policy = toml(&text).unwrap().policy;
        assert_eq!(policy.rules().len(), 2, "{written}");
        for (rule, path) in policy.rules().iter().zip(["policy", "sources.a"]) {
            assert_eq!((rule.effect, rule.entries), (Effect::Ask, entries), "{written}");
            assert_eq!(rule.pattern.as_str(), pattern, "{written}");
            assert_eq!(rule.id.as_str(), format!("{path}.ask:{id}"));
        }
    }
    assert!(toml("[policy]\nask = []").unwrap().policy.rules().is_empty());
}

#[test]
fn private_networks_are_allowed_for_one_source() {
    let source = |key: &str| {
        let config = toml(&format!("[sources.a]\nurl = 'http://mcp.internal/'\n{key}")).unwrap();
        config.sources.into_iter().next().unwrap()
    };
    let plain = source("");
    for (written, shown) in [
        ("true", json!(true)),
        ("['10.0.0.0/8', 'fd00::/8']", json!(["10.0.0.0/8", "fd00::/8"])),
        ("['10.0.0.5', '${NONE:-::1}']", json!(["10.0.0.5/32", "::1/128"])),
    ] {
        let allowed = source(&format!("allow_private = {written}"));
        assert_eq!(allowed.section.usable().unwrap().shown()["allow_private"], shown);
        assert_ne!(allowed.config_digest, plain.config_digest, "{written}");
    }
    // A source that said nothing before there was the key is still the same.
    let denied = source("allow_private = false");
    assert_eq!(denied.config_digest, plain.config_digest);
    assert!(denied.section.usable().unwrap().shown().get("allow_private").is_none());
}

#[test]
fn how_records_are_kept_is_taken() {
    let audit = toml(EVERYTHING).unwrap().audit;
    assert_eq!(audit.durability, Durability::Disk);
    assert_eq!(audit.retention.age, Duration::from_hours(90 * 24));
    assert_eq!(audit.retention.rows, 5000);
}

#[test]
fn nothing_that_may_be_secret_shows_in_debug_output() {
    let text = format!("{:?}", toml(EVERYTHING).unwrap());
    assert!(!text.contains("s3cret"), "{text}");
}

#[test]
fn the_digest_changes_with_the_connection_and_with_nothing_else() {
    let digest =
        |text: &str| toml(&format!("[sources.a]\n{text}")).unwrap().sources[0].config_digest;
    let base = digest("command = 'x'\nargs = ['a', 'b']");
    for same in [
        "args = ['a', '${NONE:-b}']\ncommand = 'x'",
        "command = 'x'\nargs = ['a', 'b']\ndescription = 'd'\nallow = ['*']\nidle_stop = '1s'",
        "command = 'x'\nargs = ['a', 'b']\nera = 'auto'",
    ] {
        assert_eq!(digest(same), base, "{same}");
    }
    for other in [
        "command = 'x'\nargs = ['ab']",
        "command = 'xa'\nargs = ['b']",
        "command = 'x'\nargs = ['a', 'b']\nenv = { A = '1' }",
        "command = 'x'\nargs = ['a', 'b']\ninherit_env = ['A']",
        "command = 'x'\nargs = ['a', 'b']\ncwd = '/'",
        "command = 'x'\nargs = ['a', 'b']\ndomain = 'b'",
        "command = 'x'\nargs = ['a', 'b']\nenabled = false",
        "command = 'x'\nargs = ['a', 'b']\nera = 'handshake'",
        "url = 'http://x'",
    ] {
        assert_ne!(digest(other), base, "{other}");
    }
    let header = |value| digest(&format!("url = 'http://x'\nheaders = {{ A = '{value}' }}"));
    assert_eq!(header("${TOKEN}"), header("s3cret"));
    assert_ne!(header("${TOKEN}"), header("other"));
}

#[test]
fn a_domain_that_is_given_wins_and_one_that_is_made_takes_a_number() {
    let text = "sources.git-hub.command = 'x'\nsources.GitHub.command = 'x'\n\
                sources.git_hub.command = 'x'\n\
                sources.z = { command = 'x', domain = 'github' }";
    let config = toml(text).unwrap();
    let domains: Vec<_> = config.sources.iter().map(|source| source.domain.as_str()).collect();
    assert_eq!(domains, ["git_hub", "github_2", "git_hub_2", "github"]);
}

#[test]
fn sources_of_all_files_stand_together_in_the_order_of_the_files() {
    let scratch = Scratch::new();
    scratch.write("gatefold.toml", "[sources.time]\ncommand = 'a'\n[limits]\nidle_stop = '1s'");
    scratch.write("one.json", r#"{"mcpServers": {"Time": {"command": "b"}}}"#);
    scratch.write("two.json", r#"{"servers": {"time": {"url": "http://h"}}}"#);
    let inputs = Inputs {
        config: Some("gatefold.toml".into()),
        mcp_configs: vec!["one.json".into(), "two.json".into()],
        ..Inputs::default()
    };
    let config = scratch.load(&inputs).unwrap();
    let found: Vec<_> = config
        .sources
        .iter()
        .map(|source| {
            let file = source.origin.file.to_string_lossy().into_owned();
            (source.domain.as_str().to_owned(), file, source.origin.line, source.idle_stop)
        })
        .collect();
    let stop = Duration::from_secs(1);
    assert_eq!(
        found,
        [
            ("time".to_owned(), "gatefold.toml".to_owned(), 1, stop),
            ("time_2".to_owned(), "one.json".to_owned(), 1, stop),
            ("time_3".to_owned(), "two.json".to_owned(), 1, stop),
        ]
    );
    assert_eq!(config.files.len(), 3);
}

#[test]
fn a_path_is_relative_to_the_file_that_names_it() {
    let scratch = Scratch::new();
    std::fs::create_dir(scratch.path().join("conf")).unwrap();
    scratch.write(
        "conf/gatefold.toml",
        "[sources.a]\ncommand = './x'\ncwd = '../data'\n[state]\ndir = 's'",
    );
    let inputs = Inputs { config: Some("conf/gatefold.toml".into()), ..Inputs::default() };
    let config = scratch.load(&inputs).unwrap();
    let program = config.sources[0].section.need().and_then(Need::program).unwrap();
    assert_eq!(program.cwd, Some(scratch.path().join("conf/../data").as_path()));
    assert_eq!(config.state_dir, Some(scratch.path().join("conf/s")));
}

#[test]
fn an_encoder_is_built_in_or_in_files_or_there_is_none() {
    let scratch = Scratch::new();
    let inputs = Inputs { config: Some("gatefold.toml".into()), ..Inputs::default() };
    let read =
        |text: &str| scratch.write("gatefold.toml", text).load(&inputs).unwrap().search.encoder;
    let files = |path: &str| Some(ModelPlace::Files(scratch.path().join(path)));
    assert_eq!(read("[search]\nencoder = 'builtin'"), Some(ModelPlace::Builtin));
    assert_eq!(read("[search]\nencoder = 'none'"), None);
    assert_eq!(read("[search]\nencoder = 'models/own'"), files("models/own"));
    assert_eq!(read("[search]\nencoder = './builtin'"), files("./builtin"));
    assert_eq!(read("search.encoder = '${KIND:-none}'"), None);
    assert_eq!(read("[search]\nlearn = true"), ModelPlace::builtin(), "the default");
}

#[test]
fn the_nearest_configuration_is_found() {
    let scratch = Scratch::new();
    let home = scratch.path().join("home");
    let config = home.join(".config/gatefold/gatefold.toml");
    std::fs::create_dir_all(config.parent().unwrap()).unwrap();
    std::fs::write(&config, "").unwrap();
    let environment = Environment::new([("HOME", home.to_str().unwrap())], scratch.path());
    let located = || Inputs::default().located(&environment).unwrap().config;
    assert_eq!(located(), Some(config));
    scratch.write("gatefold.toml", "");
    assert_eq!(located(), Some(PathBuf::from("gatefold.toml")));
}

#[test]
fn state_lies_in_the_users_state_directory_unless_somebody_chooses() {
    let home = ("HOME", "/home/ann");
    for (variables, expected) in [
        ([home, ("X", "")], "/home/ann/.local/state/gatefold"),
        ([home, ("XDG_STATE_HOME", "/xdg")], "/xdg/gatefold"),
        ([home, ("XDG_STATE_HOME", "x")], "/home/ann/.local/state/gatefold"),
    ] {
        let environment = Environment::new(variables, "/project");
        assert_eq!(default_state_dir(&environment).unwrap(), Path::new(expected));
    }
    assert!(default_state_dir(&Environment::new([], "/project")).is_err());
}

#[test]
fn an_exception_is_to_the_list_of_its_own_section() {
    let file = "
        [policy]
        ask = 'writes'
        ask_unless = ['mail__create_draft', 'prompt:*']

        [sources.mail]
        url = 'https://mail.example.com'
        allow = ['*']
        deny = ['delete_*']
        deny_unless = ['delete_draft']
    ";
    let config = toml(file).unwrap();
    let exceptions: Vec<_> = config
        .policy
        .rules()
        .iter()
        .map(|rule| {
            let unless = rule.unless.iter().map(|own| (own.kind, own.name.as_str().to_owned()));
            (rule.id.to_string(), unless.collect::<Vec<_>>())
        })
        .collect();
    let draft = |name: &str| (None, name.to_owned());
    let prompts = (Some(gatefold_core::EntryKind::Prompt), "*".to_owned());
    assert_eq!(
        exceptions,
        [
            ("policy.ask:writes".to_owned(), vec![draft("mail__create_draft"), prompts]),
            ("sources.mail.allow:*".to_owned(), Vec::new()),
            ("sources.mail.deny:delete_*".to_owned(), vec![draft("delete_draft")]),
        ]
    );
}
