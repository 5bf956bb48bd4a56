//! Codes and refresh tokens in the wrong hands.

use gatefold_core::{DrawnToken, PresentedToken, TokenKind};
use serde_json::Value;
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;

use crate::ask::{Ask, PUBLIC, VERIFIER, challenge, form};
use crate::http::send;
use crate::world::{World, check_refused, text};

#[tokio::test]
async fn a_code_is_good_for_its_client_and_once() {
    let world = World::open().await;
    let mut browser = world.signed_in("ann").await;
    let other = world.site.client("other");
    for (attack, changes, error) in [
        ("another client", [("client_id", &*other)], "invalid_grant"),
        ("no client", [("client_id", "")], "invalid_request"),
        ("another redirect", [("redirect_uri", "http://127.0.0.1:4712/callback")], "invalid_grant"),
        ("no verifier", [("code_verifier", "")], "invalid_request"),
        (
            "a wrong verifier",
            [("code_verifier", "another-verifier-that-is-as-long-as-it-needs")],
            "invalid_grant",
        ),
        ("the challenge itself", [("code_verifier", &*challenge(VERIFIER))], "invalid_grant"),
        ("a part of it", [("code_verifier", &VERIFIER[..42])], "invalid_grant"),
        ("another host", [("resource", "https://evil.example/mcp")], "invalid_target"),
        ("all instead of a face", [("resource", PUBLIC)], "invalid_target"),
        ("a secret", [("client_secret", "x")], "invalid_client"),
        ("an assertion", [("client_assertion", "x")], "invalid_client"),
        ("another grant", [("grant_type", "password")], "unsupported_grant_type"),
        ("a code that is a token", [("code", "gf_c123")], "invalid_grant"),
    ] {
        let code = browser.code(&world.ask()).await;
        check_refused(&world.exchange(&code, &changes).await, error, attack);
        assert_eq!(world.families(), 0, "{attack}");
        if error == "invalid_grant" && changes[0].0 != "code" {
            // What was shown to a thief is not good for anybody any more.
            check_refused(&world.exchange(&code, &[]).await, "invalid_grant", attack);
        }
    }
    let code = browser.code(&world.ask()).await;
    let unguessed = DrawnToken::draw_for(TokenKind::Code, &PresentedToken::read(&code).unwrap().id);
    let answer = world.exchange(unguessed.unwrap().text.expose(), &[]).await;
    check_refused(&answer, "invalid_grant", "a guess with the right id");
    assert_eq!(world.exchange(&code, &[("redirect_uri", "")]).await.status, 200, "OAuth 2.1");
    assert_eq!(world.families(), 1);
}

#[tokio::test]
async fn a_code_that_is_used_twice_ends_what_it_gave() {
    let world = World::open().await;
    let mut browser = world.signed_in("ann").await;
    let code = browser.code(&world.ask()).await;
    let tokens = world.exchange(&code, &[]).await.json();
    assert_eq!(world.families(), 1);
    // The thief does not even have the verifier.
    let wrong = [("code_verifier", "another-verifier-that-is-as-long-as-it-needs")];
    check_refused(&world.exchange(&code, &wrong).await, "invalid_grant", "replay");
    assert_eq!(world.families(), 0);
    let answer = world.refresh(text(&tokens, "refresh_token"), &[]).await;
    check_refused(&answer, "invalid_grant", "what it gave");
    check_refused(&world.exchange(&code, &[]).await, "invalid_grant", "a third time");
}

#[tokio::test]
async fn of_many_who_use_a_code_at_once_none_keeps_anything() {
    let world = World::open().await;
    let mut browser = world.signed_in("ann").await;
    let code = browser.code(&world.ask()).await;
    let uses = (0..8).map(|_| world.exchange(&code, &[]));
    let answers = futures::future::join_all(uses).await;
    assert!(answers.iter().filter(|answer| answer.status == 200).count() <= 1);
    assert_eq!(world.families(), 0);
}

#[tokio::test]
async fn a_former_refresh_token_ends_the_family() {
    let world = World::open().await;
    let mut browser = world.signed_in("ann").await;
    let refresh = async |tokens: &Value| world.refresh(text(tokens, "refresh_token"), &[]).await;
    for (attack, rounds, wait) in
        [("the last one, too late", 1, 11), ("one before", 2, 0), ("long ago", 9, 0)]
    {
        let first = world.tokens(&mut browser).await;
        let mut last = first.clone();
        for _ in 0..rounds {
            last = refresh(&last).await.json();
        }
        world.pass(wait);
        check_refused(&refresh(&first).await, "invalid_grant", attack);
        assert_eq!(world.families(), 0, "{attack}");
        check_refused(&refresh(&last).await, "invalid_grant", attack);
    }
}

#[tokio::test]
async fn a_token_that_never_was_ends_nothing() {
    let world = World::open().await;
    let mut browser = world.signed_in("ann").await;
    let first = world.tokens(&mut browser).await;
    let second = world.refresh(text(&first, "refresh_token"), &[]).await.json();
    let right = text(&second, "refresh_token");
    let id = PresentedToken::read(right).unwrap().id;
    let forged = DrawnToken::draw_for(TokenKind::Refresh, &id).unwrap();
    let foreign = DrawnToken::draw(TokenKind::Refresh).unwrap();
    let access = text(&second, "access_token");
    let other = world.site.client("other");
    for (attack, token, changes) in [
        ("a guess with the right id", forged.text.expose(), ("x", "")),
        ("a guess", foreign.text.expose(), ("x", "")),
        ("cut off", &right[..60], ("x", "")),
        ("an access token", access, ("x", "")),
        ("another client's", right, ("client_id", &*other)),
        ("a former one of another client", text(&first, "refresh_token"), ("client_id", &*other)),
    ] {
        check_refused(&world.refresh(token, &[changes]).await, "invalid_grant", attack);
        let revoked = [("token", token), ("client_id", &*other)];
        assert_eq!(world.post("/oauth/revoke", &revoked).await.status, 200, "{attack}");
        assert_eq!(world.families(), 1, "{attack}");
    }
    let answer = world.refresh(right, &[("client_id", "")]).await;
    check_refused(&answer, "invalid_request", "no client");
    assert_eq!(world.refresh(right, &[]).await.status, 200, "the way that works");
}

#[tokio::test]
async fn a_refresh_never_widens() {
    let world = World::open().await;
    let mut browser = world.signed_in("ann").await;
    let mail = format!("{PUBLIC}/mcp/source/mail");
    let ask = world.ask().with("scope", "mcp:read").with("resource", &mail);
    let code = browser.code(&ask).await;
    let tokens = world.exchange(&code, &[]).await.json();
    assert_eq!(tokens["scope"], "mcp:read");
    let token = text(&tokens, "refresh_token");
    let everything = format!("{PUBLIC}/mcp");
    let beside = format!("{PUBLIC}/mcp/source/mailbox");
    for (attack, change, error) in [
        ("more rights", ("scope", "mcp:read mcp:write"), "invalid_scope"),
        ("other rights", ("scope", "mcp:write"), "invalid_scope"),
        ("unknown rights", ("scope", "mcp:admin"), "invalid_scope"),
        ("everything", ("resource", &*everything), "invalid_target"),
        ("the host", ("resource", PUBLIC), "invalid_target"),
        ("a name that begins alike", ("resource", &*beside), "invalid_target"),
        ("another host", ("resource", "https://evil.example/mcp"), "invalid_target"),
    ] {
        check_refused(&world.refresh(token, &[change]).await, error, attack);
    }
    let same = [("scope", "mcp:read"), ("resource", &*mail)];
    assert_eq!(world.refresh(token, &same).await.status, 200, "a refusal used nothing up");
}

#[tokio::test]
async fn nothing_secret_is_taken_from_an_address() {
    let world = World::open().await;
    let mut browser = world.signed_in("ann").await;
    let code = browser.code(&world.ask()).await;
    let client = world.site.client("good");
    let fields = form(&[
        ("grant_type", "authorization_code"),
        ("client_id", &client),
        ("code", &code),
        ("code_verifier", VERIFIER),
    ]);
    let form_kind = ("content-type", "application/x-www-form-urlencoded");
    let post = async |path: &str, headers: &[(&str, &str)], body: &str| {
        send(world.address, [127, 0, 0, 1], &format!("POST {path}"), headers, body).await
    };
    let in_query = format!("/oauth/token?{fields}");
    check_refused(&post(&in_query, &[form_kind], "").await, "invalid_request", "in the address");
    let both = post("/oauth/token?code=x", &[form_kind], &fields).await;
    check_refused(&both, "invalid_request", "in both");
    let json = ("content-type", "application/json");
    check_refused(&post("/oauth/token", &[json], &fields).await, "invalid_request", "no form");
    check_refused(&post("/oauth/token", &[], &fields).await, "invalid_request", "no kind");
    let basic = ("authorization", "Basic YTpi");
    let answer = post("/oauth/token", &[form_kind, basic], &fields).await;
    check_refused(&answer, "invalid_client", "a secret");
    assert!(answer.header("www-authenticate").starts_with("Basic"));
    let twice = format!("{fields}&code=x");
    check_refused(&post("/oauth/token", &[form_kind], &twice).await, "invalid_request", "twice");
    let get = send(world.address, [127, 0, 0, 1], &format!("GET {in_query}"), &[], "").await;
    assert_eq!(get.status, 405);
    assert_eq!(post("/oauth/token", &[form_kind], &fields).await.status, 200, "the way that works");
}

#[tokio::test]
async fn clients_are_not_mixed_up() {
    let world = World::open().await;
    let mut browser = world.signed_in("ann").await;
    let other = world.site.client("other");
    // The code of one client is injected into the sign-in of another, which has its own verifier.
    let stolen = browser.code(&world.ask()).await;
    let answer = world.exchange(&stolen, &[("client_id", &*other)]).await;
    check_refused(&answer, "invalid_grant", "a code of another client");
    let verifier = "the-verifier-of-the-other-sign-in-of-this-client";
    let stolen = browser.code(&world.ask()).await;
    browser.code(&world.ask().with("code_challenge", &challenge(verifier))).await;
    let answer = world.exchange(&stolen, &[("code_verifier", verifier)]).await;
    check_refused(&answer, "invalid_grant", "a code of another sign-in");
    let code = browser.code(&Ask::of(&other)).await;
    assert_eq!(world.exchange(&code, &[("client_id", &*other)]).await.status, 200);
}

#[tokio::test]
async fn only_hashes_are_kept() {
    let world = World::open().await;
    let mut browser = world.signed_in("ann").await;
    let code = browser.code(&world.ask()).await;
    let first = world.exchange(&code, &[]).await.json();
    let second = world.refresh(text(&first, "refresh_token"), &[]).await.json();
    let tables = world.store.tables();
    let kept = format!(
        "{:?} {:?} {:?} {:?} {:?}",
        tables.passwords, tables.links, tables.sessions, tables.codes, tables.families
    );
    let cookie = browser.cookie.clone().unwrap();
    let mut secrets = vec![crate::world::PASSWORD, &code, &cookie["__Host-gatefold=".len()..]];
    for tokens in [&first, &second] {
        secrets.extend(["access_token", "refresh_token"].map(|name| text(tokens, name)));
    }
    for secret in secrets {
        assert!(!kept.contains(secret) && !kept.contains(&secret[12..]), "{kept}");
    }
}

/// More than are worked on at once.
const HALF_SENT: usize = 200;

#[tokio::test]
async fn half_sent_forms_keep_nobody_out() {
    let world = World::open().await;
    let mut browser = world.signed_in("ann").await;
    let tokens = world.tokens(&mut browser).await;
    let mut half_sent = Vec::new();
    for number in 0..HALF_SENT {
        let mut stream = TcpStream::connect(world.address).await.unwrap();
        let path =
            ["/oauth/token", "/oauth/sign-in", "/oauth/consent", "/oauth/revoke"][number % 4];
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: tools.example.com\r\ncontent-length: 100\r\n\
             content-type: application/x-www-form-urlencoded\r\n\r\ngrant_type=refresh"
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        half_sent.push(stream);
    }
    let refreshed = world.refresh(text(&tokens, "refresh_token"), &[]).await;
    assert_eq!(refreshed.status, 200, "{}", refreshed.body);
    let metadata = "GET /.well-known/oauth-authorization-server";
    assert_eq!(send(world.address, [127, 0, 0, 1], metadata, &[], "").await.status, 200);
    assert!(!browser.code(&world.ask()).await.is_empty());
    drop(half_sent);
}
