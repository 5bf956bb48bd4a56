//! The tokens as a gateway that runs reads them.

use gatefold_identity::KnownToken;
use sqlx::{Connection as _, SqliteConnection};

use super::{ACCESS_TOKENS, LISTED, record};
use crate::database::Database;
use crate::sign_ins::{FAMILIES, FAMILIES_LISTED, digest, known_family, provided_groups};
use crate::{Store, StoreError};

const CHANGES: &str = "SELECT changes FROM access_token_changes";

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
    let made = |row| Ok(KnownToken::Made { record: record(row)?, hash: digest(row, "hash")? });
    let signed_in = |row| {
        let family = Box::new(known_family(row)?);
        Ok(KnownToken::SignedIn { family, groups: provided_groups(row)? })
    };
    let tokens = rows.iter().map(made).chain(families.iter().map(signed_in));
    Ok(Some((changes, tokens.collect::<sqlx::Result<_>>()?)))
}
