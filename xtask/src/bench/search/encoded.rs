//! What sentence encoders gain and cost: the built-in one, and the one that `GATEFOLD_ENCODER` names.

use std::iter;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use gatefold_encoder::{Embedder, ModelPlace, REQUEST_TOKENS, Vector, VectorCache, passage_key};
use gatefold_search::{Findings, Index, Mode, SearchEvidence};

use crate::bench::say;

/// How long reading a set may take.
const READING: Duration = Duration::from_mins(20);

/// The encoders that are measured.
pub(super) struct Encoders {
    pub(super) builtin: Embedder,
    /// The one in the folder that the variable names.
    pub(super) larger: Option<Embedder>,
}

impl Encoders {
    /// Their vectors are kept for the next run.
    #[expect(clippy::disallowed_methods, reason = "a chore reads its own variables")]
    pub(super) fn open(root: &Path) -> Result<Self> {
        let larger = std::env::var_os("GATEFOLD_ENCODER").map(PathBuf::from);
        let larger = larger.map(|folder| start(root, "larger", &ModelPlace::Files(folder)));
        let builtin = start(root, "builtin", &ModelPlace::Builtin)?;
        Ok(Self { builtin, larger: larger.transpose()? })
    }

    /// Each with its name in tables.
    pub(super) fn named(&self) -> impl Iterator<Item = (&'static str, &Embedder)> {
        let larger = self.larger.iter().map(|larger| ("a larger encoder", larger));
        iter::once(("the built-in encoder", &self.builtin)).chain(larger)
    }
}

fn start(root: &Path, name: &str, place: &ModelPlace) -> Result<Embedder> {
    let model = Arc::new(place.open()?);
    let cache = VectorCache::open(&root.join(format!("target/bench-{name}.vectors")), &model)?;
    Ok(Embedder::start(model, cache))
}

/// Makes an encoder read texts.
pub(super) fn read<'a>(encoder: &Embedder, texts: impl Iterator<Item = &'a str>) {
    encoder.want(texts.map(Arc::from).collect());
    if !encoder.wait(READING) {
        say("some texts were not read in time and are ranked without the encoder");
    }
}

/// How similar a request is to texts that were read.
pub(super) fn similarities(encoder: &Embedder, request: &str, texts: &[&str]) -> Vec<Option<f32>> {
    let asked = encoder.request(request, REQUEST_TOKENS);
    let asked: Arc<Vector> = asked.expect("a model that was opened encodes any text");
    let similarity = |text: &&str| Some(encoder.vector(&passage_key(text))?.cosine(&asked));
    texts.iter().map(similarity).collect()
}

/// A search that asks the encoder, which has read the tools' passages.
pub(super) fn search(
    encoder: &Embedder,
    index: &Index,
    passages: &[String],
    request: &str,
    limit: usize,
) -> Findings {
    let judge = |asked: &str, places: &[usize]| {
        let texts: Vec<_> = places.iter().map(|at| passages[*at].as_str()).collect();
        similarities(encoder, asked, &texts)
    };
    let aids = SearchEvidence { judge: Some(&judge), ..SearchEvidence::default() };
    index.search_with(request, Mode::Hybrid, |_| true, &aids, limit)
}
