//! Clients that register themselves.

use gatefold_issuer::Registration;
use serde_json::{Value, json};

use crate::ask::{Ask, REDIRECT};
use crate::http::{Answer, send};
use crate::world::{World, WorldOptions, check_refused, text};

async fn registering() -> World {
    World::with(WorldOptions { registration: Registration::On, ..WorldOptions::default() }).await
}

async fn register(world: &World, from: [u8; 4], body: &Value) -> Answer {
    let kind = ("content-type", "application/json");
    send(world.address, from, "POST /oauth/register", &[kind], &body.to_string()).await
}

const HERE: [u8; 4] = [127, 0, 0, 1];

#[tokio::test]
async fn a_client_registers_and_is_let_in() {
    let world = registering().await;
    let asked = json!({
        "redirect_uris": [REDIRECT],
        "client_name": "Inspector\u{202e}",
        "token_endpoint_auth_method": "client_secret_basic",
        "grant_types": ["authorization_code", "refresh_token", "implicit"],
    });
    let answer = register(&world, HERE, &asked).await;
    assert_eq!(answer.status, 201, "{}", answer.body);
    let client = answer.json();
    assert_eq!(client["token_endpoint_auth_method"], "none");
    assert_eq!((&client["client_name"], client.get("client_secret")), (&json!("Inspector"), None));
    let id = text(&client, "client_id");
    let mut browser = world.signed_in("ann").await;
    let page = browser.consent_page(&Ask::of(id)).await;
    assert!(page.contains("calls itself <strong>Inspector</strong>"), "{page}");
    let code = browser.code(&Ask::of(id)).await;
    let answer = world.exchange(&code, &[("client_id", id)]).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    assert!(world.store.tables().clients[id].used_at.is_some());
}

#[tokio::test]
async fn a_link_to_the_gateway_leads_strangers_nowhere_else() {
    let world = registering().await;
    let asked = json!({ "redirect_uris": [REDIRECT] });
    let client = register(&world, HERE, &asked).await.json();
    let ask = || Ask::of(text(&client, "client_id"));
    for faulty in [
        ask().with("response_type", "x"),
        ask().without("code_challenge"),
        ask().with("scope", "x"),
        ask().with("resource", "https://evil.example/mcp"),
        ask().and("state", "twice"),
    ] {
        let answer = world.browser().get(&faulty.path()).await;
        assert_eq!((answer.status, answer.header("location")), (200, ""), "{}", faulty.path());
    }
}

#[tokio::test]
async fn nobody_registers_unless_it_is_switched_on() {
    let world = World::open().await;
    let answer = register(&world, HERE, &json!({ "redirect_uris": [REDIRECT] })).await;
    assert_eq!(answer.status, 404);
    assert!(world.store.tables().clients.is_empty());
    // What was registered before the switch is no client either, since nobody knows it.
    let answer = world.browser().get(&Ask::of("0123abc").path()).await;
    assert_eq!((answer.status, answer.header("location")), (400, ""));
}

#[tokio::test]
async fn hostile_registrations_are_refused() {
    let world = registering().await;
    for redirect in [
        "javascript:alert(1)",
        "data:text/html,<script>alert(1)</script>",
        "file:///etc/passwd",
        "http://evil.example/cb",
        "https://*.example/cb",
        "https://app.example/cb#fragment",
        "https://user@app.example/cb",
        "https://a;form-action *.example/cb",
        "myapp://cb",
        "/relative",
        "",
    ] {
        let answer =
            register(&world, HERE, &json!({ "redirect_uris": [REDIRECT, redirect] })).await;
        check_refused(&answer, "invalid_redirect_uri", redirect);
    }
    for (body, error) in [
        (json!({}), "invalid_redirect_uri"),
        (json!({ "redirect_uris": [] }), "invalid_redirect_uri"),
        (json!({ "redirect_uris": vec![REDIRECT; 17] }), "invalid_redirect_uri"),
        (json!({ "redirect_uris": REDIRECT }), "invalid_client_metadata"),
        (
            json!({ "redirect_uris": [REDIRECT], "grant_types": ["password"] }),
            "invalid_client_metadata",
        ),
        (
            json!({ "redirect_uris": [REDIRECT], "response_types": ["token"] }),
            "invalid_client_metadata",
        ),
        (json!([]), "invalid_client_metadata"),
    ] {
        let answer = register(&world, HERE, &body).await;
        check_refused(&answer, error, &body.to_string());
    }
    let large = json!({ "redirect_uris": [REDIRECT], "client_uri": "x".repeat(20_000) });
    assert_eq!(register(&world, HERE, &large).await.status, 413);
    assert!(world.store.tables().clients.is_empty());
}

#[tokio::test]
async fn a_flood_of_registrations_ends_soon_and_leaves_room() {
    let world = registering().await;
    let body = json!({ "redirect_uris": [REDIRECT] });
    for _ in 0..10 {
        assert_eq!(register(&world, HERE, &body).await.status, 201);
    }
    let answer = register(&world, HERE, &body).await;
    assert_eq!(answer.status, 429);
    assert_eq!(answer.header("retry-after"), "3600");
    for other in 0..20 {
        assert_eq!(register(&world, [127, 0, 1, other], &body).await.status, 201);
    }
    assert_eq!(register(&world, [127, 0, 2, 1], &body).await.status, 429, "so are all together");
    assert_eq!(world.store.tables().clients.len(), 30);
    // At that speed for days: those that nobody lets in make room.
    for _ in 0..72 {
        world.pass(3600);
        for other in 0..30 {
            assert_eq!(register(&world, [127, 0, 1, other], &body).await.status, 201);
        }
    }
    assert!(world.store.tables().clients.len() <= 1000);
}

#[tokio::test]
async fn a_registered_client_is_judged_before_anybody_signs_in() {
    let world = registering().await;
    let client = register(&world, HERE, &json!({ "redirect_uris": [REDIRECT] })).await.json();
    let ask = Ask::of(text(&client, "client_id"));
    let mut stranger = world.browser();
    assert_eq!(stranger.get(&ask.path()).await.status, 200);
    let other = ask.clone().with("redirect_uri", "https://evil.example/cb");
    let answer = stranger.get(&other.path()).await;
    assert_eq!((answer.status, answer.header("location")), (400, ""));
}
