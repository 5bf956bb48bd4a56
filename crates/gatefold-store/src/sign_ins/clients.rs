//! Clients that registered themselves.

use gatefold_core::Timestamp;
use sqlx::sqlite::SqliteRow;
use sqlx::{Connection as _, Row as _};

use super::{ClientBounds, ClientRow, Insertion, maybe, moment};
use crate::database::millis;
use crate::{Store, StoreError};

const DROP_OLD: &str = "
    DELETE FROM registered_clients
    WHERE CASE WHEN used_at IS NULL THEN created_at < ?1 ELSE used_at < ?2 END";

const REGISTER: &str = "
    INSERT INTO registered_clients (id, name, redirects, created_at) VALUES (?1, ?2, ?3, ?4)
    ON CONFLICT (id) DO NOTHING";

const FIND: &str = "
    SELECT * FROM registered_clients
    WHERE id = ?1 AND CASE WHEN used_at IS NULL THEN created_at >= ?2 ELSE used_at >= ?3 END";

const USED: &str = "
    UPDATE registered_clients SET used_at = max(ifnull(used_at, 0), ?2) WHERE id = ?1";

impl Store {
    pub async fn register_client(
        &self,
        client: ClientRow,
        bounds: ClientBounds,
    ) -> Result<Insertion, StoreError> {
        let store = self.inner();
        let redirects = serde_json::json!(client.redirects).to_string();
        let mut connection = store.connection().await;
        let registered = async {
            let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
            sqlx::query(DROP_OLD)
                .bind(millis(bounds.unused_before))
                .bind(millis(bounds.used_before))
                .execute(&mut *transaction)
                .await?;
            let count = sqlx::query_scalar("SELECT count(*) FROM registered_clients");
            let count: i64 = count.fetch_one(&mut *transaction).await?;
            if count >= i64::from(bounds.clients) {
                return Ok(Insertion::Full);
            }
            let registered = sqlx::query(REGISTER)
                .bind(&client.id)
                .bind(&client.name)
                .bind(redirects)
                .bind(millis(client.created_at))
                .execute(&mut *transaction)
                .await?;
            transaction.commit().await?;
            let is_new = registered.rows_affected() == 1;
            sqlx::Result::Ok(if is_new { Insertion::Done } else { Insertion::Refused })
        };
        registered.await.map_err(|source| store.error(source))
    }

    /// A client that is not too old.
    pub async fn registered_client(
        &self,
        id: &str,
        bounds: ClientBounds,
    ) -> Result<Option<ClientRow>, StoreError> {
        let store = self.inner();
        let row = sqlx::query(FIND)
            .bind(id)
            .bind(millis(bounds.unused_before))
            .bind(millis(bounds.used_before))
            .fetch_optional(&mut *store.connection().await)
            .await;
        let row = row.and_then(|row| row.as_ref().map(client).transpose());
        row.map_err(|source| store.error(source))
    }

    pub async fn note_client_use(&self, id: &str, now: Timestamp) -> Result<(), StoreError> {
        let store = self.inner();
        let noted = sqlx::query(USED).bind(id).bind(millis(now));
        let noted = noted.execute(&mut *store.connection().await).await;
        noted.map(drop).map_err(|source| store.error(source))
    }
}

fn client(row: &SqliteRow) -> sqlx::Result<ClientRow> {
    let redirects: String = row.try_get("redirects")?;
    let redirects = serde_json::from_str(&redirects);
    Ok(ClientRow {
        id: row.try_get("id")?,
        name: row.try_get("name")?,
        redirects: redirects.map_err(|error| sqlx::Error::Decode(error.into()))?,
        created_at: moment(row, "created_at")?,
        used_at: maybe(row, "used_at")?,
    })
}
