//! A kind of source that Gatefold lacks, as an embedder adds one.

use std::sync::Arc;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use gatefold::config::keys::{Key, PathTarget, find, keys_of, sections};
use gatefold::config::kinds::{
    ConnectionMethod, DigestParts, KindSection, Kinds, SourceIdentity, SourceKind, SourcePorts,
};
use gatefold::config::{Config, ConfigError, Inputs, reference, schema, template};
use gatefold_catalog::{KindName, Manifest, ToolSpec};
use gatefold_config::{Count, Table, Text};
use gatefold_core::{
    BoxError, CallError, Operation, Outcome, Payload, SystemClock, Timestamp, ToolName,
};
use gatefold_dispatch::{
    AdmittedCall, CallContext, Caller, Source, SourceState, StatelessAdapter, StatelessSettings,
    StatelessSource,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};

use crate::scratch::Scratch;

/// Sources that echo a text.
struct EchoKind;

const ECHO: KindName = KindName::new("echo");

impl SourceKind for EchoKind {
    fn name(&self) -> KindName {
        ECHO
    }

    fn noun(&self) -> &'static str {
        "echo"
    }

    fn details(&self) -> &'static str {
        "An echo says a text again (`echo`)."
    }

    fn ways(&self) -> &'static [ConnectionMethod] {
        &[ConnectionMethod {
            key: "echo",
            purpose: "for an echo",
            heading: "An echo:",
            example: "echo",
        }]
    }

    fn keys(&self) -> Vec<Key> {
        keys_of::<Echo>()
    }

    fn read(&self, table: &mut Table<'_>) -> Option<Arc<dyn KindSection>> {
        table.read::<Echo>().map(|echo| Arc::new(echo) as Arc<dyn KindSection>)
    }
}

/// The configuration of an echo.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
struct Echo {
    /// What to say.
    #[schemars(extend("examples" = ["hello"]))]
    echo: Text,
    /// How often to say it.
    #[schemars(extend("examples" = [3], "x-unset" = "once"))]
    times: Option<Count<u8>>,
}

impl KindSection for Echo {
    fn kind(&self) -> KindName {
        ECHO
    }

    fn digest(&self, parts: &mut DigestParts) {
        parts.add(&self.echo.0);
        parts.add([self.times.map_or(1, |times| times.0)]);
    }

    fn summary(&self) -> String {
        format!("says {:?}", self.echo.0)
    }

    fn shown(&self) -> Value {
        json!({ "kind": "echo", "says": self.echo.0 })
    }

    fn build(&self, identity: SourceIdentity, ports: &SourcePorts) -> Arc<dyn Source> {
        let settings = StatelessSettings {
            domain: identity.domain,
            config_digest: identity.config_digest,
            describe_deadline: identity.connect_deadline,
            known: identity.known,
        };
        let (manifests, clock) = (ports.manifests.clone(), ports.clock.clone());
        StatelessAdapter::new(Arc::new(self.clone()), settings, manifests, clock)
    }
}

impl StatelessSource for Echo {
    fn describe(&self) -> BoxFuture<'_, Result<Manifest, BoxError>> {
        let say = ToolSpec::new("say").description("Says it again.").group("echoes");
        let manifest = Manifest::builder(Timestamp::from_millis(0)).tool(say).build();
        async { Ok(manifest) }.boxed()
    }

    fn call(&self, _: AdmittedCall, _: CallContext) -> BoxFuture<'_, Result<Payload, CallError>> {
        let times = usize::from(self.times.map_or(1, |times| times.0));
        let json = to_raw_value(&self.echo.0.repeat(times)).expect("a text is JSON");
        async { Ok(Payload { json, is_error: false }) }.boxed()
    }
}

fn kinds() -> Kinds {
    Kinds::default().with(EchoKind)
}

fn load(scratch: &Scratch, text: &str) -> Result<Config, ConfigError> {
    let inputs =
        Inputs { config: Some("gatefold.toml".into()), kinds: kinds(), ..Inputs::default() };
    scratch.write("gatefold.toml", text).load(&inputs)
}

/// The catalogue takes in a list a moment after it was fetched.
#[tokio::test]
async fn a_list_that_has_just_come_is_in_the_catalogue_once_all_is_learned() {
    let scratch = Scratch::new();
    let config = load(&scratch, "sources.a.echo = 'x'\n").unwrap();
    let state = scratch.path().join("state");
    let app = gatefold::build(config, &state, Arc::new(SystemClock)).await.unwrap();
    app.keep_learning();
    let is_waiting = |state| matches!(state, SourceState::Configured | SourceState::Starting);
    while app.status().sources.iter().any(|source| is_waiting(source.status.state)) {
        tokio::task::yield_now().await;
    }
    assert_eq!(app.learn(&()).await, []);
    assert_eq!(app.pin().view().tool_count(), 1);
    app.close().await;
}

#[tokio::test]
async fn a_source_of_an_own_kind_is_configured_made_and_called() {
    let scratch = Scratch::new();
    let text = "sources.a = { echo = '${TOKEN}', times = 2, allow = ['s*'] }\n";
    let config = load(&scratch, text).unwrap();
    let state = scratch.path().join("state");
    let app = gatefold::build(config, &state, Arc::new(SystemClock)).await.unwrap();
    assert_eq!(app.learn(&()).await, []);
    let arguments: Box<RawValue> = to_raw_value(&json!({})).unwrap();
    let operation = Operation::Tool { name: ToolName::parse("a__say").unwrap(), arguments };
    let outcome = app.pin().call(operation, None, Caller::silent()).await.unwrap();
    let Outcome::Done(payload) = outcome else { panic!("{outcome:?}") };
    assert_eq!(payload.json.get(), r#""s3crets3cret""#);
    let same = load(&scratch, text).unwrap();
    assert_eq!(app.apply(same).await.unwrap().kept, 1);
    let other = load(&scratch, "sources.a = { echo = 'x' }").unwrap();
    assert_eq!(app.apply(other).await.unwrap().added, 1);
    app.close().await;
}

#[test]
fn faults_of_an_own_kind_have_their_places_and_hints() {
    let scratch = Scratch::new();
    let text = "[sources.a]\necho = ''\ntimes = 256\ntmies = 1\n\
                [sources.b]\necho = 'x'\nurl = 'http://a.example'\n\
                [sources.c]\ntimes = 3\n\
                [sources.d]\ncommand = 'x'\ntimes = 3\n";
    insta::assert_snapshot!(load(&scratch, text).unwrap_err(), @r"
    gatefold.toml:2:8: `sources.a.echo` is empty
      help: give it a value, or remove the key
    gatefold.toml:3:9: `sources.a.times` is too large: 256
      help: write a smaller number
    gatefold.toml:4:1: `sources.a.tmies` is not a known key
      help: did you mean `times`?
    gatefold.toml:6:1: `sources.b.echo` is set beside `url`
      help: keep one of the two
    gatefold.toml:8:10: `sources.c` says neither what to start nor where to connect
      help: give `command` for a program on this machine, or `url` for a server over HTTP, or `openapi` for an HTTP API with an OpenAPI description, or `actions` for an HTTP API whose operations you write down, or `database` for a database, or `builtin` for built-in tools, or `skills` for a folder of skills, or `knowledge` for documents to search and quote, or `echo` for an echo
    gatefold.toml:12:1: `sources.d.times` belongs to a source with `echo`
      help: remove it
    ");
}

#[test]
fn what_is_written_about_the_keys_has_those_of_an_own_kind() {
    let sections = sections(&kinds());
    let Ok(PathTarget::Key(section, key)) = find("sources.x.times", &sections) else { panic!() };
    assert_eq!(section.constraints(key), ["above zero", "only together with `echo`"]);
    let Ok(PathTarget::Key(section, key)) = find("sources.x.url", &sections) else { panic!() };
    assert_eq!(
        section.excluded_by(key),
        ["command", "openapi", "actions", "database", "builtin", "skills", "knowledge", "echo"]
    );
    assert!(
        section.summary.starts_with(
            "One MCP server or HTTP API or database or set of built-in tools or folder of skills or knowledge base or echo: "
        ),
        "{}",
        section.summary
    );
    assert!(reference(&sections).contains("### `sources.NAME.times`\n\nHow often to say it."));
    assert!(template(&sections).contains("\n# An echo:\n\n#[sources.echo]\n# What to say.\n"));
    let schema = jsonschema::validator_for(&schema(&sections)).unwrap();
    for (source, is_legal) in [
        (json!({ "echo": "x", "times": 2 }), true),
        (json!({ "times": 2 }), false),
        (json!({ "echo": "x", "command": "y" }), false),
    ] {
        let config = json!({ "sources": { "a": source } });
        assert_eq!(schema.is_valid(&config), is_legal, "{config}");
    }
}
