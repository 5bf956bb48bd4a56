//! Requests as their rows have them.

use gatefold_core::{ApprovalId, Timestamp};
use gatefold_dispatch::{ApprovalRecord, ApprovalState, StandingApproval};
use serde_json::value::RawValue;
use sqlx::Row as _;
use sqlx::sqlite::SqliteRow;

/// The columns of a record. The first parameter is the present time.
pub(super) const COLUMNS: &str = "
    SELECT
        id, iif(state <> 'used' AND expires_at <= ?1, 'expired', state) AS state, tool, domain,
        rule, user, organisation, agent, client, arguments, arguments_bytes,
        lower(hex(arguments_digest)) AS arguments_digest, requested_at, expires_at, decided_by,
        decided_at, reason, used_at
    FROM approvals";

pub(super) fn standing(row: &SqliteRow) -> sqlx::Result<StandingApproval> {
    let text = |name| row.try_get::<Option<String>, _>(name);
    let by = text("decided_by")?.unwrap_or_default().into();
    let state = match row.try_get::<String, _>("state")?.as_str() {
        "approved" => ApprovalState::Approved { by },
        "denied" => ApprovalState::Denied { by, reason: text("reason")? },
        _ => ApprovalState::Pending,
    };
    Ok(StandingApproval {
        id: ApprovalId::new(row.try_get::<String, _>("id")?),
        state,
        expires_at: moment(row.try_get("expires_at")?),
    })
}

pub(super) fn record(row: &SqliteRow) -> sqlx::Result<ApprovalRecord> {
    let at = |name| row.try_get::<Option<i64>, _>(name).map(|millis| millis.map(moment));
    let arguments: Option<String> = row.try_get("arguments")?;
    Ok(ApprovalRecord {
        id: row.try_get("id")?,
        state: row.try_get("state")?,
        tool: row.try_get("tool")?,
        domain: row.try_get("domain")?,
        rule: row.try_get("rule")?,
        user: row.try_get("user")?,
        organisation: row.try_get("organisation")?,
        agent: row.try_get("agent")?,
        client: row.try_get("client")?,
        arguments: arguments.and_then(|json| RawValue::from_string(json).ok()),
        arguments_bytes: row.try_get::<i64, _>("arguments_bytes")?.cast_unsigned(),
        arguments_digest: row.try_get("arguments_digest")?,
        requested_at: moment(row.try_get("requested_at")?),
        expires_at: moment(row.try_get("expires_at")?),
        decided_by: row.try_get("decided_by")?,
        decided_at: at("decided_at")?,
        reason: row.try_get("reason")?,
        used_at: at("used_at")?,
    })
}

fn moment(millis: i64) -> Timestamp {
    Timestamp::from_millis(millis.cast_unsigned())
}
