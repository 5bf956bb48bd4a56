//! How a call that needs a person's approval gets it: from the client's user, or decided elsewhere.

use std::fmt::Write as _;

use gatefold_catalog::{by_ends, object_fields};
use gatefold_core::{AgentId, CallError, Digest, Suspension, Target, Timestamp};
use gatefold_policy::{Approval, ResolvedCall};
use serde_json::json;
use serde_json::value::{RawValue, to_raw_value};

use super::ActiveCall;
use super::record::ApprovalFinding;
use super::settle::BoundCall;
use crate::records::{CallOpened, DecidedBy};
use crate::seal::{SealedCall, SealedState, asker_digest};
use crate::{ApprovalKey, ApprovalState, NewApproval, Question, WHOLE_ARGUMENTS};

/// The key of the question that asks a client for approval.
const QUESTION: &str = "approval";

/// The field of its form that approves.
const APPROVE: &str = "approve";

/// Of each longer value among a call's arguments, a client shows its user this many characters from either end,
/// the fewer where there are many.
const SHOWN_ENDS: [usize; 2] = [500, 60];

/// The most characters that a client shows its user of a call's arguments. With more members than fit, the call
/// has to be approved where all of it can be read.
const SHOWN_ARGUMENTS: usize = 8000;

/// The largest arguments to store with a request, in bytes. Of larger ones only the beginning is
/// stored, and nobody can approve what cannot be shown.
const KEPT_ARGUMENTS: usize = 64 * 1024;

impl ActiveCall {
    /// Finds out whether a person has approved exactly this call, and uses up the approval if there
    /// is one.
    pub(super) async fn find_approval(
        &self,
        record: &CallOpened,
        target: &Target,
        sealed: Option<&SealedCall>,
        answers: Option<&RawValue>,
    ) -> Result<(ApprovalFinding, Option<Approval>), CallError> {
        let given = |by, expires_at| {
            let (tool, arguments) = (target.digest, record.arguments_digest);
            let approval = Approval { tool, arguments, expires_at };
            Ok((ApprovalFinding::Approved(by), Some(approval)))
        };
        if let Some(sealed) = sealed {
            if let Some(by) = &sealed.approved_by {
                // It was approved when it began, and one call needs one approval, however often it
                // pauses.
                return given(by.clone(), sealed.expires_at);
            }
            match answers.map_or(ApprovalFinding::Open, answer) {
                ApprovalFinding::Approved(by) => return given(by, sealed.expires_at),
                ApprovalFinding::Open => {}
                refused @ ApprovalFinding::Refused { .. } => return Ok((refused, None)),
            }
        }
        let port = &self.turn.dispatcher.ports.approvals;
        let failed = |source| CallError::Approvals { tool: target.id.clone(), source };
        let key = self.approval_key(target, record.arguments_digest);
        let Some(standing) = port.find(&key, self.now()).await.map_err(failed)? else {
            return Ok((ApprovalFinding::Open, None));
        };
        match standing.state {
            ApprovalState::Approved { by }
                if port.consume(&standing.id, self.now()).await.map_err(failed)? =>
            {
                given(DecidedBy::Person(by), standing.expires_at)
            }
            // Another call was faster, and one approval is good for one call.
            ApprovalState::Approved { .. } | ApprovalState::Pending => {
                Ok((ApprovalFinding::Open, None))
            }
            ApprovalState::Denied { by, reason } => {
                let reason = reason.unwrap_or_else(|| "no reason was given".to_owned());
                let by = DecidedBy::Person(by);
                Ok((ApprovalFinding::Refused { by, reason }, None))
            }
        }
    }

    fn approval_key(&self, target: &Target, arguments: Digest) -> ApprovalKey {
        ApprovalKey {
            principal: asker_digest(&self.turn.principal),
            tool: target.id.clone(),
            definition: target.digest,
            arguments,
        }
    }

    /// Asks the client's own user to approve the call, by ending the request with the question. None
    /// if the client cannot ask that, or there is too much to show.
    pub(super) fn ask_approval(
        &self,
        call: &ResolvedCall,
        record: &CallOpened,
    ) -> Option<(Suspension, Timestamp)> {
        let arguments = call.call().operation.arguments();
        let agent = self.turn.principal.agent.as_ref();
        let mut question = question(call.target(), agent, arguments)?;
        if self.caller.peer.shows_whole_arguments() {
            question.params = with_whole(&question.params, arguments);
        }
        if self.caller.peer.capabilities().lacks(&question).is_some() {
            return None;
        }
        let bound = BoundCall {
            call: record.id,
            operation: record.operation,
            target: call.target().clone(),
            arguments: record.arguments_digest,
            approved_by: None,
        };
        Some(self.seal(&bound, questions(&question), SealedState::Approval))
    }

    /// Leaves a request for approval where a person can find it, because the client cannot ask.
    pub(super) async fn request_approval(
        &self,
        call: &ResolvedCall,
        record: &CallOpened,
    ) -> CallError {
        let (target, lasts) = (call.target(), self.turn.runtime.limits.approval);
        let request = NewApproval {
            key: self.approval_key(target, record.arguments_digest),
            principal: self.turn.principal.clone(),
            client: record.client.clone(),
            tool: target.id.clone(),
            domain: target.domain.clone(),
            rule: record.rule.clone().expect("a rule has asked"),
            arguments: kept_arguments(call.call().operation.arguments()),
            arguments_bytes: record.arguments_bytes,
            at: self.now(),
            expires_at: self.now().plus(lasts),
        };
        let tool = target.id.clone();
        match self.turn.dispatcher.ports.approvals.request(request).await {
            Ok(id) => CallError::NeedsApproval { tool, id, lasts },
            Err(source) => CallError::Approvals { tool, source },
        }
    }
}

/// The form with which a client asks its user. It names the tool itself, never a meta-tool, the agent
/// that wants it called, if one does, and shows every member of the arguments. None if there are too many
/// of them.
fn question(target: &Target, agent: Option<&AgentId>, arguments: &str) -> Option<Question> {
    let asker = agent.map(|agent| format!(" for the agent `{agent}`")).unwrap_or_default();
    let mut message = format!("Allow one call of `{}` of `{}`{asker}?", target.id, target.domain);
    let mut ways = SHOWN_ENDS.into_iter().map(|ends| by_ends(arguments, ends));
    let shown = ways.find(|shown| shown.chars().nth(SHOWN_ARGUMENTS).is_none())?;
    if shown != "null" {
        let _ = write!(message, "\n\nArguments: {shown}");
    }
    let params = json!({
        "mode": "form",
        "message": message,
        "requestedSchema": {
            "type": "object",
            "properties": {
                APPROVE: {
                    "type": "boolean",
                    "title": "Allow this call, once",
                },
            },
            "required": [APPROVE],
        },
    });
    Some(Question { method: "elicitation/create".to_owned(), params: raw(&params) })
}

/// The same question, with the arguments as they are.
fn with_whole(params: &RawValue, arguments: &str) -> Box<RawValue> {
    let mut params: serde_json::Map<_, _> =
        serde_json::from_str(params.get()).expect("a question's parameters are an object");
    params.insert("_meta".to_owned(), json!({ WHOLE_ARGUMENTS: arguments }));
    raw(&params.into())
}

/// The question in the form of a suspension.
fn questions(question: &Question) -> Box<RawValue> {
    raw(&json!({ QUESTION: { "method": question.method, "params": question.params } }))
}

/// The answer of the client's user. Only an explicit yes approves.
fn answer(answers: &RawValue) -> ApprovalFinding {
    #[derive(serde::Deserialize)]
    struct Answer<'a> {
        action: String,
        #[serde(borrow, default)]
        content: Option<&'a RawValue>,
    }
    let field = |json: &str, name: &str| {
        let fields = object_fields(json)?;
        let found = fields.iter().find(|(key, _)| key == name);
        found.map(|(_, value)| (*value).to_owned())
    };
    let Some(own) = field(answers.get(), QUESTION) else { return ApprovalFinding::Open };
    let Ok(Answer { action, content }) = serde_json::from_str(&own) else {
        return ApprovalFinding::Open;
    };
    let says_yes = || content.and_then(|content| field(content.get(), APPROVE));
    let reason = match action.as_str() {
        "accept" if says_yes().as_deref() == Some("true") => {
            return ApprovalFinding::Approved(DecidedBy::Client);
        }
        "accept" | "decline" => "the person who was asked said no",
        _ => "the person who was asked closed the question without an answer",
    };
    ApprovalFinding::Refused { by: DecidedBy::Client, reason: reason.to_owned() }
}

/// The arguments in the form in which they are stored with a request.
fn kept_arguments(arguments: &str) -> Box<RawValue> {
    let whole = || RawValue::from_string(arguments.to_owned()).ok();
    let is_small = arguments.len() <= KEPT_ARGUMENTS;
    is_small.then(whole).flatten().unwrap_or_else(|| {
        let beginning = &arguments[..arguments.floor_char_boundary(KEPT_ARGUMENTS)];
        raw(&json!(format!("{beginning}...")))
    })
}

fn raw(value: &serde_json::Value) -> Box<RawValue> {
    to_raw_value(value).expect("a JSON value is valid JSON")
}

#[cfg(test)]
mod tests {
    use gatefold_core::{Domain, ToolId};

    use super::*;

    #[track_caller]
    fn check(answers: &str, expected: &str) {
        let answers = RawValue::from_string(answers.to_owned()).unwrap();
        let said = match answer(&answers) {
            ApprovalFinding::Open => "open".to_owned(),
            ApprovalFinding::Approved(by) => format!("yes by {}", by.as_str()),
            ApprovalFinding::Refused { by, reason } => format!("no by {}: {reason}", by.as_str()),
        };
        assert_eq!(said, expected);
    }

    #[test]
    fn only_an_explicit_yes_is_one() {
        check(r#"{"approval":{"action":"accept","content":{"approve":true}}}"#, "yes by client");
        let no = "no by client: the person who was asked said no";
        check(r#"{"approval":{"action":"accept","content":{"approve":false}}}"#, no);
        check(r#"{"approval":{"action":"accept","content":{"approve":"true"}}}"#, no);
        check(r#"{"approval":{"action":"accept"}}"#, no);
        check(r#"{"approval":{"action":"decline"}}"#, no);
        let closed = "no by client: the person who was asked closed the question without an answer";
        check(r#"{"approval":{"action":"cancel"}}"#, closed);
        for open in ["null", "{}", r#"{"other":{"action":"accept"}}"#, r#"{"approval":7}"#] {
            check(open, "open");
        }
    }

    #[test]
    fn arguments_are_shown_and_kept_within_bounds() {
        let long = format!(r#"{{"text":"{}"}}"#, "é".repeat(KEPT_ARGUMENTS));
        let target = Target {
            kind: gatefold_core::EntryKind::Tool,
            domain: Domain::from_key("mail"),
            id: ToolId::new("mail__send"),
            name: "send".into(),
            digest: Digest::new([1; 32]),
            hints: gatefold_core::Hints::default(),
        };
        let asked = question(&target, None, &long).expect("one member fits").params;
        assert!(asked.get().len() < 3000, "{}", asked.get().len());
        assert!(asked.get().contains("characters ...>"));
        let pad = "x".repeat(3000);
        let padded = format!(r#"{{"a":"{pad}","amount":999999,"b":"{pad}"}}"#);
        let asked = question(&target, None, &padded).expect("three members fit").params;
        assert!(asked.get().contains(r#"\"amount\":999999"#), "{}", asked.get());
        let many = format!("[{}999999{}]", "0,".repeat(SHOWN_ARGUMENTS), ",0".repeat(9));
        assert!(question(&target, None, &many).is_none());
        let agent = AgentId::new("clerk");
        let hidden = question(&target, Some(&agent), "{\"to\":\"a\u{202e}b\u{200b}\"}");
        let hidden = hidden.expect("it fits").params;
        assert!(hidden.get().contains("a<U+202E>b<U+200B>"), "{}", hidden.get());
        assert!(hidden.get().contains("of `mail` for the agent `clerk`?"), "{}", hidden.get());
        let kept = kept_arguments(&long);
        assert!(kept.get().starts_with('"') && kept.get().len() < KEPT_ARGUMENTS + 100);
        assert_eq!(kept_arguments(r#"{"a":1.50}"#).get(), r#"{"a":1.50}"#);
    }
}
