//! The client of a provider that a client's file names for a server: Claude Code's and Gemini's
//! `oauth`, opencode's too, and Cursor's `auth`.

use gatefold_config::{Field, Table, Text};
use gatefold_core::Secret;
use gatefold_located::Value;
use gatefold_oauth::{ClientSecret, ClientSettings, LocalRedirect};

use crate::config::SourceConfig;
use crate::config::kinds::KindSection;

/// How a client signs in at a server, with what the provider gave its user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientSignIn {
    pub id: String,
    pub secret: Option<Secret>,
    pub scopes: Option<Vec<String>>,
    /// Where the provider sends browsers back to, on this machine.
    pub redirect_url: Option<String>,
}

/// The settings that say it, if they do.
const KEYS: [&str; 2] = ["oauth", "auth"];

const IDS: [&str; 3] = ["clientId", "client_id", "CLIENT_ID"];
const SECRETS: [&str; 3] = ["clientSecret", "client_secret", "CLIENT_SECRET"];
const SCOPES: [&str; 3] = ["scopes", "scope", "SCOPES"];
const REDIRECTS: [&str; 4] = ["redirectUri", "redirectUrl", "redirect_uri", "redirect_url"];
const PORTS: [&str; 2] = ["callbackPort", "callback_port"];

/// Reads it, with the settings that have something that was not taken over.
pub(super) fn read(table: &mut Table<'_>) -> (Option<ClientSignIn>, Vec<&'static str>) {
    let (mut sign_in, mut left_behind) = (None, Vec::new());
    for key in KEYS {
        let Some(field) = table.field(key).filter(|field| !says_nothing(field)) else { continue };
        let (found, is_whole) = match field.value() {
            Value::Table(_) => field.table().map_or((None, false), |mut table| member(&mut table)),
            _ => (None, false),
        };
        if !is_whole || (found.is_some() && sign_in.is_some()) {
            left_behind.push(key);
        }
        sign_in = sign_in.or(found);
    }
    (sign_in, left_behind)
}

/// Whether a setting is as good as absent: opencode's `oauth = false` switches a sign-in off.
fn says_nothing(field: &Field<'_>) -> bool {
    matches!(field.value(), Value::Null | Value::Flag(_))
}

/// What one setting says, and whether that is all of it.
fn member(table: &mut Table<'_>) -> (Option<ClientSignIn>, bool) {
    let text = |field: Field<'_>| match field.value() {
        Value::Text(text) if !text.is_empty() => field.read::<Text>().map(|text| text.0),
        _ => None,
    };
    let id = table.field_of_any(&IDS).and_then(text);
    let secret = table.field_of_any(&SECRETS).and_then(text).map(Secret::new);
    let scopes = table.field_of_any(&SCOPES).and_then(|field| scopes(&field));
    let written = table.field_of_any(&REDIRECTS).and_then(text);
    let port = table.field_of_any(&PORTS).and_then(|field| match field.value() {
        Value::Number(port) | Value::Text(port) => Some(port.clone()),
        _ => None,
    });
    // Claude Code comes back to this name, as its documentation says.
    let by_port = port.map(|port| format!("http://localhost:{port}/callback"));
    let redirect = written.or(by_port);
    let is_here = redirect.as_deref().is_none_or(|url| LocalRedirect::parse(url).is_ok());
    // Gemini's `enabled` says only that there is a sign-in.
    table.field("enabled");
    let is_whole = is_here && id.is_some() && table.unread().next().is_none();
    let redirect_url = redirect.filter(|_| is_here);
    (id.map(|id| ClientSignIn { id, secret, scopes, redirect_url }), is_whole)
}

/// A list of scopes, or one text with spaces between.
fn scopes(field: &Field<'_>) -> Option<Vec<String>> {
    let scopes: Vec<_> = match field.value() {
        Value::Text(text) => text.split_whitespace().map(str::to_owned).collect(),
        Value::List(_) => field.read::<Vec<Text>>()?.into_iter().map(|scope| scope.0).collect(),
        _ => return None,
    };
    (!scopes.is_empty()).then_some(scopes)
}

impl ClientSignIn {
    pub(super) fn settings(self) -> ClientSettings {
        ClientSettings {
            id: Some(self.id),
            secret: self.secret.map(ClientSecret::Text),
            metadata_url: None,
            scopes: self.scopes,
            redirect: self.redirect_url.and_then(|url| LocalRedirect::parse(&url).ok()),
        }
    }

    /// Whether a source signs in in the same way.
    pub fn is_of(&self, source: &SourceConfig) -> bool {
        let Some(sign_in) = source.section.usable().and_then(KindSection::sign_in) else {
            return false;
        };
        let secret = match &sign_in.client.secret {
            Some(ClientSecret::Text(secret)) => Some(secret),
            Some(ClientSecret::Key(_)) => return false,
            None => None,
        };
        sign_in.client.id.as_ref() == Some(&self.id)
            && secret.map(Secret::expose) == self.secret.as_ref().map(Secret::expose)
            && sign_in.client.scopes == self.scopes
            && sign_in.client.redirect.map(|own| own.to_string()) == self.redirect_url
    }
}
