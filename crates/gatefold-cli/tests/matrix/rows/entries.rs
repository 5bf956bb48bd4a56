//! Resources and prompts.

use gatefold_testkit::reference::PNG;
use serde_json::{Value, json};

use crate::client::Client;
use crate::world::World;

/// The values of one member of all entries of a list.
fn listed(result: &Value, list: &str, member: &str) -> Vec<String> {
    let entries = result[list].as_array().unwrap_or_else(|| panic!("no `{list}`: {result}"));
    let values = entries.iter().filter_map(|entry| entry[member].as_str());
    values.map(str::to_owned).collect()
}

/// A listed resource can be read, under the name in the list, and comes whole.
pub(crate) async fn read(client: &mut Client, _: &World) {
    let list = client.request("resources/list", "", "{}").await.result();
    let uris = listed(&list, "resources", "uri");
    for (own, member, content) in [
        ("test://static-text", "text", "This is the content of the static text resource."),
        ("test://static-binary", "blob", PNG),
    ] {
        let uri = client.uri(own);
        assert!(uris.contains(&uri), "{uri} is not among {uris:?}");
        let read = client.read(&uri).await;
        let contents = &read.result()["contents"][0];
        assert_eq!(contents[member], content, "{}", read.response);
        assert_eq!(contents["uri"], uri, "it is what was asked for");
    }
    let missing = client.uri("test://nothing");
    let refused = client.read(&missing).await;
    assert!(matches!(refused.error_code(), Some(-32602 | -32002)), "{}", refused.response);
}

pub(crate) async fn template(client: &mut Client, _: &World) {
    let list = client.request("resources/templates/list", "", "{}").await.result();
    let templates = listed(&list, "resourceTemplates", "uriTemplate");
    let template = client.uri("test://template/{id}/data");
    assert!(templates.contains(&template), "{template} is not among {templates:?}");
    let uri = template.replace("{id}", "42");
    let read = client.read(&uri).await;
    let text = read.result()["contents"][0]["text"].take();
    let data: Value = serde_json::from_str(text.as_str().unwrap_or_default()).unwrap_or_default();
    assert_eq!(data["id"], "42", "{}", read.response);
}

pub(crate) async fn prompt(client: &mut Client, _: &World) {
    let list = client.request("prompts/list", "", "{}").await.result();
    let names = listed(&list, "prompts", "name");
    let name = client.prompt("test_prompt_with_arguments");
    assert!(names.contains(&name), "{name} is not among {names:?}");
    let params = json!({ "name": name, "arguments": { "arg1": "one", "arg2": "two" } });
    let got = client.request("prompts/get", &name, &params.to_string()).await;
    assert_eq!(
        got.result()["messages"][0]["content"]["text"],
        "Prompt with arguments: arg1='one', arg2='two'",
        "{}",
        got.response
    );
}

/// A resource in a prompt has an address that can be read here.
pub(crate) async fn embedding(client: &mut Client, _: &World) {
    let name = client.prompt("test_prompt_with_embedded_resource");
    let arguments = json!({ "resourceUri": "test://static-text" });
    let params = json!({ "name": name, "arguments": arguments }).to_string();
    let got = client.request("prompts/get", &name, &params).await;
    let resource = &got.result()["messages"][0]["content"]["resource"];
    assert_eq!(resource["text"], "Embedded resource content for testing.", "{}", got.response);
    let uri = client.uri("test://static-text");
    assert_eq!(resource["uri"], uri);
    let read = client.read(&uri).await;
    assert_eq!(read.error_code(), None, "{}", read.response);
}

pub(crate) async fn completion(client: &mut Client, _: &World) {
    let prompt = client.prompt("test_prompt_with_arguments");
    let template = client.uri("test://template/{id}/data");
    for (reference, argument) in [
        (json!({ "type": "ref/prompt", "name": prompt }), "arg1"),
        (json!({ "type": "ref/resource", "uri": template }), "id"),
    ] {
        let argument = json!({ "name": argument, "value": "par" });
        let params = json!({ "ref": reference, "argument": argument }).to_string();
        let completed = client.request("completion/complete", "", &params).await;
        let values = completed.result()["completion"]["values"].take();
        assert_eq!(values, json!(["paris", "park", "party"]), "{}", completed.response);
    }
}
