//! Access tokens to the gateway: who may reach it, for whom, and how much of it.
//!
//! A token is shown once, to whoever creates it; the database has its hash. A gateway that runs
//! looks at the number of changes alone, and reads the tokens again when that has risen: so another
//! process can revoke one.

mod watch;

use gatefold_core::{AgentId, DrawnToken, Secret, Timestamp, TokenId, TokenKind, UserId};
use gatefold_identity::limits::NAME_BYTES;
use gatefold_identity::{AccessTokenRecord, NewAccessToken};
use sqlx::sqlite::SqliteRow;
use sqlx::{Connection as _, Row as _, SqliteConnection};

use crate::database::millis;
use crate::sign_ins::{CHANGED, maybe, moment};
use crate::{Store, StoreError};

pub use watch::TokenReader;

/// The most tokens on record.
pub const ACCESS_TOKENS: u32 = 10_000;

/// How many ids to try if one is taken.
const DRAWS: usize = 4;

const COUNT: &str = "
    SELECT count(*), count(*) FILTER (WHERE name = ?1) FROM access_tokens";

const KEEP: &str = "
    INSERT INTO access_tokens
        (id, name, hash, user, agent, tools, read_only, created_at, expires_at)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
    ON CONFLICT (id) DO NOTHING";

const LISTED: &str = "SELECT * FROM access_tokens ORDER BY name LIMIT ?1";

const REVOKE: &str = "DELETE FROM access_tokens WHERE name = ?1 OR id = ?1 RETURNING *";

const KNOWN: &str = "
    SELECT EXISTS (SELECT 1 FROM access_tokens WHERE id = ?1)
        OR EXISTS (SELECT 1 FROM token_families WHERE id = ?1)";

const USED: &str = "
    UPDATE access_tokens SET last_used = ?2
    WHERE id = ?1 AND (last_used IS NULL OR last_used < ?2)";

const FAMILY_USED: &str = "
    UPDATE token_families SET last_used = ?2
    WHERE id = ?1 AND (last_used IS NULL OR last_used < ?2)";

impl Store {
    /// Creates a token. Its text is in the answer and nowhere else.
    pub async fn create_access_token(
        &self,
        new: NewAccessToken,
    ) -> Result<(AccessTokenRecord, Secret), StoreError> {
        new.check().map_err(StoreError::TokenRefused)?;
        let store = self.inner();
        let now = store.now();
        let mut connection = store.connection().await;
        let failed = |source| store.error(source);
        // Immediate, because another process may take the same name or the last place.
        let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await.map_err(failed)?;
        let counted = sqlx::query(COUNT).bind(&new.name).fetch_one(&mut *transaction).await;
        let counted = counted.map_err(failed)?;
        let (all, same): (i64, i64) = (counted.get(0), counted.get(1));
        if same > 0 {
            return Err(StoreError::TokenNameTaken(new.name));
        }
        if all >= i64::from(ACCESS_TOKENS) {
            return Err(StoreError::TooManyTokens { limit: ACCESS_TOKENS });
        }
        for _ in 0..DRAWS {
            let drawn = DrawnToken::draw(TokenKind::Access).map_err(StoreError::Random)?;
            if keep(&mut transaction, &drawn, &new, now).await.map_err(failed)? {
                sqlx::query(CHANGED).execute(&mut *transaction).await.map_err(failed)?;
                transaction.commit().await.map_err(failed)?;
                return Ok((record_of(drawn.id, new, now), drawn.text));
            }
        }
        Err(StoreError::TooManyTokens { limit: ACCESS_TOKENS })
    }

    /// All tokens, by their names.
    pub async fn access_tokens(&self) -> Result<Vec<AccessTokenRecord>, StoreError> {
        let store = self.inner();
        let listed = sqlx::query(LISTED).bind(ACCESS_TOKENS);
        let rows = listed.fetch_all(&mut *store.connection().await).await;
        let records = rows.and_then(|rows| rows.iter().map(record).collect());
        records.map_err(|source| store.error(source))
    }

    /// Revokes a token by its name or its id, and forgets it. Gateways that run notice within a
    /// second or two.
    pub async fn revoke_access_token(&self, named: &str) -> Result<AccessTokenRecord, StoreError> {
        let store = self.inner();
        let mut connection = store.connection().await;
        let failed = |source| store.error(source);
        let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await.map_err(failed)?;
        let gone = sqlx::query(REVOKE).bind(named).fetch_optional(&mut *transaction).await;
        let gone = gone.and_then(|row| row.as_ref().map(record).transpose()).map_err(failed)?;
        let Some(gone) = gone else {
            let shown: String = named.chars().take(NAME_BYTES).collect();
            return Err(StoreError::NoToken(shown));
        };
        sqlx::query(CHANGED).execute(&mut *transaction).await.map_err(failed)?;
        transaction.commit().await.map_err(failed)?;
        Ok(gone)
    }

    /// Whether a token is one that was made or signed in for here, and was not revoked since. It may have expired.
    pub async fn knows_token(&self, id: &TokenId) -> Result<bool, StoreError> {
        let store = self.inner();
        let known = sqlx::query_scalar(KNOWN).bind(id.as_str());
        let known = known.fetch_one(&mut *store.connection().await).await;
        known.map_err(|source| store.error(source))
    }

    /// Notes in which hours tokens were last used. This is no change that gateways look for.
    pub async fn note_token_uses(&self, uses: &[(TokenId, Timestamp)]) -> Result<(), StoreError> {
        let store = self.inner();
        let mut connection = store.connection().await;
        let noted = async {
            let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
            for (id, at) in uses {
                for sql in [USED, FAMILY_USED] {
                    let noted = sqlx::query(sql).bind(id.as_str()).bind(millis(*at));
                    noted.execute(&mut *transaction).await?;
                }
            }
            transaction.commit().await
        };
        noted.await.map_err(|source| store.error(source))
    }
}

/// Adds a token; false if its id is taken.
async fn keep(
    connection: &mut SqliteConnection,
    drawn: &DrawnToken,
    new: &NewAccessToken,
    now: Timestamp,
) -> sqlx::Result<bool> {
    let tools = (!new.tools.is_empty()).then(|| serde_json::json!(new.tools).to_string());
    let kept = sqlx::query(KEEP)
        .bind(drawn.id.as_str())
        .bind(&new.name)
        .bind(&drawn.hash.as_bytes()[..])
        .bind(new.user.as_str())
        .bind(new.agent.as_ref().map(AgentId::as_str))
        .bind(tools)
        .bind(new.read_only)
        .bind(millis(now))
        .bind(new.expires_at.map(millis))
        .execute(connection)
        .await?;
    Ok(kept.rows_affected() == 1)
}

fn record_of(id: TokenId, new: NewAccessToken, now: Timestamp) -> AccessTokenRecord {
    let NewAccessToken { name, user, agent, tools, read_only, expires_at } = new;
    AccessTokenRecord {
        id,
        name,
        user,
        agent,
        tools,
        read_only,
        created_at: now,
        expires_at,
        last_used: None,
    }
}

fn record(row: &SqliteRow) -> sqlx::Result<AccessTokenRecord> {
    let tools: Option<String> = row.try_get("tools")?;
    let tools = tools.map(|tools| serde_json::from_str(&tools)).transpose();
    let text = |name| row.try_get::<String, _>(name);
    Ok(AccessTokenRecord {
        id: TokenId::new(text("id")?),
        name: text("name")?,
        user: UserId::new(text("user")?),
        agent: row.try_get::<Option<String>, _>("agent")?.map(AgentId::new),
        tools: tools.map_err(|error| sqlx::Error::Decode(error.into()))?.unwrap_or_default(),
        read_only: row.try_get("read_only")?,
        created_at: moment(row, "created_at")?,
        expires_at: maybe(row, "expires_at")?,
        last_used: maybe(row, "last_used")?,
    })
}
