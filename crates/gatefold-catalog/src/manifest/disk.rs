//! The stored form: a line with the version and the digest of the rest, then the index as one line
//! of JSON, then the text that the index points into. No schema is parsed on the way back.

use std::borrow::Cow;
use std::sync::Arc;

use gatefold_core::{Digest, Timestamp};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::{Alteration, Manifest, ManifestError, Places, ServerInfo, Span};

const MAGIC: &str = "gatefold-manifest 1 ";
const DIGEST_LENGTH: usize = 64;

#[derive(Serialize, Deserialize)]
struct Index<'a> {
    server: Cow<'a, ServerInfo>,
    fetched_at: Timestamp,
    alterations: Cow<'a, [Alteration]>,
    tools: Vec<Places>,
}

pub(super) fn write(manifest: &Manifest) -> Vec<u8> {
    let index = Index {
        server: Cow::Borrowed(&manifest.server),
        fetched_at: manifest.fetched_at,
        alterations: Cow::Borrowed(&manifest.alterations),
        tools: manifest.tools.iter().map(|tool| tool.places.clone()).collect(),
    };
    let mut body = serde_json::to_vec(&index).expect("an index has only text keys");
    body.push(b'\n');
    body.extend_from_slice(manifest.text.as_bytes());
    let digest = Digest::new(Sha256::digest(&body).into());
    let mut bytes = format!("{MAGIC}{digest}\n").into_bytes();
    bytes.append(&mut body);
    bytes
}

pub(super) fn read(bytes: &[u8]) -> Result<Manifest, ManifestError> {
    let rest = bytes.strip_prefix(MAGIC.as_bytes()).ok_or(ManifestError::Version)?;
    let (digest, body) = rest.split_at_checked(DIGEST_LENGTH).ok_or(damaged("it is cut off"))?;
    let body = body.strip_prefix(b"\n").ok_or(damaged("it is cut off"))?;
    if Digest::new(Sha256::digest(body).into()).to_string().as_bytes() != digest {
        return Err(damaged("its digest does not match"));
    }
    let body = std::str::from_utf8(body).map_err(|_| damaged("it is not text"))?;
    let (index, text) = body.split_once('\n').ok_or(damaged("it has no index"))?;
    let index: Index<'_> =
        serde_json::from_str(index).map_err(|_| damaged("its index cannot be read"))?;
    if !index.tools.iter().all(|places| lies_in(places, text)) {
        return Err(damaged("its index points outside of its text"));
    }
    let (server, alterations) = (index.server.into_owned(), index.alterations.into_owned());
    let text: Arc<str> = text.into();
    Ok(Manifest::assemble(server, &index.tools, alterations, index.fetched_at, text))
}

fn damaged(how: &'static str) -> ManifestError {
    ManifestError::Damaged(how)
}

fn lies_in(places: &Places, text: &str) -> bool {
    let inside = |place: Span| text.get(super::span(place)).is_some();
    let Places { name, raw, input_schema, .. } = *places;
    let Places { title, description, output_schema, annotations, .. } = *places;
    let optional = [title, description, output_schema, annotations];
    [name, raw, input_schema].into_iter().chain(optional.into_iter().flatten()).all(inside)
}
