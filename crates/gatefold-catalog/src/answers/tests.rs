use super::*;

#[track_caller]
fn check(kind: AnswerKind, answer: &str, expected: &str) {
    assert_eq!(repair_answer(answer, kind).as_deref(), Some(expected));
    assert_eq!(repair_answer(expected, kind), None, "twice");
}

#[track_caller]
fn check_block(block: &str, expected: &str) {
    let answer = |block: &str| format!(r#"{{"content":[{{"type":"text","text":"a"}},{block}]}}"#);
    check(AnswerKind::Tool, &answer(block), &answer(expected));
}

#[track_caller]
fn stays(kind: AnswerKind, answer: &str) {
    assert_eq!(repair_answer(answer, kind), None, "{answer}");
}

const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const GIF: &str = "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7";

#[test]
fn what_is_as_it_should_be_keeps_every_letter() {
    use AnswerKind::{Other, Prompt, Resource, Tool};
    for answer in [
        "{}",
        "[1]",
        r#"{"content":[],"x":null,"structuredContent":{"map":[],"n":null}}"#,
        r#"{ "content": [ {"type":"text","text":"\ud83d\ude00"} ] , "isError":true }"#,
        r#"{"content":[{"type":"resource","resource":{"uri":"a:b","blob":"aGk="}}]}"#,
        r#"{"content":[{"type":"audio","data":"aGk=","mimeType":"audio/aac"}]}"#,
        r#"{"content":[{"type":"from the future","x":[]}]}"#,
    ] {
        stays(Tool, answer);
    }
    stays(Prompt, r#"{"messages":[{"role":"user","content":{"type":"text","text":"a"},"x":[]}]}"#);
    stays(Resource, r#"{"contents":[{"uri":"a:b","text":"x"},{"uri":"a:c","blob":""}]}"#);
    stays(Other, r#"{"completion":[]}"#);
}

#[test]
fn an_empty_list_is_no_map_and_null_is_absent() {
    check(
        AnswerKind::Tool,
        r#"{"content":[{"type":"text","text":"ok","_meta":[],"annotations":null}],"structuredContent":[ ],"_meta":[],"isError":null}"#,
        r#"{"content":[{"type":"text","text":"ok"}],"structuredContent":{}}"#,
    );
    check(AnswerKind::Tool, r#"{"content":null,"structuredContent":null}"#, r#"{"content":[]}"#);
    check(
        AnswerKind::Prompt,
        r#"{"messages":[{"role":"user","content":{"type":"text","text":"hi","_meta":[]}}],"description":null,"_meta":[]}"#,
        r#"{"messages":[{"role":"user","content":{"type":"text","text":"hi"}}]}"#,
    );
    check(
        AnswerKind::Resource,
        r#"{"contents":[{"uri":"a:b","text":"x","_meta":[],"mimeType":null}],"_meta":[]}"#,
        r#"{"contents":[{"uri":"a:b","text":"x"}]}"#,
    );
}

#[test]
fn half_a_pair_is_marked_in_every_answer() {
    let half = r#"{"content":[{"type":"text","text":"\ud83d"}],"structuredContent":{"\ud83d":1}}"#;
    let whole = half.replace(r"\ud83d", r"\ufffd");
    check(AnswerKind::Tool, half, &whole);
    check(AnswerKind::Other, r#"{"a":"\udc4d"}"#, r#"{"a":"\ufffd"}"#);
}

#[test]
fn what_only_programs_were_to_read_is_said_when_nothing_else_is() {
    let check = |answer: &str, expected: &str| check(AnswerKind::Tool, answer, expected);
    check(
        r#"{"structuredContent":{"a":1}}"#,
        r#"{"structuredContent":{"a":1},"content":[{"type":"text","text":"{\"a\":1}"}]}"#,
    );
    check(
        r#"{"content":[],"structuredContent":[1]}"#,
        r#"{"content":[{"type":"text","text":"[1]"}]}"#,
    );
    let told = r#"{"content":[{"type":"text","text":"one"}],"structuredContent":[1]}"#;
    check(told, r#"{"content":[{"type":"text","text":"one"}]}"#);
}

#[test]
fn parts_that_no_client_takes_become_texts() {
    check(
        AnswerKind::Tool,
        r#"{"content":"done"}"#,
        r#"{"content":[{"type":"text","text":"done"}]}"#,
    );
    check_block(r#"{"type":"text","text":null}"#, r#"{"type":"text","text":""}"#);
    check_block(r#"{"type":"text","text":42}"#, r#"{"type":"text","text":"42"}"#);
    check_block(r#"{"kind":"x"}"#, r#"{"type":"text","text":"{\"kind\":\"x\"}"}"#);
    check_block(
        r#"{"type":"resource_link","uri":"a:b","name":null,"size":"1"}"#,
        r#"{"type":"resource_link","uri":"a:b","name":"a:b"}"#,
    );
    check_block(
        r#"{"type":"resource","resource":{"uri":"a:b","blob":"aG-_","text":null}}"#,
        r#"{"type":"resource","resource":{"uri":"a:b","blob":"aG+/"}}"#,
    );
    check(
        AnswerKind::Prompt,
        r#"{"messages":[{"role":"system","content":["a",{"type":"text","text":"b"}]},null,"c"]}"#,
        r#"{"messages":[{"role":"user","content":{"type":"text","text":"a"}},{"role":"user","content":{"type":"text","text":"b"}},{"role":"user","content":{"type":"text","text":"c"}}]}"#,
    );
}

#[test]
fn half_a_pair_is_mended_in_a_text_that_is_json_too() {
    let text = |own: &str| format!(r#"{{"type":"text","text":"{own}"}}"#);
    for (own, mended) in [
        (
            r#"{\"a\":\"cut \\ud83d\",\"b\":\"\\ud83d\\ude00\"}"#,
            r#"{\"a\":\"cut \\ufffd\",\"b\":\"\\ud83d\\ude00\"}"#,
        ),
        (r#"{\"\\uDE00\":1}\n{\"a\":2}\n"#, r#"{\"\\ufffd\":1}\n{\"a\":2}\n"#),
    ] {
        check_block(&text(own), &text(mended));
    }
    check(
        AnswerKind::Resource,
        r#"{"contents":[{"uri":"a:b","text":"[\"\\ud83d\"]"}]}"#,
        r#"{"contents":[{"uri":"a:b","text":"[\"\\ufffd\"]"}]}"#,
    );
    // It is no JSON: a folder may be called so.
    stays(AnswerKind::Tool, &format!(r#"{{"content":[{}]}}"#, text(r"C:\\ud83d")));
}

fn image(data: &str, media_type: &str) -> String {
    format!(r#"{{"type":"image","data":"{data}","mimeType":"{media_type}"}}"#)
}

#[test]
fn a_picture_has_the_type_of_its_bytes_and_plain_base64() {
    let png = image(PNG, "image/png");
    for (data, media_type) in [
        (PNG.to_owned(), "image/jpeg"),
        (PNG.to_owned(), "IMAGE/PNG"),
        (PNG.to_owned(), "image/png; charset=utf-8"),
        (format!("data:image/gif;base64,{PNG}"), "image/png"),
        (PNG.replace("SUh", r"SU\r\nh"), "image/png"),
        (PNG.trim_end_matches('=').to_owned(), "application/octet-stream"),
        (PNG.replace('+', "-").replace('/', "_"), "image/png"),
    ] {
        check_block(&image(&data, media_type), &png);
    }
    check_block(&format!(r#"{{"type":"image","data":"{GIF}"}}"#), &image(GIF, "image/gif"));
    let wav = "UklGRiQAAABXQVZF";
    check_block(
        &format!(r#"{{"type":"audio","data":"{wav}","mimeType":"audio/x-wav"}}"#),
        &format!(r#"{{"type":"audio","data":"{wav}","mimeType":"audio/wav"}}"#),
    );
}

#[test]
fn what_is_no_picture_says_what_it_is() {
    let note = |words: &str| format!(r#"{{"type":"text","text":"[image (image/png) {words}]"}}"#);
    check_block(&image("", "image/png"), &note("without data"));
    check_block(&image("not base64!", "image/png"), &note("whose data is broken"));
    check_block(&image(&PNG[..37], "image/png"), &note("whose data is broken"));
    check_block(r#"{"type":"image","data":null,"mimeType":"image/png"}"#, &note("without data"));
    check_block(
        &image("PHN2Zy8+", "image/png"),
        r#"{"type":"resource","resource":{"uri":"attachment:image","mimeType":"image/svg+xml","blob":"PHN2Zy8+"}}"#,
    );
    check_block(
        &image("Qk0A/w==", "image/bmp"),
        r#"{"type":"resource","resource":{"uri":"attachment:image","mimeType":"image/bmp","blob":"Qk0A/w=="}}"#,
    );
}
