//! What in a client's file is a secret, and what takes its place.
//!
//! Files of clients are full of tokens, and none may go into a `gatefold.toml` in clear. So doubt
//! makes a secret: one too many costs a reference, one too few a leak.

use gatefold_core::Secret;

use crate::config::Connection;

/// A value that is not to stand in the configuration.
#[derive(Debug, Clone)]
pub struct FoundSecret {
    /// What it is called in the keyring, or the variable that is to hold it.
    pub name: String,
    pub value: Secret,
}

/// Parts of names that mark a secret, in upper case.
const SECRET_NAMES: &[&str] = &[
    "TOKEN",
    "SECRET",
    "PASSWORD",
    "PASSWD",
    "PASSPHRASE",
    "CREDENTIAL",
    "AUTH",
    "COOKIE",
    "SESSION",
    "SIGNATURE",
    "APIKEY",
    "API_KEY",
    "ACCESS_KEY",
    "PRIVATE",
    "DSN",
    "CONNECTION_STRING",
    "WEBHOOK",
    "BEARER",
];

/// Whole words of names that mark a secret, in upper case.
const SECRET_WORDS: &[&str] = &["KEY", "PAT", "PASS", "PWD", "JWT", "PIN"];

/// Beginnings of the tokens of well-known services.
const TOKEN_BEGINNINGS: &[&str] = &[
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "github_pat_",
    "glpat-",
    "sk-",
    "sk_",
    "pk_",
    "rk_",
    "xox",
    "xapp-",
    "AKIA",
    "ASIA",
    "AIza",
    "ya29.",
    "eyJ",
    "hf_",
    "npm_",
    "pypi-",
    "dop_v1_",
    "shpat_",
    "lin_api_",
    "ntn_",
    "secret_",
    "figd_",
    "tvly-",
    "pplx-",
    "r8_",
    "key-",
    "SG.",
    "ATATT",
];

/// Headers that say nothing secret, in lower case.
const PLAIN_HEADERS: &[&str] = &[
    "accept",
    "accept-language",
    "cache-control",
    "content-type",
    "mcp-protocol-version",
    "origin",
    "referer",
    "user-agent",
    "x-mcp-readonly",
    "x-mcp-toolsets",
];

/// Schemes before a credential, as in `Authorization: Bearer ...`.
const SCHEMES: &[&str] = &["Bearer ", "Basic ", "Token ", "token ", "bearer ", "ApiKey "];

/// The shortest text that may be a random one.
const RANDOM_LENGTH: usize = 20;

/// Whether a variable of this name and value holds a secret. A reference to a variable is none.
pub fn is_secret(name: &str, value: &str) -> bool {
    if value.is_empty() || is_reference(value) {
        return false;
    }
    let upper = name.to_uppercase().replace(['-', '.'], "_");
    let has_secret_name = SECRET_NAMES.iter().any(|part| upper.contains(part))
        || upper.split('_').any(|word| SECRET_WORDS.contains(&word));
    (has_secret_name && !is_plain(value)) || is_secret_value(value)
}

/// Whether a value is a secret whatever it is called.
fn is_secret_value(value: &str) -> bool {
    let has_beginning = TOKEN_BEGINNINGS.iter().any(|beginning| {
        value.strip_prefix(beginning).is_some_and(|rest| rest.len() >= 6 && !rest.contains(' '))
    });
    has_beginning || has_credentials(value) || has_secret_parameter(value) || is_random(value)
}

/// A value that a name such as `AUTH` may have without being a secret: a switch or a number.
fn is_plain(value: &str) -> bool {
    let lower = value.to_lowercase();
    matches!(lower.as_str(), "true" | "false" | "yes" | "no" | "on" | "off" | "none")
        || (value.len() <= 3 && value.bytes().all(|b| b.is_ascii_digit()))
}

/// Whether all that matters in a value comes from elsewhere, as in `Bearer ${TOKEN}`.
fn is_reference(value: &str) -> bool {
    let value = SCHEMES.iter().find_map(|scheme| value.strip_prefix(scheme)).unwrap_or(value);
    value.starts_with("${") && value.find('}') == Some(value.len() - 1)
}

/// An address with a password in it: `scheme://user:password@host`.
fn has_credentials(value: &str) -> bool {
    let Some((_, rest)) = value.split_once("://") else {
        return false;
    };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let user = authority.rsplit_once('@').map(|(user, _)| user);
    user.is_some_and(|user| {
        let password = user.split_once(':').map(|(_, password)| password);
        password.is_some_and(|password| !password.is_empty() && !is_reference(password))
    })
}

/// An address with a secret among its parameters, as hosted servers give them out.
fn has_secret_parameter(value: &str) -> bool {
    let Some((address, query)) = value.split_once('?') else {
        return false;
    };
    address.contains("://")
        && query
            .split('&')
            .filter_map(|pair| pair.split_once('='))
            .any(|(key, v)| is_secret(key, v))
}

/// Letters and digits without a pattern, as generated keys are. Paths, words and addresses are
/// not.
fn is_random(value: &str) -> bool {
    let is_legal =
        |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'+' | b'=' | b'.');
    if value.len() < RANDOM_LENGTH || !value.bytes().all(is_legal) {
        return false;
    }
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    let letters = value.bytes().filter(u8::is_ascii_alphabetic).count();
    let longest_word = value.split(|c: char| !c.is_ascii_alphabetic()).map(str::len).max();
    digits >= 3
        && letters >= 3
        && longest_word.unwrap_or(0) < RANDOM_LENGTH
        && value.bytes().filter(|b| *b == b'.').count() < 3
}

/// Takes every secret out of a connection, leaving `reference(name)` in its place. `key` is the
/// source's name, after which what has no name of its own is called.
pub(super) fn take_out(
    connection: &mut Connection,
    key: &str,
    mut reference: impl FnMut(String, &str) -> String,
) {
    let key = variable_name(key);
    match connection {
        Connection::Stdio { args, env, .. } => {
            for (name, value) in env {
                if is_secret(name, value.expose()) {
                    *value = Secret::new(reference(variable_name(name), value.expose()));
                }
            }
            arguments(args, &key, &mut reference);
        }
        Connection::Http { url, headers } => {
            for (name, value) in headers {
                if is_secret_header(name, value.expose()) {
                    let name = format!("{key}_{}", variable_name(name));
                    *value = Secret::new(after_scheme(value.expose(), name, &mut reference));
                }
            }
            if is_secret_value(url) {
                *url = reference(format!("{key}_URL"), url);
            }
        }
        Connection::Disabled | Connection::Unusable(_) => {}
    }
}

fn is_secret_header(name: &str, value: &str) -> bool {
    !value.is_empty()
        && !is_reference(value)
        && !PLAIN_HEADERS.contains(&name.to_lowercase().as_str())
        && !is_plain(value)
}

/// Leaves the scheme where it is: `Bearer ${NAME}` reads better, and the secret is the token.
fn after_scheme(
    value: &str,
    name: String,
    reference: &mut impl FnMut(String, &str) -> String,
) -> String {
    match SCHEMES.iter().find(|scheme| value.starts_with(**scheme)) {
        Some(scheme) => format!("{scheme}{}", reference(name, &value[scheme.len()..])),
        None => reference(name, value),
    }
}

/// Secrets among arguments: `--api-key=VALUE`, `--api-key VALUE`, `-e NAME=VALUE`, `--header
/// "Name: VALUE"`, and values that are secrets by themselves.
fn arguments(args: &mut [String], key: &str, reference: &mut impl FnMut(String, &str) -> String) {
    let mut flag = String::new();
    for arg in args {
        let before = std::mem::take(&mut flag);
        if let Some((name, value)) = arg.split_once('=').filter(|(name, _)| is_name(name)) {
            if is_secret(name, value) {
                *arg = format!("{name}={}", reference(called(name, key), value));
            }
        } else if let Some((name, value)) = arg.split_once(':').filter(|_| is_header_flag(&before))
        {
            let value = value.trim_start();
            if is_secret_header(name.trim(), value) {
                let own = format!("{key}_{}", variable_name(name));
                *arg = format!("{name}: {}", after_scheme(value, own, reference));
            }
        } else if arg.starts_with('-') && !arg.contains(' ') {
            arg.clone_into(&mut flag);
        } else if is_secret_value(arg) || (!before.is_empty() && is_secret(&before, arg)) {
            let name = if before.is_empty() { "--secret" } else { &before };
            *arg = reference(called(name, key), arg);
        }
    }
}

fn is_header_flag(flag: &str) -> bool {
    matches!(flag, "--header" | "-H")
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'))
}

/// A flag's name says little without its source's; a variable's is known by itself.
fn called(name: &str, key: &str) -> String {
    let own = variable_name(name);
    if name.starts_with('-') { format!("{key}_{own}") } else { own }
}

/// A name as variables have it: upper case, digits and `_`.
fn variable_name(name: &str) -> String {
    let upper = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' };
    let name: String = name.trim_matches(['-', ' ']).chars().map(upper).collect();
    if name.starts_with(|c: char| c.is_ascii_digit()) { format!("_{name}") } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_named_or_shaped_like_a_secret_is_one() {
        for (name, value, expected) in [
            ("GITHUB_TOKEN", "abc", true),
            ("OPENAI_API_KEY", "x", true),
            ("DB_PASS", "hunter2", true),
            ("X", "ghp_0123456789abcdef", true),
            ("DATABASE_URL", "postgres://ann:pw@db/app", true),
            ("ENDPOINT", "https://h.example/mcp?api_key=k1", true),
            ("ANYTHING", "9f8a7b6c5d4e3f2a1b0c9d8e", true),
            ("GITHUB_TOKEN", "${GITHUB_TOKEN}", false),
            ("AUTHORIZATION", "Bearer ${TOKEN}", false),
            ("USE_AUTH", "true", false),
            ("LOG_LEVEL", "debug", false),
            ("MONKEY_NAME", "rhesus", false),
            ("HOME_DIR", "/home/ann/Documents and more", false),
            ("DATABASE_URL", "postgres://ann:${PW}@db/app", false),
            ("URL", "https://docs.example/path?page=2", false),
            ("PACKAGE", "mcp-server-filesystem-extended", false),
            ("GITHUB_TOKEN", "", false),
        ] {
            assert_eq!(is_secret(name, value), expected, "{name}={value}");
        }
    }

    #[test]
    fn secrets_leave_arguments_and_the_rest_stays() {
        let args = [
            "-y",
            "server",
            "--api-key=abc",
            "--token",
            "t0p",
            "--verbose",
            "-e",
            "DB_PASSWORD=x",
            "--header",
            "Authorization: Bearer zzz",
            "postgres://a:b@h/d",
            "--key",
            "${KEY}",
            "/srv/data",
        ];
        let mut connection = Connection::Stdio {
            command: "npx".into(),
            args: args.map(str::to_owned).to_vec(),
            env: Vec::new(),
            inherit_env: Vec::new(),
            cwd: None,
        };
        let mut taken = Vec::new();
        take_out(&mut connection, "my db", |name, value| {
            taken.push(format!("{name}={value}"));
            format!("${{{name}}}")
        });
        let Connection::Stdio { args, .. } = connection else { panic!() };
        assert_eq!(
            args,
            [
                "-y",
                "server",
                "--api-key=${MY_DB_API_KEY}",
                "--token",
                "${MY_DB_TOKEN}",
                "--verbose",
                "-e",
                "DB_PASSWORD=${DB_PASSWORD}",
                "--header",
                "Authorization: Bearer ${MY_DB_AUTHORIZATION}",
                "${MY_DB_SECRET}",
                "--key",
                "${KEY}",
                "/srv/data",
            ]
        );
        assert_eq!(
            taken,
            [
                "MY_DB_API_KEY=abc",
                "MY_DB_TOKEN=t0p",
                "DB_PASSWORD=x",
                "MY_DB_AUTHORIZATION=zzz",
                "MY_DB_SECRET=postgres://a:b@h/d",
            ]
        );
    }
}
