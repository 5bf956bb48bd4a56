//! What needs an app, asked in process and through JSON.

use std::sync::Arc;

use gatefold_catalog::SearchMode;
use gatefold_core::{Principal, UserId};
use gatefold_operations::{
    AppOperations, AppRequest, Asker, CallArguments, CallTool, GetRecord, GetStatus, InspectTools,
    ListTools, OperationError, ReadLog, RefreshSource, Request, SearchTools, SignOut,
};
use serde_json::value::to_raw_value;
use serde_json::{Value, json};

use crate::gateway::TestApp;

/// Asks in process, and as another process does: the answers are the same.
async fn check(operations: &AppOperations<'_>, request: impl Request) -> Result<Value, Value> {
    let own = request.answer(operations).await;
    let own = own.map(|answer| json!(answer)).map_err(|error| json!(error));
    let carried: AppRequest = request.into();
    let carried = serde_json::to_string(&carried).unwrap();
    let carried: AppRequest = serde_json::from_str(&carried).unwrap();
    let answer = carried.answer(operations).await;
    let answer = answer.map(|answer| serde_json::from_str::<Value>(answer.get()).unwrap());
    assert_eq!(answer.map_err(|error| json!(error)), own, "{carried:?}");
    own
}

fn datetime(arguments: CallArguments) -> CallTool {
    CallTool { name: "own__datetime".to_owned(), arguments }
}

#[tokio::test]
async fn every_request_has_the_same_answer_in_process_and_as_json() {
    let gateway = TestApp::build().await;
    let on = &gateway.operations();
    let list = |domain: Option<&str>| ListTools { domain: domain.map(str::to_owned) };
    let listed = check(on, list(None)).await.unwrap();
    assert_eq!(listed["answer"]["Ok"].as_array().map(Vec::len), Some(3));
    let unknown = check(on, list(Some("other"))).await.unwrap();
    assert_eq!(unknown["answer"]["Err"]["not_found"]["help"], "the domains are own");

    let query = "what time is it in Tokyo".to_owned();
    let search = SearchTools { query, mode: SearchMode::default(), limit: 1 };
    let found = check(on, search).await.unwrap();
    assert_eq!(found["answer"]["Ok"]["tools"][0]["line"]["name"], "own__datetime");

    let inspect = |name: &str| InspectTools { names: vec![name.to_owned()] };
    let inspected = check(on, inspect("datetime")).await.unwrap();
    assert!(inspected["answer"]["Ok"][0]["parameters"]["properties"].is_object(), "{inspected}");
    let unknown = check(on, inspect("datetimes")).await.unwrap();
    assert_eq!(unknown["answer"]["Err"]["not_found"]["help"], "did you mean `own__datetime`?");

    let facts = json!({ "action": "facts", "time": "2026-11-29", "zone": "UTC" });
    let object = CallArguments::Object(to_raw_value(&facts).unwrap());
    let called = check(on, datetime(object)).await.unwrap();
    assert_eq!(called["answer"]["Ok"]["done"]["is_error"], false, "{called}");
    let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
    let pairs = vec![pair("action", "facts"), pair("time", "2026"), pair("time", "2027")];
    let twice = check(on, datetime(CallArguments::Pairs(pairs))).await.unwrap();
    assert_eq!(twice["answer"]["Err"]["invalid"]["help"], "give each argument once");

    let source = |source: &str| RefreshSource { source: source.to_owned() };
    assert_eq!(check(on, source("own")).await, Ok(json!(true)));
    let unknown = check(on, source("other")).await.unwrap_err();
    assert_eq!(unknown["not_found"]["help"], "the sources are own");
    let log = |source: &str| ReadLog { source: source.to_owned(), after: 0 };
    assert_eq!(check(on, log("own")).await, Ok(json!([])));
    assert!(check(on, log("other")).await.is_err());

    let state = check(on, GetRecord).await.unwrap();
    // The two ways called it once each.
    let done = &state["calls"]["outcomes"][0];
    assert_eq!((&done["outcome"], &done["calls"]), (&json!("done"), &json!(2)), "{state}");
    let status = check(on, GetStatus).await.unwrap();
    assert_eq!((&status["tools"], &status["calls"]["done"]), (&json!(3), &json!(2)), "{status}");
    gateway.app.close().await;
}

#[tokio::test]
async fn sign_ins_are_for_sources_that_ask_for_one() {
    let gateway = TestApp::build().await;
    let operations = gateway.operations();
    assert_eq!(json!(operations.accounts().await.unwrap()), json!([]));
    assert_eq!(operations.rotate_keys().await.unwrap(), 0);
    let sign_out = async |source: &str| {
        let request = SignOut { source: source.to_owned(), user: None };
        operations.sign_out(&request).await.map(|signed_out| signed_out.was_signed_in)
    };
    let unknown = sign_out("other").await.unwrap_err();
    assert!(matches!(unknown, OperationError::NotFound(_)), "{unknown}");
    let needless = sign_out("own").await.unwrap_err();
    assert!(matches!(needless, OperationError::Invalid(_)), "{needless}");
    gateway.app.close().await;
}

#[tokio::test]
async fn a_principal_uses_tools_and_is_told_nothing_of_the_gateway() {
    let gateway = TestApp::build().await;
    let ann = Asker::Principal(Arc::new(Principal::user(UserId::new("ann"))));
    // Nobody connects a source for a principal, so the operator does.
    gateway.operations().list_tools(&ListTools { domain: None }).await.unwrap();
    let operations = &gateway.asked_by(ann);
    let listed = check(operations, ListTools { domain: None }).await.unwrap();
    assert_eq!(listed["answer"]["Ok"].as_array().map(Vec::len), Some(3));
    let source = "own".to_owned();
    for refused in [
        check(operations, GetStatus).await,
        check(operations, GetRecord).await,
        check(operations, RefreshSource { source: source.clone() }).await,
        check(operations, ReadLog { source: source.clone(), after: 0 }).await,
        operations.accounts().await.map(|it| json!(it)).map_err(|error| json!(error)),
        operations.rotate_keys().await.map(|it| json!(it)).map_err(|error| json!(error)),
        operations.account(&source, None).map(|_| Value::Null).map_err(|error| json!(error)),
    ] {
        assert!(refused.as_ref().is_err_and(|error| error["refused"].is_object()), "{refused:?}");
    }
    gateway.app.close().await;
}
