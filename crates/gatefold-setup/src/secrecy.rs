//! Finds the secrets in a client's file and replaces them with references.
//!
//! Clients' files are full of tokens, and none may go into a `gatefold.toml` in plain text. When in
//! doubt, a text is a secret: one too many costs a reference, one too few is a leak. A variable's
//! value counts as a secret unless it looks plainly harmless. In arguments and addresses, which are
//! mostly not secret, it is the other way round.
//!
//! Texts are in Gatefold's notation here. What a reference refers to is not a secret of the file.

mod arguments;
mod notation;
#[cfg(test)]
mod tests;

use gatefold::config::kinds::mcp::McpConnection;
use gatefold_core::Secret;
use gatefold_secrecy::{self as secrecy, NameClass, SecretSpan, after_scheme, has_secret, is_path};

use notation::{defaults, masked, replaced};

/// A value that must not be written into the configuration.
#[derive(Debug, Clone)]
pub struct FoundSecret {
    /// Its name in the keyring, or the variable that will hold it.
    pub name: String,
    pub value: Secret,
}

/// What a configuration has instead of a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SecretStyle {
    /// `${secret:NAME}`: the keyring has it.
    Keyring,
    /// `${NAME}`: a variable will have it.
    Variable,
}

impl SecretStyle {
    pub(super) fn reference(self, name: &str) -> String {
        match self {
            Self::Keyring => format!("${{secret:{name}}}"),
            Self::Variable => format!("${{{name}}}"),
        }
    }
}

/// Headers that never hold a secret, in lower case.
const PLAIN_HEADERS: &[&str] = &[
    "accept",
    "accept-encoding",
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

/// Names secrets and makes the references that replace them.
struct ReferenceWriter<'a> {
    /// The source's name, which also names a secret that has no name of its own.
    key: &'a str,
    reference: &'a mut dyn FnMut(String, &str) -> String,
}

/// Whether a variable of this name and value holds a secret. A reference to a variable does not,
/// and a reference with a default is as secret as the default.
pub fn is_secret(name: &str, value: &str) -> bool {
    secrecy::is_secret(name, &masked(value))
        || defaults(value)
            .iter()
            .any(|(name, range)| secrecy::is_secret(name, &value[range.clone()]))
}

/// Whether a program's name contains a secret. No reference can replace it there.
pub(super) fn has_secret_command(command: &str) -> bool {
    let mut words: Vec<_> = command.split_whitespace().map(str::to_owned).collect();
    let before = words.clone();
    let mut reference = |_: String, _: &str| String::new();
    let mut writer = ReferenceWriter { key: "", reference: &mut reference };
    arguments::take_out("", &mut words, &mut writer);
    words != before || (!is_path(command) && has_secret(&masked(command)))
}

/// Replaces every secret of a connection with `reference(name)`. `key` is the source's name.
pub(super) fn take_out(
    connection: &mut McpConnection,
    key: &str,
    mut reference: impl FnMut(String, &str) -> String,
) {
    let mut writer = ReferenceWriter { key, reference: &mut reference };
    match connection {
        McpConnection::Stdio { command, args, env, .. } => {
            for (name, value) in env {
                if is_secret(name, value.expose()) {
                    let called = variable_name(name);
                    *value = Secret::new(variable(name, &called, value.expose(), &mut writer));
                }
            }
            arguments::take_out(command, args, &mut writer);
        }
        McpConnection::Http { url, headers } => {
            for (name, value) in headers {
                *value = Secret::new(header(name, value.expose(), &mut writer));
            }
            *url = in_place(url, &mut writer);
        }
    }
}

/// Replaces the secret of a provider's client with `reference(name)`.
pub(super) fn take_out_client_secret(
    secret: &mut Secret,
    key: &str,
    mut reference: impl FnMut(String, &str) -> String,
) {
    // A reference to a variable is none.
    if !is_secret("client_secret", secret.expose()) {
        return;
    }
    let name = format!("{}_CLIENT_SECRET", variable_name(key));
    let mut writer = ReferenceWriter { key, reference: &mut reference };
    *secret = Secret::new(whole(secret.expose(), &name, &mut writer));
}

/// A variable's value without its secret. The whole value is replaced, unless it has references,
/// which only the configuration can resolve.
fn variable(name: &str, called: &str, value: &str, writer: &mut ReferenceWriter<'_>) -> String {
    let ranges: Vec<_> = places(value).into_iter().map(|place| place.range).collect();
    let rest = replaced(value, &ranges, |_, _, _| "${_}".to_owned());
    let is_enough = value.contains("${") && !ranges.is_empty() && !is_secret(name, &rest);
    if !is_enough {
        return whole(value, called, writer);
    }
    replaced(value, &ranges, |_, own, secret| {
        (writer.reference)(own.map_or_else(|| called.to_owned(), variable_name), secret)
    })
}

/// A header's value without its secrets.
fn header(name: &str, value: &str, writer: &mut ReferenceWriter<'_>) -> String {
    let is_plain = PLAIN_HEADERS.contains(&name.to_lowercase().as_str());
    if is_plain || !is_secret(name, value) {
        return in_place(value, writer);
    }
    let name = format!("{}_{}", variable_name(writer.key), variable_name(name));
    whole(value, &name, writer)
}

/// Replaces a whole value, except the scheme in front of a credential.
fn whole(value: &str, name: &str, writer: &mut ReferenceWriter<'_>) -> String {
    let start = value.len() - after_scheme(value).len();
    let range = start..value.len();
    replaced(value, std::slice::from_ref(&range), |_, own, secret| {
        (writer.reference)(own.map_or_else(|| name.to_owned(), variable_name), secret)
    })
}

/// A text without the secrets that can be recognized in it.
fn in_place(text: &str, writer: &mut ReferenceWriter<'_>) -> String {
    let places = places(text);
    let ranges: Vec<_> = places.iter().map(|place| place.range.clone()).collect();
    replaced(text, &ranges, |range, own, secret| {
        let place = places.iter().find(|place| place.range == *range);
        let name = match (own, place) {
            (Some(own), _) => variable_name(own),
            (None, Some(place)) if place.name.contains('_') && place.name != "PRIVATE_KEY" => {
                variable_name(&place.name)
            }
            (None, place) => {
                let own = place.map_or("SECRET", |place| place.name.as_str());
                format!("{}_{}", variable_name(writer.key), variable_name(own))
            }
        };
        (writer.reference)(name, secret)
    })
}

/// The secrets that can be recognized in a text, including the defaults of its references.
fn places(text: &str) -> Vec<SecretSpan> {
    let mut places = secrecy::secrets_in(&masked(text));
    for (name, range) in defaults(text) {
        let is_new = !places
            .iter()
            .any(|place| place.range.start < range.end && range.start < place.range.end);
        if is_new
            && secrecy::is_secret(name, &text[range.clone()])
            && NameClass::of(name) == NameClass::Secret
        {
            places.push(SecretSpan { range, name: name.to_owned() });
        }
    }
    places.sort_by_key(|place| place.range.start);
    places
}

/// A name as variables have it: upper case, digits and `_`.
pub(super) fn variable_name(name: &str) -> String {
    /// Keyrings and systems allow longer names, but people do not read them.
    const LONGEST: usize = 64;
    let upper = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' };
    let is_outside = |c: char| !c.is_ascii_alphanumeric() && c != '_';
    let name: String = name.trim_matches(is_outside).chars().map(upper).take(LONGEST).collect();
    match name.chars().next() {
        None => "SECRET".to_owned(),
        Some(first) if first.is_ascii_digit() => format!("_{name}"),
        Some(_) => name,
    }
}
