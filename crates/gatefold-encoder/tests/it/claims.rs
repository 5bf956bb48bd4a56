use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use gatefold_encoder::{
    Embedder, Model, PASSAGE_TOKENS, Vector, VectorCache, passage_key, reference,
};

use crate::OpenedModel;

macro_rules! claims {
    ($($name:ident),* $(,)?) => {
        pub(crate) const ALL: &[(&str, fn(&OpenedModel))] = &[$((stringify!($name), $name)),*];
    };
}

claims![
    the_folder_holds_the_reference_model,
    tokens_are_those_of_another_tokenizer,
    cosines_are_those_of_another_runtime,
    any_text_has_a_vector,
    a_text_is_cut_at_its_tokens,
    passages_are_embedded_once_for_all_runs,
    files_that_are_no_model_are_refused,
];

fn the_folder_holds_the_reference_model(given: &OpenedModel) {
    reference::verify(&given.folder).unwrap();
    assert_eq!(given.model.dimensions(), 384);
    assert_eq!(given.model.digest().len(), 64);
}

/// The numbers that the `tokenizers` package computes with the model's own `tokenizer.json`.
fn tokens_are_those_of_another_tokenizer(given: &OpenedModel) {
    let golden: Vec<(String, Vec<u32>)> =
        serde_json::from_str(include_str!("tokens.json")).unwrap();
    for (text, expected) in golden {
        assert_eq!(given.model.token_ids(&text, 512), expected, "{text:?}");
    }
}

fn encode(given: &OpenedModel, text: &str) -> Vector {
    given.model.encode(text, 256).unwrap()
}

/// The figures of onnxruntime 1 with the same file, each text by itself.
fn cosines_are_those_of_another_runtime(given: &OpenedModel) {
    let golden: Vec<(String, String, f32)> =
        serde_json::from_str(include_str!("cosines.json")).unwrap();
    for (left, right, expected) in golden {
        let found = encode(given, &left).cosine(&encode(given, &right));
        assert!((found - expected).abs() < 0.02, "{left:?}, {right:?}: {found}, not {expected}");
    }
}

fn any_text_has_a_vector(given: &OpenedModel) {
    let long = "word ".repeat(10_000);
    for text in ["", " ", "\0\u{200b}", "漢字", "!?", "a", &"x".repeat(100_000), &long] {
        let vector = given.model.encode(text, usize::MAX).unwrap();
        assert!((vector.cosine(&vector) - 1.0).abs() < 1e-4);
        assert!(given.model.encode(text, 0).is_ok());
    }
}

fn a_text_is_cut_at_its_tokens(given: &OpenedModel) {
    let cut = given.model.encode("list the open issues", 4).unwrap();
    assert_eq!(cut, encode(given, "list the"));
}

fn passages_are_embedded_once_for_all_runs(given: &OpenedModel) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cache");
    let model = Arc::new(Model::open(&given.folder).unwrap());
    let texts: Vec<Arc<str>> = (0..5).map(|number| format!("tool {number}").into()).collect();
    let start = || Embedder::start(Arc::clone(&model), VectorCache::open(&path, &model).unwrap());
    let embedder = start();
    embedder.want(texts.clone());
    assert!(embedder.wait(Duration::from_secs(60)));
    drop(embedder);
    let embedder = start();
    embedder.want(texts.clone());
    assert!(embedder.wait(Duration::ZERO));
    for text in texts {
        let expected = model.encode(&text, PASSAGE_TOKENS).unwrap();
        assert!(embedder.vector(&passage_key(&text)).unwrap().cosine(&expected) > 0.999);
    }
}

fn files_that_are_no_model_are_refused(given: &OpenedModel) {
    let folder = tempfile::tempdir().unwrap();
    let told = || Model::open(folder.path()).unwrap_err().to_string();
    assert!(told().contains("vocab.txt` could not be read"), "{}", told());
    let copy = |name: &str| std::fs::read(given.folder.join(name)).unwrap();
    std::fs::write(folder.path().join("vocab.txt"), copy("vocab.txt")).unwrap();
    assert!(told().contains("model.onnx` could not be read"), "{}", told());
    let half = &copy("model.onnx")[..9_000_000];
    for content in [&b""[..], b"no model at all", half] {
        write(&folder.path().join("model.onnx"), content);
        assert!(told().contains("model.onnx` could not be loaded"), "{}", told());
    }
}

fn write(path: &Path, content: &[u8]) {
    std::fs::write(path, content).unwrap();
}
