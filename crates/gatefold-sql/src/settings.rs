//! How a database is reached, and what may be done with it.

use std::time::Duration;

use gatefold_core::Secret;

use crate::{DatabaseAddress, TlsSettings};

/// How long a statement may take, unless something else is set.
const STATEMENT_TIMEOUT: Duration = Duration::from_secs(30);

/// How long connecting may take, unless something else is set.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// How many connections there may be at once, unless something else is set.
const CONNECTIONS: u32 = 8;

/// How a database is reached, and what may be done with it.
#[derive(Debug, Clone)]
pub struct DatabaseSettings {
    pub address: DatabaseAddress,
    /// Goes before one that the address has.
    pub password: Option<Secret>,
    pub writes: Writes,
    /// Whether a role may be used that could do more than a source needs.
    pub privileged_role: bool,
    pub statement_timeout: Duration,
    pub connect_timeout: Duration,
    /// The most connections at once, beside a passing one that stops a statement.
    pub connections: u32,
    /// Goes before what the address says.
    pub tls: TlsSettings,
}

/// What becomes of a statement that writes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Writes {
    #[default]
    Refuse,
    /// Somebody is asked before it is committed.
    Ask,
}

impl DatabaseSettings {
    /// What holds for a database of which only the address is known.
    pub fn new(address: DatabaseAddress) -> Self {
        Self {
            address,
            password: None,
            writes: Writes::Refuse,
            privileged_role: false,
            statement_timeout: STATEMENT_TIMEOUT,
            connect_timeout: CONNECT_TIMEOUT,
            connections: CONNECTIONS,
            tls: TlsSettings::default(),
        }
    }
}
