//! Citations as resources.

use gatefold_core::Target;
use serde_json::json;

use super::super::shown::raw_payload;
use super::{Desk, DeskError, DeskResult};
use crate::Citation;

impl Desk {
    /// The bytes that a citation is of, as they are: whoever reads them may compare them.
    pub(in super::super) fn cited_bytes(&self, target: &Target) -> DeskResult {
        let address = format!("gatefold://{}/{}", self.domain, target.name);
        let unknown = || {
            DeskError::Missing(
                "there is no such citation; repeat the one that was given, letter by letter"
                    .to_owned(),
            )
        };
        let citation: Citation = address.parse().map_err(|_| unknown())?;
        let Citation { document, version, .. } = &citation;
        // Policy has judged the resource itself already.
        let text = self.base.text(document, *version)?;
        let excerpt = citation.excerpt(&text).ok_or_else(unknown)?;
        let content = json!({ "uri": &*target.name, "mimeType": "text/plain", "text": excerpt });
        Ok(raw_payload(&json!({ "contents": [content] })))
    }
}
