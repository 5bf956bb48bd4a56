//! Requests for codes that nobody should get.

use crate::ask::{Ask, PUBLIC, REDIRECT, VERIFIER, challenge};
use crate::browser::parameter;
use crate::world::{World, WorldOptions};

/// Asks as a person who would agree to anything. Nobody may be sent anywhere.
async fn check_page(world: &World, browser: &mut crate::browser::Browser, ask: &Ask, attack: &str) {
    let answer = browser.get(&ask.path()).await;
    assert_eq!((answer.status, answer.header("location")), (400, ""), "{attack}: {}", answer.body);
    // The same by the form, whose seal an attacker does not have either.
    let page = browser.consent_page(&world.ask()).await;
    let seal = crate::browser::hidden(&page, "seal");
    let query = ask.query();
    let fields = [("request", &*query), ("seal", &*seal), ("decision", "allow")];
    let answer = browser.post("/oauth/consent", &fields).await;
    assert_eq!((answer.status, answer.header("location")), (403, ""), "{attack}");
    assert!(world.store.tables().codes.is_empty(), "{attack}");
}

#[tokio::test]
async fn redirects_that_look_alike_are_shown_and_not_followed() {
    let world = World::open().await;
    let mut browser = world.signed_in("ann").await;
    for works in [REDIRECT, "http://127.0.0.1/callback", "https://app.example/cb"] {
        browser.consent_page(&world.ask().with("redirect_uri", works)).await;
    }
    for redirect in [
        "https://evil.example/cb",
        "http://127.0.0.1:4711/callback/",
        "http://127.0.0.1:4711/callback/../callback",
        "http://127.0.0.1:4711/Callback",
        "http://127.0.0.1:4711/callback?next=https://evil.example",
        "http://127.0.0.1:4711/callback#x",
        "http://127.0.0.1:4711@evil.example/callback",
        "http://127.0.0.1.evil.example/callback",
        "http://127.0.0.1:4711.evil.example/callback",
        "http://127.0.0.2:4711/callback",
        "http://localhost:4711/callback",
        "http://[::1]:4711/callback",
        "http://[::ffff:127.0.0.1]:4711/callback",
        "http://2130706433:4711/callback",
        "http://0x7f000001/callback",
        "http://127.1/callback",
        "http://0.0.0.0/callback",
        "https://127.0.0.1:4711/callback",
        "http:/127.0.0.1:4711/callback",
        "http:\\\\127.0.0.1:4711\\callback",
        "//127.0.0.1:4711/callback",
        "https://app.example:443/cb",
        "https://app.example:8443/cb",
        "https://APP.EXAMPLE/cb",
        "https://app.example./cb",
        "https://app.example/cb%20",
        "https://app.example/cb\u{a0}",
        "https://app.example/cb\r\nlocation: https://evil.example",
        "https://app.example\t/cb",
        "https://app.example@evil.example/cb",
        "https://app.example.evil.example/cb",
        "https://app.example%2f@evil.example/cb",
        "https://аpp.example/cb",
        "javascript:alert(document.domain)",
        "data:text/html,x",
        "*",
    ] {
        let ask = world.ask().with("redirect_uri", redirect);
        check_page(&world, &mut browser, &ask, redirect).await;
    }
    check_page(&world, &mut browser, &world.ask().without("redirect_uri"), "none").await;
    let twice = world.ask().and("redirect_uri", "https://evil.example/cb");
    check_page(&world, &mut browser, &twice, "twice").await;
}

#[tokio::test]
async fn a_client_is_only_what_its_document_says() {
    let world = World::open().await;
    let mut browser = world.signed_in("ann").await;
    browser.consent_page(&world.ask()).await;
    for kind in ["about-another", "moved", "gone", "not-json", "large", "secret", "hostile"] {
        check_page(&world, &mut browser, &Ask::of(&world.site.client(kind)), kind).await;
    }
    let good = world.site.client("good");
    for (attack, id) in [
        ("another address of the same place", good.replace("/good", "//good")),
        ("a path with dots", good.replace("/good", "/x/../good")),
        ("a fragment", format!("{good}#x")),
        ("a user name", good.replace("http://", "http://me@")),
        ("no path", good.replace("/good", "/")),
        ("another port", good.replace(&world.site.address.port().to_string(), "1")),
        ("a scheme that is none", "file:///etc/passwd".to_owned()),
        ("an id that nobody has", "0123456789abcdef".to_owned()),
        ("HTML", "<script>".to_owned()),
        ("nothing", String::new()),
        ("too much", format!("{good}?{}", "x".repeat(2000))),
    ] {
        check_page(&world, &mut browser, &Ask::of(&id), attack).await;
    }
    check_page(&world, &mut browser, &world.ask().and("client_id", "x"), "twice").await;
}

#[tokio::test]
async fn documents_on_private_networks_are_not_fetched() {
    // The way that works: this machine, where the gateway is for this machine alone.
    let near = World::open().await;
    near.signed_in("ann").await.consent_page(&near.ask()).await;
    assert_eq!(near.site.asked(), 1);

    let far = World::with(WorldOptions { allows_loopback: false, ..WorldOptions::default() }).await;
    far.person("ann").await;
    let mut browser = far.browser();
    let any = Ask::of("https://app.example/client");
    assert_eq!(browser.sign_in(&any, "ann", crate::world::PASSWORD).await.status, 303);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let hosts =
        ["127.0.0.1", "localhost", "[::1]", "[::ffff:7f00:1]", "10.0.0.1", "169.254.169.254"];
    let asked = hosts.map(|host| format!("https://{host}:{port}/client"));
    for id in asked.iter().chain([&near.site.client("good"), &far.site.client("good")]) {
        let answer = browser.get(&Ask::of(id).path()).await;
        assert_eq!((answer.status, answer.header("location")), (400, ""), "{id}");
        for told in ["loopback", "private", "refused", "allow_private", "169."] {
            let text = answer.body.split_once("class=\"fault\"").unwrap().1;
            assert!(!text.contains(told), "{id} tells of `{told}`: {text}");
        }
    }
    let connected = listener.into_std().unwrap();
    assert!(connected.accept().is_err(), "nobody connects");
    assert_eq!((near.site.asked(), far.site.asked()), (1, 0));
}

#[tokio::test]
async fn strangers_have_nothing_fetched() {
    let world = World::open().await;
    for kind in ["good", "large", "moved"] {
        let answer = world.browser().get(&Ask::of(&world.site.client(kind)).path()).await;
        assert_eq!(answer.status, 200, "{kind}");
    }
    assert_eq!(world.site.asked(), 0);
    let mut browser = world.signed_in("ann").await;
    for _ in 0..5 {
        browser.consent_page(&world.ask()).await;
    }
    assert_eq!(world.site.asked(), 1, "nor is one fetched again and again");
}

#[tokio::test]
async fn a_wrong_request_goes_back_with_the_issuers_name() {
    let world = World::open().await;
    let mut browser = world.signed_in("ann").await;
    browser.consent_page(&world.ask()).await;
    browser.consent_page(&world.ask().without("resource").without("scope")).await;
    let ask = || world.ask();
    for (attack, ask, error) in [
        ("no challenge", ask().without("code_challenge"), "invalid_request"),
        ("plain, unsaid", ask().without("code_challenge_method"), "invalid_request"),
        ("plain", ask().with("code_challenge_method", "plain"), "invalid_request"),
        ("another method", ask().with("code_challenge_method", "s256"), "invalid_request"),
        ("an empty challenge", ask().with("code_challenge", ""), "invalid_request"),
        ("a challenge that is none", ask().with("code_challenge", VERIFIER), "invalid_request"),
        ("two challenges", ask().and("code_challenge", &challenge("x")), "invalid_request"),
        ("two methods", ask().and("code_challenge_method", "plain"), "invalid_request"),
        ("the implicit flow", ask().with("response_type", "token"), "unsupported_response_type"),
        ("two flows", ask().with("response_type", "code token"), "unsupported_response_type"),
        ("no flow", ask().without("response_type"), "invalid_request"),
        ("a fragment", ask().with("response_mode", "fragment"), "invalid_request"),
        ("a form", ask().with("response_mode", "form_post"), "invalid_request"),
        ("a request object", ask().and("request", "eyJ"), "request_not_supported"),
        (
            "a request elsewhere",
            ask().and("request_uri", "https://evil.example/"),
            "request_uri_not_supported",
        ),
        ("another host", ask().with("resource", "https://evil.example/mcp"), "invalid_target"),
        (
            "a host that looks alike",
            ask().with("resource", &format!("{PUBLIC}.evil.example/mcp")),
            "invalid_target",
        ),
        ("another port", ask().with("resource", &format!("{PUBLIC}:8443/mcp")), "invalid_target"),
        (
            "another scheme",
            ask().with("resource", "http://tools.example.com/mcp"),
            "invalid_target",
        ),
        (
            "another path",
            ask().with("resource", &format!("{PUBLIC}/oauth/token")),
            "invalid_target",
        ),
        (
            "a user name",
            ask().with("resource", "https://me@tools.example.com/mcp"),
            "invalid_target",
        ),
        ("a query", ask().with("resource", &format!("{PUBLIC}/mcp?x=1")), "invalid_target"),
        ("two resources", ask().and("resource", "https://evil.example/mcp"), "invalid_target"),
        ("a scope that is none", ask().with("scope", "mcp:admin"), "invalid_scope"),
    ] {
        let answer = browser.get(&ask.path()).await;
        assert_eq!(answer.status, 303, "{attack}: {}", answer.body);
        let back = answer.header("location");
        assert!(back.starts_with(&format!("{REDIRECT}?")), "{attack}: {back}");
        assert_eq!(parameter(back, "error").as_deref(), Some(error), "{attack}");
        assert_eq!(parameter(back, "iss").as_deref(), Some(PUBLIC), "{attack}");
        assert_eq!(parameter(back, "state").as_deref(), Some("a state & more"), "{attack}");
        assert_eq!(parameter(back, "code"), None, "{attack}");
    }
    let answer = browser.get(&ask().and("state", "another").path()).await;
    let back = answer.header("location");
    assert_eq!(
        (parameter(back, "error").as_deref(), parameter(back, "state")),
        (Some("invalid_request"), None)
    );
}

#[tokio::test]
async fn requests_are_bounded() {
    let world = World::open().await;
    let mut browser = world.signed_in("ann").await;
    browser.consent_page(&world.ask().with("state", &"x".repeat(4000))).await;
    let mut many = world.ask();
    for _ in 0..100 {
        many = many.and("x", "");
    }
    for ask in [world.ask().with("state", &"x".repeat(17_000)), many] {
        let answer = browser.get(&ask.path()).await;
        assert_eq!((answer.status, answer.header("location")), (400, ""));
    }
    let large = [("request", &*"x".repeat(20_000))];
    for path in
        ["/oauth/sign-in", "/oauth/consent", "/oauth/password", "/oauth/token", "/oauth/revoke"]
    {
        assert_eq!(browser.post(path, &large).await.status, 413, "{path}");
    }
}
