//! Tasks: the sources' own ids, and the ids that the gateway gives out.

use gatefold_catalog::with_fields;
use gatefold_core::{Digest, Principal, TaskHandle, ToolId};
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};

use crate::SealKey;
use crate::call::seal::principal_digest;

/// The content of a task's id, so that nothing needs to be stored for it. The id works after a
/// restart and on every replica, only for its owner, and its text is always the same.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SealedTask {
    /// The tool whose call became the task.
    pub(crate) tool: ToolId,
    /// The source's own id.
    pub(crate) task: String,
    principal: Digest,
}

impl SealedTask {
    /// Reads an id that was given out to this principal.
    pub(crate) fn open(text: &str, key: &SealKey, principal: &Principal) -> Option<Self> {
        let sealed: Self = key.open(text)?;
        (sealed.principal == principal_digest(principal)).then_some(sealed)
    }
}

/// A source's task with our id, in its description as well.
pub(crate) fn sealed(
    handle: TaskHandle,
    tool: &ToolId,
    key: &SealKey,
    principal: &Principal,
) -> TaskHandle {
    let principal = principal_digest(principal);
    let id = key.seal(&SealedTask { tool: tool.clone(), task: handle.id, principal });
    let json = renamed(&handle.json, &id).unwrap_or(handle.json);
    TaskHandle { id, json }
}

/// The description with another id.
fn renamed(json: &RawValue, id: &str) -> Option<Box<RawValue>> {
    let id = to_raw_value(id).ok()?;
    let renamed = with_fields(json.get(), |key, value| match key {
        "taskId" => id.get().to_owned().into(),
        _ => value.into(),
    })?;
    RawValue::from_string(renamed).ok()
}

#[cfg(test)]
mod tests {
    use gatefold_core::UserId;

    use super::*;

    #[test]
    fn an_id_is_read_by_its_owner_alone_and_always_reads_the_same() {
        let (key, other) = (SealKey::new([1; 32]), SealKey::new([2; 32]));
        let [ann, bob] = ["ann", "bob"].map(|user| Principal::user(UserId::new(user)));
        let json = r#"{"status":"working","taskId":"7","ttlMs":1.50}"#;
        let made = |key: &SealKey| {
            let json = RawValue::from_string(json.to_owned()).unwrap();
            let handle = TaskHandle { id: "7".to_owned(), json };
            sealed(handle, &ToolId::new("mail__send"), key, &ann)
        };
        let task = made(&key);
        assert_eq!(task.id, made(&key).id);
        let named = format!(r#"{{"status":"working","taskId":"{}","ttlMs":1.50}}"#, task.id);
        assert_eq!(task.json.get(), named);
        let read = SealedTask::open(&task.id, &key, &ann).unwrap();
        assert_eq!((read.tool.as_str(), &*read.task), ("mail__send", "7"));
        for (id, key, who) in [
            (&*task.id, &key, &bob),
            (&task.id, &other, &ann),
            (&format!("A{}", task.id), &key, &ann),
            ("7", &key, &ann),
        ] {
            assert_eq!(SealedTask::open(id, key, who), None, "{id}");
        }
    }
}
