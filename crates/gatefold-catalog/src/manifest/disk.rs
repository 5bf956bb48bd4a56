//! The stored form: a line with the version and the digest of the rest, then the index as one line
//! of JSON, then the text that the index points into. Reading it back parses no schema.

use std::borrow::Cow;
use std::sync::Arc;

use gatefold_core::{Digest, Timestamp};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::{
    Alteration, EntryPlaces, Index, Manifest, ManifestError, ServerInfo, Span, Supplement,
    ToolPlaces,
};

const MAGIC: &str = "gatefold-manifest 3 ";
const DIGEST_LENGTH: usize = 64;

#[derive(Serialize, Deserialize)]
struct FileHeader<'a> {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    server: Option<Cow<'a, ServerInfo>>,
    fetched_at: Timestamp,
    alterations: Cow<'a, [Alteration]>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    supplement: Option<Cow<'a, Supplement>>,
    index: Index,
}

pub(super) fn write(manifest: &Manifest) -> Vec<u8> {
    let head = FileHeader {
        server: manifest.server.as_ref().map(Cow::Borrowed),
        fetched_at: manifest.fetched_at,
        alterations: Cow::Borrowed(&manifest.alterations),
        supplement: manifest.supplement.as_deref().map(Cow::Borrowed),
        index: manifest.index(),
    };
    let mut body = serde_json::to_vec(&head).expect("an index has only text keys");
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
    let (head, text) = body.split_once('\n').ok_or(damaged("it has no index"))?;
    let head: FileHeader<'_> =
        serde_json::from_str(head).map_err(|_| damaged("its index cannot be read"))?;
    if !lies_in(&head.index, text) {
        return Err(damaged("its index points outside of its text"));
    }
    let (server, alterations) = (head.server.map(Cow::into_owned), head.alterations.into_owned());
    let text = text.to_owned();
    let supplement = head.supplement.map(|supplement| Arc::new(supplement.into_owned()));
    let manifest = Manifest::assemble(server, &head.index, alterations, head.fetched_at, text);
    Ok(manifest.with_supplement(supplement))
}

fn damaged(how: &'static str) -> ManifestError {
    ManifestError::Damaged(how)
}

fn lies_in(index: &Index, text: &str) -> bool {
    let Index { tools, prompts, resources, templates } = index;
    let entries = prompts.iter().chain(resources).chain(templates).flat_map(places_of_entry);
    let inside = |place: Span| text.get(super::span(place)).is_some();
    tools.iter().flat_map(places_of_tool).chain(entries).all(inside)
}

fn places_of_tool(places: &ToolPlaces) -> impl Iterator<Item = Span> + use<> {
    let ToolPlaces { name, raw, input_schema, .. } = *places;
    let ToolPlaces { title, description, output_schema, annotations, ui_resource, group, .. } =
        *places;
    let others = [output_schema, annotations, ui_resource, group, places.listed_schema];
    let optional = [title, description].into_iter().chain(others);
    [name, raw, input_schema].into_iter().chain(optional.flatten())
}

fn places_of_entry(places: &EntryPlaces) -> impl Iterator<Item = Span> + use<> {
    let EntryPlaces { key, name, title, description, raw, .. } = *places;
    [key, name, raw].into_iter().chain(title).chain(description)
}
