//! The Secret Service API of freedesktop.org, over the session's D-Bus.

use std::collections::HashMap;
use std::time::Duration;

use gatefold_core::Secret;
use secret_service::{Collection, EncryptionType, Error, Item, SecretService};
use tokio::runtime::Builder;

use gatefold::secrets::{SecretError, SecretName};

use crate::secrets::SERVICE;

/// The attributes that other programs of the `keyring` family use for their entries, too.
const SERVICE_ATTRIBUTE: &str = "service";
const NAME_ATTRIBUTE: &str = "username";

const CONTENT_TYPE: &str = "text/plain";

/// The most entries under the service to search.
const ENTRY_LIMIT: usize = 4096;

pub(super) fn get(name: &SecretName, within: Duration) -> Result<Vec<u8>, SecretError> {
    on_a_runtime(within, async {
        let service = connect().await?;
        on_the_entry(&service, name, async |item| item.get_secret().await).await
    })
}

pub(super) fn set(name: &SecretName, value: &Secret, within: Duration) -> Result<(), SecretError> {
    on_a_runtime(within, async {
        let service = connect().await?;
        let bytes = value.expose().as_bytes();
        let replace = async |item: &Item<'_>| item.set_secret(bytes, CONTENT_TYPE).await;
        match on_the_entry(&service, name, replace).await {
            Err(SecretError::Missing(_)) => {}
            replaced => return replaced,
        }
        let label = format!("Gatefold: {name}");
        let collection = default_collection(&service).await?;
        let attributes = attributes_of(name);
        let created = collection.create_item(&label, attributes, bytes, true, CONTENT_TYPE).await;
        created.map(drop).map_err(failure)
    })
}

pub(super) fn remove(name: &SecretName, within: Duration) -> Result<(), SecretError> {
    on_a_runtime(within, async {
        let service = connect().await?;
        on_the_entry(&service, name, async |item| item.delete().await).await
    })
}

pub(super) fn names(within: Duration) -> Result<Vec<SecretName>, SecretError> {
    on_a_runtime(within, async {
        let service = connect().await?;
        let all = HashMap::from([(SERVICE_ATTRIBUTE, SERVICE)]);
        let found = service.search_items(all.clone()).await.map_err(failure)?;
        // Attributes can be read while the entries are locked, so nobody has to unlock anything.
        let mut names = Vec::new();
        for item in found.unlocked.iter().chain(&found.locked).take(ENTRY_LIMIT) {
            let attributes = match item.get_attributes().await {
                Ok(attributes) => attributes,
                Err(_) if is_gone(&service, &all, item).await => continue,
                Err(error) => return Err(failure(error)),
            };
            let name = attributes.get(NAME_ATTRIBUTE);
            names.extend(name.and_then(|name| SecretName::parse(name).ok()));
        }
        Ok(names)
    })
}

pub(super) fn answers(within: Duration) -> Result<(), SecretError> {
    on_a_runtime(within, async { connect().await.map(drop) })
}

/// The connection serves only one question, so its tasks end with this runtime.
fn on_a_runtime<T>(
    within: Duration,
    work: impl Future<Output = Result<T, SecretError>>,
) -> Result<T, SecretError> {
    let runtime = Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| SecretError::Failed(error.to_string()))?;
    runtime.block_on(async {
        tokio::time::timeout(within, work).await.unwrap_or(Err(SecretError::Slow(within)))
    })
}

async fn connect() -> Result<SecretService<'static>, SecretError> {
    // A failure here is about reaching the keyring, not about the keyring itself.
    let connected = SecretService::connect(EncryptionType::Dh).await;
    connected.map_err(|error| SecretError::NoKeyring(plain(&error)))
}

/// The error's words without the library's name and the system's error number.
fn plain(error: &Error) -> String {
    let text = error.to_string();
    let words = text.strip_prefix("zbus error: ").unwrap_or(&text);
    words.split(" (os error ").next().unwrap_or(words).to_owned()
}

fn attributes_of(name: &SecretName) -> HashMap<&str, &str> {
    HashMap::from([(SERVICE_ATTRIBUTE, SERVICE), (NAME_ATTRIBUTE, name.as_str())])
}

/// Unlocks the entry of this name and does `work` on it. An entry that another program removes
/// meanwhile is missing.
async fn on_the_entry<T>(
    service: &SecretService<'_>,
    name: &SecretName,
    work: impl AsyncFnOnce(&Item<'_>) -> Result<T, Error>,
) -> Result<T, SecretError> {
    let attributes = attributes_of(name);
    let found = service.search_items(attributes.clone()).await.map_err(failure)?;
    let is_locked = found.unlocked.is_empty();
    let Some(item) = found.unlocked.into_iter().chain(found.locked).next() else {
        return Err(SecretError::Missing(name.clone()));
    };
    let done = async {
        if is_locked {
            item.unlock().await?;
        }
        work(&item).await
    };
    match done.await {
        Ok(done) => Ok(done),
        Err(_) if is_gone(service, &attributes, &item).await => {
            Err(SecretError::Missing(name.clone()))
        }
        Err(error) => Err(failure(error)),
    }
}

/// Whether an entry that was found with these attributes is not found with them any more. Asked
/// after a failure, because each keyring has another error for an entry that is not there.
async fn is_gone(
    service: &SecretService<'_>,
    attributes: &HashMap<&str, &str>,
    item: &Item<'_>,
) -> bool {
    let found = service.search_items(attributes.clone()).await;
    found.is_ok_and(|found| {
        let mut items = found.unlocked.iter().chain(&found.locked);
        !items.any(|other| other.item_path == item.item_path)
    })
}

/// The collection for new entries, unlocked. A keyring that was never used has none yet, so it is
/// created.
async fn default_collection<'a>(
    service: &'a SecretService<'_>,
) -> Result<Collection<'a>, SecretError> {
    let collection = match service.get_default_collection().await {
        Err(Error::NoResult) => service.create_collection("Default", "default").await,
        found => found,
    };
    let collection = collection.map_err(failure)?;
    if collection.is_locked().await.map_err(failure)? {
        collection.unlock().await.map_err(failure)?;
    }
    Ok(collection)
}

fn failure(error: Error) -> SecretError {
    match error {
        Error::Locked | Error::Prompt => SecretError::Refused,
        Error::Unavailable => SecretError::NoKeyring(error.to_string()),
        other => SecretError::Failed(other.to_string()),
    }
}
