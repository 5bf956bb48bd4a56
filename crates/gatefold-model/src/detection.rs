//! A model that is there without any configuration.

use gatefold_core::Secret;
use url::Url;

use crate::short_form::KnownHost;
use crate::{ModelSpec, ShortForm};

/// A model that was found, and why.
#[derive(Debug, Clone)]
pub struct DetectedModel {
    pub form: ShortForm,
    /// With its key.
    pub spec: ModelSpec,
    /// Such as "`OPENAI_API_KEY` is set".
    pub reason: String,
}

/// A server that people run on their own machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LocalServer {
    /// As its short form begins.
    pub host: &'static str,
    /// As people call it.
    pub title: &'static str,
}

/// The local servers that are looked for, in this order.
pub const LOCAL_SERVERS: [LocalServer; 2] = [
    LocalServer { host: "ollama", title: "Ollama" },
    LocalServer { host: "llama-server", title: "llama-server" },
];

/// The model of each host with a key, in the order of their choice. Names that the hosts keep pointing
/// at what they have, where there are such.
const BY_KEY: [(&str, &str); 3] =
    [("openai", "gpt-5"), ("anthropic", "claude-sonnet-4-5"), ("gemini", "gemini-flash-latest")];

/// Finds a model by what the environment offers: the key of a well-known host, or else a local server
/// that answers.
///
/// `variable` reads the environment. `models_at` asks a local server for its models, and is None if
/// nothing answers; it is only asked where no key is set.
pub async fn detect<F: Future<Output = Option<Vec<String>>>>(
    variable: impl Fn(&str) -> Option<Secret>,
    models_at: impl Fn(Url) -> F,
) -> Option<DetectedModel> {
    for (host, model) in BY_KEY {
        let host = KnownHost::named(host).expect("each of them is known");
        let name = host.variable.unwrap_or_default();
        if let Some(key) = variable(name).filter(|key| !key.expose().trim().is_empty()) {
            let form = ShortForm::new(host, model);
            let spec = ModelSpec { key: Some(key), ..form.spec() };
            return Some(DetectedModel { form, spec, reason: format!("`{name}` is set") });
        }
    }
    for server in LOCAL_SERVERS {
        let host = KnownHost::named(server.host).expect("each of them is known");
        let models = models_at(host.url()).await.unwrap_or_default();
        if let Some(model) = models.into_iter().next() {
            let port = host.url().port().unwrap_or_default();
            let reason = format!("{} answers at port {port}", server.title);
            let form = ShortForm::new(host, model);
            return Some(DetectedModel { spec: form.spec(), form, reason });
        }
    }
    None
}
