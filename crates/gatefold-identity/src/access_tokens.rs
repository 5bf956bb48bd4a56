//! Access tokens to the gateway: for whom they are, and how much of it.

use gatefold_core::{AgentId, Digest, Timestamp, TokenId, UserId, is_token_id};
use serde::{Deserialize, Serialize};

use crate::FamilyRecord;
use crate::names::{NAME_BYTES, is_plain_name};

/// The most patterns of one token, and the longest of them, in bytes.
pub const TOKEN_PATTERNS: usize = 64;
pub const TOKEN_PATTERN_BYTES: usize = 256;

/// What a new token is to be.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct NewAccessToken {
    pub name: String,
    pub user: UserId,
    pub agent: Option<AgentId>,
    /// Patterns of which an entry has to match one; all entries match none at all.
    pub tools: Vec<String>,
    pub read_only: bool,
    pub expires_at: Option<Timestamp>,
}

impl NewAccessToken {
    /// Says what is wrong with it, for every way in which one is made.
    pub fn check(&self) -> Result<(), String> {
        if is_token_id(&self.name) {
            return Err(format!("the name `{}` looks like an id", self.name));
        }
        for (what, text) in [("name", self.name.as_str()), ("user", self.user.as_str())] {
            if text.is_empty() || text.len() > NAME_BYTES {
                return Err(format!("a {what} has 1 to {NAME_BYTES} bytes"));
            }
            if !is_plain_name(text) {
                return Err(format!("a {what} has no space around it, and no control characters"));
            }
        }
        if self.tools.len() > TOKEN_PATTERNS {
            return Err(format!("a token has at most {TOKEN_PATTERNS} patterns"));
        }
        let is_legal = |pattern: &String| (1..=TOKEN_PATTERN_BYTES).contains(&pattern.len());
        if !self.tools.iter().all(is_legal) {
            return Err(format!("a pattern has 1 to {TOKEN_PATTERN_BYTES} bytes"));
        }
        Ok(())
    }
}

/// A token on record. Nothing in it proves anything.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AccessTokenRecord {
    pub id: TokenId,
    pub name: String,
    pub user: UserId,
    pub agent: Option<AgentId>,
    /// Empty where the token shows all that its user sees.
    pub tools: Vec<String>,
    pub read_only: bool,
    pub created_at: Timestamp,
    /// None for one that does not expire.
    pub expires_at: Option<Timestamp>,
    /// The hour in which it was last used.
    pub last_used: Option<Timestamp>,
}

impl AccessTokenRecord {
    pub fn has_expired(&self, now: Timestamp) -> bool {
        self.expires_at.is_some_and(|at| at <= now)
    }
}

/// A token that lets in, with the hash that whoever presents it has to match.
pub enum KnownToken {
    /// One that an operator made.
    Made { record: AccessTokenRecord, hash: Digest },
    /// The access token of a family. What is begun with it goes on when another one follows.
    SignedIn {
        family: Box<FamilyRecord>,
        /// The groups that the provider named when the user signed in last.
        groups: Vec<String>,
    },
}

impl KnownToken {
    pub fn id(&self) -> &TokenId {
        match self {
            Self::Made { record, .. } => &record.id,
            Self::SignedIn { family, .. } => &family.id,
        }
    }

    pub fn hash(&self) -> &Digest {
        match self {
            Self::Made { hash, .. } => hash,
            Self::SignedIn { family, .. } => &family.access.hash,
        }
    }

    /// When what is begun with it ends. None for one that does not expire.
    pub fn expires_at(&self) -> Option<Timestamp> {
        match self {
            Self::Made { record, .. } => record.expires_at,
            Self::SignedIn { family, .. } => Some(family.expires_at),
        }
    }

    pub fn last_used(&self) -> Option<Timestamp> {
        match self {
            Self::Made { record, .. } => record.last_used,
            Self::SignedIn { family, .. } => family.last_used,
        }
    }

    /// The groups that a provider puts its user in.
    pub fn groups(&self) -> &[String] {
        match self {
            Self::Made { .. } => &[],
            Self::SignedIn { groups, .. } => groups,
        }
    }
}
