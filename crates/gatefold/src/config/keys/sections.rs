use gatefold_core::EntryPattern;
use gatefold_encoder::ModelPlace;
use gatefold_policy::{Effect, Entries, Rule, Scope};
use gatefold_worker::WorkerSettings;
use serde_json::Value;

use super::super::Config;
use super::super::common_keys::WRITES;
use super::super::key::{ApplyMode, Emptiness, Key, Kind, count, duration, size};
use super::FixedSection;

pub(super) const POLICY: FixedSection = FixedSection {
    path: "policy",
    summary: "What may be seen and used of all sources.",
    details: "Patterns over the ids of tools and prompts, `{domain}__{name}`, and over the \
              addresses of resources: `gatefold://{domain}/{uri}`, or `ui://gatefold/{domain}/...` \
              where the URI begins with `ui://`. `tool:`, `prompt:` or `resource:` before a \
              pattern narrows it to these. What is denied is not shown, not \
              found and not suggested, and calling it gives the same error as a name that does not exist.",
    keys: &[
        Key {
            details: "Everything that no pattern names is hidden, prompts and resources included.",
            value: |config| patterns(config, Effect::Allow),
            unset: "all of them",
            example: "[\"*__get_*\", \"notes__*\", \"resource:gatefold://notes/*\"]",
            ..Key::new("allow", Kind::Patterns(Emptiness::MayNotBeEmpty), "What to show.")
        },
        Key {
            details: "A client that can ask its user does so. For other clients the call is refused \
                      until a person approves it with `gatefold approvals`. An approval is for one \
                      call, with the same arguments. Wins over `allow`.",
            value: asks,
            unset: "none",
            example: "\"writes\"",
            ..Key::new("ask", Kind::PatternsOrWrites, "Which calls need a person's approval.")
        },
        Key {
            details: "Exceptions to `ask` of this section alone: what a source asks for stays as it is.",
            value: |config| exceptions(config, Effect::Ask),
            unset: "none",
            example: "[\"mail__create_draft\"]",
            ..Key::new(
                "ask_unless",
                Kind::Patterns(Emptiness::MayBeEmpty),
                "Which of the calls in `ask` need no approval.",
            )
        },
        Key {
            details: "Wins over `allow` and `ask`.",
            value: |config| patterns(config, Effect::Deny),
            unset: "none",
            example: "[\"*__drop_*\"]",
            ..Key::new("deny", Kind::Patterns(Emptiness::MayBeEmpty), "What to hide.")
        },
        Key {
            details: "Exceptions to `deny` of this section alone: what a source denies stays hidden.",
            value: |config| exceptions(config, Effect::Deny),
            unset: "none",
            example: "[\"*__drop_draft\"]",
            ..Key::new(
                "deny_unless",
                Kind::Patterns(Emptiness::MayBeEmpty),
                "What `deny` does not hide, though it matches.",
            )
        },
    ],
};

pub(super) const SEARCH: FixedSection = FixedSection {
    path: "search",
    summary: "How tools are found.",
    details: "",
    keys: &[
        Key {
            details: "When a search leads to a successful call of a tool, its words are kept in the state \
                      directory, and later searches of the same user rank by them. Words that are long or \
                      may hold a secret are not kept. `gatefold queries` shows and erases what was kept. \
                      With `false`, nothing is kept and nothing is used.",
            value: |config| Some(config.search.learn.into()),
            example: "false",
            ..Key::new(
                "learn",
                Kind::Flag,
                "Whether searches learn from the calls that follow them.",
            )
        },
        Key {
            details: "`builtin` is our own, part of the program, and made for requests and tools in English. It \
                      reads every tool in the background, which takes a quarter of a minute of one core for \
                      2,500 tools, and keeps their vectors in the state directory; until it has read them all, tools \
                      are ranked without it. A search then takes some 4 ms, and the process 24 MB more while people search. A path names another one: a folder with \
                      `model.onnx` and `vocab.txt`, or an ONNX file with `vocab.txt` beside it, BERT-like, \
                      pooled as `1_Pooling/config.json` beside it says, by default to the mean; a folder \
                      `builtin` is `./builtin`. `gatefold model get` downloads one, which takes three times \
                      as long and 180 MB. With `none`, tools are ranked by their words and by our table of \
                      words' meanings, as they are by a program that was built without the feature `encoder`. If an encoder cannot be opened, searches run without it; the log, \
                      `gatefold doctor` and `gatefold check` say so.",
            value: |config| {
                let model = config.search.encoder.as_ref();
                Some(model.map_or_else(|| ModelPlace::NONE.to_owned(), ToString::to_string).into())
            },
            example: "\"none\"",
            ..Key::new(
                "encoder",
                Kind::Encoder,
                "The sentence encoder that re-ranks the likeliest tools.",
            )
        },
        Key {
            details: "`gatefold index describe` has a model write it: for each tool a summary and a few \
                      requests, which people can read, edit and commit. The texts count only for the \
                      definition that they were written for. If the file cannot be used, searches go \
                      without it; the log, `gatefold check` and `gatefold doctor` say so.",
            value: |config| Some(config.search.texts.as_ref()?.display().to_string().into()),
            unset: "tools are found by what their sources say",
            example: "\"retrieval.toml\"",
            ..Key::new("texts", Kind::Path, "A file with texts by which tools are found.")
        },
    ],
};

pub(super) const LIMITS: FixedSection = FixedSection {
    path: "limits",
    summary: "How long things may take, and how large and how many they may be.",
    details: "",
    keys: &[
        Key {
            details: "Waiting for a place at its source counts.",
            value: |config| Some(duration(config.limits.call_deadline)),
            example: "\"90s\"",
            ..Key::new(
                "call_deadline",
                Kind::Duration,
                "How long a call may take, from its admission to its result.",
            )
        },
        Key {
            details: "A source may set its own.",
            value: |config| Some(duration(config.source_limits.connect_deadline)),
            example: "\"30s\"",
            ..Key::new(
                "connect_deadline",
                Kind::Duration,
                "How long a source may take to start and list its tools.",
            )
        },
        Key {
            details: "It counts instead of `connect_deadline` for a source that is started through \
                      `npx`, `npm exec`, `uvx`, `uv run`, `pipx run`, `bunx`, `pnpm dlx`, `yarn dlx`, \
                      `docker run`, `podman run` or `deno run npm:`, until the source has started well \
                      in this run of Gatefold. A runner that is killed before breaks what it was \
                      downloading. A source may set its own.",
            value: |config| Some(duration(config.source_limits.install_deadline)),
            example: "\"20m\"",
            ..Key::new(
                "install_deadline",
                Kind::Duration,
                "How long a first start may take that may have to download the source.",
            )
        },
        Key {
            details: "Starts of programs; further ones wait, and `connect_deadline` counts from the \
                      moment that one has its place. A call waits at most a second for a place.",
            value: |config| Some(config.starts.starts?.into()),
            unset: "the number of processor cores, and two more",
            example: "8",
            ..Key::new("starts", count(), "How many sources may be started at once.")
        },
        Key {
            details: "First starts that may have to download: see `install_deadline`. Two sources with \
                      the same package wait for one another.",
            value: |config| Some(config.starts.installs.into()),
            example: "2",
            ..Key::new("installs", count(), "How many sources may be installed at once.")
        },
        Key {
            details: "The next call starts it again. A source may set its own.",
            value: |config| Some(duration(config.source_limits.idle_stop)),
            example: "\"1h\"",
            ..Key::new(
                "idle_stop",
                Kind::Duration,
                "How long a source keeps running while nobody uses it.",
            )
        },
        Key {
            details: "A larger one is kept whole, and the model is given a preview that says how to read on \
                      in it: with `results__read_result`, a page, a part or a search at a time. At least \
                      500. Whoever may not use that tool, and a client that sees one source alone, are \
                      given the whole result.",
            value: |config| Some(config.results.preview_tokens.into()),
            example: "8000",
            ..Key::new(
                "result_preview",
                count(),
                "How many tokens of a result a model is given at a time.",
            )
        },
        Key {
            details: "Anything larger becomes an error that says its size.",
            value: |config| Some(size(config.limits.result_bytes)),
            example: "\"4MiB\"",
            ..Key::new("stored_result", Kind::Size, "The largest result that is read and kept.")
        },
        Key {
            details: "A result of at most 256 KiB does not count. A larger one counts as \
                      `stored_result`, from when it has become so large until its client has taken the \
                      answer, and waits for room before more of it is read. The results of one source have at \
                      most half of it. At least two of `stored_result` always fit. While a result is \
                      worked on it may take three times its size.",
            value: |config| Some(size(config.limits.result_memory)),
            example: "\"64MiB\"",
            ..Key::new(
                "results_size",
                Kind::Size,
                "How much all large results and answers under way may take together.",
            )
        },
        Key {
            details: "A jq program (`extract` of an API's action, too), a statement of SQL over a result or \
                      a SQLite file, a calculation, a pattern and a fetched page are worked on in \
                      processes of their own, as many as this machine has cores. One that takes more is \
                      ended, and its call fails. At least 64 MiB.",
            value: |config| Some(size(config.statement_memory.unwrap_or(WorkerSettings::MEMORY))),
            example: "\"512MiB\"",
            applies: ApplyMode::Restart,
            ..Key::new(
                "statement_memory",
                Kind::Size,
                "How much memory one program or statement of a caller may take.",
            )
        },
        Key {
            details: "It is kept encrypted in the state directory.",
            value: |config| Some(duration(config.results.expiry)),
            example: "\"15m\"",
            ..Key::new(
                "stored_result_expiry",
                Kind::Duration,
                "How long a result that is too large to show is kept.",
            )
        },
        Key {
            details: "The oldest is dropped for a further one.",
            value: |config| Some(config.results.kept_each.into()),
            example: "20",
            ..Key::new(
                "stored_results",
                count(),
                "How many such results are kept for one principal.",
            )
        },
        Key {
            value: |config| Some(size(config.server.request_bytes)),
            example: "\"8MiB\"",
            applies: ApplyMode::Restart,
            ..Key::new("request_size", Kind::Size, "The largest request that is read.")
        },
        Key {
            details: "Requests of at most 16 KiB do not count and are never refused for it. A \
                      larger one counts twice, because it is read and sent on, until its call has \
                      ended. If it finds no room it is refused, and may come again. At least one \
                      of `request_size` always fits. Calls that wait for answers of clients \
                      without a session have half as much of their own.",
            value: |config| Some(size(config.server.requests_bytes)),
            example: "\"64MiB\"",
            applies: ApplyMode::Restart,
            ..Key::new(
                "requests_size",
                Kind::Size,
                "How large all requests over HTTP together may be that are being received or \
                 worked on.",
            )
        },
        Key {
            value: |config| Some(duration(config.server.body_deadline)),
            example: "\"1m\"",
            applies: ApplyMode::Restart,
            ..Key::new(
                "body_deadline",
                Kind::Duration,
                "How long a client over HTTP may take to send the body of a request.",
            )
        },
        Key {
            details: "One more takes the place of the connection that has been idle the longest, \
                      and is refused when none is idle. Never more than half of the files that \
                      the system lets Gatefold open.",
            value: |config| Some(config.server.connections.into()),
            example: "500",
            applies: ApplyMode::Restart,
            ..Key::new(
                "connections",
                count(),
                "How many connections over HTTP may be open at once.",
            )
        },
        Key {
            value: |config| Some(duration(config.server.head_deadline)),
            example: "\"5s\"",
            applies: ApplyMode::Restart,
            ..Key::new(
                "head_deadline",
                Kind::Duration,
                "How long a new connection over HTTP may take to send the headers of its first \
                 request.",
            )
        },
        Key {
            value: |config| Some(duration(config.server.connection_idle)),
            example: "\"5m\"",
            applies: ApplyMode::Restart,
            ..Key::new(
                "connection_idle",
                Kind::Duration,
                "How long a connection over HTTP stays open after a request, until the headers of \
                 the next have come.",
            )
        },
        Key {
            value: |config| Some(config.limits.calls_in_flight.into()),
            example: "16",
            ..Key::new("calls_in_flight", count(), "How many calls one source works on at once.")
        },
        Key {
            details: "One more is refused as busy.",
            value: |config| Some(config.limits.calls_waiting.into()),
            example: "64",
            ..Key::new("calls_waiting", count(), "How many calls wait for a place at one source.")
        },
        Key {
            details: "Where users or clients have accounts of their own at a source, each account's \
                      failures pause its own calls.",
            value: |config| Some(config.limits.breaker_failures.into()),
            example: "3",
            ..Key::new(
                "breaker_failures",
                Kind::Count { max: u32::MAX as u64 },
                "After how many failures in a row a source gets no calls for `breaker_pause`.",
            )
        },
        Key {
            value: |config| Some(duration(config.limits.breaker_pause)),
            example: "\"30s\"",
            ..Key::new(
                "breaker_pause",
                Kind::Duration,
                "How long a source gets no calls after `breaker_failures` failures in a row.",
            )
        },
        Key {
            details: "None of Gatefold's own sources calls others so far: it counts for sources of a program \
                      that embeds Gatefold.",
            value: |config| Some(config.limits.nesting.into()),
            example: "4",
            ..Key::new("nesting", count(), "How deep calls may nest.")
        },
        Key {
            details: "The call's deadline is paused meanwhile.",
            value: |config| Some(duration(config.limits.question)),
            example: "\"2m\"",
            ..Key::new(
                "question",
                Kind::Duration,
                "How long a client may take to answer what a source asks it in the course of a \
                 call.",
            )
        },
        Key {
            details: "Calls are suspended for a person's approval, and for a client that answers \
                      questions with another request. The call's deadline is paused meanwhile.",
            value: |config| Some(duration(config.limits.suspension)),
            example: "\"1h\"",
            ..Key::new("suspension", Kind::Duration, "How long a suspended call may be resumed.")
        },
        Key {
            details: "For clients that cannot ask their user: `gatefold approvals` decides. A \
                      decision is valid for the same time again.",
            value: |config| Some(duration(config.limits.approval)),
            example: "\"8h\"",
            ..Key::new(
                "approval",
                Kind::Duration,
                "How long a call that needs a person's approval waits for it.",
            )
        },
        Key {
            value: |config| Some(duration(config.limits.drain)),
            example: "\"30s\"",
            ..Key::new(
                "drain",
                Kind::Duration,
                "How long a source that a reload removed may finish its calls.",
            )
        },
        Key {
            value: |config| Some(duration(config.server.shutdown)),
            example: "\"30s\"",
            applies: ApplyMode::Restart,
            ..Key::new(
                "shutdown",
                Kind::Duration,
                "How long running calls may take to finish when Gatefold stops.",
            )
        },
    ],
};

pub(super) fn strings<T: ToString>(items: &[T]) -> Value {
    items.iter().map(ToString::to_string).collect::<Vec<_>>().into()
}

/// The patterns for all tools. None means that everything is allowed, which no list can say.
fn patterns(config: &Config, effect: Effect) -> Option<Value> {
    let rules = config.policy.rules().iter();
    let everywhere = rules.filter(|rule| matches!(rule.scope, Scope::Everywhere));
    let same = everywhere.filter(|rule| rule.effect == effect);
    let patterns: Vec<_> = same.map(written).collect();
    (!patterns.is_empty()).then(|| patterns.into())
}

/// The exceptions of the rules with an effect in all sources: they are the same for each.
fn exceptions(config: &Config, effect: Effect) -> Option<Value> {
    let mut rules = config.policy.rules().iter();
    let of_effect = |rule: &&Rule| rule.scope == Scope::Everywhere && rule.effect == effect;
    let written = |pattern: &EntryPattern| match pattern.kind {
        Some(kind) => format!("{}:{}", kind.as_str(), pattern.name.as_str()),
        None => pattern.name.as_str().to_owned(),
    };
    let patterns: Vec<_> = rules.find(of_effect)?.unless.iter().map(written).collect();
    (!patterns.is_empty()).then(|| patterns.into())
}

/// What needs a person's approval in all sources: the word, or the patterns.
fn asks(config: &Config) -> Option<Value> {
    let is_word = |rule: &Rule| {
        matches!(
            (rule.effect, &rule.scope, rule.entries),
            (Effect::Ask, Scope::Everywhere, Entries::Writes)
        )
    };
    if config.policy.rules().iter().any(is_word) {
        return Some(WRITES.into());
    }
    patterns(config, Effect::Ask)
}

/// A rule's pattern as [`Entries::read`] reads it.
fn written(rule: &Rule) -> String {
    match rule.entries {
        Entries::Every => rule.pattern.as_str().to_owned(),
        Entries::Only(kind) => format!("{}:{}", kind.as_str(), rule.pattern.as_str()),
        Entries::Writes => WRITES.to_owned(),
    }
}
