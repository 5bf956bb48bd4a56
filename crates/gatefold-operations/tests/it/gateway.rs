use std::sync::Arc;

use gatefold::config::{Inputs, load};
use gatefold::{App, Environment};
use gatefold_core::SystemClock;
use gatefold_operations::{
    AppOperations, Asker, CallAnswer, CallArguments, CallTool, StateOperations,
};
use serde_json::Value;
use serde_json::value::to_raw_value;
use tempfile::TempDir;

/// A gateway with tools that need no process and no network.
const CONFIG: &str = "[sources.own]\nbuiltin = ['datetime', 'memory']\nask = ['remember']\n\
                      [search]\nencoder = 'none'\n";

/// An app over a state directory of its own.
pub(crate) struct TestApp {
    pub(crate) app: App,
    _folder: TempDir,
}

impl TestApp {
    pub(crate) async fn build() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("gatefold.toml"), CONFIG).unwrap();
        let inputs = Inputs { config: Some("gatefold.toml".into()), ..Inputs::default() };
        let config = load(&inputs, &Environment::new([("HOME", "/home/ann")], folder.path()));
        let state = folder.path().join("state");
        let app = gatefold::build(config.unwrap(), &state, Arc::new(SystemClock)).await.unwrap();
        Self { app, _folder: folder }
    }

    pub(crate) fn operations(&self) -> AppOperations<'_> {
        self.asked_by(Asker::Operator)
    }

    pub(crate) fn asked_by(&self, asker: Asker) -> AppOperations<'_> {
        AppOperations::new(&self.app, asker, &())
    }

    pub(crate) fn state(&self) -> StateOperations {
        StateOperations::of(&self.app, Asker::Operator)
    }

    pub(crate) async fn call(&self, tool: &str, arguments: &Value) -> CallAnswer {
        call(&self.operations(), tool, arguments).await
    }
}

pub(crate) async fn call(
    operations: &AppOperations<'_>,
    tool: &str,
    arguments: &Value,
) -> CallAnswer {
    let arguments = CallArguments::Object(to_raw_value(arguments).unwrap());
    let request = CallTool { name: tool.to_owned(), arguments };
    operations.call_tool(&request).await.unwrap().answer.unwrap()
}
