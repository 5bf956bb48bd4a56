//! People: their passwords, the links that set them, and the browsers in which they are signed in.

use gatefold_core::{Digest, DrawnToken, Timestamp, TokenId, TokenKind, UserId};
use gatefold_identity::limits::{LINK_LIFE, NAME_BYTES};
use gatefold_identity::{
    BrowserSession, KeepOutcome, NewPassword, PasswordLink, People, PersonRecord, StoreAnswer,
    is_plain_name,
};
use sqlx::sqlite::SqliteRow;
use sqlx::{Connection as _, Row as _};

use super::families::end_families_of;
use super::{
    BROWSERS_PER_USER, FAMILIES, PEOPLE, PROVIDED_PEOPLE, digest, maybe, moment, outcome, provided,
    provided_columns,
};
use crate::database::millis;
use crate::{Store, StoreError};

const PASSWORD: &str = "SELECT hash FROM passwords WHERE user = ?1";

const LINK: &str = "
    SELECT user FROM password_links WHERE id = ?1 AND hash = ?2 AND expires_at > ?3";

const TAKE_LINK: &str = "
    DELETE FROM password_links WHERE id = ?1 AND hash = ?2 AND expires_at > ?3 RETURNING user";

const SET_PASSWORD: &str = "
    INSERT INTO passwords (user, hash, changed_at) VALUES (?1, ?2, ?3)
    ON CONFLICT (user) DO UPDATE SET hash = ?2, changed_at = ?3";

const OTHERS: &str = "
    SELECT count(*) FROM (
        SELECT user FROM passwords UNION SELECT user FROM password_links) WHERE user <> ?1";

const NEW_LINK: &str = "
    INSERT INTO password_links (user, id, hash, expires_at) VALUES (?1, ?2, ?3, ?4)
    ON CONFLICT (user) DO UPDATE SET id = ?2, hash = ?3, expires_at = ?4";

const DROP_LINKS: &str = "DELETE FROM password_links WHERE expires_at <= ?1";

const OPEN: &str = "
    INSERT INTO browser_sessions (id, hash, user, expires_at, issuer, subject)
    SELECT ?1, ?2, ?3, ?4, ?5, ?6
    WHERE CASE WHEN ?5 IS NULL THEN EXISTS (SELECT 1 FROM passwords WHERE user = ?3)
        ELSE EXISTS (SELECT 1 FROM provided_people
            WHERE issuer = ?5 AND subject = ?6 AND user = ?3) END
    ON CONFLICT (id) DO NOTHING";

const DROP_SESSIONS: &str = "DELETE FROM browser_sessions WHERE expires_at <= ?1";

const MAKE_ROOM: &str = "
    DELETE FROM browser_sessions WHERE user = ?1 AND id NOT IN (
        SELECT id FROM browser_sessions WHERE user = ?1 ORDER BY expires_at DESC, id LIMIT ?2)";

const SESSION: &str = "SELECT * FROM browser_sessions WHERE id = ?1 AND expires_at > ?2";

const PEOPLE_LISTED: &str = "
    SELECT user, passwords.changed_at, password_links.expires_at AS link,
        (SELECT issuer FROM provided_people AS own
            WHERE own.user = people.user ORDER BY signed_in_at DESC LIMIT 1) AS issuer,
        (SELECT max(signed_in_at) FROM provided_people AS own
            WHERE own.user = people.user) AS signed_in_at,
        (SELECT count(*) FROM token_families AS own
            WHERE own.user = people.user AND own.expires_at > ?1) AS clients
    FROM (SELECT user FROM passwords UNION SELECT user FROM password_links WHERE expires_at > ?1
        UNION SELECT user FROM token_families WHERE expires_at > ?1
        UNION SELECT user FROM provided_people) AS people
    LEFT JOIN passwords USING (user)
    LEFT JOIN password_links USING (user)
    ORDER BY user LIMIT ?2";

/// The most people that are listed.
const LISTED: u32 = PEOPLE + PROVIDED_PEOPLE + FAMILIES;

impl People for Store {
    fn password<'a>(&'a self, user: &'a UserId) -> StoreAnswer<'a, Option<String>> {
        Box::pin(async move {
            let store = self.inner();
            let found = sqlx::query_scalar(PASSWORD).bind(user.as_str());
            let found = found.fetch_optional(&mut *store.connection().await).await;
            Ok(found.map_err(|source| store.error(source))?)
        })
    }

    fn password_link<'a>(
        &'a self,
        id: &'a TokenId,
        hash: Digest,
        now: Timestamp,
    ) -> StoreAnswer<'a, Option<UserId>> {
        Box::pin(async move {
            let store = self.inner();
            let user: sqlx::Result<Option<String>> = sqlx::query_scalar(LINK)
                .bind(id.as_str())
                .bind(&hash.as_bytes()[..])
                .bind(millis(now))
                .fetch_optional(&mut *store.connection().await)
                .await;
            Ok(user.map_err(|source| store.error(source))?.map(UserId::new))
        })
    }

    fn set_password(&self, new: NewPassword, now: Timestamp) -> StoreAnswer<'_, Option<UserId>> {
        Box::pin(async move {
            let store = self.inner();
            let mut connection = store.connection().await;
            let set = async {
                let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
                let user: Option<String> = sqlx::query_scalar(TAKE_LINK)
                    .bind(new.link.as_str())
                    .bind(&new.link_hash.as_bytes()[..])
                    .bind(millis(now))
                    .fetch_optional(&mut *transaction)
                    .await?;
                let Some(user) = user else { return Ok(None) };
                sqlx::query(SET_PASSWORD)
                    .bind(&user)
                    .bind(&new.password)
                    .bind(millis(now))
                    .execute(&mut *transaction)
                    .await?;
                let sessions =
                    sqlx::query("DELETE FROM browser_sessions WHERE user = ?1").bind(&user);
                sessions.execute(&mut *transaction).await?;
                transaction.commit().await?;
                sqlx::Result::Ok(Some(UserId::new(user)))
            };
            Ok(set.await.map_err(|source| store.error(source))?)
        })
    }

    fn open_session(
        &self,
        session: BrowserSession,
        now: Timestamp,
    ) -> StoreAnswer<'_, KeepOutcome> {
        Box::pin(async move {
            let store = self.inner();
            let mut connection = store.connection().await;
            let opened = async {
                let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
                sqlx::query(DROP_SESSIONS).bind(millis(now)).execute(&mut *transaction).await?;
                let (issuer, subject) = provided_columns(session.provided.as_ref());
                let opened = sqlx::query(OPEN)
                    .bind(session.id.as_str())
                    .bind(&session.hash.as_bytes()[..])
                    .bind(session.user.as_str())
                    .bind(millis(session.expires_at))
                    .bind(issuer)
                    .bind(subject)
                    .execute(&mut *transaction)
                    .await?;
                let room =
                    sqlx::query(MAKE_ROOM).bind(session.user.as_str()).bind(BROWSERS_PER_USER);
                room.execute(&mut *transaction).await?;
                transaction.commit().await?;
                sqlx::Result::Ok(outcome(&opened))
            };
            Ok(opened.await.map_err(|source| store.error(source))?)
        })
    }

    fn session<'a>(
        &'a self,
        id: &'a TokenId,
        now: Timestamp,
    ) -> StoreAnswer<'a, Option<BrowserSession>> {
        Box::pin(async move {
            let store = self.inner();
            let row = sqlx::query(SESSION).bind(id.as_str()).bind(millis(now));
            let row = row.fetch_optional(&mut *store.connection().await).await;
            let row = row.and_then(|row| row.as_ref().map(session).transpose());
            Ok(row.map_err(|source| store.error(source))?)
        })
    }

    fn close_session<'a>(&'a self, id: &'a TokenId) -> StoreAnswer<'a, ()> {
        Box::pin(async move {
            let store = self.inner();
            let closed =
                sqlx::query("DELETE FROM browser_sessions WHERE id = ?1").bind(id.as_str());
            let closed = closed.execute(&mut *store.connection().await).await;
            Ok(closed.map(drop).map_err(|source| store.error(source))?)
        })
    }
}

impl Store {
    /// Makes a link to set a user's password, instead of the one before.
    pub async fn create_password_link(&self, user: &UserId) -> Result<PasswordLink, StoreError> {
        if !is_plain_name(user.as_str()) {
            let text = format!(
                "the name of a user has 1 to {NAME_BYTES} bytes, no space around it, and no \
                 control characters"
            );
            return Err(StoreError::TokenRefused(text));
        }
        let store = self.inner();
        let drawn = DrawnToken::draw(TokenKind::Link).map_err(StoreError::Random)?;
        let (now, mut connection) = (store.now(), store.connection().await);
        let expires_at = now.plus(LINK_LIFE);
        let made = async {
            let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
            sqlx::query(DROP_LINKS).bind(millis(now)).execute(&mut *transaction).await?;
            let others: i64 =
                sqlx::query_scalar(OTHERS).bind(user.as_str()).fetch_one(&mut *transaction).await?;
            if others >= i64::from(PEOPLE) {
                return Ok(false);
            }
            sqlx::query(NEW_LINK)
                .bind(user.as_str())
                .bind(drawn.id.as_str())
                .bind(&drawn.hash.as_bytes()[..])
                .bind(millis(expires_at))
                .execute(&mut *transaction)
                .await?;
            transaction.commit().await?;
            sqlx::Result::Ok(true)
        };
        if !made.await.map_err(|source| store.error(source))? {
            return Err(StoreError::TooManyPeople { limit: PEOPLE });
        }
        Ok(PasswordLink { text: drawn.text, expires_at })
    }

    /// All who sign in here, or have let clients in.
    pub async fn people(&self) -> Result<Vec<PersonRecord>, StoreError> {
        let store = self.inner();
        let listed = sqlx::query(PEOPLE_LISTED).bind(millis(store.now())).bind(LISTED);
        let rows = listed.fetch_all(&mut *store.connection().await).await;
        let people = rows.and_then(|rows| rows.iter().map(person).collect());
        people.map_err(|source| store.error(source))
    }

    /// Removes a user's password, links and sessions, what a provider said of the user, and ends the access of every client that the
    /// user has let in. Returns whether there was anything.
    pub async fn remove_person(&self, user: &UserId) -> Result<bool, StoreError> {
        let store = self.inner();
        let mut connection = store.connection().await;
        let removed = async {
            let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
            let mut gone = end_families_of(&mut transaction, user).await?;
            for sql in [
                "DELETE FROM passwords WHERE user = ?1",
                "DELETE FROM provided_people WHERE user = ?1",
                "DELETE FROM password_links WHERE user = ?1",
                "DELETE FROM browser_sessions WHERE user = ?1",
                "DELETE FROM issued_codes WHERE user = ?1",
            ] {
                let deleted =
                    sqlx::query(sql).bind(user.as_str()).execute(&mut *transaction).await?;
                gone += deleted.rows_affected();
            }
            transaction.commit().await?;
            sqlx::Result::Ok(gone > 0)
        };
        removed.await.map_err(|source| store.error(source))
    }
}

fn session(row: &SqliteRow) -> sqlx::Result<BrowserSession> {
    Ok(BrowserSession {
        id: TokenId::new(row.try_get::<String, _>("id")?),
        hash: digest(row, "hash")?,
        user: UserId::new(row.try_get::<String, _>("user")?),
        provided: provided(row)?,
        expires_at: moment(row, "expires_at")?,
    })
}

fn person(row: &SqliteRow) -> sqlx::Result<PersonRecord> {
    Ok(PersonRecord {
        user: UserId::new(row.try_get::<String, _>("user")?),
        password_set_at: maybe(row, "changed_at")?,
        link_expires_at: maybe(row, "link")?,
        issuer: row.try_get("issuer")?,
        signed_in_at: maybe(row, "signed_in_at")?,
        clients: row.try_get::<i64, _>("clients")?.cast_unsigned(),
    })
}
