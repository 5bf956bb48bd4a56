//! Access tokens: created once, hashed, bounded, and followed by other processes.

use std::sync::Arc;
use std::time::Duration;

use gatefold_core::{AgentId, ManualClock, PresentedToken, Timestamp, UserId};
use gatefold_identity::NewAccessToken;
use gatefold_identity::limits::TOKEN_PATTERNS;
use gatefold_store::record_limits::ACCESS_TOKENS;
use gatefold_store::{Store, StoreError};
use sqlx::{Connection as _, Executor as _};
use tempfile::tempdir;

use crate::fixture::{NOW, at, connect, open};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

fn token(name: &str) -> NewAccessToken {
    NewAccessToken {
        name: name.to_owned(),
        user: UserId::new("ann"),
        agent: None,
        tools: Vec::new(),
        read_only: false,
        expires_at: None,
    }
}

/// Reads all that is on disk below a directory.
fn everything(directory: &std::path::Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        bytes.extend(if path.is_dir() { everything(&path) } else { std::fs::read(&path).unwrap() });
    }
    bytes
}

#[tokio::test]
async fn a_token_is_kept_as_a_hash_alone() {
    let directory = tempdir().unwrap();
    let store = open(directory.path()).await;
    let new = NewAccessToken {
        agent: Some(AgentId::new("sales")),
        tools: vec!["mail__*".to_owned(), "crm__find".to_owned()],
        read_only: true,
        expires_at: Some(NOW.plus(DAY)),
        ..token("ann's laptop")
    };
    let (record, text) = store.create_access_token(new).await.unwrap();
    assert_eq!(store.access_tokens().await.unwrap(), std::slice::from_ref(&record));
    assert_eq!((record.created_at, record.last_used), (NOW, None));
    assert!(!record.has_expired(NOW) && record.has_expired(NOW.plus(DAY)));
    let presented = PresentedToken::read(text.expose()).unwrap();
    assert_eq!(presented.id, record.id);
    let known = store.token_reader().changed().await.unwrap().unwrap();
    assert_eq!((known.len(), known[0].hash()), (1, &presented.hash));
    store.close().await.unwrap();
    let on_disk = everything(directory.path());
    let is_there = |text: &str| on_disk.windows(text.len()).any(|part| part == text.as_bytes());
    assert!(is_there("ann's laptop") && !is_there(text.expose()));
    assert!(!is_there(&text.expose()[12..64]), "nor its secret part");
}

#[tokio::test]
async fn another_process_follows_what_becomes_of_tokens() {
    let directory = tempdir().unwrap();
    let (gateway, command) = (open(directory.path()).await, open(directory.path()).await);
    let mut reader = gateway.token_reader();
    assert_eq!(reader.changed().await.unwrap().map(|known| known.len()), Some(0));
    assert!(reader.changed().await.unwrap().is_none(), "nothing has changed");
    let (record, _) = command.create_access_token(token("one")).await.unwrap();
    command.create_access_token(token("two")).await.unwrap();
    assert_eq!(reader.changed().await.unwrap().map(|known| known.len()), Some(2));
    let hour = Timestamp::from_millis(NOW.as_millis() / 3_600_000 * 3_600_000);
    gateway.note_token_uses(&[(record.id.clone(), hour)]).await.unwrap();
    assert!(reader.changed().await.unwrap().is_none(), "a use is no change");
    assert_eq!(command.access_tokens().await.unwrap()[0].last_used, Some(hour));
    let earlier = Timestamp::from_millis(hour.as_millis() - 3_600_000);
    gateway.note_token_uses(&[(record.id.clone(), earlier)]).await.unwrap();
    assert_eq!(command.access_tokens().await.unwrap()[0].last_used, Some(hour));
    let revoked = command.revoke_access_token(record.id.as_str()).await.unwrap();
    assert_eq!(revoked.name, "one");
    command.revoke_access_token("two").await.unwrap();
    assert_eq!(reader.changed().await.unwrap().map(|known| known.len()), Some(0));
    let error = command.revoke_access_token("two").await.unwrap_err();
    assert_eq!(error.to_string(), "there is no access token `two`");
}

#[tokio::test]
async fn a_name_means_one_token() {
    let directory = tempdir().unwrap();
    let store = open(directory.path()).await;
    store.create_access_token(token("one")).await.unwrap();
    let same = store.create_access_token(token("one")).await.unwrap_err();
    assert_eq!(same.to_string(), "there is an access token `one` already");
    let like_an_id = store.create_access_token(token("7hq2-m4xk")).await.unwrap_err();
    assert!(matches!(like_an_id, StoreError::TokenRefused(_)), "{like_an_id}");
    store.revoke_access_token("one").await.unwrap();
    store.create_access_token(token("one")).await.unwrap();
}

#[tokio::test]
async fn tokens_and_what_is_in_them_are_bounded() {
    let directory = tempdir().unwrap();
    let store = open(directory.path()).await;
    let long = "x".repeat(1000);
    for refused in [
        token(""),
        token(" padded"),
        token("two\nlines"),
        token(&long),
        NewAccessToken { user: UserId::new(long.as_str()), ..token("a") },
        NewAccessToken { tools: vec!["*".to_owned(); TOKEN_PATTERNS + 1], ..token("a") },
        NewAccessToken { tools: vec![long.clone()], ..token("a") },
    ] {
        let error = store.create_access_token(refused).await.unwrap_err();
        assert!(matches!(error, StoreError::TokenRefused(_)), "{error}");
    }
    let mut connection = connect(directory.path()).await;
    let mut transaction = connection.begin().await.unwrap();
    let filled = format!(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {ACCESS_TOKENS})
        INSERT INTO access_tokens (id, name, hash, user, read_only, created_at)
        SELECT 'i' || i, 'n' || i, zeroblob(32), 'ann', 0, 0 FROM n"
    );
    transaction.execute(sqlx::AssertSqlSafe(filled)).await.unwrap();
    transaction.commit().await.unwrap();
    let error = store.create_access_token(token("one more")).await.unwrap_err();
    assert_eq!(error.to_string(), "there are too many access tokens, the limit: 10000");
    let all = store.token_reader().changed().await.unwrap().unwrap();
    assert_eq!(all.len(), ACCESS_TOKENS as usize);
}

#[tokio::test]
async fn many_who_want_one_name_at_once_get_one_token() {
    let directory = tempdir().unwrap();
    let clock = Arc::new(ManualClock::at(NOW));
    let one = Store::open(directory.path(), at(&clock)).await.unwrap();
    let other = Store::open(directory.path(), at(&clock)).await.unwrap();
    let mut creating = tokio::task::JoinSet::new();
    for store in [&one, &other].into_iter().cycle().take(20) {
        let store = store.clone();
        creating.spawn(async move { store.create_access_token(token("same")).await.is_ok() });
    }
    let created = creating.join_all().await.into_iter().filter(|created| *created).count();
    assert_eq!((created, one.access_tokens().await.unwrap().len()), (1, 1));
}
