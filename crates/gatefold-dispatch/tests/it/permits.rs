use std::sync::Arc;

use gatefold_core::{Label, Principal, UpstreamIdentity};
use gatefold_policy::Effect;

use crate::source::FakeSource;
use crate::world::{World, ann, done, rule};

#[tokio::test(start_paused = true)]
async fn a_source_receives_exactly_the_permit_of_its_call_and_once() {
    let (mail, files) = (FakeSource::new("mail"), FakeSource::new("files"));
    let world = World::new(&[&mail, &files]);
    world.install(&[&mail, &files], &[rule(Effect::Allow, "mail", "*")]);

    done(world.call_as(&ann(), "mail__echo", r#"{"n": 1}"#).await);
    done(world.call("files__browse", "{}").await);

    let mut seen = mail.seen();
    let own = seen.pop().unwrap();
    assert!(seen.is_empty(), "one call, one permit");
    assert_eq!(own.call, world.log.records()[0].opened.id);
    assert_eq!((own.tool.as_str(), &*own.name), ("mail__echo", "echo"));
    assert_eq!(own.arguments, r#"{"n": 1}"#);
    assert_eq!(own.rule.as_str(), "allow-*");
    assert_eq!(own.principal, Arc::new(ann()));
    assert_eq!(own.identity, UpstreamIdentity::Shared);
    assert_eq!((own.nested_parent, own.depth), (None, 1));

    let other = files.seen().pop().unwrap();
    assert_eq!(other.rule.as_str(), "default");
    assert_eq!(other.principal, Arc::new(Principal::local()));
    assert_eq!((own.label, other.label), (Label::Clean, Label::OpenWorld));
}

#[tokio::test(start_paused = true)]
async fn arguments_and_results_pass_letter_for_letter() {
    let world = World::new(&[&FakeSource::new("mail")]);
    for text in [
        r#"{"n": 123456789012345678901234567890,  "x":1.10}"#,
        r#"{"b":1,"a":2,"b":3}"#,
        r#"{"s":"\u00e9\/"}"#,
        "[]",
        "null",
    ] {
        assert_eq!(done(world.call("mail__echo", text).await), text);
    }
}
