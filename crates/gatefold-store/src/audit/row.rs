//! Records as JSON. A whole batch goes to SQLite as one text, which `json_each` splits again: one
//! statement and one commit for any number of records.

use std::borrow::Cow;
use std::fmt::Display;
use std::time::Duration;

use gatefold_core::{
    AgentId, CallId, ClientName, Digest, Domain, OrganisationId, Principal, Timestamp,
};
use gatefold_dispatch::{AuditOutcome, CallClosed, CallOpened, DiscoveryRecord};
use serde::ser::SerializeTuple as _;
use serde::{Deserialize, Serialize, Serializer};

use super::RecordHolder;

/// The longest value of any field of a record, in bytes.
pub(crate) const TEXT_LIMIT: usize = 512;

/// The most tools that the record of one discovery names.
const SHOWN: usize = 100;

/// Creates a record, or continues a suspended one. Only its holder changes an open record, and
/// nobody changes one that has ended. `?1` is an array of [`Call`]s without member names: looking
/// names up cost `SQLite` more than the rest of the insertion.
pub(super) const KEEP_CALLS: &str = "
    INSERT INTO calls (
        id, parent, owner, attempt, opened_at, user, organisations, agent, client, operation,
        subject, domain, tool, tool_digest, rule, decided_by, arguments_digest, arguments_bytes,
        outcome, error_kind, expires_at, closed_at, took_ms, result_bytes, token, error_reason
    )
    SELECT
        unhex(value ->> '$[0]'), unhex(value ->> '$[1]'), value ->> '$[2]', value ->> '$[3]',
        value ->> '$[4]', value ->> '$[5]', value ->> '$[6]', value ->> '$[7]', value ->> '$[8]',
        value ->> '$[9]', value ->> '$[10]', value ->> '$[11]', value ->> '$[12]',
        unhex(value ->> '$[13]'), value ->> '$[14]', value ->> '$[15]', unhex(value ->> '$[16]'),
        value ->> '$[17]', value ->> '$[18]', value ->> '$[19]', value ->> '$[20]',
        value ->> '$[21]', value ->> '$[22]', value ->> '$[23]', value ->> '$[24]',
        value ->> '$[25]'
    FROM jsonb_each(?1)
    WHERE true
    ON CONFLICT (id) DO UPDATE SET
        owner = excluded.owner, attempt = excluded.attempt, opened_at = excluded.opened_at,
        client = excluded.client, token = excluded.token, rule = excluded.rule,
        decided_by = ifnull(excluded.decided_by, calls.decided_by), outcome = excluded.outcome,
        error_kind = excluded.error_kind, expires_at = excluded.expires_at,
        closed_at = excluded.closed_at, took_ms = excluded.took_ms,
        result_bytes = excluded.result_bytes, error_reason = excluded.error_reason
    WHERE calls.outcome = 'suspended'
        OR (
            calls.outcome = 'open' AND excluded.outcome <> 'open'
            AND calls.owner = excluded.owner AND calls.attempt = excluded.attempt
        )";

/// The places in `?1` of the records that [`KEEP_CALLS`] rejected.
pub(super) const NOT_KEPT: &str = "
    SELECT key
    FROM jsonb_each(?1) JOIN calls ON calls.id = unhex(value ->> '$[0]')
    WHERE calls.owner <> value ->> '$[2]' OR calls.attempt <> value ->> '$[3]'
        OR calls.outcome <> value ->> '$[18]'";

/// Ends records that a process now gone left open, in the way it had ended them. `?1` is an array
/// of [`End`]s. Applying one twice, or late, changes nothing.
pub(super) const END_AS_RECORDED: &str = "
    UPDATE calls SET
        outcome = ends.value ->> 'outcome', error_kind = ends.value ->> 'error_kind',
        expires_at = ends.value ->> 'expires_at', closed_at = ends.value ->> 'closed_at',
        took_ms = ends.value ->> 'took_ms', result_bytes = ends.value ->> 'result_bytes',
        error_reason = ends.value ->> 'error_reason'
    FROM jsonb_each(?1) AS ends
    WHERE calls.id = unhex(ends.value ->> 'id') AND calls.outcome = 'open'
        AND calls.owner = ends.value ->> 'owner' AND calls.attempt = ends.value ->> 'attempt'";

/// `?1` is an array of [`Discovery`]s.
pub(super) const KEEP_DISCOVERIES: &str = "
    INSERT INTO discoveries (
        at, user, organisations, agent, client, meta_tool, arguments_digest, result_bytes, is_error,
        shown
    )
    SELECT
        value ->> 'at', value ->> 'user', value ->> 'organisations', value ->> 'agent',
        value ->> 'client', value ->> 'meta_tool', unhex(value ->> 'arguments_digest'),
        value ->> 'result_bytes', value ->> 'is_error', value ->> 'shown'
    FROM jsonb_each(?1)";

struct Call<'a> {
    id: CallId,
    parent: Option<CallId>,
    owner: i64,
    attempt: i64,
    opened_at: Timestamp,
    who: RecordedCaller<'a>,
    operation: &'a str,
    subject: &'a str,
    domain: Option<&'a str>,
    tool: Option<&'a str>,
    tool_digest: Option<HexDigest<'a>>,
    rule: Option<&'a str>,
    decided_by: Option<&'a str>,
    arguments_digest: HexDigest<'a>,
    arguments_bytes: usize,
    outcome: &'static str,
    error_kind: Option<&'static str>,
    expires_at: Option<Timestamp>,
    closed_at: Option<Timestamp>,
    took_ms: Option<u64>,
    result_bytes: Option<usize>,
    token: Option<&'a str>,
    error_reason: Option<&'a str>,
}

/// Writes an array, in the order in which [`KEEP_CALLS`] reads it.
impl Serialize for Call<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        const COLUMNS: usize = 26;
        let mut row = serializer.serialize_tuple(COLUMNS)?;
        row.serialize_element(&DisplayText(self.id))?;
        row.serialize_element(&self.parent.map(DisplayText))?;
        row.serialize_element(&self.owner)?;
        row.serialize_element(&self.attempt)?;
        row.serialize_element(&self.opened_at)?;
        row.serialize_element(self.who.user)?;
        row.serialize_element(&self.who.organisations())?;
        row.serialize_element(&self.who.agent)?;
        row.serialize_element(&self.who.client)?;
        row.serialize_element(self.operation)?;
        row.serialize_element(self.subject)?;
        row.serialize_element(&self.domain)?;
        row.serialize_element(&self.tool)?;
        row.serialize_element(&self.tool_digest)?;
        row.serialize_element(&self.rule)?;
        row.serialize_element(&self.decided_by)?;
        row.serialize_element(&self.arguments_digest)?;
        row.serialize_element(&self.arguments_bytes)?;
        row.serialize_element(self.outcome)?;
        row.serialize_element(&self.error_kind)?;
        row.serialize_element(&self.expires_at)?;
        row.serialize_element(&self.closed_at)?;
        row.serialize_element(&self.took_ms)?;
        row.serialize_element(&self.result_bytes)?;
        row.serialize_element(&self.token)?;
        row.serialize_element(&self.error_reason)?;
        row.end()
    }
}

/// How one record ended, and who held it: all that recovery needs in addition to the record.
#[derive(Serialize, Deserialize)]
pub(super) struct End<'a> {
    id: Cow<'a, str>,
    owner: i64,
    attempt: i64,
    outcome: Cow<'a, str>,
    error_kind: Option<Cow<'a, str>>,
    expires_at: Option<Timestamp>,
    closed_at: Option<Timestamp>,
    took_ms: u64,
    result_bytes: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    error_reason: Option<Cow<'a, str>>,
}

#[derive(Serialize)]
struct Discovery<'a> {
    at: Timestamp,
    #[serde(flatten)]
    who: RecordedCaller<'a>,
    meta_tool: &'a str,
    arguments_digest: HexDigest<'a>,
    result_bytes: usize,
    is_error: bool,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    shown: Vec<&'a str>,
}

#[derive(Serialize)]
struct RecordedCaller<'a> {
    user: &'a str,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    organisations: &'a [OrganisationId],
    agent: Option<&'a str>,
    client: Option<&'a str>,
}

impl<'a> RecordedCaller<'a> {
    /// None for a caller that acts for no organisation.
    fn organisations(&self) -> Option<&'a [OrganisationId]> {
        Some(self.organisations).filter(|organisations| !organisations.is_empty())
    }

    fn of(principal: &'a Principal, client: Option<&'a ClientName>) -> Self {
        Self {
            user: bounded(principal.user.as_str()),
            organisations: principal.organisation.as_slice(),
            agent: principal.agent.as_ref().map(AgentId::as_str).map(bounded),
            client: client.map(|client| bounded(client.as_str())),
        }
    }
}

/// A digest in the same text as its `Display`, in a tenth of the time: every call writes four of
/// them.
struct HexDigest<'a>(&'a Digest);

impl Serialize for HexDigest<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let mut text = [0; 64];
        for (pair, byte) in text.chunks_exact_mut(2).zip(self.0.as_bytes()) {
            pair[0] = DIGITS[usize::from(byte >> 4)];
            pair[1] = DIGITS[usize::from(byte & 0xf)];
        }
        serializer.serialize_str(std::str::from_utf8(&text).expect("digits are ASCII"))
    }
}

pub(super) fn open(opened: &CallOpened, holder: RecordHolder) -> String {
    json(&call(opened, holder))
}

pub(super) fn ended(opened: &CallOpened, closed: &CallClosed, holder: RecordHolder) -> String {
    let (error_kind, expires_at) = particulars(closed.outcome);
    json(&Call {
        outcome: closed.outcome.as_str(),
        error_kind,
        expires_at,
        closed_at: expires_at.is_none().then_some(closed.at),
        took_ms: Some(whole_millis(closed.took)),
        result_bytes: Some(closed.result_bytes),
        error_reason: closed.reason.as_deref().map(bounded),
        ..call(opened, holder)
    })
}

/// One line of the log of ends.
pub(super) fn end(closed: &CallClosed, holder: RecordHolder) -> String {
    let (error_kind, expires_at) = particulars(closed.outcome);
    let mut line = json(&End {
        id: closed.id.to_string().into(),
        owner: holder.owner,
        attempt: holder.attempt,
        outcome: closed.outcome.as_str().into(),
        error_kind: error_kind.map(Cow::Borrowed),
        expires_at,
        closed_at: expires_at.is_none().then_some(closed.at),
        took_ms: whole_millis(closed.took),
        result_bytes: closed.result_bytes,
        error_reason: closed.reason.as_deref().map(|reason| bounded(reason).into()),
    });
    line.push('\n');
    line
}

/// The kind of a failure, and the deadline for resuming a suspended call.
fn particulars(outcome: AuditOutcome) -> (Option<&'static str>, Option<Timestamp>) {
    match outcome {
        AuditOutcome::Failed(kind) => (Some(kind.as_str()), None),
        AuditOutcome::Suspended(until) => (None, Some(until)),
        _ => (None, None),
    }
}

fn whole_millis(took: Duration) -> u64 {
    u64::try_from(took.as_millis()).unwrap_or(u64::MAX)
}

pub(super) fn discovery(record: &DiscoveryRecord) -> String {
    json(&Discovery {
        at: record.at,
        who: RecordedCaller::of(&record.principal, record.client.as_ref()),
        meta_tool: bounded(&record.meta_tool),
        arguments_digest: HexDigest(&record.arguments_digest),
        result_bytes: record.result_bytes,
        is_error: record.is_error,
        shown: record.shown.iter().take(SHOWN).map(|tool| bounded(tool)).collect(),
    })
}

fn call(opened: &CallOpened, holder: RecordHolder) -> Call<'_> {
    Call {
        id: opened.id,
        parent: opened.parent,
        owner: holder.owner,
        attempt: holder.attempt,
        opened_at: opened.at,
        who: RecordedCaller::of(&opened.principal, opened.client.as_ref()),
        operation: opened.operation,
        subject: bounded(&opened.subject),
        domain: opened.domain.as_ref().map(Domain::as_str),
        tool: opened.tool.as_ref().map(|tool| bounded(tool.as_str())),
        tool_digest: opened.tool_digest.as_ref().map(HexDigest),
        rule: opened.rule.as_ref().map(|rule| bounded(rule.as_str())),
        decided_by: opened.decided_by.as_ref().map(|by| bounded(by.as_str())),
        arguments_digest: HexDigest(&opened.arguments_digest),
        arguments_bytes: opened.arguments_bytes,
        outcome: "open",
        error_kind: None,
        expires_at: None,
        closed_at: None,
        took_ms: None,
        result_bytes: None,
        token: opened.principal.token.as_ref().map(|token| bounded(&token.name)),
        error_reason: None,
    }
}

fn bounded(text: &str) -> &str {
    &text[..text.floor_char_boundary(TEXT_LIMIT)]
}

/// A value that is stored as its `Display` shows it.
struct DisplayText<T>(T);

impl<T: Display> Serialize for DisplayText<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

fn json(record: &impl Serialize) -> String {
    serde_json::to_string(record).expect("a record has only text keys")
}
