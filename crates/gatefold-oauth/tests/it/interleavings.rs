//! Ten thousand random steps of three processes: calls, ends of tokens, sign-ins and sign-outs.

use std::time::Duration;

use futures::future::join_all;
use gatefold_core::UpstreamIdentity;
use gatefold_dispatch::RefusalCause;
use gatefold_identity::Grants as _;
use gatefold_oauth::Accounts;

use crate::bench::{Bench, after_refusal, pass, token};

const ROUNDS: usize = 500;
const CALLS: usize = 20;

/// What happens between two bursts of calls.
#[derive(Debug, Clone, Copy)]
enum Event {
    /// Time passes, up to several lives of a token.
    Time(u64),
    /// The provider ends all access tokens early.
    Expire,
    SignOut,
    Nothing,
}

impl Event {
    fn random(random: &mut fastrand::Rng) -> Self {
        match random.u8(0..10) {
            0..4 => Self::Time(random.u64(1..8000)),
            4..6 => Self::Expire,
            6 => Self::SignOut,
            _ => Self::Nothing,
        }
    }
}

/// One call as a source makes it. Returns whether the server would have let it in.
async fn call(accounts: &Accounts, bench: &Bench) -> bool {
    let Ok(Some(first)) = token(accounts, &UpstreamIdentity::Shared).await else { return false };
    if bench.provider.admits(&first) {
        return true;
    }
    let unknown = RefusalCause::Unknown;
    let again = after_refusal(accounts, Some(&first), unknown, "Bearer").await;
    again.is_ok_and(|again| again.is_some_and(|again| bench.provider.admits(&again)))
}

#[tokio::test]
async fn no_interleaving_loses_a_sign_in_or_calls_after_a_sign_out() {
    let seed = fastrand::u64(..);
    println!("seed {seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    let bench = Bench::new().await;
    bench.sign_in(&Bench::place()).await;
    let processes = [bench.process(), bench.process(), bench.process()];
    let mut sign_ins = 1;
    for round in 0..ROUNDS {
        let event = Event::random(&mut random);
        match event {
            Event::Time(seconds) => pass(&bench, Duration::from_secs(seconds)),
            // A token must have some age, or it counts as one that is never accepted.
            Event::Expire => {
                pass(&bench, Duration::from_secs(31));
                bench.provider.expire();
            }
            Event::SignOut => {
                bench.grants.remove(&Bench::place()).await.unwrap();
                pass(&bench, Duration::from_secs(1));
                let calls = processes.iter().map(|own| token(own, &UpstreamIdentity::Shared));
                let carried = join_all(calls).await;
                assert!(
                    carried.iter().all(|own| !matches!(own, Ok(Some(_)))),
                    "{round}: {carried:?}"
                );
                bench.sign_in(&Bench::place()).await;
                sign_ins += 1;
                pass(&bench, Duration::from_secs(1));
            }
            Event::Nothing => {}
        }
        let calls = (0..CALLS).map(|_| call(&processes[random.usize(..3)], &bench));
        let let_in = join_all(calls.collect::<Vec<_>>()).await;
        assert!(let_in.iter().all(|own| *own), "{round} {event:?}: {let_in:?}");
    }
    let counts = bench.provider.counts();
    assert_eq!((counts.sign_ins, counts.reuses), (sign_ins, 0), "no sign-in was lost");
}
