//! `[limits]` of `gatefold.toml`.

use gatefold_agent::{AgentLimits, RunLimits};
use gatefold_config::{Count, Size, Table, Time};
use gatefold_worker::WorkerSettings;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::Config;
use super::super::key::SectionKeys;
use super::super::spending::{DAILY_TOKENS, Money};
use super::Draft;

/// How long things may take, and how large and how many they may be.
#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub(in crate::config) struct LimitsKeys {
    /// How long a call may take, from its admission to its result.
    ///
    /// Waiting for a place at its source counts.
    #[schemars(extend("examples" = ["90s"]))]
    call_deadline: Time,
    /// How long a source may take to start and list its tools.
    ///
    /// A source may set its own.
    #[schemars(extend("examples" = ["30s"]))]
    connect_deadline: Time,
    /// How long a first start may take that may have to download the source.
    ///
    /// It counts instead of `connect_deadline` for a source that is started through `npx`, `npm exec`, `uvx`,
    /// `uv run`, `pipx run`, `bunx`, `pnpm dlx`, `yarn dlx`, `docker run`, `podman run` or `deno run npm:`,
    /// until the source has started well in this run of Gatefold. A runner that is killed before breaks what it
    /// was downloading. A source may set its own.
    #[schemars(extend("examples" = ["20m"]))]
    install_deadline: Time,
    /// How many sources may be started at once.
    ///
    /// Starts of programs; further ones wait, and `connect_deadline` counts from the moment that one has its
    /// place. A call waits at most a second for a place.
    #[schemars(extend("examples" = [8], "x-unset" = "the number of processor cores, and two more"))]
    starts: Option<Count<usize>>,
    /// How many sources may be installed at once.
    ///
    /// First starts that may have to download: see `install_deadline`. Two sources with the same package wait
    /// for one another.
    #[schemars(extend("examples" = [2]))]
    installs: Count<usize>,
    /// How long a source keeps running while nobody uses it.
    ///
    /// The next call starts it again. A source may set its own.
    #[schemars(extend("examples" = ["1h"]))]
    idle_stop: Time,
    /// How many tokens of a result a model is given at a time.
    ///
    /// A larger one is kept whole, and the model is given a preview that says how to read on in it: with
    /// `results__read_result`, a page, a part or a search at a time. At least 500. Whoever may not use that
    /// tool, and a client that sees one source alone, are given the whole result.
    #[schemars(extend("examples" = [8000]))]
    result_preview: Count<usize>,
    /// The largest result that is read and kept.
    ///
    /// Anything larger becomes an error that says its size.
    #[schemars(extend("examples" = ["4MiB"]))]
    stored_result: Size,
    /// How much all large results and answers under way may take together.
    ///
    /// A result of at most 256 KiB does not count. A larger one counts as `stored_result`, from when it has
    /// become so large until its client has taken the answer, and waits for room before more of it is read. The
    /// results of one source have at most half of it. At least two of `stored_result` always fit. While a
    /// result is worked on it may take three times its size.
    #[schemars(extend("examples" = ["64MiB"]))]
    results_size: Size,
    /// How much memory one program or statement of a caller may take.
    ///
    /// A jq program (`extract` of an API's action, too), a statement of SQL over a result or a SQLite file, a
    /// calculation, a pattern and a fetched page are worked on in processes of their own, as many as this
    /// machine has cores. One that takes more is ended, and its call fails. At least 64 MiB.
    #[schemars(extend("examples" = ["512MiB"], "x-restart" = true))]
    statement_memory: Size,
    /// How long a result that is too large to show is kept.
    ///
    /// It is kept encrypted in the state directory.
    #[schemars(extend("examples" = ["15m"]))]
    stored_result_expiry: Time,
    /// How many such results are kept for one principal.
    ///
    /// The oldest is dropped for a further one.
    #[schemars(extend("examples" = [20]))]
    stored_results: Count<u32>,
    /// The largest request that is read.
    #[schemars(extend("examples" = ["8MiB"], "x-restart" = true))]
    request_size: Size,
    /// How large all requests over HTTP together may be that are being received or worked on.
    ///
    /// Requests of at most 16 KiB do not count and are never refused for it. A larger one counts twice, because
    /// it is read and sent on, until its call has ended. If it finds no room it is refused, and may come again.
    /// At least one of `request_size` always fits. Calls that wait for answers of clients without a session
    /// have half as much of their own.
    #[schemars(extend("examples" = ["64MiB"], "x-restart" = true))]
    requests_size: Size,
    /// How long a client over HTTP may take to send the body of a request.
    #[schemars(extend("examples" = ["1m"], "x-restart" = true))]
    body_deadline: Time,
    /// How many connections over HTTP may be open at once.
    ///
    /// One more takes the place of the connection that has been idle the longest, and is refused when none is
    /// idle. Never more than half of the files that the system lets Gatefold open.
    #[schemars(extend("examples" = [500], "x-restart" = true))]
    connections: Count<usize>,
    /// How long a new connection over HTTP may take to send the headers of its first request.
    #[schemars(extend("examples" = ["5s"], "x-restart" = true))]
    head_deadline: Time,
    /// How long a connection over HTTP stays open after a request, until the headers of the next have come.
    #[schemars(extend("examples" = ["5m"], "x-restart" = true))]
    connection_idle: Time,
    /// How many calls one source works on at once.
    #[schemars(extend("examples" = [16]))]
    calls_in_flight: Count<usize>,
    /// How many calls wait for a place at one source.
    ///
    /// One more is refused as busy.
    #[schemars(extend("examples" = [64]))]
    calls_waiting: Count<usize>,
    /// After how many failures in a row a source gets no calls for `breaker_pause`.
    ///
    /// Where users or clients have accounts of their own at a source, each account's failures pause its own
    /// calls.
    #[schemars(extend("examples" = [3]))]
    breaker_failures: Count<u32>,
    /// How long a source gets no calls after `breaker_failures` failures in a row.
    #[schemars(extend("examples" = ["30s"]))]
    breaker_pause: Time,
    /// How deep calls may nest.
    ///
    /// None of Gatefold's own sources calls others so far: it counts for sources of a program that embeds
    /// Gatefold.
    #[schemars(extend("examples" = [4]))]
    nesting: Count<usize>,
    /// How many times an agent's model is asked in one run.
    ///
    /// Then it is asked once more, without tools, for what it knows. This and what follows counts for chats without
    /// an agent, too; an agent may have its own in `agents.NAME.limits`.
    #[schemars(extend("examples" = [20]))]
    agent_iterations: Count<u32>,
    /// How long a model may take for one answer of a run.
    ///
    /// Each of up to four tries may take so long, and all of them together no longer.
    #[schemars(extend("examples" = ["10m"],
        "x-unset" = "2 min for each try, and 8 min with all that its endpoint asks to wait"))]
    agent_turn: Option<Time>,
    /// How long a run of an agent may take.
    ///
    /// Then its model is asked once more, without tools, for what it knows.
    #[schemars(extend("examples" = ["2h"]))]
    agent_run: Time,
    /// How many calls of one answer are made at once.
    #[schemars(extend("examples" = [1]))]
    agent_calls_at_once: Count<usize>,
    /// How many tokens a run may take, those of the agents that it has work included.
    ///
    /// Prompts count each time that they are sent. When so many are spent, each model that is at work is asked once
    /// more, without tools. Where an endpoint does not report tokens, they are estimated.
    #[schemars(extend("examples" = [500_000], "x-unset" = "as many as it needs"))]
    agent_tokens: Option<Count<u64>>,
    /// What a run may cost, the agents that it has work included.
    ///
    /// In the unit of `models.NAME.price`. Models without a price cost nothing.
    #[schemars(extend("examples" = [0.5], "x-unset" = "what it costs"))]
    agent_cost: Option<Money>,
    /// How many tokens of each model a person may use in a day.
    ///
    /// A day is one of UTC. It counts for everybody but the local user, and for a model without a `budget` of its
    /// own.
    #[schemars(extend("examples" = [1_000_000]))]
    model_tokens: Count<u64>,
    /// How long a client may take to answer what a source asks it in the course of a call.
    ///
    /// The call's deadline is paused meanwhile.
    #[schemars(extend("examples" = ["2m"]))]
    question: Time,
    /// How long a suspended call may be resumed.
    ///
    /// Calls are suspended for a person's approval, and for a client that answers questions with another
    /// request. The call's deadline is paused meanwhile.
    #[schemars(extend("examples" = ["1h"]))]
    suspension: Time,
    /// How long a call that needs a person's approval waits for it.
    ///
    /// For clients that cannot ask their user: `gatefold approvals` decides. A decision is valid for the same
    /// time again.
    #[schemars(extend("examples" = ["8h"]))]
    approval: Time,
    /// How long a source that a reload removed may finish its calls.
    #[schemars(extend("examples" = ["30s"]))]
    drain: Time,
    /// How long running calls may take to finish when Gatefold stops.
    #[schemars(extend("examples" = ["30s"], "x-restart" = true))]
    shutdown: Time,
}

pub(super) fn read(table: &mut Table<'_>, draft: &mut Draft) {
    let keys: LimitsKeys = table.read().unwrap_or_default();
    draft.limits.call_deadline = keys.call_deadline.0;
    draft.source_limits.connect_deadline = keys.connect_deadline.0;
    draft.source_limits.install_deadline = keys.install_deadline.0;
    draft.starts.starts = keys.starts.map(|count| count.0);
    draft.starts.installs = keys.installs.0;
    draft.source_limits.idle_stop = keys.idle_stop.0;
    draft.results.preview_tokens = keys.result_preview.0;
    draft.limits.result_bytes = keys.stored_result.0;
    draft.limits.result_memory = keys.results_size.0;
    let memory = keys.statement_memory.0.max(WorkerSettings::LEAST_MEMORY);
    draft.statement_memory = (memory != WorkerSettings::MEMORY).then_some(memory);
    draft.results.expiry = keys.stored_result_expiry.0;
    draft.results.kept_each = keys.stored_results.0;
    draft.server.request_bytes = keys.request_size.0;
    draft.server.requests_bytes = keys.requests_size.0;
    draft.server.body_deadline = keys.body_deadline.0;
    draft.server.connections = keys.connections.0;
    draft.server.head_deadline = keys.head_deadline.0;
    draft.server.connection_idle = keys.connection_idle.0;
    draft.limits.calls_in_flight = keys.calls_in_flight.0;
    draft.limits.calls_waiting = keys.calls_waiting.0;
    draft.limits.breaker_failures = keys.breaker_failures.0;
    draft.limits.breaker_pause = keys.breaker_pause.0;
    draft.limits.nesting = keys.nesting.0;
    draft.agent_limits = AgentLimits {
        iterations: Some(keys.agent_iterations.0),
        turn: keys.agent_turn.map(|time| time.0),
        run: Some(keys.agent_run.0),
        calls_at_once: Some(keys.agent_calls_at_once.0),
        tokens: keys.agent_tokens.map(|count| count.0),
        cost: keys.agent_cost.map(|cost| cost.0),
    };
    draft.model_tokens = Some(keys.model_tokens.0);
    draft.limits.question = keys.question.0;
    draft.limits.suspension = keys.suspension.0;
    draft.limits.approval = keys.approval.0;
    draft.limits.drain = keys.drain.0;
    draft.server.shutdown = keys.shutdown.0;
}

impl SectionKeys for LimitsKeys {
    fn of(config: &Config) -> Self {
        let Config { limits, source_limits, starts, results, server, agent_limits, .. } = config;
        let runs = RunLimits::default();
        Self {
            call_deadline: Time(limits.call_deadline),
            connect_deadline: Time(source_limits.connect_deadline),
            install_deadline: Time(source_limits.install_deadline),
            starts: starts.starts.map(Count),
            installs: Count(starts.installs),
            idle_stop: Time(source_limits.idle_stop),
            result_preview: Count(results.preview_tokens),
            stored_result: Size(limits.result_bytes),
            results_size: Size(limits.result_memory),
            statement_memory: Size(config.statement_memory.unwrap_or(WorkerSettings::MEMORY)),
            stored_result_expiry: Time(results.expiry),
            stored_results: Count(results.kept_each),
            request_size: Size(server.request_bytes),
            requests_size: Size(server.requests_bytes),
            body_deadline: Time(server.body_deadline),
            connections: Count(server.connections),
            head_deadline: Time(server.head_deadline),
            connection_idle: Time(server.connection_idle),
            calls_in_flight: Count(limits.calls_in_flight),
            calls_waiting: Count(limits.calls_waiting),
            breaker_failures: Count(limits.breaker_failures),
            breaker_pause: Time(limits.breaker_pause),
            nesting: Count(limits.nesting),
            agent_iterations: Count(agent_limits.iterations.unwrap_or(runs.iterations)),
            agent_turn: agent_limits.turn.map(Time),
            agent_run: Time(agent_limits.run.unwrap_or(runs.run)),
            agent_calls_at_once: Count(agent_limits.calls_at_once.unwrap_or(runs.calls_at_once)),
            agent_tokens: agent_limits.tokens.map(Count),
            agent_cost: agent_limits.cost.map(Money),
            model_tokens: Count(config.model_tokens.unwrap_or(DAILY_TOKENS)),
            question: Time(limits.question),
            suspension: Time(limits.suspension),
            approval: Time(limits.approval),
            drain: Time(limits.drain),
            shutdown: Time(server.shutdown),
        }
    }
}
