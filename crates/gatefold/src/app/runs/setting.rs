//! Whose run it is and what it is of, as its journal says first.

use gatefold_core::{AgentId, Principal, TokenId};
use gatefold_dispatch::{NewRunEvent, RunEvent};
use serde::{Deserialize, Serialize};
use serde_json::value::to_raw_value;

/// The word for it in a journal.
const KIND: &str = "run_setting";

/// Where a run was begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RunOrigin {
    /// `POST /api/runs`.
    Api,
    /// An endpoint that speaks `OpenAI`'s chat completions.
    OpenAi,
}

/// How long a run goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunLife {
    /// To its end, whoever listens, over restarts and while somebody has to approve something.
    Lasting,
    /// As long as the request that began it: it ends with the last [`LiveRun`](super::LiveRun) that
    /// [`begin`](super::RunHost::begin) gave, and what needs an approval is refused in words.
    WithRequest,
}

/// What is needed to go on with a run in another process.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct RunSetting {
    /// Without the rights that the configuration gives: those are as they are when it goes on.
    pub(super) principal: Principal,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) agent: Option<AgentId>,
    /// Whether its token is one that can be revoked here.
    #[serde(default)]
    pub(super) has_own_token: bool,
    /// The model that was asked for by its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) model: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) instructions: Option<String>,
    pub(super) origin: RunOrigin,
    pub(super) life: RunLife,
}

impl RunOrigin {
    /// What the client is called in the records of calls.
    pub(super) fn client(self) -> &'static str {
        match self {
            Self::Api => "gatefold-api",
            Self::OpenAi => "openai-api",
        }
    }
}

impl RunSetting {
    /// What a journal says first, if that is a setting.
    pub(super) fn read(event: &RunEvent) -> Option<Self> {
        (event.kind == KIND).then(|| serde_json::from_str(event.json.get()).ok())?
    }

    /// The token with which the run was begun, if that can be revoked here.
    pub(super) fn token(&self) -> Option<TokenId> {
        let token = self.principal.token.as_ref().filter(|_| self.has_own_token);
        token.map(|token| token.id.clone())
    }

    pub(super) fn event(&self) -> NewRunEvent {
        let json = to_raw_value(self).expect("the keys of a setting are texts");
        NewRunEvent { kind: KIND, json }
    }
}
