//! What policy requires of a call besides making it: if it cannot be met, the call is not made.

use gatefold_core::{Domain, Principal, Right, Rights};
use gatefold_dispatch::NestedOptions;
use gatefold_policy::{Entries, Glob, ObligationRule, Obligations, Policy, PrincipalFilter, Scope};

use crate::source::FakeSource;
use crate::world::{World, ann, bob, done, refused};

fn rule(who: PrincipalFilter, pattern: &str, obligations: Obligations) -> ObligationRule {
    let scope = Scope::Domain(Domain::parse("mail").unwrap());
    ObligationRule { who, scope, entries: Entries::Every, pattern: Glob::new(pattern), obligations }
}

#[tokio::test(start_paused = true)]
async fn a_call_is_not_made_whose_result_would_have_to_be_masked() {
    let mail = FakeSource::new("mail");
    let world = World::new(&[&mail]);
    let masks = Obligations::default().mask("/card/number");
    let rules = vec![rule(PrincipalFilter::user(bob().user), "echo", masks)];
    world.install_policy(&[&mail], Policy::default().with_obligations(rules));
    let said = refused(world.call_as(&bob(), "mail__echo", "{}").await);
    let expected = "`mail__echo` was not called: policy wants parts of its result hidden, which is \
                    not possible here";
    assert_eq!(said, expected);
    assert_eq!(mail.calls(), 0, "nothing was sent");
    assert_eq!(world.log.last().ended(), "failed: denied");
    done(world.call_as(&bob(), "mail__browse", "{}").await);
    done(world.call_as(&ann(), "mail__echo", "{}").await);
}

#[tokio::test(start_paused = true)]
async fn no_more_of_a_result_is_shown_than_any_duty_allows() {
    let mail = FakeSource::new("mail");
    let world = World::new(&[&mail]);
    let preview =
        |bytes| rule(PrincipalFilter::everybody(), "echo", Obligations::default().preview(bytes));
    world
        .install_policy(&[&mail], Policy::default().with_obligations(vec![preview(9), preview(8)]));
    done(world.call("mail__echo", r#"{"a":12}"#).await);
    let said = refused(world.call("mail__echo", r#"{"a":123}"#).await);
    assert_eq!(said, "the result of `mail__echo` has 9 bytes, more than the limit: 8");
    done(world.call("mail__browse", r#"{"a":123}"#).await);
}

#[tokio::test(start_paused = true)]
async fn a_narrower_nested_call_owes_what_those_owe_for_whom_it_is_made() {
    let (agent, mail) = (FakeSource::new("agent"), FakeSource::new("mail"));
    let world = World::new(&[&agent, &mail]);
    let reader = PrincipalFilter { rights: vec![Right::new("read")], ..PrincipalFilter::default() };
    let rules = vec![rule(reader, "echo", Obligations::default().mask("/card"))];
    world.install_policy(&[&agent, &mail], Policy::default().with_obligations(rules));
    let reader = Principal { rights: [Right::new("read")].into_iter().collect(), ..ann() };
    for (principal, is_made) in [(reader, false), (ann(), true)] {
        // With the nested call's own rights, no rule would apply.
        agent.nests_with(NestedOptions { rights: Some(Rights::none()), ..Default::default() });
        let called = world.call_as(&principal, "agent__nest", r#"["mail__echo"]"#).await;
        assert_eq!((called.is_ok(), mail.calls()), (is_made, usize::from(is_made)), "{called:?}");
    }
}
