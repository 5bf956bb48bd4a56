//! Clients that registered themselves.

use gatefold_core::Timestamp;
use gatefold_identity::limits::{REGISTERED_CLIENTS, UNUSED_LIFE, USED_LIFE};
use gatefold_identity::{ClientRecord, KeepOutcome, RegisteredClients, StoreAnswer};
use sqlx::sqlite::SqliteRow;
use sqlx::{Connection as _, Row as _};

use super::{maybe, millis_before, moment, outcome};
use crate::Store;
use crate::database::millis;

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

impl RegisteredClients for Store {
    fn register_client(
        &self,
        client: ClientRecord,
        now: Timestamp,
    ) -> StoreAnswer<'_, KeepOutcome> {
        Box::pin(async move {
            let store = self.inner();
            let redirects = serde_json::json!(client.redirects).to_string();
            let mut connection = store.connection().await;
            let registered = async {
                let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
                sqlx::query(DROP_OLD)
                    .bind(millis_before(now, UNUSED_LIFE))
                    .bind(millis_before(now, USED_LIFE))
                    .execute(&mut *transaction)
                    .await?;
                let count = sqlx::query_scalar("SELECT count(*) FROM registered_clients");
                let count: i64 = count.fetch_one(&mut *transaction).await?;
                if count >= i64::from(REGISTERED_CLIENTS) {
                    return Ok(KeepOutcome::Full);
                }
                let registered = sqlx::query(REGISTER)
                    .bind(&client.id)
                    .bind(&client.name)
                    .bind(redirects)
                    .bind(millis(client.created_at))
                    .execute(&mut *transaction)
                    .await?;
                transaction.commit().await?;
                sqlx::Result::Ok(outcome(&registered))
            };
            Ok(registered.await.map_err(|source| store.error(source))?)
        })
    }

    fn registered_client<'a>(
        &'a self,
        id: &'a str,
        now: Timestamp,
    ) -> StoreAnswer<'a, Option<ClientRecord>> {
        Box::pin(async move {
            let store = self.inner();
            let row = sqlx::query(FIND)
                .bind(id)
                .bind(millis_before(now, UNUSED_LIFE))
                .bind(millis_before(now, USED_LIFE))
                .fetch_optional(&mut *store.connection().await)
                .await;
            let row = row.and_then(|row| row.as_ref().map(client).transpose());
            Ok(row.map_err(|source| store.error(source))?)
        })
    }

    fn note_client_use<'a>(&'a self, id: &'a str, now: Timestamp) -> StoreAnswer<'a, ()> {
        Box::pin(async move {
            let store = self.inner();
            let noted = sqlx::query(USED).bind(id).bind(millis(now));
            let noted = noted.execute(&mut *store.connection().await).await;
            Ok(noted.map(drop).map_err(|source| store.error(source))?)
        })
    }
}

fn client(row: &SqliteRow) -> sqlx::Result<ClientRecord> {
    let redirects: String = row.try_get("redirects")?;
    let redirects = serde_json::from_str(&redirects);
    Ok(ClientRecord {
        id: row.try_get("id")?,
        name: row.try_get("name")?,
        redirects: redirects.map_err(|error| sqlx::Error::Decode(error.into()))?,
        created_at: moment(row, "created_at")?,
        used_at: maybe(row, "used_at")?,
    })
}
