//! `[disclosure]` of `gatefold.toml`.

use gatefold_config::{Count, Share, Table, Text};
use gatefold_disclose::ExecuteTools;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::key::SectionKeys;
use super::super::kinds::builtin::LoopTool;
use super::super::pins::{self, Pin};
use super::super::profiles::DisclosureNames;
use super::super::tool_modes::{CONNECTORS, DATABASES, ModeOf, SERVERS, SKILLS, SetModes};
use super::super::{Config, DisclosureConfig};

/// How tools are shown to a model.
#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub(in crate::config) struct DisclosureKeys {
    /// Tools to show at the top level too, beside Gatefold's three.
    ///
    /// Each costs a model its whole definition in every conversation, so name few. "used" changes the list from
    /// one day of UTC to the next, and each user and agent has its own; everything else that is shown stays the
    /// same to the byte.
    #[schemars(extend("examples" = [["time__get_current_time", "used"]]))]
    pinned: Vec<Pin>,
    /// The most o200k tokens of one discovery answer.
    ///
    /// Longer answers come in pages.
    #[schemars(extend("examples" = [4000]))]
    discovery_tokens: Count<usize>,
    /// How tools are shown to whoever asks for nothing else.
    ///
    /// `gateway` has three tools that find, describe and call all others; `namespace` two for each domain;
    /// `typed` one for each kind of source; `intent` one that answers an intent with schemas, and one that
    /// calls; `flat` shows every tool with its full schema; `auto` is `flat` while all definitions are small,
    /// else `gateway`. A request names another one in its address, as `/mcp?disclosure=flat` does, and a client
    /// has its own in `[clients.NAME]`. The address of one source shows that source as it is.
    #[schemars(extend("examples" = ["auto"]))]
    default: Text,
    /// The share of the context up to which `auto` shows all definitions in full.
    ///
    /// Of `context_tokens`.
    #[schemars(extend("examples" = [0.05]))]
    auto_share: Share,
    /// How many tokens a model's context has.
    #[schemars(extend("examples" = [128_000]))]
    context_tokens: Count<usize>,
    /// Whether `execute_read` and `execute_write` stand in the place of `execute_tool`.
    ///
    /// For clients whose permission rules go by the names of tools: `execute_read` calls only what declares
    /// itself read-only.
    #[schemars(extend("examples" = [true]))]
    split_execute: bool,
    /// The most tools that are all shown where it is known what they are for.
    ///
    /// Above it, a request that says so (`/mcp?for=TEXT`), what somebody says in `gatefold chat` and the task of a
    /// called agent get those tools that they need, and `request_tools` for the others. The variable
    /// `REACT_TOOL_SELECTION_THRESHOLD` wins over it.
    #[schemars(extend("examples" = [20]))]
    selection_threshold: Count<usize>,
    /// How many tools are chosen for such a request.
    ///
    /// Pinned tools stand beside them. The variable `REACT_TOOL_SELECTION_MAX` wins over it.
    #[schemars(extend("examples" = [8]))]
    selection_max: Count<usize>,
    /// Whether tools that a session has found stand at its top level from then on.
    ///
    /// What `discover_tools` of `intent` answered with whole schemas, and what `request_tools` loaded, can then
    /// be called by its name. Only clients with a session are shown it, the last 32 tools of each, and told of
    /// the change. Each change costs such a client its cached prompt.
    #[schemars(extend("examples" = [true]))]
    register: bool,
    /// The built-in tools that Gatefold's own loop has without a source.
    ///
    /// That is `gatefold chat`, and the agents that `call_agent` has work, as far as their `tool_categories` leave
    /// these tools. They have the domain `builtin`. One that a source has is left out, and so are all where a source
    /// is called `builtin`. MCP clients have what is configured as a source, and nothing of these.
    #[schemars(extend("examples" = [["calculate", "datetime"]], "x-unset" = "all that need nothing"))]
    builtin_tools: Option<Vec<LoopTool>>,
    /// How `typed` shows skills.
    ///
    /// "inline" puts their texts into the instructions, the shortest first, as far as a client takes them; the
    /// others stand there by their descriptions. The variable `SKILL_TOOL_MODE` wins over it.
    #[schemars(extend("examples" = ["inline"]))]
    skill_tool_mode: ModeOf<SKILLS>,
    /// How `typed` shows HTTP APIs.
    ///
    /// "legacy" shows each action as a tool of its own. The variable `CONNECTOR_TOOL_MODE` wins over it.
    #[schemars(extend("examples" = ["legacy"]))]
    connector_tool_mode: ModeOf<CONNECTORS>,
    /// How `typed` shows databases.
    ///
    /// "legacy" shows the tools of each database. The variable `DATABASE_TOOL_MODE` wins over it.
    #[schemars(extend("examples" = ["legacy"]))]
    database_tool_mode: ModeOf<DATABASES>,
    /// How `typed` shows MCP servers.
    ///
    /// "legacy" shows each tool. The variable `MCP_TOOL_MODE` wins over it.
    #[schemars(extend("examples" = ["legacy"]))]
    mcp_tool_mode: ModeOf<SERVERS>,
}

pub(super) fn read(
    table: &mut Table<'_>,
    known: &DisclosureNames,
    disclosure: &mut DisclosureConfig,
) {
    let keys: DisclosureKeys = table.read().unwrap_or_default();
    disclosure.pinned = pins::pins(keys.pinned);
    disclosure.discovery_tokens = keys.discovery_tokens.0;
    disclosure.auto_share = keys.auto_share;
    disclosure.context_tokens = keys.context_tokens.0;
    disclosure.selection.threshold = keys.selection_threshold.0;
    disclosure.selection.most = keys.selection_max.0;
    disclosure.register = keys.register;
    if let Some(tools) = keys.builtin_tools {
        disclosure.builtin_tools = tools.into_iter().map(|LoopTool(name)| name).collect();
    }
    if keys.split_execute {
        disclosure.execute = ExecuteTools::Split;
    }
    let modes = SetModes::new(
        Some(keys.skill_tool_mode),
        Some(keys.connector_tool_mode),
        Some(keys.database_tool_mode),
        Some(keys.mcp_tool_mode),
    );
    disclosure.modes = modes.over(std::mem::take(&mut disclosure.modes));
    if let Some(field) = table.peek("default") {
        known.check(&keys.default.0, &field);
    }
    disclosure.default = keys.default.0;
}

impl SectionKeys for DisclosureKeys {
    fn of(config: &Config) -> Self {
        let own = &config.disclosure;
        Self {
            pinned: pins::list(&own.pinned),
            discovery_tokens: Count(own.discovery_tokens),
            default: Text(own.default.clone()),
            auto_share: own.auto_share,
            context_tokens: Count(own.context_tokens),
            split_execute: own.execute == ExecuteTools::Split,
            selection_threshold: Count(own.selection.threshold),
            selection_max: Count(own.selection.most),
            register: own.register,
            builtin_tools: (own.builtin_tools != DisclosureConfig::default().builtin_tools)
                .then(|| own.builtin_tools.iter().copied().map(LoopTool).collect()),
            skill_tool_mode: ModeOf::of(&own.modes),
            connector_tool_mode: ModeOf::of(&own.modes),
            database_tool_mode: ModeOf::of(&own.modes),
            mcp_tool_mode: ModeOf::of(&own.modes),
        }
    }
}
