//! What a configuration lacks to sign in where a description wants it.

use std::collections::BTreeMap;

use crate::action::SecurityScheme;
use crate::auth::SignIn;
use crate::openapi::{ApiDescription, CodeFlowUrls, DescriptionNote};

/// How many schemes a note names.
const NAMED_SCHEMES: usize = 8;

/// Which schemes have no credential, and which credentials no scheme.
pub(super) fn notes(read: &ApiDescription, sign_in: SignIn<'_>) -> Vec<DescriptionNote> {
    let has_none = sign_in.auth.is_none() && sign_in.schemes.is_empty() && !sign_in.has_certificate;
    let offered = read.code_flows.first().filter(|_| has_none);
    let mut whats: Vec<String> = offered.map(offered_sign_in).into_iter().collect();
    let (mut missing, mut tools) = (BTreeMap::new(), 0);
    let mut sign_ins: Vec<_> = read.sign_ins.iter().collect();
    sign_ins.sort_by_key(|(_, used)| used.first);
    for (ways, used) in sign_ins {
        let lacks: Vec<_> = sign_in
            .missing(ways)
            .filter(|(_, scheme)| offered.is_none() || **scheme != SecurityScheme::Bearer)
            .collect();
        tools += if lacks.is_empty() { 0 } else { used.tools };
        if missing.len() < NAMED_SCHEMES {
            missing.extend(lacks);
        }
    }
    whats.extend((!missing.is_empty()).then(|| missing_text(&missing, tools)));
    let unknown = sign_in.schemes.keys().filter(|name| !read.schemes.contains_key(*name));
    whats.extend(unknown.map(|name| unknown_text(name, read)));
    whats.into_iter().map(|what| DescriptionNote { tool: None, what }).collect()
}

/// How to write down where people sign in, for a source that does not say it yet.
fn offered_sign_in(urls: &CodeFlowUrls) -> String {
    let CodeFlowUrls { authorize, token } = urls;
    let flow = format!(
        "{{ authorize_url = \"{authorize}\", token_url = \"{token}\", client_id = \"...\" }}"
    );
    format!("people sign in for it: `auth = {{ authorization_code = {flow} }}`")
}

fn missing_text(missing: &BTreeMap<&String, &SecurityScheme>, tools: usize) -> String {
    let names: Vec<_> = missing.keys().map(|name| format!("`{name}`")).collect();
    let value = |(name, scheme): (&&String, &&SecurityScheme)| match scheme {
        SecurityScheme::MutualTls => None,
        SecurityScheme::Basic => {
            Some(format!("{} = {{ username = \"...\", password = \"...\" }}", key(name)))
        }
        _ => Some(format!("{} = \"...\"", key(name))),
    };
    let values: Vec<_> = missing.iter().filter_map(value).collect();
    let schemes = (!values.is_empty()).then(|| format!("schemes = {{ {} }}", values.join(", ")));
    let has_tls = missing.values().any(|scheme| **scheme == SecurityScheme::MutualTls);
    let tls = has_tls.then(|| "tls = { cert = \"...\", key = \"...\" }".to_owned());
    let auth: Vec<_> = schemes.into_iter().chain(tls).collect();
    let tools = if tools == 1 { "1 tool".to_owned() } else { format!("{tools} tools") };
    format!(
        "no credential for {} ({tools}): set `auth = {{ {} }}`",
        names.join(", "),
        auth.join(", ")
    )
}

fn unknown_text(name: &str, read: &ApiDescription) -> String {
    let known: Vec<_> =
        read.schemes.keys().take(NAMED_SCHEMES).map(|name| format!("`{name}`")).collect();
    let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
    format!("`auth.schemes` has a credential for `{name}`, and the description declares {known}")
}

/// A name as a key of TOML.
fn key(name: &str) -> String {
    let is_bare = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !name.is_empty() && name.chars().all(is_bare) {
        return name.to_owned();
    }
    serde_json::Value::from(name).to_string()
}

#[cfg(test)]
mod tests {
    use gatefold_core::Secret;
    use serde_json::json;

    use super::*;
    use crate::auth::{Auth, SchemeCredential, SchemeCredentials};
    use crate::openapi::{ApiDocuments, DescriptionOptions, Overlay};

    fn description() -> ApiDescription {
        let operation = |id: &str, security: serde_json::Value| json!({ "get": { "operationId": id, "security": security } });
        let document = json!({
            "openapi": "3.0.3",
            "servers": [{ "url": "https://api.example" }],
            "paths": {
                "/both": operation("both", json!([{ "a": [], "b c": [] }])),
                "/user": operation("user", json!([{ "user": [], "cert": [] }])),
                "/open": operation("open", json!([])),
            },
            "components": { "securitySchemes": {
                "a": { "type": "apiKey", "in": "header", "name": "X-A" },
                "b c": { "type": "apiKey", "in": "header", "name": "X-B" },
                "user": { "type": "http", "scheme": "basic" },
                "cert": { "type": "mutualTLS" },
            } },
        });
        let (options, overlay) = (DescriptionOptions::default(), Overlay::default());
        let documents = ApiDocuments::of(&document);
        let mut reading = documents.read(&options, &overlay).unwrap();
        assert_eq!(reading.by_ref().count(), 3);
        reading.finish()
    }

    fn check(auth: Option<&Auth>, pairs: &[(&str, &str)], expected: &[&str]) {
        let schemes: SchemeCredentials = pairs
            .iter()
            .map(|(name, text)| ((*name).to_owned(), SchemeCredential::Text(Secret::new(*text))))
            .collect();
        let sign_in =
            SignIn { auth, schemes: &schemes, headers: &[], base: None, has_certificate: false };
        let notes = notes(&description(), sign_in);
        let whats: Vec<_> = notes.iter().map(|note| note.what.as_str()).collect();
        assert_eq!(whats, expected);
    }

    #[test]
    fn each_scheme_without_a_credential_is_named_once_with_what_to_write() {
        check(
            None,
            &[],
            &[
                r#"no credential for `a`, `b c`, `cert`, `user` (2 tools): set `auth = { schemes = { a = "...", "b c" = "...", user = { username = "...", password = "..." } }, tls = { cert = "...", key = "..." } }`"#,
            ],
        );
        let key = Auth::ApiKey { key: Secret::new("A"), place: None };
        check(
            Some(&key),
            &[("user", "me:pw"), ("cert", "x")],
            &[
                r#"no credential for `b c`, `cert` (2 tools): set `auth = { schemes = { "b c" = "..." }, tls = { cert = "...", key = "..." } }`"#,
            ],
        );
        check(
            None,
            &[("a", "A"), ("b c", "B"), ("A", "A")],
            &[
                r#"no credential for `cert`, `user` (1 tool): set `auth = { schemes = { user = { username = "...", password = "..." } }, tls = { cert = "...", key = "..." } }`"#,
                "`auth.schemes` has a credential for `A`, and the description declares `a`, `b c`, `cert`, `user`",
            ],
        );
    }
}
