use serde_json::{Value, json};

use crate::world::World;

const CONFIG: &str = "sources.front.restaurant = 'Da Bea'";
const FORMS: &str = r#"{"elicitation":{}}"#;
const TASKS: &str = r#"{"elicitation":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}"#;
const BOOK: &str = r#"{"tool_name":"front__book","arguments":{}}"#;

fn three() -> Value {
    json!({ "action": "accept", "content": { "people": 3 } })
}

#[tokio::test]
async fn a_client_with_a_session_is_asked_in_the_midst_of_a_call() {
    let world = World::of(CONFIG).await;
    let mut ann = world.ann().with_capabilities(FORMS).with_answer(&three().to_string());
    ann.initialize().await.unwrap();
    let booked = ann.call("execute_tool", BOOK).await.unwrap();
    assert!(booked.text().contains("Da Bea: a table for 3."), "{}", booked.response);
}

#[tokio::test]
async fn a_client_without_one_answers_with_a_second_request() {
    let world = World::of(CONFIG).await;
    let ann = world.ann().with_capabilities(FORMS);
    let asked = ann.call("execute_tool", BOOK).await.unwrap().result();
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    assert_eq!(asked["inputRequests"]["question-1"]["params"]["message"], "For how many?");
    let again = json!({
        "name": "execute_tool",
        "arguments": serde_json::from_str::<Value>(BOOK).unwrap(),
        "inputResponses": { "question-1": three() },
        "requestState": asked["requestState"],
    });
    let booked = ann.request_named("tools/call", "execute_tool", &again.to_string()).await.unwrap();
    assert!(booked.text().contains("Da Bea: a table for 3."), "{}", booked.response);
    let outcomes: Vec<_> = world.records().await.into_iter().map(|record| record.3).collect();
    assert_eq!(outcomes, ["done"], "both requests are one call");
}

#[tokio::test]
async fn a_client_that_follows_tasks_comes_back_for_the_result() {
    let world = World::of(CONFIG).await;
    let ann = world.ann().with_capabilities(TASKS);
    let begun = ann.call("execute_tool", BOOK).await.unwrap().result();
    assert_eq!((&begun["resultType"], &begun["status"]), (&json!("task"), &json!("working")));
    let id = &begun["taskId"];
    let ask = async |method: &str, responses: Value| {
        let params = json!({ "taskId": id, "inputResponses": responses });
        let name = id.as_str().unwrap();
        ann.request_named(method, name, &params.to_string()).await.unwrap().result()
    };
    let until = async |status: &str| loop {
        let task = ask("tasks/get", Value::Null).await;
        if task["status"] == status {
            return task;
        }
        tokio::task::yield_now().await;
    };
    let asks = until("input_required").await;
    assert_eq!(asks["inputRequests"]["question-1"]["params"]["message"], "For how many?");
    ask("tasks/update", json!({ "question-1": three() })).await;
    let ended = until("completed").await;
    assert_eq!(ended["result"]["content"][0]["text"], "Da Bea: a table for 3.");
}
