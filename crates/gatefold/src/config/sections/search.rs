//! `[search]` of `gatefold.toml`.

use gatefold_config::{Field, FilePath, HandRead, Table, Text};
use gatefold_encoder::ModelPlace;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::key::SectionKeys;
use super::super::{Config, SearchConfig};

/// How tools are found.
#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub(in crate::config) struct SearchKeys {
    /// Whether searches learn from the calls that follow them.
    ///
    /// When a search leads to a successful call of a tool, its words are kept in the state directory, and later
    /// searches of the same user rank by them. Words that are long or may hold a secret are not kept. `gatefold
    /// queries` shows and erases what was kept. With `false`, nothing is kept and nothing is used.
    #[schemars(extend("examples" = [false]))]
    learn: bool,
    /// The sentence encoder that re-ranks the likeliest tools.
    ///
    /// `builtin` is our own, part of the program, and made for requests and tools in English. It reads every
    /// tool in the background, which takes a quarter of a minute of one core for 2,500 tools, and keeps their
    /// vectors in the state directory; until it has read them all, tools are ranked without it. A search then
    /// takes some 4 ms, and the process 24 MB more while people search. A path names another one: a folder with
    /// `model.onnx` and `vocab.txt`, or an ONNX file with `vocab.txt` beside it, BERT-like, pooled as
    /// `1_Pooling/config.json` beside it says, by default to the mean; a folder `builtin` is `./builtin`.
    /// `gatefold model get` downloads one, which takes three times as long and 180 MB. The encoder reads the
    /// passages of knowledge bases too, in the background, those first that searches meet. With `none`, tools are
    /// ranked by their words and by our table of words' meanings, as they are by a program that was built
    /// without the feature `encoder`. If an encoder cannot be opened, searches run without it; the log,
    /// `gatefold doctor` and `gatefold check` say so.
    #[schemars(extend("x-type" = "\"builtin\", \"none\" or path",
        "x-constraint" = "a path is relative to the file that names it", "examples" = ["none"]))]
    encoder: HandRead<Text>,
    /// A file with texts by which tools are found.
    ///
    /// `gatefold index describe` has a model write it: for each tool a summary and a few requests, which people
    /// can read, edit and commit. The texts count only for the definition that they were written for. If the
    /// file cannot be used, searches go without it; the log, `gatefold check` and `gatefold doctor` say so.
    #[schemars(extend("examples" = ["retrieval.toml"], "x-unset" = "tools are found by what their sources say"))]
    texts: Option<FilePath>,
}

pub(super) fn read(table: &mut Table<'_>, search: &mut SearchConfig) {
    let keys: SearchKeys = table.read().unwrap_or_default();
    search.learn = keys.learn;
    if let Some(field) = table.peek("encoder") {
        search.encoder = encoder(&field);
    }
    search.texts = keys.texts.map(|path| path.0);
}

/// No encoder, the built-in one, or one in files, whose path is relative to the configuration.
fn encoder(field: &Field<'_>) -> Option<ModelPlace> {
    let Text(name) = field.read()?;
    match ModelPlace::named(&name)? {
        ModelPlace::Files(_) => field.read::<FilePath>().map(|path| ModelPlace::Files(path.0)),
        ModelPlace::Builtin => Some(ModelPlace::Builtin),
    }
}

impl SectionKeys for SearchKeys {
    fn of(config: &Config) -> Self {
        let SearchConfig { learn, encoder, texts, .. } = &config.search;
        let encoder =
            encoder.as_ref().map_or_else(|| ModelPlace::NONE.to_owned(), ToString::to_string);
        Self {
            learn: *learn,
            encoder: HandRead::shown(Some(encoder.into())),
            texts: texts.clone().map(FilePath),
        }
    }
}
