use std::sync::Arc;

use gatefold_core::CallError;
use gatefold_dispatch::{Limits, Taint};
use gatefold_policy::Effect;
use tokio::time::Instant;

use crate::source::FakeSource;
use crate::world::{World, ann, done, refused, rule};

#[tokio::test(start_paused = true)]
async fn a_nested_call_keeps_parent_depth_taint_and_principal_and_has_its_own_record() {
    let (agent, files) = (FakeSource::new("agent"), FakeSource::new("files"));
    let world = World::new(&[&agent, &files]);
    let result =
        world.call_as(&ann(), "agent__nest", r#"["files__nest", "files__echo", "x"]"#).await;
    assert_eq!(done(result), r#"["x"]"#);

    let (outer, mut inner) = (agent.seen(), files.seen());
    let (middle, innermost) = (inner.remove(0), inner.remove(0));
    assert_eq!((outer[0].depth, middle.depth, innermost.depth), (1, 2, 3));
    assert_eq!(outer[0].nested_parent, None);
    assert_eq!(middle.nested_parent, Some(outer[0].call));
    assert_eq!(innermost.nested_parent, Some(middle.call));
    assert_eq!(innermost.principal, Arc::new(ann()));
    let records = world.log.records();
    let parents: Vec<_> = records.iter().map(|record| record.opened.parent).collect();
    assert_eq!(parents, [None, Some(outer[0].call), Some(middle.call)]);
    assert_eq!(world.log.ended(), ["done"; 3]);
}

#[tokio::test(start_paused = true)]
async fn a_chain_that_touched_the_open_world_stays_tainted() {
    let web = FakeSource::with_tools("web", &["browse", "nest"]);
    let files = FakeSource::new("files");
    let world = World::new(&[&web, &files]);
    done(world.call("files__nest", r#"["files__echo"]"#).await);
    done(world.call("files__nest", r#"["web__browse"]"#).await);
    let taints =
        |source: &FakeSource| -> Vec<_> { source.seen().iter().map(|seen| seen.taint).collect() };
    assert_eq!(taints(&files), [Taint::Clean; 3]);
    assert_eq!(taints(&web), [Taint::OpenWorld]);
}

#[tokio::test(start_paused = true)]
async fn a_call_of_a_tool_further_up_is_refused() {
    let agent = FakeSource::new("agent");
    let files = FakeSource::new("files");
    let world = World::new(&[&agent, &files]);
    for chain in [r#"["agent__nest"]"#, r#"["nest"]"#, r#"["files__nest", "agent__nest"]"#] {
        let refused = refused(world.call("agent__nest", chain).await);
        let expected = match chain {
            r#"["nest"]"# => "unknown tool `nest`",
            _ => "`agent__nest` is already being called further up",
        };
        assert_eq!(refused, expected);
    }
    assert_eq!(agent.calls(), 3, "the second call of each chain never came");
    let again = world.call("agent__nest", r#"["files__nest", "files__echo"]"#).await;
    done(again);
    assert_eq!(world.log.last().ended(), "done");
}

#[tokio::test(start_paused = true)]
async fn calls_nest_no_deeper_than_the_limit() {
    let sources = ["a", "b", "c"].map(FakeSource::new);
    let limits = Limits { nesting: 2, ..Limits::default() };
    let world = World::with_limits(&sources.each_ref(), limits);
    done(world.call("a__nest", r#"["b__echo"]"#).await);
    let error = world.call("a__nest", r#"["b__nest", "c__echo"]"#).await;
    let error = error.unwrap_err();
    assert!(matches!(error, CallError::TooDeep { limit: 2 }));
    assert_eq!(error.to_string(), "calls are nested deeper than the limit: 2");
    assert_eq!(sources[2].calls(), 0);
    assert_eq!(world.log.ended()[2..], ["failed: nesting"; 3]);
}

#[tokio::test(start_paused = true)]
async fn a_nested_call_is_admitted_on_its_own() {
    let (agent, files) = (FakeSource::new("agent"), FakeSource::new("files"));
    let world = World::new(&[&agent, &files]);
    world.install(&[&agent, &files], &[rule(Effect::Deny, "files", "echo")]);
    let refused = refused(world.call("agent__nest", r#"["files__echo"]"#).await);
    assert_eq!(refused, "unknown tool `files__echo`");
    assert_eq!(files.calls(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_nested_call_has_no_longer_than_the_outermost() {
    let (agent, files) = (FakeSource::new("agent"), FakeSource::new("files"));
    let world = World::new(&[&agent, &files]);
    let began = Instant::now();
    let error = world.call("agent__nest", r#"["files__hang"]"#).await;
    assert!(matches!(error, Err(CallError::Deadline { .. })));
    assert_eq!(began.elapsed(), world.limits.call_deadline);
    assert_eq!((agent.running(), files.running()), (0, 0));
}
