//! What a call of `database` means: a call of one of the database's own tools.

use gatefold_catalog::{DomainEntry, Request, View, object_fields};
use gatefold_core::{Operation, ToolName};

use super::kinds::{DISCOVER, ResourceKind};
use super::request;
use crate::arguments::{Arguments, object};
use crate::gateway::{flattened, unknown_in};
use crate::surface::UsageError;

pub(super) const DESCRIBE_TABLE: &str = "describe_table";

/// A subcommand of `database`.
pub(super) struct DatabaseCommand {
    pub(super) name: &'static str,
    /// The tool that it calls.
    pub(super) tool: &'static str,
    /// The parameters of `database` that the tool gets.
    takes: &'static [&'static str],
    /// Its line in the description.
    pub(super) line: &'static str,
}

/// All subcommands. The last is there only if a visible database has its tool.
pub(super) const COMMANDS: [DatabaseCommand; 5] = [
    DatabaseCommand {
        name: "list_tables",
        tool: "list_tables",
        takes: &["cursor"],
        line: "list_tables <database> -- table names, descriptions, column counts",
    },
    DatabaseCommand {
        name: DISCOVER,
        tool: DESCRIBE_TABLE,
        takes: &["table", "cursor"],
        line: "discover <database> [table] -- full column schemas for one or all tables",
    },
    DatabaseCommand {
        name: "query",
        tool: "query",
        takes: &["sql"],
        line: "query <database> <sql> -- execute a SQL query",
    },
    DatabaseCommand {
        name: "explain",
        tool: "explain",
        takes: &["sql"],
        line: "explain <database> <sql> -- how a SQL query would run, without running it",
    },
    DatabaseCommand {
        name: WRITE,
        tool: WRITE,
        takes: &["sql"],
        line: "execute <database> <sql> -- an INSERT, UPDATE or DELETE that a person approves",
    },
];

const WRITE: &str = "execute";

impl DatabaseCommand {
    /// The subcommand that calls a tool.
    pub(super) fn of_tool(tool: &str) -> Option<&'static Self> {
        COMMANDS.iter().find(|command| command.tool == tool)
    }

    /// The subcommands for these databases.
    pub(super) fn of(view: &View, databases: &[&DomainEntry]) -> Vec<&'static Self> {
        let writes =
            || databases.iter().any(|entry| view.tool_named(entry.domain(), WRITE).is_some());
        COMMANDS.iter().filter(|command| command.name != WRITE || writes()).collect()
    }

    /// The call of the database's tool. Parameters of `database` that the subcommand has no use for
    /// are left out, because models fill in what a definition has; others are the tool's own.
    pub(super) fn call(
        &self,
        view: &View,
        database: &DomainEntry,
        arguments: &Arguments<'_>,
    ) -> Result<Request, UsageError> {
        let kind = ResourceKind::Database;
        let mut taken = Vec::new();
        for name in self.takes {
            if arguments.text(name)?.is_some() {
                taken.extend(arguments.get(name).map(|raw| (*name, raw)));
            }
        }
        let name = ToolName::parse(self.tool).expect("our names are short");
        let Some(tool) = view.tool_named(database.domain(), self.tool) else {
            // A tool that is not there is called anyway: the record then shows the attempt.
            let name = unknown_in(database.domain(), name);
            return Ok(Operation::Tool { name, arguments: object(taken) }.into());
        };
        let others = arguments.others(&kind.parameters());
        let extra = flattened(tool, &others);
        if extra.is_none() {
            arguments.only(&kind.parameters())?;
        }
        let extra = extra.as_ref().and_then(|extra| object_fields(extra.get())).unwrap_or_default();
        taken.extend(extra.iter().map(|(name, raw)| (name.as_ref(), *raw)));
        if self.takes.contains(&"sql") && !taken.iter().any(|(name, _)| *name == "sql") {
            return Err(UsageError::new(format!(
                "Missing parameter 'sql' of {}, which the subcommand '{}' needs.",
                kind.meta_tool(),
                self.name
            )));
        }
        Ok(request(view, tool, object(taken)))
    }
}
