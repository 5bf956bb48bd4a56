//! What becomes of a sign-in over time.

use std::time::Duration;

use futures::future::join_all;
use gatefold_core::{UpstreamIdentity, UserId};
use gatefold_dispatch::{IdentityScope, RefusalCause};
use gatefold_identity::Grants as _;
use gatefold_oauth::SiteSettings;

use crate::bench::{Bench, after_refusal, pass, token};

const SHARED: UpstreamIdentity = UpstreamIdentity::Shared;

const HOUR: Duration = Duration::from_secs(3600);

/// The pause after which a process looks again at what the others did.
const LOOK: Duration = Duration::from_secs(1);

const NEEDS: &str = "needs a sign-in: `gatefold login server`";

#[tokio::test]
async fn many_calls_in_three_processes_refresh_once() {
    let bench = Bench::new().await;
    bench.sign_in(&Bench::place()).await;
    bench.provider.change(|rules| rules.token_delay_ms = 200);
    let processes = [bench.process(), bench.process(), bench.process()];
    for hour in 1..=3 {
        pass(&bench, HOUR);
        let calls = (0..64).map(|at| token(&processes[at % 3], &SHARED));
        let carried: Vec<_> = join_all(calls).await.into_iter().map(Result::unwrap).collect();
        assert!(carried.iter().all(|own| own.is_some() && *own == carried[0]));
        let counts = bench.provider.counts();
        assert_eq!((counts.refreshes, counts.reuses), (hour, 0));
    }
}

#[tokio::test]
async fn callers_that_give_up_cut_off_no_refresh() {
    let bench = Bench::new().await;
    bench.sign_in(&Bench::place()).await;
    bench.provider.change(|rules| rules.token_delay_ms = 300);
    let accounts = bench.process();
    pass(&bench, HOUR);
    let calls = (0..8).map(|_| token(&accounts, &SHARED));
    let gave_up = tokio::time::timeout(Duration::from_millis(50), join_all(calls)).await;
    assert!(gave_up.is_err());
    assert!(token(&accounts, &SHARED).await.unwrap().is_some());
    let counts = bench.provider.counts();
    assert_eq!((counts.refreshes, counts.reuses), (1, 0));
}

#[tokio::test]
async fn a_sign_in_that_lapsed_needs_a_person_and_harms_nobody_else() {
    let bench = Bench::new().await;
    let user = |name: &str| UpstreamIdentity::User(UserId::new(name));
    let (ann, bob) = (user("ann"), user("bob"));
    bench.sign_in(&Bench::place_of(bob.clone())).await;
    bench.provider.end_all();
    bench.sign_in(&Bench::place_of(ann.clone())).await;
    let accounts =
        bench.process_with(SiteSettings { scope: IdentityScope::PerUser, ..bench.site() });
    pass(&bench, HOUR);
    assert!(token(&accounts, &ann).await.unwrap().is_some());
    let lapsed = token(&accounts, &bob).await.unwrap_err();
    assert!(lapsed.needs_sign_in);
    assert_eq!(lapsed.to_string(), NEEDS);
    assert!(token(&accounts, &ann).await.unwrap().is_some());
    bench.sign_in(&Bench::place_of(bob.clone())).await;
    assert!(token(&accounts, &bob).await.unwrap().is_some());
}

#[tokio::test]
async fn a_provider_that_is_down_costs_nothing_while_the_token_is_good() {
    let bench = Bench::new().await;
    bench.sign_in(&Bench::place()).await;
    let accounts = bench.process();
    let first = token(&accounts, &SHARED).await.unwrap();
    bench.provider.change(|rules| rules.token_failure = Some(503));
    // It is to be renewed by now, and still good.
    pass(&bench, Duration::from_secs(3555));
    assert_eq!(token(&accounts, &SHARED).await.unwrap(), first);
    pass(&bench, Duration::from_secs(46));
    let error = token(&accounts, &SHARED).await.unwrap_err();
    assert!(!error.needs_sign_in, "{error}");
    assert_eq!(error.to_string(), "no token was given: HTTP status 503 Service Unavailable");
    bench.provider.change(|rules| rules.token_failure = None);
    assert!(token(&accounts, &SHARED).await.unwrap().is_some());
    assert_eq!(bench.provider.counts().sign_ins, 1);
}

#[tokio::test]
async fn callers_that_wait_for_a_provider_in_vain_learn_so_together() {
    let bench = Bench::new().await;
    bench.sign_in(&Bench::place()).await;
    let accounts = bench.process();
    pass(&bench, HOUR);
    bench.provider.change(|rules| {
        rules.token_delay_ms = 200;
        rules.token_failure = Some(503);
    });
    let said = join_all((0..32).map(|_| token(&accounts, &SHARED))).await;
    assert!(said.iter().all(|own| own.as_ref().is_err_and(|error| !error.needs_sign_in)));
    assert_eq!(bench.provider.counts().failures, 1);
    bench.provider.change(|rules| rules.token_failure = None);
    assert!(token(&accounts, &SHARED).await.unwrap().is_some(), "who comes later asks again");
}

#[tokio::test]
async fn a_token_that_the_server_refuses_is_renewed_once() {
    let bench = Bench::new().await;
    bench.sign_in(&Bench::place()).await;
    let accounts = bench.process();
    let first = token(&accounts, &SHARED).await.unwrap();
    pass(&bench, Duration::from_secs(60));
    bench.provider.expire();
    let unknown = RefusalCause::Unknown;
    let calls = (0..16).map(|_| after_refusal(&accounts, first.as_deref(), unknown, "Bearer"));
    let again: Vec<_> = join_all(calls).await.into_iter().map(|own| own.unwrap()).collect();
    assert!(again.iter().all(|own| *own == again[0] && *own != first));
    assert_eq!(bench.provider.counts().refreshes, 1);
    // A new one that is refused at once is not renewed again and again.
    let refused = after_refusal(&accounts, again[0].as_deref(), unknown, "Bearer").await;
    assert!(refused.unwrap_err().to_string().starts_with("does not accept the token"));
    assert_eq!(bench.provider.counts().refreshes, 1);
}

#[tokio::test]
async fn without_a_refresh_token_a_person_is_asked_when_the_token_ends() {
    let bench = Bench::new().await;
    bench.provider.change(|rules| rules.refreshes = false);
    bench.sign_in(&Bench::place()).await;
    let accounts = bench.process();
    pass(&bench, Duration::from_secs(3599));
    assert!(token(&accounts, &SHARED).await.unwrap().is_some());
    pass(&bench, Duration::from_secs(1));
    assert_eq!(token(&accounts, &SHARED).await.unwrap_err().to_string(), NEEDS);
}

#[tokio::test]
async fn a_sign_out_in_one_process_ends_the_others() {
    let bench = Bench::new().await;
    bench.sign_in(&Bench::place()).await;
    let accounts = bench.process();
    let carried = token(&accounts, &SHARED).await.unwrap();
    bench.grants.remove(&Bench::place()).await.unwrap();
    pass(&bench, LOOK);
    assert_eq!(token(&accounts, &SHARED).await.unwrap(), None, "a stranger may try");
    let refused = after_refusal(&accounts, None, RefusalCause::Unknown, "Bearer").await;
    assert_eq!(refused.unwrap_err().to_string(), NEEDS);
    bench.sign_in(&Bench::place()).await;
    pass(&bench, LOOK);
    let again = token(&accounts, &SHARED).await.unwrap();
    assert!(again.is_some() && again != carried);
}

#[tokio::test]
async fn further_scopes_are_asked_for_beside_the_earlier_ones() {
    let bench = Bench::new().await;
    bench.provider.change(|rules| {
        rules.resource_metadata.insert("scopes_supported".to_owned(), serde_json::json!(["read"]));
    });
    bench.sign_in(&Bench::place()).await;
    let accounts = bench.process();
    let carried = token(&accounts, &SHARED).await.unwrap();
    let challenge = r#"Bearer error="insufficient_scope", scope="write delete""#;
    let forbidden = RefusalCause::Forbidden;
    let refused = after_refusal(&accounts, carried.as_deref(), forbidden, challenge).await;
    assert_eq!(
        refused.unwrap_err().to_string(),
        "wants more rights than this sign-in gave (`write delete`): `gatefold login server`"
    );
    // What the sign-in gave is as good as before.
    assert_eq!(token(&accounts, &SHARED).await.unwrap(), carried);
    bench.sign_in(&Bench::place()).await;
    let kept = bench.kept().await.unwrap();
    assert_eq!(kept.grant.scopes, ["read", "write", "delete"]);
    assert!(kept.grant.wanted.is_empty());
}

#[tokio::test]
async fn a_token_goes_to_no_other_address() {
    let bench = Bench::new().await;
    bench.sign_in(&Bench::place()).await;
    let url = format!("{}/other", bench.provider.issuer()).parse().unwrap();
    let accounts = bench.process_with(SiteSettings { url, ..bench.site() });
    assert_eq!(token(&accounts, &SHARED).await.unwrap(), None);
    // Whatever the other address asks for.
    let challenge = r#"Bearer error="insufficient_scope", scope="all""#;
    for cause in [RefusalCause::Unknown, RefusalCause::Forbidden] {
        let refused = after_refusal(&accounts, None, cause, challenge).await;
        assert_eq!(refused.unwrap_err().to_string(), NEEDS);
    }
}

#[tokio::test]
async fn a_provider_that_does_not_rotate_is_refreshed_again_with_the_same_token() {
    let bench = Bench::new().await;
    bench.provider.change(|rules| rules.rotates = false);
    bench.sign_in(&Bench::place()).await;
    let accounts = bench.process();
    for refreshes in 1..=3 {
        pass(&bench, HOUR);
        assert!(token(&accounts, &SHARED).await.unwrap().is_some());
        assert_eq!(bench.provider.counts().refreshes, refreshes);
    }
}
