//! The built-in model.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use std::sync::OnceLock;

use super::*;
use crate::Vector;

fn model() -> &'static Model {
    static MODEL: OnceLock<Model> = OnceLock::new();
    MODEL.get_or_init(|| ModelPlace::Builtin.open().unwrap())
}

fn encode(text: &str) -> Vector {
    model().encode(text, TOKENS).unwrap()
}

/// The figures of onnxruntime 1 with the same network, each text by itself: `models/export.py`.
#[test]
fn cosines_are_those_of_another_runtime() {
    let golden: Vec<(String, String, f32)> =
        serde_json::from_str(include_str!("../builtin/cosines.json")).unwrap();
    assert!(golden.len() >= 20);
    for (left, right, expected) in golden {
        let found = encode(&left).cosine(&encode(&right));
        assert!((found - expected).abs() < 0.02, "{left:?}, {right:?}: {found}, not {expected}");
    }
}

/// Requests that share no word with the tool that they need.
#[test]
fn a_request_is_nearest_to_its_tool() {
    let tools = [
        "mail send message: Sends an e-mail to one or more recipients.",
        "calendar create event: Creates an event with a title, a time and guests.",
        "weather forecast: Returns the forecast of a place for the next days.",
        "git blame: Shows who last changed each line of a file.",
        "bank transfer: Moves money from one account to another.",
    ];
    let vectors = tools.map(encode);
    for (request, tool) in [
        ("write to Maria that the meeting is off", 0),
        ("put lunch with Tom on Friday in my diary", 1),
        ("do I need an umbrella in Bergen tomorrow?", 2),
        ("which colleague wrote this function?", 3),
        ("pay the plumber 300 euros", 4),
    ] {
        let request_vector = encode(request);
        let cosines = vectors.each_ref().map(|vector| vector.cosine(&request_vector));
        let best = (0..tools.len()).max_by(|a, b| cosines[*a].total_cmp(&cosines[*b]));
        assert_eq!(best, Some(tool), "{request}: {cosines:?}");
    }
}

#[test]
fn any_text_has_a_vector_also_one_that_is_longer_than_it_reads() {
    let long = "word ".repeat(10_000);
    for text in ["", " ", "\0\u{200b}", "漢字", "!?", "a", &"x".repeat(100_000), &long] {
        let vector = model().encode(text, usize::MAX).unwrap();
        assert!((vector.cosine(&vector) - 1.0).abs() < 1e-4);
        assert!(model().encode(text, 0).is_ok());
    }
    let longest = builtin::parts().unwrap().longest;
    assert_eq!(model().token_ids(&long, TOKENS).len(), longest);
}

/// The most bytes of both files, since they are part of every program.
const BYTES: usize = 10_000_000;

#[test]
fn its_files_keep_within_their_bound() {
    let parts = builtin::parts().unwrap();
    assert!(parts.network.len() + parts.pieces.len() <= BYTES);
}

#[test]
fn what_is_known_of_it_beforehand_is_so() {
    assert_eq!(builtin::parts().unwrap().digest(), builtin::DIGEST);
    assert_eq!(encode("a text").values().len(), builtin::DIMENSIONS);
}

#[test]
fn its_network_is_loaded_when_it_is_needed_and_rests_when_it_is_not() {
    let model = ModelPlace::Builtin.open().unwrap();
    assert!(!model.network.is_loaded());
    let before = model.encode("a text", TOKENS).unwrap();
    let hour = Duration::from_hours(1);
    let left = model.rest(hour);
    assert!(left < hour && left > hour / 2, "{left:?}");
    assert!(model.network.is_loaded(), "it was needed just now");
    assert_eq!(model.rest(Duration::ZERO), Duration::ZERO);
    assert!(!model.network.is_loaded());
    assert_eq!(model.encode("a text", TOKENS).unwrap(), before);
}
