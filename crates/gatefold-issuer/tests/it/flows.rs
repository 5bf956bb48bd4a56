//! The ways that work.

use std::sync::Arc;

use gatefold_core::{PresentedToken, TokenKind};
use gatefold_identity::IssuerSubject;
use gatefold_issuer::{PasswordSignIn, Registration};
use serde_json::json;

use crate::ask::{PUBLIC, REDIRECT};
use crate::browser::{hidden, parameter};
use crate::http::send;
use crate::provider::{FakeProvider, ISSUER, onward_address};
use crate::world::{PASSWORD, World, WorldOptions, text};

#[tokio::test]
async fn the_metadata_says_what_there_is_and_nothing_else() {
    let world = World::open().await;
    let get = async |world: &World, origin: &str| {
        let path = "GET /.well-known/oauth-authorization-server";
        send(world.address, [127, 0, 0, 1], path, &[("origin", origin)], "").await
    };
    let answer = get(&world, "https://inspector.example").await;
    assert_eq!(answer.header("access-control-allow-origin"), "*");
    assert_eq!(answer.header("access-control-allow-credentials"), "");
    let expected = json!({
        "issuer": PUBLIC,
        "authorization_endpoint": format!("{PUBLIC}/oauth/authorize"),
        "token_endpoint": format!("{PUBLIC}/oauth/token"),
        "revocation_endpoint": format!("{PUBLIC}/oauth/revoke"),
        "scopes_supported": ["mcp:read", "mcp:write"],
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": ["authorization_code", "refresh_token"],
        "token_endpoint_auth_methods_supported": ["none"],
        "revocation_endpoint_auth_methods_supported": ["none"],
        "code_challenge_methods_supported": ["S256"],
        "authorization_response_iss_parameter_supported": true,
        "client_id_metadata_document_supported": true,
    });
    assert_eq!(answer.json(), expected);
    let options = WorldOptions { registration: Registration::On, ..WorldOptions::default() };
    let registering = World::with(options).await;
    let answer = get(&registering, PUBLIC).await.json();
    assert_eq!(answer["registration_endpoint"], format!("{PUBLIC}/oauth/register"));
}

#[tokio::test]
async fn below_a_path_everything_that_a_browser_or_a_client_is_told_has_it() {
    let public = "https://tools.example.com/gate";
    let world = World::with(WorldOptions { public, ..WorldOptions::default() }).await;
    // In front of the path as clients look for it, and where the proxy has taken the path off.
    for path in ["", "/gate"] {
        let path = format!("GET /.well-known/oauth-authorization-server{path}");
        let metadata = send(world.address, [127, 0, 0, 1], &path, &[], "").await.json();
        assert_eq!(metadata["issuer"], public);
        assert_eq!(metadata["token_endpoint"], format!("{public}/oauth/token"));
    }
    world.person("ann").await;
    let ask = world.ask().with("resource", &format!("{public}/mcp"));
    let mut browser = world.browser();
    let page = browser.get(&ask.path()).await.body;
    assert!(page.contains(r#"action="/gate/oauth/sign-in""#), "{page}");
    let answer = browser.sign_in(&ask, "ann", PASSWORD).await;
    assert_eq!((answer.status, answer.header("location")), (303, &*format!("/gate{}", ask.path())));
    let cookie = answer.header("set-cookie");
    assert!(
        cookie.starts_with("__Secure-gatefold=") && cookie.contains("; Path=/gate;"),
        "{cookie}"
    );
    let page = browser.consent_page(&ask).await;
    assert!(page.contains(r#"action="/gate/oauth/consent""#), "{page}");
    let answer = browser.decide(&page, &[("decision", "allow")]).await;
    assert_eq!(parameter(answer.header("location"), "iss").as_deref(), Some(public));
    let code = parameter(answer.header("location"), "code").unwrap();
    let resource = format!("{public}/mcp");
    let tokens = world.exchange(&code, &[("resource", &resource)]).await;
    assert_eq!(tokens.status, 200, "{}", tokens.body);
    // The neighbours of the gateway are not its own.
    let others = world.ask();
    let answer = browser.get(&others.path()).await;
    assert!(answer.header("location").contains("invalid_target"), "{}", answer.body);
}

#[tokio::test]
async fn a_person_signs_in_and_lets_a_client_in() {
    let world = World::open().await;
    world.person("ann").await;
    let (mut browser, ask) = (world.browser(), world.ask());
    let page = browser.get(&ask.path()).await;
    assert_eq!(page.status, 200);
    assert!(page.body.contains("Sign in"), "{}", page.body);
    assert_eq!(hidden(&page.body, "request"), ask.query());
    assert_eq!(world.site.asked(), 0, "nothing is fetched for strangers");
    let answer = browser.sign_in(&ask, "ann", PASSWORD).await;
    assert_eq!((answer.status, answer.header("location")), (303, &*ask.path()));
    let page = browser.consent_page(&ask).await;
    for shown in ["<strong>Notebook</strong>", "<strong>ann</strong>", "<strong>127.0.0.1</strong>"]
    {
        assert!(page.contains(shown), "{shown} is not in {page}");
    }
    let answer = browser.decide(&page, &[("decision", "allow")]).await;
    let back = answer.header("location");
    assert!(back.starts_with(&format!("{REDIRECT}?")), "{back}");
    assert_eq!(parameter(back, "state").as_deref(), Some("a state & more"));
    assert_eq!(parameter(back, "iss").as_deref(), Some(PUBLIC));
    let answer = world.exchange(&parameter(back, "code").unwrap(), &[]).await;
    assert_eq!(answer.header("cache-control"), "no-store");
    let tokens = answer.json();
    assert_eq!(tokens["token_type"], "Bearer");
    assert_eq!(
        (&tokens["expires_in"], &tokens["scope"]),
        (&json!(3600), &json!("mcp:read mcp:write"))
    );
    let access =
        PresentedToken::read_as(TokenKind::SignedIn, text(&tokens, "access_token")).unwrap();
    let family = world.store.tables().families[&access.id].clone();
    assert_eq!((family.consent.user.as_str(), family.access.hash), ("ann", access.hash));
    assert_eq!(family.consent.resource.as_str(), format!("{PUBLIC}/mcp"));
    assert_eq!(
        (&*family.consent.client, &*family.consent.client_name),
        (&*world.site.client("good"), "Notebook")
    );
}

#[tokio::test]
async fn a_person_may_allow_less_or_nothing() {
    let world = World::open().await;
    let mut browser = world.signed_in("ann").await;
    let page = browser.consent_page(&world.ask()).await;
    let less = [("decision", "allow"), ("read_only", "on")];
    let answer = browser.decide(&page, &less).await;
    let code = parameter(answer.header("location"), "code").unwrap();
    assert_eq!(world.exchange(&code, &[]).await.json()["scope"], "mcp:read");
    let answer = browser.decide(&page, &[("decision", "deny")]).await;
    let back = answer.header("location");
    assert_eq!(parameter(back, "error").as_deref(), Some("access_denied"));
    assert_eq!(parameter(back, "iss").as_deref(), Some(PUBLIC));
    assert_eq!(parameter(back, "state").as_deref(), Some("a state & more"));
    assert_eq!(parameter(back, "code"), None);
}

#[tokio::test]
async fn a_client_that_asks_for_reading_gets_reading() {
    let world = World::open().await;
    let mut browser = world.signed_in("ann").await;
    let page = browser.consent_page(&world.ask().with("scope", "mcp:read")).await;
    assert!(!page.contains("read_only"), "{page}");
    let answer = browser.decide(&page, &[("decision", "allow")]).await;
    let code = parameter(answer.header("location"), "code").unwrap();
    assert_eq!(world.exchange(&code, &[]).await.json()["scope"], "mcp:read");
}

#[tokio::test]
async fn a_refresh_keeps_the_family_and_replaces_its_tokens() {
    let world = World::open().await;
    let mut browser = world.signed_in("ann").await;
    let first = world.tokens(&mut browser).await;
    world.pass(3000);
    let second = world.refresh(text(&first, "refresh_token"), &[]).await.json();
    assert_ne!(first["access_token"], second["access_token"]);
    assert_ne!(first["refresh_token"], second["refresh_token"]);
    assert_eq!(second["expires_in"], 3600);
    let id = |tokens, name| PresentedToken::read(text(tokens, name)).unwrap().id;
    assert_eq!(id(&first, "access_token"), id(&second, "refresh_token"));
    assert_eq!(world.families(), 1);
    // The answer is lost: the same question gives the same answer, for a few seconds.
    world.pass(9);
    let again = world.refresh(text(&first, "refresh_token"), &[]).await.json();
    assert_eq!(again["access_token"], second["access_token"]);
    assert_eq!(again["refresh_token"], second["refresh_token"]);
    assert_eq!(again["expires_in"], 3591);
    let third = world.refresh(text(&second, "refresh_token"), &[]).await;
    assert_eq!(third.status, 200, "{}", third.body);
}

#[tokio::test]
async fn many_refreshes_at_once_are_one() {
    let world = World::open().await;
    let mut browser = world.signed_in("ann").await;
    let first = world.tokens(&mut browser).await;
    let token = text(&first, "refresh_token");
    let answers = futures::future::join_all((0..16).map(|_| world.refresh(token, &[]))).await;
    let one = answers[0].json();
    for answer in &answers {
        assert_eq!(answer.json(), one);
    }
    let family = world.store.tables().families.values().next().cloned().unwrap();
    assert_eq!(family.refreshes, 1);
}

#[tokio::test]
async fn a_refresh_may_ask_for_less_and_later_for_all_again() {
    let world = World::open().await;
    let mut browser = world.signed_in("ann").await;
    let first = world.tokens(&mut browser).await;
    let mail = format!("{PUBLIC}/mcp/source/mail");
    let less = [("scope", "mcp:read"), ("resource", &*mail)];
    let second = world.refresh(text(&first, "refresh_token"), &less).await.json();
    assert_eq!(second["scope"], "mcp:read");
    let family = world.store.tables().families.values().next().cloned().unwrap();
    assert_eq!(
        (family.access.resource.as_str(), family.consent.resource.as_str()),
        (&*mail, &*format!("{PUBLIC}/mcp"))
    );
    let third = world.refresh(text(&second, "refresh_token"), &[]).await.json();
    assert_eq!(third["scope"], "mcp:read mcp:write");
}

#[tokio::test]
async fn a_client_gives_its_access_back() {
    let world = World::open().await;
    let mut browser = world.signed_in("ann").await;
    for kind in ["access_token", "refresh_token"] {
        let tokens = world.tokens(&mut browser).await;
        let answer = world.post("/oauth/revoke", &[("token", text(&tokens, kind))]).await;
        assert_eq!((answer.status, world.families()), (200, 0), "{kind}");
    }
    let tokens = world.tokens(&mut browser).await;
    world.refresh(text(&tokens, "refresh_token"), &[]).await;
    let former = [("token", text(&tokens, "refresh_token"))];
    assert_eq!((world.post("/oauth/revoke", &former).await.status, world.families()), (200, 0));
    let unknown = [("token", "gf_o123")];
    assert_eq!(world.post("/oauth/revoke", &unknown).await.status, 200, "it tells nothing");
}

#[tokio::test]
async fn what_is_given_out_ends_by_itself() {
    let world = World::open().await;
    let mut browser = world.signed_in("ann").await;
    let code = browser.code(&world.ask()).await;
    world.pass(59);
    assert_eq!(world.exchange(&code, &[]).await.status, 200);
    let code = browser.code(&world.ask()).await;
    world.pass(60);
    assert_eq!(world.exchange(&code, &[]).await.json()["error"], "invalid_grant");
    let mut tokens = world.tokens(&mut browser).await;
    world.pass(89 * 24 * 3600);
    tokens = world.refresh(text(&tokens, "refresh_token"), &[]).await.json();
    world.pass(24 * 3600);
    let answer = world.refresh(text(&tokens, "refresh_token"), &[]).await;
    assert_eq!(answer.json()["error"], "invalid_grant", "90 days are over");
    // The session in the browser was over long before.
    let page = browser.get(&world.ask().path()).await;
    assert!(page.body.contains("/oauth/sign-in"), "{}", page.body);
}

#[tokio::test]
async fn another_person_signs_in_instead() {
    let world = World::open().await;
    world.person("bob").await;
    let mut browser = world.signed_in("ann").await;
    let page = browser.consent_page(&world.ask()).await;
    let leave = page.split_once("/oauth/sign-out").unwrap().1;
    let fields = [("request", &*hidden(leave, "request")), ("seal", &*hidden(leave, "seal"))];
    let answer = browser.post("/oauth/sign-out", &fields).await;
    assert_eq!((answer.status, answer.header("location")), (303, &*world.ask().path()));
    assert_eq!((browser.cookie.clone(), world.store.tables().sessions.len()), (None, 0));
    browser.sign_in(&world.ask(), "bob", PASSWORD).await;
    let page = browser.consent_page(&world.ask()).await;
    assert!(page.contains("<strong>bob</strong>"), "{page}");
}

#[tokio::test]
async fn a_link_sets_a_password_and_looking_at_it_uses_nothing_up() {
    let world = World::open().await;
    let link = world.link("ann");
    let mut browser = world.browser();
    let path = format!("/oauth/password?link={link}");
    for _ in 0..2 {
        let page = browser.get(&path).await;
        assert!(page.status == 200 && page.body.contains("<strong>ann</strong>"), "{}", page.body);
    }
    let set = async |password: &str, again: &str| {
        let fields = [("link", &*link), ("password", password), ("again", again)];
        world.browser().post("/oauth/password", &fields).await
    };
    let refused = set("short", "short").await;
    assert!(refused.status == 400 && refused.body.contains("at least 12"), "{}", refused.body);
    assert_eq!(set(PASSWORD, "another one that is long").await.status, 400);
    assert_eq!(set(PASSWORD, PASSWORD).await.status, 200);
    assert_eq!(browser.sign_in(&world.ask(), "ann", PASSWORD).await.status, 303);
}

#[tokio::test]
async fn on_this_machine_it_works_without_tls() {
    let options = WorldOptions { public: "http://127.0.0.1:8420", ..WorldOptions::default() };
    let world = World::with(options).await;
    let link = world.link("ann");
    let mut browser = world.browser();
    let own = Some("http://127.0.0.1:8420");
    let fields = [("link", &*link), ("password", PASSWORD), ("again", PASSWORD)];
    assert_eq!(browser.post_from(own, "/oauth/password", &fields).await.status, 200);
    let ask = world.ask().with("resource", "http://127.0.0.1:8420/mcp");
    let fields = [("request", &*ask.query()), ("user", "ann"), ("password", PASSWORD)];
    let answer = browser.post_from(own, "/oauth/sign-in", &fields).await;
    let cookie = answer.header("set-cookie");
    assert!(cookie.starts_with("gatefold=gf_b") && !cookie.contains("Secure"), "{cookie}");
    browser.cookie = cookie.split_once(';').map(|(cookie, _)| cookie.to_owned());
    browser.consent_page(&ask).await;
}

#[tokio::test]
async fn a_person_signs_in_at_the_provider_and_lets_a_client_in() {
    let provider = Arc::new(FakeProvider::default());
    provider.names.lock().unwrap().insert("00u1", "ann");
    let options = WorldOptions {
        password: PasswordSignIn::Off,
        provider: Some(provider.clone()),
        ..WorldOptions::default()
    };
    let world = World::with(options).await;
    let (mut browser, ask) = (world.browser(), world.ask());
    let onward = browser.leave(&ask).await;
    let cookie = onward.header("set-cookie");
    let (pair, attributes) = cookie.split_once(';').unwrap();
    assert!(pair.starts_with("__Host-gatefold-visit=gf_v"), "{pair}");
    assert_eq!(attributes, " Path=/; HttpOnly; SameSite=Lax; Secure; Max-Age=600");
    let address = onward_address(&onward);
    assert!(address.ends_with("&account=Usual"), "{address}");
    let link = format!("<a href=\"{}\">", address.replace('&', "&amp;"));
    assert!(onward.body.contains(&link), "for browsers that do not go on: {}", onward.body);
    let policy = onward.header("content-security-policy");
    assert!(policy.contains("form-action 'self';"), "{policy}");
    let state = parameter(&address, "state").unwrap();
    let back = browser.come_back(&state, "00u1").await;
    assert_eq!((back.status, back.header("location")), (303, &*ask.path()));
    assert!(browser.consent_page(&ask).await.contains("<strong>ann</strong>"));
    let tokens = world.tokens(&mut browser).await;
    let access =
        PresentedToken::read_as(TokenKind::SignedIn, text(&tokens, "access_token")).unwrap();
    let family = world.store.tables().families[&access.id].clone();
    let subject = IssuerSubject { issuer: ISSUER.to_owned(), subject: "00u1".to_owned() };
    assert_eq!(
        (family.consent.user.as_str(), family.consent.provided.as_ref()),
        ("ann", Some(&subject))
    );
    assert_eq!(world.store.tables().people[&subject].groups, ["ops"]);
    assert_eq!(world.refresh(text(&tokens, "refresh_token"), &[]).await.status, 200);
    // Whoever is somebody else says so, and the provider has to ask.
    let leave = browser.consent_page(&ask).await;
    let leave = leave.split_once("/oauth/sign-out").unwrap().1.to_owned();
    let fields = [("request", &*hidden(&leave, "request")), ("seal", &*hidden(&leave, "seal"))];
    browser.post("/oauth/sign-out", &fields).await;
    let fields = [("request", &*ask.query()), ("account", "another")];
    let another = browser.post("/oauth/provider", &fields).await;
    assert!(onward_address(&another).ends_with("&account=Another"));
}
