//! What is tried with the way to a provider and back.

use std::sync::Arc;

use gatefold_core::{DrawnToken, TokenKind, UserId};
use gatefold_issuer::{PasswordSignIn, ProviderFault};

use crate::ask::REDIRECT;
use crate::browser::hidden;
use crate::http::Answer;
use crate::provider::{FakeProvider, FaultMaker};
use crate::world::{PASSWORD, World, WorldOptions, check_refused, text};

/// A gateway where people sign in at a provider, with passwords or without.
async fn with_provider(password: PasswordSignIn) -> (World, Arc<FakeProvider>) {
    let provider = Arc::new(FakeProvider::default());
    let options =
        WorldOptions { password, provider: Some(provider.clone()), ..WorldOptions::default() };
    (World::with(options).await, provider)
}

/// That a browser was not taken up, and was told nothing of what it came with.
#[track_caller]
fn check_shut(answer: &Answer, attack: &str) {
    let is_shut = answer.status == 400 && answer.all("set-cookie").next().is_none();
    assert!(is_shut, "{attack}: {} {}", answer.status, answer.body);
    assert!(!answer.body.contains("mallory"), "{attack}: {}", answer.body);
}

#[tokio::test]
async fn a_stranger_begins_so_many_visits() {
    let (world, _provider) = with_provider(PasswordSignIn::Off).await;
    let (mut stranger, ask) = (world.browser(), world.ask());
    for _ in 0..100 {
        stranger.visit(&ask).await;
    }
    let refused = stranger.leave(&ask).await;
    assert_eq!((refused.status, refused.header("location")), (429, ""));
    assert!(refused.body.contains("Try again in 15 minutes"), "{}", refused.body);
    let mut other = world.browser();
    other.from = [127, 0, 0, 2];
    other.visit(&ask).await;
    world.pass(15 * 60);
    stranger.visit(&ask).await;
}

#[tokio::test]
async fn a_visit_is_taken_up_once_and_in_its_own_browser() {
    let (world, provider) = with_provider(PasswordSignIn::Off).await;
    let (mut browser, ask) = (world.browser(), world.ask());
    let state = browser.visit(&ask).await;
    let mut other = world.browser();
    let others = other.visit(&ask).await;
    let asked = provider.seen.lock().unwrap().len();
    let made_up = DrawnToken::draw(TokenKind::Return).unwrap();
    let code = DrawnToken::draw(TokenKind::Code).unwrap();
    for (attack, sent) in [
        ("no state", ""),
        ("a foreign state", "af0ifjsldkj"),
        ("one that was made up", made_up.text.expose()),
        ("one of another kind", code.text.expose()),
        ("one that was cut off", &state[..state.len() - 1]),
        ("two", &format!("{state}&state={state}")),
        ("one of another browser", &others),
    ] {
        check_shut(&browser.come_back(sent, "mallory").await, attack);
    }
    let visit = browser.visit.clone().unwrap();
    for (attack, cookie) in [
        ("no cookie", None),
        ("a second cookie", Some(format!("{visit}; __Host-gatefold-visit=x"))),
        ("another name", Some(visit.replace("__Host-", ""))),
        ("another browser's", other.visit.clone()),
    ] {
        browser.visit = cookie;
        check_shut(&browser.come_back(&state, "mallory").await, attack);
    }
    assert_eq!(provider.seen.lock().unwrap().len(), asked, "the provider was asked nothing");
    assert!(world.store.tables().sessions.is_empty());
    browser.visit = Some(visit);
    let back = browser.come_back(&state, "ann").await;
    assert_eq!((back.status, back.header("location")), (303, &*ask.path()), "the way that works");
    check_shut(&browser.come_back(&state, "mallory").await, "used before");
    let late = other.visit(&world.ask()).await;
    world.pass(600);
    check_shut(&other.come_back(&late, "mallory").await, "too late");
    assert_eq!(world.store.tables().sessions.len(), 1);
}

#[tokio::test]
async fn only_a_page_of_ours_sends_a_browser_to_the_provider() {
    let (world, provider) = with_provider(PasswordSignIn::Off).await;
    let browser = world.browser();
    let query = world.ask().query();
    for origin in [None, Some("null"), Some("https://evil.example")] {
        let answer = browser.post_from(origin, "/oauth/provider", &[("request", &query)]).await;
        assert_eq!((answer.status, answer.header("set-cookie")), (403, ""), "{origin:?}");
    }
    let looked_at = world.browser().get(&world.ask().path()).await;
    assert_eq!((looked_at.status, looked_at.header("location")), (200, ""));
    assert_eq!(world.browser().get("/oauth/provider").await.status, 405);
    assert!(provider.seen.lock().unwrap().is_empty() && world.store.tables().visits.is_empty());
}

#[tokio::test]
async fn each_visit_has_secrets_of_its_own_that_are_kept_nowhere() {
    let (world, provider) = with_provider(PasswordSignIn::Off).await;
    let mut browser = world.browser();
    let first = browser.visit(&world.ask()).await;
    let second = browser.visit(&world.ask()).await;
    let mut other = world.browser();
    other.visit(&world.ask()).await;
    let kept = format!("{:?}", world.store.tables().visits);
    browser.come_back(&second, "ann").await;
    browser.come_back(&first, "ann").await;
    let seen = provider.seen.lock().unwrap().clone();
    assert_eq!((&seen[3], &seen[4]), (&seen[1], &seen[0]), "the same when the browser is back");
    let mut all: Vec<_> = seen[..3].iter().flatten().collect();
    assert!(all.iter().all(|secret| !kept.contains(secret.as_str())), "{kept}");
    assert!(seen[..3].iter().all(|secrets| secrets[2].len() == 43), "{seen:?}");
    all.sort();
    all.dedup();
    assert_eq!(all.len(), 9, "{seen:?}");
}

#[tokio::test]
async fn what_a_provider_says_is_text() {
    let (world, provider) = with_provider(PasswordSignIn::On).await;
    let mut browser = world.browser();
    let page = browser.get(&world.ask().path()).await;
    assert!(page.body.contains("Sign in with Example &lt;b&gt;staff&lt;/b&gt;"), "{}", page.body);
    let denied = || {
        let said = format!("<script>alert(1)</script>\u{202e}{}", "x".repeat(1000));
        ProviderFault::Denied(said)
    };
    let unproven = || ProviderFault::Unproven("<b>planted</b>".into());
    let unreachable = || ProviderFault::Unreachable("<b>planted</b>".into());
    let faults: [(FaultMaker, u16, &str); 3] = [
        (denied, 403, "It says: &lt;script&gt;alert(1)&lt;/script&gt;xxx"),
        (unproven, 403, "nobody was signed in"),
        (unreachable, 503, "cannot be asked at the moment"),
    ];
    for (fault, status, shown) in faults {
        let state = browser.visit(&world.ask()).await;
        *provider.fault.lock().unwrap() = Some(fault);
        let answer = browser.come_back(&state, "%3Ci%3Emallory%3C/i%3E").await;
        *provider.fault.lock().unwrap() = None;
        assert_eq!((answer.status, answer.header("set-cookie")), (status, ""), "{shown}");
        assert!(answer.body.contains(shown), "{}", answer.body);
        for active in ["<script", "<b>", "<i>", "planted", "\u{202e}", &"x".repeat(300)] {
            assert!(!answer.body.contains(active), "{active}: {}", answer.body);
        }
        assert_eq!(hidden(&answer.body, "request"), world.ask().query(), "one can begin again");
    }
    assert!(world.store.tables().sessions.is_empty() && world.store.tables().people.is_empty());
}

#[tokio::test]
async fn a_provider_that_is_down_costs_the_store_nothing() {
    let (world, provider) = with_provider(PasswordSignIn::On).await;
    *provider.fault.lock().unwrap() = Some(|| ProviderFault::Unreachable("down".into()));
    let mut browser = world.browser();
    let answer = browser.leave(&world.ask()).await;
    assert_eq!(answer.status, 503);
    assert!(answer.body.contains("cannot be asked at the moment"), "{}", answer.body);
    assert!(world.store.tables().visits.is_empty());
    world.person("ann").await;
    assert_eq!(browser.sign_in(&world.ask(), "ann", PASSWORD).await.status, 303, "passwords go on");
}

#[tokio::test]
async fn no_session_from_before_becomes_the_persons() {
    let (world, _) = with_provider(PasswordSignIn::On).await;
    let mut attacker = world.signed_in("mallory").await;
    let mut browser = world.browser();
    let state = browser.visit(&world.ask()).await;
    browser.cookie.clone_from(&attacker.cookie);
    browser.come_back(&state, "ann").await;
    assert_ne!(browser.cookie, attacker.cookie);
    let page = browser.consent_page(&world.ask()).await;
    assert!(page.contains("<strong>ann@id.example</strong>"), "{page}");
    let page = attacker.get(&world.ask().path()).await;
    assert!(page.body.contains("/oauth/sign-in"), "the old one is over");
    // Nor is the cookie of a visit a session.
    let mut visitor = world.browser();
    visitor.visit(&world.ask()).await;
    let visit = visitor.visit.clone().unwrap();
    visitor.cookie = Some(visit.replace("gatefold-visit", "gatefold"));
    let page = visitor.get(&world.ask().path()).await;
    assert!(page.body.contains("/oauth/sign-in"), "{}", page.body);
}

#[tokio::test]
async fn what_nobody_vouches_for_any_more_is_good_for_nothing() {
    let (world, provider) = with_provider(PasswordSignIn::Off).await;
    let mut browser = world.browser();
    let state = browser.visit(&world.ask()).await;
    browser.come_back(&state, "00u1").await;
    let code = browser.code(&world.ask()).await;
    let tokens = world.tokens(&mut browser).await;
    let refresh = text(&tokens, "refresh_token").to_owned();
    // Somebody else is called that by now.
    provider.names.lock().unwrap().insert("00u1", "ann");
    let page = browser.get(&world.ask().path()).await;
    assert!(page.body.contains("/oauth/provider"), "the browser: {}", page.body);
    check_refused(&world.refresh(&refresh, &[]).await, "invalid_grant", "a refresh token");
    check_refused(&world.exchange(&code, &[]).await, "invalid_grant", "a code");
    provider.names.lock().unwrap().clear();
    browser.consent_page(&world.ask()).await;
    assert_eq!(world.refresh(&refresh, &[]).await.status, 200, "the way that works");
    // Another provider vouched for it.
    for session in world.store.tables().sessions.values_mut() {
        session.provided.as_mut().unwrap().issuer = "https://id.example/".to_owned();
    }
    for family in world.store.tables().families.values_mut() {
        family.consent.provided.as_mut().unwrap().issuer = "https://other.example".to_owned();
    }
    let page = browser.get(&world.ask().path()).await;
    assert!(page.body.contains("/oauth/provider"), "the browser: {}", page.body);
    let (id, family) = world.store.tables().families.drain().next().unwrap();
    let mut with_password = family.clone();
    with_password.consent.provided = None;
    let next = world.refresh(&refresh, &[]).await;
    check_refused(&next, "invalid_grant", "a refresh token of nobody");
    // A password did, and none is good here.
    world.store.tables().families.insert(id, with_password);
    check_refused(&world.refresh(&refresh, &[]).await, "invalid_grant", "a password");
}

#[tokio::test]
async fn without_passwords_nobody_signs_in_with_one() {
    let (world, _) = with_provider(PasswordSignIn::Off).await;
    let link = world.link("ann");
    let mut browser = world.browser();
    let page = browser.get(&world.ask().path()).await;
    assert!(!page.body.contains("name=\"password\""), "{}", page.body);
    let set = [("link", &*link), ("password", PASSWORD), ("again", PASSWORD)];
    assert_eq!(browser.post("/oauth/password", &set).await.status, 404);
    assert_eq!(browser.sign_in(&world.ask(), "ann", PASSWORD).await.status, 404);
    assert!(world.store.tables().passwords.is_empty());
    let without = World::open().await;
    assert_eq!(without.browser().get("/oauth/callback?state=x&code=y").await.status, 404);
    let fields = [("request", "x")];
    assert_eq!(without.browser().post("/oauth/provider", &fields).await.status, 404);
}

#[tokio::test]
async fn a_visit_goes_on_with_its_own_request_alone() {
    let (world, _) = with_provider(PasswordSignIn::Off).await;
    for request in ["//evil.example", "https://evil.example/", "x\r\nset-cookie: a=b", "/../../x"] {
        let mut browser = world.browser();
        let answer = browser.post("/oauth/provider", &[("request", request)]).await;
        let address = crate::provider::onward_address(&answer);
        assert!(address.starts_with("https://id.example/in?"), "{address}");
        let state = crate::browser::parameter(&address, "state").unwrap();
        let back = browser.come_back(&state, "ann").await;
        let location = back.header("location");
        assert!(location.is_empty() || location.starts_with("/oauth/authorize?"), "{location}");
        assert!(!back.all("set-cookie").any(|cookie| cookie.starts_with("a=")));
    }
    // What lies in the address of the callback changes nothing about where it leads.
    let mut browser = world.browser();
    let state = browser.visit(&world.ask()).await;
    let path = format!("/oauth/callback?state={state}&code=ann&request=x&redirect_uri={REDIRECT}");
    assert_eq!(browser.get(&path).await.header("location"), world.ask().path());
    let people: Vec<_> = world.store.tables().people.values().map(|it| it.user.clone()).collect();
    assert_eq!(people, [UserId::new("ann@id.example")]);
}
