//! What a database is to a model.

use gatefold_catalog::{
    Action, AssemblyStep, Command, FixedCall, MetaTool, Parts, StubForm, ToolPlace,
};

pub(super) const PLACE: ToolPlace = ToolPlace::Behind(MetaTool {
    name: "database",
    step: AssemblyStep::Connectors,
    summary: "Query connected databases.",
    noun: "database",
    part: "table",
    parts: Parts::Topics("describe_table"),
    named_parts: 10,
    stub: StubForm::Counted,
    commands: &[
        Command {
            name: "list_tables",
            line: "list_tables <database> -- table names, descriptions, column counts",
            action: Action::Call(FixedCall {
                tool: "list_tables",
                takes: &["cursor"],
                needs: None,
                is_optional: false,
            }),
        },
        Command {
            name: "discover",
            line: "discover <database> [table] -- full column schemas for one or all tables",
            action: Action::Call(FixedCall {
                tool: "describe_table",
                takes: &["table", "cursor"],
                needs: None,
                is_optional: false,
            }),
        },
        Command {
            name: "query",
            line: "query <database> <sql> -- execute a SQL query",
            action: Action::Call(statement("query", false)),
        },
        Command {
            name: "explain",
            line: "explain <database> <sql> -- how a SQL query would run, without running it",
            action: Action::Call(statement("explain", false)),
        },
        Command {
            name: "execute",
            line: "execute <database> <sql> -- an INSERT, UPDATE or DELETE that a person approves",
            action: Action::Call(statement("execute", true)),
        },
    ],
    parameters: &[
        ("table", r#"{"type":"string","description":"For discover, omit it to see all tables."}"#),
        ("sql", r#"{"type":"string","description":"One statement."}"#),
    ],
    is_bound: true,
});

const fn statement(tool: &'static str, is_optional: bool) -> FixedCall {
    FixedCall { tool, takes: &["sql"], needs: Some(("sql", "SELECT 1")), is_optional }
}
