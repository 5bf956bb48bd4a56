//! Calls without questions.

use gatefold_testkit::reference::PNG;
use serde_json::{Value, json};

use crate::cell::Era;
use crate::client::{Client, Line, is_unanswered, method_of};
use crate::world::World;

pub(crate) async fn call(client: &mut Client, _: &World) {
    let called = client.call("test_simple_text", "{}").await;
    let said = client.said(&called);
    let text = said.as_str().unwrap_or_default();
    assert!(text.starts_with("This is a simple text"), "{}", called.response);
}

pub(crate) async fn progress(client: &mut Client, _: &World) {
    let meta = r#","_meta":{"progressToken":"my-token"}"#;
    let called = client.call_with("matrix_progress", r#"{"steps":5}"#, meta).await;
    let mut steps = Vec::new();
    for notice in called.notices.iter().filter(|text| method_of(text).is_some()) {
        let notice: Value = serde_json::from_str(notice).expect("a notice is JSON");
        assert_eq!(notice["method"], "notifications/progress");
        let params = &notice["params"];
        assert_eq!(params["progressToken"], "my-token", "the client's own token");
        assert_eq!(params["total"].as_f64(), Some(5.0));
        steps.push(params["progress"].as_f64());
    }
    assert_eq!(steps, [1.0, 2.0, 3.0, 4.0, 5.0].map(Some), "all of it, in order");
    assert_eq!(client.said(&called), "took 5 steps");

    let called = client.call("matrix_progress", "{}").await;
    let methods: Vec<_> = called.notices.iter().filter_map(|text| method_of(text)).collect();
    assert_eq!(methods, Vec::<String>::new(), "a client without a token gets none");
}

/// The server hears of it, and the client gets no answer any more.
pub(crate) async fn cancel(client: &mut Client, world: &World) {
    let before = {
        let called = client.call("matrix_cancelled", "{}").await;
        client.said(&called).as_u64().expect("it says a number")
    };
    let mut other = client.beside(world).await;
    let (name, params) = client.call_params("matrix_wait", "{}", "");
    match &mut client.line {
        Line::Http(raw) => {
            let (id, waiting) = raw.begin("tools/call", &name, &params);
            let mut waiting = std::pin::pin!(waiting);
            let other = other.as_mut().expect("over HTTP there is a second client");
            let one = json!(1);
            tokio::select! {
                answered = &mut waiting => panic!("it waits, but: {answered:?}"),
                () = other.await_said("matrix_waiting", &one) => {}
            }
            if client.era == Era::Handshake {
                let params = json!({ "requestId": id }).to_string();
                raw.notify("notifications/cancelled", &params).await.expect("it is taken");
                let answered = waiting.await;
                assert!(is_unanswered(&answered), "an answer: {answered:?}");
            }
        }
        Line::Stdio(raw) => {
            let id = raw.start("tools/call", &params).await.expect("it is sent");
            client.await_said("matrix_waiting", &json!(1)).await;
            let params = json!({ "requestId": id }).to_string();
            client.notify("notifications/cancelled", &params).await;
            loop {
                let called = client.call("matrix_cancelled", "{}").await;
                for text in &called.notices {
                    let message: Value = serde_json::from_str(text).expect("it is JSON");
                    assert!(message["id"] != id, "an answer: {text}");
                }
                if client.said(&called) == before + 1 {
                    break;
                }
            }
        }
    }
    client.await_said("matrix_cancelled", &json!(before + 1)).await;
    client.await_said("matrix_waiting", &json!(0)).await;
}

/// Log messages come at the level the client asked for and above.
pub(crate) async fn log(client: &mut Client, _: &World) {
    for (level, heard) in [("warning", 5), ("emergency", 1), ("debug", 8)] {
        let mut meta = String::new();
        match client.era {
            Era::Handshake => {
                let params = json!({ "level": level }).to_string();
                let set = client.request("logging/setLevel", "", &params).await;
                assert_eq!(set.error_code(), None, "{}", set.response);
            }
            Era::Stateless => {
                meta = format!(r#","_meta":{{"io.modelcontextprotocol/logLevel":"{level}"}}"#);
            }
        }
        let called = client.call_with("matrix_log", "{}", &meta).await;
        assert_eq!(logged(&called.notices), heard, "at `{level}`: {:?}", called.notices);
    }
    if client.era == Era::Stateless {
        let called = client.call("matrix_log", "{}").await;
        assert_eq!(logged(&called.notices), 0, "a client that sets no level gets none");
    }
}

fn logged(notices: &[String]) -> usize {
    let methods = notices.iter().filter_map(|text| method_of(text));
    methods.filter(|method| method == "notifications/message").count()
}

/// A client's metadata reaches the server.
pub(crate) async fn meta(client: &mut Client, _: &World) {
    let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let meta = format!(
        r#","_meta":{{"traceparent":"{parent}","tracestate":"a=b","example.org/own":[1,{{"k":null}}]}}"#
    );
    let called = client.call_with("matrix_meta", "{}", &meta).await;
    let meta = client.said(&called);
    assert_eq!(meta["traceparent"], parent, "{meta}");
    assert_eq!(meta["tracestate"], "a=b", "{meta}");
    assert_eq!(meta["example.org/own"], json!([1, { "k": null }]), "{meta}");
}

pub(crate) async fn image(client: &mut Client, _: &World) {
    let called = client.call("test_image_content", "{}").await;
    let result = called.result();
    let blocks = result["content"].as_array().expect("there is content");
    let images: Vec<_> = blocks.iter().filter(|block| block["type"] == "image").collect();
    assert_eq!(images.len(), 1, "{result}");
    assert_eq!((&images[0]["data"], &images[0]["mimeType"]), (&json!(PNG), &json!("image/png")));
}
