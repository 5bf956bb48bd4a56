//! How a function or an SQL statement becomes an MCP tool.

use std::sync::Arc;

use futures::future::BoxFuture;
use rmcp::model::{Tool as Definition, ToolAnnotations};
use serde_json::{Map, Value};

use crate::{
    caller::{Answer, Caller},
    database::{Database, Rows},
    error::ToolError,
    fields::{self, Arguments, Field, Kind, integer, page},
};

/// A call's effect on the world, which the client sees as the tool's annotations.
#[derive(Clone, Copy)]
pub(crate) enum Effect {
    /// Changes nothing.
    Reads,
    /// Adds something new each time.
    Adds,
    /// Adds or switches something; a second call changes nothing more.
    Sets,
    /// Overwrites what was there; a second call changes nothing more.
    Overwrites,
    /// Removes something for good.
    Removes,
}

/// A tool as the client sees it, and its implementation.
pub(crate) struct Tool {
    pub(crate) definition: Definition,
    arguments: Vec<Field>,
    run: Box<ToolFunction>,
}

/// Which request makes which call of a tool that is offered over HTTP.
pub(crate) struct ToolRoute {
    pub(crate) tool: &'static str,
    pub(crate) method: &'static str,
    pub(crate) path: &'static str,
}

/// A tool without its implementation.
pub(crate) struct ToolDraft {
    name: &'static str,
    about: &'static str,
    effect: Effect,
    arguments: Vec<Field>,
    results: Vec<Field>,
    rows: Rows,
}

type ToolFunction = dyn Fn(Arguments, Caller) -> ToolFuture + Send + Sync;
type ToolFuture = BoxFuture<'static, Result<Answer, ToolError>>;

/// Begins a tool: its name, its effect, and the sentences that describe it.
pub(crate) fn tool(name: &'static str, effect: Effect, about: &'static str) -> ToolDraft {
    let (arguments, results) = (Vec::new(), Vec::new());
    ToolDraft { name, about, effect, arguments, results, rows: Rows::One }
}

impl Tool {
    pub(crate) async fn call(
        &self,
        given: Map<String, Value>,
        caller: Caller,
    ) -> Result<Answer, ToolError> {
        let arguments = Arguments::parse(&self.arguments, given).map_err(ToolError::Arguments)?;
        (self.run)(arguments, caller).await
    }
}

impl ToolDraft {
    pub(crate) fn takes(mut self, arguments: impl IntoIterator<Item = Field>) -> Self {
        self.arguments.extend(arguments);
        self
    }

    pub(crate) fn gives(mut self, results: impl IntoIterator<Item = Field>) -> Self {
        self.results.extend(results);
        self
    }

    /// The result is a list of such entries, all at once.
    pub(crate) fn gives_all(mut self, name: &'static str, entry: Vec<Field>) -> Self {
        self.rows = Rows::All { name, entry: entry.clone() };
        self.gives([fields::list(name, Kind::Object(entry), "What was found.")])
    }

    /// The result is a list of such entries, a page at a time; takes `limit` and `offset`.
    pub(crate) fn gives_page(mut self, name: &'static str, entry: Vec<Field>) -> Self {
        self.rows = Rows::Page { name, entry: entry.clone() };
        self.takes(page()).gives([
            fields::list(name, Kind::Object(entry), "The entries of this page."),
            integer("next_offset", "Offset of the next page; absent on the last page.").optional(),
        ])
    }

    /// Runs one SQL statement. It gets the arguments as JSON in `?1` and the words of the argument
    /// `query` in `?2`; its columns are named like the results.
    pub(crate) fn runs(self, database: &Database, statement: &'static str) -> Tool {
        let (database, rows) = (database.clone(), self.rows.clone());
        let results = self.results.clone();
        self.waits(move |arguments, _| {
            let (database, rows, results) = (database.clone(), rows.clone(), results.clone());
            async move {
                let found = database.run(statement, &arguments, &rows, &results).await?;
                Ok(Answer::from(found))
            }
        })
    }

    /// Computes the result from the arguments alone.
    pub(crate) fn computes(self, compute: fn(&Arguments) -> Result<Value, ToolError>) -> Tool {
        self.waits(move |arguments, _| async move { Ok(Answer::from(compute(&arguments)?)) })
    }

    /// Works on files, on a thread that may block.
    pub(crate) fn blocks<S, F>(self, state: &S, work: F) -> Tool
    where
        S: Clone + Send + Sync + 'static,
        F: Fn(&S, &Arguments) -> Result<Answer, ToolError> + Copy + Send + Sync + 'static,
    {
        let state = state.clone();
        self.waits(move |arguments, _| {
            let state = state.clone();
            async move {
                let work = tokio::task::spawn_blocking(move || work(&state, &arguments));
                work.await.map_err(|_| ToolError::Stopped)?
            }
        })
    }

    /// Runs anything that waits, and may talk to the caller in the meantime.
    pub(crate) fn waits<F, R>(self, run: F) -> Tool
    where
        F: Fn(Arguments, Caller) -> R + Send + Sync + 'static,
        R: Future<Output = Result<Answer, ToolError>> + Send + 'static,
    {
        let definition =
            Definition::new(self.name, self.about, Arc::new(fields::schema(&self.arguments)))
                .with_raw_output_schema(Arc::new(fields::schema(&self.results)))
                .with_annotations(self.effect.annotations());
        let run = move |arguments, caller| -> ToolFuture { Box::pin(run(arguments, caller)) };
        Tool { definition, arguments: self.arguments, run: Box::new(run) }
    }
}

impl Effect {
    fn annotations(self) -> ToolAnnotations {
        let destructive = matches!(self, Self::Overwrites | Self::Removes);
        ToolAnnotations::new()
            .read_only(matches!(self, Self::Reads))
            .destructive(destructive)
            .idempotent(!matches!(self, Self::Adds))
            .open_world(false)
    }
}
