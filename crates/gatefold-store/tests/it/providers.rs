//! People who come by way of a provider, and browsers that are there: also for all processes together.

use std::time::Duration;

use gatefold_core::{Digest, Timestamp, TokenId, UserId};
use gatefold_identity::{
    BrowserSession, CodeRecord, CodeState, FamilyRecord, IssuerSubject, KeepOutcome, KnownToken,
    People as _, ProvidedPeople as _, ProvidedPerson, ProviderVisit, TokenFamilies as _,
};
use gatefold_store::Store;
use gatefold_store::record_limits::{PROVIDED_PEOPLE, PROVIDER_VISITS, VISIT_REQUEST_BYTES};
use sqlx::Executor as _;
use tempfile::tempdir;
use tokio::task::JoinSet;

use crate::fixture::{NOW, connect, open};
use crate::sign_ins;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
const HASH: Digest = Digest::new([1; 32]);
const BROWSER: Digest = Digest::new([2; 32]);

fn subject(subject: &str) -> IssuerSubject {
    IssuerSubject { issuer: "https://id.example".to_owned(), subject: subject.to_owned() }
}

fn person(name: &str, groups: &[&str]) -> ProvidedPerson {
    ProvidedPerson {
        subject: subject(name),
        user: UserId::new(format!("{name}@id.example")),
        groups: groups.iter().map(|&group| group.to_owned()).collect(),
    }
}

fn browser(person: &ProvidedPerson) -> BrowserSession {
    BrowserSession {
        id: TokenId::new("browser"),
        hash: HASH,
        user: person.user.clone(),
        provided: Some(person.subject.clone()),
        expires_at: NOW.plus(DAY),
    }
}

fn code(person: &ProvidedPerson) -> CodeRecord {
    let mut code = sign_ins::code("aaaa-aaaa", person.user.as_str());
    code.consent.provided = Some(person.subject.clone());
    CodeRecord { hash: HASH, ..code }
}

fn family(person: &ProvidedPerson) -> FamilyRecord {
    sign_ins::family(code(person), NOW)
}

fn visit(id: &str, at: Timestamp) -> ProviderVisit {
    ProviderVisit {
        id: TokenId::new(id),
        hash: HASH,
        browser: BROWSER,
        request: format!("request of {id}"),
        expires_at: at.plus(Duration::from_secs(600)),
    }
}

async fn noted(store: &Store, person: &ProvidedPerson) {
    let noted = store.note_provided_person(person.clone(), NOW).await.unwrap();
    assert_eq!(noted, KeepOutcome::Kept);
}

#[tokio::test]
async fn what_a_person_began_ends_with_the_person() {
    let directory = tempdir().unwrap();
    let (gateway, other) = (open(directory.path()).await, open(directory.path()).await);
    let ann = person("ann", &["ops"]);
    let refused = gateway.open_session(browser(&ann), NOW).await.unwrap();
    assert_eq!(refused, KeepOutcome::Refused, "nobody knows the person");
    assert_eq!(gateway.keep_code(code(&ann), NOW).await.unwrap(), KeepOutcome::Refused);
    noted(&gateway, &ann).await;
    let mut somebody_else = browser(&ann);
    somebody_else.user = UserId::new("root");
    assert_eq!(gateway.open_session(somebody_else, NOW).await.unwrap(), KeepOutcome::Refused);
    assert_eq!(gateway.open_session(browser(&ann), NOW).await.unwrap(), KeepOutcome::Kept);
    let kept = other.session(&TokenId::new("browser"), NOW).await.unwrap();
    assert_eq!(kept, Some(browser(&ann)));
    assert_eq!(gateway.keep_code(code(&ann), NOW).await.unwrap(), KeepOutcome::Kept);
    let taken = other.take_code(&TokenId::new("aaaa-aaaa"), HASH).await.unwrap();
    assert_eq!(taken, CodeState::Fresh(Box::new(code(&ann))));
    assert_eq!(other.begin_family(family(&ann), NOW).await.unwrap(), KeepOutcome::Kept);
    assert_eq!(gateway.families().await.unwrap(), [family(&ann)]);
    let listed = other.people().await.unwrap();
    let seen = (listed[0].issuer.as_deref(), listed[0].signed_in_at, listed[0].clients);
    assert_eq!((listed.len(), seen), (1, (Some("https://id.example"), Some(NOW), 1)));
    assert_eq!((&listed[0].user, listed[0].password_set_at), (&ann.user, None));
    assert!(other.remove_person(&ann.user).await.unwrap());
    assert_eq!(gateway.session(&TokenId::new("browser"), NOW).await.unwrap(), None);
    assert_eq!(gateway.families().await.unwrap(), []);
    assert_eq!(gateway.people().await.unwrap(), []);
    let late = gateway.open_session(browser(&ann), NOW).await.unwrap();
    assert_eq!(late, KeepOutcome::Refused, "what was under way comes to nothing");
    assert_eq!(gateway.keep_code(code(&ann), NOW).await.unwrap(), KeepOutcome::Refused);
}

#[tokio::test]
async fn gateways_follow_the_groups_of_the_last_sign_in() {
    let directory = tempdir().unwrap();
    let (gateway, other) = (open(directory.path()).await, open(directory.path()).await);
    let ann = person("ann", &["ops"]);
    noted(&other, &ann).await;
    other.keep_code(code(&ann), NOW).await.map(drop).unwrap();
    other.take_code(&TokenId::new("aaaa-aaaa"), HASH).await.unwrap();
    other.begin_family(family(&ann), NOW).await.map(drop).unwrap();
    let mut reader = gateway.token_reader();
    let mut known = async || {
        let tokens = reader.changed().await.unwrap()?;
        let subject_and_groups = |known| match known {
            KnownToken::SignedIn { family, groups } => {
                (family.consent.provided.unwrap().subject, groups)
            }
            KnownToken::Made { .. } => panic!("nobody made a token"),
        };
        Some(tokens.into_iter().map(subject_and_groups).collect::<Vec<_>>())
    };
    let ops = vec!["ops".to_owned()];
    assert_eq!(known().await, Some(vec![("ann".to_owned(), ops)]));
    noted(&other, &ann).await;
    assert_eq!(known().await, None, "nothing has changed");
    noted(&other, &person("ann", &[])).await;
    assert_eq!(known().await, Some(vec![("ann".to_owned(), vec![])]));
}

#[tokio::test]
async fn a_visit_is_taken_once_by_its_own_browser() {
    let directory = tempdir().unwrap();
    let (one, other) = (open(directory.path()).await, open(directory.path()).await);
    let id = TokenId::new("vvvv-vvvv");
    assert_eq!(one.keep_visit(visit("vvvv-vvvv", NOW), NOW).await.unwrap(), KeepOutcome::Kept);
    let again = other.keep_visit(visit("vvvv-vvvv", NOW), NOW).await.unwrap();
    assert_eq!(again, KeepOutcome::Refused, "its id is taken");
    let take = async |hash, browser, at| other.take_visit(&id, hash, browser, at).await.unwrap();
    assert_eq!(take(BROWSER, BROWSER, NOW).await, None, "another secret");
    assert_eq!(take(HASH, HASH, NOW).await, None, "another browser");
    assert_eq!(take(HASH, BROWSER, NOW.plus(Duration::from_secs(600))).await, None, "too late");
    let mut taking = JoinSet::new();
    for store in [&one, &other].into_iter().cycle().take(20) {
        let (store, id) = (store.clone(), id.clone());
        taking.spawn(async move { store.take_visit(&id, HASH, BROWSER, NOW).await.unwrap() });
    }
    let taken: Vec<_> = taking.join_all().await.into_iter().flatten().collect();
    assert_eq!(taken, ["request of vvvv-vvvv"]);
}

#[tokio::test]
async fn people_and_visits_are_bounded() {
    let directory = tempdir().unwrap();
    let store = open(directory.path()).await;
    let fill = async |sql: String| {
        connect(directory.path()).await.execute(sqlx::AssertSqlSafe(sql)).await.unwrap();
    };
    let numbers = |count: u32| {
        format!("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {count})")
    };
    let millis = NOW.as_millis();
    let visits = "INSERT INTO provider_visits SELECT 'v' || i, x'01', x'02', '', ";
    fill(format!("{} {visits} {millis} + i FROM n", numbers(PROVIDER_VISITS))).await;
    let newest = visit("vvvv-vvvv", NOW);
    assert_eq!(store.keep_visit(newest, NOW).await.unwrap(), KeepOutcome::Kept);
    let count = async |table: &str| -> i64 {
        let sql = format!("SELECT count(*) FROM {table}");
        let count = sqlx::query_scalar(sqlx::AssertSqlSafe(sql));
        count.fetch_one(&mut connect(directory.path()).await).await.unwrap()
    };
    assert_eq!(count("provider_visits").await, i64::from(PROVIDER_VISITS));
    assert_eq!(count("provider_visits WHERE id = 'v1'").await, 0, "the first makes room");
    let later = NOW.plus(Duration::from_secs(3600));
    store.keep_visit(visit("later", later), later).await.map(drop).unwrap();
    assert_eq!(count("provider_visits").await, 1, "those that are over are dropped");
    let long = ProviderVisit { request: "x".repeat(VISIT_REQUEST_BYTES + 1), ..visit("long", NOW) };
    assert_eq!(store.keep_visit(long, NOW).await.unwrap(), KeepOutcome::Full);

    let people =
        "INSERT INTO provided_people SELECT 'https://id.example', 's' || i, 'u' || i, '[]',";
    fill(format!("{} {people} {millis} FROM n", numbers(PROVIDED_PEOPLE))).await;
    let refused = store.note_provided_person(person("ann", &[]), NOW).await.unwrap();
    assert_eq!(refused, KeepOutcome::Full);
    noted(&store, &person("s1", &["ops"])).await;
    assert_eq!(store.people().await.unwrap().len(), PROVIDED_PEOPLE as usize);
    let much_later = NOW.plus(92 * DAY);
    let made_room = store.note_provided_person(person("ann", &[]), much_later).await.unwrap();
    assert_eq!(made_room, KeepOutcome::Kept);
    assert_eq!(count("provided_people").await, 1);
}
