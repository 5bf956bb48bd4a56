use super::*;

/// Made-up keys of the looks that services give theirs.
const HEX: &str = "9f8a7b6c5d4e3f2a1b0c9d8e7f6a5b4c";
const BASE64: &str = "q8Zt/3xWm+Yb7Kc1Lr9sPvTn2Df5Gh6J";

/// Names, values, and whether the latter are secret.
const VARIABLES: &[(&str, &str, bool)] = &[
    // Named as a secret.
    ("GITHUB_TOKEN", "abc", true),
    ("OPENAI_API_KEY", "x", true),
    ("openaiApiKey", "x", true),
    ("DB_PASS", "hunter2", true),
    ("DB_PASSWORD", "12345", true),
    ("PIN", "1234", true),
    ("DBPASSWORD", "x", true),
    ("API_TOKENS", "abc,def", true),
    ("SLACK_WEBHOOK_URL", "https://hooks.example/x", true),
    ("MY_AUTH", "ann", true),
    ("TOKEN", "${X:-hunter2}", true),
    ("X", "${MY_TOKEN:-hunter2}", true),
    ("PASSWORD", "abc${SUFFIX}", true),
    ("API_KEY", "!!!", true),
    // Shaped as one.
    ("X", "ghp_0123456789abcdef", true),
    ("X", "Bearer abc", true),
    ("HEADER", "Authorization: Bearer abc", true),
    ("X", "Basic YW5uOnB3", true),
    ("X", HEX, true),
    ("X", BASE64, true),
    ("X", "YW5uOmh1bnRlcjI9PT0=", true),
    ("ANYTHING", "kJxQzPwRtYmNbVcXaSdF", true),
    ("REF", "550e8400-e29b-41d4-a716-446655440000", true),
    ("CERT", "-----BEGIN PRIVATE KEY-----\nMIIB\n-----END PRIVATE KEY-----", true),
    ("ODD", "p@ss!word", true),
    ("LOGIN", "ann:hunter", true),
    ("MAIL", "ann@home.example", true),
    ("X", "${LEVEL:-sk-ant-api03-abcdef}", true),
    // With one inside.
    ("DATABASE_URL", "postgres://ann:pw@db/app", true),
    ("DATABASE_URL", "postgres://ann:p/w@db/app", true),
    ("DATABASE_URL", "postgres://ann:pw@${HOST}/app", true),
    ("REPO_URL", "https://abc@git.example/x", true),
    ("ENDPOINT", "https://h.example/mcp?api_key=k1", true),
    ("ENDPOINT", "https://h.example/mcp?code=k1", true),
    ("ENDPOINT_URL", "https://h.example/mcp?v=9f8a7b6c5d4e3f2a1b0c9d8e7f6a5b4c", true),
    ("ENDPOINT_URL", "https://h.example/#access_token=k1", true),
    ("OPENAPI_MCP_HEADERS", r#"{"Authorization":"Bearer abc"}"#, true),
    ("HEADERS", r#"{"X-Api-Key": "abc"}"#, true),
    ("CONFIG", r#"[{"nested": {"password": "abc"}}]"#, true),
    ("DB", "Server=db;Database=app;User Id=ann;Password=hunter2", true),
    ("DB", "Host=db; Pwd=hun ter2", true),
    ("OPTIONS", "-Dtoken=abc -Xmx1g", true),
    // References.
    ("GITHUB_TOKEN", "${GITHUB_TOKEN}", false),
    ("AUTHORIZATION", "Bearer ${TOKEN}", false),
    ("HUBSPOT", "pat-na1-11112222-3333-4444-5555-666677778888", true),
    ("DB_PW", "hunter", true),
    ("API_KEY", "value: ${TOKEN}", false),
    ("API_KEY", "value: hunter2", true),
    ("BASIC_AUTH", "${USER}:${PASSWORD}", false),
    ("DATABASE_URL", "postgres://ann:${PW}@db/app", false),
    ("REGION", "${REGION:-eu}", false),
    ("HEADERS", r#"{"Authorization":"Bearer ${TOKEN}"}"#, false),
    // Not secret, though the names have such words.
    ("GITHUB_TOKEN", "", false),
    ("USE_AUTH", "true", false),
    ("MAX_TOKENS", "4096", false),
    ("TOKEN_LIMIT", "4096", false),
    ("SESSION_TIMEOUT", "30", false),
    ("TOKEN_FILE", "/run/secrets/token", false),
    ("PASSWORD_PATH", "./secrets/pw", false),
    ("CREDENTIALS_DIR", "~/creds", false),
    ("GOOGLE_APPLICATION_CREDENTIALS", "/home/ann/keys/app.json", false),
    ("SSH_AUTH_SOCK", "/run/user/1000/keyring/ssh", false),
    ("TOKEN_URL", "https://id.example/oauth/token", false),
    ("AUTH_TYPE", "oauth2", false),
    ("SECRET_NAME", "prod-db", false),
    ("KEY_VERSION", "2", false),
    ("AUTHOR", "Ann", false),
    ("TOKENIZER", "cl100k", false),
    ("MONKEY_NAME", "rhesus", false),
    ("PWD", "/home/x", false),
    ("AZURE_CLIENT_ID", "550e8400-e29b-41d4-a716-446655440000", false),
    // Plain values of other names.
    ("MODEL", "claude-sonnet-4-20250514", false),
    ("MODEL", "Qwen2.5-Coder-32B-Instruct", false),
    ("LOG_LEVEL", "debug", false),
    ("LANG", "en_US.UTF-8", false),
    ("REGION", "eu-west-1", false),
    ("VERSION", "1.2.3-beta.4", false),
    ("TIMEOUT", "30s", false),
    ("RATIO", "-0.75", false),
    ("LISTEN", "127.0.0.1:8080", false),
    ("TOOLSETS", "repos,issues,pull_requests", false),
    ("TITLE", "Notes of the team", false),
    ("HOME_DIR", "/home/ann/Documents and more", false),
    ("PATH", "/usr/local/bin:/usr/bin:/bin", false),
    ("MEMORY", "C:\\Program Files\\memory.json", false),
    ("PACKAGE", "mcp-server-filesystem-extended", false),
    ("URL", "https://docs.example/path?page=2&lang=en", false),
    ("NODE_OPTIONS", "--max-old-space-size=4096", false),
    ("SETTINGS", r#"{"level": "debug", "limit": 3, "on": true}"#, false),
];

#[test]
fn a_variable_is_secret_unless_it_is_plainly_not() {
    let is_wrong =
        |(name, value, expected): &&(&str, &str, bool)| is_secret(name, value) != *expected;
    let wrong: Vec<_> = VARIABLES.iter().filter(is_wrong).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_text_for_people_shows_its_secrets() {
    for (text, expected) in [
        ("Reads pages, and basic usage is free", false),
        ("Needs a bearer token from the settings page", false),
        ("Searches https://docs.example/guide for terms", false),
        ("use token=hunter2 to log in", true),
        ("key ghp_0123456789abcdef", true),
        ("Call with Bearer aB3dE5", true),
        ("See https://abc@h.example", true),
    ] {
        assert_eq!(has_secret(text), expected, "{text}");
    }
}

#[test]
fn a_text_that_is_too_long_to_search_is_a_secret() {
    let long = "key:$".repeat(1024 * 1024);
    assert!(is_secret("X", &long) && has_secret(&long));
    assert_eq!(taken("x", &[&long]).0, ["${MY_DB_SECRET}"]);
}

#[test]
fn a_secret_in_a_command_is_seen() {
    for (command, expected) in [
        ("npx", false),
        ("/opt/tools/notes server", false),
        ("C:\\Program Files\\Tools\\tool mcp.exe", false),
        ("/nix/store/0c1fxyz9ab8qk2mh4v6w7p5d3s1r0n8l-node-20/bin/node", false),
        ("node server.js --port 80", false),
        ("TOKEN=abc node server.js", true),
        ("docker run -e X=p@ss! image", true),
        ("mcp --api-key abc", true),
        ("mcp Bearer abc1", true),
    ] {
        assert_eq!(has_secret_command(command), expected, "{command}");
    }
}

/// What becomes of arguments, and what is taken out of them as `NAME=value`.
fn taken(command: &str, args: &[&str]) -> (Vec<String>, Vec<String>) {
    let mut connection = McpConnection::Stdio {
        command: command.into(),
        args: args.iter().map(|arg| (*arg).to_owned()).collect(),
        env: Vec::new(),
        inherit_env: Vec::new(),
        cwd: None,
    };
    let mut secrets = Vec::new();
    take_out(&mut connection, "my db", |name, value| {
        secrets.push(format!("{name}={value}"));
        format!("${{{name}}}")
    });
    let McpConnection::Stdio { args, .. } = connection else { panic!() };
    (args, secrets)
}

/// Arguments, and what is left of them.
const ARGUMENTS: &[(&[&str], &[&str])] = &[
    (&["--api-key=abc"], &["--api-key=${MY_DB_API_KEY}"]),
    (&["--token", "t0p", "--verbose"], &["--token", "${MY_DB_TOKEN}", "--verbose"]),
    (&["--token", "-abc1"], &["--token", "${MY_DB_TOKEN}"]),
    (&["--auth", "--verbose"], &["--auth", "--verbose"]),
    (&["-e", "DB_PASSWORD=x"], &["-e", "DB_PASSWORD=${DB_PASSWORD}"]),
    (&["-e", "X=p@ss!"], &["-e", "X=${MY_DB_X}"]),
    (&["-eX=p@ss!"], &["-eX=${MY_DB_X}"]),
    (&["--env=K_TOKEN=S"], &["--env=K_TOKEN=${K_TOKEN}"]),
    (&["--env=PW=hunter"], &["--env=PW=${MY_DB_PW}"]),
    (&["--env", "PW=hunter"], &["--env", "PW=${MY_DB_PW}"]),
    (&["--env", "LOG=debug"], &["--env", "LOG=debug"]),
    (&["-e", "GITHUB_TOKEN"], &["-e", "GITHUB_TOKEN"]),
    (
        &["--header", "Authorization: Bearer z"],
        &["--header", "Authorization: Bearer ${MY_DB_AUTHORIZATION}"],
    ),
    (
        &["--header=Authorization:Bearer z"],
        &["--header=Authorization:Bearer ${MY_DB_AUTHORIZATION}"],
    ),
    (&["-H", "X-Key: z"], &["-H", "X-Key: ${MY_DB_X_KEY}"]),
    (&["-H", "X-Region: eu"], &["-H", "X-Region: eu"]),
    (&["-HCookie: a=b"], &["-HCookie: ${MY_DB_COOKIE}"]),
    (&["--header", "Authorization: Bearer ${T}"], &["--header", "Authorization: Bearer ${T}"]),
    (&["postgres://a:b@h/d"], &["postgres://a:${MY_DB_PASSWORD}@h/d"]),
    (&["https://abc@h.example/x"], &["https://${MY_DB_TOKEN}@h.example/x"]),
    (&["https://h.example/mcp?code=k&v=2"], &["https://h.example/mcp?code=${MY_DB_CODE}&v=2"]),
    (&["-p", "hunter2!"], &["-p", "${MY_DB_PASSWORD}"]),
    (&["-p", "hunter2"], &["-p", "${MY_DB_PASSWORD}"]),
    (&["-p", "8080:80"], &["-p", "8080:80"]),
    (&["-p", "tsconfig.json"], &["-p", "tsconfig.json"]),
    (&["-u", "a:S"], &["-u", "a:${MY_DB_PASSWORD}"]),
    (&["-u", "1000:1000"], &["-u", "1000:1000"]),
    (&["-u", "ann"], &["-u", "ann"]),
    (&["--key", "${KEY}"], &["--key", "${KEY}"]),
    (&["--key", "${KEY:-S}"], &["--key", "${KEY}"]),
    (&["${API_KEY:-S}"], &["${API_KEY}"]),
    (&["--level", "${LEVEL:-info}"], &["--level", "${LEVEL:-info}"]),
    (
        &["-c", "cd /srv && TOKEN=S exec node x.js"],
        &["-c", "cd /srv && TOKEN=${MY_DB_TOKEN} exec node x.js"],
    ),
    (&["-c", "export A_TOKEN='a b'; x"], &["-c", "export A_TOKEN='${A_TOKEN}'; x"]),
    (
        &["-c", "curl -H 'Authorization: Bearer S1' h"],
        &["-c", "curl -H 'Authorization: Bearer ${MY_DB_AUTHORIZATION}' h"],
    ),
    (&["-c", "curl -u ann:hunter2 h"], &["-c", "curl -u ann:${MY_DB_PASSWORD} h"]),
    (
        &["-c", "mcp --api-key S1 --level info"],
        &["-c", "mcp --api-key ${MY_DB_API_KEY} --level info"],
    ),
    (&["-c", "mcp --token $TOKEN"], &["-c", "mcp --token $TOKEN"]),
    (&["--set=auth.token=S"], &["--set=auth.token=${MY_DB_AUTH_TOKEN}"]),
    (
        &["--url=https://h.example/mcp?api_key=S"],
        &["--url=https://h.example/mcp?api_key=${API_KEY}"],
    ),
    (&["--private-key", "-----BEGIN KEY-----\nMIIB"], &["--private-key", "${MY_DB_PRIVATE_KEY}"]),
    (&["-----BEGIN KEY-----\nMIIB"], &["${MY_DB_PRIVATE_KEY}"]),
    (
        &["mongodb+srv://u:p%40@h/db?w=majority"],
        &["mongodb+srv://u:${MY_DB_PASSWORD}@h/db?w=majority"],
    ),
    (&["--token:S"], &["--token:${MY_DB_TOKEN}"]),
    (&["-c", "TOKEN=$(cat f) x"], &["-c", "TOKEN=$(cat f) x"]),
    (
        &["--config", r#"{"apiKey":"S","level":"info"}"#],
        &["--config", r#"{"apiKey":"${MY_DB_APIKEY}","level":"info"}"#],
    ),
    (&["Server=db;Password=a b;X=1"], &["Server=db;Password=${MY_DB_PASSWORD};X=1"]),
    (&["--dsn", "Server=db;Password=a b;X=1"], &["--dsn", "${MY_DB_DSN}"]),
    (
        &["--connect", "Server=db;Password=a b;X=1"],
        &["--connect", "Server=db;Password=${MY_DB_PASSWORD};X=1"],
    ),
    (&["--data", "sk-ant-api03-abcdef"], &["--data", "${MY_DB_SECRET}"]),
    (&["--data", BASE64], &["--data", "${MY_DB_SECRET}"]),
    (&[HEX], &["${MY_DB_SECRET}"]),
    (
        &["--client-id=550e8400-e29b-41d4-a716-446655440000"],
        &["--client-id=550e8400-e29b-41d4-a716-446655440000"],
    ),
    (
        &["-y", "@scope/server-files@1.2.3", "/srv/data"],
        &["-y", "@scope/server-files@1.2.3", "/srv/data"],
    ),
    (
        &["run", "-i", "--rm", "ghcr.io/org/img@sha256:0a1b2c3d4e5f6a7b8c9d0e1f2a3b4c5d"],
        &["run", "-i", "--rm", "ghcr.io/org/img@sha256:0a1b2c3d4e5f6a7b8c9d0e1f2a3b4c5d"],
    ),
    (
        &["--from", "git+https://git.example/a/b@0a1b2c3d4e5f6a7b8c9d0e1f2a3b4c5d6e7f8a9b"],
        &["--from", "git+https://git.example/a/b@0a1b2c3d4e5f6a7b8c9d0e1f2a3b4c5d6e7f8a9b"],
    ),
    (&["--model", "claude-sonnet-4-20250514"], &["--model", "claude-sonnet-4-20250514"]),
    (
        &["mcp-remote", "https://h.example/sse", "8080"],
        &["mcp-remote", "https://h.example/sse", "8080"],
    ),
    (
        &["C:\\mcp servers\\run.js", "--root", "C:\\src"],
        &["C:\\mcp servers\\run.js", "--root", "C:\\src"],
    ),
];

#[test]
fn secrets_leave_arguments_and_the_rest_stays() {
    let left = ARGUMENTS.iter().map(|(args, expected)| (args, expected, taken("docker", args).0));
    let wrong: Vec<_> = left.filter(|(_, expected, left)| left != *expected).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    for (args, expected) in [
        (&["-y", "-p", "some-package", "x"][..], &["-y", "-p", "some-package", "x"][..]),
        (&["-y", "x", "-p", "hunter2"], &["-y", "x", "-p", "${MY_DB_PASSWORD}"]),
    ] {
        assert_eq!(taken("npx", args).0, expected, "{args:?}");
    }
}

#[test]
fn a_secret_is_kept_as_its_program_gets_it() {
    let (args, secrets) = taken("x", &["--token", "a$${b}", "-e", "DB_URL=postgres://a:p@${H}/d"]);
    assert_eq!(args, ["--token", "${MY_DB_TOKEN}", "-e", "DB_URL=postgres://a:${DB_URL}@${H}/d"]);
    assert_eq!(secrets, ["MY_DB_TOKEN=a${b}", "DB_URL=p"]);
}

#[test]
fn secrets_leave_addresses_and_headers() {
    for (url, name, value, expected_url, expected) in [
        (
            "https://h/mcp",
            "Authorization",
            "Bearer S",
            "https://h/mcp",
            "Bearer ${K_AUTHORIZATION}",
        ),
        ("https://h/mcp", "X-Region", "eu", "https://h/mcp", "eu"),
        (
            "https://h/mcp",
            "Accept",
            "application/json, text/event-stream",
            "https://h/mcp",
            "application/json, text/event-stream",
        ),
        ("https://h/mcp", "X-Client", "p@ss!", "https://h/mcp", "${K_X_CLIENT}"),
        (
            "https://h/mcp?code=S",
            "X-Region",
            "${R:-eu}",
            "https://h/mcp?code=${K_CODE}",
            "${R:-eu}",
        ),
        ("https://S@h/mcp", "A", "b", "https://${K_TOKEN}@h/mcp", "b"),
        ("https://h/s/9f8a7b6c5d4e3f2a1b0c9d8e/mcp", "A", "b", "https://h/s/${K_KEY}/mcp", "b"),
        ("https://h/mcp?page=2", "Cookie", "a=b", "https://h/mcp?page=2", "${K_COOKIE}"),
        ("${BASE:-https://h.example}/mcp", "A", "b", "${BASE:-https://h.example}/mcp", "b"),
    ] {
        let headers = vec![(name.to_owned(), Secret::new(value))];
        let mut connection = McpConnection::Http { url: url.to_owned(), headers };
        take_out(&mut connection, "k", |name, _| format!("${{{name}}}"));
        let McpConnection::Http { url: taken_url, headers } = connection else { panic!() };
        assert_eq!(
            (taken_url.as_str(), headers[0].1.expose()),
            (expected_url, expected),
            "{url} {name}"
        );
    }
}
