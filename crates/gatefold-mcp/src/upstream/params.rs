//! The parameters of our requests.

use gatefold_dispatch::RequestMeta as CallerMeta;
use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use crate::protocol::{SubscriptionFilter, meta};

/// The `params` of any of our requests. Absent members are left out.
#[derive(Serialize, Default)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OutgoingParams<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) arguments: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) uri: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) task_id: Option<&'a str>,
    #[serde(rename = "ref", skip_serializing_if = "Option::is_none")]
    pub(crate) reference: Option<CompletionTarget<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) argument: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) context: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cursor: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) level: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) notifications: Option<&'a SubscriptionFilter>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) input_responses: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) request_state: Option<&'a str>,
    #[serde(rename = "_meta", skip_serializing_if = "OutgoingMeta::is_empty")]
    pub(crate) meta: OutgoingMeta<'a>,
}

/// What a completion is for.
#[derive(Serialize)]
#[serde(tag = "type")]
pub(crate) enum CompletionTarget<'a> {
    #[serde(rename = "ref/prompt")]
    Prompt { name: &'a str },
    #[serde(rename = "ref/resource")]
    Resource { uri: &'a str },
}

/// The `_meta` of a request.
#[derive(Default)]
pub(crate) struct OutgoingMeta<'a> {
    pub(crate) progress_token: Option<u64>,
    /// What the caller sent besides the arguments.
    pub(crate) caller: Option<&'a CallerMeta>,
    /// In the stateless era, who asks.
    pub(crate) client: Option<RequestSender<'a>>,
}

/// What every request of the stateless era says about its sender.
pub(crate) struct RequestSender<'a> {
    pub(crate) greeting: &'a SenderIdentity,
    /// What the client behind the call declared. Without this, the server may ask nothing.
    pub(crate) capabilities: Option<&'a RawValue>,
}

/// The part of it that stays the same for a whole session.
pub(crate) struct SenderIdentity {
    pub(crate) protocol_version: String,
    pub(crate) client_info: GatewayInfo,
}

/// What the gateway tells a server about itself.
#[derive(Serialize)]
pub(crate) struct GatewayInfo {
    name: &'static str,
    version: &'static str,
}

impl GatewayInfo {
    pub(crate) const OWN: Self = Self { name: "gatefold", version: env!("CARGO_PKG_VERSION") };
}

impl OutgoingMeta<'_> {
    fn is_empty(&self) -> bool {
        let is_silent = |caller: &CallerMeta| {
            caller.traceparent.is_none() && caller.tracestate.is_none() && caller.others.is_empty()
        };
        self.progress_token.is_none() && self.client.is_none() && self.caller.is_none_or(is_silent)
    }
}

impl Serialize for OutgoingMeta<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct EmptyObject {}
        let mut map = serializer.serialize_map(None)?;
        if let Some(token) = self.progress_token {
            map.serialize_entry(meta::PROGRESS_TOKEN, &token)?;
        }
        if let Some(caller) = self.caller {
            let traced = [("traceparent", &caller.traceparent), ("tracestate", &caller.tracestate)];
            for (key, value) in traced {
                if let Some(value) = value {
                    map.serialize_entry(key, value)?;
                }
            }
            for (key, value) in &caller.others {
                map.serialize_entry(key, value)?;
            }
        }
        if let Some(RequestSender { greeting, capabilities }) = &self.client {
            map.serialize_entry(meta::PROTOCOL_VERSION, &greeting.protocol_version)?;
            map.serialize_entry(meta::CLIENT_INFO, &greeting.client_info)?;
            let own = meta::CLIENT_CAPABILITIES;
            match capabilities {
                Some(capabilities) => map.serialize_entry(own, capabilities)?,
                None => map.serialize_entry(own, &EmptyObject {})?,
            }
            if let Some(level) = self.caller.and_then(|caller| caller.log_level.as_deref()) {
                map.serialize_entry(meta::LOG_LEVEL, level)?;
            }
        }
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &str) -> Box<RawValue> {
        RawValue::from_string(text.to_owned()).unwrap()
    }

    #[test]
    fn what_a_caller_says_is_passed_on_letter_for_letter() {
        let caller = CallerMeta {
            traceparent: Some("00-1".to_owned()),
            log_level: Some("debug".to_owned()),
            others: vec![("com.example/n".to_owned(), raw("1.10"))],
            ..CallerMeta::default()
        };
        let arguments = raw(r#"{"b": 1, "a":12345678901234567890123}"#);
        let meta = OutgoingMeta { caller: Some(&caller), ..OutgoingMeta::default() };
        let params =
            OutgoingParams { arguments: Some(&arguments), meta, ..OutgoingParams::default() };
        assert_eq!(
            serde_json::to_string(&params).unwrap(),
            r#"{"arguments":{"b": 1, "a":12345678901234567890123},"_meta":{"traceparent":"00-1","com.example/n":1.10}}"#
        );
    }

    #[test]
    fn a_request_that_says_nothing_beside_has_no_meta() {
        let caller = CallerMeta::default();
        let meta = OutgoingMeta { caller: Some(&caller), ..OutgoingMeta::default() };
        let params = OutgoingParams { uri: Some("a://b"), meta, ..OutgoingParams::default() };
        assert_eq!(serde_json::to_string(&params).unwrap(), r#"{"uri":"a://b"}"#);
    }
}
