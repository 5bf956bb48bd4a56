//! Where the documents of a base are.

use std::path::PathBuf;

use gatefold_config::{Field, FilePath, LimitedItems, Text};
use gatefold_knowledge::MAX_NAME;
use gatefold_located::Value;
use url::Url;

/// Folders and files, and what is fetched.
#[derive(Debug, Default)]
pub(super) struct DocumentPlaces {
    pub(super) roots: Vec<PathBuf>,
    /// Whole, and none of them twice.
    pub(super) addresses: Vec<String>,
}

/// Reads one place, or a list of them. None of the addresses may hold one of the secrets: models see them.
pub(super) fn read(field: &Field<'_>, secrets: &[String]) -> Option<DocumentPlaces> {
    if field.is_empty_list() {
        field.fault("is empty", "name a folder, a file or an address");
        return None;
    }
    let items = match field.value() {
        Value::List(_) => {
            field.read::<LimitedItems<Vec<Text>>>()?;
            field.items()?
        }
        _ => vec![field.clone()],
    };
    let mut places = DocumentPlaces::default();
    for item in items {
        let Text(text) = item.read()?;
        match scheme(text.trim()).as_deref() {
            None => places.roots.push(item.read::<FilePath>()?.0),
            Some("http" | "https") => {
                let address = address(&item, text.trim(), secrets)?;
                if !places.addresses.contains(&address) {
                    places.addresses.push(address);
                }
            }
            Some(scheme) => {
                let message = format!("has an address with `{scheme}:`, which is not read");
                item.fault(message, "write a path, or an address with `https://`");
                return None;
            }
        }
    }
    Some(places)
}

/// The scheme of a text that is an address and no path.
fn scheme(text: &str) -> Option<String> {
    let (scheme, rest) = text.split_once(':')?;
    let scheme = scheme.to_ascii_lowercase();
    let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
    (is_scheme && (rest.starts_with("//") || scheme == "file")).then_some(scheme)
}

fn address(item: &Field<'_>, text: &str, secrets: &[String]) -> Option<String> {
    if !item.is_put_in(text) {
        return Some(text.to_owned());
    }
    let Ok(mut url) = Url::parse(text) else {
        let hint = "write it whole: `https://example.com/handbook.html`";
        item.fault("is not an address", hint);
        return None;
    };
    let has_secret = secrets.iter().any(|secret| !secret.is_empty() && text.contains(secret));
    if !url.username().is_empty() || url.password().is_some() || has_secret {
        let message = "has a user name or a secret in it, which models would see";
        item.fault(message, "use an address that anybody may know");
        return None;
    }
    // It says which part of a page to look at, and all of it is read.
    url.set_fragment(None);
    if url.as_str().len() > MAX_NAME {
        item.fault(format!("is longer than {MAX_NAME} bytes"), "use a shorter address");
        return None;
    }
    Some(url.into())
}
