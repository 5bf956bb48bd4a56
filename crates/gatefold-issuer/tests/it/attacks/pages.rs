//! What other sites, other sessions and other hosts try with our pages.

use gatefold_core::UserId;

use crate::ask::{Ask, PUBLIC, REDIRECT};
use crate::browser::{hidden, parameter};
use crate::http::send;
use crate::world::{PASSWORD, World};

#[tokio::test]
async fn consent_is_given_only_by_its_own_page() {
    let world = World::open().await;
    let mut ann = world.signed_in("ann").await;
    let mut bob = world.signed_in("bob").await;
    let (ask, other) = (world.ask(), world.ask().with("scope", "mcp:read"));
    let page = ann.consent_page(&ask).await;
    let (query, seal) = (ask.query(), hidden(&page, "seal"));
    let bobs = hidden(&bob.consent_page(&ask).await, "seal");
    let of_other = hidden(&ann.consent_page(&other).await, "seal");
    let leave = hidden(page.split_once("/oauth/sign-out").unwrap().1, "seal");
    let fields = |seal: &str| {
        [("request", query.clone()), ("seal", seal.to_owned()), ("decision", "allow".to_owned())]
    };
    for (attack, seal) in [
        ("no seal", ""),
        ("a wrong seal", &*"0".repeat(64)),
        ("another session's", &*bobs),
        ("another request's", &*of_other),
        ("another form's", &*leave),
    ] {
        let sent = fields(seal);
        let sent: Vec<_> = sent.iter().map(|(name, value)| (*name, &**value)).collect();
        let answer = ann.post("/oauth/consent", &sent).await;
        assert_eq!((answer.status, answer.header("location")), (403, ""), "{attack}");
    }
    let right = fields(&seal);
    let right: Vec<_> = right.iter().map(|(name, value)| (*name, &**value)).collect();
    for (attack, origin) in [
        ("no origin", None),
        ("a hidden origin", Some("null")),
        ("another site", Some("https://evil.example")),
        ("another scheme", Some("http://tools.example.com")),
        ("a site that looks alike", Some("https://tools.example.com.evil.example")),
    ] {
        let answer = ann.post_from(origin, "/oauth/consent", &right).await;
        assert_eq!((answer.status, answer.header("location")), (403, ""), "{attack}");
    }
    assert!(world.store.tables().codes.is_empty());
    let answer = ann.post("/oauth/consent", &right).await;
    assert!(answer.header("location").starts_with(REDIRECT), "the way that works");
}

#[tokio::test]
async fn consent_without_a_session_begins_with_signing_in() {
    let world = World::open().await;
    let mut browser = world.signed_in("ann").await;
    let page = browser.consent_page(&world.ask()).await;
    let cookie = browser.cookie.take();
    let answer = browser.decide(&page, &[("decision", "allow")]).await;
    assert_eq!((answer.status, answer.header("location")), (303, &*world.ask().path()));
    browser.cookie = cookie;
    world.pass(8 * 3600);
    let answer = browser.decide(&page, &[("decision", "allow")]).await;
    assert_eq!(answer.header("location"), world.ask().path(), "8 hours are over");
    assert!(world.store.tables().codes.is_empty());
}

#[tokio::test]
async fn a_link_that_another_user_opens_asks_that_user() {
    let world = World::open().await;
    let mut ann = world.signed_in("ann").await;
    let mut bob = world.signed_in("bob").await;
    ann.code(&world.ask()).await;
    // The client is let in already, and the link is the same.
    for browser in [&mut ann, &mut bob] {
        let answer = browser.get(&world.ask().path()).await;
        assert_eq!(
            (answer.status, answer.header("location")),
            (200, ""),
            "never without a question"
        );
    }
    let page = bob.consent_page(&world.ask()).await;
    assert!(page.contains("<strong>bob</strong>") && !page.contains("ann"), "{page}");
    let code = bob.code(&world.ask()).await;
    assert_eq!(world.exchange(&code, &[]).await.status, 200);
    let users: Vec<_> =
        world.store.tables().families.values().map(|it| it.consent.user.clone()).collect();
    assert_eq!(users, [UserId::new("bob")]);
}

#[tokio::test]
async fn no_page_may_be_framed_or_run_anything() {
    let world = World::open().await;
    let mut browser = world.signed_in("ann").await;
    let link = format!("/oauth/password?link={}", world.link("ann"));
    let sign_in = world.browser().get(&world.ask().path()).await;
    let fault = browser.get("/oauth/authorize").await;
    for (page, answer) in [
        ("sign in", sign_in),
        ("consent", browser.get(&world.ask().path()).await),
        ("password", browser.get(&link).await),
        ("a fault", fault),
        ("a form of others", browser.post_from(None, "/oauth/consent", &[]).await),
    ] {
        let policy = answer.header("content-security-policy");
        assert!(policy.starts_with("default-src 'none'; style-src 'sha256-"), "{page}: {policy}");
        assert!(policy.contains("; frame-ancestors 'none'; base-uri 'none'"), "{page}: {policy}");
        assert!(!policy.contains("unsafe") && !policy.contains('*'), "{page}: {policy}");
        assert_eq!(answer.header("x-frame-options"), "DENY", "{page}");
        assert_eq!(answer.header("cache-control"), "no-store", "{page}");
        assert_eq!(answer.header("referrer-policy"), "same-origin", "{page}");
        assert_eq!(answer.header("x-content-type-options"), "nosniff", "{page}");
        assert_eq!(answer.header("access-control-allow-origin"), "", "{page}");
        for active in ["<script", "onload=", "style=", "src=", "javascript:"] {
            assert!(!answer.body.contains(active), "{page} has `{active}`");
        }
    }
}

#[tokio::test]
async fn a_form_leads_here_and_to_where_it_says() {
    let world = World::open().await;
    let mut browser = world.signed_in("ann").await;
    for (redirect, target) in [
        (REDIRECT, "form-action 'self' http://127.0.0.1:4711;"),
        ("https://app.example/cb", "form-action 'self' https://app.example;"),
    ] {
        let answer = browser.get(&world.ask().with("redirect_uri", redirect).path()).await;
        let policy = answer.header("content-security-policy");
        assert!(policy.contains(target), "{policy}");
    }
    let answer = world.browser().get(&world.ask().path()).await;
    assert!(answer.header("content-security-policy").contains("form-action 'self';"));
}

#[tokio::test]
async fn a_clients_name_is_text() {
    let world = World::open().await;
    let mut browser = world.signed_in("ann").await;
    let page = browser.consent_page(&Ask::of(&world.site.client("html"))).await;
    assert!(
        page.contains("&lt;script&gt;alert(1)&lt;/script&gt;&quot;&gt;&lt;img src=x&gt;"),
        "{page}"
    );
    assert!(!page.contains("<script") && !page.contains("<img"), "{page}");
    let page = browser.consent_page(&Ask::of(&world.site.client("no-name"))).await;
    assert!(page.contains("<strong>127.0.0.1</strong> of"), "its host instead: {page}");
    let injected = world.ask().with("state", "\"><script>alert(1)</script>");
    let page = browser.consent_page(&injected).await;
    assert!(!page.contains("<script"), "{page}");
    let answer = world.browser().sign_in(&injected, "<b>\"", "x").await;
    assert!(answer.status == 401 && !answer.body.contains("<b>"), "{}", answer.body);
}

#[tokio::test]
async fn the_cookie_is_this_hosts_alone() {
    let world = World::open().await;
    world.person("ann").await;
    let mut browser = world.browser();
    let answer = browser.sign_in(&world.ask(), "ann", PASSWORD).await;
    let cookie = answer.header("set-cookie").to_owned();
    let (pair, attributes) = cookie.split_once(';').unwrap();
    assert!(pair.starts_with("__Host-gatefold=gf_b"), "{pair}");
    assert_eq!(attributes, " Path=/; HttpOnly; SameSite=Lax; Secure");
    browser.consent_page(&world.ask()).await;
    let right = browser.cookie.clone().unwrap();
    let other = if right.ends_with('0') { '1' } else { '0' };
    for (attack, cookie) in [
        ("another name", right.replace("__Host-", "")),
        ("a second one", format!("{right}; __Host-gatefold=x")),
        ("one letter", format!("{}{other}", &right[..right.len() - 1])),
        ("none", "__Host-gatefold=".to_owned()),
    ] {
        browser.cookie = Some(cookie);
        let page = browser.get(&world.ask().path()).await;
        assert!(page.body.contains("/oauth/sign-in"), "{attack}: {}", page.body);
    }
    // A session that an attacker has put there does not become the user's.
    let mut attacker = world.signed_in("mallory").await;
    let planted = attacker.cookie.clone();
    browser.cookie.clone_from(&planted);
    browser.sign_in(&world.ask(), "ann", PASSWORD).await;
    assert_ne!(browser.cookie, planted);
    let page = attacker.get(&world.ask().path()).await;
    assert!(page.body.contains("/oauth/sign-in"), "the old one is over");
}

#[tokio::test]
async fn a_request_names_no_host_that_counts() {
    let world = World::open().await;
    world.person("ann").await;
    for host in
        ["evil.example", "tools.example.com:1", "localhost", "tools.example.com.evil.example"]
    {
        let headers = [
            ("host", host),
            ("x-forwarded-host", "evil.example"),
            ("forwarded", "host=evil.example"),
        ];
        let path = "GET /.well-known/oauth-authorization-server";
        let answer = send(world.address, [127, 0, 0, 1], path, &headers, "").await;
        assert_eq!(answer.json()["issuer"], PUBLIC, "{host}");
        assert!(!answer.body.contains("evil"), "{}", answer.body);
        let path = format!("GET {}", world.ask().path());
        let page = send(world.address, [127, 0, 0, 1], &path, &headers, "").await;
        assert!(page.body.contains("<code>tools.example.com</code>"), "{host}");
        assert!(!page.body.contains("evil"), "{}", page.body);
    }
    // A form of a page that another name leads to is another site's.
    let headers = [
        ("host", "evil.example"),
        ("origin", "https://evil.example"),
        ("content-type", "application/x-www-form-urlencoded"),
    ];
    let body = crate::ask::form(&[("request", "x=1"), ("user", "ann"), ("password", PASSWORD)]);
    let answer = send(world.address, [127, 0, 0, 1], "POST /oauth/sign-in", &headers, &body).await;
    assert_eq!((answer.status, answer.header("set-cookie")), (403, ""));
}

#[tokio::test]
async fn signing_in_leads_nowhere_else() {
    let world = World::open().await;
    world.person("ann").await;
    for request in ["//evil.example", "https://evil.example/", "x\r\nset-cookie: a=b", "/../../x"] {
        let mut browser = world.browser();
        let fields = [("request", request), ("user", "ann"), ("password", PASSWORD)];
        let answer = browser.post("/oauth/sign-in", &fields).await;
        let location = answer.header("location");
        assert!(location.is_empty() || location.starts_with("/oauth/authorize?"), "{location}");
        assert!(!answer.all("set-cookie").any(|cookie| cookie.starts_with("a=")));
        assert_eq!(parameter(location, "code"), None);
    }
}
