#![expect(clippy::needless_pass_by_value, reason = "a table of values reads better")]

use serde_json::{Map, Value, json};
use url::Url;

use super::*;

const BASE: &str = "https://api.example";

fn request(base: &str, action: Value, arguments: &Value) -> Result<OutgoingRequest, RequestError> {
    let action: Action = serde_json::from_value(action).unwrap();
    let arguments: Map<String, Value> = serde_json::from_value(arguments.clone()).unwrap();
    OutgoingRequest::new(&action, &Url::parse(base).unwrap(), &arguments)
}

/// What follows the host, or the fault.
fn target(base: &str, action: Value, arguments: &Value) -> String {
    match request(base, action, arguments) {
        Ok(request) => {
            let url = request.url.as_str();
            url.strip_prefix(BASE).unwrap_or(url).to_owned()
        }
        Err(error) => error.to_string(),
    }
}

fn check_path(parameter: Value, value: Value, expected: &str) {
    let action = json!({ "method": "GET", "path": "/a/{v}/b", "parameters": [parameter] });
    assert_eq!(target(BASE, action, &json!({ "v": value })), expected, "{parameter} {value}");
}

fn check_query(parameter: Value, value: Value, expected: &str) {
    let action = json!({ "method": "GET", "path": "/", "parameters": [parameter] });
    let target = target(BASE, action, &json!({ "v": value }));
    assert_eq!(target.strip_prefix("/").unwrap_or(&target), expected, "{parameter} {value}");
}

fn spec(place: &str, style: &str, explode: bool) -> Value {
    json!({ "name": "v", "in": place, "style": style, "explode": explode })
}

#[test]
fn a_path_parameter_is_written_in_its_style() {
    let list = || json!(["blue", "black", "brown"]);
    let object = || json!({ "R": 100, "G": 200, "B": 150 });
    // The table of OpenAPI 3.2, "Style Examples".
    for (style, explode, value, expected) in [
        ("matrix", false, json!(""), "/a/;v/b"),
        ("matrix", false, json!("blue"), "/a/;v=blue/b"),
        ("matrix", false, list(), "/a/;v=blue,black,brown/b"),
        ("matrix", false, object(), "/a/;v=R,100,G,200,B,150/b"),
        ("matrix", true, list(), "/a/;v=blue;v=black;v=brown/b"),
        ("matrix", true, object(), "/a/;R=100;G=200;B=150/b"),
        ("label", false, json!("blue"), "/a/.blue/b"),
        ("label", false, list(), "/a/.blue,black,brown/b"),
        ("label", false, object(), "/a/.R,100,G,200,B,150/b"),
        ("label", true, list(), "/a/.blue.black.brown/b"),
        ("label", true, object(), "/a/.R=100.G=200.B=150/b"),
        ("label", true, json!(["1.5", "2"]), "/a/.1%2E5.2/b"),
        ("simple", false, json!("blue"), "/a/blue/b"),
        ("simple", false, list(), "/a/blue,black,brown/b"),
        ("simple", false, object(), "/a/R,100,G,200,B,150/b"),
        ("simple", true, object(), "/a/R=100,G=200,B=150/b"),
        ("simple", true, json!({ "a,b": "c=d" }), "/a/a%2Cb=c%3Dd/b"),
        ("spaceDelimited", false, list(), "/a/blue%20black%20brown/b"),
        ("pipeDelimited", false, list(), "/a/blue%7Cblack%7Cbrown/b"),
        ("tabDelimited", false, list(), "/a/blue%09black%09brown/b"),
    ] {
        check_path(spec("path", style, explode), value, expected);
    }
}

#[test]
fn a_path_argument_never_leads_to_another_path() {
    let simple = || json!({ "name": "v", "in": "path" });
    for (value, expected) in [
        (json!("a/b"), "/a/a%2Fb/b"),
        (json!("a?b#c"), "/a/a%3Fb%23c/b"),
        (json!("a\\b"), "/a/a%5Cb/b"),
        (json!("..."), "/a/.../b"),
        (json!("\r\n\t"), "/a/%0D%0A%09/b"),
        (json!("日本"), "/a/%E6%97%A5%E6%9C%AC/b"),
        (json!(18_446_744_073_709_551_616_i128), "/a/18446744073709551616/b"),
        (json!(false), "/a/false/b"),
        (json!([[1, 2], { "a": null }]), "/a/%5B1%2C2%5D,%7B%22a%22%3Anull%7D/b"),
        (json!(".."), "`v` would lead to another path: leave out `.` and `..`"),
        (json!("."), "`v` would lead to another path: leave out `.` and `..`"),
        (json!(""), "`v` is empty, and would lead to another path: give a value"),
        (json!([]), "`v` is empty, and would lead to another path: give a value"),
        (json!(null), "`v` is missing, and the path `/a/{v}/b` needs it"),
    ] {
        check_path(simple(), value, expected);
    }
    let reserved = || json!({ "name": "v", "in": "path", "allow_reserved": true });
    for (value, expected) in [
        (json!("a:b@c/d?e#f"), "/a/a:b@c%2Fd%3Fe%23f/b"),
        (json!("%2e%2E"), "`v` would lead to another path: leave out `.` and `..`"),
        (json!("100%"), "/a/100%25/b"),
    ] {
        check_path(reserved(), value, expected);
    }
    check_path(
        spec("path", "label", false),
        json!("."),
        "`v` would lead to another path: leave out `.` and `..`",
    );
}

#[test]
fn two_arguments_cannot_make_dots_together() {
    let action = || {
        let parameters = json!([{ "name": "v", "in": "path" }, { "name": "w", "in": "path" }]);
        json!({ "method": "GET", "path": "/x/{v}{w}", "parameters": parameters })
    };
    let refused = "`w` would lead to another path: leave out `.` and `..`";
    assert_eq!(target(BASE, action(), &json!({ "v": ".", "w": "." })), refused);
    assert_eq!(target(BASE, action(), &json!({ "v": ".", "w": "json" })), "/x/.json");
}

#[test]
fn a_path_default_is_sent_without_an_argument() {
    let parameters = json!([{ "name": "v", "in": "path", "default": "me" }]);
    let action = json!({ "method": "GET", "path": "/users/{v}", "parameters": parameters });
    assert_eq!(target(BASE, action.clone(), &json!({})), "/users/me");
    assert_eq!(target(BASE, action, &json!({ "v": 7 })), "/users/7");
}

#[test]
fn a_query_parameter_is_written_in_its_style() {
    let list = || json!(["blue", "black"]);
    let object = || json!({ "R": 100, "G": 200 });
    for (style, explode, value, expected) in [
        ("form", false, json!(""), "?v="),
        ("form", true, json!("a b&c=d+e"), "?v=a%20b%26c%3Dd%2Be"),
        ("form", false, list(), "?v=blue,black"),
        ("form", false, object(), "?v=R,100,G,200"),
        ("form", true, list(), "?v=blue&v=black"),
        ("form", true, object(), "?R=100&G=200"),
        ("form", false, json!(["a,b", "c"]), "?v=a%2Cb,c"),
        ("form", true, json!([null, 1.50]), "?v=1.5"),
        ("form", true, json!([]), ""),
        ("form", true, json!({}), ""),
        ("form", true, json!({ "a": null }), ""),
        ("spaceDelimited", false, list(), "?v=blue%20black"),
        ("pipeDelimited", false, list(), "?v=blue%7Cblack"),
        ("tabDelimited", false, list(), "?v=blue%09black"),
        (
            "pipeDelimited",
            false,
            json!(["a|b"]),
            "`v` has an item with `|`, which this API reads as the end of the item",
        ),
        (
            "spaceDelimited",
            false,
            json!(["a b"]),
            "`v` has an item with a space, which this API reads as the end of the item",
        ),
        ("spaceDelimited", true, list(), "?v=blue&v=black"),
        ("deepObject", true, object(), "?v%5BR%5D=100&v%5BG%5D=200"),
        (
            "deepObject",
            true,
            json!({ "a": { "b": [1, { "c": 2 }] } }),
            "?v%5Ba%5D%5Bb%5D%5B0%5D=1&v%5Ba%5D%5Bb%5D%5B1%5D%5Bc%5D=2",
        ),
        ("deepObject", true, json!(7), "?v=7"),
        ("deepObject", true, json!({ "a]": null, "b": 1 }), "?v%5Bb%5D=1"),
        (
            "deepObject",
            true,
            json!({ "a]": 1 }),
            "`v` has a member with a bracket, which this API reads as its end",
        ),
    ] {
        check_query(spec("query", style, explode), value, expected);
    }
    let reserved = || json!({ "name": "v", "in": "query", "allow_reserved": true });
    check_query(reserved(), json!("a/b?c=[d]&e#f+g%20%"), "?v=a/b?c=[d]%26e%23f%2Bg%20%25");
    let content = |media: &str| json!({ "name": "v", "in": "query", "content": media });
    check_query(content("application/json"), json!({ "a": [1] }), "?v=%7B%22a%22%3A%5B1%5D%7D");
    check_query(content("text/plain"), json!("a b"), "?v=a%20b");
    let whole = |media: &str| json!({ "name": "v", "in": "querystring", "content": media });
    check_query(whole("application/json"), json!({ "a": 1 }), "?%7B%22a%22%3A1%7D");
    check_query(
        whole("application/x-www-form-urlencoded"),
        json!({ "a b": [1, 2] }),
        "?a%20b=1&a%20b=2",
    );
    check_query(
        json!({ "name": "filter[x]", "in": "query", "argument": "v" }),
        json!(1),
        "?filter%5Bx%5D=1",
    );
}

#[test]
fn what_the_server_and_the_path_say_is_kept() {
    let action = |path: &str| {
        let parameters = json!([{ "name": "id", "in": "path" }, { "name": "q", "in": "query" }]);
        json!({ "method": "GET", "path": path, "parameters": parameters })
    };
    let arguments = json!({ "id": "x y", "q": 1 });
    for (base, path, expected) in [
        ("https://api.example", "/a/{id}", "/a/x%20y?q=1"),
        ("https://api.example/v1/", "/a/{id}/", "/v1/a/x%20y/?q=1"),
        ("https://api.example/v1?key=k", "/{id}", "/v1/x%20y?key=k&q=1"),
        ("https://api.example", "/a?op={id}&z=%20#other", "/a?op=x%20y&z=%20&q=1"),
        ("https://api.example", "/a/{other}/{id}.json", "/a/%7Bother%7D/x%20y.json?q=1"),
        ("https://api.example", "", "/?q=1"),
        ("https://api.example", "/ü:batch", "/%C3%BC:batch?q=1"),
        (
            "https://api.example/v1",
            "/../x",
            "`GET /../x` cannot be sent: its path has a segment `.` or `..`",
        ),
    ] {
        assert_eq!(target(base, action(path), &arguments), expected, "{base} {path}");
    }
    let long = target(BASE, action("/"), &json!({ "q": "x".repeat(MAX_URL_BYTES) }));
    assert_eq!(long, "the arguments make a URL of 16387 bytes, and at most 16384 can be sent");
}

fn check_field(parameter: Value, value: Value, expected: &str) {
    let action = json!({ "method": "GET", "path": "/", "parameters": [parameter] });
    let shown = match request(BASE, action, &json!({ "v": value })) {
        Ok(request) => {
            let own = request.headers.iter().filter(|(name, _)| *name != header::ACCEPT);
            let own = own.map(|(name, value)| format!("{name}: {}", value.to_str().unwrap()));
            own.collect::<Vec<_>>().join("\n")
        }
        Err(error) => error.to_string(),
    };
    assert_eq!(shown, expected, "{parameter} {value}");
}

#[test]
fn headers_and_cookies_carry_what_they_can_and_nothing_else() {
    let header = |explode: bool| json!({ "name": "X-V", "argument": "v", "in": "header", "explode": explode });
    for (explode, value, expected) in [
        (false, json!("a b, c%"), "x-v: a b, c%"),
        (false, json!(["a", 1]), "x-v: a,1"),
        (false, json!({ "a": 1, "b": true }), "x-v: a,1,b,true"),
        (true, json!({ "a": 1, "b": true }), "x-v: a=1,b=true"),
        (false, json!(""), "x-v: "),
        (false, json!(null), ""),
        (false, json!([null]), ""),
        (
            false,
            json!(["a,b"]),
            "`v` has an item with `,`, which this API reads as the end of the item",
        ),
        (
            false,
            json!("a\r\nX-Admin: 1"),
            "`v` goes into a header, which cannot carry a line break",
        ),
        (false, json!("é"), "`v` goes into a header, which cannot carry `é`: only ASCII"),
        (false, json!(" a"), "`v` goes into a header, which cannot begin or end with a space"),
    ] {
        check_field(header(explode), value, expected);
    }
    let json_header = json!({ "name": "v", "in": "header", "content": "application/json" });
    check_field(json_header, json!({ "é": "𝄞\n" }), r#"v: {"\u00e9":"\ud834\udd1e\n"}"#);
    let cookie = |style: &str, explode: bool| spec("cookie", style, explode);
    for (style, explode, value, expected) in [
        ("form", true, json!("a b;c"), "cookie: v=a%20b%3Bc"),
        ("form", false, json!(["a", "b"]), "cookie: v=a,b"),
        ("form", true, json!({ "a": 1, "b": 2 }), "cookie: a=1; b=2"),
        ("cookie", true, json!({ "a=": 1 }), "`v` goes into a cookie, which cannot carry `=`"),
        ("cookie", true, json!(["a+", "b"]), "cookie: v=a+; v=b"),
        ("cookie", true, json!("a;b=c"), "`v` goes into a cookie, which cannot carry `;`"),
    ] {
        check_field(cookie(style, explode), value, expected);
    }
    for name in ["Host", "content-length", "Transfer-Encoding", "Connection"] {
        let parameter = json!({ "name": name, "argument": "v", "in": "header" });
        let refused = "`v` belongs to the connection and cannot be set: leave it out";
        check_field(parameter, json!("x"), refused);
    }
}

#[test]
fn the_preferred_media_type_is_asked_for_first() {
    for (accept, expected) in [
        (json!([]), "application/json, */*;q=0.1"),
        (json!(["text/csv"]), "text/csv, */*;q=0.1"),
        (json!(["a/b", "c/d", "e/f"]), "a/b, c/d;q=0.9, e/f;q=0.8, */*;q=0.1"),
        (json!(["a/b\n"]), "*/*"),
    ] {
        let action = json!({ "method": "GET", "path": "/", "accept": accept });
        let request = request(BASE, action, &json!({})).unwrap();
        assert_eq!(request.headers[header::ACCEPT], expected);
    }
}

/// The content type and the body, with a boundary as `BOUNDARY`; or the fault.
fn body(body: &Value, arguments: &Value) -> String {
    let action = json!({ "method": "POST", "path": "/", "body": body });
    let request = match request(BASE, action, arguments) {
        Ok(request) => request,
        Err(error) => return error.to_string(),
    };
    let Some(bytes) = request.body else { return "no body".to_owned() };
    let content_type = request.headers[header::CONTENT_TYPE].to_str().unwrap();
    let text = String::from_utf8_lossy(&bytes);
    match content_type.split_once("boundary=") {
        Some((before, boundary)) => {
            format!("{before}boundary=BOUNDARY\n{}", text.replace(boundary, "BOUNDARY"))
        }
        None => format!("{content_type}\n{text}"),
    }
}

fn check_body(spec: &Value, arguments: Value, expected: &str) {
    assert_eq!(body(spec, &arguments).replace("\r\n", "\n"), expected, "{spec} {arguments}");
}

#[test]
fn a_body_is_written_in_its_media_type() {
    let whole = |media_type: &str| json!({ "arguments": { "whole": "b" }, "media": [{ "type": media_type }] });
    for (media_type, value, expected) in [
        ("application/json", json!({ "a": [1, null] }), "application/json\n{\"a\":[1,null]}"),
        ("application/json", json!("text"), "application/json\n\"text\""),
        ("application/json", json!(null), "application/json\nnull"),
        ("application/merge-patch+json", json!({}), "application/merge-patch+json\n{}"),
        ("application/x-ndjson", json!([{ "a": 1 }, 2]), "application/x-ndjson\n{\"a\":1}\n2\n"),
        ("application/x-ndjson", json!("1\n2\n"), "application/x-ndjson\n1\n2\n"),
        ("text/plain", json!("é"), "text/plain\né"),
        ("text/plain", json!(12), "text/plain\n12"),
        ("application/xml", json!("<a/>"), "application/xml\n<a/>"),
        (
            "application/xml",
            json!({ "a": 1 }),
            "`b` has to be a text, written as `application/xml`",
        ),
        ("image/png", json!({ "base64": "AAEC" }), "image/png\n\u{0}\u{1}\u{2}"),
        ("image/*", json!({ "media_type": "image/gif", "base64": "R0lG" }), "image/gif\nGIF"),
        ("*/*", json!({ "a": 1 }), "application/json\n{\"a\":1}"),
        ("multipart/form-data", json!("x"), "`b` has to be an object"),
    ] {
        check_body(&whole(media_type), json!({ "b": value }), expected);
    }
    check_body(&whole("application/json"), json!({}), "no body");
    check_body(&whole("text/plain"), json!({ "b": null }), "no body");
    let raw: Value =
        serde_json::from_str(r#"{"b":{"id":12345678901234567890123,"x":1.50,"y":1E400}}"#).unwrap();
    check_body(
        &whole("application/json"),
        raw,
        "application/json\n{\"id\":12345678901234567890123,\"x\":1.50,\"y\":1e+400}",
    );
}

#[test]
fn a_file_is_sent_as_its_bytes() {
    let file = json!({ "arguments": { "whole": "b" }, "media": [{ "type": "application/octet-stream", "files": ["*"] }] });
    for (value, expected) in [
        (json!("aGk="), "application/octet-stream\nhi"),
        (json!("aG\nk"), "application/octet-stream\nhi"),
        (json!("_-8"), "application/octet-stream\n\u{fffd}\u{fffd}"),
        (
            json!({ "filename": "a.txt", "media_type": "text/plain", "base64": "aGk=" }),
            "text/plain\nhi",
        ),
        (
            json!("h i!"),
            "`b` is not base64, which is what a file's content has to be: Invalid symbol 33, offset 2.",
        ),
        (
            json!({ "filename": "a" }),
            "`b` is no file: give `{\"filename\": ..., \"media_type\": ..., \"base64\": ...}`",
        ),
        (
            json!({ "media_type": "a/b\r\nX: y", "base64": "" }),
            "`b` has a `media_type` that is none, like `image/png`",
        ),
    ] {
        check_body(&file, json!({ "b": value }), expected);
    }
}

#[test]
fn the_members_of_a_body_are_arguments() {
    let members = |required: bool| {
        json!({
            "arguments": { "members": { "names": ["a", "b"], "required": required } },
            "media": [{ "type": "application/json" }],
        })
    };
    check_body(&members(false), json!({ "b": 2, "c": 3 }), "application/json\n{\"b\":2}");
    check_body(&members(false), json!({ "a": null }), "application/json\n{\"a\":null}");
    check_body(&members(false), json!({}), "no body");
    check_body(&members(true), json!({}), "application/json\n{}");
}

#[test]
fn an_argument_chooses_the_media_type() {
    let spec = json!({
        "arguments": { "whole": "b" },
        "choice": "content_type",
        "media": [
            { "type": "application/json" }, { "type": "text/csv" }, { "type": "image/png", "files": ["*"] },
        ],
    });
    check_body(&spec, json!({ "b": { "base64": "aGk=" } }), "image/png\nhi");
    check_body(&spec, json!({ "b": "x" }), "application/json\n\"x\"");
    check_body(&spec, json!({ "b": "x", "content_type": "text/csv" }), "text/csv\nx");
    let refused = "`content_type` has to be one of `application/json`, `text/csv`, `image/png`";
    check_body(&spec, json!({ "b": "x", "content_type": "a/b" }), refused);
}

#[test]
fn a_form_is_written_as_its_encoding_says() {
    let spec = json!({
        "arguments": { "whole": "b" },
        "media": [{ "type": "application/x-www-form-urlencoded", "encoding": {
            "csv": { "explode": false },
            "deep": { "style": "deepObject" },
            "json": { "content_type": "application/json" },
        }}],
    });
    for (value, expected) in [
        (json!({ "a": "x y&=+", "n": null, "t": true }), "a=x%20y%26%3D%2B&t=true"),
        (json!({ "list": [1, 2], "o": { "x": 1 } }), "list=1&list=2&o=%7B%22x%22%3A1%7D"),
        (json!({ "csv": ["a", "b,c"] }), "csv=a,b%2Cc"),
        (json!({ "deep": { "x": [1] } }), "deep%5Bx%5D%5B0%5D=1"),
        (json!({ "json": [1, 2] }), "json=%5B1%2C2%5D"),
    ] {
        check_body(
            &spec,
            json!({ "b": value }),
            &format!("application/x-www-form-urlencoded\n{expected}"),
        );
    }
}

#[test]
fn a_multipart_body_has_a_part_for_each_member() {
    let spec = json!({
        "arguments": { "whole": "b" },
        "media": [{ "type": "multipart/form-data", "files": ["f"], "encoding": {
            "meta": { "content_type": "application/vnd.x+json" },
            "deep": { "style": "deepObject" },
        }}],
    });
    let arguments = json!({ "b": {
        "text": "a\r\nb", "n": 1, "gone": null, "list": [1, "2"], "meta": [1], "o": { "x": "é" },
        "deep": { "x": 1 },
        "f": [{ "filename": "C:\\a\"b\r\n.txt", "media_type": "text/plain", "base64": "aGk=" }, "AAA="],
    }});
    insta::assert_snapshot!(body(&spec, &arguments).replace("\r\n", "\n").replace('\0', "\\0"), @r#"
    multipart/form-data; boundary=BOUNDARY
    --BOUNDARY
    Content-Disposition: form-data; name="text"

    a
    b
    --BOUNDARY
    Content-Disposition: form-data; name="n"

    1
    --BOUNDARY
    Content-Disposition: form-data; name="list"

    1
    --BOUNDARY
    Content-Disposition: form-data; name="list"

    2
    --BOUNDARY
    Content-Disposition: form-data; name="meta"
    Content-Type: application/vnd.x+json

    [1]
    --BOUNDARY
    Content-Disposition: form-data; name="o"
    Content-Type: application/json

    {"x":"é"}
    --BOUNDARY
    Content-Disposition: form-data; name="deep[x]"

    1
    --BOUNDARY
    Content-Disposition: form-data; name="f"; filename="a%22b.txt"
    Content-Type: text/plain

    hi
    --BOUNDARY
    Content-Disposition: form-data; name="f"; filename="f"
    Content-Type: application/octet-stream

    \0\0
    --BOUNDARY--
    "#);
}

#[test]
fn a_part_needs_a_name_that_servers_read_alike() {
    let spec =
        json!({ "arguments": { "whole": "b" }, "media": [{ "type": "multipart/form-data" }] });
    for name in ["a\"", "a\\", "a\r\nX: y", "\u{0}"] {
        let refused =
            format!("`b` has the member `{}`, and no part can have this name", name.escape_debug());
        check_body(&spec, json!({ "b": { name: 1 } }), &refused);
    }
}

#[test]
fn a_template_keeps_the_types_of_arguments() {
    let template = json!({
        "id": "{id}", "text": "no {id}: {list}", "list": ["{list}", "{gone}", "{{id}"], "gone": "{gone}",
        "part": "a{gone}", "deep": { "x": "{id}", "fixed": 1 }, "graphql": "query { viewer {login} } {{}",
    });
    let spec = |template: &Value| json!({ "arguments": { "template": template }, "media": [{ "type": "application/json" }] });
    let arguments = json!({ "id": 7, "list": [1, "a"], "login": "L" });
    check_body(
        &spec(&template),
        arguments.clone(),
        concat!(
            "application/json\n",
            r#"{"id":7,"text":"no 7: [1,\"a\"]","list":[[1,"a"],"{id}"],"deep":{"x":7,"fixed":1},"#,
            r#""graphql":"query { viewer L } {}"}"#,
        ),
    );
    check_body(&spec(&json!("{gone}")), arguments.clone(), "no body");
    check_body(&spec(&json!("{list}")), arguments, "application/json\n[1,\"a\"]");
}
