//! What a source that somebody connects is to a model: an HTTP API, or one of an embedder's kind.

use gatefold_catalog::{Action, AssemblyStep, Command, MetaTool, Parts, StubForm, ToolPlace};

pub const CONNECTOR: ToolPlace = ToolPlace::Behind(MetaTool {
    name: "connector",
    step: AssemblyStep::Connectors,
    summary: "Interact with external services.",
    noun: "connector",
    part: "action",
    parts: Parts::Tools,
    named_parts: usize::MAX,
    stub: StubForm::Dashed,
    commands: &[
        Command {
            name: "discover",
            line: "discover <name> [action] -- list actions with full parameter schemas",
            action: Action::Describe,
        },
        Command {
            name: "execute",
            line: r#"execute <name> <action> {"param": "value"} -- run an action"#,
            action: Action::CallNamed,
        },
    ],
    parameters: &[
        (
            "action",
            r#"{"type":"string","description":"For discover, omit it to see all actions."}"#,
        ),
        ("parameters", r#"{"type":"object","description":"Matching the action's schema."}"#),
    ],
    is_bound: true,
});
