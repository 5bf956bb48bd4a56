//! Models without configuration.

use gatefold_core::Secret;
use gatefold_model::{Api, ShortForm, detect};

#[track_caller]
fn check(text: &str, expected: Option<(Api, &str, &str, Option<&str>)>) {
    let parsed: Option<ShortForm> = text.parse().ok();
    let spec = parsed.as_ref().map(|form| (form.spec(), form.key_variable()));
    let found = spec
        .as_ref()
        .map(|(spec, variable)| (spec.api, spec.url.as_str(), spec.model.as_str(), *variable));
    assert_eq!(found, expected, "{text}");
}

#[test]
fn a_short_form_is_a_host_and_a_name() {
    let openai = Some("OPENAI_API_KEY");
    check("openai:gpt-5", Some((Api::OpenAiChat, "https://api.openai.com/v1", "gpt-5", openai)));
    let key = Some("ANTHROPIC_API_KEY");
    check("anthropic:x", Some((Api::Anthropic, "https://api.anthropic.com/v1", "x", key)));
    let url = "https://generativelanguage.googleapis.com/v1beta/openai";
    check("gemini:x", Some((Api::OpenAiChat, url, "x", Some("GEMINI_API_KEY"))));
    let url = "http://127.0.0.1:11434/v1";
    check("ollama:qwen3:8b", Some((Api::OpenAiChat, url, "qwen3:8b", None)));
    let url = "http://127.0.0.1:8080/v1";
    check("llama-server:x", Some((Api::OpenAiChat, url, "x", None)));
    for text in ["", "gpt-5", "openai:", "OpenAI:gpt-5", "nobody:x", ":x"] {
        check(text, None);
    }
    let refused = "nobody:x".parse::<ShortForm>().unwrap_err().to_string();
    assert!(refused.contains("`nobody:x`") && refused.contains("`ollama:NAME`"), "{refused}");
}

/// What is found with these variables, and local servers at these ports.
async fn found(variables: &[&str], ports: &[u16]) -> Option<(String, String, bool)> {
    let variable = |name: &str| {
        variables
            .iter()
            .find(|set| set.split('=').next() == Some(name))
            .map(|set| Secret::new(set.split_once('=').map_or("a key", |(_, value)| value)))
    };
    let models_at = |url: url::Url| {
        let port = url.port().unwrap();
        assert!(variables.iter().all(|set| set.ends_with('=')), "a local server is asked in vain");
        let models = ports.contains(&port).then(|| vec![format!("m{port}"), "other".to_owned()]);
        std::future::ready(models)
    };
    let found = detect(variable, models_at).await?;
    Some((found.spec.model, found.reason, found.spec.key.is_some()))
}

#[tokio::test]
async fn the_environment_offers_a_model() {
    let all = ["GEMINI_API_KEY", "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OTHER"];
    for (variables, reason) in [
        (&all[..], "`OPENAI_API_KEY` is set"),
        (&all[..2], "`ANTHROPIC_API_KEY` is set"),
        (&all[..1], "`GEMINI_API_KEY` is set"),
    ] {
        let (_, said, has_key) = found(variables, &[8080, 11434]).await.unwrap();
        assert_eq!((said.as_str(), has_key), (reason, true));
    }
    let local = |model: &str, reason: &str| Some((model.to_owned(), reason.to_owned(), false));
    let both = found(&["OPENAI_API_KEY="], &[8080, 11434]).await;
    assert_eq!(both, local("m11434", "Ollama answers at port 11434"));
    assert_eq!(found(&[], &[8080]).await, local("m8080", "llama-server answers at port 8080"));
    assert_eq!(found(&[], &[]).await, None);
}
