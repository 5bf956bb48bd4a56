//! `gatefold chat`: a model and the tools of the gateway, at a terminal or in a script.

mod calls;
mod command;
mod context;
mod conversation;
mod files;
mod form;
mod interactive;
mod peer;
mod reader;
mod screen;
mod script;
mod tools;
mod world;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use gatefold::Environment;
use gatefold::config::{Config, ConfigError, load};
use gatefold_core::AgentId;

use super::arguments::SharedOptions;
use super::chosen_model::{ChosenModel, host};
use super::output::Output;
use super::stop;
use conversation::{Conversation, Earlier};
use interactive::Chat;
use world::{Stance, World};

#[derive(Debug, Args)]
pub(crate) struct ChatArguments {
    /// Talk through this agent of the configuration
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// The model: a name in `[models]`, or `openai:NAME`, `anthropic:NAME`, `gemini:NAME`,
    /// `ollama:NAME` or `llama-server:NAME` [default: the agent's, the first of the configuration, or
    /// what the environment offers]
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    /// Answer this and end, with the answer on standard output; what is piped in is a part of it
    #[arg(long, short, value_name = "TEXT")]
    prompt: Option<String>,
    /// Send this file or image with the first message, again for each further one
    #[arg(long = "file", value_name = "PATH")]
    files: Vec<PathBuf>,
    /// Print one JSON object instead
    #[arg(long, requires = "prompt")]
    pub(crate) json: bool,
    /// How tools are shown: `gateway`, `namespace`, `typed`, `intent`, `flat` or `auto` [default: the
    /// agent's, else `typed`]
    #[arg(long, value_name = "NAME")]
    disclosure: Option<String>,
    /// Go on with your last conversation
    #[arg(long = "continue", conflicts_with_all = ["thread", "agent"])]
    goes_on: bool,
    /// Go on with this conversation, by its id or the last digits of it: see `gatefold threads`
    #[arg(long, value_name = "ID", conflicts_with = "agent")]
    thread: Option<String>,
    /// With the demonstration's sources instead of your own
    #[arg(long, conflicts_with = "agent")]
    demo: bool,
}

impl ChatArguments {
    /// A new conversation, or the earlier one that is asked for.
    async fn conversation(&self, world: &World) -> anyhow::Result<Conversation> {
        let earlier = match &self.thread {
            Some(id) => Earlier::Named(id),
            None if self.goes_on => Earlier::Last,
            None => {
                let agent = self.agent.as_deref().map(AgentId::new);
                return Ok(Conversation::new(&world.app, agent));
            }
        };
        Conversation::resume(&world.app, earlier).await
    }

    fn stance(&self, conversation: &Conversation) -> Stance {
        Stance { agent: conversation.agent().cloned(), disclosure: self.disclosure.clone() }
    }
}

pub(super) async fn run(
    asked: &ChatArguments,
    shared: &SharedOptions,
    environment: &Environment,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    let Some(prompt) = &asked.prompt else {
        return Box::pin(converse(None, asked, shared, environment, output)).await;
    };
    // Standard input is read before signals are waited for, so that one ends the reading.
    let request = script::request(prompt)?;
    let answered = Box::pin(converse(Some(&request), asked, shared, environment, output));
    stop::unless_stopped(answered).await
}

/// Answers a request, or talks with whoever is there until they leave.
async fn converse(
    request: Option<&str>,
    asked: &ChatArguments,
    shared: &SharedOptions,
    environment: &Environment,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    let world = Box::pin(World::open(asked.demo, shared, environment)).await?;
    let conversed = async {
        let conversation = asked.conversation(&world).await?;
        let stance = asked.stance(&conversation);
        let model = choose(asked, &stance, &world).await?;
        let Some(request) = request else {
            let mut chat = Chat::begin(&world, stance, model, conversation, output)?;
            chat.attach_all(&asked.files).await?;
            return chat.run().await;
        };
        if let (Some(reason), false) = (&model.reason, output.is_json()) {
            output.complain(&introduction(&model, reason));
        }
        script::run((request, &asked.files), conversation, &stance, &world, &model, output).await
    };
    let conversed = Box::pin(conversed).await;
    world.close().await?;
    conversed
}

async fn choose(
    asked: &ChatArguments,
    stance: &Stance,
    world: &World,
) -> anyhow::Result<ChosenModel> {
    let models = world.models();
    // An agent that there is not is told before anything about its model.
    world.check(stance)?;
    let agent = world.agent(stance);
    match &asked.model {
        Some(name) => models.named(name, agent.as_ref()),
        None => models.usual(agent.as_ref()).await,
    }
}

/// The configuration. Without a file it is empty: a chat needs none.
pub(super) fn configuration(
    shared: &SharedOptions,
    environment: &Environment,
) -> anyhow::Result<Config> {
    match shared.inputs().located(environment) {
        Ok(inputs) => Ok(load(&inputs, environment)?),
        Err(ConfigError::NotFound { .. }) => Ok(Config::default()),
        Err(error) => Err(error.into()),
    }
}

/// Which model answers, and why that one.
fn introduction(model: &ChosenModel, reason: &str) -> String {
    format!("the model is `{}` at {}, because {reason}", model.config.name, host(&model.config))
}
