//! Signing in at the gateway: what is used once is used once in all processes, and all is bounded.

use std::path::Path;
use std::time::Duration;

use gatefold_core::{Digest, PresentedToken, Timestamp, TokenId, UserId};
use gatefold_identity::limits::REGISTERED_CLIENTS;
use gatefold_identity::{
    BrowserSession, ClientRecord, CodeRecord, CodeState, Consent, FamilyAccess, FamilyRecord,
    FamilyRenewal, KeepOutcome, KnownToken, NewPassword, People as _, RegisteredClients as _,
    Resource, Scopes, TokenFamilies as _,
};
use gatefold_store::record_limits::{
    BROWSERS_PER_USER, FAMILIES, FAMILIES_PER_USER, ISSUED_CODES, PEOPLE,
};
use gatefold_store::{Store, StoreError};
use sqlx::Executor as _;
use tempfile::tempdir;
use tokio::task::JoinSet;

use crate::fixture::{NOW, connect, open};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

fn digest(number: u32) -> Digest {
    let mut bytes = [0; 32];
    bytes[..4].copy_from_slice(&number.to_be_bytes());
    Digest::new(bytes)
}

pub(crate) fn code(id: &str, user: &str) -> CodeRecord {
    CodeRecord {
        id: TokenId::new(id),
        hash: digest(1),
        consent: Consent {
            user: UserId::new(user),
            provided: None,
            client: "https://app.example/client".to_owned(),
            client_name: "Notebook".to_owned(),
            resource: Resource::kept("https://tools.example.com/mcp"),
            scopes: Scopes::Read,
        },
        redirect: "http://127.0.0.1/callback".to_owned(),
        challenge: "challenge".to_owned(),
        expires_at: NOW.plus(Duration::from_secs(60)),
    }
}

fn access(number: u32) -> FamilyAccess {
    FamilyAccess {
        hash: digest(number),
        resource: Resource::kept("https://tools.example.com/mcp"),
        scopes: Scopes::Read,
        expires_at: NOW.plus(Duration::from_secs(3600)),
    }
}

/// What a code becomes.
pub(crate) fn family(code: CodeRecord, refreshed_at: Timestamp) -> FamilyRecord {
    FamilyRecord {
        id: code.id,
        consent: code.consent,
        created_at: refreshed_at,
        expires_at: NOW.plus(90 * DAY),
        refresh: digest(2),
        refreshes: 0,
        refreshed_at,
        access: access(3),
        last_used: None,
    }
}

/// A store with people who have passwords.
async fn with_people(directory: &Path) -> Store {
    let store = open(directory).await;
    let people = "INSERT INTO passwords VALUES ('ann', '', 0), ('bob', '', 0)";
    connect(directory).await.execute(people).await.unwrap();
    store
}

fn user_and_hash(known: KnownToken) -> (UserId, Digest) {
    let KnownToken::SignedIn { family, .. } = known else { panic!("nobody made a token") };
    (family.consent.user, family.access.hash)
}

/// Writes many rows, whose values may have their number `i`.
async fn fill(directory: &Path, table: &str, columns: &str, values: &str, count: u32) {
    let sql = format!(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {count})
        INSERT INTO {table} ({columns}) SELECT {values} FROM n"
    );
    connect(directory).await.execute(sqlx::AssertSqlSafe(sql)).await.unwrap();
}

/// A client that a user has let in.
async fn begin(store: &Store, id: &str, user: &str, at: Timestamp) -> KeepOutcome {
    assert_eq!(store.keep_code(code(id, user), NOW).await.unwrap(), KeepOutcome::Kept);
    let taken = store.take_code(&TokenId::new(id), digest(1)).await.unwrap();
    assert_eq!(taken, CodeState::Fresh(Box::new(code(id, user))));
    store.begin_family(family(code(id, user), at), NOW).await.unwrap()
}

fn renewal(from: u32, to: u32) -> FamilyRenewal {
    FamilyRenewal {
        from: digest(from),
        refresh: digest(to),
        refreshed_at: NOW,
        access: access(to + 1),
    }
}

#[tokio::test]
async fn a_code_is_taken_once_by_all_processes_together() {
    let directory = tempdir().unwrap();
    let (one, other) = (with_people(directory.path()).await, open(directory.path()).await);
    let id = TokenId::new("aaaa-aaaa");
    assert_eq!(one.keep_code(code("aaaa-aaaa", "ann"), NOW).await.unwrap(), KeepOutcome::Kept);
    assert_eq!(one.keep_code(code("aaaa-aaaa", "bob"), NOW).await.unwrap(), KeepOutcome::Refused);
    assert_eq!(one.take_code(&id, digest(9)).await.unwrap(), CodeState::Unknown);
    let mut taking = JoinSet::new();
    for store in [&one, &other].into_iter().cycle().take(20) {
        let (store, id) = (store.clone(), id.clone());
        taking.spawn(async move { store.take_code(&id, digest(1)).await.unwrap() });
    }
    let taken = taking.join_all().await;
    let fresh = taken.iter().filter(|state| matches!(state, CodeState::Fresh(_))).count();
    let used = taken.iter().filter(|state| **state == CodeState::Used).count();
    assert_eq!((fresh, used), (1, 19));
    // A code that was used twice is revoked, whether its family has begun or not.
    other.end_family(&id).await.unwrap();
    let begun = one.begin_family(family(code("aaaa-aaaa", "ann"), NOW), NOW).await.unwrap();
    assert_eq!(begun, KeepOutcome::Refused);
    let unused = code("bbbb-bbbb", "ann");
    assert_eq!(one.keep_code(unused, NOW).await.unwrap(), KeepOutcome::Kept);
    let begun = one.begin_family(family(code("bbbb-bbbb", "ann"), NOW), NOW).await.unwrap();
    assert_eq!(begun, KeepOutcome::Refused, "nobody has shown the code");
}

#[tokio::test]
async fn a_refresh_happens_once_in_all_processes_together() {
    let directory = tempdir().unwrap();
    let (one, other) = (with_people(directory.path()).await, open(directory.path()).await);
    let id = TokenId::new("aaaa-aaaa");
    assert_eq!(begin(&one, "aaaa-aaaa", "ann", NOW).await, KeepOutcome::Kept);
    let mut renewing = JoinSet::new();
    for (number, store) in [&one, &other].into_iter().cycle().take(20).enumerate() {
        let (store, id) = (store.clone(), id.clone());
        let to = 10 * (u32::try_from(number).unwrap() + 1);
        renewing.spawn(async move {
            store.renew_family(&id, renewal(2, to)).await.unwrap().then_some(to)
        });
    }
    let renewed: Vec<_> = renewing.join_all().await.into_iter().flatten().collect();
    assert_eq!(renewed.len(), 1, "{renewed:?}");
    let now = other.family(&id, NOW).await.unwrap().unwrap();
    assert_eq!((now.refreshes, now.refresh), (1, digest(renewed[0])));
    assert_eq!(now.access.hash, digest(renewed[0] + 1));
    assert_eq!(other.family(&id, NOW.plus(90 * DAY)).await.unwrap(), None);
}

#[tokio::test]
async fn gateways_follow_what_becomes_of_clients() {
    let directory = tempdir().unwrap();
    let (gateway, other) = (with_people(directory.path()).await, open(directory.path()).await);
    let mut reader = gateway.token_reader();
    let mut known = async || {
        let tokens = reader.changed().await.unwrap()?;
        Some(tokens.into_iter().map(user_and_hash).collect::<Vec<_>>())
    };
    assert_eq!(known().await, Some(vec![]));
    assert_eq!(begin(&other, "aaaa-aaaa", "ann", NOW).await, KeepOutcome::Kept);
    let ann = UserId::new("ann");
    assert_eq!(known().await, Some(vec![(ann.clone(), digest(3))]));
    let id = TokenId::new("aaaa-aaaa");
    gateway.note_token_uses(&[(id.clone(), NOW)]).await.unwrap();
    assert_eq!(known().await, None, "a use is no change");
    assert_eq!(other.families().await.unwrap()[0].last_used, Some(NOW));
    assert!(other.renew_family(&id, renewal(2, 20)).await.unwrap());
    assert_eq!(known().await, Some(vec![(ann.clone(), digest(21))]));
    assert!(!other.renew_family(&id, renewal(2, 30)).await.unwrap());
    assert_eq!(known().await, None, "nothing was renewed");
    assert!(other.end_family(&id).await.unwrap());
    assert_eq!(known().await, Some(vec![]));
    assert!(!other.end_family(&id).await.unwrap());
    assert_eq!(begin(&other, "bbbb-bbbb", "ann", NOW).await, KeepOutcome::Kept);
    assert_eq!(known().await.map(|known| known.len()), Some(1));
    assert!(other.remove_person(&ann).await.unwrap());
    assert_eq!(known().await, Some(vec![]));
    // What was under way for somebody who was removed comes to nothing.
    let late = other.keep_code(code("cccc-cccc", "ann"), NOW).await.unwrap();
    assert_eq!(late, KeepOutcome::Refused);
    let late = BrowserSession {
        id: TokenId::new("browser"),
        hash: digest(1),
        user: ann,
        provided: None,
        expires_at: NOW.plus(DAY),
    };
    assert_eq!(other.open_session(late, NOW).await.unwrap(), KeepOutcome::Refused);
}

#[tokio::test]
async fn a_link_sets_one_password_and_is_gone() {
    let directory = tempdir().unwrap();
    let (one, other) = (with_people(directory.path()).await, open(directory.path()).await);
    let ann = UserId::new("ann");
    let older = one.create_password_link(&ann).await.unwrap();
    let link = other.create_password_link(&ann).await.unwrap();
    let read = |text: &gatefold_core::Secret| PresentedToken::read(text.expose()).unwrap();
    let (older, link) = (read(&older.text), read(&link.text));
    let whose = async |token: &PresentedToken, at| {
        one.password_link(&token.id, token.hash, at).await.unwrap()
    };
    assert_eq!(whose(&older, NOW).await, None, "the newer one takes its place");
    assert_eq!(whose(&link, NOW).await, Some(ann.clone()));
    assert_eq!(whose(&link, NOW.plus(DAY)).await, None);
    let session = |number: u32, user: &str| BrowserSession {
        id: TokenId::new(format!("browser-{number}")),
        hash: digest(number),
        user: UserId::new(user),
        provided: None,
        expires_at: NOW.plus(Duration::from_secs(u64::from(number))),
    };
    for opened in [session(1, "ann"), session(2, "bob")] {
        assert_eq!(one.open_session(opened, NOW).await.unwrap(), KeepOutcome::Kept);
    }
    let mut setting = JoinSet::new();
    for (number, store) in [&one, &other].into_iter().cycle().take(10).enumerate() {
        let (store, id, hash) = (store.clone(), link.id.clone(), link.hash);
        setting.spawn(async move {
            let password = format!("$argon2id${number}");
            let set = NewPassword { link: id, link_hash: hash, password: password.clone() };
            store.set_password(set, NOW).await.unwrap().map(|_| password)
        });
    }
    let set: Vec<_> = setting.join_all().await.into_iter().flatten().collect();
    assert_eq!(set.len(), 1);
    assert_eq!(other.password(&ann).await.unwrap().as_deref(), Some(&*set[0]));
    assert_eq!(whose(&link, NOW).await, None);
    let browser = async |number| one.session(&session(number, "").id, NOW).await.unwrap();
    assert_eq!(browser(1).await, None, "ann signs in anew");
    assert_eq!(browser(2).await, Some(session(2, "bob")));
    let listed = one.people().await.unwrap();
    assert_eq!((listed.len(), listed[0].password_set_at), (2, Some(NOW)));
}

#[tokio::test]
async fn all_that_people_and_clients_have_is_bounded() {
    let directory = tempdir().unwrap();
    let store = with_people(directory.path()).await;
    for number in 0..BROWSERS_PER_USER + 3 {
        let session = BrowserSession {
            id: TokenId::new(format!("browser-{number}")),
            hash: digest(number),
            user: UserId::new("ann"),
            provided: None,
            expires_at: NOW.plus(Duration::from_secs(u64::from(number) + 1)),
        };
        assert_eq!(store.open_session(session, NOW).await.unwrap(), KeepOutcome::Kept);
    }
    assert_eq!(store.session(&TokenId::new("browser-2"), NOW).await.unwrap(), None);
    assert!(store.session(&TokenId::new("browser-3"), NOW).await.unwrap().is_some());

    for number in 0..=FAMILIES_PER_USER {
        let at = NOW.plus(Duration::from_secs(u64::from(number)));
        assert_eq!(begin(&store, &format!("ann-{number}"), "ann", at).await, KeepOutcome::Kept);
    }
    let families = store.families().await.unwrap();
    assert_eq!(families.len(), FAMILIES_PER_USER as usize);
    assert!(!families.iter().any(|family| family.id.as_str() == "ann-0"), "silent for longest");

    let columns = "id, user, client, client_name, resource, scopes, created_at, expires_at, \
                   refresh_hash, refreshes, refreshed_at, access_hash, access_resource, \
                   access_scopes, access_expires_at";
    let far = 4_000_000_000_000_i64;
    let values = format!(
        "'f' || i, 'u' || i, '', '', '', '', 0, {far}, zeroblob(32), 0, 0, zeroblob(32), '', '', 0"
    );
    fill(directory.path(), "token_families", columns, &values, FAMILIES).await;
    assert_eq!(begin(&store, "full-full", "bob", NOW).await, KeepOutcome::Full);

    let columns = "id, hash, user, client, client_name, redirect, challenge, resource, scopes, \
                   expires_at";
    let values = format!("'c' || i, zeroblob(32), 'ann', '', '', '', '', '', '', {far}");
    fill(directory.path(), "issued_codes", columns, &values, ISSUED_CODES).await;
    let kept = store.keep_code(code("more-more", "ann"), NOW).await.unwrap();
    assert_eq!(kept, KeepOutcome::Full);

    fill(directory.path(), "passwords", "user, hash, changed_at", "'p' || i, '', 0", PEOPLE - 2)
        .await;
    let error = store.create_password_link(&UserId::new("more")).await.err().unwrap();
    assert_eq!(error.to_string(), "too many people sign in here, the limit: 10000");
    store.create_password_link(&UserId::new("p1")).await.unwrap();
    for name in ["", " ann", "a\nb", &"x".repeat(200)] {
        let error = store.create_password_link(&UserId::new(name)).await.err().unwrap();
        assert!(matches!(error, StoreError::TokenRefused(_)), "{name}: {error}");
    }
}

#[tokio::test]
async fn clients_that_nobody_lets_in_make_room() {
    let directory = tempdir().unwrap();
    let store = open(directory.path()).await;
    let client = |number: u32, created_at: Timestamp| ClientRecord {
        id: format!("client-{number}"),
        name: "Inspector".to_owned(),
        redirects: vec!["http://127.0.0.1/".to_owned(), "https://app.example/cb".to_owned()],
        created_at,
        used_at: None,
    };
    let register = async |number, at| store.register_client(client(number, at), at).await.unwrap();
    let known = async |number: u32, at| {
        store.registered_client(&format!("client-{number}"), at).await.unwrap()
    };
    assert_eq!(register(1, NOW).await, KeepOutcome::Kept);
    assert_eq!(register(1, NOW).await, KeepOutcome::Refused);
    let values = format!("'other-' || i, '', '[]', {}", NOW.as_millis());
    let others = REGISTERED_CLIENTS - 2;
    fill(
        directory.path(),
        "registered_clients",
        "id, name, redirects, created_at",
        &values,
        others,
    )
    .await;
    assert_eq!(register(2, NOW).await, KeepOutcome::Kept);
    assert_eq!(register(3, NOW).await, KeepOutcome::Full);
    assert_eq!(known(1, NOW).await, Some(client(1, NOW)));
    store.note_client_use("client-1", NOW).await.unwrap();
    let later = NOW.plus(2 * DAY);
    assert_eq!(known(2, later).await, None, "too old even before it is dropped");
    assert_eq!(register(3, later).await, KeepOutcome::Kept);
    assert_eq!(known(1, later).await.and_then(|client| client.used_at), Some(NOW));
    assert_eq!(known(1, NOW.plus(91 * DAY)).await, None);
}
