//! An HTTP API that a person describes on the command line.

use gatefold::config::kinds::mcp::McpConnection;
use gatefold_core::Secret;
use toml::{Table, Value};

use super::rendered::{Members, text};

/// An HTTP API with an OpenAPI description.
#[derive(Debug)]
pub struct NewApi {
    /// A file or a URL.
    pub openapi: String,
    pub base_url: Option<String>,
    pub auth: Option<NewAuth>,
    /// Credentials for single security schemes of the description, by their names.
    pub schemes: Vec<(String, Secret)>,
    pub headers: Vec<(String, Secret)>,
}

/// How to sign in at it.
#[derive(Debug)]
pub enum NewAuth {
    Bearer(Secret),
    Basic {
        username: String,
        password: Secret,
    },
    /// The description says where it goes.
    ApiKey(Secret),
}

impl NewApi {
    pub(super) fn members(&self) -> Members {
        let mut members = Members::default();
        members.put("openapi", text(&self.openapi));
        if let Some(base_url) = &self.base_url {
            members.put("base_url", text(base_url));
        }
        let mut auth = self.auth.as_ref().map(NewAuth::table).unwrap_or_default();
        if !self.schemes.is_empty() {
            let value = |(name, value): &(String, Secret)| (name.clone(), text(value.expose()));
            let schemes = self.schemes.iter().map(value).collect();
            auth.insert("schemes".to_owned(), Value::Table(schemes));
        }
        if !auth.is_empty() {
            members.put("auth", Value::Table(auth));
        }
        members.put_pairs("headers", &self.headers);
        members
    }

    /// A server with the same secrets, in whose parts they can be found.
    pub(super) fn as_server(&self) -> McpConnection {
        let mut headers = self.headers.clone();
        headers.extend(self.auth.as_ref().map(|auth| match auth {
            NewAuth::Bearer(token) => {
                ("Authorization".to_owned(), Secret::new(format!("Bearer {}", token.expose())))
            }
            NewAuth::Basic { password, .. } => ("Password".to_owned(), password.clone()),
            NewAuth::ApiKey(key) => ("X-API-Key".to_owned(), key.clone()),
        }));
        let scheme = |(name, value): &(String, Secret)| (format!("{name}-Key"), value.clone());
        headers.extend(self.schemes.iter().map(scheme));
        let url = format!("{} {}", self.openapi, self.base_url.as_deref().unwrap_or_default());
        McpConnection::Http { url, headers }
    }
}

impl NewAuth {
    fn table(&self) -> Table {
        let table = |pairs: &[(&str, Value)]| -> Table {
            pairs.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect()
        };
        match self {
            Self::Bearer(token) => table(&[("bearer", text(token.expose()))]),
            Self::Basic { username, password } => {
                let pair =
                    table(&[("username", text(username)), ("password", text(password.expose()))]);
                table(&[("basic", Value::Table(pair))])
            }
            Self::ApiKey(key) => table(&[("api_key", text(key.expose()))]),
        }
    }
}
