//! A database that a person names on the command line.

use gatefold::config::kinds::mcp::McpConnection;
use gatefold_core::Secret;

use super::rendered::{Members, text};

/// A database.
#[derive(Debug)]
pub struct NewDatabase {
    /// Its address.
    pub database: String,
    pub password: Option<Secret>,
}

impl NewDatabase {
    pub(super) fn members(&self) -> Members {
        let mut members = Members::default();
        members.put("database", text(&self.database));
        if let Some(password) = &self.password {
            members.put("password", text(password.expose()));
        }
        members
    }

    /// A server with the same secrets, in whose parts they can be found.
    pub(super) fn as_server(&self) -> McpConnection {
        let password = self.password.iter().map(|own| ("Password".to_owned(), own.clone()));
        McpConnection::Http { url: without_user(&self.database), headers: password.collect() }
    }
}

/// An address without the name of its user, which is no secret here, as it may be in a URL of HTTP. One
/// with a password stays as it is.
fn without_user(address: &str) -> String {
    let Some((scheme, rest)) = address.split_once("://") else { return address.to_owned() };
    let authority = rest.split(['/', '?']).next().unwrap_or_default();
    match authority.rsplit_once('@') {
        Some((user, _)) if !user.contains(':') => format!("{scheme}://{}", &rest[user.len() + 1..]),
        _ => address.to_owned(),
    }
}
