//! Secrets of APIs: planted in every place that takes one, repeated by the API in every way, and looked
//! for in all that leaves the process.

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::{Arc, Mutex};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures::future::join_all;
use gatefold_testkit::RawClient;
use rcgen::{CertificateParams, KeyPair};
use serde_json::{Value, json};

use crate::process::{Gateway, LIMIT, command, ended};
use crate::scratch::Scratch;

use crate::raw_api::{RawApi, RawRequest, answer};

/// Every place that takes a secret. `SECRET` stands for it, `API` for where the API is.
const PLACES: [(&str, &str); 15] = [
    ("bearer", "base_url = 'API'\nauth = { bearer = 'SECRET' }"),
    ("basic", "base_url = 'API'\nauth = { basic = { username = 'me', password = 'SECRET' } }"),
    ("key_header", "base_url = 'API'\nauth = { api_key = 'SECRET', in = 'header', name = 'X-K' }"),
    ("key_query", "base_url = 'API'\nauth = { api_key = 'SECRET', in = 'query', name = 'q' }"),
    ("key_cookie", "base_url = 'API'\nauth = { api_key = 'SECRET', in = 'cookie', name = 'c' }"),
    ("headers", "base_url = 'API'\nheaders = { X-Team = 'SECRET' }"),
    ("userinfo", "base_url = 'http://me:SECRET@HOST'"),
    ("folder", "base_url = 'API/hooks/SECRET/v1'"),
    (
        "certificate",
        "base_url = 'API'\nauth = { tls = { cert = 'client.pem', key = 'client.key' } }",
    ),
    (
        "account",
        "base_url = 'API'\nauth = { client_credentials = { token_url = 'API/token', client_id = 'me', client_secret = 'SECRET' } }",
    ),
    (
        "account_json",
        "base_url = 'API'\nauth = { client_credentials = { token_url = 'API/token_refused', client_id = 'me', client_secret = 'SECRET' } }",
    ),
    (
        "account_html",
        "base_url = 'API'\nauth = { client_credentials = { token_url = 'API/500_html', client_id = 'me', client_secret = 'SECRET' } }",
    ),
    (
        "account_url",
        "base_url = 'API'\nauth = { client_credentials = { token_url = 'API/500?api_key=SECRET', client_id = 'me', client_secret = 'SECRET' } }",
    ),
    ("refused", "base_url = 'http://me:SECRET@127.0.0.1:1'\nauth = { bearer = 'SECRET' }"),
    ("untrusted", "base_url = 'https://me:SECRET@HOST'\nauth = { bearer = 'SECRET' }"),
];

/// Places in the address of a description.
const DESCRIBED: [(&str, &str); 4] = [
    ("described", "openapi = 'API/openapi.json?api_key=SECRET'\nauth = { bearer = 'SECRET' }"),
    ("described_user", "openapi = 'http://me:SECRET@HOST/openapi.json'"),
    ("undescribed", "openapi = 'API/500?api_key=SECRET'"),
    ("misdescribed", "openapi = 'API/bad_json?api_key=SECRET'"),
];

/// What the API does, by the path that asks for it.
const DEEDS: [&str; 22] = [
    "200",
    "200_text",
    "head",
    "201_location",
    "link",
    "filename",
    "image",
    "401",
    "403",
    "404",
    "429",
    "500",
    "500_html",
    "redirect",
    "redirect_home",
    "redirect_file",
    "bad_json",
    "large",
    "cut",
    "malformed_gzip",
    "extract",
    "silent",
];

/// The secret of a source. Those in addresses have only what may stand there.
fn secret(name: &str) -> String {
    match name {
        "userinfo" | "folder" | "refused" | "untrusted" | "described" | "described_user"
        | "undescribed" | "misdescribed" | "account_url" => format!("s3cr3t-{name}-Zq8W4xTt"),
        "bearer" | "basic" | "account" => format!("s3cr3t/{name}+9=%q\"\\&8W4x"),
        _ => format!("s3cr3t/{name}+9=%q&8W4x"),
    }
}

const TOKEN: &str = "t0k3n/fetched+9=%q8W4x";

/// A text as an API may repeat it.
fn repeated(text: &str) -> Value {
    let percent = encoded(text, |_| false);
    let query = url_encoded(text);
    let escaped: Vec<_> = text.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect();
    let escaped = escaped.concat();
    json!({
        "message": text,
        "base64": STANDARD.encode(text),
        "percent": percent,
        "query": query,
        "within": json!({ "text": text }).to_string(),
        "items": [{ "deep": text.lines().collect::<Vec<_>>() }],
        "escaped": format!("ESCAPED{escaped}"),
    })
}

fn url_encoded(text: &str) -> String {
    encoded(text, |byte| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte))
}

/// A text with percent-encoding for all bytes that are not kept.
fn encoded(text: &str, is_kept: fn(u8) -> bool) -> String {
    let mut encoded = String::new();
    for byte in text.bytes() {
        if is_kept(byte) {
            encoded.push(char::from(byte));
        } else {
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}

fn deed(request: &RawRequest) -> Option<Vec<u8>> {
    let said = request.text();
    // One text has escapes for every character: it is still the same JSON.
    let json = repeated(&said).to_string().replace("ESCAPED\\\\u", "\\u").replace("\\\\u", "\\u");
    let lines = said.replace(['\r', '\n'], " ");
    let typed = "content-type: application/json\r\n";
    let html =
        format!("<html><body><p>{said}</p><pre>{}</pre></body></html>", STANDARD.encode(&said));
    Some(match request.path().rsplit('/').next()? {
        "200" | "extract" => answer("200 OK", typed, &json),
        "200_text" => answer("200 OK", "content-type: text/plain\r\n", &json),
        "head" => answer(
            "200 OK",
            &format!("x-echo: {lines}\r\nwww-echo: {}\r\n", STANDARD.encode(&lines)),
            "",
        ),
        "201_location" => {
            answer("201 Created", &format!("location: /x?echo={}\r\n", url_encoded(&lines)), "")
        }
        "link" => {
            let link = format!(
                "{typed}link: </n?e={}>; rel=\"next\"\r\nx-ratelimit-remaining: 0\r\n",
                url_encoded(&lines)
            );
            answer("200 OK", &link, "[]")
        }
        "filename" => {
            let disposition = format!(
                "content-disposition: attachment; filename*=UTF-8''{}\r\n",
                url_encoded(&lines)
            );
            answer("200 OK", &(disposition + "content-type: application/pdf\r\n"), &said)
        }
        "image" => answer("200 OK", "content-type: image/png\r\n", &said),
        "401" => answer(
            "401 Unauthorized",
            &format!("{typed}www-authenticate: Bearer realm=\"{lines}\"\r\n"),
            &json,
        ),
        "403" => answer("403 Forbidden", typed, &json),
        "404" => answer("404 Not Found", "content-type: text/plain\r\n", &said),
        "429" => answer("429 Too Many Requests", &format!("{typed}retry-after: 99\r\n"), &json),
        "500" => answer("500 Internal Server Error", typed, &json),
        "500_html" => answer("500 Internal Server Error", "content-type: text/html\r\n", &html),
        // An address inside that nothing may follow, and one that is followed.
        "redirect" => answer(
            "302 Found",
            &format!("location: http://169.254.169.254/?e={}\r\n", url_encoded(&lines)),
            "",
        ),
        "redirect_home" => {
            answer("302 Found", &format!("location: /500?e={}\r\n", url_encoded(&lines)), "")
        }
        "redirect_file" => {
            answer("302 Found", &format!("location: file:///{}\r\n", url_encoded(&lines)), "")
        }
        "bad_json" => answer("200 OK", typed, &json[..json.len() - 1]),
        "large" => answer("200 OK", typed, &json.repeat(200)),
        "cut" => {
            format!("HTTP/1.1 200 OK\r\n{typed}content-length: 99999\r\n\r\n{json}").into_bytes()
        }
        "malformed_gzip" => answer("200 OK", &format!("{typed}content-encoding: gzip\r\n"), &json),
        "token" => {
            answer("200 OK", typed, &json!({ "access_token": TOKEN, "echo": said }).to_string())
        }
        "token_refused" => {
            let refusal =
                json!({ "error": lines, "error_description": repeated(&said).to_string() });
            answer("400 Bad Request", typed, &refusal.to_string())
        }
        "openapi.json" => answer("200 OK", typed, &description(&lines)),
        // Never an answer.
        _ => return None,
    })
}

/// A description that repeats the request everywhere.
fn description(said: &str) -> String {
    let operation = |deed: &str| {
        json!({ "get": { "operationId": deed, "summary": said, "tags": [said], "parameters": [
            { "name": "q", "in": "query", "description": said, "schema": { "type": "string", "enum": [said, "x"], "default": said } },
            { "name": "r", "in": "query", "schema": { "$ref": format!("#/no/{said}") } },
        ], "responses": { "500": { "description": said }, "200": { "description": said, "content": {
            "application/json": { "schema": { "type": "object", "title": said } } } } } } })
    };
    let paths: serde_json::Map<_, _> =
        ["200", "500"].map(|deed| (format!("/{deed}"), operation(deed))).into_iter().collect();
    json!({ "openapi": "3.1.0", "info": { "title": said, "version": "1", "description": said },
        "servers": [{ "url": "/" }], "paths": paths, "x-said": said })
    .to_string()
}

fn scratch(port: u16) -> Scratch {
    let scratch = Scratch::new();
    let key = KeyPair::generate().unwrap();
    let cert = CertificateParams::new(vec!["me".to_owned()]).unwrap().self_signed(&key).unwrap();
    scratch.write("client.pem", cert.pem()).write("client.key", key.serialize_pem());
    let mut config =
        "[secrets]\nfile = 'secrets.toml'\n[limits]\ncall_deadline = '3s'\n".to_owned();
    let mut secrets = toml::Table::new();
    for (name, keys) in PLACES.into_iter().chain(DESCRIBED) {
        secrets.insert(name.to_owned(), secret(name).into());
        let host = format!("127.0.0.1:{port}");
        let keys = keys.replace("SECRET", &format!("${{secret:{name}}}"));
        let keys = keys.replace("API", &format!("http://{host}")).replace("HOST", &host);
        let _ = write!(config, "[sources.{name}]\n{keys}\n");
        if keys.contains("openapi = ") {
            continue;
        }
        for deed in DEEDS {
            let method = if deed == "head" { "HEAD" } else { "GET" };
            let _ = write!(
                config,
                "[[sources.{name}.actions]]\nname = '{deed}'\nmethod = '{method}'\npath = '/{deed}'\n"
            );
            if deed == "extract" {
                config.push_str("extract = 'error(.message)'\n");
            }
        }
    }
    scratch.write("gatefold.toml", config).write("secrets.toml", secrets.to_string());
    let mode = fs::Permissions::from_mode(0o600);
    fs::set_permissions(scratch.path().join("secrets.toml"), mode).unwrap();
    scratch
}

/// The forms in which a secret is looked for, found without the product's own search for them.
fn forms(secret: &str) -> Vec<String> {
    let within = json!(secret).to_string();
    let query = url_encoded(secret);
    let mut forms = vec![secret.to_owned(), within.trim_matches('"').to_owned()];
    forms.push(encoded(secret, |_| false));
    // A header with an account has the second one in base64 (RFC 6749, section 2.3.1).
    for text in [secret, &query] {
        for before in 0..3 {
            let encoded = STANDARD.encode("x".repeat(before) + text);
            // Only what depends on nothing around it.
            let (from, to) = ((before * 8).div_ceil(6), (before + text.len()) * 8 / 6);
            forms.push(encoded[from..to].to_owned());
        }
    }
    forms.push(query);
    forms
}

struct Planted {
    /// What is looked for, by the name of its secret.
    forms: Vec<(String, String)>,
    leaks: Vec<String>,
    masked: usize,
}

impl Planted {
    fn of(scratch: &Scratch) -> Self {
        let mut secrets: Vec<(String, String)> = PLACES
            .into_iter()
            .chain(DESCRIBED)
            .map(|(name, _)| (name.to_owned(), secret(name)))
            .collect();
        secrets.push(("the token".to_owned(), TOKEN.to_owned()));
        let key = fs::read_to_string(scratch.path().join("client.key")).unwrap();
        let key = key.lines().filter(|line| !line.starts_with("-----"));
        secrets.extend(key.map(|line| ("the key".to_owned(), line.to_owned())));
        let forms = secrets.into_iter().flat_map(|(name, secret)| {
            forms(&secret).into_iter().map(move |form| (name.clone(), form))
        });
        Self { forms: forms.collect(), leaks: Vec::new(), masked: 0 }
    }

    /// Looks for every form of every secret.
    fn search(&mut self, place: &str, text: &str) {
        self.masked += usize::from(text.contains("[redacted]"));
        for (name, form) in &self.forms {
            if let Some(at) = text.find(form.as_str()) {
                let (from, to) = (
                    text.floor_char_boundary(at.saturating_sub(60)),
                    text.ceil_char_boundary(at + 60),
                );
                self.leaks.push(format!("{name} in {place}: {}", &text[from..to]));
            }
        }
    }

    fn search_files(&mut self, folder: &Path) {
        for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
            let path = entry.path();
            if path.is_dir() {
                self.search_files(&path);
            } else if !["secrets.toml", "client.key"].iter().any(|own| path.ends_with(own))
                && let Ok(bytes) = fs::read(&path)
            {
                self.search(&path.display().to_string(), &String::from_utf8_lossy(&bytes));
            }
        }
    }
}

/// The commands that a person gives afterwards.
const COMMANDS: [&[&str]; 17] = [
    &["check"],
    &["check", "-v"],
    &["check", "--json"],
    &["config", "show"],
    &["config", "show", "--json"],
    &["config", "check"],
    &["doctor", "-v"],
    &["doctor", "--json"],
    &["list"],
    &["list", "--json"],
    &["tools", "list", "--json"],
    &["tools", "schema", "described__200", "--json"],
    &["tools", "search", "s3cr3t", "bearer", "--json"],
    &["calls", "--limit", "500", "--json"],
    &["calls", "--failed"],
    &["queries"],
    &["secret", "list"],
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_secret_of_an_api_stays_within_the_process() {
    let received = Arc::<Mutex<String>>::default();
    let noted = received.clone();
    let api = RawApi::start(move |request| {
        noted.lock().unwrap().push_str(&request.text());
        deed(request)
    });
    let scratch = scratch(api.port);
    let mut planted = Planted::of(&scratch);
    let mut serve = command(&scratch, &["serve", "--listen", "127.0.0.1:0"]);
    serve.env("GATEFOLD_LOG", "trace");
    let gateway = Gateway::of(serve);
    gateway.await_log("listening").await;
    let client = RawClient::new(gateway.url()).unwrap().with_limit(LIMIT);
    let call = async |tool: String| {
        let arguments = json!({ "tool_name": tool, "arguments": {} }).to_string();
        let answer = client.call("execute_tool", &arguments).await.unwrap();
        (tool, answer.value().to_string())
    };
    let mut calls = 0;
    for deed in DEEDS {
        // Those that wait do so at the same time.
        let all = PLACES.into_iter().map(|(name, _)| call(format!("{name}__{deed}")));
        for (tool, answer) in join_all(all).await {
            planted.search(&tool, &answer);
            calls += usize::from(!answer.contains("unknown tool"));
        }
    }
    assert_eq!(calls, PLACES.len() * DEEDS.len(), "some tools are unknown");
    for tool in ["described__200", "described__500", "described_user__500"] {
        let (tool, answer) = call(tool.to_owned()).await;
        assert!(!answer.contains("unknown tool"), "{answer}");
        planted.search(&tool, &answer);
    }
    for (tool, arguments) in [
        ("discover_tools", json!({})),
        ("discover_tools", json!({ "query": "bearer 200" })),
        ("discover_tools", json!({ "domain": "described" })),
        ("get_tool_schema", json!({ "tool_name": "described__200" })),
        ("get_tool_schema", json!({ "tool_name": "described_user__500" })),
        ("execute_tool", json!({ "tool_name": "described__200", "arguments": { "wrong": 1 } })),
        ("execute_tool", json!({ "tool_name": "described__nothing", "arguments": {} })),
    ] {
        let answer = client.call(tool, &arguments.to_string()).await.unwrap();
        planted.search(&format!("{tool} {arguments}"), &answer.value().to_string());
    }
    let address = gateway.address();
    let status = ["status", "--json", "--listen", &address];
    let logs = ["logs", "described"];
    let url = format!("http://127.0.0.1:{}/openapi.json?api_key=${{secret:described}}", api.port);
    let add = ["add", "fresh", "--openapi", &url, "--dry-run"];
    let traced = ["tools", "call", "bearer__500", "--log", "trace"];
    for args in COMMANDS.into_iter().chain([&status[..], &logs, &add, &traced]) {
        let ran = ended(command(&scratch, args));
        assert_ne!(ran.code, Some(2), "{args:?}: {}", ran.stderr);
        planted.search(&args.join(" "), &(ran.stdout + &ran.stderr));
    }
    planted.search("the log", &gateway.log());
    planted.search_files(scratch.path());
    let Planted { forms, leaks, masked } = planted;
    assert!(leaks.is_empty(), "{} leaks:\n{}", leaks.len(), leaks.join("\n"));
    assert!(masked > 120, "only {masked} texts say what was left out");
    let received = received.lock().unwrap();
    for (name, _) in PLACES.into_iter().chain(DESCRIBED) {
        // The first two reach nobody, and a key is never sent.
        let is_sent = !["refused", "untrusted", "certificate"].contains(&name);
        let arrived = forms.iter().any(|(own, form)| own == name && received.contains(form));
        assert_eq!(arrived, is_sent, "the secret of `{name}`");
    }
}
