//! Notices that a client did not ask for.

use serde_json::{Value, json};

use crate::cell::Face;
use crate::client::Client;
use crate::world::World;

const WATCHED: &str = "test://watched-resource";
const TEXT: &str = "test://static-text";

const UPDATED: &str = "notifications/resources/updated";
const TOOLS: &str = "notifications/tools/list_changed";
const PROMPTS: &str = "notifications/prompts/list_changed";
const RESOURCES: &str = "notifications/resources/list_changed";

/// The methods, sorted.
fn methods(notices: &[Value]) -> Vec<String> {
    let methods = notices.iter().map(|notice| notice["method"].as_str().unwrap_or_default());
    let mut methods: Vec<_> = methods.map(str::to_owned).collect();
    methods.sort();
    methods
}

fn sorted(methods: &[&str]) -> Vec<String> {
    let mut methods: Vec<_> = methods.iter().map(|method| (*method).to_owned()).collect();
    methods.sort();
    methods
}

/// Makes the server announce a resource.
async fn touch(client: &mut Client, own: &str) {
    let touched = client.call("matrix_touch", &json!({ "uri": own }).to_string()).await;
    assert_ne!(touched.result()["isError"], true, "{}", touched.response);
}

/// The next `count` notices; then one about a watched resource, which proves that no others are on
/// their way.
async fn notices(client: &mut Client, count: usize) -> Vec<Value> {
    let mut notices = Vec::new();
    for _ in 0..count {
        notices.push(client.next_notice().await);
    }
    touch(client, WATCHED).await;
    notices.extend(client.notices_until(UPDATED).await);
    notices
}

/// All lists of the server grow. Behind the gateway's three tools, the list of tools stays the
/// same.
pub(crate) async fn lists(client: &mut Client, _: &World) {
    let uri = client.uri(WATCHED);
    client.listen(&[&uri]).await;
    let grown = client.call("matrix_grow", "{}").await;
    let said = client.said(&grown).to_string();
    let number: String = said
        .trim_start_matches(|own: char| !own.is_ascii_digit())
        .chars()
        .take_while(char::is_ascii_digit)
        .collect();
    assert!(said.contains("was added"), "{}", grown.response);
    let expected = match client.face {
        Face::Gateway => &[PROMPTS, RESOURCES, UPDATED][..],
        Face::Flat => &[PROMPTS, RESOURCES, TOOLS, UPDATED],
    };
    let notices = notices(client, expected.len() - 1).await;
    assert_eq!(methods(&notices), sorted(expected));
    client.stop_listening(&[&uri]).await;

    let called = client.call(&format!("matrix_grown_{number}"), "{}").await;
    assert_eq!(client.said(&called), format!("matrix_grown_{number} was added later"));
    let prompts = client.request("prompts/list", "", "{}").await.response;
    let prompt = client.prompt(&format!("matrix_grown_prompt_{number}"));
    assert!(prompts.contains(&prompt), "no {prompt} in {prompts}");
    let read = client.read(&client.uri(&format!("matrix://grown/{number}"))).await;
    assert_eq!(read.result()["contents"][0]["text"], "I was added later.", "{}", read.response);
}

/// Only the change is announced.
pub(crate) async fn one_list(client: &mut Client, _: &World) {
    let uri = client.uri(WATCHED);
    client.listen(&[&uri]).await;
    client.call("test_trigger_prompt_change", "{}").await;
    assert_eq!(methods(&notices(client, 1).await), sorted(&[PROMPTS, UPDATED]));
    if client.face == Face::Flat {
        client.call("test_trigger_tool_change", "{}").await;
        assert_eq!(methods(&notices(client, 1).await), sorted(&[TOOLS, UPDATED]));
    }
    client.stop_listening(&[&uri]).await;
}

/// A client hears of the resources that it subscribed to, by the names that it knows, until it
/// unsubscribes.
pub(crate) async fn resources(client: &mut Client, _: &World) {
    let (watched, text) = (client.uri(WATCHED), client.uri(TEXT));
    client.listen(&[&watched]).await;
    touch(client, TEXT).await;
    touch(client, WATCHED).await;
    let notice = client.next_notice().await;
    assert_eq!((&notice["method"], &notice["params"]["uri"]), (&json!(UPDATED), &json!(watched)));
    client.stop_listening(&[&watched]).await;

    client.listen(&[&text]).await;
    touch(client, WATCHED).await;
    touch(client, TEXT).await;
    let notice = client.next_notice().await;
    assert_eq!((&notice["method"], &notice["params"]["uri"]), (&json!(UPDATED), &json!(text)));
    client.stop_listening(&[&text]).await;
}
