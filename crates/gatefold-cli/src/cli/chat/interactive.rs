//! A chat with a person.

mod driving;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use gatefold_agent::{AgentTools as _, Budget, RunLimits};
use gatefold_core::AgentId;
use gatefold_dispatch::Peer;
use gatefold_model::UserMessage;
use tokio::sync::mpsc;

use crate::cli::chosen_model::{ChosenModel, host};
use crate::cli::output::Output;
use crate::cli::stop::{HUNG_UP, INTERRUPTED, Signals};
use crate::cli::table::{Table, number_of};
use crate::cli::threads::last_digits;

use super::command::{COMMANDS, ChatCommand};
use super::conversation::Conversation;
use super::files::{self, AttachedFile, FILES, compose};
use super::peer::{OpenQuestion, TerminalPeer};
use super::reader::{ChatInput, Reader};
use super::tools::{CallLines, ChatTools};
use super::world::{Stance, World};
use super::{calls, context, introduction};

pub(super) use driving::cancelled_elsewhere;

/// How many characters of a tool's description are listed.
const DESCRIPTION: usize = 80;

pub(super) struct Chat<'w> {
    world: &'w World,
    output: &'w Output,
    stance: Stance,
    model: ChosenModel,
    tools: ChatTools<'w>,
    conversation: Conversation,
    /// What the next message holds beside its text, at most [`FILES`].
    files: Vec<AttachedFile>,
    /// What the runs of this chat have spent.
    spent: Budget,
    reader: Reader,
    peer: Option<Arc<TerminalPeer>>,
    questions: mpsc::Receiver<OpenQuestion>,
    signals: Signals,
    /// The person pressed Ctrl-C and has said nothing since: the next one ends the chat.
    is_interrupted: bool,
}

impl<'w> Chat<'w> {
    pub(super) fn begin(
        world: &'w World,
        stance: Stance,
        model: ChosenModel,
        conversation: Conversation,
        output: &'w Output,
    ) -> anyhow::Result<Self> {
        let reader = Reader::of_stdin();
        let (peer, questions) = TerminalPeer::new();
        // Nobody who is not at a terminal is asked: what is piped in might say yes by chance.
        let peer = reader.is_terminal().then_some(peer);
        let tools = tools(world, &stance, peer.as_ref(), output)?;
        Ok(Self {
            world,
            output,
            stance,
            model,
            tools,
            conversation,
            files: Vec::new(),
            spent: Budget::unlimited(),
            reader,
            peer,
            questions,
            signals: Signals::new()?,
            is_interrupted: false,
        })
    }

    pub(super) async fn run(&mut self) -> anyhow::Result<ExitCode> {
        tokio::select! {
            () = self.world.learn(self.output) => {}
            _ = self.signals.interrupt.recv() => return Ok(INTERRUPTED.into()),
            _ = self.signals.terminate.recv() => return Ok(INTERRUPTED.into()),
        }
        let reason = self.model.reason.as_deref().unwrap_or("you asked for it");
        self.output.line(&introduction(&self.model, reason));
        self.output.line(&self.output.style().faint("`/help` lists what else you can do"));
        let code = match self.finish_open().await? {
            Some(code) => code,
            None => self.take_lines().await?,
        };
        if let Some(thread) = self.conversation.thread() {
            let line = format!(
                "`gatefold chat --thread {}` goes on with this",
                last_digits(&thread.to_string())
            );
            self.output.line(&self.output.style().faint(&line));
        }
        self.tell_spent();
        Ok(code)
    }

    fn tell_spent(&self) {
        let spent = self.spent.spent();
        if spent.tokens > 0 {
            let cost = spent.cost.map(|cost| format!(", cost {cost}")).unwrap_or_default();
            let line = format!("this took {} tokens{cost}", spent.tokens);
            self.output.line(&self.output.style().faint(&line));
        }
    }

    async fn take_lines(&mut self) -> anyhow::Result<ExitCode> {
        loop {
            let input = tokio::select! {
                biased;
                input = self.reader.next() => input,
                // At a terminal Ctrl-C is a key; a signal came from elsewhere.
                _ = self.signals.interrupt.recv() => match self.reader {
                    Reader::Terminal => return Ok(INTERRUPTED.into()),
                    Reader::Lines(_) => ChatInput::Interrupt,
                },
                _ = self.signals.terminate.recv() => return Ok(INTERRUPTED.into()),
                _ = self.signals.hangup.recv() => return Ok(HUNG_UP.into()),
            };
            let left = match input {
                ChatInput::End => Some(ExitCode::SUCCESS),
                ChatInput::Interrupt if self.is_interrupted => Some(INTERRUPTED.into()),
                ChatInput::Canceled if self.is_interrupted => Some(ExitCode::SUCCESS),
                ChatInput::Interrupt | ChatInput::Canceled => {
                    self.is_interrupted = true;
                    let key = if input == ChatInput::Interrupt { "Ctrl-C" } else { "Ctrl-D" };
                    self.output.complain(&format!("{key} once more, or `/quit`, ends the chat"));
                    None
                }
                ChatInput::Line(line) => {
                    self.is_interrupted = false;
                    self.take(line.trim_end()).await?
                }
            };
            if let Some(code) = left {
                return Ok(code);
            }
        }
    }

    /// Takes a line of the person. Returns the exit code if that was the last.
    async fn take(&mut self, line: &str) -> anyhow::Result<Option<ExitCode>> {
        let Some(command) = ChatCommand::read(line) else {
            if line.trim().is_empty() {
                return Ok(None);
            }
            let said = match compose(line, &self.files) {
                Ok(message) => Box::pin(self.say(message)).await,
                Err(error) => Err(error),
            };
            return Ok(said.unwrap_or_else(|error| {
                self.output.error(&format!("{error:#}"));
                None
            }));
        };
        match command {
            ChatCommand::Agent(None) => self.list_agents(),
            ChatCommand::Agent(Some(name)) => self.begin_with(name).await,
            ChatCommand::Model(None) => self.list_models(),
            ChatCommand::Model(Some(name)) => self.go_on_with(name),
            ChatCommand::File(path) => {
                let attached = self.take_file(path).await;
                self.report(attached);
            }
            ChatCommand::Calls => calls::list(self.conversation.turns(), self.output),
            ChatCommand::Show(number) => {
                calls::show(self.conversation.turns(), number, self.output);
            }
            ChatCommand::Tools => self.report(self.list_tools().await),
            ChatCommand::Context => self.report(self.count().await),
            ChatCommand::Compact => match Box::pin(self.compact()).await {
                Ok(ended) => return Ok(ended),
                Err(error) => self.report(Err(error)),
            },
            ChatCommand::Undo => self.undo().await,
            ChatCommand::Help => self.help(),
            ChatCommand::Quit => return Ok(Some(ExitCode::SUCCESS)),
            ChatCommand::Unknown(line) => {
                let text =
                    format!("`{line}` is no command; with a space before it, the model reads it");
                self.output.complain(&text);
                self.help();
            }
        }
        Ok(None)
    }

    /// Has the next message hold these files.
    pub(super) async fn attach_all(&mut self, paths: &[PathBuf]) -> anyhow::Result<()> {
        self.files = files::attach_all(paths, self.world, &self.tools).await?;
        Ok(())
    }

    /// Has the next message hold one file more, or none, or lists those that it holds.
    async fn take_file(&mut self, path: Option<&str>) -> anyhow::Result<()> {
        match path {
            Some("none") => self.files.clear(),
            Some(_) if self.files.len() == FILES => return Err(files::too_many()),
            Some(path) => {
                let file = files::attach(Path::new(path), self.world, &self.tools).await?;
                self.files.push(file);
            }
            None => {}
        }
        if self.files.is_empty() {
            self.output.line("your next message has no file; `/file PATH` sends one with it");
        }
        for AttachedFile { summary, .. } in &self.files {
            self.output.line(&format!("with your next message: {summary}"));
        }
        Ok(())
    }

    /// Has the model answer, and meanwhile asks the person what policy and sources want to know.
    async fn say(&mut self, message: UserMessage) -> anyhow::Result<Option<ExitCode>> {
        self.catch_up().await?;
        self.tools.surface.choose_for(self.conversation.earlier_turns(), &message).await;
        let offer = self.tools.offer().await.map_err(|error| anyhow::anyhow!(error))?;
        let asked = &self.model.runs;
        let limits = RunLimits::for_model(&asked.room, &offer, &asked.limits);
        let (id, journal) = self.conversation.begin_run(&message).await?;
        let history = self.conversation.with(message);
        self.drive(id, journal, async |driver| driver.drive(history, limits).await).await
    }

    /// Reads what other chats have said in this conversation. Returns whether they have changed it.
    async fn catch_up(&mut self) -> anyhow::Result<bool> {
        let has_changed = self.conversation.catch_up().await?;
        if has_changed {
            self.output.warning(match self.conversation.thread() {
                Some(_) => "another chat has changed this conversation: it goes on from there",
                None => "this conversation was deleted elsewhere: a new one begins",
            });
        }
        Ok(has_changed)
    }

    async fn undo(&mut self) {
        // What another chat said last is not what the person sees here as the last.
        match self.catch_up().await {
            Ok(false) => {}
            Ok(true) => return self.output.line("nothing was taken back"),
            Err(error) => return self.output.error(&format!("{error:#}")),
        }
        match self.conversation.undo().await {
            Ok(true) => self.output.line("taken back"),
            Ok(false) => self.output.line("there is nothing to take back"),
            Err(error) => self.output.error(&format!("{error:#}")),
        }
    }

    fn help(&self) {
        let mut table = Table::new(&["command", "what it does"]);
        for (usage, text) in COMMANDS {
            table.row([self.output.style().strong(usage), text.to_owned()]);
        }
        self.output.lines(&table.lines(self.output.style()));
        self.output.line("Ctrl-C stops an answer; a second one ends the chat");
    }

    fn list_agents(&self) {
        let (config, style) = (self.world.app.config(), self.output.style());
        let (exchange, user) = (self.world.app.exchange(), self.world.app.local_user());
        let mut table = Table::new(&["agent", "what it is for"]);
        let mut count = 0;
        for (id, agent) in &config.agents {
            if exchange.shows_agent(&user, id) {
                let name = if self.stance.agent.as_ref() == Some(id) {
                    style.strong(&format!("{id} (this one)"))
                } else {
                    id.to_string()
                };
                table.row([name, agent.description.clone().unwrap_or_default()]);
                count += 1;
            }
        }
        if count == 0 {
            self.output.line(
                "there are no agents; `gatefold config explain agents` says how to write one",
            );
        } else {
            self.output.lines(&table.lines(style));
        }
    }

    /// Begins anew with another agent, or without one.
    async fn begin_with(&mut self, name: &str) {
        let agent = (name != "none").then(|| AgentId::new(name));
        let stance = Stance { agent, ..self.stance.clone() };
        let tools = tools(self.world, &stance, self.peer.as_ref(), self.output);
        let tools = match tools {
            Ok(tools) => tools,
            Err(error) => return self.output.error(&error.to_string()),
        };
        // An agent's own model counts, unless it has none. Its limits are its own in either case.
        let (config, models) = (self.world.agent(&stance), self.world.models());
        let model = if config.as_ref().is_some_and(|agent| agent.model.is_some()) {
            models.usual(config.as_ref()).await
        } else {
            models.opened(self.model.config.clone(), config.as_ref(), None)
        };
        match model {
            Ok(model) => self.model = model,
            Err(error) => return self.output.error(&error.to_string()),
        }
        self.stance = stance;
        self.tools = tools;
        // What was kept for another agent cannot be read on in.
        self.files.clear();
        let agent = self.stance.agent.clone();
        self.conversation = Conversation::new(&self.world.app, agent);
        let model = &self.model.config.name;
        self.output.line(&match &self.stance.agent {
            Some(agent) => format!("a new conversation with `{agent}`, by the model `{model}`"),
            None => format!("a new conversation without an agent, by the model `{model}`"),
        });
    }

    fn list_models(&self) {
        let (style, own) = (self.output.style(), &self.model.config);
        let mut table = Table::new(&["model", "at"]);
        table.row([style.strong(&format!("{} (this one)", own.name)), host(own)]);
        let models = self.world.models();
        for model in models.config.models_for(models.principal) {
            if model.name != own.name {
                table.row([model.name.clone(), host(model)]);
            }
        }
        self.output.lines(&table.lines(style));
        self.output.line("a short form such as `ollama:qwen3` works too");
    }

    fn go_on_with(&mut self, name: &str) {
        let agent = self.world.agent(&self.stance);
        match self.world.models().named(name, agent.as_ref()) {
            Ok(model) => {
                self.output.line(&format!("the model is `{}` at {}", name, host(&model.config)));
                self.model = model;
            }
            Err(error) => self.output.error(&error.to_string()),
        }
    }

    async fn list_tools(&self) -> anyhow::Result<()> {
        let offer = self.tools.look().await.map_err(|error| anyhow::anyhow!(error))?;
        let style = self.output.style();
        let mut table = Table::new(&["the model is shown", "what it does"]).one_line_rows();
        for tool in &offer.tools {
            let first = tool.description().lines().next().unwrap_or_default();
            table.row([style.strong(tool.name()), first.chars().take(DESCRIPTION).collect()]);
        }
        self.output.lines(&table.lines(style));
        let behind = self.world.app.pin().view().tool_count();
        self.output
            .line(&format!("{} behind them: `gatefold tools list`", number_of(behind, "tool")));
        if self.conversation.turns().is_empty() {
            self.output.line("of many, those that fit are chosen for what you say first");
        }
        Ok(())
    }

    async fn count(&self) -> anyhow::Result<()> {
        let offer = self.tools.look().await.map_err(|error| anyhow::anyhow!(error))?;
        let context = self.model.config.context_tokens;
        context::print(&offer, self.conversation.transcript(), context, self.output).await
    }

    /// What goes wrong with a command ends no chat.
    fn report(&self, done: anyhow::Result<()>) {
        if let Err(error) = done {
            self.output.error(&format!("{error:#}"));
        }
    }
}

fn tools<'w>(
    world: &World,
    stance: &Stance,
    peer: Option<&Arc<TerminalPeer>>,
    output: &'w Output,
) -> anyhow::Result<ChatTools<'w>> {
    let peer = peer.map(|peer| peer.clone() as Arc<dyn Peer>);
    world.tools(stance, peer, CallLines::Stdout, output)
}
