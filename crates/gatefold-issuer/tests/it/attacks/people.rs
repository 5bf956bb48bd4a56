//! Passwords, and the links that set them.

use crate::world::{PASSWORD, World};

#[tokio::test]
async fn passwords_are_not_guessed() {
    let world = World::open().await;
    world.person("ann").await;
    world.person("bob").await;
    let mut browser = world.browser();
    for guess in 0..10 {
        let answer = browser.sign_in(&world.ask(), "ann", &format!("guess {guess}")).await;
        assert_eq!(answer.status, 401, "{guess}");
    }
    // Nobody learns that the right one would have been right.
    let mut elsewhere = world.browser();
    elsewhere.from = [127, 0, 0, 9];
    for browser in [&mut browser, &mut elsewhere] {
        let answer = browser.sign_in(&world.ask(), "ann", PASSWORD).await;
        assert_eq!((answer.status, answer.header("set-cookie")), (429, ""));
        assert_eq!(answer.header("retry-after"), "900");
    }
    assert_eq!(browser.sign_in(&world.ask(), "bob", PASSWORD).await.status, 303, "others go on");
    world.pass(900);
    assert_eq!(browser.sign_in(&world.ask(), "ann", PASSWORD).await.status, 303);
}

#[tokio::test]
async fn guesses_at_once_are_as_many_as_one_after_another() {
    let world = World::open().await;
    world.person("ann").await;
    let guesses = (0..30).map(|guess| {
        let mut browser = world.browser();
        let ask = world.ask();
        async move { browser.sign_in(&ask, "ann", &format!("guess {guess}")).await.status }
    });
    let answers = futures::future::join_all(guesses).await;
    let judged = answers.iter().filter(|status| **status == 401).count();
    assert_eq!((judged, answers.len()), (10, 30), "{answers:?}");
}

#[tokio::test]
async fn many_names_from_one_address_are_guesses_too() {
    let world = World::open().await;
    world.person("ann").await;
    // A few at once, as more than that wait too long for their turn.
    for names in (0..100).collect::<Vec<_>>().chunks(10) {
        let guesses = names.iter().map(|name| {
            let (mut browser, ask) = (world.browser(), world.ask());
            async move { browser.sign_in(&ask, &format!("user-{name}"), "guess").await.status }
        });
        assert_eq!(futures::future::join_all(guesses).await, [401; 10]);
    }
    let mut browser = world.browser();
    assert_eq!(browser.sign_in(&world.ask(), "ann", PASSWORD).await.status, 429);
    browser.from = [127, 0, 0, 9];
    assert_eq!(
        browser.sign_in(&world.ask(), "ann", PASSWORD).await.status,
        303,
        "elsewhere it goes on"
    );
}

#[tokio::test]
async fn right_passwords_are_no_guesses() {
    let world = World::open().await;
    world.person("ann").await;
    for _ in 0..12 {
        assert_eq!(world.browser().sign_in(&world.ask(), "ann", PASSWORD).await.status, 303);
    }
}

#[tokio::test]
async fn an_unknown_user_is_answered_like_a_wrong_password() {
    let world = World::open().await;
    world.person("ann").await;
    // A user with a link and no password yet is as unknown as any.
    world.link("bob");
    let mut bodies = Vec::new();
    for user in ["ann", "bob", "nobody", "", " ", &"x".repeat(200)] {
        let answer = world.browser().sign_in(&world.ask(), user, "wrong password").await;
        assert_eq!((answer.status, answer.header("set-cookie")), (401, ""), "{user}");
        bodies.push(answer.body);
    }
    assert!(bodies.iter().all(|body| *body == bodies[0]), "{bodies:?}");
    let long = "x".repeat(1000);
    assert_eq!(world.browser().sign_in(&world.ask(), "ann", &long).await.status, 401);
    assert_eq!(world.browser().sign_in(&world.ask(), "ann", "").await.status, 401);
}

#[tokio::test]
async fn an_unknown_user_costs_as_much_time() {
    let world = World::open().await;
    world.person("ann").await;
    let took = async |user: &str| {
        let mut least = std::time::Duration::MAX;
        for _ in 0..3 {
            let began = std::time::Instant::now();
            world.browser().sign_in(&world.ask(), user, "wrong password").await;
            least = least.min(began.elapsed());
        }
        least
    };
    // The first makes what unknown users are compared with.
    took("nobody").await;
    let (known, unknown) = (took("ann").await, took("nobody").await);
    assert!(unknown * 2 > known, "{known:?} {unknown:?}");
}

#[tokio::test]
async fn a_link_is_good_once_and_for_a_day() {
    let world = World::open().await;
    let set = async |link: &str, password: &str| {
        let fields = [("link", link), ("password", password), ("again", password)];
        world.browser().post("/oauth/password", &fields).await.status
    };
    let link = world.link("ann");
    for (attack, other) in [
        ("cut off", &link[..link.len() - 1]),
        ("none", ""),
        ("another kind", &link.replacen("gf_l", "gf_c", 1)),
    ] {
        assert_eq!(set(other, "another password").await, 404, "{attack}");
    }
    let fields = [("link", &*link), ("password", PASSWORD), ("again", PASSWORD)];
    let (browser, evil) = (world.browser(), Some("https://evil.example"));
    let foreign = browser.post_from(evil, "/oauth/password", &fields).await;
    assert_eq!(foreign.status, 403, "a form of another site");
    assert_eq!(set(&link, PASSWORD).await, 200);
    assert_eq!(set(&link, "another password").await, 404, "used");
    let path = format!("/oauth/password?link={link}");
    assert_eq!(world.browser().get(&path).await.status, 404, "used");
    assert_eq!(world.browser().sign_in(&world.ask(), "ann", PASSWORD).await.status, 303);
    let late = world.link("ann");
    world.pass(24 * 3600);
    assert_eq!(set(&late, "another password").await, 404, "too late");
}

#[tokio::test]
async fn many_who_use_one_link_at_once_set_one_password() {
    let world = World::open().await;
    let link = world.link("ann");
    let uses = (0..6).map(|number| {
        let (mut browser, link) = (world.browser(), link.clone());
        async move {
            let password = format!("the password number {number}");
            let fields = [("link", &*link), ("password", &*password), ("again", &*password)];
            browser.post("/oauth/password", &fields).await.status
        }
    });
    let set = futures::future::join_all(uses).await;
    assert_eq!(set.iter().filter(|status| **status == 200).count(), 1, "{set:?}");
}

#[tokio::test]
async fn a_new_password_ends_the_sessions_of_the_old_one() {
    let world = World::open().await;
    let mut browser = world.signed_in("ann").await;
    browser.consent_page(&world.ask()).await;
    world.person("ann").await;
    let page = browser.get(&world.ask().path()).await;
    assert!(page.body.contains("/oauth/sign-in"), "{}", page.body);
}
