//! The tokens as a gateway that runs reads them.

use gatefold_core::{Digest, Timestamp};
use sqlx::{Connection as _, SqliteConnection};

use super::{ACCESS_TOKENS, AccessTokenRecord, LISTED, hash, record};
use crate::database::Database;
use crate::sign_ins::{FAMILIES, FAMILIES_LISTED, known_family, provided_groups};
use crate::{AccessRow, FamilyRow, ProvidedSubject, Store, StoreError};

const CHANGES: &str = "SELECT changes FROM access_token_changes";

/// A token, and the hash that whoever presents it has to match.
pub struct KnownToken {
    pub record: AccessTokenRecord,
    pub hash: Digest,
    /// Of a token that somebody signed in for. Its record stays when the token is replaced.
    pub family: Option<FamilyAccess>,
}

/// What is said of a token that somebody signed in for.
pub struct FamilyAccess {
    /// The address that it is for, and all below.
    pub resource: String,
    /// The scopes, with a space between them.
    pub scopes: String,
    /// When it has to be replaced. What is begun with it goes on until its record expires.
    pub expires_at: Timestamp,
    /// By way of whom its user signed in. None for a password.
    pub provided: Option<ProvidedSubject>,
    /// The groups that the provider named when its user signed in last.
    pub groups: Vec<String>,
}

impl KnownToken {
    fn of_family(family: FamilyRow, groups: Vec<String>) -> Self {
        let FamilyRow { id, user, client_name, created_at, expires_at, .. } = family;
        let FamilyRow { provided, access, last_used, .. } = family;
        let record = AccessTokenRecord {
            id,
            name: client_name,
            user,
            agent: None,
            tools: Vec::new(),
            read_only: false,
            created_at,
            expires_at: Some(expires_at),
            last_used,
        };
        let AccessRow { hash, resource, scopes, expires_at } = access;
        let family = FamilyAccess { resource, scopes, expires_at, provided, groups };
        Self { record, hash, family: Some(family) }
    }
}

/// Reads the tokens on a connection of its own: nothing else that the store does delays it.
pub struct TokenReader {
    database: Database,
    connection: Option<SqliteConnection>,
    /// The number of changes up to which the tokens were read.
    seen: Option<i64>,
}

impl Store {
    pub fn token_reader(&self) -> TokenReader {
        TokenReader { database: self.inner().database.clone(), connection: None, seen: None }
    }
}

impl TokenReader {
    /// All tokens, if they have changed since they were last read, which costs one row to find out.
    pub async fn changed(&mut self) -> Result<Option<Vec<KnownToken>>, StoreError> {
        let mut connection = match self.connection.take() {
            Some(connection) => connection,
            None => self.database.connect_to_read().await?,
        };
        let read = read(&mut connection, self.seen).await;
        let read = read.map_err(|source| self.database.error(source))?;
        // One that failed is replaced.
        self.connection = Some(connection);
        let Some((changes, tokens)) = read else { return Ok(None) };
        self.seen = Some(changes);
        Ok(Some(tokens))
    }
}

async fn read(
    connection: &mut SqliteConnection,
    seen: Option<i64>,
) -> sqlx::Result<Option<(i64, Vec<KnownToken>)>> {
    let changes = sqlx::query_scalar(CHANGES).fetch_one(&mut *connection).await?;
    if seen == Some(changes) {
        return Ok(None);
    }
    // Both in one transaction, so that no change falls between them.
    let mut transaction = connection.begin().await?;
    let changes = sqlx::query_scalar(CHANGES).fetch_one(&mut *transaction).await?;
    let rows = sqlx::query(LISTED).bind(ACCESS_TOKENS).fetch_all(&mut *transaction).await?;
    let families = sqlx::query(FAMILIES_LISTED).bind(FAMILIES).fetch_all(&mut *transaction).await?;
    transaction.rollback().await?;
    let known = |row| Ok(KnownToken { record: record(row)?, hash: hash(row)?, family: None });
    let tokens = rows.iter().map(known);
    let families = families
        .iter()
        .map(|row| Ok(KnownToken::of_family(known_family(row)?, provided_groups(row)?)));
    let tokens: sqlx::Result<Vec<_>> = tokens.chain(families).collect();
    Ok(Some((changes, tokens?)))
}
