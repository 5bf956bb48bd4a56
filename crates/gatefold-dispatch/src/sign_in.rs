//! A sign-in in the midst of a call, by the client's own user (MCP 2025-11-25, "URL Mode
//! Elicitation").

use std::time::Duration;

use gatefold_core::Domain;
use serde::Deserialize;
use serde_json::json;
use serde_json::value::to_raw_value;
use tokio::time::{Instant, timeout};

use crate::{CallContext, Credentials, Question};

/// How long a call waits for its user to sign in.
const PERSON_DEADLINE: Duration = Duration::from_secs(300);

impl CallContext {
    /// Asks the call's client to have its user sign in at a source, and waits until they did. Returns
    /// whether they did. What the call may take is put off by as long.
    pub async fn sign_in_by_link(
        &mut self,
        credentials: &dyn Credentials,
        domain: &Domain,
    ) -> bool {
        if !self.caller.peer.capabilities().opens_pages() {
            return false;
        }
        let link = match credentials.sign_in_link(domain, &self.identity).await {
            Ok(link) => link,
            Err(error) => {
                tracing::debug!(%domain, ?error, "no link to sign in at was offered");
                return false;
            }
        };
        let params = json!({
            "mode": "url",
            "elicitationId": link.id,
            "url": link.url,
            "message": format!("Sign in at `{domain}`, so that its tools can be used."),
        });
        let params = to_raw_value(&params).expect("a JSON value is valid JSON");
        let question = Question { method: "elicitation/create".to_owned(), params };
        let asked_at = Instant::now();
        let answer = match self.caller.peer.ask(question).await {
            Ok(answer) => answer,
            Err(error) => {
                tracing::debug!(%domain, %error, "a client did not open a page");
                return false;
            }
        };
        if !is_accepted(answer.0.get()) {
            return false;
        }
        let signed_in = async { timeout(PERSON_DEADLINE, link.done).await.unwrap_or(false) };
        let has_signed_in = self.caller.peer.wait_for_person(Box::pin(signed_in)).await;
        self.deadline += asked_at.elapsed();
        has_signed_in
    }
}

fn is_accepted(answer: &str) -> bool {
    #[derive(Deserialize)]
    struct Choice {
        action: String,
    }
    serde_json::from_str(answer).is_ok_and(|choice: Choice| choice.action == "accept")
}
