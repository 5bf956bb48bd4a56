//! The names of requests and notifications.

use gatefold_core::ExtensionMethod;

pub(crate) const INITIALIZE: &str = "initialize";
pub(crate) const DISCOVER: &str = "server/discover";
pub(crate) const PING: &str = "ping";
pub(crate) const TOOLS_LIST: &str = "tools/list";
pub(crate) const TOOLS_CALL: &str = "tools/call";
pub(crate) const PROMPTS_LIST: &str = "prompts/list";
pub(crate) const PROMPTS_GET: &str = "prompts/get";
pub(crate) const RESOURCES_LIST: &str = "resources/list";
pub(crate) const TEMPLATES_LIST: &str = "resources/templates/list";
pub(crate) const RESOURCES_READ: &str = "resources/read";
pub(crate) const RESOURCES_SUBSCRIBE: &str = "resources/subscribe";
pub(crate) const RESOURCES_UNSUBSCRIBE: &str = "resources/unsubscribe";
pub(crate) const DIRECTORY_READ: &str = ExtensionMethod::DIRECTORY.name;
pub(crate) const COMPLETE: &str = "completion/complete";
pub(crate) const SET_LOG_LEVEL: &str = "logging/setLevel";
pub(crate) const LISTEN: &str = "subscriptions/listen";
pub(crate) const TASKS_GET: &str = "tasks/get";
pub(crate) const TASKS_UPDATE: &str = "tasks/update";
pub(crate) const TASKS_CANCEL: &str = "tasks/cancel";
pub(crate) const SKILLS_LIST: &str = ExtensionMethod::SKILLS.name;
pub(crate) const SKILLS_GET: &str = ExtensionMethod::SKILL.name;

/// What a server may ask of its client.
pub(crate) const ELICIT: &str = "elicitation/create";
pub(crate) const SAMPLE: &str = "sampling/createMessage";
pub(crate) const ROOTS_LIST: &str = "roots/list";

pub(crate) const INITIALIZED: &str = "notifications/initialized";
pub(crate) const ROOTS_CHANGED: &str = "notifications/roots/list_changed";
pub(crate) const CANCELLED: &str = "notifications/cancelled";
pub(crate) const PROGRESS: &str = "notifications/progress";
pub(crate) const LOG_MESSAGE: &str = "notifications/message";
pub(crate) const TOOLS_CHANGED: &str = "notifications/tools/list_changed";
pub(crate) const PROMPTS_CHANGED: &str = "notifications/prompts/list_changed";
pub(crate) const RESOURCES_CHANGED: &str = "notifications/resources/list_changed";
pub(crate) const RESOURCE_UPDATED: &str = "notifications/resources/updated";
pub(crate) const LISTENING: &str = "notifications/subscriptions/acknowledged";
