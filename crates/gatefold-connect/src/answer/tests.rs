#![expect(clippy::needless_pass_by_value, reason = "a table of values reads better")]

use gatefold_secrecy::SecretValues;
use http::{HeaderName, HeaderValue};
use serde_json::{Value, json};

use super::*;

/// Sat, 21 Nov 2026 10:00:00 GMT.
const NOW: Timestamp = Timestamp::from_millis(1_795_255_200_000);

struct Given<'a> {
    action: Value,
    url: &'a str,
    extract: Option<&'a str>,
    secret: &'a str,
}

const NOTHING: Given<'static> = Given {
    action: Value::Null,
    url: "https://api.example/pets?page=2",
    extract: None,
    secret: "",
};

fn received(status: u16, headers: &[(&str, &str)], body: &[u8]) -> ReceivedAnswer {
    let headers = headers.iter().map(|(name, value)| {
        let name = HeaderName::from_bytes(name.as_bytes()).unwrap();
        (name, HeaderValue::from_bytes(value.as_bytes()).unwrap())
    });
    ReceivedAnswer {
        status: StatusCode::from_u16(status).unwrap(),
        headers: headers.collect(),
        body: Bytes::copy_from_slice(body),
        cut: None,
    }
}

fn payload(given: &Given<'_>, answer: &ReceivedAnswer) -> Payload {
    let mut action = json!({ "method": "GET", "path": "/pets" });
    for (name, value) in given.action.as_object().into_iter().flatten() {
        action[name] = value.clone();
    }
    let action: Action = serde_json::from_value(action).unwrap();
    let mut secrets = SecretValues::default();
    secrets.add(given.secret);
    let secrets = KnownSecrets::new(&secrets);
    let text = answer.extractable(&action, &secrets);
    let job = given.extract.zip(text.as_deref());
    let extracted = job.map(|(program, text)| ExtractedValues::of(program, text));
    answer.payload(&AnswerReading {
        action: &action,
        url: &Url::parse(given.url).unwrap(),
        extracted: extracted.as_ref(),
        credential: "the token of `sources.x.auth` was sent",
        secrets: &secrets,
        now: NOW,
    })
}

fn check(given: Given<'_>, answer: ReceivedAnswer, expected: Value) {
    let payload = payload(&given, &answer);
    let found: Value = serde_json::from_str(payload.json.get()).unwrap();
    assert_eq!(found, expected, "{answer:?}");
    assert_eq!(payload.is_error, expected.get("isError").is_some(), "{answer:?}");
}

const JSON: (&str, &str) = ("content-type", "application/json; charset=utf-8");

fn text(text: &str) -> Value {
    json!({ "content": [{ "type": "text", "text": text }] })
}

#[test]
fn json_stays_the_text_that_it_was() {
    let body = "{ \"id\": 12345678901234567890123, \"x\": 1.50, \"s\": \"\\u00e9\\/\" }\n";
    let payload = payload(&NOTHING, &received(200, &[JSON], body.as_bytes()));
    insta::assert_snapshot!(payload.json.get(), @r#"{"content":[{"type":"text","text":"{ \"id\": 12345678901234567890123, \"x\": 1.50, \"s\": \"\\u00e9\\/\" }\n"}],"structuredContent":{ "id": 12345678901234567890123, "x": 1.50, "s": "\u00e9\/" }}"#);
}

#[test]
fn an_answer_becomes_the_blocks_that_fit_it() {
    let wrapped = || Given { action: json!({ "result": "wrapped" }), ..NOTHING };
    let typed =
        |media_type: &str, body: &[u8]| received(200, &[("content-type", media_type)], body);
    check(NOTHING, received(200, &[JSON], b"[1, 2]"), text("[1, 2]"));
    check(
        wrapped(),
        received(200, &[JSON], b"[1, 2]"),
        json!({
            "content": [{ "type": "text", "text": "[1, 2]" }], "structuredContent": { "result": [1, 2] },
        }),
    );
    check(
        wrapped(),
        typed("text/plain", b"hi"),
        json!({
            "content": [{ "type": "text", "text": "hi" }], "structuredContent": { "result": "hi" },
        }),
    );
    check(NOTHING, received(200, &[JSON], b"{oops"), text("{oops"));
    check(NOTHING, typed("text/csv", "a,\u{e9}".as_bytes()), text("a,é"));
    check(NOTHING, typed("text/csv; charset=ISO-8859-1", b"\xe9\x80"), text("é€"));
    check(NOTHING, typed("text/csv", b"\xe9\x80"), text("é€"));
    check(NOTHING, typed("text/event-stream", b"data: 1\n\n"), text("data: 1\n\n"));
    check(NOTHING, typed("application/x-ndjson", b"{\"a\":1}\n{}\n"), text("{\"a\":1}\n{}\n"));
    check(NOTHING, typed("image/svg+xml", b"<svg/>"), text("<svg/>"));
    check(NOTHING, received(200, &[], b"plain"), text("plain"));
    check(
        NOTHING,
        received(200, &[], b"{}"),
        json!({
            "content": [{ "type": "text", "text": "{}" }], "structuredContent": {},
        }),
    );
    check(
        NOTHING,
        typed("image/png", b"\x89PNG"),
        json!({
            "content": [{ "type": "image", "data": "iVBORw==", "mimeType": "image/png" }],
        }),
    );
    check(
        NOTHING,
        typed("audio/mpeg; x=y", b"ID3"),
        json!({
            "content": [{ "type": "audio", "data": "SUQz", "mimeType": "audio/mpeg" }],
        }),
    );
    check(NOTHING, received(204, &[], b""), text("204 No Content: done"));
    check(
        NOTHING,
        received(201, &[("location", "/pets/7")], b""),
        text("201 Created: done, see /pets/7"),
    );
    let head = Given { action: json!({ "method": "HEAD" }), ..NOTHING };
    check(head, received(200, &[("etag", "x"), ("set-cookie", "s")], b""), text("200 OK\netag: x"));
    check(NOTHING, received(304, &[], b""), text("304 Not Modified: done"));
}

#[test]
fn where_something_is_stands_beside_an_answer_that_does_not_say_it() {
    for (status, name, body, note) in [
        (201, "location", "{\"id\":7}", Some("see /pets/7")),
        (202, "operation-location", "{\"id\":7}", Some("see /pets/7")),
        (201, "location", "{\"url\":\"/pets/7\"}", None),
        (200, "location", "{\"id\":7}", None),
    ] {
        let blocks = [Some(body), note].into_iter().flatten();
        let blocks: Vec<_> = blocks.map(|text| json!({ "type": "text", "text": text })).collect();
        let structured: Value = serde_json::from_str(body).unwrap();
        check(
            NOTHING,
            received(status, &[JSON, (name, "/pets/7")], body.as_bytes()),
            json!({ "content": blocks, "structuredContent": structured }),
        );
    }
}

#[test]
fn a_file_keeps_its_name_and_nothing_of_a_path() {
    for (disposition, url, expected) in [
        ("attachment; filename=\"a b.pdf\"", "https://x/", "a b.pdf"),
        ("attachment; filename=\"x\"; filename*=UTF-8''%e2%82%ac.pdf", "https://x/", "€.pdf"),
        ("attachment; filename=\"../../etc/passwd\"", "https://x/", "passwd"),
        ("attachment; filename=..", "https://x/", "file"),
        ("attachment", "https://x/reports/r%201.pdf?key=1", "r 1.pdf"),
    ] {
        let url = Url::parse(url).unwrap();
        assert_eq!(blocks::filename(Some(disposition), &url), expected, "{disposition}");
    }
    let headers =
        [("content-type", "application/pdf"), ("content-disposition", "inline; filename=é.pdf")];
    check(
        NOTHING,
        received(200, &headers, b"%PDF"),
        json!({ "content": [
            { "type": "text", "text": "é.pdf: application/pdf, 4 bytes" },
            { "type": "resource", "resource": {
                "uri": "attachment:%C3%A9.pdf", "mimeType": "application/pdf", "blob": "JVBERg==",
            }},
        ]}),
    );
}

fn check_extract(program: &str, body: &str, expected: Value) {
    let given = Given { extract: Some(program), ..NOTHING };
    check(given, received(200, &[JSON], body.as_bytes()), expected);
}

#[test]
fn a_program_extracts_from_the_answer() {
    let body = r#"{"data":{"id":12345678901234567890123,"name":"a","x":1.50},"secret":"s"}"#;
    let failed = |text: &str| {
        let text = format!("the API answered 200 OK, but what this action extracts {text}");
        json!({ "content": [{ "type": "text", "text": text }], "isError": true })
    };
    check_extract(
        ".data | {id, x}",
        body,
        json!({
            "content": [{ "type": "text", "text": r#"{"id":12345678901234567890123,"x":1.50}"# }],
            "structuredContent": serde_json::from_str::<Value>(r#"{"id":12345678901234567890123,"x":1.50}"#).unwrap(),
        }),
    );
    check_extract(".data.name", body, text("a"));
    check_extract(".data[] | tostring", body, text("\"12345678901234567890123\"\n\"a\"\n\"1.50\""));
    check_extract("empty", body, text("nothing: what this action extracts is empty"));
    check_extract(
        ".data.name.x",
        body,
        failed("does not fit the answer: the answer has the members `data`, `secret`"),
    );
    check_extract(
        ".a",
        r#"[{"b":1}]"#,
        failed(
            "does not fit the answer: the answer is an array of 1, of which the first has the members `b`",
        ),
    );
    check_extract("repeat(1)", "{}", failed("is too much"));
    check_extract("nan", "{}", failed("is not JSON"));
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    check_extract(
        ".",
        &deep,
        json!({
            "content": [{ "type": "text", "text": "the API answered 200 OK, but it is no JSON that this action can extract from" }],
            "isError": true,
        }),
    );
    check_extract(
        ".",
        &"1".repeat(2000),
        json!({
            "content": [{ "type": "text", "text": "the API answered 200 OK, but it is no JSON that this action can extract from" }],
            "isError": true,
        }),
    );
    let texts = r#"{"list":"[12345678901234567890123]","n":"7"}"#;
    check_extract(".list | fromjson", texts, text("[12345678901234567890123]"));
    check_extract(".n | tonumber + 1", texts, text("8"));
}

#[test]
fn a_failure_an_empty_answer_and_a_file_are_not_extracted_from() {
    let given = || Given { extract: Some(".a"), ..NOTHING };
    check(given(), received(204, &[], b""), text("204 No Content: done"));
    let image =
        json!({ "content": [{ "type": "image", "data": "AA==", "mimeType": "image/png" }] });
    check(given(), received(200, &[("content-type", "image/png")], b"\0"), image);
    let failure = payload(&given(), &received(404, &[JSON], br#"{"message":"no such thing"}"#));
    assert!(failure.json.get().contains("404 Not Found: no such thing"), "{}", failure.json);
}

#[test]
fn arithmetic_keeps_whole_numbers_exact_and_no_others() {
    let body = r#"{"id":9007199254740993,"x":0.1000000000000000055511151231257827}"#;
    check_extract(".id + 1", body, text("9007199254740994"));
    check_extract(".x", body, text("0.1000000000000000055511151231257827"));
    check_extract(".x + 0", body, text("0.1"));
    check_extract(".id / 1", body, text("9007199254740992.0"));
}

fn note(headers: &[(&str, &str)]) -> Option<String> {
    let parameters = json!([
        { "name": "page", "in": "query" },
        { "name": "page[after]", "argument": "after", "in": "query" },
        { "name": "at", "in": "query", "style": "deepObject" },
    ]);
    let given = Given { action: json!({ "parameters": parameters }), ..NOTHING };
    let payload = payload(&given, &received(200, headers, b"x"));
    let result: Value = serde_json::from_str(payload.json.get()).unwrap();
    result["content"].get(1).map(|block| block["text"].as_str().unwrap().to_owned())
}

#[test]
fn one_line_tells_of_the_next_page_and_of_a_low_limit() {
    let next = "<https://api.example/pets?page=1>; rel=prev, <https://api.example/pets?page=3&key=k>; rel=\"next last\"";
    for (headers, expected) in [
        (&[("link", next)][..], Some("next page: call again with page=3")),
        (
            &[("link", "<?page=2&page%5Bafter%5D=a%20b>; rel=next")],
            Some("next page: call again with after=a b"),
        ),
        (&[("link", "</pets?cursor=x>; rel=\"next\"")], Some("there is a next page")),
        (&[("link", "</pets?page=1>; rel=\"prev\"")], None),
        (
            &[("link", "<?page%5Bafter%5D=b>; rel=next")],
            Some("next page: call again with after=b, without page"),
        ),
        (
            &[("link", "<?page=2&at%5Bcursor%5D=b>; rel=next")],
            Some("next page: call again with at[cursor]=b"),
        ),
        (&[("retry-after", "5")], Some("come back in 5 s")),
        (
            &[
                ("retry-after", "99999999999999999999999"),
                ("x-ratelimit-reset", "99999999999999999999999"),
            ],
            None,
        ),
        (&[("x-next-page", "3")], Some("next page: call again with page=3")),
        (&[("x-next-page", "")], None),
        (&[("x-ratelimit-limit", "60"), ("x-ratelimit-remaining", "59")], None),
        (
            &[
                ("x-ratelimit-limit", "60"),
                ("x-ratelimit-remaining", "6"),
                ("x-ratelimit-reset", "1795255260"),
            ],
            Some("rate limit: 6 of 60 calls left, more in 60 s"),
        ),
        (
            &[("ratelimit-remaining", "0"), ("ratelimit-reset", "30")],
            Some("rate limit: no calls left, more in 30 s"),
        ),
        (
            &[("ratelimit", "limit=100, remaining=5, reset=30")],
            Some("rate limit: 5 of 100 calls left, more in 30 s"),
        ),
        (
            &[("ratelimit-policy", "\"p\";q=100;w=60"), ("ratelimit", "\"p\";r=1;t=9")],
            Some("rate limit: 1 of 100 calls left, more in 9 s"),
        ),
        (&[("ratelimit", "\"p\";r=50;t=9"), ("ratelimit-policy", "\"p\";q=100")], None),
    ] {
        assert_eq!(note(headers).as_deref(), expected, "{headers:?}");
    }
}

fn failure(status: u16, headers: &[(&str, &str)], body: &str) -> String {
    let failures = json!({ "404": "No such pet.", "4XX": "Your mistake", "409": "Conflict" });
    let given = Given { action: json!({ "failures": failures }), ..NOTHING };
    let payload = payload(&given, &received(status, headers, body.as_bytes()));
    assert!(payload.is_error, "{status}");
    let result: Value = serde_json::from_str(payload.json.get()).unwrap();
    result["content"][0]["text"].as_str().unwrap().to_owned()
}

#[test]
fn a_failure_says_what_the_api_said() {
    for (body, expected) in [
        (json!({ "type": "x", "title": "Bad", "detail": "no pet 7" }), "no pet 7"),
        (json!({ "title": "Bad" }), "Bad"),
        (json!({ "message": "m", "documentation_url": "u" }), "m"),
        (json!({ "error": { "code": 3, "message": "m", "status": "S" } }), "m"),
        (json!({ "error": "invalid_grant", "error_description": "expired" }), "expired"),
        (json!({ "errors": [{ "message": "a" }, { "message": "b" }] }), "a; b"),
        (
            json!({ "message": "Validation Failed", "errors": [{ "field": "name", "message": "is taken" }] }),
            "Validation Failed; name: is taken",
        ),
        (
            json!({ "errors": { "email": ["is taken", "is long"] } }),
            "email: is taken; email: is long",
        ),
        (
            json!({ "detail": [{ "loc": ["body", "age"], "msg": "not an integer", "type": "t" }] }),
            "body.age: not an integer",
        ),
        (
            json!({ "errors": [{ "title": "T", "detail": "D", "source": { "pointer": "/data/x" } }] }),
            "/data/x: D",
        ),
        (json!("just a text"), "just a text"),
    ] {
        let said = failure(500, &[JSON], &body.to_string());
        let first = said.lines().next().unwrap();
        assert_eq!(
            first,
            format!("the API answered 500 Internal Server Error: {expected}"),
            "{body}"
        );
    }
}

#[test]
fn a_failure_says_how_to_mend_the_call() {
    let html = [("content-type", "text/html")];
    for (status, headers, body, expected) in [
        (
            404,
            &[JSON][..],
            "{\"message\":\"gone\",\"id\":7}",
            "the API answered 404 Not Found: gone\nits description says of this status: No such pet.\n{\"message\":\"gone\",\"id\":7}",
        ),
        (
            422,
            &[],
            "",
            "the API answered 422 Unprocessable Entity\nits description says of this status: Your mistake",
        ),
        (409, &[], "", "the API answered 409 Conflict"),
        (
            503,
            &html,
            "<!DOCTYPE html><html><head><TITLE>Bad\n gate</TITLE></head><body>x</body>",
            "the API answered 503 Service Unavailable: Bad gate",
        ),
        (502, &html, "<html><body><p>x</p></body></html>", "the API answered 502 Bad Gateway"),
        (
            500,
            &[("content-type", "application/xml")],
            "<e><m>no</m></e>",
            "the API answered 500 Internal Server Error: no",
        ),
        (
            503,
            &[("retry-after", "Sat, 21 Nov 2026 10:02:00 GMT")],
            "",
            "the API answered 503 Service Unavailable\ncome back in 120 s",
        ),
        (
            302,
            &[("location", "/login")],
            "",
            "the API answered 302 Found\nit is to be found at /login",
        ),
        (599, &[], "what", "the API answered 599: what"),
        (500, &[JSON], "{\"code\":7}", "the API answered 500 Internal Server Error\n{\"code\":7}"),
    ] {
        assert_eq!(failure(status, headers, body), expected);
    }
    let class = "\nits description says of this status: Your mistake\n";
    for (status, headers, expected) in [
        (401, &[][..], "the token of `sources.x.auth` was sent"),
        (403, &[], "the token of `sources.x.auth` was sent"),
        (
            403,
            &[("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", "1795255230")],
            "come back in 30 s",
        ),
        (429, &[("retry-after", "7")], "too many calls: come back in 7 s"),
        (429, &[], "too many calls: wait before the next one"),
    ] {
        let said = failure(status, headers, "");
        assert_eq!(said.split_once(class).map(|(_, advice)| advice), Some(expected), "{said}");
    }
}

#[test]
fn a_failure_is_short_whatever_the_api_sends() {
    let body = json!({ "message": "é".repeat(100_000), "rest": "x".repeat(2000) }).to_string();
    assert!(failure(404, &[JSON], &body).len() < 2048 + 8);
    assert!(failure(500, &[], &"<".repeat(100_000)).len() < 2048 + 8);
    let deep = format!("{}1{}", "{\"error\":".repeat(100), "}".repeat(100));
    assert!(failure(500, &[JSON], &deep).len() < 4096);
    let errors: Vec<_> = (0..10_000).map(|n| format!("e{n}")).collect();
    assert!(failure(500, &[JSON], &json!({ "errors": errors }).to_string()).ends_with("e7"));
}

#[test]
fn an_api_that_repeats_credentials_leaks_none() {
    const SECRET: &str = "s3cr3t/Value+0123456789";
    let base64 = "czNjcjN0L1ZhbHVlKzAxMjM0NTY3ODk=";
    let escaped = "{\"message\":\"\\u00733cr3t\\/Value+0123456789\",\"next\":1}";
    let plain = format!("no: {SECRET}");
    for status in [200, 401, 500] {
        for (headers, body) in [
            (&[JSON][..], escaped),
            (&[("content-type", "text/plain")], plain.as_str()),
            (&[("content-type", "text/html")], &format!("<html><title>{plain}</title>")),
            (&[("content-type", "image/png")], plain.as_str()),
            (
                &[
                    ("content-type", "application/pdf"),
                    (
                        "content-disposition",
                        &format!("inline; filename=\"{}\"", "s3cr3t%2FValue%2B0123456789"),
                    ),
                ],
                "x",
            ),
            (&[("location", SECRET)], ""),
            (&[("link", "<?page=s3cr3t%2FValue%2B0123456789>; rel=next")], "x"),
        ] {
            let given = Given {
                secret: SECRET,
                action: json!({ "parameters": [{ "name": "page", "in": "query" }] }),
                ..NOTHING
            };
            let payload = payload(&given, &received(status, headers, body.as_bytes()));
            let result = payload.json.get();
            let leaks =
                [SECRET, "s3cr3t", &base64[4..24]].iter().any(|secret| result.contains(secret));
            assert!(!leaks, "{status} {headers:?}: {result}");
        }
    }
}

#[test]
fn every_answer_becomes_a_result_without_the_secret() {
    use proptest::prelude::*;
    const SECRET: &str = "t0ken\"\\é/1";
    let written = serde_json::to_string(SECRET).unwrap();
    let piece = prop_oneof![
        4 => proptest::collection::vec(any::<u8>(), 0..8),
        4 => "[\\[\\]{}\",:0-9a-z<>/ \\\\]{0,8}".prop_map(String::into_bytes),
        1 => Just(SECRET.as_bytes().to_vec()),
        1 => Just(written.into_bytes()),
        1 => Just(b"{\"error\":".to_vec()),
        1 => Just(b"<title>".to_vec()),
    ];
    let body = proptest::collection::vec(piece, 0..6).prop_map(|pieces| pieces.concat());
    let header = proptest::collection::vec(32_u8..=255, 0..20);
    let types = proptest::sample::select(vec![
        "application/json",
        "text/html",
        "text/plain; charset=latin1",
        "application/xml",
        "image/png",
        "a/b",
        "",
    ]);
    let status = proptest::sample::select(vec![200_u16, 204, 302, 400, 401, 403, 404, 429, 503]);
    let names = proptest::sample::select(vec![
        "link",
        "retry-after",
        "location",
        "content-disposition",
        "x-next-page",
        "ratelimit",
        "content-type",
    ]);
    let config =
        ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() };
    proptest!(config, |(status in status, types in types, name in names, value in header, body in body, wrapped: bool)| {
        let mut answer = received(status, &[("content-type", types)], &body);
        let value: Vec<u8> = value.into_iter().filter(|byte| *byte != 127).collect();
        answer.headers.append(name, HeaderValue::from_bytes(&value).unwrap());
        let result = if wrapped { "wrapped" } else { "plain" };
        let given = Given { secret: SECRET, action: json!({ "result": result }), ..NOTHING };
        let payload = payload(&given, &answer);
        prop_assert!(serde_json::from_str::<Value>(payload.json.get()).is_ok());
        prop_assert!(!payload.json.get().contains("t0ken"), "{}", payload.json);
    });
}
