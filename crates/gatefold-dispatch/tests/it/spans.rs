//! The span of a call: what it says, what it never says, and what it costs when nobody listens.

use std::fmt::{self, Write as _};
use std::sync::{Arc, Mutex};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Subscriber};
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::layer::{Context, SubscriberExt as _};
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{Layer, registry};

use crate::source::FakeSource;
use crate::world::World;

/// What a caller passes, and the log must never have.
const SECRET: &str = "hunter2";

/// Records every span and event, field by field.
#[derive(Clone, Default)]
struct Listener(Arc<Mutex<Vec<String>>>);

impl Listener {
    fn note(&self, what: &str, record: impl FnOnce(&mut dyn Visit)) {
        let mut fields = Fields(what.to_owned());
        record(&mut fields);
        self.0.lock().unwrap().push(fields.0);
    }
}

struct Fields(String);

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        write!(self.0, " {field}={value:?}").unwrap();
    }
}

impl<S: Subscriber> Layer<S> for Listener {
    fn on_new_span(&self, span: &Attributes<'_>, _: &Id, _: Context<'_, S>) {
        self.note(span.metadata().name(), |fields| span.record(fields));
    }

    fn on_record(&self, _: &Id, values: &Record<'_>, _: Context<'_, S>) {
        self.note("then", |fields| values.record(fields));
    }

    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        self.note("event", |fields| event.record(fields));
    }
}

/// How often a call is made until its span is heard.
const ATTEMPTS: usize = 5;

/// Makes a call and returns what was recorded during it, with the call's own id as `ID`.
///
/// A span whose use coincides with a new listener, as in the tests that run in parallel, may go unheard.
async fn heard(level: LevelFilter, tool: &str) -> String {
    for _ in 1..ATTEMPTS {
        let heard = heard_once(level, tool).await;
        if !heard.is_empty() {
            return heard;
        }
    }
    heard_once(level, tool).await
}

async fn heard_once(level: LevelFilter, tool: &str) -> String {
    let world = World::new(&[&FakeSource::new("mail")]);
    // Its first use is never heard if it does.
    drop(World::new(&[&FakeSource::new("mail")]).call(tool, "{}").await);
    let listener = Listener::default();
    let guard = registry().with(level).with(listener.clone()).set_default();
    tracing::callsite::rebuild_interest_cache();
    drop(world.call(tool, &format!(r#"{{"password":"{SECRET}"}}"#)).await);
    drop(guard);
    let heard = listener.0.lock().unwrap().join("\n");
    heard.replace(&world.log.last().opened.id.to_string(), "ID")
}

#[tokio::test(start_paused = true)]
async fn a_call_says_its_id_domain_tool_and_outcome() {
    for (tool, expected) in [
        ("mail__echo", "call id=ID\nthen domain=mail\nthen tool=mail__echo\nthen outcome=\"done\""),
        (
            "mail__fail",
            "call id=ID\nthen domain=mail\nthen tool=mail__fail\nthen outcome=\"tool_error\"",
        ),
        (
            "mail__hang",
            "call id=ID\nthen domain=mail\nthen tool=mail__hang\nthen outcome=\"deadline\"",
        ),
        (
            "mail__wait",
            "call id=ID\nthen domain=mail\nthen tool=mail__wait\nthen outcome=\"suspended\"",
        ),
        ("mail__none", "call id=ID\nthen outcome=\"unknown\""),
    ] {
        assert_eq!(heard(LevelFilter::DEBUG, tool).await, expected);
    }
}

#[tokio::test(start_paused = true)]
async fn neither_a_span_nor_an_event_has_arguments() {
    for tool in crate::source::TOOLS.iter().filter(|tool| !["again", "nest"].contains(tool)) {
        let heard = heard(LevelFilter::TRACE, &format!("mail__{tool}")).await;
        assert!(heard.contains("call id=ID") && !heard.contains(SECRET), "{tool}: {heard}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_span_that_nobody_listens_for_is_neither_made_nor_filled() {
    assert_eq!(heard(LevelFilter::INFO, "mail__echo").await, "");
}
