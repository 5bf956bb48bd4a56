use std::sync::Arc;

use gatefold_core::{CallError, Domain, Label, Principal, Right, Rights, ToolId};
use gatefold_dispatch::{Caller, Limits, NestedOptions, SharedLabel};
use gatefold_policy::{Effect, PrincipalFilter, Rule};
use tokio::time::Instant;

use crate::source::FakeSource;
use crate::world::{SECOND, World, ann, done, refused, rule};

#[tokio::test(start_paused = true)]
async fn a_nested_call_keeps_parent_depth_and_principal_and_has_its_own_record() {
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

/// The labels with which calls reached a source.
fn labels(source: &FakeSource) -> Vec<Label> {
    source.seen().iter().map(|seen| seen.label).collect()
}

#[tokio::test(start_paused = true)]
async fn a_chain_that_touched_the_open_world_stays_labelled() {
    let web = FakeSource::with_tools("web", &["browse", "nest"]);
    let files = FakeSource::new("files");
    let world = World::new(&[&web, &files]);
    done(world.call("files__nest", r#"["files__echo"]"#).await);
    done(world.call("files__nest", r#"["web__browse"]"#).await);
    assert_eq!(labels(&files), [Label::Clean; 3]);
    assert_eq!(labels(&web), [Label::OpenWorld]);
}

#[tokio::test(start_paused = true)]
async fn a_label_rides_forward_to_the_next_calls_of_its_session_and_of_no_other() {
    let (web, files) = (FakeSource::with_tools("web", &["browse"]), FakeSource::new("files"));
    let world = World::new(&[&web, &files]);
    let session = SharedLabel::default();
    let call = async |tool: &str, label: &SharedLabel| {
        let caller = Caller { label: label.clone(), ..Caller::silent() };
        done(world.call_by(&ann(), tool, r#"["web__browse"]"#, caller).await);
    };
    call("files__echo", &session).await;
    call("files__nest", &session).await;
    assert_eq!(session.get(), Label::OpenWorld, "a nested call has read it");
    call("files__echo", &session).await;
    call("files__echo", &SharedLabel::default()).await;
    assert_eq!(labels(&files), [Label::Clean, Label::Clean, Label::OpenWorld, Label::Clean]);
}

#[tokio::test(start_paused = true)]
async fn a_call_keeps_the_bounds_of_a_lineage_that_began_elsewhere() {
    let (agent, files) = (FakeSource::new("agent"), FakeSource::new("files"));
    let world = World::new(&[&agent, &files]);
    let parent = gatefold_core::CallId::new(crate::world::START, 1);
    let elsewhere = gatefold_core::Lineage::default();
    let lineage = elsewhere.below(parent, ToolId::new("files__echo"), Label::OpenWorld);
    let call = async |tool: &str| {
        let caller = Caller { lineage: lineage.clone(), ..Caller::silent() };
        world.call_by(&ann(), tool, "{}", caller).await
    };
    let cycle = refused(call("files__echo").await);
    assert_eq!(cycle, "`files__echo` is already being called further up");
    done(call("agent__echo").await);
    let seen = agent.seen().remove(0);
    assert_eq!((seen.depth, seen.label), (2, Label::OpenWorld));
    assert_eq!(world.log.last().opened.parent, Some(parent));
}

#[tokio::test(start_paused = true)]
async fn a_nested_call_has_no_more_than_it_is_given() {
    let (agent, files) = (FakeSource::new("agent"), FakeSource::new("files"));
    let world = World::new(&[&agent, &files]);
    // By the second rule alone, giving up the right would let the call in.
    let writer =
        PrincipalFilter { rights: vec![Right::new("write")], ..PrincipalFilter::default() };
    let rules = [Rule { who: writer, ..rule(Effect::Deny, "files", "fail") }];
    world.install(&[&agent, &files], &rules);
    let narrow = |deadline| NestedOptions {
        deadline,
        rights: Some(Rights::none()),
        ..NestedOptions::default()
    };
    let writer = Principal { rights: [Right::new("write")].into_iter().collect(), ..ann() };
    let outcome = async |tool: &'static str, options: NestedOptions| {
        agent.nests_with(options);
        let began = Instant::now();
        let outcome = world.call_as(&writer, "agent__nest", &format!(r#"["{tool}"]"#)).await;
        (outcome, began.elapsed())
    };
    done(outcome("files__echo", narrow(None)).await.0);
    assert_eq!(files.seen()[0].principal.rights, Rights::none());
    let hidden = refused(outcome("files__fail", narrow(None)).await.0);
    assert_eq!(hidden, "unknown tool `files__fail`", "the outer principal may not");
    let only_agent =
        NestedOptions { within: Some(Domain::parse("agent").unwrap()), ..NestedOptions::default() };
    let outside = refused(outcome("files__echo", only_agent).await.0);
    assert_eq!(outside, "unknown tool `files__echo`");
    let (late, took) = outcome("files__hang", narrow(Some(SECOND))).await;
    assert_eq!(
        (refused(late), took),
        ("`files__hang` did not answer within 1 s".to_owned(), SECOND)
    );
    let (late, took) = outcome("files__hang", narrow(Some(600 * SECOND))).await;
    assert!(refused(late).ends_with("did not answer within 60 s"));
    assert_eq!(took, 60 * SECOND, "no longer than the outer call");
}

#[tokio::test(start_paused = true)]
async fn a_nested_call_goes_on_with_one_that_was_suspended() {
    let (agent, files) = (FakeSource::new("agent"), FakeSource::new("files"));
    let world = World::new(&[&agent, &files]);
    let result = done(world.call("agent__again", r#"["files__wait"]"#).await);
    assert_eq!(result, r#"{"state":"the source's own","answers":{"name":"Ada"}}"#);
    let (outer, inner) = (agent.seen().remove(0), files.seen());
    assert_eq!(inner[0].call, inner[1].call, "it is one call, and keeps its place below");
    assert!(inner.iter().all(|seen| (seen.nested_parent, seen.depth) == (Some(outer.call), 2)));
    assert_eq!(world.log.ended(), ["done", "suspended", "done"]);
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
