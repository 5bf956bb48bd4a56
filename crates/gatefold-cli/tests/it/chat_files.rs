//! Files and images in chats: what models are given of them, and what is refused.

use std::fmt::Write as _;
use std::fs::File;
use std::process::Command;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use gatefold_testkit::model::{Move, ScriptedModel};
use serde_json::json;

use crate::chat::{chat, requests, scratch, section};
use crate::process::{run, run_with_input};
use crate::scratch::Scratch;

/// The first bytes of a PNG, and some more.
const PICTURE: &[u8] = b"\x89PNG\r\n\x1a\nand so on";

fn saying_yes() -> ScriptedModel {
    ScriptedModel::start(|_| Move::say("Yes."))
}

/// A document of one page.
fn pdf(words: &str) -> Vec<u8> {
    let content = format!("BT /F1 12 Tf 72 700 Td ({words}) Tj ET");
    let objects = [
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_owned(),
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R \
         /Resources << /Font << /F1 5 0 R >> >> >>"
            .to_owned(),
        format!("<< /Length {} >>\nstream\n{content}\nendstream", content.len()),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>".to_owned(),
    ];
    let (mut file, mut places) = ("%PDF-1.4\n".to_owned(), Vec::new());
    for (number, object) in (1..).zip(objects) {
        places.push(file.len());
        let _ = write!(file, "{number} 0 obj\n{object}\nendobj\n");
    }
    let start = file.len();
    let _ = write!(file, "xref\n0 {}\n0000000000 65535 f \n", places.len() + 1);
    file.extend(places.iter().map(|place| format!("{place:010} 00000 n \n")));
    let _ = write!(file, "trailer << /Size 6 /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n");
    file.into_bytes()
}

#[test]
fn images_and_short_texts_go_with_a_message_by_what_they_are() {
    for api in ["openai-chat", "anthropic"] {
        let model = saying_yes();
        let scratch = scratch(&section("fast", api, &model, ""));
        scratch.write("picture.txt", PICTURE).write("notes.png", "Buy\u{7} milk");
        scratch.write("report.bin", pdf("Sales rose in May"));
        let ran = chat(
            &scratch,
            &[
                "-p",
                "What is it?",
                "--file",
                "picture.txt",
                "--file",
                "notes.png",
                "--file",
                "report.bin",
            ],
            "",
        );
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "Yes.\n"), "{}", ran.stderr);
        let request = requests(&model)[0].to_string();
        for part in [
            "What is it?",
            "The image `picture.txt`:",
            &STANDARD.encode(PICTURE),
            "image/png",
            "The file `notes.png`, a text of 9 bytes:",
            "Buy\\u0007 milk",
            "a PDF of",
            "Sales rose in May",
        ] {
            assert!(request.contains(part), "no `{part}` in {request}");
        }
        // It is kept, and said again.
        let ran = chat(&scratch, &["--continue", "-p", "Sure?"], "");
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        let again = requests(&model)[1].to_string();
        for part in [&STANDARD.encode(PICTURE)[..], "Sales rose in May", "Sure?"] {
            assert!(again.contains(part), "no `{part}` in {again}");
        }
        let thread = run(&scratch, &["threads", "--json"]).json()["threads"][0].clone();
        assert_eq!(thread["title"], "What is it?");
        let shown = run(&scratch, &["threads", "show", thread["id"].as_str().unwrap()]);
        assert!(shown.stdout.contains("> [image of 17 bytes]"), "{}", shown.stdout);
    }
}

#[test]
fn an_image_takes_no_more_room_than_models_make_of_it() {
    let model = saying_yes();
    let scratch = scratch(&section("fast", "openai-chat", &model, "context_tokens = 20000"));
    scratch.write("picture.png", [PICTURE, &vec![0; 1_000_000]].concat());
    let ran = chat(&scratch, &["-p", "What is it?", "--file", "picture.png", "--json"], "");
    assert_eq!((ran.code, &ran.json()["ended"]), (Some(0), &json!("answered")), "{}", ran.stdout);
}

#[test]
fn a_long_text_is_read_on_by_its_handle() {
    let model = ScriptedModel::start(|prompt| match prompt.told().last() {
        None => {
            let messages = prompt.whole()["messages"].to_string();
            let handle = messages.split("kept under the handle ").nth(1).unwrap();
            let handle = handle.split('.').next().unwrap();
            Move::call("results__read_result", &json!({ "handle": handle, "grep": "needle" }))
        }
        Some(told) if told.contains("row 4000 has the needle") => Move::say("Row 4000."),
        Some(told) => Move::say(told),
    });
    let scratch = scratch(&section("fast", "openai-chat", &model, ""));
    let row = |row| format!("row {row} has {}\n", if row == 4000 { "the needle" } else { "hay" });
    scratch.write("rows.log", (1..=9000).map(row).collect::<String>());
    let ran = chat(&scratch, &["-p", "Where is the needle?", "--file", "rows.log"], "");
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "Row 4000.\n"), "{}", ran.stderr);
    let first = requests(&model)[0].to_string();
    assert!(first.contains("The file `rows.log`") && first.contains("row 1 has hay"), "{first}");
    assert!(first.contains("ask for the file again"), "{first}");
    assert!(!first.contains("needle\\n") && first.len() < 60_000, "{first}");
}

#[test]
fn what_no_model_takes_is_refused_in_words() {
    let model = saying_yes();
    let scratch = scratch(&section("fast", "openai-chat", &model, ""));
    scratch.write("archive.zip", b"PK\x03\x04\0\0").write("latin.txt", b"caf\xe9");
    scratch.write("empty.txt", "").write("broken.pdf", "%PDF-1.4 and no more");
    scratch.write("two\u{1b}[2J\nlines", "a\0b");
    scratch.write("large.png", [PICTURE, &vec![0; 3_750_000]].concat());
    let huge = File::create(scratch.path().join("huge.log")).unwrap();
    huge.set_len(17 << 20).unwrap();
    let pipe = scratch.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    for (file, said) in [
        ("archive.zip", "a damaged ZIP archive"),
        ("latin.txt", "text, PDF, DOCX, PPTX, XLSX, PNG, JPEG, GIF or WebP"),
        ("empty.txt", "`empty.txt` is empty"),
        ("broken.pdf", "this PDF is damaged"),
        ("two\u{1b}[2J\nlines", "`two␛[2J lines` is neither"),
        ("large.png", "make the image smaller"),
        ("huge.log", "larger than 16 MiB"),
        ("pipe", "`pipe` is no plain file"),
        ("/dev/zero", "is no plain file"),
        (".", "is a folder"),
        ("missing.txt", "`missing.txt` cannot be read"),
    ] {
        let ran = chat(&scratch, &["-p", "Look", "--file", file], "");
        assert_eq!(ran.code, Some(1), "{file}: {}", ran.stderr);
        assert!(ran.stderr.contains(said), "{file}: {}", ran.stderr);
    }
    scratch.write("half.png", [PICTURE, &vec![0; 3_000_000]].concat());
    let ran = chat(&scratch, &["-p", "Look", "--file", "half.png", "--file", "half.png"], "");
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    assert!(ran.stderr.contains("send fewer files with it"), "{}", ran.stderr);
    let many = ["--file", "latin.txt"].repeat(21);
    let ran = chat(&scratch, &[&["-p", "Look"], &many[..]].concat(), "");
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    assert!(ran.stderr.contains("at most 20 files"), "{}", ran.stderr);
    assert_eq!(requests(&model).len(), 0);
}

#[test]
fn a_file_goes_with_the_next_message_of_a_chat() {
    let model = saying_yes();
    let scratch = scratch(&section("fast", "openai-chat", &model, ""));
    scratch.write("my notes.md", "Buy milk").write("more.md", "Buy bread");
    let input =
        "/file\n/file more.md\n/file none\n/file my notes.md\n/file gone.md\nRead it\nAnd now?\n";
    let ran = run_with_input(&scratch, &["chat", "--file", "more.md"], input);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    for part in [
        "with your next message: `more.md`, a text of 9 bytes",
        "your next message has no file",
        "with your next message: `my notes.md`, a text of 8 bytes",
    ] {
        assert!(ran.stdout.contains(part), "no `{part}` in {}", ran.stdout);
    }
    assert!(ran.stderr.contains("`gone.md` cannot be read"), "{}", ran.stderr);
    let requests = requests(&model);
    let first = requests[0]["messages"].to_string();
    assert!(first.contains("Buy milk") && !first.contains("Buy bread"), "{first}");
    let last = requests[1]["messages"].as_array().unwrap().last().unwrap().to_string();
    assert!(last.contains("And now?") && !last.contains("Buy milk"), "{last}");
}

#[test]
fn a_file_stays_with_a_message_that_nobody_answers() {
    let model = ScriptedModel::start(|prompt| match prompt.request() {
        said if said.contains("Again") => Move::say("Yes."),
        _ => Move::Fail("401 Unauthorized", "", "{}"),
    });
    let scratch = scratch(&section("fast", "openai-chat", &model, ""));
    scratch.write("notes.md", "Buy milk");
    let ran = run_with_input(&scratch, &["chat"], "/file notes.md\nRead it\nAgain\nAgain\n");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let requests = requests(&model);
    let last = |at: usize| {
        let messages = requests[at]["messages"].as_array().unwrap();
        messages.last().unwrap().to_string()
    };
    let has_file: Vec<_> = (0..3).map(|at| last(at).contains("Buy milk")).collect();
    assert_eq!(has_file, [true, true, false]);
}

#[test]
fn without_sources_a_long_text_is_sent_whole() {
    let model = saying_yes();
    let scratch = Scratch::new();
    scratch.write("gatefold.toml", section("fast", "openai-chat", &model, ""));
    let rows: Vec<_> = (1..=9000).map(|row| format!("row {row}")).collect();
    scratch.write("rows.log", rows.join("\n"));
    let ran = chat(&scratch, &["-p", "Read", "--file", "rows.log"], "");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let request = requests(&model)[0].to_string();
    assert!(request.contains("row 4567\\nrow 4568"), "{}", request.len());
}
