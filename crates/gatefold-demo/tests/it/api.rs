//! The shop as an HTTP API.

use gatefold_demo::{DemoApi, apis};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
};

/// The shop, served on a free port.
struct Shop {
    port: u16,
    _scratch: TempDir,
}

impl Shop {
    async fn open() -> Self {
        let scratch = tempfile::tempdir().unwrap();
        let api = DemoApi::open("shop", scratch.path()).await.unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        tokio::spawn(api.serve(listener, std::future::pending()));
        Self { port, _scratch: scratch }
    }

    /// Sends one request and returns status and body. A body is sent as JSON.
    async fn ask(&self, request: &str, body: Option<Value>) -> (u16, Value) {
        let body = body.map(|body| body.to_string());
        let kind = body.as_ref().map(|_| "Content-Type: application/json\r\n");
        self.send(request, kind.unwrap_or_default(), &body.unwrap_or_default()).await
    }

    async fn send(&self, request: &str, headers: &str, body: &str) -> (u16, Value) {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).await.unwrap();
        let length = body.len();
        let request = format!(
            "{request} HTTP/1.1\r\nHost: shop\r\nConnection: close\r\nContent-Length: {length}\r\n{headers}\r\n{body}"
        );
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, serde_json::from_str(body).unwrap_or_default())
    }
}

#[tokio::test]
async fn arguments_arrive_from_path_query_and_body() {
    let shop = Shop::open().await;
    let (status, found) =
        shop.ask("GET /products?query=seeds%20black&in_stock=true&limit=1", None).await;
    assert_eq!((status, &found["products"][0]["sku"]), (200, &json!("tomato-cherry")));
    let (status, orders) = shop.ask("GET /orders?status=sent&status=placed", None).await;
    assert_eq!((status, orders["orders"].as_array().unwrap().len()), (200, 2));
    let order = json!({
        "customer": "Noor",
        "address": "1 Quay",
        "items": [{ "sku": "tea-mint", "quantity": 2 }],
    });
    let (status, placed) = shop.ask("POST /orders", Some(order)).await;
    assert_eq!((status, &placed["id"], &placed["total"]), (201, &json!(4), &json!(14.3)));
    let (_, changed) = shop.ask("PATCH /orders/4", Some(json!({ "note": "Ring." }))).await;
    assert_eq!((&changed["note"], &changed["address"]), (&json!("Ring."), &json!("1 Quay")));
    let (_, cancelled) = shop.ask("DELETE /orders/4?reason=too+late", None).await;
    assert_eq!(cancelled["reason"], "too late");
}

#[tokio::test]
async fn failures_have_a_status_and_say_what_helps() {
    let shop = Shop::open().await;
    let cases = [
        ("GET /orders/9", None, 404, "there is no order 9; list_orders gives the ids"),
        ("GET /orders/x", None, 422, "`order_id`: expected integer, found \"x\""),
        ("GET /products?size=3", None, 422, "unknown field `size`"),
        ("POST /orders", Some(json!({ "customer": "Noor" })), 422, "missing field `address`"),
        ("POST /orders", Some(json!([])), 400, "the body is no JSON object"),
        ("DELETE /orders/1", None, 409, "only an order that is `placed`"),
    ];
    for (request, body, expected, part) in cases {
        let (status, problem) = shop.ask(request, body).await;
        assert_eq!((status, &problem["status"]), (expected, &json!(expected)), "{request}");
        let detail = problem["detail"].as_str().unwrap();
        assert!(detail.contains(part), "{request}: {detail}");
    }
    let (status, _) = shop.send("POST /orders", "Content-Type: text/plain\r\n", "{}").await;
    assert_eq!(status, 415, "what a page in a browser may send across origins");
}

#[tokio::test]
async fn the_description_says_where_each_argument_goes() {
    let shop = Shop::open().await;
    let (_, description) = shop.ask("GET /openapi.json", None).await;
    assert_eq!(description["openapi"], "3.1.0");
    let operations = description["paths"].as_object().unwrap().values();
    let operations: usize = operations.map(|path| path.as_object().unwrap().len()).sum();
    assert_eq!(operations, 8);
    let change = &description["paths"]["/orders/{order_id}"]["patch"];
    assert_eq!(change["operationId"], "change_order");
    assert_eq!(change["parameters"][0]["in"], "path");
    assert_eq!(change["parameters"][0]["required"], true);
    let body = &change["requestBody"]["content"]["application/json"]["schema"];
    let members: Vec<_> =
        body["properties"].as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!((members, &body["required"]), (vec!["address", "note"], &json!([])));
    let cancel = &description["paths"]["/orders/{order_id}"]["delete"];
    assert_eq!(
        (&cancel["parameters"][1]["in"], &cancel["requestBody"]),
        (&json!("query"), &Value::Null)
    );
}

#[tokio::test]
async fn only_an_api_is_opened_as_one() {
    let scratch = tempfile::tempdir().unwrap();
    assert!(DemoApi::open("issues", scratch.path()).await.is_err());
    assert_eq!(apis().iter().map(|api| api.name).collect::<Vec<_>>(), ["shop"]);
}
